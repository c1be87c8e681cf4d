//! Version chains: where the versions of a key stand in a table's log.
//!
//! Memories are numbered one after the other, so theirs are found by number in a few bytes each; other keys by
//! their hash; and those that name a clip are not kept here at all: a table finds them in the clip.

use std::hash::Hash;
use std::ops::ControlFlow;
use std::sync::Arc;

use arc_swap::ArcSwap;
use dashmap::{DashMap, Entry};

use super::log::Log;
use super::persist::{Persist, Reader, Writer};
use super::shelf::Shelf;
use super::temporal::Numbered;

/// Numbers beyond are found by their hash: nobody counted up to there, and pages of numbers would be sparse.
const LARGEST: u64 = 1 << 28;
/// Numbers of a page.
const PAGE: usize = 256;
/// No position.
const NONE: u32 = u32::MAX;

/// Positions by key.
pub(in crate::memory) struct Keys<K> {
    by: Numbered,
    lists: Arc<Shelf>,
    hashed: DashMap<K, Positions>,
    chains: ArcSwap<Chains>,
    /// Of numbers that are too large.
    large: DashMap<u64, Positions>,
}

/// By number: the newest position, and by position: the one before it.
#[derive(Clone, Default)]
struct Chains {
    newest: Arc<Vec<Option<Arc<[u32; PAGE]>>>>,
    older: Log<u32>,
}

/// Ascending. Nearly all keys have one: no list for that.
enum Positions {
    One([u32; 1]),
    Several(Vec<u32>),
}

impl Positions {
    fn all(&self) -> &[u32] {
        match self {
            Self::One(at) => at,
            Self::Several(all) => all,
        }
    }

    fn push(&mut self, at: u32) {
        match self {
            Self::One([first]) => *self = Self::Several(vec![*first, at]),
            Self::Several(all) => all.push(at),
        }
    }

    fn seek<T>(&self, look: &mut impl FnMut(u32) -> ControlFlow<T>) -> Option<T> {
        self.all().iter().rev().find_map(|at| look(*at).break_value())
    }
}

fn put<K: Eq + Hash>(map: &DashMap<K, Positions>, key: K, at: u32) {
    match map.entry(key) {
        Entry::Vacant(entry) => drop(entry.insert(Positions::One([at]))),
        Entry::Occupied(mut entry) => entry.get_mut().push(at),
    }
}

impl Chains {
    fn newest(&self, number: u64) -> Option<u32> {
        let number = number as usize;
        let page = self.newest.get(number / PAGE)?.as_ref()?;
        Some(page[number % PAGE]).filter(|at| *at != NONE)
    }

    /// Sets the newest position of a number; gives back the one before it.
    fn set(&mut self, number: u64, at: u32) -> u32 {
        let number = number as usize;
        let pages = Arc::make_mut(&mut self.newest);
        if pages.len() <= number / PAGE {
            pages.resize(number / PAGE + 1, None);
        }
        let page = pages[number / PAGE].get_or_insert_with(|| Arc::new([NONE; PAGE]));
        std::mem::replace(&mut Arc::make_mut(page)[number % PAGE], at)
    }

    fn seek<T>(&self, number: u64, look: &mut impl FnMut(u32) -> ControlFlow<T>) -> Option<T> {
        let mut at = self.newest(number);
        while let Some(here) = at {
            if let ControlFlow::Break(found) = look(here) {
                return Some(found);
            }
            at = self.older.get(here as usize).copied().filter(|older| *older != NONE);
        }
        None
    }
}

impl Persist for Chains {
    fn save(&self, to: &mut Writer<'_>) {
        to.number(self.newest.len() as u64);
        for page in self.newest.iter() {
            to.numbers(page.as_ref().map_or(&[][..], |page| page.as_slice()));
        }
        self.older.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Option<Self> {
        let mut newest = Vec::new();
        for _ in 0..from.count()? {
            let page: Vec<u32> = from.numbers()?;
            newest.push(match page.is_empty() {
                true => None,
                false => Some(Arc::new(page.try_into().ok()?)),
            });
        }
        Some(Self { newest: Arc::new(newest), older: Log::load(from)? })
    }
}

impl<K: Eq + Hash> Keys<K> {
    /// Writes those that are found by number; others are found in the rows.
    pub(in crate::memory) fn save(&self, to: &mut Writer<'_>) {
        self.chains.load().save(to);
        to.number(self.large.len() as u64);
        for entry in &self.large {
            to.number(*entry.key());
            to.numbers(entry.value().all());
        }
    }

    /// Reads what [`Self::save`] wrote.
    pub(in crate::memory) fn load(&self, from: &mut Reader<'_>) -> Option<()> {
        self.chains.store(Arc::new(Chains::load(from)?));
        for _ in 0..from.count()? {
            let (number, positions): (u64, Vec<u32>) = (from.number()?, from.numbers()?);
            positions.into_iter().for_each(|at| put(&self.large, number, at));
        }
        Some(())
    }

    /// Whether keys are found by their hash, and so stand in the rows alone.
    pub(in crate::memory) fn are_hashed(&self) -> bool {
        self.by == Numbered::No
    }

    /// None yet; what is full is to lie on that shelf.
    pub(in crate::memory) fn new(by: Numbered, lists: Arc<Shelf>) -> Self {
        Self {
            by,
            lists,
            hashed: DashMap::new(),
            chains: ArcSwap::default(),
            large: DashMap::new(),
        }
    }

    /// Takes in the keys of versions from the position `first` on.
    pub(in crate::memory) fn append(
        &self,
        first: u32,
        keys: impl Iterator<Item = K>,
        number: impl Fn(&K) -> u64,
    ) {
        match self.by {
            Numbered::InClip => return,
            Numbered::No => {
                return (first..).zip(keys).for_each(|(at, key)| put(&self.hashed, key, at));
            }
            Numbered::Alone | Numbered::Shared => {}
        }
        let mut chains = Chains::clone(&self.chains.load());
        for (at, number) in (first..).zip(keys.map(|key| number(&key))) {
            let older = match number < LARGEST {
                true => chains.set(number, at),
                false => {
                    put(&self.large, number, at);
                    NONE
                }
            };
            chains.older.push(older);
        }
        chains.older.settle(&self.lists);
        self.chains.store(Arc::new(chains));
    }

    /// Whoever has the key does not find that position any more. (Found by number, it is looked at and is nothing.)
    pub(in crate::memory) fn remove(&self, key: &K, at: u32) {
        if self.by != Numbered::No {
            return;
        }
        self.hashed.remove_if_mut(key, |_, positions| match positions {
            Positions::One([own]) => *own == at,
            Positions::Several(all) => {
                all.retain(|own| *own != at);
                all.is_empty()
            }
        });
    }

    /// Whoever has the key finds that position, too: a version's, whose key became another.
    pub(in crate::memory) fn insert(&self, key: K, at: u32) {
        if self.by != Numbered::No {
            return;
        }
        match self.hashed.entry(key) {
            Entry::Vacant(entry) => drop(entry.insert(Positions::One([at]))),
            Entry::Occupied(mut entry) => {
                let mut all = entry.get().all().to_vec();
                all.push(at);
                all.sort_unstable();
                all.dedup();
                *entry.get_mut() = Positions::Several(all);
            }
        }
    }

    /// Looks at the positions of the key's versions (of all keys of its number), newest first.
    pub(in crate::memory) fn seek<T>(
        &self,
        key: &K,
        number: u64,
        mut look: impl FnMut(u32) -> ControlFlow<T>,
    ) -> Option<T> {
        match self.by {
            Numbered::Alone | Numbered::Shared => self.seek_number(number, look),
            Numbered::No => self.hashed.get(key)?.seek(&mut look),
            Numbered::InClip => None,
        }
    }

    /// The same by number.
    pub(in crate::memory) fn seek_number<T>(
        &self,
        number: u64,
        mut look: impl FnMut(u32) -> ControlFlow<T>,
    ) -> Option<T> {
        match number < LARGEST {
            true => self.chains.load().seek(number, &mut look),
            false => self.large.get(&number)?.seek(&mut look),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(keys: &Keys<u64>, key: u64) -> Vec<u32> {
        let mut found = Vec::new();
        let _: Option<()> = keys.seek(&key, key, |at| {
            found.push(at);
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn positions_come_newest_first_however_keys_are_found() {
        for numbered in [Numbered::No, Numbered::Alone] {
            let keys: Keys<u64> = Keys::new(numbered, Arc::default());
            let given = [5, 6, 1 << 60, 5, 70_000, 5, 1 << 60];
            keys.append(0, given[..3].iter().copied(), |key| *key);
            keys.append(3, given[3..].iter().copied(), |key| *key);
            assert_eq!(all(&keys, 5), [5, 3, 0]);
            assert_eq!(all(&keys, 6), [1]);
            assert_eq!(all(&keys, 70_000), [4]);
            assert_eq!(all(&keys, 1 << 60), [6, 2]);
            assert!(all(&keys, 7).is_empty());
            assert!(all(&keys, 69_999).is_empty());
            assert_eq!(
                keys.seek(&5, 5, |at| match at {
                    3 => ControlFlow::Break("found"),
                    _ => ControlFlow::Continue(()),
                }),
                Some("found")
            );
        }
    }
}
