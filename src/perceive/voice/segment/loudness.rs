//! One loudness for all turns, where `voice.normalise` asks for it.
//!
//! Kaldi's filter bank has a floor, in which the quieter half of quiet speech drowns. A constant gain goes out with the
//! mean, the floor does not: the same voice from far is another one. Raised before, it stays above the floor.

use std::borrow::Cow;
use std::ops::Range;

use crate::ids::ModelHash;
use crate::perceive::voice::{SpeakerEmbedder, VoiceError};
use crate::percept::Embedding;

/// What the mean power of a turn is brought to, dB relative to full scale.
const LEVEL_DBFS: f64 = -25.0;
/// It is raised by so much at most: beyond that it is mostly the room that is heard, dB.
const MOST_GAIN_DB: f64 = 30.0;
/// Quieter sound is silence and left as it is, dB relative to full scale.
const SILENCE_DBFS: f64 = -90.0;

/// An embedder that hears everything at one loudness.
pub struct Normalised {
    inner: Box<dyn SpeakerEmbedder>,
}

impl Normalised {
    /// Puts the levelling before `inner`.
    #[must_use]
    pub fn new(inner: Box<dyn SpeakerEmbedder>) -> Self {
        Self { inner }
    }
}

impl SpeakerEmbedder for Normalised {
    fn embed(&mut self, sound: &[f32]) -> Result<Embedding, VoiceError> {
        self.inner.embed(&levelled(sound))
    }

    fn embed_equal(&mut self, sounds: &[&[f32]]) -> Result<Vec<Embedding>, VoiceError> {
        let sounds: Vec<Cow<'_, [f32]>> = sounds.iter().map(|sound| levelled(sound)).collect();
        let sounds: Vec<&[f32]> = sounds.iter().map(|sound| &**sound).collect();
        self.inner.embed_equal(&sounds)
    }

    fn embed_all(&mut self, sounds: &[&[f32]]) -> Result<Vec<Embedding>, VoiceError> {
        let sounds: Vec<Cow<'_, [f32]>> = sounds.iter().map(|sound| levelled(sound)).collect();
        let sounds: Vec<&[f32]> = sounds.iter().map(|sound| &**sound).collect();
        self.inner.embed_all(&sounds)
    }

    /// The sound is levelled as a whole: a pause between words stays quieter than the words.
    fn embed_windows(
        &mut self,
        sound: &[f32],
        window: usize,
        step: usize,
    ) -> Result<Vec<Embedding>, VoiceError> {
        self.inner.embed_windows(&levelled(sound), window, step)
    }

    fn embed_parts(
        &mut self,
        sound: &[f32],
        parts: &[Range<usize>],
    ) -> Result<Vec<Embedding>, VoiceError> {
        self.inner.embed_parts(&levelled(sound), parts)
    }

    fn hears_parts_at_once(&self) -> bool {
        self.inner.hears_parts_at_once()
    }

    fn min_secs(&self) -> f64 {
        self.inner.min_secs()
    }

    fn hash(&self) -> ModelHash {
        self.inner.hash()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }
}

/// Mean power, dB relative to full scale; -inf of silence and of nothing.
pub(in crate::perceive::voice) fn level_dbfs(sound: &[f32]) -> f64 {
    let power: f64 = sound.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
    10.0 * (power / sound.len().max(1) as f64).log10()
}

/// The sound at [`LEVEL_DBFS`]. Peaks may go beyond full scale: they are features next, not samples.
fn levelled(sound: &[f32]) -> Cow<'_, [f32]> {
    let level = level_dbfs(sound);
    if level < SILENCE_DBFS {
        return Cow::Borrowed(sound);
    }
    let gain = 10.0_f64.powf((LEVEL_DBFS - level).min(MOST_GAIN_DB) / 20.0) as f32;
    Cow::Owned(sound.iter().map(|v| v * gain).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(amplitude: f32) -> Vec<f32> {
        (0..16_000).map(|n| amplitude * (n as f32 * 0.1).sin()).collect()
    }

    #[test]
    fn loud_and_quiet_turns_come_to_one_level() {
        for amplitude in [1.0, 0.1, 0.01, 0.003] {
            let level = level_dbfs(&levelled(&tone(amplitude)));
            assert!((level - LEVEL_DBFS).abs() < 0.01, "{amplitude}: {level}");
        }
    }

    #[test]
    fn the_gain_is_limited_and_silence_stays_silence() {
        let faint = tone(0.0003);
        let raised = level_dbfs(&levelled(&faint)) - level_dbfs(&faint);
        assert!((raised - MOST_GAIN_DB).abs() < 0.01, "{raised}");
        for silent in [vec![0.0; 1600], tone(1e-5), Vec::new()] {
            assert_eq!(&*levelled(&silent), silent.as_slice());
        }
    }
}
