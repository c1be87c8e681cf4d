//! `engramd sql`: one SELECT on the store.

use clap::Args;
use serde_json::json;

use super::reader::Reader;
use super::{Context, print};
use crate::mqtt::message::QueryVerb;

/// One SELECT on the store, read-only, at most 10,000 rows and 5 seconds.
///
/// There are sessions, clips, tracks, turns, memories, names, memberships and merges as they are known now, with times
/// as text; the tables below them (session, clip, track, …) hold every version.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd sql \"SELECT person, sum(speech_secs) FROM turns GROUP BY person\"
  engramd sql \"SELECT start, text FROM memories WHERE text LIKE '%mug%'\" --json")]
pub(super) struct SqlArgs {
    /// The SELECT.
    query: String,
    /// Rows at most.
    #[arg(long)]
    limit: Option<usize>,
}

pub(super) fn run(args: &SqlArgs, context: &Context) -> anyhow::Result<u8> {
    let arguments = json!({ "query": args.query, "limit": args.limit });
    let found = Reader::open(context)?.query(QueryVerb::Sql, &arguments)?;
    if context.json {
        print::json(&found)?;
        return Ok(0);
    }
    let columns: Vec<String> =
        found["columns"].as_array().into_iter().flatten().map(print::text).collect();
    let mut table = print::table([]);
    table.set_header(&columns);
    for row in found["rows"].as_array().into_iter().flatten() {
        table.add_row(columns.iter().map(|column| print::text(&row[column])));
    }
    print::line(&table)?;
    if found["truncated"] == true {
        eprintln!("engramd: there are more rows; only the first {} are shown", table.row_count());
    }
    Ok(0)
}
