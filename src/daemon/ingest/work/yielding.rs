//! Work in the background yields to questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How many questions are being answered: workers step aside for them.
#[derive(Clone, Debug, Default)]
pub struct YieldPolicy(Arc<AtomicUsize>);

impl YieldPolicy {
    /// Counts a question until the guard is dropped.
    #[must_use]
    pub fn question(&self) -> YieldGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        YieldGuard(Arc::clone(&self.0))
    }

    /// Waits while questions are being answered, at most a few milliseconds per job.
    pub(crate) fn step_aside(&self) {
        for _ in 0..10 {
            if self.0.load(Ordering::Relaxed) == 0 {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// A question in flight.
#[derive(Debug)]
pub struct YieldGuard(Arc<AtomicUsize>);

impl Drop for YieldGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
