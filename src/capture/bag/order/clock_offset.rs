//! By which clock a topic's headers are stamped, and when, by the recorder's clock, its items were captured.
//!
//! A stamp lies a little before the time of recording: delay. Stamps that lie further off are taken for those of another
//! clock, as a camera's without NTP has: all of them are moved by the same time, so that what was seen and what was
//! heard stay together. Topics that are off by the same belong to one device and are moved alike. A piece of sound is
//! stamped at its beginning and recorded after its end: its own length is neither delay nor another clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::reorder_buffer::REORDER_SECS;
use crate::time::Timestamp;

/// Stamps so far from the time of recording are of the recorder's clock.
pub(in crate::capture::bag) const MOST_DELAY_SECS: f64 = 1.0;
/// Topics whose stamps lie no further apart than this are stamped by one clock.
const ONE_CLOCK_SECS: f64 = 0.5;
/// A clock that is further off tells no time: the time of recording does.
const MOST_OFF_SECS: f64 = 60.0;

/// How far a stamp lies behind the time of recording, nanoseconds, but for the length of what it is of.
pub(in crate::capture::bag) fn behind(
    stamp: Timestamp,
    recorded: Timestamp,
    length_secs: f64,
) -> i64 {
    let behind = recorded.as_nanos().saturating_sub(stamp.as_nanos());
    // What is stamped at its end is not ahead.
    behind.saturating_sub((length_secs * 1e9) as i64).max(behind.min(0))
}

/// How far each topic's stamps are moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::capture::bag) struct ClockOffsets {
    /// Nanoseconds; 0 where a topic is not there.
    moved: BTreeMap<Arc<str>, i64>,
}

impl ClockOffsets {
    /// Out of how far the first stamps of each topic lie behind the time of recording, nanoseconds.
    pub(in crate::capture::bag) fn of(behind: BTreeMap<Arc<str>, Vec<i64>>) -> Self {
        let usual = |(topic, mut all): (Arc<str>, Vec<i64>)| {
            all.sort_unstable();
            Some((*all.get(all.len() / 2)?, topic))
        };
        let mut topics: Vec<(i64, Arc<str>)> = behind.into_iter().filter_map(usual).collect();
        topics.sort();
        let within = |nanos: i64, secs: f64| nanos.unsigned_abs() as f64 <= secs * 1e9;
        let mut moved = BTreeMap::new();
        // Nothing is recorded before it was captured: the quickest topic of a clock tells how far that is off.
        let mut quickest: Option<i64> = None;
        for (behind, topic) in topics {
            let same = |first: &i64| within(behind.saturating_sub(*first), ONE_CLOCK_SECS);
            let off = *quickest.insert(quickest.filter(same).unwrap_or(behind));
            if !within(off, MOST_DELAY_SECS) && within(off, MOST_OFF_SECS) {
                moved.insert(topic, off);
            }
        }
        Self { moved }
    }

    /// When that was captured what was stamped and recorded then: the stamp, moved as those of its topic, else as it is,
    /// else the time of recording. A stamp must lie near that time, or as long before as what was captured lasts, and not
    /// before `earliest`.
    pub(in crate::capture::bag) fn captured(
        &self,
        topic: &str,
        stamp: Option<Timestamp>,
        recorded: Timestamp,
        length_secs: f64,
        earliest: Option<Timestamp>,
    ) -> Timestamp {
        let moved = self.moved.get(topic).copied().unwrap_or(0);
        let near = |at: &Timestamp| {
            let delay = recorded.secs_since(*at);
            (-REORDER_SECS..=REORDER_SECS.max(length_secs + MOST_DELAY_SECS)).contains(&delay)
                && Some(*at) >= earliest
        };
        let by = |stamp: Timestamp, nanos: i64| {
            Timestamp::from_nanos(stamp.as_nanos().saturating_add(nanos))
        };
        stamp
            .and_then(|stamp| [moved, 0].map(|nanos| by(stamp, nanos)).into_iter().find(near))
            .unwrap_or(recorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn clocks(behind: &[(&str, &[i64])]) -> ClockOffsets {
        ClockOffsets::of(
            behind.iter().map(|(topic, all)| (Arc::from(*topic), all.to_vec())).collect(),
        )
    }

    fn moved(clocks: &ClockOffsets, topic: &str) -> i64 {
        clocks.moved.get(topic).copied().unwrap_or(0)
    }

    #[test]
    fn topics_of_one_clock_are_moved_alike_and_delay_is_none() {
        let tenth = SECOND / 10;
        let found = clocks(&[
            ("left", &[10 * SECOND + tenth, 10 * SECOND + 2 * tenth, 10 * SECOND + tenth]),
            ("right", &[10 * SECOND + 4 * tenth]),
            ("odom", &[10 * SECOND]),
            ("slow", &[9 * tenth, 9 * tenth, 20 * SECOND]),
            ("slower", &[12 * tenth]),
            ("ahead", &[-55 * SECOND, -54 * SECOND, -55 * SECOND]),
            ("boot", &[i64::MAX, i64::MAX]),
            ("unstamped", &[]),
        ]);
        let all = ["left", "right", "odom", "slow", "slower", "ahead", "boot", "unstamped"];
        let expected = [10 * SECOND, 10 * SECOND, 10 * SECOND, 0, 0, -55 * SECOND, 0, 0];
        assert_eq!(all.map(|topic| moved(&found, topic)), expected);
    }

    #[test]
    fn the_length_of_a_piece_is_no_delay() {
        let at = |secs: f64| Timestamp::EPOCH.plus_secs(secs);
        let tenths = |stamp: f64, recorded: f64| {
            let nanos = behind(at(stamp), at(recorded), 3.0);
            (nanos as f64 / (SECOND / 10) as f64).round() as i64
        };
        assert_eq!(tenths(10.0, 13.2), 2);
        // Stamped at its end; by a clock that is ahead; by one that is behind.
        assert_eq!([tenths(10.0, 10.2), tenths(70.0, 13.2), tenths(10.0, 25.2)], [0, -568, 122]);
    }

    #[test]
    fn a_stamp_that_cannot_be_gives_way_to_the_time_of_recording() {
        let at = |secs: f64| Timestamp::EPOCH.plus_secs(secs);
        let found = clocks(&[("camera", &[10 * SECOND])]);
        let captured = |topic: &str, stamp: Option<f64>, recorded: f64, earliest: Option<f64>| {
            found.captured(topic, stamp.map(at), at(recorded), 0.0, earliest.map(at))
        };
        assert_eq!(captured("camera", Some(89.9), 100.0, Some(98.0)), at(99.9));
        // Its clock was set right meanwhile.
        assert_eq!(captured("camera", Some(99.9), 100.0, Some(98.0)), at(99.9));
        assert_eq!(captured("camera", Some(70.0), 100.0, Some(98.0)), at(100.0));
        assert_eq!(captured("camera", None, 100.0, Some(98.0)), at(100.0));
        assert_eq!(captured("odom", Some(98.5), 100.0, None), at(98.5));
        assert_eq!(captured("odom", Some(101.5), 100.0, None), at(101.5));
        assert_eq!(captured("odom", Some(90.0), 100.0, None), at(100.0));
        // What lasts so long was begun so long before.
        let begun = |stamp: f64| found.captured("odom", Some(at(stamp)), at(100.0), 3.0, None);
        assert_eq!([96.5, 95.5, 103.0].map(begun), [96.5, 100.0, 100.0].map(at));
        // What is that early has left already.
        assert_eq!(captured("odom", Some(98.5), 100.0, Some(99.0)), at(100.0));
    }
}
