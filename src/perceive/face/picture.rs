//! Pictures into tensors: exact area averages and plain copies.
//!
//! Detectors want pictures smaller than they come. Sums over rectangles are exact in integers, so the
//! same picture gives the same tensor bit for bit, whatever the machine's vector units.

use image::RgbImage;
use ndarray::{Array4, ArrayViewMut3};

/// Order of the colour planes in a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// Red first.
    Rgb,
    /// Blue first.
    Bgr,
}

/// Pixels of a rectangle, `[x0, x1) x [y0, y1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRect {
    /// First column.
    pub x0: u32,
    /// First row.
    pub y0: u32,
    /// Column after the last.
    pub x1: u32,
    /// Row after the last.
    pub y1: u32,
}

/// Summed-area table of an RGB picture: the mean of any rectangle in constant time.
///
/// Sums wrap at 2³²; differences stay right for rectangles up to 16 million pixels.
pub struct AreaTable {
    width: usize,
    height: usize,
    /// `[height + 1, width + 1, 3]`.
    sums: Vec<u32>,
}

impl AreaTable {
    /// Sums up a picture.
    #[must_use]
    pub fn new(picture: &RgbImage) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let stride = 3 * (width + 1);
        let mut sums = vec![0u32; stride * (height + 1)];
        for (y, row) in picture.as_raw().chunks_exact(3 * width.max(1)).take(height).enumerate() {
            let (above, below) = sums.split_at_mut(stride * (y + 1));
            let above = &above[stride * y..];
            let mut running = [0u32; 3];
            for (x, pixel) in row.chunks_exact(3).enumerate() {
                for channel in 0..3 {
                    running[channel] = running[channel].wrapping_add(u32::from(pixel[channel]));
                    let at = 3 * (x + 1) + channel;
                    below[at] = above[at].wrapping_add(running[channel]);
                }
            }
        }
        Self { width, height, sums }
    }

    /// The whole picture.
    #[must_use]
    pub fn whole(&self) -> PixelRect {
        PixelRect { x0: 0, y0: 0, x1: self.width as u32, y1: self.height as u32 }
    }

    /// Writes `(mean - shift) * factor` of every cell of a `height x width` grid over `rect` into
    /// `out[channel, y, x]`, red first.
    ///
    /// A cell is rounded outwards to whole pixels (adaptive average pooling, as PyTorch's `area`
    /// interpolation does), so a grid finer than the pixels repeats them. `rect` must not be empty.
    pub fn average(
        &self,
        rect: PixelRect,
        mut out: ArrayViewMut3<'_, f32>,
        shift: f32,
        factor: f32,
    ) {
        let (_, rows, columns) = out.dim();
        let edges = |start: u32, end: u32, cells: usize, cell: usize| {
            let length = (end - start) as usize;
            let from = start as usize + cell * length / cells;
            let to = start as usize + ((cell + 1) * length).div_ceil(cells);
            (from, to)
        };
        let stride = 3 * (self.width + 1);
        let spans: Vec<(usize, usize)> =
            (0..columns).map(|column| edges(rect.x0, rect.x1, columns, column)).collect();
        for row in 0..rows {
            let (top, bottom) = edges(rect.y0, rect.y1, rows, row);
            let (upper, lower) = (&self.sums[top * stride..], &self.sums[bottom * stride..]);
            for (column, &(left, right)) in spans.iter().enumerate() {
                let area = ((right - left) * (bottom - top)) as f32;
                for channel in 0..3 {
                    let (l, r) = (3 * left + channel, 3 * right + channel);
                    let sum = lower[r]
                        .wrapping_sub(lower[l])
                        .wrapping_sub(upper[r])
                        .wrapping_add(upper[l]);
                    out[[channel, row, column]] = (sum as f32 / area - shift) * factor;
                }
            }
        }
    }
}

/// A picture fitted into the top left corner of a tensor `[1, 3, height, width]`, the rest filled.
pub struct Letterbox {
    /// The tensor.
    pub tensor: Array4<f32>,
    /// Tensor pixels per picture pixel, 0–1: divide a coordinate by it to get back.
    pub scale: f32,
}

impl Letterbox {
    /// The tensor's memory, for the next picture.
    #[must_use]
    pub fn into_memory(self) -> Vec<f32> {
        self.tensor.into_raw_vec_and_offset().0
    }
}

/// Fits a picture into `height x width`; larger pictures shrink by area averages, smaller ones stay as they are.
///
/// A value `v` of 0–255 becomes `(v - shift) * factor`; what the picture does not cover is black. The tensor lies in `memory`:
/// to have as much anew for each picture takes longer than to fill it.
#[must_use]
pub fn letterbox(
    picture: &RgbImage,
    (width, height): (u32, u32),
    channels: Channels,
    shift: f32,
    factor: f32,
    mut memory: Vec<f32>,
) -> Letterbox {
    let black = (0.0 - shift) * factor;
    let shape = (1, 3, height as usize, width as usize);
    memory.clear();
    memory.resize(3 * shape.2 * shape.3, black);
    let tensor = Array4::from_shape_vec(shape, memory);
    let mut tensor = tensor.unwrap_or_else(|_| Array4::from_elem(shape, black));
    let scale = fit(picture.dimensions(), (width, height));
    let inner_w = ((picture.width() as f32 * scale).round() as u32).clamp(1, width);
    let inner_h = ((picture.height() as f32 * scale).round() as u32).clamp(1, height);
    if picture.width() == 0 || picture.height() == 0 {
        return Letterbox { tensor, scale: 1.0 };
    }
    if scale < 1.0 {
        let table = AreaTable::new(picture);
        let inner = ndarray::s![0, .., ..inner_h as usize, ..inner_w as usize];
        table.average(table.whole(), tensor.slice_mut(inner), shift, factor);
        if channels == Channels::Bgr {
            let (mut red, _, mut blue) = tensor.multi_slice_mut((
                ndarray::s![0, 0, .., ..],
                ndarray::s![0, 1, .., ..],
                ndarray::s![0, 2, .., ..],
            ));
            ndarray::Zip::from(&mut red).and(&mut blue).for_each(std::mem::swap);
        }
    } else {
        let order = if channels == Channels::Rgb { [0, 1, 2] } else { [2, 1, 0] };
        for (plane, channel) in order.into_iter().enumerate() {
            for (y, row) in picture.as_raw().chunks_exact(3 * inner_w as usize).enumerate() {
                let mut line = tensor.slice_mut(ndarray::s![0, plane, y, ..inner_w as usize]);
                for (value, pixel) in line.iter_mut().zip(row.chunks_exact(3)) {
                    *value = (f32::from(pixel[channel]) - shift) * factor;
                }
            }
        }
    }
    Letterbox { tensor, scale }
}

/// The factor that fits a picture of that width and height into a size without enlarging it.
#[must_use]
pub fn fit(picture: (u32, u32), (width, height): (u32, u32)) -> f32 {
    let across = width as f32 / picture.0.max(1) as f32;
    let down = height as f32 / picture.1.max(1) as f32;
    across.min(down).min(1.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use ndarray::Array3;

    fn picture(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            image::Rgb([(x * 7 + y) as u8, (x + y * 13) as u8, (x * y) as u8])
        })
    }

    #[test]
    fn averages_are_exact() {
        let picture = picture(37, 23);
        let table = AreaTable::new(&picture);
        let rect = PixelRect { x0: 3, y0: 2, x1: 31, y1: 20 };
        let mut out = Array3::zeros((3, 5, 8));
        table.average(rect, out.view_mut(), 0.0, 1.0);
        for row in 0..5usize {
            for column in 0..8usize {
                let (x0, x1) = (3 + column * 28 / 8, 3 + ((column + 1) * 28).div_ceil(8));
                let (y0, y1) = (2 + row * 18 / 5, 2 + ((row + 1) * 18).div_ceil(5));
                for channel in 0..3 {
                    let mut sum = 0u32;
                    for y in y0..y1 {
                        for x in x0..x1 {
                            sum += u32::from(picture.get_pixel(x as u32, y as u32)[channel]);
                        }
                    }
                    let mean = sum as f32 / ((x1 - x0) * (y1 - y0)) as f32;
                    assert_eq!(out[[channel, row, column]], mean);
                }
            }
        }
    }

    #[test]
    fn a_grid_of_the_same_size_copies_the_picture() {
        let picture = picture(16, 9);
        let table = AreaTable::new(&picture);
        let mut out = Array3::zeros((3, 9, 16));
        table.average(table.whole(), out.view_mut(), 0.0, 1.0);
        for (x, y, pixel) in picture.enumerate_pixels() {
            for channel in 0..3 {
                let value = out[[channel, y as usize, x as usize]];
                assert_eq!(value, f32::from(pixel[channel]));
            }
        }
    }

    #[test]
    fn a_letterbox_keeps_the_picture_top_left() {
        let small = letterbox(&picture(16, 9), (32, 32), Channels::Bgr, 0.0, 1.0, Vec::new());
        assert_eq!(small.scale, 1.0);
        assert_eq!(small.tensor[[0, 2, 3, 2]], f32::from(picture(16, 9).get_pixel(2, 3)[0]));
        assert_eq!(small.tensor[[0, 0, 20, 20]], 0.0);
        let large =
            letterbox(&picture(64, 48), (32, 32), Channels::Rgb, 127.5, 1.0 / 128.0, vec![1.0; 7]);
        assert_eq!(large.scale, 0.5);
        assert_eq!(large.tensor[[0, 0, 31, 31]], -127.5 / 128.0);
    }
}
