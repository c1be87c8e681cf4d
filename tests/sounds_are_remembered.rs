//! Sounds that mean something are told once, asked for and erased: tones, and a network that truly hears them.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Robot;
use crate::support::onnx::tones;

const RATE: u32 = 16_000;
const SECS: f64 = 50.0;
/// When which tone sounds: seconds, Hz. The second one goes over the border of a clip of 30 s, the last one is over at once.
const TONES: [(f64, f64, f64); 4] =
    [(5.0, 8.0, 250.0), (27.0, 34.0, 1_000.0), (40.0, 43.0, 250.0), (46.0, 46.02, 1_000.0)];
/// Every class that is listened for, and the bands in which the network hears it.
const CLASSES: [(&str, std::ops::Range<usize>); 15] = [
    ("Doorbell", 18..22),
    ("Dog", 2..6),
    ("Ding-dong", 0..0),
    ("Knock", 0..0),
    ("Alarm", 0..0),
    ("Smoke detector, smoke alarm", 0..0),
    ("Fire alarm", 0..0),
    ("Siren", 0..0),
    ("Glass", 0..0),
    ("Shatter", 0..0),
    ("Bark", 0..0),
    ("Howl", 0..0),
    ("Baby cry, infant cry", 0..0),
    ("Music", 0..0),
    ("Laughter", 0..0),
];

/// 16-bit PCM, mono.
fn recording(dir: &Path) -> PathBuf {
    let sample = |n: u32| {
        let at = f64::from(n) / f64::from(RATE);
        let tone = TONES.iter().find(|(from, to, _)| (*from..*to).contains(&at));
        let value = tone.map_or(0.0, |(_, _, hz)| 0.3 * (std::f64::consts::TAU * hz * at).sin());
        (value * 32_767.0) as i16
    };
    let samples: Vec<u8> =
        (0..(SECS * f64::from(RATE)) as u32).flat_map(|n| sample(n).to_le_bytes()).collect();
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + samples.len() as u32).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    for half in [1_u16, 1] {
        wav.extend(half.to_le_bytes());
    }
    wav.extend(RATE.to_le_bytes());
    wav.extend((2 * RATE).to_le_bytes());
    for half in [2_u16, 16] {
        wav.extend(half.to_le_bytes());
    }
    wav.extend(b"data");
    wav.extend((samples.len() as u32).to_le_bytes());
    wav.extend(samples);
    let path = dir.join("hall.wav");
    std::fs::write(&path, wav).unwrap();
    path
}

/// The models that set-up brings, and that network in YAMNet's place.
fn models(dir: &Path) -> PathBuf {
    let models = dir.join("models");
    std::fs::create_dir(&models).unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/models");
    for file in here.read_dir().unwrap().map(Result::unwrap) {
        if file.file_name() != "models.lock" && file.file_name() != "yamnet.onnx" {
            symlink(file.path(), models.join(file.file_name())).unwrap();
        }
    }
    let mut classes: Vec<_> = CLASSES.to_vec();
    classes.extend([("Applause", 0..0), ("Clapping", 0..0)]);
    std::fs::write(models.join("yamnet.onnx"), tones(&classes)).unwrap();
    models
}

fn events(robot: &Robot) -> Vec<Value> {
    let lines = robot.json_lines(&["export", "--percepts"]);
    lines.into_iter().filter(|line| line["kind"] == "sound_event").collect()
}

fn secs(time: &Value) -> f64 {
    let time: engram::time::Timestamp = serde_json::from_value(time.clone()).unwrap();
    time.as_nanos() as f64 / 1e9
}

#[test]
fn a_dog_and_a_door_bell_are_told_once_asked_for_and_erased() {
    let dir = tempfile::tempdir().unwrap();
    let (recording, models) = (recording(dir.path()), models(dir.path()));
    let listening = |more: &str| {
        let robot = Robot::new("edge").set(&format!("models.dir={models:?}")).set(more);
        robot.replay(&recording, &["--start-time", "1970-01-01T00:00:00Z"]);
        robot
    };
    // Nobody listens unless that is asked for.
    assert_eq!(events(&listening("sounds.on=false")), Vec::<Value>::new());
    let robot = listening("sounds.on=true");
    let told: Vec<(String, i64, i64)> = events(&robot)
        .iter()
        .map(|line| {
            let whole = |key: &str| secs(&line[key]).round() as i64;
            (line["what"].as_str().unwrap().to_owned(), whole("start"), whole("end"))
        })
        .collect();
    let parts: Vec<&str> = told.iter().map(|(what, ..)| what.as_str()).collect();
    assert_eq!(parts, ["a dog", "a door bell", "a door bell", "a dog"], "{told:?}");
    assert!((4..=5).contains(&told[0].1) && (8..=9).contains(&told[0].2), "{told:?}");
    assert_eq!((told[1].2, told[2].1), (30, 30), "cut at the border");

    let sentences = robot.json(&["sql", "SELECT text FROM memories ORDER BY start", "--json"]);
    let sentences: Vec<&str> = sentences["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row[0].as_str())
        .filter(|text| text.contains("was heard by"))
        .collect();
    assert_eq!(sentences.len(), 3, "what goes on over a border is told once: {sentences:?}");

    let ask = |question: &str| {
        let answer = robot.json(&["ask", question, "--json"]);
        let text = answer["answer"].as_str().unwrap().to_owned();
        (text, answer["abstained"].as_bool().unwrap(), answer["evidence"].as_array().unwrap().len())
    };
    let (text, abstained, evidence) = ask("Did the dog bark?");
    assert!(text.starts_with("Yes, I heard a dog") && !abstained && evidence == 2, "{text}");
    let (text, abstained, _) = ask("When did the door bell ring?");
    assert!(text.contains("a door bell") && text.contains("00:00:2") && !abstained, "{text}");
    let (text, abstained, _) = ask("How often did you hear a dog?");
    assert!(text.starts_with("2: ") && !abstained, "{text}");
    let (text, abstained, _) = ask("Did you hear any sounds?");
    assert!(text.contains("a dog") && text.contains("a door bell") && !abstained, "{text}");
    let (text, abstained, _) = ask("Did the baby cry?");
    assert!(abstained, "{text}");

    // The same recording, the same memory, however many workers there are.
    let other = Robot::new("edge")
        .set(&format!("models.dir={models:?}"))
        .set("sounds.on=true")
        .set("pipeline.workers=3");
    other.replay(&recording, &["--start-time", "1970-01-01T00:00:00Z"]);
    assert_eq!(other.hash(), robot.hash());

    let span = ["--start", "1970-01-01T00:00:04Z", "--end", "1970-01-01T00:00:10Z"];
    robot.json(&[&["forget"], &span[..], &["--json"]].concat());
    let left: Vec<Value> = events(&robot).iter().map(|line| line["what"].clone()).collect();
    assert_eq!(left, ["a door bell", "a door bell", "a dog"]);
}

#[test]
fn a_class_that_the_model_does_not_know_impairs_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (recording, models) = (recording(dir.path()), models(dir.path()));
    let robot = Robot::new("edge")
        .set(&format!("models.dir={models:?}"))
        .set("sounds.on=true")
        .set(r#"sounds.event=[{ name = "a dog", classes = ["Brak"], min_score = 0.3 }]"#);
    let clips = robot.replay(&recording, &["--start-time", "1970-01-01T00:00:00Z"]);
    assert_eq!(clips.last().unwrap()["done"], true);
    assert_eq!(events(&robot), Vec::<Value>::new());
}
