//! Times as people type them, after `--start`, `--end` and `--at`.

use anyhow::Context as _;
use clap::error::ErrorKind;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::context::Context;
use super::print;
use crate::daemon::assemble::read_store;
use crate::mqtt::message::AsOf;
use crate::recall::lexer::tokens;
use crate::recall::time_expr::{Precision, When, combined_span, time_expressions};
use crate::time::{Span, Timestamp};

/// A clock time covers its minute; what is told less finely lies around what is meant. Seconds.
const MINUTE_SECS: f64 = 60.0;

/// A bare number nearer to 1970 than so many nanoseconds (eleven days) is a year, a day or seconds, and was not meant so.
const LEAST_NANOS: u64 = 1_000_000_000_000_000;

/// A time as it was typed: RFC 3339 or nanoseconds (not of the first days of 1970); in `robot.timezone` a date
/// (`2026-03-02`), or a date with a time of day (`2026-03-02 18:30`); or words that questions are understood in, too
/// (`yesterday`, `today 14:00`, `two hours ago`).
///
/// Words are meant against the wall clock; with `--data-dir` against the newest time in the store, as questions are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TimeArg {
    Instant(Timestamp),
    Day(Date),
    Local(DateTime),
    Words(String),
}

impl TimeArg {
    /// Reads what was typed, for clap.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(nanos) = text.parse::<i64>()
            && (1..LEAST_NANOS).contains(&nanos.unsigned_abs())
        {
            return Err(format!(
                "a bare number is nanoseconds since 1970, and so few are {}: write a date as 2026-03-02, a time as \
                 2026-03-02T17:30:00Z",
                Timestamp::from_nanos(nanos)
            ));
        }
        if let Ok(at) = Timestamp::parse(text) {
            return Ok(Self::Instant(at));
        }
        let read = match text.contains(':') {
            true => text.parse().map(Self::Local).ok(),
            false => text.parse().map(Self::Day).ok(),
        };
        let read = read.unwrap_or_else(|| Self::Words(text.to_owned()));
        match read.stretch(Timestamp::wall_clock(), &TimeZone::UTC) {
            Some(_) => Ok(read),
            None => Err(
                "no time: write 2026-03-02T17:30:00Z, 2026-03-02, \"2026-03-02 18:30\", yesterday, \"today 14:00\""
                    .to_owned(),
            ),
        }
    }

    /// Its beginning: of a day its first instant.
    pub(super) fn start(&self, context: &Context) -> anyhow::Result<Timestamp> {
        Ok(self.told(context, |stretch| Span::new(stretch.start, stretch.start))?.start)
    }

    /// All that it covers; of an instant nothing beside its beginning.
    pub(super) fn span(&self, context: &Context) -> anyhow::Result<Span> {
        self.told(context, |stretch| stretch)
    }

    /// What of it is meant, and a word on what was understood, where it was said in words.
    fn told(&self, context: &Context, meant: impl Fn(Span) -> Span) -> anyhow::Result<Span> {
        let zone = context.config.timezone();
        let Self::Words(text) = self else {
            let stretch = self.stretch(Timestamp::EPOCH, &zone);
            return stretch.map(meant).with_context(|| format!("{self:?} is not in the calendar"));
        };
        let stretch = self.stretch(now(context), &zone);
        let span = stretch.map(meant).with_context(|| format!("{text:?} is no time"))?;
        let until = match span.start == span.end {
            true => String::new(),
            false => format!(" to {}", print::local(span.end, &zone)),
        };
        eprintln!("engramd: {text:?} is {}{until}", print::local(span.start, &zone));
        Ok(span)
    }

    /// What it covers; an instant is empty.
    fn stretch(&self, now: Timestamp, zone: &TimeZone) -> Option<Span> {
        let local = |at: DateTime| {
            let zoned = zone.to_ambiguous_zoned(at).compatible().ok()?;
            Some(Timestamp::from_jiff(zoned.timestamp()))
        };
        let instant = |at: Timestamp| Span::new(at, at);
        match self {
            Self::Instant(at) => Some(instant(*at)),
            Self::Local(at) => local(*at).map(instant),
            Self::Day(day) => {
                let next = day.tomorrow().ok()?;
                Some(Span::new(local(day.at(0, 0, 0, 0))?, local(next.at(0, 0, 0, 0))?))
            }
            Self::Words(text) => worded(text, now, zone),
        }
    }
}

/// What was known then: a commit (`seq:41`), or a time as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AsOfArg {
    Known(AsOf),
    Time(TimeArg),
}

impl AsOfArg {
    /// Reads what was typed, for clap.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match AsOf::parse(text) {
            Ok(known) => Ok(Self::Known(known)),
            Err(why) if text.trim().starts_with("seq:") => Err(why),
            Err(_) => TimeArg::parse(text).map(Self::Time),
        }
    }
}

/// Which commit or time that is; of a day its beginning.
pub(super) fn known(as_of: Option<&AsOfArg>, context: &Context) -> anyhow::Result<Option<AsOf>> {
    let meant = |as_of: &AsOfArg| match as_of {
        AsOfArg::Known(known) => Ok(*known),
        AsOfArg::Time(at) => at.start(context).map(AsOf::Time),
    };
    as_of.map(meant).transpose()
}

/// The borders of a stretch, each as it was typed.
///
/// # Errors
/// Wrong usage, when it ends before it begins: so does one to a day before the one it begins on.
pub(super) fn between(
    start: Option<&TimeArg>,
    end: Option<&TimeArg>,
    context: &Context,
) -> anyhow::Result<(Option<Timestamp>, Option<Timestamp>)> {
    let start = start.map(|at| at.start(context)).transpose()?;
    let until = end.map(|at| at.span(context)).transpose()?;
    if let (Some(start), Some(until)) = (start, until)
        && (until.end < start || until.end == start && until.start < start)
    {
        let zone = context.config.timezone();
        let [start, end] = [start, until.end].map(|at| print::local(at, &zone));
        let why = format!("--end ({end}) is before --start ({start})\n");
        return Err(clap::Error::raw(ErrorKind::ValueValidation, why).into());
    }
    Ok((start, until.map(|until| until.end)))
}

/// What words mean, where all of them tell of a time that needs no memory.
fn worded(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Span> {
    let found = time_expressions(text, now, zone);
    let words = tokens(text);
    let read =
        words.iter().all(|word| found.iter().any(|one| one.range.contains(&word.range.start)));
    if words.is_empty() || !read {
        return None;
    }
    if found.iter().all(|one| one.when == When::Now) {
        return Some(Span::new(now, now));
    }
    if !found.iter().all(|one| matches!(one.when, When::Span { .. })) {
        return None;
    }
    let (span, precision) = combined_span(&found)?;
    let middle = span.start.plus_secs(span.secs() / 2.0);
    Some(match precision {
        // A minute is told by its beginning; its seconds are no whole number exactly.
        Precision::Minute | Precision::Hour if span.secs() > MINUTE_SECS + 1.0 => {
            Span::new(middle, middle)
        }
        Precision::Second | Precision::Minute | Precision::Hour => {
            Span::new(span.start, span.start)
        }
        _ => span,
    })
}

/// What words are meant against.
fn now(context: &Context) -> Timestamp {
    let store = context.data_dir.as_ref().and_then(|_| read_store(&context.config).ok());
    store.and_then(|memory| memory.view().newest_time()).unwrap_or_else(Timestamp::wall_clock)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::{Config, Source};

    fn zone() -> TimeZone {
        TimeZone::get("Europe/Berlin").unwrap()
    }

    fn utc(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn times_are_read_as_people_type_them() {
        // Monday, 17:33:20 in Berlin.
        let now = utc("2026-03-02T16:33:20Z");
        for (text, start, end) in [
            ("2026-03-02T17:30:00Z", "2026-03-02T17:30:00Z", "2026-03-02T17:30:00Z"),
            ("2026-03-02T17:30:00+01:00", "2026-03-02T16:30:00Z", "2026-03-02T16:30:00Z"),
            ("1772472600000000000", "2026-03-02T17:30:00Z", "2026-03-02T17:30:00Z"),
            ("2026-03-02", "2026-03-01T23:00:00Z", "2026-03-02T23:00:00Z"),
            ("2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
            ("2026-03-02T17:30", "2026-03-02T16:30:00Z", "2026-03-02T16:30:00Z"),
            ("2026-07-02 17:30:15", "2026-07-02T15:30:15Z", "2026-07-02T15:30:15Z"),
            ("yesterday", "2026-02-28T23:00:00Z", "2026-03-01T23:00:00Z"),
            ("Yesterday evening", "2026-03-01T16:00:00Z", "2026-03-01T23:00:00Z"),
            ("today 14:00", "2026-03-02T13:00:00Z", "2026-03-02T13:00:00Z"),
            ("yesterday at 5 pm", "2026-03-01T16:00:00Z", "2026-03-01T16:00:00Z"),
            ("ten minutes ago", "2026-03-02T16:23:20Z", "2026-03-02T16:23:20Z"),
            (" now ", "2026-03-02T16:33:20Z", "2026-03-02T16:33:20Z"),
        ] {
            let read = TimeArg::parse(text).unwrap().stretch(now, &zone()).unwrap();
            assert_eq!(read, Span::new(utc(start), utc(end)), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused_at_once() {
        for text in
            ["", "soon", "yesterday or so I think", "before Ava left", "2026-13-40", "25:99"]
        {
            assert!(TimeArg::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_known_then_is_told_by_commit_or_as_other_times_are() {
        for (text, means) in [
            ("seq:41", AsOfArg::Known(AsOf::Seq(crate::ids::Seq(41)))),
            ("41", AsOfArg::Known(AsOf::Seq(crate::ids::Seq(41)))),
            ("2026-03-02T17:30:00Z", AsOfArg::Known(AsOf::Time(utc("2026-03-02T17:30:00Z")))),
            ("2026-03-02", AsOfArg::Time(TimeArg::Day("2026-03-02".parse().unwrap()))),
            ("yesterday", AsOfArg::Time(TimeArg::Words("yesterday".to_owned()))),
        ] {
            assert_eq!(AsOfArg::parse(text), Ok(means), "{text}");
        }
        for text in ["seq:x", "the mug", ""] {
            assert!(AsOfArg::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_stretch_that_ends_before_it_begins_is_wrong_usage() {
        let context = Context {
            config: Config::default(),
            config_file: None,
            json: false,
            data_dir: None,
            http: None,
            token_file: None,
            source: Source::default(),
        };
        let of = |start: &str, end: &str| {
            let [start, end] = [start, end].map(|text| TimeArg::parse(text).unwrap());
            between(Some(&start), Some(&end), &context)
        };
        let (start, end) = of("2026-03-02", "2026-03-02").unwrap();
        assert!(start < end, "a day is all of it");
        let noon = "2026-03-02T12:00:00Z";
        assert_eq!(of(noon, noon).unwrap(), (Some(utc(noon)), Some(utc(noon))));
        for (start, end) in [
            ("2026-03-02", "2026-03-01"),
            ("2026-03-02", "2026-02-20"),
            (noon, "2026-03-02T11:59:59Z"),
        ] {
            let error = of(start, end).unwrap_err();
            assert!(error.is::<clap::Error>(), "{start} {end}: {error}");
            assert!(error.to_string().contains("is before --start"), "{error}");
        }
    }

    #[test]
    fn a_bare_number_that_is_no_time_is_refused_with_the_cure() {
        for text in ["2026", "20260302", "1772472600", "-5", "999999999999999"] {
            let why = TimeArg::parse(text).unwrap_err();
            assert!(why.contains("2026-03-02") && why.contains("1970"), "{text}: {why}");
        }
        for text in ["0", "1000000000000000", "1772472600000000000"] {
            let at = Timestamp::from_nanos(text.parse().unwrap());
            assert_eq!(TimeArg::parse(text), Ok(TimeArg::Instant(at)), "{text}");
        }
    }
}
