//! `engramd check`: look at everything in a store for damage.

use clap::Args;

use super::{Context, print};
use crate::memory::Memory;

/// Look at everything in a store: the database file, every row, every reference, every media file. Changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 3: the store can be read, but something in it is damaged.

Examples:
  engramd check
  engramd check --data-dir /var/lib/engram --json")]
pub(super) struct CheckArgs {}

pub(super) fn run(_: &CheckArgs, context: &Context) -> anyhow::Result<u8> {
    let memory = Memory::open_read_only(&context.config.store_dir())?;
    let report = memory.check()?;
    if context.json {
        print::json(&report)?;
    } else {
        for fault in &report.faults {
            print::line(fault)?;
        }
        let verdict = match report.faults.len() {
            0 => "no fault found".to_owned(),
            faults => format!("{faults} faults"),
        };
        print::line(format!(
            "{}: {} rows, {verdict}; {} media files were given up for the size cap",
            memory.dir().display(),
            report.rows,
            report.media_taken
        ))?;
    }
    Ok(if report.faults.is_empty() { 0 } else { 3 })
}
