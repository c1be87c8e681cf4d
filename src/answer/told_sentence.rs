//! What a memory says, taken apart: its words, and where it tells times.

use std::ops::Range;

use crate::memory::model::MemoryRow;
use crate::recall::lexer::{Token, tokens};
use crate::recall::time_expr::{is_number, time_expressions};
use crate::time::Timestamp;

use super::reading::Reading;

/// A memory's text, taken apart.
pub(super) struct ToldSentence {
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
    /// Where it tells times.
    pub(super) times: Vec<Range<usize>>,
}

impl ToldSentence {
    pub(super) fn of(reading: &Reading, row: &MemoryRow) -> Self {
        let text = reading.rendered(&row.text);
        let times = timed(reading, &text, row.span.start);
        Self { tokens: tokens(&text), times, text }
    }

    /// Whether a word tells a number that is no time and no part of a name ("3D").
    pub(super) fn is_number(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let word = token.word.as_str();
        let mixed = word.starts_with(|c: char| c.is_ascii_digit())
            && word.contains(|c: char| c.is_alphabetic());
        is_number(word) && !mixed && !self.is_timed(token)
    }

    /// Whether it tells any such number.
    pub(super) fn has_number(&self) -> bool {
        (0..self.tokens.len()).any(|at| self.is_number(at))
    }

    /// Whether a word is part of a time.
    pub(super) fn is_timed(&self, token: &Token) -> bool {
        self.times.iter().any(|time| time.contains(&token.range.start))
    }
}

/// Where a text tells times, read at that time.
pub(super) fn timed(reading: &Reading, text: &str, at: Timestamp) -> Vec<Range<usize>> {
    let times = time_expressions(text, at, &reading.wording.zone);
    times.into_iter().map(|time| time.range).collect()
}

/// A text without times, as tests take it apart.
#[cfg(test)]
pub(super) fn untimed(text: &str) -> ToldSentence {
    ToldSentence { text: text.to_owned(), tokens: tokens(text), times: Vec::new() }
}
