//! What comes once a year: seasons and feasts.
//!
//! Feasts are those of a fixed day, and those counted from Easter (Meeus, Astronomical Algorithms, 1991, ch. 8).
//! What falls on another day in every country is left unread.

use jiff::civil::Date;

use super::dates::year_after;
use super::{Days, Today, plus_days};
use crate::recall::lexer::Token;
use crate::recall::time_expr::Precision;

/// Which of what comes again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The latest that has begun.
    Latest,
    /// "last": the latest that is over.
    Last,
    /// "this": the one that lasts, else this year's.
    This,
    /// "next".
    Next,
}

impl Which {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "last" | "past" => Self::Last,
            "this" => Self::This,
            "next" => Self::Next,
            _ => return None,
        })
    }
}

/// Of what comes once a year the one that is meant; in the year told, if one is.
pub(super) fn yearly(
    today: Date,
    which: Which,
    year: Option<i16>,
    of: impl Fn(i16) -> Option<Days>,
) -> Option<Days> {
    if let Some(year) = year {
        return of(year);
    }
    let this = today.year();
    let mut near = (-2..=1).filter_map(|years| of(this.checked_add(years)?));
    match which {
        Which::Latest => near.rfind(|days| days.first <= today),
        Which::Last => near.rfind(|days| days.last < today),
        Which::This => {
            near.find(|days| days.first <= today && today <= days.last).or_else(|| of(this))
        }
        Which::Next => near.find(|days| days.first > today),
    }
}

/// The first month of a season, north of the equator.
fn first_month(season: &str) -> Option<i8> {
    Some(match season {
        "spring" => 3,
        "summer" => 6,
        "autumn" | "fall" => 9,
        "winter" => 12,
        _ => return None,
    })
}

/// Whether the word names a season.
pub(super) fn is_season(word: &str) -> bool {
    first_month(word).is_some()
}

/// "spring", "summer of 2025", "winter last year" from token `at` on, and the tokens taken.
pub(super) fn season(
    tokens: &[Token],
    at: usize,
    today: Today,
    which: Which,
) -> Option<(Days, usize)> {
    let north = first_month(&tokens.get(at)?.word)?;
    let first = if today.southern { (north + 5) % 12 + 1 } else { north };
    let (year, more) = year_after(tokens, at + 1, today.date).unzip();
    let of = |year: i16| {
        let start = Date::new(year, first, 1).ok()?;
        let after = start.checked_add(jiff::Span::new().try_months(3).ok()?).ok()?;
        Some(Days::run(start, plus_days(after, -1)?, Precision::Month))
    };
    Some((yearly(today.date, which, year, of)?, 1 + more.unwrap_or(0)))
}

/// Words before a season that has no "last" or "this".
pub(super) fn places_season(before: &str, season: &str) -> bool {
    // "after the fall" may be anybody's.
    matches!(before, "in" | "during" | "over" | "of" | "early" | "late" | "mid")
        || season != "fall"
            && matches!(before, "since" | "before" | "after" | "until" | "till" | "by")
}

/// The day of a feast in any year.
#[derive(Clone, Copy)]
enum Feast {
    /// Month and day.
    Fixed(i8, i8),
    /// Days after Easter Sunday.
    Easter(i64),
}

/// Names without apostrophes, longer ones before their beginnings.
const FEASTS: [(&str, Feast); 31] = [
    ("christmas eve", Feast::Fixed(12, 24)),
    ("christmas day", Feast::Fixed(12, 25)),
    ("christmas", Feast::Fixed(12, 25)),
    ("xmas", Feast::Fixed(12, 25)),
    ("boxing day", Feast::Fixed(12, 26)),
    ("new years eve", Feast::Fixed(12, 31)),
    ("new year eve", Feast::Fixed(12, 31)),
    ("new years day", Feast::Fixed(1, 1)),
    ("new year day", Feast::Fixed(1, 1)),
    ("new years", Feast::Fixed(1, 1)),
    ("new year", Feast::Fixed(1, 1)),
    ("epiphany", Feast::Fixed(1, 6)),
    ("valentines day", Feast::Fixed(2, 14)),
    ("valentines", Feast::Fixed(2, 14)),
    ("st patricks day", Feast::Fixed(3, 17)),
    ("saint patricks day", Feast::Fixed(3, 17)),
    ("april fools day", Feast::Fixed(4, 1)),
    ("april fools", Feast::Fixed(4, 1)),
    ("may day", Feast::Fixed(5, 1)),
    ("halloween", Feast::Fixed(10, 31)),
    ("all saints day", Feast::Fixed(11, 1)),
    ("ash wednesday", Feast::Easter(-46)),
    ("palm sunday", Feast::Easter(-7)),
    ("good friday", Feast::Easter(-2)),
    ("easter sunday", Feast::Easter(0)),
    ("easter monday", Feast::Easter(1)),
    ("easter", Feast::Easter(0)),
    ("ascension day", Feast::Easter(39)),
    ("whit sunday", Feast::Easter(49)),
    ("whit monday", Feast::Easter(50)),
    ("pentecost", Feast::Easter(49)),
];

/// Whether the name of a feast begins with token `at`.
pub(super) fn is_feast(tokens: &[Token], at: usize) -> bool {
    named(tokens, at).is_some()
}

fn named(tokens: &[Token], at: usize) -> Option<(&'static str, Feast)> {
    let names = |name: &str| {
        let mut words = 0;
        name.split(' ').all(|part| {
            let same = tokens
                .get(at + words)
                .is_some_and(|t| !t.quoted && t.word.replace('\'', "") == part);
            words += 1;
            same
        })
    };
    FEASTS.iter().find(|(name, _)| names(name)).copied()
}

/// A feast from token `at` on, and the tokens taken. "At" Christmas and "last" Easter are more days than "on" it.
pub(super) fn feast(
    tokens: &[Token],
    at: usize,
    today: Today,
    which: Which,
) -> Option<(Days, usize)> {
    let (name, feast) = named(tokens, at)?;
    let taken = name.split(' ').count();
    let whole = at.checked_sub(1).is_some_and(|i| {
        matches!(
            tokens[i].word.as_str(),
            "at" | "over" | "during" | "around" | "last" | "this" | "next"
        )
    });
    let (before, after) = match name {
        "christmas" | "xmas" if whole => (-1, 1),
        "easter" if whole => (-2, 1),
        "new years" | "new year" if whole => (-1, 0),
        _ => (0, 0),
    };
    let of = |year: i16| {
        let day = match feast {
            Feast::Fixed(month, day) => Date::new(year, month, day).ok()?,
            Feast::Easter(days) => plus_days(easter(year)?, days)?,
        };
        Some(Days::run(plus_days(day, before)?, plus_days(day, after)?, Precision::Day))
    };
    let (year, more) = year_after(tokens, at + taken, today.date).unzip();
    Some((yearly(today.date, which, year, of)?, taken + more.unwrap_or(0)))
}

/// Whether the word before a feast lets it tell a time: "for Christmas" and "about Easter" do not.
pub(super) fn places_feast(before: &str) -> bool {
    matches!(
        before,
        "on" | "at"
            | "over"
            | "during"
            | "since"
            | "before"
            | "after"
            | "until"
            | "till"
            | "by"
            | "around"
            | "early"
            | "late"
    )
}

/// Easter Sunday of a year of the Gregorian calendar.
fn easter(year: i16) -> Option<Date> {
    let year_number = i32::from(year);
    let (a, b, c) = (year_number % 19, year_number / 100, year_number % 100);
    let (d, e) = (b / 4, b % 4);
    let g = (b - (b + 8) / 25 + 1) / 3;
    let h = (19 * a + b - d - g + 15) % 30;
    let l = (32 + 2 * e + 2 * (c / 4) - h - c % 4) % 7;
    let m = (a + 11 * h + 22 * l) / 451;
    let sum = h + l - 7 * m + 114;
    Date::new(year, i8::try_from(sum / 31).ok()?, i8::try_from(sum % 31 + 1).ok()?).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn easter_is_where_the_calendar_has_it() {
        let table = [
            (1961, 4, 2),
            (2000, 4, 23),
            (2008, 3, 23),
            (2019, 4, 21),
            (2024, 3, 31),
            (2025, 4, 20),
            (2026, 4, 5),
            (2038, 4, 25),
        ];
        for (year, month, day) in table {
            assert_eq!(easter(year), Date::new(year, month, day).ok(), "{year}");
        }
    }
}
