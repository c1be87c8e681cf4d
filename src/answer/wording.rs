//! Times, lengths and lists in words.

use jiff::tz::TimeZone;

use crate::recall::time_expr::TimeExpr;
use crate::time::{Span, Timestamp};

/// Words for times in the robot's zone, as seen from now.
#[derive(Clone, Debug)]
pub(super) struct Wording {
    pub(super) zone: TimeZone,
    pub(super) now: Timestamp,
}

impl Wording {
    /// "17:30:05".
    pub(super) fn clock(&self, at: Timestamp) -> String {
        at.to_jiff().to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string()
    }

    /// "", "yesterday ", "on 28 February 2026 ".
    fn day(&self, at: Timestamp) -> String {
        let date = at.to_jiff().to_zoned(self.zone.clone()).date();
        let today = self.now.to_jiff().to_zoned(self.zone.clone()).date();
        if date == today {
            String::new()
        } else if today.yesterday().is_ok_and(|yesterday| yesterday == date) {
            "yesterday ".into()
        } else {
            format!("on {} ", date.strftime("%-d %B %Y"))
        }
    }

    /// "Saturday 28 February 2026".
    pub(super) fn date(&self, at: Timestamp) -> String {
        at.to_jiff().to_zoned(self.zone.clone()).strftime("%A %-d %B %Y").to_string()
    }

    /// Midnights from the one to the other.
    pub(super) fn days(&self, from: Timestamp, to: Timestamp) -> i32 {
        let date = |at: Timestamp| at.to_jiff().to_zoned(self.zone.clone()).date();
        date(from).until(date(to)).map_or(0, |days| days.get_days())
    }

    /// "at 17:30:05", "yesterday at 17:30:05", "on 28 February 2026 at 17:30:05".
    pub(super) fn at(&self, at: Timestamp) -> String {
        format!("{}at {}", self.day(at), self.clock(at))
    }

    /// "17:30:05", "yesterday at 17:30:05", "28 February 2026 at 17:30:05": what stands behind "since", "from", "until".
    pub(super) fn moment(&self, at: Timestamp) -> String {
        let text = self.at(at);
        match text.strip_prefix("at ").or_else(|| text.strip_prefix("on ")) {
            Some(bare) => bare.to_owned(),
            None => text,
        }
    }

    /// "from 17:30:05 to 17:30:12"; whole days by their names.
    pub(super) fn stretch(&self, span: Span) -> String {
        if let Some(days) = self.whole_days(span) {
            return days;
        }
        let (start, end) = (self.day(span.start), self.day(last_inside(span)));
        if start == end {
            format!("{start}from {} to {}", self.clock(span.start), self.clock(span.end))
        } else {
            format!("from {} to {}", self.moment(span.start), self.moment(span.end))
        }
    }

    /// "today", "yesterday", "on 28 February 2026", "from 1 March 2026 to 7 March 2026"; `None` where the span begins or
    /// ends within a day.
    fn whole_days(&self, span: Span) -> Option<String> {
        let local = |at: Timestamp| at.to_jiff().to_zoned(self.zone.clone());
        let (start, end) = (local(span.start), local(span.end));
        let midnight = jiff::civil::Time::midnight();
        let whole = start.time() == midnight && end.time() == midnight;
        if !whole || start.date() >= end.date() {
            return None;
        }
        let (first, last) = (start.date(), end.date().yesterday().ok()?);
        if first < last {
            let date = |date: jiff::civil::Date| date.strftime("%-d %B %Y").to_string();
            return Some(format!("from {} to {}", date(first), date(last)));
        }
        let day = self.day(span.start);
        Some(if day.is_empty() { "today".to_owned() } else { day.trim_end().to_owned() })
    }

    /// A short time as a moment, a long one as a stretch.
    pub(super) fn when(&self, span: Span) -> String {
        if span.secs() < 1.5 { self.at(span.start) } else { self.stretch(span) }
    }

    /// "12 minutes ago".
    pub(super) fn ago(&self, at: Timestamp) -> String {
        let secs = self.now.secs_since(at);
        if secs < 1.0 { "just now".into() } else { format!("{} ago", length(secs)) }
    }
}

/// The last instant that a span holds.
pub(super) fn last_inside(span: Span) -> Timestamp {
    Timestamp::from_nanos(span.end.as_nanos().saturating_sub(1)).max(span.start)
}

/// "9.9 seconds", "1 minute 12 seconds", "2 hours 5 minutes", "3 days".
pub(super) fn length(secs: f64) -> String {
    let unit = |n: i64, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    if secs < 59.95 {
        let tenths = (secs * 10.0).round() / 10.0;
        return if tenths == 1.0 { "1 second".into() } else { format!("{tenths} seconds") };
    }
    let whole = secs.round() as i64;
    let pair = |big: i64, big_word: &str, small: i64, small_word: &str| {
        if small == 0 {
            unit(big, big_word)
        } else {
            format!("{} {}", unit(big, big_word), unit(small, small_word))
        }
    };
    match whole {
        ..3_600 => pair(whole / 60, "minute", whole % 60, "second"),
        3_600..86_400 => pair(whole / 3_600, "hour", whole % 3_600 / 60, "minute"),
        _ => pair(whole / 86_400, "day", whole % 86_400 / 3_600, "hour"),
    }
}

/// "a", "a and b", "a, b and c".
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// "once", "twice", "5 times".
pub(super) fn times(count: usize) -> String {
    match count {
        1 => "once".into(),
        2 => "twice".into(),
        n => format!("{n} times"),
    }
}

pub(super) use crate::text::capitalised as sentence;

/// The text less its times; nothing where no word is left.
pub(super) fn without(text: &str, times: &[TimeExpr]) -> String {
    let mut rest = String::new();
    let mut from = 0;
    for time in times {
        rest.push_str(text.get(from..time.range.start).unwrap_or_default());
        rest.push(' ');
        from = from.max(time.range.end);
    }
    rest.push_str(text.get(from..).unwrap_or_default());
    let words: Vec<&str> = rest.split_whitespace().collect();
    words.join(" ").trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_a_person_says_them() {
        let now = Timestamp::parse("2026-03-02T17:33:20Z").unwrap();
        let wording = Wording { zone: TimeZone::get("Europe/Berlin").unwrap(), now };
        assert_eq!(wording.at(now.plus_secs(-60.0)), "at 18:32:20");
        assert_eq!(wording.at(now.plus_secs(-86_400.0)), "yesterday at 18:33:20");
        assert_eq!(wording.at(now.plus_secs(-400_000.0)), "on 26 February 2026 at 03:26:40");
        assert_eq!(wording.ago(now.plus_secs(-75.0)), "1 minute 15 seconds ago");
        assert_eq!(wording.moment(now.plus_secs(-60.0)), "18:32:20");
        assert_eq!(wording.moment(now.plus_secs(-400_000.0)), "26 February 2026 at 03:26:40");
        assert_eq!(length(9.94), "9.9 seconds");
        assert_eq!(length(3_600.0), "1 hour");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }

    #[test]
    fn whole_days_have_no_hours() {
        let now = Timestamp::parse("2026-03-02T17:33:20Z").unwrap();
        let wording = Wording { zone: TimeZone::UTC, now };
        let span = |start: &str, end: &str| {
            let at = |text: &str| Timestamp::parse(&format!("2026-{text}:00Z")).unwrap();
            wording.stretch(Span::new(at(start), at(end)))
        };
        for (start, end, wanted) in [
            ("03-02T00:00", "03-03T00:00", "today"),
            ("03-01T00:00", "03-02T00:00", "yesterday"),
            ("02-27T00:00", "02-28T00:00", "on 27 February 2026"),
            ("02-23T00:00", "03-02T00:00", "from 23 February 2026 to 1 March 2026"),
            ("03-02T09:00", "03-02T10:00", "from 09:00:00 to 10:00:00"),
            ("03-01T18:00", "03-02T00:00", "yesterday from 18:00:00 to 00:00:00"),
            ("03-01T22:00", "03-02T06:00", "from yesterday at 22:00:00 to 06:00:00"),
        ] {
            assert_eq!(span(start, end), wanted);
        }
    }
}
