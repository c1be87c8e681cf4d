//! Promises on pictures, with a real network in every layout.

use std::path::PathBuf;

use image::{Rgb, RgbImage};

use super::*;
use crate::geometry::Rect;
use crate::runtime::onnx::Device;
use crate::runtime::tiny::{Layout, rectangles};

const NAMES: &str = "{0: 'red box', 1: 'blue box'}";
const LAYOUTS: [Layout; 3] = [Layout::Objectness, Layout::Classes, Layout::Finished];

struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn open(model: &std::path::Path) -> Result<Yolo, ObjectError> {
    Yolo::open(model, None, (0.4, 0.5), 1, Device::Cpu)
}

fn painted(width: u32, height: u32, things: &[(Rect, [u8; 3])]) -> RgbImage {
    let ground = |x: u32, y: u32| Rgb([90 + (x / 8) as u8 % 20, 95 + (y / 8) as u8 % 20, 100]);
    RgbImage::from_fn(width, height, |x, y| {
        let at = crate::geometry::Point { x: x as f32 + 0.5, y: y as f32 + 0.5 };
        things.iter().find(|(thing, _)| thing.contains(at)).map_or(ground(x, y), |one| Rgb(one.1))
    })
}

const RED: [u8; 3] = [230, 20, 25];
const BLUE: [u8; 3] = [20, 25, 230];

#[test]
fn every_layout_size_and_batch_finds_the_same_rectangles() {
    let files = Files::new();
    let red = Rect { x: 200.0, y: 60.0, w: 48.0, h: 32.0 };
    let blue = Rect { x: 40.0, y: 150.0, w: 30.0, h: 50.0 };
    let second = Rect { x: 40.0, y: 20.0, w: 40.0, h: 40.0 };
    let things = [(red, RED), (blue, BLUE), (second, RED)];
    let picture = painted(320, 240, &things);
    for layout in LAYOUTS {
        for (batch, side) in
            [(Some(1), Some(160)), (None, Some(160)), (Some(3), Some(160)), (Some(1), None)]
        {
            if layout == Layout::Finished && batch == Some(3) {
                continue;
            }
            // A picture of 640 px stays as large as it is where the size is free: smaller things.
            let (picture, things) = match side {
                Some(_) => (picture.clone(), things),
                None => {
                    let smaller = things.map(|(thing, colour)| {
                        (Rect { w: 0.6 * thing.w, h: 0.6 * thing.h, ..thing }, colour)
                    });
                    (painted(640, 480, &smaller), smaller)
                }
            };
            let what = format!("{layout:?}, batch {batch:?}, side {side:?}");
            let model = files.put("net.onnx", &rectangles(layout, batch, side, Some(NAMES)));
            let mut yolo = open(&model).unwrap_or_else(|error| panic!("{what}: {error}"));
            let found = yolo.detect(&picture).unwrap();
            assert_eq!(found.len(), 3, "{what}: {found:?}");
            for (thing, colour) in things {
                let name = if colour == RED { "red box" } else { "blue box" };
                let of_kind = found.iter().filter(|one| &*one.label == name);
                let best = of_kind.map(|one| one.bbox.iou(thing)).fold(0.0, f32::max);
                assert!(best > 0.85, "{what}: {name} {thing:?} with IoU {best}: {found:?}");
            }
            assert!(found.iter().all(|one| (0.4..=1.0).contains(&one.score)), "{what}");
            assert_eq!(found, yolo.detect(&picture).unwrap(), "{what}");
        }
    }
}

#[test]
fn boxes_at_the_edge_are_cut_and_an_empty_picture_gives_none() {
    let files = Files::new();
    let beyond = Rect { x: 290.0, y: -20.0, w: 60.0, h: 50.0 };
    for layout in LAYOUTS {
        let net = rectangles(layout, Some(1), Some(160), Some(NAMES));
        let mut yolo = open(&files.put("net.onnx", &net)).unwrap();
        let found = yolo.detect(&painted(320, 240, &[(beyond, BLUE)])).unwrap();
        let inside = Rect { x: 290.0, y: 0.0, w: 30.0, h: 30.0 };
        assert_eq!(found.len(), 1, "{layout:?}: {found:?}");
        assert!(found[0].bbox.iou(inside) > 0.8, "{layout:?}: {found:?}");
        assert!(found[0].bbox.right() <= 320.0 && found[0].bbox.y >= 0.0);
        for (width, height) in [(320, 240), (1, 1), (3, 900), (0, 0)] {
            assert_eq!(yolo.detect(&painted(width, height, &[])).unwrap(), [], "{width}x{height}");
        }
    }
}

#[test]
fn labels_come_from_their_file_or_from_the_model_and_must_fit() {
    let files = Files::new();
    let picture = painted(320, 240, &[(Rect { x: 100.0, y: 100.0, w: 40.0, h: 40.0 }, RED)]);
    let bare = files.put("bare.onnx", &rectangles(Layout::Classes, None, Some(160), None));
    let with = |labels: &str| {
        let labels = files.put("labels", labels.as_bytes());
        Yolo::open(&bare, Some(&labels), (0.4, 0.5), 1, Device::Cpu)
    };
    let found = with("cup\nbook\n").unwrap().detect(&picture).unwrap();
    assert_eq!(&*found[0].label, "cup");
    let found = with("names: {0: apple, 1: pear}").unwrap().detect(&picture).unwrap();
    assert_eq!(&*found[0].label, "apple");
    let said = |opened: Result<Yolo, ObjectError>| opened.map(drop).unwrap_err().to_string();
    let unfit = said(with("cup\nbook\npen\n"));
    assert!(unfit.contains("with 3 labels") && unfit.contains("bare.onnx"), "{unfit}");
    let nameless = said(open(&bare));
    assert!(nameless.contains("objects.labels"), "{nameless}");
    let damaged = files.put("damaged.onnx", b"no protobuf");
    assert!(said(open(&damaged)).contains("damaged.onnx"));
    assert!(said(open(&files.dir.path().join("none.onnx"))).contains("no such file"));
}
