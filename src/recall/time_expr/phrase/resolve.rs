//! From days and clocks to spans of event time.

use jiff::civil::{Date, DateTime, Time};

use super::{Bound, Frame, Point, closed};
use crate::recall::time_expr::Precision;
use crate::recall::time_expr::calendar::{Days, Part, plus_days};
use crate::recall::time_expr::clock::Clock;
use crate::time::{Span, Timestamp};

/// How far "at five" and the like reach to both sides, seconds.
const BARE_HOUR_SECS: f64 = 300.0;

fn at(date: Date, time: Time, frame: &Frame<'_>) -> Option<Timestamp> {
    frame
        .zone
        .to_ambiguous_zoned(DateTime::from_parts(date, time))
        .compatible()
        .ok()
        .map(|zoned| Timestamp::from_jiff(zoned.timestamp()))
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
    // "in the morning", asked at night, is the morning before.
    if !days.dated && span.start > frame.now {
        return part_span(plus_days(days.first, -1)?, part, frame);
    }
    Some(span)
}

fn part_span(date: Date, part: Part, frame: &Frame<'_>) -> Option<Span> {
    let ((first_day, first), (last_day, last)) = part.borders();
    let start = at(plus_days(date, first_day)?, first, frame)?;
    Some(Span::new(start, at(plus_days(date, last_day)?, last, frame)?))
}

/// The instants a clock time may mean, likeliest first.
fn instants(clock: Clock, days: Option<Days>, frame: &Frame<'_>) -> Vec<Timestamp> {
    let times = clock.times();
    if let Some(Days { first, part: Some(part), dated, .. }) = days {
        let date = if dated { Some(first) } else { plus_days(frame.today, 0) };
        let Some(date) = date else { return Vec::new() };
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
                    *moment = moment.plus_secs(-86_400.0);
                }
            }
        }
        return found;
    }
    if let Some(Days { first, dated: true, .. }) = days {
        let mut found: Vec<Timestamp> = times.iter().filter_map(|t| at(first, *t, frame)).collect();
        if first == frame.today {
            // The latest that has been.
            found.sort_by_key(|t| (*t > frame.now, std::cmp::Reverse(*t)));
        } else if times.len() == 2 && (1..=6).contains(&clock.hour) || clock.hour == 12 {
            found.reverse();
        }
        return found;
    }
    let mut found: Vec<Timestamp> = [0, -1]
        .iter()
        .filter_map(|shift| plus_days(frame.today, *shift))
        .flat_map(|day| times.iter().filter_map(move |t| at(day, *t, frame)))
        .collect();
    // The instant that was told must have begun; to the minute is enough.
    found.sort_by_key(|t| (*t > frame.now, std::cmp::Reverse(*t)));
    found
}

/// Day of the point itself, else the one the sentence names elsewhere.
fn effective(days: Option<Days>, context: Option<Days>) -> Option<Days> {
    match (days, context) {
        (Some(own), Some(named)) if !own.dated => Some(Days { part: own.part, ..named }),
        (Some(own), _) => Some(own),
        (None, named) => named,
    }
}

/// The span of a point and the precision it was told with; `None` when its day was lent to a clock time.
pub(super) fn point(
    bound: Bound,
    point: Point,
    context: Option<Days>,
    frame: &Frame<'_>,
) -> Option<(Span, Precision)> {
    let days = effective(point.days, context);
    let (span, precision, moment) = match (point.instant, point.clock) {
        (Some(moment), _) => {
            (Span::new(moment, moment.plus_secs(1.0)), Precision::Second, Some(moment))
        }
        (None, Some(clock)) => {
            let moment = instants(clock, days, frame).into_iter().next()?;
            let (span, precision) = clock_span(clock, moment, bound == Bound::Around);
            (span, precision, Some(moment))
        }
        (None, None) => {
            let days = point.days?;
            (day_span(days, frame)?, days.precision, None)
        }
    };
    let end_of_day = |moment: Timestamp| {
        let date = moment.to_jiff().to_zoned(frame.zone.clone()).date();
        plus_days(date, 1).and_then(|next| at(next, Time::MIN, frame)).unwrap_or(moment)
    };
    let start_of_day = |moment: Timestamp| {
        let date = moment.to_jiff().to_zoned(frame.zone.clone()).date();
        at(date, Time::MIN, frame).unwrap_or(moment)
    };
    let dated = days.is_some_and(|d| d.dated);
    let bounded = match (bound, moment) {
        (Bound::At | Bound::Around, _) => return Some((span, precision)),
        (Bound::Since, start) => closed(start.unwrap_or(span.start), frame.now),
        (Bound::After, Some(start)) if dated => {
            let end = end_of_day(start);
            if end > frame.now { closed(start, frame.now) } else { Span::new(start, end) }
        }
        (Bound::After, Some(start)) => closed(start, frame.now),
        (Bound::After, None) => closed(span.end, frame.now),
        (Bound::Before | Bound::Until, Some(end)) => Span::new(start_of_day(end), end),
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

/// From one point to another: among what both may mean, begun before now, the shortest, then the latest.
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
    for start in starts {
        for finish in &finishes {
            // "from 11 pm to 1 am": the end may lie on the day after.
            let finish =
                if *finish > start || to.days.is_some_and(|d| d.dated) || to.clock.is_none() {
                    *finish
                } else {
                    finish.plus_secs(86_400.0)
                };
            if finish <= start {
                continue;
            }
            let span = Span::new(start, finish);
            let rank = |s: Span| {
                (s.start > frame.now, (s.secs() * 1e3) as i64, std::cmp::Reverse(s.start))
            };
            if best.is_none_or(|old| rank(span) < rank(old)) {
                best = Some(span);
            }
        }
    }
    best
}
