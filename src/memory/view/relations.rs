//! The graph's typed edges: facts that join entities ("sister of <person_2>"). One hop over them leads from somebody to
//! those who belong to them.

use std::collections::BTreeSet;

use crate::ids::EntityId;
use crate::mention;

use super::View;
use crate::memory::model::{Fact, MemoryRow};

/// Everyone and everything that a fact joins: its subject, and whom its value is or names.
fn ends(fact: &Fact) -> BTreeSet<EntityId> {
    let named = mention::mentions(&fact.value).into_iter().map(|mention| mention.entity);
    let whole = [&fact.subject, &fact.value].into_iter().filter_map(|word| word.parse().ok());
    named.chain(whole).collect()
}

/// Whether a memory states a fact that joins two or more.
pub(in crate::memory) fn is_edge(row: &MemoryRow) -> bool {
    row.fact.as_ref().is_some_and(|fact| ends(fact).len() > 1)
}

impl View {
    /// Those whom a fact that holds still joins with any of `ids` (resolved); resolved, without `ids` themselves. Only
    /// rows of such facts are read: as many as there are edges.
    #[must_use]
    pub fn related(&self, ids: &BTreeSet<EntityId>) -> BTreeSet<EntityId> {
        let edges = self.tables.facets.load().edges.clone();
        let (table, log) = (&self.tables.memories, self.tables.memories.log());
        let mut found = BTreeSet::new();
        if edges.len() == 0 {
            return found;
        }
        for id in ids.iter().flat_map(|id| self.same_as(*id)) {
            let about = table.positions_of(id);
            let hangs_on_it = |at: &&u32| {
                let place = about.partition_point(|doc| doc < *at);
                about.get(place) == Some(*at)
            };
            for at in edges.iter().filter(hangs_on_it).map(|at| *at as usize) {
                let shown = table.shows_in(&log, at, &self.horizon);
                let Some(version) = log.get(at).filter(|_| shown) else { continue };
                let row = version.row;
                let joined = row.fact.iter().filter(|_| row.valid_to.is_none()).flat_map(ends);
                let joined: BTreeSet<EntityId> = joined.map(|id| self.resolve(id)).collect();
                if joined.iter().any(|id| ids.contains(id)) {
                    found.extend(joined);
                }
            }
        }
        found.retain(|id| !ids.contains(id));
        found
    }
}
