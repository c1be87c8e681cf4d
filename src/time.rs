//! Event time: nanoseconds since the Unix epoch, UTC, and half-open spans of it.
//!
//! Ground floor: every stage orders what it handles by these, never by arrival.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time: nanoseconds since 1970-01-01T00:00:00Z.
///
/// Written as RFC 3339 UTC with nine decimals; read from that or from integer nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Timestamp(i64);

/// Text or number that is no point in time.
#[derive(Debug, thiserror::Error)]
#[error(
    "reading the time {text:?}: {reason}; write RFC 3339 (2026-03-02T17:30:00Z) or integer nanoseconds since 1970"
)]
pub struct ParseTimeError {
    text: String,
    reason: String,
}

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);
    /// Later than anything that is ever recorded.
    pub const MAX: Self = Self(i64::MAX);

    /// From nanoseconds since the Unix epoch.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the Unix epoch.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Now, by the machine's wall clock. Only for live sessions and latencies, never in a replay's rows.
    #[must_use]
    pub fn wall_clock() -> Self {
        let now = jiff::Timestamp::now().as_nanosecond();
        Self(i64::try_from(now).unwrap_or(i64::MAX))
    }

    /// Reads RFC 3339 (any offset) or integer nanoseconds.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn parse(text: &str) -> Result<Self, ParseTimeError> {
        let trimmed = text.trim();
        if let Ok(nanos) = trimmed.parse::<i64>() {
            return Ok(Self(nanos));
        }
        let fail = |reason: String| ParseTimeError { text: text.to_owned(), reason };
        let parsed: jiff::Timestamp =
            trimmed.parse().map_err(|error: jiff::Error| fail(error.to_string()))?;
        i64::try_from(parsed.as_nanosecond())
            .map(Self)
            .map_err(|_| fail("outside the years 1678 to 2262".to_owned()))
    }

    /// The same instant for calendar arithmetic.
    #[must_use]
    pub fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_nanosecond(i128::from(self.0)).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }

    /// From a calendar instant; clamps to what 64 bits of nanoseconds hold.
    #[must_use]
    pub fn from_jiff(at: jiff::Timestamp) -> Self {
        let nanos = at.as_nanosecond().clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        Self(nanos as i64)
    }

    /// Seconds from `earlier` to `self`, negative when `self` is before it.
    #[must_use]
    pub fn secs_since(self, earlier: Self) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 * 1e-9
    }

    /// This time moved by a signed number of seconds (rounded to the nanosecond).
    #[must_use]
    pub fn plus_secs(self, secs: f64) -> Self {
        Self(self.0.saturating_add((secs * 1e9).round() as i64))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}", self.to_jiff())
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(rhs.as_nanos()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;
    fn sub(self, rhs: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(rhs.as_nanos()).unwrap_or(i64::MAX)))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return i64::deserialize(deserializer).map(Self);
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Nanos(i64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Nanos(nanos) => Ok(Self(nanos)),
            Form::Text(text) => Self::parse(&text).map_err(serde::de::Error::custom),
        }
    }
}

/// A stretch of time, `[start, end)`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span {
    /// First instant inside.
    pub start: Timestamp,
    /// First instant after it.
    pub end: Timestamp,
}

impl Span {
    /// `[start, end)`; an `end` before `start` becomes an empty span at `start`.
    #[must_use]
    pub fn new(start: Timestamp, end: Timestamp) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Length in seconds, never negative.
    #[must_use]
    pub fn secs(self) -> f64 {
        self.end.secs_since(self.start).max(0.0)
    }

    /// Whether the instant lies inside.
    #[must_use]
    pub fn contains(self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }

    /// What both spans cover, or `None`.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        (start < end).then_some(Self { start, end })
    }

    /// Seconds that both spans cover.
    #[must_use]
    pub fn overlap_secs(self, other: Self) -> f64 {
        self.intersection(other).map_or(0.0, Self::secs)
    }

    /// Whether recordings of these spans ran at the same time, and not one after the other: pieces of one recording may
    /// overlap by a moment.
    #[must_use]
    pub fn is_beside(self, other: Self) -> bool {
        /// Creation times of video files are whole seconds.
        const MOMENT_SECS: f64 = 2.0;
        self.overlap_secs(other) > MOMENT_SECS.min(0.5 * self.secs().min(other.secs()))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn writes_nine_decimals_and_reads_them_back() {
        let at = Timestamp::from_nanos(1_772_472_600_000_000_001);
        assert_eq!(at.to_string(), "2026-03-02T17:30:00.000000001Z");
        assert_eq!(Timestamp::parse(&at.to_string()).unwrap(), at);
        assert_eq!(Timestamp::parse("1772472600000000001").unwrap(), at);
        assert!(Timestamp::parse("yesterday").is_err());
    }

    #[test]
    fn spans_are_half_open() {
        let at = Timestamp::from_nanos;
        let span = Span::new(at(10), at(20));
        assert!(span.contains(at(10)) && !span.contains(at(20)));
        assert_eq!(span.intersection(Span::new(at(20), at(30))), None);
    }

    #[test]
    fn pieces_of_a_recording_are_not_beside_each_other() {
        let span = |from: f64, to: f64| {
            Span::new(Timestamp::EPOCH.plus_secs(from), Timestamp::EPOCH.plus_secs(to))
        };
        let first = span(0.0, 60.0);
        assert!(!first.is_beside(span(60.0, 120.0)) && !first.is_beside(span(58.5, 120.0)));
        assert!(first.is_beside(span(50.0, 120.0)) && first.is_beside(span(20.0, 21.0)));
        assert!(!first.is_beside(span(59.8, 60.8)) && !first.is_beside(span(100.0, 100.0)));
    }
}
