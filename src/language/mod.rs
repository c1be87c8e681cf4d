//! English: words, their trees and clauses, and what they mean to each other. Nothing here knows of memories or questions.

pub(crate) mod actions;
pub mod clause;
mod lately;
pub(crate) mod lexicon;
pub(crate) mod lists;
pub mod parse;
pub(crate) mod parses;
mod repair;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod text;
pub mod thesaurus;
pub(crate) mod visits;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use lately::Lately;
use parse::{Parser, WeightsError, Word};
use thesaurus::{Thesaurus, field};

use crate::text::sentences;

/// The parser and the thesaurus, read once and shared.
#[derive(Debug)]
pub struct Language {
    /// Text to trees.
    pub parser: Parser,
    /// What words mean to each other.
    pub thesaurus: Thesaurus,
    lately: Lately,
}

/// Why a language could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    /// The parser's files.
    #[error(transparent)]
    Parser(#[from] WeightsError),
    /// The thesaurus' files.
    #[error("reading the thesaurus: {0}; fetch the models anew")]
    Thesaurus(std::io::Error),
}

impl Language {
    /// From the files of both models by part, as the catalogue of models has them.
    ///
    /// # Errors
    /// A file is missing or none of its model.
    pub fn open(
        parser: &BTreeMap<String, PathBuf>,
        thesaurus: &BTreeMap<String, PathBuf>,
    ) -> Result<Self, LanguageError> {
        Ok(Self {
            parser: Parser::open(parser)?,
            thesaurus: Thesaurus::open(thesaurus).map_err(LanguageError::Thesaurus)?,
            lately: Lately::default(),
        })
    }

    /// Whether it is a month, a weekday or the like, which are written as names are: the thesaurus' calendar.
    #[must_use]
    pub fn is_of_calendar(&self, word: &str) -> bool {
        let single = word.strip_suffix('s').unwrap_or(word);
        [word, single].iter().any(|word| self.thesaurus.is_of(word, field::TIME))
    }

    /// Whether it stands before names: "Doctor", "Mrs".
    #[must_use]
    pub fn is_title(&self, word: &str) -> bool {
        const SHORT: &[&str] = &["mr", "mrs", "ms", "dr", "prof"];
        SHORT.contains(&word) || self.parser.has(word) && self.thesaurus.is_of(word, field::PERSON)
    }

    /// The tree of a text in which `is_name` tells the names that are known, by their lower-case form: each is parsed as
    /// a common one, since the parser has never met "Oluchi". Spans are those of `text`. A long text is parsed in pieces of
    /// two thousand bytes, so that no tree grows deeper than whoever walks it can go, whatever is told.
    pub fn parse(&self, text: &str, is_name: &dyn Fn(&str) -> bool) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        for piece in pieces(text) {
            let (from, first) = (piece.start, words.len());
            let mut more = self.parse_piece(&text[piece], is_name);
            for word in &mut more {
                word.span = word.span.start + from..word.span.end + from;
                word.head += first;
            }
            words.append(&mut more);
        }
        words
    }

    /// Keeps nothing of what was parsed and looked up until now: something was erased.
    pub fn forget(&self) {
        self.lately.forget();
        self.thesaurus.forget();
    }

    fn parse_piece(&self, text: &str, is_name: &dyn Fn(&str) -> bool) -> Vec<Word> {
        let masked = Masked::of(text, &self.parser, is_name);
        let mut words = self.lately.parse(&self.parser, &masked.text);
        masked.restore(&mut words);
        repair::repair(&mut words, self, is_name);
        words
    }
}

/// Longest piece of a text, bytes.
const PIECE_BYTES: usize = 2_000;

/// The pieces in which a text is parsed: they end with a sentence where one ends there, else with a word.
fn pieces(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
        let window = &rest[..rest.floor_char_boundary(PIECE_BYTES)];
        let cut = || {
            // What the last sentence of it begins goes on behind it.
            let sentence = sentences(window).last().and_then(|last| window.rfind(last));
            let word = || window.rfind(char::is_whitespace);
            let begun = sentence.filter(|at| *at > 0);
            begun.or_else(word).filter(|at| *at > 0).unwrap_or(window.len())
        };
        let length = if window.len() == rest.len() { rest.len() } else { cut() };
        from += length;
        Some(from - length..from)
    })
}

/// The name that every known one is parsed as.
const COMMON: &str = "Mary";

/// A text with its known names under the common one.
struct Masked {
    text: String,
    /// Where each stands in the masked text, where in the original, and the name.
    names: Vec<(usize, usize, String)>,
}

impl Masked {
    fn of(text: &str, parser: &Parser, is_name: &dyn Fn(&str) -> bool) -> Self {
        let has_capitals = text.chars().any(char::is_uppercase);
        let mut out = Self { text: String::with_capacity(text.len()), names: Vec::new() };
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let rest = &text[at..];
            let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            let word = &rest[..length.max(first.len_utf8())];
            let lower = word.to_lowercase();
            // A word of the language that is no name where it stands in lower case beside capitals: "jun", but not "will".
            let named = length > 0
                && is_name(&lower)
                && (first.is_uppercase() || !has_capitals || !parser.has(&lower));
            if named {
                out.names.push((out.text.len(), at, word.to_owned()));
                out.text.push_str(COMMON);
            } else {
                out.text.push_str(word);
            }
            at += word.len();
        }
        out
    }

    /// Puts the names back, and the spans to where the words stand in the original.
    fn restore(&self, words: &mut [Word]) {
        for word in words {
            let before = self.names.iter().take_while(|(at, ..)| *at <= word.span.start).last();
            let Some((masked, original, name)) = before else { continue };
            if word.span.start < masked + COMMON.len() {
                word.span = *original..original + name.len();
                word.lemma = name.to_lowercase().into();
                word.form = name.into();
                if !word.tag.starts_with("NNP") {
                    word.tag = "NNP".into();
                }
            } else {
                let moved = |at: usize| at - masked - COMMON.len() + original + name.len();
                word.span = moved(word.span.start)..moved(word.span.end);
            }
        }
    }
}
