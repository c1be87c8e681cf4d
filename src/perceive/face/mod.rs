//! Faces: detect, align, embed, judge, follow.
//!
//! The way of a picture: a worker's [`FaceAnalyser`] finds the faces ([`FaceDetector`]), cuts an upright
//! chip of each ([`align`](embed::align)), judges how well it is seen ([`quality`](embed::quality)) and embeds it ([`FaceEmbedder`]);
//! then, in time order and one camera at a time, [`CutDetector`] tells hard cuts and [`FaceTracker`]
//! (the [`Tracker`](super::track::Tracker) that things have, too) joins the faces of consecutive frames into tracks.
//! Workers may run in any number and order: nothing before the tracker depends on another frame, but for the
//! [`BackgroundModel`] of some frames before: while nobody is in view, only what changed is searched.

mod analyse;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod bench;
mod detect;
pub mod embed;
mod enrolment_photo;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod fixtures;
mod liveness;
mod perceptor;
pub mod picture;
mod scene;
mod track;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod golden;

pub use analyse::{DetectorFiles, EmbedderFile, FaceAnalyser, FaceModels};
pub use detect::mtcnn::Mtcnn;
pub use detect::scrfd::Scrfd;
pub use detect::ultraface::UltraFace;
pub use detect::yunet::YuNet;
pub use detect::{Detection, FaceDetector};
pub use embed::{EmbedderKind, FaceEmbedder, OnnxEmbedder, RawEmbedding};
pub use perceptor::{FaceDetectionMode, FaceFinding, Faces};
pub use scene::background::{BackgroundModel, MotionRoi};
pub use scene::shot_boundary::{CutDetector, Thumbnail};
pub use track::{FaceHistory, FaceTracker};

use crate::runtime::onnx::RuntimeError;

/// What goes wrong while faces are looked for.
#[derive(Debug, thiserror::Error)]
pub enum FaceError {
    /// A model could not be opened or run.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A model file is of another kind than its job demands.
    #[error(
        "using {model} as {job}: {reason}; name a model made for this job, or run `engramd models verify`"
    )]
    Model {
        /// File name of the model.
        model: String,
        /// What it was to do.
        job: &'static str,
        /// Expected and found.
        reason: String,
    },
    /// A face chip could not be written as JPEG.
    #[error("encoding a face chip as JPEG: {0}; this is a fault of engram, please report it")]
    Encode(#[from] image::ImageError),
}
