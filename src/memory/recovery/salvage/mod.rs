//! A database with damaged pages, or one that was cut short: what can be read of it is written to a new file, the old one is
//! put aside.
//!
//! Rows are read by their numbers, around the pages that cannot be read ([`gaps`]); where a page above others is
//! damaged, from those directly ([`strays`]). What other rows name is made again ([`again`]). The indexes stand in RAM
//! and are built when the new file is read.

mod again;
mod gaps;
mod rows;
mod strays;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use serde::Serialize;

use crate::encryption::{self, ConvertError, EncryptionError, StoreKey};

use super::pages;
use crate::memory::ASIDE;
use crate::memory::error::MemoryError;
use crate::memory::store;
use crate::memory::store::{MIGRATIONS, SCHEMA_VERSION};
pub use gaps::Gap;
use rows::{Fresh, Torn};

const DOING: &str = "salvaging the memory";
/// Written by the migrations themselves.
const VERSIONS: &str = "schema_version";

/// What was salvaged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Salvaged {
    /// Where the damaged file is now.
    pub aside: PathBuf,
    /// What was damaged in it.
    pub faults: Vec<String>,
    /// What was read of each table.
    pub tables: Vec<SalvagedTable>,
    /// Rows that were made again from others, by table.
    pub made_again: BTreeMap<&'static str, u64>,
}

/// What was read of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SalvagedTable {
    /// Its name.
    pub table: String,
    /// Rows that were kept.
    pub kept: u64,
    /// Numbers of rows that are lost; of tables whose rows have no numbers one gap that names none.
    pub lost: Vec<Gap>,
    /// It lost rows, be it that they were found again on pages that nothing leads to.
    #[serde(skip)]
    lost_some: bool,
    #[serde(skip)]
    numbered: bool,
    #[serde(skip)]
    columns: Vec<String>,
}

impl SalvagedTable {
    /// What became of it, in words.
    #[must_use]
    pub fn told(&self) -> String {
        let Self { table, kept, .. } = self;
        let kept = format!("table {table}: {kept} rows kept");
        if self.lost.is_empty() {
            return kept;
        }
        if !self.numbered {
            return format!("{kept}, some lost");
        }
        let gaps = self.lost.iter().map(|gap| match gap.last {
            Some(last) => format!("{}–{last} ({} at most)", gap.first, last - gap.first + 1),
            None => format!("any from {} on", gap.first),
        });
        format!("{kept}, of those numbered so lost: {}", gaps.collect::<Vec<_>>().join(", "))
    }
}

/// What is damaged in the database in `dir`, a line each: table, page, what SQLite says. Empty: its pages are sound.
///
/// # Errors
/// When there is no store, or nothing of it can be read ([`MemoryError::Unsalvageable`]).
pub fn page_faults(dir: &Path, key: Option<&StoreKey>) -> Result<Vec<String>, MemoryError> {
    let path = store::database_path(dir);
    if !path.is_file() {
        return Err(MemoryError::Missing { dir: dir.to_owned() });
    }
    let db = open(&path, OpenFlags::SQLITE_OPEN_READ_ONLY, key)?;
    pages::faults(&db).map_err(MemoryError::sqlite("checking the database", &path))
}

/// Writes the database in `dir` anew from what can be read of it, where pages of it are damaged. `None`: they are
/// sound, and nothing was done. The old file is kept in `aside/`.
///
/// # Errors
/// When there is no store, a daemon holds it, nothing of it can be read ([`MemoryError::Unsalvageable`]) or the disk
/// fails; the store is as it was then.
pub fn salvage(dir: &Path, key: Option<&StoreKey>) -> Result<Option<Salvaged>, MemoryError> {
    let path = store::database_path(dir);
    if !path.is_file() {
        return Err(MemoryError::Missing { dir: dir.to_owned() });
    }
    let _lock = store::lock(dir)?;
    let fail = || MemoryError::sqlite(DOING, &path);
    let old = open(&path, OpenFlags::SQLITE_OPEN_READ_WRITE, key)?;
    let faults = pages::faults(&old).map_err(fail())?;
    if faults.is_empty() {
        return Ok(None);
    }
    // What the log holds belongs to the file.
    let busy: bool =
        old.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map_err(fail())?;
    if busy {
        let why = ConvertError::Busy;
        return Err(MemoryError::Refused(format!("salvaging {}: {why}", path.display())));
    }
    let [fresh, copy] = unfinished(&path);
    let written = write_anew(dir, &path, old, (&fresh, &copy), key);
    remove(&copy)?;
    let (tables, made_again) = match written {
        Ok(written) => written,
        Err(error) => {
            remove(&fresh)?;
            return Err(error);
        }
    };
    let aside = put_aside(dir, &path)?;
    encryption::remove_logs(&path).map_err(MemoryError::io("deleting the log of", &path))?;
    let moving = MemoryError::io("moving the salvaged memory to", &path);
    fs::File::open(&fresh)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&fresh, &path))
        .and_then(|()| fs::File::open(dir)?.sync_all())
        .map_err(moving)?;
    Ok(Some(Salvaged { aside, faults, tables, made_again }))
}

/// Files beside the database that are there while it is salvaged: the new one, and a copy of the damaged one.
fn unfinished(path: &Path) -> [PathBuf; 2] {
    [path.with_extension("salvaged"), path.with_extension("torn")]
}

/// Deletes what a salvage left that was cut short; nobody may be at it.
pub(in crate::memory) fn tidy(dir: &Path) -> Result<(), MemoryError> {
    unfinished(&store::database_path(dir)).iter().try_for_each(|path| remove(path))
}

/// Opens what may be damaged.
fn open(path: &Path, flags: OpenFlags, key: Option<&StoreKey>) -> Result<Connection, MemoryError> {
    let unsalvageable =
        |reason: String| MemoryError::Unsalvageable { path: path.to_owned(), reason };
    match store::connect_torn(path, flags, key) {
        Err(MemoryError::Damaged { source, .. }) => Err(unsalvageable(source.to_string())),
        Err(MemoryError::Encryption { source, .. }) if source != EncryptionError::NotEncrypted => {
            Err(unsalvageable(source.to_string()))
        }
        opened => opened,
    }
}

type Written = (Vec<SalvagedTable>, BTreeMap<&'static str, u64>);

/// Writes what `old` (at `path`) holds into a new file, one transaction; `copy` is where a copy of it may lie meanwhile.
fn write_anew(
    dir: &Path,
    path: &Path,
    old: Connection,
    (fresh, copy): (&Path, &Path),
    key: Option<&StoreKey>,
) -> Result<Written, MemoryError> {
    let fail = || MemoryError::sqlite(DOING, path);
    let version = match store::version_of(&old) {
        Ok(0) => return Err(MemoryError::Missing { dir: dir.to_owned() }),
        Ok(found) if found > SCHEMA_VERSION => {
            return Err(MemoryError::TooNew { dir: dir.to_owned(), found, known: SCHEMA_VERSION });
        }
        Ok(found) => found,
        // Its page is damaged, too.
        Err(_) => SCHEMA_VERSION,
    };
    let (before, after) = MIGRATIONS.split_at(version as usize);
    let new = create(fresh, key)?;
    let transaction = new.unchecked_transaction().map_err(fail())?;
    for step in before {
        transaction.execute_batch(step).map_err(fail())?;
    }
    let mut tables = copy_tables(&old, &transaction).map_err(fail())?;
    // Whoever closes a file of a database loses the locks that connections hold on it.
    drop(old);
    if tables.iter().any(|table| table.lost_some) {
        fs::copy(path, copy).map_err(MemoryError::io("copying the damaged memory to", copy))?;
        let torn = open(copy, OpenFlags::SQLITE_OPEN_READ_WRITE, key)?;
        strays::read(&torn, &transaction, &mut tables).map_err(fail())?;
    }
    for step in after {
        transaction.execute_batch(step).map_err(fail())?;
    }
    let lost = tables.iter().filter(|table| table.lost_some).map(|table| &*table.table).collect();
    let made_again = again::rows(&transaction, &lost).map_err(fail())?;
    drop(lost);
    again::sizes(&transaction, dir, path)?;
    transaction.commit().map_err(fail())?;
    Ok((tables, made_again))
}

/// An empty database that only its owner reads.
fn create(path: &Path, key: Option<&StoreKey>) -> Result<Connection, MemoryError> {
    remove(path)?;
    fs::OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)
        .map_err(MemoryError::io("creating", path))?;
    store::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, key)
}

fn copy_tables(old: &Connection, new: &Connection) -> rusqlite::Result<Vec<SalvagedTable>> {
    let there: BTreeSet<String> = pages::tables(old)?.into_iter().collect();
    let known = pages::tables(new)?.into_iter();
    known
        .filter(|table| table != VERSIONS && there.contains(table))
        .map(|table| copy_table(old, new, table))
        .collect()
}

fn copy_table(
    old: &Connection,
    new: &Connection,
    table: String,
) -> rusqlite::Result<SalvagedTable> {
    let columns: Vec<String> = {
        let statement = old.prepare(&format!("SELECT * FROM \"{table}\""))?;
        statement.column_names().into_iter().map(str::to_owned).collect()
    };
    let mut into = Fresh::new(new, &table, &columns)?;
    let numbered: bool = new
        .query_row("SELECT wr = 0 FROM pragma_table_list WHERE name = ?", [&table], |row| {
            row.get(0)
        })
        .optional()?
        .unwrap_or(true);
    let mut kept = 0;
    let mut lost = Vec::new();
    if numbered {
        let mut torn = Torn::new(old, &table)?;
        let unread = gaps::read_around(|from, to| {
            torn.run(from, to, |number, values| {
                match into.take(values)? {
                    true => kept += 1,
                    false => lost.push(Gap { first: number, last: Some(number) }),
                }
                Ok(())
            })
        })?;
        lost.extend(unread);
        lost.extend(torn.displaced());
    } else {
        let whole = rows::unnumbered(old, &table, |values| {
            kept += u64::from(into.take(values)?);
            Ok(())
        })?;
        lost.extend((!whole).then_some(Gap { first: 1, last: None }));
    }
    let lost = gaps::joined(lost);
    Ok(SalvagedTable { table, kept, lost_some: !lost.is_empty(), lost, numbered, columns })
}

/// Keeps the damaged file under a name of its own.
fn put_aside(dir: &Path, path: &Path) -> Result<PathBuf, MemoryError> {
    let folder = dir.join(ASIDE);
    store::make_dir(&folder)?;
    let names = (1_u32..).map(|number| folder.join(format!("engram-damaged-{number}.db")));
    let aside = names.into_iter().find(|name| !name.exists()).unwrap_or_else(|| folder.clone());
    // Not every file system knows links.
    fs::hard_link(path, &aside)
        .or_else(|_| fs::copy(path, &aside).map(drop))
        .map_err(MemoryError::io("putting the damaged memory aside as", &aside))?;
    Ok(aside)
}

fn remove(path: &Path) -> Result<(), MemoryError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(MemoryError::io("deleting", path)(error))
        }
        _ => Ok(()),
    }
}
