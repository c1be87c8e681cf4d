//! `engramd calibrate camera`: a lens measured with a checkerboard, read from a file, or taken from a data sheet.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::bench::checkerboard::{self, Board, Calibrated, Corners, Lens, Looked, NoBoard};
use crate::camera::{CameraInfo, Distortion};
use crate::capture::Damage;
use crate::cli::{Context, print};
use crate::geometry::Point;

/// The progress bar turns this often.
const BAR_EVERY: Duration = Duration::from_millis(120);
/// Names of pictures that are told with a reason.
const NAMES: usize = 3;

/// Measure a camera's lens with a checkerboard; look at a ROS CameraInfo file (YAML), or write one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd calibrate camera --board 9x6 --square 0.025 pictures/ --out /etc/engram/calibration/front.yaml
  engramd calibrate camera --board 9x6 --square 0.025 --model fisheye walk.mcap --topic /cam/image_raw --out front.yaml
  engramd calibrate camera front.yaml
  engramd calibrate camera front.yaml --out /etc/engram/calibration/front.yaml
  engramd calibrate camera --size 1280x720 --fov 78 --out front.yaml

With --board: pictures (JPEG, PNG), folders of them, or recordings, of which a frame every half second is looked at.
Take 10 to 40 pictures at the size in which the camera is used, its focus fixed. Hold the board (printed, glued onto
something flat) near and far, into every corner of the picture, and tilted by some 30 degrees to each side; a part of
it in view is enough. Beside the file a drawing (SVG) shows the corners that were found. Below 0.5 px the error is
good.

Without: a file is read, checked (every pixel must have a direction, and that direction its pixel) and, with --out,
written in ROS' form. Without a file, --size and --fov (from the data sheet) make a camera without distortion:
bearings are right in the middle of the picture and a few degrees off at its edge.")]
pub(super) struct CameraArgs {
    /// The CameraInfo file; with --board pictures, folders of them, or recordings.
    #[arg(required_unless_present = "size", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Inner corners of the checkerboard: one fewer than squares each way.
    #[arg(long, value_name = "CxR", requires = "square", conflicts_with = "size")]
    board: Option<Corners>,
    /// Side of a square, metres.
    #[arg(long, value_name = "M", requires = "board", value_parser = metres)]
    square: Option<f64>,
    /// The lens: pinhole up to some 120 degrees, else fisheye.
    #[arg(long, value_enum, default_value_t, requires = "board")]
    model: Model,
    /// Topic of the camera in a bag with several; may be repeated for several bags.
    #[arg(long, value_name = "TOPIC", requires = "board")]
    topic: Vec<String>,
    /// Write the calibration there.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Make a calibration for pictures of this size.
    #[arg(long, value_name = "WxH", requires = "fov", conflicts_with = "files", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Its field of view from left to right, degrees.
    #[arg(long, value_name = "DEG", requires = "size", value_parser = degrees)]
    fov: Option<f64>,
    /// The camera's name in the file. Default: what the file has, else `camera`.
    #[arg(long)]
    name: Option<String>,
}

/// The lens' model.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Model {
    /// Brown's distortion (`plumb_bob`).
    #[default]
    Pinhole,
    /// Kannala's and Brandt's (`equidistant`).
    Fisheye,
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

fn metres(text: &str) -> Result<f64, String> {
    let fits = |value: &f64| (0.001..=1.0).contains(value);
    let why = "write 0.001–1 metres: squares of 25 mm are 0.025";
    text.parse().ok().filter(fits).ok_or_else(|| why.to_owned())
}

pub(super) fn run(args: &CameraArgs, context: &Context) -> anyhow::Result<u8> {
    let name = args.name.as_deref();
    if let (Some(corners), Some(square_m)) = (args.board, args.square) {
        let board = Board { columns: corners.columns, rows: corners.rows, square_m };
        let (calibrated, damage) = measure(board, args, name.unwrap_or("camera"))?;
        let code = tell(&calibrated.camera, Some(&calibrated), args.out.as_deref(), context)?;
        let unreadable = calibrated.pictures.iter().any(|picture| picture.unreadable);
        return Ok(if code == 0 && (unreadable || !damage.is_empty()) { 3 } else { code });
    }
    let mut camera = match (args.files.as_slice(), args.size, args.fov) {
        ([file], ..) => read(file)?,
        ([_, _, ..], ..) => anyhow::bail!(
            "one CameraInfo file is looked at a time; for pictures of a checkerboard give --board and --square"
        ),
        ([], Some((width, height)), Some(fov)) => {
            CameraInfo::pinhole("camera", width, height, fov.to_radians())
        }
        _ => anyhow::bail!("name a CameraInfo file, or give --size and --fov, or --board"),
    };
    if let Some(name) = name {
        camera.name = name.to_owned();
    }
    tell(&camera, None, args.out.as_deref(), context)
}

fn read(file: &Path) -> anyhow::Result<CameraInfo> {
    let doing = || format!("reading the calibration {}", file.display());
    let bytes = std::fs::read(file).with_context(doing)?;
    let picture = bytes.starts_with(b"\x89PNG") || bytes.starts_with(b"\xff\xd8");
    if picture || file.is_dir() {
        anyhow::bail!(
            "{} is no CameraInfo file; for pictures of a checkerboard give --board and --square",
            file.display()
        );
    }
    CameraInfo::parse(&String::from_utf8_lossy(&bytes)).with_context(doing)
}

/// Looks at all pictures, tells of each at a terminal, and fits the lens; with it what of recordings was damaged.
fn measure(board: Board, args: &CameraArgs, name: &str) -> anyhow::Result<(Calibrated, Damage)> {
    let sources = checkerboard::Source::of(&args.files, &args.topic)?;
    let bar = ProgressBar::new(sources.iter().map(checkerboard::Source::pictures).sum());
    let style = ProgressStyle::with_template("{spinner} {bar:40} {pos} of {len}  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(BAR_EVERY);
    let mut looked = Vec::new();
    let damage = checkerboard::read(&sources, |name, picture| {
        let found = picture
            .map_err(NoBoard::Unreadable)
            .and_then(|picture| checkerboard::find(board, &picture));
        match &found {
            Ok(view) => bar.println(format!("{name}: {} corners", view.corners.len())),
            Err(why) => bar.println(format!("{name}: {why}")),
        }
        bar.inc(1);
        looked.push(Looked { name, found });
    })?;
    bar.set_message("fitting the lens");
    let lens = match args.model {
        Model::Pinhole => Lens::Pinhole,
        Model::Fisheye => Lens::Fisheye,
    };
    let calibrated = checkerboard::calibrate(board, lens, name, looked);
    bar.finish_and_clear();
    Ok((calibrated?, damage))
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

impl Checked {
    /// Every pixel has a direction that leads back to it.
    fn sound(&self) -> bool {
        self.seen == 1.0 && self.worst_px < 0.5
    }
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

/// Writes the calibration where it belongs and says what it amounts to.
fn tell(
    camera: &CameraInfo,
    measured: Option<&Calibrated>,
    out: Option<&Path>,
    context: &Context,
) -> anyhow::Result<u8> {
    let checked = check(camera);
    let plot = write(camera, measured, out)?;
    if context.json {
        print::json(&document(camera, measured, &checked, out, plot.as_deref()))?;
    } else {
        if let Some(measured) = measured {
            table(measured)?;
        }
        let name = if camera.name.is_empty() { "camera" } else { &camera.name };
        let [across, down] = checked.view;
        let view = if across.is_finite() && down.is_finite() {
            format!("{across:.1} by {down:.1} degrees")
        } else {
            "no direction at the picture's edge".to_owned()
        };
        print::line(format!(
            "{name}: {}x{}, {}, {view}; a pixel's direction leads back to it within {:.3} px",
            camera.width,
            camera.height,
            lens(camera),
            checked.worst_px
        ))?;
        if let Some(out) = out {
            let shown = plot
                .map_or_else(String::new, |plot| format!("; {} shows the corners", plot.display()));
            print::line(format!(
                "written to {}; name it as calibration_file of its [[camera]]{shown}",
                out.display()
            ))?;
        } else if measured.is_some() {
            print::line("nothing is written: add --out FILE to keep it")?;
        }
    }
    for warning in measured.iter().flat_map(|measured| &measured.warnings) {
        eprintln!("warning: {warning}");
    }
    if !checked.sound() {
        eprintln!(
            "engramd: only {:.0} % of the picture has a direction, and the worst pixel is off by {:.2} px: the distortion makes no sense there; calibrate again with pictures of the board near the edges{}",
            100.0 * checked.seen,
            checked.worst_px,
            match (measured, camera.distortion) {
                (Some(_), Distortion::PlumbBob(_)) => ", a fisheye lens with --model fisheye",
                _ => "",
            }
        );
        return Ok(1);
    }
    Ok(0)
}

fn lens(camera: &CameraInfo) -> &'static str {
    match camera.distortion {
        Distortion::PlumbBob(_) => "plumb_bob",
        Distortion::Rational(_) => "rational_polynomial",
        Distortion::Equidistant(_) => "equidistant",
    }
}

/// Writes the file and, of a measured camera, the drawing beside it; where that lies.
fn write(
    camera: &CameraInfo,
    measured: Option<&Calibrated>,
    out: Option<&Path>,
) -> anyhow::Result<Option<PathBuf>> {
    let Some(out) = out else { return Ok(None) };
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("making the folder {}", folder.display()))?;
    }
    let put = |path: &Path, text: String| {
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
    };
    put(out, camera.to_yaml())?;
    let Some(measured) = measured else { return Ok(None) };
    let plot = out.with_extension("svg");
    put(&plot, checkerboard::plot_svg(measured))?;
    Ok(Some(plot))
}

fn document(
    camera: &CameraInfo,
    measured: Option<&Calibrated>,
    checked: &Checked,
    out: Option<&Path>,
    plot: Option<&Path>,
) -> Value {
    let mut document = json!({
        "name": camera.name,
        "width": camera.width,
        "height": camera.height,
        "lens": lens(camera),
        "view_deg": checked.view,
        "seen": checked.seen,
        "worst_px": checked.worst_px,
        "sound": checked.sound(),
        "out": out,
    });
    if let (Some(fields), Some(measured)) = (document.as_object_mut(), measured) {
        fields.insert("focal_px".to_owned(), json!(camera.focal));
        fields.insert("centre_px".to_owned(), json!(camera.centre));
        fields.insert("plot".to_owned(), json!(plot));
        if let Value::Object(of) = json!(measured) {
            fields.extend(of);
        }
    }
    document
}

/// What became of the pictures.
fn table(measured: &Calibrated) -> anyhow::Result<()> {
    let mut table = print::table(["picture", "corners", "error"]);
    for one in measured.pictures.iter().filter(|one| one.used) {
        let error = one.error_px.map_or_else(String::new, |error| format!("{error:.2} px"));
        table.add_row([one.picture.clone(), one.corners.to_string(), error]);
    }
    print::line(table)?;
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in &measured.pictures {
        let Some(reason) = one.reason.as_deref() else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(&one.picture),
            None => reasons.push((reason, vec![&one.picture])),
        }
    }
    for (reason, names) in reasons {
        let more = match names.len().saturating_sub(NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names[..names.len().min(NAMES)].join(", ");
        print::line(format!("not used: {names}{more}: {reason}"))?;
    }
    let [fx, fy] = measured.camera.focal;
    let [focal, centre] = [
        (measured.focal_std_px[0] / fx).max(measured.focal_std_px[1] / fy),
        measured.centre_std_px[0].max(measured.centre_std_px[1]),
    ];
    print::line(format!(
        "{} of {} pictures, {} of them different; error {:.2} px; coverage {:.0} %; focal length {fx:.1}, {fy:.1} px (±{:.2} %), principal point ±{centre:.1} px",
        measured.used,
        measured.pictures.len(),
        measured.different,
        measured.error_px,
        100.0 * measured.coverage,
        100.0 * focal,
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_sound_calibration_leads_back_and_a_folded_one_is_found_out() {
        let good = CameraInfo::pinhole("front", 640, 480, 60_f64.to_radians());
        let checked = check(&good);
        assert!((checked.view[0] - 60.0).abs() < 0.1 && checked.sound());
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
        assert_eq!(metres("0.025"), Ok(0.025));
        assert!(metres("25").is_err() && metres("nan").is_err());
        assert_eq!("9x6".parse::<Corners>().map(|c| (c.columns, c.rows)), Ok((9, 6)));
        for wrong in ["9", "2x9", "9x-6", "1000x6"] {
            assert!(wrong.parse::<Corners>().is_err(), "{wrong}");
        }
    }
}
