//! Another face model: the same people keep their ids.

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

#[test]
fn learned_with_open_known_with_edge() {
    let video = need!("recordings/two_people_dev.mp4");
    let video = video.to_str().unwrap_or_default();
    let mut robot = Robot::new("open");
    robot.json_lines(&["replay", video, "--duration", "40", "--json"]);
    let before = seen(&robot);
    assert_eq!(before.len(), 2, "{before:?}");
    for setting in &mut robot.settings {
        *setting = setting.replace("models.set=\"open\"", "models.set=\"edge\"");
    }
    robot.json_lines(&["replay", video, "--duration", "40", "--again", "--json"]);
    assert_eq!(seen(&robot), before, "the same two, under the same ids");
}
