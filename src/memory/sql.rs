//! Read-only SQL over documented views, safe for a model to call.
//!
//! A query runs on a connection of its own that cannot write, sees the views below (of what holds now) and
//! the raw tables, and is stopped at limits of rows, time and bytes: no value is longer than 1 MiB (what is, a
//! checkpoint say, cannot be selected), and all together are not more than 16 MiB. Times are integer nanoseconds since
//! 1970.
//!
//! | view | columns |
//! |---|---|
//! | `people` | `id, name, aliases, faces, voices, first_seen, last_seen, seen_secs, spoken_secs` |
//! | `sightings` | `person, face, source, clip, track, start, "end", secs` |
//! | `utterances` | `person, voice, source, clip, turn, start, "end", words` |
//! | `memories` | `id, kind, text, start, "end", clip, entities, importance, confidence` |
//! | `facts` | `memory, subject, attribute, value, valid_from, valid_to, confidence, weak` |
//! | `decisions` | `memory, at, action, other, reason` |
//! | `objects` | `object, place, since, told_by, memory` |
//! | `object_sightings` | `object, label, source, clip, track, start, "end", secs` |
//! | `places` | `id, name` |
//! | `clips` | `id, session, start, "end", frames, analysed, dropped` |
//! | `answers` | `id, question, document, asked` |

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use serde::Serialize;

use crate::ids::EntityKind;

use super::Memory;
use super::error::MemoryError;
use super::store;
use super::view::View;

/// What a query gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SqlTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows; blobs as hex text.
    pub rows: Vec<Vec<serde_json::Value>>,
    /// There were more rows than the limits let through.
    pub truncated: bool,
}

/// A value's bytes at most: a function in a query may ask for a gigabyte.
const LONGEST: i32 = 1 << 20;
/// Columns at most: a row of longest values must still fit into RAM.
const MOST_COLUMNS: i32 = 128;
/// Bytes of all values together after which no more rows are read.
const MOST_BYTES: usize = 16 << 20;

/// How long and how much a query may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlLimits {
    /// Rows at most.
    pub rows: usize,
    /// Time at most.
    pub time: Duration,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self { rows: 1_000, time: Duration::from_secs(2) }
    }
}

/// Views and their columns, as documented.
pub(crate) const COLUMNS: [(&str, &str); 11] = [
    ("people", "id, name, aliases, faces, voices, first_seen, last_seen, seen_secs, spoken_secs"),
    ("sightings", "person, face, source, clip, track, start, \"end\", secs"),
    ("utterances", "person, voice, source, clip, turn, start, \"end\", words"),
    ("memories", "id, kind, text, start, \"end\", clip, entities, importance, confidence"),
    ("facts", "memory, subject, attribute, value, valid_from, valid_to, confidence, weak"),
    ("decisions", "memory, at, action, other, reason"),
    ("objects", "object, place, since, told_by, memory"),
    ("object_sightings", "object, label, source, clip, track, start, \"end\", secs"),
    ("places", "id, name"),
    ("clips", "id, session, start, \"end\", frames, analysed, dropped"),
    ("answers", "id, question, document, asked"),
];

const VIEWS: &str = "
CREATE TEMP VIEW sightings AS SELECT w.person, face, source, 's' || session || '/' || clip AS clip,
  'track_' || track AS track, start, \"end\", (\"end\" - start) / 1e9 AS secs
  FROM main.track LEFT JOIN temp.whose AS w ON w.part = face WHERE retired_seq IS NULL;
CREATE TEMP VIEW utterances AS SELECT w.person, voice, source, 's' || session || '/' || clip AS clip,
  'turn_' || turn AS turn, start, \"end\", words
  FROM main.turn LEFT JOIN temp.whose AS w ON w.part = voice WHERE retired_seq IS NULL;
CREATE TEMP VIEW memories AS SELECT 'memory_' || id AS id, kind, text, start, \"end\",
  's' || session || '/' || clip AS clip, entities, importance, confidence
  FROM main.memory WHERE retired_seq IS NULL;
CREATE TEMP VIEW facts AS SELECT 'memory_' || id AS memory, subject, attribute, value, valid_from,
  valid_to, confidence, attribute IN ('likes', 'dislikes', 'habit', 'usual_time')
  AND json_array_length(grounds) < 2 AS weak
  FROM main.memory WHERE retired_seq IS NULL AND subject IS NOT NULL;
CREATE TEMP VIEW decisions AS SELECT 'memory_' || memory AS memory, at, action, 'memory_' || other AS other,
  reason FROM main.decision WHERE retired_seq IS NULL;
CREATE TEMP VIEW object_sightings AS SELECT object, label, source, 's' || session || '/' || clip AS clip,
  'track_' || track AS track, start, \"end\", (\"end\" - start) / 1e9 AS secs
  FROM main.object_track WHERE retired_seq IS NULL;
CREATE TEMP VIEW objects AS SELECT coalesce((SELECT name FROM temp.things WHERE id = subject), subject) AS object,
  value AS place, valid_from AS since,
  (SELECT coalesce(w.person, e.value) FROM json_each(m.entities) AS e LEFT JOIN temp.whose AS w
   ON w.part = e.value WHERE e.value NOT LIKE 'object%' LIMIT 1) AS told_by, 'memory_' || id AS memory
  FROM main.memory AS m WHERE retired_seq IS NULL AND attribute = 'location' AND valid_to IS NULL;
CREATE TEMP VIEW clips AS SELECT 's' || session || '/' || clip AS id, 's' || session AS session, start,
  \"end\", frames, analysed, dropped FROM main.clip WHERE retired_seq IS NULL;
CREATE TEMP VIEW answers AS SELECT 'answer_' || id AS id, question, document, asked FROM main.answer;
";

impl Memory {
    /// Runs one reading statement.
    ///
    /// # Errors
    /// [`MemoryError::Refused`] when the statement is wrong, writes, or takes too long; others when the
    /// store fails.
    pub fn sql(&self, query: &str, limits: SqlLimits) -> Result<SqlTable, MemoryError> {
        let path = store::database_path(self.dir());
        let fail = || MemoryError::sqlite("preparing a query", &path);
        let db = store::open_read_only(self.dir(), self.options().key.as_ref())?;
        offer_views(&db, &self.view()).map_err(fail())?;
        db.authorizer(Some(only_reading));
        for (limit, most) in
            [(Limit::SQLITE_LIMIT_LENGTH, LONGEST), (Limit::SQLITE_LIMIT_COLUMN, MOST_COLUMNS)]
        {
            db.set_limit(limit, most).map_err(fail())?;
        }
        let end = Instant::now() + limits.time;
        let late = Arc::new(AtomicBool::new(false));
        let noticed = Arc::clone(&late);
        let stop = move || {
            let over = Instant::now() > end;
            noticed.fetch_or(over, Ordering::Relaxed);
            over
        };
        db.progress_handler(1_000, Some(stop.clone()));
        run(&db, query, limits.rows, stop).map_err(|error| {
            MemoryError::Refused(if late.load(Ordering::Relaxed) {
                format!("the query took longer than {:.1} s; narrow it", limits.time.as_secs_f64())
            } else {
                format!("the query is refused: {error}; {}", offered())
            })
        })
    }
}

/// The views and their columns, for whoever guessed wrong: a person or a model.
fn offered() -> String {
    let views = COLUMNS.iter().map(|(view, columns)| format!("{view} ({columns})"));
    format!("the views are {}", views.collect::<Vec<_>>().join(", "))
}

fn offer_views(db: &Connection, view: &View) -> rusqlite::Result<()> {
    db.execute_batch(
        "PRAGMA temp_store=MEMORY;
         CREATE TEMP TABLE people (id TEXT, name TEXT, aliases TEXT, faces TEXT, voices TEXT,
           first_seen INTEGER, last_seen INTEGER, seen_secs REAL, spoken_secs REAL);
         CREATE TEMP TABLE places (id TEXT, name TEXT);
         CREATE TEMP TABLE things (id TEXT PRIMARY KEY, name TEXT);
         CREATE TEMP TABLE whose (part TEXT PRIMARY KEY, person TEXT);",
    )?;
    db.execute_batch(VIEWS)?;
    let list = |items: Vec<String>| serde_json::Value::from(items).to_string();
    for row in view.persons() {
        let words =
            |ids: &[crate::ids::EntityId]| list(ids.iter().map(ToString::to_string).collect());
        db.execute(
            "INSERT INTO temp.people VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                row.id.to_string(),
                row.name,
                list(row.aliases.clone()),
                words(&row.faces),
                words(&row.voices),
                row.first_seen.map(crate::time::Timestamp::as_nanos),
                row.last_seen.map(crate::time::Timestamp::as_nanos),
                row.seen_secs,
                row.spoken_secs,
            ],
        )?;
    }
    for row in view.memberships() {
        db.execute(
            "INSERT INTO temp.whose VALUES (?, ?)",
            [row.part.to_string(), view.resolve(row.part).to_string()],
        )?;
    }
    for id in view.entities().into_iter().filter(|id| id.kind == EntityKind::Object) {
        let id = id.to_string();
        db.execute("INSERT INTO temp.things VALUES (?, ?)", [&id, &view.thing(&id)])?;
    }
    for id in view.entities().into_iter().filter(|id| id.kind == EntityKind::Place) {
        db.execute(
            "INSERT INTO temp.places VALUES (?, ?)",
            [id.to_string(), view.display_name(id)],
        )?;
    }
    Ok(())
}

fn only_reading(context: AuthContext<'_>) -> Authorization {
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

/// `late`: asked between rows, too: SQLite does not ask while a function runs.
fn run(
    db: &Connection,
    query: &str,
    limit: usize,
    late: impl Fn() -> bool,
) -> rusqlite::Result<SqlTable> {
    let mut statement = db.prepare(query)?;
    let columns: Vec<String> =
        statement.column_names().into_iter().map(ToOwned::to_owned).collect();
    let width = columns.len();
    let mut table = SqlTable { columns, ..SqlTable::default() };
    let mut bytes = 0;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if late() {
            return Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT),
                None,
            ));
        }
        if table.rows.len() == limit || bytes > MOST_BYTES {
            table.truncated = true;
            break;
        }
        let values = (0..width).map(|at| {
            Ok(match row.get_ref(at)? {
                ValueRef::Null => serde_json::Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                ValueRef::Text(text) => {
                    bytes += text.len();
                    String::from_utf8_lossy(text).into()
                }
                ValueRef::Blob(blob) => {
                    bytes += 2 * blob.len();
                    hex::encode(blob).into()
                }
            })
        });
        table.rows.push(values.collect::<rusqlite::Result<_>>()?);
    }
    Ok(table)
}
