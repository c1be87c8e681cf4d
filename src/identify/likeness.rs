//! How alike galleries are: kept from clip to clip, for most of them do not change.
//!
//! What is kept follows from the galleries alone, so that a resolver that is rebuilt from rows finds the same. A clip costs
//! the comparison of the galleries that it taught with all others of their kind, not of all with all.

use std::collections::{BTreeMap, BTreeSet};

use super::gallery::Gallery;
use crate::ids::{EntityId, EntityKind};

/// The pairs of galleries that may be one.
#[derive(Clone, Debug, Default)]
pub(super) struct Likenesses {
    /// Of two ids the lower one first; who are less alike than was asked for are left out.
    pairs: BTreeMap<(EntityId, EntityId), f32>,
    /// Galleries that were not compared yet as they are.
    changed: BTreeSet<EntityId>,
}

impl Likenesses {
    /// Those galleries are to be compared (again).
    pub(super) fn changed(&mut self, parts: impl IntoIterator<Item = EntityId>) {
        self.changed.extend(parts);
    }

    /// Compares what changed of that kind with all others; keeps who are alike by `least`, which is the same every time.
    /// Gives back how many pairs were compared.
    pub(super) fn renew(
        &mut self,
        kind: EntityKind,
        galleries: &BTreeMap<EntityId, Gallery>,
        least: f32,
    ) -> usize {
        let (fresh, others): (BTreeSet<EntityId>, BTreeSet<EntityId>) =
            std::mem::take(&mut self.changed).into_iter().partition(|part| part.kind == kind);
        self.changed = others;
        if fresh.is_empty() {
            return 0;
        }
        self.pairs.retain(|(a, b), _| !fresh.contains(a) && !fresh.contains(b));
        let all: Vec<&Gallery> = galleries.values().filter(|g| g.entity.kind == kind).collect();
        let mut compared = 0;
        for one in all.iter().filter(|gallery| fresh.contains(&gallery.entity)) {
            for other in &all {
                let (a, b) = (one.entity, other.entity);
                // Of two that changed the lower one is compared with the other.
                if a == b || b < a && fresh.contains(&b) {
                    continue;
                }
                compared += 1;
                if let Some(likeness) = one.likeness_from(other, least) {
                    self.pairs.insert((a.min(b), a.max(b)), likeness);
                }
            }
        }
        compared
    }

    /// Pairs of that kind with their likeness, ascending.
    pub(super) fn of_kind(
        &self,
        kind: EntityKind,
    ) -> impl Iterator<Item = (EntityId, EntityId, f32)> {
        let all = self.pairs.iter().map(|((a, b), likeness)| (*a, *b, *likeness));
        all.filter(move |(a, ..)| a.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ModelHash;
    use crate::memory::model::Exemplar;
    use crate::percept::Embedding;
    use crate::time::Timestamp;

    const LEAST: f32 = 0.3;

    fn face(number: u32) -> EntityId {
        EntityId::new(EntityKind::Face, number)
    }

    /// A sample between two of five axes.
    fn sample(entity: EntityId, seed: u32) -> Exemplar {
        let mut values = vec![0.1_f32; 5];
        values[(seed % 5) as usize] = 1.0;
        values[(seed * seed % 5) as usize] += 0.1 * (seed % 7) as f32;
        Exemplar {
            entity,
            slot: 0,
            at: Timestamp::EPOCH,
            embedding: Embedding::normalised(values, ModelHash([1; 32])),
            quality: 0.5,
            weight: 1.0,
            media: None,
        }
    }

    #[test]
    fn only_what_changed_is_compared_and_the_outcome_is_that_of_all_with_all() {
        let mut galleries: BTreeMap<EntityId, Gallery> = BTreeMap::new();
        let mut kept = Likenesses::default();
        let mut seen = 0;
        for clip in 0..12_u32 {
            // somebody new in most clips, and somebody who is known
            let taught =
                [face(clip + 1), face(clip * 3 % 4 + 1), EntityId::new(EntityKind::Voice, 1)];
            for (entity, seed) in taught.into_iter().zip(clip * 5..) {
                let gallery = galleries.entry(entity).or_insert_with(|| Gallery::new(entity));
                gallery.admit(sample(entity, seed), 3, 0.99);
                kept.changed([entity]);
            }
            let faces = galleries.keys().filter(|id| id.kind == EntityKind::Face).count();
            let compared = kept.renew(EntityKind::Face, &galleries, LEAST);
            assert!(compared <= 2 * faces.saturating_sub(1), "{compared} of {faces}");
            assert_eq!(kept.renew(EntityKind::Face, &galleries, LEAST), 0, "nothing is new");
            let mut anew = Likenesses::default();
            anew.changed(galleries.keys().copied());
            assert_eq!(anew.renew(EntityKind::Face, &galleries, LEAST), faces * (faces - 1) / 2);
            let pairs: Vec<_> = kept.of_kind(EntityKind::Face).collect();
            assert_eq!(pairs, anew.of_kind(EntityKind::Face).collect::<Vec<_>>());
            assert!(pairs.iter().all(|(a, b, likeness)| {
                a < b && *likeness >= LEAST && galleries[a].likeness(&galleries[b]) == *likeness
            }));
            seen += pairs.len();
        }
        assert!(seen > 0);
    }
}
