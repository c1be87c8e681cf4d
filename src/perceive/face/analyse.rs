//! One analysed picture: faces found, judged, cut out and embedded.

use std::path::PathBuf;
use std::sync::Arc;

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, RgbImage};

use super::FaceError;
use super::detect::mtcnn::Mtcnn;
use super::detect::scrfd::Scrfd;
use super::detect::ultraface::UltraFace;
use super::detect::yunet::YuNet;
use super::detect::{Detection, FaceDetector};
use super::embed::align;
use super::embed::align::Template;
use super::embed::quality::{of_norm, quality};
use super::embed::{EmbedderKind, FaceEmbedder, OnnxEmbedder};
use super::picture::PixelRect;
use super::scene::background::MotionRoi;
use crate::config::FacePerception;
use crate::geometry::Rect;
use crate::ids::{ModelHash, SourceId};
use crate::perceive::track::GatingThresholds;
use crate::percept::{Embedding, Face, FrameFaces, Look};
use crate::runtime::onnx::Device;
use crate::time::Timestamp;

/// JPEG quality of chips.
const CHIP_QUALITY: u8 = 90;
/// MTCNN's pyramid starts here, px.
const MTCNN_MIN_FACE_PX: f32 = 40.0;
/// Share of `min_score` from which a face is handed on: weak faces may continue a track (ByteTrack), never begin one.
const WEAK_SHARE: f32 = 0.6;

/// Less of a face in the picture is nothing, px.
const LEAST_PX: f32 = 1.0;

/// Which detector, and its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DetectorFiles {
    /// YuNet, of fixed or of free size.
    YuNet(PathBuf),
    /// MTCNN.
    Mtcnn {
        /// Proposals.
        pnet: PathBuf,
        /// Refinement.
        rnet: PathBuf,
        /// Output and landmarks.
        onet: PathBuf,
    },
    /// SCRFD with key points.
    Scrfd(PathBuf),
    /// UltraFace.
    UltraFace {
        /// Boxes.
        model: PathBuf,
        /// MTCNN's O-Net, for landmarks.
        landmarks: PathBuf,
    },
}

/// Which embedder, its file and what its embeddings are marked with.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbedderFile {
    /// The file.
    pub path: PathBuf,
    /// Chip and scaling.
    pub kind: EmbedderKind,
    /// Hash of the model.
    pub hash: ModelHash,
    /// See [`FaceEmbedder::min_norm`].
    pub min_norm: Option<f32>,
}

/// The models of face perception.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceModels {
    /// Finds faces.
    pub detector: DetectorFiles,
    /// Tells them apart; without it faces are followed by their boxes and stay unknown.
    pub embedder: Option<EmbedderFile>,
    /// Where both run.
    pub device: Device,
}

/// Finds and embeds the faces of single pictures. One per worker thread; holds no state between pictures.
pub struct FaceAnalyser {
    detector: Box<dyn FaceDetector>,
    embedder: Option<Box<dyn FaceEmbedder>>,
    settings: FacePerception,
}

impl FaceAnalyser {
    /// Opens the models with `threads` intra-op threads each (a constant: it decides the last bits).
    ///
    /// # Errors
    /// When a model file is absent or of another kind.
    pub fn new(
        models: &FaceModels,
        settings: &FacePerception,
        threads: usize,
    ) -> Result<Self, FaceError> {
        let (device, min_score) = (models.device, settings.min_score * WEAK_SHARE);
        let detector: Box<dyn FaceDetector> = match &models.detector {
            DetectorFiles::YuNet(path) => Box::new(YuNet::open(path, min_score, threads, device)?),
            DetectorFiles::Mtcnn { pnet, rnet, onet } => {
                let nets = [pnet.as_path(), rnet, onet];
                Box::new(Mtcnn::open(nets, MTCNN_MIN_FACE_PX, min_score, threads, device)?)
            }
            DetectorFiles::Scrfd(path) => Box::new(Scrfd::open(path, min_score, threads, device)?),
            DetectorFiles::UltraFace { model, landmarks } => {
                Box::new(UltraFace::open(model, landmarks, min_score, threads, device)?)
            }
        };
        let embedder = match &models.embedder {
            None => None,
            Some(EmbedderFile { path, kind, hash, min_norm }) => {
                let embedder = OnnxEmbedder::open(path, *kind, *hash, threads, device)?;
                Some(Box::new(embedder.with_min_norm(*min_norm)) as Box<dyn FaceEmbedder>)
            }
        };
        Ok(Self::from_parts(detector, embedder, settings))
    }

    /// From a detector and an embedder made elsewhere.
    #[must_use]
    pub fn from_parts(
        detector: Box<dyn FaceDetector>,
        embedder: Option<Box<dyn FaceEmbedder>>,
        settings: &FacePerception,
    ) -> Self {
        Self { detector, embedder, settings: settings.clone() }
    }

    /// What the tracker may expect of the embeddings; `None` without an embedder.
    #[must_use]
    pub fn gates(&self) -> Option<GatingThresholds> {
        self.embedder.as_ref().map(|embedder| embedder.gates())
    }

    /// All faces of one picture, highest score first. Faces below `min_score` are among them, down to 0.6 of it:
    /// the tracker uses them to go on, never to begin. So are faces of which nothing can be learned, with quality 0 and
    /// neither chip nor embedding: they are followed. `cut` and `jpeg` are left for others to fill.
    ///
    /// # Errors
    /// When a model cannot run.
    pub fn analyse(
        &mut self,
        source: &SourceId,
        at: Timestamp,
        picture: &RgbImage,
    ) -> Result<FrameFaces, FaceError> {
        let mut frame = FrameFaces::none(source, at, picture.dimensions());
        if frame.width == 0 || frame.height == 0 {
            return Ok(frame);
        }
        for detection in self.detector.detect(picture)? {
            if let Some(face) = self.face(detection, picture)? {
                frame.faces.push(face);
            }
        }
        Ok(frame)
    }

    /// The faces of a picture that shows nobody outside of what changed: where that part alone shows nobody, the picture
    /// does not; else all of it is searched, so a face is found as in [`Self::analyse`].
    ///
    /// # Errors
    /// When a model cannot run.
    pub fn analyse_change(
        &mut self,
        source: &SourceId,
        at: Timestamp,
        picture: &RgbImage,
        change: &MotionRoi,
    ) -> Result<FrameFaces, FaceError> {
        let PixelRect { x0, y0, x1, y1 } = change.pixels(picture.dimensions());
        let (width, height) = (x1 - x0, y1 - y0);
        let area = |width: u32, height: u32| u64::from(width) * u64::from(height);
        let half = area(picture.width(), picture.height()) / 2;
        if self.detector.likes_parts() && (1..=half).contains(&area(width, height)) {
            let part = image::imageops::crop_imm(picture, x0, y0, width, height).to_image();
            if self.detector.detect(&part)?.is_empty() {
                return Ok(FrameFaces::none(source, at, picture.dimensions()));
            }
        }
        self.analyse(source, at, picture)
    }

    /// Embeds a chip that was kept as JPEG, whichever embedder's template it was cut to; `None` without an embedder.
    ///
    /// # Errors
    /// When it is no picture, or the model cannot run.
    pub fn embed_chip_file(&mut self, bytes: &[u8]) -> Result<Option<Embedding>, FaceError> {
        let Some(embedder) = &mut self.embedder else { return Ok(None) };
        let chip = image::load_from_memory(bytes)?.into_rgb8();
        let wanted = embedder.template();
        let chip = if chip.width() == wanted.side {
            Some(chip)
        } else {
            let was = EmbedderKind::templates().into_iter().find(|t| t.side == chip.width());
            was.and_then(|was| align::chip(&chip, &was.points, &wanted))
        };
        let Some(chip) = chip else { return Ok(None) };
        Ok(embedder.embed(&[chip])?.pop().map(|raw| raw.embedding))
    }

    /// A face that is too small, as far as it is in the picture, or whose landmarks make no face, teaches nothing and is
    /// followed all the same. `None` where nothing of it is in the picture, and for what is small as a whole and weak: that
    /// is noise more often than not, and an empty scene would never be taken for one.
    fn face(
        &mut self,
        detection: Detection,
        picture: &RgbImage,
    ) -> Result<Option<Face>, FaceError> {
        let bbox = detection.bbox.clamped(picture.width() as f32, picture.height() as f32);
        let noise = detection.score < self.settings.min_score && self.too_small(detection.bbox);
        if noise || bbox.w.min(bbox.h) < LEAST_PX {
            return Ok(None);
        }
        let mut face = Face {
            bbox,
            landmarks: detection.landmarks,
            score: detection.score,
            quality: 0.0,
            embedding: None,
            chip: None,
            bearing: None,
            look: None,
        };
        let template = self.embedder.as_ref().map_or(Template::ARCFACE_112, |e| e.template());
        let Some(chip) = (!self.too_small(bbox))
            .then(|| align::chip(picture, &detection.landmarks, &template))
            .flatten()
        else {
            return Ok(Some(face));
        };
        let quality = quality(&detection, &chip);
        face.quality = quality;
        face.look = self.settings.spot_pictures.then(|| Look::of(&chip));
        if quality >= self.settings.min_quality {
            if let Some(embedder) = &mut self.embedder
                && let Some(raw) = embedder.embed(std::slice::from_ref(&chip))?.pop()
            {
                // It is followed by its embedding all the same, and teaches no gallery.
                face.quality *= of_norm(raw.norm, embedder.min_norm());
                face.embedding = Some(raw.embedding);
            }
            face.chip = Some(jpeg(&chip)?);
        }
        Ok(Some(face))
    }

    fn too_small(&self, bbox: Rect) -> bool {
        bbox.w.min(bbox.h) < self.settings.min_size_px
    }
}

fn jpeg(chip: &RgbImage) -> Result<Arc<[u8]>, FaceError> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, CHIP_QUALITY).encode(
        chip.as_raw(),
        chip.width(),
        chip.height(),
        ExtendedColorType::Rgb8,
    )?;
    Ok(bytes.into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::geometry::Point;
    use crate::perceive::face::{FaceTracker, RawEmbedding};
    use crate::perceive::track::TrackerSettings;

    /// Always finds the face of the template.
    struct OneFace;

    impl FaceDetector for OneFace {
        fn detect(&mut self, _picture: &RgbImage) -> Result<Vec<Detection>, FaceError> {
            let bbox = Rect { x: 10.0, y: 10.0, w: 92.0, h: 98.0 };
            Ok(vec![Detection { bbox, landmarks: Template::ARCFACE_112.points, score: 0.9 }])
        }
    }

    /// Gives embeddings of that norm.
    struct OfNorm(f32, Option<f32>);

    impl FaceEmbedder for OfNorm {
        fn template(&self) -> Template {
            Template::ARCFACE_112
        }

        fn embed(&mut self, chips: &[RgbImage]) -> Result<Vec<RawEmbedding>, FaceError> {
            let embedding = Embedding::normalised(vec![1.0, 0.0], ModelHash([1; 32]));
            Ok(chips
                .iter()
                .map(|_| RawEmbedding { embedding: embedding.clone(), norm: self.0 })
                .collect())
        }

        fn gates(&self) -> GatingThresholds {
            EmbedderKind::ArcFace.gates()
        }

        fn min_norm(&self) -> Option<f32> {
            self.1
        }
    }

    /// Finds what it is told to.
    struct Told(Vec<Detection>);

    impl FaceDetector for Told {
        fn detect(&mut self, _picture: &RgbImage) -> Result<Vec<Detection>, FaceError> {
            Ok(self.0.clone())
        }
    }

    /// The template's face, filling a box.
    fn seen(bbox: Rect, score: f32) -> Detection {
        let place =
            |p: Point| Point { x: bbox.x + p.x / 112.0 * bbox.w, y: bbox.y + p.y / 112.0 * bbox.h };
        Detection { bbox, landmarks: Template::ARCFACE_112.points.map(place), score }
    }

    fn analysed(detections: &[Detection]) -> FrameFaces {
        let picture = RgbImage::from_fn(320, 240, |x, y| {
            image::Rgb([if (x / 4 + y / 4).is_multiple_of(2) { 90 } else { 150 }; 3])
        });
        let (detector, embedder) = (Box::new(Told(detections.to_vec())), OfNorm(8.0, None));
        let settings = FacePerception::default();
        let mut analyser = FaceAnalyser::from_parts(detector, Some(Box::new(embedder)), &settings);
        analyser.analyse(&SourceId::new("camera"), Timestamp::EPOCH, &picture).unwrap()
    }

    #[test]
    fn a_face_beyond_an_edge_is_clamped_and_followed() {
        let (w, h) = (60.0, 80.0);
        // Left, top, right, bottom, and each by so much that a strip of 10 px is left.
        for (x, y, clamped) in [
            (-50.0, 80.0, Rect { x: 0.0, y: 80.0, w: 10.0, h }),
            (100.0, -70.0, Rect { x: 100.0, y: 0.0, w, h: 10.0 }),
            (310.0, 80.0, Rect { x: 310.0, y: 80.0, w: 10.0, h }),
            (100.0, 230.0, Rect { x: 100.0, y: 230.0, w, h: 10.0 }),
        ] {
            // A weak one, too: it goes on where it was strong before.
            for score in [0.9, 0.4] {
                let frame = analysed(&[seen(Rect { x, y, w, h }, score)]);
                let [face] = frame.faces.as_slice() else { panic!("{:?}", frame.faces) };
                assert_eq!((face.bbox, face.score), (clamped, score));
                assert_eq!(face.quality, 0.0);
                assert!(face.embedding.is_none() && face.chip.is_none() && face.look.is_none());
            }
        }
        let half = analysed(&[seen(Rect { x: -30.0, y: 80.0, w, h }, 0.9)]);
        assert!(half.faces[0].quality > 0.0 && half.faces[0].bbox.w == 30.0, "{:?}", half.faces);
        let outside = analysed(&[seen(Rect { x: -70.0, y: 80.0, w, h }, 0.9)]);
        assert!(outside.faces.is_empty(), "{:?}", outside.faces);
    }

    #[test]
    fn a_small_face_and_one_without_landmarks_are_followed_and_what_is_weak_as_well_is_not() {
        let small = Rect { x: 100.0, y: 80.0, w: 14.0, h: 18.0 };
        let mut crushed = seen(Rect { x: 200.0, y: 80.0, w: 60.0, h: 80.0 }, 0.8);
        crushed.landmarks = [Point { x: 230.0, y: 120.0 }; 5];
        let frame = analysed(&[seen(small, 0.9), crushed.clone()]);
        let boxes: Vec<Rect> = frame.faces.iter().map(|face| face.bbox).collect();
        assert_eq!(boxes, [small, crushed.bbox]);
        for face in &frame.faces {
            assert_eq!(face.quality, 0.0);
            assert!(face.embedding.is_none() && face.chip.is_none());
        }
        assert!(analysed(&[seen(small, 0.5)]).faces.is_empty());
    }

    #[test]
    fn a_face_that_leaves_the_picture_stays_one_track_and_a_small_one_founds_no_sample() {
        let settings = FacePerception::default();
        let source = SourceId::new("camera");
        let following =
            TrackerSettings::of_faces(&settings, 5.0, Some(EmbedderKind::ArcFace.gates()));
        let mut tracker = FaceTracker::new(source, following);
        for step in 0..8_u8 {
            let x = 20.0 - 9.0 * f32::from(step);
            let leaving = seen(Rect { x, y: 80.0, w: 60.0, h: 80.0 }, 0.9);
            let small = seen(Rect { x: 200.0, y: 80.0, w: 16.0, h: 20.0 }, 0.9);
            let mut frame = analysed(&[leaving, small]);
            frame.at = Timestamp::EPOCH.plus_secs(0.2 * f64::from(step));
            tracker.follow(frame.at, false, &frame.faces);
        }
        let tracks = tracker.seal(Timestamp::EPOCH.plus_secs(30.0));
        let [leaving, small] = tracks.as_slice() else { panic!("{tracks:?}") };
        assert_eq!((leaving.sightings.len(), small.sightings.len()), (8, 8));
        assert!(!leaving.samples.is_empty() && small.samples.is_empty());
    }

    #[test]
    fn what_is_hardly_recognised_is_followed_and_teaches_nothing() {
        let picture = RgbImage::from_fn(112, 112, |x, y| {
            image::Rgb([if (x / 4 + y / 4).is_multiple_of(2) { 90 } else { 150 }; 3])
        });
        let seen = |norm: f32, min_norm: Option<f32>| {
            let embedder = Box::new(OfNorm(norm, min_norm));
            let settings = FacePerception::default();
            let mut analyser =
                FaceAnalyser::from_parts(Box::new(OneFace), Some(embedder), &settings);
            let source = SourceId::new("camera");
            let frame = analyser.analyse(&source, Timestamp::EPOCH, &picture).unwrap();
            let [face] = frame.faces.as_slice() else { panic!("{:?}", frame.faces) };
            assert!(face.embedding.is_some() && face.chip.is_some(), "it is followed");
            face.quality
        };
        let plain = seen(8.0, None);
        assert!(plain > 0.5, "{plain}");
        assert_eq!(seen(20.0, Some(10.0)), plain);
        assert_eq!(seen(8.0, Some(10.0)), 0.0);
    }
}
