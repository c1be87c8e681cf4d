//! What a family of questions gives back, before it becomes the answer document.

use crate::ids::EntityId;
use crate::memory::model::MemoryKind;

use super::document::Evidence;

/// Confidence of an answer that no evidence speaks against, where none can speak for it ("nobody").
const ABSENCE: f32 = 0.7;
/// Confidence of an abstention.
const ABSTAINED: f32 = 0.1;

/// A reply in the making.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) confidence: f32,
    pub(super) abstained: bool,
    pub(super) entities: Vec<EntityId>,
    pub(super) evidence: Vec<Evidence>,
}

impl Reply {
    /// "I don't know …": the memory does not hold the answer.
    pub(super) fn unknown(text: &str) -> Self {
        Self { text: text.to_owned(), confidence: ABSTAINED, abstained: true, ..Self::default() }
    }

    /// Nothing is remembered of it.
    pub(super) fn nothing() -> Self {
        Self::unknown("I don't know: I remember nothing that answers this.")
    }

    /// An answer that rests on evidence; its confidence is the mean weight of it.
    pub(super) fn known(text: String, entities: Vec<EntityId>, evidence: Vec<Evidence>) -> Self {
        let confidence = if evidence.is_empty() {
            ABSENCE
        } else {
            super::reading::mean(evidence.iter().map(|item| item.score)).clamp(0.05, 0.99)
        };
        Self { text, confidence, abstained: false, entities, evidence }
    }

    /// The answer that there was none: somebody looked or listened and nothing came.
    pub(super) fn none(text: String) -> Self {
        Self { text, confidence: ABSENCE, ..Self::default() }
    }

    /// Whether it rests on nothing but what was told.
    pub(super) fn is_told(&self) -> bool {
        let told = [MemoryKind::Note, MemoryKind::Semantic].map(MemoryKind::word);
        let is_told = |item: &Evidence| item.clip.is_none() && told.contains(&item.kind.as_str());
        !self.abstained && !self.evidence.is_empty() && self.evidence.iter().all(is_told)
    }

    /// With what else is remembered of it behind its own evidence.
    pub(super) fn beside(mut self, others: Vec<Evidence>) -> Self {
        let known: Vec<_> = self.evidence.iter().map(|item| item.memory).collect();
        self.evidence.extend(others.into_iter().filter(|item| !known.contains(&item.memory)));
        self
    }

    pub(super) fn about(mut self, entities: &[EntityId]) -> Self {
        for id in entities {
            if !self.entities.contains(id) {
                self.entities.push(*id);
            }
        }
        self
    }
}
