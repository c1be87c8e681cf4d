//! Days and parts of days: "yesterday", "last Tuesday", "March 2nd", "this morning", "last week".

mod beside;
mod dates;
mod part;
mod range;
mod slice;
mod yearly;

use std::ops::Range;

use jiff::Span as Shift;
use jiff::civil::{Date, Weekday};

use super::Precision;
use super::number::{Unit, length};
use crate::recall::lexer::Token;
use dates::{
    day_of_month, iso_date, month, month_day, month_number, month_or_year, ordinal_day, year,
};
use range::preposition;
use yearly::{Which, feast, is_feast, is_season, places_feast, places_season, season, yearly};

pub(super) use dates::unreal;
pub(super) use part::Part;
pub(super) use range::{recurs, within_month};

/// By how many rounds what comes again and again is sought, at most: a 29 February may be eight years off, a Friday the
/// 13th fourteen months.
const MOST_ROUNDS: i64 = 14;

/// The day from which days are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Today {
    pub(super) date: Date,
    /// Summer is in January.
    pub(super) southern: bool,
    /// The evening before is not over for those who are awake.
    pub(super) small_hours: bool,
    /// Of what comes again and again the first that is not over is meant, instead of the latest.
    pub(super) coming: bool,
}

/// Days in a row, `[first, last]`, perhaps only a part of the one day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Days {
    pub(super) first: Date,
    pub(super) last: Date,
    pub(super) part: Option<Part>,
    /// The day was named; false for a part of the day alone ("in the morning").
    pub(super) dated: bool,
    pub(super) precision: Precision,
}

impl Days {
    fn one(date: Date) -> Self {
        Self { first: date, last: date, part: None, dated: true, precision: Precision::Day }
    }

    fn part(date: Date, part: Part) -> Self {
        Self { part: Some(part), precision: Precision::PartOfDay, ..Self::one(date) }
    }

    fn run(first: Date, last: Date, precision: Precision) -> Self {
        Self { first, last, precision, ..Self::one(first) }
    }

    /// A single day, or a part of one.
    pub(super) fn is_one(self) -> bool {
        self.first == self.last
    }

    /// Each day by itself; none where there are more than `most`.
    pub(super) fn each(self, most: usize) -> Vec<Self> {
        let mut found = Vec::new();
        let mut date = Some(self.first);
        while let Some(day) = date.filter(|day| *day <= self.last) {
            if found.len() == most {
                return Vec::new();
            }
            found.push(Self { first: day, last: day, precision: Precision::Day, ..self });
            date = plus_days(day, 1);
        }
        found
    }
}

/// That many days later.
pub(super) fn plus_days(date: Date, days: i64) -> Option<Date> {
    date.checked_add(Shift::new().try_days(days).ok()?).ok()
}

/// So many calendar units earlier; `None` for hours and less.
fn earlier(date: Date, unit: Unit, amount: i64) -> Option<Date> {
    date.checked_sub(unit.shift(amount)?).ok()
}

fn monday_of(date: Date) -> Option<Date> {
    plus_days(date, -i64::from(date.weekday().to_monday_zero_offset()))
}

fn weekend_of(saturday: Date) -> Option<Days> {
    Some(Days::run(saturday, plus_days(saturday, 1)?, Precision::Day))
}

fn month_before(date: Date) -> Option<Days> {
    let before = plus_days(date.first_of_month(), -1)?;
    month(before.year(), before.month())
}

/// Days named from token `at` on, and the tokens taken.
pub(super) fn days(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    slice::sliced(tokens, at, today)
        .or_else(|| beside::beside(tokens, at, today))
        .or_else(|| undated(tokens, at, today))
        .or_else(|| plain(tokens, at, today))
}

/// A part of the day whose day is named elsewhere, if at all: "in the morning", "at dawn", "all day".
fn undated(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let all_day = match (word(0)?, word(1), word(2)) {
        ("all", Some("day"), _) => Some(2),
        ("the", Some("whole" | "entire"), Some("day")) => Some(3),
        _ => None,
    };
    if let Some(taken) = all_day {
        return Some((Days { dated: false, ..Days::one(today.date) }, taken));
    }
    let (part, taken) = part::alone(tokens, at)?;
    if word(taken) == Some("of")
        && let Some((days, more)) = plain(tokens, at + taken + 1, today)
        && days.is_one()
        && days.dated
    {
        return Some((Days::part(days.first, part), taken + 1 + more));
    }
    if part::needs_day(tokens, at) {
        return None;
    }
    Some((Days { dated: false, ..Days::part(today.date, part) }, taken))
}

/// Days that stand for themselves, a part of the day behind them included.
fn plain(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    let (days, taken) = meant(tokens, at, today)?;
    if days.is_one() && days.part.is_none() && days.dated {
        return Some(match part::part(tokens, at + taken) {
            Some((part, more)) => (Days::part(days.first, part), taken + more),
            None => (days, taken),
        });
    }
    if days.precision == Precision::Year {
        // "last year at Christmas" is told against that year's end.
        let on =
            usize::from(tokens.get(at + taken).is_some_and(|t| {
                matches!(t.word.as_str(), "in" | "on" | "at" | "over" | "during")
            }));
        let then = Today { date: days.last.min(today.date), ..today };
        let within = of_the_year(tokens, at + taken + on, then)
            .filter(|(inner, _)| on == 1 && days.first <= inner.first);
        if let Some((inner, more)) = within {
            return Some((inner, taken + on + more));
        }
    }
    Some((days, taken))
}

/// Named days; of what is to come the first that are not over.
fn meant(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    let (days, taken) = named(tokens, at, today)?;
    let own = tokens.get(at..at + taken).unwrap_or_default();
    // "Sunday, 1 March" is of the year in which that is a Sunday.
    let exact = own.iter().any(|token| month_number(&token.word).is_some())
        && weekday(&tokens[at], Some("on")) == Some(days.first.weekday());
    if exact || !days.dated || days.last >= today.date {
        return Some((days, taken));
    }
    let later = |date: Date| {
        let found = named(tokens, at, Today { date, ..today });
        found.filter(|(later, _)| later.last >= today.date)
    };
    Some(ahead(tokens, at..at + taken, today, later).unwrap_or((days, taken)))
}

/// What `read` finds first, of what is to come, as of ever later days: those told come again and again.
fn ahead<T>(
    tokens: &[Token],
    told: Range<usize>,
    today: Today,
    read: impl Fn(Date) -> Option<T>,
) -> Option<T> {
    let unit = round(tokens, told).filter(|_| today.coming)?;
    // The latest up to a round from now is the first from now on.
    (1..=MOST_ROUNDS).find_map(|rounds| read(plus_days(earlier(today.date, unit, -rounds)?, -1)?))
}

/// After what time those days come again: weekdays and weekends after a week, days of a month after a month, dates without
/// a year after a year.
fn round(tokens: &[Token], told: Range<usize>) -> Option<Unit> {
    let own = tokens.get(told.clone())?;
    let says = |words: &[&str]| own.iter().any(|token| words.contains(&token.word.as_str()));
    let (first, last) = (own.first()?, own.last()?);
    let led = usize::from(matches!(first.word.as_str(), "this" | "the"));
    let of_week = last.word == "weekend" || weekday(last, Some("on")).is_some();
    if own.len() == 1 + led && of_week {
        return Some(Unit::Week);
    }
    let dated = own.iter().any(|token| token.word.len() == 4 && token.word.parse::<i16>().is_ok());
    if dated || says(&["last", "past", "this", "next", "year", "ago"]) {
        return None;
    }
    let recurs = |at: usize| {
        let word = tokens[at].word.as_str();
        month_number(word).is_some() || is_season(word) || is_feast(tokens, at)
    };
    if told.clone().any(recurs) {
        return Some(Unit::Year);
    }
    let numbered = |token: &Token| {
        token.word.starts_with(|c: char| c.is_ascii_digit()) && ordinal_day(&token.word).is_some()
    };
    own.iter().any(numbered).then_some(Unit::Month)
}

fn named(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let preposition = preposition(tokens, at);
    let date = today.date;
    let day = |days: i64, taken: usize| Some((Days::one(plus_days(date, days)?), taken));
    match word(0)? {
        "today" => return that_day(tokens, at, 1, date).or_else(|| day(0, 1)),
        "yesterday" | "yesterday's" => return day(-1, 1),
        "tomorrow" => return day(1, 1),
        "tonight" if today.small_hours => return Some((Days::part(date, Part::LastNight), 1)),
        "tonight" => return Some((Days::part(date, Part::Evening), 1)),
        "earlier" if word(1) == Some("today") => return day(0, 2),
        "this" | "same" if word(1) == Some("day") => {
            let that = that_day(tokens, at, 2, date);
            // "on this day"
            return that.or_else(|| day(0, 2).filter(|_| preposition == Some("on")));
        }
        "the" => return with_article(tokens, at, today, preposition),
        "all" => return lasting(word(1)?, date).map(|days| (days, 2)),
        "last" | "this" | "next" | "past" => return last_or_this(tokens, at, 0, today),
        _ => {}
    }
    if let Some(date) = word(0).and_then(iso_date) {
        return Some((Days::one(date), 1));
    }
    if let Some(weekday) = weekday(&tokens[at], preposition) {
        return on_weekday(tokens, at, date, weekday);
    }
    if word(0) == Some("weekend") && matches!(preposition, Some("at" | "on" | "over")) {
        return Some((weekend_of(latest_weekday(date, Weekday::Saturday, false)?)?, 1));
    }
    of_the_year(tokens, at, today).or_else(|| beside::days_ago(tokens, at, date))
}

/// Dates, months, seasons and feasts.
fn of_the_year(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    let token = tokens.get(at)?;
    let before = preposition(tokens, at);
    let spoken_of = before.is_some_and(|word| {
        matches!(word, "about" | "for" | "of" | "the" | "a" | "my" | "our" | "your" | "his" | "her")
    });
    // "Christmas Eve" tells a time without a preposition, unless it is what somebody speaks of.
    let tells_time = |taken: usize| {
        before.is_some_and(places_feast)
            || !spoken_of && matches!(tokens[at + taken - 1].word.as_str(), "eve" | "day")
    };
    month_day(tokens, at, today.date)
        .map(|(date, taken)| (Days::one(date), taken))
        .or_else(|| month_or_year(tokens, at, today.date, before))
        .or_else(|| {
            let placed = before.is_some_and(|word| places_season(word, &token.word));
            season(tokens, at, today, Which::Latest).filter(|_| placed)
        })
        .or_else(|| feast(tokens, at, today, Which::Latest).filter(|(_, taken)| tells_time(*taken)))
}

/// "the other day", "the 5th", "the weekend", "the summer", "the last Monday".
fn with_article(
    tokens: &[Token],
    at: usize,
    today: Today,
    preposition: Option<&str>,
) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let date = today.date;
    let run = |from: i64, to: i64, taken: usize| {
        Some((Days::run(plus_days(date, from)?, plus_days(date, to)?, Precision::Week), taken))
    };
    match (word(1)?, word(2)) {
        ("other", Some("day" | "night" | "morning" | "afternoon" | "evening")) => {
            return run(-10, -1, 3);
        }
        ("other", Some("week")) => return run(-35, -7, 3),
        ("same", Some("day")) => return that_day(tokens, at, 3, date),
        ("weekend", _) => {
            return Some((weekend_of(latest_weekday(date, Weekday::Saturday, false)?)?, 2));
        }
        ("year", Some(_)) => return month_or_year(tokens, at, date, preposition),
        ("whole" | "entire", Some(what)) => return lasting(what, date).map(|days| (days, 3)),
        ("last" | "past" | "next", Some(_)) => return last_or_this(tokens, at, 1, today),
        _ => {}
    }
    let placed = preposition.is_some_and(|p| {
        matches!(p, "on" | "of" | "since" | "before" | "after" | "until" | "till" | "by" | "around")
    });
    if placed
        && let Some(day) = word(1).and_then(ordinal_day)
        && word(2) != Some("time")
    {
        return day_of_month(tokens, at, date, day);
    }
    let season = season(tokens, at + 1, today, Which::Latest)?;
    preposition
        .is_some_and(|before| places_season(before, word(1).unwrap_or_default()))
        .then_some((season.0, season.1 + 1))
}

/// The week, month or year that lasts.
fn lasting(what: &str, date: Date) -> Option<Days> {
    match what {
        "week" => {
            let monday = monday_of(date)?;
            Some(Days::run(monday, plus_days(monday, 6)?, Precision::Week))
        }
        "month" => month(date.year(), date.month()),
        "year" => year(date.year()),
        _ => None,
    }
}

/// "this day last year", "today two weeks ago": `skip` tokens stand before "last" or the number.
fn that_day(tokens: &[Token], at: usize, skip: usize, today: Date) -> Option<(Days, usize)> {
    let (date, taken) = back(tokens, at + skip, today)?;
    Some((Days::one(date), skip + taken))
}

/// One unit or so many before a date: "last year", "two weeks ago", "yesterday"; and the tokens taken.
pub(super) fn back(tokens: &[Token], at: usize, today: Date) -> Option<(Date, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let last = match (word(0)?, word(1)) {
        ("last", Some("week")) => Some(Unit::Week),
        ("last", Some("month")) => Some(Unit::Month),
        ("last", Some("year")) => Some(Unit::Year),
        _ => None,
    };
    if let Some(unit) = last {
        return Some((earlier(today, unit, 1)?, 2));
    }
    let told = length(tokens, at, false)?;
    (word(told.taken) == Some("ago")).then_some(())?;
    Some((earlier(today, told.unit, told.whole()?)?, told.taken + 1))
}

fn last_or_this(tokens: &[Token], at: usize, skip: usize, today: Today) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + skip + i).map(|t| t.word.as_str());
    let (lead, what) = (word(0)?, word(1)?);
    let date = today.date;
    let taken = skip + 2;
    let which = Which::from_word(lead)?;
    if let Some(part) = Part::from_word(what) {
        return match (lead, part) {
            ("last", Part::Night) => Some((Days::part(date, Part::LastNight), taken)),
            ("last", part) => Some((Days::part(plus_days(date, -1)?, part), taken)),
            ("this", part) if today.small_hours && !today.coming && part.afternoon(1) => {
                Some((Days::part(plus_days(date, -1)?, part), taken))
            }
            ("this", part) => Some((Days::part(date, part), taken)),
            _ => None,
        };
    }
    if let Some(day) = weekday(tokens.get(at + skip + 1)?, Some("on")) {
        let date = if which == Which::Next {
            plus_days(latest_weekday(date, day, false)?, 7)?
        } else {
            latest_weekday(date, day, which == Which::Last)?
        };
        return Some((Days::one(date), taken));
    }
    let monday = monday_of(date)?;
    let days = match (what, which) {
        ("weekend", Which::This) => weekend_of(plus_days(monday, 5)?)?,
        ("weekend", Which::Next) => weekend_of(plus_days(monday, 12)?)?,
        ("weekend", _) => weekend_of(plus_days(monday, -2)?)?,
        (what, Which::This) if lasting(what, date).is_some() => lasting(what, date)?,
        ("week", _) if lead == "last" => lasting(what, plus_days(monday, -7)?)?,
        ("month", _) if lead == "last" => month_before(date)?,
        ("year", _) if lead == "last" => year(date.year().checked_sub(1)?)?,
        ("week", Which::Next) => lasting(what, plus_days(monday, 7)?)?,
        ("month", Which::Next) => lasting(what, plus_days(date.last_of_month(), 1)?)?,
        ("year", Which::Next) => year(date.year().checked_add(1)?)?,
        // "Is this March?", but not "this may be".
        (name, which)
            if month_number(name).is_some()
                && (which == Which::Last || tokens[at + skip + 1].capital) =>
        {
            let number = month_number(name)?;
            yearly(date, which, None, |year| month(year, number))?
        }
        _ => {
            let at = at + skip + 1;
            let found =
                season(tokens, at, today, which).or_else(|| feast(tokens, at, today, which));
            return found.map(|(days, more)| (days, skip + 1 + more));
        }
    };
    Some((days, taken))
}

/// A weekday, with the date that may follow: "Friday the 13th", "Monday, 2 March".
fn on_weekday(tokens: &[Token], at: usize, today: Date, weekday: Weekday) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let the = usize::from(word(1) == Some("the"));
    let next = word(1 + the);
    if next.is_some_and(|w| matches!(w, "mornings" | "afternoons" | "evenings" | "nights")) {
        return None;
    }
    let date = match next.and_then(ordinal_day) {
        Some(day) if the == 1 => day_of_month(tokens, at + 1, today, day),
        _ => None,
    };
    let date = date
        .filter(|(_, taken)| *taken > 2)
        .or_else(|| month_day(tokens, at + 1, today).map(|(date, taken)| (Days::one(date), taken)));
    if let Some((days, taken)) = date {
        return Some((days, 1 + taken));
    }
    let numbered = next.filter(|w| w.starts_with(|c: char| c.is_ascii_digit()));
    if let Some(day) = numbered.and_then(ordinal_day) {
        return Some((Days::one(weekday_numbered(today, weekday, day)?), 2 + the));
    }
    Some((Days::one(latest_weekday(today, weekday, false)?), 1))
}

/// The latest such weekday with that number in its month.
fn weekday_numbered(today: Date, weekday: Weekday, day: i8) -> Option<Date> {
    /// A weekday comes back to every number within that many months.
    const MONTHS: i64 = 120;
    (0..MONTHS).find_map(|months| {
        let month = earlier(today.first_of_month(), Unit::Month, months)?;
        let date = Date::new(month.year(), month.month(), day).ok()?;
        (date <= today && date.weekday() == weekday).then_some(date)
    })
}

fn weekday(token: &Token, preposition: Option<&str>) -> Option<Weekday> {
    let placed = preposition.is_some_and(|p| {
        matches!(p, "on" | "last" | "this" | "next" | "since" | "before" | "after")
    });
    Some(match token.word.trim_end_matches("'s") {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        "mon" if placed => Weekday::Monday,
        "tue" | "tues" if placed => Weekday::Tuesday,
        "wed" if placed => Weekday::Wednesday,
        "thu" | "thur" | "thurs" if placed => Weekday::Thursday,
        "fri" if placed => Weekday::Friday,
        "sat" if placed && token.capital => Weekday::Saturday,
        "sun" if placed && token.capital => Weekday::Sunday,
        _ => return None,
    })
}

/// The latest such day up to today; before today when `strict`.
fn latest_weekday(today: Date, day: Weekday, strict: bool) -> Option<Date> {
    let back = i64::from(today.weekday().since(day));
    plus_days(today, -(if strict && back == 0 { 7 } else { back }))
}
