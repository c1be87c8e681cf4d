//! Whom a sample of a face or voice is like: the best matches among all that are known. Nothing is learned of it.

use std::collections::BTreeMap;

use super::matching::gallery::Probe;
use super::matching::thresholds::MatchThresholds;
use super::shared::Guesses;
use crate::ids::{EntityId, EntityKind};
use crate::percept::Embedding;

/// One whom a sample may be of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness {
    /// The face or voice that is most alike of theirs.
    pub part: EntityId,
    /// The person, or `self`; of a television's voice itself; `None`: it is nobody's yet.
    pub person: Option<EntityId>,
    /// How alike they are: a cosine, [-1, 1] ([`Gallery::score`](super::matching::gallery::Gallery::score)).
    pub score: f32,
    /// The same as confidence, 0–1.
    pub confidence: f32,
}

/// The best matches of a sample, and what their scores mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Likenesses {
    /// The most alike first, each person once.
    pub matches: Vec<Likeness>,
    /// What a score has to be, so many being known.
    pub thresholds: MatchThresholds,
    /// Among how many faces or voices it was looked for.
    pub known: usize,
    /// By how much the first leads the second; from its score on -1 where there is no second.
    lead: f32,
}

impl Likenesses {
    /// The one whom a clip with this sample would be given to: the first, if it is alike enough and clearly before the second.
    #[must_use]
    pub fn clear(&self) -> Option<&Likeness> {
        let first = self.matches.first()?;
        let clear = first.score >= self.thresholds.accept && self.lead >= self.thresholds.margin;
        clear.then_some(first)
    }
}

impl Guesses {
    /// Whom samples of one face or of one voice (with their weights: quality, seconds of speech) are like, at most `most`; those
    /// too who were set aside long ago.
    ///
    /// Costs one pass over the centroids of all that are known, and the exemplars of those that come near.
    #[must_use]
    pub fn likenesses(
        &self,
        kind: EntityKind,
        samples: Vec<(Embedding, f32)>,
        most: usize,
    ) -> Likenesses {
        let thresholds = self.thresholds(kind);
        let probe = Probe::new(samples);
        let mut best: BTreeMap<EntityId, Likeness> = BTreeMap::new();
        for row in self.near(kind, &probe) {
            let score = row.gallery.score(&probe);
            let person = row.owner.person;
            let one = Likeness {
                part: row.owner.head,
                person,
                score,
                confidence: thresholds.confidence(score),
            };
            let known = best.entry(person.unwrap_or(row.owner.head)).or_insert(one);
            if score > known.score {
                *known = one;
            }
        }
        let mut matches: Vec<Likeness> = best.into_values().collect();
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.part.cmp(&b.part)));
        let score = |at: usize| matches.get(at).map_or(-1.0, |one| one.score);
        let lead = score(0) - score(1);
        matches.truncate(most);
        Likenesses { matches, thresholds, known: self.known(kind), lead }
    }
}
