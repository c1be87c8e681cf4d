//! `engramd import`: read an export into an empty memory.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use super::{Context, print};
use crate::daemon::assemble::open_store;

/// Read an export (JSON lines of `engramd export`) into an empty memory. All of it, or nothing.
#[derive(Debug, Args)]
#[command(after_help = "Media files (face chips, key frames) are not in an export.

Examples:
  engramd export --data-dir old | engramd import - --data-dir new
  engramd import memory.jsonl --data-dir restored")]
pub(super) struct ImportArgs {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &ImportArgs, context: &Context) -> anyhow::Result<u8> {
    let lines: Box<dyn BufRead> = match args.file.to_str() {
        Some("-") => Box::new(BufReader::new(stdin())),
        _ => {
            let file = File::open(&args.file)
                .with_context(|| format!("opening {}", args.file.display()))?;
            Box::new(BufReader::new(file))
        }
    };
    let memory = open_store(&context.config)?;
    let imported = memory.import(lines)?;
    if context.json {
        print::json(&imported)?;
    } else {
        print::line(format!(
            "{}: {} rows of {} commits",
            memory.dir().display(),
            imported.rows,
            imported.commits
        ))?;
    }
    Ok(0)
}
