//! Sentence embeddings: memories and questions become vectors that can be compared.

mod minilm;
mod wording;

use std::path::PathBuf;

use crate::ids::ModelHash;
use crate::percept::Embedding;
use crate::runtime::onnx::RuntimeError;

pub use minilm::MiniLm;
pub use wording::for_embedding;

/// Turns a text into a unit-length vector. Equal text gives the equal vector, bit for bit, whatever else
/// is being embedded at the same time.
pub trait TextEmbedder: Send + Sync {
    /// The vector of `text`, `[dimensions]`. Text beyond the model's window is left out; empty text has a
    /// vector too.
    ///
    /// # Errors
    /// When the tokenizer or the model fails.
    fn embed(&self, text: &str) -> Result<Embedding, TextError>;

    /// Identity of the model: only vectors of equal hashes are compared.
    fn model(&self) -> ModelHash;

    /// Length of its vectors.
    fn dimensions(&self) -> usize;
}

/// What goes wrong between a text and its vector.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// A model file could not be read.
    #[error("opening the sentence embedder's {path}: {reason}; run `engramd models fetch`", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The tokenizer refused a text.
    #[error(
        "splitting a text of {bytes} bytes into word pieces: {reason}; check the tokenizer with `engramd models verify`"
    )]
    Tokenize {
        /// Length of the text.
        bytes: usize,
        /// Why.
        reason: String,
    },
    /// The network failed.
    #[error("embedding a text: {0}")]
    Runtime(#[from] RuntimeError),
    /// The network gave something that is no sentence vector.
    #[error(
        "embedding a text: the model {model} gave the shape {shape:?}, expected [1, D]; check it with `engramd models verify`"
    )]
    Shape {
        /// File name.
        model: String,
        /// What came.
        shape: Vec<usize>,
    },
}
