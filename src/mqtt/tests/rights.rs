//! Rights are the broker's: the shipped rules of `config/mosquitto`, kept by a real Mosquitto.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::support::{Broker, Daemon, Mosquitto, TestClient, config, run};
use crate::mqtt::client::{ClientError, DaemonClient};

const USERS: [&str; 7] =
    ["rob", "bob", "operator", "assistant", "dashboard", "homeassistant", "guest"];
const ROBOTS: [&str; 2] = ["rob", "bob"];

/// A Mosquitto with the shipped rules, and the daemon of the robot `rob` on it.
async fn guarded() -> Option<(Mosquitto, Daemon, SocketAddr)> {
    let mosquitto = Mosquitto::guarded(&USERS, &ROBOTS)?;
    let at = SocketAddr::from(([127, 0, 0, 1], mosquitto.port));
    let mut config = config(&Broker::Embedded);
    config.mqtt.broker = format!("mqtt://127.0.0.1:{}", mosquitto.port);
    config.mqtt.username = Some("rob".into());
    config.mqtt.password_file = Some(mosquitto.password_file("rob"));
    let daemon = Daemon::with(&config).await.unwrap();
    Some((mosquitto, daemon, at))
}

/// One message of each command that reads or changes the memory.
const COMMANDS: [(&str, &str); 8] = [
    ("forget", r#"{"entity":"person_1"}"#),
    ("name", r#"{"entity":"person_1","name":"Eve"}"#),
    ("query", r#"{"verb":"people","args":{}}"#),
    ("remember", r#"{"text":"Nothing happened."}"#),
    ("people", r#"{"merge":["person_1","person_2"]}"#),
    ("feedback", r#"{"answer":"answer_1","verdict":"wrong"}"#),
    ("replay/stop", "{}"),
    ("ask", "Who was here?"),
];

#[test]
fn a_client_without_rights_changes_nothing_and_reads_nobodys_answers() {
    run(async {
        let Some((_mosquitto, daemon, at)) = guarded().await else { return };
        let everything =
            ["engram/rob/#", "engram/rob/answer/#", "engram/rob/answer/operator/#", "#"];
        let mut guest = TestClient::v5_as(at, &everything, "guest").await;
        let mut operator = TestClient::v5_as(at, &["engram/rob/answer/#"], "operator").await;
        for (topic, payload) in COMMANDS {
            guest.ask_v5(
                &format!("engram/rob/{topic}"),
                payload,
                "engram/rob/answer/guest/1",
                b"g",
            );
        }
        // A forged answer, a forged status, a forged event.
        for topic in ["answer/operator/1", "status", "event/person", "say"] {
            guest.send(&format!("engram/rob/{topic}"), r#"{"state":"offline","answer":"forged"}"#);
        }
        operator.ask_v5("engram/rob/ask", "secret?", "engram/rob/answer/operator/1", b"o");
        let seen = operator.next().await;
        assert_eq!(seen.topic, "engram/rob/answer/operator/1");
        assert_eq!(seen.json()["answer"], "secret?");
        assert!(guest.silent().await, "a guest reads what is not its own");
        assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 1, "only the operator was heard");

        operator.ask_v5("engram/rob/forget", COMMANDS[0].1, "engram/rob/answer/operator/2", b"o");
        assert_eq!(operator.next().await.json()["ok"], true);
        assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn who_may_only_ask_gets_its_own_answers_and_no_other_hand_is_lent() {
    run(async {
        let Some((_mosquitto, daemon, at)) = guarded().await else { return };
        let mut assistant =
            TestClient::v5_as(at, &["engram/rob/answer/assistant/#"], "assistant").await;
        let filters =
            ["engram/rob/status", "engram/rob/answer/#", "engram/rob/forget", "engram/bob/#"];
        let mut operator = TestClient::v5_as(at, &filters, "operator").await;
        operator.on("engram/rob/status").await;
        assistant.ask_v5("engram/rob/ask", "hello", "engram/rob/answer/assistant/7", b"c");
        assert_eq!(assistant.next().await.json()["answer"], "hello");
        operator.on("engram/rob/answer/assistant/7").await;
        // MQTT 3.1.1 has no response topic: the user name as id leads to the same place.
        assistant.send("engram/rob/ask", r#"{"question":"old","id":"assistant"}"#);
        assert_eq!(assistant.next().await.json()["answer"], "old");
        operator.on("engram/rob/answer/assistant").await;
        for (topic, payload) in &COMMANDS[..7] {
            let topic = format!("engram/rob/{topic}");
            assistant.ask_v5(&topic, *payload, "engram/rob/answer/assistant/8", b"c");
        }
        assert!(assistant.silent().await);
        assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 2);

        // The daemon's own rights are lent to nobody: a reply never goes to a command topic.
        for elsewhere in ["engram/rob/forget", "engram/rob/answer/../forget", "engram/bob/forget"] {
            assistant.ask_v5("engram/rob/ask", "lend me a hand", elsewhere, b"c");
            let refused = operator.next().await;
            let below_answer = elsewhere.starts_with("engram/rob/answer/");
            if below_answer {
                // No tree to climb: in MQTT `..` is a name like any other.
                assert_eq!(refused.topic, elsewhere);
            } else {
                assert_eq!(refused.topic, "engram/rob/answer/-");
                assert_eq!(refused.json()["error"]["code"], "bad_request");
            }
        }
        assert!(operator.silent().await, "nothing on a command topic");
        assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn the_command_line_is_told_at_once_which_right_is_missing() {
    run(async {
        let Some((mosquitto, _daemon, _)) = guarded().await else { return };
        let mut config = config(&Broker::Embedded);
        config.mqtt.broker = format!("mqtt://127.0.0.1:{}", mosquitto.port);
        config.mqtt.username = Some("assistant".into());
        config.mqtt.password_file = Some(mosquitto.password_file("assistant"));
        let asked = tokio::task::spawn_blocking(move || {
            let mut client = DaemonClient::connect(&config).unwrap();
            let (began, patience) = (Instant::now(), Duration::from_secs(60));
            let person = serde_json::json!({ "entity": "person_1" });
            let refused = client.request("forget", &person, patience).unwrap_err();
            let took = began.elapsed();
            let question = serde_json::json!({ "question": "hello" });
            (refused, took, client.request("ask", &question, patience).unwrap())
        });
        let (refused, took, reply) = asked.await.unwrap();
        let told = refused.to_string();
        assert!(matches!(refused, ClientError::NotAllowed { .. }), "{told}");
        assert!(told.contains("engram/rob/forget") && told.contains("\"assistant\""), "{told}");
        assert!(took < Duration::from_secs(30), "waited for a reply: {took:?}");
        assert_eq!(reply["answer"], "hello", "what it may do it still can");
    });
}

#[test]
fn a_robot_speaks_for_itself_alone_and_a_dashboard_only_looks() {
    run(async {
        let Some((_mosquitto, daemon, at)) = guarded().await else { return };
        let mut dashboard =
            TestClient::v5_as(at, &["engram/+/status", "engram/rob/answer/#"], "dashboard").await;
        assert_eq!(dashboard.next().await.json()["state"], "online");
        let bob = TestClient::v5_as(at, &[], "bob").await;
        bob.send_retained("engram/rob/status", r#"{"state":"offline"}"#);
        bob.send("engram/rob/forget", r#"{"entity":"person_1"}"#);
        bob.send("engram/bob/status", r#"{"state":"online","boot_id":"of bob"}"#);
        let seen = dashboard.next().await;
        assert_eq!(seen.topic, "engram/bob/status");
        dashboard.ask_v5("engram/rob/ask", "hello", "engram/rob/answer/dashboard/1", b"c");
        assert!(dashboard.silent().await);
        assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn no_client_passes_for_a_robot() {
    run(async {
        let Some((_mosquitto, _daemon, at)) = guarded().await else { return };
        let mut dashboard = TestClient::v5_as(at, &["engram/+/status"], "dashboard").await;
        dashboard.on("engram/rob/status").await;
        let mut home = TestClient::v5_as(at, &["homeassistant/#"], "homeassistant").await;
        for user in ["guest", "assistant", "dashboard", "operator"] {
            let client = TestClient::v5_as(at, &[], user).await;
            let status = r#"{"state":"online","boot_id":"forged"}"#;
            client.send_retained(&format!("engram/{user}/status"), status);
            client.send_retained(&format!("homeassistant/switch/{user}/evil/config"), "{}");
            client.send_retained("homeassistant/switch/rob/evil/config", "{}");
        }
        assert!(home.silent().await && dashboard.silent().await);
        // A robot does, for itself alone.
        let bob = TestClient::v5_as(at, &[], "bob").await;
        bob.send_retained("homeassistant/sensor/rob/evil/config", "{}");
        bob.send_retained("homeassistant/sensor/bob/engram_persons/config", "{}");
        assert_eq!(home.next().await.topic, "homeassistant/sensor/bob/engram_persons/config");
        assert!(home.silent().await);
    });
}
