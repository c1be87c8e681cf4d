//! How near our features and vectors are to the published implementation's, on its golden vectors.

use std::f64::consts::PI;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::eres2netv2::layout::{generated, uniform};
use super::eres2netv2::{Eres2NetV2, Variant};
use super::fbank::{BANDS, Fbank, Features};
use crate::config::sections::Precision;
use crate::ids::ModelHash;
use crate::perceive::voice::VoiceError;
use crate::runtime::onnx::Device;

/// Distances from the golden vectors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parity {
    /// Largest difference of a log mel energy.
    pub fbank_max_abs: f64,
    /// Smallest cosine of a vector with the golden one.
    pub embedding_cosine: f64,
    /// Largest difference of a vector's value (the golden vector's length is about 55).
    pub embedding_max_abs: f64,
}

#[derive(Deserialize)]
struct Golden {
    fbank: GoldenFbank,
    model: GoldenModel,
    wave_to_embedding: GoldenWave,
}

#[derive(Deserialize)]
struct GoldenFbank {
    frames: usize,
    raw_frame0: Vec<f64>,
    raw_frame50: Vec<f64>,
    meannorm_frame0: Vec<f64>,
    meannorm_frame97: Vec<f64>,
}

#[derive(Deserialize)]
struct GoldenModel {
    embedding_f64: Vec<f64>,
}

#[derive(Deserialize)]
struct GoldenWave {
    embedding_f32: Vec<f64>,
}

/// Computes the golden cases: filter bank of a wave, vector of given features, vector of the wave.
///
/// `fixtures` holds `golden.json`. Without a checkpoint the golden weights are generated here; with one
/// (made by `make_ckpt.py` from the same recipe) they come through the checkpoint reader.
///
/// # Errors
/// [`VoiceError::Fixtures`], and what reading the checkpoint or running the network gives.
pub fn parity(fixtures: &Path, checkpoint: Option<&Path>) -> Result<Parity, VoiceError> {
    let golden = read(&fixtures.join("golden.json"))?;
    let network = match checkpoint {
        Some(path) => Eres2NetV2::open(path, Device::Cpu, Precision::Full)?,
        None => {
            let variant = Variant::W26S2Ep2;
            let hash = ModelHash(Sha256::digest(b"generated ERes2NetV2 weights").into());
            Eres2NetV2::with_weights(
                variant,
                &generated(variant),
                hash,
                Device::Cpu,
                Precision::Full,
            )?
        }
    };
    let wave = golden_wave();
    let (raw, centred) = (Fbank::new().compute(&wave, false), Fbank::new().compute(&wave, true));
    let fbank = &golden.fbank;
    let cases = [
        (&raw, 0, &fbank.raw_frame0),
        (&raw, 50, &fbank.raw_frame50),
        (&centred, 0, &fbank.meannorm_frame0),
        (&centred, 97, &fbank.meannorm_frame97),
    ];
    let mut fbank_max_abs = if raw.frames == fbank.frames { 0.0 } else { f64::INFINITY };
    for (ours, frame, theirs) in cases {
        let ours = ours.values.get(frame * BANDS..(frame + 1) * BANDS).unwrap_or_default();
        fbank_max_abs = max_abs(ours, theirs).max(fbank_max_abs);
    }
    let frames = 200;
    let input = (0..(frames * BANDS) as u64).map(|j| (2.0 * uniform(1000, j)) as f32).collect();
    let vector = |features: &Features| {
        let vectors = network.forward(&[features])?;
        Ok::<Vec<f32>, VoiceError>(vectors.into_iter().flatten().collect())
    };
    let from_features = vector(&Features { frames, values: input })?;
    let from_wave = vector(&centred)?;
    let pairs = [
        (&from_features, &golden.model.embedding_f64),
        (&from_wave, &golden.wave_to_embedding.embedding_f32),
    ];
    Ok(Parity {
        fbank_max_abs,
        embedding_cosine: pairs.iter().map(|(a, b)| cosine(a, b)).fold(1.0, f64::min),
        embedding_max_abs: pairs.iter().map(|(a, b)| max_abs(a, b)).fold(0.0, f64::max),
    })
}

fn read(path: &Path) -> Result<Golden, VoiceError> {
    let fail = |reason: String| VoiceError::Fixtures { path: path.to_owned(), reason };
    let bytes = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| fail(error.to_string()))
}

/// 0.3 sin(2π 220 t) + 0.2 sin(2π 1350 t + 1) + 0.05 noise, one second.
fn golden_wave() -> Vec<f32> {
    (0..16_000_u64)
        .map(|n| {
            let t = n as f64 / 16_000.0;
            let tones =
                0.3 * (2.0 * PI * 220.0 * t).sin() + 0.2 * (2.0 * PI * 1350.0 * t + 1.0).sin();
            (tones + 0.05 * uniform(7777, n)) as f32
        })
        .collect()
}

fn max_abs(ours: &[f32], theirs: &[f64]) -> f64 {
    if ours.len() != theirs.len() {
        return f64::INFINITY;
    }
    ours.iter().zip(theirs).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}

fn cosine(ours: &[f32], theirs: &[f64]) -> f64 {
    if ours.len() != theirs.len() {
        return -1.0;
    }
    let (mut dot, mut a, mut b) = (0.0, 0.0, 0.0);
    for (x, y) in ours.iter().map(|x| f64::from(*x)).zip(theirs) {
        dot += x * y;
        a += x * x;
        b += y * y;
    }
    dot / (a * b).sqrt()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::perceive::voice::bench::shared;

    fn check(parity: Parity) {
        println!("{parity:?}");
        assert!(parity.fbank_max_abs <= 1e-3, "{parity:?}");
        assert!(parity.embedding_cosine >= 0.99999, "{parity:?}");
        assert!(parity.embedding_max_abs <= 1e-2, "{parity:?}");
    }

    #[test]
    fn features_and_vectors_are_the_published_ones() {
        let Some(fixtures) = shared("fixtures/eres2netv2") else { return };
        check(parity(&fixtures, None).unwrap());
    }

    #[test]
    fn a_torch_checkpoint_gives_the_published_vectors() {
        let Some(fixtures) = shared("fixtures/eres2netv2") else { return };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("golden.ckpt");
        let made = std::process::Command::new("/usr/bin/python3")
            .arg(fixtures.join("make_ckpt.py"))
            .arg(&path)
            .output();
        if !made.is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: /usr/bin/python3 with torch (Debian: python3-torch) is not there");
            return;
        }
        check(parity(&fixtures, Some(&path)).unwrap());

        // Cut short, the same file is refused and nothing crashes.
        let bytes = std::fs::read(&path).unwrap();
        let torn = dir.path().join("torn.ckpt");
        for length in [0, 10, 1000, bytes.len() / 2, bytes.len() - 100] {
            std::fs::write(&torn, &bytes[..length]).unwrap();
            assert!(
                Eres2NetV2::open(&torn, Device::Cpu, Precision::Full).is_err(),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn missing_golden_vectors_name_the_file() {
        let error = parity(Path::new("/nowhere"), None).unwrap_err().to_string();
        assert!(error.contains("/nowhere/golden.json"), "{error}");
    }
}
