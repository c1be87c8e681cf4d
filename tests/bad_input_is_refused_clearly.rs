//! Wrong input gets an error that names the cure, and loses nothing.

use std::fs;
use std::process::Output;

use crate::support::{Robot, need};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_key() {
    let robot = Robot::new("edge");
    let file = robot.dir.path().join("engram.toml");
    fs::write(&file, "[window]\nclip_secs = 30\nanalyze_fps = 5\n").unwrap();
    let output = robot.run(&["people", "--config", file.to_str().unwrap()]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("3:") || message.contains("line 3"), "{message}");
    assert!(message.contains("analyse_fps"), "{message}");
}

#[test]
fn a_file_that_is_no_recording_is_refused() {
    let robot = Robot::new("edge");
    for (name, bytes) in
        [("empty.mp4", &b""[..]), ("noise.mp4", &[7; 4096]), ("text.mcap", b"hello")]
    {
        let path = robot.dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let output = robot.run(&["replay", path.to_str().unwrap()]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {message}");
        assert!(message.contains(name), "{message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}

#[test]
fn a_missing_file_is_a_clear_error() {
    let robot = Robot::new("edge");
    let output = robot.run(&["replay", "/nowhere/at-all.mp4"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/nowhere/at-all.mp4"));
}

#[test]
fn missing_models_are_named_with_the_command_that_brings_them() {
    let recording = need!("recordings/one_person_dev.mp4");
    let robot = Robot::new("edge");
    let empty = robot.dir.path().join("no-models");
    fs::create_dir(&empty).unwrap();
    let output = robot
        .command(&["replay", recording.to_str().unwrap(), "--duration", "3"])
        .args(["--set", &format!("models.dir={empty:?}"), "--set", "models.mirror=\"\""])
        .output()
        .unwrap();
    assert!(stderr(&output).contains("engramd models fetch"), "{}", stderr(&output));
}

#[test]
fn a_damaged_bag_is_used_as_far_as_it_can_be_read() {
    let recording = need!("recordings/two_people_truncated.mcap");
    let robot = Robot::new("edge");
    let output = robot.run(&["replay", recording.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let people = robot.json(&["people", "--json"]);
    assert!(!people.as_array().unwrap().is_empty());
}
