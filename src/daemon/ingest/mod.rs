//! Ingest: the data plane put together, from a feed of timed media to committed clips.
//!
//! ```text
//! feed ─▶ dispatcher ─▶ camera stages ──────┐            ┌─▶ SQLite, graph, index
//!            │  ▲          │  ▲             ├─▶ sealer ──┤
//!            │  pace       ▼  │             │            └─▶ reports (events, progress)
//!            │           workers (pool)     │
//!            └────────▶ microphone stages ──┘
//! ```
//!
//! The dispatcher hands items out in event time order and announces each clip's border; a stage answers
//! a border with its part of the clip; the sealer puts the parts together and commits one transaction.
//! What a stage does depends on its input's order alone, so the same recording gives the same memory.

mod commit;
mod failpoints;
#[cfg(test)]
mod failpoints_tests;
mod feed;
#[cfg(test)]
mod gap_tests;
mod metrics;
mod report;
mod stage;
mod work;

pub use commit::late_words::LateWords;
pub use failpoints::Failpoints;
pub use feed::inbox::{Inbox, OwnSpeech};
pub use feed::live::{LiveContext, live};
pub use feed::pace::{Command, PlaybackClock};
pub use feed::session::{IngestError, SessionSettings, replay};
pub use metrics::gauges::{Gauges, MOST_STUCK, Readings, SourceGauge, Stuck};
pub use metrics::stages::{Stage, StageTimes};
pub use report::{ClipReport, PartialWords, Report, SessionEnd};
pub use stage::detection_schedule::{DetectionPlan, FaceDetectionMode};
pub(in crate::daemon) use work::Kind as JobKind;
pub(crate) use work::perceivers::calibrations;
pub use work::perceivers::{Calibrations, ObjectModel, PerceiverSet, Perceivers, Recogniser};
pub(in crate::daemon) use work::pool::LANES;
pub use work::yielding::{YieldGuard, YieldPolicy};

use crate::media::{Pose, ToldWords};
use crate::time::Timestamp;
use crate::window::{ClipClock, FrameSelector};

/// Where a clip ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ClipBoundary {
    /// Index of the clip that ends here.
    index: u32,
    /// First instant of that clip.
    start: Timestamp,
    /// First instant after it.
    end: Timestamp,
    /// Nothing comes after it.
    last: bool,
}

/// What the dispatcher itself contributes to a clip.
#[derive(Clone, Debug, Default)]
struct DispatchContribution {
    frames: u64,
    analysed: u64,
    dropped: u64,
    poses: Vec<Pose>,
    /// Words in writing.
    told: Vec<ToldWords>,
    /// The session's first capture time.
    t0: Timestamp,
    /// Where its clips lie.
    clock: Option<ClipClock>,
    /// As it stands at the border.
    selector: Option<FrameSelector>,
}

/// One stage's part of one clip, on its way to the sealer.
enum Contribution {
    Dispatch(ClipBoundary, Box<DispatchContribution>),
    Camera(usize, ClipBoundary, Box<stage::camera::CameraContribution>),
    Microphone(usize, ClipBoundary, Box<stage::microphone::MicrophoneContribution>),
    /// Live: a turn has ended; its clip comes later.
    Ended(Box<commit::said::EndedTurn>),
}
