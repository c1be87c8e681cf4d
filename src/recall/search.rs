//! The channels of recall, run on one view and fused.
//!
//! Meaning and words each bring candidates; every candidate is then judged by all that is known of it: its
//! cosine, its words, the words said around it, whether it is about someone the query names, whether it
//! lies in the time told. The weights were found on LoCoMo's first five conversations, each by the other four;
//! which features there are was chosen on all five.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::{EntityId, MemoryId};
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, Look, Order, View, Words};
use crate::time::Span;

use super::fuse::{Candidate, Reasons, diversify};
use super::query::{Hit, Query, Why};

/// What a cosine of 1 is worth.
const MEANING: f32 = 0.75;
/// What the best possible match of words is worth (no sentence comes near it).
const WORDS: f32 = 1.9;
/// A match of words that cannot be better in practice, as a share of the best possible.
const WORDS_IN_PRACTICE: f32 = 0.5;
/// What it is worth to be about someone the query names.
const ENTITY: f32 = 0.3;
/// What it is worth to lie in the time told.
const TIME: f32 = 0.3;
/// Each channel brings this many times `k`, …
const DEPTH: usize = 8;
/// … and at least so many.
const LEAST_DEPTH: usize = 100;
/// Thinned out is a list of so many times `k`.
const THINNED: usize = 3;
/// What was said this close to a hit may explain it, seconds.
const BESIDE_SECS: f64 = 15.0;

/// The memories that fit the query best, best first; each tells why it was found. The same view and query
/// give the same list.
#[must_use]
pub fn recall(view: &View, query: &Query) -> Vec<Hit> {
    let k = if query.k == 0 { 10 } else { query.k };
    let depth = (k * DEPTH).max(LEAST_DEPTH);
    let filter = Filter {
        span: query.span.filter(|_| query.strict),
        kinds: query.kinds.clone(),
        entities: if query.strict { query.entities.clone() } else { Vec::new() },
        valid_at: query.valid_at,
        ..Filter::default()
    };
    let asked = Asked::new(view, query);
    let pool = pool(view, query, &asked, &filter, (k, depth));
    if let Some(words) = &asked.words {
        words.look_up(pool.candidates.iter().copied());
    }
    let mut judged: Vec<Judged> = pool
        .candidates
        .iter()
        .filter(|id| !query.exclude.contains(id))
        .filter_map(|id| asked.judge(view, query, &pool, *id))
        .collect();
    judged.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.memory.id.cmp(&b.memory.id)));
    judged.truncate(k * THINNED);
    let model = query.vector.as_ref().map(|vector| vector.model).or_else(|| view.any_model());
    let candidates = judged
        .into_iter()
        .map(|judged| Candidate {
            score: judged.score,
            vector: model.and_then(|model| view.embedding(judged.memory.id, model)),
            text: judged.memory.text.clone(),
            item: (judged.memory, judged.why),
        })
        .collect();
    diversify(candidates, k)
        .into_iter()
        .map(|((memory, why), score)| Hit { memory, score: asked.share(score), why })
        .collect()
}

/// The query, made ready.
struct Asked<'v> {
    words: Option<Words<'v>>,
    /// Everyone it is about: resolved.
    about: BTreeSet<EntityId>,
    /// The best score that a memory has in practice.
    best: f32,
}

/// A memory with what speaks for it.
struct Judged {
    memory: Arc<MemoryRow>,
    score: f32,
    why: Vec<Why>,
}

/// What the channels bring.
#[derive(Default)]
struct Pool {
    candidates: BTreeSet<MemoryId>,
    /// Rank from 1 and cosine.
    meaning: BTreeMap<MemoryId, (usize, f32)>,
    /// Rank from 1.
    words: BTreeMap<MemoryId, usize>,
}

impl<'v> Asked<'v> {
    fn new(view: &'v View, query: &Query) -> Self {
        let mut named = view.named_in(&query.text);
        named.extend(&query.entities);
        let words = view.words_beside(&query.text, &named);
        let words = (!words.is_empty()).then(|| view.words(&words));
        let about: BTreeSet<EntityId> = named.iter().map(|id| view.resolve(*id)).collect();
        let best = query.vector.as_ref().map_or(0.0, |_| MEANING)
            + words.as_ref().map_or(0.0, |_| WORDS * WORDS_IN_PRACTICE)
            + if about.is_empty() { 0.0 } else { ENTITY }
            + query.span.map_or(0.0, |_| TIME);
        Self { words, about, best: best.max(f32::MIN_POSITIVE) }
    }

    fn share(&self, score: f32) -> f32 {
        (score / self.best).clamp(0.0, 1.0)
    }

    fn judge(&self, view: &View, query: &Query, pool: &Pool, id: MemoryId) -> Option<Judged> {
        let memory = view.memory(id)?;
        let mut reasons = Reasons::default();
        if let Some(vector) = &query.vector {
            let known = pool.meaning.get(&id).copied();
            let cosine = known.map(|(_, cosine)| cosine).or_else(|| view.cosine(id, vector));
            if let Some(cosine) = cosine {
                let gain = MEANING * cosine;
                let rank = known.map(|(rank, _)| rank);
                reasons.add(gain, rank.map(|rank| Why::Meaning(rank, cosine)));
            }
        }
        if let Some(words) = &self.words {
            let (own, around, strongest) = words.of(id);
            let worth = WORDS / words.best().max(f32::MIN_POSITIVE);
            let rank = pool.words.get(&id).copied();
            reasons.add(worth * own, (own > 0.0).then(|| Why::Words(rank.unwrap_or(0), own)));
            reasons.add(worth * around, strongest.map(Why::Beside));
        }
        if let Some(entity) =
            memory.entities.iter().map(|id| view.resolve(*id)).find(|id| self.about.contains(id))
        {
            reasons.add(ENTITY, Some(Why::Entity(entity)));
        }
        if query.span.is_some_and(|span| touches(span, memory.span)) {
            reasons.add(TIME, Some(Why::Time));
        }
        let (score, why) = reasons.sorted();
        Some(Judged { memory, score, why })
    }
}

fn touches(a: Span, b: Span) -> bool {
    a.contains(b.start) || b.contains(a.start) || a.start == b.start
}

/// The best of each channel; where time is only a hint, the best of that time too. What is told by hints
/// alone comes newest first, where the channels give too little.
fn pool(
    view: &View,
    query: &Query,
    asked: &Asked<'_>,
    filter: &Filter,
    (k, depth): (usize, usize),
) -> Pool {
    let mut pool = Pool::default();
    let then = Filter { span: query.span, ..filter.clone() };
    let mut filters = vec![(filter, depth)];
    if query.span.is_some() && !query.strict {
        filters.push((&then, depth / 2));
    }
    let look = query.vector.as_ref().map(Look::new);
    for (filter, depth) in filters {
        let among = view.passing(filter);
        if let Some(look) = &look {
            let near = view.nearest_looked(look, depth, filter, among.as_ref());
            for (rank, (id, cosine)) in near.into_iter().enumerate() {
                pool.meaning.entry(id).or_insert((rank + 1, cosine));
            }
        }
        if let Some(words) = &asked.words {
            let top = words.top(depth, filter, among.as_ref());
            for (rank, id) in top.into_iter().enumerate() {
                pool.words.entry(id).or_insert(rank + 1);
            }
        }
    }
    pool.candidates.extend(pool.meaning.keys());
    pool.candidates.extend(pool.words.keys());
    if pool.candidates.len() < k + query.exclude.len() {
        let newest = |span, entities| Filter {
            span,
            entities,
            limit: Some(depth + query.exclude.len()),
            order: Order::NewestFirst,
            ..filter.clone()
        };
        let mut hints: Vec<Filter> =
            query.entities.iter().map(|id| newest(filter.span, vec![*id])).collect();
        hints.extend(query.span.map(|span| newest(Some(span), filter.entities.clone())));
        for hint in hints {
            pool.candidates.extend(view.memories(&hint).iter().map(|row| row.id));
        }
    }
    pool
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
