//! Things: find, name, follow.
//!
//! By the model set's [`NanoDet`], or by what the configuration names: any YOLO-style ONNX file ([`Yolo`]) with its labels
//! ([`Labels`]).
//! A worker's [`ObjectDetector`] finds the things of one picture; in time order and one camera at a time
//! [`ObjectTracker`] joins those of consecutive frames into tracks, by the tracker that faces have
//! ([`Tracker`](super::track::Tracker)).

mod decode;
mod detect;
mod labels;
mod letterbox;
mod nanodet;
mod perceptor;
mod track;
mod turned;
mod yolo;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod golden;

use std::path::PathBuf;

pub use detect::{Detection, ObjectDetector, WEAK_SHARE};
#[cfg(test)]
pub(crate) use labels::LABEL_SEEDS;
pub use labels::Labels;
pub use nanodet::NanoDet;
pub use perceptor::{Followed, Joints, ObjectModel, ObjectNetwork, Seen, Sought, Things};
pub use track::{ObjectHistory, ObjectTracker};
pub use yolo::Yolo;

use crate::runtime::onnx::RuntimeError;

/// What goes wrong while things are looked for.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The model could not be opened or run.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The model is none that is understood.
    #[error(
        "using {model} as object detector: {reason}; export it with one input [1,3,height,width] and one output \
         [1,N,5+C] (YOLOv5, v7), [1,4+C,N] (YOLOv8, v9, v11) or [1,N,6] (end to end), C labels"
    )]
    Model {
        /// File name of the model.
        model: String,
        /// Expected and found.
        reason: String,
    },
    /// Nothing tells what its classes are called.
    #[error(
        "reading the labels of the object detector from {}: {reason}; `objects.labels` names a file with one label a line, or YAML with `names:`",
        path.display()
    )]
    Labels {
        /// The file.
        path: PathBuf,
        /// Why it cannot be used.
        reason: String,
    },
}
