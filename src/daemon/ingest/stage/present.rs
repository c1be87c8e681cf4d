//! The open window as questions see it: faces and bodies followed and speech heard just now, with a first guess whose.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::strangers::Strangers;
use crate::daemon::ingest::Gauges;
use crate::geometry::Rect;
use crate::identify::{Guess, Guesses, SharedResolver, is_on};
use crate::ids::{EntityId, EntityKind, SourceId, TrackId, TurnId};
use crate::memory::{
    Memory, PresentFall, PresentFrame, PresentMemory, PresentState, PresentTrack, PresentTurn,
    Stranger,
};
use crate::perceive::body::BodyHistory;
use crate::perceive::face::FaceHistory;
use crate::perceive::track::OpenTrack;
use crate::percept::{FaceSample, Liveness, SpeechTurn};
use crate::time::{Span, Timestamp};

/// A face that is followed.
type OpenFace<'a> = OpenTrack<'a, FaceHistory>;

/// What was guessed of one camera's tracks, and from what.
#[derive(Default)]
struct Guessed {
    from: Option<Arc<Guesses>>,
    /// By track: of which picture (the best one's time), and the guess.
    by_track: BTreeMap<TrackId, (Timestamp, Option<Guess>)>,
    /// By body: whose face was on it last.
    bodies: BTreeMap<TrackId, Guess>,
}

/// Bodies are shown under their numbers plus this: faces have the numbers below.
const BODIES_FROM: u64 = 1 << 40;

/// Where the faces and the bodies of a picture are.
pub(super) type Places = (Vec<(TrackId, Rect)>, Vec<(TrackId, Rect)>);

/// A body that is followed.
type OpenBody<'a> = OpenTrack<'a, BodyHistory>;

/// The handle that a body is shown under.
fn shown_as(body: &OpenBody<'_>) -> TrackId {
    TrackId(BODIES_FROM + body.id.0)
}

/// A face that is shown: whose it is by a guess, or which stranger's.
fn shown(
    source: &SourceId,
    track: &OpenFace<'_>,
    guess: Option<Guess>,
    stranger: Option<Stranger>,
) -> PresentTrack {
    PresentTrack {
        handle: track.id,
        source: source.clone(),
        since: track.since,
        last: track.last,
        provisional: guess.map(|guess| guess.part),
        similarity: guess.map(|guess| guess.confidence),
        stranger,
    }
}

/// Written by every stage, read by every question.
#[derive(Clone)]
pub(in crate::daemon::ingest) struct PresentBoard {
    memory: Memory,
    resolver: Arc<SharedResolver>,
    guessed: Arc<Mutex<BTreeMap<SourceId, Guessed>>>,
    strangers: Arc<Mutex<Strangers>>,
    /// Live: where it is noted how late what is shown is.
    lateness: Option<Gauges>,
}

impl PresentBoard {
    pub(in crate::daemon::ingest) fn new(
        memory: Memory,
        resolver: Arc<SharedResolver>,
        lateness: Option<Gauges>,
    ) -> Self {
        Self { memory, resolver, guessed: Arc::default(), strangers: Arc::default(), lateness }
    }

    /// The tracks that a camera follows at `at`.
    pub(in crate::daemon::ingest) fn tracks(
        &self,
        source: &SourceId,
        at: Timestamp,
        open: &[OpenFace<'_>],
        bodies: &[OpenBody<'_>],
        places: &Places,
    ) {
        let living: Vec<&OpenFace<'_>> =
            open.iter().filter(|track| track.life() != Liveness::Picture).collect();
        let guesses = self.guess(source, &living);
        let strangers = self.strangers(source, &living, &guesses, bodies, places);
        let of_faces = living.iter().map(|track| track.id).zip(guesses.iter().copied());
        let of_bodies = self.guess_bodies(source, of_faces.collect(), bodies, places);
        let of_faces = living.iter().zip(guesses).zip(strangers);
        let mut shown: Vec<PresentTrack> = of_faces
            .map(|((track, guess), stranger)| shown(source, track, guess, stranger))
            .collect();
        shown.extend(of_bodies);
        let falls = self.falls(source, bodies);
        self.change(at, |state| {
            state.falls.retain(|fall| fall.source != *source);
            state.falls.extend(falls);
            state.tracks.retain(|track| track.source != *source);
            state.tracks.extend(shown);
            state.tracks.sort_by(|a, b| (&a.source, a.handle).cmp(&(&b.source, b.handle)));
        });
        if let Some(gauges) = self.lateness.as_ref().filter(|_| !open.is_empty()) {
            gauges.faces_shown(at);
        }
    }

    /// Whose these faces of one camera may be. Asked anew only for a track whose best picture is another one than before, and
    /// when somebody was learned: a frame that brings nothing new costs nothing.
    fn guess(&self, source: &SourceId, tracks: &[&OpenFace<'_>]) -> Vec<Option<Guess>> {
        let from = self.resolver.guesses();
        let cameras = || self.guessed.lock().unwrap_or_else(PoisonError::into_inner);
        // (Out of the map meanwhile, so that no camera waits for another.)
        let mut known = cameras().remove(source).unwrap_or_default();
        if !known.from.as_ref().is_some_and(|old| Arc::ptr_eq(old, &from)) {
            known = Guessed {
                from: Some(Arc::clone(&from)),
                bodies: known.bodies,
                ..Guessed::default()
            };
        }
        let is_new = |(track, sample): &(TrackId, &FaceSample)| {
            known.by_track.get(track).is_none_or(|(of, _)| *of != sample.at)
        };
        let best = tracks.iter().filter_map(|track| Some((track.id, track.best()?)));
        let samples: Vec<(TrackId, &FaceSample)> = best.filter(is_new).collect();
        let embeddings: Vec<_> = samples.iter().map(|(_, sample)| &sample.embedding).collect();
        for ((track, sample), guess) in samples.iter().zip(from.faces(&embeddings)) {
            known.by_track.insert(*track, (sample.at, guess));
        }
        known.by_track.retain(|id, _| tracks.iter().any(|track| track.id == *id));
        let guesses = tracks.iter().map(|track| known.by_track.get(&track.id)?.1).collect();
        cameras().insert(source.clone(), known);
        guesses
    }

    /// Which strangers the faces are that look like nobody.
    fn strangers(
        &self,
        source: &SourceId,
        faces: &[&OpenFace<'_>],
        guesses: &[Option<Guess>],
        bodies: &[OpenBody<'_>],
        (face_places, body_places): &Places,
    ) -> Vec<Option<Stranger>> {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.renew(self.memory.erasures());
        let is_nobodys =
            |id| faces.iter().zip(guesses).any(|(face, guess)| face.id == id && guess.is_none());
        strangers
            .keep(source, |id| is_nobodys(id) || bodies.iter().any(|body| shown_as(body) == id));
        let on_body = |id: TrackId| {
            let (_, face) = face_places.iter().find(|(of, _)| *of == id)?;
            let (body, place) = body_places.iter().find(|(_, body)| is_on(*face, *body))?;
            let alone = face_places.iter().filter(|(_, face)| is_on(*face, *place)).count() == 1;
            bodies.iter().find(|one| one.id == *body && alone).map(shown_as)
        };
        let from = self.resolver.guesses();
        let of = |(at, (face, guess)): (usize, (&&OpenFace<'_>, &Option<Guess>))| {
            if guess.is_some() {
                return None;
            }
            let beside = faces.iter().enumerate().filter(|(other, _)| *other != at);
            let beside: Vec<TrackId> = beside.map(|(_, face)| face.id).collect();
            Some(strangers.face(source, face.id, face.best(), (on_body(face.id), &beside), &from))
        };
        faces.iter().zip(guesses).enumerate().map(of).collect()
    }

    /// The bodies that show no face now: whose face was last on them, alone.
    fn guess_bodies(
        &self,
        source: &SourceId,
        faces: BTreeMap<TrackId, Option<Guess>>,
        bodies: &[OpenBody<'_>],
        (face_places, body_places): &Places,
    ) -> Vec<PresentTrack> {
        let mut cameras = self.guessed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = &mut cameras.entry(source.clone()).or_default().bodies;
        known.retain(|id, _| bodies.iter().any(|body| body.id == *id));
        let mut shown = Vec::new();
        for body in bodies.iter().filter(|body| body.since < body.last) {
            let place = body_places.iter().find(|(id, _)| *id == body.id).map(|(_, place)| *place);
            let on =
                face_places.iter().filter(|(_, at)| place.is_some_and(|body| is_on(*at, body)));
            let on: Vec<TrackId> = on.map(|(id, _)| *id).collect();
            if let [face] = on.as_slice()
                && let Some(Some(guess)) = faces.get(face)
            {
                known.insert(body.id, *guess);
            }
            if on.is_empty() {
                let guess = known.get(&body.id);
                let stranger = guess.is_none().then(|| strangers.body(source, shown_as(body)));
                shown.push(PresentTrack {
                    handle: shown_as(body),
                    source: source.clone(),
                    since: body.since,
                    last: body.last,
                    provisional: guess.map(|guess| guess.part),
                    similarity: guess.map(|guess| guess.confidence),
                    stranger,
                });
            }
        }
        shown
    }

    /// The bodies that fell, with whose face was on each last.
    fn falls(&self, source: &SourceId, bodies: &[OpenBody<'_>]) -> Vec<PresentFall> {
        let cameras = self.guessed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cameras.get(source).map(|known| &known.bodies);
        let fall = |body: &OpenBody<'_>| {
            let guess = known.and_then(|known| known.get(&body.id));
            let provisional = guess.map(|guess| guess.part);
            Some(PresentFall { source: source.clone(), at: body.followed.fell()?, provisional })
        };
        bodies.iter().filter_map(fall).collect()
    }

    /// A camera's newest analysed frame.
    pub(in crate::daemon::ingest) fn frame(
        &self,
        source: &SourceId,
        at: Timestamp,
        jpeg: &Arc<[u8]>,
    ) {
        let frame = PresentFrame { source: source.clone(), at, jpeg: Arc::clone(jpeg) };
        self.memory.present().show(frame);
    }

    /// The turn that is being spoken at a microphone, if any.
    pub(in crate::daemon::ingest) fn speaking(
        &self,
        source: &SourceId,
        at: Timestamp,
        open: Option<Span>,
    ) {
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
                memory: None,
            }));
        });
    }

    /// Words of the turn that is being spoken, as far as they are understood.
    pub(in crate::daemon::ingest) fn words(&self, source: &SourceId, start: Timestamp, text: &str) {
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
    pub(in crate::daemon::ingest) fn spoken(&self, turn: &SpeechTurn) {
        let guess = turn.embedding.as_ref().and_then(|voice| self.resolver.guesses().voice(voice));
        self.change(turn.span.end, |state| {
            state.turns.push(PresentTurn {
                handle: turn.id,
                source: turn.source.clone(),
                start: turn.span.start,
                end: Some(turn.span.end),
                words: turn.words.as_ref().map(|words| words.text.clone()),
                provisional: guess.map(|guess| guess.part),
                similarity: guess.map(|guess| guess.confidence),
                memory: None,
            });
        });
        if let Some(gauges) = &self.lateness {
            gauges.turn_shown(turn.span.end);
        }
    }

    /// The words of a turn that ended, and the memory that it will be. A turn that is not shown any more, because its clip was
    /// sealed or something was erased, stays away; so does all that was made out before an erasure (`erasures`: those by then).
    pub(in crate::daemon::ingest) fn said(
        &self,
        turn: &SpeechTurn,
        memory: PresentMemory,
        erasures: u64,
    ) {
        let memory = Arc::new(memory);
        self.change(turn.span.end, |state| {
            let is_it = |shown: &&mut PresentTurn| {
                shown.source == turn.source
                    && shown.start == turn.span.start
                    && shown.end == Some(turn.span.end)
            };
            if self.memory.erasures() != erasures || self.memory.is_forgetting() {
                return;
            }
            if let Some(shown) = state.turns.iter_mut().find(is_it) {
                shown.words = turn.words.as_ref().map(|words| words.text.clone());
                shown.memory = Some(memory);
            }
        });
    }

    /// Who a turn sounds like: a person, or nobody that is known. `None`: it may be what is nobody's, where the robot's voice
    /// or a television's is known.
    pub(in crate::daemon::ingest) fn speaker(&self, turn: &SpeechTurn) -> Option<Option<EntityId>> {
        let guesses = self.resolver.guesses();
        let guess = turn.embedding.as_ref().and_then(|voice| guesses.voice(voice));
        let view = self.memory.view();
        let person = guess.map(|guess| view.resolve(guess.person));
        let person = person.filter(|id| id.kind == EntityKind::Person && view.knows(*id));
        (person.is_some() || !guesses.knows_asides()).then_some(person)
    }

    /// A clip is committed: its rows take the place of what was shown of it.
    pub(in crate::daemon::ingest) fn sealed(&self, boundary: Timestamp) {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner).sealed(boundary);
        self.change(boundary, |state| {
            state.turns.retain(|turn| turn.end.is_none_or(|end| end > boundary));
        });
    }

    /// Nothing goes on any more.
    pub(in crate::daemon::ingest) fn clear(&self) {
        self.memory.present().set(PresentState::default());
        self.memory.present().forget_frames();
    }

    fn change(&self, at: Timestamp, change: impl FnOnce(&mut PresentState)) {
        self.memory.present().change(|state| {
            change(state);
            state.updated = Some(state.updated.map_or(at, |updated| updated.max(at)));
        });
    }
}
