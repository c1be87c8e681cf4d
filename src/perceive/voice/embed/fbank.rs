//! Kaldi's log mel filter bank, as torchaudio's `compliance.kaldi.fbank` computes it: what ERes2NetV2 and its kin hear.
//!
//! 16 kHz, frames of 25 ms every 10 ms, only full ones, no dither; per frame: mean removed, pre-emphasis
//! 0.97, a window (Povey's by default), 512-point power spectrum, 80 triangles from 20 Hz to 8 kHz on Kaldi's mel
//! scale, floor 2^-23, natural logarithm.

use std::f64::consts::PI;
use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};

/// Mel bands.
pub const BANDS: usize = 80;
const FRAME: usize = 400;
const SHIFT: usize = 160;
const FFT: usize = 512;
const PRE_EMPHASIS: f32 = 0.97;
const LOW_HZ: f64 = 20.0;
const HIGH_HZ: f64 = 8000.0;
const FLOOR: f32 = f32::EPSILON;

/// Log mel energies.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// Frames T.
    pub frames: usize,
    /// `[T, 80]`, row = frame.
    pub values: Vec<f32>,
}

/// What the samples of a frame are weighted with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// Kaldi's own: Hann's to the power of 0.85.
    #[default]
    Povey,
    /// Hamming's.
    Hamming,
}

impl Window {
    /// Weight of a frame's sample `n`, 0–1.
    fn weight(self, n: usize) -> f32 {
        let cosine = (2.0 * PI * n as f64 / (FRAME - 1) as f64).cos();
        match self {
            Self::Povey => (0.5 - 0.5 * cosine).powf(0.85) as f32,
            Self::Hamming => (0.54 - 0.46 * cosine) as f32,
        }
    }
}

/// The filter bank; make one and keep it.
#[derive(Clone)]
pub struct Fbank {
    fft: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    filters: Vec<(usize, Vec<f32>)>,
}

impl Default for Fbank {
    fn default() -> Self {
        Self::new()
    }
}

impl Fbank {
    /// Prepares filters and transform, with Povey's window.
    #[must_use]
    pub fn new() -> Self {
        Self::with_window(Window::Povey)
    }

    /// Prepares filters and transform, with this window.
    #[must_use]
    pub fn with_window(window: Window) -> Self {
        let window = (0..FRAME).map(|n| window.weight(n)).collect();
        let fft = RealFftPlanner::new().plan_fft_forward(FFT);
        Self { fft, window, filters: filters() }
    }

    /// Frames that `samples` samples give.
    #[must_use]
    pub fn frames(samples: usize) -> usize {
        if samples < FRAME { 0 } else { 1 + (samples - FRAME) / SHIFT }
    }

    /// Features of sound, in [-1, 1] or whatever scale a network was trained on; with `mean_normalised` each band's
    /// mean over time is subtracted.
    #[must_use]
    pub fn compute(&self, sound: &[f32], mean_normalised: bool) -> Features {
        let frames = Self::frames(sound.len());
        let mut values = Vec::with_capacity(frames * BANDS);
        let mut buffer = vec![0.0; FFT];
        let mut spectrum = self.fft.make_output_vec();
        let mut scratch = self.fft.make_scratch_vec();
        for frame in sound.windows(FRAME).step_by(SHIFT) {
            let mean = (frame.iter().map(|v| f64::from(*v)).sum::<f64>() / FRAME as f64) as f32;
            let mut previous = frame[0] - mean;
            for ((slot, sample), weight) in buffer.iter_mut().zip(frame).zip(&self.window) {
                let centred = sample - mean;
                *slot = (centred - PRE_EMPHASIS * previous) * weight;
                previous = centred;
            }
            buffer[FRAME..].fill(0.0);
            // Lengths are the planner's own, so this cannot fail; the transform spoils its input.
            if self.fft.process_with_scratch(&mut buffer, &mut spectrum, &mut scratch).is_err() {
                spectrum.fill(Default::default());
            }
            values.extend(self.filters.iter().map(|(first, weights)| {
                let energy: f32 = spectrum[*first..]
                    .iter()
                    .zip(weights)
                    .map(|(bin, weight)| bin.norm_sqr() * weight)
                    .sum();
                energy.max(FLOOR).ln()
            }));
        }
        let mut features = Features { frames, values };
        if mean_normalised {
            features.subtract_mean();
        }
        features
    }
}

impl Features {
    fn subtract_mean(&mut self) {
        let mut means = [0.0_f64; BANDS];
        for frame in self.values.chunks_exact(BANDS) {
            for (mean, value) in means.iter_mut().zip(frame) {
                *mean += f64::from(*value);
            }
        }
        for frame in self.values.chunks_exact_mut(BANDS) {
            for (mean, value) in means.iter().zip(frame) {
                *value -= (mean / self.frames as f64) as f32;
            }
        }
    }
}

/// Each band's first bin and its weights: triangles linear in mel, peak 1, the Nyquist bin unused.
fn filters() -> Vec<(usize, Vec<f32>)> {
    let mel = |hz: f64| 1127.0 * (1.0 + hz / 700.0).ln();
    let (low, high) = (mel(LOW_HZ), mel(HIGH_HZ));
    let step = (high - low) / (BANDS + 1) as f64;
    (0..BANDS)
        .map(|band| {
            let left = low + band as f64 * step;
            let (centre, right) = (left + step, left + 2.0 * step);
            let weight = |bin: usize| {
                let at = mel(bin as f64 * 16_000.0 / FFT as f64);
                ((at - left) / step).min((right - at) / step).max(0.0) as f32
            };
            debug_assert!(centre < right);
            let used: Vec<usize> = (0..FFT / 2).filter(|bin| weight(*bin) > 0.0).collect();
            let first = used.first().copied().unwrap_or(0);
            (first, used.into_iter().map(weight).collect())
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn filters_have_the_published_number_of_weights() {
        assert_eq!(filters().iter().map(|(_, w)| w.len()).sum::<usize>(), 501);
        assert!(filters().iter().all(|(_, w)| !w.is_empty()));
    }

    #[test]
    fn silence_meets_the_floor_and_short_sound_gives_nothing() {
        let fbank = Fbank::new();
        let quiet = fbank.compute(&[0.0; 560], false);
        assert_eq!(quiet.frames, 2);
        assert!(quiet.values.iter().all(|v| (v - f32::EPSILON.ln()).abs() < 1e-6));
        assert_eq!(fbank.compute(&[0.1; 399], true).values.len(), 0);
    }
}
