//! Scores on the labelled recordings, with the real detector, voice activity and network.
//!
//! `cargo test --lib active_speaker::measured -- --ignored --nocapture` prints them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::golden::lrasd;
use super::*;
use crate::config::VoicePerception;
use crate::geometry::Rect;
use crate::ids::{SourceId, TrackId};
use crate::media::{Frame, Picture};
use crate::perceive::face::fixtures::{Truth, frames, model, shared, stamp};
use crate::perceive::face::{FaceDetector, YuNet};
use crate::perceive::voice::bench::{sound, turns_of};
use crate::runtime::onnx::Device;

/// One face against one turn.
struct Scored {
    person: String,
    from: f64,
    to: f64,
    log_odds: f32,
    secs: f64,
    /// Share of the turn in which this person speaks, by the labels.
    speaks: f64,
    /// Share in which anybody does.
    anybody: f64,
}

/// Scores every turn of a recording against every labelled appearance; and seconds of computing per second of face.
fn scored(name: &str, window_secs: f64) -> Option<(Vec<Scored>, f64)> {
    let video = shared(&format!("recordings/{name}.mp4"))?;
    let labels = shared(&format!("recordings/{name}.json"))?;
    let mut network = lrasd()?;
    let mut detector =
        YuNet::open(&model("face_det_yunet_n_640.onnx")?, 0.6, 1, Device::Cpu).unwrap();
    let truth = Truth::load(&labels);
    let labels: Value = serde_json::from_slice(&std::fs::read(labels).unwrap()).unwrap();
    let turns = turns_of(&sound(&video), &VoicePerception::default())?;

    let mut cutter = MouthCutter::default();
    let mut crops: BTreeMap<TrackId, Vec<Crop>> = BTreeMap::new();
    let (mut between, mut number) = (Vec::new(), 0);
    frames(&video, 1, |at, picture| {
        between.push(Frame {
            source: SourceId::new("camera"),
            at: stamp(at),
            number,
            width: picture.width(),
            height: picture.height(),
            picture: Picture::Rgb8(Arc::from(picture.as_raw().as_slice())),
        });
        number += 1;
        if number % 5 != 1 {
            return;
        }
        let found = detector.detect(picture).unwrap();
        let mut seen: Vec<(TrackId, Rect)> = Vec::new();
        for (index, shown) in truth.appearances.iter().enumerate() {
            let visible = shown.start - 0.005 <= at && at < shown.end - 0.005;
            let inside = found.iter().filter(|f| visible && shown.area.contains(f.bbox.centre()));
            let largest = inside.max_by(|a, b| a.bbox.area().total_cmp(&b.bbox.area()));
            seen.extend(largest.map(|face| (TrackId(index as u64), face.bbox)));
        }
        for cut in cutter.step(stamp(at), seen, false, &std::mem::take(&mut between)) {
            crops.entry(cut.track).or_default().push(cut.crop);
        }
    });

    let spans = |person: Option<&str>| -> Vec<(f64, f64)> {
        let all = labels["identities"].as_array().unwrap().iter();
        all.filter(|identity| person.is_none_or(|person| identity["id"] == person))
            .flat_map(|identity| identity["speaking"].as_array().unwrap())
            .map(|span| (span["start"].as_f64().unwrap(), span["end"].as_f64().unwrap()))
            .collect()
    };
    let share = |spans: Vec<(f64, f64)>, (from, to): (f64, f64)| {
        let both = spans.iter().map(|(a, b)| (b.min(to) - a.max(from)).max(0.0));
        both.sum::<f64>() / (to - from)
    };
    let (mut out, mut took, mut face_secs) = (Vec::new(), Duration::ZERO, 0.0);
    for turn in &turns {
        for (track, crops) in &crops {
            let Some(found) = excerpt(turn.span, crops, window_secs) else { continue };
            let begun = Instant::now();
            let scores = found.score(&mut network, turn, 0.5).unwrap();
            took += begun.elapsed();
            face_secs += found.secs();
            if scores.len() < 10 {
                continue;
            }
            let person = truth.appearances[track.0 as usize].person.clone();
            let at = |at: Timestamp| at.secs_since(Timestamp::EPOCH);
            let window = (at(found.crops[0].at), at(found.crops[0].at) + found.secs());
            out.push(Scored {
                speaks: share(spans(Some(&person)), window),
                anybody: share(spans(None), window),
                person,
                from: at(turn.span.start),
                to: at(turn.span.end),
                log_odds: scores.iter().map(|(_, odds)| odds).sum::<f32>() / scores.len() as f32,
                secs: found.secs(),
            });
        }
    }
    Some((out, took.as_secs_f64() / f64::max(face_secs, 1e-9)))
}

#[test]
#[ignore = "prints figures"]
fn scores_on_the_labelled_recordings() {
    for name in ["two_people_dev", "one_person_dev", "living_room_dev"] {
        for window_secs in [1.0, 2.0, 20.0] {
            let Some((scored, cost)) = scored(name, window_secs) else { return };
            println!("{name}, window {window_secs} s: {cost:.3} s per second of face");
            let (mut right, mut wrong) = (Vec::new(), Vec::new());
            for one in &scored {
                if window_secs == 2.0 {
                    println!(
                        "  {:24} {:6.2}-{:6.2} {:.1} s speaks {:.2} anybody {:.2}: {:+.2}",
                        one.person,
                        one.from,
                        one.to,
                        one.secs,
                        one.speaks,
                        one.anybody,
                        one.log_odds
                    );
                }
                if one.speaks > 0.5 {
                    right.push(one.log_odds);
                } else if one.speaks < 0.1 {
                    wrong.push(one.log_odds);
                }
            }
            right.sort_by(f32::total_cmp);
            wrong.sort_by(f32::total_cmp);
            println!("  speaking {right:.1?}\n  not      {wrong:.1?}");
        }
    }
}

#[test]
fn of_two_people_the_mouth_that_speaks_scores_higher() {
    let Some((scored, _)) = scored("two_people_dev", 2.0) else { return };
    let mean = |wanted: fn(&&Scored) -> bool| {
        let odds: Vec<f32> = scored.iter().filter(wanted).map(|one| one.log_odds).collect();
        assert!(odds.len() >= 2, "{} scored", odds.len());
        odds.iter().sum::<f32>() / odds.len() as f32
    };
    let (speaking, silent) = (mean(|one| one.speaks > 0.6), mean(|one| one.speaks < 0.1));
    assert!(speaking > silent + 0.5, "{speaking} and {silent}");
}
