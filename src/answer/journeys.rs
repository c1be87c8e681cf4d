//! Who was away: what was told of people's leaving, being elsewhere and coming back, where the camera does not tell.
//!
//! A note is read by its grammar: whoever stands before the verb left for a place, is in it, or came back. What lies
//! between a leaving and the next of these is a stay.

mod leg;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{EntityId, MemoryId};
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, stems};
use crate::recall::time_expr::{TimeExpr, combined_span, told_expressions};
use crate::text::sentences;
use crate::time::{Span, Timestamp};

use super::facts::tell;
use super::persons::Names;
use super::question::{AboutJourney, Leg, Order, Parsed, Subject};
use super::reading::{Reading, hull};
use super::remembered::time_told;
use super::reply::Reply;
use super::who::last_seen;
use super::wording::{last_inside, length, list};
use leg::{Kind, Told};

/// Notes about one person that are looked at of each sort: the newest, and those that hold the name.
const LOOKED_AT: usize = 200;
/// Newest notes that are looked at for anybody's journeys.
const NEWEST: usize = 500;
/// Notes that one answer quotes.
const QUOTED: usize = 4;
/// Who went no further than the shops is back after so long, seconds.
const ERRAND_SECS: f64 = 12.0 * 3_600.0;
/// What was told of a time is so for so much …
const SURE: f32 = 0.8;
/// … and while nobody told of the end.
const OPEN: f32 = 0.6;

/// A leg of somebody's journey.
#[derive(Clone)]
struct Step {
    told: Told,
    begin: Timestamp,
    end: Option<Timestamp>,
    /// It began when it was told; else a day was told on which it did.
    exact: bool,
    row: Arc<MemoryRow>,
}

/// A time away.
struct Stay {
    from: Timestamp,
    until: Option<Timestamp>,
    /// The last day of it was told, instead of the return.
    to_the_end: bool,
    /// Begin and end are known to the minute.
    exact: bool,
    place: String,
    far: bool,
    rows: Vec<Arc<MemoryRow>>,
}

impl Stay {
    fn touches(&self, span: Span) -> bool {
        self.from < span.end && self.until.is_none_or(|until| until > span.start)
    }

    fn covers(&self, span: Span) -> bool {
        self.from <= span.start && self.until.is_none_or(|until| until >= span.end)
    }

    fn is_at(&self, place: Option<&str>) -> bool {
        place.is_none_or(|place| is_in(place, &self.place))
    }
}

/// Whether all words of the place that is asked for are told.
fn is_in(asked: &str, told: &str) -> bool {
    let told = stems(told);
    stems(leg::bare_place(asked)).iter().all(|word| told.contains(word))
}

/// Somebody whose journeys are asked for; of those known by name alone without an id.
struct Traveller {
    id: Option<EntityId>,
    name: String,
    names: Vec<String>,
}

/// What was told of the journey that is asked for. `None`: percepts tell it, or nothing does and another may.
pub(super) fn told_of(reading: &Reading, names: &Names<'_>, parsed: &Parsed) -> Option<Reply> {
    let AboutJourney { who, place, asked } = parsed.journey.as_ref()?;
    let place = place.as_deref();
    let Some(who) = who else { return away(reading, place) };
    let who = traveller(reading, names, who)?;
    let steps: Vec<Step> = steps(reading, notes_about(reading, &who).into_iter())
        .into_iter()
        .filter(|step| who.names.iter().any(|name| step.told.is_by(name)))
        .collect();
    let known = Known { reading, stays: stays(reading, who.id, &steps), who };
    match asked {
        Leg::Where => {
            let back = || (!parsed.past).then(|| known.back(&steps)).flatten();
            known.whereabouts().or_else(back)
        }
        Leg::WasHere => known.was_away("No"),
        Leg::WasAway => known.was_away("Yes").or_else(|| known.abstention("whether", "was away")),
        Leg::WhereTo => known.where_to().or_else(|| known.abstention("where", "went")),
        Leg::HowLong => known.how_long(place).or_else(|| match place {
            Some(place) => known.abstention("that", &format!("was in {place}")),
            None => known.abstention("that", "was away"),
        }),
        Leg::Left => known.leg(&steps, Kind::Away, place, parsed.order, parsed.past),
        Leg::Returned => known.leg(&steps, Kind::Back, place, parsed.order, parsed.past),
        Leg::Who => None,
    }
}

/// What is known of one traveller.
struct Known<'a> {
    reading: &'a Reading,
    who: Traveller,
    stays: Vec<Stay>,
}

impl Known<'_> {
    /// The end of the last time that the camera saw them in the times asked for.
    fn last_seen(&self) -> Option<Timestamp> {
        let runs = self.reading.appearances(Some(self.who.id?), self.reading.spans.as_deref());
        runs.iter().map(|run| run.span.end).max()
    }

    /// The newest stay in the times asked for, else now, that the camera does not contradict.
    fn stay_then(&self) -> Option<&Stay> {
        if self.stays.is_empty() {
            return None;
        }
        let seen = self.last_seen();
        let newest = |fits: &dyn Fn(&Stay) -> bool| self.stays.iter().rev().find(|stay| fits(stay));
        match self.reading.spans.as_deref().and_then(hull) {
            Some(_) if seen.is_some() => None,
            Some(span) => newest(&|stay: &Stay| stay.touches(span)),
            None => {
                let now = self.reading.now();
                let later =
                    |stay: &Stay| stay.from <= now && seen.is_none_or(|seen| stay.from > seen);
                newest(&|stay: &Stay| later(stay) && stay.until.is_none_or(|until| until > now))
            }
        }
    }

    fn whereabouts(&self) -> Option<Reply> {
        // Who is ill is not said to be anywhere; who was ill then was not away on a journey.
        let then = self.reading.spans.is_some();
        let tells = |stay: &&Stay| stay.far || !stay.place.is_empty() || then;
        self.stay_then().filter(tells).map(|stay| self.quoted("", stay))
    }

    /// Of whom nobody knows more than that they came back, where the camera has not seen them since.
    fn back(&self, steps: &[Step]) -> Option<Reply> {
        let now = self.reading.now();
        let span = self.reading.spans.as_deref().and_then(hull);
        let last = steps.iter().rfind(|step| step.begin <= now)?;
        let runs = self.who.id.map(|id| self.reading.appearances(Some(id), None));
        let seen = runs.is_some_and(|runs| runs.iter().any(|run| run.span.end > last.begin));
        let fits = last.told.kind == Kind::Back && !seen;
        (fits && span.is_none_or(|span| span.contains(now)))
            .then(|| self.told("", std::slice::from_ref(&last.row), OPEN))
    }

    /// "Was Ava here?" `yes_no`: what a journey makes of it, where it took all that time.
    fn was_away(&self, yes_no: &str) -> Option<Reply> {
        let stay = self.stay_then().filter(|stay| stay.far)?;
        let span = self.reading.spans.as_deref().and_then(hull);
        let all = span.is_none_or(|span| stay.covers(span));
        let lead = if all { format!("{yes_no}, as far as I know: ") } else { String::new() };
        Some(self.quoted(&lead, stay))
    }

    fn where_to(&self) -> Option<Reply> {
        let span = self.reading.spans.as_deref().and_then(hull);
        let fits =
            |stay: &&Stay| !stay.place.is_empty() && span.is_none_or(|span| stay.touches(span));
        self.stays.iter().rev().find(fits).map(|stay| self.quoted("", stay))
    }

    fn how_long(&self, place: Option<&str>) -> Option<Reply> {
        let span = self.reading.spans.as_deref().and_then(hull);
        let fits = |stay: &&Stay| stay.is_at(place) && span.is_none_or(|span| stay.touches(span));
        let stay = self.stays.iter().rev().find(fits)?;
        let lead = format!("{} {}, as far as I know. ", self.who.name, self.for_long(stay));
        Some(self.quoted(&lead, stay))
    }

    /// "was away for 2 days"; where days were told, "was away from Friday 6 March 2026 to …".
    fn for_long(&self, stay: &Stay) -> String {
        let (now, wording) = (self.reading.now(), &self.reading.wording);
        let over = stay.until.filter(|until| *until <= now);
        if stay.exact {
            let verb = if over.is_some() { "was" } else { "has been" };
            let secs = over.unwrap_or(now).secs_since(stay.from).max(0.0);
            return format!("{verb} away for {}", length(secs));
        }
        let from = wording.date(stay.from);
        let verb = match (over, stay.from <= now) {
            (Some(_), _) => "was away from",
            (None, true) => "has been away since",
            (None, false) => "is to be away from",
        };
        let Some(until) = stay.until.filter(|_| over.is_some() || stay.from > now) else {
            return format!("{verb} {from}");
        };
        let last = if stay.to_the_end { last_inside(Span::new(stay.from, until)) } else { until };
        let days = match wording.days(stay.from, until) {
            0 => String::new(),
            1 => " (1 day)".to_owned(),
            days => format!(" ({days} days)"),
        };
        format!("{verb} {from} to {}{days}", wording.date(last))
    }

    /// "When did Ava leave for Bonn?", "When did she come back?" `past`: it is over.
    fn leg(
        &self,
        steps: &[Step],
        kind: Kind,
        place: Option<&str>,
        order: Order,
        past: bool,
    ) -> Option<Reply> {
        // Whom the camera saw go is told by it, unless it is asked for a journey.
        if kind == Kind::Away && place.is_none() && self.last_seen().is_some() {
            return None;
        }
        let spans = self.reading.spans.as_deref();
        let fits = steps.iter().filter(|step| {
            let there = place.is_none_or(|place| {
                is_in(place, &step.told.place) || kind == Kind::Back && step.told.place.is_empty()
            });
            let then = spans.is_none_or(|spans| spans.iter().any(|span| span.contains(step.begin)));
            step.told.kind == kind && there && then
        });
        let (been, coming): (Vec<&Step>, Vec<&Step>) =
            fits.partition(|step| step.begin <= self.reading.now());
        let step = match (order, past) {
            (Order::First, true) => been.first().or(coming.first()),
            (_, true) => been.last().or(coming.first()),
            (_, false) => coming.first().or(been.last()),
        };
        step.map(|step| self.told("", std::slice::from_ref(&step.row), SURE))
    }

    fn quoted(&self, lead: &str, stay: &Stay) -> Reply {
        self.told(lead, &stay.rows, if stay.until.is_some() { SURE } else { OPEN })
    }

    fn told(&self, lead: &str, rows: &[Arc<MemoryRow>], confidence: f32) -> Reply {
        let ids = self.who.id.into_iter().collect();
        quoting(self.reading, lead, rows, ids, confidence)
    }

    /// That it is not known, of somebody of whom there is anything to know.
    fn abstention(&self, asked: &str, what: &str) -> Option<Reply> {
        let reading = self.reading;
        let name = &self.who.name;
        if self.who.id.is_none() && !reading.view.is_mentioned(name) {
            return None;
        }
        let last = self.who.id.and_then(|id| last_seen(reading, id));
        let last = last.map_or_else(String::new, |last| format!(" {last}"));
        let text = format!("I don't know {asked} {name} {what}.{last}");
        Some(Reply::unknown(&text).about(&self.who.id.into_iter().collect::<Vec<_>>()))
    }
}

fn quoting(
    reading: &Reading,
    lead: &str,
    rows: &[Arc<MemoryRow>],
    ids: Vec<EntityId>,
    confidence: f32,
) -> Reply {
    let rows = &rows[..rows.len().min(QUOTED)];
    let told: Vec<String> = rows.iter().map(|row| tell(reading, row)).collect();
    let evidence = rows.iter().map(|row| reading.memory_evidence(row, row.confidence)).collect();
    let reply = Reply::known(format!("{lead}{}", told.join(" ")), ids, evidence);
    Reply { confidence, ..reply }
}

fn traveller(reading: &Reading, names: &Names<'_>, who: &Subject) -> Option<Traveller> {
    if let Subject::Unknown(name) = who {
        let names = vec![name.to_lowercase()];
        return Some(Traveller { id: None, name: name.clone(), names });
    }
    let id = names.known_person(reading, who)?;
    let names: Vec<String> =
        reading.view.names(id).iter().map(|row| row.name.to_lowercase()).collect();
    (!names.is_empty()).then(|| Traveller { id: Some(id), name: reading.name(id), names })
}

/// Notes about one person: the newest, and those in which the name tells most.
fn notes_about(reading: &Reading, who: &Traveller) -> Vec<Arc<MemoryRow>> {
    let view = &reading.view;
    let filter = Filter { kinds: vec![MemoryKind::Note], ..Filter::default() };
    let named = view.lexical(&who.name, LOOKED_AT, &filter).into_iter();
    let newest = who.id.map(|id| reading.newest_notes(vec![id], LOOKED_AT)).unwrap_or_default();
    let told: BTreeSet<MemoryId> = newest.iter().map(|row| row.id).collect();
    let others = named.filter(|(id, _)| !told.contains(id)).filter_map(|(id, _)| view.memory(id));
    others.chain(newest.iter().cloned()).collect()
}

/// "Who was away?", "Who went to Bonn?" `None`: nobody is known to have gone there.
fn away(reading: &Reading, place: Option<&str>) -> Option<Reply> {
    let now = reading.now();
    let span = reading.spans.as_deref().and_then(hull);
    let asked = span.unwrap_or(Span::new(now, now.plus_secs(1e-9)));
    let all = steps(reading, reading.newest_notes(Vec::new(), NEWEST).into_iter());
    let mut travellers: Vec<String> =
        all.iter().flat_map(|step| step.told.travellers.iter().cloned()).collect();
    travellers.sort();
    travellers.dedup();
    let (mut who, mut ids) = (Vec::new(), Vec::new());
    let mut rows: Vec<Arc<MemoryRow>> = Vec::new();
    for name in travellers {
        let own: Vec<Step> =
            all.iter().filter(|step| step.told.travellers.contains(&name)).cloned().collect();
        let id = reading.view.find_by_name(&name).into_iter().find(|id| Reading::is_person(*id));
        let then = |stay: &Stay| match place {
            Some(_) => stay.is_at(place) && span.is_none_or(|span| stay.touches(span)),
            None => stay.far && stay.touches(asked),
        };
        let Some(stay) = stays(reading, id, &own).into_iter().find(then) else { continue };
        rows.extend(stay.rows);
        who.push(id.map_or(name, |id| reading.name(id)));
        ids.extend(id);
    }
    rows.sort_by_key(|row| (row.span.start, row.id));
    rows.dedup_by_key(|row| row.id);
    if who.is_empty() {
        let then = span.map_or_else(String::new, |span| format!(" {}", reading.wording.when(span)));
        let text = format!("I don't know of anybody who was away{then}.");
        return place.is_none().then(|| Reply::unknown(&text));
    }
    let lead = format!("{}. ", list(&who));
    Some(quoting(reading, &lead, &rows, ids, SURE))
}

/// The legs that those notes tell of, by time.
fn steps(reading: &Reading, rows: impl Iterator<Item = Arc<MemoryRow>>) -> Vec<Step> {
    let mut found: Vec<Step> = rows
        .filter(|row| row.span.start <= reading.now())
        .flat_map(|row| told_in(reading, &row))
        .collect();
    found.sort_by_key(|step| (step.begin, step.row.id));
    found
}

fn told_in(reading: &Reading, row: &Arc<MemoryRow>) -> Vec<Step> {
    let text = reading.rendered(&row.text);
    let own = row.span;
    let mut carried = Vec::new();
    let mut legs: Vec<(Told, Option<Span>)> = Vec::new();
    for sentence in sentences(&text) {
        if !leg::may_tell(sentence) {
            carried.clear();
            continue;
        }
        let times = told_expressions(sentence, own.start, &reading.wording.zone);
        let timed = |at: usize| times.iter().any(|time| time.range.contains(&at));
        for (told, part) in leg::read(sentence, &timed, &mut carried) {
            let inside = times.iter().filter(|time| part.contains(&time.range.start));
            let inside: Vec<TimeExpr> = inside.cloned().collect();
            legs.push((told, combined_span(&inside).map(|(span, _)| span)));
        }
    }
    if let [(_, time @ None)] = legs.as_mut_slice() {
        // A time in another sentence is its, too.
        *time = Some(time_told(reading, row));
    }
    legs.into_iter().map(|(told, time)| step(row, told, time.unwrap_or(own))).collect()
}

/// A leg at the time that is told of it.
fn step(row: &Arc<MemoryRow>, told: Told, time: Span) -> Step {
    let own = row.span;
    let lasts = told.kind == Kind::There && time != own;
    // "until Friday" tells no beginning.
    let ends = time.start.as_nanos() == i64::MIN;
    let begin = match (ends, lasts) {
        (true, false) => time.end,
        // "June left this morning" was told when it was so.
        (false, false) if !time.contains(own.start) => time.start,
        (false, true) => time.start,
        _ => own.start,
    };
    let (end, exact) = (lasts.then_some(time.end), begin == own.start);
    Step { told, begin, end, exact, row: Arc::clone(row) }
}

/// The times away that one person's legs make, by time.
fn stays(reading: &Reading, who: Option<EntityId>, steps: &[Step]) -> Vec<Stay> {
    let who = who.filter(|_| !steps.is_empty());
    let seen = who.map(|id| reading.appearances(Some(id), None)).unwrap_or_default();
    let mut found: Vec<Stay> = Vec::new();
    for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.told.kind != Kind::Back) {
        let next = steps.get(at + 1);
        let later = seen.partition_point(|run| run.span.start <= step.begin);
        let came = seen.get(later).map(|run| run.span.start);
        let returns = next.is_some_and(|next| {
            let there = &next.told.place;
            next.told.kind == Kind::Back && (there.is_empty() || is_in(there, &step.told.place))
        });
        let brief = !step.told.far && step.end.is_none() && !returns;
        let errand = brief.then(|| step.begin.plus_secs(ERRAND_SECS));
        let ends = [step.end, next.map(|next| next.begin), came, errand];
        let until = ends.into_iter().flatten().min();
        let back = next.filter(|next| next.told.kind == Kind::Back && until == Some(next.begin));
        let to_the_end = back.is_none() && until.is_some() && until == step.end;
        let exact = step.exact && !to_the_end && back.is_none_or(|back| back.exact);
        let back = back.map(|back| &back.row).filter(|row| row.id != step.row.id);
        let rows = std::iter::once(&step.row).chain(back).cloned();
        let Told { place, far, .. } = step.told.clone();
        match found.last_mut().filter(|last| last.until == Some(step.begin) && last.far == far) {
            // "Jun left for Osaka." "Jun is in Osaka."
            Some(last) if last.place.is_empty() || is_in(&last.place, &place) => {
                last.until = until;
                last.to_the_end = to_the_end;
                last.exact &= exact;
                last.place = place;
                last.rows.extend(rows);
            }
            _ => {
                let (from, rows) = (step.begin, rows.collect());
                found.push(Stay { from, until, to_the_end, exact, place, far, rows });
            }
        }
    }
    found
}
