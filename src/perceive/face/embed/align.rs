//! Alignment: five landmarks onto a template by a similarity transform, then an upright chip.

use image::{Rgb, RgbImage};

use crate::geometry::Point;

/// Scale, rotation and shift: `(x, y) -> (a x - b y + tx, b x + a y + ty)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    /// Scale times cosine.
    pub a: f64,
    /// Scale times sine.
    pub b: f64,
    /// Shift to the right.
    pub tx: f64,
    /// Shift down.
    pub ty: f64,
}

impl Similarity {
    /// The least-squares transform that takes `from` to `to` (Umeyama 1991 without reflection, which in
    /// two dimensions has this closed form). `None` when all points of `from` coincide.
    #[must_use]
    pub fn between(from: &[Point; 5], to: &[Point; 5]) -> Option<Self> {
        let mean = |points: &[Point; 5]| {
            let (x, y) = points
                .iter()
                .fold((0.0, 0.0), |(x, y), p| (x + f64::from(p.x), y + f64::from(p.y)));
            (x / 5.0, y / 5.0)
        };
        let ((fx, fy), (tx, ty)) = (mean(from), mean(to));
        let (mut dot, mut cross, mut spread) = (0.0, 0.0, 0.0);
        for (p, q) in from.iter().zip(to) {
            let (px, py) = (f64::from(p.x) - fx, f64::from(p.y) - fy);
            let (qx, qy) = (f64::from(q.x) - tx, f64::from(q.y) - ty);
            dot += px * qx + py * qy;
            cross += px * qy - py * qx;
            spread += px * px + py * py;
        }
        if !(spread > 1e-9 && dot.is_finite() && cross.is_finite()) {
            return None;
        }
        let (a, b) = (dot / spread, cross / spread);
        Some(Self { a, b, tx: tx - (a * fx - b * fy), ty: ty - (b * fx + a * fy) })
    }

    /// Where a point goes.
    #[must_use]
    pub fn apply(&self, p: Point) -> Point {
        let (x, y) = (f64::from(p.x), f64::from(p.y));
        Point {
            x: (self.a * x - self.b * y + self.tx) as f32,
            y: (self.b * x + self.a * y + self.ty) as f32,
        }
    }

    /// The way back; `None` when everything falls onto one point.
    #[must_use]
    pub fn inverse(&self) -> Option<Self> {
        let square = self.a * self.a + self.b * self.b;
        if !(square > 1e-12 && square.is_finite()) {
            return None;
        }
        let (a, b) = (self.a / square, -self.b / square);
        Some(Self { a, b, tx: -(a * self.tx - b * self.ty), ty: -(b * self.tx + a * self.ty) })
    }

    /// How much larger things become.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.a.hypot(self.b)
    }
}

/// Where the five landmarks lie in an upright chip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Template {
    /// Side of the chip, px.
    pub side: u32,
    /// Left eye, right eye, nose, left and right corner of the mouth, px.
    pub points: [Point; 5],
}

const fn at(x: f32, y: f32) -> Point {
    Point { x, y }
}

impl Template {
    /// 112 px, as ArcFace and its kin were trained on.
    pub const ARCFACE_112: Self = Self {
        side: 112,
        points: [
            at(38.2946, 51.6963),
            at(73.5318, 51.5014),
            at(56.0252, 71.7366),
            at(41.5493, 92.3655),
            at(70.7299, 92.2041),
        ],
    };

    /// 150 px for face-api's descriptor (dlib's chip): a point `v` of the unit face goes to
    /// `150 (pad + v) / (1 + 2 pad)`.
    #[must_use]
    pub fn dlib_150(pad: f32) -> Self {
        const UNIT: [(f32, f32); 5] = [
            (0.2255, 0.2160),
            (0.7548, 0.2160),
            (0.4901, 0.5156),
            (0.2541, 0.7802),
            (0.7261, 0.7802),
        ];
        let place = |v: f32| 150.0 * (pad + v) / (1.0 + 2.0 * pad);
        Self { side: 150, points: UNIT.map(|(x, y)| at(place(x), place(y))) }
    }
}

/// Cuts the upright chip of a face: bilinear, black outside the picture; a face much larger than the
/// chip is averaged over several samples per pixel. `None` for landmarks that make no face.
#[must_use]
pub fn chip(picture: &RgbImage, landmarks: &[Point; 5], template: &Template) -> Option<RgbImage> {
    let back = Similarity::between(landmarks, &template.points)?.inverse()?;
    // Picture pixels per chip pixel: beyond two, one bilinear sample would skip some.
    let samples = (back.scale() / 1.5).ceil().clamp(1.0, 4.0) as u32;
    let (a, b) = (back.a as f32, back.b as f32);
    let (tx, ty) = (back.tx as f32, back.ty as f32);
    let share = 1.0 / (samples * samples) as f32;
    let offsets: Vec<f32> = (0..samples).map(|i| (i as f32 + 0.5) / samples as f32 - 0.5).collect();
    Some(RgbImage::from_fn(template.side, template.side, |column, row| {
        let mut sum = [0f32; 3];
        for dy in &offsets {
            for dx in &offsets {
                let (u, v) = (column as f32 + dx, row as f32 + dy);
                add_bilinear(picture, a * u - b * v + tx, b * u + a * v + ty, &mut sum);
            }
        }
        Rgb(sum.map(|value| (value * share).round().clamp(0.0, 255.0) as u8))
    }))
}

/// Adds the picture's value at a point; whole numbers are pixel centres.
fn add_bilinear(picture: &RgbImage, x: f32, y: f32, sum: &mut [f32; 3]) {
    let (width, height) = (picture.width() as i64, picture.height() as i64);
    let (left, top) = (x.floor(), y.floor());
    let (fx, fy) = (x - left, y - top);
    let (left, top) = (left as i64, top as i64);
    let pixels = picture.as_raw();
    // Landmarks may lie anywhere, even beyond what a number holds.
    for (row, wy) in [(top, 1.0 - fy), (top.saturating_add(1), fy)] {
        for (column, wx) in [(left, 1.0 - fx), (left.saturating_add(1), fx)] {
            if row < 0 || row >= height || column < 0 || column >= width {
                continue;
            }
            let at = 3 * (row * width + column) as usize;
            let weight = wx * wy;
            for (total, value) in sum.iter_mut().zip(&pixels[at..at + 3]) {
                *total += weight * f32::from(*value);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_transform_is_found_again(
            scale in 0.2f64..5.0, angle in -3.0f64..3.0, tx in -300f64..300.0, ty in -300f64..300.0
        ) {
            let truth = Similarity { a: scale * angle.cos(), b: scale * angle.sin(), tx, ty };
            let from = Template::ARCFACE_112.points;
            let to = from.map(|p| truth.apply(p));
            let found = Similarity::between(&from, &to).unwrap();
            let back = found.inverse().unwrap();
            for (p, q) in from.iter().zip(&to) {
                let (there, home) = (found.apply(*p), back.apply(*q));
                prop_assert!((there.x - q.x).abs() < 1e-2 && (there.y - q.y).abs() < 1e-2);
                prop_assert!((home.x - p.x).abs() < 1e-2 && (home.y - p.y).abs() < 1e-2);
            }
        }
    }

    proptest! {
        #[test]
        fn no_similarity_brings_the_landmarks_nearer(
            moved in proptest::array::uniform5((-20f32..20.0, -20f32..20.0)),
            (da, db, dx, dy) in (-0.1f64..0.1, -0.1f64..0.1, -5f64..5.0, -5f64..5.0)
        ) {
            let to = Template::ARCFACE_112.points;
            let mut from = to;
            for (point, (x, y)) in from.iter_mut().zip(moved) {
                *point = Point { x: point.x + x, y: point.y + y };
            }
            let squares = |by: &Similarity| -> f64 {
                let of = |(p, q): (&Point, &Point)| {
                    let at = by.apply(*p);
                    f64::from(at.x - q.x).powi(2) + f64::from(at.y - q.y).powi(2)
                };
                from.iter().zip(&to).map(of).sum()
            };
            let best = Similarity::between(&from, &to).unwrap();
            let Similarity { a, b, tx, ty } = best;
            let other = Similarity { a: a + da, b: b + db, tx: tx + dx, ty: ty + dy };
            // what is left is what f32 rounds off
            prop_assert!(squares(&best) <= squares(&other) + 1e-2);
        }

        #[test]
        fn no_landmarks_make_the_chip_fall_over(
            (width, height) in (1u32..40, 1u32..40),
            points in proptest::array::uniform5((any::<f32>(), any::<f32>()))
        ) {
            let picture = RgbImage::from_pixel(width, height, Rgb([90, 120, 200]));
            let landmarks = points.map(|(x, y)| Point { x, y });
            if let Some(chip) = chip(&picture, &landmarks, &Template::ARCFACE_112) {
                prop_assert_eq!(chip.dimensions(), (112, 112));
            }
        }
    }

    #[test]
    fn coinciding_landmarks_make_no_face() {
        let nothing = [Point { x: 5.0, y: 5.0 }; 5];
        assert!(Similarity::between(&nothing, &Template::ARCFACE_112.points).is_none());
        let broken = [Point { x: f32::NAN, y: 0.0 }; 5];
        assert!(Similarity::between(&broken, &Template::ARCFACE_112.points).is_none());
    }

    #[test]
    fn a_face_already_in_place_is_copied() {
        let picture = RgbImage::from_fn(112, 112, |x, y| Rgb([x as u8, y as u8, (x ^ y) as u8]));
        let chip = chip(&picture, &Template::ARCFACE_112.points, &Template::ARCFACE_112).unwrap();
        for (x, y, pixel) in chip.enumerate_pixels().filter(|(x, y, _)| x % 5 == 0 && y % 7 == 0) {
            for channel in 0..2 {
                let expected = i32::from(picture.get_pixel(x, y)[channel]);
                assert!((i32::from(pixel[channel]) - expected).abs() <= 1, "{x} {y}");
            }
        }
    }

    #[test]
    fn outside_the_picture_is_black() {
        let picture = RgbImage::from_pixel(50, 50, Rgb([200, 200, 200]));
        let shifted = Template::ARCFACE_112.points.map(|p| Point { x: p.x + 40.0, y: p.y });
        let chip = chip(&picture, &shifted, &Template::ARCFACE_112).unwrap();
        assert_eq!(chip.get_pixel(2, 10), &Rgb([200, 200, 200]));
        assert_eq!(chip.get_pixel(60, 10), &Rgb([0, 0, 0]));
    }
}
