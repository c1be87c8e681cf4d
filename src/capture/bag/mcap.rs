//! The MCAP container (<https://mcap.dev/spec>): chunked or not, any compression, with or without summary,
//! damaged or whole.
//!
//! [`Index::of`] walks over the top-level records once without unpacking; [`Reader`] unpacks chunk by
//! chunk in order of their first message and hands out messages in log-time order. A summary is a
//! convenience here, never a condition.

use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcap::records::{Record, op};
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::{MAGIC, McapError};

use super::{BagReader, Connection, Found, Message};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::time::{Span, Timestamp};

/// A chunk may unpack to this much, a record be this long; more is damage, not memory.
const MAX_CHUNK_BYTES: u64 = 512 << 20;
/// Unpacked messages that wait for an overlapping chunk may take this much; then the oldest goes out.
const MAX_WAITING_BYTES: usize = 256 << 20;
/// Messages outside chunks are read in runs of about this size.
const RUN_BYTES: u64 = 4 << 20;
/// Opcode and length before each record.
const RECORD_HEAD: u64 = 9;

/// Whether the file is, or by its name claims to be, an MCAP file.
///
/// # Errors
/// When it cannot be read, or claims to be one and is not.
pub fn is_mcap(path: &Path) -> Result<bool, CaptureError> {
    let mut begin = [0_u8; MAGIC.len()];
    let mut file = open(path)?;
    let whole = file.read_exact(&mut begin).is_ok();
    if whole && begin == MAGIC {
        return Ok(true);
    }
    if path.extension().is_some_and(|text| text.eq_ignore_ascii_case("mcap")) {
        let reason = "it is named .mcap, but does not begin with the MCAP magic bytes".to_owned();
        return Err(CaptureError::Unreadable { path: path.to_owned(), reason });
    }
    Ok(false)
}

fn open(path: &Path) -> Result<File, CaptureError> {
    File::open(path).map_err(|source| CaptureError::Io { path: path.to_owned(), source })
}

/// A stretch of the file that is read at once: a chunk record, or a run of records outside chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Segment {
    /// Log time of its earliest message, nanoseconds.
    first: u64,
    offset: u64,
    length: u64,
    chunk: bool,
}

#[derive(Debug)]
struct Declared {
    schema: u16,
    topic: String,
    encoding: String,
}

/// Where everything lies in an MCAP file, and what its topics are.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    segments: Vec<Segment>,
    channels: BTreeMap<u16, Arc<Connection>>,
    /// From the first to the last message, log time.
    pub span: Option<Span>,
    /// What was found broken on the way.
    pub damage: Vec<(Cause, String)>,
}

impl Index {
    /// Walks over the file's top-level records.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of(path: &Path) -> Result<Self, CaptureError> {
        let mut file = open(path)?;
        let io = |source| CaptureError::Io { path: path.to_owned(), source };
        let size = file.metadata().map_err(io)?.len();
        let mut walk = Walk::default();
        walk.top_level(&mut file, size).map_err(io)?;
        if !walk.summarised || walk.channels.is_empty() {
            walk.inside_chunks(&mut file).map_err(io)?;
        }
        walk.segments.sort();
        let channels = walk.connections();
        let span = (walk.first <= walk.last).then(|| {
            Span::new(
                Timestamp::from_nanos(i64::try_from(walk.first).unwrap_or(i64::MAX)),
                Timestamp::from_nanos(i64::try_from(walk.last).unwrap_or(i64::MAX)),
            )
        });
        let damage = walk.damage;
        Ok(Self { path: path.to_owned(), segments: walk.segments, channels, span, damage })
    }

    /// Where the file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Every topic that is declared.
    pub fn connections(&self) -> impl Iterator<Item = &Arc<Connection>> {
        self.channels.values()
    }
}

/// What the walk over the file has gathered so far.
struct Walk {
    segments: Vec<Segment>,
    schemas: BTreeMap<u16, String>,
    channels: BTreeMap<u16, Declared>,
    first: u64,
    last: u64,
    summarised: bool,
    damage: Vec<(Cause, String)>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            segments: Vec::new(),
            schemas: BTreeMap::new(),
            channels: BTreeMap::new(),
            first: u64::MAX,
            last: 0,
            summarised: false,
            damage: Vec::new(),
        }
    }
}

impl Walk {
    fn top_level(&mut self, file: &mut File, size: u64) -> std::io::Result<()> {
        let mut offset = MAGIC.len() as u64;
        let mut after_data = false;
        loop {
            let Some((opcode, length)) = record_head(file, offset, size)? else {
                self.damage.push((
                    Cause::Truncated,
                    format!("the file ends at byte {size} in the middle of the record at {offset}"),
                ));
                return Ok(());
            };
            let next = offset + RECORD_HEAD + length;
            match opcode {
                op::SCHEMA | op::CHANNEL => {
                    let body = read_at(file, offset + RECORD_HEAD, length.min(1 << 26))?;
                    if let Err(reason) = self.declare(opcode, &body) {
                        self.damage.push((Cause::BadMessage, format!("{reason} at {offset}")));
                    }
                }
                op::MESSAGE => {
                    let head = read_at(file, offset + RECORD_HEAD, length.min(22))?;
                    match message_log_time(&head) {
                        Some(time) => self.message(offset, next, time),
                        None => self
                            .damage
                            .push((Cause::BadMessage, format!("short message at {offset}"))),
                    }
                }
                op::CHUNK => self.chunk(file, offset, length)?,
                op::DATA_END => after_data = true,
                op::FOOTER => {
                    self.summarised = after_data && self.damage.is_empty();
                    return Ok(());
                }
                0 => {
                    let place = format!("no record begins at byte {offset}");
                    self.damage.push((Cause::Truncated, place));
                    return Ok(());
                }
                _ => {}
            }
            offset = next;
        }
    }

    /// A message outside chunks joins the run before it, if that is not too long.
    fn message(&mut self, offset: u64, next: u64, time: u64) {
        self.first = self.first.min(time);
        self.last = self.last.max(time);
        match self.segments.last_mut() {
            Some(run) if !run.chunk && run.length < RUN_BYTES => {
                run.first = run.first.min(time);
                run.length = next - run.offset;
            }
            _ => {
                let length = next - offset;
                self.segments.push(Segment { first: time, offset, length, chunk: false });
            }
        }
    }

    fn chunk(&mut self, file: &mut File, offset: u64, length: u64) -> std::io::Result<()> {
        // Two times, size, CRC, name of the compression (short), compressed size.
        let head = read_at(file, offset + RECORD_HEAD, length.min(256))?;
        let number = |at: usize| {
            head.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes)
        };
        let (Some(first), Some(last), Some(unpacked)) = (number(0), number(8), number(16)) else {
            self.damage.push((Cause::BadChunk, format!("short chunk at byte {offset}")));
            return Ok(());
        };
        if unpacked > MAX_CHUNK_BYTES || length > MAX_CHUNK_BYTES {
            let place = format!(
                "the chunk at byte {offset} unpacks to {unpacked} bytes, the cap is {MAX_CHUNK_BYTES}"
            );
            self.damage.push((Cause::HugeChunk, place));
            return Ok(());
        }
        if unpacked > 0 {
            self.first = self.first.min(first);
            self.last = self.last.max(last);
            let length = length + RECORD_HEAD;
            self.segments.push(Segment { first, offset, length, chunk: true });
        }
        Ok(())
    }

    /// Without a summary the declarations lie in the chunks.
    fn inside_chunks(&mut self, file: &mut File) -> std::io::Result<()> {
        let chunks: Vec<_> = self.segments.iter().copied().filter(|s| s.chunk).collect();
        for segment in chunks {
            let record = read_at(file, segment.offset, segment.length)?;
            // What is broken in it is counted when it is played.
            let _ = unpack(&record, |opcode, body| {
                if matches!(opcode, op::SCHEMA | op::CHANNEL) {
                    let _ = self.declare(opcode, body);
                }
            });
        }
        Ok(())
    }

    /// Takes note of a schema or channel; the first declaration of an id counts.
    fn declare(&mut self, opcode: u8, body: &[u8]) -> Result<(), String> {
        match mcap::parse_record(opcode, body).map_err(|error| error.to_string())? {
            Record::Schema { header, .. } => {
                self.schemas.entry(header.id).or_insert(header.name);
            }
            Record::Channel(channel) => {
                self.channels.entry(channel.id).or_insert(Declared {
                    schema: channel.schema_id,
                    topic: channel.topic,
                    encoding: channel.message_encoding,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn connections(&mut self) -> BTreeMap<u16, Arc<Connection>> {
        let mut connections = BTreeMap::new();
        for (id, channel) in &self.channels {
            let schema = self.schemas.get(&channel.schema);
            if schema.is_none() && channel.schema != 0 {
                let place = format!("topic {} has no schema {}", channel.topic, channel.schema);
                self.damage.push((Cause::UnknownSchema, place));
            }
            connections.insert(
                *id,
                Arc::new(Connection {
                    topic: channel.topic.as_str().into(),
                    schema: schema.map_or("", String::as_str).into(),
                    encoding: channel.encoding.as_str().into(),
                }),
            );
        }
        connections
    }
}

/// The log time in the 22 bytes before a message's data: channel id (2), sequence (4), log time (8), publish time (8).
fn message_log_time(head: &[u8]) -> Option<u64> {
    head.get(6..14)?.try_into().ok().map(u64::from_le_bytes).filter(|_| head.len() >= 22)
}

/// Opcode and length of the record at `offset`; `None` when it is not whole.
fn record_head(file: &mut File, offset: u64, size: u64) -> std::io::Result<Option<(u8, u64)>> {
    if offset + RECORD_HEAD > size {
        return Ok(None);
    }
    let head = read_at(file, offset, RECORD_HEAD)?;
    let (Some(opcode), Some(length)) =
        (head.first(), head.get(1..9).and_then(|bytes| bytes.try_into().ok()))
    else {
        return Ok(None);
    };
    let length = u64::from_le_bytes(length);
    let whole = length <= size - offset - RECORD_HEAD;
    Ok(whole.then_some((*opcode, length)))
}

fn read_at(file: &mut File, offset: u64, length: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Hands out the records of a chunk (given as a whole record, with opcode and length) or of a run.
///
/// Records before the first error are handed out; a wrong CRC is told only after all of them.
fn unpack(records: &[u8], mut each: impl FnMut(u8, &[u8])) -> Result<(), McapError> {
    let options = LinearReaderOptions::default()
        .with_skip_start_magic(true)
        .with_skip_end_magic(true)
        .with_validate_chunk_crcs(true)
        .with_record_length_limit(MAX_CHUNK_BYTES as usize);
    let mut reader = LinearReader::new_with_options(options);
    let mut rest = records;
    while let Some(event) = reader.next_event() {
        match event? {
            LinearReadEvent::ReadRequest(wanted) => {
                let (now, later) = rest.split_at(wanted.min(rest.len()));
                reader.insert(now.len()).copy_from_slice(now);
                reader.notify_read(now.len());
                rest = later;
            }
            LinearReadEvent::Record { opcode, data } => each(opcode, data),
        }
    }
    Ok(())
}

/// A message that waits for its turn.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    /// Log time, then the order in which they were read; reversed, because the heap's top is its greatest.
    turn: std::cmp::Reverse<(u64, u64)>,
    channel: u16,
    data: Vec<u8>,
}

/// Messages in log-time order.
pub struct Reader {
    index: Arc<Index>,
    file: File,
    wanted: BTreeMap<u16, bool>,
    next_segment: usize,
    read: u64,
    waiting: BinaryHeap<Waiting>,
    waiting_bytes: usize,
    damage: std::collections::VecDeque<(Cause, String)>,
}

impl Reader {
    /// For the connections for which `wanted` holds.
    ///
    /// # Errors
    /// When the file cannot be opened again.
    pub fn new(
        index: Arc<Index>,
        wanted: impl Fn(&Connection) -> bool,
    ) -> Result<Self, CaptureError> {
        Ok(Self {
            file: open(&index.path)?,
            wanted: index.channels.iter().map(|(id, c)| (*id, wanted(c))).collect(),
            next_segment: 0,
            read: 0,
            waiting: BinaryHeap::new(),
            waiting_bytes: 0,
            damage: index.damage.clone().into(),
            index,
        })
    }

    /// Unpacks the next segment into `waiting`.
    fn load(&mut self, segment: Segment) {
        let record = match read_at(&mut self.file, segment.offset, segment.length) {
            Ok(record) => record,
            Err(error) => {
                let place = format!("reading at byte {}: {error}", segment.offset);
                self.damage.push_back((Cause::Truncated, place));
                return;
            }
        };
        let (wanted, waiting, damage) = (&self.wanted, &mut self.waiting, &mut self.damage);
        let (read, bytes) = (&mut self.read, &mut self.waiting_bytes);
        let result = unpack(&record, |opcode, body| {
            if opcode != op::MESSAGE {
                return;
            }
            let Ok(Record::Message { header, data }) = mcap::parse_record(opcode, body) else {
                let place = format!("a message in the chunk at byte {}", segment.offset);
                damage.push_back((Cause::BadMessage, place));
                return;
            };
            match wanted.get(&header.channel_id) {
                Some(true) => {
                    *bytes += data.len();
                    waiting.push(Waiting {
                        turn: std::cmp::Reverse((header.log_time, *read)),
                        channel: header.channel_id,
                        data: data.into_owned(),
                    });
                    *read += 1;
                }
                Some(false) => {}
                None => {
                    let place = format!("a message of undeclared channel {}", header.channel_id);
                    damage.push_back((Cause::UnknownSchema, place));
                }
            }
        });
        if let Err(error) = result {
            let cause = match &error {
                McapError::BadChunkCrc { .. } => Cause::BadCrc,
                McapError::ChunkTooLarge(_) | McapError::RecordTooLarge { .. } => Cause::HugeChunk,
                _ => Cause::BadChunk,
            };
            self.damage
                .push_back((cause, format!("the chunk at byte {}: {error}", segment.offset)));
        }
    }
}

impl BagReader for Reader {
    fn next(&mut self) -> Option<Found> {
        loop {
            if let Some((cause, place)) = self.damage.pop_front() {
                return Some(Found::Damaged(cause, place));
            }
            let following = self.index.segments.get(self.next_segment).copied();
            let ready = self.waiting.peek().is_some_and(|first| {
                following.is_none_or(|segment| first.turn.0.0 < segment.first)
                    || self.waiting_bytes > MAX_WAITING_BYTES
            });
            if ready {
                let first = self.waiting.pop()?;
                self.waiting_bytes -= first.data.len();
                let connection = Arc::clone(self.index.channels.get(&first.channel)?);
                let log_time = i64::try_from(first.turn.0.0).unwrap_or(i64::MAX);
                return Some(Found::Message(Message {
                    connection,
                    log_time: Timestamp::from_nanos(log_time),
                    data: first.data,
                }));
            }
            let segment = following?;
            self.next_segment += 1;
            self.load(segment);
        }
    }
}
