//! Capture: sources become frames, blocks and poses with a capture time.
//!
//! A [`Recording`] (video or sound file, bag) is opened, looked into and played: lossless, in event time
//! order, the same items every time. [`LiveSources`] run cameras and microphones: what nobody takes in
//! time is dropped, oldest first, and counted; a source that dies comes back. Pixels stay as they came;
//! [`imaging::picture::to_rgb`] converts the few frames that are analysed.

mod audio;
pub mod bag;
mod damage;
mod error;
mod film;
mod gst;
pub mod imaging;
mod live;
mod options;
mod part;
mod playback;
mod recording;

pub use audio::blocks::{BLOCK_SAMPLES, Blocks, Stamps};
pub use damage::{Cause, Damage, Tally};
pub use error::CaptureError;
pub use film::{Film, film};
pub use live::{
    CameraAddress, FramesWanted, LiveSources, SourceHealth, SourceState, camera_address,
    needs_sound_card, playback, without_pipeline,
};
pub use options::{Pattern, ReplayOptions};
pub use playback::Playback;
pub use recording::Recording;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod colour_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod generated_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod recorded_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod reported_tests;
