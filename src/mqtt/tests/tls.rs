//! Encryption, and certificates of both sides: a real Mosquitto that takes nobody without one.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::support::{Broker, Daemon, Mosquitto, TestClient, config, run};
use crate::mqtt::Session;

/// Runs openssl in `dir`; false, with a line that says so, where it is not installed.
fn openssl(dir: &Path, args: &str) -> bool {
    let made = Command::new("openssl").args(args.split(' ')).current_dir(dir).output();
    let Ok(made) = made else {
        println!("SKIPPED: openssl is not installed (apt-get install openssl)");
        return false;
    };
    assert!(made.status.success(), "{args}: {}", String::from_utf8_lossy(&made.stderr));
    true
}

/// An authority `ca`, and signed by it `server` and `client`.
fn certificates(dir: &Path) -> bool {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    if !openssl(dir, &format!("req -x509 {key} -days 2 -subj /CN=ca -keyout ca.key -out ca.crt")) {
        return false;
    }
    sign(dir, "server", "subjectAltName=IP:127.0.0.1");
    sign(dir, "client", "extendedKeyUsage=clientAuth");
    true
}

/// A certificate with a new key, signed by `ca`.
fn sign(dir: &Path, name: &str, extension: &str) {
    std::fs::write(dir.join("extension"), extension).unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(dir, &format!("req {key} -subj /CN={name} -keyout {name}.key -out {name}.csr"));
    let signed = "-CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile extension";
    openssl(dir, &format!("x509 -req -in {name}.csr {signed} -out {name}.crt"));
}

#[test]
fn a_broker_that_demands_a_certificate_is_shown_one() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        if !certificates(dir.path()) {
            return;
        }
        let tls_port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let file = |name: &str| dir.path().join(name);
        let lines = format!(
            "listener {tls_port} 127.0.0.1\ncafile {}\ncertfile {}\nkeyfile {}\nrequire_certificate true\n",
            file("ca.crt").display(),
            file("server.crt").display(),
            file("server.key").display(),
        );
        let Some(mosquitto) = Mosquitto::with(&lines) else { return };
        let mut config = config(&Broker::Embedded);
        config.mqtt.broker = format!("mqtts://127.0.0.1:{tls_port}");
        config.mqtt.ca_file = Some(file("ca.crt"));

        let refused = Session::start(&config, std::sync::Arc::new(super::support::Echo::default()));
        let refused = refused.await.unwrap();
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert!(!refused.publisher().connected(), "without a certificate nobody is let in");
        refused.kill().await;

        config.mqtt.client_cert_file = Some(file("client.crt"));
        config.mqtt.client_key_file = Some(file("client.key"));
        let daemon = Daemon::with(&config).await.unwrap();
        let plain = ([127, 0, 0, 1], mosquitto.port).into();
        let mut client = TestClient::v5(plain, &["engram/rob/answer/#"]).await;
        client.ask_v5("engram/rob/ask", "encrypted?", "engram/rob/answer/x", b"c");
        assert_eq!(client.next().await.json()["answer"], "encrypted?");

        // What is renewed on disk is taken when that is told, and left alone while it is the same.
        let mut status = TestClient::v5(plain, &["engram/rob/status"]).await;
        assert_eq!(status.next().await.json()["connection"], 1);
        daemon.session.renew();
        assert!(status.silent().await, "nothing is new");
        sign(dir.path(), "client", "extendedKeyUsage=clientAuth");
        daemon.session.renew();
        let born = loop {
            let seen = status.next().await.json();
            if seen["state"] == "online" {
                break seen;
            }
        };
        assert_eq!(born["connection"], 2, "{born}");
        client.ask_v5("engram/rob/ask", "still?", "engram/rob/answer/x", b"c");
        assert_eq!(client.next().await.json()["answer"], "still?");
    });
}
