//! Voice to face: a one-to-one assignment on the net evidence, with hysteresis.

use std::collections::{BTreeMap, BTreeSet};

use super::{Signed, Witnesses};
use crate::ids::EntityId;

/// A link that stands is no more than that ahead of its own evidence: what rests on one short scene gives way sooner.
const STANDS_BY: f64 = 0.25;
/// Of `link_secs`, what a mouth must have been seen to speak so that a link needs no second occasion.
const CLEAR_SHARE: f64 = 0.5;

/// A face and a voice that may be one person's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// `face_N`.
    pub face: EntityId,
    /// `voice_N`.
    pub voice: EntityId,
    /// The evidence.
    pub evidence: Signed,
    /// What its support rests on.
    pub witnesses: Witnesses,
    /// The voice gave itself a name of the face's person: a witness of its own.
    pub same_name: bool,
}

impl Candidate {
    /// Whether a mouth was seen to speak for long enough.
    fn is_clear(&self, link_secs: f64) -> bool {
        self.witnesses.clear_secs >= CLEAR_SHARE * link_secs
    }

    /// Whether it rests on more than that somebody was in view once: whoever was heard may have stood beside the camera.
    fn may_link(&self, link_secs: f64) -> bool {
        let Witnesses { occasions, .. } = self.witnesses;
        self.is_clear(link_secs)
            || self.witnesses.has_two_occasions()
            || self.same_name && occasions.is_some()
    }
}

/// A voice that belongs to a face, with the figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// `voice_N`.
    pub voice: EntityId,
    /// `face_N`.
    pub face: EntityId,
    /// The evidence.
    pub evidence: Signed,
    /// What its support rests on.
    pub witnesses: Witnesses,
    /// By how many net seconds it beats the best rival.
    pub margin_secs: f64,
}

/// A candidate in the order in which links are made.
struct Ranked {
    /// Net seconds; those under a mouth that was seen to speak count twice, and a link that stands has something on top.
    weight: f64,
    clear: bool,
    of: Candidate,
}

/// Of one face, or of one voice, the ranked candidates, the first that is still free first.
#[derive(Default)]
struct Queue {
    all: Vec<usize>,
    next: usize,
}

impl Queue {
    /// The best of those that are free and not `but`. What is taken stays so: it is passed once.
    fn best(
        &mut self,
        but: usize,
        counts: impl Fn(usize) -> bool,
        free: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        while self.all.get(self.next).is_some_and(|at| !free(*at)) {
            self.next += 1;
        }
        let left = self.all[self.next.min(self.all.len())..].iter().copied();
        left.filter(|at| *at != but && counts(*at)).find(|at| free(*at))
    }
}

/// Which voices belong to which faces.
///
/// The strongest pair is taken first; each further one only competes with faces and voices that are still
/// free. A new link needs a mouth that was seen to speak, or occasions in two different clips ([`Candidate::may_link`]);
/// `link_secs` net and half of what speaks against it on top; and a lead of half of that and of a quarter of its own net over
/// every rival on both sides (where a mouth was seen to speak, over those of which none was not). A link that stands gets
/// `link_secs` on top, but no more than a share of what speaks for it, and
/// stays without any lead until the evidence against it outweighs.
///
/// Costs n log n for n candidates: rivals are looked up by face and by voice.
#[must_use]
pub fn assign(
    candidates: &[Candidate],
    current: &BTreeMap<EntityId, BTreeSet<EntityId>>,
    link_secs: f64,
) -> Vec<Link> {
    let stands =
        |of: &Candidate| current.get(&of.voice).is_some_and(|faces| faces.contains(&of.face));
    let mut ranked: Vec<Ranked> = candidates
        .iter()
        .map(|&of| {
            let bonus = link_secs.min(STANDS_BY * of.evidence.support_secs);
            let bonus = if stands(&of) { bonus } else { 0.0 };
            let weight = of.evidence.net() + of.witnesses.clear_secs + bonus;
            Ranked { weight, clear: of.is_clear(link_secs), of }
        })
        .collect();
    ranked.sort_by(|a, b| {
        let key = |one: &Ranked| (one.of.face, one.of.voice);
        b.weight.total_cmp(&a.weight).then_with(|| key(a).cmp(&key(b)))
    });
    let mut queues: BTreeMap<EntityId, Queue> = BTreeMap::new();
    for (at, Ranked { of, .. }) in ranked.iter().enumerate() {
        queues.entry(of.face).or_default().all.push(at);
        queues.entry(of.voice).or_default().all.push(at);
    }
    let mut taken: BTreeSet<EntityId> = BTreeSet::new();
    let mut links = Vec::new();
    for (at, Ranked { weight, clear, of }) in ranked.iter().enumerate() {
        let is_free = |at: usize| {
            let Candidate { face, voice, .. } = ranked[at].of;
            !taken.contains(&face) && !taken.contains(&voice)
        };
        if !is_free(at) {
            continue;
        }
        let counts = |other: usize| !clear || ranked[other].clear || stands(&ranked[other].of);
        let rivals = [of.face, of.voice].map(|end| {
            let queue = queues.get_mut(&end);
            queue.and_then(|queue| queue.best(at, counts, is_free)).map(|at| ranked[at].weight)
        });
        let rival = rivals.into_iter().flatten().fold(0.0, f64::max);
        let (net, margin_secs) = (of.evidence.net(), weight - rival);
        let enough = if stands(of) {
            net + link_secs > -(0.5 * of.evidence.support_secs).max(link_secs)
                && margin_secs > -link_secs
        } else {
            of.may_link(link_secs)
                && net >= link_secs + 0.5 * of.evidence.against_secs
                && margin_secs >= (0.5 * link_secs).max(0.25 * net)
        };
        if enough {
            taken.extend([of.face, of.voice]);
            let Candidate { face, voice, evidence, witnesses, .. } = *of;
            links.push(Link { voice, face, evidence, witnesses, margin_secs });
        }
    }
    links.sort_by_key(|link| (link.voice, link.face));
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ClipId, EntityKind};
    use proptest::prelude::*;

    fn face(n: u32) -> EntityId {
        EntityId::new(EntityKind::Face, n)
    }
    fn voice(n: u32) -> EntityId {
        EntityId::new(EntityKind::Voice, n)
    }
    fn clip(index: u32) -> ClipId {
        ClipId { index, ..ClipId::default() }
    }

    /// Support and what is against it, no mouth seen to speak, on two occasions.
    fn pair(f: u32, v: u32, support_secs: f64, against_secs: f64) -> Candidate {
        let evidence = Signed { support_secs, against_secs };
        let witnesses = Witnesses { clear_secs: 0.0, occasions: Some((clip(0), clip(1))) };
        Candidate { face: face(f), voice: voice(v), evidence, witnesses, same_name: false }
    }

    /// The same on one occasion.
    fn once(of: Candidate) -> Candidate {
        let occasions = Some((clip(0), clip(0)));
        Candidate { witnesses: Witnesses { occasions, ..of.witnesses }, ..of }
    }

    /// All of the support under a mouth that was seen to speak, on no other occasion.
    fn clear(of: Candidate) -> Candidate {
        let witnesses = Witnesses { clear_secs: of.evidence.support_secs, occasions: None };
        Candidate { witnesses, ..of }
    }

    fn linked(candidates: &[Candidate]) -> Vec<(EntityId, EntityId)> {
        let links = assign(candidates, &BTreeMap::new(), 1.5);
        links.iter().map(|link| (link.face, link.voice)).collect()
    }

    #[test]
    fn who_was_in_view_once_gets_no_voice_unless_a_mouth_or_a_name_tells() {
        let long = pair(1, 1, 20.0, 0.0);
        assert!(linked(&[once(long)]).is_empty());
        assert_eq!(linked(&[long]), [(face(1), voice(1))], "in two clips");
        assert_eq!(linked(&[clear(pair(1, 1, 1.6, 0.0))]), [(face(1), voice(1))]);
        let named = Candidate { same_name: true, ..once(long) };
        assert_eq!(linked(&[named]), [(face(1), voice(1))]);
        let unseen = Witnesses::default();
        assert!(linked(&[Candidate { witnesses: unseen, ..named }]).is_empty(), "a name alone");
    }

    #[test]
    fn a_link_that_stands_needs_no_second_occasion() {
        let current = BTreeMap::from([(voice(1), BTreeSet::from([face(1)]))]);
        assert_eq!(assign(&[once(pair(1, 1, 2.0, 0.0))], &current, 1.5).len(), 1);
    }

    #[test]
    fn a_mouth_that_speaks_is_not_outdone_by_who_talks_beside_the_camera() {
        let owner = clear(pair(1, 1, 4.0, 0.0));
        assert_eq!(linked(&[owner, once(pair(1, 2, 9.0, 0.0))]), [(face(1), voice(1))]);
        assert_eq!(linked(&[owner, pair(1, 2, 5.0, 0.0)]), [(face(1), voice(1))]);
        // Two mouths that spoke for as long: nobody can tell.
        assert!(linked(&[owner, clear(pair(1, 2, 4.0, 0.0))]).is_empty());
    }

    #[test]
    fn two_who_are_always_seen_together_are_not_guessed() {
        let even = [
            pair(1, 1, 5.0, 0.0),
            pair(2, 1, 5.0, 0.0),
            pair(1, 2, 4.0, 0.0),
            pair(2, 2, 4.0, 0.0),
        ];
        assert!(linked(&even).is_empty());
    }

    #[test]
    fn a_voice_over_is_outweighed_by_absence() {
        // six seconds over a silent face, thirty heard elsewhere
        let over = [pair(1, 2, 6.0, 30.0), pair(1, 1, 4.0, 0.5)];
        assert_eq!(linked(&over), [(face(1), voice(1))]);
    }

    #[test]
    fn a_link_stands_against_a_slightly_better_rival() {
        let rivals = [pair(1, 1, 5.0, 0.0), pair(2, 1, 5.5, 0.0)];
        let current = BTreeMap::from([(voice(1), BTreeSet::from([face(1)]))]);
        let links = assign(&rivals, &current, 1.5);
        assert_eq!(links[0].face, face(1));
        assert!(linked(&rivals).is_empty());
    }

    #[test]
    fn a_link_that_rests_on_little_gives_way_to_who_is_heard_for_twice_as_long() {
        let over_and_owner = |owner: f64| {
            let rivals = [pair(1, 1, 2.8, 0.0), pair(1, 2, owner, 0.0)];
            let current = BTreeMap::from([(voice(1), BTreeSet::from([face(1)]))]);
            assign(&rivals, &current, 1.5)[0].voice
        };
        assert_eq!(over_and_owner(3.5), voice(1), "a little more is no reason");
        assert_eq!(over_and_owner(5.6), voice(2));
    }

    /// The best rival by looking through all of them.
    fn rival_of_all(ranked: &[Candidate], of: &Candidate, taken: &[EntityId], link: f64) -> f64 {
        let weight = |one: &Candidate| one.evidence.net() + one.witnesses.clear_secs;
        let beside = |one: &&Candidate| (one.face == of.face) != (one.voice == of.voice);
        let free = |one: &&Candidate| !taken.contains(&one.face) && !taken.contains(&one.voice);
        let counts = |one: &&Candidate| !of.is_clear(link) || one.is_clear(link);
        let rivals = ranked.iter().filter(beside).filter(free).filter(counts);
        rivals.map(weight).fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn links_are_one_to_one_and_stand_once_they_are_made(
            evidence in proptest::collection::vec((0_f64..20.0, 0_f64..10.0, 0_u8..3), 16),
            (faces, voices) in (1_u32..5, 1_u32..5), link_secs in 0.5_f64..4.0
        ) {
            let pairs = (0..faces).flat_map(|f| (0..voices).map(move |v| (f, v)));
            let candidates: Vec<_> = pairs
                .zip(&evidence)
                .map(|((f, v), (support, against, how))| {
                    let of = pair(f, v, *support, *against);
                    match how { 0 => once(of), 1 => clear(of), _ => of }
                })
                .collect();
            let links = assign(&candidates, &BTreeMap::new(), link_secs);
            let faces: BTreeSet<_> = links.iter().map(|link| link.face).collect();
            let voices: BTreeSet<_> = links.iter().map(|link| link.voice).collect();
            prop_assert_eq!((faces.len(), voices.len()), (links.len(), links.len()));
            prop_assert!(links.iter().all(|link| link.evidence.net() >= link_secs));
            for link in &links {
                let Witnesses { clear_secs, .. } = link.witnesses;
                prop_assert!(clear_secs > 0.0 || link.witnesses.has_two_occasions(), "{link:?}");
            }
            // the order in which the evidence comes is no evidence
            let reversed: Vec<_> = candidates.iter().rev().copied().collect();
            prop_assert_eq!(&assign(&reversed, &BTreeMap::new(), link_secs), &links);
            // rivals that are looked up are those that are found by looking through all
            let mut made: Vec<&Link> = links.iter().collect();
            let weight = |link: &Link| link.evidence.net() + link.witnesses.clear_secs;
            made.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
            let mut taken = Vec::new();
            for link in made {
                let same = |one: &&Candidate| (one.face, one.voice) == (link.face, link.voice);
                let of = candidates.iter().find(same);
                let rival = of.map(|of| rival_of_all(&candidates, of, &taken, link_secs));
                prop_assert_eq!(rival.map(|rival| weight(link) - rival), Some(link.margin_secs));
                taken.extend([link.face, link.voice]);
            }
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
