//! Ingest: the data plane put together, from a feed of timed media to committed clips.
//!
//! ```text
//! feed ─▶ dispatcher ─▶ camera stages ──────┐            ┌─▶ SQLite, graph, index
//!            │  ▲          │  ▲             ├─▶ committer ┤
//!            │  pace       ▼  │             │            └─▶ reports (events, progress)
//!            │           workers (pool)     │
//!            └────────▶ microphone stages ──┘
//! ```
//!
//! The dispatcher hands items out in event time order and announces each clip's boundary; a stage answers
//! a boundary with its part of the clip; the committer puts the parts together and commits one transaction.
//! What a stage does depends on its input's order alone, so the same recording gives the same memory.

mod clip_boundary;
mod commit;
mod contribution;
mod error;
mod failpoints;
#[cfg(test)]
mod failpoints_tests;
mod feed;
#[cfg(test)]
mod gap_tests;
mod report;
mod settings;
mod stage;
mod work;

pub use super::metrics::gauges::{Gauges, MOST_STUCK, Readings, SourceGauge, Stuck};
pub(crate) use commit::poses::kept as kept_poses;
pub use error::IngestError;
pub use failpoints::Failpoints;
pub use feed::inbox::{Inbox, OwnSpeech};
pub use feed::live::{LiveContext, live};
pub use feed::pace::{Choice, Command, PlaybackClock, Playing};
pub use feed::session::replay;
pub use report::{ClipReport, LateWords, PartialWords, Report, SessionEnd};
pub use settings::SessionSettings;
pub(crate) use work::perceiver_set::calibrations;
pub use work::perceiver_set::{Calibrations, PerceiverSet};
pub(in crate::daemon) use work::pool::LANES;
pub use work::yielding::{YieldGuard, YieldPolicy};
