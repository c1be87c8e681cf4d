//! Multi-version rows (MVCC) as a table keeps them: two numbers each, and a row that is an object in RAM or bytes on the shelf.

pub(super) mod derived;
pub(super) mod keys;
pub(super) mod links;
pub(super) mod log;
pub(super) mod persist;
pub(super) mod recent;
pub(super) mod runs;
pub(super) mod shelf;
pub(super) mod sightings;
pub(super) mod sums;
pub(super) mod temporal;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::ids::Seq;
use crate::time::Timestamp;

use self::log::{CHUNK, Log};
use self::persist::{Persist, Reader, Writer};
use self::shelf::Shelf;
use self::temporal::{Temporal, Version};
use crate::simd;

const NOT_RETIRED: u64 = u64::MAX;
/// Versions that one thread reads at once.
const PART: usize = 8_192;
/// Beyond all places of rows.
const NOWHERE: u64 = u64::MAX;
/// More pages than positions of 32 bits have.
const MOST_PAGES: usize = 1 << 24;
/// Before a row on the shelf: its length, row id and record time.
const HEAD: usize = 24;

/// Where tables put things: rows on one shelf, lists that searches read on the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelves {
    pub(crate) rows: Arc<Shelf>,
    pub(crate) lists: Arc<Shelf>,
}

/// What a table keeps of a version.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Slot {
    /// The commit that brought it.
    seq: u64,
    place: Place,
}

/// Where a row is: where it begins on the shelf, which is an even number, or twice its place among those in RAM, plus 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
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
    /// `None`: it was erased.
    row: Option<Arc<R>>,
}

/// What became of versions that erasing touched, by position; clones keep what they know. Few are touched: a page is there
/// only where one of its versions is.
#[derive(Clone, Debug, Default)]
struct Struck {
    pages: Arc<Vec<Option<Arc<StruckPage>>>>,
    gone: usize,
}

/// By place in the chunk: where the row is now; `None`: nowhere.
type StruckPage = BTreeMap<u8, Option<Place>>;

impl Struck {
    /// `None`: it was not touched.
    fn get(&self, at: usize) -> Option<Option<Place>> {
        let page = self.pages.get(at / CHUNK)?.as_ref()?;
        page.get(&((at % CHUNK) as u8)).copied()
    }

    fn set(&mut self, at: usize, place: Option<Place>) {
        let pages = Arc::make_mut(&mut self.pages);
        let number = at / CHUNK;
        if pages.len() <= number {
            pages.resize(number + 1, None);
        }
        let page = Arc::make_mut(pages[number].get_or_insert_default());
        let before = page.insert((at % CHUNK) as u8, place);
        if place.is_none() && before != Some(None) {
            self.gone += 1;
        }
    }
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

    /// Nothing ended it as far as is known: it is not there any more. Clones keep what they know.
    fn clear(&mut self, at: usize) {
        if self.get(at).is_none() {
            return;
        }
        if let Some(Some(page)) = Arc::make_mut(&mut self.0).get_mut(at / CHUNK) {
            let own: Page =
                std::array::from_fn(|place| AtomicU64::new(page[place].load(Ordering::Acquire)));
            own[at % CHUNK].store(NOT_RETIRED, Ordering::Release);
            *page = Arc::new(own);
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
    struck: Struck,
    shelves: Shelves,
}

impl<R> Clone for Versions<R> {
    fn clone(&self) -> Self {
        let Self { slots, ends, in_ram, struck, shelves } = self;
        Self {
            slots: slots.clone(),
            ends: ends.clone(),
            in_ram: in_ram.clone(),
            struck: struck.clone(),
            shelves: shelves.clone(),
        }
    }
}

impl<R: Temporal> Versions<R> {
    pub(super) fn new(shelves: Shelves) -> Self {
        let (slots, ends, in_ram, struck) = Default::default();
        Self { slots, ends, in_ram, struck, shelves }
    }

    /// How many there are: some of [`Self::len`] may have been erased.
    pub(crate) fn count(&self) -> usize {
        self.len() - self.struck.gone
    }

    /// Where the version of a row id stands, as long as rows came in the order of their ids.
    pub(super) fn position_of(&self, rowid: i64) -> Option<usize> {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            match self.rowid(middle)?.cmp(&rowid) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }

    /// A row id greater than all that were ever here, erased or not.
    pub(super) fn next_rowid(&self) -> i64 {
        let last = self.len().checked_sub(1).and_then(|last| self.rowid(last));
        last.map_or(1, |last| last + 1)
    }

    /// The row id of a version, erased or not.
    fn rowid(&self, at: usize) -> Option<i64> {
        match self.slots.get(at)?.place.held() {
            Held::Ram(place) => self.in_ram.get(place).map(|whole| whole.rowid),
            Held::Shelf(start) => {
                head(self.shelves.rows.bytes(start, HEAD)).map(|[_, rowid, _]| rowid)
            }
        }
    }

    /// Puts another row in place of that of the version at a position, or none; clones keep theirs. What lies on the shelf
    /// and is not read here any more is added to `gone`.
    pub(super) fn strike(
        &mut self,
        at: usize,
        row: Option<Arc<R>>,
        bytes: &mut Vec<u8>,
        gone: &mut Vec<(u64, usize)>,
    ) {
        let Some(slot) = self.slots.get(at).copied() else { return };
        let Some(place) = self.struck.get(at).unwrap_or(Some(slot.place)) else { return };
        let (rowid, recorded) = match place.held() {
            Held::Ram(place) => {
                let Some(whole) = self.in_ram.get(place) else { return };
                let (rowid, recorded) = (whole.rowid, whole.recorded);
                self.in_ram.set(place, Arc::new(Whole { rowid, recorded, row: None }));
                (rowid, recorded)
            }
            Held::Shelf(start) => {
                let Some([len, rowid, recorded]) = head(self.shelves.rows.bytes(start, HEAD))
                else {
                    return;
                };
                // (What stays of it is its number and when it came.)
                gone.push((start + HEAD as u64, len as usize));
                (rowid, Timestamp::from_nanos(recorded))
            }
        };
        let Some(row) = row else {
            self.ends.clear(at);
            return self.struck.set(at, None);
        };
        bytes.clear();
        let version = Version::new(rowid, Seq(slot.seq), None, recorded, row);
        let start = shelve(&version, bytes);
        let held = match start.and_then(|_| self.shelves.rows.put(bytes)) {
            Some(start) => Held::Shelf(start),
            None => {
                self.in_ram.push(Arc::new(Whole { rowid, recorded, row: Some(version.row) }));
                Held::Ram(self.in_ram.len() - 1)
            }
        };
        self.struck.set(at, Some(Place::of(held)));
    }

    /// Reads rows of the next generation of the shelf from here on.
    pub(super) fn read_from(&mut self, rows: Arc<Shelf>) {
        self.shelves.rows = rows;
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
                    let row = Some(Arc::clone(&version.row));
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

    /// The commit that brought the version at a position; `None` where there is none any more.
    pub(super) fn seq(&self, at: usize) -> Option<Seq> {
        if self.struck.get(at) == Some(None) {
            return None;
        }
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
        let place = self.struck.get(at).unwrap_or(Some(slot.place))?;
        let (rowid, recorded, row) = match place.held() {
            Held::Ram(place) => {
                let whole = self.in_ram.get(place)?;
                (whole.rowid, whole.recorded, Arc::clone(whole.row.as_ref()?))
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

    /// What `pick` makes of the versions, in their order; several threads read them.
    pub(crate) fn pick<T: Send>(&self, pick: impl Fn(&Version<R>) -> Option<T> + Sync) -> Vec<T> {
        let parts = (0..self.len().div_ceil(PART)).into_par_iter();
        let picked = parts.map(|part| {
            let here = part * PART..((part + 1) * PART).min(self.len());
            here.filter_map(|at| self.get(at)).filter_map(|version| pick(&version)).collect()
        });
        picked.collect::<Vec<Vec<T>>>().into_iter().flatten().collect()
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

impl<R: Temporal> Versions<R> {
    /// Whether all rows lie on the shelf.
    pub(super) fn is_shelved(&self) -> bool {
        self.in_ram.len() == 0
    }

    /// Writes all but the rows.
    pub(super) fn save(&self, to: &mut Writer<'_>) {
        self.slots.save(to);
        self.ends.save(to);
        self.struck.save(to);
    }

    /// Reads what [`Self::save`] wrote of rows on those shelves.
    pub(super) fn load(from: &mut Reader<'_>, shelves: Shelves) -> Option<Self> {
        let (slots, ends) = (Log::load(from)?, Ends::load(from)?);
        Some(Self { slots, ends, in_ram: Log::default(), struck: Struck::load(from)?, shelves })
    }
}

impl Persist for Ends {
    fn save(&self, to: &mut Writer<'_>) {
        let there =
            || self.0.iter().enumerate().filter_map(|(at, page)| Some((at, page.as_ref()?)));
        to.number(there().count() as u64);
        for (number, page) in there() {
            to.number(number as u64);
            let ends: Vec<u64> = page.iter().map(|end| end.load(Ordering::Acquire)).collect();
            to.numbers(&ends);
        }
    }

    fn load(from: &mut Reader<'_>) -> Option<Self> {
        let mut pages: Vec<Option<Arc<Page>>> = Vec::new();
        for _ in 0..from.count()? {
            let number = usize::try_from(from.number()?).ok().filter(|at| *at < MOST_PAGES)?;
            let ends: Vec<u64> = from.numbers()?;
            let page: Vec<AtomicU64> = ends.into_iter().map(AtomicU64::new).collect();
            pages.resize(pages.len().max(number + 1), None);
            pages[number] = Some(Arc::new(page.try_into().ok()?));
        }
        Some(Self(Arc::new(pages)))
    }
}

impl Persist for Struck {
    fn save(&self, to: &mut Writer<'_>) {
        let there =
            || self.pages.iter().enumerate().filter_map(|(at, page)| Some((at, page.as_ref()?)));
        let of_page = |(page, places): (usize, &Arc<StruckPage>)| {
            let places =
                places.iter().map(|(place, now)| (*place, now.map_or(NOWHERE, |now| now.0)));
            places
                .map(|(place, now)| [(page * CHUNK + usize::from(place)) as u64, now])
                .collect::<Vec<_>>()
        };
        let all: Vec<u64> = there().flat_map(of_page).flatten().collect();
        to.numbers(&all);
    }

    fn load(from: &mut Reader<'_>) -> Option<Self> {
        let mut struck = Self::default();
        let all: Vec<u64> = from.numbers()?;
        let (all, rest) = all.as_chunks::<2>();
        for [at, now] in all {
            let at = usize::try_from(*at).ok().filter(|at| at / CHUNK < MOST_PAGES)?;
            struck.set(at, (*now != NOWHERE).then_some(Place(*now)));
        }
        rest.is_empty().then_some(struck)
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
