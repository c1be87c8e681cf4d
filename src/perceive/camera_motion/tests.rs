//! A camera that turns, painted and out of real video.

use image::{Rgb, RgbImage};

use super::*;
use crate::config::FacePerception;
use crate::ids::SourceId;
use crate::perceive::face::fixtures::{Truth, frames, sets, shared, stamp};
use crate::perceive::face::{FaceAnalyser, FaceTracker};
use crate::perceive::track::TrackerSettings;

/// Noise that is the same in every run, 0–255.
fn noise(x: u32, y: u32) -> u32 {
    let mut word = (u64::from(x) << 32 | u64::from(y)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word ^= word >> 31;
    word = word.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (word >> 40) as u32 & 0xff
}

/// A room wider than the picture, with things of 48, 20 and 7 px in it.
fn room(x: u32, y: u32) -> u32 {
    let things = [(48, 5), (20, 3), (7, 2)];
    60 + things.iter().map(|(size, weight)| noise(x / size, y / size) * weight / 18).sum::<u32>()
}

/// What a camera of 640x480 sees that looks at the room from there on, with `over` before it; `light`: how much brighter.
fn view(left: u32, top: u32, light: u32, over: impl Fn(u32, u32) -> Option<u32>) -> GreyPicture {
    GreyPicture::of(&RgbImage::from_fn(640, 480, |x, y| {
        let luma = over(x, y).unwrap_or_else(|| room(x + left, y + top));
        Rgb([(luma + light + noise(x, y + 7 * left) % 8).min(255) as u8; 3])
    }))
}

fn shift(before: GreyPicture, now: GreyPicture) -> Option<(f32, f32)> {
    let mut motion = CameraMotion::default();
    assert_eq!(motion.step(stamp(0.0), before), None, "the first");
    motion.step(stamp(0.2), now).map(|shift| (shift.x, shift.y))
}

#[test]
fn a_turn_is_a_shift_and_who_walks_before_a_camera_that_stands_is_none() {
    let nobody = |_: u32, _: u32| None;
    for (left, top) in [(128, 0), (40, 6), (12, 0), (210, 20)] {
        let found = shift(view(300, 100, 0, nobody), view(300 + left, 100 + top, 12, nobody));
        let (x, y) = found.unwrap();
        assert!(
            (x + left as f32).abs() < 2.0 && (y + top as f32).abs() < 2.0,
            "{left} {top}: {x} {y}"
        );
        let found = shift(view(600, 200, 0, nobody), view(600 - left, 200 - top, 0, nobody));
        let (x, y) = found.unwrap();
        assert!(
            (x - left as f32).abs() < 2.0 && (y - top as f32).abs() < 2.0,
            "{left} {top}: {x} {y}"
        );
    }
    // Somebody who fills three fifths of the picture goes 60 px to the right.
    let body = |from: u32| {
        move |x: u32, y: u32| {
            (from..from + 400).contains(&x).then(|| room(x + 2_000 - from, y + 900))
        }
    };
    assert_eq!(shift(view(300, 100, 0, body(60)), view(300, 100, 0, body(120))), None);
    assert_eq!(
        shift(view(300, 100, 0, nobody), view(301, 100, 0, nobody)),
        None,
        "less than a cell"
    );
    assert_eq!(shift(view(300, 100, 0, nobody), view(300, 100, 40, nobody)), None, "a light");
    assert_eq!(
        shift(view(300, 100, 0, nobody), view(5_000, 900, 0, nobody)),
        None,
        "another scene"
    );
    // Before a bare wall nobody can tell whether he moves or the camera.
    let bare = |from: u32| {
        move |x: u32, y: u32| {
            let inside = (from..from + 260).contains(&x) && y > 90;
            Some(if inside { room(x + 2_000 - from, y) } else { 120 })
        }
    };
    assert_eq!(shift(view(300, 100, 0, bare(100)), view(300, 100, 0, bare(160))), None);
    let small = GreyPicture::of(&RgbImage::from_pixel(64, 48, Rgb([9; 3])));
    assert_eq!(shift(small.clone(), small), None);
}

#[test]
fn a_stretch_of_moving_is_told_once_and_cut_at_no_boundary() {
    let mut motion = CameraMotion::default();
    for step in 0..20_u32 {
        let turned = step.clamp(5, 10) - 5;
        motion.step(stamp(f64::from(step) * 0.2), view(300 + 60 * turned, 100, 0, |_, _| None));
        if step == 7 {
            assert_eq!(motion.until(stamp(1.2)), [], "it goes on");
            let config = bincode::config::standard();
            let bytes = bincode::serde::encode_to_vec(&motion, config).unwrap();
            motion = bincode::serde::decode_from_slice(&bytes, config).unwrap().0;
        }
    }
    assert_eq!(motion.until(stamp(9.0)), [Span::new(stamp(1.0), stamp(2.0))]);
    assert_eq!(motion.until(stamp(9.0)), []);
}

/// A window that looks to and fro over a picture, and where its left edge is: a width a second, which is 60° where a camera
/// sees so much. It begins in the middle.
fn window(picture: &RgbImage, at: f64) -> (RgbImage, f64) {
    let (width, height) = (picture.width() * 5 / 8, picture.height() * 5 / 8);
    let free = f64::from(picture.width() - width);
    let way = (at * f64::from(width) + free / 2.0) % (2.0 * free);
    let left = if way <= free { way } else { 2.0 * free - way }.round();
    let top = (picture.height() - height) / 3;
    (image::imageops::crop_imm(picture, left as u32, top, width, height).to_image(), left)
}

#[test]
fn recordings_of_cameras_that_stand_show_no_motion() {
    for name in ["one_person_dev", "two_people_dev", "living_room_dev"] {
        let Some(video) = shared(&format!("recordings/{name}.mp4")) else { return };
        let mut motion = CameraMotion::default();
        frames(&video, 5, |at, picture| {
            let shift = motion.step(stamp(at), GreyPicture::of(picture));
            assert_eq!(shift, None, "{name} at {at}");
        });
    }
}

#[test]
#[ignore = "measurement"]
fn a_turn_breaks_no_track() {
    let Some(video) = shared("recordings/one_person_dev.mp4") else { return };
    let truth = Truth::load(&video.with_extension("json"));
    let Some((_, models)) = sets().into_iter().find(|(set, _)| *set == "edge") else { return };
    let (settings, source) = (FacePerception::default(), SourceId::new("camera"));
    let mut analyser = FaceAnalyser::new(&models, &settings, 1).unwrap();
    // By boxes alone: what a face looks like would hide a broken prediction.
    let following = TrackerSettings::of_faces(&settings, 5.0, None);
    let mut trackers = [true, false].map(|_| FaceTracker::new(source.clone(), following.clone()));
    let (mut motion, mut before, mut turned, mut told, mut seen) =
        (CameraMotion::default(), None, 0, 0, 0);
    frames(&video, 5, |at, picture| {
        let is_cut = truth.cuts.iter().any(|cut| (0.0..0.2).contains(&(at - cut)));
        let (picture, left) = window(picture, at);
        let shift = motion.step(stamp(at), GreyPicture::of(&picture));
        if let Some(before) = before.replace(left).filter(|_| !is_cut) {
            turned += usize::from(f64::abs(left - before) > 8.0);
            if let Some(shift) = shift {
                told += 1;
                // A curtain has no marks that tell its height: he who moves before it does.
                let off = f64::from(shift.x) - (before - left);
                assert!(
                    off.abs() < 4.0 && shift.y.abs() < 10.0,
                    "{at}: {shift:?}, {before} to {left}"
                );
            }
        }
        let frame = analyser.analyse(&source, stamp(at), &picture).unwrap();
        seen += frame.faces.len();
        let [compensated, plain] = &mut trackers;
        if let Some(shift) = shift {
            compensated.shift(shift);
        }
        compensated.follow(stamp(at), is_cut, &frame.faces);
        plain.follow(stamp(at), is_cut, &frame.faces);
    });
    let [tracks, plain] = trackers.map(|mut tracker| tracker.seal(stamp(1_000.0)));
    println!(
        "{turned} turns of a fifth of the picture, {told} told; {seen} faces in {} tracks, without in {}",
        tracks.len(),
        plain.len()
    );
    assert!(told * 10 >= turned * 9, "{told} of {turned}");
    // No face is left over, and only a cut ends a track.
    assert_eq!(tracks.iter().map(|track| track.sightings.len()).sum::<usize>(), seen);
    assert!(tracks.len() <= truth.cuts.len() + 1, "{}", tracks.len());
    assert!(plain.len() > 3 * tracks.len(), "{}: the scene is too easy", plain.len());
}
