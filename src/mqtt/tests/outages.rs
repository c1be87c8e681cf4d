//! What waits: through outages of the broker, through kills of the daemon, and no longer than it is worth.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use super::support::{Broker, Daemon, Mosquitto, Seen, TestClient, brokers, config, run};
use crate::config::Config;
use crate::mqtt::dispatch::ReplyTo;
use crate::mqtt::journal::{Journal, Taken};
use crate::mqtt::message::Say;
use crate::mqtt::once::fingerprint;
use crate::mqtt::outbox::Outbox;

fn at(mosquitto: &Mosquitto) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], mosquitto.port))
}

/// The robot `rob` on that broker, with a state folder.
fn kept(mosquitto: &Mosquitto, dir: &tempfile::TempDir) -> Config {
    let mut config = config(&Broker::Embedded);
    config.mqtt.broker = format!("mqtt://127.0.0.1:{}", mosquitto.port);
    config.store.dir = Some(dir.path().to_owned());
    config
}

#[test]
fn what_waited_while_the_broker_was_away_outlives_the_daemon() {
    run(async {
        let Some(mut mosquitto) = Mosquitto::start() else { return };
        let dir = tempfile::tempdir().unwrap();
        let config = kept(&mosquitto, &dir);
        let first = Daemon::with(&config).await.unwrap();
        let publisher = first.session.publisher();
        mosquitto.kill();
        for number in 0..50 {
            publisher.say(&Say { text: number.to_string(), answer: None });
        }
        publisher.outbox.sync();
        first.session.kill().await;
        drop(publisher);
        mosquitto.run();
        let mut client = TestClient::v5(at(&mosquitto), &["engram/rob/say"]).await;
        let second = Daemon::with(&config).await.unwrap();
        for number in 0..50 {
            assert_eq!(client.next().await.json()["text"], number.to_string());
        }
        assert!(client.silent().await);
        second.session.stop().await;
        let third = Daemon::with(&config).await.unwrap();
        assert!(client.silent().await, "what was delivered is not said again");
        drop(third);
    });
}

#[test]
fn whoever_asked_a_daemon_that_was_killed_is_told_and_no_change_is_made_twice() {
    run(async {
        let Some(mosquitto) = Mosquitto::start() else { return };
        let dir = tempfile::tempdir().unwrap();
        let config = kept(&mosquitto, &dir);
        let note = r#"{"text":"Ava likes oat milk.","id":"note"}"#;
        let done = r#"{"text":"Ben likes tea.","id":"done"}"#;
        {
            // A daemon that was killed between taking three requests and answering them; one change was made.
            let (journal, mut left) = Journal::open(dir.path(), None).unwrap();
            let outbox = Outbox::over(journal, &mut left);
            for (id, payload, writes) in
                [("q", "{}", false), ("note", note, true), ("done", done, true)]
            {
                let topic = format!("engram/rob/answer/{id}");
                outbox.accept(|ticket| Taken {
                    ticket,
                    id: Some(id.to_owned()),
                    request: fingerprint("engram/rob/remember", payload.as_bytes()),
                    writes,
                    reply_to: ReplyTo::Topic { topic, correlation: Some(vec![1]) },
                });
            }
            let print = fingerprint("engram/rob/remember", done.as_bytes());
            outbox.acted("done", print, br#"{"id":"done","ok":true}"#);
            outbox.sync();
        }
        let mut client = TestClient::v5(at(&mosquitto), &["engram/rob/answer/#"]).await;
        let daemon = Daemon::with(&config).await.unwrap();
        let mut told: Vec<Seen> =
            vec![client.next().await, client.next().await, client.next().await];
        told.sort_by(|a, b| a.topic.cmp(&b.topic));
        let codes: Vec<_> = told.iter().map(|seen| seen.json()["error"]["code"].clone()).collect();
        assert_eq!(codes, [json!(null), json!("internal"), json!("unavailable")]);
        assert_eq!(told[0].json()["ok"], true);
        assert_eq!(told[0].correlation.as_deref(), Some(&[1][..]));
        // Sent again: the change may have been made, so it is not made again; the question is simply asked.
        client.send("engram/rob/remember", note);
        assert_eq!(client.on("engram/rob/answer/note").await.json()["error"]["code"], "internal");
        client.send("engram/rob/remember", done);
        assert_eq!(client.on("engram/rob/answer/done").await.json()["ok"], true);
        assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 0);
        client.send("engram/rob/ask", r#"{"question":"again","id":"q"}"#);
        assert_eq!(client.on("engram/rob/answer/q").await.json()["answer"], "again");
        client.send("engram/rob/remember", r#"{"text":"New.","id":"new"}"#);
        assert_eq!(client.on("engram/rob/answer/new").await.json()["ok"], true);
        daemon.session.kill().await;

        let daemon = Daemon::with(&config).await.unwrap();
        client.send("engram/rob/remember", r#"{"text":"New.","id":"new"}"#);
        assert_eq!(client.on("engram/rob/answer/new").await.json()["ok"], true);
        assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 0, "known from before the restart");
    });
}

#[test]
fn a_late_will_does_not_mark_a_new_daemon_offline() {
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/status"]).await;
            let born = client.next().await.json();
            assert_eq!((&born["state"], &born["connection"]), (&json!("online"), &json!(1)));
            super::schemas::check("status", &born);
            let boot = born["boot_id"].clone();
            // The will of the daemon before, and of this one's connection before.
            for (boot_id, connection) in [(json!("the boot before"), 7), (boot.clone(), 0)] {
                let late = json!({
                    "state": "offline", "boot_id": boot_id, "connection": connection, "session": null,
                    "version": "0", "degraded": [],
                });
                client.send_retained("engram/rob/status", late.to_string());
                assert_eq!(client.next().await.json()["state"], "offline");
                let again = client.next().await.json();
                assert_eq!((&again["state"], &again["boot_id"]), (&json!("online"), &boot));
            }
            let mut late = TestClient::v5(daemon.v5, &["engram/rob/status"]).await;
            assert_eq!(late.next().await.json()["state"], "online");
            // Its own goodbye stands.
            daemon.session.stop().await;
            assert_eq!(client.next().await.json()["state"], "stopped");
            assert!(client.silent().await);
        }
    });
}

#[test]
fn each_connection_has_its_number_in_birth_and_will() {
    run(async {
        let Some(mut mosquitto) = Mosquitto::start() else { return };
        let mut config = config(&Broker::Embedded);
        config.mqtt.broker = format!("mqtt://127.0.0.1:{}", mosquitto.port);
        let daemon = Daemon::with(&config).await.unwrap();
        mosquitto.kill();
        tokio::time::sleep(Duration::from_millis(300)).await;
        mosquitto.run();
        let mut client = TestClient::v5(at(&mosquitto), &["engram/rob/status"]).await;
        let born = client.next().await.json();
        assert_eq!(born["connection"], 2, "{born}");
        daemon.session.kill().await;
        let gone = client.next().await.json();
        assert_eq!((&gone["state"], &gone["connection"]), (&json!("offline"), &json!(2)));
        assert_eq!(gone["boot_id"], born["boot_id"]);
    });
}

#[test]
fn a_message_that_expired_while_it_waited_is_not_carried_out() {
    run(async {
        for broker in brokers() {
            let mut config = config(&broker);
            config.answerer.concurrency = 1;
            let daemon = Daemon::with(&config).await.unwrap();
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
            for number in 0..5 {
                client.send("engram/rob/ask", format!(r#"{{"question":"slow","id":"s{number}"}}"#));
            }
            let late = r#"{"question":"late","id":"late"}"#;
            client.send_expiring("engram/rob/ask", late, 1);
            let reply = client.on("engram/rob/answer/late").await.json();
            assert_eq!(reply["error"]["code"], "expired", "{reply}");
            assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 5);
            // Not carried out: under its id it may be sent again. Replies say how long they are worth something.
            client.send_expiring("engram/rob/ask", late, 60);
            let seen = client.on("engram/rob/answer/late").await;
            assert_eq!(seen.json()["answer"], "late");
            assert!(seen.expiry.is_some_and(|secs| (50..=60).contains(&secs)), "{:?}", seen.expiry);
        }
    });
}

#[test]
fn a_flood_of_ever_new_ids_leaves_who_asks_little_its_share() {
    run(async {
        for broker in brokers() {
            let mut config = config(&broker);
            config.mqtt.request_rate = 20.0;
            let daemon = Daemon::with(&config).await.unwrap();
            let mut flood = TestClient::v4(daemon.v4, &["engram/rob/answer/+"]).await;
            let mut calm = TestClient::v5(daemon.v5, &["engram/rob/answer/calm/#"]).await;
            for number in 0..200 {
                flood.send("engram/rob/ask", format!(r#"{{"question":"x","id":"f{number}"}}"#));
            }
            let (mut answered, mut refused) = (0, 0);
            for _ in 0..200 {
                match flood.next().await.json()["error"]["code"].as_str() {
                    None => answered += 1,
                    Some("overloaded") => refused += 1,
                    other => panic!("{other:?}"),
                }
            }
            assert!((40..=80).contains(&answered), "{answered} answered, {refused} refused");
            calm.ask_v5("engram/rob/ask", "calm", "engram/rob/answer/calm/1", b"c");
            assert_eq!(calm.next().await.json()["answer"], "calm");
        }
    });
}

#[test]
fn a_flood_on_one_reply_topic_leaves_the_others_alone() {
    run(async {
        for broker in brokers() {
            let mut config = config(&broker);
            config.mqtt.reply_rate = 5.0;
            let daemon = Daemon::with(&config).await.unwrap();
            let mut client = TestClient::v5(daemon.v5, &["engram/rob/answer/#"]).await;
            for number in 0..30 {
                let question = format!("flood {number}");
                client.ask_v5("engram/rob/ask", question, "engram/rob/answer/flood", b"f");
            }
            client.ask_v5("engram/rob/ask", "calm", "engram/rob/answer/calm", b"c");
            let (mut answered, mut refused, mut calm) = (0, 0, 0);
            for _ in 0..31 {
                let seen = client.next().await;
                let reply = seen.json();
                match (seen.topic.as_str(), reply["error"]["code"].as_str()) {
                    ("engram/rob/answer/calm", None) => calm += 1,
                    ("engram/rob/answer/flood", None) => answered += 1,
                    ("engram/rob/answer/flood", Some("overloaded")) => refused += 1,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(calm, 1);
            assert!((10..=13).contains(&answered), "{answered} answered, {refused} refused");
        }
    });
}
