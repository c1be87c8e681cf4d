//! `engramd sql`: one SELECT on the store.

use clap::Args;
use serde_json::json;

use super::context::Context;
use super::print;
use super::reader::Reader;
use super::times::{AsOfArg, known};
use crate::memory::sql_views;
use crate::mqtt::message::QueryVerb;

/// What it is, and which views there are.
fn about() -> String {
    format!(
        "One SELECT on the store, read-only, at most 10,000 rows and 5 seconds. Times are nanoseconds since 1970.\n\n\
         Views of what holds: {}",
        sql_views()
    )
}

/// One SELECT on the store, read-only, at most 10,000 rows and 5 seconds. Times are nanoseconds since 1970.
#[derive(Debug, Args)]
#[command(long_about = about(), after_help = "Examples:
  engramd sql \"SELECT person, count(*), sum(secs) FROM sightings GROUP BY person\"
  engramd sql \"SELECT datetime(start / 1e9, 'unixepoch'), text FROM memories WHERE text LIKE '%mug%'\" --json")]
pub(super) struct SqlArgs {
    /// The SELECT.
    query: String,
    /// Rows at most.
    #[arg(long)]
    limit: Option<usize>,
    /// On what was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
}

pub(super) fn run(args: &SqlArgs, context: &Context) -> anyhow::Result<u8> {
    let arguments = json!({ "query": args.query, "limit": args.limit, "as_of": known(args.as_of.as_ref(), context)? });
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
        table.add_row(row.as_array().into_iter().flatten().map(print::text));
    }
    print::line(&table)?;
    if found["truncated"] == true {
        eprintln!("engramd: there are more rows; only the first {} are shown", table.row_count());
    }
    Ok(0)
}
