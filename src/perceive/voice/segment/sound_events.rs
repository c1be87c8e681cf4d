//! What is to be heard besides speech: loud sounds, and stretches in which there is nothing.
//!
//! A frame is loud when its level is [`OVER_DB`] above the background and [`LOUD_DBFS`] or more. The background
//! follows the quietest of the last seconds: it falls at once and rises slowly, so that a noise that stays
//! becomes background. Loud frames that are mostly speech by the voice activity model are no sound of their own.

use serde::{Deserialize, Serialize};

use super::vad::FRAME;
use crate::ids::SourceId;
use crate::media::SAMPLE_RATE;
use crate::percept::{Sound, SoundKind};
use crate::time::{Span, Timestamp};

/// How much louder than the background a loud sound is, dB.
const OVER_DB: f32 = 20.0;
/// Nothing below this is loud, dB relative to full scale.
const LOUD_DBFS: f32 = -32.0;
/// Level of digital silence.
const FLOOR_DBFS: f32 = -90.0;
/// Rise of the background, dB per second.
const RISE_DB: f32 = 1.5;
/// Share of the way that the background falls in a frame.
const FALL: f32 = 0.2;
/// Loud frames closer together than this are one sound, seconds.
const GAP_SECS: f64 = 0.5;
/// A sound that goes on longer is cut, so that its clip need not wait for it, seconds.
const LONGEST_SECS: f64 = 5.0;
/// A sound with more speech in it than this is speech.
const SPEECH_SHARE: f64 = 0.3;
/// A shorter sound right beside speech is part of it (a breath, a consonant), seconds.
const SHORT_SECS: f64 = 0.3;
/// How near to it that is, seconds.
const BESIDE_SECS: f64 = 0.25;
/// Quiet shorter than this is a pause, seconds.
const QUIET_SECS: f64 = 3.0;

/// Finds them in one microphone's sound, frame by frame in the order of time; part of a clip's checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoundEventDetector {
    source: SourceId,
    /// Speech probability from which a frame is speech.
    threshold: f32,
    /// Level of the background; none before the first frame.
    background: Option<f32>,
    open: Option<Loud>,
    /// Start of the quiet stretch that goes on.
    quiet: Option<Timestamp>,
    /// End of the newest frame.
    heard: Option<Timestamp>,
    /// End of the newest frame that was speech.
    spoken: Option<Timestamp>,
    /// Found and not given yet, in the order in which they ended.
    found: Vec<Sound>,
}

/// A loud sound that may go on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Loud {
    span: Span,
    peak_dbfs: f32,
    background_dbfs: f32,
    /// Frames up to its end, and how many of them were speech.
    frames: u32,
    speech: u32,
    /// The same since its end.
    trailing: u32,
    trailing_speech: u32,
    /// Somebody spoke just before it began, or just after it ended.
    beside: bool,
}

impl SoundEventDetector {
    /// A finder that has heard nothing. `threshold`: speech probability from which a frame is speech, 0–1.
    #[must_use]
    pub fn new(source: SourceId, threshold: f32) -> Self {
        Self {
            source,
            threshold,
            background: None,
            open: None,
            quiet: None,
            heard: None,
            spoken: None,
            found: Vec::new(),
        }
    }

    /// Hears the next frame: [`FRAME`] samples that begin at `start`, and its speech probability.
    pub fn hear(&mut self, start: Timestamp, frame: &[f32], probability: f32) {
        let end = start.plus_secs(FRAME_SECS);
        let level = level(frame);
        let speech = probability >= self.threshold;
        let background = *self.background.get_or_insert(level);
        let loud = level >= LOUD_DBFS && level >= background + OVER_DB;
        let step = if level < background {
            FALL * (level - background)
        } else {
            (RISE_DB * FRAME_SECS as f32).min(level - background)
        };
        self.background = Some(background + step);

        if let Some(open) = &mut self.open {
            open.trailing += 1;
            open.trailing_speech += u32::from(speech);
            open.beside |= speech && start.secs_since(open.span.end) < BESIDE_SECS;
            if loud {
                open.span.end = end;
                open.peak_dbfs = open.peak_dbfs.max(level);
                open.frames += std::mem::take(&mut open.trailing);
                open.speech += std::mem::take(&mut open.trailing_speech);
            }
            let over = end.secs_since(open.span.end) >= GAP_SECS;
            if over || open.span.secs() >= LONGEST_SECS {
                self.close();
            }
        } else if loud {
            let beside = self.spoken.is_some_and(|spoken| start.secs_since(spoken) < BESIDE_SECS);
            self.open = Some(Loud {
                span: Span::new(start, end),
                peak_dbfs: level,
                background_dbfs: background,
                frames: 1,
                speech: u32::from(speech),
                trailing: 0,
                trailing_speech: 0,
                beside,
            });
        }
        if speech {
            self.spoken = Some(end);
        }
        if speech || loud {
            self.end_quiet(start);
        } else {
            self.quiet.get_or_insert(start);
        }
        self.heard = Some(end);
    }

    /// Since when something loud goes on; it may still turn out to be speech.
    #[must_use]
    pub fn loud_since(&self) -> Option<Timestamp> {
        self.open.map(|open| open.span.start)
    }

    /// Ends what goes on: the sound breaks off.
    pub fn flush(&mut self) {
        self.close();
        if let Some(heard) = self.heard.take() {
            self.end_quiet(heard);
        }
        self.background = None;
        self.spoken = None;
    }

    /// Takes what ended at or before the border, and the quiet up to it: quiet that goes on is cut there. In
    /// the order of the starts.
    pub fn until(&mut self, border: Timestamp) -> Vec<Sound> {
        let mut given = Vec::new();
        let mut kept = Vec::new();
        for sound in std::mem::take(&mut self.found) {
            if sound.span.end <= border {
                given.push(sound);
            } else if sound.kind == SoundKind::Quiet && sound.span.start < border {
                let Span { start, end } = sound.span;
                given.push(Sound { span: Span::new(start, border), ..sound.clone() });
                kept.push(Sound { span: Span::new(border, end), ..sound });
            } else {
                kept.push(sound);
            }
        }
        self.found = kept;
        if let (Some(since), Some(heard)) = (self.quiet, self.heard)
            && since < border
        {
            given.push(self.quiet_sound(Span::new(since, border.min(heard))));
            self.quiet = Some(border.min(heard));
        }
        given.retain(|sound| sound.kind == SoundKind::Loud || sound.span.secs() >= QUIET_SECS);
        given.sort_by_key(|sound| (sound.span, sound.kind));
        given
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let speech = f64::from(open.speech) > SPEECH_SHARE * f64::from(open.frames);
        if speech || open.beside && open.span.secs() < SHORT_SECS {
            return;
        }
        self.found.push(Sound {
            source: self.source.clone(),
            span: open.span,
            kind: SoundKind::Loud,
            peak_dbfs: open.peak_dbfs,
            background_dbfs: open.background_dbfs,
        });
    }

    fn end_quiet(&mut self, at: Timestamp) {
        if let Some(since) = self.quiet.take()
            && since < at
        {
            let sound = self.quiet_sound(Span::new(since, at));
            self.found.push(sound);
        }
    }

    fn quiet_sound(&self, span: Span) -> Sound {
        let level = self.background.unwrap_or(FLOOR_DBFS);
        Sound {
            source: self.source.clone(),
            span,
            kind: SoundKind::Quiet,
            peak_dbfs: level,
            background_dbfs: level,
        }
    }
}

/// Seconds of a frame.
const FRAME_SECS: f64 = FRAME as f64 / SAMPLE_RATE as f64;

/// Mean level of a frame, dB relative to full scale.
fn level(frame: &[f32]) -> f32 {
    let power: f64 = frame.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
    let mean = power / frame.len().max(1) as f64;
    ((10.0 * mean.log10()) as f32).max(FLOOR_DBFS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    /// Hears stretches of (seconds, amplitude, speech probability), one after the other.
    fn heard(stretches: &[(f64, f32, f32)]) -> SoundEventDetector {
        let mut finder = SoundEventDetector::new(SourceId::new("mic"), 0.5);
        let mut number = 0;
        for (secs, amplitude, probability) in stretches {
            for _ in 0..(secs / FRAME_SECS).round() as usize {
                let frame: Vec<f32> =
                    (0..FRAME).map(|n| if n % 2 == 0 { *amplitude } else { -*amplitude }).collect();
                finder.hear(at(f64::from(number) * FRAME_SECS), &frame, *probability);
                number += 1;
            }
        }
        finder
    }

    fn kinds(sounds: &[Sound]) -> Vec<(SoundKind, i64, i64)> {
        let tenths = |at: Timestamp| (at.secs_since(Timestamp::EPOCH) * 10.0).round() as i64;
        sounds.iter().map(|s| (s.kind, tenths(s.span.start), tenths(s.span.end))).collect()
    }

    #[test]
    fn a_bang_in_a_quiet_room_is_a_loud_sound_between_two_quiet_ones() {
        let mut finder = heard(&[(6.4, 0.001, 0.0), (0.32, 0.4, 0.1), (6.4, 0.001, 0.0)]);
        let found = finder.until(at(20.0));
        assert_eq!(
            kinds(&found),
            [(SoundKind::Quiet, 0, 64), (SoundKind::Loud, 64, 67), (SoundKind::Quiet, 67, 131)]
        );
        assert!((found[1].peak_dbfs - -7.96).abs() < 0.1, "{found:?}");
        assert!((found[1].background_dbfs - -60.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn loud_speech_and_what_is_said_sharply_are_no_sounds() {
        let speech = [(4.0, 0.001, 0.0), (2.0, 0.3, 0.9), (0.1, 0.3, 0.1), (4.0, 0.001, 0.0)];
        let found = heard(&speech).until(at(20.0));
        assert!(found.iter().all(|sound| sound.kind == SoundKind::Quiet), "{found:?}");
        let before = [(4.0, 0.001, 0.0), (0.1, 0.3, 0.1), (2.0, 0.01, 0.9), (4.0, 0.001, 0.0)];
        let found = heard(&before).until(at(20.0));
        assert!(found.iter().all(|sound| sound.kind == SoundKind::Quiet), "{found:?}");
    }

    #[test]
    fn a_noise_that_stays_becomes_background() {
        let mut finder = heard(&[(4.0, 0.001, 0.0), (120.0, 0.1, 0.0)]);
        let found = finder.until(at(200.0));
        let loud: Vec<_> = found.iter().filter(|s| s.kind == SoundKind::Loud).collect();
        let last = loud.last().map(|s| s.span.end.secs_since(Timestamp::EPOCH));
        assert!(last.is_some_and(|last| last < 40.0), "{found:?}");
        assert!(loud.iter().all(|s| s.span.secs() <= LONGEST_SECS + FRAME_SECS));
    }

    #[test]
    fn quiet_is_cut_at_a_border_and_goes_on_after_it() {
        let mut finder = heard(&[(32.0, 0.001, 0.0)]);
        assert_eq!(kinds(&finder.until(at(10.0))), [(SoundKind::Quiet, 0, 100)]);
        assert_eq!(kinds(&finder.until(at(30.0))), [(SoundKind::Quiet, 100, 300)]);
        assert_eq!(kinds(&finder.until(at(60.0))), [], "two seconds are a pause");
        finder.flush();
        assert_eq!(finder.until(at(60.0)), [], "nothing is left");
    }

    #[test]
    fn digital_silence_and_a_whisper_are_not_loud() {
        let mut finder = heard(&[(5.0, 0.0, 0.0), (1.0, 0.01, 0.0), (5.0, 0.0, 0.0)]);
        let found = finder.until(at(20.0));
        assert!(found.iter().all(|sound| sound.kind == SoundKind::Quiet), "{found:?}");
    }
}
