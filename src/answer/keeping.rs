//! Who put a thing where it is, since when it is there, and what is in a place: from the object–place table.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::MemoryRow;
use crate::memory::who_placed;

use super::owner::{Whose, actor};
use super::phrase::{is_plural, placed};
use super::question::AboutThing;
use super::reading::Reading;
use super::reply::Reply;
use super::things::{
    Wanted, called_so, held, history, holding, holding_by_words, instead, last_place, later,
    places_by_words, stands, whereabouts,
};
use super::whereabouts::Whereabouts;
use super::wording::{length, list, sentence};

/// Statements with words of a place that are looked at.
const LOOKED_AT: usize = 200;
/// Things that are told of a place, at most.
const MOST_THINGS: usize = 10;

/// What the table says to who, since when, and what is there. `None`: nothing, or it is asked something else.
pub(super) fn told_of(reading: &Reading, asked: &AboutThing, whose: &Whose) -> Option<Reply> {
    let wanted = |thing| Wanted { words: thing, whose, by: None };
    match asked {
        AboutThing::PutBy { thing, place } => put_by(reading, &wanted(thing), place.as_deref()),
        AboutThing::Since { thing, place, long } => {
            since(reading, &wanted(thing), place.as_deref(), *long)
        }
        AboutThing::Contents { place, past } => contents(reading, place, *past),
        AboutThing::IsAt { .. } | AboutThing::Seen { .. } => None,
    }
}

/// "Who put the pliers in the drawer?"
fn put_by(reading: &Reading, wanted: &Wanted<'_>, place: Option<&str>) -> Option<Reply> {
    let row = match in_place(reading, wanted, place)? {
        Ok(row) => row,
        Err(row) => return instead(reading, "I don't know that", &row),
    };
    match (actor(reading, &row), who_placed(&row.text)) {
        (Some(who), _) => was_put_by(reading, &reading.name(who), vec![who], &row),
        // Somebody who is known by the name alone.
        (None, Some(who)) => was_put_by(reading, &reading.rendered(who), Vec::new(), &row),
        (None, None) => instead(reading, "I don't know who put it there", &row),
    }
}

fn was_put_by(
    reading: &Reading,
    who: &str,
    known: Vec<EntityId>,
    row: &MemoryRow,
) -> Option<Reply> {
    let fact = row.fact.as_ref()?;
    let text = format!(
        "{} put {} {} ({}; \u{201c}{}\u{201d}).",
        sentence(who),
        called_so(reading, row, fact),
        placed(&fact.value, "at the"),
        reading.wording.at(row.valid_from),
        reading.rendered(&row.text).trim_end_matches('.'),
    );
    let evidence = vec![reading.memory_evidence(row, row.confidence)];
    Some(Reply::known(text, known, evidence))
}

/// "Since when are the keys in the drawer?", `long`: "How long have they been there?"
fn since(reading: &Reading, wanted: &Wanted<'_>, place: Option<&str>, long: bool) -> Option<Reply> {
    let row = match in_place(reading, wanted, place)? {
        Ok(row) => row,
        Err(row) => return instead(reading, "I don't know that", &row),
    };
    let fact = row.fact.as_ref()?;
    let over = row.valid_to.filter(|end| *end <= reading.now());
    if over.is_none() && later(reading, &row).is_some() {
        return instead(reading, "I don't know whether it is still there", &row);
    }
    let thing = called_so(reading, &row, fact);
    let several = is_plural(&thing);
    let place = placed(&fact.value, "at the");
    let (begin, end) = (row.valid_from, over.unwrap_or(reading.now()));
    let span = match over {
        Some(end) => {
            let moment = |at| reading.wording.moment(at);
            format!("from {} until {}", moment(begin), moment(end))
        }
        None => format!("since {}", reading.wording.moment(begin)),
    };
    let verb = match (over.is_some(), several) {
        (true, true) => "were",
        (true, false) => "was",
        (false, true) => "have been",
        (false, false) => "has been",
    };
    let span = match long {
        true => format!("for {}, {span}", length(end.secs_since(begin).max(0.0))),
        false => span,
    };
    let told = reading.rendered(&row.text);
    let text = format!(
        "{} {verb} {place} {span}, as far as I know (\u{201c}{}\u{201d}).",
        sentence(&thing),
        told.trim_end_matches('.')
    );
    let evidence = vec![reading.memory_evidence(&row, row.confidence)];
    Some(Reply::known(text, row.entities.clone(), evidence))
}

/// "What is in the garage?" `None`: nothing is known to be, or to have been there.
fn contents(reading: &Reading, place: &str, past: bool) -> Option<Reply> {
    let there = Whereabouts::of(place);
    let at = reading.time_asked();
    let is_there = |row: &Arc<MemoryRow>| whereabouts(row).is_at(&there);
    let mut rows = holding(places_by_words(reading, place, Some(at), LOOKED_AT), at);
    rows.retain(|row| is_there(row) && later(reading, row).is_none());
    let told = |row: &Arc<MemoryRow>| {
        row.fact.as_ref().map(|fact| stands(reading, row, fact, false)).unwrap_or_default()
    };
    if let [first, ..] = rows.as_slice() {
        let entities = first.entities.clone();
        rows.truncate(MOST_THINGS);
        let each: Vec<String> = rows.iter().map(told).collect();
        let evidence = rows.iter().map(|row| reading.memory_evidence(row, row.confidence));
        let text = sentence(&format!("{}.", list(&each)));
        return Some(Reply::known(text, entities, evidence.collect()));
    }
    let mut ended = places_by_words(reading, place, None, LOOKED_AT);
    ended.retain(|row| is_there(row) && row.valid_from <= at);
    let last = ended.into_iter().max_by_key(|row| (row.valid_from, row.id))?;
    let evidence = vec![reading.memory_evidence(&last, last.confidence)];
    let known = told(&last);
    if past && reading.spans.is_none() {
        let text = sentence(&format!("{known}."));
        return Some(Reply::known(text, last.entities.clone(), evidence));
    }
    let text = format!("I don't know of anything there; {known}.");
    Some(Reply { evidence, ..Reply::unknown(&text) })
}

/// The statement that has the thing in that place, the newest of all where none is named; `Err`: it is, or was,
/// somewhere else. `None`: nothing is known of the thing.
fn in_place(
    reading: &Reading,
    wanted: &Wanted<'_>,
    place: Option<&str>,
) -> Option<Result<Arc<MemoryRow>, Arc<MemoryRow>>> {
    let holds = holding_by_words(reading, wanted.words, reading.time_asked());
    let held = held(reading, wanted, &holds).map(|held| held.row);
    let row = held.or_else(|| last_place(reading, wanted))?;
    let there = place.map(Whereabouts::of).filter(|there| !there.is_empty());
    let Some(there) = there else { return Some(Ok(row)) };
    let is_there = |row: &Arc<MemoryRow>| whereabouts(row).is_at(&there);
    if is_there(&row) {
        return Some(Ok(row));
    }
    let was = history(reading, &row).into_iter().rfind(is_there);
    Some(was.ok_or(row))
}
