//! `engramd sql`: one SELECT on the store.

use clap::Args;
use serde_json::json;

use super::reader::Reader;
use super::{Context, print};
use crate::mqtt::message::QueryVerb;

/// One SELECT on the store, read-only, at most 10,000 rows and 5 seconds. Times are nanoseconds since 1970.
///
/// Views of what holds now: people (id, name, aliases, faces, voices, first_seen, last_seen, seen_secs, spoken_secs),
/// sightings (person, face, source, clip, track, start, end, secs), utterances (person, voice, source, clip, turn, start,
/// end, words), memories (id, kind, text, start, end, clip, entities, importance, confidence), facts (memory, subject,
/// attribute, value, valid_from, valid_to, confidence, weak), decisions (memory, at, action, other, reason), objects (object,
/// place, since, told_by, memory), object_sightings (object, label, source, clip, track, start, end, secs), places (id,
/// name), clips (id, session, start, end, frames, analysed, dropped), answers (id, question, document, asked). The tables below them hold every version.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd sql \"SELECT person, count(*), sum(secs) FROM sightings GROUP BY person\"
  engramd sql \"SELECT datetime(start / 1e9, 'unixepoch'), text FROM memories WHERE text LIKE '%mug%'\" --json")]
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
        table.add_row(row.as_array().into_iter().flatten().map(print::text));
    }
    print::line(&table)?;
    if found["truncated"] == true {
        eprintln!("engramd: there are more rows; only the first {} are shown", table.row_count());
    }
    Ok(0)
}
