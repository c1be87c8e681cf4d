//! What is true: where things are, who somebody is, what the memories say.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, Order as By, stems};
use crate::percept::Embedding;
use crate::recall::{Hit, Query, recall};
use crate::time::Timestamp;

use super::document::Evidence;
use super::matching;
use super::question::{Ask, Order, Parsed};
use super::reading::{GATHERED, Reading, seen_secs};
use super::reply::Reply;
use super::who::{told, unrecorded};
use super::wording::{length, list, sentence, times};

/// Share of the question's words that a memory must have to answer it.
const MATCHES: f32 = 0.6;
/// Others of a kind that are told of beside the thing asked for.
const MOST_OTHERS: usize = 4;
/// Cosine from which a memory's meaning alone answers.
const COSINE: f32 = 0.55;

/// "Where was Ava?": camera, side of the picture, place.
pub(super) fn where_person(reading: &Reading, who: EntityId, order: Order) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let runs = reading.appearances(Some(who), spans);
    let run = match order {
        Order::First => runs.first(),
        _ => runs.iter().max_by_key(|run| run.span.end),
    };
    let name = reading.name(who);
    let Some(run) = run else {
        return super::presence::absent(reading, who, &told(reading));
    };
    let glimpse = run.glimpses.last();
    let camera = glimpse.map_or_else(String::new, |g| format!(" in the picture of {}", g.source));
    let side = glimpse.and_then(|g| g.row.as_ref()).and_then(|row| {
        let mut inside = row
            .sightings
            .iter()
            .filter(|s| spans.is_none_or(|spans| spans.iter().any(|span| span.contains(s.at))));
        let last = inside.next_back().or_else(|| row.sightings.last())?;
        Some(format!(" (x {:.0}, y {:.0} px)", last.bbox.centre().x, last.bbox.centre().y))
    });
    let place = place(reading, run.span.end);
    let text = if spans.is_some() {
        format!(
            "{name} was{camera}{}{place} {}.",
            side.unwrap_or_default(),
            reading.wording.when(run.span)
        )
    } else {
        format!(
            "I last saw {name}{camera}{}{place} {}.",
            side.unwrap_or_default(),
            reading.wording.at(run.span.end)
        )
    };
    Reply::known(text, vec![who], vec![reading.sight_evidence(run)])
}

/// Where the robot stood then: the place's name, and its pose.
fn place(reading: &Reading, at: Timestamp) -> String {
    let around = crate::time::Span::new(at.plus_secs(-5.0), at.plus_secs(1.0));
    let Some(row) = reading.view.poses(around).last().cloned() else { return String::new() };
    let pose = format!("x {:.1} m, y {:.1} m", row.pose.x, row.pose.y);
    match reading.view.place_at(at).and_then(|place| place.name) {
        Some(name) => format!(", I stood in the {name} ({pose})"),
        None => format!(", I stood at {pose}"),
    }
}

/// "Where is Ava's mug?", a thing that has a name.
pub(super) fn where_object(reading: &Reading, object: EntityId) -> Reply {
    let (at, name) = (asked(reading), reading.view.thing(&object.to_string()));
    let rows = reading.view.memories_of(object);
    let located = rows.into_iter().filter(|row| is_location(row)).collect::<Vec<_>>();
    match holding(&located, at).first() {
        Some(row) => told_place(reading, row, &[]),
        None => Reply::unknown(&format!("I don't know where {name} is.")).about(&[object]),
    }
}

/// The time that the question means: its end, or now.
fn asked(reading: &Reading) -> Timestamp {
    let spans = reading.spans.as_deref();
    let hull = spans.and_then(super::reading::hull);
    hull.map_or(reading.now(), |span| span.end.min(reading.now()))
}

fn is_location(row: &MemoryRow) -> bool {
    row.fact.as_ref().is_some_and(|fact| fact.attribute == "location")
}

/// Of each subject the newest location that held at that time, newest first.
fn holding(located: &[Arc<MemoryRow>], at: Timestamp) -> Vec<Arc<MemoryRow>> {
    let holds = |row: &MemoryRow| row.valid_from <= at && row.valid_to.is_none_or(|end| at < end);
    let mut found: Vec<Arc<MemoryRow>> =
        located.iter().filter(|row| holds(row)).map(Arc::clone).collect();
    found.sort_by_key(|row| std::cmp::Reverse((row.valid_from, row.id)));
    let mut subjects: Vec<String> = Vec::new();
    found.retain(|row| {
        let subject = row.fact.as_ref().map(|fact| fact.subject.clone()).unwrap_or_default();
        let fresh = !subjects.contains(&subject);
        subjects.push(subject);
        fresh
    });
    found
}

/// Where a thing is, and where the others of its kind are.
fn told_place(reading: &Reading, row: &Arc<MemoryRow>, others: &[Arc<MemoryRow>]) -> Reply {
    let Some(fact) = &row.fact else { return Reply::nothing() };
    let since = reading.wording.at(row.valid_from);
    let thing = reading.view.thing(&fact.subject);
    let mut text = format!(
        "The {} is at: {} (known since {}; \u{201c}{}\u{201d}){}{}.",
        bare(&thing),
        fact.value,
        since.trim_start_matches("at "),
        reading.rendered(&row.text).trim_end_matches('.'),
        last_sight(reading, &fact.subject),
        place(reading, row.span.start)
    );
    for fact in others.iter().filter_map(|other| other.fact.as_ref()) {
        text =
            format!("{text} Another {}: {}.", bare(&reading.view.thing(&fact.subject)), fact.value);
    }
    let rows = std::iter::once(row).chain(others);
    let evidence = rows.map(|row| reading.memory_evidence(row, row.confidence)).collect();
    Reply::known(text, row.entities.clone(), evidence)
}

/// When a detector saw the thing last, and in which direction.
fn last_sight(reading: &Reading, subject: &str) -> String {
    let object = subject.parse::<EntityId>().ok();
    let seen = object.and_then(|object| reading.view.last_track_of(object, asked(reading)));
    let Some(last) = seen.as_ref().and_then(|row| row.sightings.last()) else {
        return String::new();
    };
    let direction = last.bearing.map_or_else(String::new, |bearing| {
        let degrees = bearing.azimuth.to_degrees();
        let side = if degrees < 0.0 { "right" } else { "left" };
        format!(", {:.0}° to the {side}", degrees.abs())
    });
    format!(", seen last {}{direction}", reading.wording.at(last.at))
}

/// Which of the places that a thing had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// That which holds.
    Present,
    /// The one before it.
    Before,
    /// The first of all.
    First,
}

/// What is done with things, and when: "Where should I put the mug?", "Where was it before?"
const OF_NO_THING: [&str; 29] = [
    "put",
    "place",
    "placed",
    "keep",
    "kept",
    "leave",
    "left",
    "belong",
    "belongs",
    "go",
    "goes",
    "store",
    "stored",
    "hide",
    "hid",
    "hidden",
    "lie",
    "lies",
    "lying",
    "find",
    "found",
    "still",
    "now",
    "currently",
    "should",
    "before",
    "previously",
    "earlier",
    "originally",
];

/// "Where is my mug?", "Where should I put it?", "Where was it before?": the location that holds, or held, else what was
/// said about it. Of a thing that is called otherwise ("the blue mug") it is not told.
pub(super) fn where_thing(
    reading: &Reading,
    words: &[String],
    which: Which,
    vector: Option<&Embedding>,
) -> Reply {
    let named: Vec<String> =
        words.iter().filter(|word| !OF_NO_THING.contains(&word.as_str())).cloned().collect();
    let filter = Filter { order: By::NewestFirst, valid_at: None, ..Filter::default() };
    let hits = reading.view.lexical(&words.join(" "), 50, &filter).into_iter();
    let located: Vec<Arc<MemoryRow>> = hits
        .filter_map(|(id, _)| reading.view.memory(id))
        .filter(|row| is_location(row) && row.valid_from <= reading.now())
        .collect();
    let called = |row: &MemoryRow, wanted: &[String]| {
        let thing = row.fact.as_ref().map(|fact| reading.view.thing(&fact.subject));
        thing.map_or(0.0, |thing| matching::share(wanted, &thing))
    };
    // "Where is the place mat?"
    for wanted in [words, &named] {
        let wanted = stems(&wanted.join(" "));
        let mut own: Vec<Arc<MemoryRow>> =
            located.iter().filter(|row| called(row, &wanted) >= 0.99).map(Arc::clone).collect();
        own.sort_by_key(|row| (row.valid_from, row.id));
        let holds = holding(&own, asked(reading));
        let Some((row, others)) = holds.split_first() else { continue };
        let of_it = || own.iter().filter(|other| is_of_one_thing(other, row));
        let earlier = match which {
            Which::Present => None,
            Which::First => of_it().next(),
            Which::Before => of_it().rfind(|other| other.valid_from < row.valid_from),
        };
        return match earlier.filter(|earlier| earlier.id != row.id) {
            Some(earlier) => was_told(reading, earlier),
            None => told_place(reading, row, &others[..others.len().min(MOST_OTHERS)]),
        };
    }
    let wanted = stems(&named.join(" "));
    let nearly = |row: &&Arc<MemoryRow>| (0.5..0.99).contains(&called(row, &wanted));
    if wanted.len() > 1
        && let Some(row) = holding(&located, asked(reading)).iter().find(nearly)
        && let Some(fact) = &row.fact
    {
        let thing = reading.view.thing(&fact.subject);
        return Reply::unknown(&format!(
            "I don't know where that is; what I know of is the {}: {}.",
            bare(&thing),
            fact.value
        ));
    }
    search(reading, words, vector)
}

fn is_of_one_thing(a: &MemoryRow, b: &MemoryRow) -> bool {
    let subject = |row: &MemoryRow| row.fact.as_ref().map(|fact| fact.subject.clone());
    subject(a) == subject(b)
}

/// Where a thing was.
fn was_told(reading: &Reading, row: &Arc<MemoryRow>) -> Reply {
    let Some(fact) = &row.fact else { return Reply::nothing() };
    let until = row.valid_to.map_or_else(String::new, |end| {
        format!(" until {}", reading.wording.at(end).trim_start_matches("at "))
    });
    let text = format!(
        "The {} was at: {} (from {}{until}; \u{201c}{}\u{201d}).",
        bare(&reading.view.thing(&fact.subject)),
        fact.value,
        reading.wording.at(row.valid_from).trim_start_matches("at "),
        reading.rendered(&row.text).trim_end_matches('.'),
    );
    let evidence = vec![reading.memory_evidence(row, row.confidence)];
    Reply::known(text, row.entities.clone(), evidence)
}

fn bare(subject: &str) -> &str {
    subject.strip_prefix("the ").unwrap_or(subject)
}

/// "Who is Ava?", "Who is person 4?"
pub(super) fn who_is(reading: &Reading, who: EntityId) -> Reply {
    let (mut text, mut evidence) = profile(reading, who);
    let ids = reading.view.same_as(who);
    let also: Vec<String> = ids
        .iter()
        .filter(|id| Reading::is_person(**id) && **id != who)
        .map(|id| id.to_string().replace('_', " "))
        .collect();
    if !also.is_empty() {
        text = format!("{text} Also known as {}.", list(&also));
    }
    let names = reading.view.names(who);
    if let Some(row) = names.first() {
        let how = match row.source {
            crate::memory::model::NameSource::Told => "I was told the name",
            crate::memory::model::NameSource::Said => "I heard the name",
            crate::memory::model::NameSource::Model => "I concluded the name",
        };
        text = format!("{text} {how} {}.", reading.wording.at(row.since));
    }
    evidence.truncate(3);
    Reply::known(text, vec![who], evidence)
}

fn profile(reading: &Reading, who: EntityId) -> (String, Vec<Evidence>) {
    let runs = reading.appearances(Some(who), None);
    let turns = reading.spoken(Some(who), None);
    let name = reading.name(who);
    let named = !reading.view.names(who).is_empty();
    let id = who.to_string().replace('_', " ");
    let mut parts = vec![if named {
        format!("{name} is {id}.")
    } else {
        format!("{} has no name yet.", sentence(&id))
    }];
    if let (Some(first), Some(last)) = (runs.first(), runs.iter().max_by_key(|run| run.span.end)) {
        let glimpses: Vec<_> = runs.iter().flat_map(|run| run.glimpses.clone()).collect();
        parts.push(format!(
            "I saw {name} {}, for {} in all, first {} and last {}.",
            times(runs.len()),
            length(seen_secs(&glimpses, None)),
            reading.wording.at(first.span.start),
            reading.wording.at(last.span.end)
        ));
    } else {
        parts.push(format!("I have never seen {name}."));
    }
    if let Some(first) = turns.first() {
        let secs: f64 = turns.iter().map(|turn| turn.speech_secs).sum();
        parts.push(format!(
            "{} spoke for {} in all, first {}.",
            sentence(&name),
            length(secs),
            reading.wording.at(first.span.start)
        ));
    } else if !runs.is_empty() {
        parts.push(format!("I have not heard {name} speak."));
    }
    let mut evidence: Vec<Evidence> =
        runs.first().map(|run| reading.sight_evidence(run)).into_iter().collect();
    evidence.extend(runs.last().filter(|_| runs.len() > 1).map(|run| reading.sight_evidence(run)));
    evidence.extend(turns.first().map(|s| reading.speech_evidence(s, s.confidence)));
    (parts.join(" "), evidence)
}

/// "Tell me about Ava."
pub(super) fn about(reading: &Reading, who: EntityId) -> Reply {
    let (mut text, mut evidence) = profile(reading, who);
    let kinds =
        vec![MemoryKind::Semantic, MemoryKind::Reflection, MemoryKind::Note, MemoryKind::Summary];
    let filter = Filter {
        entities: vec![who],
        kinds,
        valid_at: Some(reading.now()),
        order: By::NewestFirst,
        limit: Some(5),
        ..Filter::default()
    };
    for row in reading.view.memories(&filter) {
        let sentence = reading.rendered(&row.text);
        text = format!("{text} {sentence}");
        evidence.push(reading.memory_evidence(&row, row.confidence));
    }
    let with = super::presence::companions(reading, who, None);
    if !with.is_empty() {
        let names: Vec<String> = with.iter().take(4).map(|c| reading.name(c.who)).collect();
        text = format!("{text} {} was seen with {}.", sentence(&reading.name(who)), list(&names));
    }
    Reply::known(text, vec![who], evidence)
}

/// "When is Ava usually here?", "Who is Ava usually with?": what was concluded from many days. `None` where that is
/// not asked, or nothing was.
pub(super) fn usual(reading: &Reading, who: EntityId, parsed: &Parsed) -> Option<Reply> {
    const USUALLY: [&str; 4] = ["usually", "normally", "typically", "habit"];
    if !parsed.content.iter().any(|word| USUALLY.contains(&word.as_str())) {
        return None;
    }
    let wanted: &[&str] = match parsed.ask {
        Ask::HowOften { .. } => &["seen_per_day", "heard_per_day"],
        Ask::With { .. } | Ask::Together | Ask::Who { .. } | Ask::WhoIs => &["usually_with"],
        _ => &["usual_time"],
    };
    let mut facts = reading.view.profile(who, Some(reading.now())).facts;
    facts.retain(|fact| wanted.contains(&fact.attribute.as_str()));
    let rows: Vec<Arc<MemoryRow>> =
        facts.iter().filter_map(|fact| reading.view.memory(fact.memory)).collect();
    let text: Vec<String> = rows.iter().map(|row| reading.rendered(&row.text)).collect();
    let surest = rows.iter().map(|row| row.confidence).fold(0.0, f32::max);
    let evidence = rows.iter().map(|row| reading.memory_evidence(row, row.confidence)).collect();
    (!rows.is_empty())
        .then(|| Reply { confidence: surest, ..Reply::known(text.join(" "), vec![who], evidence) })
}

/// "Who do you know?"
pub(super) fn everybody(reading: &Reading) -> Reply {
    let persons: Vec<EntityId> = reading
        .view
        .persons()
        .into_iter()
        .map(|row| row.id)
        .filter(|id| Reading::is_person(*id))
        .collect();
    if persons.is_empty() {
        return Reply::none("I know nobody yet.".into());
    }
    let names: Vec<String> = persons.iter().map(|id| reading.introduce(*id)).collect();
    let runs = reading.appearances(None, None);
    let turns = reading.spoken(None, None);
    let evidence = persons
        .iter()
        .filter_map(|id| {
            runs.iter().find(|run| run.who == *id).map(|run| reading.sight_evidence(run)).or_else(
                || {
                    turns
                        .iter()
                        .find(|s| s.who == Some(*id))
                        .map(|s| reading.speech_evidence(s, s.confidence))
                },
            )
        })
        .collect();
    let count =
        if persons.len() == 1 { "1 person".into() } else { format!("{} people", persons.len()) };
    Reply::known(format!("I know {count}: {}.", list(&names)), persons, evidence)
}

/// What the memories say: the best one quoted, if it holds enough of the question.
fn search(reading: &Reading, words: &[String], vector: Option<&Embedding>) -> Reply {
    let wanted = stems(&words.join(" "));
    let query = Query {
        text: words.join(" "),
        vector: vector.cloned(),
        span: reading.spans.as_deref().and_then(super::reading::hull),
        strict: reading.spans.is_some(),
        k: 12,
        ..Query::default()
    };
    let fit = |hit: &Hit| -> f32 {
        if hit.memory.span.start > reading.now() {
            return 0.0;
        }
        let text = reading.rendered(&hit.memory.text);
        let share = if wanted.is_empty() { 0.0 } else { matching::share(&wanted, &text) };
        let meaning = vector
            .and_then(|vector| vector.cosine(&reading.view.embedding(hit.memory.id, vector.model)?))
            .map_or(0.0, |cosine| if cosine >= COSINE { cosine } else { 0.0 });
        let told = match hit.memory.kind {
            MemoryKind::Note | MemoryKind::Semantic => 0.05,
            MemoryKind::Lesson => -1.0,
            _ => 0.0,
        };
        let score = if share >= MATCHES { share.max(meaning) } else { meaning };
        if score > 0.0 { (score + told).min(1.0) } else { 0.0 }
    };
    let mut hits: Vec<(Hit, f32)> = recall(&reading.view, &query)
        .into_iter()
        .map(|hit| {
            let f = fit(&hit);
            (hit, f)
        })
        .filter(|(_, f)| *f > 0.0)
        .collect();
    hits.sort_by(|a, b| {
        b.1.total_cmp(&a.1).then(b.0.memory.span.start.cmp(&a.0.memory.span.start))
    });
    let Some((best, score)) = hits.first() else {
        return Reply::nothing();
    };
    let text = tell(reading, &best.memory);
    let evidence: Vec<Evidence> =
        hits.iter().take(5).map(|(hit, f)| reading.memory_evidence(&hit.memory, *f)).collect();
    let ids: Vec<EntityId> = evidence.first().map(|e| e.entities.clone()).unwrap_or_default();
    Reply { confidence: (score * 0.8).clamp(0.05, 0.9), ..Reply::known(text, ids, evidence) }
}

/// A memory told as an answer.
pub(super) fn tell(reading: &Reading, row: &MemoryRow) -> String {
    let text = reading.rendered(&row.text);
    match row.kind {
        MemoryKind::Note => {
            format!("I was told {}: \u{201c}{text}\u{201d}", reading.wording.at(row.span.start))
        }
        MemoryKind::Utterance => {
            format!("{}: {text}", sentence(&reading.wording.at(row.span.start)))
        }
        MemoryKind::Episodic => format!("{}: {text}", sentence(&reading.wording.when(row.span))),
        _ => text,
    }
}

/// "What happened …?"
pub(super) fn summary(reading: &Reading, who: Option<EntityId>) -> Reply {
    let session = reading.session();
    let spans: Vec<crate::time::Span> = match &reading.spans {
        Some(spans) => spans.clone(),
        None => session.into_iter().collect(),
    };
    if !reading.recorded(&spans) {
        return unrecorded(reading, &spans);
    }
    let then = told(reading);
    let runs = reading.appearances(who, Some(&spans));
    let turns = reading.spoken(who, Some(&spans));
    let mut ids: Vec<EntityId> = Vec::new();
    for id in runs.iter().map(|run| run.who).chain(turns.iter().filter_map(|s| s.who)) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let seen: Vec<EntityId> =
        ids.iter().copied().filter(|id| runs.iter().any(|run| run.who == *id)).collect();
    let heard: Vec<EntityId> = ids.iter().copied().filter(|id| !seen.contains(id)).collect();
    let names =
        |ids: &[EntityId]| list(&ids.iter().map(|id| reading.introduce(*id)).collect::<Vec<_>>());
    let mut parts = Vec::new();
    parts.push(if seen.is_empty() {
        format!("I saw nobody{then}.")
    } else {
        format!("I saw {}{then}.", names(&seen))
    });
    if !heard.is_empty() {
        parts.push(format!("I heard {}, out of view.", names(&heard)));
    }
    let worded: Vec<_> = turns.iter().filter(|s| s.words.is_some()).collect();
    parts.extend(worded.iter().take(5).map(|s| super::said::quoted(reading, s, false)));
    if worded.len() > 5 {
        parts.push(format!("And {} more remarks.", worded.len() - 5));
    }
    let of = |kinds: &[MemoryKind]| {
        let filter = Filter {
            span: super::reading::hull(&spans),
            kinds: kinds.to_vec(),
            entities: who.into_iter().collect(),
            ..Filter::default()
        };
        reading.view.memories(&filter)
    };
    // A day says more than its hours.
    let mut told = of(&[MemoryKind::Summary]);
    told.sort_by(|a, b| b.span.secs().total_cmp(&a.span.secs()));
    told.truncate(3);
    told.extend(of(&[MemoryKind::Note, MemoryKind::Reflection]).into_iter().take(3));
    parts.extend(told.iter().map(|row| tell(reading, row)));
    let mut evidence: Vec<Evidence> =
        runs.iter().take(GATHERED).map(|run| reading.sight_evidence(run)).collect();
    evidence.extend(turns.iter().take(GATHERED).map(|s| reading.speech_evidence(s, s.confidence)));
    evidence.extend(told.iter().map(|row| reading.memory_evidence(row, row.confidence)));
    Reply::known(parts.join(" "), ids, evidence)
}
