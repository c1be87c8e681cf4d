//! What colours somebody wears.

use image::RgbImage;

use crate::geometry::Rect;
use crate::percept::Clothes;

/// Points that are looked at, along either side of each half.
const POINTS: u32 = 12;
/// The halves: shares of the body's height.
const HALVES: [(f32, f32); 2] = [(0.15, 0.5), (0.5, 0.85)];
/// The middle of the body: shares of its width. What lies beside it is background.
const MIDDLE: (f32, f32) = (0.25, 0.75);
/// Steps of light, and of each of two opponent colours (red against green, yellow against blue).
const STEPS: usize = 4;

/// The colours in the middle of a person's box, px of the picture.
#[must_use]
pub fn clothes(picture: &RgbImage, body: Rect) -> Clothes {
    let (width, height) = picture.dimensions();
    let mut shares = Vec::with_capacity(HALVES.len() * STEPS.pow(3));
    for (upper, lower) in HALVES {
        let mut counts = [0_u16; STEPS.pow(3)];
        let between = |from: f32, to: f32, number: u32| {
            from + (to - from) * (number as f32 + 0.5) / POINTS as f32
        };
        for row in 0..POINTS {
            for column in 0..POINTS {
                let x = body.x + body.w * between(MIDDLE.0, MIDDLE.1, column);
                let y = body.y + body.h * between(upper, lower, row);
                let (x, y) = (x.max(0.0) as u32, y.max(0.0) as u32);
                if width > 0 && height > 0 {
                    let pixel = picture.get_pixel(x.min(width - 1), y.min(height - 1));
                    counts[colour(pixel.0)] += 1;
                }
            }
        }
        let total = (POINTS * POINTS * HALVES.len() as u32) as f32;
        shares.extend(counts.map(|count| (f32::from(count) / total).sqrt()));
    }
    Clothes(shares)
}

/// Which of the colours that are told apart.
fn colour([red, green, blue]: [u8; 3]) -> usize {
    let [red, green, blue] = [red, green, blue].map(i32::from);
    let step = |value: i32, size: i32| (value / size).clamp(0, STEPS as i32 - 1) as usize;
    // Most clothes are grey: opponent colours are told apart around it.
    let opponent = |difference: i32| step((difference / 2 + 32).clamp(0, 63), 16);
    let light = step((red + green + blue) / 3, 64);
    (light * STEPS + opponent(red - green)) * STEPS + opponent((red + green) / 2 - blue)
}

impl Clothes {
    /// How much two have in common, 0–1.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn the_same_clothes_are_alike_and_others_are_not() {
        let wears = |upper: [u8; 3], lower: [u8; 3]| {
            RgbImage::from_fn(60, 120, |x, y| match (x, y) {
                (20..40, 0..60) => Rgb(upper),
                (20..40, _) => Rgb(lower),
                _ => Rgb([90, 140, 60]),
            })
        };
        let body = Rect { x: 20.0, y: 0.0, w: 20.0, h: 120.0 };
        let of = |picture: &RgbImage| clothes(picture, body);
        let red = of(&wears([200, 30, 30], [20, 20, 60]));
        assert!((red.likeness(&red) - 1.0).abs() < 1e-5);
        let brighter = of(&wears([210, 40, 40], [25, 25, 62]));
        assert!(red.likeness(&brighter) > 0.9);
        let white = of(&wears([230, 230, 230], [20, 20, 60]));
        assert!(red.likeness(&white) < 0.6, "half of it is another");
        // Out of the picture: the nearest pixels, no panic.
        let beyond =
            clothes(&wears([0; 3], [0; 3]), Rect { x: -50.0, y: 100.0, w: 300.0, h: 90.0 });
        assert!((beyond.likeness(&beyond) - 1.0).abs() < 1e-5);
    }
}
