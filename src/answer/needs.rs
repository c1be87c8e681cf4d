//! What a sentence has to tell beside the words of a question: which one of several is meant, an attribute, what somebody
//! likes, what somebody was given.

use crate::memory::model::MemoryRow;
use crate::recall::lexer::{Token, tokens};
use crate::text::sentences;

use super::aspect::Aspect;
use super::near::is_word;
use super::phrase::is_determiner;
use super::question::{is_grammar, listed};
use super::told_sentence::ToldSentence;
use super::whereabouts::is_preposition;

/// Words that count one after the other, as they may be written before what they count, or behind it.
const ORDINALS: [(&str, &str); 10] = [
    ("first 1st", "1 one"),
    ("second 2nd", "2 two"),
    ("third 3rd", "3 three"),
    ("fourth 4th", "4 four"),
    ("fifth 5th", "5 five"),
    ("sixth 6th", "6 six"),
    ("seventh 7th", "7 seven"),
    ("eighth 8th", "8 eight"),
    ("ninth 9th", "9 nine"),
    ("tenth 10th", "10 ten"),
];
/// What an ordinal before it does not count.
const UNCOUNTED: &str = "aid hand name names time times thing things day days week weeks month months year years half hour \
    hours minute minutes second seconds person people one";
/// So far behind its ordinal stands what is counted: "the second oak crate".
const COUNTED: usize = 3;
/// What makes a thing the one that is meant, before "the first": "in the first crate".
const WITHIN: &str = "of from with to for about inside";
/// Between a noun and its number.
const NUMBERING: &str = "number no nr";

/// Words of what somebody likes, or is used to.
const LIKING: &str = "like likes liked love loves loved enjoy enjoys enjoyed adore adores prefer prefers fond keen favourite \
    favorite weakness mad crazy partial addicted want wants wish wishes drink drinks eat eats passion appreciate appreciates";
/// Words of what somebody does not, or must not have.
const DISLIKING: &str = "hate hates dislike dislikes detest detests allergic allergy vegetarian vegan pescatarian \
    intolerant diabetic can't cannot must mustn't may never without only nobody allowed forbidden shouldn't should not doesn't \
    don't";
/// Attributes of facts that tell of either.
const TASTES: &str = "likes dislikes allergy status diet";
/// Who asks what would please somebody.
const COULD: &str = "could can should shall might";
const US: &str = "i we";
/// What one does to please somebody.
const TREATING: &str = "give offer serve cook bring buy get make bake send order";
/// Of these, what tells that it is about food and drink.
const FEEDING: &str = "offer serve cook eat drink feed bake";
/// What somebody would do who is pleased.
const PLEASED: &str =
    "like love enjoy want prefer appreciate eat drink pleased happy glad delighted fancy";
/// So far behind "would" that stands.
const PLEASED_WITHIN: usize = 5;

/// What one does who gives.
const GIVING: &str = "give gives gave given bring brings brought send sends sent award awarded donate donated handed";
/// What one does who is given something.
const GETTING: &str = "get gets got receive receives received win wins won inherited";
/// What makes a verb passive.
const BEING: &str = "was were been being is are got";

/// Something that a sentence has to tell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Need {
    /// "The second crate": neither the first nor crates.
    Ordinal {
        /// As it is written before the noun.
        before: &'static str,
        /// And behind it.
        behind: &'static str,
        /// What may be the noun.
        nouns: Vec<String>,
    },
    /// "Ava's surname".
    Aspect(Aspect),
    /// What one of those likes; `whether`: or must not have.
    Taste {
        /// Lower case.
        names: Vec<String>,
        whether: bool,
    },
    /// What was given to one of those.
    Gift {
        /// Lower case.
        names: Vec<String>,
    },
}

impl Need {
    /// All that a question has. `is_timed`: whether a word of it is of a time.
    pub(super) fn asked(question: &[Token], is_timed: &dyn Fn(&Token) -> bool) -> Vec<Self> {
        let mut needs: Vec<Self> = Aspect::asked(question).map(Self::Aspect).into_iter().collect();
        needs.extend((1..question.len()).find_map(|at| ordinal(question, at, is_timed)));
        needs.extend(taste(question));
        needs.extend(gift(question));
        needs
    }

    /// Whether a sentence tells it; `None`: it tells neither that nor against it.
    pub(super) fn is_told(&self, told: &ToldSentence) -> Option<bool> {
        match self {
            Self::Ordinal { before, behind, nouns } => {
                Some(is_numbered(&told.tokens, (*before, *behind), nouns))
            }
            Self::Aspect(aspect) => Some(aspect.is_told(told)),
            Self::Taste { names, whether } => Some(tells_taste(&told.text, names, *whether)),
            Self::Gift { names } => is_given(&told.tokens, names),
        }
    }

    /// Whether a fact tells it.
    pub(super) fn is_fact(&self, row: &MemoryRow) -> bool {
        let attribute = row.fact.as_ref().map_or("", |fact| fact.attribute.as_str());
        matches!(self, Self::Taste { .. }) && listed(TASTES, attribute)
    }
}

/// The names in those words, without those of owners.
fn names_in(words: &[Token]) -> Vec<String> {
    let name =
        |token: &&Token| token.capital && !token.word.ends_with("'s") && !is_grammar(&token.word);
    words.iter().filter(name).map(|token| token.word.clone()).collect()
}

/// "In the first crate", "the second crate"; "who was the first guest" asks which time.
fn ordinal(question: &[Token], at: usize, is_timed: &dyn Fn(&Token) -> bool) -> Option<Need> {
    let word = |at: usize| question.get(at).map_or("", |token| token.word.as_str());
    let (before, behind) = *ORDINALS.iter().find(|(before, _)| listed(before, word(at)))?;
    let article = is_determiner(word(at - 1)) || word(at - 1).ends_with("'s");
    let within =
        at.checked_sub(2).is_some_and(|at| is_preposition(word(at)) || listed(WITHIN, word(at)));
    let is_noun = |token: &&Token| {
        let aside = token.capital || is_grammar(&token.word) || listed(UNCOUNTED, &token.word);
        !aside && !is_timed(token)
    };
    let meant = article && !is_timed(&question[at]) && !question[at].stop;
    if !meant || !within && listed("first 1st", word(at)) {
        return None;
    }
    let nouns = question[at + 1..].iter().take(2).take_while(is_noun);
    let nouns: Vec<String> = nouns.map(|token| token.word.clone()).collect();
    (!nouns.is_empty()).then_some(Need::Ordinal { before, behind, nouns })
}

/// "The second crate", "crate two", "crate number 2".
fn is_numbered(told: &[Token], (before, behind): (&str, &str), nouns: &[String]) -> bool {
    let is_noun = |token: &Token| nouns.iter().any(|noun| is_word(noun, token));
    (0..told.len()).any(|at| {
        let rest = &told[at + 1..];
        let skip = rest.iter().take_while(|token| listed(NUMBERING, &token.word)).count();
        let ordinal = listed(before, &told[at].word);
        ordinal && rest.iter().take(COUNTED).any(is_noun)
            || is_noun(&told[at]) && rest.get(skip).is_some_and(|next| listed(behind, &next.word))
    })
}

/// "What could I cook for Ava?", "What would Ava like?", "Can I offer Ava some cake?"
fn taste(question: &[Token]) -> Option<Need> {
    let word = |at: usize| question.get(at).map_or("", |token| token.word.as_str());
    let asks = |token: &Token| listed(COULD, &token.word) || token.word == "would";
    let at = question.iter().position(asks)?;
    let behind = &question[at + 1..];
    let by_us = listed(US, word(at + 1));
    let whether = at == 0;
    let verb = |words: &str| behind.iter().take(3).position(|token| listed(words, &token.word));
    let asked = match (word(at), whether) {
        ("would", false) => {
            let pleased = |token: &Token| listed(PLEASED, &token.word);
            !by_us && behind.iter().take(PLEASED_WITHIN).any(pleased)
        }
        ("would", true) => false,
        (_, true) => verb(FEEDING).is_some(),
        (_, false) => by_us && verb(TREATING).is_some() && listed("what which", word(0)),
    };
    let names = names_in(behind);
    let denied = question.iter().any(|token| token.word == "not" || token.word.ends_with("n't"));
    (asked && !names.is_empty()).then_some(Need::Taste { names, whether: whether || denied })
}

/// Whether a text tells what one of those likes; `whether`: or must not have.
fn tells_taste(text: &str, names: &[String], whether: bool) -> bool {
    let is_theirs = |token: &Token| names.iter().any(|name| is_word(name, token));
    let mut begun = false;
    sentences(text).any(|sentence| {
        let words = tokens(sentence);
        let mut telling = (0..words.len()).filter(|at| {
            let word = words[*at].word.as_str();
            listed(LIKING, word) || whether && listed(DISLIKING, word)
        });
        let told = telling.any(|at| {
            // Whoever is named last before it.
            let name = |token: &&Token| token.capital && !is_grammar(&token.word);
            match words[..at].iter().rev().find(name) {
                Some(named) => is_theirs(named),
                None => {
                    let them = |token: &Token| listed("he she they", &token.word);
                    begun && words[..at].iter().any(them) || words[at..].iter().any(is_theirs)
                }
            }
        });
        begun |= words.iter().any(is_theirs);
        told
    })
}

/// "What did Ava get for her birthday?"
fn gift(question: &[Token]) -> Option<Need> {
    let word = |at: usize| question.get(at).map_or("", |token| token.word.as_str());
    let did = question.iter().take(4).position(|token| token.word == "did")?;
    let name = |token: &&Token| token.capital && !token.word.ends_with("'s");
    let names: Vec<String> =
        question[did + 1..].iter().take_while(name).map(|token| token.word.clone()).collect();
    let verb = word(did + 1 + names.len());
    let asked = listed("what which", word(0)) && listed("get receive", verb);
    (asked && !names.is_empty()).then_some(Need::Gift { names })
}

/// Whether something is given to one of those: not where they give something themselves.
fn is_given(told: &[Token], names: &[String]) -> Option<bool> {
    let is_theirs = |token: &Token| names.iter().any(|name| is_word(name, token));
    let mut given = None;
    for (at, token) in told.iter().enumerate() {
        if listed(GETTING, &token.word) {
            return Some(true);
        }
        if listed(GIVING, &token.word) {
            let stop = told[..at].iter().rposition(|token| token.stop);
            let clause = stop.map_or(0, |stop| stop + 1);
            let before = &told[clause..at];
            let passive = before.iter().any(|token| listed(BEING, &token.word));
            if passive || !before.iter().any(is_theirs) {
                return Some(true);
            }
            given = Some(false);
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::told_sentence::untimed;

    fn told(question: &str, sentence: &str) -> Vec<Option<bool>> {
        let needs = Need::asked(&tokens(question), &|_| false);
        needs.iter().map(|need| need.is_told(&untimed(sentence))).collect()
    }

    #[test]
    fn what_a_sentence_has_to_tell() {
        for (question, sentence, wanted) in [
            ("What was in the second box?", "Two boxes came.", Some(false)),
            ("What was in the second box?", "The second oak box was empty.", Some(true)),
            ("What was in the second box?", "Box two was empty.", Some(true)),
            ("What was in the second box?", "The first box was empty.", Some(false)),
            ("What was in the first box?", "Two boxes came.", Some(false)),
            ("What was in the first box?", "Jun opened the first box.", Some(true)),
            ("What could I cook for Tove?", "Tove cooked for Jun.", Some(false)),
            ("What could I cook for Tove?", "Tove is nine. She loves noodles.", Some(true)),
            ("What could I cook for Tove?", "Tove is nine. Jun loves noodles.", Some(false)),
            ("Which tea would Jun like?", "Jun has a soft spot for mint.", Some(false)),
            ("Which tea would Jun like?", "Jun has a weakness for mint tea.", Some(true)),
            ("Can I offer Jun some ham?", "Jun has a key to the barn.", Some(false)),
            ("Can I offer Jun some ham?", "Jun is vegetarian.", Some(true)),
            ("Can I offer Jun some ham?", "Tove is vegetarian, Jun has a key.", Some(false)),
            ("What did Jun get as a present?", "Jun gave his notice.", Some(false)),
            ("What did Jun get as a present?", "We gave Jun a kite.", Some(true)),
            ("What did Jun get as a present?", "Jun was given a kite.", Some(true)),
            ("What did Jun get as a present?", "Jun is back.", None),
        ] {
            assert_eq!(told(question, sentence), [wanted], "{question} {sentence}");
        }
    }

    #[test]
    fn what_needs_nothing_more() {
        for question in [
            "Who was the first guest?",
            "Where is the first aid kit?",
            "When did Jun get up?",
            "Can I take Jun's kite?",
            "Could I borrow the van?",
            "What would happen then?",
            "What did the cook get?",
            "",
        ] {
            assert!(told(question, "").is_empty(), "{question}");
        }
    }
}
