//! What was told to have happened, and when: the notes that tell of a clause ("Ava fell", "the vase was broken"), and the
//! questions that set two such events side by side, or the beginning of a state and its end.
//!
//! `clause` takes words apart and says which sentences tell of them, `cues` what else says the same. Each family of
//! questions is a file: `ordered` (which of two was first), `states` and `lasting` (what began and ended), `amounts`
//! (numbers told on days, prices), `tallied` (how many such events there were), `dated` (on which day something is).
//! Only what notes tell is answered here; where they do not tell both sides, another family is asked.

mod amounts;
mod clause;
mod cues;
mod dated;
mod lasting;
mod ordered;
mod states;
mod tallied;

use std::ops::Range;
use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::Filter;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::recall::lexer::{Token, tokens};
use crate::recall::time_expr::{TimeExpr, When, combined_span, told_expressions};
use crate::text::sentences;
use crate::time::{Span, Timestamp};

use super::document::Evidence;
use super::facts::tell;
use super::question::listed;
use super::reading::Reading;
use super::reply::Reply;

pub(super) use clause::{Sentence, words_of};
pub(super) use cues::{holds, with_alike};
pub(super) use lasting::leaves;

use clause::{Clause, Word};

/// Notes with words of a clause that are looked at.
const LOOKED_AT: usize = 200;
/// Notes that one answer quotes.
const QUOTED: usize = 6;
/// What two told times say together is so for so much.
const SURE: f32 = 0.7;
/// Words of a question that is read here, at most.
const LONGEST: usize = 40;
/// So far back, in words, a pronoun of a note points, at most.
const POINTED_BACK: usize = 200;
/// What is asked of the robot's own senses, or of what was said.
const OF_PERCEPTS: &str =
    "you say says said saying mention mentioned talk talked speak spoke spoken ask asked visible";
/// A state that was told to last no longer than this may be a part of the day, seconds.
const DAY_SECS: f64 = 86_400.0;

/// Verbs of what was so at a time, and what tells that it still is.
const WAS: &str = "was were had";
const SINCE: &str = "since";

/// Something that was told to have happened.
#[derive(Clone)]
struct Event {
    row: Arc<MemoryRow>,
    /// A moment where it was told as it was, else the day or the part of one that was told.
    time: Span,
    /// Until when it was told to last, over days.
    until: Option<Timestamp>,
    /// It was told of a time that was over then: "was ill yesterday".
    over: bool,
    /// It was to come when it was told.
    planned: bool,
    /// Somebody came back in it.
    back: bool,
}

/// On which side of another event one was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// The reply to a question about told events; `None`: it is none, or the notes do not tell it.
pub(super) fn told_of(reading: &Reading, question: &str) -> Option<Reply> {
    let words = tokens(question);
    let aside = |token: &Token| token.quoted || listed(OF_PERCEPTS, &token.word);
    if words.len() > LONGEST || words.iter().any(aside) {
        return None;
    }
    let asked = Asked { reading, text: question, timed: timed(reading, question), words };
    ordered::told_of(&asked)
        .or_else(|| amounts::told_of(&asked))
        .or_else(|| lasting::told_of(&asked))
        .or_else(|| tallied::told_of(&asked))
        .or_else(|| dated::told_of(&asked))
}

/// A question, taken apart.
struct Asked<'a> {
    reading: &'a Reading,
    text: &'a str,
    words: Vec<Token>,
    /// Where it tells times by the calendar.
    timed: Vec<Range<usize>>,
}

impl Asked<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |token| token.word.as_str())
    }

    fn find(&self, list: &str) -> Option<usize> {
        self.words.iter().position(|token| listed(list, &token.word))
    }

    fn is_timed(&self, token: &Token) -> bool {
        self.timed.iter().any(|time| time.contains(&token.range.start))
    }

    /// The words of a part of it that are of no time.
    fn part(&self, words: Range<usize>) -> Vec<&Token> {
        let part = self.words.get(words).unwrap_or_default();
        part.iter().filter(|token| !self.is_timed(token)).collect()
    }

    /// A part of it as it is written.
    fn written(&self, words: Range<usize>) -> &str {
        let part = self.words.get(words).unwrap_or_default();
        match (part.first(), part.last()) {
            (Some(first), Some(last)) => &self.text[first.range.start..last.range.end],
            _ => "",
        }
    }

    /// The times that a part of it tells together.
    fn times(&self, words: Range<usize>) -> Vec<Span> {
        times(self.reading, self.written(words))
    }
}

fn calendar(time: &TimeExpr) -> Vec<Span> {
    match &time.when {
        When::Span { span, .. } => vec![*span],
        When::Spans { spans, .. } => spans.clone(),
        When::Now | When::Recording { .. } | When::Event { .. } => Vec::new(),
    }
}

/// Where a text tells times by the calendar.
fn timed(reading: &Reading, text: &str) -> Vec<Range<usize>> {
    let found = told_expressions(text, reading.now(), &reading.wording.zone);
    let plain = found
        .into_iter()
        .filter(|time| matches!(time.when, When::Span { .. } | When::Spans { .. } | When::Now));
    plain.map(|time| time.range).collect()
}

/// The times that a text tells by the calendar: what several have in common, else each of them.
fn times(reading: &Reading, text: &str) -> Vec<Span> {
    let found = told_expressions(text, reading.now(), &reading.wording.zone);
    let mut all: Vec<Span> = Vec::new();
    for spans in found.iter().map(calendar).filter(|spans| !spans.is_empty()) {
        let both: Vec<Span> =
            all.iter().flat_map(|a| spans.iter().filter_map(|b| a.intersection(*b))).collect();
        if both.is_empty() {
            all.extend(spans);
        } else {
            all = both;
        }
    }
    all.sort_unstable();
    all
}

/// The notes up to now with some of those words.
fn notes(reading: &Reading, words: &str) -> Vec<Arc<MemoryRow>> {
    let filter = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
    let hits = reading.view.lexical_with_kin(words, LOOKED_AT, &filter).into_iter();
    let rows = hits.filter_map(|(id, _)| reading.view.memory(id));
    rows.filter(|row| row.span.start <= reading.now()).collect()
}

/// Of each note with some of those words the first sentence that tells it, as an event; by time.
fn scan(reading: &Reading, words: &str, tells: &dyn Fn(&Sentence) -> bool) -> Vec<Event> {
    let mut found = Vec::new();
    for row in notes(reading, words) {
        let text = reading.rendered(&row.text);
        let mut before: Vec<Word> = Vec::new();
        for written in sentences(&text) {
            let sentence = Sentence::of(written, std::mem::take(&mut before));
            if !written.ends_with('?') && tells(&sentence) {
                found.push(event(reading, &row, written, &sentence));
                break;
            }
            before = sentence.all();
            before.drain(..before.len().saturating_sub(POINTED_BACK));
        }
    }
    found.sort_by_key(|event| (event.time.start, event.row.id));
    found
}

/// The event of a sentence: at the time that it tells, else when it was told.
fn event(reading: &Reading, row: &Arc<MemoryRow>, text: &str, sentence: &Sentence) -> Event {
    let told = row.span.start;
    let times = told_expressions(text, told, &reading.wording.zone);
    let span = combined_span(&times).map(|(span, _)| span);
    // "until Friday" tells no beginning.
    let open = |span: &Span| span.start.as_nanos() == i64::MIN;
    let until = span.filter(|span| {
        (open(span) || span.secs() > DAY_SECS) && span.start <= told && told < span.end
    });
    let moment = Span::new(told, told);
    let time = span.filter(|span| !open(span) && !span.contains(told)).unwrap_or(moment);
    let any = |list: &str| sentence.words.iter().any(|word| listed(list, &word.token.word));
    let over = time.secs() > 0.0 && time.end <= told && any(WAS) && !any(SINCE);
    let planned = time.start > told || sentence.is_plan();
    let until = until.map(|span| span.end);
    Event { row: Arc::clone(row), time, until, over, planned, back: sentence.moves.back }
}

/// When that of which a clause tells happened, by time; of what was only planned where nothing else tells it.
fn happened(reading: &Reading, clause: &Clause) -> Vec<Event> {
    let found = scan(reading, &clause.query(), &|sentence| clause.is_told(sentence));
    let returns = |event: &Event| event.back && !clause.is_return();
    let rank = |event: &Event| match (event.planned, returns(event)) {
        (false, false) => 0,
        (true, false) => 1,
        (_, true) => 2,
    };
    let been = |event: &&Event| event.time.start <= reading.now();
    let Some(best) = found.iter().filter(been).map(rank).min() else { return Vec::new() };
    found.iter().filter(been).filter(|event| rank(event) == best).cloned().collect()
}

/// Whether all of those were before all of the others, or after; `None`: it cannot be told.
fn side(ones: &[Event], others: &[Event]) -> Option<Side> {
    let all = |before: &[Event], after: &[Event]| {
        let is_before = |a: &Event, b: &Event| {
            a.time.end <= b.time.start && a.time.start < b.time.start && a.row.id != b.row.id
        };
        before.iter().all(|a| after.iter().all(|b| is_before(a, b)))
    };
    if ones.is_empty() || others.is_empty() {
        return None;
    }
    match (all(ones, others), all(others, ones)) {
        (true, false) => Some(Side::Before),
        (false, true) => Some(Side::After),
        _ => None,
    }
}

/// Whether it is about the presence of somebody whom a camera saw.
fn is_seen(reading: &Reading, clause: &Clause) -> bool {
    let seen = |name: &String| {
        let known = reading.view.find_by_name(name).into_iter();
        let mut persons = known.filter(|id| Reading::is_person(*id));
        persons.any(|id| !reading.appearances(Some(id), None).is_empty())
    };
    clause.is_of_presence() && clause.names.iter().any(seen)
}

/// A reply that quotes the notes of those events behind `lead`.
fn quoting(reading: &Reading, lead: &str, events: &[&Event]) -> Reply {
    let rows = rows(events);
    let told: Vec<String> = rows.iter().take(QUOTED).map(|row| tell(reading, row)).collect();
    let more = rows.len().saturating_sub(QUOTED);
    let more = if more > 0 { format!(" And {more} more.") } else { String::new() };
    let text = format!("{lead} {}{more}", told.join(" "));
    let reply = Reply::known(text, entities(&rows), evidence(reading, &rows));
    Reply { confidence: SURE, ..reply }
}

/// "I don't know": the notes are told that do not settle it.
fn unsettled(reading: &Reading, lead: &str, events: &[&Event]) -> Reply {
    let rows = rows(events);
    let told: Vec<String> = rows.iter().take(QUOTED).map(|row| tell(reading, row)).collect();
    let text = format!("{lead}; what I remember of it: {}", told.join(" "));
    Reply { evidence: evidence(reading, &rows), ..Reply::unknown(&text) }.about(&entities(&rows))
}

/// Their notes in that order, each once.
fn rows(events: &[&Event]) -> Vec<Arc<MemoryRow>> {
    let mut rows: Vec<Arc<MemoryRow>> = Vec::new();
    for event in events {
        if rows.iter().all(|row| row.id != event.row.id) {
            rows.push(Arc::clone(&event.row));
        }
    }
    rows
}

fn evidence(reading: &Reading, rows: &[Arc<MemoryRow>]) -> Vec<Evidence> {
    rows.iter().map(|row| reading.memory_evidence(row, row.confidence)).collect()
}

fn entities(rows: &[Arc<MemoryRow>]) -> Vec<EntityId> {
    let mut found: Vec<EntityId> = Vec::new();
    for id in rows.iter().flat_map(|row| &row.entities) {
        if !found.contains(id) {
            found.push(*id);
        }
    }
    found
}
