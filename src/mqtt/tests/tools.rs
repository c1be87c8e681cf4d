//! The tools that people use: `mosquitto_pub`, `mosquitto_sub`, `mosquitto_rr`.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::support::{Daemon, brokers, run};

fn tool(name: &str, port: u16, args: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(["-h", "127.0.0.1", "-p", &port.to_string()]).args(args);
    command
}

fn installed() -> bool {
    let there = Command::new("mosquitto_rr").arg("--help").output().is_ok();
    if !there {
        println!("SKIPPED: mosquitto-clients is not installed");
    }
    there
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn mosquitto_rr_gets_its_answer() {
    if !installed() {
        return;
    }
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            let args = [
                "-V",
                "mqttv5",
                "-q",
                "1",
                "-t",
                "engram/rob/ask",
                "-e",
                "engram/rob/answer/rr",
                "-D",
                "publish",
                "correlation-data",
                "abc",
                "-m",
                "Who was here?",
                "-W",
                "5",
            ];
            let mut asked = tool("mosquitto_rr", daemon.v5.port(), &args);
            let output =
                tokio::task::spawn_blocking(move || asked.output().unwrap()).await.unwrap();
            let reply: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|error| panic!("{error}: {}", text(&output)));
            assert_eq!(reply["answer"], "Who was here?");
        }
    });
}

#[test]
fn mosquitto_sub_sees_what_mosquitto_pub_asked_with_both_protocols() {
    if !installed() {
        return;
    }
    run(async {
        for broker in brokers() {
            let daemon = Daemon::start(&broker).await;
            for (version, port) in [("mqttv311", daemon.v4.port()), ("mqttv5", daemon.v5.port())] {
                let filters = [
                    "-V",
                    version,
                    "-q",
                    "1",
                    "-v",
                    "-t",
                    "engram/rob/answer/#",
                    "-t",
                    "engram/rob/status",
                    "-C",
                    "3",
                    "-W",
                    "8",
                ];
                let subscriber = tool("mosquitto_sub", port, &filters)
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap();
                tokio::time::sleep(Duration::from_millis(400)).await;
                let json = format!(r#"{{"question":"json","id":"{version}"}}"#);
                for message in ["plain", &json] {
                    let args = ["-V", version, "-q", "1", "-t", "engram/rob/ask", "-m", message];
                    let sent = tool("mosquitto_pub", port, &args).output().unwrap();
                    assert!(sent.status.success(), "{}", text(&sent));
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                let output =
                    tokio::task::spawn_blocking(move || subscriber.wait_with_output().unwrap());
                let seen = text(&output.await.unwrap());
                let lines: Vec<&str> = seen.lines().collect();
                assert_eq!(lines.len(), 3, "{seen}");
                assert!(lines[0].starts_with("engram/rob/status {\"state\":\"online\""), "{seen}");
                assert!(
                    lines[1].starts_with("engram/rob/answer/- {\"id\":null,\"question\":\"plain\""),
                    "{seen}"
                );
                assert!(
                    lines[2].starts_with(&format!(
                        "engram/rob/answer/{version} {{\"id\":\"{version}\""
                    )),
                    "{seen}"
                );
            }
        }
    });
}
