//! How an answer is told: the value first, then the note that tells it and when that was.

use jiff::tz::TimeZone;

use crate::time::Timestamp;

use super::corpus::Note;

/// "9 November 2026"
pub(super) fn day(at: Timestamp, zone: &TimeZone) -> String {
    at.to_jiff().to_zoned(zone.clone()).strftime("%-d %B %Y").to_string()
}

/// "3 days", "1 hour and 30 minutes": days by the calendar, from most of a day on.
pub(super) fn length(from: Timestamp, to: Timestamp, zone: &TimeZone) -> String {
    const MOST_OF_A_DAY: f64 = 20.0 * 3600.0;
    let secs = to.secs_since(from);
    let counted =
        |count: i64, unit: &str| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
    if secs >= MOST_OF_A_DAY {
        let date = |at: Timestamp| at.to_jiff().to_zoned(zone.clone()).date();
        let days = i64::from((date(to) - date(from)).get_days());
        return match days {
            7 => "7 days (a week)".to_owned(),
            days => counted(days.max(1), "day"),
        };
    }
    let minutes = (secs / 60.0).round() as i64;
    match (minutes / 60, minutes % 60) {
        (0, minutes) => counted(minutes, "minute"),
        (hours, 0) => counted(hours, "hour"),
        (hours, minutes) => {
            format!("{} and {}", counted(hours, "hour"), counted(minutes, "minute"))
        }
    }
}

pub(super) use crate::text::{capitalised, uncapitalised};

/// What a note says, in its own words; a reply behind what it replies to.
pub(super) fn quoted(note: &Note) -> String {
    let text = &note.text;
    let Some(heard) = &note.heard else { return format!("\u{201c}{text}\u{201d}") };
    let said = |speaker: &Option<String>, verb: &str, text: &str| {
        format!("{} {verb}: \u{201c}{text}\u{201d}", speaker.as_deref().unwrap_or("Somebody"))
    };
    let asked = note.read.replies_to.and_then(|line| heard.before.get(line));
    let asked = asked.map(|line| said(&line.speaker, "asked", &line.text) + " ");
    asked.unwrap_or_default() + &said(&heard.speaker, "said", text)
}

/// How and when it came to be known.
pub(super) fn source(note: &Note, zone: &TimeZone) -> String {
    let day = day(note.told, zone);
    match note.heard {
        Some(_) => {
            let hour = note.told.to_jiff().to_zoned(zone.clone()).strftime("%-H:%M");
            format!(" I heard it on {day} at {hour}.")
        }
        None => format!(" I was told on {day}."),
    }
}
