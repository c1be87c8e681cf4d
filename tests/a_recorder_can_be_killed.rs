//! `engramd record`: what live sources delivered is there again, whole or after a kill.

use std::time::{Duration, Instant};

use crate::support::Robot;

/// A robot with a test picture and a tone for a camera and a microphone.
fn robot(dir: &std::path::Path) -> (Robot, std::path::PathBuf) {
    let config = dir.join("engram.toml");
    std::fs::write(
        &config,
        r#"
[[camera]]
id = "front"
pipeline = "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=120,framerate=10/1 ! appsink name=video sync=false"

[[microphone]]
id = "ears"
backend = "gstreamer"
device = "audiotestsrc is-live=true samplesperbuffer=1600 ! audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved ! appsink name=audio sync=false"
"#,
    )
    .unwrap();
    (Robot::new("edge"), config)
}

/// Frames that a replay of it counts, and its exit code.
fn frames(robot: &Robot, bag: &std::path::Path) -> (u64, Option<i32>) {
    let output = robot.run(&["replay", bag.to_str().unwrap(), "--json"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    (lines.filter_map(|line| line["frames"].as_u64()).sum(), output.status.code())
}

#[test]
fn a_finished_recording_is_whole_and_a_killed_one_lacks_a_second_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let (recorder, config) = robot(dir.path());
    let config = config.to_str().unwrap();
    let whole = dir.path().join("whole.mcap");
    let args = ["record", whole.to_str().unwrap(), "--media-only", "--duration", "3", "--json"];
    let end = recorder.json(&[args.as_slice(), &["--config", config]].concat());
    let written = end["frames"].as_u64().unwrap();
    assert!(written > 5, "{end}");
    assert_eq!(frames(&recorder, &whole), (written, Some(0)));

    let killed = dir.path().join("killed");
    let mut child = recorder
        .command(&["record", killed.to_str().unwrap(), "--media-only", "--max-secs", "2"])
        .args(["--config", config])
        .spawn()
        .unwrap();
    let began = Instant::now();
    // Until a second file is begun: then the first is whole and the second is being written.
    while !killed.join("killed_1.mcap").exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "no second file");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(1500));
    child.kill().unwrap();
    child.wait().unwrap();
    let (seen, code) = frames(&Robot::new("edge"), &killed);
    assert_eq!(code, Some(3), "the second file has no end");
    assert!(seen >= 10, "{seen}");
}
