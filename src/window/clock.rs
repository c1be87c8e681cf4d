//! Clips: a session's time cut into equal, half-open spans.

use serde::{Deserialize, Serialize};

use crate::time::{Span, Timestamp};

/// Clip *k* of a session is `[t0 + k·clip_secs, t0 + (k+1)·clip_secs)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClipClock {
    t0: Timestamp,
    clip_nanos: i64,
}

impl ClipClock {
    /// `t0`: the session's first capture time; `clip_secs`: `window.clip_secs`, at least 1 ms is taken.
    #[must_use]
    pub fn new(t0: Timestamp, clip_secs: f64) -> Self {
        Self { t0, clip_nanos: ((clip_secs * 1e9).round() as i64).max(1_000_000) }
    }

    /// The session's first capture time.
    #[must_use]
    pub const fn t0(&self) -> Timestamp {
        self.t0
    }

    /// Length of a clip, seconds.
    #[must_use]
    pub fn clip_secs(&self) -> f64 {
        self.clip_nanos as f64 * 1e-9
    }

    /// The clip that an instant lies in; anything before `t0` counts to clip 0.
    #[must_use]
    pub fn index(&self, at: Timestamp) -> u32 {
        let since = at.as_nanos().saturating_sub(self.t0.as_nanos()).max(0);
        u32::try_from(since / self.clip_nanos).unwrap_or(u32::MAX)
    }

    /// What clip `index` covers.
    #[must_use]
    pub fn span(&self, index: u32) -> Span {
        Span::new(self.border(i64::from(index)), self.border(i64::from(index) + 1))
    }

    fn border(&self, index: i64) -> Timestamp {
        Timestamp::from_nanos(
            self.t0.as_nanos().saturating_add(self.clip_nanos.saturating_mul(index)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_instant_lies_in_its_clip_and_in_no_other(
            t0 in -1_000_000_000_000_i64..1_900_000_000_000_000_000,
            since in 0_i64..1_000_000_000_000_000,
            clip_secs in 5.0_f64..300.0,
        ) {
            let clock = ClipClock::new(Timestamp::from_nanos(t0), clip_secs);
            let at = Timestamp::from_nanos(t0 + since);
            let index = clock.index(at);
            prop_assert!(clock.span(index).contains(at));
            prop_assert_eq!(clock.span(index).end, clock.span(index + 1).start);
            prop_assert_eq!(clock.index(clock.span(index).end), index + 1);
        }
    }

    #[test]
    fn earlier_than_the_session_counts_to_the_first_clip() {
        let clock = ClipClock::new(Timestamp::from_nanos(5_000_000_000), 30.0);
        assert_eq!(clock.index(Timestamp::from_nanos(1)), 0);
        assert_eq!(clock.span(0).start, clock.t0());
    }
}
