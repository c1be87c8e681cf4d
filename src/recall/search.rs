//! The channels of recall, run on one view and fused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::MemoryId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, Order, View};
use crate::mention;
use crate::time::Span;

use super::fuse::{Candidate, Fusion, diversify};
use super::query::{Hit, Query, Why};

/// Weights of the channels.
const MEANING: f32 = 1.0;
const WORDS: f32 = 1.2;
const ENTITY: f32 = 0.5;
const TIME: f32 = 0.5;
/// Relevance against likeness when the list is thinned out.
const LAMBDA: f32 = 0.85;
/// Each channel gives at most this many times `k`.
const DEPTH: usize = 4;
/// What was said this close to a hit may explain it, seconds.
const BESIDE_SECS: f64 = 15.0;

/// The memories that fit the query best, best first; each tells why it was found. The same view and query
/// give the same list.
#[must_use]
pub fn recall(view: &View, query: &Query) -> Vec<Hit> {
    let k = if query.k == 0 { 10 } else { query.k };
    let depth = (k * DEPTH).max(40);
    let filter = Filter {
        span: query.span.filter(|_| query.strict),
        kinds: query.kinds.clone(),
        entities: if query.strict { query.entities.clone() } else { Vec::new() },
        valid_at: query.valid_at,
        ..Filter::default()
    };
    let mut fusion = Fusion::default();
    if let Some(vector) = &query.vector {
        fusion.add(MEANING, view.nearest(vector, depth, &filter), Why::Meaning);
    }
    if !query.text.trim().is_empty() {
        fusion.add(WORDS, view.lexical(&query.text, depth, &filter), Why::Words);
    }
    let hint = |span: Option<Span>, entities| Filter {
        span,
        entities,
        limit: Some(depth),
        order: Order::NewestFirst,
        ..filter.clone()
    };
    if !query.entities.is_empty() {
        let mut about: BTreeMap<MemoryId, Why> = BTreeMap::new();
        for entity in &query.entities {
            for row in view.memories(&hint(filter.span, vec![*entity])) {
                about.entry(row.id).or_insert(Why::Entity(*entity));
            }
        }
        fusion.add_flat(ENTITY, about);
    }
    if let Some(span) = query.span {
        let then = view.memories(&hint(Some(span), filter.entities.clone()));
        fusion.add_flat(TIME, then.into_iter().map(|row| (row.id, Why::Time)));
    }
    let ranked = fusion.ranked();
    let candidates: Vec<_> = ranked
        .into_iter()
        .filter(|(id, ..)| !query.exclude.contains(id))
        .take(depth)
        .filter_map(|(id, score, why)| {
            let memory = view.memory(id)?;
            let text = mention::render(&memory.text, |_| String::new());
            Some(Candidate { item: (memory, why), score, vector: view.embedding(id), text })
        })
        .collect();
    diversify(candidates, k, LAMBDA)
        .into_iter()
        .map(|((memory, why), score)| Hit { memory, score, why })
        .collect()
}

/// Utterances said just before and after the hits, not among them yet, in time order: what a quote needs to
/// be understood.
#[must_use]
pub fn beside(view: &View, hits: &[Hit]) -> Vec<Hit> {
    let mut known: BTreeSet<MemoryId> = hits.iter().map(|hit| hit.memory.id).collect();
    let mut found: Vec<Hit> = Vec::new();
    for hit in hits {
        let (start, end) = (hit.memory.span.start, hit.memory.span.end);
        let around = Span::new(start.plus_secs(-BESIDE_SECS), end.plus_secs(BESIDE_SECS));
        let utterances: Vec<Arc<MemoryRow>> = view.memories(&Filter {
            span: Some(around),
            kinds: vec![MemoryKind::Utterance],
            ..Filter::default()
        });
        let before = utterances.iter().rev().find(|row| row.span.end <= start);
        let after = utterances.iter().find(|row| row.span.start >= end);
        for row in [before, after].into_iter().flatten() {
            if known.insert(row.id) {
                found.push(Hit {
                    memory: Arc::clone(row),
                    score: hit.score * 0.5,
                    why: vec![Why::Beside(hit.memory.id)],
                });
            }
        }
    }
    found.sort_by_key(|hit| (hit.memory.span.start, hit.memory.id));
    found
}
