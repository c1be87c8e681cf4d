//! What a reader wants to see.

use crate::ids::{ClipId, EntityId, SourceId};
use crate::time::{Span, Timestamp};

use crate::memory::model::{MemoryKind, MemoryRow};

/// In which order memories come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Oldest event first.
    #[default]
    OldestFirst,
    /// Newest event first.
    NewestFirst,
}

/// Which memories; what is left empty does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Their span overlaps this one (an empty span of theirs: lies in it).
    pub span: Option<Span>,
    /// One of these kinds; empty = all.
    pub kinds: Vec<MemoryKind>,
    /// About one of these, under whatever id (a face, a voice and their person are one); empty = all.
    pub entities: Vec<EntityId>,
    /// Of that clip.
    pub clip: Option<ClipId>,
    /// True in the world at that time.
    pub valid_at: Option<Timestamp>,
    /// At most so many.
    pub limit: Option<usize>,
    /// The order, which also decides what `limit` cuts off.
    pub order: Order,
}

impl Filter {
    /// Whether nothing is asked but limit and order.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.span.is_none()
            && self.kinds.is_empty()
            && self.entities.is_empty()
            && self.clip.is_none()
            && self.valid_at.is_none()
    }

    /// Everything but the entities.
    pub(crate) fn admits(&self, row: &MemoryRow) -> bool {
        self.span.is_none_or(|span| overlaps(span, row.span))
            && (self.kinds.is_empty() || self.kinds.contains(&row.kind))
            && self.clip.is_none_or(|clip| row.clip == Some(clip))
            && self
                .valid_at
                .is_none_or(|at| row.valid_from <= at && row.valid_to.is_none_or(|end| at < end))
    }
}

/// Which face tracks or turns; what is left empty does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerceptFilter {
    /// Their span overlaps this one.
    pub span: Option<Span>,
    /// Of that clip.
    pub clip: Option<ClipId>,
    /// Of that face, voice or person (whatever id it has).
    pub entity: Option<EntityId>,
    /// From that camera or microphone.
    pub source: Option<SourceId>,
}

impl PerceptFilter {
    /// Whether a percept of that span, clip and source is wanted; whose it is, is asked elsewhere.
    pub(crate) fn admits(&self, span: Span, clip: ClipId, source: &SourceId) -> bool {
        self.span.is_none_or(|wanted| overlaps(wanted, span))
            && self.clip.is_none_or(|wanted| wanted == clip)
            && self.source.as_ref().is_none_or(|wanted| wanted == source)
    }
}

/// Whether a span touches one of others, which are in time order and apart from each other.
pub(crate) fn during(stays: &[Span], span: Span) -> bool {
    let next = stays.partition_point(|stay| stay.end < span.start);
    stays.get(next).is_some_and(|stay| stay.start <= span.end)
}

/// Whether two half-open spans share an instant; an empty one counts as its start.
pub(crate) fn overlaps(a: Span, b: Span) -> bool {
    a.contains(b.start) || b.contains(a.start) || a.start == b.start
}
