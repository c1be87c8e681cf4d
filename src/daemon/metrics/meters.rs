//! Counts and latencies since the start of the daemon, for `stats`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::mqtt::message::Latency;
use crate::telemetry::histogram::Histogram;

/// Newest latencies kept per stage.
const KEPT: usize = 2048;

#[derive(Debug, Default)]
struct State {
    counts: BTreeMap<&'static str, u64>,
    latencies: BTreeMap<&'static str, Taken>,
}

/// What one stage took.
#[derive(Debug, Default)]
struct Taken {
    /// The newest, milliseconds.
    newest: VecDeque<f64>,
    /// All of them.
    all: Histogram,
}

/// Shared by everything that counts. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Meters(Arc<Mutex<State>>);

impl Meters {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more.
    pub fn count(&self, what: &'static str) {
        self.add(what, 1);
    }

    /// So many more.
    pub fn add(&self, what: &'static str, more: u64) {
        *self.lock().counts.entry(what).or_default() += more;
    }

    /// A stage took so long.
    pub fn latency(&self, stage: &'static str, took: Duration) {
        let mut state = self.lock();
        let taken = state.latencies.entry(stage).or_default();
        if taken.newest.len() >= KEPT {
            taken.newest.pop_front();
        }
        taken.newest.push_back(took.as_secs_f64() * 1e3);
        taken.all.observe(took);
    }

    /// Every count.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.lock().counts.iter().map(|(what, count)| ((*what).to_owned(), *count)).collect()
    }

    /// One stage's latencies since the start.
    #[must_use]
    pub fn histogram(&self, stage: &str) -> Histogram {
        let state = self.lock();
        state.latencies.get(stage).map(|taken| taken.all.clone()).unwrap_or_default()
    }

    /// Quantiles by stage, over the newest ones.
    #[must_use]
    pub fn latencies(&self) -> BTreeMap<String, Latency> {
        let state = self.lock();
        let quantiles = |taken: &Taken| {
            let mut sorted: Vec<f64> = taken.newest.iter().copied().collect();
            sorted.sort_by(f64::total_cmp);
            let at = |share: f64| {
                let index = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
                sorted.get(index).copied().unwrap_or_default()
            };
            Latency { p50: at(0.5), p95: at(0.95), p99: at(0.99), count: taken.all.count() }
        };
        let rows = state.latencies.iter();
        rows.map(|(stage, taken)| ((*stage).to_owned(), quantiles(taken))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_newest_and_the_count_is_of_all() {
        let meters = Meters::default();
        for ms in 1..=101 {
            meters.latency("answer", Duration::from_millis(ms));
        }
        let latencies = meters.latencies();
        let answer = latencies["answer"];
        assert_eq!((answer.p50.round(), answer.p99.round(), answer.count), (51.0, 100.0, 101));
        for _ in 0..3000 {
            meters.latency("answer", Duration::from_millis(7));
        }
        let latencies = meters.latencies();
        assert_eq!((latencies["answer"].p50.round(), latencies["answer"].count), (7.0, 3101));
        assert_eq!(meters.histogram("answer").count(), 3101);
        assert_eq!(meters.histogram("nothing"), Histogram::default());
    }
}
