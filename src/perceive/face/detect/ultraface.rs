//! UltraFace (Linzaer's Ultra-Light-Fast-Generic-Face-Detector, RFB at 320x240), with landmarks of MTCNN's last net.
//!
//! The detector gives boxes only; an upright chip needs eyes, nose and mouth. MTCNN's O-Net finds them in a square of
//! 0.9 of the box: equal error of MobileFaceNet on these chips of 50 LFW photos 0.0 % (at 0.95: 0.5 %, 1.05: 2.7 %),
//! beside 0.4 % on YuNet's. It also has a say: true faces of labelled recordings reach 0.93 and more with it, what
//! UltraFace took for faces by mistake stays at 0.

use std::path::Path;

use image::RgbImage;

use super::input::InputSize;
use super::mtcnn::LandmarkNet;
use super::{Detection, FaceDetector, on_common_scale};
use crate::geometry::Rect;
use crate::perceive::face::FaceError;
use crate::perceive::face::picture::{AreaTable, Channels, letterbox};
use crate::perceive::nms::non_maximum_suppression;
use crate::runtime::onnx;
use crate::runtime::onnx::{Device, Session};

const NMS_IOU: f32 = 0.3;
/// Raw score from which a face is to be believed, as published.
const WORKING_POINT: f32 = 0.7;
/// Below it O-Net sees no face.
const LANDMARK_SCORE: f32 = 0.5;
/// The square that O-Net looks at, in the longer side of the box.
const SQUARE: f32 = 0.9;

/// Longer side that a model of free size gets at most, px: that of the published one.
const FREE_SIDE: u32 = 320;

/// UltraFace of any size, 320x240 as published.
pub struct UltraFace {
    session: Session,
    landmarks: LandmarkNet,
    input: String,
    size: InputSize,
    min_score: f32,
    /// Of the picture before.
    memory: Vec<f32>,
}

impl UltraFace {
    /// Opens the model and the net for its landmarks; detections below `min_score` are not reported.
    ///
    /// # Errors
    /// When a file is absent or of another kind.
    pub fn open(
        path: &Path,
        landmarks: &Path,
        min_score: f32,
        threads: usize,
        device: Device,
    ) -> Result<Self, FaceError> {
        let session = onnx::open(path, threads, device)?;
        let fail = |reason: &str| FaceError::Model {
            model: session.model().to_owned(),
            job: "UltraFace detector",
            reason: reason.to_owned(),
        };
        let inputs = session.inputs();
        let found = inputs.iter().find_map(|(name, shape)| Some((name, InputSize::of(shape)?)));
        let Some((input, size)) = found else {
            return Err(fail("its input must be [1,3,height,width]"));
        };
        let outputs = session.outputs();
        for name in ["scores", "boxes"] {
            if !outputs.iter().any(|(output, _)| output == name) {
                return Err(fail(&format!("it has no output {name}")));
            }
        }
        let landmarks = LandmarkNet::open(landmarks, threads, device)?;
        Ok(Self { input: input.clone(), session, landmarks, size, min_score, memory: Vec::new() })
    }
}

impl FaceDetector for UltraFace {
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, FaceError> {
        let size = self.size.for_picture(picture.dimensions(), FREE_SIDE);
        let memory = std::mem::take(&mut self.memory);
        let boxed = letterbox(picture, size, Channels::Rgb, 127.0, 1.0 / 128.0, memory);
        let input = (self.input.as_str(), boxed.tensor.view().into());
        let [scores, boxes] = self.session.run(&[input], ["scores", "boxes"])?;
        let scale = boxed.scale;
        self.memory = boxed.into_memory();
        let (scores, boxes) =
            (scores.as_slice().unwrap_or_default(), boxes.as_slice().unwrap_or_default());
        if scores.len() * 2 != boxes.len() || scores.is_empty() {
            return Err(FaceError::Model {
                model: self.session.model().to_owned(),
                job: "UltraFace detector",
                reason: format!("{} scores and {} corners", scores.len(), boxes.len()),
            });
        }
        let (width, height) = (size.0 as f32 / scale, size.1 as f32 / scale);
        let found: Vec<(f32, Rect)> = scores
            .chunks_exact(2)
            .zip(boxes.chunks_exact(4))
            .map(|(score, b)| (on_common_scale(score[1], WORKING_POINT), b))
            .filter(|(score, _)| *score >= self.min_score)
            .map(|(score, b)| {
                let corners = [b[0] * width, b[1] * height, b[2] * width, b[3] * height];
                (score, Rect::from_corners(corners[0], corners[1], corners[2], corners[3]))
            })
            .collect();
        let kept = non_maximum_suppression(found, NMS_IOU, |one| *one, Rect::iou);
        if kept.is_empty() {
            return Ok(Vec::new());
        }
        let table = AreaTable::new(picture);
        let mut detections = Vec::new();
        for (score, bbox) in kept {
            let (centre, side) = (bbox.centre(), SQUARE * bbox.w.max(bbox.h));
            let square =
                Rect { x: centre.x - 0.5 * side, y: centre.y - 0.5 * side, w: side, h: side };
            if let Some((sure, landmarks)) = self.landmarks.find(&table, picture, square)?
                && sure >= LANDMARK_SCORE
            {
                detections.push(Detection { bbox, landmarks, score });
            }
        }
        Ok(detections)
    }
}
