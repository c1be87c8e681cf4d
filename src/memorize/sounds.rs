//! Sounds that mean something: each is told once, however many microphones heard it.

use std::sync::Arc;

use super::{Scene, Sentence};
use crate::memory::model::MemoryKind;
use crate::percept::SoundEvent;
use crate::time::Span;

/// What is heard again so soon goes on, seconds.
const GOES_ON_SECS: f64 = 5.0;

/// What was heard in the clip, but for what an earlier one told of and goes on.
pub(super) fn sentences(scene: &Scene<'_>) -> Vec<Sentence> {
    let mut heard: Vec<(Arc<str>, Span, &SoundEvent)> = Vec::new();
    for event in &scene.percepts.sound_events {
        let goes_on = |(what, span, _): &&mut (Arc<str>, Span, &SoundEvent)| {
            *what == event.what && event.span.start.secs_since(span.end) <= GOES_ON_SECS
        };
        match heard.iter_mut().rev().find(goes_on) {
            Some((_, span, _)) => span.end = span.end.max(event.span.end),
            None => heard.push((Arc::clone(&event.what), event.span, event)),
        }
    }
    heard.retain(|(_, _, first)| !first.continued);
    heard.into_iter().map(|(what, span, first)| sentence(&what, span, first)).collect()
}

/// "I heard a door bell at the hall's microphone for 3 s" in the third person.
fn sentence(what: &str, span: Span, first: &SoundEvent) -> Sentence {
    let what = crate::text::capitalised(what);
    let text = format!("{what} was heard by {} for {:.0} s.", first.source, span.secs().max(1.0));
    let mut sentence = Sentence::new(MemoryKind::Episodic, text, span, Vec::new());
    (sentence.importance, sentence.confidence) = (0.4, first.confidence);
    sentence
}
