//! What ends a session before its feed does.

use super::commit::checkpoint::CheckpointError;
use crate::capture::CaptureError;
use crate::memory::MemoryError;
use crate::perceive::PerceiveError;

/// What ends a session before its feed does.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The recording or a source.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A model.
    #[error(transparent)]
    Perceive(#[from] PerceiveError),
    /// The store.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A stage ended in a panic.
    #[error("the {0} stage ended in a panic; what was committed before is safe; please report it")]
    Panic(&'static str),
}
