//! The vector index of memories: sealed HNSW segments and an exactly scanned tail.
//!
//! Vectors of one model stand in commit order. Once the tail is long enough, a thread builds a segment
//! over it (and over smaller segments before it, so that there are few); readers go on with what there
//! was until the new segment is swapped in. A segment is never changed afterwards: what was retired is
//! left out when reading. Nothing that writes depends on the answers of this index.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use hnsw_rs::anndists::dist::Distance;
use hnsw_rs::prelude::Hnsw;
use rayon::prelude::*;
use tracing::debug;

use crate::ids::{MemoryId, ModelHash};

use super::model::MemoryVector;
use super::temporal::{Log, Version};

/// Vectors up to which every one is compared.
pub(crate) const EXACT_UP_TO: usize = 20_000;
/// Links of a point per layer.
const LINKS: usize = 24;
/// Candidates looked at when a point is linked.
const EF_BUILD: usize = 160;

/// Cosine distance of unit vectors, `1 - dot`, never negative.
#[derive(Clone, Copy, Debug, Default)]
struct UnitCosine;

impl Distance<f32> for UnitCosine {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        (1.0 - dot(a, b)).max(0.0)
    }
}

type Rows = Log<Arc<Version<MemoryVector>>>;

/// A finished graph over positions `from..to` of a model's rows.
struct Segment {
    from: usize,
    to: usize,
    graph: Hnsw<'static, f32, UnitCosine>,
}

/// The vectors of one model.
#[derive(Default)]
struct Space {
    rows: ArcSwap<Rows>,
    /// Without gaps from 0, by position.
    segments: ArcSwap<Vec<Arc<Segment>>>,
    building: AtomicBool,
}

/// Vectors of all models.
#[derive(Default)]
pub(crate) struct VectorIndex {
    spaces: ArcSwap<BTreeMap<ModelHash, Arc<Space>>>,
    taken: AtomicUsize,
    /// Of the building thread, so that tests and shutdown can wait for it.
    threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
}

impl VectorIndex {
    /// Takes in the versions that are not in yet.
    pub(crate) fn append(&self, log: &Rows) {
        let from = self.taken.swap(log.len(), Ordering::AcqRel);
        let mut fresh: BTreeMap<ModelHash, Vec<Arc<Version<MemoryVector>>>> = BTreeMap::new();
        for at in from..log.len() {
            if let Some(version) = log.get(at) {
                fresh.entry(version.row.embedding.model).or_default().push(Arc::clone(version));
            }
        }
        for (model, versions) in fresh {
            let space = self.space_or_new(model);
            let mut rows = Rows::clone(&space.rows.load());
            for version in versions {
                // A vector of another length is no vector of this model: never compared.
                rows.push(version);
            }
            space.rows.store(Arc::new(rows));
            self.build_if_due(&space);
        }
    }

    fn space_or_new(&self, model: ModelHash) -> Arc<Space> {
        if let Some(space) = self.spaces.load().get(&model) {
            return Arc::clone(space);
        }
        let mut spaces = BTreeMap::clone(&self.spaces.load());
        let space = Arc::<Space>::default();
        spaces.insert(model, Arc::clone(&space));
        self.spaces.store(Arc::new(spaces));
        space
    }

    fn build_if_due(&self, space: &Arc<Space>) {
        if space.tail() < EXACT_UP_TO || space.building.swap(true, Ordering::AcqRel) {
            return;
        }
        let space = Arc::clone(space);
        let thread = std::thread::Builder::new().name("vector-index".to_owned()).spawn(move || {
            while space.tail() >= EXACT_UP_TO {
                space.build();
            }
            space.building.store(false, Ordering::Release);
        });
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        match thread {
            Ok(thread) => threads.push(thread),
            // Answers stay right without it, only slower.
            Err(error) => {
                tracing::warn!(%error, "cannot start the thread that builds the vector index")
            }
        }
    }

    /// Waits until no segment is being built.
    pub(crate) fn settle(&self) {
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("Building the vector index ended in a panic; please report it.");
            }
        }
    }

    /// How many vectors of that model stand in finished graphs.
    #[cfg(test)]
    pub(crate) fn indexed(&self, model: ModelHash) -> usize {
        self.spaces.load().get(&model).map_or(0, |space| space.covered())
    }

    /// The `k` most similar memories among those that `keep` lets pass, best first.
    pub(crate) fn nearest(
        &self,
        model: ModelHash,
        query: &[f32],
        k: usize,
        keep: &(dyn Fn(&Version<MemoryVector>) -> bool + Sync),
    ) -> Vec<(MemoryId, f32)> {
        let Some(space) = self.spaces.load().get(&model).map(Arc::clone) else { return Vec::new() };
        let rows = space.rows.load_full();
        let segments = space.segments.load_full();
        let covered = segments.last().map_or(0, |segment| segment.to);
        if covered == 0 {
            return best_of(rows.iter(), query, k, keep);
        }
        // Retired versions stay in the graphs: ask for more than is wanted, and for all if that was too few.
        let wanted = k * 2 + 16;
        let mut top = Top::new(k);
        for segment in segments.iter() {
            for hit in segment.graph.search(query, wanted, (wanted * 2).max(96)) {
                if let Some(version) = rows.get(hit.d_id) {
                    let score = dot(&version.row.embedding.values, query);
                    if top.wants(score, version.row.memory) && keep(version) {
                        top.put(score, version.row.memory);
                    }
                }
            }
        }
        if top.0.len() < k.min(rows.len()) {
            return best_of(rows.iter(), query, k, keep);
        }
        for (id, score) in best_of(rows.iter_from(covered), query, k, keep) {
            top.put(score, id);
        }
        top.into_hits()
    }
}

impl Space {
    fn covered(&self) -> usize {
        self.segments.load().last().map_or(0, |segment| segment.to)
    }

    fn tail(&self) -> usize {
        self.rows.load().len() - self.covered()
    }

    /// Builds the next segment: over the tail and over the segments before it that are not larger.
    fn build(&self) {
        let rows = self.rows.load_full();
        let mut segments = Vec::clone(&self.segments.load());
        let to = rows.len();
        let mut from = self.covered();
        while let Some(last) = segments.last() {
            if last.to - last.from > to - from {
                break;
            }
            from = last.from;
            segments.pop();
        }
        let dimension = rows.get(from).map_or(0, |version| version.row.embedding.values.len());
        let graph = Hnsw::new(LINKS, to - from, 16, EF_BUILD, UnitCosine);
        for at in from..to {
            // What is retired by now needs no place in the graph: every later view leaves it out.
            if let Some(version) = rows.get(at)
                && version.retired_seq().is_none()
                && version.row.embedding.values.len() == dimension
            {
                graph.insert((&version.row.embedding.values, at));
            }
        }
        debug!(from, to, "built a segment of the vector index");
        segments.push(Arc::new(Segment { from, to, graph }));
        self.segments.store(Arc::new(segments));
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
        if self.wants(score, id) && !self.0.iter().any(|hit| hit.0 == id) {
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
    keep: &(dyn Fn(&Version<MemoryVector>) -> bool + Sync),
) -> Vec<(MemoryId, f32)> {
    let scan = |rows: &[&Arc<Version<MemoryVector>>]| {
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
        top
    };
    let rows: Vec<_> = rows.collect();
    if k == 0 {
        return Vec::new();
    }
    if rows.len() <= 8192 {
        return scan(&rows).into_hits();
    }
    let parts: Vec<Top> = rows.par_chunks(8192).map(scan).collect();
    let mut top = Top::new(k);
    for (id, score) in parts.into_iter().flat_map(Top::into_hits) {
        top.put(score, id);
    }
    top.into_hits()
}

/// Dot product; running sums side by side, so that it is quick and always the same.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0_f32; LANES];
    for (x, y) in left.zip(right) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}
