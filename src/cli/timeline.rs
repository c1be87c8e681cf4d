//! `engramd timeline`: who was there when, as a picture in the terminal.

use clap::Args;
use jiff::tz::TimeZone;
use serde_json::json;

use super::context::Context;
use super::print::{self, Paint};
use super::reader::Reader;
use super::times::{AsOfArg, TimeArg, between, known};
use crate::daemon::queries::{Block, BlockKind, Row, Timeline};
use crate::ids::SessionId;
use crate::mqtt::message::QueryVerb;
use crate::time::{Span, Timestamp};

/// Who was there when: one row per person, blocks where they were seen and where they spoke.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd timeline                               the newest session
  engramd timeline --entity Ava --words
  engramd timeline --day 2026-03-02
  engramd timeline --start yesterday --end \"today 12:00\"
  engramd timeline --start 2026-03-02T17:00:00Z --end 2026-03-02T18:00:00Z --json")]
pub(super) struct TimelineArgs {
    /// From here: RFC 3339, a date, a local date with a time, or words like "yesterday" [default: the beginning of the newest
    /// session].
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    start: Option<TimeArg>,
    /// To here [default: the end of what is known].
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    end: Option<TimeArg>,
    /// That day, in `robot.timezone`: 2026-03-02.
    #[arg(long, value_name = "DATE", conflicts_with_all = ["start", "end"])]
    day: Option<jiff::civil::Date>,
    /// Only while the robot was at that place: an id or a name.
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
    /// Only this one: an id or a name.
    #[arg(long, value_name = "WHO")]
    entity: Option<String>,
    /// Only this session.
    #[arg(long, value_name = "s1")]
    session: Option<SessionId>,
    /// What was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
    /// List what was said below the picture.
    #[arg(long)]
    words: bool,
}

pub(super) fn run(args: &TimelineArgs, context: &Context) -> anyhow::Result<u8> {
    let (start, end) = between(args.start.as_ref(), args.end.as_ref(), context)?;
    let mut arguments = json!({});
    for (key, value) in [
        ("start", json!(start)),
        ("end", json!(end)),
        ("day", json!(args.day)),
        (
            "timezone",
            json!(args.day.and_then(|_| context.config.timezone().iana_name().map(str::to_owned))),
        ),
        ("place", json!(args.place)),
        ("entity", json!(args.entity)),
        ("session", json!(args.session)),
        ("as_of", json!(known(args.as_of.as_ref(), context)?)),
    ] {
        if !value.is_null() {
            arguments[key] = value;
        }
    }
    let document = Reader::open(context)?.query(QueryVerb::Timeline, &arguments)?;
    if context.json {
        print::json(&document)?;
        return Ok(0);
    }
    let timeline: Timeline = serde_json::from_value(print::for_people(document))?;
    let paint = Paint::for_stdout();
    let zone = context.config.timezone();
    print::line(picture(&timeline, &zone, print::terminal_columns(), paint))?;
    if args.words {
        print::line(words(&timeline, &zone, paint))?;
    }
    Ok(0)
}

/// How a row is called.
fn label(row: &Row) -> String {
    match (&row.name, row.person) {
        (Some(name), _) => name.clone(),
        (None, Some(person)) => person.to_string(),
        (None, None) => "unknown".to_owned(),
    }
}

/// The picture: head, one or two lines per person, axis.
fn picture(timeline: &Timeline, zone: &TimeZone, columns: usize, paint: Paint) -> String {
    let span = Span::new(timeline.start, timeline.end);
    if timeline.rows.is_empty() {
        return "nobody was seen or heard then".to_owned();
    }
    let head = format!(
        "{} – {} ({}), {}, {} clips",
        print::local(span.start, zone),
        print::local_clock(span.end, zone),
        zone.iana_name().unwrap_or("UTC"),
        print::duration(span.secs()),
        timeline.clips.len()
    );
    let widest = timeline.rows.iter().map(|row| label(row).chars().count()).max().unwrap_or(0);
    let left = widest.min(20) + 8;
    let width = columns.saturating_sub(left).clamp(20, 400);
    let mut out = format!("{}\n", paint.bold(&head));
    for (number, row) in timeline.rows.iter().enumerate() {
        let mut name: String = label(row).chars().take(20).collect();
        for (kind, word) in [(BlockKind::Seen, "seen"), (BlockKind::Spoke, "spoke")] {
            if !row.blocks.iter().any(|block| block.kind == kind) {
                continue;
            }
            let bar = bar(&row.blocks, kind, span, width);
            let name_width = left - 8;
            let lead = format!("{name:<name_width$}  {word:<5} ");
            out.push_str(&format!("{lead}{}\n", paint.person(number, bar.trim_end())));
            name.clear();
        }
    }
    out.push_str(&" ".repeat(left));
    out.push_str(&paint.dim(&axis(span, width, zone)));
    out
}

/// One line of blocks; the fuller a cell, the darker.
fn bar(blocks: &[Block], kind: BlockKind, span: Span, width: usize) -> String {
    const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
    let secs = span.secs().max(1e-9) / width as f64;
    (0..width)
        .map(|cell| {
            let start = span.start.plus_secs(cell as f64 * secs);
            let cell = Span::new(start, start.plus_secs(secs));
            let covered: f64 = blocks
                .iter()
                .filter(|block| block.kind == kind)
                .map(|block| Span::new(block.start, block.end).overlap_secs(cell))
                .sum();
            if covered <= 0.0 {
                return ' ';
            }
            let share = (covered / secs).min(1.0);
            SHADES[((share * 4.0).ceil() as usize).clamp(1, 4) - 1]
        })
        .collect()
}

/// Ticks with clock times, as many as fit.
fn axis(span: Span, width: usize, zone: &TimeZone) -> String {
    const LABEL: usize = 10;
    let ticks = (width / LABEL).max(1);
    let mut line = String::new();
    for tick in 0..ticks {
        let at = span.start.plus_secs(span.secs() * tick as f64 / ticks as f64);
        let place = tick * width / ticks;
        while line.chars().count() < place {
            line.push(' ');
        }
        line.push_str(&format!("╵{}", print::local_clock(at, zone)));
    }
    line
}

/// What was said, in time order.
fn words(timeline: &Timeline, zone: &TimeZone, paint: Paint) -> String {
    let mut said: Vec<_> = timeline
        .rows
        .iter()
        .enumerate()
        .flat_map(|(number, row)| row.blocks.iter().map(move |block| (number, row, block)))
        .filter_map(|(number, row, block)| Some((block.start, number, row, block.text.as_ref()?)))
        .collect();
    said.sort_by_key(|(at, number, ..)| (*at, *number));
    let line = |(at, number, row, text): (Timestamp, usize, &Row, &String)| {
        let who = paint.person(number, &label(row));
        format!("{}  {who}: {text}", paint.dim(&print::local_clock(at, zone)))
    };
    said.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{EntityId, EntityKind};

    fn at(secs: f64) -> Timestamp {
        Timestamp::from_nanos(1_772_472_600_000_000_000).plus_secs(secs)
    }

    fn block(kind: BlockKind, start: f64, end: f64, text: Option<&str>) -> Block {
        let text = text.map(str::to_owned);
        Block { kind, start: at(start), end: at(end), source: "front".into(), text }
    }

    #[test]
    fn the_picture_shows_who_was_there_when() {
        let timeline = Timeline {
            start: at(0.0),
            end: at(40.0),
            rows: vec![
                Row {
                    person: Some(EntityId::new(EntityKind::Person, 1)),
                    name: Some("Ava".into()),
                    blocks: vec![
                        block(BlockKind::Seen, 2.0, 12.0, None),
                        block(BlockKind::Spoke, 4.0, 6.5, Some("hello there")),
                    ],
                },
                Row {
                    person: None,
                    name: None,
                    blocks: vec![block(BlockKind::Spoke, 30.0, 31.0, Some("hm"))],
                },
            ],
            clips: Vec::new(),
        };
        let shown = picture(&timeline, &TimeZone::UTC, 35, Paint::plain());
        assert_eq!(
            shown,
            "2026-03-02 17:30:00 – 17:30:40 (UTC), 40.0 s, 0 clips\n\
             Ava      seen   █████\n\
             \x20        spoke   █░\n\
             unknown  spoke                ▒\n\
             \x20              ╵17:30:00 ╵17:30:20"
        );
        let said = words(&timeline, &TimeZone::UTC, Paint::plain());
        assert_eq!(said, "17:30:04  Ava: hello there\n17:30:30  unknown: hm");
    }
}
