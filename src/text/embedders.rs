//! The configured embedder, and the one whose vectors answer while the memory changes over to it.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::{TextEmbedder, TextError};
use crate::ids::ModelHash;
use crate::percept::Embedding;

/// Whose vectors questions are compared with.
#[derive(Clone)]
pub enum Answering {
    /// The configured embedder's.
    Configured,
    /// Those of the one before it, which is still here, until every memory has the configured one's.
    Before(Arc<dyn TextEmbedder>),
    /// Nobody's: the one before it is not here, and questions go by words alone until then.
    Nobody,
}

/// Embeds questions and new memories with the one that answers; once every memory has the configured one's
/// vector, that is [settled](Self::settle).
pub struct Embedders {
    configured: Arc<dyn TextEmbedder>,
    answering: ArcSwap<Answering>,
}

impl Embedders {
    /// With whoever answers at first.
    #[must_use]
    pub fn new(configured: Arc<dyn TextEmbedder>, answering: Answering) -> Self {
        Self { configured, answering: ArcSwap::from_pointee(answering) }
    }

    /// The one that every memory is to have a vector of.
    #[must_use]
    pub fn configured(&self) -> &Arc<dyn TextEmbedder> {
        &self.configured
    }

    /// Who answers now.
    #[must_use]
    pub fn answering(&self) -> Arc<Answering> {
        self.answering.load_full()
    }

    /// Whether the configured one answers.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(**self.answering.load(), Answering::Configured)
    }

    /// From now on the configured one answers; the one before it is let go of.
    pub fn settle(&self) {
        self.answering.store(Arc::new(Answering::Configured));
    }
}

impl TextEmbedder for Embedders {
    fn embed(&self, text: &str) -> Result<Embedding, TextError> {
        match &*self.answering() {
            Answering::Configured => self.configured.embed(text),
            Answering::Before(before) => before.embed(text),
            Answering::Nobody => Err(TextError::Changing),
        }
    }

    fn embed_at_once(&self, text: &str) -> Result<Option<Embedding>, TextError> {
        match &*self.answering() {
            Answering::Before(before) => before.embed_at_once(text),
            Answering::Configured | Answering::Nobody => self.configured.embed_at_once(text),
        }
    }

    fn embed_passages(&self, texts: &[String]) -> Result<Vec<Embedding>, TextError> {
        self.configured.embed_passages(texts)
    }

    fn model(&self) -> Option<ModelHash> {
        match &*self.answering() {
            Answering::Configured => self.configured.model(),
            Answering::Before(before) => before.model(),
            Answering::Nobody => None,
        }
    }

    fn dimensions(&self) -> Option<usize> {
        match &*self.answering() {
            Answering::Configured => self.configured.dimensions(),
            Answering::Before(before) => before.dimensions(),
            Answering::Nobody => None,
        }
    }

    fn fault(&self) -> Option<String> {
        self.configured.fault()
    }
}
