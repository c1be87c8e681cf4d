//! What is derived from the rows – rows as they are read, words, codes of vectors, lists – kept from one start to the next.
//!
//! It lies in the store's folder under `derived/`: two shelves ([`super::shelf`]), which grow while the store is open; `state`,
//! written when it is closed, which tells what lies where on them; and `stamp`, written last, which tells what the database
//! was then. A start whose database is still the one of the stamp (its size and time of change), by the same program, maps
//! the shelves and reads the state, and writes nothing. Any other reads the rows again, and begins new shelves.
//!
//! The stamp goes before the database is changed for the first time, so what a killed process leaves is never read, and is
//! removed at the next start. The state goes before anything is erased; what is erased is overwritten on the shelves. Of an encrypted
//! store nothing is kept: it would lie there plain.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::Mmap;
use serde::{Deserialize, Serialize};
use tracing::{debug, warn};

use super::Shelves;
use super::persist::{Reader, Writer, Written};
use super::shelf::{Shelf, Use};
use super::sums::Kept;
use crate::memory::store;
use crate::memory::store::{Loaded, Restored, SCHEMA_VERSION};
use crate::memory::tables::Tables;

/// Folder of the store in which it lies.
pub const DERIVED: &str = "derived";
/// Counts up with every change of how the state is written.
const FORMAT: u32 = 1;
/// Fewer versions of rows are soon read again.
const FEW: usize = if cfg!(test) { 1 } else { 10_000 };

/// The files of a store that is open for writing.
pub(crate) struct DerivedFiles {
    dir: PathBuf,
    database: PathBuf,
    /// What runs here; it may be replaced meanwhile.
    program: Option<FileMark>,
    /// Whether the stamp may be there.
    is_stamped: AtomicBool,
    /// What was restored, as long as its state is there.
    known: Mutex<Option<Stamp>>,
}

/// What a state belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    format: u32,
    schema: u32,
    /// Who wrote it: another program may derive something else.
    program: FileMark,
    database: FileMark,
    rows: Kept,
    lists: Kept,
    /// Bytes of the state, and their CRC-32.
    state: (u64, u32),
    /// Versions of rows in RAM.
    loaded: u64,
}

/// What tells a file from another, and from what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileMark {
    inode: u64,
    len: u64,
    /// When it was changed, nanoseconds UTC.
    changed: i64,
}

impl FileMark {
    fn of(path: &Path) -> io::Result<Self> {
        let file = fs::metadata(path)?;
        let changed = file.mtime() * 1_000_000_000 + file.mtime_nsec();
        Ok(Self { inode: file.ino(), len: file.len(), changed })
    }
}

impl DerivedFiles {
    /// Those of the store in that folder.
    pub(crate) fn of(store: &Path) -> Self {
        let program = std::env::current_exe().and_then(|path| FileMark::of(&path));
        Self {
            dir: store.join(DERIVED),
            database: store::database_path(store),
            program: program.ok(),
            is_stamped: AtomicBool::new(true),
            known: Mutex::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// What was derived when the store was closed, if that is still what would be derived. The database must be open: nobody else
    /// writes it.
    pub(crate) fn restore(&self) -> Option<Restored> {
        let restored = self.try_restore();
        if let Err(error) = &restored {
            debug!(%error, "rows are read from the database");
        }
        restored.ok()
    }

    fn try_restore(&self) -> io::Result<Restored> {
        let stamp: Stamp = serde_json::from_slice(&fs::read(self.path("stamp"))?)?;
        if Some(&stamp) != self.stamp(&stamp)?.as_ref() {
            return Err(io::Error::other("the database or the program is another one since"));
        }
        let file = File::open(self.path("state"))?;
        // SAFETY: whoever has the lock of the store is the only one who writes it, and replaces it as a whole.
        let state = unsafe { Mmap::map(&file)? };
        let written = Written { len: state.len() as u64, sum: crc32fast::hash(&state) };
        if stamp.state != (written.len, written.sum) {
            return Err(io::Error::other("the state is not what was written"));
        }
        let shelf = |name: &str, kept: &Kept, use_of: Use| {
            Shelf::reopen(&self.path(name), kept, use_of).map(Arc::new)
        };
        let rows = shelf("rows", &stamp.rows, Use::Rows)?;
        let lists = shelf("lists", &stamp.lists, Use::Lists)?;
        let mut from = Reader::new(&state, Arc::clone(&lists));
        let (tables, missing) = Tables::load(&mut from, &Shelves { rows, lists })
            .ok_or_else(|| io::Error::other("the state does not say what it should"))?;
        let loaded = Loaded { rows: stamp.loaded, malformed: 0 };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(stamp);
        Ok(Restored { tables, missing, loaded })
    }

    /// The stamp of that state as it would be now; `None` where none can be.
    fn stamp(&self, of: &Stamp) -> io::Result<Option<Stamp>> {
        let Some(program) = self.program.clone() else { return Ok(None) };
        // While SQLite has something in hand that is not in the file, the file's marks say nothing.
        match fs::metadata(self.database.with_extension("db-wal")) {
            Ok(wal) if wal.len() > 0 => return Ok(None),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let database = FileMark::of(&self.database)?;
        Ok(Some(Stamp { format: FORMAT, schema: SCHEMA_VERSION, program, database, ..of.clone() }))
    }

    /// New shelves, where nothing is yet; whatever was there is gone.
    pub(crate) fn begin(&self) -> Shelves {
        self.remove();
        let made = store::make_dir(&self.dir);
        if let Err(error) = made {
            debug!(%error, "what is derived is not kept");
        }
        let shelf = |name: &str, use_of: Use| Arc::new(Shelf::create(&self.path(name), use_of));
        Shelves { rows: shelf("rows", Use::Rows), lists: shelf("lists", Use::Lists) }
    }

    /// The database is about to be changed: what was derived before does not tell what is in it then.
    pub(crate) fn note_change(&self) {
        if self.is_stamped.swap(false, Ordering::AcqRel) {
            self.unlink("stamp");
            // Before the change is on the disk.
            let synced = File::open(&self.dir).and_then(|dir| dir.sync_all());
            synced.unwrap_or_else(|error| debug!(%error, "the folder of what is derived"));
        }
    }

    /// Something is about to be erased: the state may name it.
    pub(crate) fn note_erasure(&self) {
        self.note_change();
        if self.take_known().is_some() {
            self.unlink("state");
        }
    }

    fn take_known(&self) -> Option<Stamp> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps what is derived for the next start; the database is closed.
    pub(crate) fn save(&self, tables: &Tables) {
        let kept = if tables.count() < FEW { Ok(false) } else { self.try_save(tables) };
        match kept {
            Ok(true) => {}
            Ok(false) => self.remove(),
            Err(error) => {
                warn!(%error, dir = %self.dir.display(), "What was derived is not kept: the next start reads all rows again.");
                self.remove();
            }
        }
    }

    /// Whether it is kept.
    fn try_save(&self, tables: &Tables) -> io::Result<bool> {
        let known = self.take_known().filter(|_| tables.is_as_restored());
        let of = match &known {
            Some(known) => known.clone(),
            None => match self.write_state(tables)? {
                Some(new) => new,
                None => return Ok(false),
            },
        };
        let Some(stamp) = self.stamp(&of)? else { return Ok(false) };
        if known.as_ref() == Some(&stamp) && self.is_stamped.load(Ordering::Acquire) {
            return Ok(true);
        }
        self.put("stamp", |mut file| {
            file.write_all(&serde_json::to_vec(&stamp)?)?;
            file.sync_all()
        })?;
        File::open(&self.dir)?.sync_all()?;
        Ok(true)
    }

    /// Writes the state; the stamp of it that is not yet one of the database, or `None` where something lies in RAM that is
    /// to lie on a shelf.
    fn write_state(&self, tables: &Tables) -> io::Result<Option<Stamp>> {
        let shelves = tables.shelves();
        let (Some(rows), Some(lists)) = (shelves.rows.keep()?, shelves.lists.keep()?) else {
            return Ok(None);
        };
        let Some(program) = self.program.clone() else { return Ok(None) };
        let state = self.put("state", |file| {
            let mut to = Writer::new(file, &shelves.lists);
            let is_whole = tables.save(&mut to);
            let written = to.finish()?;
            Ok(is_whole.then_some((written.len, written.sum)))
        })?;
        let database = FileMark::of(&self.database)?;
        let (format, schema, loaded) = (FORMAT, SCHEMA_VERSION, tables.count() as u64);
        Ok(state.map(|state| Stamp {
            format,
            schema,
            program,
            database,
            rows,
            lists,
            state,
            loaded,
        }))
    }

    /// Writes a file as a whole.
    fn put<T>(&self, name: &str, write: impl FnOnce(File) -> io::Result<T>) -> io::Result<T> {
        let (new, path) = (self.path("new"), self.path(name));
        let file =
            File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        let written = write(file)?;
        fs::rename(&new, &path)?;
        Ok(written)
    }

    fn unlink(&self, name: &str) {
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                warn!(%error, path = %path.display(), "What is derived cannot be removed.");
            }
            _ => {}
        }
    }

    /// Removes all of it.
    pub(crate) fn remove(&self) {
        ["stamp", "state", "new", "rows", "lists"].iter().for_each(|name| self.unlink(name));
        self.is_stamped.store(false, Ordering::Release);
        self.take_known();
    }
}
