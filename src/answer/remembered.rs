//! What the memories say: where percepts cannot answer, the remark that fits the question best.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{is_kin, stems};
use crate::percept::Embedding;
use crate::recall::time_expr::{combined_span, told_expressions};
use crate::recall::{Hit, Query, beside, recall};
use crate::time::{Span, Timestamp};

use super::amended::amended;
use super::demands::Demands;
use super::document::Evidence;
use super::lessons::kinds_beside;
use super::premise;
use super::question::Order;
use super::reading::{Reading, hull, touch};
use super::reply::Reply;
use super::which_time::in_order;

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
    /// The memory that answers must hold so much of the words itself …
    itself: bool,
    /// … and be about somebody whom the question names.
    own: bool,
}

impl Fit {
    /// For what can be said in many ways.
    pub(super) const LOOSE: Self = Self { held: 0.17, cosine: 0.55, itself: false, own: false };
    /// For words that were said or not.
    pub(super) const CLOSE: Self = Self { held: 0.5, cosine: 0.6, itself: false, own: false };
    /// For what was so at a time, or not.
    pub(super) const THEN: Self = Self { held: 0.6, cosine: 0.6, itself: true, own: false };
    /// For those very words.
    pub(super) const WORDS: Self =
        Self { held: 0.99, cosine: f32::INFINITY, itself: true, own: false };
    /// For those very words of somebody: what a fact would tell.
    pub(super) const SLOT: Self = Self { own: true, ..Self::WORDS };
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
    /// Only what is true then; `None`: what is over, too.
    pub(super) valid_at: Option<Timestamp>,
    /// Of the time told alone: whether something was so on Friday, Saturday does not tell.
    pub(super) in_time: bool,
    /// Of memories that fit alike: the first, the last.
    pub(super) order: Order,
}

impl<'a> Asked<'a> {
    /// Those words, of somebody.
    pub(super) fn words(words: &'a str, who: &'a [EntityId], reading: &Reading) -> Self {
        let valid_at = Some(reading.time_asked());
        let (in_time, order) = (reading.spans.is_some(), Order::Any);
        Self { text: words, matter: words, who, valid_at, in_time, order }
    }
}

/// The reply to a question from what was said, told and concluded; `Err`: nothing of it is remembered.
pub(super) fn remembered(
    reading: &Reading,
    asked: &Asked<'_>,
    vector: Option<&Embedding>,
    fit: Fit,
) -> Result<Reply, Reply> {
    let Asked { text, matter, who, in_time, .. } = *asked;
    let (hits, others): (Vec<Hit>, Vec<Hit>) = match reading.spans.as_deref().filter(|_| in_time) {
        Some(spans) => {
            let then = |hit: &Hit| is_of(reading, spans, hit);
            hits(reading, asked, vector).into_iter().partition(then)
        }
        None => (hits(reading, asked, vector), Vec::new()),
    };
    let wanted = reading.view.telling(text, who);
    let around = beside(&reading.view, &hits);
    let near = hits.iter().chain(&around).chain(&others);
    let rows: Vec<Arc<MemoryRow>> = near.map(|hit| Arc::clone(&hit.memory)).collect();
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
    let exact = fit.held >= Fit::WORDS.held;
    let held = |hit: &Hit| share(&reading.rendered(&hit.memory.text), &matter, exact);
    let meant = |hit: &Hit| {
        let vector = vector?;
        vector.cosine(&reading.view.embedding(hit.memory.id, vector.model)?)
    };
    let means_it = |hit: &Hit| meant(hit).is_some_and(|cosine| cosine >= fit.cosine);
    let holds_it = |hit: &Hit| held(hit) >= fit.held;
    let demands = (!fit.itself).then(|| Demands::of(reading, text));
    let tells_it = |hit: &Hit| {
        let held = |demands: &Demands| demands.is_held_by(reading, &hit.memory, fit.held);
        demands.as_ref().is_some_and(held)
    };
    let enough = hits.iter().chain(&around).any(holds_it)
        || hits.iter().any(|hit| means_it(hit) || tells_it(hit));
    let fits = |hit: &&Hit| {
        (!fit.itself || holds_it(hit) || means_it(hit))
            && (!fit.own || is_about(reading, &hit.memory, who))
    };
    let Some(best) = hits.iter().find(fits).filter(|_| enough) else {
        let other = others.iter().find(|hit| holds_it(hit) || means_it(hit));
        return other
            .map(|hit| of_another_time(reading, hit, who))
            .ok_or_else(|| Reply::nothing().about(who));
    };
    let then = |hit: &Hit| reading.spans.as_deref().is_none_or(|spans| is_of(reading, spans, hit));
    let timely = then(best);
    let rivals = hits.iter().filter(|hit| !timely || then(hit));
    let best = demands.as_ref().map_or(best, |asked| asked.best(reading, best, rivals));
    let poor = demands.as_ref().filter(|asked| asked.is_poor(reading, &best.memory));
    let over = poor.map(|_| hits_over(reading, asked, vector)).unwrap_or_default();
    let others = poor.map(|words| hits_otherwise(reading, asked, words, vector));
    let others = others.unwrap_or_default();
    let rivals = over.iter().chain(others.iter().filter(|hit| !timely || then(hit)));
    let best = poor.map_or(best, |asked| asked.best(reading, best, rivals));
    let when = |row: &MemoryRow| time_told(reading, row).start;
    let ordered = in_order(reading, best, &hits, (matter.as_slice(), who), asked.order, when);
    // The first to come need not be the first that was counted.
    let needs = |hit: &Hit| {
        demands.as_ref().map_or(0, |asked| match asked.is_particular() {
            true => asked.needs_told(reading, &hit.memory),
            false => 0,
        })
    };
    let best = if needs(ordered) >= needs(best) { ordered } else { best };
    let right = amended(reading, &best.memory).map(|memory| Hit { memory, ..best.clone() });
    let best = right.as_ref().unwrap_or(best);
    let first = std::iter::once(best);
    let mut rest: Vec<&Hit> = hits.iter().filter(|hit| hit.memory.id != best.memory.id).collect();
    if let Some(asked) = demands.as_ref().filter(|asked| asked.is_particular()) {
        // What tells what is asked comes before what only has its words.
        rest.sort_by_cached_key(|hit| asked.unmet(reading, &hit.memory).is_some());
    }
    let evidence: Vec<Evidence> = first
        .chain(rest)
        .take(RESTS_ON)
        .map(|hit| reading.memory_evidence(&hit.memory, hit.score))
        .collect();
    let ids = best.memory.entities.clone();
    let reply = Reply::known(super::facts::tell(reading, &best.memory), ids, evidence);
    Ok(Reply { confidence: (best.score * 0.8).clamp(0.05, 0.9), ..reply })
}

/// Whether a memory is about one of those; of nobody in particular, any is.
fn is_about(reading: &Reading, row: &MemoryRow, who: &[EntityId]) -> bool {
    let one = |id: &EntityId| who.contains(&reading.view.resolve(*id));
    who.is_empty()
        || row.entities.iter().any(one)
        || reading.view.named_in(&reading.rendered(&row.text)).iter().any(one)
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

/// The best memories up to now; those of the told time come first.
fn hits(reading: &Reading, asked: &Asked<'_>, vector: Option<&Embedding>) -> Vec<Hit> {
    let query = Query {
        text: asked.text.to_owned(),
        vector: vector.cloned(),
        span: reading.spans.as_deref().and_then(hull),
        entities: asked.who.to_vec(),
        kinds: kinds_beside(&reading.view),
        valid_at: asked.valid_at,
        k: LOOKED_AT,
        ..Query::default()
    };
    let known = |hit: &Hit| hit.memory.span.start <= reading.now();
    recall(&reading.view, &query).into_iter().filter(known).collect()
}

/// Notes that tell more than what is over ("the drill is in the van, because Ava builds a shed"); none where what is over
/// was looked at, too.
fn hits_over(reading: &Reading, asked: &Asked<'_>, vector: Option<&Embedding>) -> Vec<Hit> {
    if asked.valid_at.is_none() {
        return Vec::new();
    }
    let mut over = hits(reading, &Asked { valid_at: None, ..*asked }, vector);
    over.retain(|hit| hit.memory.kind == MemoryKind::Note);
    over
}

/// The best memories by all words in which it may be told; none where only those of the question are known.
fn hits_otherwise(
    reading: &Reading,
    asked: &Asked<'_>,
    demands: &Demands,
    vector: Option<&Embedding>,
) -> Vec<Hit> {
    let Some(words) = demands.in_other_words() else { return Vec::new() };
    let text = format!("{} {words}", asked.text);
    hits(reading, &Asked { text: &text, ..*asked }, vector)
}

/// Share of the wanted words that a text holds, by weight; unless `exact`, what is kin to a word counts as it.
fn share(text: &str, wanted: &[(String, f32)], exact: bool) -> f32 {
    let have = stems(text);
    let total: f32 = wanted.iter().map(|(_, weight)| weight).sum();
    let is_held = |stem: &String| match exact {
        true => have.contains(stem),
        false => have.iter().any(|word| is_kin(stem, word)),
    };
    let held: f32 = wanted.iter().filter(|(stem, _)| is_held(stem)).map(|(_, weight)| weight).sum();
    if total > 0.0 { held / total } else { 0.0 }
}
