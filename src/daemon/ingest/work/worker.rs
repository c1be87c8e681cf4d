//! One worker: its networks, and the pictures that it decodes for them.

use std::sync::Arc;

use super::perceiver_set::{Calibrations, PerceiverSet};
use super::picture::pixels;
use super::registry::{DetectionPlan, Findings, Has, Networks, PictureNetworks};
use crate::camera::CameraInfo;
use crate::ids::SourceId;
use crate::media::Frame;
use crate::perceive::PerceiveError;
use crate::perceive::camera_motion::GreyPicture;
use crate::perceive::face::Thumbnail;
use crate::perceive::job_kind::JobKind;
use crate::perceive::perceptor::{Perceptor, View};
use crate::telemetry::stage_times::{Stage, StageTimes};
use crate::time::Timestamp;

/// A frame that is to be looked at.
#[derive(Clone, Debug)]
pub struct FrameJob {
    /// The frame.
    pub frame: Frame,
    /// What is looked for in it.
    pub plan: DetectionPlan,
}

/// What a worker makes of a frame.
#[derive(Clone, Debug)]
pub struct Analysed {
    /// When it was captured.
    pub at: Timestamp,
    /// What was found.
    pub findings: Findings,
    /// The picture in small, to tell hard cuts.
    pub thumbnail: Thumbnail,
    /// The picture in small and grey, to tell how the camera moved; `None` where that is not asked for.
    pub grey: Option<GreyPicture>,
    /// The whole picture as JPEG, kept for key frames.
    pub jpeg: Arc<[u8]>,
}

/// Looks at cameras' pictures with all kinds of perception that do.
pub(in crate::daemon::ingest) struct Pictures {
    networks: PictureNetworks,
    calibrated: Arc<Calibrations>,
    /// Whether it is to be told how cameras move.
    sees_motion: bool,
    /// Of the picture before.
    memory: Vec<u8>,
    stages: Arc<StageTimes>,
}

impl Pictures {
    /// The camera that took a picture of that size, where its calibration is known and of such pictures.
    fn camera(&self, source: &SourceId, (width, height): (u32, u32)) -> Option<CameraInfo> {
        let camera = self.calibrated.get(source)?;
        let scaled = camera.scaled_to(width, height);
        if scaled.is_none() {
            static ONCE: std::sync::Once = std::sync::Once::new();
            ONCE.call_once(|| {
                tracing::warn!(
                    %source,
                    "The camera is calibrated for pictures of {}x{} and delivers {width}x{height}: faces and things have no bearing.",
                    camera.width, camera.height
                );
            });
        }
        scaled
    }
}

impl Perceptor for Pictures {
    type Job = FrameJob;
    type Finding = Analysed;

    fn kind(_job: &FrameJob) -> JobKind {
        JobKind::Frame
    }

    fn source(job: &FrameJob) -> SourceId {
        job.frame.source.clone()
    }

    fn look(&mut self, FrameJob { frame, plan }: FrameJob) -> Result<Analysed, PerceiveError> {
        let memory = std::mem::take(&mut self.memory);
        let (picture, jpeg) = self.stages.time(Stage::Picture, || pixels(&frame, memory))?;
        let thumbnail = Thumbnail::of(&picture);
        let grey = self.sees_motion.then(|| GreyPicture::of(&picture));
        let camera = self.camera(&frame.source, picture.dimensions());
        let view = View {
            source: &frame.source,
            at: frame.at,
            picture: &picture,
            thumbnail: &thumbnail,
            camera: camera.as_ref(),
        };
        let findings = self.networks.look(view, &plan)?;
        self.memory = picture.into_raw();
        Ok(Analysed { at: frame.at, findings, thumbnail, grey, jpeg })
    }
}

/// One worker's networks.
pub(in crate::daemon::ingest) struct Worker {
    pictures: Pictures,
    networks: Networks,
}

impl Worker {
    /// Loads them.
    ///
    /// # Errors
    /// When a model cannot be opened.
    pub(in crate::daemon::ingest) fn load(
        set: &PerceiverSet,
        calibrated: &Arc<Calibrations>,
    ) -> Result<Self, PerceiveError> {
        let pictures = Pictures {
            networks: PictureNetworks::load(set)?,
            calibrated: Arc::clone(calibrated),
            sees_motion: set.settings().window.camera_motion,
            memory: Vec::new(),
            stages: Arc::clone(&set.stages),
        };
        Ok(Self { pictures, networks: Networks::load(set)? })
    }
}

impl Has<Pictures> for Worker {
    fn perceptor(&mut self) -> &mut Pictures {
        &mut self.pictures
    }
}

impl<P: Perceptor> Has<P> for Worker
where
    Networks: Has<P>,
{
    fn perceptor(&mut self) -> &mut P {
        self.networks.perceptor()
    }
}
