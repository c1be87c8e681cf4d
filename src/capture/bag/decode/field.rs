//! Fields of a message, and why one cannot be used.

use super::value::Value;
use crate::time::Timestamp;

/// Why a message is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It does not parse, or a field that its type must have is missing.
    Malformed(String),
    /// It parses, but what is in it cannot be decoded.
    Undecodable(String),
    /// It is whole, but nothing that is played: depth, say.
    NotPlayed(String),
}

pub(in crate::capture::bag) fn missing(field: &str) -> Refused {
    Refused::Malformed(format!("no usable field {field}"))
}

/// `header.stamp` (ROS) or `timestamp` (Foxglove).
pub(in crate::capture::bag) fn stamp(message: &Value<'_>) -> Option<Timestamp> {
    message.at("header.stamp").or_else(|| message.get("timestamp"))?.instant()
}

/// `header.frame_id` (ROS) or `frame_id` (Foxglove).
pub(in crate::capture::bag) fn frame_id(message: &Value<'_>) -> Option<String> {
    let value = message.at("header.frame_id").or_else(|| message.get("frame_id"))?;
    Some(value.text()?.trim_start_matches('/').to_owned())
}

pub(in crate::capture::bag) fn text<'m>(
    message: &'m Value<'_>,
    field: &str,
) -> Result<&'m str, Refused> {
    message.get(field).and_then(Value::text).ok_or_else(|| missing(field))
}

pub(in crate::capture::bag) fn count(message: &Value<'_>, field: &str) -> Result<u32, Refused> {
    message.get(field).and_then(Value::count).ok_or_else(|| missing(field))
}
