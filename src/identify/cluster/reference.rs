//! Grouping with the galleries that come near is grouping with all of them, pair by pair.

use super::{AGREEING_VIEWS, CLEAR_LEAD, Item, Outcome, best_two, group};
use crate::identify::centres::{Centres, NEAR, Owner};
use crate::identify::gallery::{Gallery, Probe};
use crate::identify::testing::calibrated;
use crate::identify::thresholds::MatchThresholds;
use crate::ids::{EntityId, EntityKind, ModelHash};
use crate::memory::model::Exemplar;
use crate::percept::Embedding;
use crate::time::Timestamp;
use proptest::prelude::*;
use std::sync::Arc;

struct Group {
    members: Vec<usize>,
    probe: Option<Probe>,
    secs: f64,
    gallery: Option<usize>,
    aside: bool,
}

/// The plain way, kept as the reference: every pair of items and galleries is compared.
fn all_with_all(
    items: &[Item],
    known: &[Vec<&Gallery>],
    apart: &dyn Fn(usize, usize) -> bool,
    thresholds: &MatchThresholds,
    twins_below: f32,
    min_new_secs: f64,
) -> Vec<Outcome> {
    let score = |probe: &Probe, gallery: usize| {
        known[gallery].iter().map(|g| g.score(probe)).fold(-1.0_f32, f32::max)
    };
    let everybody: Vec<usize> = (0..known.len()).collect();
    let mut groups: Vec<Group> = (0..known.len())
        .map(|index| Group {
            members: vec![],
            probe: None,
            secs: known[index].iter().map(|g| g.weight()).sum(),
            gallery: Some(index),
            aside: false,
        })
        .collect();
    let mut rest = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let stays = item.prior.filter(|&prior| {
            let mine = score(&item.probe, prior);
            let best = (0..known.len()).map(|g| score(&item.probe, g)).fold(-1.0_f32, f32::max);
            let contradicted = best >= thresholds.accept && best > mine + thresholds.margin;
            item.probe.vectors.is_empty() || (mine >= thresholds.maybe - 0.1 && !contradicted)
        });
        match stays {
            Some(prior) => join_plain(&mut groups[prior], index, item),
            None => rest.push(index),
        }
    }
    for index in rest {
        groups.push(Group {
            members: vec![index],
            probe: Some(items[index].probe.clone()),
            secs: items[index].secs,
            gallery: None,
            aside: items[index].probe.vectors.is_empty(),
        });
    }

    let alike = |a: &Group, b: &Group| -> f32 {
        let with_gallery = match (a.gallery, b.gallery) {
            (Some(_), Some(_)) => return -1.0,
            (Some(gallery), None) => b.probe.as_ref().map_or(-1.0, |probe| score(probe, gallery)),
            (None, Some(gallery)) => a.probe.as_ref().map_or(-1.0, |probe| score(probe, gallery)),
            (None, None) => -1.0,
        };
        let with_members = match (&a.probe, &b.probe) {
            (Some(a), Some(b)) => a.cosine(b),
            _ => -1.0,
        };
        with_gallery.max(with_members)
    };
    let barred = |a: &Group, b: &Group| {
        b.gallery.is_some_and(|g| a.members.iter().any(|&x| items[x].barred.contains(&g)))
    };
    let blocked = |a: &Group, b: &Group| {
        barred(a, b)
            || barred(b, a)
            || a.members.iter().any(|&x| b.members.iter().any(|&y| apart(x, y)))
    };
    // likeness of two groups that are no galleries' both; for galleries their own likeness
    let different = |a: &Group, b: &Group| -> bool {
        let likeness = match (a.gallery, b.gallery) {
            (Some(x), Some(y)) => known[x]
                .iter()
                .flat_map(|g| known[y].iter().map(|h| g.likeness(h)))
                .fold(-1.0_f32, f32::max),
            _ => alike(a, b),
        };
        likeness < thresholds.maybe || blocked(a, b)
    };

    let count = groups.len();
    let mut likeness = vec![vec![-1.0_f32; count]; count];
    let mut alive = vec![true; count];
    for a in 0..count {
        for b in a + 1..count {
            let value = alike(&groups[a], &groups[b]);
            likeness[a][b] = value;
            likeness[b][a] = value;
        }
    }
    loop {
        let mut best: Option<(f32, usize, usize)> = None;
        for a in 0..count {
            for b in a + 1..count {
                let open = alive[a] && alive[b] && !groups[a].aside && !groups[b].aside;
                let value = likeness[a][b];
                if open
                    && value >= thresholds.same_from(groups[a].secs.min(groups[b].secs))
                    && best.is_none_or(|(top, ..)| value > top)
                    && !blocked(&groups[a], &groups[b])
                {
                    best = Some((value, a, b));
                }
            }
        }
        let Some((value, a, b)) = best else { break };
        let torn = |x: usize, y: usize| {
            groups[x].gallery.is_none()
                && (0..count).any(|z| {
                    z != x
                        && z != y
                        && alive[z]
                        && !groups[z].aside
                        && likeness[x][z] > value - thresholds.margin
                        && likeness[x][z] >= thresholds.maybe
                        && different(&groups[y], &groups[z])
                        && !blocked(&groups[x], &groups[z])
                })
        };
        let (torn_a, torn_b) = (torn(a, b), torn(b, a));
        if torn_a || torn_b {
            // both can be torn only when they tear each other: the lesser one is the doubtful one
            let lesser = if groups[a].secs < groups[b].secs { a } else { b };
            let side = match (torn_a, torn_b) {
                (true, true) => lesser,
                (true, false) => a,
                _ => b,
            };
            groups[side].aside = true;
            continue;
        }
        let (into, from) = if groups[b].gallery.is_some() { (b, a) } else { (a, b) };
        for index in std::mem::take(&mut groups[from].members) {
            join_plain(&mut groups[into], index, &items[index]);
        }
        alive[from] = false;
        for other in 0..count {
            if other != into && alive[other] {
                let value = alike(&groups[into], &groups[other]);
                likeness[into][other] = value;
                likeness[other][into] = value;
            }
        }
    }

    let mut outcomes = vec![Outcome::Undecided; items.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        match group.gallery {
            Some(gallery) => {
                for &member in &group.members {
                    let own = score(&items[member].probe, gallery);
                    let near =
                        group.probe.as_ref().map_or(-1.0, |p| p.cosine(&items[member].probe));
                    let score = if items[member].probe.vectors.is_empty() {
                        thresholds.accept
                    } else {
                        own.max(near.min(thresholds.merge))
                    };
                    let sure = !items[member].probe.vectors.is_empty();
                    outcomes[member] = Outcome::Known { gallery, score, sure };
                }
            }
            None if alive[index] && !group.members.is_empty() => open.push(index),
            None => {}
        }
    }
    // several views that agree with each other are a known one from a lower score on, if nobody else comes near
    if !thresholds.seconds_count {
        open.retain(|&index| {
            let candidate = &groups[index];
            let Some(probe) = candidate.probe.as_ref().filter(|_| !candidate.aside) else {
                return true;
            };
            let best = best_two(&everybody, |gallery| score(probe, gallery)).filter(
                |&(gallery, top, second)| {
                    candidate.members.len() >= AGREEING_VIEWS
                        && top >= thresholds.maybe
                        && top - second >= CLEAR_LEAD * thresholds.margin
                        && !blocked(candidate, &groups[gallery])
                },
            );
            let Some((gallery, score, _)) = best else { return true };
            for &member in &candidate.members {
                outcomes[member] = Outcome::Known { gallery, score, sure: true };
            }
            false
        });
    }
    // new entities, the best founded first, so that a lesser look-alike waits for it
    open.sort_by(|&a, &b| {
        groups[b].secs.total_cmp(&groups[a].secs).then(groups[a].members.cmp(&groups[b].members))
    });
    let mut founded: Vec<usize> = Vec::new();
    for index in open {
        let candidate = &groups[index];
        let may_found = candidate.members.iter().any(|&m| items[m].may_found);
        if candidate.aside || !may_found || candidate.secs < min_new_secs {
            continue;
        }
        let fleeting = matches!(candidate.members[..], [only] if items[only].fleeting);
        let step = if fleeting { thresholds.accept - thresholds.maybe } else { 0.0 };
        let unlike = |other: &Group| {
            let value = alike(candidate, other);
            let limit = if blocked(candidate, other) {
                twins_below
            } else {
                thresholds.nobody_below(candidate.secs.min(other.secs)) - step
            };
            value < limit
        };
        let known_unlike = groups[..known.len()].iter().all(unlike);
        if known_unlike && founded.iter().all(|&other| unlike(&groups[other])) {
            for &member in &candidate.members {
                outcomes[member] = Outcome::New { group: founded.len() };
            }
            founded.push(index);
        }
    }
    // those set aside: the likeliest known one, without teaching it
    for group in groups.iter().filter(|g| g.aside && g.gallery.is_none()) {
        for &member in &group.members {
            if items[member].probe.vectors.is_empty() {
                continue;
            }
            let best = best_two(&everybody, |g| score(&items[member].probe, g));
            if let Some((gallery, score, _)) = best
                && score >= thresholds.accept
            {
                outcomes[member] = Outcome::Known { gallery, score, sure: false };
            }
        }
    }
    outcomes
}

fn join_plain(group: &mut Group, index: usize, item: &Item) {
    group.members.push(index);
    group.members.sort_unstable();
    group.secs += item.secs;
    group.probe = Some(match group.probe.take() {
        Some(probe) => probe.joined(&item.probe),
        None => item.probe.clone(),
    });
}

const MODEL: ModelHash = ModelHash([1; 32]);
const DIMS: usize = 6;

fn embedding(values: &[f32]) -> Embedding {
    Embedding::normalised(values.to_vec(), MODEL)
}

/// Of that direction, with noise.
fn near(direction: &[f32], noise: &[f32], share: f32) -> Embedding {
    let mixed: Vec<f32> = direction.iter().zip(noise).map(|(a, b)| a + share * b).collect();
    embedding(&mixed)
}

fn gallery(number: u32, direction: &[f32], noises: &[Vec<f32>]) -> Arc<Gallery> {
    let entity = EntityId::new(EntityKind::Face, number);
    let rows = noises.iter().zip(0_u32..).map(|(noise, slot)| {
        let (at, embedding) = (Timestamp::EPOCH, near(direction, noise, 0.4));
        Arc::new(Exemplar { entity, slot, at, embedding, quality: 0.9, weight: 1.0, media: None })
    });
    Arc::new(Gallery::from_exemplars(entity, rows.collect()))
}

fn directions(
    many: impl Into<proptest::collection::SizeRange>,
) -> impl Strategy<Value = Vec<Vec<f32>>> {
    proptest::collection::vec(proptest::collection::vec(-1.0_f32..1.0, DIMS), many)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// People in few dimensions, so that many are alike: some percepts are of known ones, some of others, in doubt or barred.
    #[test]
    fn the_near_ones_decide_as_all_of_them_do(
        people in directions(1..NEAR),
        noises in directions(3..=3),
        percepts in proptest::collection::vec(
            (0_usize..40, proptest::collection::vec(-1.0_f32..1.0, DIMS), 0.3_f64..9.0, 0_u8..8), 1..9),
        voices in proptest::bool::ANY
    ) {
        let thresholds = calibrated(if voices { "ge2e" } else { "mobilefacenet" });
        let thresholds = if voices { thresholds } else { thresholds.of_views() };
        let galleries: Vec<Arc<Gallery>> =
            people.iter().zip(0_u32..).map(|(of, number)| gallery(number, of, &noises)).collect();
        let mut centres = Centres::default();
        for gallery in &galleries {
            let owner = Owner { head: gallery.entity, person: None };
            centres.put(Arc::clone(gallery), owner);
        }
        let known: Vec<Vec<&Gallery>> = galleries.iter().map(|gallery| vec![&**gallery]).collect();
        let items: Vec<Item> = percepts
            .iter()
            .map(|(who, noise, secs, kind)| {
                let of = people.get(*who).unwrap_or(noise);
                let probe = Probe::new(vec![(near(of, noise, 0.5), *secs as f32)]);
                let centroid = probe.centroid().cloned();
                let found = centroid.iter().flat_map(|c| centres.near(EntityKind::Face, &[c]));
                let mut near: Vec<usize> =
                    found.flatten().map(|row| row.gallery.entity.number as usize).collect();
                near.sort_unstable();
                let one = *who % people.len();
                Item {
                    probe,
                    secs: *secs,
                    may_found: *secs >= 1.0,
                    fleeting: *kind == 1,
                    prior: (*kind == 2).then_some(one),
                    barred: if *kind == 3 { vec![one] } else { vec![] },
                    near,
                }
            })
            .collect();
        let apart = |a: usize, b: usize| percepts[a].3 == 4 && percepts[b].3 == 4;
        let plain = all_with_all(&items, &known, &apart, &thresholds, thresholds.accept, 1.5);
        prop_assert_eq!(group(&items, &known, &apart, &thresholds, thresholds.accept, 1.5), plain);
    }
}
