//! One SELECT on the store: read-only, limited in rows and time.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::mqtt::Refusal;

/// Rows given at most.
pub const MAX_ROWS: usize = 10_000;
/// A query that takes longer is ended.
pub const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The newest version of each row, with times as text: what people want to ask.
const VIEWS: &str = r#"
CREATE TEMP VIEW sessions AS SELECT 's' || id AS session, strftime('%Y-%m-%dT%H:%M:%fZ', start / 1e9, 'unixepoch') AS start,
    clip_secs, path, finished FROM main.session WHERE retired_seq IS NULL;
CREATE TEMP VIEW clips AS SELECT 's' || session || '/' || clip AS clip, strftime('%Y-%m-%dT%H:%M:%fZ', start / 1e9, 'unixepoch') AS start,
    strftime('%Y-%m-%dT%H:%M:%fZ', "end" / 1e9, 'unixepoch') AS "end", frames, analysed, dropped FROM main.clip WHERE retired_seq IS NULL;
CREATE TEMP VIEW tracks AS SELECT 'track_' || track AS track, 's' || session || '/' || clip AS clip, source,
    strftime('%Y-%m-%dT%H:%M:%fZ', start / 1e9, 'unixepoch') AS start, strftime('%Y-%m-%dT%H:%M:%fZ', "end" / 1e9, 'unixepoch') AS "end",
    ("end" - start) / 1e9 AS secs, face, t.confidence,
    (SELECT person FROM main.membership m WHERE m.part = t.face AND m.retired_seq IS NULL) AS person FROM main.track t WHERE retired_seq IS NULL;
CREATE TEMP VIEW turns AS SELECT 'turn_' || turn AS turn, 's' || session || '/' || clip AS clip, source,
    strftime('%Y-%m-%dT%H:%M:%fZ', start / 1e9, 'unixepoch') AS start, strftime('%Y-%m-%dT%H:%M:%fZ', "end" / 1e9, 'unixepoch') AS "end",
    speech_secs, voice, words, t.confidence,
    (SELECT person FROM main.membership m WHERE m.part = t.voice AND m.retired_seq IS NULL) AS person FROM main.turn t WHERE retired_seq IS NULL;
CREATE TEMP VIEW memories AS SELECT 'memory_' || id AS memory, kind, text, strftime('%Y-%m-%dT%H:%M:%fZ', start / 1e9, 'unixepoch') AS start,
    strftime('%Y-%m-%dT%H:%M:%fZ', "end" / 1e9, 'unixepoch') AS "end", 's' || session || '/' || clip AS clip, entities, subject,
    attribute, value, importance, confidence, pinned, origin FROM main.memory WHERE retired_seq IS NULL;
CREATE TEMP VIEW names AS SELECT entity, name, source, strftime('%Y-%m-%dT%H:%M:%fZ', since / 1e9, 'unixepoch') AS since
    FROM main.name WHERE retired_seq IS NULL;
CREATE TEMP VIEW memberships AS SELECT part, person, reason, decreed FROM main.membership WHERE retired_seq IS NULL;
CREATE TEMP VIEW merges AS SELECT from_id, into_id, reason, decreed FROM main.merge WHERE retired_seq IS NULL;
"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SqlArgs {
    /// One SELECT.
    query: String,
    /// Rows at most.
    limit: Option<usize>,
}

/// `{"columns","rows","truncated"}`.
pub(super) fn select(dir: &Path, args: &SqlArgs) -> Result<Value, Refusal> {
    let path = dir.join("engram.db");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(&path, flags)
        .map_err(|error| Refusal::unavailable(format!("opening {}: {error}", path.display())))?;
    let internal =
        |error: rusqlite::Error| Refusal::internal(format!("preparing the views: {error}"));
    db.busy_timeout(Duration::from_secs(1)).map_err(internal)?;
    db.execute_batch(VIEWS).map_err(internal)?;
    db.authorizer(Some(reads_only));
    let began = Instant::now();
    db.progress_handler(10_000, Some(move || began.elapsed() > TIME_LIMIT));
    run(&db, args).map_err(|error| refused(&error))
}

/// Reading, nothing else: no pragmas, no other files, no changes, not even of temporary tables.
fn reads_only(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } if function_name != "load_extension" => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

fn refused(error: &rusqlite::Error) -> Refusal {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::OperationInterrupted) => Refusal::bad_request(format!(
            "the query took longer than {} s and was ended; ask for less",
            TIME_LIMIT.as_secs()
        )),
        Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) => {
            Refusal::bad_request("only one SELECT is allowed; nothing can be changed here")
        }
        _ => Refusal::bad_request(format!(
            "{error}; there are sessions, clips, tracks, turns, memories, names, memberships, merges"
        )),
    }
}

fn run(db: &Connection, args: &SqlArgs) -> rusqlite::Result<Value> {
    let query = args.query.trim().trim_end_matches(';');
    let mut statement = db.prepare(query)?;
    let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let limit = args.limit.unwrap_or(MAX_ROWS).min(MAX_ROWS);
    let mut rows = statement.query([])?;
    let mut found: Vec<Value> = Vec::new();
    let mut truncated = false;
    while let Some(row) = rows.next()? {
        if found.len() == limit {
            truncated = true;
            break;
        }
        let mut object = Map::new();
        for (at, column) in columns.iter().enumerate() {
            object.insert(column.clone(), value(row.get_ref(at)?));
        }
        found.push(Value::Object(object));
    }
    Ok(json!({ "columns": columns, "rows": found, "truncated": truncated }))
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => json!({ "bytes": bytes.len() }),
    }
}
