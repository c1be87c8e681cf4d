//! Which recogniser runs, out of what the configuration names and what is there.

use std::path::PathBuf;

use super::{Moonshine, MoonshineFiles, OpenAiTranscriber, TranscribeError, Transcriber};
use crate::config;
use crate::runtime::onnx::Device;

/// Where words come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Moonshine, in ONNX Runtime.
    Moonshine(MoonshineFiles),
    /// A file of Whisper in whisper.cpp's format.
    Whisper(PathBuf),
    /// The server of `[transcriber]`.
    Server,
}

/// Opens a recogniser.
///
/// # Errors
/// When it cannot be opened, or this program was built without it.
pub fn open(
    source: &Source,
    settings: &config::Transcriber,
    device: Device,
) -> Result<Box<dyn Transcriber>, TranscribeError> {
    Ok(match source {
        Source::Moonshine(files) => Box::new(Moonshine::open(files, device)?),
        Source::Whisper(file) => whisper(file, settings)?,
        Source::Server => Box::new(OpenAiTranscriber::open(settings)?),
    })
}

#[cfg(feature = "whisper")]
fn whisper(
    file: &std::path::Path,
    settings: &config::Transcriber,
) -> Result<Box<dyn Transcriber>, TranscribeError> {
    Ok(Box::new(super::Whisper::open(file, settings)?))
}

#[cfg(not(feature = "whisper"))]
fn whisper(
    _: &std::path::Path,
    _: &config::Transcriber,
) -> Result<Box<dyn Transcriber>, TranscribeError> {
    Err(TranscribeError::Setting {
        engine: "whisper",
        reason: "this engramd was built without it".to_owned(),
        cure: "build with `cargo build --release --features whisper`, or choose another transcriber.kind",
    })
}
