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

    /// Ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = MemoryId> + '_ {
        self.bits.iter().enumerate().flat_map(|(word, bits)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| MemoryId(word as u64 * 64 + bit))
        })
    }
}
