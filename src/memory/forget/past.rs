//! What upkeep keeps of itself, and letting go of the past: versions retired long ago are deleted.
//!
//! `as_of` is exact from [`Memory::history_from`] on; compacting moves that border. Nothing that is shown now
//! or since the border is touched.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::ids::{MemoryId, Seq};
use crate::time::Timestamp;

use crate::memory::error::MemoryError;
use crate::memory::model::{Decision, MemoryKind, MemoryRow, Retirement};
use crate::memory::recovery::spare::ACCESS;
use crate::memory::store::scrub::scrubbing;
use crate::memory::tables::{Tables, each_table};
use crate::memory::versions::temporal::Temporal;
use crate::memory::{AccessCounts, Memory, View};

/// How far a job of upkeep has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Event time of its last pass.
    pub at: Timestamp,
    /// The newest commit that the pass had seen.
    pub seq: Seq,
}

/// What compacting did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Compacted {
    /// Row versions deleted.
    pub rows: u64,
}

impl Memory {
    /// How far a job of upkeep has come; `None` before its first pass.
    ///
    /// # Errors
    /// When the store fails.
    pub fn mark(&self, job: &str) -> Result<Option<Mark>, MemoryError> {
        self.with_db("reading how far upkeep has come", |db| {
            if !has_table(db, "upkeep")? {
                return Ok(None);
            }
            db.prepare_cached("SELECT at, seq FROM upkeep WHERE job = ?")?
                .query_row([job], |row| {
                    let seq = Seq(row.get::<_, i64>(1)? as u64);
                    Ok(Mark { at: Timestamp::from_nanos(row.get(0)?), seq })
                })
                .optional()
        })
    }

    /// Notes that a job has looked at everything up to now and changed nothing; a job that changes something
    /// notes it in its draft ([`crate::memory::Draft::mark`]).
    ///
    /// # Errors
    /// When the store is read-only or fails.
    pub fn set_mark(&self, job: &str, at: Timestamp) -> Result<(), MemoryError> {
        let _permit = self.0.turnstile.enter();
        let mark = Mark { at, seq: self.tables().published() };
        self.transaction("noting how far upkeep has come", |db| write_mark(db, job, mark))
    }

    /// How often each memory was recalled, and when the last time.
    ///
    /// # Errors
    /// When the store fails.
    pub fn accesses(&self) -> Result<BTreeMap<MemoryId, (u64, Timestamp)>, MemoryError> {
        let written = self.with_db("reading access counts", |db| {
            db.prepare_cached("SELECT memory, count, newest FROM access")?
                .query_map([], |row| {
                    let (id, count): (i64, i64) = (row.get(0)?, row.get(1)?);
                    let newest = Timestamp::from_nanos(row.get(2)?);
                    Ok((MemoryId(id as u64), (count as u64, newest)))
                })?
                .collect()
        });
        let mut counts: AccessCounts = self.spared_or(ACCESS, written)?;
        let waiting = self.0.access.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, (count, newest)) in waiting.iter() {
            let entry = counts.entry(*id).or_insert((0, *newest));
            entry.0 += count;
            entry.1 = entry.1.max(*newest);
        }
        Ok(counts)
    }

    /// How many row versions [`Self::compact`] would delete.
    #[must_use]
    pub fn compactable(&self, before: Timestamp) -> u64 {
        let tables = self.tables();
        let Some((border, _)) = border(&tables, before) else { return 0 };
        let mut rows = 0;
        macro_rules! count_tables {
            ($($field:ident: $row:ty,)*) => {
                $(rows += tables.$field.log().count_retired(border) as u64;)*
            };
        }
        each_table!(count_tables);
        rows
    }

    /// Deletes for good what was retired up to `before` (record time), one transaction; from then on the past
    /// is exact since `before`. Views taken earlier keep what they see until they are dropped.
    ///
    /// # Errors
    /// When the store is read-only or fails; then nothing is changed.
    pub fn compact(&self, before: Timestamp) -> Result<Compacted, MemoryError> {
        let _permit = self.0.turnstile.enter();
        let tables = self.tables();
        let Some((seq, recorded)) = border(&tables, before) else {
            return Ok(Compacted::default());
        };
        let (deleted, left) = self.transaction("letting go of the past", |db| {
            // Nobody can erase later what is no row any more.
            let (rows, touched) = scrubbing(db, |db| {
                let mut rows = 0;
                macro_rules! delete_tables {
                    ($($field:ident: $row:ty,)*) => { $(rows += delete_retired::<$row>(db, seq)?;)* };
                }
                each_table!(delete_tables);
                let spared = self.is_spared(ACCESS);
                rows += delete_traces(db, if spared { &TRACES[1..] } else { &TRACES })?;
                Ok(rows)
            })?;
            write_history(db, seq, recorded)?;
            Ok((rows, self.read_left(db, &tables, &touched)?))
        })?;
        self.set_history(Some((seq, recorded)));
        if deleted > 0 {
            self.show_left(&tables, left, &[]);
        }
        Ok(Compacted { rows: deleted })
    }

    pub(crate) fn history(&self) -> Option<(Seq, Timestamp)> {
        *self.0.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::memory) fn set_history(&self, history: Option<(Seq, Timestamp)>) {
        *self.0.history.lock().unwrap_or_else(PoisonError::into_inner) = history;
    }
}

impl View {
    /// How many memories there are.
    #[must_use]
    pub fn count_memories(&self) -> u64 {
        let (table, log) = (&self.tables.memories, self.tables.memories.log());
        (0..log.len()).filter(|at| table.shows_in(&log, *at, &self.horizon)).count() as u64
    }

    /// How many versions of memories the store holds, retired ones too.
    #[must_use]
    pub fn count_versions(&self) -> u64 {
        self.tables.memories.log().count() as u64
    }

    /// How many memories were written, or written anew, after a commit.
    #[must_use]
    pub fn written_since(&self, seq: Seq) -> u64 {
        let log = self.tables.memories.log();
        let from = log.partition_point(|at| at <= seq);
        (from..log.len()).filter(|at| log.seq(*at).is_some()).count() as u64
    }

    /// Sum of the importance of what was written after a commit, upkeep's own writing aside.
    #[must_use]
    pub fn importance_since(&self, seq: Seq) -> f64 {
        let log = self.tables.memories.log();
        let from = log.partition_point(|at| at <= seq);
        let counts = |row: &MemoryRow| {
            !matches!(row.kind, MemoryKind::Reflection | MemoryKind::Summary | MemoryKind::Lesson)
        };
        log.iter_from(from)
            .filter(|version| {
                counts(&version.row) && self.tables.memories.shows(version, &self.horizon)
            })
            .map(|version| f64::from(version.row.importance))
            .sum()
    }
}

/// Reads from where on the past is exact; `None`: from the beginning.
pub(in crate::memory) fn read_history(
    db: &Connection,
) -> rusqlite::Result<Option<(Seq, Timestamp)>> {
    if !has_table(db, "history")? {
        return Ok(None);
    }
    db.query_row("SELECT seq, recorded FROM history WHERE id = 1", [], |row| {
        Ok((Seq(row.get::<_, i64>(0)? as u64), Timestamp::from_nanos(row.get(1)?)))
    })
    .optional()
}

/// Writes from where on the past is exact, inside a transaction.
pub(in crate::memory) fn write_history(
    db: &Connection,
    seq: Seq,
    recorded: Timestamp,
) -> rusqlite::Result<()> {
    db.execute(
        "INSERT OR REPLACE INTO history (id, seq, recorded) VALUES (1, ?, ?)",
        params![seq.0 as i64, recorded.as_nanos()],
    )
    .map(drop)
}

/// Writes a mark inside a transaction.
pub(in crate::memory) fn write_mark(
    db: &Connection,
    job: &str,
    mark: Mark,
) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO upkeep (job, at, seq) VALUES (?, ?, ?)")?
        .execute(params![job, mark.at.as_nanos(), mark.seq.0 as i64])
        .map(drop)
}

/// Read beside an older writer, a table may not be there yet.
fn has_table(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    db.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)",
        [name],
        |row| row.get(0),
    )
}

/// The newest commit up to which every commit was recorded by `before`, and the latest record time among them.
pub(in crate::memory) fn border(tables: &Tables, before: Timestamp) -> Option<(Seq, Timestamp)> {
    let commits = tables.commits.load();
    let mut found: Option<(Seq, Timestamp)> = None;
    for commit in commits.iter().take_while(|commit| commit.recorded <= before) {
        let latest = found.map_or(commit.recorded, |(_, latest)| latest.max(commit.recorded));
        found = Some((commit.seq, latest));
    }
    found
}

fn delete_retired<R: Temporal>(db: &Connection, seq: Seq) -> rusqlite::Result<u64> {
    let deleted = db
        .prepare_cached(&format!("DELETE FROM \"{}\" WHERE retired_seq <= ?", R::TABLE))?
        .execute([seq.0 as i64])?;
    Ok(deleted as u64)
}

/// Tables of what hangs on a memory; the first may be done without.
const TRACES: [&str; 3] = [ACCESS, Retirement::TABLE, Decision::TABLE];

/// Why memories were closed, what was decided about them and how often they were recalled goes with them.
fn delete_traces(db: &Connection, tables: &[&str]) -> rusqlite::Result<u64> {
    let mut deleted = 0;
    for table in tables {
        deleted += db.execute(
            &format!("DELETE FROM \"{table}\" WHERE memory NOT IN (SELECT id FROM memory)"),
            [],
        )? as u64;
    }
    Ok(deleted)
}
