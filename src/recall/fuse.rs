//! Fusing ranked lists into one, and thinning out what says the same twice.

use std::collections::BTreeMap;

use crate::ids::MemoryId;
use crate::memory::stems;
use crate::percept::Embedding;

use super::query::Why;

/// Smoothing of reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009).
const RRF_K: f32 = 60.0;

/// Reciprocal rank fusion of weighted lists.
#[derive(Default)]
pub(super) struct Fusion {
    scores: BTreeMap<MemoryId, (f32, Vec<(f32, Why)>)>,
    best: f32,
}

impl Fusion {
    /// Adds a ranked list, best first.
    pub(super) fn add(
        &mut self,
        weight: f32,
        list: impl IntoIterator<Item = (MemoryId, f32)>,
        why: impl Fn(usize, f32) -> Why,
    ) {
        self.best += weight / (RRF_K + 1.0);
        for (at, (id, score)) in list.into_iter().enumerate() {
            self.gain(id, weight / (RRF_K + at as f32 + 1.0), why(at + 1, score));
        }
    }

    /// Adds a condition that those memories meet, all alike.
    pub(super) fn add_flat(&mut self, weight: f32, ids: impl IntoIterator<Item = (MemoryId, Why)>) {
        self.best += weight / (RRF_K + 1.0);
        for (id, why) in ids {
            self.gain(id, weight / (RRF_K + 1.0), why);
        }
    }

    fn gain(&mut self, id: MemoryId, gain: f32, why: Why) {
        let entry = self.scores.entry(id).or_default();
        entry.0 += gain;
        entry.1.push((gain, why));
    }

    /// All memories, best first; scores against the best possible, 0–1.
    pub(super) fn ranked(self) -> Vec<(MemoryId, f32, Vec<Why>)> {
        let best = self.best.max(f32::MIN_POSITIVE);
        let mut ranked: Vec<_> = self
            .scores
            .into_iter()
            .map(|(id, (score, mut why))| {
                why.sort_by(|a, b| b.0.total_cmp(&a.0));
                (id, (score / best).min(1.0), why.into_iter().map(|(_, why)| why).collect())
            })
            .collect();
        ranked.sort_by(|a: &(MemoryId, f32, Vec<Why>), b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
    }
}

/// A candidate for diversification.
pub(super) struct Candidate<T> {
    pub(super) item: T,
    pub(super) score: f32,
    pub(super) vector: Option<Embedding>,
    pub(super) text: String,
}

/// Takes `k` candidates by maximal marginal relevance (Carbonell & Goldstein, SIGIR 1998): `lambda` weighs
/// relevance against likeness to what is taken already. The best stays first.
pub(super) fn diversify<T>(
    mut candidates: Vec<Candidate<T>>,
    k: usize,
    lambda: f32,
) -> Vec<(T, f32)> {
    let words: Vec<Vec<String>> = candidates.iter().map(|c| sorted_stems(&c.text)).collect();
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    let mut likeness = vec![0.0_f32; candidates.len()];
    let mut taken: Vec<usize> = Vec::new();
    while taken.len() < k && !left.is_empty() {
        let value = |i: usize| lambda * candidates[i].score - (1.0 - lambda) * likeness[i];
        let Some(place) = (0..left.len())
            .max_by(|a, b| value(left[*a]).total_cmp(&value(left[*b])).then(b.cmp(a)))
        else {
            break;
        };
        let chosen = left.remove(place);
        for &other in &left {
            let alike = match (&candidates[chosen].vector, &candidates[other].vector) {
                (Some(a), Some(b)) => a.cosine(b),
                _ => None,
            }
            .unwrap_or_else(|| overlap(&words[chosen], &words[other]));
            likeness[other] = likeness[other].max(alike);
        }
        taken.push(chosen);
    }
    let mut slots: Vec<Option<Candidate<T>>> = candidates.drain(..).map(Some).collect();
    taken.into_iter().filter_map(|i| slots[i].take()).map(|c| (c.item, c.score)).collect()
}

fn sorted_stems(text: &str) -> Vec<String> {
    let mut found = stems(text);
    found.sort_unstable();
    found.dedup();
    found
}

/// Shared words over all words, 0–1.
fn overlap(a: &[String], b: &[String]) -> f32 {
    let both = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    let all = a.len() + b.len() - both;
    if all == 0 { 0.0 } else { both as f32 / all as f32 }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_two_lists_find_comes_first() {
        let mut fusion = Fusion::default();
        let list = |ids: &[u64]| ids.iter().map(|id| (MemoryId(*id), 1.0)).collect::<Vec<_>>();
        fusion.add(1.0, list(&[1, 2, 3]), Why::Meaning);
        fusion.add(1.0, list(&[4, 2, 5]), Why::Words);
        let ranked = fusion.ranked();
        assert_eq!(ranked[0].0, MemoryId(2));
        assert_eq!(ranked[0].2.len(), 2);
        assert!(ranked[0].1 < 1.0 && ranked[0].1 > 0.9);
    }

    #[test]
    fn a_repetition_gives_way() {
        let candidate = |item: u8, score: f32, text: &str| Candidate {
            item,
            score,
            vector: None,
            text: text.to_owned(),
        };
        let taken = diversify(
            vec![
                candidate(0, 1.0, "Ava said hello to Ben"),
                candidate(1, 0.95, "Ava said hello to Ben"),
                candidate(2, 0.8, "The mug is on the table"),
            ],
            3,
            0.7,
        );
        assert_eq!(taken.iter().map(|t| t.0).collect::<Vec<_>>(), [0, 2, 1]);
    }
}
