//! One-bit codes of vectors: the signs after a fixed rotation.
//!
//! The share of equal signs tells the angle of two vectors (Charikar, STOC 2002), so the Hamming distance of
//! codes picks candidates; the dot product of the query itself with a code's signs orders them much better
//! (RaBitQ, Gao & Long, SIGMOD 2024, arXiv 2405.12497). A 384-dimensional vector has 48 bytes of code: a
//! million of them are read through in a few milliseconds, with any filter, and a new one costs no more than
//! its own rotation.

use std::sync::Arc;

use super::simd;

/// Fewer dimensions are spread over so many signs.
const LEAST_BITS: usize = 256;
/// Codes in a chunk.
pub(crate) const CHUNK: usize = 1024;
/// Rounds of sign flips and transforms.
const ROUNDS: u64 = 3;

/// Vectors of up to `bits` dimensions become `bits` signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rotation {
    bits: usize,
}

impl Rotation {
    pub(crate) fn for_dimensions(dimensions: usize) -> Self {
        Self { bits: dimensions.next_multiple_of(128).max(LEAST_BITS) }
    }

    /// Words of a code.
    pub(crate) fn words(self) -> usize {
        self.bits / 64
    }

    /// The vector, rotated: seeded sign flips and Walsh–Hadamard transforms over the front and the back,
    /// which overlap where the length is no power of two.
    pub(crate) fn turn(self, values: &[f32]) -> Vec<f32> {
        let mut turned = vec![0.0_f32; self.bits];
        for (to, from) in turned.iter_mut().zip(values) {
            *to = *from;
        }
        let block =
            if self.bits.is_power_of_two() { self.bits } else { self.bits.next_power_of_two() / 2 };
        for round in 0..ROUNDS {
            flip(&mut turned, round);
            transform(&mut turned[..block]);
            if block < self.bits {
                flip(&mut turned, round + ROUNDS);
                let back = self.bits - block;
                transform(&mut turned[back..]);
            }
        }
        turned
    }
}

/// Flips signs by a fixed pattern (splitmix64).
fn flip(values: &mut [f32], round: u64) {
    for (at, part) in values.chunks_mut(64).enumerate() {
        let mut z = (round << 32 | at as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        for (bit, value) in part.iter_mut().enumerate() {
            if z >> bit & 1 == 1 {
                *value = -*value;
            }
        }
    }
}

/// Walsh–Hadamard transform of a power-of-two length, orthonormal.
fn transform(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
    let scale = 1.0 / (values.len() as f32).sqrt();
    for value in values {
        *value *= scale;
    }
}

fn signs(turned: &[f32]) -> impl Iterator<Item = u64> + '_ {
    turned.chunks(64).map(|part| {
        part.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(*value >= 0.0) << bit)
    })
}

/// Codes one after the other; shared by cloning, grows at its end.
#[derive(Clone)]
pub(crate) struct Codes {
    rotation: Rotation,
    chunks: Arc<Vec<Arc<Vec<u64>>>>,
    len: usize,
}

/// A query made ready for comparing.
pub(crate) struct CodedQuery {
    signs: Vec<u64>,
    /// For every byte of a code and every value it may have: the query's share of the dot product.
    shares: Vec<f32>,
}

impl Codes {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self { rotation: Rotation::for_dimensions(dimensions), chunks: Arc::default(), len: 0 }
    }

    pub(crate) fn push(&mut self, values: &[f32]) {
        let turned = self.rotation.turn(values);
        let chunks = Arc::make_mut(&mut self.chunks);
        if self.len.is_multiple_of(CHUNK) {
            chunks.push(Arc::default());
        }
        if let Some(last) = chunks.last_mut() {
            Arc::make_mut(last).extend(signs(&turned));
        }
        self.len += 1;
    }

    pub(crate) fn query(&self, values: &[f32]) -> CodedQuery {
        let turned = self.rotation.turn(values);
        let mut shares = Vec::with_capacity(turned.len() / 8 * 256);
        for eight in turned.chunks_exact(8) {
            // Doubling: the sums for one bit more follow from those without it.
            let least: f32 = -eight.iter().sum::<f32>();
            let from = shares.len();
            shares.push(least);
            for value in eight {
                for at in from..shares.len() {
                    shares.push(shares[at] + 2.0 * value);
                }
            }
        }
        CodedQuery { signs: signs(&turned).collect(), shares }
    }

    /// Hamming distances to all codes, by position.
    pub(crate) fn distances(&self, query: &CodedQuery) -> Vec<u16> {
        let mut found = Vec::with_capacity(self.len);
        for chunk in self.chunks.iter() {
            simd::hamming(chunk, &query.signs, &mut found);
        }
        found
    }

    /// The query's dot product with the signs at a position: grows with the cosine.
    pub(crate) fn likeness(&self, query: &CodedQuery, at: usize) -> f32 {
        let words = self.rotation.words();
        let from = at % CHUNK * words;
        let Some(code) =
            self.chunks.get(at / CHUNK).and_then(|chunk| chunk.get(from..from + words))
        else {
            return f32::NEG_INFINITY;
        };
        let bytes = code.iter().flat_map(|word| word.to_le_bytes());
        let mut sum = 0.0;
        for (byte, shares) in bytes.zip(query.shares.chunks_exact(256)) {
            sum += shares[usize::from(byte)];
        }
        sum
    }
}

#[cfg(test)]
mod tests {
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
    fn likeness_is_the_dot_product_with_the_signs() {
        let mut codes = Codes::new(384);
        for seed in 0..3000 {
            codes.push(&vector(seed, 384));
        }
        let own = vector(2500, 384);
        let query = codes.query(&own);
        let distances = codes.distances(&query);
        assert_eq!((distances.len(), distances[2500]), (3000, 0));
        let turned = Rotation::for_dimensions(384).turn(&own);
        let all: f32 = turned.iter().map(|value| value.abs()).sum();
        assert!((codes.likeness(&query, 2500) - all).abs() < 1e-3);
        assert!((0..3000).all(|at| at == 2500 || codes.likeness(&query, at) < all / 2.0));
    }
}
