//! Binary codes of a few hundred vectors side by side (interleaved for SIMD), as they are compared.

use crate::simd::{self, BLOCK, Weighed};

/// In blocks of [`BLOCK`] vectors, see [`simd::mismatch`]; the last block is filled up with zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SignBlocks {
    words: Vec<u64>,
    len: usize,
}

impl SignBlocks {
    /// Adds a vector's signs; all are equally long.
    pub(super) fn push(&mut self, signs: &[u64]) {
        self.words.resize(self.len / BLOCK * BLOCK * signs.len() + BLOCK * signs.len(), 0);
        self.len += 1;
        self.set(self.len - 1, signs);
    }

    /// A vector's signs, of so many words.
    pub(super) fn get(&self, at: usize, words: usize) -> impl Iterator<Item = u64> + '_ {
        let block = at / BLOCK * BLOCK * words;
        let of_block = self.words.get(block..block + BLOCK * words).unwrap_or_default();
        of_block.iter().skip(at % BLOCK).step_by(BLOCK).copied()
    }

    /// Puts other signs in place of those at `at`.
    pub(super) fn set(&mut self, at: usize, signs: &[u64]) {
        let block = at / BLOCK * BLOCK * signs.len();
        for (place, word) in signs.iter().enumerate() {
            if let Some(own) = self.words.get_mut(block + place * BLOCK + at % BLOCK) {
                *own = *word;
            }
        }
    }

    /// Appends the distance of every vector's signs to the query's.
    pub(super) fn distances(&self, query: &[Weighed], out: &mut Vec<u16>) {
        let from = out.len();
        out.resize(from + self.len.next_multiple_of(BLOCK), 0);
        simd::mismatch(&self.words, query, &mut out[from..]);
        out.truncate(from + self.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vector_has_the_distance_of_its_own_signs() {
        let query = [Weighed { sign: 0, once: u64::MAX, twice: 0 }; 2];
        let mut blocks = SignBlocks::default();
        for bits in 0..20 {
            blocks.push(&[(1 << bits) - 1, 1]);
        }
        blocks.set(9, &[0, 0]);
        let mut out = vec![7];
        assert_eq!(blocks.get(13, 2).collect::<Vec<_>>(), [(1 << 13) - 1, 1]);
        blocks.distances(&query, &mut out);
        let expected = (0..20).map(|bits| if bits == 9 { 0 } else { bits + 1 });
        assert_eq!(out[0], 7);
        assert_eq!(out[1..], expected.collect::<Vec<u16>>());
    }
}
