//! Time expressions in a question, read against a now and a time zone: "yesterday evening", "at 17:32",
//! "in the last hour", "before Ava left".
//!
//! Pure: text in, spans out. What needs the memory (when did Ava leave? when did the recording begin?)
//! comes out as an anchor that the answerer looks up.

mod calendar;
mod clock;
mod number;
mod phrase;
#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::tz::TimeZone;

use crate::time::{Span, Timestamp};

pub use number::duration_secs;

/// How finely a time was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// To the fraction of a second, or explicit ends of a range.
    Exact,
    /// "at 17:32:10".
    Second,
    /// "at 17:32", "ten minutes ago".
    Minute,
    /// "at five", "around half past five", "two hours ago".
    Hour,
    /// "this morning".
    PartOfDay,
    /// "yesterday".
    Day,
    /// "last week".
    Week,
    /// "in March".
    Month,
    /// "in 2026".
    Year,
}

/// What an event clause tells to have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// "Ava left".
    Left,
    /// "Ava came in".
    Arrived,
    /// "Ava spoke", "Ava said hello".
    Spoke,
    /// "Ava was there".
    Present,
}

/// Where the time lies against the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Earlier than it.
    Before,
    /// Later than it.
    After,
    /// While it lasts.
    During,
}

/// A stretch of time as it was told.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// Calendar or clock time.
    Span {
        /// What it covers; open ends reach to 1678 and 2262.
        span: Span,
        /// How finely it was told.
        precision: Precision,
    },
    /// "now", "at the moment".
    Now,
    /// The first (`from_end` false) or last seconds of what was recorded; a position when `at` is true.
    Recording {
        /// Counted from the end instead of the start.
        from_end: bool,
        /// Seconds from that border.
        secs: f64,
        /// "30 seconds into the recording": that instant instead of everything up to it.
        at: bool,
    },
    /// Before, after or during something that somebody did.
    Event {
        /// On which side.
        relation: Relation,
        /// What happened.
        happening: Happening,
        /// Words for who did it ("ava", "the woman").
        who: String,
        /// What was said, for [`Happening::Spoke`].
        what: String,
    },
}

/// A time expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeExpr {
    /// Bytes of the text, preposition included.
    pub range: Range<usize>,
    /// What it means.
    pub when: When,
}

/// All time expressions of `text` in reading order; words in quotation marks are left alone. Clock times
/// without "am" or "pm" are the latest that is not after `now`; times without a day belong to the day
/// that the rest of the text names, else to the latest day that puts them before `now`.
#[must_use]
pub fn time_expressions(text: &str, now: Timestamp, zone: &TimeZone) -> Vec<TimeExpr> {
    phrase::scan(&super::lexer::tokens(text), now, zone)
}

/// The one span that all plain spans among `found` mean together: their intersection where it is not
/// empty, else the finest. `None` when there is none.
#[must_use]
pub fn combined_span(found: &[TimeExpr]) -> Option<(Span, Precision)> {
    let mut combined: Option<(Span, Precision)> = None;
    for expr in found {
        let When::Span { span, precision } = expr.when else { continue };
        combined = Some(match combined {
            None => (span, precision),
            Some((old, fine)) => match old.intersection(span) {
                Some(both) => (both, fine.min(precision)),
                None if precision < fine => (span, precision),
                None => (old, fine),
            },
        });
    }
    combined
}
