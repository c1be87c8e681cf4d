//! Questions, queries and commands: the body is the payload that MQTT has, the reply the document that MQTT has.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Door;
use super::reply::{self, JSON, Problem};
use super::visitor::Visitor;
use crate::mqtt::message::{Effort, QueryVerb};
use crate::mqtt::{MAX_SAMPLES_BYTES, MAX_TEXT_BYTES, Refusal};

/// How long a body may take to come in. (Tests have no time.)
const BODY_TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 10 });
/// How long a reply is waited for; a question's own time allowed, and a little.
pub(super) const REPLY_TIMEOUT: Duration = Duration::from_secs(120);
const MARGIN: Duration = Duration::from_secs(10);
/// What a request with samples, or a document, has besides them, bytes.
const AROUND_SAMPLES: usize = 8 * 1024;

/// Commands that each have a path of their own. (A path with a place for the word would be read decoded, and its right told by
/// the path as it came.)
pub(super) const COMMANDS: [&str; 12] = [
    "remember", "forget", "pin", "name", "identify", "people", "feedback", "privacy", "pose",
    "speaking", "snapshot", "watch",
];

/// `POST /api/ask`.
pub(super) async fn ask(
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let payload = read(body, &headers, MAX_TEXT_BYTES).await?;
    let timeout = patience(&payload);
    send(&door, "ask", payload.into(), is_json(&headers), &visitor, timeout).await
}

/// `POST /api/<command>`, one of [`COMMANDS`].
pub(super) async fn command(
    command: &'static str,
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let most = match command {
        "name" | "identify" | "remember" => MAX_SAMPLES_BYTES + AROUND_SAMPLES,
        _ => MAX_TEXT_BYTES,
    };
    let payload = read(body, &headers, most).await?;
    send(&door, command, payload.into(), true, &visitor, REPLY_TIMEOUT).await
}

/// `POST /api/replay/<verb>`.
pub(super) async fn replay(
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
    Path(verb): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let payload = read(body, &headers, MAX_TEXT_BYTES).await?;
    send(&door, &format!("replay/{verb}"), payload.into(), true, &visitor, REPLY_TIMEOUT).await
}

/// `POST /api/query/<verb>`: the body is `args`, and may hold an `id`.
pub(super) async fn query(
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
    Path(verb): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let verb = verb_of(&verb)?;
    let body = read(body, &headers, MAX_TEXT_BYTES).await?;
    let mut args: Map<String, Value> = match &body[..] {
        [] => Map::new(),
        text => serde_json::from_slice(text).map_err(|error| {
            Refusal::bad_request(format!(
                "the body must be a JSON object, the arguments of {}: {error}",
                verb.word()
            ))
        })?,
    };
    let id = args.shift_remove("id");
    run(&door, verb, args, id, &visitor).await
}

/// Has a reading command carried out.
pub(super) async fn run(
    door: &Door,
    verb: QueryVerb,
    args: Map<String, Value>,
    id: Option<Value>,
    visitor: &Visitor,
) -> Result<Response, Problem> {
    let mut payload = json!({ "verb": verb, "args": args });
    if let (Some(id), Some(payload)) = (id, payload.as_object_mut()) {
        payload.insert("id".to_owned(), id);
    }
    send(door, "query", payload.to_string().into_bytes(), true, visitor, REPLY_TIMEOUT).await
}

fn verb_of(word: &str) -> Result<QueryVerb, Problem> {
    serde_json::from_value(Value::from(word)).map_err(|_| {
        Refusal::not_found(format!(
            "there is no /api/query/{word}; /openapi.json tells what there is"
        ))
        .into()
    })
}

async fn send(
    door: &Door,
    below: &str,
    payload: Vec<u8>,
    json: bool,
    visitor: &Visitor,
    timeout: Duration,
) -> Result<Response, Problem> {
    let request = door.requests.request(below, payload, json, visitor.asker());
    match tokio::time::timeout(timeout, request).await {
        Ok(Some(response)) => Ok(reply::of(response)),
        Ok(None) => {
            let why =
                "no reply came: the daemon stops, or too many sent this at once; send it again";
            Err(Refusal::unavailable(why).into())
        }
        Err(_) => Err(Problem::with(
            StatusCode::GATEWAY_TIMEOUT,
            format!(
                "no reply within {} s; the request may still be carried out",
                timeout.as_secs()
            ),
        )),
    }
}

/// How long an answer to that question is waited for.
fn patience(payload: &[u8]) -> Duration {
    #[derive(Deserialize)]
    struct Allowed {
        #[serde(default)]
        effort: Effort,
        deadline_ms: Option<u64>,
    }
    let allowed: Option<Allowed> = serde_json::from_slice(payload).ok();
    let ms = allowed.map_or(Effort::Fast.default_deadline_ms(), |allowed| {
        allowed.deadline_ms.unwrap_or(allowed.effort.default_deadline_ms())
    });
    Duration::from_millis(ms).saturating_add(MARGIN)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with(JSON))
}

/// The whole body, of at most so many bytes.
pub(super) async fn read(body: Body, headers: &HeaderMap, most: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        Refusal::too_large(format!(
            "the body has more than the {most} bytes that are worked on; shorten it"
        ))
        .into()
    };
    let told = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if told.and_then(|length| length.parse::<u64>().ok()).is_some_and(|bytes| bytes > most as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        // Broken off, or longer than it may be: to whoever broke it off it is all the same.
        Ok(Err(_)) => Err(too_large()),
        Err(_) => {
            let message = format!("the body did not come within {} s", BODY_TIMEOUT.as_secs());
            Err(Problem::with(StatusCode::REQUEST_TIMEOUT, message))
        }
    }
}

/// No such path below `/api/`, or anywhere.
pub(super) async fn nothing() -> Response {
    Problem::from(Refusal::not_found("there is nothing here; /openapi.json tells what there is"))
        .into_response()
}

/// A path, but not with that method.
pub(super) async fn wrong_method() -> Response {
    let message = "this path is not for that method; /openapi.json tells which there are";
    Problem::with(StatusCode::METHOD_NOT_ALLOWED, message).into_response()
}
