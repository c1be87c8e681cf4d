//! What people do is told once, asked for, watched for and erased: a body of red pixels that walks, stands and falls, and
//! networks that truly see it.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use image::{Rgb, RgbImage};
use serde_json::Value;

use crate::support::onnx::{Layout, rectangles, upright};
use crate::support::{Robot, absent, video};

const FPS: u32 = 10;
const SECS: u32 = 36;
/// It walks until then, and falls then, seconds.
const STOPS: f64 = 6.0;
const FALLS: f64 = 16.0;
const NAMES: &str = "{0: 'person', 1: 'blue box'}";
/// Where the joints of the body are in the crop around it, shares: COCO's, x and y.
const JOINTS: [(f32, f32); 17] = [
    (0.5, 0.16),
    (0.52, 0.15),
    (0.48, 0.15),
    (0.54, 0.16),
    (0.46, 0.16),
    (0.58, 0.27),
    (0.42, 0.27),
    (0.62, 0.4),
    (0.38, 0.4),
    (0.63, 0.52),
    (0.37, 0.52),
    (0.55, 0.5),
    (0.45, 0.5),
    (0.55, 0.7),
    (0.45, 0.7),
    (0.55, 0.88),
    (0.45, 0.88),
];

/// Left, top, width and height of the body, px.
fn body(frame: u32) -> (f64, f64, f64, f64) {
    let at = f64::from(frame) / f64::from(FPS);
    let x = 20.0 + 30.0 * at.min(STOPS);
    // It falls to the side: its box is beside where it stood.
    if at < FALLS { (x, 140.0, 28.0, 60.0) } else { (x + 36.0, 172.0, 60.0, 28.0) }
}

fn picture(frame: u32) -> RgbImage {
    let (left, top, wide, high) = body(frame);
    RgbImage::from_fn(320, 240, |x, y| {
        let (x, y) = (f64::from(x), f64::from(y));
        if (left..left + wide).contains(&x) && (top..top + high).contains(&y) {
            Rgb([230, 20, 25])
        } else {
            Rgb([90 + (x as u32 / 16 % 2) as u8 * 20, 110, 100 + (y as u32 / 16 % 2) as u8 * 20])
        }
    })
}

/// A video of it, every frame a JPEG.
fn video(dir: &Path) -> PathBuf {
    video::of_pictures(dir, "hall.mkv", FPS, (0..FPS * SECS).map(picture))
}

/// The models that set-up brings, and that network in MoveNet's place.
fn models(dir: &Path) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/models");
    let Ok(files) = here.read_dir() else {
        absent(&format!("{} is not here", here.display()));
        return None;
    };
    let models = dir.join("models");
    std::fs::create_dir(&models).unwrap();
    for file in files.map(Result::unwrap) {
        if file.file_name() != "models.lock" && file.file_name() != "movenet_lightning.onnx" {
            symlink(file.path(), models.join(file.file_name())).unwrap();
        }
    }
    std::fs::write(models.join("movenet_lightning.onnx"), upright(&JOINTS)).unwrap();
    Some(models)
}

fn actions(robot: &Robot) -> Vec<Value> {
    let lines = robot.json_lines(&["export", "--percepts"]);
    lines.into_iter().filter(|line| line["kind"] == "action").collect()
}

fn secs(time: &Value) -> f64 {
    let time: engram::time::Timestamp = serde_json::from_value(time.clone()).unwrap();
    time.as_nanos() as f64 / 1e9
}

#[test]
fn who_walks_stands_and_falls_is_told_once_asked_for_watched_for_and_erased() {
    let dir = tempfile::tempdir().unwrap();
    let Some(models) = models(dir.path()) else { return };
    let recording = video(dir.path());
    let detector = dir.path().join("people.onnx");
    let found = rectangles(Layout::Classes, Some(1), Some(160), Some(NAMES));
    std::fs::write(&detector, found).unwrap();
    let robot = |more: &str| {
        Robot::new("edge")
            .set(&format!("models.dir={models:?}"))
            .set(&format!("objects.model={detector:?}"))
            .set("objects.every=2")
            .set("window.clip_secs=10")
            .set(more)
    };
    let start = ["--start-time", "1970-01-01T00:00:00Z"];
    let off = robot("actions.on=false");
    off.replay(&recording, &start);
    assert_eq!(actions(&off), Vec::<Value>::new());

    let robot_1 = robot("actions.on=true");
    robot_1.json(&["watch", "add", "anybody", "falls", "--json"]);
    robot_1.replay(&recording, &start);
    let told = actions(&robot_1);
    let kinds: Vec<&str> = told.iter().map(|line| line["what"].as_str().unwrap()).collect();
    // Cut at the borders of clips, at 10, 20 and 30 s.
    let wanted = ["walks", "stands", "stands", "falls", "lies", "lies", "lies"];
    assert_eq!(kinds, wanted, "{told:#?}");
    let near = |line: &Value, key: &str, wanted: f64| (secs(&line[key]) - wanted).abs() < 1.5;
    assert!(near(&told[0], "end", STOPS + 0.5), "{told:#?}");
    assert!(near(&told[3], "start", FALLS) && near(&told[3], "end", FALLS), "{told:#?}");
    assert!(told.iter().all(|line| line["track"] == told[0]["track"]), "one body: {told:#?}");

    let sentences = robot_1.json(&["sql", "SELECT text FROM memories ORDER BY start", "--json"]);
    let sentences: Vec<&str> = sentences["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row[0].as_str())
        .filter(|text| text.starts_with("Somebody ") && !text.contains("in view"))
        .collect();
    assert_eq!(sentences, ["Somebody walked.", "Somebody fell.", "Somebody lay."]);
    let counted = robot_1.json(&[
        "sql",
        "SELECT kind, count(*) FROM actions WHERE person IS NULL GROUP BY kind ORDER BY kind",
        "--json",
    ]);
    let wanted = serde_json::json!([["falls", 1], ["lies", 3], ["stands", 2], ["walks", 1]]);
    assert_eq!(counted["rows"], wanted);

    // A watch told of it.
    let watches = robot_1.json(&["watch", "list", "--firings", "5", "--json"]);
    let text = watches.to_string();
    assert!(text.contains("firing_1") && !text.contains("firing_2"), "{watches}");

    let ask = |robot: &Robot, question: &str| {
        let answer = robot.json(&["ask", question, "--json"]);
        let text = answer["answer"].as_str().unwrap().to_owned();
        (text, answer["abstained"].as_bool().unwrap(), answer["evidence"].as_array().unwrap().len())
    };
    let (text, abstained, evidence) = ask(&robot_1, "Did anybody fall?");
    assert!(text.starts_with("Yes, somebody fell") && !abstained && evidence == 1, "{text}");
    let (text, abstained, _) = ask(&robot_1, "When did somebody fall?");
    assert!(text.contains("00:00:1") && !abstained, "{text}");
    let (text, abstained, _) = ask(&robot_1, "Who walked?");
    assert!(text.starts_with("Somebody walked") && !abstained, "{text}");
    let (text, abstained, _) = ask(&robot_1, "Did anybody wave?");
    assert!(abstained, "{text}");

    // The same recording, the same memory, however many workers there are.
    let other = robot("actions.on=true").set("pipeline.workers=3");
    let one = robot("actions.on=true");
    one.replay(&recording, &start);
    other.replay(&recording, &start);
    assert_eq!(other.hash(), one.hash());

    let span = ["--start", "1970-01-01T00:00:14Z", "--end", "1970-01-01T00:00:35Z"];
    robot_1.json(&[&["forget"], &span[..], &["--json"]].concat());
    let left: Vec<Value> = actions(&robot_1).iter().map(|line| line["what"].clone()).collect();
    assert_eq!(left, ["walks", "stands"]);
    let (text, abstained, _) = ask(&robot_1, "Did anybody fall?");
    assert!(abstained, "{text}");
}
