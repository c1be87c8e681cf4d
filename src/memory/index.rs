//! The vector index of memories.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::ids::{MemoryId, ModelHash};
use crate::percept::Embedding;

use super::model::MemoryVector;
use super::temporal::{Log, Version};

/// Vectors of all models, in commit order.
#[derive(Default)]
pub(crate) struct VectorIndex {
    rows: ArcSwap<BTreeMap<ModelHash, Log<Arc<Version<MemoryVector>>>>>,
    taken: std::sync::atomic::AtomicUsize,
}

impl VectorIndex {
    /// Takes in the versions that are not in yet.
    pub(crate) fn append(&self, log: &Log<Arc<Version<MemoryVector>>>) {
        use std::sync::atomic::Ordering;
        let mut rows = BTreeMap::clone(&self.rows.load());
        for at in self.taken.load(Ordering::Acquire)..log.len() {
            if let Some(version) = log.get(at) {
                rows.entry(version.row.embedding.model).or_default().push(Arc::clone(version));
            }
        }
        self.taken.store(log.len(), Ordering::Release);
        self.rows.store(Arc::new(rows));
    }

    /// The `k` most similar memories among those that `keep` lets pass, best first.
    pub(crate) fn nearest(
        &self,
        query: &Embedding,
        k: usize,
        mut keep: impl FnMut(&Version<MemoryVector>) -> bool,
    ) -> Vec<(MemoryId, f32)> {
        let rows = self.rows.load();
        let Some(log) = rows.get(&query.model) else { return Vec::new() };
        let mut scored: Vec<_> = log
            .iter()
            .filter(|version| version.row.embedding.values.len() == query.values.len())
            .map(|version| (dot(&version.row.embedding.values, &query.values), version))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.row.memory.cmp(&b.1.row.memory)));
        scored
            .into_iter()
            .filter(|(_, version)| keep(version))
            .take(k)
            .map(|(score, version)| (version.row.memory, score))
            .collect()
    }
}

/// Dot product; eight running sums, so that it is quick and always the same.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (left, right) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0_f32; 8];
    for (x, y) in left.zip(right) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}
