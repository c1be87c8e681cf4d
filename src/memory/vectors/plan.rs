//! Which way a question takes to its nearest vectors.

use serde::{Deserialize, Serialize};

/// How recall looks for the vectors that are nearest a question's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorSearch {
    /// By the codes of all vectors; from 262,144 on by those of the nearest cells.
    #[default]
    Auto,
    /// By the codes of all vectors, however many there are.
    Scan,
    /// By the codes of the nearest cells, however few there are.
    Cells,
    /// The same; the nearest cells are found by an HNSW graph over them.
    Graph,
}

/// Vectors from which on cells are read, by `Auto`: the codes of fewer are read through in half a millisecond (`bench vectors`).
const CELLS_FROM: usize = 1 << 18;
/// Of a filter's vectors, at least one in so many passes where cells are read: of fewer it is quicker to read each.
const FILTERED: usize = 4;
/// Of all vectors, at most one in so many may be in no cell yet where cells are read: more are read through sooner with the rest.
const UNCOVERED: usize = 4;
/// Cells from which on a graph finds them, by `Auto`: a pass over the codes of fewer takes less time.
const GRAPH_FROM: usize = 1 << 18;

/// Vectors that go into cells at once.
const AT_ONCE: u32 = 4096;
/// With `Auto`, so many wait until they do: their codes are read through meanwhile.
const WAITING: u32 = 16_384;

impl VectorSearch {
    /// Up to where vectors go into cells next, of which there are `all` and the first `covered` are in; `None`: nothing is to be done.
    pub(super) fn next_in_cells(self, covered: u32, all: u32) -> Option<u32> {
        let is_due = match self {
            Self::Scan => false,
            Self::Auto => all as usize >= CELLS_FROM && all.saturating_sub(covered) >= WAITING,
            Self::Cells | Self::Graph => all > covered,
        };
        is_due.then(|| all.min(covered + AT_ONCE))
    }

    /// Whether so many cells are found by a graph.
    pub(super) fn wants_graph(self, cells: usize) -> bool {
        self == Self::Graph || (self == Self::Auto && cells >= GRAPH_FROM)
    }
}

/// Whether a search reads cells: of `all` vectors so many are in one, and so many pass its filter; of all `versions` it knows so
/// many.
pub(super) fn reads_cells(
    (all, covered, passing): (usize, usize, usize),
    (versions, known): (usize, usize),
) -> bool {
    covered > 0
        && all.saturating_sub(covered) <= all / UNCOVERED
        && passing >= all / FILTERED
        && known >= versions / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_hangs_on_how_many_there_are_and_what_was_asked_for() {
        use VectorSearch::{Auto, Cells, Graph, Scan};
        for (search, covered, all, next) in [
            (Auto, 0, 200_000, None),
            (Auto, 0, 1_000_000, Some(4_096)),
            (Auto, 983_616, 1_000_000, Some(987_712)),
            (Auto, 983_617, 1_000_000, None),
            (Scan, 0, 1_000_000, None),
            (Cells, 1_000, 1_001, Some(1_001)),
            (Graph, 5, 5, None),
        ] {
            assert_eq!(search.next_in_cells(covered, all), next, "{search:?} {covered} {all}");
        }
        let graphs = [(Auto, 30_000), (Auto, 300_000), (Cells, 300_000), (Graph, 1)];
        assert_eq!(
            graphs.map(|(search, cells)| search.wants_graph(cells)),
            [false, true, false, true]
        );
        let whole = (1_000, 1_000, 1_000);
        assert!(reads_cells(whole, (9, 9)) && reads_cells((1_000, 750, 250), (1_000, 500)));
        assert!(!reads_cells((1_000, 749, 1_000), (9, 9)) && !reads_cells((3, 0, 3), (9, 9)));
        assert!(!reads_cells((1_000, 1_000, 249), (9, 9)) && !reads_cells(whole, (1_000, 499)));
    }
}
