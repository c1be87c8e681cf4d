//! kill -9 with answers on their way and the broker away: what was answered is delivered, what was not is refused.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Robot;
use crate::support::broker::{Listener, Mosquitto, wait_for};
use crate::support::llm_server::{Act, LlmServer};

/// A daemon that is killed, not stopped.
struct Daemon(std::process::Child);

impl Daemon {
    fn start(robot: &Robot) -> Self {
        Self(robot.command(&["run"]).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn deep(id: &str) -> String {
    let ask = json!({"id": id, "question": "Where is the red mug?", "effort": "deep", "deadline_ms": 60_000});
    ask.to_string()
}

#[test]
fn a_kill_during_an_outage_loses_no_answer_and_leaves_nobody_waiting() {
    let Some(mut mosquitto) = Mosquitto::start() else { return };
    let words = json!({"answer": "On the shelf.", "evidence": ["memory_1"], "confidence": 0.9, "known": true});
    let server =
        LlmServer::acts(vec![Act::Slow(Duration::from_secs(2), words.to_string()), Act::Stall]);
    let robot = Robot::new("edge")
        .set("robot.id=rob")
        .set(&format!("mqtt.broker=mqtt://127.0.0.1:{}", mosquitto.port))
        .set(&format!("llm.base_url={}", server.base_url()))
        .set("llm.model=tiny")
        .set("answerer.kind=model")
        .set("answerer.concurrency=2");
    let daemon = Daemon::start(&robot);
    let listener = Listener::connect(mosquitto.port);
    let first = listener.expect("status", 60, |status| status["state"] == "online");
    let told =
        listener.ask("remember", &json!({"text": "The red mug is on the shelf.", "id": "n"}));
    assert_eq!(told["memory"], "memory_1", "{told}");
    listener.send("ask", deep("slow").as_bytes());
    wait_for("the model's first question", 10, || (server.asked().len() == 1).then_some(()));
    listener.send("ask", deep("stalled").as_bytes());
    wait_for("the model's second question", 10, || (server.asked().len() == 2).then_some(()));
    mosquitto.kill();
    // The slow answer comes while the broker is away; the other one never does.
    std::thread::sleep(Duration::from_secs(4));
    drop(daemon);
    mosquitto.run();
    let listener = Listener::connect(mosquitto.port);
    let _daemon = Daemon::start(&robot);
    let answer = listener.expect("answer/slow", 60, |_| true);
    assert_eq!(answer["engine"], "model:tiny", "{answer}");
    let refused = listener.expect("answer/stalled", 10, |_| true);
    assert_eq!(refused["error"]["code"], "unavailable", "{refused}");
    assert_eq!(refused["error"]["retryable"], true);
    let second = listener.expect("status", 10, |status| status["state"] == "online");
    assert_ne!(first["boot_id"], second["boot_id"]);
    // The note's id is known: it is not remembered twice.
    let again =
        listener.ask("remember", &json!({"text": "The red mug is on the shelf.", "id": "n"}));
    assert_eq!(again["memory"], "memory_1", "{again}");
    let notes = listener
        .ask("query", &json!({"verb": "sql", "args": {"query": "SELECT count(*) FROM memories"}}));
    assert_eq!(notes["rows"][0][0], Value::from(1), "{notes}");
}
