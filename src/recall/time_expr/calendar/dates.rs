//! Dates as they are written, months and years: "March 2nd", "the 5th of last month", "3/2/2026", "in 2025".

use jiff::civil::Date;

use super::yearly::{Which, yearly};
use super::{Days, Part, plus_days};
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

/// "2nd", "second", "2", "45th": the number of a day, whether any month has it or not.
fn day_number(word: &str) -> Option<i8> {
    let body = ["st", "nd", "rd", "th"].iter().find_map(|suffix| word.strip_suffix(suffix));
    let body = body.unwrap_or(word);
    ordinal_day(word).or_else(|| (body.len() <= 2).then(|| body.parse().ok()).flatten())
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

/// Whether the word behind "the 2nd" goes on with the sentence, and is not what is counted.
fn goes_on(word: &str) -> bool {
    const WORDS: &str = "of at in on by to until till from with without for around about between before after since \
        during while and or but who whom whose what where when why how which is was were did do does has had have can \
        could i you we he she it they there the this last early late anybody anyone anything somebody someone nobody \
        everybody";
    WORDS.split(' ').any(|one| one == word) || Part::from_word(word).is_some()
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
    // "the first person", "the 2nd floor" are no dates.
    let stops = tokens[at + 1].stop || tokens.get(at + 2).is_none_or(|t| t.capital);
    let free = stops || word(2).is_some_and(goes_on);
    if !ordinal.starts_with(|c: char| c.is_ascii_digit()) || !free {
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
    let (date, taken) = written(tokens, at, today)?;
    Some((date?, taken))
}

/// How many tokens from `at` on, the preposition included, name a day that the calendar does not have: "on 31 February",
/// "the 45th of May", "29.2.2025".
pub(in crate::recall::time_expr) fn unreal(
    tokens: &[Token],
    at: usize,
    today: Date,
) -> Option<usize> {
    let word = |i: usize| tokens.get(i).map(|t| t.word.as_str());
    let placed = matches!(
        word(at)?,
        "on" | "of" | "since" | "before" | "after" | "until" | "till" | "by" | "from"
    );
    let start = at + usize::from(placed);
    let start = start + usize::from(word(start) == Some("the"));
    let (date, taken) = written(tokens, start, today)?;
    let told = tokens.get(start..start + taken)?;
    // "It may 45": no month.
    let is_verb = |t: &Token| matches!(t.word.as_str(), "may" | "march" | "mar") && !t.capital;
    // "February 45 people": no day.
    let counts = month_number(&told.first()?.word).is_some()
        && !told.last()?.stop
        && tokens.get(start + taken).is_some_and(|t| !t.capital && !goes_on(&t.word));
    let free = !counts && !told.iter().any(|t| t.quoted || is_verb(t));
    (date.is_none() && free).then_some(start + taken - at)
}

/// A date as it is written, and the tokens taken; without the date where the calendar has no such day.
fn written(tokens: &[Token], at: usize, today: Date) -> Option<(Option<Date>, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let first = word(0)?;
    if let Some(month) = month_number(first)
        && !ends_a_part(&tokens[at])
        && let Some(second) = word(1)
    {
        let the = usize::from(second == "the");
        let day = if the == 1 { word(2).and_then(ordinal_day) } else { day_number(second) }?;
        // "March 17:30" has no day; day_number refuses it.
        let (told, more) = year_after(tokens, at + 2 + the, today).unzip();
        return Some((dated(today, month, day, told), 2 + the + more.unwrap_or(0)));
    }
    if let Some(day) = day_number(first) {
        let of = usize::from(word(1) == Some("of"));
        if let Some(month) = word(1 + of).and_then(month_number) {
            let (told, more) = year_after(tokens, at + 2 + of, today).unzip();
            return Some((dated(today, month, day, told), 2 + of + more.unwrap_or(0)));
        }
        return None;
    }
    if is_iso(first) {
        return Some((iso_date(first), 1));
    }
    let numbers = |separator: char| -> Option<[i16; 3]> {
        let parts: Vec<i16> =
            first.split(separator).map(str::parse).collect::<Result<_, _>>().ok()?;
        parts.try_into().ok()
    };
    if let Some([a, b, year]) = numbers('/').filter(|[.., y]| *y >= 1900) {
        let (month, day) = if a > 12 { (b, a) } else { (a, b) };
        return Some((numbered(year, month, day), 1));
    }
    let [day, month, year] = numbers('.').filter(|[.., y]| *y >= 1900)?;
    Some((numbered(year, month, day), 1))
}

/// "In March, 3 parcels came": what follows is no day of it. "Mar. 3" is one.
fn ends_a_part(month: &Token) -> bool {
    let whole = month.word.len() > 4 || matches!(month.word.as_str(), "may" | "june" | "july");
    month.stop && whole
}

fn numbered(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// The latest such date up to today, or in the year told.
fn dated(today: Date, month: i8, day: i8, year: Option<i16>) -> Option<Date> {
    if let Some(year) = year {
        return Date::new(year, month, day).ok();
    }
    // Around 2100 the last 29 February lies eight years back.
    (0..=8).find_map(|back| {
        Date::new(today.year().checked_sub(back)?, month, day).ok().filter(|date| *date <= today)
    })
}

/// Whether the word is written like "2026-03-02".
fn is_iso(word: &str) -> bool {
    word.len() == 10
        && word.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

pub(super) fn iso_date(word: &str) -> Option<Date> {
    is_iso(word).then(|| word.parse().ok()).flatten()
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
