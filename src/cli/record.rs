//! `engramd record`: live sources into a bag, remembered meanwhile.

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use crossbeam_channel::unbounded;

use super::context::Context;
use crate::capture::bag::{BagWriter, SplitLimits};
use crate::capture::{FramesWanted, LiveSources};
use crate::config::Config;
use crate::daemon::ingest::calibrations;
use crate::daemon::record::{BesideMedia, RecordEnd, Recorder, default_name};
use crate::daemon::serve::Daemon;
use crate::daemon::service::{Clock, microphones_off};
use crate::media::Item;
use crate::time::Timestamp;

/// How long one look at the sources takes at most.
const LOOK: Duration = Duration::from_millis(100);

/// Write what the configured cameras and microphones deliver into an MCAP bag, and remember it meanwhile.
///
/// Pictures are written as JPEG, sound as 16-bit PCM, poses, calibrations and what was found beside them. A replay of the
/// recording gives the same memory each time. What was written half a second before a crash is safe.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd record run.mcap                        until Ctrl-C, answering questions meanwhile
  engramd record night --max-secs 600            a folder of files of 10 minutes each
  engramd record raw.mcap --media-only           write only; remember later: engramd replay raw.mcap
Exit code 3: something could not be written.")]
pub(super) struct RecordArgs {
    /// The bag; a folder where it is split [default: engram_<time>.mcap].
    #[arg(value_name = "OUT")]
    out: Option<PathBuf>,
    /// Begin a new file after so many seconds.
    #[arg(long, value_name = "S", value_parser = positive)]
    max_secs: Option<f64>,
    /// Begin a new file at this size.
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..))]
    max_mb: Option<u64>,
    /// Stop after so many seconds.
    #[arg(long, value_name = "S", value_parser = positive)]
    duration: Option<f64>,
    /// Only write: no perception, no memory, no answers.
    #[arg(long)]
    media_only: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(secs) if secs > 0.0 && secs < 1e9 => Ok(secs),
        _ => Err(format!("{text:?} is no number of seconds above 0")),
    }
}

pub(super) fn run(args: &RecordArgs, context: &Context) -> anyhow::Result<u8> {
    let config = &context.config;
    if config.camera.is_empty() && config.microphone.is_empty() {
        bail!(
            "nothing to record: no [[camera]] and no [[microphone]] in the configuration; \
             `engramd doctor` shows what there is"
        );
    }
    let bytes = args.max_mb.map(|mb| mb.saturating_mul(1_000_000));
    let limits = SplitLimits { bytes, secs: args.max_secs };
    let out =
        args.out.clone().unwrap_or_else(|| default_name(Timestamp::wall_clock(), limits.splits()));
    // What is wrong with one, the daemon tells.
    let cameras = calibrations(config, &mut Vec::new());
    let writer = BagWriter::create(&out, limits)?.calibrated(cameras);
    let end = if args.media_only {
        media_only(args, context, writer)?
    } else {
        remembered(args, context, writer)?
    };
    tell(&end, context.json)?;
    Ok(if end.dropped > 0 || end.fault.is_some() { 3 } else { 0 })
}

/// The daemon as in `engramd run`, with a tap on its sources.
fn remembered(
    args: &RecordArgs,
    context: &Context,
    writer: BagWriter,
) -> anyhow::Result<RecordEnd> {
    let (told, reports) = unbounded();
    let daemon = Daemon::start(&context.config, Clock::Wall, Some(told))?;
    for missing in daemon.degraded() {
        eprintln!("warning: without {missing}");
    }
    eprintln!("answering: {}", daemon.address());
    let settings = daemon.settings();
    let poses = settings.inbox.listen();
    let written = settings.memory.view().seq();
    let beside = BesideMedia { reports, memory: settings.memory.clone(), poses, written };
    let (inlet, recorder) = Recorder::start(writer, Some(beside)).context("starting to record")?;
    if let Some(secs) = args.duration {
        let stop = daemon.stop().clone();
        thread::spawn(move || {
            stop.wait_for(Duration::from_secs_f64(secs));
            stop.ask();
        });
    }
    let load = || Ok(Config::load(&context.source)?.config.resolved());
    daemon.live_with(&load, Some(&|item| inlet.item(item)));
    drop(inlet);
    // The reports end with the daemon: the recorder waits for them.
    daemon.finish();
    Ok(recorder.finish()?)
}

/// The sources alone.
fn media_only(
    args: &RecordArgs,
    context: &Context,
    writer: BagWriter,
) -> anyhow::Result<RecordEnd> {
    let config = &context.config;
    let stop = crate::daemon::stop::Stop::default();
    stop.on_signals(|| {}).context("listening for Ctrl-C")?;
    let mut sources =
        LiveSources::start(&config.camera, &config.microphone, &config.window, FramesWanted::All)?;
    let (inlet, recorder) = Recorder::start(writer, None).context("starting to record")?;
    let mut switch = Switch { dir: config.store_dir(), off: false };
    let began = std::time::Instant::now();
    let over = || args.duration.is_some_and(|secs| began.elapsed().as_secs_f64() >= secs);
    while !stop.asked() && !over() {
        if let Some(item) = sources.next(LOOK).filter(|item| switch.lets_through(item)) {
            inlet.item(&item);
        }
    }
    sources.stop();
    while let Some(item) = sources.next(Duration::ZERO) {
        if switch.lets_through(&item) {
            inlet.item(&item);
        }
    }
    drop(inlet);
    let ended = sources.finish();
    let mut end = recorder.finish()?;
    end.dropped += ended.iter().map(|one| one.dropped_frames + one.dropped_blocks).sum::<u64>();
    Ok(end)
}

/// The switch of the microphones (topic `privacy`), for a recorder that is no daemon.
struct Switch {
    /// The daemon's state directory.
    dir: PathBuf,
    /// As it was last told.
    off: bool,
}

impl Switch {
    /// Whether that may be recorded: no sound while the microphones are switched off, or nobody can tell.
    fn lets_through(&mut self, item: &Item) -> bool {
        if !matches!(item, Item::Block(_)) {
            return true;
        }
        let switched = microphones_off(&self.dir);
        let off = !matches!(switched, Ok(false));
        if off != self.off {
            self.off = off;
            match switched {
                Ok(true) => eprintln!(
                    "warning: microphones are switched off (topic privacy): no sound is recorded"
                ),
                Ok(false) => eprintln!("microphones are switched on again: sound is recorded"),
                Err(error) => eprintln!(
                    "warning: no sound is recorded: whether the microphones are switched off stands in {}: {error}; \
                     run this as the daemon's user, or with a --data-dir of your own",
                    self.dir.display()
                ),
            }
        }
        !off
    }
}

fn tell(end: &RecordEnd, json: bool) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string(end)?).ok();
        return Ok(());
    }
    let names: Vec<_> = end.recorded.files.iter().map(|path| path.display().to_string()).collect();
    let recorded = &end.recorded;
    writeln!(
        out,
        "{}: {} pictures, {} blocks of sound, {} poses, {} lines of percepts and memories, {:.1} MB",
        names.join(", "),
        recorded.frames,
        recorded.blocks,
        recorded.poses,
        recorded.lines,
        recorded.bytes as f64 / 1e6
    )
    .ok();
    if end.dropped > 0 {
        writeln!(out, "  lost: {} items; the disk or this machine was too slow", end.dropped).ok();
    }
    if let Some(fault) = &end.fault {
        writeln!(out, "  fault: {fault}").ok();
    }
    Ok(())
}
