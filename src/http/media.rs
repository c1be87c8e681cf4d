//! `GET /api/media/<name>`: faces, key frames and sounds that are kept, whole or in part.

use std::ops::Range;

use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::{Map, Value};

use super::Door;
use super::commands::run;
use super::reply::Problem;
use super::visitor::Visitor;
use crate::ids::{ClipId, TurnId};
use crate::mqtt::message::QueryVerb;

/// The largest file there is, with room.
const MOST_BYTES: usize = 1 << 20;

/// `GET /api/media/<digest>`, `/<entity>`, `/<session>/<clip>`, `/<session>/<clip>/<turn>`.
pub(super) async fn media(
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let whole = run(&door, QueryVerb::Media, args(&name), None, &visitor).await?;
    if whole.status() != StatusCode::OK {
        return Ok(whole);
    }
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    Ok(partial(whole, range).await)
}

/// What is asked for by that name.
fn args(name: &str) -> Map<String, Value> {
    let mut args = Map::new();
    let mut say = |key: &str, value: &str| args.insert(key.to_owned(), Value::from(value));
    let is_digest = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let turn = name
        .rsplit_once('/')
        .filter(|(clip, turn)| clip.parse::<ClipId>().is_ok() && turn.parse::<TurnId>().is_ok());
    if let Some((clip, turn)) = turn {
        say("clip", clip);
        say("turn", turn);
    } else if name.parse::<ClipId>().is_ok() {
        say("clip", name);
    } else {
        say(if is_digest { "digest" } else { "entity" }, name);
    }
    args
}

/// The response, or the part of it that was asked for (RFC 9110, 14).
async fn partial(whole: Response, range: Option<&str>) -> Response {
    let (mut head, body) = whole.into_parts();
    head.headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let Some(range) = range else { return Response::from_parts(head, body) };
    // It is in memory already, whole.
    let Ok(bytes) = axum::body::to_bytes(body, MOST_BYTES).await else {
        head.status = StatusCode::INTERNAL_SERVER_ERROR;
        return Response::from_parts(head, Body::empty());
    };
    let told = |text: String| HeaderValue::from_str(&text).ok();
    match wanted(range, bytes.len()) {
        Wanted::Whole => Response::from_parts(head, bytes.into()),
        Wanted::Part(part) => {
            head.status = StatusCode::PARTIAL_CONTENT;
            let text = format!("bytes {}-{}/{}", part.start, part.end - 1, bytes.len());
            head.headers.extend(told(text).map(|text| (header::CONTENT_RANGE, text)));
            Response::from_parts(head, bytes.slice(part).into())
        }
        Wanted::Nothing => {
            head.status = StatusCode::RANGE_NOT_SATISFIABLE;
            let text = format!("bytes */{}", bytes.len());
            head.headers.extend(told(text).map(|text| (header::CONTENT_RANGE, text)));
            Response::from_parts(head, Body::empty())
        }
    }
}

/// What a `Range` asks for.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// No range of bytes, or several, which may be answered with everything.
    Whole,
    Part(Range<usize>),
    /// It lies behind the end.
    Nothing,
}

fn wanted(range: &str, length: usize) -> Wanted {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return Wanted::Whole;
    };
    let number = |text: &str| text.parse::<usize>().ok();
    let part = match (first, last) {
        ("", last) => match number(last) {
            Some(last) => length.saturating_sub(last)..length,
            None => return Wanted::Whole,
        },
        (first, "") => match number(first) {
            Some(first) => first..length,
            None => return Wanted::Whole,
        },
        (first, last) => match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(length),
            _ => return Wanted::Whole,
        },
    };
    if part.start < part.end { Wanted::Part(part) } else { Wanted::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_what_it_is() {
        let read = |name: &str| Value::Object(args(name)).to_string();
        assert_eq!(read(&"a1".repeat(32)), format!("{{\"digest\":\"{}\"}}", "a1".repeat(32)));
        assert_eq!(read("person_4"), r#"{"entity":"person_4"}"#);
        assert_eq!(read("s1/0"), r#"{"clip":"s1/0"}"#);
        assert_eq!(read("s1/0/turn_3"), r#"{"clip":"s1/0","turn":"turn_3"}"#);
        assert_eq!(read("../engram.db"), r#"{"entity":"../engram.db"}"#);
    }

    #[test]
    fn a_range_is_a_part_everything_or_nothing() {
        assert_eq!(wanted("bytes=0-3", 10), Wanted::Part(0..4));
        assert_eq!(wanted("bytes=4-", 10), Wanted::Part(4..10));
        assert_eq!(wanted("bytes=-3", 10), Wanted::Part(7..10));
        assert_eq!(wanted("bytes=-30", 10), Wanted::Part(0..10));
        assert_eq!(wanted("bytes=8-99999999999", 10), Wanted::Part(8..10));
        for nothing in ["bytes=10-", "bytes=12-14", "bytes=-0"] {
            assert_eq!(wanted(nothing, 10), Wanted::Nothing, "{nothing}");
        }
        for whole in ["bytes=0-1,4-5", "bytes=5-2", "lines=0-3", "bytes=x-", "bytes=--1", ""] {
            assert_eq!(wanted(whole, 10), Wanted::Whole, "{whole}");
        }
    }
}
