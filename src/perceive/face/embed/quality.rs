//! Face quality: how well a face is seen, 0–1; decides what is embedded and what enters a gallery.
//!
//! Four things that can spoil an embedding (size, blur, pose, doubt of the detector), each 0–1; their
//! product, so that one bad one is enough. Where the embedder's norms mean something, a fifth is told by the embedding
//! itself ([`of_norm`]).

use image::RgbImage;

use crate::geometry::Point;
use crate::perceive::face::detect::Detection;

/// Eye to eye distance at which half of what size can give is reached, px.
const HALF_EYES_PX: f32 = 12.0;
/// Variance of the Laplacian on the chip's luma (0–255) at which half of what sharpness can give is reached.
const HALF_SHARPNESS: f32 = 40.0;
/// Nose off the middle of the eyes, in eye distances: frontal below the first, profile above the second.
const YAW: (f32, f32) = (0.05, 0.60);
/// Tilt of the eye line, radians: harmless below the first, lying on the side above the second.
const ROLL: (f32, f32) = (0.35, 1.20);
/// Detector score.
const SCORE: (f32, f32) = (0.30, 0.80);
/// From so many times its least norm on, an embedding is as good as any.
const FULL_NORM: f32 = 1.15;

/// What can make a face hard to know again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It has few pixels.
    Small,
    /// It is blurred.
    Blurred,
    /// It looks elsewhere.
    Turned,
    /// It lies on its side.
    Tilted,
    /// The detector doubts that it is one.
    Unclear,
}

/// Quality of a face, 0–1, from its detection and its upright chip.
#[must_use]
pub fn quality(face: &Detection, chip: &RgbImage) -> f32 {
    factors(face, chip).iter().map(|(_, left)| left).product()
}

/// What takes most of a face's quality.
#[must_use]
pub fn worst(face: &Detection, chip: &RgbImage) -> Flaw {
    let worst = factors(face, chip).into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
    worst.map_or(Flaw::Unclear, |(flaw, _)| flaw)
}

/// What each flaw leaves of a face's quality, 0–1.
fn factors(face: &Detection, chip: &RgbImage) -> [(Flaw, f32); 5] {
    let pose = Pose::of(&face.landmarks);
    let size = pose.eyes_px / (pose.eyes_px + HALF_EYES_PX);
    let sharpness = sharpness(chip);
    let sharp = sharpness / (sharpness + HALF_SHARPNESS);
    let yaw = 1.0 - ramp(pose.yaw, YAW);
    let roll = 1.0 - ramp(pose.roll, ROLL);
    let score = ramp(face.score, SCORE);
    // Blur and doubt alone never make a face useless, size and pose do.
    [
        (Flaw::Small, size),
        (Flaw::Blurred, 0.4 + 0.6 * sharp),
        (Flaw::Turned, yaw),
        (Flaw::Tilted, roll),
        (Flaw::Unclear, 0.5 + 0.5 * score),
    ]
}

/// What the norm of a raw embedding leaves of a face's quality, 0–1: nothing up to `min_norm`, all from 15 % above it.
///
/// Nets that were trained with an angular margin on normalised features (ArcFace and kin) give short vectors for what
/// they hardly recognise as a face (Meng et al. 2021, MagFace): hidden, noisy, or no face at all. `None`: a model whose
/// norms tell nothing.
#[must_use]
pub fn of_norm(norm: f32, min_norm: Option<f32>) -> f32 {
    min_norm.map_or(1.0, |least| ramp(norm, (least, FULL_NORM * least)))
}

/// 0 at the first bound, 1 at the second, linear between.
fn ramp(value: f32, (low, high): (f32, f32)) -> f32 {
    ((value - low) / (high - low)).clamp(0.0, 1.0)
}

/// What five landmarks tell of a face's pose.
struct Pose {
    /// Distance of the eyes, px.
    eyes_px: f32,
    /// How far the nose lies off the middle of the eyes along their line, in eye distances; 0 = frontal.
    yaw: f32,
    /// Tilt of the eye line, radians, not negative.
    roll: f32,
}

impl Pose {
    fn of([left, right, nose, mouth_left, mouth_right]: &[Point; 5]) -> Self {
        let (ex, ey) = (right.x - left.x, right.y - left.y);
        let eyes = ex.hypot(ey);
        // In profile the eyes coincide: the face's height stands in as the unit.
        let (mx, my) = (0.5 * (left.x + right.x), 0.5 * (left.y + right.y));
        let (bx, by) =
            (0.5 * (mouth_left.x + mouth_right.x) - mx, 0.5 * (mouth_left.y + mouth_right.y) - my);
        let height = bx.hypot(by);
        let unit = eyes.max(0.5 * height).max(1e-3);
        // Against the line from the eyes to the mouth: a nod of the head does not count as yaw.
        let across = ((nose.x - mx) * by - (nose.y - my) * bx).abs() / height.max(1e-3);
        Self { eyes_px: eyes, yaw: across / unit, roll: ey.atan2(ex).abs() }
    }
}

/// Variance of the 4-neighbour Laplacian of the chip's inner part (the face, not the background), luma 0–255.
fn sharpness(chip: &RgbImage) -> f32 {
    let (width, height) = (chip.width() as usize, chip.height() as usize);
    let (x0, x1) = (width / 5, width - width / 5);
    let (y0, y1) = (height / 4, height - height / 8);
    if x1 <= x0 + 2 || y1 <= y0 + 2 {
        return 0.0;
    }
    // Integer luma, BT.601, times 256.
    let luma: Vec<i64> = chip
        .as_raw()
        .chunks_exact(3)
        .map(|p| 77 * i64::from(p[0]) + 150 * i64::from(p[1]) + 29 * i64::from(p[2]))
        .collect();
    let (mut sum, mut squares, mut count) = (0i64, 0i64, 0i64);
    for y in y0.max(1)..y1.min(height - 1) {
        for x in x0.max(1)..x1.min(width - 1) {
            let at = y * width + x;
            let value =
                luma[at - 1] + luma[at + 1] + luma[at - width] + luma[at + width] - 4 * luma[at];
            let value = value / 256;
            sum += value;
            squares += value * value;
            count += 1;
        }
    }
    let mean = sum as f64 / count as f64;
    (squares as f64 / count as f64 - mean * mean) as f32
}

/// Eye distance, sharpness, yaw, roll.
#[cfg(test)]
pub(in crate::perceive::face) fn parts(face: &Detection, chip: &RgbImage) -> [f32; 4] {
    let pose = Pose::of(&face.landmarks);
    [pose.eyes_px, sharpness(chip), pose.yaw, pose.roll]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Rect;
    use crate::perceive::face::embed::align::Template;
    use image::Rgb;

    fn face(landmarks: [Point; 5]) -> Detection {
        Detection { bbox: Rect::default(), landmarks, score: 0.9 }
    }

    fn checkered(cell: u32) -> RgbImage {
        RgbImage::from_fn(112, 112, |x, y| {
            Rgb([if (x / cell + y / cell).is_multiple_of(2) { 90 } else { 150 }; 3])
        })
    }

    #[test]
    fn small_blurred_turned_and_tilted_faces_are_worse() {
        let frontal = Template::ARCFACE_112.points;
        let best = quality(&face(frontal), &checkered(4));
        assert!(best > 0.7, "{best}");
        let small = frontal.map(|p| Point { x: p.x * 0.35, y: p.y * 0.35 });
        assert!(quality(&face(small), &checkered(4)) < 0.8 * best);
        assert!(quality(&face(frontal), &checkered(200)) < 0.6 * best);
        let mut turned = frontal;
        turned[2].x += 20.0;
        assert!(quality(&face(turned), &checkered(4)) < 0.4 * best);
        let tilted = frontal.map(|p| Point { x: -p.y, y: p.x });
        assert!(quality(&face(tilted), &checkered(4)) < 0.1);
        assert_eq!(worst(&face(small), &checkered(4)), Flaw::Small);
        assert_eq!(worst(&face(frontal), &checkered(200)), Flaw::Blurred);
        assert_eq!(worst(&face(turned), &checkered(4)), Flaw::Turned);
        assert_eq!(worst(&face(tilted), &checkered(4)), Flaw::Tilted);
    }

    #[test]
    fn short_embeddings_are_worse_where_that_means_something() {
        assert_eq!(
            [8.0, 10.0, 11.5, 30.0].map(|norm| of_norm(norm, Some(10.0))),
            [0.0, 0.0, 1.0, 1.0]
        );
        let doubtful = of_norm(10.75, Some(10.0));
        assert!((doubtful - 0.5).abs() < 1e-3, "{doubtful}");
        assert_eq!([0.0, 1.3].map(|norm| of_norm(norm, None)), [1.0, 1.0]);
    }

    #[test]
    fn quality_stays_within_bounds_for_any_landmarks() {
        for points in [[Point::default(); 5], [Point { x: 1e9, y: -1e9 }; 5]] {
            let value = quality(&face(points), &checkered(3));
            assert!((0.0..=1.0).contains(&value), "{value}");
        }
    }
}
