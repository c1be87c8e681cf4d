//! Where things are that a detector found: their locations are facts, what it saw of them stands beside.

use std::sync::Arc;

use crate::colour::{Colour, Colours};
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, PerceptFilter, is_kin, stems};
use crate::text::with_article;
use crate::time::Timestamp;

use super::phrase::phrase;
use super::reading::{Reading, hull, touch};
use super::reply::Reply;
use super::wording::{list, sentence};
use super::{facts, things, who};

/// Statements with words of a thing's name that are looked at.
const LOOKED_AT: usize = 50;
/// Others of a kind that are told of beside the thing asked for.
const MOST_OTHERS: usize = 4;

/// "Where is object_1?"
pub(super) fn where_object(reading: &Reading, object: EntityId) -> Reply {
    match places_of(reading, object, reading.time_asked()).first() {
        Some(row) => told_place(reading, "", row, &[]),
        None => nowhere(reading, object),
    }
}

/// "Have you seen object_1?"
pub(super) fn seen_object(reading: &Reading, object: EntityId) -> Reply {
    match places_of(reading, object, reading.now()).first() {
        Some(row) => sighted(reading, row),
        None => nowhere(reading, object),
    }
}

/// "Where is the cup?": the thing of that name that was seen last, and others of its kind.
pub(super) fn where_called(reading: &Reading, words: &[String]) -> Option<Reply> {
    let (mut rows, rest) = called(reading, words)?;
    let (colours, _) = colours(&rest);
    rows.retain(|row| has_all(reading, row, &colours));
    rows.truncate(1 + MOST_OTHERS);
    Some(told_place(reading, "", rows.first()?, &rows[1..]))
}

/// "Where is the green cup?", of cups that were seen in other colours alone, and where nothing was told of a green one: that
/// another of the kind is somewhere is no answer.
pub(super) fn of_no_such_colour(reading: &Reading, words: &[String]) -> Option<Reply> {
    let (rows, rest) = called(reading, words)?;
    let (colours, _) = colours(&rest);
    if colours.is_empty() || rows.iter().any(|row| has_all(reading, row, &colours)) {
        return None;
    }
    let name = words.join(" ");
    let hits = reading.view.lexical_with_kin(&name, LOOKED_AT, &Filter::default());
    let wanted = stems(&name);
    let is_told = |row: Arc<MemoryRow>| {
        let told = stems(&row.text);
        wanted.iter().all(|word| told.contains(word))
    };
    if hits.into_iter().filter_map(|(id, _)| reading.view.memory(id)).any(is_told) {
        return None;
    }
    let known = rows.iter().take(1 + MOST_OTHERS).filter_map(|row| {
        let object = object_of(row)?;
        let name = reading.view.thing(&object.to_string());
        Some(match reading.view.colours(object) {
            Some(colours) => format!("{} that is {colours}", with_article(&name)),
            None => format!("{} whose colour I do not know", with_article(&name)),
        })
    });
    let known: Vec<String> = known.collect();
    let text = format!("I don't know where the {name} is; I know {}.", list(&known));
    let entities: Vec<EntityId> = rows.iter().filter_map(|row| object_of(row)).collect();
    Some(Reply::unknown(&text).about(&entities))
}

/// "Have you seen the cup?", "Is the cup on the left?": of a thing of that name; of a place that its own does not name it is
/// only told where it is.
pub(super) fn whether(reading: &Reading, words: &[String]) -> Option<Reply> {
    let (mut rows, mut rest) = called(reading, words)?;
    let (colours, others) = colours(&rest);
    if rows.iter().any(|row| has_all(reading, row, &colours)) {
        rows.retain(|row| has_all(reading, row, &colours));
        rest = others;
    } else if let ([row], true) = (rows.as_slice(), others.is_empty())
        && let Some(reply) = otherwise_coloured(reading, row, &colours)
    {
        return Some(reply);
    }
    let row = rows.first()?;
    let place = row.fact.as_ref().map(|fact| stems(&fact.value)).unwrap_or_default();
    if rest.is_empty() {
        return Some(sighted(reading, row));
    }
    if rest.iter().all(|word| place.contains(word)) {
        return Some(told_place(reading, "yes, ", row, &[]));
    }
    let known = told_place(reading, "", row, &[]);
    let text = format!("I don't know whether that is so; what I know: {}", known.text);
    Some(Reply { evidence: known.evidence, ..Reply::unknown(&text).about(&known.entities) })
}

/// Where the things are now that the words name, the newest first, and the stems that do not name them.
fn called(reading: &Reading, words: &[String]) -> Option<(Vec<Arc<MemoryRow>>, Vec<String>)> {
    let name = stems(&words.join(" "));
    let at = reading.time_asked();
    let kinds = vec![MemoryKind::Semantic];
    let filter = Filter { kinds, valid_at: Some(at), ..Filter::default() };
    let hits = reading.view.lexical_with_kin(&words.join(" "), LOOKED_AT, &filter).into_iter();
    let label = |row: &MemoryRow| {
        let object = object_of(row).map(|object| stems(&reading.view.thing(&object.to_string())));
        object.unwrap_or_default()
    };
    let is_called = |row: &Arc<MemoryRow>| {
        let label = label(row);
        let is_said = |one: &String| name.iter().any(|word| is_kin(word, one));
        !label.is_empty() && label.iter().all(is_said)
    };
    let rows = hits.filter_map(|(id, _)| reading.view.memory(id)).filter(is_called).collect();
    let found = holding(rows, at);
    let label = label(found.first()?);
    let rest = name.into_iter().filter(|word| !label.iter().any(|one| is_kin(word, one)));
    let rest = rest.filter(|word| word != "still").collect();
    Some((found, rest))
}

/// The colours among stems that name no thing, and the others.
fn colours(rest: &[String]) -> (Vec<Colour>, Vec<String>) {
    let colour =
        |stem: &String| Colour::ALL.into_iter().find(|one| stems(one.word()) == [stem.as_str()]);
    let found = rest.iter().filter_map(colour).collect();
    (found, rest.iter().filter(|stem| colour(stem).is_none()).cloned().collect())
}

/// Whether the thing whose place a row tells has all of those colours.
fn has_all(reading: &Reading, row: &MemoryRow, colours: &[Colour]) -> bool {
    let known = || object_of(row).and_then(|object| reading.view.colours(object));
    colours.is_empty() || known().is_some_and(|known| known.has_all(colours))
}

/// "Is the cup red?", of a cup of clearly another colour.
fn otherwise_coloured(reading: &Reading, row: &MemoryRow, colours: &[Colour]) -> Option<Reply> {
    let object = object_of(row)?;
    let (known, asked) = (reading.view.colours(object)?, Colours::one(*colours.first()?));
    let seen = reading.view.last_track_of(object, reading.time_asked())?;
    if !known.differ(asked) {
        return None;
    }
    let name = reading.view.thing(&object.to_string());
    let at = reading.wording.at(seen.span.end);
    let text = format!("No, the {name} is {known}; I last saw it {at}.");
    let evidence = reading.object_evidence(&seen, text.clone());
    Some(Reply::known(text, vec![object], vec![evidence]))
}

fn nowhere(reading: &Reading, object: EntityId) -> Reply {
    let name = reading.view.thing(&object.to_string());
    Reply::unknown(&format!("I don't know where {name} is.")).about(&[object])
}

/// The object whose location a row states.
fn object_of(row: &MemoryRow) -> Option<EntityId> {
    let fact = row.fact.as_ref().filter(|fact| fact.attribute == "location")?;
    fact.subject.parse().ok().filter(|id: &EntityId| id.kind == EntityKind::Object)
}

/// Where a thing is, and whether it was seen there.
fn sighted(reading: &Reading, row: &MemoryRow) -> Reply {
    let spans = reading.spans.as_deref();
    let was_seen = object_of(row).is_some_and(|object| {
        let span = spans.and_then(hull);
        let filter = PerceptFilter { span, entity: Some(object), ..PerceptFilter::default() };
        reading.view.object_tracks(&filter).iter().any(|track| {
            track.span.start <= reading.now()
                && spans.is_none_or(|spans| spans.iter().any(|span| touch(*span, track.span)))
        })
    });
    let lead = match was_seen {
        true => "yes, ".to_owned(),
        false => format!("I did not see it myself{}, but ", who::told(reading)),
    };
    told_place(reading, &lead, row, &[])
}

/// Where an object was at that time, newest first.
fn places_of(reading: &Reading, object: EntityId, at: Timestamp) -> Vec<Arc<MemoryRow>> {
    let rows = reading.view.memories_of(object).into_iter();
    holding(rows.filter(|row| object_of(row).is_some()).collect(), at)
}

/// Of each object the newest location that held at that time, newest first.
fn holding(mut located: Vec<Arc<MemoryRow>>, at: Timestamp) -> Vec<Arc<MemoryRow>> {
    located.retain(|row| row.valid_from <= at && row.valid_to.is_none_or(|end| at < end));
    located.sort_by_key(|row| std::cmp::Reverse((row.valid_from, row.id)));
    let mut known: Vec<Option<EntityId>> = Vec::new();
    located.retain(|row| {
        let object = object_of(row);
        let is_new = !known.contains(&object);
        known.push(object);
        is_new
    });
    located
}

/// Where a thing is, and where the others of its kind are; `lead` begins the sentence.
fn told_place(reading: &Reading, lead: &str, row: &MemoryRow, others: &[Arc<MemoryRow>]) -> Reply {
    let Some(fact) = &row.fact else { return Reply::nothing() };
    let name = |subject: &str| reading.view.described(subject);
    let since = reading.wording.moment(row.valid_from);
    let place = phrase(&format!("the {}", name(&fact.subject)), "location", &fact.value, false);
    let (sight, stood) =
        (last_sight(reading, &fact.subject), facts::place(reading, row.span.start));
    let mut text = sentence(&format!("{lead}{place} (known since {since}){sight}{stood}."));
    if let Some(object) = object_of(row)
        && let Some(told) = things::last_handling(reading, object, reading.time_asked())
    {
        text.push_str(&told);
    }
    for fact in others.iter().filter_map(|other| other.fact.as_ref()) {
        let thing = format!("another {}", name(&fact.subject));
        let told = sentence(&phrase(&thing, "location", &fact.value, false));
        text = format!("{text} {told}.");
    }
    let rows = std::iter::once(row).chain(others.iter().map(|other| &**other));
    let evidence = rows.map(|row| reading.memory_evidence(row, row.confidence)).collect();
    Reply::known(text, row.entities.clone(), evidence)
}

/// When a detector saw the thing last, and in which direction.
fn last_sight(reading: &Reading, subject: &str) -> String {
    let object = subject.parse::<EntityId>().ok();
    let seen = object.and_then(|object| reading.view.last_track_of(object, reading.time_asked()));
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
