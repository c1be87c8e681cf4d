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
