//! Playing a recording: decoder threads fill bounded channels, one merge hands out items in event time order.
//!
//! Nothing is dropped: a decoder whose channel is full waits. Each channel's producer reads the file by
//! itself (or is the only one), so that waiting for one source can never stop another.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::damage::{Cause, Damage};
use super::error::CaptureError;
use crate::media::Item;
use crate::time::Timestamp;

/// Seconds without data and without end after which a decoder is given up.
const STALL_SECS: u64 = 60;
/// The same for a decoder that has told of an error.
const FAULT_SECS: u64 = 5;
/// So many flaws of one cause are logged one by one; all are counted.
const MOST_LOGGED: u64 = 5;
/// A recording that ends this much before the time in its header was cut.
const END_TOLERANCE_SECS: f64 = 1.0;

/// What a producer sends.
#[derive(Debug)]
pub(super) enum Event {
    /// The next item of this channel, not earlier than the one before it.
    Item(Item),
    /// Something could not be used.
    Damaged(Cause, String),
    /// Nothing more comes.
    End,
}

/// What went wrong in a decoder beside its stream of items; told when the stream has ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults(Arc<Mutex<FaultState>>);

#[derive(Debug, Default)]
struct FaultState {
    stopped: Option<String>,
    undecodable: Vec<String>,
}

impl Faults {
    fn state(&self) -> MutexGuard<'_, FaultState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The decoder gave up; the first reason counts.
    pub(super) fn stopped(&self, reason: String) {
        self.state().stopped.get_or_insert(reason);
    }

    /// Part of the stream could not be decoded.
    pub(super) fn undecodable(&self, reason: String) {
        self.state().undecodable.push(reason);
    }

    fn take(&self) -> Vec<(Cause, String)> {
        let state = std::mem::take(&mut *self.state());
        let undecodable = state.undecodable.into_iter().map(|why| (Cause::Undecodable, why));
        undecodable.chain(state.stopped.map(|why| (Cause::DecoderStopped, why))).collect()
    }
}

/// Where a producer puts its events, and from which time on they are wanted.
#[derive(Clone, Debug)]
pub(super) struct Outlet {
    sender: Sender<Event>,
    wanted: Arc<AtomicI64>,
    closed: Arc<AtomicBool>,
    /// Something was asked of it since it was last looked at.
    busy: Arc<AtomicBool>,
    /// How far its stream has come by the container's own times, nanoseconds.
    told: Arc<AtomicI64>,
    faults: Faults,
}

impl Outlet {
    /// Waits for room; `false` when nobody listens any more.
    pub(super) fn send(&self, event: Event) -> bool {
        self.sender.send(event).is_ok()
    }

    /// Whether nobody listens any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Where errors beside the stream go.
    pub(super) fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// The stream has come so far by the container's own times, nanoseconds.
    pub(super) fn told(&self, nanos: Option<i64>) {
        if let Some(nanos) = nanos {
            self.told.fetch_max(nanos, Ordering::Relaxed);
        }
    }

    /// Whether an item of that time is wanted; what is not need not be copied or sent.
    pub(super) fn wants(&self, at: Timestamp) -> bool {
        self.busy.store(true, Ordering::Relaxed);
        at.as_nanos() >= self.wanted.load(Ordering::Relaxed)
    }
}

/// Keeps a producer alive; stops it when dropped.
pub(super) trait Producer: Send {}

struct Feed {
    receiver: Receiver<Event>,
    head: Option<Item>,
    ended: bool,
    closed: Arc<AtomicBool>,
    /// Its producer is at work, though nothing of it may be wanted yet.
    busy: Arc<AtomicBool>,
    faults: Faults,
}

/// What a container says of its length.
#[derive(Clone, Copy, Debug)]
struct Expected {
    end: Timestamp,
    secs: f64,
}

/// A recording being played, merged over its sources in event time order (ties: by source name).
pub struct Playback {
    path: PathBuf,
    feeds: Vec<Feed>,
    producers: Vec<Box<dyn Producer>>,
    wanted: Arc<AtomicI64>,
    end: Timestamp,
    expected_end: Option<Expected>,
    /// How far a file's streams have come by the container's own times, nanoseconds.
    told: Arc<AtomicI64>,
    reached: Option<Timestamp>,
    damage: Damage,
}

impl std::fmt::Debug for Playback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Playback")
            .field("path", &self.path)
            .field("reached", &self.reached)
            .field("damage", &self.damage)
            .finish_non_exhaustive()
    }
}

impl Playback {
    /// Of `[first, end)`, without any source yet.
    pub(super) fn new(path: &Path, first: Timestamp, end: Timestamp) -> Self {
        Self {
            path: path.to_owned(),
            feeds: Vec::new(),
            producers: Vec::new(),
            wanted: Arc::new(AtomicI64::new(first.as_nanos())),
            end,
            expected_end: None,
            told: Arc::new(AtomicI64::new(i64::MIN)),
            reached: None,
            damage: Damage::default(),
        }
    }

    /// A channel of that many events for one more producer.
    pub(super) fn outlet(&mut self, capacity: usize) -> Outlet {
        let (sender, receiver) = bounded(capacity);
        let [closed, busy] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let faults = Faults::default();
        self.feeds.push(Feed {
            receiver,
            head: None,
            ended: false,
            closed: Arc::clone(&closed),
            busy: Arc::clone(&busy),
            faults: faults.clone(),
        });
        let (wanted, told) = (Arc::clone(&self.wanted), Arc::clone(&self.told));
        Outlet { sender, wanted, closed, busy, told, faults }
    }

    /// Keeps a producer alive as long as this playback.
    pub(super) fn keep(&mut self, producer: Box<dyn Producer>) {
        self.producers.push(producer);
    }

    /// The container that begins at `start` says that its streams last so long; ending much earlier is damage.
    pub(super) fn expect(&mut self, start: Timestamp, secs: Option<f64>) {
        let expected = secs.map(|secs| Expected { end: start.plus_secs(secs), secs });
        self.expected_end = expected.filter(|expected| expected.end <= self.end);
    }

    /// The next item in event time order; `None` at the end.
    ///
    /// # Errors
    /// When a source yields nothing at all or its decoder hangs. Damage that leaves something to
    /// play is no error: it is counted in [`damage`](Self::damage).
    #[allow(clippy::should_implement_trait)] // an iterator cannot tell an error from an end
    pub fn next(&mut self) -> Result<Option<Item>, CaptureError> {
        for index in 0..self.feeds.len() {
            self.fill(index)?;
        }
        let earliest = (0..self.feeds.len())
            .filter_map(|index| {
                let item = self.feeds[index].head.as_ref()?;
                Some(((item.at(), item.source()), index))
            })
            .min()
            .map(|(_, index)| index);
        match earliest.and_then(|index| self.feeds[index].head.take()) {
            Some(item) => {
                let end = if let Item::Block(block) = &item { block.end() } else { item.at() };
                self.reached = self.reached.max(Some(end));
                Ok(Some(item))
            }
            None => self.finish().map(|()| None),
        }
    }

    /// Everything has ended: was that the end of the recording?
    fn finish(&mut self) -> Result<(), CaptureError> {
        let expected = self.expected_end.take();
        if self.reached.is_none()
            && let Some((_, tally)) =
                self.damage.iter().find(|(cause, _)| *cause == Cause::DecoderStopped)
        {
            let reason = format!("nothing in it could be decoded ({})", tally.first);
            return Err(CaptureError::Unreadable { path: self.path.clone(), reason });
        }
        // Where the streams begin elsewhere than at 0, some containers tell their end, and no length.
        let told_secs = self.told.load(Ordering::Relaxed) as f64 * 1e-9;
        if let (Some(reached), Some(Expected { end, secs })) = (self.reached, expected)
            && end.secs_since(reached) > END_TOLERANCE_SECS
            && secs - told_secs > END_TOLERANCE_SECS
        {
            let place = format!("the streams end at {reached}, the file says {end}");
            self.damaged(Cause::Truncated, place);
        }
        Ok(())
    }

    pub(super) fn damaged(&mut self, cause: Cause, place: String) {
        let (path, before) = (self.path.display(), self.damage.count(cause));
        if before < MOST_LOGGED {
            tracing::warn!(%path, %cause, place, "damaged recording");
        } else if before == MOST_LOGGED {
            tracing::warn!(%path, %cause, "damaged recording: more of this is counted and no longer logged");
        } else {
            tracing::debug!(%path, %cause, place, "damaged recording");
        }
        self.damage.add(cause, place);
    }

    /// Nothing before `at` is handed out from now on; frames before it are not even copied.
    pub fn skip_until(&mut self, at: Timestamp) {
        self.wanted.fetch_max(at.as_nanos(), Ordering::Relaxed);
        for feed in &mut self.feeds {
            feed.head = feed.head.take().filter(|item| item.at() >= at);
        }
    }

    /// What could not be used so far; complete once [`next`](Self::next) has returned `None`.
    #[must_use]
    pub fn damage(&self) -> &Damage {
        &self.damage
    }

    /// Waits until the feed has a head or has ended.
    fn fill(&mut self, index: usize) -> Result<(), CaptureError> {
        let mut idle_secs = 0;
        loop {
            let feed = &mut self.feeds[index];
            if feed.ended || feed.head.is_some() {
                return Ok(());
            }
            match feed.receiver.recv_timeout(Duration::from_secs(1)) {
                Ok(Event::Item(item)) if item.at() >= self.end => feed.close(),
                Ok(Event::Item(item)) => {
                    idle_secs = 0;
                    if item.at().as_nanos() >= self.wanted.load(Ordering::Relaxed) {
                        feed.head = Some(item);
                    }
                }
                Ok(Event::Damaged(cause, place)) => self.damaged(cause, place),
                Ok(Event::End) => self.ended(index),
                Err(RecvTimeoutError::Disconnected) => {
                    let place = "a thread that reads it ended in the middle".to_owned();
                    self.damaged(Cause::Fault, place);
                    self.ended(index);
                }
                // What is not wanted is read over, which may take long.
                Err(RecvTimeoutError::Timeout) if feed.busy.swap(false, Ordering::Relaxed) => {
                    idle_secs = 0;
                }
                // A decoder that gave up need not say that its stream has ended.
                Err(RecvTimeoutError::Timeout) => {
                    idle_secs += 1;
                    if idle_secs >= FAULT_SECS && feed.faults.state().stopped.is_some() {
                        self.ended(index);
                    } else if idle_secs >= STALL_SECS {
                        feed.close();
                        let path = self.path.clone();
                        return Err(CaptureError::Stalled { path, secs: STALL_SECS });
                    }
                }
            }
        }
    }

    /// Closes a feed that has yielded everything, and takes note of what went wrong in it.
    fn ended(&mut self, index: usize) {
        self.feeds[index].close();
        for (cause, place) in self.feeds[index].faults.take() {
            self.damaged(cause, place);
        }
    }
}

impl Feed {
    /// Takes nothing more; the producer's next send fails and it stops.
    fn close(&mut self) {
        self.ended = true;
        self.closed.store(true, Ordering::Relaxed);
        self.receiver = crossbeam_channel::never();
    }
}

impl Drop for Playback {
    fn drop(&mut self) {
        // First the channels: a producer that waits for room wakes up and sees that nobody listens.
        self.feeds.iter_mut().for_each(Feed::close);
        self.feeds.clear();
        self.producers.clear();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::SourceId;
    use crate::media::Pose;

    fn pose(secs: f64) -> Item {
        let at = Timestamp::EPOCH.plus_secs(secs);
        let frame = "map".to_owned();
        Item::Pose(SourceId::new("robot"), Pose { stamp: at, x: 0.0, y: 0.0, yaw: 0.0, frame })
    }

    #[test]
    fn a_reader_that_ends_in_a_panic_is_damage_and_no_end() {
        for told in [true, false] {
            let (path, first) = (Path::new("run.mcap"), Timestamp::EPOCH);
            let mut playback = Playback::new(path, first, Timestamp::MAX);
            let outlet = playback.outlet(4);
            assert!(outlet.send(Event::Item(pose(1.0))));
            if told {
                outlet.send(Event::End);
            }
            drop(outlet);
            assert!(playback.next().unwrap().is_some());
            assert!(playback.next().unwrap().is_none());
            assert_eq!(playback.damage().count(Cause::Fault), u64::from(!told));
            assert_eq!(playback.damage().is_empty(), told);
        }
    }
}
