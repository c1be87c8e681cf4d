//! What fuzz targets and mutation tests run: each entry takes bytes that nobody vouches for and must end
//! without a panic, in bounded memory. (`fuzz/` has the targets, `mutations` the seeded ones.)

use std::io::Write as _;
use std::path::Path;

use super::container::{rosbag1, rosbag2, sqlite};
use super::decode::definition::Definition;
use super::{Bag, Connection, Found};
use crate::capture::imaging::picture::{encoded_size, to_rgb};
use crate::capture::imaging::raw_image::RawImage;
use crate::capture::options::ReplayOptions;
use crate::ids::SourceId;
use crate::media::{Frame, Picture};
use crate::time::Timestamp;

/// Messages that are decoded of a bag; the rest is only read.
const MAX_DECODED: usize = 10_000;

/// Larger pictures are the same, only slower.
const MOST_PIXELS: u64 = 1 << 20;

/// What is packed unpacks to this much, bytes.
const MOST_UNPACKED: u64 = 1 << 20;

/// What bag files of a format begin with: [`bag`] has those bytes read by that format's reader.
pub const MCAP: &[u8] = mcap::MAGIC;
/// See [`MCAP`].
pub const ROSBAG1: &[u8] = rosbag1::MAGIC;
/// See [`MCAP`].
pub const SQLITE: &[u8] = sqlite::MAGIC;

/// Every type that is played, in every encoding that it comes in.
pub const TYPES: [(&str, &str); 42] = [
    ("sensor_msgs/msg/CompressedImage", "cdr"),
    ("sensor_msgs/CompressedImage", "ros1"),
    ("sensor_msgs/msg/Image", "cdr"),
    ("sensor_msgs/Image", "ros1"),
    ("audio_common_msgs/msg/AudioData", "cdr"),
    ("audio_common_msgs/AudioData", "ros1"),
    ("audio_common_msgs/msg/AudioDataStamped", "cdr"),
    ("audio_common_msgs/AudioDataStamped", "ros1"),
    ("audio_common_msgs/msg/AudioStamped", "cdr"),
    ("ffmpeg_image_transport_msgs/msg/FFMPEGPacket", "cdr"),
    ("audio_common_msgs/msg/AudioInfo", "cdr"),
    ("audio_common_msgs/AudioInfo", "ros1"),
    ("nav_msgs/msg/Odometry", "cdr"),
    ("nav_msgs/Odometry", "ros1"),
    ("geometry_msgs/msg/PoseStamped", "cdr"),
    ("geometry_msgs/msg/PoseWithCovarianceStamped", "cdr"),
    ("tf2_msgs/msg/TFMessage", "cdr"),
    ("tf2_msgs/TFMessage", "ros1"),
    ("foxglove_msgs/msg/CompressedVideo", "cdr"),
    ("foxglove_msgs/msg/RawAudio", "cdr"),
    ("foxglove.RawImage", "json"),
    ("foxglove.CompressedImage", "json"),
    ("foxglove.CompressedVideo", "json"),
    ("foxglove.RawAudio", "json"),
    ("foxglove.CompressedAudio", "json"),
    ("foxglove.PoseInFrame", "json"),
    ("foxglove.FrameTransforms", "json"),
    ("foxglove.FrameTransform", "json"),
    ("sensor_msgs/msg/CameraInfo", "cdr"),
    ("sensor_msgs/CameraInfo", "ros1"),
    ("foxglove.CameraCalibration", "json"),
    ("std_msgs/msg/String", "cdr"),
    ("std_msgs/String", "ros1"),
    ("any.Words", "json"),
    ("geometry_msgs/PoseStamped", "ros1"),
    ("foxglove_msgs/msg/RawImage", "cdr"),
    ("foxglove_msgs/msg/CompressedImage", "cdr"),
    ("foxglove_msgs/msg/CompressedAudio", "cdr"),
    ("foxglove_msgs/msg/PoseInFrame", "cdr"),
    ("foxglove_msgs/msg/FrameTransform", "cdr"),
    ("foxglove_msgs/msg/FrameTransforms", "cdr"),
    ("foxglove_msgs/msg/CameraCalibration", "cdr"),
];

/// Types with a definition of their own (type, encoding, language): ROS 2, ROS 1, and each of Foxglove's in protobuf.
pub const DEFINED: [(&str, &str, &str); 11] = [
    ("sensor_msgs/msg/Image", "cdr", "ros2msg"),
    ("sensor_msgs/Image", "ros1", "ros1msg"),
    ("foxglove.RawImage", "protobuf", "protobuf"),
    ("foxglove.CompressedImage", "protobuf", "protobuf"),
    ("foxglove.CompressedVideo", "protobuf", "protobuf"),
    ("foxglove.RawAudio", "protobuf", "protobuf"),
    ("foxglove.CompressedAudio", "protobuf", "protobuf"),
    ("foxglove.PoseInFrame", "protobuf", "protobuf"),
    ("foxglove.FrameTransform", "protobuf", "protobuf"),
    ("foxglove.FrameTransforms", "protobuf", "protobuf"),
    ("foxglove.CameraCalibration", "protobuf", "protobuf"),
];

/// The first byte chooses a type, the rest is a message of it.
pub fn message(bytes: &[u8]) {
    let Some((choice, data)) = bytes.split_first() else { return };
    let Some((schema, encoding)) = TYPES.get(usize::from(*choice) % TYPES.len()) else { return };
    let (connection, _) = Connection::new("t", schema, encoding, None);
    let _ = connection.decode(data);
}

/// A definition (first byte: of which of [`DEFINED`]; then its length in two bytes) and a message of it.
pub fn definition(bytes: &[u8]) {
    let Some((&[choice, low, high], rest)) = bytes.split_first_chunk::<3>() else { return };
    let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
    let (text, data) = rest.split_at(length);
    let (schema, encoding, language) = DEFINED[usize::from(choice) % DEFINED.len()];
    let _ = Definition::parse(schema, encoding, language, text);
    let (connection, _) = Connection::new("t", schema, encoding, Some((language, text)));
    let _ = connection.decode(data);
}

/// Pixels of some encoding (first byte), size and step (a byte each).
pub fn raw_image(bytes: &[u8]) {
    const ENCODINGS: [&str; 12] = [
        "rgb8",
        "bgra8",
        "mono8",
        "mono16",
        "bgr16",
        "yuv422",
        "yuv422_yuy2",
        "nv12",
        "nv21",
        "nv24",
        "bayer_rggb8",
        "bayer_grbg16",
    ];
    let Some((&[choice, width, height, step], data)) = bytes.split_first_chunk::<4>() else {
        return;
    };
    let encoding = ENCODINGS[usize::from(choice & 0x7f) % ENCODINGS.len()];
    let (width, height, step) = (u32::from(width), u32::from(height), u32::from(step));
    let image = RawImage { width, height, step, encoding, big_endian: choice & 0x80 != 0, data };
    assert_eq!(image.picture().is_ok(), image.to_rgb().is_ok(), "what is kept can be shown");
}

/// A picture file, decoded as far as it can be; its size is refused before its pixels are.
pub fn picture(bytes: &[u8]) {
    let (width, height) = encoded_size(bytes).unwrap_or_default();
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return;
    }
    let (source, picture) = (SourceId::new("any"), Picture::Encoded(bytes.into()));
    let frame = Frame { source, at: Timestamp::EPOCH, number: 0, width: 0, height: 0, picture };
    if let Ok(rgb) = to_rgb(&frame) {
        assert_eq!((rgb.width(), rgb.height()), (width, height), "it is as large as it says");
    }
}

/// A whole bag file, opened by its first bytes, read and decoded to its end. `scratch`: a file that is
/// written over; its folder should be in memory.
pub fn bag(scratch: &Path, bytes: &[u8]) {
    let written = std::fs::File::create(scratch).and_then(|mut file| file.write_all(bytes));
    if written.is_err() {
        return;
    }
    let Ok(Some(bag)) = Bag::open(scratch) else { return };
    let _ = (bag.topics(&ReplayOptions::default()), bag.why_nothing_plays(), bag.duration_secs());
    let Ok(mut reader) = bag.reader(|_| true) else { return };
    let mut decoded = 0;
    while let Some(found) = reader.next() {
        if let Found::Message(message) = found
            && decoded < MAX_DECODED
        {
            decoded += 1;
            let _ = message.connection.decode(&message.data);
        }
    }
}

/// The text of a `metadata.yaml`: whatever files it names, they lie in the bag's folder.
pub fn rosbag2_metadata(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(metadata) = rosbag2::Metadata::parse(text) else { return };
    let folder = Path::new("/bag");
    for file in metadata.files_in(folder) {
        assert_eq!(file.parent(), Some(folder), "nothing leads out");
    }
}

/// zstd, as rosbag2 packs files and messages: each unpacks to no more than it may, and both to the same.
pub fn rosbag2_packed(bytes: &[u8]) {
    let mut file = Vec::new();
    if rosbag2::unpack(bytes, &mut file, MOST_UNPACKED).is_err() {
        return;
    }
    assert!(file.len() as u64 <= MOST_UNPACKED, "{} bytes", file.len());
    if let Ok(message) = rosbag2::unpack_message(bytes, MOST_UNPACKED) {
        assert!(message.len() as u64 <= MOST_UNPACKED, "{} bytes", message.len());
        // After a frame of nothing, one may see an end where the other goes on.
        let alike = message.starts_with(&file) || file.starts_with(&message);
        assert!(message.len() as u64 == MOST_UNPACKED || alike, "both unpack alike");
    }
}
