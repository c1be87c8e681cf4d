//! Forgetting: what has faded is folded into the summary of its hour, hours into their day.
//!
//! How well a memory is retained follows Ebbinghaus' curve as MemoryBank uses it (Zhong et al., AAAI 2024), with
//! the strength where it belongs: R = exp(−Δt / (s·S)). Δt is the time since it happened or was last recalled, s
//! `upkeep.fade_days`, and S = 1 + recalls + importance, so that what is strong fades slower. Over
//! `upkeep.keep_memories` the least retained go first. What is pinned, names, notes, lessons, conclusions and
//! day summaries are never forgotten; other facts only with `upkeep.forget_facts`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{RoundMode, Unit, Zoned, ZonedRound};

use super::digest::Digest;
use super::{DAY_SECS, Upkeep};
use crate::config;
use crate::ids::{EntityId, EntityKind, MemoryId, SessionId};
use crate::memory::model::{Ground, MemoryKind, MemoryRow};
use crate::memory::{Draft, Filter, MemoryError, View};
use crate::time::{Span, Timestamp};

/// [`MemoryRow::origin`] of an hour's summary.
const HOUR: &str = "builtin:hour";
/// [`MemoryRow::origin`] of a day's summary.
const DAY: &str = "builtin:day";
/// Summaries of hours fade slower than what happened in them.
const HOUR_LASTS: f64 = 3.0;
/// Notable sentences of an hour's summary, …
const HOUR_NOTABLE: usize = 3;
/// … and of a day's.
const DAY_NOTABLE: usize = 8;
/// Memories folded in one transaction, at most.
const MOST_AT_ONCE: usize = 4_096;
/// Below the cap there is room for what comes until the next pass: as much as came since the last one and half
/// of that again, and at least one part in so many of the cap.
const HEADROOM: usize = 8;

/// What is to be folded.
pub(super) struct Plan {
    fold: Vec<Arc<MemoryRow>>,
    /// There is more than one transaction takes.
    pub(super) more: bool,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.fold.is_empty()
    }
}

/// What folding did.
pub(super) struct Folded {
    pub(super) memories: usize,
    pub(super) hours: usize,
    pub(super) days: usize,
}

type Accesses = BTreeMap<MemoryId, (u64, Timestamp)>;

/// R of a memory, 0–1.
fn retention(row: &MemoryRow, now: Timestamp, accesses: &Accesses, fade_days: f64) -> f64 {
    let (recalls, newest) = accesses.get(&row.id).copied().unwrap_or((0, row.span.end));
    let last = row.span.end.max(newest.min(now));
    let elapsed_days = now.secs_since(last).max(0.0) / DAY_SECS;
    let scale = if row.origin == HOUR { fade_days * HOUR_LASTS } else { fade_days };
    let strength = 1.0 + recalls as f64 + f64::from(row.importance.clamp(0.0, 1.0));
    (-elapsed_days / (scale.clamp(1e-9, f64::MAX) * strength)).exp()
}

fn is_forgettable(row: &MemoryRow, settings: &config::Upkeep) -> bool {
    let is_name = row.fact.as_ref().is_some_and(|fact| fact.attribute == "name");
    !row.pinned
        && !is_name
        && match row.kind {
            MemoryKind::Utterance | MemoryKind::Episodic => true,
            MemoryKind::Semantic => settings.forget_facts,
            MemoryKind::Summary => row.origin == HOUR,
            MemoryKind::Reflection | MemoryKind::Lesson | MemoryKind::Note => false,
        }
}

/// Which memories have faded, and which go because there are too many; `came`: memories since the last pass.
pub(super) fn plan(
    view: &View,
    now: Timestamp,
    accesses: &Accesses,
    (settings, zone, came): (&config::Upkeep, &TimeZone, usize),
) -> Plan {
    let shown = view.memories(&Filter::default());
    let clock = Clock::new(view, now);
    let mut candidates: Vec<(f64, &Arc<MemoryRow>)> = shown
        .iter()
        .filter(|row| is_forgettable(row, settings))
        .map(|row| (retention(row, clock.of(row), accesses, settings.fade_days), row))
        .collect();
    candidates.sort_by(|a, b| {
        a.0.total_cmp(&b.0).then((a.1.span.start, a.1.id).cmp(&(b.1.span.start, b.1.id)))
    });
    let of = |origin: &str| -> BTreeSet<Timestamp> {
        shown.iter().filter(|row| row.origin == origin).map(|row| row.span.start).collect()
    };
    let (mut hours, mut days) = (of(HOUR), of(DAY));
    let cap = settings.keep_memories;
    let target = cap.saturating_sub((cap / HEADROOM).max(came + came / 2)).max(cap / HEADROOM);
    let mut left = shown.len();
    let mut fold = Vec::new();
    for (retained, row) in candidates {
        // What is no number has not faded.
        let faded = retained < settings.retention;
        if !faded && left <= target {
            break;
        }
        if fold.len() == MOST_AT_ONCE {
            return Plan { fold, more: true };
        }
        let anew = match row.origin == HOUR {
            true => days.insert(day(row.span.start, zone).start),
            false => hours.insert(hour(row.span.start, zone).start),
        };
        left = left + usize::from(anew) - 1;
        fold.push(Arc::clone(row));
    }
    Plan { fold, more: false }
}

/// Which time a memory fades by: recordings by their own, everything else by the session's.
struct Clock {
    now: Timestamp,
    /// Ends of recordings; a session that is not among them is live.
    recordings: BTreeMap<SessionId, Timestamp>,
}

impl Clock {
    fn new(view: &View, now: Timestamp) -> Self {
        let recorded = view.sessions().into_iter().filter(|session| session.recording.is_some());
        let mut recordings: BTreeMap<SessionId, Timestamp> =
            recorded.map(|session| (session.id, session.start)).collect();
        // (A robot that only lives has none, and many clips.)
        let clips = if recordings.is_empty() { Vec::new() } else { view.clips(None) };
        for clip in clips {
            if let Some(end) = recordings.get_mut(&clip.id.session) {
                *end = clip.span.end.max(*end);
            }
        }
        Self { now, recordings }
    }

    fn of(&self, row: &MemoryRow) -> Timestamp {
        let own = row.clip.and_then(|clip| self.recordings.get(&clip.session));
        own.copied().unwrap_or(self.now)
    }
}

/// A summary to be: of an hour or a day.
#[derive(Default)]
struct Fold {
    digest: Digest,
    /// What goes into it, by id.
    parts: Vec<MemoryId>,
}

/// Folds the plan's memories: summaries are written or rewritten, the memories taken back, and what rested on them
/// rests on the summary.
pub(super) fn fold(
    plan: &Plan,
    before: &View,
    upkeep: &Upkeep,
    draft: &mut Draft,
) -> Result<Folded, MemoryError> {
    let zone = &upkeep.zone;
    let shown = before.memories(&Filter::default());
    let known = |origin: &str| -> BTreeMap<Timestamp, &Arc<MemoryRow>> {
        shown.iter().filter(|row| row.origin == origin).map(|row| (row.span.start, row)).collect()
    };
    let (known_hours, known_days) = (known(HOUR), known(DAY));
    let mut hours: BTreeMap<Timestamp, Fold> = BTreeMap::new();
    let mut days: BTreeMap<Timestamp, Fold> = BTreeMap::new();
    let (gone, single): (Vec<&Arc<MemoryRow>>, Vec<_>) =
        plan.fold.iter().partition(|row| row.origin == HOUR);
    let gone_hours: BTreeSet<Timestamp> = gone.iter().map(|row| row.span.start).collect();
    let mut single = single;
    single.sort_by_key(|row| (row.span.start, row.id));
    for row in single {
        let start = hour(row.span.start, zone).start;
        // An hour that goes itself takes nothing in any more.
        let fold = match gone_hours.contains(&start) {
            true => days.entry(day(row.span.start, zone).start).or_default(),
            false => hours.entry(start).or_default(),
        };
        fold.digest.take_in(row, people(before, row).into_iter());
        fold.parts.push(row.id);
    }
    for row in gone {
        let fold = days.entry(day(row.span.start, zone).start).or_default();
        fold.digest.merge(Digest::read(&row.text, row.importance));
        fold.parts.push(row.id);
    }
    let mut into: BTreeMap<MemoryId, MemoryId> = BTreeMap::new();
    let folded = Folded { memories: plan.fold.len(), hours: hours.len(), days: days.len() };
    let kinds = [(hours, &known_hours, HOUR), (days, &known_days, DAY)];
    for (folds, known, origin) in kinds {
        for (start, Fold { digest, parts }) in folds {
            let known = known.get(&start).copied();
            let row = summary(digest, known, (start, origin), zone, draft);
            into.extend(parts.into_iter().map(|part| (part, row.id)));
            let vector = upkeep.vector(&row.text, before);
            draft.memory(row, vector);
        }
    }
    for (part, summary) in &into {
        draft.retire_memory(*part, None, &format!("folded into {summary}"))?;
    }
    redirect(&shown, &into, draft);
    Ok(folded)
}

/// The summary of an hour or a day: the one there is, rewritten, or a new one.
fn summary(
    fresh: Digest,
    known: Option<&Arc<MemoryRow>>,
    (start, origin): (Timestamp, &str),
    zone: &TimeZone,
    draft: &mut Draft,
) -> MemoryRow {
    let mut digest =
        known.map_or_else(Digest::default, |row| Digest::read(&row.text, row.importance));
    digest.merge(fresh);
    let local = start.to_jiff().to_zoned(zone.clone());
    let (span, most, when) = match origin == HOUR {
        true => {
            let span = hour(start, zone);
            let end = span.end.to_jiff().to_zoned(zone.clone());
            let from = local.strftime("%A %-d %B %Y, %H:%M");
            (span, HOUR_NOTABLE, format!("{from} to {}", end.strftime("%H:%M")))
        }
        false => (day(start, zone), DAY_NOTABLE, local.strftime("%A %-d %B %Y").to_string()),
    };
    digest.cut(most);
    MemoryRow {
        id: known.map_or_else(|| draft.new_memory_id(), |row| row.id),
        kind: MemoryKind::Summary,
        text: digest.write(&when),
        span,
        clip: None,
        entities: digest.people().collect(),
        fact: None,
        importance: digest.importance(),
        confidence: 0.9,
        pinned: false,
        valid_from: span.start,
        valid_to: None,
        grounds: Vec::new(),
        origin: origin.to_owned(),
    }
}

/// What rested on a folded memory rests on its summary.
fn redirect(shown: &[Arc<MemoryRow>], into: &BTreeMap<MemoryId, MemoryId>, draft: &mut Draft) {
    for row in shown.iter().filter(|row| !into.contains_key(&row.id)) {
        let moved = |ground: &Ground| match ground {
            Ground::Memory(id) => into.get(id).map(|summary| Ground::Memory(*summary)),
            _ => None,
        };
        if !row.grounds.iter().any(|ground| moved(ground).is_some()) {
            continue;
        }
        let mut grounds: Vec<Ground> = Vec::new();
        for ground in &row.grounds {
            let ground = moved(ground).unwrap_or(*ground);
            if !grounds.contains(&ground) {
                grounds.push(ground);
            }
        }
        draft.memory(MemoryRow { grounds, ..MemoryRow::clone(row) }, None);
    }
}

/// Persons, things and places that a memory is about, as they are known now.
fn people(view: &View, row: &MemoryRow) -> BTreeSet<EntityId> {
    let known = row.entities.iter().map(|id| view.resolve(*id));
    known
        .filter(|id| !matches!(id.kind, EntityKind::Face | EntityKind::Voice | EntityKind::Robot))
        .collect()
}

/// The hour of the day in which a time lies.
fn hour(at: Timestamp, zone: &TimeZone) -> Span {
    let whole = ZonedRound::new().smallest(Unit::Hour).mode(RoundMode::Trunc);
    let start = at.to_jiff().to_zoned(zone.clone()).round(whole).map_or(at, |start| stamp(&start));
    Span::new(start, start.plus_secs(3_600.0))
}

/// The day in which a time lies.
fn day(at: Timestamp, zone: &TimeZone) -> Span {
    let local = at.to_jiff().to_zoned(zone.clone());
    let start = local.start_of_day();
    let end = start.as_ref().ok().and_then(|start| start.tomorrow().ok()?.start_of_day().ok());
    let start = start.map_or(at, |start| stamp(&start));
    Span::new(start, end.map_or_else(|| start.plus_secs(DAY_SECS), |end| stamp(&end)))
}

fn stamp(at: &Zoned) -> Timestamp {
    Timestamp::from_jiff(at.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ClipId;
    use crate::memory::testing::memory_row;

    fn row(id: u64, origin: &str, importance: f32) -> MemoryRow {
        let at = Timestamp::EPOCH;
        MemoryRow {
            id: MemoryId(id),
            clip: Some(ClipId::default()),
            importance,
            confidence: 1.0,
            origin: origin.to_owned(),
            ..memory_row(MemoryKind::Episodic, "", Span::new(at, at))
        }
    }

    #[test]
    fn what_is_strong_fades_slower() {
        let now = Timestamp::EPOCH.plus_secs(30.0 * DAY_SECS);
        let none = Accesses::new();
        let plain = retention(&row(1, "builtin", 0.0), now, &none, 30.0);
        assert!((plain - (-1.0_f64).exp()).abs() < 1e-9, "{plain}");
        let important = retention(&row(1, "builtin", 1.0), now, &none, 30.0);
        assert!((important - (-0.5_f64).exp()).abs() < 1e-9, "{important}");
        // Recalled three times, long ago: stronger. Recalled just now: as new.
        let at = |secs| Accesses::from([(MemoryId(1), (3, Timestamp::EPOCH.plus_secs(secs)))]);
        let recalled = retention(&row(1, "builtin", 0.0), now, &at(0.0), 30.0);
        assert!((recalled - (-0.25_f64).exp()).abs() < 1e-9, "{recalled}");
        assert!((retention(&row(1, "builtin", 0.0), now, &at(1e12), 30.0) - 1.0).abs() < 1e-9);
        assert!(retention(&row(1, HOUR, 0.0), now, &none, 30.0) > plain);
        // What lies ahead of the clock has not faded.
        assert!(
            (retention(&row(1, "builtin", 0.0), Timestamp::from_nanos(-1), &none, 30.0) - 1.0)
                .abs()
                < 1e-9
        );
    }

    #[test]
    fn hours_and_days_are_those_of_the_zone() {
        let zone = TimeZone::get("Europe/Berlin").unwrap_or(TimeZone::UTC);
        let at = Timestamp::parse("2026-03-29T00:59:59Z").unwrap_or_default();
        let (hour, day) = (hour(at, &zone), day(at, &zone));
        assert_eq!(hour.start.to_string(), "2026-03-29T00:00:00.000000000Z");
        assert_eq!(day.start.to_string(), "2026-03-28T23:00:00.000000000Z");
        // Summer time begins: that day has 23 hours.
        assert!((day.secs() - 23.0 * 3600.0).abs() < 1e-9);
    }
}
