//! Facts that people state plainly: who and where somebody is, what they like, where they put things.
//!
//! A fact is a slot (subject, attribute) with a value, read off the tree of a sentence (`told`). Same value again: nothing
//! new. Another value of a single-valued slot, or the opposite: the old one ends. What is over ends.

mod again;
mod here;
mod naming;
mod owned;
mod people;
mod read;
#[cfg(test)]
mod slot_tests;
mod stated;
mod things;
mod told;
#[cfg(test)]
pub(super) mod told_tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) use naming::naming;
pub use told::FactReader;

use super::{Sentence, Verdict};
use crate::identify::IdentifiedClip;
use crate::ids::MemoryId;
use crate::language::lexicon::Lexicon;
use crate::memory::model::{Decision, Fact, FactAction, Ground, MemoryKind, MemoryRow, NameSource};
use crate::memory::natures::{exclude, is_single_valued, opposite};
use crate::memory::{Draft, Filter, View, telling_stems};
use crate::time::{Span, Timestamp};

/// Share of the doubt that one more statement takes away.
const REINFORCEMENT: f32 = 0.2;
/// Grounds kept of a fact that is stated over and over.
const MOST_GROUNDS: usize = 16;
/// Longest names of things, attributes and values, characters.
pub(super) const SLOT_CHARS: usize = 80;

/// "X is called Ava", for every name heard in the clip.
pub(super) fn of_names(identified: &IdentifiedClip) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for row in &identified.names {
        if row.source != NameSource::Said {
            continue;
        }
        let text = format!("<{}> is called {}.", row.entity, row.name);
        let span = Span::new(row.since, row.since);
        let mut sentence = Sentence::new(MemoryKind::Semantic, text, span, Vec::new());
        sentence.importance = 0.9;
        sentence.fact = Some(fact(row.entity.to_string(), "name", row.name.clone()));
        sentences.push(sentence);
    }
    sentences
}

fn fact(subject: String, attribute: &str, value: String) -> Fact {
    Fact { subject, attribute: attribute.to_owned(), value }
}

fn is_article(word: &str) -> bool {
    ["determiners", "definite"].iter().any(|list| Lexicon::english().is(list, word))
}

/// What facts call a thing: "The red mug." → "red mug". `None` for nothing, for mentions and for whole stories.
#[must_use]
pub fn thing_called(text: &str) -> Option<String> {
    let lower = text.trim().trim_end_matches('.').to_lowercase().replace('\u{2019}', "'");
    let bare = match lower.split_once(' ') {
        Some((article, rest)) if is_article(article) => rest.trim(),
        _ => lower.as_str(),
    };
    let plain =
        !bare.is_empty() && !bare.contains(['<', '>']) && bare.chars().count() <= SLOT_CHARS;
    plain.then(|| bare.to_owned())
}

/// A statement to be judged.
struct Statement<'a> {
    fact: &'a Fact,
    at: Timestamp,
    /// What is to be done, whatever the nature of the attribute.
    wish: Option<FactAction>,
    /// What it rests on.
    grounds: &'a [Ground],
    /// The told memory that says it.
    note: Option<MemoryId>,
    /// Other values of its slot were stated in the same clip.
    beside: bool,
}

/// What becomes of a statement.
enum Judgement {
    /// It says what is known, which is strengthened.
    Known,
    /// It is new: until when it is true, and why it is kept.
    New(Option<Timestamp>, Verdict),
}

/// A slot: subject and attribute.
type Slot = (String, String);

/// What slots hold and held.
type Known = BTreeMap<Slot, Vec<Arc<MemoryRow>>>;

/// Judges what was stated, in the order of event time, against what is known and what the clip stated before: the
/// same again strengthens what is known (once, however often the clip says it), another value of a single-valued slot
/// ends the old one, as does the opposite; what is said to be over ends. Each verdict is kept with its reason. Gives
/// back what is new.
pub(super) fn settle(mut stated: Vec<Sentence>, before: &View, draft: &mut Draft) -> Vec<Sentence> {
    // Of what was said in one turn, the later comes later.
    stated.sort_by_key(|sentence| (sentence.span.start, sentence.span.end));
    owned::give_owners(&mut stated, before);
    let facts = stated.iter().filter_map(|sentence| sentence.fact.as_ref());
    let mut slots = known_in(facts.flat_map(slots_of), before);
    for sentence in &mut stated {
        let at = sentence.span.start;
        if let Some(fact) = &mut sentence.fact
            && let Some(known) = slots.get(&slot(fact))
        {
            again::restored(fact, at, known);
        }
    }
    let mut said: BTreeMap<Slot, Vec<Fact>> = BTreeMap::new();
    let mut fresh: Vec<Sentence> = Vec::new();
    let mut of_slot: BTreeMap<Slot, Vec<usize>> = BTreeMap::new();
    for mut sentence in stated {
        let Some(fact) = sentence.fact.clone() else { continue };
        let retires = sentence.wish == Some(FactAction::Retire);
        let single = !retires && is_single(&fact, sentence.wish);
        let at = sentence.span.start;
        let values = said.entry(slot(&fact)).or_default();
        let beside = !values.is_empty();
        let near = slots_of(&fact);
        let near: Vec<usize> =
            near.iter().filter_map(|slot| of_slot.get(slot)).flatten().copied().collect();
        if retires {
            // Said once more, it is so anew.
            values.retain(|value| !ends_by(value, &fact));
            for earlier in &near {
                if fresh[*earlier].holds(at, |value| ends_by(value, &fact)) {
                    fresh[*earlier].valid_to = Some(at);
                }
            }
        } else {
            // A value that was another's meanwhile is stated anew.
            let newest = if single { values.len().saturating_sub(1) } else { 0 };
            if values[newest..].iter().any(|value| is_same(value, &fact)) {
                continue;
            }
            values.push(fact.clone());
        }
        let rivals = match retires {
            true => Rivals::default(),
            false => end_rivals(&fact, at, &mut slots, draft),
        };
        if let Some(opposite) = opposite_slot(&fact).filter(|_| !retires)
            && let Some(values) = said.get_mut(&opposite)
        {
            values.retain(|value| !exclude(value, &fact));
        }
        let known = slots.entry(slot(&fact)).or_default();
        let Sentence { wish, ref grounds, .. } = sentence;
        let statement = Statement { fact: &fact, at, wish, grounds, note: None, beside };
        let judgement = judge(&statement, known, draft);
        let earlier = near
            .into_iter()
            .filter(|one| fresh[*one].holds(at, |value| gives_way(value, &fact, wish)));
        let earlier: Vec<usize> = earlier.collect();
        match judgement {
            // A value that is known for later was so from now on: what holds until then ends now.
            Judgement::Known if single => {
                for one in earlier {
                    fresh[one].valid_to = fresh[one].valid_to.map(|_| at);
                }
            }
            Judgement::Known => {}
            Judgement::New(valid_to, verdict) => {
                let (valid_to, mut verdict) = rivals.judged(valid_to, verdict);
                if let Some(last) = earlier.iter().map(|one| fresh[*one].replaces).max() {
                    sentence.replaces = last + 1;
                    verdict = self::verdict(FactAction::Update, None, replacing(&fact, wish));
                }
                (sentence.valid_to, sentence.verdict) = (valid_to, Some(verdict));
                of_slot.entry(slot(&fact)).or_default().push(fresh.len());
                fresh.push(sentence);
            }
        }
    }
    fresh
}

impl Sentence {
    /// Whether it states such a fact, and that holds then.
    fn holds(&self, at: Timestamp, such: impl Fn(&Fact) -> bool) -> bool {
        self.fact.as_ref().is_some_and(such) && holds_at(self.span.start, self.valid_to, at)
    }
}

/// Ends what the same clip stated before and a sentence replaces, as far as it holds still; the newest is named in the
/// verdict. `written`: what was written of the clip so far.
pub(super) fn end_earlier(sentence: &mut Sentence, written: &mut [MemoryRow], draft: &mut Draft) {
    let (Some(fact), Some(verdict)) = (&sentence.fact, &mut sentence.verdict) else { return };
    let (at, wish) = (sentence.span.start, sentence.wish);
    let goes = |row: &MemoryRow| {
        row.fact.as_ref().is_some_and(|other| gives_way(other, fact, wish))
            && holds_at(row.valid_from, row.valid_to, at)
    };
    for row in written {
        if goes(row) {
            verdict.other = end(row, at, ended_by(fact, wish), draft).or(verdict.other);
        }
    }
}

/// Whether a value that holds ends where that fact begins.
fn gives_way(value: &Fact, fact: &Fact, wish: Option<FactAction>) -> bool {
    match is_single(fact, wish) {
        true => is_of_slot(value, fact),
        false => {
            let may = value.subject == fact.subject && !is_single_valued(&fact.attribute);
            may && exclude(value, fact)
        }
    }
}

/// What became of the values that cannot be true beside one of an attribute that may have several.
#[derive(Default)]
struct Rivals {
    /// The last that ended.
    ended: Option<MemoryId>,
    /// When one begins that came to be known before.
    next: Option<Timestamp>,
}

impl Rivals {
    /// Until when the new value is true, and the verdict on it.
    fn judged(&self, until: Option<Timestamp>, usual: Verdict) -> (Option<Timestamp>, Verdict) {
        let verdict = match self.ended {
            Some(old) => verdict(FactAction::Update, Some(old), OPPOSED),
            None => usual,
        };
        (until.into_iter().chain(self.next).min(), verdict)
    }
}

/// Ends the opposites of a value of an attribute that may have several, as far as they hold.
fn end_rivals(fact: &Fact, at: Timestamp, slots: &mut Known, draft: &mut Draft) -> Rivals {
    let mut rivals = Rivals::default();
    if is_single_valued(&fact.attribute) {
        return rivals;
    }
    for slot in slots_of(fact) {
        for row in slots.get_mut(&slot).into_iter().flatten() {
            if !row.fact.as_ref().is_some_and(|value| exclude(value, fact)) {
                continue;
            }
            if holds_at(row.valid_from, row.valid_to, at) {
                rivals.ended = end(Arc::make_mut(row), at, OPPOSED, draft).or(rivals.ended);
            } else if row.valid_from > at {
                rivals.next = rivals.next.into_iter().chain([row.valid_from]).min();
            }
        }
    }
    rivals
}

/// Judges the fact of a memory that was told, as any other. The memory is written in any case; what only says
/// again what is known has no slot of its own.
pub(super) fn settle_told(row: &mut MemoryRow, draft: &mut Draft) {
    let Some(mut fact) = row.fact.clone() else { return };
    let before = draft.before();
    owned::give_owner(&mut fact, &before);
    let (at, grounds) = (row.valid_from, [Ground::Memory(row.id)]);
    let mut slots = known_in(slots_of(&fact), &before);
    if let Some(known) = slots.get(&slot(&fact)) {
        again::restored(&mut fact, at, known);
    }
    row.fact = Some(fact.clone());
    let rivals = end_rivals(&fact, at, &mut slots, draft);
    let known = slots.entry(slot(&fact)).or_default();
    let statement = Statement {
        fact: &fact,
        at,
        wish: None,
        grounds: &grounds,
        note: Some(row.id),
        beside: false,
    };
    match judge(&statement, known, draft) {
        Judgement::Known => row.fact = None,
        Judgement::New(valid_to, verdict) => {
            let (valid_to, Verdict { action, other, reason }) = rivals.judged(valid_to, verdict);
            row.valid_to = valid_to.or(row.valid_to);
            draft.decision(Decision { memory: row.id, at, action, other, reason });
        }
    }
}

/// What those slots hold and held.
fn known_in(slots: impl IntoIterator<Item = Slot>, before: &View) -> Known {
    let mut known: Known = slots.into_iter().map(|slot| (slot, Vec::new())).collect();
    if known.is_empty() {
        return known;
    }
    let filter =
        Filter { kinds: vec![MemoryKind::Semantic, MemoryKind::Note], ..Filter::default() };
    for row in before.memories(&filter) {
        let Some(fact) = &row.fact else { continue };
        if let Some(rows) = known.get_mut(&slot(fact)) {
            rows.push(row);
        }
    }
    known
}

fn slot(fact: &Fact) -> Slot {
    (fact.subject.clone(), fact.attribute.clone())
}

/// Whether both are values of one slot.
fn is_of_slot(a: &Fact, b: &Fact) -> bool {
    a.subject == b.subject && a.attribute == b.attribute
}

/// The slot of the opposite.
fn opposite_slot(fact: &Fact) -> Option<Slot> {
    opposite(&fact.attribute).map(|attribute| (fact.subject.clone(), attribute.to_owned()))
}

/// The slots in which there may be what a fact ends.
fn slots_of(fact: &Fact) -> Vec<Slot> {
    std::iter::once(slot(fact)).chain(opposite_slot(fact)).collect()
}

/// Whether a value ends with what is said to be over: nothing in particular, the same, or what is told more or less
/// closely ("in the drawer", "in the top drawer").
fn ends_by(value: &Fact, over: &Fact) -> bool {
    is_of_slot(value, over)
        && (over.value.is_empty()
            || is_same(value, over)
            || (is_single_valued(&over.attribute) && is_closer(&value.value, &over.value)))
}

/// Whether one of two values is the other one told more closely; "on the table" is not "under the table".
fn is_closer(a: &str, b: &str) -> bool {
    let side = |value: &str| {
        let first = value.split(' ').next().unwrap_or_default().to_lowercase();
        Some(first).filter(|first| Lexicon::english().is("positions", first))
    };
    if let (Some(a), Some(b)) = (side(a), side(b))
        && a != b
    {
        return false;
    }
    let (a, b) = (telling_stems(a), telling_stems(b));
    let within = |part: &[String], whole: &[String]| {
        !part.is_empty() && part.iter().all(|word| whole.contains(word))
    };
    within(&a, &b) || within(&b, &a)
}

/// Letter case aside.
fn is_same(a: &Fact, b: &Fact) -> bool {
    is_of_slot(a, b) && a.value.to_lowercase() == b.value.to_lowercase()
}

/// Whether the slot holds one value at a time: a model's wish goes before the nature of the attribute.
fn is_single(fact: &Fact, wish: Option<FactAction>) -> bool {
    match wish {
        Some(FactAction::Add) => false,
        Some(FactAction::Update) => true,
        // What a model takes for known and is not is kept by nature.
        _ => is_single_valued(&fact.attribute),
    }
}

/// Whether what is true from then until then is true at that time.
fn holds_at(from: Timestamp, until: Option<Timestamp>, at: Timestamp) -> bool {
    from <= at && until.is_none_or(|until| at < until)
}

/// Why a value takes the place of another one.
fn replacing(fact: &Fact, wish: Option<FactAction>) -> &'static str {
    match wish {
        Some(FactAction::Update) => "a model concluded that it replaces the older value",
        _ if !is_single(fact, wish) => OPPOSED,
        _ => "another value of a single-valued attribute: it replaces the older one",
    }
}

/// Why a value ends where that fact begins.
fn ended_by(fact: &Fact, wish: Option<FactAction>) -> &'static str {
    if is_single(fact, wish) { REPLACED } else { OPPOSED }
}

fn verdict(action: FactAction, other: Option<MemoryId>, reason: &str) -> Verdict {
    Verdict { action, other, reason: reason.to_owned() }
}

/// Judges one statement by when it was stated; brings `known`, what its slot holds and held, up to date.
fn judge(said: &Statement<'_>, known: &mut [Arc<MemoryRow>], draft: &mut Draft) -> Judgement {
    let states = |row: &MemoryRow| row.fact.as_ref().is_some_and(|fact| is_same(fact, said.fact));
    let holds = |row: &MemoryRow| holds_at(row.valid_from, row.valid_to, said.at);
    if said.wish == Some(FactAction::Retire) {
        let goes = |row: &MemoryRow| {
            row.fact.as_ref().is_some_and(|value| ends_by(value, said.fact)) && holds(row)
        };
        for row in known.iter_mut().filter(|row| goes(row)) {
            end(Arc::make_mut(row), said.at, "it was said to be true no more", draft);
        }
        return Judgement::Known;
    }
    if !is_single(said.fact, said.wish) {
        let reason = match (said.wish, known.is_empty() && !said.beside) {
            (_, true) => "the first value of this attribute",
            (Some(FactAction::Add), false) => "it was said to be true beside the others",
            (_, false) => "another value of an attribute that may have several",
        };
        let open = |row: &MemoryRow| row.valid_to.is_none() || holds(row);
        return match known.iter_mut().find(|row| states(row) && open(row)) {
            Some(row) => strengthen(row, said, draft),
            None => Judgement::New(None, verdict(FactAction::Add, None, reason)),
        };
    }
    known.sort_by_key(|row| (row.valid_from, row.id));
    if let Some(row) = known.iter_mut().rfind(|row| states(row) && holds(row)) {
        return strengthen(row, said, draft);
    }
    let mut replaced = None;
    for row in known.iter_mut().filter(|row| holds(row)) {
        replaced = end(Arc::make_mut(row), said.at, REPLACED, draft).or(replaced);
    }
    let next = known.iter_mut().find(|row| row.valid_from > said.at);
    let until = next.as_ref().map(|row| row.valid_from);
    if let Some(row) = next.filter(|row| states(row)) {
        // It was so earlier than was known.
        Arc::make_mut(row).valid_from = said.at;
        return strengthen(row, said, draft);
    }
    let verdict = match (replaced, until) {
        (Some(old), _) => verdict(FactAction::Update, Some(old), replacing(said.fact, said.wish)),
        (None, Some(_)) => {
            verdict(FactAction::Add, None, "an earlier value, which came to be known late")
        }
        (None, None) => verdict(FactAction::Add, None, "the first value of this attribute"),
    };
    Judgement::New(until, verdict)
}

/// The same was stated again: surer than before, with one more ground.
fn strengthen(row: &mut Arc<MemoryRow>, again: &Statement<'_>, draft: &mut Draft) -> Judgement {
    let known = Arc::make_mut(row);
    known.confidence += (1.0 - known.confidence) * REINFORCEMENT;
    // (A note rests on itself, whatever repeats it.)
    for ground in again.grounds {
        if known.grounds.len() < MOST_GROUNDS && !known.grounds.contains(ground) {
            known.grounds.push(*ground);
        }
    }
    draft.memory(known.clone(), None);
    draft.decision(Decision {
        memory: known.id,
        at: again.at,
        action: FactAction::None,
        other: again.note,
        reason: "the same value was stated again".to_owned(),
    });
    Judgement::Known
}

/// Why a value ends that another one replaces.
const REPLACED: &str = "another value of a single-valued attribute was stated";
/// Why a value ends beside which another one cannot be true.
const OPPOSED: &str = "the opposite was stated: both cannot be true";

/// Ends a value. The reason quotes nothing: it outlives what it speaks of.
fn end(row: &mut MemoryRow, at: Timestamp, reason: &str, draft: &mut Draft) -> Option<MemoryId> {
    if let Err(error) = draft.retire_memory(row.id, Some(at), reason) {
        tracing::warn!(%error, "A superseded fact was not closed.");
        return None;
    }
    let (action, reason) = (FactAction::Retire, reason.to_owned());
    draft.decision(Decision { memory: row.id, at, action, other: None, reason });
    row.valid_to = Some(at);
    Some(row.id)
}
