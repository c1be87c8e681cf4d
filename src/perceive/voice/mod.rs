//! Voices: when somebody speaks, and whose voice it is.
//!
//! The way of the sound, one microphone at a time and in capture order: [`VoiceActivity`] gives each
//! 32 ms a speech probability, [`Segmenter`] makes stretches of it, [`TurnSegmenter`] cuts these out of the
//! sound as [`RawTurn`]s. From there on any worker may go on, since nothing depends on another turn:
//! [`split_by_speaker`] parts two people who follow each other without a pause, and [`Embedders`] gives each turn its
//! voice ([`SpeakerEmbedder`]: [`Ge2e`], [`Eres2NetV2`] or any [`OnnxSpeaker`]). Where [`SpeakerSegmentation`] runs, two
//! who speak at once are cut out of their turns and parted before. When the clip is sealed, [`recluster`] hears it again as a whole where a poor channel makes all voices alike, and
//! [`decide_short`] gives short replies to one of its voices.
//! What is loud and no speech, and where nothing is to be heard, is told by [`SoundEventDetector`] on the way.

#[cfg(test)]
pub(crate) mod bench;
pub mod diarize;
pub mod embed;
mod perceptor;
mod segment;

use std::ops::Range;
use std::path::PathBuf;

pub use diarize::cross_microphone::{deduplicate_microphones, recent_turns};
pub use diarize::over::{Listener, Shares};
pub use diarize::overlap::{Embedders, assign_overlap, split_overlapped_speakers};
pub use diarize::recluster::{ReclusterSettings, is_far_or_narrowband, recluster};
pub use diarize::segmentation::{Pyannote, SpeakerSegmentation, StreamSettings, Streams, streams};
pub use diarize::short::{ShortSettings, decide_short, has_short};
pub use diarize::split::{SplitSettings, split_by_speaker};
pub use embed::cache::{CachedEmbedder, EmbeddingCache};
pub use embed::eres2netv2::{Eres2NetV2, Variant};
pub use embed::ge2e::Ge2e;
pub use embed::onnx::OnnxSpeaker;
pub use embed::parity::{Parity, parity};
pub use perceptor::{Separation, VoiceJob, Voices};
pub use segment::loudness::Normalised;
pub use segment::segmenter::{Segmenter, SpeechSegment};
pub use segment::sound_events::SoundEventDetector;
pub use segment::turns::{OpenTurn, RawTurn, TurnSegmenter, TurnSegmenterState};
pub use segment::vad::{SileroVad, VadState, VoiceActivity};

use crate::ids::ModelHash;
use crate::percept::Embedding;
use crate::runtime::checkpoint::CheckpointError;
use crate::runtime::onnx::RuntimeError;

/// What goes wrong while voices are looked for.
#[derive(Debug, thiserror::Error)]
pub enum VoiceError {
    /// An ONNX model could not be opened or run.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A PyTorch checkpoint could not be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// libtorch refused.
    #[error("running {model} in libtorch: {reason}; if it repeats, set the model's device to cpu")]
    Torch {
        /// Name of the network.
        model: &'static str,
        /// What libtorch said, first line.
        reason: String,
    },
    /// The ONNX file is no speaker network that is understood.
    #[error(
        "using {model} as speaker embedder: {reason}; export it with one input [N,T,80] (Kaldi fbank of 16 kHz sound, N \
         and T free) and one output [N,D]"
    )]
    Network {
        /// File name of the model.
        model: String,
        /// Expected and found.
        reason: String,
    },
    /// Too little sound for the network.
    #[error("embedding {secs:.3} s of sound with {model}: it needs at least {needed:.3} s")]
    TooShort {
        /// Name of the network.
        model: &'static str,
        /// What there was.
        secs: f64,
        /// What it needs.
        needed: f64,
    },
    /// The golden vectors of the parity check are not usable.
    #[error("reading the golden vectors {path}: {reason}; name the folder that holds golden.json", path = .path.display())]
    Fixtures {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A saved state does not belong to this code or model.
    #[error(
        "resuming a microphone's state: {reason}; start a new session for this recording (--again)"
    )]
    State {
        /// Expected and found.
        reason: String,
    },
}

/// Turns sound into a vector that is near the vectors of the same voice.
pub trait SpeakerEmbedder: Send {
    /// Embeds 16 kHz mono sound in [-1, 1]. The same samples always give the same bits.
    ///
    /// # Errors
    /// [`VoiceError::TooShort`] below [`SpeakerEmbedder::min_secs`]; [`VoiceError::Torch`], [`VoiceError::Runtime`].
    fn embed(&mut self, sound: &[f32]) -> Result<Embedding, VoiceError>;

    /// Embeds pieces of sound of one length.
    ///
    /// # Errors
    /// As [`SpeakerEmbedder::embed`].
    fn embed_equal(&mut self, sounds: &[&[f32]]) -> Result<Vec<Embedding>, VoiceError> {
        sounds.iter().map(|sound| self.embed(sound)).collect()
    }

    /// Embeds pieces of any length. With what a piece goes through the network may tell in its vector's last bits.
    ///
    /// # Errors
    /// As [`SpeakerEmbedder::embed`].
    fn embed_all(&mut self, sounds: &[&[f32]]) -> Result<Vec<Embedding>, VoiceError> {
        sounds.iter().map(|sound| self.embed(sound)).collect()
    }

    /// Embeds windows of `window` samples every `step` samples; the last one ends inside `sound`.
    ///
    /// # Errors
    /// As [`SpeakerEmbedder::embed`].
    fn embed_windows(
        &mut self,
        sound: &[f32],
        window: usize,
        step: usize,
    ) -> Result<Vec<Embedding>, VoiceError> {
        let windows: Vec<&[f32]> = sound.windows(window.max(1)).step_by(step.max(1)).collect();
        self.embed_equal(&windows)
    }

    /// Embeds parts of one sound, `[start, end)` in samples. Where the network [hears them at
    /// once](SpeakerEmbedder::hears_parts_at_once), each has its context from the whole sound.
    ///
    /// # Errors
    /// As [`SpeakerEmbedder::embed`].
    fn embed_parts(
        &mut self,
        sound: &[f32],
        parts: &[Range<usize>],
    ) -> Result<Vec<Embedding>, VoiceError> {
        let cut = |part: &Range<usize>| sound.get(part.clone()).unwrap_or_default();
        let sounds: Vec<&[f32]> = parts.iter().map(cut).collect();
        self.embed_all(&sounds)
    }

    /// Whether windows and parts of a sound cost hardly more than the sound itself, so that it can look for changes of voice.
    fn hears_parts_at_once(&self) -> bool {
        false
    }

    /// Shortest sound that it can embed at all, seconds. How much it takes for a trustworthy vector is
    /// another matter: `voice.min_embed_secs`.
    fn min_secs(&self) -> f64;

    /// Which weights: only embeddings of equal hashes are compared.
    fn hash(&self) -> ModelHash;

    /// Name of the network.
    fn name(&self) -> &str;
}
