//! Acting once per id: QoS 1 may deliver a request twice, and clients retry.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::dispatch::ReplyTo;
use super::journal::{ACTED_SECS, Acted};

/// How long the reply to a reading request is repeated to whoever sends it again.
const READ_MEMORY: Duration = Duration::from_secs(60);
/// How long a writing request is known by its id.
const WRITE_MEMORY: Duration = Duration::from_secs(ACTED_SECS);
/// From one search for what is known for long enough to the next.
const SWEPT_EVERY: Duration = Duration::from_secs(10);
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
    swept: Option<Instant>,
}

/// A request by its topic and payload; the same in every build, because it is kept on disk.
pub(super) fn fingerprint(topic: &str, payload: &[u8]) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update((topic.len() as u64).to_le_bytes());
    hasher.update(topic);
    hasher.update(payload);
    let digest = hasher.finalize();
    digest.iter().take(8).fold(0, |print, byte| print << 8 | u64::from(*byte))
}

impl Once {
    /// Takes over the changes that an earlier daemon carried out.
    pub(super) fn restore(&mut self, acted: Vec<Acted>, now: Instant) {
        for Acted { id, request, reply, age } in acted {
            let began = now.checked_sub(age).unwrap_or(now);
            self.remove(&id);
            self.bytes += reply.len();
            let (keep, waiting) = (WRITE_MEMORY, Vec::new());
            self.entries
                .insert(id.clone(), Entry { request, began, keep, reply: Some(reply), waiting });
            self.order.push_back(id);
        }
        while (self.entries.len() > MAX_IDS || self.bytes > MAX_BYTES) && self.forget_oldest() {}
    }

    /// Something was erased from the memory: replies may speak of it. Ids of changes stay known.
    pub(super) fn erase(&mut self) {
        let told: Vec<String> = self
            .order
            .iter()
            .filter(|id| self.entries.get(*id).is_some_and(|entry| entry.reply.is_some()))
            .cloned()
            .collect();
        for id in told {
            let Some(entry) = self.entries.get_mut(&id) else { continue };
            if entry.keep == READ_MEMORY {
                self.remove(&id);
                continue;
            }
            let bare = serde_json::json!({ "id": id, "ok": true }).to_string().into_bytes();
            let before = entry.reply.as_ref().map_or(0, Vec::len);
            self.bytes = self.bytes - before + bare.len();
            entry.reply = Some(bare);
        }
    }

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
        self.sweep(now);
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

    /// Forgets what was known for long enough: replies are long, and nobody asks for them any more.
    fn sweep(&mut self, now: Instant) {
        if self.swept.is_some_and(|at| now.saturating_duration_since(at) < SWEPT_EVERY) {
            return;
        }
        self.swept = Some(now);
        let (entries, bytes) = (&mut self.entries, &mut self.bytes);
        self.order.retain(|id| {
            let over = entries.get(id).is_none_or(|entry| {
                entry.reply.is_some() && now.saturating_duration_since(entry.began) > entry.keep
            });
            if over && let Some(entry) = entries.remove(id) {
                *bytes -= entry.reply.as_ref().map_or(0, Vec::len);
            }
            !over
        });
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
    fn replies_are_kept_as_long_as_they_are_repeated() {
        let mut once = Once::default();
        let now = Instant::now();
        for number in 0..200 {
            let (id, reads) = (format!("q{number}"), number > 0);
            assert_eq!(once.begin(&id, 1, reads, &to("x"), now), Verdict::New);
            if number != 1 {
                assert!(once.finish(&id, 1, b"reply").is_some());
            }
        }
        let later = now + READ_MEMORY + Duration::from_secs(1);
        assert_eq!(once.begin("next", 1, true, &to("x"), later), Verdict::New);
        // The change is known for longer, and what is being carried out is.
        let mut known: Vec<&str> = once.entries.keys().map(String::as_str).collect();
        known.sort_unstable();
        assert_eq!(known, ["next", "q0", "q1"]);
        assert_eq!(once.order, ["q0", "q1", "next"]);
        assert_eq!(once.bytes, b"reply".len());
    }

    #[test]
    fn what_was_done_before_a_restart_is_not_done_again() {
        let mut once = Once::default();
        let now = Instant::now() + WRITE_MEMORY;
        let acted = |id: &str, secs| Acted {
            id: id.into(),
            request: 7,
            reply: b"done".to_vec(),
            age: Duration::from_secs(secs),
        };
        once.restore(vec![acted("old", ACTED_SECS + 1), acted("new", 10)], now);
        assert_eq!(once.begin("new", 7, false, &to("x"), now), Verdict::Again(b"done".to_vec()));
        assert_eq!(once.begin("new", 8, false, &to("x"), now), Verdict::Taken);
        assert_eq!(once.begin("old", 7, false, &to("x"), now), Verdict::New);
    }

    #[test]
    fn erasing_takes_what_replies_said_and_leaves_the_ids_of_changes() {
        let mut once = Once::default();
        let now = Instant::now();
        for (id, reads) in [("q", true), ("n", false), ("open", false)] {
            once.begin(id, 1, reads, &to("x"), now);
        }
        once.finish("q", 1, b"Ava was here");
        once.finish("n", 1, b"{\"name\":\"Ava\"}");
        once.erase();
        assert_eq!(once.begin("q", 1, true, &to("x"), now), Verdict::New);
        let bare = br#"{"id":"n","ok":true}"#.to_vec();
        assert_eq!(once.bytes, bare.len());
        assert_eq!(once.begin("n", 1, false, &to("x"), now), Verdict::Again(bare));
        assert_eq!(once.begin("open", 1, false, &to("x"), now), Verdict::Joined);
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
