//! `GET /openapi.json`: what there is, as OpenAPI 3.1, made from the schemas of docs/mqtt.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::reply::{self, JSON};

macro_rules! schemas {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each schema.
        const SCHEMAS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../docs/mqtt/", $name, ".schema.json")))),*];
    };
}

schemas!(
    "answer",
    "ask",
    "clock",
    "describe",
    "done",
    "error",
    "event-memory",
    "event-person",
    "event-speech",
    "event-visit",
    "event-watch",
    "feedback",
    "forget",
    "home",
    "identified",
    "identify",
    "name",
    "people",
    "pin",
    "pose",
    "privacy",
    "progress",
    "query",
    "remember",
    "replay",
    "say",
    "snapshot",
    "speaking",
    "stats",
    "status",
    "watch",
);

/// Commands that are answered with `done`, and what each is for.
const COMMANDS: [(&str, &str); 11] = [
    ("remember", "Tell something to remember."),
    ("forget", "Erase somebody, a memory, facts or a stretch of time. It really is erased."),
    ("pin", "Keep a memory whatever fades and ages, or let it go its way again."),
    ("name", "Give somebody a name; show a picture of them, or play their voice."),
    ("people", "Overrule who is who: merge, split."),
    ("feedback", "Say whether an answer was right."),
    ("privacy", "Switch the microphones off or on."),
    ("pose", "Where the robot is."),
    ("speaking", "What the robot itself says."),
    ("snapshot", "Keep a part of the ring as MCAP, or take one away."),
    ("watch", "Set a standing question, or take one away."),
];

static DOCUMENT: LazyLock<String> = LazyLock::new(|| document().to_string());

/// `GET /openapi.json`.
pub(super) async fn openapi() -> Response {
    reply::bytes(StatusCode::OK, JSON, DOCUMENT.as_str())
}

/// The whole document.
pub(super) fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "engram",
            "summary": "A memory for robots, over HTTP.",
            "description": "Payloads and replies are those of MQTT. A POST needs the header `X-Engram: 1`, or a token.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{}, { "login": [] }, { "token": [] }],
        "paths": paths(),
        "components": {
            "schemas": schemas(),
            "securitySchemes": {
                "login": { "type": "apiKey", "in": "cookie", "name": super::guard::COOKIE },
                "token": { "type": "http", "scheme": "bearer" },
            },
        },
    })
}

/// The schemas of docs/mqtt by name, and what is of HTTP alone.
fn schemas() -> Value {
    let mut schemas = Map::new();
    for (name, text) in SCHEMAS {
        // (A test reads each of them.)
        let Ok(Value::Object(mut schema)) = serde_json::from_str(text) else { continue };
        // Within this document references go by place.
        schema.shift_remove("$schema");
        schema.shift_remove("$id");
        schemas.insert((*name).to_owned(), Value::Object(schema));
    }
    schemas.insert(
        "login".to_owned(),
        json!({
            "type": "object",
            "properties": { "user": { "type": "string" }, "password": { "type": "string" } },
            "required": ["user", "password"],
            "additionalProperties": false,
        }),
    );
    schemas.insert(
        "me".to_owned(),
        json!({
            "type": "object",
            "properties": {
                "user": { "type": ["string", "null"] },
                "roles": { "type": "array", "items": { "enum": ["look", "ask", "operate", "erase"] } },
                "login": { "type": "boolean", "description": "whether users are configured" },
            },
            "required": ["user", "roles", "login"],
            "additionalProperties": false,
        }),
    );
    schemas.insert(
        "args".to_owned(),
        json!({
            "type": "object",
            "description": "The arguments of the verb (docs/mqtt.md, Verbs of query); `id`: carried out once.",
            "properties": { "id": { "type": "string", "minLength": 1, "maxLength": 128 } },
        }),
    );
    Value::Object(schemas)
}

fn paths() -> Value {
    let mut paths = Map::new();
    let mut put = |path: &str, item: Value| paths.insert(path.to_owned(), item);
    put("/api/ask", json!({ "post": post("Ask a question.", "ask", "ask", schema("answer")) }));
    let who = "Whose a face or a voice is. Nothing of the sample is kept.";
    put("/api/identify", json!({ "post": post(who, "look", "identify", schema("identified")) }));
    for (name, what) in COMMANDS {
        let role = if name == "forget" { "erase" } else { "operate" };
        put(&format!("/api/{name}"), json!({ "post": post(what, role, name, schema("done")) }));
    }
    let verb = |schema: &str| words_of(schema, "verb");
    let mut query = post("Read.", "look", "args", json!({}));
    query["parameters"] = json!([parameter("verb", "path", json!({ "enum": verb("query") }))]);
    query["requestBody"]["required"] = json!(false);
    put("/api/query/{verb}", json!({ "post": query }));
    let mut replay = post("Steer a replay.", "operate", "replay", schema("done"));
    let verbs = ["pause", "resume", "rate", "seek", "step", "burst", "stop", "play"];
    replay["parameters"] = json!([parameter("verb", "path", json!({ "enum": verbs }))]);
    replay["requestBody"]["required"] = json!(false);
    put("/api/replay/{verb}", json!({ "post": replay }));
    for (name, what) in [
        ("status", "Whether it is there, and what is impaired."),
        ("stats", "Rates, drops, lags, queues, counts, latencies."),
        ("describe", "What it can do, and with what."),
    ] {
        put(&format!("/api/{name}"), json!({ "get": get(what, "look", JSON, schema(name)) }));
    }
    let mut events = get(
        "What is published, as server-sent events: `event` is the topic below the robot's, `id` its number, `data` its JSON.",
        "look or ask",
        "text/event-stream",
        json!({ "type": "string" }),
    );
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer", "minimum": 0 });
    events["parameters"] = json!([
        parameter("topics", "query", text.clone()),
        parameter("after", "query", number.clone()),
        parameter("Last-Event-ID", "header", number),
    ]);
    put("/api/events", json!({ "get": events }));
    let bytes = json!({ "type": "string", "contentEncoding": "binary" });
    for (path, name, what, kind) in [
        (
            "/api/media/{name}",
            "name",
            "A face, a key frame or a sound: by digest, entity, SESSION/CLIP or SESSION/CLIP/TURN.",
            "*/*",
        ),
        (
            "/api/snapshots/{name}",
            "name",
            "A snapshot, as the verb `snapshots` names it: MCAP; with `.mp4` behind the name as a film, of `?camera=` where there are several.",
            "application/octet-stream",
        ),
        ("/api/still/{camera}", "camera", "A camera's newest picture.", "image/jpeg"),
        (
            "/api/live/{camera}",
            "camera",
            "A camera's pictures, as MJPEG.",
            "multipart/x-mixed-replace",
        ),
    ] {
        let mut item = get(what, "look", kind, bytes.clone());
        item["parameters"] = json!([parameter(name, "path", text.clone())]);
        put(path, json!({ "get": item }));
    }
    put(
        "/api/me",
        json!({ "get": get("Who asks, and what they may.", "none", JSON, schema("me")) }),
    );
    let nothing = json!({ "204": { "description": "done" }, "default": refused() });
    let login = json!({ "content": { JSON: { "schema": schema("login") } }, "required": true });
    put(
        "/api/login",
        json!({ "post": { "summary": "Log in.", "requestBody": login, "responses": nothing.clone() } }),
    );
    put("/api/logout", json!({ "post": { "summary": "Log out.", "responses": nothing } }));
    let plain = "text/plain";
    put("/healthz", json!({ "get": get("Whether it answers.", "none", plain, text.clone()) }));
    put(
        "/metrics",
        json!({ "get": get("Figures, in Prometheus' text form.", "look", plain, text) }),
    );
    put(
        "/openapi.json",
        json!({ "get": get("This document.", "none", JSON, json!({ "type": "object" })) }),
    );
    Value::Object(paths)
}

/// The words that a property of a schema may be.
fn words_of(schema: &str, property: &str) -> Value {
    let text = SCHEMAS.iter().find(|(name, _)| *name == schema).map(|(_, text)| *text);
    let schema: Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    schema["properties"][property]["enum"].clone()
}

fn schema(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn parameter(name: &str, place: &str, schema: Value) -> Value {
    json!({ "name": name, "in": place, "required": place == "path", "schema": schema })
}

fn refused() -> Value {
    json!({ "description": "refused", "content": { JSON: { "schema": schema("error") } } })
}

fn post(what: &str, role: &str, body: &str, reply: Value) -> Value {
    json!({
        "summary": what,
        "description": format!("Role: {role}."),
        "requestBody": { "content": { JSON: { "schema": schema(body) } }, "required": true },
        "responses": {
            "200": { "description": "the reply", "content": { JSON: { "schema": reply } } },
            "default": refused(),
        },
    })
}

fn get(what: &str, role: &str, content_type: &str, reply: Value) -> Value {
    json!({
        "summary": what,
        "description": format!("Role: {role}."),
        "responses": {
            "200": { "description": "the reply", "content": { content_type: { "schema": reply } } },
            "default": refused(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_of_the_docs_is_in_the_document() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/mqtt");
        let schemas = schemas();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let Some(name) = file.strip_suffix(".schema.json") else { continue };
            // What Home Assistant reads of a broker alone.
            assert!(schemas[name].is_object() || name == "home-discovery", "{name}");
        }
    }
}
