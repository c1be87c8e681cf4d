//! `engramd calibrate`: measures this machine's models on labelled folders, its cameras and its microphones.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{Context, print};
use crate::bench::av_sync::{self, Method};
use crate::bench::{calibration, verify};
use crate::camera::{CameraInfo, Distortion};
use crate::geometry::Point;

/// Measure matching thresholds, a camera's lens, a microphone's offset.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd calibrate faces photos/            photos/<person>/*.jpg
  engramd calibrate voices voices/ --secs 3
  engramd calibrate faces photos/ --out /etc/engram/calibration/thresholds
  engramd calibrate camera front.yaml        what a ROS CameraInfo file says, and whether it makes sense
  engramd calibrate camera --size 640x480 --fov 60 --out /etc/engram/calibration/front.yaml
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
    /// Look at a ROS CameraInfo file, or write one.
    Camera(CameraArgs),
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

/// Look at a ROS CameraInfo file (YAML), or write one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd calibrate camera front.yaml
  engramd calibrate camera front.yaml --out /etc/engram/calibration/front.yaml
  engramd calibrate camera --size 1280x720 --fov 78 --out front.yaml

A file is read, checked (every pixel must have a direction, and that direction its pixel) and, with --out, written in
ROS' form. Without a file, --size and --fov (from the data sheet) make a camera without distortion: bearings are right
in the middle of the picture and a few degrees off at its edge.
Checkerboard pictures are not evaluated here: no library for it is built in. ROS' camera_calibration and OpenCV do it
and write the file that is read here.")]
struct CameraArgs {
    /// The file.
    #[arg(required_unless_present = "size")]
    file: Option<PathBuf>,
    /// Write the calibration there.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Make a calibration for pictures of this size.
    #[arg(long, value_name = "WxH", requires = "fov", conflicts_with = "file", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Its field of view from left to right, degrees.
    #[arg(long, value_name = "DEG", requires = "size", value_parser = degrees)]
    fov: Option<f64>,
    /// Its name.
    #[arg(long, default_value = "camera", requires = "size")]
    name: String,
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

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |text: &str| text.parse::<u32>().ok().filter(|side| (1..=16_384).contains(side));
    text.split_once(['x', 'X'])
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .ok_or_else(|| "write width x height in px, such as 640x480".to_owned())
}

fn degrees(text: &str) -> Result<f64, String> {
    let fits = |value: &f64| (5.0..=170.0).contains(value);
    let why = "write 5–170 degrees; wider lenses need a calibration of their own";
    text.parse().ok().filter(fits).ok_or_else(|| why.to_owned())
}

pub(super) fn run(args: &CalibrateArgs, context: &Context) -> anyhow::Result<u8> {
    match &args.what {
        What::Faces(folder) => {
            thresholds(verify::faces(&context.config, &folder.dir)?, folder, context)
        }
        What::Voices(folder) => {
            thresholds(verify::voices(&context.config, &folder.dir, folder.secs)?, folder, context)
        }
        What::Camera(args) => camera(args, context),
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

/// What a calibration amounts to.
struct Checked {
    /// Left to right and top to bottom through the middle, degrees.
    view: [f64; 2],
    /// Share of pixels, on a grid over the picture, that have a direction.
    seen: f64,
    /// The farthest that a pixel's direction falls from it when it is projected, px.
    worst_px: f64,
}

fn check(camera: &CameraInfo) -> Checked {
    const GRID: u32 = 32;
    let (width, height) = (f64::from(camera.width), f64::from(camera.height));
    let (mut seen, mut worst_px) = (0_u32, 0.0_f64);
    for row in 0..=GRID {
        for column in 0..=GRID {
            let at = |side: f64, index: u32| side * f64::from(index) / f64::from(GRID) - 0.5;
            let (x, y) = (at(width, column), at(height, row));
            let Some([u, v]) = camera.ray(x, y).and_then(|ray| camera.project(ray)) else {
                continue;
            };
            seen += 1;
            worst_px = worst_px.max((u - x).hypot(v - y));
        }
    }
    let angle = |a: Point, b: Point| match (camera.bearing(a), camera.bearing(b)) {
        (Some(a), Some(b)) => {
            let across = f64::from(a.azimuth - b.azimuth).abs();
            across.max(f64::from(a.elevation - b.elevation).abs()).to_degrees()
        }
        _ => f64::NAN,
    };
    let [cx, cy] = camera.centre.map(|value| value as f32);
    let (right, bottom) = (width as f32 - 0.5, height as f32 - 0.5);
    let view = [
        angle(Point { x: -0.5, y: cy }, Point { x: right, y: cy }),
        angle(Point { x: cx, y: -0.5 }, Point { x: cx, y: bottom }),
    ];
    Checked { view, seen: f64::from(seen) / f64::from((GRID + 1) * (GRID + 1)), worst_px }
}

fn camera(args: &CameraArgs, context: &Context) -> anyhow::Result<u8> {
    let camera = match (&args.file, args.size, args.fov) {
        (Some(file), ..) => read(file)?,
        (None, Some((width, height)), Some(fov)) => {
            CameraInfo::pinhole(&args.name, width, height, fov.to_radians())
        }
        _ => anyhow::bail!("name a CameraInfo file, or give --size and --fov"),
    };
    let Checked { view: [across, down], seen, worst_px } = check(&camera);
    let lens = match camera.distortion {
        Distortion::PlumbBob(_) => "plumb_bob",
        Distortion::Rational(_) => "rational_polynomial",
        Distortion::Equidistant(_) => "equidistant",
    };
    let sound = seen == 1.0 && worst_px < 0.5;
    if let Some(out) = &args.out {
        if let Some(folder) = out.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("making the folder {}", folder.display()))?;
        }
        std::fs::write(out, camera.to_yaml())
            .with_context(|| format!("writing {}", out.display()))?;
    }
    if context.json {
        print::json(&json!({
            "name": camera.name,
            "width": camera.width,
            "height": camera.height,
            "lens": lens,
            "view_deg": [across, down],
            "seen": seen,
            "worst_px": worst_px,
            "sound": sound,
            "out": args.out,
        }))?;
    } else {
        let name = if camera.name.is_empty() { "camera" } else { &camera.name };
        print::line(format!(
            "{name}: {}x{}, {lens}, {across:.1} by {down:.1} degrees; a pixel's direction leads back to it within {worst_px:.3} px",
            camera.width, camera.height
        ))?;
        if let Some(out) = &args.out {
            print::line(format!(
                "written to {}; name it as calibration_file of its [[camera]]",
                out.display()
            ))?;
        }
    }
    if !sound {
        eprintln!(
            "engramd: only {:.0} % of the picture has a direction, and the worst pixel is off by {worst_px:.2} px: the distortion makes no sense there; calibrate again with pictures of the board near the edges",
            100.0 * seen
        );
        return Ok(1);
    }
    Ok(0)
}

fn read(file: &Path) -> anyhow::Result<CameraInfo> {
    let doing = || format!("reading the calibration {}", file.display());
    let text = std::fs::read_to_string(file).with_context(doing)?;
    CameraInfo::parse(&text).with_context(doing)
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
    use super::*;

    #[test]
    fn a_sound_calibration_leads_back_and_a_folded_one_is_found_out() {
        let good = CameraInfo::pinhole("front", 640, 480, 60_f64.to_radians());
        let checked = check(&good);
        assert!((checked.view[0] - 60.0).abs() < 0.1 && checked.seen == 1.0);
        assert!(checked.worst_px < 1e-6);
        // so much pincushion and barrel at once that the picture's corners come from nowhere
        let folded =
            CameraInfo { distortion: Distortion::PlumbBob([-2.5, 0.0, 0.0, 0.0, 0.0]), ..good };
        assert!(check(&folded).seen < 1.0);
    }

    #[test]
    fn sizes_and_angles_are_checked() {
        assert_eq!(size("640x480"), Ok((640, 480)));
        for wrong in ["640", "0x480", "640x", "ax b", "99999x1"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(degrees("60"), Ok(60.0));
        assert!(degrees("180").is_err() && degrees("wide").is_err());
    }
}
