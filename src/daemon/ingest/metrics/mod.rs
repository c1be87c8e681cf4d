//! What ingest tells of itself: gauges, time per stage, and log lines that come no more than once a minute.

pub(super) mod gauges;
pub(super) mod rate_limited;
pub(super) mod stages;
