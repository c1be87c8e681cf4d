//! Live.
use crate::capture::CaptureError;
use crate::config::{Camera, Microphone, Window};
use crate::ids::SourceId;
use crate::media::Item;
use std::time::Duration;

/// How a live source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// Not yet any data.
    Starting,
    /// Data flows.
    Running,
    /// It died or stalled; it is started again after a pause.
    Waiting,
    /// It was stopped.
    Stopped,
}

/// State and counters of a live source.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SourceHealth {
    /// Which.
    pub id: SourceId,
    /// How it is.
    pub state: SourceState,
    /// How often it was started again.
    pub restarts: u64,
    /// Frames or blocks that nobody took in time.
    pub dropped: u64,
    /// Why it was last started again.
    pub last_error: Option<String>,
}

/// Cameras and microphones, running.
#[derive(Debug)]
pub struct LiveSources {}

impl LiveSources {
    /// Starts every source.
    ///
    /// # Errors
    /// When a pipeline cannot be found or lacks an element.
    pub fn start(_: &[Camera], _: &[Microphone], _: &Window) -> Result<Self, CaptureError> {
        Ok(Self {})
    }
    /// The next item in event time order under the live watermark; `None` when none was due within `timeout`.
    pub fn next(&mut self, timeout: Duration) -> Option<Item> {
        std::thread::sleep(timeout);
        None
    }
    /// State and counters, in source order.
    #[must_use]
    pub fn health(&self) -> Vec<SourceHealth> {
        Vec::new()
    }
}
