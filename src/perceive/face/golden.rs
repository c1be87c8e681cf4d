//! Promises on real pictures, with real models.
//!
//! What each detector gives for `multiface_6.jpg` is kept in [`GOLDEN`], written by hand:
//! `cargo test --lib the_golden_faces_are_written -- --ignored`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::embed::{align, quality};
use super::fixtures::{Truth, embedder, frames, model, mtcnn, photo, sets, shared, stamp};
use super::*;
use crate::config::FacePerception;
use crate::geometry::{Point, Rect};
use crate::ids::SourceId;
use crate::perceive::track::TrackerSettings;
use crate::percept::{Embedding, FrameFaces};
use crate::runtime::onnx::Device;

/// Six faces of `multiface_6.jpg`: left, top, width, height in px as YuNet-640 sees them.
const SIX: [[f32; 4]; 6] = [
    [226.9, 249.7, 78.3, 103.8],
    [555.8, 51.3, 78.5, 107.6],
    [626.4, 198.7, 71.7, 96.2],
    [726.3, 469.9, 73.8, 99.7],
    [417.2, 129.9, 88.7, 118.9],
    [863.0, 439.1, 91.1, 116.3],
];

/// Below the checkout.
const GOLDEN: &str = "tests/golden/face_detectors.json";
/// What another CPU's last bits may change: overlap of boxes, px of landmarks, score.
const SAME_IOU: f32 = 0.97;
const SAME_PX: f32 = 1.0;
const SAME_SCORE: f32 = 0.02;

/// A face as a detector gave it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct GoldenFace {
    /// Left, top, width, height, px.
    bbox: [f32; 4],
    /// As in [`Detection::landmarks`].
    landmarks: [[f32; 2]; 5],
    score: f32,
}

impl GoldenFace {
    fn of(face: &Detection) -> Self {
        let rounded = |value: f32| (value * 100.0).round() / 100.0;
        let Rect { x, y, w, h } = face.bbox;
        Self {
            bbox: [x, y, w, h].map(rounded),
            landmarks: face.landmarks.map(|Point { x, y }| [rounded(x), rounded(y)]),
            score: (face.score * 1e4).round() / 1e4,
        }
    }

    fn overlap(&self, face: &Detection) -> f32 {
        let [x, y, w, h] = self.bbox;
        Rect { x, y, w, h }.iou(face.bbox)
    }

    /// How far the farthest landmark is off, px.
    fn off(&self, face: &Detection) -> f32 {
        let pairs = self.landmarks.iter().zip(&face.landmarks);
        pairs.map(|([x, y], p)| (x - p.x).hypot(y - p.y)).fold(0.0, f32::max)
    }
}

fn golden_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN)
}

fn detectors(min_score: f32) -> Vec<(&'static str, Box<dyn FaceDetector>)> {
    let mut all: Vec<(&'static str, Box<dyn FaceDetector>)> = Vec::new();
    for name in
        ["face_det_yunet_n_640.onnx", "face_det_yunet_n_320.onnx", "face_det_yunet_n_dynamic.onnx"]
    {
        if let Some(path) = model(name) {
            all.push((name, Box::new(YuNet::open(&path, min_score, 1, Device::Cpu).unwrap())));
        }
    }
    if let Some(path) = shared("models/face_det_scrfd_500m_bnkps.onnx") {
        all.push(("scrfd", Box::new(Scrfd::open(&path, min_score, 1, Device::Cpu).unwrap())));
    }
    if let (Some(path), Some(onet)) =
        (shared("models/face_det_ultralight_rfb320.onnx"), model("mtcnn_onet.onnx"))
    {
        let ultraface = UltraFace::open(&path, &onet, min_score, 1, Device::Cpu).unwrap();
        all.push(("ultraface", Box::new(ultraface)));
    }
    if let Some(DetectorFiles::Mtcnn { pnet, rnet, onet }) = mtcnn() {
        let nets = [pnet.as_path(), &rnet, &onet];
        all.push(("mtcnn", Box::new(Mtcnn::open(nets, 40.0, min_score, 1, Device::Cpu).unwrap())));
    }
    all
}

#[test]
fn every_detector_finds_the_six_faces_and_nothing_else() {
    let Some(path) = shared("recordings/faces/multiface_6.jpg") else { return };
    let picture = photo(&path);
    for (name, mut detector) in detectors(0.6) {
        let faces = detector.detect(&picture).unwrap();
        assert_eq!(faces.len(), 6, "{name}: {faces:?}");
        for [x, y, w, h] in SIX {
            let wanted = Rect { x, y, w, h };
            let best = faces.iter().map(|f| f.bbox.iou(wanted)).fold(0.0, f32::max);
            let least = if name.contains("640") { 0.97 } else { 0.6 };
            assert!(best > least, "{name}: {wanted:?} found with IoU {best}");
        }
        for face in &faces {
            let [left, right, nose, mouth_left, mouth_right] = face.landmarks;
            assert!(left.x < right.x && mouth_left.x < mouth_right.x, "{name}: {face:?}");
            assert!(left.y < nose.y && nose.y < mouth_left.y, "{name}: {face:?}");
        }
    }
}

#[test]
#[ignore = "writes tests/golden/face_detectors.json, by hand"]
fn the_golden_faces_are_written() {
    let picture = photo(&shared("recordings/faces/multiface_6.jpg").unwrap());
    let mut golden: BTreeMap<&str, Vec<GoldenFace>> = BTreeMap::new();
    for (name, mut detector) in detectors(0.6) {
        let faces = detector.detect(&picture).unwrap();
        assert_eq!(faces.len(), SIX.len(), "{name}: {faces:?}");
        golden.insert(name, faces.iter().map(GoldenFace::of).collect());
    }
    let text = serde_json::to_string_pretty(&golden).unwrap();
    std::fs::write(golden_file(), text + "\n").unwrap();
}

#[test]
fn every_detector_gives_its_golden_faces() {
    let Some(path) = shared("recordings/faces/multiface_6.jpg") else { return };
    let picture = photo(&path);
    let cure = "write it: cargo test --lib the_golden_faces_are_written -- --ignored";
    let text = std::fs::read_to_string(golden_file())
        .unwrap_or_else(|error| panic!("{GOLDEN}: {error}; {cure}"));
    let golden: BTreeMap<String, Vec<GoldenFace>> = serde_json::from_str(&text).unwrap();
    for (name, mut detector) in detectors(0.6) {
        let wanted = golden.get(name).unwrap_or_else(|| panic!("{GOLDEN} has no {name}; {cure}"));
        let faces = detector.detect(&picture).unwrap();
        assert_eq!(faces.len(), wanted.len(), "{name}: {faces:?}");
        for one in wanted {
            let nearest =
                |a: &&Detection, b: &&Detection| one.overlap(a).total_cmp(&one.overlap(b));
            let face = faces.iter().max_by(nearest).unwrap();
            assert!(one.overlap(face) >= SAME_IOU, "{name}: {one:?} is {face:?}");
            assert!(one.off(face) <= SAME_PX, "{name}: {one:?} is {face:?}");
            assert!((one.score - face.score).abs() <= SAME_SCORE, "{name}: {one:?} is {face:?}");
        }
    }
}

/// Pictures of any shape are brought to sides that are multiples of 32 by nets of free size.
#[test]
fn a_net_of_free_size_finds_the_faces_of_pictures_of_any_shape() {
    let Some(path) = shared("recordings/faces/multiface_6.jpg") else { return };
    let picture = photo(&path);
    let (width, height) = picture.dimensions();
    for (name, mut detector) in detectors(0.6) {
        if !(name.contains("dynamic") || name == "scrfd") {
            continue;
        }
        for (x0, y0, x1, y1) in [
            (0, 0, width, height),
            (width / 2 - 13, 0, width, height),
            (0, 0, width - 101, height / 2 + 37),
            (191, 83, 541, 433),
        ] {
            let part = image::imageops::crop_imm(&picture, x0, y0, x1 - x0, y1 - y0).to_image();
            let faces = detector.detect(&part).unwrap();
            for [x, y, w, h] in SIX {
                // Clear of the edges, with what is around it.
                let whole = x - 0.4 * w > x0 as f32
                    && y - 0.4 * h > y0 as f32
                    && x + 1.4 * w < x1 as f32
                    && y + 1.4 * h < y1 as f32;
                let wanted = Rect { x: x - x0 as f32, y: y - y0 as f32, w, h };
                let best = faces.iter().map(|f| f.bbox.iou(wanted)).fold(0.0, f32::max);
                assert!(!whole || best > 0.6, "{name} {x0},{y0}-{x1},{y1}: {wanted:?}, {best}");
            }
        }
    }
}

#[test]
fn a_picture_without_faces_or_without_pixels_gives_none() {
    let blank = image::RgbImage::from_pixel(320, 240, image::Rgb([90, 120, 60]));
    let tiny = image::RgbImage::from_pixel(1, 1, image::Rgb([9, 9, 9]));
    let tall = image::RgbImage::from_pixel(3, 2000, image::Rgb([200, 9, 9]));
    let empty = image::RgbImage::new(0, 0);
    for (name, mut detector) in detectors(0.3) {
        for picture in [&blank, &tiny, &tall, &empty] {
            assert_eq!(detector.detect(picture).unwrap(), [], "{name} {:?}", picture.dimensions());
        }
    }
}

/// Whoever comes into an empty scene is found as if all of it had been searched; what is no face is not.
#[test]
fn who_comes_into_an_empty_scene_is_found_where_it_changes() {
    let Some(path) = shared("recordings/faces/multiface_6.jpg") else { return };
    let picture = photo(&path);
    let around = |[x, y, w, h]: [f32; 4]| {
        let (left, top) = ((x - 0.4 * w).max(0.0) as u32, (y - 0.4 * h).max(0.0) as u32);
        (left, top, (1.8 * w) as u32, (1.8 * h) as u32)
    };
    let mut scene = picture.clone();
    let fill = |scene: &mut image::RgbImage, (x, y, w, h): (u32, u32, u32, u32), luma: u8| {
        for (column, row) in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            scene.put_pixel(column, row, image::Rgb([luma; 3]));
        }
    };
    SIX.iter().for_each(|face| fill(&mut scene, around(*face), 110));
    let mut backdrop = BackgroundModel::default();
    backdrop.learn(&Thumbnail::of(&scene));
    let (source, at) = (SourceId::new("camera"), stamp(0.0));
    for (name, detector) in detectors(0.36) {
        let mut analyser = FaceAnalyser::from_parts(detector, None, &FacePerception::default());
        let places = |found: FrameFaces| -> Vec<(Rect, f32)> {
            found.faces.iter().map(|face| (face.bbox, face.score)).collect()
        };
        let empty = places(analyser.analyse(&source, at, &scene).unwrap());
        assert_eq!(empty, [], "{name}");
        for face in SIX {
            let (x, y, w, h) = around(face);
            let mut with_face = scene.clone();
            let face_alone = image::imageops::crop_imm(&picture, x, y, w, h).to_image();
            image::imageops::replace(&mut with_face, &face_alone, i64::from(x), i64::from(y));
            let change = backdrop.change(&Thumbnail::of(&with_face)).unwrap();
            let whole = places(analyser.analyse(&source, at, &with_face).unwrap());
            let part = places(analyser.analyse_change(&source, at, &with_face, &change).unwrap());
            assert_eq!(part, whole, "{name}: {face:?}");
            assert!(!whole.is_empty(), "{name}: {face:?}");

            fill(&mut with_face, (x, y, w, h), 220);
            let change = backdrop.change(&Thumbnail::of(&with_face)).unwrap();
            let part = places(analyser.analyse_change(&source, at, &with_face, &change).unwrap());
            assert_eq!(part, [], "{name}: {face:?}");
        }
    }
}

/// Chips of five photos of each person.
fn photo_chips(
    detector: &mut dyn FaceDetector,
    template: &align::Template,
) -> Option<Vec<(String, image::RgbImage)>> {
    let root = shared("recordings/faces/lfw")?;
    let mut all = Vec::new();
    let sorted = |dir: &std::path::Path| {
        let mut paths: Vec<_> =
            std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        paths
    };
    for person in sorted(&root) {
        for file in sorted(&person).into_iter().take(5) {
            let picture = photo(&file);
            let mut faces = detector.detect(&picture).unwrap();
            faces.sort_by(|a, b| b.bbox.area().total_cmp(&a.bbox.area()));
            let chip = align::chip(&picture, &faces[0].landmarks, template).unwrap();
            all.push((person.display().to_string(), chip));
        }
    }
    Some(all)
}

/// Cosines of all pairs of photos, same person and others.
fn photo_cosines(
    detector: &mut dyn FaceDetector,
    embedder: &mut dyn FaceEmbedder,
) -> Option<(Vec<f32>, Vec<f32>)> {
    let chips = photo_chips(detector, &embedder.template())?;
    let mut embed = |chip| embedder.embed(&[chip]).unwrap().remove(0).embedding;
    let all: Vec<(String, Embedding)> =
        chips.into_iter().map(|(person, chip)| (person, embed(chip))).collect();
    let (mut same, mut other) = (vec![], vec![]);
    for (i, (a, x)) in all.iter().enumerate() {
        for (b, y) in &all[i + 1..] {
            let list = if a == b { &mut same } else { &mut other };
            list.push(x.cosine(y).unwrap());
        }
    }
    Some((same, other))
}

#[test]
fn photos_of_one_person_are_more_alike_than_of_two() {
    for (kind, threshold) in [
        (EmbedderKind::MobileFaceNet, 0.30),
        (EmbedderKind::MobileFaceNet192, 0.37),
        (EmbedderKind::FaceApi, 0.905),
    ] {
        let (Some(path), Some(file)) = (model("face_det_yunet_n_320.onnx"), embedder(kind)) else {
            return;
        };
        let mut detector = YuNet::open(&path, 0.6, 1, Device::Cpu).unwrap();
        let mut net = OnnxEmbedder::open(&file.path, kind, file.hash, 1, Device::Cpu).unwrap();
        let Some((same, other)) = photo_cosines(&mut detector, &mut net) else { return };
        let refused = same.iter().filter(|c| **c < threshold).count();
        let accepted = other.iter().filter(|c| **c >= threshold).count();
        assert!(
            refused <= 1 && accepted <= 3,
            "{kind:?}: {refused} of {}, {accepted} of {}",
            same.len(),
            other.len()
        );
    }
}

#[test]
fn a_face_that_cannot_be_recognised_has_a_short_embedding() {
    let kind = EmbedderKind::MobileFaceNet;
    let (Some(path), Some(file)) = (model("face_det_yunet_n_320.onnx"), embedder(kind)) else {
        return;
    };
    let mut detector = YuNet::open(&path, 0.6, 1, Device::Cpu).unwrap();
    let net = OnnxEmbedder::open(&file.path, kind, file.hash, 1, Device::Cpu).unwrap();
    let mut net = net.with_min_norm(file.min_norm);
    assert!(net.min_norm().is_some(), "it is calibrated");
    let Some(chips) = photo_chips(&mut detector, &net.template()) else { return };
    let mut left = |chip| {
        let norm = net.embed(&[chip]).unwrap().remove(0).norm;
        quality::of_norm(norm, net.min_norm())
    };
    for (person, chip) in chips {
        let blurred = image::imageops::blur(&chip, 8.0);
        assert!(left(blurred) < 0.5, "{person}");
        assert_eq!(left(chip), 1.0, "{person}");
    }
}

#[test]
fn a_wrong_model_is_refused_with_its_name() {
    let (Some(yunet), Some(file)) =
        (model("face_det_yunet_n_640.onnx"), embedder(EmbedderKind::MobileFaceNet))
    else {
        return;
    };
    let error = YuNet::open(&file.path, 0.6, 1, Device::Cpu).err().unwrap().to_string();
    assert!(error.contains("mobilefacenet.onnx") && error.contains("YuNet"), "{error}");
    let error = OnnxEmbedder::open(&yunet, file.kind, file.hash, 1, Device::Cpu).err().unwrap();
    assert!(error.to_string().contains("face_det_yunet_n_640.onnx"), "{error}");
}

/// Everything of a frame that must not depend on what was analysed before or beside it.
fn fingerprint(frame: &FrameFaces) -> String {
    format!("{:?}", frame.faces)
}

#[test]
fn the_same_picture_gives_the_same_faces_whoever_analyses_it() {
    let (Some(six), Some(other)) = (
        shared("recordings/faces/multiface_6.jpg"),
        shared("recordings/faces/lfw/Colin_Powell/Colin_Powell_0001.jpg"),
    ) else {
        return;
    };
    let (six, other) = (photo(&six), photo(&other));
    let source = SourceId::new("camera");
    for (set, models) in sets() {
        let settings = FacePerception::default();
        let mut fresh = FaceAnalyser::new(&models, &settings, 1).unwrap();
        let mut used = FaceAnalyser::new(&models, &settings, 1).unwrap();
        for picture in [&other, &six, &other] {
            used.analyse(&source, stamp(0.0), picture).unwrap();
        }
        let first = fresh.analyse(&source, stamp(0.0), &six).unwrap();
        let later = used.analyse(&source, stamp(0.0), &six).unwrap();
        assert_eq!(fingerprint(&first), fingerprint(&later), "{set}");
        assert_eq!(first.faces.len(), 6, "{set}");
        assert!(first.faces.iter().all(|f| f.embedding.is_some() && f.chip.is_some()), "{set}");
    }
}

#[test]
fn no_track_of_a_recording_with_hard_cuts_holds_two_persons() {
    let Some(video) = shared("recordings/two_people_dev.mp4") else { return };
    let truth = Truth::load(&video.with_extension("json"));
    let settings = FacePerception::default();
    let source = SourceId::new("camera");
    for (set, models) in sets() {
        let mut analyser = FaceAnalyser::new(&models, &settings, 1).unwrap();
        let following = TrackerSettings::of_faces(&settings, 2.5, analyser.gates());
        let mut tracker = FaceTracker::new(source.clone(), following);
        let (mut cuts, mut visible) = (CutDetector::default(), 0);
        frames(&video, 10, |at, picture| {
            let frame = analyser.analyse(&source, stamp(at), picture).unwrap();
            let cut = cuts.step(Thumbnail::of(picture));
            tracker.follow(frame.at, cut, &frame.faces);
            visible += truth.visible(at).count();
        });
        let mut followed = 0;
        for track in tracker.seal(stamp(1000.0)) {
            let who = |s: &crate::percept::Sighting| {
                truth.person_at(s.at.secs_since(stamp(0.0)), s.bbox.centre())
            };
            let person = who(&track.sightings[0]);
            assert!(person.is_some(), "{set}: {} follows nobody", track.id);
            assert!(
                track.sightings.iter().all(|s| who(s) == person),
                "{set}: {} is mixed",
                track.id
            );
            followed += track.sightings.len();
        }
        assert_eq!(followed, visible, "{set}");
    }
}
