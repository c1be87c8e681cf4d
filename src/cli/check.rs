//! `engramd check`: look at everything in a store for damage, and mend it.

use clap::Args;
use serde_json::json;

use super::context::Context;
use super::print;
use crate::config::Config;
use crate::daemon::assemble::{AssembleError, Knowledge, open_store, read_store};
use crate::ids::MemoryId;
use crate::memorize::vectors;
use crate::memory::{self, CheckReport, MemoryError, Salvaged};
use crate::time::Timestamp;

/// Look at everything in a store: the database file, every row, every reference, every media file, the indexes.
///
/// Changes nothing without --repair. With it (the daemon must be stopped): where pages of the database are damaged, a
/// new one is written of what can be read and the old one kept in `aside/` in the store; rows that cannot be read and
/// files with other bytes are moved there, too, orphans deleted, references to what is not there taken out as new
/// versions, counters raised, missing vectors made where the sentence embedder is there.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 3: something in the store is damaged, or was and is mended now.

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
    let Mended { salvaged, mended, faults } =
        if args.repair { mended(context)? } else { Mended::default() };
    let report = looked_at(context)?;
    let dir = context.config.store_dir();
    if context.json {
        let mut document = serde_json::to_value(&report)?;
        if args.repair {
            document["repaired"] = json!(mended);
            document["salvaged"] = json!(salvaged);
        }
        print::json(&document)?;
    } else {
        if let Some(salvaged) = &salvaged {
            print_salvaged(salvaged)?;
        }
        for line in &mended {
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
        print::line(format!("{}: {} rows, {verdict}", dir.display(), report.rows))?;
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
    let sound = salvaged.is_none() && faults == 0 && report.faults.is_empty();
    Ok(if sound { 0 } else { 3 })
}

/// The report on a store; of one whose pages are damaged, so that it cannot be opened, on these.
fn looked_at(context: &Context) -> anyhow::Result<CheckReport> {
    let config = &context.config;
    let checked = match read_store(config) {
        Ok(memory) => memory.check(),
        Err(AssembleError::Memory(error)) => Err(error),
        Err(error) => return Err(error.into()),
    };
    match checked {
        Err(MemoryError::Damaged { .. } | MemoryError::Encryption { .. }) => {
            let faults = memory::page_faults(&config.store_dir(), config.store_key()?.as_ref())?;
            // What it cannot name it could not read either.
            Ok(match checked {
                Err(error) if faults.is_empty() => {
                    CheckReport { faults: vec![error.to_string()], ..CheckReport::default() }
                }
                _ => CheckReport { faults, ..CheckReport::default() },
            })
        }
        checked => Ok(checked?),
    }
}

fn print_salvaged(salvaged: &Salvaged) -> anyhow::Result<()> {
    for fault in &salvaged.faults {
        print::line(format!("damaged: {fault}"))?;
    }
    for table in &salvaged.tables {
        print::line(format!("salvaged: {}", table.told()))?;
    }
    for (table, rows) in &salvaged.made_again {
        print::line(format!("salvaged: table {table}: {rows} rows made again from others"))?;
    }
    let aside = salvaged.aside.display();
    print::line(format!("salvaged: the damaged database is {aside}; delete it when all is well"))
}

/// What was done to mend a store.
#[derive(Default)]
struct Mended {
    /// The database was written anew.
    salvaged: Option<Salvaged>,
    /// What else, a line each.
    mended: Vec<String>,
    /// Faults there were.
    faults: usize,
}

/// Opens the store for writing and mends it.
fn mended(context: &Context) -> anyhow::Result<Mended> {
    let config = &context.config;
    let salvaged = memory::salvage(&config.store_dir(), config.store_key()?.as_ref())?;
    // Opening for writing would make a store where there is none.
    drop(read_store(config)?);
    let memory = open_store(config)?;
    let faults = memory.check()?.faults.len();
    let at = memory.view().newest_time().unwrap_or_else(Timestamp::wall_clock);
    let mut done = memory.repair(at)?;
    let without = memory.view().without_vector();
    // Everything may be mended without a model; vectors need one.
    drop(memory);
    if !without.is_empty() {
        done.extend(embedded(config, &without)?);
    }
    Ok(Mended { salvaged, mended: done, faults })
}

/// Makes missing vectors; what came of it.
fn embedded(config: &Config, without: &[MemoryId]) -> anyhow::Result<Option<String>> {
    let knowledge = Knowledge::open(config)?;
    let Some(embedders) = knowledge.embedders else {
        let missing =
            "vectors: the sentence embedder is not here; `engramd models fetch` brings it";
        return Ok(Some(missing.to_owned()));
    };
    // The memory is mended even where a server that embeds is down.
    Ok(match vectors::make(&knowledge.memory, embedders.configured().as_ref(), without) {
        Ok(0) => None,
        Ok(made) => Some(format!("{made} missing vectors made")),
        Err(error) => Some(format!("vectors: {error}; the daemon makes them later")),
    })
}
