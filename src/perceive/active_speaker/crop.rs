//! Grey 112 x 112 crops as TalkNet's and LR-ASD's demonstrations cut them.
//!
//! There a square of 2.8 half sides around the face (crop scale 0.40, lower than the face by 0.4) is resized to 224 x 224,
//! and the middle 112 x 112 of it go to the network: a square of 1.4 half sides. It is cut here in one step.

use std::sync::Arc;

use image::RgbImage;

use super::Crop;
use super::network::SIDE;
use crate::geometry::Rect;
use crate::media::{Picture, YuvPixels};
use crate::time::Timestamp;

/// Brightness of what lies outside the picture.
const OUTSIDE: f32 = 110.0;
/// Most pixels of the picture for one of the crop: faces of a hundred thousand px are none.
const MOST_STEP: f32 = 1024.0;

/// The square of the picture that is cut, px: of half the longer side of the face's box, 0.7 to each side of a centre that
/// lies 0.4 below the box's.
#[must_use]
pub fn mouth_region(face: Rect) -> Rect {
    let half = 0.5 * face.w.max(face.h);
    let centre = face.centre();
    Rect { x: centre.x - 0.7 * half, y: centre.y - 0.3 * half, w: 1.4 * half, h: 1.4 * half }
}

/// Where grey pixels come from.
pub enum Gray<'a> {
    /// The Y of YUV, as it was decoded.
    Luma {
        /// The values.
        pixels: &'a YuvPixels,
        /// Width, px.
        width: usize,
        /// Height, px.
        height: usize,
    },
    /// Packed RGB: `[height, width, 3]`.
    Rgb {
        /// The pixels.
        pixels: &'a [u8],
        /// Width, px.
        width: usize,
        /// Height, px.
        height: usize,
    },
}

impl<'a> Gray<'a> {
    /// A decoded picture.
    #[must_use]
    pub fn of_rgb(picture: &'a RgbImage) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        Self::Rgb { pixels: picture.as_raw(), width, height }
    }

    /// Pixels as they came; `None` where they must be decoded first, or are fewer than the size asks for.
    #[must_use]
    pub fn of(picture: &'a Picture, width: u32, height: u32) -> Option<Self> {
        let (width, height) = (width as usize, height as usize);
        let count = width.checked_mul(height).filter(|count| *count > 0)?;
        match picture {
            Picture::Yuv(pixels) => {
                let fits = pixels.layout.fits(width, height, pixels.data.len());
                fits.then_some(Self::Luma { pixels, width, height })
            }
            Picture::Rgb8(bytes) => {
                Some(Self::Rgb { pixels: bytes.get(..count.checked_mul(3)?)?, width, height })
            }
            Picture::Encoded(_) | Picture::Raw(_) => None,
        }
    }

    fn size(&self) -> (usize, usize) {
        match self {
            Self::Luma { width, height, .. } | Self::Rgb { width, height, .. } => (*width, *height),
        }
    }

    /// Brightness, 0–255, of the pixels of row `y` from column `x` on, as many as `row` has places.
    fn read(&self, x: i64, y: i64, row: &mut [f32]) {
        row.fill(OUTSIDE);
        let (width, height) = self.size();
        let Some(y) = usize::try_from(y).ok().filter(|y| *y < height) else { return };
        let before = usize::try_from(x.saturating_neg()).unwrap_or(0).min(row.len());
        let from = usize::try_from(x).unwrap_or(0).min(width);
        let inside = row[before..].iter_mut().zip(from..width);
        match self {
            Self::Luma { pixels, .. } => {
                let [luma, ..] = pixels.layout.places;
                let line = luma.offset + y * luma.stride;
                for (value, x) in inside {
                    *value = pixels.coding.brightness(pixels.data[line + x * luma.step]);
                }
            }
            Self::Rgb { pixels, .. } => {
                for (value, x) in inside {
                    let p = &pixels[3 * (y * width + x)..][..3];
                    *value =
                        0.299 * f32::from(p[0]) + 0.587 * f32::from(p[1]) + 0.114 * f32::from(p[2]);
                }
            }
        }
    }
}

/// Which pixels of one axis make each of the [`SIDE`] pixels of the crop: the mean of some bilinear samples. The two
/// axes are worked out one after the other, as the weights of a picture are the products of both.
struct Axis {
    /// The first pixel of each.
    first: Vec<i64>,
    /// Weights of it and of those that follow, `[SIDE, width]`.
    weights: Vec<f32>,
    width: usize,
}

impl Axis {
    /// A side of `length` px from `start`; pixel centres lie at halves.
    fn new(start: f32, length: f32) -> Self {
        let step = (length / SIDE as f32).clamp(0.0, MOST_STEP);
        // One sample up to the picture's own resolution, more above it.
        let taps = (step.ceil() as usize).clamp(1, 16);
        let width = step.ceil() as usize + 2;
        let mut axis =
            Self { first: Vec::with_capacity(SIDE), weights: vec![0.0; SIDE * width], width };
        for (n, weights) in axis.weights.chunks_exact_mut(width).enumerate() {
            let place =
                |tap: usize| start + (n as f32 + (tap as f32 + 0.5) / taps as f32) * step - 0.5;
            let first = place(0).floor() as i64;
            for tap in 0..taps {
                let left = place(tap).floor();
                let share = place(tap) - left;
                let at = usize::try_from(left as i64 - first).unwrap_or(0).min(width - 2);
                weights[at] += (1.0 - share) / taps as f32;
                weights[at + 1] += share / taps as f32;
            }
            axis.first.push(first);
        }
        axis
    }

    /// The first pixel of all, and how many there are.
    fn span(&self) -> (i64, usize) {
        let (first, last) = (self.first.first().copied(), self.first.last().copied());
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
        (first, usize::try_from(last - first).unwrap_or(0) + self.width)
    }

    /// For each pixel of the crop: where its pixels begin in the span, and their weights.
    fn each(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let (from, _) = self.span();
        let places = self.first.iter().map(move |at| usize::try_from(at - from).unwrap_or(0));
        places.zip(self.weights.chunks_exact(self.width))
    }
}

/// Cuts the crop of a face whose box is `face`. Larger faces are averaged down, smaller ones interpolated.
#[must_use]
pub fn crop(picture: &Gray<'_>, face: Rect, at: Timestamp) -> Crop {
    let region = mouth_region(face);
    let (across, down) = (Axis::new(region.x, region.w), Axis::new(region.y, region.h));
    let ((left, columns), (top, rows)) = (across.span(), down.span());
    let mut line = vec![0.0; columns];
    // [rows, SIDE]
    let mut narrow = Vec::with_capacity(rows * SIDE);
    for y in (top..).take(rows) {
        picture.read(left, y, &mut line);
        narrow.extend(across.each().map(|(from, weights)| {
            weights.iter().zip(&line[from..]).map(|(weight, value)| weight * value).sum::<f32>()
        }));
    }
    let mut pixels = Vec::with_capacity(SIDE * SIDE);
    let mut sums = [0.0_f32; SIDE];
    for (from, weights) in down.each() {
        sums.fill(0.0);
        for (weight, values) in weights.iter().zip(narrow[from * SIDE..].chunks_exact(SIDE)) {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        }
        pixels.extend(sums.iter().map(|sum| (sum + 0.5) as u8));
    }
    Crop { at, pixels: Arc::from(pixels) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::media::{Place, YuvCoding, YuvLayout};

    /// A ramp of luma: 16 + x.
    fn ramp(width: usize, height: usize) -> Picture {
        let data: Vec<u8> = (0..width * height).map(|n| 16 + (n % width) as u8).collect();
        let places = [Place { offset: 0, stride: width, step: 1 }; 3];
        let layout = YuvLayout { places, across: 0, down: 0 };
        Picture::Yuv(YuvPixels { layout, coding: YuvCoding::LIMITED_BT601, data: data.into() })
    }

    #[test]
    fn the_square_is_the_middle_of_the_published_crop() {
        let face = Rect { x: 100.0, y: 60.0, w: 80.0, h: 100.0 };
        let region = mouth_region(face);
        // Published: x ± 1.4 half sides, y from -1 to +1.8; of that the middle half.
        let (half, x, y) = (50.0, 140.0, 110.0);
        let (left, top, side) = (x - 1.4 * half, y - half, 2.8 * half);
        assert_eq!(region.x, left + 0.25 * side);
        assert_eq!(region.y, top + 0.25 * side);
        assert!((region.w - 0.5 * side).abs() < 1e-4 && region.w == region.h);
    }

    #[test]
    fn a_ramp_stays_a_ramp_at_any_size() {
        for side in [40.0, 160.0, 300.0_f32] {
            let picture = ramp(200, 200);
            let gray = Gray::of(&picture, 200, 200).unwrap();
            let face = Rect { x: 100.0 - side / 2.0, y: 100.0 - side / 2.0, w: side, h: side };
            let crop = crop(&gray, face, Timestamp::EPOCH);
            assert_eq!(crop.pixels.len(), SIDE * SIDE);
            let region = mouth_region(face);
            for column in [20, 56, 90] {
                let x = region.x + (column as f32 + 0.5) * region.w / SIDE as f32;
                let inside = (1.0..199.0).contains(&x);
                let wanted = if inside { (x - 0.5) * (255.0 / 219.0) } else { OUTSIDE };
                let found = f32::from(crop.pixels[10 * SIDE + column]);
                assert!((found - wanted).abs() <= 1.0, "{side}: {found} instead of {wanted}");
            }
        }
    }

    #[test]
    fn what_lies_outside_is_grey_and_short_pictures_are_refused() {
        let picture = ramp(32, 32);
        let gray = Gray::of(&picture, 32, 32).unwrap();
        let crop = crop(&gray, Rect { x: -500.0, y: -500.0, w: 60.0, h: 60.0 }, Timestamp::EPOCH);
        assert!(crop.pixels.iter().all(|p| *p == 110));
        assert!(Gray::of(&picture, 64, 64).is_none());
        assert!(Gray::of(&Picture::Encoded([1, 2].as_slice().into()), 32, 32).is_none());
        let red = RgbImage::from_pixel(9, 9, image::Rgb([255, 0, 0]));
        let mut row = [0.0; 3];
        Gray::of_rgb(&red).read(7, 4, &mut row);
        assert_eq!(row, [0.299 * 255.0, 0.299 * 255.0, OUTSIDE]);
        Gray::of_rgb(&red).read(-1, 4, &mut row);
        assert_eq!(row, [OUTSIDE, 0.299 * 255.0, 0.299 * 255.0]);
    }
}
