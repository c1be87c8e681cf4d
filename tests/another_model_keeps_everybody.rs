//! Another face model: the same people keep their ids, also where no picture of them was kept.

use serde_json::Value;

use crate::support::{Robot, need};

/// Ids of people who were in view.
fn seen(robot: &Robot) -> Vec<String> {
    let people = robot.json(&["people", "--json"]);
    let people = people.as_array().cloned().unwrap_or_default();
    let mut ids: Vec<String> = people
        .iter()
        .filter(|person| person["faces"].as_array().is_some_and(|faces| !faces.is_empty()))
        .filter_map(|person| person["id"].as_str().map(str::to_owned))
        .collect();
    ids.sort();
    ids
}

fn to_edge(robot: &mut Robot) {
    for setting in &mut robot.settings {
        *setting = setting.replace("models.set=\"open\"", "models.set=\"edge\"");
    }
}

#[test]
fn learned_with_open_known_with_edge() {
    let video = need!("recordings/two_people_dev.mp4");
    let video = video.to_str().unwrap_or_default();
    // (Faces alone are looked at.)
    let mut robot = Robot::new("open").set("active_speaker.on=false");
    robot.json_lines(&["replay", video, "--duration", "40", "--json"]);
    let before = seen(&robot);
    assert_eq!(before.len(), 2, "{before:?}");
    to_edge(&mut robot);
    robot.json_lines(&["replay", video, "--duration", "40", "--again", "--json"]);
    assert_eq!(seen(&robot), before, "the same two, under the same ids");
}

/// Ids of people whose voices are known, with those of the voices.
fn heard(robot: &Robot) -> Vec<String> {
    let people = robot.json(&["people", "--json"]);
    let people = people.as_array().cloned().unwrap_or_default();
    let mut ids: Vec<String> = people
        .iter()
        .filter(|person| person["voices"].as_array().is_some_and(|voices| !voices.is_empty()))
        .map(|person| format!("{} {}", person["id"], person["voices"]))
        .collect();
    ids.sort();
    ids
}

/// GE2E told voices apart before CAM++ did.
#[test]
fn voices_learned_with_the_network_before_are_known_with_this_one() {
    let video = need!("recordings/two_people_dev.mp4");
    let video = video.to_str().unwrap_or_default();
    let mut robot = Robot::new("edge").set("voice.network=\"ge2e\"");
    robot.json_lines(&["replay", video, "--json"]);
    let before = heard(&robot);
    assert_eq!(before.len(), 2, "{before:?}");
    for setting in &mut robot.settings {
        *setting = setting.replace("voice.network=\"ge2e\"", "voice.network=\"auto\"");
    }
    let told = robot.json_lines(&["replay", video, "--again", "--json"]);
    assert_eq!(heard(&robot), before, "the same two, under the same ids: {told:?}");
}

/// The person of that id.
fn person(robot: &Robot, id: &str) -> Value {
    let people = robot.json(&["people", "--json"]);
    let people = people.as_array().cloned().unwrap_or_default();
    people.into_iter().find(|person| person["id"] == id).unwrap_or_default()
}

/// Of one who was met first without pictures some are kept later on: they are learned, and the rest decides nothing.
#[test]
fn what_was_kept_of_somebody_in_part_is_enough() {
    let video = need!("recordings/two_people_dev.mp4");
    let video = video.to_str().unwrap_or_default();
    let mut robot = Robot::new("open").set("privacy.media=false");
    robot.json_lines(&["replay", video, "--duration", "25", "--json"]);
    for setting in &mut robot.settings {
        *setting = setting.replace("privacy.media=false", "privacy.media=true");
    }
    let later = ["replay", video, "--again", "--start-offset", "20", "--duration", "35", "--json"];
    robot.json_lines(&later);
    let before = seen(&robot);
    assert_eq!(before.len(), 2, "{before:?}");
    to_edge(&mut robot);
    robot.json_lines(&["replay", video, "--again", "--duration", "40", "--json"]);
    assert_eq!(seen(&robot), before, "the same two, under the same ids");
}

/// Both sets hear voices with the same model: her voice teaches whose the new face is.
#[test]
fn without_pictures_a_known_voice_brings_its_person_back() {
    let video = need!("recordings/two_people_dev.mp4");
    let video = video.to_str().unwrap_or_default();
    let mut robot = Robot::new("open").set("privacy.media=false");
    // Where nobody looks at mouths, one clip is too little to give her the voice.
    robot.json_lines(&["replay", video, "--json"]);
    robot.json_lines(&["replay", video, "--again", "--json"]);
    robot.json(&["name", "person_1", "Ava", "--json"]);
    let before = person(&robot, "person_1");
    assert_eq!(before["voices"].as_array().map(Vec::len), Some(1), "{before}");
    to_edge(&mut robot);
    for _ in 0..2 {
        robot.json_lines(&["replay", video, "--again", "--json"]);
        let after = person(&robot, "person_1");
        assert_eq!(after["name"], "Ava");
        assert_eq!(after["voices"], before["voices"], "{after}");
        let faces = |of: &Value| of["faces"].as_array().map_or(0, Vec::len);
        assert_eq!(faces(&after), faces(&before) + 1, "{after}");
        assert_eq!(after.get("unmatchable"), None, "{after}");
    }
}
