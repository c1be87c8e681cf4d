//! GStreamer: files and live sources as pipelines with appsinks named `video` and `audio`.
//!
//! The pipelines themselves are text in `pipelines/*.launch`; this module only starts them, takes samples
//! out of the appsinks and says what is missing.

mod buffers;
pub(super) mod colour;
mod created;
mod discover;
mod file;
mod header;
pub(super) mod launch;
mod packages;
pub(super) mod sample;
pub(super) mod stream;
mod tracks;

pub use file::MediaFile;
pub(super) use file::probe;

use super::error::CaptureError;

/// Starts GStreamer once; every other call is free.
pub(super) fn init() -> Result<(), CaptureError> {
    gstreamer::init().map_err(|error| CaptureError::Pipeline {
        name: "GStreamer".to_owned(),
        reason: format!("{error}; is libgstreamer1.0-0 whole?"),
    })
}
