//! What systemd is told and allowed: a socket stands in for it, its own tool judges the unit.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::broker::wait_for;
use crate::support::daemon::embedded;

/// What came on the socket until a message that holds that line.
fn until(socket: &UnixDatagram, line: &str) -> Vec<String> {
    let began = Instant::now();
    let mut told = Vec::new();
    let mut bytes = [0u8; 4096];
    while began.elapsed() < Duration::from_secs(60) {
        let Ok(length) = socket.recv(&mut bytes) else { continue };
        let message = String::from_utf8_lossy(&bytes[..length]).into_owned();
        let found = message.lines().any(|one| one == line);
        told.push(message);
        if found {
            return told;
        }
    }
    panic!("no {line} within a minute; there came {told:?}");
}

#[test]
fn loading_readiness_reload_and_stop_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let (robot, _, _) = embedded();
    let mut daemon = robot
        .command(&["run"])
        .env("NOTIFY_SOCKET", &path)
        .env("WATCHDOG_USEC", "2000000")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let signal = |name: &str| {
        let pid = daemon.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    };
    let loading = until(&socket, "READY=1");
    assert!(loading[0].contains("STATUS=loading models"), "{loading:?}");
    assert!(loading.iter().any(|one| one.starts_with("EXTEND_TIMEOUT_USEC=")), "{loading:?}");

    // Twice in every span of the watchdog.
    until(&socket, "WATCHDOG=1");
    until(&socket, "WATCHDOG=1");

    signal("-HUP");
    let reloading = until(&socket, "RELOADING=1").pop().unwrap();
    let monotonic = reloading.lines().find_map(|line| line.strip_prefix("MONOTONIC_USEC="));
    assert!(monotonic.is_some_and(|usec| usec.parse::<u64>().is_ok()), "{reloading}");
    until(&socket, "READY=1");

    signal("-TERM");
    until(&socket, "STOPPING=1");
    let status = wait_for("the daemon's end", 10, || daemon.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}

#[test]
fn the_unit_is_as_closed_as_is_said() {
    let systemd = Path::new(env!("CARGO_MANIFEST_DIR")).join("systemd");
    let dir = tempfile::tempdir().unwrap();
    let alone = dir.path().join("engramd.service");
    std::fs::copy(systemd.join("engramd.service"), &alone).unwrap();
    // In tenths: 2.0 for the CPU, 2.9 with the drop-ins beside the unit for GPU and cameras.
    for (unit, most) in [(alone, "20"), (systemd.join("engramd.service"), "29")] {
        let judged = Command::new("systemd-analyze")
            .args(["security", "--offline=true", "--threshold", most])
            .arg(&unit)
            .output();
        let Ok(judged) = judged else {
            println!("SKIPPED: systemd-analyze is not installed (apt-get install systemd)");
            return;
        };
        let text = String::from_utf8_lossy(&judged.stdout);
        let last = text.lines().rev().find(|line| line.contains("exposure level"));
        println!("{}", last.unwrap_or_default());
        assert!(judged.status.success(), "{text}");
    }
}
