//! `engramd snapshot`: a part of the ring is kept, listed, written out, taken away.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::context::Context;
use super::reader::Reader;
use super::times::{TimeArg, between};
use super::{change, print};
use crate::daemon::queries::Snapshots;
use crate::daemon::ring::Ring;
use crate::mqtt::message::QueryVerb;

/// Keep a part of what cameras and microphones gave in the last minutes (`ring.minutes`) as MCAP.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd snapshot keep                                   the last 30 seconds
  engramd snapshot keep --last 120
  engramd snapshot keep --start \"today 14:00\" --end \"today 14:02\"
  engramd snapshot list
  engramd snapshot export NAME fall.mcap                  as plain MCAP, of an encrypted store, too
  engramd snapshot export NAME fall.mp4                   as a film; --camera front of several
  engramd replay fall.mcap
  engramd snapshot remove NAME

They lie in `snapshots/` of the store. `engramd forget` erases from ring and snapshots when whoever it is about was there.")]
pub(super) struct SnapshotArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Keep a part.
    Keep(KeepArgs),
    /// Which there are.
    List,
    /// Write one out, in the clear; `export` reads the store's folder itself.
    Export {
        /// Its name, as `list` tells it.
        name: String,
        /// The file: a film where it ends with `.mp4` (one camera's pictures with sound), else MCAP.
        out: PathBuf,
        /// Whose pictures a film has; needed where there are several cameras.
        #[arg(long, value_name = "NAME")]
        camera: Option<String>,
    },
    /// Take one away.
    Remove {
        /// Its name.
        name: String,
    },
}

#[derive(Debug, Args)]
struct KeepArgs {
    /// So many seconds up to now [default: 30].
    #[arg(long, value_name = "SECS", conflicts_with = "start")]
    last: Option<f64>,
    /// From here (RFC 3339, a local date with a time, or words like "today 14:00") …
    #[arg(long, value_name = "T", value_parser = TimeArg::parse)]
    start: Option<TimeArg>,
    /// … to here [default: now].
    #[arg(long, value_name = "T", value_parser = TimeArg::parse, requires = "start")]
    end: Option<TimeArg>,
}

pub(super) fn run(args: &SnapshotArgs, context: &Context) -> anyhow::Result<u8> {
    match &args.what {
        What::Keep(args) => {
            let (start, end) = between(args.start.as_ref(), args.end.as_ref(), context)?;
            let payload = json!({ "secs": args.last, "start": start, "end": end });
            change::done("snapshot", &given(payload), context)
        }
        What::List => list(context),
        What::Export { name, out, camera } => export(name, out, camera.as_deref(), context),
        What::Remove { name } => change::done("snapshot", &json!({ "remove": name }), context),
    }
}

/// The fields that say something.
fn given(mut payload: Value) -> Value {
    if let Some(fields) = payload.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    payload
}

fn list(context: &Context) -> anyhow::Result<u8> {
    let document = Reader::open(context)?.query(QueryVerb::Snapshots, &json!({}))?;
    if context.json {
        print::json(&document)?;
        return Ok(0);
    }
    let found: Snapshots = serde_json::from_value(print::for_people(document))?;
    if found.snapshots.is_empty() {
        let why = if found.ring { "engramd snapshot keep" } else { "ring.minutes is 0" };
        print::line(format!("no snapshot is kept: {why}"))?;
        return Ok(0);
    }
    let zone = context.config.timezone();
    let mut table = print::table(["name", "from", "secs", "MB"]);
    for one in found.snapshots {
        let secs = one.end.secs_since(one.start);
        let from = print::local(one.start, &zone);
        table.add_row([
            one.name,
            from,
            format!("{secs:.1}"),
            format!("{:.1}", one.bytes as f64 / 1e6),
        ]);
    }
    print::line(table)?;
    Ok(0)
}

fn export(name: &str, out: &Path, camera: Option<&str>, context: &Context) -> anyhow::Result<u8> {
    let config = &context.config;
    let (dir, key) = (config.store_dir(), config.store_key()?);
    let ring = Ring::at_rest(&dir, key.as_ref(), &config.ring);
    let as_film = out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("mp4"));
    let found = match as_film {
        true => ring.film(name, camera)?,
        false => ring.read(name).with_context(|| format!("reading the snapshot {name}"))?,
    };
    let Some(bytes) = found else {
        bail!(
            "there is no snapshot {name:?} in {}; `engramd snapshot list` names them",
            dir.display()
        );
    };
    // What a home looks and sounds like is for its owner alone.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(out)
        .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
        .with_context(|| format!("writing {}", out.display()))?;
    let told = json!({ "snapshot": name, "file": out, "bytes": bytes.len() });
    match context.json {
        true => print::json(&told)?,
        false => print::line(format!("{}: {} bytes", out.display(), bytes.len()))?,
    }
    Ok(0)
}
