//! Faces and voices that the present models cannot match.
//!
//! Vectors of two models are never compared. Where another one runs than the one that a gallery was learned with, and nothing
//! was kept that could be embedded anew (`privacy.media = false`), the face or voice stays with its person, but no percept
//! will be it. Its person is found again by the other half: the new face that is seen with a known voice joins that voice's
//! person, and the other way round.
//!
//! Which those are is told by rows ([`PairEvidence::standing`]), so that every view of the memory can show it; nothing of it
//! is written as long as no model changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{PairEvidence, Presence};

/// The rows of evidence that change when of `parts` (all faces, or all voices) just the `unmatchable` ones are so.
///
/// Once a face was lost, what was heard until then is no longer held against faces that are met later.
#[must_use]
pub fn restated(
    kind: EntityKind,
    parts: &BTreeSet<EntityId>,
    unmatchable: &BTreeSet<EntityId>,
    pairs: &[PairEvidence],
) -> Vec<PairEvidence> {
    let before: BTreeMap<EntityId, bool> =
        pairs.iter().filter_map(PairEvidence::as_standing).collect();
    let lost = unmatchable.iter().any(|part| before.get(part) != Some(&true));
    let mut rows = Vec::new();
    for part in parts {
        let (was, is) = (before.get(part), unmatchable.contains(part));
        if was.is_some_and(|was| *was != is) || was.is_none() && lost {
            rows.push(PairEvidence::standing(*part, is));
        }
    }
    if lost && kind == EntityKind::Face {
        // A voice with itself: heard at all, and of that before now.
        let heard = pairs.iter().filter(|pair| pair.face == pair.voice);
        let heard = heard.filter(|pair| pair.against_secs != pair.support_secs);
        let moved: BTreeMap<EntityId, f64> =
            heard.clone().map(|pair| (pair.voice, pair.support_secs - pair.against_secs)).collect();
        rows.extend(heard.map(|pair| PairEvidence { against_secs: pair.support_secs, ..*pair }));
        // Who was lost before and is so still was not away meanwhile either.
        let lost_before = |pair: &&PairEvidence| {
            before.get(&pair.face) == Some(&true) && unmatchable.contains(&pair.face)
        };
        for pair in pairs.iter().filter(lost_before) {
            if let (Some(presence), Some(secs)) = (pair.presence, moved.get(&pair.voice)) {
                let since_secs = presence.since_secs + secs;
                let presence = Some(Presence { since_secs, ..presence });
                rows.push(PairEvidence { presence, ..*pair });
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn face(n: u32) -> EntityId {
        EntityId::new(EntityKind::Face, n)
    }

    /// The pairs after the rows are written.
    fn written(pairs: &[PairEvidence], rows: &[PairEvidence]) -> Vec<PairEvidence> {
        let all = pairs.iter().chain(rows).map(|row| ((row.face, row.voice), *row));
        all.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    #[test]
    fn it_is_stated_once_and_taken_back_when_the_old_model_comes_back() {
        let voice = EntityId::new(EntityKind::Voice, 1);
        let heard = |support_secs, against_secs| PairEvidence {
            face: voice,
            voice,
            support_secs,
            against_secs,
            presence: None,
        };
        let (kind, nobody) = (EntityKind::Face, BTreeSet::new());
        let parts = BTreeSet::from([face(1), face(2)]);
        let first = [heard(12.0, 0.0)];
        assert!(restated(kind, &parts, &nobody, &first).is_empty(), "nothing without a change");

        let lost = BTreeSet::from([face(1)]);
        let rows = restated(kind, &parts, &lost, &first);
        let told = [(1, true), (2, false)].map(|(n, lost)| PairEvidence::standing(face(n), lost));
        assert_eq!(rows, [told[0], told[1], heard(12.0, 12.0)]);

        // more is heard and a face is met: the next start has nothing to add
        let mut pairs = written(&first, &rows);
        for pair in pairs.iter_mut().filter(|pair| pair.face == voice) {
            pair.support_secs += 5.0;
        }
        let parts = BTreeSet::from([face(1), face(2), face(3)]);
        assert!(restated(kind, &parts, &lost, &pairs).is_empty());

        let back = restated(kind, &parts, &nobody, &pairs);
        assert_eq!(back, [PairEvidence::standing(face(1), false)]);

        // and a second change counts from there
        let lost = BTreeSet::from([face(1), face(3)]);
        let seen = |since_secs| PairEvidence {
            face: face(1),
            presence: Some(Presence { visible_secs: 8.0, since_secs, ..Presence::default() }),
            ..heard(8.0, 0.0)
        };
        pairs.push(seen(1.0));
        let again = restated(kind, &parts, &lost, &pairs);
        let moved = [PairEvidence::standing(face(3), true), heard(17.0, 17.0), seen(6.0)];
        assert_eq!(again, moved, "whoever is still lost was not away meanwhile");
    }

    #[test]
    fn a_voice_that_is_lost_leaves_what_was_heard() {
        let voice = EntityId::new(EntityKind::Voice, 1);
        let (support_secs, against_secs, presence) = (12.0, 0.0, None);
        let heard = PairEvidence { face: voice, voice, support_secs, against_secs, presence };
        let lost = BTreeSet::from([voice]);
        let rows = restated(EntityKind::Voice, &lost, &lost, &[heard]);
        assert_eq!(rows, [PairEvidence::standing(voice, true)]);
    }
}
