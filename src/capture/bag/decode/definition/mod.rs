//! What a bag's messages look like: one form for ROS 1, ROS 2 and protobuf definitions.
//!
//! A definition is parsed once, when the bag is opened, from the text or descriptor that the bag carries
//! ([`ros`], [`protobuf`]); [`built_in`] stands in only where a bag carries none. [`super::value`] walks a
//! message's bytes along it. JSON messages describe themselves and need no definition.

pub(in crate::capture::bag) mod built_in;
mod protobuf;
mod ros;
pub(in crate::capture::bag) mod types;

pub use types::Definition;
pub(in crate::capture::bag) use types::{Wire, short_name};

/// Definitions longer than this are refused: a real one has a few kilobytes.
const MAX_DEFINITION_BYTES: usize = 4 << 20;

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
