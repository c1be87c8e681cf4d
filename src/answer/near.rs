//! Deeds told in other words: who put a new belt on the saw repaired it, and what belongs to Ava she owns.
//!
//! Wider than kin: it counts only where a sentence tells of the same thing, as the one who asks has to see to.

use crate::memory::{is_kin, stems};
use crate::recall::lexer::Token;

use super::phrase::is_determiner;
use super::question::listed;
use super::whereabouts::is_preposition;

/// A verb that is asked for, and verbs that may tell it.
const NEAR: [(&str, &str); 8] = [
    ("own", "belong possess"),
    ("belong", "own possess"),
    ("move", "take carry bring put push shift"),
    ("take", "drive accompany escort"),
    ("get", "give send bring"),
    ("buy", "order"),
    ("repair", "replace"),
    ("happen", "cut hurt injure break crack fall crash burn steal lose stop leak tear"),
];
/// Verbs of owning.
const OWNING: &str = "own owns owned belong belongs belonged";
/// Verbs of having.
const HAVING: &str = "has have had";
/// What stands before an owner who is told alone: "the saw is Ava's".
const BEING: &str = "is are was were not";
/// So far behind the owner stands what is owned: "Ava's old saw".
const OWNED: usize = 3;

/// Whether a word of a sentence is that word, or kin to it.
pub(super) fn is_word(word: &str, token: &Token) -> bool {
    let wanted = stems(word).concat();
    stems(&token.word).iter().any(|stem| is_kin(&wanted, stem))
}

/// Where a sentence tells of a deed with another verb; `objects`: what the deed was done to.
pub(super) fn told_otherwise(verb: &str, objects: &[String], sentence: &[Token]) -> Option<usize> {
    let asked = stems(verb).concat();
    let is_asked = |word: &str| is_kin(&stems(word).concat(), &asked);
    let mut told =
        NEAR.iter().filter(|(word, _)| is_asked(word)).flat_map(|(_, told)| told.split(' '));
    let by_verb = told.find_map(|word| sentence.iter().position(|token| is_word(word, token)));
    let is_object = |token: &Token| objects.iter().any(|object| is_word(object, token));
    by_verb.or_else(|| match verb {
        _ if listed(OWNING, verb) => owner(sentence, &is_object),
        _ if is_asked("want") => purpose(sentence),
        _ if is_asked("repair") => renewed(sentence),
        _ => None,
    })
}

/// "Ava has a saw", "Ava's old saw", "the saw is Ava's".
fn owner(sentence: &[Token], is_object: &dyn Fn(&Token) -> bool) -> Option<usize> {
    (0..sentence.len()).find(|at| {
        let (token, behind) = (&sentence[*at], &sentence[at + 1..]);
        let before = at.checked_sub(1).map(|at| &sentence[at]);
        if listed(HAVING, &token.word) {
            return before.is_some_and(|who| who.capital) && behind.iter().any(is_object);
        }
        let named = token.capital && token.word.ends_with("'s");
        let alone = || before.is_some_and(|word| listed(BEING, &word.word));
        named && (alone() || behind.iter().take(OWNED).any(is_object))
    })
}

/// "She came to look at the drawings": what she wanted.
fn purpose(sentence: &[Token]) -> Option<usize> {
    sentence.windows(2).position(|pair| {
        let word = pair[1].word.as_str();
        pair[0].word == "to" && !pair[1].capital && !is_determiner(word) && !is_preposition(word)
    })
}

/// "She put a new belt on it".
fn renewed(sentence: &[Token]) -> Option<usize> {
    let put = sentence.iter().position(|token| listed("put puts fitted installed", &token.word))?;
    sentence[put..].iter().any(|token| token.word == "new").then_some(put)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::lexer::tokens;

    #[test]
    fn a_deed_may_be_told_with_another_verb() {
        let told = |verb: &str, object: &str, sentence: &str| {
            told_otherwise(verb, &[object.to_owned()], &tokens(sentence)).is_some()
        };
        for (verb, object, sentence) in [
            ("owns", "kayak", "The blue kayak belongs to Ines."),
            ("owns", "kayak", "The blue kayak is Ines's and the red one is Jun's."),
            ("owns", "kayak", "Ines has a blue kayak."),
            ("owned", "kayak", "Ines's blue kayak leaks."),
            ("fixed", "pump", "Jun put a new valve in the pump."),
            ("mended", "pump", "Jun replaced the pump."),
            ("moved", "ladder", "Ines carried the ladder to the barn."),
            ("took", "clinic", "Jun drove her to the clinic."),
            ("want", "", "The plumber came to look at the boiler."),
        ] {
            assert!(told(verb, object, sentence), "{verb} {object}: {sentence}");
        }
        for (verb, object, sentence) in [
            ("owns", "kayak", "The kayak has a leak."),
            ("owns", "kayak", "The kayak hit Ines's thumb."),
            ("owns", "kayak", "The kayak is in the barn."),
            ("fixed", "pump", "Jun put the pump in the barn."),
            ("stole", "van", "Jun bought the van."),
            ("took", "tarts", "Jun brought the tarts."),
            ("want", "", "Jun drove to the clinic."),
        ] {
            assert!(!told(verb, object, sentence), "{verb} {object}: {sentence}");
        }
    }
}
