//! The same scene from bags of every format and from an MP4: the same persons, the same turns; from bags of
//! the same bytes, the same memory bit for bit.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::alike::{faces_and_voices, links, turns_agree};
use crate::support::{Robot, need, shared};

#[test]
fn bags_and_mp4_give_the_same_persons_turns_and_links() {
    let video = need!("recordings/two_people_dev.mp4");
    let bag = need!("recordings/two_people_foxglove_video.mcap");
    let images = need!("recordings/two_people.mcap");
    let from = |recording: &Path| {
        let robot = Robot::new("edge");
        robot.replay(recording, &[]);
        robot
    };
    let from_video = from(&video);
    let from_bag = from(&bag);
    assert_eq!(links(&from_bag), links(&from_video));
    turns_agree(&from_bag, &from_video);
    // Its pictures are too few to see mouths move: who speaks in one clip alone is linked with nobody, and nobody wrongly.
    let from_images = from(&images);
    turns_agree(&from_images, &from_video);
    let found = links(&from_images);
    assert_eq!(faces_and_voices(&found), (2, 2), "{found:?}");
    assert!(found.contains(&(1, 1)), "who speaks in both clips is linked: {found:?}");
}

#[test]
fn four_bags_of_the_same_bytes_give_one_memory() {
    let hash = |path: &Path| {
        let robot = Robot::new("edge");
        // (Beyond the end of a clip.)
        let lines = robot.replay(path, &["--duration", "35"]);
        assert_eq!(lines.last().unwrap()["damaged"], 0, "{}", path.display());
        robot.hash()
    };
    let expected = hash(&need!("recordings/two_people.mcap"));
    for name in ["two_people_foxglove.mcap", "two_people_ros2_sqlite", "two_people_ros1.bag"] {
        let bag = need!(&format!("recordings/{name}"));
        assert_eq!(hash(&bag), expected, "{name}");
    }
}

/// The bag as a recorder would have written it whose clock is so many seconds ahead of the cameras'.
fn with_another_clock(bag: &Path, path: &Path, ahead_secs: u64) {
    let bytes = std::fs::read(bag).unwrap();
    let file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut writer = mcap::WriteOptions::new().create(file).unwrap();
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        let mut message = message.unwrap();
        message.log_time += ahead_secs * 1_000_000_000;
        writer.write(&message).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn a_recorder_with_another_clock_than_the_cameras_gives_the_same_memory() {
    let bag = need!("recordings/two_people.mcap");
    let folder = tempfile::tempdir().unwrap();
    let hash = |path: &Path| {
        let robot = Robot::new("edge");
        let start = ["--start-time", "2026-03-04T08:15:00Z", "--duration", "12"];
        let lines = robot.replay(path, &start);
        assert_eq!(lines.last().unwrap()["damaged"], 0, "{lines:?}");
        robot.hash()
    };
    let expected = hash(&bag);
    for ahead_secs in [3, 10] {
        let path = folder.path().join(format!("{ahead_secs}.mcap"));
        with_another_clock(&bag, &path, ahead_secs);
        assert_eq!(hash(&path), expected, "{ahead_secs} s");
    }
}

#[test]
fn damaged_bags_are_remembered_as_far_as_they_go_and_end_with_exit_code_3() {
    for (name, frames) in [
        ("two_people_truncated.mcap", 180),
        ("two_people_badcrc.mcap", 200),
        ("two_people_noindex.bag", 150),
    ] {
        let Some(path) = shared(&format!("recordings/{name}")) else { continue };
        let robot = Robot::new("edge");
        let output = robot.run(&["replay", path.to_str().unwrap(), "--json"]);
        assert_eq!(output.status.code(), Some(3), "{name}");
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let seen: u64 = lines.iter().filter_map(|line| line["frames"].as_u64()).sum();
        assert!(seen >= frames, "{name}: {seen} frames");
        let end = lines.last().unwrap();
        assert!(end["damaged"].as_u64().unwrap() > 0 && !end["damage"][0].is_null(), "{end}");
    }
}

/// The bag with a calibration and with words of another recogniser beside it.
fn with_more(bag: &Path, path: &Path) {
    let bytes = std::fs::read(bag).unwrap();
    let file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut writer = mcap::WriteOptions::new().create(file).unwrap();
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        writer.write(&message.unwrap()).unwrap();
    }
    let mut put = |topic: &str, schema: &str, at: u64, json: Value| {
        let schema = writer.add_schema(schema, "jsonschema", b"{}").unwrap();
        let id = writer.add_channel(schema, topic, "json", &Default::default()).unwrap();
        let header = mcap::records::MessageHeader {
            channel_id: id,
            sequence: 0,
            log_time: at,
            publish_time: at,
        };
        writer.write_to_known_channel(&header, json.to_string().as_bytes()).unwrap();
    };
    let t0 = 1_772_612_100_000_000_000_u64;
    let camera = json!({
        "timestamp": {"sec": 1_772_612_100, "nsec": 0}, "frame_id": "optical", "width": 640, "height": 480,
        "distortion_model": "plumb_bob", "D": [-0.1, 0.01, 0, 0, 0],
        "K": [500, 0, 320, 0, 500, 240, 0, 0, 1], "R": [1, 0, 0, 0, 1, 0, 0, 0, 1],
        "P": [500, 0, 320, 0, 0, 500, 240, 0, 0, 0, 1, 0],
    });
    put("/camera/camera_info", "foxglove.CameraCalibration", t0, camera);
    for secs in [5_u64, 12] {
        let at = t0 + secs * 1_000_000_000;
        let words =
            json!({"text": format!("told at {secs}"), "start": at - 900_000_000, "end": at});
        put("/asr", "robot.Words", at, words);
    }
    writer.finish().unwrap();
}

#[test]
fn calibrations_and_words_in_a_bag_are_used_alike_each_time() {
    let bag = need!("recordings/two_people.mcap");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("more.mcap");
    with_more(&bag, &path);
    let args = ["--duration", "20", "--transcripts", "/asr"];
    let replayed = |rate: &str| {
        let robot = Robot::new("edge");
        let lines = robot.replay(&path, &[args.as_slice(), &["--rate", rate]].concat());
        assert_eq!(lines.last().unwrap()["damaged"], 0, "{lines:?}");
        robot
    };
    let robot = replayed("max");
    let percepts = robot.json_lines(&["export", "--percepts"]);
    let of = |kind: &'static str| percepts.iter().filter(move |line| line["kind"] == kind);
    assert!(of("face").count() > 50);
    for face in of("face") {
        let [azimuth, distance] = ["azimuth", "distance_m"].map(|k| face["bearing"][k].as_f64());
        assert!(azimuth.unwrap().abs() < 0.8 && distance.unwrap() > 0.1, "{face}");
    }
    let words: Vec<_> = of("turn").filter_map(|turn| turn["words"].as_str()).collect();
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(words[0].contains("told at 5") && words[1].contains("told at 12"), "{words:?}");
    let hash = robot.hash();
    assert_eq!(replayed("20").hash(), hash);

    // Not named, text is no speech.
    let robot = Robot::new("edge");
    robot.replay(&path, &["--duration", "5"]);
    let lines = robot.json_lines(&["export", "--percepts"]);
    assert!(lines.iter().all(|line| line["words"].is_null()));
    let none =
        robot.run(&["replay", path.to_str().unwrap(), "--again", "--transcripts", "/nobody"]);
    let said = String::from_utf8_lossy(&none.stderr);
    assert!(!none.status.success() && said.contains("no topic /nobody of text"), "{said}");
}
