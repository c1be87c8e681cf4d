//! What runs through a session, in figures: written by its stages and workers, read by `stats` and the watchdog.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::capture::{SourceHealth, SourceState};
use crate::ids::SourceId;
use crate::telemetry::histogram::Histogram;
use crate::time::Timestamp;

/// One source's figures since the start of the daemon.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceGauge {
    /// Frames or blocks handed to its stage.
    pub captured: u64,
    /// Frames or blocks that nobody took in time, or that came too late.
    pub dropped: u64,
    /// Frames in which people and things were not looked for though somebody moved: the budget was spent.
    pub looks_left_out: u64,
    /// End of the newest one.
    pub newest: Option<Timestamp>,
    /// Items that wait for its stage.
    pub waiting: u64,
    /// A camera of the running session: frames to be analysed per second of event time.
    pub wanted_per_sec: Option<f64>,
    /// It is a camera, of this session or of one before.
    pub is_camera: bool,
    /// Live: how it is; `None`, too, where it is configured no more.
    pub state: Option<SourceState>,
    /// Live: how often it was started again.
    pub restarts: u64,
    /// Of these, in the running session.
    session_restarts: u64,
    /// Live: stamps that could not be.
    pub refused_stamps: u64,
    /// Live: how often its stamps were put together with their arrival again.
    pub anchored: u64,
    /// Live: by how much they had parted when that was last looked at, seconds.
    pub stamps_off_secs: Option<f64>,
    /// The two counts of the running session.
    session_stamps: (u64, u64),
}

/// What a count that begins at zero with each session adds to one that does not.
fn more(now: u64, before: &mut u64) -> u64 {
    let more = now.checked_sub(*before).unwrap_or(now);
    *before = now;
    more
}

/// Everything at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// By source.
    pub sources: BTreeMap<SourceId, SourceGauge>,
    /// Jobs that wait for a perception worker.
    pub jobs: u64,
    /// Items of all sources.
    pub items: u64,
    /// Clips whose border was announced.
    pub borders: u64,
    /// Of these, sealed or given up.
    pub sealed: u64,
    /// Sealing waits for space on the disk.
    pub disk_full: bool,
    /// By stage: how often one of its workers was begun anew after a panic.
    pub restarts: BTreeMap<&'static str, u64>,
    /// Live: from a frame's capture until its faces are in the open window.
    pub faces_shown: Histogram,
    /// Live: from the end of a turn until it is in the open window.
    pub turns_shown: Histogram,
    /// By kind of job: how many were given up because they hung.
    pub given_up: BTreeMap<&'static str, u64>,
    /// Threads that hang in a job that was given up, by number.
    pub stuck: BTreeMap<u64, Stuck>,
}

/// So many threads may hang; then the process is to be restarted. Each holds the models of a worker.
pub const MOST_STUCK: usize = 4;

/// A thread that hangs in a job, and was replaced.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stuck {
    /// Whose worker it was.
    pub lane: &'static str,
    /// What the job was for.
    pub job: &'static str,
    /// Whose frame or turn it was about.
    pub source: SourceId,
    /// The network that runs in it, as far as that is known.
    pub network: Option<String>,
}

/// Shared between a session and whoever looks on. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Gauges(Arc<Mutex<Readings>>);

impl Gauges {
    /// The figures now.
    #[must_use]
    pub fn read(&self) -> Readings {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Readings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An item of `source` that ends at `until` was handed on.
    pub(in crate::daemon) fn item(
        &self,
        source: &SourceId,
        until: Timestamp,
        waiting: usize,
        jobs: usize,
    ) {
        let mut readings = self.lock();
        readings.items += 1;
        readings.jobs = jobs as u64;
        let gauge = match readings.sources.get_mut(source) {
            Some(gauge) => gauge,
            None => readings.sources.entry(source.clone()).or_default(),
        };
        gauge.captured += 1;
        gauge.newest = gauge.newest.max(Some(until));
        gauge.waiting = waiting as u64;
    }

    /// The session that begins is to analyse so many frames of that camera per second of event time.
    pub(in crate::daemon) fn wanted(&self, camera: &SourceId, per_sec: f64) {
        let mut readings = self.lock();
        let gauge = readings.sources.entry(camera.clone()).or_default();
        (gauge.wanted_per_sec, gauge.is_camera) = (Some(per_sec), true);
    }

    /// How the live sources are, those that have never delivered among them.
    pub(in crate::daemon) fn health(&self, sources: &[SourceHealth]) {
        let mut readings = self.lock();
        let mut gone = Vec::new();
        for (id, gauge) in &mut readings.sources {
            if sources.iter().all(|source| source.id != *id) && gauge.state.take().is_some() {
                gone.extend([id.clone(), SourceId::new(&format!("{id}.audio"))]);
            }
        }
        // Nor does it, or a camera's own sound, lag behind any more.
        for id in gone {
            if let Some(gauge) = readings.sources.get_mut(&id).filter(|gauge| gauge.state.is_none())
            {
                gauge.newest = None;
            }
        }
        for source in sources {
            let gauge = readings.sources.entry(source.id.clone()).or_default();
            gauge.state = Some(source.state);
            gauge.restarts += more(source.restarts, &mut gauge.session_restarts);
            gauge.refused_stamps += more(source.refused_stamps, &mut gauge.session_stamps.0);
            gauge.anchored += more(source.anchored, &mut gauge.session_stamps.1);
            gauge.stamps_off_secs = Some(source.stamps_off_secs);
        }
    }

    /// A camera's frame was not searched for people and things though somebody moved: its budget was spent.
    pub(in crate::daemon) fn look_left_out(&self, camera: &SourceId) {
        self.lock().sources.entry(camera.clone()).or_default().looks_left_out += 1;
    }

    /// So many more items of a live source were dropped.
    pub(in crate::daemon) fn dropped(&self, source: &SourceId, more: u64) {
        self.lock().sources.entry(source.clone()).or_default().dropped += more;
    }

    /// A clip's border was announced.
    pub(in crate::daemon) fn border(&self) {
        self.lock().borders += 1;
    }

    /// A clip was sealed.
    pub(in crate::daemon) fn sealed(&self) {
        self.lock().sealed += 1;
    }

    /// A worker of that stage was begun anew.
    pub(in crate::daemon) fn restarted(&self, stage: &'static str) {
        *self.lock().restarts.entry(stage).or_default() += 1;
    }

    /// A worker hangs in a job, which is given up; true when too many do.
    pub(in crate::daemon) fn hangs(&self, worker: u64, stuck: Stuck) -> bool {
        let mut readings = self.lock();
        *readings.given_up.entry(stuck.job).or_default() += 1;
        readings.stuck.insert(worker, stuck);
        readings.stuck.len() >= MOST_STUCK
    }

    /// A worker that was given up has come back.
    pub(in crate::daemon) fn is_back(&self, worker: u64) {
        self.lock().stuck.remove(&worker);
    }

    /// Whether sealing waits for space on the disk.
    pub(in crate::daemon) fn disk_full(&self, full: bool) {
        self.lock().disk_full = full;
    }

    /// Whether it does.
    pub(in crate::daemon) fn is_disk_full(&self) -> bool {
        self.lock().disk_full
    }

    /// Live: the faces of a frame that was captured at `at` are in the open window.
    pub(in crate::daemon) fn faces_shown(&self, at: Timestamp) {
        self.lock().faces_shown.observe(since(at));
    }

    /// Live: the turn that ended at `at` is in the open window.
    pub(in crate::daemon) fn turn_shown(&self, at: Timestamp) {
        self.lock().turns_shown.observe(since(at));
    }

    /// The session is over: nothing waits any more.
    pub(in crate::daemon) fn rest(&self) {
        let mut readings = self.lock();
        readings.jobs = 0;
        readings.disk_full = false;
        readings.sealed = readings.borders;
        for gauge in readings.sources.values_mut() {
            (gauge.waiting, gauge.wanted_per_sec) = (0, None);
            gauge.state = gauge.state.map(|_| SourceState::Stopped);
            gauge.session_restarts = 0;
            gauge.session_stamps = (0, 0);
            gauge.stamps_off_secs = None;
        }
    }
}

/// How long ago that was, by the wall clock.
fn since(at: Timestamp) -> Duration {
    Duration::try_from_secs_f64(Timestamp::wall_clock().secs_since(at)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_of_a_source_add_up_over_sessions() {
        let gauges = Gauges::default();
        let health_of = |id: &str, state, restarts| {
            let source = SourceHealth {
                id: SourceId::new(id),
                state,
                restarts,
                dropped_frames: 0,
                dropped_blocks: 0,
                last_error: None,
                refused_stamps: restarts,
                anchored: 0,
                stamps_off_secs: 0.0,
            };
            gauges.health(&[source]);
        };
        let health = |state, restarts| {
            health_of("front", state, restarts);
            let gauge = gauges.read().sources[&SourceId::new("front")].clone();
            (gauge.state, gauge.restarts)
        };
        assert_eq!(health(SourceState::Starting, 0), (Some(SourceState::Starting), 0));
        assert_eq!(health(SourceState::Waiting, 2), (Some(SourceState::Waiting), 2));
        assert_eq!(health(SourceState::Running, 2), (Some(SourceState::Running), 2));
        gauges.rest();
        let resting = gauges.read().sources[&SourceId::new("front")].clone();
        assert_eq!((resting.state, resting.captured), (Some(SourceState::Stopped), 0));
        assert_eq!(health(SourceState::Waiting, 3), (Some(SourceState::Waiting), 5));
        // Another configuration names another camera: the first, and its sound, lag behind no more.
        for id in ["front", "front.audio", "front.else"] {
            gauges.item(&SourceId::new(id), Timestamp::EPOCH, 0, 0);
        }
        health_of("front", SourceState::Running, 0);
        let lags = |id| gauges.read().sources[&SourceId::new(id)].newest.is_some();
        assert!(["front", "front.audio", "front.else"].iter().all(|id| lags(id)));
        health_of("back", SourceState::Running, 0);
        let sources = gauges.read().sources;
        let state = |id| sources[&SourceId::new(id)].state;
        assert_eq!((state("front"), state("back")), (None, Some(SourceState::Running)));
        assert!(!lags("front") && !lags("front.audio") && lags("front.else"));
    }
}
