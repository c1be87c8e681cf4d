//! Codes of vectors: one bit (signs) and 8 bits (scalar quantisation, SQ8) a dimension, after a randomized Hadamard transform.
//!
//! The share of equal signs tells the angle of two vectors (Charikar, STOC 2002), so the signs ([`super::signs`]) pick
//! candidates; the same turned vector in steps of 8 bits orders them. (The turn spreads every vector evenly over its
//! dimensions, which is what makes both work: RaBitQ, Gao & Long, SIGMOD 2024, arXiv 2405.12497.) A 384-dimensional
//! vector has 48 bytes of signs and 384 of steps; a new one costs no more than its own rotation.

use std::sync::Arc;

use super::signs::{CHUNK, Signs, weigh};
use crate::memory::versions::persist::{Persist as _, Reader, Writer};
use crate::memory::versions::shelf::{Bulk, Shelf};
use crate::simd::{self, Weighed};

/// Fewer dimensions are spread over so many signs.
const LEAST_BITS: usize = 256;
/// Rounds of sign flips and transforms.
const ROUNDS: u64 = 3;

/// Vectors of up to `bits` dimensions become `bits` signs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rotation {
    bits: usize,
    /// Which signs are flipped in which step: a sign bit for each value, `bits` after `bits`.
    flips: Arc<[u32]>,
}

impl Rotation {
    fn for_dimensions(dimensions: usize) -> Self {
        let bits = dimensions.next_multiple_of(128).max(LEAST_BITS);
        let flips = (0..2 * ROUNDS).flat_map(|step| (0..bits).map(move |at| flip(step, at)));
        Self { bits, flips: flips.collect() }
    }

    /// The vector, rotated: seeded sign flips and Walsh–Hadamard transforms over the front and the back,
    /// which overlap where the length is no power of two.
    fn turn(&self, values: &[f32]) -> Vec<f32> {
        let mut turned = vec![0.0_f32; self.bits];
        for (to, from) in turned.iter_mut().zip(values) {
            *to = *from;
        }
        let block =
            if self.bits.is_power_of_two() { self.bits } else { self.bits.next_power_of_two() / 2 };
        for flips in self.flips.chunks(2 * self.bits) {
            let (front, back) = flips.split_at(self.bits);
            simd::flip(&mut turned, front);
            simd::transform(&mut turned[..block]);
            if block < self.bits {
                simd::flip(&mut turned, back);
                let from = self.bits - block;
                simd::transform(&mut turned[from..]);
            }
        }
        turned
    }
}

/// The sign bit that a step flips at a place, or nothing: a fixed pattern (splitmix64).
fn flip(step: u64, at: usize) -> u32 {
    let (part, bit) = (at as u64 / 64, at % 64);
    let mut z = (step << 32 | part).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    ((z >> bit & 1) as u32) << 31
}

/// Steps of a chunk's vectors, one after the other.
#[derive(Clone, Default)]
struct Chunk {
    fine: Bulk<i8>,
    /// What one step of `fine` is worth.
    steps: Vec<f32>,
}

/// Codes one after the other; shared by cloning, grows at its end.
#[derive(Clone)]
pub(crate) struct Codes {
    rotation: Rotation,
    signs: Signs,
    chunks: Arc<Vec<Arc<Chunk>>>,
    len: usize,
    /// Where full chunks lie.
    shelf: Arc<Shelf>,
}

/// A query made ready for comparing.
pub(crate) struct CodedQuery {
    /// As it is rotated.
    pub(super) turned: Vec<f32>,
    pub(super) signs: Vec<Weighed>,
    fine: Vec<i16>,
    step: f32,
}

/// Steps on either side of zero.
const FINE: f32 = 127.0;
/// Codes are asked for so many before they are read.
const SOON: usize = 6;
/// The same for queries; with this many, sums over thousands of dimensions still fit 32 bits.
const FINE_QUERY: f32 = 4095.0;

/// Length of a step when the greatest value is to be `steps` steps.
fn step_of(turned: &[f32], steps: f32) -> f32 {
    let most = simd::greatest(turned);
    if most > 0.0 && most.is_finite() { most / steps } else { 1.0 }
}

impl Codes {
    pub(crate) fn new(dimensions: usize, shelf: Arc<Shelf>) -> Self {
        let rotation = Rotation::for_dimensions(dimensions);
        let signs = Signs::new(rotation.bits);
        Self { rotation, signs, chunks: Arc::default(), len: 0, shelf }
    }

    pub(crate) fn push(&mut self, values: &[f32]) {
        let mut turned = self.rotation.turn(values);
        // What is no number is at no angle to anything.
        if !turned.iter().all(|value| value.is_finite()) {
            turned.fill(0.0);
        }
        self.signs.push(&turned);
        let chunks = Arc::make_mut(&mut self.chunks);
        let place = self.len % CHUNK;
        if place == 0 {
            chunks.push(Arc::default());
        }
        if let Some(last) = chunks.last_mut() {
            let last = Arc::make_mut(last);
            last.push(&turned);
            if place + 1 == CHUNK {
                last.fine.settle(&self.shelf);
            }
        }
        self.len += 1;
    }

    /// Writes them, without the signs of those that `is_erased`.
    pub(super) fn save(&self, is_erased: &dyn Fn(usize) -> bool, to: &mut Writer<'_>) {
        self.signs.save(is_erased, to);
        to.number(self.chunks.len() as u64);
        for chunk in self.chunks.iter() {
            chunk.fine.save(to);
            to.numbers(&chunk.steps);
        }
    }

    /// Reads what [`Self::save`] wrote of vectors of so many dimensions.
    pub(super) fn load(dimensions: usize, from: &mut Reader<'_>) -> Option<Self> {
        let rotation = Rotation::for_dimensions(dimensions);
        let signs = Signs::load(rotation.bits, from)?;
        let mut chunks = Vec::new();
        let mut len = 0;
        for _ in 0..from.count()? {
            let chunk = Chunk { fine: Bulk::load(from)?, steps: from.numbers()? };
            let is_whole = len % CHUNK == 0
                && chunk.steps.len() <= CHUNK
                && chunk.fine.len() == chunk.steps.len() * rotation.bits;
            len += is_whole.then_some(chunk.steps.len())?;
            chunks.push(Arc::new(chunk));
        }
        let shelf = Arc::clone(from.lists());
        (signs.len() == len).then(|| Self { rotation, signs, chunks: Arc::new(chunks), len, shelf })
    }

    /// Overwrites the steps of a vector that was erased, where they may lie on a disk; of its signs, which lie in RAM, the same
    /// is left as of a vector that was retired.
    pub(crate) fn erase(&mut self, at: u32) {
        let (bits, place) = (self.rotation.bits, at as usize % CHUNK);
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(at as usize / CHUNK) else { return };
        match &chunk.fine {
            Bulk::Shelf(values) => values.zero(place * bits, bits),
            // A full chunk that lies in RAM stays there.
            Bulk::Ram(_) if chunk.steps.len() == CHUNK => {}
            Bulk::Ram(_) => {
                let fine = Arc::make_mut(chunk).fine.in_ram();
                let own = fine.and_then(|fine| fine.get_mut(place * bits..(place + 1) * bits));
                own.into_iter().for_each(|own| own.fill(0));
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// A vector, rotated, within half a step of what it was.
    pub(super) fn turned(&self, at: u32) -> Option<Vec<f32>> {
        let (fine, step) = self.steps(at)?;
        Some(fine.iter().map(|value| f32::from(*value) * step).collect())
    }

    /// A vector's signs, place after place.
    pub(super) fn signs(&self, at: u32) -> Vec<u64> {
        self.signs.of(at as usize).collect()
    }

    pub(crate) fn query(&self, values: &[f32]) -> CodedQuery {
        let turned = self.rotation.turn(values);
        let step = step_of(&turned, FINE_QUERY);
        let fine = turned.iter().map(|value| (value / step).round() as i16).collect();
        CodedQuery { signs: weigh(&turned), turned, fine, step }
    }

    /// Positions of about `count` whose signs are nearest, ascending; all where there are no more.
    pub(crate) fn nearest(&self, query: &CodedQuery, count: usize) -> Vec<u32> {
        self.signs.nearest(&query.signs, count)
    }

    /// The same of those at position `from` and later.
    pub(crate) fn nearest_from(&self, query: &CodedQuery, from: u32, count: usize) -> Vec<u32> {
        let rest: Vec<u32> = (from..self.len as u32).collect();
        self.signs.nearest_of(&query.signs, &rest, count)
    }

    /// Those of the positions (ascending) with about the `count` nearest signs; all where they are no more.
    pub(crate) fn nearest_of(
        &self,
        query: &CodedQuery,
        positions: &[u32],
        count: usize,
    ) -> Vec<u32> {
        self.signs.nearest_of(&query.signs, positions, count)
    }

    /// The cosine with the vectors at those positions, within about a thousandth.
    pub(crate) fn likenesses<'c>(
        &'c self,
        query: &'c CodedQuery,
        positions: &'c [u32],
    ) -> impl Iterator<Item = f32> + 'c {
        positions.iter().enumerate().map(|(number, at)| {
            if let Some((soon, _)) = positions.get(number + SOON).and_then(|at| self.steps(*at)) {
                simd::ask_for(soon);
            }
            self.steps(*at).map_or(f32::NEG_INFINITY, |(fine, step)| {
                simd::fine_dot(fine, &query.fine) as f32 * (step * query.step)
            })
        })
    }

    /// A vector in steps, and what one is worth.
    fn steps(&self, at: u32) -> Option<(&[i8], f32)> {
        let (bits, place) = (self.rotation.bits, at as usize % CHUNK);
        let chunk = self.chunks.get(at as usize / CHUNK)?;
        Some((chunk.fine.get(place * bits..(place + 1) * bits)?, *chunk.steps.get(place)?))
    }
}

impl Chunk {
    fn push(&mut self, turned: &[f32]) {
        let step = step_of(turned, FINE);
        // A chunk is on the shelf only once it is full.
        if let Some(fine) = self.fine.in_ram() {
            let from = fine.len();
            fine.resize(from + turned.len(), 0);
            simd::quantise(turned, step, &mut fine[from..]);
        }
        self.steps.push(step);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::signs::words_of;
    use super::*;

    fn vector(seed: u64, dimensions: usize) -> Vec<f32> {
        let mut state = seed;
        let values: Vec<f32> = (0..dimensions)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40) as f32 / (1 << 23) as f32 - 1.0
            })
            .collect();
        let norm = simd::dot(&values, &values).sqrt();
        values.into_iter().map(|value| value / norm).collect()
    }

    #[test]
    fn turning_keeps_lengths_and_angles() {
        for dimensions in [3, 16, 384, 512, 768] {
            let rotation = Rotation::for_dimensions(dimensions);
            let (a, b) = (vector(1, dimensions), vector(2, dimensions));
            let (x, y) = (rotation.turn(&a), rotation.turn(&b));
            assert!((simd::dot(&x, &x) - 1.0).abs() < 1e-4);
            assert!((simd::dot(&x, &y) - simd::dot(&a, &b)).abs() < 1e-4);
        }
    }

    #[test]
    fn codes_tell_the_angle() {
        let dir = tempfile::tempdir().unwrap();
        let mut codes = Codes::new(384, Arc::new(Shelf::new(dir.path())));
        for seed in 0..3000 {
            codes.push(&vector(seed, 384));
        }
        codes.push(&[0.0; 384]);
        let own = vector(2500, 384);
        let query = codes.query(&own);
        for seed in 0..3000 {
            let cosine = simd::dot(&own, &vector(seed, 384));
            assert!(
                (codes.likenesses(&query, &[seed as u32]).next().unwrap() - cosine).abs() < 2e-3
            );
        }
        assert_eq!(codes.nearest(&query, 1), [2500]);
        let turned = codes.turned(2500).unwrap();
        let apart = turned.iter().zip(&query.turned).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f32::max) < 1e-3);
        assert_eq!(codes.signs(2500), words_of(&query.turned).collect::<Vec<_>>());
        assert_eq!(codes.turned(3001), None);
        assert_eq!(codes.nearest_of(&query, &[3, 2500, 2999], 1), [2500]);
        assert_eq!(codes.likenesses(&query, &[3000]).next().unwrap(), 0.0);
        assert_eq!(codes.likenesses(&query, &[3001]).next().unwrap(), f32::NEG_INFINITY);
    }
}
