//! What MoveNet tells of a photograph, against the published graph in float64 (`tests/golden/movenet.py`).

use image::{Rgb, RgbImage};
use serde_json::Value;

use super::{MoveNet, PoseEstimator as _};
use crate::geometry::Rect;
use crate::perceive::face::fixtures::model;
use crate::runtime::onnx::Device;

/// A man of rectangles: what the network makes of it is no body, and the same everywhere.
fn picture() -> RgbImage {
    RgbImage::from_fn(192, 192, |x, y| {
        let inside = |left: u32, top: u32, wide: u32, high: u32| {
            (left..left + wide).contains(&x) && (top..top + high).contains(&y)
        };
        if inside(86, 20, 20, 24) {
            Rgb([224, 172, 140])
        } else if inside(74, 46, 44, 56) || inside(60, 48, 12, 54) || inside(120, 48, 12, 54) {
            Rgb([40, 60, 150])
        } else if inside(78, 102, 16, 74) || inside(98, 102, 16, 74) {
            Rgb([50, 50, 56])
        } else {
            Rgb([(150 + x / 8) as u8, (160 + y / 8) as u8, 170])
        }
    })
}

#[test]
fn movenet_tells_what_it_tells_elsewhere() {
    let golden: Value =
        serde_json::from_str(include_str!("../../../tests/golden/movenet.json")).unwrap();
    let Some(file) = model("movenet_lightning.onnx") else { return };
    let mut network = MoveNet::open(&file, 1, Device::Cpu).unwrap();
    // The crop around this box is the picture itself.
    let body = Rect { x: 57.5, y: 19.5, w: 77.0, h: 153.0 };
    let found = network.estimate(&picture(), body).unwrap();
    let points = golden["points"].as_array().unwrap();
    assert_eq!(points.len(), found.0.len());
    for (number, (found, wanted)) in found.0.iter().zip(points).enumerate() {
        let wanted: [f32; 3] = serde_json::from_value(wanted.clone()).unwrap();
        // (y, x, confidence; at the picture's edge nothing is known.)
        let off =
            (found.at.y - 192.0 * wanted[0]).abs().max((found.at.x - 192.0 * wanted[1]).abs());
        assert!(off < 0.05, "point {number}: {found:?} for {wanted:?}");
        assert!(found.score == 0.0 || (found.score - wanted[2]).abs() < 2e-3, "point {number}");
    }
    assert_eq!(network.estimate(&picture(), body).unwrap(), found);
}
