//! Log lines that would come with every frame: the first is told at once, more are counted and told once a minute.

use std::time::{Duration, Instant};

/// It is told no more often.
const PAUSE: Duration = Duration::from_secs(60);

/// How often something happened that was not told yet. Touched by one thread alone.
#[derive(Debug, Default)]
pub(crate) struct RateLimitedLog {
    told: Option<Instant>,
    untold: u64,
}

impl RateLimitedLog {
    /// It happened at `now`. Where it is to be told: how often since the last time, this one included.
    pub(crate) fn happened(&mut self, now: Instant) -> Option<u64> {
        self.untold += 1;
        if self.told.is_some_and(|told| now.saturating_duration_since(told) < PAUSE) {
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_told_at_once_and_more_are_counted_for_a_minute() {
        let (mut seldom, start) = (RateLimitedLog::default(), Instant::now());
        let mut at = |secs| seldom.happened(start + Duration::from_secs(secs));
        assert_eq!([0, 1, 59].map(&mut at), [Some(1), None, None]);
        assert_eq!([60, 61, 300].map(at), [Some(3), None, Some(2)]);
    }
}
