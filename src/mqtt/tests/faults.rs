//! What happens when something breaks.

use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::support::{Broker, Daemon, Mosquitto, TestClient, brokers, config, run};
use crate::mqtt::MqttError;
use crate::mqtt::client::{ClientError, DaemonClient};
use crate::mqtt::message::Say;

#[test]
fn the_last_will_says_offline_and_a_stop_says_stopped() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/status"]).await;
            let born = client.next().await.json();
            assert_eq!(born["state"], "online");
            assert!(born["boot_id"].as_str().unwrap().len() > 8);
            daemon.session.kill().await;
            let gone = client.next().await.json();
            assert_eq!(gone["state"], "offline");
            assert_eq!(gone["boot_id"], born["boot_id"]);
            let mut late = TestClient::v4(daemon.v4, &["engram/rob/status"]).await;
            let kept = late.next().await;
            assert!(kept.retain);
            assert_eq!(kept.json()["state"], "offline");
        }
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/status"]).await;
            client.next().await;
            daemon.session.stop().await;
            assert_eq!(client.next().await.json()["state"], "stopped");
            assert!(client.silent().await, "no last will after a stop");
        }
    });
}

#[test]
fn retained_commands_are_ignored() {
    run(async {
        let Some(mosquitto) = Mosquitto::start() else { return };
        let broker = Broker::Mosquitto(mosquitto);
        let address = match &broker {
            Broker::Mosquitto(mosquitto) => ([127, 0, 0, 1], mosquitto.port).into(),
            Broker::Embedded => unreachable!(),
        };
        let mut client = TestClient::v5(address, &["engram/rob/answer/#"]).await;
        client.send_retained("engram/rob/forget", r#"{"entity":"person_1"}"#);
        client.send("engram/rob/nothing", "");
        tokio::time::sleep(Duration::from_millis(100)).await;
        let daemon = Daemon::start(&broker).await;
        assert!(client.silent().await);
        assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_question_that_something_was_erased_under_is_asked_once_more_and_never_repeated() {
    run(async {
        let daemon = Daemon::start(&Broker::Embedded).await;
        let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
        client.send("engram/rob/ask", r#"{"id":"once","question":"erased under it once"}"#);
        assert_eq!(client.on("engram/rob/answer/once").await.json()["answer"], 1);
        for handled in [4, 6] {
            client.send("engram/rob/ask", r#"{"id":"always","question":"erased under it"}"#);
            let reply = client.on("engram/rob/answer/always").await.json();
            assert_eq!(reply["error"]["code"], "unavailable");
            assert_eq!(reply["error"]["retryable"], true);
            assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), handled);
        }
    });
}

#[test]
fn commands_that_come_to_be_retained_while_the_daemon_runs_are_ignored_too() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let mut new = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
            let old = TestClient::v4(daemon.v4, &[]).await;
            let note = r#"{"text":"Ava likes oat milk.","id":"kept"}"#;
            new.send_retained("engram/rob/remember", note);
            old.send_retained("engram/rob/forget", r#"{"entity":"person_1"}"#);
            assert!(new.silent().await);
            assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 0);
            // The same one, as it is meant.
            new.send("engram/rob/remember", note);
            assert_eq!(new.on("engram/rob/answer/kept").await.json()["ok"], true);
        }
    });
}

#[test]
fn two_daemons_of_one_name_are_told_of_and_do_not_throw_each_other_out_all_the_time() {
    run(async {
        let Some(mosquitto) = Mosquitto::start() else { return };
        let broker = Broker::Mosquitto(mosquitto);
        let first = Daemon::start(&broker).await;
        let mut watch = TestClient::v5(first.v5, &["engram/rob/status"]).await;
        assert_eq!(watch.next().await.json()["state"], "online");
        let second = Daemon::start(&broker).await;
        let named = |daemon: &Daemon| {
            daemon.session.publisher().trouble().iter().any(|one| one.contains("robot.id"))
        };
        let until = std::time::Instant::now() + Duration::from_secs(20);
        while !(named(&first) && named(&second)) {
            assert!(std::time::Instant::now() < until, "one of them does not know of the other");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // Each was thrown out once, seconds apart; at once it would have been dozens of times.
        let mut births = 0;
        while !watch.silent().await {
            births += 1;
            assert!(births < 20, "they fight");
        }
    });
}

#[test]
fn surplus_questions_are_refused_as_overloaded() {
    run(async {
        for broker in brokers() {
            let mut config = config(&broker);
            config.answerer.concurrency = 1;
            config.answerer.queue = 2;
            let daemon = Daemon::with(&config).await.unwrap();
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
            for number in 0..6 {
                let ask = format!(r#"{{"question":"slow","id":"s{number}"}}"#);
                client.send("engram/rob/ask", ask);
            }
            let (mut answered, mut refused) = (0, 0);
            for _ in 0..6 {
                let reply = client.next().await.json();
                if reply["error"]["code"] == "overloaded" {
                    assert_eq!(reply["error"]["retryable"], true);
                    refused += 1;
                } else {
                    assert_eq!(reply["answer"], "slow");
                    answered += 1;
                }
            }
            assert_eq!((answered, refused), (3, 3));
            // Refused for want of room: the same request may be sent again.
            client.send("engram/rob/ask", r#"{"question":"slow","id":"s5"}"#);
            assert_eq!(client.next().await.json()["answer"], "slow");
        }
    });
}

#[test]
fn a_question_whose_time_passed_while_it_waited_is_refused() {
    run(async {
        let mut config = config(&Broker::Embedded);
        config.answerer.concurrency = 1;
        let daemon = Daemon::with(&config).await.unwrap();
        let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
        client.send("engram/rob/ask", r#"{"question":"slow","id":"a"}"#);
        client.send("engram/rob/ask", r#"{"question":"late","id":"b","deadline_ms":50}"#);
        client.on("engram/rob/answer/a").await;
        let late = client.on("engram/rob/answer/b").await.json();
        assert_eq!(late["error"]["code"], "overloaded");
    });
}

#[test]
fn a_broker_outage_loses_no_message_and_ends_by_itself() {
    run(async {
        let Some(mut mosquitto) = Mosquitto::start() else { return };
        let port = mosquitto.port;
        let mut config = config(&Broker::Embedded);
        config.mqtt.broker = format!("mqtt://127.0.0.1:{port}");
        let daemon = Daemon::with(&config).await.unwrap();
        let publisher = daemon.session.publisher();
        mosquitto.kill();
        for number in 0..50 {
            publisher.say(&Say { text: number.to_string(), answer: None });
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(!publisher.connected() && publisher.waiting() >= 50);
        mosquitto.run();
        let mut client =
            TestClient::v5(daemon.v5, &["engram/rob/say", "engram/rob/answer/#"]).await;
        for number in 0..50 {
            assert_eq!(client.next().await.json()["text"], number.to_string());
        }
        client.send("engram/rob/ask", r#"{"question":"back?","id":"b"}"#);
        assert_eq!(client.on("engram/rob/answer/b").await.json()["answer"], "back?");
        assert_eq!(publisher.dropped(), 0);
    });
}

#[test]
fn a_port_that_is_taken_is_named() {
    run(async {
        let held = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut config = config(&Broker::Embedded);
        config.mqtt.listen_v5 = held.local_addr().unwrap().to_string();
        let error = Daemon::with(&config).await.err().unwrap();
        assert!(matches!(error, MqttError::PortTaken { key: "mqtt.listen_v5", .. }), "{error}");
        assert!(error.to_string().contains(&config.mqtt.listen_v5));
    });
}

#[test]
fn the_embedded_broker_demands_the_password_that_is_set() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("password");
        std::fs::write(&file, "s3cret\n").unwrap();
        let mut config = config(&Broker::Embedded);
        config.mqtt.username = Some("engram".into());
        config.mqtt.password_file = Some(file.clone());
        let daemon = Daemon::with(&config).await.unwrap();
        config.mqtt.listen_v5 = daemon.v5.to_string();
        let asked = tokio::task::spawn_blocking(move || {
            let mut good = DaemonClient::connect(&config).unwrap();
            let ask = serde_json::json!({ "question": "hello" });
            let reply = good.request("ask", &ask, Duration::from_secs(5)).unwrap();
            config.mqtt.username = None;
            (reply, DaemonClient::connect(&config).err())
        });
        let (reply, refused) = asked.await.unwrap();
        assert_eq!(reply["answer"], "hello");
        assert!(matches!(refused, Some(ClientError::NotLetIn { .. })), "{refused:?}");
        let told = refused.unwrap().to_string();
        assert!(
            told.contains("mqtt.password_file") && !told.contains("start the daemon"),
            "{told}"
        );
    });
}

#[test]
fn the_command_lines_client_gets_replies_refusals_and_a_clear_word_when_nobody_is_there() {
    run(async {
        for broker in brokers() {
            let mut config = config(&broker);
            let daemon = Daemon::with(&config).await.unwrap();
            config.mqtt.listen_v5 = daemon.v5.to_string();
            let asked = tokio::task::spawn_blocking(move || {
                let mut client = DaemonClient::connect(&config).unwrap();
                let ask = |question: &str| serde_json::json!({ "question": question });
                let limit = Duration::from_secs(5);
                let reply = client.request("ask", &ask("hello"), limit).unwrap();
                let refused = client.request("ask", &ask("refuse"), limit).unwrap_err();
                let media = serde_json::json!({ "verb": "media", "args": {} });
                let media = client.request_media(&media, limit).unwrap();
                let silent = client.request("nobody", &ask("x"), Duration::from_millis(200));
                config.mqtt.broker = "mqtt://127.0.0.1:1".into();
                let nobody = DaemonClient::connect(&config).err().unwrap();
                (reply, refused, media, silent.unwrap_err(), nobody)
            });
            let (reply, refused, media, silent, nobody) = asked.await.unwrap();
            assert_eq!(reply["answer"], "hello");
            assert_eq!(refused.to_string(), "no such thing (not_found)");
            assert_eq!(media, [0xff, 0xd8, 0xff]);
            assert!(matches!(silent, ClientError::NoReply { .. }), "{silent}");
            assert!(nobody.to_string().contains("--data-dir"), "{nobody}");
        }
    });
}
