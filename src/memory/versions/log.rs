//! An append-only chunked vector, shared by cloning (persistent, copy-on-write): unchanged chunks are never copied.

use std::sync::Arc;

use super::persist::{Persist, Reader, Writer};
use super::shelf::{Plain, Shelf, Slice};
use crate::simd;

/// Items per chunk of a [`Log`].
pub(crate) const CHUNK: usize = 256;

/// The list. Full chunks of plain items can lie on the shelf.
#[derive(Debug)]
pub(crate) struct Log<T> {
    chunks: Arc<Vec<Chunk<T>>>,
    len: usize,
    /// Chunks from the first that lie on the shelf, or were tried.
    settled: usize,
}

#[derive(Debug)]
enum Chunk<T> {
    Ram(Arc<Vec<T>>),
    Shelf(Slice<T>),
}

impl<T> Clone for Chunk<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Ram(items) => Self::Ram(Arc::clone(items)),
            Self::Shelf(items) => Self::Shelf(items.clone()),
        }
    }
}

impl<T> Chunk<T> {
    fn items(&self) -> &[T] {
        match self {
            Self::Ram(items) => items,
            Self::Shelf(items) => items,
        }
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self { chunks: Arc::clone(&self.chunks), len: self.len, settled: self.settled }
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { chunks: Arc::default(), len: 0, settled: 0 }
    }
}

impl<T: Clone> Log<T> {
    pub(crate) fn push(&mut self, item: T) {
        let chunks = Arc::make_mut(&mut self.chunks);
        match chunks.last_mut() {
            Some(Chunk::Ram(last)) if last.len() < CHUNK => Arc::make_mut(last).push(item),
            _ => {
                let mut chunk = Vec::with_capacity(if self.len == 0 { 4 } else { CHUNK });
                chunk.push(item);
                chunks.push(Chunk::Ram(Arc::new(chunk)));
            }
        }
        self.len += 1;
    }
}

impl<T: Clone> Log<T> {
    /// Puts another item in place of one; clones keep theirs.
    pub(crate) fn set(&mut self, index: usize, item: T) {
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(index / CHUNK) else { return };
        let mut items = chunk.items().to_vec();
        if let Some(place) = items.get_mut(index % CHUNK) {
            *place = item;
            *chunk = Chunk::Ram(Arc::new(items));
        }
    }
}

impl<T: Plain> Log<T> {
    /// Puts chunks on the shelf in which [`Self::set`] put something.
    pub(crate) fn settle_again(&mut self, shelf: &Arc<Shelf>) {
        self.settled = 0;
        self.settle(shelf);
    }

    /// Whether there are full chunks that are not on the shelf yet.
    pub(crate) fn is_to_settle(&self) -> bool {
        self.settled < self.len / CHUNK
    }

    /// Puts full chunks on the shelf.
    pub(crate) fn settle(&mut self, shelf: &Arc<Shelf>) {
        if !self.is_to_settle() {
            return;
        }
        let full = self.len / CHUNK;
        let chunks = Arc::make_mut(&mut self.chunks);
        for chunk in &mut chunks[self.settled..full] {
            if let Chunk::Ram(items) = chunk
                && let Some(settled) = shelf.put_all(items)
            {
                *chunk = Chunk::Shelf(settled);
            }
        }
        self.settled = full;
    }
}

/// In place of where a chunk lies: its items follow.
const IN_RAM: u64 = u64::MAX;

impl<T: Plain> Persist for Log<T> {
    fn save(&self, to: &mut Writer<'_>) {
        let place = |chunk: &Chunk<T>| match chunk {
            Chunk::Ram(_) => IN_RAM,
            Chunk::Shelf(items) => items.place_on(to.lists()).unwrap_or(IN_RAM),
        };
        let places: Vec<u64> = self.chunks.iter().map(place).collect();
        to.number(self.len as u64);
        to.numbers(&places);
        let in_ram = places.iter().zip(self.chunks.iter()).filter(|(place, _)| **place == IN_RAM);
        in_ram.for_each(|(_, chunk)| to.numbers(chunk.items()));
    }

    fn load(from: &mut Reader<'_>) -> Option<Self> {
        let len = usize::try_from(from.number()?).ok()?;
        let places: Vec<u64> = from.numbers()?;
        if places.len() != len.div_ceil(CHUNK) {
            return None;
        }
        let (lists, mut settled) = (Arc::clone(from.lists()), 0);
        let mut chunks = Vec::with_capacity(places.len());
        for (number, place) in places.into_iter().enumerate() {
            let items = CHUNK.min(len - number * CHUNK);
            let chunk = if place == IN_RAM {
                let own: Vec<T> = from.numbers()?;
                (own.len() == items).then(|| Chunk::Ram(Arc::new(own)))?
            } else {
                Chunk::Shelf(lists.slice_within(place, items)?)
            };
            settled += usize::from(settled == number && items == CHUNK);
            chunks.push(chunk);
        }
        Some(Self { chunks: Arc::new(chunks), len, settled })
    }
}

impl<T> Log<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.items().get(index % CHUNK)
    }

    /// Asks for items of one chunk that are read soon, see [`simd::ask_for`].
    pub(crate) fn ask_for(&self, first: usize, len: usize) {
        let place = first % CHUNK;
        let here = self.chunk(first / CHUNK).get(place..);
        here.into_iter().for_each(|here| simd::ask_for(&here[..len.min(here.len())]));
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.items().iter())
    }

    /// The items, chunk by chunk.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[T]> {
        self.chunks.iter().map(Chunk::items)
    }

    /// The items of one chunk.
    pub(crate) fn chunk(&self, chunk: usize) -> &[T] {
        self.chunks.get(chunk).map_or(&[], Chunk::items)
    }

    /// The items from `from` on.
    pub(crate) fn iter_from(&self, from: usize) -> impl Iterator<Item = &T> {
        let chunks = self.chunks.get(from / CHUNK..).unwrap_or_default();
        chunks.iter().flat_map(|chunk| chunk.items().iter()).skip(from % CHUNK)
    }

    /// Number of leading items for which `before` holds; it must hold for a prefix.
    pub(crate) fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let chunk = self.chunks.partition_point(|chunk| chunk.items().first().is_some_and(&before));
        let Some(last) = chunk.checked_sub(1) else { return 0 };
        last * CHUNK + self.chunks[last].items().partition_point(before)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_the_same_in_ram_and_on_the_shelf() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Arc::new(Shelf::new(dir.path()));
        let mut log: Log<u64> = Log::default();
        let mut before = log.clone();
        for number in 0..1000 {
            log.push(number * 3);
            if number % 100 == 7 {
                log.settle(&shelf);
            }
            if number == 300 {
                before = log.clone();
            }
        }
        assert_eq!((log.len(), log.chunks.len(), before.len()), (1000, 4, 301));
        assert!(matches!(log.chunks[0], Chunk::Shelf(_)) && matches!(log.chunks[3], Chunk::Ram(_)));
        assert!(log.iter().copied().eq((0..1000).map(|number| number * 3)));
        assert!(log.iter_from(511).copied().eq((511..1000).map(|number| number * 3)));
        assert_eq!(
            (log.get(700), before.get(300), before.get(301)),
            (Some(&2100), Some(&900), None)
        );
        for at in [0, 1, 255, 256, 257, 999, 1000] {
            assert_eq!(log.partition_point(|item| *item < at * 3), at as usize);
        }
    }
}
