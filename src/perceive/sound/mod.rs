//! Sounds that mean something: a door bell, a knock, an alarm, a dog.
//!
//! A microphone's stage has a [`SoundListener`]. Every half second of sound becomes a patch of a mel spectrogram
//! ([`spectrogram`]); a [`SoundClassifier`] gives the probability of each of its classes; what the configuration calls by one name
//! is an event from the first patch that is sure enough to the last (`events`). A sound that is over within one patch is none:
//! a hammer is taken for a cough.

mod events;
mod spectrogram;
mod yamnet;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod golden;

pub use events::{SoundListener, SoundListenerState};
pub use yamnet::YamNet;

use crate::runtime::onnx::RuntimeError;

/// What goes wrong while sounds are told apart.
#[derive(Debug, thiserror::Error)]
pub enum SoundError {
    /// A model could not be opened or run.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A model file is of another kind than its job demands.
    #[error("using {model} as sound classifier: {reason}; run `engramd models verify`")]
    Model {
        /// File name of the model.
        model: String,
        /// Expected and found.
        reason: String,
    },
    /// The configuration names a class that the model does not have.
    #[error(
        "`sounds.event` {event:?}: {model} knows no class {class:?}; name one of AudioSet's as it stands in the model's `classes`"
    )]
    Class {
        /// File name of the model.
        model: String,
        /// The event's name.
        event: String,
        /// The class.
        class: String,
    },
}

/// Tells what a patch of sound is.
pub trait SoundClassifier: Send {
    /// Probability (0–1) of each class, in the order of [`SoundClassifier::classes`], of a patch `[96, 64]`: 96 frames of 10 ms,
    /// row = frame.
    ///
    /// # Errors
    /// When the model cannot run or gives outputs of unexpected shape.
    fn classify(&mut self, patch: &[f32]) -> Result<Vec<f32>, SoundError>;

    /// What its classes are called.
    fn classes(&self) -> &[String];

    /// File name of the model.
    fn name(&self) -> &str;
}
