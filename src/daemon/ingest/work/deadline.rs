//! How long a job of each kind may take before it is given up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Kind;

/// A job that takes so many times as long as the slowest of its kind so far hangs: a slow machine is no fault.
const SLOWER: u64 = 10;
/// What a replay gives every job, seconds: nobody waits for it, and what it makes must not hang on how busy the machine is.
const REPLAY_SECS: f64 = 600.0;
/// The first jobs of a worker on a GPU, for which networks are compiled, seconds.
const COMPILING_SECS: f64 = 600.0;

/// Deadlines of a session. Shared by its workers.
#[derive(Debug)]
pub(in crate::daemon::ingest) struct Deadlines {
    base: [Duration; Kind::COUNT],
    /// The slowest job so far, ms.
    slowest: [AtomicU64; Kind::COUNT],
    compiles: bool,
}

impl Deadlines {
    /// Of a live session. `compiles`: networks run on a GPU.
    pub(in crate::daemon::ingest) fn live(max_turn_secs: f64, compiles: bool) -> Self {
        let secs = |kind| match kind {
            Kind::Frame => 5.0,
            Kind::Voice | Kind::Mouth => 30.0_f64.max(1.5 * max_turn_secs),
            Kind::Again => 60.0,
            Kind::Guess | Kind::Words => 120.0_f64.max(10.0 * max_turn_secs),
        };
        Self::of(secs, compiles)
    }

    /// Of a replay.
    pub(in crate::daemon::ingest) fn replay(max_turn_secs: f64) -> Self {
        Self::of(|_| REPLAY_SECS.max(30.0 * max_turn_secs), false)
    }

    fn of(secs: impl Fn(Kind) -> f64, compiles: bool) -> Self {
        let base = Kind::ALL.map(|kind| Duration::from_secs_f64(secs(kind)));
        Self { base, slowest: Default::default(), compiles }
    }

    /// Every kind has so long, and no longer for want of experience.
    #[cfg(test)]
    pub(in crate::daemon::ingest) fn all(each: Duration) -> Self {
        Self::of(|_| each.as_secs_f64(), false)
    }

    /// How long a job may take; `first`: its worker has done none of its kind yet.
    pub(super) fn of_job(&self, kind: Kind, first: bool) -> Duration {
        let slowest = self.slowest[kind as usize].load(Ordering::Relaxed);
        let known = Duration::from_millis(slowest.saturating_mul(SLOWER));
        let deadline = self.base[kind as usize].max(known);
        match first && self.compiles {
            true => deadline.max(Duration::from_secs_f64(COMPILING_SECS)),
            false => deadline,
        }
    }

    /// A job took so long, and was not given up; the first of a worker says little.
    pub(super) fn took(&self, kind: Kind, first: bool, took: Duration) {
        if !(first && self.compiles) {
            let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            self.slowest[kind as usize].fetch_max(millis, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_machine_is_given_more_time_and_a_gpu_time_to_compile() {
        let secs = Duration::from_secs;
        let deadlines = Deadlines::live(20.0, false);
        assert_eq!(deadlines.of_job(Kind::Frame, true), secs(5));
        assert_eq!(deadlines.of_job(Kind::Words, false), secs(200));
        deadlines.took(Kind::Frame, true, secs(2));
        deadlines.took(Kind::Frame, false, secs(1));
        assert_eq!(deadlines.of_job(Kind::Frame, false), secs(20));
        assert_eq!(deadlines.of_job(Kind::Voice, false), secs(30));
        let gpu = Deadlines::live(20.0, true);
        gpu.took(Kind::Frame, true, secs(100));
        assert_eq!(gpu.of_job(Kind::Frame, true), secs(600));
        assert_eq!(gpu.of_job(Kind::Frame, false), secs(5));
        assert_eq!(Deadlines::replay(20.0).of_job(Kind::Frame, false), secs(600));
    }
}
