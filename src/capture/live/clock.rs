//! A device's own clock → wall clock: anchored when it starts, and anew when the two have parted; never backwards.

use crate::time::Timestamp;

/// Two clocks that have parted by more than this are put together again, nanoseconds.
const MOST_APART: i64 = 100_000_000;
/// A stamp that lies further from its arrival cannot be: what it is of was captured when it came, nanoseconds.
const MOST_OFF: i64 = 10_000_000_000;

/// Turns a device's running time into capture time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CaptureClock {
    /// Wall clock at running time 0, nanoseconds.
    zero: Option<i64>,
    last: Option<Timestamp>,
    /// How often it was anchored anew.
    anchored: u64,
    /// Stamps that cannot be.
    refused: u64,
}

impl CaptureClock {
    /// `running`: of the buffer; `now_running`: of this moment, by the same clock. Nanoseconds.
    pub(super) fn capture_time(&mut self, running: i64, now_running: i64) -> Timestamp {
        self.at(running, now_running, Timestamp::wall_clock())
    }

    /// As [`capture_time`](Self::capture_time), where the wall clock shows `now`.
    fn at(&mut self, running: i64, now_running: i64, now: Timestamp) -> Timestamp {
        let zero_now = now.as_nanos().saturating_sub(now_running);
        let zero = self.zero.get_or_insert(zero_now);
        let apart = zero_now.saturating_sub(*zero);
        if apart.saturating_abs() > MOST_APART {
            *zero = zero_now;
            self.anchored += 1;
            let (secs, times) = (apart as f64 * 1e-9, self.anchored);
            tracing::debug!(secs, times, "a device's clock and the wall clock have parted");
        }
        let running = if now_running.saturating_sub(running).saturating_abs() > MOST_OFF {
            self.refused += 1;
            if self.refused.is_power_of_two() {
                tracing::warn!(
                    times = self.refused,
                    "a device stamps what it cannot have captured then; the time of arrival is taken"
                );
            }
            now_running
        } else {
            running
        };
        let at = Timestamp::from_nanos(zero.saturating_add(running));
        let at = self
            .last
            .map_or(at, |last| at.max(Timestamp::from_nanos(last.as_nanos().saturating_add(1))));
        self.last = Some(at);
        at
    }

    /// For the next start of the same source: a new anchor, still never backwards.
    pub(super) fn restarted(self) -> Self {
        Self { zero: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    const T0: i64 = 1_772_612_100 * SECOND;

    #[test]
    fn a_device_whose_clock_runs_fast_or_slowly_stays_with_the_wall_clock() {
        // Ten hours by a clock that is off by 200 ppm, a buffer every 100 ms that comes 20 ms after it was captured.
        for parts in [1_000_200_i64, 999_800] {
            let mut clock = CaptureClock::default();
            let (mut worst, mut last) = (0, i64::MIN);
            for n in 0..360_000_i64 {
                let captured = n * SECOND / 10;
                let now = captured + 20_000_000;
                let running = |wall: i64| wall / 1_000_000 * parts;
                let wall = Timestamp::from_nanos(T0 + now);
                let at = clock.at(running(captured), running(now), wall).as_nanos();
                worst = worst.max(at.abs_diff(T0 + captured));
                assert!(at > last);
                last = at;
            }
            assert!(worst < 110_000_000, "{worst}");
            assert!(clock.anchored > 50);
        }
    }

    #[test]
    fn a_stamp_that_cannot_be_is_taken_for_the_time_of_arrival() {
        let mut clock = CaptureClock::default();
        let wall = |secs: i64| Timestamp::from_nanos(T0 + secs * SECOND);
        assert_eq!(clock.at(0, 0, wall(0)), wall(0));
        assert_eq!(clock.at(3_600 * SECOND, SECOND, wall(1)), wall(1), "an hour ahead");
        assert_eq!(clock.at(2 * SECOND, 2 * SECOND, wall(2)), wall(2), "and on as before");
        assert_eq!(clock.at(-40_000 * SECOND, 3 * SECOND, wall(3)), wall(3), "long ago");
        assert_eq!(clock.refused, 2);
        // Backwards by a little: never.
        assert!(clock.at(SECOND, 4 * SECOND, wall(4)) > wall(3));
    }
}
