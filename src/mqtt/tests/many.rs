//! Many robots on one broker.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use super::support::{Broker, Daemon, Mosquitto, TestClient, config, run};

/// In one process: sessions, not whole daemons; what could collide is all theirs.
#[test]
fn ten_robots_on_one_broker_do_not_collide() {
    run(async {
        let Some(mosquitto) = Mosquitto::start() else { return };
        let at = SocketAddr::from(([127, 0, 0, 1], mosquitto.port));
        let mut daemons = Vec::new();
        for number in 0..10 {
            let mut config = config(&Broker::Embedded);
            config.robot.id = Some(format!("r{number}"));
            config.mqtt.broker = format!("mqtt://127.0.0.1:{}", mosquitto.port);
            daemons.push(Daemon::with(&config).await.unwrap());
        }
        let filters = ["engram/+/status", "engram/+/answer/#"];
        let mut client = TestClient::v5(at, &filters).await;
        let mut boots = BTreeMap::new();
        while boots.len() < 10 {
            let seen = client.next().await;
            let status = seen.json();
            assert_eq!(status["state"], "online", "{}", seen.topic);
            boots.insert(seen.topic, status["boot_id"].clone());
        }
        let topics: Vec<String> = boots.keys().cloned().collect();
        let expected: Vec<String> = (0..10).map(|n| format!("engram/r{n}/status")).collect();
        assert_eq!(topics, expected);
        let mut different: Vec<String> = boots.values().map(ToString::to_string).collect();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 10);

        // The same id everywhere: each answers its own question, once.
        for number in 0..10 {
            let ask = format!(r#"{{"question":"to {number}","id":"same"}}"#);
            client.send(&format!("engram/r{number}/ask"), ask);
        }
        let mut answers = BTreeMap::new();
        for _ in 0..10 {
            let seen = client.next().await;
            answers.insert(seen.topic.clone(), seen.json()["answer"].clone());
        }
        for (number, daemon) in daemons.iter().enumerate() {
            let topic = format!("engram/r{number}/answer/same");
            assert_eq!(answers[&topic], format!("to {number}"));
            assert_eq!(daemon.echo.handled.load(Ordering::SeqCst), 1);
            assert!(daemon.session.publisher().connected(), "nobody was thrown out");
        }
        assert!(client.silent().await);
    });
}
