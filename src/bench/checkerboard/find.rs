//! The board's inner corners in one picture.
//!
//! Corners come of ChESS (Bennett and Lasenby 2014), the grid of their topology; both of `calib-targets-chessboard`,
//! which leaves corners out rather than give one a wrong place. A part of the board is enough: every picture has a
//! pose of its own, so that it does not matter from which of the board's corners is counted.

use calib_targets_chessboard::{
    ChessboardDetection, ChessboardDetector, ChessboardParams, DetectorConfig, GrayImageView,
    default_chess_config, detect_corners,
};
use calib_targets_core::ImageRefiner;
use image::GrayImage;

use super::{Board, Corner, View};

/// Share of the board's corners that must be seen, and how many at least.
const LEAST_SHARE: f64 = 0.4;
const LEAST_CORNERS: usize = 12;
/// Corners beside the board, on a chequered cloth say, that may be dropped.
const STRAYS: usize = 2;
/// Of a picture full of texture the strongest corners are looked at, so many or so many times the board's.
const MOST_CORNERS: usize = 2000;
const MORE_THAN_BOARD: usize = 4;
/// Smaller pictures show no board, px.
const LEAST_SIDE: u32 = 32;

/// Why a picture is not used, and what to do about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoBoard {
    /// It cannot be decoded.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// Nothing looks like a corner of squares.
    #[error(
        "no corners of squares: the board must be in view, sharp, lit, and not too small in the picture"
    )]
    NoCorners,
    /// The corners make no grid.
    #[error(
        "{corners} corners, but no grid of them: show the board sharper, nearer, without reflections"
    )]
    NoGrid {
        /// Corners that were seen.
        corners: usize,
    },
    /// Too little of the board.
    #[error("only {corners} of {of} corners: show more of the board, without hands on its squares")]
    Part {
        /// Corners that were found.
        corners: usize,
        /// Corners of the board.
        of: usize,
    },
    /// A grid that does not fit on the board.
    #[error(
        "a grid of {columns}x{rows} corners: if that is the board, give --board {columns}x{rows}"
    )]
    Larger {
        /// Its corners to the right.
        columns: u32,
        /// Its corners down.
        rows: u32,
    },
    /// Not the size of the other pictures.
    #[error(
        "{}x{} px, where most have {}x{}: a calibration holds for one size",
        size.0, size.1, usual.0, usual.1
    )]
    OtherSize {
        /// Width and height, px.
        size: (u32, u32),
        /// Those of most.
        usual: (u32, u32),
    },
    /// It fits much worse than the others.
    #[error(
        "it stands out (others: {usual_px:.2} px): the board was bent or moving, or another one"
    )]
    StandsOut {
        /// The usual error, px.
        usual_px: f64,
    },
}

/// Looks for the board; `picture` is grey.
///
/// # Errors
/// [`NoBoard`], with the cure.
pub fn find(board: Board, picture: &GrayImage) -> Result<View, NoBoard> {
    let (width, height) = picture.dimensions();
    if width < LEAST_SIDE || height < LEAST_SIDE {
        return Err(NoBoard::NoCorners);
    }
    let pixels = GrayImageView {
        width: width as usize,
        height: height as usize,
        data: picture.as_raw().as_slice(),
    };
    // At the picture's own size; then, for large or soft pictures, down through smaller ones.
    let sharp = default_chess_config().with_refiner(ImageRefiner::saddle_point());
    let soft = sharp.with_multiscale(DetectorConfig::chess_multiscale().multiscale);
    let mut why = NoBoard::NoCorners;
    for config in [sharp, soft] {
        let mut corners = detect_corners(&pixels, &config);
        corners.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        corners.truncate(MOST_CORNERS.max(MORE_THAN_BOARD * board.corners()));
        if corners.len() < LEAST_CORNERS.min(board.corners()) {
            continue;
        }
        let detector = ChessboardDetector::new(ChessboardParams::default());
        let grids = detector.map(|detector| detector.detect_all(&corners)).unwrap_or_default();
        let tried = grids
            .iter()
            .map(|grid| on_board(board, grid))
            .reduce(|best, next| if best.is_ok() { best } else { next.or(best) });
        match tried {
            Some(Ok(corners)) => return Ok(View { size: (width, height), corners }),
            Some(Err(reason)) => why = reason,
            None if why == NoBoard::NoCorners => why = NoBoard::NoGrid { corners: corners.len() },
            None => {}
        }
    }
    Err(why)
}

/// The corners of a grid that can be the board's.
fn on_board(board: Board, grid: &ChessboardDetection) -> Result<Vec<Corner>, NoBoard> {
    let corners: Vec<Corner> = grid
        .corners
        .iter()
        .filter_map(|corner| {
            let cell = [u32::try_from(corner.grid.u).ok()?, u32::try_from(corner.grid.v).ok()?];
            let at = [f64::from(corner.position.x), f64::from(corner.position.y)];
            at.iter().all(|side| side.is_finite()).then_some(Corner { cell, at })
        })
        .collect();
    let [columns, rows] = extent(&corners);
    if corners.len() > board.corners() + STRAYS {
        return Err(NoBoard::Larger { columns, rows });
    }
    // Where on the grid, lying or standing, most of its corners are within a board.
    let mut best: Vec<Corner> = Vec::new();
    for (wide, high) in [(board.columns, board.rows), (board.rows, board.columns)] {
        for left in 0..=columns.saturating_sub(wide) {
            for top in 0..=rows.saturating_sub(high) {
                let within = |corner: &&Corner| {
                    let [u, v] = corner.cell;
                    (left..left + wide).contains(&u) && (top..top + high).contains(&v)
                };
                let kept: Vec<Corner> = corners.iter().filter(within).copied().collect();
                if kept.len() > best.len() {
                    best = kept;
                }
            }
        }
    }
    if corners.len() - best.len() > STRAYS {
        return Err(NoBoard::Larger { columns, rows });
    }
    let needed = ((LEAST_SHARE * board.corners() as f64).ceil() as usize)
        .max(LEAST_CORNERS.min(board.corners()));
    let spread = extent(&best).into_iter().min().unwrap_or(0) >= 3;
    if best.len() < needed || !spread {
        return Err(NoBoard::Part { corners: best.len(), of: board.corners() });
    }
    Ok(best)
}

/// Columns and rows from the first to the last that has a corner.
fn extent(corners: &[Corner]) -> [u32; 2] {
    [0, 1].map(|axis| {
        let along = corners.iter().map(|corner| corner.cell[axis]);
        match (along.clone().min(), along.max()) {
            (Some(first), Some(last)) => last - first + 1,
            _ => 0,
        }
    })
}
