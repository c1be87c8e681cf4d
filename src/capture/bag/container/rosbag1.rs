//! ROS 1 bags, version 2.0 (<http://wiki.ros.org/Bags/Format/2.0>): chunks none, bz2 or lz4, with or
//! without index, damaged or whole.
//!
//! The file is walked over record by record; the index at its end only saves unpacking each chunk once
//! more to learn when it begins, and tells where chunks begin behind damage.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::segments::{
    MAX_CHUNK_BYTES, Piece, Reader, Seams, Segment, Segmented, note, open, read_at, span,
};
use super::walk::{AHEAD, Walked, next_place};
use crate::capture::bag::connection::{BagReader, Connection, Container};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::time::Span;

/// The first line of a bag.
pub(in crate::capture::bag) const MAGIC: &[u8] = b"#ROSBAG V2.0\n";
/// Every version's first bytes.
const ANY_MAGIC: &[u8] = b"#ROSBAG V";
/// A record's header longer than this is damage (a connection's definition is in its data).
const MAX_HEADER_BYTES: u32 = 1 << 20;
/// A connection record's data longer than this is damage.
const MAX_CONNECTION_BYTES: u32 = 8 << 20;

/// `op` of the records that are used.
mod op {
    pub(super) const MESSAGE: u8 = 0x02;
    pub(super) const BAG: u8 = 0x03;
    pub(super) const INDEX: u8 = 0x04;
    pub(super) const CHUNK: u8 = 0x05;
    pub(super) const CHUNK_INFO: u8 = 0x06;
    pub(super) const CONNECTION: u8 = 0x07;
}

/// Whether the file is, or by its name claims to be, a ROS 1 bag.
///
/// # Errors
/// When it cannot be read, is of an older version, or claims to be a bag and is not.
pub(in crate::capture::bag) fn is_rosbag(path: &Path) -> Result<bool, CaptureError> {
    let mut begin = [0_u8; MAGIC.len()];
    let whole = open(path)?.read_exact(&mut begin).is_ok();
    if whole && begin == MAGIC {
        return Ok(true);
    }
    let unreadable =
        |reason: String| Err(CaptureError::Unreadable { path: path.to_owned(), reason });
    if whole && begin.starts_with(ANY_MAGIC) {
        let version = String::from_utf8_lossy(&begin[1..]).trim().to_owned();
        return unreadable(format!(
            "it is of the old version {version:?} (`rosbag fix` brings it up)"
        ));
    }
    if path.extension().is_some_and(|text| text.eq_ignore_ascii_case("bag")) {
        return unreadable("it is named .bag, but does not begin with #ROSBAG V2.0".to_owned());
    }
    Ok(false)
}

/// The fields of a record's header.
struct Header<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Header<'a> {
    /// `length, name=value` again and again; what does not parse ends it.
    fn parse(mut rest: &'a [u8]) -> Option<Self> {
        let mut fields = Vec::new();
        while !rest.is_empty() {
            let field = counted(&mut rest)?;
            let middle = field.iter().position(|byte| *byte == b'=')?;
            fields.push((field.get(..middle)?, field.get(middle + 1..)?));
        }
        Some(Self(fields))
    }

    fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.0.iter().find(|(own, _)| *own == name.as_bytes()).map(|(_, value)| *value)
    }

    fn op(&self) -> Option<u8> {
        self.get("op")?.first().copied()
    }

    fn u32(&self, name: &str) -> Option<u32> {
        self.get(name)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&self, name: &str) -> Option<u64> {
        self.get(name)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// Seconds and nanoseconds → nanoseconds.
    fn time(&self, name: &str) -> Option<u64> {
        let (secs, nanos) = self.get(name)?.split_first_chunk::<4>()?;
        let nanos = u32::from_le_bytes(nanos.try_into().ok()?);
        Some(u64::from(u32::from_le_bytes(*secs)) * 1_000_000_000 + u64::from(nanos))
    }

    /// Whether it is of a known record and has what that needs.
    fn is_complete(&self) -> bool {
        let needed: [&str; 2] = match self.op() {
            Some(op::MESSAGE) => ["conn", "time"],
            Some(op::BAG) => ["op", "index_pos"],
            Some(op::INDEX) => ["conn", "count"],
            Some(op::CHUNK) => ["compression", "size"],
            Some(op::CHUNK_INFO) => ["op", "chunk_pos"],
            Some(op::CONNECTION) => ["conn", "topic"],
            _ => return false,
        };
        needed.iter().all(|name| self.get(name).is_some())
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(self.get(name).unwrap_or_default()).into_owned()
    }
}

/// Takes a length and so many bytes off the front.
fn counted<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (taken, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

/// Hands out the records of an unpacked chunk or of a run.
///
/// # Errors
/// Where the records end before the bytes do; those before it were handed out.
fn records(bytes: &[u8], mut each: impl FnMut(&Header<'_>, &[u8])) -> Result<(), String> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let broken = || format!("no whole record at byte {at} of {}", bytes.len());
        let header = counted(&mut rest).and_then(Header::parse).filter(|one| one.op().is_some());
        let header = header.ok_or_else(broken)?;
        let data = counted(&mut rest).ok_or_else(broken)?;
        each(&header, data);
    }
    Ok(())
}

/// What is wrong with a declaration.
type Flaw = (Cause, String);

/// The id and the connection of a connection record.
fn connection(header: &Header<'_>, data: &[u8]) -> Option<(u32, Connection, Option<Flaw>)> {
    let id = header.u32("conn")?;
    let told = Header::parse(data)?;
    // The record's own topic is where messages were recorded; the data's, where they were published.
    let topic = header.text("topic");
    let definition = told.get("message_definition").unwrap_or_default();
    let (connection, flaw) =
        Connection::new(&topic, &told.text("type"), "ros1", Some(("ros1msg", definition)));
    Some((id, connection, flaw))
}

/// Unpacks a chunk's data; what came out before an error is kept.
fn decompress(compression: &[u8], packed: &[u8], size: u32) -> (Vec<u8>, Result<(), String>) {
    let mut unpacked = Vec::new();
    let cap = u64::from(size);
    let result = match compression {
        b"none" => return (packed.to_vec(), Ok(())),
        b"bz2" => bzip2::read::BzDecoder::new(packed).take(cap).read_to_end(&mut unpacked),
        b"lz4" => lz4::Decoder::new(packed)
            .and_then(|decoder| decoder.take(cap).read_to_end(&mut unpacked)),
        other => {
            let name = String::from_utf8_lossy(other).into_owned();
            return (unpacked, Err(format!("compression {name:?} is not known")));
        }
    };
    let short = unpacked.len() as u64 != cap;
    let result = match result {
        Err(error) => Err(error.to_string()),
        Ok(_) if short => Err(format!("it unpacks to {} bytes, not {cap}", unpacked.len())),
        Ok(_) => Ok(()),
    };
    (unpacked, result)
}

/// Where everything lies in a ROS 1 bag, and what its topics are.
#[derive(Debug)]
pub(in crate::capture::bag) struct Index {
    path: PathBuf,
    segments: Vec<Segment>,
    connections: BTreeMap<u32, Arc<Connection>>,
    span: Option<Span>,
    damage: Vec<(Cause, String)>,
    /// Chunks whose damage is counted there.
    told: BTreeSet<u64>,
    seams: Seams,
}

impl Index {
    /// Walks over the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(in crate::capture::bag) fn of(path: &Path) -> Result<Self, CaptureError> {
        let mut file = open(path)?;
        let io = |source| CaptureError::Io { path: path.to_owned(), source };
        let size = file.metadata().map_err(io)?.len();
        let mut walk = Walk::default();
        let index = walk.index(&mut file, size).map_err(io)?;
        let data = Data { end: index.unwrap_or(size), size };
        walk.top_level(&mut file, data).map_err(io)?;
        walk.date_chunks(&mut file).map_err(io)?;
        let Walked { mut segments, first, last, damage, told, .. } = walk.found;
        segments.sort();
        let mut index = Self {
            path: path.to_owned(),
            segments,
            connections: walk.connections,
            span: span(first, last),
            damage,
            told,
            seams: Seams::default(),
        };
        Seams::find(&mut index, |index, seams, segments, told| {
            index.span = span(segments.first().map_or(first, |segment| segment.first), last);
            (index.seams, index.segments) = (seams, segments);
            index.damage.extend(told);
        })?;
        Ok(index)
    }
}

impl Container for Arc<Index> {
    fn connections(&self) -> Vec<Arc<Connection>> {
        self.connections.values().map(Arc::clone).collect()
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
        self.connections.iter().map(|(id, one)| (*id, Arc::clone(one))).collect()
    }

    fn damage(&self) -> &[(Cause, String)] {
        &self.damage
    }

    fn seams(&self) -> &Seams {
        &self.seams
    }

    fn unpack(&self, segment: Segment, bytes: &[u8], each: &mut dyn FnMut(Piece<'_>)) {
        let result = unpack(segment, bytes, &mut |header, data| {
            if header.op() != Some(op::MESSAGE) {
                return;
            }
            match (header.u32("conn"), header.time("time")) {
                (Some(connection), Some(log_time)) => {
                    each(Piece::Message { connection, log_time, data });
                }
                _ => {
                    let place = format!("a message in the chunk at byte {}", segment.offset);
                    each(Piece::Damaged(Cause::BadMessage, place));
                }
            }
        });
        if let Err(why) = result
            && !self.told.contains(&segment.offset)
        {
            let place = format!("the chunk at byte {}: {why}", segment.offset);
            each(Piece::Damaged(Cause::BadChunk, place));
        }
    }
}

/// The records of a segment: a chunk record, whole or cut, or a run of records.
fn unpack(
    segment: Segment,
    bytes: &[u8],
    each: &mut dyn FnMut(&Header<'_>, &[u8]),
) -> Result<(), String> {
    if !segment.chunk {
        return records(bytes, each);
    }
    let mut rest = bytes;
    let header = counted(&mut rest).and_then(Header::parse).ok_or("its header is broken")?;
    // Not by the length that stands there: the walk has found out where it ends.
    let Some((_, packed)) = rest.split_first_chunk::<4>() else {
        return Err("it ends in its header".to_owned());
    };
    let size = header.u32("size").filter(|size| u64::from(*size) <= MAX_CHUNK_BYTES);
    let size = size.ok_or("it does not say how much it unpacks to")?;
    let (unpacked, result) = decompress(header.get("compression").unwrap_or(b"none"), packed, size);
    let parsed = records(&unpacked, each);
    result.and(parsed)
}

/// Where the records are that are not the index.
#[derive(Clone, Copy)]
struct Data {
    end: u64,
    /// The file's own end.
    size: u64,
}

impl Data {
    fn has_index(self) -> bool {
        self.end < self.size
    }
}

/// What the walk over the file has gathered so far.
#[derive(Default)]
struct Walk {
    found: Walked,
    connections: BTreeMap<u32, Arc<Connection>>,
    /// Those of them with whose declaration something is wrong.
    flawed: BTreeSet<u32>,
    /// Offset of a chunk → its first and last time, as the index says.
    dated: BTreeMap<u64, (u64, u64)>,
}

/// Where a record lies.
struct Place {
    offset: u64,
    data_offset: u64,
    data_bytes: u64,
    /// Its header.
    header: Vec<u8>,
}

impl Place {
    fn next(&self) -> u64 {
        self.data_offset + self.data_bytes
    }
}

/// A record that can be one.
struct TopLevel {
    place: Place,
    /// What follows does not hang on its length alone.
    sure: bool,
    /// One of a chunk's two lengths is wrong.
    torn: bool,
}

impl Walk {
    /// Reads the index at the file's end, where it is whole: says where it begins.
    fn index(&mut self, file: &mut File, size: u64) -> std::io::Result<Option<u64>> {
        let bag = place(file, MAGIC.len() as u64, size)?;
        let header = bag.as_ref().and_then(|place| Header::parse(&place.header));
        let begin = header.filter(|header| header.op() == Some(op::BAG));
        let Some(begin) = begin.and_then(|header| header.u64("index_pos")).filter(|at| *at > 0)
        else {
            return Ok(None);
        };
        let mut offset = begin;
        while offset < size {
            let record = place(file, offset, size)?.filter(|place| place.next() <= size);
            let header = record.as_ref().and_then(|record| Header::parse(&record.header));
            let (Some(record), Some(header)) = (&record, header) else { break };
            match header.op() {
                Some(op::CHUNK_INFO) => {
                    let told = (header.u64("chunk_pos"), header.time("start_time"));
                    if let ((Some(at), Some(first)), Some(last)) = (told, header.time("end_time")) {
                        self.dated.insert(at, (first, last));
                    }
                }
                // Chunks declare what is in them, too, and will be asked.
                Some(op::CONNECTION) if !self.declared_at(file, record, &header)? => break,
                Some(op::CONNECTION) => {}
                _ => break,
            }
            offset = record.next();
        }
        if offset == size {
            return Ok(Some(begin));
        }
        // The walk comes upon what is wrong with it.
        *self = Self::default();
        Ok(None)
    }

    /// Walks over everything before the index.
    fn top_level(&mut self, file: &mut File, data: Data) -> std::io::Result<()> {
        let mut offset = MAGIC.len() as u64;
        let mut closed = None;
        // A record before, whose length may be wrong.
        let mut doubtful = None;
        let mut cut = false;
        while offset < data.end {
            let Some(record) = self.record(file, offset, data)? else {
                let next = self.behind_damage(file, offset, doubtful.take(), data)?;
                let Some(next) = next else {
                    cut = true;
                    break;
                };
                offset = next;
                continue;
            };
            if let Some(header) = Header::parse(&record.place.header) {
                // Written again when the bag is closed; until then it is 0.
                if header.op() == Some(op::BAG) {
                    closed =
                        Some(header.u64("index_pos").is_some_and(|at| at > 0 && at <= data.size));
                }
                self.take(file, &record, &header)?;
            }
            doubtful = (!record.sure).then_some(offset);
            offset = record.place.next();
        }
        if closed == Some(false) && !cut {
            let why = "it has no index: the recorder did not close it".to_owned();
            note(&mut self.found.damage, Cause::Truncated, why);
        } else if closed == Some(true) && self.found.is_whole() && !self.names_every_chunk() {
            let why = "its index ends before it has named every chunk".to_owned();
            note(&mut self.found.damage, Cause::Truncated, why);
        }
        self.found.tell_holes();
        Ok(())
    }

    /// Whether the index says of each chunk that it is there: a file may have been cut between two of its records.
    fn names_every_chunk(&self) -> bool {
        let mut chunks = self.found.segments.iter().filter(|segment| segment.chunk);
        chunks.all(|chunk| self.dated.contains_key(&chunk.offset))
    }

    /// Takes what is needed of a record.
    fn take(
        &mut self,
        file: &mut File,
        record: &TopLevel,
        header: &Header<'_>,
    ) -> std::io::Result<()> {
        let Place { offset, data_bytes, .. } = record.place;
        let damage = &mut self.found.damage;
        match header.op() {
            Some(op::CHUNK) => {
                if record.torn {
                    let why = format!("the chunk at byte {offset} says two lengths");
                    note(damage, Cause::BadChunk, why);
                    self.found.told.insert(offset);
                }
                self.chunk(header, offset, record.place.next());
            }
            Some(op::CONNECTION) => {
                self.declared_at(file, &record.place, header)?;
            }
            Some(op::MESSAGE) if data_bytes > MAX_CHUNK_BYTES => {
                let why = format!("a message of {data_bytes} bytes at {offset}");
                note(damage, Cause::HugeChunk, why);
            }
            Some(op::MESSAGE) => match header.time("time") {
                Some(time) => self.found.message(offset, record.place.next(), time),
                None => {
                    let why = format!("a message without a time at {offset}");
                    note(damage, Cause::BadMessage, why);
                }
            },
            _ => {}
        }
        Ok(())
    }

    /// The record at `offset`, if it is whole and one can be there.
    fn record(
        &self,
        file: &mut File,
        offset: u64,
        data: Data,
    ) -> std::io::Result<Option<TopLevel>> {
        let Some(mut place) = place(file, offset, data.end)? else { return Ok(None) };
        let Some(header) = Header::parse(&place.header) else { return Ok(None) };
        if !header.is_complete() {
            return Ok(None);
        }
        let opcode = header.op();
        let (mut sure, mut torn) = (false, false);
        if opcode == Some(op::CHUNK) {
            // What is not packed says its length twice.
            let counted = header.u32("size").map(u64::from);
            let counted = counted.filter(|_| header.get("compression") == Some(b"none"));
            torn = counted.is_some_and(|counted| counted != place.data_bytes);
            sure = counted == Some(place.data_bytes) || follows(file, place.next(), data.end)?;
            if let Some(counted) = counted.filter(|_| !sure)
                && follows(file, place.data_offset + counted, data.end)?
            {
                (place.data_bytes, sure) = (counted, true);
            }
            torn = torn && sure;
        }
        let next = place.next();
        // Chunks are where the index says that they are.
        let allowed = next <= data.end
            && (opcode == Some(op::CHUNK) || !self.dated.contains_key(&offset))
            && self.next_chunk(file, offset + 1, next)?.is_none();
        Ok(allowed.then_some(TopLevel { place, sure, torn }))
    }

    /// No record can be read at `offset`: says where the next one begins, `None` if none does.
    ///
    /// `doubtful`: the record before it, if `offset` hangs on its length.
    fn behind_damage(
        &mut self,
        file: &mut File,
        offset: u64,
        doubtful: Option<u64>,
        data: Data,
    ) -> std::io::Result<Option<u64>> {
        let is_chunk = opcode(file, offset, data.end)? == Some(op::CHUNK);
        let next = if self.found.is_riddled() {
            None
        } else {
            self.resume(file, doubtful.unwrap_or(offset) + 1, data, is_chunk)?
        };
        let end = next.unwrap_or(data.end);
        let from = doubtful.filter(|_| end < offset).unwrap_or(offset);
        if let Some(before) = doubtful {
            self.found.doubt(before, offset, end);
        }
        if next.is_some() || data.has_index() {
            self.found.hole(from, end);
        } else {
            self.found.cut(from, data.size);
        }
        // A chunk without its end unpacks as far as it reaches.
        if end > offset
            && let Some(place) = place(file, offset, end)?
            && let Some(header) = Header::parse(&place.header)
            && header.op() == Some(op::CHUNK)
        {
            self.found.told.insert(offset);
            self.chunk(&header, offset, end);
        }
        Ok(next)
    }

    /// Where the first record from `from` on begins: that of the next chunk in the index, else what a search finds.
    ///
    /// `in_chunk`: what may be inside a chunk is inside it.
    fn resume(
        &self,
        file: &mut File,
        from: u64,
        data: Data,
        in_chunk: bool,
    ) -> std::io::Result<Option<u64>> {
        if !self.dated.is_empty() {
            return self.next_chunk(file, from, data.end);
        }
        next_place(file, from, data.end, |_, at, ahead| {
            let found = beginning(at, ahead, data.end);
            let may_be_inside = matches!(found, Some(op::MESSAGE | op::CONNECTION));
            Ok(found.is_some() && !(in_chunk && may_be_inside))
        })
    }

    /// The first chunk that the index names in between, where one is.
    fn next_chunk(&self, file: &mut File, from: u64, to: u64) -> std::io::Result<Option<u64>> {
        for at in self.dated.range(from..to.max(from)).map(|(at, _)| *at) {
            if opcode(file, at, u64::MAX)? == Some(op::CHUNK) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The connection in the record there, unless it is too long for one; false where something is wrong with it.
    fn declared_at(
        &mut self,
        file: &mut File,
        place: &Place,
        header: &Header<'_>,
    ) -> std::io::Result<bool> {
        if place.data_bytes > u64::from(MAX_CONNECTION_BYTES) {
            return Ok(false);
        }
        let data = read_at(file, place.data_offset, place.data_bytes)?;
        Ok(self.declare(header, &data))
    }

    /// Takes a declaration in; of several of one connection the first with which nothing is wrong counts.
    fn declare(&mut self, header: &Header<'_>, data: &[u8]) -> bool {
        let damage = &mut self.found.damage;
        let Some((id, connection, flaw)) = connection(header, data) else {
            let why = format!("the declaration of topic {:?}", header.text("topic"));
            note(damage, Cause::BadMessage, why);
            return false;
        };
        let (is_known, is_whole) = (self.connections.contains_key(&id), flaw.is_none());
        if !is_known || (is_whole && self.flawed.remove(&id)) {
            self.connections.insert(id, Arc::new(connection));
        }
        if let Some((cause, why)) = flaw.filter(|_| !is_known) {
            self.flawed.insert(id);
            note(damage, cause, why);
        }
        is_whole
    }

    fn chunk(&mut self, header: &Header<'_>, offset: u64, end: u64) {
        let (unpacked, length) = (header.u32("size").map_or(0, u64::from), end - offset);
        if unpacked > MAX_CHUNK_BYTES || length > MAX_CHUNK_BYTES {
            let why = format!(
                "the chunk at byte {offset} unpacks to {unpacked} bytes, the cap is {MAX_CHUNK_BYTES}"
            );
            note(&mut self.found.damage, Cause::HugeChunk, why);
            return;
        }
        self.found.segments.push(Segment { first: 0, offset, length, chunk: true });
    }

    /// Gives each chunk its first time: from the index, else by unpacking it.
    fn date_chunks(&mut self, file: &mut File) -> std::io::Result<()> {
        let mut segments = std::mem::take(&mut self.found.segments);
        let mut empty = BTreeSet::new();
        for segment in segments.iter_mut().filter(|segment| segment.chunk) {
            if let Some((first, last)) = self.dated.get(&segment.offset).copied() {
                segment.first = first;
                self.found.covers(first, last);
                continue;
            }
            let bytes = read_at(file, segment.offset, segment.length)?;
            let (mut first, mut last) = (u64::MAX, 0);
            // What is broken in it is counted when it is played.
            let result = unpack(*segment, &bytes, &mut |header, data| match header.op() {
                Some(op::CONNECTION) => {
                    self.declare(header, data);
                }
                Some(op::MESSAGE) => {
                    if let Some(time) = header.time("time") {
                        (first, last) = (first.min(time), last.max(time));
                    }
                }
                _ => {}
            });
            if first <= last {
                segment.first = first;
                self.found.covers(first, last);
            } else if result.is_ok() {
                empty.insert(segment.offset);
            }
        }
        segments.retain(|segment| !empty.contains(&segment.offset));
        self.found.segments = segments;
        Ok(())
    }
}

/// Where the record at `offset` lies; its data may reach beyond `end`, its header may not.
fn place(file: &mut File, offset: u64, end: u64) -> std::io::Result<Option<Place>> {
    let number = |bytes: Vec<u8>| bytes.try_into().ok().map(u32::from_le_bytes);
    let Some(header_bytes) = number(read_at(file, offset, 4)?) else { return Ok(None) };
    let data_at = offset + 4 + u64::from(header_bytes);
    if header_bytes > MAX_HEADER_BYTES || data_at + 4 > end {
        return Ok(None);
    }
    let mut header = read_at(file, offset + 4, u64::from(header_bytes) + 4)?;
    if header.len() < header_bytes as usize {
        return Ok(None);
    }
    let Some(data_bytes) = number(header.split_off(header_bytes as usize)) else {
        return Ok(None);
    };
    let (data_offset, data_bytes) = (data_at + 4, u64::from(data_bytes));
    Ok(Some(Place { offset, data_offset, data_bytes, header }))
}

/// Whether something that looks like a record, or the end, lies at `next`.
fn follows(file: &mut File, next: u64, end: u64) -> std::io::Result<bool> {
    if next >= end {
        return Ok(next == end);
    }
    Ok(matches!(opcode(file, next, end)?, Some(op::MESSAGE..=op::CONNECTION)))
}

/// What the header of the record at `offset` says that it is, if one is there.
fn opcode(file: &mut File, offset: u64, end: u64) -> std::io::Result<Option<u8>> {
    let header = place(file, offset, end)?.map(|place| place.header);
    Ok(header.as_deref().and_then(Header::parse).and_then(|header| header.op()))
}

/// What record `ahead`, the bytes from `at` on, is the beginning of, where nothing else is mistaken for it.
fn beginning(at: u64, ahead: &[u8], end: u64) -> Option<u8> {
    let mut rest = ahead;
    let bytes = counted(&mut rest).filter(|bytes| bytes.len() < AHEAD)?;
    let (header, length) = (Header::parse(bytes)?, rest.first_chunk::<4>()?);
    let data_at = at + (ahead.len() - rest.len()) as u64 + 4;
    let is_whole = data_at + u64::from(u32::from_le_bytes(*length)) <= end;
    header.op().filter(|kind| header.is_complete() && (is_whole || *kind == op::CHUNK))
}
