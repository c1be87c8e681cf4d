//! The nearest vectors of a large memory, found each way in one run: `bench vectors`.
//!
//! One store, opened anew for each way; what is right is found by comparing with every vector. Vectors are those of `bench memory`
//! (`near`: each is near the sentence it was made from, many are near each other), or of what no two say (`mixed`: sums of two or
//! three sentences with seeded weights, as a text of so many sentences has one; of 2,760 sentences more than three million pairs).
//! Beside them, where it is asked for: one graph of all vectors (`hnsw_rs`), which is how one would use it at first.

use std::path::Path;
use std::time::Instant;

use hnsw_rs::anndists::dist::distances::DistDot;
use hnsw_rs::prelude::Hnsw;
use serde::Serialize;

use super::BenchError;
use super::filler::{Filler, Made, fill, span_of};
use super::memory::{Corpus, K, Latency, embed_corpus, rss_anon_mb};
use super::{exact, scratch};
use crate::config::Config;
use crate::daemon::assemble::{Knowledge, open_store};
use crate::ids::MemoryId;
use crate::memory::{Filter, Look, Memory, VectorSearch, View};
use crate::percept::Embedding;

/// Queries of each kind.
const QUERIES: usize = 200;
/// The graph of all vectors: links of a point, and points looked at for those and in a search.
const LINKS: usize = 16;
const LOOKED_AT_FOR_LINKS: usize = 128;
const LOOKED_AT: usize = 200;
const LAYERS: usize = 16;

/// `bench vectors`. Times are of one search at a time, warm.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VectorFigures {
    /// Vectors in the store.
    pub vectors: usize,
    /// Length of one.
    pub dimensions: usize,
    /// What they were made of.
    pub made: Made,
    /// One row per way.
    pub ways: Vec<WayFigures>,
}

/// One way.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WayFigures {
    /// `scan`, `cells`, `graph` (of cells), `flat` (a graph of all vectors): the row's name.
    pub id: String,
    /// Until all vectors are searched this way, seconds; the codes that a scan reads are made before.
    pub built_secs: f64,
    /// Anonymous memory (RssAnon) that it takes, MB; null where the system tells none.
    pub anon_mb: Option<f64>,
    /// Of all.
    pub all: Found,
    /// Of the oldest quarter.
    pub quarter: Found,
    /// Of a thousandth, in the middle.
    pub thousandth: Found,
}

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Found {
    /// How long it took.
    pub ms: Latency,
    /// Of the ten nearest of all that pass, those that were among the ten found, 0–1.
    pub recall_at_10: f64,
}

/// Fills a temporary store with `count` vectors and searches it each way.
///
/// # Errors
/// When the corpus, the sentence embedder or the store fails.
pub fn measure(
    config: &Config,
    count: usize,
    corpus: &Path,
    made: Made,
    flat: bool,
) -> Result<VectorFigures, BenchError> {
    let (_store, config) = scratch::store(config)?;
    let corpus = {
        let knowledge = Knowledge::open(&config)?;
        let corpus = embed_corpus(&knowledge, corpus)?;
        let memory = &knowledge.memory;
        fill(memory, &mut Filler::on(&corpus, memory).of(made), count, None)?;
        corpus
    };
    let mut figures = VectorFigures { vectors: count, made, ..VectorFigures::default() };
    let mut tests = None;
    for (id, search) in [
        ("scan", VectorSearch::Scan),
        ("cells", VectorSearch::Cells),
        ("graph", VectorSearch::Graph),
    ] {
        eprintln!("{id}");
        let mut config = config.clone();
        config.recall.vectors = search;
        let memory = open_store(&config)?;
        let before = rss_anon_mb();
        let begun = Instant::now();
        while memory.gather_vectors() {}
        let built_secs = begun.elapsed().as_secs_f64();
        let anon_mb = rss_anon_mb().zip(before).map(|(now, before)| now - before);
        let view = memory.view();
        let tests = tests.get_or_insert_with(|| Tests::of(&view, &corpus, count));
        let look = |query: &Embedding, filter: &Filter| {
            let among = view.passing(filter);
            view.nearest_looked(&Look::routed(query), K, filter, among.as_ref())
        };
        figures.dimensions = tests.queries.first().map_or(0, |query| query.values.len());
        figures.ways.push(WayFigures {
            id: id.to_owned(),
            built_secs,
            anon_mb,
            all: tests.search(0, &look),
            quarter: tests.search(1, &look),
            thousandth: tests.search(2, &look),
        });
    }
    if flat && let Some(tests) = &tests {
        eprintln!("flat");
        figures.ways.push(one_graph(&open_store(&config)?, tests));
    }
    Ok(figures)
}

/// Memories with their cosine, best first.
type Hits = Vec<(MemoryId, f32)>;

/// What is searched for, and what is right.
struct Tests {
    queries: Vec<Embedding>,
    filters: [Filter; 3],
    /// By filter and query: the ten nearest.
    right: Vec<Vec<Vec<MemoryId>>>,
}

impl Tests {
    fn of(view: &View, corpus: &Corpus, count: usize) -> Self {
        let queries: Vec<Embedding> =
            corpus.queries.iter().take(QUERIES).map(|(_, vector)| vector.clone()).collect();
        let spans = [None, Some(span_of(0, count / 4)), Some(span_of(count / 2, count / 1000))];
        let filters = spans.map(|span| Filter { span, ..Filter::default() });
        eprintln!("comparing with every vector");
        let asked: Vec<(&Embedding, &Filter)> = filters
            .iter()
            .flat_map(|filter| queries.iter().map(move |query| (query, filter)))
            .collect();
        let found = exact::nearest(view, &asked, K);
        let ids = |hits: &Hits| hits.iter().map(|(id, _)| *id).collect();
        let right = found
            .chunks(queries.len().max(1))
            .map(|found| found.iter().map(ids).collect())
            .collect();
        Self { queries, filters, right }
    }

    fn search(&self, number: usize, look: &dyn Fn(&Embedding, &Filter) -> Hits) -> Found {
        let (Some(filter), Some(right)) = (self.filters.get(number), self.right.get(number)) else {
            return Found::default();
        };
        let (mut times, mut found, mut all) = (Vec::new(), 0, 0);
        for round in 0..2 {
            for (query, right) in self.queries.iter().zip(right) {
                let begun = Instant::now();
                let hits = look(query, filter);
                // The first round warms up.
                if round == 1 {
                    times.push(begun.elapsed().as_secs_f64() * 1e3);
                    found += hits.iter().filter(|(id, _)| right.contains(id)).count();
                    all += right.len();
                }
            }
        }
        Found { ms: Latency::of(&mut times), recall_at_10: found as f64 / all.max(1) as f64 }
    }
}

fn vectors(view: &View) -> Vec<(MemoryId, Embedding)> {
    let Some(model) = view.any_model() else { return Vec::new() };
    let of = |id| Some((id, view.embedding(id, model)?));
    view.memories(&Filter::default()).iter().filter_map(|row| of(row.id)).collect()
}

/// One graph of all vectors, without filters.
fn one_graph(memory: &Memory, tests: &Tests) -> WayFigures {
    let vectors = vectors(&memory.view());
    let before = rss_anon_mb();
    let begun = Instant::now();
    let graph =
        Hnsw::<f32, DistDot>::new(LINKS, vectors.len(), LAYERS, LOOKED_AT_FOR_LINKS, DistDot);
    for (at, (_, vector)) in vectors.iter().enumerate() {
        graph.insert((&vector.values, at));
    }
    let built_secs = begun.elapsed().as_secs_f64();
    let anon_mb = rss_anon_mb().zip(before).map(|(now, before)| now - before);
    let look = |query: &Embedding, _: &Filter| {
        let near = graph.search(&query.values, K, LOOKED_AT);
        let hit = |at: usize, distance: f32| Some((vectors.get(at)?.0, 1.0 - distance));
        near.into_iter().filter_map(|near| hit(near.d_id, near.distance)).collect()
    };
    let all = tests.search(0, &look);
    WayFigures { id: "flat".to_owned(), built_secs, anon_mb, all, ..WayFigures::default() }
}
