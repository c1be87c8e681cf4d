//! The handle by which the daemon publishes what happens.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::Topics;
use super::discovery::{discovery, person, person_topic};
use super::message::{
    ClockTick, Describe, Home, MemoryEvent, PersonEvent, Say, SpeechEvent, State, Stats, Status,
    WatchEvent,
};
use super::outbox::{Class, EVENT_LASTS, JSON, MOMENT_LASTS, Outbox, Outgoing, TICK_LASTS};
use super::trouble::Trouble;
use crate::ids::{EntityId, SessionId};
use crate::memory::Visit;

/// Publishes by putting messages into the outbox: no call waits for the broker. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Publisher {
    pub(super) outbox: Arc<Outbox>,
    pub(super) connected: Arc<AtomicBool>,
    /// Connections so far.
    connection: Arc<AtomicU64>,
    /// How often the session's loop went round.
    turns: Arc<AtomicU64>,
    trouble: Trouble,
    /// What `status` says besides being there.
    said: Arc<Mutex<(Vec<String>, Option<SessionId>)>>,
    topics: Topics,
    boot_id: Arc<str>,
}

impl Publisher {
    #[cfg(test)]
    pub(crate) fn new(topics: Topics, boot_id: &str) -> Self {
        Self::over(Outbox::default(), topics, boot_id, Trouble::default())
    }

    pub(super) fn over(outbox: Outbox, topics: Topics, boot_id: &str, trouble: Trouble) -> Self {
        Self {
            outbox: Arc::new(outbox),
            connected: Arc::default(),
            connection: Arc::default(),
            turns: Arc::default(),
            trouble,
            said: Arc::default(),
            topics,
            boot_id: boot_id.into(),
        }
    }

    /// `event/person`.
    pub fn event_person(&self, event: &PersonEvent) {
        self.event("event/person", event);
    }

    /// `event/speech`.
    pub fn event_speech(&self, event: &SpeechEvent) {
        self.event("event/speech", event);
    }

    /// `event/visit`.
    pub fn event_visit(&self, visit: &Visit) {
        self.event("event/visit", visit);
    }

    /// `event/watch`.
    pub fn event_watch(&self, event: &WatchEvent) {
        self.event("event/watch", event);
    }

    /// `event/memory`.
    pub fn event_memory(&self, event: &MemoryEvent) {
        self.event("event/memory", event);
    }

    /// `answer/<id>`, for a question that nobody sent.
    pub fn answer(&self, id: &str, document: &impl Serialize) {
        // Nobody waits for it: who listens in this process is told of it, too.
        if let Ok(payload) = serde_json::to_vec(document) {
            self.outbox.feed.put(self.topics.answer(Some(id)), payload, Class::Event, None);
        }
        self.put(&format!("answer/{id}"), document, false, Class::Reply, EVENT_LASTS);
    }

    /// `say`.
    pub fn say(&self, say: &Say) {
        self.put("say", say, false, Class::Event, MOMENT_LASTS);
    }

    /// `stats`.
    pub fn stats(&self, stats: &Stats) {
        self.put("stats", stats, false, Class::Fleeting, MOMENT_LASTS);
    }

    /// `clock`: at most once, and to a broker only while it is there.
    pub fn clock(&self, tick: &ClockTick) {
        if self.connected() {
            self.put("clock", tick, false, Class::Tick, TICK_LASTS);
        } else if let Ok(payload) = serde_json::to_vec(tick) {
            self.outbox.feed.put(self.topics.at("clock"), payload, Class::Tick, None);
        }
    }

    /// `home`: never retained, because it holds who is here and what was said.
    pub fn home(&self, home: &Home) {
        self.put("home", home, false, Class::Fleeting, MOMENT_LASTS);
    }

    /// Tells Home Assistant what there is to show, retained, below its own `prefix`; see [`discovery`].
    pub fn discovery(&self, prefix: &str, robot: &str, visits: bool) {
        for (topic, document) in discovery(prefix, robot, &self.topics, visits) {
            self.put_at(topic, &document, true, Class::Fleeting, EVENT_LASTS);
        }
    }

    /// Tells it of a person by that name, or, without one, that there is none such any more; never retained.
    pub fn discovery_of(&self, prefix: &str, robot: &str, id: EntityId, name: Option<&str>) {
        match name {
            Some(name) => {
                let (topic, document) = person(prefix, robot, &self.topics, (id, name));
                self.put_at(topic, &document, false, Class::Fleeting, MOMENT_LASTS);
            }
            None => self.push(
                person_topic(prefix, robot, id),
                Vec::new(),
                (false, Class::Fleeting, MOMENT_LASTS),
            ),
        }
    }

    /// `describe`, retained.
    pub fn describe(&self, describe: &Describe) {
        self.put("describe", describe, true, Class::Fleeting, EVENT_LASTS);
    }

    /// `status` `online`, retained, with what is impaired and what is being remembered.
    pub fn status(&self, degraded: &[String], session: Option<SessionId>) {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = (degraded.to_vec(), session);
        self.reaffirm();
    }

    /// Says once more what `status` is.
    pub(super) fn reaffirm(&self) {
        let (degraded, session) = self.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.put_status(&self.state(State::Online, &degraded, session));
    }

    /// A connection is there: `status` is said with its number.
    pub(super) fn born(&self) {
        self.connection.fetch_add(1, Ordering::Relaxed);
        self.reaffirm();
        self.connected.store(true, Ordering::Relaxed);
        self.trouble.back();
    }

    /// There is no connection any more, or still none.
    pub(super) fn lost(&self, why: String) {
        self.connected.store(false, Ordering::Relaxed);
        self.trouble.away(why);
    }

    /// The session's loop goes round, several times a second.
    pub(super) fn turn(&self) {
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    /// How often it did: who sees it stand still sees that the session does.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Whether the broker has been away for more than a moment.
    #[must_use]
    pub fn is_away(&self) -> bool {
        self.trouble.is_away()
    }

    /// What is wrong between the daemon and its broker.
    #[must_use]
    pub fn trouble(&self) -> Vec<String> {
        self.trouble.sentences()
    }

    /// The last will of the connection to come.
    pub(super) fn will(&self) -> Status {
        let connection = self.connection.load(Ordering::Relaxed) + 1;
        Status { connection, ..self.state(State::Offline, &[], None) }
    }

    /// Whether a `status` on the broker is a lie: this daemon is there, and it says that none is.
    pub(super) fn is_denied_by(&self, status: &Status) -> bool {
        status.state != State::Online && self.connected()
    }

    /// Whether somebody else says to be this robot. `retained`: it was said before this connection, of which the first
    /// may find what an earlier daemon left.
    pub(super) fn is_claimed_by(&self, status: &Status, retained: bool) -> bool {
        let said = match retained {
            true => self.connection.load(Ordering::Relaxed) > 1,
            false => status.state == State::Online,
        };
        said && *status.boot_id != *self.boot_id
    }

    /// Something is about to be erased from the memory: killed before [`Self::erase_waiting`], the next daemon
    /// does it.
    pub fn erasing(&self) {
        self.outbox.erasing(true);
    }

    /// It was not erased after all.
    pub fn erased_nothing(&self) {
        self.outbox.erasing(false);
    }

    /// Something was erased from the memory: what waits for the broker may speak of it.
    pub fn erase_waiting(&self) {
        self.outbox.erase();
    }

    /// Whether a broker is connected now.
    #[must_use]
    pub fn connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }

    /// Messages that wait for the broker.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.outbox.len()
    }

    /// Messages that were dropped because they were not worth sending any more.
    #[must_use]
    pub fn expired(&self) -> u64 {
        self.outbox.expired()
    }

    /// Messages that were dropped because too many waited.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.outbox.dropped()
    }

    pub(super) fn stopped(&self) {
        self.put_status(&self.state(State::Stopped, &[], None));
    }

    pub(super) fn state(
        &self,
        state: State,
        degraded: &[String],
        session: Option<SessionId>,
    ) -> Status {
        Status {
            state,
            boot_id: self.boot_id.to_string(),
            connection: self.connection.load(Ordering::Relaxed),
            session,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            degraded: degraded.to_vec(),
        }
    }

    fn event(&self, below: &str, document: &impl Serialize) {
        self.put(below, document, false, Class::Event, EVENT_LASTS);
    }

    fn put_status(&self, status: &Status) {
        self.put("status", status, true, Class::Fleeting, EVENT_LASTS);
    }

    fn put(
        &self,
        below: &str,
        document: &impl Serialize,
        retain: bool,
        class: Class,
        lasts: Duration,
    ) {
        self.put_at(self.topics.at(below), document, retain, class, lasts);
    }

    fn put_at(
        &self,
        topic: String,
        document: &impl Serialize,
        retain: bool,
        class: Class,
        lasts: Duration,
    ) {
        // Our own types always serialize: string keys, finite or null numbers.
        let Ok(payload) = serde_json::to_vec(document) else { return };
        self.push(topic, payload, (retain, class, lasts));
    }

    fn push(
        &self,
        topic: String,
        payload: Vec<u8>,
        (retain, class, lasts): (bool, Class, Duration),
    ) {
        self.outbox.push(Outgoing {
            topic,
            payload,
            retain,
            class,
            correlation: None,
            content_type: JSON.into(),
            lasts,
        });
    }
}
