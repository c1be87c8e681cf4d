//! What waits to be published: bounded, and in order.
//!
//! Whoever publishes only puts a message here and never waits for the broker. The session takes
//! messages out and gives back those that the broker did not acknowledge before the connection broke.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Messages that may wait.
const MAX_MESSAGES: usize = 10_000;
/// Bytes of payload that may wait.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// How much a message matters when not all can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Somebody waits for it.
    Reply,
    /// It happened; the memory has it too.
    Event,
}

/// A message on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outgoing {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
    pub(super) retain: bool,
    pub(super) class: Class,
    /// v5 correlation data of the request, unaltered.
    pub(super) correlation: Option<Vec<u8>>,
    /// v5 content type.
    pub(super) content_type: &'static str,
}

/// Content type of every document.
pub(super) const JSON: &str = "application/json";

/// The queue between publishers and the session.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    wake: Notify,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Outgoing>,
    bytes: usize,
    /// The newest message of each retained topic: published again at every connect.
    retained: BTreeMap<String, Outgoing>,
}

impl Queue {
    /// Removes one message to make room: the oldest event, else the oldest of all.
    fn drop_one(&mut self) {
        let oldest_event = self.waiting.iter().position(|one| one.class == Class::Event);
        if let Some(gone) = self.waiting.remove(oldest_event.unwrap_or(0)) {
            self.bytes -= gone.payload.len();
        }
    }
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message at the end; the oldest events give way when there is no room.
    pub(super) fn push(&self, message: Outgoing) {
        let mut queue = self.lock();
        if message.retain {
            queue.retained.insert(message.topic.clone(), message.clone());
        }
        queue.bytes += message.payload.len();
        queue.waiting.push_back(message);
        while queue.waiting.len() > MAX_MESSAGES || queue.bytes > MAX_BYTES {
            queue.drop_one();
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        drop(queue);
        self.wake.notify_one();
    }

    /// The message that has waited longest.
    pub(super) fn take(&self) -> Option<Outgoing> {
        let mut queue = self.lock();
        let message = queue.waiting.pop_front()?;
        queue.bytes -= message.payload.len();
        Some(message)
    }

    /// Puts messages that were taken but not acknowledged back to the front, in their order.
    pub(super) fn give_back(&self, messages: impl DoubleEndedIterator<Item = Outgoing>) {
        let mut queue = self.lock();
        for message in messages.rev() {
            queue.bytes += message.payload.len();
            queue.waiting.push_front(message);
        }
    }

    /// Puts the newest message of each retained topic to the front: the birth of a connection. Older ones of these
    /// topics are superseded.
    pub(super) fn give_birth(&self) {
        let mut queue = self.lock();
        let born: Vec<_> = queue.retained.values().cloned().collect();
        queue.waiting.retain(|one| !one.retain);
        for message in born.into_iter().rev() {
            queue.waiting.push_front(message);
        }
        queue.bytes = queue.waiting.iter().map(|one| one.payload.len()).sum();
    }

    /// Waits until something may have been put in.
    pub(super) async fn filled(&self) {
        self.wake.notified().await;
    }

    /// Messages that wait.
    pub(super) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Messages that were dropped for want of room.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(topic: &str, class: Class, retain: bool) -> Outgoing {
        let payload = topic.as_bytes().to_vec();
        Outgoing {
            topic: topic.into(),
            payload,
            retain,
            class,
            correlation: None,
            content_type: JSON,
        }
    }

    fn topics(outbox: &Outbox) -> Vec<String> {
        std::iter::from_fn(|| outbox.take()).map(|one| one.topic).collect()
    }

    #[test]
    fn answers_outlast_events_when_there_is_no_room() {
        let outbox = Outbox::default();
        outbox.push(message("answer", Class::Reply, false));
        for _ in 0..MAX_MESSAGES + 5 {
            outbox.push(message("event", Class::Event, false));
        }
        assert_eq!((outbox.len(), outbox.dropped()), (MAX_MESSAGES, 6));
        assert_eq!(outbox.take().map(|one| one.topic).as_deref(), Some("answer"));
    }

    #[test]
    fn a_new_connection_is_told_the_newest_state_first_and_loses_nothing() {
        let outbox = Outbox::default();
        outbox.push(message("status", Class::Event, true));
        outbox.push(message("a", Class::Reply, false));
        outbox.push(message("b", Class::Reply, false));
        let taken: Vec<_> = (0..2).filter_map(|_| outbox.take()).collect();
        outbox.give_back(taken.into_iter());
        outbox.give_birth();
        assert_eq!(topics(&outbox), ["status", "a", "b"]);
    }
}
