//! Where things are: the object–place table. Its rows are facts of the attribute `location`; what a detector saw
//! stands beside them.
//!
//! "Where is my mug?", "Where was it before?", "Is it still on the table?" and "Have you seen it?" are answered from
//! it first, for the one whose thing is meant; what was said of it since then puts the answer in doubt.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{Fact, MemoryKind, MemoryRow};
use crate::memory::{Filter, PerceptFilter, is_kin, stems, who_placed};
use crate::percept::Embedding;
use crate::time::Timestamp;

use super::nested::{chain, innermost, is_named_alike, whole};
use super::owner::{Belonging, Whose, actor, is_called_theirs, with_name};
use super::phrase::{as_spelled, is_plural, phrase};
use super::question::AboutThing;
use super::reading::{Reading, hull, touch};
use super::reply::Reply;
use super::whereabouts::Whereabouts;
use super::wording::sentence;
use super::{doubt, facts, matching, who};

/// Kinds of memories that state facts of things.
const STATING: [MemoryKind; 2] = [MemoryKind::Semantic, MemoryKind::Note];
/// Statements with words of a thing's name that are looked at.
const LOOKED_AT: usize = 50;
/// Places that one thing had, at most.
const MOST_PLACES: usize = 200;
/// Others of a kind that are told of beside the thing asked for.
const MOST_OTHERS: usize = 4;
/// How much confidence is left to a place after which something else was told of the thing.
const IN_DOUBT: f32 = 0.45;
/// The same where several are known, and one was asked for, or the other way round.
const OF_ANOTHER_NUMBER: f32 = 0.6;
/// The same where it was asked where somebody put it, and nobody said who did.
const BY_WHOMEVER: f32 = 0.6;

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

/// Of these, what somebody does with a thing.
const PUTTING: [&str; 13] = [
    "put", "place", "placed", "keep", "kept", "leave", "left", "store", "stored", "hide", "hid",
    "hidden", "lay",
];

/// A thing that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// Words of its name, and of what is done with it.
    pub(super) words: &'a [String],
    /// Whose it is.
    pub(super) whose: &'a Whose,
    /// Who put it where it is.
    pub(super) by: Option<EntityId>,
}

/// Whether those words ask where somebody put something.
pub(super) fn is_put(words: &[String]) -> bool {
    words.iter().any(|word| PUTTING.contains(&word.as_str())) && !naming(words).is_empty()
}

/// "Where is object_1?", a thing that has an id.
pub(super) fn where_object(reading: &Reading, object: EntityId) -> Reply {
    match places_of(reading, object, reading.time_asked()).first() {
        Some(row) => told_place(reading, "", row, &[]),
        None => nowhere(reading, object),
    }
}

/// "Have you seen object_1?"
pub(super) fn seen_object(reading: &Reading, object: EntityId) -> Reply {
    match places_of(reading, object, reading.now()).first() {
        Some(row) => sighted(reading, row, &[]),
        None => nowhere(reading, object),
    }
}

fn nowhere(reading: &Reading, object: EntityId) -> Reply {
    let name = reading.view.thing(&object.to_string());
    Reply::unknown(&format!("I don't know where {name} is.")).about(&[object])
}

/// "Where is my mug?", "Where should I put it?", "Where was it before?": the location that holds, or held, else what was
/// said about it. Of a thing that is called otherwise ("the blue mug") it is not told.
pub(super) fn where_thing(
    reading: &Reading,
    wanted: &Wanted<'_>,
    which: Which,
    vector: Option<&Embedding>,
) -> Reply {
    let holds = holding_by_words(reading, wanted.words, reading.time_asked());
    let found = held(reading, wanted, &holds).or_else(|| told_theirs(reading, wanted));
    let Some(Held { row, others }) = found else {
        return other_one(reading, wanted, &holds)
            .or_else(|| gone(reading, wanted))
            .unwrap_or_else(|| facts::search(reading, wanted.words, wanted.whose, vector));
    };
    let places = || history(reading, &row).into_iter();
    // Nobody was said to have put it there, and it is theirs.
    let not_by = |by: &EntityId| match actor(reading, &row) {
        Some(who) => who != *by,
        None => !is_called_theirs(reading, *by, &row),
    };
    let earlier = match (which, wanted.by.filter(not_by)) {
        (Which::Present, Some(by)) => {
            let own = places().rfind(|other| actor(reading, other) == Some(by));
            return match own {
                Some(own) => told_place(reading, "", &own, &[]),
                None if is_anothers(reading, &row) => put_by_another(reading, by, &row),
                None => put_by_nobody_knows_whom(reading, &row),
            };
        }
        (Which::Present, None) => None,
        (Which::First, _) => places().next(),
        (Which::Before, _) => places().rfind(|other| other.valid_from < row.valid_from),
    };
    match earlier.filter(|earlier| earlier.id != row.id) {
        Some(earlier) => told_place(reading, "", &earlier, &[]),
        None => {
            let told = told_place(reading, "", &row, &others);
            let reply = of_that_number(reading, wanted, &row, told);
            match others.is_empty() {
                true => with_beyond(reading, reply, &beyond(reading, &row)),
                false => reply,
            }
        }
    }
}

/// Whether it was told who put it there, be it only by a name.
fn is_anothers(reading: &Reading, row: &MemoryRow) -> bool {
    actor(reading, row).is_some() || who_placed(&row.text).is_some()
}

/// Where a thing is of which somebody in particular is said to have put it there.
fn put_by_nobody_knows_whom(reading: &Reading, row: &MemoryRow) -> Reply {
    let reply = told_place(reading, "", row, &[]);
    let text = format!("{} I don't know who put it there.", reply.text);
    Reply { text, confidence: reply.confidence * BY_WHOMEVER, ..reply }
}

fn put_by_another(reading: &Reading, by: EntityId, row: &MemoryRow) -> Reply {
    let lead = format!("I don't know where {} put it", reading.name(by));
    instead(reading, &lead, row).unwrap_or_else(Reply::nothing).about(&[by])
}

/// What is known of the thing instead.
pub(super) fn instead(reading: &Reading, lead: &str, row: &MemoryRow) -> Option<Reply> {
    let fact = row.fact.as_ref()?;
    let text = format!("{lead}; {}.", stands(reading, row, fact, false));
    let evidence = vec![reading.memory_evidence(row, row.confidence)];
    Some(Reply { evidence, ..Reply::unknown(&text).about(&row.entities) })
}

/// "The lamps are in the cellar" says less of "the lamp".
fn of_that_number(reading: &Reading, wanted: &Wanted<'_>, row: &MemoryRow, reply: Reply) -> Reply {
    let thing = row.fact.as_ref().map(|fact| reading.view.thing(&fact.subject));
    let naming = naming(wanted.words);
    let same = thing
        .zip(naming.last())
        .is_none_or(|(thing, noun)| is_plural(&thing.to_lowercase()) == is_plural(noun));
    match same {
        true => reply,
        false => Reply { confidence: reply.confidence * OF_ANOTHER_NUMBER, ..reply },
    }
}

/// Of a thing that was taken away, and nobody said where to: where it was last.
fn gone(reading: &Reading, wanted: &Wanted<'_>) -> Option<Reply> {
    let over = |end: Timestamp| end <= reading.time_asked();
    let row = last_place(reading, wanted).filter(|row| row.valid_to.is_some_and(over))?;
    let fact = row.fact.as_ref()?;
    let verb = if is_plural(&reading.view.thing(&fact.subject)) { "are" } else { "is" };
    let thing = called_so(reading, &row, fact);
    let mut text =
        format!("I don't know where {thing} {verb}; {}.", stands(reading, &row, fact, false));
    let mut evidence = vec![reading.memory_evidence(&row, row.confidence)];
    if let Some(newer) = later(reading, &row) {
        text = format!("{text} Since then: {}", facts::tell(reading, &newer));
        evidence.push(reading.memory_evidence(&newer, newer.confidence));
    }
    Some(Reply { evidence, ..Reply::unknown(&text).about(&row.entities) })
}

/// The newest place of a thing that is in no known place.
pub(super) fn last_place(reading: &Reading, wanted: &Wanted<'_>) -> Option<Arc<MemoryRow>> {
    let words = naming(wanted.words).join(" ");
    let name = stems(&words);
    let mut rows = places_by_words(reading, &words, None, LOOKED_AT);
    rows.retain(|row| {
        row.valid_from <= reading.time_asked()
            && is_called(reading, row, &name)
            && wanted.whose.owns(reading, row)
    });
    rows.into_iter().max_by_key(|row| (row.valid_from, row.id))
}

/// What the table says to whether a thing is somewhere, or was seen. `None`: it knows no such thing, and the question
/// may be another.
pub(super) fn told_of(
    reading: &Reading,
    asked: &AboutThing,
    whose: &Whose,
    embed: &mut dyn FnMut() -> Option<Embedding>,
) -> Option<Reply> {
    let wanted = |thing| Wanted { words: thing, whose, by: None };
    match asked {
        AboutThing::IsAt { thing, place, past } => is_at(reading, &wanted(thing), place, *past),
        AboutThing::Seen { thing } => Some(seen(reading, &wanted(thing), embed)),
        AboutThing::PutBy { .. } | AboutThing::Since { .. } | AboutThing::Contents { .. } => None,
    }
}

/// "Is the red mug still on the kitchen table?", "Was it in the drawer yesterday?"
fn is_at(reading: &Reading, wanted: &Wanted<'_>, place: &str, past: bool) -> Option<Reply> {
    let there = Whereabouts::of(place);
    let holds = holding_by_words(reading, wanted.words, reading.time_asked());
    let found = held(reading, wanted, &holds).or_else(|| told_theirs(reading, wanted));
    let Some(Held { row, others }) = found.filter(|_| !there.is_empty()) else {
        let otherwise = other_one(reading, wanted, &holds);
        return otherwise.or_else(|| gone(reading, wanted).filter(|_| !past));
    };
    if !past && later(reading, &row).is_some() {
        let Reply { text, entities, evidence, .. } = told_place(reading, "", &row, &[]);
        return Some(Reply { entities, evidence, ..Reply::unknown(&text) });
    }
    let is_there = |row: &MemoryRow| whereabouts(row).is_at(&there);
    if let Some(row) = std::iter::once(&row).chain(&others).find(|row| is_there(row)) {
        return Some(told_place(reading, "yes, ", row, &[]));
    }
    let beyond = beyond(reading, &row);
    if let Some(last) = beyond.iter().position(|row| is_there(row)) {
        let yes = told_place(reading, "yes, ", &row, &[]);
        return Some(with_beyond(reading, yes, &beyond[..=last]));
    }
    let span = reading.spans.as_deref().and_then(hull);
    let in_time = |row: &MemoryRow| {
        span.is_none_or(|span| {
            row.valid_from < span.end && row.valid_to.is_none_or(|end| end > span.start)
        })
    };
    let was = history(reading, &row).into_iter().rfind(|row| is_there(row) && in_time(row));
    if let Some(was) = was.as_ref().filter(|_| past) {
        return Some(told_place(reading, "yes, ", was, &[]));
    }
    let moved = was.is_some_and(|was| whereabouts(&was).has_nouns_of(&there));
    if moved || whereabouts(beyond.last().unwrap_or(&row)).rules_out(&there, &rooms(reading)) {
        let no = told_place(reading, "no, ", &row, &others);
        return Some(with_beyond(reading, no, &beyond));
    }
    let verb = if past { "was" } else { "is" };
    let lead = format!("I don't know whether it {verb} {place}; ");
    let known = told_place(reading, &lead, &row, &others);
    let Reply { text, entities, evidence, .. } = known;
    Some(Reply { entities, evidence, ..Reply::unknown(&text) })
}

/// "Have you seen my keys?": when a detector saw the thing, and where it is; else what is told of it.
fn seen(
    reading: &Reading,
    wanted: &Wanted<'_>,
    embed: &mut dyn FnMut() -> Option<Embedding>,
) -> Reply {
    let holds = holding_by_words(reading, wanted.words, reading.now());
    match held(reading, wanted, &holds).or_else(|| told_theirs(reading, wanted)) {
        Some(Held { row, others }) => sighted(reading, &row, &others),
        None => {
            other_one(reading, wanted, &holds).or_else(|| gone(reading, wanted)).unwrap_or_else(
                || facts::search(reading, wanted.words, wanted.whose, embed().as_ref()),
            )
        }
    }
}

/// Where a thing is, and whether it was seen there or only told of.
fn sighted(reading: &Reading, row: &MemoryRow, others: &[Arc<MemoryRow>]) -> Reply {
    let subject = row.fact.as_ref().and_then(|fact| fact.subject.parse::<EntityId>().ok());
    let spans = reading.spans.as_deref();
    let was_seen = subject.is_some_and(|object| {
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
    told_place(reading, &lead, row, others)
}

fn is_location(row: &MemoryRow) -> bool {
    row.fact.as_ref().is_some_and(|fact| fact.attribute == "location")
}

/// The best `most` statements of places with any of those words; with `at`: of places that held then.
pub(super) fn places_by_words(
    reading: &Reading,
    words: &str,
    at: Option<Timestamp>,
    most: usize,
) -> Vec<Arc<MemoryRow>> {
    let filter = Filter { kinds: STATING.to_vec(), valid_at: at, ..Filter::default() };
    let hits = reading.view.lexical_with_kin(words, most, &filter).into_iter();
    hits.filter_map(|(id, _)| reading.view.memory(id)).filter(|row| is_location(row)).collect()
}

/// Where things with any of those words in their names were at that time, newest first.
pub(super) fn holding_by_words(
    reading: &Reading,
    words: &[String],
    at: Timestamp,
) -> Vec<Arc<MemoryRow>> {
    holding(places_by_words(reading, &words.join(" "), Some(at), LOOKED_AT), at)
}

/// Where an object was at that time, newest first.
fn places_of(reading: &Reading, object: EntityId, at: Timestamp) -> Vec<Arc<MemoryRow>> {
    let rows = reading.view.memories_of(object).into_iter();
    holding(rows.filter(|row| is_location(row)).collect(), at)
}

/// Of each subject the newest location that held at that time, newest first.
pub(super) fn holding(mut located: Vec<Arc<MemoryRow>>, at: Timestamp) -> Vec<Arc<MemoryRow>> {
    located.retain(|row| row.valid_from <= at && row.valid_to.is_none_or(|end| at < end));
    located.sort_by_key(|row| std::cmp::Reverse((row.valid_from, row.id)));
    let mut subjects: Vec<String> = Vec::new();
    located.retain(|row| {
        let subject = row.fact.as_ref().map(|fact| fact.subject.clone()).unwrap_or_default();
        let fresh = !subjects.contains(&subject);
        subjects.push(subject);
        fresh
    });
    located
}

/// All places that the thing of that row had until now, by time.
pub(super) fn history(reading: &Reading, row: &MemoryRow) -> Vec<Arc<MemoryRow>> {
    let Some(fact) = &row.fact else { return Vec::new() };
    let mut places = match fact.subject.parse::<EntityId>() {
        Ok(object) => reading.view.memories_of(object),
        Err(_) => places_by_words(reading, &fact.subject, None, MOST_PLACES),
    };
    places.retain(|other| {
        other.fact.as_ref().is_some_and(|other| other.subject == fact.subject)
            && is_location(other)
            && other.valid_from <= reading.now()
    });
    places.sort_by_key(|other| (other.valid_from, other.id));
    places
}

/// A thing that is known, with its place.
pub(super) struct Held {
    pub(super) row: Arc<MemoryRow>,
    /// The places of others that are called so, newest first.
    others: Vec<Arc<MemoryRow>>,
}

/// The words that name the thing.
fn naming(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !OF_NO_THING.contains(&word.as_str())).cloned().collect()
}

/// The wanted stems, each as the thing's name has it that says it in another word: a bike may be called a bicycle.
fn as_named(wanted: &[String], thing: &str) -> Vec<String> {
    let have = stems(thing);
    let same = |word: &String| have.iter().find(|stem| is_kin(word, stem)).unwrap_or(word).clone();
    wanted.iter().map(same).collect()
}

/// How much of the wanted stems is in the name of the row's thing.
fn called(reading: &Reading, row: &MemoryRow, wanted: &[String]) -> f32 {
    let thing = row.fact.as_ref().map(|fact| reading.view.thing(&fact.subject));
    thing.map_or(0.0, |thing| matching::share(&as_named(wanted, &thing), &thing))
}

/// Whether the wanted stems name the row's thing: all of them, its noun among them.
fn is_called(reading: &Reading, row: &MemoryRow, wanted: &[String]) -> bool {
    let thing = row.fact.as_ref().map(|fact| reading.view.thing(&fact.subject));
    called(reading, row, wanted) >= 0.99
        && thing.is_some_and(|thing| matching::holds_noun(&as_named(wanted, &thing), &thing))
}

/// The thing that those words call, of the one whose it is to be. "Where is the place mat?" is looked for by all of its
/// words first.
pub(super) fn held(
    reading: &Reading,
    wanted: &Wanted<'_>,
    holds: &[Arc<MemoryRow>],
) -> Option<Held> {
    [wanted.words.to_vec(), naming(wanted.words)].iter().find_map(|words| {
        let name = stems(&words.join(" "));
        let is_it = |row: &&Arc<MemoryRow>| {
            is_called(reading, row, &name) && wanted.whose.owns(reading, row)
        };
        let mut found: Vec<Arc<MemoryRow>> = holds.iter().filter(is_it).cloned().collect();
        // "Where does Ben keep his saw?": not Ava's, where both are known.
        let theirs =
            |row: &Arc<MemoryRow>| wanted.by.is_some_and(|by| is_called_theirs(reading, by, row));
        if found.iter().any(theirs) {
            found.retain(theirs);
        }
        let mut found = found.into_iter();
        let row = found.next()?;
        Some(Held { row, others: found.take(MOST_OTHERS).collect() })
    })
}

/// The thing that was told to be theirs by what it is like: "The grey printer belongs to Ben."
fn told_theirs(reading: &Reading, wanted: &Wanted<'_>) -> Option<Held> {
    if *wanted.whose == Whose::Anybodys {
        return None;
    }
    let name = naming(wanted.words);
    let theirs = |one: &Belonging| {
        let words = one.is_of(reading, wanted.whose).then_some(one.thing.as_slice())?;
        let holds = holding_by_words(reading, words, reading.time_asked());
        held(reading, &Wanted { words, whose: &Whose::Anybodys, by: None }, &holds)
    };
    Belonging::of(reading, &name).iter().find_map(theirs)
}

/// Of a thing that is called otherwise ("the green mug", where a red one is known; "the car", where its keys are), or is
/// somebody else's.
fn other_one(reading: &Reading, wanted: &Wanted<'_>, holds: &[Arc<MemoryRow>]) -> Option<Reply> {
    let naming = naming(wanted.words);
    let words = naming.join(" ");
    let name = stems(&words);
    let anybodys = *wanted.whose == Whose::Anybodys;
    let belongings = if anybodys { Vec::new() } else { Belonging::of(reading, &naming) };
    let nearly = |row: &&Arc<MemoryRow>| {
        let thing = row.fact.as_ref().map(|fact| stems(&reading.view.thing(&fact.subject)));
        // Whose that one is was told: somebody else's.
        let told = |one: &Belonging| is_called(reading, row, &stems(&one.thing.join(" ")));
        if belongings.iter().any(told) {
            return false;
        }
        let likeness = called(reading, row, &name);
        let anothers = likeness >= 0.99 && !wanted.whose.owns(reading, row);
        let same_noun = thing.is_some_and(|thing| thing.last() == name.last());
        let of_another_noun = likeness >= 0.99 && !is_called(reading, row, &name);
        of_another_noun || same_noun && (anothers || anybodys && (0.5..0.99).contains(&likeness))
    };
    let row = holds.iter().find(nearly)?;
    let fact = row.fact.as_ref()?;
    let thing = called_so(reading, row, fact);
    let which = match wanted.whose {
        Whose::Anybodys => "that".to_owned(),
        whose => whose.thing(reading, &words),
    };
    let be = if is_plural(&which) { "are" } else { "is" };
    let text = format!(
        "I don't know where {which} {be}; what I know is that {}.",
        phrase(&thing, "location", &fact.value, false)
    );
    let evidence = vec![reading.memory_evidence(row, row.confidence)];
    Some(Reply { evidence, ..Reply::unknown(&text) })
}

pub(super) fn whereabouts(row: &MemoryRow) -> Whereabouts {
    row.fact.as_ref().map(|fact| Whereabouts::of(&fact.value)).unwrap_or_default()
}

/// Places of the robot that have a name.
fn rooms(reading: &Reading) -> Vec<Whereabouts> {
    let names = reading.view.places().into_iter().filter_map(|place| place.name);
    names.map(|name| Whereabouts::of(&name)).collect()
}

/// What was told of the thing of that row after its place was.
pub(super) fn later(reading: &Reading, row: &MemoryRow) -> Option<Arc<MemoryRow>> {
    let thing = reading.view.thing(&row.fact.as_ref()?.subject);
    doubt::later(reading, &thing, row, reading.time_asked())
}

/// Where a thing is, or was, and where the others of its kind are; `lead` begins the sentence. Where it may have been
/// moved since, that is told instead.
fn told_place(reading: &Reading, lead: &str, row: &MemoryRow, others: &[Arc<MemoryRow>]) -> Reply {
    let Some(fact) = &row.fact else { return Reply::nothing() };
    let over = row.valid_to.is_some_and(|end| end <= reading.now());
    if let Some(newer) = later(reading, row).filter(|_| !over) {
        let text = format!(
            "I am not sure: {}. Since then: {}",
            stands(reading, row, fact, true),
            facts::tell(reading, &newer)
        );
        let rows = [&*newer, row];
        let evidence = rows.map(|row| reading.memory_evidence(row, row.confidence * IN_DOUBT));
        return Reply::known(text, row.entities.clone(), Vec::from(evidence));
    }
    let mut text = sentence(&format!("{lead}{}.", stands(reading, row, fact, false)));
    for (other, fact) in others.iter().filter_map(|other| Some((other, other.fact.as_ref()?))) {
        let thing = called_so(reading, other, fact);
        let more = if is_plural(&thing) { "other" } else { "another" };
        let thing = match thing.strip_prefix("the ") {
            Some(bare) => format!("{more} {bare}"),
            None => thing,
        };
        let told = sentence(&phrase(&thing, "location", &fact.value, false));
        text = format!("{text} {told}.");
    }
    let rows = std::iter::once(row).chain(others.iter().map(|other| &**other));
    let evidence = rows.map(|row| reading.memory_evidence(row, row.confidence)).collect();
    Reply::known(text, row.entities.clone(), evidence)
}

/// The places of what the thing of that row is in, of what this is in, and so on, as far as each is one known thing and
/// nothing puts it in doubt.
fn beyond(reading: &Reading, row: &Arc<MemoryRow>) -> Vec<Arc<MemoryRow>> {
    let is_sure = |row: &MemoryRow| later(reading, row).is_none();
    match is_sure(row) {
        true => chain(row, |row| place_of_place(reading, row).filter(|outer| is_sure(outer))),
        false => Vec::new(),
    }
}

/// Where that is in which the thing of that row is; of a box of which several are known nobody knows it.
fn place_of_place(reading: &Reading, row: &MemoryRow) -> Option<Arc<MemoryRow>> {
    let place = &row.fact.as_ref()?.value;
    let place_of = |words: Vec<String>| {
        let wanted = Wanted { words: &words, whose: &Whose::Anybodys, by: None };
        let holds = holding_by_words(reading, &words, reading.time_asked());
        let Held { row, others } = held(reading, &wanted, &holds)?;
        let called = reading.view.thing(&row.fact.as_ref()?.subject);
        (others.is_empty() && is_named_alike(&called, &words.join(" "))).then_some(row)
    };
    // The drawer of the desk is where the desk is.
    place_of(innermost(place)).or_else(|| place_of(whole(place)?))
}

/// The reply about a thing, with where that is in which it is.
fn with_beyond(reading: &Reading, mut reply: Reply, beyond: &[Arc<MemoryRow>]) -> Reply {
    for (row, fact) in beyond.iter().filter_map(|row| Some((row, row.fact.as_ref()?))) {
        reply.text = format!("{} {}.", reply.text, sentence(&stands(reading, row, fact, false)));
        reply.confidence *= row.confidence;
        reply.evidence.push(reading.memory_evidence(row, row.confidence));
    }
    reply
}

/// "the red mug is on the kitchen table (known since …)"; of what is over, from when until when. `unsure`: it may be
/// over.
pub(super) fn stands(reading: &Reading, row: &MemoryRow, fact: &Fact, unsure: bool) -> String {
    let moment = |at: Timestamp| reading.wording.moment(at);
    let over = row.valid_to.filter(|end| *end <= reading.now());
    let held = match over {
        None if unsure => format!("told {}", reading.wording.at(row.valid_from)),
        None => format!("known since {}", moment(row.valid_from)),
        Some(end) => format!("from {} until {}", moment(row.valid_from), moment(end)),
    };
    let told = reading.rendered(&row.text);
    let place = as_spelled(&told, &fact.value).unwrap_or(&fact.value);
    let thing = called_so(reading, row, fact);
    let text = format!(
        "{} ({held}; \u{201c}{}\u{201d})",
        phrase(&thing, "location", place, over.is_some() || unsure),
        told.trim_end_matches('.'),
    );
    if over.is_some() || unsure {
        return text;
    }
    let sight = last_sight(reading, &fact.subject);
    format!("{text}{sight}{}", facts::place(reading, row.span.start))
}

/// "the red mug", "Ava's mug": the thing within a sentence.
pub(super) fn called_so(reading: &Reading, row: &MemoryRow, fact: &Fact) -> String {
    let thing = with_name(reading, &reading.view.thing(&fact.subject));
    let thing = bare(&thing);
    if !thing.replace('\u{2019}', "'").contains("'s ") {
        return format!("the {thing}");
    }
    let told = reading.rendered(&row.text);
    sentence(as_spelled(&told, thing).unwrap_or(thing))
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

fn bare(subject: &str) -> &str {
    subject.strip_prefix("the ").unwrap_or(subject)
}
