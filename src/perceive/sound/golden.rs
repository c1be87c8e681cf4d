//! What YAMNet hears in made sound, against NumPy and the same file (`tests/golden/yamnet.py`).

use std::path::PathBuf;

use serde_json::Value;

use super::spectrogram::{BANDS, FRAMES, LogMel, SHIFT};
use super::{SoundClassifier as _, YamNet};

/// No set brings it: who wants it fetches it.
fn file() -> Option<PathBuf> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/models/yamnet.onnx");
    file.is_file().then_some(file)
}

fn sound() -> Vec<f32> {
    let sample = |n: u64| {
        let word = (n + 1).wrapping_mul(6_364_136_223_846_793_005);
        let word = word.wrapping_add(1_442_695_040_888_963_407) >> 32;
        let t = n as f64 / 16_000.0;
        let tone = (std::f64::consts::TAU * (300.0 * t + 400.0 * t * t)).sin();
        (0.4 * tone + 0.05 * (word as f64 / 2.0_f64.powi(31) - 1.0)) as f32
    };
    (0..32_000).map(sample).collect()
}

#[test]
fn yamnet_hears_what_it_hears_elsewhere() {
    let golden = include_str!("../../../tests/golden/yamnet.json");
    let golden: Value = serde_json::from_str(golden).unwrap();
    let (sound, mel) = (sound(), LogMel::new());
    let mut network = file().map(|file| YamNet::open(&file).unwrap());
    if let Some(network) = &network {
        assert_eq!(network.classes().len() as u64, golden["classes"].as_u64().unwrap());
    }
    let patches = golden["patches"].as_array().unwrap();
    assert!(patches.len() >= 2);
    for (number, wanted) in patches.iter().enumerate() {
        let patch = mel.patch(&sound[number * FRAMES / 2 * SHIFT..]);
        let some = patch.chunks(BANDS).step_by(19).flat_map(|frame| frame.iter().step_by(13));
        for (found, wanted) in some.zip(wanted["mel"].as_array().unwrap()) {
            let wanted = wanted.as_f64().unwrap();
            assert!((f64::from(*found) - wanted).abs() < 2e-3, "{found} for {wanted}");
        }
        let Some(network) = &mut network else { continue };
        let scores = network.classify(&patch).unwrap();
        for (class, wanted) in wanted["scores"].as_object().unwrap() {
            let at = network.classes().iter().position(|known| known == class).unwrap();
            let (found, wanted) = (f64::from(scores[at]), wanted.as_f64().unwrap());
            assert!((found - wanted).abs() < 5e-3, "{class}: {found} for {wanted}");
        }
    }
}
