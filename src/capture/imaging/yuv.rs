//! YUV → RGB, for every layout of 8-bit values, either range and every matrix.
//!
//! GStreamer decodes, and its caps tell where the values lie and what they mean. The last step is made here for two reasons.
//! GStreamer's own converter reckons with 8 bits inside: from limited range its colours come out by up to 5 of 255 too dark
//! (1.22, with and without `format=RGB` at the end, by ARGB64 still by 3), where the sums below are off by their rounding
//! alone. And most frames are never looked at: they wait as they were decoded, in half of the memory.

use crate::media::{YuvCoding, YuvLayout, YuvMatrix};

/// Bits behind the point.
const BITS: u32 = 16;

/// Values to be read as that picture.
#[derive(Clone, Copy, Debug)]
pub(in crate::capture) struct Yuv<'a> {
    pub(in crate::capture) layout: &'a YuvLayout,
    pub(in crate::capture) coding: YuvCoding,
    pub(in crate::capture) data: &'a [u8],
}

/// Shares of red and blue in brightness (ITU-T H.273, table 4).
const fn shares(matrix: YuvMatrix) -> (f64, f64) {
    match matrix {
        YuvMatrix::Bt601 => (0.299, 0.114),
        YuvMatrix::Bt709 => (0.2126, 0.0722),
        YuvMatrix::Bt2020 => (0.2627, 0.0593),
        YuvMatrix::Fcc => (0.30, 0.11),
        YuvMatrix::Smpte240m => (0.212, 0.087),
    }
}

/// What each value adds to red, green and blue (ITU-T H.273, 8.3, turned round).
struct Sums {
    y: [i32; 256],
    red_v: [i32; 256],
    green_u: [i32; 256],
    green_v: [i32; 256],
    blue_u: [i32; 256],
}

impl Sums {
    fn of(coding: YuvCoding) -> Self {
        let (kr, kb) = shares(coding.matrix);
        let kg = 1.0 - kr - kb;
        let (zero, luma, chroma) =
            if coding.full_range { (0.0, 255.0, 255.0) } else { (16.0, 219.0, 224.0) };
        let one = f64::from(1 << BITS);
        let table = |zero: f64, scale: f64, and: f64| {
            let sum = |n: usize| (((n as f64 - zero) * scale * 255.0 + and) * one).round() as i32;
            std::array::from_fn(sum)
        };
        let (u, v) = (2.0 * (1.0 - kb) / chroma, 2.0 * (1.0 - kr) / chroma);
        Self {
            // (Rounded when the bits behind the point go.)
            y: table(zero, 1.0 / luma, 0.5),
            red_v: table(128.0, v, 0.0),
            green_u: table(128.0, -u * kb / kg, 0.0),
            green_v: table(128.0, -v * kr / kg, 0.0),
            blue_u: table(128.0, u, 0.0),
        }
    }
}

/// Packed RGB, `[height, width, 3]`.
///
/// # Errors
/// When there are too few values.
pub(in crate::capture) fn rgb(yuv: &Yuv<'_>, width: u32, height: u32) -> Result<Vec<u8>, String> {
    rgb_in(yuv, width, height, Vec::new())
}

/// As [`rgb`], in memory that was used before.
///
/// # Errors
/// As [`rgb`].
pub(in crate::capture) fn rgb_in(
    yuv: &Yuv<'_>,
    width: u32,
    height: u32,
    mut rgb: Vec<u8>,
) -> Result<Vec<u8>, String> {
    let Yuv { layout, coding, data } = *yuv;
    let (width, height) = (width as usize, height as usize);
    if !layout.fits(width, height, data.len()) {
        return Err(format!("{} bytes are no {width}x{height} YUV", data.len()));
    }
    let sums = Sums::of(coding);
    let [y, u, v] = layout.places;
    let byte = |sum: i32| (sum >> BITS).clamp(0, 255) as u8;
    rgb.resize(width * height * 3, 0);
    for (row, line) in rgb.chunks_exact_mut(width * 3).enumerate() {
        let chroma_row = row >> layout.down;
        let ys = &data[y.offset + row * y.stride..];
        let us = &data[u.offset + chroma_row * u.stride..];
        let vs = &data[v.offset + chroma_row * v.stride..];
        for (n, pixels) in line.chunks_mut(3 << layout.across).enumerate() {
            let (u, v) = (usize::from(us[n * u.step]), usize::from(vs[n * v.step]));
            let (red, blue) = (sums.red_v[v], sums.blue_u[u]);
            let green = sums.green_u[u] + sums.green_v[v];
            let first = n << layout.across;
            for (k, pixel) in pixels.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                let y = sums.y[usize::from(ys[(first + k) * y.step])];
                *pixel = [byte(y + red), byte(y + green), byte(y + blue)];
            }
        }
    }
    Ok(rgb)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::media::Place;

    #[test]
    fn every_value_comes_out_as_the_formula_says() {
        // Y, U, V side by side.
        let places = [0, 1, 2].map(|offset| Place { offset, stride: 3, step: 3 });
        let layout = YuvLayout { places, across: 0, down: 0 };
        for matrix in [
            YuvMatrix::Bt601,
            YuvMatrix::Bt709,
            YuvMatrix::Bt2020,
            YuvMatrix::Fcc,
            YuvMatrix::Smpte240m,
        ] {
            for full_range in [false, true] {
                let (kr, kb) = shares(matrix);
                let coding = YuvCoding { full_range, matrix };
                for n in 0..4_000_u32 {
                    let data = [n * 7, n * 31 + 5, n * 61 + 9].map(|value| (value % 256) as u8);
                    let [y, u, v] = data.map(f64::from);
                    let (y, u, v) = if full_range {
                        (y / 255.0, (u - 128.0) / 255.0, (v - 128.0) / 255.0)
                    } else {
                        ((y - 16.0) / 219.0, (u - 128.0) / 224.0, (v - 128.0) / 224.0)
                    };
                    let (r, b) = (y + 2.0 * (1.0 - kr) * v, y + 2.0 * (1.0 - kb) * u);
                    let g = (y - kr * r - kb * b) / (1.0 - kr - kb);
                    let seen = rgb(&Yuv { layout: &layout, coding, data: &data }, 1, 1).unwrap();
                    for (seen, wanted) in seen.iter().zip([r, g, b]) {
                        let wanted = (wanted * 255.0).clamp(0.0, 255.0);
                        let off = (f64::from(*seen) - wanted).abs();
                        assert!(off < 0.51, "{coding:?} {data:?}: {seen} {wanted}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_too_short_is_refused() {
        let place = |offset, step| Place { offset, stride: 4, step };
        let layout =
            YuvLayout { places: [place(0, 1), place(8, 2), place(9, 2)], across: 1, down: 1 };
        let coding = YuvCoding::LIMITED_BT601;
        let of = |bytes: usize, width, height| {
            rgb(&Yuv { layout: &layout, coding, data: &vec![128; bytes] }, width, height)
        };
        assert_eq!(of(12, 4, 2).unwrap().len(), 24);
        assert!(of(11, 4, 2).is_err() && of(12, 4, 3).is_err() && of(12, 0, 2).is_err());
        assert!(of(12, u32::MAX, u32::MAX).is_err());
    }
}
