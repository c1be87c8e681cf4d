//! The channels of recall, run on one view and fused.
//!
//! Meaning and words each bring candidates; every candidate is then judged by all that is known of it: its
//! cosine, its words, the words said around it, whether it is about someone the query names or someone who belongs to
//! them, whether it lies in the time told or at the place told. The weights were found on LoCoMo's first five
//! conversations, each by the other four; which features there are was chosen on all five. (It has no places and no
//! facts: those weights are set beside the others.)

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::{EntityId, MemoryId};
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, IdSet, Look, Order, View, Words, with_kin};
use crate::time::Span;

use super::fuse::{Candidate, Reasons, diversify};
use super::place::Place;
use super::query::{Hit, Query, Why};

/// What a cosine of 1 is worth.
const MEANING: f32 = 0.75;
/// What the best possible match of words is worth (no sentence comes near it).
const WORDS: f32 = 1.9;
/// A match of words that cannot be better in practice, as a share of the best possible.
const WORDS_IN_PRACTICE: f32 = 0.5;
/// What it is worth to be about someone the query names.
const ENTITY: f32 = 0.3;
/// What it is worth to be about someone whom a fact joins with someone the query names: one hop over the graph.
const RELATED: f32 = 0.05;
/// What it is worth to lie in the time told.
const TIME: f32 = 0.3;
/// What it is worth to be of the place told.
const PLACE: f32 = 0.3;
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
    // Of equals the newest first.
    let age = |one: &Judged| (one.memory.span.start, one.memory.id);
    judged.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| age(b).cmp(&age(a))));
    judged.truncate(k * THINNED);
    let model = query.vector.as_ref().map(|vector| vector.model).or_else(|| view.any_model());
    let candidates = judged
        .into_iter()
        .map(|judged| Candidate {
            score: judged.score,
            vector: model.and_then(|model| view.embedding(judged.memory.id, model)),
            text: judged.memory.text.clone(),
            at: judged.memory.span.start,
            importance: judged.memory.importance,
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
    /// Those who belong to them.
    related: BTreeSet<EntityId>,
    place: Option<Place>,
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

impl Pool {
    /// What was said in the open window is in no index: it takes its rank among what the indexes brought.
    fn said(&mut self, view: &View, query: &Query, asked: &Asked<'_>, id: MemoryId) {
        if let Some(cosine) = query.vector.as_ref().and_then(|vector| view.cosine(id, vector)) {
            let nearer = self.meaning.values().filter(|(_, other)| *other > cosine).count();
            self.meaning.insert(id, (nearer + 1, cosine));
        }
        if let Some(words) = &asked.words {
            let own = words.of(id).0;
            if own > 0.0 {
                let better = self.words.keys().filter(|other| words.of(**other).0 > own).count();
                self.words.insert(id, better + 1);
            }
        }
    }
}

impl<'v> Asked<'v> {
    fn new(view: &'v View, query: &Query) -> Self {
        let mut named = view.named_in(&query.text);
        named.extend(&query.entities);
        let words: BTreeSet<_> = with_kin(view.words_beside(&query.text, &named)).collect();
        let words = (!words.is_empty()).then(|| view.words(&words));
        let about: BTreeSet<EntityId> = named.iter().map(|id| view.resolve(*id)).collect();
        let related = if about.is_empty() { BTreeSet::new() } else { view.related(&about) };
        let place = query.place.as_deref().map(|told| Place::of(view, told));
        let best = query.vector.as_ref().map_or(0.0, |_| MEANING)
            + words.as_ref().map_or(0.0, |_| WORDS * WORDS_IN_PRACTICE)
            + if about.is_empty() { 0.0 } else { ENTITY }
            + query.span.map_or(0.0, |_| TIME)
            + place.as_ref().map_or(0.0, |_| PLACE);
        Self { words, about, related, place, best: best.max(f32::MIN_POSITIVE) }
    }

    fn share(&self, score: f32) -> f32 {
        (score / self.best).clamp(0.0, 1.0)
    }

    fn judge(&self, view: &View, query: &Query, pool: &Pool, id: MemoryId) -> Option<Judged> {
        let memory = view.memory(id)?;
        let mut reasons = Reasons::default();
        if let Some(place) = &self.place {
            match place.holds(view, &memory) {
                true => reasons.add(PLACE, Some(Why::Place)),
                false if query.strict => return None,
                false => {}
            }
        }
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
        let mut entities = memory.entities.iter().map(|id| view.resolve(*id));
        if let Some(entity) = entities.clone().find(|id| self.about.contains(id)) {
            reasons.add(ENTITY, Some(Why::Entity(entity)));
        } else if !self.related.is_empty()
            && let Some(entity) = entities.find(|id| self.related.contains(id))
        {
            reasons.add(RELATED, Some(Why::Related(entity)));
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

/// The best of each channel; where time and place are only hints, the best of that time and of that place too. What is
/// told by hints alone comes newest first, where the channels give too little.
fn pool(
    view: &View,
    query: &Query,
    asked: &Asked<'_>,
    filter: &Filter,
    (k, depth): (usize, usize),
) -> Pool {
    let mut pool = Pool::default();
    let then = Filter { span: query.span, ..filter.clone() };
    let there: Option<IdSet> = asked.place.as_ref().map(|place| place.passing(view, filter));
    let strict_place = there.as_ref().filter(|_| query.strict);
    let everywhere = if strict_place.is_none() { view.worth_passing(filter) } else { None };
    let mut passes = vec![(filter, depth, strict_place.or(everywhere.as_ref()))];
    let in_time = query.span.filter(|_| !query.strict).and_then(|_| view.passing(&then));
    passes.extend(in_time.as_ref().map(|among| (&then, depth / 2, Some(among))));
    let at_place = there.as_ref().filter(|_| !query.strict);
    passes.extend(at_place.map(|among| (filter, depth / 2, Some(among))));
    let look = query.vector.as_ref().map(Look::routed);
    for (filter, depth, among) in passes {
        if let Some(look) = &look {
            let near = view.nearest_looked(look, depth, filter, among);
            for (rank, (id, cosine)) in near.into_iter().enumerate() {
                pool.meaning.entry(id).or_insert((rank + 1, cosine));
            }
        }
        if let Some(words) = &asked.words {
            let top = words.top(depth, filter, among);
            for (rank, id) in top.into_iter().enumerate() {
                pool.words.entry(id).or_insert(rank + 1);
            }
        }
    }
    for id in view.said_passing(filter) {
        pool.said(view, query, asked, id);
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
        let there = there.iter().flat_map(|set| set.newest(depth + query.exclude.len()));
        pool.candidates.extend(there);
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
    use crate::ids::{ClipId, EntityId, EntityKind};
    use crate::media::Pose;
    use crate::memory::model::{Clip, Fact, NameRow, NameSource, PoseRow};
    use crate::memory::testing::memory_row;
    use crate::memory::{Draft, Memory, POSITION, Point, StoreOptions, position_value};
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

    /// A memory of two seconds that says nothing yet.
    fn row(secs: f64) -> MemoryRow {
        let span = Span::new(at(secs), at(secs + 2.0));
        MemoryRow { importance: 0.3, ..memory_row(MemoryKind::Episodic, "", span) }
    }

    /// Puts a memory into a draft that tells of some and may state a fact.
    fn tell(
        draft: &mut Draft,
        secs: f64,
        text: &str,
        entities: &[EntityId],
        fact: Option<(&str, &str, &str)>,
    ) -> MemoryId {
        let id = draft.new_memory_id();
        let fact = fact.map(|(subject, attribute, value)| Fact {
            subject: subject.to_owned(),
            attribute: attribute.to_owned(),
            value: value.to_owned(),
        });
        let kind = if fact.is_some() { MemoryKind::Semantic } else { MemoryKind::Episodic };
        let (text, entities) = (text.to_owned(), entities.to_vec());
        draft.memory(MemoryRow { id, kind, text, entities, fact, ..row(secs) }, None);
        id
    }

    fn name(draft: &mut Draft, entity: EntityId, name: &str) {
        let (name, source) = (name.to_owned(), NameSource::Told);
        draft.name(NameRow { entity, name, since: at(0.0), source, turn: None });
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
            draft.memory(MemoryRow { id, kind, text, entities, ..row(secs) }, vector);
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
            eprintln!("SKIPPED: no sentence embedder (make setup)");
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

    #[test]
    fn of_equals_the_newest_is_found_first() {
        let (_dir, memory, ava) = store(None);
        let view = memory.view();
        let words = Query { text: "terrible weather".into(), k: 2, ..Query::default() };
        let hints = Query { entities: vec![ava], k: 3, ..Query::default() };
        for query in [words, hints] {
            let hits = recall(&view, &query);
            assert_eq!(hits[0].memory.span.start, at(50.0), "{query:?}");
        }
    }

    #[test]
    fn memories_of_a_place_are_those_made_there_and_those_that_name_it() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let mut draft = memory.begin(at(200.0));
        let session = draft.new_session(at(0.0), 100.0, None);
        let clip = ClipId { session, index: 0 };
        let span = Span::new(at(0.0), at(100.0));
        let (frames, analysed, dropped, key_frames) = (0, 0, 0, Vec::new());
        draft.clip(Clip { id: clip, span, frames, analysed, dropped, key_frames });
        let kitchen = draft.new_entity(EntityKind::Place);
        name(&mut draft, kitchen, "Kitchen");
        // Ten seconds in the kitchen, then far from it.
        for second in 0..60 {
            let (stamp, x) = (at(f64::from(second)), if second < 10 { 1.0 } else { 20.0 });
            let pose = Pose { stamp, x, y: 0.0, yaw: 0.0, frame: "map".into() };
            draft.pose(PoseRow { clip, pose });
        }
        let position = position_value(&Point { frame: "map".into(), x: 1.0, y: 0.0 });
        let (subject, lies) = (kitchen.to_string(), format!("<{kitchen}> lies there."));
        tell(&mut draft, 10.0, &lies, &[kitchen], Some((&subject, POSITION, &position)));
        let told = tell(
            &mut draft,
            150.0,
            "The dog's bowl is in the kitchen.",
            &[],
            Some(("bowl", "location", "in the kitchen")),
        );
        tell(&mut draft, 151.0, "The dog is in the kitchenette.", &[], None);
        let mut seen = Vec::new();
        for secs in [4.0, 40.0] {
            let id = draft.new_memory_id();
            let text = "The dog slept.".to_owned();
            draft.memory(MemoryRow { id, text, clip: Some(clip), ..row(secs) }, None);
            seen.push(id);
        }
        draft.commit().unwrap();
        let view = memory.view();
        let ids = |query: &Query| -> Vec<MemoryId> {
            recall(&view, query).iter().map(|hit| hit.memory.id).collect()
        };
        let here = |place: &str, strict| Query {
            text: "dog".into(),
            place: Some(place.into()),
            strict,
            k: 10,
            ..Query::default()
        };
        for place in ["the kitchen", "Kitchen", "place_1"] {
            let found = ids(&here(place, true));
            assert!(found.contains(&seen[0]), "{place}: {found:?}");
            assert!(!found.contains(&seen[1]), "{place}: {found:?}");
        }
        let hits = recall(&view, &here("kitchen", true));
        assert!(hits.iter().all(|hit| hit.why.contains(&Why::Place)), "{hits:?}");
        assert!(hits.iter().any(|hit| hit.memory.id == told));
        assert_eq!(hits.len(), 3, "the third is where it lies: {hits:?}");
        // A hint moves them forward and leaves the others.
        let hinted = ids(&here("kitchen", false));
        assert_eq!(hinted[0], seen[0]);
        assert!(hinted.contains(&seen[1]));
        assert_eq!(ids(&here("garage", true)), []);
        // With nothing else told: what there is of it.
        let all = ids(&Query { text: String::new(), ..here("kitchen", true) });
        assert_eq!(all.len(), 3, "{all:?}");
    }

    #[test]
    fn one_hop_over_the_graph_finds_those_who_belong_to_the_one_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let mut draft = memory.begin(at(200.0));
        let [ava, ben, cleo] = ["Ava", "Ben", "Cleo"].map(|called| {
            let person = draft.new_entity(EntityKind::Person);
            name(&mut draft, person, called);
            person
        });
        let mends = |who: EntityId| format!("<{who}> mends the bicycle.");
        let of_ben = tell(&mut draft, 10.0, &mends(ben), &[ben], None);
        let of_cleo = tell(&mut draft, 20.0, &mends(cleo), &[cleo], None);
        draft.commit().unwrap();
        let query = Query { text: "Ava's bicycle".into(), k: 2, ..Query::default() };
        let order = |memory: &Memory| -> Vec<MemoryId> {
            recall(&memory.view(), &query).iter().map(|hit| hit.memory.id).collect()
        };
        assert_eq!(order(&memory), [of_cleo, of_ben], "the newest of equals");

        let mut draft = memory.begin(at(201.0));
        let (subject, value) = (ava.to_string(), format!("sister of <{ben}>"));
        let text = format!("<{ava}> is the sister of <{ben}>.");
        tell(&mut draft, 30.0, &text, &[ava, ben], Some((&subject, "relation", &value)));
        draft.commit().unwrap();
        let view = memory.view();
        assert_eq!(view.related(&BTreeSet::from([ava])), BTreeSet::from([ben]));
        assert_eq!(view.related(&BTreeSet::from([ben])), BTreeSet::from([ava]));
        assert_eq!(view.related(&BTreeSet::from([cleo])), BTreeSet::new());
        let hits = recall(&view, &Query { k: 3, ..query.clone() });
        let place = |id| hits.iter().position(|hit| hit.memory.id == id).unwrap();
        assert!(place(of_ben) < place(of_cleo), "{hits:?}");
        assert!(hits[place(of_ben)].why.contains(&Why::Related(ben)));
        // Before it was told, nobody knew.
        let past = memory.view_as_of(crate::memory::AsOf::Seq(crate::ids::Seq(1))).unwrap();
        assert_eq!(past.related(&BTreeSet::from([ava])), BTreeSet::new());
    }
}
