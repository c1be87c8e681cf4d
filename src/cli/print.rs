//! What people read: tables, times, colours (only on a terminal).

use std::io::{IsTerminal, Write, stdout};

use comfy_table::{ContentArrangement, Table, presets};
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use crate::time::Timestamp;

/// Colours of persons, in order: readable on dark and light ground.
const COLOURS: [u8; 6] = [36, 33, 35, 32, 34, 31];

/// Puts colours in, or does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours when standard output is a terminal and `NO_COLOR` is not set.
    pub(super) fn for_stdout() -> Self {
        Self { on: stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    /// None.
    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self { on: false }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.code(1, text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.code(2, text)
    }

    pub(super) fn green(self, text: &str) -> String {
        self.code(32, text)
    }

    pub(super) fn yellow(self, text: &str) -> String {
        self.code(33, text)
    }

    pub(super) fn red(self, text: &str) -> String {
        self.code(31, text)
    }

    /// The colour of the n-th person.
    pub(super) fn person(self, number: usize, text: &str) -> String {
        self.code(COLOURS[number % COLOURS.len()], text)
    }

    fn code(self, code: u8, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Columns of the terminal; 100 where there is none.
pub(super) fn terminal_columns() -> usize {
    rustix::termios::tcgetwinsize(stdout())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns >= 40)
        .unwrap_or(100)
}

/// `2026-03-02 18:30:00` in the robot's time zone.
pub(super) fn local(at: Timestamp, zone: &TimeZone) -> String {
    at.to_jiff().to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// `18:30:00` in the robot's time zone.
pub(super) fn local_clock(at: Timestamp, zone: &TimeZone) -> String {
    at.to_jiff().to_zoned(zone.clone()).strftime("%H:%M:%S").to_string()
}

/// A time inside a JSON document, local; empty where there is none.
pub(super) fn local_of(value: &Value, zone: &TimeZone) -> String {
    value
        .as_str()
        .and_then(|text| Timestamp::parse(text).ok())
        .map(|at| local(at, zone))
        .unwrap_or_default()
}

/// `1:02:03`, `2:03`, `3.5 s`.
pub(super) fn duration(secs: f64) -> String {
    let whole = secs.max(0.0).round() as u64;
    match whole {
        0..60 => format!("{secs:.1} s"),
        60..3600 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

/// A table without frame that fits the terminal.
pub(super) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(terminal_columns()).unwrap_or(100))
        .set_header(header);
    table
}

/// Text inside a JSON document, as [`visible`] has it; numbers as they are, lists joined; empty where there is none.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => visible(text),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// What was told by whomever, without commands for the terminal: control characters are spelled out.
pub(super) fn visible(text: &str) -> String {
    let spelled = |c: char| match c.is_control() && !matches!(c, '\n' | '\t') {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(spelled).collect()
}

/// The same in all of a document that people read; keys are ours.
pub(super) fn for_people(mut document: Value) -> Value {
    fn spell(value: &mut Value) {
        match value {
            Value::String(text) => *text = visible(text),
            Value::Array(items) => items.iter_mut().for_each(spell),
            Value::Object(fields) => fields.values_mut().for_each(spell),
            _ => {}
        }
    }
    spell(&mut document);
    document
}

/// Writes a document for programs.
pub(super) fn json(document: &impl Serialize) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    serde_json::to_writer_pretty(&mut out, document)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Writes a line for people.
pub(super) fn line(text: impl std::fmt::Display) -> anyhow::Result<()> {
    writeln!(stdout().lock(), "{text}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_commands_no_terminal() {
        let told =
            serde_json::json!({ "text": ["\u{1b}[31mred\u{7}", "two\nlines \u{9b}2J\u{e9}"] });
        let words = "\\u{1b}[31mred\\u{7} two\nlines \\u{9b}2J\u{e9}";
        assert_eq!(text(&told["text"]), words);
        assert_eq!(for_people(told)["text"][0], "\\u{1b}[31mred\\u{7}");
    }

    #[test]
    fn people_read_times_in_the_robots_zone_and_durations_at_a_glance() {
        let zone = TimeZone::get("Europe/Berlin").unwrap_or(TimeZone::UTC);
        let at = Timestamp::from_nanos(1_772_472_600_000_000_000);
        assert_eq!(local(at, &zone), "2026-03-02 18:30:00");
        assert_eq!(duration(3.52), "3.5 s");
        assert_eq!(duration(123.0), "2:03");
        assert_eq!(duration(3723.0), "1:02:03");
        assert_eq!(text(&serde_json::json!(["a", 1, null])), "a 1 ");
    }
}
