//! Without a broker in between, a recording is asked about, corrected and watched over HTTP: the real binary, by its OpenAPI.

use std::io::{BufRead as _, BufReader, Read as _};
use std::time::Duration;

use boon::{Compiler, Schemas};
use serde_json::{Value, json};

use crate::support::broker::{free_port, wait_for};
use crate::support::daemon::{Daemon, embedded};
use crate::support::{Robot, need};

/// A client that holds what it sends and gets against the document that the daemon gives of itself.
struct Program {
    agent: ureq::Agent,
    base: String,
    document: Value,
}

impl Program {
    fn new(port: u16) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let config = config.timeout_global(Some(Duration::from_secs(60)));
        let (agent, base) = (ureq::Agent::from(config.build()), format!("http://127.0.0.1:{port}"));
        let document = wait_for("the daemon", 60, || {
            let mut reply = agent.get(format!("{base}/openapi.json")).call().ok()?;
            serde_json::from_str(&reply.body_mut().read_to_string().ok()?).ok()
        });
        Self { agent, base, document }
    }

    /// Panics unless a document fits the schema at that place of the OpenAPI document.
    fn check(&self, place: &str, document: &Value) {
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.add_resource("openapi", self.document.clone()).unwrap();
        let schema = compiler.compile(&format!("openapi#{place}"), &mut schemas).unwrap();
        if let Err(error) = schemas.validate(document, schema) {
            panic!("{place}: {document}\n{error}");
        }
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let mut reply = self
            .agent
            .post(format!("{}{path}", self.base))
            .header("X-Engram", "1")
            .send(body.to_string())
            .unwrap();
        let status = reply.status().as_u16();
        let text = reply.body_mut().read_to_string().unwrap();
        let document = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: {text}"));
        let named = match path.rsplit_once('/').unwrap() {
            (before @ ("/api/query" | "/api/replay"), _) => format!("{before}/{{verb}}"),
            _ => path.to_owned(),
        };
        let place = format!(
            "/paths/{}/post",
            named.replace('/', "~1").replace('{', "%7B").replace('}', "%7D")
        );
        let json = "content/application~1json/schema";
        if status == 200 {
            self.check(&format!("{place}/requestBody/{json}"), body);
            self.check(&format!("{place}/responses/200/{json}"), &document);
        } else {
            self.check(&format!("{place}/responses/default/{json}"), &document);
        }
        (status, document)
    }

    fn done(&self, path: &str, body: &Value) -> Value {
        let (status, document) = self.post(path, body);
        assert_eq!(status, 200, "{path} {body}: {document}");
        document
    }

    fn get(&self, path: &str) -> (u16, String, Vec<u8>) {
        let mut reply = self.agent.get(format!("{}{path}", self.base)).call().unwrap();
        let kind =
            reply.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        let bytes = reply.body_mut().read_to_vec().unwrap();
        (reply.status().as_u16(), kind.unwrap_or_default(), bytes)
    }

    fn document(&self, path: &str) -> Value {
        let (status, _, bytes) = self.get(path);
        let document = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(status, 200, "{path}: {document}");
        let place = format!(
            "/paths/{}/get/responses/200/content/application~1json/schema",
            path.replace('/', "~1")
        );
        self.check(&place, &document);
        document
    }
}

#[test]
fn a_recording_is_asked_about_corrected_and_watched() {
    let recording = need!("recordings/two_people_dev.mp4");
    let (robot, _, _) = embedded();
    let port = free_port();
    let robot = robot.set("window.clip_secs=10").set(&format!("http.listen=127.0.0.1:{port}"));
    let path = recording.to_str().unwrap();
    let args = [
        "replay",
        path,
        "--duration",
        "20",
        "--serve",
        "--json",
        "--start-paused",
        "--clock",
        "20",
    ];
    let mut daemon = Daemon::start(&robot, &args);
    let program = Program::new(port);
    assert_eq!(program.document("/api/me")["login"], false);
    assert_eq!(program.document("/api/status")["state"], "online");

    // Who listens and watches from the beginning.
    let events = program.agent.get(format!("{}/api/events", program.base)).call().unwrap();
    let events = BufReader::new(events.into_body().into_reader());
    assert_eq!(program.get("/api/still/camera").0, 404, "nothing plays yet");
    program.done("/api/replay/rate", &json!({ "rate": 20, "id": "rate" }));
    program.done("/api/replay/resume", &json!({}));
    let still = wait_for("a picture", 60, || {
        let (status, kind, bytes) = program.get("/api/still/camera");
        (status == 200).then_some((kind, bytes))
    });
    assert_eq!(still.0, "image/jpeg");
    assert!(still.1.starts_with(&[0xff, 0xd8]) && still.1.ends_with(&[0xff, 0xd9]));
    let live = program.agent.get(format!("{}/api/live/camera", program.base)).call().unwrap();
    let mut picture = [0; 256];
    live.into_body().into_reader().read_exact(&mut picture).unwrap();
    assert!(picture.starts_with(b"--picture\r\nContent-Type: image/jpeg\r\n"));
    let lines = daemon.played();
    assert_eq!(lines.last().unwrap()["dropped"], 0, "{lines:?}");

    // What happened was told; each document fits the schema of its topic.
    let mut told = Vec::new();
    let mut topic = String::new();
    for line in events.lines() {
        let line = line.unwrap();
        if let Some(name) = line.strip_prefix("event: ") {
            topic = name.to_owned();
        } else if let Some(data) = line.strip_prefix("data: ") {
            let name = topic.replace('/', "-");
            program.check(
                &format!("/components/schemas/{name}"),
                &serde_json::from_str(data).unwrap(),
            );
            told.push(std::mem::take(&mut topic));
        }
        let heard = |name: &str| told.iter().any(|topic| topic == name);
        if ["event/person", "event/speech", "event/memory", "stats", "describe", "clock"]
            .iter()
            .all(|name| heard(name))
        {
            break;
        }
    }

    let answer = program.done("/api/ask", &json!({ "question": "Who was here?", "id": "q1" }));
    assert_eq!((&answer["id"], &answer["abstained"]), (&json!("q1"), &json!(false)), "{answer}");
    program.done("/api/feedback", &json!({ "answer": answer["answer_id"], "verdict": "right" }));
    let people = program.done("/api/query/people", &json!({}));
    let person = people[0]["id"].as_str().unwrap().to_owned();
    program.done("/api/name", &json!({ "entity": person, "name": "Zelda" }));
    let told = program.done("/api/remember", &json!({ "text": "Zelda likes tea.", "id": "note" }));
    assert_eq!(
        told,
        program.done("/api/remember", &json!({ "text": "Zelda likes tea.", "id": "note" }))
    );
    assert_eq!(program.post("/api/remember", &json!({ "text": "No.", "id": "note" })).0, 409);
    for (verb, args) in [
        ("profile", json!({ "who": "Zelda" })),
        ("places", json!({})),
        ("timeline", json!({})),
        ("show", json!({ "what": person })),
        ("recall", json!({ "query": "tea" })),
        ("sql", json!({ "query": "SELECT count(*) FROM memories" })),
    ] {
        program.done(&format!("/api/query/{verb}"), &args);
    }
    for (name, kind) in
        [("Zelda", "image/jpeg"), ("s1/0", "image/jpeg"), (person.as_str(), "image/jpeg")]
    {
        let (status, got, bytes) = program.get(&format!("/api/media/{name}"));
        assert_eq!((status, got.as_str()), (200, kind), "{name}");
        assert!(bytes.len() > 100, "{name}");
    }
    let early = json!({ "question": "Who was here?", "as_of": "2001-01-01T00:00:00Z" });
    assert_eq!(program.post("/api/ask", &early).0, 422);
    assert_eq!(program.post("/api/ask", &json!({ "question": "" })).0, 400);
    assert_eq!(program.post("/api/name", &json!({ "entity": "person_999", "name": "X" })).0, 404);
    for path in ["/api/stats", "/api/describe"] {
        program.document(path);
    }
    let metrics = String::from_utf8(program.get("/metrics").2).unwrap();
    assert!(metrics.contains("engram_requests_total{kind=\"questions\"}"), "{metrics}");
    commands(&robot, port);
    let dry = json!({ "entity": "Zelda", "dry_run": true });
    assert_eq!(program.done("/api/forget", &dry)["persons"], 1);
    assert_eq!(program.get("/api/media/Zelda").0, 200);
    program.done("/api/forget", &json!({ "entity": "Zelda" }));
    assert_eq!(program.get("/api/media/Zelda").0, 404);
    assert_eq!(daemon.terminate().0, Some(0));
}

#[test]
fn a_recording_of_the_folder_is_chosen_played_and_remembered() {
    let recording = need!("recordings/one_person_dev.mp4");
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(&recording, folder.path().join("home.mp4")).unwrap();
    std::fs::write(folder.path().join("broken.mp4"), b"no film").unwrap();
    let (robot, _, _) = embedded();
    let port = free_port();
    let robot = robot.set("window.clip_secs=10").set(&format!("http.listen=127.0.0.1:{port}"));
    let robot = robot.set(&format!("replay.folder={}", folder.path().display()));
    let daemon = Daemon::start(&robot, &["replay", "--serve", "--json"]);
    let program = Program::new(port);
    let listed = || program.done("/api/query/recordings", &json!({}));
    let names = |listed: &Value| -> Vec<String> {
        let all = listed["recordings"].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let first = listed();
    assert_eq!((&first["plays"], &first["playing"]), (&json!(true), &Value::Null), "{first}");
    assert_eq!(names(&first), ["broken.mp4", "home.mp4"]);
    let play = |name: &str, again: bool| {
        program.post("/api/replay/play", &json!({ "recording": name, "again": again }))
    };
    for outside in ["../home.mp4", "nothing.mp4", recording.to_str().unwrap()] {
        assert_eq!(play(outside, false).0, 404, "{outside}");
    }

    // Paused in time, it shows how far it is, and no other one begins beside it.
    program.done("/api/replay/rate", &json!({ "rate": 1 }));
    assert_eq!(play("home.mp4", false).0, 200);
    let playing = wait_for("the recording to play", 60, || {
        Some(listed()["playing"].clone()).filter(|playing| !playing["position"].is_null())
    });
    assert_eq!((&playing["name"], &playing["rate"]), (&json!("home.mp4"), &json!(1.0)));
    assert!(playing["start"].as_str() < playing["end"].as_str(), "{playing}");
    assert_eq!(program.done("/api/replay/pause", &json!({}))["paused"], true);
    assert_eq!(play("home.mp4", false).0, 503, "one is played");

    // Ended before its end, and chosen again, it goes on as if nothing had been.
    program.done("/api/replay/stop", &json!({}));
    let over = || wait_for("its end", 120, || listed()["playing"].is_null().then_some(()));
    over();
    assert_eq!(program.post("/api/replay/pause", &json!({})).0, 503, "it was stopped");
    assert_eq!(play("home.mp4", false).0, 200);
    program.done("/api/replay/rate", &json!({ "rate": "max" }));
    let sessions = |of: &Value| of["recordings"][1]["sessions"].as_array().map(Vec::len);
    wait_for("the memory of it", 120, || (sessions(&listed()) == Some(1)).then_some(()));
    over();
    let count = || program.done("/api/query/people", &json!({})).as_array().map(Vec::len);
    assert_eq!(count(), Some(1));

    // What cannot be played is told, and the next one plays.
    assert_eq!(play("broken.mp4", false).0, 200);
    wait_for("the status", 60, || {
        let status = program.document("/api/status").to_string();
        (status.contains("cannot be played") && !status.contains("broken")).then_some(())
    });
    assert_eq!(play("home.mp4", true).0, 200);
    wait_for("the second memory of it", 120, || (sessions(&listed()) == Some(2)).then_some(()));
    over();
    assert!(!program.document("/api/status").to_string().contains("cannot be played"));
    assert_eq!(count(), Some(1));
    assert_eq!(daemon.terminate().0, Some(0));
}

/// The command line, without a broker.
fn commands(robot: &Robot, port: u16) {
    let url = format!("http://127.0.0.1:{port}");
    let engramd = |args: &[&str]| {
        let mut command = robot.command(&[]);
        // The folder is the daemon's own business.
        let plain = std::process::Command::new(command.get_program());
        command = plain;
        let output = command.args(args).args(["--http", &url, "--json"]).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(engramd(&["remember", "The spare key is in the blue box."])["ok"], true);
    let answer = engramd(&["ask", "Where is the spare key?"]);
    assert!(answer["answer"].as_str().unwrap().contains("blue box"), "{answer}");
    for args in [
        &["people"][..],
        &["timeline"],
        &["recall", "key"],
        &["show", "Zelda"],
        &["sql", "SELECT 1 AS one"],
        &["profile", "Zelda"],
        &["places"],
    ] {
        engramd(args);
    }
}

#[test]
fn who_comes_without_a_token_is_told_how_to_get_in() {
    let (robot, _, _) = embedded();
    let port = free_port();
    let (users, token_file) = (robot.dir.path().join("tokens"), robot.dir.path().join("token"));
    let made = Robot::new("edge").json(&["users", "token", "cron", "--role", "look,ask", "--json"]);
    std::fs::write(&users, format!("{}\n", made["line"].as_str().unwrap())).unwrap();
    std::fs::write(&token_file, made["token"].as_str().unwrap()).unwrap();
    let robot = robot
        .set(&format!("http.listen=127.0.0.1:{port}"))
        .set(&format!("http.tokens_file={}", users.display()));
    let daemon = Daemon::start(&robot, &["run"]);
    let program = Program::new(port);
    assert_eq!(program.document("/api/me"), json!({ "user": null, "roles": [], "login": true }));
    assert_eq!(program.post("/api/ask", &json!({ "question": "Who was here?" })).0, 401);
    let url = format!("http://127.0.0.1:{port}");
    let ask = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_engramd"));
        command.args(["ask", "Who was here?", "--http", &url, "--json"]).args(more);
        command.env_remove("ENGRAM_TOKEN").output().unwrap()
    };
    let refused = ask(&[]);
    assert_eq!(refused.status.code(), Some(1));
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(why.contains("(401)") && why.contains("--token-file"), "{why}");
    let answered = ask(&["--token-file", token_file.to_str().unwrap()]);
    assert!(answered.status.success(), "{}", String::from_utf8_lossy(&answered.stderr));
    assert_eq!(daemon.terminate().0, Some(0));
}

#[test]
fn a_door_to_the_network_without_users_is_refused_before_anything_starts() {
    let robot = Robot::new("edge").set("http.listen=0.0.0.0:0");
    for args in [&["config", "check"][..], &["run"]] {
        let output = robot.run(args);
        assert!(!output.status.success(), "{args:?}");
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(
            why.contains("`http.listen` is open to the network: set `http.users_file`"),
            "{why}"
        );
        assert!(why.contains("engramd users add"), "{why}");
    }
}
