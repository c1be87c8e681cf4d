//! The `stats` document: rates, drops, lags, depths, counts and latencies.

use std::collections::BTreeMap;
use std::time::Instant;

use super::meters::Meters;
use crate::capture::SourceState;
use crate::daemon::ingest::{Gauges, Readings};
use crate::daemon::service::Clock;
use crate::daemon::vectorize::VectorProgress;
use crate::ids::{EntityId, EntityKind};
use crate::llm::Tally;
use crate::memorize::model::Spool;
use crate::memory::{Memory, View};
use crate::mqtt::Publisher;
use crate::mqtt::message::{SourceStats, Stats};
use crate::time::Timestamp;

/// What models cost, and what waits for them.
#[derive(Clone, Debug, Default)]
pub struct Models {
    /// One per client.
    pub tallies: Vec<Tally>,
    /// Clips that wait to be memorized.
    pub spool: Option<Spool>,
    /// Memories that wait to be embedded.
    pub vectors: VectorProgress,
}

/// Makes one document after the other; rates are over the time between two.
pub struct StatsWriter {
    memory: Memory,
    gauges: Gauges,
    meters: Meters,
    clock: Clock,
    models: Models,
    started: Instant,
    before: (Instant, Readings),
}

impl StatsWriter {
    /// Counts from now on.
    #[must_use]
    pub fn new(
        memory: Memory,
        gauges: Gauges,
        meters: Meters,
        clock: Clock,
        models: Models,
    ) -> Self {
        let now = Instant::now();
        let before = (now, gauges.read());
        Self { memory, gauges, meters, clock, models, started: now, before }
    }

    /// The document of the interval that ends now.
    pub fn next(&mut self, publisher: &Publisher) -> Stats {
        let (now, at) = (Instant::now(), Timestamp::wall_clock());
        let readings = self.gauges.read();
        let secs = (now - self.before.0).as_secs_f64().max(1e-3);
        let live = matches!(self.clock, Clock::Wall);
        let rate = self.clock.rate();
        let mut sources = BTreeMap::new();
        let mut queues = BTreeMap::from([
            ("jobs".to_owned(), readings.jobs),
            ("clips".to_owned(), readings.borders.saturating_sub(readings.sealed)),
            ("outbox".to_owned(), publisher.waiting() as u64),
        ]);
        for (source, gauge) in &readings.sources {
            let before = self.before.1.sources.get(source).map_or(0, |before| before.captured);
            let lag_secs =
                gauge.newest.filter(|_| live).map_or(0.0, |newest| at.secs_since(newest));
            let stats = SourceStats {
                per_sec: gauge.captured.saturating_sub(before) as f64 / secs,
                wanted_per_sec: gauge.wanted_per_sec.zip(rate).map(|(fps, rate)| fps * rate),
                captured: gauge.captured,
                dropped: gauge.dropped,
                lag_secs,
                state: gauge.state.map(|state| word(state).to_owned()),
                restarts: gauge.restarts,
                looks_left_out: gauge.looks_left_out,
            };
            sources.insert(source.to_string(), stats);
            queues.insert(format!("source {source}"), gauge.waiting);
        }
        let mut counts = self.meters.counts();
        let view = self.memory.view();
        counts.insert("persons".to_owned(), persons(&view) as u64);
        counts.insert("commits".to_owned(), view.seq().0);
        counts.insert("messages_dropped".to_owned(), publisher.dropped());
        for (what, count) in self.models.tallies.iter().flat_map(Tally::counts) {
            *counts.entry(what.to_owned()).or_default() += count;
        }
        queues.insert("vectors".to_owned(), self.models.vectors.waiting());
        if let Some(spool) = &self.models.spool {
            let held = spool.counts();
            queues.insert("spool".to_owned(), held.waiting);
            queues.insert("spool_bytes".to_owned(), held.bytes);
            let lag = spool_lag_secs(&self.memory, held.oldest);
            queues.insert("spool_lag_secs".to_owned(), lag as u64);
            counts.insert("spool_dropped".to_owned(), held.dropped);
        }
        self.before = (now, readings);
        Stats {
            at,
            uptime_secs: self.started.elapsed().as_secs_f64(),
            behind_secs: match &self.clock {
                Clock::Replay(pace) => pace.behind_secs(),
                Clock::Wall | Clock::Store => 0.0,
            },
            sources,
            queues,
            counts,
            latency_ms: self.meters.latencies(),
        }
    }
}

/// A live source's state in one word.
fn word(state: SourceState) -> &'static str {
    match state {
        SourceState::Starting => "starting",
        SourceState::Running => "running",
        SourceState::Waiting => "waiting",
        SourceState::Stopped => "stopped",
    }
}

/// Persons, those that were merged into another once.
pub(in crate::daemon) fn persons(view: &View) -> usize {
    let is_person = |id: &EntityId| id.kind == EntityKind::Person && view.resolve(*id) == *id;
    view.entities().into_iter().filter(is_person).count()
}

/// How far the memorizing model's memories lie behind the built-in ones, event time.
pub(in crate::daemon) fn spool_lag_secs(memory: &Memory, oldest: Option<Timestamp>) -> f64 {
    let newest = memory.view().newest_time();
    oldest.zip(newest).map_or(0.0, |(oldest, newest)| newest.secs_since(oldest).max(0.0))
}
