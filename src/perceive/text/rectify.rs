//! A line of text cut out of a picture, upright and of the height that the recogniser wants.

use image::RgbImage;
use ndarray::ArrayViewMut3;

use super::Quad;
use crate::geometry::Point;

/// Lines at least so many times as high as wide are read from the side.
const UPRIGHT: f32 = 1.5;
/// Samples along a side of a pixel of the crop, at most: a line larger than that is coarse enough.
const MOST_SAMPLES: usize = 8;

/// How a line lies in the picture, and how wide it is at a given height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crop {
    quad: Quad,
    width: f32,
    height: f32,
}

impl Crop {
    /// Of a line; one that stands on end is turned a quarter to the left.
    pub(super) fn of(quad: Quad) -> Self {
        let [a, b, c, d] = quad;
        let width = distance(a, b).max(distance(d, c)).max(1.0);
        let height = distance(a, d).max(distance(b, c)).max(1.0);
        match height / width >= UPRIGHT {
            true => Self { quad: [b, c, d, a], width: height, height: width },
            false => Self { quad, width, height },
        }
    }

    /// Width at that height, px.
    pub(super) fn width_at(&self, height: usize) -> usize {
        ((height as f32 * self.width / self.height).ceil() as usize).max(1)
    }

    /// Writes `v / 127.5 - 1` of the line into `out[channel, y, x]`, blue first: bilinear, and where the line is larger than
    /// the tensor the mean of some samples.
    pub(super) fn fill(&self, picture: &RgbImage, mut out: ArrayViewMut3<'_, f32>) {
        let (_, rows, columns) = out.dim();
        let samples = |length: f32, cells: usize| {
            ((length / cells as f32).ceil() as usize).clamp(1, MOST_SAMPLES)
        };
        let (across, down) = (samples(self.width, columns), samples(self.height, rows));
        let share = 1.0 / (across * down) as f32;
        for y in 0..rows {
            for x in 0..columns {
                let mut sum = [0.0_f32; 3];
                for j in 0..down {
                    for i in 0..across {
                        let u = (x as f32 + (i as f32 + 0.5) / across as f32) / columns as f32;
                        let v = (y as f32 + (j as f32 + 0.5) / down as f32) / rows as f32;
                        let value = bilinear(picture, self.at(u, v));
                        for (sum, value) in sum.iter_mut().zip(value) {
                            *sum += value;
                        }
                    }
                }
                for channel in 0..3 {
                    out[[2 - channel, y, x]] = sum[channel] * share / 127.5 - 1.0;
                }
            }
        }
    }

    /// Where a share of the way along and down the line lies, px of the picture.
    fn at(&self, u: f32, v: f32) -> Point {
        let [a, b, c, d] = self.quad;
        let blend = |a: f32, b: f32, c: f32, d: f32| {
            (1.0 - v) * ((1.0 - u) * a + u * b) + v * ((1.0 - u) * d + u * c)
        };
        Point { x: blend(a.x, b.x, c.x, d.x), y: blend(a.y, b.y, c.y, d.y) }
    }
}

fn distance(a: Point, b: Point) -> f32 {
    let (dx, dy) = (a.x - b.x, a.y - b.y);
    (dx * dx + dy * dy).sqrt()
}

/// The picture at a point, red first, 0–255; beyond its border what lies at it. A pixel's centre lies at half a pixel.
pub(super) fn bilinear(picture: &RgbImage, at: Point) -> [f32; 3] {
    let (width, height) = picture.dimensions();
    let split = |at: f32, length: u32| {
        let at = (at - 0.5).clamp(0.0, length.saturating_sub(1) as f32);
        let first = at as usize;
        (first, (first + 1).min(length as usize - 1), at - first as f32)
    };
    if width == 0 || height == 0 {
        return [0.0; 3];
    }
    let ((left, right, x), (upper, lower, y)) = (split(at.x, width), split(at.y, height));
    let pixels = picture.as_raw();
    let value = |row: usize, column: usize, channel: usize| {
        f32::from(pixels[3 * (row * width as usize + column) + channel])
    };
    std::array::from_fn(|channel| {
        let blend = |a: f32, b: f32, share: f32| a + (b - a) * share;
        let above = blend(value(upper, left, channel), value(upper, right, channel), x);
        let below = blend(value(lower, left, channel), value(lower, right, channel), x);
        blend(above, below, y)
    })
}

#[cfg(test)]
mod tests {
    use ndarray::Array3;

    use super::*;

    fn quad(corners: [(f32, f32); 4]) -> Quad {
        corners.map(|(x, y)| Point { x, y })
    }

    #[test]
    fn a_line_is_cut_out_as_it_lies_and_one_on_end_is_laid_down() {
        // Red grows to the right, blue downwards.
        let picture = RgbImage::from_fn(64, 64, |x, y| image::Rgb([4 * x as u8, 0, 4 * y as u8]));
        let lying = Crop::of(quad([(8.0, 8.0), (40.0, 8.0), (40.0, 16.0), (8.0, 16.0)]));
        assert_eq!(lying.width_at(8), 32);
        let mut out = Array3::zeros((3, 8, 32));
        lying.fill(&picture, out.view_mut());
        let near = |value: f32, luma: f32| (value - (luma / 127.5 - 1.0)).abs() < 1e-5;
        assert!(near(out[[2, 0, 0]], 32.0) && near(out[[0, 0, 0]], 32.0), "{}", out[[2, 0, 0]]);
        assert!(near(out[[2, 3, 31]], 4.0 * 39.0) && near(out[[0, 7, 5]], 4.0 * 15.0));
        let standing = Crop::of(quad([(8.0, 8.0), (16.0, 8.0), (16.0, 40.0), (8.0, 40.0)]));
        assert_eq!(standing.width_at(8), 32);
        standing.fill(&picture, out.view_mut());
        // What was at the top right is at the top left now; to the right it goes down.
        assert!(near(out[[2, 0, 0]], 4.0 * 15.0) && near(out[[0, 0, 0]], 32.0));
        assert!(near(out[[0, 0, 31]], 4.0 * 39.0) && near(out[[2, 7, 0]], 32.0));
    }

    #[test]
    fn what_is_larger_is_averaged() {
        let stripes = RgbImage::from_fn(64, 16, |x, _| image::Rgb([255 * (x % 2) as u8; 3]));
        let crop = Crop::of(quad([(0.0, 0.0), (64.0, 0.0), (64.0, 16.0), (0.0, 16.0)]));
        let mut out = Array3::zeros((3, 4, 16));
        crop.fill(&stripes, out.view_mut());
        assert!(
            out.slice(ndarray::s![.., .., 1..15]).iter().all(|value| value.abs() < 0.01),
            "{out}"
        );
    }
}
