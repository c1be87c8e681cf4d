//! Which tensors an ERes2NetV2 checkpoint holds, in the order of its `state_dict`, and reproducible
//! pseudo-random values for them (a parity check needs no trained weights).

use std::collections::BTreeMap;

use crate::runtime::checkpoint;
use crate::runtime::checkpoint::{CheckpointError, Weight, Weights};

/// Length of the vector.
pub const DIMENSIONS: usize = 192;
/// Blocks of the four stages.
pub const BLOCKS: [usize; 4] = [3, 4, 6, 3];
/// Planes of the four stages.
pub const PLANES: [usize; 4] = [64, 128, 256, 512];
/// Channels after the stem.
pub const STEM: usize = 64;

/// Which published network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `iic/speech_eres2netv2_sv_zh-cn_16k-common`: base width 26, scale 2, expansion 2; 17.9 M parameters.
    W26S2Ep2,
    /// `iic/speech_eres2netv2w24s4ep4_sv_zh-cn_16k-common`: base width 24, scale 4, expansion 4; 53.5 M.
    W24S4Ep4,
}

impl Variant {
    /// The variant whose fourth stage the weights fit; the first where neither does.
    #[must_use]
    pub fn of(weights: &Weights) -> Self {
        match weights.get("seg_1.weight") {
            Some(weight) if weight.shape == [DIMENSIONS, 40_960] => Self::W24S4Ep4,
            _ => Self::W26S2Ep2,
        }
    }

    /// Groups into which a block splits its channels.
    #[must_use]
    pub const fn scale(self) -> usize {
        match self {
            Self::W26S2Ep2 => 2,
            Self::W24S4Ep4 => 4,
        }
    }

    /// Output channels per plane.
    #[must_use]
    pub const fn expansion(self) -> usize {
        match self {
            Self::W26S2Ep2 => 2,
            Self::W24S4Ep4 => 4,
        }
    }

    /// Channels of one group in a stage of `planes`.
    #[must_use]
    pub const fn width(self, planes: usize) -> usize {
        let base = match self {
            Self::W26S2Ep2 => 26,
            Self::W24S4Ep4 => 24,
        };
        planes * base / 64
    }

    /// Key and shape of every tensor, in the order of the published `state_dict`.
    #[must_use]
    pub fn tensors(self) -> Vec<(String, Vec<usize>)> {
        let mut list = Listing(Vec::new());
        list.conv("conv1", STEM, 1, 3);
        list.norm("bn1", STEM);
        let mut channels = STEM;
        for (stage, (blocks, planes)) in BLOCKS.into_iter().zip(PLANES).enumerate() {
            let (width, out) = (self.width(planes), planes * self.expansion());
            for block in 0..blocks {
                let prefix = format!("layer{}.{block}", stage + 1);
                list.block(self, &prefix, width, channels, out, stage >= 2);
                channels = out;
            }
        }
        let (third, last) = (PLANES[2] * self.expansion(), PLANES[3] * self.expansion());
        list.conv("layer3_ds", last, third, 3);
        list.attention("fuse34", last);
        list.push("seg_1.weight", &[DIMENSIONS, 2 * 10 * last]);
        list.push("seg_1.bias", &[DIMENSIONS]);
        list.0
    }
}

struct Listing(Vec<(String, Vec<usize>)>);

impl Listing {
    fn push(&mut self, key: &str, shape: &[usize]) {
        self.0.push((key.to_owned(), shape.to_vec()));
    }

    fn conv(&mut self, name: &str, out: usize, input: usize, side: usize) {
        self.push(&format!("{name}.weight"), &[out, input, side, side]);
    }

    fn norm(&mut self, name: &str, channels: usize) {
        for part in ["weight", "bias", "running_mean", "running_var"] {
            self.push(&format!("{name}.{part}"), &[channels]);
        }
        self.push(&format!("{name}.num_batches_tracked"), &[]);
    }

    fn attention(&mut self, name: &str, channels: usize) {
        let inner = channels / 4;
        for (conv, norm, out, input) in [(0, 1, inner, 2 * channels), (3, 4, channels, inner)] {
            self.conv(&format!("{name}.local_att.{conv}"), out, input, 1);
            self.push(&format!("{name}.local_att.{conv}.bias"), &[out]);
            self.norm(&format!("{name}.local_att.{norm}"), out);
        }
    }

    fn block(
        &mut self,
        variant: Variant,
        prefix: &str,
        width: usize,
        input: usize,
        out: usize,
        fused: bool,
    ) {
        let scale = variant.scale();
        self.conv(&format!("{prefix}.conv1"), width * scale, input, 1);
        self.norm(&format!("{prefix}.bn1"), width * scale);
        for group in 0..scale {
            self.conv(&format!("{prefix}.convs.{group}"), width, width, 3);
        }
        for group in 0..scale {
            self.norm(&format!("{prefix}.bns.{group}"), width);
        }
        if fused {
            for joint in 0..scale - 1 {
                self.attention(&format!("{prefix}.fuse_models.{joint}"), width);
            }
        }
        self.conv(&format!("{prefix}.conv3"), out, width * scale, 1);
        self.norm(&format!("{prefix}.bn3"), out);
        if input != out {
            self.conv(&format!("{prefix}.shortcut.0"), out, input, 1);
            self.norm(&format!("{prefix}.shortcut.1"), out);
        }
    }
}

/// Whether the weights are exactly those of the network.
///
/// # Errors
/// Names every missing, misshapen and extra tensor.
pub fn check(variant: Variant, weights: &Weights) -> Result<(), CheckpointError> {
    let wanted: BTreeMap<String, Vec<usize>> = variant.tensors().into_iter().collect();
    let mut faults = checkpoint::misfits(weights, &wanted);
    faults.extend(
        weights
            .keys()
            .filter(|key| !wanted.contains_key(*key))
            .map(|key| format!("{key} is extra")),
    );
    checkpoint::fitting(&format!("ERes2NetV2 {variant:?}"), &faults)
}

/// The golden vectors' weights: tensor k of the listing is filled from stream k of [`uniform`].
#[must_use]
pub fn generated(variant: Variant) -> Weights {
    let fill = |(index, (key, shape)): (usize, (String, Vec<usize>))| {
        let count: usize = shape.iter().product();
        let scale = |u: f64| {
            if shape.len() >= 2 {
                u * (3.0 / (count / shape[0]) as f64).sqrt()
            } else if key.ends_with("running_var") {
                1.0 + 0.5 * u
            } else if key.ends_with("running_mean") || key.ends_with(".bias") {
                0.1 * u
            } else {
                1.0 + 0.2 * u
            }
        };
        let values = if shape.is_empty() {
            vec![0.0]
        } else {
            (0..count as u64).map(|j| scale(uniform(index as u64, j)) as f32).collect()
        };
        (key, Weight { shape, values })
    };
    variant.tensors().into_iter().enumerate().map(fill).collect()
}

/// Value j of stream k, [-1, 1): the top 24 bits of splitmix64((k << 32) + j).
#[must_use]
pub fn uniform(stream: u64, j: u64) -> f64 {
    let mut z = (stream << 32).wrapping_add(j).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 40) as f64 / 8_388_608.0 - 1.0
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn both_variants_have_the_published_number_of_tensors_and_parameters() {
        for (variant, keys, parameters) in
            [(Variant::W26S2Ep2, 557, 17_859_632), (Variant::W24S4Ep4, 1001, 53_513_632)]
        {
            let tensors = variant.tensors();
            assert_eq!(tensors.len(), keys);
            let trained: usize = tensors
                .iter()
                .filter(|(key, _)| !key.contains("running_") && !key.contains("num_batches"))
                .map(|(_, shape)| shape.iter().product::<usize>())
                .sum();
            assert_eq!(trained, parameters);
        }
    }

    #[test]
    fn missing_extra_and_misshapen_tensors_are_named() {
        let mut weights = generated(Variant::W26S2Ep2);
        assert!(check(Variant::W26S2Ep2, &weights).is_ok());
        let stem = weights.remove("conv1.weight").unwrap();
        weights.insert("conv9.weight".to_owned(), stem);
        weights.get_mut("seg_1.bias").unwrap().shape = vec![193];
        let error = check(Variant::W26S2Ep2, &weights).unwrap_err().to_string();
        for part in [
            "conv1.weight [64, 1, 3, 3] is missing",
            "conv9.weight is extra",
            "[193] instead of [192]",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
}
