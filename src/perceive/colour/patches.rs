//! What of a thing is of one colour.

use super::light::Lab;
use super::points::Point;

/// Patches are looked for so often.
const MOST: usize = 3;
/// A smaller share of the thing is none.
const LEAST: f32 = 0.1;
/// Chromaticities (a/L, b/L) so far apart are not alike; a patch has what is this near its middle.
const ALIKE: f32 = 0.2;
const RADIUS: f32 = 0.14;
/// What has less is black, white or grey: of a thing with both, each is a patch where they are so far apart.
const NEUTRAL: f32 = 0.075;
const SPREAD: f32 = 0.45;
/// Lightness of the darkest and the lightest of a patch, and what tells its colour: shares of it. What lies in shade has its colour in its light part.
const DARKEST: f32 = 0.15;
const LIGHTEST: f32 = 0.85;
const MIDDLE: f32 = 0.5;
const LIT: f32 = 0.8;

/// A part of a thing that is of one colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    /// Which share of it, 0–1.
    pub(super) share: f32,
    chroma: [f32; 2],
    lightness: f32,
}

impl Patch {
    /// Its colour.
    pub(super) fn place(&self) -> Lab {
        let [a, b] = self.chroma.map(|value| value * self.lightness);
        [self.lightness, a, b]
    }
}

/// Those of a thing, the largest first, as far as they are of one chromaticity.
pub(super) fn of(points: &[Point]) -> Vec<Patch> {
    let mut left: Vec<f32> = points.iter().map(|point| point.weight).collect();
    let all: f32 = left.iter().sum();
    let mut found = Vec::new();
    for _ in 0..MOST {
        let Some((part, chroma)) = part(points, &left, LEAST * all) else { break };
        let share = |part: &[f32]| part.iter().sum::<f32>() / all;
        let at = |part: &[f32], share: f32| percentile(points, part, share);
        let (dark, light) = (at(&part, DARKEST), at(&part, LIGHTEST));
        if chroma[0].hypot(chroma[1]) < NEUTRAL && light - dark > SPREAD {
            let border = (dark + light) / 2.0;
            for is_light in [false, true] {
                let side = |(point, weight): (&Point, &f32)| {
                    if (point.lightness >= border) == is_light { *weight } else { 0.0 }
                };
                let side: Vec<f32> = points.iter().zip(&part).map(side).collect();
                if side.iter().sum::<f32>() > 0.0 {
                    let lightness = at(&side, MIDDLE);
                    found.push(Patch { share: share(&side), chroma, lightness });
                }
            }
        } else {
            found.push(Patch { share: share(&part), chroma, lightness: at(&part, LIT) });
        }
        for (left, part) in left.iter_mut().zip(&part) {
            *left = if *part > 0.0 { 0.0 } else { *left };
        }
    }
    found
}

/// The weights of what is of the most frequent chromaticity among what is left, and its mean; `None`: less than `least`.
fn part(points: &[Point], left: &[f32], least: f32) -> Option<(Vec<f32>, [f32; 2])> {
    let apart = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
    let often = |of: &Point| -> f32 {
        let like = |(point, weight): (&Point, &f32)| {
            (1.0 - apart(of.chroma, point.chroma) / (ALIKE * ALIKE)).max(0.0) * weight
        };
        points.iter().zip(left).map(like).sum()
    };
    let mut centre = points.first()?.chroma;
    let mut most = f32::MIN;
    for point in points {
        let often = often(point);
        if often > most {
            (centre, most) = (point.chroma, often);
        }
    }
    let mut part = Vec::new();
    for _ in 0..2 {
        let near = |(point, weight): (&Point, &f32)| {
            if apart(point.chroma, centre) < RADIUS * RADIUS { *weight } else { 0.0 }
        };
        part = points.iter().zip(left).map(near).collect::<Vec<f32>>();
        let sum: f32 = part.iter().sum();
        if sum < least || sum <= 0.0 {
            return None;
        }
        let mean = |at: usize| {
            points.iter().zip(&part).map(|(point, weight)| point.chroma[at] * weight).sum::<f32>()
                / sum
        };
        centre = [mean(0), mean(1)];
    }
    Some((part, centre))
}

/// The lightness below which that share of a part lies.
fn percentile(points: &[Point], part: &[f32], share: f32) -> f32 {
    let mut lights: Vec<(f32, f32)> =
        points.iter().zip(part).map(|(point, weight)| (point.lightness, *weight)).collect();
    lights.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f32 = lights.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    for (lightness, weight) in &lights {
        sum += weight;
        if sum >= share * all {
            return *lightness;
        }
    }
    lights.last().map_or(0.0, |(lightness, _)| *lightness)
}
