//! `engramd calibrate`: measures this machine's models on labelled folders, its cameras and its microphones.

mod camera;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{Context, print};
use crate::bench::av_sync::{self, Method};
use crate::bench::{calibration, verify};

/// Measure matching thresholds, a camera's lens, a microphone's offset.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd calibrate faces photos/            photos/<person>/*.jpg
  engramd calibrate voices voices/ --secs 3
  engramd calibrate faces photos/ --out /etc/engram/calibration/thresholds
  engramd calibrate camera --board 9x6 --square 0.025 pictures/ --out /etc/engram/calibration/front.yaml
  engramd calibrate camera front.yaml        what a ROS CameraInfo file says, and whether it makes sense
  engramd calibrate av-sync talking.mp4      by how much the sound comes later than the pictures

A file in /etc/engram/calibration/thresholds or /var/lib/engram/calibration/thresholds comes before the one
that the program was built with.")]
pub(super) struct CalibrateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Thresholds of the face embedder; writes <model>.toml and a plot.
    Faces(FolderArgs),
    /// Thresholds of the speaker embedder; writes <model>.toml and a plot.
    Voices(FolderArgs),
    /// Measure a camera's lens with a checkerboard; look at a ROS CameraInfo file, or write one.
    Camera(camera::CameraArgs),
    /// Estimate by how much a microphone's sound comes later than the pictures.
    AvSync(AvSyncArgs),
}

#[derive(Debug, Args)]
struct FolderArgs {
    /// A folder with one folder per person.
    dir: PathBuf,
    /// Take only the middle seconds of each utterance: turns are shorter than recordings.
    #[arg(long, value_name = "S")]
    secs: Option<f64>,
    /// Where the files go.
    #[arg(long, value_name = "DIR", default_value = "calibration/thresholds")]
    out: PathBuf,
}

/// Estimate by how much a microphone's sound comes later than the pictures.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd calibrate av-sync talking.mp4
  engramd calibrate av-sync claps.mcap --json

Record three or more claps, or a lamp that clicks, in view and at irregular times. Without them mouths are compared
with the loudness of speech, which is mostly too unsure on compressed video, and says so. The first three minutes are
looked at.")]
struct AvSyncArgs {
    /// A recording with pictures and sound.
    recording: PathBuf,
}

pub(super) fn run(args: &CalibrateArgs, context: &Context) -> anyhow::Result<u8> {
    match &args.what {
        What::Faces(folder) => {
            thresholds(verify::faces(&context.config, &folder.dir)?, folder, context)
        }
        What::Voices(folder) => {
            thresholds(verify::voices(&context.config, &folder.dir, folder.secs)?, folder, context)
        }
        What::Camera(args) => camera::run(args, context),
        What::AvSync(args) => microphone(args, context),
    }
}

fn thresholds(
    compared: verify::Compared,
    args: &FolderArgs,
    context: &Context,
) -> anyhow::Result<u8> {
    let points = calibration::operating_points(&compared.scores)
        .context("there are no pairs of one identity, or none of two")?;
    let length = args.secs.map_or_else(String::new, |secs| format!(", {secs} s each"));
    let how = format!("folder {}{length}", args.dir.display());
    let model = &compared.verification.model;
    let (toml, svg) =
        (args.out.join(format!("{model}.toml")), args.out.join(format!("{model}.svg")));
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("making the folder {}", args.out.display()))?;
    for (path, text) in [
        (&toml, calibration::thresholds_toml(&compared, points, &how)),
        (&svg, calibration::plot_svg(&compared)),
    ] {
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    if context.json {
        print::json(&json!({
            "model": model,
            "accept": points.accept,
            "maybe": points.maybe,
            "margin": points.margin,
            "merge": points.merge,
            "eer": compared.verification.eer,
            "eer_ci95": compared.verification.eer_ci95,
            "pairs": compared.verification.pairs,
            "thresholds": toml,
            "plot": svg,
        }))?;
    } else {
        print::line(format!(
            "{model}: equal error {:.2} %, accept {:.3}, maybe {:.3}; {} and {}",
            100.0 * compared.verification.eer,
            points.accept,
            points.maybe,
            toml.display(),
            svg.display()
        ))?;
    }
    Ok(0)
}

fn microphone(args: &AvSyncArgs, context: &Context) -> anyhow::Result<u8> {
    let found = av_sync::av_sync(&context.config, &args.recording)?;
    if context.json {
        print::json(&found)?;
        return Ok(0);
    }
    let when = if found.offset_secs < 0.0 { "earlier" } else { "later" };
    let how = match found.method {
        Method::Claps => format!("{} claps", found.events),
        Method::Speech => format!("speech, correlation {:.2}", found.correlation),
    };
    print::line(format!(
        "the sound comes {:.2} s {when} than the pictures (confidence {:.2}, by {how}, {:.0} s)",
        found.offset_secs.abs(),
        found.confidence,
        found.secs
    ))?;
    print::line(if found.confidence >= 0.5 {
        format!("set offset_secs = {:.2} in its [[microphone]]", found.offset_secs)
    } else {
        "too unsure to be used: record three or more claps in view".into()
    })?;
    Ok(0)
}
