//! ERes2NetV2: the speaker network of the published system, in libtorch.
//!
//! Chen et al., "ERes2NetV2: Boosting Short-Duration Speaker Verification Performance with
//! Computational Efficiency" (arXiv 2406.02167), as 3D-Speaker builds it. Features `[T, 80]` come from
//! [`super::fbank`]; the vector has 192 values. [`layout`] names the checkpoint's tensors, [`network`]
//! computes.

pub mod layout;
pub mod network;

use std::path::Path;

pub use layout::Variant;
pub use network::Network;

use super::fbank::{Fbank, Features};
use super::{SpeakerEmbedder, VoiceError};
use crate::ids::ModelHash;
use crate::media::SAMPLE_RATE;
use crate::percept::Embedding;
use crate::runtime::checkpoint::{self, CheckpointError, Weights};
use crate::runtime::onnx::Device;
use crate::runtime::torch;

/// Fewest samples: 9 frames, below which the last stage has one step in time and no variance.
const MIN_SAMPLES: usize = 400 + 8 * 160;

/// Longest sound that is embedded in one piece, samples: the middle of longer sound is taken.
const MAX_SAMPLES: usize = 20 * SAMPLE_RATE as usize;

/// The embedder: filter bank, network, unit length.
pub struct Eres2NetV2 {
    fbank: Fbank,
    network: Network,
    hash: ModelHash,
}

impl Eres2NetV2 {
    /// Loads a published checkpoint: a `state_dict` that holds exactly the network's tensors. Which
    /// variant it is shows in its shapes.
    ///
    /// # Errors
    /// [`VoiceError::Checkpoint`] naming every missing, extra or misshapen tensor.
    pub fn open(path: &Path, device: Device) -> Result<Self, VoiceError> {
        let weights = checkpoint::read(path, None)?;
        let variant = Variant::of(&weights);
        let hash = crate::runtime::checkpoint::file_hash(path)?;
        Self::with_weights(variant, &weights, hash, device).map_err(|error| match error {
            VoiceError::Checkpoint(CheckpointError { reason, .. }) => {
                CheckpointError { path: path.to_owned(), reason }.into()
            }
            other => other,
        })
    }

    /// Builds the network around given weights.
    ///
    /// # Errors
    /// As [`Eres2NetV2::open`].
    pub fn with_weights(
        variant: Variant,
        weights: &Weights,
        hash: ModelHash,
        device: Device,
    ) -> Result<Self, VoiceError> {
        layout::check(variant, weights)?;
        let network = Network::new(variant, weights, torch::device(device)).map_err(refused)?;
        Ok(Self { fbank: Fbank::new(), network, hash })
    }

    /// The network's own vector `[192]` for features `[T, 80]`, not of unit length.
    ///
    /// # Errors
    /// [`VoiceError::TooShort`] below nine frames, [`VoiceError::Torch`].
    pub fn forward(&self, features: &Features) -> Result<Vec<f32>, VoiceError> {
        if features.frames < 9 {
            return Err(too_short(features.frames * 160 + 240));
        }
        self.network.forward(features).map_err(refused)
    }
}

impl SpeakerEmbedder for Eres2NetV2 {
    fn embed(&mut self, sound: &[f32]) -> Result<Embedding, VoiceError> {
        if sound.len() < MIN_SAMPLES {
            return Err(too_short(sound.len()));
        }
        let extra = sound.len().saturating_sub(MAX_SAMPLES) / 2;
        let sound = &sound[extra..sound.len() - extra];
        let vector = self.forward(&self.fbank.compute(sound, true))?;
        Ok(Embedding::normalised(vector, self.hash))
    }

    fn min_secs(&self) -> f64 {
        MIN_SAMPLES as f64 / f64::from(SAMPLE_RATE)
    }

    fn hash(&self) -> ModelHash {
        self.hash
    }

    fn name(&self) -> &str {
        "eres2netv2"
    }
}

fn refused(error: tch::TchError) -> VoiceError {
    VoiceError::Torch { model: "ERes2NetV2", reason: torch::reason(&error) }
}

fn too_short(samples: usize) -> VoiceError {
    VoiceError::TooShort {
        model: "ERes2NetV2",
        secs: samples as f64 / f64::from(SAMPLE_RATE),
        needed: MIN_SAMPLES as f64 / f64::from(SAMPLE_RATE),
    }
}
