//! `engramd export`: the memory, its percepts or its hash as text.

use std::io::{BufWriter, Write, stdout};

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::context::Context;
use super::print;
use super::times::{AsOfArg, known};
use crate::daemon::assemble::read_store;
use crate::memory::PerceptFilter;

/// Write the memory as JSON lines; or its percepts, its turns for scorers, its hash. Reads the store itself.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd export > memory.jsonl                  every version of every row, answers, access counts
  engramd export --as-of seq:41                  what was known after that commit, without those
  engramd export --percepts                      every face and thing by frame, every turn
  engramd export --rttm > turns.rttm             the turns for diarization scorers
  engramd export --hash                          one hash over everything")]
pub(super) struct ExportArgs {
    /// What was known at that time or after that commit (seq:N or N).
    #[arg(long, value_name = "T|SEQ", value_parser = AsOfArg::parse, conflicts_with = "hash")]
    as_of: Option<AsOfArg>,
    /// The percepts: faces and things by frame, and turns.
    #[arg(long, conflicts_with_all = ["rttm", "hash"])]
    percepts: bool,
    /// The turns as RTTM.
    #[arg(long, conflicts_with = "hash")]
    rttm: bool,
    /// Only the hash.
    #[arg(long)]
    hash: bool,
}

pub(super) fn run(args: &ExportArgs, context: &Context) -> anyhow::Result<u8> {
    let memory = read_store(&context.config)?;
    if args.hash {
        print::line(json!({ "hash": memory.hash() }))?;
        return Ok(0);
    }
    let at = known(args.as_of.as_ref(), context)?.map(Into::into);
    let mut out = BufWriter::new(stdout().lock());
    if args.percepts || args.rttm {
        let view = match at {
            Some(at) => memory.view_as_of(at)?,
            None => memory.view(),
        };
        let everything = PerceptFilter::default();
        match args.percepts {
            true => view.export_percepts(&everything, &mut out),
            false => view.export_rttm(&everything, &mut out),
        }
        .context("writing the export")?;
    } else {
        memory.export(at, &mut out)?;
    }
    out.flush().context("writing the export")?;
    // Malformed rows and damaged tables were left out.
    let damaged = memory.loaded().malformed > 0 || !memory.damaged_tables().is_empty();
    Ok(if damaged { 3 } else { 0 })
}
