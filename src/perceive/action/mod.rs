//! What somebody does: whether he stands, walks, sits or lies, raises a hand, waves, points, falls.
//!
//! Where people are found as bodies, a [`PoseEstimator`] tells the key points of each ([`movenet`](MoveNet)). What one look says of
//! the body and of the arms is geometry, measured in lengths of the trunk ([`posture`]); what holds over time, and changes, is an
//! action of the body's track ([`ActionHistory`]). Of what is not seen (a body without legs, a crowd) nothing is claimed.

mod history;
mod lane;
mod movenet;
mod posture;
mod skeleton;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod golden;

pub use history::ActionHistory;
pub use movenet::MoveNet;

use image::RgbImage;

use crate::geometry::Rect;
use crate::percept::Skeleton;
use crate::runtime::onnx::RuntimeError;

/// What goes wrong while key points are told.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// A model could not be opened or run.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A model file is of another kind than its job demands.
    #[error("using {model} as pose estimator: {reason}; run `engramd models verify`")]
    Model {
        /// File name of the model.
        model: String,
        /// Expected and found.
        reason: String,
    },
}

/// Whether a body in that box lies, by its joints.
#[must_use]
pub fn lies(skeleton: &Skeleton, body: Rect) -> bool {
    matches!(posture::look(skeleton, body).posture, Some((posture::Posture::Lying, _)))
}

/// Tells where the joints of a body are.
pub trait PoseEstimator: Send {
    /// The key points of the body in that box, px of the picture; the same picture gives the same, bit for bit.
    ///
    /// # Errors
    /// When the model cannot run or gives outputs of unexpected shape.
    fn estimate(&mut self, picture: &RgbImage, body: Rect) -> Result<Skeleton, ActionError>;
}
