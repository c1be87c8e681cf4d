//! Number words and durations.

use crate::recall::lexer::Token;

/// A number told by one or two tokens from `at` on ("5", "five", "twenty five", "a", "a couple of"),
/// and how many tokens it takes.
pub(super) fn number(tokens: &[Token], at: usize) -> Option<(f64, usize)> {
    let word = tokens.get(at)?.word.as_str();
    let next = tokens.get(at + 1).map(|t| t.word.as_str());
    if word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && word.bytes().any(|b| b.is_ascii_digit())
    {
        return word.parse::<f64>().ok().filter(|n| n.is_finite()).map(|n| (n, 1));
    }
    match (word, next) {
        ("a", Some("couple")) | ("the", Some("couple")) => {
            let of = tokens.get(at + 2).is_some_and(|t| t.word == "of");
            return Some((2.0, 2 + usize::from(of)));
        }
        ("a", Some("few")) => return Some((3.0, 2)),
        ("couple", _) => {
            let of = next == Some("of");
            return Some((2.0, 1 + usize::from(of)));
        }
        ("few", _) => return Some((3.0, 1)),
        ("a" | "an", _) => return Some((1.0, 1)),
        _ => {}
    }
    let tens = tens(word);
    if let (Some(tens), Some(units)) = (tens, next.and_then(units).filter(|u| *u < 10)) {
        return Some((f64::from(tens + units), 2));
    }
    tens.or_else(|| units(word)).map(|n| (f64::from(n), 1))
}

/// "one" to "nineteen".
pub(super) fn units(word: &str) -> Option<u8> {
    const WORDS: [&str; 19] = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    WORDS.iter().position(|w| *w == word).map(|i| i as u8 + 1)
}

fn tens(word: &str) -> Option<u8> {
    const WORDS: [&str; 8] =
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    WORDS.iter().position(|w| *w == word).map(|i| (i as u8 + 2) * 10)
}

/// Whether a word tells a number, by a digit or in letters ("17:30", "2nd", "thirty").
#[must_use]
pub fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || units(word).is_some() || tens(word).is_some()
}

/// Units of time that have a length in seconds or are counted by the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "second" | "seconds" | "sec" | "secs" | "s" => Self::Second,
            "minute" | "minutes" | "min" | "mins" => Self::Minute,
            "hour" | "hours" | "hr" | "hrs" | "h" => Self::Hour,
            "day" | "days" => Self::Day,
            "week" | "weeks" => Self::Week,
            "month" | "months" => Self::Month,
            "year" | "years" => Self::Year,
            _ => return None,
        })
    }

    /// So many of what the calendar counts; `None` for hours and less.
    pub(super) fn shift(self, amount: i64) -> Option<jiff::Span> {
        let none = jiff::Span::new();
        match self {
            Self::Day => none.try_days(amount).ok(),
            Self::Week => none.try_weeks(amount).ok(),
            Self::Month => none.try_months(amount).ok(),
            Self::Year => none.try_years(amount).ok(),
            Self::Second | Self::Minute | Self::Hour => None,
        }
    }

    pub(super) fn secs(self) -> f64 {
        match self {
            Self::Second => 1.0,
            Self::Minute => 60.0,
            Self::Hour => 3600.0,
            Self::Day => 86_400.0,
            Self::Week => 604_800.0,
            Self::Month => 2_629_746.0,
            Self::Year => 31_556_952.0,
        }
    }
}

/// A length of time: amount and unit, seconds, and tokens taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Length {
    pub(super) amount: f64,
    pub(super) unit: Unit,
    pub(super) taken: usize,
    /// "a couple of", "a few", "several".
    pub(super) vague: bool,
}

impl Length {
    pub(super) fn secs(self) -> f64 {
        (self.amount * self.unit.secs()).min(1e11)
    }

    /// The amount where it is a whole number of some size.
    pub(super) fn whole(self) -> Option<i64> {
        (self.amount.fract() == 0.0 && self.amount <= 100_000.0).then_some(self.amount as i64)
    }

    /// The least and the most that a vague amount means: "a few" is two to five.
    pub(super) fn amounts(self) -> (f64, f64) {
        if self.vague {
            (self.amount - 1.0, 2.0 * self.amount - 1.0)
        } else {
            (self.amount, self.amount)
        }
    }

    /// How far off a count of weeks, months or years may be, days: one of them (of weeks two, too) is told more exactly
    /// than many.
    pub(super) fn slack_days(self) -> i64 {
        let one = self.amount <= 1.0;
        match self.unit {
            Unit::Week if self.amount <= 2.0 => 2,
            Unit::Week => 3,
            Unit::Month if one => 7,
            Unit::Month => 15,
            Unit::Year if one => 91,
            Unit::Year => 182,
            _ => 0,
        }
    }

    /// How short and how long the length may be, seconds: round and vague amounts are told loosely.
    pub(super) fn reach(self) -> (f64, f64) {
        if self.vague {
            let (least, most) = self.amounts();
            return (least * self.unit.secs(), (most * self.unit.secs()).min(1e11));
        }
        let round = |step: f64| self.amount >= step && self.amount % step == 0.0;
        let slack = match self.unit {
            Unit::Second => (self.amount * 0.1).max(2.0),
            Unit::Minute if round(10.0) => 150.0,
            Unit::Minute if round(5.0) => 90.0,
            Unit::Minute => 30.0,
            Unit::Hour => (self.amount * 540.0).clamp(900.0, 3600.0),
            Unit::Day => 43_200.0,
            _ => self.slack_days() as f64 * 86_400.0,
        };
        ((self.secs() - slack).max(0.0), self.secs() + slack)
    }
}

/// A unit as it is counted: a fortnight is two weeks.
fn counted_unit(word: &str) -> Option<(f64, Unit)> {
    match word {
        "fortnight" | "fortnights" => Some((2.0, Unit::Week)),
        "decade" | "decades" => Some((10.0, Unit::Year)),
        word => Unit::from_word(word).map(|unit| (1.0, unit)),
    }
}

/// "ten minutes", "half an hour", "a half hour", "an hour and a half", "one and a half hours", "a quarter of an hour",
/// "30s", "hour" alone when `bare` is allowed ("the last hour").
pub(super) fn length(tokens: &[Token], at: usize, bare: bool) -> Option<Length> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let and_a_half =
        |i: usize| (word(i), word(i + 1), word(i + 2)) == (Some("and"), Some("a"), Some("half"));
    let a = usize::from(word(0) == Some("a"));
    if word(a) == Some("half") {
        let of = usize::from(a == 0 && matches!(word(1), Some("a" | "an")));
        let unit = Unit::from_word(word(a + 1 + of)?)?;
        return Some(halves(unit, 0.5, a + of + 2));
    }
    if let (Some("a"), Some("quarter"), Some("of"), Some("an"), Some("hour")) =
        (word(0), word(1), word(2), word(3), word(4))
    {
        return Some(Length { amount: 15.0, unit: Unit::Minute, taken: 5, vague: false });
    }
    if bare && let Some((amount, unit)) = word(0).and_then(counted_unit) {
        if and_a_half(1) {
            return Some(halves(unit, 1.5 * amount, 4));
        }
        return Some(Length { amount, unit, taken: 1, vague: false });
    }
    if let Some(glued) = word(0).and_then(glued_length) {
        return Some(Length { taken: 1, ..glued });
    }
    let (amount, taken) = match word(0)? {
        "several" => (4.0, 1),
        "some" => (3.0, 1),
        _ => number(tokens, at)?,
    };
    if and_a_half(taken)
        && let Some((times, unit)) = word(taken + 3).and_then(counted_unit)
    {
        return Some(halves(unit, (amount + 0.5) * times, taken + 4));
    }
    let (times, unit) = counted_unit(word(taken)?)?;
    let vague = (0..taken).any(|i| matches!(word(i), Some("couple" | "few" | "several" | "some")));
    if and_a_half(taken + 1) {
        return Some(halves(unit, (amount + 0.5) * times, taken + 4));
    }
    Some(Length { amount: amount * times, unit, taken: taken + 1, vague })
}

/// Fractions are counted in the next finer unit.
fn halves(unit: Unit, amount: f64, taken: usize) -> Length {
    let (finer, ratio) = match unit {
        Unit::Hour => (Unit::Minute, 60.0),
        Unit::Minute => (Unit::Second, 60.0),
        Unit::Day => (Unit::Hour, 24.0),
        Unit::Week => (Unit::Day, 7.0),
        Unit::Month => (Unit::Day, 30.0),
        Unit::Year => (Unit::Month, 12.0),
        other => (other, 1.0),
    };
    let amount = amount * ratio;
    let amount = if finer == Unit::Day { amount.round() } else { amount };
    Length { amount, unit: finer, taken, vague: false }
}

/// "30s", "10min".
fn glued_length(word: &str) -> Option<Length> {
    let digits = word.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0)?;
    let unit = Unit::from_word(&word[digits..])?;
    let amount: f64 = word[..digits].parse().ok()?;
    amount.is_finite().then_some(Length { amount, unit, taken: 1, vague: false })
}

/// The length of time that a text tells ("10 seconds", "half an hour"), seconds.
#[must_use]
pub fn duration_secs(text: &str) -> Option<f64> {
    let tokens = crate::recall::lexer::tokens(text);
    (0..tokens.len()).find_map(|at| length(&tokens, at, false)).map(Length::secs)
}
