//! From the local sentence embedder to a server: the old vectors answer while memories are embedded anew, a kill in
//! the middle costs nothing, and a server that is down stops nobody.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Robot;
use crate::support::broker::{Listener, wait_for};
use crate::support::daemon::{Daemon, embedded};
use crate::support::llm_server::{Act, LlmServer};

const SOON: Duration = Duration::ZERO;
/// Length of the local embedder's vectors, bytes.
const LOCAL: u64 = 384 * 4;

fn with_server(robot: Robot, server: &LlmServer) -> Robot {
    robot
        .set("embedder.kind=server")
        .set(&format!("embedder.base_url={}", server.base_url()))
        .set("embedder.model=tiny-embed")
        .set("embedder.batch=4")
        .set("embedder.timeout_secs=2")
}

/// How many memories have a vector of so many bytes.
fn vectors(robot: &Robot) -> Vec<(u64, u64)> {
    let db = robot.database();
    let query = "SELECT length(vector), count(*) FROM vector WHERE retired_seq IS NULL GROUP BY 1 ORDER BY 1";
    let mut sizes = db.prepare(query).unwrap();
    let rows = sizes.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The best hit, and whether it was found by meaning.
fn recall(listener: &Listener, text: &str) -> (String, bool) {
    let found = listener.ask("query", &json!({"verb": "recall", "args": {"query": text}}));
    let best = &found["hits"][0];
    let by_meaning = best["why"].to_string().contains("meaning");
    (best["text"].as_str().unwrap_or_else(|| panic!("{found}")).to_owned(), by_meaning)
}

fn online(port: u16) -> Listener {
    let listener = Listener::connect(port);
    listener.expect("status", 60, |status| status["state"] == "online");
    listener
}

/// Whether the newest `status` says that recall by meaning is impaired.
fn impaired(listener: &Listener) -> bool {
    let status = listener.on("status").last().map(|status| status.json());
    status.is_some_and(|status| status["degraded"].to_string().contains("recall by meaning"))
}

#[test]
fn the_old_embedder_answers_until_the_new_one_can() {
    let (robot, _, v5) = embedded();
    let daemon = Daemon::start(&robot, &["run"]);
    let listener = online(v5);
    if impaired(&listener) {
        crate::support::absent("the local sentence embedder is not here (make setup)");
        return;
    }
    for number in 0..40 {
        let text = format!("Box number{number} stands on shelf{} in the cellar.", number * 7);
        let told = listener.ask("remember", &json!({ "text": text }));
        assert_eq!(told["ok"], true, "{told}");
    }
    assert_eq!(vectors(&robot), [(LOCAL, 40)]);
    assert_eq!(daemon.terminate().0, Some(0));

    let server = LlmServer::start(|_, body| Act::vectors(body, 64, Duration::from_millis(250)));
    let robot = with_server(robot, &server);
    let wanted = "Box number23 stands on shelf161 in the cellar.";
    let daemon = Daemon::start(&robot, &["run"]);
    let listener = online(v5);
    // Questions are compared with the old vectors, and one that is told now gets one at once.
    assert_eq!(recall(&listener, wanted), (wanted.to_owned(), true));
    listener.ask("remember", &json!({"text": "The red mug is on the shelf."}));
    wait_for("some new vectors", 30, || (vectors(&robot)[0].0 == 64 * 4).then_some(()));
    let then = vectors(&robot);
    assert_eq!(then[1], (LOCAL, 41), "{then:?}");
    assert_eq!(recall(&listener, wanted), (wanted.to_owned(), true));
    // Killed, not stopped.
    drop(daemon);

    let before = server.asked().len();
    server.now(|_, body| Act::vectors(body, 64, Duration::from_millis(20)));
    let daemon = Daemon::start(&robot, &["run"]);
    let listener = online(v5);
    assert_eq!(recall(&listener, wanted), (wanted.to_owned(), true));
    wait_for("the change", 60, || (vectors(&robot) == [(64 * 4, 41)]).then_some(()));
    assert_eq!(recall(&listener, wanted), (wanted.to_owned(), true));
    assert!(!impaired(&listener));
    let made_again: usize = server.asked()[before..]
        .iter()
        .map(|body| body["input"].as_array().map_or(0, Vec::len))
        .sum();
    assert!(made_again < 41, "it went on where it was: {made_again}");
    assert_eq!(daemon.terminate().0, Some(0));
    let checked = robot.run(&["check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn a_server_that_is_down_stops_nobody() {
    let (robot, _, v5) = embedded();
    let server = LlmServer::acts(vec![Act::Refuse(503, "", "loading".into())]);
    let robot = with_server(robot, &server);
    let daemon = Daemon::start(&robot, &["run"]);
    let listener = online(v5);
    let told = listener.ask("remember", &json!({"text": "The red mug is on the shelf."}));
    assert_eq!(told["memory"], "memory_1", "{told}");
    let answer = listener.ask("ask", &json!({"question": "Where is the red mug?"}));
    assert!(answer["answer"].as_str().unwrap().contains("shelf"), "{answer}");
    wait_for("the status", 20, || impaired(&listener).then_some(()));
    assert_eq!(vectors(&robot), []);
    assert!(!recall(&listener, "the red mug").1);
    let faults: [Act; 3] = [
        Act::Garbage("<html>".into()),
        Act::Json(SOON, json!({"data": [{"embedding": [0, 0]}]}).to_string()),
        Act::Stall,
    ];
    for fault in faults {
        server.now(move |_, _| fault.clone());
        let answer = listener.ask("ask", &json!({"question": "Where is the red mug?"}));
        assert!(answer["answer"].as_str().unwrap().contains("shelf"), "{answer}");
    }
    server.now(|_, body| Act::vectors(body, 64, SOON));
    wait_for("the vector", 90, || (vectors(&robot) == [(64 * 4, 1)]).then_some(()));
    wait_for("the status", 20, || (!impaired(&listener)).then_some(()));
    assert!(recall(&listener, "the red mug").1);
    let findings = robot.run(&["doctor", "--json"]);
    let findings: Value = serde_json::from_slice(&findings.stdout).unwrap();
    let own: Vec<&Value> =
        findings.as_array().unwrap().iter().filter(|one| one["area"] == "embedder").collect();
    assert_eq!(own.len(), 2, "{findings}");
    assert!(own.iter().all(|one| one["verdict"] == "ok"), "{own:?}");
    assert_eq!(daemon.terminate().0, Some(0));
}
