//! The daemon with a language model on a real socket, scripted to fail in every way: each question is answered or
//! refused with the right code in time, each clip keeps its built-in memories and is memorized when the model is
//! back.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::broker::{Listener, free_port, wait_for};
use crate::support::llm_server::{Act, LlmServer};
use crate::support::{Robot, need};

/// A daemon without sources that is killed when the test is over.
struct Daemon(std::process::Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn with_model(server: &LlmServer) -> Robot {
    Robot::new("edge")
        .set("robot.id=rob")
        .set(&format!("llm.base_url={}", server.base_url()))
        .set("llm.model=tiny")
        .set("llm.retries=1")
}

/// A daemon that knows where the mug is.
fn answering(server: &LlmServer) -> (Robot, Daemon, Listener) {
    let (v4, v5) = (free_port(), free_port());
    let robot = with_model(server)
        .set("answerer.kind=model")
        .set("answerer.model_queue=16")
        .set(&format!("mqtt.listen=127.0.0.1:{v4}"))
        .set(&format!("mqtt.listen_v5=127.0.0.1:{v5}"));
    let daemon = robot.command(&["run"]).stdout(Stdio::null()).spawn().unwrap();
    let daemon = Daemon(daemon);
    let listener = Listener::connect(v5);
    listener.expect("status", 60, |status| status["state"] == "online");
    let told = listener.ask("remember", &json!({"text": "The red mug is on the shelf."}));
    assert_eq!(told["memory"], "memory_1", "{told}");
    (robot, daemon, listener)
}

fn deep(id: &str, ms: u64) -> Value {
    json!({"id": id, "question": "Where is the red mug?", "effort": "deep", "deadline_ms": ms})
}

fn good() -> Act {
    Act::json(
        &json!({"answer": "On the shelf.", "evidence": ["memory_1"], "confidence": 0.9, "known": true}),
    )
}

#[test]
fn a_model_answers_in_rounds_and_every_fault_is_survived() {
    let server = LlmServer::acts(vec![Act::call("search", &json!({"text": "mug"})), good()]);
    let (_robot, mut daemon, listener) = answering(&server);
    let reply = listener.ask("ask", &deep("good", 15_000));
    assert_eq!((&reply["engine"], &reply["rounds"]), (&json!("model:tiny"), &json!(2)), "{reply}");
    assert_eq!(reply["evidence"][0]["memory"], "memory_1");
    let told = wait_for("progress", 5, || {
        let told = listener.on("answer/good/progress");
        (told.len() == 2).then_some(told)
    });
    assert_eq!(
        (&told[0].json()["action"], &told[1].json()["action"]),
        (&json!("search"), &json!("answer"))
    );

    // What a round costs beside the model.
    server.now(|_, body| match body["messages"].as_array().map(Vec::len) {
        Some(2) => Act::call("search", &json!({"text": "mug"})),
        _ => good(),
    });
    let mut beside: Vec<f64> = (0..40)
        .map(|number| {
            let reply = listener.ask("ask", &deep(&format!("beside{number}"), 15_000));
            let ms = |what: &str| reply["latency_ms"][what].as_f64().unwrap();
            assert_eq!(reply["rounds"], 2, "{reply}");
            (ms("total") - ms("model")) / 2.0
        })
        .collect();
    beside.sort_by(f64::total_cmp);
    println!("a round beside the model: p50 {:.1} ms, p95 {:.1} ms", beside[20], beside[38]);

    let faults: Vec<(&str, Act)> = vec![
        ("500", Act::Refuse(500, "", "boom".into())),
        ("429", Act::Refuse(429, "Retry-After: 1\r\n", String::new())),
        ("cut", Act::Cut),
        ("garbage", Act::Garbage("data: \u{1}{]\n\n".into())),
        ("schema", Act::json(&json!({"result": [1, 2]}))),
        ("think", Act::Think),
        ("tool", Act::call("forget", &json!({"entity": "person_1"}))),
        ("slow", Act::Slow(Duration::from_secs(30), String::new())),
        ("stall", Act::Stall),
    ];
    for (name, act) in faults {
        server.now(move |_, _| act.clone());
        let begun = Instant::now();
        let reply = listener.ask("ask", &deep(name, 4_000));
        assert!(begun.elapsed() < Duration::from_secs(12), "{name}: {:?}", begun.elapsed());
        assert_eq!(reply["engine"], "builtin", "{name}: {reply}");
        assert!(reply["answer"].as_str().unwrap().contains("shelf"), "{name}: {reply}");
        assert!(reply["note"].as_str().unwrap().starts_with("the built-in"), "{name}: {reply}");
        // The model is back.
        server.now(|_, _| good());
        wait_for("the model's answer", 60, || {
            let reply = listener.ask("ask", &json!({"question": "Where is it?", "effort": "deep"}));
            (reply["engine"] == "model:tiny").then_some(())
        });
    }
    assert!(daemon.0.try_wait().unwrap().is_none(), "the daemon lives");
    let known = listener
        .ask("query", &json!({"verb": "sql", "args": {"query": "SELECT count(*) FROM memories"}}));
    assert_eq!(known["rows"][0][0], 1, "nothing was forgotten or made up");
}

#[test]
fn two_hundred_questions_before_a_stalled_model_hold_nobody_up() {
    let server = LlmServer::acts(vec![Act::Stall]);
    let (_robot, daemon, listener) = answering(&server);
    let memory = || resident_kb(daemon.0.id());
    let before = memory();
    for number in 0..200 {
        listener.send("ask", deep(&format!("d{number}"), 6_000).to_string().as_bytes());
    }
    // Fast questions pass.
    let mut slowest = Duration::ZERO;
    for number in 0..50 {
        let begun = Instant::now();
        let reply = listener
            .ask("ask", &json!({"id": format!("f{number}"), "question": "Where is the red mug?"}));
        slowest = slowest.max(begun.elapsed());
        assert_eq!(reply["engine"], "builtin", "{reply}");
    }
    println!("slowest fast question beside 200 deep ones: {slowest:?}");
    let replies: Vec<Value> = (0..200)
        .map(|number| listener.expect(&format!("answer/d{number}"), 20, |_| true))
        .collect();
    let overloaded = replies.iter().filter(|reply| reply["error"]["code"] == "overloaded").count();
    let answered = replies.iter().filter(|reply| reply["engine"] == "builtin").count();
    assert_eq!(overloaded + answered, 200, "{replies:?}");
    assert!(overloaded >= 180 && answered >= 1, "{overloaded} refused, {answered} answered");
    let grown = memory().saturating_sub(before);
    println!("grown by {grown} kB, {overloaded} refused, {answered} answered");
    assert!(grown < 64 * 1024, "grown by {grown} kB");
}

fn resident_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// An event about the first face of the request, and one about somebody who is not there.
fn memorize(body: &Value) -> Act {
    // The rules before it name ids, too, as examples.
    let text = body["messages"][1].to_string();
    let face = text.split('<').find_map(|part| {
        let id = part.split('>').next()?;
        id.strip_prefix("face_")?.parse::<u32>().ok().map(|_| id.to_owned())
    });
    let event =
        face.map_or("The room is quiet.".to_owned(), |face| format!("<{face}> juggles oranges."));
    Act::json(&json!({
        "events": [{"text": event, "start": 0, "end": 5, "importance": 0.8},
                   {"text": "<person_999> flies away.", "start": 0, "end": 5, "importance": 0.8}],
        "facts": [], "objects": [{"object": "bowl", "place": "on the table", "who": null}],
        "same_person": [], "names": [], "note": "Oranges.",
    }))
}

#[test]
fn clips_wait_for_the_model_and_none_is_lost() {
    let recording = need!("recordings/two_people_dev.mp4");
    let server = LlmServer::acts(vec![Act::Refuse(503, "", "loading".into())]);
    let robot = with_model(&server)
        .set("memorizer.kind=model")
        .set("window.clip_secs=10")
        .set("llm.retries=0");
    let lines = robot.replay(&recording, &["--duration", "30"]);
    let clips = lines.iter().filter(|line| line["clip"].is_string()).count();
    let count = |query: &str| robot.json(&["sql", query, "--json"])["rows"][0][0].as_u64().unwrap();
    let builtin = count("SELECT count(*) FROM memories WHERE origin = 'builtin'");
    assert!(clips >= 2 && builtin > 0, "{clips} clips, {builtin} memories");
    let spooled = || {
        let files = std::fs::read_dir(robot.dir.path().join("spool")).unwrap();
        files
            .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|e| e == "clip"))
            .count()
    };
    assert_eq!(spooled(), clips, "every clip waits");

    // The model is back, garbles its first words, and the clips are worked off in order.
    server.now(|n, body| if n % 3 == 0 { Act::words("Well, well.") } else { memorize(body) });
    let asked_before = server.asked().len();
    thread::sleep(Duration::from_secs(1));
    robot.replay(&recording, &["--duration", "30"]);
    assert_eq!(spooled(), 0);
    let of_model = |text: &str| {
        count(&format!(
            "SELECT count(DISTINCT clip) FROM memories WHERE origin = 'model:tiny' AND text LIKE '{text}'"
        ))
    };
    assert_eq!(of_model("%juggles oranges%") + of_model("%room is quiet%"), clips as u64);
    assert_eq!(of_model("%flies away%"), 0, "nobody unknown gets in");
    assert_eq!(count("SELECT count(*) FROM facts WHERE subject = 'bowl'"), 1, "a fact once");
    let ever = "SELECT count(DISTINCT id) FROM memory WHERE origin = 'builtin'";
    let ever: u64 = robot.database().query_row(ever, [], |row| row.get(0)).unwrap();
    assert!(ever >= builtin);
    let asked = &server.asked()[asked_before..];
    assert!(asked.last().unwrap()["messages"].to_string().contains("Oranges."), "the note goes on");
}

#[test]
fn what_follows_from_many_memories_is_concluded_by_the_model() {
    let recording = need!("recordings/two_people_dev.mp4");
    let server = LlmServer::start(|_, body| {
        if body["response_format"]["json_schema"]["name"] != "conclusions" {
            return memorize(body);
        }
        let one = |text: &str, evidence: &[u64]| json!({"text": text, "evidence": evidence, "importance": 0.7, "confidence": 0.6});
        Act::json(&json!({"conclusions": [
            one("Oranges matter in this house.", &[1, 2]),
            one("<person_999> is a thief.", &[1, 2]),
            one("Nothing bears this.", &[500]),
        ]}))
    });
    let robot = with_model(&server)
        .set("memorizer.kind=model")
        .set("window.clip_secs=10")
        .set("upkeep.reflect_importance=1");
    robot.replay(&recording, &["--duration", "30"]);
    let query = "SELECT text, json_array_length(grounds) FROM memories \
                 WHERE kind = 'reflection' AND origin = 'model:tiny'";
    let rows = robot.json(&["sql", query, "--json"])["rows"].clone();
    assert_eq!(rows, json!([["Oranges matter in this house.", 2]]), "once, on its two memories");
    let reflected = |body: &&Value| body["response_format"]["json_schema"]["name"] == "conclusions";
    let asked = server.asked();
    let asked: Vec<&Value> = asked.iter().filter(reflected).collect();
    assert!(!asked.is_empty());
    if let Some(again) = asked.get(1) {
        assert!(again["messages"].to_string().contains("Oranges matter"), "it knows what it said");
    }
}
