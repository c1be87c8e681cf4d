//! Workers and sources that hang: of a job, or a device, that never comes back `status.degraded` tells, and in the end the
//! watchdog.
//!
//! A job that hangs is given up at its deadline and its worker replaced ([`super::ingest`]): nothing stands still for it. But
//! its thread and its models stay, so that there is an end to it: then systemd is asked for a new process.

use std::collections::BTreeMap;
use std::time::Duration;

use super::announce::Announcer;
use super::ingest::{LANES, MOST_STUCK, Readings, Stuck};
use super::notify::{self, Pulse, Watchdog};
use crate::capture::{SourceHealth, SourceState};
use crate::ids::SourceId;
use crate::runtime::crash_journal;

/// A device that hangs for longer is not coming back to this process.
const SOURCE_IS_LOST_AFTER: Duration = Duration::from_secs(600);

/// The lanes of work and their pulses.
pub(super) struct Lanes {
    pulses: [(&'static str, Pulse); LANES.len()],
    /// A new process was asked for.
    asked: bool,
}

impl Lanes {
    /// That watchdog is not fed while so many workers hang that the process is to be restarted.
    pub(super) fn watched_by(watchdog: &mut Watchdog) -> Self {
        Self { pulses: LANES.map(|lane| (lane, watchdog.pulse(lane))), asked: false }
    }

    /// Tells of workers that hang; when there are too many, it is written down which networks run in them, and systemd is
    /// asked for a new process, which is without them if that happens again.
    pub(super) fn look(&mut self, readings: &Readings, announcer: &Announcer) {
        announcer.degraded("workers", told(&readings.stuck));
        let over = readings.stuck.len() >= MOST_STUCK;
        let hangs = |lane| over && readings.stuck.values().any(|stuck| stuck.lane == lane);
        for (_, pulse) in self.pulses.iter().filter(|(lane, _)| !hangs(*lane)) {
            pulse.beat();
        }
        if over && !self.asked {
            self.asked = true;
            let mut networks: Vec<&str> =
                readings.stuck.values().filter_map(|stuck| stuck.network.as_deref()).collect();
            networks.sort_unstable();
            networks.dedup();
            networks.into_iter().for_each(crash_journal::hung);
            tracing::error!("{MOST_STUCK} workers hang: systemd is asked for a new process.");
            notify::give_up();
        }
    }
}

/// A sentence for what hangs in the same way.
fn told(stuck: &BTreeMap<u64, Stuck>) -> Vec<String> {
    let mut alike: BTreeMap<(&str, &str, Option<&str>), usize> = BTreeMap::new();
    for Stuck { lane, job, network, .. } in stuck.values() {
        *alike.entry((lane, job, network.as_deref())).or_default() += 1;
    }
    let sentence = |((lane, job, network), count): ((&str, &str, Option<&str>), usize)| {
        let place = network.map(|network| format!(" in {network}")).unwrap_or_default();
        let end = match stuck.len() >= MOST_STUCK {
            true => "; restart engramd".to_owned(),
            false => format!("; at {MOST_STUCK} that hang engramd is restarted"),
        };
        format!(
            "{lane}: {count} jobs `{job}` hang{place} and were given up; other workers took their places{end}"
        )
    };
    alike.into_iter().map(sentence).collect()
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

    #[test]
    fn a_worker_that_hangs_is_told_of_and_too_many_starve_the_watchdog() {
        let (announcer, mut watchdog) = (Announcer::default(), Watchdog::new());
        let mut lanes = Lanes::watched_by(&mut watchdog);
        let mut readings = Readings::default();
        let mut stalled = |readings: &Readings| {
            lanes.look(readings, &announcer);
            (watchdog.stalled(), announcer.impaired())
        };
        assert_eq!(stalled(&readings), (Vec::new(), 0));
        let stuck = |job, network: &str| Stuck {
            lane: "perceive",
            job,
            source: SourceId::new("front"),
            network: Some(network.to_owned()),
        };
        for number in 1..MOST_STUCK as u64 {
            readings.stuck.insert(number, stuck("frame", "yunet.onnx"));
            assert_eq!(stalled(&readings), (Vec::new(), 1));
        }
        let sentence = told(&readings.stuck).remove(0);
        let wanted = "perceive: 3 jobs `frame` hang in yunet.onnx and were given up";
        assert!(sentence.starts_with(wanted) && sentence.contains("at 4 that hang"), "{sentence}");
        readings.stuck.insert(9, stuck("voice", "ge2e.pt"));
        assert_eq!(stalled(&readings), (vec!["perceive".to_owned()], 2));
        readings.stuck.clear();
        assert_eq!(stalled(&readings), (Vec::new(), 0));
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
            refused_stamps: 0,
            anchored: 0,
            stamps_off_secs: 0.0,
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
