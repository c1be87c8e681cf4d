//! With `--data-dir` commands work on the store itself: what is told, named and erased without a daemon.

use serde_json::Value;

use crate::support::{Robot, need};

#[test]
fn a_note_a_name_and_an_erasure_without_a_daemon() {
    let recording = need!("recordings/one_person_dev.mp4");
    let robot = Robot::new("edge");
    robot.replay(&recording, &["--duration", "12"]);
    let person = |robot: &Robot| robot.json(&["people", "--json"])[0].clone();
    let id = person(&robot)["id"].as_str().unwrap().to_owned();
    robot.json(&["name", &id, "Ava", "--json"]);
    assert_eq!(person(&robot)["name"], "Ava");
    let told = ["remember", "The blue folder is on the piano.", "--about", "Ava", "--json"];
    let note = robot.json(&told);
    assert_eq!(note["entities"], serde_json::json!([id]));
    let ask = |question: &str| robot.json(&["ask", question, "--json"]);
    let folder = ask("Where is the blue folder?");
    assert!(folder["answer"].as_str().unwrap().contains("piano"), "{folder}");
    assert_eq!(ask("Who was here?")["entities"], serde_json::json!([id]));

    robot.json(&["forget", "--entity", "Ava", "--json"]);
    assert!(robot.json(&["people", "--json"]).as_array().is_some_and(Vec::is_empty));
    let gone: Value = robot.json(&["ask", "When did you last see Ava?", "--json"]);
    assert_eq!(gone["abstained"], true, "{gone}");
}
