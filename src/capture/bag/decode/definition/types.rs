//! One form for what messages look like.

/// Types that one definition may have.
pub(super) const MAX_TYPES: usize = 4_096;

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

/// `sensor_msgs/msg/Image` and `sensor_msgs/Image` alike → `sensor_msgs/Image`.
pub(in crate::capture::bag) fn short_name(schema: &str) -> String {
    schema.replacen("/msg/", "/", 1)
}
