//! A camera's intrinsics from pictures of a checkerboard: `engramd calibrate camera --board`.
//!
//! The way of a picture: [`pictures`] reads it, [`find`] looks for the board's inner corners in it (a library does),
//! [`views`] says how the views differ and what of the picture they cover, [`solve`] fits lens and poses to all
//! corners at once (Zhang 2000), [`plot`] draws what was found. Same pictures, same camera, bit for bit.

mod find;
mod pictures;
mod plot;
#[cfg(test)]
pub(crate) mod render;
mod solve;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod views;

use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;

pub use find::{NoBoard, find};
pub use pictures::{Source, read};
pub use plot::plot_svg;
pub use solve::SolveError;

use super::BenchError;
use super::memory::quantile;
use crate::camera::CameraInfo;

/// More pictures are not fitted; those that differ most are.
const MOST_VIEWS: usize = 80;
/// Pictures that are advised, and ways in which the board is to be held.
const ADVISED: usize = 10;
const ADVISED_DIFFERENT: usize = 6;
/// A reprojection error that is good, px RMS.
const GOOD_PX: f64 = 0.5;
/// Uncertainty of the focal length that is good, one standard deviation, relative.
const GOOD_FOCAL: f64 = 0.005;
/// Share of the picture in which the board should be shown.
const GOOD_COVERAGE: f64 = 0.6;
/// A picture stands out with an error so many times the usual one, and of at least this, px.
const STANDS_OUT: f64 = 4.0;
const STANDS_OUT_PX: f64 = 1.0;

/// A checkerboard.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Board {
    /// Inner corners along one side, 3–100: one fewer than squares.
    pub columns: u32,
    /// Inner corners along the other.
    pub rows: u32,
    /// Side of a square, metres.
    pub square_m: f64,
}

impl Board {
    /// Inner corners of the whole board.
    #[must_use]
    pub fn corners(&self) -> usize {
        self.columns as usize * self.rows as usize
    }
}

/// Inner corners of a board, as the command line has them: `9x6`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corners {
    /// Along one side.
    pub columns: u32,
    /// Along the other.
    pub rows: u32,
}

impl FromStr for Corners {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| text.parse::<u32>().ok().filter(|side| (3..=100).contains(side));
        text.split_once(['x', 'X'])
            .and_then(|(columns, rows)| Some(Self { columns: side(columns)?, rows: side(rows)? }))
            .ok_or_else(|| {
                "write the inner corners, 3–100 a side: a board of 10x7 squares is 9x6".to_owned()
            })
    }
}

/// Which lens is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lens {
    /// Brown's, for lenses up to some 120°: `plumb_bob`.
    #[default]
    Pinhole,
    /// Kannala's and Brandt's, for fisheyes: `equidistant`.
    Fisheye,
}

/// One inner corner that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Column and row on the board, from any of its corners.
    pub cell: [u32; 2],
    /// Where it is seen, px; the first pixel's centre is (0, 0).
    pub at: [f64; 2],
}

/// A picture that shows the board, or enough of it.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Width and height of the picture, px.
    pub size: (u32, u32),
    /// The corners, each cell once.
    pub corners: Vec<Corner>,
}

/// A picture that was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Looked {
    /// File name, or source and second of a recording.
    pub name: String,
    /// What it shows.
    pub found: Result<View, NoBoard>,
}

/// What became of a picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PictureReport {
    /// File name, or source and second of a recording.
    pub picture: String,
    /// Whether the calibration rests on it.
    pub used: bool,
    /// Corners that were found.
    pub corners: usize,
    /// Reprojection error, px RMS; `null` where no board was found.
    pub error_px: Option<f64>,
    /// Why it is not used, and what to do.
    pub reason: Option<String>,
    /// It could not be decoded.
    #[serde(skip)]
    pub unreadable: bool,
}

/// A part of the picture, of nine.
pub type Part = &'static str;

/// A calibration by checkerboard, and how good it is.
#[derive(Clone, Debug, Serialize)]
pub struct Calibrated {
    /// The camera.
    #[serde(skip)]
    pub camera: CameraInfo,
    /// The board.
    pub board: Board,
    /// Every picture, in the order of reading.
    pub pictures: Vec<PictureReport>,
    /// Pictures that the calibration rests on.
    pub used: usize,
    /// Those of them that show the board in a way of its own.
    pub different: usize,
    /// Distance of the corners from where the calibration has them, px RMS over all.
    pub error_px: f64,
    /// Share of the picture's cells (8 x 6) with a corner in them, 0–1.
    pub coverage: f64,
    /// Parts of the picture where no corner was seen.
    pub empty: Vec<Part>,
    /// Uncertainty of the focal lengths, one standard deviation, px.
    pub focal_std_px: [f64; 2],
    /// Uncertainty of the principal point, one standard deviation, px.
    pub centre_std_px: [f64; 2],
    /// What makes it doubtful, each with its cure.
    pub warnings: Vec<String>,
    /// Corners of the used pictures with their errors, px: for the plot.
    #[serde(skip)]
    seen: Vec<(View, Vec<f64>)>,
}

/// Calibrates the camera that made the pictures. `name` goes into the file.
///
/// # Errors
/// [`BenchError::TooLittle`] with fewer than three usable pictures, or views that determine no camera.
pub fn calibrate(
    board: Board,
    lens: Lens,
    name: &str,
    mut looked: Vec<Looked>,
) -> Result<Calibrated, BenchError> {
    one_size(&mut looked);
    let views: Vec<Numbered> = looked
        .iter()
        .enumerate()
        .filter_map(|(index, one)| Some((index, one.found.as_ref().ok()?.clone())))
        .collect();
    let chosen = views::most_different(views.iter().map(|(_, view)| view), MOST_VIEWS);
    let mut kept: Vec<Numbered> = chosen.iter().map(|at| views[*at].clone()).collect();
    let fit = |kept: &[Numbered]| {
        let views: Vec<&View> = kept.iter().map(|(_, view)| view).collect();
        solve::solve(&views, board.square_m, lens, name)
            .map_err(|error| too_little(&looked, board, &error))
    };
    let mut pictures: Vec<PictureReport> = looked.iter().map(report).collect();
    let mut solved = fit(&kept)?;
    if let Some(odd) = odd_ones(&solved.errors_px) {
        let usual_px = quantile(&mut solved.errors_px.clone(), 0.5);
        for at in odd.iter().rev() {
            let picture = &mut pictures[kept.remove(*at).0];
            picture.error_px = Some(solved.errors_px[*at]);
            picture.reason = Some(NoBoard::StandsOut { usual_px }.to_string());
        }
        solved = fit(&kept)?;
    }
    for ((index, _), error_px) in kept.iter().zip(&solved.errors_px) {
        let picture = &mut pictures[*index];
        (picture.used, picture.error_px, picture.reason) = (true, Some(*error_px), None);
    }
    let used: Vec<&View> = kept.iter().map(|(_, view)| view).collect();
    let mut calibrated = Calibrated {
        board,
        used: used.len(),
        different: views::different(&used),
        error_px: solved.error_px,
        coverage: views::coverage(&used),
        empty: views::empty_parts(&used),
        focal_std_px: solved.focal_std_px,
        centre_std_px: solved.centre_std_px,
        warnings: Vec::new(),
        pictures,
        camera: solved.camera,
        seen: kept.into_iter().map(|(_, view)| view).zip(solved.misses_px).collect(),
    };
    calibrated.warnings = warnings(&calibrated);
    Ok(calibrated)
}

/// A view with its picture's number.
type Numbered = (usize, View);

/// Views that fit much worse than the others: motion, a bent board, another board. `None` where there are none, or so
/// many that it is not they who are odd.
fn odd_ones(errors_px: &[f64]) -> Option<Vec<usize>> {
    let usual = quantile(&mut errors_px.to_vec(), 0.5);
    let odd = |error: f64| error > STANDS_OUT_PX && error > STANDS_OUT * usual;
    let found: Vec<usize> = (0..errors_px.len()).filter(|at| odd(errors_px[*at])).collect();
    let left = errors_px.len() - found.len();
    (!found.is_empty() && left >= solve::LEAST_VIEWS && found.len() * 3 <= errors_px.len())
        .then_some(found)
}

/// Pictures of another size than most are not used: they are scaled or cut.
fn one_size(looked: &mut [Looked]) {
    let mut sizes: Vec<((u32, u32), usize)> = Vec::new();
    for view in looked.iter().filter_map(|one| one.found.as_ref().ok()) {
        match sizes.iter_mut().find(|(size, _)| *size == view.size) {
            Some((_, count)) => *count += 1,
            None => sizes.push((view.size, 1)),
        }
    }
    // of two that are as frequent, the first
    let Some((usual, _)) = sizes.iter().rev().max_by_key(|(_, count)| *count).copied() else {
        return;
    };
    for one in looked {
        if let Ok(view) = &one.found
            && view.size != usual
        {
            one.found = Err(NoBoard::OtherSize { size: view.size, usual });
        }
    }
}

fn report(looked: &Looked) -> PictureReport {
    let (corners, reason) = match &looked.found {
        Ok(view) => (view.corners.len(), Some("others show the same".to_owned())),
        Err(why) => (0, Some(why.to_string())),
    };
    PictureReport {
        picture: looked.name.clone(),
        used: false,
        corners,
        error_px: None,
        reason,
        unreadable: matches!(looked.found, Err(NoBoard::Unreadable(_))),
    }
}

/// Why there is no calibration, with what most pictures say about it.
fn too_little(looked: &[Looked], board: Board, error: &SolveError) -> BenchError {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for why in looked.iter().filter_map(|one| one.found.as_ref().err()) {
        let text = why.to_string();
        match reasons.iter_mut().find(|(reason, _)| *reason == text) {
            Some((_, count)) => *count += 1,
            None => reasons.push((text, 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let most = reasons.first().map_or_else(String::new, |(reason, count)| {
        format!("; {count} of {} pictures: {reason}", looked.len())
    });
    BenchError::TooLittle {
        path: PathBuf::from(format!("{}x{} checkerboard", board.columns, board.rows)),
        reason: format!("{error}{most}"),
    }
}

/// What makes a calibration doubtful.
fn warnings(of: &Calibrated) -> Vec<String> {
    let mut found = Vec::new();
    if of.used < ADVISED {
        found.push(format!("only {} pictures are used: take {ADVISED} or more", of.used));
    }
    if of.different < ADVISED_DIFFERENT.min(of.used) {
        found.push(format!(
            "only {} of {} pictures differ: show the board near and far, in every corner of the picture, and tilted by some 30 degrees to each side",
            of.different, of.used
        ));
    }
    let [fx, fy] = of.camera.focal;
    let loose = (of.focal_std_px[0] / fx).max(of.focal_std_px[1] / fy);
    if loose >= GOOD_FOCAL {
        found.push(format!(
            "the focal length is sure to ±{:.1} % only: tilt the board more, some 30 degrees to each side",
            100.0 * loose
        ));
    }
    if of.error_px >= GOOD_PX {
        found.push(format!(
            "the corners are off by {:.2} px (good: below {GOOD_PX}): hold board and camera still, light them well, glue the board onto something flat{}",
            of.error_px,
            match of.camera.distortion {
                crate::camera::Distortion::Equidistant(_) => "; of a lens that is no fisheye, leave out --model fisheye",
                _ => "; of a fisheye lens, add --model fisheye",
            }
        ));
    }
    if of.empty.is_empty() && of.coverage < GOOD_COVERAGE {
        found.push(format!(
            "the board was shown in {:.0} % of the picture: the lens is a guess elsewhere; hold the board near all edges",
            100.0 * of.coverage
        ));
    }
    if !of.empty.is_empty() {
        found.push(format!(
            "no corner was seen in the picture's {}: the lens is a guess there; hold the board there",
            of.empty.join(", ")
        ));
    }
    let largest = of.seen.iter().map(|(view, _)| view.corners.len()).max().unwrap_or(0);
    if largest < of.board.corners() {
        found.push(format!(
            "no picture shows more than {largest} of the {} corners of a {}x{} board: does --board count the inner corners?",
            of.board.corners(),
            of.board.columns,
            of.board.rows
        ));
    }
    found
}
