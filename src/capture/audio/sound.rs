//! PCM of any rate, width and number of channels → 16 kHz mono: for bags and for cpal microphones.
//! (GStreamer's pipelines do it by themselves.)

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Fft, FixedSync, Resampler as _};

use super::downmix::Downmix;
use crate::media::SAMPLE_RATE;

/// How bytes of sound are to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoundFormat {
    /// Samples per second and channel.
    pub rate: u32,
    /// Interleaved channels.
    pub channels: u16,
    /// Form of a sample.
    pub sample: Sample,
}

impl SoundFormat {
    /// How long so many bytes of it last.
    #[must_use]
    pub fn secs(&self, bytes: usize) -> f64 {
        let samples = bytes / (self.sample.bytes() * usize::from(self.channels.max(1)));
        samples as f64 / f64::from(self.rate.max(1))
    }
}

impl Default for SoundFormat {
    /// What `audio_common` records when nothing else is said: S16LE, 16 kHz, mono.
    fn default() -> Self {
        Self { rate: SAMPLE_RATE, channels: 1, sample: Sample::S16Le }
    }
}

/// Form of a sample, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Unsigned 8 bits.
    U8,
    /// Signed 16 bits.
    S16Le,
    /// Signed 24 bits in 3 bytes.
    S24Le,
    /// Signed 32 bits.
    S32Le,
    /// 32-bit float, [-1, 1].
    F32Le,
}

impl Sample {
    /// Bytes of one sample.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::S16Le => 2,
            Self::S24Le => 3,
            Self::S32Le | Self::F32Le => 4,
        }
    }

    /// Its value in [-1, 1]; `bytes` has [`bytes`](Self::bytes) of them, 0 otherwise.
    #[must_use]
    pub fn value(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::U8, [a]) => (f32::from(*a) - 128.0) / 128.0,
            (Self::S16Le, [a, b]) => f32::from(i16::from_le_bytes([*a, *b])) / 32_768.0,
            (Self::S24Le, [a, b, c]) => {
                i32::from_le_bytes([0, *a, *b, *c]) as f32 / 2_147_483_648.0
            }
            (Self::S32Le, [a, b, c, d]) => {
                i32::from_le_bytes([*a, *b, *c, *d]) as f32 / 2_147_483_648.0
            }
            (Self::F32Le, [a, b, c, d]) => {
                let value = f32::from_le_bytes([*a, *b, *c, *d]);
                if value.is_finite() { value.clamp(-1.0, 1.0) } else { 0.0 }
            }
            _ => 0.0,
        }
    }
}

/// Interleaved samples → one channel; a last incomplete one is left out.
fn mono(bytes: &[u8], format: &SoundFormat, mix: &mut Downmix) -> Vec<f32> {
    let (channels, size) = (mix.channels(), format.sample.bytes());
    let mut one = vec![0.0; channels];
    let of_all = |samples: &[u8]| {
        for (value, bytes) in one.iter_mut().zip(samples.chunks_exact(size)) {
            *value = format.sample.value(bytes);
        }
        mix.mix(&one)
    };
    bytes.chunks_exact(size * channels).map(of_all).collect()
}

/// Bytes of sound → 16 kHz mono, by FFT where the rate differs.
pub(in crate::capture) struct Resampled {
    format: SoundFormat,
    mix: Downmix,
    rate_change: Option<RateChange>,
}

struct RateChange {
    fft: Fft<f32>,
    pending: Vec<f32>,
    /// Samples taken in and given out so far, each at its own rate.
    taken: u64,
    given: u64,
    /// Samples of the filter's delay that are still to be left out.
    delay: usize,
}

impl Resampled {
    /// For one run of sound.
    pub(in crate::capture) fn new(format: SoundFormat) -> Result<Self, String> {
        let rate_change = (format.rate != SAMPLE_RATE)
            .then(|| {
                let (from, to) = (format.rate as usize, SAMPLE_RATE as usize);
                let fft = Fft::new(from, to, from / 50, 1, FixedSync::Input)
                    .map_err(|error| format!("resampling from {from} Hz: {error}"))?;
                let delay = fft.output_delay();
                Ok::<_, String>(RateChange { fft, pending: Vec::new(), taken: 0, given: 0, delay })
            })
            .transpose()?;
        let mix = Downmix::new(usize::from(format.channels));
        Ok(Self { format, mix, rate_change })
    }

    /// How long so many bytes last.
    pub(in crate::capture) fn secs(&self, bytes: usize) -> f64 {
        self.format.secs(bytes)
    }

    /// The samples that are ready, and how many seconds before the first of `bytes` they begin.
    pub(in crate::capture) fn take(&mut self, bytes: &[u8]) -> Result<(Vec<f32>, f64), String> {
        let samples = mono(bytes, &self.format, &mut self.mix);
        let Some(change) = &mut self.rate_change else { return Ok((samples, 0.0)) };
        let begun_secs = change.given as f64 / f64::from(SAMPLE_RATE);
        let earlier_secs = change.taken as f64 / f64::from(self.format.rate) - begun_secs;
        change.taken += samples.len() as u64;
        change.pending.extend(samples);
        Ok((change.ready()?, earlier_secs))
    }

    /// What is still inside, at the end of the sound.
    pub(in crate::capture) fn finish(&mut self) -> Result<Vec<f32>, String> {
        let Some(change) = &mut self.rate_change else { return Ok(Vec::new()) };
        let whole = change.taken * u64::from(SAMPLE_RATE) / u64::from(self.format.rate);
        let mut rest = Vec::new();
        while change.given < whole {
            let silence = change.fft.input_frames_next();
            change.pending.resize(change.pending.len().max(1).next_multiple_of(silence), 0.0);
            let (before, ready) = (change.given, change.ready()?);
            let wanted = usize::try_from(whole - before).unwrap_or(0).min(ready.len());
            rest.extend_from_slice(&ready[..wanted]);
        }
        Ok(rest)
    }
}

impl RateChange {
    /// Resamples every whole chunk that is pending.
    fn ready(&mut self) -> Result<Vec<f32>, String> {
        let (mut ready, mut used) = (Vec::new(), 0);
        loop {
            let chunk = self.fft.input_frames_next();
            if chunk == 0 || self.pending.len() - used < chunk {
                // Once: a message may hold hours.
                self.pending.drain(..used);
                self.given += ready.len() as u64;
                return Ok(ready);
            }
            let input = InterleavedSlice::new(&self.pending[used..used + chunk], 1, chunk)
                .map_err(|error| error.to_string())?;
            let output =
                self.fft.process(&input, None).map_err(|error| error.to_string())?.take_data();
            let left_out = self.delay.min(output.len());
            self.delay -= left_out;
            ready.extend_from_slice(&output[left_out..]);
            used += chunk;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_tone_of_48_khz_stereo_keeps_its_pitch_place_and_length() {
        let format = SoundFormat { rate: 48_000, channels: 2, sample: Sample::F32Le };
        let tone = |n: usize, rate: f64| {
            (n as f64 / rate * 440.0 * std::f64::consts::TAU).sin() as f32 * 0.5
        };
        let bytes: Vec<u8> =
            (0..48_000).flat_map(|n| [tone(n, 48e3); 2]).flat_map(f32::to_le_bytes).collect();
        let mut sound = Resampled::new(format).unwrap();
        let mut out = Vec::new();
        for (n, portion) in bytes.chunks(8 * 700).enumerate() {
            let (samples, earlier) = sound.take(portion).unwrap();
            let begins = n as f64 * 700.0 / 48e3 - earlier;
            assert!((begins - out.len() as f64 / 16e3).abs() < 1e-9);
            out.extend(samples);
        }
        out.extend(sound.finish().unwrap());
        assert_eq!(out.len(), 16_000);
        let worst = (200..15_800).map(|n| (out[n] - tone(n, 16e3)).abs()).fold(0.0_f32, f32::max);
        // One sample of the input is 0.029 of this tone's height: it may lie that much beside its place.
        assert!(worst < 0.03, "{worst}");
    }
}
