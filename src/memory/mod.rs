//! The memory: what is kept, and how it is read.
//!
//! Clips come in from `memorize` as a [`Draft`]; `recall`, `answer` and the command line read through a
//! [`View`]. The truth is SQLite ([`store`]), one transaction per commit; the same rows stand in RAM as
//! versions ([`versions::temporal`]) that a view filters by commit number, so readers never wait for the writer.

mod draft;
mod error;
mod exchange;
mod forget;
pub mod graph_export;
mod idset;
mod kept_answers;
pub mod model;
pub mod natures;
mod recovery;
mod rows;
mod sql;
mod store;
pub(crate) mod summary;
mod tables;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod upkeep;
mod vectors;
mod versions;
mod view;
mod watches;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use crate::encryption::{FileCipher, StoreKey};
use crate::ids::{AnswerId, MemoryId, Seq, SessionId};
use crate::time::Timestamp;

pub use draft::Draft;
pub use error::{AsOf, MemoryError};
pub use exchange::export::PerceptLine;
pub use exchange::import::Imported;
pub use exchange::import_m3::{M3Imported, ORIGIN as M3_ORIGIN};
pub use exchange::m3_graph::M3Graph;
pub use forget::past::{Compacted, Mark};
#[cfg(test)]
pub(crate) use forget::steps::ending::{ENDS_AT, STEPS};
pub use forget::{ERASED, Erased, Forget, Tally};
pub(crate) use idset::IdSet;
pub use recovery::salvage::{Gap, Salvaged, SalvagedTable, page_faults, salvage};
pub use rows::RowError;
pub use sql::{SqlLimits, SqlTable, sql_views};
pub use store::Loaded;
pub use store::encrypt::{Encrypted, encrypt};
pub use upkeep::CheckReport;
pub(crate) use vectors::{Look, likeness};
pub use vectors::{VectorCensus, VectorCount, VectorSearch};
pub use versions::derived::DERIVED;
pub use versions::temporal::Version;
pub use view::View;
pub use view::documents::{DOCUMENT, Document, PassageRow};
pub(crate) use view::filter::during;
pub use view::filter::{Filter, Order, PerceptFilter};
pub use view::grid::Point;
pub use view::lesson::Lesson;
pub use view::objects::{placed_by, who_placed};
pub(crate) use view::places::joined;
pub use view::places::{POSITION, Place, ThingNear, WHEREABOUTS, position_value};
pub use view::present::{
    Present, PresentFall, PresentFrame, PresentMemory, PresentState, PresentTrack, PresentTurn,
    Stranger,
};
pub use view::profile::{Profile, ProfileFact, ProfileNote};
pub(crate) use view::search::Words;
pub use view::seconds::spoken_once_secs;
pub use view::visits::{Appearance, Stay, Visit, VisitFilter, stays, whole_stays};
pub use watches::{FiringRow, FiringState, Happening, Hours, Rule, WatchRow, Whom};
pub(crate) use words::kin::{is_kin, with_kin};
pub use words::lexical::stems;
pub(crate) use words::lexical::telling_stems;
pub(crate) use words::spelling::is_misspelt;

/// Where `check --repair` puts what cannot be kept.
const ASIDE: &str = "aside";

use draft::Counters;
use model::{MediaDigest, Recording};
use store::media::MediaFolder;
use store::writer::Turnstile;
use tables::Tables;
use versions::derived::DerivedFiles;
use versions::temporal::Horizon;

/// How a store is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreOptions {
    /// Media files kept at most, bytes; gallery exemplars are never taken.
    pub media_cap_bytes: u64,
    /// Pictures and sound are written at all.
    pub keep_media: bool,
    /// Everything is encrypted under it; `None`: nothing is.
    pub key: Option<StoreKey>,
    /// How recall finds the nearest vectors.
    pub vectors: VectorSearch,
    /// Whoever was away for so long has gone: their visit is over. Seconds.
    pub absence_secs: f64,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            media_cap_bytes: 2_000_000_000,
            keep_media: true,
            key: None,
            vectors: VectorSearch::default(),
            absence_secs: 120.0,
        }
    }
}

/// What is derived may take so many times what the database takes, …
const MOST_DERIVED: u64 = 2;
/// … and so many bytes more.
const LOOSE_BYTES: u64 = if cfg!(test) { 1 << 20 } else { 1 << 30 };

/// Where an interrupted replay goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumePoint {
    /// The session to go on with.
    pub session: SessionId,
    /// The first clip that is not in yet.
    pub next_clip: u32,
    /// End of the newest clip that is in, or the session's start.
    pub watermark: Timestamp,
    /// The streaming state then; empty when no clip is in.
    pub checkpoint: Vec<u8>,
    /// All clips are in: "already remembered".
    pub finished: bool,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut counts =
            std::mem::take(self.access.get_mut().unwrap_or_else(PoisonError::into_inner));
        let tables = self.tables.load_full();
        counts.retain(|id, _| tables.holds_memory(*id));
        let db = self.db.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.lock.is_some()
            && !counts.is_empty()
            && let Err(error) = db.unchecked_transaction().and_then(|transaction| {
                write_access(&transaction, &counts)?;
                transaction.commit()
            })
        {
            warn!(%error, "cannot write the newest access counts");
        }
        let Some(derived) = &self.derived else { return };
        // What SQLite has still in hand is in the file once it is closed.
        let closed = Connection::open_in_memory()
            .is_ok_and(|none| std::mem::replace(db, none).close().is_ok());
        match closed && self.malformed.load(Ordering::Relaxed) == 0 {
            true => derived.save(&tables),
            false => derived.remove(),
        }
    }
}

/// An answer that was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerRow {
    /// Its id.
    pub id: AnswerId,
    /// What was asked.
    pub question: String,
    /// The reply as JSON text.
    pub document: String,
    /// When.
    pub asked: Timestamp,
}

/// The memory of one robot. Cheap to clone; many readers, one writer.
#[derive(Clone)]
pub struct Memory(Arc<Inner>);

struct Inner {
    dir: PathBuf,
    db: Mutex<Connection>,
    tables: ArcSwap<Tables>,
    counters: Mutex<Counters>,
    /// Counts up with every erasure, once nobody reads any more what is erased.
    erasures: AtomicU64,
    /// How many erasures are on their way.
    forgetting: AtomicU64,
    turnstile: Arc<Turnstile>,
    folder: MediaFolder,
    /// Of a store that is open for writing and is not encrypted.
    derived: Option<DerivedFiles>,
    present: Present,
    access: Mutex<AccessCounts>,
    /// Tables that are damaged and done without.
    spared: Mutex<BTreeSet<&'static str>>,
    /// From where on the past is exact; `None`: from the beginning.
    history: Mutex<Option<(Seq, Timestamp)>>,
    /// Size of all media files, about.
    media_bytes: AtomicU64,
    loaded: Loaded,
    /// Rows of the file that are not in RAM, since nobody can read them.
    malformed: AtomicU64,
    options: StoreOptions,
    /// Held for writing; `None` when opened for reading.
    lock: Option<std::fs::File>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("dir", &self.0.dir)
            .field("seq", &self.tables().published())
            .finish()
    }
}

impl Memory {
    /// Opens the store in `dir` for reading and writing; creates or migrates it.
    ///
    /// # Errors
    /// When another daemon holds it, it was written by a newer engram, or the disk fails.
    pub fn open(dir: &Path, options: &StoreOptions) -> Result<Self, MemoryError> {
        store::make_dir(dir)?;
        let lock = store::lock(dir)?;
        recovery::salvage::tidy(dir)?;
        let db = store::open(dir, options.key.as_ref())?;
        let memory = Self::with(dir, db, Some(lock), options)?;
        memory.spare_damaged(&[recovery::spare::ACCESS, recovery::spare::AUDIT]);
        if let Err(error) = memory.finish_erasing() {
            warn!(%error, "what was erased is not overwritten on the disk yet; it is tried again");
        }
        memory.remove_orphans()?;
        memory.enforce_media_cap()?;
        Ok(memory)
    }

    /// Opens the store in `dir` for reading, as it is now, beside a running daemon.
    ///
    /// # Errors
    /// When there is none, it was written by a newer engram, the `key` does not fit, or the disk fails.
    pub fn open_read_only(dir: &Path, key: Option<&StoreKey>) -> Result<Self, MemoryError> {
        let options = StoreOptions { key: key.cloned(), ..StoreOptions::default() };
        Self::open_read_only_with(dir, &options)
    }

    /// As [`Self::open_read_only`], with all of the options that matter to a reader.
    ///
    /// # Errors
    /// As there.
    pub fn open_read_only_with(dir: &Path, options: &StoreOptions) -> Result<Self, MemoryError> {
        let db = store::open_read_only(dir, options.key.as_ref())?;
        Self::with(dir, db, None, options)
    }

    fn with(
        dir: &Path,
        mut db: Connection,
        lock: Option<std::fs::File>,
        options: &StoreOptions,
    ) -> Result<Self, MemoryError> {
        let path = store::database_path(dir);
        // Whoever has the lock is the only one who writes.
        let second = lock.is_some().then(|| store::open_read_only(dir, options.key.as_ref()));
        let derived = (lock.is_some() && options.key.is_none()).then(|| DerivedFiles::of(dir));
        if lock.is_some() && options.key.is_some() {
            DerivedFiles::of(dir).remove();
        }
        let restored = derived.as_ref().and_then(DerivedFiles::restore);
        let begin = || match &derived {
            Some(derived) => derived.begin(),
            None => store::unnamed(&path, options.key.is_some()),
        };
        let (tables, loaded) = store::load(&mut db, second.transpose()?, &path, restored, &begin)?;
        if loaded.malformed > 0 {
            warn!(
                rows = loaded.malformed,
                "the memory holds malformed rows; `engramd check` lists them"
            );
        }
        let counters = {
            let fail = MemoryError::sqlite("reading the id counters", &path);
            exchange::beside::read_counters(&db).map_err(fail)?
        };
        let history = forget::past::read_history(&db)
            .map_err(MemoryError::sqlite("reading where the history begins", &path))?;
        Ok(Self(Arc::new(Inner {
            dir: dir.to_owned(),
            db: Mutex::new(db),
            tables: ArcSwap::from_pointee(tables),
            counters: Mutex::new(counters),
            erasures: AtomicU64::new(0),
            forgetting: AtomicU64::new(0),
            turnstile: Arc::default(),
            folder: MediaFolder::new(
                dir,
                FileCipher::new(options.key.as_ref(), store::media::PURPOSE),
            ),
            derived,
            present: Present::default(),
            access: Mutex::default(),
            spared: Mutex::default(),
            history: Mutex::new(history),
            media_bytes: AtomicU64::new(0),
            loaded,
            malformed: AtomicU64::new(loaded.malformed),
            options: options.clone(),
            lock,
        })))
    }

    /// The store's folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// How many rows were read at the start, and how many could not be.
    #[must_use]
    pub fn loaded(&self) -> Loaded {
        self.0.loaded
    }

    /// How the store is kept.
    #[must_use]
    pub fn options(&self) -> &StoreOptions {
        &self.0.options
    }

    /// Compares some of what was kept from the last start with its checksums, and computes some for the next: whether more is to
    /// follow. To be called again and again in the background. What was damaged is read from the database again.
    pub fn check_derived(&self) -> bool {
        let shelves = self.tables().shelves();
        for (name, shelf) in [("rows", shelves.rows), ("lists", shelves.lists)] {
            match shelf.check_next() {
                Ok(true) => return true,
                Ok(false) => {}
                Err(error) => {
                    warn!(name, %error, "What was derived from the memory is damaged on the disk: all rows are read again.");
                    if let Err(error) = self.derive_anew() {
                        warn!(%error, "cannot read the rows again");
                    }
                    return false;
                }
            }
        }
        false
    }

    /// Derives everything anew where it takes far more room than the rows do: what was folded, aged or erased, and lists that
    /// grew, leave their places behind. Reads all rows, some ten seconds for each GB; nothing is committed meanwhile, questions
    /// are answered. Whether it was done.
    ///
    /// # Errors
    /// When the database fails.
    pub fn tidy_derived(&self) -> Result<bool, MemoryError> {
        let shelves = self.tables().shelves();
        let (taken, rows) = (shelves.rows.len() + shelves.lists.len(), self.database_bytes());
        if taken <= LOOSE_BYTES + MOST_DERIVED * rows {
            return Ok(false);
        }
        info!(
            bytes = taken,
            database = rows,
            "What was derived is mostly of what is gone: all rows are read again."
        );
        self.derive_anew()?;
        Ok(true)
    }

    fn database_bytes(&self) -> u64 {
        std::fs::metadata(store::database_path(self.dir())).map_or(0, |file| file.len())
    }

    /// Reads all rows from the database; nothing of what was derived before is kept.
    fn derive_anew(&self) -> Result<(), MemoryError> {
        let _permit = self.0.turnstile.enter();
        let fresh = match &self.0.derived {
            Some(derived) => self.reload_onto(&|| derived.begin())?,
            None => self.reload()?,
        };
        self.0.tables.store(Arc::new(fresh));
        Ok(())
    }

    /// Puts a few thousand more vectors into the cells by which recall finds them where there are very many: whether more are to
    /// follow. To be called again and again in the background; until then they are found more slowly.
    pub fn gather_vectors(&self) -> bool {
        let tables = self.0.tables.load_full();
        tables.index.gather(&tables.vectors, self.0.options.vectors)
    }

    /// What is known now; it stays as it is whatever is committed meanwhile.
    #[must_use]
    pub fn view(&self) -> View {
        let tables = self.tables();
        let newest = tables.published();
        View::new(tables, Horizon::Prefix(newest))
    }

    /// The same with what was said in the open window. Take `present` first: what is sealed in between is then shown once.
    #[must_use]
    pub fn view_with(&self, present: &PresentState) -> View {
        self.view().with_present(present)
    }

    /// How often something was erased since this was opened. What was read after one reading of it and is done before
    /// another that is the same tells of nothing that was erased between them.
    #[must_use]
    pub fn erasures(&self) -> u64 {
        self.0.erasures.load(Ordering::SeqCst)
    }

    /// Whether something is being erased at this moment: nothing is committed meanwhile, and whoever waits for that is not
    /// stuck.
    #[must_use]
    pub fn is_forgetting(&self) -> bool {
        self.0.forgetting.load(Ordering::SeqCst) > 0
    }

    /// What was known at a record time or after a commit.
    ///
    /// # Errors
    /// When the commit is not there yet, or the time is before the history.
    pub fn view_as_of(&self, at: AsOf) -> Result<View, MemoryError> {
        let tables = self.tables();
        let newest = tables.published();
        if let Some((from, since)) = self.history() {
            let (gone, asked) = match at {
                AsOf::Seq(seq) => (seq < from, format!("commit {seq}")),
                AsOf::Time(time) => (time < since, time.to_string()),
            };
            if gone {
                let held = format!("what was known since {since} (commit {from})");
                return Err(MemoryError::Expired { asked, held });
            }
        }
        let horizon = match at {
            AsOf::Seq(seq) if seq > newest => {
                return Err(MemoryError::Expired {
                    asked: format!("commit {seq}"),
                    held: format!("commits up to {newest}"),
                });
            }
            AsOf::Seq(seq) => Horizon::Prefix(seq),
            AsOf::Time(time) => tables.horizon_at(time, newest),
        };
        Ok(View::new(tables, horizon))
    }

    /// Begins to collect changes; waits while another draft is open (so never hold two on one thread).
    #[must_use]
    pub fn begin(&self, record_time: Timestamp) -> Draft {
        let permit = self.0.turnstile.enter();
        Draft::new(self.clone(), permit, record_time)
    }

    /// Gives out the id of a memory that will be committed later, or never; the counter is kept at once, so that a killed daemon
    /// gives no id twice. Waits while a draft is open. Of live sessions alone: a replay mints its ids in its transactions.
    ///
    /// # Errors
    /// When the store fails.
    pub fn reserve_memory_id(&self) -> Result<MemoryId, MemoryError> {
        let _permit = self.0.turnstile.enter();
        let mut counters = self.counters();
        let id = counters.new_memory_id();
        self.transaction("reserving a memory's id", |db| counters.write(db))?;
        self.set_counters(counters);
        Ok(id)
    }

    /// From when on views of the past are exact: record time of the first commit, or what upkeep left of the
    /// past; `None` when empty.
    #[must_use]
    pub fn history_from(&self) -> Option<Timestamp> {
        if let Some((_, since)) = self.history() {
            return Some(since);
        }
        self.tables().commits.load().get(0).map(|commit| commit.recorded)
    }

    /// Record time of the newest commit; `None` when empty.
    #[must_use]
    pub fn newest_record(&self) -> Option<Timestamp> {
        let tables = self.tables();
        tables.commit_at(tables.published()).map(|commit| commit.recorded)
    }

    /// The latest record time of all commits, which is the newest commit's unless sessions with other clocks share the
    /// store; `None` when empty.
    #[must_use]
    pub fn latest_record(&self) -> Option<Timestamp> {
        let tables = self.tables();
        let commits = tables.commits.load();
        commits.iter().map(|commit| commit.recorded).max()
    }

    /// A media file's bytes; `None` when it is not kept any more.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn media(&self, digest: &MediaDigest) -> Result<Option<Vec<u8>>, MemoryError> {
        self.0.folder.read(digest)
    }

    /// The open window's percepts.
    #[must_use]
    pub fn present(&self) -> &Present {
        &self.0.present
    }

    /// Where the newest session of that recording goes on; `None` when it was never begun.
    ///
    /// # Errors
    /// When the store fails.
    pub fn resume_point(&self, recording: &Recording) -> Result<Option<ResumePoint>, MemoryError> {
        let view = self.view();
        let found = view.sessions().into_iter().rev().find(|session| {
            session.recording.as_ref().is_some_and(|known| {
                let selection = &recording.selection;
                let sealed = || forget::sealed(selection) == known.selection;
                known.sha256 == recording.sha256 && (known.selection == *selection || sealed())
            })
        });
        let Some(session) = found else { return Ok(None) };
        let newest = view.clips(Some(session.id)).last().cloned();
        let checkpoint = self.with_db("reading a checkpoint", |db| {
            db.query_row("SELECT state FROM checkpoint WHERE session = ?", [session.id.0], |row| {
                row.get(0)
            })
            .optional()
        })?;
        Ok(Some(ResumePoint {
            session: session.id,
            next_clip: newest.as_ref().map_or(0, |clip| clip.id.index + 1),
            watermark: newest.as_ref().map_or(session.start, |clip| clip.span.end),
            checkpoint: checkpoint.unwrap_or_default(),
            finished: session.finished,
        }))
    }

    /// Counts that memories were recalled; kept in RAM and written with the next commit.
    pub fn note_access(&self, ids: &[MemoryId], at: Timestamp) {
        let mut access = self.0.access.lock().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            let entry = access.entry(*id).or_insert((0, at));
            entry.0 += 1;
            entry.1 = entry.1.max(at);
        }
    }

    /// Keeps an answer; outside the hash and without a commit.
    ///
    /// # Errors
    /// When the store is read-only or fails.
    pub fn remember_answer(
        &self,
        question: &str,
        document: &str,
        asked: Timestamp,
    ) -> Result<AnswerId, MemoryError> {
        self.put_answer(None, question, document, asked, None)
    }

    /// The id that the next answer gets; whoever gives out several at once counts on from it and keeps each
    /// with [`Self::keep_answer`].
    #[must_use]
    pub fn next_answer_id(&self) -> AnswerId {
        AnswerId(self.counters().0.get("answer").copied().unwrap_or(1))
    }

    /// Keeps an answer under an id given out before; outside the hash and without a commit. `erasures` is how often
    /// something had been erased when it was sought: it may quote what was erased since, and is not kept then.
    ///
    /// # Errors
    /// When the store is read-only or fails.
    pub fn keep_answer(&self, answer: &AnswerRow, erasures: u64) -> Result<(), MemoryError> {
        let AnswerRow { id, question, document, asked } = answer;
        self.put_answer(Some(*id), question, document, *asked, Some(erasures)).map(drop)
    }

    fn put_answer(
        &self,
        id: Option<AnswerId>,
        question: &str,
        document: &str,
        asked: Timestamp,
        erasures: Option<u64>,
    ) -> Result<AnswerId, MemoryError> {
        // Nothing is erased from here on.
        let _permit = self.0.turnstile.enter();
        let mut counters = self.counters();
        let next = counters.0.entry("answer".to_owned()).or_insert(1);
        let late = erasures.is_some_and(|known| known != self.erasures());
        let id = id.unwrap_or(AnswerId(*next));
        *next = (*next).max(id.0 + 1);
        let next = *next;
        let write = || {
            self.transaction("keeping an answer", |db| {
                if !late && !self.is_spared(recovery::spare::ANSWER) {
                    exchange::beside::write_answer(db, id, question, document, asked)?;
                }
                exchange::beside::raise_counter(db, "answer", next)
            })
        };
        match write() {
            Err(error) if self.spare(&error) => write()?,
            written => written?,
        }
        self.set_counters(counters);
        Ok(id)
    }

    /// The newest answers, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn answers(&self, limit: usize) -> Result<Vec<AnswerRow>, MemoryError> {
        self.with_db("reading answers", |db| {
            db.prepare_cached(
                "SELECT id, question, document, asked FROM answer ORDER BY id DESC LIMIT ?",
            )?
            .query_map([i64::try_from(limit).unwrap_or(i64::MAX)], answer_row)?
            .collect()
        })
    }

    /// One answer.
    ///
    /// # Errors
    /// When the store fails.
    pub fn answer(&self, id: AnswerId) -> Result<Option<AnswerRow>, MemoryError> {
        self.with_db("reading an answer", |db| {
            db.prepare_cached("SELECT id, question, document, asked FROM answer WHERE id = ?")?
                .query_row([id.0 as i64], answer_row)
                .optional()
        })
    }

    pub(crate) fn tables(&self) -> Arc<Tables> {
        self.0.tables.load_full()
    }

    pub(crate) fn counters(&self) -> Counters {
        self.0.counters.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_counters(&self, counters: Counters) {
        *self.0.counters.lock().unwrap_or_else(PoisonError::into_inner) = counters;
    }

    /// Counts media bytes that came in; over the cap (by a sixteenth, so that it is not done at every
    /// commit) the oldest files go.
    pub(crate) fn note_media(&self, bytes: u64) {
        let cap = self.options().media_cap_bytes;
        let total = self.0.media_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if total > cap + cap / 16
            && let Err(error) = self.enforce_media_cap()
        {
            warn!(%error, "cannot bring media under their cap");
        }
    }

    /// How many rows of the file nobody can read: they are not in RAM.
    pub(crate) fn malformed(&self) -> u64 {
        self.0.malformed.load(Ordering::Relaxed)
    }

    pub(crate) fn set_malformed(&self, rows: u64) {
        self.0.malformed.store(rows, Ordering::Relaxed);
    }

    pub(crate) fn folder(&self) -> &MediaFolder {
        &self.0.folder
    }

    /// Runs a read on the database.
    pub(crate) fn with_db<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, MemoryError> {
        let db = self.0.db.lock().unwrap_or_else(PoisonError::into_inner);
        read(&db).map_err(MemoryError::sqlite(doing, &store::database_path(&self.0.dir)))
    }

    /// Runs a write as one transaction; on error nothing is changed.
    pub(crate) fn transaction<T>(
        &self,
        doing: &'static str,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, MemoryError> {
        if self.0.lock.is_none() {
            return Err(MemoryError::ReadOnly { doing });
        }
        if let Some(derived) = &self.0.derived {
            derived.note_change();
        }
        let mut db = self.0.db.lock().unwrap_or_else(PoisonError::into_inner);
        let path = store::database_path(&self.0.dir);
        let fail = || MemoryError::sqlite(doing, &path);
        let transaction =
            db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail())?;
        let done = write(&transaction).map_err(fail())?;
        transaction.commit().map_err(fail())?;
        Ok(done)
    }

    /// Takes the access counts gathered so far, but for those of memories that were erased since.
    pub(crate) fn take_access(&self) -> AccessCounts {
        let mut counts =
            std::mem::take(&mut *self.0.access.lock().unwrap_or_else(PoisonError::into_inner));
        let tables = self.tables();
        counts.retain(|id, _| tables.holds_memory(*id));
        counts
    }

    pub(crate) fn put_access_back(&self, counts: AccessCounts) {
        let mut access = self.0.access.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, (count, newest)) in counts {
            let entry = access.entry(id).or_insert((0, newest));
            entry.0 += count;
            entry.1 = entry.1.max(newest);
        }
    }

    /// How often a memory was recalled, and when the last time; what is not written yet counts too.
    ///
    /// # Errors
    /// When the store fails.
    pub fn access(&self, id: MemoryId) -> Result<Option<(u64, Timestamp)>, MemoryError> {
        let written = self.with_db("reading access counts", |db| {
            db.prepare_cached("SELECT count, newest FROM access WHERE memory = ?")?
                .query_row([id.0 as i64], |row| {
                    Ok((row.get::<_, i64>(0)? as u64, Timestamp::from_nanos(row.get(1)?)))
                })
                .optional()
        });
        let written: Option<(u64, Timestamp)> = self.spared_or(recovery::spare::ACCESS, written)?;
        let waiting =
            self.0.access.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
        Ok(match (written, waiting) {
            (Some(a), Some(b)) => Some((a.0 + b.0, a.1.max(b.1))),
            (a, b) => a.or(b),
        })
    }
}

/// Recalls per memory: how many, and the newest.
type AccessCounts = BTreeMap<MemoryId, (u64, Timestamp)>;

fn write_access(db: &Connection, counts: &AccessCounts) -> rusqlite::Result<()> {
    for (id, (count, newest)) in counts {
        db.prepare_cached(
            "INSERT INTO access (memory, count, newest) VALUES (?1, ?2, ?3) ON CONFLICT (memory) \
             DO UPDATE SET count = count + ?2, newest = max(newest, ?3)",
        )?
        .execute(params![id.0 as i64, *count as i64, newest.as_nanos()])?;
    }
    Ok(())
}

fn answer_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<AnswerRow> {
    Ok(AnswerRow {
        id: AnswerId(row.get::<_, i64>(0)? as u64),
        question: row.get(1)?,
        document: row.get(2)?,
        asked: Timestamp::from_nanos(row.get(3)?),
    })
}
