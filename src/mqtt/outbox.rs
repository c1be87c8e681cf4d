//! What waits to be published: bounded, in order, and on disk where there is a state folder.
//!
//! Whoever publishes only puts a message here and never waits for the broker. The session takes
//! messages out, gives back those that the broker did not acknowledge before the connection broke, and says which
//! are done. What is not worth sending any more is dropped when its turn comes.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::feed::Feed;
use super::journal::{Journal, Left, Taken};
use super::message::Refusal;

/// Messages that may wait.
const MAX_MESSAGES: usize = 10_000;
/// Bytes of payload that may wait.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// How long a reply is worth sending.
pub(super) const REPLY_LASTS: Duration = Duration::from_secs(24 * 3600);
/// The same for what happened.
pub(super) const EVENT_LASTS: Duration = Duration::from_secs(24 * 3600);
/// The same for what is to be said aloud, and for what is soon said anew.
pub(super) const MOMENT_LASTS: Duration = Duration::from_secs(60);
/// The same for a tick of a clock.
pub(super) const TICK_LASTS: Duration = Duration::from_secs(1);

/// How much a message matters when not all can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// It is worth nothing a moment later: sent at most once (QoS 0), to a broker that is there.
    Tick,
    /// It is soon said anew: not kept on disk.
    Fleeting,
    /// It happened; the memory has it too.
    Event,
    /// Somebody waits for it.
    Reply,
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
    pub(super) content_type: Cow<'static, str>,
    /// How long it is worth sending; retained messages always are.
    pub(super) lasts: Duration,
}

/// A message with its place in the line.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    seq: u64,
    until: Instant,
    /// Of how many erasures it knows.
    erasures: u64,
    pub(super) message: Outgoing,
}

impl Waiting {
    /// Time left in which it is worth something; `None`: it is retained.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        (!self.message.retain).then_some(left)
    }

    fn is_over(&self) -> bool {
        self.time_left().is_some_and(|left| left.is_zero())
    }
}

/// Content type of every document.
pub(super) const JSON: &str = "application/json";

/// The queue between publishers and the session.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    journal: Option<Journal>,
    /// What is published, for who listens in this process.
    pub(super) feed: Feed,
    wake: Notify,
    tickets: AtomicU64,
    erasures: AtomicU64,
    dropped: AtomicU64,
    expired: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    next: u64,
    /// How often [`Outbox::erase`] was called.
    erasures: u64,
    /// The newest message of each retained topic: published again at every connect.
    retained: BTreeMap<String, Outgoing>,
}

impl Queue {
    /// Removes one message to make room: the oldest of the least important class.
    fn drop_one(&mut self) -> Option<Waiting> {
        let least = self.waiting.iter().map(|one| one.message.class).min()?;
        let oldest = self.waiting.iter().position(|one| one.message.class == least)?;
        let gone = self.waiting.remove(oldest)?;
        self.bytes -= gone.message.payload.len();
        Some(gone)
    }

    fn append(&mut self, message: Outgoing, lasts: Duration) -> u64 {
        let seq = self.next;
        self.next += 1;
        self.bytes += message.payload.len();
        let now = Instant::now();
        let until = now.checked_add(lasts).unwrap_or(now);
        self.waiting.push_back(Waiting { seq, until, erasures: self.erasures, message });
        seq
    }
}

impl Outbox {
    /// With a journal, and the messages that an earlier daemon left in it.
    pub(super) fn over(journal: Journal, left: &mut Left) -> Self {
        let mut queue = Queue::default();
        let now = Instant::now();
        for (seq, message, still) in std::mem::take(&mut left.waiting) {
            queue.bytes += message.payload.len();
            queue.next = seq + 1;
            let until = now.checked_add(still).unwrap_or(now);
            queue.waiting.push_back(Waiting { seq, until, erasures: 0, message });
        }
        let ticket = left.taken.iter().map(|taken| taken.ticket + 1).max().unwrap_or_default();
        Self {
            queue: Mutex::new(queue),
            journal: Some(journal),
            tickets: AtomicU64::new(ticket),
            ..Self::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_kept(message: &Outgoing) -> bool {
        message.class >= Class::Event && !message.retain
    }

    /// Puts a message at the end; the least important give way when there is no room.
    pub(super) fn push(&self, message: Outgoing) {
        self.enter(self.lock(), message);
    }

    /// Puts a reply at the end that knows of so many erasures; after another one it is withdrawn.
    pub(super) fn reply(&self, message: Outgoing, erasures: u64) {
        let queue = self.lock();
        let known = self.erasures() == erasures;
        self.enter(queue, if known { message } else { withdrawn(message) });
    }

    fn enter(&self, mut queue: MutexGuard<'_, Queue>, message: Outgoing) {
        if message.retain {
            queue.retained.insert(message.topic.clone(), message.clone());
        }
        if message.class < Class::Reply {
            self.feed.put(message.topic.clone(), message.payload.clone(), message.class, None);
        }
        let kept = self.journal.as_ref().filter(|_| Self::is_kept(&message));
        let copy = kept.map(|_| message.clone());
        let lasts = message.lasts;
        let seq = queue.append(message, lasts);
        // Under the lock: the journal sees numbers in their order.
        if let (Some(journal), Some(copy)) = (kept, copy) {
            journal.put(seq, copy);
        }
        while queue.waiting.len() > MAX_MESSAGES || queue.bytes > MAX_BYTES {
            let Some(gone) = queue.drop_one() else { break };
            self.settled(&gone);
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        drop(queue);
        self.wake.notify_one();
    }

    /// The message that has waited longest and is still worth sending.
    pub(super) fn take(&self) -> Option<Waiting> {
        let mut queue = self.lock();
        loop {
            let first = queue.waiting.pop_front()?;
            queue.bytes -= first.message.payload.len();
            if !first.is_over() {
                return Some(first);
            }
            self.settled(&first);
            self.expired.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A message that was taken needs not be kept any more: the broker has it, or it cannot be sent.
    pub(super) fn settled(&self, waiting: &Waiting) {
        if let Some(journal) = self.journal.as_ref().filter(|_| Self::is_kept(&waiting.message)) {
            journal.done(waiting.seq);
        }
    }

    /// Puts messages that were taken but not acknowledged back to the front, in their order. Of what was taken before
    /// something was erased the same is left as of what waited then.
    pub(super) fn give_back(&self, messages: impl DoubleEndedIterator<Item = Waiting>) {
        let mut queue = self.lock();
        for mut waiting in messages.rev() {
            if waiting.erasures != queue.erasures {
                let Some(left) = erased(waiting.message) else { continue };
                (waiting.message, waiting.erasures) = (left, queue.erasures);
                // The journal lost it with the rest.
                if let Some(journal) =
                    self.journal.as_ref().filter(|_| Self::is_kept(&waiting.message))
                {
                    journal.put(waiting.seq, waiting.message.clone());
                }
            }
            queue.bytes += waiting.message.payload.len();
            queue.waiting.push_front(waiting);
        }
    }

    /// Puts the newest message of each retained topic to the front: the birth of a connection. Older ones of these
    /// topics are superseded.
    pub(super) fn give_birth(&self) {
        let mut queue = self.lock();
        let born: Vec<_> = queue.retained.values().cloned().collect();
        queue.waiting.retain(|one| !one.message.retain);
        for message in born.into_iter().rev() {
            let (seq, until) = (queue.next, Instant::now());
            queue.next += 1;
            let erasures = queue.erasures;
            queue.waiting.push_front(Waiting { seq, until, erasures, message });
        }
        queue.bytes = queue.waiting.iter().map(|one| one.message.payload.len()).sum();
    }

    /// A request was taken that somebody waits for; gives the ticket for [`Self::settle`].
    pub(super) fn accept(&self, taken: impl FnOnce(u64) -> Taken) -> Option<u64> {
        let journal = self.journal.as_ref()?;
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        journal.take(taken(ticket));
        Some(ticket)
    }

    /// The request is answered.
    pub(super) fn settle(&self, ticket: Option<u64>) {
        if let (Some(journal), Some(ticket)) = (&self.journal, ticket) {
            journal.settle(ticket);
        }
    }

    /// The change under that id was carried out, and this was the reply.
    pub(super) fn acted(&self, id: &str, request: u64, reply: &[u8]) {
        if let Some(journal) = &self.journal {
            journal.act(id, request, reply);
        }
    }

    /// Something is about to be erased from the memory, or was not after all; on disk when this returns.
    pub(super) fn erasing(&self, begun: bool) {
        if let Some(journal) = &self.journal {
            journal.erasing(begun);
        }
    }

    /// Something was erased from the memory: what waits may speak of it. Events go; whoever waits for a reply is told
    /// to ask again.
    pub(super) fn erase(&self) {
        let mut queue = self.lock();
        self.erasures.fetch_add(1, Ordering::SeqCst);
        queue.erasures += 1;
        self.feed.erase();
        if let Some(journal) = &self.journal {
            journal.erase();
        }
        let waiting = std::mem::take(&mut queue.waiting);
        queue.bytes = 0;
        for one in waiting {
            let Waiting { message, until, .. } = one;
            let Some(message) = erased(message) else { continue };
            let lasts = until.saturating_duration_since(Instant::now());
            let copy = Self::is_kept(&message).then(|| message.clone());
            let seq = queue.append(message, lasts);
            if let (Some(journal), Some(copy)) = (&self.journal, copy) {
                journal.put(seq, copy);
            }
        }
    }

    /// How often [`Self::erase`] was called.
    pub(super) fn erasures(&self) -> u64 {
        self.erasures.load(Ordering::SeqCst)
    }

    /// Waits until everything put in so far is on disk.
    pub(super) fn sync(&self) {
        if let Some(journal) = &self.journal {
            journal.sync();
        }
    }

    /// Does something once everything put in so far is on disk; it must not wait. At once where there is no disk.
    pub(super) fn after(&self, then: impl FnOnce() + Send + 'static) {
        match &self.journal {
            Some(journal) => journal.after(then),
            None => then(),
        }
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

    /// Messages that were dropped because their time was over.
    pub(super) fn expired(&self) -> u64 {
        self.expired.load(Ordering::Relaxed)
    }
}

/// What is left of a message that may speak of something erased: of an event nothing.
fn erased(message: Outgoing) -> Option<Outgoing> {
    match message.class {
        _ if message.retain => Some(message),
        Class::Reply => Some(withdrawn(message)),
        Class::Event | Class::Fleeting | Class::Tick => None,
    }
}

/// The reply without what it said.
pub(super) fn withdrawn(message: Outgoing) -> Outgoing {
    let payload = withdrawn_payload(&message.payload);
    Outgoing { payload, content_type: JSON.into(), ..message }
}

/// What whoever waits for that reply is told in its place.
pub(super) fn withdrawn_payload(payload: &[u8]) -> Vec<u8> {
    let id = serde_json::from_slice::<serde_json::Value>(payload).ok();
    let id = id.as_ref().and_then(|reply| reply.get("id")?.as_str());
    Refusal::outdated().document(id).to_string().into_bytes()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::mqtt::dispatch::ReplyTo;

    fn message(topic: &str, class: Class, retain: bool) -> Outgoing {
        Outgoing {
            topic: topic.into(),
            payload: topic.as_bytes().to_vec(),
            retain,
            class,
            correlation: Some(vec![0, 255]),
            content_type: JSON.into(),
            lasts: Duration::from_secs(60),
        }
    }

    fn topics(outbox: &Outbox) -> Vec<String> {
        std::iter::from_fn(|| outbox.take()).map(|one| one.message.topic).collect()
    }

    fn open(dir: &std::path::Path) -> (Outbox, Left) {
        let (journal, mut left) = Journal::open(dir, None).unwrap();
        (Outbox::over(journal, &mut left), left)
    }

    #[test]
    fn answers_outlast_events_when_there_is_no_room() {
        let outbox = Outbox::default();
        outbox.push(message("answer", Class::Reply, false));
        outbox.push(message("event", Class::Event, false));
        for _ in 0..MAX_MESSAGES + 3 {
            outbox.push(message("stats", Class::Fleeting, false));
        }
        assert_eq!((outbox.len(), outbox.dropped()), (MAX_MESSAGES, 5));
        let first: Vec<_> = (0..2).map(|_| outbox.take().unwrap().message.topic).collect();
        assert_eq!(first, ["answer", "event"]);
    }

    #[test]
    fn a_new_connection_is_told_the_newest_state_first_and_loses_nothing() {
        let outbox = Outbox::default();
        outbox.push(message("status", Class::Fleeting, true));
        outbox.push(message("a", Class::Reply, false));
        outbox.push(message("b", Class::Reply, false));
        let taken: Vec<_> = (0..2).filter_map(|_| outbox.take()).collect();
        outbox.give_back(taken.into_iter());
        outbox.give_birth();
        assert_eq!(topics(&outbox), ["status", "a", "b"]);
    }

    #[test]
    fn what_the_broker_did_not_acknowledge_is_there_after_a_kill_in_its_order() {
        let dir = tempfile::tempdir().unwrap();
        let (outbox, _) = open(dir.path());
        for topic in ["a", "b", "c"] {
            outbox.push(message(topic, Class::Reply, false));
        }
        outbox.push(message("stats", Class::Fleeting, false));
        outbox.push(message("status", Class::Fleeting, true));
        outbox.push(message("event", Class::Event, false));
        let handed: Vec<_> = (0..2).filter_map(|_| outbox.take()).collect();
        outbox.settled(&handed[0]);
        outbox.sync();
        // No goodbye: as after kill -9.
        std::mem::forget(outbox);
        let (outbox, _) = open(dir.path());
        assert_eq!(outbox.take().unwrap().message, message("b", Class::Reply, false));
        outbox.push(message("d", Class::Reply, false));
        assert_eq!(topics(&outbox), ["c", "event", "d"]);
        let mode = std::os::unix::fs::MetadataExt::mode(
            &std::fs::metadata(dir.path().join("outbox.db")).unwrap(),
        );
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn what_is_not_worth_sending_any_more_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let (outbox, _) = open(dir.path());
        let brief =
            Outgoing { lasts: Duration::from_millis(30), ..message("brief", Class::Reply, false) };
        outbox.push(brief.clone());
        outbox.push(message("long", Class::Reply, false));
        outbox.sync();
        std::mem::forget(outbox);
        std::thread::sleep(Duration::from_millis(60));
        let (outbox, _) = open(dir.path());
        outbox.push(brief);
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(topics(&outbox), ["long"]);
        assert_eq!((outbox.expired(), outbox.dropped()), (2, 0));
    }

    #[test]
    fn the_disk_holds_no_more_than_the_memory() {
        let dir = tempfile::tempdir().unwrap();
        let (outbox, _) = open(dir.path());
        for _ in 0..MAX_MESSAGES + 50 {
            outbox.push(message("event", Class::Event, false));
        }
        outbox.sync();
        std::mem::forget(outbox);
        assert_eq!(open(dir.path()).0.len(), MAX_MESSAGES);
    }

    #[test]
    fn requests_without_an_answer_and_ids_of_changes_are_known_after_a_kill() {
        let dir = tempfile::tempdir().unwrap();
        let (outbox, _) = open(dir.path());
        let reply_to =
            ReplyTo::Topic { topic: "engram/rob/answer/x".into(), correlation: Some(vec![7]) };
        let taken = |ticket| Taken {
            ticket,
            id: Some("x".into()),
            request: u64::MAX,
            writes: true,
            reply_to: reply_to.clone(),
        };
        let first = outbox.accept(taken);
        outbox.accept(taken);
        outbox.acted("done", u64::MAX - 1, b"{}");
        outbox.settle(first);
        outbox.sync();
        std::mem::forget(outbox);
        let (outbox, left) = open(dir.path());
        assert_eq!(left.taken, [taken(1)]);
        assert_eq!(left.acted.len(), 1);
        assert_eq!((left.acted[0].id.as_str(), left.acted[0].request), ("done", u64::MAX - 1));
        assert_eq!(outbox.accept(taken), Some(2));
    }

    #[test]
    fn a_request_is_acknowledged_when_it_is_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let (outbox, _) = open(dir.path());
        let reply_to = ReplyTo::Topic { topic: "engram/rob/answer/x".into(), correlation: None };
        let file = dir.path().join("outbox.db");
        for number in 1..=50 {
            let reply_to = reply_to.clone();
            outbox.accept(|ticket| Taken { ticket, id: None, request: 0, writes: false, reply_to });
            let (told, seen) = std::sync::mpsc::channel::<u32>();
            let file = file.clone();
            outbox.after(move || {
                let db = rusqlite::Connection::open(file).unwrap();
                let taken = db.query_row("SELECT count(*) FROM taken", [], |row| row.get(0));
                told.send(taken.unwrap()).unwrap();
            });
            assert!(seen.recv().unwrap() >= number);
        }
    }

    /// Speaks of somebody who is to be erased.
    fn of_wilhelmina(topic: &str, class: Class) -> Outgoing {
        let payload = br#"{"id":"q","answer":"Wilhelmina was here."}"#.to_vec();
        Outgoing { payload, ..message(topic, class, false) }
    }

    #[test]
    fn erasing_leaves_no_word_of_what_waited() {
        let dir = tempfile::tempdir().unwrap();
        let (outbox, _) = open(dir.path());
        outbox.push(of_wilhelmina("event", Class::Event));
        outbox.push(of_wilhelmina("answer", Class::Reply));
        outbox.acted("n", 1, b"{\"name\":\"Wilhelmina\"}");
        outbox.sync();
        outbox.erase();
        outbox.sync();
        for file in std::fs::read_dir(dir.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(10).any(|text| text == b"Wilhelmina"));
        }
        let reply = outbox.take().unwrap().message;
        let reply: serde_json::Value = serde_json::from_slice(&reply.payload).unwrap();
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&"q".into(), &"unavailable".into()));
        assert!(outbox.take().is_none());
    }

    #[test]
    fn what_was_on_its_way_during_an_erasure_does_not_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let (outbox, _) = open(dir.path());
        outbox.push(of_wilhelmina("event", Class::Event));
        outbox.push(of_wilhelmina("answer", Class::Reply));
        let taken: Vec<_> = std::iter::from_fn(|| outbox.take()).collect();
        assert_eq!(taken.len(), 2);
        outbox.erase();
        // The connection breaks.
        outbox.give_back(taken.into_iter());
        outbox.sync();
        std::mem::forget(outbox);
        let (outbox, _) = open(dir.path());
        let left: Vec<_> = std::iter::from_fn(|| outbox.take()).collect();
        assert_eq!(left.len(), 1, "{left:?}");
        let reply: serde_json::Value = serde_json::from_slice(&left[0].message.payload).unwrap();
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&"q".into(), &"unavailable".into()));
        // What comes later comes back as it was.
        outbox.push(of_wilhelmina("later", Class::Event));
        let taken = outbox.take();
        outbox.give_back(taken.into_iter());
        assert_eq!(outbox.take().unwrap().message, of_wilhelmina("later", Class::Event));
    }

    #[test]
    fn a_reply_from_before_an_erasure_is_withdrawn() {
        let outbox = Outbox::default();
        let said = || Outgoing {
            payload: br#"{"id":"q","answer":"Wilhelmina was here."}"#.to_vec(),
            ..message("answer/q", Class::Reply, false)
        };
        let before = outbox.erasures();
        outbox.erase();
        outbox.reply(said(), before);
        let reply = outbox.take().unwrap().message;
        let reply: serde_json::Value = serde_json::from_slice(&reply.payload).unwrap();
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&"q".into(), &"unavailable".into()));
        outbox.reply(said(), outbox.erasures());
        assert_eq!(outbox.take().unwrap().message, said());
    }

    #[test]
    fn a_kill_while_something_is_erased_leaves_no_word_of_what_waited() {
        let dir = tempfile::tempdir().unwrap();
        {
            let (outbox, _) = open(dir.path());
            let reply = br#"{"id":"q1","answer":"Ava is here."}"#.to_vec();
            outbox.push(Outgoing { payload: reply, ..message("answer/q1", Class::Reply, false) });
            outbox.push(message("event/Ava", Class::Event, false));
            outbox.acted("c1", 7, br#"{"ok":true,"name":"Ava"}"#);
            outbox.erasing(true);
            outbox.sync();
        }
        // The memory's rows are gone, the outbox was not reached.
        let (outbox, left) = open(dir.path());
        let told: Vec<Vec<u8>> =
            outbox.lock().waiting.iter().map(|one| one.message.payload.clone()).collect();
        assert_eq!(told.len(), 1);
        assert!(String::from_utf8_lossy(&told[0]).contains("ask again"));
        assert_eq!(left.acted[0].reply, br#"{"ok":true}"#);
        outbox.sync();
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(3).any(|word| word == b"Ava"), "{}", path.display());
        }
        // Done, and a request that erases nothing takes nothing away.
        outbox.push(message("event/person", Class::Event, false));
        outbox.erasing(true);
        outbox.erasing(false);
        outbox.sync();
        drop(outbox);
        assert_eq!(topics(&open(dir.path()).0), ["answer/q1", "event/person"]);
    }

    #[test]
    fn a_damaged_file_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("outbox.db"), vec![7u8; 9000]).unwrap();
        let (outbox, left) = open(dir.path());
        assert!(left.taken.is_empty() && outbox.len() == 0);
        assert!(dir.path().join("outbox.db.damaged").exists());
    }
}
