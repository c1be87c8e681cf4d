//! What can go wrong with the store, in the reader's words.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::encryption::EncryptionError;
use crate::ids::{MemoryId, Seq};
use crate::time::Timestamp;

/// Anything that can go wrong with the memory.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Another daemon holds the store.
    #[error(
        "opening the memory in {dir}: another engramd holds it (lock file {dir}/engram.lock); stop that one, \
         give this one another --data-dir, or read beside it"
    )]
    Locked {
        /// The store's folder.
        dir: PathBuf,
    },
    /// No store lies there.
    #[error(
        "opening the memory in {dir}: no engram.db there; check --data-dir, or run `engramd run` or `engramd replay` first"
    )]
    Missing {
        /// The store's folder.
        dir: PathBuf,
    },
    /// The store was written by a newer engram.
    #[error(
        "opening the memory in {dir}: its schema version is {found}, this engram knows up to {known}; install the newer engram"
    )]
    TooNew {
        /// The store's folder.
        dir: PathBuf,
        /// Version in the file.
        found: u32,
        /// Newest version this build reads.
        known: u32,
    },
    /// It is encrypted and the key does not fit, or the other way round.
    #[error("opening {path}: {source}")]
    Encryption {
        /// The file.
        path: PathBuf,
        /// Why.
        source: EncryptionError,
    },
    /// A change was asked of a memory opened for reading.
    #[error(
        "{doing}: the memory is open for reading only; send the command to the running daemon instead"
    )]
    ReadOnly {
        /// What was being done.
        doing: &'static str,
    },
    /// The disk is full.
    #[error("{doing}: the disk that holds {path} is full; free space there (nothing was changed)")]
    DiskFull {
        /// What was being done.
        doing: &'static str,
        /// File or folder.
        path: PathBuf,
    },
    /// A file operation failed.
    #[error("{doing} {path}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// File or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A page of the database is not what SQLite wrote there.
    #[error(
        "{doing}: {path} is damaged ({source}); stop the daemon and run `engramd check --repair`: it keeps what can be read"
    )]
    Damaged {
        /// What was being done.
        doing: &'static str,
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The first pages of the database, by which everything else is found, cannot be read.
    #[error(
        "salvaging {path}: {reason}; without its first pages nothing in it can be found. If it is no matter of the key, \
         move the store's folder away and bring back a copy of it, or bring an `engramd export` into a new store with \
         `engramd import`"
    )]
    Unsalvageable {
        /// The database.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// SQLite failed.
    #[error(
        "{doing}: {source}; if it comes again, `engramd check` tells whether the store is damaged"
    )]
    Sqlite {
        /// What was being done.
        doing: &'static str,
        /// Why.
        source: rusqlite::Error,
    },
    /// Asked for a time before the history begins, or a commit that is not there.
    #[error("reading the memory as of {asked}: it holds {held}")]
    Expired {
        /// What was asked.
        asked: String,
        /// What there is.
        held: String,
    },
    /// A change that contradicts what the memory holds, or a query that it does not carry out: says what was to be done.
    #[error("{0}")]
    Refused(String),
    /// No such row.
    #[error("{doing}: no {what} in the memory")]
    NotFound {
        /// What was being done.
        doing: &'static str,
        /// What was looked for.
        what: String,
    },
}

impl MemoryError {
    pub(crate) fn sqlite(
        doing: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(rusqlite::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull { doing, path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { doing, path, source }
            }
            _ => Self::Sqlite { doing, source },
        }
    }

    pub(crate) fn io(
        doing: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { doing, path }
            }
            _ => Self::Io { doing, path, source },
        }
    }

    pub(crate) fn no_memory(doing: &'static str, id: MemoryId) -> Self {
        Self::NotFound { doing, what: id.to_string() }
    }

    /// True when the database itself is damaged.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }

    /// True when freeing disk space cures it: ingest pauses and tries again.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::DiskFull { .. })
    }
}

/// A point of the memory's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// What was known at that record time.
    Time(Timestamp),
    /// What was known after that commit.
    Seq(Seq),
}
