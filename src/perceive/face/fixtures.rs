//! Test material: models, photos and labelled recordings, where they exist.

use std::path::{Path, PathBuf};

use gstreamer::prelude::*;
use image::RgbImage;
use serde_json::Value;

use super::{DetectorFiles, EmbedderFile, EmbedderKind, FaceModels};
use crate::geometry::{Point, Rect};
use crate::ids::ModelHash;
use crate::models::Thresholds;
use crate::runtime::onnx::Device;
use crate::time::Timestamp;

fn checkout() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn shared_folder() -> PathBuf {
    std::env::var_os("ENGRAM_SHARED").map_or_else(|| checkout().join("../shared"), PathBuf::from)
}

/// A file or folder of the shared test material (`$ENGRAM_SHARED`, else `../shared`); `None`, and a line that says so,
/// where it is absent.
pub(crate) fn shared(relative: &str) -> Option<PathBuf> {
    present(shared_folder().join(relative))
}

/// A model that set-up put into `target/models`.
pub(crate) fn model(name: &str) -> Option<PathBuf> {
    present(checkout().join("target/models").join(name))
}

fn present(path: PathBuf) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    absent(&format!("{} is not here", path.display()));
    None
}

/// Says what a test leaves out, in the word that `scripts/prove.sh` looks for. In CI, where the shared material is,
/// nothing of it and nothing that `make setup` brings may be absent: there it fails.
pub(crate) fn absent(why: &str) {
    let complete = std::env::var_os("CI").is_some() && shared_folder().exists();
    assert!(!complete, "{why}; in CI nothing may be left out for that");
    eprintln!("SKIPPED: {why}");
}

pub(crate) fn photo(path: &Path) -> RgbImage {
    image::open(path).unwrap().to_rgb8()
}

pub(crate) fn mtcnn() -> Option<DetectorFiles> {
    Some(DetectorFiles::Mtcnn {
        pnet: model("mtcnn_pnet.onnx")?,
        rnet: model("mtcnn_rnet.onnx")?,
        onet: model("mtcnn_onet.onnx")?,
    })
}

pub(crate) fn embedder(kind: EmbedderKind) -> Option<EmbedderFile> {
    let name = match kind {
        EmbedderKind::FaceApi => "faceapi_descriptor.onnx",
        EmbedderKind::MobileFaceNet192 => "mobilefacenet192.onnx",
        _ => "mobilefacenet.onnx",
    };
    let path = model(name)?;
    let calibrated = Thresholds::built_in(name.trim_end_matches(".onnx")).unwrap();
    let min_norm = calibrated.and_then(|thresholds| thresholds.min_norm);
    Some(EmbedderFile { path, kind, hash: ModelHash([kind as u8; 32]), min_norm })
}

/// The `open` and the `edge` set.
pub(crate) fn sets() -> Vec<(&'static str, FaceModels)> {
    let open = || Some((mtcnn()?, embedder(EmbedderKind::FaceApi)?));
    let edge = || {
        let yunet = model("face_det_yunet_n_dynamic.onnx")?;
        Some((DetectorFiles::YuNet(yunet), embedder(EmbedderKind::MobileFaceNet)?))
    };
    [("open", open()), ("edge", edge())]
        .into_iter()
        .filter_map(|(name, files)| {
            let (detector, embedder) = files?;
            Some((name, FaceModels { detector, embedder: Some(embedder), device: Device::Cpu }))
        })
        .collect()
}

/// One labelled appearance of a person on screen.
pub(crate) struct Appearance {
    pub(crate) person: String,
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) area: Rect,
}

/// A labelled recording (`engram-truth/1`).
pub(crate) struct Truth {
    pub(crate) appearances: Vec<Appearance>,
    pub(crate) cuts: Vec<f64>,
}

impl Truth {
    pub(crate) fn load(path: &Path) -> Self {
        let document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut appearances = Vec::new();
        for identity in document["identities"].as_array().unwrap() {
            for visible in identity["visible"].as_array().unwrap() {
                let px = |i: usize| visible["face_area_px"][i].as_f64().unwrap() as f32;
                appearances.push(Appearance {
                    person: identity["id"].as_str().unwrap().to_owned(),
                    start: visible["start"].as_f64().unwrap(),
                    end: visible["end"].as_f64().unwrap(),
                    area: Rect { x: px(0), y: px(1), w: px(2), h: px(3) },
                });
            }
        }
        let cuts = document["cuts"].as_array().unwrap();
        Self { appearances, cuts: cuts.iter().map(|c| c.as_f64().unwrap()).collect() }
    }

    /// Who is on screen at a time (half a frame of tolerance at the ends).
    pub(crate) fn visible(&self, at: f64) -> impl Iterator<Item = &Appearance> {
        self.appearances.iter().filter(move |a| a.start - 0.005 <= at && at < a.end - 0.005)
    }

    /// Whose face a point is.
    pub(crate) fn person_at(&self, at: f64, point: Point) -> Option<&str> {
        self.visible(at).find(|a| a.area.contains(point)).map(|a| a.person.as_str())
    }
}

/// Every `step`-th frame of a recording with its time from the start.
pub(crate) fn frames(path: &Path, step: usize, mut each: impl FnMut(f64, &RgbImage)) {
    gstreamer::init().unwrap();
    let description = format!(
        "filesrc location=\"{}\" ! decodebin ! videoconvert ! video/x-raw,format=RGB ! appsink name=out sync=false max-buffers=4",
        path.display()
    );
    let pipeline = gstreamer::parse::launch(&description).unwrap();
    let pipeline = pipeline.downcast::<gstreamer::Pipeline>().unwrap();
    let sink = pipeline.by_name("out").unwrap().downcast::<gstreamer_app::AppSink>().unwrap();
    pipeline.set_state(gstreamer::State::Playing).unwrap();
    let mut number = 0;
    while let Ok(sample) = sink.pull_sample() {
        if number % step == 0 {
            let caps = sample.caps().unwrap().structure(0).unwrap();
            let width: i32 = caps.get("width").unwrap();
            let height: i32 = caps.get("height").unwrap();
            let buffer = sample.buffer().unwrap();
            let segment = sample.segment().unwrap().downcast_ref::<gstreamer::ClockTime>().unwrap();
            let at = segment.to_stream_time(buffer.pts()).unwrap().nseconds() as f64 * 1e-9;
            let bytes = buffer.map_readable().unwrap();
            let row = 3 * width as usize;
            let stride = row.next_multiple_of(4);
            let packed: Vec<u8> = bytes
                .chunks(stride)
                .take(height as usize)
                .flat_map(|r| &r[..row])
                .copied()
                .collect();
            each(at, &RgbImage::from_raw(width as u32, height as u32, packed).unwrap());
        }
        number += 1;
    }
    pipeline.set_state(gstreamer::State::Null).unwrap();
}

pub(crate) fn stamp(secs: f64) -> Timestamp {
    Timestamp::EPOCH.plus_secs(secs)
}
