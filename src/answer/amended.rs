//! Notes that take back what another told: "Sorry, it was 204 on Saturday, not 240."

use std::sync::Arc;

use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, telling_stems};
use crate::recall::lexer::{Token, tokens};
use crate::recall::time_expr::is_number;
use crate::time::Span;

use super::near::is_word;
use super::phrase::is_determiner;
use super::question::{is_grammar, listed};
use super::reading::{Reading, touch};
use super::remembered::time_told;

/// Notes with words of the one that may be taken back that are looked at.
const LOOKED_AT: usize = 50;
/// Words of somebody who was wrong.
const CUES: &str = "correction sorry mistake mistaken mistakenly mistyped miscounted misread misheard misspoke wrong wrongly \
    error erratum actually rather typo apologies oops";
/// What stands before what was wrong.
const NOT: &str = "not instead wasn't isn't weren't aren't";

/// The newest note that takes back what a note told, if any.
pub(super) fn amended(reading: &Reading, row: &MemoryRow) -> Option<Arc<MemoryRow>> {
    if row.kind != MemoryKind::Note {
        return None;
    }
    let text = reading.rendered(&row.text);
    let told = tokens(&text);
    let (since, now) = (row.span.start, reading.now());
    let span = Some(Span::new(since, now.plus_secs(1e-9)));
    let filter = Filter { span, kinds: vec![MemoryKind::Note], ..Filter::default() };
    let hits = reading.view.lexical(&text, LOOKED_AT, &filter).into_iter();
    let rows = hits.filter_map(|(id, _)| reading.view.memory(id));
    let takes_it_back = |newer: &Arc<MemoryRow>| {
        let words = tokens(&reading.rendered(&newer.text));
        let of_it = || {
            let together = touch(time_told(reading, newer), time_told(reading, row));
            together || share_a_word(&told, &words)
        };
        let called = is_called_wrong(&words);
        let is_meant = |wrong: &Token| {
            let mut places = (0..told.len()).filter(|at| told[*at].word == wrong.word);
            places.any(|at| called || counts_the_same(&told[at..], &words))
        };
        newer.id != row.id
            && newer.span.start > since
            && newer.span.start <= now
            && rejected(&words).any(is_meant)
            && of_it()
    };
    rows.filter(takes_it_back).max_by_key(|newer| (newer.span.start, newer.id))
}

/// Whether a sentence takes back a number: "It was 204, not 240."
pub(super) fn takes_back_a_number(words: &[Token]) -> bool {
    rejected(words).any(|token| is_number(&token.word))
}

/// What a sentence says was wrong: a number behind "not"; any telling word where it is called a mistake.
fn rejected(words: &[Token]) -> impl Iterator<Item = &Token> {
    let called = is_called_wrong(words);
    (1..words.len()).filter_map(move |at| {
        listed(NOT, &words[at - 1].word).then_some(())?;
        let aside = |token: &&Token| is_determiner(&token.word) || token.word == "of";
        let behind = &words[at..];
        let wrong = behind.iter().find(|token| !aside(token))?;
        let telling = called && !is_grammar(&wrong.word) && !telling_stems(&wrong.word).is_empty();
        (is_number(&wrong.word) || telling).then_some(wrong)
    })
}

/// Whether a sentence says itself that something was wrong.
fn is_called_wrong(words: &[Token]) -> bool {
    words.iter().any(|token| listed(CUES, &token.word))
}

/// Whether the other text tells of what the number that begins those words counts, if it counts anything: "Dinner is at 7,
/// not 8" takes back no 8 buns.
fn counts_the_same(number: &[Token], other: &[Token]) -> bool {
    let ends = number.first().is_none_or(|first| first.stop);
    let counted = number.iter().skip(1).take_while(|token| is_telling(token));
    let counted: Vec<&Token> = counted.collect();
    let told = |token: &&Token| other.iter().any(|other| is_word(&token.word, other));
    ends || counted.is_empty() || counted.iter().any(told)
}

/// Whether both tell a word that is no number.
fn share_a_word(one: &[Token], other: &[Token]) -> bool {
    let mut telling = one.iter().filter(|token| is_telling(token));
    telling.any(|token| other.iter().any(|other| is_word(&token.word, other)))
}

fn is_telling(token: &Token) -> bool {
    let word = token.word.as_str();
    let aside = is_number(word) || is_grammar(word) || listed(CUES, word);
    !aside && !telling_stems(word).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_a_mistake_is_taken_back() {
        for (text, wrong) in [
            ("Sorry, it was 14, not 41.", "41"),
            ("The boat cost 900, not 800.", "800"),
            ("Correction: the drops are for the left eye, not the right one.", "right"),
            ("The ladder is in the barn, not in the attic.", ""),
            ("Jun does not eat ham.", ""),
            ("Not", ""),
        ] {
            let words = tokens(text);
            let found: Vec<&str> = rejected(&words).map(|token| token.word.as_str()).collect();
            assert_eq!(found.join(" "), wrong, "{text}");
        }
        assert!(takes_back_a_number(&tokens("It was 14, not 41.")));
        assert!(!takes_back_a_number(&tokens("It was 14.")));
    }

    #[test]
    fn a_number_counts_the_same_or_something_else() {
        let same = |told: &str, other: &str| counts_the_same(&tokens(told), &tokens(other));
        assert!(same("800.", "The boat cost 900, not 800."));
        assert!(same("41 red parcels.", "It was 14 parcels, not 41."));
        assert!(!same("8 buns for dinner.", "Dinner is at 7, not 8."));
    }
}
