//! Evidence recall: what of a question's labelled evidence is among the first k that were found.
//!
//! Three counts are published under that name, and they lie far apart: whether *any* piece is there, whether *all* are
//! (`recall_any@k`, `recall_all@k` of LongMemEval, arXiv 2410.10813), and the *mean* share of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// Evidence recall by k, over questions; 0–1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EvidenceRecall {
    /// Share of the questions with at least one piece of their evidence among the first k.
    pub any: BTreeMap<usize, f64>,
    /// Share of the questions with all of it there; a question with more than k pieces counts as missed.
    pub all: BTreeMap<usize, f64>,
    /// Share of a question's evidence that is there, averaged over the questions.
    pub mean: BTreeMap<usize, f64>,
}

/// Adds up the evidence recall of questions.
#[derive(Clone, Debug)]
pub(super) struct EvidenceTally {
    questions: usize,
    by_cut: BTreeMap<usize, Found>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Found {
    any: usize,
    all: usize,
    share: f64,
}

impl EvidenceTally {
    /// Nothing asked yet; `cuts`: the values of k.
    pub(super) fn new(cuts: &[usize]) -> Self {
        Self { questions: 0, by_cut: cuts.iter().map(|cut| (*cut, Found::default())).collect() }
    }

    /// Counts a question; `ranked`: what was found, best first. Without evidence it has no recall: it is left out.
    pub(super) fn add<T: Ord>(&mut self, evidence: &BTreeSet<T>, ranked: &[T]) {
        if evidence.is_empty() {
            return;
        }
        self.questions += 1;
        for (cut, found) in &mut self.by_cut {
            let share = share(evidence, ranked.iter().take(*cut));
            found.any += usize::from(share > 0.0);
            found.all += usize::from(share >= 1.0);
            found.share += share;
        }
    }

    /// How many questions were counted.
    pub(super) fn questions(&self) -> usize {
        self.questions
    }

    /// The recall of those counted; 0 of none.
    pub(super) fn recall(&self) -> EvidenceRecall {
        let count = self.questions.max(1) as f64;
        let by_cut = |of: fn(&Found) -> f64| {
            self.by_cut.iter().map(|(cut, found)| (*cut, of(found) / count)).collect()
        };
        EvidenceRecall {
            any: by_cut(|found| found.any as f64),
            all: by_cut(|found| found.all as f64),
            mean: by_cut(|found| found.share),
        }
    }
}

/// Share of the evidence that was found, 0–1; what was found twice counts once.
pub(super) fn share<'a, T: Ord + 'a>(
    evidence: &BTreeSet<T>,
    found: impl Iterator<Item = &'a T>,
) -> f64 {
    let found: BTreeSet<&T> = found.collect();
    evidence.iter().filter(|id| found.contains(id)).count() as f64 / evidence.len().max(1) as f64
}

/// Each once, where it comes first.
pub(super) fn distinct<T: Copy + Ord>(ranked: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = BTreeSet::new();
    ranked.filter(|one| known.insert(*one)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_all_and_mean_part_where_evidence_is_found_piece_by_piece() {
        let mut tally = EvidenceTally::new(&[1, 2, 4]);
        tally.add(&BTreeSet::from(["a", "b"]), &["a", "x", "b"]);
        tally.add(&BTreeSet::from(["c"]), &["x", "c"]);
        tally.add(&BTreeSet::new(), &["x"]);
        assert_eq!(tally.questions(), 2);
        let recall = tally.recall();
        assert_eq!(recall.any, BTreeMap::from([(1, 0.5), (2, 1.0), (4, 1.0)]));
        assert_eq!(recall.all, BTreeMap::from([(1, 0.0), (2, 0.5), (4, 1.0)]));
        assert_eq!(recall.mean, BTreeMap::from([(1, 0.25), (2, 0.75), (4, 1.0)]));
        assert_eq!(EvidenceTally::new(&[5]).recall().any, BTreeMap::from([(5, 0.0)]));
    }

    #[test]
    fn share_of_evidence_counts_each_turn_once() {
        let evidence = BTreeSet::from(["a", "b"]);
        assert_eq!(share(&evidence, ["b", "b", "c"].iter()), 0.5);
    }

    #[test]
    fn sessions_are_ranked_by_their_best_turn() {
        assert_eq!(distinct([3, 1, 3, 2, 1].into_iter()), [3, 1, 2]);
    }
}
