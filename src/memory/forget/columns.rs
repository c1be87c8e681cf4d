//! What each column of the database may hold, so that erasing forgets none: a test compares the list with the schema.
//!
//! Most rows are rewritten or deleted as such (`sweep`). What they hold beside that, in words or in what names a
//! file, a camera or a topic, is struck here, column by column.

use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};

use super::reach::Reach;

/// What text or bytes of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Ids, kinds, digests, figures, words of a program: nothing that somebody said or chose.
    Code,
    /// Taken care of with its row.
    Row,
    /// Words: names and nouns are struck, and ids of whoever is erased.
    Words,
    /// What names a file, a camera, a topic, a frame, a model: names of people are struck.
    Label,
    /// What a recording is known by, beside its bytes: where a name stands in it, its SHA-256 takes its place.
    Key,
    /// Bytes of a form that the memory does not know: where a name stands in them, the row goes.
    Opaque,
}

use Holds::{Code, Key, Label, Opaque, Row, Words};

/// Every column that is text or bytes, by table.
pub(super) const COLUMNS: [(&str, &[(&str, Holds)]); 30] = [
    ("session", &[("sha256", Code), ("path", Label), ("selection", Key)]),
    ("clip", &[("key_frames", Row)]),
    ("entity", &[("id", Code)]),
    ("track", &[("source", Label), ("face", Code), ("sightings", Code), ("colour", Code)]),
    (
        "turn",
        &[
            ("source", Label),
            ("voice", Code),
            ("words", Row),
            ("language", Code),
            ("engine", Label),
            ("word_times", Row),
            ("sound", Code),
        ],
    ),
    ("pose", &[("frame", Label)]),
    ("exemplar", &[("entity", Code), ("media", Code), ("model", Code), ("vector", Code)]),
    ("evidence", &[("face", Code), ("voice", Code), ("first_clip", Code), ("last_clip", Code)]),
    ("membership", &[("part", Code), ("person", Code), ("reason", Words)]),
    ("merge", &[("from_id", Code), ("into_id", Code), ("reason", Words)]),
    ("name", &[("entity", Code), ("name", Row), ("source", Code)]),
    (
        "memory",
        &[
            ("kind", Code),
            ("text", Row),
            ("entities", Row),
            ("subject", Row),
            ("attribute", Row),
            ("value", Row),
            ("grounds", Row),
            ("origin", Label),
        ],
    ),
    ("vector", &[("model", Code), ("vector", Code)]),
    ("retirement", &[("reason", Row)]),
    ("media", &[("digest", Code), ("kind", Code)]),
    ("checkpoint", &[("state", Opaque)]),
    ("answer", &[("question", Row), ("document", Row)]),
    ("audit", &[("action", Code)]),
    ("counter", &[("what", Code)]),
    ("decision", &[("action", Code), ("reason", Words)]),
    ("upkeep", &[("job", Code)]),
    ("sound", &[("source", Label), ("kind", Code)]),
    ("watch", &[("entity", Code), ("rule", Row)]),
    ("passage", &[("document", Label), ("heading", Words)]),
    ("firing", &[("entity", Code), ("source", Label), ("state", Code)]),
    (
        "object_track",
        &[
            ("source", Label),
            ("label", Code),
            ("object", Code),
            ("sightings", Code),
            ("colour", Code),
        ],
    ),
    ("text_track", &[("source", Label), ("text", Row)]),
    ("sound_event", &[("source", Label), ("what", Label)]),
    ("camera_move", &[("source", Label)]),
    ("action", &[("source", Label), ("kind", Code)]),
];

/// Strikes in every column what its rows were not rewritten for.
pub(super) fn strike(db: &Connection, reach: &Reach) -> rusqlite::Result<()> {
    for (table, columns) in COLUMNS {
        for (column, holds) in columns {
            match holds {
                Code | Row => {}
                Words if !reach.strikes() => {}
                Label | Key | Opaque if !reach.struck.has_people() => {}
                Words => rewrite(db, table, column, |text| reach.strike_reason(text))?,
                Label => rewrite(db, table, column, |text| reach.struck.label(text))?,
                Key => rewrite(db, table, column, |text| match reach.struck.label(text) == text {
                    true => text.to_owned(),
                    false => sealed(text),
                })?,
                Opaque => drop_rows(db, table, column, |bytes| reach.struck.is_in(bytes))?,
            }
        }
    }
    Ok(())
}

/// What takes the place of a selection that names somebody: whoever has the same one knows it again.
pub(in crate::memory) fn sealed(selection: &str) -> String {
    const FORM: &str = "sha256:";
    if selection.starts_with(FORM) {
        return selection.to_owned();
    }
    format!("{FORM}{}", hex::encode(Sha256::digest(selection.as_bytes())))
}

/// Puts what `new` gives in place of every value of a column.
fn rewrite(
    db: &Connection,
    table: &str,
    column: &str,
    new: impl Fn(&str) -> String,
) -> rusqlite::Result<()> {
    let query =
        format!("SELECT DISTINCT \"{column}\" FROM \"{table}\" WHERE \"{column}\" IS NOT NULL");
    let values: Vec<String> =
        db.prepare(&query)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for old in values {
        let new = new(&old);
        if new != old {
            let update =
                format!("UPDATE \"{table}\" SET \"{column}\" = ?1 WHERE \"{column}\" = ?2");
            db.prepare_cached(&update)?.execute(params![new, old])?;
        }
    }
    Ok(())
}

fn drop_rows(
    db: &Connection,
    table: &str,
    column: &str,
    is_meant: impl Fn(&[u8]) -> bool,
) -> rusqlite::Result<()> {
    let mut meant: Vec<i64> = Vec::new();
    let mut statement = db.prepare(&format!("SELECT rowid, \"{column}\" FROM \"{table}\""))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if is_meant(&row.get::<_, Vec<u8>>(1)?) {
            meant.push(row.get(0)?);
        }
    }
    for id in meant {
        db.execute(&format!("DELETE FROM \"{table}\" WHERE rowid = ?"), [id])?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::memory::store;

    fn names(columns: &[(&str, Holds)]) -> Vec<String> {
        columns.iter().map(|(column, _)| (*column).to_owned()).collect()
    }

    #[test]
    fn every_column_that_can_hold_a_name_is_listed() {
        let dir = tempfile::tempdir().unwrap();
        let db = store::open(dir.path(), None).unwrap();
        let tables: Vec<String> = db
            .prepare(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
            )
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let columns = |table: &str| -> Vec<String> {
            let query =
                "SELECT name FROM pragma_table_info(?) WHERE type NOT IN ('INTEGER', 'REAL')";
            let mut statement = db.prepare(query).unwrap();
            let found = statement.query_map([table], |row| row.get(0)).unwrap();
            found.collect::<Result<_, _>>().unwrap()
        };
        let found = tables.iter().map(|table| (table.as_str(), columns(table)));
        let found: BTreeMap<&str, Vec<String>> =
            found.filter(|(_, columns)| !columns.is_empty()).collect();
        let listed: BTreeMap<&str, Vec<String>> =
            COLUMNS.iter().map(|(table, columns)| (*table, names(columns))).collect();
        assert_eq!(found, listed);
    }
}
