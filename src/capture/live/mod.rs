//! Live sources: cameras and microphones, each on its own, merged in event time order.
//!
//! Every source has a thread that starts it, watches it and starts it again ([`supervise`]), and bounded
//! channels of its own ([`channel`]) that drop the oldest item when nobody takes it in time. Each item that was captured
//! is handed out or counted as dropped.

mod channel;
mod clock;
mod echo;
mod frame_tap;
mod gst_source;
mod microphone;
mod sound_tap;
mod supervise;
mod time;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Select};
use gstreamer::glib;
use serde::Serialize;

use self::channel::Lane;
pub use self::frame_tap::FramesWanted;
use self::gst_source::{Launch, PipelineSource};
use self::microphone::CpalSource;
pub(in crate::capture) use self::supervise::Pace;
use self::supervise::{STOPS_WITHIN, Source, Supervised};
use self::time::Clocks;
use super::audio::drift;
use super::error::CaptureError;
use crate::config::{Camera, EchoCancelling, Microphone, MicrophoneBackend, Window};
use crate::ids::SourceId;
use crate::media::Item;
use crate::time::Timestamp;

/// A wall clock that is off by more than this against the monotonic clock has jumped, seconds.
const CLOCK_JUMP_SECS: f64 = 1.0;

/// How a live source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// Started, no data yet.
    Starting,
    /// Data flows.
    Running,
    /// It died or stalled and is started again after a pause.
    Waiting,
    /// It was stopped.
    Stopped,
}

/// State and counters of a live source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceHealth {
    /// Which.
    pub id: SourceId,
    /// How it is.
    pub state: SourceState,
    /// How often it was started again.
    pub restarts: u64,
    /// Frames that nobody took in time, or that came too late.
    pub dropped_frames: u64,
    /// The same of blocks of sound.
    pub dropped_blocks: u64,
    /// Why it was last started again.
    pub last_error: Option<String>,
    /// Frames and runs of sound whose stamps could not be: the time of their arrival was taken.
    pub refused_stamps: u64,
    /// How often its stamps were put together with their arrival again, or the wall clock was set, by more than 0.1 s.
    pub anchored: u64,
    /// By how much its stamps and their arrival had parted when that was last looked at, seconds; positive: they fell behind.
    pub stamps_off_secs: f64,
}

/// One channel out of a source, with the item that is next in it.
struct Feed {
    /// The other end of the channel.
    lane: Lane,
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
        Self::start_at(cameras, microphones, window, wanted, Pace::default())
    }

    pub(in crate::capture) fn start_at(
        cameras: &[Camera],
        microphones: &[Microphone],
        window: &Window,
        wanted: FramesWanted,
        pace: Pace,
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
        pace: Pace,
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
                let (lane, receiver) = Lane::new(name.clone(), capacity);
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

/// Names of the sources whose pipelines cannot be built, and why: they would not come up. Nothing is started.
#[must_use]
pub fn without_pipeline(
    cameras: &[Camera],
    microphones: &[Microphone],
) -> Vec<(String, CaptureError)> {
    let of_cameras = cameras.iter().map(|camera| (&camera.id, Some(camera_launch(camera))));
    let of_microphones = microphones.iter().map(|one| (&one.id, microphone_launch(one)));
    of_cameras
        .chain(of_microphones)
        .filter_map(|(id, launch)| Some((id.clone(), launch?.build(id).err()?)))
        .collect()
}

/// Where the pictures of a `[[camera]]` come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CameraAddress {
    /// A device file.
    Device(String),
    /// Another machine: an address with `scheme://`.
    Network(String),
    /// A file.
    File(PathBuf),
    /// What only its pipeline understands.
    Other(String),
}

/// Where a camera's pictures come from, as far as its configuration tells.
#[must_use]
pub fn camera_address(camera: &Camera) -> CameraAddress {
    let Launch { name, uri, .. } = camera_launch(camera);
    match name.as_str() {
        _ if uri.starts_with("file://") => match glib::filename_from_uri(&uri) {
            Ok((path, _)) => CameraAddress::File(path),
            Err(_) => CameraAddress::Other(uri),
        },
        _ if uri.contains("://") => CameraAddress::Network(uri),
        "v4l2" => CameraAddress::Device(uri),
        _ => CameraAddress::Other(uri),
    }
}

/// The pipeline of a `[[camera]]`: the named one, else by the look of its address.
fn camera_launch(camera: &Camera) -> Launch {
    let given = camera.uri.as_deref().unwrap_or("");
    let guessed = match given.split_once("://") {
        Some((scheme, _)) if scheme.starts_with("rtsp") => "rtsp",
        Some(_) => "uri",
        None if given.is_empty() || given.starts_with("/dev/") => "v4l2",
        None => "uri",
    };
    let name = camera.pipeline.as_deref().unwrap_or(guessed);
    let uri = match name {
        "v4l2" if given.is_empty() => "/dev/video0".to_owned(),
        // They take addresses, not paths.
        "uri" | "file" if !given.is_empty() && !given.contains("://") => file_address(given),
        _ => given.to_owned(),
    };
    Launch { name: name.to_owned(), uri, playback: None }
}

/// The `file://` address of a path; what cannot be one stays as it is.
fn file_address(path: &str) -> String {
    let address =
        std::path::absolute(path).ok().and_then(|path| glib::filename_to_uri(path, None).ok());
    address.map_or_else(|| path.to_owned(), |address| address.to_string())
}

/// Whether a microphone is a card's of this machine, taken without a sound server.
#[must_use]
pub fn needs_sound_card(microphone: &Microphone) -> bool {
    microphone_launch(microphone).is_none_or(|launch| launch.name == "alsa")
}

/// The source of a `[[microphone]]`.
fn microphone_source(microphone: &Microphone) -> Box<dyn Source> {
    match microphone_launch(microphone) {
        Some(launch) => {
            let yields = (false, true);
            Box::new(PipelineSource::new(&microphone.id, launch, yields, FramesWanted::All))
        }
        None => Box::new(CpalSource::new(&microphone.id, microphone.device.as_deref())),
    }
}

/// Where what the loudspeaker plays is tapped, so that it can be taken out of a microphone; by default the monitor of
/// PulseAudio's default loudspeaker.
#[must_use]
pub fn playback(microphone: &Microphone) -> &str {
    microphone.playback.as_deref().unwrap_or("pulse")
}

/// Of those that come by GStreamer: `pulse` or `pulse:NAME` goes through PulseAudio, a launch description (with `!`) is
/// taken as it is, anything else is an ALSA device.
fn microphone_launch(microphone: &Microphone) -> Option<Launch> {
    if microphone.backend == MicrophoneBackend::Cpal {
        return None;
    }
    let (name, uri) = match microphone.device.as_deref().unwrap_or("default") {
        "pulse" => ("pulse", ""),
        description if description.contains('!') => (description, ""),
        device => match device.strip_prefix("pulse:") {
            Some(name) => ("pulse", name),
            None => ("alsa", device),
        },
    };
    let playback = match microphone.echo {
        EchoCancelling::None => None,
        EchoCancelling::Webrtc => Some(playback(microphone).to_owned()),
    };
    Some(Launch { name: name.to_owned(), uri: uri.to_owned(), playback })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod long_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(in crate::capture) mod tests;
