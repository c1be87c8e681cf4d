//! When somebody was perceived first and last, and for how long: kept per person, and taken further by what came since.

use std::sync::Arc;

use crate::ids::{EntityId, EntityKind, Seq};
use crate::time::Timestamp;

use super::View;
use super::seconds::{Covered, Running, SpokenOnce};
use crate::memory::versions::links::{Links, Stretch};
use crate::memory::versions::temporal::{Horizon, Table, Temporal};

/// Of whom fewer percepts are known, nothing is kept: they are soon looked through.
const FEW: usize = if cfg!(test) { 4 } else { 256 };

/// When and how long somebody was perceived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::memory) struct Presence {
    pub(in crate::memory) first: Option<Timestamp>,
    pub(in crate::memory) last: Option<Timestamp>,
    pub(in crate::memory) seen_secs: f64,
    pub(in crate::memory) spoken_secs: f64,
}

/// The same as of a commit, with how far each list of percepts was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    at: Seq,
    /// Each face and voice: places read, and how often its list had been cut.
    read: Vec<(EntityId, usize, u64)>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    seen: Running<Covered>,
    spoken: Running<SpokenOnce>,
}

impl Known {
    fn presence(&self) -> Presence {
        Presence {
            first: self.first,
            last: self.last,
            seen_secs: self.seen.secs(),
            spoken_secs: self.spoken.secs(),
        }
    }

    /// Whether what came since can be added: the same parts, none of whose percepts was ended or erased since, and a
    /// horizon that is no older.
    fn goes_on(&self, parts: &[(EntityId, Links)], newest: Seq) -> bool {
        let same = |((part, links), (known, _, cuts)): (&(EntityId, Links), &(_, _, u64))| {
            part == known && links.cuts == *cuts && links.ended <= self.at
        };
        self.at <= newest
            && self.read.len() == parts.len()
            && parts.iter().zip(&self.read).all(same)
    }
}

impl View {
    /// When and how long those faces and voices of one person were perceived. Costs what came since it was asked last; all
    /// that there is of them where one joined or left, where something of them was ended or came out of time, and for a
    /// moment of the past.
    pub(in crate::memory) fn presence(
        &self,
        who: EntityId,
        faces: &[EntityId],
        voices: &[EntityId],
    ) -> Presence {
        let parts: Vec<(EntityId, Links)> =
            faces.iter().chain(voices).map(|part| (*part, self.links_of_part(*part))).collect();
        let Horizon::Prefix(newest) = self.horizon else {
            return self.gathered(&parts).presence();
        };
        let kept = &self.tables.presence;
        let known = kept.get(&who).map(|known| Arc::clone(&known));
        let before = known.as_ref().filter(|known| known.goes_on(&parts, newest));
        if let Some(same) = before.filter(|known| known.at == newest) {
            return same.presence();
        }
        let on = before.and_then(|known| self.taken_on(Known::clone(known), &parts));
        let mut now = on.unwrap_or_else(|| self.gathered(&parts));
        now.at = newest;
        let presence = now.presence();
        let read: usize = now.read.iter().map(|(_, read, _)| read).sum();
        // (What is kept of a newer moment serves more of those who will ask.)
        if read > FEW && known.is_none_or(|known| known.at < newest) {
            kept.insert(who, Arc::new(now));
        }
        presence
    }

    fn links_of_part(&self, part: EntityId) -> Links {
        match part.kind {
            EntityKind::Face => self.tables.tracks.links_of(part),
            _ => self.tables.turns.links_of(part),
        }
    }

    /// All that the view shows of them.
    fn gathered(&self, parts: &[(EntityId, Links)]) -> Known {
        let read = parts.iter().map(|(part, links)| (*part, 0, links.cuts)).collect();
        let nothing = Known { read, ..Known::default() };
        // (Into nothing everything fits.)
        self.taken_on(nothing, parts).unwrap_or_default()
    }

    /// What is known with what came since; `None` where that does not come after it.
    fn taken_on(&self, mut known: Known, parts: &[(EntityId, Links)]) -> Option<Known> {
        let (mut seen, mut heard) = (Vec::new(), Vec::new());
        for ((part, links), (_, read, _)) in parts.iter().zip(&mut known.read) {
            match part.kind {
                EntityKind::Face => self.read_on(&self.tables.tracks, links, read, &mut seen),
                _ => self.read_on(&self.tables.turns, links, read, &mut heard),
            }
        }
        for span in seen.iter().chain(&heard).map(Stretch::span) {
            known.first = Some(known.first.map_or(span.start, |first| first.min(span.start)));
            known.last = Some(known.last.map_or(span.end, |last| last.max(span.end)));
        }
        known.seen.take_in(seen)?;
        known.spoken.take_in(heard)?;
        Some(known)
    }

    /// Appends the times of what the view shows of a list from the place `read` on, and moves that to the first that it
    /// does not know yet.
    fn read_on<R: Temporal>(
        &self,
        table: &Table<R>,
        links: &Links,
        read: &mut usize,
        into: &mut Vec<Stretch>,
    ) {
        let log = table.log();
        let newest = self.horizon.newest();
        for (at, stretch) in links.times_from(*read) {
            let at = at as usize;
            if log.seq(at).is_some_and(|seq| seq > newest) {
                break;
            }
            *read += 1;
            if table.shows_in(&log, at, &self.horizon) {
                into.push(*stretch);
            }
        }
    }
}
