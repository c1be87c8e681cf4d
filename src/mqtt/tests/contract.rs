//! What every client may rely on.

use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::{Value, json};

use super::schemas;
use super::support::{Broker, Daemon, TestClient, brokers, run};
use crate::ids::{EntityId, EntityKind, MemoryId};
use crate::memory::model::MemoryKind;
use crate::mqtt::message::{
    Ability, ClockTick, Describe, MemoryEvent, PersonEvent, PersonEventKind, ReplayRate, Say,
    SpeechEvent, Stats,
};
use crate::time::Timestamp;

/// Every command topic with a payload that is right.
const RIGHT: [(&str, &str); 18] = [
    ("ask", r#"{"question":"Who was here?","id":"a"}"#),
    ("remember", r#"{"text":"Ava likes oat milk.","id":"b"}"#),
    ("forget", r#"{"memory":"memory_7","id":"c"}"#),
    ("pin", r#"{"memory":"memory_7","id":"q"}"#),
    ("name", r#"{"entity":"person_4","name":"Ava","id":"d"}"#),
    ("feedback", r#"{"answer":"answer_5","verdict":"right","id":"e"}"#),
    ("query", r#"{"verb":"people","args":{},"id":"f"}"#),
    ("pose", r#"{"x":1,"y":2,"yaw":0,"frame":"map","stamp":5000000000,"id":"g"}"#),
    ("speaking", r#"{"start":5000000000,"id":"h"}"#),
    ("privacy", r#"{"microphones":false,"id":"n"}"#),
    ("watch", r#"{"add":{"who":"Ava","what":"comes"},"id":"o"}"#),
    ("identify", r#"{"photo":"/9j/4AAQ","id":"p"}"#),
    ("snapshot", r#"{"secs":20,"id":"r"}"#),
    ("replay/pause", r#"{"id":"i"}"#),
    ("replay/rate", r#"{"rate":4,"id":"j"}"#),
    ("replay/seek", r#"{"time":5000000000,"id":"k"}"#),
    ("replay/burst", r#"{"count":3,"id":"l"}"#),
    ("replay/stop", r#"{"id":"m"}"#),
];

/// Payloads that are wrong, with the code of their refusal.
fn wrong() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    vec![
        ("ask", b"".to_vec(), "bad_request"),
        ("ask", b"   ".to_vec(), "bad_request"),
        ("ask", b"\xff\xfe\xfd".to_vec(), "bad_request"),
        ("ask", b"{\"question\":".to_vec(), "bad_request"),
        ("ask", vec![b'a'; 5_000_000], "too_large"),
        ("ask", vec![b'a'; 70_000], "too_large"),
        ("ask", b"refuse".to_vec(), "not_found"),
        ("ask", b"fall over".to_vec(), "internal"),
        ("remember", b"plain".to_vec(), "bad_request"),
        ("forget", b"{}".to_vec(), "bad_request"),
        ("name", b"{\"entity\":\"person_4\"}".to_vec(), "bad_request"),
        ("feedback", b"[]".to_vec(), "bad_request"),
        ("query", b"{\"verb\":\"drop\"}".to_vec(), "bad_request"),
        ("pose", b"{}".to_vec(), "bad_request"),
        ("speaking", b"now".to_vec(), "bad_request"),
        ("privacy", b"{\"microphones\":\"off\"}".to_vec(), "bad_request"),
        ("watch", b"{\"add\":{\"who\":\"Ava\",\"what\":\"stays\"}}".to_vec(), "bad_request"),
        ("identify", b"{}".to_vec(), "bad_request"),
        ("replay/rate", b"{\"rate\":-1}".to_vec(), "bad_request"),
        ("replay/rate", b"{\"rate\":1e-300}".to_vec(), "bad_request"),
        ("replay/fly", b"{}".to_vec(), "bad_request"),
    ]
}

#[test]
fn every_command_is_answered_on_its_topic_by_both_brokers_for_both_protocols() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            for v5 in [true, false] {
                let mut client = if v5 {
                    TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await
                } else {
                    TestClient::v4(daemon.v4, &["engram/rob/answer/#"]).await
                };
                for (topic, payload) in RIGHT {
                    let mut payload: Value = serde_json::from_str(payload).unwrap();
                    let id = format!("{}{v5}", payload["id"].as_str().unwrap());
                    payload["id"] = id.clone().into();
                    schemas::check(topic.split('/').next().unwrap(), &payload);
                    client.send(&format!("engram/rob/{topic}"), payload.to_string());
                    let seen = client.next().await;
                    assert_eq!(seen.topic, format!("engram/rob/answer/{id}"), "{topic}");
                    assert!(!seen.retain);
                    let reply = seen.json();
                    if topic == "query" {
                        assert_eq!(reply, json!(["people", {}]));
                    } else {
                        assert_eq!(reply["id"], id, "{reply}");
                        let changes = !["ask", "identify"].contains(&topic);
                        if changes {
                            schemas::check("done", &reply);
                        }
                        assert_eq!(reply.get("ok"), changes.then_some(&json!(true)));
                    }
                }
            }
            daemon.session.stop().await;
        }
    });
}

#[test]
fn a_plain_question_without_an_id_is_answered_on_the_common_topic() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let mut client = TestClient::v4(daemon.v4, &["engram/rob/answer/-"]).await;
            client.send("engram/rob/ask", "Who was here?\n");
            let reply = client.next().await.json();
            assert_eq!(reply["answer"], "Who was here?");
            assert_eq!(reply["id"], Value::Null);
        }
    });
}

#[test]
fn every_bad_request_gets_its_error_and_the_daemon_goes_on() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
            for (topic, payload, code) in wrong() {
                let head = String::from_utf8_lossy(&payload[..payload.len().min(40)]).into_owned();
                client.send(&format!("engram/rob/{topic}"), payload);
                let seen = client.next().await;
                assert_eq!(seen.topic, "engram/rob/answer/-");
                let error = seen.json();
                schemas::check("error", &error);
                assert_eq!(error["error"]["code"], code, "{topic} {head}: {error}");
                assert_eq!(error["error"]["retryable"], false);
                assert!(error["error"]["message"].as_str().unwrap().len() > 10);
                assert!(error.as_object().unwrap().contains_key("id"));
            }
            client.send("engram/rob/ask", r#"{"question":"still there?","id":"last"}"#);
            assert_eq!(client.on("engram/rob/answer/last").await.json()["answer"], "still there?");
        }
    });
}

#[test]
fn a_v5_request_is_answered_on_its_response_topic_with_its_correlation_data_unaltered() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
            let correlation = [0u8, 255, 1, 128, b'"'];
            client.ask_v5("engram/rob/ask", "hello", "engram/rob/answer/mine/7", &correlation);
            let seen = client.next().await;
            assert_eq!(seen.topic, "engram/rob/answer/mine/7");
            assert_eq!(seen.correlation.as_deref(), Some(&correlation[..]));
            assert_eq!(seen.content_type.as_deref(), Some("application/json"));
            assert_eq!(seen.json()["answer"], "hello");

            let picture = r#"{"verb":"media","args":{"face":"face_1"}}"#;
            client.ask_v5("engram/rob/query", picture, "engram/rob/answer/mine/8", b"c");
            let seen = client.next().await;
            assert_eq!(seen.content_type.as_deref(), Some("image/jpeg"));
            assert_eq!(seen.payload, [0xff, 0xd8, 0xff]);
        }
    });
}

#[test]
fn a_response_topic_elsewhere_is_refused_and_never_written_to() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let filters = ["engram/rob/answer/#", "home/#", "engram/rob/status"];
            let mut client = TestClient::v5(daemon.v5, &filters).await;
            client.on("engram/rob/status").await;
            for elsewhere in ["home/door/open", "engram/rob/status", "engram/rob/answer"] {
                client.ask_v5("engram/rob/ask", "hello", elsewhere, b"c");
                let seen = client.next().await;
                assert_eq!(seen.topic, "engram/rob/answer/-");
                assert_eq!(seen.json()["error"]["code"], "bad_request");
                assert_eq!(seen.correlation.as_deref(), Some(&b"c"[..]));
            }
            assert!(client.silent().await);
            assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 0);
        }
    });
}

#[test]
fn a_request_with_an_id_is_carried_out_once() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
            let note = r#"{"text":"Ava likes oat milk.","id":"once"}"#;
            client.send("engram/rob/remember", note);
            client.send("engram/rob/remember", note);
            let first = client.on("engram/rob/answer/once").await.json();
            client.send("engram/rob/remember", note);
            assert_eq!(client.on("engram/rob/answer/once").await.json(), first);
            assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 1);
            client.send("engram/rob/remember", r#"{"text":"Another.","id":"once"}"#);
            let taken = loop {
                let reply = client.on("engram/rob/answer/once").await.json();
                if reply != first {
                    break reply;
                }
            };
            assert_eq!(taken["error"]["code"], "bad_request");
            assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 1);
        }
    });
}

#[test]
fn rounds_are_told_while_a_question_is_worked_on() {
    run(async {
        let daemon = Daemon::start(&Broker::Embedded).await;
        let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
        client.send("engram/rob/ask", r#"{"question":"rounds","id":"r"}"#);
        let progress = client.next().await;
        assert_eq!(progress.topic, "engram/rob/answer/r/progress");
        assert_eq!(progress.json()["round"], 1);
        assert_eq!(client.next().await.topic, "engram/rob/answer/r");
    });
}

#[test]
fn what_happens_is_published_and_what_is_true_is_retained() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let publisher = daemon.session.publisher();
            let mut client = TestClient::v4(daemon.v4, &["engram/rob/#"]).await;
            assert_eq!(client.on("engram/rob/status").await.json()["state"], "online");
            let at = Timestamp::from_nanos(1_772_472_600_000_000_000);
            publisher.event_person(&PersonEvent {
                event: PersonEventKind::Appeared,
                person: "person_1".into(),
                name: Some("Ava".into()),
                acquaintance: crate::mqtt::message::Acquaintance::Known,
                at,
                source: Some("front".into()),
                provisional: true,
            });
            publisher.event_speech(&SpeechEvent {
                turn: "turn_1".into(),
                person: None,
                name: None,
                start: at,
                end: at.plus_secs(1.0),
                text: Some("hello".into()),
                source: "head".into(),
                partial: false,
                wake: false,
            });
            publisher.event_memory(&MemoryEvent {
                memory: MemoryId(1),
                kind: MemoryKind::Utterance,
                text: "<person_1> said \"hello\".".into(),
                start: at,
                end: at.plus_secs(1.0),
                clip: None,
                entities: vec![EntityId::new(EntityKind::Person, 1)],
            });
            publisher.home(&crate::mqtt::message::Home {
                persons: vec!["Ava".into()],
                here: vec![EntityId::new(EntityKind::Person, 1)],
                last_words: Some(crate::mqtt::message::LastWords {
                    person: Some("Ava".into()),
                    text: "hello".into(),
                    at,
                }),
                last_answer: None,
            });
            publisher.say(&Say { text: "Hello!".into(), answer: None });
            publisher.stats(&Stats {
                at,
                uptime_secs: 1.0,
                behind_secs: 0.0,
                sources: Default::default(),
                queues: Default::default(),
                counts: [("clips".to_owned(), 3)].into(),
                latency_ms: Default::default(),
            });
            publisher.clock(&ClockTick { time: at, rate: ReplayRate::Times(2.0), paused: false });
            publisher.clock(&ClockTick { time: at, rate: ReplayRate::Max, paused: true });
            let out = ["event/person", "event/speech", "event/memory", "home", "say", "stats"];
            for topic in out.into_iter().chain(["clock", "clock"]) {
                let seen = client.next().await;
                assert_eq!(seen.topic, format!("engram/rob/{topic}"));
                assert!(!seen.retain);
                schemas::check(&topic.replace('/', "-"), &seen.json());
            }
            publisher.describe(&Describe {
                robot: "rob".into(),
                version: "0".into(),
                timezone: "UTC".into(),
                abilities: vec![Ability {
                    job: "face_detector".into(),
                    model: None,
                    sha256: None,
                    licence: None,
                }],
                objects_from: vec!["notes".into(), "words".into(), "models".into()],
                languages: vec!["en".into()],
                history_from: None,
            });
            publisher.status(&["no camera".to_owned()], None);
            client.on("engram/rob/describe").await;
            assert_eq!(client.on("engram/rob/status").await.json()["degraded"][0], "no camera");
            let mut late =
                TestClient::v5(daemon.v5, &["engram/rob/status", "engram/rob/describe"]).await;
            for _ in 0..2 {
                let seen = late.next().await;
                assert!(seen.retain, "{}", seen.topic);
                schemas::check(seen.topic.rsplit('/').next().unwrap(), &seen.json());
            }
        }
    });
}

#[test]
fn answers_come_without_the_forty_milliseconds_of_nagle() {
    run(async {
        for broker in brokers() {
            let name = if matches!(broker, Broker::Embedded) { "embedded" } else { "mosquitto" };
            let daemon = Daemon::start(&broker).await;
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
            let mut millis: Vec<f64> = Vec::new();
            for number in 0..200 {
                let began = Instant::now();
                client.ask_v5("engram/rob/ask", format!("q{number}"), "engram/rob/answer/t", b"c");
                client.next().await;
                millis.push(began.elapsed().as_secs_f64() * 1e3);
            }
            millis.sort_by(f64::total_cmp);
            println!("{name}: round trip p50 {:.2} ms, p99 {:.2} ms", millis[100], millis[197]);
            assert!(millis[100] < 20.0, "{name}: median {} ms", millis[100]);
        }
    });
}

#[test]
fn a_message_with_v5_properties_reaches_v311_subscribers_and_both_ports_speak_both() {
    run(async {
        let daemon = Daemon::start(&Broker::Embedded).await;
        for (v4_at, v5_at) in [(daemon.v4, daemon.v5), (daemon.v5, daemon.v4)] {
            let mut old = TestClient::v4(v4_at, &["engram/rob/answer/+"]).await;
            let new = TestClient::v5(v5_at, &[]).await;
            for number in 0..3 {
                let topic = format!("engram/rob/answer/x{number}");
                new.ask_v5("engram/rob/ask", "hello", &topic, b"c");
                let seen = old.next().await;
                assert_eq!((&seen.topic, &seen.json()["answer"]), (&topic, &json!("hello")));
            }
        }
    });
}

#[test]
fn home_assistant_finds_its_sensors_whenever_it_comes() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            daemon.session.publisher().discovery("homeassistant", "rob", false);
            let mut first = TestClient::v4(daemon.v4, &["homeassistant/#"]).await;
            for _ in 0..4 {
                schemas::check("home-discovery", &first.next().await.json());
            }
            let mut late = TestClient::v4(daemon.v4, &["homeassistant/+/rob/+/config"]).await;
            let mut found = Vec::new();
            for _ in 0..4 {
                let seen = late.next().await;
                assert!(seen.retain);
                found.push(seen.topic);
            }
            found.sort();
            assert_eq!(
                found,
                [
                    "homeassistant/binary_sensor/rob/engram_health/config",
                    "homeassistant/sensor/rob/engram_last_answer/config",
                    "homeassistant/sensor/rob/engram_last_words/config",
                    "homeassistant/sensor/rob/engram_persons/config",
                ]
            );
            // What names somebody is told to who is there, stays nowhere, and is taken back.
            let topic = "homeassistant/binary_sensor/rob/engram_person_4/config";
            let mut there = TestClient::v4(daemon.v4, &[topic]).await;
            let (publisher, ava) =
                (daemon.session.publisher(), EntityId::new(EntityKind::Person, 4));
            publisher.discovery_of("homeassistant", "rob", ava, Some("Ava"));
            let told = there.next().await;
            assert_eq!((told.topic.as_str(), told.retain), (topic, false));
            assert_eq!(told.json()["name"], "Ava");
            publisher.discovery_of("homeassistant", "rob", ava, None);
            let gone = there.next().await;
            assert_eq!((gone.topic.as_str(), gone.payload.len()), (topic, 0));
            let mut later = TestClient::v4(daemon.v4, &["homeassistant/+/rob/+/config"]).await;
            for _ in 0..4 {
                assert_ne!(later.next().await.topic, topic);
            }
        }
    });
}
