//! Things as a kind of perception.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use sha2::{Digest as _, Sha256};

use super::{Detection, ObjectDetector, ObjectError, ObjectTracker, WEAK_SHARE, Yolo};
use crate::config::{Config, find_file};
use crate::ids::ModelHash;
use crate::perceive::PerceiveError;
use crate::perceive::perceptor::{PicturePerceptor, View};
use crate::percept::{Object, ObjectTrack};
use crate::runtime::onnx::INTRA_OP_THREADS;
use crate::telemetry::rate_limited_log::RateLimitedLog;
use crate::telemetry::stage_times::{Stage, StageTimes};
use crate::time::Timestamp;

/// The detector of things that the configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectModel {
    /// The file.
    pub path: PathBuf,
    /// What its classes are called; `None`: as the file says.
    pub labels: Option<PathBuf>,
    /// SHA-256 of the file.
    pub hash: ModelHash,
}

impl ObjectModel {
    /// The one that the configuration names, tried: a file of another kind is told of at the start, not at the first frame.
    /// `None` where none is named.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn configured(config: &Config) -> Result<Option<Self>, String> {
        let settings = &config.objects;
        let state_dir = config.store.dir.as_deref();
        let place = |file: &PathBuf| find_file(file, state_dir).unwrap_or_else(|| file.clone());
        let Some(path) = settings.model.as_ref().map(place) else { return Ok(None) };
        let hash = sha256_of(&path)?;
        let model = Self { path, labels: settings.labels.as_ref().map(place), hash };
        model.open(config).map_err(|error| error.to_string())?;
        Ok(Some(model))
    }

    /// Opens it.
    ///
    /// # Errors
    /// When it is none that is understood, or cannot be opened.
    pub fn open(&self, config: &Config) -> Result<Yolo, ObjectError> {
        let settings = &config.objects;
        let thresholds = (settings.min_score * WEAK_SHARE, settings.nms_iou);
        let labels = self.labels.as_deref();
        Yolo::open(&self.path, labels, thresholds, INTRA_OP_THREADS, config.models.device)
    }
}

fn sha256_of(path: &Path) -> Result<ModelHash, String> {
    let fail = |error: std::io::Error| {
        format!("reading the object detector {}: {error}; set `objects.model`", path.display())
    };
    let mut hasher = Sha256::new();
    let mut file = File::open(path).map_err(fail)?;
    std::io::copy(&mut file, &mut hasher).map_err(fail)?;
    Ok(ModelHash(hasher.finalize().into()))
}

/// Finds things, and follows them.
pub struct Things {
    detector: Box<dyn ObjectDetector>,
    /// Labels that are no things.
    ignored: Vec<String>,
    /// Pictures in which they could not be looked for.
    unsearched: RateLimitedLog,
    stages: Arc<StageTimes>,
}

impl Things {
    /// With a detector whose `ignored` labels are no things.
    #[must_use]
    pub fn new(
        detector: Box<dyn ObjectDetector>,
        ignored: Vec<String>,
        stages: Arc<StageTimes>,
    ) -> Self {
        Self { detector, ignored, unsearched: RateLimitedLog::default(), stages }
    }
}

impl PicturePerceptor for Things {
    type Plan = ();
    type Finding = Vec<Object>;
    type State = ObjectTracker;
    type Percept = ObjectTrack;

    fn plan(config: &Config, number: u64) -> Option<()> {
        number.is_multiple_of(config.objects.every.max(1) as u64).then_some(())
    }

    fn look(
        &mut self,
        View { source, picture, camera, .. }: View<'_>,
        (): &(),
    ) -> Result<Option<Vec<Object>>, PerceiveError> {
        let Self { detector, ignored, unsearched, stages } = self;
        let found = match stages.time(Stage::Objects, || detector.detect(picture)) {
            Ok(found) => found,
            Err(error) => {
                if let Some(count) = unsearched.happened(Instant::now()) {
                    tracing::warn!(%source, %error, count, "A frame was not searched for things; more are told once a minute.");
                }
                return Ok(None);
            }
        };
        let is_thing = |one: &Detection| !ignored.iter().any(|label| **label == *one.label);
        let object = |Detection { bbox, label, score }| {
            let bearing = camera.and_then(|camera| camera.bearing(bbox.centre()));
            Object { bbox, label, score, bearing, picture: picture.dimensions() }
        };
        Ok(Some(found.into_iter().filter(is_thing).map(object).collect()))
    }

    fn advance(state: &mut ObjectTracker, at: Timestamp, cut: bool, finding: Option<&Vec<Object>>) {
        match finding {
            Some(objects) => state.follow(at, cut, objects),
            None if cut => state.cut(),
            None => {}
        }
    }

    fn at_boundary(state: &mut ObjectTracker, end: Timestamp) -> Vec<ObjectTrack> {
        state.seal(end)
    }
}
