//! From days and clocks to spans of event time.

use std::cmp::Reverse;

use jiff::civil::{Date, DateTime, Time};

use super::{Bound, Frame, Point, closed};
use crate::recall::time_expr::calendar::{Days, Part, plus_days};
use crate::recall::time_expr::clock::Clock;
use crate::recall::time_expr::{Apart, Precision, Relation};
use crate::time::{Span, Timestamp};

/// How far "at five" and the like reach to both sides, seconds.
const BARE_HOUR_SECS: f64 = 300.0;
/// How far "this time yesterday" reaches to both sides, seconds.
const THIS_TIME_SECS: f64 = 1800.0;
/// Nobody means an hour before this one unless it is night.
const WAKING_HOUR: i8 = 6;

fn at(date: Date, time: Time, frame: &Frame<'_>) -> Option<Timestamp> {
    frame
        .zone
        .to_ambiguous_zoned(DateTime::from_parts(date, time))
        .compatible()
        .ok()
        .map(|zoned| Timestamp::from_jiff(zoned.timestamp()))
}

fn local(moment: Timestamp, frame: &Frame<'_>) -> jiff::Zoned {
    moment.to_jiff().to_zoned(frame.zone.clone())
}

/// How many seconds later the clock shows the same time once more; 0 where it does not.
fn again_after_secs(moment: Timestamp, frame: &Frame<'_>) -> f64 {
    let both = frame.zone.to_ambiguous_zoned(local(moment, frame).datetime());
    let later = both.later().ok().map(|zoned| Timestamp::from_jiff(zoned.timestamp()));
    later.map_or(0.0, |later| later.secs_since(moment).max(0.0))
}

/// Where a day begins or ends: "midnight" of a day that is told may be both.
fn is_midnight(moment: Timestamp, frame: &Frame<'_>) -> bool {
    local(moment, frame).time() == Time::MIN
}

/// The same time of day on another day, whatever the clocks did in between.
fn days_later(moment: Timestamp, days: i64, frame: &Frame<'_>) -> Timestamp {
    let there = local(moment, frame);
    plus_days(there.date(), days).and_then(|date| at(date, there.time(), frame)).unwrap_or(moment)
}

/// So long before now, by the calendar.
pub(super) fn back(frame: &Frame<'_>, shift: jiff::Span) -> Option<Timestamp> {
    let then = local(frame.now, frame).checked_sub(shift).ok()?;
    Some(Timestamp::from_jiff(then.timestamp()))
}

/// The clock's time on that day, and half an hour to both sides.
pub(super) fn clock_on(date: Date, frame: &Frame<'_>) -> Option<Span> {
    let moment = at(date, local(frame.now, frame).time(), frame)?;
    Some(Span::new(moment.plus_secs(-THIS_TIME_SECS), moment.plus_secs(THIS_TIME_SECS)))
}

/// A day and so many before and after it.
pub(super) fn around(date: Date, days: i64, frame: &Frame<'_>) -> Option<Span> {
    let start = at(plus_days(date, -days)?, Time::MIN, frame)?;
    Some(Span::new(start, at(plus_days(date, days + 1)?, Time::MIN, frame)?))
}

/// A token that is a whole RFC 3339 time, or the same without offset in the robot's zone.
pub(super) fn instant(word: &str, frame: &Frame<'_>) -> Option<Timestamp> {
    if word.len() < 16 || word.as_bytes().get(10) != Some(&b't') {
        return None;
    }
    let upper = word.to_ascii_uppercase();
    Timestamp::parse(&upper).ok().or_else(|| {
        let civil: DateTime = upper.parse().ok()?;
        at(civil.date(), civil.time(), frame)
    })
}

/// The span that days, or a part of a day, cover.
fn day_span(days: Days, frame: &Frame<'_>) -> Option<Span> {
    let Some(part) = days.part else {
        let start = at(days.first, Time::MIN, frame)?;
        return Some(Span::new(start, at(plus_days(days.last, 1)?, Time::MIN, frame)?));
    };
    let span = part_span(days.first, part, frame)?;
    // "in the morning", asked at night, is the morning before, unless it is to come.
    if !days.dated && !frame.today.coming && span.start > frame.now {
        return part_span(plus_days(days.first, -1)?, part, frame);
    }
    Some(span)
}

fn part_span(date: Date, part: Part, frame: &Frame<'_>) -> Option<Span> {
    let ((first_day, first), (last_day, last)) = part.borders();
    let start = at(plus_days(date, first_day)?, first, frame)?;
    Some(Span::new(start, at(plus_days(date, last_day)?, last, frame)?))
}

/// The instant that a clock time means.
fn instant_of(clock: Clock, days: Option<Days>, frame: &Frame<'_>) -> Option<Timestamp> {
    let found = instants(clock, days, frame).into_iter().next()?;
    let dated = days.is_some_and(|days| days.dated);
    let later = if dated { None } else { later_today(found, frame) };
    Some(later.unwrap_or(found))
}

/// What is to come and was yesterday by the clock alone is later today.
fn later_today(moment: Timestamp, frame: &Frame<'_>) -> Option<Timestamp> {
    let yesterday = local(moment, frame).date() < frame.today.date;
    let later = days_later(moment, 1, frame);
    (frame.today.coming && yesterday && later > frame.now).then_some(later)
}

/// The instants a clock time may mean, likeliest first.
fn instants(clock: Clock, days: Option<Days>, frame: &Frame<'_>) -> Vec<Timestamp> {
    let times = clock.times();
    if let Some(Days { first, part: Some(part), dated, .. }) = days {
        let date = if dated { first } else { frame.today.date };
        let span = part_span(date, part, frame);
        let wanted: Vec<Time> = times
            .iter()
            .copied()
            .filter(|t| clock.definite || (t.hour() >= 12) == part.afternoon(clock.hour))
            .collect();
        let mut found: Vec<Timestamp> = (-1..=1)
            .filter_map(|shift| plus_days(date, shift))
            .flat_map(|day| wanted.iter().filter_map(move |t| at(day, *t, frame)))
            .filter(|t| span.is_none_or(|s| s.contains(*t)))
            .collect();
        if found.is_empty() {
            found = times.iter().filter_map(|t| at(date, *t, frame)).collect();
        }
        if !dated {
            for moment in &mut found {
                if *moment > frame.now {
                    *moment = days_later(*moment, -1, frame);
                }
            }
        }
        return found;
    }
    // The latest that has been, a waking hour first; the instant that was told must have begun.
    let by_day = |t: Timestamp| local(t, frame).hour() >= WAKING_HOUR;
    let wakes = by_day(frame.now);
    let rank = |t: &Timestamp| (*t > frame.now, wakes && !by_day(*t), Reverse(*t));
    if let Some(Days { first, dated: true, .. }) = days {
        let mut found: Vec<Timestamp> = times.iter().filter_map(|t| at(first, *t, frame)).collect();
        if first == frame.today.date {
            found.sort_by_key(rank);
        } else if times.len() == 2 && (1..=6).contains(&clock.hour) || clock.hour == 12 {
            found.reverse();
        }
        return found;
    }
    let mut found: Vec<Timestamp> = [0, -1]
        .iter()
        .filter_map(|shift| plus_days(frame.today.date, *shift))
        .flat_map(|day| times.iter().filter_map(move |t| at(day, *t, frame)))
        .collect();
    found.sort_by_key(rank);
    found
}

/// Day of the point itself, else the one the sentence names elsewhere.
fn effective(days: Option<Days>, context: Option<Days>) -> Option<Days> {
    match (days, context) {
        (Some(own), Some(named)) if !own.dated => {
            Some(Days { part: own.part, precision: own.precision, ..named })
        }
        (Some(own), _) => Some(own),
        (None, named) => named,
    }
}

/// The span of a point and the precision it was told with.
pub(super) fn point(
    bound: Bound,
    point: Point,
    context: Option<Days>,
    frame: &Frame<'_>,
) -> Option<(Span, Precision)> {
    let days = effective(point.days, context);
    // What bounds it within its day: the moment, or both borders of a part of a day.
    let (span, precision, borders) = match (point.instant, point.clock) {
        (Some(moment), _) => {
            (Span::new(moment, moment.plus_secs(1.0)), Precision::Second, Some((moment, moment)))
        }
        (None, Some(clock)) => {
            let mut moment = instant_of(clock, days, frame)?;
            let begins =
                |days: Days| day_span(days, frame).is_some_and(|span| moment <= span.start);
            let ends_day = matches!(bound, Bound::Before | Bound::Until)
                && is_midnight(moment, frame)
                && days.filter(|days| days.dated).is_some_and(begins);
            if ends_day {
                moment = days_later(moment, 1, frame);
            }
            let around = bound == Bound::Around || point.around;
            let (mut span, precision) = clock_span(clock, moment, around);
            // Where the clocks are put back, an hour comes twice: either may be meant.
            if matches!(bound, Bound::At | Bound::Around) {
                span.end = span.end.plus_secs(again_after_secs(moment, frame));
            }
            (span, precision, Some((moment, moment)))
        }
        (None, None) => {
            let days = days?;
            let span = day_span(days, frame)?;
            let alone = point.days.is_some_and(|own| !own.dated);
            (span, days.precision, alone.then_some((span.start, span.end)))
        }
    };
    let start_of = |moment: Timestamp, days: i64| {
        plus_days(local(moment, frame).date(), days)
            .and_then(|date| at(date, Time::MIN, frame))
            .unwrap_or(moment)
    };
    let dated = days.is_some_and(|d| d.dated);
    // At midnight it is the day that ends there.
    let day_before =
        |moment: Timestamp| start_of(Timestamp::from_nanos(moment.as_nanos().saturating_sub(1)), 0);
    let bounded = match (bound, borders) {
        (Bound::At | Bound::Around, _) => return Some((span, precision)),
        (Bound::Since, borders) => {
            closed(borders.map_or(span.start, |(start, _)| start), frame.now)
        }
        (Bound::After, Some((_, start))) if dated => {
            let end = start_of(start, 1);
            if end > frame.now { closed(start, frame.now) } else { Span::new(start, end) }
        }
        (Bound::After, Some((_, start))) => closed(start, frame.now),
        (Bound::After, None) => closed(span.end, frame.now),
        (Bound::Before, Some((end, _))) => Span::new(day_before(end), end),
        (Bound::Until, Some((start, end))) => Span::new(day_before(start), end),
        (Bound::Before, None) => Span::new(Timestamp::from_nanos(i64::MIN), span.start),
        (Bound::Until, None) => Span::new(Timestamp::from_nanos(i64::MIN), span.end),
    };
    Some((bounded, Precision::Exact))
}

fn clock_span(clock: Clock, moment: Timestamp, around: bool) -> (Span, Precision) {
    let sides = |secs: f64| Span::new(moment.plus_secs(-secs), moment.plus_secs(secs));
    let round = clock.minute.is_multiple_of(5);
    match (clock.nanos, clock.second) {
        (Some(_), _) => (Span::new(moment, moment.plus_secs(0.001)), Precision::Exact),
        (None, Some(_)) if around => (sides(5.0), Precision::Second),
        (None, Some(_)) => (Span::new(moment, moment.plus_secs(1.0)), Precision::Second),
        (None, None) if clock.to_the_minute && !around => {
            (Span::new(moment, moment.plus_secs(60.0)), Precision::Minute)
        }
        (None, None) if clock.to_the_minute && round => (sides(600.0), Precision::Hour),
        (None, None) if clock.to_the_minute => (sides(90.0), Precision::Minute),
        (None, None) if around => (sides(1800.0), Precision::Hour),
        (None, None) => (sides(BARE_HOUR_SECS), Precision::Hour),
    }
}

/// So far before or after a point: "an hour after noon", "ten minutes before 17:30".
pub(super) fn apart(
    relation: Relation,
    apart: Apart,
    point: Point,
    context: Option<Days>,
    frame: &Frame<'_>,
) -> Option<(Span, Precision)> {
    let days = effective(point.days, context);
    let (start, end) = match (point.instant, point.clock) {
        (Some(moment), _) => (moment, moment),
        (None, Some(clock)) => {
            let moment = instant_of(clock, days, frame)?;
            (moment, moment)
        }
        (None, None) => {
            let span = day_span(days?, frame)?;
            (span.start, span.end)
        }
    };
    Some((apart.beside(relation, Span::new(start, end)), Precision::Hour))
}

/// From one point to another: among what both may mean, begun before now, the shortest, then the likeliest.
pub(super) fn range(
    from: Point,
    to: Point,
    context: Option<Days>,
    frame: &Frame<'_>,
) -> Option<Span> {
    let own = |point: Point, other: Point| {
        effective(point.days, context)
            .or_else(|| effective(other.days, context).filter(|_| point.clock.is_some()))
    };
    let ends = |point: Point, days: Option<Days>, last: bool| -> Vec<Timestamp> {
        if let Some(moment) = point.instant {
            return vec![moment];
        }
        match point.clock {
            Some(clock) => instants(clock, days, frame),
            None => point
                .days
                .and_then(|days| day_span(days, frame))
                .map(|span| if last { span.end } else { span.start })
                .into_iter()
                .collect(),
        }
    };
    let starts = ends(from, own(from, to), false);
    let finishes = ends(to, own(to, from), true);
    let mut best: Option<Span> = None;
    let mut best_rank = None;
    for (place, start) in starts.into_iter().enumerate() {
        for finish in &finishes {
            // "from 11 pm to 1 am": the end may lie on the day after.
            let dated = to.days.is_some_and(|d| d.dated) && !is_midnight(*finish, frame);
            let finish = if *finish > start || dated || to.clock.is_none() {
                *finish
            } else {
                days_later(*finish, 1, frame)
            };
            if finish <= start {
                continue;
            }
            let span = Span::new(start, finish);
            let rank = Some((start > frame.now, (span.secs() * 1e3) as i64, place));
            if best.is_none() || rank < best_rank {
                (best, best_rank) = (Some(span), rank);
            }
        }
    }
    let dated = [own(from, to), own(to, from)].into_iter().flatten().any(|days| days.dated);
    let by_clock = from.clock.is_some() && to.clock.is_some() && !dated;
    let over = best.filter(|span| by_clock && span.end <= frame.now);
    let later = over.and_then(|span| {
        Some(Span::new(later_today(span.start, frame)?, days_later(span.end, 1, frame)))
    });
    later.or(best)
}
