//! The shelf, a memory-mapped arena: what lies on disk and is mapped, so that the system keeps of it in RAM what is used.
//!
//! A shelf is a file in the store's folder; the truth stays in SQLite. That of a writer has a name and may be read by the next
//! one ([`super::derived`]), others have none and are gone with the process. It holds what is large and is read here and there: rows of memories with their
//! vectors, codes of vectors, lists of words, columns of filters. What is put on it never changes, but for what is
//! erased: that is overwritten with zeros once nobody can read it any more ([`Shelf::without`]). Where no file can be
//! made, or the disk is full, things stay in RAM.
//!
//! Rows lie on one shelf, what searches read through on another, whose pages are mapped before somebody waits for them.
//! The one-bit codes lie on a shelf in RAM, in pages as large as the system gives: with those of 4 kB, looking
//! up where a page is takes as long as reading from it.

use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions, MmapRaw};
use tracing::{debug, warn};

use super::sums::{Damaged, Kept, Sums};

/// Address space that is set aside, bytes; it costs nothing until it is used.
const RESERVED: u64 = 64 << 30;
/// The same of a shelf in RAM.
const RESERVED_IN_RAM: u64 = 8 << 30;
/// Everything begins at a multiple of this, bytes.
const ALIGNED: usize = 8;
/// Of what every search reads, so many bytes are mapped at once, when they are there.
const MAPPED_AT_ONCE: u64 = 1 << 20;

/// Where large things are put: a file, or a part of the address space, as of one generation of readers.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    open: Option<Arc<Open>>,
    /// Why something that belongs here is in anonymous memory, once it is.
    in_ram: Arc<OnceLock<String>>,
    /// What the next generation does not read any more.
    gone: Mutex<Vec<(u64, usize)>>,
    /// The next generation: what it erases is read by this one, too.
    next: OnceLock<Arc<Shelf>>,
}

/// What a shelf is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Rows, which are read here and there.
    Rows,
    /// What every search reads through: nobody waits for its pages to be mapped.
    Lists,
}

#[derive(Debug)]
struct Open {
    /// What the map is of; `None`: of nothing but RAM.
    file: Option<File>,
    map: MmapRaw,
    /// Where the next thing is put: what lies before it is written once, by whoever took the place.
    end: AtomicU64,
    /// Whether pages are mapped before somebody reads them.
    ahead: bool,
    /// Whether the file has a name.
    is_named: bool,
    /// Generations whose readers may still read what the next ones do not: it is not overwritten yet.
    unstruck: AtomicUsize,
    sums: Sums,
}

/// A type whose values are nothing but their bytes, every pattern of which is a value.
pub(crate) trait Plain: Pod + Send + Sync {}

impl<T: Pod + Send + Sync> Plain for T {}

/// A row of values on a shelf. (Only those of [`Plain`] types can be made.)
pub(crate) struct Slice<T> {
    shelf: Arc<Shelf>,
    at: u64,
    len: u32,
    of: PhantomData<T>,
}

impl Shelf {
    /// A shelf in that folder, for what is read here and there.
    #[cfg(test)]
    pub(crate) fn new(dir: &Path) -> Self {
        Self::unnamed(dir, Use::Rows)
    }

    /// A shelf in that folder, in a file without a name.
    pub(crate) fn unnamed(dir: &Path, use_of: Use) -> Self {
        Self::of(Open::new(dir, use_of), dir)
    }

    /// One that was kept under that name.
    ///
    /// # Errors
    /// Where it is not there, holds less, or cannot be mapped.
    pub(crate) fn reopen(path: &Path, kept: &Kept, use_of: Use) -> std::io::Result<Self> {
        let file = File::options().read(true).write(true).open(path)?;
        if file.metadata()?.len() < kept.len {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let (end, sums) = (AtomicU64::new(kept.len), Sums::expecting(kept));
        let open = Open { end, sums, ..Open::over(file, true, use_of)? };
        Ok(Self::over(Some(Arc::new(open)), Arc::default()))
    }

    /// A new one under that name, where nothing is yet.
    pub(crate) fn create(path: &Path, use_of: Use) -> Self {
        Self::of(Open::create(path, use_of), path)
    }

    /// Puts what lies there on the disk, to be kept; `None` where it has no name, something is in RAM, or something is not
    /// overwritten yet.
    ///
    /// # Errors
    /// When the disk fails.
    pub(crate) fn keep(&self) -> std::io::Result<Option<Kept>> {
        let named = self.open.as_ref().filter(|open| open.is_named && self.in_ram.get().is_none());
        let Some((open, file)) = named.and_then(|open| Some((open, open.file.as_ref()?))) else {
            return Ok(None);
        };
        if open.unstruck.load(Ordering::Acquire) > 0 {
            return Ok(None);
        }
        file.sync_data()?;
        let end = open.end.load(Ordering::Acquire);
        Ok(Some(open.sums.all(end, |at, len| self.bytes(at, len))))
    }

    /// How many bytes lie there, read by somebody or not.
    pub(crate) fn len(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.end.load(Ordering::Acquire))
    }

    /// Compares a part of a shelf that was kept with its checksum, or computes one of a part that is to be: whether more is to
    /// follow.
    ///
    /// # Errors
    /// Where it holds other bytes than were put there.
    pub(crate) fn check_next(&self) -> Result<bool, Damaged> {
        let Some(open) = self.open.as_ref().filter(|open| open.is_named) else { return Ok(false) };
        let end = open.end.load(Ordering::Acquire);
        open.sums.next(end, |at, len| self.bytes(at, len))
    }

    fn of(open: std::io::Result<Open>, dir: &Path) -> Self {
        match open {
            Ok(open) => Self::over(Some(Arc::new(open)), Arc::default()),
            Err(error) => {
                // Read beside a daemon of another user, for instance.
                let shelf = Self::over(None, Arc::default());
                shelf.falls_back(&error, dir);
                shelf
            }
        }
    }

    fn over(open: Option<Arc<Open>>, in_ram: Arc<OnceLock<String>>) -> Self {
        let (gone, next) = Default::default();
        Self { open, in_ram, gone, next }
    }

    /// What belongs here goes into anonymous memory from now on, or some of it.
    fn falls_back(&self, error: &std::io::Error, dir: &Path) {
        debug!(%error, dir = %dir.display(), "rows stay in RAM");
        self.in_ram.get_or_init(|| error.to_string());
    }

    /// Why something that belongs here is in anonymous memory; `None`: nothing is.
    pub(crate) fn why_in_ram(&self) -> Option<&str> {
        self.in_ram.get().map(String::as_str)
    }

    /// The same shelf for those who do not read what lies at `gone` (where it begins, and how many bytes): overwritten with
    /// zeros when the last handle on this generation and on all before it is dropped.
    pub(crate) fn without(self: &Arc<Self>, gone: Vec<(u64, usize)>) -> Arc<Self> {
        let next = Arc::new(Self::over(self.open.clone(), Arc::clone(&self.in_ram)));
        if let Some(open) = self.open.as_ref().filter(|_| !gone.is_empty()) {
            open.unstruck.fetch_add(1, Ordering::AcqRel);
        }
        *self.gone.lock().unwrap_or_else(PoisonError::into_inner) = gone;
        // (There is one writer, and one next generation.)
        Arc::clone(self.next.get_or_init(|| next))
    }

    /// Overwrites with zeros what may still be read: whoever does reads numbers either way.
    pub(crate) fn zero(&self, at: u64, len: usize) {
        if let Some(open) = &self.open {
            open.zero(at, len);
        }
    }

    /// A shelf in RAM.
    pub(crate) fn in_ram() -> Self {
        let open = Open::in_ram();
        let open = open.inspect_err(|error| debug!(%error, "no large pages are set aside")).ok();
        Self::over(open.map(Arc::new), Arc::default())
    }

    /// Puts bytes down; where they begin. `None` when there is no room: they stay where they are.
    pub(crate) fn put(&self, bytes: &[u8]) -> Option<u64> {
        let put = self.open.as_ref()?.put(bytes);
        put.inspect_err(|error| self.falls_back(error, Path::new("the shelf"))).ok()
    }

    /// The bytes put down at `at`, and more.
    pub(crate) fn bytes(&self, at: u64, len: usize) -> &[u8] {
        self.open.as_ref().and_then(|open| open.bytes(at as usize, len)).unwrap_or_default()
    }

    /// Puts a row of values down.
    pub(crate) fn put_all<T: Plain>(self: &Arc<Self>, values: &[T]) -> Option<Slice<T>> {
        const { assert!(align_of::<T>() <= ALIGNED) };
        let at = self.put(bytemuck::cast_slice(values))?;
        let len = u32::try_from(values.len()).ok()?;
        Some(Slice { shelf: Arc::clone(self), at, len, of: PhantomData })
    }

    /// Part of what was put down, as values; `None` where it does not begin at a multiple of their alignment.
    pub(crate) fn slice<T: Plain>(self: &Arc<Self>, at: u64, len: usize) -> Option<Slice<T>> {
        if !at.is_multiple_of(align_of::<T>() as u64) {
            return None;
        }
        let len = u32::try_from(len).ok()?;
        Some(Slice { shelf: Arc::clone(self), at, len, of: PhantomData })
    }

    /// The same where all of it was put down.
    pub(crate) fn slice_within<T: Plain>(
        self: &Arc<Self>,
        at: u64,
        len: usize,
    ) -> Option<Slice<T>> {
        let bytes = len.checked_mul(size_of::<T>())?;
        (self.bytes(at, bytes).len() == bytes).then(|| self.slice(at, len)).flatten()
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        let gone = std::mem::take(self.gone.get_mut().unwrap_or_else(PoisonError::into_inner));
        for (at, len) in &gone {
            self.zero(*at, *len);
        }
        if let Some(open) = self.open.as_ref().filter(|_| !gone.is_empty()) {
            open.unstruck.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Open {
    /// Only files are: what lies in RAM is on no disk.
    fn zero(&self, at: u64, len: usize) {
        let Some(file) = &self.file else { return };
        if at.checked_add(len as u64).is_none_or(|end| end > self.end.load(Ordering::Acquire)) {
            return;
        }
        let zeros = || file.write_all_at(&vec![0; len], at);
        if let Err(error) = self.sums.overwriting(at, len, zeros) {
            warn!(%error, "What was erased could not be overwritten in a file that is derived; it is removed at the next start.");
        }
    }

    fn new(dir: &Path, use_of: Use) -> std::io::Result<Self> {
        Self::over(tempfile::tempfile_in(dir)?, false, use_of)
    }

    fn create(path: &Path, use_of: Use) -> std::io::Result<Self> {
        let file =
            File::options().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        Self::over(file, true, use_of)
    }

    fn over(file: File, is_named: bool, use_of: Use) -> std::io::Result<Self> {
        let map = MmapOptions::new().len(space(RESERVED)).map_raw_read_only(&file)?;
        let ahead = use_of == Use::Lists;
        // Rows are read here and there: what lies beside one only takes the place of others.
        #[cfg(target_os = "linux")]
        if !ahead && let Err(error) = map.advise(memmap2::Advice::Random) {
            debug!(%error, "what lies beside a row is read, too");
        }
        let (end, unstruck, sums) = Default::default();
        Ok(Self { file: Some(file), map, end, ahead, is_named, unstruck, sums })
    }

    fn in_ram() -> std::io::Result<Self> {
        let map: MmapMut =
            MmapOptions::new().len(space(RESERVED_IN_RAM)).no_reserve_swap().map_anon()?;
        #[cfg(target_os = "linux")]
        if let Err(error) = map.advise(memmap2::Advice::HugePage) {
            debug!(%error, "the system has no large pages");
        }
        let (end, unstruck, sums) = Default::default();
        let (map, ahead, is_named) = (map.into(), false, false);
        Ok(Self { file: None, map, end, ahead, is_named, unstruck, sums })
    }

    /// What was put down there; `None` where nothing was.
    fn bytes(&self, at: usize, len: usize) -> Option<&[u8]> {
        if at.checked_add(len)? as u64 > self.end.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: it lies inside the map. Whoever asks was told the place by `put`, which wrote it before, and it is not
        // written again but with zeros: a row when nobody has its place any more (`Shelf::without`), codes of vectors, any
        // bytes of which are numbers, at any time. No other process writes it, and it is never cut.
        Some(unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(at), len) })
    }

    fn put(&self, bytes: &[u8]) -> std::io::Result<u64> {
        // Several threads put down at once, each at a place of its own.
        let after = |at: u64| {
            let next = at.checked_add(bytes.len().next_multiple_of(ALIGNED) as u64);
            next.filter(|next| *next <= self.map.len() as u64)
        };
        let at = self.end.fetch_update(Ordering::AcqRel, Ordering::Acquire, after);
        let at = at.map_err(|_| std::io::ErrorKind::StorageFull)?;
        match &self.file {
            // A place that is written in part is told to nobody.
            Some(file) => file.write_all_at(bytes, at)?,
            // SAFETY: there is room, and the place is this call's alone.
            None => unsafe {
                let to = self.map.as_mut_ptr().add(at as usize);
                to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            },
        }
        if self.ahead {
            self.map_ahead(at, at + bytes.len() as u64);
        }
        Ok(at)
    }

    /// Maps what lies before the last border that was passed; without it pages are mapped when they are read.
    fn map_ahead(&self, at: u64, end: u64) {
        let (first, last) = (at / MAPPED_AT_ONCE, end / MAPPED_AT_ONCE);
        if first < last {
            let (from, len) = (first * MAPPED_AT_ONCE, (last - first) * MAPPED_AT_ONCE);
            #[cfg(target_os = "linux")]
            self.map
                .advise_range(memmap2::Advice::PopulateRead, from as usize, len as usize)
                .unwrap_or_else(|error| debug!(%error, "pages are mapped as they are read"));
        }
    }
}

/// As much address space as there can be.
fn space(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX / 8)
}

impl<T: Plain> Slice<T> {
    /// Overwrites some of the values with zeros, see [`Shelf::zero`].
    pub(crate) fn zero(&self, from: usize, len: usize) {
        if from + len <= self.len as usize {
            self.shelf.zero(self.at + (from * size_of::<T>()) as u64, len * size_of::<T>());
        }
    }
}

impl<T> Slice<T> {
    /// Where it begins, if it lies on that shelf.
    pub(crate) fn place_on(&self, shelf: &Arc<Shelf>) -> Option<u64> {
        Arc::ptr_eq(&self.shelf, shelf).then_some(self.at)
    }
}

impl<T> Clone for Slice<T> {
    fn clone(&self) -> Self {
        Self { shelf: Arc::clone(&self.shelf), at: self.at, len: self.len, of: PhantomData }
    }
}

impl<T> Deref for Slice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let len = self.len as usize;
        let bytes = self.shelf.bytes(self.at, len * size_of::<T>());
        if bytes.len() < len * size_of::<T>() {
            return &[];
        }
        // SAFETY: a slice is only made of plain values, where all its bytes are written and it is aligned.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), len) }
    }
}

impl<T> fmt::Debug for Slice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.len, self.at)
    }
}

/// Values that are collected in RAM, and then lie on the shelf.
#[derive(Clone, Debug)]
pub(crate) enum Bulk<T> {
    Ram(Vec<T>),
    Shelf(Slice<T>),
}

impl<T> Default for Bulk<T> {
    fn default() -> Self {
        Self::Ram(Vec::new())
    }
}

impl<T> Deref for Bulk<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Ram(values) => values,
            Self::Shelf(values) => values,
        }
    }
}

impl<T: Plain> Bulk<T> {
    /// To be added to, as long as it is not on the shelf.
    pub(crate) fn in_ram(&mut self) -> Option<&mut Vec<T>> {
        match self {
            Self::Ram(values) => Some(values),
            Self::Shelf(_) => None,
        }
    }

    /// Puts it on the shelf, where there is room.
    pub(crate) fn settle(&mut self, shelf: &Arc<Shelf>) {
        if let Self::Ram(values) = self
            && let Some(settled) = shelf.put_all(values)
        {
            *self = Self::Shelf(settled);
        }
    }
}

/// A row of values that never changes, such as a vector's components `[D]`: on the shelf, or in RAM.
#[derive(Clone)]
pub(crate) struct Values<T>(Place<T>);

#[derive(Clone)]
enum Place<T> {
    Ram(Arc<[T]>),
    Shelf(Slice<T>),
}

impl<T: Clone> From<&[T]> for Values<T> {
    fn from(values: &[T]) -> Self {
        Self(Place::Ram(values.into()))
    }
}

impl<T> FromIterator<T> for Values<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(Place::Ram(values.into_iter().collect()))
    }
}

impl<T> From<Slice<T>> for Values<T> {
    fn from(values: Slice<T>) -> Self {
        Self(Place::Shelf(values))
    }
}

impl<T> Deref for Values<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Ram(values) => values,
            Place::Shelf(values) => values,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Values<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for Values<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn many_put_down_at_once() {
        let dir = tempfile::tempdir().unwrap();
        for shelf in
            [Shelf::new(dir.path()), Shelf::unnamed(dir.path(), Use::Lists), Shelf::in_ram()]
        {
            let shelf = Arc::new(shelf);
            // Several megabytes: borders at which pages are mapped lie between them.
            let row =
                |seed: u64| -> Vec<u64> { (0..700 + seed).map(|at| at * 31 + seed).collect() };
            let put = |of: u64| -> Vec<(u64, Slice<u64>)> {
                let seeds = (0..300).map(|at| at * 4 + of);
                seeds.map(|seed| (seed, shelf.put_all(&row(seed)).unwrap())).collect()
            };
            let put = &put;
            std::thread::scope(|scope| {
                let all: Vec<_> = (0..4).map(|of| scope.spawn(move || put(of))).collect();
                for (seed, slice) in all.into_iter().flat_map(|one| one.join().unwrap()) {
                    assert_eq!(*slice, *row(seed));
                }
            });
        }
    }

    #[test]
    fn that_nothing_can_be_put_down_is_told_to_all_generations() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Shelf::new(dir.path()).why_in_ram(), None);
        assert_eq!(Shelf::default().why_in_ram(), None, "meant to be in memory");
        let shelf = Arc::new(Shelf::new(&dir.path().join("gone")));
        assert_eq!(shelf.put(b"a row"), None);
        assert!(shelf.why_in_ram().is_some_and(|why| why.contains("No such file")));
        assert!(shelf.without(Vec::new()).why_in_ram().is_some());
    }

    #[test]
    fn what_is_erased_is_zeroed_once_nobody_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        let first = Arc::new(Shelf::new(dir.path()));
        let put = |text: &[u8]| first.put(text).unwrap();
        let (one, other, stays) = (put(b"one secret"), put(b"another secret"), put(b"no secret"));
        let second = first.without(vec![(one, 10)]);
        let third = second.without(vec![(other, 14)]);
        drop(second);
        assert_eq!(first.bytes(one, 10), b"one secret", "somebody reads it");
        assert_eq!(first.bytes(other, 14), b"another secret", "the same reader");
        drop(first);
        assert_eq!(third.bytes(one, 10), [0; 10]);
        assert_eq!(third.bytes(other, 14), [0; 14]);
        assert_eq!(third.bytes(stays, 9), b"no secret");
    }

    #[test]
    fn what_is_put_down_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Arc::new(Shelf::new(dir.path()));
        let vector = |seed: usize| -> Vec<f32> {
            (0..40_000 + seed).map(|at| (at * 31 + seed) as f32).collect()
        };
        let slices: Vec<Slice<f32>> =
            (0..50).map(|seed| shelf.put_all(&vector(seed)).unwrap()).collect();
        let words = shelf.put(b"some words").unwrap();
        for (seed, values) in slices.iter().enumerate() {
            assert_eq!(**values, *vector(seed));
            assert_eq!(*Values::from(values.clone()), *vector(seed));
        }
        assert_eq!(shelf.bytes(words, 10), b"some words");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "it has no name");
        drop(shelf);
        assert_eq!(*slices[0], *vector(0), "what is read stays");
        let ram = Arc::new(Shelf::in_ram());
        let slices: Vec<Slice<f32>> =
            (0..50).map(|seed| ram.put_all(&vector(seed)).unwrap()).collect();
        for (seed, values) in slices.iter().enumerate() {
            assert_eq!(**values, *vector(seed));
        }
        let last = slices.last().unwrap();
        assert_eq!(ram.bytes(last.at, 4 * last.len() + 8), [0_u8; 0], "nothing was put down there");
        let none = Arc::new(Shelf::new(&dir.path().join("missing")));
        assert!(none.put_all(&[0.5_f32, -1.0]).is_none());
        let mut bulk = Bulk::Ram(vec![1_u64, 2, 3]);
        bulk.settle(&none);
        assert!(matches!(bulk, Bulk::Ram(_)));
        let shelf = Arc::new(Shelf::new(dir.path()));
        bulk.settle(&shelf);
        assert!(matches!(bulk, Bulk::Shelf(_)));
        assert_eq!(*bulk, [1, 2, 3]);
        assert!(bulk.in_ram().is_none());
    }
}
