//! A question with what is known beforehand folded into single words that the parser has met: names, times, quotations,
//! and, once they are understood, persons told by a description.

use std::ops::Range;

use crate::answer::phrase::is_determiner;
use crate::ids::{EntityId, EntityKind};
use crate::language::Language;
use crate::language::lexicon::Lexicon;
use crate::language::parse::Word;
use crate::names::{PLAIN_NAMES, is_title};
use crate::recall::lexer::{Token, quoted_ranges, tokens};
use crate::recall::time_expr::{TimeExpr, When};

use super::{Subject, is};

const APOSTROPHES: [char; 3] = ['\'', '\u{2019}', '\u{2bc}'];
/// Words of a name, at most.
const LONGEST_NAME: usize = 3;

/// What a word stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Subject(Subject),
    Time(TimeExpr),
    Quote(String),
}

impl Piece {
    /// The word that the parser reads in its place.
    fn mask(&self) -> &'static str {
        match self {
            Self::Subject(_) => "Mary",
            Self::Time(time) if time.when == When::Now => "now",
            Self::Time(_) => "today",
            Self::Quote(_) => "something",
        }
    }
}

/// Looks up whom a name means, in lower case.
pub(super) type Names<'a> = &'a dyn Fn(&str) -> Option<EntityId>;

/// A text and what stands in it for something, in reading order.
#[derive(Clone, Debug)]
pub(super) struct Folded<'t> {
    text: &'t str,
    range: Range<usize>,
    pub(super) folds: Vec<(Range<usize>, Piece)>,
}

/// Words of a folded text, with what each stands for; spans are those of the whole text.
pub(super) struct Sentence {
    pub(super) words: Vec<Word>,
    pub(super) pieces: Vec<Option<Piece>>,
}

impl<'t> Folded<'t> {
    /// With quotations, times and known names folded.
    pub(super) fn of(text: &'t str, times: Vec<TimeExpr>, name: Names<'_>) -> Self {
        let mut out = Self { text, range: 0..text.len(), folds: Vec::new() };
        for range in quoted_ranges(text).into_iter().filter(|range| !range.is_empty()) {
            out.fold(around(text, &range), Piece::Quote(text[range].trim().to_owned()));
        }
        for time in times.into_iter().filter(|time| !is_asked(text, time)) {
            out.fold(time.range.clone(), Piece::Time(time));
        }
        let words = tokens(text);
        let mut at = 0;
        while at < words.len() {
            let free = !out.holds(words[at].range.start);
            match known(&words, at, name).filter(|_| free) {
                Some((subject, taken)) => {
                    let range = words[at].range.start..words[at + taken - 1].range.end;
                    let bare = words[at + taken - 1].word.ends_with("'s");
                    let cut = text[range.clone()].rfind(APOSTROPHES).filter(|_| bare);
                    let end = cut.map_or(range.end, |cut| range.start + cut);
                    out.fold(range.start..end, Piece::Subject(subject));
                    at += taken;
                }
                None => at += 1,
            }
        }
        out
    }

    /// Puts a piece for a range; what was folded within is gone.
    pub(super) fn fold(&mut self, range: Range<usize>, piece: Piece) {
        self.folds.retain(|(old, _)| old.end <= range.start || old.start >= range.end);
        self.folds.push((range, piece));
        self.folds.sort_by_key(|(range, _)| range.start);
    }

    /// Whether the byte is folded.
    pub(super) fn holds(&self, at: usize) -> bool {
        self.folds.iter().any(|(range, _)| range.contains(&at))
    }

    /// A part of it alone.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        let inside =
            |(fold, _): &&(Range<usize>, Piece)| range.start <= fold.start && fold.end <= range.end;
        Self { text: self.text, folds: self.folds.iter().filter(inside).cloned().collect(), range }
    }

    /// The times that are folded in it.
    pub(super) fn times(&self) -> Vec<TimeExpr> {
        let time = |(_, piece): &(Range<usize>, Piece)| match piece {
            Piece::Time(time) => Some(time.clone()),
            _ => None,
        };
        self.folds.iter().filter_map(time).collect()
    }

    /// What of the text it is.
    pub(super) fn whole(&self) -> Range<usize> {
        self.range.clone()
    }

    /// As it is written.
    pub(super) fn written(&self) -> &'t str {
        &self.text[self.range.clone()]
    }

    /// Its words, parsed.
    pub(super) fn read(&self, language: &Language) -> Sentence {
        let mut masked = String::new();
        // Where each piece of the text begins in the masked one, and where in the original.
        let mut moved: Vec<(usize, usize, Option<usize>)> = Vec::new();
        let mut at = self.range.start;
        let shouted = !self.text.chars().any(char::is_lowercase);
        let plain = |masked: &mut String, range: Range<usize>| {
            let start = masked.len();
            masked.push_str(&self.text[range]);
            if shouted {
                masked[start..].make_ascii_lowercase();
            }
        };
        for (index, (range, piece)) in self.folds.iter().enumerate() {
            moved.push((masked.len(), at, None));
            plain(&mut masked, at..range.start);
            moved.push((masked.len(), range.start, Some(index)));
            masked.push_str(piece.mask());
            at = range.end;
        }
        moved.push((masked.len(), at, None));
        plain(&mut masked, at..self.range.end);
        let mut words = language.parse(&masked, &|word| word == "mary");
        let mut pieces = Vec::new();
        for word in &mut words {
            let before = moved.iter().take_while(|(start, ..)| *start <= word.span.start).last();
            let Some(&(start, original, fold)) = before else { continue };
            let fold = fold.and_then(|index| self.folds.get(index));
            word.span = match fold {
                Some((range, _)) => range.clone(),
                None => word.span.start - start + original..word.span.end - start + original,
            };
            pieces.push(fold.map(|(_, piece)| piece.clone()));
        }
        Sentence { words, pieces }
    }

    /// Folds names that nobody bears: what the parser takes for a name, with the title before it.
    pub(super) fn fold_strangers(&mut self, language: &Language) {
        if !self.is_sparing() {
            return;
        }
        let Sentence { words, pieces } = self.read(language);
        let names = |at: usize| {
            let word: &Word = &words[at];
            let lower = word.form.to_lowercase();
            pieces[at].is_none()
                && !(word.tag.starts_with("JJ") && language.parser.has(&lower))
                && !super::is_grammar(&lower)
                && word.form.starts_with(char::is_uppercase)
                && word.form.chars().any(char::is_lowercase)
                && (at > 0 || is_title(&lower))
                && !language.is_of_calendar(&lower)
                && !Lexicon::english().is("asking", &lower)
                && !is("greeting", &lower)
        };
        let mut at = 0;
        while at < words.len() {
            let end = (at..words.len()).find(|&end| !names(end)).unwrap_or(words.len());
            let run = &words[at..end];
            let title = |word: &Word| is_title(&word.form.to_lowercase());
            // "the Doctor", "Class 3b"
            let is_thing = at > 0 && is_determiner(&words[at - 1].lemma)
                || run.iter().all(title)
                || words.get(end).is_some_and(is_number);
            if !run.is_empty() && !is_thing {
                let name: Vec<&str> =
                    run.iter().map(|word| word.form.trim_end_matches('.')).collect();
                let range = run[0].span.start..run[run.len() - 1].span.end;
                self.fold(range, Piece::Subject(Subject::Unknown(name.join(" "))));
            }
            at = end.max(at + 1);
        }
    }

    /// Whether a capital tells a name in it: some words begin with one, and not most.
    fn is_sparing(&self) -> bool {
        let mut words = tokens(self.text);
        words.retain(|token| token.range.start > 0 && !self.holds(token.range.start));
        let capitals = words.iter().filter(|token| token.capital).count();
        let titles = words.iter().filter(|token| token.capital && is_title(&token.word)).count();
        capitals > 0 && (words.len() < 3 || (capitals - titles) * 2 <= words.len())
    }
}

/// Whether a clause is asked for, and tells no time: "Do you know when Ava came?", "the time when Ava came".
fn is_asked(text: &str, time: &TimeExpr) -> bool {
    let words = tokens(&text[..time.range.end]);
    let (before, clause): (Vec<&Token>, Vec<&Token>) =
        words.iter().partition(|token| token.range.end <= time.range.start);
    let asks = clause.first().is_some_and(|token| Lexicon::english().is("asking", &token.word));
    let frames = |token: &&Token| is("frames", &token.word);
    let framed = before.iter().any(frames)
        && before.iter().all(|token| frames(token) || super::is_grammar(&token.word));
    asks && (framed || before.last().is_some_and(|token| is("moments", &token.word)))
}

/// A number, or a letter that stands for one: "3b", "12", "B".
fn is_number(word: &Word) -> bool {
    let digit = word.form.starts_with(|c: char| c.is_ascii_digit());
    digit || word.form.len() == 1 && word.form.starts_with(char::is_uppercase) && word.tag != "PRP"
}

/// A quotation with its marks.
fn around(text: &str, range: &Range<usize>) -> Range<usize> {
    let before = text[..range.start].chars().next_back().map_or(0, char::len_utf8);
    let after = text[range.end..].chars().next().map_or(0, char::len_utf8);
    range.start - before..range.end + after
}

/// A known name or an id from `at` on: whom it means, and the tokens taken.
fn known(words: &[Token], at: usize, name: Names<'_>) -> Option<(Subject, usize)> {
    for count in (1..=LONGEST_NAME.min(words.len() - at)).rev() {
        let run = &words[at..at + count];
        // The full stop of "Dr. Novak" ends nothing.
        if run[..count - 1].iter().any(|token| token.stop && !is_title(&token.word)) {
            continue;
        }
        let joined = run.iter().map(|token| token.word.as_str()).collect::<Vec<_>>().join(" ");
        let bare = joined.strip_suffix("'s").unwrap_or(&joined);
        // What is a plain word, too, needs a capital, and not at the head.
        let plain = PLAIN_NAMES.contains(&bare) || super::is_grammar(bare);
        let may_be = count > 1 || !plain || words[at].capital && at > 0;
        if let Some(id) = Some(bare).filter(|_| may_be).and_then(name) {
            return Some((Subject::Known { id, text: bare.to_owned() }, count));
        }
    }
    numbered(words, at, name)
}

/// "person 4", "person number 4", "the unknown person 4", "person_4".
fn numbered(words: &[Token], at: usize, name: Names<'_>) -> Option<(Subject, usize)> {
    let word = |at: usize| words.get(at).map(|token| token.word.trim_end_matches("'s"));
    let skipped = |at: usize| usize::from(word(at).is_some_and(|word| is("unnamed", word)));
    let begin = at + skipped(at);
    let first = word(begin)?;
    let (id, text, end) = match first.parse::<EntityId>() {
        Ok(id) if first.contains('_') => (id, first.to_owned(), begin + 1),
        _ => {
            let told = |kind: &EntityKind| kind.word() == first && *kind != EntityKind::Robot;
            let kind = EntityKind::ALL.into_iter().find(told)?;
            let digits = begin + 1 + skipped(begin + 1);
            let number: u32 = word(digits)?.parse().ok()?;
            (EntityId::new(kind, number), format!("{first} {number}"), digits + 1)
        }
    };
    let subject = match name(&id.to_string()) {
        Some(id) => Subject::Known { id, text },
        None => Subject::Unknown(text),
    };
    Some((subject, end - at))
}
