//! Memories for a text; and a question's answer as it crosses MQTT and the command line.

use serde::Deserialize;
use serde_json::{Value, json};

use super::find::find;
use super::means::Means;
use super::refusal::refusal;
use super::show::line;
use super::triples;
use crate::answer::{Answerer, Effort, Errand, Question};
use crate::memory::model::MemoryKind;
use crate::memory::{Memory, View};
use crate::mqtt::Refusal;
use crate::mqtt::message::{self, Ask, Pattern, ordered};
use crate::recall::{Hit, Query, beside, is_place, recall as recalled};
use crate::time::{Span, Timestamp};

/// Hits given at most.
const MAX_HITS: usize = 1000;
/// What was said next to so many of the best is given, too.
const WITH_NEIGHBOURS: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallArgs {
    /// The text; a time in it comes first, unless `start` or `end` is given.
    #[serde(default)]
    query: Option<String>,
    /// What states facts like this one, instead of a text; nothing goes with it but `limit`.
    #[serde(default)]
    fact: Option<Pattern>,
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
    /// Only of that place: an id, a name, or the words that facts call it by.
    #[serde(default)]
    place: Option<String>,
    /// Only these kinds.
    #[serde(default)]
    kinds: Vec<MemoryKind>,
}

/// `{"query","time"?,"note"?,"hits":[{"memory","kind","text","start","end","clip","entities","score","why"}],"beside"}`.
pub(super) fn recall(
    view: &View,
    means: &Means<'_>,
    now: Timestamp,
    args: RecallArgs,
) -> Result<Value, Refusal> {
    let k = args.limit.unwrap_or(10).min(MAX_HITS);
    if k == 0 {
        return Err(Refusal::bad_request("`limit` must be at least 1"));
    }
    ordered(args.start, args.end)?;
    if let Some(place) = args.place.as_deref().filter(|place| !is_place(view, place)) {
        return Err(Refusal::not_found(format!(
            "no place is called {place:?}, and nothing tells of one; `engramd places` lists them"
        )));
    }
    let text = match (args.query, args.fact) {
        (Some(text), None) => text,
        (None, Some(fact)) => {
            let timed = args.start.is_some() || args.end.is_some();
            let more = timed || args.entity.is_some() || args.place.is_some();
            if more || !args.kinds.is_empty() {
                let why = "`args`: with a `fact` goes `limit` alone";
                return Err(Refusal::bad_request(why));
            }
            return triples::recall(view, &fact, k);
        }
        _ => return Err(Refusal::bad_request("`args`: give either a `query` or a `fact`")),
    };
    let entity = args.entity.as_deref().map(|word| find(view, word)).transpose()?;
    let given = (args.start.is_some() || args.end.is_some()).then(|| {
        Span::new(args.start.unwrap_or(Timestamp::EPOCH), args.end.unwrap_or(Timestamp::MAX))
    });
    let (told, note) = match means.answerer.filter(|_| given.is_none()) {
        Some(answerer) => match answerer.told_time(view, now, &text) {
            Ok(told) => (told, None),
            Err(note) => (None, Some(note)),
        },
        None => (None, None),
    };
    let whole = Query {
        text: text.clone(),
        vector: None,
        strict: given.is_some() || entity.is_some() || args.place.is_some(),
        span: given,
        entities: entity.into_iter().collect(),
        place: args.place,
        kinds: args.kinds,
        k,
        ..Query::default()
    };
    let mut hits = Vec::new();
    if let Some(told) = &told {
        let (text, span) = (told.rest.clone(), Some(told.span));
        hits = found(view, means, Query { text, span, strict: true, ..whole.clone() });
    }
    // The next best, where that time has too little; of a time alone there is no next best.
    let time_alone = told.as_ref().is_some_and(|told| told.rest.is_empty());
    if hits.len() < whole.k && (!time_alone || hits.is_empty()) {
        let exclude = hits.iter().map(|hit| hit.memory.id).collect();
        let k = whole.k - hits.len();
        hits.extend(found(view, means, Query { exclude, k, ..whole.clone() }));
    }
    let mut neighbours = Vec::new();
    if whole.kinds.is_empty() || whole.kinds.contains(&MemoryKind::Utterance) {
        neighbours = beside(view, &hits[..hits.len().min(WITH_NEIGHBOURS)]);
        neighbours.retain(|one| hits.iter().all(|hit| hit.memory.id != one.memory.id));
    }
    let rows = |hits: &[Hit]| hits.iter().map(|hit| row(view, hit)).collect::<Vec<Value>>();
    let mut document = json!({ "query": text, "hits": rows(&hits), "beside": rows(&neighbours) });
    if let Some(told) = told {
        document["time"] = json!({ "start": told.span.start, "end": told.span.end });
    }
    if let Some(note) = note {
        document["note"] = json!(note);
    }
    Ok(document)
}

/// What a query finds, by meaning, too, where there are words and an embedder.
fn found(view: &View, means: &Means<'_>, query: Query) -> Vec<Hit> {
    let embedder = means.embedder.filter(|_| !query.text.is_empty());
    let vector = embedder.and_then(|embedder| {
        let embedded = embedder.embed(&query.text);
        embedded.inspect_err(|error| tracing::debug!(%error, "recalled by words alone")).ok()
    });
    recalled(view, &Query { vector, ..query })
}

fn row(view: &View, hit: &Hit) -> Value {
    let mut row = line(view, &hit.memory);
    row["score"] = json!(hit.score);
    row["why"] = hit.why.iter().map(ToString::to_string).collect();
    row
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::daemon::queries::query;
    use crate::daemon::queries::tests::{T0, small_memory};
    use crate::ids::MemoryId;
    use crate::memory::model::MemoryRow;
    use crate::mqtt::Reply;
    use crate::mqtt::message::QueryVerb;

    const DAY: f64 = 86_400.0;

    fn at(secs: f64) -> Timestamp {
        Timestamp::from_nanos(T0).plus_secs(secs)
    }

    /// The small memory, and what else is told: when (seconds), what kind, which text.
    fn memory(dir: &std::path::Path, told: &[(f64, MemoryKind, &str)]) -> Memory {
        let memory = small_memory(dir);
        let known = memory.view().memory(MemoryId(1)).unwrap();
        let mut draft = memory.begin(at(60.0));
        for (secs, kind, text) in told {
            let id = draft.new_memory_id();
            let (kind, text) = (*kind, (*text).to_owned());
            let (span, valid_from) = (Span::new(at(*secs), at(secs + 1.0)), at(*secs));
            draft.memory(MemoryRow { id, kind, text, span, valid_from, ..(*known).clone() }, None);
        }
        draft.commit().unwrap();
        memory
    }

    fn recalled(memory: &Memory, args: Value) -> Value {
        let answerer = Answerer::new(jiff::tz::TimeZone::UTC, 10, None);
        let clock = Some(at(3600.0));
        let means = Means { answerer: Some(&answerer), clock, ..Means::default() };
        match query(memory, &means, QueryVerb::Recall, args).unwrap() {
            Reply::Document(document) => document,
            Reply::Bytes { .. } => panic!("bytes"),
        }
    }

    fn ids(document: &Value) -> Vec<&str> {
        let hits = document["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["memory"].as_str().unwrap()).collect()
    }

    #[test]
    fn either_a_text_or_a_fact_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let memory = memory(dir.path(), &[]);
        for (args, fits) in [
            (json!({}), false),
            (json!({"query": "x", "fact": {"subject": "Ava"}}), false),
            (json!({"fact": {"subject": "Ava"}, "kinds": ["note"]}), false),
            (json!({"fact": {"value": "?"}}), false),
            (json!({"query": "x", "limit": 0}), false),
            (json!({"query": "x", "start": at(2.0), "end": at(1.0)}), false),
            (json!({"query": "x", "place": "nowhere"}), false),
            (json!({"query": "x", "start": at(1.0), "end": at(1.0), "limit": 1}), true),
            (json!({"fact": {"subject": "Ava"}, "limit": 3, "as_of": "seq:1"}), true),
        ] {
            let found = query(&memory, &Means::default(), QueryVerb::Recall, args.clone());
            assert_eq!(found.is_ok(), fits, "{args}");
        }
    }

    #[test]
    fn a_time_in_the_text_comes_first_and_one_that_is_given_wins() {
        let dir = tempfile::tempdir().unwrap();
        let note = MemoryKind::Note;
        let told = [
            (-2.0 * DAY, note, "The red mug was bought."),
            (-DAY, note, "The red mug broke, and everybody looked for glue."),
            (10.0, note, "The red mug is mended."),
        ];
        let memory = memory(dir.path(), &told);
        let found = recalled(&memory, json!({"query": "red mug yesterday"}));
        assert_eq!(ids(&found)[0], "memory_3", "{found}");
        assert!(found["hits"][0]["why"].to_string().contains("in the time told"));
        assert_eq!(ids(&found).len(), 3, "the next best follow: {found}");
        assert_eq!(found["time"]["start"], "2026-03-01T00:00:00.000000000Z");
        assert_eq!(ids(&recalled(&memory, json!({"query": "yesterday"}))), ["memory_3"]);
        // As of a commit, now is what was newest then.
        let past = recalled(&memory, json!({"query": "yesterday", "as_of": "seq:2"}));
        assert_eq!(past["time"]["start"], "2026-03-01T00:00:00.000000000Z");
        let given =
            json!({"query": "red mug yesterday", "start": at(-3.0 * DAY), "end": at(-1.5 * DAY)});
        let found = recalled(&memory, given);
        assert_eq!(ids(&found), ["memory_2"]);
        assert_eq!(found["time"], Value::Null);
        let unknown = recalled(&memory, json!({"query": "the red mug before Zoe left"}));
        assert!(unknown["note"].is_string() && !ids(&unknown).is_empty(), "{unknown}");
    }

    #[test]
    fn place_entity_and_kinds_are_conditions() {
        let dir = tempfile::tempdir().unwrap();
        let told = [
            (10.0, MemoryKind::Note, "The red mug is in the kitchen."),
            (11.0, MemoryKind::Note, "The blue mug is in the hall."),
            (12.0, MemoryKind::Utterance, "A mug for the kitchen!"),
        ];
        let memory = memory(dir.path(), &told);
        let place = recalled(&memory, json!({"query": "mug", "place": "the kitchen"}));
        assert_eq!(ids(&place).len(), 2, "{place}");
        let both = json!({"query": "mug", "place": "Kitchen", "kinds": ["note"], "entity": "Ava"});
        assert_eq!(ids(&recalled(&memory, both)), ["memory_2"]);
        assert_eq!(place["hits"][0]["why"].to_string().matches("at the place told").count(), 1);
    }

    #[test]
    fn what_was_said_next_to_a_hit_is_told_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let told = [
            (5.0, MemoryKind::Utterance, "Nice to meet you."),
            (25.0, MemoryKind::Utterance, "Bye."),
        ];
        let memory = memory(dir.path(), &told);
        let found = recalled(&memory, json!({"query": "hello", "limit": 1}));
        assert_eq!(ids(&found), ["memory_1"]);
        let beside = found["beside"].as_array().unwrap();
        assert_eq!(beside.len(), 1, "{found}");
        assert_eq!(
            (&beside[0]["memory"], &beside[0]["why"][0]),
            (&json!("memory_2"), &json!("beside memory_1"))
        );
        let notes = recalled(&memory, json!({"query": "hello", "kinds": ["note"]}));
        assert_eq!(notes["beside"], json!([]));
    }
}
