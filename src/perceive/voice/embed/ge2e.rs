//! GE2E: the small speaker network (Wan et al., "Generalized End-to-End Loss for Speaker Verification",
//! arXiv 1710.10467) with the Resemblyzer's weights, in libtorch.
//!
//! A 3-layer LSTM reads 40 mel bands; a linear layer with ReLU gives 256 values. Long sound is read in
//! overlapping parts of 1.6 s whose unit vectors are averaged.

use std::path::Path;

use tch::{Device as TorchDevice, Kind, TchError, Tensor, no_grad};

use super::mel::{BANDS, MelSpectrogram, SHIFT};
use crate::config::sections::Precision;
use crate::ids::ModelHash;
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::segment::loudness::level_dbfs;
use crate::perceive::voice::{SpeakerEmbedder, VoiceError};
use crate::percept::Embedding;
use crate::runtime::checkpoint;
use crate::runtime::checkpoint::{CheckpointError, Weights};
use crate::runtime::crash_journal;
use crate::runtime::layers;
use crate::runtime::layers::Recurrent;
use crate::runtime::onnx::Device;
use crate::runtime::torch;

const HIDDEN: i64 = 256;
const LAYERS: i64 = 3;
/// Frames of one part.
const PART: usize = 160;
/// Frames from one part to the next: 1.3 parts per second.
const STEP: usize = 77;
/// The last part is kept when at least this much of it is sound.
const MIN_COVERAGE: f64 = 0.75;
/// Quieter sound is raised to this level, dB relative to full scale.
const LEVEL_DBFS: f64 = -30.0;
/// Least sound that gives a vector at all.
const MIN_SECS: f64 = 0.2;
/// Parts that go through the LSTM together, a constant: a turn's vector depends on the turn alone.
const BATCH: usize = 32;
/// A batch is filled up to a multiple of this: libtorch keeps what it prepared for every size that it met, with every thread.
const ROWS: usize = 4;

/// The embedder.
pub struct Ge2e {
    mel: MelSpectrogram,
    lstm: Vec<Tensor>,
    linear: (Tensor, Tensor),
    device: TorchDevice,
    /// What the LSTM computes in; the linear layer has 32 bits always.
    kind: Kind,
    hash: ModelHash,
    native: crash_journal::Network,
}

impl Ge2e {
    /// Loads the Resemblyzer's `pretrained.pt`. [`Precision::Auto`] is bfloat16 on a CPU that computes with it by itself.
    ///
    /// # Errors
    /// [`VoiceError::Checkpoint`] naming what is missing or misshapen.
    pub fn open(path: &Path, device: Device, precision: Precision) -> Result<Self, VoiceError> {
        let weights = checkpoint::read(path, Some("model_state"))?;
        let device = torch::device(device);
        let kind = match (precision, device) {
            (Precision::Auto, TorchDevice::Cpu) if torch::has_bfloat16() => Kind::BFloat16,
            (Precision::Full | Precision::Auto, _) => Kind::Float,
            (Precision::Half, TorchDevice::Cpu) => Kind::BFloat16,
            (Precision::Half, _) => Kind::Half,
        };
        let mut lstm = Vec::new();
        for layer in 0..LAYERS {
            let input = if layer == 0 { BANDS as i64 } else { HIDDEN };
            for (part, shape) in [
                ("weight_ih", vec![4 * HIDDEN, input]),
                ("weight_hh", vec![4 * HIDDEN, HIDDEN]),
                ("bias_ih", vec![4 * HIDDEN]),
                ("bias_hh", vec![4 * HIDDEN]),
            ] {
                lstm.push(tensor(
                    path,
                    &weights,
                    &format!("lstm.{part}_l{layer}"),
                    &shape,
                    device,
                )?);
            }
        }
        let lstm: Vec<Tensor> = lstm
            .iter()
            .map(|part| part.f_to_kind(kind))
            .collect::<Result<_, _>>()
            .map_err(refused)?;
        layers::lay_flat(&lstm, Recurrent::Lstm, LAYERS, false).map_err(refused)?;
        let linear = (
            tensor(path, &weights, "linear.weight", &[HIDDEN, HIDDEN], device)?,
            tensor(path, &weights, "linear.bias", &[HIDDEN], device)?,
        );
        let hash = checkpoint::file_hash(path)?;
        let native = crash_journal::Network::of_file(path);
        Ok(Self { mel: MelSpectrogram::new(), lstm, linear, device, kind, hash, native })
    }

    /// Unit vectors `[n][256]` of n parts, each `frames` × 40 mel energies.
    fn forward(&self, parts: &[&[f32]], frames: usize) -> Result<Vec<Vec<f32>>, TchError> {
        let _runs = self.native.runs();
        let mut vectors = Vec::with_capacity(parts.len());
        for batch in parts.chunks(BATCH) {
            let rows = batch.len().next_multiple_of(ROWS) as i64;
            let mut padded = batch.concat();
            padded.resize(rows as usize * frames * BANDS, 0.0);
            let flat: Tensor = no_grad(|| {
                let x = Tensor::f_from_slice(&padded)?
                    .f_view([rows, frames as i64, BANDS as i64])?
                    .f_to(self.device)?
                    .f_to_kind(self.kind)?;
                let zero = || Tensor::f_zeros([LAYERS, rows, HIDDEN], (self.kind, self.device));
                let state = [zero()?, zero()?];
                let (_, last, _) =
                    x.f_lstm(&state, &self.lstm, true, LAYERS, 0.0, false, false, true)?;
                last.f_select(0, LAYERS - 1)?
                    .f_to_kind(Kind::Float)?
                    .f_linear(&self.linear.0, Some(&self.linear.1))?
                    .f_relu()?
                    .f_contiguous()?
                    .f_view([-1])?
                    .f_to(TorchDevice::Cpu)
            })?;
            let flat: Vec<f32> = Vec::try_from(flat)?;
            vectors.extend(flat.chunks_exact(HIDDEN as usize).take(batch.len()).map(unit));
        }
        Ok(vectors)
    }
}

impl Ge2e {
    /// The overlapping parts of a sound, each [`PART`] × 40 mel energies.
    fn parts(&self, sound: &[f32]) -> Result<Vec<Vec<f32>>, VoiceError> {
        let secs = sound.len() as f64 / f64::from(SAMPLE_RATE);
        if secs < MIN_SECS {
            return Err(VoiceError::TooShort { model: "GE2E", secs, needed: MIN_SECS });
        }
        let gain = gain(sound);
        let starts = part_starts(sound.len());
        let frames = starts.last().copied().unwrap_or(0) + PART;
        let mut padded: Vec<f32> = sound.iter().map(|sample| sample * gain).collect();
        padded.resize(padded.len().max(frames * SHIFT), 0.0);
        let mel = self.mel.compute(&padded);
        let part = |start: &usize| mel[start * BANDS..(start + PART) * BANDS].to_vec();
        Ok(starts.iter().map(part).collect())
    }

    /// The direction of all parts together.
    fn mean(&self, vectors: &[Vec<f32>]) -> Embedding {
        let mut mean = vec![0.0; HIDDEN as usize];
        for vector in vectors {
            mean.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
        }
        Embedding::normalised(mean, self.hash)
    }
}

impl SpeakerEmbedder for Ge2e {
    fn embed(&mut self, sound: &[f32]) -> Result<Embedding, VoiceError> {
        let parts = self.parts(sound)?;
        let parts: Vec<&[f32]> = parts.iter().map(Vec::as_slice).collect();
        Ok(self.mean(&self.forward(&parts, PART).map_err(refused)?))
    }

    fn embed_all(&mut self, sounds: &[&[f32]]) -> Result<Vec<Embedding>, VoiceError> {
        let sounds: Vec<Vec<Vec<f32>>> =
            sounds.iter().map(|sound| self.parts(sound)).collect::<Result<_, _>>()?;
        let parts: Vec<&[f32]> = sounds.iter().flatten().map(Vec::as_slice).collect();
        let mut vectors = &self.forward(&parts, PART).map_err(refused)?[..];
        let own = |parts: &Vec<Vec<f32>>| {
            let (own, rest) = vectors.split_at(parts.len());
            vectors = rest;
            self.mean(own)
        };
        Ok(sounds.iter().map(own).collect())
    }

    fn embed_windows(
        &mut self,
        sound: &[f32],
        window: usize,
        step: usize,
    ) -> Result<Vec<Embedding>, VoiceError> {
        let (frames, hop) = (window / SHIFT, (step / SHIFT).max(1));
        if frames == 0 || sound.len() < frames * SHIFT {
            return Ok(Vec::new());
        }
        let mel = self.mel.compute(sound);
        let count = (sound.len() / SHIFT - frames) / hop + 1;
        // The level of each window is set by itself, as embedding it alone would.
        let parts: Vec<Vec<f32>> = (0..count)
            .map(|n| {
                let first = n * hop;
                let gain = gain(&sound[first * SHIFT..(first + frames) * SHIFT]);
                let part = &mel[first * BANDS..(first + frames) * BANDS];
                part.iter().map(|energy| energy * gain * gain).collect()
            })
            .collect();
        let parts: Vec<&[f32]> = parts.iter().map(Vec::as_slice).collect();
        let vectors = self.forward(&parts, frames).map_err(refused)?;
        Ok(vectors.into_iter().map(|v| Embedding::normalised(v, self.hash)).collect())
    }

    fn min_secs(&self) -> f64 {
        MIN_SECS
    }

    fn hash(&self) -> ModelHash {
        self.hash
    }

    fn name(&self) -> &str {
        "ge2e"
    }
}

/// First frames of the parts: a part every [`STEP`] frames, the last one dropped when it has too little sound.
fn part_starts(samples: usize) -> Vec<usize> {
    let frames = samples / SHIFT + 1;
    let steps = (frames + STEP + 1).saturating_sub(PART).max(1);
    let mut starts: Vec<usize> = (0..steps).step_by(STEP).collect();
    if let [_, .., last] = starts[..] {
        let covered = samples as f64 - (last * SHIFT) as f64;
        if covered / ((PART * SHIFT) as f64) < MIN_COVERAGE {
            starts.pop();
        }
    }
    starts
}

/// What brings quiet sound to [`LEVEL_DBFS`]; 1 for louder sound and for silence.
fn gain(sound: &[f32]) -> f32 {
    let level = level_dbfs(sound);
    if level.is_finite() && level < LEVEL_DBFS {
        10_f64.powf((LEVEL_DBFS - level) / 20.0) as f32
    } else {
        1.0
    }
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let norm = vector.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt();
    let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
    vector.iter().map(|v| (f64::from(*v) * scale) as f32).collect()
}

fn tensor(
    path: &Path,
    weights: &Weights,
    key: &str,
    shape: &[i64],
    device: TorchDevice,
) -> Result<Tensor, VoiceError> {
    let fail = |reason: String| CheckpointError { path: path.to_owned(), reason };
    let weight = weights.get(key).ok_or_else(|| fail(format!("{key} {shape:?} is missing")))?;
    if !weight.shape.iter().map(|n| *n as i64).eq(shape.iter().copied()) {
        return Err(fail(format!("{key} is {:?} instead of {shape:?}", weight.shape)).into());
    }
    Tensor::f_from_slice(&weight.values)
        .and_then(|tensor| tensor.f_view(shape))
        .and_then(|tensor| tensor.f_to(device))
        .map_err(refused)
}

fn refused(error: TchError) -> VoiceError {
    VoiceError::Torch { model: "GE2E", reason: torch::reason(&error) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::perceive::voice::bench::{ge2e, ge2e_at, shared, sound};

    #[test]
    fn parts_are_the_resemblyzers() {
        // As `VoiceEncoder.compute_partial_slices` gives them at rate 1.3.
        assert_eq!(part_starts(16_000), [0]);
        assert_eq!(part_starts(25_600), [0]);
        assert_eq!(part_starts(31_519), [0]);
        assert_eq!(part_starts(31_600), [0, 77]);
        assert_eq!(part_starts(48_000), [0, 77, 154]);
    }

    #[test]
    fn the_same_sound_gives_the_same_bits_whatever_came_before() {
        let Some(file) = shared("recordings/audio/beckett.wav") else { return };
        let (Some(mut one), Some(mut other)) = (ge2e(), ge2e()) else { return };
        let sound = sound(&file);
        let vector = one.embed(&sound).unwrap();
        let norm: f32 = vector.values.iter().map(|v| v * v).sum();
        assert!(vector.values.len() == 256 && (norm - 1.0).abs() < 1e-5);
        for length in [40_000, 4_000, 100_000] {
            other.embed(&sound[..length]).unwrap();
        }
        assert_eq!(other.embed(&sound).unwrap(), vector);
        // A window of a row is what embedding it alone gives, but for the window's own edges.
        let windows = one.embed_windows(&sound[..80_000], 25_600, 8_000).unwrap();
        assert_eq!(windows.len(), 7);
        let alone = one.embed(&sound[16_000..16_000 + 25_600]).unwrap();
        assert!(alone.cosine(&windows[2]).unwrap() > 0.99);
    }

    #[test]
    fn half_the_bits_give_the_same_voice() {
        let Some(file) = shared("recordings/audio/beckett.wav") else { return };
        let at = |precision| ge2e_at(precision);
        let (Some(mut full), Some(mut half)) = (at(Precision::Full), at(Precision::Half)) else {
            return;
        };
        let sound = sound(&file);
        let mut close = |part: &[f32]| {
            let cosine = full.embed(part).unwrap().cosine(&half.embed(part).unwrap()).unwrap();
            // Processors without instructions for it round otherwise.
            assert!((0.998..1.0).contains(&cosine), "{} samples: {cosine}", part.len());
        };
        close(&sound);
        sound.chunks_exact(24_000).for_each(&mut close);
    }

    #[test]
    fn pieces_together_are_what_each_is_alone() {
        let Some(file) = shared("recordings/audio/beckett.wav") else { return };
        let Some(mut ge2e) = ge2e() else { return };
        let sound = sound(&file);
        let pieces = [&sound[..60_000], &sound[60_000..72_000], &sound[72_000..100_000]];
        let together = ge2e.embed_all(&pieces).unwrap();
        assert_eq!(together.len(), 3);
        for (piece, vector) in pieces.iter().zip(&together) {
            let alone = ge2e.embed(piece).unwrap();
            assert!(alone.cosine(vector).unwrap() > 0.9999);
        }
        assert!(ge2e.embed_all(&[]).unwrap().is_empty());
        assert!(ge2e.embed_all(&[&sound[..60_000], &[0.1; 100]]).is_err(), "one is too short");
    }

    #[test]
    fn too_short_and_silent_sound_does_no_harm() {
        let Some(mut ge2e) = ge2e() else { return };
        assert!(matches!(ge2e.embed(&[0.1; 100]), Err(VoiceError::TooShort { .. })));
        let silent = ge2e.embed(&[0.0; 16_000]).unwrap();
        assert!(silent.values.iter().all(|v| v.is_finite()));
        assert!(ge2e.embed_windows(&[0.0; 100], 25_600, 4_000).unwrap().is_empty());
    }
}
