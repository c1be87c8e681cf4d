//! Whether two memories of one scene are alike: persons, turns, and who speaks with which face, whatever their ids.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Robot;

/// Turns may begin and end so much apart.
const TURN_SECS: f64 = 0.05;
/// A face may be found a frame sooner or later where it comes and goes: in so many seconds in all.
const SIGHT_SECS: usize = 2;

/// Persons by the number of their faces and voices: who is linked to whom, without names.
pub fn links(robot: &Robot) -> Vec<(usize, usize)> {
    let people = robot.json(&["people", "--json"]);
    let count = |person: &Value, key: &str| person[key].as_array().unwrap().len();
    let mut links: Vec<_> = people
        .as_array()
        .unwrap()
        .iter()
        .map(|person| (count(person, "faces").min(1), count(person, "voices").min(1)))
        .collect();
    links.sort_unstable();
    links
}

/// How many faces and voices those links are of.
pub fn faces_and_voices(links: &[(usize, usize)]) -> (usize, usize) {
    links.iter().fold((0, 0), |(faces, voices), (face, voice)| (faces + face, voices + voice))
}

/// As many turns in both, each at the same time.
pub fn turns_agree(one: &Robot, other: &Robot) {
    let (one, other) = (turns(one), turns(other));
    assert_eq!(one.len(), other.len(), "{one:?}\n{other:?}");
    for (a, b) in one.iter().zip(&other) {
        let apart = (a.0 - b.0).abs().max((a.1 - b.1).abs());
        assert!(apart <= TURN_SECS, "{a:?} {b:?}");
    }
}

/// The same turns are one speaker's in both, and the face that goes with the voice is in view at the same time.
pub fn speakers_agree(one: &Robot, other: &Robot) {
    let (one, other) = (speakers(one), speakers(other));
    assert_eq!(one.len(), other.len(), "{one:?}\n{other:?}");
    for (a, b) in one.iter().zip(&other) {
        assert_eq!(a.turns, b.turns, "{one:?}\n{other:?}");
        let differ = a.seen_secs.symmetric_difference(&b.seen_secs).count();
        assert!(differ <= SIGHT_SECS, "{a:?}\n{b:?}");
    }
}

/// Somebody who was heard.
#[derive(Debug, Default)]
struct Speaker {
    /// Their turns, as numbered in the memory from 0.
    turns: Vec<usize>,
    /// Seconds since 1970 in which their face was in view.
    seen_secs: BTreeSet<i64>,
}

/// Speakers in the order in which they are first heard.
fn speakers(robot: &Robot) -> Vec<Speaker> {
    let lines = percepts(robot);
    let of = |kind: &'static str| lines.iter().filter(move |line| line["kind"] == kind);
    let person = |line: &Value| line["person"].to_string();
    let mut speakers = BTreeMap::<String, Speaker>::new();
    for (number, turn) in of("turn").enumerate() {
        speakers.entry(person(turn)).or_default().turns.push(number);
    }
    for face in of("face") {
        if let Some(speaker) = speakers.get_mut(&person(face)) {
            speaker.seen_secs.insert(secs(face, "t").floor() as i64);
        }
    }
    let mut speakers: Vec<_> = speakers.into_values().collect();
    speakers.sort_by_key(|speaker| speaker.turns[0]);
    speakers
}

/// Starts and ends, seconds since 1970.
fn turns(robot: &Robot) -> Vec<(f64, f64)> {
    percepts(robot)
        .iter()
        .filter(|line| line["kind"] == "turn")
        .map(|line| (secs(line, "start"), secs(line, "end")))
        .collect()
}

fn percepts(robot: &Robot) -> Vec<Value> {
    robot.json_lines(&["export", "--percepts"])
}

fn secs(line: &Value, key: &str) -> f64 {
    let time: jiff::Timestamp = line[key].as_str().unwrap().parse().unwrap();
    time.as_nanosecond() as f64 * 1e-9
}
