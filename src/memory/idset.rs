//! A bitmap of memories, in pages: ids are given one after the other, so the pages that there are are dense; an import may
//! have any.

use crate::ids::MemoryId;

/// Words of a page.
const WORDS: usize = 1024;
/// Bits of an id within its page.
const PAGE: u32 = (WORDS * 64).ilog2();

/// Memories that pass a filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdSet {
    /// Pages that hold any, ascending, each with its number.
    pages: Vec<(u64, Box<[u64; WORDS]>)>,
    len: usize,
    /// Positions of the versions that pass, ascending.
    docs: Vec<u32>,
}

/// The page of an id, and where it stands there.
fn place(id: u64) -> (u64, usize, u64) {
    (id >> PAGE, (id / 64) as usize % WORDS, 1 << (id % 64))
}

impl IdSet {
    pub(crate) fn insert(&mut self, id: MemoryId) {
        let (number, word, bit) = place(id.0);
        let at = match self.page(number) {
            Ok(at) => at,
            Err(at) => {
                self.pages.insert(at, (number, Box::new([0; WORDS])));
                at
            }
        };
        let word = &mut self.pages[at].1[word];
        self.len += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Where a page stands, or would.
    fn page(&self, number: u64) -> Result<usize, usize> {
        // Without gaps it stands as far from the first as its number says.
        let first = self.pages.first().map_or(number, |(first, _)| *first);
        let guess = usize::try_from(number.wrapping_sub(first)).unwrap_or(usize::MAX);
        match self.pages.get(guess) {
            Some((other, _)) if *other == number => Ok(guess),
            _ => self.pages.binary_search_by_key(&number, |(other, _)| *other),
        }
    }

    /// The same for a version of it, by its position; positions come in order.
    pub(crate) fn insert_version(&mut self, id: MemoryId, doc: u32) {
        self.insert(id);
        self.docs.push(doc);
    }

    pub(crate) fn docs(&self) -> &[u32] {
        &self.docs
    }

    pub(crate) fn contains(&self, id: MemoryId) -> bool {
        let (number, word, bit) = place(id.0);
        self.page(number).is_ok_and(|at| self.pages[at].1[word] & bit != 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Calls `visit` with each of the `len` ids from `first` on that is in the set, as how far from `first` it is.
    pub(crate) fn within(&self, first: u64, len: u32, mut visit: impl FnMut(u32)) {
        let end = first.saturating_add(u64::from(len));
        let from = self.page(first >> PAGE).unwrap_or_else(|at| at);
        for (number, page) in &self.pages[from..] {
            let begins = number << PAGE;
            if begins >= end {
                return;
            }
            let skipped = (first.saturating_sub(begins) / 64) as usize;
            for (word, bits) in page.iter().enumerate().skip(skipped) {
                let begins = begins + word as u64 * 64;
                if begins >= end {
                    return;
                }
                let mut bits = bits & u64::MAX << first.saturating_sub(begins);
                if end - begins < 64 {
                    bits &= (1 << (end - begins)) - 1;
                }
                while bits != 0 {
                    visit((begins + u64::from(bits.trailing_zeros()) - first) as u32);
                    bits &= bits - 1;
                }
            }
        }
    }

    /// Ascending.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = MemoryId> + '_ {
        let words = self.pages.iter().flat_map(|(number, page)| {
            page.iter()
                .enumerate()
                .map(move |(word, bits)| ((number << PAGE) + word as u64 * 64, *bits))
        });
        words.flat_map(|(begins, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| MemoryId(begins + bit))
        })
    }

    /// The newest of them, at most `most`, newest first: ids are given one after the other.
    pub(crate) fn newest(&self, most: usize) -> Vec<MemoryId> {
        self.iter().rev().take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_of_ids_holds_what_is_in_it() {
        let mut set = IdSet::default();
        let far = u64::MAX / 2;
        let ids = [1, 2, 63, 64, 65, 127, 128, 300, 301, 65_535, 65_536, 200_000, far];
        (0..).zip(ids).for_each(|(doc, id)| set.insert_version(MemoryId(id), doc));
        for first in [0, 1, 2, 60, 64, 65, 120, 301, 302, 5000, 65_530, 70_000, 199_999, far - 1] {
            for len in [0, 1, 2, 5, 63, 64, 65, 256, 140_000] {
                let expected: Vec<u32> =
                    (0..len).filter(|at| ids.contains(&(first + u64::from(*at)))).collect();
                let mut found = Vec::new();
                set.within(first, len, |at| found.push(at));
                assert_eq!(found, expected, "{len} from {first} on");
            }
        }
        assert_eq!(set.newest(3), [far, 200_000, 65_536].map(MemoryId));
        assert_eq!(set.newest(99).len(), ids.len());
        assert_eq!(set.pages.len(), 4, "no page without any");
        for id in [1, 301, far] {
            assert!(set.contains(MemoryId(id)) && !set.contains(MemoryId(id + 5)), "{id}");
        }
    }
}
