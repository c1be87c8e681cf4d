//! Rows that can be made again from others that name what they held: commits, sessions, clips, entities, media.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, params};

use crate::encryption::FileCipher;
use crate::ids::EntityKind;

use crate::memory::error::MemoryError;
use crate::memory::model::MediaKind;
use crate::memory::store::media::MediaFolder;
use crate::memory::tables::each_table;
use crate::memory::versions::temporal::Temporal;

/// How far behind the newest commit that is known another may have been: what is beyond is the number of a damaged row.
const AHEAD: i64 = 10_000_000;

/// Columns that hold the id of an entity.
const NAMING: [(&str, &str); 14] = [
    ("track", "face"),
    ("turn", "voice"),
    ("object_track", "object"),
    ("exemplar", "entity"),
    ("evidence", "face"),
    ("evidence", "voice"),
    ("membership", "part"),
    ("membership", "person"),
    ("merge", "from_id"),
    ("merge", "into_id"),
    ("name", "entity"),
    ("memory", "subject"),
    ("watch", "entity"),
    ("firing", "entity"),
];

/// A session's clips are as long as the longest that is left of it (the last one of a recording is shorter), and the first
/// that is left lies as many of them behind the session's beginning as its number says.
const SESSIONS: &str = "INSERT INTO session (id, start, clip_secs, finished, seq, recorded) \
    SELECT session, CAST(t0 - clip * nanos AS INTEGER), nanos / 1e9, 0, seq, recorded \
    FROM (SELECT session, clip, min(start) AS t0, seq, recorded FROM clip GROUP BY session) \
    JOIN (SELECT session, max(\"end\" - start) AS nanos FROM clip GROUP BY session) USING (session) \
    WHERE session NOT IN (SELECT id FROM session)";

/// One of which no clip is left begins with what is left of its clips: how long they were nothing tells.
const SESSIONS_WITHOUT_CLIPS: &str = "INSERT INTO session (id, start, clip_secs, finished, seq, recorded) \
    SELECT session, min(start), (\"end\" - start) / 1e9, 0, seq, recorded FROM clip \
    WHERE session NOT IN (SELECT id FROM session) GROUP BY session";

/// Makes again what can be of the tables that lost rows; how many of which.
///
/// # Errors
/// When the database fails.
pub(super) fn rows(
    db: &Connection,
    lost: &BTreeSet<&str>,
) -> rusqlite::Result<BTreeMap<&'static str, u64>> {
    let mut made = BTreeMap::new();
    let mut make = |table: &'static str, sql: &str| -> rusqlite::Result<()> {
        let rows = if lost.contains(table) { db.execute(sql, [])? } else { 0 };
        if rows > 0 {
            *made.entry(table).or_insert(0) += rows as u64;
        }
        Ok(())
    };
    macro_rules! make_commits {
        ($($field:ident: $row:ty,)*) => { $(make("commits", &commits(<$row>::TABLE))?;)* };
    }
    each_table!(make_commits);
    make("session", SESSIONS)?;
    for table in [
        "track",
        "object_track",
        "text_track",
        "turn",
        "sound",
        "sound_event",
        "camera_move",
        "action",
    ] {
        make("clip", &clips(table))?;
    }
    make("session", SESSIONS_WITHOUT_CLIPS)?;
    for (table, column) in NAMING {
        make("entity", &entities(table, column))?;
    }
    for source in [
        media("exemplar", "media", &kind_of_exemplar(), 1),
        media("turn", "sound", &quoted(MediaKind::Speech), 0),
        media(KEY_FRAMES, "digest", &quoted(MediaKind::KeyFrame), 0),
    ] {
        make("media", &source)?;
    }
    Ok(made)
}

/// The sizes of files whose rows were made again.
///
/// # Errors
/// When the disk or the database fails.
pub(super) fn sizes(db: &Connection, dir: &Path, database: &Path) -> Result<(), MemoryError> {
    // What a file's encryption adds to it counts for nothing here.
    let files = MediaFolder::new(dir, FileCipher::default()).list()?.found;
    for (digest, bytes) in files {
        db.prepare_cached("UPDATE media SET bytes = ? WHERE digest = ? AND bytes = 0")
            .and_then(|mut update| update.execute(params![bytes as i64, &*digest.0]))
            .map_err(MemoryError::sqlite("writing the sizes of media", database))?;
    }
    Ok(())
}

/// Every row tells when its commit was recorded.
fn commits(table: &str) -> String {
    format!(
        "INSERT OR IGNORE INTO commits (seq, recorded, ingested) SELECT seq, recorded, recorded FROM \"{table}\" \
         WHERE seq BETWEEN 1 AND (SELECT coalesce(max(seq), 0) + {AHEAD} FROM commits) GROUP BY seq"
    )
}

/// Where a clip lies its session tells, and where that is not known what is in the clip.
fn clips(table: &str) -> String {
    let border = |clip: &str, otherwise: &str| {
        format!(
            "coalesce(known.start + CAST({clip} * known.clip_secs * 1e9 AS INTEGER), {otherwise})"
        )
    };
    let (start, end) =
        (border("lost.clip", "lost.start"), border("(lost.clip + 1)", "lost.\"end\""));
    format!(
        "INSERT INTO clip (session, clip, start, \"end\", frames, analysed, dropped, key_frames, seq, recorded) \
         SELECT lost.session, lost.clip, {start}, {end}, 0, 0, 0, '[]', lost.seq, lost.recorded \
         FROM (SELECT session, clip, min(start) AS start, max(\"end\") AS \"end\", min(seq) AS seq, recorded \
               FROM \"{table}\" WHERE (session, clip) NOT IN (SELECT session, clip FROM clip) \
               GROUP BY session, clip) AS lost \
         LEFT JOIN (SELECT id, start, clip_secs, max(version) FROM session GROUP BY id) AS known \
         ON known.id = lost.session"
    )
}

/// What is not the word of a kind and a number from 1 is a thing's name, like `room_101`.
fn entities(table: &str, column: &str) -> String {
    let numbered = EntityKind::ALL.into_iter().filter(|kind| *kind != EntityKind::Robot);
    let words: Vec<String> = numbered.map(|kind| format!("'{}_'", kind.word())).collect();
    let words = words.join(", ");
    format!(
        "INSERT INTO entity (id, seq, recorded) SELECT \"{column}\", min(seq), recorded FROM \"{table}\" \
         WHERE rtrim(\"{column}\", '0123456789') IN ({words}) AND \"{column}\" NOT GLOB '*_0*' \
         AND CAST(substr(\"{column}\", instr(\"{column}\", '_') + 1) AS INTEGER) BETWEEN 1 AND {} \
         AND \"{column}\" NOT IN (SELECT id FROM entity) GROUP BY \"{column}\"",
        u32::MAX
    )
}

/// The key frames of clips, a row each.
const KEY_FRAMES: &str = "(SELECT json_extract(frame.value, '$[2]') AS digest, seq, recorded FROM clip, \
    json_each(CASE WHEN json_valid(key_frames) THEN key_frames ELSE '[]' END) AS frame)";

/// Files that the column names, with the word of their kind.
fn media(from: &str, column: &str, kind: &str, pinned: u8) -> String {
    format!(
        "INSERT INTO media (digest, kind, bytes, pinned, seq, recorded) \
         SELECT {column}, {kind}, 0, {pinned}, min(seq), recorded FROM {from} \
         WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT digest FROM media) GROUP BY {column}"
    )
}

fn kind_of_exemplar() -> String {
    let (face, voice) = (quoted(MediaKind::FaceChip), quoted(MediaKind::Speech));
    format!("CASE WHEN entity LIKE 'face%' THEN {face} ELSE {voice} END")
}

fn quoted(kind: MediaKind) -> String {
    format!("'{}'", kind.word())
}
