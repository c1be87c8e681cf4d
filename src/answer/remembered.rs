//! What the memories say: where percepts cannot answer, the remark that fits the question best.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::stems;
use crate::percept::Embedding;
use crate::recall::{Hit, Query, beside, recall};

use super::document::Evidence;
use super::premise;
use super::reading::{Reading, hull};
use super::reply::Reply;

/// Memories looked at.
const LOOKED_AT: usize = 40;
/// Of these the answer rests on so many.
const RESTS_ON: usize = 5;

/// What a memory must have in common with a question to answer it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    /// Of the question's telling words, by rarity, so much must be remembered …
    held: f32,
    /// … or one memory must mean nearly the same: cosine.
    cosine: f32,
}

impl Fit {
    /// For what can be said in many ways.
    pub(super) const LOOSE: Self = Self { held: 0.17, cosine: 0.55 };
    /// For words that were said or not.
    pub(super) const CLOSE: Self = Self { held: 0.5, cosine: 0.6 };
}

/// A question that percepts leave open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// As it was put.
    pub(super) text: &'a str,
    /// The words of what it is about.
    pub(super) matter: &'a str,
    /// Whom it names.
    pub(super) who: &'a [EntityId],
}

/// The reply to a question from what was said, told and concluded; `Err`: nothing of it is remembered.
pub(super) fn remembered(
    reading: &Reading,
    asked: &Asked<'_>,
    vector: Option<&Embedding>,
    fit: Fit,
) -> Result<Reply, Reply> {
    let Asked { text, matter, who } = *asked;
    let hits = hits(reading, text, vector, who);
    let wanted = reading.view.telling(text, who);
    let rows: Vec<Arc<MemoryRow>> = hits
        .iter()
        .chain(&beside(&reading.view, &hits))
        .map(|hit| Arc::clone(&hit.memory))
        .collect();
    if let [person] = who
        && Reading::is_person(*person)
    {
        let support = premise::support(reading, *person, &wanted, &rows);
        if support.is_of_another() {
            let other = support.other.map_or_else(|| "somebody else".into(), |id| reading.name(id));
            let text = format!(
                "I don't know that of {}; what I remember of it is about {other}.",
                reading.name(*person)
            );
            return Ok(Reply::unknown(&text).about(who));
        }
    }
    let matter = reading.view.telling(matter, who);
    let held = rows.iter().map(|row| share(&reading.rendered(&row.text), &matter));
    let meant = hits.iter().filter_map(|hit| {
        let vector = vector?;
        vector.cosine(&reading.view.embedding(hit.memory.id, vector.model)?)
    });
    let enough = held.fold(0.0, f32::max) >= fit.held || meant.fold(0.0, f32::max) >= fit.cosine;
    let Some(best) = hits.first().filter(|_| enough) else {
        return Err(Reply::nothing().about(who));
    };
    let evidence: Vec<Evidence> = hits
        .iter()
        .take(RESTS_ON)
        .map(|hit| reading.memory_evidence(&hit.memory, hit.score))
        .collect();
    let ids = best.memory.entities.clone();
    let reply = Reply::known(super::facts::tell(reading, &best.memory), ids, evidence);
    Ok(Reply { confidence: (best.score * 0.8).clamp(0.05, 0.9), ..reply })
}

/// The best memories up to now; those of the told time come first.
fn hits(reading: &Reading, text: &str, vector: Option<&Embedding>, who: &[EntityId]) -> Vec<Hit> {
    let query = Query {
        text: text.to_owned(),
        vector: vector.cloned(),
        span: reading.spans.as_deref().and_then(hull),
        entities: who.to_vec(),
        k: LOOKED_AT,
        ..Query::default()
    };
    let known =
        |hit: &Hit| hit.memory.kind != MemoryKind::Lesson && hit.memory.span.start <= reading.now();
    recall(&reading.view, &query).into_iter().filter(known).collect()
}

/// Share of the wanted words that a text holds, by weight.
fn share(text: &str, wanted: &[(String, f32)]) -> f32 {
    let have = stems(text);
    let total: f32 = wanted.iter().map(|(_, weight)| weight).sum();
    let held: f32 =
        wanted.iter().filter(|(stem, _)| have.contains(stem)).map(|(_, weight)| weight).sum();
    if total > 0.0 { held / total } else { 0.0 }
}
