//! The letterbox of a detector: the whole picture, scaled by one factor, in a tensor of one colour: in its middle for a
//! YOLO, at the top left for a NanoDet.
//!
//! As Ultralytics' `LetterBox` with `cv2.INTER_LINEAR` makes it: bilinear between pixel centres, both ways, the border
//! rounded to the left and up. Boxes are mapped back by the very factors that the pixels were mapped with.

use image::RgbImage;
use ndarray::ArrayViewMut3;

use crate::geometry::Rect;

/// Grey of what the picture does not cover, of 255.
const GREY: f32 = 114.0;

/// How a picture lies in a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Letterbox {
    /// Of the picture, px.
    from: (u32, u32),
    /// What it covers of the tensor, px.
    inner: (u32, u32),
    /// Where that begins, px.
    offset: (u32, u32),
}

impl Letterbox {
    /// A picture in a tensor of `width x height`; `None` where either is empty.
    pub(super) fn new(from: (u32, u32), (width, height): (u32, u32)) -> Option<Self> {
        if from.0 == 0 || from.1 == 0 || width == 0 || height == 0 {
            return None;
        }
        let scale =
            (f64::from(width) / f64::from(from.0)).min(f64::from(height) / f64::from(from.1));
        let side = |length: u32, most: u32| {
            ((f64::from(length) * scale).round_ties_even() as u32).clamp(1, most)
        };
        let inner = (side(from.0, width), side(from.1, height));
        let border = |outer: u32, inner: u32| (outer - inner) / 2;
        Some(Self { from, inner, offset: (border(width, inner.0), border(height, inner.1)) })
    }

    /// The same, without a border to the left and above.
    pub(super) fn at_the_top_left(from: (u32, u32), size: (u32, u32)) -> Option<Self> {
        Some(Self { offset: (0, 0), ..Self::new(from, size)? })
    }

    /// The size of a tensor of free size: the longer side of the picture becomes `longest`, the other the next multiple of
    /// `stride`.
    pub(super) fn free_size((width, height): (u32, u32), longest: u32, stride: u32) -> (u32, u32) {
        let scale = f64::from(longest) / f64::from(width.max(height).max(1));
        let side = |length: u32| {
            let scaled = (f64::from(length) * scale).round_ties_even() as u32;
            scaled.max(1).next_multiple_of(stride)
        };
        (side(width), side(height))
    }

    /// Writes the picture into `out[channel, y, x]`, red first, values 0–1.
    pub(super) fn fill(&self, picture: &RgbImage, mut out: ArrayViewMut3<'_, f32>) {
        out.fill(GREY / 255.0);
        self.draw(picture, out, |channel, value| (channel, value / 255.0));
    }

    /// Writes the picture, and nothing around it. `place`: of a channel (red is 0) and its value, 0–255, where in the tensor
    /// it goes, and as what.
    pub(super) fn draw(
        &self,
        picture: &RgbImage,
        mut out: ArrayViewMut3<'_, f32>,
        place: impl Fn(usize, f32) -> (usize, f32),
    ) {
        let columns = taps(self.from.0, self.inner.0);
        let rows = taps(self.from.1, self.inner.1);
        let (left, top) = (self.offset.0 as usize, self.offset.1 as usize);
        let stride = 3 * self.from.0 as usize;
        let pixels = picture.as_raw();
        for (y, row) in rows.iter().enumerate() {
            let (upper, lower) = (&pixels[stride * row.first..], &pixels[stride * row.second..]);
            for (x, column) in columns.iter().enumerate() {
                for channel in 0..3 {
                    let (a, b) = (3 * column.first + channel, 3 * column.second + channel);
                    let blend = |a: f32, b: f32, share: f32| a + (b - a) * share;
                    let above = blend(f32::from(upper[a]), f32::from(upper[b]), column.share);
                    let below = blend(f32::from(lower[a]), f32::from(lower[b]), column.share);
                    let (channel, value) = place(channel, blend(above, below, row.share));
                    out[[channel, top + y, left + x]] = value;
                }
            }
        }
    }

    /// A box of the tensor as a box of the picture, px.
    pub(super) fn back(&self, bbox: Rect) -> Rect {
        let across = self.from.0 as f32 / self.inner.0 as f32;
        let down = self.from.1 as f32 / self.inner.1 as f32;
        Rect {
            x: (bbox.x - self.offset.0 as f32) * across,
            y: (bbox.y - self.offset.1 as f32) * down,
            w: bbox.w * across,
            h: bbox.h * down,
        }
    }
}

/// Between which two pixels a scaled pixel's centre lies.
struct Tap {
    first: usize,
    second: usize,
    share: f32,
}

fn taps(from: u32, to: u32) -> Vec<Tap> {
    let step = f64::from(from) / f64::from(to);
    (0..to)
        .map(|at| {
            let centre = ((f64::from(at) + 0.5) * step - 0.5).clamp(0.0, f64::from(from - 1));
            let first = centre as usize;
            let second = (first + 1).min(from as usize - 1);
            Tap { first, second, share: (centre - first as f64) as f32 }
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use ndarray::Array3;
    use proptest::prelude::*;

    #[test]
    fn the_picture_lies_in_the_middle_of_grey() {
        let picture = RgbImage::from_fn(64, 32, |x, _| image::Rgb([4 * x as u8, 0, 255]));
        let boxed = Letterbox::new((64, 32), (32, 32)).unwrap();
        assert_eq!((boxed.inner, boxed.offset), ((32, 16), (0, 8)));
        let mut out = Array3::zeros((3, 32, 32));
        boxed.fill(&picture, out.view_mut());
        assert_eq!(out[[0, 7, 5]], GREY / 255.0);
        assert_eq!(out[[2, 8, 5]], 1.0);
        // Halved: the mean of two neighbours, exactly.
        assert_eq!(out[[0, 12, 5]], (4.0 * 10.0 + 4.0 * 11.0) / 2.0 / 255.0);
        // As it is: a copy.
        let boxed = Letterbox::new((64, 32), (64, 33)).unwrap();
        let mut out = Array3::zeros((3, 33, 64));
        boxed.fill(&picture, out.view_mut());
        assert_eq!((boxed.inner, boxed.offset), ((64, 32), (0, 0)));
        assert_eq!(out[[0, 31, 40]], 160.0 / 255.0);
        assert_eq!(out[[0, 32, 40]], GREY / 255.0);
        assert_eq!(Letterbox::free_size((1280, 720), 640, 32), (640, 384));
        assert!(Letterbox::new((0, 4), (32, 32)).is_none());
    }

    proptest! {
        #[test]
        fn a_box_comes_back_where_its_pixels_are(
            from in (1u32..2000, 1u32..2000), to in (32u32..1300, 32u32..1300),
            corner in (0f32..1.0, 0f32..1.0), size in (0f32..1.0, 0f32..1.0)
        ) {
            let boxed = Letterbox::new(from, to).unwrap();
            prop_assert!(boxed.inner.0 <= to.0 && boxed.inner.1 <= to.1);
            prop_assert!(boxed.inner.0 == to.0 || boxed.inner.1 == to.1);
            let (w, h) = (from.0 as f32, from.1 as f32);
            let bbox = Rect { x: corner.0 * w, y: corner.1 * h, w: size.0 * w, h: size.1 * h };
            let (across, down) = (boxed.inner.0 as f32 / w, boxed.inner.1 as f32 / h);
            let there = Rect {
                x: boxed.offset.0 as f32 + bbox.x * across,
                y: boxed.offset.1 as f32 + bbox.y * down,
                w: bbox.w * across,
                h: bbox.h * down,
            };
            let back = boxed.back(there);
            for (a, b) in [(back.x, bbox.x), (back.y, bbox.y), (back.w, bbox.w), (back.h, bbox.h)] {
                prop_assert!((a - b).abs() < 2e-3 * w.max(h).max(1.0), "{back:?} {bbox:?}");
            }
        }
    }
}
