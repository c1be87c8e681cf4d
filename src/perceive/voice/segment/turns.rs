//! Cuts a microphone's sound into turns, as it comes.
//!
//! One [`TurnSegmenter`] per microphone, fed in capture order. What it gives depends on the samples and
//! their times alone, not on how they were cut into blocks; its state can be kept at any point and
//! taken up again.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::segmenter::{Segmenter, SpeechSegment};
use super::sound_events::SoundEventDetector;
use super::vad::{FRAME, VadState, VoiceActivity};
use crate::config::VoicePerception;
use crate::ids::{SourceId, TurnId};
use crate::media::{Block, SAMPLE_RATE};
use crate::perceive::voice::{SpeakerEmbedder, VoiceError};
use crate::percept::{Embedding, Sound, SpeechTurn};
use crate::time::{Span, Timestamp};

/// Turns begin and end on this grid: 10 ms.
pub const STEP: usize = 160;
/// Blocks whose time is off by less are taken as following each other, seconds.
const JITTER_SECS: f64 = 0.03;
/// A longer hole in the sound ends the open turn; shorter ones are filled with silence, seconds.
const MAX_HOLE_SECS: f64 = 0.25;
/// A turn that grows too long is cut in the part after this share of its greatest length.
const CUT_FROM: f64 = 0.5;
/// The quietest place is where this many samples around it have the least power: 200 ms.
const QUIET: usize = 3200;
/// Quieter than anything recorded, for turns of digital silence.
const SILENCE_DBFS: f32 = -120.0;

/// A stretch of speech before anybody asked whose it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RawTurn {
    /// Which microphone.
    pub source: SourceId,
    /// First to last speech and a little around it, 10 ms steps.
    pub span: Span,
    /// The sound, 16 kHz mono.
    pub sound: Arc<[f32]>,
    /// Speech probability of each 10 ms of the sound, 0–1.
    pub activity: Vec<f32>,
    /// Seconds of speech inside.
    pub speech_secs: f64,
    /// Mean level of the speech, dB relative to full scale.
    pub level_dbfs: f32,
}

impl RawTurn {
    /// Measures a stretch: level and seconds of what is speech by `activity`.
    #[must_use]
    pub fn new(
        source: SourceId,
        start: Timestamp,
        sound: Arc<[f32]>,
        activity: Vec<f32>,
        threshold: f32,
    ) -> Self {
        let (mut power, mut count) = (0.0_f64, 0_usize);
        for (step, _) in sound.chunks(STEP).zip(&activity).filter(|(_, p)| **p >= threshold) {
            power += step.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>();
            count += step.len();
        }
        let level = 10.0 * (power / count.max(1) as f64).log10();
        let span = Span::new(start, start.plus_secs(secs(sound.len())));
        Self {
            source,
            span,
            sound,
            activity,
            speech_secs: secs(count),
            level_dbfs: (level as f32).max(SILENCE_DBFS),
        }
    }

    /// Whether it has the speech that a trustworthy vector takes, and the sound that `embedder` needs.
    #[must_use]
    pub fn has_voice(&self, embedder: &dyn SpeakerEmbedder, min_embed_secs: f64) -> bool {
        self.speech_secs >= min_embed_secs && self.span.secs() >= embedder.min_secs()
    }

    /// The turn with its number and voice.
    #[must_use]
    pub fn into_turn(self, id: TurnId, embedding: Option<Embedding>) -> SpeechTurn {
        SpeechTurn {
            id,
            source: self.source,
            span: self.span,
            speech_secs: self.speech_secs,
            level_dbfs: self.level_dbfs,
            embedding,
            words: None,
            overlapped: false,
            distinct: None,
            own: false,
            sound: self.sound,
        }
    }
}

/// The turn that goes on now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenTurn<'a> {
    /// From its start to the last speech so far.
    pub span: Span,
    /// The sound of the span.
    pub sound: &'a [f32],
    /// Somebody speaks at this moment (not in a pause that may still end the turn).
    pub speaking: bool,
}

/// All that a [`TurnSegmenter`] remembers; part of a clip's checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnSegmenterState {
    source: SourceId,
    /// Time of sample 0 of the present run of unbroken sound.
    anchor: Option<Timestamp>,
    vad: VadState,
    segmenter: Segmenter,
    /// Number of the first sample kept, a multiple of [`FRAME`].
    base: u64,
    /// Samples from `base` on: lead-in, the open turn, and less than a frame that the VAD has not seen.
    sound: Vec<f32>,
    /// Probability of each frame from `base` on.
    probabilities: VecDeque<f32>,
    /// First sample that no turn has yet.
    free: u64,
    /// Where the open turn begins because its first part was cut off.
    cut: Option<u64>,
    next_turn: u64,
    sounds: SoundEventDetector,
}

/// Sound of one microphone in, turns out.
pub struct TurnSegmenter {
    settings: VoicePerception,
    vad: Box<dyn VoiceActivity>,
    state: TurnSegmenterState,
}

impl TurnSegmenter {
    /// A finder that has heard nothing.
    #[must_use]
    pub fn new(source: SourceId, settings: VoicePerception, vad: Box<dyn VoiceActivity>) -> Self {
        let sounds = SoundEventDetector::new(source.clone(), settings.threshold);
        let state = TurnSegmenterState::deaf(source, &settings, 1, sounds);
        Self { settings, vad, state }
    }

    /// Takes up where `state` was kept.
    #[must_use]
    pub fn resume(
        settings: VoicePerception,
        vad: Box<dyn VoiceActivity>,
        state: TurnSegmenterState,
    ) -> Self {
        Self { settings, vad, state }
    }

    /// All that it remembers, the open turn's samples included.
    #[must_use]
    pub fn state(&self) -> &TurnSegmenterState {
        &self.state
    }

    /// Numbers a turn: 1, 2, … in the order of asking; kept with the state.
    pub fn number(&mut self) -> TurnId {
        let id = TurnId(self.state.next_turn);
        self.state.next_turn += 1;
        id
    }

    /// Hears the next block; gives the turns that ended with it, in time order.
    ///
    /// A hole in the sound ends the open turn; sound that was heard already is passed over.
    ///
    /// # Errors
    /// When the voice activity model fails.
    pub fn push(&mut self, block: &Block) -> Result<Vec<RawTurn>, VoiceError> {
        let mut turns = Vec::new();
        let mut samples = &block.samples[..];
        if let Some(anchor) = self.state.anchor {
            let hole = block.at.secs_since(at(anchor, self.state.heard()));
            if hole > MAX_HOLE_SECS || hole < -1.0 - secs(samples.len()) {
                turns = self.flush()?;
            } else if hole > JITTER_SECS {
                let silence = (hole * f64::from(SAMPLE_RATE)).round() as usize;
                self.hear(&vec![0.0; silence], &mut turns)?;
            } else if hole < -JITTER_SECS {
                let known = (-hole * f64::from(SAMPLE_RATE)).round() as usize;
                samples = samples.get(known..).unwrap_or_default();
            }
        }
        if !samples.is_empty() {
            self.state.anchor.get_or_insert(block.at);
            self.hear(samples, &mut turns)?;
        }
        Ok(turns)
    }

    /// Ends the sound: gives the open turn and forgets all but the numbering.
    ///
    /// # Errors
    /// When the voice activity model fails.
    pub fn flush(&mut self) -> Result<Vec<RawTurn>, VoiceError> {
        let mut turns = Vec::new();
        let heard = self.state.heard();
        let rest = self.state.unseen();
        if rest > 0 {
            self.hear(&vec![0.0; FRAME - rest], &mut turns)?;
        }
        if let Some(stretch) = self.state.segmenter.flush() {
            turns.extend(self.cut_out(stretch, heard));
        }
        self.state.sounds.flush();
        let TurnSegmenterState { source, next_turn, sounds, .. } = &self.state;
        self.state =
            TurnSegmenterState::deaf(source.clone(), &self.settings, *next_turn, sounds.clone());
        Ok(turns)
    }

    /// The turn that goes on now, as far as it was heard.
    #[must_use]
    pub fn open_turn(&self) -> Option<OpenTurn<'_>> {
        let anchor = self.state.anchor?;
        let stretch = self.state.segmenter.open()?;
        let (start, end) = self.bounds(stretch, self.state.heard());
        let sound = self.state.slice(start, end)?;
        let span = Span::new(at(anchor, start), at(anchor, end));
        Some(OpenTurn { span, sound, speaking: self.state.segmenter.speaking() })
    }

    /// Loud sounds that ended and quiet stretches, up to a clip's border; once the watermark has reached it.
    pub fn sounds_until(&mut self, border: Timestamp) -> Vec<Sound> {
        self.state.sounds.until(border)
    }

    /// All turns and loud sounds that end at or before this time have been given, and no later one starts before
    /// it. While a turn is open this is its start, since [`crate::perceive::voice::split_by_speaker`] may find ends anywhere inside.
    /// `None` before the first block and after [`TurnSegmenter::flush`]: then everything is known.
    #[must_use]
    pub fn watermark(&self) -> Option<Timestamp> {
        let anchor = self.state.anchor?;
        // Without an open turn: where a turn that the next frame opens would begin.
        let next = self.state.segmenter.frames();
        let stretch =
            self.state.segmenter.open().unwrap_or(SpeechSegment { start: next, end: next });
        let known = at(anchor, self.bounds(stretch, self.state.heard()).0);
        Some(self.state.sounds.loud_since().map_or(known, |since| since.min(known)))
    }

    fn hear(&mut self, samples: &[f32], turns: &mut Vec<RawTurn>) -> Result<(), VoiceError> {
        // One sample that is no number would make the model deaf for good.
        let sane = |v: &f32| if v.is_finite() { v.clamp(-1.0, 1.0) } else { 0.0 };
        self.state.sound.extend(samples.iter().map(sane));
        loop {
            let from = (self.state.seen() - self.state.base) as usize;
            let Some(frame) = self.state.sound.get(from..from + FRAME) else { break };
            let probability = self.vad.probability(&mut self.state.vad, frame)?;
            if let Some(anchor) = self.state.anchor {
                let start = at(anchor, self.state.seen());
                self.state.sounds.hear(start, frame, probability);
            }
            self.state.probabilities.push_back(probability);
            let ended = self.state.segmenter.push(probability);
            // A frame that is only partly heard yet must not be waited for: bounds end with what is seen.
            let seen = self.state.seen();
            if let Some(stretch) = ended {
                turns.extend(self.cut_out(stretch, seen));
            } else if let Some(stretch) = self.state.segmenter.open() {
                turns.extend(self.cut_long(stretch, seen));
            }
            self.state.forget(self.lead_frames());
        }
        Ok(())
    }

    /// Sample numbers of a stretch with its padding, on the 10 ms grid, not beyond `limit`.
    fn bounds(&self, stretch: SpeechSegment, limit: u64) -> (u64, u64) {
        let step = STEP as u64;
        let pad = (self.settings.pad_secs.max(0.0) * f64::from(SAMPLE_RATE)).round() as u64;
        let start = (stretch.start * FRAME as u64).saturating_sub(pad) / step * step;
        let start = self.state.cut.unwrap_or(start).max(self.state.free);
        let end = (stretch.end * FRAME as u64 + pad).min(limit).div_ceil(step) * step;
        // Rounding up must not reach beyond what there is.
        (start, end.min(limit / step * step).max(start))
    }

    /// The turn of an ended stretch; `None` when it has too little speech.
    fn cut_out(&mut self, stretch: SpeechSegment, limit: u64) -> Option<RawTurn> {
        let (start, end) = self.bounds(stretch, limit);
        let turn = self.raw_turn(start, end);
        self.state.free = end;
        self.state.cut = None;
        turn.filter(|turn| turn.speech_secs >= self.settings.min_speech_secs)
    }

    /// The first part of a turn that has grown too long, cut at its quietest place.
    fn cut_long(&mut self, stretch: SpeechSegment, seen: u64) -> Option<RawTurn> {
        let rate = f64::from(SAMPLE_RATE);
        let longest = (self.settings.max_turn_secs.max(1.0) * rate) as u64;
        let (start, _) = self.bounds(stretch, seen);
        if seen.saturating_sub(start) < longest {
            return None;
        }
        let from = start + (longest as f64 * CUT_FROM) as u64 / STEP as u64 * STEP as u64;
        let cut = (from..=seen - QUIET as u64)
            .step_by(STEP)
            .filter_map(|first| {
                let around = self.state.slice(first, first + QUIET as u64)?;
                let power: f64 = around.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
                Some((power, first + (QUIET / 2) as u64))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|(_, cut)| cut)?;
        let turn = self.raw_turn(start, cut);
        self.state.free = cut;
        self.state.cut = Some(cut);
        turn
    }

    fn raw_turn(&self, start: u64, end: u64) -> Option<RawTurn> {
        let anchor = self.state.anchor?;
        let sound: Arc<[f32]> = self.state.slice(start, end)?.into();
        let activity = (start..end)
            .step_by(STEP)
            .map(|sample| {
                let frame = (sample + STEP as u64 / 2 - self.state.base) / FRAME as u64;
                self.state.probabilities.get(frame as usize).copied().unwrap_or(0.0)
            })
            .collect();
        (!sound.is_empty()).then(|| {
            let source = self.state.source.clone();
            RawTurn::new(source, at(anchor, start), sound, activity, self.settings.threshold)
        })
    }

    /// Frames before now that the next turn's padding may reach into.
    fn lead_frames(&self) -> u64 {
        let pad = self.settings.pad_secs.max(0.0) * f64::from(SAMPLE_RATE) / FRAME as f64;
        pad.ceil() as u64 + 1
    }
}

impl TurnSegmenterState {
    /// Before any sound.
    fn deaf(
        source: SourceId,
        settings: &VoicePerception,
        next_turn: u64,
        sounds: SoundEventDetector,
    ) -> Self {
        Self {
            source,
            anchor: None,
            vad: VadState::default(),
            segmenter: Segmenter::new(settings),
            base: 0,
            sound: Vec::new(),
            probabilities: VecDeque::new(),
            free: 0,
            cut: None,
            next_turn,
            sounds,
        }
    }

    /// Samples that the voice activity model has judged.
    fn seen(&self) -> u64 {
        self.base + (self.probabilities.len() * FRAME) as u64
    }

    /// Samples heard.
    fn heard(&self) -> u64 {
        self.base + self.sound.len() as u64
    }

    /// Samples heard and not judged.
    fn unseen(&self) -> usize {
        (self.heard() - self.seen()) as usize
    }

    fn slice(&self, start: u64, end: u64) -> Option<&[f32]> {
        let first = usize::try_from(start.checked_sub(self.base)?).ok()?;
        let last = usize::try_from(end.checked_sub(self.base)?).ok()?;
        self.sound.get(first..last)
    }

    /// Drops what no turn can need any more.
    fn forget(&mut self, lead: u64) {
        let frame = FRAME as u64;
        let needed = match (self.segmenter.open(), self.cut) {
            (Some(_), Some(cut)) => cut / frame,
            (Some(open), None) => open.start.saturating_sub(lead),
            (None, _) => self.segmenter.frames().saturating_sub(lead),
        };
        let drop = needed.saturating_sub(self.base / frame) as usize;
        // Moving the rest to the front costs; do it in larger steps. The limit is a constant, so that
        // what is kept depends on the samples alone.
        if drop >= 32 {
            self.sound.drain(..drop * FRAME);
            self.probabilities.drain(..drop);
            self.base += (drop * FRAME) as u64;
        }
    }
}

fn secs(samples: usize) -> f64 {
    samples as f64 / f64::from(SAMPLE_RATE)
}

/// Time of a sample of the run that began at `anchor`, to the nanosecond (62,500 ns per sample).
fn at(anchor: Timestamp, sample: u64) -> Timestamp {
    let nanos = 1_000_000_000 / i64::from(SAMPLE_RATE);
    Timestamp::from_nanos(anchor.as_nanos().saturating_add((sample as i64).saturating_mul(nanos)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::ModelHash;

    /// Loud sound is speech: tells the cutting apart from the network.
    struct Loudness;

    impl VoiceActivity for Loudness {
        fn probability(&mut self, _: &mut VadState, frame: &[f32]) -> Result<f32, VoiceError> {
            let power: f32 = frame.iter().map(|v| v * v).sum::<f32>() / frame.len() as f32;
            Ok(if power > 1e-3 { 0.9 } else { 0.05 })
        }
        fn hash(&self) -> ModelHash {
            ModelHash([0; 32])
        }
        fn name(&self) -> &str {
            "loudness"
        }
    }

    fn finder() -> TurnSegmenter {
        TurnSegmenter::new(SourceId::new("mic"), VoicePerception::default(), Box::new(Loudness))
    }

    fn tone(secs: f64, amplitude: f32) -> Vec<f32> {
        (0..(secs * 16_000.0) as usize).map(|n| amplitude * (n as f32 * 0.3).sin()).collect()
    }

    fn scene() -> Vec<f32> {
        [tone(1.0, 0.0), tone(1.5, 0.3), tone(0.8, 0.0), tone(0.1, 0.3), tone(1.0, 0.0)]
            .into_iter()
            .chain([tone(12.0, 0.3), tone(0.2, 0.0), tone(20.0, 0.3), tone(0.7, 0.0)])
            .flatten()
            .collect()
    }

    fn feed(finder: &mut TurnSegmenter, sound: &[f32], from: usize, size: usize) -> Vec<RawTurn> {
        let start = Timestamp::from_nanos(1_000_000_000_000);
        let mut turns = Vec::new();
        for (n, samples) in sound.chunks(size).enumerate() {
            let at = at(start, (from + n * size) as u64);
            let block = Block { source: SourceId::new("mic"), at, samples: samples.into() };
            turns.extend(finder.push(&block).unwrap());
        }
        turns
    }

    #[test]
    fn turns_do_not_depend_on_the_size_of_blocks() {
        let sound = scene();
        let run = |size| {
            let mut finder = finder();
            let mut turns = feed(&mut finder, &sound, 0, size);
            turns.extend(finder.flush().unwrap());
            turns
        };
        let whole = run(sound.len());
        assert_eq!(whole.len(), 4, "{:?}", whole.iter().map(|t| t.span.secs()).collect::<Vec<_>>());
        for size in [100, 160, 512, 1600, 4801] {
            assert_eq!(run(size), whole, "blocks of {size}");
        }
    }

    #[test]
    fn long_turns_are_cut_where_it_is_quiet_and_nothing_is_lost() {
        let mut finder = finder();
        let turns = feed(&mut finder, &scene(), 0, 1600);
        let pause = 4.4 + 12.0 + 0.1;
        let cut = turns[1].span.end.secs_since(Timestamp::from_nanos(1_000_000_000_000));
        assert!((cut - pause).abs() < 0.06, "{cut}");
        assert_eq!(turns[1].span.end, turns[2].span.start);
        assert!(turns.iter().all(|turn| turn.span.secs() <= 20.0));
        for turn in &turns {
            assert_eq!(turn.sound.len() % STEP, 0);
            assert_eq!(turn.activity.len(), turn.sound.len() / STEP);
        }
    }

    #[test]
    fn a_state_kept_in_the_middle_goes_on_as_if_nothing_had_happened() {
        let sound = scene();
        let mut finder = self::finder();
        let mut whole = feed(&mut finder, &sound, 0, 1600);
        whole.extend(finder.flush().unwrap());
        for cut in (16_000..sound.len()).step_by(37_000) {
            let mut first = self::finder();
            let mut turns = feed(&mut first, &sound[..cut], 0, 1600);
            let bytes = bincode::serde::encode_to_vec(first.state(), bincode::config::standard());
            let (state, _): (TurnSegmenterState, usize) =
                bincode::serde::decode_from_slice(&bytes.unwrap(), bincode::config::standard())
                    .unwrap();
            assert_eq!(&state, first.state());
            let settings = VoicePerception::default();
            let mut second = TurnSegmenter::resume(settings, Box::new(Loudness), state);
            turns.extend(feed(&mut second, &sound[cut..], cut, 800));
            turns.extend(second.flush().unwrap());
            assert_eq!(turns, whole, "cut at {cut}");
        }
    }

    #[test]
    fn no_turn_ends_before_the_watermark_that_was_told() {
        let sound = scene();
        let mut finder = finder();
        let mut told = Timestamp::EPOCH;
        for from in (0..sound.len()).step_by(800) {
            let to = (from + 800).min(sound.len());
            for turn in feed(&mut finder, &sound[from..to], from, 800) {
                assert!(turn.span.end > told, "{} after {told}", turn.span);
            }
            let watermark = finder.watermark().unwrap();
            assert!(watermark >= told);
            told = watermark;
            if let Some(open) = finder.open_turn() {
                assert_eq!(open.span.start, told);
                assert!((secs(open.sound.len()) - open.span.secs()).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_hole_ends_the_turn_and_heard_sound_is_passed_over() {
        let mut finder = finder();
        let speech = tone(2.0, 0.3);
        assert!(feed(&mut finder, &speech, 0, 1600).is_empty());
        // Ten seconds later.
        let turns = feed(&mut finder, &speech, 160_000, 1600);
        assert_eq!(turns.len(), 1);
        assert!((turns[0].span.secs() - 2.0).abs() < 0.02);
        // The last second once more, then silence.
        assert!(feed(&mut finder, &speech[..16_000], 176_000, 1600).is_empty());
        let turns = feed(&mut finder, &tone(1.0, 0.0), 192_000, 1600);
        assert_eq!(turns.len(), 1);
        assert!((turns[0].span.secs() - 2.0).abs() < 0.1, "{}", turns[0].span.secs());
    }
}
