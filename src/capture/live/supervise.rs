//! Keeps one source alive: starts it, watches it, starts it again with back-off.
//!
//! Drivers may never come back from starting or stopping a device, and may end in a panic. The second is a reason to start it
//! again like any other; of the first its thread leaves a trace ([`Supervised::hanging`]), and nobody waits for it for long.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::channel::BoundedChannel;
use super::health::{SourceHealth, SourceState};
use crate::capture::error::CaptureError;
use crate::ids::SourceId;
use crate::supervise::contained;

/// A source that is being started or stopped for so many times as long as it may be without data hangs.
const HANGS_AFTER_STALLS: u32 = 3;

/// How long sources are waited for that are to stop.
pub(super) const STOPS_WITHIN: Duration = Duration::from_secs(2);

/// How patient a supervisor is.
#[derive(Clone, Copy, Debug)]
pub(in crate::capture) struct Backoff {
    /// Without data for so long, a source has stalled.
    pub stall: Duration,
    /// The first pause before it is started again; each further one is twice as long.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        let secs = Duration::from_secs;
        Self { stall: secs(5), first_pause: secs(5), longest_pause: secs(60) }
    }
}

/// Something that can be started again and again.
pub(super) trait Source: Send {
    /// Its configured name.
    fn id(&self) -> SourceId;
    /// Whether it yields frames, and whether it yields sound.
    fn yields(&self) -> (bool, bool);
    /// Starts it; it puts what it captures into the lanes until the device is dropped.
    fn open(
        &mut self,
        frames: &BoundedChannel,
        sound: &BoundedChannel,
    ) -> Result<Box<dyn Device>, CaptureError>;
}

/// A source that runs; stops when dropped.
pub(super) trait Device {
    /// Why it has stopped by itself, if it has.
    fn failure(&self) -> Option<String>;
}

#[derive(Debug)]
struct State {
    state: SourceState,
    restarts: u64,
    last_error: Option<String>,
    /// When its thread was last seen at work; `None`: it has ended, or waits to start the source again.
    seen: Option<Instant>,
}

impl State {
    /// Its thread ends.
    fn stopped(&mut self) {
        self.state = SourceState::Stopped;
        self.seen = None;
    }
}

/// A source with the thread that keeps it alive; stopped and joined when dropped.
pub(super) struct Supervised {
    id: SourceId,
    frames: BoundedChannel,
    sound: BoundedChannel,
    state: Arc<Mutex<State>>,
    /// How long its thread may be out of sight.
    patience: Duration,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Cut off when the thread ends.
    ended: Receiver<()>,
}

impl Supervised {
    /// Starts the thread.
    pub(super) fn start(
        source: Box<dyn Source>,
        frames: BoundedChannel,
        sound: BoundedChannel,
        pace: Backoff,
    ) -> Self {
        let id = source.id();
        let state = Arc::new(Mutex::new(State {
            state: SourceState::Starting,
            restarts: 0,
            last_error: None,
            seen: Some(Instant::now()),
        }));
        let (stop, stopped) = bounded(0);
        let (running, ended) = bounded::<()>(0);
        let supervisor = Supervisor {
            id: id.clone(),
            source,
            frames: frames.clone(),
            sound: sound.clone(),
            state: Arc::clone(&state),
            stopped,
            pace,
        };
        let thread = std::thread::Builder::new()
            .name(format!("source {id}"))
            .spawn(move || {
                supervisor.run();
                drop(running);
            })
            .map_err(|error| tracing::error!(source = %id, %error, "no thread for a source"))
            .ok();
        let (patience, stop) = (pace.stall * HANGS_AFTER_STALLS, Some(stop));
        Self { id, frames, sound, state, patience, stop, thread, ended }
    }

    /// Its configured name.
    pub(super) fn id(&self) -> &SourceId {
        &self.id
    }

    /// State and counters.
    pub(super) fn health(&self) -> SourceHealth {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (frames, sound) = (self.frames.stamps(), self.sound.stamps());
        let off = if frames.off.abs() > sound.off.abs() { frames.off } else { sound.off };
        SourceHealth {
            id: self.id.clone(),
            state: state.state,
            restarts: state.restarts,
            dropped_frames: self.frames.dropped(),
            dropped_blocks: self.sound.dropped(),
            last_error: state.last_error.clone(),
            refused_stamps: frames.refused + sound.refused,
            anchored: frames.anchored + sound.anchored,
            stamps_off_secs: off as f64 * 1e-9,
        }
    }

    /// For how long it has been hanging: its device takes much longer to be started or stopped than any does.
    pub(super) fn hanging(&self) -> Option<Duration> {
        let seen = self.state.lock().unwrap_or_else(PoisonError::into_inner).seen;
        seen.map(|seen| seen.elapsed()).filter(|since| *since > self.patience)
    }

    /// Has the thread stop the source and end.
    pub(super) fn ask_to_stop(&mut self) {
        self.stop.take();
    }

    /// Waits until it has, or until then: a thread that hangs in a driver is left behind.
    pub(super) fn join(&mut self, deadline: Instant) {
        self.ask_to_stop();
        let Some(thread) = self.thread.take() else { return };
        if let Err(RecvTimeoutError::Timeout) = self.ended.recv_deadline(deadline) {
            tracing::warn!(source = %self.id, "a source does not let itself be stopped and is left behind");
            return;
        }
        let _ = thread.join();
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.join(Instant::now() + STOPS_WITHIN);
    }
}

struct Supervisor {
    id: SourceId,
    source: Box<dyn Source>,
    frames: BoundedChannel,
    sound: BoundedChannel,
    state: Arc<Mutex<State>>,
    stopped: Receiver<()>,
    pace: Backoff,
}

impl Supervisor {
    fn run(mut self) {
        let mut pause = self.pace.first_pause;
        loop {
            self.set(|state| {
                state.state = SourceState::Starting;
                state.seen = Some(Instant::now());
            });
            let before = self.sent();
            let why = match contained(|| self.attend()) {
                Ok(Some(why)) => why,
                Ok(None) => return self.set(State::stopped),
                Err(why) => format!("it ended in a panic ({why}); please report it"),
            };
            if self.sent() > before {
                pause = self.pace.first_pause;
            }
            tracing::warn!(source = %self.id, why, pause_secs = pause.as_secs_f64(), "source lost; starting it again");
            self.set(|state| {
                state.state = SourceState::Waiting;
                state.last_error = Some(why);
                state.seen = None;
            });
            if self.stops_within(pause) {
                return self.set(State::stopped);
            }
            pause = (pause * 2).min(self.pace.longest_pause);
            self.set(|state| state.restarts += 1);
        }
    }

    /// Starts the device and stops it when it is over: why (`None`: it was to be stopped).
    fn attend(&mut self) -> Option<String> {
        let device = match self.source.open(&self.frames, &self.sound) {
            Ok(device) => device,
            Err(error) => return Some(error.to_string()),
        };
        let why = self.watch(device.as_ref());
        if why.is_some() {
            self.set(|state| {
                state.state = SourceState::Waiting;
                state.last_error.clone_from(&why);
            });
        }
        // This may take its time.
        drop(device);
        why
    }

    /// Until the device fails or stalls (why), or is to be stopped (`None`).
    fn watch(&self, device: &dyn Device) -> Option<String> {
        let (mut sent, mut since) = (self.sent(), Instant::now());
        loop {
            if self.stops_within(Duration::from_millis(50)) {
                return None;
            }
            self.set(|state| state.seen = Some(Instant::now()));
            if let Some(why) = device.failure() {
                return Some(why);
            }
            let now = self.sent();
            if now > sent {
                (sent, since) = (now, Instant::now());
                self.set(|state| state.state = SourceState::Running);
            } else if since.elapsed() > self.pace.stall {
                return Some(format!("no data for {} s", self.pace.stall.as_secs_f64()));
            }
        }
    }

    fn sent(&self) -> u64 {
        self.frames.sent() + self.sound.sent()
    }

    /// Waits; `true` when it is to be stopped.
    fn stops_within(&self, pause: Duration) -> bool {
        !matches!(self.stopped.recv_timeout(pause), Err(RecvTimeoutError::Timeout))
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
