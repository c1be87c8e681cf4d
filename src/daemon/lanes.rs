//! Workers that hang: of a job that never ends the watchdog is told, and `status.degraded`.
//!
//! Live, a clip is sealed without waiting for its words, so nothing else would stand still for want of them.

use std::time::Instant;

use super::announce::Announcer;
use super::ingest::{LANES, Readings};
use super::notify::{Pulse, Watchdog};

/// The lanes of work and their pulses.
pub(super) struct Lanes([(&'static str, Pulse); LANES.len()]);

impl Lanes {
    /// That watchdog is not fed while a worker hangs.
    pub(super) fn watched_by(watchdog: &mut Watchdog) -> Self {
        Self(LANES.map(|lane| (lane, watchdog.pulse(lane))))
    }

    /// A lane makes progress as long as none of its workers hangs.
    pub(super) fn look(&self, readings: &Readings, now: Instant, announcer: &Announcer) {
        let hanging = readings.hanging(now);
        for (_, pulse) in self.0.iter().filter(|(lane, _)| !hanging.contains(lane)) {
            pulse.beat();
        }
        let missing = hanging.iter().map(|lane| format!("{lane}: a worker hangs; restart engramd"));
        announcer.degraded("workers", missing.collect());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::daemon::ingest::Gauges;

    #[test]
    fn a_worker_that_hangs_starves_the_watchdog_and_one_at_work_does_not() {
        let (gauges, announcer, mut watchdog) =
            (Gauges::default(), Announcer::default(), Watchdog::new());
        let lanes = Lanes::watched_by(&mut watchdog);
        let mut stalled = || {
            lanes.look(&gauges.read(), Instant::now(), &announcer);
            (watchdog.stalled(), announcer.impaired())
        };
        assert_eq!(stalled(), (Vec::new(), 0));
        let at_work = gauges.take_in_hand("perceive", Duration::from_secs(3600));
        assert_eq!(stalled(), (Vec::new(), 0));
        let hangs = gauges.take_in_hand("words", Duration::ZERO);
        assert_eq!(stalled(), (vec!["words".to_owned()], 1));
        drop(at_work);
        assert_eq!(stalled(), (vec!["words".to_owned()], 1));
        drop(hangs);
        assert_eq!(stalled(), (Vec::new(), 0));
    }
}
