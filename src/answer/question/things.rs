//! Questions about things: "Is the red mug still on the kitchen table?", "Have you seen my keys?", "Who put them there?",
//! "What is in the garage?"

use super::describe::NOUNS;
use super::pieces::{Piece, Sentence, is_grammar};
use super::words::{WH, listed};
use super::{AboutThing, Subject};
use crate::answer::whereabouts::is_preposition;

/// Words that name something that was told before, or begin another clause.
const POINTING: &str = "it he she they we you i this that these those or if";
/// Words without which the name of a place is not whole: "next to my bed".
const BESIDE_NOUNS: &str = "the a an my your our his her their its of to";
/// Words of time and guess beside a thing or a place.
const ADVERBS: &str = "already anymore currently lately maybe perhaps presently";
/// What a camera has before it is no place.
const PICTURE: &str = "view sight picture frame";
/// What one does to see a thing.
const SIGHT: &str = "seen see noticed notice spotted spot";
/// What one does to bring a thing to its place.
const PLACING: &str = "put placed hid hidden moved stored laid hung brought";
/// The same, where a place is told; else somebody went.
const LEAVING: &str = "left kept";
/// Where a thing is that is pointed at.
const POINTED: &str = "there here back away down";
/// Words that hold sentences together, and behind an article name things.
const THINGS_TOO: &str = "saw can list will";
/// What stands before a thing.
const ARTICLES: &str = "the a an my our your his her their 's";
/// Who is somewhere is no thing that is there.
const PERSONS: &str = "persons visitors guests residents patients customers boys girls kids ladies gentlemen strangers \
    voices faces speakers colleagues neighbours friends";
/// Longest name of a thing, words.
const LONGEST: usize = 5;

/// What the question asks about a thing, as far as it has that form.
pub(super) fn about(sentence: &Sentence) -> Option<AboutThing> {
    is_at(sentence)
        .or_else(|| seen(sentence))
        .or_else(|| contents(sentence))
        .or_else(|| put_by(sentence))
        .or_else(|| since(sentence))
}

/// Whose thing is asked for: named in the genitive before any place is told.
pub(super) fn owner(sentence: &Sentence) -> Option<&Subject> {
    let pieces = &sentence.pieces;
    let end = pieces.iter().position(begins_place).unwrap_or(pieces.len());
    owners_in(sentence, &pieces[..end]).next()
}

/// Everybody who stands in the genitive: owners of things and of places.
pub(super) fn owners(sentence: &Sentence) -> Vec<&Subject> {
    owners_in(sentence, &sentence.pieces).collect()
}

fn owners_in<'a>(sentence: &'a Sentence, pieces: &'a [Piece]) -> impl Iterator<Item = &'a Subject> {
    pieces.windows(3).filter_map(move |three| match three {
        [Piece::Subject(index), Piece::Word(genitive), Piece::Word(thing)]
            if genitive == "'s" && !is_grammar(thing) =>
        {
            sentence.subjects.get(*index)
        }
        _ => None,
    })
}

/// "Is the red mug still on the kitchen table?", "Was there a cup in the sink?"
fn is_at(sentence: &Sentence) -> Option<AboutThing> {
    let [Piece::Word(verb), rest @ ..] = sentence.pieces.as_slice() else { return None };
    let past = is_past(verb)?;
    let at = rest.iter().position(begins_place)?;
    let (thing, place) = rest.split_at(at);
    Some(AboutThing::IsAt { thing: named(sentence, thing)?, place: placed(sentence, place)?, past })
}

/// "Have you seen my keys?", "Did you ever see a dog?"
fn seen(sentence: &Sentence) -> Option<AboutThing> {
    let [Piece::Word(verb), Piece::Word(you), rest @ ..] = sentence.pieces.as_slice() else {
        return None;
    };
    if !matches!(verb.as_str(), "have" | "did") || you != "you" {
        return None;
    }
    let sees = |piece: &Piece| matches!(piece, Piece::Word(word) if listed(SIGHT, word));
    // "Have you ever seen …"
    let at = rest.iter().take(2).position(sees)?;
    let what = &rest[at + 1..];
    let end = what.iter().position(begins_place).unwrap_or(what.len());
    Some(AboutThing::Seen { thing: named(sentence, &what[..end])? })
}

/// "What is in the garage?", "Which things were there on the shelf?"
fn contents(sentence: &Sentence) -> Option<AboutThing> {
    let [Piece::Word(what), rest @ ..] = sentence.pieces.as_slice() else { return None };
    if !matches!(what.as_str(), "what" | "which") {
        return None;
    }
    let rest = match without(rest, "things thing objects else") {
        // "What medicines are in the box?"
        [Piece::Word(kind), rest @ ..] if is_kind(kind) && is_several(rest) => rest,
        rest => rest,
    };
    let [Piece::Word(verb), rest @ ..] = rest else { return None };
    let past = is_past(verb)?;
    let place = without(rest, "there");
    begins_place(place.first()?).then_some(())?;
    Some(AboutThing::Contents { place: placed(sentence, place)?, past })
}

/// Whether a word names things of one kind.
fn is_kind(word: &str) -> bool {
    word.ends_with('s') && !is_grammar(word) && !listed(PERSONS, word) && is_past(word).is_none()
}

fn is_several(pieces: &[Piece]) -> bool {
    matches!(pieces.first(), Some(Piece::Word(word)) if listed("are were", word))
}

/// "Who put the pliers there?", "Who left my keys in the drawer?"
fn put_by(sentence: &Sentence) -> Option<AboutThing> {
    let [Piece::Word(who), rest @ ..] = sentence.pieces.as_slice() else { return None };
    let [Piece::Word(verb), rest @ ..] = without(rest, "has have had") else { return None };
    let (thing, place) = thing_and_place(sentence, rest)?;
    let fits = listed(PLACING, verb) || listed(LEAVING, verb) && (place.is_some() || points(rest));
    (who == "who" && fits).then_some(AboutThing::PutBy { thing, place })
}

/// "Since when are the keys in the drawer?", "How long has the mug been there?", "When was it put there?"
fn since(sentence: &Sentence) -> Option<AboutThing> {
    let pieces = without(&sentence.pieces, "for");
    let [Piece::Word(first), Piece::Word(second), rest @ ..] = pieces else { return None };
    let (long, rest) = match (first.as_str(), second.as_str()) {
        ("how", "long") => (true, without(rest, "is are was were has have had")),
        ("since", "when") => (false, without(rest, "is are was were has have had")),
        ("when", "was" | "were") => {
            let verb = |piece: &Piece| matches!(piece, Piece::Word(word) if listed(PLACING, word));
            let at = rest.iter().position(verb)?;
            let (thing, place) = (named(sentence, &rest[..at])?, place_in(sentence, &rest[at..])?);
            return Some(AboutThing::Since { thing, place, long: false });
        }
        _ => return None,
    };
    let (thing, place) = thing_and_place(sentence, rest)?;
    (place.is_some() || points(rest)).then_some(AboutThing::Since { thing, place, long })
}

/// The pieces after one of those words, where it stands there.
fn without<'a>(pieces: &'a [Piece], words: &str) -> &'a [Piece] {
    match pieces {
        [Piece::Word(word), rest @ ..] if listed(words, word) => rest,
        pieces => pieces,
    }
}

fn is_past(verb: &str) -> Option<bool> {
    match verb {
        "is" | "are" => Some(false),
        "was" | "were" => Some(true),
        _ => None,
    }
}

/// Whether a place is pointed at: "there".
fn points(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Word(word) if listed(POINTED, word)))
}

/// "the pliers there", "my keys in the drawer": the thing's name, and the place where one is named.
fn thing_and_place(sentence: &Sentence, pieces: &[Piece]) -> Option<(Vec<String>, Option<String>)> {
    let pointed = |piece: &Piece| matches!(piece, Piece::Word(word) if listed(POINTED, word));
    let ends = |piece: &Piece| begins_place(piece) || pointed(piece);
    let at = pieces.iter().position(ends).unwrap_or(pieces.len());
    Some((named(sentence, &pieces[..at])?, place_in(sentence, &pieces[at..])?))
}

/// The place that is named there, if any; `None` where it is none that things are in.
fn place_in(sentence: &Sentence, pieces: &[Piece]) -> Option<Option<String>> {
    match pieces.iter().position(begins_place) {
        Some(at) => placed(sentence, &pieces[at..]).map(Some),
        None => Some(None),
    }
}

fn begins_place(piece: &Piece) -> bool {
    matches!(piece, Piece::Word(word) if is_preposition(word))
}

/// Whether somebody's name stands there in the genitive: "Ava's mug".
fn is_owner(sentence: &Sentence, subject: usize, next: Option<&Piece>) -> bool {
    let named = sentence.subjects.get(subject);
    matches!(named, Some(Subject::Known { .. } | Subject::Unknown(_)))
        && matches!(next, Some(Piece::Word(word)) if word == "'s")
}

/// Things whose names are words of grammar: "the saw".
pub(super) fn in_disguise(sentence: &Sentence) -> impl Iterator<Item = &str> {
    let pieces = &sentence.pieces;
    let word = move |at: usize| match &pieces[at] {
        Piece::Word(word) => Some(word.as_str()),
        _ => None,
    };
    (0..pieces.len()).filter(move |at| is_thing(pieces, *at)).filter_map(word)
}

fn is_thing(pieces: &[Piece], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| &pieces[at]);
    matches!(before, Some(Piece::Word(article)) if listed(ARTICLES, article))
        && matches!(&pieces[at], Piece::Word(word) if listed(THINGS_TOO, word))
}

/// The content words of a thing's name, whosever it is; `None` for persons and for whole clauses.
fn named(sentence: &Sentence, pieces: &[Piece]) -> Option<Vec<String>> {
    let mut thing = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Word(word) => {
                let word = word.as_str();
                if listed(POINTING, word) || listed(WH, word) || NOUNS.contains(&word) {
                    return None;
                }
                if !is_grammar(word) && !listed(ADVERBS, word) || is_thing(pieces, at) {
                    thing.push(word.to_owned());
                }
            }
            Piece::Subject(index) if is_owner(sentence, *index, pieces.get(at + 1)) => {}
            Piece::Time(_) => {}
            Piece::Subject(_) | Piece::Quote(_) => return None,
        }
    }
    (1..=LONGEST).contains(&thing.len()).then_some(thing)
}

/// The place as it is written; `None` where nothing is named.
fn placed(sentence: &Sentence, pieces: &[Piece]) -> Option<String> {
    let mut place = String::new();
    let mut is_named = false;
    for (at, piece) in pieces.iter().enumerate() {
        let word = match piece {
            Piece::Word(word) => word.as_str(),
            Piece::Subject(index) if is_owner(sentence, *index, pieces.get(at + 1)) => {
                match &sentence.subjects[*index] {
                    Subject::Known { text, .. } | Subject::Unknown(text) => text.as_str(),
                    _ => return None,
                }
            }
            Piece::Time(_) => continue,
            Piece::Subject(_) | Piece::Quote(_) => return None,
        };
        if listed(POINTING, word) || listed(WH, word) || listed(PICTURE, word) {
            return None;
        }
        let of_place = is_preposition(word) || listed(BESIDE_NOUNS, word);
        let telling = !is_grammar(word) && !listed(ADVERBS, word);
        is_named |= telling && !is_preposition(word);
        if word == "'s" {
            place.push_str(word);
        } else if of_place || telling {
            place.push_str(if place.is_empty() { "" } else { " " });
            place.push_str(word);
        }
    }
    is_named.then_some(place)
}
