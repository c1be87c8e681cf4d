//! The MCAP container (<https://mcap.dev/spec>): chunked or not, any compression, with or without summary,
//! damaged or whole.
//!
//! [`Index::of`] walks over the top-level records once without unpacking; [`segments`](super::segments)
//! has the chunks unpacked in order of their first message. A summary is a convenience here, never a
//! condition.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcap::MAGIC;
use mcap::records::{Record, op};

use super::segments::{
    MAX_CHUNK_BYTES, Piece, Reader, Segment, Segmented, note, open, read_at, span,
};
use super::{BagReader, Connection, Container};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::time::Span;

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

/// Name, language and text of a type.
#[derive(Debug)]
struct Schema {
    name: String,
    encoding: String,
    text: Vec<u8>,
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
    span: Option<Span>,
    damage: Vec<(Cause, String)>,
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
        let span = span(walk.first, walk.last);
        let damage = walk.damage;
        Ok(Self { path: path.to_owned(), segments: walk.segments, channels, span, damage })
    }
}

impl Container for Arc<Index> {
    fn connections(&self) -> Vec<Arc<Connection>> {
        self.channels.values().map(Arc::clone).collect()
    }

    fn span(&self) -> Option<Span> {
        self.span
    }

    fn damage(&self) -> &[(Cause, String)] {
        &self.damage
    }

    fn reader(
        &self,
        wanted: &dyn Fn(&Connection) -> bool,
    ) -> Result<Box<dyn BagReader>, CaptureError> {
        Ok(Box::new(Reader::new(Arc::clone(self), wanted)?))
    }
}

impl Segmented for Index {
    fn path(&self) -> &Path {
        &self.path
    }

    fn segments(&self) -> &[Segment] {
        &self.segments
    }

    fn connections(&self) -> Vec<(u32, Arc<Connection>)> {
        self.channels.iter().map(|(id, channel)| (u32::from(*id), Arc::clone(channel))).collect()
    }

    fn damage(&self) -> &[(Cause, String)] {
        &self.damage
    }

    fn unpack(&self, segment: Segment, bytes: &[u8], each: &mut dyn FnMut(Piece<'_>)) {
        let result = unpack(bytes, |opcode, body| {
            if opcode != op::MESSAGE {
                return;
            }
            if let Ok(Record::Message { header, data }) = mcap::parse_record(opcode, body) {
                let (connection, log_time) = (u32::from(header.channel_id), header.log_time);
                each(Piece::Message { connection, log_time, data: &data });
            } else {
                let place = format!("a message in the chunk at byte {}", segment.offset);
                each(Piece::Damaged(Cause::BadMessage, place));
            }
        });
        if let Err((cause, why)) = result {
            let place = format!("the chunk at byte {}: {why}", segment.offset);
            each(Piece::Damaged(cause, place));
        }
    }
}

/// What the walk over the file has gathered so far.
struct Walk {
    segments: Vec<Segment>,
    schemas: BTreeMap<u16, Schema>,
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
                let place =
                    format!("the file ends at byte {size} in the middle of the record at {offset}");
                note(&mut self.damage, Cause::Truncated, place);
                return self.cut_chunk(file, offset, size);
            };
            let next = offset + RECORD_HEAD + length;
            match opcode {
                op::SCHEMA | op::CHANNEL => {
                    let body = read_at(file, offset + RECORD_HEAD, length.min(1 << 26))?;
                    if let Err(reason) = self.declare(opcode, &body) {
                        note(&mut self.damage, Cause::BadMessage, format!("{reason} at {offset}"));
                    }
                }
                op::MESSAGE if length > MAX_CHUNK_BYTES => {
                    let place = format!("a message of {length} bytes at {offset}");
                    note(&mut self.damage, Cause::HugeChunk, place);
                }
                op::MESSAGE => {
                    let head = read_at(file, offset + RECORD_HEAD, length.min(22))?;
                    match message_log_time(&head) {
                        Some(time) => self.message(offset, next, time),
                        None => {
                            let place = format!("short message at {offset}");
                            note(&mut self.damage, Cause::BadMessage, place);
                        }
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
                    note(&mut self.damage, Cause::Truncated, place);
                    return Ok(());
                }
                _ => {}
            }
            offset = next;
        }
    }

    /// The file ends inside a chunk: what is there of it unpacks as far as it reaches.
    fn cut_chunk(&mut self, file: &mut File, offset: u64, size: u64) -> std::io::Result<()> {
        let head = read_at(file, offset, RECORD_HEAD)?;
        if head.len() as u64 == RECORD_HEAD && head.first() == Some(&op::CHUNK) {
            self.chunk(file, offset, size - offset - RECORD_HEAD)?;
        }
        Ok(())
    }

    /// A message outside chunks joins the run before it, if that is not too long.
    fn message(&mut self, offset: u64, next: u64, time: u64) {
        self.first = self.first.min(time);
        self.last = self.last.max(time);
        match self.segments.last_mut() {
            Some(run)
                if !run.chunk && run.length < RUN_BYTES && run.offset + run.length == offset =>
            {
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
            note(&mut self.damage, Cause::BadChunk, format!("short chunk at byte {offset}"));
            return Ok(());
        };
        if unpacked > MAX_CHUNK_BYTES || length > MAX_CHUNK_BYTES {
            let place = format!(
                "the chunk at byte {offset} unpacks to {unpacked} bytes, the cap is {MAX_CHUNK_BYTES}"
            );
            note(&mut self.damage, Cause::HugeChunk, place);
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
            Record::Schema { header, data } => {
                let (name, encoding) = (header.name, header.encoding);
                let text = data.into_owned();
                self.schemas.entry(header.id).or_insert(Schema { name, encoding, text });
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
                note(&mut self.damage, Cause::UnknownSchema, place);
            }
            let (name, definition) = schema.map_or(("", None), |schema| {
                (schema.name.as_str(), Some((schema.encoding.as_str(), schema.text.as_slice())))
            });
            let (connection, flaw) =
                Connection::new(&channel.topic, name, &channel.encoding, definition);
            self.damage.extend(flaw);
            connections.insert(*id, Arc::new(connection));
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

/// What is wrong with a segment.
type Flaw = (Cause, String);

/// Hands out the records of a chunk (given as a whole record, with opcode and length, perhaps cut) or of a
/// run. (The crate's own reader panics on chunks whose sizes contradict each other.)
///
/// # Errors
/// Where the records end before the bytes do; those before it were handed out. A wrong CRC is told only
/// after all of them.
fn unpack(bytes: &[u8], mut each: impl FnMut(u8, &[u8])) -> Result<(), Flaw> {
    if bytes.first() != Some(&op::CHUNK) {
        return records(bytes, &mut each);
    }
    let broken = |what: &str| (Cause::BadChunk, what.to_owned());
    let body = bytes.get(RECORD_HEAD as usize..).unwrap_or_default();
    // Two times, size, CRC, name of the compression, packed size.
    let (fixed, rest) = body.split_at_checked(32).ok_or_else(|| broken("it ends in its header"))?;
    let number = |at: usize| {
        fixed.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
    };
    let size = number(16);
    if size > MAX_CHUNK_BYTES {
        return Err((Cause::HugeChunk, format!("it unpacks to {size} bytes")));
    }
    let word = |at: usize| {
        fixed.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
    };
    let (crc, name_bytes) = (word(24), word(28) as usize);
    let (name, rest) =
        rest.split_at_checked(name_bytes).ok_or_else(|| broken("it ends in its header"))?;
    let packed = rest.get(8..).ok_or_else(|| broken("it ends in its header"))?;
    let (unpacked, result) = decompress(name, packed, size);
    let parsed = records(&unpacked, &mut each);
    result.map_err(|why| (Cause::BadChunk, why)).and(parsed)?;
    // 0: the writer did not count it.
    if crc != 0 && crc32fast::hash(&unpacked) != crc {
        return Err((Cause::BadCrc, "its CRC is wrong".to_owned()));
    }
    Ok(())
}

/// Unpacks a chunk's records; what came out before an error is kept.
fn decompress(name: &[u8], packed: &[u8], size: u64) -> (Vec<u8>, Result<(), String>) {
    let mut unpacked = Vec::new();
    let mut take = |mut reader: &mut dyn Read| (&mut reader).take(size).read_to_end(&mut unpacked);
    let result = match name {
        b"" => take(&mut &packed[..]),
        b"zstd" => zstd::Decoder::with_buffer(packed).and_then(|mut reader| take(&mut reader)),
        b"lz4" => lz4::Decoder::new(packed).and_then(|mut reader| take(&mut reader)),
        other => {
            let name = String::from_utf8_lossy(other).into_owned();
            return (unpacked, Err(format!("compression {name:?} is not known")));
        }
    };
    let result = match result {
        Err(error) => Err(error.to_string()),
        Ok(read) if read as u64 != size => Err(format!("it unpacks to {read} bytes, not {size}")),
        Ok(_) => Ok(()),
    };
    (unpacked, result)
}

/// Hands out records that lie one behind the other.
fn records(bytes: &[u8], each: &mut dyn FnMut(u8, &[u8])) -> Result<(), Flaw> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let record = rest.split_first_chunk::<9>().and_then(|(head, after)| {
            let [opcode, length @ ..] = head;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            after.split_at_checked(length).map(|(body, after)| (*opcode, body, after))
        });
        let Some((opcode, body, after)) = record else {
            let at = bytes.len() - rest.len();
            let why = format!("no whole record at byte {at} of {}", bytes.len());
            return Err((Cause::BadChunk, why));
        };
        each(opcode, body);
        rest = after;
    }
    Ok(())
}
