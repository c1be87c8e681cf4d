//! What the robot says itself is heard by its own microphone, and is nobody's.

use serde_json::{Value, json};

use crate::support::broker::Listener;
use crate::support::daemon::{Daemon, embedded};
use crate::support::need;

/// Plays a person who speaks; `own`: as if the robot had said it all. Gives the persons, the voices of turns, facts.
fn heard(own: bool) -> Option<(Value, Value, Value)> {
    let recording = crate::support::shared("recordings/one_person_dev.mp4")?;
    let (robot, _, v5) = embedded();
    let robot = robot.set("window.clip_secs=10");
    let path = recording.to_str().unwrap();
    let start = "2026-03-02T17:30:00Z";
    let args = ["replay", path, "--start-time", start, "--serve", "--json", "--start-paused"];
    let mut daemon = Daemon::start(&robot, &args);
    let listener = Listener::connect(v5);
    listener.expect("status", 20, |status| status["state"] == "online");
    if own {
        let said = json!({
            "id": "said-1", "text": "All of this.", "start": start, "end": "2026-03-02T17:32:00Z",
        });
        assert_eq!(listener.ask("speaking", &said)["ok"], true);
    }
    assert_eq!(listener.ask("replay/resume", &json!({}))["ok"], true);
    daemon.played();
    let sql = |query: &str| {
        let table = listener.ask("query", &json!({"verb": "sql", "args": {"query": query}}));
        table["rows"].clone()
    };
    let told = (
        listener.ask("query", &json!({"verb": "people"})),
        sql("SELECT DISTINCT person FROM utterances ORDER BY person"),
        sql("SELECT attribute, value FROM facts"),
    );
    daemon.terminate();
    Some(told)
}

#[test]
fn an_answer_played_back_is_no_person_and_no_fact() {
    let _ = need!("recordings/one_person_dev.mp4");
    let voices = |people: &Value| -> usize {
        let people = people.as_array().unwrap();
        assert_eq!(people.len(), 1, "{people:?}");
        people.iter().map(|one| one["voices"].as_array().unwrap().len()).sum()
    };
    let (people, spoke, _) = heard(false).unwrap();
    assert_eq!(voices(&people), 1, "{people}");
    assert_eq!(spoke, json!([["person_1"]]));
    let (people, spoke, facts) = heard(true).unwrap();
    assert_eq!(voices(&people), 0, "{people}");
    assert!(!spoke.to_string().contains("person"), "{spoke}");
    assert_eq!(facts, json!([]));
}

const RATE: usize = 16_000;

/// The first of a reader's utterances, 16 kHz.
fn reader(name: &str) -> Option<Vec<f32>> {
    let folder = crate::support::shared(&format!("recordings/audio/librispeech/{name}"))?;
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let decode = format!(
        "filesrc location={} ! decodebin ! audioconvert ! audioresample ! audio/x-raw,format=S16LE,rate={RATE},channels=1 ! filesink location={}",
        files[0].display(),
        raw.display()
    );
    let made =
        std::process::Command::new("gst-launch-1.0").arg("-q").args(decode.split(' ')).status();
    assert!(made.unwrap().success());
    let bytes = std::fs::read(raw).unwrap();
    Some(
        bytes
            .chunks_exact(2)
            .map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0)
            .collect(),
    )
}

/// A WAV file of one second of silence, the sound, two seconds of silence.
fn write(path: &std::path::Path, sound: &[f32]) {
    let raw = path.with_extension("raw");
    let silence = |secs: usize| vec![0.0; secs * RATE];
    let samples = [silence(1), sound.to_vec(), silence(2)].concat();
    let bytes: Vec<u8> =
        samples.iter().flat_map(|v| ((v * 16_000.0) as i16).to_le_bytes()).collect();
    std::fs::write(&raw, bytes).unwrap();
    let encode = format!(
        "filesrc location={} ! rawaudioparse use-sink-caps=false format=pcm pcm-format=s16le sample-rate={RATE} num-channels=1 ! wavenc ! filesink location={}",
        raw.display(),
        path.display()
    );
    let made =
        std::process::Command::new("gst-launch-1.0").arg("-q").args(encode.split(' ')).status();
    assert!(made.unwrap().success());
}

/// Who spoke while the robot did from the second 1 to 8 of a sound: `(person, start)`, the robot's own left out.
fn others_in(sound: &[f32]) -> Vec<Value> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mixed.wav");
    write(&path, sound);
    let (robot, _, v5) = embedded();
    let start = "2026-03-02T17:30:00Z";
    let args = [
        "replay",
        path.to_str().unwrap(),
        "--start-time",
        start,
        "--serve",
        "--json",
        "--start-paused",
    ];
    let mut daemon = Daemon::start(&robot, &args);
    let listener = Listener::connect(v5);
    listener.expect("status", 20, |status| status["state"] == "online");
    let said =
        json!({"id": "said", "start": "2026-03-02T17:30:01Z", "end": "2026-03-02T17:30:08Z"});
    assert_eq!(listener.ask("speaking", &said)["ok"], true);
    assert_eq!(listener.ask("replay/resume", &json!({}))["ok"], true);
    daemon.played();
    let sql = "SELECT voice, start FROM utterances ORDER BY start";
    let table = listener.ask("query", &json!({"verb": "sql", "args": {"query": sql}}));
    daemon.terminate();
    let rows = table["rows"].as_array().unwrap().clone();
    rows.into_iter().filter(|row| row[0] != "self").collect()
}

#[test]
fn who_speaks_over_the_robot_is_heard() {
    let (Some(robot), Some(person)) = (reader("1998"), reader("2609")) else { return };
    let robot = &robot[..7 * RATE];
    assert_eq!(others_in(robot), Vec::<Value>::new(), "nobody but the robot");
    let mut mixed = robot.to_vec();
    let power = |sound: &[f32]| sound.iter().map(|v| v * v).sum::<f32>() / sound.len() as f32;
    let over = &person[RATE / 2..RATE * 5 / 2];
    let gain = (power(robot) / power(over)).sqrt();
    mixed[2 * RATE..4 * RATE].iter_mut().zip(over).for_each(|(a, b)| *a += gain * b);
    let others = others_in(&mixed);
    assert_eq!(others.len(), 1, "{others:?}");
}
