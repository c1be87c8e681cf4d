//! `engramd documents`: which documents are remembered. `engramd remember --file`: one is told.

use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};

use super::context::Context;
use super::print;
use super::reader::Reader;
use super::times::{AsOfArg, known};
use crate::daemon::queries::Documents;
use crate::document::{Format, read};
use crate::mqtt::message::QueryVerb;

/// Which documents are remembered: told by `engramd remember --file`, erased by `engramd forget --document`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd documents
  engramd documents --json
  engramd sql \"SELECT heading, line, text FROM passages WHERE document = 'manual.md' ORDER BY number\"")]
pub(super) struct DocumentsArgs {
    /// What was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
}

pub(super) fn run(args: &DocumentsArgs, context: &Context) -> anyhow::Result<u8> {
    let mut arguments = json!({});
    if let Some(as_of) = known(args.as_of.as_ref(), context)? {
        arguments["as_of"] = json!(as_of);
    }
    let document = Reader::open(context)?.query(QueryVerb::Documents, &arguments)?;
    if context.json {
        print::json(&document)?;
        return Ok(0);
    }
    let found: Documents = serde_json::from_value(print::for_people(document))?;
    if found.documents.is_empty() {
        print::line("no document is remembered: engramd remember --file manual.pdf")?;
        return Ok(0);
    }
    let zone = context.config.timezone();
    let mut table = print::table(["document", "passages", "pages", "told"]);
    for one in found.documents {
        let pages = one.pages.map(|pages| pages.to_string()).unwrap_or_default();
        table.add_row([one.name, one.passages.to_string(), pages, print::local(one.told, &zone)]);
    }
    print::line(table)?;
    Ok(0)
}

/// A file as `remember` takes a document: its passages, under `name` or the file's own name.
pub(super) fn of_file(path: &Path, name: Option<&str>) -> anyhow::Result<Value> {
    let doing = || format!("reading the document {}", path.display());
    let bytes = std::fs::read(path).with_context(doing)?;
    let own = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let own = own.unwrap_or_default();
    let passages = read(Format::of(&own, &bytes), &bytes).with_context(doing)?;
    Ok(json!({ "name": name.unwrap_or(&own), "passages": passages }))
}
