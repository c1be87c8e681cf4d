//! Events of one kind, counted or told one after the other: how many falls there were, which classes have been here, how
//! often children from a school came. What was only planned is none.

use crate::answer::question::{NOUNS, is_grammar, listed};
use crate::answer::reading::touch;
use crate::answer::reply::Reply;
use crate::answer::wording::{sentence as capitalised, times};
use crate::recall::lexer::Token;

use super::amounts::{BEING, CAME, PERSONS, number_of};
use super::clause::{Clause, Sentence, Word, taken_apart, words_of};
use super::cues::{find, holds, with_alike};
use super::{Asked, Event, happened, is_seen, quoting, scan, unsettled};

/// What makes a question one about what has been.
const BEEN: &str = "did was were had has have";
/// Before a noun that tells a deed by itself: "had a fall".
const ONE: &str = "a an another";
const HAD: &str = "had has have was took";
/// Makes something happen.
const CAUSING: [&str; 5] = ["set off", "trigger", "cause", "start", "switch on"];
/// What it does then.
const HAPPENING: [&str; 6] = ["go off", "set off", "trigger", "sound", "ring", "start"];

/// What notes tell of how many there were, and which. `None`: it is not asked, or not told.
pub(super) fn told_of(asked: &Asked<'_>) -> Option<Reply> {
    how_many(asked)
        .or_else(|| which_came(asked))
        .or_else(|| causes(asked))
        .or_else(|| how_often_they_came(asked))
}

/// The words of what is counted or asked for, from there on, and where they end.
fn noun<'a>(asked: &'a Asked<'_>, from: usize) -> Option<(&'a str, usize)> {
    let nouns = asked.words.get(from..)?.iter();
    let is_noun = |token: &&Token| {
        let verb = is_grammar(&token.word) || listed(CAME, &token.word);
        !verb && !token.capital && !asked.is_timed(token)
    };
    let end = from + nouns.take_while(is_noun).count();
    (end > from).then(|| (asked.word(end - 1), end))
}

/// Those of the times that the question tells.
fn in_time(asked: &Asked<'_>, mut events: Vec<Event>) -> Vec<Event> {
    let spans = asked.times(0..asked.words.len());
    let now = asked.reading.now();
    let then =
        |event: &Event| spans.is_empty() || spans.iter().any(|span| touch(*span, event.time));
    events.retain(|event| event.time.start <= now && then(event));
    events
}

/// "How many falls did we have in November?"
fn how_many(asked: &Asked<'_>) -> Option<Reply> {
    let of_number = (asked.word(0), asked.word(1)) == ("how", "many");
    let (noun, end) = noun(asked, 2).filter(|_| of_number)?;
    let rest = Clause::of(&asked.part(end..asked.words.len()));
    let others = rest.words.iter().any(|word| !listed(BEING, word));
    let been = listed(BEEN, asked.word(end));
    if !been || others || !rest.names.is_empty() || rest.is_telling() || listed(PERSONS, noun) {
        return None;
    }
    let query = with_alike(std::iter::once(noun));
    let counted = |sentence: &Sentence| number_of(&sentence.words, noun).is_some();
    // Where a number was told of them, that is the answer.
    if !scan(asked.reading, &query, &counted).is_empty() {
        return None;
    }
    let mut events = in_time(asked, scan(asked.reading, &query, &|told| is_deed(told, noun)));
    events.retain(|event| !event.planned);
    let all: Vec<&Event> = events.iter().collect();
    let noun = if all.len() == 1 { noun.strip_suffix('s').unwrap_or(noun) } else { noun };
    let lead = format!("{} {noun}, as far as I was told.", all.len());
    (!all.is_empty()).then(|| quoting(asked.reading, &lead, &all))
}

/// Whether a sentence tells that this was done: "Ava fell", "Ava had a fall", not "the fall".
fn is_deed(told: &Sentence, noun: &str) -> bool {
    let direct = find(&told.words, noun);
    let by_itself = direct.is_some();
    let Some(range) = direct.or_else(|| holds(&told.words, noun)) else { return false };
    let word = told.words[range.start].token.word.as_str();
    // A slip of paper is no fall.
    if !by_itself && !word.ends_with("ed") {
        return false;
    }
    let named = word == noun || noun.strip_suffix('s') == Some(word);
    let before = |by: usize| {
        let word = range.start.checked_sub(by).and_then(|at| told.words.get(at));
        word.map_or("", |word| word.token.word.as_str())
    };
    let had = listed(ONE, before(1)) && listed(HAD, before(2));
    (!named || had) && told.is_so(std::slice::from_ref(&range))
}

/// "Which school classes have been here up to now?"
fn which_came(asked: &Asked<'_>) -> Option<Reply> {
    let (noun, end) = noun(asked, 1).filter(|_| listed("which what", asked.word(0)))?;
    let came = Clause::of(&asked.part(end..asked.words.len()));
    let been = listed(BEEN, asked.word(end)) || listed(CAME, asked.word(end));
    let others = came.words.iter().any(|word| !listed(BEING, word)) || NOUNS.contains(&noun);
    if !been || !came.is_arrival() || others || !came.names.is_empty() {
        return None;
    }
    let arrival = Clause::arrival_of(Vec::new(), vec![noun.to_owned()]);
    let mut events = in_time(asked, happened(asked.reading, &arrival));
    events.retain(|event| !event.planned);
    let all: Vec<&Event> = events.iter().collect();
    (!all.is_empty()).then(|| quoting(asked.reading, "As far as I was told:", &all))
}

/// "What has set off the fire alarm this month?", where it happened more than once.
fn causes(asked: &Asked<'_>) -> Option<Reply> {
    let part = asked.part(0..asked.words.len());
    let words = taken_apart(&part);
    let caused = CAUSING.iter().find_map(|phrase| find(&words, phrase))?;
    let thing = Clause::of(part.get(caused.end..)?);
    let noun = thing.words.last().filter(|_| asked.word(0) == "what" && thing.names.is_empty())?;
    let query = format!("{noun} {}", HAPPENING.join(" "));
    let happens = |told: &Sentence| {
        let Some(at) = find(&told.words, noun) else { return false };
        let again = told.words.get(at.end).is_some_and(|word| word.token.word == "again");
        let happens = HAPPENING.iter().any(|phrase| find(&told.words, phrase).is_some());
        (happens || again) && told.is_so(&[])
    };
    let mut events = in_time(asked, scan(asked.reading, &query, &happens));
    events.retain(|event| !event.planned);
    let all: Vec<&Event> = events.iter().collect();
    let lead = format!("I was told of it {}.", times(all.len()));
    (all.len() > 1).then(|| quoting(asked.reading, &lead, &all))
}

/// "How often have children from Hill School been here?": whoever was announced as theirs, and came.
fn how_often_they_came(asked: &Asked<'_>) -> Option<Reply> {
    let often = match (asked.word(0), asked.word(1)) {
        ("how", "often") => true,
        ("how", "many") => asked.word(2) == "times",
        _ => false,
    };
    let came = Clause::of(&asked.part(2..asked.words.len()));
    let from = asked.find("from").is_some();
    let of_theirs = often && from && came.is_arrival() && !came.names.is_empty();
    if !of_theirs || is_seen(asked.reading, &came) {
        return None;
    }
    let theirs = Clause::arrival_of(came.names.clone(), Vec::new());
    let announced = scan(asked.reading, &theirs.query(), &|told| {
        told.names(&came.names) && told.is_so(&[]) && (told.is_plan() || told.moves.here)
    });
    let mut events: Vec<Event> = Vec::new();
    for event in &announced {
        let group = leader(&asked.reading.rendered(&event.row.text));
        let came = match event.planned {
            true if group.is_empty() => Vec::new(),
            true => happened(asked.reading, &Clause::arrival_of(group, Vec::new())),
            false => vec![event.clone()],
        };
        events.extend(came.into_iter().filter(|event| !event.planned));
    }
    let mut events = in_time(asked, events);
    events.sort_by_key(|event| (event.time.start, event.row.id));
    events.dedup_by_key(|event| event.row.id);
    if events.is_empty() {
        let plans: Vec<&Event> = announced.iter().collect();
        let lead = "I don't know how often";
        return (!plans.is_empty()).then(|| unsettled(asked.reading, lead, &plans));
    }
    let lead = format!("{}, as far as I was told.", capitalised(&times(events.len())));
    Some(quoting(asked.reading, &lead, &events.iter().collect::<Vec<_>>()))
}

/// Who or what a text begins with: "Class 4b".
fn leader(text: &str) -> Vec<String> {
    let words = words_of(text);
    let named = |word: &&Word| {
        word.token.capital || word.token.word.starts_with(|c: char| c.is_ascii_digit())
    };
    let names = words.iter().take_while(named).map(|word| word.token.word.clone());
    names.filter(|word| !is_grammar(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_is_counted_and_a_thing_is_not() {
        let counts = |text: &str| is_deed(&Sentence::of(text, Vec::new()), "falls");
        for text in ["Ava fell in the yard.", "Ava had a fall.", "Ava slipped on the ice."] {
            assert!(counts(text), "{text}");
        }
        for text in ["The falls are near.", "Ava did not fall.", "If Ava falls, ring me."] {
            assert!(!counts(text), "{text}");
        }
    }

    #[test]
    fn a_text_begins_with_whom_it_announces() {
        assert_eq!(leader("Room 4b from Hill School is coming."), ["room", "4b"]);
        assert_eq!(leader("They are coming."), [""; 0]);
    }
}
