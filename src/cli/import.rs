//! `engramd import`: read an export, or a memory graph of M3-Agent, into an empty memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read as _, stdin};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;

use super::context::Context;
use super::print;
use crate::daemon::assemble::{language_if_any, open_store};
use crate::memorize::{FactReader, Memorizer};
use crate::memory::{M3_ORIGIN, M3Graph};
use crate::time::Timestamp;

/// Read an export (JSON lines of `engramd export`) or a memory graph of M3-Agent into an empty memory. All of it, or
/// nothing.
#[derive(Debug, Args)]
#[command(
    after_help = "Media files (face chips, key frames) are not in an export. A graph of M3-Agent is
converted first (scripts/m3_graph.py of the source); its vectors are not taken over.

Examples:
  engramd export --data-dir old | engramd import - --data-dir new
  engramd import memory.jsonl --data-dir restored
  m3_graph.py kitchen.pkl | engramd import - --start 2026-03-02T17:30:00Z --data-dir kitchen"
)]
pub(super) struct ImportArgs {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// When the first clip of an M3-Agent graph began, which does not say it [default: 1970].
    #[arg(long, visible_alias = "start-time", value_name = "T", value_parser = Timestamp::parse)]
    start: Option<Timestamp>,
}

pub(super) fn run(args: &ImportArgs, context: &Context) -> anyhow::Result<u8> {
    let mut lines: Box<dyn BufRead> = match args.file.to_str() {
        Some("-") => Box::new(BufReader::new(stdin())),
        _ => {
            let file = File::open(&args.file)
                .with_context(|| format!("opening {}", args.file.display()))?;
            Box::new(BufReader::new(file))
        }
    };
    let mut first = String::new();
    lines.read_line(&mut first).with_context(|| {
        format!(
            "reading {} (a pickle of M3-Agent is converted first: m3_graph.py GRAPH.pkl | engramd import -)",
            args.file.display()
        )
    })?;
    let graph = M3Graph::begins_with(&first);
    let lines = Cursor::new(first.into_bytes()).chain(lines);
    if graph {
        return graph_of_m3(&M3Graph::read(lines)?, args.start, context);
    }
    if args.start.is_some() {
        bail!("--start is for graphs of M3-Agent; an export has its times in it");
    }
    let memory = open_store(&context.config)?;
    let imported = memory.import(lines)?;
    if !imported.whole {
        eprintln!(
            "warning: this export is of an older engram, which does not say where it ends: if it was cut, that cannot \
             be seen"
        );
    }
    if context.json {
        print::json(&imported)?;
    } else {
        print::line(format!(
            "{}: {} rows of {} commits, {} beside them (answers, access counts)",
            memory.dir().display(),
            imported.rows,
            imported.commits,
            imported.beside
        ))?;
    }
    Ok(0)
}

fn graph_of_m3(graph: &M3Graph, start: Option<Timestamp>, context: &Context) -> anyhow::Result<u8> {
    let begin = start.unwrap_or(Timestamp::EPOCH);
    if start.is_none() {
        eprintln!(
            "warning: the graph does not say when it was recorded; counting from {begin} (--start sets it)"
        );
    }
    let memory = open_store(&context.config)?;
    let imported = memory.import_m3(graph, begin)?;
    let reader = language_if_any(&context.config)
        .map(|language| FactReader::new(language, context.config.timezone()));
    let facts = Memorizer::new(None).reading(reader).facts_from(&memory, M3_ORIGIN)?;
    if context.json {
        print::json(&imported)?;
        return Ok(0);
    }
    print::line(format!(
        "{}: {} episodic and {} semantic memories of {} persons ({} faces, {} voices)",
        memory.dir().display(),
        imported.episodic,
        imported.semantic,
        imported.persons,
        imported.faces,
        imported.voices
    ))?;
    if facts > 0 {
        print::line(format!("they state {facts} facts plainly"))?;
    }
    if imported.unknown_mentions > 0 {
        print::line(format!(
            "{} mentions of whom the graph does not have are \"somebody\"",
            imported.unknown_mentions
        ))?;
    }
    Ok(0)
}
