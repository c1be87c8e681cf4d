//! Clips that wait for a memorizing model: what is erased goes from them, too.

use super::MemoryService;
use crate::memorize::model::{Spool, SpooledClip, spool_dir};
use crate::memory::{self, View};
use crate::names;

impl MemoryService {
    /// Clips that wait must not bring back what is erased.
    pub(super) fn forget_spooled(&self, what: &[memory::Forget]) {
        let Some(spool) = self.spool() else { return };
        let view = self.view();
        for meant in what.iter().filter_map(|what| clips_of(&view, what)) {
            spool.erase(meant);
        }
    }

    /// How many of them would go.
    pub(super) fn count_spooled(&self, what: &[memory::Forget]) -> u64 {
        let Some(spool) = self.spool() else { return 0 };
        let view = self.view();
        let meant: Vec<_> = what.iter().filter_map(|what| clips_of(&view, what)).collect();
        if meant.is_empty() { 0 } else { spool.count(|clip| meant.iter().any(|is| is(clip))) }
    }

    /// Where they wait; `None`: nowhere.
    fn spool(&self) -> Option<Spool> {
        let dir = spool_dir(self.knowledge.memory.dir());
        let spool = self.session.load().spool.clone();
        if spool.is_some() || !dir.is_dir() {
            return spool;
        }
        // No model memorizes any more, and clips of that time are still there.
        match Spool::open(&dir, u64::MAX, self.knowledge.memory.options().key.as_ref()) {
            Ok(spool) => Some(spool),
            Err(error) => {
                tracing::warn!(%error, dir = %dir.display(), "The spool cannot be searched for what is to be forgotten; delete the folder.");
                None
            }
        }
    }
}

/// Whether a clip is meant.
type IsMeant<'v> = Box<dyn Fn(&SpooledClip) -> bool + 'v>;

/// Which clips go with that; `None`: none at all.
fn clips_of<'v>(view: &'v View, what: &memory::Forget) -> Option<IsMeant<'v>> {
    Some(match what {
        memory::Forget::Entity(id) => {
            let who = view.resolve(*id);
            let names: Vec<names::Name> =
                view.names(who).iter().map(|row| names::Name::new(&row.name)).collect();
            Box::new(move |clip| {
                clip.given().iter().any(|id| view.resolve(*id) == who) || speaks_of(clip, &names)
            })
        }
        memory::Forget::Thing(noun) => {
            let noun = [names::Name::noun(noun)];
            Box::new(move |clip| speaks_of(clip, &noun))
        }
        memory::Forget::Name(name) => {
            let name = [names::Name::new(name)];
            Box::new(move |clip| speaks_of(clip, &name))
        }
        memory::Forget::Span(span) => {
            let span = *span;
            Box::new(move |clip| clip.span.start < span.end && span.start < clip.span.end)
        }
        // Clips know nothing of documents.
        memory::Forget::Document(_) => return None,
        memory::Forget::Aged(_, before) => {
            let before = *before;
            Box::new(move |clip| clip.span.end < before)
        }
        memory::Forget::Memory(id) => {
            let of = view.memory(*id).and_then(|row| row.clip);
            Box::new(move |clip| Some(clip.clip) == of)
        }
    })
}

/// Whether somebody says one of those names in a clip.
fn speaks_of(clip: &SpooledClip, names: &[names::Name]) -> bool {
    clip.turns.iter().any(|turn| {
        let words = names::Text::new(&turn.words);
        names.iter().any(|name| words.holds(name))
    })
}
