//! Acting once per id: QoS 1 may deliver a request twice, and clients retry.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use super::dispatch::ReplyTo;

/// How long the reply to a reading request is repeated to whoever sends it again.
const READ_MEMORY: Duration = Duration::from_secs(60);
/// How long a writing request is known by its id.
const WRITE_MEMORY: Duration = Duration::from_secs(3600);
/// Ids that are known at the same time.
const MAX_IDS: usize = 4096;
/// Bytes of replies that are kept for repeating.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// What is to be done with a request that has an id.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is new: carry it out.
    New,
    /// It is being carried out; the reply will go to this sender too.
    Joined,
    /// It was carried out: this is the reply.
    Again(Vec<u8>),
    /// The id belongs to another request.
    Taken,
}

#[derive(Debug)]
struct Entry {
    request: u64,
    began: Instant,
    keep: Duration,
    reply: Option<Vec<u8>>,
    waiting: Vec<ReplyTo>,
}

/// The ids of late.
#[derive(Debug, Default)]
pub(super) struct Once {
    entries: HashMap<String, Entry>,
    order: VecDeque<String>,
    bytes: usize,
}

/// A request by its topic and payload.
pub(super) fn fingerprint(topic: &str, payload: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (topic, payload).hash(&mut hasher);
    hasher.finish()
}

impl Once {
    /// Notes a request. `reads`: it changes nothing, so that another one under the same id may follow.
    pub(super) fn begin(
        &mut self,
        id: &str,
        request: u64,
        reads: bool,
        sender: &ReplyTo,
        now: Instant,
    ) -> Verdict {
        let over = self.entries.get(id).is_some_and(|entry| {
            let old = now.saturating_duration_since(entry.began) > entry.keep;
            let both_read = reads && entry.keep == READ_MEMORY;
            (entry.reply.is_some() && old) || (both_read && entry.request != request)
        });
        if over {
            self.remove(id);
        }
        if let Some(entry) = self.entries.get_mut(id) {
            return match &entry.reply {
                _ if entry.request != request => Verdict::Taken,
                Some(reply) => Verdict::Again(reply.clone()),
                None => {
                    if !entry.waiting.contains(sender) && entry.waiting.len() < 16 {
                        entry.waiting.push(sender.clone());
                    }
                    Verdict::Joined
                }
            };
        }
        let keep = if reads { READ_MEMORY } else { WRITE_MEMORY };
        let waiting = vec![sender.clone()];
        self.entries
            .insert(id.to_owned(), Entry { request, began: now, keep, reply: None, waiting });
        self.order.push_back(id.to_owned());
        while self.entries.len() > MAX_IDS {
            self.forget_oldest();
        }
        Verdict::New
    }

    /// Notes the reply; gives everybody it goes to, or `None` when the request is no longer known.
    pub(super) fn finish(&mut self, id: &str, request: u64, reply: &[u8]) -> Option<Vec<ReplyTo>> {
        let entry = self.entries.get_mut(id).filter(|entry| entry.request == request)?;
        let waiting = std::mem::take(&mut entry.waiting);
        entry.reply = Some(reply.to_vec());
        self.bytes += reply.len();
        while self.bytes > MAX_BYTES && self.forget_oldest() {}
        Some(waiting)
    }

    /// Forgets a request that was not carried out, so that it may be sent again.
    pub(super) fn abandon(&mut self, id: &str, request: u64) -> Vec<ReplyTo> {
        if self.entries.get(id).is_none_or(|entry| entry.request != request) {
            return Vec::new();
        }
        self.remove(id).map(|entry| entry.waiting).unwrap_or_default()
    }

    fn remove(&mut self, id: &str) -> Option<Entry> {
        let entry = self.entries.remove(id)?;
        self.bytes -= entry.reply.as_ref().map_or(0, Vec::len);
        self.order.retain(|other| other != id);
        Some(entry)
    }

    fn forget_oldest(&mut self) -> bool {
        let Some(oldest) = self.order.pop_front() else { return false };
        if let Some(entry) = self.entries.remove(&oldest) {
            self.bytes -= entry.reply.as_ref().map_or(0, Vec::len);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(topic: &str) -> ReplyTo {
        ReplyTo { topic: topic.into(), correlation: None }
    }

    #[test]
    fn a_request_is_carried_out_once_and_its_reply_repeated() {
        let mut once = Once::default();
        let now = Instant::now();
        assert_eq!(once.begin("a", 1, false, &to("x"), now), Verdict::New);
        assert_eq!(once.begin("a", 1, false, &to("y"), now), Verdict::Joined);
        assert_eq!(once.finish("a", 1, b"done"), Some(vec![to("x"), to("y")]));
        assert_eq!(once.begin("a", 1, false, &to("x"), now), Verdict::Again(b"done".to_vec()));
        assert_eq!(once.begin("a", 2, false, &to("x"), now), Verdict::Taken);
        let later = now + WRITE_MEMORY + Duration::from_secs(1);
        assert_eq!(once.begin("a", 2, false, &to("x"), later), Verdict::New);
    }

    #[test]
    fn another_question_under_the_same_id_is_a_new_question() {
        let mut once = Once::default();
        let now = Instant::now();
        assert_eq!(once.begin("q", 1, true, &to("x"), now), Verdict::New);
        assert_eq!(once.begin("q", 2, true, &to("x"), now), Verdict::New);
        assert_eq!(once.finish("q", 1, b"old"), None);
        assert_eq!(once.finish("q", 2, b"new"), Some(vec![to("x")]));
        let later = now + READ_MEMORY + Duration::from_secs(1);
        assert_eq!(once.begin("q", 2, true, &to("x"), later), Verdict::New);
    }

    #[test]
    fn the_ids_that_are_known_are_bounded() {
        let mut once = Once::default();
        let now = Instant::now();
        for number in 0..3 * MAX_IDS as u64 {
            let id = number.to_string();
            once.begin(&id, number, false, &to("x"), now);
            once.finish(&id, number, &[0; 4096]);
        }
        assert!(once.entries.len() <= MAX_IDS && once.bytes <= MAX_BYTES);
        assert_eq!(once.entries.len(), once.order.len());
    }
}
