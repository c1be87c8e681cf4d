//! `engramd visits`: who was there from when to when.

use clap::Args;
use serde_json::json;

use super::context::Context;
use super::print;
use super::reader::Reader;
use super::times::{AsOfArg, TimeArg, between, known};
use crate::daemon::queries::Visits;
use crate::mqtt::message::QueryVerb;

/// Who was there from when to when, what they said and did: one row per visit.
///
/// A visit is over when somebody was neither seen nor heard for `visits.absence_secs`, or when the recording ends.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd visits                                 the newest hundred
  engramd visits --who Ava
  engramd visits --start yesterday --end \"today 12:00\"
  engramd visits --json")]
pub(super) struct VisitsArgs {
    /// Only of this person: an id or a name.
    #[arg(long, value_name = "WHO")]
    who: Option<String>,
    /// From here: RFC 3339, a date, a local date with a time, or words like "yesterday".
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    start: Option<TimeArg>,
    /// To here [default: the end of what is known].
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    end: Option<TimeArg>,
    /// The newest so many.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// What was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
}

pub(super) fn run(args: &VisitsArgs, context: &Context) -> anyhow::Result<u8> {
    let (start, end) = between(args.start.as_ref(), args.end.as_ref(), context)?;
    let mut arguments = json!({ "limit": args.limit });
    for (key, value) in [("start", json!(start)), ("end", json!(end)), ("who", json!(args.who))] {
        if !value.is_null() {
            arguments[key] = value;
        }
    }
    if let Some(as_of) = known(args.as_of.as_ref(), context)? {
        arguments["as_of"] = json!(as_of);
    }
    let document = Reader::open(context)?.query(QueryVerb::Visits, &arguments)?;
    if context.json {
        print::json(&document)?;
        return Ok(0);
    }
    let found: Visits = serde_json::from_value(print::for_people(document))?;
    if found.visits.is_empty() {
        print::line("nobody was there")?;
        return Ok(0);
    }
    let zone = context.config.timezone();
    let mut table = print::table(["who", "from", "for", "where", "said", "did", "still"]);
    for visit in &found.visits {
        let secs = print::duration(visit.end.secs_since(visit.start));
        let still = visit.still.as_ref().map(|still| still.0.chars().take(12).collect());
        table.add_row([
            visit.name.clone().unwrap_or_else(|| visit.person.to_string()),
            print::local(visit.start, &zone),
            if visit.over { secs } else { format!("{secs}, here") },
            visit.place.clone().unwrap_or_else(|| visit.sources.join(", ")),
            visit.said.clone().unwrap_or_else(|| "said nothing".to_owned()),
            visit.did.clone().unwrap_or_default(),
            still.unwrap_or_default(),
        ]);
    }
    print::line(table)?;
    Ok(0)
}
