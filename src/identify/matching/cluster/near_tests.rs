//! Grouping with the galleries that come near is grouping with all of them.

use super::{Item, group};
use crate::identify::matching::centroids::{Centroids, NEAR, Owner};
use crate::identify::matching::gallery::{Gallery, Probe};
use crate::identify::testing::calibrated;
use crate::ids::{EntityId, EntityKind, ModelHash};
use crate::memory::model::Exemplar;
use crate::percept::Embedding;
use crate::time::Timestamp;
use proptest::prelude::*;
use std::sync::Arc;

const MODEL: ModelHash = ModelHash([1; 32]);
const DIMS: usize = 12;

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

    /// More people than are looked at for one percept, in few dimensions, so that many are alike: some percepts are of known
    /// ones, some of others, in doubt or barred.
    #[test]
    fn the_near_ones_decide_as_all_of_them_do(
        people in directions(NEAR..4 * NEAR),
        noises in directions(3..=3),
        percepts in proptest::collection::vec(
            (0_usize..5 * NEAR, proptest::collection::vec(-1.0_f32..1.0, DIMS), 0.3_f64..9.0, 0_u8..8), 1..9),
        voices in proptest::bool::ANY
    ) {
        let thresholds = calibrated(if voices { "ge2e" } else { "mobilefacenet" });
        let thresholds = if voices { thresholds } else { thresholds.of_views() };
        let galleries: Vec<Arc<Gallery>> =
            people.iter().zip(0_u32..).map(|(of, number)| gallery(number, of, &noises)).collect();
        let mut centres = Centroids::default();
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
                    cannot_link: if *kind == 3 { vec![one] } else { vec![] },
                    near,
                }
            })
            .collect();
        let apart = |a: usize, b: usize| percepts[a].3 == 4 && percepts[b].3 == 4;
        let grouped =
            |items: &[Item]| group(items, &known, &apart, &thresholds, thresholds.accept, 1.5);
        let of_all = |item: &Item| Item { near: (0..known.len()).collect(), ..item.clone() };
        let all: Vec<Item> = items.iter().map(of_all).collect();
        prop_assert_eq!(grouped(&items), grouped(&all));
    }
}
