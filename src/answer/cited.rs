//! Documents answer last, by a passage that is quoted with its place: "manual.md (“Cleaning”, line 42): “…”".
//!
//! Passages come near by their words and their meaning; of the nearest the sentences are looked at, each by itself: what answers is
//! one of them, as a rule, and the vector of a whole passage says little of it.

use std::sync::Arc;

use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, PassageRow, View, is_kin, stems};
use crate::percept::Embedding;
use crate::text::sentences;

use super::builtin::Vectors;
use super::document::{Evidence, Place};
use super::reading::Reading;
use super::reply::Reply;

/// Passages that come near by their words, and by their meaning, of all notes.
const LOOKED_AT: usize = 60;
/// Of these so many are read sentence by sentence, each up to so many sentences.
const READ: usize = 6;
const SENTENCES: usize = 12;
/// The answer rests on so many.
const RESTS_ON: usize = 3;
/// So much of a passage is quoted, bytes, in whole sentences.
const QUOTED: usize = 320;
/// What the nearest sentence weighs against the words that a passage holds.
const OF_SENTENCE: f32 = 0.7;
/// What a passage must have in common with a question to answer it: the share of its telling words, by rarity, or the cosine …
const ANSWERS: (f32, f32) = (0.5, 0.5);
/// … and to be told as what comes nearest: both.
const COMES_NEAR: (f32, f32) = (0.17, 0.35);

/// A passage with how well it fits.
struct Found {
    row: Arc<MemoryRow>,
    place: Arc<PassageRow>,
    /// Share of the question's telling words.
    held: f32,
    /// Cosine of the whole, or of its nearest sentence where those are known.
    cosine: f32,
    /// Which sentence that is.
    nearest: usize,
}

impl Found {
    fn score(&self, of_meaning: f32) -> f32 {
        (1.0 - of_meaning) * self.held + of_meaning * self.cosine
    }
}

/// The passage that answers a question, or comes nearest to it; `None`: there are no documents, or none fits.
pub(super) fn cited(reading: &Reading, text: &str, vectors: &mut Vectors<'_>) -> Option<Reply> {
    let view = &reading.view;
    if view.told_passages() == 0 {
        return None;
    }
    let vector = vectors.of(text);
    let matter = view.telling(text, &[]);
    let mut found = near(view, text, vector.as_ref(), &matter);
    sort(&mut found, 0.5);
    found.truncate(READ);
    if let Some(vector) = &vector {
        read(&mut found, vector, vectors);
    }
    sort(&mut found, OF_SENTENCE);
    let best = found.first()?;
    let answers = best.held >= ANSWERS.0 || best.cosine >= ANSWERS.1;
    if !answers && (best.held < COMES_NEAR.0 || best.cosine < COMES_NEAR.1) {
        return None;
    }
    let quoted = excerpt(words(&best.row, &best.place), best.nearest);
    let told = format!("{}: \u{201c}{quoted}\u{201d}", in_words(&best.place));
    let score = |one: &Found| one.score(OF_SENTENCE).clamp(0.0, 1.0);
    let of = |one: &Found| reading.memory_evidence(&one.row, score(one));
    let evidence: Vec<Evidence> = found.iter().take(RESTS_ON).map(of).collect();
    let confidence = (0.8 * score(best)).clamp(0.05, 0.9);
    if !answers {
        let told = format!("I don't know; what comes nearest to it: {told}");
        return Some(Reply { evidence, ..Reply::unknown(&told) });
    }
    Some(Reply { confidence, ..Reply::known(told, best.row.entities.clone(), evidence) })
}

fn sort(found: &mut [Found], of_meaning: f32) {
    let score = |one: &Found| one.score(of_meaning);
    found.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.row.id.cmp(&b.row.id)));
}

/// The passages that come near by their words or their meaning.
fn near(
    view: &View,
    text: &str,
    vector: Option<&Embedding>,
    matter: &[(String, f32)],
) -> Vec<Found> {
    let filter = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
    let mut ids: Vec<_> =
        view.lexical(text, LOOKED_AT, &filter).into_iter().map(|(id, _)| id).collect();
    if let Some(vector) = vector {
        ids.extend(view.nearest(vector, LOOKED_AT, &filter).into_iter().map(|(id, _)| id));
    }
    ids.sort_unstable();
    ids.dedup();
    let of = |id| {
        let place = view.passage(id)?;
        let row = view.memory(id)?;
        let held = share(&row.text, matter);
        let cosine = vector.and_then(|vector| view.cosine(id, vector)).unwrap_or(0.0);
        Some(Found { row, place, held, cosine, nearest: 0 })
    };
    ids.into_iter().filter_map(of).collect()
}

/// Looks at each sentence of the passages, with its heading.
fn read(found: &mut [Found], vector: &Embedding, vectors: &mut Vectors<'_>) {
    let mut texts: Vec<String> = Vec::new();
    let mut of: Vec<(usize, usize)> = Vec::new();
    for (at, one) in found.iter().enumerate() {
        let heading = one.place.heading.as_ref();
        let before = heading.map(|heading| format!("{heading}: ")).unwrap_or_default();
        for (number, sentence) in sentences(words(&one.row, &one.place)).enumerate().take(SENTENCES)
        {
            texts.push(format!("{before}{sentence}"));
            of.push((at, number));
        }
    }
    let Some(made) = vectors.of_sentences(&texts) else { return };
    let mut nearest: Vec<Option<(f32, usize)>> = vec![None; found.len()];
    for ((at, number), sentence) in of.into_iter().zip(made) {
        let cosine = vector.cosine(&sentence).unwrap_or(0.0);
        let best = &mut nearest[at];
        if best.is_none_or(|(most, _)| cosine > most) {
            *best = Some((cosine, number));
        }
    }
    for (one, nearest) in found.iter_mut().zip(nearest) {
        if let Some((cosine, number)) = nearest {
            (one.cosine, one.nearest) = (cosine, number);
        }
    }
}

/// Share of the wanted words that a text holds, by weight; what is kin to a word counts as it.
fn share(text: &str, wanted: &[(String, f32)]) -> f32 {
    let have = stems(text);
    let total: f32 = wanted.iter().map(|(_, weight)| weight).sum();
    let is_held = |stem: &String| have.iter().any(|word| is_kin(stem, word));
    let held: f32 = wanted.iter().filter(|(stem, _)| is_held(stem)).map(|(_, weight)| weight).sum();
    if total > 0.0 { held / total } else { 0.0 }
}

/// A passage without its heading.
fn words<'r>(row: &'r MemoryRow, place: &PassageRow) -> &'r str {
    let heading = place.heading.as_deref().unwrap_or_default();
    let rest = row.text.strip_prefix(heading).and_then(|rest| rest.strip_prefix(": "));
    rest.filter(|_| !heading.is_empty()).unwrap_or(&row.text)
}

/// The sentence of that number with those behind it, as much as may be quoted.
fn excerpt(text: &str, nearest: usize) -> &str {
    let within = |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
    let mut from = None;
    let mut to = 0;
    for sentence in sentences(text).skip(nearest) {
        let begin = *from.get_or_insert(within(sentence));
        let end = within(sentence) + sentence.len();
        if to > 0 && end - begin > QUOTED {
            break;
        }
        to = end;
    }
    from.map_or(text, |from| &text[from..to]).trim()
}

/// "manual.md (“Cleaning”, page 3, line 42)"
fn in_words(place: &PassageRow) -> String {
    let heading = place.heading.iter().map(|heading| format!("\u{201c}{heading}\u{201d}"));
    let page = place.page.iter().map(|page| format!("page {page}"));
    let lines = match place.last_line.saturating_sub(place.line) {
        0 => format!("line {}", place.line),
        _ => format!("lines {} to {}", place.line, place.last_line),
    };
    let parts: Vec<String> = heading.chain(page).chain([lines]).collect();
    format!("{} ({})", place.document, parts.join(", "))
}

/// Where a memory stands in the document that it is a passage of.
pub(super) fn place_of(view: &View, row: &MemoryRow) -> Option<Place> {
    if view.told_passages() == 0 {
        return None;
    }
    let place = view.passage(row.id)?;
    let PassageRow { document, heading, page, line, last_line, .. } = place.as_ref().clone();
    Some(Place { document, heading, page, line, last_line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_begins_with_the_sentence_that_answers_and_is_no_longer_than_may_be_quoted() {
        let text = "Unplug it. Wash the filter weekly. Let it dry for a day.";
        assert_eq!(excerpt(text, 1), "Wash the filter weekly. Let it dry for a day.");
        assert_eq!(excerpt(text, 9), text, "there is no such sentence");
        let long =
            "It is quite long, and says nothing that anybody would want to know of it. ".repeat(9);
        assert!(excerpt(&long, 2).len() <= QUOTED);
        let endless = "word ".repeat(300);
        assert_eq!(excerpt(&endless, 0), endless.trim());
    }
}
