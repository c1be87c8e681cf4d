//! `engramd recall`: memories for a text, best first.

use clap::Args;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::change::triple;
use super::context::Context;
use super::print;
use super::reader::Reader;
use super::times::{AsOfArg, TimeArg, between, known};
use crate::memory::model::MemoryKind;
use crate::mqtt::message::QueryVerb;

/// Find memories for a text, best first. What lies in a time that the text tells ("yesterday evening") comes first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd recall \"red mug\"
  engramd recall \"what happened on 5 March\"
  engramd recall dinner --place kitchen --entity Ava --kind utterance --beside
  engramd recall \"what Ava likes\" --limit 3 --json
  engramd recall --fact Ava likes \"?\"                  what states that, and what did")]
pub(super) struct RecallArgs {
    /// The text.
    #[arg(required_unless_present = "fact")]
    query: Vec<String>,
    /// What states facts like this one, those that hold first; "?": whatever it is.
    #[arg(long, num_args = 3, action = clap::ArgAction::Set, value_names = ["SUBJECT", "ATTRIBUTE", "VALUE"],
        conflicts_with_all = ["query", "start", "end", "entity", "place", "kinds", "beside"])]
    fact: Option<Vec<String>>,
    /// How many.
    #[arg(long, default_value_t = 10, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    limit: usize,
    /// Only from here; times in the text are then words like others.
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    start: Option<TimeArg>,
    /// Only to here.
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    end: Option<TimeArg>,
    /// Only about this one: an id or a name.
    #[arg(long, value_name = "WHO")]
    entity: Option<String>,
    /// Only what was perceived at that place or tells of it: an id or a name.
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
    /// Only this kind; repeatable.
    #[arg(long = "kind", value_parser = PossibleValuesParser::new(MemoryKind::ALL.map(MemoryKind::word)))]
    kinds: Vec<String>,
    /// Show what was said just before and after, too.
    #[arg(long)]
    beside: bool,
    /// From what was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
}

pub(super) fn run(args: &RecallArgs, context: &Context) -> anyhow::Result<u8> {
    let (start, end) = between(args.start.as_ref(), args.end.as_ref(), context)?;
    let arguments = json!({
        "query": (!args.query.is_empty()).then(|| args.query.join(" ")),
        "fact": args.fact.as_deref().and_then(triple),
        "limit": args.limit,
        "start": start,
        "end": end,
        "entity": args.entity,
        "place": args.place,
        "kinds": args.kinds,
        "as_of": known(args.as_of.as_ref(), context)?,
    });
    let found = Reader::open_for_recall(context)?.query(QueryVerb::Recall, &arguments)?;
    if let Some(note) = found["note"].as_str() {
        eprintln!("engramd: {note}");
    }
    if context.json {
        print::json(&found)?;
        return Ok(0);
    }
    let zone = context.config.timezone();
    let mut table = print::table(["score", "when", "what", "why", "memory"]);
    let beside = found["beside"].as_array().filter(|_| args.beside);
    for hit in found["hits"].as_array().into_iter().chain(beside).flatten() {
        table.add_row(row(hit, &zone));
    }
    if table.row_count() == 0 {
        print::line("nothing found")?;
    } else {
        print::line(table)?;
    }
    Ok(0)
}

fn row(hit: &Value, zone: &TimeZone) -> [String; 5] {
    let reasons: Vec<String> =
        hit["why"].as_array().into_iter().flatten().map(print::text).collect();
    [
        hit["score"].as_f64().map(|score| format!("{score:.2}")).unwrap_or_default(),
        print::local_of(&hit["start"], zone),
        match &hit["valid_to"] {
            Value::Null => print::text(&hit["text"]),
            end => format!("{} (until {})", print::text(&hit["text"]), print::local_of(end, zone)),
        },
        reasons.join("; "),
        print::text(&hit["memory"]),
    ]
}
