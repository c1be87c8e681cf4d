//! The light of a picture, and OKLab.

use std::sync::LazyLock;

use image::{Rgb, RgbImage};

/// Points that are looked at, along either side of the picture.
const COLUMNS: u32 = 64;
const ROWS: u32 = 48;
/// Brighter ones may be clipped, 0–255.
const CLIPPED: u8 = 250;
/// With fewer the light is not known.
const LEAST_POINTS: usize = 300;
/// How much of the light's colour is taken out (an exponent): a scene of one colour is no light of that colour.
const TRUST: f32 = 0.5;
/// A channel is made stronger or weaker at most by this, a dark picture lighter by that.
const MOST_GAIN: f32 = 1.5;
const MOST_LIFT: f32 = 3.0;
/// The lightest twentieth of a picture reflects so much, 0–1.
const LIGHTEST: f32 = 0.5;
const OF_POINTS: f32 = 0.95;

/// sRGB, 0–255, to linear light, 0–1 (IEC 61966-2-1).
static LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|value| {
        let value = value as f32 / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
});

/// A colour in OKLab: lightness 0–1, then green against red and blue against yellow.
pub(super) type Lab = [f32; 3];

/// By how much each channel of a picture is made stronger, so that it looks as in daylight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light([f32; 3]);

impl Light {
    /// As it is.
    #[cfg(test)]
    pub(super) const UNKNOWN: Self = Self([1.0; 3]);

    /// The light of a picture: the sixth root of the mean of sixth powers of each channel is the lamp's (between a grey world and a white
    /// patch).
    #[must_use]
    pub fn of(picture: &RgbImage) -> Self {
        let (width, height) = picture.dimensions();
        let mut points: Vec<[f32; 3]> = Vec::with_capacity((COLUMNS * ROWS) as usize);
        if width > 0 && height > 0 {
            let at = |number: u32, of: u32, side: u32| {
                (((f64::from(number) + 0.5) * f64::from(side) / f64::from(of)) as u32).min(side - 1)
            };
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let pixel =
                        picture.get_pixel(at(column, COLUMNS, width), at(row, ROWS, height));
                    if pixel.0.iter().all(|value| *value < CLIPPED) {
                        points.push(pixel.0.map(|value| LINEAR[usize::from(value)]));
                    }
                }
            }
        }
        if points.len() < LEAST_POINTS {
            return Self([1.0; 3]);
        }
        let mean: [f32; 3] = std::array::from_fn(|channel| {
            let sixth = |point: &[f32; 3]| f64::from(point[channel]).powi(6);
            let sum: f64 = points.iter().map(sixth).sum();
            (sum / points.len() as f64).sqrt().cbrt() as f32
        });
        let grey = (mean[0] + mean[1] + mean[2]) / 3.0;
        let gains =
            mean.map(|mean| (grey / mean.max(1e-4)).clamp(1.0 / MOST_GAIN, MOST_GAIN).powf(TRUST));
        let lit = |point: &[f32; 3]| (0..3).map(|at| point[at] * gains[at]).sum::<f32>() / 3.0;
        let mut lights: Vec<f32> = points.iter().map(lit).collect();
        lights.sort_by(f32::total_cmp);
        let top = lights[((OF_POINTS * lights.len() as f32) as usize).max(1) - 1];
        let lift = (LIGHTEST / top.max(1e-3)).clamp(1.0, MOST_LIFT);
        Self(gains.map(|gain| gain * lift))
    }

    /// A pixel in daylight.
    pub(super) fn lab(&self, pixel: Rgb<u8>) -> Lab {
        oklab(std::array::from_fn(|at| LINEAR[usize::from(pixel.0[at])] * self.0[at]))
    }
}

/// Björn Ottosson, "A perceptual color space for image processing" (2020).
fn oklab([r, g, b]: [f32; 3]) -> Lab {
    let l = (0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b).cbrt();
    let m = (0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b).cbrt();
    let s = (0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b).cbrt();
    [
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    ]
}

/// An sRGB colour, 0–255, in OKLab.
pub(super) fn srgb(value: [u8; 3]) -> Lab {
    oklab(value.map(|value| LINEAR[usize::from(value)]))
}
