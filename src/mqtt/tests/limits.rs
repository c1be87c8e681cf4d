//! What a broker does not take, and what it need not send back.

use std::time::Duration;

use serde_json::json;

use super::support::{Broker, Daemon, Mosquitto, TestClient, config, run};
use crate::mqtt::client::{ClientError, DaemonClient};
use crate::mqtt::message::Say;

/// A broker that takes 20,000 bytes at once.
fn narrow() -> Option<Broker> {
    Mosquitto::with("max_packet_size 20000\n").map(Broker::Mosquitto)
}

#[test]
fn a_reply_that_the_broker_does_not_take_is_refused_and_the_connection_stays() {
    run(async {
        let Some(broker) = narrow() else { return };
        let daemon = Daemon::start(&broker).await;
        let filters = ["engram/rob/answer/#", "engram/rob/say", "engram/rob/status"];
        let mut client = TestClient::v5(daemon.v5, &filters).await;
        // Said back twice.
        let ask = json!({ "question": "x".repeat(12_000), "id": "long" });
        client.send("engram/rob/ask", ask.to_string());
        let refused = client.on("engram/rob/answer/long").await.json();
        assert_eq!(refused["error"]["code"], "too_large", "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("20000 bytes at most"), "{message}");
        // Nobody waits for it: it is left out, and what comes after it is not.
        let publisher = daemon.session.publisher();
        publisher.say(&Say { text: "y".repeat(30_000), answer: None });
        publisher.say(&Say { text: "short".to_owned(), answer: None });
        assert_eq!(client.on("engram/rob/say").await.json()["text"], "short");
        client.send("engram/rob/ask", r#"{"question":"short","id":"short"}"#);
        assert_eq!(client.on("engram/rob/answer/short").await.json()["answer"], "short");
        let mut later = TestClient::v5(daemon.v5, &["engram/rob/status"]).await;
        assert_eq!(later.next().await.json()["connection"], 1, "it was never lost");
    });
}

#[test]
fn a_command_that_the_broker_does_not_take_is_told_with_both_sizes() {
    run(async {
        let Some(broker) = narrow() else { return };
        let daemon = Daemon::start(&broker).await;
        let config = config(&broker);
        let asked = tokio::task::spawn_blocking(move || {
            let mut client = DaemonClient::connect(&config).unwrap();
            let note = json!({ "text": "z".repeat(25_000) });
            client.request("remember", &note, Duration::from_secs(5)).unwrap_err()
        });
        let refused = asked.await.unwrap();
        let ClientError::TooLarge { bytes, most, .. } = &refused else { panic!("{refused}") };
        assert!(*bytes > 25_000 && *most == 20_000, "{refused}");
        drop(daemon);
    });
}

#[test]
fn nothing_that_the_daemon_publishes_comes_back_to_it() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let lines = format!("log_dest file {}\nlog_type all\n", log.display());
        let Some(mosquitto) = Mosquitto::with(&lines) else { return };
        let broker = Broker::Mosquitto(mosquitto);
        let daemon = Daemon::start(&broker).await;
        let mut client = TestClient::v5(daemon.v5, &["engram/rob/#"]).await;
        let publisher = daemon.session.publisher();
        publisher.say(&Say { text: "hello".to_owned(), answer: None });
        client.on("engram/rob/say").await;
        // Its own birth is retained, and said anew.
        publisher.reaffirm();
        while client.next().await.topic != "engram/rob/status" {}
        client.send("engram/rob/ask", r#"{"question":"hello","id":"a"}"#);
        client.on("engram/rob/answer/a").await;
        drop(daemon);
        let log = std::fs::read_to_string(log).unwrap();
        let to_it = |line: &&str| line.contains("Sending PUBLISH to engramd-rob");
        let sent: Vec<&str> = log.lines().filter(to_it).collect();
        assert!(!sent.is_empty(), "the log tells what it was sent: {log}");
        assert!(sent.iter().all(|line| line.contains("'engram/rob/ask'")), "{sent:?}");
    });
}

#[test]
fn a_client_is_sent_nothing_larger_than_it_takes() {
    run(async {
        let broker = Broker::Embedded;
        let daemon = Daemon::start(&broker).await;
        let mut narrow = TestClient::v5_narrow(daemon.v5, &["engram/rob/say"], 2_000).await;
        let publisher = daemon.session.publisher();
        // More of them than may be on the way unacknowledged.
        for n in 0..300 {
            publisher.say(&Say { text: format!("{n} {}", "y".repeat(3_000)), answer: None });
        }
        publisher.say(&Say { text: "short".to_owned(), answer: None });
        assert_eq!(narrow.on("engram/rob/say").await.json()["text"], "short");
    });
}

#[test]
fn what_a_client_published_itself_is_left_out_where_it_asks_for_that() {
    run(async {
        let broker = Broker::Embedded;
        let daemon = Daemon::start(&broker).await;
        let mut client = TestClient::v5_no_local(daemon.v5, &["hall/#"]).await;
        let mut other = TestClient::v5(daemon.v5, &["hall/#"]).await;
        for n in 0..150 {
            client.send("hall/door", format!("{n}"));
        }
        // Others are sent it, without the mark of where it came from.
        assert_eq!(other.on("hall/door").await.payload, b"0");
        other.send("hall/door", "other".to_owned());
        assert_eq!(client.on("hall/door").await.payload, b"other");
    });
}
