//! Dates as they are written, months and years: "March 2nd", "the 5th of last month", "3/2/2026", "in 2025".

use jiff::civil::Date;

use super::yearly::{Which, yearly};
use super::{Days, plus_days};
use crate::recall::lexer::Token;
use crate::recall::time_expr::Precision;

/// 1 to 12.
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

/// "2nd", "second": 1 to 31.
pub(super) fn ordinal_day(word: &str) -> Option<i8> {
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

/// A year behind a date: "2025", "of 2025", "last year"; and the tokens taken.
pub(super) fn year_after(tokens: &[Token], at: usize, today: Date) -> Option<(i16, usize)> {
    let of = usize::from(tokens.get(at).is_some_and(|t| matches!(t.word.as_str(), "of" | "in")));
    let word = |i: usize| tokens.get(at + of + i).map(|t| t.word.as_str());
    if let Some(year) = word(0).and_then(year_number) {
        return Some((year, of + 1));
    }
    if word(1) != Some("year") {
        return None;
    }
    let years = match word(0)? {
        "last" => -1,
        "this" => 0,
        "next" => 1,
        _ => return None,
    };
    Some((today.year().checked_add(years)?, of + 2))
}

/// "the 2nd [of March [2026]]", "the 5th of last month".
pub(super) fn day_of_month(
    tokens: &[Token],
    at: usize,
    today: Date,
    day: i8,
) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let of = usize::from(word(2) == Some("of"));
    if let Some(month) = word(2 + of).and_then(month_number) {
        let (told, more) = year_after(tokens, at + 3 + of, today).unzip();
        let date = dated(today, month, day, told)?;
        return Some((Days::one(date), 3 + of + more.unwrap_or(0)));
    }
    if of == 1 && word(4) == Some("month") && matches!(word(3), Some("last" | "this")) {
        let first = today.first_of_month();
        let month = if word(3) == Some("last") { plus_days(first, -1)? } else { first };
        return Some((Days::one(Date::new(month.year(), month.month(), day).ok()?), 5));
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
pub(super) fn month_day(tokens: &[Token], at: usize, today: Date) -> Option<(Date, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let first = word(0)?;
    if let Some(month) = month_number(first)
        && let Some(second) = word(1)
    {
        let the = usize::from(second == "the");
        let day = if the == 1 { word(2).and_then(ordinal_day) } else { plain_day(second) }?;
        // "March 17:30" has no day; plain_day refuses it.
        let (told, more) = year_after(tokens, at + 2 + the, today).unzip();
        let date = dated(today, month, day, told)?;
        return Some((date, 2 + the + more.unwrap_or(0)));
    }
    if let Some(day) = plain_day(first) {
        let of = usize::from(word(1) == Some("of"));
        if let Some(month) = word(1 + of).and_then(month_number) {
            let (told, more) = year_after(tokens, at + 2 + of, today).unzip();
            let date = dated(today, month, day, told)?;
            return Some((date, 2 + of + more.unwrap_or(0)));
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

pub(super) fn iso_date(word: &str) -> Option<Date> {
    if word.len() != 10 || word.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    word.parse().ok()
}

/// A month of a year.
pub(super) fn month(year: i16, month: i8) -> Option<Days> {
    let first = Date::new(year, month, 1).ok()?;
    Some(Days::run(first, first.last_of_month(), Precision::Month))
}

/// All days of a year.
pub(super) fn year(year: i16) -> Option<Days> {
    let (first, last) = (Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?);
    Some(Days::run(first, last, Precision::Year))
}

/// "in March", "in March last year", "in 2026", "the year 2026".
pub(super) fn month_or_year(
    tokens: &[Token],
    at: usize,
    today: Date,
    preposition: Option<&str>,
) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    if word(0) == Some("the") && word(1) == Some("year") {
        return Some((year(word(2).and_then(year_number)?)?, 3));
    }
    let placed = preposition.is_some_and(|p| {
        matches!(
            p,
            "in" | "during"
                | "since"
                | "before"
                | "after"
                | "until"
                | "till"
                | "by"
                | "of"
                | "early"
                | "late"
                | "mid"
        )
    });
    if !placed {
        return None;
    }
    let token = tokens.get(at)?;
    if let Some(year_told) = year_number(&token.word) {
        return Some((year(year_told)?, 1));
    }
    let number = month_number(&token.word).filter(|_| token.capital || token.word.len() > 3)?;
    let (told, more) = year_after(tokens, at + 1, today).unzip();
    let days = yearly(today, Which::Latest, told, |year| month(year, number))?;
    Some((days, 1 + more.unwrap_or(0)))
}
