//! Videos out of pictures that a test draws.

use std::path::{Path, PathBuf};

use gstreamer as gst;
use gstreamer::prelude::*;
use image::RgbImage;

/// A video of those pictures in `dir`, `fps` a second, each a JPEG in a Matroska file.
pub fn of_pictures(
    dir: &Path,
    name: &str,
    fps: u32,
    pictures: impl Iterator<Item = RgbImage>,
) -> PathBuf {
    for (number, picture) in pictures.enumerate() {
        picture.save(dir.join(format!("{number:05}.jpg"))).unwrap();
    }
    let path = dir.join(name);
    gst::init().unwrap();
    let pipeline = gst::parse::launch(&format!(
        "multifilesrc location={}/%05d.jpg caps=image/jpeg,framerate={fps}/1 ! jpegdec ! videoconvert \
         ! jpegenc quality=95 ! matroskamux ! filesink location={}",
        dir.display(),
        path.display()
    ))
    .unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    let kinds = [gst::MessageType::Eos, gst::MessageType::Error];
    let end = pipeline.bus().unwrap().timed_pop_filtered(gst::ClockTime::from_seconds(120), &kinds);
    pipeline.set_state(gst::State::Null).unwrap();
    assert!(matches!(end.unwrap().view(), gst::MessageView::Eos(_)));
    path
}
