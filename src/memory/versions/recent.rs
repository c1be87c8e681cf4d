//! Which versions of a table were ended lately: what is kept up from commit to commit looks at those alone.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::ids::Seq;

/// Ends that are remembered.
const MOST: usize = 4_096;

/// The newest ends, by commit.
#[derive(Debug, Default)]
pub(in crate::memory) struct RecentEnds(Mutex<Ends>);

#[derive(Debug, Default)]
struct Ends {
    /// The newest commit of which some may be forgotten.
    forgotten: Seq,
    /// Each with its position in the table's log.
    ends: VecDeque<(Seq, u32)>,
}

impl RecentEnds {
    /// Takes one in; commits come in their order.
    pub(in crate::memory) fn note(&self, seq: Seq, at: u32) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.ends.len() == MOST
            && let Some((oldest, _)) = known.ends.pop_front()
        {
            known.forgotten = oldest;
        }
        known.ends.push_back((seq, at));
    }

    /// What commits up to that one ended is not known.
    pub(in crate::memory) fn forget(&self, seq: Seq) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.forgotten = known.forgotten.max(seq);
    }

    /// Positions of those that commits after `after` and up to `newest` ended; `None`: some of them are forgotten.
    pub(in crate::memory) fn between(&self, after: Seq, newest: Seq) -> Option<Vec<u32>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = known.ends.iter().filter(|(seq, _)| after < *seq && *seq <= newest);
        (known.forgotten <= after).then(|| asked.map(|(_, at)| *at).collect())
    }
}
