//! Layers of a libtorch network out of a checkpoint: tensors by key, batch norms folded into the weights before them.

use tch::{Device, TchError, Tensor};

use super::checkpoint::Weights;

/// Where weights come from and go to.
pub struct Source<'a> {
    /// The checkpoint's tensors.
    pub weights: &'a Weights,
    /// Where they are computed with.
    pub device: Device,
    /// The batch norms' guard against a zero variance.
    pub epsilon: f64,
}

impl Source<'_> {
    /// Whether the checkpoint has that tensor.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.weights.contains_key(key)
    }

    /// Values, row-major, and shape of a tensor.
    ///
    /// # Errors
    /// When there is none of that key.
    pub fn get(&self, key: &str) -> Result<(&[f32], Vec<i64>), TchError> {
        let weight = self
            .weights
            .get(key)
            .ok_or_else(|| TchError::Torch(format!("no tensor {key} in the checkpoint")))?;
        Ok((&weight.values, weight.shape.iter().map(|n| *n as i64).collect()))
    }

    /// A tensor as it is.
    ///
    /// # Errors
    /// As [`Self::get`], and libtorch's own.
    pub fn plain(&self, key: &str) -> Result<Tensor, TchError> {
        let (values, shape) = self.get(key)?;
        Tensor::f_from_slice(values)?.f_view(shape.as_slice())?.f_to(self.device)
    }

    /// Folds the batch norm that follows a layer into its weights, output channels first; `bias`: the layer's own, none
    /// is zero. Gives back the bias of both together.
    ///
    /// # Errors
    /// When a tensor of the norm is missing.
    pub fn fold(
        &self,
        weight: &mut [f32],
        bias: Option<&[f32]>,
        norm: &str,
    ) -> Result<Vec<f32>, TchError> {
        let part = |part: &str| self.get(&format!("{norm}.{part}")).map(|(values, _)| values);
        let (gamma, beta) = (part("weight")?, part("bias")?);
        let (mean, variance) = (part("running_mean")?, part("running_var")?);
        let mut folded = Vec::with_capacity(gamma.len());
        let fan_in = weight.len() / gamma.len().max(1);
        for (channel, row) in weight.chunks_exact_mut(fan_in.max(1)).enumerate() {
            let scale =
                f64::from(gamma[channel]) / (f64::from(variance[channel]) + self.epsilon).sqrt();
            for value in row {
                *value = (f64::from(*value) * scale) as f32;
            }
            let before = bias.map_or(0.0, |bias| f64::from(bias[channel]));
            let shift = (before - f64::from(mean[channel])) * scale + f64::from(beta[channel]);
            folded.push(shift as f32);
        }
        Ok(folded)
    }
}

/// The same tensor `[N, C, H, W]`, its channels innermost in memory.
///
/// # Errors
/// libtorch's own.
pub fn channels_last(x: &Tensor) -> Result<Tensor, TchError> {
    x.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])
}
