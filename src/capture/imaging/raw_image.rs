//! `sensor_msgs/Image` and `foxglove.RawImage` → packed RGB: every 8- and 16-bit encoding of
//! `sensor_msgs/image_encodings.hpp` that shows a scene (no depth, no vectors).
//!
//! Such a message tells neither range nor matrix of YUV; what publishes and what shows it (`cv_bridge`, by OpenCV) takes it
//! for BT.601, limited range, and so it is here.
//!
//! A picture is checked when it comes and converted when it is looked at: most never are.

use std::sync::Arc;

use super::pixels::{MAX_PX, check_size};
use super::yuv;
use super::yuv::Yuv;
use crate::media::{Picture, Place, RawPixels, YuvCoding, YuvLayout};

/// Pictures with more bytes per pixel than this are converted when they come, so that none waits that takes more.
const MOST_WAITING_BYTES: usize = 4;

/// An uncompressed picture as it lies in a message.
#[derive(Clone, Copy, Debug)]
pub struct RawImage<'a> {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Bytes from row to row.
    pub step: u32,
    /// Name of the encoding, e.g. `bgr8`.
    pub encoding: &'a str,
    /// Order of the bytes of 16-bit values.
    pub big_endian: bool,
    /// The rows; the last may come without its padding.
    pub data: &'a [u8],
}

/// Which of red (0), green (1), blue (2) the four places of a Bayer square have, row by row.
type Mosaic = [u8; 4];

/// Where the channels of an interleaved encoding lie.
enum Layout {
    /// Channels per pixel and the places of red, green and blue; 1 or 2 bytes per channel.
    Packed { channels: usize, rgb: [usize; 3], bytes: usize },
    /// Two pixels in four bytes: places of Y0, U, V (Y1 lies two behind Y0).
    Pairs([usize; 3]),
    /// A plane of Y and one of U and V in turn, each for 2x2 pixels (`nv24`: for each pixel).
    SemiPlanar { v_first: bool, full_chroma: bool },
    /// One channel per pixel.
    Bayer { mosaic: Mosaic, bytes: usize },
}

impl Layout {
    fn of(encoding: &str) -> Option<Self> {
        let packed = |channels, rgb, bytes| Self::Packed { channels, rgb, bytes };
        let bayer = |mosaic, bytes| Self::Bayer { mosaic, bytes };
        Some(match encoding {
            "rgb8" => packed(3, [0, 1, 2], 1),
            "bgr8" | "8uc3" => packed(3, [2, 1, 0], 1),
            "rgba8" => packed(4, [0, 1, 2], 1),
            "bgra8" | "8uc4" => packed(4, [2, 1, 0], 1),
            "mono8" | "8uc1" => packed(1, [0; 3], 1),
            "rgb16" => packed(3, [0, 1, 2], 2),
            "bgr16" | "16uc3" => packed(3, [2, 1, 0], 2),
            "rgba16" => packed(4, [0, 1, 2], 2),
            "bgra16" | "16uc4" => packed(4, [2, 1, 0], 2),
            "mono16" => packed(1, [0; 3], 2),
            "yuv422" | "uyvy" => Self::Pairs([1, 0, 2]),
            "yuv422_yuy2" | "yuyv" | "yuy2" => Self::Pairs([0, 1, 3]),
            "yvyu" => Self::Pairs([0, 3, 1]),
            "nv12" => Self::SemiPlanar { v_first: false, full_chroma: false },
            "nv21" => Self::SemiPlanar { v_first: true, full_chroma: false },
            "nv24" => Self::SemiPlanar { v_first: false, full_chroma: true },
            "bayer_rggb8" => bayer([0, 1, 1, 2], 1),
            "bayer_bggr8" => bayer([2, 1, 1, 0], 1),
            "bayer_gbrg8" => bayer([1, 2, 0, 1], 1),
            "bayer_grbg8" => bayer([1, 0, 2, 1], 1),
            "bayer_rggb16" => bayer([0, 1, 1, 2], 2),
            "bayer_bggr16" => bayer([2, 1, 1, 0], 2),
            "bayer_gbrg16" => bayer([1, 2, 0, 1], 2),
            "bayer_grbg16" => bayer([1, 0, 2, 1], 2),
            _ => return None,
        })
    }

    /// Bytes of a row without padding.
    fn row_bytes(&self, width: usize) -> usize {
        match self {
            Self::Packed { channels, bytes, .. } => width * channels * bytes,
            Self::Pairs(_) => width.next_multiple_of(2) * 2,
            Self::SemiPlanar { .. } => width.next_multiple_of(2),
            Self::Bayer { bytes, .. } => width * bytes,
        }
    }

    /// Where its values lie in rows of `row` bytes, if it is YUV.
    fn yuv(&self, height: usize, row: usize) -> Option<YuvLayout> {
        let place = |offset, stride, step| Place { offset, stride, step };
        match *self {
            Self::Pairs([y, u, v]) => {
                let places = [place(y, row, 2), place(u, row, 4), place(v, row, 4)];
                Some(YuvLayout { places, across: 1, down: 0 })
            }
            Self::SemiPlanar { v_first, full_chroma } => {
                // For each pixel: its rows are twice as long as those of brightness.
                let (stride, shared) = if full_chroma { (2 * row, 0) } else { (row, 1) };
                let chroma = |second: bool| place(height * row + usize::from(second), stride, 2);
                let places = [place(0, row, 1), chroma(v_first), chroma(!v_first)];
                Some(YuvLayout { places, across: shared, down: shared })
            }
            Self::Packed { .. } | Self::Bayer { .. } => None,
        }
    }

    /// Rows of `step` bytes; a plane of colours lies below that of brightness.
    fn rows(&self, height: usize) -> usize {
        match self {
            Self::SemiPlanar { full_chroma: false, .. } => height + height.div_ceil(2),
            Self::SemiPlanar { full_chroma: true, .. } => height * 3,
            _ => height,
        }
    }
}

/// Whether pixels of that encoding measure something and show nothing: depth (REP 118: `16UC1`, `32FC1`), disparity,
/// flow. These are OpenCV's types (`32FC1`: bits, kind, channels) but for those that cameras have.
pub(in crate::capture) fn is_measured(encoding: &str) -> bool {
    let name = encoding.to_ascii_lowercase();
    let Some((kind, channels)) = name.split_once('c') else { return false };
    matches!(kind, "8u" | "8s" | "16u" | "16s" | "32s" | "16f" | "32f" | "64f")
        && channels.parse::<u16>().is_ok()
        && Layout::of(&name).is_none()
}

impl RawImage<'_> {
    /// Its layout, and the bytes that its rows take.
    fn checked(&self) -> Result<(Layout, usize), String> {
        let layout = Layout::of(&self.encoding.to_ascii_lowercase())
            .ok_or("this encoding is not supported")?;
        check_size(self.width, self.height, MAX_PX)?;
        let step = self.step as usize;
        let row_bytes = layout.row_bytes(self.width as usize);
        let whole = (layout.rows(self.height as usize) - 1).checked_mul(step);
        let needed = whole.and_then(|bytes| bytes.checked_add(row_bytes));
        match needed.filter(|bytes| step >= row_bytes && *bytes <= self.data.len()) {
            Some(needed) => Ok((layout, needed)),
            None => Err(format!("{} bytes with {step} per row are too few", self.data.len())),
        }
    }

    /// The picture, to be converted when it is looked at.
    ///
    /// # Errors
    /// As [`to_rgb`](Self::to_rgb).
    pub fn picture(&self) -> Result<Picture, String> {
        let (layout, needed) = self.checked()?;
        let (pixels, step) = (self.width as usize * self.height as usize, self.step as usize);
        if needed > pixels.saturating_mul(MOST_WAITING_BYTES) {
            return Ok(Picture::Rgb8(self.to_rgb()?.into()));
        }
        let data = Arc::from(&self.data[..needed]);
        let is_rgb = matches!(layout, Layout::Packed { channels: 3, rgb: [0, 1, 2], bytes: 1 });
        if is_rgb && step == layout.row_bytes(self.width as usize) {
            return Ok(Picture::Rgb8(data));
        }
        let (encoding, big_endian) = (self.encoding.into(), self.big_endian);
        Ok(Picture::Raw(RawPixels { encoding, step: self.step, big_endian, data }))
    }

    /// Packed RGB, `[height, width, 3]`.
    ///
    /// # Errors
    /// When the encoding is not known, or the bytes are fewer than the size asks for.
    pub fn to_rgb(&self) -> Result<Vec<u8>, String> {
        let (layout, needed) = self.checked()?;
        let (width, height) = (self.width as usize, self.height as usize);
        let (step, row_bytes) = (self.step as usize, layout.row_bytes(width));
        let row = |n: usize| &self.data[n * step..][..row_bytes];
        let high = |bytes: usize| if bytes == 2 && !self.big_endian { 1 } else { 0 };
        if let Some(layout) = layout.yuv(height, step) {
            let (layout, coding) = (&layout, YuvCoding::LIMITED_BT601);
            let data = &self.data[..needed];
            return yuv::rgb(&Yuv { layout, coding, data }, self.width, self.height);
        }
        let mut rgb = vec![0; width * height * 3];
        let lines = rgb.chunks_exact_mut(width * 3);
        match layout {
            Layout::Pairs(_) | Layout::SemiPlanar { .. } => {}
            Layout::Packed { channels, rgb: places, bytes } => {
                for (n, line) in lines.enumerate() {
                    let pixels = row(n).chunks_exact(channels * bytes);
                    for (pixel, out) in pixels.zip(line.as_chunks_mut::<3>().0) {
                        *out = places.map(|place| pixel[place * bytes + high(bytes)]);
                    }
                }
            }
            Layout::Bayer { mosaic, bytes } => {
                let value = |x: usize, y: usize| self.data[y * step + x * bytes + high(bytes)];
                for (y, line) in lines.enumerate() {
                    for (x, pixel) in line.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                        *pixel = demosaic(mosaic, x, y, width, height, value);
                    }
                }
            }
        }
        Ok(rgb)
    }
}

/// Bilinear: a missing colour is the mean of the nearest places around that have it.
fn demosaic(
    mosaic: Mosaic,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    value: impl Fn(usize, usize) -> u8,
) -> [u8; 3] {
    let colour = |x: usize, y: usize| usize::from(mosaic[(y & 1) * 2 + (x & 1)]);
    let (mut sums, mut counts) = ([0_u32; 3], [0_u32; 3]);
    for near_y in y.saturating_sub(1)..(y + 2).min(height) {
        for near_x in x.saturating_sub(1)..(x + 2).min(width) {
            let found = colour(near_x, near_y);
            // Of the own colour only the place itself counts.
            if found != colour(x, y) || (near_x, near_y) == (x, y) {
                sums[found] += u32::from(value(near_x, near_y));
                counts[found] += 1;
            }
        }
    }
    let mean = |k: usize| u8::try_from((sums[k] + counts[k] / 2) / counts[k].max(1)).unwrap_or(255);
    [mean(0), mean(1), mean(2)]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rgb(width: u32, height: u32, encoding: &str, step: u32, data: &[u8]) -> Vec<u8> {
        RawImage { width, height, step, encoding, big_endian: false, data }.to_rgb().unwrap()
    }

    #[test]
    fn every_packed_encoding_and_padding_gives_the_same_pixels() {
        assert_eq!(rgb(1, 2, "rgb8", 4, &[1, 2, 3, 9, 4, 5, 6]), [1, 2, 3, 4, 5, 6]);
        assert_eq!(rgb(2, 1, "bgr8", 6, &[3, 2, 1, 6, 5, 4]), [1, 2, 3, 4, 5, 6]);
        assert_eq!(rgb(1, 1, "rgba8", 4, &[1, 2, 3, 255]), [1, 2, 3]);
        assert_eq!(rgb(1, 1, "bgra8", 4, &[3, 2, 1, 255]), [1, 2, 3]);
        assert_eq!(rgb(1, 1, "mono8", 1, &[7]), [7, 7, 7]);
        assert_eq!(rgb(1, 1, "mono16", 2, &[9, 7]), [7, 7, 7]);
        assert_eq!(rgb(1, 1, "rgb16", 6, &[0, 1, 0, 2, 0, 3]), [1, 2, 3]);
        assert_eq!(rgb(1, 1, "bgr16", 6, &[0, 3, 0, 2, 0, 1]), [1, 2, 3]);
        assert_eq!(rgb(1, 1, "rgba16", 8, &[0, 1, 0, 2, 0, 3, 9, 9]), [1, 2, 3]);
        assert_eq!(rgb(1, 1, "bgra16", 8, &[0, 3, 0, 2, 0, 1, 9, 9]), [1, 2, 3]);
        let image = RawImage {
            width: 1,
            height: 1,
            step: 2,
            encoding: "mono16",
            big_endian: true,
            data: &[7, 9],
        };
        assert_eq!(image.to_rgb().unwrap(), [7, 7, 7]);
    }

    #[test]
    fn every_yuv_encoding_shows_the_same_red_and_white() {
        // BT.601: white is (235, 128, 128), red (81, 90, 240).
        let is_seen = |width, encoding: &str, step, data: &[u8], colours: &[[u8; 3]]| {
            let seen = rgb(width, 1, encoding, step, data);
            let off = seen.iter().zip(colours.as_flattened()).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(seen.len() == 3 * colours.len() && off <= Some(2), "{encoding}: {seen:?}");
        };
        let (white, red) = ([255; 3], [255, 0, 0]);
        for (encoding, data) in [
            ("yuv422_yuy2", [81, 90, 81, 240]),
            ("yuyv", [81, 90, 81, 240]),
            ("yuv422", [90, 81, 240, 81]),
            ("uyvy", [90, 81, 240, 81]),
            ("yvyu", [81, 240, 81, 90]),
        ] {
            is_seen(2, encoding, 4, &data, &[red, red]);
        }
        is_seen(2, "nv12", 2, &[81, 81, 90, 240], &[red, red]);
        is_seen(2, "nv21", 2, &[81, 81, 240, 90], &[red, red]);
        is_seen(2, "nv24", 2, &[235, 81, 128, 128, 90, 240], &[white, red]);
        is_seen(1, "nv12", 4, &[235, 0, 0, 0, 128, 128], &[white]);
        is_seen(1, "yuyv", 4, &[235, 128, 0, 128], &[white]);
    }

    #[test]
    fn a_mosaic_of_one_colour_is_that_colour() {
        for (encoding, mosaic) in [
            ("bayer_rggb8", [0, 1, 1, 2]),
            ("bayer_bggr8", [2, 1, 1, 0]),
            ("bayer_gbrg8", [1, 2, 0, 1]),
            ("bayer_grbg8", [1, 0, 2, 1]),
        ] {
            let colour = [200, 100, 50];
            let data: Vec<u8> =
                (0..6 * 4).map(|n: usize| colour[mosaic[(n / 6 % 2) * 2 + n % 6 % 2]]).collect();
            let pixels = rgb(6, 4, encoding, 6, &data);
            assert!(pixels.as_chunks::<3>().0.iter().all(|pixel| *pixel == colour), "{encoding}");
            // The high byte of 16 bits, whichever comes first.
            let name = encoding.replace('8', "16");
            for big_endian in [false, true] {
                let pair = |byte: &u8| if big_endian { [*byte, 7] } else { [7, *byte] };
                let data: Vec<u8> = data.iter().flat_map(pair).collect();
                let (width, height, step, encoding) = (6, 4, 12, name.as_str());
                let image = RawImage { width, height, step, encoding, big_endian, data: &data };
                assert_eq!(image.to_rgb().unwrap(), pixels, "{encoding}");
            }
        }
    }

    #[test]
    fn pictures_that_claim_more_than_they_have_are_refused() {
        for (width, height, encoding, step, bytes) in [
            (640, 480, "rgb8", 1920, 100),
            (640, 480, "rgb8", 100, 64_000),
            (u32::MAX, u32::MAX, "rgb8", u32::MAX, 100),
            (0, 480, "rgb8", 0, 0),
            (2, 2, "32FC1", 8, 16),
            (4, 4, "nv12", 4, 16),
        ] {
            let data = vec![0; bytes];
            let image = RawImage { width, height, step, encoding, big_endian: false, data: &data };
            assert!(image.to_rgb().is_err(), "{encoding}");
        }
    }

    #[test]
    fn a_picture_waits_in_few_bytes_and_looks_the_same_afterwards() {
        let data: Vec<u8> = (0..=255).collect();
        let (width, height, big_endian) = (4, 4, false);
        for (encoding, step, waiting) in [
            ("rgb8", 12, 48),
            ("bgr8", 12, 48),
            ("mono8", 7, 3 * 7 + 4),
            ("yuyv", 8, 32),
            ("nv12", 4, 24),
            ("bayer_rggb8", 4, 16),
            // More than four bytes per pixel: converted at once.
            ("rgba8", 20, 48),
            ("bgr16", 24, 48),
        ] {
            let image = RawImage { width, height, step, encoding, big_endian, data: &data };
            let picture = image.picture().unwrap();
            assert_eq!(picture.bytes(), waiting, "{encoding}");
            let source = crate::ids::SourceId::new("camera");
            let at = crate::time::Timestamp::EPOCH;
            let frame = crate::media::Frame { source, at, number: 0, width, height, picture };
            let seen = crate::capture::imaging::picture::to_rgb(&frame).unwrap();
            assert_eq!(seen.into_raw(), image.to_rgb().unwrap(), "{encoding}");
        }
        // What cannot be converted later is refused at once.
        let image =
            RawImage { width, height, step: 4, encoding: "nv12", big_endian, data: &data[..23] };
        assert!(image.picture().is_err());
    }

    #[test]
    fn measurements_are_told_from_what_cameras_see() {
        for encoding in ["16UC1", "32FC1", "32FC3", "16SC1", "64FC1", "8UC2", "8SC3"] {
            assert!(is_measured(encoding), "{encoding}");
        }
        for encoding in ["8UC1", "8UC3", "16UC3", "mono16", "mono8", "rgb8", "nv12", "x", "32FCx"] {
            assert!(!is_measured(encoding), "{encoding}");
        }
    }

    proptest! {
        #[test]
        fn broken_pictures_never_panic(
            width in 0_u32..40, height in 0_u32..40, step in 0_u32..200, length in 0_usize..5000,
            encoding in "(rgb8|bgra16|mono8|yuyv|nv12|nv21|nv24|bayer_rggb8|bayer_grbg16|x)",
            big_endian: bool,
        ) {
            let data = vec![1; length];
            let image = RawImage { width, height, step, encoding: &encoding, big_endian, data: &data };
            prop_assert_eq!(image.picture().is_ok(), image.to_rgb().is_ok());
            if let Ok(rgb) = image.to_rgb() {
                prop_assert_eq!(rgb.len(), (width * height * 3) as usize);
            }
        }
    }
}
