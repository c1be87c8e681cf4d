//! Reflection without a language model: what many observations say together.
//!
//! Habits (at what time a person usually is here), company (who usually is with whom) and frequencies (how
//! often somebody is seen and heard in a day), from the last four weeks. Each conclusion rests on memories of
//! several days, the newest among them, and gives way when newer ones say otherwise.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{BUILTIN, DAY_SECS, Upkeep};
use crate::ids::{EntityId, EntityKind, MemoryId};
use crate::memory::model::{Decision, Fact, FactAction, Ground, MemoryKind, MemoryRow};
use crate::memory::{Draft, Filter, MemoryError, View};
use crate::mention;
use crate::time::{Span, Timestamp};

/// Days looked back upon.
const WINDOW_DAYS: f64 = 28.0;
/// Days on which somebody must have been here before a habit or a frequency is concluded.
const LEAST_DAYS: usize = 4;
/// Days on which two must have been together.
const LEAST_TOGETHER: usize = 3;
/// Share of somebody's days that makes it usual, …
const USUAL: f64 = 0.6;
/// … and under which a half-hour at the edge is no part of it.
const EDGE: f64 = 0.1;
/// Half-hours of a day.
const BINS: usize = 48;
/// Observations closer together than this are one stay, seconds.
const STAY_GAP_SECS: f64 = 300.0;
/// Stays this close are together, seconds.
const TOGETHER_SECS: f64 = 60.0;
/// Memories that a conclusion names as its evidence.
const MOST_GROUNDS: usize = 16;

/// At what time somebody usually is here.
const USUAL_TIME: &str = "usual_time";
/// With whom.
const USUALLY_WITH: &str = "usually_with";
/// How often somebody is seen in a day.
const SEEN_PER_DAY: &str = "seen_per_day";
/// How often somebody is heard in a day.
const HEARD_PER_DAY: &str = "heard_per_day";

/// What follows from many memories.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Conclusion {
    who: EntityId,
    attribute: &'static str,
    value: String,
    text: String,
    confidence: f32,
    /// From the first to the last of its evidence.
    span: Span,
    evidence: Vec<MemoryId>,
    also: Option<EntityId>,
}

/// What a conclusion replaces: for attributes of several values the value counts too.
type Slot = (EntityId, String, Option<String>);

impl Conclusion {
    fn slot(&self) -> Slot {
        slot(self.who, self.attribute, &self.value)
    }

    fn fact(&self) -> Fact {
        Fact {
            subject: self.who.to_string(),
            attribute: self.attribute.to_owned(),
            value: self.value.clone(),
        }
    }
}

fn slot(who: EntityId, attribute: &str, value: &str) -> Slot {
    (who, attribute.to_owned(), (attribute == USUALLY_WITH).then(|| value.to_owned()))
}

/// Somebody's day.
#[derive(Default)]
struct Day {
    /// Half-hours in which somebody was here, bit 0 = midnight.
    bins: u64,
    /// Stays with the memory that each begins with.
    stays: Vec<(Span, MemoryId)>,
    /// Stays in view.
    seen: Vec<Span>,
    /// Things said.
    heard: u32,
    span: Span,
}

impl Day {
    fn first(&self) -> Option<MemoryId> {
        self.stays.first().map(|(_, id)| *id)
    }

    /// The memory that a stay in one of those half-hours begins with.
    fn within(&self, windows: &[(usize, usize)], zone: &TimeZone) -> Option<MemoryId> {
        let inside = |span: &Span| {
            let (from, to) = (bin(&local(span.start, zone)), bin(&local(span.end, zone)));
            windows.iter().any(|(start, end)| from < *end && *start <= to.max(from))
        };
        self.stays.iter().find(|(span, _)| inside(span)).map(|(_, id)| *id)
    }
}

type Days = BTreeMap<Date, Day>;

fn local(at: Timestamp, zone: &TimeZone) -> Zoned {
    at.to_jiff().to_zoned(zone.clone())
}

/// The half-hour of the day.
fn bin(at: &Zoned) -> usize {
    (usize::from(at.hour().unsigned_abs()) * 2 + usize::from(at.minute() >= 30)).min(BINS - 1)
}

/// Everything that follows from the four weeks before `now`, by person and attribute.
pub(super) fn conclusions(view: &View, now: Timestamp, zone: &TimeZone) -> Vec<Conclusion> {
    let (people, observed) = gather(view, now, zone);
    let mut found = Vec::new();
    for (who, days) in &people {
        found.extend(usual_time(*who, days, zone));
        found.extend(frequencies(*who, days, observed));
    }
    found.extend(company(&people));
    found.sort_by_key(Conclusion::slot);
    found
}

/// The days of everybody, and the number of days on which anything was observed.
fn gather(view: &View, now: Timestamp, zone: &TimeZone) -> (BTreeMap<EntityId, Days>, usize) {
    let span = Span::new(now.plus_secs(-WINDOW_DAYS * DAY_SECS), now);
    let kinds = vec![MemoryKind::Utterance, MemoryKind::Episodic];
    let filter = Filter { span: Some(span), kinds, ..Filter::default() };
    let mut people: BTreeMap<EntityId, Days> = BTreeMap::new();
    let mut observed = BTreeSet::new();
    for row in view.memories(&filter).iter().filter(|row| row.origin == BUILTIN) {
        let (start, end) = (local(row.span.start, zone), local(row.span.end, zone));
        observed.insert(start.date());
        let last = if end.date() == start.date() { bin(&end) } else { BINS - 1 };
        for who in present(view, row) {
            let day = people.entry(who).or_default().entry(start.date()).or_default();
            (bin(&start)..=last).for_each(|bin| day.bins |= 1 << bin);
            take_in(&mut day.stays, row.span, row.id);
            if row.kind == MemoryKind::Utterance {
                day.heard += 1;
            } else if is_sight(row) {
                let mut seen: Vec<(Span, MemoryId)> =
                    day.seen.drain(..).map(|span| (span, row.id)).collect();
                take_in(&mut seen, row.span, row.id);
                day.seen = seen.into_iter().map(|(span, _)| span).collect();
            }
            day.span = match day.span == Span::default() {
                true => row.span,
                false => {
                    Span::new(day.span.start.min(row.span.start), day.span.end.max(row.span.end))
                }
            };
        }
    }
    (people, observed.len())
}

/// Joins a stay to the one before; rows come by start.
fn take_in(stays: &mut Vec<(Span, MemoryId)>, span: Span, id: MemoryId) {
    match stays.last_mut() {
        Some((last, _)) if span.start.secs_since(last.end) <= STAY_GAP_SECS => {
            last.end = last.end.max(span.end);
        }
        _ => stays.push((span, id)),
    }
}

/// Who was there: the speaker of an utterance, everybody in an episode.
fn present(view: &View, row: &MemoryRow) -> BTreeSet<EntityId> {
    let mentioned = mention::mentions(&row.text).into_iter().map(|mention| mention.entity);
    let ids: Vec<EntityId> = match row.kind {
        MemoryKind::Utterance => mentioned.take(1).collect(),
        _ => mentioned.collect(),
    };
    let resolved = ids.into_iter().map(|id| view.resolve(id));
    resolved.filter(|id| id.kind == EntityKind::Person).collect()
}

/// What rests on speech alone was not seen.
fn is_sight(row: &MemoryRow) -> bool {
    row.grounds.is_empty() || row.grounds.iter().any(|ground| matches!(ground, Ground::Track(..)))
}

/// Days on which something was so, as evidence: one memory of each, the newest days first to stay.
struct Evidence {
    span: Span,
    memories: Vec<MemoryId>,
}

fn evidence<'a>(
    days: impl DoubleEndedIterator<Item = (&'a Day, Option<MemoryId>)>,
) -> Option<Evidence> {
    let mut memories = Vec::new();
    let mut whole: Option<Span> = None;
    for (day, memory) in days.rev() {
        let memory = memory.or_else(|| day.first())?;
        if memories.len() < MOST_GROUNDS {
            memories.push(memory);
        }
        let span = whole.unwrap_or(day.span);
        whole = Some(Span::new(span.start.min(day.span.start), span.end.max(day.span.end)));
    }
    memories.reverse();
    Some(Evidence { span: whole?, memories })
}

fn surety(share: f64, days: usize) -> f32 {
    (share * (1.0 - 1.0 / (days as f64 + 1.0))) as f32
}

/// "is usually here between 08:00 and 10:00".
fn usual_time(who: EntityId, days: &Days, zone: &TimeZone) -> Option<Conclusion> {
    if days.len() < LEAST_DAYS {
        return None;
    }
    let masks: Vec<u64> = days.values().map(|day| day.bins).collect();
    let windows = usual_windows(&masks);
    let mask =
        windows.iter().fold(0, |mask, (from, to)| (*from..*to).fold(mask, |m, b| m | 1 << b));
    let fitting: Vec<&Day> = days.values().filter(|day| day.bins & mask != 0).collect();
    if windows.is_empty() || (fitting.len() as f64) < USUAL * days.len() as f64 {
        return None;
    }
    let of_days = fitting.iter().map(|day| (*day, day.within(&windows, zone)));
    let Evidence { span, memories } = evidence(of_days)?;
    let (value, worded) = match windows.as_slice() {
        [(0, BINS)] => ("all day".to_owned(), "all day".to_owned()),
        windows => {
            let times = |join: &str, lead: &str| {
                let one = |(from, to): &(usize, usize)| {
                    format!("{lead}{}{join}{}", clock(*from), clock(*to))
                };
                windows.iter().map(one).collect::<Vec<_>>().join(" and ")
            };
            (times("–", ""), times(" and ", "between "))
        }
    };
    let (fits, all) = (fitting.len(), days.len());
    Some(Conclusion {
        who,
        attribute: USUAL_TIME,
        text: format!("<{who}> is usually here {worded} (on {fits} of {all} days)."),
        value,
        confidence: surety(fits as f64 / all as f64, fits),
        span,
        evidence: memories,
        also: None,
    })
}

fn clock(bin: usize) -> String {
    format!("{:02}:{:02}", bin / 2, bin % 2 * 30)
}

/// Stretches of half-hours, from – to, in or beside which most days have somebody here; the two widest.
fn usual_windows(days: &[u64]) -> Vec<(usize, usize)> {
    let count = |mask: u64| days.iter().filter(|day| **day & mask != 0).count() as f64;
    let all = days.len() as f64;
    let beside = |bin: usize| {
        (bin.saturating_sub(1)..=(bin + 1).min(BINS - 1)).fold(0_u64, |mask, bin| mask | 1 << bin)
    };
    let usual = |bin: usize| count(beside(bin)) >= USUAL * all;
    let real = |bin: usize| count(1 << bin) >= (EDGE * all).max(1.0);
    let mut windows: Vec<(usize, usize)> = Vec::new();
    let mut bin = 0;
    while bin < BINS {
        if !usual(bin) {
            bin += 1;
            continue;
        }
        let from = bin;
        while bin < BINS && usual(bin) {
            bin += 1;
        }
        let Some(first) = (from..bin).find(|bin| real(*bin)) else { continue };
        let last = (from..bin).rfind(|bin| real(*bin)).unwrap_or(first);
        windows.push((first, last + 1));
    }
    windows.sort_by_key(|(from, to)| (std::cmp::Reverse(to - from), *from));
    windows.truncate(2);
    windows.sort_unstable();
    windows
}

/// "is seen about 3 times a day", "is heard about 12 times a day".
fn frequencies(who: EntityId, days: &Days, observed: usize) -> Vec<Conclusion> {
    let mut found = Vec::new();
    type Count = fn(&Day) -> u32;
    let seen: Count = |day| day.seen.len() as u32;
    let heard: Count = |day| day.heard;
    let kinds = [(SEEN_PER_DAY, "seen", seen), (HEARD_PER_DAY, "heard", heard)];
    for (attribute, verb, count) in kinds {
        let those: Vec<&Day> = days.values().filter(|day| count(day) > 0).collect();
        if those.len() < LEAST_DAYS {
            continue;
        }
        let total: u32 = those.iter().map(|day| count(day)).sum();
        let about = rounded(f64::from(total) / those.len() as f64);
        let Some(Evidence { span, memories }) = evidence(those.iter().map(|day| (*day, None)))
        else {
            continue;
        };
        let times = match about {
            1 => "about once a day".to_owned(),
            2 => "about twice a day".to_owned(),
            many => format!("about {many} times a day"),
        };
        found.push(Conclusion {
            who,
            attribute,
            value: format!("about {about}"),
            text: format!("<{who}> is {verb} {times} (on {} of {observed} days).", those.len()),
            confidence: surety(1.0, those.len()),
            span,
            evidence: memories,
            also: None,
        });
    }
    found
}

/// A number as one says it: exact when small, then in steps.
fn rounded(number: f64) -> u32 {
    let step = match number {
        n if n < 6.0 => 1.0,
        n if n < 12.0 => 2.0,
        n if n < 30.0 => 5.0,
        n if n < 100.0 => 10.0,
        _ => 50.0,
    };
    ((number / step).round() * step).max(1.0) as u32
}

/// "is usually with".
fn company(people: &BTreeMap<EntityId, Days>) -> Vec<Conclusion> {
    let mut found = Vec::new();
    for (who, days) in people {
        for (other, theirs) in people.iter().filter(|(other, _)| *other != who) {
            let both = days.iter().filter_map(|(date, day)| {
                let (mine, yours) = met(day, theirs.get(date)?)?;
                Some((day, mine, yours))
            });
            let both: Vec<(&Day, MemoryId, MemoryId)> = both.collect();
            let share = both.len() as f64 / days.len().max(1) as f64;
            if both.len() < LEAST_TOGETHER || share < USUAL {
                continue;
            }
            let of_days = both.iter().map(|(day, mine, _)| (*day, Some(*mine)));
            let Some(Evidence { span, mut memories }) = evidence(of_days) else { continue };
            let theirs = both.iter().rev().map(|(_, _, yours)| *yours);
            let room = MOST_GROUNDS.saturating_sub(memories.len());
            memories.extend(theirs.take(room));
            memories.sort_unstable();
            memories.dedup();
            found.push(Conclusion {
                who: *who,
                attribute: USUALLY_WITH,
                value: other.to_string(),
                text: format!(
                    "<{who}> is usually with <{other}> (on {} of {} days).",
                    both.len(),
                    days.len()
                ),
                confidence: surety(share, both.len()),
                span,
                evidence: memories,
                also: Some(*other),
            });
        }
    }
    found
}

/// The memories that the first stay of both at once begins with.
fn met(a: &Day, b: &Day) -> Option<(MemoryId, MemoryId)> {
    a.stays.iter().find_map(|(mine, first)| {
        let near = |yours: &Span| {
            mine.start.secs_since(yours.end) <= TOGETHER_SECS
                && yours.start.secs_since(mine.end) <= TOGETHER_SECS
        };
        let (_, second) = b.stays.iter().find(|(yours, _)| near(yours))?;
        Some((*first, *second))
    })
}

/// Judges the conclusions against those that hold: the same value is renewed, another one replaces it, what
/// the newest weeks no longer say ends. Gives back how many changed.
pub(super) fn settle(
    found: Vec<Conclusion>,
    before: &View,
    now: Timestamp,
    upkeep: &Upkeep,
    draft: &mut Draft,
) -> Result<usize, MemoryError> {
    let mut held = held(before, draft)?;
    let mut changed = 0;
    for conclusion in &found {
        let fact = conclusion.fact();
        match held.remove(&conclusion.slot()) {
            Some(row) if row.fact.as_ref() == Some(&fact) => {
                if row.text == conclusion.text {
                    continue;
                }
                let renewed =
                    MemoryRow { id: row.id, valid_from: row.valid_from, ..row_of(conclusion) };
                draft.memory(renewed, upkeep.vector(&conclusion.text, before));
            }
            Some(row) => {
                let reason = "the last weeks say otherwise";
                let id = draft.new_memory_id();
                draft.retire_memory(row.id, Some(now), reason)?;
                decide(draft, row.id, now, FactAction::Retire, Some(id), reason);
                let newer = MemoryRow { id, valid_from: now, ..row_of(conclusion) };
                draft.memory(newer, upkeep.vector(&conclusion.text, before));
                decide(
                    draft,
                    id,
                    now,
                    FactAction::Update,
                    Some(row.id),
                    "concluded anew from the last weeks",
                );
            }
            None => {
                let id = draft.new_memory_id();
                let row = MemoryRow { id, ..row_of(conclusion) };
                draft.memory(row, upkeep.vector(&conclusion.text, before));
                decide(draft, id, now, FactAction::Add, None, "concluded from the last weeks");
            }
        }
        changed += 1;
    }
    let long_ago = now.plus_secs(-WINDOW_DAYS * DAY_SECS);
    let known: BTreeSet<EntityId> = found.iter().map(|conclusion| conclusion.who).collect();
    for row in held.into_values() {
        let who = row.fact.as_ref().and_then(|fact| fact.subject.parse().ok());
        // Somebody who was hardly here lately may still have the habit.
        let told = who.is_some_and(|who: EntityId| known.contains(&before.resolve(who)));
        if row.span.end > long_ago && !told {
            continue;
        }
        let until = row.span.end.max(row.valid_from);
        draft.retire_memory(row.id, Some(until), "the last weeks no longer say so")?;
        decide(draft, row.id, now, FactAction::Retire, None, "the last weeks no longer say so");
        changed += 1;
    }
    Ok(changed)
}

/// The built-in conclusions that hold, by slot; of two about one person, once two, the older stays.
fn held(
    before: &View,
    draft: &mut Draft,
) -> Result<BTreeMap<Slot, std::sync::Arc<MemoryRow>>, MemoryError> {
    let filter = Filter { kinds: vec![MemoryKind::Reflection], ..Filter::default() };
    let mut held = BTreeMap::new();
    let mut rows = before.memories(&filter);
    rows.retain(|row| row.origin == BUILTIN && row.valid_to.is_none());
    rows.sort_by_key(|row| row.id);
    for row in rows {
        let Some(fact) = &row.fact else { continue };
        let Ok(who) = fact.subject.parse::<EntityId>() else { continue };
        let slot = slot(before.resolve(who), &fact.attribute, &fact.value);
        match held.entry(slot) {
            Entry::Occupied(_) => {
                draft.retire_memory(row.id, None, "the same was concluded of the same person")?;
            }
            Entry::Vacant(free) => {
                free.insert(row);
            }
        }
    }
    Ok(held)
}

fn row_of(conclusion: &Conclusion) -> MemoryRow {
    let mut entities = vec![conclusion.who];
    entities.extend(conclusion.also);
    entities.sort_unstable();
    MemoryRow {
        id: MemoryId::default(),
        kind: MemoryKind::Reflection,
        text: conclusion.text.clone(),
        span: conclusion.span,
        clip: None,
        entities,
        fact: Some(conclusion.fact()),
        importance: 0.7,
        confidence: conclusion.confidence,
        pinned: false,
        valid_from: conclusion.span.start,
        valid_to: None,
        grounds: conclusion.evidence.iter().map(|id| Ground::Memory(*id)).collect(),
        origin: BUILTIN.to_owned(),
    }
}

fn decide(
    draft: &mut Draft,
    memory: MemoryId,
    at: Timestamp,
    action: FactAction,
    other: Option<MemoryId>,
    reason: &str,
) {
    draft.decision(Decision { memory, at, action, other, reason: reason.to_owned() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_habit_is_the_stretch_that_most_days_share() {
        let bins = |from: usize, to: usize| (from..to).fold(0_u64, |mask, bin| mask | 1 << bin);
        // Always from 8 to 12.
        assert_eq!(usual_windows(&[bins(16, 24); 6]), [(16, 24)]);
        // A short visit, in the one half-hour or the other.
        let visits = [bins(16, 17), bins(17, 18), bins(16, 17), bins(17, 18)];
        assert_eq!(usual_windows(&visits), [(16, 18)]);
        // Twice a day.
        assert_eq!(usual_windows(&[bins(14, 16) | bins(36, 40); 5]), [(14, 16), (36, 40)]);
        // No time in common.
        let scattered = [bins(2, 3), bins(10, 11), bins(20, 21), bins(30, 31), bins(40, 41)];
        assert!(usual_windows(&scattered).is_empty());
        assert_eq!(usual_windows(&[bins(0, BINS); 4]), [(0, BINS)]);
        assert_eq!(
            (clock(0), clock(17), clock(BINS)),
            ("00:00".into(), "08:30".into(), "24:00".into())
        );
    }

    #[test]
    fn numbers_are_told_in_steps() {
        let told: Vec<u32> = [0.2, 1.4, 3.6, 7.2, 13.0, 44.0, 260.0].map(rounded).into();
        assert_eq!(told, [1, 1, 4, 8, 15, 40, 250]);
    }
}
