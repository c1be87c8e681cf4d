//! Reading an export back into an empty memory.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{Connection, params};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::ids::Seq;
use crate::time::Timestamp;

use super::beside::{Beside, raise_counter, read_counters};
use super::seal::Unsealing;
use crate::memory::draft::Counters;
use crate::memory::error::MemoryError;
use crate::memory::forget::past::{Mark, read_history, write_mark};
use crate::memory::model::Ground;
use crate::memory::tables::{Tables, each_table};
use crate::memory::versions::Shelves;
use crate::memory::versions::temporal::Temporal;
use crate::memory::{Memory, store};

/// The mark of what an import brought: whose media files are not in an export, nor the answers that it rests on in one of
/// the past, or of a form before 3.
pub(in crate::memory) const IMPORTED: &str = "imported";

/// What an import brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Imported {
    /// Commits.
    pub commits: u64,
    /// Row versions.
    pub rows: u64,
    /// Rows without versions: answers, access counts and the like.
    pub beside: u64,
    /// It was told from its last line that nothing is missing; exports of older versions do not say.
    pub whole: bool,
}

/// One line of an export.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    table: String,
    /// `None`, as the record time: the row has no versions.
    #[serde(default)]
    seq: Option<Seq>,
    #[serde(default)]
    retired_seq: Option<Seq>,
    #[serde(default)]
    recorded: Option<Timestamp>,
    #[serde(default)]
    row: serde_json::Value,
}

impl Line {
    /// The commit that brought it.
    fn commit(&self) -> Result<Mark, Fault> {
        let (seq, at) = self
            .seq
            .zip(self.recorded)
            .ok_or_else(|| Fault::Row("its `seq` or `recorded` is missing".to_owned()))?;
        Ok(Mark { at, seq })
    }
}

impl Memory {
    /// Reads an export (the JSON lines of [`Memory::export`]) into this memory, which must be empty. All of it comes
    /// in, or nothing. Media files are not in an export: what lacks them is no fault.
    ///
    /// # Errors
    /// When something was remembered here already, a line is no line of an export, its beginning or its end is
    /// missing, or the disk fails.
    pub fn import(&self, lines: impl BufRead) -> Result<Imported, MemoryError> {
        let _permit = self.0.turnstile.enter();
        self.must_be_empty()?;
        let mut seal = Unsealing::default();
        let mut rows = Vec::new();
        for (at, line) in lines.lines().enumerate() {
            let line = line.map_err(MemoryError::io("reading the export", &PathBuf::from("-")))?;
            let refused =
                |why: String| MemoryError::Refused(format!("importing: line {}: {why}", at + 1));
            if seal.takes_row(&line).map_err(refused)? {
                let row: Line =
                    serde_json::from_str(&line).map_err(|error| refused(error.to_string()))?;
                rows.push((at + 1, row));
            }
        }
        let whole =
            seal.finish().map_err(|why| MemoryError::Refused(format!("importing: {why}")))?;
        let mut fault = None;
        let imported = self.transaction("importing", |db| {
            let mut imported = Imported { whole, ..Imported::default() };
            let mut newest: Option<Mark> = None;
            for (number, line) in rows {
                let table = line.table.clone();
                match put(db, line) {
                    Ok(Put::Commit(mark)) => {
                        imported.commits += 1;
                        newest = Some(mark);
                    }
                    Ok(Put::Version) => imported.rows += 1,
                    Ok(Put::Beside) => imported.beside += 1,
                    Err(Fault::Row(reason)) => {
                        fault = Some(format!("importing: line {number}: {table}: {reason}"));
                        return Err(rusqlite::Error::QueryReturnedNoRows);
                    }
                    Err(Fault::Store(error)) => return Err(error),
                }
            }
            if let Some(newest) = newest {
                write_mark(db, IMPORTED, newest)?;
            }
            Ok(imported)
        });
        let imported = match (imported, fault) {
            (Ok(imported), _) => imported,
            (Err(_), Some(fault)) => return Err(MemoryError::Refused(fault)),
            (Err(error), None) => return Err(error),
        };
        let fresh = self.reload()?;
        let (counters, history) = self.transaction("counting the imported ids", |db| {
            for (what, next) in &counted(&fresh).0 {
                raise_counter(db, what, *next)?;
            }
            Ok((read_counters(db)?, read_history(db)?))
        })?;
        self.set_counters(counters);
        self.set_history(history);
        self.0.tables.store(Arc::new(fresh));
        Ok(imported)
    }

    /// Only an empty memory takes another one in.
    pub(in crate::memory) fn must_be_empty(&self) -> Result<(), MemoryError> {
        if self.tables().published() == Seq(0) && self.answers(1)?.is_empty() {
            return Ok(());
        }
        Err(MemoryError::Refused(format!(
            "importing into {}: something is remembered there already; import into an empty --data-dir",
            self.dir().display()
        )))
    }

    /// The newest commit that an import brought; 0 where nothing was imported.
    pub(in crate::memory) fn imported_until(&self) -> Result<Seq, MemoryError> {
        Ok(self.mark(IMPORTED)?.map_or(Seq(0), |mark| mark.seq))
    }

    /// The memory as it lies in the file.
    pub(crate) fn reload(&self) -> Result<Tables, MemoryError> {
        let encrypted = self.options().key.is_some();
        let path = store::database_path(self.dir());
        self.reload_onto(&|| store::unnamed(&path, encrypted))
    }

    /// The same, what is derived on new shelves.
    pub(crate) fn reload_onto(&self, begin: &dyn Fn() -> Shelves) -> Result<Tables, MemoryError> {
        let mut db = self.0.db.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let path = store::database_path(self.dir());
        let (tables, loaded) = store::load(&mut db, None, &path, None, begin)?;
        self.set_malformed(loaded.malformed);
        Ok(tables)
    }
}

enum Fault {
    Row(String),
    Store(rusqlite::Error),
}

/// What a line was.
enum Put {
    Commit(Mark),
    Version,
    Beside,
}

/// A number in there that the store has no room for.
fn beyond(value: &serde_json::Value) -> Option<u64> {
    match value {
        serde_json::Value::Number(number) => number.as_u64().filter(|number| !fits(*number)),
        serde_json::Value::Array(values) => values.iter().find_map(beyond),
        serde_json::Value::Object(values) => values.values().find_map(beyond),
        _ => None,
    }
}

fn fits(number: u64) -> bool {
    i64::try_from(number).is_ok()
}

/// Writes one line.
fn put(db: &Connection, line: Line) -> Result<Put, Fault> {
    let mut seqs = [line.seq, line.retired_seq].into_iter().flatten().map(|seq| seq.0);
    if let Some(number) = seqs.find(|seq| !fits(*seq)).or_else(|| beyond(&line.row)) {
        let why = format!("{number} is more than the store has room for ({})", i64::MAX);
        return Err(Fault::Row(why));
    }
    if line.table == "commits" {
        let commit = line.commit()?;
        db.prepare_cached("INSERT INTO commits (seq, recorded, ingested) VALUES (?1, ?2, ?2)")
            .and_then(|mut statement| {
                statement.execute(params![commit.seq.0 as i64, commit.at.as_nanos()])
            })
            .map_err(Fault::Store)?;
        return Ok(Put::Commit(commit));
    }
    if Beside::is_table(&line.table) {
        let row = json!({ "table": line.table, "row": line.row });
        let row: Beside =
            serde_json::from_value(row).map_err(|error| Fault::Row(error.to_string()))?;
        row.insert(db).map_err(Fault::Store)?;
        return Ok(Put::Beside);
    }
    macro_rules! put_tables {
        ($($field:ident: $row:ty,)*) => {
            match line.table.as_str() {
                $(<$row as Temporal>::TABLE => put_row::<$row>(db, line)?,)*
                _ => return Err(Fault::Row("there is no such table".to_owned())),
            }
        };
    }
    each_table!(put_tables);
    Ok(Put::Version)
}

fn put_row<R: Temporal + DeserializeOwned>(db: &Connection, line: Line) -> Result<(), Fault> {
    let Mark { at, seq } = line.commit()?;
    let row: R = serde_json::from_value(line.row).map_err(|error| Fault::Row(error.to_string()))?;
    let version = store::insert(db, None, &row, (seq, at)).map_err(Fault::Store)?;
    if let Some(seq) = line.retired_seq {
        store::retire::<R>(db, version, seq).map_err(Fault::Store)?;
    }
    Ok(())
}

/// The next number of every kind of id.
pub(in crate::memory) fn counted(tables: &Tables) -> Counters {
    let mut next: BTreeMap<String, u64> = BTreeMap::new();
    let mut seen = |what: &str, number: u64| {
        let next = next.entry(what.to_owned()).or_insert(1);
        *next = (*next).max(number.saturating_add(1));
    };
    for version in tables.entities.log().iter() {
        seen(version.row.id.kind.word(), u64::from(version.row.id.number));
    }
    for version in tables.memories.log().iter() {
        seen("memory", version.row.id.0);
        for ground in &version.row.grounds {
            if let Ground::Answer(answer) = ground {
                seen("answer", answer.0);
            }
        }
    }
    for version in tables.watches.log().iter() {
        seen("watch", version.row.id.0);
    }
    for version in tables.firings.log().iter() {
        seen("firing", version.row.id.0);
        seen("watch", version.row.watch.0);
    }
    for version in tables.sessions.log().iter() {
        seen("session", u64::from(version.row.id.0));
    }
    Counters(next)
}
