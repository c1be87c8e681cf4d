//! Times of day: "17:32", "5 pm", "half past five", "noon".

use jiff::civil::Time;

use super::number::{number, units};
use crate::recall::lexer::Token;

/// A time of day, perhaps without its half of the day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clock {
    /// Hour as told, 0–24.
    pub(super) hour: u8,
    /// 0–59.
    pub(super) minute: u8,
    /// 0–59, where told.
    pub(super) second: Option<u8>,
    /// Nanoseconds of the second, where told.
    pub(super) nanos: Option<u32>,
    /// "pm" (true) or "am" (false); `None` when open.
    pub(super) afternoon: Option<bool>,
    /// Whether the minute was told.
    pub(super) to_the_minute: bool,
    /// 24-hour writing ("05:30", "17:30"): am and pm are not open.
    pub(super) definite: bool,
}

impl Clock {
    fn hour(hour: u8) -> Self {
        Self {
            hour,
            minute: 0,
            second: None,
            nanos: None,
            afternoon: None,
            to_the_minute: false,
            definite: hour > 12 || hour == 0,
        }
    }

    /// The times of day it may mean, in order.
    pub(super) fn times(self) -> Vec<Time> {
        let hours: Vec<u8> = match self.afternoon {
            Some(true) if self.hour < 12 => vec![self.hour + 12],
            Some(false) if self.hour == 12 => vec![0],
            Some(_) => vec![self.hour],
            None if self.definite => vec![self.hour % 24],
            None if self.hour == 12 => vec![0, 12],
            None => vec![self.hour, self.hour + 12],
        };
        hours
            .into_iter()
            .filter_map(|hour| {
                let nanos = self.nanos.unwrap_or(0) as i32;
                let second = self.second.unwrap_or(0) as i8;
                Time::new(hour as i8, self.minute as i8, second, nanos).ok()
            })
            .collect()
    }
}

/// A clock time from token `at` on and the tokens it takes. A bare number counts only where `bare` says
/// so ("at 5").
pub(super) fn clock(tokens: &[Token], at: usize, bare: bool) -> Option<(Clock, usize)> {
    let (mut clock, mut taken) = core(tokens, at, bare)?;
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    if word(taken) == Some("o'clock") || word(taken) == Some("oclock") {
        taken += 1;
    }
    if let Some(half) = word(taken).and_then(half_of_day) {
        if clock.hour <= 12 {
            clock.afternoon = Some(half);
            clock.definite = true;
        }
        taken += 1;
    }
    Some((clock, taken))
}

fn half_of_day(word: &str) -> Option<bool> {
    match word {
        "am" => Some(false),
        "pm" => Some(true),
        _ => None,
    }
}

fn core(tokens: &[Token], at: usize, bare: bool) -> Option<(Clock, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let first = word(0)?;
    let next_is_half = |i: usize| word(i).and_then(half_of_day).is_some();
    if let Some(found) = named(first) {
        return Some((found, 1));
    }
    match first {
        "half" if word(1) == Some("past") => return past(tokens, at, 2, 30),
        "quarter" => return quarter(tokens, at, 1),
        "a" if word(1) == Some("quarter") => return quarter(tokens, at, 2),
        _ => {}
    }
    if let Some(found) = digital(first) {
        // "5.30" is a clock only beside am/pm or where a clock is expected.
        if first.contains(':') || first.contains('h') || bare || next_is_half(1) {
            return Some((found, 1));
        }
        return None;
    }
    if let Some(glued) = glued_half(first) {
        return Some((glued, 1));
    }
    let (n, taken) = number(tokens, at).filter(|_| first != "a" && first != "an")?;
    if n.fract() != 0.0 || !(0.0..=59.0).contains(&n) {
        return None;
    }
    let after = word(taken);
    let minutes_word = matches!(after, Some("minutes" | "minute"));
    match word(taken + usize::from(minutes_word)) {
        Some("past") => return past(tokens, at, taken + 1 + usize::from(minutes_word), n as u8),
        Some("to") if minutes_word || n <= 30.0 => {
            if let Some(found) =
                minutes_to(tokens, at, taken + 1 + usize::from(minutes_word), n as u8)
                && (units(first).is_some() || minutes_word)
                && matches!(n as u8, 5 | 10 | 20 | 25)
                && tokens.get(at.wrapping_sub(1)).is_none_or(|t| t.word != "from")
            {
                return Some(found);
            }
        }
        _ => {}
    }
    if minutes_word || n > 24.0 {
        return None;
    }
    let oclock = matches!(after, Some("o'clock" | "oclock"));
    // "five thirty"
    if (bare || next_is_half(taken + 1))
        && n <= 12.0
        && units(first).is_some()
        && let Some((minute, more)) = number(tokens, at + taken)
        && (10.0..60.0).contains(&minute)
    {
        let clock = Clock { minute: minute as u8, to_the_minute: true, ..Clock::hour(n as u8) };
        return Some((clock, taken + more));
    }
    (oclock || bare || next_is_half(taken)).then(|| (Clock::hour(n as u8), taken))
}

/// "noon", "midnight".
fn named(word: &str) -> Option<Clock> {
    match word {
        "noon" | "midday" => {
            Some(Clock { afternoon: Some(true), definite: true, ..Clock::hour(12) })
        }
        "midnight" => Some(Clock::hour(0)),
        _ => None,
    }
}

fn past(tokens: &[Token], at: usize, skip: usize, minute: u8) -> Option<(Clock, usize)> {
    let (hour, taken) = hour_word(tokens, at + skip)?;
    Some((Clock { minute, to_the_minute: true, ..hour }, skip + taken))
}

fn minutes_to(tokens: &[Token], at: usize, skip: usize, minutes: u8) -> Option<(Clock, usize)> {
    let (hour, taken) = hour_word(tokens, at + skip)?;
    let before = match hour.hour {
        0 => 23,
        1 => 12,
        later => later - 1,
    };
    let clock = Clock {
        minute: 60 - minutes.min(59),
        to_the_minute: true,
        definite: hour.definite,
        ..Clock::hour(before)
    };
    Some((clock, skip + taken))
}

fn quarter(tokens: &[Token], at: usize, skip: usize) -> Option<(Clock, usize)> {
    match tokens.get(at + skip)?.word.as_str() {
        "past" => past(tokens, at, skip + 1, 15),
        "to" => minutes_to(tokens, at, skip + 1, 15),
        _ => None,
    }
}

/// The full hour before or after which the minutes are told.
fn hour_word(tokens: &[Token], at: usize) -> Option<(Clock, usize)> {
    if let Some(found) = named(&tokens.get(at)?.word) {
        return Some((found, 1));
    }
    let (n, taken) = number(tokens, at)?;
    (n.fract() == 0.0 && (0.0..=24.0).contains(&n)).then(|| (Clock::hour(n as u8), taken))
}

/// "17:32", "17:32:10", "17:32:10.5", "5.30", "17h30", each perhaps with "pm" glued on.
fn digital(word: &str) -> Option<Clock> {
    let (body, half) = match word.strip_suffix("am") {
        Some(body) => (body, Some(false)),
        None => word.strip_suffix("pm").map_or((word, None), |body| (body, Some(true))),
    };
    let separator = if body.contains(':') {
        ':'
    } else if body.contains('h') {
        'h'
    } else {
        '.'
    };
    let mut parts = body.split(separator);
    let hour_text = parts.next()?;
    let hour = two_digits(hour_text)?;
    let minute = two_digits(parts.next().filter(|m| m.len() == 2)?)?;
    let (second, nanos) = match parts.next() {
        None => (None, None),
        Some(text) => {
            let (whole, fraction) =
                text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
            (Some(two_digits(whole)?), fraction.and_then(fraction_nanos))
        }
    };
    if parts.next().is_some() || hour > 24 || minute > 59 || second.is_some_and(|s| s > 59) {
        return None;
    }
    let definite =
        half.is_some() || hour > 12 || hour == 0 || hour_text.len() == 2 && separator != '.';
    let afternoon = if hour <= 12 { half } else { None };
    Some(Clock { hour, minute, second, nanos, afternoon, to_the_minute: true, definite })
}

fn two_digits(text: &str) -> Option<u8> {
    (!text.is_empty() && text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

fn fraction_nanos(text: &str) -> Option<u32> {
    let digits: String = text.chars().take(9).collect();
    let value: u32 = digits.parse().ok()?;
    Some(value * 10u32.pow(9 - u32::try_from(digits.len()).ok()?))
}

/// "5pm".
fn glued_half(word: &str) -> Option<Clock> {
    let (body, half) = match word.strip_suffix("am") {
        Some(body) => (body, false),
        None => (word.strip_suffix("pm")?, true),
    };
    let hour = two_digits(body).filter(|h| (1..=12).contains(h))?;
    Some(Clock { afternoon: Some(half), definite: true, ..Clock::hour(hour) })
}
