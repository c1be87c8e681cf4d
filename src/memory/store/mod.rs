//! The truth: one SQLite file, one transaction per commit.

pub(super) mod encrypt;
pub(super) mod media;
pub(super) mod scrub;
pub(super) mod writer;

use std::collections::BTreeSet;
use std::fs;
use std::marker::PhantomData;
use std::ops::Add;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params, params_from_iter};
use tracing::{info, warn};

use crate::encryption::{self, StoreKey};
use crate::ids::Seq;
use crate::time::Timestamp;

use self::scrub::TouchedRows;
use super::error::MemoryError;
use super::model::MemoryVector;
use super::tables::{StruckRows, Tables, each_table};
use super::versions::Shelves;
use super::versions::shelf::{Shelf, Use};
use super::versions::temporal::{Table, Temporal, Version};

/// What brings an empty file to version 1, that to version 2, and so on.
pub(crate) const MIGRATIONS: [&str; 12] = [
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
    include_str!("schema_7.sql"),
    include_str!("schema_8.sql"),
    include_str!("schema_9.sql"),
    include_str!("schema_10.sql"),
    include_str!("schema_11.sql"),
    include_str!("schema_12.sql"),
];
/// Schema version this build writes.
pub(crate) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// How long others are waited for.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);
/// Notes in a store that is new that none of its pages was written before [`self::scrub`].
const SCRUBBED: &str = "INSERT OR REPLACE INTO upkeep (job, at, seq) VALUES ('scrub', 0, 0)";
/// Rows that are taken in at once.
const BATCH: usize = 1024;
/// Bytes of the file that are mapped while it is read whole: as many as SQLite maps.
const MAPPED: i64 = 0x7fff_0000;

/// What came from the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Versions in RAM.
    pub rows: u64,
    /// Versions left aside: they stay in the file, `engramd check` lists them.
    pub malformed: u64,
}

impl Add for Loaded {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self { rows: self.rows + more.rows, malformed: self.malformed + more.malformed }
    }
}

/// What was derived, and which tables are not in it.
pub(crate) struct Restored {
    pub(crate) tables: Tables,
    pub(crate) missing: BTreeSet<&'static str>,
    pub(crate) loaded: Loaded,
}

/// Makes the folder (0700) where it is missing.
pub(crate) fn make_dir(dir: &Path) -> Result<(), MemoryError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(MemoryError::io("creating the folder", dir))
}

/// Takes the lock of a store; it is held as long as the file is open.
pub(crate) fn lock(dir: &Path) -> Result<fs::File, MemoryError> {
    let path = dir.join("engram.lock");
    let file = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(MemoryError::io("opening the lock file", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(MemoryError::Locked { dir: dir.to_owned() }),
        Err(fs::TryLockError::Error(error)) => Err(MemoryError::io("locking", &path)(error)),
    }
}

/// What the database's key is derived for.
pub(crate) const PURPOSE: &str = "memory";

/// Where the database lies.
pub(crate) fn database_path(dir: &Path) -> PathBuf {
    dir.join("engram.db")
}

/// Opens the database for writing; creates and migrates it.
pub(crate) fn open(dir: &Path, key: Option<&StoreKey>) -> Result<Connection, MemoryError> {
    let path = database_path(dir);
    fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(MemoryError::io("creating", &path))?;
    // A store copied from elsewhere may have come with wider rights.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))
        .map_err(MemoryError::io("setting the rights of", &path))?;
    let doing = "opening the memory";
    let fail = || MemoryError::sqlite(doing, &path);
    let mut db = Connection::open(&path).map_err(fail())?;
    unlock(&db, &path, key)?;
    db.busy_timeout(PATIENCE).map_err(fail())?;
    // FULL: a commit is on the disk before it is answered from, power cut or not. secure_delete: what is
    // erased is overwritten.
    db.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; \
         PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=16777216;",
    )
    .map_err(fail())?;
    let found = version_of(&db).map_err(fail())?;
    if found > SCHEMA_VERSION {
        return Err(MemoryError::TooNew { dir: dir.to_owned(), found, known: SCHEMA_VERSION });
    }
    if found < SCHEMA_VERSION {
        let transaction = db.transaction().map_err(fail())?;
        for step in &MIGRATIONS[found as usize..] {
            transaction.execute_batch(step).map_err(fail())?;
        }
        if found == 0 {
            transaction.execute_batch(SCRUBBED).map_err(fail())?;
        }
        transaction.commit().map_err(fail())?;
        if found > 0 {
            info!(from = found, to = SCHEMA_VERSION, "brought the memory to the newest schema");
        }
    }
    Ok(db)
}

/// Gives the key to a database that was just opened.
fn unlock(db: &Connection, path: &Path, key: Option<&StoreKey>) -> Result<(), MemoryError> {
    encryption::unlock(db, path, key, PURPOSE)
        .map_err(MemoryError::sqlite("opening the memory", path))?
        .map_err(|source| MemoryError::Encryption { path: path.to_owned(), source })
}

/// Opens the database beside a writer.
pub(crate) fn open_read_only(
    dir: &Path,
    key: Option<&StoreKey>,
) -> Result<Connection, MemoryError> {
    let path = database_path(dir);
    if !path.is_file() {
        return Err(MemoryError::Missing { dir: dir.to_owned() });
    }
    let fail = || MemoryError::sqlite("opening the memory for reading", &path);
    let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY, key)?;
    let found = version_of(&db).map_err(fail())?;
    if found > SCHEMA_VERSION {
        return Err(MemoryError::TooNew { dir: dir.to_owned(), found, known: SCHEMA_VERSION });
    }
    if found == 0 {
        return Err(MemoryError::Missing { dir: dir.to_owned() });
    }
    Ok(db)
}

/// Opens a database file as it is, with its key.
pub(crate) fn connect(
    path: &Path,
    flags: OpenFlags,
    key: Option<&StoreKey>,
) -> Result<Connection, MemoryError> {
    connect_after("", path, flags, key)
}

/// The same of a file that may have been cut short; without that SQLite reads nothing of one with fewer pages than its
/// header tells.
pub(crate) fn connect_torn(
    path: &Path,
    flags: OpenFlags,
    key: Option<&StoreKey>,
) -> Result<Connection, MemoryError> {
    connect_after("PRAGMA writable_schema = ON", path, flags, key)
}

/// Opens a database file; `first` is said to SQLite before anything of it is read.
fn connect_after(
    first: &str,
    path: &Path,
    flags: OpenFlags,
    key: Option<&StoreKey>,
) -> Result<Connection, MemoryError> {
    let fail = || MemoryError::sqlite("opening the memory", path);
    let db = Connection::open_with_flags(path, flags).map_err(fail())?;
    db.execute_batch(first).map_err(fail())?;
    unlock(&db, path, key)?;
    db.busy_timeout(PATIENCE).map_err(fail())?;
    Ok(db)
}

/// The schema's version; 0: there is none.
pub(crate) fn version_of(db: &Connection) -> rusqlite::Result<u32> {
    let exists: bool = db.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'schema_version')",
        [],
        |row| row.get(0),
    )?;
    if exists {
        db.query_row("SELECT max(version) FROM schema_version", [], |row| row.get(0))
    } else {
        Ok(0)
    }
}

/// How versions come from a table: nearly always they were written in the order of commits, and having SQLite
/// sort them would take a copy of the whole table.
const ORDERS: [&str; 2] = ["version", "seq, version"];

/// Reads the whole memory, as of one moment of the file: as it was derived before, where that is kept and still fits.
///
/// `second`: reads vectors side by side with the rest; nobody may write meanwhile. `restored`: what is kept; `begin` makes the
/// shelves of what is derived anew.
pub(crate) fn load(
    db: &mut Connection,
    mut second: Option<Connection>,
    path: &Path,
    restored: Option<Restored>,
    begin: &dyn Fn() -> Shelves,
) -> Result<(Tables, Loaded), MemoryError> {
    let fail = || MemoryError::sqlite("reading the memory", path);
    if let Some(Restored { tables, missing, loaded }) = restored
        && load_tables(db, None, &tables, ORDERS[0], Some(&missing)).map_err(fail())?.is_some()
    {
        return Ok((tables, loaded));
    }
    for db in std::iter::once(&*db).chain(second.as_ref()) {
        map(db, MAPPED).map_err(fail())?;
    }
    let snapshot = db.transaction().map_err(fail())?;
    let read = read_into(begin, &snapshot, second.as_mut()).map_err(fail())?;
    drop(snapshot);
    map(db, 0).map_err(fail())?;
    Ok(read)
}

/// The same of what a transaction sees, its own changes too; nothing of it is kept for the next start.
pub(crate) fn read_all(
    db: &Connection,
    path: &Path,
    encrypted: bool,
) -> rusqlite::Result<(Tables, Loaded)> {
    read_into(&|| unnamed(path, encrypted), db, None)
}

/// Shelves in files without a name. What is encrypted is put on none: it would lie there plain.
pub(crate) fn unnamed(path: &Path, encrypted: bool) -> Shelves {
    let folder = path.parent().filter(|_| !encrypted);
    let shelf =
        |use_of: Use| folder.map(|folder| Shelf::unnamed(folder, use_of)).unwrap_or_default();
    Shelves { rows: Arc::new(shelf(Use::Rows)), lists: Arc::new(shelf(Use::Lists)) }
}

fn read_into(
    begin: &dyn Fn() -> Shelves,
    db: &Connection,
    mut second: Option<&mut Connection>,
) -> rusqlite::Result<(Tables, Loaded)> {
    let mut loaded = Loaded::default();
    let mut tables = Tables::default();
    for order in ORDERS {
        tables = Tables::on(&begin());
        let in_order = load_tables(db, second.as_deref_mut(), &tables, order, None)?;
        if let Some(rows) = in_order {
            loaded = rows;
            break;
        }
    }
    let mut statement = db.prepare("SELECT seq, recorded FROM commits ORDER BY seq")?;
    let commits = statement.query_map([], |row| {
        let seq = Seq(row.get::<_, i64>(0)? as u64);
        Ok((seq, Timestamp::from_nanos(row.get(1)?)))
    })?;
    tables.publish(commits.collect::<Result<Vec<_>, _>>()?);
    Ok((tables, loaded))
}

/// Has so many bytes of the file read where the system keeps them: without a call and a copy for every page. (What is
/// encrypted is copied all the same.)
fn map(db: &Connection, bytes: i64) -> rusqlite::Result<()> {
    db.query_row(&format!("PRAGMA mmap_size = {bytes}"), [], |_| Ok(())).optional()?;
    Ok(())
}

/// What became of the rows that a change touched, as the transaction sees them; `None` where some cannot be read.
pub(crate) fn read_struck(
    db: &Connection,
    touched: &TouchedRows,
) -> rusqlite::Result<Option<StruckRows>> {
    /// By version; `None` where it is gone.
    type Versions<R> = Vec<(i64, Option<R>)>;
    fn of_table<R: Temporal>(
        db: &Connection,
        touched: &TouchedRows,
    ) -> rusqlite::Result<Option<Versions<R>>> {
        let rows = touched.get(R::TABLE).map_or(&[][..], Vec::as_slice);
        let columns = quoted(R::COLUMNS);
        let mut read = Vec::with_capacity(rows.len());
        for version in rows {
            let query = format!("SELECT {columns} FROM \"{}\" WHERE version = ?", R::TABLE);
            let mut statement = db.prepare_cached(&query)?;
            let mut found = statement.query([version])?;
            let row = found.next()?.map(R::read).transpose();
            let Ok(row) = row else { return Ok(None) };
            read.push((*version, row));
        }
        Ok(Some(read))
    }
    let mut struck = StruckRows::default();
    macro_rules! read_tables {
        ($($field:ident: $row:ty,)*) => {
            $(match of_table::<$row>(db, touched)? {
                Some(rows) => struck.$field = rows,
                None => return Ok(None),
            })*
        };
    }
    each_table!(read_tables);
    Ok(Some(struck))
}

/// All tables, or `only` some; `None` when the rows of one do not come in the order of commits.
fn load_tables(
    db: &Connection,
    second: Option<&mut Connection>,
    tables: &Tables,
    order: &str,
    only: Option<&BTreeSet<&'static str>>,
) -> rusqlite::Result<Option<Loaded>> {
    let is_wanted = |table: &'static str| only.is_none_or(|only| only.contains(table));
    let loaded = std::thread::scope(|scope| {
        // Most of the work: words are taken in and codes made while rows are read.
        let worker = |extend: fn(&Tables)| {
            let (read, batches) = mpsc::channel();
            scope.spawn(move || {
                while let Ok(()) = batches.recv() {
                    batches.try_iter().for_each(drop);
                    extend(tables);
                }
            });
            read
        };
        // Dropped with this closure, whatever comes: then the workers end.
        let workers = [Tables::extend_words, Tables::extend_places].map(worker);
        let batch = move || {
            for read in &workers {
                // Only a worker that is gone does not listen; what it left is done below.
                let _ = read.send(());
            }
        };
        let beside = second.map(|second| {
            let batch = batch.clone();
            scope.spawn(move || load_table(second, &tables.vectors, order, &batch))
        });
        let mut loaded = Some(Loaded::default());
        macro_rules! load_all {
            ($($field:ident: $row:ty,)*) => {
                $(if is_wanted(<$row>::TABLE)
                    && (beside.is_none() || <$row>::TABLE != MemoryVector::TABLE)
                {
                    let rows = load_table(db, &tables.$field, order, &batch)?;
                    loaded = loaded.zip(rows).map(|(sum, rows)| sum + rows);
                })*
            };
        }
        each_table!(load_all);
        if let Some(beside) = beside {
            let rows = beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            loaded = loaded.zip(rows).map(|(sum, rows)| sum + rows);
        }
        Ok(loaded)
    });
    tables.extend_indexes();
    loaded
}

fn quoted(columns: &[&str]) -> String {
    columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ")
}

/// The columns of a table; NULL for those that it does not have yet.
pub(super) fn quoted_or_null(
    db: &Connection,
    table: &str,
    columns: &[&str],
) -> rusqlite::Result<String> {
    let mut statement = db.prepare("SELECT name FROM pragma_table_info(?)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    let there: Vec<String> = names.collect::<Result<_, _>>()?;
    let of = |column: &&str| match there.iter().any(|name| name == column) {
        true => format!("\"{column}\""),
        false => "NULL".to_owned(),
    };
    Ok(columns.iter().map(of).collect::<Vec<_>>().join(", "))
}

/// `None` when the rows do not come in the order of commits.
fn load_table<R: Temporal>(
    db: &Connection,
    table: &Table<R>,
    order: &str,
    batch: &dyn Fn(),
) -> rusqlite::Result<Option<Loaded>> {
    // Read beside a writer, or before the first writer of this version: a younger table or column may not be there.
    let there: bool = db.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)",
        [R::TABLE],
        |row| row.get(0),
    )?;
    if !there {
        return Ok(Some(Loaded::default()));
    }
    let mut statement = db.prepare(&format!(
        "SELECT {}, version, seq, retired_seq, recorded FROM \"{}\" ORDER BY {order}",
        quoted_or_null(db, R::TABLE, R::COLUMNS)?,
        R::TABLE
    ))?;
    let mut reading = Reading::<R> {
        rows: statement.query([])?,
        newest: Seq(0),
        loaded: Loaded::default(),
        over: None,
        of: PhantomData,
    };
    loop {
        table.append(reading.by_ref().take(BATCH), &[]);
        batch();
        if let Some(in_order) = reading.over.take() {
            return Ok(in_order?.then_some(reading.loaded));
        }
    }
}

/// Versions as they come from a table.
struct Reading<'s, R> {
    rows: rusqlite::Rows<'s>,
    newest: Seq,
    loaded: Loaded,
    /// How it ended: whether all came in the order of commits.
    over: Option<rusqlite::Result<bool>>,
    of: PhantomData<R>,
}

impl<R: Temporal> Reading<'_, R> {
    /// The next one that is well formed; `None` at the end, or where one is older than the one before.
    fn read(&mut self) -> rusqlite::Result<Option<Version<R>>> {
        let width = R::COLUMNS.len();
        while let Some(row) = self.rows.next()? {
            let rowid: i64 = row.get(width)?;
            let seq = Seq(row.get::<_, i64>(width + 1)? as u64);
            if seq < self.newest {
                self.over = Some(Ok(false));
                return Ok(None);
            }
            self.newest = seq;
            match R::read(row) {
                Ok(row_read) => {
                    let retired: Option<i64> = row.get(width + 2)?;
                    let retired = retired.map(|seq| Seq(seq as u64));
                    let recorded = Timestamp::from_nanos(row.get(width + 3)?);
                    self.loaded.rows += 1;
                    return Ok(Some(Version::new(
                        rowid,
                        seq,
                        retired,
                        recorded,
                        Arc::new(row_read),
                    )));
                }
                Err(error) => {
                    if self.loaded.malformed == 0 {
                        warn!(table = R::TABLE, version = rowid, %error, "leaving a malformed row aside");
                    }
                    self.loaded.malformed += 1;
                }
            }
        }
        self.over = Some(Ok(true));
        Ok(None)
    }
}

impl<R: Temporal> Iterator for Reading<'_, R> {
    type Item = Version<R>;

    fn next(&mut self) -> Option<Version<R>> {
        if self.over.is_some() {
            return None;
        }
        self.read().unwrap_or_else(|error| {
            self.over = Some(Err(error));
            None
        })
    }
}

/// A row id greater than all that are in the table.
pub(crate) fn next_rowid<R: Temporal>(db: &Connection) -> rusqlite::Result<i64> {
    let greatest = format!("SELECT ifnull(max(version), 0) FROM \"{}\"", R::TABLE);
    Ok(db.prepare_cached(&greatest)?.query_row([], |row| row.get::<_, i64>(0))? + 1)
}

/// Writes one version under that row id; `None`: under the next one.
pub(crate) fn insert<R: Temporal>(
    db: &Connection,
    rowid: Option<i64>,
    row: &R,
    (seq, recorded): (Seq, Timestamp),
) -> rusqlite::Result<i64> {
    let marks = vec!["?"; R::COLUMNS.len() + 3].join(", ");
    let mut statement = db.prepare_cached(&format!(
        "INSERT INTO \"{}\" (version, {}, seq, recorded) VALUES ({marks})",
        R::TABLE,
        quoted(R::COLUMNS),
    ))?;
    let mut values = vec![rowid.map_or(Value::Null, Value::Integer)];
    values.extend(row.bind());
    values.push(Value::Integer(seq.0 as i64));
    values.push(Value::Integer(recorded.as_nanos()));
    statement.execute(params_from_iter(values))?;
    Ok(db.last_insert_rowid())
}

/// Ends one version.
pub(crate) fn retire<R: Temporal>(db: &Connection, rowid: i64, seq: Seq) -> rusqlite::Result<()> {
    db.prepare_cached(&format!("UPDATE \"{}\" SET retired_seq = ? WHERE version = ?", R::TABLE))?
        .execute(params![seq.0 as i64, rowid])?;
    Ok(())
}
