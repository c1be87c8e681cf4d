//! A picture in small and without colour.

use std::sync::Arc;

use image::RgbImage;
use serde::{Deserialize, Serialize};

/// Cells of a grey picture: 5 px each way in a picture of 640x480.
pub(super) const COLUMNS: usize = 128;
pub(super) const ROWS: usize = 96;

/// A picture's mean luma in 128 x 96 cells: made by any worker, compared in time order. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GreyPicture {
    size: (u32, u32),
    /// Line by line; none of a picture that has fewer pixels than cells.
    luma: Arc<Vec<u8>>,
}

impl GreyPicture {
    /// From a picture of any size.
    #[must_use]
    pub fn of(picture: &RgbImage) -> Self {
        let size = picture.dimensions();
        let (width, height) = (size.0 as usize, size.1 as usize);
        if width < COLUMNS || height < ROWS {
            return Self { size, luma: Arc::default() };
        }
        let edges: Vec<usize> = (0..=COLUMNS).map(|column| column * width / COLUMNS).collect();
        let mut luma = Vec::with_capacity(COLUMNS * ROWS);
        for row in 0..ROWS {
            let (top, bottom) = (row * height / ROWS, (row + 1) * height / ROWS);
            let mut sums = [0_u32; COLUMNS];
            for line in
                picture.as_raw()[3 * top * width..3 * bottom * width].chunks_exact(3 * width)
            {
                for (sum, edge) in sums.iter_mut().zip(edges.windows(2)) {
                    for p in line[3 * edge[0]..3 * edge[1]].chunks_exact(3) {
                        *sum +=
                            (77 * u32::from(p[0]) + 150 * u32::from(p[1]) + 29 * u32::from(p[2]))
                                >> 8;
                    }
                }
            }
            luma.extend(sums.iter().zip(edges.windows(2)).map(|(sum, edge)| {
                let area = (edge[1] - edge[0]) * (bottom - top);
                (sum / area.max(1) as u32) as u8
            }));
        }
        Self { size, luma: Arc::new(luma) }
    }

    /// Width and height of the picture, px.
    pub(super) fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Whether hardly anything changed since another picture of the same size.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        let changed = |(a, b): &(&u8, &u8)| a.abs_diff(**b) > CHANGED;
        let count = self.luma.iter().zip(&*other.luma).filter(changed).count();
        count * FEW <= self.luma.len()
    }

    /// What stands out from its surroundings; `None` of a picture that is too small.
    pub(super) fn details(&self) -> Option<Details> {
        (!self.luma.is_empty()).then(|| Details::of(&self.luma, (COLUMNS, ROWS), RADIUS))
    }

    /// The same at half the resolution.
    pub(super) fn half_details(&self) -> Option<Details> {
        if self.luma.is_empty() {
            return None;
        }
        let (columns, rows) = (COLUMNS / 2, ROWS / 2);
        let mut half = Vec::with_capacity(columns * rows);
        for row in 0..rows {
            for column in 0..columns {
                let at = 2 * row * COLUMNS + 2 * column;
                let four = [at, at + 1, at + COLUMNS, at + COLUMNS + 1];
                let sum: u16 = four.into_iter().map(|at| u16::from(self.luma[at])).sum();
                half.push((sum / 4) as u8);
            }
        }
        Some(Details::of(&half, (columns, rows), RADIUS / 2))
    }
}

/// A cell that differs by more shows something else, levels of luma; where no more of them than one in so many do, the
/// camera stood.
const CHANGED: u8 = 6;
const FEW: usize = 50;
/// Surroundings reach so far, cells of the full resolution.
const RADIUS: usize = 6;
/// A cell that is as its surroundings are.
pub(super) const FLAT: u8 = 128;

/// What stands out: each cell's luma less the mean of its surroundings, about [`FLAT`]. Light that changes over the whole
/// picture, and the darker corners of a lens, are no detail.
pub(super) struct Details {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) cells: Vec<u8>,
}

impl Details {
    fn of(luma: &[u8], (columns, rows): (usize, usize), radius: usize) -> Self {
        // Sums over everything left of and above a corner.
        let stride = columns + 1;
        let mut sums = vec![0_i32; stride * (rows + 1)];
        for row in 0..rows {
            let mut line = 0;
            for column in 0..columns {
                line += i32::from(luma[row * columns + column]);
                sums[(row + 1) * stride + column + 1] = sums[row * stride + column + 1] + line;
            }
        }
        let mut cells = Vec::with_capacity(luma.len());
        for row in 0..rows {
            let (top, bottom) = (row.saturating_sub(radius), (row + radius + 1).min(rows));
            for column in 0..columns {
                let (left, right) =
                    (column.saturating_sub(radius), (column + radius + 1).min(columns));
                let sum = sums[bottom * stride + right] + sums[top * stride + left]
                    - sums[top * stride + right]
                    - sums[bottom * stride + left];
                let area = ((right - left) * (bottom - top)) as i32;
                let off = i32::from(luma[row * columns + column]) - sum / area;
                cells.push((i32::from(FLAT) + off.clamp(-127, 127)) as u8);
            }
        }
        Self { columns, rows, cells }
    }

    /// Part of a line.
    pub(super) fn line(&self, row: usize, columns: std::ops::Range<usize>) -> &[u8] {
        &self.cells[row * self.columns + columns.start..row * self.columns + columns.end]
    }
}
