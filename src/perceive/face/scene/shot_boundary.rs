//! Hard cuts: consecutive analysed pictures of one camera that show another scene.
//!
//! A cut ends what boxes can tell about identity (the tracker then trusts embeddings only). Cameras do
//! not cut, recordings do; a camera that was covered or swung round counts as well.

use std::sync::Arc;

use image::RgbImage;
use serde::{Deserialize, Serialize};

/// Cells of a thumbnail.
const COLUMNS: usize = 32;
const ROWS: usize = 24;
/// Cuts are told by squares of so many cells on a side.
const SQUARE: usize = 2;
/// Mean absolute difference of luma above which it is a cut, 0–255.
const JUMP: f32 = 18.0;
/// Share of squares that must have changed by more than [`SQUARE_JUMP`]: a large thing that moves changes fewer.
const CHANGED: f32 = 0.45;
const SQUARE_JUMP: f32 = 10.0;

/// A picture's mean luma in 32 x 24 cells: made by any worker, compared in time order. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thumbnail(Arc<Vec<u8>>);

impl Thumbnail {
    /// Columns and rows.
    pub(in crate::perceive::face) const GRID: (usize, usize) = (COLUMNS, ROWS);

    /// From a picture of any size.
    #[must_use]
    pub fn of(picture: &RgbImage) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let mut cells = Vec::with_capacity(COLUMNS * ROWS);
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                let span = |length: usize, index: usize, count: usize| {
                    (index * length / count)..((index + 1) * length / count)
                };
                let (xs, ys) = (span(width, column, COLUMNS), span(height, row, ROWS));
                let area = (xs.len() * ys.len()).max(1) as u64;
                let mut sum = 0u64;
                for y in ys {
                    let line =
                        &picture.as_raw()[3 * (y * width + xs.start)..3 * (y * width + xs.end)];
                    for p in line.chunks_exact(3) {
                        sum += 77 * u64::from(p[0]) + 150 * u64::from(p[1]) + 29 * u64::from(p[2]);
                    }
                }
                cells.push((sum / (256 * area)) as u8);
            }
        }
        Self(Arc::new(cells))
    }

    /// Mean luma of every cell, 0–255, line by line.
    pub(in crate::perceive) fn cells(&self) -> &[u8] {
        &self.0
    }

    /// Mean luma of every square of cells, 0–255.
    fn squares(&self) -> impl Iterator<Item = f32> {
        let mean = |row: usize, column: usize| {
            let lines = self.0.chunks_exact(COLUMNS).skip(row * SQUARE).take(SQUARE);
            let cells = lines.flat_map(|line| line.iter().skip(column * SQUARE).take(SQUARE));
            let sum: u32 = cells.map(|luma| u32::from(*luma)).sum();
            (sum / (SQUARE * SQUARE) as u32) as f32
        };
        (0..ROWS / SQUARE)
            .flat_map(move |row| (0..COLUMNS / SQUARE).map(move |column| mean(row, column)))
    }

    /// Whether two pictures show another scene each.
    #[must_use]
    pub fn is_of_another_scene(&self, other: &Self) -> bool {
        let (jump, changed) = self.difference(other);
        jump > JUMP || changed > CHANGED
    }

    /// Mean absolute difference of all squares, 0–255, and the share of squares that changed, 0–1.
    pub(in crate::perceive::face) fn difference(&self, other: &Self) -> (f32, f32) {
        let count = (self.0.len() / (SQUARE * SQUARE)).max(1) as f32;
        let differences = self.squares().zip(other.squares()).map(|(a, b)| (a - b).abs());
        let (sum, changed) = differences.fold((0.0, 0.0), |(sum, changed), d| {
            (sum + d, changed + if d > SQUARE_JUMP { 1.0 } else { 0.0 })
        });
        (sum / count, changed / count)
    }
}

/// Tells hard cuts of one camera. Its state goes into checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CutDetector {
    last: Option<Thumbnail>,
}

impl CutDetector {
    /// Takes the next analysed picture; true when it shows another scene than the one before.
    pub fn step(&mut self, picture: Thumbnail) -> bool {
        let cut = self.last.as_ref().is_some_and(|last| last.is_of_another_scene(&picture));
        self.last = Some(picture);
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn another_scene_is_a_cut_and_a_moving_thing_is_none() {
        let room = |shift: u32| {
            RgbImage::from_fn(320, 240, |x, y| {
                let person = (100 + shift..160 + shift).contains(&x) && y > 80;
                Rgb([if person { 60 } else { (x / 4 + y / 4) as u8 + 60 }; 3])
            })
        };
        let garden =
            RgbImage::from_fn(320, 240, |x, y| Rgb([220 - (x / 3) as u8, (y / 2) as u8 + 100, 90]));
        let mut cuts = CutDetector::default();
        assert!(!cuts.step(Thumbnail::of(&room(0))));
        assert!(!cuts.step(Thumbnail::of(&room(25))));
        assert!(cuts.step(Thumbnail::of(&garden)));
        assert!(!cuts.step(Thumbnail::of(&garden)));
    }
}
