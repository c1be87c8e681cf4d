//! Embeddings that are spread as a network's own are: pairs of one person and of two follow measured quantiles.
//!
//! All vectors share a direction (as networks' do), a person has one in few dimensions, and a sample is a mixture of both and
//! of noise in all dimensions. How much of the person is in a sample is drawn from the measured pairs of one person, poor
//! samples included; in how few dimensions people differ follows from how wide the pairs of two are spread. What lies beyond
//! the measured pairs is what this makes of it, and look-alikes: one person in [`LOOKALIKE_ONE_IN`] has half of another's.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::bench::BenchError;
use crate::bench::random::SplitMix64;
use crate::bench::verify::SHARES;
use crate::ids::ModelHash;
use crate::percept::Embedding;

/// How many people have a look-alike, as siblings are: two more alike than any of the pairs that were measured.
const LOOKALIKE_ONE_IN: usize = 50;
/// Cosine of the directions of a person and of a look-alike.
const LOOKALIKE: f64 = 0.5;
/// Share of a sample's noise that all samples of one occasion have in common: light, room, channel.
const OCCASION: f64 = 0.6;

/// The measured quantiles of one network.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Measured {
    dims: usize,
    same: [f64; SHARES.len()],
    other: [f64; SHARES.len()],
}

/// Draws embeddings of one network.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    measured: Measured,
    model: ModelHash,
    /// Square of the share of the common direction.
    common: f64,
    /// Dimensions in which people differ.
    people_dims: usize,
    /// How much wider the shares of samples are spread than pairs of them.
    wider: f64,
}

/// A person's direction.
#[derive(Clone, Debug)]
pub(super) struct Person(Vec<f64>);

/// What the samples of one occasion have in common.
#[derive(Clone, Debug)]
pub(super) struct Occasion(Vec<f64>);

impl Spread {
    /// Of the network of that name.
    pub(super) fn of(model: &str, hash: ModelHash) -> Result<Self, BenchError> {
        let all: BTreeMap<String, Measured> =
            toml::from_str(include_str!("spread.toml")).map_err(|error| BenchError::Form {
                path: "spread.toml".into(),
                reason: error.to_string(),
            })?;
        let measured = all.get(model).cloned().ok_or_else(|| BenchError::Form {
            path: "spread.toml".into(),
            reason: format!(
                "nobody measured how alike faces or voices are to {model}: measure it with `engramd bench verify` and add it"
            ),
        })?;
        let [.., above, _, _] = measured.other;
        let middle = measured.other[4];
        let common = middle.max(0.0);
        let rest = 1.0 - common;
        // of the pairs of two: the side above the median
        let two = ((above - middle) / 1.645 / rest).powi(2);
        let person = ((measured.same[4] - common) / rest).clamp(0.05, 0.98);
        let noise = (1.0 - person * person) / measured.dims as f64;
        let people_dims = (person * person / (two - noise).max(1e-4)).round().max(4.0);
        let one = ((measured.same[6] - measured.same[2]) / 3.29 / rest).powi(2);
        let wider = (2.0 * (one - noise).max(0.0) / one).sqrt();
        let people_dims = (people_dims as usize).min(measured.dims);
        Ok(Self { measured, model: hash, common, people_dims, wider })
    }

    /// A person; some are like `other`.
    pub(super) fn person(&self, random: &mut SplitMix64, other: Option<&Person>) -> Person {
        let own = direction(random, self.people_dims);
        let other = other.filter(|_| random.below(LOOKALIKE_ONE_IN) == 0);
        let Some(Person(other)) = other else { return Person(own) };
        Person(mixed(other, &own, LOOKALIKE))
    }

    /// An occasion.
    pub(super) fn occasion(&self, random: &mut SplitMix64) -> Occasion {
        Occasion(direction(random, self.measured.dims))
    }

    /// A sample of a person on an occasion.
    pub(super) fn sample(
        &self,
        random: &mut SplitMix64,
        Person(person): &Person,
        Occasion(occasion): &Occasion,
    ) -> Embedding {
        let noise = mixed(occasion, &direction(random, self.measured.dims), OCCASION.sqrt());
        let middle = self.measured.same[4];
        let pair = middle + self.wider * (quantile(&self.measured.same, random.unit()) - middle);
        let share = ((pair - self.common) / (1.0 - self.common)).clamp(0.02, 0.98);
        let scale = (1.0 - self.common).sqrt();
        let mut values: Vec<f64> =
            noise.iter().map(|value| scale * (1.0 - share).sqrt() * value).collect();
        for (value, of_person) in values.iter_mut().zip(person) {
            *value += scale * share.sqrt() * of_person;
        }
        // (The last axis is the common one; what else lies on it is noise.)
        if let Some(last) = values.last_mut() {
            *last += self.common.sqrt();
        }
        Embedding::normalised(values.into_iter().map(|value| value as f32).collect(), self.model)
    }
}

/// A unit vector in no particular direction.
fn direction(random: &mut SplitMix64, dims: usize) -> Vec<f64> {
    unit((0..dims).map(|_| f64::from(random.gaussian())).collect())
}

fn unit(mut values: Vec<f64>) -> Vec<f64> {
    let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt().max(1e-12);
    values.iter_mut().for_each(|value| *value /= norm);
    values
}

/// A unit vector with that cosine to `a`, for the rest in the direction of `b`.
fn mixed(a: &[f64], b: &[f64], cosine: f64) -> Vec<f64> {
    let rest = (1.0 - cosine * cosine).sqrt();
    unit(a.iter().zip(b).map(|(a, b)| cosine * a + rest * b).collect())
}

/// Between the quantiles at [`SHARES`] straight lines.
fn quantile(of: &[f64; SHARES.len()], share: f64) -> f64 {
    let above = SHARES.iter().position(|known| *known >= share).unwrap_or(SHARES.len() - 1).max(1);
    let (low, high) = (SHARES[above - 1], SHARES[above]);
    of[above - 1] + (of[above] - of[above - 1]) * (share - low) / (high - low)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_drawn_are_spread_as_the_measured_ones() {
        for model in ["mobilefacenet", "faceapi_descriptor", "campplus"] {
            let spread = Spread::of(model, ModelHash([1; 32])).unwrap();
            let mut random = SplitMix64::new(7);
            let samples: Vec<(usize, Embedding)> = (0..40)
                .flat_map(|who| {
                    let person = spread.person(&mut random, None);
                    let sample = |_| {
                        let occasion = spread.occasion(&mut random);
                        (who, spread.sample(&mut random, &person, &occasion))
                    };
                    (0..10).map(sample).collect::<Vec<_>>()
                })
                .collect();
            let cosines = |same: bool| -> Vec<f64> {
                let pairs = samples
                    .iter()
                    .enumerate()
                    .flat_map(|(n, a)| samples[n + 1..].iter().map(move |b| (a, b)));
                let mut found: Vec<f64> = pairs
                    .filter(|(a, b)| (a.0 == b.0) == same)
                    .map(|(a, b)| f64::from(a.1.cosine(&b.1).unwrap()))
                    .collect();
                found.sort_by(f64::total_cmp);
                found
            };
            for (same, wanted) in [(true, spread.measured.same), (false, spread.measured.other)] {
                let found = cosines(same);
                // as a share of how far the pairs of one are from those of two
                let apart = spread.measured.same[4] - spread.measured.other[4];
                let inner =
                    SHARES.iter().zip(wanted).filter(|(share, _)| (0.01..1.0).contains(*share));
                for (share, wanted) in inner {
                    let at = found[(share * (found.len() - 1) as f64) as usize];
                    let off = (at - wanted) / apart;
                    assert!(off.abs() < 0.16, "{model} {same} {share}: {at} {wanted}");
                }
            }
        }
    }
}
