//! Answers from what was told, by its meaning: the notes of a view go to [`Meaning`], its reply comes back with evidence.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{EntityId, MemoryId, Seq};
use crate::language::text::head;
use crate::memory::model::{Ground, MemoryKind, MemoryRow};
use crate::memory::{DOCUMENT, Filter, View};
use crate::recall::{Query, recall};

use super::builtin::Vectors;
use super::document::Evidence;
use super::heard::{self, Utterance, utterances};
use super::meaning::{Meaning, Told};
use super::passages::{is_long, passages};
use super::reading::Reading;
use super::reply::Reply;

/// So many notes are read for a question; of more, those that recall finds.
const NOTES: usize = 300;
const FOUND: usize = 40;
/// So many are looked through for them where there are documents, whose passages are notes, too.
const BESIDE_DOCUMENTS: usize = 160;
/// So many are read before anybody asks …
const AHEAD: usize = 1_000;
/// … and so many older ones parsed.
const PARSED: usize = 200_000;
/// What was told; facts of other origin are made of notes that are here, too.
const KINDS: [MemoryKind; 2] = [MemoryKind::Note, MemoryKind::Semantic];

/// The reply that notes and utterances give; `None`: they do not answer it.
pub(super) fn told_of(
    reading: &Reading,
    meaning: &Meaning,
    text: &str,
    vectors: &mut Vectors<'_>,
) -> Option<Reply> {
    let vector = vectors.of(text);
    let query = Query { text: text.to_owned(), vector: vector.clone(), ..Query::default() };
    let many = Many::of(&reading.view);
    let (notes, said) =
        (notes(reading, &query, many.notes), utterances(reading, &query, many.utterances));
    let mut sources = sources(reading, meaning, many, notes, said);
    let wanted = reading.view.telling(text, &[]);
    for (_, one) in sources.iter_mut().filter(|(_, one)| one.names.is_some() && is_long(&one.text))
    {
        one.text = passages(&one.text, &wanted).into_owned();
    }
    let (rows, mut told): (Vec<Arc<MemoryRow>>, Vec<Told>) = sources.into_iter().unzip();
    let near = |row: &Arc<MemoryRow>| Some(reading.view.cosine(row.id, vector.as_ref()?)?.max(0.0));
    let cosines: Vec<Option<f32>> = rows.iter().map(near).collect();
    // What has no vector yet is taken to be as near as the others.
    let known = cosines.iter().flatten().count().max(1) as f32;
    let usual = cosines.iter().flatten().sum::<f32>() / known;
    for (one, cosine) in told.iter_mut().zip(cosines) {
        one.cosine = cosine.unwrap_or(usual);
    }
    let meant = meaning.reply(text, &told, &people(reading, &rows, text), reading.now())?;
    let grounds: Vec<&Arc<MemoryRow>> = meant.notes.iter().map(|&note| &rows[note]).collect();
    let evidence: Vec<Evidence> =
        grounds.iter().map(|row| reading.memory_evidence(row, meant.confidence)).collect();
    let about: BTreeSet<EntityId> =
        grounds.iter().flat_map(|row| row.entities.iter().copied()).collect();
    let reply = Reply::known(meant.text, about.into_iter().collect(), evidence);
    Some(Reply { confidence: meant.confidence.clamp(0.05, 0.99), ..reply })
}

/// Reads what was told and said after a commit, the newest of it, so that the next question finds it read, as long as
/// `keep_on` says so.
pub(super) fn read_ahead(
    reading: &Reading,
    meaning: &Meaning,
    since: Seq,
    keep_on: &dyn Fn() -> bool,
) {
    let rows = match since {
        Seq(0) => {
            let (ids, earlier) = readable(&reading.view);
            ids[earlier..].iter().filter_map(|id| reading.view.memory(*id)).collect()
        }
        since => {
            let mut rows = reading.view.memories_since(since);
            rows.drain(..rows.len().saturating_sub(AHEAD));
            rows
        }
    };
    let said = heard::these(reading, &rows);
    let many = Many::of(&reading.view);
    let mut sources = sources(reading, meaning, many, told_rows(reading, rows), said);
    sources.retain(|(_, one)| is_read_whole(one));
    if sources.is_empty() {
        return;
    }
    let (rows, told): (Vec<Arc<MemoryRow>>, Vec<Told>) = sources.into_iter().unzip();
    meaning.read_ahead(&told, &people(reading, &rows, ""), keep_on);
}

/// Parses what was told and said: of those memories what may be read for a question, as long as `keep_on` says so.
pub(super) fn parse_ahead(
    reading: &Reading,
    meaning: &Meaning,
    ids: &[MemoryId],
    keep_on: &dyn Fn() -> bool,
) {
    let rows: Vec<Arc<MemoryRow>> = ids.iter().filter_map(|id| reading.view.memory(*id)).collect();
    let said = heard::these(reading, &rows);
    let mut told: Vec<Told> =
        sources(reading, meaning, Many::of(&reading.view), told_rows(reading, rows), said)
            .into_iter()
            .map(|(_, told)| told)
            .collect();
    told.retain(|one| one.names.is_some() && is_read_whole(one));
    meaning.parse_ahead(&told, keep_on);
}

/// Of many texts a long one is read in part, each question another.
fn is_read_whole(one: &Told) -> bool {
    one.names.is_none() || !is_long(&one.text)
}

/// The memories that may be read for a question, oldest first, and of these how many are not read as they are told: all but
/// the newest. No row is read for it.
fn readable(view: &View) -> (Vec<MemoryId>, usize) {
    let kinds = vec![MemoryKind::Utterance, MemoryKind::Note, MemoryKind::Semantic];
    let passing = view.passing(&Filter { kinds, ..Filter::default() });
    let ids: Vec<MemoryId> = passing.iter().flat_map(|ids| ids.iter()).collect();
    let earlier = ids.len().saturating_sub(AHEAD);
    (ids, earlier)
}

/// Those that are not read as they are told, oldest first: no more than are kept parsed.
pub(super) fn earlier(view: &View) -> Vec<MemoryId> {
    let (ids, earlier) = readable(view);
    ids[earlier.saturating_sub(PARSED)..earlier].to_vec()
}

/// What was told, oldest first.
fn notes(reading: &Reading, query: &Query, many: bool) -> Vec<Arc<MemoryRow>> {
    let rows = if many {
        let documents = reading.view.told_passages() > 0;
        let k = if documents { BESIDE_DOCUMENTS } else { FOUND };
        let query = Query { kinds: KINDS.to_vec(), k, ..query.clone() };
        let found = recall(&reading.view, &query).into_iter().map(|hit| hit.memory);
        found.filter(|row| row.origin != DOCUMENT).take(FOUND).collect()
    } else {
        reading.view.memories(&Filter { kinds: KINDS.to_vec(), ..Filter::default() })
    };
    told_rows(reading, rows)
}

/// Of what there is more than is read for every question: what recall finds of it is read.
#[derive(Clone, Copy)]
struct Many {
    notes: bool,
    utterances: bool,
}

impl Many {
    fn of(view: &View) -> Self {
        let most = NOTES + view.told_passages();
        Self { notes: view.are_more(&KINDS, most), utterances: heard::are_many(view) }
    }
}

/// Memories in plain words, oldest first.
fn sources(
    reading: &Reading,
    meaning: &Meaning,
    many: Many,
    notes: Vec<Arc<MemoryRow>>,
    said: Vec<Utterance>,
) -> Vec<(Arc<MemoryRow>, Told)> {
    let names = |row: &MemoryRow, many: bool| many.then(|| named_there(&reading.view, row));
    let told = |row: Arc<MemoryRow>| {
        let (text, names) = (note_text(reading, meaning, &row), names(&row, many.notes));
        let told = Told { at: row.span.start, text, cosine: 0.0, heard: None, names };
        (row, told)
    };
    let said = said.into_iter().map(|Utterance { row, words: text, heard }| {
        let (heard, names) = (Some(heard), names(&row, many.utterances));
        let told = Told { at: row.span.start, text, cosine: 0.0, heard, names };
        (row, told)
    });
    let mut all: Vec<(Arc<MemoryRow>, Told)> = notes.into_iter().map(told).chain(said).collect();
    all.sort_by_key(|(row, _)| (row.span.start, row.id));
    all
}

/// Those that were told, and not after now; oldest first.
fn told_rows(reading: &Reading, mut rows: Vec<Arc<MemoryRow>>) -> Vec<Arc<MemoryRow>> {
    let is_told = |row: &Arc<MemoryRow>| match row.kind {
        // Documents are not told in somebody's words: they answer by themselves ([`super::cited`]).
        MemoryKind::Note => row.origin != DOCUMENT,
        _ => row.origin == "told" && !is_derived(row),
    };
    rows.retain(|row| is_told(row) && row.span.start <= reading.now());
    rows.sort_by_key(|row| (row.span.start, row.id));
    rows
}

/// Whether a fact was made of a note, which says it better.
fn is_derived(row: &MemoryRow) -> bool {
    row.grounds.iter().any(|ground| matches!(ground, Ground::Memory(_)))
}

/// A note's words; of a fact a sentence that says it.
fn note_text(reading: &Reading, meaning: &Meaning, row: &MemoryRow) -> String {
    match &row.fact {
        Some(fact) if row.kind == MemoryKind::Semantic => {
            let [subject, value] = [&fact.subject, &fact.value].map(|one| said(reading, one));
            meaning.sentence(&subject, &fact.attribute.replace('_', " "), &value)
        }
        _ => reading.rendered(head(&row.text)),
    }
}

/// A fact's subject or value: the name of an entity, else as it stands.
fn said(reading: &Reading, text: &str) -> String {
    text.parse().map_or_else(|_| reading.rendered(text), |id| reading.name(id))
}

/// Words of the names of those whom the question or the notes name, in lower case.
fn people(reading: &Reading, rows: &[Arc<MemoryRow>], text: &str) -> BTreeSet<String> {
    let named = rows.iter().flat_map(|row| row.entities.iter().copied());
    names_of(&reading.view, named.chain(reading.view.named_in(text)))
}

/// Words of the names of those whom a text names, in lower case.
pub(super) fn named(view: &View, text: &str) -> BTreeSet<String> {
    names_of(view, view.named_in(text).into_iter())
}

/// Words of the names of those whom a memory is about, in lower case.
fn named_there(view: &View, row: &MemoryRow) -> BTreeSet<String> {
    names_of(view, row.entities.iter().copied())
}

fn names_of(view: &View, ids: impl Iterator<Item = EntityId>) -> BTreeSet<String> {
    let ids: BTreeSet<EntityId> = ids.map(|id| view.resolve(id)).collect();
    let ids = ids.into_iter().filter(|id| Reading::is_person(*id));
    let names = ids.flat_map(|id| view.names(id)).map(|row| row.name.to_lowercase());
    names.flat_map(|name| name.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}
