//! Words that a bag tells in writing: the output of another recogniser, as `std_msgs/String` or JSON.
//!
//! The text is the words alone, or a JSON object `{"text","start"?,"end"?}`; JSON messages of any type have these
//! fields (or `transcript`, `data`) themselves.

use serde_json::Value as Json;

use super::field::{Refused, missing};
use super::value::Value;
use crate::time::{Span, Timestamp};

/// Longer texts are nobody's words.
const MOST_BYTES: usize = 64 * 1024;
/// Where the words may stand, best first.
const FIELDS: [&str; 3] = ["text", "transcript", "data"];

/// What was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The words, not empty.
    pub text: String,
    /// When they were said, where it says so.
    pub span: Option<Span>,
}

/// Reads a message's values; `None` where it has no words.
///
/// # Errors
/// When there is no text field, or a time that is none.
pub(in crate::capture::bag) fn told_words(message: &Value<'_>) -> Result<Option<Told>, Refused> {
    let text = FIELDS.iter().find_map(|name| message.get(name).and_then(Value::text));
    let text = text.ok_or_else(|| missing("text"))?;
    if text.len() > MOST_BYTES {
        return Err(Refused::Malformed(format!("{} bytes of text", text.len())));
    }
    // A text may hold an object that tells more.
    let inner = text.trim_start().starts_with('{').then(|| serde_json::from_str::<Json>(text).ok());
    let told = match inner.flatten() {
        Some(Json::Object(object)) => {
            let text = FIELDS.iter().find_map(|name| object.get(*name).and_then(Json::as_str));
            let Some(text) = text else { return Err(missing("text")) };
            let time = |name: &str| object.get(name).map(|time| json_time(name, time)).transpose();
            (text.to_owned(), time("start")?.flatten(), time("end")?.flatten())
        }
        _ => {
            let time = |name: &str| message.get(name).map(|value| time(name, value)).transpose();
            (text.to_owned(), time("start")?.flatten(), time("end")?.flatten())
        }
    };
    let (text, start, end) = told;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let span = match (start, end) {
        (Some(start), Some(end)) => Some(Span::new(start, end.max(start))),
        (Some(one), None) | (None, Some(one)) => Some(Span::new(one, one)),
        (None, None) => None,
    };
    Ok((!text.is_empty()).then_some(Told { text, span }))
}

fn wrong(name: &str) -> Refused {
    Refused::Malformed(format!("{name} is no time (RFC 3339, or integer nanoseconds since 1970)"))
}

/// `None`: not set.
fn json_time(name: &str, value: &Json) -> Result<Option<Timestamp>, Refused> {
    match value {
        Json::Null => Ok(None),
        Json::String(text) => Timestamp::parse(text).map(Some).map_err(|_| wrong(name)),
        Json::Number(number) => number
            .as_i64()
            .map(|nanos| Some(Timestamp::from_nanos(nanos)))
            .ok_or_else(|| wrong(name)),
        _ => Err(wrong(name)),
    }
}

/// `None`: not set.
fn time(name: &str, value: &Value<'_>) -> Result<Option<Timestamp>, Refused> {
    match value {
        // What JSON's null is read as.
        Value::Bool(false) => Ok(None),
        Value::Text(text) => Timestamp::parse(text).map(Some).map_err(|_| wrong(name)),
        Value::Integer(nanos) => Ok(Some(Timestamp::from_nanos(*nanos))),
        Value::Record(_) | Value::Time(_) => Ok(value.instant()),
        _ => Err(wrong(name)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::capture::bag::connection::Connection;
    use crate::capture::bag::decode::cdr::Cdr;
    use crate::capture::bag::decode::message::Decoded;

    fn told(schema: &str, encoding: &str, data: &[u8]) -> Result<Option<Told>, Refused> {
        let (connection, flaw) = Connection::new("t", schema, encoding, None);
        assert_eq!(flaw, None);
        connection.decode(data).unwrap().map(|decoded| match decoded {
            Decoded::Words(told) => told,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn words_are_read_alone_or_with_their_times() {
        let plain = Told { text: "hello there".to_owned(), span: None };
        let at = |secs: f64| Timestamp::from_nanos(1_772_612_100_000_000_000).plus_secs(secs);
        let timed = Told { span: Some(Span::new(at(0.0), at(1.5))), ..plain.clone() };
        let ros2 = |text: &str| Cdr::ros2().text(text).message();
        let ros1 = |text: &str| Cdr::ros1().text(text).message();
        let string = "std_msgs/msg/String";
        assert_eq!(told(string, "cdr", &ros2(" hello  there\n")), Ok(Some(plain.clone())));
        assert_eq!(told("std_msgs/String", "ros1", &ros1("hello there")), Ok(Some(plain.clone())));
        assert_eq!(told(string, "cdr", &ros2("  ")), Ok(None));
        let object =
            r#"{"text":"hello there","start":"2026-03-04T08:15:00Z","end":1772612101500000000}"#;
        assert_eq!(told(string, "cdr", &ros2(object)), Ok(Some(timed.clone())));
        assert_eq!(told("any.Words", "json", object.as_bytes()), Ok(Some(timed)));
        let data = br#"{"data":"hello there"}"#;
        assert_eq!(told("std_msgs/String", "json", data), Ok(Some(plain.clone())));
        let null = br#"{"transcript":"hello there","start":null,"confidence":0.5}"#;
        assert_eq!(told("any.Words", "json", null), Ok(Some(plain)));
        for wrong in
            [r#"{"start":1}"#, r#"{"text":"a","start":"soon"}"#, r#"{"text":"a","end":1.5}"#]
        {
            assert!(told(string, "cdr", &ros2(wrong)).is_err(), "{wrong}");
            assert!(told("any.Words", "json", wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
