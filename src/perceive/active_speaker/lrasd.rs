//! LR-ASD: Liao et al., "LR-ASD: Lightweight and Robust Network for Active Speaker Detection" (IJCV 2025), the
//! successor of Light-ASD ("A Light Weight Model for Active Speaker Detection", CVPR 2023), in libtorch.

use std::path::Path;

use super::layout;
use super::mfcc::Mfcc;
use super::network::{AUDIO_PER_CROP, Network, SIDE};
use super::{ActiveSpeaker, ActiveSpeakerError, Crop};
use crate::runtime::checkpoint::{self, CheckpointError};
use crate::runtime::crash_journal;
use crate::runtime::onnx::Device;
use crate::runtime::torch;

/// The published network.
pub struct LrAsd {
    mfcc: Mfcc,
    network: Network,
    native: crash_journal::Network,
}

impl LrAsd {
    /// Loads a published checkpoint.
    ///
    /// # Errors
    /// [`ActiveSpeakerError::Checkpoint`] naming every missing or misshapen tensor.
    pub fn open(path: &Path, device: Device) -> Result<Self, ActiveSpeakerError> {
        let weights = checkpoint::read(path, None)?;
        layout::check(&weights).map_err(|CheckpointError { reason, .. }| CheckpointError {
            path: path.to_owned(),
            reason,
        })?;
        let network = Network::new(&weights, torch::device(device)).map_err(refused)?;
        Ok(Self { mfcc: Mfcc::new(), network, native: crash_journal::Network::of_file(path) })
    }
}

impl ActiveSpeaker for LrAsd {
    fn score(&mut self, sound: &[f32], crops: &[Crop]) -> Result<Vec<f32>, ActiveSpeakerError> {
        let mut heard = sound.to_vec();
        heard.resize(Mfcc::samples(AUDIO_PER_CROP * crops.len()), 0.0);
        let mut pixels = Vec::with_capacity(crops.len() * SIDE * SIDE);
        for crop in crops {
            pixels.extend_from_slice(&crop.pixels);
        }
        let heard = self.mfcc.compute(&heard);
        let _runs = self.native.runs();
        self.network.forward(&heard, &pixels).map_err(refused)
    }

    fn name(&self) -> &str {
        "lrasd"
    }
}

fn refused(error: tch::TchError) -> ActiveSpeakerError {
    ActiveSpeakerError::Torch { model: "LR-ASD", reason: torch::reason(&error) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::perceive::active_speaker::golden::{Golden, crops, lrasd, sound};

    #[test]
    fn scores_are_those_of_the_reference() {
        let golden = Golden::load();
        let Some(mut network) = lrasd() else { return };
        let frames = golden.frames();
        let scores = network.score(&sound(frames), &crops(frames)).unwrap();
        assert_eq!(scores.len(), frames);
        for (score, wanted) in scores.iter().zip(&golden.log_odds) {
            assert!((score - wanted).abs() < 2e-3, "{scores:?} instead of {:?}", golden.log_odds);
        }
        assert_eq!(network.score(&sound(frames), &crops(frames)).unwrap(), scores, "bit for bit");
    }

    #[test]
    fn sound_that_ends_too_early_is_silence_and_no_crops_give_an_error() {
        let Some(mut network) = lrasd() else { return };
        assert_eq!(network.score(&[], &crops(3)).unwrap().len(), 3);
        assert!(network.score(&[], &[]).is_err());
    }

    #[test]
    fn another_networks_checkpoint_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.model");
        std::fs::write(&path, b"PK\x03\x04").unwrap();
        let error = LrAsd::open(&path, Device::Cpu).err().unwrap().to_string();
        assert!(error.contains("x.model"), "{error}");
    }
}
