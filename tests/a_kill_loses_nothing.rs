//! kill -9 at any moment: no committed clip is lost, and the resumed replay ends in the same memory.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::support::{Robot, need};

/// Of a recording: enough for several clips.
const PART: [&str; 2] = ["--duration", "40"];

/// Kills a replay after its `clips`-th commit and `more` milliseconds; gives back how many clips it had told of.
fn killed(robot: &Robot, recording: &str, clips: usize, more: u64) -> usize {
    let mut child = robot
        .command(&["replay", recording, "--json", PART[0], PART[1]])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = 0;
    while told < clips {
        match lines.next() {
            Some(Ok(line)) if line.contains("\"clip\"") => told += 1,
            Some(Ok(_)) => {}
            _ => break,
        }
    }
    thread::sleep(Duration::from_millis(more));
    child.kill().unwrap();
    child.wait().unwrap();
    told + lines.map_while(Result::ok).filter(|line| line.contains("\"clip\"")).count()
}

#[test]
fn a_killed_replay_resumes_into_the_same_memory() {
    let recording = need!("recordings/two_people_dev.mp4");
    let settings = |robot: Robot| robot.set("window.clip_secs=10");
    let whole = settings(Robot::new("edge"));
    whole.replay(&recording, &PART);
    let path = recording.to_str().unwrap();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let from = number("ENGRAM_KILLS_FROM").unwrap_or(0);
    let rounds = number("ENGRAM_KILLS").unwrap_or(3);
    for round in from..from + rounds {
        let robot = settings(Robot::new("edge"));
        // Spread over the recording; different places within a clip.
        let told = killed(&robot, path, 1 + round % 4, 37 * (round as u64 % 7));
        let kept = robot.json(&["timeline", "--json"])["clips"].clone();
        assert!(kept.as_array().unwrap().len() >= told, "{told} clips told, kept: {kept}");
        robot.replay(&recording, &PART);
        assert_eq!(robot.hash(), whole.hash(), "killed after {told} clips");
    }
}

/// A session's clips never overlap: it goes on with those it began with.
#[test]
fn a_resumed_replay_keeps_the_length_of_its_clips() {
    let recording = need!("recordings/two_people_dev.mp4");
    for (began, resumed, clips) in [("10", "30", 2), ("30", "10", 1)] {
        let robot = |secs: &str| Robot::new("edge").set(&format!("window.clip_secs={secs}"));
        let whole = robot(began);
        whole.replay(&recording, &PART);
        let robot = robot(began);
        killed(&robot, recording.to_str().unwrap(), clips, 0);
        let robot = robot.set(&format!("window.clip_secs={resumed}"));
        robot.replay(&recording, &PART);
        assert_eq!(robot.hash(), whole.hash(), "{began} s, then {resumed} s");
    }
}

#[test]
fn a_finished_recording_is_remembered_once() {
    let recording = need!("recordings/one_person_dev.mp4");
    let robot = Robot::new("edge");
    robot.replay(&recording, &["--duration", "12"]);
    let hash = robot.hash();
    let lines = robot.replay(&recording, &["--duration", "12"]);
    assert_eq!(lines.last().unwrap()["already_remembered"], true);
    assert_eq!(robot.hash(), hash);
    robot.replay(&recording, &["--duration", "12", "--again"]);
    assert_ne!(robot.hash(), hash);
}
