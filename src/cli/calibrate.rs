//! `engramd calibrate`: measures this machine's models on labelled folders, its cameras and its microphones.

mod camera;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;

use super::context::Context;
use super::print;
use crate::bench::av_sync::{self, Method};
use crate::bench::{BenchError, calibration, verify};
use crate::models::Thresholds;
use crate::models::thresholds::FOLDER;

/// Measure matching thresholds, a camera's lens, a microphone's offset.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd calibrate faces photos/            photos/<person>/*.jpg
  engramd calibrate voices voices/ --secs 3
  engramd calibrate faces photos/ --out /etc/engram/calibration/thresholds
  engramd calibrate camera --board 9x6 --square 0.025 pictures/ --out /etc/engram/calibration/front.yaml
  engramd calibrate camera front.yaml        what a ROS CameraInfo file says, and whether it makes sense
  engramd calibrate av-sync talking.mp4      by how much the sound comes later than the pictures

Thresholds go where the daemon reads them at its next start: calibration/thresholds in the state directory (--data-dir).
A file in /etc/engram/calibration/thresholds comes before them, they before those that the program was built with.")]
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
    /// Where the files go [default: calibration/thresholds in the state directory].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
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
    let figures = &compared.verification;
    calibration::enough(figures)
        .map_err(|reason| BenchError::TooLittle { path: args.dir.clone(), reason })?;
    let points = calibration::operating_points(&compared.scores)
        .context("there are no pairs of one identity, or none of two")?;
    let length = args.secs.map_or_else(String::new, |secs| format!(", {secs} s each"));
    let how = format!("folder {}{length}", args.dir.display());
    let model = &figures.model;
    let state_dir = context.config.store_dir();
    let out = args.out.clone().unwrap_or_else(|| state_dir.join(FOLDER));
    let (toml, svg) = (out.join(format!("{model}.toml")), out.join(format!("{model}.svg")));
    std::fs::create_dir_all(&out)
        .with_context(|| format!("making the folder {}", out.display()))?;
    for (path, text) in [
        (&toml, calibration::thresholds_toml(&compared, points, &how)),
        (&svg, calibration::plot_svg(&compared)),
    ] {
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    let (read, who_reads) = readers(&toml, model, &state_dir);
    if context.json {
        print::json(&json!({
            "model": model,
            "accept": points.accept,
            "maybe": points.maybe,
            "margin": points.margin,
            "merge": points.merge,
            "eer": figures.eer,
            "eer_ci95": figures.eer_ci95,
            "pairs": figures.pairs,
            "samples": figures.samples,
            "skipped": figures.skipped,
            "thresholds": toml,
            "plot": svg,
            "read": read,
        }))?;
    } else {
        print::line(format!(
            "{model}: equal error {:.2} %, accept {:.3}, maybe {:.3}; {} samples of {} persons, {}",
            100.0 * figures.eer,
            points.accept,
            points.maybe,
            figures.samples,
            figures.identities,
            calibration::left_out(figures)
        ))?;
        print::line(format!("written: {} and {}", toml.display(), svg.display()))?;
        print::line(who_reads)?;
    }
    Ok(0)
}

/// Whether a daemon with this state directory reads the thresholds that were written there, and what to do where it does
/// not.
fn readers(toml: &Path, model: &str, state_dir: &Path) -> (bool, String) {
    let first = Thresholds::file(model, Some(state_dir));
    let same = |found: &PathBuf| {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        real(found).is_some() && real(found) == real(toml)
    };
    let words = match &first {
        Some(found) if same(found) => {
            return (
                true,
                format!(
                    "a daemon with the state directory {} reads it when it starts",
                    state_dir.display()
                ),
            );
        }
        Some(found) => format!(
            "not read: {} comes before it; take that away, or write there with --out",
            found.display()
        ),
        None => format!(
            "not read there: put it into {} or /etc/engram/{FOLDER}, or leave out --out",
            state_dir.join(FOLDER).display()
        ),
    };
    (false, words)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    #[test]
    fn it_is_said_whether_what_was_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let (state, elsewhere) = (dir.path().join("state"), dir.path().join("elsewhere"));
        let own = state.join(FOLDER);
        for folder in [&own, &elsewhere] {
            create_dir_all(folder).unwrap();
        }
        let name = "a_model_of_nobody";
        let toml = |folder: &Path| folder.join(format!("{name}.toml"));
        write(toml(&elsewhere), "").unwrap();
        let (read, told) = readers(&toml(&elsewhere), name, &state);
        assert!(!read && told.contains(&format!("put it into {}", own.display())), "{told}");
        write(toml(&own), "").unwrap();
        let (read, told) = readers(&toml(&own), name, &state);
        assert!(read && told.contains("reads it when it starts"), "{told}");
        let (read, told) = readers(&toml(&elsewhere), name, &state);
        assert!(
            !read && told.contains(&format!("{} comes before", toml(&own).display())),
            "{told}"
        );
    }
}
