//! The window: event time between capture and perception.
//!
//! [`ClipClock`] cuts a session's time into clips, [`FrameSelector`] says which frames are analysed,
//! [`Watermark`] how far every source has come, [`RollingWindow`] holds the last clip's worth of sound,
//! analysed pictures and findings for whoever looks at the present. All state that a resumed replay
//! needs is serde-able and goes into the clip's checkpoint.

mod clock;
mod counters;
mod rolling;
mod select;
mod watermark;

pub use clock::ClipClock;
pub use counters::{SourceCounts, WindowCounters};
pub use rolling::{OpenWindow, RollingWindow, Seen};
pub use select::{FrameSelector, LEAST_STEP_SECS};
pub use watermark::Watermark;
