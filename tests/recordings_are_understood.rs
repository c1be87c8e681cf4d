//! The labelled recordings: who is in them, where each face is, whose voice it is.

use serde_json::Value;

use crate::support::{Robot, need};

fn scores(set: &str, recording: &str) -> Option<Value> {
    let video = crate::support::shared(&format!("recordings/{recording}.mp4"))?;
    let labels = crate::support::shared(&format!("recordings/{recording}.json"))?;
    let robot = Robot::new(set);
    let scores = robot.json(&[
        "bench",
        "perception",
        video.to_str()?,
        "--labels",
        labels.to_str()?,
        "--json",
    ]);
    println!("{recording} with {set}: {scores}");
    Some(scores)
}

/// PocketSphinx would print its options, once for every recogniser.
#[test]
fn no_library_prints_beside_the_replay() {
    let recording = need!("recordings/one_person_dev.mp4");
    let robot = Robot::new("edge").set("transcriber.kind=\"pocketsphinx\"");
    let output = robot.run(&["replay", recording.to_str().unwrap(), "--duration", "3"]);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

fn everybody_is_found(set: &str, recording: &str, on_screen: u64, heard_only: u64) {
    let Some(scores) = scores(set, recording) else { return };
    let persons = &scores["persons"];
    assert_eq!(persons["with_face"], on_screen, "{persons}");
    assert_eq!(persons["voice_only"], heard_only, "{persons}");
    assert_eq!(persons["false"], 0, "{persons}");
    assert_eq!(persons["found"], on_screen + heard_only, "{persons}");
    assert!(scores["face"]["purity"].as_f64() >= Some(0.95), "{scores}");
    assert!(scores["face"]["coverage"].as_f64() >= Some(0.95), "{scores}");
}

#[test]
fn one_person_is_one_person_edge() {
    everybody_is_found("edge", "one_person_dev", 1, 0);
}

#[test]
fn one_person_is_one_person_open() {
    everybody_is_found("open", "one_person_dev", 1, 0);
}

#[test]
fn two_people_are_two_edge() {
    everybody_is_found("edge", "two_people_dev", 2, 0);
}

#[test]
fn two_people_are_two_open() {
    everybody_is_found("open", "two_people_dev", 2, 0);
}

#[test]
fn the_living_room_has_four_seen_and_two_heard_edge() {
    everybody_is_found("edge", "living_room_dev", 4, 2);
}

#[test]
fn the_living_room_has_four_seen_and_two_heard_open() {
    everybody_is_found("open", "living_room_dev", 4, 2);
}

#[test]
fn every_speaker_has_the_right_face() {
    need!("recordings/two_people_dev.mp4");
    for recording in ["one_person_dev", "two_people_dev"] {
        let Some(scores) = scores("edge", recording) else { return };
        assert_eq!(scores["link"]["accuracy"], 1.0, "{recording}: {scores}");
    }
}
