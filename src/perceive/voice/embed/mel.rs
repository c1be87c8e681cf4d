//! The mel spectrogram that GE2E hears: librosa's `melspectrogram` with the Resemblyzer's settings.
//!
//! 16 kHz, periodic Hann window of 25 ms every 10 ms, frames centred with zero padding, power 2, 40
//! Slaney mel bands from 0 to 8 kHz, area-normalised, no logarithm.

use std::f64::consts::PI;
use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};

/// Mel bands.
pub(in crate::perceive::voice) const BANDS: usize = 40;
const FFT: usize = 400;
/// Samples from one frame to the next.
pub(in crate::perceive::voice) const SHIFT: usize = 160;

/// The transform; make one and keep it.
#[derive(Clone)]
pub(in crate::perceive::voice) struct MelSpectrogram {
    fft: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    filters: Vec<(usize, Vec<f32>)>,
}

impl MelSpectrogram {
    pub(in crate::perceive::voice) fn new() -> Self {
        let window = (0..FFT)
            .map(|n| (0.5 - 0.5 * (2.0 * PI * n as f64 / FFT as f64).cos()) as f32)
            .collect();
        Self { fft: RealFftPlanner::new().plan_fft_forward(FFT), window, filters: filters() }
    }

    /// `[1 + samples / 160, 40]`, row = frame.
    pub(in crate::perceive::voice) fn compute(&self, sound: &[f32]) -> Vec<f32> {
        let frames = 1 + sound.len() / SHIFT;
        let mut values = Vec::with_capacity(frames * BANDS);
        let mut buffer = vec![0.0; FFT];
        let mut spectrum = self.fft.make_output_vec();
        let mut scratch = self.fft.make_scratch_vec();
        for frame in 0..frames {
            for (n, (slot, weight)) in buffer.iter_mut().zip(&self.window).enumerate() {
                let at = (frame * SHIFT + n).checked_sub(FFT / 2);
                *slot = at.and_then(|at| sound.get(at)).map_or(0.0, |sample| sample * weight);
            }
            // Lengths are the planner's own, so this cannot fail.
            if self.fft.process_with_scratch(&mut buffer, &mut spectrum, &mut scratch).is_err() {
                spectrum.fill(Default::default());
            }
            values.extend(self.filters.iter().map(|(first, weights)| {
                spectrum[*first..]
                    .iter()
                    .zip(weights)
                    .map(|(bin, weight)| bin.norm_sqr() * weight)
                    .sum::<f32>()
            }));
        }
        values
    }
}

/// Slaney's scale: linear below 1 kHz, logarithmic above.
fn to_hz(mel: f64) -> f64 {
    if mel < 15.0 { mel * 200.0 / 3.0 } else { 1000.0 * ((mel - 15.0) * 6.4_f64.ln() / 27.0).exp() }
}

fn to_mel(hz: f64) -> f64 {
    if hz < 1000.0 { hz * 3.0 / 200.0 } else { 15.0 + (hz / 1000.0).ln() * 27.0 / 6.4_f64.ln() }
}

fn filters() -> Vec<(usize, Vec<f32>)> {
    let top = to_mel(8000.0);
    let edge = |n: usize| to_hz(top * n as f64 / (BANDS + 1) as f64);
    (0..BANDS)
        .map(|band| {
            let (left, centre, right) = (edge(band), edge(band + 1), edge(band + 2));
            let weight = |bin: usize| {
                let at = bin as f64 * 16_000.0 / FFT as f64;
                let triangle = ((at - left) / (centre - left)).min((right - at) / (right - centre));
                (triangle.max(0.0) * 2.0 / (right - left)) as f32
            };
            let used: Vec<usize> = (0..=FFT / 2).filter(|bin| weight(*bin) > 0.0).collect();
            let first = used.first().copied().unwrap_or(0);
            (first, used.into_iter().map(weight).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_is_slaneys() {
        assert!((to_mel(1000.0) - 15.0).abs() < 1e-9);
        assert!((to_mel(6400.0) - 42.0).abs() < 1e-9);
        assert!((to_hz(to_mel(3456.0)) - 3456.0).abs() < 1e-9);
        assert_eq!(filters().len(), BANDS);
    }
}
