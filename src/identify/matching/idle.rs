//! Who was not met for long.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{EntityId, EntityKind};
use crate::time::Timestamp;

/// The galleries, by when they were last taught, for whoever is to go into the cold index.
#[derive(Clone, Debug, Default)]
pub(in crate::identify) struct Idle {
    by_time: BTreeSet<(Timestamp, EntityId)>,
    since: BTreeMap<EntityId, Timestamp>,
}

impl Idle {
    pub(super) fn note(&mut self, entity: EntityId, at: Timestamp) {
        if let Some(old) = self.since.insert(entity, at) {
            self.by_time.remove(&(old, entity));
        }
        self.by_time.insert((at, entity));
    }

    pub(super) fn forget(&mut self, entity: EntityId) {
        if let Some(old) = self.since.remove(&entity) {
            self.by_time.remove(&(old, entity));
        }
    }

    /// Takes out those that were taught last before then.
    pub(super) fn before(&mut self, then: Timestamp) -> Vec<EntityId> {
        let later = self.by_time.split_off(&(then, EntityId::new(EntityKind::Face, 0)));
        let old = std::mem::replace(&mut self.by_time, later);
        old.into_iter()
            .map(|(_, entity)| entity)
            .inspect(|entity| {
                self.since.remove(entity);
            })
            .collect()
    }
}
