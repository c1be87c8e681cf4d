//! Live sources: cameras and microphones, each on its own, merged in event time order.
//!
//! Every source has a thread that starts it, watches it and starts it again ([`supervise`]), and bounded
//! channels of its own ([`channel`]) that drop the oldest item when nobody takes it in time. Each item that was captured
//! is handed out or counted as dropped.

mod address;
mod channel;
mod clock;
mod echo;
mod frame_tap;
mod gst_source;
mod health;
mod microphone;
mod sound_tap;
mod supervise;
mod time;

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Select};

pub use self::address::{
    CameraAddress, camera_address, needs_sound_card, playback, without_pipeline,
};
use self::address::{camera_launch, microphone_source};
use self::channel::BoundedChannel;
pub use self::frame_tap::FramesWanted;
use self::gst_source::PipelineSource;
pub use self::health::{SourceHealth, SourceState};
pub(in crate::capture) use self::supervise::Backoff;
use self::supervise::{STOPS_WITHIN, Source, Supervised};
use self::time::Clocks;
use super::audio::drift;
use super::error::CaptureError;
use crate::config::{Camera, Microphone, Window};
use crate::ids::SourceId;
use crate::media::Item;
use crate::time::Timestamp;

/// A wall clock that is off by more than this against the monotonic clock has jumped, seconds.
const CLOCK_JUMP_SECS: f64 = 1.0;

/// One channel out of a source, with the item that is next in it.
struct Feed {
    /// The other end of the channel.
    lane: BoundedChannel,
    /// It yields frames, else sound.
    frames: bool,
    /// Its sound belongs to pictures of so much earlier, seconds.
    behind_secs: f64,
    receiver: Receiver<Item>,
    head: Option<Item>,
    /// Everything before this has been seen.
    reached: Option<Timestamp>,
    /// When it was last heard of.
    heard: Instant,
}

/// Cameras and microphones, running until dropped.
pub struct LiveSources {
    supervised: Vec<Supervised>,
    feeds: Vec<Feed>,
    idle_timeout: Duration,
    released: Option<Timestamp>,
    started: (Instant, Timestamp),
    clocks: Clocks,
    /// Nothing more is captured.
    stopped: bool,
}

impl std::fmt::Debug for LiveSources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveSources").field("health", &self.health()).finish_non_exhaustive()
    }
}

impl LiveSources {
    /// Starts every source; cameras hand on the frames that are `wanted`. One that does not come up is tried again; it
    /// holds back none of the others.
    ///
    /// # Errors
    /// When two sources have one name.
    pub fn start(
        cameras: &[Camera],
        microphones: &[Microphone],
        window: &Window,
        wanted: FramesWanted,
    ) -> Result<Self, CaptureError> {
        Self::start_at(cameras, microphones, window, wanted, Backoff::default())
    }

    pub(in crate::capture) fn start_at(
        cameras: &[Camera],
        microphones: &[Microphone],
        window: &Window,
        wanted: FramesWanted,
        pace: Backoff,
    ) -> Result<Self, CaptureError> {
        let mut names: Vec<_> =
            cameras.iter().map(|c| &c.id).chain(microphones.iter().map(|m| &m.id)).collect();
        names.sort();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let text = format!("two sources are called {:?}; give each its own id", twice[0]);
            return Err(CaptureError::BadOptions(text));
        }
        let mut sources: Vec<Box<dyn Source>> = Vec::new();
        for camera in cameras {
            let launch = camera_launch(camera);
            let source = PipelineSource::new(&camera.id, launch, (true, false), wanted);
            sources.push(Box::new(source));
        }
        for microphone in microphones {
            sources.push(microphone_source(microphone));
        }
        let window = Window { frame_queue: wanted.queue(window), ..window.clone() };
        Ok(Self::over(sources, microphones, &window, pace, Clocks::default()))
    }

    /// Starts these sources; `microphones` tells whose sound comes late.
    fn over(
        sources: Vec<Box<dyn Source>>,
        microphones: &[Microphone],
        window: &Window,
        pace: Backoff,
        clocks: Clocks,
    ) -> Self {
        let now = clocks.instant();
        let (mut supervised, mut feeds) = (Vec::new(), Vec::new());
        for source in sources {
            let id = source.id();
            // A camera's own sound comes under a name of its own.
            let (frames, sound) = source.yields();
            let sound_id = if frames { SourceId::new(&format!("{id}.audio")) } else { id.clone() };
            let mut lane = |there: bool, name: &SourceId, frames: bool| {
                let capacity = if frames { window.frame_queue } else { window.sound_queue };
                let (lane, receiver) = BoundedChannel::new(name.clone(), capacity);
                if there {
                    let (head, reached) = (None, None);
                    let offset = microphones.iter().find(|m| !frames && m.id == name.as_str());
                    let behind_secs = offset.map_or(0.0, |microphone| microphone.offset_secs);
                    feeds.push(Feed {
                        lane: lane.clone(),
                        frames,
                        behind_secs,
                        receiver,
                        head,
                        reached,
                        heard: now,
                    });
                }
                lane
            };
            let frames = lane(frames, &id, true);
            let sound = lane(sound, &sound_id, false);
            supervised.push(Supervised::start(source, frames, sound, pace));
        }
        Self {
            supervised,
            feeds,
            idle_timeout: Duration::try_from_secs_f64(window.idle_timeout_secs).unwrap_or_default(),
            released: None,
            started: (now, clocks.wall()),
            clocks,
            stopped: false,
        }
    }

    /// Names under which frames arrive, in the order of the configuration.
    #[must_use]
    pub fn cameras(&self) -> Vec<SourceId> {
        self.names(true)
    }

    /// Names under which sound arrives, in the order of the configuration.
    #[must_use]
    pub fn microphones(&self) -> Vec<SourceId> {
        self.names(false)
    }

    fn names(&self, frames: bool) -> Vec<SourceId> {
        let kind = self.feeds.iter().filter(|feed| feed.frames == frames);
        kind.map(|feed| feed.lane.source.clone()).collect()
    }

    /// The next item in event time order; `None` when none was due within `timeout`.
    ///
    /// An item is due when every other source has come as far, or has been silent for
    /// `window.idle_timeout_secs`. What comes later than that is dropped and counted.
    pub fn next(&mut self, timeout: Duration) -> Option<Item> {
        let deadline = self.clocks.instant() + timeout;
        loop {
            self.fill();
            if let Some(index) = self.due() {
                let item = self.feeds[index].head.take()?;
                self.released = self.released.max(Some(item.at()));
                return Some(item);
            }
            let now = self.clocks.instant();
            if now >= deadline {
                return None;
            }
            // Silence becomes idleness without any event: look again soon.
            self.wait((deadline - now).min(Duration::from_millis(20)));
        }
    }

    /// No item before this will be handed out any more; goes on with the wall clock when all are silent.
    #[must_use]
    pub fn watermark(&self) -> Timestamp {
        let now = self.clocks.instant();
        let heads = self.feeds.iter().filter_map(|feed| feed.head.as_ref().map(Item::at));
        let awaited = self
            .feeds
            .iter()
            .filter(|feed| feed.head.is_none() && now - feed.heard <= self.idle_timeout)
            .map(|feed| feed.reached.unwrap_or(self.started.1));
        let silent = self.clocks.wall() - self.idle_timeout;
        heads.chain(awaited).min().unwrap_or(silent).max(self.released.unwrap_or(self.started.1))
    }

    /// State and counters, in the order of the configuration.
    #[must_use]
    pub fn health(&self) -> Vec<SourceHealth> {
        self.supervised.iter().map(Supervised::health).collect()
    }

    /// Sources whose device hangs while it is started or stopped, and for how long, in the order of the configuration.
    #[must_use]
    pub fn hanging(&self) -> Vec<(SourceId, Duration)> {
        let hanging = |source: &Supervised| Some((source.id().clone(), source.hanging()?));
        self.supervised.iter().filter_map(hanging).collect()
    }

    /// Stops every source. What they captured until then is still handed out, and nothing else is waited for. One that
    /// hangs is left behind after two seconds.
    pub fn stop(&mut self) {
        self.supervised.iter_mut().for_each(Supervised::ask_to_stop);
        let deadline = Instant::now() + STOPS_WITHIN;
        self.supervised.iter_mut().for_each(|source| source.join(deadline));
        self.stopped = true;
    }

    /// Stops every source for good: what still waits to be handed out is dropped. Gives back how they ended.
    #[must_use]
    pub fn finish(mut self) -> Vec<SourceHealth> {
        self.stop();
        for feed in &mut self.feeds {
            let left = feed.head.take().into_iter().chain(feed.receiver.try_iter()).count();
            feed.lane.lose(left);
        }
        self.health()
    }

    /// Seconds by which the wall clock has jumped since the start; `None` while it runs true.
    #[must_use]
    pub fn clock_jump_secs(&self) -> Option<f64> {
        let passed = self.clocks.instant().saturating_duration_since(self.started.0);
        let off = self.clocks.wall().secs_since(self.started.1 + passed);
        (off.abs() > CLOCK_JUMP_SECS).then_some(off)
    }

    /// Takes a head for every feed that has one waiting.
    fn fill(&mut self) {
        let now = self.clocks.instant();
        for feed in &mut self.feeds {
            while feed.head.is_none()
                && let Ok(mut item) = feed.receiver.try_recv()
            {
                feed.heard = now;
                if let Item::Block(block) = &mut item
                    && feed.behind_secs != 0.0
                {
                    block.at = block.at.plus_secs(-feed.behind_secs);
                }
                let end = match &item {
                    // Where its clock drifts, the next block begins by so much earlier.
                    Item::Block(block) => Timestamp::from_nanos(
                        block.end().as_nanos().saturating_sub(drift::STEP_NANOS),
                    ),
                    Item::Frame(_) | Item::Pose(..) | Item::Words(_) => item.at(),
                };
                feed.reached = feed.reached.max(Some(end));
                if self.released.is_some_and(|released| item.at() < released) {
                    feed.lane.lose(1);
                } else {
                    feed.head = Some(item);
                }
            }
        }
    }

    /// The feed whose head is due.
    fn due(&self) -> Option<usize> {
        let now = self.clocks.instant();
        let (at, _, index) = (0..self.feeds.len())
            .filter_map(|index| {
                let item = self.feeds[index].head.as_ref()?;
                Some((item.at(), item.source(), index))
            })
            .min()?;
        let passed = |feed: &Feed| {
            feed.head.is_some()
                || self.stopped
                || feed.reached.is_some_and(|reached| reached > at)
                || now - feed.heard > self.idle_timeout
        };
        self.feeds.iter().all(passed).then_some(index)
    }

    /// Until something arrives in a feed without a head, or `timeout` has passed.
    fn wait(&self, timeout: Duration) {
        let mut select = Select::new();
        for feed in self.feeds.iter().filter(|feed| feed.head.is_none()) {
            select.recv(&feed.receiver);
        }
        let _ = select.ready_timeout(timeout);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod long_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(in crate::capture) mod tests;
