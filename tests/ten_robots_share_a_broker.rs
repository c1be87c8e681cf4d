//! Ten daemons on one Mosquitto: nobody throws another one out, answers for it, or is taken for it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Robot;
use crate::support::broker::{Listener, Mosquitto, wait_for};
use crate::support::daemon::Daemon;

const ROBOTS: usize = 10;

/// A daemon without sources and without models: what could collide is all there.
fn start(number: usize, port: u16) -> (Daemon, Robot) {
    let robot = Robot::new("edge")
        .set(&format!("robot.id=r{number}"))
        .set("models.dir=/nonexistent")
        .set("models.mirror=/nonexistent")
        .set("home_assistant.discovery=true")
        .set(&format!("mqtt.broker=mqtt://127.0.0.1:{port}"));
    let daemon = Daemon::start(&robot, &["run"]);
    (daemon, robot)
}

/// The newest status of each robot.
fn states(listener: &Listener) -> BTreeMap<String, Value> {
    let of = |number: usize| {
        let robot = format!("r{number}");
        Some((robot.clone(), listener.on(&format!("engram/{robot}/status")).last()?.json()))
    };
    (0..ROBOTS).filter_map(of).collect()
}

fn online(listener: &Listener) -> usize {
    states(listener).values().filter(|status| status["state"] == "online").count()
}

#[test]
fn ten_daemons_on_one_broker_do_not_collide() {
    let Some(mosquitto) = Mosquitto::start() else { return };
    let filters = ["engram/+/status", "engram/+/answer/#", "homeassistant/#"];
    let listener = Listener::to(mosquitto.port, &filters);
    let mut robots: Vec<_> = (0..ROBOTS).map(|number| start(number, mosquitto.port)).collect();
    wait_for("ten robots online", 120, || (online(&listener) == ROBOTS).then_some(()));
    let boots: BTreeSet<String> =
        states(&listener).values().map(|status| status["boot_id"].to_string()).collect();
    assert_eq!(boots.len(), ROBOTS);

    // The same ids everywhere: each remembers and answers its own.
    for number in 0..ROBOTS {
        let text = format!("The mug of robot {number} is in room {number}.");
        let note = json!({"id": "n", "text": text});
        listener.publish(&format!("engram/r{number}/remember"), note.to_string());
    }
    let reply = |number: usize, id: &str| {
        let topic = format!("engram/r{number}/answer/{id}");
        let replies = wait_for(&topic, 60, || {
            Some(listener.on(&topic)).filter(|replies| !replies.is_empty())
        });
        assert_eq!(replies.len(), 1, "{topic}");
        replies[0].json()
    };
    for number in 0..ROBOTS {
        assert_eq!(reply(number, "n")["ok"], true);
        let ask = json!({"id": "q", "question": "Where is the mug?", "deadline_ms": 30_000});
        listener.publish(&format!("engram/r{number}/ask"), ask.to_string());
    }
    for number in 0..ROBOTS {
        let answer = reply(number, "q")["answer"].as_str().unwrap().to_owned();
        assert!(answer.contains(&format!("room {number}")), "robot {number}: {answer}");
    }

    let discovered: Vec<Value> = listener
        .topics()
        .iter()
        .filter(|topic| topic.starts_with("homeassistant/"))
        .map(|topic| listener.on(topic).last().unwrap().json())
        .collect();
    let ids: Vec<String> = discovered.iter().flat_map(unique_ids).collect();
    assert!(ids.len() >= ROBOTS, "{discovered:?}");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");

    // Each has one connection since its start: nobody was thrown out.
    assert!(states(&listener).values().all(|status| status["connection"] == 1));
    // One leaves, one dies: only they are said to.
    let (stopped, _) = robots.remove(3);
    assert_eq!(stopped.terminate().0, Some(0));
    let (killed, _) = robots.remove(6);
    killed.kill();
    wait_for("the killed one's will", 10, || {
        (states(&listener)["r7"]["state"] == "offline").then_some(())
    });
    std::thread::sleep(Duration::from_millis(300));
    for (robot, status) in states(&listener) {
        let expected = match robot.as_str() {
            "r3" => "stopped",
            "r7" => "offline",
            _ => "online",
        };
        assert_eq!(status["state"], expected, "{robot}");
    }
    // Their neighbours still answer.
    let late = json!({"id": "late", "question": "Where is the mug?", "deadline_ms": 30_000});
    listener.publish("engram/r2/ask", late.to_string());
    assert!(reply(2, "late")["answer"].as_str().unwrap().contains("room 2"));
}

/// Every `unique_id` in a discovery document.
fn unique_ids(document: &Value) -> Vec<String> {
    match document {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| match value {
                Value::String(id) if key == "unique_id" || key == "uniq_id" => vec![id.clone()],
                other => unique_ids(other),
            })
            .collect(),
        Value::Array(all) => all.iter().flat_map(unique_ids).collect(),
        _ => Vec::new(),
    }
}
