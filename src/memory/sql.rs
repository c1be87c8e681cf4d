//! Read-only SQL over documented views, safe for a model to call.
//!
//! A query runs on a connection of its own that cannot write and sees the views of [`COLUMNS`] (`docs/sql.md` tells what
//! is in them), of what holds in one [`View`], and nothing else: neither the tables below them, with what was retired and
//! all embeddings, nor the schema. It is stopped at limits of rows, time and bytes: no value is longer than 1 MiB, and
//! all together are not more than 16 MiB. Times are integer nanoseconds since 1970.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use serde::Serialize;

use crate::ids::{EntityId, EntityKind, MemoryId};

use super::Memory;
use super::error::MemoryError;
use super::model::MemoryRow;
use super::store;
use super::versions::temporal::Horizon;
use super::view::View;
use super::view::places::Place;

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
pub(crate) const COLUMNS: [(&str, &str); 16] = [
    ("people", "id, name, aliases, faces, voices, first_seen, last_seen, seen_secs, spoken_secs"),
    ("sightings", "person, face, source, clip, track, start, \"end\", secs, kind, colour"),
    ("visits", "person, start, \"end\", secs, recording"),
    ("utterances", "person, voice, source, clip, turn, start, \"end\", words"),
    (
        "memories",
        "id, kind, text, start, \"end\", clip, entities, importance, confidence, grounds, origin",
    ),
    ("passages", "memory, document, number, heading, page, line, last_line, text"),
    ("facts", "memory, subject, attribute, value, valid_from, valid_to, confidence, weak"),
    ("decisions", "memory, at, action, other, reason"),
    ("objects", "object, place, since, told_by, memory"),
    ("object_sightings", "object, label, source, clip, track, start, \"end\", secs, colour"),
    ("actions", "person, kind, confidence, source, clip, track, start, \"end\", secs"),
    ("texts", "text, confidence, readings, source, clip, track, start, \"end\", x, y, w, h"),
    ("places", "id, name, frame, x, y, since"),
    ("clips", "id, session, start, \"end\", frames, analysed, dropped"),
    ("answers", "id, question, document, asked"),
    ("audit", "id, at, action, rows, files"),
];

/// The tables of versions that the views read.
const VERSIONED: [&str; 10] = [
    "clip",
    "track",
    "turn",
    "memory",
    "decision",
    "object_track",
    "text_track",
    "session",
    "passage",
    "action",
];
/// Those without versions, and the filled ones beside them, that they read.
const PLAIN: [&str; 4] = ["answer", "audit", "things", "whose"];

/// `$table` is what holds of that table ([`Secret`]).
const VIEWS: &str = "
CREATE TEMP VIEW sightings AS SELECT w.person, face, source, 's' || session || '/' || clip AS clip,
  'track_' || track AS track, start, \"end\", (\"end\" - start) / 1e9 AS secs,
  iif(hex(substr(sightings, 1, 8)) GLOB '0[4567]*80', 'body', 'face') AS kind, colour
  FROM $track LEFT JOIN $whose AS w ON w.part = face;
CREATE TEMP VIEW utterances AS SELECT w.person, voice, source, 's' || session || '/' || clip AS clip,
  'turn_' || turn AS turn, start, \"end\", words
  FROM $turn LEFT JOIN $whose AS w ON w.part = voice;
CREATE TEMP VIEW visits AS
  WITH appearance AS (SELECT w.person AS person, t.session, start, \"end\"
      FROM $track AS t JOIN $whose AS w ON w.part = face WHERE w.person GLOB 'person_*'
    UNION ALL SELECT w.person, t.session, start, \"end\"
      FROM $turn AS t JOIN $whose AS w ON w.part = voice WHERE w.person GLOB 'person_*'),
  placed AS (SELECT a.person, a.start, a.\"end\", CASE WHEN s.path IS NOT NULL OR s.sha256 IS NOT NULL
      THEN a.session END AS recording FROM appearance AS a LEFT JOIN $session AS s ON s.id = a.session),
  gap AS (SELECT person, start, \"end\", recording, start - max(\"end\") OVER (PARTITION BY person, recording
      ORDER BY start, \"end\" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS away FROM placed),
  numbered AS (SELECT person, start, \"end\", recording, sum(coalesce(away / 1e9 >= absence_secs(), 1)) OVER
      (PARTITION BY person, recording ORDER BY start, \"end\") AS number FROM gap)
  SELECT person, min(start) AS start, max(\"end\") AS \"end\", (max(\"end\") - min(start)) / 1e9 AS secs,
    's' || recording AS recording FROM numbered GROUP BY person, recording, number;
CREATE TEMP VIEW memories AS SELECT 'memory_' || id AS id, kind, text, start, \"end\",
  's' || session || '/' || clip AS clip, entities, importance, confidence, grounds, origin
  FROM $memory;
CREATE TEMP VIEW passages AS SELECT 'memory_' || memory AS memory, document, number, heading, page, line, last_line,
  m.text AS text FROM $passage AS p JOIN $memory AS m ON m.id = p.memory;
CREATE TEMP VIEW facts AS SELECT 'memory_' || id AS memory, subject, attribute, value, valid_from,
  valid_to, confidence, is_weak(id) AS weak
  FROM $memory WHERE subject IS NOT NULL;
CREATE TEMP VIEW decisions AS SELECT 'memory_' || memory AS memory, at, action, 'memory_' || other AS other,
  reason FROM $decision;
CREATE TEMP VIEW object_sightings AS SELECT object, label, source, 's' || session || '/' || clip AS clip,
  'track_' || track AS track, start, \"end\", (\"end\" - start) / 1e9 AS secs, colour
  FROM $object_track;
CREATE TEMP VIEW actions AS SELECT w.person, kind, a.confidence, a.source, 's' || a.session || '/' || a.clip AS clip,
  'track_' || a.track AS track, a.start, a.\"end\", (a.\"end\" - a.start) / 1e9 AS secs
  FROM $action AS a LEFT JOIN $track AS t ON t.session = a.session AND t.clip = a.clip AND t.track = a.track
  LEFT JOIN $whose AS w ON w.part = t.face;
CREATE TEMP VIEW texts AS SELECT text, confidence, readings, source, 's' || session || '/' || clip AS clip,
  'track_' || track AS track, start, \"end\", x, y, w, h FROM $text_track;
CREATE TEMP VIEW objects AS SELECT coalesce((SELECT name FROM $things WHERE id = subject), subject) AS object,
  value AS place, valid_from AS since, told_by(id) AS told_by, 'memory_' || id AS memory
  FROM $memory WHERE attribute = 'location' AND valid_to IS NULL;
CREATE TEMP VIEW clips AS SELECT 's' || session || '/' || clip AS id, 's' || session AS session, start,
  \"end\", frames, analysed, dropped FROM $clip;
CREATE TEMP VIEW answers AS SELECT 'answer_' || id AS id, question, document, asked FROM $answer;
CREATE TEMP VIEW audit AS SELECT id, at, action, rows, files FROM $audit;
";

/// What the views are made of, under names that nobody can guess: only who reads through the views gets there. (SQLite
/// tells through which view a table is read, but takes the name of a `WITH` for one, too.)
struct Secret(String);

impl Secret {
    fn new() -> Self {
        Self(format!("_{:016x}", RandomState::new().build_hasher().finish()))
    }

    /// The views' definitions over the commits up to `newest`.
    fn definitions(&self, newest: u64) -> String {
        let mut views = VIEWS.to_owned();
        for table in VERSIONED.into_iter().chain(PLAIN) {
            views = views.replace(&format!("${table} "), &format!("temp.{table}{self} "));
            views = views.replace(&format!("${table};"), &format!("temp.{table}{self};"));
        }
        let held = format!("seq <= {newest} AND (retired_seq IS NULL OR retired_seq > {newest})");
        let versioned = VERSIONED.map(|table| (table, held.clone()));
        // That was known until the next commit. Erasing holds at all times.
        let next = format!("(SELECT min(recorded) FROM main.commits WHERE seq > {newest})");
        let answered = format!("asked < coalesce({next}, {})", i64::MAX);
        // A table of which no column is asked for is read by nobody's view, for SQLite.
        let plain = [("answer", answered), ("audit", "rows >= 0".to_owned())];
        let define = |(table, holds): (&str, String)| {
            format!(
                "CREATE TEMP VIEW {table}{self} AS SELECT * FROM main.\"{table}\" WHERE {holds};\n"
            )
        };
        versioned.into_iter().chain(plain).map(define).collect::<String>() + &views
    }

    /// Lets a statement read the views, and what they read; of the main file it has those `tables`.
    fn guard(
        self,
        tables: BTreeSet<String>,
    ) -> impl FnMut(AuthContext<'_>) -> Authorization + Send + 'static {
        move |context: AuthContext<'_>| {
            let inside = context.accessor.is_some_and(|view| view.ends_with(&self.0));
            let is_view = |name: &str| COLUMNS.iter().any(|(view, _)| *view == name);
            let allowed = match context.action {
                AuthAction::Select | AuthAction::Recursive => true,
                AuthAction::Function { function_name } => function_name != "load_extension",
                AuthAction::Read { table_name: "json_each" | "json_tree", .. } => true,
                AuthAction::Read { table_name, .. } => match context.database_name {
                    Some("temp") => table_name.ends_with(&self.0) || is_view(table_name),
                    Some(_) => inside,
                    // Rows are counted of it: it may be a name that the query itself gave (WITH).
                    None => {
                        let name = table_name.to_lowercase();
                        let raw = name.starts_with("sqlite_") || tables.contains(&name);
                        inside || is_view(&name) || !raw
                    }
                },
                _ => false,
            };
            if allowed { Authorization::Allow } else { Authorization::Deny }
        }
    }
}

impl std::fmt::Display for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Memory {
    /// Runs one reading statement on what holds now.
    ///
    /// # Errors
    /// [`MemoryError::Refused`] when the statement is wrong, writes, or takes too long; others when the
    /// store fails.
    pub fn sql(&self, query: &str, limits: SqlLimits) -> Result<SqlTable, MemoryError> {
        self.sql_at(&self.view(), query, limits)
    }

    /// The same on what a view sees.
    ///
    /// # Errors
    /// As [`Self::sql`]; refused is also a view of a time up to which no run of commits was recorded.
    pub fn sql_at(
        &self,
        view: &View,
        query: &str,
        limits: SqlLimits,
    ) -> Result<SqlTable, MemoryError> {
        let Horizon::Prefix(newest) = view.horizon else {
            return Err(MemoryError::Refused(
                "sql cannot tell what was known at that time, since commits of other clocks lie between; name a commit \
                 (as_of seq:N)"
                    .to_owned(),
            ));
        };
        let path = store::database_path(self.dir());
        let fail = || MemoryError::sqlite("preparing a query", &path);
        let db = store::open_read_only(self.dir(), self.options().key.as_ref())?;
        let secret = Secret::new();
        offer_functions(&db, view, self.options().absence_secs).map_err(fail())?;
        offer_views(&db, view, &secret, newest.0).map_err(fail())?;
        let tables = tables_of(&db).map_err(fail())?;
        db.authorizer(Some(secret.guard(tables)));
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
                // For whoever guessed wrong: a person or a model.
                format!("the query is refused: {error}; the views are {}", sql_views())
            })
        })
    }
}

/// The views and their columns, in one line: `people (id, name, …), sightings (…), …`.
#[must_use]
pub fn sql_views() -> String {
    let views = COLUMNS.map(|(view, columns)| format!("{view} ({columns})"));
    views.join(", ")
}

/// Names of what is in the main file, lower-case.
fn tables_of(db: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut names = db.prepare("SELECT lower(name) FROM main.sqlite_schema")?;
    names.query_map([], |row| row.get(0))?.collect()
}

/// The memory that a function is asked about.
fn row_of(view: &View, context: &Context<'_>) -> rusqlite::Result<Option<Arc<MemoryRow>>> {
    Ok(view.memory(MemoryId(context.get::<i64>(0)? as u64)))
}

/// What the views ask of the rows in RAM, `is_weak` and `told_by` of a memory, by its number; and for how long somebody is away
/// who has gone.
fn offer_functions(db: &Connection, view: &View, absence_secs: f64) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8;
    db.create_scalar_function("absence_secs", 0, flags, move |_| Ok(absence_secs))?;
    let known = view.clone();
    db.create_scalar_function("is_weak", 1, flags, move |context| {
        Ok(row_of(&known, context)?.map(|row| known.is_weak(&row)))
    })?;
    let known = view.clone();
    db.create_scalar_function("told_by", 1, flags, move |context| {
        Ok(row_of(&known, context)?.and_then(|row| known.told_by(&row)))
    })
}

fn offer_views(db: &Connection, view: &View, secret: &Secret, newest: u64) -> rusqlite::Result<()> {
    db.execute_batch(&format!(
        "PRAGMA temp_store=MEMORY;
         CREATE TEMP TABLE people (id TEXT, name TEXT, aliases TEXT, faces TEXT, voices TEXT,
           first_seen INTEGER, last_seen INTEGER, seen_secs REAL, spoken_secs REAL);
         CREATE TEMP TABLE places (id TEXT, name TEXT, frame TEXT, x REAL, y REAL, since INTEGER);
         CREATE TEMP TABLE things{secret} (id TEXT PRIMARY KEY, name TEXT);
         CREATE TEMP TABLE whose{secret} (part TEXT PRIMARY KEY, person TEXT);",
    ))?;
    db.execute_batch(&secret.definitions(newest))?;
    let list = |items: Vec<String>| serde_json::Value::from(items).to_string();
    for row in view.persons() {
        let words = |ids: &[EntityId]| list(ids.iter().map(ToString::to_string).collect());
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
            &format!("INSERT INTO temp.whose{secret} VALUES (?, ?)"),
            [row.part.to_string(), view.resolve(row.part).to_string()],
        )?;
    }
    for id in view.entities().into_iter().filter(|id| id.kind == EntityKind::Object) {
        let id = id.to_string();
        let insert = format!("INSERT INTO temp.things{secret} VALUES (?, ?)");
        db.execute(&insert, [&id, &view.thing(&id)])?;
    }
    let placed: BTreeMap<EntityId, Place> =
        view.places().into_iter().map(|place| (place.id, place)).collect();
    for id in view.entities().into_iter().filter(|id| id.kind == EntityKind::Place) {
        let place = placed.get(&id);
        let position = place.and_then(|place| place.position.as_ref());
        db.execute(
            "INSERT INTO temp.places VALUES (?, ?, ?, ?, ?, ?)",
            params![
                id.to_string(),
                view.display_name(id),
                position.map(|point| point.frame.as_str()),
                position.map(|point| point.x),
                position.map(|point| point.y),
                place.map(|place| place.since.as_nanos()),
            ],
        )?;
    }
    Ok(())
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
