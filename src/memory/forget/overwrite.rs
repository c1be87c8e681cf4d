//! Erasing on the disk: free pages, the log, files that no row names, what was put aside.
//!
//! That this is due is noted with the rows' own transaction and struck out when it is done, so that a kill or a
//! full disk in between delays it and never skips it. The same goes for the vectors of sentences that were
//! rewritten: whoever can embed asks for them with [`Memory::rewritten`].

use std::fs;
use std::io::ErrorKind;
use std::sync::PoisonError;

use rusqlite::{Connection, params};

use crate::ids::{MemoryId, Seq};
use crate::memory::error::MemoryError;
use crate::memory::past::{Mark, write_mark};
use crate::memory::{ASIDE, Memory, store};
use crate::time::Timestamp;

/// The job whose mark says that bytes of what was erased are still on the disk.
const OVERWRITE: &str = "erase";
/// The jobs that say which sentences were rewritten begin with it; the memory's number follows.
const EMBED: &str = "embed:";

/// Notes what is left to do, inside the transaction that erases.
pub(super) fn note(
    db: &Connection,
    rewritten: &[MemoryId],
    (seq, at): (Seq, Timestamp),
) -> rusqlite::Result<()> {
    let mark = Mark { at, seq };
    write_mark(db, OVERWRITE, mark)?;
    for id in rewritten {
        write_mark(db, &format!("{EMBED}{}", id.0), mark)?;
    }
    Ok(())
}

impl Memory {
    /// Finishes an erasure that was cut short: by a kill, a full disk, another process that was reading. Gives
    /// back whether there was one.
    ///
    /// # Errors
    /// When the disk fails; it is tried again with the next call, and at the next start.
    pub fn finish_erasing(&self) -> Result<bool, MemoryError> {
        let _permit = self.0.turnstile.enter();
        if self.mark(OVERWRITE)?.is_none() {
            return Ok(false);
        }
        let files = self.overwrite()?;
        tracing::info!(files, "finished an erasure that was cut short");
        Ok(true)
    }

    /// Overwrites what the erased rows left behind; gives back how many files went. The writer's permit is held.
    pub(super) fn overwrite(&self) -> Result<u64, MemoryError> {
        let overwritten = {
            let db = self.0.db.lock().unwrap_or_else(PoisonError::into_inner);
            let path = store::database_path(self.dir());
            let done = empty_log(&db)
                .and_then(|_| db.execute_batch("VACUUM"))
                .and_then(|()| empty_log(&db));
            done.map_err(MemoryError::sqlite("overwriting what was erased", &path))?
        };
        let files = self.remove_orphans()?;
        self.remove_aside()?;
        if overwritten || files > 0 {
            self.transaction("noting that what was erased is overwritten", |db| {
                // Whatever was deleted is deleted for the newest erasure's sake.
                db.execute(
                    "UPDATE audit SET files = files + ? WHERE id = (SELECT max(id) FROM audit)",
                    [files as i64],
                )?;
                if overwritten {
                    db.execute("DELETE FROM upkeep WHERE job = ?", [OVERWRITE])?;
                }
                Ok(())
            })?;
        }
        if !overwritten {
            tracing::warn!(
                "Another process reads the store: bytes of what was erased stay in engram.db-wal until it is done; \
                 that is tried again."
            );
        }
        Ok(files)
    }

    /// What `check --repair` put aside cannot be read, so it may hold anything.
    fn remove_aside(&self) -> Result<(), MemoryError> {
        let folder = self.dir().join(ASIDE);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(MemoryError::io("deleting what was put aside in", &folder)(error))
            }
            _ => Ok(()),
        }
    }

    /// Memories whose sentence was rewritten by erasing and that nobody has embedded anew; ascending.
    ///
    /// # Errors
    /// When the store fails.
    pub fn rewritten(&self) -> Result<Vec<MemoryId>, MemoryError> {
        let mut ids = self.with_db("reading which sentences were rewritten", |db| {
            let mut found = Vec::new();
            let mut statement = db.prepare("SELECT job FROM upkeep WHERE job GLOB ?")?;
            let mut rows = statement.query([format!("{EMBED}*")])?;
            while let Some(row) = rows.next()? {
                let job: String = row.get(0)?;
                found.extend(job.strip_prefix(EMBED).and_then(|id| id.parse().ok()).map(MemoryId));
            }
            Ok(found)
        })?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Those were embedded anew, or are gone, as of the commit `seen`. What was rewritten after it is still due.
    ///
    /// # Errors
    /// When the store is read-only or fails.
    pub fn settle_rewritten(&self, ids: &[MemoryId], seen: Seq) -> Result<(), MemoryError> {
        let _permit = self.0.turnstile.enter();
        self.transaction("noting that sentences were embedded anew", |db| {
            for id in ids {
                db.execute(
                    "DELETE FROM upkeep WHERE job = ? AND seq <= ?",
                    params![format!("{EMBED}{}", id.0), seen.0 as i64],
                )?;
            }
            Ok(())
        })
    }
}

/// Brings the log into the file and cuts it to nothing; false when a reader holds on to it.
fn empty_log(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        .map(|busy| busy == 0)
}
