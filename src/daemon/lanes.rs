//! Workers and sources that hang: of a job, or a device, that never comes back the watchdog is told, and `status.degraded`.
//!
//! Live, a clip is sealed without waiting for its words, nor for a source that delivers nothing, so nothing else would stand
//! still for want of them.

use std::time::{Duration, Instant};

use super::announce::Announcer;
use super::ingest::{LANES, Readings};
use super::notify::{Pulse, Watchdog};
use crate::capture::{SourceHealth, SourceState};
use crate::ids::SourceId;

/// A device that hangs for longer is not coming back to this process.
const SOURCE_IS_LOST_AFTER: Duration = Duration::from_secs(600);

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

/// Capture makes progress as long as no source is lost in its driver; what ails each is told.
pub(super) fn look_at_sources(
    sources: &[SourceHealth],
    hanging: &[(SourceId, Duration)],
    capture: &Pulse,
    announcer: &Announcer,
) {
    if hanging.iter().all(|(_, since)| *since < SOURCE_IS_LOST_AFTER) {
        capture.beat();
    }
    let hangs = |source: &SourceHealth| hanging.iter().any(|(id, _)| *id == source.id);
    let told = sources.iter().filter_map(|source| ailing(source, hangs(source)));
    announcer.degraded("sources", told.collect());
}

/// What a source that does not deliver takes away.
fn ailing(source: &SourceHealth, hangs: bool) -> Option<String> {
    let id = &source.id;
    if hangs {
        return Some(format!(
            "{id}: its device hangs while it is started or stopped; unplug it, or restart engramd"
        ));
    }
    if source.state != SourceState::Waiting {
        return None;
    }
    let why = source.last_error.as_deref().unwrap_or("it delivers nothing");
    Some(format!("{id}: {why}; it is started again"))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_source_that_hangs_is_told_of_and_one_that_hangs_for_minutes_starves_the_watchdog() {
        let (announcer, mut watchdog) = (Announcer::default(), Watchdog::new());
        let capture = watchdog.pulse("capture");
        let source = |id: &str, state| SourceHealth {
            id: SourceId::new(id),
            state,
            restarts: 0,
            dropped_frames: 0,
            dropped_blocks: 0,
            last_error: None,
        };
        let sources =
            [source("front", SourceState::Starting), source("rear", SourceState::Running)];
        let mut stalled = |sources: &[SourceHealth], secs: Option<u64>| {
            let hangs = |secs| (SourceId::new("front"), Duration::from_secs(secs));
            let hanging: Vec<_> = secs.map(hangs).into_iter().collect();
            look_at_sources(sources, &hanging, &capture, &announcer);
            (watchdog.stalled(), announcer.impaired())
        };
        assert_eq!(stalled(&sources, None), (Vec::new(), 0));
        assert_eq!(stalled(&sources, Some(15)), (Vec::new(), 1));
        assert_eq!(stalled(&sources, Some(601)), (vec!["capture".to_owned()], 1));
        // Told of once, also where it was lost before.
        let lost = [source("front", SourceState::Waiting)];
        assert_eq!(stalled(&lost, Some(700)), (vec!["capture".to_owned()], 1));
        assert_eq!(stalled(&lost, None), (Vec::new(), 1));
        assert_eq!(stalled(&sources, None), (Vec::new(), 0));
    }
}
