//! Cells of vectors that are near each other (an inverted file, IVF: Sivic & Zisserman, ICCV 2003): of millions of vectors a
//! question reads the codes in the nearest cells.
//!
//! A cell has some three hundred vectors around a centroid, their signs side by side. A new vector goes into the cell whose centroid
//! is nearest; a full cell is parted in two. Both look at codes alone (centroids are rotated as those are): the vectors themselves
//! lie on the disk, and a full cell's all over it. What readers have is one generation, which never changes; the next is made beside it
//! and shares all cells that stayed as they were. The same vectors in the same order make the same cells.

use std::sync::Arc;

use super::blocks::SignBlocks;
use super::codes::{CodedQuery, Codes};
use super::graph::CellGraph;
use super::plan::VectorSearch;
use super::signs::{Counts, weigh, words_of};
use crate::simd::{Weighed, dot, up_to};

/// Vectors with which a cell is parted.
const FULL: usize = 512;
/// Signs in a word.
const WORD: usize = u64::BITS as usize;
/// Each part has one in so many, at least.
const LEAST_PART: usize = 8;
/// Rounds of moving two means.
const ROUNDS: usize = 8;
/// Cells read for a question, for each in the square root of all: of 3,000 some 270, of 30,000 some 870.
const READ: f64 = 5.0;
/// Centroids compared exactly for a question, for each cell that is read; and beside them.
const COMPARED: usize = 2;
const COMPARED_BESIDE: usize = 64;
/// Centroids compared exactly for a new vector.
const COMPARED_FOR_NEW: usize = 16;
/// The graph is made anew when it has so many points for each cell: the others are of cells that were parted.
const POINTS: usize = 2;

/// A generation.
#[derive(Clone, Default)]
pub(super) struct Cells {
    /// Vectors before this position are in cells, but for those that were erased.
    covered: u32,
    cells: Vec<Arc<Cell>>,
    /// Of the centroids, by cell.
    signs: SignBlocks,
    graph: Option<Arc<CellGraph>>,
}

#[derive(Clone)]
struct Cell {
    /// Rotated.
    centroid: Arc<[f32]>,
    /// Counts the centroids that it had.
    version: u32,
    /// Positions, ascending.
    members: Vec<u32>,
    signs: SignBlocks,
}

impl Cell {
    fn around(centroid: Vec<f32>, version: u32) -> Self {
        let (members, signs) = Default::default();
        Self { centroid: centroid.into(), version, members, signs }
    }

    fn push(&mut self, at: u32, signs: &[u64]) {
        self.members.push(at);
        self.signs.push(signs);
    }
}

/// What cells are made from.
pub(super) struct Source<'a> {
    pub(super) codes: &'a Codes,
    /// Whether the vector at a position was erased.
    pub(super) is_erased: &'a dyn Fn(u32) -> bool,
    pub(super) search: VectorSearch,
}

impl Cells {
    pub(super) fn covered(&self) -> u32 {
        self.covered
    }

    /// The next generation, with the vectors up to position `to` in it.
    pub(super) fn with(&self, to: u32, source: &Source<'_>) -> Self {
        let mut next = self.clone();
        for at in self.covered..to {
            if !(source.is_erased)(at) {
                next.put(at, source);
            }
        }
        next.covered = to;
        if source.search.wants_graph(next.cells.len()) {
            next.link();
        }
        next
    }

    fn put(&mut self, at: u32, source: &Source<'_>) {
        let Some(turned) = source.codes.turned(at) else { return };
        let near = self.by_codes(&turned, &weigh(&turned), COMPARED_FOR_NEW).first().copied();
        let Some(cell) = near.or_else(|| self.open(Cell::around(turned, 0))) else { return };
        let Some(own) = self.cells.get_mut(cell as usize) else { return };
        let own = Arc::make_mut(own);
        own.push(at, &source.codes.signs(at));
        if own.members.len() >= FULL {
            self.part(cell, source);
        }
    }

    /// Adds a cell.
    fn open(&mut self, cell: Cell) -> Option<u32> {
        let number = u32::try_from(self.cells.len()).ok()?;
        self.signs.push(&signs_of(&cell.centroid));
        self.link_one(number, &cell);
        self.cells.push(Arc::new(cell));
        Some(number)
    }

    /// Parts a cell in two around the means of what lies together in it; one has its place, the other a new one.
    fn part(&mut self, number: u32, source: &Source<'_>) {
        let Some(cell) = self.cells.get(number as usize) else { return };
        let left = (0..).zip(&cell.members).filter(|(_, at)| !(source.is_erased)(**at));
        let left = left.filter_map(|(place, at)| Some((place, *at, source.codes.turned(*at)?)));
        let (places, vectors): (Vec<(usize, u32)>, Vec<Vec<f32>>) =
            left.map(|(place, at, vector)| ((place, at), vector)).unzip();
        let version = cell.version + 1;
        let (sides, [first, second]) = two_means(&vectors, &cell.centroid);
        let mut parts = [Cell::around(first, version), Cell::around(second, 0)];
        let words = cell.centroid.len().div_ceil(WORD);
        for ((place, at), side) in places.into_iter().zip(sides) {
            let signs: Vec<u64> = cell.signs.get(place, words).collect();
            parts[usize::from(side)].push(at, &signs);
        }
        let [first, second] = parts;
        self.signs.set(number as usize, &signs_of(&first.centroid));
        self.link_one(number, &first);
        self.cells[number as usize] = Arc::new(first);
        self.open(second);
    }

    fn link_one(&self, number: u32, cell: &Cell) {
        if let Some(graph) = &self.graph {
            graph.add(number, cell.version, &cell.centroid);
        }
    }

    /// Makes the graph where there is none, or where half of it is of cells that were parted.
    fn link(&mut self) {
        if self.graph.as_ref().is_some_and(|graph| graph.len() <= POINTS * self.cells.len()) {
            return;
        }
        let graph = CellGraph::new();
        for (number, cell) in (0..).zip(&self.cells) {
            graph.add(number, cell.version, &cell.centroid);
        }
        self.graph = Some(Arc::new(graph));
    }

    /// Positions of about `count` vectors of the nearest cells, those whose signs are nearest. `share` of all vectors count: of
    /// fewer, those wanted lie farther away.
    pub(super) fn nearest(&self, query: &CodedQuery, count: usize, share: f64) -> Vec<u32> {
        let CodedQuery { turned, signs, .. } = query;
        let wanted = (READ * (self.cells.len() as f64 / share).sqrt()).ceil() as usize;
        let cells = match &self.graph {
            Some(graph) => self.by_graph(graph, turned, wanted),
            None => {
                let mut cells = self.by_codes(turned, signs, COMPARED * wanted + COMPARED_BESIDE);
                cells.truncate(wanted);
                cells
            }
        };
        let cells: Vec<&Cell> =
            cells.into_iter().filter_map(|cell| Some(&**self.cells.get(cell as usize)?)).collect();
        let mut distances = Vec::with_capacity(cells.len() * FULL);
        for cell in &cells {
            cell.signs.distances(signs, &mut distances);
        }
        let limit = Counts::of(&distances).limit(count);
        let (mut found, mut places, mut rest) = (Vec::new(), Vec::new(), distances.as_slice());
        for cell in cells {
            let (own, others) = rest.split_at(cell.members.len());
            places.clear();
            up_to(own, limit, 0, &mut places);
            found.extend(places.iter().filter_map(|place| cell.members.get(*place as usize)));
            rest = others;
        }
        found
    }

    /// Nearest first: of the cells whose centroids have about the `count` nearest signs.
    fn by_codes(&self, turned: &[f32], signs: &[Weighed], count: usize) -> Vec<u32> {
        let mut distances = Vec::with_capacity(self.cells.len() + FULL);
        self.signs.distances(signs, &mut distances);
        let mut near = Vec::with_capacity(count + count / 2);
        up_to(&distances, Counts::of(&distances).limit(count), 0, &mut near);
        let likeness =
            |cell: u32| self.cells.get(cell as usize).map(|own| (dot(&own.centroid, turned), cell));
        let mut near: Vec<(f32, u32)> = near.into_iter().filter_map(likeness).collect();
        near.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        near.into_iter().map(|(_, cell)| cell).collect()
    }

    /// About `count` of the nearest, nearest first. A graph may know newer cells than this generation.
    fn by_graph(&self, graph: &CellGraph, turned: &[f32], count: usize) -> Vec<u32> {
        let asked = count * graph.len() / self.cells.len().max(1);
        let mut near: Vec<u32> = Vec::with_capacity(asked);
        for (cell, version) in graph.nearest(turned, asked) {
            if self.cells.get(cell as usize).is_some_and(|own| own.version == version) {
                near.push(cell);
            }
        }
        near.truncate(count);
        near
    }
}

/// On which side each vector is, and the two sides' means, of length one: of what is farthest from the centroid, and farthest
/// from that, moved until nothing changes sides.
fn two_means(vectors: &[Vec<f32>], centroid: &[f32]) -> (Vec<bool>, [Vec<f32>; 2]) {
    let farthest = |from: &[f32]| {
        let far = vectors.iter().min_by(|a, b| dot(a, from).total_cmp(&dot(b, from)));
        far.map_or(centroid, Vec::as_slice).to_vec()
    };
    let first = farthest(centroid);
    let second = farthest(&first);
    let mut means = [first, second];
    let mut sides = Vec::new();
    for _ in 0..ROUNDS {
        sides = sides_of(vectors, &means);
        let mut next = [vec![0.0; centroid.len()], vec![0.0; centroid.len()]];
        for (vector, side) in vectors.iter().zip(&sides) {
            let mean = &mut next[usize::from(*side)];
            mean.iter_mut().zip(vector).for_each(|(mean, value)| *mean += value);
        }
        for mean in &mut next {
            let length = dot(mean, mean).sqrt();
            if length > 0.0 {
                mean.iter_mut().for_each(|value| *value /= length);
            }
        }
        if next == means {
            break;
        }
        means = next;
    }
    (sides, means)
}

/// The signs of a rotated vector, place after place.
fn signs_of(turned: &[f32]) -> Vec<u64> {
    words_of(turned).collect()
}

/// Which mean each vector is nearer to, `true`: the second. Neither side is left nearly empty.
fn sides_of(vectors: &[Vec<f32>], means: &[Vec<f32>; 2]) -> Vec<bool> {
    let leaning: Vec<f32> =
        vectors.iter().map(|own| dot(own, &means[1]) - dot(own, &means[0])).collect();
    let least = vectors.len() / LEAST_PART;
    let second = leaning.iter().filter(|own| **own > 0.0).count();
    let wanted = second.clamp(least, vectors.len() - least);
    if wanted == second {
        return leaning.into_iter().map(|own| own > 0.0).collect();
    }
    let mut order: Vec<usize> = (0..vectors.len()).collect();
    order.sort_by(|a, b| leaning[*b].total_cmp(&leaning[*a]));
    let mut sides = vec![false; vectors.len()];
    order.into_iter().take(wanted).for_each(|at| sides[at] = true);
    sides
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::versions::shelf::Shelf;

    const DIMENSIONS: usize = 32;
    const TOPICS: u64 = 40;

    /// Of one of forty topics, near the others of it.
    fn vector(seed: u64) -> Vec<f32> {
        let around = |seed: u64, size: f32| {
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            (0..DIMENSIONS).map(move |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                size * ((state >> 40) as f32 / (1 << 23) as f32 - 1.0)
            })
        };
        let mixed = around(seed % TOPICS, 1.0).zip(around(seed + 1_000, 0.7));
        let values: Vec<f32> = mixed.map(|(topic, own)| topic + own).collect();
        let length = dot(&values, &values).sqrt();
        values.into_iter().map(|value| value / length).collect()
    }

    struct Filled {
        codes: Codes,
        vectors: Vec<Vec<f32>>,
    }

    impl Filled {
        fn of(count: u64) -> Self {
            Self::with((0..count).map(vector).collect())
        }

        fn with(vectors: Vec<Vec<f32>>) -> Self {
            let mut codes = Codes::new(DIMENSIONS, Arc::new(Shelf::in_ram()));
            vectors.iter().for_each(|one| codes.push(one));
            Self { codes, vectors }
        }

        fn in_cells(
            &self,
            cells: &Cells,
            to: usize,
            search: VectorSearch,
            erased: &[u32],
        ) -> Cells {
            let is_erased = |at: u32| erased.contains(&at);
            cells.with(to as u32, &Source { codes: &self.codes, is_erased: &is_erased, search })
        }

        fn found(&self, cells: &Cells, query: &[f32]) -> Vec<u32> {
            cells.nearest(&self.codes.query(query), 200, 1.0)
        }

        /// The share of the ten nearest of all that are among the candidates.
        fn recall(&self, cells: &Cells) -> f64 {
            let queries: Vec<Vec<f32>> = (0..50).map(|seed| vector(900_000 + seed)).collect();
            let right = queries.iter().map(|query| {
                let mut all: Vec<(f32, u32)> =
                    self.vectors.iter().map(|own| dot(own, query)).zip(0..).collect();
                all.sort_by(|a, b| b.0.total_cmp(&a.0));
                let found = self.found(cells, query);
                all.iter().take(10).filter(|(_, at)| found.contains(at)).count()
            });
            right.sum::<usize>() as f64 / 500.0
        }
    }

    #[test]
    fn the_nearest_are_in_the_nearest_cells_whoever_finds_those() {
        let filled = Filled::of(30_000);
        for search in [VectorSearch::Cells, VectorSearch::Graph] {
            let mut cells = Cells::default();
            for to in [1_000, 20_000, 30_000] {
                cells = filled.in_cells(&cells, to, search, &[]);
            }
            assert!(cells.cells.len() > 60, "{} cells", cells.cells.len());
            let mut members: Vec<u32> =
                cells.cells.iter().flat_map(|cell| cell.members.iter().copied()).collect();
            members.sort_unstable();
            assert_eq!(members, (0..30_000).collect::<Vec<u32>>());
            assert!(cells.cells.iter().all(|cell| cell.members.is_sorted()));
            let recall = filled.recall(&cells);
            assert!(recall > 0.95, "{search:?}: {recall}");
        }
    }

    #[test]
    fn the_same_vectors_make_the_same_cells_however_they_come() {
        let filled = Filled::of(4_000);
        let at_once = filled.in_cells(&Cells::default(), 4_000, VectorSearch::Cells, &[]);
        let half = filled.in_cells(&Cells::default(), 2_000, VectorSearch::Cells, &[]);
        let before = half.cells.iter().map(|cell| cell.members.len()).sum::<usize>();
        let later = filled.in_cells(&half, 4_000, VectorSearch::Cells, &[]);
        let members =
            |cells: &Cells| cells.cells.iter().map(|cell| cell.members.clone()).collect::<Vec<_>>();
        assert_eq!(members(&at_once), members(&later));
        assert_eq!(at_once.signs, later.signs);
        // Who reads the generation before goes on as it was.
        assert_eq!(half.cells.iter().map(|cell| cell.members.len()).sum::<usize>(), before);
    }

    #[test]
    fn what_was_erased_is_in_no_cell_and_what_is_no_number_moves_none() {
        let mut vectors: Vec<Vec<f32>> = (0..3_000).map(vector).collect();
        vectors[7] = vec![f32::INFINITY; DIMENSIONS];
        vectors[7][0] = f32::NAN;
        vectors[8] = vec![0.0; DIMENSIONS];
        let filled = Filled::with(vectors);
        let half = filled.in_cells(&Cells::default(), 1_500, VectorSearch::Graph, &[]);
        let cells = filled.in_cells(&half, 3_000, VectorSearch::Graph, &[1_600, 2_999]);
        assert_eq!(cells.covered(), 3_000);
        let members: Vec<u32> =
            cells.cells.iter().flat_map(|cell| cell.members.iter().copied()).collect();
        for gone in [1_600, 2_999] {
            assert!(!members.contains(&gone), "{gone}");
        }
        assert!(members.contains(&8), "a vector of zeros is one");
        let is_number = |cell: &Arc<Cell>| cell.centroid.iter().all(|value| value.is_finite());
        assert!(cells.cells.iter().all(is_number));
        assert!(filled.found(&cells, &filled.vectors[9]).contains(&9));
        assert!(filled.found(&Cells::default(), &filled.vectors[9]).is_empty());
    }

    #[test]
    fn a_cell_of_equal_vectors_is_parted_too() {
        let one = vector(3);
        let filled = Filled::with(vec![one.clone(); 2_000]);
        let cells = filled.in_cells(&Cells::default(), 2_000, VectorSearch::Graph, &[]);
        assert!(cells.cells.iter().all(|cell| cell.members.len() < FULL));
        assert_eq!(filled.found(&cells, &one).len(), 2_000);
    }
}
