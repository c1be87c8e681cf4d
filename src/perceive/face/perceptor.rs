//! Faces as a kind of perception.

use std::sync::Arc;

use super::{BackgroundModel, FaceAnalyser, FaceTracker, Thumbnail};
use crate::config::Config;
use crate::perceive::PerceiveError;
use crate::perceive::perceptor::{Moment, PicturePerceptor, View};
use crate::percept::{FaceTrack, FrameFaces};
use crate::telemetry::stage_times::{Stage, StageTimes};
use crate::time::Timestamp;

/// Whether faces are looked for in a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceDetectionMode {
    /// In any case.
    Always,
    /// Where it differs from the scene in which nobody was; elsewhere nobody is.
    WhereChanged(BackgroundModel),
    /// Where another scene is seen than in this picture; else not: who is followed goes on as he moved.
    AfterCut(Thumbnail),
}

/// The faces of a picture.
#[derive(Clone, Debug)]
pub struct FaceFinding {
    /// Those that were found.
    pub frame: FrameFaces,
    /// Whether it is known which there are: they were looked for, or nothing changed since there were none.
    pub looked: bool,
}

/// Finds and embeds faces, and follows them.
pub struct Faces {
    /// `None`: there is no detector, and nobody is found.
    pub analyser: Option<FaceAnalyser>,
    /// Where the time goes.
    pub stages: Arc<StageTimes>,
}

impl PicturePerceptor for Faces {
    type Plan = FaceDetectionMode;
    type Finding = FaceFinding;
    type State = FaceTracker;
    type Percept = FaceTrack;

    fn plan(_config: &Config, _number: u64) -> Option<FaceDetectionMode> {
        Some(FaceDetectionMode::Always)
    }

    /// Faces come first: each analysed picture is searched for them, whatever else has to wait.
    fn cost_us(_plan: &FaceDetectionMode) -> u64 {
        0
    }

    fn look(
        &mut self,
        View { source, at, picture, thumbnail, camera }: View<'_>,
        plan: &FaceDetectionMode,
    ) -> Result<Option<FaceFinding>, PerceiveError> {
        let nobody = |looked| {
            let frame = FrameFaces::none(source, at, picture.dimensions());
            Ok(Some(FaceFinding { frame, looked }))
        };
        let roi = match plan {
            FaceDetectionMode::Always => None,
            FaceDetectionMode::AfterCut(before) if before.is_of_another_scene(thumbnail) => None,
            FaceDetectionMode::AfterCut(_) => return nobody(false),
            FaceDetectionMode::WhereChanged(scene) => match scene.change(thumbnail) {
                Some(roi) => Some(roi),
                None => return nobody(true),
            },
        };
        let Some(analyser) = &mut self.analyser else { return nobody(true) };
        let mut frame = self.stages.time(Stage::Faces, || match &roi {
            Some(roi) => analyser.analyse_change(source, at, picture, roi),
            None => analyser.analyse(source, at, picture),
        })?;
        for face in &mut frame.faces {
            let bearing = |camera: &crate::camera::CameraInfo| {
                camera.bearing_of_face(face.bbox.centre(), &face.landmarks)
            };
            face.bearing = camera.and_then(bearing);
        }
        Ok(Some(FaceFinding { frame, looked: true }))
    }

    fn advance(state: &mut FaceTracker, moment: Moment, finding: Option<&FaceFinding>) {
        let Moment { at, cut, shift } = moment;
        if let Some(shift) = shift {
            state.shift(shift);
        }
        match finding {
            Some(FaceFinding { frame, looked: true }) => state.follow(at, cut, &frame.faces),
            _ => state.coast(at, cut),
        }
    }

    fn at_boundary(state: &mut FaceTracker, end: Timestamp) -> Vec<FaceTrack> {
        state.seal(end)
    }
}
