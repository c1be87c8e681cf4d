//! What notes tell of somebody in words that no fact was made of: "Ava designs furniture" tells what she does for a living,
//! "He is in the lab, and hates noise" what he dislikes.
//!
//! Whoever is known by nothing but notes has no facts at all; so has what was told before somebody had a name.

use std::cmp::Reverse;

use crate::ids::EntityId;
use crate::memory::model::MemoryKind;
use crate::memory::natures::{RELATIONS, is_trade_word};
use crate::memory::{Filter, stems};
use crate::names::{is_title, may_be_one, title};
use crate::recall::lexer::{Token, tokens};
use crate::recall::time_expr::is_number;
use crate::text::sentences;

use super::facts::tell;
use super::phrase::is_determiner;
use super::question::{is_grammar, listed};
use super::reading::Reading;
use super::reply::Reply;

/// Notes with the name that are looked at.
const LOOKED_AT: usize = 200;
/// What a note tells in words of its own is sure for so much.
const SURE: f32 = 0.8;
/// What is said right behind somebody, by what it tells. Of "is a", what follows has to be a trade.
const TELLING: [(&str, &[&str]); 7] = [
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
    (
        "likes",
        &[
            "likes",
            "loves",
            "enjoys",
            "adores",
            "prefers",
            "is fond of",
            "is very fond of",
            "is keen on",
            "is mad about",
            "is crazy about",
            "has a weakness for",
            "has a soft spot for",
        ],
    ),
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
    ("age", &["is", "turns", "turned", "has turned", "will be", "will turn"]),
    ("birthday", &["turns", "will turn", "was born on", "birthday is", "birthday falls on"]),
];
/// The same of what was so once.
const TELLING_OF_ONCE: [(&str, &[&str]); 1] =
    [("job", &["was a", "was an", "was our", "was the", "worked as", "used to"])];
/// What one does for a living.
const WORKING: &str = "bake build clean conduct cook deliver design drive edit farm fish fly keep lecture make manage mend nurse \
    play repair restore run sail sell sing teach train translate work write";
/// What follows the number of years.
const BEHIND_YEARS: &str = "years on in today tomorrow this next soon and now then";
/// Words of a day beside those of the calendar.
const DAYS: &str = "today tomorrow";
/// Words before a trade.
const ARTICLES: &str = "a an our";
/// Oldest age that is believed, years.
const OLDEST: u32 = 130;
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
const CALENDAR: &str = "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august \
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

    /// The newest note that tells what was so once; `None`: none does.
    pub(super) fn of_once(&self, attribute: &str) -> Option<Reply> {
        let (_, telling) = TELLING_OF_ONCE.iter().find(|(one, _)| *one == attribute)?;
        self.told(attribute, telling)
    }

    /// The newest note that tells it; `None`: none does, or it may be over.
    pub(super) fn of(&self, attribute: &str) -> Option<Reply> {
        let (_, telling) = TELLING.iter().find(|(one, _)| *one == attribute)?;
        self.told(attribute, telling)
    }

    fn told(&self, attribute: &str, telling: &[&str]) -> Option<Reply> {
        let at = self.reading.time_asked();
        let kinds = vec![MemoryKind::Note];
        let filter = Filter { kinds, valid_at: Some(at), ..Filter::default() };
        let names: Vec<String> = self.names.iter().map(|name| name.join(" ")).collect();
        let hits = self.reading.view.lexical(&names.join(" "), LOOKED_AT, &filter).into_iter();
        let mut notes: Vec<_> = hits.filter_map(|(id, _)| self.reading.view.memory(id)).collect();
        notes.retain(|row| row.span.start <= at);
        notes.sort_by_key(|row| Reverse((row.span.start, row.id)));
        for note in notes {
            let text = self.reading.rendered(&note.text);
            match said(&text, &self.names, telling) {
                Said::Nothing => {}
                Said::Told if attribute == "birthday" && !is_dated(&text) => {}
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
        let once = telling.contains(&"used to");
        let is_unsure = |token: &Token| {
            let asked = once && token.word == "used";
            let month = token.word == "may" && token.capital;
            token.quoted || listed(UNSURE, &token.word) && !asked && !month
        };
        if words.iter().any(is_unsure) || sentence.ends_with('?') {
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
            let named = || birthday_at(&words[at..], names);
            let behind = match name_at(&words[at..], names).or_else(named) {
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

/// How many words the name with which those begin has, a title before it among them.
fn name_at(words: &[Token], names: &[Vec<String>]) -> Option<usize> {
    let starts = |words: &[Token], name: &[String]| {
        let same = words.len() >= name.len() && words.iter().zip(name).all(|(a, b)| a.word == *b);
        same && !name.is_empty() && words[0].capital
    };
    let length = |name: &Vec<String>| {
        let own = name.first().filter(|_| name.len() > 1).and_then(|first| title(first));
        let before = title(words.first()?.word.as_str());
        match (own, before) {
            _ if starts(words, name) => Some(name.len()),
            (Some(own), Some(before)) => {
                let same = may_be_one(own, before) && starts(&words[1..], &name[1..]);
                same.then_some(name.len())
            }
            (None, Some(_)) => starts(&words[1..], name).then_some(name.len() + 1),
            (Some(_), None) => starts(words, &name[1..]).then_some(name.len() - 1),
            (None, None) => None,
        }
    };
    names.iter().filter_map(length).max()
}

/// The same of "Ava's birthday", up to the birthday.
fn birthday_at(words: &[Token], names: &[Vec<String>]) -> Option<usize> {
    // A name, its title, and the birthday.
    let longest = names.iter().map(Vec::len).max()? + 2;
    let at = words.iter().take(longest).position(|token| token.word == "birthday")?;
    let last = words.get(at.checked_sub(1)?)?;
    let bare = last.word.strip_suffix("'s")?;
    let mut head = words[..at].to_vec();
    head.last_mut()?.word = bare.to_owned();
    (name_at(&head, names) == Some(at)).then_some(at)
}

/// Whether a text names a day.
fn is_dated(text: &str) -> bool {
    let day = |token: &Token| {
        let word = token.word.as_str();
        // "Ava may be here."
        let month = word != "may" || token.capital;
        word != "i" && month && listed(CALENDAR, word) || listed(DAYS, word)
    };
    tokens(text).iter().any(day)
}

/// Whether a sentence tells of nobody else.
fn is_alone(words: &[Token], names: &[Vec<String>]) -> bool {
    let own = |word: &str| names.iter().flatten().any(|one| one == word);
    // "Ava is a nurse": that is Ava.
    let is = words.iter().take(LONGEST_TRADE).any(|token| listed("is was works", &token.word));
    words.iter().enumerate().all(|(at, token)| {
        let word = token.word.as_str();
        let bare = word.strip_suffix("'s").unwrap_or(word);
        let name = token.capital && !own(bare) && !is_title(bare) && !listed(CALENDAR, word);
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
        "a" | "an" | "our" | "the" if cue.starts_with("was") => is_trade(&words[count..]),
        "a" | "an" | "our" => is_trade(&words[count..]),
        // "used to teach the piano", "used to be a baker"
        "to" if next == "be" => is_trade(&words[count + 1..]),
        "to" => listed(WORKING, next),
        "is" | "turns" | "turned" | "turn" | "be" if cue != "birthday is" => {
            is_age(&words[count..])
        }
        // "Designs furniture", not "sells her car".
        "designs" | "repairs" | "sells" => !is_determiner(next),
        _ => !listed(NO_WORK, next),
    }
}

/// "84", "84 years old", "84 on Friday"; not "84 percent".
fn is_age(words: &[Token]) -> bool {
    let Some(years) = words.first().filter(|years| is_number(&years.word)) else { return false };
    let behind = words.get(1).filter(|_| !years.stop);
    let small = years.word.parse::<u32>().map_or(true, |years| years <= OLDEST);
    small && behind.is_none_or(|behind| listed(BEHIND_YEARS, &behind.word))
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
            ("likes", "Zoe is back. She has a weakness for liquorice."),
            ("age", "Zoe is 41."),
            ("age", "Zoe turns 42 on the 9th of June."),
            ("age", "Zoe's birthday is the 9th of June, she will be 42."),
            ("birthday", "Zoe's birthday is the 9th of June, she will be 42."),
            ("birthday", "Zoe will turn 42 on the 9th of June."),
            ("job", "Dr. Zoe works as a vet."),
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
            ("age", "Zoe is 3 kilometres away."),
            ("age", "Zoe's sister is 41."),
            ("age", "Zoe turns the key."),
            ("job", "Zoe was a carpenter."),
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
        let (_, telling) = TELLING_OF_ONCE[0];
        for (text, wanted) in [
            ("Zoe was a carpenter before she retired.", Said::Told),
            ("Ben is a cook, and Zoe used to teach the violin.", Said::Told),
            ("Zoe used to be a nurse.", Said::Told),
            ("Zoe used to live in Bonn.", Said::Nothing),
            ("Zoe was a bad cook.", Said::Nothing),
            ("Zoe used to be afraid of dogs.", Said::Nothing),
        ] {
            assert_eq!(said(text, &names, telling), wanted, "{text}");
        }
    }

    #[test]
    fn a_title_belongs_to_the_name() {
        let zoe = |text: &str, name: &str| name_at(&tokens(text), &[words_of(name)]);
        assert_eq!(zoe("Doctor Novak is ill.", "Novak"), Some(2));
        assert_eq!(zoe("Doctor Novak is ill.", "Dr Novak"), Some(2));
        assert_eq!(zoe("Novak is ill.", "Doctor Novak"), Some(1));
        assert_eq!(zoe("Mrs Novak is ill.", "Mr Novak"), None);
    }
}
