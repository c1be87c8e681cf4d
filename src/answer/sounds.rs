//! "Did the door bell ring?", "When did the dog bark?": sounds that mean something, out of what was heard.
//!
//! A question is one of these when it names a kind of sound that was ever heard, and says that it sounds (it rings, barks, was
//! heard), or when what it names is a sound by itself (a knock, music). That one was not heard is no proof that there was none.

use std::sync::Arc;

use crate::language::Language;
use crate::language::parse::Word;
use crate::memory::model::SoundEventRow;
use crate::memory::{PerceptFilter, is_kin, stems};
use crate::time::Span;

use super::question::{self, Opening, Parsed, Subject, is, is_asking, is_grammar};
use super::reading::{GATHERED, Reading, hull, touch};
use super::reply::Reply;
use super::wording::{list, sentence};

/// Sounds told in one answer, at most.
const TOLD: usize = 8;
/// What is heard again so soon goes on, seconds.
const GOES_ON_SECS: f64 = 5.0;

/// A kind of sound, from when to when.
struct Heard {
    span: Span,
    confidence: f32,
    /// Its first part.
    row: Arc<SoundEventRow>,
}

/// A question about sounds.
struct Question {
    opening: Opening,
    /// Kinds that it names, as they are called; none: any.
    kinds: Vec<Arc<str>>,
    first: bool,
    last: bool,
}

/// The reply to a question about sounds; `None` of others, and where none that means something was ever heard.
pub(super) fn asked(
    reading: &Reading,
    language: Option<&Language>,
    text: &str,
    parsed: &Parsed,
) -> Option<Reply> {
    let about_somebody = |one: &Subject| matches!(one, Subject::Known { .. });
    if parsed.subjects.iter().any(about_somebody) {
        return None;
    }
    let text = &text[..text.floor_char_boundary(question::MAX_BYTES)];
    let words = language?.parse(text, &|_| false);
    // (Rows of all time are read for a question that may be one.)
    let may_be =
        |word: &Word| ["sounding", "hearing", "audible"].iter().any(|list| stands_in(list, word));
    if !words.iter().any(may_be) {
        return None;
    }
    let rows = reading.view.sound_events(&PerceptFilter::default());
    let mut known: Vec<Arc<str>> = rows.iter().map(|row| Arc::clone(&row.event.what)).collect();
    known.sort_unstable();
    known.dedup();
    if known.is_empty() {
        return None;
    }
    let question = Question::read(&words, parsed, &known)?;
    Some(question.reply(reading, rows))
}

impl Question {
    /// `None`: it is about something else.
    fn read(words: &[Word], parsed: &Parsed, known: &[Arc<str>]) -> Option<Self> {
        let any = |list: &str| words.iter().any(|word| stands_in(list, word));
        let sounds = any("sounding") || any("hearing");
        let names = |what: &&Arc<str>| {
            words.iter().any(|word| is_called(what, word) && (sounds || stands_in("audible", word)))
        };
        let kinds: Vec<Arc<str>> = known.iter().filter(names).cloned().collect();
        let asks_for_any = any("noises") && any("hearing");
        if kinds.is_empty() && !asks_for_any {
            return None;
        }
        // "Is there music?", but not "When does the music festival start?"
        let is_more = |word: &Word| {
            let is_matter = ["NN", "JJ", "VB"].iter().any(|tag| word.tag.starts_with(tag));
            let form = word.form.to_lowercase();
            is_matter
                && !is_grammar(&form)
                && !is_asking(&word.lemma)
                && !is_asking(&form)
                && !kinds.iter().any(|what| is_called(what, word))
                && !parsed.times.iter().any(|time| time.range.contains(&word.span.start))
        };
        if !sounds && words.iter().any(is_more) {
            return None;
        }
        let opening = Opening::of(words);
        Some(Self { opening, kinds, first: any("first"), last: any("last") })
    }

    fn reply(&self, reading: &Reading, rows: Vec<Arc<SoundEventRow>>) -> Reply {
        let is_meant = |row: &Arc<SoundEventRow>| {
            row.event.span.start <= reading.now()
                && (self.kinds.is_empty() || self.kinds.contains(&row.event.what))
        };
        let mut all = joined(rows.into_iter().filter(is_meant));
        let ever = all.len();
        if let Some(spans) = reading.spans.as_deref() {
            let wanted = hull(spans);
            all.retain(|heard| {
                wanted.is_some() && spans.iter().any(|span| touch(*span, heard.span))
            });
        }
        if self.first {
            all.truncate(1);
        } else if self.last {
            all.drain(..all.len().saturating_sub(1));
        }
        if all.is_empty() {
            let text = match ever {
                0 => "I don't know: I heard nothing like that.",
                _ => "I don't know: I heard nothing like that then, but at other times.",
            };
            return Reply::unknown(text);
        }
        let one = |heard: &Heard| {
            format!("{} {}", heard.row.event.what, reading.wording.when(heard.span))
        };
        let told: Vec<String> = all.iter().take(TOLD).map(one).collect();
        let more = all.len().saturating_sub(TOLD);
        let more = if more > 0 { format!(" And {more} more.") } else { String::new() };
        let told = format!("I heard {}.{more}", list(&told));
        let text = self.opening.told(&told, all.len());
        let evidence = all.iter().take(GATHERED);
        let evidence =
            evidence.map(|heard| reading.sound_evidence(&heard.row, heard.span, heard.confidence));
        Reply::known(sentence(&text), Vec::new(), evidence.collect())
    }
}

/// What was heard, by start: parts that a border cut, what several microphones heard at once, and what goes on is one.
fn joined(rows: impl Iterator<Item = Arc<SoundEventRow>>) -> Vec<Heard> {
    let mut all: Vec<Heard> = Vec::new();
    for row in rows {
        let event = &row.event;
        let same = |heard: &&mut Heard| {
            heard.row.event.what == event.what
                && event.span.start.secs_since(heard.span.end) <= GOES_ON_SECS
        };
        match all.iter_mut().rev().find(same) {
            Some(heard) => {
                heard.span.end = heard.span.end.max(event.span.end);
                heard.confidence = heard.confidence.max(event.confidence);
            }
            None => {
                let (span, confidence) = (event.span, event.confidence);
                all.push(Heard { span, confidence, row });
            }
        }
    }
    all
}

/// Whether a word of a question stands in a list.
fn stands_in(list: &str, word: &Word) -> bool {
    is(list, &word.lemma) || is(list, &word.form.to_lowercase())
}

/// Whether a word names a kind of sound by the last word of what that is called: "bell" a door bell, "barking" a dog.
fn is_called(what: &str, word: &Word) -> bool {
    let Some(head) = what.split_whitespace().next_back() else { return false };
    let list = format!("sound_{}", head.to_lowercase());
    let known = stems(head);
    let is_same = |one: &String| known.iter().any(|known| is_kin(one, known));
    stands_in(&list, word) || stems(&word.lemma).iter().any(is_same)
}
