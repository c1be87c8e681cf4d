//! Whose matter it is: what a question presumes about a person may hold of another.
//!
//! "Why did Ava sell her car?" is no question about Ava when it was Ben who spoke of selling his. A sentence
//! belongs to its speaker where it says "I", to the listener where it says "you" or asks; of the question's
//! telling words, weighed by rarity, it is counted how many the best remark about the named person holds,
//! and how many the best one about anybody else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::stems;
use crate::text::sentences;

use super::reading::Reading;

/// Somebody else's share leads by so much: the premise is wrong. Chosen on LoCoMo's first five conversations.
const LEAD: f32 = 0.19;
/// What a remark next to it says counts so much.
const ASIDE: f32 = 0.6;
/// Remarks further apart do not belong together, seconds.
const APART_SECS: f64 = 30.0;

/// Shares of the question's telling words, 0–1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Support {
    /// In the best remark about the person.
    pub(super) own: f32,
    /// In the best remark about anybody else.
    pub(super) others: f32,
    /// That other.
    pub(super) other: Option<EntityId>,
}

impl Support {
    /// What is presumed of the person was said of the other.
    pub(super) fn is_of_another(&self) -> bool {
        self.others - self.own > LEAD
    }
}

/// How much of `wanted` (stems with their weights) the remarks tell of `who`, and of others.
pub(super) fn support(
    reading: &Reading,
    who: EntityId,
    wanted: &[(String, f32)],
    remarks: &[Arc<MemoryRow>],
) -> Support {
    let total: f32 = wanted.iter().map(|(_, weight)| weight).sum();
    if total <= 0.0 {
        return Support::default();
    }
    let mut remarks: Vec<&Arc<MemoryRow>> = remarks.iter().collect();
    remarks.sort_by_key(|row| (row.span.start, row.id));
    remarks.dedup_by_key(|row| row.id);
    let speakers: Vec<Option<EntityId>> = remarks.iter().map(|row| speaker(reading, row)).collect();
    let told: Vec<Told> = (0..remarks.len())
        .map(|at| match remarks[at].kind {
            MemoryKind::Utterance => {
                let listener = listener(&remarks, &speakers, at);
                said(&remarks[at].text, speakers[at], listener, wanted)
            }
            _ => stated(reading, remarks[at], wanted),
        })
        .collect();
    let mut best: BTreeMap<EntityId, f32> = BTreeMap::new();
    for at in 0..remarks.len() {
        for (owner, words) in &told[at] {
            let mut words = words.clone();
            for aside in [at.wrapping_sub(1), at + 1] {
                if !remarks.get(aside).is_some_and(|row| is_near(row, remarks[at])) {
                    continue;
                }
                for (word, share) in told[aside].get(owner).into_iter().flatten() {
                    let known = words.entry(*word).or_default();
                    *known = known.max(ASIDE * share);
                }
            }
            let sum: f32 = words.iter().map(|(word, share)| wanted[*word].1 * share).sum();
            let known = best.entry(*owner).or_default();
            *known = known.max(sum / total);
        }
    }
    let own = best.remove(&who).unwrap_or_default();
    let other = best.into_iter().max_by(|(a, x), (b, y)| x.total_cmp(y).then(b.cmp(a)));
    Support { own, others: other.map_or(0.0, |(_, share)| share), other: other.map(|(id, _)| id) }
}

/// Of whom which of the wanted words (by index) are told, and how surely.
type Told = BTreeMap<EntityId, BTreeMap<usize, f32>>;

fn is_near(a: &MemoryRow, b: &MemoryRow) -> bool {
    let gap = a.span.start.secs_since(b.span.end).max(b.span.start.secs_since(a.span.end));
    a.kind == MemoryKind::Utterance && gap <= APART_SECS
}

fn speaker(reading: &Reading, row: &MemoryRow) -> Option<EntityId> {
    row.entities.iter().map(|id| reading.view.resolve(*id)).find(|id| Reading::is_person(*id))
}

/// Who is spoken to: the nearest other speaker.
fn listener(
    remarks: &[&Arc<MemoryRow>],
    speakers: &[Option<EntityId>],
    at: usize,
) -> Option<EntityId> {
    let other = |near: usize| {
        let row = remarks.get(near)?;
        let who = speakers[near].filter(|who| Some(*who) != speakers[at])?;
        is_near(row, remarks[at]).then_some(who)
    };
    other(at.wrapping_sub(1)).or_else(|| other(at + 1))
}

/// The words of a remark, sentence by sentence, given to whom each sentence is about.
fn said(
    text: &str,
    speaker: Option<EntityId>,
    listener: Option<EntityId>,
    wanted: &[(String, f32)],
) -> Told {
    let mut told = Told::new();
    for sentence in sentences(text) {
        let lower = sentence.to_lowercase();
        // "I'm" and "you've" count as "i" and "you".
        let has = |words: &[&str]| {
            lower.split(|c: char| !c.is_alphanumeric()).any(|w| words.contains(&w))
        };
        let first = has(&["i", "my", "me", "we", "our", "mine", "us"]);
        let second = has(&["you", "your", "yours"]);
        let asks = sentence.ends_with('?');
        let (own, theirs) = match (asks, first, second) {
            (true, true, false) => (0.5, 0.5),
            (true, ..) => (0.0, 1.0),
            (false, false, true) => (0.3, 1.0),
            (false, true, false) => (1.0, 0.0),
            (false, true, true) => (0.8, 0.5),
            (false, false, false) => (0.8, 0.4),
        };
        let found = found(sentence, wanted);
        for (owner, share) in [(speaker, own), (listener, theirs)] {
            if let Some(owner) = owner.filter(|_| share > 0.0) {
                give(&mut told, owner, &found, share);
            }
        }
    }
    told
}

/// A sentence that is no quotation is about everybody in it.
fn stated(reading: &Reading, row: &MemoryRow, wanted: &[(String, f32)]) -> Told {
    let mut told = Told::new();
    let found = found(&row.text, wanted);
    for id in row.entities.iter().map(|id| reading.view.resolve(*id)) {
        if Reading::is_person(id) {
            give(&mut told, id, &found, 1.0);
        }
    }
    told
}

fn give(told: &mut Told, owner: EntityId, found: &BTreeSet<usize>, share: f32) {
    let words = told.entry(owner).or_default();
    for word in found {
        let known = words.entry(*word).or_default();
        *known = known.max(share);
    }
}

/// Which of the wanted words a text holds.
fn found(text: &str, wanted: &[(String, f32)]) -> BTreeSet<usize> {
    let have: BTreeSet<String> = stems(text).into_iter().collect();
    (0..wanted.len()).filter(|at| have.contains(&wanted[*at].0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::EntityKind;

    const AVA: EntityId = EntityId::new(EntityKind::Person, 1);
    const BEN: EntityId = EntityId::new(EntityKind::Person, 2);

    fn wanted() -> Vec<(String, f32)> {
        vec![(stems("selling").concat(), 2.0), (stems("car").concat(), 1.0)]
    }

    fn shares(text: &str) -> (f32, f32) {
        let told = said(text, Some(AVA), Some(BEN), &wanted());
        let sum = |who| told.get(&who).map_or(0.0, |words| words.values().sum());
        (sum(AVA), sum(BEN))
    }

    #[test]
    fn a_sentence_belongs_to_whom_it_is_about() {
        assert_eq!(shares("I am selling my car."), (2.0, 0.0));
        assert_eq!(shares("Why are you selling your car?"), (0.0, 2.0));
        assert_eq!(shares("Congratulations on selling your car!"), (0.6, 2.0));
        assert_eq!(shares("Nice weather. I like it."), (0.0, 0.0));
    }

    #[test]
    fn another_ones_matter_is_told_from_ones_own() {
        let another = Support { own: 0.3, others: 0.9, other: Some(BEN) };
        assert!(another.is_of_another());
        assert!(!Support { own: 0.8, ..another }.is_of_another());
    }
}
