//! Speaker segmentation: who of a few speakers speaks when, two at once included.
//!
//! A [`SpeakerSegmentation`] ([`Pyannote`]) hears a few seconds and tells for each moment how likely each of three
//! speakers speaks; who they are it does not know, and their order means nothing beyond the call. [`streams`] looks at a
//! turn through sliding chunks and ties their speakers together ([`Streams`]); [`super::overlap`] makes turns of it.
//!
//! Bredin and Laurent 2021, "End-to-end speaker segmentation for overlap-aware resegmentation", arXiv 2104.04045.

mod pyannote;
mod streams;

pub use pyannote::Pyannote;
pub use streams::{StreamSettings, Streams, streams};

use crate::perceive::voice::VoiceError;

/// How many speakers are told apart in one call.
pub const SPEAKERS: usize = 3;

/// How likely each speaker speaks, 0–1, for each 10 ms (`STEP` samples) of the sound.
pub type Activity = Vec<[f32; SPEAKERS]>;

/// Tells who of a few unknown speakers speaks when.
pub trait SpeakerSegmentation: Send {
    /// Hears 16 kHz mono sound in [-1, 1], a few seconds at most; gives one row for each whole 10 ms of it.
    ///
    /// # Errors
    /// When the network cannot run or gives what no such network gives.
    fn activity(&mut self, sound: &[f32]) -> Result<Activity, VoiceError>;
}
