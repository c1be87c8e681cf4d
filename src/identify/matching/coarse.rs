//! Vectors in whole numbers: how alike two are at most, for a fraction of what telling how alike they are costs.
//!
//! A row a becomes steps of a size of its own, â, eight bits each; a probe b becomes b̂, eleven bits each. Then
//! |a·b − â·b̂| ≤ ‖a − â‖ ‖b‖ + ‖â‖ ‖b − b̂‖ (Cauchy and Schwarz), and â·b̂ is exact in whole numbers.

use crate::simd::{fine_dot, quantise};

/// Steps of a row to either side, and of a probe.
const ROW_STEPS: f32 = 127.0;
const PROBE_STEPS: f32 = 1000.0;
/// What sums in single precision may lose, of vectors of length one; far more than they do.
const ROUNDING: f32 = 1e-4;

/// What a row's whole numbers mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CoarseRow {
    step: f32,
    /// ‖a − â‖ and ‖â‖.
    off: f32,
    length: f32,
}

/// Writes a row in whole numbers; what they mean.
pub(super) fn code(values: &[f32], codes: &mut [i8]) -> CoarseRow {
    let step = step(values, ROW_STEPS);
    quantise(values, step, codes);
    let meant = codes.iter().map(|code| step * f32::from(*code));
    let (off, length) = lengths(values, meant);
    CoarseRow { step, off, length }
}

/// A probe in whole numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CoarseProbe {
    codes: Vec<i16>,
    step: f32,
    /// ‖b − b̂‖ and ‖b‖.
    off: f32,
    length: f32,
}

impl CoarseProbe {
    pub(super) fn of(values: &[f32]) -> Self {
        let step = step(values, PROBE_STEPS);
        let codes: Vec<i16> = values.iter().map(|value| (value / step).round() as i16).collect();
        let (off, _) = lengths(values, codes.iter().map(|code| step * f32::from(*code)));
        let (length, _) = lengths(values, std::iter::repeat_n(0.0, values.len()));
        Self { codes, step, off, length }
    }

    /// The greatest dot product that a row of such whole numbers can have with the probe. (No number where one of them has
    /// none: it is beyond nothing.)
    pub(super) fn most(&self, codes: &[i8], row: CoarseRow) -> f32 {
        let whole = fine_dot(codes, &self.codes) as f32 * row.step * self.step;
        let beside = row.off * self.length + row.length * self.off;
        whole + beside + ROUNDING * (1.0 + self.length * row.length)
    }
}

/// A step of which the greatest value has that many; 1 of nothing but zeros.
fn step(values: &[f32], steps: f32) -> f32 {
    let most = values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    if most > 0.0 { most / steps } else { 1.0 }
}

/// How far the values are from what is meant by them, and how long that is; rounded up.
fn lengths(values: &[f32], meant: impl Iterator<Item = f32>) -> (f32, f32) {
    let (mut off, mut length) = (0.0_f64, 0.0_f64);
    for (value, meant) in values.iter().zip(meant) {
        off += f64::from(value - meant).powi(2);
        length += f64::from(meant).powi(2);
    }
    let up = |square: f64| (square.sqrt() * (1.0 + 1e-6)) as f32;
    (up(off), up(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::dot;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_more_alike_than_its_bound(
            row in proptest::collection::vec(-1.0_f32..1.0, 1..600), seed in -1.0_f32..1.0, scale in 0.0_f32..2.0
        ) {
            let probe: Vec<f32> =
                row.iter().enumerate().map(|(n, value)| scale * (value + (n as f32 * seed).sin())).collect();
            let mut codes = vec![0; row.len()];
            let meaning = code(&row, &mut codes);
            let most = CoarseProbe::of(&probe).most(&codes, meaning);
            let exact = dot(&row, &probe);
            prop_assert!(exact <= most, "{exact} {most}");
            // And it is not far above: a fiftieth of the lengths.
            let length = |of: &[f32]| of.iter().map(|value| value * value).sum::<f32>().sqrt();
            prop_assert!(most - exact <= 0.05 * length(&row) * length(&probe) + 0.01, "{exact} {most}");
        }
    }

    #[test]
    fn what_is_no_number_is_never_left_out() {
        let mut codes = vec![0; 2];
        let meaning = code(&[f32::NAN, 1.0], &mut codes);
        assert!(CoarseProbe::of(&[1.0, 0.0]).most(&codes, meaning).is_nan());
        let meaning = code(&[0.0, 0.0], &mut codes);
        assert!(CoarseProbe::of(&[1.0, 0.0]).most(&codes, meaning) >= 0.0);
    }
}
