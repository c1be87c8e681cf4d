//! Ends of ranges: "from March to May", "between Christmas and New Year". What comes again and again is told without a
//! year there, and the first end is the one before the other.

use jiff::civil::Date;

use super::dates::{month_day, month_number, ordinal_day};
use super::yearly::{is_feast, is_season};
use super::{Days, Today, ahead, weekday};
use crate::recall::lexer::Token;

/// Words that one end of a range takes, at most.
const LONGEST: usize = 5;

/// The word before a time. An end of a range stands like what follows "since".
pub(super) fn preposition(tokens: &[Token], at: usize) -> Option<&str> {
    let word = |i: usize| tokens.get(i).map(|t| t.word.as_str());
    let last = at.checked_sub(1)?;
    let before = word(last)?;
    let is_end = match before {
        "between" | "from" => (at + 1..at + LONGEST).any(|joint| {
            word(joint).is_some_and(|word| joins(before, word))
                && (joint + 1..joint + LONGEST).any(|i| recurs(tokens, i))
        }),
        joint => (last.saturating_sub(LONGEST)..last).any(|open| {
            word(open).is_some_and(|word| joins(word, joint))
                && (open + 1..last).any(|i| recurs(tokens, i))
        }),
    };
    Some(if is_end { "since" } else { before })
}

/// Whether the second end of what begins with that word begins with the other.
fn joins(open: &str, joint: &str) -> bool {
    match open {
        "between" => joint == "and",
        "from" => matches!(joint, "to" | "until" | "till"),
        _ => false,
    }
}

/// Whether token `at` names a day, a month or a season that comes again and again, or a number of one.
pub(in crate::recall::time_expr) fn recurs(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| {
        let number = token.word.starts_with(|c: char| c.is_ascii_digit());
        weekday(token, Some("on")).is_some()
            || month_number(&token.word).is_some()
            || is_season(&token.word)
            || is_feast(tokens, at)
            || number && (ordinal_day(&token.word).is_some() || token.word.len() == 4)
    })
}

/// Days of one month, the first or the last without its name: "17 and 21 November", "the 17th to the 21st of November",
/// "November 17 and 21"; and the tokens taken. Of what is to come the first that are not over.
pub(in crate::recall::time_expr) fn within_month(
    tokens: &[Token],
    at: usize,
    today: Today,
) -> Option<(Days, Days, usize)> {
    let found = days_of_month(tokens, at, today.date)?;
    let is_over = |found: &(Days, Days, usize)| found.1.last < today.date;
    if !is_over(&found) {
        return Some(found);
    }
    let later = |date: Date| days_of_month(tokens, at, date).filter(|found| !is_over(found));
    Some(ahead(tokens, at..at + found.2, today, later).unwrap_or(found))
}

/// The same, the latest that have begun.
fn days_of_month(tokens: &[Token], at: usize, today: Date) -> Option<(Days, Days, usize)> {
    let word = |i: usize| tokens.get(i).map(|t| t.word.as_str());
    let the = |i: usize| usize::from(word(i) == Some("the"));
    let joint = |i: usize| matches!(word(i), Some("and" | "to" | "until" | "till"));
    let days = |first: Date, last: Date, end: usize| {
        (first < last).then(|| (Days::one(first), Days::one(last), end - at))
    };
    if month_number(word(at)?).is_some() {
        let (first, taken) = month_day(tokens, at, today)?;
        let number = at + taken + 1 + the(at + taken + 1);
        let last = Date::new(first.year(), first.month(), day(word(number)?)?).ok()?;
        let is_hour = matches!(word(number + 1), Some("am" | "pm" | "o'clock" | "oclock"));
        return days(first, last, number + 1).filter(|_| joint(at + taken) && !is_hour);
    }
    let number = at + the(at);
    let first = day(word(number)?)?;
    let written = number + 2 + the(number + 2);
    let of = usize::from(word(written + 1) == Some("of"));
    let named =
        day(word(written)?).is_some() && word(written + 1 + of).and_then(month_number).is_some();
    if !joint(number + 1) || !named {
        return None;
    }
    let (last, taken) = month_day(tokens, written, today)?;
    // Of days around today the last may still come.
    let year_told = taken > 2 + of;
    let begun = Date::new(today.year(), last.month(), first).is_ok_and(|date| date <= today);
    let year = if begun && !year_told { today.year() } else { last.year() };
    let of_year = |day: i8| Date::new(year, last.month(), day).ok();
    days(of_year(first)?, of_year(last.day())?, written + taken)
}

/// "17", "17th": the number of a day of some month.
fn day(word: &str) -> Option<i8> {
    let plain = || word.parse::<i8>().ok().filter(|day| (1..=31).contains(day) && word.len() <= 2);
    ordinal_day(word).or_else(plain)
}
