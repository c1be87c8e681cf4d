//! Chunked containers (MCAP, rosbag1): segments are unpacked in order of their first message, and
//! messages handed out in log-time order, however the segments overlap.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use super::seams::{LEAST_BACK, Seam, Written, moved, seams};
use crate::capture::bag::connection::{BagReader, Connection, Found, Message};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::time::{Span, Timestamp};

/// A chunk may unpack to this much, a record be this long; more is damage, not memory.
pub(in crate::capture::bag) const MAX_CHUNK_BYTES: u64 = 512 << 20;
/// Unpacked messages that wait for an overlapping chunk may take this much; then the oldest goes out.
const MAX_WAITING_BYTES: usize = 256 << 20;

/// Files up to here are looked through for a clock that was set back, whatever they tell of their times …
const SMALL_BYTES: u64 = 128 << 20;
/// … and larger ones than this never.
const MOST_SEAMED_BYTES: u64 = 8 << 30;

/// More flaws of one file than this are no longer counted.
const MAX_FLAWS: usize = 10_000;

/// Takes note of a flaw, as long as there are not absurdly many.
pub(in crate::capture::bag) fn note(flaws: &mut Vec<(Cause, String)>, cause: Cause, place: String) {
    if flaws.len() < MAX_FLAWS {
        flaws.push((cause, place));
    }
}

/// A stretch of the file that is read at once: a chunk, or a run of records outside chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::capture::bag) struct Segment {
    /// Log time of its earliest message, nanoseconds.
    pub(in crate::capture::bag) first: u64,
    pub(in crate::capture::bag) offset: u64,
    pub(in crate::capture::bag) length: u64,
    pub(in crate::capture::bag) chunk: bool,
}

/// What unpacking a segment yields.
#[derive(Debug)]
pub(in crate::capture::bag) enum Piece<'a> {
    Message { connection: u32, log_time: u64, data: &'a [u8] },
    Damaged(Cause, String),
}

/// A container whose messages lie in segments.
pub(in crate::capture::bag) trait Segmented: Send + Sync {
    fn path(&self) -> &Path;
    /// Sorted.
    fn segments(&self) -> &[Segment];
    /// Ids are sorted.
    fn connections(&self) -> Vec<(u32, Arc<Connection>)>;
    /// What was found broken when it was looked into.
    fn damage(&self) -> &[(Cause, String)];
    /// Where its clock was set back.
    fn seams(&self) -> &Seams;
    /// Takes the bytes of a segment apart; everything before the first error is handed out.
    fn unpack(&self, segment: Segment, bytes: &[u8], each: &mut dyn FnMut(Piece<'_>));
}

/// Whether segments, in the order of the file, may be of a clock that was set back: one begins before another that lies
/// before it, or it is not known where its messages begin.
fn may_hold_seams(in_file: &[Segment]) -> bool {
    let mut latest = 0;
    in_file.iter().any(|segment| {
        let goes_back = segment.first.saturating_add(LEAST_BACK) < latest;
        latest = latest.max(segment.first);
        goes_back || !segment.chunk
    })
}

/// Where a container's clock was set back.
#[derive(Clone, Debug, Default)]
pub(in crate::capture::bag) struct Seams {
    found: Vec<Seam>,
    /// How many messages lie before each segment, by its offset.
    before: BTreeMap<u64, usize>,
}

impl Seams {
    /// Reads every segment, once, in a small file, and in a larger one whose segments tell of times that go back in the order
    /// of the file; where a clock was set back, the segments' times are put right. In a large file it is found when it was set
    /// back by more than one segment lasts. A damaged segment tells of no clock.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(in crate::capture::bag) fn find<C: Segmented>(
        container: &mut C,
        set: impl FnOnce(&mut C, Self, Vec<Segment>, Vec<(Cause, String)>),
    ) -> Result<(), CaptureError> {
        let mut in_file = container.segments().to_vec();
        in_file.sort_by_key(|segment| segment.offset);
        let bytes = in_file.iter().map(|segment| segment.length).sum::<u64>();
        if bytes > SMALL_BYTES && (bytes > MOST_SEAMED_BYTES || !may_hold_seams(&in_file)) {
            return Ok(());
        }
        let mut file = open(container.path())?;
        let (mut written, mut before) = (Vec::new(), BTreeMap::new());
        for segment in &in_file {
            before.insert(segment.offset, written.len());
            // What cannot be read is told by the reader.
            let bytes = read_at(&mut file, segment.offset, segment.length).unwrap_or_default();
            let begun = written.len();
            let mut damaged = false;
            container.unpack(*segment, &bytes, &mut |piece| match piece {
                Piece::Message { connection: topic, log_time: at, data } => {
                    written.push(Written { topic, at, print: crc32fast::hash(data) });
                }
                Piece::Damaged(..) => damaged = true,
            });
            if damaged {
                written.truncate(begun);
            }
        }
        let found = seams(&written);
        if found.is_empty() {
            return Ok(());
        }
        let at = |place: usize| written.get(place).map_or(0, |one| one.at);
        let told = found.iter().map(|seam| (Cause::ClockSet, seam.told(at(seam.place)))).collect();
        let moved_at = |place: usize| at(place).saturating_sub(moved(&found, place));
        let begins: Vec<usize> = before.values().copied().collect();
        for (number, segment) in in_file.iter_mut().enumerate() {
            let from = begins.get(number).copied().unwrap_or(0);
            let end = begins.get(number + 1).copied().unwrap_or(written.len());
            segment.first = (from..end).map(moved_at).min().unwrap_or(segment.first);
        }
        in_file.sort();
        set(container, Self { found, before }, in_file, told);
        Ok(())
    }

    /// By how much message `index` of the segment at `offset` is moved back, nanoseconds.
    fn moved(&self, offset: u64, index: usize) -> u64 {
        if self.found.is_empty() {
            return 0;
        }
        moved(
            &self.found,
            self.before.get(&offset).copied().unwrap_or(usize::MAX).saturating_add(index),
        )
    }
}

pub(in crate::capture::bag) fn open(path: &Path) -> Result<File, CaptureError> {
    File::open(path).map_err(|source| CaptureError::Io { path: path.to_owned(), source })
}

/// Up to `length` bytes from `offset`; fewer at the end of the file.
pub(in crate::capture::bag) fn read_at(
    file: &mut File,
    offset: u64,
    length: u64,
) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(64 << 20)).unwrap_or(0));
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// From the first to the last log time, nanoseconds; `None` when there is no message.
pub(in crate::capture::bag) fn span(first: u64, last: u64) -> Option<Span> {
    let at = |nanos| Timestamp::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX));
    (first <= last).then(|| Span::new(at(first), at(last)))
}

/// A message that waits for its turn.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    /// Log time, then the order in which they were read; reversed, because the heap's top is its greatest.
    turn: Reverse<(u64, u64)>,
    connection: u32,
    /// How far it was moved back, nanoseconds.
    moved: u64,
    data: Vec<u8>,
}

impl Waiting {
    /// What it takes in memory: messages may be empty.
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.data.len()
    }
}

/// Messages in log-time order.
pub(in crate::capture::bag) struct Reader<C> {
    container: Arc<C>,
    file: File,
    connections: Vec<(u32, Arc<Connection>)>,
    wanted: BTreeSet<u32>,
    next_segment: usize,
    read: u64,
    waiting: BinaryHeap<Waiting>,
    waiting_bytes: usize,
    damage: VecDeque<(Cause, String)>,
}

impl<C: Segmented> Reader<C> {
    /// For the connections for which `wanted` holds.
    pub(in crate::capture::bag) fn new(
        container: Arc<C>,
        wanted: &dyn Fn(&Connection) -> bool,
    ) -> Result<Self, CaptureError> {
        let connections = container.connections();
        Ok(Self {
            file: open(container.path())?,
            wanted: connections.iter().filter(|(_, c)| wanted(c)).map(|(id, _)| *id).collect(),
            connections,
            next_segment: 0,
            read: 0,
            waiting: BinaryHeap::new(),
            waiting_bytes: 0,
            damage: container.damage().to_vec().into(),
            container,
        })
    }

    fn connection(&self, id: u32) -> Option<&Arc<Connection>> {
        let place = self.connections.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.connections.get(place).map(|(_, connection)| connection)
    }

    /// Unpacks the next segment into `waiting`.
    fn load(&mut self, segment: Segment) {
        let bytes = match read_at(&mut self.file, segment.offset, segment.length) {
            Ok(bytes) => bytes,
            Err(error) => {
                let place = format!("reading at byte {}: {error}", segment.offset);
                self.damage.push_back((Cause::Truncated, place));
                return;
            }
        };
        let (connections, wanted) = (&self.connections, &self.wanted);
        let (waiting, mut damage) = (&mut self.waiting, Vec::new());
        let (read, waiting_bytes) = (&mut self.read, &mut self.waiting_bytes);
        let (seams, mut index) = (self.container.seams(), 0);
        self.container.unpack(segment, &bytes, &mut |piece| match piece {
            Piece::Damaged(cause, place) => note(&mut damage, cause, place),
            Piece::Message { connection, log_time, data } if wanted.contains(&connection) => {
                let moved = seams.moved(segment.offset, index);
                let turn = Reverse((log_time.saturating_sub(moved), *read));
                let message = Waiting { turn, connection, moved, data: data.to_vec() };
                *waiting_bytes += message.bytes();
                waiting.push(message);
                *read += 1;
                index += 1;
            }
            Piece::Message { connection, .. } => {
                index += 1;
                if connections.binary_search_by_key(&connection, |(id, _)| *id).is_err() {
                    let place = format!("a message of undeclared connection {connection}");
                    note(&mut damage, Cause::UnknownSchema, place);
                }
            }
        });
        self.damage.extend(damage);
    }
}

impl<C: Segmented> BagReader for Reader<C> {
    fn next(&mut self) -> Option<Found> {
        loop {
            if let Some((cause, place)) = self.damage.pop_front() {
                return Some(Found::Damaged(cause, place));
            }
            let following = self.container.segments().get(self.next_segment).copied();
            let ready = self.waiting.peek().is_some_and(|first| {
                following.is_none_or(|segment| first.turn.0.0 < segment.first)
                    || self.waiting_bytes > MAX_WAITING_BYTES
            });
            if ready {
                let first = self.waiting.pop()?;
                self.waiting_bytes -= first.bytes();
                let log_time = i64::try_from(first.turn.0.0).unwrap_or(i64::MAX);
                return Some(Found::Message(Message {
                    connection: Arc::clone(self.connection(first.connection)?),
                    log_time: Timestamp::from_nanos(log_time),
                    moved_nanos: -i64::try_from(first.moved).unwrap_or(0),
                    data: first.data,
                }));
            }
            let segment = following?;
            self.next_segment += 1;
            self.load(segment);
        }
    }
}
