//! The inner loops over vectors, compiled for what the processor has.
//!
//! Each loop is written once in plain Rust; the compiler turns it into wider instructions where a function
//! says that they are there. All versions give equal bits: sums run in the same order.

/// Codes that are compared side by side.
pub(crate) const BLOCK: usize = 8;
/// What the processor fetches at once, bytes.
const LINE: usize = 64;
/// So many bytes before they are read, blocks of codes are asked for.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// Asks for values that are read soon: they come while others are computed with. What is read here and there the
/// processor does not foresee.
pub(crate) fn ask_for<T>(values: &[T]) {
    let (start, len) = (values.as_ptr().cast::<u8>(), size_of_val(values));
    // From where the first one's line begins: what lies across a border is on one line more.
    let before = start as usize % LINE;
    for at in (0..before + len).step_by(LINE) {
        ask_for_line(start.wrapping_sub(before).wrapping_add(at));
    }
}

#[inline(always)]
fn ask_for_line(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it may name any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// A function that picks the widest version of a loop that this processor runs.
macro_rules! dispatch {
    ($(#[$doc:meta])* $name:ident = $plain:ident, $avx2:ident, $avx512:ident,
        ($($arg:ident: $kind:ty),*) $(-> $out:ty)?) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,popcnt")]
        fn $avx2($($arg: $kind),*) $(-> $out)? {
            $plain($($arg),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,avx2,popcnt")]
        fn $avx512($($arg: $kind),*) $(-> $out)? {
            $plain($($arg),*)
        }

        $(#[$doc])*
        pub(crate) fn $name($($arg: $kind),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx512vpopcntdq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the processor has what the function was compiled for; asked above.
                    return unsafe { $avx512($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                    // SAFETY: as above.
                    return unsafe { $avx2($($arg),*) };
                }
            }
            $plain($($arg),*)
        }
    };
}

/// 64 signs of a query, and what each weighs: `once` and twice `twice`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weighed {
    pub(crate) sign: u64,
    pub(crate) once: u64,
    pub(crate) twice: u64,
}

/// Writes the weighted Hamming distance of every code into `out`: what the signs weigh that differ. Codes stand in
/// blocks of [`BLOCK`]: the first word of each, then the second of each, and so on, `query.len()` words. (The compiler
/// counts bits one word at a time if it is left to it.)
pub(crate) fn mismatch(codes: &[u64], query: &[Weighed], out: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512vpopcntdq") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor has what the function was compiled for; asked above.
            return unsafe { avx512_mismatch(codes, query, out) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            // SAFETY: as above.
            return unsafe { avx2_mismatch(codes, query, out) };
        }
    }
    plain_mismatch(codes, query, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn avx2_mismatch(codes: &[u64], query: &[Weighed], out: &mut [u16]) {
    plain_mismatch(codes, query, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
fn avx512_mismatch(codes: &[u64], query: &[Weighed], out: &mut [u16]) {
    use std::arch::x86_64::{
        _mm_storeu_si128, _mm512_add_epi64, _mm512_and_si512, _mm512_cvtusepi64_epi16,
        _mm512_loadu_si512, _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
        _mm512_xor_si512,
    };
    let blocks = codes.chunks_exact(query.len().max(1) * BLOCK);
    let (out, _) = out.as_chunks_mut::<BLOCK>();
    for (block, out) in blocks.zip(out) {
        let (words, _) = block.as_chunks::<BLOCK>();
        let (mut once, mut twice) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (words, own) in words.iter().zip(query) {
            ask_for_line(words.as_ptr().cast::<u8>().wrapping_add(AHEAD));
            let [sign, light, heavy] =
                [own.sign, own.once, own.twice].map(|word| _mm512_set1_epi64(word as i64));
            // SAFETY: read from an array of just that size, at any alignment.
            let words = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
            let differ = _mm512_xor_si512(words, sign);
            once = _mm512_add_epi64(once, _mm512_popcnt_epi64(_mm512_and_si512(differ, light)));
            twice = _mm512_add_epi64(twice, _mm512_popcnt_epi64(_mm512_and_si512(differ, heavy)));
        }
        let distances = _mm512_add_epi64(once, _mm512_add_epi64(twice, twice));
        // SAFETY: written into an array of just that size, at any alignment.
        unsafe {
            _mm_storeu_si128(out.as_mut_ptr().cast(), _mm512_cvtusepi64_epi16(distances));
        }
    }
}

/// Appends the places, counted from `first`, of the distances that are at most `limit`. (The compiler does not find the
/// instruction that compares 32 at once into a mask.)
pub(crate) fn up_to(distances: &[u16], limit: u16, first: u32, out: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512bw") {
            // SAFETY: the processor has what the function was compiled for; asked above.
            return unsafe { avx512_up_to(distances, limit, first, out) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            return unsafe { avx2_up_to(distances, limit, first, out) };
        }
    }
    plain_up_to(distances, limit, first, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2_up_to(distances: &[u16], limit: u16, first: u32, out: &mut Vec<u32>) {
    plain_up_to(distances, limit, first, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn avx512_up_to(distances: &[u16], limit: u16, first: u32, out: &mut Vec<u32>) {
    use std::arch::x86_64::{_mm512_cmple_epu16_mask, _mm512_loadu_si512, _mm512_set1_epi16};
    const LANES: usize = 32;
    let (parts, rest) = distances.as_chunks::<LANES>();
    let most = _mm512_set1_epi16(limit as i16);
    let mut place = first;
    for part in parts {
        // SAFETY: read from an array of just that size, at any alignment.
        let part = unsafe { _mm512_loadu_si512(part.as_ptr().cast()) };
        let mut near = _mm512_cmple_epu16_mask(part, most);
        while near != 0 {
            out.push(place + near.trailing_zeros());
            near &= near - 1;
        }
        place += LANES as u32;
    }
    plain_up_to(rest, limit, place, out);
}

dispatch! {
    /// Adds the weighted Hamming distance of some codes. `codes`: one code's `query.len()` words after the other's;
    /// `places`: which, counted from `first`; `sums`: theirs.
    add_mismatch = plain_add_mismatch, avx2_add_mismatch, avx512_add_mismatch,
    (codes: &[u64], query: &[Weighed], first: u32, places: &[u32], sums: &mut [u16])
}

/// Walsh–Hadamard transform of a power-of-two length, orthonormal. (With the widest registers the compiler gathers value
/// by value, which takes five times as long.)
pub(crate) fn transform(values: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function was compiled for; asked above.
        return unsafe { avx2_transform(values) };
    }
    plain_transform(values);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2_transform(values: &mut [f32]) {
    plain_transform(values);
}

dispatch! {
    /// Flips the sign of every value whose pattern has the sign bit.
    flip = plain_flip, avx2_flip, avx512_flip,
    (values: &mut [f32], signs: &[u32])
}

dispatch! {
    /// The greatest absolute value; 0 of none.
    greatest = plain_greatest, avx2_greatest, avx512_greatest,
    (values: &[f32]) -> f32
}

dispatch! {
    /// Values as whole steps; what is too great becomes a bound, and what is no number 0.
    quantise = plain_quantise, avx2_quantise, avx512_quantise,
    (values: &[f32], step: f32, out: &mut [i8])
}

dispatch! {
    /// Dot product; running sums side by side, so that it is quick and always the same.
    dot = plain_dot, avx2_dot, avx512_dot,
    (a: &[f32], b: &[f32]) -> f32
}

/// Dot product of whole numbers; exact as long as it fits. (The compiler does not find the instruction that
/// multiplies and adds pairs by itself.)
pub(crate) fn fine_dot(a: &[i8], b: &[i16]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function was compiled for; asked above.
            return unsafe { avx512_fine_dot(a, b) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            return unsafe { avx2_fine_dot(a, b) };
        }
    }
    plain_fine_dot(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx2")]
fn avx512_fine_dot(a: &[i8], b: &[i16]) -> i32 {
    use std::arch::x86_64::{
        _mm256_loadu_si256, _mm512_add_epi32, _mm512_cvtepi8_epi16, _mm512_loadu_si512,
        _mm512_madd_epi16, _mm512_reduce_add_epi32, _mm512_setzero_si512,
    };
    let (left, left_rest) = a.as_chunks::<32>();
    let (right, right_rest) = b.as_chunks::<32>();
    let mut sums = _mm512_setzero_si512();
    for (x, y) in left.iter().zip(right) {
        // SAFETY: both are read from arrays of just that size, at any alignment.
        let (x, y) = unsafe {
            (_mm256_loadu_si256(x.as_ptr().cast()), _mm512_loadu_si512(y.as_ptr().cast()))
        };
        sums = _mm512_add_epi32(sums, _mm512_madd_epi16(_mm512_cvtepi8_epi16(x), y));
    }
    _mm512_reduce_add_epi32(sums) + plain_fine_dot(left_rest, right_rest)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2_fine_dot(a: &[i8], b: &[i16]) -> i32 {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_loadu_si256,
        _mm256_madd_epi16, _mm256_setzero_si256, _mm256_storeu_si256,
    };
    let (left, left_rest) = a.as_chunks::<16>();
    let (right, right_rest) = b.as_chunks::<16>();
    let mut sums = _mm256_setzero_si256();
    for (x, y) in left.iter().zip(right) {
        // SAFETY: both are read from arrays of just that size, at any alignment.
        let (x, y) =
            unsafe { (_mm_loadu_si128(x.as_ptr().cast()), _mm256_loadu_si256(y.as_ptr().cast())) };
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_cvtepi8_epi16(x), y));
    }
    let mut lanes = [0_i32; 8];
    // SAFETY: it is written into an array of just that size, at any alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sums) };
    lanes.iter().sum::<i32>() + plain_fine_dot(left_rest, right_rest)
}

fn plain_fine_dot(a: &[i8], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum()
}

// Loops are written out: a closure handed to an iterator would be compiled without the wide instructions.

#[inline(always)]
fn plain_mismatch(codes: &[u64], query: &[Weighed], out: &mut [u16]) {
    let blocks = codes.chunks_exact(query.len().max(1) * BLOCK);
    for (block, out) in blocks.zip(out.chunks_exact_mut(BLOCK)) {
        out.copy_from_slice(&block_mismatch(block, query));
    }
}

#[inline(always)]
fn block_mismatch(block: &[u64], query: &[Weighed]) -> [u16; BLOCK] {
    let (mut once, mut twice) = ([0_u64; BLOCK], [0_u64; BLOCK]);
    let (words, _) = block.as_chunks::<BLOCK>();
    for (words, own) in words.iter().zip(query) {
        for ((once, twice), word) in once.iter_mut().zip(&mut twice).zip(words) {
            let differ = word ^ own.sign;
            *once += u64::from((differ & own.once).count_ones());
            *twice += u64::from((differ & own.twice).count_ones());
        }
    }
    let mut distances = [0_u16; BLOCK];
    for ((distance, once), twice) in distances.iter_mut().zip(once).zip(twice) {
        *distance = (once + 2 * twice).min(u64::from(u16::MAX)) as u16;
    }
    distances
}

#[inline(always)]
fn plain_up_to(distances: &[u16], limit: u16, first: u32, out: &mut Vec<u32>) {
    const AT_ONCE: usize = 64;
    let mut place = first;
    for part in distances.chunks(AT_ONCE) {
        // Most parts hold none.
        let mut any = false;
        for distance in part {
            any |= *distance <= limit;
        }
        if any {
            for (at, distance) in part.iter().enumerate() {
                if *distance <= limit {
                    out.push(place + at as u32);
                }
            }
        }
        place += AT_ONCE as u32;
    }
}

#[inline(always)]
fn plain_add_mismatch(
    codes: &[u64],
    query: &[Weighed],
    first: u32,
    places: &[u32],
    sums: &mut [u16],
) {
    let words = query.len();
    for (place, sum) in places.iter().zip(sums) {
        let from = place.saturating_sub(first) as usize * words;
        let Some(code) = codes.get(from..from + words) else { continue };
        let mut distance = 0;
        for (word, own) in code.iter().zip(query) {
            let differ = word ^ own.sign;
            distance += (differ & own.once).count_ones() + 2 * (differ & own.twice).count_ones();
        }
        *sum = sum.saturating_add(distance as u16);
    }
}

#[inline(always)]
fn plain_flip(values: &mut [f32], signs: &[u32]) {
    for (value, sign) in values.iter_mut().zip(signs) {
        *value = f32::from_bits(value.to_bits() ^ sign);
    }
}

#[inline(always)]
fn plain_greatest(values: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (parts, rest) = values.as_chunks::<LANES>();
    let mut most = [0.0_f32; LANES];
    for part in parts {
        for (most, value) in most.iter_mut().zip(part) {
            *most = most.max(value.abs());
        }
    }
    most.iter().chain(rest).fold(0.0, |most, value| most.max(value.abs()))
}

/// Added to a small number it rounds it to a whole one, ties to even, and leaves that in the lowest bits: 1.5 x 2^23.
const WHOLE: f32 = 12_582_912.0;

#[inline(always)]
fn plain_quantise(values: &[f32], step: f32, out: &mut [i8]) {
    let steps = 1.0 / step;
    for (value, out) in values.iter().zip(out) {
        let mut value = value * steps;
        // Written out: this way the compiler finds the instructions for many at once, and what is no number passes.
        if value > f32::from(i8::MAX) {
            value = f32::from(i8::MAX);
        }
        if value < f32::from(i8::MIN) {
            value = f32::from(i8::MIN);
        }
        *out = (value + WHOLE).to_bits() as i8;
    }
}

/// Rows of a square of values that are transformed together, and values of a row.
const SIDE: usize = 16;
type Square = [[f32; SIDE]; SIDE];

#[inline(always)]
fn plain_transform(values: &mut [f32]) {
    let (squares, rest) = values.as_chunks_mut::<{ SIDE * SIDE }>();
    let from = if rest.is_empty() { SIDE * SIDE } else { 1 };
    if rest.is_empty() {
        for square in squares {
            transform_square(square);
        }
    }
    let len = values.len();
    sums_and_differences(values, from, len);
    let scale = 1.0 / (len as f32).sqrt();
    for value in values {
        *value *= scale;
    }
}

#[inline(always)]
fn transform_square(values: &mut [f32; SIDE * SIDE]) {
    let mut rows: Square = [[0.0; SIDE]; SIDE];
    for (row, values) in rows.iter_mut().zip(values.as_chunks().0) {
        *row = *values;
    }
    across::<1>(&mut rows);
    across::<2>(&mut rows);
    across::<4>(&mut rows);
    across::<8>(&mut rows);
    within::<1>(&mut rows);
    within::<2>(&mut rows);
    within::<4>(&mut rows);
    within::<8>(&mut rows);
    for (values, row) in values.as_chunks_mut().0.iter_mut().zip(rows) {
        *values = row;
    }
}

/// Sums and differences of rows that are `APART`.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "of two rows at once")]
fn across<const APART: usize>(rows: &mut Square) {
    for base in (0..SIDE).step_by(2 * APART) {
        for low in base..base + APART {
            for at in 0..SIDE {
                let (a, b) = (rows[low][at], rows[low + APART][at]);
                (rows[low][at], rows[low + APART][at]) = (a + b, a - b);
            }
        }
    }
}

/// Sums and differences of values of each row that are `APART`.
#[inline(always)]
fn within<const APART: usize>(rows: &mut Square) {
    for row in rows {
        let before = *row;
        for at in 0..SIDE {
            let (own, other) = (before[at], before[at ^ APART]);
            row[at] = if at & APART == 0 { own + other } else { other - own };
        }
    }
}

/// Sums and differences of values `from` apart, then twice as far apart, and so on below `to`.
#[inline(always)]
fn sums_and_differences(values: &mut [f32], from: usize, to: usize) {
    let mut half = from;
    while half < to {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[inline(always)]
fn plain_dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0_f32; LANES];
    for (x, y) in left.zip(right) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_gives_equal_bits() {
        let numbers: Vec<u64> =
            (0..6 * 40_u64).map(|i| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        for words in [1, 3, 4, 6, 8, 12] {
            let codes = &numbers[..numbers.len() / (words * BLOCK) * words * BLOCK];
            // The query has the signs of the third code of the first block.
            let query: Vec<Weighed> = (0..words)
                .map(|word| Weighed {
                    sign: codes[word * BLOCK + 2],
                    once: numbers[word],
                    twice: numbers[word + 1],
                })
                .collect();
            let mut quick = vec![0; codes.len() / words];
            let mut plain = quick.clone();
            mismatch(codes, &query, &mut quick);
            plain_mismatch(codes, &query, &mut plain);
            assert_eq!(quick, plain);
            assert_eq!(quick[2], 0);
            let one_by_one = |at: usize| {
                let word = |word| codes[at / BLOCK * BLOCK * words + word * BLOCK + at % BLOCK];
                let weight = |own: &Weighed, word: u64| {
                    let differ = word ^ own.sign;
                    (differ & own.once).count_ones() + 2 * (differ & own.twice).count_ones()
                };
                (0..words).map(|at| weight(&query[at], word(at))).sum::<u32>()
            };
            assert!((0..quick.len()).all(|at| u32::from(quick[at]) == one_by_one(at)));
            // The same codes one after the other, some of them, on top of what was there.
            let rows: Vec<u64> = (0..quick.len())
                .flat_map(|at| {
                    let block = &codes[at / BLOCK * BLOCK * words..];
                    (0..words).map(move |word| block[word * BLOCK + at % BLOCK])
                })
                .collect();
            let places: Vec<u32> = (0..quick.len() as u32).step_by(3).map(|at| 2048 + at).collect();
            let mut sums = vec![5_u16; places.len()];
            add_mismatch(&rows, &query, 2048, &places, &mut sums);
            for (place, sum) in places.iter().zip(&sums) {
                assert_eq!(*sum, quick[*place as usize - 2048] + 5);
            }
            let limit = quick[1];
            let mut near = Vec::new();
            up_to(&quick, limit, 7, &mut near);
            let wanted = (0..quick.len()).filter(|at| quick[*at] <= limit);
            assert_eq!(near, wanted.map(|at| at as u32 + 7).collect::<Vec<_>>());
        }
        let floats: Vec<f32> = numbers.iter().map(|n| (n >> 40) as f32 / 1e7 - 0.5).collect();
        for len in [0, 1, 15, 16, 37, 100] {
            let (a, b) = (&floats[..len], &floats[100..100 + len]);
            assert_eq!(dot(a, b).to_bits(), plain_dot(a, b).to_bits());
        }
        for len in [16, 128, 256, 1024] {
            let floats: Vec<f32> = floats.iter().cycle().copied().take(len).collect();
            let (mut quick, mut plain) = (floats.clone(), floats.clone());
            transform(&mut quick);
            plain_transform(&mut plain);
            assert_eq!(quick, plain);
            // Every vector of one value is spread evenly; what is turned twice is what it was.
            let mut unit = vec![0.0; len];
            unit[len / 3] = 1.0;
            transform(&mut unit);
            assert!(
                unit.iter().all(|value| (value.abs() - 1.0 / (len as f32).sqrt()).abs() < 1e-6)
            );
            transform(&mut quick);
            let back = quick.iter().zip(&floats).all(|(value, was)| (value - was).abs() < 1e-3);
            assert!(back, "{len}");
        }
        let (mut quick, mut plain) = (floats.clone(), floats.clone());
        let signs: Vec<u32> = numbers.iter().map(|n| *n as u32 & 1 << 31).collect();
        flip(&mut quick, &signs);
        plain_flip(&mut plain, &signs);
        assert_eq!(quick, plain);
        assert_eq!(greatest(&floats[..37]), plain_greatest(&floats[..37]));
        assert_eq!(greatest(&[0.5, -2.0, f32::NAN]), 2.0);
        let (mut quick, mut plain) = (vec![0; 240], vec![0; 240]);
        quantise(&floats, 0.01, &mut quick);
        plain_quantise(&floats, 0.01, &mut plain);
        assert_eq!(quick, plain);
        let rounded = floats.iter().map(|value| (value / 0.01).round_ties_even() as i8);
        let off = rounded.zip(&quick).filter(|(rounded, quick)| rounded.abs_diff(**quick) > 1);
        assert_eq!(off.count(), 0);
        let mut bounds = [7; 5];
        quantise(&[f32::NAN, 1e9, -1e9, 2.5, -3.5], 1.0, &mut bounds);
        assert_eq!(bounds, [0, 127, -128, 2, -4]);
        let whole: Vec<i16> = numbers.iter().map(|n| (n >> 52) as i16 - 2048).collect();
        let small: Vec<i8> = numbers.iter().map(|n| (n >> 13) as i8).collect();
        for len in [0, 1, 31, 64, 240] {
            let (a, b) = (&small[..len], &whole[..len]);
            assert_eq!(fine_dot(a, b), plain_fine_dot(a, b));
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has what the function was compiled for; asked just now.
                assert_eq!(unsafe { avx2_fine_dot(a, b) }, plain_fine_dot(a, b));
            }
        }
    }
}
