//! What the program tells of itself: histograms, time per stage, and log lines that come no more than once a minute.

pub mod histogram;
pub(crate) mod rate_limited_log;
pub mod stage_times;
