//! A set of memories as bits: ids are given one after the other, so it is dense.

use crate::ids::MemoryId;

/// Memories that pass a filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdSet {
    bits: Vec<u64>,
    len: usize,
    /// Positions of the versions that pass, ascending.
    docs: Vec<u32>,
}

impl IdSet {
    fn insert(&mut self, id: MemoryId) {
        // Ids are counted from 1; more than so many are no store of ours.
        let Ok(number) = u32::try_from(id.0) else { return };
        let word = number as usize / 64;
        if word >= self.bits.len() {
            self.bits.resize((word + 1).next_power_of_two(), 0);
        }
        let bit = 1 << (id.0 % 64);
        self.len += usize::from(self.bits[word] & bit == 0);
        self.bits[word] |= bit;
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
        let word = usize::try_from(id.0 / 64).unwrap_or(usize::MAX);
        self.bits.get(word).is_some_and(|bits| bits >> (id.0 % 64) & 1 == 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Calls `visit` with each of the `len` ids from `first` on that is in the set, as how far from `first` it is.
    pub(crate) fn within(&self, first: u32, len: u32, mut visit: impl FnMut(u32)) {
        let (first, end) = (first as usize, first as usize + len as usize);
        let words = first / 64..end.div_ceil(64).min(self.bits.len());
        for (word, bits) in words.clone().zip(self.bits.get(words).unwrap_or_default()) {
            let begins = word * 64;
            let mut bits = bits & u64::MAX << first.saturating_sub(begins);
            if end < begins + 64 {
                bits &= (1 << (end - begins)) - 1;
            }
            while bits != 0 {
                visit((begins + bits.trailing_zeros() as usize - first) as u32);
                bits &= bits - 1;
            }
        }
    }

    /// Ascending.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = MemoryId> + '_ {
        self.bits.iter().enumerate().flat_map(|(word, bits)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| MemoryId(word as u64 * 64 + bit))
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
        let ids = [1, 2, 63, 64, 65, 127, 128, 300, 301];
        (0..).zip(ids).for_each(|(doc, id)| set.insert_version(MemoryId(id), doc));
        for first in [0, 1, 2, 60, 64, 65, 120, 301, 302, 5000] {
            for len in [0, 1, 2, 5, 63, 64, 65, 256] {
                let expected: Vec<u32> =
                    (0..len).filter(|at| ids.contains(&u64::from(first + at))).collect();
                let mut found = Vec::new();
                set.within(first, len, |at| found.push(at));
                assert_eq!(found, expected, "{len} from {first} on");
            }
        }
        assert_eq!(set.newest(3), [301, 300, 128].map(MemoryId));
        assert_eq!(set.newest(99).len(), ids.len());
    }
}
