//! The outbox on disk: `outbox.db` in the state folder, so that a killed daemon loses no answer.
//!
//! It holds messages that wait for the broker, requests that were taken and not yet answered, and the ids of
//! changes that were carried out. One thread writes, many steps to a transaction; nobody waits for it. A kill loses
//! nothing that was handed over; a power cut may lose the last seconds, never the file.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use rusqlite::{Connection, OptionalExtension, params};

use super::dispatch::ReplyTo;
use super::outbox::{Class, Outgoing, withdrawn};
use crate::encryption::{self, EncryptionError, StoreKey};
use crate::time::Timestamp;

/// Steps that may wait for the disk before whoever hands them over waits, too.
const QUEUE: usize = 8192;
/// Steps in one transaction, at most.
const BATCH: usize = 512;
/// How often a full disk is tried again.
const AGAIN_EVERY: Duration = Duration::from_secs(1);
/// How long the id of a change is known, seconds.
pub(super) const ACTED_SECS: u64 = 3600;
/// The file's name.
const FILE: &str = "outbox.db";
/// What its key is derived for.
const PURPOSE: &str = "outbox";
/// What one that is damaged is called.
const DAMAGED: &str = "db.damaged";

const SCHEMA: &str = "
PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON; PRAGMA journal_size_limit=4194304;
CREATE TABLE IF NOT EXISTS waiting (
    seq INTEGER PRIMARY KEY, topic TEXT NOT NULL, payload BLOB NOT NULL, reply INTEGER NOT NULL, correlation BLOB,
    content_type TEXT NOT NULL, put INTEGER NOT NULL, lasts INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS taken (
    ticket INTEGER PRIMARY KEY, id TEXT, request INTEGER NOT NULL, writes INTEGER NOT NULL, topic TEXT NOT NULL,
    correlation BLOB) STRICT;
CREATE TABLE IF NOT EXISTS acted (
    id TEXT PRIMARY KEY, request INTEGER NOT NULL, reply BLOB NOT NULL, at INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS erasing (id INTEGER PRIMARY KEY CHECK (id = 1)) STRICT;
";

/// A request that was taken, until it is answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    pub(super) ticket: u64,
    pub(super) id: Option<String>,
    /// Fingerprint of topic and payload.
    pub(super) request: u64,
    pub(super) writes: bool,
    pub(super) reply_to: ReplyTo,
}

/// A change that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Acted {
    pub(super) id: String,
    pub(super) request: u64,
    pub(super) reply: Vec<u8>,
    /// How long ago.
    pub(super) age: Duration,
}

/// What an earlier daemon left behind.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Messages by number, with the time they are still worth sending.
    pub(super) waiting: Vec<(u64, Outgoing, Duration)>,
    /// Requests without an answer.
    pub(super) taken: Vec<Taken>,
    /// Ids of changes.
    pub(super) acted: Vec<Acted>,
}

/// A step on its way to the disk.
enum Step {
    Put(u64, Box<Outgoing>),
    Done(u64),
    Take(Box<Taken>),
    Settle(u64),
    Act { id: String, request: u64, reply: Vec<u8> },
    Erasing(bool),
    Erase,
    After(Afterwards),
}

/// Done by the writing thread once the steps before it are on disk; must not wait.
type Afterwards = Box<dyn FnOnce() + Send>;

/// Hands steps to the writing thread. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    steps: Sender<Step>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum JournalError {
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Encryption(#[from] EncryptionError),
}

impl JournalError {
    /// Nobody can read it any more. (Under another key the memory beside it would not have been opened.)
    fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            Self::Sqlite(error) => {
                matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
            }
            Self::Encryption(why) => *why != EncryptionError::NotEncrypted,
            Self::Io(_) => false,
        }
    }
}

impl Journal {
    /// Opens the journal in `dir`, encrypted under the store's `key`, and gives what is left in it. One that is damaged is put aside.
    pub(super) fn open(dir: &Path, key: Option<&StoreKey>) -> Result<(Self, Left), JournalError> {
        let path = dir.join(FILE);
        if let Some(key) = key {
            // One from before there was a key; what goes wrong shows when it is opened.
            let _ = encryption::encrypt_database(&path, key, PURPOSE);
        }
        let opened = open(&path, key).and_then(|mut db| {
            finish_erasing(&mut db)?;
            let left = read(&mut db)?;
            Ok((db, left))
        });
        let (db, left) = match opened {
            Err(error) if error.is_damage() => {
                let aside = put_aside(&path)?;
                tracing::warn!(
                    "the messages that waited for the broker cannot be read ({error}); they are put aside as {}",
                    aside.display()
                );
                (open(&path, key)?, Left::default())
            }
            other => other?,
        };
        let (steps, taken) = bounded(QUEUE);
        thread::Builder::new().name("outbox".to_owned()).spawn(move || write(db, &taken))?;
        Ok((Self { steps }, left))
    }

    /// A message waits.
    pub(super) fn put(&self, seq: u64, message: Outgoing) {
        self.step(Step::Put(seq, Box::new(message)));
    }

    /// A message reached the broker, or is not worth sending any more.
    pub(super) fn done(&self, seq: u64) {
        self.step(Step::Done(seq));
    }

    /// A request was taken.
    pub(super) fn take(&self, taken: Taken) {
        self.step(Step::Take(Box::new(taken)));
    }

    /// A request was answered.
    pub(super) fn settle(&self, ticket: u64) {
        self.step(Step::Settle(ticket));
    }

    /// A change was carried out.
    pub(super) fn act(&self, id: &str, request: u64, reply: &[u8]) {
        self.step(Step::Act { id: id.to_owned(), request, reply: reply.to_vec() });
    }

    /// Something is about to be erased, or was not after all; on disk when this returns.
    pub(super) fn erasing(&self, begun: bool) {
        self.step(Step::Erasing(begun));
        self.sync();
    }

    /// Overwrites every message and reply that is kept.
    pub(super) fn erase(&self) {
        self.step(Step::Erase);
        self.sync();
    }

    /// Waits until everything handed over so far is written.
    pub(super) fn sync(&self) {
        let (told, done) = bounded::<()>(1);
        self.after(move || drop(told));
        let _ = done.recv();
    }

    /// Does something once everything handed over so far is written, on the writing thread: it must not wait. What
    /// cannot be written is kept in memory only, and it is done all the same.
    pub(super) fn after(&self, then: impl FnOnce() + Send + 'static) {
        self.step(Step::After(Box::new(then)));
    }

    fn step(&self, step: Step) {
        // The thread ends with the last handle only.
        let _ = self.steps.send(step);
    }
}

/// Notes in the journal in `dir`, where no daemon has it open, that something is about to be erased, or was not
/// after all: killed before [`erase_outbox`], the next daemon does it.
///
/// # Errors
/// As there.
pub fn erasing_outbox(dir: &Path, key: Option<&StoreKey>, begun: bool) -> Result<(), String> {
    change(dir, key, |db| note_erasing(db, begun))
}

/// Overwrites what a journal in `dir` holds, where no daemon has it open.
///
/// # Errors
/// In words, when there is one that cannot be changed.
pub fn erase_outbox(dir: &Path, key: Option<&StoreKey>) -> Result<(), String> {
    change(dir, key, erase)
}

/// Encrypts a journal in `dir` that is not yet, where no daemon has it open. False: there was nothing to do.
///
/// # Errors
/// In words, when that fails; the journal is as it was then.
pub fn encrypt_outbox(dir: &Path, key: &StoreKey) -> Result<bool, String> {
    encryption::encrypt_database(&dir.join(FILE), key, PURPOSE)
        .map_err(|error| format!("encrypting what waits in {}: {error}", dir.join(FILE).display()))
}

fn change(
    dir: &Path,
    key: Option<&StoreKey>,
    change: impl FnOnce(&mut Connection) -> rusqlite::Result<()>,
) -> Result<(), String> {
    let path = dir.join(FILE);
    if !path.exists() {
        return Ok(());
    }
    let done = open(&path, key).and_then(|mut db| Ok(change(&mut db)?));
    done.map_err(|error| format!("erasing what waits in {}: {error}; delete it", path.display()))
}

fn open(path: &Path, key: Option<&StoreKey>) -> Result<Connection, JournalError> {
    fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    let db = Connection::open(path)?;
    encryption::unlock(&db, path, key, PURPOSE)??;
    db.busy_timeout(Duration::from_secs(5))?;
    db.execute_batch(SCHEMA)?;
    Ok(db)
}

/// One that was damaged may hold anything.
fn remove_aside(path: &Path) {
    let aside = path.with_extension(DAMAGED);
    match fs::remove_file(&aside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, path = %aside.display(), "What was erased may be in a damaged outbox; delete it.");
        }
        _ => {}
    }
}

fn put_aside(path: &Path) -> std::io::Result<PathBuf> {
    let aside = path.with_extension(DAMAGED);
    fs::rename(path, &aside)?;
    for log in ["db-wal", "db-shm"] {
        let _ = fs::remove_file(path.with_extension(log));
    }
    Ok(aside)
}

/// Everything that is left, and still worth something.
fn read(db: &mut Connection) -> Result<Left, JournalError> {
    let now = Timestamp::wall_clock();
    // A clock that was set back makes nothing last longer than it was to.
    let age = |at: i64| {
        let secs = now.secs_since(Timestamp::from_nanos(at)).max(0.0);
        Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX)
    };
    let mut left = Left::default();
    {
        let mut rows = db.prepare(
            "SELECT seq, topic, payload, reply, correlation, content_type, put, lasts FROM waiting ORDER BY seq",
        )?;
        let messages = rows.query_map([], |row| {
            let lasts = Duration::from_millis(row.get::<_, i64>(7)?.unsigned_abs());
            let message = Outgoing {
                topic: row.get(1)?,
                payload: row.get(2)?,
                retain: false,
                class: if row.get(3)? { Class::Reply } else { Class::Event },
                correlation: row.get(4)?,
                content_type: Cow::Owned(row.get(5)?),
                lasts,
            };
            Ok((row.get::<_, i64>(0)?.unsigned_abs(), message, age(row.get(6)?)))
        })?;
        for message in messages {
            let (seq, message, age) = message?;
            let still = message.lasts.saturating_sub(age);
            left.waiting.push((seq, message, still));
        }
        let mut rows = db.prepare(
            "SELECT ticket, id, request, writes, topic, correlation FROM taken ORDER BY ticket",
        )?;
        let requests = rows.query_map([], |row| {
            Ok(Taken {
                ticket: row.get::<_, i64>(0)?.unsigned_abs(),
                id: row.get(1)?,
                request: row.get::<_, i64>(2)?.cast_unsigned(),
                writes: row.get(3)?,
                reply_to: ReplyTo::kept(row.get(4)?, row.get(5)?),
            })
        })?;
        left.taken = requests.collect::<Result<_, _>>()?;
        let mut rows = db.prepare("SELECT id, request, reply, at FROM acted ORDER BY at, id")?;
        let acted = rows.query_map([], |row| {
            Ok(Acted {
                id: row.get(0)?,
                request: row.get::<_, i64>(1)?.cast_unsigned(),
                reply: row.get(2)?,
                age: age(row.get(3)?),
            })
        })?;
        left.acted = acted.collect::<Result<_, _>>()?;
    }
    left.acted.retain(|one| one.age.as_secs() < ACTED_SECS);
    Ok(left)
}

/// Writes steps as they come, until every handle is gone. What a full disk does not take is tried again.
fn write(mut db: Connection, steps: &Receiver<Step>) {
    let mut behind: VecDeque<Step> = VecDeque::new();
    let mut failed: Option<Instant> = None;
    loop {
        let pause = if failed.is_some() { AGAIN_EVERY } else { Duration::MAX };
        let first = match steps.recv_timeout(pause) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let mut then = Vec::new();
        for step in first.into_iter().chain(steps.try_iter().take(BATCH)) {
            match step {
                Step::After(act) => then.push(act),
                change => behind.push_back(change),
            }
        }
        let due = failed.is_none_or(|at| at.elapsed() >= AGAIN_EVERY);
        if due && !behind.is_empty() {
            let written = write_batch(&mut db, &behind);
            match (&written, failed) {
                (Err(error), None) => tracing::warn!(
                    %error,
                    "Messages for the broker are kept in memory only: the outbox cannot be written. Free space on its disk."
                ),
                (Ok(()), Some(_)) => tracing::info!("the outbox is written again"),
                _ => {}
            }
            failed = written.is_err().then(Instant::now);
            if !written.is_err_and(|error| is_for_want_of_room(&error)) {
                behind.clear();
            }
        }
        drop_oldest(&mut behind);
        then.into_iter().for_each(|act| act());
    }
}

/// Keeps no more steps than [`QUEUE`]; but what is to be erased is erased, however long the disk is full.
fn drop_oldest(behind: &mut VecDeque<Step>) {
    let excess = behind.len().saturating_sub(QUEUE);
    let mut kept: Option<Step> = None;
    for step in behind.drain(..excess) {
        // Whatever one of them does, the later one does, too; only that something was not erased after all does less.
        match (&kept, &step) {
            (_, Step::Erase) | (None, Step::Erasing(true)) => kept = Some(step),
            (Some(Step::Erasing(true)), Step::Erasing(false)) => kept = None,
            _ => {}
        }
    }
    if let Some(step) = kept {
        behind.push_front(step);
    }
}

/// In one transaction; all or, for want of room, nothing.
fn write_batch(db: &mut Connection, changes: &VecDeque<Step>) -> rusqlite::Result<()> {
    let transaction = db.transaction()?;
    let mut result = Ok(());
    for change in changes {
        match apply(&transaction, change) {
            Err(error) if is_for_want_of_room(&error) => return Err(error),
            applied => result = result.and(applied),
        }
    }
    transaction.commit()?;
    if changes.iter().any(|change| matches!(change, Step::Erase)) {
        overwrite(db)?;
    }
    result
}

/// A disk that is full says so in more than one way.
fn is_for_want_of_room(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DiskFull, SystemIoFailure};
    matches!(error.sqlite_error_code(), Some(DiskFull | SystemIoFailure))
}

fn apply(db: &Connection, step: &Step) -> rusqlite::Result<()> {
    let signed = |number: u64| number.cast_signed();
    match step {
        Step::Put(seq, message) => {
            let Outgoing { topic, payload, class, correlation, content_type, lasts, .. } =
                &**message;
            let lasts = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
            db.prepare_cached("INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?
                .execute(params![
                    signed(*seq),
                    topic,
                    payload,
                    *class == Class::Reply,
                    correlation,
                    content_type,
                    Timestamp::wall_clock().as_nanos(),
                    lasts
                ])?;
        }
        Step::Done(seq) => {
            db.prepare_cached("DELETE FROM waiting WHERE seq = ?")?.execute([signed(*seq)])?;
        }
        Step::Take(taken) => {
            let Taken { ticket, id, request, writes, reply_to } = &**taken;
            let (topic, correlation) = reply_to.parts();
            db.prepare_cached("INSERT OR REPLACE INTO taken VALUES (?, ?, ?, ?, ?, ?)")?.execute(
                params![signed(*ticket), id, signed(*request), writes, topic, correlation],
            )?;
        }
        Step::Settle(ticket) => {
            db.prepare_cached("DELETE FROM taken WHERE ticket = ?")?.execute([signed(*ticket)])?;
        }
        Step::Act { id, request, reply } => {
            let at = Timestamp::wall_clock();
            db.prepare_cached("INSERT OR REPLACE INTO acted VALUES (?, ?, ?, ?)")?
                .execute(params![id, signed(*request), reply, at.as_nanos()])?;
            let before = at.plus_secs(-(ACTED_SECS as f64));
            db.prepare_cached("DELETE FROM acted WHERE at < ?")?.execute([before.as_nanos()])?;
        }
        Step::Erasing(begun) => note_erasing(db, *begun)?,
        Step::Erase => erase_rows(db)?,
        Step::After(_) => {}
    }
    Ok(())
}

fn erase(db: &mut Connection) -> rusqlite::Result<()> {
    let transaction = db.transaction()?;
    erase_rows(&transaction)?;
    transaction.commit()?;
    overwrite(db)
}

/// Messages go; of changes the id stays, the reply goes.
fn erase_rows(db: &Connection) -> rusqlite::Result<()> {
    note_erasing(db, true)?;
    db.execute_batch("DELETE FROM waiting; UPDATE acted SET reply = CAST('{\"ok\":true}' AS BLOB);")
}

/// Free pages and the log still hold the old bytes.
fn overwrite(db: &Connection) -> rusqlite::Result<()> {
    if let Some(path) = db.path() {
        remove_aside(Path::new(path));
    }
    db.execute_batch("VACUUM")?;
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).optional()?;
    note_erasing(db, false)
}

/// Keeps over a kill that what waits is to be overwritten.
fn note_erasing(db: &Connection, begun: bool) -> rusqlite::Result<()> {
    let sql = match begun {
        true => "INSERT OR IGNORE INTO erasing VALUES (1)",
        false => "DELETE FROM erasing",
    };
    db.execute(sql, []).map(drop)
}

/// A daemon was killed while something was erased: events go, whoever waits for a reply is told to ask again.
fn finish_erasing(db: &mut Connection) -> Result<(), JournalError> {
    let begun = db.query_row("SELECT count(*) FROM erasing", [], |row| row.get::<_, i64>(0))?;
    if begun == 0 {
        return Ok(());
    }
    let waiting = read(db)?.waiting;
    let transaction = db.transaction()?;
    erase_rows(&transaction)?;
    for (seq, message, still) in waiting {
        if message.class == Class::Reply {
            let message = Outgoing { lasts: still, ..withdrawn(message) };
            apply(&transaction, &Step::Put(seq, Box::new(message)))?;
        }
    }
    transaction.commit()?;
    Ok(overwrite(db)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_full_for_long_makes_nobody_forget_to_erase() {
        let settled = |number| Step::Settle(number);
        let erases = |behind: &VecDeque<Step>| {
            behind.iter().filter(|step| matches!(step, Step::Erase)).count()
        };
        let mut behind: VecDeque<Step> = (0..10).map(settled).collect();
        behind.push_back(Step::Erase);
        behind.push_back(Step::Erase);
        behind.extend((0..QUEUE as u64 + 5).map(settled));
        drop_oldest(&mut behind);
        assert_eq!((behind.len(), erases(&behind)), (QUEUE + 1, 1));
        behind.extend((0..3).map(settled));
        drop_oldest(&mut behind);
        assert_eq!((behind.len(), erases(&behind)), (QUEUE + 1, 1));
        // What was not erased after all is not.
        let mut behind: VecDeque<Step> = [true, false].map(Step::Erasing).into();
        behind.extend((0..QUEUE as u64).map(settled));
        drop_oldest(&mut behind);
        assert!(
            behind.len() == QUEUE && !behind.iter().any(|step| matches!(step, Step::Erasing(_)))
        );
    }
}
