//! The schemas in `docs/mqtt`, one per topic, against what is really sent.

use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

/// Panics unless `document` is what `docs/mqtt/<name>.schema.json` says.
pub(crate) fn check(name: &str, document: &Value) {
    let mut schemas = Schemas::new();
    let schema = compile(name, &mut schemas);
    if let Err(error) = schemas.validate(document, schema) {
        panic!("{name}: {document}\n{error}");
    }
}

fn accepts(name: &str, document: &Value) -> bool {
    let mut schemas = Schemas::new();
    let schema = compile(name, &mut schemas);
    schemas.validate(document, schema).is_ok()
}

fn compile(name: &str, schemas: &mut Schemas) -> SchemaIndex {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/mqtt/{name}.schema.json"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut compiler = Compiler::new();
    compiler.add_resource(name, serde_json::from_str(&text).unwrap()).unwrap();
    compiler.compile(name, schemas).unwrap_or_else(|error| panic!("{name}: {error:#}"))
}

#[test]
fn the_schemas_and_the_parser_refuse_the_same() {
    use crate::mqtt::message::parse;
    use crate::mqtt::topics::Topics;
    let topics = Topics::new("engram", "rob");
    for (topic, document) in [
        ("ask", json!({"question": "Who?", "as_of": {"seq": 3}, "id": "a"})),
        ("ask", json!({"question": "Who?", "id": "a/b"})),
        ("ask", json!({"question": ""})),
        ("ask", json!({"question": "Who?", "asof": 1})),
        ("ask", json!({"question": "Who?", "deadline_ms": 0})),
        ("remember", json!({"text": "x", "pinned": true, "entities": ["Ava"]})),
        ("remember", json!({"txt": "x"})),
        ("remember", json!({"pinned": true})),
        ("remember", json!({"fact": {"subject": "a", "attribute": "b", "value": "c"}})),
        ("remember", json!({"text": "x", "fact": {"subject": "a", "attribute": "b"}})),
        ("remember", json!({"fact": {"subject": "", "attribute": "b", "value": "c"}})),
        ("remember", json!({"fact": {"subject": "a", "attribute": "b", "value": "c\nd"}})),
        ("remember", json!({"fact": {"subject": "a", "attribute": "b", "value": "c", "d": 1}})),
        ("forget", json!({"entity": "a", "memory": "b"})),
        ("forget", json!({"start": 5_000_000_000_i64})),
        ("forget", json!({"start": 5_000_000_000_i64, "end": 6_000_000_000_i64})),
        ("snapshot", json!({})),
        ("snapshot", json!({"secs": 12.5})),
        ("snapshot", json!({"secs": 0})),
        ("snapshot", json!({"secs": 2000})),
        ("snapshot", json!({"start": 5_000_000_000_i64})),
        ("snapshot", json!({"end": 5_000_000_000_i64})),
        ("snapshot", json!({"secs": 5, "start": 5_000_000_000_i64})),
        ("snapshot", json!({"remove": "00_01"})),
        ("snapshot", json!({"remove": "00_01", "secs": 5})),
        ("pin", json!({"memory": "memory_1"})),
        ("pin", json!({"memory": "memory_1", "pinned": false})),
        ("pin", json!({"pinned": true})),
        ("pin", json!({"memory": "memory_1", "pinned": "yes"})),
        ("name", json!({"entity": "person_1", "name": "<x>"})),
        ("identify", json!({"photo": "/9j/4AAQ"})),
        ("identify", json!({"voice": "UklGRg==", "id": "a"})),
        ("identify", json!({"photo": "/9j/4AAQ", "voice": "UklGRg=="})),
        ("identify", json!({"photo": " "})),
        ("identify", json!({})),
        ("identify", json!({"photo": "/9j/4AAQ", "name": "Ava"})),
        ("people", json!({"merge": ["person_1", "Ava"]})),
        ("people", json!({"merge": ["person_1"]})),
        ("people", json!({"split": ["voice_2"], "merge": ["person_1", "person_2"]})),
        ("feedback", json!({"answer": "answer_1", "verdict": "perhaps"})),
        ("query", json!({"verb": "people", "args": []})),
        ("query", json!({"verb": "sql", "args": {"query": "SELECT 1"}})),
        ("pose", json!({"x": 1, "y": 2, "yaw": 0.5, "frame": "map"})),
        ("speaking", json!({"start": "2026-03-02T17:30:00Z", "end": null})),
        ("speaking", json!({"start": "2026-03-02T17:30:00Z"})),
        ("privacy", json!({"microphones": true})),
        ("privacy", json!({"cameras": false})),
        (
            "watch",
            json!({"add": {"who": "Ava", "what": "comes", "where": "kitchen", "once": true}}),
        ),
        ("watch", json!({"add": {"who": "unknown", "what": "comes", "between": "22:00-06:00"}})),
        ("watch", json!({"add": {"who": "Ava", "what": "stays", "for_secs": 600}})),
        ("watch", json!({"add": {"who": "Ava", "what": "stays"}})),
        ("watch", json!({"add": {"who": "Ava", "what": "comes", "for_secs": 600}})),
        ("watch", json!({"add": {"who": " ", "what": "comes"}})),
        ("watch", json!({"add": {"who": "<b>", "what": "comes"}})),
        ("watch", json!({"add": {"who": "Ava", "what": "sings"}})),
        ("watch", json!({"add": {"who": "Ava", "what": "comes", "between": "late"}})),
        ("watch", json!({"add": {"who": "Ava", "what": "speaks", "cooldown_secs": -1}})),
        ("watch", json!({"add": {"who": "Ava", "what": "speaks", "say": ""}})),
        ("watch", json!({"add": {"who": "mug", "what": "moves", "until": 5_000_000_000_i64}})),
        ("watch", json!({"words": "tell me when Ava comes"})),
        ("watch", json!({"words": " "})),
        ("watch", json!({"words": "tell me when Ava comes", "remove": "watch_3"})),
        ("watch", json!({"remove": "watch_3"})),
        ("remember", json!({"document": {"name": "a.md", "text": "b"}, "pinned": true})),
        ("remember", json!({"document": {"name": "a.md"}})),
        ("remember", json!({"document": {"name": "<a>", "text": "b"}})),
        ("remember", json!({"document": {"name": "a.md", "text": "b", "pdf": "c"}})),
        ("remember", json!({"document": {"name": "a.md", "text": "b"}, "text": "c"})),
        ("remember", json!({"document": {"name": "a.md", "text": "b"}, "entities": ["Ava"]})),
        (
            "remember",
            json!({"document": {"name": "a", "passages": [{"text": "b", "line": 1, "last_line": 2}]}}),
        ),
        (
            "remember",
            json!({"document": {"name": "a", "passages": [{"text": "b", "line": 0, "last_line": 2}]}}),
        ),
        ("remember", json!({"document": {"name": "a", "passages": []}})),
        ("forget", json!({"document": "a.md"})),
        ("forget", json!({"document": "a.md", "dry_run": true})),
        ("forget", json!({"document": "a.md", "dry_run": 1})),
        ("forget", json!({"dry_run": true})),
        ("forget", json!({"document": "a.md", "memory": "memory_1"})),
        ("watch", json!({"remove": "memory_3"})),
        ("watch", json!({"remove": "watch_3", "add": {"who": "Ava", "what": "comes"}})),
        ("watch", json!({})),
    ] {
        let Some(Ok(command)) = topics.command(&format!("engram/rob/{topic}")) else { panic!() };
        let parsed = parse(command, document.to_string().as_bytes(), true).request;
        // What the parser takes beyond the schema: null for a field that is left out.
        let null = document.as_object().unwrap().values().any(Value::is_null);
        assert_eq!(
            parsed.is_ok(),
            accepts(topic, &document) || null,
            "{topic} {document}: {parsed:?}"
        );
    }
}
