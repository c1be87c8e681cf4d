//! Signs in view are read once, told once, asked for and erased: a video of a wall with four signs, of which one is taken
//! down.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use image::Rgb;

use crate::support::{Robot, video};

const FPS: u32 = 5;
const SECS: u32 = 34;
/// When a sign is taken down, seconds.
const TAKEN_DOWN: u32 = 14;

/// A video of it, every frame a JPEG.
fn video(dir: &Path) -> PathBuf {
    let wall = include_bytes!("golden/text_in_view.jpg");
    let wall = image::load_from_memory(wall).unwrap().to_rgb8();
    let mut bare = wall.clone();
    for (x, y) in (95..268).flat_map(|x| (110..190).map(move |y| (x, y))) {
        bare.put_pixel(x, y, Rgb([90 + (x % 3) as u8, 90, 90]));
    }
    let shown = |frame| if frame < FPS * TAKEN_DOWN { &wall } else { &bare };
    video::of_pictures(dir, "signs.mkv", FPS, (0..FPS * SECS).map(|frame| shown(frame).clone()))
}

struct Scene {
    _dir: tempfile::TempDir,
    video: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let video = video(dir.path());
        Self { _dir: dir, video }
    }

    fn robot(&self) -> Robot {
        Robot::new("edge").set("window.clip_secs=10")
    }
}

#[test]
fn signs_are_told_once_answer_and_are_erased() {
    let scene = Scene::new();
    let robot = scene.robot();
    robot.replay(&scene.video, &[]);
    let rows = |query: &str| robot.json(&["sql", query, "--json"])["rows"].clone();
    let texts = rows("SELECT DISTINCT text FROM texts ORDER BY text");
    let all = serde_json::json!([
        ["Fire door keep shut"],
        ["Kitchen"],
        ["Meeting Room 4"],
        ["No smoking"]
    ]);
    assert_eq!(texts, all);
    let told = rows("SELECT text FROM memories WHERE text LIKE 'A sign %read%'");
    assert_eq!(told.as_array().unwrap().len(), 4, "once each: {told}");
    let lines = robot.json_lines(&["export", "--percepts"]);
    let read = lines.iter().filter(|line| line["kind"] == "text").collect::<Vec<_>>();
    assert!(read.iter().all(|line| line["confidence"].as_f64().unwrap() > 0.8), "{read:?}");
    // Looks are few: a wall that stays as it is is read to find, to confirm, and when something is taken down.
    let most = read.iter().filter_map(|line| line["readings"].as_u64()).max().unwrap();
    assert!((2..=5).contains(&most), "{read:?}");

    let ask = |question: &str| robot.json(&["ask", question, "--json"]);
    let answer = ask("What did the sign about smoking say?");
    assert!(answer["answer"].as_str().unwrap().contains("“No smoking”"), "{answer}");
    let memory = answer["evidence"][0]["memory"].as_str().unwrap().to_owned();
    assert!(memory.starts_with("memory_"), "{answer}");
    let clip = answer["evidence"][0]["clip"].as_str().unwrap().to_owned();
    let shown = robot.json(&["show", &clip, "--json"]);
    assert_eq!(shown["texts"].as_array().unwrap().len(), 4, "{shown}");
    assert!(!shown["clip"]["key_frames"].as_array().unwrap().is_empty(), "a still of it");
    for question in ["What was the price on the label?", "Did you see a sign that says exit?"] {
        assert_eq!(ask(question)["abstained"], true, "{}", ask(question));
    }

    robot.json(&["forget", "--start", "1969-01-01", "--end", "2100-01-01", "--json"]);
    assert_eq!(rows("SELECT text FROM texts"), serde_json::json!([]));
    assert_eq!(ask("What did the sign about smoking say?")["abstained"], true);
    assert_eq!(robot.run(&["check"]).status.code(), Some(0));
}

#[test]
fn signs_are_the_same_for_any_workers_and_after_a_kill_and_off_is_off() {
    let scene = Scene::new();
    let whole = |workers: usize| {
        let robot = scene.robot().set(&format!("pipeline.workers={workers}"));
        robot.replay(&scene.video, &[]);
        robot.hash()
    };
    let one = whole(1);
    assert_eq!(one, whole(3));

    let killed = scene.robot().set("pipeline.workers=1");
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
    killed.replay(&scene.video, &[]);
    assert_eq!(killed.hash(), one);

    let off = scene.robot().set("text.on=false");
    off.replay(&scene.video, &[]);
    let lines = off.json_lines(&["export", "--percepts"]);
    assert!(lines.iter().all(|line| line["kind"] != "text"), "{lines:?}");
}
