//! A device's stamps → wall clock, each compared with when it arrived.
//!
//! A stamp is put on the wall clock by one anchor. What arrives comes late, never early, so the least late of a stretch of
//! ten seconds tells how far the device's clock has come (a minimum filter, as NTP's clock filter): where it is another than
//! in the beginning, the anchor follows, by so little at a time that sound is not torn, beyond 0.1 s at once. Stamps that
//! cannot be are refused and counted: what they are of was captured when it came.

use crate::time::Timestamp;

const SECOND: i64 = 1_000_000_000;
/// Clocks that have parted by more than this are put together again at once.
const MOST_APART: i64 = SECOND / 10;
/// By less than this they have not parted: devices deliver no more regularly.
const LEAST_APART: i64 = SECOND / 50;
/// A stamp that lies further before its arrival cannot be.
const MOST_LATE: i64 = 10 * SECOND;
/// So much of an anchor's error is made good in that time.
const SLEW: i64 = 200;
/// How long stamps are looked at before it is known how late the least late is.
const STRETCH: i64 = 10 * SECOND;
/// Fewer stamps tell nothing.
const LEAST_STAMPS: u32 = 8;
/// How long a device may take until it delivers as it always will.
const SETTLING: i64 = 30 * SECOND;

/// How a device's stamps fit their arrival, since the source was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StampHealth {
    /// Stamps that could not be.
    pub(super) refused: u64,
    /// How often they had parted from their arrival, or the wall clock was set, by more than 0.1 s.
    pub(super) anchored: u64,
    /// By how much they had parted when that was last looked at, nanoseconds; positive: they fall behind.
    pub(super) off: i64,
}

/// Turns a device's running time into capture time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CaptureClock {
    anchor: Option<Anchor>,
    last: Option<Timestamp>,
    health: StampHealth,
}

impl CaptureClock {
    /// `running`: of the buffer; `now_running`: of this moment, by the same clock, nanoseconds; `now`: what the wall clock
    /// shows. Later than every time before.
    pub(super) fn capture_time(
        &mut self,
        running: i64,
        now_running: i64,
        now: Timestamp,
    ) -> Timestamp {
        let now = now.as_nanos();
        let by_device = now.saturating_sub(now_running);
        let anchor = self.anchor.get_or_insert_with(|| Anchor::new(by_device, now));
        self.health.anchored += u64::from(anchor.follow(by_device, now));
        let late = now.saturating_sub(anchor.zero.saturating_add(running));
        let arrived = now.saturating_sub(anchor.usual.unwrap_or(0));
        let mut is_refused = !(-MOST_APART..=MOST_LATE).contains(&late);
        anchor.stretch.note(late, is_refused);
        let mut at = if is_refused { arrived } else { now.saturating_sub(late) };
        if let Some(last) = self.last.map(Timestamp::as_nanos).filter(|last| at <= *last) {
            is_refused = true;
            if last.saturating_sub(at) > MOST_APART {
                at = arrived;
            }
            at = at.max(last.saturating_add(1));
        }
        if is_refused {
            self.health.refused += 1;
            if self.health.refused.is_power_of_two() {
                let times = self.health.refused;
                tracing::warn!(
                    times,
                    "a device stamps what it cannot have captured then; the time of arrival is taken"
                );
            }
        }
        if let Some(off) = anchor.judge(now) {
            self.health.off = off;
            if off.saturating_abs() > MOST_APART {
                self.health.anchored += 1;
                let (secs, times) = (off as f64 * 1e-9, self.health.anchored);
                tracing::debug!(secs, times, "a device's stamps and their arrival have parted");
            }
        }
        let at = Timestamp::from_nanos(at);
        self.last = Some(at);
        at
    }

    /// For the next start of the same source: a new anchor, still never backwards.
    pub(super) fn restarted(self) -> Self {
        Self { anchor: None, ..self }
    }

    /// How its stamps fit their arrival.
    pub(super) fn health(&self) -> StampHealth {
        self.health
    }
}

/// Where a device's running time lies on the wall clock. Times in nanoseconds, by the wall clock.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// Running time 0, as its stamps have been found to lie.
    zero: i64,
    /// The same, as the device's clock showed at the newest arrival.
    by_device: i64,
    /// When the device was started.
    began: i64,
    /// The newest arrival.
    newest: i64,
    /// How late the least late comes; `None` until that is known.
    usual: Option<i64>,
    /// By how much the zero is still to be moved.
    due: i64,
    stretch: Stretch,
}

impl Anchor {
    fn new(by_device: i64, now: i64) -> Self {
        let stretch = Stretch::begin(now);
        Self { zero: by_device, by_device, began: now, newest: now, usual: None, due: 0, stretch }
    }

    /// Something arrives. A wall clock that was set takes everything with it, at once (then true); what is due is made
    /// good by a little.
    fn follow(&mut self, by_device: i64, now: i64) -> bool {
        let set = by_device.saturating_sub(self.by_device);
        let is_set = set.saturating_abs() > MOST_APART;
        if is_set {
            for time in [&mut self.zero, &mut self.began, &mut self.newest, &mut self.stretch.began]
            {
                *time = time.saturating_add(set);
            }
        }
        self.by_device = by_device;
        let most = now.saturating_sub(self.newest).max(0) / SLEW;
        let step = self.due.clamp(-most, most);
        self.due -= step;
        self.move_by(step);
        self.newest = now;
        is_set
    }

    fn move_by(&mut self, step: i64) {
        self.zero = self.zero.saturating_add(step);
        self.stretch.move_by(step);
    }

    /// At the end of a stretch: by how much stamps and arrivals have parted.
    fn judge(&mut self, now: i64) -> Option<i64> {
        let Stretch { began, stamps, .. } = self.stretch;
        if now.saturating_sub(began) < STRETCH || stamps < LEAST_STAMPS {
            return None;
        }
        let Stretch { least, least_refused, .. } =
            std::mem::replace(&mut self.stretch, Stretch::begin(now));
        self.due = 0;
        let off = match (least, self.usual) {
            (Some(least), usual) if now.saturating_sub(self.began) < SETTLING => {
                self.usual = Some(usual.map_or(least, |usual| usual.min(least)));
                return None;
            }
            (Some(least), usual) => {
                least.saturating_sub(*self.usual.insert(usual.unwrap_or(least)))
            }
            // All of them were refused: it goes on by another clock.
            (None, usual) => least_refused?.saturating_sub(usual.unwrap_or(0)),
        };
        if off.saturating_abs() > MOST_APART {
            self.move_by(off);
        } else if off.saturating_abs() > LEAST_APART {
            self.due = off;
        }
        Some(off)
    }
}

/// How late stamps came that were looked at together.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    began: i64,
    stamps: u32,
    /// The least late of those that were taken.
    least: Option<i64>,
    /// Of those that were not.
    least_refused: Option<i64>,
}

impl Stretch {
    fn begin(began: i64) -> Self {
        Self { began, stamps: 0, least: None, least_refused: None }
    }

    fn note(&mut self, late: i64, is_refused: bool) {
        self.stamps = self.stamps.saturating_add(1);
        let least = if is_refused { &mut self.least_refused } else { &mut self.least };
        *least = Some(least.map_or(late, |least| least.min(late)));
    }

    fn move_by(&mut self, step: i64) {
        for least in [&mut self.least, &mut self.least_refused].into_iter().flatten() {
            *least = least.saturating_sub(step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const T0: i64 = 1_772_612_100 * SECOND;

    /// Stamps of something that is captured each 100 ms and comes so much later, by a device's clock.
    struct Device {
        clock: CaptureClock,
        wall_set: i64,
    }

    impl Device {
        fn new() -> Self {
            Self { clock: CaptureClock::default(), wall_set: 0 }
        }

        /// The time that is told for what was captured at `captured` and came at `arrived`, nanoseconds from the
        /// start, stamped `running` while the device's clock showed `now_running`; as nanoseconds from the start.
        fn take(&mut self, running: i64, now_running: i64, arrived: i64) -> i64 {
            let now = Timestamp::from_nanos(T0 + arrived + self.wall_set);
            self.clock.capture_time(running, now_running, now).as_nanos() - T0
        }
    }

    /// Milliseconds by which what comes is late: 20 and a bit, now and then much more.
    fn late(n: i64) -> i64 {
        20 + n * 7_919 % 17 + if n % 97 == 0 { 250 } else { 0 }
    }

    fn scaled(nanos: i64, millionths: i64) -> i64 {
        nanos + nanos / 1_000_000 * millionths
    }

    /// How far what is told lies from the truth at worst over so many hours.
    fn worst(hours: i64, times: impl Fn(i64, i64) -> (i64, i64)) -> (u64, StampHealth) {
        let mut device = Device::new();
        let (mut worst, mut last) = (0, i64::MIN);
        for n in 0..hours * 36_000 {
            let captured = n * SECOND / 10;
            // A device delivers in order.
            let arrived = captured + if n % 97 == 1 { 200 } else { late(n) } * MS;
            let (running, now_running) = times(captured, arrived);
            let at = device.take(running, now_running, arrived);
            worst = worst.max(at.abs_diff(captured));
            assert!(at > last, "{n}");
            last = at;
        }
        (worst, device.clock.health())
    }

    #[test]
    fn a_device_whose_clock_runs_fast_or_slowly_stays_with_the_wall_clock() {
        for (millionths, most) in [(200, 50), (-200, 50), (1_000, 80), (-1_000, 80)] {
            let most = most * 1_000_000;
            // Stamps and the clock that they are of.
            let (off, health) = worst(10, |captured, arrived| {
                (scaled(captured, millionths), scaled(arrived, millionths))
            });
            assert!(off < most, "{millionths}: {off} {health:?}");
            assert_eq!(health.refused, 0);
            // The stamps alone: they are counted from samples, or of a camera's own clock.
            let (off, health) =
                worst(10, |captured, arrived| (scaled(captured, millionths), arrived));
            assert!(off < most, "{millionths}: {off} {health:?}");
            assert_eq!(health.refused, 0);
        }
        // A true one is left alone.
        let (off, health) = worst(10, |captured, arrived| (captured, arrived));
        assert_eq!((off, health), (0, StampHealth { off: health.off, ..StampHealth::default() }));
    }

    #[test]
    fn ten_days_of_clock_arithmetic_leave_sound_and_picture_together() {
        let (fast, _) = worst(240, |captured, arrived| (scaled(captured, 200), arrived));
        let (slow, _) =
            worst(240, |captured, arrived| (scaled(captured, -200), scaled(arrived, -200)));
        assert!(fast + slow < 100_000_000, "{fast} {slow}");
    }

    #[test]
    fn a_stamp_that_cannot_be_is_taken_for_the_time_of_arrival() {
        let mut device = Device::new();
        let at = |secs: i64| secs * SECOND;
        assert_eq!(device.take(0, 0, 0), 0);
        assert_eq!(device.take(at(3_600), at(1), at(1)), at(1), "an hour ahead");
        assert_eq!(device.take(at(2), at(2), at(2)), at(2), "and on as before");
        assert_eq!(device.take(at(-40_000), at(3), at(3)), at(3), "long ago");
        assert_eq!(device.take(at(9), at(4), at(4)), at(4), "nothing is seen before it happens");
        assert_eq!(device.take(at(1), at(5), at(5)), at(5), "backwards");
        assert_eq!(device.clock.health().refused, 4);
        // Twice the same: in order all the same.
        assert_eq!(device.take(at(6), at(6), at(6)), at(6));
        assert_eq!(device.take(at(6), at(6), at(6)), at(6) + 1);
        assert_eq!(device.clock.health().refused, 5);
    }

    #[test]
    fn a_device_that_goes_on_by_another_clock_is_followed() {
        for jump in [-4_000 * SECOND, -5 * SECOND, 5 * SECOND, 4_000 * SECOND] {
            let mut device = Device::new();
            let mut refused = Vec::new();
            for n in 0..1_200 {
                let captured = n * SECOND / 10;
                let arrived = captured + 30 * MS;
                let running = captured + if n >= 600 { jump } else { 0 };
                let at = device.take(running, arrived, arrived);
                // Where its stamps lead back, those of its arrival are taken; they lie as late as ever.
                assert!(at.abs_diff(captured) < 100_000_000, "{jump} {n}: {at}");
                refused.push(device.clock.health().refused);
            }
            let health = device.clock.health();
            assert!(refused[1_199] > 50 && refused[1_199] < 250, "{jump}: {health:?}");
            assert_eq!((refused[599], refused[1_199]), (0, refused[900]), "{jump}");
            assert_eq!(health.anchored, 1, "{jump}");
        }
    }

    #[test]
    fn a_wall_clock_that_is_set_takes_every_device_with_it() {
        let mut device = Device::new();
        for n in 0..400 {
            device.wall_set = if n >= 200 { SECOND / 2 } else { 0 };
            let captured = n * SECOND / 10;
            let at = device.take(captured, captured + 20 * MS, captured + 20 * MS);
            assert_eq!(at, captured + device.wall_set, "{n}");
        }
        assert_eq!(device.clock.health().anchored, 1);
        assert_eq!(device.clock.health().refused, 0);
    }
}
