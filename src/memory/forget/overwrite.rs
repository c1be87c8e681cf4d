//! Erasing on the disk: the log, files that no row names, what was put aside.
//!
//! In the file itself nothing is left: deleted rows and freed pages are zeroed with the transaction that erases
//! ([`crate::memory::scrub`]), and pages that are free are used again. What is left is the write-ahead log with pages as
//! they were: it is brought into the file and cut, which waits for whoever reads. While somebody does, nothing is written
//! but what is remembered meanwhile, so that waiting costs nothing.
//!
//! That this is due is noted with the rows' own transaction and struck out when it is done, so that a kill or a
//! full disk in between delays it and never skips it. The same goes for the vectors of sentences that were
//! rewritten: whoever can embed asks for them with [`Memory::rewritten`].

use std::fs;
use std::io::ErrorKind;
use std::sync::PoisonError;
use std::time::Duration;

use rusqlite::{Connection, params};

use super::steps;
use crate::ids::{MemoryId, Seq};
use crate::memory::error::MemoryError;
use crate::memory::forget::past::{Mark, write_mark};
use crate::memory::model::MediaDigest;
use crate::memory::store::scrub::scrub_pages;
use crate::memory::{ASIDE, Memory, store};
use crate::time::Timestamp;

/// The job whose mark says that bytes of what was erased are still on the disk.
const OVERWRITE: &str = "erase";
/// The job whose mark says up to which page a store from before [`crate::memory::scrub`] is scrubbed; 0: all of it is.
const SCRUB: &str = "scrub";
/// Pages that are scrubbed in one transaction.
const PAGES_AT_ONCE: u32 = 8_192;
/// How long readers are waited for before it is tried again later.
const PATIENCE: Duration = Duration::from_millis(200);
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
        let files = self.overwrite(None)?;
        if self.mark(OVERWRITE)?.is_none() {
            tracing::info!(files, "finished an erasure that was cut short");
        }
        Ok(true)
    }

    /// Scrubs some more pages of a store that was written before erasing did; little where there is nothing to do.
    ///
    /// # Errors
    /// When the store is read-only or fails.
    pub fn scrub_idle(&self) -> Result<(), MemoryError> {
        let _permit = self.0.turnstile.enter();
        self.scrub_step().map(drop)
    }

    /// One step of that; false when all is done. The writer's permit is held.
    fn scrub_step(&self) -> Result<bool, MemoryError> {
        let first = match self.mark(SCRUB)? {
            Some(Mark { seq: Seq(0), .. }) => return Ok(false),
            Some(mark) => u32::try_from(mark.seq.0).unwrap_or(1),
            None => 1,
        };
        let next = self.transaction("scrubbing the free space in the memory's pages", |db| {
            let next = scrub_pages(db, first, PAGES_AT_ONCE)?;
            let seq = Seq(u64::from(next.unwrap_or(0)));
            write_mark(db, SCRUB, Mark { at: Timestamp::EPOCH, seq })?;
            Ok(next)
        })?;
        // So the log never holds more than the pages of a step.
        self.empty_log()?;
        Ok(next.is_some())
    }

    /// Overwrites what the erased rows left behind, the files in `gone` (`None`: whatever no row names); gives back how many
    /// files went. While somebody reads who may still need the old pages, it stays due. The writer's permit is held.
    pub(super) fn overwrite(&self, gone: Option<&[MediaDigest]>) -> Result<u64, MemoryError> {
        while self.scrub_step()? {}
        let overwritten = self.empty_log()?;
        steps::reached("log emptied");
        let files = match gone {
            None => self.remove_orphans()?,
            Some(gone) => {
                let removed = gone.iter().map(|digest| self.folder().remove(digest));
                removed.map(|removed| removed.map(u64::from)).sum::<Result<u64, _>>()?
            }
        };
        self.remove_aside()?;
        steps::reached("files deleted");
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
        steps::reached("noted");
        if !overwritten {
            tracing::warn!(
                "Another process reads the store: bytes of what was erased stay in engram.db-wal until it is done; \
                 that is tried again."
            );
        }
        Ok(files)
    }

    /// Whether something that was erased may still stand in the log.
    ///
    /// # Errors
    /// When the store fails.
    pub fn is_erasing(&self) -> Result<bool, MemoryError> {
        Ok(self.mark(OVERWRITE)?.is_some())
    }

    /// Brings the log into the file and cuts it to nothing; false when a reader holds on to it.
    fn empty_log(&self) -> Result<bool, MemoryError> {
        let path = store::database_path(self.dir());
        let db = self.0.db.lock().unwrap_or_else(PoisonError::into_inner);
        let emptied = db.busy_timeout(PATIENCE).and_then(|()| {
            let emptied =
                db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
            db.busy_timeout(store::PATIENCE)?;
            emptied
        });
        emptied
            .map(|busy| busy == 0)
            .map_err(MemoryError::sqlite("overwriting what was erased", &path))
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
