//! What goes wrong in perception; each fault costs one frame or one turn, never the stage.

use crate::capture::CaptureError;
use crate::models::ModelError;
use crate::perceive::{action, active_speaker, face, object, sound, speech, text, voice};

/// Any fault of perception.
#[derive(Debug, thiserror::Error)]
pub enum PerceiveError {
    /// Looking for faces.
    #[error(transparent)]
    Face(#[from] face::FaceError),
    /// Looking for things.
    #[error(transparent)]
    Object(#[from] object::ObjectError),
    /// Telling the joints of bodies.
    #[error(transparent)]
    Action(#[from] action::ActionError),
    /// Looking for words in view.
    #[error(transparent)]
    Text(#[from] text::TextError),
    /// Listening for voices.
    #[error(transparent)]
    Voice(#[from] voice::VoiceError),
    /// Telling sounds apart.
    #[error(transparent)]
    Sound(#[from] sound::SoundError),
    /// Comparing mouths with sound.
    #[error(transparent)]
    ActiveSpeaker(#[from] active_speaker::ActiveSpeakerError),
    /// Recognising words.
    #[error(transparent)]
    Speech(#[from] speech::TranscribeError),
    /// Decoding a picture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A picture that cannot be kept as JPEG.
    #[error("keeping a {width}x{height} picture as JPEG: {why}; lower the camera's resolution")]
    Picture {
        /// Width, px.
        width: u32,
        /// Height, px.
        height: u32,
        /// What the encoder said.
        why: String,
    },
    /// A model is missing or wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The system gave no thread.
    #[error("starting a perception thread: {0}; raise the service's TasksMax or free memory")]
    Thread(#[source] std::io::Error),
    /// A job did not come back.
    #[error(
        "the job `{job}` did not come back{} within {secs:.0} s and was given up",
        network.as_ref().map(|network| format!(" from {network}")).unwrap_or_default()
    )]
    Hung {
        /// Its kind.
        job: &'static str,
        /// The network that ran.
        network: Option<String>,
        /// Its deadline.
        secs: f64,
    },
    /// A worker died over this job.
    #[error("a perception worker ended in a panic over this frame or turn; please report it")]
    WorkerLost,
}
