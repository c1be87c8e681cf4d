//! Memories for a text; and a question's answer as it crosses MQTT and the command line.

use serde::Deserialize;
use serde_json::{Value, json};

use super::find::find;
use super::refusal;
use super::show::line;
use crate::answer::{Answerer, Effort, Errand, Question};
use crate::memory::model::MemoryKind;
use crate::memory::{Memory, View};
use crate::mqtt::Refusal;
use crate::mqtt::message::{self, Ask};
use crate::recall::{Query, recall as recalled};
use crate::text::TextEmbedder;
use crate::time::{Span, Timestamp};

/// Hits given at most.
const MAX_HITS: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallArgs {
    /// The text.
    query: String,
    /// How many.
    #[serde(default)]
    limit: Option<usize>,
    /// Only from here …
    #[serde(default)]
    start: Option<Timestamp>,
    /// … to here.
    #[serde(default)]
    end: Option<Timestamp>,
    /// Only about this one: an id or a name.
    #[serde(default)]
    entity: Option<String>,
    /// Only these kinds.
    #[serde(default)]
    kinds: Vec<MemoryKind>,
}

/// `{"query","hits":[{"memory","kind","text","start","end","clip","entities","score","why"}]}`.
pub(super) fn recall(
    view: &View,
    embedder: Option<&dyn TextEmbedder>,
    args: RecallArgs,
) -> Result<Value, Refusal> {
    let entity = args.entity.as_deref().map(|word| find(view, word)).transpose()?;
    let span = (args.start.is_some() || args.end.is_some()).then(|| {
        Span::new(args.start.unwrap_or(Timestamp::EPOCH), args.end.unwrap_or(Timestamp::MAX))
    });
    let vector = embedder.and_then(|embedder| {
        let embedded = embedder.embed(&args.query);
        embedded.inspect_err(|error| tracing::debug!(%error, "recalled by words alone")).ok()
    });
    let query = Query {
        text: args.query.clone(),
        vector,
        strict: span.is_some() || entity.is_some(),
        span,
        entities: entity.into_iter().collect(),
        kinds: args.kinds,
        k: args.limit.unwrap_or(10).clamp(1, MAX_HITS),
        ..Query::default()
    };
    let hits: Vec<Value> = recalled(view, &query)
        .iter()
        .map(|hit| {
            let mut row = line(view, &hit.memory);
            row["score"] = json!(hit.score);
            row["why"] = hit.why.iter().map(ToString::to_string).collect();
            row
        })
        .collect();
    Ok(json!({ "query": args.query, "hits": hits }))
}

/// Answers a question. `clock`: the replay's or the wall clock; `None`: the newest time in the memory.
///
/// # Errors
/// `expired` when `as_of` is outside the history, `internal` when the answer cannot be written.
pub fn answer(
    memory: &Memory,
    answerer: &Answerer,
    ask: &Ask,
    clock: Option<Timestamp>,
) -> Result<Value, Refusal> {
    let question = Question {
        id: ask.id.clone().unwrap_or_default(),
        text: ask.question.clone(),
        as_of: ask.as_of.map(Into::into),
        now: ask.now,
        effort: match ask.effort {
            message::Effort::Fast => Effort::Fast,
            message::Effort::Deep => Effort::Deep,
        },
        deadline_ms: ask.deadline_ms,
    };
    let errand = Errand::of(&question);
    let answer = answerer.respond(memory, &question, clock, &errand);
    let answer = answer.map_err(|error| refusal(&error))?;
    serde_json::to_value(answer).map_err(|error| Refusal::internal(error.to_string()))
}
