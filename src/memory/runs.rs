//! Positions in a log that belong together: what comes with one commit stands side by side.

/// Positions, ascending, as runs of those that follow each other. Nearly always there is one run: no list for that.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    first: Run,
    more: Vec<Run>,
}

#[derive(Clone, Copy, Debug, Default)]
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
    pub(super) fn push(&mut self, at: u32) {
        let last = self.more.last_mut().unwrap_or(&mut self.first);
        if last.len == 0 {
            *last = Run { at, len: 1 };
        } else if last.at + last.len == at {
            last.len += 1;
        } else {
            self.more.push(Run { at, len: 1 });
        }
    }

    pub(super) fn oldest_first(&self) -> impl DoubleEndedIterator<Item = u32> {
        std::iter::once(&self.first).chain(&self.more).flat_map(|run| run.positions())
    }

    pub(super) fn newest_first(&self) -> impl Iterator<Item = u32> {
        self.oldest_first().rev()
    }
}

#[cfg(test)]
mod tests {
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
}
