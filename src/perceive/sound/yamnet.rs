//! YAMNet: which of AudioSet's classes a second of sound is (Plakal, Ellis 2020; Gemmeke et al. 2017 for the classes).

use std::path::Path;

use ndarray::{Array4, ArrayView4};

use super::spectrogram::{BANDS, FRAMES};
use super::{SoundClassifier, SoundError};
use crate::runtime::onnx::{self, Device, INTRA_OP_THREADS, Session};

/// A network `[N,1,96,64]` → `[N,C]` probabilities, whose classes are written in it under `classes`, one a line.
pub struct YamNet {
    session: Session,
    input: String,
    output: String,
    classes: Vec<String>,
}

impl YamNet {
    /// Opens the model and runs it once on nothing, so that a file of another kind is refused at once. It always runs on the
    /// CPU: its steps are too small for a GPU.
    ///
    /// # Errors
    /// When the file is absent, or another model.
    pub fn open(path: &Path) -> Result<Self, SoundError> {
        let session = onnx::open(path, INTRA_OP_THREADS, Device::Cpu)?;
        let (inputs, outputs) = (session.inputs(), session.outputs());
        let ([(input, _)], [(output, _)]) = (inputs.as_slice(), outputs.as_slice()) else {
            let reason = format!("it has {} inputs and {} outputs", inputs.len(), outputs.len());
            return Err(misfit(&session, reason));
        };
        let (input, output) = (input.clone(), output.clone());
        let named = session.metadata("classes");
        let named = named.ok_or_else(|| misfit(&session, "it names no classes".to_owned()))?;
        let classes: Vec<String> = named.lines().map(str::to_owned).collect();
        let mut network = Self { session, input, output, classes };
        network.classify(&[0.0; FRAMES * BANDS])?;
        Ok(network)
    }
}

fn misfit(session: &Session, reason: String) -> SoundError {
    SoundError::Model { model: session.model().to_owned(), reason }
}

impl SoundClassifier for YamNet {
    fn classify(&mut self, patch: &[f32]) -> Result<Vec<f32>, SoundError> {
        let shape = (1, 1, FRAMES, BANDS);
        let tensor = match ArrayView4::from_shape(shape, patch) {
            Ok(view) => view.to_owned(),
            Err(_) => Array4::zeros(shape),
        };
        let [output] =
            self.session.run(&[(&self.input, tensor.view().into())], [self.output.as_str()])?;
        let (found, wanted) = (output.shape().to_vec(), self.classes.len());
        if found != [1, wanted] {
            let reason = format!("its output is {found:?} instead of [1,{wanted}]");
            return Err(misfit(&self.session, reason));
        }
        Ok(output.into_iter().map(|p| if p.is_finite() { p } else { 0.0 }).collect())
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn name(&self) -> &str {
        self.session.model()
    }
}
