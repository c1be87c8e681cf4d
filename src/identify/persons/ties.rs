//! What was perceived together.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{EntityId, EntityKind};
use crate::memory::model::PairEvidence;

/// Faces and voices that were ever perceived together in a way that speaks for one person: each with the other kind's.
#[derive(Clone, Debug, Default)]
pub(in crate::identify) struct Ties(pub(super) BTreeMap<EntityId, BTreeSet<EntityId>>);

impl Ties {
    pub(in crate::identify) fn from_rows(pairs: &[PairEvidence]) -> Self {
        let mut ties = Self::default();
        pairs
            .iter()
            .filter(|row| row.support_secs > 0.0)
            .for_each(|row| ties.add(row.face, row.voice));
        ties
    }

    pub(super) fn add(&mut self, face: EntityId, voice: EntityId) {
        if face.kind == EntityKind::Face && voice.kind == EntityKind::Voice {
            self.0.entry(face).or_default().insert(voice);
            self.0.entry(voice).or_default().insert(face);
        }
    }
}
