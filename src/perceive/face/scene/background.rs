//! What a camera sees while nobody is in view, so that only what changes in it need be searched for faces.
//!
//! Each cell of a [`Thumbnail`] has a running mean and a running mean deviation (after the running Gaussian average of
//! Wren, Azarbayejani, Darrell, Pentland 1997, "Pfinder"), in whole numbers: what comes out is the same on any machine.
//! A cell that leaves its range begins anew from where it is now, so a light that is switched on is learned at once,
//! while a screen or a curtain widens the range of its own cells only.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::shot_boundary::Thumbnail;
use crate::perceive::face::picture::PixelRect;

/// Levels of luma are kept in steps of 1/256.
const UNIT: i32 = 256;
/// A picture's share in the running means: one in so many.
const SHARE: i32 = 8;
/// A cell within so many deviations of its mean shows what it always shows.
const DEVIATIONS: i32 = 5;
/// Within so much of its mean it does in any case.
const LEAST: i32 = 6 * UNIT;
/// Deviation of a cell that nothing is known of yet.
const FIRST: i32 = UNIT;
/// Deviation that is believed at most: a face before a restless screen must still show.
const MOST: i32 = 8 * UNIT;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cell {
    mean: i32,
    deviation: i32,
}

impl Cell {
    fn new(luma: u8) -> Self {
        Self { mean: i32::from(luma) * UNIT, deviation: FIRST }
    }

    /// How far from the mean is still as always.
    fn range(self) -> i32 {
        LEAST.max(DEVIATIONS * self.deviation)
    }

    fn shows(self, luma: u8) -> bool {
        (i32::from(luma) * UNIT - self.mean).abs() <= self.range()
    }

    fn learn(&mut self, luma: u8) {
        let now = i32::from(luma) * UNIT;
        let off = (now - self.mean).abs().min(self.range());
        self.mean = if self.shows(luma) { self.mean + (now - self.mean) / SHARE } else { now };
        self.deviation = (self.deviation + (off - self.deviation) / SHARE).min(MOST);
    }
}

/// Around what changed so many cells more are searched: a face wants something around it.
const MARGIN: usize = 2;

/// The part of a picture that shows something new, in cells of a thumbnail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MotionRoi {
    columns: Range<usize>,
    rows: Range<usize>,
}

impl MotionRoi {
    fn of(column: usize, row: usize) -> Self {
        Self { columns: column..column + 1, rows: row..row + 1 }
    }

    /// Around both.
    fn and(self, other: Self) -> Self {
        let around = |a: Range<usize>, b: Range<usize>| a.start.min(b.start)..a.end.max(b.end);
        Self { columns: around(self.columns, other.columns), rows: around(self.rows, other.rows) }
    }

    /// In px of a picture of `width x height`, with a margin.
    #[must_use]
    pub fn pixels(&self, (width, height): (u32, u32)) -> PixelRect {
        let (columns, rows) = Thumbnail::GRID;
        let within = |range: &Range<usize>, cells: usize, length: u32| {
            let edge = |cell: usize| (cell * length as usize / cells) as u32;
            (edge(range.start.saturating_sub(MARGIN)), edge((range.end + MARGIN).min(cells)))
        };
        let (x0, x1) = within(&self.columns, columns, width);
        let (y0, y1) = within(&self.rows, rows, height);
        PixelRect { x0, y0, x1, y1 }
    }
}

/// The scene of one camera without anybody in it; cheap to clone. Its state goes into checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundModel {
    /// One per cell of a thumbnail; empty before the first.
    cells: Arc<Vec<Cell>>,
}

impl BackgroundModel {
    /// Where the picture shows another scene; `None` where it is as it was in every cell.
    #[must_use]
    pub fn change(&self, picture: &Thumbnail) -> Option<MotionRoi> {
        let ((columns, rows), luma) = (Thumbnail::GRID, picture.cells());
        if self.cells.len() != luma.len() {
            return Some(MotionRoi { columns: 0..columns, rows: 0..rows });
        }
        let cells = self.cells.iter().zip(luma).enumerate();
        let new = cells.filter(|(_, (cell, luma))| !cell.shows(**luma));
        new.map(|(at, _)| MotionRoi::of(at % columns, at / columns)).reduce(MotionRoi::and)
    }

    /// Takes in the next picture in which nobody is.
    pub fn learn(&mut self, picture: &Thumbnail) {
        let cells = picture.cells();
        if self.cells.len() != cells.len() {
            self.cells = Arc::new(cells.iter().map(|luma| Cell::new(*luma)).collect());
            return;
        }
        for (cell, luma) in Arc::make_mut(&mut self.cells).iter_mut().zip(cells) {
            cell.learn(*luma);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    const SIZE: (u32, u32) = (640, 480);

    /// Noise that is the same in every run: 0 to `most` - 1.
    fn noise(x: u32, y: u32, frame: u32, most: u32) -> u32 {
        let mut word = u64::from(x) << 40 | u64::from(y) << 20 | u64::from(frame);
        word = word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        word ^= word >> 31;
        word = word.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (word >> 33) as u32 % most
    }

    /// A room whose pixels jitter by `jitter` levels; what `over` gives is painted over it.
    fn room(frame: u32, jitter: u32, over: impl Fn(u32, u32) -> Option<u32>) -> Thumbnail {
        let picture = RgbImage::from_fn(SIZE.0, SIZE.1, |x, y| {
            let wall = 80 + x / 16 + y / 24 + noise(x, y, frame, jitter.max(1));
            Rgb([over(x, y).unwrap_or(wall).min(255) as u8; 3])
        });
        Thumbnail::of(&picture)
    }

    fn of_empty_room(frames: u32) -> BackgroundModel {
        let mut backdrop = BackgroundModel::default();
        for frame in 0..frames {
            backdrop.learn(&room(frame, 24, |_, _| None));
        }
        backdrop
    }

    #[test]
    fn a_noisy_camera_before_an_empty_room_shows_nothing_new() {
        let mut backdrop = BackgroundModel::default();
        assert!(backdrop.change(&room(0, 24, |_, _| None)).is_some(), "nothing is known yet");
        for frame in 0..50 {
            backdrop.learn(&room(frame, 24, |_, _| None));
            assert_eq!(backdrop.change(&room(frame + 1, 24, |_, _| None)), None, "frame {frame}");
        }
    }

    #[test]
    fn a_face_of_the_least_size_changes_the_picture_wherever_it_is() {
        let backdrop = of_empty_room(20);
        // 24 px is `face.min_size_px`; 15 levels are little between skin and wall.
        for place in 0..200 {
            let (left, top) = (noise(place, 0, 1, 616), noise(place, 1, 1, 456));
            let face = |x: u32, y: u32| {
                let inside = (left..left + 24).contains(&x) && (top..top + 24).contains(&y);
                inside.then_some(80 + x / 16 + y / 24 + 27 + noise(x, y, place, 24))
            };
            let change = backdrop.change(&room(100 + place, 24, face));
            let PixelRect { x0, y0, x1, y1 } = change.unwrap().pixels(SIZE);
            // Searched as a whole, with something around it where the picture has it.
            assert!(
                x0 <= left.saturating_sub(10) && x1 >= (left + 34).min(SIZE.0),
                "{left}, {top}"
            );
            assert!(y0 <= top.saturating_sub(10) && y1 >= (top + 34).min(SIZE.1), "{left}, {top}");
            assert!((x1 - x0) * (y1 - y0) <= 160 * 160, "{left}, {top}");
        }
    }

    #[test]
    fn a_restless_screen_is_learned_and_what_stands_before_it_shows() {
        let screen = |frame: u32| {
            move |x: u32, y: u32| {
                ((400..560).contains(&x) && (100..220).contains(&y))
                    .then(|| noise(x / 2, y / 2, frame, 256))
            }
        };
        let mut backdrop = BackgroundModel::default();
        for frame in 0..60 {
            backdrop.learn(&room(frame, 8, screen(frame)));
        }
        let unchanged = |frame: &u32| backdrop.change(&room(*frame, 8, screen(*frame))).is_none();
        let quiet = (60..100).filter(unchanged).count();
        assert!(quiet >= 36, "{quiet} of 40");
        let before = |x: u32, y: u32| {
            let person = (440..520).contains(&x) && (120..220).contains(&y);
            if person { Some(50) } else { screen(100)(x, y) }
        };
        assert!(backdrop.change(&room(100, 8, before)).is_some());
    }

    #[test]
    fn a_light_that_is_switched_on_is_learned_at_once_and_makes_nobody_invisible() {
        let mut backdrop = of_empty_room(20);
        let lit = |x: u32, y: u32| Some(150 + x / 16 + y / 24);
        assert!(backdrop.change(&room(20, 24, lit)).is_some());
        backdrop.learn(&room(20, 24, lit));
        assert_eq!(backdrop.change(&room(21, 24, lit)), None);
        let somebody = |x: u32, y: u32| {
            let head = (300..340).contains(&x) && (200..240).contains(&y);
            if head { Some(150 + x / 16 + y / 24 - 20) } else { lit(x, y) }
        };
        assert!(backdrop.change(&room(22, 24, somebody)).is_some());
    }
}
