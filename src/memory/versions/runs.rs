//! Run-length ranges of positions in a log: what comes with one commit stands side by side.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use dashmap::DashMap;

use crate::ids::{ClipId, SessionId};

use super::log::Log;
use super::persist::{Persist, Reader, Writer};
use super::shelf::Shelf;

/// Positions, ascending, as runs of those that follow each other. Nearly always there is one run: no list for that.
#[derive(Clone, Debug, Default)]
pub(in crate::memory) struct Runs {
    first: Run,
    more: Vec<Run>,
}

#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Run {
    at: u32,
    len: u32,
}

impl Run {
    fn positions(self) -> std::ops::Range<u32> {
        self.at..self.at + self.len
    }
}

impl Runs {
    /// Adds one that is greater than all there are.
    pub(in crate::memory) fn push(&mut self, at: u32) {
        let last = self.more.last_mut().unwrap_or(&mut self.first);
        if last.len == 0 {
            *last = Run { at, len: 1 };
        } else if last.at + last.len == at {
            last.len += 1;
        } else {
            self.more.push(Run { at, len: 1 });
        }
    }

    pub(in crate::memory) fn oldest_first(&self) -> impl DoubleEndedIterator<Item = u32> {
        std::iter::once(&self.first).chain(&self.more).flat_map(|run| run.positions())
    }

    pub(in crate::memory) fn newest_first(&self) -> impl Iterator<Item = u32> {
        self.oldest_first().rev()
    }
}

/// The run of a clip.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct ClipRun {
    session: u32,
    index: u32,
    run: Run,
}

impl ClipRun {
    fn clip(&self) -> ClipId {
        ClipId { session: SessionId(self.session), index: self.index }
    }
}

/// Which positions belong to which clip. Clips come one after the other, so theirs is a list that can lie on the shelf.
/// Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(in crate::memory) struct ClipRuns {
    /// Ascending by clip.
    runs: Log<ClipRun>,
    /// The last one, which may grow.
    open: Option<ClipRun>,
    /// What came to a clip after a later one, or not side by side with the rest of it.
    late: Arc<DashMap<ClipId, Runs>>,
}

impl ClipRuns {
    /// Adds a position that is greater than all there are.
    pub(in crate::memory) fn push(&mut self, clip: ClipId, at: u32) {
        let begun = ClipRun { session: clip.session.0, index: clip.index, run: Run { at, len: 1 } };
        match &mut self.open {
            Some(open) if open.clip() == clip && open.run.at + open.run.len == at => {
                open.run.len += 1;
            }
            Some(open) if open.clip() < clip => self.runs.push(std::mem::replace(open, begun)),
            Some(_) => self.late.entry(clip).or_default().push(at),
            None => self.open = Some(begun),
        }
    }

    /// Puts on the shelf what is full.
    pub(in crate::memory) fn settle(&mut self, shelf: &Arc<Shelf>) {
        self.runs.settle(shelf);
    }

    /// Those of a clip.
    pub(in crate::memory) fn of(&self, clip: ClipId) -> Runs {
        let at = self.runs.partition_point(|run| run.clip() < clip);
        let own = self.runs.get(at).into_iter().chain(&self.open).find(|run| run.clip() == clip);
        let late = self.late.get(&clip).map(|late| late.clone());
        let Some(own) = own else { return late.unwrap_or_default() };
        let late = late.into_iter().flat_map(|late| std::iter::once(late.first).chain(late.more));
        Runs { first: own.run, more: late.filter(|run| run.len > 0).collect() }
    }
}

impl Persist for ClipRuns {
    fn save(&self, to: &mut Writer<'_>) {
        self.runs.save(to);
        to.numbers(self.open.as_slice());
        to.number(self.late.len() as u64);
        for entry in self.late.iter() {
            let (clip, runs) = (entry.key(), entry.value());
            to.numbers(&[clip.session.0, clip.index]);
            let runs: Vec<Run> = std::iter::once(runs.first).chain(runs.more.clone()).collect();
            to.numbers(&runs);
        }
    }

    fn load(from: &mut Reader<'_>) -> Option<Self> {
        let runs = Log::load(from)?;
        let open = from.numbers()?.first().copied();
        let late = DashMap::new();
        for _ in 0..from.count()? {
            let clip: [u32; 2] = from.numbers()?.try_into().ok()?;
            let clip = ClipId { session: SessionId(clip[0]), index: clip[1] };
            let mut runs: Vec<Run> = from.numbers()?;
            let more = runs.split_off(1.min(runs.len()));
            late.insert(clip, Runs { first: *runs.first()?, more });
        }
        Some(Self { runs, open, late: Arc::new(late) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn positions_come_as_they_were_put_in_and_the_other_way_round() {
        let mut runs = Runs::default();
        assert_eq!(runs.oldest_first().count(), 0);
        let given = [3, 4, 5, 9, 10, 70, 71, 72, 100];
        given.iter().for_each(|at| runs.push(*at));
        assert!(runs.oldest_first().eq(given));
        assert!(runs.newest_first().eq(given.into_iter().rev()));
        assert_eq!(runs.more.len(), 3);
    }

    #[test]
    fn a_clip_has_what_came_with_it_and_what_came_later() {
        let clip =
            |number: u32| ClipId { session: SessionId(1 + number / 600), index: number % 600 };
        let mut runs = ClipRuns::default();
        let mut given: BTreeMap<ClipId, Vec<u32>> = BTreeMap::new();
        let mut at = 0;
        for number in 0..1_500_u32 {
            // Some have nothing, and to some something comes late.
            let late = [number.saturating_sub(7), number.saturating_sub(300)];
            let own = std::iter::repeat_n(number, number as usize % 3);
            let others = late.into_iter().filter(|_| number % 5 == 0);
            for number in own.chain(others) {
                runs.push(clip(number), at);
                given.entry(clip(number)).or_default().push(at);
                // A position in between is of no clip.
                at += 1 + u32::from(number % 11 == 0);
            }
        }
        for number in 0..1_500 {
            let expected = given.remove(&clip(number)).unwrap_or_default();
            assert!(runs.of(clip(number)).oldest_first().eq(expected), "{number}");
        }
    }
}
