//! Which tensors an LR-ASD checkpoint holds.

use std::collections::BTreeMap;

use crate::runtime::checkpoint::{self, CheckpointError, Weights};

/// Channels after the three blocks of an encoder.
const CHANNELS: [usize; 4] = [1, 32, 64, 128];
/// Units of the GRU, each direction.
const UNITS: usize = 64;
/// The tensors of one direction of the GRU, as libtorch takes them.
pub const GRU_PARTS: [&str; 4] = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"];

/// Key and shape of every tensor that is computed with.
#[must_use]
pub fn tensors() -> BTreeMap<String, Vec<usize>> {
    let mut list = Listing(BTreeMap::new());
    for block in 1..=3 {
        let (input, out) = (CHANNELS[block - 1], CHANNELS[block]);
        let half = out / 2;
        for (encoder, kernel, spatial) in
            [("visualEncoder", "s", true), ("audioEncoder", "m", false)]
        {
            let name = format!("model.{encoder}.block{block}");
            let over = |k: usize| if spatial { vec![1, k, k] } else { vec![k, 1] };
            let time = |k: usize| if spatial { vec![k, 1, 1] } else { vec![1, k] };
            list.conv(&name, kernel, 1, half, input, &over(5));
            list.conv(&name, kernel, 2, out, half, &over(3));
            list.conv(&name, "t", 1, out, out, &time(5));
            list.conv(&name, "t", 2, out, out, &time(3));
        }
    }
    for (name, width) in [("model.fusion", 4 * UNITS), ("model.detector.attention", 2 * UNITS)] {
        list.push(format!("{name}.attention.weight"), &[width, width, 1]);
        list.norm(&format!("{name}.bn"), width);
    }
    for direction in ["forward", "backward"] {
        let shapes =
            [vec![3 * UNITS, 4 * UNITS], vec![3 * UNITS, UNITS], vec![3 * UNITS], vec![3 * UNITS]];
        for (part, shape) in GRU_PARTS.into_iter().zip(shapes) {
            list.push(format!("model.detector.gru_{direction}.{part}"), &shape);
        }
    }
    list.push("lossAV.FC.weight".to_owned(), &[2, 2 * UNITS]);
    list.push("lossAV.FC.bias".to_owned(), &[2]);
    list.0
}

struct Listing(BTreeMap<String, Vec<usize>>);

impl Listing {
    fn push(&mut self, key: String, shape: &[usize]) {
        self.0.insert(key, shape.to_vec());
    }

    fn norm(&mut self, name: &str, channels: usize) {
        for part in ["weight", "bias", "running_mean", "running_var"] {
            self.push(format!("{name}.{part}"), &[channels]);
        }
    }

    fn conv(
        &mut self,
        name: &str,
        kind: &str,
        n: usize,
        out: usize,
        input: usize,
        kernel: &[usize],
    ) {
        let shape = [&[out, input], kernel].concat();
        self.push(format!("{name}.{kind}_{n}.weight"), &shape);
        self.norm(&format!("{name}.{kind}_norm_{n}"), out);
    }
}

/// Whether the weights are those of the network. Counters and the training's second head may lie beside them.
///
/// # Errors
/// Names every missing and misshapen tensor.
pub fn check(weights: &Weights) -> Result<(), CheckpointError> {
    let wanted = tensors().into_iter().collect();
    checkpoint::fitting("LR-ASD", &checkpoint::misfits(weights, &wanted))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::runtime::checkpoint::Weight;

    #[test]
    fn the_network_has_the_published_number_of_parameters() {
        let trained: usize = tensors()
            .iter()
            .filter(|(key, _)| !key.contains("running_"))
            .map(|(_, shape)| shape.iter().product::<usize>())
            .sum();
        // 0.84 M in the paper.
        assert_eq!(trained, 836_898);
    }

    #[test]
    fn missing_and_misshapen_tensors_are_named() {
        let fill = |(key, shape): (String, Vec<usize>)| {
            let values = vec![0.5; shape.iter().product()];
            (key, Weight { shape, values })
        };
        let mut weights: Weights = tensors().into_iter().map(fill).collect();
        assert!(check(&weights).is_ok());
        weights.remove("model.fusion.bn.bias");
        weights.get_mut("lossAV.FC.bias").unwrap().shape = vec![3];
        let error = check(&weights).unwrap_err().to_string();
        assert!(error.contains("model.fusion.bn.bias [256] is missing"), "{error}");
        assert!(error.contains("[3] instead of [2]"), "{error}");
    }
}
