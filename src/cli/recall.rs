//! `engramd recall`: memories for a text, best first.

use clap::Args;
use serde_json::json;

use super::reader::Reader;
use super::{Context, print};
use crate::mqtt::message::{AsOf, QueryVerb};

/// Find memories for a text, best first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd recall \"red mug\"
  engramd recall \"what Ava likes\" --limit 3 --json")]
pub(super) struct RecallArgs {
    /// The text.
    #[arg(required = true)]
    query: Vec<String>,
    /// How many.
    #[arg(long, default_value_t = 10)]
    limit: usize,
    /// From what was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOf::parse)]
    as_of: Option<AsOf>,
}

pub(super) fn run(args: &RecallArgs, context: &Context) -> anyhow::Result<u8> {
    let arguments =
        json!({ "query": args.query.join(" "), "limit": args.limit, "as_of": args.as_of });
    let found = Reader::open_for_recall(context)?.query(QueryVerb::Recall, &arguments)?;
    if context.json {
        print::json(&found)?;
        return Ok(0);
    }
    let zone = context.config.timezone();
    let mut table = print::table(["score", "when", "what", "memory"]);
    for hit in found["hits"].as_array().into_iter().flatten() {
        table.add_row([
            hit["score"].as_f64().map(|score| format!("{score:.2}")).unwrap_or_default(),
            print::local_of(&hit["start"], &zone),
            print::text(&hit["text"]),
            print::text(&hit["memory"]),
        ]);
    }
    if table.row_count() == 0 {
        print::line("nothing found")?;
    } else {
        print::line(table)?;
    }
    Ok(0)
}
