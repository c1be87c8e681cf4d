//! Days counted from other days: "two weeks ago", "the day after Christmas", "the Wednesday before last".

use jiff::civil::{Date, Weekday};

use super::dates::year;
use super::part::part;
use super::{
    Days, Part, Today, earlier, latest_weekday, monday_of, month_before, plain, plus_days, weekday,
    weekend_of,
};
use crate::recall::lexer::Token;
use crate::recall::time_expr::Precision;
use crate::recall::time_expr::number::{Length, Unit, length};

/// "two days ago", "a week ago", "3 months ago on Monday", "a year ago today".
pub(super) fn days_ago(tokens: &[Token], at: usize, today: Date) -> Option<(Days, usize)> {
    let told = length(tokens, at, false)?;
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    if word(told.taken) != Some("ago") {
        return None;
    }
    let taken = told.taken + 1;
    let date = earlier(today, told.unit, told.whole()?)?;
    let on = usize::from(word(taken) == Some("on"));
    if told.unit == Unit::Week
        && !told.vague
        && let Some(day) = tokens.get(at + taken + on).and_then(|token| weekday(token, Some("on")))
    {
        let monday = monday_of(date)?;
        let date = plus_days(monday, i64::from(day.to_monday_zero_offset()))?;
        return Some((Days::one(date), taken + on + 1));
    }
    if word(taken) == Some("today") {
        return Some((Days::one(date), taken + 1));
    }
    let exactly = at
        .checked_sub(1)
        .is_some_and(|i| matches!(tokens[i].word.as_str(), "exactly" | "precisely"));
    // "a week ago at five", "two weeks ago in the morning" are of one day.
    let to_the_day = word(taken) == Some("at") || part(tokens, at + taken).is_some();
    if exactly || to_the_day && !told.vague {
        return Some((Days::one(date), taken));
    }
    Some((about(today, told, -1)?, taken))
}

/// The days that so long before (`sign` -1) or after a date may be, as finely as the length is told.
fn about(date: Date, told: Length, sign: i64) -> Option<Days> {
    let precision = match told.unit {
        Unit::Week => Precision::Week,
        Unit::Month | Unit::Year => Precision::Month,
        _ => Precision::Day,
    };
    let away = |amount: i64| earlier(date, told.unit, -sign * amount);
    let (near, far) = if told.vague {
        let (least, most) = told.amounts();
        (away(least as i64)?, away(most as i64)?)
    } else {
        let (middle, slack) = (away(told.whole()?)?, told.slack_days());
        (plus_days(middle, -sign * slack)?, plus_days(middle, sign * slack)?)
    };
    Some(Days::run(near.min(far), near.max(far), precision))
}

/// "the day before yesterday", "the night before last", "the week after Easter", "two days before Christmas".
pub(super) fn beside(tokens: &[Token], at: usize, today: Today) -> Option<(Days, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let side = |i: usize| match word(i) {
        Some("before") => Some(-1),
        Some("after") => Some(1),
        _ => None,
    };
    let dated = |i: usize| plain(tokens, at + i, today).filter(|(days, _)| days.dated);
    if let Some(told) = length(tokens, at, false).filter(|told| told.unit.secs() >= 86_400.0)
        && let Some(sign) = side(told.taken)
        && let Some((days, more)) = dated(told.taken + 1)
    {
        let from = if sign < 0 { days.first } else { days.last };
        return Some((about(from, told, sign)?, told.taken + 1 + more));
    }
    let the = usize::from(word(0) == Some("the"));
    let noun = tokens.get(at + the)?;
    let sign = side(the + 1)?;
    let day = weekday(noun, Some("on"));
    if let Some((days, more)) = dated(the + 2) {
        let beside = match day {
            Some(day) => Days::one(nearest(days, sign, |date| latest_weekday(date, day, true))?),
            None => next_to(days, sign, &noun.word)?,
        };
        return Some((beside, the + 2 + more));
    }
    if sign > 0 || word(the + 2) != Some("last") {
        return None;
    }
    let days = match day {
        Some(day) => Days::one(plus_days(latest_weekday(today.date, day, true)?, -7)?),
        None => before_last(today.date, &noun.word)?,
    };
    Some((days, the + 3))
}

/// What lies next before (`sign` -1) or after days: "day", "night", "week", "weekend" …
fn next_to(days: Days, sign: i64, noun: &str) -> Option<Days> {
    let edge = if sign < 0 { days.first } else { days.last };
    let next = plus_days(edge, sign)?;
    let until = |far: Date, precision| Some(Days::run(next.min(far), next.max(far), precision));
    match noun {
        "day" => Some(Days::one(next)),
        "week" => until(plus_days(edge, 7 * sign)?, Precision::Week),
        "month" => until(earlier(edge, Unit::Month, -sign)?, Precision::Month),
        "year" => until(earlier(edge, Unit::Year, -sign)?, Precision::Year),
        "weekend" => {
            let saturday =
                nearest(days, sign, |date| latest_weekday(date, Weekday::Saturday, true))?;
            let saturday = if plus_days(saturday, 1)? >= days.first && sign < 0 {
                plus_days(saturday, -7)?
            } else {
                saturday
            };
            weekend_of(saturday)
        }
        noun => Some(Days::part(next, Part::from_word(noun)?)),
    }
}

/// The nearest day of a kind strictly before or after days; `before` gives the latest before a date.
fn nearest(days: Days, sign: i64, before: impl Fn(Date) -> Option<Date>) -> Option<Date> {
    if sign < 0 { before(days.first) } else { before(plus_days(days.last, 8)?) }
}

/// "the week before last", "the night before last".
fn before_last(today: Date, noun: &str) -> Option<Days> {
    let monday = monday_of(today)?;
    Some(match noun {
        "day" => Days::one(plus_days(today, -2)?),
        "week" => Days::run(plus_days(monday, -14)?, plus_days(monday, -8)?, Precision::Week),
        "weekend" => weekend_of(plus_days(monday, -9)?)?,
        "month" => month_before(month_before(today)?.first)?,
        "year" => year(today.year().checked_sub(2)?)?,
        "night" => Days::part(plus_days(today, -1)?, Part::LastNight),
        noun => Days::part(plus_days(today, -2)?, Part::from_word(noun)?),
    })
}
