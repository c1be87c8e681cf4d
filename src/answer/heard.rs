//! Utterances that may answer a question, each with who spoke and what was said before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::MemoryId;
use crate::language::text::head;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, View};
use crate::mention;
use crate::recall::{Query, recall};
use crate::time::{Span, Timestamp};

use super::meaning::{Heard, Line, PAUSE_SECS};
use super::passages::ending;
use super::reading::Reading;

/// So many utterances are read for a question; of more, those that recall finds, with their replies.
const ALL: usize = 200;
const FOUND: usize = 8;
/// So many behind each that is found may reply to it.
const REPLIES: usize = 3;
/// Of a talk so much before an utterance is looked at, seconds.
const BEFORE_SECS: f64 = 120.0;

/// An utterance.
pub(super) struct Utterance {
    pub(super) row: Arc<MemoryRow>,
    /// Its words alone.
    pub(super) words: String,
    pub(super) heard: Heard,
}

/// Those that may answer the question, oldest first.
pub(super) fn utterances(reading: &Reading, query: &Query, many: bool) -> Vec<Utterance> {
    let kinds = vec![MemoryKind::Utterance];
    let (talk, wanted) = if many {
        let hits = recall(&reading.view, &Query { kinds, k: FOUND, ..query.clone() });
        let hits: Vec<_> = hits.into_iter().map(|hit| hit.memory).collect();
        around(reading, &hits, |row| row.words().contains('?'))
    } else {
        let talk = reading.view.memories(&Filter { kinds, ..Filter::default() });
        let wanted = (0..talk.len()).collect();
        (talk, wanted)
    };
    let is_past = |at: &usize| talk[*at].span.start <= reading.now();
    read(reading, &talk, wanted.into_iter().filter(is_past))
}

/// Whether there are more than are read for every question.
pub(super) fn are_many(view: &View) -> bool {
    view.are_more(&[MemoryKind::Utterance], ALL)
}

/// Those among memories, with what was said before them.
pub(super) fn these(reading: &Reading, rows: &[Arc<MemoryRow>]) -> Vec<Utterance> {
    let new: Vec<Arc<MemoryRow>> =
        rows.iter().filter(|row| row.kind == MemoryKind::Utterance).map(Arc::clone).collect();
    let (talk, wanted) = around(reading, &new, |_| false);
    read(reading, &talk, wanted.into_iter())
}

/// Those of a talk, each with what was said before it.
fn read(
    reading: &Reading,
    talk: &[Arc<MemoryRow>],
    wanted: impl Iterator<Item = usize>,
) -> Vec<Utterance> {
    let lines: Vec<(Span, Line)> = talk.iter().map(|row| (row.span, line(reading, row))).collect();
    let utterance = |at: usize| Utterance {
        row: Arc::clone(&talk[at]),
        words: words(reading, &talk[at]),
        heard: Heard::at(&lines, at),
    };
    wanted.map(utterance).collect()
}

/// The talk around utterances in the order of time, and which of it they and what may reply to those that ask are.
fn around(
    reading: &Reading,
    found: &[Arc<MemoryRow>],
    asks: impl Fn(&MemoryRow) -> bool,
) -> (Vec<Arc<MemoryRow>>, Vec<usize>) {
    let mut talk: BTreeMap<(Timestamp, MemoryId), Arc<MemoryRow>> = BTreeMap::new();
    for row in found {
        let from = row.span.start.plus_secs(-BEFORE_SECS);
        let to = row.span.end.plus_secs(PAUSE_SECS * REPLIES as f64);
        let filter = Filter {
            span: Some(Span::new(from, to)),
            kinds: vec![MemoryKind::Utterance],
            ..Filter::default()
        };
        let near = reading.view.memories(&filter);
        talk.extend(near.into_iter().map(|row| ((row.span.start, row.id), row)));
    }
    let order: BTreeMap<MemoryId, usize> =
        talk.keys().enumerate().map(|(at, (_, id))| (*id, at)).collect();
    let mut wanted: Vec<usize> = found
        .iter()
        .filter_map(|row| Some((*order.get(&row.id)?, if asks(row) { REPLIES } else { 0 })))
        .flat_map(|(at, replies)| at..(at + 1 + replies).min(talk.len()))
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    (talk.into_values().collect(), wanted)
}

/// Who said what, of the memory that says so; of much, its end.
fn line(reading: &Reading, row: &MemoryRow) -> Line {
    let whose = mention::mentions(&row.text);
    let speaker = whose.first().filter(|mention| mention.range.start == 0);
    Line {
        speaker: speaker.map(|mention| reading.name(mention.entity)),
        text: ending(&words(reading, row)).to_owned(),
    }
}

fn words(reading: &Reading, row: &MemoryRow) -> String {
    reading.rendered(head(row.words()))
}
