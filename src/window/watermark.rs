//! How far event time has come: nothing earlier than the watermark is still to be expected.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::SourceId;
use crate::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Progress {
    /// Everything before this has been seen; `None` before the first item.
    reached: Option<Timestamp>,
    /// When it was last heard of, by the caller's clock.
    heard: Timestamp,
    ended: bool,
}

/// The slowest source's progress; live, a source that is silent for longer than the idle timeout does
/// not hold it back. Never goes backwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watermark {
    sources: BTreeMap<SourceId, Progress>,
    idle_timeout_secs: Option<f64>,
    last: Option<Timestamp>,
}

impl Watermark {
    /// For a replay: every source is waited for until it ends.
    #[must_use]
    pub fn lossless(sources: &[SourceId]) -> Self {
        Self::with_timeout(sources, None, Timestamp::EPOCH)
    }

    /// For live sources: `window.idle_timeout_secs`; `now`: the wall clock at the start.
    #[must_use]
    pub fn live(sources: &[SourceId], idle_timeout_secs: f64, now: Timestamp) -> Self {
        Self::with_timeout(sources, Some(idle_timeout_secs), now)
    }

    fn with_timeout(sources: &[SourceId], idle_timeout_secs: Option<f64>, now: Timestamp) -> Self {
        let start = Progress { reached: None, heard: now, ended: false };
        Self {
            sources: sources.iter().map(|source| (source.clone(), start)).collect(),
            idle_timeout_secs,
            last: None,
        }
    }

    /// A source has yielded everything before `at`; `now` is the wall clock (ignored in a replay).
    /// A source that was not announced is added.
    pub fn advance(&mut self, source: &SourceId, at: Timestamp, now: Timestamp) {
        match self.sources.get_mut(source) {
            Some(progress) => {
                progress.reached = Some(progress.reached.map_or(at, |before| before.max(at)));
                progress.heard = progress.heard.max(now);
                progress.ended = false;
            }
            None => {
                let progress = Progress { reached: Some(at), heard: now, ended: false };
                self.sources.insert(source.clone(), progress);
            }
        }
    }

    /// Nothing more comes from this source.
    pub fn end(&mut self, source: &SourceId) {
        if let Some(progress) = self.sources.get_mut(source) {
            progress.ended = true;
        }
    }

    /// Whether every source has ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.sources.values().all(|progress| progress.ended)
    }

    /// The time before which nothing more is expected; `None` until known. `now`: the wall clock.
    ///
    /// When all sources have ended or are idle it is the furthest that any of them reached.
    pub fn at(&mut self, now: Timestamp) -> Option<Timestamp> {
        let waited_for = |progress: &&Progress| {
            !progress.ended
                && self
                    .idle_timeout_secs
                    .is_none_or(|timeout| now.secs_since(progress.heard) <= timeout)
        };
        let slowest = self.sources.values().filter(waited_for).map(|p| p.reached).min();
        let mark = match slowest {
            Some(reached) => reached,
            None => self.sources.values().filter_map(|p| p.reached).max(),
        };
        self.last = self.last.max(mark);
        self.last
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn the_slowest_source_holds_it_back_until_it_ends() {
        let (a, b) = (SourceId::new("a"), SourceId::new("b"));
        let mut mark = Watermark::lossless(&[a.clone(), b.clone()]);
        mark.advance(&a, at(500), at(0));
        assert_eq!(mark.at(at(1_000_000)), None, "b has not begun");
        mark.advance(&b, at(200), at(0));
        assert_eq!(mark.at(at(0)), Some(at(200)));
        mark.end(&b);
        assert_eq!(mark.at(at(0)), Some(at(500)));
        mark.end(&a);
        assert!(mark.ended());
        assert_eq!(mark.at(at(0)), Some(at(500)));
    }

    #[test]
    fn live_a_silent_source_is_not_waited_for() {
        let (a, b) = (SourceId::new("a"), SourceId::new("b"));
        let mut mark = Watermark::live(&[a.clone(), b.clone()], 2.0, at(0));
        mark.advance(&a, at(900), at(1000));
        assert_eq!(mark.at(at(1500)), None);
        mark.advance(&a, at(2400), at(2500));
        assert_eq!(mark.at(at(2500)), Some(at(2400)));
        mark.advance(&b, at(1000), at(2600));
        assert_eq!(mark.at(at(2600)), Some(at(2400)), "never backwards");
    }

    proptest! {
        #[test]
        fn never_goes_back_and_never_passes_a_source_that_is_waited_for(
            steps in proptest::collection::vec((0_usize..3, 0_i64..500), 1..200),
        ) {
            let sources = [SourceId::new("a"), SourceId::new("b"), SourceId::new("c")];
            let mut mark = Watermark::lossless(&sources);
            let (mut reached, mut before) = ([None::<i64>; 3], None);
            for (which, step) in steps {
                let next = reached[which].unwrap_or(0) + step;
                reached[which] = Some(next);
                mark.advance(&sources[which], at(next), at(0));
                let now = mark.at(at(0));
                prop_assert!(now >= before);
                prop_assert_eq!(now, reached.iter().copied().min().unwrap().map(at));
                before = now;
            }
        }
    }
}
