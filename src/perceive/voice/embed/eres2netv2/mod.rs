//! ERes2NetV2: the speaker network of the published system, in libtorch.
//!
//! Chen et al., "ERes2NetV2: Boosting Short-Duration Speaker Verification Performance with
//! Computational Efficiency" (arXiv 2406.02167), as 3D-Speaker builds it. Features `[T, 80]` come from
//! [`super::fbank`]; the vector has 192 values. [`layout`] names the checkpoint's tensors, [`network`]
//! computes.

pub mod layout;
pub mod network;

use std::path::Path;

use tch::Kind;

pub use layout::Variant;
pub use network::Network;

use super::fbank::{Fbank, Features};
use crate::config::sections::Precision;
use crate::ids::ModelHash;
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::{SpeakerEmbedder, VoiceError};
use crate::percept::Embedding;
use crate::runtime::checkpoint;
use crate::runtime::checkpoint::{CheckpointError, Weights};
use crate::runtime::crash_journal;
use crate::runtime::onnx::Device;
use crate::runtime::torch;

/// Fewest samples: 9 frames, below which the last stage has one step in time and no variance.
const MIN_SAMPLES: usize = 400 + 8 * 160;

/// Longest sound that is embedded in one piece, samples: the middle of longer sound is taken.
pub(in crate::perceive::voice) const MAX_SAMPLES: usize = 20 * SAMPLE_RATE as usize;

/// Pieces of sound that go through the network together on a GPU, a constant: a turn's vectors depend on the turn alone.
const BATCH: usize = 16;

/// The embedder: filter bank, network, unit length.
pub struct Eres2NetV2 {
    fbank: Fbank,
    network: Network,
    hash: ModelHash,
    native: crash_journal::Network,
}

impl Eres2NetV2 {
    /// Loads a published checkpoint: a `state_dict` that holds exactly the network's tensors. Which
    /// variant it is shows in its shapes.
    ///
    /// # Errors
    /// [`VoiceError::Checkpoint`] naming every missing, extra or misshapen tensor.
    pub fn open(path: &Path, device: Device, precision: Precision) -> Result<Self, VoiceError> {
        let weights = checkpoint::read(path, None)?;
        let variant = Variant::of(&weights);
        let hash = crate::runtime::checkpoint::file_hash(path)?;
        let opened =
            Self::with_weights(variant, &weights, hash, device, precision).map_err(|error| {
                match error {
                    VoiceError::Checkpoint(CheckpointError { reason, .. }) => {
                        CheckpointError { path: path.to_owned(), reason }.into()
                    }
                    other => other,
                }
            })?;
        Ok(Self { native: crash_journal::Network::of_file(path), ..opened })
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
        precision: Precision,
    ) -> Result<Self, VoiceError> {
        layout::check(variant, weights)?;
        let device = torch::device(device);
        let kind = match (precision, device) {
            (Precision::Full, _) | (Precision::Auto, tch::Device::Cpu) => Kind::Float,
            (Precision::Half, tch::Device::Cpu) => Kind::BFloat16,
            (Precision::Auto | Precision::Half, _) => Kind::Half,
        };
        let network = Network::new(variant, weights, device, kind).map_err(refused)?;
        let native = crash_journal::Network::default();
        Ok(Self { fbank: Fbank::new(), network, hash, native })
    }

    /// The network's own vectors `[192]`, one for each `[T, 80]` of equal T, not of unit length.
    ///
    /// # Errors
    /// [`VoiceError::TooShort`] below nine frames, [`VoiceError::Torch`].
    pub fn forward(&self, batch: &[&Features]) -> Result<Vec<Vec<f32>>, VoiceError> {
        match batch.iter().find(|features| features.frames < 9) {
            Some(short) => Err(too_short(short.frames * 160 + 240)),
            None => {
                let _runs = self.native.runs();
                self.network.forward(batch).map_err(refused)
            }
        }
    }
}

impl SpeakerEmbedder for Eres2NetV2 {
    fn embed(&mut self, sound: &[f32]) -> Result<Embedding, VoiceError> {
        if sound.len() < MIN_SAMPLES {
            return Err(too_short(sound.len()));
        }
        let extra = sound.len().saturating_sub(MAX_SAMPLES) / 2;
        let sound = &sound[extra..sound.len() - extra];
        let vectors = self.forward(&[&self.fbank.compute(sound, true)])?;
        Ok(Embedding::normalised(vectors.into_iter().flatten().collect(), self.hash))
    }

    fn embed_equal(&mut self, sounds: &[&[f32]]) -> Result<Vec<Embedding>, VoiceError> {
        let long = sounds.iter().any(|sound| sound.len() > MAX_SAMPLES);
        if long || self.network.device() == tch::Device::Cpu {
            return sounds.iter().map(|sound| self.embed(sound)).collect();
        }
        let mut embeddings = Vec::with_capacity(sounds.len());
        for batch in sounds.chunks(BATCH) {
            let features: Vec<Features> =
                batch.iter().map(|sound| self.fbank.compute(sound, true)).collect();
            let vectors = self.forward(&features.iter().collect::<Vec<_>>())?;
            embeddings.extend(vectors.into_iter().map(|v| Embedding::normalised(v, self.hash)));
        }
        Ok(embeddings)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use layout::generated;

    fn network(precision: Precision) -> Eres2NetV2 {
        let variant = Variant::W26S2Ep2;
        let (weights, hash) = (generated(variant), ModelHash([7; 32]));
        Eres2NetV2::with_weights(variant, &weights, hash, Device::Cpu, precision).unwrap()
    }

    fn tone(hertz: f32, secs: f32) -> Vec<f32> {
        let rate = SAMPLE_RATE as f32;
        let sample = |n: usize| (n as f32 * hertz * std::f32::consts::TAU / rate).sin() * 0.3;
        (0..(secs * rate) as usize).map(sample).collect()
    }

    #[test]
    fn the_wide_variant_gives_a_finite_vector_the_same_each_time() {
        let variant = Variant::W24S4Ep4;
        let (weights, hash) = (generated(variant), ModelHash([8; 32]));
        assert_eq!(Variant::of(&weights), variant);
        let open = || {
            Eres2NetV2::with_weights(variant, &weights, hash, Device::Cpu, Precision::Full).unwrap()
        };
        let (low, high) = (tone(110.0, 1.0), tone(210.0, 1.0));
        let mut network = open();
        let vectors = network.forward(&[&network.fbank.compute(&low, true)]).unwrap();
        let [vector] = vectors.as_slice() else { panic!("{} vectors", vectors.len()) };
        assert_eq!(vector.len(), layout::DIMENSIONS);
        assert!(vector.iter().all(|value| value.is_finite()) && vector.iter().any(|v| *v != 0.0));
        let first = network.embed(&low).unwrap();
        assert_eq!(network.embed(&low).unwrap(), first);
        assert_eq!(open().embed(&low).unwrap(), first, "and by the same weights placed anew");
        assert_ne!(network.embed(&high).unwrap().values, first.values);
    }

    #[test]
    fn sixteen_bits_say_nearly_what_thirty_two_say() {
        let sounds = [tone(110.0, 1.0), tone(210.0, 1.0)];
        let sounds: Vec<&[f32]> = sounds.iter().map(Vec::as_slice).collect();
        let full = network(Precision::Auto).embed_equal(&sounds).unwrap();
        let half = network(Precision::Half).embed_equal(&sounds).unwrap();
        for (full, half) in full.iter().zip(&half) {
            assert!(full.cosine(half).unwrap() > 0.999, "{:?}", full.cosine(half));
        }
        assert_ne!(full, half);
    }

    #[test]
    fn a_batch_says_what_its_parts_say() {
        let mut embedder = network(Precision::Full);
        let sounds = [tone(110.0, 1.0), tone(210.0, 1.0)];
        let features: Vec<Features> =
            sounds.iter().map(|sound| embedder.fbank.compute(sound, true)).collect();
        let together = embedder.forward(&features.iter().collect::<Vec<_>>()).unwrap();
        let first = embedder.hash;
        for (sound, vector) in sounds.iter().zip(together) {
            let alone = embedder.embed(sound).unwrap();
            assert!(alone.cosine(&Embedding::normalised(vector, first)).unwrap() > 0.999_99);
        }
        // The windows of a row of sound are what each says alone, bit for bit.
        let row = tone(150.0, 2.0);
        let windows = embedder.embed_windows(&row, 16_000, 8_000).unwrap();
        assert_eq!(windows.len(), 3);
        assert_eq!(windows[1], embedder.embed(&row[8_000..24_000]).unwrap());
        assert!(embedder.embed_windows(&row, 100, 50).is_err(), "too short for any window");
        assert!(embedder.forward(&[]).unwrap().is_empty());
    }
}
