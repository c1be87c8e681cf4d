//! The open window as questions see it: faces followed and speech heard just now, with a first guess whose.

use std::sync::{Arc, Mutex, PoisonError};

use super::Gauges;
use crate::identify::Resolver;
use crate::ids::{SourceId, TurnId};
use crate::memory::{Memory, PresentFrame, PresentState, PresentTrack, PresentTurn};
use crate::percept::{FaceTrack, Life, SpeechTurn};
use crate::time::{Span, Timestamp};

/// Written by every stage, read by every question.
#[derive(Clone)]
pub(super) struct PresentBoard {
    memory: Memory,
    resolver: Arc<Mutex<Resolver>>,
    state: Arc<Mutex<PresentState>>,
    /// Live: where it is noted how late what is shown is.
    lateness: Option<Gauges>,
}

impl PresentBoard {
    pub(super) fn new(
        memory: Memory,
        resolver: Arc<Mutex<Resolver>>,
        lateness: Option<Gauges>,
    ) -> Self {
        Self { memory, resolver, state: Arc::default(), lateness }
    }

    /// The tracks that a camera follows at `at`.
    pub(super) fn tracks(&self, source: &SourceId, at: Timestamp, open: &[FaceTrack]) {
        let living = open.iter().filter(|track| track.life != Life::Picture);
        let shown: Vec<PresentTrack> = living.map(|track| self.track(track)).collect();
        self.change(at, |state| {
            state.tracks.retain(|track| track.source != *source);
            state.tracks.extend(shown);
            state.tracks.sort_by(|a, b| (&a.source, a.handle).cmp(&(&b.source, b.handle)));
        });
        if let Some(gauges) = self.lateness.as_ref().filter(|_| !open.is_empty()) {
            gauges.faces_shown(at);
        }
    }

    fn track(&self, track: &FaceTrack) -> PresentTrack {
        // A resolver that is busy with a clip is not waited for: the guess comes with the next frame.
        let guess = track
            .samples
            .first()
            .and_then(|sample| self.resolver.try_lock().ok()?.provisional_face(&sample.embedding));
        PresentTrack {
            handle: track.id,
            source: track.source.clone(),
            since: track.span.start,
            last: track.sightings.last().map_or(track.span.start, |sighting| sighting.at),
            provisional: guess.map(|(face, _, _)| face),
            similarity: guess.map(|(_, _, similarity)| similarity),
        }
    }

    /// A camera's newest analysed frame.
    pub(super) fn frame(&self, source: &SourceId, at: Timestamp, jpeg: &Arc<[u8]>) {
        let frame = PresentFrame { source: source.clone(), at, jpeg: Arc::clone(jpeg) };
        self.memory.present().show(frame);
    }

    /// The turn that is being spoken at a microphone, if any.
    pub(super) fn speaking(&self, source: &SourceId, at: Timestamp, open: Option<Span>) {
        self.change(at, |state| {
            let mut known = None;
            state.turns.retain(|turn| {
                let open = turn.source == *source && turn.end.is_none();
                if open {
                    known = turn.words.clone().map(|words| (turn.start, words));
                }
                !open
            });
            state.turns.extend(open.map(|span| PresentTurn {
                handle: TurnId(0),
                source: source.clone(),
                start: span.start,
                end: None,
                words: known.filter(|(start, _)| *start == span.start).map(|(_, words)| words),
                provisional: None,
                similarity: None,
            }));
        });
    }

    /// Words of the turn that is being spoken, as far as they are understood.
    pub(super) fn words(&self, source: &SourceId, start: Timestamp, text: &str) {
        self.change(start, |state| {
            let open = |turn: &&mut PresentTurn| {
                turn.source == *source && turn.end.is_none() && turn.start == start
            };
            if let Some(turn) = state.turns.iter_mut().find(open) {
                turn.words = Some(text.to_owned());
            }
        });
    }

    /// A turn that ended and waits for its clip to be sealed.
    pub(super) fn spoken(&self, turn: &SpeechTurn) {
        let guess = turn
            .embedding
            .as_ref()
            .and_then(|voice| self.resolver.try_lock().ok()?.provisional_voice(voice));
        self.change(turn.span.end, |state| {
            state.turns.push(PresentTurn {
                handle: turn.id,
                source: turn.source.clone(),
                start: turn.span.start,
                end: Some(turn.span.end),
                words: turn.words.as_ref().map(|words| words.text.clone()),
                provisional: guess.map(|(voice, _, _)| voice),
                similarity: guess.map(|(_, _, similarity)| similarity),
            });
        });
        if let Some(gauges) = &self.lateness {
            gauges.turn_shown(turn.span.end);
        }
    }

    /// A clip is committed: its rows take the place of what was shown of it.
    pub(super) fn sealed(&self, border: Timestamp) {
        self.change(border, |state| {
            state.turns.retain(|turn| turn.end.is_none_or(|end| end > border));
        });
    }

    /// Nothing goes on any more.
    pub(super) fn clear(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = PresentState::default();
        self.memory.present().set(PresentState::default());
        self.memory.present().forget_frames();
    }

    fn change(&self, at: Timestamp, change: impl FnOnce(&mut PresentState)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        state.updated = Some(state.updated.map_or(at, |updated| updated.max(at)));
        self.memory.present().set(state.clone());
    }
}
