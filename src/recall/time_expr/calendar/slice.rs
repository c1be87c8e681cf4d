//! Pieces of weeks, months and years: "early March", "the end of last month", "the first Friday of the month".

use jiff::civil::Date;

use super::dates::{month, ordinal_day, year};
use super::{
    Days, Part, Today, beside, earlier, monday_of, plain, plus_days, undated, weekday, weekend_of,
};
use crate::recall::lexer::Token;
use crate::recall::time_expr::Precision;
use crate::recall::time_expr::number::{Unit, length};

/// Which piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slice {
    Early,
    Middle,
    Late,
    Start,
    End,
    FirstHalf,
    SecondHalf,
}

/// A piece of days from token `at` on, and the tokens taken.
pub(super) fn sliced(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    if let Some(slice) = shade(word(0)?) {
        let skip = 1 + usize::from(word(1) == Some("in"));
        let (days, taken) = whole(tokens, at + skip, today)?;
        return Some((cut(days, slice)?, skip + taken));
    }
    let the = usize::from(word(0) == Some("the"));
    let very = usize::from(word(the) == Some("very"));
    let noun = the + very;
    if let Some((slice, words)) = border(word(noun)?, word(noun + 1)) {
        let of = noun + words;
        if word(of) != Some("of") {
            return None;
        }
        let (days, taken) = whole(tokens, at + of + 1, today)?;
        return Some((cut(days, slice)?, of + 1 + taken));
    }
    counted(tokens, at + the, today).map(|(days, taken)| (days, the + taken))
}

fn shade(word: &str) -> Option<Slice> {
    Some(match word {
        "early" => Slice::Early,
        "mid" => Slice::Middle,
        "late" => Slice::Late,
        _ => return None,
    })
}

/// "beginning", "second half", and the words taken.
fn border(word: &str, next: Option<&str>) -> Option<(Slice, usize)> {
    Some(match (word, next) {
        ("beginning" | "start", _) => (Slice::Start, 1),
        ("middle", _) => (Slice::Middle, 1),
        ("end" | "close", _) => (Slice::End, 1),
        ("first", Some("half")) => (Slice::FirstHalf, 2),
        ("second" | "last", Some("half")) => (Slice::SecondHalf, 2),
        _ => return None,
    })
}

/// What a piece is cut from; "the week", "the month" and "the year" are those that last.
fn whole(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let date = today.date;
    if word(0) == Some("the") {
        let lasting = match word(1)? {
            "day" => Some(Days::one(date)),
            "night" => Some(Days::part(date, Part::LastNight)),
            "week" => {
                let monday = monday_of(date)?;
                Some(Days::run(monday, plus_days(monday, 6)?, Precision::Week))
            }
            "month" => month(date.year(), date.month()),
            "year" if tokens.get(at + 2).is_none_or(|t| t.word.parse::<i16>().is_err()) => {
                year(date.year())
            }
            _ => None,
        };
        if let Some(days) = lasting {
            return Some((days, 2));
        }
    }
    beside::beside(tokens, at, today)
        .or_else(|| undated(tokens, at, today))
        .or_else(|| plain(tokens, at, today))
}

/// "first week of March", "last two days of last month", "second Friday in May".
fn counted(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let first = word(0)?;
    let nth = if first == "last" { -1 } else { ordinal_day(first).filter(|n| *n <= 5)? };
    let day = tokens.get(at + 1).and_then(|token| weekday(token, Some("on")));
    let (weekend, told) = (word(1) == Some("weekend"), length(tokens, at + 1, true));
    let of = match told {
        _ if weekend || day.is_some() => 2,
        Some(told) => 1 + told.taken,
        None => return None,
    };
    if !matches!(word(of), Some("of" | "in")) {
        return None;
    }
    let (days, taken) = whole(tokens, at + of + 1, today).filter(|(days, _)| days.dated)?;
    let taken = of + 1 + taken;
    if let Some(day) = day.or_else(|| weekend.then_some(jiff::civil::Weekday::Saturday)) {
        let date = if nth < 0 {
            super::latest_weekday(days.last, day, false)?
        } else {
            let before = super::latest_weekday(days.first, day, true)?;
            plus_days(before, 7 * i64::from(nth))?
        };
        let found = if weekend { weekend_of(date)? } else { Days::one(date) };
        return (date <= days.last).then_some((found, taken));
    }
    // "last year in March" is no piece of a March.
    let told = told.filter(|told| matches!(told.unit, Unit::Day | Unit::Week | Unit::Month))?;
    let amount = told.whole()?;
    let later = |date: Date, times: i8| earlier(date, told.unit, -i64::from(times) * amount);
    let (from, to) = if nth < 0 {
        (later(plus_days(days.last, 1)?, -1)?, days.last)
    } else {
        let from = later(days.first, nth - 1)?;
        (from, plus_days(later(from, 1)?, -1)?)
    };
    let found = run(from.max(days.first), to.min(days.last))?;
    Some((found, taken))
}

fn run(first: Date, last: Date) -> Option<Days> {
    let days = i64::from(first.until(last).ok()?.get_days()) + 1;
    let precision = match days {
        ..1 => return None,
        1 => Precision::Day,
        2..=40 => Precision::Week,
        _ => Precision::Month,
    };
    Some(Days::run(first, last, precision))
}

/// The piece itself: thirds for "early" and "late", less for "the beginning" and "the end".
fn cut(days: Days, slice: Slice) -> Option<Days> {
    if days.is_one() {
        return Some(cut_day(days, slice));
    }
    let count = i64::from(days.first.until(days.last).ok()?.get_days()) + 1;
    let third = (count + 2) / 3;
    let border = ((count + 3) / 4).max(count.min(3));
    let head = |length: i64| run(days.first, plus_days(days.first, length - 1)?);
    let tail = |length: i64| run(plus_days(days.last, 1 - length)?, days.last);
    match slice {
        Slice::Early => head(third),
        Slice::Late => tail(third),
        Slice::Start => head(border),
        Slice::End => tail(border),
        Slice::FirstHalf => head((count + 1) / 2),
        Slice::SecondHalf => tail((count + 1) / 2),
        Slice::Middle => {
            run(plus_days(days.first, count / 3)?, plus_days(days.last, -(count / 3))?)
        }
    }
}

/// A piece of one day, or of a part of it.
fn cut_day(days: Days, slice: Slice) -> Days {
    let early = matches!(slice, Slice::Early | Slice::Start | Slice::FirstHalf);
    let late = matches!(slice, Slice::Late | Slice::End | Slice::SecondHalf);
    let part = match days.part {
        None if early => Part::EarlyMorning,
        None if late => Part::LateEvening,
        None => Part::Lunchtime,
        Some(Part::Night | Part::LastNight) if slice == Slice::Middle => Part::SmallHours,
        Some(part) if early => part.early(),
        Some(part) if late => part.late(),
        Some(part) => part,
    };
    Days { part: Some(part), precision: Precision::PartOfDay, ..days }
}
