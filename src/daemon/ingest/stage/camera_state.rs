//! What a camera's stage carries from frame to frame.

use serde::{Deserialize, Serialize};

use super::detection_schedule::SceneReports;
use crate::daemon::ingest::work::perceiver_set::PerceiverSet;
use crate::daemon::ingest::work::registry::PictureStates;
use crate::ids::SourceId;
use crate::perceive::active_speaker::MouthCutter;
use crate::perceive::camera_motion::CameraMotion;
use crate::perceive::face::{BackgroundModel, CutDetector};

/// Touched by the stage's thread alone; copied into the checkpoint at each boundary.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::daemon::ingest) struct CameraState {
    /// What each kind of perception follows.
    pub(super) pictures: PictureStates,
    pub(super) cuts: CutDetector,
    /// How the camera moves.
    pub(super) motion: CameraMotion,
    /// What it sees while nobody is in view.
    pub(super) background: BackgroundModel,
    pub(super) reports: SceneReports,
    pub(super) mouths: MouthCutter,
}

impl CameraState {
    pub(in crate::daemon::ingest) fn new(set: &PerceiverSet, source: &SourceId) -> Self {
        Self {
            pictures: PictureStates::begin(set, source),
            cuts: CutDetector::default(),
            motion: CameraMotion::default(),
            background: BackgroundModel::default(),
            reports: SceneReports::default(),
            mouths: MouthCutter::default(),
        }
    }

    /// What the stage said of its last frames.
    pub(in crate::daemon::ingest) fn reports(&self) -> &SceneReports {
        &self.reports
    }
}
