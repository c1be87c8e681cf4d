//! What an export holds beside the rows that have versions: the answers that were given, how often memories were
//! recalled, that something was erased.
//!
//! It depends on who asked and when, not on what was perceived: all of it is outside hash and `as_of`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::ids::{AnswerId, MemoryId, Seq};
use crate::time::Timestamp;

use super::import::counted;
use super::seal::Sealing;
use crate::memory::draft::Counters;
use crate::memory::error::MemoryError;
use crate::memory::forget::past::write_history;
use crate::memory::recovery::spare;
use crate::memory::view::View;
use crate::memory::{AnswerRow, Memory, write_access};

/// Answers that are read at once.
const PAGE: usize = 1024;

/// A row without versions, as a line of an export: `{"table","row"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "table", content = "row", rename_all = "snake_case")]
pub(in crate::memory) enum Beside {
    /// An answer that was given.
    Answer(AnswerRow),
    /// How often a memory was recalled, and when the last time.
    Access { memory: MemoryId, count: u64, newest: Timestamp },
    /// That something was erased, and when; not what.
    Audit { at: Timestamp, action: String, rows: u64, files: u64 },
    /// From where on the past is exact.
    History { seq: Seq, recorded: Timestamp },
    /// The next number of a kind of ids, where rows do not tell it: those that had higher ones are gone.
    Counter { what: String, next: u64 },
}

impl Beside {
    /// Whether rows of that table are such rows.
    pub(in crate::memory) fn is_table(table: &str) -> bool {
        matches!(table, "answer" | "access" | "audit" | "history" | "counter")
    }

    /// Puts it into a memory that was empty.
    pub(in crate::memory) fn insert(&self, db: &Connection) -> rusqlite::Result<()> {
        match self {
            Self::Answer(AnswerRow { id, question, document, asked }) => {
                write_answer(db, *id, question, document, *asked)?;
                raise_counter(db, "answer", id.0.saturating_add(1))
            }
            Self::Access { memory, count, newest } => {
                write_access(db, &BTreeMap::from([(*memory, (*count, *newest))]))
            }
            Self::Audit { at, action, rows, files } => db
                .prepare_cached("INSERT INTO audit (at, action, rows, files) VALUES (?, ?, ?, ?)")?
                .execute(params![at.as_nanos(), action, *rows as i64, *files as i64])
                .map(drop),
            Self::History { seq, recorded } => write_history(db, *seq, *recorded),
            Self::Counter { what, next } => raise_counter(db, what, *next),
        }
    }
}

/// The fault of whatever an export is written to.
pub(in crate::memory) fn unwritten(error: io::Error) -> MemoryError {
    MemoryError::io("writing the export to", Path::new("-"))(error)
}

impl Memory {
    /// Writes what there is beside the versions that the view shows; of an older view (`now` is false) only from where
    /// on its past is exact: the rest is of no time.
    pub(in crate::memory) fn export_beside(
        &self,
        view: &View,
        now: bool,
        out: &mut Sealing<impl Write>,
    ) -> Result<(), MemoryError> {
        let mut put = |row: Beside| out.row(&row).map_err(unwritten);
        if let Some((seq, recorded)) = self.history() {
            put(Beside::History { seq, recorded })?;
        }
        if !now {
            return Ok(());
        }
        let mut after = AnswerId(0);
        loop {
            let page = self.answers_after(after, PAGE)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            page.into_iter().try_for_each(|answer| put(Beside::Answer(answer)))?;
        }
        for (memory, (count, newest)) in self.accesses()? {
            // It may have come after the view was taken, or have gone before.
            if view.knows_memory(memory) {
                put(Beside::Access { memory, count, newest })?;
            }
        }
        self.audits()?.into_iter().try_for_each(&mut put)?;
        // Last: whatever an answer above names was given its number before.
        let told = counted(&view.tables).0;
        for (what, next) in self.with_db("reading the id counters", read_counters)?.0 {
            if told.get(&what).copied().unwrap_or(1) < next {
                put(Beside::Counter { what, next })?;
            }
        }
        Ok(())
    }

    /// The first answers after that one, oldest first.
    fn answers_after(&self, id: AnswerId, most: usize) -> Result<Vec<AnswerRow>, MemoryError> {
        let read = self.with_db("reading answers", |db| {
            db.prepare_cached(
                "SELECT id, question, document, asked FROM answer WHERE id > ? ORDER BY id LIMIT ?",
            )?
            .query_map([id.0 as i64, most as i64], crate::memory::answer_row)?
            .collect()
        });
        self.spared_or(spare::ANSWER, read)
    }

    /// What was erased when, oldest first.
    fn audits(&self) -> Result<Vec<Beside>, MemoryError> {
        let read = self.with_db("reading the audit", |db| {
            db.prepare_cached("SELECT at, action, rows, files FROM audit ORDER BY id")?
                .query_map([], |row| {
                    Ok(Beside::Audit {
                        at: Timestamp::from_nanos(row.get(0)?),
                        action: row.get(1)?,
                        rows: row.get::<_, i64>(2)? as u64,
                        files: row.get::<_, i64>(3)? as u64,
                    })
                })?
                .collect()
        });
        self.spared_or(spare::AUDIT, read)
    }
}

impl View {
    /// Whether any version of a memory was there by then, ended or not.
    fn knows_memory(&self, id: MemoryId) -> bool {
        let log = self.tables.memories.log();
        let mut known = false;
        self.tables.memories.numbered(id.0, |at| {
            known |= log.seq(at as usize).is_some_and(|seq| self.horizon.knows(seq.0));
        });
        known
    }
}

/// Keeps an answer, in place of another of its id.
pub(in crate::memory) fn write_answer(
    db: &Connection,
    id: AnswerId,
    question: &str,
    document: &str,
    asked: Timestamp,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO answer (id, question, document, asked) VALUES (?, ?, ?, ?)",
    )?
    .execute(params![id.0 as i64, question, document, asked.as_nanos()])
    .map(drop)
}

/// The next number of every kind of ids.
pub(in crate::memory) fn read_counters(db: &Connection) -> rusqlite::Result<Counters> {
    let rows = db
        .prepare_cached("SELECT what, next FROM counter ORDER BY what")?
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Counters(rows))
}

/// Numbers below `next` are not given any more.
pub(in crate::memory) fn raise_counter(
    db: &Connection,
    what: &str,
    next: u64,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO counter (what, next) VALUES (?1, ?2) \
         ON CONFLICT (what) DO UPDATE SET next = max(next, ?2)",
    )?
    .execute(params![what, next as i64])
    .map(drop)
}
