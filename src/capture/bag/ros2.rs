//! ROS 2 messages (CDR) → pictures, sound, poses: pure functions over bytes.
//!
//! `sensor_msgs/msg/{CompressedImage,Image}`, `audio_common_msgs/msg/{AudioData,AudioDataStamped,AudioInfo}`,
//! `nav_msgs/msg/Odometry`. Only the leading fields that are used are read; nothing panics on garbage.

use byteorder::{BigEndian, LittleEndian};
use serde::Deserialize;

use super::Kind;
use crate::capture::picture::{MAX_SIDE_PX, encoded_size, yuv_to_rgb};
use crate::capture::sound::{Sample, SoundFormat};
use crate::media::{Picture, Pose};
use crate::time::Timestamp;

/// A decoded message. `stamp` is its header's, `None` where it has none or it is zero.
#[derive(Clone, Debug)]
pub enum Decoded<'a> {
    /// A picture.
    Picture {
        /// Capture time.
        stamp: Option<Timestamp>,
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
        /// The pixels or the compressed file.
        picture: Picture,
    },
    /// Sound, in the format that an AudioInfo tells.
    Sound {
        /// Capture time of the first sample.
        stamp: Option<Timestamp>,
        /// Interleaved samples.
        bytes: &'a [u8],
    },
    /// Where the robot is.
    Pose {
        /// Capture time.
        stamp: Option<Timestamp>,
        /// The pose; its own stamp is not set yet.
        pose: Pose,
    },
}

/// Why a message is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It does not parse.
    Malformed(String),
    /// It parses, but what is in it cannot be decoded.
    Undecodable(String),
}

/// `sensor_msgs/msg/Image` and `sensor_msgs/Image` alike → `sensor_msgs/Image`; only CDR.
fn short_name(schema: &str) -> String {
    schema.replacen("/msg/", "/", 1)
}

/// What messages of that type carry; `None`: nothing that is played.
#[must_use]
pub fn kind(schema: &str, encoding: &str) -> Option<Kind> {
    if encoding != "cdr" {
        return None;
    }
    match short_name(schema).as_str() {
        "sensor_msgs/CompressedImage" | "sensor_msgs/Image" => Some(Kind::Camera),
        "audio_common_msgs/AudioData" | "audio_common_msgs/AudioDataStamped" => {
            Some(Kind::Microphone)
        }
        "nav_msgs/Odometry" => Some(Kind::Pose),
        _ => None,
    }
}

/// Whether messages of that type tell an audio topic's format.
#[must_use]
pub fn is_sound_format(schema: &str, encoding: &str) -> bool {
    encoding == "cdr" && short_name(schema) == "audio_common_msgs/AudioInfo"
}

/// Decodes a message of one of the types for which [`kind`] is not `None`.
///
/// # Errors
/// When it does not parse, or holds what cannot be decoded.
pub fn decode<'a>(schema: &str, data: &'a [u8]) -> Result<Decoded<'a>, Refused> {
    match short_name(schema).as_str() {
        "sensor_msgs/CompressedImage" => compressed_image(data),
        "sensor_msgs/Image" => image(data),
        "audio_common_msgs/AudioData" => {
            let bytes: Bytes<'_> = parse(data)?;
            Ok(Decoded::Sound { stamp: None, bytes: bytes.data })
        }
        "audio_common_msgs/AudioDataStamped" => {
            let sound: StampedBytes<'_> = parse(data)?;
            Ok(Decoded::Sound { stamp: sound.header.stamp(), bytes: sound.data })
        }
        "nav_msgs/Odometry" => odometry(data),
        other => Err(Refused::Malformed(format!("{other} is not decoded here"))),
    }
}

/// Decodes `audio_common_msgs/AudioInfo`.
///
/// # Errors
/// When it does not parse, or names a format that cannot be decoded.
pub fn sound_format(data: &[u8]) -> Result<SoundFormat, Refused> {
    let said: AudioInfo = parse(data)?;
    let undecodable = |what: String| Err(Refused::Undecodable(what));
    let coding = said.coding_format.trim().to_ascii_lowercase();
    if !matches!(coding.as_str(), "" | "wave" | "wav" | "raw" | "pcm") {
        return undecodable(format!("sound coded as {coding:?} (only raw PCM is read)"));
    }
    let sample = match said.sample_format.trim().to_ascii_uppercase().as_str() {
        "" | "S16LE" | "S16" => Sample::S16Le,
        "U8" => Sample::U8,
        "S24LE" => Sample::S24Le,
        "S32LE" | "S32" => Sample::S32Le,
        "F32LE" | "F32" => Sample::F32Le,
        other => return undecodable(format!("samples of format {other:?}")),
    };
    if !(4_000..=384_000).contains(&said.sample_rate) || !(1..=64).contains(&said.channels) {
        return undecodable(format!("{} channels at {} Hz", said.channels, said.sample_rate));
    }
    Ok(SoundFormat { rate: said.sample_rate, channels: u16::from(said.channels), sample })
}

#[derive(Deserialize)]
struct Header<'a> {
    sec: i32,
    nanosec: u32,
    #[serde(borrow)]
    frame_id: Text<'a>,
}

impl Header<'_> {
    fn stamp(&self) -> Option<Timestamp> {
        let nanos = i64::from(self.sec) * 1_000_000_000 + i64::from(self.nanosec);
        (nanos != 0).then_some(Timestamp::from_nanos(nanos))
    }
}

/// A CDR string: length with the final zero, bytes; taken as bytes because ROS does not check UTF-8.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(&'a [u8]);

impl Text<'_> {
    fn to_text(&self) -> String {
        let bytes = self.0.strip_suffix(&[0]).unwrap_or(self.0);
        String::from_utf8_lossy(bytes).into_owned()
    }
}

#[derive(Deserialize)]
struct Bytes<'a> {
    #[serde(borrow)]
    data: &'a [u8],
}

#[derive(Deserialize)]
struct StampedBytes<'a> {
    #[serde(borrow)]
    header: Header<'a>,
    #[serde(borrow)]
    data: &'a [u8],
}

#[derive(Deserialize)]
struct AudioInfo {
    channels: u8,
    sample_rate: u32,
    sample_format: String,
    #[allow(dead_code)] // read past
    bitrate: u32,
    coding_format: String,
}

#[derive(Deserialize)]
struct CompressedImage<'a> {
    #[serde(borrow)]
    header: Header<'a>,
    #[serde(borrow)]
    format: Text<'a>,
    #[serde(borrow)]
    data: &'a [u8],
}

#[derive(Deserialize)]
struct Image<'a> {
    #[serde(borrow)]
    header: Header<'a>,
    height: u32,
    width: u32,
    #[serde(borrow)]
    encoding: Text<'a>,
    is_bigendian: u8,
    step: u32,
    #[serde(borrow)]
    data: &'a [u8],
}

/// The fields up to the orientation; covariances and twist follow.
#[derive(Deserialize)]
struct Odometry<'a> {
    #[serde(borrow)]
    header: Header<'a>,
    #[serde(borrow)]
    #[allow(dead_code)] // read past
    child_frame_id: Text<'a>,
    position: [f64; 3],
    orientation: [f64; 4],
}

/// Reads a struct behind the 4-byte encapsulation header (DDSI-RTPS 2.3, 10.2): plain CDR of either byte order.
fn parse<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, Refused> {
    let malformed = |why: String| Refused::Malformed(why);
    let Some((&[_, form, _, _], body)) = data.split_first_chunk::<4>() else {
        return Err(malformed(format!("{} bytes are no CDR message", data.len())));
    };
    let parsed = match form {
        0x00 | 0x02 => cdr_encoding::from_bytes::<T, BigEndian>(body),
        0x01 | 0x03 => cdr_encoding::from_bytes::<T, LittleEndian>(body),
        other => return Err(malformed(format!("encapsulation {other:#04x} is no plain CDR"))),
    };
    parsed.map(|(value, _)| value).map_err(|error| malformed(error.to_string()))
}

fn compressed_image(data: &[u8]) -> Result<Decoded<'_>, Refused> {
    let image: CompressedImage<'_> = parse(data)?;
    let (width, height) = encoded_size(image.data).map_err(|reason| {
        Refused::Undecodable(format!("a picture of format {:?}: {reason}", image.format.to_text()))
    })?;
    let picture = Picture::Encoded(image.data.into());
    Ok(Decoded::Picture { stamp: image.header.stamp(), width, height, picture })
}

fn image(data: &[u8]) -> Result<Decoded<'_>, Refused> {
    let image: Image<'_> = parse(data)?;
    let encoding = image.encoding.to_text();
    let (width, height) = (image.width, image.height);
    let rgb = raw_to_rgb(&image, &encoding).map_err(|reason| {
        Refused::Undecodable(format!(
            "a {width}x{height} picture of encoding {encoding:?}: {reason}"
        ))
    })?;
    let picture = Picture::Rgb8(rgb.into());
    Ok(Decoded::Picture { stamp: image.header.stamp(), width, height, picture })
}

/// Packed RGB out of rows that may be padded (`step`).
fn raw_to_rgb(image: &Image<'_>, encoding: &str) -> Result<Vec<u8>, String> {
    type Pixels = fn(&[u8], &mut [u8]);
    let high_byte = if image.is_bigendian != 0 { 0 } else { 1 };
    let (bytes_per_pixel, convert): (usize, Pixels) = match encoding.to_ascii_lowercase().as_str() {
        "rgb8" => (3, |row, rgb| rgb.copy_from_slice(row)),
        "bgr8" | "8uc3" => (3, |row, rgb| pixels::<3>(row, rgb, |p| [p[2], p[1], p[0]])),
        "rgba8" => (4, |row, rgb| pixels::<4>(row, rgb, |p| [p[0], p[1], p[2]])),
        "bgra8" | "8uc4" => (4, |row, rgb| pixels::<4>(row, rgb, |p| [p[2], p[1], p[0]])),
        "mono8" | "8uc1" => (1, |row, rgb| pixels::<1>(row, rgb, |p| [p[0]; 3])),
        "mono16" | "16uc1" if high_byte == 1 => {
            (2, |row, rgb| pixels::<2>(row, rgb, |p| [p[1]; 3]))
        }
        "mono16" | "16uc1" => (2, |row, rgb| pixels::<2>(row, rgb, |p| [p[0]; 3])),
        "yuv422_yuy2" | "yuyv" => (2, |row, rgb| pairs(row, rgb, |p| [p[0], p[1], p[2], p[3]])),
        "yuv422" | "uyvy" => (2, |row, rgb| pairs(row, rgb, |p| [p[1], p[0], p[3], p[2]])),
        _ => return Err("this encoding is not supported".to_owned()),
    };
    let (width, height, step) = (image.width as usize, image.height as usize, image.step as usize);
    if width == 0 || height == 0 || image.width > MAX_SIDE_PX || image.height > MAX_SIDE_PX {
        return Err("no such size".to_owned());
    }
    let row_bytes = width * bytes_per_pixel;
    // The last row may come without its padding.
    let needed = (height - 1).checked_mul(step).and_then(|bytes| bytes.checked_add(row_bytes));
    if step < row_bytes || needed.is_none_or(|bytes| bytes > image.data.len()) {
        return Err(format!("{} bytes with {step} per row are too few", image.data.len()));
    }
    let mut rgb = vec![0; width * height * 3];
    for (row, line) in image.data.chunks(step).zip(rgb.chunks_exact_mut(width * 3)) {
        convert(&row[..row_bytes], line);
    }
    Ok(rgb)
}

fn pixels<const N: usize>(row: &[u8], rgb: &mut [u8], to_rgb: impl Fn(&[u8; N]) -> [u8; 3]) {
    for (pixel, out) in row.as_chunks::<N>().0.iter().zip(rgb.as_chunks_mut::<3>().0) {
        *out = to_rgb(pixel);
    }
}

/// Two pixels share their colour; `order` gives Y0, U, Y1, V.
fn pairs(row: &[u8], rgb: &mut [u8], order: impl Fn(&[u8; 4]) -> [u8; 4]) {
    for (pair, out) in row.as_chunks::<4>().0.iter().zip(rgb.chunks_mut(6)) {
        let [y0, u, y1, v] = order(pair);
        for (pixel, y) in out.as_chunks_mut::<3>().0.iter_mut().zip([y0, y1]) {
            *pixel = yuv_to_rgb(y, u, v);
        }
    }
}

fn odometry(data: &[u8]) -> Result<Decoded<'_>, Refused> {
    let odometry: Odometry<'_> = parse(data)?;
    let [x, y, _] = odometry.position;
    let [qx, qy, qz, qw] = odometry.orientation;
    let yaw = (2.0 * (qw * qz + qx * qy)).atan2(1.0 - 2.0 * (qy * qy + qz * qz));
    if !(x.is_finite() && y.is_finite() && yaw.is_finite()) {
        return Err(Refused::Malformed("a pose that is no number".to_owned()));
    }
    let stamp = odometry.header.stamp();
    let frame = odometry.header.frame_id.to_text();
    Ok(Decoded::Pose { stamp, pose: Pose { stamp: Timestamp::EPOCH, x, y, yaw, frame } })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A little-endian CDR writer for the tests.
    #[derive(Default)]
    struct Cdr(Vec<u8>);

    impl Cdr {
        fn align(mut self, to: usize) -> Self {
            self.0.resize(self.0.len().next_multiple_of(to), 0);
            self
        }
        fn u8(mut self, value: u8) -> Self {
            self.0.push(value);
            self
        }
        fn u32(self, value: u32) -> Self {
            let mut this = self.align(4);
            this.0.extend(value.to_le_bytes());
            this
        }
        fn f64(self, value: f64) -> Self {
            let mut this = self.align(8);
            this.0.extend(value.to_le_bytes());
            this
        }
        fn bytes(self, value: &[u8]) -> Self {
            let mut this = self.u32(value.len() as u32);
            this.0.extend(value);
            this
        }
        fn text(self, value: &str) -> Self {
            self.bytes(&[value.as_bytes(), &[0]].concat())
        }
        fn message(self) -> Vec<u8> {
            [&[0, 1, 0, 0], self.0.as_slice()].concat()
        }
    }

    fn raw(width: u32, height: u32, encoding: &str, step: u32, data: &[u8]) -> Vec<u8> {
        let header = Cdr::default().u32(7).u32(5).text("camera");
        let sized = header.u32(height).u32(width).text(encoding).u8(0).u32(step);
        sized.bytes(data).message()
    }

    fn rgb(message: &[u8]) -> Vec<u8> {
        match decode("sensor_msgs/msg/Image", message).unwrap() {
            Decoded::Picture { picture: Picture::Rgb8(rgb), stamp, .. } => {
                assert_eq!(stamp, Some(Timestamp::from_nanos(7_000_000_005)));
                rgb.to_vec()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_encoding_and_padding_gives_the_same_pixels() {
        assert_eq!(rgb(&raw(1, 2, "rgb8", 4, &[1, 2, 3, 9, 4, 5, 6])), [1, 2, 3, 4, 5, 6]);
        assert_eq!(rgb(&raw(2, 1, "bgr8", 6, &[3, 2, 1, 6, 5, 4])), [1, 2, 3, 4, 5, 6]);
        assert_eq!(rgb(&raw(1, 1, "bgra8", 4, &[3, 2, 1, 255])), [1, 2, 3]);
        assert_eq!(rgb(&raw(1, 1, "mono8", 1, &[7])), [7, 7, 7]);
        let white = [255; 6];
        assert_eq!(rgb(&raw(2, 1, "yuv422_yuy2", 4, &[235, 128, 235, 128])), white);
        assert_eq!(rgb(&raw(2, 1, "uyvy", 4, &[128, 235, 128, 235])), white);
    }

    #[test]
    fn pictures_that_claim_more_than_they_have_are_refused() {
        for message in [
            raw(640, 480, "rgb8", 1920, &[0; 100]),
            raw(640, 480, "rgb8", 100, &[0; 64_000]),
            raw(u32::MAX, u32::MAX, "rgb8", u32::MAX, &[0; 100]),
            raw(0, 480, "rgb8", 0, &[]),
            raw(2, 2, "bayer_rggb8", 2, &[0; 4]),
        ] {
            let refused = decode("sensor_msgs/msg/Image", &message).unwrap_err();
            assert!(matches!(refused, Refused::Undecodable(_)), "{refused:?}");
        }
    }

    #[test]
    fn odometry_turns_by_its_quaternion() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let mut cdr = Cdr::default().u32(1).u32(0).text("odom").text("base_link");
        for value in [1.5, -2.0, 0.0, 0.0, 0.0, half, half] {
            cdr = cdr.f64(value);
        }
        let message = cdr.message();
        let Decoded::Pose { pose, .. } = decode("nav_msgs/msg/Odometry", &message).unwrap() else {
            panic!("no pose");
        };
        assert_eq!((pose.x, pose.y, pose.frame.as_str()), (1.5, -2.0, "odom"));
        assert!((pose.yaw - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    }

    #[test]
    fn audio_info_tells_the_format() {
        let said = |format: &str, coding: &str| {
            let cdr = Cdr::default().u8(2).u32(44_100).text(format).u32(0).text(coding);
            sound_format(&cdr.message())
        };
        let stereo = SoundFormat { rate: 44_100, channels: 2, sample: Sample::F32Le };
        assert_eq!(said("F32LE", "wave"), Ok(stereo));
        assert!(matches!(said("S16LE", "mp3"), Err(Refused::Undecodable(_))));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(mut data in proptest::collection::vec(any::<u8>(), 0..400), plain: bool) {
            if plain && data.len() > 4 {
                data[..4].copy_from_slice(&[0, 1, 0, 0]);
            }
            for schema in [
                "sensor_msgs/msg/CompressedImage",
                "sensor_msgs/msg/Image",
                "audio_common_msgs/msg/AudioData",
                "audio_common_msgs/msg/AudioDataStamped",
                "nav_msgs/msg/Odometry",
                "std_msgs/msg/String",
            ] {
                let _ = decode(schema, &data);
            }
            let _ = sound_format(&data);
        }

        #[test]
        fn broken_pictures_never_panic(
            width in 0_u32..300, height in 0_u32..300, step in 0_u32..1000, length in 0_usize..3000,
            encoding in "(rgb8|bgr8|rgba8|mono8|mono16|yuyv|uyvy|x)",
        ) {
            let _ = decode("sensor_msgs/msg/Image", &raw(width, height, &encoding, step, &vec![1; length]));
        }
    }
}
