//! A camera's frames on their way into its lane: stamped, and chosen before anything is copied.

use std::sync::{Arc, Mutex, PoisonError};

use super::channel::BoundedChannel;
use super::clock::CaptureClock;
use crate::config::Window;
use crate::ids::SourceId;
use crate::media::{Frame, Item, Picture};
use crate::time::Timestamp;
use crate::window::{FrameSelector, LEAST_STEP_SECS};

/// Which of a camera's frames are handed on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FramesWanted {
    /// All of them.
    All,
    /// Those that are analysed, so many a second: of a grid from 1970 on ([`FrameSelector`]), as whoever analyses them
    /// chooses, too.
    Analysed(f64),
    /// Those, and between them what is needed to see lips move, at most 40 a second.
    WithMouths(f64),
}

impl FramesWanted {
    /// How many wait in a lane at most: what comes while other sources are waited for (`window.idle_timeout_secs`) and a
    /// little more; nobody asks for what is older.
    #[must_use]
    pub fn queue(self, window: &Window) -> usize {
        let within = |secs: f64, per_sec: f64| (secs * per_sec).ceil() as usize + 1;
        match self {
            Self::All => window.frame_queue,
            Self::Analysed(per_sec) => {
                window.frame_queue.min(within(window.idle_timeout_secs + 1.0, per_sec))
            }
            Self::WithMouths(_) => {
                window.frame_queue.max(within(window.idle_timeout_secs, 1.0 / LEAST_STEP_SECS))
            }
        }
    }
}

/// What a camera keeps over restarts.
#[derive(Debug)]
pub(super) struct CameraState {
    clock: CaptureClock,
    next_number: u64,
    selector: Option<FrameSelector>,
    mouths: bool,
    /// The newest that was handed on.
    last: Option<Timestamp>,
}

impl CameraState {
    pub(super) fn new(wanted: FramesWanted) -> Self {
        let (per_sec, mouths) = match wanted {
            FramesWanted::All => (None, false),
            FramesWanted::Analysed(per_sec) => (Some(per_sec), false),
            FramesWanted::WithMouths(per_sec) => (Some(per_sec), true),
        };
        let selector = per_sec.map(|per_sec| FrameSelector::new(Timestamp::EPOCH, per_sec));
        let (clock, next_number, last) = Default::default();
        Self { clock, next_number, selector, mouths, last }
    }

    /// Whether a frame of that time is handed on.
    fn wants(&mut self, source: &SourceId, at: Timestamp) -> bool {
        let chosen = self.selector.as_mut().is_none_or(|selector| selector.select(source, at));
        let is_due = || self.last.is_none_or(|last| at.secs_since(last) >= LEAST_STEP_SECS);
        let wanted = chosen || self.mouths && is_due();
        if wanted {
            self.last = Some(at);
        }
        wanted
    }
}

/// A frame that is handed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    at: Timestamp,
    number: u64,
}

/// Stamps a camera's frames, chooses those that are wanted, and puts them into its lane.
#[derive(Debug)]
pub(super) struct FrameTap {
    lane: BoundedChannel,
    state: Arc<Mutex<CameraState>>,
}

impl FrameTap {
    /// For a device that has just been started.
    pub(super) fn new(lane: BoundedChannel, state: Arc<Mutex<CameraState>>) -> Self {
        {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.clock = state.clock.restarted();
        }
        Self { lane, state }
    }

    /// A frame has come, stamped `running`; `now_running` and `now` as in [`CaptureClock::capture_time`]. `None`: nobody
    /// wants it.
    pub(super) fn take(&self, running: i64, now_running: i64, now: Timestamp) -> Option<Taken> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at = state.clock.capture_time(running, now_running, now);
        self.lane.stamped(state.clock.health());
        let number = state.next_number;
        state.next_number += 1;
        state.wants(&self.lane.source, at).then_some(Taken { at, number })
    }

    /// Its pixels.
    pub(super) fn push(&self, taken: Taken, (width, height): (u32, u32), picture: Picture) {
        let (Taken { at, number }, source) = (taken, self.lane.source.clone());
        self.lane.push(Item::Frame(Frame { source, at, number, width, height, picture }));
    }

    /// It came to nothing.
    pub(super) fn lose(&self, _: Taken) {
        self.lane.lose(1);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// How many of the frames of 30 s at so many a second are handed on; and the choice made once more among them.
    fn used(wanted: FramesWanted, fps: i64) -> (usize, usize) {
        let (lane, receiver) = BoundedChannel::new(SourceId::new("c"), 2_000);
        let tap = FrameTap::new(lane, Arc::new(Mutex::new(CameraState::new(wanted))));
        let mut count = 0;
        for n in 0..30 * fps {
            // Stamps jitter.
            let at = n * 1_000 * MS / fps + n * 7_919 % 5 * MS;
            let now = Timestamp::from_nanos(1_772_612_100_123_456_789 + at);
            if let Some(taken) = tap.take(at, at, now) {
                count += 1;
                tap.push(taken, (0, 0), Picture::Rgb8(Vec::<u8>::new().into()));
            }
        }
        let mut selector = FrameSelector::new(Timestamp::EPOCH, 5.0);
        let again = receiver.try_iter().filter(|item| selector.select(item.source(), item.at()));
        (count, again.count())
    }

    #[test]
    fn only_what_is_wanted_is_handed_on_and_chosen_alike_later() {
        let (count, again) = used(FramesWanted::Analysed(5.0), 30);
        assert!((150..=151).contains(&count) && again == count, "{count} {again}");
        let (count, again) = used(FramesWanted::WithMouths(5.0), 30);
        assert!(count > 880 && (150..=151).contains(&again), "{count} {again}");
        // Twice as many as lips need.
        let (count, again) = used(FramesWanted::WithMouths(5.0), 60);
        assert!(count < 1_300 && (150..=151).contains(&again), "{count} {again}");
        assert_eq!(used(FramesWanted::All, 30).0, 900);
    }

    #[test]
    fn a_lane_holds_what_comes_while_others_are_waited_for() {
        let window = Window::default();
        let secs = |wanted: FramesWanted, per_sec: f64| wanted.queue(&window) as f64 / per_sec;
        assert!(secs(FramesWanted::Analysed(5.0), 5.0) > window.idle_timeout_secs + 0.9);
        assert!(secs(FramesWanted::WithMouths(5.0), 40.0) > window.idle_timeout_secs);
        assert_eq!(FramesWanted::All.queue(&window), window.frame_queue);
    }
}
