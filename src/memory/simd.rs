//! The two inner loops of vector search, compiled for what the processor has.
//!
//! Each loop is written once in plain Rust; the compiler turns it into wider instructions where a function
//! says that they are there. All versions give equal bits: sums run in the same order.

/// Picks the widest version of a loop that this processor runs.
macro_rules! dispatch {
    ($plain:ident, $avx2:ident, $avx512:ident, ($($arg:ident: $kind:ty),*) $(-> $out:ty)?) => {
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
    };
}

dispatch!(plain_hamming, avx2_hamming, avx512_hamming,
    (codes: &[u64], query: &[u64], out: &mut Vec<u16>));
dispatch!(plain_dot, avx2_dot, avx512_dot, (a: &[f32], b: &[f32]) -> f32);

/// Appends the Hamming distance of every code in `codes` (one after the other, `query.len()` words each) to
/// `out`.
pub(crate) fn hamming(codes: &[u64], query: &[u64], out: &mut Vec<u16>) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the processor has what the function was compiled for; asked above.
            return unsafe { avx512_hamming(codes, query, out) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            // SAFETY: as above.
            return unsafe { avx2_hamming(codes, query, out) };
        }
    }
    plain_hamming(codes, query, out);
}

/// Dot product; running sums side by side, so that it is quick and always the same.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the processor has what the function was compiled for; asked above.
            return unsafe { avx512_dot(a, b) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            // SAFETY: as above.
            return unsafe { avx2_dot(a, b) };
        }
    }
    plain_dot(a, b)
}

#[inline(always)]
fn plain_hamming(codes: &[u64], query: &[u64], out: &mut Vec<u16>) {
    match query.len() {
        4 => fixed_hamming::<4>(codes, query, out),
        6 => fixed_hamming::<6>(codes, query, out),
        8 => fixed_hamming::<8>(codes, query, out),
        12 => fixed_hamming::<12>(codes, query, out),
        words => out.extend(codes.chunks_exact(words.max(1)).map(|code| {
            code.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>() as u16
        })),
    }
}

#[inline(always)]
fn fixed_hamming<const WORDS: usize>(codes: &[u64], query: &[u64], out: &mut Vec<u16>) {
    let Some(query) = query.first_chunk::<WORDS>() else { return };
    let (codes, _) = codes.as_chunks::<WORDS>();
    out.extend(codes.iter().map(|code| {
        let mut sum = 0;
        for at in 0..WORDS {
            sum += (code[at] ^ query[at]).count_ones();
        }
        sum as u16
    }));
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
            let query = &numbers[..words];
            let (mut quick, mut plain) = (Vec::new(), Vec::new());
            hamming(&numbers, query, &mut quick);
            plain_hamming(&numbers, query, &mut plain);
            assert_eq!(quick, plain);
            assert_eq!(quick[0], 0);
            assert_eq!(quick.len(), numbers.len() / words);
        }
        let floats: Vec<f32> = numbers.iter().map(|n| (n >> 40) as f32 / 1e7 - 0.5).collect();
        for len in [0, 1, 15, 16, 37, 100] {
            let (a, b) = (&floats[..len], &floats[100..100 + len]);
            assert_eq!(dot(a, b).to_bits(), plain_dot(a, b).to_bits());
        }
    }
}
