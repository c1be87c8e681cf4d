//! The MCAP container (<https://mcap.dev/spec>): chunked or not, any compression, with or without summary,
//! damaged or whole.
//!
//! [`Index::of`] walks over the top-level records once without unpacking; [`segments`](super::segments)
//! has the chunks unpacked in order of their first message. A summary is a convenience here, never a
//! condition: it saves unpacking chunks for what they declare, all or nearly all of them, and tells where chunks begin
//! behind damage.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcap::MAGIC;
use mcap::records::{Record, op};

use super::segments::{
    MAX_CHUNK_BYTES, Piece, Reader, Seams, Segment, Segmented, note, open, read_at, span,
};
use super::walk::{Walked, next_place};
use crate::capture::bag::connection::{BagReader, Connection, Container, is_read};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::time::Span;

/// Opcode and length before each record.
const RECORD_HEAD: u64 = 9;
/// A footer's body.
const FOOTER_BYTES: u64 = 20;
/// What a message record begins with.
const MESSAGE_HEAD: u64 = 22;
/// A chunk's fields before its records lie in this.
const CHUNK_HEAD: u64 = 256;
/// A summary longer than this is not used.
const MAX_SUMMARY_BYTES: u64 = 256 << 20;

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
    /// Chunks whose damage is counted there.
    told: BTreeSet<u64>,
    seams: Seams,
}

impl Index {
    /// Walks over the file's top-level records.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of(path: &Path) -> Result<Self, CaptureError> {
        let mut walk = Walk::over(&mut open(path)?)
            .map_err(|source| CaptureError::Io { path: path.to_owned(), source })?;
        let channels = walk.connections();
        let Walked { mut segments, first, last, damage, told, .. } = walk.found;
        segments.sort();
        let (path, seams) = (path.to_owned(), Seams::default());
        let span_of = |first| span(first, last);
        let span = span_of(first);
        let mut index = Self { path, segments, channels, span, damage, told, seams };
        Seams::find(&mut index, |index, seams, segments, told| {
            index.span = span_of(segments.first().map_or(first, |segment| segment.first));
            (index.seams, index.segments) = (seams, segments);
            index.damage.extend(told);
        })?;
        Ok(index)
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

    fn seams(&self) -> &Seams {
        &self.seams
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
        if let Err((cause, why)) = result
            && !self.told.contains(&segment.offset)
        {
            let place = format!("the chunk at byte {}: {why}", segment.offset);
            each(Piece::Damaged(cause, place));
        }
    }
}

/// What the end of a file says of its beginning.
struct Summary {
    /// Where the records of data end.
    start: u64,
    /// The file's own end.
    size: u64,
    /// By the offset of each chunk.
    chunks: BTreeMap<u64, ChunkIndex>,
}

/// What the summary says of a chunk.
struct ChunkIndex {
    /// First and last log time.
    times: (u64, u64),
    /// Channels with messages in it; none, too, where the writer lists none.
    channels: BTreeSet<u16>,
}

impl ChunkIndex {
    /// Of its body: two times, offset and length of the chunk, where the messages of each channel are listed. With the
    /// chunk's offset.
    fn of(body: &[u8]) -> Option<(u64, Self)> {
        let length = word(body, 32).and_then(|length| usize::try_from(length).ok());
        let list = length.and_then(|length| body.get(36..)?.get(..length)).unwrap_or_default();
        // The number of a channel, and an offset.
        let channels = list.chunks_exact(10).filter_map(|entry| entry.first_chunk::<2>().copied());
        let channels = channels.map(u16::from_le_bytes).collect();
        Some((number(body, 16)?, Self { times: (number(body, 0)?, number(body, 8)?), channels }))
    }

    /// Whether all channels with messages in the chunk are listed. One without messages has no time.
    fn is_listed(&self) -> bool {
        !self.channels.is_empty() || self.times == (0, 0)
    }
}

impl Summary {
    /// That of a file without one: everything up to its end may be data.
    fn none(size: u64) -> Self {
        Self { start: size, size, chunks: BTreeMap::new() }
    }

    fn is_there(&self) -> bool {
        self.start < self.size
    }

    /// Whether a record from `offset` to `next` leaves the chunks where they are.
    fn allows(&self, file: &mut File, offset: u64, next: u64, opcode: u8) -> std::io::Result<bool> {
        if opcode != op::CHUNK && self.chunks.contains_key(&offset) {
            return Ok(false);
        }
        Ok(self.next_chunk(file, offset + 1, next)?.is_none())
    }

    /// Whether it lists of every one of these chunks which channels' messages are in it.
    fn lists(&self, chunks: &[Segment]) -> bool {
        let index = |chunk: &Segment| self.chunks.get(&chunk.offset);
        chunks.iter().all(|chunk| index(chunk).is_some_and(ChunkIndex::is_listed))
    }

    /// Whether messages of the channel are in the chunk.
    fn has(&self, chunk: &Segment, channel: u16) -> bool {
        self.chunks.get(&chunk.offset).is_some_and(|index| index.channels.contains(&channel))
    }

    /// The first chunk that it names in between, where one is.
    fn next_chunk(&self, file: &mut File, from: u64, to: u64) -> std::io::Result<Option<u64>> {
        for at in self.chunks.range(from..to.max(from)).map(|(at, _)| *at) {
            if record_head(file, at)?.is_some_and(|(opcode, _)| opcode == op::CHUNK) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}

/// A record that can be one.
struct TopLevel {
    opcode: u8,
    length: u64,
    /// What follows does not hang on its length alone.
    sure: bool,
    chunk: Option<ChunkHead>,
    /// One of a chunk's two lengths is wrong.
    torn: bool,
}

/// What a chunk says of itself.
struct ChunkHead {
    first: u64,
    last: u64,
    unpacked: u64,
    /// Length of the record by the size of what is packed in it; its own length says it once more.
    length: u64,
}

impl ChunkHead {
    /// Of a chunk's body: two times, size, CRC, name of the compression (short), packed size.
    fn of(body: &[u8]) -> Option<Self> {
        let name = u64::from(word(body, 28)?);
        let packed = number(body, usize::try_from(32 + name).ok()?)?;
        Some(Self {
            first: number(body, 0)?,
            last: number(body, 8)?,
            unpacked: number(body, 16)?,
            length: (40 + name).checked_add(packed)?,
        })
    }

    fn at(file: &mut File, offset: u64, length: u64) -> std::io::Result<Option<Self>> {
        Ok(Self::of(&read_at(file, offset + RECORD_HEAD, length.min(CHUNK_HEAD))?))
    }
}

/// What the walk over the file has gathered so far.
#[derive(Default)]
struct Walk {
    found: Walked,
    schemas: BTreeMap<u16, Schema>,
    channels: BTreeMap<u16, Declared>,
    /// Everything is declared that the chunks declare, but for schemas perhaps.
    summarised: bool,
    /// Offsets of chunks that were looked into for what they declare.
    looked_into: BTreeSet<u64>,
    /// One of them does not unpack to its end.
    torn: bool,
    /// Channels without a schema of which nothing can be played, whatever it says.
    unplayed: BTreeSet<u16>,
}

impl Walk {
    /// Over all top-level records, and into as few chunks as tell the rest.
    fn over(file: &mut File) -> std::io::Result<Self> {
        let size = file.metadata()?.len();
        let mut walk = Self::default();
        let summary = walk.summary(file, size)?.unwrap_or_else(|| Summary::none(size));
        walk.top_level(file, &summary)?;
        walk.inside_chunks(file, &summary)?;
        Ok(walk)
    }

    /// Reads the summary by the footer; `None`: there is none, or it is not to be found.
    fn summary(&mut self, file: &mut File, size: u64) -> std::io::Result<Option<Summary>> {
        let tail = RECORD_HEAD + FOOTER_BYTES + MAGIC.len() as u64;
        let Some(footer_at) = size.checked_sub(tail) else { return Ok(None) };
        let footer = read_at(file, footer_at, tail)?;
        let body = footer.get(RECORD_HEAD as usize..).unwrap_or_default();
        let (Some(start), Some(crc)) = (number(body, 0), word(body, 16)) else { return Ok(None) };
        let is_footer = footer.first() == Some(&op::FOOTER)
            && number(&footer, 1) == Some(FOOTER_BYTES)
            && body.get(FOOTER_BYTES as usize..) == Some(MAGIC);
        let data_end = RECORD_HEAD + 4;
        if !is_footer
            || start < MAGIC.len() as u64 + data_end
            || start >= footer_at
            || footer_at - start > MAX_SUMMARY_BYTES
        {
            return Ok(None);
        }
        // The checksum is of everything up to itself.
        let bytes = read_at(file, start, size - MAGIC.len() as u64 - 4 - start)?;
        let checked = crc != 0 && crc32fast::hash(&bytes) == crc;
        let head = record_head(file, start - data_end)?;
        if !checked && head != Some((op::DATA_END, 4)) {
            return Ok(None);
        }
        let mut summary = Summary { start, ..Summary::none(size) };
        let whole = usize::try_from(footer_at - start).ok().and_then(|length| bytes.get(..length));
        let mut broken = 0;
        let parsed = if crc == 0 || checked {
            records(whole.unwrap_or_default(), &mut |opcode, body| match opcode {
                op::SCHEMA | op::CHANNEL => {
                    broken += u32::from(self.declare(opcode, body).is_err());
                }
                op::CHUNK_INDEX => summary.chunks.extend(ChunkIndex::of(body)),
                _ => {}
            })
        } else {
            Err((Cause::BadCrc, "its CRC is wrong".to_owned()))
        };
        self.summarised = parsed.is_ok() && broken == 0;
        if let Err((cause, why)) = parsed {
            note(&mut self.found.damage, cause, format!("the summary at byte {start}: {why}"));
            summary.chunks.clear();
        } else if broken > 0 {
            let place = format!("{broken} declarations in the summary at byte {start}");
            note(&mut self.found.damage, Cause::BadMessage, place);
        }
        Ok(Some(summary))
    }

    /// Walks over everything before the summary.
    fn top_level(&mut self, file: &mut File, summary: &Summary) -> std::io::Result<()> {
        let (mut offset, mut after_data) = (MAGIC.len() as u64, false);
        // A record before, whose length may be wrong.
        let mut doubtful = None;
        while offset < summary.start || !summary.is_there() {
            let Some(record) = record(file, offset, summary)? else {
                let next = self.behind_damage(file, offset, doubtful.take(), summary)?;
                let Some(next) = next else { break };
                offset = next;
                continue;
            };
            match record.opcode {
                op::FOOTER => {
                    self.summarised |= after_data && self.found.is_whole();
                    break;
                }
                op::DATA_END => after_data = true,
                _ => self.take(file, offset, &record, summary)?,
            }
            doubtful = (!record.sure).then_some(offset);
            offset += RECORD_HEAD + record.length;
        }
        self.found.tell_holes();
        Ok(())
    }

    /// Takes what is needed of a record.
    fn take(
        &mut self,
        file: &mut File,
        offset: u64,
        record: &TopLevel,
        summary: &Summary,
    ) -> std::io::Result<()> {
        let (length, next) = (record.length, offset + RECORD_HEAD + record.length);
        let damage = &mut self.found.damage;
        match record.opcode {
            op::SCHEMA | op::CHANNEL => {
                let body = read_at(file, offset + RECORD_HEAD, length.min(1 << 26))?;
                if let Err(reason) = self.declare(record.opcode, &body) {
                    let place = format!("{reason} at {offset}");
                    note(&mut self.found.damage, Cause::BadMessage, place);
                }
            }
            op::MESSAGE if length > MAX_CHUNK_BYTES => {
                let place = format!("a message of {length} bytes at {offset}");
                note(damage, Cause::HugeChunk, place);
            }
            op::MESSAGE => {
                let head = read_at(file, offset + RECORD_HEAD, length.min(MESSAGE_HEAD))?;
                match message_log_time(&head) {
                    Some(time) => self.found.message(offset, next, time),
                    None => note(damage, Cause::BadMessage, format!("short message at {offset}")),
                }
            }
            op::CHUNK => {
                let Some(head) = &record.chunk else {
                    note(damage, Cause::BadChunk, format!("short chunk at byte {offset}"));
                    return Ok(());
                };
                if record.torn {
                    let place = format!("the chunk at byte {offset} says two lengths");
                    note(damage, Cause::BadChunk, place);
                    self.found.told.insert(offset);
                }
                self.chunk(head, offset, length, summary);
            }
            _ => {}
        }
        Ok(())
    }

    /// No record can be read at `offset`: says where the next one begins, `None` if none does.
    ///
    /// `doubtful`: the record before it, if `offset` hangs on its length.
    fn behind_damage(
        &mut self,
        file: &mut File,
        offset: u64,
        doubtful: Option<u64>,
        summary: &Summary,
    ) -> std::io::Result<Option<u64>> {
        let next = if self.found.is_riddled() {
            None
        } else {
            self.resume(file, doubtful.unwrap_or(offset) + 1, summary)?
        };
        let end = next.unwrap_or(summary.start);
        let from = doubtful.filter(|_| end < offset).unwrap_or(offset);
        if let Some(before) = doubtful {
            self.found.doubt(before, offset, end);
        }
        if next.is_some() || summary.is_there() {
            self.found.hole(from, end);
        } else {
            self.found.cut(from, summary.size);
        }
        let length = end.saturating_sub(offset + RECORD_HEAD);
        if let Some((op::CHUNK, told)) = record_head(file, offset)?
            && let Some(head) = ChunkHead::at(file, offset, length)?
            && (head.length == told || summary.chunks.contains_key(&offset))
        {
            // It is a chunk without its end, which unpacks as far as it reaches.
            self.found.told.insert(offset);
            self.chunk(&head, offset, length, summary);
        }
        Ok(next)
    }

    /// Where the first record from `from` on begins: that of the next chunk in the summary, else what a search finds.
    fn resume(
        &self,
        file: &mut File,
        from: u64,
        summary: &Summary,
    ) -> std::io::Result<Option<u64>> {
        if summary.chunks.is_empty() {
            return next_place(file, from, summary.start, |file, at, ahead| {
                self.begins(file, at, ahead, summary)
            });
        }
        summary.next_chunk(file, from, summary.start)
    }

    /// Whether `ahead` is the beginning of a record that nothing else is mistaken for: a chunk whose lengths agree, a
    /// message of a known channel with another record behind it, the end of the data or of the file.
    fn begins(
        &self,
        file: &mut File,
        at: u64,
        ahead: &[u8],
        summary: &Summary,
    ) -> std::io::Result<bool> {
        let (Some(opcode), Some(length)) = (ahead.first(), number(ahead, 1)) else {
            return Ok(false);
        };
        let body = ahead.get(RECORD_HEAD as usize..).unwrap_or_default();
        Ok(match *opcode {
            op::CHUNK => ChunkHead::of(body).is_some_and(|head| head.length == length),
            op::MESSAGE if length >= MESSAGE_HEAD => {
                let id = body.first_chunk().copied().map(u16::from_le_bytes);
                id.is_some_and(|id| self.channels.contains_key(&id))
                    && follows(file, at, length, summary)?
            }
            op::DATA_END => length == 4 && follows(file, at, length, summary)?,
            op::FOOTER => is_footer(at, length, summary),
            _ => false,
        })
    }

    fn chunk(&mut self, head: &ChunkHead, offset: u64, length: u64, summary: &Summary) {
        let unpacked = head.unpacked;
        if unpacked > MAX_CHUNK_BYTES || length > MAX_CHUNK_BYTES {
            let place = format!(
                "the chunk at byte {offset} unpacks to {unpacked} bytes, the cap is {MAX_CHUNK_BYTES}"
            );
            note(&mut self.found.damage, Cause::HugeChunk, place);
            return;
        }
        if unpacked > 0 {
            let times = summary.chunks.get(&offset).map(|index| index.times);
            let (first, last) = times.unwrap_or((head.first, head.last));
            // So says a chunk without messages.
            if (first, last) != (0, 0) {
                self.found.covers(first, last);
            }
            let length = length + RECORD_HEAD;
            self.found.segments.push(Segment { first, offset, length, chunk: true });
        }
    }

    /// Looks for declarations in chunks: in all of them where there is no summary, or it declares no channel.
    ///
    /// Else a channel's schema may be missing. It is declared before the channel's first message: in the chunk of that
    /// message, where recorders declare what they write, or in one before. Behind that only where something is damaged.
    fn inside_chunks(&mut self, file: &mut File, summary: &Summary) -> std::io::Result<()> {
        let (mut chunks, runs): (Vec<Segment>, Vec<Segment>) =
            self.found.segments.iter().copied().partition(|segment| segment.chunk);
        chunks.sort_by_key(|chunk| chunk.offset);
        if !self.summarised || self.channels.is_empty() {
            return chunks.iter().try_for_each(|chunk| self.look_into(file, chunk));
        }
        let is_listed = runs.is_empty() && summary.lists(&chunks);
        for (channel, schema) in self.without_schema() {
            let may_have = |chunk: &Segment| !is_listed || summary.has(chunk, channel);
            let needed = self.channels.get(&channel).is_some_and(|one| is_read(&one.encoding));
            let first = chunks.iter().position(may_have).filter(|_| needed);
            let (before, from) = chunks.split_at(first.unwrap_or(chunks.len()));
            let Some((first, after)) = from.split_first() else {
                // What lies in no chunk may be its messages.
                if !needed || runs.is_empty() {
                    self.unplayed.insert(channel);
                }
                continue;
            };
            self.seek(schema, file, std::iter::once(first).chain(before))?;
            if !is_listed || self.torn || !self.found.is_whole() {
                self.seek(schema, file, after)?;
            }
        }
        Ok(())
    }

    /// Channels whose schema is not declared so far, and its number.
    fn without_schema(&self) -> Vec<(u16, u16)> {
        let all = self.channels.iter().map(|(id, channel)| (*id, channel.schema));
        all.filter(|(_, schema)| *schema != 0 && !self.schemas.contains_key(schema)).collect()
    }

    /// Looks into these chunks until that schema is declared.
    fn seek<'a>(
        &mut self,
        schema: u16,
        file: &mut File,
        chunks: impl IntoIterator<Item = &'a Segment>,
    ) -> std::io::Result<()> {
        for chunk in chunks {
            if self.schemas.contains_key(&schema) {
                break;
            }
            self.look_into(file, chunk)?;
        }
        Ok(())
    }

    /// Takes note of what a chunk declares; once.
    fn look_into(&mut self, file: &mut File, chunk: &Segment) -> std::io::Result<()> {
        if !self.looked_into.insert(chunk.offset) {
            return Ok(());
        }
        let record = read_at(file, chunk.offset, chunk.length)?;
        // What is broken in it is counted when it is played.
        let unpacked = unpack(&record, |opcode, body| {
            if matches!(opcode, op::SCHEMA | op::CHANNEL) {
                let _ = self.declare(opcode, body);
            }
        });
        self.torn |= unpacked.is_err();
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
            if schema.is_none() && channel.schema != 0 && !self.unplayed.contains(id) {
                let place = format!("topic {} has no schema {}", channel.topic, channel.schema);
                note(&mut self.found.damage, Cause::UnknownSchema, place);
            }
            let (name, definition) = schema.map_or(("", None), |schema| {
                (schema.name.as_str(), Some((schema.encoding.as_str(), schema.text.as_slice())))
            });
            let (connection, flaw) =
                Connection::new(&channel.topic, name, &channel.encoding, definition);
            self.found.damage.extend(flaw);
            connections.insert(*id, Arc::new(connection));
        }
        connections
    }
}

/// The log time in the 22 bytes before a message's data: channel id (2), sequence (4), log time (8), publish time (8).
fn message_log_time(head: &[u8]) -> Option<u64> {
    number(head, 6).filter(|_| head.len() as u64 >= MESSAGE_HEAD)
}

/// Eight bytes' number.
fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

/// Four bytes' number.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// Opcode and length of what lies at `offset`, whatever it is; `None` at the end of the file.
fn record_head(file: &mut File, offset: u64) -> std::io::Result<Option<(u8, u64)>> {
    let head = read_at(file, offset, RECORD_HEAD)?;
    Ok(head.first().copied().zip(number(&head, 1)))
}

/// A footer has one length and one place.
fn is_footer(offset: u64, length: u64, summary: &Summary) -> bool {
    let tail = RECORD_HEAD + FOOTER_BYTES + MAGIC.len() as u64;
    length == FOOTER_BYTES && offset + tail == summary.size
}

/// Whether something that looks like a record, or the end, lies behind the record at `offset` of that length.
fn follows(file: &mut File, offset: u64, length: u64, summary: &Summary) -> std::io::Result<bool> {
    let end = (offset + RECORD_HEAD).checked_add(length).filter(|next| *next <= summary.start);
    let Some(next) = end else { return Ok(false) };
    if next == summary.start {
        return Ok(true);
    }
    let Some((opcode, length)) = record_head(file, next)? else { return Ok(false) };
    let room = summary.start.saturating_sub(next + RECORD_HEAD);
    Ok(opcode != 0 && length <= room)
}

/// The record at `offset`, if it is whole and one can be there.
fn record(file: &mut File, offset: u64, summary: &Summary) -> std::io::Result<Option<TopLevel>> {
    let Some((opcode, told)) = record_head(file, offset)? else { return Ok(None) };
    let body = offset + RECORD_HEAD;
    let room = summary.start.saturating_sub(body);
    let mut found = TopLevel { opcode, length: told, sure: false, chunk: None, torn: false };
    let possible = match opcode {
        op::CHUNK => {
            found.chunk = ChunkHead::at(file, offset, room)?;
            let counted = found.chunk.as_ref().map(|head| head.length);
            found.sure = true;
            found.torn = counted.is_some_and(|counted| counted != told);
            // Where the two differ, that one is right behind which a record lies.
            if counted == Some(told) || follows(file, offset, told, summary)? {
                true
            } else if let Some(counted) = counted {
                found.length = counted;
                follows(file, offset, counted, summary)?
            } else {
                false
            }
        }
        op::FOOTER => is_footer(offset, told, summary),
        op::DATA_END => told == 4,
        op::MESSAGE_INDEX => {
            // Channel, length of the list.
            let counted = word(&read_at(file, body, 6)?, 2).map(|list| u64::from(list) + 6);
            found.sure = counted == Some(told);
            found.sure
        }
        op::MESSAGE => told >= MESSAGE_HEAD,
        0 => false,
        op::HEADER | op::SCHEMA | op::CHANNEL | op::ATTACHMENT | op::METADATA => true,
        // A chunk whose opcode is damaged has both its lengths still.
        _ if ChunkHead::at(file, offset, room)?.is_some_and(|head| head.length == told) => false,
        op::CHUNK_INDEX..=op::SUMMARY_OFFSET => true,
        // Of the future, or somebody's own.
        _ => follows(file, offset, told, summary)?,
    };
    let whole = possible
        && found.length <= room
        && summary.allows(file, offset, body + found.length, opcode)?;
    Ok(whole.then_some(found))
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
    let size = number(fixed, 16).unwrap_or_default();
    if size > MAX_CHUNK_BYTES {
        return Err((Cause::HugeChunk, format!("it unpacks to {size} bytes")));
    }
    let crc = word(fixed, 24).unwrap_or_default();
    let name_bytes = word(fixed, 28).unwrap_or_default() as usize;
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

#[cfg(test)]
mod tests;
