//! The spectrogram that YAMNet hears, as its authors reckon it (`tensorflow/models`, research/audioset/yamnet, features.py).
//!
//! 16 kHz, periodic Hann window of 25 ms every 10 ms, not centred, filled up to 512 samples; magnitude; 64 bands from 125 to
//! 7,500 Hz, triangles on HTK's mel scale; log(x + 0.001).

use std::f64::consts::PI;
use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};

/// Mel bands.
pub(super) const BANDS: usize = 64;
/// Frames of a patch.
pub(super) const FRAMES: usize = 96;
/// Samples from one frame to the next.
pub(super) const SHIFT: usize = 160;
/// Samples of a frame.
const FRAME: usize = 400;
/// Samples that a patch is made of.
pub(super) const PATCH: usize = (FRAMES - 1) * SHIFT + FRAME;
const FFT: usize = 512;
const RATE: f64 = 16_000.0;
const LOWEST_HZ: f64 = 125.0;
const HIGHEST_HZ: f64 = 7_500.0;
/// Keeps the logarithm of silence finite.
const FLOOR: f32 = 0.001;

/// The transform; make one and keep it.
pub(super) struct LogMel {
    fft: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    /// Of each band: the first bin that it takes in, and the weights from there on.
    filters: Vec<(usize, Vec<f32>)>,
}

impl LogMel {
    pub(super) fn new() -> Self {
        let window = (0..FRAME)
            .map(|n| (0.5 - 0.5 * (2.0 * PI * n as f64 / FRAME as f64).cos()) as f32)
            .collect();
        Self { fft: RealFftPlanner::new().plan_fft_forward(FFT), window, filters: filters() }
    }

    /// `[96, 64]`, row = frame, of [`PATCH`] samples; what is missing is silence.
    pub(super) fn patch(&self, sound: &[f32]) -> Vec<f32> {
        let mut values = Vec::with_capacity(FRAMES * BANDS);
        let mut buffer = self.fft.make_input_vec();
        let mut spectrum = self.fft.make_output_vec();
        let mut scratch = self.fft.make_scratch_vec();
        for frame in 0..FRAMES {
            let samples = sound.get(frame * SHIFT..).unwrap_or_default();
            buffer.fill(0.0);
            for ((slot, sample), weight) in buffer.iter_mut().zip(samples).zip(&self.window) {
                *slot = sample * weight;
            }
            // Lengths are the planner's own, so this cannot fail.
            if self.fft.process_with_scratch(&mut buffer, &mut spectrum, &mut scratch).is_err() {
                spectrum.fill(Default::default());
            }
            values.extend(self.filters.iter().map(|(first, weights)| {
                let bins = spectrum[*first..].iter().zip(weights);
                (bins.map(|(bin, weight)| bin.norm() * weight).sum::<f32>() + FLOOR).ln()
            }));
        }
        values
    }
}

/// HTK's scale.
fn to_mel(hz: f64) -> f64 {
    1127.0 * (1.0 + hz / 700.0).ln()
}

fn filters() -> Vec<(usize, Vec<f32>)> {
    let (low, high) = (to_mel(LOWEST_HZ), to_mel(HIGHEST_HZ));
    let edge = |n: usize| low + (high - low) * n as f64 / (BANDS + 1) as f64;
    (0..BANDS)
        .map(|band| {
            let (left, centre, right) = (edge(band), edge(band + 1), edge(band + 2));
            let weight = |bin: usize| {
                let at = to_mel(bin as f64 * RATE / FFT as f64);
                let triangle = ((at - left) / (centre - left)).min((right - at) / (right - centre));
                triangle.max(0.0) as f32
            };
            // Constant sound is no part of any band.
            let used: Vec<usize> = (1..=FFT / 2).filter(|bin| weight(*bin) > 0.0).collect();
            let first = used.first().copied().unwrap_or(0);
            (first, used.into_iter().map(weight).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tone_lies_in_its_band_and_silence_at_the_floor() {
        let mel = LogMel::new();
        let silence = mel.patch(&[]);
        assert_eq!(silence.len(), FRAMES * BANDS);
        assert!(silence.iter().all(|value| (value - FLOOR.ln()).abs() < 1e-6));
        let tone: Vec<f32> =
            (0..PATCH).map(|n| (2.0 * PI * 1_000.0 * n as f64 / RATE).sin() as f32).collect();
        let patch = mel.patch(&tone);
        let (low, high) = (to_mel(LOWEST_HZ), to_mel(HIGHEST_HZ));
        let band = ((to_mel(1_000.0) - low) / (high - low) * (BANDS + 1) as f64 - 1.0).round();
        for frame in patch.chunks(BANDS) {
            let loudest = (0..BANDS).max_by(|a, b| frame[*a].total_cmp(&frame[*b]));
            assert_eq!(loudest, Some(band as usize));
            // A full tone of amplitude 1 under a Hann window: a quarter of the window's samples in its bin, and its neighbours' half.
            assert!(
                (100.0..220.0).contains(&frame[band as usize].exp()),
                "{}",
                frame[band as usize]
            );
        }
    }
}
