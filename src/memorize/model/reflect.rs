//! Reflection by a language model (Park et al., Generative Agents, UIST 2023, section 4.2): what follows from many
//! memories together, each conclusion with the memories that it rests on.
//!
//! What is admitted names only who was in those memories, rests on at least two of them, and is not known yet. What
//! follows by counting (habits, company, frequencies) is concluded without a model: `memorize::upkeep`.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::identify::Persons;
use crate::ids::{EntityId, Seq};
use crate::llm::{Budget, ChatRequest, Message, Role, Schema, fill, json};
use crate::memorize::{Author, Memorizer, Sentence, Verdict};
use crate::memory::model::{FactAction, Ground, MemoryKind, MemoryRow};
use crate::memory::{Draft, Filter, Order, View};
use crate::mention;
use crate::time::{Span, Timestamp};

use super::admit::worded;
use super::request::fenced;
use super::{ClipCost, MemorizeFault, ModelMemorizer};

/// The job of upkeep by which it is known how far reflection has come.
pub const REFLECT_BY_MODEL: &str = "reflect_by_model";
/// Memories that are looked back upon.
const MOST_MEMORIES: usize = 80;
/// Conclusions told before that are shown.
const MOST_KNOWN: usize = 20;
/// Conclusions of one reflection.
const MOST: usize = 5;
/// Memories that a conclusion must rest on.
const LEAST_EVIDENCE: usize = 2;
/// Longest sentence, characters.
const TEXT_CHARS: usize = 400;
/// However sure a model is: what it concludes was not observed.
const MOST_CONFIDENCE: f32 = 0.7;

/// What a model concludes from several memories.
#[derive(Clone, Debug, PartialEq)]
pub struct Insight {
    /// The sentence, as the model wrote it.
    pub text: String,
    /// What it rests on: places in the list of memories that were given, from 0.
    pub evidence: BTreeSet<usize>,
    /// 0–1.
    pub importance: f32,
    /// 0–1.
    pub confidence: f32,
}

/// The newest memories that came since, the weightiest of them where they are many, in time order.
#[must_use]
pub fn to_reflect_upon(view: &View, since: Seq) -> Vec<Arc<MemoryRow>> {
    let came = usize::try_from(view.written_since(since)).unwrap_or(usize::MAX / 4);
    let filter = Filter {
        kinds: vec![
            MemoryKind::Utterance,
            MemoryKind::Episodic,
            MemoryKind::Semantic,
            MemoryKind::Note,
        ],
        limit: Some(came.clamp(MOST_MEMORIES, 10 * MOST_MEMORIES)),
        order: Order::NewestFirst,
        ..Filter::default()
    };
    let mut rows = view.memories(&filter);
    rows.sort_by(|a, b| {
        b.importance
            .total_cmp(&a.importance)
            .then(b.span.start.cmp(&a.span.start))
            .then(a.id.cmp(&b.id))
    });
    rows.truncate(MOST_MEMORIES);
    rows.sort_by_key(|row| (row.span.start, row.id));
    rows
}

/// What a model concluded before, newest first.
#[must_use]
pub fn concluded_before(view: &View, origin: &str) -> Vec<Arc<MemoryRow>> {
    let kinds = vec![MemoryKind::Reflection];
    let filter = Filter { kinds, order: Order::NewestFirst, ..Filter::default() };
    let mut rows = view.memories(&filter);
    rows.retain(|row| row.origin == origin);
    rows.truncate(MOST_KNOWN);
    rows
}

impl ModelMemorizer {
    /// What the model concludes from memories; `known` was concluded before.
    ///
    /// # Errors
    /// As [`ModelMemorizer::conclude`].
    pub fn reflect(
        &self,
        memories: &[Arc<MemoryRow>],
        known: &[Arc<MemoryRow>],
        now: Timestamp,
        budget: &Budget,
    ) -> Result<(Vec<Insight>, ClipCost), MemorizeFault> {
        let numbered: Vec<String> = (1..)
            .zip(memories)
            .map(|(number, row)| format!("{number}. {}: {}", row.span.start, fenced(&row.text)))
            .collect();
        let known: Vec<String> = known.iter().map(|row| fenced(&row.text)).collect();
        let known = if known.is_empty() { "(nothing)".to_owned() } else { known.join("\n") };
        let rules = fill(&self.prompts.reflect, &[("most", &MOST.to_string())]);
        let records =
            [("now", now.to_string()), ("known", known), ("memories", numbered.join("\n"))];
        let records: Vec<(&str, &str)> =
            records.iter().map(|(place, text)| (*place, text.as_str())).collect();
        let request = ChatRequest {
            messages: vec![
                Message::text(Role::System, rules.trim()),
                Message::text(Role::User, fill(&self.prompts.reflect_memories, &records)),
            ],
            schema: Some(schema()),
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            thinking_tokens: self.thinking_tokens,
            ..ChatRequest::default()
        };
        self.exchange(request, budget, |text| read(text, memories.len()))
    }
}

fn schema() -> Schema {
    let number = json!({ "type": "number" });
    let one = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string" },
            "evidence": { "type": "array", "maxItems": 16, "items": { "type": "integer" } },
            "importance": number,
            "confidence": number,
        },
        "required": ["text", "evidence", "importance", "confidence"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": { "conclusions": { "type": "array", "maxItems": MOST, "items": one } },
        "required": ["conclusions"],
        "additionalProperties": false,
    });
    Schema { name: "conclusions", schema }
}

/// The reply as conclusions from so many memories; what is no conclusion is left out.
fn read(text: &str, memories: usize) -> Result<Vec<Insight>, String> {
    let object = json::object(text).ok_or_else(|| "it held no JSON object".to_owned())?;
    let list = object.get("conclusions").and_then(Value::as_array);
    let list = list.ok_or_else(|| "it held no list \"conclusions\"".to_owned())?;
    Ok(list.iter().take(MOST).filter_map(|item| insight(item, memories)).collect())
}

fn insight(item: &Value, memories: usize) -> Option<Insight> {
    let text: String = item.get("text")?.as_str()?.trim().chars().take(TEXT_CHARS).collect();
    let numbers = item.get("evidence")?.as_array()?.iter().filter_map(Value::as_u64);
    let places = numbers.filter_map(|number| usize::try_from(number).ok()?.checked_sub(1));
    let unit = |key: &str, otherwise: f64| {
        item.get(key).and_then(Value::as_f64).unwrap_or(otherwise).clamp(0.0, 1.0) as f32
    };
    Some(Insight {
        evidence: places.filter(|place| *place < memories).collect(),
        importance: unit("importance", 0.5),
        confidence: unit("confidence", 0.5),
        text,
    })
}

impl Memorizer {
    /// Writes conclusions drawn from `memories`; gives back the new memories, and how many were refused.
    pub fn admit_insights(
        &self,
        (found, memories): (&[Insight], &[Arc<MemoryRow>]),
        origin: &str,
        persons: &Persons,
        before: &View,
        draft: &mut Draft,
    ) -> (Vec<MemoryRow>, usize) {
        let (mut rows, mut refused) = (Vec::<MemoryRow>::new(), 0);
        for insight in found {
            let Some(sentence) = grounded(insight, memories, persons, before) else {
                refused += 1;
                continue;
            };
            let told = rows.iter().any(|row| row.text == sentence.text)
                || memories.iter().any(|row| row.text == sentence.text);
            if told || self.is_known(&sentence, persons, before) {
                continue;
            }
            rows.push(self.write(sentence, Author { clip: None, origin, persons }, draft));
        }
        (rows, refused)
    }
}

/// The conclusion as a sentence on its evidence; `None`: it rests on too little, or names who is not in it.
fn grounded(
    insight: &Insight,
    memories: &[Arc<MemoryRow>],
    persons: &Persons,
    before: &View,
) -> Option<Sentence> {
    // Erased or taken back while the model thought about it.
    let evidence: Vec<&Arc<MemoryRow>> = insight
        .evidence
        .iter()
        .filter_map(|place| memories.get(*place))
        .filter(|row| before.memory(row.id).is_some_and(|now| now.text == row.text))
        .collect();
    if evidence.len() < LEAST_EVIDENCE {
        return None;
    }
    let known = |id: EntityId| persons.person_of(id).unwrap_or_else(|| persons.resolve(id));
    let given: BTreeSet<EntityId> =
        memories.iter().flat_map(|row| row.entities.iter().map(|id| known(*id))).collect();
    let entity =
        |id: Option<EntityId>| id.map(known).filter(|id| given.contains(id) && before.knows(*id));
    let text = worded(&insight.text, entity)?;
    let start = evidence.iter().map(|row| row.span.start).min()?;
    let end = evidence.iter().map(|row| row.span.end).max()?;
    let mut about: Vec<EntityId> =
        mention::mentions(&text).into_iter().map(|one| one.entity).collect();
    about.sort_unstable();
    about.dedup();
    let grounds = evidence.iter().map(|row| Ground::Memory(row.id)).collect();
    let mut sentence = Sentence::new(MemoryKind::Reflection, text, Span::new(start, end), grounds);
    sentence.about = about;
    sentence.importance = insight.importance;
    sentence.confidence = insight.confidence.min(MOST_CONFIDENCE);
    let (action, reason) = (FactAction::Add, "concluded by the model".to_owned());
    sentence.verdict = Some(Verdict { action, other: None, reason });
    Some(sentence)
}
