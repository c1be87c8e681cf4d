//! A bag's sound: which format a topic has, and its bytes → 16 kHz mono.

use std::sync::Arc;

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Fft, FixedSync, Resampler as _};

use super::ros2::{self, Refused, SoundFormat};
use super::{Bag, Connection, Found};
use crate::capture::error::CaptureError;
use crate::media::SAMPLE_RATE;

/// AudioInfo messages are latched at the beginning; after this many other messages they are no longer looked for.
const LOOKED_THROUGH: usize = 2_000;

/// What the AudioInfo messages say, by their topic.
#[derive(Clone, Debug, Default)]
pub(super) struct SoundFormats(Vec<(Arc<str>, Result<SoundFormat, String>)>);

impl SoundFormats {
    /// Reads the AudioInfo topics, if there are any.
    pub(super) fn of_bag(bag: &Bag) -> Result<Self, CaptureError> {
        let tells = |connection: &Connection| {
            ros2::is_sound_format(&connection.schema, &connection.encoding)
        };
        let expected = bag.index.connections().filter(|connection| tells(connection)).count();
        let mut formats = Self::default();
        if expected == 0 {
            return Ok(formats);
        }
        let is_sound = |connection: &Connection| {
            ros2::kind(&connection.schema, &connection.encoding) == Some(super::Kind::Microphone)
        };
        let mut reader = bag.reader(|connection| tells(connection) || is_sound(connection))?;
        for _ in 0..LOOKED_THROUGH {
            let Some(found) = reader.next() else { break };
            let Found::Message(message) = found else { continue };
            let topic = &message.connection.topic;
            if !tells(&message.connection) || formats.0.iter().any(|(told, _)| told == topic) {
                continue;
            }
            let format = ros2::sound_format(&message.data).map_err(|refused| match refused {
                Refused::Malformed(why) | Refused::Undecodable(why) => format!("{topic}: {why}"),
            });
            formats.0.push((Arc::clone(topic), format));
            if formats.0.len() == expected {
                break;
            }
        }
        Ok(formats)
    }

    /// The format of an audio topic: what the AudioInfo beside it says, else the only one there is, else
    /// the default; an error when that cannot be decoded.
    pub(super) fn of_topic(&self, topic: &str) -> Result<SoundFormat, String> {
        let folder =
            |topic: &str| topic.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let beside = self.0.iter().find(|(told, _)| folder(told) == folder(topic));
        match (beside, self.0.as_slice()) {
            (Some((_, format)), _) | (None, [(_, format)]) => format.clone(),
            _ => Ok(SoundFormat::default()),
        }
    }
}

/// Interleaved samples → their mean over the channels; a last incomplete one is left out.
fn mono(bytes: &[u8], format: &SoundFormat) -> Vec<f32> {
    let channels = usize::from(format.channels.max(1));
    let size = format.sample.bytes();
    bytes
        .chunks_exact(size * channels)
        .map(|samples| {
            let sum: f32 = samples.chunks_exact(size).map(|s| format.sample.value(s)).sum();
            if channels == 1 { sum } else { sum / channels as f32 }
        })
        .collect()
}

/// A topic's bytes → 16 kHz mono, by FFT where the rate differs.
pub(super) struct Resampled {
    format: SoundFormat,
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
    /// For one topic.
    pub(super) fn new(format: SoundFormat) -> Result<Self, String> {
        let rate_change = (format.rate != SAMPLE_RATE)
            .then(|| {
                let (from, to) = (format.rate as usize, SAMPLE_RATE as usize);
                let fft = Fft::new(from, to, from / 50, 1, FixedSync::Input)
                    .map_err(|error| format!("resampling from {from} Hz: {error}"))?;
                let delay = fft.output_delay();
                Ok::<_, String>(RateChange { fft, pending: Vec::new(), taken: 0, given: 0, delay })
            })
            .transpose()?;
        Ok(Self { format, rate_change })
    }

    /// The samples that are ready, and how many seconds before the first of `bytes` they begin.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(Vec<f32>, f64), String> {
        let samples = mono(bytes, &self.format);
        let Some(change) = &mut self.rate_change else { return Ok((samples, 0.0)) };
        let begun_secs = change.given as f64 / f64::from(SAMPLE_RATE);
        let earlier_secs = change.taken as f64 / f64::from(self.format.rate) - begun_secs;
        change.taken += samples.len() as u64;
        change.pending.extend(samples);
        Ok((change.ready()?, earlier_secs))
    }

    /// What is still inside, at the end of the sound.
    pub(super) fn finish(&mut self) -> Result<Vec<f32>, String> {
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
        let mut ready = Vec::new();
        loop {
            let chunk = self.fft.input_frames_next();
            if chunk == 0 || self.pending.len() < chunk {
                self.given += ready.len() as u64;
                return Ok(ready);
            }
            let input = InterleavedSlice::new(&self.pending[..chunk], 1, chunk)
                .map_err(|error| error.to_string())?;
            let output =
                self.fft.process(&input, None).map_err(|error| error.to_string())?.take_data();
            let left_out = self.delay.min(output.len());
            self.delay -= left_out;
            ready.extend_from_slice(&output[left_out..]);
            self.pending.drain(..chunk);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::capture::bag::ros2::Sample;

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
