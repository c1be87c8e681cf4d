//! What was published of late, for who listens in this process: numbered, bounded, and gone with an erasure.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::outbox::Class;
use crate::time::Timestamp;

/// Publications that are kept for who comes back …
const MAX_KEPT: usize = 4096;
/// … and bytes of them.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Something that was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// Its number: each is greater than the one before, also than those of an earlier start of the daemon.
    pub seq: u64,
    /// The whole topic.
    pub topic: String,
    /// JSON.
    pub payload: Vec<u8>,
    /// For whom alone it is; `None`: for everybody who may read that topic.
    pub reader: Option<Arc<str>>,
}

/// What was to be read on is not kept any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// What is kept.
    pub kept: Vec<Arc<Publication>>,
}

/// The publications of late.
#[derive(Debug)]
pub(super) struct Feed {
    ring: Mutex<Ring>,
    newest: watch::Sender<u64>,
}

#[derive(Debug)]
struct Ring {
    next: u64,
    kept: BTreeMap<u64, Arc<Publication>>,
    bytes: usize,
    /// The newest of each topic that tells a state: it takes the place of the one before.
    states: HashMap<String, u64>,
    /// Everything before that number was kept up to here, or was erased, which nobody is told of.
    lost_before: u64,
}

impl Default for Feed {
    fn default() -> Self {
        // Microseconds: a program that comes back after a restart has a number that is smaller, and JavaScript holds it.
        let first = u64::try_from(Timestamp::wall_clock().as_nanos() / 1000).unwrap_or_default();
        let ring = Ring {
            next: first + 1,
            kept: BTreeMap::new(),
            bytes: 0,
            states: HashMap::new(),
            lost_before: first + 1,
        };
        Self { ring: Mutex::new(ring), newest: watch::Sender::new(first) }
    }
}

impl Ring {
    fn remove(&mut self, seq: u64) {
        if let Some(gone) = self.kept.remove(&seq) {
            self.bytes -= gone.payload.len();
        }
    }
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something is published.
    pub(super) fn put(
        &self,
        topic: String,
        payload: Vec<u8>,
        class: Class,
        reader: Option<Arc<str>>,
    ) {
        let mut ring = self.lock();
        let seq = ring.next;
        ring.next += 1;
        // The rounds of an answer follow each other, everything else that is soon said anew replaces what was said before.
        let is_state = class < Class::Event && !topic.ends_with("/progress");
        if is_state && let Some(before) = ring.states.insert(topic.clone(), seq) {
            ring.remove(before);
        }
        ring.bytes += payload.len();
        ring.kept.insert(seq, Arc::new(Publication { seq, topic, payload, reader }));
        while ring.kept.len() > MAX_KEPT || ring.bytes > MAX_BYTES {
            let states = &ring.states;
            let oldest = ring.kept.iter().find(|(seq, one)| states.get(&one.topic) != Some(seq));
            let Some(oldest) = oldest.map(|(seq, _)| *seq) else { break };
            ring.remove(oldest);
            ring.lost_before = oldest + 1;
        }
        drop(ring);
        self.newest.send_replace(seq);
    }

    /// What is kept after that number, oldest first. A number from the future (the clock was set back between two starts)
    /// is as good as one from before everything.
    pub(super) fn after(&self, seq: u64) -> Result<Vec<Arc<Publication>>, Missed> {
        let ring = self.lock();
        let known = seq < ring.next && seq + 1 >= ring.lost_before;
        let from = if seq < ring.next { seq + 1 } else { 0 };
        let kept = ring.kept.range(from..).map(|(_, one)| Arc::clone(one)).collect();
        if known { Ok(kept) } else { Err(Missed { kept }) }
    }

    /// The number of the newest.
    pub(super) fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    /// Waits until there is something after that number.
    pub(super) async fn filled(&self, after: u64) {
        let mut newest = self.newest.subscribe();
        // The sender lives as long as this does.
        let _ = newest.wait_for(|newest| *newest > after).await;
    }

    /// The newest document of a topic that tells a state.
    pub(super) fn document(&self, topic: &str) -> Option<Arc<Publication>> {
        let ring = self.lock();
        let seq = ring.states.get(topic)?;
        ring.kept.get(seq).cloned()
    }

    /// Something was erased from the memory: what happened may speak of it. States stay, which tell of no person.
    pub(super) fn erase(&self) {
        let mut ring = self.lock();
        let kept = std::mem::take(&mut ring.kept);
        let states = std::mem::take(&mut ring.states);
        ring.bytes = 0;
        for (seq, one) in kept {
            let is_state = states.get(&one.topic) == Some(&seq);
            if is_state && !one.topic.ends_with("/home") {
                ring.bytes += one.payload.len();
                ring.states.insert(one.topic.clone(), seq);
                ring.kept.insert(seq, one);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn put(feed: &Feed, topic: &str, class: Class) -> u64 {
        feed.put(topic.to_owned(), topic.as_bytes().to_vec(), class, None);
        feed.newest()
    }

    fn topics(kept: &[Arc<Publication>]) -> Vec<&str> {
        kept.iter().map(|one| one.topic.as_str()).collect()
    }

    #[test]
    fn who_comes_back_reads_on_where_he_was() {
        let feed = Feed::default();
        let before = feed.newest();
        let first = put(&feed, "a", Class::Event);
        put(&feed, "status", Class::Fleeting);
        put(&feed, "b", Class::Event);
        put(&feed, "status", Class::Fleeting);
        assert_eq!(topics(&feed.after(before).unwrap()), ["a", "b", "status"]);
        assert_eq!(topics(&feed.after(first).unwrap()), ["b", "status"]);
        assert_eq!(feed.after(feed.newest()), Ok(Vec::new()));
        // Of an earlier start, and of a clock that was ahead.
        for seq in [0, u64::MAX] {
            assert_eq!(topics(&feed.after(seq).unwrap_err().kept), ["a", "b", "status"]);
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_who_missed_something_learns_it() {
        let feed = Feed::default();
        put(&feed, "describe", Class::Fleeting);
        let early = put(&feed, "a", Class::Event);
        for _ in 0..MAX_KEPT {
            put(&feed, "b", Class::Event);
        }
        let kept = feed.after(early - 1).unwrap_err().kept;
        assert_eq!(kept.len(), MAX_KEPT - 1);
        assert!(feed.after(early + 1).is_ok());
        assert!(feed.document("describe").is_some(), "a state outlasts what happened");
        feed.put("c".to_owned(), vec![0; MAX_BYTES - 100], Class::Event, None);
        assert!(feed.after(0).unwrap_err().kept.len() < 100);
    }

    #[test]
    fn an_erasure_takes_what_happened_and_leaves_how_it_is() {
        let feed = Feed::default();
        let before = feed.newest();
        for (topic, class) in [
            ("r/status", Class::Fleeting),
            ("r/home", Class::Fleeting),
            ("r/answer/q/progress", Class::Fleeting),
            ("r/event/person", Class::Event),
        ] {
            put(&feed, topic, class);
        }
        feed.erase();
        assert_eq!(topics(&feed.after(before).unwrap()), ["r/status"]);
        put(&feed, "r/event/person", Class::Event);
        assert_eq!(topics(&feed.after(before).unwrap()), ["r/status", "r/event/person"]);
    }
}
