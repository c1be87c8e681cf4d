//! Adding up what speaks for a memory, thinning out what says the same twice, and settling near-ties: by importance and
//! recency.

use crate::memory::{likeness, stems};
use crate::mention;
use crate::percept::Embedding;
use crate::time::Timestamp;

use super::query::Why;

/// Likeness from which on a memory repeats another.
const REPEATS: f32 = 0.8;
/// What a full repetition loses, of its score.
const LOSS: f32 = 0.3;
/// Scores that differ by less are as good as equal: vectors and words do not tell them apart. Importance and recency move
/// a memory by no more than that, so nothing passes what fits clearly better, however new it is.
const NEAR_TIE: f32 = 0.01;
/// Near-ties are settled for so many places: an answer is made of those. On LoCoMo the first hit is right more often for
/// it, in each of the five conversations alike or better; further down, where scores lie close, it would be chance.
const SETTLED: usize = 5;
/// What is so much older counts half, seconds.
const HALF_AS_RECENT_SECS: f64 = 3600.0;

/// What speaks for a memory.
#[derive(Default)]
pub(super) struct Reasons(Vec<(f32, Option<Why>)>);

impl Reasons {
    /// Adds a gain, and how it is told.
    pub(super) fn add(&mut self, gain: f32, why: Option<Why>) {
        self.0.push((gain, why));
    }

    /// The sum, and the reasons, the strongest first.
    pub(super) fn sorted(mut self) -> (f32, Vec<Why>) {
        let sum = self.0.iter().map(|(gain, _)| gain).sum();
        self.0.sort_by(|a, b| b.0.total_cmp(&a.0));
        (
            sum,
            self.0.into_iter().filter(|(gain, _)| *gain > 0.0).filter_map(|(_, why)| why).collect(),
        )
    }
}

/// A candidate for diversification.
pub(super) struct Candidate<T> {
    pub(super) item: T,
    pub(super) score: f32,
    pub(super) vector: Option<Embedding>,
    pub(super) text: String,
    /// When it happened.
    pub(super) at: Timestamp,
    /// 0–1.
    pub(super) importance: f32,
}

impl<T> Candidate<T> {
    /// Importance times recency (Generative Agents, arXiv 2304.03442; with its slip mended: the newest is the most recent).
    fn standing(&self, newest: Timestamp) -> f64 {
        let behind_secs = newest.secs_since(self.at).max(0.0);
        f64::from(self.importance) / (1.0 + behind_secs / HALF_AS_RECENT_SECS)
    }
}

/// Takes `k` candidates by maximal marginal relevance (Carbonell & Goldstein, SIGIR 1998): what repeats
/// something taken already falls back. Of those that fit as well as the best, the one of the highest standing is taken.
pub(super) fn diversify<T>(mut candidates: Vec<Candidate<T>>, k: usize) -> Vec<(T, f32)> {
    let mut words: Vec<Option<Vec<String>>> = vec![None; candidates.len()];
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    let mut repeated = vec![0.0_f32; candidates.len()];
    let mut taken: Vec<usize> = Vec::new();
    while taken.len() < k && !left.is_empty() {
        let value = |i: usize| {
            let repeats = ((repeated[i] - REPEATS) / (1.0 - REPEATS)).max(0.0);
            candidates[i].score * (1.0 - LOSS * repeats)
        };
        let Some(best) = left.iter().map(|i| value(*i)).max_by(f32::total_cmp) else { break };
        let margin = if taken.len() < SETTLED { NEAR_TIE } else { 0.0 };
        let near: Vec<usize> =
            (0..left.len()).filter(|place| value(left[*place]) >= best - margin).collect();
        let newest = near.iter().map(|place| candidates[left[*place]].at).max();
        let standing =
            |place: &usize| candidates[left[*place]].standing(newest.unwrap_or(Timestamp::MAX));
        let Some(place) =
            near.iter().copied().max_by(|a, b| standing(a).total_cmp(&standing(b)).then(b.cmp(a)))
        else {
            break;
        };
        let chosen = left.remove(place);
        for &other in &left {
            let alike = match (&candidates[chosen].vector, &candidates[other].vector) {
                (Some(a), Some(b)) if a.model == b.model => likeness(&a.values, &b.values),
                _ => None,
            };
            let alike = alike.unwrap_or_else(|| {
                for i in [chosen, other] {
                    words[i].get_or_insert_with(|| sorted_stems(&candidates[i].text));
                }
                match (&words[chosen], &words[other]) {
                    (Some(a), Some(b)) => overlap(a, b),
                    _ => 0.0,
                }
            });
            repeated[other] = repeated[other].max(alike);
        }
        taken.push(chosen);
    }
    let mut slots: Vec<Option<Candidate<T>>> = candidates.drain(..).map(Some).collect();
    taken.into_iter().filter_map(|i| slots[i].take()).map(|c| (c.item, c.score)).collect()
}

fn sorted_stems(text: &str) -> Vec<String> {
    let mut found = stems(&mention::render(text, |_| String::new()));
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
    fn the_strongest_reason_comes_first() {
        let mut reasons = Reasons::default();
        reasons.add(0.2, Some(Why::Time));
        reasons.add(0.0, Some(Why::Words(3, 0.0)));
        reasons.add(0.5, Some(Why::Meaning(1, 0.6)));
        reasons.add(0.1, None);
        let (sum, why) = reasons.sorted();
        assert!((sum - 0.8).abs() < 1e-6);
        assert_eq!(why, [Why::Meaning(1, 0.6), Why::Time]);
    }

    #[test]
    fn a_repetition_gives_way() {
        let candidate = |item: u8, score: f32, text: &str| Candidate {
            item,
            score,
            vector: None,
            text: text.to_owned(),
            at: Timestamp::EPOCH,
            importance: 0.5,
        };
        let taken = diversify(
            vec![
                candidate(0, 1.0, "Ava said hello to Ben"),
                candidate(1, 0.95, "Ava said hello to Ben"),
                candidate(2, 0.8, "The mug is on the table"),
            ],
            3,
        );
        assert_eq!(taken.iter().map(|t| t.0).collect::<Vec<_>>(), [0, 2, 1]);
    }

    #[test]
    fn of_near_ties_the_newest_comes_first_and_nothing_passes_what_fits_better() {
        let candidate = |item: u8, score: f32, hours: f64, importance: f32| Candidate {
            item,
            score,
            vector: None,
            text: format!("word{item}"),
            at: Timestamp::EPOCH.plus_secs(hours * 3600.0),
            importance,
        };
        let order = |candidates| -> Vec<u8> {
            diversify(candidates, 9).into_iter().map(|(item, _)| item).collect()
        };
        // As good as equal: the newest first; the same hour: the most important.
        let (old, new) = (candidate(0, 0.505, 0.0, 0.5), candidate(1, 0.5, 24.0, 0.5));
        assert_eq!(order(vec![old, new]), [1, 0]);
        let (dull, weighty) = (candidate(0, 0.5, 1.0, 0.2), candidate(1, 0.5, 0.9, 0.8));
        assert_eq!(order(vec![dull, weighty]), [1, 0]);
        // A year newer and as important as can be, but it fits less.
        let (fits, newer) = (candidate(0, 0.52, 0.0, 0.1), candidate(1, 0.5, 8760.0, 1.0));
        assert_eq!(order(vec![fits, newer]), [0, 1]);
        // In steps smaller than a near-tie, nothing falls behind what is a near-tie away.
        let steps = (0..8).map(|i| candidate(i, 0.6 - 0.004 * f32::from(i), f64::from(i), 0.5));
        assert_eq!(order(steps.collect()), [2, 1, 0, 5, 4, 3, 6, 7]);
    }
}
