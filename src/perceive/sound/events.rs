//! Patches that are alike become an event, as they come.
//!
//! One [`SoundListener`] per microphone, fed in capture order. What it gives depends on the samples and their times alone, not on
//! how they were cut into blocks; its state can be kept at any point and taken up again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::spectrogram::{FRAMES, LogMel, PATCH, SHIFT};
use super::{SoundClassifier, SoundError};
use crate::config::SoundEventKind;
use crate::ids::SourceId;
use crate::media::{Block, SAMPLE_RATE};
use crate::percept::SoundEvent;
use crate::time::{Span, Timestamp};

/// Samples from one patch to the next: half of one.
const HOP: usize = FRAMES / 2 * SHIFT;
/// An event goes on while its patches are at least this share as sure as one that begins it must be.
const HOLD: f32 = 0.5;
/// … and over so many patches that are not.
const GAP: u32 = 2;
/// In one patch alone nothing is an event: what is over so soon is taken for anything.
const LEAST_PATCHES: u32 = 2;
/// Blocks whose time is off by less are taken as following each other, seconds.
const JITTER_SECS: f64 = 0.03;

/// What a microphone's listener remembers; part of a clip's checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoundListenerState {
    source: SourceId,
    /// Sound that no patch has begun before, and when it begins.
    sound: Vec<f32>,
    start: Option<Timestamp>,
    /// By kind of event.
    open: Vec<Option<Open>>,
    /// Found and not given yet.
    found: Vec<SoundEvent>,
}

/// An event that may go on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    span: Span,
    /// Patches that were sure enough to begin one.
    sure: u32,
    confidence: f32,
    /// Patches since that do not hold it.
    lost: u32,
    /// It was cut at a border: its first part was told.
    continued: bool,
}

/// Sound of one microphone in, events out.
pub struct SoundListener {
    classifier: Box<dyn SoundClassifier>,
    spectrogram: LogMel,
    kinds: Vec<Kind>,
    state: SoundListenerState,
}

/// A kind of event, and which of the classifier's classes are it.
struct Kind {
    name: Arc<str>,
    classes: Vec<usize>,
    min_score: f32,
}

impl SoundListener {
    /// One that has heard nothing, or goes on where `state` was kept.
    ///
    /// # Errors
    /// [`SoundError::Class`] where a kind names a class that the classifier does not have.
    pub fn new(
        source: SourceId,
        classifier: Box<dyn SoundClassifier>,
        kinds: &[SoundEventKind],
        state: Option<SoundListenerState>,
    ) -> Result<Self, SoundError> {
        let class = |event: &SoundEventKind, class: &String| {
            let known = classifier.classes().iter().position(|known| known == class);
            known.ok_or_else(|| SoundError::Class {
                model: classifier.name().to_owned(),
                event: event.name.clone(),
                class: class.clone(),
            })
        };
        let kind = |event: &SoundEventKind| {
            let classes = event.classes.iter().map(|name| class(event, name));
            let classes = classes.collect::<Result<Vec<usize>, SoundError>>()?;
            Ok(Kind { name: event.name.as_str().into(), classes, min_score: event.min_score })
        };
        let kinds = kinds.iter().map(kind).collect::<Result<Vec<Kind>, SoundError>>()?;
        let fresh = SoundListenerState {
            source,
            sound: Vec::new(),
            start: None,
            open: vec![None; kinds.len()],
            found: Vec::new(),
        };
        // Kinds that the configuration has now, whatever it had before.
        let mut state = state.unwrap_or(fresh);
        state.open.resize(kinds.len(), None);
        Ok(Self { classifier, spectrogram: LogMel::new(), kinds, state })
    }

    /// All that it remembers.
    #[must_use]
    pub fn state(&self) -> &SoundListenerState {
        &self.state
    }

    /// Hears the next block. A hole in the sound ends what goes on; sound that was heard already is passed over.
    ///
    /// # Errors
    /// When the model fails.
    pub fn push(&mut self, block: &Block) -> Result<(), SoundError> {
        let mut samples = &block.samples[..];
        if let Some(start) = self.state.start {
            let heard = start.plus_secs(secs(self.state.sound.len()));
            let hole = block.at.secs_since(heard);
            if hole > JITTER_SECS || hole < -1.0 - secs(samples.len()) {
                self.flush();
            } else if hole < -JITTER_SECS {
                let known = (-hole * f64::from(SAMPLE_RATE)).round() as usize;
                samples = samples.get(known..).unwrap_or_default();
            }
        }
        if samples.is_empty() {
            return Ok(());
        }
        self.state.start.get_or_insert(block.at);
        let sane = |v: &f32| if v.is_finite() { v.clamp(-1.0, 1.0) } else { 0.0 };
        self.state.sound.extend(samples.iter().map(sane));
        while self.state.sound.len() >= PATCH
            && let Some(start) = self.state.start
        {
            let patch = self.spectrogram.patch(&self.state.sound[..PATCH]);
            let scores = self.classifier.classify(&patch)?;
            self.hear(start, &scores);
            self.state.sound.drain(..HOP);
            self.state.start = Some(start.plus_secs(secs(HOP)));
        }
        Ok(())
    }

    /// Ends what goes on: the sound breaks off.
    pub fn flush(&mut self) {
        self.state.sound.clear();
        self.state.start = None;
        for kind in 0..self.kinds.len() {
            self.close(kind);
        }
    }

    /// Takes what ended at or before a clip's border, and what goes on up to it: that is cut there. By start and name.
    pub fn until(&mut self, border: Timestamp) -> Vec<SoundEvent> {
        let (mut given, later): (Vec<SoundEvent>, Vec<SoundEvent>) =
            std::mem::take(&mut self.state.found)
                .into_iter()
                .partition(|event| event.span.end <= border);
        self.state.found = later;
        for kind in 0..self.kinds.len() {
            let Some(open) = &mut self.state.open[kind] else { continue };
            let Span { start, end } = open.span;
            if open.sure >= LEAST_PATCHES && start < border && border < end {
                let cut = Open { span: Span::new(start, border), ..*open };
                (open.span.start, open.continued) = (border, true);
                given.push(self.event(kind, &cut));
            }
        }
        given.sort_by(|a, b| (a.span, &a.what).cmp(&(b.span, &b.what)));
        given
    }

    /// The scores of the patch that begins there.
    fn hear(&mut self, start: Timestamp, scores: &[f32]) {
        let span = Span::new(start, start.plus_secs(secs(PATCH)));
        for (at, kind) in self.kinds.iter().enumerate() {
            let of_class = |class: &usize| scores.get(*class).copied().unwrap_or_default();
            let score = kind.classes.iter().map(of_class).fold(0.0, f32::max);
            let (begins, holds) = (score >= kind.min_score, score >= HOLD * kind.min_score);
            match &mut self.state.open[at] {
                Some(open) if holds => {
                    open.span.end = span.end;
                    open.sure += u32::from(begins);
                    open.confidence = open.confidence.max(score);
                    open.lost = 0;
                }
                Some(open) => open.lost += 1,
                none if begins => {
                    let (sure, lost, continued) = (1, 0, false);
                    *none = Some(Open { span, sure, confidence: score, lost, continued });
                }
                _ => {}
            }
        }
        for kind in 0..self.kinds.len() {
            if self.state.open[kind].is_some_and(|open| open.lost > GAP) {
                self.close(kind);
            }
        }
    }

    fn close(&mut self, kind: usize) {
        let Some(open) = self.state.open[kind].take() else { return };
        if open.sure >= LEAST_PATCHES {
            let event = self.event(kind, &open);
            self.state.found.push(event);
        }
    }

    fn event(&self, kind: usize, open: &Open) -> SoundEvent {
        SoundEvent {
            source: self.state.source.clone(),
            span: open.span,
            what: Arc::clone(&self.kinds[kind].name),
            confidence: open.confidence,
            continued: open.continued,
        }
    }
}

fn secs(samples: usize) -> f64 {
    samples as f64 / f64::from(SAMPLE_RATE)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Hears how loud a patch is: the class "loud" as sure as its loudest band is high.
    struct Loudness(Vec<String>);

    impl SoundClassifier for Loudness {
        fn classify(&mut self, patch: &[f32]) -> Result<Vec<f32>, SoundError> {
            let loudest = patch.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            Ok(vec![(loudest / 4.0).clamp(0.0, 1.0), 0.0])
        }

        fn classes(&self) -> &[String] {
            &self.0
        }

        fn name(&self) -> &str {
            "loudness.onnx"
        }
    }

    fn listener(state: Option<SoundListenerState>) -> SoundListener {
        let classifier = Loudness(["loud", "never"].map(str::to_owned).to_vec());
        let kind = |name: &str, classes: &[&str]| SoundEventKind {
            name: name.to_owned(),
            classes: classes.iter().map(|class| (*class).to_owned()).collect(),
            min_score: 0.5,
        };
        let kinds = [kind("horn", &["never", "loud"]), kind("nothing", &["never"])];
        SoundListener::new(SourceId::new("mic"), Box::new(classifier), &kinds, state).unwrap()
    }

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    /// Sound of so many seconds in which a horn blows at these times, cut into blocks of so many samples.
    fn hear(listener: &mut SoundListener, length: f64, horns: &[(f64, f64)], block: usize) {
        let rate = f64::from(SAMPLE_RATE);
        let sample = |n: usize| {
            let t = n as f64 / rate;
            let blows = horns.iter().any(|(from, to)| (*from..*to).contains(&t));
            if blows { (0.5 * (2_000.0 * t).sin()) as f32 } else { 0.0 }
        };
        let sound: Vec<f32> = (0..(length * rate) as usize).map(sample).collect();
        for (number, samples) in sound.chunks(block).enumerate() {
            let at = at((number * block) as f64 / rate);
            let source = SourceId::new("mic");
            listener.push(&Block { source, at, samples: samples.into() }).unwrap();
        }
    }

    /// Start and end in seconds, and whether it goes on from an earlier part.
    fn told(events: &[SoundEvent]) -> Vec<(f64, f64, bool)> {
        let secs = |at: Timestamp| (at.secs_since(Timestamp::EPOCH) * 100.0).round() / 100.0;
        let one = |event: &SoundEvent| {
            assert_eq!(&*event.what, "horn");
            (secs(event.span.start), secs(event.span.end), event.continued)
        };
        events.iter().map(one).collect()
    }

    #[test]
    fn an_event_lasts_as_long_as_it_is_heard_and_what_is_over_at_once_is_none() {
        for block in [160, 1_024, 16_000] {
            let mut listener = listener(None);
            // Between two patches of which only one hears it whole lies the click at 12 s.
            hear(&mut listener, 20.0, &[(2.0, 5.0), (5.6, 6.0), (12.0, 12.001)], block);
            let events = told(&listener.until(at(20.0)));
            assert_eq!(events.len(), 1, "{events:?}");
            let (start, end, continued) = events[0];
            assert!(!continued);
            assert!((1.0..=2.0).contains(&start) && (6.0..=7.0).contains(&end), "{start} {end}");
        }
    }

    #[test]
    fn what_goes_on_is_cut_at_the_border_and_a_checkpoint_goes_on() {
        let mut first = listener(None);
        hear(&mut first, 12.0, &[(2.0, 60.0)], 1_600);
        let before = first.until(at(10.0));
        let config = bincode::config::standard();
        let bytes = bincode::serde::encode_to_vec(first.state(), config).unwrap();
        let state = bincode::serde::decode_from_slice(&bytes, config).unwrap().0;
        let mut second = listener(Some(state));
        // The sound breaks off.
        second.flush();
        let after = second.until(at(20.0));
        let (before, after) = (told(&before), told(&after));
        assert_eq!((before.len(), after.len()), (1, 1), "{before:?} {after:?}");
        assert!(before[0].1 == 10.0 && !before[0].2 && after[0].0 == 10.0 && after[0].2);
    }

    #[test]
    fn a_class_that_the_model_does_not_know_is_named() {
        let classifier = Loudness(vec!["loud".to_owned()]);
        let kind = SoundEventKind {
            name: "dog".to_owned(),
            classes: vec!["Brak".to_owned()],
            min_score: 0.5,
        };
        let made = SoundListener::new(SourceId::new("mic"), Box::new(classifier), &[kind], None);
        let error = made.err().unwrap().to_string();
        assert!(error.contains("Brak") && error.contains("loudness.onnx"), "{error}");
    }
}
