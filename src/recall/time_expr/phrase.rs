//! The scanner: prepositions, ranges, relative times and event clauses around days and clocks.

mod event;
mod relative;
mod resolve;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::calendar::{Days, days};
use super::clock::{Clock, clock};
use super::{Precision, TimeExpr, When};
use crate::recall::lexer::Token;
use crate::time::{Span, Timestamp};

/// What the scanner reads against.
pub(super) struct Frame<'a> {
    pub(super) now: Timestamp,
    pub(super) today: Date,
    pub(super) zone: &'a TimeZone,
}

/// A day, a clock time, both, or an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    days: Option<Days>,
    clock: Option<Clock>,
    instant: Option<Timestamp>,
}

/// How a point bounds the time that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// The time of the point itself.
    At,
    /// "around": some minutes to both sides.
    Around,
    /// "since", "from … on".
    Since,
    /// "after".
    After,
    /// "before".
    Before,
    /// "until", "by".
    Until,
}

#[derive(Clone, Debug)]
enum Item {
    Done(When),
    Point(Bound, Point),
    Range(Point, Point),
}

/// All time expressions in the tokens.
pub(super) fn scan(tokens: &[Token], now: Timestamp, zone: &TimeZone) -> Vec<TimeExpr> {
    let frame = Frame { now, today: now.to_jiff().to_zoned(zone.clone()).date(), zone };
    let mut items: Vec<(std::ops::Range<usize>, Item)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].quoted {
            at += 1;
            continue;
        }
        match item(tokens, at, &frame) {
            Some((found, taken)) if taken > 0 => {
                let last = (at + taken).min(tokens.len()) - 1;
                items.push((tokens[at].range.start..tokens[last].range.end, found));
                at += taken;
            }
            _ => at += 1,
        }
    }
    finish(items, &frame)
}

/// Gives clock times the day that stands elsewhere in the sentence, and turns all into spans.
fn finish(items: Vec<(std::ops::Range<usize>, Item)>, frame: &Frame<'_>) -> Vec<TimeExpr> {
    let is_clock_only = |p: &Point| p.clock.is_some() && !p.days.is_some_and(|d| d.dated);
    let needs_day = items.iter().any(|(_, item)| match item {
        Item::Point(_, p) => is_clock_only(p),
        Item::Range(a, b) => is_clock_only(a) && is_clock_only(b),
        Item::Done(_) => false,
    });
    let mut whole_days = items.iter().filter_map(|(_, item)| match item {
        Item::Point(Bound::At, Point { days: Some(days), clock: None, .. })
            if days.first == days.last =>
        {
            Some(*days)
        }
        _ => None,
    });
    let context =
        if needs_day { whole_days.next().filter(|_| whole_days.next().is_none()) } else { None };
    items
        .into_iter()
        .filter_map(|(range, item)| {
            let when = match item {
                Item::Done(when) => when,
                Item::Point(bound, point) => {
                    // Its day went into the clock time; the words stay cut out.
                    let (span, precision) = resolve::point(bound, point, context, frame)?;
                    When::Span { span, precision }
                }
                Item::Range(from, to) => {
                    let span = resolve::range(from, to, context, frame)?;
                    When::Span { span, precision: Precision::Exact }
                }
            };
            Some(TimeExpr { range, when })
        })
        .collect()
}

/// The time expression that begins with token `at`.
fn item(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(Item, usize)> {
    if let Some((when, taken)) = relative::relative(tokens, at, frame) {
        return Some((Item::Done(when), taken));
    }
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let first = word(0)?;
    if matches!(first, "between" | "from") {
        if let Some((from, a)) = point(tokens, at + 1, frame, true)
            && matches!(word(1 + a), Some("and" | "to" | "until" | "till"))
            && let Some((to, b)) = point(tokens, at + 2 + a, frame, true)
        {
            return Some((Item::Range(from, to), 2 + a + b));
        }
        if first == "from"
            && let Some((from, a)) = point(tokens, at + 1, frame, true)
        {
            let on = usize::from(matches!(word(1 + a), Some("on" | "onward" | "onwards")));
            // "from yesterday" alone is that day, "from 5 pm on" is open.
            let bound = if on == 1 || from.clock.is_some() { Bound::Since } else { Bound::At };
            return Some((Item::Point(bound, from), 1 + a + on));
        }
        return None;
    }
    let (bound, skip) = match (first, word(1)) {
        ("ever", Some("since")) => (Some(Bound::Since), 2),
        ("since", _) => (Some(Bound::Since), 1),
        ("after", _) => (Some(Bound::After), 1),
        ("before", _) => (Some(Bound::Before), 1),
        ("until" | "till" | "by", _) => (Some(Bound::Until), 1),
        ("up", Some("to")) => (Some(Bound::Until), 2),
        ("at", Some("around" | "about" | "roughly" | "approximately")) => (Some(Bound::Around), 2),
        ("around" | "about" | "near" | "roughly", _) => (Some(Bound::Around), 1),
        ("at" | "on" | "in" | "during" | "for" | "of", _) => (Some(Bound::At), 1),
        _ => (None, 0),
    };
    if let Some(bound) = bound {
        let bare = matches!(
            first,
            "at" | "since" | "after" | "before" | "until" | "till" | "by" | "around"
        );
        if let Some((found, taken)) = point(tokens, at + skip, frame, bare) {
            return Some((Item::Point(bound, found), skip + taken));
        }
    }
    if let Some((when, taken)) = event::clause(tokens, at) {
        return Some((Item::Done(when), taken));
    }
    if bound.is_some() {
        return None;
    }
    let (from, a) = point(tokens, at, frame, false)?;
    // "17:30 to 17:35"
    if from.clock.is_some_and(|c| c.to_the_minute)
        && matches!(word(a), Some("to" | "until" | "till"))
        && let Some((to, b)) = point(tokens, at + a + 1, frame, false)
        && to.clock.is_some()
    {
        return Some((Item::Range(from, to), a + 1 + b));
    }
    Some((Item::Point(Bound::At, from), a))
}

/// A point from token `at` on. `bare`: a lone number may be an hour.
fn point(tokens: &[Token], at: usize, frame: &Frame<'_>, bare: bool) -> Option<(Point, usize)> {
    let token = tokens.get(at).filter(|t| !t.quoted)?;
    if let Some(instant) = resolve::instant(&token.word, frame) {
        return Some((Point { days: None, clock: None, instant: Some(instant) }, 1));
    }
    let word = |i: usize| tokens.get(i).map(|t| t.word.as_str());
    if let Some((days, mut taken)) = days(tokens, at, frame.today) {
        let at_word = matches!(word(at + taken), Some("at" | "around" | "about"));
        let skip = usize::from(at_word);
        let found =
            (days.first == days.last).then(|| hour(tokens, at + taken + skip, at_word)).flatten();
        let clock = found.map(|(clock, more)| {
            taken += skip + more;
            clock
        });
        return Some((Point { days: Some(days), clock, instant: None }, taken));
    }
    let (clock, mut taken) = hour(tokens, at, bare)?;
    let skip = usize::from(matches!(word(at + taken), Some("on" | "of")));
    let mut found = days_after_clock(tokens, at + taken + skip, frame);
    if found.is_none() && skip == 0 && matches!(word(at + taken), Some("in" | "at")) {
        // "at 5 in the afternoon"
        found = days(tokens, at + taken + 1, frame.today)
            .filter(|(days, _)| !days.dated)
            .map(|(days, more)| (days, more + 1));
        if found.is_none()
            && word(at + taken) == Some("at")
            && word(at + taken + 1) == Some("night")
        {
            let night = Days {
                first: frame.today,
                last: frame.today,
                part: Some(super::calendar::Part::Night),
                dated: false,
                precision: Precision::PartOfDay,
            };
            found = Some((night, 2));
        }
    }
    let days = found.map(|(days, more)| {
        taken += skip + more;
        days
    });
    Some((Point { days, clock: Some(clock), instant: None }, taken))
}

fn days_after_clock(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(Days, usize)> {
    days(tokens, at, frame.today).filter(|(days, _)| days.first == days.last && days.dated)
}

/// A clock time; a bare number only where nothing follows that it could count.
fn hour(tokens: &[Token], at: usize, bare: bool) -> Option<(Clock, usize)> {
    if tokens.get(at)?.quoted {
        return None;
    }
    if let Some(found) = clock(tokens, at, false) {
        return Some(found);
    }
    let (found, taken) = clock(tokens, at, bare)?;
    let ends = tokens.get(at + taken - 1).is_some_and(|t| t.stop);
    let follower = tokens.get(at + taken).map(|t| t.word.as_str());
    let free = ends
        || follower.is_none_or(|w| {
            matches!(
                w,
                "and"
                    | "to"
                    | "until"
                    | "till"
                    | "on"
                    | "in"
                    | "at"
                    | "or"
                    | "who"
                    | "what"
                    | "where"
                    | "how"
                    | "was"
                    | "were"
                    | "did"
                    | "yesterday"
                    | "today"
                    | "with"
                    | "this"
                    | "last"
                    | "sharp"
                    | "exactly"
                    | "the"
                    | "o'clock"
                    | "oclock"
            )
        });
    free.then_some((found, taken))
}

/// `[start, end]` as a half-open span.
pub(super) fn closed(start: Timestamp, end: Timestamp) -> Span {
    Span::new(start, Timestamp::from_nanos(end.as_nanos().saturating_add(1)))
}
