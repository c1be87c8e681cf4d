//! A picture with signs, against what PaddleOCR's own pipeline reads in it (`tests/golden/text_in_view.py`).

use std::sync::Arc;

use image::RgbImage;
use serde::Deserialize;

use super::*;
use crate::perceive::face::fixtures::model;
use crate::runtime::onnx::Device;
use crate::telemetry::stage_times::StageTimes;

/// What the package read.
#[derive(Deserialize)]
struct Reference {
    lines: Vec<ReferenceLine>,
}

#[derive(Deserialize)]
struct ReferenceLine {
    quad: [[f32; 2]; 4],
    text: String,
}

fn files() -> Option<TextFiles> {
    let detector = model("ppocr_v4_detector.onnx")?;
    Some(TextFiles { detector, recognizer: model("ppocr_v4_recognizer.onnx")? })
}

fn reader() -> Option<TextReader> {
    let networks = TextNetworks::open(&files()?, Device::Cpu).unwrap();
    Some(TextReader::new(networks, 0.6, Arc::new(StageTimes::default())))
}

fn signs() -> RgbImage {
    let picture = include_bytes!("../../../tests/golden/text_in_view.jpg");
    image::load_from_memory(picture).unwrap().to_rgb8()
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn lines_lie_where_the_published_pipeline_finds_them_and_say_the_same() {
    let reference = include_str!("../../../tests/golden/text_in_view.json");
    let reference: Reference = serde_json::from_str(reference).unwrap();
    let Some(files) = files() else { return };
    let mut detector = DbNet::open(&files.detector, 1, Device::Cpu).unwrap();
    let mut recognizer = CtcRecognizer::open(&files.recognizer, 1, Device::Cpu).unwrap();
    let picture = signs();
    let quads = detector.detect(&picture).unwrap();
    assert_eq!(quads.len(), reference.lines.len());
    for line in &reference.lines {
        let off = |quad: &Quad| {
            let corners = quad.iter().zip(line.quad);
            corners.map(|(a, [x, y])| (a.x - x).abs().max((a.y - y).abs())).fold(0.0, f32::max)
        };
        let quad = quads.iter().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
        assert!(off(quad) < 4.0, "{}: {quad:?} and {:?}", line.text, line.quad);
        let (text, confidence) = recognizer.read(&picture, *quad).unwrap();
        assert_eq!(letters(&text), letters(&line.text));
        assert!((0.9..=1.0).contains(&confidence), "{text}: {confidence}");
    }
}

#[test]
fn signs_are_read_with_their_spaces_and_the_same_every_time() {
    let Some(mut reader) = reader() else { return };
    let read = reader.read(&signs()).unwrap();
    let texts: Vec<&str> = read.iter().map(|block| block.text.as_str()).collect();
    assert_eq!(texts, ["Meeting Room 4", "Kitchen", "No smoking", "Fire door keep shut"]);
    assert_eq!(reader.read(&signs()).unwrap(), read);
    for (width, height) in [(0, 0), (1, 1), (3, 900), (640, 480)] {
        let grey = RgbImage::from_pixel(width, height, image::Rgb([128; 3]));
        assert_eq!(reader.read(&grey).unwrap(), [], "{width}x{height}");
    }
}

#[test]
fn a_file_of_another_kind_is_refused_by_name() {
    let Some(files) = files() else { return };
    let said = |opened: Result<(), TextError>| opened.unwrap_err().to_string();
    let as_recognizer = CtcRecognizer::open(&files.detector, 1, Device::Cpu).map(drop);
    let as_recognizer = said(as_recognizer);
    assert!(as_recognizer.contains("alphabet") && as_recognizer.contains("detector.onnx"));
    let as_detector = said(DbNet::open(&files.recognizer, 1, Device::Cpu).map(drop));
    assert!(as_detector.contains("ppocr_v4_recognizer.onnx"), "{as_detector}");
}
