//! rosbag2's SQLite storage (`.db3`): the tables `topics` and `messages`, and `message_definitions` where
//! they are.
//!
//! The order of all messages is read once (24 bytes each), their bytes one by one, so that a damaged page
//! costs the messages on it and no more.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection as Database, OpenFlags};

use super::copies;
use super::seams::{Written, moved, seams};
use super::segments::{MAX_CHUNK_BYTES, note, open};
use crate::capture::bag::connection::{BagReader, Connection, Container, Found, Message};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::time::{Span, Timestamp};

/// The first bytes of every SQLite database.
pub(in crate::capture::bag) const MAGIC: &[u8] = b"SQLite format 3\0";
/// Topics that a bag may have.
const MAX_TOPICS: usize = 100_000;
/// A row takes more than this; a tree that yields more rows than fit in its file runs in circles.
const MIN_ROW_BYTES: u64 = 4;
/// The tables' only queries.
const TOPICS: &str = "SELECT id, name, type, serialization_format FROM topics ORDER BY id";
const DEFINITIONS: &str =
    "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions";
const ORDER: &str =
    "SELECT rowid, topic_id, timestamp FROM messages NOT INDEXED WHERE rowid > ?1 ORDER BY rowid";
const DATA: &str = "SELECT data FROM messages WHERE rowid = ?1";

/// Whether the file is an SQLite database.
///
/// # Errors
/// When it cannot be read, or by its name claims to be one and is not.
pub(in crate::capture::bag) fn is_sqlite(path: &Path) -> Result<bool, CaptureError> {
    let mut begin = [0_u8; MAGIC.len()];
    let whole = open(path)?.read_exact(&mut begin).is_ok();
    if whole && begin == MAGIC {
        return Ok(true);
    }
    if path.extension().is_some_and(|text| text.eq_ignore_ascii_case("db3")) {
        let reason = "it is named .db3, but is no SQLite database".to_owned();
        return Err(CaptureError::Unreadable { path: path.to_owned(), reason });
    }
    Ok(false)
}

/// Where a message lies; sorted by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    timestamp: i64,
    row: i64,
    topic: i64,
    /// How far it was moved back, nanoseconds.
    moved: i64,
}

/// A database, looked into.
#[derive(Debug)]
pub(in crate::capture::bag) struct Index {
    file: PathBuf,
    connections: BTreeMap<i64, Arc<Connection>>,
    entries: Vec<Entry>,
    damage: Vec<(Cause, String)>,
    /// A copy that is gone when the bag is closed: of a packed file, or of one with a log beside it.
    _copy: Option<tempfile::TempDir>,
}

impl Index {
    /// Reads topics, definitions and the order of the messages.
    ///
    /// `copy` keeps the folder that `file` lies in, where it is a copy.
    ///
    /// # Errors
    /// When it cannot be opened at all.
    pub(in crate::capture::bag) fn of(
        file: &Path,
        copy: Option<tempfile::TempDir>,
    ) -> Result<Self, CaptureError> {
        let (file, copy) = match copy {
            Some(copy) => (file.to_owned(), Some(copy)),
            None => with_log(file)?,
        };
        let database = connect(&file)?;
        let mut damage = Vec::new();
        // What a log will add may be missing yet.
        if let Some((counted, there)) = missing_pages(&file).filter(|_| !has_log(&file)) {
            let place = format!("the file has {there} of the {counted} pages that it counts");
            note(&mut damage, Cause::Truncated, place);
        }
        let definitions = definitions(&database);
        let connections = topics(&database, &definitions, &mut damage);
        let bytes = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        let most = usize::try_from(bytes / MIN_ROW_BYTES).unwrap_or(usize::MAX);
        let entries = order(&database, &connections, most, &mut damage);
        Ok(Self { file, connections, entries, damage, _copy: copy })
    }
}

impl Container for Arc<Index> {
    fn connections(&self) -> Vec<Arc<Connection>> {
        self.connections.values().map(Arc::clone).collect()
    }

    fn span(&self) -> Option<Span> {
        let at = |entry: &Entry| Timestamp::from_nanos(entry.timestamp);
        Some(Span::new(at(self.entries.first()?), at(self.entries.last()?)))
    }

    fn damage(&self) -> &[(Cause, String)] {
        &self.damage
    }

    fn reader(
        &self,
        wanted: &dyn Fn(&Connection) -> bool,
    ) -> Result<Box<dyn BagReader>, CaptureError> {
        let wanted = self.connections.iter().filter(|(_, one)| wanted(one)).map(|(id, _)| *id);
        Ok(Box::new(Reader {
            wanted: wanted.collect(),
            database: connect(&self.file)?,
            index: Arc::clone(self),
            next_flaw: 0,
            next_entry: 0,
        }))
    }
}

/// A database with a log beside it (the recorder was killed) is copied: opening it in place
/// would write there.
fn with_log(file: &Path) -> Result<(PathBuf, Option<tempfile::TempDir>), CaptureError> {
    let logs = logs(file);
    if logs.is_empty() {
        return Ok((file.to_owned(), None));
    }
    let io = |source| CaptureError::Io { path: file.to_owned(), source };
    let all = || logs.iter().map(PathBuf::as_path).chain([file]);
    // The log is written into the database when it is opened.
    let bytes: u64 =
        all().filter_map(|path| std::fs::metadata(path).ok()).map(|of| 2 * of.len()).sum();
    let copy = copies::folder_for(file, bytes)?;
    for path in all() {
        let name = path.file_name().unwrap_or_default();
        std::fs::copy(path, copy.path().join(name)).map_err(io)?;
    }
    Ok((copy.path().join(file.file_name().unwrap_or_default()), Some(copy)))
}

/// The logs that lie beside a database: of what is not in it yet, or of what has to be undone in it.
fn logs(file: &Path) -> Vec<PathBuf> {
    let log = |end: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    ["-wal", "-journal"].into_iter().map(log).filter(|path| path.exists()).collect()
}

fn has_log(file: &Path) -> bool {
    !logs(file).is_empty()
}

/// Opens a database that nobody here has written: read only, its schema not trusted.
fn connect(file: &Path) -> Result<Database, CaptureError> {
    let unreadable = |error: rusqlite::Error| CaptureError::Unreadable {
        path: file.to_owned(),
        reason: error.to_string(),
    };
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let database = if has_log(file) {
        Database::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)
    } else {
        let name: String = file
            .as_os_str()
            .as_encoded_bytes()
            .iter()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                    char::from(*byte).to_string()
                }
                other => format!("%{other:02X}"),
            })
            .collect();
        let uri = format!("file:{name}?mode=ro&immutable=1");
        Database::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)
    }
    .map_err(unreadable)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(unreadable)?;
    // Of a file that was cut SQLite refuses every page, unless the schema may be written; nothing here does.
    let is_cut = missing_pages(file).is_some();
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, !is_cut).map_err(unreadable)?;
    database
        .set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, is_cut)
        .map_err(unreadable)?;
    let most = i32::try_from(MAX_CHUNK_BYTES).unwrap_or(i32::MAX);
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, most).map_err(unreadable)?;
    database.pragma_update(None, "cell_size_check", true).map_err(unreadable)?;
    Ok(database)
}

/// How many pages the file's header counts and how many there are, where those are fewer.
///
/// <https://www.sqlite.org/fileformat2.html#in_header_database_size>
fn missing_pages(file: &Path) -> Option<(u64, u64)> {
    let mut head = [0_u8; 100];
    open(file).ok()?.read_exact(&mut head).ok()?;
    let field = |at: usize| head.get(at..)?.first_chunk().copied().map(u32::from_be_bytes);
    // Old versions of SQLite do not count; they leave the count of changes behind that it was valid for.
    if field(24)? != field(92)? {
        return None;
    }
    let page = match u64::from(u16::from_be_bytes(*head.get(16..)?.first_chunk()?)) {
        1 => 1 << 16,
        bytes => bytes,
    };
    let there = std::fs::metadata(file).ok()?.len().checked_div(page)?;
    let counted = u64::from(field(28)?);
    (counted > there).then_some((counted, there))
}

fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        _ => String::new(),
    }
}

fn integer(value: ValueRef<'_>) -> Option<i64> {
    if let ValueRef::Integer(value) = value { Some(value) } else { None }
}

/// Type → language and text; older bags have none.
fn definitions(database: &Database) -> BTreeMap<String, (String, String)> {
    let mut definitions = BTreeMap::new();
    let Ok(mut statement) = database.prepare(DEFINITIONS) else { return definitions };
    let Ok(mut rows) = statement.query([]) else { return definitions };
    let mut seen = 0;
    while let Ok(Some(row)) = rows.next() {
        let column = |n| row.get_ref(n).map(text).unwrap_or_default();
        definitions.entry(column(0)).or_insert((column(1), column(2)));
        seen += 1;
        if seen >= MAX_TOPICS {
            break;
        }
    }
    definitions
}

fn topics(
    database: &Database,
    definitions: &BTreeMap<String, (String, String)>,
    damage: &mut Vec<(Cause, String)>,
) -> BTreeMap<i64, Arc<Connection>> {
    let mut connections = BTreeMap::new();
    let mut read = || -> rusqlite::Result<()> {
        let mut statement = database.prepare(TOPICS)?;
        let mut rows = statement.query([])?;
        let mut seen = 0;
        while let Some(row) = rows.next()? {
            seen += 1;
            if seen > MAX_TOPICS {
                break;
            }
            let Some(id) = integer(row.get_ref(0)?) else { continue };
            let (name, kind) = (text(row.get_ref(1)?), text(row.get_ref(2)?));
            let encoding = text(row.get_ref(3)?);
            let definition = definitions
                .get(&kind)
                .filter(|(_, text)| !text.is_empty())
                .map(|(language, text)| (language.as_str(), text.as_bytes()));
            let (connection, flaw) = Connection::new(&name, &kind, &encoding, definition);
            if let Some((cause, place)) = flaw {
                note(damage, cause, place);
            }
            connections.insert(id, Arc::new(connection));
        }
        Ok(())
    };
    if let Err(error) = read() {
        note(damage, Cause::BadChunk, format!("the table of topics: {error}"));
    }
    connections
}

/// Where every message lies. Behind a damaged page the reading goes on at a later row.
fn order(
    database: &Database,
    connections: &BTreeMap<i64, Arc<Connection>>,
    most: usize,
    damage: &mut Vec<(Cause, String)>,
) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut after, mut leap, mut seen) = (i64::MIN, 1_i64, 0_usize);
    loop {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = database.prepare_cached(ORDER)?;
            let mut rows = statement.query([after])?;
            while let Some(row) = rows.next()? {
                let row_id: i64 = row.get(0)?;
                seen += 1;
                if row_id <= after || seen > most {
                    return Err(rusqlite::Error::InvalidQuery); // the tree is broken
                }
                (after, leap) = (row_id, 1);
                let (topic, timestamp) = (integer(row.get_ref(1)?), integer(row.get_ref(2)?));
                match (topic, timestamp) {
                    (Some(topic), Some(timestamp)) if connections.contains_key(&topic) => {
                        entries.push(Entry { timestamp, row: row_id, topic, moved: 0 });
                    }
                    (Some(topic), Some(_)) => {
                        let place = format!("row {row_id} of undeclared topic {topic}");
                        note(damage, Cause::UnknownSchema, place);
                    }
                    _ => note(damage, Cause::BadMessage, format!("row {row_id}")),
                }
            }
            Ok(())
        };
        let Err(error) = read() else { break };
        if leap == 1 {
            note(damage, Cause::BadChunk, format!("the messages behind row {after}: {error}"));
        }
        let next = if after == i64::MIN { 0 } else { after.saturating_add(leap) };
        leap = leap.saturating_mul(2);
        if leap > 1 << 40 || after == next || seen > most {
            break;
        }
        after = next;
    }
    put_right(&mut entries, damage);
    entries.sort_unstable();
    entries.dedup();
    entries
}

/// Moves what was recorded before a clock was set back; the entries are in the order of the file.
fn put_right(entries: &mut [Entry], damage: &mut Vec<(Cause, String)>) {
    let at = |entry: &Entry| u64::try_from(entry.timestamp).unwrap_or(0);
    let topic = |entry: &Entry| u32::try_from(entry.topic).unwrap_or(u32::MAX);
    let written: Vec<Written> =
        entries.iter().map(|one| Written { topic: topic(one), at: at(one), print: 0 }).collect();
    let seams = seams(&written);
    for seam in &seams {
        let at = written.get(seam.place).map_or(0, |one| one.at);
        note(damage, Cause::ClockSet, seam.told(at));
    }
    if !seams.is_empty() {
        for (place, entry) in entries.iter_mut().enumerate() {
            entry.moved = i64::try_from(moved(&seams, place)).unwrap_or(0);
            entry.timestamp = entry.timestamp.saturating_sub(entry.moved);
        }
    }
}

/// Messages in time order.
struct Reader {
    index: Arc<Index>,
    database: Database,
    wanted: BTreeSet<i64>,
    next_flaw: usize,
    next_entry: usize,
}

impl Reader {
    fn data(&self, entry: Entry) -> Result<Vec<u8>, String> {
        let mut statement =
            self.database.prepare_cached(DATA).map_err(|error| error.to_string())?;
        let bytes = statement.query_row([entry.row], |row| match row.get_ref(0)? {
            ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Ok(bytes.to_vec()),
            _ => Ok(Vec::new()),
        });
        bytes.map_err(|error| error.to_string())
    }
}

impl BagReader for Reader {
    fn next(&mut self) -> Option<Found> {
        if let Some((cause, place)) = self.index.damage.get(self.next_flaw) {
            self.next_flaw += 1;
            return Some(Found::Damaged(*cause, place.clone()));
        }
        loop {
            let entry = *self.index.entries.get(self.next_entry)?;
            self.next_entry += 1;
            if !self.wanted.contains(&entry.topic) {
                continue;
            }
            let connection = Arc::clone(self.index.connections.get(&entry.topic)?);
            return Some(match self.data(entry) {
                Ok(data) => Found::Message(Message {
                    connection,
                    log_time: Timestamp::from_nanos(entry.timestamp),
                    moved_nanos: -entry.moved,
                    data,
                }),
                Err(why) => {
                    let place = format!("{} in row {}: {why}", connection.topic, entry.row);
                    Found::Damaged(Cause::BadMessage, place)
                }
            });
        }
    }
}
