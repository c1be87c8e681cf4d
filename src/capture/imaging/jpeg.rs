//! JPEGs as webcams send them in MJPEG: without Huffman tables, since all of them use those that the standard suggests
//! (ITU-T T.81, annex K.3; so do AVI's MJPG and UVC's MJPEG).

use std::borrow::Cow;

const START_OF_IMAGE: [u8; 2] = [0xFF, 0xD8];
const DEFINE_HUFFMAN: u8 = 0xC4;
const START_OF_SCAN: u8 = 0xDA;

/// Code lengths of the differences of DC: how many codes have 1, 2, … 16 bits (tables K.3, luminance, and K.4).
const DC_LENGTHS: [[u8; 16]; 2] = [
    [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
];
/// What they stand for.
const DC_VALUES: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
/// Code lengths of AC (tables K.5, luminance, and K.6).
const AC_LENGTHS: [[u8; 16]; 2] = [
    [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d],
    [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77],
];
/// Run and size, in the order of their codes.
const AC_VALUES: [[u8; 162]; 2] = [
    [
        0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61,
        0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52,
        0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25,
        0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45,
        0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64,
        0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
        0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99,
        0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6,
        0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3,
        0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8,
        0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
    ],
    [
        0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61,
        0x71, 0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33,
        0x52, 0xf0, 0x15, 0x62, 0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18,
        0x19, 0x1a, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44,
        0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63,
        0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a,
        0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97,
        0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4,
        0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca,
        0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7,
        0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
    ],
];

/// The four standard tables as one segment, marker and length included.
fn standard_tables() -> Vec<u8> {
    let mut body = Vec::with_capacity(418);
    for (class, lengths) in [(0x00, &DC_LENGTHS), (0x10, &AC_LENGTHS)] {
        for (table, lengths) in lengths.iter().enumerate() {
            body.push(class | table as u8);
            body.extend(lengths);
            let values: &[u8] = if class == 0 {
                &DC_VALUES
            } else {
                AC_VALUES.get(table).map_or(&[][..], |values| &values[..])
            };
            body.extend(values);
        }
    }
    let length = u16::try_from(body.len() + 2).unwrap_or(u16::MAX).to_be_bytes();
    [&[0xFF, DEFINE_HUFFMAN], length.as_slice(), &body].concat()
}

/// Where the first scan begins, if nothing before it defines a Huffman table; `None` too for what is no JPEG.
fn scan_without_tables(bytes: &[u8]) -> Option<usize> {
    let mut at = bytes.starts_with(&START_OF_IMAGE).then_some(2)?;
    loop {
        let [0xFF, marker, rest @ ..] = bytes.get(at..)? else { return None };
        match *marker {
            // Bytes that fill up, and markers without a body.
            0xFF => at += 1,
            0x01 | 0xD0..=0xD8 => at += 2,
            DEFINE_HUFFMAN => return None,
            // Coded arithmetically, or conditions of that: no Huffman table is missing.
            0xC9..=0xCF => return None,
            START_OF_SCAN => return Some(at),
            _ => at += 2 + usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?])).max(2),
        }
    }
}

/// The same JPEG with the standard Huffman tables before its first scan, where it has none; anything else as it is.
pub(in crate::capture) fn with_huffman_tables(bytes: &[u8]) -> Cow<'_, [u8]> {
    let split = scan_without_tables(bytes).and_then(|at| bytes.split_at_checked(at));
    let Some((head, scan)) = split else { return Cow::Borrowed(bytes) };
    Cow::Owned([head, &standard_tables(), scan].concat())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(in crate::capture) mod tests {
    use image::{Rgb, RgbImage};

    use super::*;
    use crate::capture::imaging::picture::decode;

    /// The same JPEG without its segments that define Huffman tables, as a webcam would have sent it.
    pub(crate) fn without_tables(bytes: &[u8]) -> Vec<u8> {
        let (mut out, mut at) = (bytes[..2].to_vec(), 2);
        while bytes[at + 1] != START_OF_SCAN {
            let length = 2 + usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]));
            if bytes[at + 1] != DEFINE_HUFFMAN {
                out.extend(&bytes[at..at + length]);
            }
            at += length;
        }
        out.extend(&bytes[at..]);
        out
    }

    #[test]
    fn a_jpeg_without_huffman_tables_is_decoded_by_the_standard_ones() {
        // Edges and noise, so that many different codes occur in all four tables.
        let noisy = RgbImage::from_fn(96, 64, |x, y| {
            let n = (x * 7919 + y * 104_729) % 251;
            Rgb([(x * 2) as u8, if (x / 8 + y / 8) % 2 == 0 { 250 } else { 5 }, n as u8])
        });
        for quality in [20, 60, 95] {
            let mut jpeg = Vec::new();
            image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, quality)
                .encode_image(&noisy)
                .unwrap();
            let bare = without_tables(&jpeg);
            assert!(bare.len() < jpeg.len() && scan_without_tables(&bare).is_some());
            assert_eq!(decode(&bare).unwrap(), decode(&jpeg).unwrap(), "quality {quality}");
            assert!(matches!(with_huffman_tables(&jpeg), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn what_is_no_jpeg_or_ends_early_stays_as_it_is() {
        for bytes in [&b""[..], b"\xFF\xD8", b"\xFF\xD8\xFF\xE0\x00", b"\x89PNG\r\n", b"\xFF\xD8ab"]
        {
            assert_eq!(with_huffman_tables(bytes), bytes);
        }
    }
}
