//! The percepts of a clip and the known galleries, grouped jointly.
//!
//! Constrained agglomerative clustering: the most alike pair is joined first, a percept that is torn
//! between two different groups is set aside instead of bridging them, and percepts that cannot be one
//! (two faces at once in one camera) are kept apart. Used for faces and for voices.

use std::collections::BTreeSet;

use super::gallery::{Gallery, Probe};
use super::thresholds::MatchThresholds;

/// One percept to be grouped.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its embeddings.
    pub probe: Probe,
    /// Seconds of face or speech it rests on.
    pub secs: f64,
    /// Long and good enough to be the ground of a new face or voice.
    pub may_found: bool,
    /// So little that, alone, it must be a step less like all others than another to be the ground of a new one: a known voice
    /// through a door is easily as unlike. It waits for more of the same.
    pub fleeting: bool,
    /// It goes on from earlier: the gallery (index) it was given then.
    pub prior: Option<usize>,
    /// Galleries (indices) it cannot be: they were seen beside it.
    pub cannot_link: Vec<usize>,
    /// Galleries (indices) that it may be, ascending; it is compared with no others.
    pub near: Vec<usize>,
}

/// What became of a percept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It is the known gallery of that index; teaches it when `sure`.
    Known {
        /// Index into the galleries.
        gallery: usize,
        /// Score against it.
        score: f32,
        /// Score and margin were both reached.
        sure: bool,
    },
    /// It belongs to the new entity of that index.
    New {
        /// Index of the new entity, in no canonical order.
        group: usize,
    },
    /// More evidence is needed.
    Undecided,
}

/// So many views of their own (tracks) that agree with each other may be a known one below `accept`.
const AGREEING_VIEWS: usize = 2;
/// How far nobody else must come near them, in margins. On composed scenes with the open set's descriptor one person's
/// tracks in other photos led by 0.044 to 0.089 (3.7 to 7.4 margins).
const CLEAR_LEAD: f32 = 3.5;

struct Group {
    members: Vec<usize>,
    probe: Option<Probe>,
    secs: f64,
    gallery: Option<usize>,
    aside: bool,
    /// Galleries that its members may be.
    near: BTreeSet<usize>,
}

/// Groups items and galleries; one outcome per item. `apart(a, b)` tells that two items cannot be one.
///
/// What cannot be one and is alike by `twins_below` or more is not yet believed to be two.
///
/// `known` are groups of galleries of one entity each (an entity and those merged into it): those that come into question for
/// any of the items ([`Item::near`]). Costs items × galleries for each that is joined; galleries are not compared with each
/// other but where an item is torn between them.
pub fn group(
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
    let mut groups: Vec<Group> = (0..known.len())
        .map(|index| Group {
            members: vec![],
            probe: None,
            secs: known[index].iter().map(|g| g.weight()).sum(),
            gallery: Some(index),
            aside: false,
            near: BTreeSet::new(),
        })
        .collect();
    let mut rest = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let stays = item.prior.filter(|&prior| {
            let mine = score(&item.probe, prior);
            let others = item.near.iter().map(|&gallery| score(&item.probe, gallery));
            let best = others.fold(mine, f32::max);
            let contradicted = best >= thresholds.accept && best > mine + thresholds.margin;
            item.probe.vectors.is_empty() || (mine >= thresholds.maybe - 0.1 && !contradicted)
        });
        match stays {
            Some(prior) => join(&mut groups[prior], index, item),
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
            near: items[index].near.iter().copied().collect(),
        });
    }

    let with_gallery = |gallery: usize, group: &Group| match &group.probe {
        Some(probe) if group.near.contains(&gallery) => score(probe, gallery),
        _ => -1.0,
    };
    let alike = |a: &Group, b: &Group| -> f32 {
        let with_gallery = match (a.gallery, b.gallery) {
            (Some(_), Some(_)) => return -1.0,
            (Some(gallery), None) => with_gallery(gallery, b),
            (None, Some(gallery)) => with_gallery(gallery, a),
            (None, None) => -1.0,
        };
        let with_members = match (&a.probe, &b.probe) {
            (Some(a), Some(b)) => a.cosine(b),
            _ => -1.0,
        };
        with_gallery.max(with_members)
    };
    let cannot_link = |a: &Group, b: &Group| {
        b.gallery.is_some_and(|g| a.members.iter().any(|&x| items[x].cannot_link.contains(&g)))
    };
    let blocked = |a: &Group, b: &Group| {
        cannot_link(a, b)
            || cannot_link(b, a)
            || a.members.iter().any(|&x| b.members.iter().any(|&y| apart(x, y)))
    };
    // similarity of two groups that are no galleries' both; for galleries their own similarity
    let different = |a: &Group, b: &Group| -> bool {
        let similarity = match (a.gallery, b.gallery) {
            (Some(x), Some(y)) => known[x]
                .iter()
                .flat_map(|g| known[y].iter().map(|h| g.similarity(h)))
                .fold(-1.0_f32, f32::max),
            _ => alike(a, b),
        };
        similarity < thresholds.maybe || blocked(a, b)
    };

    // By group of items (the groups behind the galleries) and any group; two galleries have no similarity here.
    let (first, count) = (known.len(), groups.len());
    let mut similarity = vec![vec![-1.0_f32; count]; count - first];
    let mut alive = vec![true; count];
    for b in first..count {
        for a in 0..b {
            let value = alike(&groups[a], &groups[b]);
            similarity[b - first][a] = value;
            if a >= first {
                similarity[a - first][b] = value;
            }
        }
    }
    loop {
        let mut best: Option<(f32, usize, usize)> = None;
        for a in 0..count {
            for b in first.max(a + 1)..count {
                let open = alive[a] && alive[b] && !groups[a].aside && !groups[b].aside;
                let value = similarity[b - first][a];
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
                        && similarity[x - first][z] > value - thresholds.margin
                        && similarity[x - first][z] >= thresholds.maybe
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
            join(&mut groups[into], index, &items[index]);
        }
        alive[from] = false;
        let near = std::mem::take(&mut groups[from].near);
        groups[into].near.extend(near);
        for other in 0..count {
            if other != into && alive[other] {
                let value = alike(&groups[into], &groups[other]);
                if into >= first {
                    similarity[into - first][other] = value;
                }
                if other >= first {
                    similarity[other - first][into] = value;
                }
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
            let best = best_two(&candidate.near, |gallery| score(probe, gallery)).filter(
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
            let best = best_two(&items[member].near, |g| score(&items[member].probe, g));
            if let Some((gallery, score, _)) = best
                && score >= thresholds.accept
            {
                outcomes[member] = Outcome::Known { gallery, score, sure: false };
            }
        }
    }
    outcomes
}

/// The best gallery, its score, and the second best score (-1 where there is none).
pub fn best_two<'a>(
    of: impl IntoIterator<Item = &'a usize>,
    score: impl Fn(usize) -> f32,
) -> Option<(usize, f32, f32)> {
    let mut best: Option<(usize, f32, f32)> = None;
    for &index in of {
        let value = score(index);
        best = Some(match best {
            None => (index, value, -1.0),
            Some((_, top, _)) if value > top => (index, value, top),
            Some((first, top, second)) => (first, top, second.max(value)),
        });
    }
    best
}

fn join(group: &mut Group, index: usize, item: &Item) {
    group.members.push(index);
    group.members.sort_unstable();
    group.secs += item.secs;
    group.probe = Some(match group.probe.take() {
        Some(probe) => probe.joined(&item.probe),
        None => item.probe.clone(),
    });
}

#[cfg(test)]
mod near_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identify::testing::calibrated;
    use crate::ids::{EntityId, EntityKind, ModelHash};
    use crate::memory::model::Exemplar;
    use crate::percept::Embedding;
    use crate::time::Timestamp;

    fn item(values: &[f32], secs: f64) -> Item {
        let embedding = Embedding::normalised(values.to_vec(), ModelHash([1; 32]));
        let probe = Probe::new(vec![(embedding, secs as f32)]);
        let may_found = secs >= 1.2;
        let (cannot_link, near) = (vec![], vec![]);
        Item { probe, secs, may_found, fleeting: false, prior: None, cannot_link, near }
    }

    #[test]
    fn a_mixed_turn_does_not_bridge_two_voices() {
        let t = calibrated("ge2e");
        let items = [
            item(&[1.0, 0.0, 0.1], 4.0),
            item(&[0.95, 0.05, 0.0], 3.0),
            item(&[0.05, 1.0, 0.0], 3.0),
            item(&[0.72, 0.70, 0.0], 5.0), // both voices in one turn
        ];
        let outcomes = group(&items, &[], &|_, _| false, &t, t.accept, 1.5);
        assert_eq!(outcomes[0], outcomes[1]);
        assert!(matches!(outcomes[0], Outcome::New { .. }), "{outcomes:?}");
        assert!(matches!(outcomes[2], Outcome::New { .. }), "{outcomes:?}");
        assert_ne!(outcomes[0], outcomes[2]);
        assert_eq!(outcomes[3], Outcome::Undecided);
    }

    #[test]
    fn two_views_that_agree_are_a_known_face_where_one_is_not_yet() {
        let t = calibrated("mobilefacenet").of_views();
        let face = |n| EntityId::new(EntityKind::Face, n);
        let gallery = |n, values: &[f32]| {
            let mut gallery = Gallery::new(face(n));
            let exemplar = Exemplar {
                entity: face(n),
                slot: 0,
                at: Timestamp::EPOCH,
                embedding: Embedding::normalised(values.to_vec(), ModelHash([1; 32])),
                quality: 0.9,
                weight: 1.0,
                media: None,
            };
            gallery.admit(exemplar, 4, t.same_view());
            gallery
        };
        let (known, other) = (gallery(1, &[1.0, 0.0, 0.0]), gallery(2, &[0.0, 0.0, 1.0]));
        let galleries = [vec![&known], vec![&other]];
        let item = |values: &[f32], secs| Item { near: vec![0, 1], ..item(values, secs) };
        let view = item(&[0.38, 0.92, 0.0], 3.0);
        let score = known.score(&view.probe);
        assert!(t.maybe < score && score < t.accept, "{score}");
        let grouped = |items: &[Item]| group(items, &galleries, &|_, _| false, &t, t.accept, 1.0);
        assert_eq!(grouped(std::slice::from_ref(&view)), [Outcome::Undecided]);
        let both = grouped(&[view, item(&[0.38, 0.90, 0.1], 3.0)]);
        let of_first = |o: &Outcome| matches!(o, Outcome::Known { gallery: 0, sure: true, .. });
        assert!(both.iter().all(of_first), "{both:?}");
    }

    #[test]
    fn what_is_fleeting_founds_nobody_unless_it_is_clearly_unlike_or_heard_again() {
        let t = calibrated("ge2e");
        // Midway between what is needed of it and what is needed of others.
        let similarity = t.nobody_below(2.0) - 0.5 * (t.accept - t.maybe);
        let other = item(&[1.0, 0.0, 0.0], 8.0);
        let new = item(&[similarity, (1.0 - similarity * similarity).sqrt(), 0.0], 2.0);
        let fleeting = Item { fleeting: true, ..new.clone() };
        let of_second = |items: &[Item]| group(items, &[], &|_, _| false, &t, t.accept, 1.5)[1];
        let founds = |items: &[Item]| matches!(of_second(items), Outcome::New { .. });
        assert!(founds(&[other.clone(), new]));
        assert_eq!(of_second(&[other.clone(), fleeting.clone()]), Outcome::Undecided);
        assert!(founds(&[other.clone(), fleeting.clone(), fleeting]), "heard again");
        let unlike = Item { fleeting: true, ..item(&[0.0, 0.0, 1.0], 2.0) };
        assert!(founds(&[other, unlike]));
    }

    #[test]
    fn percepts_seen_at_once_stay_apart_and_short_ones_found_nothing() {
        let t = calibrated("ge2e");
        let items = [item(&[1.0, 0.0], 4.0), item(&[1.0, 0.02], 3.0), item(&[0.0, 1.0], 0.8)];
        let outcomes = group(&items, &[], &|a, b| a != b, &t, t.accept, 1.5);
        assert!(matches!(outcomes[0], Outcome::New { .. }));
        assert_eq!(outcomes[1], Outcome::Undecided, "looks like the first, seen beside it");
        assert_eq!(outcomes[2], Outcome::Undecided, "too short");
    }
}
