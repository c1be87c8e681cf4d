//! Voice activity: how likely each 32 ms of sound is speech.

use std::path::Path;

use ndarray::{Array2, Array3, arr0};
use serde::{Deserialize, Serialize};

use super::PerceiveError;
use crate::ids::ModelHash;
use crate::media::SAMPLE_RATE;
use crate::runtime::checkpoint::file_hash;
use crate::runtime::onnx::{self, Device, RuntimeError, Session, Tensor};

/// Samples judged at a time.
pub const FRAME: usize = 512;
/// Samples before them that the network sees too.
const CONTEXT: usize = 64;
const HIDDEN: usize = 128;

/// What the network remembers of one microphone's past; part of a clip's checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VadState {
    /// The newest samples, `[64]`.
    context: Vec<f32>,
    /// Recurrent state, `[2, 1, 128]`.
    hidden: Vec<f32>,
}

impl Default for VadState {
    fn default() -> Self {
        Self { context: vec![0.0; CONTEXT], hidden: vec![0.0; 2 * HIDDEN] }
    }
}

/// Judges whether sound is speech. The past lies in a [`VadState`], so that one model serves any number
/// of microphones and a state can be kept.
pub trait VoiceActivity: Send {
    /// Probability (0–1) that the next [`FRAME`] samples are speech; moves `state` on.
    ///
    /// # Errors
    /// When the model fails or the state is another model's.
    fn probability(&mut self, state: &mut VadState, frame: &[f32]) -> Result<f32, PerceiveError>;

    /// Which weights.
    fn hash(&self) -> ModelHash;

    /// Name of the network.
    fn name(&self) -> &str;
}

/// Silero VAD, version 5 and 6 (`silero_vad.onnx`).
pub struct SileroVad {
    session: Session,
    hash: ModelHash,
    rate: i64,
}

impl SileroVad {
    /// Opens the model. It always runs on the CPU: its steps are too small for a GPU.
    ///
    /// # Errors
    /// When the file is absent or no such model.
    pub fn open(path: &Path) -> Result<Self, PerceiveError> {
        let session = onnx::open(path, 1, Device::Cpu)?;
        let names: Vec<String> = session.inputs().into_iter().map(|(name, _)| name).collect();
        if names != ["input", "state", "sr"] {
            return Err(RuntimeError::Open {
                path: path.to_owned(),
                reason: format!("a Silero VAD has the inputs input, state, sr; this one {names:?}"),
            }
            .into());
        }
        Ok(Self { session, hash: file_hash(path)?, rate: i64::from(SAMPLE_RATE) })
    }
}

impl VoiceActivity for SileroVad {
    fn probability(&mut self, state: &mut VadState, frame: &[f32]) -> Result<f32, PerceiveError> {
        let fail = |reason: String| PerceiveError::State { reason };
        let mut samples = Vec::with_capacity(CONTEXT + FRAME);
        samples.extend_from_slice(&state.context);
        samples.extend_from_slice(frame);
        let input = Array2::from_shape_vec((1, CONTEXT + FRAME), samples)
            .map_err(|_| fail(format!("a frame of {} samples instead of {FRAME}", frame.len())))?;
        let hidden =
            Array3::from_shape_vec((2, 1, HIDDEN), state.hidden.clone()).map_err(|_| {
                fail(format!("{} state values instead of {}", state.hidden.len(), 2 * HIDDEN))
            })?;
        let rate = arr0(self.rate);
        let [output, next] = self.session.run(
            &[
                ("input", Tensor::from(input.view())),
                ("state", Tensor::from(hidden.view())),
                ("sr", Tensor::from(rate.view())),
            ],
            ["output", "stateN"],
        )?;
        let probability = output.first().copied().filter(|p| p.is_finite()).unwrap_or(0.0);
        if next.len() != 2 * HIDDEN {
            return Err(RuntimeError::Output {
                model: self.session.model().to_owned(),
                output: "stateN".to_owned(),
                reason: format!("{} values instead of {}", next.len(), 2 * HIDDEN),
            }
            .into());
        }
        state.hidden = next.into_iter().collect();
        state.context.clear();
        state.context.extend_from_slice(&frame[FRAME - CONTEXT..]);
        Ok(probability)
    }

    fn hash(&self) -> ModelHash {
        self.hash
    }

    fn name(&self) -> &str {
        "silero"
    }
}
