//! Sentences and their embeddings: memories and questions become vectors that can be compared.
//!
//! [`MiniLm`] runs here; [`ServerEmbedder`] asks a server. [`Embedders`] is the one that is configured together
//! with the one whose vectors answer until every memory has the configured one's.

mod article;
mod capitals;
mod composed;
mod embedders;
mod error;
mod minilm;
mod reply;
mod sentences;
mod server;
mod wording;

use crate::ids::ModelHash;
use crate::percept::Embedding;

pub use article::with_article;
pub use capitals::{capitalised, uncapitalised};
pub use composed::{composed, composed_payload};
pub use embedders::{Answering, Embedders};
pub use error::TextError;
pub use minilm::MiniLm;
pub(crate) use sentences::sentences;
pub use server::ServerEmbedder;
pub use wording::for_embedding;

/// Turns a text into a unit-length vector. A local one gives equal text the equal vector, bit for bit,
/// whatever else is being embedded at the same time.
pub trait TextEmbedder: Send + Sync {
    /// The vector of a question, `[dimensions]`. Text beyond the model's window is left out; empty text has a
    /// vector too.
    ///
    /// # Errors
    /// When the tokenizer or the model fails, or a server gives no vector in time.
    fn embed(&self, text: &str) -> Result<Embedding, TextError>;

    /// The vector of a sentence that is being written; `None` where it would have to be waited for: it is made
    /// later, then.
    ///
    /// # Errors
    /// As [`Self::embed`].
    fn embed_at_once(&self, text: &str) -> Result<Option<Embedding>, TextError> {
        self.embed(text).map(Some)
    }

    /// The vectors of sentences that are to be found, in their order; may take its time.
    ///
    /// # Errors
    /// As [`Self::embed`]; then there is no vector of any of them.
    fn embed_passages(&self, texts: &[String]) -> Result<Vec<Embedding>, TextError> {
        texts.iter().map(|text| self.embed(text)).collect()
    }

    /// Identity of the model: only vectors of equal hashes are compared. `None`: a server that has not answered
    /// yet, and whose vectors' length is not known.
    fn model(&self) -> Option<ModelHash>;

    /// Length of its vectors, once known.
    fn dimensions(&self) -> Option<usize>;

    /// What it failed with last; `None` since it went well.
    fn fault(&self) -> Option<String> {
        None
    }
}
