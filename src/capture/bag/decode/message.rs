//! A message's values → pictures, video packets, sound, poses: what each type means, whatever encoding
//! it was written in. Pure functions; nothing panics on garbage.

use std::borrow::Cow;

use super::camera_info::{ToldCamera, told_camera};
use super::external_transcript::{Told, told_words};
use super::field::{Refused, count, frame_id, missing, stamp, text};
use super::g711::Law;
use super::role::Role;
use super::transform_tree::{Transform, yaw};
use super::value::Value;
use crate::capture::audio::sound::{Sample, SoundFormat};
use crate::capture::imaging::picture::encoded_size;
use crate::capture::imaging::raw_image::{RawImage, is_measured};
use crate::media::{Picture, Pose};
use crate::time::Timestamp;

/// A decoded message. `stamp` is its own time, `None` where it has none or it is zero.
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
    /// A piece of a compressed video stream: what shows one picture.
    Video {
        /// Capture time of that picture.
        stamp: Option<Timestamp>,
        /// How it is compressed.
        codec: VideoCodec,
        /// The stream's bytes.
        bytes: Cow<'a, [u8]>,
    },
    /// Sound.
    Sound {
        /// Capture time of the first sample.
        stamp: Option<Timestamp>,
        /// How it is coded, where the message tells; else an AudioInfo does.
        coding: Option<SoundCoding>,
        /// Interleaved samples, or compressed sound.
        bytes: Cow<'a, [u8]>,
    },
    /// Where the robot is.
    Pose {
        /// Capture time.
        stamp: Option<Timestamp>,
        /// The pose; its own stamp is not set yet.
        pose: Pose,
    },
    /// Frames in frames.
    Transforms(Vec<Transform>),
    /// The coding of the sound of another topic.
    SoundInfo(SoundCoding),
    /// The calibration of another topic's camera.
    Camera(Box<ToldCamera>),
    /// What somebody else understood of what was said; `None`: nothing.
    Words(Option<Told>),
}

/// How video is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VideoCodec {
    /// H.264, Annex B.
    H264,
    /// H.265, Annex B.
    H265,
    /// VP9 frames.
    Vp9,
    /// AV1 low-overhead OBUs.
    Av1,
}

/// How sound is coded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SoundCoding {
    /// Samples as they are.
    Pcm(SoundFormat),
    /// MPEG-1 layer 3; the stream tells the rest.
    Mp3,
    /// AAC-LC in ADTS; the stream tells the rest.
    Aac,
    /// Raw Opus packets of so many channels.
    Opus(u16),
}

/// What the picture of a message measures instead of showing it, as its encoding or format says; `None`: nothing.
pub(in crate::capture::bag) fn measured<'m>(role: Role, message: &'m Value<'_>) -> Option<&'m str> {
    match role {
        Role::Image => text(message, "encoding").ok().filter(|encoding| is_measured(encoding)),
        // `16UC1; compressedDepth png`: what the pixels were, then how image_transport packed them.
        Role::CompressedImage => text(message, "format").ok().filter(|format| {
            let pixels = format.split(';').next().unwrap_or_default();
            is_measured(pixels.trim()) || format.to_ascii_lowercase().contains("compresseddepth")
        }),
        _ => None,
    }
}

/// Reads a message of that role out of its values.
///
/// # Errors
/// When a field is missing, what is in it cannot be decoded, or is not played.
pub fn decode(role: Role, mut message: Value<'_>) -> Result<Decoded<'_>, Refused> {
    if let Some(what) = measured(role, &message) {
        return Err(Refused::NotPlayed(format!("{what}: measurements, no picture")));
    }
    match role {
        Role::CompressedImage => {
            let stamp = stamp(&message);
            let format = text(&message, "format")?.to_owned();
            let data = bytes(&mut message, "data")?;
            // Some cameras' drivers put packets of a stream where pictures belong.
            if let Some(codec) = VideoCodec::of(&format) {
                return Ok(Decoded::Video { stamp, codec, bytes: data });
            }
            let (width, height) = encoded_size(&data).map_err(|reason| {
                Refused::Undecodable(format!("a picture of format {format:?}: {reason}"))
            })?;
            let picture = Picture::Encoded(data.into());
            Ok(Decoded::Picture { stamp, width, height, picture })
        }
        Role::Image => image(message),
        Role::CompressedVideo => {
            let format = text(&message, "format")?;
            let codec = VideoCodec::of(format).ok_or_else(|| unknown_video(format))?;
            let stamp = stamp(&message);
            Ok(Decoded::Video { stamp, codec, bytes: bytes(&mut message, "data")? })
        }
        Role::FfmpegPacket => {
            let (stamp, encoding) = (stamp(&message), text(&message, "encoding")?.to_owned());
            let data = bytes(&mut message, "data")?;
            if let Some(codec) = VideoCodec::of(&encoding) {
                return Ok(Decoded::Video { stamp, codec, bytes: data });
            }
            // MJPEG and PNG are pictures one by one.
            let (width, height) = encoded_size(&data).map_err(|_| unknown_video(&encoding))?;
            Ok(Decoded::Picture { stamp, width, height, picture: Picture::Encoded(data.into()) })
        }
        Role::Audio => {
            let bytes = bytes(&mut message, "data")?;
            Ok(Decoded::Sound { stamp: None, coding: None, bytes })
        }
        Role::StampedAudio => {
            let stamp = stamp(&message);
            let mut audio = message.take("audio").unwrap_or(message);
            Ok(Decoded::Sound { stamp, coding: None, bytes: bytes(&mut audio, "data")? })
        }
        Role::SampledAudio => sampled(message),
        Role::RawAudio | Role::CompressedAudio => {
            let stamp = stamp(&message);
            let (coding, law) = told_coding(&message)?;
            let data = bytes(&mut message, "data")?;
            let bytes = if let Some(law) = law { Cow::Owned(law.expand(&data)) } else { data };
            Ok(Decoded::Sound { stamp, coding: Some(coding), bytes })
        }
        Role::AudioInfo => Ok(Decoded::SoundInfo(audio_info(&message)?)),
        Role::UncertainPose | Role::Pose => pose(role, &message),
        Role::Transforms => {
            let list = message.get("transforms").and_then(Value::list);
            let list = list.ok_or_else(|| missing("transforms"))?;
            list.iter().map(transform).collect::<Result<_, _>>().map(Decoded::Transforms)
        }
        Role::Transform => Ok(Decoded::Transforms(vec![transform(&message)?])),
        Role::CameraInfo => told_camera(&message).map(|told| Decoded::Camera(Box::new(told))),
        Role::Text => told_words(&message).map(Decoded::Words),
    }
}

impl VideoCodec {
    /// By a format or encoder of that name, as ROS, Foxglove and FFmpeg write them: `h264`, `hevc_nvenc`, `libx264`,
    /// `h264;yuv420p;bgr8;bgr8`. `None`: none of those that are read.
    fn of(format: &str) -> Option<Self> {
        let name = format.split([';', ' ', ',']).next().unwrap_or_default().to_ascii_lowercase();
        let is = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if is(&["h264", "x264", "h.264", "avc1"]) {
            Some(Self::H264)
        } else if is(&["h265", "x265", "h.265", "hevc"]) {
            Some(Self::H265)
        } else if is(&["vp9"]) {
            Some(Self::Vp9)
        } else {
            is(&["av1"]).then_some(Self::Av1)
        }
    }
}

fn unknown_video(format: &str) -> Refused {
    Refused::Undecodable(format!("video of format {format:?}"))
}

/// `audio_common_msgs/AudioStamped` of ROS 2: of its arrays of samples one is filled.
fn sampled(mut message: Value<'_>) -> Result<Decoded<'_>, Refused> {
    let stamp = stamp(&message);
    let mut audio = message.take("audio").ok_or_else(|| missing("audio"))?;
    let info = audio.get("info").ok_or_else(|| missing("audio.info"))?;
    let (rate, channels) = (count(info, "rate")?, count(info, "channels")?);
    let mut data = audio.take("audio_data").ok_or_else(|| missing("audio.audio_data"))?;
    let mut filled = None;
    for (name, sample) in [
        ("float32_data", Sample::F32Le),
        ("int32_data", Sample::S32Le),
        ("int16_data", Sample::S16Le),
        ("int8_data", Sample::U8),
        ("uint8_data", Sample::U8),
    ] {
        let bytes = match data.take(name) {
            // What is signed has its zero in the middle of what is not.
            Some(Value::Bytes(bytes)) if name == "int8_data" => {
                bytes.iter().map(|byte| byte ^ 0x80).collect::<Vec<u8>>()
            }
            Some(Value::Bytes(bytes)) => bytes.into_owned(),
            Some(Value::List(list)) => sample_bytes(&list, name),
            _ => continue,
        };
        if !bytes.is_empty() {
            filled = Some((bytes, sample));
            break;
        }
    }
    // A message without a sample is none of another format.
    let (bytes, sample) = filled.unwrap_or((Vec::new(), Sample::S16Le));
    let channels = u16::try_from(channels).unwrap_or(u16::MAX);
    let coding = Some(pcm(rate, channels, sample)?);
    Ok(Decoded::Sound { stamp, coding, bytes: Cow::Owned(bytes) })
}

/// The samples of the array of that name as little-endian bytes.
fn sample_bytes(samples: &[Value<'_>], array: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(samples.len() * 4);
    for number in samples.iter().map(|sample| sample.float().unwrap_or(0.0)) {
        match array {
            "float32_data" => bytes.extend((number as f32).to_le_bytes()),
            "int32_data" => bytes.extend((number as i32).to_le_bytes()),
            "int16_data" => bytes.extend((number as i16).to_le_bytes()),
            "int8_data" => bytes.push((number as i8).cast_unsigned() ^ 0x80),
            _ => bytes.push(number as u8),
        }
    }
    bytes
}

/// Every stamp of a message: transforms have one each.
pub(in crate::capture::bag) fn stamps(role: Role, message: &Value<'_>) -> Vec<Timestamp> {
    match role {
        Role::Transforms => {
            let list = message.get("transforms").and_then(Value::list).unwrap_or_default();
            list.iter().filter_map(stamp).collect()
        }
        _ => stamp(message).into_iter().collect(),
    }
}

fn bytes<'a>(message: &mut Value<'a>, field: &str) -> Result<Cow<'a, [u8]>, Refused> {
    message.take(field).and_then(Value::into_bytes).ok_or_else(|| missing(field))
}

fn image(mut message: Value<'_>) -> Result<Decoded<'_>, Refused> {
    let data = bytes(&mut message, "data")?;
    let (width, height) = (count(&message, "width")?, count(&message, "height")?);
    let encoding = text(&message, "encoding")?;
    let big_endian = message.get("is_bigendian").and_then(Value::integer).unwrap_or(0) != 0;
    let step = count(&message, "step")?;
    let raw = RawImage { width, height, step, encoding, big_endian, data: &data };
    let picture = raw.picture().map_err(|reason| {
        let what = format!("a {width}x{height} picture of encoding {encoding:?}");
        Refused::Undecodable(format!("{what}: {reason}"))
    })?;
    Ok(Decoded::Picture { stamp: stamp(&message), width, height, picture })
}

/// `foxglove.RawAudio` and `foxglove.CompressedAudio`; with a law, by which samples of 8 bits become those of the coding.
fn told_coding(message: &Value<'_>) -> Result<(SoundCoding, Option<Law>), Refused> {
    let format = text(message, "format")?.to_ascii_lowercase();
    let channels = || {
        let said = message.get("number_of_channels").and_then(Value::count);
        said.map(|said| u16::try_from(said).unwrap_or(u16::MAX))
    };
    let (sample, law) = match format.as_str() {
        "pcm-s16" => (Sample::S16Le, None),
        "pcm-u8" => (Sample::U8, None),
        "pcm-s32" => (Sample::S32Le, None),
        "pcm-f32" => (Sample::F32Le, None),
        "g711-alaw" => (Sample::S16Le, Some(Law::A)),
        "g711-ulaw" => (Sample::S16Le, Some(Law::Mu)),
        "opus" => return Ok((SoundCoding::Opus(channels().unwrap_or(1).clamp(1, 2)), None)),
        "mp4a.40.2" | "aac" => return Ok((SoundCoding::Aac, None)),
        "mp3" => return Ok((SoundCoding::Mp3, None)),
        _ => return Err(Refused::Undecodable(format!("sound of format {format:?}"))),
    };
    let rate = count(message, "sample_rate")?;
    Ok((pcm(rate, channels().unwrap_or(1), sample)?, law))
}

/// `audio_common_msgs/AudioInfo`.
fn audio_info(message: &Value<'_>) -> Result<SoundCoding, Refused> {
    let undecodable = |what: String| Err(Refused::Undecodable(what));
    match text(message, "coding_format")?.trim().to_ascii_lowercase().as_str() {
        "" | "wave" | "wav" | "raw" | "pcm" => {}
        "mp3" => return Ok(SoundCoding::Mp3),
        "aac" => return Ok(SoundCoding::Aac),
        other => return undecodable(format!("sound coded as {other:?}")),
    }
    let sample = match text(message, "sample_format")?.trim().to_ascii_uppercase().as_str() {
        "" | "S16LE" | "S16" => Sample::S16Le,
        "U8" => Sample::U8,
        "S24LE" => Sample::S24Le,
        "S32LE" | "S32" => Sample::S32Le,
        "F32LE" | "F32" => Sample::F32Le,
        other => return undecodable(format!("samples of format {other:?}")),
    };
    let channels = u16::try_from(count(message, "channels")?).unwrap_or(u16::MAX);
    pcm(count(message, "sample_rate")?, channels, sample)
}

fn pcm(rate: u32, channels: u16, sample: Sample) -> Result<SoundCoding, Refused> {
    if !(4_000..=384_000).contains(&rate) || !(1..=64).contains(&channels) {
        return Err(Refused::Undecodable(format!("{channels} channels at {rate} Hz")));
    }
    Ok(SoundCoding::Pcm(SoundFormat { rate, channels, sample }))
}

/// Numbers by their names.
fn numbers<const N: usize>(value: Option<&Value<'_>>, names: [&str; N]) -> Option<[f64; N]> {
    let value = value?;
    let mut numbers = [0.0; N];
    for (number, name) in numbers.iter_mut().zip(names) {
        *number = value.get(name)?.float()?;
    }
    Some(numbers)
}

/// What is told of a place and a direction.
const POINT: [&str; 3] = ["x", "y", "z"];
const QUATERNION: [&str; 4] = ["x", "y", "z", "w"];
/// What a rotation means that was not set.
const UNTURNED: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

fn pose(role: Role, message: &Value<'_>) -> Result<Decoded<'static>, Refused> {
    let path = if role == Role::UncertainPose { "pose.pose" } else { "pose" };
    let told = message.at(path).ok_or_else(|| missing(path))?;
    let position = numbers(told.get("position"), POINT).ok_or_else(|| missing("position"))?;
    let rotation = numbers(told.get("orientation"), QUATERNION);
    let ([x, y, _], yaw) = (position, yaw(rotation.ok_or_else(|| missing("orientation"))?));
    if !(x.is_finite() && y.is_finite() && yaw.is_finite()) {
        return Err(Refused::Malformed("a pose that is no number".to_owned()));
    }
    let frame = frame_id(message).ok_or_else(|| missing("frame_id"))?;
    let pose = Pose { stamp: Timestamp::EPOCH, x, y, yaw, frame };
    Ok(Decoded::Pose { stamp: stamp(message), pose })
}

/// `geometry_msgs/TransformStamped` or `foxglove.FrameTransform`.
fn transform(message: &Value<'_>) -> Result<Transform, Refused> {
    let name = |value: Option<&Value<'_>>| {
        value.and_then(Value::text).map(|name| name.trim_start_matches('/').to_owned())
    };
    let told = message.get("transform").unwrap_or(message);
    let parent = name(message.get("parent_frame_id")).or_else(|| frame_id(message));
    Ok(Transform {
        stamp: stamp(message),
        parent: parent.ok_or_else(|| missing("frame_id"))?,
        child: name(message.get("child_frame_id")).ok_or_else(|| missing("child_frame_id"))?,
        translation: numbers(told.get("translation"), POINT)
            .ok_or_else(|| missing("translation"))?,
        rotation: numbers(told.get("rotation"), QUATERNION)
            .map(|rotation| if rotation == [0.0; 4] { UNTURNED } else { rotation })
            .ok_or_else(|| missing("rotation"))?,
    })
}
