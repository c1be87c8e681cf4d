//! The handle by which the daemon publishes what happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::Topics;
use super::message::{Describe, MemoryEvent, PersonEvent, Say, SpeechEvent, State, Stats, Status};
use super::outbox::{Class, JSON, Outbox, Outgoing};
use crate::ids::SessionId;

/// Publishes by putting messages into the outbox: no call waits for the broker. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Publisher {
    pub(super) outbox: Arc<Outbox>,
    pub(super) connected: Arc<AtomicBool>,
    topics: Topics,
    boot_id: Arc<str>,
}

impl Publisher {
    pub(crate) fn new(topics: Topics, boot_id: &str) -> Self {
        Self { outbox: Arc::default(), connected: Arc::default(), topics, boot_id: boot_id.into() }
    }

    /// `event/person`.
    pub fn event_person(&self, event: &PersonEvent) {
        self.event("event/person", event);
    }

    /// `event/speech`.
    pub fn event_speech(&self, event: &SpeechEvent) {
        self.event("event/speech", event);
    }

    /// `event/memory`.
    pub fn event_memory(&self, event: &MemoryEvent) {
        self.event("event/memory", event);
    }

    /// `say`.
    pub fn say(&self, say: &Say) {
        self.event("say", say);
    }

    /// `stats`.
    pub fn stats(&self, stats: &Stats) {
        self.event("stats", stats);
    }

    /// `describe`, retained.
    pub fn describe(&self, describe: &Describe) {
        self.put("describe", describe, true);
    }

    /// `status` `online`, retained, with what is impaired and what is being remembered.
    pub fn status(&self, degraded: &[String], session: Option<SessionId>) {
        self.put("status", &self.state(State::Online, degraded, session), true);
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

    /// Messages that were dropped because too many waited.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.outbox.dropped()
    }

    pub(super) fn stopped(&self) {
        self.put("status", &self.state(State::Stopped, &[], None), true);
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
            session,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            degraded: degraded.to_vec(),
        }
    }

    fn event(&self, below: &str, document: &impl Serialize) {
        self.put(below, document, false);
    }

    fn put(&self, below: &str, document: &impl Serialize, retain: bool) {
        // Our own types always serialize: string keys, finite or null numbers.
        let Ok(payload) = serde_json::to_vec(document) else { return };
        self.outbox.push(Outgoing {
            topic: self.topics.at(below),
            payload,
            retain,
            class: Class::Event,
            correlation: None,
            content_type: JSON,
        });
    }
}
