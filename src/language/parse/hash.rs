//! The two hashes that the network's rows are found by: MurmurHash64A of strings, MurmurHash3 of their numbers.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Strings whose number is fixed and no hash: names of attributes and labels, which are words of English too ("mark").
fn symbols() -> &'static HashMap<&'static str, u64> {
    static SYMBOLS: OnceLock<HashMap<&'static str, u64>> = OnceLock::new();
    SYMBOLS.get_or_init(|| {
        include_str!("symbols.tsv")
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter_map(|(name, number)| Some((name, number.parse().ok()?)))
            .collect()
    })
}

/// The number of a string in the model's vocabulary; 0 of the empty one.
#[must_use]
pub fn of_string(text: &str) -> u64 {
    match symbols().get(text) {
        Some(&number) => number,
        None if text.is_empty() => 0,
        None => murmur64a(text.as_bytes(), 1),
    }
}

/// MurmurHash64A.
fn murmur64a(bytes: &[u8], seed: u64) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(M);
    let mut blocks = bytes.chunks_exact(8);
    for block in &mut blocks {
        let mut k =
            block.iter().rev().fold(0_u64, |k, &byte| k << 8 | u64::from(byte)).wrapping_mul(M);
        k ^= k >> R;
        hash = (hash ^ k.wrapping_mul(M)).wrapping_mul(M);
    }
    let rest = blocks.remainder();
    if !rest.is_empty() {
        let k = rest.iter().rev().fold(0_u64, |k, &byte| k << 8 | u64::from(byte));
        hash = (hash ^ k).wrapping_mul(M);
    }
    hash ^= hash >> R;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> R
}

/// `MurmurHash3_x64_128` of one number, as four numbers of 32 bits: the rows of a hash embedding.
#[must_use]
pub fn rows(number: u64, seed: u32) -> [u32; 4] {
    let seed = u64::from(seed);
    let mut h1 = number
        .wrapping_mul(0x87c3_7b91_1142_53d5)
        .rotate_left(31)
        .wrapping_mul(0x4cf5_ad43_2745_937f)
        ^ seed
        ^ 8;
    let mut h2 = seed ^ 8;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = mixed(h1);
    h2 = mixed(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    [h1 as u32, (h1 >> 32) as u32, h2 as u32, (h2 >> 32) as u32]
}

fn mixed(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
    h ^= h >> 33;
    h = h.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ h >> 33
}
