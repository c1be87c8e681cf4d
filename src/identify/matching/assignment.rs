//! Percept → entity, before new entities have their ids.

use crate::ids::{EntityId, EntityKind, SourceId};
use crate::time::Timestamp;

/// The first percept of a new entity: ids are minted in that order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::identify) struct NewEntity {
    pub(in crate::identify) start: Timestamp,
    pub(in crate::identify) source: SourceId,
    pub(in crate::identify) kind: EntityKind,
}

impl NewEntity {
    pub(in crate::identify) fn new(kind: EntityKind, source: &SourceId) -> Self {
        Self { start: Timestamp::MAX, source: source.clone(), kind }
    }

    pub(in crate::identify) fn include(&mut self, start: Timestamp, source: &SourceId) {
        if (start, source) < (self.start, &self.source) {
            self.start = start;
            self.source = source.clone();
        }
    }
}

/// A face or voice that is known, or founded in this clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::identify) enum Assignment {
    Known(EntityId),
    New(usize),
}
