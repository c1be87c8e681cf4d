//! What capture yields: pictures, runs of sound, poses, each with its capture time.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize};

use crate::ids::SourceId;
use crate::time::{Span, Timestamp};

/// Every block of sound inside engram has this rate, one channel, `f32` in [-1, 1].
pub const SAMPLE_RATE: u32 = 16_000;

/// Pixels as they came; turned into RGB only when they are perceived.
#[derive(Clone, Debug)]
pub enum Picture {
    /// Packed RGB, 8 bits, `[height, width, 3]`, no row padding.
    Rgb8(Arc<[u8]>),
    /// YUV as it was decoded, with its range and matrix.
    Yuv(YuvPixels),
    /// A JPEG or PNG file's bytes.
    Encoded(Arc<[u8]>),
    /// As the camera's driver laid them out.
    Raw(RawPixels),
}

impl Picture {
    /// Bytes that it takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Rgb8(bytes) | Self::Encoded(bytes) => bytes.len(),
            Self::Yuv(yuv) => yuv.data.len(),
            Self::Raw(raw) => raw.data.len(),
        }
    }
}

/// YUV of 8 bits; the frame tells width and height.
#[derive(Clone, Debug)]
pub struct YuvPixels {
    /// Where the values lie.
    pub layout: YuvLayout,
    /// What they mean.
    pub coding: YuvCoding,
    /// The values.
    pub data: Bytes,
}

/// Where the values of Y, U and V lie among the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YuvLayout {
    /// Of Y, U, V.
    pub places: [Place; 3],
    /// Pixels side by side that share a U and a V, as a power of two.
    pub across: u8,
    /// The same of pixels one above the other.
    pub down: u8,
}

/// Where the values of one kind lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The first one.
    pub offset: usize,
    /// Bytes from row to row.
    pub stride: usize,
    /// Bytes from value to value.
    pub step: usize,
}

impl YuvLayout {
    /// Whether a picture of that size lies within so many bytes; none is of no size.
    #[must_use]
    pub fn fits(&self, width: usize, height: usize, bytes: usize) -> bool {
        if width == 0 || height == 0 || self.across > 7 || self.down > 7 {
            return false;
        }
        let [y, u, v] = self.places;
        let (columns, rows) = (width.div_ceil(1 << self.across), height.div_ceil(1 << self.down));
        let is_within = |place: Place, columns: usize, rows: usize| {
            let last =
                (rows - 1).checked_mul(place.stride).zip((columns - 1).checked_mul(place.step));
            let last =
                last.and_then(|(row, column)| place.offset.checked_add(row)?.checked_add(column));
            last.is_some_and(|last| last < bytes)
        };
        is_within(y, width, height) && is_within(u, columns, rows) && is_within(v, columns, rows)
    }
}

/// What the values of Y, U and V mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YuvCoding {
    /// All of 0–255, as in JPEG; else 16–235 for Y and 16–240 for U and V.
    pub full_range: bool,
    /// How they are made of red, green and blue.
    pub matrix: YuvMatrix,
}

impl YuvCoding {
    /// What is meant where nobody says anything else.
    pub const LIMITED_BT601: Self = Self { full_range: false, matrix: YuvMatrix::Bt601 };

    /// Brightness 0–255 of a value of Y.
    #[must_use]
    pub fn brightness(self, y: u8) -> f32 {
        if self.full_range {
            return f32::from(y);
        }
        ((f32::from(y) - 16.0) * (255.0 / 219.0)).clamp(0.0, 255.0)
    }
}

/// The matrices of ITU-T H.273, table 4, that are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YuvMatrix {
    /// Standard definition, JPEG.
    Bt601,
    /// High definition.
    Bt709,
    /// Ultra-high definition, not of constant luminance.
    Bt2020,
    /// United States, before 1987.
    Fcc,
    /// High definition, before BT.709.
    Smpte240m,
}

/// Pixels as `sensor_msgs/Image` carries them; the frame tells width and height.
#[derive(Clone, Debug)]
pub struct RawPixels {
    /// How they are coded, e.g. `bgr8` (`sensor_msgs/image_encodings.hpp`).
    pub encoding: Arc<str>,
    /// Bytes from row to row.
    pub step: u32,
    /// Order of the bytes of 16-bit values.
    pub big_endian: bool,
    /// The rows; the last without its padding.
    pub data: Arc<[u8]>,
}

/// One video picture.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Which camera.
    pub source: SourceId,
    /// Capture time.
    pub at: Timestamp,
    /// Position among the source's frames, from 0; drops leave gaps.
    pub number: u64,
    /// Width in px; 0 when only decoding tells.
    pub width: u32,
    /// Height in px; 0 when only decoding tells.
    pub height: u32,
    /// The pixels.
    pub picture: Picture,
}

/// One run of 16 kHz mono samples.
#[derive(Clone, Debug)]
pub struct Block {
    /// Which microphone.
    pub source: SourceId,
    /// Capture time of the first sample.
    pub at: Timestamp,
    /// The samples, [-1, 1].
    pub samples: Arc<[f32]>,
}

impl Block {
    /// First instant after the last sample.
    #[must_use]
    pub fn end(&self) -> Timestamp {
        self.at.plus_secs(self.samples.len() as f64 / f64::from(SAMPLE_RATE))
    }
}

/// The robot's pose in a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// When it was there.
    pub stamp: Timestamp,
    /// Metres.
    #[serde(deserialize_with = "number_or_nan")]
    pub x: f64,
    /// Metres.
    #[serde(deserialize_with = "number_or_nan")]
    pub y: f64,
    /// Radians, counter-clockwise from x.
    #[serde(deserialize_with = "number_or_nan")]
    pub yaw: f64,
    /// Coordinate frame, e.g. `map`, `odom`.
    pub frame: String,
}

impl Pose {
    /// How far the robot drove and turned between two poses: metres and radians (0 to π); `None` where they are in different
    /// frames.
    #[must_use]
    pub fn moved(&self, other: &Self) -> Option<(f64, f64)> {
        let turn = std::f64::consts::TAU;
        let turned = (self.yaw - other.yaw).rem_euclid(turn);
        let away = (self.x - other.x).hypot(self.y - other.y);
        (self.frame == other.frame).then_some((away, turned.min(turn - turned)))
    }
}

/// A robot that has lost itself says NaN, which JSON writes as null.
fn number_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// What another recogniser understood: words that a recording holds in writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldWords {
    /// Which topic.
    pub source: SourceId,
    /// When they were said; without length: at some time before.
    pub span: Span,
    /// The words.
    pub text: String,
}

/// Anything a source yields.
#[derive(Clone, Debug)]
pub enum Item {
    /// A picture.
    Frame(Frame),
    /// Sound.
    Block(Block),
    /// Where the robot is.
    Pose(SourceId, Pose),
    /// Words in writing.
    Words(ToldWords),
}

impl Item {
    /// Capture time.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Frame(frame) => frame.at,
            Self::Block(block) => block.at,
            Self::Pose(_, pose) => pose.stamp,
            Self::Words(told) => told.span.end,
        }
    }

    /// Which source it came from.
    #[must_use]
    pub fn source(&self) -> &SourceId {
        match self {
            Self::Frame(frame) => &frame.source,
            Self::Block(block) => &block.source,
            Self::Pose(source, _) => source,
            Self::Words(told) => &told.source,
        }
    }
}
