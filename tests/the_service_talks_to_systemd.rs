//! What systemd is told and allowed: a socket stands in for it, its own tool judges the unit.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Robot;
use crate::support::broker::{Mosquitto, wait_for};
use crate::support::daemon::{Daemon, embedded};

/// What came on the socket until a message that holds that line.
fn until(socket: &UnixDatagram, line: &str) -> Vec<String> {
    until_fits(socket, line, |one| one == line)
}

/// What came on the socket until a message with a line that does.
fn until_fits(socket: &UnixDatagram, what: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let began = Instant::now();
    let mut told = Vec::new();
    let mut bytes = [0u8; 4096];
    while began.elapsed() < Duration::from_secs(60) {
        let Ok(length) = socket.recv(&mut bytes) else { continue };
        let message = String::from_utf8_lossy(&bytes[..length]).into_owned();
        let found = message.lines().any(&fits);
        told.push(message);
        if found {
            return told;
        }
    }
    panic!("no {what} within a minute; there came {told:?}");
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
    // What goes on, and how fast.
    let rates = |line: &str| line.starts_with("STATUS=answering") && line.contains("questions/s");
    until_fits(&socket, "rates", rates);

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
fn a_broker_that_goes_away_is_told_and_the_watchdog_is_fed_all_the_same() {
    let Some(mut mosquitto) = Mosquitto::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let robot = Robot::new("edge")
        .set("robot.id=rob")
        .set(&format!("mqtt.broker=mqtt://127.0.0.1:{}", mosquitto.port));
    let mut command = robot.command(&["run"]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "3000000");
    let daemon = Daemon::spawn(command);
    until(&socket, "READY=1");
    mosquitto.kill();
    until_fits(&socket, "a broker that is away", |line| line.contains("broker away"));
    until(&socket, "WATCHDOG=1");
    until(&socket, "WATCHDOG=1");
    mosquitto.run();
    let back = |line: &str| line.starts_with("STATUS=") && !line.contains("broker away");
    until_fits(&socket, "a broker that is back", back);
    assert_eq!(daemon.terminate().0, Some(0));
}

#[test]
fn credentials_are_taken_from_where_systemd_puts_them() {
    let credentials = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(credentials.path().join(name), text).unwrap();
    put("mqtt.password", "s3cret\n");
    put("other.password", "guessed\n");
    put("store.key", &format!("{}\n", "a".repeat(64)));
    let (robot, _, _) = embedded();
    let robot = robot
        .set("mqtt.username=engram")
        .set("mqtt.password_file=mqtt.password")
        .set("store.key_file=store.key");
    let mut run = robot.command(&["run"]);
    run.env("CREDENTIALS_DIRECTORY", credentials.path());
    let mut daemon = Daemon::spawn(run);
    // By MQTT: without --data-dir.
    let client = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engramd"));
        command.args(&robot.settings).args(args);
        command.env("CREDENTIALS_DIRECTORY", credentials.path()).output().unwrap()
    };
    let answered = || client(&["ask", "Who was here?"]).status.success().then_some(());
    wait_for("an answer", 60, answered);
    let database = std::fs::read(robot.dir.path().join("engram.db")).unwrap();
    assert!(!database.starts_with(b"SQLite format 3"), "the store is encrypted under the key");

    let refused = client(&["ask", "Who was here?", "--set", "mqtt.password_file=other.password"]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    assert!(told.contains("does not let this client in"), "{told}");

    // What `systemctl reload` does.
    let mut check = robot.command(&["config", "check"]);
    check.env("CREDENTIALS_DIRECTORY", credentials.path());
    assert!(check.output().unwrap().status.success());
    daemon.signal("-HUP");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(daemon.ended(), None);
    wait_for("an answer after the reload", 10, answered);
    assert_eq!(daemon.terminate().0, Some(0));
}

#[test]
fn systemd_understands_every_line_of_the_unit() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("systemd/engramd.service");
    let dir = tempfile::tempdir().unwrap();
    // The program is where it was built.
    let text = std::fs::read_to_string(unit).unwrap();
    let text = text.replace("/usr/bin/engramd", env!("CARGO_BIN_EXE_engramd"));
    let copy = dir.path().join("engramd.service");
    for (line, understood) in [("", true), ("WatchdogSecs=30\n", false)] {
        let text = text.replace("[Service]\n", &format!("[Service]\n{line}"));
        std::fs::write(&copy, text).unwrap();
        let verified = Command::new("systemd-analyze")
            .args(["verify", "--man=no", "--recursive-errors=no"])
            .arg(&copy)
            .output();
        let Ok(verified) = verified else {
            println!("SKIPPED: systemd-analyze is not installed (apt-get install systemd)");
            return;
        };
        let told = String::from_utf8_lossy(&verified.stderr);
        assert_eq!(!told.contains("engramd.service"), understood, "{told}");
    }
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
