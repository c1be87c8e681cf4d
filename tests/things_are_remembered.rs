//! Things that a detector finds are followed, known again, and asked for: a video with coloured rectangles, and a network
//! that truly finds them.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use image::{Rgb, RgbImage};
use serde_json::Value;

use crate::support::onnx::{Layout, rectangles};
use crate::support::{Robot, video};

const FPS: u32 = 10;
const SECS: u32 = 36;
const NAMES: &str = "{0: 'red box', 1: 'blue box'}";

/// Where the red box is: it moves to the right for 20 s, then lies.
fn red(frame: u32) -> (u32, u32) {
    (20 + frame.min(20 * FPS) * 220 / (20 * FPS), 140)
}

/// The blue box lies on the left, but for 10 s.
fn blue(frame: u32) -> Option<(u32, u32)> {
    let secs = frame / FPS;
    (!(14..24).contains(&secs)).then_some((30, 40))
}

/// What a screen calls blue; and a blue that people call so, beside this red and on this ground.
const PURE: [u8; 3] = [20, 25, 230];
const MIDDLE: [u8; 3] = [20, 80, 230];

fn picture(frame: u32, blue_is: [u8; 3]) -> RgbImage {
    let inside = |at: (u32, u32), x: u32, y: u32| {
        (at.0..at.0 + 48).contains(&x) && (at.1..at.1 + 40).contains(&y)
    };
    RgbImage::from_fn(320, 240, |x, y| {
        if inside(red(frame), x, y) {
            Rgb([230, 20, 25])
        } else if blue(frame).is_some_and(|at| inside(at, x, y)) {
            Rgb(blue_is)
        } else {
            Rgb([90 + (x / 16 % 2) as u8 * 20, 110, 100 + (y / 16 % 2) as u8 * 20])
        }
    })
}

/// A video of it, every frame a JPEG.
fn video(dir: &Path, blue_is: [u8; 3]) -> PathBuf {
    let pictures = (0..FPS * SECS).map(|frame| picture(frame, blue_is));
    video::of_pictures(dir, "boxes.mkv", FPS, pictures)
}

struct Scene {
    dir: tempfile::TempDir,
    video: PathBuf,
}

impl Scene {
    fn new() -> Self {
        Self::with(PURE)
    }

    fn with(blue_is: [u8; 3]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let video = video(dir.path(), blue_is);
        Self { dir, video }
    }

    /// A robot that looks for things in two of five frames a second, in clips of 10 s, at a camera that is calibrated.
    fn robot(&self, layout: Layout) -> Robot {
        self.robot_calling(layout, NAMES)
    }

    /// As [`Self::robot`], with other names for what is red and what is blue.
    fn robot_calling(&self, layout: Layout, names: &str) -> Robot {
        let model = self.dir.path().join(format!("{layout:?}.onnx"));
        std::fs::write(&model, rectangles(layout, Some(1), Some(160), Some(names))).unwrap();
        Robot::new("edge")
            .set("window.clip_secs=10")
            .set("objects.every=2")
            .set(&format!("objects.model={model:?}"))
    }
}

fn lines<'a>(percepts: &'a [Value], label: &str) -> Vec<&'a Value> {
    let of_label = |line: &&Value| line["kind"] == "object" && line["label"] == label;
    percepts.iter().filter(of_label).collect()
}

fn secs(time: &Value, start: &Value) -> f64 {
    let nanos = |time: &Value| -> i64 {
        let time: engram::time::Timestamp = serde_json::from_value(time.clone()).unwrap();
        time.as_nanos()
    };
    (nanos(time) - nanos(start)) as f64 / 1e9
}

#[test]
fn things_are_followed_known_again_and_found() {
    let scene = Scene::new();
    let robot = scene.robot(Layout::Classes);
    let clips = robot.replay(&scene.video, &[]);
    let start = clips[0]["start"].clone();
    assert_eq!(
        clips.iter().filter_map(|clip| clip["objects"].as_u64()).sum::<u64>(),
        4 + 4,
        "{clips:?}"
    );

    // Every look found both where they were.
    let percepts = robot.json_lines(&["export", "--percepts"]);
    for (label, object) in [("red box", "object_1"), ("blue box", "object_2")] {
        let seen = lines(&percepts, label);
        assert!(seen.len() > 40, "{label}: {} sightings", seen.len());
        for line in seen {
            let frame = (secs(&line["t"], &start) * f64::from(FPS)).round() as u32;
            let (x, y) = if label == "red box" { red(frame) } else { blue(frame).unwrap() };
            let found: [f64; 4] = serde_json::from_value(line["box"].clone()).unwrap();
            let off = |at: usize, wanted: u32| (found[at] - f64::from(wanted)).abs();
            assert!(off(0, x) < 4.0 && off(1, y) < 4.0, "{label} in frame {frame}: {line}");
            assert!(off(2, 48) < 5.0 && off(3, 40) < 5.0, "{label} in frame {frame}: {line}");
            assert!(["object_1", "object_2"].contains(&line["object"].as_str().unwrap()));
        }
        let objects = |line: &&Value| line["object"] == object;
        let of_one = lines(&percepts, label).into_iter().filter(objects).count();
        assert!(of_one == 0 || of_one == lines(&percepts, label).len(), "{label} is one thing");
    }

    // Two things in all: the blue one that came back is the one that went.
    let known = robot.json(&[
        "sql",
        "SELECT DISTINCT object, label FROM object_sightings ORDER BY label",
        "--json",
    ]);
    assert_eq!(known["rows"].as_array().unwrap().len(), 2, "{known}");
    let table = robot.json(&["sql", "SELECT object, place FROM objects ORDER BY object", "--json"]);
    let place = |row: usize| table["rows"][row][1].as_str().unwrap().to_owned();
    assert_eq!(table["rows"][0][0], "blue box", "{table}");
    assert!(place(0).ends_with("on the left") && place(1).ends_with("on the right"), "{table}");

    // Asked for now, and as it was known before it moved.
    let ask = |more: &[&str]| {
        let mut args = vec!["ask", "Where is the red box?", "--json"];
        args.extend(more);
        robot.json(&args)
    };
    let answer = ask(&[]);
    let text = answer["answer"].as_str().unwrap();
    assert!(text.contains("red box") && text.contains("on the right"), "{answer}");
    assert!(!answer["evidence"].as_array().unwrap().is_empty(), "{answer}");
    let then = ask(&["--as-of", "seq:1"]);
    assert!(then["answer"].as_str().unwrap().contains("in the middle"), "{then}");
    let came = robot.json(&[
        "sql",
        "SELECT text FROM memories WHERE kind = 'episodic' AND text LIKE '%came into view%'",
        "--json",
    ]);
    assert_eq!(came["rows"].as_array().unwrap().len(), 2, "once each: {came}");
    for question in ["Have you seen the blue box?", "Is the red box still on the right?"] {
        let answer = robot.json(&["ask", question, "--json"]);
        assert!(answer["answer"].as_str().unwrap().starts_with("Yes, the "), "{answer}");
    }

    // Erased by what it is called.
    robot.json(&["forget", "--entity", "the Red Box", "--json"]);
    assert_eq!(ask(&[])["abstained"], true, "{}", ask(&[]));
    let left = robot.json(&["sql", "SELECT object FROM objects", "--json"]);
    assert_eq!(left["rows"], serde_json::json!([["blue box"]]), "{left}");
    assert_eq!(robot.run(&["check"]).status.code(), Some(0));
}

#[test]
fn two_of_one_kind_are_told_apart_by_their_colours() {
    let scene = Scene::with(MIDDLE);
    let robot = scene.robot_calling(Layout::Classes, "{0: 'cup', 1: 'cup'}");
    robot.replay(&scene.video, &[]);
    let table = robot.json(&[
        "sql",
        "SELECT DISTINCT object, colour FROM object_sightings ORDER BY colour",
        "--json",
    ]);
    let rows: Vec<(&str, &str)> = table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row[0].as_str().unwrap(), row[1].as_str().unwrap()))
        .collect();
    let [(blue, "blue"), (red, "red")] = rows[..] else { panic!("one cup of each: {table}") };
    assert_ne!(blue, red);
    let told = robot.json(&[
        "sql",
        "SELECT text FROM memories WHERE text LIKE 'A % cup came into view%' ORDER BY text",
        "--json",
    ]);
    assert_eq!(told["rows"].as_array().unwrap().len(), 2, "{told}");
    let seen = robot.json_lines(&["export", "--percepts"]);
    assert!(
        lines(&seen, "cup")
            .iter()
            .all(|line| ["red", "blue"].contains(&line["colour"].as_str().unwrap()))
    );

    for (question, pieces) in [
        ("Where is the red cup?", &["red cup", "on the right"][..]),
        ("Where is the blue cup?", &["blue cup", "on the left"]),
        ("What colour is the cup on the left?", &["blue"]),
        ("Is there a red cup on the right?", &["Yes", "red cup"]),
    ] {
        let answer = robot.json(&["ask", question, "--json"]);
        let text = answer["answer"].as_str().unwrap();
        assert!(pieces.iter().all(|piece| text.contains(piece)), "{question}\n   {answer}");
        assert!(!answer["evidence"].as_array().unwrap().is_empty(), "{answer}");
    }
    // Of a cup that was never seen nothing is claimed, but which are known.
    let answer = robot.json(&["ask", "Where is the green cup?", "--json"]);
    let told = answer["answer"].as_str().unwrap();
    assert!(answer["abstained"] == true && told.contains("a cup that is red"), "{answer}");
}

#[test]
fn things_are_the_same_for_any_workers_any_layout_and_after_a_kill() {
    let scene = Scene::new();
    let whole = |layout: Layout, workers: usize| {
        let robot = scene.robot(layout).set(&format!("pipeline.workers={workers}"));
        robot.replay(&scene.video, &[]);
        robot
    };
    let one = whole(Layout::Classes, 1);
    assert_eq!(one.hash(), whole(Layout::Classes, 2).hash());

    // The three layouts say the same of the same picture, but for the last bits.
    let places = |robot: &Robot| {
        robot.json(&["sql", "SELECT object, place FROM objects ORDER BY 1", "--json"])
    };
    for layout in [Layout::Objectness, Layout::Finished] {
        assert_eq!(places(&one)["rows"], places(&whole(layout, 2))["rows"], "{layout:?}");
    }

    let killed = scene.robot(Layout::Classes).set("pipeline.workers=1");
    let path = scene.video.to_str().unwrap();
    let mut replay = killed
        .command(&["replay", path, "--json", "--rate", "8"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(replay.stdout.take().unwrap()).lines();
    let first = told.next().unwrap().unwrap();
    assert!(first.contains("\"clip\""), "{first}");
    replay.kill().unwrap();
    replay.wait().unwrap();
    let rest = killed.replay(&scene.video, &[]);
    assert!(rest.len() < 5, "it went on: {rest:?}");
    assert_eq!(killed.hash(), one.hash());
}

#[test]
fn without_a_model_nothing_is_looked_for_and_with_a_wrong_one_that_is_said() {
    let scene = Scene::new();
    let hash = |settings: &[&str]| {
        let robot = Robot::new("edge").set("window.clip_secs=10");
        let robot = settings.iter().fold(robot, |robot, setting| robot.set(setting));
        let output = robot.run(&["replay", scene.video.to_str().unwrap(), "--json"]);
        assert!(output.status.success());
        let percepts = robot.json_lines(&["export", "--percepts"]);
        assert!(percepts.iter().all(|line| line["kind"] != "object"));
        (robot.hash(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (without, _) = hash(&[]);
    let (wrong, said) = hash(&["objects.model=\"/nowhere/yolo.onnx\""]);
    assert_eq!(without, wrong);
    assert!(said.contains("objects") && said.contains("/nowhere/yolo.onnx"), "{said}");
}
