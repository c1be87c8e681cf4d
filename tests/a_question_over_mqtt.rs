//! A recording goes in, a question over MQTT comes back with an answer and its evidence: the real binary,
//! its embedded broker and a real Mosquitto.

use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::broker::{Listener, Mosquitto, tool, wait_for};
use crate::support::daemon::{Daemon, embedded};
use crate::support::{Robot, need};

fn replay_args(recording: &Path) -> Vec<&str> {
    let path = recording.to_str().unwrap();
    vec!["replay", path, "--duration", "20", "--serve", "--json", "--start-paused", "--clock", "20"]
}

#[test]
fn everything_of_the_contract_over_the_embedded_broker() {
    let recording = need!("recordings/two_people_dev.mp4");
    let (robot, v4, v5) = embedded();
    let robot = robot.set("window.clip_secs=10");
    let mut daemon = Daemon::start(&robot, &replay_args(&recording));
    let listener = Listener::connect(v5);

    // Before the recording plays: an empty memory says so, and nothing was known then.
    let birth = listener.expect("status", 20, |status| status["state"] == "online");
    assert_eq!(birth["session"], Value::Null);
    let mug = json!({"question": "Where is the red mug?"});
    assert_eq!(listener.ask("ask", &mug)["abstained"], true);
    let anybody = json!({"question": "Who was here?"});
    assert_eq!(listener.ask("ask", &anybody)["abstained"], true);
    let early = json!({"question": "Who was here?", "as_of": "2001-01-01T00:00:00Z"});
    assert_eq!(listener.refused("ask", early.to_string()), "expired");

    let resumed = listener.ask("replay/resume", &json!({}));
    assert_eq!(resumed["ok"], true, "{resumed}");
    let lines = daemon.played();
    assert!(lines.iter().filter(|line| line["clip"].is_string()).count() >= 2, "{lines:?}");

    // The recording's time was told while it played.
    let ticks = |tick: &Value| tick["rate"] == "max" && tick["paused"] == false;
    let tick = listener.expect("clock", 5, ticks);
    assert!(tick["time"].as_str().unwrap() > "2000", "{tick}");

    // What happened is told.
    listener.expect("status", 5, |status| status["session"] == "s1");
    let described = listener.expect("describe", 5, |describe| describe["history_from"].is_string());
    assert!(described["abilities"].as_array().unwrap().len() >= 6, "{described}");
    for event in ["new", "appeared"] {
        listener.expect("event/person", 5, |told| told["event"] == event);
    }
    listener.expect("event/speech", 5, |told| told["start"].is_string());
    listener.expect("event/memory", 5, |told| told["clip"] == "s1/0");

    questions(&listener, &early);
    changes(&listener);
    bad_requests(&listener);
    tools(v4, v5);
    let stats = listener.expect("stats", 15, |stats| {
        let counts = &stats["counts"];
        counts["clips"].as_u64() >= Some(2) && counts["questions"].as_u64() > Some(1)
    });
    assert!(stats["sources"].as_object().unwrap().len() >= 2, "{stats}");
    assert!(stats["latency_ms"]["answer"]["count"].as_u64().unwrap() > 0, "{stats}");

    let (code, took) = daemon.terminate();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
    listener.expect("status", 5, |status| status["state"] == "stopped");
}

fn questions(listener: &Listener, early: &Value) {
    let answer = listener.ask("ask", &json!({"question": "Who was here?", "id": "q-1"}));
    assert_eq!(answer["id"], "q-1");
    assert_eq!(answer["abstained"], false, "{answer}");
    assert!(!answer["evidence"].as_array().unwrap().is_empty(), "{answer}");
    assert!(!answer["entities"].as_array().unwrap().is_empty(), "{answer}");
    for key in ["question", "answer", "confidence", "engine", "as_of", "rounds", "latency_ms"] {
        assert!(!answer[key].is_null(), "{key}: {answer}");
    }
    let plain = listener.request("ask", "When was somebody here?").json();
    assert!(plain["id"].as_str().unwrap().starts_with("answer_"), "{plain}");
    // A question without response topic is answered below its id.
    listener.send("ask", br#"{"question":"Who was here?","id":"q-2"}"#);
    listener.expect("answer/q-2", 5, |answer| answer["id"] == "q-2");
    assert_eq!(listener.refused("ask", early.to_string()), "expired");

    for (verb, args) in [
        ("people", json!({})),
        ("timeline", json!({})),
        ("show", json!({"what": "person_1"})),
        ("recall", json!({"query": "in view"})),
        ("sql", json!({"query": "SELECT count(*) AS n FROM memories"})),
    ] {
        let reply = listener.ask("query", &json!({"verb": verb, "args": args}));
        assert!(reply["error"].is_null(), "{verb}: {reply}");
    }
    let face = json!({"verb": "media", "args": {"entity": "person_1"}}).to_string();
    assert!(listener.request("query", face).payload.starts_with(&[0xff, 0xd8]));
}

#[test]
fn places_are_told_where_no_pose_can_be_kept() {
    let (robot, _, v5) = embedded();
    let _daemon = Daemon::start(&robot, &["run"]);
    let listener = Listener::connect(v5);
    listener.expect("status", 20, |status| status["state"] == "online");
    // Without a camera and a microphone there are no clips that poses could be kept with.
    let pose = json!({"x": 1.0, "y": 2.0, "yaw": 0.5, "frame": "map", "stamp": 1, "id": "pose-1"});
    assert_eq!(listener.refused("pose", pose.to_string()), "unavailable");
    let told = json!({"text": "We are in the orangery now."});
    assert_eq!(listener.ask("remember", &told)["ok"], true);
    let named = listener.ask("name", &json!({"entity": "here", "name": "Summer House"}));
    assert_eq!((&named["ok"], &named["entity"]), (&json!(true), &json!("place_2")), "{named}");
    let query =
        |verb: &str, args: Value| listener.ask("query", &json!({"verb": verb, "args": args}));
    let known = query("places", json!({}));
    let names: Vec<&Value> =
        known["places"].as_array().unwrap().iter().map(|place| &place["name"]).collect();
    assert_eq!(names, ["orangery", "Summer House"], "{known}");
    assert_eq!(known["places"][0]["stays"], 1, "{known}");
    let day = query("timeline", json!({"place": "summer house"}));
    assert!(day["error"].is_null(), "{day}");
}

fn changes(listener: &Listener) {
    let named = listener.ask("name", &json!({"entity": "person_1", "name": "Ava"}));
    assert_eq!((&named["ok"], &named["entity"]), (&json!(true), &json!("person_1")));
    listener.expect("event/person", 5, |told| told["event"] == "named" && told["name"] == "Ava");

    let noted = listener.ask("remember", &json!({"text": "Ava keeps the spare key."}));
    assert_eq!((&noted["ok"], &noted["entities"]), (&json!(true), &json!(["person_1"])));
    listener.expect("event/memory", 5, |told| told["memory"] == noted["memory"]);
    let key = listener.ask("ask", &json!({"question": "Who keeps the spare key?"}));
    assert!(key["answer"].as_str().unwrap().contains("Ava"), "{key}");

    let lesson = listener.ask("feedback", &json!({"answer": "q-1", "verdict": "right"}));
    assert_eq!(lesson["ok"], true, "{lesson}");
    let judged = json!({"answer": key["answer_id"], "verdict": "wrong", "comment": "It was Ben."});
    assert_eq!(listener.ask("feedback", &judged)["ok"], true);
    for (alike, question) in [
        (true, "Who keeps the spare key?"),
        (true, "Who is keeping our spare key?"),
        (false, "Who spoke?"),
    ] {
        let again = listener.ask("ask", &json!({"question": question}));
        let told = again["answer"].as_str().unwrap().ends_with("I was told: It was Ben.");
        assert_eq!(told, alike, "{again}");
        assert!(!alike || again["confidence"].as_f64() < key["confidence"].as_f64(), "{again}");
    }

    let told = json!({"text": "The red mug is on the shelf."});
    assert_eq!(listener.ask("remember", &told)["ok"], true);
    let still = json!({"question": "Is the red mug still on the shelf?"});
    let mug = listener.ask("ask", &still);
    assert!(mug["answer"].as_str().unwrap().starts_with("Yes"), "{mug}");
    // It has no id: the plain word for it does.
    assert_eq!(listener.ask("forget", &json!({"entity": "the Red Mug"}))["ok"], true);
    let gone = listener.ask("ask", &still);
    assert!(!gone["answer"].as_str().unwrap().contains("mug is on"), "{gone}");
    assert_eq!(listener.refused("forget", r#"{"entity":"red mug"}"#), "not_found");

    let would = listener.ask("forget", &json!({"memory": noted["memory"], "dry_run": true}));
    assert_eq!((&would["ok"], &would["memories"]), (&true.into(), &1.into()), "{would}");
    let forgotten = listener.ask("forget", &json!({"memory": noted["memory"]}));
    assert_eq!(forgotten["ok"], true, "{forgotten}");
    assert!(forgotten["rows"].as_u64().unwrap() > 0, "{forgotten}");
    assert_eq!(forgotten["rows"], would["rows"], "{would}");

    let pose = json!({"x": 1.0, "y": 2.0, "yaw": 0.5, "frame": "map", "stamp": 1, "id": "pose-1"});
    assert_eq!(listener.ask("pose", &pose)["ok"], true);
    let start = "2026-03-02T17:30:00Z";
    let said = json!({"start": start, "end": start, "text": "Good morning.", "id": "speaking-1"});
    assert_eq!(listener.ask("speaking", &said)["ok"], true);
}

fn bad_requests(listener: &Listener) {
    assert_eq!(listener.refused("ask", ""), "bad_request");
    assert_eq!(listener.refused("ask", r#"{"question":"  "}"#), "bad_request");
    assert_eq!(listener.refused("ask", vec![b'x'; 5_000_000]), "too_large");
    assert_eq!(listener.refused("ask", vec![b'W', 0xff, 0xfe]), "bad_request");
    assert_eq!(listener.refused("ask", "{"), "bad_request");
    assert_eq!(listener.refused("ask", r#"{"question":"Who?","wrong":1}"#), "bad_request");
    assert_eq!(listener.refused("replay/fly", "{}"), "bad_request");
    assert_eq!(listener.refused("name", r#"{"entity":"person_99","name":"Ben"}"#), "not_found");
    assert_eq!(listener.refused("forget", r#"{"entity":"nobody"}"#), "not_found");
    assert_eq!(listener.refused("forget", r#"{"memory":"memory_9999"}"#), "not_found");
    let unknown = r#"{"answer":"answer_9999","verdict":"right"}"#;
    assert_eq!(listener.refused("feedback", unknown), "not_found");
    let write = r#"{"verb":"sql","args":{"query":"DELETE FROM memory"}}"#;
    assert_eq!(listener.refused("query", write), "bad_request");
}

/// Debian's tools, MQTT 5 and 3.1.1.
fn tools(v4: u16, v5: u16) {
    let rr = [
        "-V",
        "mqttv5",
        "-t",
        "engram/rob/ask",
        "-e",
        "engram/rob/answer/rr",
        "-m",
        "Who was here?",
        "-W",
        "10",
    ];
    let Some(asked) = tool("mosquitto_rr", v5, &rr) else { return };
    let output = asked.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(answer["abstained"], false, "{answer}");

    let sub = ["-V", "mqttv311", "-t", "engram/rob/answer/old", "-C", "1", "-W", "10"];
    let Some(subscribed) = tool("mosquitto_sub", v4, &sub) else { return };
    thread::sleep(Duration::from_millis(500));
    let question = r#"{"question":"Who was here?","id":"old"}"#;
    let publish = ["-V", "mqttv311", "-t", "engram/rob/ask", "-m", question];
    let Some(published) = tool("mosquitto_pub", v4, &publish) else { return };
    assert!(published.wait_with_output().unwrap().status.success());
    let output = subscribed.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!((&answer["id"], &answer["abstained"]), (&json!("old"), &json!(false)));
}

#[test]
fn a_real_mosquitto_serves_as_well_and_tells_of_a_crash() {
    let recording = need!("recordings/two_people_dev.mp4");
    let Some(mosquitto) = Mosquitto::start() else { return };
    let listener = Listener::connect(mosquitto.port);
    let robot = Robot::new("edge")
        .set("robot.id=rob")
        .set(&format!("mqtt.broker=mqtt://127.0.0.1:{}", mosquitto.port));
    let mut daemon = Daemon::start(&robot, &replay_args(&recording));
    listener.expect("status", 60, |status| status["state"] == "online");
    listener.ask("replay/resume", &json!({}));
    daemon.played();
    tools(mosquitto.port, mosquitto.port);
    listener.expect("event/memory", 5, |told| told["clip"] == "s1/0");
    assert_eq!(listener.ask("query", &json!({"verb": "people"})).as_array().unwrap().len(), 2);
    daemon.signal("-KILL");
    listener.expect("status", 10, |status| status["state"] == "offline");
    drop(daemon);

    // It comes back with the same memory, and leaves in good order.
    let daemon = Daemon::start(&robot, &["run"]);
    wait_for("the second birth", 60, || {
        let states = listener.on("status");
        (states.iter().filter(|one| one.json()["state"] == "online").count() > 1
            && states.last()?.json()["state"] == "online")
            .then_some(())
    });
    let answer = listener.ask("ask", &json!({"question": "Who was here?"}));
    assert_eq!(answer["abstained"], false, "{answer}");
    assert_eq!(daemon.terminate().0, Some(0));
    listener.expect("status", 5, |status| status["state"] == "stopped");
}
