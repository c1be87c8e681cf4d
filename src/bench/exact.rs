//! The nearest vectors by comparing with every one: what an index is measured against.

use rayon::prelude::*;

use crate::ids::MemoryId;
use crate::memory::model::MemoryKind;
use crate::memory::{Filter, View};
use crate::percept::Embedding;

/// Vectors that are compared at a time; no more are held.
const BLOCK: usize = 4_096;

/// Of each query the `k` nearest memories that pass its filter, with their cosines, the nearest first; of equals the oldest.
/// One pass over all vectors for all queries.
pub(super) fn nearest(
    view: &View,
    queries: &[(&Embedding, &Filter)],
    k: usize,
) -> Vec<Vec<(MemoryId, f32)>> {
    let Some(model) = view.any_model() else { return vec![Vec::new(); queries.len()] };
    // A filter that names every kind knows every id.
    let everything = Filter { kinds: MemoryKind::ALL.to_vec(), ..Filter::default() };
    let all: Vec<MemoryId> = view.passing(&everything).iter().flat_map(|ids| ids.iter()).collect();
    let mut found: Vec<_> = queries
        .iter()
        .map(|(query, filter)| (*query, view.passing(filter), Vec::<(MemoryId, f32)>::new()))
        .collect();
    for ids in all.chunks(BLOCK) {
        let block: Vec<(MemoryId, Embedding)> =
            ids.iter().filter_map(|id| Some((*id, view.embedding(*id, model)?))).collect();
        found.par_iter_mut().for_each(|(query, among, best)| {
            for (id, vector) in &block {
                if among.as_ref().is_some_and(|among| !among.contains(*id)) {
                    continue;
                }
                let Some(cosine) = vector.cosine(query) else { continue };
                let at = best.partition_point(|(_, other)| *other >= cosine);
                if at < k {
                    best.insert(at, (*id, cosine));
                    best.truncate(k);
                }
            }
        });
    }
    found.into_iter().map(|(_, _, best)| best).collect()
}
