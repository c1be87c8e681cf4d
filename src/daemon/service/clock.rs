//! What "now" is while the daemon runs.

use crate::daemon::ingest::PlaybackClock;
use crate::time::Timestamp;

/// The session's clock.
#[derive(Clone, Debug)]
pub enum Clock {
    /// Live: the wall clock.
    Wall,
    /// A recording's: how far it was played; after its end it stands still.
    Replay(PlaybackClock),
    /// No session runs: a store that is changed without its daemon. Its present is the newest time in it.
    Store,
}

impl Clock {
    /// Now; `None` before a replay's first item, and where no session runs.
    #[must_use]
    pub fn now(&self) -> Option<Timestamp> {
        match self {
            Self::Wall => Some(Timestamp::wall_clock()),
            Self::Replay(pace) => Some(pace.position()).filter(|at| *at > Timestamp::EPOCH),
            Self::Store => None,
        }
    }

    /// Seconds of event time that are to pass per second; `None` where nothing says: a replay that stands still, or plays
    /// as fast as the machine can.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        match self {
            Self::Wall => Some(1.0),
            Self::Replay(pace) => {
                let (rate, paused) = pace.state();
                rate.filter(|_| !paused)
            }
            Self::Store => None,
        }
    }
}
