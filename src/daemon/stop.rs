//! Signals: the first SIGTERM or Ctrl-C asks for a stop in good order, the second does not wait; SIGHUP asks for
//! the configuration to be read again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::terminal::exit;

/// How long a stop may take before the process just ends; what was committed is safe.
const STOP_WITHIN: Duration = Duration::from_millis(4500);
/// How long it may take once nothing is in hand: what a large memory keeps for a quick start is written then. (systemd waits
/// for 30 s.)
const CLOSED_WITHIN: Duration = Duration::from_secs(20);

#[derive(Debug, Default)]
struct State {
    asked: AtomicBool,
    reload: AtomicBool,
    settled: AtomicBool,
    /// Since when it is asked for.
    since: Mutex<Option<Instant>>,
    changed: Condvar,
}

/// Whether the daemon was asked to stop. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<State>);

impl Stop {
    /// Asks for it.
    pub fn ask(&self) {
        let mut since = self.0.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.get_or_insert_with(Instant::now);
        self.0.asked.store(true, Ordering::Relaxed);
        self.0.changed.notify_all();
    }

    /// How long ago it was asked for first; `None`: it was not.
    #[must_use]
    pub fn asked_ago(&self) -> Option<Duration> {
        self.0.since.lock().unwrap_or_else(PoisonError::into_inner).map(|since| since.elapsed())
    }

    /// Whether it was asked for.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// The flag itself, for loops that look at it.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.0.asked
    }

    /// Waits until it is asked for.
    pub fn wait(&self) {
        while !self.wait_for(Duration::from_secs(3600)) {}
    }

    /// Waits until it is asked for, or `most` has passed; whether it was asked for.
    pub fn wait_for(&self, most: Duration) -> bool {
        let until = Instant::now() + most;
        let mut guard = self.0.since.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.asked() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.0.changed.wait_timeout(guard, left);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Nothing is in hand any more; the memory is being closed.
    pub fn settled(&self) {
        self.0.settled.store(true, Ordering::Relaxed);
    }

    /// Whether SIGHUP came since the last look.
    #[must_use]
    pub fn take_reload(&self) -> bool {
        self.0.reload.swap(false, Ordering::Relaxed)
    }

    /// From now on SIGTERM and Ctrl-C ask for it, and then call `also`; SIGHUP is noted.
    ///
    /// # Errors
    /// When the signals cannot be listened to.
    pub fn on_signals(&self, also: impl Fn() + Send + 'static) -> std::io::Result<()> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let stop = self.clone();
        let listen = move || {
            for signal in signals.forever() {
                if signal == SIGHUP {
                    stop.0.reload.store(true, Ordering::Relaxed);
                    continue;
                }
                if stop.asked() {
                    exit(128 + signal);
                }
                stop.ask();
                also();
                end_late(stop.clone());
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop)
    }
}

/// Ends the process when stopping takes too long.
fn end_late(stop: Stop) {
    let end = move || {
        thread::sleep(STOP_WITHIN);
        if stop.0.settled.load(Ordering::Relaxed) {
            thread::sleep(CLOSED_WITHIN - STOP_WITHIN);
            tracing::warn!("closing the memory took long: the next start reads all of it");
            exit(0);
        }
        tracing::error!(
            "stopping took longer than {:.1} s: the clip in hand is given up",
            STOP_WITHIN.as_secs_f64()
        );
        exit(3);
    };
    // Without that thread the stop takes as long as it takes.
    thread::Builder::new().name("last-call".to_owned()).spawn(end).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_is_woken() {
        let stop = Stop::default();
        assert!(!stop.wait_for(Duration::from_millis(1)) && stop.asked_ago().is_none());
        let other = stop.clone();
        let waiting = thread::spawn(move || other.wait());
        stop.ask();
        assert!(waiting.join().is_ok() && stop.wait_for(Duration::ZERO));
        let first = stop.asked_ago();
        thread::sleep(Duration::from_millis(2));
        stop.ask();
        assert!(first.is_some() && stop.asked_ago() > first);
    }
}
