//! Where somebody was told to be, of whom percepts tell nothing: "Otto sleeps in the attic", "Otto and Zoe have swapped
//! rooms: she is in room 3 now".
//!
//! The newest note that says so counts. Whom "she" means, of two who are named, other notes tell: those that speak of one
//! of them alone.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::Filter;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::names::is_title;
use crate::recall::lexer::{Token, tokens};
use crate::text::sentences;

use super::phrase::is_determiner;
use super::question::{Ask, Parsed, is_grammar, listed};
use super::reading::Reading;
use super::reply::Reply;
use super::unmet::is_named;

/// Notes with the name that are looked at.
const LOOKED_AT: usize = 200;
/// What was told is so for so much.
const SURE: f32 = 0.7;
/// What somebody does who is somewhere.
const BEING: &str = "is was lives lived sleeps slept stays stayed sits sat stands stood waits waited works worked rests hides";
/// What is asked of where somebody dwells.
const DWELLING: &str = "sleep sleeps stay stays staying sit sits room flat";
/// Of having a room.
const HAVING: &str = "has had";
/// What is had so.
const ROOM: &str = "room flat apartment bed cabin office desk";
/// What begins a place.
const PLACES: &str = "in at on under behind beside near inside outside";
/// What may stand beside the verb.
const BESIDE: &str = "now still also currently there down up over out back both again";
/// What ends a place.
const ENDS: &str =
    "and but because so since when while who which that he she they with for from to";
/// What somebody does who is elsewhere then.
const GOING: &str =
    "went gone left leaves leaving taken drove flew flies travelled moved moves back returned";
/// What is no place: "in a hurry", "at work on it".
const NO_PLACE: &str = "hurry charge trouble pain touch love tears mood time fact general advance february january march april \
    may june july august september october november december monday tuesday wednesday thursday friday saturday sunday least last \
    first once";
const HE: &str = "he him his";
const SHE: &str = "she her hers";
/// Words of a place, at most.
const LONGEST: usize = 6;

/// Where somebody of those names is, by the newest note that tells it; `None`: none does, or it leaves open of whom, or
/// they went since. `dwells`: it is asked where they sleep, wherever they went.
pub(super) fn of(reading: &Reading, names: &[String], dwells: bool) -> Option<Reply> {
    let at = reading.time_asked();
    let mut notes = notes_about(reading, names);
    notes.retain(|(row, _)| row.span.start <= at);
    for (row, text) in notes {
        if !dwells && tells_of_going(&tokens(&text)) {
            return None;
        }
        match said(reading, &text, names) {
            Said::Nothing => {}
            Said::OfSomebody => return None,
            Said::Place(what) => {
                let name = names.first()?;
                let told = reading.wording.at(row.span.start);
                let evidence = vec![reading.memory_evidence(&row, row.confidence)];
                let text = format!("{name} {what}, as I was told {told}.");
                let reply = Reply::known(text, row.entities.clone(), evidence);
                return Some(Reply { confidence: SURE, ..reply });
            }
        }
    }
    None
}

/// Whether words tell that somebody went; "the back room" and "on the left" do not.
fn tells_of_going(words: &[Token]) -> bool {
    let named = |at: usize| at > 0 && is_determiner(&words[at - 1].word);
    (0..words.len()).any(|at| listed(GOING, &words[at].word) && !named(at))
}

/// Whether a question for where somebody is may be answered by where they dwell: not of a day that is over.
pub(super) fn is_asked(reading: &Reading, parsed: &Parsed) -> bool {
    matches!(parsed.ask, Ask::Where { .. }) && !(parsed.past && reading.spans.is_some())
}

/// The same of somebody who is known, where it is asked for a place to live or sleep in, or nobody ever met them.
pub(super) fn of_known(reading: &Reading, parsed: &Parsed, who: &[EntityId]) -> Option<Reply> {
    let [who] = who else { return None };
    let of_dwelling = parsed.content.iter().all(|word| listed(DWELLING, word));
    let dwells = !parsed.content.is_empty();
    let unmet = || dwells || reading.view.parts_of(*who).is_empty();
    let asked = is_asked(reading, parsed) && parsed.owner.is_none();
    (asked && of_dwelling && Reading::is_person(*who) && unmet()).then_some(())?;
    let names: Vec<String> = reading.view.names(*who).iter().map(|row| row.name.clone()).collect();
    of(reading, &names, dwells)
}

/// What one note says to it.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    /// Of one of several: nobody can tell of whom.
    OfSomebody,
    /// "is in room 3 now"
    Place(String),
}

fn notes_about(reading: &Reading, names: &[String]) -> Vec<(Arc<MemoryRow>, String)> {
    let filter = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
    let hits = reading.view.lexical(&names.join(" "), LOOKED_AT, &filter).into_iter();
    let rows = hits.filter_map(|(id, _)| reading.view.memory(id));
    let texts = rows.map(|row| {
        let text = reading.rendered(&row.text);
        (row, text)
    });
    let named = |text: &str| {
        let words = tokens(text);
        names.iter().any(|name| is_named(&words, name))
    };
    let mut notes: Vec<_> = texts.filter(|(_, text)| named(text)).collect();
    notes.sort_by_key(|(row, _)| Reverse((row.span.start, row.id)));
    notes
}

fn said(reading: &Reading, text: &str, names: &[String]) -> Said {
    let mut told: Option<Said> = None;
    for sentence in sentences(text).filter(|sentence| !sentence.ends_with('?')) {
        let words = tokens(sentence);
        let mut is_told = false;
        for at in 0..words.len() {
            let Some((subject, behind)) = subject_at(&words, at) else { continue };
            let Some(what) = place_behind(sentence, &words, behind, is_told) else { continue };
            is_told = true;
            let theirs = match subject {
                Subject::Called(name) => {
                    let name = &words[name];
                    Some(names.iter().any(|one| is_named(name, one)))
                }
                Subject::Pronoun(word) => is_meant(reading, text, names, word),
            };
            match theirs {
                Some(true) => told = Some(Said::Place(what)),
                Some(false) => {}
                None => told = Some(told.unwrap_or(Said::OfSomebody)),
            }
        }
    }
    told.unwrap_or(Said::Nothing)
}

/// Of whom a clause tells.
enum Subject<'a> {
    /// By name: where it stands.
    Called(std::ops::Range<usize>),
    /// "she"
    Pronoun(&'a str),
}

/// The subject that begins there, and the first word behind it.
fn subject_at(words: &[Token], at: usize) -> Option<(Subject<'_>, usize)> {
    let word = words[at].word.as_str();
    if matches!(word, "he" | "she") {
        return Some((Subject::Pronoun(word), at + 1));
    }
    let inner = at.checked_sub(1).is_some_and(|before| goes_on(&words[before]));
    if inner || !is_name(&words[at]) {
        return None;
    }
    let mut end = at + 1;
    while words.get(end).is_some_and(is_name) && goes_on(&words[end - 1]) {
        end += 1;
    }
    let genitive = words[end - 1].word.ends_with("'s");
    (!genitive && !words[end - 1].stop).then_some((Subject::Called(at..end), end))
}

fn is_name(token: &Token) -> bool {
    // "They're"
    let head = token.word.split('\'').next().unwrap_or_default();
    token.capital && !token.quoted && !is_grammar(head)
}

/// Whether a name may go on behind a part of it: the full stop of a title ends nothing.
fn goes_on(token: &Token) -> bool {
    is_name(token) && (!token.stop || is_title(&token.word))
}

/// "is in room 3 now": a verb of being, and the place, as they are written. `told`: another clause of the sentence has the
/// verb ("Max sleeps in the attic, Zoe in the barn").
fn place_behind(sentence: &str, words: &[Token], at: usize, told: bool) -> Option<String> {
    let word = |at: usize| words.get(at).map_or("", |token| token.word.as_str());
    let skip = |at: usize| {
        at + words[at.min(words.len())..].iter().take_while(|t| listed(BESIDE, &t.word)).count()
    };
    let verb = skip(at);
    let (verb, start) = match word(verb) {
        is if listed(BEING, is) => (is, skip(verb + 1)),
        has if listed(HAVING, has) && listed(ROOM, word(verb + 1)) => (has, verb + 1),
        // "Zoe room 5"
        room if told && listed(ROOM, room) => ("has", verb),
        place if told && listed(PLACES, place) => ("is", verb),
        _ => return None,
    };
    let of_place = listed(PLACES, word(start)) || listed(ROOM, word(start));
    let behind = words.get(start..).filter(|_| of_place)?;
    let ends = |token: &Token| listed(ENDS, &token.word);
    let until = behind.iter().skip(1).position(ends).map_or(behind.len(), |at| at + 1);
    let stop = behind.iter().position(|token| token.stop).map_or(behind.len(), |at| at + 1);
    let place = &behind[..until.min(stop).min(LONGEST)];
    let (first, last) = (place.first()?, place.last()?);
    let telling = place.iter().skip(1).any(|token| !is_grammar(&token.word));
    let none = place.iter().any(|token| listed(NO_PLACE, &token.word));
    let text = &sentence[first.range.start..last.range.end];
    (telling && !none).then(|| format!("{verb} {text}"))
}

/// Whether a pronoun means whoever has those names; `None`: it may be another.
fn is_meant(reading: &Reading, text: &str, names: &[String], pronoun: &str) -> Option<bool> {
    let all = named_in(text);
    let theirs = |name: &String| {
        let name = tokens(name);
        names.iter().any(|one| is_named(&name, one))
    };
    let others: Vec<&String> = all.iter().filter(|name| !theirs(name)).collect();
    match others.as_slice() {
        [] => Some(true),
        [other] => {
            let own = pronoun_of(reading, names)?;
            let another = pronoun_of(reading, std::slice::from_ref(*other))?;
            (own != another).then_some(own == pronoun)
        }
        _ => None,
    }
}

/// "he" or "she": what notes call somebody of whom alone they tell.
fn pronoun_of(reading: &Reading, names: &[String]) -> Option<&'static str> {
    notes_about(reading, names).into_iter().find_map(|(_, text)| {
        if named_in(&text).len() != 1 {
            return None;
        }
        let words = tokens(&text);
        let any = |list: &str| words.iter().any(|token| listed(list, &token.word));
        match (any(HE), any(SHE)) {
            (true, false) => Some("he"),
            (false, true) => Some("she"),
            _ => None,
        }
    })
}

/// The names in a text, each once.
fn named_in(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in sentences(text) {
        let words = tokens(sentence);
        let mut at = 0;
        while at < words.len() {
            let mut end = at;
            while words.get(end).is_some_and(is_name) && (end == at || goes_on(&words[end - 1])) {
                end += 1;
            }
            if end == at {
                at += 1;
                continue;
            }
            let text = &sentence[words[at].range.start..words[end - 1].range.end];
            let name = text.trim_end_matches("'s").trim_end_matches("\u{2019}s").to_owned();
            let time = listed(NO_PLACE, &words[at].word);
            if !time && !found.contains(&name) {
                found.push(name);
            }
            at = end;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_stands_behind_somebody_and_a_verb() {
        let place = |sentence: &str| {
            let words = tokens(sentence);
            let mut told = false;
            let mut found = Vec::new();
            for at in 0..words.len() {
                let Some((_, behind)) = subject_at(&words, at) else { continue };
                if let Some(what) = place_behind(sentence, &words, behind, told) {
                    told = true;
                    found.push(what);
                }
            }
            found.join("; ")
        };
        for (sentence, wanted) in [
            ("Otto sleeps in the attic.", "sleeps in the attic"),
            (
                "Otto has swapped with Zoe: he is now in cabin 3 and she is in cabin 5.",
                "is in cabin 3; is in cabin 5",
            ),
            (
                "Max lives in flat 2, Zoe in flat 3 and Dr. Novak in flat 4.",
                "lives in flat 2; is in flat 3; is in flat 4",
            ),
            ("Max has room 4, Zoe room 5.", "has room 4; has room 5"),
            ("Otto is in a hurry.", ""),
            ("Otto is tired.", ""),
            ("Otto's bag is in the attic.", ""),
            ("Otto put the bag in the attic.", ""),
        ] {
            assert_eq!(place(sentence), wanted, "{sentence}");
        }
    }

    #[test]
    fn names_of_a_text_are_told_once() {
        assert_eq!(named_in("Otto met Dr. Novak. Otto's bag is here."), ["Otto", "Dr. Novak"]);
    }
}
