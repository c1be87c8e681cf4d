//! Whose mouth makes this sound: active-speaker scoring of face tracks against speech turns.
//!
//! The way of a mouth: [`MouthCutter`] cuts grey crops of every followed face at the camera's own rate, between two
//! analysed frames by interpolating the track's box; [`excerpt`] picks what a turn and a track have in common and puts
//! it on the network's grid of 25 pictures per second, or abstains; an [`ActiveSpeaker`] ([`LrAsd`]) scores it. What it
//! says is evidence for `identify`, never a verdict: a mouth that moves while another one is heard looks alike to it.

mod crop;
mod cutter;
mod excerpt;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod golden;
mod layout;
mod lrasd;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod measured;
pub mod mfcc;
mod network;
mod perceptor;

use std::sync::Arc;

pub use crop::{Gray, crop, mouth_region};
pub use cutter::{CutTrack, MouthCutter};
pub use excerpt::{CROPS_PER_SEC, Excerpt, MIN_FPS, excerpt};
pub use lrasd::LrAsd;
pub use network::SIDE;
pub use perceptor::{MouthJob, MouthScorer, MouthScores};

use crate::runtime::checkpoint::CheckpointError;
use crate::time::Timestamp;

/// A grey picture of a face's middle, `[112, 112]`, row-major, 0–255.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crop {
    /// Capture time of the frame it was cut from.
    pub at: Timestamp,
    /// [`SIDE`] x [`SIDE`] pixels.
    pub pixels: Arc<[u8]>,
}

/// Tells for every picture of a face whether it makes the sound.
pub trait ActiveSpeaker: Send {
    /// Log odds (0 = even, positive = speaks), one per crop. The crops follow each other at [`CROPS_PER_SEC`]; `sound` is
    /// 16 kHz mono in [-1, 1] from the moment of the first one on, and is taken as silent where it ends too early. The
    /// same input always gives the same bits.
    ///
    /// # Errors
    /// [`ActiveSpeakerError::Torch`].
    fn score(&mut self, sound: &[f32], crops: &[Crop]) -> Result<Vec<f32>, ActiveSpeakerError>;

    /// Name of the network.
    fn name(&self) -> &str;
}

/// What goes wrong while mouths are compared with sound.
#[derive(Debug, thiserror::Error)]
pub enum ActiveSpeakerError {
    /// The checkpoint could not be read, or is another network's.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// libtorch refused.
    #[error(
        "running {model} in libtorch: {reason}; if it repeats, switch it off with `active_speaker.on = false`"
    )]
    Torch {
        /// Name of the network.
        model: &'static str,
        /// What libtorch said, first line.
        reason: String,
    },
}
