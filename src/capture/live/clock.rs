//! A device's own clock → wall clock: anchored once per start, never backwards.

use crate::time::Timestamp;

/// Turns a device's running time into capture time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CaptureClock {
    /// Wall clock at running time 0, nanoseconds.
    zero: Option<i64>,
    last: Option<Timestamp>,
}

impl CaptureClock {
    /// `running`: of the buffer; `now_running`: of this moment, by the same clock. Nanoseconds.
    pub(super) fn capture_time(&mut self, running: i64, now_running: i64) -> Timestamp {
        let zero = *self
            .zero
            .get_or_insert_with(|| Timestamp::wall_clock().as_nanos().saturating_sub(now_running));
        let at = Timestamp::from_nanos(zero.saturating_add(running));
        let at = self
            .last
            .map_or(at, |last| at.max(Timestamp::from_nanos(last.as_nanos().saturating_add(1))));
        self.last = Some(at);
        at
    }

    /// For the next start of the same source: a new anchor, still never backwards.
    pub(super) fn restarted(self) -> Self {
        Self { zero: None, last: self.last }
    }
}
