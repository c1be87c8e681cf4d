//! Mel-frequency cepstra as the package `python_speech_features` 0.6 computes them by default: what LR-ASD hears.
//!
//! 16 kHz in 16-bit steps, frames of 25 ms every 10 ms (the last one filled with zeros), pre-emphasis 0.97 over the whole
//! sound, no window, 512-point power spectrum, 26 triangles from 0 to 8 kHz whose corners lie on FFT bins, natural
//! logarithm, orthonormal DCT-II, 13 cepstra, sine lifter 22, and the log energy of the frame in place of the first.

use std::f64::consts::PI;
use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};

/// Cepstra per frame.
pub const CEPSTRA: usize = 13;
/// Samples of a frame, and from one frame to the next.
const FRAME: usize = 400;
const SHIFT: usize = 160;
const FFT: usize = 512;
const FILTERS: usize = 26;
const RATE: f64 = 16_000.0;
const PRE_EMPHASIS: f64 = 0.97;
const LIFTER: f64 = 22.0;
/// Sound in [-1, 1] to 16-bit steps, which the log energy knows.
const STEPS: f64 = 32_768.0;

/// Makes cepstra; make one and keep it.
#[derive(Clone)]
pub struct Mfcc {
    fft: Arc<dyn RealToComplex<f64>>,
    /// Per filter: its first bin and its weights.
    filters: Vec<(usize, Vec<f64>)>,
    /// DCT-II and lifter in one, `[CEPSTRA, FILTERS]`.
    cosines: Vec<f64>,
}

impl Default for Mfcc {
    fn default() -> Self {
        Self::new()
    }
}

impl Mfcc {
    /// Prepares filters and transforms.
    #[must_use]
    pub fn new() -> Self {
        let count = FILTERS as f64;
        let cosines = (0..CEPSTRA)
            .flat_map(|n| {
                let n = n as f64;
                let unit = if n == 0.0 { (1.0 / count).sqrt() } else { (2.0 / count).sqrt() };
                let lift = 1.0 + LIFTER / 2.0 * (PI * n / LIFTER).sin();
                (0..FILTERS)
                    .map(move |k| unit * lift * (PI * n * (2 * k + 1) as f64 / (2.0 * count)).cos())
            })
            .collect();
        Self { fft: RealFftPlanner::new().plan_fft_forward(FFT), filters: filters(), cosines }
    }

    /// Frames that `samples` samples give: at least one.
    #[must_use]
    pub fn frames(samples: usize) -> usize {
        1 + samples.saturating_sub(FRAME).div_ceil(SHIFT)
    }

    /// Samples that give exactly so many frames, all of them full.
    #[must_use]
    pub fn samples(frames: usize) -> usize {
        FRAME + frames.saturating_sub(1) * SHIFT
    }

    /// Cepstra `[frames, 13]`, row = frame, of sound in [-1, 1].
    #[must_use]
    pub fn compute(&self, sound: &[f32]) -> Vec<f32> {
        let at = |n: usize| sound.get(n).map_or(0.0, |v| f64::from(*v) * STEPS);
        let emphasised: Vec<f64> = (0..sound.len())
            .map(|n| if n == 0 { at(0) } else { at(n) - PRE_EMPHASIS * at(n - 1) })
            .collect();
        let frames = Self::frames(sound.len());
        let mut values = Vec::with_capacity(frames * CEPSTRA);
        let mut buffer = vec![0.0; FFT];
        let mut spectrum = self.fft.make_output_vec();
        let mut scratch = self.fft.make_scratch_vec();
        for frame in 0..frames {
            buffer.fill(0.0);
            let from = (frame * SHIFT).min(emphasised.len());
            let part = &emphasised[from..(from + FRAME).min(emphasised.len())];
            buffer[..part.len()].copy_from_slice(part);
            // Lengths are the planner's own, so this cannot fail.
            if self.fft.process_with_scratch(&mut buffer, &mut spectrum, &mut scratch).is_err() {
                spectrum.fill(Default::default());
            }
            let power: Vec<f64> = spectrum.iter().map(|bin| bin.norm_sqr() / FFT as f64).collect();
            let energy: f64 = power.iter().sum();
            let bands: Vec<f64> = self
                .filters
                .iter()
                .map(|(first, weights)| {
                    let sum: f64 = power[*first..].iter().zip(weights).map(|(p, w)| p * w).sum();
                    nonzero(sum).ln()
                })
                .collect();
            values.push(nonzero(energy).ln() as f32);
            for row in self.cosines.chunks_exact(FILTERS).skip(1) {
                let sum: f64 = row.iter().zip(&bands).map(|(c, b)| c * b).sum();
                values.push(sum as f32);
            }
        }
        values
    }
}

/// Silence has a logarithm too.
fn nonzero(value: f64) -> f64 {
    if value == 0.0 { f64::EPSILON } else { value }
}

fn filters() -> Vec<(usize, Vec<f64>)> {
    let mel = |hz: f64| 2595.0 * (1.0 + hz / 700.0).log10();
    let hz = |mel: f64| 700.0 * (10_f64.powf(mel / 2595.0) - 1.0);
    let high = mel(RATE / 2.0);
    let corner = |n: usize| {
        let at = high * n as f64 / (FILTERS + 1) as f64;
        ((FFT + 1) as f64 * hz(at) / RATE).floor() as usize
    };
    (0..FILTERS)
        .map(|n| {
            let (left, peak, right) = (corner(n), corner(n + 1), corner(n + 2));
            let up = (left..peak).map(|bin| (bin - left) as f64 / (peak - left) as f64);
            let down = (peak..right).map(|bin| (right - bin) as f64 / (right - peak) as f64);
            (left, up.chain(down).collect())
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::perceive::active_speaker::golden::{Golden, sound};

    #[test]
    fn cepstra_are_those_of_python_speech_features() {
        let golden = Golden::load();
        let mfcc = Mfcc::new();
        let values = mfcc.compute(&sound(golden.frames()));
        assert_eq!(values.len(), 4 * golden.frames() * CEPSTRA);
        let worst = |rows: &[Vec<f32>], values: &[f32]| {
            let wanted = rows.iter().flatten();
            wanted.zip(values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
        };
        assert!(worst(&golden.mfcc, &values) < 2e-4, "{}", worst(&golden.mfcc, &values));
        let silence = mfcc.compute(&[0.0; 700]);
        assert_eq!(silence.len(), golden.mfcc_of_silence.len() * CEPSTRA);
        assert!(worst(&golden.mfcc_of_silence, &silence) < 2e-4);
    }

    #[test]
    fn a_frame_begins_every_ten_milliseconds() {
        for (samples, frames) in [(0, 1), (400, 1), (401, 2), (560, 2), (640 * 25 + 240, 100)] {
            assert_eq!(Mfcc::frames(samples), frames);
            assert_eq!(Mfcc::new().compute(&vec![0.1; samples]).len(), frames * CEPSTRA);
        }
        assert_eq!(Mfcc::samples(100), 640 * 25 + 240);
    }
}
