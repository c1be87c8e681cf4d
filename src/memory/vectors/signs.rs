//! Binary codes: the signs of vectors, and which of them are near a query's.
//!
//! Of every vector its signs are kept, of a query how much each sign weighs, too: the distance is the sum of the
//! weights where the signs differ. (That tells the angle nearly as well as the query's exact values would: RaBitQ, Gao
//! & Long, SIGMOD 2024, arXiv 2405.12497, where a query of few bits is put beside codes of one bit.)
//!
//! What a search costs is reading. The first third of the signs, the head, lies apart and is read of every vector;
//! turned vectors say about the same in every part, so the rest is read of those alone whose head is near.

use std::sync::Arc;

use crate::memory::versions::persist::{Reader, Writer};
use crate::memory::versions::shelf::{Bulk, Shelf};
use crate::simd::{self, BLOCK, Weighed};

/// Codes in a chunk.
pub(super) const CHUNK: usize = 1024;
/// One word in so many is the head's.
const HEAD_SHARE: usize = 3;
/// So many heads are near enough to read the rest, for each vector that is wanted, …
const HEADS: usize = 8;
/// … and so many where only some of all vectors are asked for: there are fewer to read.
const HEADS_OF_SOME: usize = 16;
/// Blocks of a sample, at least; …
const SAMPLE: usize = 4096;
/// … which is at least one in so many.
const MOST_APART: usize = 16;
/// From so many positions in a chunk on, all of it is compared.
const DENSE: usize = CHUNK / BLOCK / 2;

/// Values beyond so many standard deviations weigh no more.
const CLIPPED: f32 = 2.0;
/// The greatest weight.
const HEAVIEST: u64 = 3;

/// What a turned query's signs weigh, 0 to 3; place after place as in [`words_of`].
pub(super) fn weigh(turned: &[f32]) -> Vec<Weighed> {
    let mean_square = simd::dot(turned, turned) / turned.len().max(1) as f32;
    let step = CLIPPED * mean_square.sqrt() / HEAVIEST as f32;
    let weighed = turned.chunks(64).map(|part| {
        let mut weighed = Weighed::default();
        for (bit, value) in part.iter().enumerate() {
            let weight = ((value.abs() / step).round() as u64).min(HEAVIEST);
            weighed.sign |= u64::from(*value >= 0.0) << bit;
            weighed.once |= (weight & 1) << bit;
            weighed.twice |= (weight >> 1) << bit;
        }
        weighed
    });
    weighed.collect()
}

/// The signs of a turned vector.
pub(super) fn words_of(turned: &[f32]) -> impl Iterator<Item = u64> + '_ {
    turned.chunks(64).map(|part| {
        part.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(*value >= 0.0) << bit)
    })
}

/// Signs of vectors one after the other; shared by cloning, grow at their end.
#[derive(Clone)]
pub(super) struct Signs {
    /// In blocks, see [`simd::mismatch`].
    heads: Pieces,
    /// One vector's after the other's; of short vectors there are none.
    rests: Pieces,
    len: usize,
}

impl Signs {
    /// None yet, of vectors of so many dimensions.
    pub(super) fn new(bits: usize) -> Self {
        let words = bits.div_ceil(64);
        let head = words.div_ceil(HEAD_SHARE);
        Self { heads: Pieces::new(head), rests: Pieces::new(words - head), len: 0 }
    }

    /// Adds a turned vector's.
    pub(super) fn push(&mut self, turned: &[f32]) {
        let place = self.len % CHUNK;
        let head = self.heads.words;
        let chunk = self.heads.last();
        let (block, lane) = (place / BLOCK * BLOCK * head, place % BLOCK);
        chunk.resize(block + BLOCK * head, 0);
        for (at, word) in words_of(turned).take(head).enumerate() {
            chunk[block + at * BLOCK + lane] = word;
        }
        self.rests.last().extend(words_of(turned).skip(head));
        self.len += 1;
        if self.len.is_multiple_of(CHUNK) {
            self.heads.settle();
            self.rests.settle();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Those of one vector, as [`words_of`] gives them; none where there is none.
    pub(super) fn of(&self, at: usize) -> impl Iterator<Item = u64> + '_ {
        let heads = self.block(at / BLOCK).iter().skip(at % BLOCK).step_by(BLOCK);
        let (words, place) = (self.rests.words, at % CHUNK);
        let rests = self.rests.piece(at / CHUNK).get(place * words..(place + 1) * words);
        heads.chain(rests.unwrap_or_default()).copied()
    }

    /// Writes them, zeros in place of those that `is_erased`.
    pub(super) fn save(&self, is_erased: &dyn Fn(usize) -> bool, to: &mut Writer<'_>) {
        to.number(self.len as u64);
        let (head, rest) = (self.heads.words, self.rests.words);
        for chunk in 0..self.len.div_ceil(CHUNK) {
            let mut heads = self.heads.piece(chunk).to_vec();
            let mut rests = self.rests.piece(chunk).to_vec();
            for place in (0..CHUNK.min(self.len - chunk * CHUNK))
                .filter(|place| is_erased(chunk * CHUNK + place))
            {
                let (block, lane) = (place / BLOCK * BLOCK * head, place % BLOCK);
                (0..head).for_each(|at| heads[block + at * BLOCK + lane] = 0);
                rests[place * rest..(place + 1) * rest].fill(0);
            }
            to.numbers(&heads);
            to.numbers(&rests);
        }
    }

    /// Reads what [`Self::save`] wrote of vectors of so many dimensions.
    pub(super) fn load(bits: usize, from: &mut Reader<'_>) -> Option<Self> {
        let mut signs = Self::new(bits);
        let len = from.count()?;
        while signs.len < len {
            let here = CHUNK.min(len - signs.len);
            *signs.heads.last() = from.numbers()?;
            *signs.rests.last() = from.numbers()?;
            let blocks = here.div_ceil(BLOCK) * BLOCK;
            if signs.heads.last.len() != blocks * signs.heads.words
                || signs.rests.last.len() != here * signs.rests.words
            {
                return None;
            }
            signs.len += here;
            if here == CHUNK {
                signs.heads.settle();
                signs.rests.settle();
            }
        }
        Some(signs)
    }

    /// One block of heads; empty where there is none.
    fn block(&self, block: usize) -> &[u64] {
        const BLOCKS: usize = CHUNK / BLOCK;
        let len = BLOCK * self.heads.words;
        let from = block % BLOCKS * len;
        self.heads.piece(block / BLOCKS).get(from..from + len).unwrap_or_default()
    }

    /// Positions of about `count` of least distance, ascending; all where there are no more.
    pub(super) fn nearest(&self, query: &[Weighed], count: usize) -> Vec<u32> {
        if self.len <= count {
            return (0..self.len as u32).collect();
        }
        let (head, _) = self.parts(query);
        let blocks = self.len / BLOCK;
        let apart = (blocks / SAMPLE).clamp(1, MOST_APART);
        let mut sample = Counts::default();
        let mut distances = [0; CHUNK];
        for block in (0..blocks).step_by(apart) {
            simd::mismatch(self.block(block), head, &mut distances[..BLOCK]);
            sample.add(&distances[..BLOCK]);
        }
        let wanted = self.heads_for(count, HEADS);
        let limit = sample.limit(wanted / apart);
        let room = wanted.min(self.len) * 3 / 2;
        let (mut found, mut sums) = (Vec::with_capacity(room), Vec::with_capacity(room));
        for first in (0..self.len).step_by(CHUNK) {
            simd::mismatch(self.heads.piece(first / CHUNK), head, &mut distances);
            let here = &distances[..CHUNK.min(self.len - first)];
            let before = found.len();
            simd::up_to(here, limit, first as u32, &mut found);
            sums.extend(found[before..].iter().map(|at| distances[*at as usize % CHUNK]));
        }
        self.settled(query, found, sums, count)
    }

    /// Those of the positions (ascending) with about the `count` least distances; all where they are no more.
    pub(super) fn nearest_of(
        &self,
        query: &[Weighed],
        positions: &[u32],
        count: usize,
    ) -> Vec<u32> {
        if positions.len() <= count {
            return positions.to_vec();
        }
        let (head, _) = self.parts(query);
        let mut sums: Vec<u16> = Vec::with_capacity(positions.len());
        let mut distances = [0; CHUNK];
        for (chunk, here) in parted(positions, CHUNK) {
            if here.len() >= DENSE {
                simd::mismatch(self.heads.piece(chunk), head, &mut distances);
            } else {
                for (block, _) in parted(here, BLOCK) {
                    let place = block * BLOCK % CHUNK;
                    simd::mismatch(self.block(block), head, &mut distances[place..place + BLOCK]);
                }
            }
            sums.extend(here.iter().map(|at| distances[*at as usize % CHUNK]));
        }
        let wanted = self.heads_for(count, HEADS_OF_SOME);
        if positions.len() <= wanted {
            return self.settled(query, positions.to_vec(), sums, count);
        }
        let limit = Counts::of(&sums).limit(wanted);
        let near = positions.iter().zip(sums).filter(|(_, sum)| *sum <= limit);
        let (positions, sums) = near.unzip();
        self.settled(query, positions, sums, count)
    }

    /// A query's head and rest.
    fn parts<'a>(&self, query: &'a [Weighed]) -> (&'a [Weighed], &'a [Weighed]) {
        query.split_at(self.heads.words.min(query.len()))
    }

    /// How many heads are looked at further when `count` vectors are wanted.
    fn heads_for(&self, count: usize, for_each: usize) -> usize {
        if self.rests.words == 0 { count } else { count.saturating_mul(for_each) }
    }

    /// Adds the rest of the distance to that of the heads, and keeps those with about the `count` least sums.
    fn settled(
        &self,
        query: &[Weighed],
        mut positions: Vec<u32>,
        mut sums: Vec<u16>,
        count: usize,
    ) -> Vec<u32> {
        if positions.len() <= count {
            return positions;
        }
        if self.rests.words > 0 {
            let (_, rest) = self.parts(query);
            let mut sums = sums.as_mut_slice();
            let mut parts = parted(&positions, CHUNK).peekable();
            while let Some((chunk, here)) = parts.next() {
                if let Some((next, soon)) = parts.peek() {
                    let piece = self.rests.piece(*next);
                    for at in *soon {
                        let from = *at as usize % CHUNK * rest.len();
                        simd::ask_for(piece.get(from..from + rest.len()).unwrap_or_default());
                    }
                }
                let (own, others) = sums.split_at_mut(here.len());
                let first = (chunk * CHUNK) as u32;
                simd::add_mismatch(self.rests.piece(chunk), rest, first, here, own);
                sums = others;
            }
        }
        let limit = Counts::of(&sums).limit(count);
        let mut sums = sums.iter();
        positions.retain(|_| sums.next().is_some_and(|sum| *sum <= limit));
        positions
    }
}

/// Positions (ascending) that lie in the same `size` of vectors together, and which of these parts it is.
fn parted(positions: &[u32], size: usize) -> impl Iterator<Item = (usize, &[u32])> {
    let part = move |at: &u32| *at as usize / size;
    let parts = positions.chunk_by(move |a, b| part(a) == part(b));
    parts.map(move |here| (here.first().map_or(0, part), here))
}

/// Words of vectors, [`CHUNK`] vectors in a piece; shared by cloning.
#[derive(Clone)]
struct Pieces {
    /// Words of one vector.
    words: usize,
    /// Full ones, side by side where there is a shelf.
    full: Arc<Vec<Bulk<u64>>>,
    /// The one that grows.
    last: Arc<Vec<u64>>,
    /// Where full pieces of these vectors lie, and nothing else.
    shelf: Arc<Shelf>,
}

impl Pieces {
    fn new(words: usize) -> Self {
        let shelf = Arc::new(Shelf::in_ram());
        Self { words, full: Arc::default(), last: Arc::default(), shelf }
    }

    fn last(&mut self) -> &mut Vec<u64> {
        Arc::make_mut(&mut self.last)
    }

    /// Puts the piece that is full on the shelf.
    fn settle(&mut self) {
        let mut piece = Bulk::Ram(std::mem::take(Arc::make_mut(&mut self.last)));
        piece.settle(&self.shelf);
        Arc::make_mut(&mut self.full).push(piece);
    }

    fn piece(&self, number: usize) -> &[u64] {
        self.full.get(number).map_or(&self.last, |piece| piece)
    }
}

/// How often each distance comes.
#[derive(Default)]
pub(super) struct Counts(Vec<usize>);

impl Counts {
    pub(super) fn of(distances: &[u16]) -> Self {
        let mut counts = Self::default();
        counts.add(distances);
        counts
    }

    fn add(&mut self, distances: &[u16]) {
        for distance in distances {
            let distance = usize::from(*distance);
            if distance >= self.0.len() {
                self.0.resize(distance + 1, 0);
            }
            self.0[distance] += 1;
        }
    }

    /// The distance within which lie at least `wanted`.
    pub(super) fn limit(&self, wanted: usize) -> u16 {
        let mut sum = 0;
        let limit = self.0.iter().position(|here| {
            sum += here;
            sum >= wanted
        });
        limit.map_or(u16::MAX, |limit| limit as u16)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const BITS: usize = 256;

    fn vector(seed: u64) -> Vec<f32> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        (0..BITS)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40) as f32 / (1 << 23) as f32 - 1.0
            })
            .collect()
    }

    /// The distance as it is defined.
    fn distance(query: &[f32], turned: &[f32]) -> u16 {
        let weighed = weigh(query);
        let bit = |word: u64, at: usize| (word >> (at % 64) & 1) as u16;
        let weight =
            |at: usize| bit(weighed[at / 64].once, at) + 2 * bit(weighed[at / 64].twice, at);
        (0..BITS).filter(|at| (query[*at] >= 0.0) != (turned[*at] >= 0.0)).map(weight).sum()
    }

    #[test]
    fn the_nearest_are_found_wherever_they_lie() {
        let count = 66 * CHUNK + 11;
        let vectors: Vec<Vec<f32>> = (0..count as u64).map(vector).collect();
        let query = vector(77);
        let mut expected: Vec<u16> =
            vectors.iter().map(|turned| distance(&query, turned)).collect();
        let mut signs = Signs::new(BITS);
        vectors.iter().for_each(|turned| signs.push(turned));
        assert_eq!((signs.heads.full.len(), signs.rests.full.len()), (66, 66));
        let weighed = weigh(&query);
        let found = signs.nearest(&weighed, 1000);
        assert!((1000..1300).contains(&found.len()), "{}", found.len());
        // Nearly all of the nearest are among them: a head says much, not everything.
        let mut best: Vec<u16> = expected.clone();
        best.sort_unstable();
        let right = found.iter().filter(|at| expected[**at as usize] <= best[100]).count();
        assert!(right >= 90, "{right} of the nearest 101");
        assert!(found.is_sorted());
        assert_eq!(signs.nearest(&weighed, count).len(), count);
        // Few far apart, and many side by side.
        let sparse = (0..count as u32).step_by(97);
        let some: Vec<u32> = sparse
            .chain(60_000..64_000)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        let best = signs.nearest_of(&weighed, &some, 200);
        assert!((200..300).contains(&best.len()), "{}", best.len());
        // More than half of the heads are read further here, so that none is missed.
        let most = best.iter().map(|at| expected[*at as usize]).max().unwrap();
        let all: Vec<u32> =
            some.iter().copied().filter(|at| expected[*at as usize] <= most).collect();
        assert_eq!(best, all);
        assert_eq!(signs.nearest_of(&weighed, &some, some.len()), some);
        expected.sort_unstable();
        assert_eq!(expected[0], 0, "the query is one of them");
    }

    #[test]
    fn great_values_weigh_more() {
        let mut turned = vec![0.1_f32; 64];
        (turned[0], turned[1], turned[2]) = (-5.0, 0.2, f32::NAN);
        let weighed = weigh(&turned[..2]);
        assert_eq!(weighed.len(), 1);
        assert_eq!((weighed[0].sign, weighed[0].once & 1, weighed[0].twice & 1), (2, 0, 1));
        // Nothing that is no number is worth anything.
        assert!(weigh(&turned).iter().all(|part| part.once == 0 && part.twice == 0));
        assert!(weigh(&[0.0; 70]).iter().all(|part| part.once == 0 && part.twice == 0));
    }
}
