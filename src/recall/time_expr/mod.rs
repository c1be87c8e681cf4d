//! Time expressions in a question, read against a now and a time zone: "yesterday evening", "at 17:32",
//! "in the last hour", "before Ava left".
//!
//! Pure: text in, spans out. What needs the memory (when did Ava leave? when did the recording begin?)
//! comes out as an anchor that the answerer looks up.

mod calendar;
mod clock;
mod number;
mod phrase;
mod tense;
#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::tz::TimeZone;

use crate::time::{Span, Timestamp};

pub use number::{duration_secs, is_number};

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
    /// Anything else: what only the memories tell of ("the cat was sick", "dinner").
    Told,
}

/// How far from an event the time lies, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// At least so far.
    pub least_secs: f64,
    /// At most so far.
    pub most_secs: f64,
}

impl Apart {
    /// The stretch that lies so far before or after an event; so far around it where neither is told.
    #[must_use]
    pub fn beside(self, relation: Relation, event: Span) -> Span {
        let before = Span::new(
            event.start.plus_secs(-self.most_secs),
            event.start.plus_secs(-self.least_secs),
        );
        let after =
            Span::new(event.end.plus_secs(self.least_secs), event.end.plus_secs(self.most_secs));
        match relation {
            Relation::Before => before,
            Relation::After => after,
            Relation::During => Span::new(before.start, after.end),
        }
    }
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
    /// Any of several stretches, ascending: "on Monday or Tuesday".
    Spans {
        /// What they cover; none where there is no such time ([`TimeExpr::is_never`]).
        spans: Vec<Span>,
        /// How finely they were told.
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
        /// Words for who did it ("ava", "the woman"); empty for [`Happening::Told`].
        who: String,
        /// What was said, for [`Happening::Spoke`]; the whole clause, for [`Happening::Told`].
        what: String,
        /// "five minutes before": only so far from it, instead of all that lies on that side.
        apart: Option<Apart>,
    },
}

impl TimeExpr {
    /// Whether only the memories can tell when that was.
    #[must_use]
    pub fn is_told(&self) -> bool {
        matches!(self.when, When::Event { happening: Happening::Told, .. })
    }

    /// Whether there is no such time: "on 31 February", "from today to yesterday". [`unread`] names it.
    #[must_use]
    pub fn is_never(&self) -> bool {
        matches!(&self.when, When::Spans { spans, .. } if spans.is_empty())
    }
}

impl When {
    /// From the first to the last instant of plain spans; `None` for what the memory has to be asked for.
    fn hull(&self) -> Option<(Span, Precision)> {
        match self {
            Self::Span { span, precision } => Some((*span, *precision)),
            Self::Spans { spans, precision } => {
                let (first, last) = (spans.first()?, spans.iter().map(|span| span.end).max()?);
                Some((Span::new(first.start, last), *precision))
            }
            Self::Now | Self::Recording { .. } | Self::Event { .. } => None,
        }
    }
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
/// without "am" or "pm" are the latest waking hour that is not after `now`, on another day the one between seven in the
/// morning and seven in the evening; times without a day belong to the days that the rest of the text names, else to the
/// latest day that puts them before `now`.
#[must_use]
pub fn time_expressions(text: &str, now: Timestamp, zone: &TimeZone) -> Vec<TimeExpr> {
    phrase::scan(&super::lexer::tokens(text), now, zone, false)
}

/// The same of a text that was told at `now`, where a clause in the present or the future tells what is to come: its
/// weekdays, weekends, months and dates without a year are then the first that are not over ("Ava flies to Bonn on
/// Friday"), and an hour or a part of the day without a day is today's, if that is not over.
#[must_use]
pub fn told_expressions(text: &str, now: Timestamp, zone: &TimeZone) -> Vec<TimeExpr> {
    let tokens = super::lexer::tokens(text);
    let been = phrase::scan(&tokens, now, zone, false);
    if !been.iter().any(|time| tense::is_ahead(&tokens, &time.range)) {
        return been;
    }
    let coming = phrase::scan(&tokens, now, zone, true);
    let alike =
        been.len() == coming.len() && been.iter().zip(&coming).all(|(a, b)| a.range == b.range);
    if !alike {
        return been;
    }
    let pairs = been.into_iter().zip(coming);
    pairs.map(|(a, b)| if tense::is_ahead(&tokens, &a.range) { b } else { a }).collect()
}

/// The first words of `text` that tell a time and are in none of the expressions `found` in it ("that evening", "the
/// day after", "on Thanksgiving"), or in one that [is never](TimeExpr::is_never).
#[must_use]
pub fn unread(text: &str, found: &[TimeExpr]) -> Option<String> {
    phrase::unread(&super::lexer::tokens(text), found).map(|range| text[range].to_owned())
}

/// The one span that all plain spans among `found` mean together: their intersection where it is not
/// empty, else the finest. `None` when there is none.
#[must_use]
pub fn combined_span(found: &[TimeExpr]) -> Option<(Span, Precision)> {
    let mut combined: Option<(Span, Precision)> = None;
    for expr in found {
        let Some((span, precision)) = expr.when.hull() else { continue };
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
