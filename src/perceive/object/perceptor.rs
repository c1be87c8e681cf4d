//! Things as a kind of perception.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::detect::one_per_box;
use super::turned::{ONE_BODY, lying};
use super::{Detection, NanoDet, ObjectDetector, ObjectError, ObjectTracker, WEAK_SHARE, Yolo};
use crate::config::{Config, find_file};
use crate::ids::ModelHash;
use crate::perceive::PerceiveError;
use crate::perceive::action::{PoseEstimator, lies};
use crate::perceive::body::{BodyTracker, clothes};
use crate::perceive::colour::{self, Light};
use crate::perceive::perceptor::{Moment, PicturePerceptor, View};
use crate::percept::{BodyTrack, Object, ObjectTrack};
use crate::runtime::onnx::INTRA_OP_THREADS;
use crate::telemetry::rate_limited_log::RateLimitedLog;
use crate::telemetry::stage_times::{Stage, StageTimes};
use crate::time::Timestamp;

/// Which detector of things runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectModel {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub network: ObjectNetwork,
    /// SHA-256 of the file.
    pub hash: ModelHash,
}

/// Kinds of detectors of things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectNetwork {
    /// A YOLO that the configuration names.
    Yolo {
        /// What its classes are called; `None`: as the file says.
        labels: Option<PathBuf>,
    },
    /// NanoDet of the model set.
    NanoDet {
        /// Its name in the manifest.
        name: String,
        /// Its licence.
        licence: String,
    },
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
        let named = settings.model.as_ref().filter(|_| settings.on);
        let Some(path) = named.map(place) else { return Ok(None) };
        let hash = sha256_of(&path)?;
        let network = ObjectNetwork::Yolo { labels: settings.labels.as_ref().map(place) };
        let model = Self { path, network, hash };
        model.open(config).map_err(|error| error.to_string())?;
        Ok(Some(model))
    }

    /// The NanoDet of that name, file, hash and licence.
    #[must_use]
    pub fn nanodet(name: String, path: PathBuf, hash: ModelHash, licence: String) -> Self {
        Self { path, network: ObjectNetwork::NanoDet { name, licence }, hash }
    }

    /// Opens it.
    ///
    /// # Errors
    /// When it is none that is understood, or cannot be opened.
    pub fn open(&self, config: &Config) -> Result<Box<dyn ObjectDetector>, ObjectError> {
        let settings = &config.objects;
        let thresholds = (settings.min_score * WEAK_SHARE, settings.nms_iou);
        let (path, device) = (&self.path, config.models.device);
        Ok(match &self.network {
            ObjectNetwork::Yolo { labels } => {
                let labels = labels.as_deref();
                Box::new(Yolo::open(path, labels, thresholds, INTRA_OP_THREADS, device)?)
            }
            ObjectNetwork::NanoDet { .. } => {
                Box::new(NanoDet::open(path, thresholds, INTRA_OP_THREADS, device)?)
            }
        })
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

/// What a look is taken to cost, microseconds of one core (NanoDet-g, benches/LEDGER.md).
const COST_US: u64 = 50_000;
/// In one look of so many those who lie are looked for, whatever was seen before.
const LYING_EVERY: u64 = 5;

/// What every detector calls a human being.
const PERSON: &str = "person";

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sought {
    /// Those who lie, too: detectors know people as they stand, so the picture is looked at on either side, which costs thrice.
    pub lying: bool,
    /// So many people were in view a moment ago: where fewer are found, those who lie are looked for, too.
    pub people: u32,
}

/// What a camera's stage follows of what the detector finds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Followed {
    /// Things.
    pub things: ObjectTracker,
    /// People.
    pub bodies: BodyTracker,
}

/// What a clip gets of what the detector finds.
#[derive(Clone, Debug)]
pub enum Seen {
    /// A thing.
    Thing(ObjectTrack),
    /// A person.
    Person(BodyTrack),
}

/// Tells the joints of the people who are found.
pub struct Joints {
    /// The network.
    pub estimator: Box<dyn PoseEstimator>,
    /// Of so many people in a picture, those who are seen largest.
    pub most: usize,
    /// People below are not looked at: they begin no track, 0–1.
    pub least: f32,
}

/// Finds things and people, and follows them.
pub struct Things {
    detector: Box<dyn ObjectDetector>,
    /// `None`: what people do is not looked at.
    joints: Option<Joints>,
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
        joints: Option<Joints>,
        ignored: Vec<String>,
        stages: Arc<StageTimes>,
    ) -> Self {
        Self { detector, joints, ignored, unsearched: RateLimitedLog::default(), stages }
    }

    /// Notes where the joints of the people are.
    fn tell_joints(&mut self, View { source, picture, .. }: View<'_>, found: &mut [Object]) {
        let Self { joints, unsearched, stages, .. } = self;
        let Some(Joints { estimator, most, least }) = joints else { return };
        let person = |object: &&mut Object| &*object.label == PERSON && object.score >= *least;
        let mut people: Vec<&mut Object> = found.iter_mut().filter(person).collect();
        people.sort_by(|a, b| b.bbox.area().total_cmp(&a.bbox.area()));
        for person in people.into_iter().take(*most) {
            match stages.time(Stage::Actions, || estimator.estimate(picture, person.bbox)) {
                Ok(skeleton) => person.skeleton = Some(skeleton),
                Err(error) => {
                    if let Some(count) = unsearched.happened(Instant::now()) {
                        tracing::warn!(%source, %error, count, "The joints of a body were not told; more are told once a minute.");
                    }
                }
            }
        }
    }
}

/// Whether it shows the other's body, and surer.
fn is_better(one: &Object, other: &Object) -> bool {
    &*one.label == PERSON && one.score >= other.score && one.bbox.iou(other.bbox) >= ONE_BODY
}

impl PicturePerceptor for Things {
    type Plan = Sought;
    type Finding = Vec<Object>;
    type State = Followed;
    type Percept = Seen;

    fn plan(config: &Config, number: u64) -> Option<Sought> {
        let every = config.objects.every.max(1) as u64;
        let lying = number.is_multiple_of(every * LYING_EVERY);
        number.is_multiple_of(every).then_some(Sought { lying, people: 0 })
    }

    fn cost_us(sought: &Sought) -> u64 {
        if sought.lying { 3 * COST_US } else { COST_US }
    }

    fn look(
        &mut self,
        view: View<'_>,
        sought: &Sought,
    ) -> Result<Option<Vec<Object>>, PerceiveError> {
        let View { source, picture, camera, .. } = view;
        let Self { detector, joints, ignored, unsearched, stages } = self;
        let looked = stages.time(Stage::Objects, || -> Result<_, ObjectError> {
            let found = detector.detect(picture)?;
            // (Whether somebody lies, joints tell.)
            let is_sought = joints.as_ref().is_some_and(|Joints { least, .. }| {
                let people =
                    found.iter().filter(|one| &*one.label == PERSON && one.score >= *least);
                sought.lying || people.count() < sought.people as usize
            });
            let lying = match is_sought {
                true => lying(&mut **detector, picture, PERSON)?,
                false => Vec::new(),
            };
            Ok((found, lying))
        });
        let (found, lying) = match looked {
            Ok(found) => found,
            Err(error) => {
                if let Some(count) = unsearched.happened(Instant::now()) {
                    tracing::warn!(%source, %error, count, "A frame was not searched for things; more are told once a minute.");
                }
                return Ok(None);
            }
        };
        let counts = |one: &Detection| {
            &*one.label == PERSON || !ignored.iter().any(|label| **label == *one.label)
        };
        let found: Vec<Detection> = found.into_iter().filter(counts).collect();
        let light = (!found.is_empty() || !lying.is_empty()).then(|| Light::of(picture));
        let object = |Detection { bbox, label, score, least }| {
            let bearing = camera.and_then(|camera| camera.bearing(bbox.centre()));
            let is_person = &*label == PERSON;
            let clothes = is_person.then(|| clothes(picture, bbox));
            let colours = light.as_ref().and_then(|light| match is_person {
                true => colour::of_clothes(picture, bbox, light),
                false => colour::of_thing(picture, bbox, light),
            });
            let picture = picture.dimensions();
            let skeleton = None;
            Object { bbox, label, score, least, bearing, picture, clothes, colours, skeleton }
        };
        let found = one_per_box(found, |one| &*one.label == PERSON);
        let mut found: Vec<Object> = found.into_iter().map(object).collect();
        let mut lying: Vec<Object> = lying.into_iter().map(object).collect();
        lying.retain(|one| !found.iter().any(|other| is_better(other, one)));
        self.tell_joints(view, &mut lying);
        lying.retain(|one| one.skeleton.as_ref().is_some_and(|joints| lies(joints, one.bbox)));
        found.retain(|one| {
            &*one.label != PERSON || !lying.iter().any(|other| is_better(other, one))
        });
        self.tell_joints(view, &mut found);
        found.append(&mut lying);
        Ok(Some(found))
    }

    fn advance(state: &mut Followed, moment: Moment, finding: Option<&Vec<Object>>) {
        let Moment { at, cut, shift } = moment;
        let Followed { things, bodies } = state;
        if let Some(shift) = shift {
            things.shift(shift);
            bodies.shift(shift);
        }
        let Some(found) = finding else {
            if cut {
                things.cut();
            }
            bodies.coast(at, cut);
            return;
        };
        let (people, others): (Vec<&Object>, Vec<&Object>) =
            found.iter().partition(|object| &*object.label == PERSON);
        things.follow(at, cut, others);
        bodies.follow(at, cut, &people);
    }

    fn at_boundary(state: &mut Followed, end: Timestamp) -> Vec<Seen> {
        let things = state.things.seal(end).into_iter().map(Seen::Thing);
        things.chain(state.bodies.seal(end).into_iter().map(Seen::Person)).collect()
    }
}
