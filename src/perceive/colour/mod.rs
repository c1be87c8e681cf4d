//! What colour a thing in a picture is: a name, or none.
//!
//! Names of colours differ less between people than the light between pictures, and what lies behind a thing is in its box, too.
//! So half of the light's colour is taken out of the picture ([`Light`]; shades of grey, Finlayson and Trezzi 2004), points of
//! the box whose like lies around it count less ([`points`]), and what is left is parted into patches of one chromaticity, which is the
//! same in light and shade ([`patches`]). Each patch is called by its light part ([`names`]): by the nearest of colours that people named, in OKLab
//! (Ottosson 2020). Precision before recall: where two names are near, it has none. `tests/golden/colours.py` is the same, and
//! says how well it names the labelled crops of `benches/colours`.

mod light;
mod names;
mod patches;
mod points;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod golden;

use image::RgbImage;

pub use light::Light;

use crate::colour::{Colour, Colours, Named};
use crate::geometry::Rect;
use names::{NONE, TERMS};

/// Smaller boxes have no colour, px.
const LEAST_PX: f32 = 10.0;
/// One name, from this share of the thing on, so much ahead of any other.
const ONE: f32 = 0.45;
const AHEAD: f32 = 0.15;
/// Two names, from this share together on, each of at least that one.
const BOTH: f32 = 0.75;
const SECOND: f32 = 0.3;
/// The clothes of somebody who stands: shares of the body's box, and the least height of it, in widths.
const UPPER: Rect = Rect { x: 0.25, y: 0.2, w: 0.5, h: 0.25 };
const STANDS: f32 = 1.8;

/// The colour of the thing in a box, px of the picture; `None` where it has no one name, or two that are far apart. Costs some
/// 600 points, whatever its size.
#[must_use]
pub fn of_thing(picture: &RgbImage, bbox: Rect, light: &Light) -> Option<Named> {
    decided(&shares(picture, bbox, light, false)?)
}

/// The colour of what somebody wears above the waist; `bbox` is all of him, px of the picture. `None` of those who are not seen down to
/// their feet or sit: what is where in their box is not known.
#[must_use]
pub fn of_clothes(picture: &RgbImage, bbox: Rect, light: &Light) -> Option<Named> {
    if bbox.h < STANDS * bbox.w {
        return None;
    }
    let Rect { x, y, w, h } = bbox;
    let upper = Rect { x: x + UPPER.x * w, y: y + UPPER.y * h, w: UPPER.w * w, h: UPPER.h * h };
    decided(&shares(picture, upper, light, true)?)
}

/// Which share of what is in the box is called by which term, by [`Colour`], and by none ([`NONE`]). `whole`: nothing of the box is background.
fn shares(picture: &RgbImage, bbox: Rect, light: &Light, whole: bool) -> Option<[f32; TERMS]> {
    let fits = bbox.w.min(bbox.h) >= LEAST_PX && bbox.w.is_finite() && bbox.h.is_finite();
    if !fits || picture.width() == 0 || picture.height() == 0 {
        return None;
    }
    let points = points::of(picture, bbox, light, whole);
    let mut found = [0.0; TERMS];
    for patch in patches::of(&points) {
        let named = names::of(patch.place());
        for (sum, name) in found.iter_mut().zip(named) {
            *sum += patch.share * name;
        }
    }
    Some(found)
}

fn decided(shares: &[f32; TERMS]) -> Option<Named> {
    let mut order = Colour::ALL;
    order.sort_by(|a, b| shares[*b as usize].total_cmp(&shares[*a as usize]));
    let [first, second, ..] = order;
    let (a, b) = (shares[first as usize], shares[second as usize]);
    if a >= ONE && a - b >= AHEAD && a - shares[NONE] >= AHEAD {
        return Some(Named { colours: Colours::one(first), sure: a });
    }
    let both = a + b >= BOTH && b >= SECOND && !first.is_near(second);
    both.then(|| Named { colours: Colours::two(first, second), sure: a + b })
}
