//! Foxglove's protobuf types that are played: of each the `FileDescriptorSet`, as MCAP carries it, and a message.
//! Fields have the numbers of <https://github.com/foxglove/foxglove-sdk/tree/main/schemas/proto>.

/// Name, number and type of a field; `[]`: repeated.
type Field = (&'static str, u64, &'static str);

const TIME: Field = ("timestamp", 1, "google.protobuf.Timestamp");

/// Types with their fields.
const TYPES: [(&str, &[Field]); 13] = [
    ("google.protobuf.Timestamp", &[("seconds", 1, "int64"), ("nanos", 2, "int32")]),
    ("foxglove.Vector3", &[("x", 1, "double"), ("y", 2, "double"), ("z", 3, "double")]),
    (
        "foxglove.Quaternion",
        &[("x", 1, "double"), ("y", 2, "double"), ("z", 3, "double"), ("w", 4, "double")],
    ),
    (
        "foxglove.Pose",
        &[("position", 1, "foxglove.Vector3"), ("orientation", 2, "foxglove.Quaternion")],
    ),
    (
        "foxglove.RawImage",
        &[
            TIME,
            ("frame_id", 7, "string"),
            ("width", 2, "fixed32"),
            ("height", 3, "fixed32"),
            ("encoding", 4, "string"),
            ("step", 5, "fixed32"),
            ("data", 6, "bytes"),
        ],
    ),
    (
        "foxglove.CompressedImage",
        &[TIME, ("frame_id", 4, "string"), ("data", 2, "bytes"), ("format", 3, "string")],
    ),
    (
        "foxglove.CompressedVideo",
        &[TIME, ("frame_id", 2, "string"), ("data", 3, "bytes"), ("format", 4, "string")],
    ),
    (
        "foxglove.RawAudio",
        &[
            TIME,
            ("data", 2, "bytes"),
            ("format", 3, "string"),
            ("sample_rate", 4, "fixed32"),
            ("number_of_channels", 5, "fixed32"),
        ],
    ),
    ("foxglove.CompressedAudio", &[TIME, ("data", 2, "bytes"), ("format", 3, "string")]),
    ("foxglove.PoseInFrame", &[TIME, ("frame_id", 2, "string"), ("pose", 3, "foxglove.Pose")]),
    (
        "foxglove.FrameTransform",
        &[
            TIME,
            ("parent_frame_id", 2, "string"),
            ("child_frame_id", 3, "string"),
            ("translation", 4, "foxglove.Vector3"),
            ("rotation", 5, "foxglove.Quaternion"),
        ],
    ),
    ("foxglove.FrameTransforms", &[("transforms", 1, "foxglove.FrameTransform[]")]),
    (
        "foxglove.CameraCalibration",
        &[
            TIME,
            ("frame_id", 9, "string"),
            ("width", 2, "fixed32"),
            ("height", 3, "fixed32"),
            ("distortion_model", 4, "string"),
            ("D", 5, "double[]"),
            ("K", 6, "double[]"),
            ("R", 7, "double[]"),
            ("P", 8, "double[]"),
        ],
    ),
];

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn double(field: u64, value: f64) -> Vec<u8> {
    [varint((field << 3) | 1), value.to_le_bytes().to_vec()].concat()
}

fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint((field << 3) | 2), varint(value.len() as u64), value.to_vec()].concat()
}

fn fixed32(field: u64, value: u32) -> Vec<u8> {
    [varint((field << 3) | 5), value.to_le_bytes().to_vec()].concat()
}

/// Packed into one run.
fn doubles(field: u64, values: &[f64]) -> Vec<u8> {
    let run: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    bytes(field, &run)
}

fn fields(name: &str) -> &'static [Field] {
    TYPES.iter().find(|(own, _)| *own == name).map(|(_, fields)| *fields).unwrap()
}

/// `FieldDescriptorProto.Type`; `None`: a message.
fn scalar(kind: &str) -> Option<u64> {
    Some(match kind {
        "double" => 1,
        "int64" => 3,
        "int32" => 5,
        "fixed32" => 7,
        "string" => 9,
        "bytes" => 12,
        _ => return None,
    })
}

/// `FileDescriptorProto` of one type: package = 2, message_type = 4; in that name = 1, field = 2.
fn file(kind: &str) -> Vec<u8> {
    let (package, short) = kind.rsplit_once('.').unwrap();
    let mut message = bytes(1, short.as_bytes());
    for (name, place, kind) in fields(kind) {
        let (label, kind) = kind.strip_suffix("[]").map_or((1, *kind), |kind| (3, kind));
        // name = 1, number = 3, label = 4, type = 5, type_name = 6
        let mut field = [bytes(1, name.as_bytes()), number(3, *place), number(4, label)].concat();
        match scalar(kind) {
            Some(code) => field.extend(number(5, code)),
            None => field.extend([number(5, 11), bytes(6, format!(".{kind}").as_bytes())].concat()),
        }
        message.extend(bytes(2, &field));
    }
    [bytes(2, package.as_bytes()), bytes(4, &message)].concat()
}

/// The set of a type and of all that it uses.
pub(super) fn descriptors(kind: &'static str) -> Vec<u8> {
    let (mut used, mut at) = (vec![kind], 0);
    while let Some(kind) = used.get(at).copied() {
        at += 1;
        for (_, _, kind) in fields(kind) {
            let kind = kind.trim_end_matches("[]");
            if scalar(kind).is_none() && !used.contains(&kind) {
                used.push(kind);
            }
        }
    }
    used.iter().flat_map(|kind| bytes(1, &file(kind))).collect()
}

/// A `foxglove.PoseInFrame` that is half a turn to the left of nowhere.
pub(super) fn placeless_pose() -> Vec<u8> {
    let turn = bytes(2, &double(3, 1.0));
    [bytes(2, b"map"), bytes(3, &turn)].concat()
}

/// A message of the type; `picture`: a PNG file.
pub(super) fn message(kind: &str, picture: &[u8]) -> Vec<u8> {
    let time = bytes(1, &[number(1, 1_772_612_100), number(2, 5)].concat());
    let text = |field, text: &str| bytes(field, text.as_bytes());
    // What is zero is left out.
    let place = |field| bytes(field, &[double(1, 1.0), double(2, -2.0)].concat());
    let turn = |field| bytes(field, &[double(3, 0.6), double(4, 0.8)].concat());
    let transform =
        [time.clone(), text(2, "map"), text(3, "base_link"), place(4), turn(5)].concat();
    match kind {
        "foxglove.RawImage" => [
            time,
            text(7, "camera"),
            fixed32(2, 1),
            fixed32(3, 1),
            text(4, "rgb8"),
            fixed32(5, 3),
            bytes(6, &[1, 2, 3]),
        ]
        .concat(),
        "foxglove.CompressedImage" => {
            [time, text(4, "camera"), bytes(2, picture), text(3, "png")].concat()
        }
        "foxglove.CompressedVideo" => {
            [time, text(2, "camera"), bytes(3, &[0, 0, 0, 1, 9, 0xf0]), text(4, "h264")].concat()
        }
        "foxglove.RawAudio" => {
            let (rate, channels) = (fixed32(4, 16_000), fixed32(5, 1));
            [time, bytes(2, &[0; 8]), text(3, "pcm-s16"), rate, channels].concat()
        }
        "foxglove.CompressedAudio" => {
            [time, bytes(2, &[0xf8, 0xff, 0xfe]), text(3, "opus")].concat()
        }
        "foxglove.PoseInFrame" => {
            [time, text(2, "map"), bytes(3, &[place(1), turn(2)].concat())].concat()
        }
        "foxglove.FrameTransform" => transform,
        "foxglove.FrameTransforms" => bytes(1, &transform).repeat(2),
        "foxglove.CameraCalibration" => [
            time,
            text(9, "camera"),
            fixed32(2, 640),
            fixed32(3, 480),
            text(4, "plumb_bob"),
            doubles(5, &[0.1, 0.0, 0.0, 0.0, 0.0]),
            doubles(6, &[400.0, 0.0, 320.0, 0.0, 400.0, 240.0, 0.0, 0.0, 1.0]),
            doubles(7, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
            doubles(8, &[400.0, 0.0, 320.0, 0.0, 0.0, 400.0, 240.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        ]
        .concat(),
        other => panic!("no message of {other}"),
    }
}
