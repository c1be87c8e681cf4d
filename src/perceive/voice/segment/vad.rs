//! Voice activity: how likely each 32 ms of sound is speech.

use std::path::Path;

use ndarray::{Array2, Array3, arr0};
use serde::{Deserialize, Serialize};

use crate::ids::ModelHash;
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::VoiceError;
use crate::runtime::checkpoint::file_hash;
use crate::runtime::onnx;
use crate::runtime::onnx::{Device, RuntimeError, Session, Tensor};

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
    fn probability(&mut self, state: &mut VadState, frame: &[f32]) -> Result<f32, VoiceError>;

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
    pub fn open(path: &Path) -> Result<Self, VoiceError> {
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
    fn probability(&mut self, state: &mut VadState, frame: &[f32]) -> Result<f32, VoiceError> {
        let fail = |reason: String| VoiceError::State { reason };
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::VoicePerception;
    use crate::ids::SourceId;
    use crate::media::Block;
    use crate::perceive::voice::bench::{model, shared, sound, turns_of};
    use crate::perceive::voice::{RawTurn, TurnSegmenter};
    use crate::time::Timestamp;

    fn silero() -> Option<SileroVad> {
        Some(SileroVad::open(&model("silero_vad.onnx")?).unwrap())
    }

    #[test]
    fn a_state_kept_and_taken_up_gives_the_same_probabilities() {
        let (Some(mut vad), Some(file)) = (silero(), shared("recordings/audio/beckett.wav")) else {
            return;
        };
        let sound = sound(&file);
        let mut state = VadState::default();
        let mut whole = Vec::new();
        let mut kept = None;
        for (n, frame) in sound.chunks_exact(FRAME).enumerate() {
            if n == 100 {
                kept = Some(serde_json::to_string(&state).unwrap());
            }
            whole.push(vad.probability(&mut state, frame).unwrap());
        }
        assert!(whole.iter().any(|p| *p > 0.9));
        let mut state: VadState = serde_json::from_str(&kept.unwrap()).unwrap();
        for (n, frame) in sound.chunks_exact(FRAME).enumerate().skip(100) {
            assert_eq!(vad.probability(&mut state, frame).unwrap(), whole[n]);
        }
        assert!(vad.probability(&mut state, &[0.0; 10]).is_err());
        let mut alien: VadState = serde_json::from_str(r#"{"context":[],"hidden":[1.0]}"#).unwrap();
        assert!(vad.probability(&mut alien, &[0.0; FRAME]).is_err());
    }

    fn feed(finder: &mut TurnSegmenter, sound: &[f32], from: usize, size: usize) -> Vec<RawTurn> {
        let mut turns = Vec::new();
        for (n, samples) in sound.chunks(size).enumerate() {
            let at = Timestamp::from_nanos((from + n * size) as i64 * 62_500);
            let block = Block { source: SourceId::new("mic"), at, samples: samples.into() };
            turns.extend(finder.push(&block).unwrap());
        }
        turns
    }

    #[test]
    fn real_turns_do_not_depend_on_blocks_or_interruptions() {
        let Some(file) = shared("recordings/audio/pyannote_sample_2spk/sample.wav") else { return };
        let sound = sound(&file);
        let settings = VoicePerception::default();
        let Some(whole) = turns_of(&sound, &settings) else { return };
        assert!(whole.len() > 2);
        let finder = || {
            let vad = Box::new(silero().unwrap());
            TurnSegmenter::new(SourceId::new("mic"), settings.clone(), vad)
        };
        let mut other = finder();
        let mut turns = feed(&mut other, &sound, 0, 777);
        turns.extend(other.flush().unwrap());
        assert_eq!(turns, whole);
        let cut = 150_001;
        let mut first = finder();
        let mut turns = feed(&mut first, &sound[..cut], 0, 1600);
        let state = serde_json::from_str(&serde_json::to_string(first.state()).unwrap()).unwrap();
        let mut second =
            TurnSegmenter::resume(settings.clone(), Box::new(silero().unwrap()), state);
        turns.extend(feed(&mut second, &sound[cut..], cut, 1600));
        turns.extend(second.flush().unwrap());
        assert_eq!(turns, whole);
    }

    #[test]
    fn samples_that_are_no_numbers_do_not_deafen_it() {
        let Some(vad) = silero() else { return };
        let Some(file) = shared("recordings/audio/beckett.wav") else { return };
        let mut finder =
            TurnSegmenter::new(SourceId::new("mic"), VoicePerception::default(), Box::new(vad));
        feed(&mut finder, &[f32::NAN, f32::INFINITY, 1e30, -1e30].repeat(4000), 0, 1600);
        let sound = sound(&file);
        let mut turns = feed(&mut finder, &sound, 16_000, 1600);
        turns.extend(finder.flush().unwrap());
        assert!(turns.iter().map(|turn| turn.speech_secs).sum::<f64>() > 3.0);
        assert!(turns.iter().all(|turn| turn.sound.iter().all(|v| v.abs() <= 1.0)));
    }
}
