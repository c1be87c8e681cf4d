//! Which recogniser runs: what the configuration names, or the best that is there.

use super::{OpenAiTranscriber, PocketSphinx, TranscribeError, Transcriber};
use crate::config::{self, TranscriberKind};

/// What was opened.
pub struct Opened {
    /// The recogniser; `None` where words are switched off or none is there.
    pub transcriber: Option<Box<dyn Transcriber>>,
    /// Why a better or any recogniser does not run, for `status.degraded` and `doctor`.
    pub degraded: Option<String>,
}

impl Opened {
    fn with(transcriber: impl Transcriber + 'static) -> Self {
        Self { transcriber: Some(Box::new(transcriber)), degraded: None }
    }
}

/// Opens the recogniser of `[transcriber]`.
///
/// `auto` takes Whisper where it is built in and `transcriber.model` is a file, else PocketSphinx where
/// it is installed, else none, with the reason.
///
/// # Errors
/// When a recogniser that is named outright cannot be opened.
pub fn open(settings: &config::Transcriber) -> Result<Opened, TranscribeError> {
    match settings.kind {
        TranscriberKind::None => Ok(Opened { transcriber: None, degraded: None }),
        TranscriberKind::Pocketsphinx => Ok(Opened::with(PocketSphinx::open()?)),
        TranscriberKind::Openai => Ok(Opened::with(OpenAiTranscriber::open(settings)?)),
        TranscriberKind::Whisper => whisper(settings),
        TranscriberKind::Auto => Ok(auto(settings)),
    }
}

fn auto(settings: &config::Transcriber) -> Opened {
    let mut reasons = Vec::new();
    if settings.model.is_some() {
        match whisper(settings) {
            Ok(opened) => return opened,
            Err(error) => reasons.push(error.to_string()),
        }
    }
    match PocketSphinx::open() {
        Ok(sphinx) => {
            let degraded = (!reasons.is_empty()).then(|| reasons.join("; "));
            Opened { transcriber: Some(Box::new(sphinx)), degraded }
        }
        Err(error) => {
            reasons.push(error.to_string());
            Opened { transcriber: None, degraded: Some(reasons.join("; ")) }
        }
    }
}

#[cfg(feature = "whisper")]
fn whisper(settings: &config::Transcriber) -> Result<Opened, TranscribeError> {
    super::Whisper::open(settings).map(Opened::with)
}

#[cfg(not(feature = "whisper"))]
fn whisper(_: &config::Transcriber) -> Result<Opened, TranscribeError> {
    Err(TranscribeError::Setting {
        engine: "whisper",
        reason: "this engramd was built without it".to_owned(),
        cure: "build with `cargo build --release --features whisper`, or choose another transcriber.kind",
    })
}
