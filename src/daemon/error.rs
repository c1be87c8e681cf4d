//! What keeps the daemon from being put together.

use std::path::PathBuf;

use crate::config::ConfigError;
use crate::language::LanguageError;
use crate::llm::{LlmError, PromptError};
use crate::memory::MemoryError;
use crate::models::ModelError;
use crate::perceive::PerceiveError;
use crate::text::TextError;

/// What keeps the daemon from being put together.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// Model files.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Perception.
    #[error(transparent)]
    Perceive(#[from] PerceiveError),
    /// The store's key.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The sentence embedder.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The parser and the thesaurus.
    #[error(transparent)]
    Language(#[from] LanguageError),
    /// The language model.
    #[error(transparent)]
    Llm(#[from] LlmError),
    /// Its prompts.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Where clips wait for it.
    #[error("opening the spool of clips in {}: {source}; check the folder's rights", dir.display())]
    Spool {
        /// The folder.
        dir: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
