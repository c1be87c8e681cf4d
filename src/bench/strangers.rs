//! How alike somebody unknown is to those who are known: each sample against the galleries of all others, as a percept is
//! compared with them.
//!
//! Pairs of samples tell less: in a gallery the chance of single samples is averaged out, and of its exemplars the nearest
//! count, so that scores of strangers are spread otherwise than cosines of their samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::identify::matching::gallery::{Gallery, Probe};
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::Exemplar;
use crate::percept::Embedding;
use crate::time::Timestamp;

/// Scores of samples against galleries of others: the `[others]` of a calibration file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Strangers {
    /// Samples × galleries of others.
    pub scores: usize,
    /// Their mean, [-1, 1].
    pub mean: f32,
    /// Their standard deviation, of the side above the mean.
    pub deviation: f32,
    /// The highest.
    pub most: f32,
}

impl Strangers {
    /// Of samples by identity; a gallery holds the first `capacity` of one. `None` with one identity.
    pub(super) fn of<'a>(
        samples: impl IntoIterator<Item = (usize, &'a Embedding)>,
        capacity: usize,
    ) -> Option<Self> {
        let mut by_identity: BTreeMap<usize, Vec<&Embedding>> = BTreeMap::new();
        for (identity, embedding) in samples {
            by_identity.entry(identity).or_default().push(embedding);
        }
        let galleries: BTreeMap<usize, Gallery> = by_identity
            .iter()
            .map(|(identity, of)| (*identity, gallery(&of[..of.len().min(capacity)])))
            .collect();
        let mut scores: Vec<f64> = Vec::new();
        for (identity, of) in &by_identity {
            for sample in of {
                let probe = Probe::new(vec![((*sample).clone(), 1.0)]);
                let others = galleries.iter().filter(|(other, _)| *other != identity);
                scores.extend(others.map(|(_, gallery)| f64::from(gallery.score(&probe))));
            }
        }
        let count = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / count;
        let above: Vec<f64> =
            scores.iter().map(|score| score - mean).filter(|d| *d > 0.0).collect();
        let square = above.iter().map(|d| d * d).sum::<f64>() / above.len() as f64;
        (!above.is_empty()).then(|| Self {
            scores: scores.len(),
            mean: mean as f32,
            deviation: square.sqrt() as f32,
            most: scores.iter().copied().fold(f64::MIN, f64::max) as f32,
        })
    }
}

fn gallery(samples: &[&Embedding]) -> Gallery {
    let entity = EntityId::new(EntityKind::Face, 1);
    let row = |(embedding, slot): (&&Embedding, u32)| {
        let (at, embedding) = (Timestamp::EPOCH, (*embedding).clone());
        Arc::new(Exemplar { entity, slot, at, embedding, quality: 1.0, weight: 1.0, media: None })
    };
    Gallery::from_exemplars(entity, samples.iter().zip(0..).map(row).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::ModelHash;

    fn sample(values: &[f32]) -> Embedding {
        Embedding::normalised(values.to_vec(), ModelHash([1; 32]))
    }

    #[test]
    fn each_sample_meets_every_gallery_but_its_own() {
        let samples = [
            (0, sample(&[1.0, 0.0, 0.0])),
            (0, sample(&[1.0, 0.0, 0.0])),
            (1, sample(&[0.0, 1.0, 0.0])),
            (2, sample(&[0.6, 0.0, 0.8])),
        ];
        let of = |many: usize| samples[..many].iter().map(|(who, sample)| (*who, sample));
        let found = Strangers::of(of(4), 12).unwrap();
        // 0.6 three times (two of the first, one of the third against it), 0 five times
        assert_eq!(found.scores, 8);
        assert!((found.mean - 0.6 * 3.0 / 8.0).abs() < 1e-6, "{found:?}");
        assert!((found.deviation - (0.6 - found.mean)).abs() < 1e-6, "{found:?}");
        assert!((found.most - 0.6).abs() < 1e-6);
        assert_eq!(Strangers::of(of(2), 12), None);
    }
}
