//! What filters ask of memories, side by side in columns: a filter over all memories reads these few bytes
//! of each and never the memory itself.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::ids::{ClipId, MemoryId};
use crate::time::Span;

use super::filter::Filter;
use super::model::{MemoryKind, MemoryRow};
use super::temporal::{Log, Version};

/// How far apart two remarks may begin and still belong together, seconds.
const TOGETHER_SECS: f64 = 60.0;
/// Rows looked over for the remark before or after.
const LOOKED_OVER: u32 = 8;

/// One version of a memory, by its position in the table's log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub(crate) id: MemoryId,
    kind: MemoryKind,
    clip: Option<ClipId>,
    span: Span,
    valid: Span,
}

impl Facet {
    fn of(row: &MemoryRow) -> Self {
        let end = row.valid_to.unwrap_or(crate::time::Timestamp::MAX);
        Self {
            id: row.id,
            kind: row.kind,
            clip: row.clip,
            span: row.span,
            valid: Span { start: row.valid_from, end },
        }
    }

    /// Whether it passes, but for the entities; a still valid one always ends later.
    pub(crate) fn passes(&self, filter: &Filter) -> bool {
        filter.span.is_none_or(|span| super::filter::overlaps(span, self.span))
            && (filter.kinds.is_empty() || filter.kinds.contains(&self.kind))
            && filter.clip.is_none_or(|clip| self.clip == Some(clip))
            && filter.valid_at.is_none_or(|at| self.valid.start <= at && at < self.valid.end)
    }
}

/// The columns.
#[derive(Default)]
pub(crate) struct Facets(ArcSwap<Log<Facet>>);

impl Facets {
    /// Takes in the versions that are not in yet.
    pub(crate) fn append(&self, log: &Log<Arc<Version<MemoryRow>>>) {
        let mut facets = Log::clone(&self.0.load());
        for version in log.iter_from(facets.len()) {
            facets.push(Facet::of(&version.row));
        }
        self.0.store(Arc::new(facets));
    }

    pub(crate) fn load(&self) -> Arc<Log<Facet>> {
        self.0.load_full()
    }
}

/// Position of the remark said just before (`forward` false) or after the one at `doc`, in the same session
/// and soon enough to belong to it.
pub(crate) fn beside(facets: &Log<Facet>, doc: u32, docs: usize, forward: bool) -> Option<u32> {
    let own = facets.get(doc as usize)?;
    let session = own.clip?.session;
    if own.kind != MemoryKind::Utterance {
        return None;
    }
    for step in 1..=LOOKED_OVER {
        let at = if forward { doc.checked_add(step)? } else { doc.checked_sub(step)? };
        let other = facets.get(at as usize).filter(|_| (at as usize) < docs)?;
        if other.clip.map(|clip| clip.session) != Some(session) {
            return None;
        }
        if other.kind == MemoryKind::Utterance {
            let apart = other.span.start.as_nanos().abs_diff(own.span.start.as_nanos());
            return (apart as f64 * 1e-9 <= TOGETHER_SECS).then_some(at);
        }
    }
    None
}
