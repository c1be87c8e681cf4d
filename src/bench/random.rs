//! Numbers that look random and are the same everywhere: splitmix64 (Steele, Lea, Flood 2014).

/// The generator; equal seeds give equal numbers.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Begins at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in 0..`count`; 0 for an empty range.
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// Mean 0, variance 1: the sum of twelve uniform numbers less six (Irwin–Hall), which needs no
    /// function whose last bits differ between machines.
    pub fn gaussian(&mut self) -> f32 {
        ((0..12).map(|_| self.unit()).sum::<f64>() - 6.0) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_lie_where_they_should() {
        let mut random = SplitMix64::new(1);
        let draws: Vec<usize> = (0..1000).map(|_| random.below(5)).collect();
        assert!((0..5).all(|n| draws.iter().filter(|d| **d == n).count() > 150));
        assert_eq!(random.below(0), 0);
        let values: Vec<f32> = (0..4000).map(|_| random.gaussian()).collect();
        let mean = values.iter().sum::<f32>() / 4000.0;
        let variance = values.iter().map(|v| v * v).sum::<f32>() / 4000.0;
        assert!(mean.abs() < 0.06 && (variance - 1.0).abs() < 0.1, "{mean} {variance}");
    }
}
