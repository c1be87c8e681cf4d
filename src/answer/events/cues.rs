//! What says the same as a word where people tell what happened: who slipped fell, and what somebody can't find is lost.

use std::ops::Range;

use super::clause::Word;
use crate::answer::near::Sought;
use crate::memory::{is_kin, stems};
use crate::recall::lexer::{Token, tokens};

/// A word, and phrases that may tell it beside what tells a deed in other words; their first word in any form.
static ALIKE: [(&str, &[&str]); 3] = [
    ("accident", &["crash"]),
    ("allergy", &["allergic"]),
    ("people", &["person", "visitor", "guest", "customer"]),
];

fn stem(word: &str) -> String {
    stems(word).concat()
}

/// Phrases that may tell that word.
fn alike(word: &str) -> impl Iterator<Item = &'static str> + use<> {
    let asked = stem(word);
    let of_it = ALIKE.iter().filter(move |(one, _)| is_kin(&stem(one), &asked));
    of_it.flat_map(|(_, phrases)| phrases.iter().copied())
}

/// Where a sentence holds a word, one that is kin to it, or what says the same.
pub(in crate::answer) fn holds(sentence: &[Word], word: &str) -> Option<Range<usize>> {
    find(sentence, word)
        .or_else(|| alike(word).find_map(|phrase| find(sentence, phrase)))
        .or_else(|| otherwise(sentence, word))
}

/// Where a sentence tells in other words of the deed that a word names.
fn otherwise(sentence: &[Word], word: &str) -> Option<Range<usize>> {
    let sought = Sought::by(&tokens(word), 0);
    if !sought.is_known() {
        return None;
    }
    let plain: Vec<Token> = sentence.iter().map(|word| word.token.clone()).collect();
    sought.told(&[], &plain).map(|told| told.at..told.at + 1)
}

/// Where a phrase stands: its first word in any form, the others as they are.
pub(super) fn find(sentence: &[Word], phrase: &str) -> Option<Range<usize>> {
    let mut parts = phrase.split(' ');
    let first = stem(parts.next()?);
    let rest: Vec<&str> = parts.collect();
    (0..sentence.len()).find_map(|at| {
        let behind = sentence.get(at + 1..=at + rest.len())?;
        let same = behind.iter().zip(&rest).all(|(word, part)| word.token.word == *part);
        let stops = sentence.get(at..at + rest.len())?.iter().any(|word| word.token.stop);
        (same && !stops && is_kin(&first, &sentence[at].stem)).then_some(at..at + 1 + rest.len())
    })
}

/// Those words with what says the same, to look notes up by.
pub(in crate::answer) fn with_alike<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut all = Vec::new();
    for word in words {
        all.push(word.to_owned());
        all.extend(alike(word).map(str::to_owned));
        all.extend(Sought::by(&tokens(word), 0).words().map(str::to_owned));
    }
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::clause::words_of;
    use super::*;

    #[test]
    fn what_says_the_same_is_found_and_nothing_else() {
        for (sentence, word) in [
            ("Ava slipped on the stairs.", "fall"),
            ("Ava fell on the stairs.", "falls"),
            ("Ava can't find her ring.", "lost"),
            ("A man came for the parcel.", "fetch"),
            ("Zoe put a new belt on it.", "repaired"),
        ] {
            assert!(holds(&words_of(sentence), word).is_some(), "{sentence} {word}");
        }
        for (sentence, word) in [
            ("Ava can, find or not.", "lost"),
            ("Ava found her ring.", "lost"),
            ("Zoe put it away.", "repaired"),
            ("", "fall"),
        ] {
            assert!(holds(&words_of(sentence), word).is_none(), "{sentence} {word}");
        }
    }
}
