//! What a kind of perception is made of.
//!
//! A kind lies in a folder of its own: a network that looks, on whichever worker is free ([`Perceptor`]), and, where it looks
//! at a camera's pictures, what is followed from one to the next on the camera's stage ([`PicturePerceptor`]). One line of
//! the daemon's registry (`daemon::ingest::work::registry`) has every worker load it, every stage follow it and every
//! checkpoint keep it.

use std::fmt::Debug;

use image::RgbImage;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::PerceiveError;
use super::camera_motion::CameraShift;
use super::face::Thumbnail;
use super::job_kind::JobKind;
use crate::camera::CameraInfo;
use crate::config::Config;
use crate::ids::SourceId;
use crate::time::Timestamp;

/// What looks at one thing at a time. Every worker has its own.
pub trait Perceptor: Send + 'static {
    /// What it looks at.
    type Job: Send + 'static;
    /// What comes of it.
    type Finding: Send + 'static;

    /// How urgent a job is, and how long it may take.
    fn kind(job: &Self::Job) -> JobKind;

    /// Whose input it is about.
    fn source(job: &Self::Job) -> SourceId;

    /// Looks. What it finds hangs on the job alone, so that nobody can see which worker did it, or when.
    ///
    /// # Errors
    /// When a network cannot run. The job is lost, and nothing else.
    fn look(&mut self, job: Self::Job) -> Result<Self::Finding, PerceiveError>;
}

/// A picture that is looked at, decoded once for all kinds of perception.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Which camera took it.
    pub source: &'a SourceId,
    /// When.
    pub at: Timestamp,
    /// Its pixels.
    pub picture: &'a RgbImage,
    /// The same in small.
    pub thumbnail: &'a Thumbnail,
    /// The camera's calibration for pictures of this size, where it is known.
    pub camera: Option<&'a CameraInfo>,
}

/// A picture's place among those of its camera.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// When it was taken.
    pub at: Timestamp,
    /// It shows another scene than the one before.
    pub cut: bool,
    /// By how much the camera moved since the one before.
    pub shift: Option<CameraShift>,
}

/// What looks at the pictures of cameras, and what of it is followed through all pictures of one.
pub trait PicturePerceptor: Send + 'static {
    /// What is looked for in a picture.
    type Plan: Clone + Debug + Send + 'static;
    /// What is found in it.
    type Finding: Clone + Debug + Send + 'static;
    /// What a camera's stage follows; touched by its thread alone, in the order of the pictures. Part of the checkpoint.
    type State: Clone + Debug + Serialize + DeserializeOwned + Send + 'static;
    /// What a clip gets of it.
    type Percept: Clone + Debug + Send + 'static;

    /// What is looked for in the `number`th analysed picture of a camera as far as that alone decides it; `None`: nothing.
    fn plan(config: &Config, number: u64) -> Option<Self::Plan>;

    /// What such a look is taken to cost, microseconds of one core (about 3 GHz), beside what is promised: a constant, measured
    /// once. What a camera spends of its budget (`window.budget`) is counted in it.
    fn cost_us(plan: &Self::Plan) -> u64;

    /// Looks, on a worker. `None`: what is in the picture is not known, and this is no reason to lose it.
    ///
    /// # Errors
    /// When the picture cannot be used.
    fn look(
        &mut self,
        view: View<'_>,
        plan: &Self::Plan,
    ) -> Result<Option<Self::Finding>, PerceiveError>;

    /// The next picture. `finding`: `None` where nothing was looked for.
    fn advance(state: &mut Self::State, moment: Moment, finding: Option<&Self::Finding>);

    /// The percepts of the clip that ends at `end`; what goes on beyond it goes on under its number.
    fn at_boundary(state: &mut Self::State, end: Timestamp) -> Vec<Self::Percept>;
}
