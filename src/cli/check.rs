//! `engramd check`: look at everything in a store for damage, and mend it.

use clap::Args;
use serde_json::json;

use super::{Context, print};
use crate::daemon::assemble::{Knowledge, open_store, read_store};
use crate::memorize::vectors;
use crate::memory::Memory;
use crate::time::Timestamp;

/// Look at everything in a store: the database file, every row, every reference, every media file, the indexes.
///
/// Changes nothing without --repair. With it (the daemon must be stopped): rows that cannot be read and files with
/// other bytes are moved to `aside/` in the store, orphans deleted, references to what is not there taken out as new
/// versions, counters raised, missing vectors made where the sentence embedder is there.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 3: the store can be read, but something in it is damaged.

Examples:
  engramd check
  engramd check --data-dir /var/lib/engram --json
  engramd check --repair --data-dir /var/lib/engram")]
pub(super) struct CheckArgs {
    /// Mend what can be mended, then look again.
    #[arg(long)]
    repair: bool,
}

pub(super) fn run(args: &CheckArgs, context: &Context) -> anyhow::Result<u8> {
    let (memory, repaired) =
        if args.repair { mended(context)? } else { (read_store(&context.config)?, Vec::new()) };
    let report = memory.check()?;
    if context.json {
        let mut document = serde_json::to_value(&report)?;
        if args.repair {
            document["repaired"] = json!(repaired);
        }
        print::json(&document)?;
    } else {
        for line in &repaired {
            print::line(format!("mended: {line}"))?;
        }
        for fault in &report.faults {
            print::line(fault)?;
        }
        let verdict = match (report.faults.len(), args.repair) {
            (0, _) => "no fault found".to_owned(),
            (1, false) => "1 fault (`engramd check --repair` mends what can be mended)".to_owned(),
            (faults, false) => {
                format!("{faults} faults (`engramd check --repair` mends what can be mended)")
            }
            (faults, true) => format!(
                "{faults} left; `engramd export` writes what can be read, `engramd import` brings it into a new store"
            ),
        };
        print::line(format!("{}: {} rows, {verdict}", memory.dir().display(), report.rows))?;
        for (count, what) in [
            (
                report.media_taken,
                "media files are not here: given up for the size cap, or not brought by an import",
            ),
            (report.media_unnamed, "media files belong to no row; the next start deletes them"),
            (report.without_vector, "memories have no vector and are found by words alone"),
        ] {
            if count > 0 {
                print::line(format!("{count} {what}"))?;
            }
        }
    }
    Ok(if report.faults.is_empty() { 0 } else { 3 })
}

/// Opens the store for writing and mends it.
fn mended(context: &Context) -> anyhow::Result<(Memory, Vec<String>)> {
    let config = &context.config;
    // Opening for writing would make a store where there is none.
    drop(read_store(config)?);
    let memory = open_store(config)?;
    let at = memory.view().newest_time().unwrap_or_else(Timestamp::wall_clock);
    let mut done = memory.repair(at)?;
    let without = memory.view().without_vector();
    if without.is_empty() {
        return Ok((memory, done));
    }
    // Everything may be mended without a model; vectors need one.
    drop(memory);
    let knowledge = Knowledge::open(config)?;
    let memory = knowledge.memory.clone();
    match knowledge.embedders {
        None => done.push(
            "vectors: the sentence embedder is not here; `engramd models fetch` brings it"
                .to_owned(),
        ),
        Some(embedders) => {
            // The memory is mended even where a server that embeds is down.
            match vectors::make(&memory, embedders.configured().as_ref(), &without) {
                Ok(0) => {}
                Ok(made) => done.push(format!("{made} missing vectors made")),
                Err(error) => done.push(format!("vectors: {error}; the daemon makes them later")),
            }
        }
    }
    Ok((memory, done))
}
