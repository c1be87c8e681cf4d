//! Layers of a libtorch network out of a checkpoint: tensors by key, batch norms folded into the weights before them.

use tch::{Device, Kind, TchError, Tensor};

use super::checkpoint::Weights;

/// Where weights come from and go to.
pub struct Source<'a> {
    /// The checkpoint's tensors.
    pub weights: &'a Weights,
    /// Where they are computed with.
    pub device: Device,
    /// What convolutions compute with; plain tensors stay as they are.
    pub kind: Kind,
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

/// A recurrent network, as cuDNN numbers them.
#[derive(Clone, Copy, Debug)]
pub enum Recurrent {
    /// Long short-term memory.
    Lstm = 2,
    /// Gated recurrent unit.
    Gru = 3,
}

/// Lays a recurrent network's weights (four tensors per layer and direction, in libtorch's order) one after the other in
/// a GPU's memory, in place: cuDNN would do so at every call, and complain each time. On a CPU nothing is done.
///
/// # Errors
/// libtorch's own.
pub fn lay_flat(
    weights: &[Tensor],
    kind: Recurrent,
    layers: i64,
    bidirectional: bool,
) -> Result<(), TchError> {
    let [input_weights, hidden_weights, ..] = weights else { return Ok(()) };
    if input_weights.device() == Device::Cpu || !tch::Cuda::cudnn_is_available() {
        return Ok(());
    }
    let size = |tensor: &Tensor| tensor.size().last().copied().unwrap_or(0);
    let (input, hidden) = (size(input_weights), size(hidden_weights));
    tch::no_grad(|| {
        Tensor::f_internal_cudnn_rnn_flatten_weight(
            weights,
            4,
            input,
            kind as i64,
            hidden,
            0,
            layers,
            true,
            bidirectional,
        )
        .map(drop)
    })
}

/// The same tensor `[N, C, H, W]`, its channels innermost in memory.
///
/// # Errors
/// libtorch's own.
pub fn channels_last(x: &Tensor) -> Result<Tensor, TchError> {
    x.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])
}
