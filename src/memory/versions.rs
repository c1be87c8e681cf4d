//! Versions as a table keeps them: a few numbers each, and a row that is an object in RAM or bytes on the shelf.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ids::Seq;
use crate::time::Timestamp;

use super::log::Log;
use super::shelf::Shelf;
use super::simd;
use super::temporal::{Temporal, Version};

const NOT_RETIRED: u64 = u64::MAX;
/// Before a row on the shelf: its length, row id and record time.
const HEAD: usize = 24;

/// What a table keeps of a version.
#[derive(Debug)]
pub(crate) struct Slot<R> {
    pub(super) seq: Seq,
    retired: AtomicU64,
    held: Held<R>,
}

#[derive(Debug)]
enum Held<R> {
    Ram(Arc<Whole<R>>),
    /// Where it begins on the shelf.
    Shelf(u64),
}

#[derive(Debug)]
struct Whole<R> {
    rowid: i64,
    recorded: Timestamp,
    row: Arc<R>,
}

impl<R> Clone for Slot<R> {
    /// The writer alone clones slots, and it alone retires them: nothing is missed.
    fn clone(&self) -> Self {
        let held = match &self.held {
            Held::Ram(whole) => Held::Ram(Arc::clone(whole)),
            Held::Shelf(at) => Held::Shelf(*at),
        };
        Self { seq: self.seq, retired: AtomicU64::new(self.retired.load(Ordering::Acquire)), held }
    }
}

impl<R> Slot<R> {
    /// The commit that ended it, if any.
    pub(super) fn retired(&self) -> Option<Seq> {
        let seq = self.retired.load(Ordering::Acquire);
        (seq != NOT_RETIRED).then_some(Seq(seq))
    }

    pub(super) fn retire(&self, seq: Seq) {
        self.retired.store(seq.0, Ordering::Release);
    }
}

/// Slots of versions; rows that can lie on the shelf do, where there is room. `bytes` is used on the way.
pub(super) fn slots_of<R: Temporal>(
    fresh: &[Version<R>],
    shelf: &Shelf,
    bytes: &mut Vec<u8>,
) -> Vec<Slot<R>> {
    bytes.clear();
    let starts: Vec<Option<u64>> = fresh.iter().map(|version| shelve(version, bytes)).collect();
    let base = if bytes.is_empty() { None } else { shelf.put(bytes) };
    let of = |(version, start): (&Version<R>, Option<u64>)| {
        let held = match base.zip(start) {
            Some((base, start)) => Held::Shelf(base + start),
            None => Held::Ram(Arc::new(Whole {
                rowid: version.rowid,
                recorded: version.recorded,
                row: Arc::clone(&version.row),
            })),
        };
        let retired = AtomicU64::new(version.retired.map_or(NOT_RETIRED, |seq| seq.0));
        Slot { seq: version.seq, retired, held }
    };
    fresh.iter().zip(starts).map(of).collect()
}

/// Appends what lies on the shelf of one version; where it begins.
fn shelve<R: Temporal>(version: &Version<R>, bytes: &mut Vec<u8>) -> Option<u64> {
    let start = bytes.len();
    bytes.extend([0; 8]);
    bytes.extend(version.rowid.to_ne_bytes());
    bytes.extend(version.recorded.as_nanos().to_ne_bytes());
    if !version.row.shelve(bytes) {
        bytes.truncate(start);
        return None;
    }
    let len = (bytes.len() - start - HEAD) as u64;
    bytes[start..start + 8].copy_from_slice(&len.to_ne_bytes());
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    Some(start as u64)
}

/// Every version of a table, in commit order, as of one moment.
pub(crate) struct Versions<R> {
    slots: Log<Slot<R>>,
    shelf: Arc<Shelf>,
}

impl<R: Temporal> Versions<R> {
    pub(super) fn new(slots: Log<Slot<R>>, shelf: Arc<Shelf>) -> Self {
        Self { slots, shelf }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn slot(&self, at: usize) -> Option<&Slot<R>> {
        self.slots.get(at)
    }

    /// Asks for the first bytes of a version that is read soon, see [`simd::ask_for`].
    pub(crate) fn ask_for(&self, at: usize, len: usize) {
        if let Some(Held::Shelf(at)) = self.slots.get(at).map(|slot| &slot.held) {
            simd::ask_for(self.shelf.bytes(*at, HEAD + len));
        }
    }

    /// The version at a position.
    pub(crate) fn get(&self, at: usize) -> Option<Version<R>> {
        self.read(self.slots.get(at)?)
    }

    fn read(&self, slot: &Slot<R>) -> Option<Version<R>> {
        let (rowid, recorded, row) = match &slot.held {
            Held::Ram(whole) => (whole.rowid, whole.recorded, Arc::clone(&whole.row)),
            Held::Shelf(at) => {
                let [len, rowid, recorded] = head(self.shelf.bytes(*at, HEAD))?;
                let row = R::unshelve(&self.shelf, at + HEAD as u64, len as usize)?;
                (rowid, Timestamp::from_nanos(recorded), Arc::new(row))
            }
        };
        Some(Version::new(rowid, slot.seq, slot.retired(), recorded, row))
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Version<R>> {
        self.slots.iter().filter_map(|slot| self.read(slot))
    }

    /// The versions from `from` on.
    pub(crate) fn iter_from(&self, from: usize) -> impl Iterator<Item = Version<R>> {
        self.slots.iter_from(from).filter_map(|slot| self.read(slot))
    }

    /// Number of leading versions for which `before` holds; it must hold for a prefix.
    pub(crate) fn partition_point(&self, before: impl Fn(&Slot<R>) -> bool) -> usize {
        self.slots.partition_point(before)
    }

    /// How many were ended by then.
    pub(crate) fn count_retired(&self, by: Seq) -> usize {
        self.slots.iter().filter(|slot| slot.retired().is_some_and(|seq| seq <= by)).count()
    }
}

fn head(bytes: &[u8]) -> Option<[i64; 3]> {
    let (numbers, _) = bytes.as_chunks::<8>();
    let numbers: [[u8; 8]; 3] = numbers.try_into().ok()?;
    Some(numbers.map(i64::from_ne_bytes))
}
