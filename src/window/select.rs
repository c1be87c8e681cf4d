//! Which frames are analysed: a steady grid in event time, the same for every replay rate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::SourceId;
use crate::time::Timestamp;

/// Frames closer together than this are not needed to see lips move, seconds.
pub const LEAST_STEP_SECS: f64 = 0.0245;

/// Picks, per source, the first frame at or after each tick of a grid of `1 / analyse_fps` from `t0`.
///
/// A frame that comes after several ticks satisfies all of them, so no source is ever analysed faster
/// than it delivers, nor faster than the grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameSelector {
    t0: Timestamp,
    analyse_fps: f64,
    /// First tick not yet satisfied, per source.
    next: BTreeMap<SourceId, i64>,
}

impl FrameSelector {
    /// Grid from `t0` with `analyse_fps` ticks per second (taken between 0.001 and 1000).
    #[must_use]
    pub fn new(t0: Timestamp, analyse_fps: f64) -> Self {
        Self { t0, analyse_fps: analyse_fps.clamp(1e-3, 1e3), next: BTreeMap::new() }
    }

    /// Distance of two ticks, seconds.
    #[must_use]
    pub fn step_secs(&self) -> f64 {
        1.0 / self.analyse_fps
    }

    /// Whether this frame is analysed. Frames of a source must be offered in time order.
    pub fn select(&mut self, source: &SourceId, at: Timestamp) -> bool {
        let tick = self.tick_at_or_before(at);
        match self.next.get_mut(source) {
            Some(next) if tick < *next => false,
            Some(next) => {
                *next = tick + 1;
                true
            }
            None => {
                self.next.insert(source.clone(), tick + 1);
                true
            }
        }
    }

    /// The number of the last tick that is not after `at`; exact for whole rates, and within 1 ns otherwise.
    fn tick_at_or_before(&self, at: Timestamp) -> i64 {
        let since = i128::from(at.as_nanos()) - i128::from(self.t0.as_nanos());
        // Rates in thousandths of a frame per second keep the grid exact in integers.
        let rate = (self.analyse_fps * 1e3).round() as i128;
        i64::try_from((since * rate).div_euclid(1_000_000_000_000)).unwrap_or(i64::MAX - 1)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(fps: f64, analyse: f64, secs: f64) -> usize {
        let mut selector = FrameSelector::new(Timestamp::EPOCH, analyse);
        let camera = SourceId::new("camera");
        (0..(fps * secs) as i64)
            .filter(|n| selector.select(&camera, Timestamp::EPOCH.plus_secs(*n as f64 / fps)))
            .count()
    }

    #[test]
    fn five_per_second_out_of_twenty_five() {
        assert_eq!(count(25.0, 5.0, 60.0), 300);
        assert_eq!(count(30.0, 5.0, 60.0), 300);
        assert_eq!(count(2.0, 5.0, 60.0), 120);
    }

    #[test]
    fn each_camera_has_its_own_ticks() {
        let mut selector = FrameSelector::new(Timestamp::EPOCH, 5.0);
        let (a, b) = (SourceId::new("a"), SourceId::new("b"));
        assert!(selector.select(&a, Timestamp::EPOCH));
        assert!(selector.select(&b, Timestamp::EPOCH));
        assert!(!selector.select(&a, Timestamp::EPOCH.plus_secs(0.199)));
        assert!(selector.select(&a, Timestamp::EPOCH.plus_secs(0.2)));
    }

    proptest! {
        /// Wherever it is cut, stored and read back, the same frames are picked; never faster than the grid.
        #[test]
        fn resumes_to_the_same_choice(gaps in proptest::collection::vec(1_i64..900, 1..200), cut in 0_usize..200, fps in 1_u32..30) {
            let camera = SourceId::new("camera");
            let mut whole = FrameSelector::new(Timestamp::EPOCH, f64::from(fps));
            let mut parts = whole.clone();
            let (mut at, mut picked) = (0_i64, 0_i64);
            for (n, gap) in gaps.iter().enumerate() {
                at += gap * 1_000_000;
                if n == cut {
                    let text = serde_json::to_string(&parts).unwrap();
                    parts = serde_json::from_str(&text).unwrap();
                }
                let time = Timestamp::from_nanos(at);
                let chosen = whole.select(&camera, time);
                prop_assert_eq!(chosen, parts.select(&camera, time));
                picked += i64::from(chosen);
            }
            prop_assert!(picked <= at * i64::from(fps) / 1_000_000_000 + 1);
        }
    }
}
