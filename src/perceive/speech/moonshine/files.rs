//! The files of the model.

use std::path::PathBuf;

use crate::perceive::speech::TranscribeError;

/// Its name in errors.
pub(super) const ENGINE: &str = "moonshine";

/// The model's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Sound to what the decoder attends to (ONNX).
    pub encoder: PathBuf,
    /// One token after the other (ONNX).
    pub decoder: PathBuf,
    /// What each token writes (`tokenizer.bin`).
    pub tokenizer: PathBuf,
}

/// A file that does not do.
pub(super) fn setting(reason: String) -> TranscribeError {
    TranscribeError::Setting {
        engine: ENGINE,
        reason,
        cure: "check the file with `engramd models verify`, bring it with `engramd models fetch`",
    }
}
