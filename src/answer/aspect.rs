//! Attributes that a question asks for by their name ("Ava's surname", "How old is the bridge?", "Is Ines married?"), and
//! what a sentence that tells them has in it: who quotes another one about Ava tells nothing of her surname.

use crate::memory::natures::{STATES, is_trade_word};
use crate::memory::{is_kin, stems, telling_stems};
use crate::names::is_title;
use crate::recall::lexer::Token;

use super::near::is_word;
use super::phrase::is_determiner;
use super::question::{is_grammar, listed};
use super::told_sentence::ToldSentence;
use super::whereabouts::is_preposition;

/// What tells an attribute beside words for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sign {
    /// Nothing else.
    #[default]
    Words,
    /// A number that is no time.
    Number,
    /// A number of so many digits as people are called by.
    Digits,
    /// What somebody does for a living.
    Trade,
    /// A name of two words.
    Name,
    /// "ava@example.org"
    Mail,
}

/// Words of marriage.
const MARRIAGE: &str = "marry marriage married wife husband spouse wedding bride groom bridegroom single divorce divorced \
    widow widower widowed engaged engagement fiance fiancee fiancé fiancée partner bachelor";
/// Words of health.
const HEALTH: &str = "ill sick unwell well healthy health better recover flu cold fever migraine headache infection cough \
    hospital bed doctor pain injure hurt";
/// Words of colours.
const COLOURS: &str = "colour color red green blue yellow orange purple violet pink brown black white grey gray golden gold \
    silver beige turquoise";
/// Attributes by the words that ask for them, with words that tell them.
const ASPECTS: [(&str, &str, Sign); 15] = [
    ("surname nickname", "surname nickname name", Sign::Name),
    ("age old", "age aged old year century birthday born birth turn made built", Sign::Number),
    ("birthday birthdate born", "birthday born birth turn", Sign::Words),
    (
        "married marriage wedding spouse husband wife divorced widowed engaged",
        MARRIAGE,
        Sign::Words,
    ),
    (
        "job profession occupation trade",
        "work job run manage teach design repair restore",
        Sign::Trade,
    ),
    ("colour color", COLOURS, Sign::Words),
    ("price fee fare rent salary wage cost", "free price cost charge pay", Sign::Number),
    ("code pin combination number", "", Sign::Number),
    ("email e-mail", "email", Sign::Mail),
    ("address", "address street road lane avenue square live", Sign::Number),
    (
        "height weight length width depth temperature tall heavy wide deep high thick",
        "tall heavy light wide deep high thick warm cold degree",
        Sign::Number,
    ),
    (
        "allergy allergic",
        "allergy allergic intolerant react reaction must mustn't can't cannot",
        Sign::Words,
    ),
    ("ill sick unwell healthy", HEALTH, Sign::Words),
    ("pregnant", "pregnant pregnancy expect baby birth", Sign::Words),
    ("retired employed unemployed", "retire retirement employ work job pension", Sign::Trade),
];
/// Before "name", which of somebody's.
const NAMES: &str = "first last family middle maiden full second christian given";
/// Before "number", one that is rung.
const RUNG: &str = "phone telephone mobile cell fax contact emergency";
/// So many digits has such a number, at least.
const RUNG_DIGITS: usize = 3;
/// Nouns of what is told in words of its own.
const OPEN: &str = "name date time day week month year matter reason purpose point problem trouble cause plan kind sort type \
    thing use role task part content idea meaning outcome result news status state condition advice opinion view \
    difference topic subject favourite favorite secret story hobby wish dream answer message";
/// What begins a question for an attribute.
const ASKING: &str = "what which what's";
const BEING: &str = "is are was were";
/// What ends the name of an attribute, beside words of place.
const ENDING: &str = "of for with from to about after before since until like";
/// What stands before the noun of an attribute and is no part of it.
const BESIDE: &str = "first last second middle full exact";
/// Words beside what somebody is said to be.
const ADVERBS: &str = "still already now yet really currently again ever also actually today";
/// What somebody may be in many words.
const SO_SO: &str = "home well okay ok alright fine right awake asleep up free busy available ready around alive better";

/// An attribute that is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Aspect {
    /// Stems of words that tell it.
    words: Vec<String>,
    sign: Sign,
    /// Whom the question names, lower case.
    names: Vec<String>,
    /// Of what it is, where that has no name: "clinic" of "the number of the eye clinic".
    of: Option<String>,
}

impl Aspect {
    /// The one that a question asks for by its name.
    pub(super) fn asked(question: &[Token]) -> Option<Self> {
        let name = |token: &&Token| token.capital && !is_grammar(&token.word);
        let bare = |token: &Token| token.word.trim_end_matches("'s").to_owned();
        let names = question.iter().skip(1).filter(name).map(bare).collect();
        Self::of_nobody(question).map(|aspect| Self { names, ..aspect })
    }

    fn of_nobody(question: &[Token]) -> Option<Self> {
        let word = |at: usize| question.get(at).map_or("", |token| token.word.as_str());
        let any = |words: &str| question.iter().find(|token| listed(words, &token.word));
        match (word(0), word(1)) {
            ("how", size) => Self::by_table(size),
            ("when", verb) if listed(BEING, verb) => {
                any("birthday born").and_then(|token| Self::by_table(&token.word))
            }
            ("is" | "are" | "was" | "were", _) => {
                let state = state(question)?;
                Self::of_states(state).or_else(|| Self::by_table(state))
            }
            (what, noun) if listed(ASKING, what) => match any("allergic") {
                Some(token) => Self::by_table(&token.word),
                None if what != "what's" && listed("colour color", noun) => Self::by_table(noun),
                None => Self::by_noun(question),
            },
            _ => None,
        }
    }

    /// "surname" of "What is Ava's surname?", "number" of "What is the phone number of the clinic?"
    fn by_noun(question: &[Token]) -> Option<Self> {
        let (before, noun) = noun(question)?;
        let aspect = match noun {
            "name" | "names" if listed(NAMES, before) => Self::by_table("surname"),
            "number" if listed(RUNG, before) => {
                Some(Self { sign: Sign::Digits, ..Self::default() })
            }
            noun if listed(OPEN, noun) || listed(OPEN, noun.trim_end_matches('s')) => None,
            noun => Self::by_table(noun)
                .or_else(|| Some(Self { words: stems(noun), ..Self::default() })),
        };
        aspect.map(|aspect| Self { of: of_what(question), ..aspect })
    }

    fn by_table(asked: &str) -> Option<Self> {
        let (_, told, sign) = ASPECTS.iter().find(|(words, ..)| listed(words, asked))?;
        let words = stems(&format!("{told} {asked}"));
        Some(Self { words, sign: *sign, ..Self::default() })
    }

    /// Of states of which one holds at a time, any tells of the others.
    fn of_states(state: &str) -> Option<Self> {
        let family = STATES.iter().find(|family| family.len() > 1 && family.contains(&state))?;
        let more = Self::by_table(state).unwrap_or_default();
        let own = stems(&family.join(" ")).into_iter();
        let words = own.chain(more.words.iter().cloned()).collect();
        Some(Self { words, ..more })
    }

    /// Whether a sentence tells it.
    pub(super) fn is_told(&self, told: &ToldSentence) -> bool {
        let tokens = &told.tokens;
        let is_it = |of: &String| tokens.iter().any(|token| is_word(of, token));
        if !self.of.iter().all(is_it) {
            return false;
        }
        let is_telling = |stem: &String| self.words.iter().any(|word| is_kin(word, stem));
        let named = tokens.iter().any(|token| stems(&token.word).iter().any(is_telling));
        named
            || match self.sign {
                Sign::Words => false,
                Sign::Number => told.has_number(),
                Sign::Digits => tokens.iter().any(|token| is_rung(token) && !told.is_timed(token)),
                Sign::Trade => tokens.iter().any(|token| is_trade_word(&token.word)),
                Sign::Name => tokens.windows(2).any(|two| {
                    let name = |token: &Token| token.capital && !is_grammar(&token.word);
                    let theirs = |token: &Token| self.names.contains(&token.word);
                    let one = two.iter().filter(|token| theirs(token)).count() == 1;
                    one && !two[0].stop && two.iter().all(name) && !is_title(&two[0].word)
                }),
                Sign::Mail => told.text.contains('@'),
            }
    }
}

/// "020 7946", "555-1234".
fn is_rung(token: &Token) -> bool {
    let digits = token.word.chars().filter(char::is_ascii_digit).count();
    digits >= RUNG_DIGITS && !token.word.contains(':')
}

/// What somebody is asked to be: "married" of "Is Ines still married?"
pub(super) fn state(question: &[Token]) -> Option<&str> {
    let first = question.first().filter(|token| listed(BEING, &token.word))?;
    let name = |token: &&Token| token.capital && !is_grammar(&token.word);
    let names = question[1..].iter().take_while(name);
    let behind = &question[1 + names.clone().count()..];
    let theirs = names.last().filter(|name| !name.word.ends_with("'s") && !first.stop);
    let mut telling = behind.iter().filter(|token| !listed(ADVERBS, &token.word));
    let state = telling.next().map(|token| token.word.as_str())?;
    let is_one = telling.next().is_none() && !is_grammar(state) && !listed(SO_SO, state);
    (theirs.is_some() && is_one && !telling_stems(state).is_empty()).then_some(state)
}

/// The noun of what is asked of somebody or something, and the word before it.
fn noun(question: &[Token]) -> Option<(&str, &str)> {
    let word = |at: usize| question.get(at).map_or("", |token| token.word.as_str());
    let begin = match (word(0), word(1)) {
        ("what's", _) => 1,
        (_, verb) if listed(BEING, verb) => 2,
        _ => return None,
    };
    let ends = |token: &Token| is_preposition(&token.word) || listed(ENDING, &token.word);
    let rest = question.get(begin..)?;
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    let owner = rest[..end].iter().rposition(|token| token.word.ends_with("'s"));
    let of = rest.get(end).is_some_and(|token| token.word == "of");
    let from = owner.map_or(0, |at| at + 1);
    (owner.is_some() || of).then_some(())?;
    let skipped = |token: &&Token| is_determiner(&token.word) || listed(BESIDE, &token.word);
    let from = from + rest[from..end].iter().take_while(skipped).count();
    let plain =
        |token: &&Token| !token.capital && (!is_grammar(&token.word) || token.word == "name");
    let count = rest[from..end].iter().take_while(plain).count();
    let last = rest[from..end].get(count.checked_sub(1)?)?;
    let before = (begin + from + count).checked_sub(2).map_or("", word);
    Some((before, last.word.as_str()))
}

/// "clinic" of "the number of the eye clinic".
fn of_what(question: &[Token]) -> Option<String> {
    let at = question.iter().position(|token| token.word == "of")?;
    let behind = question[at + 1..].iter().skip_while(|token| is_determiner(&token.word));
    let ends = |token: &Token| is_preposition(&token.word) || listed(ENDING, &token.word);
    let plain = |token: &&Token| !token.capital && !is_grammar(&token.word) && !ends(token);
    behind.take_while(plain).last().map(|token| token.word.trim_end_matches("'s").to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::answer::told_sentence::untimed;
    use crate::recall::lexer::tokens;

    #[test]
    fn an_attribute_is_told_in_words_for_it_or_not() {
        for (question, sentence, told) in [
            ("What is Tove's surname?", "Tove is the smith.", false),
            ("What is Tove's surname?", "Tove Lind is the smith.", true),
            ("What is Tove's surname?", "Tove works for Jun Mori.", false),
            ("What is Mrs Lind's first name?", "Mrs Lind sells cheese.", false),
            ("What is Mrs Lind's first name?", "Mrs Lind's first name is Tove.", true),
            ("What is the phone number of the garage?", "The garage is shut.", false),
            ("What is the phone number of the garage?", "The garage is on 020 7946.", true),
            ("What is the phone number of the garage?", "The dentist is on 020 7946.", false),
            ("Is Tove married?", "Tove baked a cake.", false),
            ("Is Tove still married?", "Tove's husband is a smith.", true),
            ("Is Tove vegetarian?", "Tove is a vegan.", true),
            ("How old is the bridge?", "The bridge is shut.", false),
            ("How old is the bridge?", "The bridge is 90.", true),
            ("What is the colour of the van?", "The van is in the barn.", false),
            ("What is the colour of the van?", "The van is white.", true),
            ("What colour is the van?", "The van is in the barn.", false),
            ("What was the job of the woman?", "She showed them the mill.", false),
            ("What was the job of the woman?", "She was a nurse.", true),
            ("What is Tove allergic to?", "Tove is in the barn.", false),
            ("What is Tove's shoe size?", "Tove sells shoes.", false),
            ("What is the salary of the cook?", "The cook gets 2000 a month.", true),
        ] {
            let aspect = Aspect::asked(&tokens(question)).unwrap();
            assert_eq!(aspect.is_told(&untimed(sentence)), told, "{question} {sentence}");
        }
    }

    #[test]
    fn what_is_told_in_words_of_its_own_is_no_attribute() {
        for question in [
            "What is the name of Tove's rabbit?",
            "What was the matter with Tove's van?",
            "What is the reason for the delay?",
            "What is Tove's plan?",
            "What is in the van?",
            "What does Tove like?",
            "How often does Tove bake?",
            "Is Tove at home?",
            "Is the van white?",
            "Is Tove's van white?",
            "What",
            "",
        ] {
            assert_eq!(Aspect::asked(&tokens(question)), None, "{question}");
        }
        assert_eq!(state(&tokens("Is Tove left-handed?")), None);
        assert_eq!(state(&tokens("Is Tove tall?")), Some("tall"));
    }
}
