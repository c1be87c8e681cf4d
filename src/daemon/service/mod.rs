//! What the daemon does with requests that come over MQTT.
//!
//! Questions and reading commands read a pinned view and run side by side. What writes takes the
//! resolver first, then the memory's draft, as the committer does.

mod answers;
mod change;
mod clock;
mod conversations;
mod document;
mod feedback;
mod hear;
#[cfg(test)]
mod killed;
mod pin;
mod privacy;
mod replay;
mod snapshot;
mod spooled;
mod unmet;
mod watch;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use crossbeam_channel::unbounded;
use serde_json::{Value, json};

pub use answers::AnswerLog;
pub use clock::Clock;
pub use privacy::microphones_off;

use conversations::{Conversations, value_of};

use super::announce::Announcer;
use super::assemble::{AssembleError, Knowledge, session_settings};
use super::ingest::{OwnSpeech, PerceiverSet, PlaybackClock, SessionSettings, YieldPolicy};
use super::metrics::meters::Meters;
use super::queries;
use super::resolver::resolver as resolver_of_rows;
use super::ring::Ring;
use crate::answer::{Answer, Effort, Errand, Question, Turn};
use crate::config::Config;
use crate::identify::{Resolver, ResolverGuard, SharedResolver};
use crate::ids::{EntityId, MemoryId};
use crate::llm::Cancel;
use crate::media::Pose;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{AnswerRow, AsOf, Filter, MemoryError, View};
use crate::mqtt::message::{self, Ask, Query, Speaking};
use crate::mqtt::{Call, Refusal, Reply, Request, Service};
use crate::perceive::speech::Recogniser;
use crate::time::{Span, Timestamp};

/// What is told of now, where no session runs, is told of the last moment that the store knows: so long is it, seconds.
const LAST_SECS: f64 = 1e-3;
/// How often a request that writes looks whether it is its turn.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The control plane's hands: answers, reads, writes, steers.
pub struct MemoryService {
    knowledge: Knowledge,
    session: ArcSwap<SessionSettings>,
    clock: Clock,
    announcer: Announcer,
    answers: AnswerLog,
    conversations: Conversations,
    ring: ArcSwap<Ring>,
    /// Of the models with which it was loaded, for utterances that are sent; loaded by the first.
    recogniser: Mutex<Option<(Arc<PerceiverSet>, Recogniser)>>,
    meters: Meters,
    resolver: Arc<SharedResolver>,
    courtesy: YieldPolicy,
    /// Set when the daemon stops: no language model is waited for.
    cancel: Cancel,
}

impl MemoryService {
    /// Over an open memory; `session` is what ingest works with, too.
    #[must_use]
    pub fn new(
        knowledge: Knowledge,
        session: SessionSettings,
        clock: Clock,
        announcer: Announcer,
        meters: Meters,
    ) -> Self {
        let answers = AnswerLog::start(knowledge.memory.clone());
        let (resolver, courtesy) = (Arc::clone(&session.resolver), session.courtesy.clone());
        let session = ArcSwap::from_pointee(session);
        let cancel = Cancel::default();
        let conversations = Conversations::default();
        let (memory, limits) = (&knowledge.memory, &session.load().config.ring);
        let ring = Ring::at_rest(memory.dir(), memory.options().key.as_ref(), limits);
        let ring = ArcSwap::from_pointee(ring);
        Self {
            knowledge,
            session,
            clock,
            announcer,
            answers,
            conversations,
            ring,
            recogniser: Mutex::default(),
            meters,
            resolver,
            courtesy,
            cancel,
        }
    }

    /// Calls off every language model that is being waited for: the built-in answerer replies.
    pub fn hurry(&self) {
        self.cancel.cancel();
    }

    /// Over a store that no daemon has open, for one command; nothing is published.
    ///
    /// # Errors
    /// When the store is in use or damaged, or a model file is damaged.
    pub fn over_store(config: &Config) -> Result<Self, AssembleError> {
        let knowledge = Knowledge::open(config)?;
        let pace = PlaybackClock::new(None, false);
        let (reports, _) = unbounded();
        let session = session_settings(&knowledge, pace, YieldPolicy::default(), reports)?;
        let (announcer, meters) = (Announcer::default(), Meters::default());
        Ok(Self::new(knowledge, session, Clock::Store, announcer, meters))
    }

    /// The store's folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.knowledge.memory.dir()
    }

    /// Ingest works with another configuration from now on.
    pub fn reconfigure(&self, session: SessionSettings) {
        self.session.store(Arc::new(session));
    }

    /// Waits until every answer given so far is kept.
    pub fn flush(&self) {
        self.answers.flush();
    }

    /// Waits for whoever writes, but not for a disk that is full: a clip that waits for space there keeps it.
    fn resolver(&self) -> Result<ResolverGuard<'_>, Refusal> {
        loop {
            match self.resolver.try_lock() {
                Some(resolver) => return Ok(resolver),
                None if self.session.load().gauges.is_disk_full() => {
                    return Err(Refusal::unavailable(
                        "the disk that holds the memory is full; free space there and send it again",
                    ));
                }
                None => thread::sleep(LOOK_EVERY),
            }
        }
    }

    /// After a commit failed: what the resolver took in and the store did not is forgotten.
    fn restore(&self, resolver: &mut Resolver) {
        let undecided = resolver.undecided().clone();
        let session = self.session.load();
        let memory = &self.knowledge.memory;
        *resolver = resolver_of_rows(&session.config, memory, &session.perceivers, undecided);
    }

    /// The session's clock, else the newest time in the memory, else the wall clock: the now of questions.
    fn now(&self) -> Timestamp {
        let newest = || self.knowledge.memory.view().newest_time();
        self.clock.now().or_else(newest).unwrap_or_else(Timestamp::wall_clock)
    }

    /// What is done now at somebody's word is recorded at the session's clock; where no session runs, at the wall clock, and
    /// later than all that the store knows.
    fn record_time(&self) -> Timestamp {
        if !matches!(self.clock, Clock::Store) {
            return self.now();
        }
        let newest = self.knowledge.memory.latest_record().map(just_after);
        newest.into_iter().fold(Timestamp::wall_clock(), Timestamp::max)
    }

    /// When that happened of which somebody tells without a time: now. Where no session runs, what is told falls one instant
    /// after the other into the last millisecond that the store knows, so that none is later than the now of questions.
    fn told_at(&self) -> Timestamp {
        if !matches!(self.clock, Clock::Store) {
            return self.now();
        }
        let view = self.view();
        let Some(newest) = view.newest_time().filter(|_| !view.sessions().is_empty()) else {
            return self.record_time();
        };
        let last = Span::new(newest.plus_secs(-LAST_SECS), just_after(newest));
        let kinds = vec![MemoryKind::Note, MemoryKind::Lesson];
        let told = view.memories(&Filter { span: Some(last), kinds, ..Filter::default() });
        let told = told.iter().map(|row| row.span.start).filter(|at| last.contains(*at)).max();
        told.map_or(last.start, just_after).min(newest)
    }

    fn ask(&self, ask: &Ask, call: &Call) -> Result<Reply, Refusal> {
        let _aside = self.courtesy.question();
        let memory = &self.knowledge.memory;
        let as_of = ask.as_of.map(AsOf::from);
        self.check_history(as_of)?;
        let clock = self.clock.now();
        let id = self.answers.mint();
        let own = id.to_string();
        let erasures = memory.erasures();
        let understood = ask.conversation.as_ref().and_then(|name| {
            let before = self.conversations.last(name, erasures, Instant::now())?;
            self.knowledge.answerer.completed(memory, &ask.question, &before)
        });
        let question = Question {
            id: ask.id.clone().unwrap_or_else(|| own.clone()),
            text: understood.clone().unwrap_or_else(|| ask.question.clone()),
            as_of,
            now: ask.now,
            effort: match ask.effort {
                message::Effort::Fast => Effort::Fast,
                message::Effort::Deep => Effort::Deep,
            },
            deadline_ms: ask.deadline_ms,
        };
        let allowed = Duration::from_millis(ask.deadline_ms());
        let errand = Errand {
            deadline: call.received.checked_add(allowed).unwrap_or(call.received),
            cancel: self.cancel.clone(),
            progress: &|line| call.progress(line),
        };
        let answered = self.knowledge.answerer.respond(memory, &question, clock, &errand);
        let mut answer = answered.map_err(|error| queries::refusal(&error))?;
        self.tell_of_model(&answer);
        if answer.abstained && answer.note.is_none() && self.is_rule(&ask.question) {
            answer.note = Some(format!(
                "this is a standing question, which is set as a watch: engramd watch add {:?}",
                ask.question
            ));
        }
        let used: Vec<MemoryId> = answer.evidence.iter().filter_map(|one| one.memory).collect();
        let asked = ask.now.or(clock).unwrap_or_else(|| self.now());
        memory.note_access(&used, asked);
        let mut document =
            serde_json::to_value(answer).map_err(|error| Refusal::internal(error.to_string()))?;
        document["answer_id"] = Value::from(own);
        if let Some(name) = &ask.conversation {
            let value = value_of(document["answer"].as_str().unwrap_or_default());
            let turn = Turn { question: question.text, value };
            self.conversations.keep(name, turn, erasures, Instant::now());
        }
        if let Some(understood) = &understood {
            document["question"] = Value::from(ask.question.clone());
            document["understood"] = Value::from(understood.clone());
        }
        self.announcer.answered(
            &ask.question,
            document["answer"].as_str().unwrap_or_default(),
            asked,
        );
        // After it was told: whoever erases something from here on takes back what was told.
        if memory.erasures() != erasures {
            self.announcer.erased();
            return Err(Refusal::outdated());
        }
        // A lesson about "And Ben?" is one about the whole question.
        let question = understood.unwrap_or_else(|| ask.question.clone());
        let row = AnswerRow { id, question, document: document.to_string(), asked };
        self.answers.keep(row, ask.id.as_deref(), erasures);
        let took = call.received.elapsed();
        self.meters.latency("answer", took);
        if took > Duration::from_millis(ask.deadline_ms()) {
            return Err(Refusal::overloaded(format!(
                "the answer took {} ms, more than the {} allowed; allow more with deadline_ms",
                took.as_millis(),
                ask.deadline_ms()
            )));
        }
        Ok(Reply::Document(document))
    }

    /// Says in `status` when the language model could not answer, until it does again.
    fn tell_of_model(&self, answer: &Answer) {
        if answer.cost.is_none() {
            return;
        }
        let failed = (answer.engine == "builtin").then_some(answer.note.as_ref()).flatten();
        let impaired = failed.map(|note| format!("answering by model: {note}"));
        self.announcer.degraded("answerer", impaired.into_iter().collect());
        self.meters.count(if failed.is_some() {
            "answers_fallen_back"
        } else {
            "answers_by_model"
        });
    }

    fn query(&self, query: Query) -> Result<Reply, Refusal> {
        let _aside = self.courtesy.question();
        if let Some(at) = query.args.get("as_of").filter(|at| !at.is_null()) {
            let at: message::AsOf = serde_json::from_value(at.clone())
                .map_err(|error| Refusal::bad_request(format!("`as_of`: {error}")))?;
            self.check_history(Some(at.into()))?;
        }
        let memory = &self.knowledge.memory;
        let (session, playing, ring) = (self.session.load(), self.played(), self.ring.load());
        let means = queries::Means {
            embedder: self.knowledge.text.as_deref(),
            answerer: Some(&self.knowledge.answerer),
            clock: self.clock.now(),
            folder: session.config.replay.folder.as_deref(),
            plays: matches!(self.clock, Clock::Replay(_)),
            playing: playing.as_ref(),
            ring: Some(&ring),
        };
        queries::query(memory, &means, query.verb, query.args)
    }

    /// Views are exact from the first commit on.
    fn check_history(&self, as_of: Option<AsOf>) -> Result<(), Refusal> {
        match (as_of, self.knowledge.memory.history_from()) {
            (Some(AsOf::Time(asked)), Some(from)) if asked < from => Err(Refusal::expired(
                format!("the history begins at {from}; nothing is known as of {asked}"),
            )),
            (Some(AsOf::Time(asked)), None) => Err(Refusal::expired(format!(
                "the memory is empty; nothing is known as of {asked}"
            ))),
            _ => Ok(()),
        }
    }

    /// The robot speaks: kept for the turns to come, and as an utterance of its own.
    fn speaking(&self, speaking: Speaking) -> Result<Reply, Refusal> {
        let Speaking { start, end, text, .. } = speaking;
        self.session.load().inbox.speaking(OwnSpeech { start, end, text: text.clone() });
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Ok(Reply::Document(json!({})));
        };
        let row = MemoryRow::told(
            MemoryKind::Utterance,
            format!("<{}> said: \"{}\"", EntityId::ROBOT, text.trim()),
            Span::new(start, end.unwrap_or(start)),
            vec![EntityId::ROBOT],
        );
        let row = self.note(row)?;
        Ok(Reply::Document(json!({ "memory": row.id })))
    }

    /// The robot is about to be made to say something: live it is heard again.
    pub(super) fn said(&self, text: &str) {
        if let Clock::Wall = self.clock {
            self.session.load().inbox.said(Timestamp::wall_clock(), text);
        }
    }

    /// What somebody said, with the names that are heard in it as they are known.
    pub(super) fn respelled(&self, said: &str) -> String {
        self.knowledge.memory.view().respelled(said, &[]).into_owned()
    }

    /// Writes a memory that was told, in a transaction of its own, and says so.
    fn note(&self, row: MemoryRow) -> Result<MemoryRow, Refusal> {
        let at = self.record_time();
        let row = {
            let resolver = self.resolver()?;
            let mut draft = self.knowledge.memory.begin(at);
            let row = self.session.load().memorizer.note(row, resolver.persons(), &mut draft);
            draft.commit().map_err(|error| self.failed(&error))?;
            row
        };
        self.announcer.memory(&self.view(), &row);
        Ok(row)
    }

    fn view(&self) -> View {
        self.knowledge.memory.view()
    }

    fn failed(&self, error: &MemoryError) -> Refusal {
        tracing::warn!(%error, "A request could not be carried out.");
        queries::refusal(error)
    }

    /// Kept for the clip that covers it.
    fn pose(&self, pose: Pose) -> Result<Reply, Refusal> {
        let session = self.session.load();
        let config = &session.config;
        // Clips come of cameras and microphones; without any a pose would be kept by nobody.
        if matches!(self.clock, Clock::Wall)
            && config.camera.is_empty()
            && config.microphone.is_empty()
        {
            return Err(Refusal::unavailable(
                "poses are kept with the clips of cameras and microphones, and none is configured: add a [[camera]] or \
                 a [[microphone]], or tell where the robot is without poses (`remember`: \"We are in the kitchen now.\")",
            ));
        }
        session.inbox.pose(pose);
        Ok(Reply::Document(json!({})))
    }

    fn carry_out(&self, request: Request, call: &Call) -> Result<Reply, Refusal> {
        match request {
            Request::Ask(ask) => self.ask(&ask, call),
            Request::Query(query) => self.query(query),
            Request::Remember(mut remember) => match remember.document.take() {
                Some(document) => {
                    self.remember_document(document, (remember.start, remember.pinned), call)
                }
                None => self.remember(remember),
            },
            Request::Forget(forget) => self.forget(&forget),
            Request::Pin(pin) => self.pin(&pin),
            Request::Name(name) => self.name(&name),
            Request::Identify(identify) => self.identify(&identify),
            Request::People(people) => self.people(&people),
            Request::Feedback(feedback) => self.feedback(&feedback),
            Request::Pose(pose) => self.pose(pose),
            Request::Speaking(speaking) => self.speaking(speaking),
            Request::Privacy(privacy) => self.privacy(&privacy),
            Request::Snapshot(snapshot) => self.snapshot(&snapshot),
            Request::Watch(watch) => self.watch(watch),
            Request::Replay(command) => self.replay(command),
        }
    }
}

impl Service for MemoryService {
    fn handle(&self, request: Request, call: &Call) -> Result<Reply, Refusal> {
        let what = match &request {
            Request::Ask(_) => "questions",
            Request::Query(_) | Request::Identify(_) => "queries",
            Request::Pose(_) => "poses",
            _ => "commands",
        };
        let done = self.carry_out(request, call);
        self.meters.count(what);
        if done.is_err() {
            self.meters.count("refused");
        }
        done
    }

    fn erasures(&self) -> u64 {
        self.knowledge.memory.erasures()
    }
}

/// The next nanosecond.
fn just_after(at: Timestamp) -> Timestamp {
    Timestamp::from_nanos(at.as_nanos().saturating_add(1))
}
