//! Versions as a table keeps them: two numbers each, and a row that is an object in RAM or bytes on the shelf.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ids::Seq;
use crate::time::Timestamp;

use super::log::{CHUNK, Log};
use super::shelf::{Plain, Shelf};
use super::simd;
use super::temporal::{Temporal, Version};

const NOT_RETIRED: u64 = u64::MAX;
/// Before a row on the shelf: its length, row id and record time.
const HEAD: usize = 24;

/// Where tables put things: rows on one shelf, lists that searches read on the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelves {
    pub(crate) rows: Arc<Shelf>,
    pub(crate) lists: Arc<Shelf>,
}

/// What a table keeps of a version.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Slot {
    /// The commit that brought it.
    seq: u64,
    place: Place,
}

// SAFETY: two numbers of the same width: no padding.
unsafe impl Plain for Slot {}

/// Where a row is: where it begins on the shelf, which is an even number, or twice its place among those in RAM, plus 1.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Place(u64);

enum Held {
    Ram(usize),
    Shelf(u64),
}

impl Place {
    fn of(held: Held) -> Self {
        match held {
            Held::Ram(at) => Self((at as u64) << 1 | 1),
            Held::Shelf(at) => Self(at),
        }
    }

    fn held(self) -> Held {
        match self.0 & 1 {
            1 => Held::Ram((self.0 >> 1) as usize),
            _ => Held::Shelf(self.0),
        }
    }
}

#[derive(Debug)]
struct Whole<R> {
    rowid: i64,
    recorded: Timestamp,
    row: Arc<R>,
}

/// Which commit ended a version, by position. Few are ended: a page is there only where one of its versions is.
///
/// Pages are shared by all clones, so a reader may learn of an end that came after its horizon, and never misses one that
/// came before: the writer stamps first and publishes then.
#[derive(Clone, Debug, Default)]
struct Ends(Arc<Vec<Option<Arc<Page>>>>);

type Page = [AtomicU64; CHUNK];

impl Ends {
    fn get(&self, at: usize) -> Option<Seq> {
        let page = self.0.get(at / CHUNK)?.as_ref()?;
        let seq = page[at % CHUNK].load(Ordering::Acquire);
        (seq != NOT_RETIRED).then_some(Seq(seq))
    }

    fn set(&mut self, at: usize, seq: Seq) {
        let number = at / CHUNK;
        let there = self.0.get(number).is_some_and(Option::is_some);
        if !there {
            let pages = Arc::make_mut(&mut self.0);
            pages.resize(pages.len().max(number + 1), None);
            pages[number] = Some(Arc::new([const { AtomicU64::new(NOT_RETIRED) }; CHUNK]));
        }
        if let Some(page) = &self.0[number] {
            page[at % CHUNK].store(seq.0, Ordering::Release);
        }
    }

    fn count(&self, by: Seq) -> usize {
        // What ended never is beyond all commits.
        let ended = |seq: &&AtomicU64| seq.load(Ordering::Acquire) <= by.0.min(NOT_RETIRED - 1);
        self.0.iter().flatten().map(|page| page.iter().filter(ended).count()).sum()
    }
}

/// Every version of a table, in commit order, as of one moment; shared by cloning.
pub(crate) struct Versions<R> {
    slots: Log<Slot>,
    ends: Ends,
    /// Rows that lie on no shelf.
    in_ram: Log<Arc<Whole<R>>>,
    shelves: Shelves,
}

impl<R> Clone for Versions<R> {
    fn clone(&self) -> Self {
        let Self { slots, ends, in_ram, shelves } = self;
        Self {
            slots: slots.clone(),
            ends: ends.clone(),
            in_ram: in_ram.clone(),
            shelves: shelves.clone(),
        }
    }
}

impl<R: Temporal> Versions<R> {
    pub(super) fn new(shelves: Shelves) -> Self {
        let (slots, ends, in_ram) = Default::default();
        Self { slots, ends, in_ram, shelves }
    }

    /// Takes in versions; rows that can lie on the shelf do, where there is room. `bytes` is used on the way.
    pub(super) fn append(&mut self, fresh: &[Version<R>], bytes: &mut Vec<u8>) {
        bytes.clear();
        let starts: Vec<Option<u64>> = fresh.iter().map(|version| shelve(version, bytes)).collect();
        let base = if bytes.is_empty() { None } else { self.shelves.rows.put(bytes) };
        for (version, start) in fresh.iter().zip(starts) {
            let held = match base.zip(start) {
                Some((base, start)) => Held::Shelf(base + start),
                None => {
                    let Version { rowid, recorded, .. } = *version;
                    let row = Arc::clone(&version.row);
                    self.in_ram.push(Arc::new(Whole { rowid, recorded, row }));
                    Held::Ram(self.in_ram.len() - 1)
                }
            };
            self.slots.push(Slot { seq: version.seq.0, place: Place::of(held) });
            if let Some(seq) = version.retired {
                self.ends.set(self.slots.len() - 1, seq);
            }
        }
    }

    /// Puts on the shelf what is full.
    pub(super) fn settle(&mut self) {
        self.slots.settle(&self.shelves.lists);
    }

    /// Ends the version at a position, if it has not ended yet.
    pub(super) fn retire(&mut self, at: usize, seq: Seq) {
        if at < self.len() && self.retired(at).is_none() {
            self.ends.set(at, seq);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The commit that brought the version at a position.
    pub(super) fn seq(&self, at: usize) -> Option<Seq> {
        self.slots.get(at).map(|slot| Seq(slot.seq))
    }

    /// The commit that ended it, if any.
    pub(super) fn retired(&self, at: usize) -> Option<Seq> {
        self.ends.get(at)
    }

    /// Asks for the first bytes of a version that is read soon, see [`simd::ask_for`].
    pub(crate) fn ask_for(&self, at: usize, len: usize) {
        if let Some(Held::Shelf(at)) = self.slots.get(at).map(|slot| slot.place.held()) {
            simd::ask_for(self.shelves.rows.bytes(at, HEAD + len));
        }
    }

    /// The version at a position.
    pub(crate) fn get(&self, at: usize) -> Option<Version<R>> {
        self.read(at, self.slots.get(at)?)
    }

    fn read(&self, at: usize, slot: &Slot) -> Option<Version<R>> {
        let (rowid, recorded, row) = match slot.place.held() {
            Held::Ram(place) => {
                let whole = self.in_ram.get(place)?;
                (whole.rowid, whole.recorded, Arc::clone(&whole.row))
            }
            Held::Shelf(start) => {
                let shelf = &self.shelves.rows;
                let [len, rowid, recorded] = head(shelf.bytes(start, HEAD))?;
                let row = R::unshelve(shelf, start + HEAD as u64, len as usize)?;
                (rowid, Timestamp::from_nanos(recorded), Arc::new(row))
            }
        };
        Some(Version::new(rowid, Seq(slot.seq), self.retired(at), recorded, row))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Version<R>> {
        self.iter_from(0)
    }

    /// The versions from `from` on.
    pub(crate) fn iter_from(&self, from: usize) -> impl Iterator<Item = Version<R>> {
        let slots = (from..).zip(self.slots.iter_from(from));
        slots.filter_map(|(at, slot)| self.read(at, slot))
    }

    /// Number of leading versions whose commit passes `before`; it must hold for a prefix.
    pub(crate) fn partition_point(&self, before: impl Fn(Seq) -> bool) -> usize {
        self.slots.partition_point(|slot| before(Seq(slot.seq)))
    }

    /// How many were ended by then.
    pub(crate) fn count_retired(&self, by: Seq) -> usize {
        self.ends.count(by)
    }
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

fn head(bytes: &[u8]) -> Option<[i64; 3]> {
    let (numbers, _) = bytes.as_chunks::<8>();
    let numbers: [[u8; 8]; 3] = numbers.try_into().ok()?;
    Some(numbers.map(i64::from_ne_bytes))
}
