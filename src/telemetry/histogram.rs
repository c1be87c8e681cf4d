//! Latencies as they are counted for dashboards: how many took at most so long, and their sum.

use std::time::Duration;

/// Upper bounds of the buckets, seconds; one more bucket holds what took longer.
pub const BOUNDS_SECS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// One latency since the start of the daemon.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    buckets: [u64; BOUNDS_SECS.len() + 1],
    sum_secs: f64,
}

impl Histogram {
    /// It took so long.
    pub fn observe(&mut self, took: Duration) {
        let secs = took.as_secs_f64();
        let bucket = BOUNDS_SECS.partition_point(|bound| *bound < secs);
        self.buckets[bucket] += 1;
        self.sum_secs += secs;
    }

    /// Per bound, how many took at most so long.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut so_far = 0;
        BOUNDS_SECS.into_iter().zip(self.buckets).map(move |(bound, count)| {
            so_far += count;
            (bound, so_far)
        })
    }

    /// How many in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// All of them together, seconds.
    #[must_use]
    pub fn sum_secs(&self) -> f64 {
        self.sum_secs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_exactly_a_bound_is_within_it_and_nothing_is_lost() {
        let mut histogram = Histogram::default();
        for ms in [0, 1, 2, 5, 40, 31_000] {
            histogram.observe(Duration::from_millis(ms));
        }
        let within: Vec<u64> = histogram.cumulative().map(|(_, count)| count).collect();
        assert_eq!(within, [2, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5]);
        assert_eq!(histogram.count(), 6);
        assert!((histogram.sum_secs() - 31.048).abs() < 1e-9);
    }
}
