//! Recall beside the reference's way of searching, on the same vectors in the same run: `bench recall`.
//!
//! M3-Agent keeps its vectors as lists of numbers; each search makes one array of all of them, computes the cosine
//! with every one and sorts. Beside it stands the same scan over an array that is kept, which is the best that way
//! can do. Its lists are Python's, objects one by one; ours are plain numbers, which is kinder to it.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::BenchError;
use super::filler::{Filler, fill};
use super::memory::{Latency, embed_corpus, quantile};
use super::scratch;
use crate::config::Config;
use crate::daemon::assemble::Knowledge;
use crate::memory::Filter;
use crate::recall::{Query, recall};

/// Sizes measured, memories.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Queries of each size, …
const QUERIES: usize = 200;
/// … of the slow ways, …
const SLOW_QUERIES: usize = 40;
/// … and before them, not measured.
const WARM_UP: usize = 5;
const K: usize = 10;

/// `bench recall`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecallFigures {
    /// One row per size.
    pub sizes: Vec<SizeFigures>,
}

/// One size. One query at a time; embedding it is not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SizeFigures {
    /// How many memories: the row's name.
    pub id: String,
    /// Recall with all channels: words, vector and people in, fused list with texts out.
    pub recall_ms: Latency,
    /// The vector index alone.
    pub index_ms: Latency,
    /// A scan over one array that is kept.
    pub scan_ms: Latency,
    /// The reference's way: the array is made of lists at every search.
    pub lists_ms: Latency,
    /// How many times longer than our index the scan takes, by medians.
    pub scan_over_index: f64,
    /// How many times longer than our whole recall the reference's way takes.
    pub lists_over_recall: f64,
    /// A person's profile.
    pub profile_ms: Latency,
}

/// Fills temporary stores up to `largest` memories and searches them each way.
///
/// # Errors
/// When the corpus, the sentence embedder or a store fails.
pub fn measure(
    config: &Config,
    corpus: &Path,
    largest: usize,
) -> Result<RecallFigures, BenchError> {
    let mut figures = RecallFigures::default();
    let mut embedded = None;
    for count in SIZES.into_iter().filter(|count| *count <= largest) {
        let (_store, config) = scratch::store(config)?;
        let knowledge = Knowledge::open(&config)?;
        let corpus = match &embedded {
            Some(corpus) => corpus,
            None => embedded.insert(embed_corpus(&knowledge, corpus)?),
        };
        let memory = &knowledge.memory;
        fill(memory, &mut Filler::on(corpus, memory), count, None)?;
        let view = knowledge.memory.view();
        let lists: Vec<Vec<f64>> = view
            .memories(&Filter::default())
            .iter()
            .filter_map(|row| view.embedding(row.id, view.any_model()?))
            .map(|vector| vector.values.iter().map(|value| f64::from(*value)).collect())
            .collect();
        let array = to_array(&lists);
        let dimensions = lists.first().map_or(0, Vec::len);
        let mut row = SizeFigures { id: count.to_string(), ..SizeFigures::default() };
        let (mut all, mut index, mut scan, mut slow) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (number, (text, vector)) in corpus.queries.iter().take(QUERIES + WARM_UP).enumerate() {
            let entities = view.named_in(text);
            let query = Query {
                text: text.clone(),
                vector: Some(vector.clone()),
                entities,
                k: K,
                ..Query::default()
            };
            let measured = number >= WARM_UP;
            timed(&mut all, measured, || recall(&view, &query).len());
            timed(&mut index, measured, || view.nearest(vector, K, &Filter::default()).len());
            if number < SLOW_QUERIES + WARM_UP {
                timed(&mut scan, measured, || best(&array, dimensions, &vector.values).len());
                timed(&mut slow, measured, || {
                    best(&to_array(&lists), dimensions, &vector.values).len()
                });
            }
        }
        let mut profiles = Vec::new();
        for person in view.persons().iter().cycle().take(50) {
            timed(&mut profiles, true, || view.profile(person.id, None).facts.len());
        }
        let latency = |times: &mut Vec<f64>| Latency {
            p50: quantile(times, 0.5),
            p99: quantile(times, 0.99),
        };
        row.recall_ms = latency(&mut all);
        row.index_ms = latency(&mut index);
        row.scan_ms = latency(&mut scan);
        row.lists_ms = latency(&mut slow);
        row.profile_ms = latency(&mut profiles);
        row.scan_over_index = row.scan_ms.p50 / row.index_ms.p50.max(1e-9);
        row.lists_over_recall = row.lists_ms.p50 / row.recall_ms.p50.max(1e-9);
        figures.sizes.push(row);
    }
    Ok(figures)
}

fn timed(times: &mut Vec<f64>, measured: bool, run: impl FnOnce() -> usize) {
    let begun = Instant::now();
    std::hint::black_box(run());
    if measured {
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
}

fn to_array(lists: &[Vec<f64>]) -> Vec<f32> {
    lists.iter().flatten().map(|value| *value as f32).collect()
}

/// Cosines of unit vectors with every row, sorted, the best rows first.
fn best(array: &[f32], dimensions: usize, query: &[f32]) -> Vec<(usize, f32)> {
    let mut scores: Vec<(usize, f32)> =
        array.chunks_exact(dimensions.max(1)).map(|row| dot(row, query)).enumerate().collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scores.truncate(K);
    scores
}

/// In lanes, as a good library would.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    for (x, y) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane += x * y;
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_scanning_find_the_same() {
        let lists: Vec<Vec<f64>> = (0..50)
            .map(|n| (0..32).map(|d| f64::from((n * 7 + d * 3) % 11) / 11.0).collect())
            .collect();
        let query: Vec<f32> = (0..32).map(|d| (d % 5) as f32).collect();
        let found = best(&to_array(&lists), 32, &query);
        let score =
            |n: usize| -> f64 { lists[n].iter().zip(&query).map(|(a, b)| a * f64::from(*b)).sum() };
        assert_eq!(found.len(), K);
        assert!(found.iter().all(|(n, cosine)| (score(*n) - f64::from(*cosine)).abs() < 1e-3));
        let least = found.iter().map(|(n, _)| score(*n)).fold(f64::MAX, f64::min);
        let better = (0..50).filter(|n| score(*n) > least + 1e-4).count();
        assert!(better < K);
    }
}
