//! Face embedding: an upright chip becomes a unit vector; like faces, like vectors.

pub mod align;
pub mod quality;
use std::path::Path;

use image::RgbImage;
use ndarray::{Array4, Axis};
use serde::{Deserialize, Serialize};

use super::FaceError;
use crate::ids::ModelHash;
use crate::perceive::track::GatingThresholds;
use crate::percept::Embedding;
use crate::runtime::onnx::{self, Device, RuntimeError, Session};
use align::Template;

/// A face's embedding, and how long it was before it was brought to unit length.
#[derive(Clone, Debug, PartialEq)]
pub struct RawEmbedding {
    /// The unit vector.
    pub embedding: Embedding,
    /// Length of the network's own output, not negative.
    pub norm: f32,
}

/// Turns aligned chips into embeddings.
pub trait FaceEmbedder: Send {
    /// The chip it wants.
    fn template(&self) -> Template;

    /// Embeddings of chips cut to [`FaceEmbedder::template`], in order; each depends on its own chip alone.
    ///
    /// # Errors
    /// When the model cannot run or gives outputs of unexpected shape.
    fn embed(&mut self, chips: &[RgbImage]) -> Result<Vec<RawEmbedding>, FaceError>;

    /// Cosines at which a tracker may trust this model within one scene.
    fn gates(&self) -> GatingThresholds;

    /// Norm up to which an embedding is of nobody; `None` where norms tell nothing of a face, or nobody measured it.
    fn min_norm(&self) -> Option<f32> {
        None
    }
}

/// Families of embedding nets; they differ in chip and scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbedderKind {
    /// MobileFaceNet (Chen et al. 2018) as trained by foamliu: 112 px, RGB, ImageNet mean and deviation.
    MobileFaceNet,
    /// MobileFaceNet of 192 values (MobileFaceNet_TF): 112 px, RGB, (x - 127.5) / 128.
    MobileFaceNet192,
    /// face-api's descriptor, dlib's ResNet: 150 px, RGB 0–255.
    FaceApi,
    /// ArcFace and kin (Deng et al. 2019): 112 px, RGB, (x - 127.5) / 127.5, any width of output.
    ArcFace,
}

/// Margin around the unit face in dlib's chip. Equal error on 50 LFW photos with MTCNN's landmarks: 0.4 % at
/// 0.20, 1.3 % at 0.15 and 0.25, 1.7 % at 0.30.
const DLIB_PAD: f32 = 0.20;

impl EmbedderKind {
    /// The chip.
    #[must_use]
    pub fn template(self) -> Template {
        match self {
            Self::MobileFaceNet | Self::MobileFaceNet192 | Self::ArcFace => Template::ARCFACE_112,
            Self::FaceApi => Template::dlib_150(DLIB_PAD),
        }
    }

    /// The chips of all families; their sides differ.
    #[must_use]
    pub(super) fn templates() -> [Template; 2] {
        [Self::MobileFaceNet.template(), Self::FaceApi.template()]
    }

    /// See [`GatingThresholds`]; measured on labelled recordings at 5 frames per second, a face against the mean
    /// of five: FaceApi same person from 0.943
    /// (5 %: 0.977), others up to 0.923; MobileFaceNet same from 0.60 (5 %: 0.82), others up to 0.27. Of 192 values, one face
    /// against another: same from 0.60 (5 %: 0.78), others up to 0.48.
    #[must_use]
    pub fn gates(self) -> GatingThresholds {
        match self {
            Self::MobileFaceNet | Self::ArcFace => GatingThresholds { same: 0.5, differ: 0.3 },
            Self::MobileFaceNet192 => GatingThresholds { same: 0.65, differ: 0.5 },
            Self::FaceApi => GatingThresholds { same: 0.945, differ: 0.93 },
        }
    }

    /// `(shift, factor)` of every channel, red first: a value becomes `(v - shift) * factor`.
    fn scaling(self) -> [(f32, f32); 3] {
        match self {
            Self::MobileFaceNet => [(0.485, 0.229), (0.456, 0.224), (0.406, 0.225)]
                .map(|(mean, deviation)| (255.0 * mean, 1.0 / (255.0 * deviation))),
            Self::MobileFaceNet192 => [(127.5, 1.0 / 128.0); 3],
            Self::FaceApi => [(0.0, 1.0); 3],
            Self::ArcFace => [(127.5, 1.0 / 127.5); 3],
        }
    }
}

/// A [`FaceEmbedder`] in ONNX Runtime.
pub struct OnnxEmbedder {
    session: Session,
    kind: EmbedderKind,
    hash: ModelHash,
    template: Template,
    min_norm: Option<f32>,
    input: String,
    output: String,
}

impl OnnxEmbedder {
    /// Opens the model. `hash` marks its embeddings.
    ///
    /// # Errors
    /// When the file is absent or not of that kind.
    pub fn open(
        path: &Path,
        kind: EmbedderKind,
        hash: ModelHash,
        threads: usize,
        device: Device,
    ) -> Result<Self, FaceError> {
        let session = onnx::open(path, threads, device)?;
        let template = kind.template();
        let fail = |reason: String| FaceError::Model {
            model: session.model().to_owned(),
            job: "face embedder",
            reason,
        };
        let (inputs, outputs) = (session.inputs(), session.outputs());
        let ([(input, shape)], [(output, _), ..]) = (inputs.as_slice(), outputs.as_slice()) else {
            return Err(fail("it must have one input and an output".to_owned()));
        };
        let side = i64::from(template.side);
        let fits = |length: i64, wanted: i64| length == wanted || length < 0;
        if !matches!(shape.as_slice(), [_, c, h, w] if fits(*c, 3) && fits(*h, side) && fits(*w, side))
        {
            return Err(fail(format!("its input must be [N,3,{side},{side}], is {shape:?}")));
        }
        let (input, output) = (input.clone(), output.clone());
        Ok(Self { kind, hash, template, min_norm: None, input, output, session })
    }

    /// With the [`FaceEmbedder::min_norm`] that was calibrated for this model.
    #[must_use]
    pub fn with_min_norm(self, min_norm: Option<f32>) -> Self {
        Self { min_norm, ..self }
    }
}

impl FaceEmbedder for OnnxEmbedder {
    fn template(&self) -> Template {
        self.template
    }

    fn gates(&self) -> GatingThresholds {
        self.kind.gates()
    }

    fn min_norm(&self) -> Option<f32> {
        self.min_norm
    }

    fn embed(&mut self, chips: &[RgbImage]) -> Result<Vec<RawEmbedding>, FaceError> {
        let side = self.template.side as usize;
        let scaling = self.kind.scaling();
        let mut image = Array4::zeros((1, 3, side, side));
        let mut embeddings = Vec::with_capacity(chips.len());
        // One at a time: kernels may sum in another order for another batch size.
        for chip in chips {
            let wrong = chip.width() as usize != side || chip.height() as usize != side;
            if wrong {
                return Err(FaceError::Model {
                    model: self.session.model().to_owned(),
                    job: "face embedder",
                    reason: format!("chips must be {side}x{side}, got {:?}", chip.dimensions()),
                });
            }
            for (channel, (shift, factor)) in scaling.into_iter().enumerate() {
                let mut plane = image.index_axis_mut(Axis(0), 0).index_axis_move(Axis(0), channel);
                let values = chip.as_raw().iter().skip(channel).step_by(3);
                for (value, byte) in plane.iter_mut().zip(values) {
                    *value = (f32::from(*byte) - shift) * factor;
                }
            }
            let [output] =
                self.session.run(&[(&self.input, image.view().into())], [&self.output])?;
            let (&[1, width], true) = (output.shape(), output.iter().all(|v| v.is_finite())) else {
                return Err(FaceError::Runtime(RuntimeError::Output {
                    model: self.session.model().to_owned(),
                    output: self.output.clone(),
                    reason: format!("must be finite numbers [1,D], is {:?}", output.shape()),
                }));
            };
            let mut values = output.into_raw_vec_and_offset().0;
            values.truncate(width);
            let norm = values.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt();
            let embedding = Embedding::normalised(values, self.hash);
            embeddings.push(RawEmbedding { embedding, norm: norm as f32 });
        }
        Ok(embeddings)
    }
}
