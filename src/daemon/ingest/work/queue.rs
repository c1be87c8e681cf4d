//! Jobs that wait for a worker: by priority, each kind with so many places, so that one kind cannot shut another out.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Kind;

/// A second look waits so long for words that wait, and then for nobody.
const YIELDS_FOR: Duration = Duration::from_secs(1);
/// How often one that yields looks whether it still must.
const LOOK: Duration = Duration::from_millis(50);
/// What has waited for so long goes before more urgent work: there may be more of that than can ever be done.
const AGED: Duration = Duration::from_secs(3);

/// How many jobs of each kind may wait.
pub(in crate::daemon::ingest) type Places = [usize; Kind::COUNT];

/// How many jobs wait in another queue. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(in crate::daemon::ingest) struct Waiting(Arc<AtomicUsize>);

struct Entry<J> {
    job: J,
    since: Instant,
}

struct State<J> {
    waiting: [VecDeque<Entry<J>>; Kind::COUNT],
    /// Nobody will put anything in any more, or nobody takes anything out.
    closed: bool,
}

/// The queue. Jobs of one kind are taken in the order in which they came.
pub(in crate::daemon::ingest) struct Queue<J> {
    state: Mutex<State<J>>,
    /// A job came, or the end.
    came: Condvar,
    /// A place came free, or the end.
    freed: Condvar,
    places: Places,
    /// How many wait here.
    count: Waiting,
    /// Second looks wait while anything waits there.
    yields_to: Waiting,
}

impl<J> Queue<J> {
    pub(in crate::daemon::ingest) fn new(places: Places, yields_to: Waiting) -> Self {
        let state = State { waiting: Default::default(), closed: false };
        Self {
            state: Mutex::new(state),
            came: Condvar::new(),
            freed: Condvar::new(),
            places,
            count: Waiting::default(),
            yields_to,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wait, for others to look at.
    pub(in crate::daemon::ingest) fn waiting(&self) -> Waiting {
        self.count.clone()
    }

    /// How many wait.
    pub(in crate::daemon::ingest) fn len(&self) -> usize {
        self.count.0.load(Ordering::Relaxed)
    }

    /// Puts a job in; waits while its kind has no place. A queue that is closed drops it.
    pub(in crate::daemon::ingest) fn put(&self, kind: Kind, job: J) {
        let mut state = self.lock();
        while !state.closed && state.waiting[kind as usize].len() >= self.places[kind as usize] {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.add(state, kind, job);
    }

    /// Puts a job in if its kind has a place; false where it has none.
    pub(in crate::daemon::ingest) fn try_put(&self, kind: Kind, job: J) -> bool {
        let state = self.lock();
        if state.closed || state.waiting[kind as usize].len() >= self.places[kind as usize] {
            return false;
        }
        self.add(state, kind, job);
        true
    }

    fn add(&self, mut state: MutexGuard<'_, State<J>>, kind: Kind, job: J) {
        if !state.closed {
            state.waiting[kind as usize].push_back(Entry { job, since: Instant::now() });
            self.count.0.fetch_add(1, Ordering::Relaxed);
            drop(state);
            self.came.notify_one();
        }
    }

    /// Takes the most urgent job; waits for one. `None`: nothing will come any more.
    pub(in crate::daemon::ingest) fn take(&self) -> Option<J> {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            if let Some(kind) = self.next(&state, now) {
                let entry = state.waiting[kind as usize].pop_front()?;
                self.count.0.fetch_sub(1, Ordering::Relaxed);
                drop(state);
                self.freed.notify_all();
                return Some(entry.job);
            }
            let some_yield = state.waiting.iter().any(|waiting| !waiting.is_empty());
            if state.closed && !some_yield {
                return None;
            }
            state = match some_yield {
                true => {
                    self.came.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0
                }
                false => self.came.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Which kind is to be taken from now.
    fn next(&self, state: &State<J>, now: Instant) -> Option<Kind> {
        let waited = |kind: Kind| {
            let first = state.waiting[kind as usize].front()?;
            Some(now.saturating_duration_since(first.since))
        };
        let aged =
            Kind::ALL.into_iter().filter(|kind| waited(*kind).is_some_and(|age| age >= AGED));
        if let Some(oldest) = aged.max_by_key(|kind| waited(*kind)) {
            return Some(oldest);
        }
        let yields = self.yields_to.0.load(Ordering::Relaxed) > 0;
        Kind::ALL.into_iter().find(|kind| {
            waited(*kind).is_some_and(|age| !(kind.is_second_look() && yields && age < YIELDS_FOR))
        })
    }

    /// Nothing comes any more; what waits is still done.
    pub(in crate::daemon::ingest) fn close(&self) {
        self.lock().closed = true;
        self.came.notify_all();
        self.freed.notify_all();
    }

    /// Nobody takes anything any more: what waits is dropped.
    pub(in crate::daemon::ingest) fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        let left = std::mem::take(&mut state.waiting);
        self.count.0.store(0, Ordering::Relaxed);
        drop(state);
        self.came.notify_all();
        self.freed.notify_all();
        drop(left);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::thread;

    use super::*;

    const MANY: Places = [9; Kind::COUNT];

    #[test]
    fn the_most_urgent_is_taken_first_and_equals_in_the_order_they_came() {
        let queue = Queue::new(MANY, Waiting::default());
        for (n, kind) in Kind::ALL.into_iter().rev().chain(Kind::ALL).enumerate() {
            queue.put(kind, (kind, n));
        }
        assert_eq!(queue.len(), 12);
        queue.close();
        let taken: Vec<_> = std::iter::from_fn(|| queue.take()).collect();
        let mut sorted = taken.clone();
        sorted.sort_unstable();
        assert_eq!((taken.len(), taken), (12, sorted));
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_kind_without_a_place_shuts_no_other_out() {
        let mut places = MANY;
        places[Kind::Again as usize] = 1;
        let queue = Arc::new(Queue::new(places, Waiting::default()));
        queue.put(Kind::Again, 1);
        assert!(!queue.try_put(Kind::Again, 2));
        assert!(queue.try_put(Kind::Frame, 3));
        let waits = Arc::clone(&queue);
        let waits = thread::spawn(move || waits.put(Kind::Again, 4));
        assert_eq!((queue.take(), queue.take()), (Some(3), Some(1)));
        assert_eq!(queue.take(), Some(4), "it got the place");
        waits.join().unwrap();
    }

    #[test]
    fn second_looks_yield_to_words_for_a_while_and_what_waits_for_long_is_not_forgotten() {
        let words = Queue::new(MANY, Waiting::default());
        let queue = Queue::new(MANY, words.waiting());
        queue.put(Kind::Mouth, 1);
        words.put(Kind::Words, 0);
        let (state, now) = (queue.lock(), Instant::now());
        assert_eq!(queue.next(&state, now), None);
        assert_eq!(queue.next(&state, now + YIELDS_FOR), Some(Kind::Mouth));
        drop(state);
        words.take();
        queue.put(Kind::Frame, 2);
        let (state, now) = (queue.lock(), Instant::now());
        assert_eq!(queue.next(&state, now), Some(Kind::Frame));
        assert_eq!(queue.next(&state, now + AGED), Some(Kind::Mouth), "it came before the frame");
    }

    #[test]
    fn an_end_lets_everybody_go() {
        let queue = Arc::new(Queue::<u8>::new([1; Kind::COUNT], Waiting::default()));
        let takes = Arc::clone(&queue);
        let takes = thread::spawn(move || (takes.take(), takes.take()));
        queue.put(Kind::Frame, 7);
        queue.close();
        assert_eq!(takes.join().unwrap(), (Some(7), None));
        assert!(!queue.try_put(Kind::Frame, 8));
        let full = Arc::new(Queue::<u8>::new([1; Kind::COUNT], Waiting::default()));
        full.put(Kind::Frame, 7);
        let puts = Arc::clone(&full);
        let puts = thread::spawn(move || puts.put(Kind::Frame, 8));
        full.abandon();
        puts.join().unwrap();
        assert_eq!(full.take(), None);
    }
}
