//! Speech probabilities become stretches of speech: hysteresis, and a pause that ends a stretch.

use serde::{Deserialize, Serialize};

use super::vad::FRAME;
use crate::config::VoicePerception;
use crate::media::SAMPLE_RATE;

/// Speech goes on down to this much below the threshold that opened it (as in Silero's own code).
const HYSTERESIS: f32 = 0.15;

/// A run of speech, in frames of 32 ms since the start: `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeechSegment {
    /// First frame of speech.
    pub start: u64,
    /// First frame after the last one of speech.
    pub end: u64,
}

/// The streaming machine; its whole state is serialisable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segmenter {
    threshold: f32,
    min_silence: u64,
    frame: u64,
    open: Option<SpeechSegment>,
    speaking: bool,
}

impl Segmenter {
    /// With the thresholds of `[voice]`.
    #[must_use]
    pub fn new(settings: &VoicePerception) -> Self {
        let frames = settings.min_silence_secs * f64::from(SAMPLE_RATE) / FRAME as f64;
        Self {
            threshold: settings.threshold,
            min_silence: (frames.round() as u64).max(1),
            frame: 0,
            open: None,
            speaking: false,
        }
    }

    /// Takes the next frame's probability; gives the stretch that this frame ends.
    pub fn push(&mut self, probability: f32) -> Option<SpeechSegment> {
        let frame = self.frame;
        self.frame += 1;
        self.speaking = if self.speaking {
            probability >= self.threshold - HYSTERESIS
        } else {
            probability >= self.threshold
        };
        if self.speaking {
            self.open.get_or_insert(SpeechSegment { start: frame, end: frame }).end = frame + 1;
            return None;
        }
        let ended = self.open.filter(|open| self.frame - open.end >= self.min_silence);
        if ended.is_some() {
            self.open = None;
        }
        ended
    }

    /// Ends the open stretch, whatever follows.
    pub fn flush(&mut self) -> Option<SpeechSegment> {
        self.speaking = false;
        self.open.take()
    }

    /// The stretch that has begun and not ended.
    #[must_use]
    pub fn open(&self) -> Option<SpeechSegment> {
        self.open
    }

    /// Whether the newest frame was speech.
    #[must_use]
    pub fn speaking(&self) -> bool {
        self.speaking
    }

    /// Frames taken.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frame
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn stretches(probabilities: &[f32]) -> Vec<SpeechSegment> {
        let mut segmenter = Segmenter::new(&VoicePerception {
            min_silence_secs: 0.096,
            ..VoicePerception::default()
        });
        let mut found: Vec<SpeechSegment> =
            probabilities.iter().filter_map(|p| segmenter.push(*p)).collect();
        found.extend(segmenter.flush());
        found
    }

    #[test]
    fn a_short_pause_joins_and_a_long_one_parts() {
        let found = stretches(&[0.1, 0.9, 0.1, 0.1, 0.9, 0.0, 0.0, 0.0, 0.6]);
        assert_eq!(found, [SpeechSegment { start: 1, end: 5 }, SpeechSegment { start: 8, end: 9 }]);
    }

    #[test]
    fn speech_goes_on_below_the_opening_threshold() {
        assert_eq!(stretches(&[0.4, 0.5, 0.4, 0.36, 0.3]), [SpeechSegment { start: 1, end: 4 }]);
    }
}
