//! What a model is for, and what sets of models are called.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::config::ModelSet;

/// What a model does, in the field's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Picture → boxes and landmarks of faces.
    FaceDetector,
    /// Aligned face → embedding.
    FaceEmbedder,
    /// Sound → probability of speech.
    VoiceActivity,
    /// Speech → who of a few unknown speakers speaks when, at once too.
    SpeakerSegmentation,
    /// Speech → embedding of the voice.
    SpeakerEmbedder,
    /// Sentence → embedding.
    TextEmbedder,
    /// Face crops and sound → who of them speaks.
    ActiveSpeaker,
    /// Speech → words.
    Transcriber,
    /// Picture → boxes and classes of things.
    ObjectDetector,
    /// Body → where its joints are.
    PoseEstimator,
    /// Picture → where lines of text are.
    TextDetector,
    /// Line of text → what it says.
    TextRecognizer,
    /// Sound → what it is of.
    SoundClassifier,
    /// Sentence → words, their tags, and which hangs on which.
    Parser,
    /// Word → what it means to other words.
    Thesaurus,
}

impl Job {
    /// Every job, in the order of the data.
    pub const ALL: [Self; 15] = [
        Self::FaceDetector,
        Self::FaceEmbedder,
        Self::VoiceActivity,
        Self::SpeakerSegmentation,
        Self::SpeakerEmbedder,
        Self::TextEmbedder,
        Self::ActiveSpeaker,
        Self::Transcriber,
        Self::ObjectDetector,
        Self::PoseEstimator,
        Self::TextDetector,
        Self::TextRecognizer,
        Self::SoundClassifier,
        Self::Parser,
        Self::Thesaurus,
    ];

    /// Whether its outputs are compared, and so are of use only with [`Thresholds`](super::Thresholds).
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::FaceEmbedder | Self::SpeakerEmbedder)
    }

    /// Its name in the manifest.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FaceDetector => "face_detector",
            Self::FaceEmbedder => "face_embedder",
            Self::VoiceActivity => "voice_activity",
            Self::SpeakerSegmentation => "speaker_segmentation",
            Self::SpeakerEmbedder => "speaker_embedder",
            Self::TextEmbedder => "text_embedder",
            Self::ActiveSpeaker => "active_speaker",
            Self::Transcriber => "transcriber",
            Self::ObjectDetector => "object_detector",
            Self::PoseEstimator => "pose_estimator",
            Self::TextDetector => "text_detector",
            Self::TextRecognizer => "text_recognizer",
            Self::SoundClassifier => "sound_classifier",
            Self::Parser => "parser",
            Self::Thesaurus => "thesaurus",
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str().replace('_', " "))
    }
}

/// The set's name in the configuration.
pub(crate) fn set_name(set: ModelSet) -> &'static str {
    match set {
        ModelSet::Open => "open",
        ModelSet::Edge => "edge",
        ModelSet::M3 => "m3",
    }
}
