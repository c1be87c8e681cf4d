//! What notes tell of somebody in words that no fact was made of: "Ava designs furniture" tells what she does for a living,
//! "He is in the lab, and hates noise" what he dislikes.
//!
//! Whoever is known by nothing but notes has no facts at all; so has what was told before somebody had a name.

use std::cmp::Reverse;

use crate::ids::EntityId;
use crate::memory::model::MemoryKind;
use crate::memory::natures::{RELATIONS, is_trade_word};
use crate::memory::{Filter, stems};
use crate::recall::lexer::{Token, tokens};

use super::facts::tell;
use super::phrase::is_determiner;
use super::premise::sentences;
use super::question::{is_grammar, listed};
use super::reading::Reading;
use super::reply::Reply;

/// Notes with the name that are looked at.
const LOOKED_AT: usize = 200;
/// What a note tells in words of its own is sure for so much.
const SURE: f32 = 0.8;
/// What is said right behind somebody, by what it tells. Of "is a", what follows has to be a trade.
const TELLING: [(&str, &[&str]); 5] = [
    (
        "job",
        &[
            "is a",
            "is an",
            "is our",
            "works as",
            "does the",
            "designs",
            "repairs",
            "sells",
            "manages",
            "runs the",
            "is in charge of",
            "is responsible for",
        ],
    ),
    ("employer", &["works in", "works at", "works for", "is employed"]),
    ("likes", &["likes", "loves", "enjoys", "adores", "prefers", "is fond of", "is keen on"]),
    (
        "dislikes",
        &[
            "hates",
            "dislikes",
            "detests",
            "can't stand",
            "cannot stand",
            "doesn't like",
            "does not like",
        ],
    ),
    ("home", &["lives in"]),
];
/// Words before a trade.
const ARTICLES: &str = "a an our";
/// Words of a trade, at most.
const LONGEST_TRADE: usize = 3;
/// Beside a trade, what makes it none.
const NO_TRADE: &str =
    "bad good great terrible former retired aspiring future amateur hobby failed not";
/// What one does and has no job: "does the dishes".
const NO_WORK: &str =
    "dishes washing laundry shopping cleaning cooking ironing same best rest it that this";
/// Words that join two clauses.
const JOINTS: &str = "and but because";
/// Words that begin a clause of others.
const OTHERS: &str =
    "i you we they it he she who which that there nobody somebody everybody everyone";
/// Somebody else whom "he" may mean.
const PERSONS: &str = "man woman boy girl guy visitor guest child kid baby lady gentleman somebody someone customer client";
/// Words between somebody and what is said.
const BETWEEN: &str = "also really still now always mostly currently";
/// A sentence with one of these may tell what is not so, or what another says.
const UNSURE: &str = "maybe perhaps probably might may could would if whether think thinks said says told tells asked wants used \
                      pretends";
/// A sentence with one of these may end what was told before.
const ENDING: &str = "not no never longer anymore doesn't don't isn't didn't stopped quit";
/// Nobody else may be meant by "he" beside these.
const CALENDAR: &str = "monday tuesday wednesday thursday friday saturday sunday january february march april june july august \
                        september october november december i";

/// Somebody of whom notes may tell.
pub(super) struct Noted<'a> {
    reading: &'a Reading,
    /// By what names, words in lower case.
    names: Vec<Vec<String>>,
    id: Option<EntityId>,
}

/// What one note says to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    /// It tells what is asked.
    Told,
    /// It may end what was told before.
    Over,
}

impl<'a> Noted<'a> {
    /// Somebody who is known.
    pub(super) fn known(reading: &'a Reading, id: EntityId) -> Self {
        let names = reading.view.names(id);
        let names = names.iter().map(|row| words_of(&row.name)).collect();
        Self { reading, names, id: Some(id) }
    }

    /// Somebody by whom only the name is known.
    pub(super) fn called(reading: &'a Reading, name: &str) -> Self {
        Self { reading, names: vec![words_of(name)], id: None }
    }

    /// The newest note that tells it; `None`: none does, or it may be over.
    pub(super) fn of(&self, attribute: &str) -> Option<Reply> {
        let (_, telling) = TELLING.iter().find(|(one, _)| *one == attribute)?;
        let at = self.reading.time_asked();
        let kinds = vec![MemoryKind::Note];
        let filter = Filter { kinds, valid_at: Some(at), ..Filter::default() };
        let names: Vec<String> = self.names.iter().map(|name| name.join(" ")).collect();
        let hits = self.reading.view.lexical(&names.join(" "), LOOKED_AT, &filter).into_iter();
        let mut notes: Vec<_> = hits.filter_map(|(id, _)| self.reading.view.memory(id)).collect();
        notes.retain(|row| row.span.start <= at);
        notes.sort_by_key(|row| Reverse((row.span.start, row.id)));
        for note in notes {
            match said(&self.reading.rendered(&note.text), &self.names, telling) {
                Said::Nothing => {}
                Said::Over => return None,
                Said::Told => {
                    let evidence =
                        vec![self.reading.memory_evidence(&note, note.confidence * SURE)];
                    let who = self.id.into_iter().collect();
                    return Some(Reply::known(tell(self.reading, &note), who, evidence));
                }
            }
        }
        None
    }
}

fn words_of(name: &str) -> Vec<String> {
    tokens(name).into_iter().map(|token| token.word).collect()
}

/// What a text says of whoever is called so.
fn said(text: &str, names: &[Vec<String>], telling: &[&str]) -> Said {
    let (mut alone, mut begun, mut over) = (true, false, false);
    for sentence in sentences(text) {
        let words = tokens(sentence);
        alone &= is_alone(&words, names);
        let unsure = words.iter().any(|token| token.quoted || listed(UNSURE, &token.word));
        if unsure || sentence.ends_with('?') {
            continue;
        }
        let mut about = false;
        for at in 0..words.len() {
            let word = words[at].word.as_str();
            if at > 0 && !words[at - 1].stop && !listed(JOINTS, &words[at - 1].word) {
                continue;
            }
            let theirs = (begun || about) && alone && matches!(word, "he" | "she");
            // "… and hates noise"
            let half = about && !words[at].capital && !is_determiner(word) && !listed(OTHERS, word);
            let behind = match name_at(&words[at..], names) {
                Some(len) => at + len,
                None if theirs => at + 1,
                None if half => at,
                None => {
                    about &= listed(JOINTS, word);
                    continue;
                }
            };
            about = true;
            let skip = words[behind..].iter().take_while(|token| listed(BETWEEN, &token.word));
            let said = &words[behind + skip.count()..];
            if telling.iter().any(|cue| begins(said, cue)) {
                return Said::Told;
            }
            over |= ends(said, telling);
        }
        begun |= about;
    }
    if over { Said::Over } else { Said::Nothing }
}

/// Whether a clause ends what was told before: "doesn't work there any more", "is no longer a nurse".
fn ends(words: &[Token], telling: &[&str]) -> bool {
    let len = words.iter().position(|token| token.stop).map_or(words.len(), |stop| stop + 1);
    let clause = &words[..len];
    let denies = |token: &Token| listed(ENDING, &token.word);
    let of_trade = |two: &[Token]| denies(&two[0]) && listed(ARTICLES, &two[1].word);
    let verb = clause.iter().any(|token| is_verb(&token.word, telling));
    clause.iter().any(denies) && verb || clause.windows(2).any(of_trade)
}

/// How many words the name with which those begin has.
fn name_at(words: &[Token], names: &[Vec<String>]) -> Option<usize> {
    let is_it = |name: &&Vec<String>| {
        let same = words.len() >= name.len() && words.iter().zip(*name).all(|(a, b)| a.word == *b);
        same && !name.is_empty() && words[0].capital
    };
    names.iter().filter(is_it).map(Vec::len).max()
}

/// Whether a sentence tells of nobody else.
fn is_alone(words: &[Token], names: &[Vec<String>]) -> bool {
    let own = |word: &str| names.iter().flatten().any(|one| one == word);
    // "Ava is a nurse": that is Ava.
    let is = words.iter().take(LONGEST_TRADE).any(|token| listed("is was works", &token.word));
    words.iter().enumerate().all(|(at, token)| {
        let word = token.word.as_str();
        let name = token.capital && !own(word) && !listed(CALENDAR, word);
        let somebody = is_trade_word(word) || RELATIONS.contains(&word) || listed(PERSONS, word);
        !(name && (at > 0 || !is_grammar(word))) && (is || !somebody)
    })
}

/// Whether the words begin with what tells it.
fn begins(words: &[Token], cue: &str) -> bool {
    let count = cue.split(' ').count();
    let same = words.len() > count && cue.split(' ').zip(words).all(|(a, b)| a == b.word);
    let last = cue.rsplit(' ').next().unwrap_or_default();
    let next = words.get(count).map_or("", |token| token.word.as_str());
    same && match last {
        "a" | "an" | "our" => is_trade(&words[count..]),
        // "Designs furniture", not "sells her car".
        "designs" | "repairs" | "sells" => !is_determiner(next),
        _ => !listed(NO_WORK, next),
    }
}

/// "Carpenter", "night nurse and …"; not "bad cook".
fn is_trade(words: &[Token]) -> bool {
    let at = words.iter().take(LONGEST_TRADE).position(|token| is_trade_word(&token.word));
    at.is_some_and(|at| !words[..at].iter().any(|token| listed(NO_TRADE, &token.word)))
}

/// Whether a word is the verb of what tells it: "like" of "likes".
fn is_verb(word: &str, telling: &[&str]) -> bool {
    let verbs = telling.iter().filter_map(|cue| cue.split(' ').next());
    let mut verbs = verbs.filter(|verb| !is_grammar(verb) && !listed(ENDING, verb));
    let stem = stems(word);
    verbs.any(|verb| stems(verb) == stem)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_note_tells_of_somebody_or_not() {
        let names = [vec!["zoe".to_owned()]];
        let told = |attribute: &str, text: &str| {
            let (_, telling) = TELLING.iter().find(|(one, _)| *one == attribute).unwrap();
            said(text, &names, telling)
        };
        for (attribute, text) in [
            ("job", "Zoe designs furniture."),
            ("job", "Zoe is our metalworker. Her room is upstairs."),
            ("job", "Zoe is a carpenter and runs the workshop."),
            ("job", "Zoe does the accounts and sits in the front office."),
            ("employer", "Zoe does the electronics, she works in the lab."),
            ("dislikes", "Zoe is vegetarian. She likes soup and hates mushrooms."),
            ("likes", "Zoe is vegetarian. She likes soup and hates mushrooms."),
            ("dislikes", "Zoe doesn't like noise."),
        ] {
            assert_eq!(told(attribute, text), Said::Told, "{attribute}: {text}");
        }
        for (attribute, text) in [
            ("job", "Zoe is a bad cook."),
            ("job", "Zoe is our neighbour."),
            ("job", "Zoe does the dishes."),
            ("job", "Zoe sells her car."),
            ("job", "Is Zoe a carpenter?"),
            ("job", "Maybe Zoe is a carpenter."),
            ("job", "Ben said that Zoe is a carpenter."),
            ("job", "Zoe's sister is a carpenter."),
            ("dislikes", "Zoe met Ben. He hates mushrooms."),
            ("dislikes", "Zoe called the plumber. He hates mushrooms."),
            ("dislikes", "Zoe came and Ben hates mushrooms."),
            ("dislikes", "Zoe likes soup."),
        ] {
            assert_eq!(told(attribute, text), Said::Nothing, "{attribute}: {text}");
        }
        for (attribute, text) in [
            ("job", "Zoe is no longer a carpenter."),
            ("dislikes", "Zoe no longer hates mushrooms."),
            ("employer", "Zoe doesn't work in the lab any more."),
        ] {
            assert_eq!(told(attribute, text), Said::Over, "{attribute}: {text}");
        }
    }
}
