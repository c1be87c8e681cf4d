//! SCRFD with key points (Guo et al. 2022, arXiv 2105.04714; decoding as in InsightFace).

use std::path::Path;

use image::RgbImage;

use super::input::{InputSize, grid};
use super::{Detection, FaceDetector, on_common_scale, suppress};
use crate::geometry::{Point, Rect};
use crate::perceive::face::FaceError;
use crate::perceive::face::picture::{Channels, letterbox};
use crate::runtime::onnx;
use crate::runtime::onnx::{Device, Session};

const STRIDES: [u32; 3] = [8, 16, 32];
const ANCHORS: usize = 2;
const NMS_IOU: f32 = 0.4;
/// Raw score from which a face is to be believed, as in InsightFace: on labelled recordings and photos
/// false faces stay below 0.4, true ones begin at 0.65.
const WORKING_POINT: f32 = 0.5;
/// Longer side that a model of free size gets at most, px.
const FREE_SIDE: u32 = 640;

/// SCRFD, any size of the family, with key points.
pub struct Scrfd {
    session: Session,
    input: String,
    /// Score, box and key point outputs of every stride: `[kind][stride]`.
    outputs: Vec<String>,
    size: InputSize,
    min_score: f32,
    /// Of the picture before.
    memory: Vec<f32>,
}

impl Scrfd {
    /// Opens the model; detections below `min_score` are not reported.
    ///
    /// # Errors
    /// When the file is absent or no SCRFD with key points.
    pub fn open(
        path: &Path,
        min_score: f32,
        threads: usize,
        device: Device,
    ) -> Result<Self, FaceError> {
        // Published files declare their outputs for 640x640.
        let session = onnx::open_of_any_size(path, threads, device)?;
        let fail = |reason: &str| FaceError::Model {
            model: session.model().to_owned(),
            job: "SCRFD face detector",
            reason: reason.to_owned(),
        };
        let inputs = session.inputs();
        let [(input, shape)] = inputs.as_slice() else {
            return Err(fail("it must have one input"));
        };
        let Some(size) = InputSize::of(shape) else {
            return Err(fail("its input must be [1,3,height,width]"));
        };
        let outputs: Vec<String> = session.outputs().into_iter().map(|(name, _)| name).collect();
        if outputs.len() != 9 {
            return Err(fail(
                "it must have nine outputs: score, box and key points at three strides",
            ));
        }
        Ok(Self { input: input.clone(), session, outputs, size, min_score, memory: Vec::new() })
    }
}

impl FaceDetector for Scrfd {
    fn detect(&mut self, picture: &RgbImage) -> Result<Vec<Detection>, FaceError> {
        let size = self.size.for_picture(picture.dimensions(), FREE_SIDE);
        let memory = std::mem::take(&mut self.memory);
        let boxed = letterbox(picture, size, Channels::Rgb, 127.5, 1.0 / 128.0, memory);
        let names: Vec<&str> = self.outputs.iter().map(String::as_str).collect();
        let outputs =
            self.session.run_named(&[(&self.input, boxed.tensor.view().into())], &names)?;
        let scale = boxed.scale;
        self.memory = boxed.into_memory();
        let mut found = Vec::new();
        for (level, stride) in STRIDES.into_iter().enumerate() {
            let flat = |kind: usize| outputs[kind * 3 + level].as_slice().unwrap_or_default();
            let (scores, boxes, points) = (flat(0), flat(1), flat(2));
            let (columns, rows) = grid(size, stride);
            let anchors = columns * rows * ANCHORS;
            if [scores.len(), boxes.len(), points.len()] != [anchors, 4 * anchors, 10 * anchors] {
                return Err(FaceError::Model {
                    model: self.session.model().to_owned(),
                    job: "SCRFD face detector",
                    reason: format!(
                        "stride {stride} must have {anchors} anchors, its scores are {}",
                        scores.len()
                    ),
                });
            }
            let s = stride as f32;
            for (anchor, &raw) in scores.iter().enumerate() {
                let score = on_common_scale(raw, WORKING_POINT);
                if score < self.min_score {
                    continue;
                }
                let cell = anchor / ANCHORS;
                let (x, y) = ((cell % columns) as f32 * s, (cell / columns) as f32 * s);
                let b = &boxes[4 * anchor..4 * anchor + 4];
                let bbox = Rect::from_corners(
                    (x - b[0] * s) / scale,
                    (y - b[1] * s) / scale,
                    (x + b[2] * s) / scale,
                    (y + b[3] * s) / scale,
                );
                let k = &points[10 * anchor..10 * anchor + 10];
                let landmarks = std::array::from_fn(|i| Point {
                    x: (x + k[2 * i] * s) / scale,
                    y: (y + k[2 * i + 1] * s) / scale,
                });
                found.push(Detection { bbox, landmarks, score });
            }
        }
        Ok(suppress(found, NMS_IOU))
    }
}
