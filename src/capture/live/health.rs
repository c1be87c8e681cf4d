//! How a live source is.

use serde::Serialize;

use crate::ids::SourceId;

/// How a live source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// Started, no data yet.
    Starting,
    /// Data flows.
    Running,
    /// It died or stalled and is started again after a pause.
    Waiting,
    /// It was stopped.
    Stopped,
}

/// State and counters of a live source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceHealth {
    /// Which.
    pub id: SourceId,
    /// How it is.
    pub state: SourceState,
    /// How often it was started again.
    pub restarts: u64,
    /// Frames that nobody took in time, or that came too late.
    pub dropped_frames: u64,
    /// The same of blocks of sound.
    pub dropped_blocks: u64,
    /// Why it was last started again.
    pub last_error: Option<String>,
    /// Frames and runs of sound whose stamps could not be: the time of their arrival was taken.
    pub refused_stamps: u64,
    /// How often its stamps were put together with their arrival again, or the wall clock was set, by more than 0.1 s.
    pub anchored: u64,
    /// By how much its stamps and their arrival had parted when that was last looked at, seconds; positive: they fell behind.
    pub stamps_off_secs: f64,
}
