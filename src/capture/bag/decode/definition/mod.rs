//! What a bag's messages look like: one form for ROS 1, ROS 2 and protobuf definitions.
//!
//! A definition is parsed once, when the bag is opened, from the text or descriptor that the bag carries
//! ([`ros`], [`protobuf`]); [`built_in`] stands in only where a bag carries none. [`super::value`] walks a
//! message's bytes along it. JSON messages describe themselves and need no definition.

pub(in crate::capture::bag) mod built_in;
mod protobuf;
mod ros;

/// Definitions longer than this are refused: a real one has a few kilobytes.
const MAX_DEFINITION_BYTES: usize = 4 << 20;
/// Types that one definition may have.
const MAX_TYPES: usize = 4_096;

/// A message type with every type that it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The type itself comes first.
    pub(in crate::capture::bag) types: Vec<MessageType>,
    /// How its messages lie in bytes.
    pub(in crate::capture::bag) wire: Wire,
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture::bag) enum Wire {
    /// ROS 2: the OMG's Common Data Representation.
    Cdr,
    /// ROS 1: little-endian, packed.
    Ros1,
    /// Protocol Buffers.
    Protobuf,
}

/// Named fields in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::capture::bag) struct MessageType {
    /// `package/Name`, or protobuf's full name.
    pub(in crate::capture::bag) name: String,
    pub(in crate::capture::bag) fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::capture::bag) struct Field {
    pub(in crate::capture::bag) name: String,
    /// Protobuf's field number; 0 elsewhere.
    pub(in crate::capture::bag) number: u32,
    pub(in crate::capture::bag) form: Form,
    pub(in crate::capture::bag) shape: Shape,
}

/// What one value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture::bag) enum Form {
    Bool,
    /// 1, 2, 4 or 8 bytes, fixed.
    Integer {
        bytes: usize,
        signed: bool,
    },
    /// Protobuf's variable length; `zigzag` for `sint32` and `sint64`.
    Varint {
        signed: bool,
        zigzag: bool,
    },
    /// 4 or 8 bytes.
    Float {
        bytes: usize,
    },
    Text,
    /// Protobuf's `bytes`.
    Bytes,
    /// ROS 1: seconds and nanoseconds, `signed` for a duration.
    Time {
        signed: bool,
    },
    /// Index into [`Definition::types`].
    Record(usize),
}

/// How many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture::bag) enum Shape {
    One,
    /// So many, without a count before them.
    Array(usize),
    /// A count, then so many.
    Sequence,
}

impl Definition {
    /// Parses what a bag says about a type.
    ///
    /// `schema` is the type's name, `message_encoding` how its messages are written (`cdr`, `ros1`,
    /// `protobuf`), `encoding` the definition's language (`ros2msg`, `ros1msg`, `protobuf`).
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(
        schema: &str,
        message_encoding: &str,
        encoding: &str,
        text: &[u8],
    ) -> Result<Self, String> {
        if text.len() > MAX_DEFINITION_BYTES {
            return Err(format!("a definition of {} bytes", text.len()));
        }
        match (message_encoding, encoding) {
            ("cdr", "ros2msg") => ros::parse(schema, Wire::Cdr, &String::from_utf8_lossy(text)),
            ("ros1", "ros1msg") => ros::parse(schema, Wire::Ros1, &String::from_utf8_lossy(text)),
            ("protobuf", "protobuf") => protobuf::parse(schema, text),
            (_, other) => {
                Err(format!("a definition in {other:?} of messages in {message_encoding:?}"))
            }
        }
    }
}

impl Definition {
    /// The definition that this program knows of a ROS type, for bags that carry none.
    #[must_use]
    pub fn built_in(schema: &str, message_encoding: &str) -> Option<Self> {
        let wire = match message_encoding {
            "cdr" => Wire::Cdr,
            "ros1" => Wire::Ros1,
            _ => return None,
        };
        let text = built_in::ros(&short_name(schema), wire)?;
        ros::parse(schema, wire, text).ok()
    }
}

/// `sensor_msgs/msg/Image` and `sensor_msgs/Image` alike → `sensor_msgs/Image`.
pub(in crate::capture::bag) fn short_name(schema: &str) -> String {
    schema.replacen("/msg/", "/", 1)
}
