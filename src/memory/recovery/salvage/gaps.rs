//! Reading a numbered table around what cannot be read.
//!
//! A table lies in a tree of pages, each with a run of row numbers. Reading on from a number breaks off at a damaged
//! page, and so does looking for a number that would stand on one. So each stretch is read from both ends; what is left
//! is searched by leaps of growing length, which land beyond one page after few tries, and halved where they find
//! nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Serialize, Serializer};

/// Numbers are given from here on.
const FIRST: i64 = 1;
/// How often looking between damaged pages may fail in one table, beyond what is needed to try every number of …
const TRIES: i64 = 5_000;
/// … stretches that are no longer than this.
const SHORT: i64 = 4_096;

/// How far one reading came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran {
    /// The number of the first row that was read, and of the last one.
    pub(super) rows: Option<(i64, i64)>,
    /// It came to the end of its stretch.
    pub(super) whole: bool,
}

/// Numbers whose rows could not be read; not every one of them was given to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// The first.
    pub first: i64,
    /// The last; `None`: all numbers from the first one on.
    pub last: Option<i64>,
}

impl Gap {
    fn of(first: i64, last: i64) -> Self {
        Self { first, last: (last < i64::MAX).then_some(last) }
    }

    fn end(self) -> i64 {
        self.last.unwrap_or(i64::MAX)
    }
}

/// As `[first, last]`; `null` where it has no end.
impl Serialize for Gap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.first, self.last).serialize(serializer)
    }
}

/// Reads a table; what is left out comes back, ascending.
///
/// `run` reads from the first number to the second one (downwards where that is smaller) as far as it gets.
///
/// # Errors
/// Those of `run`.
pub(super) fn read_around<E>(run: impl FnMut(i64, i64) -> Result<Ran, E>) -> Result<Vec<Gap>, E> {
    let mut search = Search { run, tries: TRIES, left: BinaryHeap::new() };
    search.narrow(FIRST, i64::MAX, false)?;
    let mut lost = Vec::new();
    // What was not leapt through comes first, then the shortest: one without an end is searched from its beginning on.
    while let Some(Reverse((leapt, _, first, last))) = search.left.pop() {
        if first == last || (leapt && search.tries <= 0) {
            lost.push(Gap::of(first, last));
            continue;
        }
        let found = if leapt { None } else { search.leap(first, last)? };
        match found {
            Some((from, to)) => {
                search.narrow(first, from - 1, false)?;
                search.narrow(to.saturating_add(1), last, false)?;
            }
            None => {
                if !leapt && last - first < SHORT {
                    search.tries += 2 * (last - first + 1);
                }
                let middle = first + (last - first) / 2;
                search.narrow(first, middle, true)?;
                search.narrow(middle + 1, last, true)?;
            }
        }
    }
    Ok(joined(lost))
}

struct Search<R> {
    run: R,
    tries: i64,
    /// Stretches with nothing readable at either end: whether they were leapt through, length, first and last number.
    left: BinaryHeap<Reverse<(bool, i64, i64, i64)>>,
}

impl<E, R: FnMut(i64, i64) -> Result<Ran, E>> Search<R> {
    /// Reads a stretch from both ends; what is left between is searched later.
    fn narrow(&mut self, mut first: i64, mut last: i64, leapt: bool) -> Result<(), E> {
        if first > last {
            return Ok(());
        }
        let up = (self.run)(first, last)?;
        if let Some((_, to)) = up.rows {
            first = to.saturating_add(1);
        }
        if first > last {
            return Ok(());
        }
        let down = (self.run)(last, first)?;
        if let Some((_, to)) = down.rows {
            last = to - 1;
        }
        // Only where both came through, nothing but numbers without rows is between.
        if first <= last && !(up.whole && down.whole) {
            self.tries -= i64::from(leapt);
            self.left.push(Reverse((leapt, last - first, first, last)));
        }
        Ok(())
    }

    /// The first rows that are found behind 1, 2, 4, 8 … numbers.
    fn leap(&mut self, first: i64, last: i64) -> Result<Option<(i64, i64)>, E> {
        let mut step = 1_i64;
        while step <= last - first {
            if let Some(rows) = (self.run)(first + step, last)?.rows {
                return Ok(Some(rows));
            }
            let Some(next) = step.checked_mul(2) else { break };
            step = next;
        }
        Ok(None)
    }
}

/// The same numbers in as few gaps as can be.
pub(super) fn joined(mut gaps: Vec<Gap>) -> Vec<Gap> {
    gaps.sort_unstable_by_key(|gap| gap.first);
    let mut joined: Vec<Gap> = Vec::new();
    for gap in gaps {
        match joined.last_mut() {
            Some(before) if before.end().saturating_add(1) >= gap.first => {
                *before = Gap::of(before.first, before.end().max(gap.end()));
            }
            _ => joined.push(gap),
        }
    }
    joined
}

/// Whether a number is in one of the gaps.
pub(super) fn hold(gaps: &[Gap], number: i64) -> bool {
    gaps.iter().any(|gap| (gap.first..=gap.end()).contains(&number))
}

/// Takes a number out of the gaps: its row was found.
pub(super) fn fill(gaps: &mut Vec<Gap>, number: i64) {
    let Some(at) = gaps.iter().position(|gap| (gap.first..=gap.end()).contains(&number)) else {
        return;
    };
    let gap = gaps.remove(at);
    if number < gap.end() {
        gaps.insert(at, Gap::of(number + 1, gap.end()));
    }
    if gap.first < number {
        gaps.insert(at, Gap::of(gap.first, number - 1));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Reads a table of those rows where a page holds `per` numbers, and the pages `broken` cannot be read.
    fn read(rows: &[i64], per: i64, broken: &[i64]) -> (Vec<i64>, Vec<Gap>) {
        let mut kept = Vec::new();
        let is_broken = |number: i64| broken.contains(&(number / per));
        let lost = read_around(|from, to| {
            let back = from > to;
            let mut ran = Ran::default();
            // The page on which the number would stand is looked at first.
            if is_broken(from.min(rows.last().copied().unwrap_or(0))) {
                return Ok::<_, Infallible>(ran);
            }
            let mut on: Vec<i64> = rows.to_vec();
            if back {
                on.reverse();
            }
            let beyond = |n: i64, end: i64| if back { n < end } else { n > end };
            for number in on.into_iter().filter(|n| !beyond(from, *n)) {
                if beyond(number, to) {
                    break;
                }
                if is_broken(number) {
                    return Ok(ran);
                }
                kept.push(number);
                ran.rows = Some((ran.rows.map_or(number, |(first, _)| first), number));
            }
            ran.whole = true;
            Ok(ran)
        });
        kept.sort_unstable();
        (kept, lost.unwrap())
    }

    #[test]
    fn everything_on_sound_pages_is_read_once_and_the_rest_is_named() {
        // Numbers with holes: some rows were deleted.
        let rows: Vec<i64> = (1..1000).filter(|n| n % 17 != 3).collect();
        for broken in [vec![], vec![0], vec![7], vec![7, 8, 12, 20], vec![3, 33], vec![33]] {
            let (kept, lost) = read(&rows, 30, &broken);
            let sound: Vec<i64> =
                rows.iter().copied().filter(|n| !broken.contains(&(n / 30))).collect();
            assert_eq!(kept, sound, "{broken:?}");
            for number in rows.iter().filter(|n| !sound.contains(n)) {
                assert!(hold(&lost, *number), "{number} {lost:?}");
            }
            assert!(!sound.iter().any(|number| hold(&lost, *number)), "{lost:?}");
            assert_eq!(lost.is_empty(), broken.is_empty());
        }
    }

    #[test]
    fn a_row_that_is_found_leaves_its_gap() {
        let mut gaps = vec![Gap::of(3, 5), Gap::of(9, i64::MAX)];
        for (number, left) in [
            (4, vec![Gap::of(3, 3), Gap::of(5, 5), Gap::of(9, i64::MAX)]),
            (3, vec![Gap::of(5, 5), Gap::of(9, i64::MAX)]),
            (8, vec![Gap::of(5, 5), Gap::of(9, i64::MAX)]),
            (9, vec![Gap::of(5, 5), Gap::of(10, i64::MAX)]),
        ] {
            fill(&mut gaps, number);
            assert_eq!(gaps, left, "{number}");
        }
        let shown = serde_json::to_value(&gaps).unwrap();
        assert_eq!(shown, serde_json::json!([[5, 5], [10, null]]));
        assert_eq!(joined(vec![Gap::of(6, 9), Gap::of(1, 5)]), [Gap::of(1, 9)]);
    }
}
