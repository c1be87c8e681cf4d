//! The last resort: where nothing else answers, the remark that recall finds is quoted, if it fits well enough.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{Ground, MemoryRow};
use crate::memory::{DOCUMENT, is_kin, stems};
use crate::percept::Embedding;
use crate::recall::time_expr::{combined_span, told_expressions};
use crate::recall::{Hit, Query, beside, recall};
use crate::time::{Span, Timestamp};

use super::document::Evidence;
use super::lessons::kinds_beside;
use super::perceived::Perceived;
use super::premise;
use super::question::{Act, Ask};
use super::reading::{Reading, hull, touch};
use super::reply::Reply;

/// Memories looked at.
const LOOKED_AT: usize = 40;
/// Of these the answer rests on so many.
const RESTS_ON: usize = 5;

/// What a memory must have in common with a question to be quoted.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// Of the question's telling words, by rarity, so much must be remembered …
    held: f32,
    /// … or one memory must mean nearly the same: cosine.
    cosine: f32,
}

/// For what can be said in many ways: it is told, as what comes nearest.
const LOOSE: Fit = Fit { held: 0.17, cosine: 0.55 };
/// For an answer, and for words that were said or not.
const CLOSE: Fit = Fit { held: 0.5, cosine: 0.6 };

/// What recall makes of a question.
pub(super) enum Remembered {
    /// What is presumed of one was said of another.
    OfAnother(Reply),
    /// What fits best, or comes nearest.
    Quoted(Reply),
}

/// The reply that quotes what was said, told and concluded; `None`: the question leaves nothing open, or nothing of it is
/// remembered.
pub(super) fn remembered(
    seen: &Perceived,
    text: &str,
    vector: Option<&Embedding>,
) -> Option<Remembered> {
    let Perceived { reading, parsed, people, .. } = seen;
    let of_words = match &parsed.ask {
        Ask::WhoSaid | Ask::SaidWhat { .. } => true,
        Ask::Did { act } => *act == Act::Spoke,
        _ => false,
    };
    if !seen.is_open() {
        return None;
    }
    let fit = if of_words { CLOSE } else { LOOSE };
    let timed = reading.spans.is_some();
    let valid_at = (!parsed.past && !timed).then(|| reading.now());
    let asked = Asked { text, who: people, valid_at, but_things: seen.is_settled() };
    let (hits, others): (Vec<Hit>, Vec<Hit>) = match reading.spans.as_deref() {
        Some(spans) if parsed.yes_no => {
            let then = |hit: &Hit| is_of(reading, spans, hit);
            asked.hits(reading, vector).into_iter().partition(then)
        }
        _ => (asked.hits(reading, vector), Vec::new()),
    };
    let around = beside(&reading.view, &hits);
    let near = hits.iter().chain(&around).chain(&others);
    let rows: Vec<Arc<MemoryRow>> = near.map(|hit| Arc::clone(&hit.memory)).collect();
    if let Some(unknown) = of_another(reading, text, people, &rows) {
        return Some(Remembered::OfAnother(unknown));
    }
    let matter = reading.view.telling(&parsed.matter(), people);
    let held = |hit: &Hit| share(&reading.rendered(&hit.memory.text), &matter);
    let meant = |hit: &Hit| {
        let vector = vector?;
        vector.cosine(&reading.view.embedding(hit.memory.id, vector.model)?)
    };
    let holds = |hit: &Hit, fit: Fit| held(hit) >= fit.held;
    let means = |hit: &Hit, fit: Fit| meant(hit).is_some_and(|cosine| cosine >= fit.cosine);
    let enough = hits.iter().chain(&around).any(|hit| holds(hit, fit))
        || hits.iter().any(|hit| means(hit, fit));
    // Who asks knows it not.
    let asks = |hit: &&Hit| hit.memory.text.trim_end_matches('"').ends_with('?');
    let Some(best) = hits.iter().find(|hit| !asks(hit)).filter(|_| enough) else {
        let other = others.iter().find(|hit| holds(hit, fit) || means(hit, fit));
        let then = |hit| Remembered::Quoted(of_another_time(reading, hit, people));
        return other.map(then);
    };
    let others = hits.iter().filter(|hit| hit.memory.id != best.memory.id);
    let evidence: Vec<Evidence> = std::iter::once(best)
        .chain(others)
        .take(RESTS_ON)
        .map(|hit| reading.memory_evidence(&hit.memory, hit.score))
        .collect();
    let ids = best.memory.entities.clone();
    let told = super::facts::tell(reading, &best.memory);
    if !holds(best, CLOSE) && !means(best, CLOSE) {
        let text = format!("I don't know; what comes nearest to it: {told}");
        let nearest = Reply { evidence, ..Reply::unknown(&text).about(&ids) };
        return Some(Remembered::Quoted(nearest));
    }
    let reply = Reply::known(told, ids, evidence);
    let confidence = (best.score * 0.8).clamp(0.05, 0.9);
    Some(Remembered::Quoted(Reply { confidence, ..reply }))
}

/// What is presumed of the one whom a question names may have been said of somebody else.
fn of_another(
    reading: &Reading,
    text: &str,
    who: &[EntityId],
    rows: &[Arc<MemoryRow>],
) -> Option<Reply> {
    let [person] = who else { return None };
    if !Reading::is_person(*person) {
        return None;
    }
    let wanted = reading.view.telling(text, who);
    let support = premise::support(reading, *person, &wanted, rows);
    let other = || support.other.map_or_else(|| "somebody else".into(), |id| reading.name(id));
    support.is_of_another().then(|| {
        let text = format!(
            "I don't know that of {}; what I remember of it is about {}.",
            reading.name(*person),
            other()
        );
        Reply::unknown(&text).about(who)
    })
}

/// What recall is asked.
struct Asked<'a> {
    /// As it was put.
    text: &'a str,
    /// Whom it names.
    who: &'a [EntityId],
    /// Only what is true then; `None`: what is over, too.
    valid_at: Option<Timestamp>,
    /// Nothing that tells of things which a detector saw: they were asked, and it was not one of them.
    but_things: bool,
}

impl Asked<'_> {
    /// The best memories up to now; those of the told time come first.
    fn hits(&self, reading: &Reading, vector: Option<&Embedding>) -> Vec<Hit> {
        let query = Query {
            text: self.text.to_owned(),
            vector: vector.cloned(),
            span: reading.spans.as_deref().and_then(hull),
            entities: self.who.to_vec(),
            kinds: kinds_beside(&reading.view),
            valid_at: self.valid_at,
            k: LOOKED_AT,
            ..Query::default()
        };
        // Documents are cited as such ([`super::cited`]).
        let known = |hit: &Hit| {
            let row = &hit.memory;
            let of_thing = || row.grounds.iter().any(|one| matches!(one, Ground::Object(..)));
            row.span.start <= reading.now()
                && row.origin != DOCUMENT
                && !(self.but_things && of_thing())
        };
        recall(&reading.view, &query).into_iter().filter(known).collect()
    }
}

/// What is remembered is of another time than was asked for.
fn of_another_time(reading: &Reading, hit: &Hit, who: &[EntityId]) -> Reply {
    let told = super::facts::tell(reading, &hit.memory);
    let text = format!("I don't know of that time; what I remember of it: {told}");
    let evidence = vec![reading.memory_evidence(&hit.memory, hit.score)];
    Reply { evidence, ..Reply::unknown(&text).about(who) }
}

/// Whether what a hit tells was in one of those times.
fn is_of(reading: &Reading, spans: &[Span], hit: &Hit) -> bool {
    let told = time_told(reading, &hit.memory);
    spans.iter().any(|span| touch(*span, told))
}

/// When it happened, by its own words ("the cat was sick yesterday"), else when it was said.
pub(super) fn time_told(reading: &Reading, row: &MemoryRow) -> Span {
    let text = reading.rendered(&row.text);
    let times = told_expressions(&text, row.span.start, &reading.wording.zone);
    combined_span(&times).map_or(row.span, |(span, _)| span)
}

/// Share of the wanted words that a text holds, by weight; what is kin to a word counts as it.
fn share(text: &str, wanted: &[(String, f32)]) -> f32 {
    let have = stems(text);
    let total: f32 = wanted.iter().map(|(_, weight)| weight).sum();
    let is_held = |stem: &String| have.iter().any(|word| is_kin(stem, word));
    let held: f32 = wanted.iter().filter(|(stem, _)| is_held(stem)).map(|(_, weight)| weight).sum();
    if total > 0.0 { held / total } else { 0.0 }
}
