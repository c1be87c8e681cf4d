//! A clause of a question ("Ava fell", "Mrs Hart fetched her coat"), and whether a sentence tells of it.

use std::ops::Range;

use crate::memory::{stems, telling_stems};
use crate::recall::lexer::{Token, tokens};

use super::cues::{find, holds, with_alike};
use crate::answer::question::{is_grammar, listed};

/// Capitalised words that name nobody.
const NO_NAMES: &str = "i i'm i've mr mrs ms miss dr doctor prof professor sir captain";
/// Words of grammar that are deeds.
const DEEDS: &str = "give gave given find found call called";
/// Words that tell nothing of what happened.
const ASIDE: &str = "already still yet ever again first last earlier later sooner himself herself themselves itself happen \
    happened happens place way";
/// Coming and going, told by themselves.
const LIGHT: &str = "go goes went gone going come came comes coming arrive arrived arrives visit visited visits here there";
/// What stands before a noun that is no way back: "the back gate".
const ARTICLES: &str = "the a an my our your his her their its in on at";
/// What is behind coming back.
const FROM: &str = "from to home on at in with and";
const AWAY: &str =
    "go goes went gone going left leaves taken took drove driven flew flown flies rushed admitted";
const HERE: &str = "came come comes arrived arrives arrive visited visits visit";
/// Coming, in two words.
const COMING: [&str; 9] = [
    "was here",
    "were here",
    "been here",
    "turn up",
    "show up",
    "drop in",
    "drop by",
    "stop by",
    "call in",
];
/// Of whom or what was told in the sentence before.
const PRONOUNS: &str = "he she they it him her them his their its it's he's she's they're";
/// What makes a sentence tell that it was not so …
const NOT: &str = "not no never nobody nothing none without cannot";
/// … or that it may be, has to be, or is always so.
const UNSURE: &str = "if unless whether whenever maybe perhaps might would could should must every each always usually often \
    daily weekly monthly";
/// What tells that it is to come.
const PLANNED: &str = "will shall plans planned booked wants hopes intends appointment i'll we'll he'll she'll they'll it'll";
const PLANS: [&str; 4] = ["is coming", "are coming", "is going to", "are going to"];
/// Presence: what percepts tell where somebody was seen.
const PRESENCE: &str =
    "left leave leaves leaving enter entered appear appeared disappear disappeared away";

/// A word with its stem.
#[derive(Clone, Debug)]
pub(in crate::answer) struct Word {
    pub(super) token: Token,
    pub(super) stem: String,
}

/// The words of a text.
pub(in crate::answer) fn words_of(text: &str) -> Vec<Word> {
    let word = |token: Token| Word { stem: stems(&token.word).concat(), token };
    tokens(text).into_iter().map(word).collect()
}

/// Those words of a question.
pub(super) fn taken_apart(words: &[&Token]) -> Vec<Word> {
    let word = |token: &&Token| Word { stem: stems(&token.word).concat(), token: (*token).clone() };
    words.iter().map(word).collect()
}

/// A sentence of a note, taken apart.
pub(in crate::answer) struct Sentence {
    pub(super) words: Vec<Word>,
    /// The words of the sentences before it.
    before: Vec<Word>,
    pub(super) moves: Moves,
}

impl Sentence {
    pub(in crate::answer) fn of(text: &str, before: Vec<Word>) -> Self {
        let words = words_of(text);
        let moves = Moves::of(&words);
        Self { words, before, moves }
    }

    /// Its words behind those before it.
    pub(super) fn all(self) -> Vec<Word> {
        let mut all = self.before;
        all.extend(self.words);
        all
    }

    /// Whether it tells of what is to come.
    pub(in crate::answer) fn is_plan(&self) -> bool {
        let plan = |word: &Word| listed(PLANNED, &word.token.word);
        self.words.iter().any(plan) || PLANS.iter().any(|run| has_run(&self.words, run))
    }

    /// Whether all those names are in it; where it has a pronoun, in the sentences before it.
    pub(super) fn names(&self, names: &[String]) -> bool {
        let is_in = |words: &[Word], name: &String| {
            words.iter().any(|word| bare(&word.token.word) == name.as_str())
        };
        let points = self.points();
        names.iter().all(|name| is_in(&self.words, name) || points && is_in(&self.before, name))
    }

    /// Where it holds each of those words that is in it; `None` where one is neither in it nor, where it has a pronoun, in
    /// the sentences before it.
    pub(super) fn hold(&self, words: &[String]) -> Option<Vec<Range<usize>>> {
        let points = self.points();
        let mut found = Vec::new();
        for word in words {
            match holds(&self.words, word) {
                Some(range) => found.push(range),
                None if points && holds(&self.before, word).is_some() => {}
                None => return None,
            }
        }
        Some(found)
    }

    fn points(&self) -> bool {
        self.words.iter().any(|word| listed(PRONOUNS, &word.token.word))
    }

    /// Whether it tells something that was so; `but`: where a negation is part of what is told ("can't find").
    pub(super) fn is_so(&self, but: &[Range<usize>]) -> bool {
        let told = |at: usize| but.iter().any(|range| range.contains(&at));
        let amiss = |(at, word): (usize, &Word)| {
            let word = word.token.word.as_str();
            let not = listed(NOT, word) || word.ends_with("n't");
            (not || listed(UNSURE, word)) && !told(at)
        };
        !self.words.iter().enumerate().any(amiss)
    }
}

/// Which ways a sentence tells of somebody's moving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moves {
    pub(super) here: bool,
    pub(super) away: bool,
    pub(super) back: bool,
}

impl Moves {
    pub(super) fn of(words: &[Word]) -> Self {
        let word = |at: usize| words.get(at).map_or("", |word| word.token.word.as_str());
        let mut moves = Self::default();
        for at in 0..words.len() {
            let before = at.checked_sub(1).map_or("", word);
            let ends = words[at].token.stop || at + 1 == words.len();
            moves.back |= match word(at) {
                "back" => !listed(ARTICLES, before) && !before.ends_with("'s"),
                "return" | "returned" | "returns" => ends || listed(FROM, word(at + 1)),
                "home" => listed("came come comes got gets", before),
                _ => false,
            };
            moves.here |= listed(HERE, word(at));
            moves.away |= listed(AWAY, word(at));
        }
        moves.here |= COMING.iter().any(|phrase| find(words, phrase).is_some());
        moves
    }
}

/// Which way a clause tells of moving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Going {
    Here,
    Away,
    Back,
}

/// What a clause tells, as far as notes are looked for by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clause {
    /// Names in it, lower case.
    pub(super) names: Vec<String>,
    /// Its other telling words, lower case.
    pub(super) words: Vec<String>,
    going: Option<Going>,
}

impl Clause {
    /// The clause of those words, without its times.
    pub(super) fn of(words: &[&Token]) -> Self {
        let moves = Moves::of(&taken_apart(words));
        let next = |at: usize| words.get(at + 1).map_or("", |token| token.word.as_str());
        let taken = |at: usize| words[at].word == "taken" && next(at) == "to";
        let goes = |token: &&Token| listed("go went gone goes going", &token.word);
        let come = |token: &&Token| listed("here arriving visiting", &token.word);
        let going = if moves.back {
            Some(Going::Back)
        } else if moves.here || words.iter().any(come) {
            Some(Going::Here)
        } else if (0..words.len()).any(taken) || words.iter().any(goes) {
            Some(Going::Away)
        } else {
            None
        };
        let mut clause = Self { going, ..Self::default() };
        for (at, token) in words.iter().enumerate() {
            let word = bare(&token.word);
            let returning = moves.back && listed("back return returned returns home", word);
            let light = listed(LIGHT, word) || returning || taken(at) || listed(ASIDE, word);
            let grammar = is_grammar(word) && !listed(DEEDS, word);
            if token.capital && listed(NO_NAMES, word) {
                continue;
            }
            if token.capital || is_numbered(word) {
                clause.names.push(word.to_owned());
            } else if !light && !grammar && !telling_stems(word).is_empty() {
                clause.words.push(word.to_owned());
            }
        }
        clause
    }

    /// Both in one: "fell" and "Ava".
    pub(super) fn with(&self, other: &Self) -> Self {
        let join = |a: &[String], b: &[String]| a.iter().chain(b).cloned().collect();
        Self {
            names: join(&self.names, &other.names),
            words: join(&self.words, &other.words),
            going: self.going.or(other.going),
        }
    }

    /// Whether it tells of anything that happened.
    pub(super) fn is_telling(&self) -> bool {
        !self.words.is_empty() || self.going.is_some() && !self.names.is_empty()
    }

    pub(super) fn is_return(&self) -> bool {
        self.going == Some(Going::Back)
    }

    /// Whether it tells that somebody came to be here.
    pub(super) fn is_arrival(&self) -> bool {
        self.going == Some(Going::Here)
    }

    /// The same, of whoever those are and whatever is told of them.
    pub(super) fn arrival_of(names: Vec<String>, words: Vec<String>) -> Self {
        Self { names, words, going: Some(Going::Here) }
    }

    /// Whether percepts tell it where somebody was seen.
    pub(super) fn is_of_presence(&self) -> bool {
        self.words.iter().all(|word| listed(PRESENCE, word))
    }

    /// What notes are looked up by.
    pub(super) fn query(&self) -> String {
        let moving = match self.going {
            Some(Going::Back) => "back return",
            Some(Going::Here) => "come visit arrive here turned dropped",
            Some(Going::Away) | None => "",
        };
        let words = self.words.iter().chain(&self.names).map(String::as_str);
        format!("{} {moving}", with_alike(words))
    }

    /// Whether a sentence tells of it.
    pub(super) fn is_told(&self, sentence: &Sentence) -> bool {
        let moves = sentence.moves;
        let goes = match self.going {
            Some(Going::Back) => moves.back,
            Some(Going::Here) => moves.here && !moves.back,
            Some(Going::Away) => moves.away && !moves.back,
            None => true,
        };
        if !goes || !sentence.names(&self.names) {
            return false;
        }
        let held = sentence.hold(&self.words);
        held.is_some_and(|held| {
            (self.words.is_empty() || !held.is_empty()) && sentence.is_so(&held)
        })
    }
}

fn has_run(words: &[Word], run: &str) -> bool {
    let run: Vec<&str> = run.split(' ').collect();
    words.windows(run.len()).any(|some| some.iter().zip(&run).all(|(a, b)| a.token.word == *b))
}

/// "4b": told apart by number and letter.
fn is_numbered(word: &str) -> bool {
    let ordinal = ["st", "nd", "rd", "th"].iter().any(|end| word.ends_with(end));
    let digit = word.starts_with(|c: char| c.is_ascii_digit());
    digit && word.ends_with(char::is_alphabetic) && !ordinal
}

/// A word without the "'s" of an owner.
pub(super) fn bare(word: &str) -> &str {
    word.strip_suffix("'s").unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clause(text: &str) -> Clause {
        let words = tokens(text);
        Clause::of(&words.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_clause_is_its_names_and_its_telling_words() {
        let read = |text: &str| {
            let clause = clause(text);
            (clause.names.join(" "), clause.words.join(" "), clause.going)
        };
        let of = |names: &str, words: &str, going| (names.to_owned(), words.to_owned(), going);
        assert_eq!(read("Mrs Hart fetch her coat"), of("hart", "fetch coat", None));
        assert_eq!(read("Room 3c came"), of("room 3c", "", Some(Going::Here)));
        assert_eq!(read("Ben already back"), of("ben", "", Some(Going::Back)));
        assert_eq!(read("Ben go to hospital"), of("ben", "hospital", Some(Going::Away)));
        assert_eq!(read("the back door repaired"), of("", "back door repaired", None));
        assert!(!clause("Ben").is_telling() && !clause("it").is_telling());
    }

    #[test]
    fn a_sentence_tells_of_a_clause_or_not() {
        let tells = |asked: &str, note: &str| {
            let mut before = Vec::new();
            crate::text::sentences(note).any(|text| {
                let sentence = Sentence::of(text, std::mem::take(&mut before));
                let tells = clause(asked).is_told(&sentence);
                before = sentence.all();
                tells
            })
        };
        for (asked, note) in [
            ("Ava fall", "Ava slipped on the ice."),
            ("Mrs Hart fetch her coat", "A lady came for the coat, a Mrs Hart."),
            ("Ben came back", "Ben is back from Kiel."),
            ("Ben came", "Ben dropped in with a cake."),
            ("Ben go to hospital", "Ben was taken to hospital."),
            ("Ava lose her ring", "Ava can't find her ring."),
            ("Ava cut her hand", "Ava was in the shed. She cut her hand."),
        ] {
            assert!(tells(asked, note), "{asked}: {note}");
        }
        for (asked, note) in [
            ("Ava fall", "Ben slipped on the ice. Ava saw him."),
            ("Ava fall", "Ava did not fall."),
            ("Ava fall", "If Ava falls, ring the nurse."),
            ("Ben go to hospital", "Ben came back from hospital."),
            ("Ben came", "Ben is back from Kiel."),
            ("Ben came back", "Ben mended the back gate."),
        ] {
            assert!(!tells(asked, note), "{asked}: {note}");
        }
    }
}
