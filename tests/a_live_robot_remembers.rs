//! Live sources: sealed by the watermark, stopped in good order, words and settings that come later.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::broker::{Listener, Message, wait_for};
use crate::support::daemon::{Daemon, embedded};
use crate::support::llm_server::{Act, LlmServer};
use crate::support::recogniser::{recogniser, slow_recogniser};
use crate::support::{Robot, need};

/// Writes the robot's configuration; gives back its path.
fn configure(robot: &Robot, text: &str) -> PathBuf {
    let file = robot.dir.path().join("engram.toml");
    std::fs::write(&file, text).unwrap();
    file
}

const PARCEL: &str = "I put the green parcel on the shelf.";

/// The sound of a recording as it would come from a microphone, in clips of 5 s.
fn heard_live(recording: &Path) -> String {
    format!(
        "[window]\nclip_secs = 5.0\n\n[[camera]]\nid = \"front\"\npipeline = \"\"\"\n\
         filesrc location={} ! decodebin name=file  file. ! queue ! audioconvert ! audioresample !\n\
         audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved ! identity sync=true !\n\
         appsink name=audio\n\"\"\"\n",
        recording.display()
    )
}

#[test]
fn a_question_from_the_room_is_answered_aloud() {
    let recording = need!("recordings/two_people_dev.mp4");
    let (robot, _, v5) = embedded();
    // First words of a turn that goes on are recognised, too, and wake nobody.
    let said = &[PARCEL, "Well, robot, where is the green parcel?"];
    let (server, _) = slow_recogniser(Duration::ZERO, said);
    let robot = robot
        .set("transcriber.kind=openai")
        .set(&format!("transcriber.base_url={server}"))
        .set("answerer.wake_phrase=robot");
    let config = configure(&robot, &heard_live(&recording));
    let daemon = Daemon::start(&robot, &["run", "--config", config.to_str().unwrap()]);
    let listener = Listener::connect(v5);
    let shelf =
        |say: &Value| say["text"].as_str().is_some_and(|text| text.contains("on the shelf"));
    let aloud = listener.expect("say", 60, shelf);
    let answers: Vec<Value> = (1..20)
        .flat_map(|turn| listener.on(&format!("answer/room-s1-turn_{turn}")))
        .map(|message| message.json())
        .filter(|answer| answer["answer_id"] == aloud["answer"])
        .collect();
    assert_eq!(answers.len(), 1, "asked once: {answers:?}");
    assert_eq!(answers[0]["question"], "where is the green parcel?");
    assert_eq!(daemon.terminate().0, Some(0));
}

#[test]
fn an_answer_that_is_heard_again_is_the_robots_own() {
    let recording = need!("recordings/two_people_dev.mp4");
    let (robot, _, v5) = embedded();
    // Somebody asks until there is an answer. From then on that is what is heard; the robot never says that it speaks.
    let aloud: Arc<Mutex<Option<String>>> = Arc::default();
    let heard = Arc::clone(&aloud);
    let (server, _) = recogniser(Duration::ZERO, move |_| {
        let aloud = heard.lock().unwrap().clone();
        aloud.unwrap_or_else(|| "Robot, where is the green parcel?".to_owned())
    });
    let robot = robot
        .set("transcriber.kind=openai")
        .set(&format!("transcriber.base_url={server}"))
        .set("answerer.wake_phrase=robot");
    let config = configure(&robot, &heard_live(&recording));
    let daemon = Daemon::start(&robot, &["run", "--config", config.to_str().unwrap()]);
    let listener = Listener::connect(v5);
    listener.expect("status", 60, |status| status["state"] == "online");
    let own = || {
        let sql = json!({"query": "SELECT turn FROM utterances WHERE voice = 'self'"});
        let table = listener.ask("query", &json!({"verb": "sql", "args": sql}));
        table["rows"].as_array().unwrap().clone()
    };
    let said = listener.expect("say", 60, |say| say["text"].is_string());
    assert!(own().is_empty());
    let text = said["text"].as_str().unwrap();
    *aloud.lock().unwrap() = Some(text.to_owned());
    let turns =
        wait_for("the robot's own turn", 60, || Some(own()).filter(|turns| !turns.is_empty()));
    assert_eq!(daemon.terminate().0, Some(0));
    // It is nobody's words.
    let told: Vec<Value> = listener.on("event/speech").iter().map(Message::json).collect();
    assert!(!told.is_empty() && told.iter().all(|one| one["turn"] != turns[0][0]), "{told:?}");
}

/// A robot that lives by that configuration, and of whatever is said hears that the parcel is on the shelf.
fn hearing_of_the_parcel(live: &str) -> (Robot, Daemon, Listener) {
    let (robot, _, v5) = embedded();
    let (server, _) = slow_recogniser(Duration::ZERO, &[PARCEL]);
    let robot = robot.set("transcriber.kind=openai").set(&format!("transcriber.base_url={server}"));
    let config = configure(&robot, live);
    let daemon = Daemon::start(&robot, &["run", "--config", config.to_str().unwrap()]);
    let listener = Listener::connect(v5);
    listener.expect("status", 60, |status| status["state"] == "online");
    (robot, daemon, listener)
}

#[test]
fn what_was_just_said_is_found_before_its_clip_is_sealed_and_keeps_its_id() {
    let recording = need!("recordings/two_people_dev.mp4");
    // No clip is sealed before the robot is stopped.
    let live = heard_live(&recording).replace("clip_secs = 5.0", "clip_secs = 300.0");
    let (robot, daemon, listener) = hearing_of_the_parcel(&live);
    let args = json!({"query": "green parcel", "kinds": ["utterance"]});
    let found = wait_for("what was just said", 60, || {
        let found = listener.ask("query", &json!({"verb": "recall", "args": args}));
        let hits = found["hits"].as_array().cloned().unwrap_or_default();
        (!hits.is_empty()).then(|| hits[0].clone())
    });
    assert!(found["text"].as_str().unwrap().contains(PARCEL), "{found}");
    assert_eq!(found["clip"], Value::Null, "its clip is open: {found}");
    assert!(listener.on("event/memory").is_empty());
    let id = found["memory"].as_str().unwrap();
    let shown = listener.ask("query", &json!({"verb": "show", "args": {"what": id}}));
    assert!(shown["text"].as_str().unwrap().contains(PARCEL), "{shown}");
    let question = json!({"question": format!("Who said \"{PARCEL}\"?")});
    let answer = listener.ask("ask", &question);
    let evidence = answer["evidence"].as_array().unwrap();
    assert!(evidence.iter().any(|one| one["memory"] == found["memory"]), "{answer}");
    assert_eq!(daemon.terminate().0, Some(0));
    // Sealed, it is the same memory, now of a clip.
    let sealed = robot.json(&["show", id, "--json"]);
    assert!(sealed["text"].as_str().unwrap().contains(PARCEL), "{sealed}");
    assert_eq!(sealed["memory"]["span"], shown["memory"]["span"]);
    assert_eq!(sealed["memory"]["clip"], "s1/0", "{sealed}");
}

#[test]
fn what_is_said_across_the_end_of_a_clip_is_found_before_the_next_one_is_sealed() {
    let recording = need!("recordings/two_people_dev.mp4");
    let (_robot, daemon, listener) = hearing_of_the_parcel(&heard_live(&recording));
    let args = json!({"query": "green parcel", "kinds": ["utterance"], "limit": 100});
    let mut open = BTreeMap::new();
    let across =
        wait_for("a turn across the end of a clip, found before it was sealed", 60, || {
            let found = listener.ask("query", &json!({"verb": "recall", "args": args}));
            let hits = found["hits"].as_array().cloned().unwrap_or_default();
            hits.into_iter().find(|hit| {
                let (id, start) = (hit["memory"].to_string(), hit["start"].to_string());
                let Some(clip) = hit["clip"].as_str() else {
                    open.insert(id, start);
                    return false;
                };
                // (Times of one form compare as text.)
                let shown = listener.ask("query", &json!({"verb": "show", "args": {"what": clip}}));
                let sealed = shown["clip"]["span"]["start"].to_string();
                open.get(&id) == Some(&start) && start < sealed
            })
        });
    assert!(across["text"].as_str().unwrap().contains(PARCEL), "{across}");
    assert_eq!(daemon.terminate().0, Some(0));
}

/// Longer than a clip lasts and then waits for words: whenever a turn ended, its clip is sealed before they come.
const TOO_LATE: Duration = Duration::from_secs(12);

#[test]
fn words_that_come_after_the_clip_was_sealed_are_remembered() {
    let recording = need!("recordings/two_people_dev.mp4");
    let (robot, _, v5) = embedded();
    let (server, _) = slow_recogniser(TOO_LATE, &[PARCEL]);
    let robot = robot.set("transcriber.kind=openai").set(&format!("transcriber.base_url={server}"));
    let config = configure(&robot, &heard_live(&recording));
    let daemon = Daemon::start(&robot, &["run", "--config", config.to_str().unwrap()]);
    let listener = Listener::connect(v5);
    let told = listener.expect("event/speech", 60, |told| told["text"].is_string());
    assert_eq!(told["text"], PARCEL);
    // The same turn was told before, without its words: its clip did not wait.
    let before = listener.on("event/speech");
    let first = before.iter().map(|message| message.json()).find(|one| one["turn"] == told["turn"]);
    assert_eq!(first.unwrap()["text"], Value::Null);
    listener.expect("event/memory", 5, |memory| memory["kind"] == "utterance");
    let parcel = listener.ask("ask", &json!({"question": "Where is the green parcel?"}));
    assert!(parcel["answer"].as_str().unwrap().contains("on the shelf"), "{parcel}");
    let (code, took) = daemon.terminate();
    assert_eq!(code, Some(0), "{took:?}");
}

#[test]
fn words_that_come_late_reach_the_memorizing_model() {
    let recording = need!("recordings/two_people_dev.mp4");
    let (robot, _, v5) = embedded();
    let (recogniser, _) = slow_recogniser(TOO_LATE, &[PARCEL]);
    let nothing = json!({"events": [], "facts": [], "objects": [], "same_person": [], "names": [], "note": ""});
    let model = LlmServer::start(move |_, _| Act::json(&nothing));
    let robot = robot
        .set("transcriber.kind=openai")
        .set(&format!("transcriber.base_url={recogniser}"))
        .set("memorizer.kind=model")
        .set(&format!("llm.base_url={}", model.base_url()))
        .set("llm.model=tiny");
    let config = configure(&robot, &heard_live(&recording));
    let daemon = Daemon::start(&robot, &["run", "--config", config.to_str().unwrap()]);
    let listener = Listener::connect(v5);
    let told = listener.expect("event/speech", 60, |told| told["text"].is_string());
    assert_eq!(told["text"], PARCEL);
    // There is nothing but words to send: every request holds some.
    let asked = wait_for("the model's clips", 60, || {
        let asked = model.asked();
        (asked.len() >= 2).then_some(asked)
    });
    for request in asked {
        // The rules before it are messages of their own.
        let clip = request["messages"].as_array().unwrap().last().unwrap().to_string();
        assert!(clip.contains("green parcel"), "{clip}");
    }
    assert_eq!(daemon.terminate().0, Some(0));
}

#[test]
fn a_model_looks_through_the_open_window() {
    let (robot, _, v5) = embedded();
    let model = LlmServer::start(|_, body| match body["messages"].as_array().map(Vec::len) {
        Some(2) => Act::call("look", &json!({})),
        _ => {
            Act::json(&json!({"answer": "Bars.", "evidence": [], "confidence": 0.9, "known": true}))
        }
    });
    let robot = robot
        .set("answerer.kind=model")
        .set(&format!("llm.base_url={}", model.base_url()))
        .set("llm.model=tiny");
    // No clip is sealed while it is asked: what it sees is the open window.
    let text = "[window]\nclip_secs = 300.0\n\n[[camera]]\nid = \"front\"\npipeline = \"test\"\n";
    let config = configure(&robot, text);
    let daemon = Daemon::start(&robot, &["run", "--config", config.to_str().unwrap()]);
    let listener = Listener::connect(v5);
    listener.expect("status", 60, |status| status["state"] == "online");
    let pictures = || {
        listener.ask("ask", &json!({"question": "What do you see?", "effort": "deep"}));
        let asked = model.asked();
        let messages = asked.last().unwrap()["messages"].as_array().unwrap().clone();
        let parts = messages.iter().filter_map(|message| message["content"].as_array());
        parts.flatten().filter(|part| part["type"] == "image_url").cloned().collect::<Vec<_>>()
    };
    let pictures = wait_for("a picture", 60, || Some(pictures()).filter(|some| !some.is_empty()));
    let url = pictures[0]["image_url"]["url"].as_str().unwrap();
    // A whole JPEG: its first bytes in base64.
    assert!(url.starts_with("data:image/jpeg;base64,/9j/") && url.len() > 1000, "{:.60}", url);
    assert!(pictures.len() <= 4);
    assert_eq!(daemon.terminate().0, Some(0));
}

#[test]
fn a_live_session_seals_its_open_window_when_it_is_stopped() {
    let (robot, _, v5) = embedded();
    let file = robot.dir.path().join("engram.toml");
    let text = "[window]\nclip_secs = 5.0\n\n[[camera]]\nid = \"front\"\npipeline = \"test\"\n";
    std::fs::write(&file, text).unwrap();
    let config = ["--config", file.to_str().unwrap()];
    let daemon = Daemon::start(&robot, &["run", config[0], config[1]]);
    let listener = Listener::connect(v5);
    let status = listener.expect("status", 60, |status| status["session"] == "s1");
    assert_eq!(status["state"], "online");
    std::thread::sleep(Duration::from_secs(2));
    let (code, took) = daemon.terminate();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
    let timeline = robot.json(&["timeline", "--json"]);
    let clips = timeline["clips"].as_array().unwrap();
    assert!(clips.len() >= 2, "{timeline}");
}

#[test]
fn a_changed_configuration_is_taken_while_running_and_a_wrong_one_is_not() {
    let (robot, _, v5) = embedded();
    // (Nobody speaks: nobody is asked for words.)
    let server = "transcriber.base_url=http://127.0.0.1:9/v1";
    let robot = robot.set("transcriber.kind=openai").set(server);
    let config = configure(&robot, "[window]\nclip_secs = 5.0\n");
    let daemon = Daemon::start(&robot, &["run", "--config", config.to_str().unwrap()]);
    let listener = Listener::connect(v5);
    listener.expect("status", 60, |status| status["state"] == "online");

    let camera = "[window]\nclip_secs = 5.0\n\n[[camera]]\nid = \"front\"\npipeline = \"test\"\n\n\
                  [transcriber]\nmodel = \"changed\"\n";
    configure(&robot, camera);
    daemon.signal("-HUP");
    listener.expect("status", 20, |status| status["session"] == "s1");
    listener.expect("describe", 20, |what| what["abilities"].to_string().contains("changed"));

    configure(&robot, "[window]\nclip_sec = 5.0\n");
    daemon.signal("-HUP");
    let wrong = listener.expect("status", 20, |status| status["degraded"][0].is_string());
    assert!(wrong["degraded"].to_string().contains("clip_secs"), "{wrong}");
    assert_eq!(wrong["session"], "s1", "the session goes on");

    configure(&robot, "[window]\nclip_secs = 5.0\n");
    daemon.signal("-HUP");
    listener.expect("status", 20, |status| {
        status["session"].is_null() && status["degraded"].as_array().is_some_and(Vec::is_empty)
    });
    assert_eq!(daemon.terminate().0, Some(0));
    let clips = robot.json(&["timeline", "--json"]);
    assert!(!clips["clips"].as_array().unwrap().is_empty(), "the window was sealed: {clips}");
}
