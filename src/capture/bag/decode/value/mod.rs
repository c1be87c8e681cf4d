//! A message's bytes → its values by name, whatever wrote them: CDR, ROS 1, protobuf or JSON.
//!
//! Pure functions over bytes; nothing panics, and no message takes more memory than a small multiple of
//! its own length. Byte arrays are borrowed, everything else is small.

mod json;
pub(in crate::capture::bag) mod protobuf;
mod ros;
mod values;

pub use values::Value;

use super::definition::{Definition, Wire};

/// Takes a message apart.
///
/// `definition` is needed for everything but JSON.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse<'a>(
    definition: Option<&'a Definition>,
    encoding: &str,
    data: &'a [u8],
) -> Result<Value<'a>, String> {
    match definition {
        Some(definition) if definition.wire == Wire::Protobuf => protobuf::walk(definition, data),
        Some(definition) => ros::walk(definition, data),
        None if encoding == "json" => json::walk(data),
        None => Err(format!("no definition of these messages in {encoding:?}")),
    }
}
