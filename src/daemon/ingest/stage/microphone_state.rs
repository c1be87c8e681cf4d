//! What a microphone's stage carries from block to block.

use serde::{Deserialize, Serialize};

use crate::perceive::sound::SoundListenerState;
use crate::perceive::voice::{RawTurn, TurnSegmenterState};
use crate::time::Timestamp;

/// Touched by the stage's thread alone; copied into the checkpoint at each boundary.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::daemon::ingest) struct MicrophoneState {
    pub(in crate::daemon::ingest) finder: TurnSegmenterState,
    /// Of what listens for sounds that mean something, where anything does.
    pub(in crate::daemon::ingest) listener: Option<SoundListenerState>,
    /// Turns that begin after the boundary and are already over.
    pub(in crate::daemon::ingest) ahead: Vec<RawTurn>,
    /// Sound before this is done with.
    pub(in crate::daemon::ingest) consumed: Timestamp,
}
