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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::{EntityId, EntityKind};
    use crate::memory::model::{NameRow, NameSource};
    use crate::memory::{Memory, StoreOptions};
    use crate::text::{MiniLm, TextEmbedder, for_embedding};
    use crate::time::Timestamp;

    fn at(secs: f64) -> Timestamp {
        Timestamp::from_nanos(1_700_000_000_000_000_000).plus_secs(secs)
    }

    fn embedder() -> Option<MiniLm> {
        let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/models");
        let (model, words) = ("minilm_l6_v2_int8.onnx", "minilm_tokenizer.json");
        MiniLm::open(&models.join(model), &models.join(words), 1).ok()
    }

    fn store(embedder: Option<&MiniLm>) -> (tempfile::TempDir, Memory, EntityId) {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let mut draft = memory.begin(at(100.0));
        let ava = draft.new_entity(EntityKind::Person);
        let name = NameRow {
            entity: ava,
            name: "Ava".into(),
            since: at(0.0),
            source: NameSource::Told,
            turn: None,
        };
        draft.name(name);
        let said = |who: Option<EntityId>, words: &str| match who {
            Some(who) => format!("<{who}> said: {words}"),
            None => words.to_owned(),
        };
        let rows = [
            (10.0, MemoryKind::Utterance, said(Some(ava), "I put the cup on the shelf.")),
            (20.0, MemoryKind::Utterance, said(Some(ava), "The weather is terrible today.")),
            (30.0, MemoryKind::Note, said(None, "Dinner is at seven.")),
            (40.0, MemoryKind::Episodic, said(None, "The dog barked at the door.")),
            (50.0, MemoryKind::Utterance, said(Some(ava), "The weather is terrible today.")),
        ];
        for (secs, kind, text) in rows {
            let id = draft.new_memory_id();
            let worded = for_embedding(&text, |_| Some("Ava".into()));
            let vector = embedder.map(|embedder| embedder.embed(&worded).unwrap());
            let entities = if text.contains("said") { vec![ava] } else { Vec::new() };
            draft.memory(
                MemoryRow {
                    id,
                    kind,
                    text,
                    span: Span::new(at(secs), at(secs + 2.0)),
                    clip: None,
                    entities,
                    fact: None,
                    importance: 0.3,
                    confidence: 0.9,
                    pinned: false,
                    valid_from: at(secs),
                    valid_to: None,
                    grounds: Vec::new(),
                    origin: "builtin".into(),
                },
                vector,
            );
        }
        draft.commit().unwrap();
        (dir, memory, ava)
    }

    #[test]
    fn each_hit_tells_why_it_was_found() {
        let (_dir, memory, ava) = store(None);
        let view = memory.view();
        let query = Query {
            text: "terrible weather".into(),
            entities: vec![ava],
            span: Some(Span::new(at(15.0), at(25.0))),
            k: 3,
            ..Query::default()
        };
        let hits = recall(&view, &query);
        assert_eq!(hits[0].memory.span.start, at(20.0));
        assert_eq!(hits[0].why.len(), 3, "{:?}", hits[0].why);
        assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score) && !hit.why.is_empty()));
        // Shown already: the next best come instead.
        let shown = hits.iter().map(|hit| hit.memory.id).collect();
        let next = recall(&view, &Query { exclude: shown, ..query.clone() });
        assert!(next.iter().all(|hit| hits.iter().all(|old| old.memory.id != hit.memory.id)));
        // Conditions cut, hints do not.
        let strict = recall(&view, &Query { strict: true, ..query });
        assert_eq!(strict.len(), 1);
        let around = beside(&view, &hits[..1]);
        assert_eq!(around[0].why, [Why::Beside(hits[0].memory.id)]);
    }

    #[test]
    fn meaning_finds_what_words_do_not() {
        let Some(embedder) = embedder() else {
            eprintln!("skipped: no sentence embedder (make setup)");
            return;
        };
        let (_dir, memory, _) = store(Some(&embedder));
        let text = "Where did she leave the mug?";
        let query = Query {
            text: text.into(),
            vector: Some(embedder.embed(text).unwrap()),
            k: 3,
            ..Query::default()
        };
        let hits = recall(&memory.view(), &query);
        assert_eq!(hits[0].memory.span.start, at(10.0));
        let near = |why: &Why| matches!(why, Why::Meaning(1, cosine) if *cosine > 0.3);
        assert!(hits[0].why.iter().any(near), "{:?}", hits[0].why);
    }
}
