//! Ways to an answer that take more than one sentence. Each looks at the question's form alone and leaves what it is not
//! for to the next.

mod frequency;
mod happened;
mod holder;
mod how_long;
mod list;
mod order;
mod whereabouts;
mod whether;

use crate::time::Timestamp;

use super::candidate::Candidate;
use super::corpus::Corpus;
use super::question::Question;

/// What an answer says and rests on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    /// "In the sink", "Yes", "3 days".
    pub(super) value: String,
    /// The notes that it rests on, the first the one to quote.
    pub(super) notes: Vec<usize>,
    /// 0 to 1.
    pub(super) confidence: f32,
}

impl Finding {
    fn new(value: impl Into<String>, notes: Vec<usize>, confidence: f32) -> Self {
        Self { value: value.into(), notes, confidence: confidence.clamp(0.0, 1.0) }
    }
}

/// What a plan goes by.
pub(super) struct Asked<'a> {
    pub(super) corpus: &'a Corpus<'a>,
    pub(super) question: &'a Question,
    pub(super) candidates: &'a [Candidate],
    pub(super) now: Timestamp,
}

/// The finding of the first plan that has one.
pub(super) fn planned(asked: &Asked<'_>) -> Option<Finding> {
    let plans: [fn(&Asked<'_>) -> Option<Finding>; 8] = [
        order::plan,
        whereabouts::plan,
        holder::plan,
        whether::plan,
        how_long::plan,
        frequency::plan,
        happened::plan,
        list::plan,
    ];
    plans.iter().find_map(|plan| plan(asked))
}
