//! Points of a box, and how surely each is the thing's.

use image::RgbImage;

use super::light::{Lab, Light};
use crate::geometry::Rect;

/// Points along either side of the box and what is around it.
const GRID: u32 = 24;
/// How far around it is looked, and what is left out between: shares of its sides.
const RING: f32 = 0.2;
const GAP: f32 = 0.05;
/// With fewer points around it nothing is known of its background.
const LEAST_AROUND: usize = 30;
/// Colours so far apart are not alike, OKLab, lightness and the two others weighed so.
const ALIKE: f32 = 0.11;
const WEIGHTS: Lab = [0.7, 1.4, 1.4];
/// What a point in a corner of the box counts: few things fill it.
const CORNER: f32 = 0.3;
/// Where less than this share is unlike what is around, the middle is taken as it is.
const LEAST_LEFT: f32 = 0.1;
/// Of a colour's chromaticity nothing is known where it is darker.
const DARKEST: f32 = 0.02;

/// A point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// At least [`DARKEST`].
    pub(super) lightness: f32,
    /// a/L and b/L, which light and shade leave as they are; towards nothing in the dark.
    pub(super) chroma: [f32; 2],
    /// How surely it is the thing's, 0–1.
    pub(super) weight: f32,
}

/// Below this lightness the chromaticity is less and less sure.
const DARK: f32 = 0.35;

/// Those of a box; `whole`: all of it is the thing.
pub(super) fn of(picture: &RgbImage, bbox: Rect, light: &Light, whole: bool) -> Vec<Point> {
    let (mut thing, mut around) = (Vec::new(), Vec::new());
    let at = |number: u32| (number as f32 + 0.5) / GRID as f32 * (1.0 + 2.0 * RING) - RING;
    for row in 0..GRID {
        for column in 0..GRID {
            let (u, v) = (at(column), at(row));
            let pixel = |start: f32, share: f32, side: f32, of: u32| {
                let place = (start + share * side).floor();
                (place >= 0.0 && place < of as f32).then_some(place as u32)
            };
            let x = pixel(bbox.x, u, bbox.w, picture.width());
            let y = pixel(bbox.y, v, bbox.h, picture.height());
            let (Some(x), Some(y)) = (x, y) else { continue };
            let lab = light.lab(*picture.get_pixel(x, y));
            let within = |gap: f32| {
                let range = -gap..1.0 + gap;
                range.contains(&u) && range.contains(&v)
            };
            if within(0.0) {
                thing.push((lab, u - 0.5, v - 0.5));
            } else if !within(GAP) {
                around.push(lab);
            }
        }
    }
    let weights = if whole || around.len() < LEAST_AROUND {
        vec![1.0; thing.len()]
    } else {
        unlike(&thing, &around)
    };
    let point = |((lab, _, _), weight): (&(Lab, f32, f32), f32)| {
        let [lightness, a, b] = [lab[0].max(DARKEST), lab[1], lab[2]];
        let sure = (lightness / DARK).clamp(0.0, 1.0);
        let chroma = [a / lightness * sure, b / lightness * sure];
        Point { lightness, chroma, weight }
    };
    thing.iter().zip(weights).map(point).collect()
}

/// How much less often each point's like lies around the box than in it, 0–1.
fn unlike(thing: &[(Lab, f32, f32)], around: &[Lab]) -> Vec<f32> {
    let own: Vec<Lab> = thing.iter().map(|(lab, _, _)| *lab).collect();
    let weight = |&(lab, u, v): &(Lab, f32, f32)| {
        let (within, without) = (often(lab, &own), often(lab, around));
        let round = if u * u + v * v < 0.25 { 1.0 } else { CORNER };
        ((within - without) / within).clamp(0.0, 1.0) * round
    };
    let weights: Vec<f32> = thing.iter().map(weight).collect();
    if weights.iter().sum::<f32>() >= LEAST_LEFT * thing.len() as f32 {
        return weights;
    }
    let middle =
        |&(_, u, v): &(Lab, f32, f32)| if u.abs() < 0.25 && v.abs() < 0.25 { 1.0 } else { 0.0 };
    thing.iter().map(middle).collect()
}

/// How often a colour's like is among those, 0–1.
fn often(of: Lab, among: &[Lab]) -> f32 {
    let like = |other: &Lab| {
        let apart: f32 = (0..3).map(|at| ((of[at] - other[at]) * WEIGHTS[at]).powi(2)).sum();
        (1.0 - apart / (ALIKE * ALIKE)).max(0.0)
    };
    among.iter().map(like).sum::<f32>() / among.len().max(1) as f32
}
