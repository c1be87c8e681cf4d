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

/// What a request does. Each kind has room of its own, so that no flood of questions makes a change be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It changes nothing: another one under the same id may follow.
    Read,
    /// Poses, own speech, a replay's steering: often, and worth little when late.
    Sense,
    /// It changes the memory.
    Change,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Read, Self::Sense, Self::Change];

    /// How long its id is known.
    fn keep(self) -> Duration {
        match self {
            Self::Read => READ_MEMORY,
            Self::Sense | Self::Change => WRITE_MEMORY,
        }
    }

    /// Ids that are known at the same time, and bytes of their replies.
    fn most(self) -> (usize, usize) {
        const MB: usize = 1024 * 1024;
        match self {
            Self::Read => (4096, 8 * MB),
            Self::Sense => (4096, MB),
            Self::Change => (65_536, 32 * MB),
        }
    }
}

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
    kind: Kind,
    began: Instant,
    reply: Option<Vec<u8>>,
    waiting: Vec<ReplyTo>,
}

/// The ids of one kind.
#[derive(Debug, Default)]
struct Shelf {
    /// Oldest first.
    order: VecDeque<String>,
    /// Of their replies.
    bytes: usize,
}

/// The ids of late.
#[derive(Debug, Default)]
pub(super) struct Once {
    entries: HashMap<String, Entry>,
    shelves: [Shelf; Kind::ALL.len()],
    swept: Option<Instant>,
    /// Erasures that are done here, too.
    erasures: u64,
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
        let kind = Kind::Change;
        for Acted { id, request, reply, age } in acted {
            let began = now.checked_sub(age).unwrap_or(now);
            self.remove(&id);
            self.shelf(kind).bytes += reply.len();
            let (reply, waiting) = (Some(reply), Vec::new());
            self.put(id, Entry { request, kind, began, reply, waiting });
        }
        self.make_room(kind);
    }

    /// So often something was erased from the memory: replies from before may speak of it. Ids of changes stay known.
    pub(super) fn catch_up(&mut self, erasures: u64) {
        if self.erasures == erasures {
            return;
        }
        self.erasures = erasures;
        for kind in Kind::ALL {
            let order = &self.shelves[kind as usize].order;
            let answered =
                |id: &&String| self.entries.get(*id).is_some_and(|entry| entry.reply.is_some());
            // The latest first: what is taken back is sought from there.
            let told: Vec<String> = order.iter().rev().filter(answered).cloned().collect();
            for id in told {
                if kind == Kind::Read {
                    self.remove(&id);
                    continue;
                }
                let Some(entry) = self.entries.get_mut(&id) else { continue };
                let bare = serde_json::json!({ "id": id, "ok": true }).to_string().into_bytes();
                let (before, after) = (entry.reply.as_ref().map_or(0, Vec::len), bare.len());
                entry.reply = Some(bare);
                let shelf = self.shelf(kind);
                shelf.bytes = shelf.bytes - before + after;
            }
        }
    }

    /// Notes a request.
    pub(super) fn begin(
        &mut self,
        id: &str,
        request: u64,
        kind: Kind,
        sender: &ReplyTo,
        now: Instant,
    ) -> Verdict {
        let over = self.entries.get(id).is_some_and(|entry| {
            let old = now.saturating_duration_since(entry.began) > entry.kind.keep();
            let both_read = kind == Kind::Read && entry.kind == Kind::Read;
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
        let waiting = vec![sender.clone()];
        self.put(id.to_owned(), Entry { request, kind, began: now, reply: None, waiting });
        self.make_room(kind);
        Verdict::New
    }

    /// Notes the reply; gives everybody it goes to, or `None` when the request is no longer known.
    pub(super) fn finish(&mut self, id: &str, request: u64, reply: &[u8]) -> Option<Vec<ReplyTo>> {
        let entry = self.entries.get_mut(id).filter(|entry| entry.request == request)?;
        let waiting = std::mem::take(&mut entry.waiting);
        entry.reply = Some(reply.to_vec());
        let kind = entry.kind;
        self.shelf(kind).bytes += reply.len();
        self.make_room(kind);
        Some(waiting)
    }

    /// Forgets a request that was not carried out, so that it may be sent again.
    pub(super) fn abandon(&mut self, id: &str, request: u64) -> Vec<ReplyTo> {
        if self.entries.get(id).is_none_or(|entry| entry.request != request) {
            return Vec::new();
        }
        self.remove(id).map(|entry| entry.waiting).unwrap_or_default()
    }

    fn shelf(&mut self, kind: Kind) -> &mut Shelf {
        &mut self.shelves[kind as usize]
    }

    fn put(&mut self, id: String, entry: Entry) {
        self.shelf(entry.kind).order.push_back(id.clone());
        self.entries.insert(id, entry);
    }

    fn remove(&mut self, id: &str) -> Option<Entry> {
        let entry = self.entries.remove(id)?;
        let shelf = self.shelf(entry.kind);
        shelf.bytes -= entry.reply.as_ref().map_or(0, Vec::len);
        // What is taken back came of late.
        if let Some(at) = shelf.order.iter().rposition(|other| other == id) {
            shelf.order.remove(at);
        }
        Some(entry)
    }

    /// Forgets what was known for long enough: replies are long, and nobody asks for them any more.
    fn sweep(&mut self, now: Instant) {
        if self.swept.is_some_and(|at| now.saturating_duration_since(at) < SWEPT_EVERY) {
            return;
        }
        self.swept = Some(now);
        let entries = &mut self.entries;
        for Shelf { order, bytes } in &mut self.shelves {
            order.retain(|id| {
                let over = entries.get(id).is_none_or(|entry| {
                    let age = now.saturating_duration_since(entry.began);
                    entry.reply.is_some() && age > entry.kind.keep()
                });
                if over && let Some(entry) = entries.remove(id) {
                    *bytes -= entry.reply.as_ref().map_or(0, Vec::len);
                }
                !over
            });
        }
    }

    /// Forgets the oldest of that kind while there are too many of it.
    fn make_room(&mut self, kind: Kind) {
        let (ids, bytes) = kind.most();
        let (entries, shelf) = (&mut self.entries, &mut self.shelves[kind as usize]);
        while shelf.order.len() > ids || shelf.bytes > bytes {
            let Some(oldest) = shelf.order.pop_front() else { return };
            let gone = entries.remove(&oldest).and_then(|entry| entry.reply);
            shelf.bytes -= gone.map_or(0, |reply| reply.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(topic: &str) -> ReplyTo {
        ReplyTo::Topic { topic: topic.into(), correlation: None }
    }

    #[test]
    fn a_request_is_carried_out_once_and_its_reply_repeated() {
        let mut once = Once::default();
        let now = Instant::now();
        assert_eq!(once.begin("a", 1, Kind::Change, &to("x"), now), Verdict::New);
        assert_eq!(once.begin("a", 1, Kind::Change, &to("y"), now), Verdict::Joined);
        assert_eq!(once.finish("a", 1, b"done"), Some(vec![to("x"), to("y")]));
        assert_eq!(
            once.begin("a", 1, Kind::Change, &to("x"), now),
            Verdict::Again(b"done".to_vec())
        );
        assert_eq!(once.begin("a", 2, Kind::Change, &to("x"), now), Verdict::Taken);
        let later = now + WRITE_MEMORY + Duration::from_secs(1);
        assert_eq!(once.begin("a", 2, Kind::Change, &to("x"), later), Verdict::New);
    }

    #[test]
    fn another_question_under_the_same_id_is_a_new_question() {
        let mut once = Once::default();
        let now = Instant::now();
        assert_eq!(once.begin("q", 1, Kind::Read, &to("x"), now), Verdict::New);
        assert_eq!(once.begin("q", 2, Kind::Read, &to("x"), now), Verdict::New);
        assert_eq!(once.finish("q", 1, b"old"), None);
        assert_eq!(once.finish("q", 2, b"new"), Some(vec![to("x")]));
        let later = now + READ_MEMORY + Duration::from_secs(1);
        assert_eq!(once.begin("q", 2, Kind::Read, &to("x"), later), Verdict::New);
    }

    #[test]
    fn replies_are_kept_as_long_as_they_are_repeated() {
        let mut once = Once::default();
        let now = Instant::now();
        for number in 0..200 {
            let kind = if number > 0 { Kind::Read } else { Kind::Change };
            let id = format!("q{number}");
            assert_eq!(once.begin(&id, 1, kind, &to("x"), now), Verdict::New);
            if number != 1 {
                assert!(once.finish(&id, 1, b"reply").is_some());
            }
        }
        let later = now + READ_MEMORY + Duration::from_secs(1);
        assert_eq!(once.begin("next", 1, Kind::Read, &to("x"), later), Verdict::New);
        // The change is known for longer, and what is being carried out is.
        let mut known: Vec<&str> = once.entries.keys().map(String::as_str).collect();
        known.sort_unstable();
        assert_eq!(known, ["next", "q0", "q1"]);
        assert_eq!(once.shelf(Kind::Read).order, ["q1", "next"]);
        assert_eq!(once.shelf(Kind::Change).order, ["q0"]);
        let bytes = Kind::ALL.map(|kind| once.shelf(kind).bytes);
        assert_eq!(bytes, [0, 0, b"reply".len()]);
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
        assert_eq!(
            once.begin("new", 7, Kind::Change, &to("x"), now),
            Verdict::Again(b"done".to_vec())
        );
        assert_eq!(once.begin("new", 8, Kind::Change, &to("x"), now), Verdict::Taken);
        assert_eq!(once.begin("old", 7, Kind::Change, &to("x"), now), Verdict::New);
    }

    #[test]
    fn erasing_takes_what_replies_said_and_leaves_the_ids_of_changes() {
        let mut once = Once::default();
        let now = Instant::now();
        for (id, kind) in [("q", Kind::Read), ("n", Kind::Change), ("open", Kind::Change)] {
            once.begin(id, 1, kind, &to("x"), now);
        }
        once.finish("q", 1, b"Ava was here");
        once.finish("n", 1, b"{\"name\":\"Ava\"}");
        once.catch_up(0);
        assert!(once.entries["q"].reply.is_some(), "nothing was erased");
        once.catch_up(1);
        assert_eq!(once.begin("q", 1, Kind::Read, &to("x"), now), Verdict::New);
        let bare = br#"{"id":"n","ok":true}"#.to_vec();
        assert_eq!(once.shelf(Kind::Change).bytes, bare.len());
        assert_eq!(once.begin("n", 1, Kind::Change, &to("x"), now), Verdict::Again(bare));
        assert_eq!(once.begin("open", 1, Kind::Change, &to("x"), now), Verdict::Joined);
    }

    #[test]
    fn no_flood_of_questions_and_poses_makes_a_change_be_made_twice() {
        let mut once = Once::default();
        let now = Instant::now();
        once.begin("change", 1, Kind::Change, &to("x"), now);
        once.finish("change", 1, b"done");
        for number in 0..20_000 {
            let kind = if number % 2 == 0 { Kind::Read } else { Kind::Sense };
            let id = format!("other {number}");
            once.begin(&id, number, kind, &to("x"), now);
            once.finish(&id, number, &[0; 4096]);
        }
        let again = once.begin("change", 1, Kind::Change, &to("x"), now);
        assert_eq!(again, Verdict::Again(b"done".to_vec()));
    }

    #[test]
    fn the_ids_that_are_known_are_bounded() {
        let mut once = Once::default();
        let now = Instant::now();
        for kind in Kind::ALL {
            let (ids, bytes) = kind.most();
            for (round, length) in [(1, 0), (2, 4096)] {
                for number in 0..ids as u64 + 10 {
                    let id = format!("{kind:?} {round} {number}");
                    once.begin(&id, number, kind, &to("x"), now);
                    once.finish(&id, number, &vec![0; length]);
                }
                let shelf = once.shelf(kind);
                assert!(shelf.order.len() <= ids && shelf.bytes <= bytes, "{kind:?} {round}");
            }
        }
        let known: usize = Kind::ALL.map(|kind| once.shelf(kind).order.len()).iter().sum();
        assert_eq!(once.entries.len(), known);
    }
}
