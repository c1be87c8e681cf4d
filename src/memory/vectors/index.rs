//! The vector index of memories: codes that are read through, then the candidates exactly.
//!
//! Vectors of one model stand in commit order, each with its codes ([`super::codes`]). A search reads the signs of all
//! of them (48 bytes each at 384 dimensions), or of what passes a filter, orders the nearest thousand by their steps of
//! 8 bits, and compares the best of those by their true cosine. So a vector is searchable with its commit, nothing is
//! built in the background, what was retired or is filtered out costs nothing, and the same rows give the same answer.
//! Nothing that writes depends on the answers of this index.
//!
//! What takes time is waiting for memory: whatever comes next is asked for some places ahead.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use crate::ids::{MemoryId, ModelHash};
use crate::percept::Embedding;

use super::cells::{Cells, Source};
use super::codes::{CodedQuery, Codes};
use super::plan::{self, VectorSearch};
use crate::memory::idset::IdSet;
use crate::memory::model::MemoryVector;
use crate::memory::versions::Versions;
use crate::memory::versions::log::Log;
use crate::memory::versions::persist::{Persist as _, Reader, Writer};
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Horizon, Table, Touched, Version};
use crate::simd::dot;

/// Vectors up to which every one is compared exactly.
pub(crate) const EXACT_UP_TO: usize = 2_000;
/// Of all vectors, one in so many is looked at again; …
const LOOKED_AT_AGAIN: usize = 256;
/// … of those that pass a filter, one in so many: fewer have fewer between them and the line.
const LOOKED_AT_AGAIN_OF_SOME: usize = 32;
/// Of those in cells, at most so many: of ten million, thousands may be nearly as near as the nearest.
const MOST_AGAIN_IN_CELLS: usize = 16_384;
/// And at least so many, …
const LEAST_AGAIN: usize = 1_000;
/// … at most so many at first, …
const MOST_AGAIN: usize = 8_192;
/// … and so many of those that pass a filter: of more, one in so many says enough.
const MOST_AGAIN_OF_SOME: usize = 16_384;
/// True cosines computed beside one per hit wanted.
const EXACTLY: usize = 74;
/// Vectors are asked for so many before they are read.
const SOON: usize = 4;
/// No vector has more.
const MOST_DIMENSIONS: usize = 1 << 20;
/// Looking a memory up takes as long as going on by so many words of a set, or as many runs.
const FEW: usize = 32;

/// The vectors of one model as they stand; replaced as a whole by the writer.
#[derive(Clone)]
struct Space {
    dimensions: usize,
    /// By position in this space: that in the table's log; ascending.
    rows: Log<u32>,
    /// Whose they are; ascending by position.
    runs: Arc<Vec<Run>>,
    codes: Codes,
    /// Of all generations of this space, the newest.
    cells: Arc<ArcSwap<Cells>>,
}

/// Vectors one after the other, of memories one after the other.
#[derive(Clone, Copy)]
struct Run {
    /// Position of the first in this space.
    at: u32,
    /// Its memory.
    memory: u64,
    len: u32,
}

/// The rows that a search is about, and which of them count.
pub(crate) struct Shown<'a> {
    pub(crate) table: &'a Table<MemoryVector>,
    pub(crate) horizon: &'a Horizon,
    /// Whether a memory passes; asked of good ones only.
    pub(crate) admits: &'a dyn Fn(MemoryId) -> bool,
}

/// One vector that is searched by, once or several times with other filters.
pub(crate) struct Look<'q> {
    query: &'q Embedding,
    /// Cells may be read.
    is_routed: bool,
    read: OnceCell<Read>,
}

/// What was read; a commit in between may bring more vectors: none that this reader knows.
struct Read {
    space: Arc<Space>,
    coded: CodedQuery,
}

impl<'q> Look<'q> {
    /// Codes of all vectors are read.
    pub(crate) fn new(query: &'q Embedding) -> Self {
        Self { query, is_routed: false, read: OnceCell::new() }
    }

    /// Codes of the nearest cells are read, where there are any.
    pub(crate) fn routed(query: &'q Embedding) -> Self {
        Self { is_routed: true, ..Self::new(query) }
    }

    pub(crate) fn query(&self) -> &'q Embedding {
        self.query
    }
}

/// Vectors of all models.
pub(crate) struct VectorIndex {
    shelf: Arc<Shelf>,
    spaces: ArcSwap<BTreeMap<ModelHash, Arc<Space>>>,
    taken: AtomicUsize,
    /// Held by whoever puts vectors into cells.
    gathering: Mutex<()>,
}

impl VectorIndex {
    /// An empty one, whose codes are to lie on that shelf.
    pub(crate) fn on(shelf: Arc<Shelf>) -> Self {
        Self {
            shelf,
            spaces: ArcSwap::default(),
            taken: AtomicUsize::new(0),
            gathering: Mutex::default(),
        }
    }

    /// Takes in the versions that are not in yet.
    pub(crate) fn append(&self, log: &Versions<MemoryVector>) {
        let from = self.taken.swap(log.len(), Ordering::AcqRel);
        if from >= log.len() {
            return;
        }
        let mut spaces = BTreeMap::clone(&self.spaces.load());
        for (at, version) in (from..).zip(log.iter_from(from)) {
            let (model, dimensions) = (version.row.model, version.row.values.len());
            let space = spaces
                .entry(model)
                .or_insert_with(|| Arc::new(Space::new(dimensions, Arc::clone(&self.shelf))));
            // A vector of another length is no vector of this model: never compared.
            if dimensions == space.dimensions {
                let space = Arc::make_mut(space);
                space.push(at as u32, &version.row);
            }
        }
        for space in spaces.values_mut() {
            Arc::make_mut(space).rows.settle(&self.shelf);
        }
        self.spaces.store(Arc::new(spaces));
    }

    /// Writes it but for the cells, which are made again.
    pub(crate) fn save(&self, log: &Versions<MemoryVector>, to: &mut Writer<'_>) {
        let spaces = self.spaces.load();
        to.number(self.taken.load(Ordering::Acquire) as u64);
        to.number(spaces.len() as u64);
        for (model, space) in spaces.iter() {
            to.numbers(&model.0);
            space.save(log, to);
        }
    }

    /// Reads what [`Self::save`] wrote.
    pub(crate) fn load(&self, from: &mut Reader<'_>) -> Option<()> {
        self.taken.store(usize::try_from(from.number()?).ok()?, Ordering::Release);
        let mut spaces = BTreeMap::new();
        for _ in 0..from.count()? {
            let model = from.numbers::<u8>()?.try_into().ok().map(ModelHash)?;
            spaces.insert(model, Arc::new(Space::load(from)?));
        }
        self.spaces.store(Arc::new(spaces));
        Some(())
    }

    /// Overwrites the codes of vectors that were erased.
    pub(crate) fn strike(&self, touched: &[Touched<MemoryVector>]) {
        let mut spaces = BTreeMap::clone(&self.spaces.load());
        for one in touched.iter().filter(|one| one.new.is_none()) {
            let Some(space) = spaces.get_mut(&one.old.model) else { continue };
            if let Some(at) = space.position(one.at) {
                Arc::make_mut(space).codes.erase(at);
            }
        }
        self.spaces.store(Arc::new(spaces));
    }

    /// Puts a few thousand more vectors of each model into cells, where they are to be in some: whether more are to follow.
    pub(crate) fn gather(&self, table: &Table<MemoryVector>, search: VectorSearch) -> bool {
        let _only_one = self.gathering.lock().unwrap_or_else(PoisonError::into_inner);
        let log = table.log();
        let spaces = self.spaces.load_full();
        spaces.values().filter(|space| space.gather(&log, search)).count() > 0
    }

    /// Models that a vector was ever put of.
    pub(crate) fn models(&self) -> Vec<ModelHash> {
        self.spaces.load().keys().copied().collect()
    }

    /// Of each model, the length of its vectors and the memories that have one, as far as `shown` says so of a vector's place in
    /// the table's log. No vector is read.
    pub(super) fn had(&self, shown: &dyn Fn(usize) -> bool) -> BTreeMap<ModelHash, (usize, IdSet)> {
        let of = |space: &Space| {
            let mut memories = IdSet::default();
            for (_, memory) in space.owners().filter(|(row, _)| shown(*row as usize)) {
                memories.insert(memory);
            }
            (space.dimensions, memories)
        };
        self.spaces.load().iter().map(|(model, space)| (*model, of(space))).collect()
    }

    /// The first `most` of those of other models than that one: whose, and of which.
    pub(super) fn beside(
        &self,
        model: ModelHash,
        most: usize,
        shown: &dyn Fn(usize) -> bool,
    ) -> Vec<(MemoryId, ModelHash)> {
        let spaces = self.spaces.load();
        let mut found = Vec::new();
        for (other, space) in spaces.iter().filter(|(other, _)| **other != model) {
            let here = space.owners().filter(|(row, _)| shown(*row as usize)).take(most);
            found.extend(here.map(|(row, memory)| (row, memory, *other)));
        }
        found.sort_unstable_by_key(|(row, ..)| *row);
        found.into_iter().take(most).map(|(_, memory, other)| (memory, other)).collect()
    }

    /// The `k` most similar memories among those in `among`, best first.
    pub(crate) fn nearest(
        &self,
        look: &Look<'_>,
        k: usize,
        among: Option<&IdSet>,
        shown: &Shown<'_>,
    ) -> Vec<(MemoryId, f32)> {
        let query = look.query.values.as_slice();
        let model = look.query.model;
        let Some(space) = self.spaces.load().get(&model).map(Arc::clone) else { return Vec::new() };
        if k == 0 || query.len() != space.dimensions {
            return Vec::new();
        }
        // Read after the horizon was taken: it knows all that ended by then.
        let log = shown.table.log();
        if space.rows.len() <= EXACT_UP_TO {
            let rows = space.rows.iter().map(|at| *at as usize);
            let known = rows.filter(|at| shown.table.shows_in(&log, *at, shown.horizon));
            let versions = known.filter_map(|at| log.get(at));
            let of_them = versions
                .filter(|version| among.is_none_or(|among| among.contains(version.row.memory)));
            return best_of(of_them, query, k, shown.admits);
        }
        let Read { space, coded } = look.read.get_or_init(|| {
            let coded = space.codes.query(query);
            Read { space, coded }
        });
        if look.is_routed
            && let Some(found) = space.in_cells((query, coded), k, among, (&log, shown))
        {
            return found;
        }
        let positions = among.map(|among| space.positions(among, shown.table));
        let (all, share, most) = match &positions {
            Some(positions) => (positions.len(), LOOKED_AT_AGAIN_OF_SOME, MOST_AGAIN_OF_SOME),
            None => (space.rows.len(), LOOKED_AT_AGAIN, MOST_AGAIN),
        };
        let mut again = (all / share).clamp(LEAST_AGAIN, most).max(10 * k);
        loop {
            let candidates = match &positions {
                Some(positions) => space.codes.nearest_of(coded, positions, again),
                None => space.codes.nearest(coded, again),
            };
            let top = space.exactly(query, coded, candidates, k, (&log, shown));
            // Candidates that the reader does not know (retired since, or not yet) may have crowded out
            // others.
            if top.0.len() == k || again >= all {
                return top.into_hits();
            }
            again = again.saturating_mul(8);
        }
    }
}

impl Space {
    fn new(dimensions: usize, shelf: Arc<Shelf>) -> Self {
        let codes = Codes::new(dimensions, shelf);
        let (rows, runs, cells) = Default::default();
        Self { dimensions, rows, runs, codes, cells }
    }

    fn save(&self, log: &Versions<MemoryVector>, to: &mut Writer<'_>) {
        to.number(self.dimensions as u64);
        self.rows.save(to);
        let runs: Vec<u64> = self
            .runs
            .iter()
            .flat_map(|run| [u64::from(run.at), run.memory, u64::from(run.len)])
            .collect();
        to.numbers(&runs);
        let any = log.count() < log.len();
        let is_erased =
            |at: usize| any && self.rows.get(at).is_none_or(|row| log.seq(*row as usize).is_none());
        self.codes.save(&is_erased, to);
    }

    fn load(from: &mut Reader<'_>) -> Option<Self> {
        let dimensions =
            usize::try_from(from.number()?).ok().filter(|many| *many <= MOST_DIMENSIONS)?;
        let rows: Log<u32> = Log::load(from)?;
        let runs: Vec<u64> = from.numbers()?;
        let (runs, rest) = runs.as_chunks::<3>();
        let run = |[at, memory, len]: &[u64; 3]| Run {
            at: *at as u32,
            memory: *memory,
            len: *len as u32,
        };
        let runs = Arc::new(runs.iter().map(run).collect());
        let codes = Codes::load(dimensions, from)?;
        let is_whole = rest.is_empty() && codes.len() == rows.len();
        is_whole.then(|| Self { dimensions, rows, runs, codes, cells: Arc::default() })
    }

    /// Takes in a vector and where it stands in the table's log.
    fn push(&mut self, row: u32, vector: &MemoryVector) {
        let at = self.rows.len() as u32;
        self.rows.push(row);
        self.codes.push(&vector.values);
        let memory = vector.memory.0;
        let runs = Arc::make_mut(&mut self.runs);
        match runs.last_mut() {
            Some(run) if (run.at + run.len, run.memory + u64::from(run.len)) == (at, memory) => {
                run.len += 1;
            }
            _ => runs.push(Run { at, memory, len: 1 }),
        }
    }

    /// Puts some more into cells: whether more are to follow.
    fn gather(&self, log: &Versions<MemoryVector>, search: VectorSearch) -> bool {
        let cells = self.cells.load_full();
        let all = self.rows.len() as u32;
        let Some(to) = search.next_in_cells(cells.covered(), all) else { return false };
        let is_erased =
            |at: u32| self.rows.get(at as usize).is_none_or(|row| log.seq(*row as usize).is_none());
        let source = Source { codes: &self.codes, is_erased: &is_erased, search };
        let next = cells.with(to, &source);
        self.cells.store(Arc::new(next));
        search.next_in_cells(to, all).is_some()
    }

    /// What [`VectorIndex::nearest`] finds in the nearest cells and beside them; `None` where that may be too little, or there are
    /// no cells.
    fn in_cells(
        &self,
        (query, coded): (&[f32], &CodedQuery),
        k: usize,
        among: Option<&IdSet>,
        (log, shown): (&Versions<MemoryVector>, &Shown<'_>),
    ) -> Option<Vec<(MemoryId, f32)>> {
        let cells = self.cells.load_full();
        let all = self.rows.len();
        let passing = among.map_or(all, |among| among.len().min(all)).max(1);
        let known = shown.horizon.known(log);
        let of_all = (all, cells.covered() as usize, passing);
        if !plan::reads_cells(of_all, (log.len(), known)) {
            return None;
        }
        let again = (all / LOOKED_AT_AGAIN).clamp(LEAST_AGAIN, MOST_AGAIN_IN_CELLS);
        let again = again.max(10 * k) * (all / passing);
        let share = passing as f64 / all as f64;
        let mut candidates = cells.nearest(coded, again, share);
        candidates.extend(self.codes.nearest_from(coded, cells.covered(), again));
        if let Some(among) = among {
            candidates.retain(|at| self.memory(*at).is_some_and(|memory| among.contains(memory)));
        }
        let top = self.exactly(query, coded, candidates, k, (log, shown));
        (top.0.len() == k).then(|| top.into_hits())
    }

    /// Where each vector's row stands in the table's log, and whose it is.
    fn owners(&self) -> impl Iterator<Item = (u32, MemoryId)> + '_ {
        let of = |run: &Run| {
            (0..run.len).map({
                let run = *run;
                move |at| (run.at + at, MemoryId(run.memory + u64::from(at)))
            })
        };
        let each = self.runs.iter().flat_map(of);
        each.filter_map(|(at, memory)| Some((*self.rows.get(at as usize)?, memory)))
    }

    /// Whose vector stands there.
    fn memory(&self, at: u32) -> Option<MemoryId> {
        let run = self.runs.partition_point(|run| run.at <= at).checked_sub(1)?;
        let run = self.runs.get(run).filter(|run| at - run.at < run.len)?;
        Some(MemoryId(run.memory + u64::from(at - run.at)))
    }

    /// Positions of all vectors of the memories, ascending.
    fn positions(&self, among: &IdSet, table: &Table<MemoryVector>) -> Vec<u32> {
        let mut found = Vec::with_capacity(among.len());
        if among.len() * FEW > self.rows.len() / u64::BITS as usize + self.runs.len() {
            for run in self.runs.iter() {
                among.within(run.memory, run.len, |at| found.push(run.at + at));
            }
            return found;
        }
        for memory in among.iter() {
            table.numbered(memory.0, |row| found.extend(self.position(row)));
        }
        // Nearly in order.
        found.sort_unstable();
        found
    }

    /// Where a row of the table stands; `None` when it is of another model, or newer.
    fn position(&self, row: u32) -> Option<u32> {
        // While there is one model, that is the same.
        if self.rows.get(row as usize) == Some(&row) {
            return Some(row);
        }
        let at = self.rows.partition_point(|known| *known < row);
        (self.rows.get(at) == Some(&row)).then_some(at as u32)
    }

    /// The best `k` by true cosine among the candidates that look best.
    fn exactly(
        &self,
        query: &[f32],
        coded: &CodedQuery,
        candidates: Vec<u32>,
        k: usize,
        (log, shown): (&Versions<MemoryVector>, &Shown<'_>),
    ) -> Top {
        let likenesses = self.codes.likenesses(coded, &candidates);
        let mut ordered: Vec<(f32, u32)> = likenesses.zip(candidates.iter().copied()).collect();
        let wanted = k + EXACTLY;
        let by_likeness = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        // As many in order as are wanted, then more: some of them may not pass.
        let (mut top, mut computed, mut from) = (Top::new(k), 0, 0);
        while from < ordered.len() && computed < wanted {
            let to = (from + wanted).min(ordered.len());
            if to < ordered.len() {
                ordered[from..].select_nth_unstable_by(to - from - 1, by_likeness);
            }
            ordered[from..to].sort_unstable_by(by_likeness);
            for (place, (_, at)) in (from..).zip(&ordered[from..to]) {
                let soon = ordered[..to].get(place + SOON);
                if let Some(row) = soon.and_then(|(_, at)| self.rows.get(*at as usize)) {
                    log.ask_for(*row as usize, size_of_val(query));
                }
                let Some(row) = self.rows.get(*at as usize).map(|row| *row as usize) else {
                    continue;
                };
                if computed == wanted {
                    break;
                }
                if shown.table.shows_in(log, row, shown.horizon)
                    && let Some(version) = log.get(row)
                {
                    let score = dot(&version.row.values, query);
                    if top.wants(score, version.row.memory) {
                        if !(shown.admits)(version.row.memory) {
                            continue;
                        }
                        top.put(score, version.row.memory);
                    }
                    computed += 1;
                }
            }
            from = to;
        }
        top
    }
}

/// The best `k` so far: by similarity, then by id.
struct Top(Vec<(MemoryId, f32)>, usize);

impl Top {
    fn new(k: usize) -> Self {
        Self(Vec::with_capacity(k + 1), k)
    }

    fn wants(&self, score: f32, id: MemoryId) -> bool {
        self.0.len() < self.1 || self.0.last().is_some_and(|last| before((id, score), *last))
    }

    fn put(&mut self, score: f32, id: MemoryId) {
        if self.1 > 0 && self.wants(score, id) && !self.0.iter().any(|hit| hit.0 == id) {
            let at = self.0.partition_point(|hit| before(*hit, (id, score)));
            self.0.insert(at, (id, score));
            self.0.truncate(self.1);
        }
    }

    fn into_hits(self) -> Vec<(MemoryId, f32)> {
        self.0
    }
}

fn before(a: (MemoryId, f32), b: (MemoryId, f32)) -> bool {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)).is_lt()
}

/// Compares every vector; of the good ones those that `admits` lets pass count.
pub(crate) fn best_of(
    versions: impl Iterator<Item = Version<MemoryVector>>,
    query: &[f32],
    k: usize,
    admits: &dyn Fn(MemoryId) -> bool,
) -> Vec<(MemoryId, f32)> {
    let mut top = Top::new(k);
    for version in versions {
        let values = &version.row.values;
        if values.len() != query.len() {
            continue;
        }
        let score = dot(values, query);
        if top.wants(score, version.row.memory) && admits(version.row.memory) {
            top.put(score, version.row.memory);
        }
    }
    top.into_hits()
}

/// Cosine of two unit vectors, [-1, 1], in single precision: quick, and as good for ranking. `None` when they are
/// not equally long.
pub(crate) fn likeness(a: &[f32], b: &[f32]) -> Option<f32> {
    (a.len() == b.len()).then(|| dot(a, b).clamp(-1.0, 1.0))
}
