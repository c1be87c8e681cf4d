//! ROS 1 bags, version 2.0 (<http://wiki.ros.org/Bags/Format/2.0>): chunks none, bz2 or lz4, with or
//! without index, damaged or whole.
//!
//! The file is walked over record by record; the index at its end only saves unpacking each chunk once
//! more to learn when it begins.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::segments::{
    MAX_CHUNK_BYTES, Piece, Reader, Segment, Segmented, note, open, read_at, span,
};
use super::{BagReader, Connection, Container};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::time::Span;

/// The first line of a bag.
pub(super) const MAGIC: &[u8] = b"#ROSBAG V2.0\n";
/// Every version's first bytes.
const ANY_MAGIC: &[u8] = b"#ROSBAG V";
/// A record's header longer than this is damage (a connection's definition is in its data).
const MAX_HEADER_BYTES: u32 = 1 << 20;
/// A connection record's data longer than this is damage.
const MAX_CONNECTION_BYTES: u32 = 8 << 20;
/// Messages outside chunks are read in runs of about this size.
const RUN_BYTES: u64 = 4 << 20;

/// `op` of the records that are used.
mod op {
    pub(super) const MESSAGE: u8 = 0x02;
    pub(super) const BAG: u8 = 0x03;
    pub(super) const CHUNK: u8 = 0x05;
    pub(super) const CHUNK_INFO: u8 = 0x06;
    pub(super) const CONNECTION: u8 = 0x07;
}

/// Whether the file is, or by its name claims to be, a ROS 1 bag.
///
/// # Errors
/// When it cannot be read, is of an older version, or claims to be a bag and is not.
pub(super) fn is_rosbag(path: &Path) -> Result<bool, CaptureError> {
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
        let header = counted(&mut rest).and_then(Header::parse).ok_or_else(broken)?;
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
pub(super) struct Index {
    path: PathBuf,
    segments: Vec<Segment>,
    connections: BTreeMap<u32, Arc<Connection>>,
    span: Option<Span>,
    damage: Vec<(Cause, String)>,
}

impl Index {
    /// Walks over the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn of(path: &Path) -> Result<Self, CaptureError> {
        let mut file = open(path)?;
        let io = |source| CaptureError::Io { path: path.to_owned(), source };
        let size = file.metadata().map_err(io)?.len();
        let mut walk = Walk { first: u64::MAX, ..Walk::default() };
        walk.top_level(&mut file, size).map_err(io)?;
        walk.date_chunks(&mut file).map_err(io)?;
        walk.segments.sort();
        Ok(Self {
            path: path.to_owned(),
            segments: walk.segments,
            connections: walk.connections,
            span: span(walk.first, walk.last),
            damage: walk.damage,
        })
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
        if let Err(why) = result {
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
    let Some((length, data)) = rest.split_first_chunk::<4>() else {
        return Err("it ends in its header".to_owned());
    };
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let packed = data.get(..length).unwrap_or(data);
    let size = header.u32("size").filter(|size| u64::from(*size) <= MAX_CHUNK_BYTES);
    let size = size.ok_or("it does not say how much it unpacks to")?;
    let (unpacked, result) = decompress(header.get("compression").unwrap_or(b"none"), packed, size);
    let parsed = records(&unpacked, each);
    result.and(parsed)
}

/// What the walk over the file has gathered so far.
#[derive(Default)]
struct Walk {
    segments: Vec<Segment>,
    connections: BTreeMap<u32, Arc<Connection>>,
    /// Offset of a chunk → its first and last time, as the index says.
    dated: BTreeMap<u64, (u64, u64)>,
    first: u64,
    last: u64,
    damage: Vec<(Cause, String)>,
}

/// Where a record lies.
struct Place {
    offset: u64,
    header_bytes: u32,
    data_offset: u64,
    data_bytes: u32,
}

impl Walk {
    fn top_level(&mut self, file: &mut File, size: u64) -> std::io::Result<()> {
        let mut offset = MAGIC.len() as u64;
        let mut closed = false;
        while offset < size {
            let Some(place) = place(file, offset, size)? else {
                let why =
                    format!("the file ends at byte {size} in the middle of the record at {offset}");
                note(&mut self.damage, Cause::Truncated, why);
                return Ok(());
            };
            let next = place.data_offset + u64::from(place.data_bytes);
            let header = read_at(file, offset + 4, u64::from(place.header_bytes))?;
            let Some(header) = Header::parse(&header) else {
                let why = format!("no record begins at byte {offset}");
                note(&mut self.damage, Cause::Truncated, why);
                return Ok(());
            };
            match header.op() {
                // Written again when the bag is closed; until then it is 0.
                Some(op::BAG) => closed = header.u64("index_pos").is_some_and(|at| at > 0),
                Some(op::CHUNK) => self.chunk(&place, &header, size),
                Some(op::CHUNK_INFO) => {
                    let told = (header.u64("chunk_pos"), header.time("start_time"));
                    if let ((Some(at), Some(first)), Some(last)) = (told, header.time("end_time")) {
                        self.dated.insert(at, (first, last));
                    }
                }
                Some(op::CONNECTION) if place.data_bytes <= MAX_CONNECTION_BYTES => {
                    let data = read_at(file, place.data_offset, u64::from(place.data_bytes))?;
                    self.declare(&header, &data);
                }
                Some(op::MESSAGE) if u64::from(place.data_bytes) > MAX_CHUNK_BYTES => {
                    let why = format!("a message of {} bytes at {offset}", place.data_bytes);
                    note(&mut self.damage, Cause::HugeChunk, why);
                }
                Some(op::MESSAGE) => match header.time("time") {
                    Some(time) => self.message(offset, next, time),
                    None => {
                        let why = format!("a message without a time at {offset}");
                        note(&mut self.damage, Cause::BadMessage, why);
                    }
                },
                _ => {}
            }
            if next > size {
                let why =
                    format!("the file ends at byte {size} in the middle of the record at {offset}");
                note(&mut self.damage, Cause::Truncated, why);
                return Ok(());
            }
            offset = next;
        }
        if !closed {
            let why = "it has no index: the recorder did not close it".to_owned();
            note(&mut self.damage, Cause::Truncated, why);
        }
        Ok(())
    }

    fn declare(&mut self, header: &Header<'_>, data: &[u8]) {
        let Some((id, connection, flaw)) = connection(header, data) else {
            let why = format!("the declaration of topic {:?}", header.text("topic"));
            note(&mut self.damage, Cause::BadMessage, why);
            return;
        };
        if let std::collections::btree_map::Entry::Vacant(entry) = self.connections.entry(id) {
            entry.insert(Arc::new(connection));
            if let Some((cause, why)) = flaw {
                note(&mut self.damage, cause, why);
            }
        }
    }

    fn chunk(&mut self, place: &Place, header: &Header<'_>, size: u64) {
        let unpacked = header.u32("size").map_or(0, u64::from);
        let offset = place.offset;
        if unpacked > MAX_CHUNK_BYTES || u64::from(place.data_bytes) > MAX_CHUNK_BYTES {
            let why = format!(
                "the chunk at byte {offset} unpacks to {unpacked} bytes, the cap is {MAX_CHUNK_BYTES}"
            );
            note(&mut self.damage, Cause::HugeChunk, why);
            return;
        }
        let end = (place.data_offset + u64::from(place.data_bytes)).min(size);
        self.segments.push(Segment { first: 0, offset, length: end - offset, chunk: true });
    }

    /// A message outside chunks joins the run before it, if that is not too long.
    fn message(&mut self, offset: u64, next: u64, time: u64) {
        self.covers(time, time);
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

    fn covers(&mut self, first: u64, last: u64) {
        self.first = self.first.min(first);
        self.last = self.last.max(last);
    }

    /// Gives each chunk its first time: from the index, else by unpacking it.
    fn date_chunks(&mut self, file: &mut File) -> std::io::Result<()> {
        let mut segments = std::mem::take(&mut self.segments);
        let mut empty = BTreeSet::new();
        for segment in segments.iter_mut().filter(|segment| segment.chunk) {
            if let Some((first, last)) = self.dated.get(&segment.offset).copied() {
                segment.first = first;
                self.covers(first, last);
                continue;
            }
            let bytes = read_at(file, segment.offset, segment.length)?;
            let (mut first, mut last) = (u64::MAX, 0);
            // What is broken in it is counted when it is played.
            let result = unpack(*segment, &bytes, &mut |header, data| match header.op() {
                Some(op::CONNECTION) => self.declare(header, data),
                Some(op::MESSAGE) => {
                    if let Some(time) = header.time("time") {
                        (first, last) = (first.min(time), last.max(time));
                    }
                }
                _ => {}
            });
            if first <= last {
                segment.first = first;
                self.covers(first, last);
            } else if result.is_ok() {
                empty.insert(segment.offset);
            }
        }
        segments.retain(|segment| !empty.contains(&segment.offset));
        self.segments = segments;
        Ok(())
    }
}

/// Where the record at `offset` lies; its data may reach beyond the file's end, its header may not.
fn place(file: &mut File, offset: u64, size: u64) -> std::io::Result<Option<Place>> {
    let number = |bytes: Vec<u8>| bytes.try_into().ok().map(u32::from_le_bytes);
    let Some(header_bytes) = number(read_at(file, offset, 4)?) else { return Ok(None) };
    let data_at = offset + 4 + u64::from(header_bytes);
    if header_bytes > MAX_HEADER_BYTES || data_at + 4 > size {
        return Ok(None);
    }
    let Some(data_bytes) = number(read_at(file, data_at, 4)?) else { return Ok(None) };
    Ok(Some(Place { offset, header_bytes, data_offset: data_at + 4, data_bytes }))
}
