//! Faces: detect, align, embed, judge, follow.
//!
//! The way of a picture: a worker's [`FaceAnalyser`] finds the faces ([`FaceDetector`]), cuts an upright
//! chip of each ([`align`]), judges how well it is seen ([`quality`]) and embeds it ([`FaceEmbedder`]);
//! then, in time order and one camera at a time, [`CutDetector`] tells hard cuts and [`FaceTracker`]
//! (the [`Tracker`](super::track::Tracker) that things have, too) joins the faces of consecutive frames into tracks.
//! Workers may run in any number and order: nothing before the tracker depends on another frame, but for the
//! [`Backdrop`] of some frames before: while nobody is in view, only what changed is searched.

pub mod align;
mod analyse;
mod backdrop;
mod cut;
mod detect;
mod embed;
mod input;
mod mtcnn;
pub mod picture;
mod portrait;
pub mod quality;
mod scrfd;
mod still;
mod track;
mod ultraface;
mod yunet;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod golden;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod material;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod measure;

pub use analyse::{DetectorFiles, EmbedderFile, FaceAnalyser, FaceModels};
pub use backdrop::{Backdrop, Change};
pub use cut::{CutDetector, Thumbnail};
pub use detect::{Detection, FaceDetector};
pub use embed::{EmbedderKind, FaceEmbedder, OnnxEmbedder, RawEmbedding};
pub use mtcnn::Mtcnn;
pub use scrfd::Scrfd;
pub use track::{FaceHistory, FaceTracker};
pub use ultraface::UltraFace;
pub use yunet::YuNet;

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
