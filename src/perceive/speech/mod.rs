//! Words: what a turn says.
//!
//! After `voice` has cut a turn out, a [`Transcriber`] turns its sound into a transcript with word times
//! where the recogniser gives them. Moonshine (ONNX Runtime), whisper.cpp (cargo feature `whisper`) and any
//! OpenAI-compatible server are behind the same trait. A turn's words depend on that turn alone.

use crate::percept::Transcript;
use crate::runtime::onnx::RuntimeError;
use crate::time::Timestamp;

mod moonshine;
mod open;
mod openai;
mod perceptor;
mod pieces;
mod wav;
#[cfg(feature = "whisper")]
mod whisper;

pub use moonshine::{Files as MoonshineFiles, Moonshine};
pub use open::{Source, open};
pub use openai::OpenAiTranscriber;
pub use perceptor::{Recogniser, WordsJob};
pub use wav::{from_wav, to_wav};
#[cfg(feature = "whisper")]
pub use whisper::Whisper;

/// What goes wrong between a turn's sound and its words.
#[derive(Debug, thiserror::Error)]
pub enum TranscribeError {
    /// A network cannot be opened or run.
    #[error(transparent)]
    Model(#[from] RuntimeError),
    /// A setting or file does not do.
    #[error("opening {engine}: {reason}; {cure}")]
    Setting {
        /// Which recogniser.
        engine: &'static str,
        /// What is wrong.
        reason: String,
        /// What to do.
        cure: &'static str,
    },
    /// The recogniser gave up on this turn.
    #[error("transcribing with {engine}: {reason}")]
    Engine {
        /// Which recogniser.
        engine: &'static str,
        /// What it said.
        reason: String,
    },
    /// The server could not be reached or did not answer in time.
    #[error(
        "asking {url} for words: {reason}; check transcriber.base_url and that the server runs"
    )]
    Unreachable {
        /// Where.
        url: String,
        /// What happened.
        reason: String,
    },
    /// The server refused.
    #[error("asking {url} for words: status {status}: {message}")]
    Refused {
        /// Where.
        url: String,
        /// HTTP status.
        status: u16,
        /// Beginning of what it said.
        message: String,
    },
    /// The server answered something else than a transcription.
    #[error("reading the transcription from {url}: {reason}; is it an OpenAI-compatible server?")]
    Reply {
        /// Where.
        url: String,
        /// What is wrong.
        reason: String,
    },
}

impl TranscribeError {
    /// Whether the same turn may go through later: server down, busy or too slow.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
            _ => false,
        }
    }
}

/// Turns a turn's sound into words.
pub trait Transcriber: Send {
    /// Words of 16 kHz mono sound in [-1, 1] that began at `start`. Empty text: nothing was understood.
    ///
    /// # Errors
    /// See [`TranscribeError`]; [`TranscribeError::retryable`] tells whether to keep the turn and ask again.
    fn transcribe(
        &mut self,
        sound: &[f32],
        start: Timestamp,
    ) -> Result<Transcript, TranscribeError>;

    /// Name of the recogniser, as in [`Transcript::engine`].
    fn name(&self) -> &str;
}
