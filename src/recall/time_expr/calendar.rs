//! Days and parts of days: "yesterday", "last Tuesday", "March 2nd", "this morning", "last week".

use jiff::Span as Shift;
use jiff::civil::{Date, Time, Weekday};

use super::Precision;
use super::number::{Unit, length, number};
use crate::recall::lexer::Token;

/// A part of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    EarlyMorning,
    Morning,
    Afternoon,
    Evening,
    Night,
    /// The night that ends on the day.
    LastNight,
}

impl Part {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "morning" => Self::Morning,
            "afternoon" => Self::Afternoon,
            "evening" => Self::Evening,
            "night" => Self::Night,
            _ => return None,
        })
    }

    /// First and last time of day, and on which day each lies against the named one.
    pub(super) fn borders(self) -> ((i64, Time), (i64, Time)) {
        let at = |hour: i8| Time::new(hour, 0, 0, 0).unwrap_or(Time::MIN);
        match self {
            Self::EarlyMorning => ((0, at(4)), (0, at(9))),
            Self::Morning => ((0, at(4)), (0, at(12))),
            Self::Afternoon => ((0, at(12)), (0, at(18))),
            Self::Evening => ((0, at(17)), (1, at(0))),
            Self::Night => ((0, at(20)), (1, at(6))),
            Self::LastNight => ((-1, at(18)), (0, at(6))),
        }
    }

    /// Whether a clock time without am or pm in this part means the second half of the day.
    pub(super) fn afternoon(self, hour: u8) -> bool {
        match self {
            Self::EarlyMorning | Self::Morning => false,
            Self::Afternoon | Self::Evening => true,
            Self::Night | Self::LastNight => (6..12).contains(&hour),
        }
    }
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
}

/// That many days later.
pub(super) fn plus_days(date: Date, days: i64) -> Option<Date> {
    date.checked_add(Shift::new().try_days(days).ok()?).ok()
}

/// Days named from token `at` on, and the tokens taken. `after` is the word before, where it matters.
pub(super) fn days(tokens: &[Token], at: usize, today: Date) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let preposition = at.checked_sub(1).and_then(|i| tokens.get(i)).map(|t| t.word.as_str());
    let first = word(0)?;
    let with_part = |date: Date, taken: usize| {
        let (part, more) = part_after(tokens, at + taken);
        match part {
            Some(part) => (Days::part(date, part), taken + more),
            None => (Days::one(date), taken),
        }
    };
    match first {
        "today" => return Some(with_part(today, 1)),
        "yesterday" | "yesterday's" => return Some(with_part(plus_days(today, -1)?, 1)),
        "tomorrow" => return Some(with_part(plus_days(today, 1)?, 1)),
        "tonight" => return Some((Days::part(today, Part::Evening), 1)),
        "the" => {
            if word(1) == Some("day") && word(2) == Some("before") && word(3) == Some("yesterday") {
                return Some(with_part(plus_days(today, -2)?, 4));
            }
            if preposition
                .is_some_and(|p| matches!(p, "on" | "since" | "before" | "after" | "until"))
                && let Some(day) = word(1).and_then(ordinal_day)
                && word(2) != Some("time")
            {
                return day_of_month(tokens, at, today, day);
            }
            // "the morning" after "in", "during", "since"
            if preposition.is_some_and(|p| matches!(p, "in" | "during" | "since" | "over"))
                && let (Some(part), more) = part_after(tokens, at)
            {
                return Some((Days { dated: false, ..Days::part(today, part) }, more));
            }
            if let (Some("last"), Some(_)) = (word(1), word(2)) {
                return last_or_this(tokens, at, 1, today);
            }
            return None;
        }
        "last" | "this" | "next" | "past" => return last_or_this(tokens, at, 0, today),
        "earlier" if word(1) == Some("today") => return Some((Days::one(today), 2)),
        _ => {}
    }
    if let Some(date) = iso_date(first) {
        return Some(with_part(date, 1));
    }
    if let Some(weekday) = weekday(&tokens[at], preposition) {
        let date = latest_weekday(today, weekday, false)?;
        return Some(with_part(date, 1));
    }
    month_day(tokens, at, today).map(|(date, taken)| with_part(date, taken)).or_else(|| {
        month_or_year(tokens, at, today, preposition).or_else(|| days_ago(tokens, at, today))
    })
}

/// "morning", "in the evening", "at night".
fn part_after(tokens: &[Token], at: usize) -> (Option<Part>, usize) {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let mut skip = match (word(0), word(1)) {
        (Some("in" | "during"), Some("the")) => 2,
        (Some("at"), Some("night")) => 1,
        (Some("the"), _) => 1,
        _ => 0,
    };
    let early = word(skip) == Some("early");
    skip += usize::from(early || word(skip) == Some("late"));
    match word(skip).and_then(Part::from_word) {
        Some(Part::Morning) if early => (Some(Part::EarlyMorning), skip + 1),
        Some(part) => (Some(part), skip + 1),
        None => (None, 0),
    }
}

fn last_or_this(tokens: &[Token], at: usize, skip: usize, today: Date) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + skip + i).map(|t| t.word.as_str());
    let (lead, what) = (word(0)?, word(1)?);
    let taken = skip + 2;
    let last = lead == "last" || lead == "past";
    if let Some(part) = Part::from_word(what) {
        return match (lead, part) {
            ("last", Part::Night) => Some((Days::part(today, Part::LastNight), taken)),
            ("last", part) => Some((Days::part(plus_days(today, -1)?, part), taken)),
            ("this", part) => Some((Days::part(today, part), taken)),
            _ => None,
        };
    }
    if let Some(day) = weekday(tokens.get(at + skip + 1)?, Some("on")) {
        let date = if lead == "next" {
            plus_days(latest_weekday(today, day, false)?, 7)?
        } else {
            latest_weekday(today, day, last)?
        };
        let (part, more) = part_after(tokens, at + taken);
        return Some(match part {
            Some(part) => (Days::part(date, part), taken + more),
            None => (Days::one(date), taken),
        });
    }
    let monday = plus_days(today, -i64::from(today.weekday().to_monday_zero_offset()))?;
    let days = match what {
        "week" if lead == "this" => Days::run(monday, plus_days(monday, 6)?, Precision::Week),
        "week" if lead == "last" => {
            Days::run(plus_days(monday, -7)?, plus_days(monday, -1)?, Precision::Week)
        }
        "weekend" => {
            let back = if lead == "this" { 0 } else { -7 };
            Days::run(plus_days(monday, 5 + back)?, plus_days(monday, 6 + back)?, Precision::Day)
        }
        "month" if lead == "this" => month(today.year(), today.month())?,
        "month" if lead == "last" => {
            let before = plus_days(today.first_of_month(), -1)?;
            month(before.year(), before.month())?
        }
        "year" if lead == "this" => year(today.year())?,
        "year" if lead == "last" => year(today.year().checked_sub(1)?)?,
        name if last && month_number(name).is_some() => {
            latest_month(today, month_number(name)?, true)?
        }
        _ => return None,
    };
    Some((days, taken))
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

pub(super) fn month_number(word: &str) -> Option<i8> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    NAMES
        .iter()
        .position(|name| {
            *name == word
                || word.len() == 3 && name.starts_with(word)
                || word == "sept" && *name == "september"
        })
        .map(|i| i as i8 + 1)
}

fn ordinal_day(word: &str) -> Option<i8> {
    const WORDS: [&str; 31] = [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
        "twentieth",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "thirtieth",
        "",
    ];
    if let Some(at) = WORDS.iter().position(|w| !w.is_empty() && *w == word) {
        return Some(at as i8 + 1);
    }
    let body = ["st", "nd", "rd", "th"].iter().find_map(|suffix| word.strip_suffix(suffix))?;
    body.parse().ok().filter(|day| (1..=31).contains(day))
}

fn plain_day(word: &str) -> Option<i8> {
    ordinal_day(word).or_else(|| {
        (word.len() <= 2).then(|| word.parse().ok()).flatten().filter(|day| (1..=31).contains(day))
    })
}

fn year_number(word: &str) -> Option<i16> {
    (word.len() == 4).then(|| word.parse().ok()).flatten().filter(|y| (1900..=2200).contains(y))
}

/// "the 2nd [of March [2026]]".
fn day_of_month(tokens: &[Token], at: usize, today: Date, day: i8) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let of = usize::from(word(2) == Some("of"));
    if let Some(month) = word(2 + of).and_then(month_number) {
        let told = word(3 + of).and_then(year_number);
        let date = dated(today, month, day, told)?;
        return Some((Days::one(date), 3 + of + usize::from(told.is_some())));
    }
    let ordinal = word(1)?;
    // "the first person" is no date.
    if !ordinal.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut month = today.first_of_month();
    for _ in 0..12 {
        if let Ok(date) = Date::new(month.year(), month.month(), day)
            && date <= today
        {
            return Some((Days::one(date), 2));
        }
        month = plus_days(month, -1)?.first_of_month();
    }
    None
}

/// "March 2nd", "2 March 2026", "2nd of March", "3/2/2026", "2.3.2026".
fn month_day(tokens: &[Token], at: usize, today: Date) -> Option<(Date, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let first = word(0)?;
    if let Some(month) = month_number(first)
        && let Some(second) = word(1)
    {
        let the = usize::from(second == "the");
        let day = if the == 1 { word(2).and_then(ordinal_day) } else { plain_day(second) }?;
        // "March 17:30" has no day; plain_day refuses it.
        let told = word(2 + the).and_then(year_number);
        let date = dated(today, month, day, told)?;
        return Some((date, 2 + the + usize::from(told.is_some())));
    }
    if let Some(day) = plain_day(first) {
        let of = usize::from(word(1) == Some("of"));
        if let Some(month) = word(1 + of).and_then(month_number) {
            let told = word(2 + of).and_then(year_number);
            let date = dated(today, month, day, told)?;
            return Some((date, 2 + of + usize::from(told.is_some())));
        }
        return None;
    }
    let numbers = |separator: char| -> Option<[i16; 3]> {
        let parts: Vec<i16> =
            first.split(separator).map(str::parse).collect::<Result<_, _>>().ok()?;
        parts.try_into().ok()
    };
    if let Some([a, b, year]) = numbers('/').filter(|[.., y]| *y >= 1900) {
        let (month, day) = if a > 12 { (b, a) } else { (a, b) };
        return Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?)
            .ok()
            .map(|d| (d, 1));
    }
    let [day, month, year] = numbers('.').filter(|[.., y]| *y >= 1900)?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok().map(|d| (d, 1))
}

/// The latest such date up to today, or in the year told.
fn dated(today: Date, month: i8, day: i8, year: Option<i16>) -> Option<Date> {
    if let Some(year) = year {
        return Date::new(year, month, day).ok();
    }
    (0..8).find_map(|back| {
        Date::new(today.year().checked_sub(back)?, month, day).ok().filter(|date| *date <= today)
    })
}

fn iso_date(word: &str) -> Option<Date> {
    if word.len() != 10 || word.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    word.parse().ok()
}

fn month(year: i16, month: i8) -> Option<Days> {
    let first = Date::new(year, month, 1).ok()?;
    Some(Days::run(first, first.last_of_month(), Precision::Month))
}

fn year(year: i16) -> Option<Days> {
    let (first, last) = (Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?);
    Some(Days::run(first, last, Precision::Year))
}

fn latest_month(today: Date, number: i8, strict: bool) -> Option<Days> {
    let this_year = number < today.month() || !strict && number == today.month();
    month(if this_year { today.year() } else { today.year().checked_sub(1)? }, number)
}

/// "in March", "in March 2026", "in 2026".
fn month_or_year(
    tokens: &[Token],
    at: usize,
    today: Date,
    preposition: Option<&str>,
) -> Option<(Days, usize)> {
    let placed = preposition.is_some_and(|p| {
        matches!(p, "in" | "during" | "since" | "before" | "after" | "until" | "of")
    });
    if !placed {
        return None;
    }
    let token = tokens.get(at)?;
    if let Some(year_told) = year_number(&token.word) {
        return Some((year(year_told)?, 1));
    }
    let number = month_number(&token.word).filter(|_| token.capital || token.word.len() > 3)?;
    match tokens.get(at + 1).and_then(|t| year_number(&t.word)) {
        Some(year) => Some((month(year, number)?, 2)),
        None => Some((latest_month(today, number, false)?, 1)),
    }
}

/// "two days ago", "a week ago", "3 months ago".
fn days_ago(tokens: &[Token], at: usize, today: Date) -> Option<(Days, usize)> {
    let told = length(tokens, at, false)?;
    if tokens.get(at + told.taken).is_none_or(|t| t.word != "ago") {
        return None;
    }
    let (amount, _) = number(tokens, at).filter(|(n, _)| n.fract() == 0.0 && *n <= 100_000.0)?;
    let amount = amount as i64;
    let taken = told.taken + 1;
    let date = match told.unit {
        Unit::Day => plus_days(today, -amount)?,
        Unit::Week => plus_days(today, -7 * amount)?,
        Unit::Month => today.checked_sub(Shift::new().try_months(amount).ok()?).ok()?,
        Unit::Year => today.checked_sub(Shift::new().try_years(amount).ok()?).ok()?,
        _ => return None,
    };
    Some((Days::one(date), taken))
}
