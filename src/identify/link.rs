//! Voice to face: a one-to-one assignment on the net evidence, with hysteresis.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Signed;
use crate::ids::EntityId;

/// A link that stands is no more than that ahead of its own evidence: what rests on one short scene gives way sooner.
const STANDS_BY: f64 = 0.25;

/// A voice that belongs to a face, with the figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// `voice_N`.
    pub voice: EntityId,
    /// `face_N`.
    pub face: EntityId,
    /// The evidence.
    pub evidence: Signed,
    /// By how many net seconds it beats the best rival.
    pub margin_secs: f64,
}

/// Which voices belong to which faces.
///
/// The strongest pair is taken first; each further one only competes with faces and voices that are still
/// free. A new link needs `link_secs` net and half of what speaks against it on top, and a lead of half of that and of a quarter of its own net over
/// every rival on both sides. A link that stands gets `link_secs` on top, but no more than a share of what speaks for it, and
/// stays without any lead until the evidence against it outweighs.
#[must_use]
pub fn assign(
    candidates: &[(EntityId, EntityId, Signed)],
    current: &BTreeMap<EntityId, BTreeSet<EntityId>>,
    link_secs: f64,
) -> Vec<Link> {
    let stands = |voice: EntityId, face: EntityId| {
        current.get(&voice).is_some_and(|faces| faces.contains(&face))
    };
    let mut ranked: Vec<(f64, EntityId, EntityId, Signed)> = candidates
        .iter()
        .map(|&(face, voice, signed)| {
            let bonus = link_secs.min(STANDS_BY * signed.support_secs);
            let bonus = if stands(voice, face) { bonus } else { 0.0 };
            (signed.net() + bonus, face, voice, signed)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut faces, mut voices) = (BTreeSet::new(), BTreeSet::new());
    let mut links = Vec::new();
    for &(net, face, voice, evidence) in &ranked {
        if faces.contains(&face) || voices.contains(&voice) {
            continue;
        }
        let rival = ranked
            .iter()
            .filter(|&&(_, f, v, _)| (f == face) != (v == voice))
            .filter(|&&(_, f, v, _)| !faces.contains(&f) && !voices.contains(&v))
            .map(|&(net, ..)| net.max(0.0))
            .fold(0.0, f64::max);
        let margin_secs = net - rival;
        let enough = if stands(voice, face) {
            evidence.net() + link_secs > -(0.5 * evidence.support_secs).max(link_secs)
                && margin_secs > -link_secs
        } else {
            net >= link_secs + 0.5 * evidence.against_secs
                && margin_secs >= (0.5 * link_secs).max(0.25 * net)
        };
        if enough {
            faces.insert(face);
            voices.insert(voice);
            links.push(Link { voice, face, evidence, margin_secs });
        }
    }
    links.sort_by_key(|link| (link.voice, link.face));
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::EntityKind;
    use proptest::prelude::*;

    fn face(n: u32) -> EntityId {
        EntityId::new(EntityKind::Face, n)
    }
    fn voice(n: u32) -> EntityId {
        EntityId::new(EntityKind::Voice, n)
    }
    fn signed(support_secs: f64, against_secs: f64) -> Signed {
        Signed { support_secs, against_secs }
    }

    #[test]
    fn two_who_are_always_seen_together_are_not_guessed() {
        let even = [
            (face(1), voice(1), signed(5.0, 0.0)),
            (face(2), voice(1), signed(5.0, 0.0)),
            (face(1), voice(2), signed(4.0, 0.0)),
            (face(2), voice(2), signed(4.0, 0.0)),
        ];
        assert!(assign(&even, &BTreeMap::new(), 1.5).is_empty());
    }

    #[test]
    fn a_voice_over_is_outweighed_by_absence() {
        // six seconds over a silent face, thirty heard elsewhere
        let over = [(face(1), voice(2), signed(6.0, 30.0)), (face(1), voice(1), signed(4.0, 0.5))];
        let links = assign(&over, &BTreeMap::new(), 1.5);
        assert_eq!(
            links.iter().map(|l| (l.face, l.voice)).collect::<Vec<_>>(),
            [(face(1), voice(1))]
        );
    }

    #[test]
    fn a_link_stands_against_a_slightly_better_rival() {
        let rivals = [(face(1), voice(1), signed(5.0, 0.0)), (face(2), voice(1), signed(5.5, 0.0))];
        let current = BTreeMap::from([(voice(1), BTreeSet::from([face(1)]))]);
        let links = assign(&rivals, &current, 1.5);
        assert_eq!(links[0].face, face(1));
        assert!(assign(&rivals, &BTreeMap::new(), 1.5).is_empty());
    }

    #[test]
    fn a_link_that_rests_on_little_gives_way_to_who_is_heard_for_twice_as_long() {
        let over_and_owner = |owner: f64| {
            let rivals =
                [(face(1), voice(1), signed(2.8, 0.0)), (face(1), voice(2), signed(owner, 0.0))];
            let current = BTreeMap::from([(voice(1), BTreeSet::from([face(1)]))]);
            assign(&rivals, &current, 1.5)[0].voice
        };
        assert_eq!(over_and_owner(3.5), voice(1), "a little more is no reason");
        assert_eq!(over_and_owner(5.6), voice(2));
    }

    proptest! {
        #[test]
        fn links_are_one_to_one_and_stand_once_they_are_made(
            evidence in proptest::collection::vec((0_f64..20.0, 0_f64..10.0), 16),
            (faces, voices) in (1_u32..5, 1_u32..5), link_secs in 0.5_f64..4.0
        ) {
            let pairs = (0..faces).flat_map(|f| (0..voices).map(move |v| (f, v)));
            let candidates: Vec<_> = pairs
                .zip(&evidence)
                .map(|((f, v), (support, against))| (face(f), voice(v), signed(*support, *against)))
                .collect();
            let links = assign(&candidates, &BTreeMap::new(), link_secs);
            let faces: BTreeSet<_> = links.iter().map(|link| link.face).collect();
            let voices: BTreeSet<_> = links.iter().map(|link| link.voice).collect();
            prop_assert_eq!((faces.len(), voices.len()), (links.len(), links.len()));
            prop_assert!(links.iter().all(|link| link.evidence.net() >= link_secs));
            // the order in which the evidence comes is no evidence
            let reversed: Vec<_> = candidates.iter().rev().copied().collect();
            prop_assert_eq!(&assign(&reversed, &BTreeMap::new(), link_secs), &links);
            let current =
                links.iter().map(|link| (link.voice, BTreeSet::from([link.face]))).collect();
            let again = assign(&candidates, &current, link_secs);
            for link in &links {
                let stands = again.iter().any(|one| (one.voice, one.face) == (link.voice, link.face));
                prop_assert!(stands, "{link:?} {again:?}");
            }
        }
    }
}
