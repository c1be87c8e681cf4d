//! Pixels as they came → RGB, for the few frames that are analysed, and for photographs.

use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, RgbImage};

use super::jpeg::with_huffman_tables;
use super::pixels::{MAX_PX, check_size};
use super::raw_image::RawImage;
use super::yuv;
use super::yuv::Yuv;
use crate::capture::error::CaptureError;
use crate::media::{Frame, Picture};

/// Longer sides of photographs are made smaller: nobody looks at more.
pub(crate) const PHOTO_SIDE_PX: u32 = 1280;
/// Pictures that take more bytes once they are decoded are refused: a file of 1 MB may hold a gigabyte of one colour.
const MAX_DECODED_BYTES: u64 = 3 * MAX_PX;

/// The frame as packed RGB.
///
/// # Errors
/// When the bytes are fewer than the size asks for, are no JPEG, PNG or WebP that can be decoded, or the picture is too large.
pub fn to_rgb(frame: &Frame) -> Result<RgbImage, CaptureError> {
    to_rgb_in(frame, Vec::new())
}

/// As [`to_rgb`], where it can be in memory that was used before.
///
/// # Errors
/// As [`to_rgb`].
pub fn to_rgb_in(frame: &Frame, mut memory: Vec<u8>) -> Result<RgbImage, CaptureError> {
    let fail = |reason: String| CaptureError::Picture { camera: frame.source.to_string(), reason };
    let (width, height) = (frame.width, frame.height);
    match &frame.picture {
        Picture::Rgb8(bytes) => {
            memory.clear();
            memory.extend_from_slice(bytes);
            RgbImage::from_raw(width, height, memory)
                .ok_or_else(|| fail(format!("{} bytes are no {width}x{height} RGB", bytes.len())))
        }
        Picture::Yuv(pixels) => {
            let (layout, coding, data) = (&pixels.layout, pixels.coding, &*pixels.data);
            let yuv = Yuv { layout, coding, data };
            let rgb = yuv::rgb_in(&yuv, width, height, memory).map_err(fail)?;
            RgbImage::from_raw(width, height, rgb)
                .ok_or_else(|| fail(format!("no {width}x{height} RGB")))
        }
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

/// Size of a JPEG, PNG or WebP as it is shown, from its header alone; else what is wrong with it.
pub(in crate::capture) fn encoded_size(bytes: &[u8]) -> Result<(u32, u32), String> {
    let mut decoder = decoder(bytes)?;
    let (width, height) = decoder.dimensions();
    Ok(match orientation(&mut decoder) {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => (height, width),
        _ => (width, height),
    })
}

/// How the camera was held, as the picture's EXIF says; one that cannot be read says nothing.
fn orientation(decoder: &mut impl ImageDecoder) -> Orientation {
    decoder.orientation().unwrap_or(Orientation::NoTransforms)
}

/// The decoder of a JPEG, PNG or WebP, before any pixel is decoded; pictures of too many pixels or bytes are refused.
fn decoder(bytes: &[u8]) -> Result<impl ImageDecoder + '_, String> {
    let said = |error: &dyn std::error::Error| error.to_string();
    let reader = ImageReader::new(std::io::Cursor::new(with_huffman_tables(bytes)));
    let reader = reader.with_guessed_format().map_err(|error| said(&error))?;
    match reader.format() {
        Some(ImageFormat::Jpeg | ImageFormat::Png) => {}
        Some(ImageFormat::WebP) => check_webp(bytes)?,
        other => return Err(not_read(other, bytes)),
    }
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

/// Why a file of another format is refused.
fn not_read(format: Option<ImageFormat>, bytes: &[u8]) -> String {
    let name = match (format, bytes.get(4..8)) {
        (Some(format), _) => format!("{format:?}").to_uppercase(),
        // ISO media file: AVIF under a brand of its own, or HEIC.
        (None, Some(b"ftyp")) => "AVIF or HEIC".to_owned(),
        (None, _) => {
            return "the format of these bytes is not known; read are JPEG, PNG and WebP"
                .to_owned();
        }
    };
    format!("{name} is not read; read are JPEG, PNG and WebP")
}

/// Refuses what a WebP file claims and its decoder would take memory for: parts that are longer than the file, a picture
/// inside that is larger than the canvas says, animations (RFC 9649, 2.3 to 2.7).
fn check_webp(bytes: &[u8]) -> Result<(), String> {
    const KNOWN: [&[u8; 4]; 8] =
        [b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ICCP", b"EXIF", b"XMP ", b"ANIM"];
    let mut rest = bytes.get(12..).unwrap_or_default();
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let [a, b, c, d, size @ ..] = *head;
        let name = [a, b, c, d];
        if name == *b"ANMF" {
            return Err("an animation is no picture of a camera".to_owned());
        }
        let size = usize::try_from(u32::from_le_bytes(size)).unwrap_or(usize::MAX);
        let Some((body, behind)) = after.split_at_checked(size) else {
            if KNOWN.contains(&&name) {
                let name = String::from_utf8_lossy(&name).into_owned();
                return Err(format!("its part {name:?} of {size} bytes is longer than the file"));
            }
            break;
        };
        // A key frame's tag and start code, then its size: 14 bits each, and how it was to be scaled.
        if name == *b"VP8 "
            && let Some([width, high, height, higher]) = body.get(6..10)
        {
            let side = |low: &u8, high: &u8| u32::from(u16::from_le_bytes([*low, *high]) & 0x3fff);
            check_size(side(width, high), side(height, higher), MAX_PX)?;
        }
        // Parts of an odd length have one byte behind them.
        rest = behind.get(size & 1..).unwrap_or_default();
    }
    Ok(())
}

/// A JPEG, PNG or WebP file's bytes as RGB, turned upright as its EXIF says; else what the decoder says.
pub(crate) fn decode(bytes: &[u8]) -> Result<RgbImage, String> {
    let mut decoder = decoder(bytes)?;
    let orientation = orientation(&mut decoder);
    let picture = DynamicImage::from_decoder(decoder);
    let mut picture = picture.map_err(|error| error.to_string())?;
    picture.apply_orientation(orientation);
    Ok(picture.into_rgb8())
}

/// A photograph, JPEG, PNG or WebP, as its camera was held (telephones write down which way was up), made smaller where its
/// longer side is above `longest` px; else what is wrong with it.
pub(crate) fn photograph(bytes: &[u8], longest: u32) -> Result<RgbImage, String> {
    let said = |error: image::ImageError| error.to_string();
    let mut decoder = decoder(bytes)?;
    let (width, height) = decoder.dimensions();
    let orientation = orientation(&mut decoder);
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
    fn a_photograph_is_turned_as_its_camera_was_held_and_made_smaller() {
        let jpeg = on_its_side(&RgbImage::from_fn(64, 96, |x, y| {
            image::Rgb(if x < 32 && y < 32 { [250, 20, 20] } else { [20, 20, 250] })
        }));
        // A camera's picture in a bag is turned the same way, and its size is told so.
        let size = encoded_size(&jpeg).unwrap();
        assert_eq!(size, (64, 96));
        let shown = to_rgb(&frame(size.0, size.1, Picture::Encoded(jpeg.clone().into()))).unwrap();
        assert_eq!(shown.dimensions(), (64, 96));
        assert!(shown[(8, 8)][0] > 200 && shown[(8, 80)][2] > 200 && shown[(56, 8)][2] > 200);
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

    /// A WebP file of these parts.
    fn webp(parts: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut body = b"WEBP".to_vec();
        for (name, part) in parts {
            body.extend(*name);
            body.extend(u32::try_from(part.len()).unwrap().to_le_bytes());
            body.extend(*part);
            body.resize(body.len().next_multiple_of(2), 0);
        }
        [b"RIFF".as_slice(), &u32::try_from(body.len()).unwrap().to_le_bytes(), &body].concat()
    }

    #[test]
    fn webp_is_read_pixel_by_pixel() {
        let picture = RgbImage::from_fn(33, 21, |x, y| {
            image::Rgb([x as u8 * 7, y as u8 * 11, (x * y) as u8])
        });
        let mut file = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut file, ImageFormat::WebP).unwrap();
        let file = file.into_inner();
        assert_eq!(encoded_size(&file), Ok((33, 21)));
        // Without loss, as it was.
        assert_eq!(decode(&file).unwrap(), picture);
        let shown = to_rgb(&frame(33, 21, Picture::Encoded(file.clone().into()))).unwrap();
        assert_eq!(shown, picture);
        assert!(decode(&file[..file.len() / 2]).is_err());

        // With loss: one pixel that libwebp made.
        const LOSSY: [u8; 42] = *b"RIFF\x22\0\0\0WEBPVP8 \x16\0\0\0\x30\x01\0\x9d\x01\x2a\x01\0\x01\0\x0e\xc0\xfe\x25\xa4\0\x03\x70\0\0\0\0";
        assert_eq!(encoded_size(&LOSSY), Ok((1, 1)));
        assert_eq!(decode(&LOSSY).unwrap().dimensions(), (1, 1));
    }

    #[test]
    fn a_webp_that_would_take_the_memory_is_refused_before_it_is_decoded() {
        let why = |bytes: &[u8]| encoded_size(bytes).unwrap_err();
        // Width less one, height less one (14 bits each), whether there is alpha.
        let lossless = |side: u32, alpha: u32| {
            let [a, b, c, d] = (alpha << 28 | (side - 1) << 14 | (side - 1)).to_le_bytes();
            webp(&[(b"VP8L", &[0x2f, a, b, c, d])])
        };
        let huge = why(&lossless(16_383, 0));
        assert_eq!(huge, "16383x16383 px are more than 64 megapixels");
        let alpha = why(&lossless(7_000, 1));
        assert!(alpha.contains("take 196 MB decoded, of at most 192"), "{alpha}");
        assert_eq!(encoded_size(&lossless(7_000, 0)), Ok((7_000, 7_000)));
        // A canvas of one pixel, and a picture on it of 268 million.
        let large = [0x30, 1, 0, 0x9d, 0x01, 0x2a, 0xff, 0x3f, 0xff, 0x3f];
        let hidden = webp(&[(b"VP8X", &[0; 10]), (b"VP8 ", &large)]);
        assert_eq!(why(&hidden), "16383x16383 px are more than 64 megapixels");
        let animated = webp(&[(b"VP8X", &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0]), (b"ANMF", &[0; 32])]);
        assert!(why(&animated).contains("animation"), "{}", why(&animated));
        let mut endless = webp(&[(b"VP8X", &[8, 0, 0, 0, 0, 0, 0, 0, 0, 0]), (b"EXIF", b"Exif")]);
        let size = endless.len() - 8;
        endless[size..size + 4].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
        assert!(why(&endless).contains("\"EXIF\" of 4294967280 bytes is longer than the file"));
    }

    #[test]
    fn other_formats_are_refused_by_their_names() {
        for (bytes, name) in [
            (b"\0\0\0\x20ftypavif\0\0\0\0".as_slice(), "AVIF is not read"),
            (b"\0\0\0\x20ftypmif1\0\0\0\0", "AVIF or HEIC is not read"),
            (b"GIF89a\x01\0\x01\0", "GIF is not read"),
            (b"no picture at all", "the format of these bytes is not known"),
        ] {
            let why = encoded_size(bytes).unwrap_err();
            assert!(why.starts_with(name) && why.ends_with("read are JPEG, PNG and WebP"), "{why}");
            assert_eq!(decode(bytes), Err(why));
        }
    }

    #[test]
    fn what_is_too_short_or_no_picture_is_an_error() {
        for picture in
            [Picture::Rgb8(vec![0; 10].into()), Picture::Encoded(b"no jpeg".as_slice().into())]
        {
            assert!(to_rgb(&frame(640, 480, picture)).is_err());
        }
    }
}
