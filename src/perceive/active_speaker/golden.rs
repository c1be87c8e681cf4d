//! The golden vectors of `tests/golden/active_speaker.py`, and the inputs that belong to them.

use std::f64::consts::PI;

use serde::Deserialize;

use super::{Crop, LrAsd, SIDE};
use crate::perceive::voice::bench::shared;
use crate::perceive::voice::embed::eres2netv2::layout::uniform;
use crate::runtime::onnx::Device;
use crate::time::Timestamp;

#[derive(Deserialize)]
pub(crate) struct Golden {
    sound_head: Vec<i64>,
    sound_sum: i64,
    crops_sum: u64,
    pub(crate) mfcc: Vec<Vec<f32>>,
    pub(crate) mfcc_of_silence: Vec<Vec<f32>>,
    pub(crate) log_odds: Vec<f32>,
}

impl Golden {
    pub(crate) fn load() -> Self {
        serde_json::from_str(include_str!("../../../tests/golden/active_speaker.json")).unwrap()
    }

    pub(crate) fn frames(&self) -> usize {
        self.log_odds.len()
    }
}

/// The published weights, where the test material is.
pub(crate) fn lrasd() -> Option<LrAsd> {
    let path = shared("models/asd_lrasd_finetuning_TalkSet.model")?;
    Some(LrAsd::open(&path, Device::Cpu).unwrap())
}

fn pcm(frames: usize) -> Vec<i16> {
    let tones = [140.0, 420.0, 1310.0, 2750.0];
    (0..frames * 640 + 240)
        .map(|n| {
            let t = n as f64 / 16_000.0;
            let swell = 0.5 + 0.5 * (2.0 * PI * 3.0 * t).sin();
            let tone = |(i, f): (usize, &f64)| (2.0 * PI * f * t).sin() / (1 + i) as f64;
            let hum: f64 = tones.iter().enumerate().map(tone).sum();
            (6000.0 * swell * hum + 300.0 * uniform(1, n as u64)).round_ties_even() as i16
        })
        .collect()
}

pub(crate) fn sound(frames: usize) -> Vec<f32> {
    pcm(frames).into_iter().map(|v| f32::from(v) / 32_768.0).collect()
}

pub(crate) fn crops(frames: usize) -> Vec<Crop> {
    (0..frames)
        .map(|t| {
            let half = 3.0 + 9.0 * (0.5 + 0.5 * (2.0 * PI * 3.0 * t as f64 / 25.0).sin());
            let pixel = |n: usize| {
                let (y, x) = (n / SIDE, n % SIDE);
                let bar = (36..76).contains(&x) && (y as f64 - 80.0).abs() <= half;
                let noise = 8.0 * uniform(2, (t * SIDE * SIDE + n) as u64);
                let value = if bar { 40.0 } else { 110.0 + 0.5 * y as f64 } + noise;
                value.clamp(0.0, 255.0) as u8
            };
            let pixels: Vec<u8> = (0..SIDE * SIDE).map(pixel).collect();
            Crop { at: Timestamp::EPOCH.plus_secs(t as f64 / 25.0), pixels: pixels.into() }
        })
        .collect()
}

#[test]
fn the_inputs_are_those_of_the_script() {
    let golden = Golden::load();
    let sound: Vec<i64> = pcm(golden.frames()).into_iter().map(i64::from).collect();
    assert_eq!(sound[..golden.sound_head.len()], golden.sound_head);
    assert_eq!(sound.iter().sum::<i64>(), golden.sound_sum);
    let sum: u64 =
        crops(golden.frames()).iter().flat_map(|c| c.pixels.to_vec()).map(u64::from).sum();
    assert_eq!(sum, golden.crops_sum);
}
