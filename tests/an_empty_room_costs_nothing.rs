//! An empty room: a live robot writes nothing while nothing happens, and knows afterwards that it was there.

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::support::Robot;
use crate::support::broker::{Listener, wait_for};
use crate::support::daemon::{Daemon, embedded};

/// A picture that never changes, in clips of 5 s.
const WALL: &str = "[window]\nclip_secs = 5.0\n\n[[camera]]\nid = \"front\"\npipeline = \"\"\"\n\
    videotestsrc is-live=true pattern=blue ! video/x-raw,width=320,height=240,framerate=5/1 ! appsink name=video\n\"\"\"\n";

/// How many rows every table of the store has, but for those that questions write.
fn rows(robot: &Robot) -> BTreeMap<String, u64> {
    let file = robot.dir.path().join("engram.db");
    let db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    db.busy_timeout(Duration::from_secs(5)).unwrap();
    let tables =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('answer', 'access')";
    let mut tables = db.prepare(tables).unwrap();
    let names: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let count = |name: &String| {
        db.query_row(&format!("SELECT count(*) FROM \"{name}\""), [], |row| row.get(0)).unwrap()
    };
    names.iter().map(|name| (name.clone(), count(name))).collect()
}

#[test]
fn clips_of_an_empty_room_write_no_row_and_are_told_of_when_they_are_over() {
    let (robot, _, v5) = embedded();
    let file = robot.dir.path().join("engram.toml");
    std::fs::write(&file, WALL).unwrap();
    let daemon = Daemon::start(&robot, &["run", "--config", file.to_str().unwrap()]);
    let listener = Listener::connect(v5);
    listener.expect("status", 60, |status| status["session"] == "s1");
    let clips = || rows(&robot)["clip"];
    wait_for("the first clip", 60, || Some(()).filter(|()| clips() > 0));
    // The scene is known from the first clip on; the next ones are those of an empty room.
    let before = rows(&robot);
    std::thread::sleep(Duration::from_secs(16));
    assert_eq!(rows(&robot), before, "three clips of an empty room");
    // It knows that it is there all the while.
    let asked = json!({"question": "Who was here in the last 10 seconds?"});
    let nobody = listener.ask("ask", &asked);
    assert!(!nobody["answer"].as_str().unwrap().contains("not recording"), "{nobody}");
    assert_eq!(daemon.terminate().0, Some(0));
    let timeline = robot.json(&["timeline", "--json"]);
    let clips = timeline["clips"].as_array().unwrap();
    assert_eq!(clips.len() as u64, before["clip"] + 1, "the last one is written: {timeline}");
    let told = robot.json(&["recall", "Nobody was seen or heard", "--json"]);
    let secs = |memory: &Value| {
        let text = memory["text"].as_str()?;
        text.strip_prefix("Nobody was seen or heard for ")?.split(' ').next()?.parse::<u64>().ok()
    };
    let longest = told["hits"].as_array().unwrap().iter().filter_map(secs).max();
    assert!(longest.is_some_and(|secs| secs >= 15), "one sentence for all of them: {told}");
}
