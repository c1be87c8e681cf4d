//! What messages of a type are to engram.

use super::definition::short_name;

/// What a topic carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Pictures.
    Camera,
    /// Sound.
    Microphone,
    /// Poses.
    Pose,
    /// Words that somebody else understood.
    Transcript,
}

/// What messages of a type are to engram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A compressed picture file.
    CompressedImage,
    /// Pixels.
    Image,
    /// A piece of a video stream.
    CompressedVideo,
    /// A piece of a video stream as FFmpeg gives it (`ffmpeg_image_transport`).
    FfmpegPacket,
    /// Sound without a header.
    Audio,
    /// Sound in an envelope with a header.
    StampedAudio,
    /// Samples as numbers, with their format (`audio_common` of ROS 2).
    SampledAudio,
    /// Samples that tell their format.
    RawAudio,
    /// Compressed sound that tells its format.
    CompressedAudio,
    /// Tells another topic's sound format.
    AudioInfo,
    /// A pose with a covariance (and a twist).
    UncertainPose,
    /// A pose.
    Pose,
    /// Frames in frames.
    Transforms,
    /// One frame in another.
    Transform,
    /// Tells another topic's calibration.
    CameraInfo,
    /// Text: words, where the user says so.
    Text,
}

impl Role {
    /// The role of a type by its name; `None`: nothing that is played.
    #[must_use]
    pub fn of(schema: &str) -> Option<Self> {
        let short = short_name(schema);
        // foxglove.X (protobuf, JSON), foxglove_msgs/X (ROS)
        let name = short.strip_prefix("foxglove.").map(|name| format!("foxglove_msgs/{name}"));
        Some(match name.as_deref().unwrap_or(&short) {
            "sensor_msgs/CompressedImage" | "foxglove_msgs/CompressedImage" => {
                Self::CompressedImage
            }
            "sensor_msgs/Image" | "foxglove_msgs/RawImage" => Self::Image,
            "foxglove_msgs/CompressedVideo" => Self::CompressedVideo,
            "ffmpeg_image_transport_msgs/FFMPEGPacket" | "ffmpeg_image_transport/FFMPEGPacket" => {
                Self::FfmpegPacket
            }
            "audio_common_msgs/AudioData" => Self::Audio,
            "audio_common_msgs/AudioStamped" => Self::SampledAudio,
            "audio_common_msgs/AudioDataStamped" => Self::StampedAudio,
            "foxglove_msgs/RawAudio" => Self::RawAudio,
            "foxglove_msgs/CompressedAudio" => Self::CompressedAudio,
            "audio_common_msgs/AudioInfo" => Self::AudioInfo,
            "nav_msgs/Odometry" | "geometry_msgs/PoseWithCovarianceStamped" => Self::UncertainPose,
            "geometry_msgs/PoseStamped" | "foxglove_msgs/PoseInFrame" => Self::Pose,
            "tf2_msgs/TFMessage" | "tf/tfMessage" | "foxglove_msgs/FrameTransforms" => {
                Self::Transforms
            }
            "foxglove_msgs/FrameTransform" => Self::Transform,
            "sensor_msgs/CameraInfo" | "foxglove_msgs/CameraCalibration" => Self::CameraInfo,
            "std_msgs/String" => Self::Text,
            _ => return None,
        })
    }

    /// Whether its messages may build upon those before them: none can be left out then.
    #[must_use]
    pub(in crate::capture::bag) fn may_stream(self) -> bool {
        matches!(self, Self::CompressedImage | Self::CompressedVideo | Self::FfmpegPacket)
    }

    /// What a topic of it is played as; `None` for what only tells about others.
    #[must_use]
    pub fn kind(self) -> Option<Kind> {
        Some(match self {
            Self::CompressedImage | Self::Image | Self::CompressedVideo | Self::FfmpegPacket => {
                Kind::Camera
            }
            Self::Audio
            | Self::StampedAudio
            | Self::SampledAudio
            | Self::RawAudio
            | Self::CompressedAudio => Kind::Microphone,
            Self::UncertainPose | Self::Pose | Self::Transforms | Self::Transform => Kind::Pose,
            Self::Text => Kind::Transcript,
            Self::AudioInfo | Self::CameraInfo => return None,
        })
    }
}
