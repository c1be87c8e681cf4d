//! Definitions of the ROS types that are played, for bags that carry none (old `.db3` files).
//! Texts of the packages `std_msgs`, `sensor_msgs`, `nav_msgs`, `geometry_msgs`, `tf2_msgs`,
//! `audio_common_msgs` and `foxglove_msgs`, without their comments.

use super::types::Wire;

/// The ROS 2 definition of a type with those of all types that it uses, as bags carry it.
pub(in crate::capture::bag) fn full_text(schema: &str) -> Option<String> {
    let definition = super::Definition::built_in(schema, "cdr")?;
    let mut whole = String::new();
    for (position, kind) in definition.types.iter().enumerate() {
        if position > 0 {
            whole.push_str(&format!("{}\nMSG: {}\n", "=".repeat(80), kind.name));
        }
        whole.push_str(ros(&kind.name, Wire::Cdr)?);
        whole.push('\n');
    }
    Some(whole)
}

/// The definition of a type by its short name.
pub(in crate::capture::bag) fn ros(name: &str, wire: Wire) -> Option<&'static str> {
    Some(match name {
        "std_msgs/Header" if wire == Wire::Ros1 => "uint32 seq\ntime stamp\nstring frame_id",
        "std_msgs/Header" => "builtin_interfaces/Time stamp\nstring frame_id",
        "builtin_interfaces/Time" | "builtin_interfaces/Duration" => "int32 sec\nuint32 nanosec",
        "std_msgs/String" => "string data",
        "sensor_msgs/Image" => {
            "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n\
             uint8 is_bigendian\nuint32 step\nuint8[] data"
        }
        "sensor_msgs/CompressedImage" => "std_msgs/Header header\nstring format\nuint8[] data",
        "sensor_msgs/RegionOfInterest" => {
            "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify"
        }
        "sensor_msgs/CameraInfo" if wire == Wire::Ros1 => {
            "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\n\
             float64[] D\nfloat64[9] K\nfloat64[9] R\nfloat64[12] P\nuint32 binning_x\n\
             uint32 binning_y\nsensor_msgs/RegionOfInterest roi"
        }
        "sensor_msgs/CameraInfo" => {
            "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\n\
             float64[] d\nfloat64[9] k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\n\
             uint32 binning_y\nsensor_msgs/RegionOfInterest roi"
        }
        "audio_common_msgs/AudioData" => "uint8[] data",
        "audio_common_msgs/AudioDataStamped" => {
            "std_msgs/Header header\naudio_common_msgs/AudioData audio"
        }
        "audio_common_msgs/AudioStamped" => "std_msgs/Header header\naudio_common_msgs/Audio audio",
        // (The package of ROS 2 calls them AudioData and AudioInfo, as the older one calls others.)
        "audio_common_msgs/Audio" => {
            "audio_common_msgs/AudioSamples audio_data\naudio_common_msgs/AudioFormat info"
        }
        "audio_common_msgs/AudioSamples" => {
            "float32[] float32_data\nint32[] int32_data\nint16[] int16_data\nint8[] int8_data\n\
             uint8[] uint8_data"
        }
        "audio_common_msgs/AudioFormat" => "int32 format\nint32 channels\nint32 rate\nint32 chunk",
        "ffmpeg_image_transport_msgs/FFMPEGPacket" => {
            "std_msgs/Header header\nint32 width\nint32 height\nstring encoding\nuint64 pts\n\
             uint8 flags\nbool is_bigendian\nuint8[] data"
        }
        "audio_common_msgs/AudioInfo" => {
            "uint8 channels\nuint32 sample_rate\nstring sample_format\nuint32 bitrate\n\
             string coding_format"
        }
        "geometry_msgs/Point" | "geometry_msgs/Vector3" => "float64 x\nfloat64 y\nfloat64 z",
        "geometry_msgs/Quaternion" => "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
        "geometry_msgs/Pose" => {
            "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation"
        }
        "geometry_msgs/Twist" => "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular",
        "geometry_msgs/PoseWithCovariance" => "geometry_msgs/Pose pose\nfloat64[36] covariance",
        "geometry_msgs/TwistWithCovariance" => "geometry_msgs/Twist twist\nfloat64[36] covariance",
        "geometry_msgs/PoseStamped" => "std_msgs/Header header\ngeometry_msgs/Pose pose",
        "geometry_msgs/PoseWithCovarianceStamped" => {
            "std_msgs/Header header\ngeometry_msgs/PoseWithCovariance pose"
        }
        "geometry_msgs/Transform" => {
            "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation"
        }
        "geometry_msgs/TransformStamped" => {
            "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform"
        }
        "tf2_msgs/TFMessage" | "tf/tfMessage" => "geometry_msgs/TransformStamped[] transforms",
        "nav_msgs/Odometry" => {
            "std_msgs/Header header\nstring child_frame_id\n\
             geometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist"
        }
        "foxglove_msgs/CompressedVideo" if wire == Wire::Cdr => {
            "builtin_interfaces/Time timestamp\nstring frame_id\nuint8[] data\nstring format"
        }
        "foxglove_msgs/RawAudio" if wire == Wire::Cdr => {
            "builtin_interfaces/Time timestamp\nuint8[] data\nstring format\n\
             uint32 sample_rate\nuint32 number_of_channels"
        }
        "foxglove_msgs/CompressedAudio" if wire == Wire::Cdr => {
            "builtin_interfaces/Time timestamp\nstring format\nuint8[] data"
        }
        "foxglove_msgs/CompressedImage" if wire == Wire::Cdr => {
            "builtin_interfaces/Time timestamp\nstring frame_id\nuint8[] data\nstring format"
        }
        "foxglove_msgs/RawImage" if wire == Wire::Cdr => {
            "builtin_interfaces/Time timestamp\nstring frame_id\nuint32 width\nuint32 height\n\
             string encoding\nuint32 step\nuint8[] data"
        }
        "foxglove_msgs/PoseInFrame" if wire == Wire::Cdr => {
            "builtin_interfaces/Time timestamp\nstring frame_id\ngeometry_msgs/Pose pose"
        }
        "foxglove_msgs/FrameTransform" if wire == Wire::Cdr => {
            "builtin_interfaces/Time timestamp\nstring parent_frame_id\nstring child_frame_id\n\
             geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation"
        }
        "foxglove_msgs/FrameTransforms" if wire == Wire::Cdr => {
            "foxglove_msgs/FrameTransform[] transforms"
        }
        "foxglove_msgs/CameraCalibration" if wire == Wire::Cdr => {
            "builtin_interfaces/Time timestamp\nstring frame_id\nuint32 width\nuint32 height\n\
             string distortion_model\nfloat64[] d\nfloat64[9] k\nfloat64[9] r\nfloat64[12] p"
        }
        _ => return None,
    })
}
