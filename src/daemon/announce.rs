//! What a session reports becomes events, status and descriptions for everybody who listens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::ingest::{ClipReport, LateWords, PartialWords};
use super::queries::{name_of, watch_event};
use crate::answer;
use crate::identify::IdentifiedClip;
use crate::ids::{ClipId, EntityId, EntityKind, FiringId, SessionId, TurnId};
use crate::memory::model::{MemoryRow, NameRow};
use crate::memory::{FiringRow, FiringState, Memory, View};
use crate::mention;
use crate::mqtt::Publisher;
use crate::mqtt::message::{
    Acquaintance, Home, LastAnswer, LastWords, MemoryEvent, PersonEvent, PersonEventKind, Say,
    SpeechEvent,
};
use crate::percept::SpeechTurn;
use crate::time::{Span, Timestamp};

/// What is known of persons between two clips, and what `status` said last.
#[derive(Debug, Default)]
struct State {
    /// Persons of the newest clip: when last perceived, and by which source.
    here: BTreeMap<EntityId, (Timestamp, String)>,
    session: Option<SessionId>,
    /// Missing or impaired abilities by their cause, so that each can be taken back.
    degraded: BTreeMap<String, Vec<String>>,
    last_words: Option<LastWords>,
    last_answer: Option<LastAnswer>,
}

/// Takes what the robot is made to say, before it does.
type HearsItself = Box<dyn Fn(&str) + Send + Sync>;
/// Takes which time is to be kept of the ring.
type Keeps = Box<dyn Fn(Span) + Send + Sync>;
/// So much around what an important memory tells of is kept with it, seconds.
const AROUND_SECS: f64 = 2.0;

/// Publishes; silent until it is given a publisher. Cheap to clone.
#[derive(Clone, Default)]
pub struct Announcer {
    publisher: Arc<OnceLock<Publisher>>,
    hears_itself: Arc<OnceLock<HearsItself>>,
    keeps: Arc<OnceLock<(Keeps, f32)>>,
    state: Arc<Mutex<State>>,
}

impl Announcer {
    /// From now on everything is published there; the status at once.
    pub fn publish_to(&self, publisher: Publisher) {
        if self.publisher.set(publisher).is_ok() {
            self.publish_status(&self.lock());
        }
    }

    /// From now on `hear` is told what watches say, so that the robot knows its own words again.
    pub fn hears_itself(&self, hear: impl Fn(&str) + Send + Sync + 'static) {
        self.hears_itself.set(Box::new(hear)).ok();
    }

    /// From now on `keep` is told which time a watch wants kept of the ring, and of which a memory tells that is at least
    /// so `important` (0–1; 0: none is).
    pub fn keeps(&self, important: f32, keep: impl Fn(Span) + Send + Sync + 'static) {
        self.keeps.set((Box::new(keep), important)).ok();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publisher(&self) -> Option<&Publisher> {
        self.publisher.get()
    }

    /// What `cause` takes away; nothing: it is well again. Published when it changes.
    pub fn degraded(&self, cause: &str, missing: Vec<String>) {
        let mut state = self.lock();
        let before = state.degraded.get(cause).map(Vec::as_slice).unwrap_or_default();
        if before == missing.as_slice() {
            return;
        }
        state.degraded.insert(cause.to_owned(), missing);
        self.publish_status(&state);
    }

    /// What is being remembered now. Published when it changes.
    pub fn session(&self, session: Option<SessionId>) {
        let mut state = self.lock();
        if state.session != session {
            state.session = session;
            self.publish_status(&state);
        }
    }

    /// How many abilities are missing or impaired.
    #[must_use]
    pub fn impaired(&self) -> usize {
        self.lock().degraded.values().map(Vec::len).sum()
    }

    /// One line for systemd and people.
    #[must_use]
    pub fn status_line(&self) -> String {
        let state = self.lock();
        let missing = state.degraded.values().map(Vec::len).sum::<usize>();
        let what = match state.session {
            Some(session) => format!("remembering session {session}"),
            None => "answering".to_owned(),
        };
        match missing {
            0 => what,
            1 => format!("{what}, 1 ability impaired"),
            more => format!("{what}, {more} abilities impaired"),
        }
    }

    fn publish_status(&self, state: &State) {
        let Some(publisher) = self.publisher() else { return };
        let degraded: Vec<String> = state.degraded.values().flatten().cloned().collect();
        publisher.status(&degraded, state.session);
    }

    /// A session is over: whoever was here is out of view.
    pub fn session_ended(&self, view: &View) {
        let gone = std::mem::take(&mut self.lock().here);
        for (person, (at, source)) in gone {
            self.person(view, PersonEventKind::Left, person, at, Some(source), false);
        }
        self.session(None);
    }

    /// A clip is committed.
    pub fn clip(&self, memory: &Memory, clip: &ClipReport) {
        self.session(Some(clip.clip.session));
        if self.publisher().is_none() {
            return;
        }
        let view = memory.view();
        let here = perceived(&view, clip);
        let before = std::mem::replace(&mut self.lock().here, here.last.clone());
        let fresh: BTreeSet<EntityId> =
            clip.identified.new_persons.iter().map(|id| view.resolve(*id)).collect();
        for (person, (at, source)) in &here.first {
            if fresh.contains(person) {
                self.person(&view, PersonEventKind::New, *person, *at, Some(source.clone()), true);
            }
            if !before.contains_key(person) {
                let fresh = fresh.contains(person);
                let source = Some(source.clone());
                self.person(&view, PersonEventKind::Appeared, *person, *at, source, fresh);
            }
        }
        for merge in &clip.identified.merges {
            self.person(&view, PersonEventKind::Merged, merge.from, clip.end, None, false);
        }
        for name in &clip.identified.names {
            self.named(name, name.since);
        }
        for (person, (at, source)) in before {
            let person = view.resolve(person);
            if !here.last.contains_key(&person) {
                self.person(&view, PersonEventKind::Left, person, at, Some(source), false);
            }
        }
        self.speech(&view, &clip.spoken, &clip.identified);
        for row in &clip.memory_rows {
            self.memory(&view, row);
        }
        self.visits(memory, &view, clip.clip);
        self.fired(memory, &clip.firings);
    }

    /// Watches fired, or were wrong when they did.
    pub fn fired(&self, memory: &Memory, firings: &[FiringRow]) {
        let Some(publisher) = self.publisher() else { return };
        let view = memory.view();
        let watches = view.watches();
        for firing in firings {
            let watch = watches.iter().map(|(_, watch)| watch).find(|one| one.id == firing.watch);
            let wanted = watch.and_then(|watch| watch.rule.snapshot_secs);
            if let Some(secs) = wanted.filter(|_| firing.state != FiringState::Overturned)
                && let Some((keep, _)) = self.keeps.get()
            {
                keep(Span::new(firing.at.plus_secs(-secs), firing.at.plus_secs(secs)));
            }
            let event = watch_event(&view, firing);
            publisher.event_watch(&event);
            if let Some(text) = event.say.filter(|_| firing.state != FiringState::Overturned) {
                if let Some(hear) = self.hears_itself.get() {
                    hear(&text);
                }
                publisher.say(&Say { text, answer: None });
            }
        }
        if let Some(newest) = firings.iter().map(|firing| firing.id).max() {
            self.note_told(memory, newest);
        }
    }

    /// What fired and was kept before the last daemon was killed, and was not told of, is told now.
    pub fn fired_before(&self, memory: &Memory) {
        let view = memory.view();
        let firings = view.firings();
        let Some(newest) = firings.iter().map(|firing| firing.id).max() else { return };
        // (Nobody listened to what was remembered before there was a mark.)
        let told = memory.told_firing().ok().flatten();
        // An event is worth a day; and what a recording fired while nobody was to be told is older.
        let since = Timestamp::wall_clock().plus_secs(-86_400.0);
        let missed: Vec<FiringRow> = firings
            .iter()
            .filter(|firing| told.is_some_and(|told| firing.id > told) && firing.at >= since)
            .filter(|firing| firing.state != FiringState::Overturned)
            .map(|firing| FiringRow::clone(firing))
            .collect();
        match missed.is_empty() {
            true => self.note_told(memory, newest),
            false => self.fired(memory, &missed),
        }
    }

    /// Up to which firing everything is in the line to the broker.
    fn note_told(&self, memory: &Memory, newest: FiringId) {
        if let Err(error) = memory.note_told_firing(newest) {
            tracing::warn!(%error, "Which watches were told of is not noted: a restart tells of some again.");
        }
    }

    /// Whoever has gone as of that clip.
    fn visits(&self, memory: &Memory, view: &View, clip: ClipId) {
        let Some(publisher) = self.publisher() else { return };
        let absence_secs = memory.options().absence_secs;
        for stay in view.stays_ended_in(clip, absence_secs) {
            let mut visit = view.visit(&stay, absence_secs);
            visit.did = answer::did(view, &visit);
            publisher.event_visit(&visit);
        }
    }

    /// Words of a clip that was announced without them.
    pub fn words(&self, memory: &Memory, late: &LateWords) {
        let view = memory.view();
        for name in &late.identified.names {
            self.named(name, name.since);
        }
        self.speech(&view, std::slice::from_ref(&late.turn), &late.identified);
        for row in &late.memory_rows {
            self.memory(&view, row);
        }
    }

    fn speech(&self, view: &View, spoken: &[SpeechTurn], identified: &IdentifiedClip) {
        let Some(publisher) = self.publisher() else { return };
        // No wake phrase comes out of the robot's own mouth, or a television.
        for turn in spoken.iter().filter(|turn| !identified.is_non_person(turn.id)) {
            let person = identified.person_of_turn(turn.id).map(|id| view.resolve(id));
            let words = turn.words.as_ref().map(|words| words.text.clone());
            if let Some(text) = words.clone().filter(|text| !text.is_empty()) {
                let person = person.map(|id| view.display_name(id));
                self.lock().last_words = Some(LastWords { person, text, at: turn.span.end });
            }
            publisher.event_speech(&SpeechEvent {
                turn: turn.id.to_string(),
                person: person.map(|id| id.to_string()),
                name: person.and_then(|id| name_of(view, id)),
                start: turn.span.start,
                end: turn.span.end,
                text: words.filter(|text| !text.is_empty()),
                source: turn.source.to_string(),
                partial: false,
                wake: false,
            });
        }
    }

    /// A question was answered.
    pub fn answered(&self, question: &str, answer: &str, at: Timestamp) {
        let (question, answer) = (question.to_owned(), answer.to_owned());
        self.lock().last_answer = Some(LastAnswer { question, answer, at });
    }

    /// Something is about to be erased: what waits for the broker may speak of it.
    pub fn erasing(&self) {
        if let Some(publisher) = self.publisher() {
            publisher.erasing();
        }
    }

    /// It was not.
    pub fn erased_nothing(&self) {
        if let Some(publisher) = self.publisher() {
            publisher.erased_nothing();
        }
    }

    /// Something was erased: what was said and answered last may speak of it.
    pub fn erased(&self) {
        let mut state = self.lock();
        state.last_words = None;
        state.last_answer = None;
    }

    /// What a smart home shows: who is in view now, who spoke and what was answered last.
    #[must_use]
    pub fn home(&self, memory: &Memory) -> Home {
        let view = memory.view();
        let shown = |provisional: Option<EntityId>, handle: String| match provisional {
            Some(id) => view.display_name(view.resolve(id)),
            None => handle,
        };
        let present = memory.present().now();
        let seen = present.tracks.iter().map(|one| shown(one.provisional, one.handle.to_string()));
        let heard = present.turns.iter().filter_map(|turn| turn.provisional);
        let heard = heard.map(|id| shown(Some(id), String::new()));
        let persons: BTreeSet<String> = seen.chain(heard).collect();
        let tracks = present.tracks.iter().filter_map(|track| track.provisional);
        let turns = present.turns.iter().filter_map(|turn| turn.provisional);
        let here: BTreeSet<EntityId> = tracks
            .chain(turns)
            .map(|id| view.resolve(id))
            .filter(|id| id.kind == EntityKind::Person)
            .collect();
        let state = self.lock();
        Home {
            persons: persons.into_iter().collect(),
            here: here.into_iter().collect(),
            last_words: state.last_words.clone(),
            last_answer: state.last_answer.clone(),
        }
    }

    /// What is being said just now; `wake`: somebody calls the robot with it.
    pub fn partial(&self, words: &PartialWords, wake: bool) {
        let Some(publisher) = self.publisher() else { return };
        publisher.event_speech(&SpeechEvent {
            turn: TurnId(0).to_string(),
            person: None,
            name: None,
            start: words.span.start,
            end: words.span.end,
            text: Some(words.text.clone()),
            source: words.source.to_string(),
            partial: true,
            wake,
        });
    }

    /// A memory was written.
    pub fn memory(&self, view: &View, row: &MemoryRow) {
        if let Some((keep, important)) = self.keeps.get()
            && *important > 0.0
            && row.importance >= *important
            && row.clip.is_some()
        {
            let Span { start, end } = row.span;
            keep(Span::new(start.plus_secs(-AROUND_SECS), end.plus_secs(AROUND_SECS)));
        }
        let Some(publisher) = self.publisher() else { return };
        publisher.event_memory(&MemoryEvent {
            memory: row.id,
            kind: row.kind,
            text: mention::render(&row.text, |id| view.display_name(id)),
            start: row.span.start,
            end: row.span.end,
            clip: row.clip,
            entities: row.entities.iter().map(|id| view.resolve(*id)).collect(),
        });
    }

    /// Somebody got a name.
    pub fn named(&self, row: &NameRow, at: Timestamp) {
        let Some(publisher) = self.publisher() else { return };
        publisher.event_person(&PersonEvent {
            event: PersonEventKind::Named,
            person: row.entity.to_string(),
            name: Some(row.name.clone()),
            acquaintance: Acquaintance::Known,
            at,
            source: None,
            provisional: false,
        });
    }

    fn person(
        &self,
        view: &View,
        event: PersonEventKind,
        person: EntityId,
        at: Timestamp,
        source: Option<String>,
        fresh: bool,
    ) {
        let Some(publisher) = self.publisher() else { return };
        let name = name_of(view, view.resolve(person));
        let acquaintance = match (&name, event) {
            (Some(_), _) => Acquaintance::Known,
            (None, _) if fresh => Acquaintance::New,
            (None, _) => Acquaintance::SeenBefore,
        };
        publisher.event_person(&PersonEvent {
            event,
            person: person.to_string(),
            name,
            acquaintance,
            at,
            source,
            provisional: false,
        });
    }
}

/// When each person of a clip was first and last perceived, and by what.
struct Perceived {
    first: BTreeMap<EntityId, (Timestamp, String)>,
    last: BTreeMap<EntityId, (Timestamp, String)>,
}

fn perceived(view: &View, clip: &ClipReport) -> Perceived {
    let mut seen = Perceived { first: BTreeMap::new(), last: BTreeMap::new() };
    let tracks = clip.identified.tracks.iter().filter_map(|one| {
        let row = view.track(clip.clip, one.track)?;
        Some((view.resolve(one.person?), row.span, row.source.to_string()))
    });
    let turns = clip.spoken.iter().filter_map(|turn| {
        let person = clip.identified.person_of_turn(turn.id)?;
        Some((view.resolve(person), turn.span, turn.source.to_string()))
    });
    for (person, span, source) in tracks.chain(turns) {
        let first = seen.first.entry(person).or_insert_with(|| (span.start, source.clone()));
        if span.start < first.0 {
            *first = (span.start, source.clone());
        }
        let last = seen.last.entry(person).or_insert_with(|| (span.end, source.clone()));
        if span.end > last.0 {
            *last = (span.end, source);
        }
    }
    seen
}
