//! The window: event time between capture and perception.
//!
//! [`ClipClock`] cuts a session's time into clips, [`FrameSelector`] says which frames are analysed. Both are part of the
//! clip's checkpoint.

mod clock;
mod select;

pub use clock::ClipClock;
pub use select::{FrameSelector, LEAST_STEP_SECS};
