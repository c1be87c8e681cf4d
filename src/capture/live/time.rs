//! What time it is for live sources: by the machine's clocks, or by a test's.

use std::time::Instant;

use crate::time::Timestamp;

/// The monotonic clock and the wall clock, read together.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    #[cfg(test)]
    test: Option<std::sync::Arc<TestClock>>,
}

impl Clocks {
    /// The monotonic clock.
    pub(super) fn instant(&self) -> Instant {
        #[cfg(test)]
        if let Some(test) = &self.test {
            return test.began + test.since();
        }
        Instant::now()
    }

    /// The wall clock.
    pub(super) fn wall(&self) -> Timestamp {
        #[cfg(test)]
        if let Some(test) = &self.test {
            return test.wall + test.since();
        }
        Timestamp::wall_clock()
    }

    /// Those of a test, which begin there.
    #[cfg(test)]
    pub(super) fn of_test(wall: Timestamp) -> Self {
        let (began, nanos) = (Instant::now(), std::sync::atomic::AtomicU64::default());
        Self { test: Some(std::sync::Arc::new(TestClock { began, wall, nanos })) }
    }

    /// The test's show so many nanoseconds since they began.
    #[cfg(test)]
    pub(super) fn set(&self, nanos: u64) {
        if let Some(test) = &self.test {
            test.nanos.store(nanos, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[derive(Debug)]
struct TestClock {
    began: Instant,
    wall: Timestamp,
    nanos: std::sync::atomic::AtomicU64,
}

#[cfg(test)]
impl TestClock {
    fn since(&self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.nanos.load(std::sync::atomic::Ordering::Relaxed))
    }
}
