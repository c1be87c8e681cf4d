//! The scanner: prepositions, ranges, relative times and event clauses around days and clocks.

mod event;
mod offset;
mod relative;
mod resolve;
mod unread;

use std::ops::Range;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::calendar::{Days, Part, Today, days, plus_days, recurs, unreal, within_month};
use super::clock::{Clock, clock};
use super::{Apart, Precision, Relation, TimeExpr, When};
use crate::recall::lexer::Token;
use crate::time::{Span, Timestamp};

pub(super) use unread::unread;

/// Days by which a time of day is meant one after the other ("in the morning" beside "last week"), at most.
const MOST_DAYS: usize = 31;
/// Stretches that times of day and the days lent to them make together, at most: nobody means more.
const MOST_STRETCHES: usize = 1000;
/// In how many days a range to come that begins with its later end begins, at most: one that would begin later lasts.
const SOON_DAYS: i64 = 7;
/// Before this hour "tonight" and "this evening" are those of the day before.
const MORNING_HOUR: i8 = 4;
/// Zones of the southern temperate belt that have no summer time to tell them by.
const SOUTHERN: [&str; 12] = [
    "Australia/",
    "America/Argentina/",
    "America/Buenos_Aires",
    "America/Montevideo",
    "America/Sao_Paulo",
    "America/Asuncion",
    "America/Punta_Arenas",
    "America/Coyhaique",
    "Africa/Johannesburg",
    "Africa/Maseru",
    "Africa/Mbabane",
    "Africa/Windhoek",
];

/// What the scanner reads against.
pub(super) struct Frame<'a> {
    pub(super) now: Timestamp,
    pub(super) today: Today,
    pub(super) zone: &'a TimeZone,
}

/// A day, a clock time, both, or an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    days: Option<Days>,
    clock: Option<Clock>,
    instant: Option<Timestamp>,
    /// "yesterday around nine".
    around: bool,
}

impl Point {
    const NONE: Self = Self { days: None, clock: None, instant: None, around: false };

    /// Whether its day is told elsewhere, if at all.
    fn needs_day(self) -> bool {
        self.instant.is_none() && self.days.is_none_or(|days| !days.dated)
    }

    /// A number that may as well count something.
    fn is_bare_hour(self) -> bool {
        let bare = |clock: Clock| !clock.to_the_minute && clock.afternoon.is_none();
        self.days.is_none() && self.clock.is_some_and(bare)
    }

    /// Days and no time of day.
    fn whole_days(self) -> Option<Days> {
        self.days.filter(|days| days.dated && self.clock.is_none())
    }
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

impl Bound {
    /// What a stretch before now bounds; `None` where it bounds nothing.
    fn of(self, span: Span, frame: &Frame<'_>) -> Option<Span> {
        match self {
            Self::At | Self::Around => None,
            Self::Since | Self::After => Some(closed(span.start, frame.now)),
            Self::Before | Self::Until => {
                Some(Span::new(Timestamp::from_nanos(i64::MIN), span.end))
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Item {
    Done(When),
    Point(Bound, Point),
    Range(Point, Point),
    /// So far before or after a point.
    Apart(Relation, Apart, Point),
}

impl Item {
    fn needs_day(&self) -> bool {
        match self {
            Self::Done(_) => false,
            Self::Point(_, point) | Self::Apart(_, _, point) => point.needs_day(),
            Self::Range(from, to) => from.needs_day() && to.needs_day(),
        }
    }

    /// Days that the item is, and nothing else.
    fn whole_days(&self) -> Option<Days> {
        match self {
            Self::Point(Bound::At, point) => point.whole_days(),
            _ => None,
        }
    }

    /// Whether "and" behind it goes on with another time of the same kind.
    fn is_stretch(&self) -> bool {
        match self {
            Self::Point(bound, _) => matches!(bound, Bound::At | Bound::Around),
            Self::Range(..) | Self::Apart(..) => true,
            Self::Done(when) => matches!(when, When::Span { .. }),
        }
    }
}

/// An item and the tokens it takes.
struct Found {
    tokens: Range<usize>,
    item: Item,
}

/// All time expressions in the tokens. `coming`: [`Today::coming`].
pub(super) fn scan(
    tokens: &[Token],
    now: Timestamp,
    zone: &TimeZone,
    coming: bool,
) -> Vec<TimeExpr> {
    let local = now.to_jiff().to_zoned(zone.clone());
    let (date, small_hours) = (local.date(), local.hour() < MORNING_HOUR);
    let today = Today { date, southern: is_southern(zone, date), small_hours, coming };
    let frame = Frame { now, today, zone };
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].quoted {
            at += 1;
            continue;
        }
        let next = never(tokens, at, &frame)
            .or_else(|| item(tokens, at, &frame, true))
            .or_else(|| other_part(tokens, at, found.last()));
        match next {
            Some((item, taken)) if taken > 0 => {
                let end = (at + taken).min(tokens.len());
                found.push(Found { tokens: at..end, item });
                at = end;
            }
            _ => at += 1,
        }
    }
    finish(tokens, &found, &frame)
}

/// Whether summer is in January: by the clocks, which are put forward then.
fn is_southern(zone: &TimeZone, today: Date) -> bool {
    let offset = |month: i8| {
        let date = Date::new(today.year(), month, 15).ok()?;
        Some(date.to_zoned(zone.clone()).ok()?.offset().seconds())
    };
    let named = zone.iana_name().is_some_and(|name| SOUTHERN.iter().any(|n| name.starts_with(n)));
    named || offset(1) > offset(7)
}

/// A day that the calendar does not have.
fn never(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(Item, usize)> {
    let taken = unreal(tokens, at, frame.today.date)?;
    Some((Item::Done(stretches(Vec::new())), taken))
}

/// "or evening" behind a part of a day.
fn other_part(tokens: &[Token], at: usize, before: Option<&Found>) -> Option<(Item, usize)> {
    let joined = at.checked_sub(1).filter(|i| is_joint(&tokens[*i]))?;
    let before = before.filter(|found| found.tokens.end == joined)?;
    let Item::Point(Bound::At, point) = before.item else { return None };
    let days = point.days.filter(|days| days.part.is_some() && point.clock.is_none())?;
    let part = Part::from_word(&tokens.get(at)?.word)?;
    let days = Some(Days { part: Some(part), ..days });
    Some((Item::Point(Bound::At, Point { days, ..point }), 1))
}

fn is_joint(token: &Token) -> bool {
    matches!(token.word.as_str(), "or" | "and")
}

/// Gives clock times and parts of days the days that stand elsewhere in the sentence, turns all into spans, and joins
/// those with "or" between them.
fn finish(tokens: &[Token], found: &[Found], frame: &Frame<'_>) -> Vec<TimeExpr> {
    let context = context(tokens, found);
    let part = lone_part(found);
    let lent = found.iter().filter(|one| one.item.needs_day()).count() * context.len();
    let too_many =
        |group: &[Found]| lent > MOST_STRETCHES && group.iter().any(|one| one.item.needs_day());
    let mut done = Vec::new();
    let mut at = 0;
    while at < found.len() {
        let group = &found[at..at + group(tokens, &found[at..])];
        at += group.len();
        let (Some(first), Some(last)) = (group.first(), group.last()) else { break };
        let range = tokens[first.tokens.start].range.start..tokens[last.tokens.end - 1].range.end;
        let when = match &first.item {
            Item::Done(when) if group.len() == 1 => when.clone(),
            _ if too_many(group) => stretches(Vec::new()),
            _ => stretches(
                group.iter().flat_map(|one| spans(&one.item, part, &context, frame)).collect(),
            ),
        };
        done.push(TimeExpr { range, when });
    }
    done
}

/// How many of the first items are joined: "Monday, Tuesday or Wednesday", "at five and at six".
fn group(tokens: &[Token], found: &[Found]) -> usize {
    let mut count = 1;
    // Up to here, if a joint follows: a comma alone may part a day from its hour.
    let mut listed = 1;
    while let Some(next) = found.get(listed) {
        let (before, gap) = (&found[listed - 1], found[listed - 1].tokens.end..next.tokens.start);
        let joinable = |found: &Found| found.item.is_stretch() || is_or(tokens, &gap);
        let joint = gap.len() == 1 && is_joint(&tokens[gap.start]);
        if joint && joinable(before) && joinable(next) && !is_anchor(before) && !is_anchor(next) {
            listed += 1;
            count = listed;
            continue;
        }
        let comma = gap.is_empty() && tokens[gap.start - 1].stop;
        let days = |found: &Found| found.item.whole_days().is_some();
        if !(comma && days(before) && days(next)) {
            break;
        }
        listed += 1;
    }
    count
}

fn is_or(tokens: &[Token], gap: &Range<usize>) -> bool {
    tokens.get(gap.start).is_some_and(|token| token.word == "or")
}

/// What only the memory can place.
fn is_anchor(found: &Found) -> bool {
    matches!(&found.item, Item::Done(when) if !matches!(when, When::Span { .. }))
}

/// The one part of a day without a day: hours elsewhere in the sentence are meant in it.
fn lone_part(found: &[Found]) -> Option<Days> {
    let mut parts = found.iter().filter_map(|one| match one.item {
        Item::Point(Bound::At, point) if point.clock.is_none() && point.needs_day() => point.days,
        _ => None,
    });
    parts.next().filter(|_| parts.next().is_none())
}

/// The days that times of day belong to: those of the one item, or of the items joined by "or", that is whole days.
fn context(tokens: &[Token], found: &[Found]) -> Vec<Days> {
    if !found.iter().any(|one| one.item.needs_day()) {
        return Vec::new();
    }
    let mut days: Option<Vec<Days>> = None;
    let mut at = 0;
    while at < found.len() {
        let count = group(tokens, &found[at..]);
        let whole: Vec<Days> =
            found[at..at + count].iter().filter_map(|one| one.item.whole_days()).collect();
        at += count;
        if whole.is_empty() {
            continue;
        }
        if days.is_some() {
            // Two of them: nobody knows which is meant.
            return Vec::new();
        }
        days = Some(whole.into_iter().flat_map(|days| days.each(MOST_DAYS)).collect());
    }
    days.unwrap_or_default()
}

/// The stretches that an item covers, with how finely it was told; of each day of the context where it needs one.
fn spans(
    item: &Item,
    part: Option<Days>,
    context: &[Days],
    frame: &Frame<'_>,
) -> Vec<(Span, Precision)> {
    let part = part.filter(|_| item.needs_day());
    let in_part = |point: Point| Point { days: point.days.or(part), ..point };
    let days: Vec<Option<Days>> = if context.is_empty() || !item.needs_day() {
        vec![None]
    } else {
        context.iter().copied().map(Some).collect()
    };
    let found = days.into_iter().filter_map(|day| match item {
        Item::Done(When::Span { span, precision }) => Some((*span, *precision)),
        Item::Done(_) => None,
        Item::Point(bound, point) => resolve::point(*bound, in_part(*point), day, frame),
        Item::Range(from, to) => {
            let span = resolve::range(in_part(*from), in_part(*to), day, frame);
            span.map(|span| (span, Precision::Exact))
        }
        Item::Apart(relation, apart, point) => {
            resolve::apart(*relation, *apart, in_part(*point), day, frame)
        }
    });
    found.collect()
}

/// One stretch, or several in order of time, or none: there is no such time.
fn stretches(mut found: Vec<(Span, Precision)>) -> When {
    found.sort_by_key(|(span, _)| *span);
    found.dedup_by_key(|(span, _)| *span);
    match found.as_slice() {
        [(span, precision)] => When::Span { span: *span, precision: *precision },
        several => {
            let precision = several.iter().map(|(_, precision)| *precision).max();
            let spans = several.iter().map(|(span, _)| *span).collect();
            When::Spans { spans, precision: precision.unwrap_or(Precision::Exact) }
        }
    }
}

/// The time expression that begins with token `at`; with `told` also before, after and during what only the memories
/// can tell of.
fn item(tokens: &[Token], at: usize, frame: &Frame<'_>, told: bool) -> Option<(Item, usize)> {
    if let Some((when, taken)) = relative::relative(tokens, at, frame) {
        return Some((Item::Done(when), taken));
    }
    let is_time = |at: usize| item(tokens, at, frame, false).is_some();
    let is_time: Option<event::IsTime<'_>> = if told { Some(&is_time) } else { None };
    if let Some(found) = offset::offset(tokens, at, frame, is_time) {
        return Some(found);
    }
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let first = word(0)?;
    if matches!(first, "between" | "from") {
        return between(tokens, at, frame);
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
        // "since an hour ago", "until ten minutes ago"
        if let Some((When::Span { span, .. }, taken)) = relative::ago(tokens, at + skip, frame)
            && let Some(span) = bound.of(span, frame)
        {
            let when = When::Span { span, precision: Precision::Exact };
            return Some((Item::Done(when), skip + taken));
        }
    }
    let clause = event::clause(tokens, at, is_time).or_else(|| event::at_noun(tokens, at));
    if let Some((when, taken)) = clause {
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

/// "Between noon and six", "from Monday to Friday", "from five on".
fn between(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(Item, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let first = word(0)?;
    if let Some((from, to, taken)) = within_month(tokens, at + 1, frame.today) {
        let day = |days: Days| Point { days: Some(days), ..Point::NONE };
        return Some((Item::Range(day(from), day(to)), 1 + taken));
    }
    if let Some((from, a)) = end(tokens, at + 1, frame)
        && matches!(word(1 + a), Some("and" | "to" | "until" | "till"))
        && let Some((to, b)) = end(tokens, at + 2 + a, frame)
        // "between 10 and 20min ago": no hour
        && !(word(1 + a + b) == Some("ago") && from.is_bare_hour())
    {
        let told = [at + 1..at + 1 + a, at + 2 + a..at + 2 + a + b];
        let (from, to) = in_order(tokens, told, from, to, frame);
        let turned = first == "between" && to.instant.is_some() && from.instant > to.instant;
        let (from, to) = if turned { (to, from) } else { (from, to) };
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
    None
}

/// One end of a range.
fn end(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(Point, usize)> {
    point(tokens, at, frame, true).or_else(|| {
        let (moment, taken) = relative::moment(tokens, at, frame)?;
        Some((Point { instant: Some(moment), ..Point::NONE }, taken))
    })
}

/// Both ends of a range, the first not later than the last: "from Thursday to Tuesday", told on a Friday, is from the
/// Thursday before that Tuesday on; of what is to come, to the Tuesday behind that Thursday, if it begins soon.
fn in_order(
    tokens: &[Token],
    told: [Range<usize>; 2],
    from: Point,
    to: Point,
    frame: &Frame<'_>,
) -> (Point, Point) {
    let (Some(first), Some(last)) = (from.days, to.days) else { return (from, to) };
    if !first.dated || !last.dated || first.first <= last.last {
        return (from, to);
    }
    let [begin, end] = told;
    let comes_again = |told: &Range<usize>| told.clone().any(|at| recurs(tokens, at));
    let as_of = |date: Date, coming: bool, told: &Range<usize>| {
        let then = Frame { today: Today { date, coming, ..frame.today }, ..*frame };
        point(tokens, told.start, &then, true).map(|(point, _)| point)
    };
    let soon = plus_days(frame.today.date, SOON_DAYS).is_some_and(|date| first.first <= date);
    if frame.today.coming && soon && comes_again(&end) {
        (from, as_of(first.first, true, &end).unwrap_or(to))
    } else if comes_again(&begin) {
        (as_of(last.last, false, &begin).unwrap_or(from), to)
    } else {
        (from, to)
    }
}

/// A point from token `at` on. `bare`: a lone number may be an hour.
fn point(tokens: &[Token], at: usize, frame: &Frame<'_>, bare: bool) -> Option<(Point, usize)> {
    let token = tokens.get(at).filter(|t| !t.quoted)?;
    if let Some(instant) = resolve::instant(&token.word, frame) {
        return Some((Point { instant: Some(instant), ..Point::NONE }, 1));
    }
    let word = |i: usize| tokens.get(i).map(|t| t.word.as_str());
    if let Some((days, mut taken)) = days(tokens, at, frame.today) {
        let around = matches!(word(at + taken), Some("around" | "about"));
        let at_word = around || word(at + taken) == Some("at");
        let skip = usize::from(at_word);
        let found = days.is_one().then(|| hour(tokens, at + taken + skip, at_word)).flatten();
        let clock = found.map(|(clock, more)| {
            taken += skip + more;
            clock
        });
        let around = clock.is_some() && around;
        return Some((Point { days: Some(days), clock, around, ..Point::NONE }, taken));
    }
    let (clock, mut taken) = hour(tokens, at, bare)?;
    let skip = usize::from(matches!(word(at + taken), Some("on" | "of")));
    let mut found = days_after_clock(tokens, at + taken + skip, frame);
    if found.is_none() && skip == 0 && matches!(word(at + taken), Some("in" | "at")) {
        // "at 5 in the afternoon"
        found = days(tokens, at + taken + 1, frame.today)
            .filter(|(days, _)| !days.dated)
            .map(|(days, more)| (days, more + 1));
    }
    let days = found.map(|(days, more)| {
        taken += skip + more;
        days
    });
    Some((Point { days, clock: Some(clock), ..Point::NONE }, taken))
}

fn days_after_clock(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(Days, usize)> {
    days(tokens, at, frame.today).filter(|(days, _)| days.is_one() && days.dated)
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
