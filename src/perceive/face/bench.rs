//! Figures on real recordings and photos, printed: `cargo test --lib perceive::face::measure -- --ignored --nocapture`.

use std::collections::BTreeMap;
use std::time::Instant;

use super::embed::align;
use super::embed::align::Template;
use super::embed::quality;
use super::embed::quality::quality as quality_of;
use super::fixtures::{Truth, embedder, frames, model, mtcnn, photo, sets, shared, stamp};
use super::*;
use crate::config::FacePerception;
use crate::ids::SourceId;
use crate::perceive::track::TrackerSettings;
use crate::percept::{Embedding, FaceTrack};
use crate::runtime::onnx::Device;
use image::RgbImage;

const RECORDINGS: [&str; 3] = ["living_room_dev", "two_people_dev", "one_person_dev"];

fn detectors() -> Vec<(&'static str, Box<dyn FaceDetector>)> {
    let mut all: Vec<(&'static str, Box<dyn FaceDetector>)> = Vec::new();
    let low = 0.3;
    for (name, file) in [
        ("yunet_640", "face_det_yunet_n_640.onnx"),
        ("yunet_free", "face_det_yunet_n_dynamic.onnx"),
        ("yunet_320", "face_det_yunet_n_320.onnx"),
    ] {
        if let Some(path) = model(file) {
            all.push((name, Box::new(YuNet::open(&path, low, 1, Device::Cpu).unwrap())));
        }
    }
    if let Some(path) = shared("models/face_det_scrfd_500m_bnkps.onnx") {
        all.push(("scrfd_500m", Box::new(Scrfd::open(&path, low, 1, Device::Cpu).unwrap())));
    }
    if let Some(DetectorFiles::Mtcnn { pnet, rnet, onet }) = mtcnn() {
        for (name, min_face) in [("mtcnn_40", 40.0), ("mtcnn_32", 32.0)] {
            let nets = [pnet.as_path(), &rnet, &onet];
            let net = Mtcnn::open(nets, min_face, low, 1, Device::Cpu).unwrap();
            all.push((name, Box::new(net)));
        }
    }
    all
}

/// Recall, false faces and time of every detector.
#[test]
#[ignore = "measurement"]
fn detection() {
    for name in RECORDINGS {
        let Some(video) = shared(&format!("recordings/{name}.mp4")) else { return };
        let truth = Truth::load(&video.with_extension("json"));
        let mut pictures: Vec<(f64, RgbImage)> = Vec::new();
        frames(&video, 5, |at, picture| pictures.push((at, picture.clone())));
        for (label, mut detector) in detectors() {
            let (mut labelled, mut found, mut secs) = (0, 0, 0.0);
            let (mut true_scores, mut false_scores, mut false_in_empty) = (vec![], vec![], vec![]);
            for (at, picture) in &pictures {
                let begin = Instant::now();
                let faces = detector.detect(picture).unwrap();
                secs += begin.elapsed().as_secs_f64();
                let mut empty = true;
                for appearance in truth.visible(*at) {
                    empty = false;
                    labelled += 1;
                    let best = faces.iter().find(|f| appearance.area.contains(f.bbox.centre()));
                    found += usize::from(best.is_some());
                    true_scores.extend(best.map(|f| f.score));
                }
                for face in &faces {
                    if truth.person_at(*at, face.bbox.centre()).is_none() {
                        false_scores.push(face.score);
                        if empty {
                            false_in_empty.push(face.score);
                        }
                    }
                }
            }
            true_scores.sort_by(f32::total_cmp);
            false_scores.sort_by(f32::total_cmp);
            let quantile = |q: f64| true_scores.get((q * true_scores.len() as f64) as usize);
            println!(
                "{name} {label}: {found}/{labelled}, true scores min {:?} 1% {:?} 5% {:?}; false {} (max {:?}), in empty {} (max {:?}); {:.1} ms",
                true_scores.first(),
                quantile(0.01),
                quantile(0.05),
                false_scores.len(),
                false_scores.last(),
                false_in_empty.len(),
                false_in_empty.iter().copied().fold(0.0, f32::max),
                1e3 * secs / pictures.len() as f64
            );
        }
    }
}

/// Purity of tracks, cosines of their samples, cuts.
#[test]
#[ignore = "measurement"]
fn tracks() {
    let settings = FacePerception::default();
    for (set, models) in sets() {
        let (mut all_same, mut all_other) = (vec![], vec![]);
        for name in RECORDINGS {
            let Some(video) = shared(&format!("recordings/{name}.mp4")) else { return };
            let truth = Truth::load(&video.with_extension("json"));
            let mut analyser = FaceAnalyser::new(&models, &settings, 1).unwrap();
            let mut cuts = CutDetector::default();
            let source = SourceId::new("camera");
            let mut tracker = FaceTracker::new(
                source.clone(),
                TrackerSettings::of_faces(&settings, 5.0, analyser.gates()),
            );
            let (mut parts, mut border, mut cut_times) = (Vec::new(), 30.0, Vec::new());
            let (mut qualities, mut unembedded) = (Vec::new(), 0);
            let (mut secs, mut count) = (0.0, 0);
            let (mut within, mut across) = (vec![], vec![]);
            let mut recent: BTreeMap<String, Vec<Embedding>> = BTreeMap::new();
            frames(&video, 5, |at, picture| {
                while at >= border {
                    parts.extend(tracker.seal(stamp(border)));
                    border += 30.0;
                }
                let begin = Instant::now();
                let frame = analyser.analyse(&source, stamp(at), picture).unwrap();
                let cut = cuts.step(Thumbnail::of(picture));
                if cut {
                    cut_times.push(at);
                }
                tracker.follow(frame.at, cut, &frame.faces);
                secs += begin.elapsed().as_secs_f64();
                count += 1;
                if truth.cuts.iter().any(|c| (0.0..0.2).contains(&(at - c))) {
                    recent
                        .values_mut()
                        .for_each(|list| list.drain(..list.len().saturating_sub(2)).for_each(drop));
                }
                for face in &frame.faces {
                    let who = truth.person_at(at, face.bbox.centre()).map(str::to_owned);
                    if let (Some(who), Some(embedding)) = (who, &face.embedding) {
                        for (name, list) in &recent {
                            let cosine = mean(list.iter()).unwrap().cosine(embedding).unwrap();
                            if *name == who { within.push(cosine) } else { across.push(cosine) }
                        }
                        let list = recent.entry(who).or_default();
                        list.push(embedding.clone());
                        if list.len() > 5 {
                            list.remove(0);
                        }
                    }
                    qualities.push(face.quality);
                    unembedded += usize::from(face.embedding.is_none());
                }
            });
            parts.extend(tracker.seal(stamp(border)));
            qualities.sort_by(f32::total_cmp);
            println!(
                "{set} {name}: {:.1} ms/frame, faces {}, not embedded {unembedded}, quality min {:.2} 5% {:.2} median {:.2}",
                1e3 * secs / f64::from(count),
                qualities.len(),
                qualities[0],
                qualities[qualities.len() / 20],
                qualities[qualities.len() / 2]
            );
            let near = |t: f64, list: &[f64]| list.iter().any(|c| (0.0..0.21).contains(&(t - c)));
            let missed: Vec<_> =
                truth.cuts.iter().filter(|c| !cut_times.iter().any(|t| near(*t, &[**c]))).collect();
            let wrong: Vec<_> = cut_times.iter().filter(|t| !near(**t, &truth.cuts)).collect();
            println!(
                "  cuts {} of {}, missed {missed:?}, wrong {wrong:?}",
                truth.cuts.len() - missed.len(),
                truth.cuts.len()
            );
            show(set, "face against the latest 5", &mut within, &mut across);
            judge(&truth, &parts, &mut all_same, &mut all_other);
        }
        show(set, "clip parts of tracks, mean of samples", &mut all_same, &mut all_other);
    }
}

fn mean<'a>(embeddings: impl Iterator<Item = &'a Embedding>) -> Option<Embedding> {
    let embeddings: Vec<_> = embeddings.collect();
    let first = embeddings.first()?;
    let mut sum = vec![0.0; first.values.len()];
    for embedding in &embeddings {
        for (total, value) in sum.iter_mut().zip(&embedding.values) {
            *total += value;
        }
    }
    Some(Embedding::normalised(sum, first.model))
}

fn judge(truth: &Truth, parts: &[FaceTrack], same: &mut Vec<f32>, other: &mut Vec<f32>) {
    let mut people: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    let mut means: Vec<(String, Embedding)> = Vec::new();
    let (mut ids, mut mixed, mut strangers) = (std::collections::BTreeMap::new(), 0, 0);
    for part in parts {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for sighting in &part.sightings {
            let at = sighting.at.secs_since(stamp(0.0));
            let who = truth.person_at(at, sighting.bbox.centre()).unwrap_or("nobody");
            *seen.entry(who.to_owned()).or_default() += 1;
            ids.entry(part.id)
                .or_insert_with(std::collections::BTreeSet::new)
                .insert(who.to_owned());
        }
        if seen.len() > 1 {
            mixed += 1;
            println!("  mixed {}: {seen:?} {}", part.id, part.span);
        }
        let main = seen.iter().max_by_key(|(_, n)| **n).map(|(p, _)| p.clone()).unwrap_or_default();
        strangers += usize::from(main == "nobody");
        let entry = people.entry(main.clone()).or_default();
        entry.0 += 1;
        entry.1 += part.span.secs();
        if let Some(mean) = mean(part.samples.iter().map(|s| &s.embedding)) {
            means.push((main, mean));
        }
    }
    let impure = ids.values().filter(|who| who.len() > 1).count();
    println!(
        "  {} parts of {} tracks, {mixed} mixed parts, {impure} impure tracks, {strangers} of nobody; {people:?}",
        parts.len(),
        ids.len()
    );
    for (i, (a, x)) in means.iter().enumerate() {
        for (b, y) in &means[i + 1..] {
            let cosine = x.cosine(y).unwrap();
            if a == b { same.push(cosine) } else { other.push(cosine) }
        }
    }
}

fn show(set: &str, what: &str, same: &mut [f32], other: &mut [f32]) {
    same.sort_by(f32::total_cmp);
    other.sort_by(f32::total_cmp);
    let at = |list: &[f32], q: f64| {
        list.get((q * list.len().saturating_sub(1) as f64) as usize).copied()
    };
    println!(
        "{set} {what}: same n {} min {:?} 5% {:?} median {:?}; other n {} median {:?} 95% {:?} max {:?}",
        same.len(),
        at(same, 0.0),
        at(same, 0.05),
        at(same, 0.5),
        other.len(),
        at(other, 0.5),
        at(other, 0.95),
        at(other, 1.0)
    );
}

/// Equal error rate over all pairs, with its threshold; true accept rate at 1e-3 false accepts.
fn verify(same: &[f32], other: &[f32]) -> (f64, f32, f64) {
    let mut thresholds: Vec<f32> = same.iter().chain(other).copied().collect();
    thresholds.sort_by(f32::total_cmp);
    let rate = |list: &[f32], t: f32, above: bool| {
        list.iter().filter(|c| (**c >= t) == above).count() as f64 / list.len() as f64
    };
    let mut best = (1.0, 0.0, 0.0);
    let mut tar = 0.0f64;
    for t in thresholds {
        let (reject, accept) = (rate(same, t, false), rate(other, t, true));
        if (reject - accept).abs() < best.2 || best.0 >= 1.0 {
            best = (0.5 * (reject + accept), t, (reject - accept).abs());
        }
        if accept <= 1e-3 {
            tar = tar.max(1.0 - reject);
        }
    }
    (best.0, best.1, tar)
}

/// Equal error rates on photos, for every detector and chip.
#[test]
#[ignore = "measurement"]
fn photos() {
    let Some(root) = shared("recordings/faces/lfw") else { return };
    let mut people: Vec<_> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    people.sort();
    let mut images: Vec<(usize, RgbImage)> = Vec::new();
    for (person, folder) in people.iter().enumerate() {
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        images.extend(files.iter().map(|file| (person, photo(file))));
    }
    for (label, mut detector) in detectors() {
        let faces: Vec<(usize, &RgbImage, Option<Detection>)> = images
            .iter()
            .map(|(person, picture)| {
                let faces = detector.detect(picture).unwrap();
                let off = |d: &Detection| {
                    let c = d.bbox.centre();
                    (c.x - 125.0).hypot(c.y - 125.0)
                };
                (*person, picture, faces.into_iter().min_by(|a, b| off(a).total_cmp(&off(b))))
            })
            .collect();
        let found = faces.iter().filter(|f| f.2.is_some()).count();
        let chips = [
            (EmbedderKind::MobileFaceNet, "112", Template::ARCFACE_112),
            (EmbedderKind::FaceApi, "pad 0.15", Template::dlib_150(0.15)),
            (EmbedderKind::FaceApi, "pad 0.20", Template::dlib_150(0.20)),
            (EmbedderKind::FaceApi, "pad 0.25", Template::dlib_150(0.25)),
            (EmbedderKind::FaceApi, "pad 0.30", Template::dlib_150(0.30)),
        ];
        for (kind, name, template) in chips {
            let Some(file) = embedder(kind) else { continue };
            let mut net = OnnxEmbedder::open(&file.path, kind, file.hash, 1, Device::Cpu).unwrap();
            let mut qualities = vec![];
            let embeddings: Vec<(usize, Embedding)> = faces
                .iter()
                .filter_map(|(person, picture, face)| {
                    let face = face.as_ref()?;
                    let chip = align::chip(picture, &face.landmarks, &template)?;
                    qualities.push(quality_of(face, &chip));
                    Some((*person, net.embed(&[chip]).unwrap().remove(0).embedding))
                })
                .collect();
            let (mut same, mut other) = (vec![], vec![]);
            for (i, (a, x)) in embeddings.iter().enumerate() {
                for (b, y) in &embeddings[i + 1..] {
                    let cosine = x.cosine(y).unwrap();
                    if a == b { same.push(cosine) } else { other.push(cosine) }
                }
            }
            qualities.sort_by(f32::total_cmp);
            let (eer, threshold, tar) = verify(&same, &other);
            println!(
                "{label} {found}/{} {kind:?} {name}: EER {:.2} % at {threshold:.3}, TAR@1e-3 {:.1} %; quality min {:.2} median {:.2}",
                images.len(),
                100.0 * eer,
                100.0 * tar,
                qualities[0],
                qualities[qualities.len() / 2]
            );
            show(label, "photos", &mut same, &mut other);
        }
    }
}

/// Milliseconds of every stage for one face of a 640x480 picture.
#[test]
#[ignore = "measurement"]
fn stages() {
    let Some(video) = shared("recordings/one_person_dev.mp4") else { return };
    let mut pictures = Vec::new();
    frames(&video, 25, |_, picture| pictures.push(picture.clone()));
    let time = |name: &str, mut work: Box<dyn FnMut(&RgbImage) + '_>| {
        work(&pictures[0]);
        let begin = Instant::now();
        for picture in &pictures {
            work(picture);
        }
        println!("{name}: {:.2} ms", 1e3 * begin.elapsed().as_secs_f64() / pictures.len() as f64);
    };
    let Some(path) = model("face_det_yunet_n_640.onnx") else { return };
    let mut yunet = YuNet::open(&path, 0.5, 1, Device::Cpu).unwrap();
    let faces: Vec<Detection> =
        pictures.iter().map(|p| yunet.detect(p).unwrap().remove(0)).collect();
    time("area table", Box::new(|p| drop(picture::AreaTable::new(p))));
    for side in [640, 320] {
        let mut memory = Vec::new();
        let fill = |p: &RgbImage| {
            let (size, order) = ((side, side), picture::Channels::Bgr);
            let used = std::mem::take(&mut memory);
            memory = picture::letterbox(p, size, order, 0.0, 1.0, used).into_memory();
        };
        time(&format!("letterbox {side}"), Box::new(fill));
    }
    time("thumbnail", Box::new(|p| drop(Thumbnail::of(p))));
    for (name, template) in [("112", Template::ARCFACE_112), ("150", Template::dlib_150(0.25))] {
        time(
            &format!("chip {name}"),
            Box::new(|p| drop(align::chip(p, &faces[3].landmarks, &template))),
        );
        let chip = align::chip(&pictures[3], &faces[3].landmarks, &template).unwrap();
        time(
            &format!("quality {name}"),
            Box::new(|_| {
                let _ = quality_of(&faces[3], &chip);
            }),
        );
    }
    for (kind, template) in [
        (EmbedderKind::MobileFaceNet, Template::ARCFACE_112),
        (EmbedderKind::FaceApi, Template::dlib_150(0.25)),
    ] {
        let Some(file) = embedder(kind) else { continue };
        let mut net = OnnxEmbedder::open(&file.path, kind, file.hash, 1, Device::Cpu).unwrap();
        let chip = [align::chip(&pictures[3], &faces[3].landmarks, &template).unwrap()];
        time(&format!("{kind:?}"), Box::new(|_| drop(net.embed(&chip).unwrap())));
    }
    for (label, mut detector) in detectors() {
        time(label, Box::new(move |p| drop(detector.detect(p).unwrap())));
    }
}

/// Raw figures behind the constants.
#[test]
#[ignore = "measurement"]
fn raw() {
    if let Some(path) = shared("recordings/faces/multiface_6.jpg") {
        let picture = photo(&path);
        for (label, mut detector) in detectors() {
            let faces = detector.detect(&picture).unwrap();
            println!(
                "{label} {:?}: {:?}",
                picture.dimensions(),
                faces
                    .iter()
                    .map(|f| (f.score, f.bbox.x as i32, f.bbox.y as i32, f.bbox.w as i32))
                    .collect::<Vec<_>>()
            );
        }
    }
    if let Some(root) = shared("recordings/faces/lfw") {
        for (label, mut detector) in detectors() {
            let mut scores = vec![];
            let mut extra = vec![];
            for person in std::fs::read_dir(&root).unwrap() {
                for file in std::fs::read_dir(person.unwrap().path()).unwrap() {
                    let faces = detector.detect(&photo(&file.unwrap().path())).unwrap();
                    for f in faces {
                        let c = f.bbox.centre();
                        if (c.x - 125.0).hypot(c.y - 125.0) < 30.0 {
                            scores.push(f.score)
                        } else {
                            extra.push(f.score)
                        }
                    }
                }
            }
            scores.sort_by(f32::total_cmp);
            extra.sort_by(f32::total_cmp);
            println!("{label} lfw centre {:?} extra {extra:?}", &scores[..8]);
        }
    }
    for name in RECORDINGS {
        let Some(video) = shared(&format!("recordings/{name}.mp4")) else { return };
        let truth = Truth::load(&video.with_extension("json"));
        let mut last: Option<Thumbnail> = None;
        let (mut yes, mut no) = (vec![], vec![]);
        let path = model("face_det_yunet_n_640.onnx").unwrap();
        let mut yunet = YuNet::open(&path, 0.5, 1, Device::Cpu).unwrap();
        frames(&video, 5, |at, picture| {
            let now = Thumbnail::of(picture);
            if let Some(last) = &last {
                let d = last.difference(&now);
                if truth.cuts.iter().any(|c| (0.0..0.2).contains(&(at - c))) {
                    yes.push((d.0, d.1, at))
                } else {
                    no.push((d.0, d.1, at))
                }
            }
            last = Some(now);
            for face in yunet.detect(picture).unwrap() {
                if truth.person_at(at, face.bbox.centre()).is_none() {
                    println!("  false {at:.1} {:.3} {:?}", face.score, face.bbox);
                } else if (at * 5.0).round() as i64 % 25 == 0 {
                    let chip =
                        align::chip(picture, &face.landmarks, &Template::ARCFACE_112).unwrap();
                    println!(
                        "  true {at:.1} {:.3} {:.0}x{:.0} quality {:?}",
                        face.score,
                        face.bbox.w,
                        face.bbox.h,
                        quality::parts(&face, &chip)
                    );
                }
            }
        });
        yes.sort_by(|a, b| a.0.total_cmp(&b.0));
        no.sort_by(|a, b| b.0.total_cmp(&a.0));
        println!("{name} cuts: {yes:.2?}");
        println!("{name} others: {:.2?}", &no[..6]);
        no.sort_by(|a, b| b.1.total_cmp(&a.1));
        println!("{name} others by cells: {:.2?}", &no[..6]);
    }
}
