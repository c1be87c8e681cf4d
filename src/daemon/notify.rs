//! Talking to systemd: ready, what is going on, still alive, stopping.
//!
//! The watchdog is fed only when the work itself goes on: each stage that must not stand still counts
//! its progress on a [`Pulse`], and [`Watchdog::beat`] feeds only when every pulse moved, or has nothing to
//! do, since the last time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use sd_notify::NotifyState;

/// Progress of one stage. Cheap to clone; clones count together.
#[derive(Clone, Debug, Default)]
pub struct Pulse(Arc<PulseState>);

#[derive(Debug, Default)]
struct PulseState {
    count: AtomicU64,
    idle: AtomicBool,
}

impl Pulse {
    /// Something was done.
    pub fn beat(&self) {
        self.0.idle.store(false, Ordering::Relaxed);
        self.0.count.fetch_add(1, Ordering::Relaxed);
    }

    /// There is nothing to do until the next [`Self::beat`]: standing still is right.
    pub fn rest(&self) {
        self.0.idle.store(true, Ordering::Relaxed);
    }

    /// How often it beat.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.count.load(Ordering::Relaxed)
    }

    fn idle(&self) -> bool {
        self.0.idle.load(Ordering::Relaxed)
    }
}

/// Feeds systemd's watchdog from pulses.
#[derive(Debug, Default)]
pub struct Watchdog {
    pulses: Vec<(String, Pulse, u64)>,
    fed: bool,
}

impl Watchdog {
    /// Watches nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A new pulse under that name.
    pub fn pulse(&mut self, name: &str) -> Pulse {
        let pulse = Pulse::default();
        self.pulses.push((name.to_owned(), pulse.clone(), 0));
        pulse
    }

    /// How often [`Self::beat`] should be called: a third of what systemd allows; `None` without a watchdog.
    #[must_use]
    pub fn interval() -> Option<Duration> {
        sd_notify::watchdog_enabled().map(|limit| limit / 3)
    }

    /// Names of the stages that stand still though they have work.
    pub fn stalled(&mut self) -> Vec<String> {
        let mut stalled = Vec::new();
        for (name, pulse, before) in &mut self.pulses {
            let now = pulse.count();
            if now == *before && !pulse.idle() && self.fed {
                stalled.push(name.clone());
            }
            *before = now;
        }
        self.fed = true;
        stalled
    }

    /// Feeds the watchdog, unless a stage stands still; returns those that do.
    pub fn beat(&mut self) -> Vec<String> {
        let stalled = self.stalled();
        if stalled.is_empty() {
            send(&[NotifyState::Watchdog]);
        } else {
            tracing::warn!("no progress in {}: the watchdog is not fed", stalled.join(", "));
        }
        stalled
    }
}

/// The daemon answers questions.
pub fn ready(status: &str) {
    send(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// The configuration is being read again; [`ready`] ends it.
pub fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => send(&[NotifyState::Reloading, now]),
        Err(error) => tracing::debug!("telling systemd of a reload: {error}"),
    }
}

/// Asks systemd for patience while models load, until it is dropped.
#[derive(Debug)]
pub struct Loading {
    _done: Sender<()>,
}

/// How long systemd is to wait from each asking on …
const PATIENCE: Duration = Duration::from_secs(30);
/// … which is asked for so often …
const ASK_EVERY: Duration = Duration::from_secs(10);
/// … and so many times: a start that takes longer than ten minutes hangs.
const ASKED_AT_MOST: u32 = 60;

/// Models are being loaded: systemd's time-out for the start does not count meanwhile.
#[must_use]
pub fn loading() -> Loading {
    let (done, waiting) = bounded::<()>(0);
    let ask = move || {
        for _ in 0..ASKED_AT_MOST {
            send(&[NotifyState::Status("loading models")]);
            extend_timeout(PATIENCE);
            if waiting.recv_timeout(ASK_EVERY).is_err_and(|error| error.is_disconnected()) {
                return;
            }
        }
    };
    // Without that thread the unit's own time-out counts.
    std::thread::Builder::new().name("patience".to_owned()).spawn(ask).ok();
    Loading { _done: done }
}

/// One line for `systemctl status`.
pub fn status(status: &str) {
    send(&[NotifyState::Status(status)]);
}

/// Starting or stopping takes longer: models load, clips are written.
pub fn extend_timeout(by: Duration) {
    let micros = u32::try_from(by.as_micros()).unwrap_or(u32::MAX);
    send(&[NotifyState::ExtendTimeoutUsec(micros)]);
}

/// This process cannot help itself any more: systemd is to end it as if the watchdog had not been fed.
pub fn give_up() {
    send(&[NotifyState::WatchdogTrigger]);
}

/// The daemon ends.
pub fn stopping() {
    send(&[NotifyState::Stopping]);
}

/// Without systemd this does nothing.
fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!("telling systemd: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stage_that_has_work_and_does_not_move_is_stalled() {
        let mut watchdog = Watchdog::new();
        let (capture, answers) = (watchdog.pulse("capture"), watchdog.pulse("answers"));
        answers.rest();
        assert!(watchdog.stalled().is_empty(), "the first look is a beginning");
        capture.beat();
        assert!(watchdog.stalled().is_empty());
        assert_eq!(watchdog.stalled(), ["capture"]);
        capture.beat();
        answers.beat();
        assert!(watchdog.stalled().is_empty());
        capture.rest();
        assert_eq!(watchdog.stalled(), ["answers"]);
    }
}
