//! Pixels as they came → RGB, for the few frames that are analysed.
//!
//! I420 is BT.601 limited range in integer arithmetic: the same bytes on every machine.

use image::{ImageReader, RgbImage};

use super::error::CaptureError;
use crate::media::{Frame, Picture};

/// Longer sides are refused: a header can claim anything.
pub(super) const MAX_SIDE_PX: u32 = 16_384;

/// The frame as packed RGB.
///
/// # Errors
/// When the bytes are fewer than the size asks for, or are no JPEG or PNG that can be decoded.
pub fn to_rgb(frame: &Frame) -> Result<RgbImage, CaptureError> {
    let fail = |reason: String| CaptureError::Picture { camera: frame.source.to_string(), reason };
    let (width, height) = (frame.width, frame.height);
    match &frame.picture {
        Picture::Rgb8(bytes) => RgbImage::from_raw(width, height, bytes.to_vec())
            .ok_or_else(|| fail(format!("{} bytes are no {width}x{height} RGB", bytes.len()))),
        Picture::I420(bytes) => i420_to_rgb(width, height, bytes)
            .ok_or_else(|| fail(format!("{} bytes are no {width}x{height} I420", bytes.len()))),
        Picture::Encoded(bytes) => decode(bytes).map_err(fail),
    }
}

/// Size of a JPEG or PNG, from its header alone.
pub(super) fn encoded_size(bytes: &[u8]) -> Result<(u32, u32), String> {
    reader(bytes)?.into_dimensions().map_err(|error| error.to_string())
}

fn reader(bytes: &[u8]) -> Result<ImageReader<std::io::Cursor<&[u8]>>, String> {
    let mut reader = ImageReader::new(std::io::Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(MAX_SIDE_PX);
    limits.max_image_height = Some(MAX_SIDE_PX);
    reader.limits(limits);
    Ok(reader)
}

/// A JPEG or PNG file's bytes as RGB; else what the decoder says.
pub(crate) fn decode(bytes: &[u8]) -> Result<RgbImage, String> {
    Ok(reader(bytes)?.decode().map_err(|error| error.to_string())?.into_rgb8())
}

/// One pixel, BT.601 limited range, 8 fractional bits.
#[inline]
pub(super) fn yuv_to_rgb(y: u8, u: u8, v: u8) -> [u8; 3] {
    let c = 298 * (i32::from(y) - 16) + 128;
    let (d, e) = (i32::from(u) - 128, i32::from(v) - 128);
    let byte = |value: i32| (value >> 8).clamp(0, 255) as u8;
    [byte(c + 409 * e), byte(c - 100 * d - 208 * e), byte(c + 516 * d)]
}

/// `None` when there are too few bytes.
fn i420_to_rgb(width: u32, height: u32, bytes: &[u8]) -> Option<RgbImage> {
    let (w, h) = (width as usize, height as usize);
    let (cw, ch) = (w.div_ceil(2), h.div_ceil(2));
    let luma = w.checked_mul(h)?;
    let chroma = cw.checked_mul(ch)?;
    if w == 0 || h == 0 || bytes.len() < luma.checked_add(chroma.checked_mul(2)?)? {
        return None;
    }
    let (ys, rest) = bytes.split_at(luma);
    let (us, vs) = rest.split_at(chroma);
    let mut rgb = vec![0_u8; luma * 3];
    for (row, line) in rgb.chunks_exact_mut(w * 3).enumerate() {
        let ys = &ys[row * w..][..w];
        let us = &us[row / 2 * cw..][..cw];
        let vs = &vs[row / 2 * cw..][..cw];
        for ((pair, ys), (u, v)) in
            line.chunks_mut(6).zip(ys.chunks(2)).zip(us.iter().zip(vs.iter()))
        {
            for (pixel, y) in pair.chunks_exact_mut(3).zip(ys) {
                pixel.copy_from_slice(&yuv_to_rgb(*y, *u, *v));
            }
        }
    }
    RgbImage::from_raw(width, height, rgb)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::SourceId;
    use crate::time::Timestamp;

    fn frame(width: u32, height: u32, picture: Picture) -> Frame {
        let source = SourceId::new("camera");
        Frame { source, at: Timestamp::EPOCH, number: 0, width, height, picture }
    }

    #[test]
    fn black_white_and_red_of_bt601() {
        assert_eq!(yuv_to_rgb(16, 128, 128), [0, 0, 0]);
        assert_eq!(yuv_to_rgb(235, 128, 128), [255, 255, 255]);
        let [r, g, b] = yuv_to_rgb(81, 90, 240);
        assert!(r >= 254 && g <= 1 && b <= 1, "{r} {g} {b}");
    }

    #[test]
    fn odd_sizes_have_their_chroma_rounded_up() {
        let mut bytes = vec![235_u8; 15];
        bytes.extend([128; 12]);
        let rgb = to_rgb(&frame(5, 3, Picture::I420(bytes.into()))).unwrap();
        assert!(rgb.pixels().all(|pixel| pixel.0 == [255; 3]));
    }

    #[test]
    fn what_is_too_short_or_no_picture_is_an_error() {
        for picture in [
            Picture::I420(vec![0; 10].into()),
            Picture::Rgb8(vec![0; 10].into()),
            Picture::Encoded(b"no jpeg".as_slice().into()),
        ] {
            assert!(to_rgb(&frame(640, 480, picture)).is_err());
        }
    }
}
