//! The vector index of memories: one-bit codes that are read through, then the candidates exactly.
//!
//! Vectors of one model stand in commit order, each with its code ([`super::codes`]). A search reads all codes
//! (48 bytes each at 384 dimensions), orders the nearest few thousand by a finer estimate and the best of
//! those by their true cosine. So a vector is searchable with its commit, nothing is built in the
//! background, what was retired or is filtered out costs nothing, and the same rows give the same answer.
//! Nothing that writes depends on the answers of this index.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::ArcSwap;

use crate::ids::{MemoryId, ModelHash};
use crate::percept::Embedding;

use super::codes::{CodedQuery, Codes};
use super::idset::IdSet;
use super::model::MemoryVector;
use super::simd::dot;
use super::temporal::{Log, Version};

/// Vectors up to which every one is compared exactly.
pub(crate) const EXACT_UP_TO: usize = 2_000;
/// Of the codes, one in so many is looked at again.
const LOOKED_AT_AGAIN: usize = 50;
/// And at least so many, …
const LEAST_AGAIN: usize = 1_500;
/// … at most so many at first.
const MOST_AGAIN: usize = 10_000;
/// True cosines computed beside 3 per hit wanted.
const EXACTLY: usize = 450;

type Rows = Log<Arc<Version<MemoryVector>>>;
/// Whether a vector counts.
type Predicate<'a> = &'a dyn Fn(&Version<MemoryVector>) -> bool;

/// The vectors of one model as they stand; replaced as a whole by the writer.
#[derive(Clone)]
struct Space {
    rows: Rows,
    memories: Log<MemoryId>,
    codes: Codes,
    dimensions: usize,
}

/// One vector that is searched by, once or several times with other filters: all codes are read through once.
pub(crate) struct Look<'q> {
    query: &'q Embedding,
    read: OnceCell<Read>,
}

struct Read {
    space: Arc<Space>,
    coded: CodedQuery,
    distances: Vec<u16>,
}

impl<'q> Look<'q> {
    pub(crate) fn new(query: &'q Embedding) -> Self {
        Self { query, read: OnceCell::new() }
    }

    pub(crate) fn query(&self) -> &'q Embedding {
        self.query
    }
}

/// Vectors of all models.
#[derive(Default)]
pub(crate) struct VectorIndex {
    spaces: ArcSwap<BTreeMap<ModelHash, Arc<Space>>>,
    taken: AtomicUsize,
}

impl VectorIndex {
    /// Takes in the versions that are not in yet.
    pub(crate) fn append(&self, log: &Rows) {
        let from = self.taken.swap(log.len(), Ordering::AcqRel);
        if from >= log.len() {
            return;
        }
        let mut spaces = BTreeMap::clone(&self.spaces.load());
        for version in log.iter_from(from) {
            let embedding = &version.row.embedding;
            let dimensions = embedding.values.len();
            let space = spaces.entry(embedding.model).or_insert_with(|| {
                Arc::new(Space {
                    rows: Rows::default(),
                    memories: Log::default(),
                    codes: Codes::new(dimensions),
                    dimensions,
                })
            });
            // A vector of another length is no vector of this model: never compared.
            if dimensions == space.dimensions {
                let space = Arc::make_mut(space);
                space.rows.push(Arc::clone(version));
                space.memories.push(version.row.memory);
                space.codes.push(&embedding.values);
            }
        }
        self.spaces.store(Arc::new(spaces));
    }

    /// Models that a vector was ever put of.
    pub(crate) fn models(&self) -> Vec<ModelHash> {
        self.spaces.load().keys().copied().collect()
    }

    /// The `k` most similar memories among those in `among` that `keep` lets pass, best first. `shows`, asked
    /// of every candidate, is to be quick; `keep` is asked of the good ones that it lets pass.
    pub(crate) fn nearest(
        &self,
        look: &Look<'_>,
        k: usize,
        among: Option<&IdSet>,
        (shows, keep): (Predicate<'_>, Predicate<'_>),
    ) -> Vec<(MemoryId, f32)> {
        let query = look.query.values.as_slice();
        let model = look.query.model;
        let Some(space) = self.spaces.load().get(&model).map(Arc::clone) else { return Vec::new() };
        if k == 0 || query.len() != space.dimensions {
            return Vec::new();
        }
        let passes = |version: &Version<MemoryVector>| {
            among.is_none_or(|among| among.contains(version.row.memory))
                && shows(version)
                && keep(version)
        };
        if space.rows.len() <= EXACT_UP_TO {
            return best_of(space.rows.iter(), query, k, &passes);
        }
        // A commit in between may have brought more vectors: none that this reader knows.
        let Read { space, coded, distances } = look.read.get_or_init(|| {
            let coded = space.codes.query(query);
            let distances = space.codes.distances(&coded);
            Read { space, coded, distances }
        });
        let mut again = (distances.len() / LOOKED_AT_AGAIN)
            .clamp(LEAST_AGAIN, MOST_AGAIN)
            .max(50 * k)
            .min(distances.len());
        loop {
            let (candidates, everything) = space.near(distances, again, among);
            let top = space.exactly(query, coded, candidates, k, (shows, keep));
            // Candidates that the reader does not know (retired since, or not yet) may have crowded out
            // others.
            if top.0.len() == k || everything {
                return top.into_hits();
            }
            again *= 8;
        }
    }
}

impl Space {
    /// Positions of the `count` nearest codes (and of those as near as the last) whose memories are in
    /// `among`; and whether that is all there are.
    fn near(&self, distances: &[u16], count: usize, among: Option<&IdSet>) -> (Vec<u32>, bool) {
        let admitted = |at: usize| {
            among.is_none_or(|among| self.memories.get(at).is_some_and(|id| among.contains(*id)))
        };
        let most = distances.iter().copied().max().unwrap_or(0);
        let mut counts = vec![0_usize; usize::from(most) + 1];
        match among {
            None => distances.iter().for_each(|distance| counts[usize::from(*distance)] += 1),
            Some(among) => {
                for (distance, id) in distances.iter().zip(self.memories.iter()) {
                    counts[usize::from(*distance)] += usize::from(among.contains(*id));
                }
            }
        }
        let mut sum = 0;
        let mut limit = usize::from(most);
        for (distance, count_here) in counts.iter().enumerate() {
            sum += count_here;
            if sum >= count {
                limit = distance;
                break;
            }
        }
        let everything = counts[limit + 1..].iter().all(|count| *count == 0);
        let mut found = Vec::with_capacity(sum);
        for (at, distance) in distances.iter().enumerate() {
            if usize::from(*distance) <= limit && admitted(at) {
                found.push(at as u32);
            }
        }
        (found, everything)
    }

    /// The best `k` by true cosine among the candidates that look best.
    fn exactly(
        &self,
        query: &[f32],
        coded: &CodedQuery,
        candidates: Vec<u32>,
        k: usize,
        (shows, keep): (Predicate<'_>, Predicate<'_>),
    ) -> Top {
        let mut ordered: Vec<(f32, u32)> = candidates
            .into_iter()
            .map(|at| (self.codes.likeness(coded, at as usize), at))
            .collect();
        let wanted = 3 * k + EXACTLY;
        let by_likeness = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        // Twice as many in order as are wanted: some of them may not pass.
        let (mut top, mut computed, mut from) = (Top::new(k), 0, 0);
        while from < ordered.len() && computed < wanted {
            let to = (from + wanted).min(ordered.len());
            if to < ordered.len() {
                ordered[from..].select_nth_unstable_by(to - from - 1, by_likeness);
            }
            ordered[from..to].sort_unstable_by(by_likeness);
            for (_, at) in &ordered[from..to] {
                let Some(version) = self.rows.get(*at as usize) else { continue };
                if computed == wanted {
                    break;
                }
                if shows(version) {
                    computed += 1;
                    let score = dot(&version.row.embedding.values, query);
                    if top.wants(score, version.row.memory) && keep(version) {
                        top.put(score, version.row.memory);
                    }
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

/// Compares every vector.
pub(crate) fn best_of<'a>(
    rows: impl Iterator<Item = &'a Arc<Version<MemoryVector>>>,
    query: &[f32],
    k: usize,
    keep: Predicate<'_>,
) -> Vec<(MemoryId, f32)> {
    let mut top = Top::new(k);
    for version in rows {
        let values = &version.row.embedding.values;
        if values.len() != query.len() {
            continue;
        }
        let score = dot(values, query);
        if top.wants(score, version.row.memory) && keep(version) {
            top.put(score, version.row.memory);
        }
    }
    top.into_hits()
}

/// Cosine of two vectors, [-1, 1], in single precision: quick, and as good for ranking. `None` when the models
/// differ.
pub(crate) fn likeness(a: &Embedding, b: &Embedding) -> Option<f32> {
    (a.model == b.model && a.values.len() == b.values.len())
        .then(|| dot(&a.values, &b.values).clamp(-1.0, 1.0))
}
