//! What is true: where and who somebody is, what the memories say.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, Order as By, stems};
use crate::recall::lexer::tokens;
use crate::recall::time_expr::{TimeExpr, combined_span, told_expressions};
use crate::time::{Span, Timestamp};

use super::document::Evidence;
use super::phrase::phrase;
use super::question::{Ask, Order, Parsed, Subject};
use super::reading::{GATHERED, Reading, hull, seen_secs, touch};
use super::reply::Reply;
use super::who::{told, unrecorded};
use super::wording::{last_inside, length, list, sentence, times};

/// Digests that are told of a time.
const DIGESTS: usize = 3;
/// What else is told of it in sentences.
const TOLD: usize = 5;
/// People that are told by their names, at most.
const MOST_LISTED: usize = 50;
/// Newest notes that may name another time than their own.
const NOTES: usize = 200;

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
pub(super) fn place(reading: &Reading, at: Timestamp) -> String {
    let around = crate::time::Span::new(at.plus_secs(-5.0), at.plus_secs(1.0));
    let Some(row) = reading.view.poses(around).last().cloned() else { return String::new() };
    let pose = format!("x {:.1} m, y {:.1} m", row.pose.x, row.pose.y);
    match reading.view.place_at(at).and_then(|place| place.name) {
        Some(name) => format!(", I stood in the {name} ({pose})"),
        None => format!(", I stood at {pose}"),
    }
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
            crate::memory::model::NameSource::Read => {
                "I am not sure of it: I read the name on a badge"
            }
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
    } else if reading.view.parts_of(who).is_empty() {
        parts.push(format!("I was told of {name}, and have not met {name} yet."));
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
        text = format!("{text} {}", said(reading, &row));
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

/// "Who do you know?": of many those with a name, and of the others whoever was perceived last.
pub(super) fn everybody(reading: &Reading) -> Reply {
    let mut persons = reading.view.persons();
    persons.retain(|person| Reading::is_person(person.id));
    let all = persons.len();
    if all == 0 {
        return Reply::none("I know nobody yet.".into());
    }
    if all > MOST_LISTED {
        persons.sort_by_key(|person| (person.name.is_none(), Reverse(person.last_seen)));
        persons.truncate(MOST_LISTED);
    }
    let mut names: Vec<String> = persons.iter().map(|person| reading.introduced(person)).collect();
    if all > MOST_LISTED {
        names.push(format!("{} more", all - MOST_LISTED));
    }
    let persons: Vec<EntityId> = persons.into_iter().map(|person| person.id).collect();
    let first = |id: &EntityId| {
        let seen = reading.first_appearance(Some(*id), |span| span.start);
        let heard = || reading.first_spoken(*id).map(|s| reading.speech_evidence(&s, s.confidence));
        seen.map(|run| reading.sight_evidence(&run)).or_else(heard)
    };
    let evidence = persons.iter().filter_map(first).take(GATHERED).collect();
    let count = if all == 1 { "1 person".into() } else { format!("{all} people") };
    Reply::known(format!("I know {count}: {}.", list(&names)), persons, evidence)
}

/// A memory's sentence; of a fact that came without one, its own.
fn said(reading: &Reading, row: &MemoryRow) -> String {
    let text = reading.rendered(&row.text);
    let Some(fact) = &row.fact else { return text };
    let who = match fact.subject.parse::<EntityId>() {
        Ok(id) => reading.name(id),
        Err(_) => fact.subject.clone(),
    };
    let slot = format!("{who}: {}: {}", fact.attribute.replace('_', " "), fact.value);
    match text == slot {
        true => sentence(&format!("{}.", phrase(&who, &fact.attribute, &fact.value, false))),
        false => text,
    }
}

/// Words for a day that only whoever hears them on the day of telling understands.
const DAYS: [&str; 9] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "tomorrow",
    "yesterday",
];

/// Which days a text means that names them as they were called when it was told: " (on Friday: 6 March 2026)".
fn dates_told(reading: &Reading, text: &str, at: Timestamp) -> String {
    let wording = &reading.wording;
    let date = |time: &TimeExpr| {
        let words = &text[time.range.clone()];
        let tokens = tokens(words);
        let called = tokens.iter().any(|token| DAYS.contains(&token.word.as_str()));
        let before = text[..time.range.start].split_whitespace().next_back().unwrap_or_default();
        let again = ["every", "each"].contains(&before.to_lowercase().as_str());
        let dated = again || words.contains(|c: char| c.is_ascii_digit());
        let (span, _) = combined_span(std::slice::from_ref(time)).filter(|_| called && !dated)?;
        let inside = last_inside(span);
        let start = if span.start.as_nanos() == i64::MIN { inside } else { span.start };
        let one = wording.days(start, inside) == 0 && wording.days(at, inside) != 0;
        let words = words.trim_end_matches(|c: char| !c.is_alphanumeric());
        one.then(|| format!("{words}: {}", wording.date(inside)))
    };
    let times = told_expressions(text, at, &wording.zone);
    let dates: Vec<String> = times.iter().filter_map(date).collect();
    if dates.is_empty() { String::new() } else { format!(" ({})", dates.join(", ")) }
}

/// A memory told as an answer.
pub(super) fn tell(reading: &Reading, row: &MemoryRow) -> String {
    let text = said(reading, row);
    match row.kind {
        MemoryKind::Note => {
            let dates = dates_told(reading, &text, row.span.start);
            format!(
                "I was told {}: \u{201c}{text}\u{201d}{dates}",
                reading.wording.at(row.span.start)
            )
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
        return of_then(reading, who, &spans);
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
    let told = written(reading, who, &spans, &[MemoryKind::Note, MemoryKind::Reflection]);
    parts.extend(told_of(reading, &told));
    let mut evidence: Vec<Evidence> =
        runs.iter().take(GATHERED).map(|run| reading.sight_evidence(run)).collect();
    evidence.extend(turns.iter().take(GATHERED).map(|s| reading.speech_evidence(s, s.confidence)));
    let told = told.iter().take(GATHERED);
    evidence.extend(told.map(|row| reading.memory_evidence(row, row.confidence)));
    Reply::known(parts.join(" "), ids, evidence)
}

/// "What happened …?" of a time of which nothing is recorded: what is written of it.
fn of_then(reading: &Reading, who: Option<EntityId>, spans: &[Span]) -> Reply {
    // Without a recording none of these were perceived: they were told, or came from elsewhere.
    let kinds = [
        MemoryKind::Note,
        MemoryKind::Reflection,
        MemoryKind::Semantic,
        MemoryKind::Episodic,
        MemoryKind::Utterance,
    ];
    let rows = written(reading, who, spans, &kinds);
    if rows.is_empty() {
        return unrecorded(reading, spans);
    }
    let then = hull(spans).map_or_else(String::new, |span| reading.wording.when(span));
    let mut parts = vec![format!("I was not recording {then}.")];
    parts.extend(told_of(reading, &rows));
    let mut ids: Vec<EntityId> = Vec::new();
    for id in rows.iter().flat_map(|row| &row.entities).map(|id| reading.view.resolve(*id)) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let rows = rows.iter().take(GATHERED);
    let evidence = rows.map(|row| reading.memory_evidence(row, row.confidence)).collect();
    Reply::known(parts.join(" "), ids, evidence)
}

/// "What did Ava do in March?", of somebody by whom only the name is known: what is written of then with the name.
pub(super) fn named_then(reading: &Reading, parsed: &Parsed) -> Option<Reply> {
    let [Subject::Unknown(name)] = parsed.subjects.as_slice() else { return None };
    let spans = reading.spans.as_deref().filter(|_| parsed.ask == Ask::Summary)?;
    let mut rows = written(reading, None, spans, &[MemoryKind::Note, MemoryKind::Semantic]);
    let name = stems(name);
    rows.retain(|row| {
        let told = stems(&reading.rendered(&row.text));
        name.iter().all(|word| told.contains(word))
    });
    let best = rows.iter().take(GATHERED);
    let evidence = best.map(|row| reading.memory_evidence(row, row.confidence)).collect();
    let text = told_of(reading, &rows).join(" ");
    (!rows.is_empty()).then(|| Reply::known(text, Vec::new(), evidence))
}

/// What is written of a time: digests, the longest first (a day says more than its hours), then rows of those kinds in
/// the order of time, and notes told at another time that name this one ("Yesterday the plumber came.").
fn written(
    reading: &Reading,
    who: Option<EntityId>,
    spans: &[Span],
    kinds: &[MemoryKind],
) -> Vec<Arc<MemoryRow>> {
    let then = |span: Span| spans.iter().any(|asked| touch(*asked, span));
    let of = |kinds: &[MemoryKind]| {
        let (kinds, entities) = (kinds.to_vec(), who.into_iter().collect());
        let filter = Filter { span: hull(spans), kinds, entities, ..Filter::default() };
        let mut rows = reading.view.memories(&filter);
        rows.retain(|row| row.span.start <= reading.now() && then(row.span));
        rows
    };
    let mut written = of(&[MemoryKind::Summary]);
    written.sort_by(|a, b| b.span.secs().total_cmp(&a.span.secs()));
    written.truncate(DIGESTS);
    let mut told = of(kinds);
    let mut named = reading.newest_notes(who.into_iter().collect(), NOTES);
    named.retain(|row| !then(row.span) && then(super::remembered::time_told(reading, row)));
    told.extend(named);
    told.sort_by_key(|row| (row.span.start, row.id));
    written.extend(told);
    written
}

/// What is written of a time in sentences: the digests, some of what was told, and how much more there is.
fn told_of(reading: &Reading, written: &[Arc<MemoryRow>]) -> Vec<String> {
    let digests = written.iter().take_while(|row| row.kind == MemoryKind::Summary).count();
    let told = written.len().min(digests + TOLD);
    let mut parts: Vec<String> = written[..told].iter().map(|row| tell(reading, row)).collect();
    match written.len() - told {
        0 => {}
        1 => parts.push("And 1 more memory.".to_owned()),
        more => parts.push(format!("And {more} more memories.")),
    }
    parts
}
