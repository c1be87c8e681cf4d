//! What keeps a benchmark from its figures.

use std::path::{Path, PathBuf};

use super::labels::LabelError;
use crate::capture::CaptureError;
use crate::daemon::assemble::AssembleError;
use crate::daemon::ingest::IngestError;
use crate::llm::{LlmError, PromptError};
use crate::memory::MemoryError;
use crate::models::ModelError;
use crate::perceive::{PerceiveError, face, voice};
use crate::text::TextError;

/// Any fault of a benchmark.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file or folder.
    #[error("reading {path}: {source}", path = .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file of another form than the benchmark reads.
    #[error("reading {path}: {reason}", path = .path.display())]
    Form {
        /// Which.
        path: PathBuf,
        /// What is wrong, and what is expected.
        reason: String,
    },
    /// There is too little to measure.
    #[error("measuring {path}: {reason}", path = .path.display())]
    TooLittle {
        /// Which folder or file.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// A model that the benchmark measures is missing.
    #[error(
        "measuring {job}: the set has no model for it ({reasons}); `engramd models fetch` brings it"
    )]
    NoModel {
        /// Which ability.
        job: &'static str,
        /// What the catalogue says.
        reasons: String,
    },
    /// The second process that measures a cold start.
    #[error("measuring a cold start: {0}")]
    Child(String),
    /// The judge.
    #[error("judging answers: {0}")]
    Judge(#[from] LlmError),
    /// A prompt.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Labels.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// Putting the parts together.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// Replaying.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// Opening a recording.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Perception.
    #[error(transparent)]
    Perceive(#[from] PerceiveError),
    /// The store.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The sentence embedder.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Model files.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl From<voice::VoiceError> for BenchError {
    fn from(error: voice::VoiceError) -> Self {
        Self::Perceive(error.into())
    }
}

impl From<face::FaceError> for BenchError {
    fn from(error: face::FaceError) -> Self {
        Self::Perceive(error.into())
    }
}

/// Reads a text file.
pub(super) fn read_text(path: &Path) -> Result<String, BenchError> {
    std::fs::read_to_string(path).map_err(|source| BenchError::Io { path: path.to_owned(), source })
}

/// A folder's entries by name, without hidden ones.
pub(super) fn entries(dir: &Path) -> Result<Vec<PathBuf>, BenchError> {
    let fail = |source| BenchError::Io { path: dir.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
