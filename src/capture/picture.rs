//! Pixels as they came → RGB, for the few frames that are analysed, and for photographs.

use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageReader, RgbImage};

use super::error::CaptureError;
use super::pixels::{MAX_PX, check_size, yuv_to_rgb};
use super::raw_image::RawImage;
use crate::media::{Frame, Picture};

/// Longer sides of photographs are made smaller: nobody looks at more.
pub(crate) const PHOTO_SIDE_PX: u32 = 1280;
/// Pictures that take more bytes once they are decoded are refused: a file of 1 MB may hold a gigabyte of one colour.
const MAX_DECODED_BYTES: u64 = 3 * MAX_PX;

/// The frame as packed RGB.
///
/// # Errors
/// When the bytes are fewer than the size asks for, are no JPEG or PNG that can be decoded, or the picture is too large.
pub fn to_rgb(frame: &Frame) -> Result<RgbImage, CaptureError> {
    let fail = |reason: String| CaptureError::Picture { camera: frame.source.to_string(), reason };
    let (width, height) = (frame.width, frame.height);
    match &frame.picture {
        Picture::Rgb8(bytes) => RgbImage::from_raw(width, height, bytes.to_vec())
            .ok_or_else(|| fail(format!("{} bytes are no {width}x{height} RGB", bytes.len()))),
        Picture::I420(bytes) => i420_to_rgb(width, height, bytes)
            .ok_or_else(|| fail(format!("{} bytes are no {width}x{height} I420", bytes.len()))),
        Picture::Encoded(bytes) => decode(bytes).map_err(fail),
        Picture::Raw(raw) => {
            let (step, encoding, data) = (raw.step, &*raw.encoding, &*raw.data);
            let big_endian = raw.big_endian;
            let image = RawImage { width, height, step, encoding, big_endian, data };
            let rgb = image.to_rgb().map_err(fail)?;
            RgbImage::from_raw(width, height, rgb)
                .ok_or_else(|| fail(format!("no {width}x{height} RGB")))
        }
    }
}

/// Size of a JPEG or PNG, from its header alone; else what is wrong with it.
pub(super) fn encoded_size(bytes: &[u8]) -> Result<(u32, u32), String> {
    Ok(decoder(bytes)?.dimensions())
}

/// A JPEG's or PNG's decoder, before any pixel is decoded; pictures of too many pixels or bytes are refused.
fn decoder(bytes: &[u8]) -> Result<impl ImageDecoder + '_, String> {
    let said = |error: &dyn std::error::Error| error.to_string();
    let reader = ImageReader::new(std::io::Cursor::new(bytes));
    let reader = reader.with_guessed_format().map_err(|error| said(&error))?;
    let decoder = reader.into_decoder().map_err(|error| said(&error))?;
    let (width, height) = decoder.dimensions();
    check_size(width, height, MAX_PX)?;
    let decoded = decoder.total_bytes();
    if decoded > MAX_DECODED_BYTES {
        return Err(format!(
            "{width}x{height} px take {} MB decoded, of at most {}; save it with 8 bits per colour, or smaller",
            decoded / 1_000_000,
            MAX_DECODED_BYTES / 1_000_000
        ));
    }
    Ok(decoder)
}

/// A JPEG or PNG file's bytes as RGB; else what the decoder says.
pub(crate) fn decode(bytes: &[u8]) -> Result<RgbImage, String> {
    let picture = DynamicImage::from_decoder(decoder(bytes)?);
    Ok(picture.map_err(|error| error.to_string())?.into_rgb8())
}

/// A photograph, JPEG or PNG, as its camera was held (telephones write down which way was up), made smaller where its
/// longer side is above `longest` px; else what is wrong with it.
pub(crate) fn photograph(bytes: &[u8], longest: u32) -> Result<RgbImage, String> {
    let said = |error: image::ImageError| error.to_string();
    let mut decoder = decoder(bytes)?;
    let (width, height) = decoder.dimensions();
    let orientation = decoder.orientation().map_err(said)?;
    let mut photo = DynamicImage::from_decoder(decoder).map_err(said)?;
    let (side, roughly) = (width.max(height), longest.saturating_mul(2));
    // Small first: a filter, a turn and another kind of pixel each want a copy, the filter one of floats.
    if side > roughly {
        photo = photo.thumbnail(roughly, roughly);
    }
    if side > longest {
        photo = photo.resize(longest, longest, FilterType::Triangle);
    }
    photo.apply_orientation(orientation);
    Ok(photo.into_rgb8())
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
pub(crate) mod tests {
    use image::ImageEncoder as _;

    use super::*;
    use crate::ids::SourceId;
    use crate::time::Timestamp;

    fn frame(width: u32, height: u32, picture: Picture) -> Frame {
        let source = SourceId::new("camera");
        Frame { source, at: Timestamp::EPOCH, number: 0, width, height, picture }
    }

    /// The picture as JPEG of a camera that was held on its side, with the note that tells so.
    pub(crate) fn on_its_side(upright: &RgbImage) -> Vec<u8> {
        // TIFF's header, one entry, orientation 6 (to be turned to the right).
        let entry: [u8; 12] = [0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0];
        let exif = [b"II*\0\x08\0\0\0\x01\0".as_slice(), &entry, &[0_u8; 4]].concat();
        let mut jpeg = Vec::new();
        let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 95);
        encoder.set_exif_metadata(exif).unwrap();
        encoder.encode_image(&image::imageops::rotate270(upright)).unwrap();
        jpeg
    }

    #[test]
    fn odd_sizes_have_their_chroma_rounded_up() {
        let mut bytes = vec![235_u8; 15];
        bytes.extend([128; 12]);
        let rgb = to_rgb(&frame(5, 3, Picture::I420(bytes.into()))).unwrap();
        assert!(rgb.pixels().all(|pixel| pixel.0 == [255; 3]));
    }

    #[test]
    fn a_photograph_is_turned_as_its_camera_was_held_and_made_smaller() {
        let jpeg = on_its_side(&RgbImage::from_fn(64, 96, |x, y| {
            image::Rgb(if x < 32 && y < 32 { [250, 20, 20] } else { [20, 20, 250] })
        }));
        assert_eq!(decode(&jpeg).unwrap().dimensions(), (96, 64), "as it lies");
        let photo = photograph(&jpeg, 1_000).unwrap();
        assert_eq!(photo.dimensions(), (64, 96));
        assert!(photo[(8, 8)][0] > 200 && photo[(8, 80)][2] > 200 && photo[(56, 8)][2] > 200);
        assert_eq!(photograph(&jpeg, 48).unwrap().dimensions(), (32, 48));
        assert!(photograph(b"no jpeg", 48).is_err());
    }

    #[test]
    fn a_small_file_that_claims_to_be_huge_is_refused_by_its_size() {
        let mut jpeg = Vec::new();
        let small = RgbImage::new(16, 16);
        image::codecs::jpeg::JpegEncoder::new(&mut jpeg).encode_image(&small).unwrap();
        // SOF0: length, precision, height, width.
        let at = jpeg.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
        jpeg[at + 5..at + 9].copy_from_slice(&[0x3e, 0x80, 0x3e, 0x80]);
        let why = "16000x16000 px are more than 64 megapixels";
        assert_eq!(encoded_size(&jpeg), Err(why.to_owned()));
        let error = to_rgb(&frame(0, 0, Picture::Encoded(jpeg.into()))).unwrap_err().to_string();
        assert!(error.ends_with(why), "{error}");
    }

    /// A PNG that says that it is of this size and of RGB and alpha with so many bits; its pixels are missing.
    fn png_head(width: u32, height: u32, bits: u8) -> Vec<u8> {
        let mut head = b"IHDR".to_vec();
        head.extend([width.to_be_bytes(), height.to_be_bytes()].concat());
        head.extend([bits, 6, 0, 0, 0]);
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
        png.extend(&head);
        png.extend(crc32fast::hash(&head).to_be_bytes());
        png.extend(b"\0\0\0\x02IDAT\x78\x9c");
        png
    }

    #[test]
    fn a_small_file_that_would_take_the_memory_is_refused_by_its_decoded_bytes() {
        for refused in [
            photograph(&png_head(7_000, 7_000, 16), 1_280).map(drop),
            decode(&png_head(7_000, 7_000, 16)).map(drop),
            encoded_size(&png_head(7_000, 7_000, 16)).map(drop),
        ] {
            let why = refused.unwrap_err();
            assert!(why.contains("take 392 MB decoded, of at most 192; save it with 8"), "{why}");
        }
        let pixels = photograph(&png_head(11_300, 11_300, 8), 1_280).unwrap_err();
        assert!(pixels.contains("more than 64 megapixels"), "{pixels}");
        // With 8 bits the same size is read.
        assert_eq!(encoded_size(&png_head(6_900, 6_900, 8)), Ok((6_900, 6_900)));
    }

    #[test]
    fn a_photograph_far_larger_than_wanted_with_16_bits_and_alpha_is_made_small() {
        let half = |x| if x < 1_000 { 60_000_u16 } else { 5_000 };
        let deep = image::ImageBuffer::from_fn(2_000, 500, |x, _| {
            image::Rgba([half(x), 5_000, 5_000, u16::MAX])
        });
        let mut png = std::io::Cursor::new(Vec::new());
        DynamicImage::ImageRgba16(deep).write_to(&mut png, image::ImageFormat::Png).unwrap();
        let photo = photograph(&png.into_inner(), 200).unwrap();
        assert_eq!(photo.dimensions(), (200, 50));
        assert!(photo[(40, 25)][0] > 220 && photo[(160, 25)][0] < 30, "{:?}", photo[(40, 25)]);
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
