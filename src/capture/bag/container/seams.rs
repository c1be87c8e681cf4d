//! Where a recorder's clock was set back while it wrote: two stretches that claim the same time.
//!
//! By log time they would be mixed, a piece of one and a piece of the other. A file tells in which order they were written,
//! topic by topic: time that goes back and then on again, over what was there before, is a clock that was set. What came
//! after counts; what was written before is moved back so that it ends where that begins. Chunks in another order than
//! their times claim no time twice, and messages that were written twice have the same times: both are left alone.

use std::collections::BTreeMap;

use crate::time::Timestamp;

/// Less than this is no clock that was set, nanoseconds: writers are not that exact.
pub(in crate::capture::bag) const LEAST_BACK: u64 = 250_000_000;
/// So many messages of a topic go on behind a seam, each later than the one before.
const GOING_ON: usize = 4;
/// Topics whose time goes back by as much within this found the same seam, nanoseconds.
const ALIKE: u64 = 500_000_000;

/// A message, as it lies in the file.
#[derive(Clone, Copy, Debug)]
pub(in crate::capture::bag) struct Written {
    /// Its topic's number.
    pub(in crate::capture::bag) topic: u32,
    /// Log time, nanoseconds.
    pub(in crate::capture::bag) at: u64,
    /// A checksum of what is in it, where that is known.
    pub(in crate::capture::bag) print: u32,
}

/// A topic's message: its place in the file, its time, its checksum.
type Placed = (usize, u64, u32);

/// What was written before message `place`, counted from 0 in the order of the file, is moved back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture::bag) struct Seam {
    pub(in crate::capture::bag) place: usize,
    /// By so many nanoseconds.
    pub(in crate::capture::bag) back: u64,
}

impl Seam {
    /// For people; `at`: the first time behind it.
    pub(in crate::capture::bag) fn told(self, at: u64) -> String {
        let at = Timestamp::from_nanos(i64::try_from(at).unwrap_or(i64::MAX));
        let secs = self.back as f64 * 1e-9;
        format!(
            "the clock was set back at {at}; what was recorded before is moved back by {secs:.1} s"
        )
    }
}

/// By how much the message at `place` is moved back, nanoseconds.
pub(in crate::capture::bag) fn moved(seams: &[Seam], place: usize) -> u64 {
    seams.iter().filter(|seam| place < seam.place).map(|seam| seam.back).sum()
}

/// The seams of a file, in its order. Takes n log n for n messages.
pub(in crate::capture::bag) fn seams(written: &[Written]) -> Vec<Seam> {
    let mut topics: BTreeMap<u32, Vec<Placed>> = BTreeMap::new();
    for (place, one) in written.iter().enumerate() {
        topics.entry(one.topic).or_default().push((place, one.at, one.print));
    }
    let mut found: Vec<Seam> = topics.values().flat_map(|messages| of_topic(messages)).collect();
    found.sort_by_key(|seam| seam.place);
    // Each topic comes upon a seam a little after the first one does.
    let mut seams: Vec<Seam> = Vec::new();
    for seam in found {
        let reached = written.get(seam.place).map_or(0, |one| one.at);
        let same = seams.last().is_some_and(|last| {
            let began = written.get(last.place).map_or(0, |one| one.at);
            last.back.abs_diff(seam.back) < ALIKE && reached < began.saturating_add(last.back)
        });
        if !same {
            seams.push(seam);
        }
    }
    seams
}

/// Those that one topic's messages show: (place, time) in the order of the file.
fn of_topic(messages: &[Placed]) -> Vec<Seam> {
    let mut seams = Vec::new();
    let (mut begin, mut latest) = (0, 0_u64);
    for (index, (place, at, _)) in messages.iter().enumerate() {
        if at.saturating_add(LEAST_BACK) < latest
            && let (Some(before), Some(behind)) =
                (messages.get(begin..index), messages.get(index..))
            && goes_on(behind)
            && claims_again(before, behind, latest)
        {
            let step = usual_step(before);
            seams.push(Seam { place: *place, back: (latest + step).saturating_sub(*at) });
            (begin, latest) = (index, *at);
        }
        latest = latest.max(*at);
    }
    seams
}

/// Whether time goes on from there.
fn goes_on(behind: &[Placed]) -> bool {
    let next = behind.get(..GOING_ON.min(behind.len())).unwrap_or_default();
    next.len() >= 3 && next.windows(2).all(|pair| pair[0].1 <= pair[1].1)
}

/// Whether the messages behind are of a time from which there were others before, and not the same.
fn claims_again(before: &[Placed], behind: &[Placed], latest: u64) -> bool {
    let again: Vec<(u64, u32)> = behind
        .iter()
        .map(|(_, at, print)| (*at, *print))
        .take_while(|one| one.0 < latest)
        .collect();
    let times = || again.iter().map(|(at, _)| *at);
    let (Some(first), Some(last)) = (times().min(), times().max()) else { return false };
    let of_before = before.iter().map(|(_, at, print)| (*at, *print));
    let mut there: Vec<(u64, u32)> =
        of_before.filter(|(at, _)| (first..=last).contains(at)).collect();
    there.sort_unstable();
    let twice = again.iter().filter(|one| there.binary_search(one).is_ok()).count();
    there.len() * 2 >= again.len() && twice * 2 < again.len()
}

/// The usual time from one message to the next.
fn usual_step(before: &[Placed]) -> u64 {
    let last = before.get(before.len().saturating_sub(64)..).unwrap_or_default();
    let mut steps: Vec<u64> =
        last.windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].1)).collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: u64 = 100_000_000;

    /// Stretches of a topic's messages, in tenths of a second; what is in them differs.
    fn stretches(topic: u32, stretches: &[std::ops::Range<u64>]) -> Vec<Written> {
        let at = |n: u64| 1_000_000_000_000 + n * TENTH;
        let of = |(number, tenths): (usize, &std::ops::Range<u64>)| {
            tenths.clone().map(move |n| Written { topic, at: at(n), print: number as u32 })
        };
        stretches.iter().enumerate().flat_map(of).collect()
    }

    fn topic(topic: u32, tenths: impl IntoIterator<Item = u64>) -> Vec<Written> {
        let of = |n| Written { topic, at: 1_000_000_000_000 + n * TENTH, print: n as u32 };
        tenths.into_iter().map(of).collect()
    }

    #[test]
    fn a_clock_that_was_set_back_is_one_seam_whatever_else_is_recorded() {
        // 5 s of sound, the clock goes back by 2 s, 5 s more; a camera beside it.
        let mut all = stretches(0, &[0..50, 30..80]);
        let camera = stretches(1, &[0..50, 30..80]);
        for (place, one) in camera.into_iter().enumerate().step_by(2).rev() {
            all.insert(place, Written { at: one.at + 7, ..one });
        }
        let found = seams(&all);
        assert_eq!(found.len(), 1, "{found:?}");
        let times: Vec<u64> = (0..all.len())
            .filter(|place| all[*place].topic == 0)
            .map(|place| all[place].at - moved(&found, place))
            .collect();
        let steps = times.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
        assert!(steps.into_iter().all(|step| step.abs_diff(TENTH) < TENTH), "{times:?}");
        assert!(times.is_sorted(), "{times:?}");
        // Twice: what was first is moved by both.
        let twice = stretches(0, &[0..50, 30..80, 60..100]);
        let found = seams(&twice);
        assert_eq!(found.iter().map(|seam| seam.place).collect::<Vec<_>>(), [50, 100]);
        let back = |place| (moved(&found, place) + TENTH / 2) / TENTH;
        assert_eq!([back(0), back(99), back(100)], [40, 20, 0]);
    }

    #[test]
    fn another_order_and_the_same_again_are_no_clock_that_was_set() {
        for (what, tenths) in [
            ("in order", (0..100).collect::<Vec<u64>>()),
            ("a chunk late", (0..30).chain(60..90).chain(30..60).collect()),
            ("the end first", (50..100).chain(0..50).collect()),
            ("swapped", (0..96).map(|n| n ^ 7).collect()),
            ("stragglers", (0..50).chain([20, 21]).chain(50..100).collect()),
            ("written twice", (0..50).chain(30..80).map(|n| n * 10).collect()),
        ] {
            // (Of what was written twice the checksums are the same.)
            assert_eq!(seams(&topic(0, tenths)), [], "{what}");
        }
        assert_eq!(seams(&[]), []);
    }
}
