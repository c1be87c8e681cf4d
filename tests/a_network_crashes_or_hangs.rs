//! Native code that crashes or hangs under the real daemon: what was taken is answered, one clip is lost at most, no other
//! source waits, and what crashes again and again is left out and tried anew.
//!
//! Faults are planned by a variable that only builds for tests know (`src/runtime/planned_faults.rs`).

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Robot;
use crate::support::broker::{Listener, Mosquitto, wait_for};
use crate::support::companion::{Books, Companion, Kind};
use crate::support::daemon::Daemon;

const FAULT: &str = "ENGRAM_TEST_FAULT";
const SIGSEGV: i32 = 11;
/// However slow the machine is, something is wrong when nothing has come of it by then, seconds.
const PATIENCE: u64 = 180;

/// A camera of test pictures, so small that any machine keeps up, and a microphone that hears a tone.
fn camera(id: &str, sound: bool) -> String {
    let sound = if sound {
        "audiotestsrc is-live=true wave=silence ! audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved ! appsink name=audio"
    } else {
        ""
    };
    format!(
        "[[camera]]\nid = \"{id}\"\npipeline = \"\"\"\nvideotestsrc is-live=true pattern=ball ! \
         video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! appsink name=video {sound}\n\"\"\"\n\n"
    )
}

fn configured(robot: &Robot, cameras: &[String]) -> PathBuf {
    let file = robot.dir.path().join("engram.toml");
    let text = format!(
        "[window]\nclip_secs = 5.0\nanalyse_fps = 2.0\n\n[face]\ndetector = \"yunet\"\nonly_changed = false\n\n\
         [pipeline]\nworkers = 2\n\n{}",
        cameras.concat()
    );
    std::fs::write(&file, text).unwrap();
    file
}

fn start(robot: &Robot, config: &std::path::Path, fault: &str) -> Daemon {
    let mut command = robot.command(&["run", "--config", config.to_str().unwrap()]);
    command.env(FAULT, fault);
    Daemon::spawn(command)
}

/// Builds without planned faults cannot be tested so.
fn has_planned_faults() -> bool {
    let there = cfg!(debug_assertions);
    if !there {
        crate::support::skipped("a release knows no planned faults");
    }
    there
}

fn with_mosquitto(robot: Robot, mosquitto: &Mosquitto) -> Robot {
    robot.set("robot.id=rob").set(&format!("mqtt.broker=mqtt://127.0.0.1:{}", mosquitto.port))
}

/// Clips in the store, as (session, number).
fn clips(robot: &Robot) -> Vec<(i64, i64)> {
    let path = robot.dir.path().join("engram.db");
    if !path.exists() {
        return Vec::new();
    }
    let db = robot.database();
    let Ok(mut rows) = db.prepare("SELECT session, clip FROM clip ORDER BY session, clip") else {
        return Vec::new();
    };
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    rows.query_map([], row).unwrap().map(Result::unwrap).collect()
}

fn until(what: &str, companion: &Companion, fits: impl Fn(&Books) -> bool) {
    wait_for(what, PATIENCE, || fits(&companion.books()).then_some(()));
}

fn is_left_out(books: &Books) -> bool {
    let degraded = books.status["degraded"].as_array().into_iter().flatten();
    let texts: Vec<&str> = degraded.filter_map(Value::as_str).collect();
    books.is_online()
        && texts.iter().any(|text| {
            text.starts_with("faces: yunet")
                && text.contains("crashed or hung")
                && text.contains("tried anew")
        })
}

/// Waits for a crash; then the clips before the one in the making are all there, and the next process is started as
/// systemd would. Tells how long it was until a question was answered.
fn crash(
    (robot, config, fault): (&Robot, &std::path::Path, &str),
    daemon: &mut Daemon,
    companion: &Companion,
) {
    let signal = wait_for("the crash", PATIENCE, || daemon.crashed());
    assert_eq!(signal, SIGSEGV);
    let began = Instant::now();
    let kept = clips(robot);
    *daemon = start(robot, config, fault);
    let next = companion.books().next();
    until("an answer after the crash", companion, |books| {
        books.answered(Kind::Fast, next, |reply| reply["answer"].is_string()) > 0
    });
    println!("answered {:.2} s after the crash", began.elapsed().as_secs_f64());
    // Two frames a second: the 28th is near the end of the third clip of 5 s.
    let newest = kept.iter().map(|(session, _)| *session).max().expect("a session");
    let whole = [(newest, 0), (newest, 1)];
    assert!(whole.iter().all(|clip| kept.contains(clip)), "more than a clip is lost: {kept:?}");
}

#[test]
fn a_crash_costs_a_clip_and_the_third_start_is_without_the_network() {
    let Some(mosquitto) = Mosquitto::start() else { return };
    if !has_planned_faults() {
        return;
    }
    // The 28th frame of every process; a rest long enough to be seen.
    let fault = "segfault:face_det_yunet:28";
    let robot = with_mosquitto(Robot::new("edge").set("models.crash_rest_secs=20"), &mosquitto);
    let config = configured(&robot, &[camera("front", true)]);
    let mut companion = Companion::connect(mosquitto.port);
    let mut daemon = start(&robot, &config, fault);
    until("the daemon", &companion, Books::is_online);
    // Nobody takes what is asked before that.
    companion.ask_on(true);
    crash((&robot, &config, fault), &mut daemon, &companion);
    assert!(!is_left_out(&companion.books()), "once may be an accident");
    crash((&robot, &config, fault), &mut daemon, &companion);
    until("a status without the network", &companion, is_left_out);
    // It goes on without it, until its rest is over: then it is tried anew, and crashes as before.
    let before = clips(&robot).len();
    wait_for("a clip without faces", PATIENCE, || (clips(&robot).len() > before).then_some(()));
    crash((&robot, &config, fault), &mut daemon, &companion);
    until("a status without the network again", &companion, is_left_out);
    companion.stop_asking();
    until("replies to everything", &companion, |books| books.open() == 0);
    assert_eq!(daemon.terminate().0, Some(0));
    let checked = robot.run(&["check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn a_job_that_hangs_holds_up_no_other_camera_and_no_microphone() {
    let Some(mosquitto) = Mosquitto::start() else { return };
    if !has_planned_faults() {
        return;
    }
    let robot = with_mosquitto(Robot::new("edge"), &mosquitto);
    let config = configured(&robot, &[camera("front", true), camera("back", false)]);
    let listener = Listener::connect(mosquitto.port);
    // Four frames a second: what was dropped while the daemon started is known by then.
    let daemon = start(&robot, &config, "hang:face_det_yunet:120:1");
    let hangs = |status: &Value| {
        let told = status["degraded"].to_string();
        told.contains("jobs `frame` hang in face_det_yunet") && told.contains("were given up")
    };
    listener.expect("status", PATIENCE, hangs);
    let before = listener.on("stats");
    let sealed = clips(&robot).len();
    wait_for("clips after it", PATIENCE, || (clips(&robot).len() >= sealed + 3).then_some(()));
    let stats = wait_for("stats after it", 30, || {
        let all = listener.on("stats");
        (all.len() >= before.len() + 2).then(|| all.last().expect("stats").json())
    });
    let before = before[..before.len() - 1].last().expect("stats before it").json();
    let count = |stats: &Value, source: &str| stats["sources"][source]["dropped"].as_u64().unwrap();
    let dropped = |source: &str| count(&stats, source) - count(&before, source);
    assert_eq!(dropped("front.audio"), 0, "{before} {stats}");
    assert_eq!(dropped("front").min(dropped("back")), 0, "one camera alone: {before} {stats}");
    let asked = listener.ask("ask", &json!({"question": "Who was here?"}));
    assert!(asked["answer"].is_string(), "{asked}");
    // The numbers of the clips have no gap.
    let numbers: Vec<i64> = clips(&robot).into_iter().map(|(_, number)| number).collect();
    assert_eq!(numbers, (0..numbers.len() as i64).collect::<Vec<_>>());
    let (code, took) = daemon.terminate();
    assert_eq!(code, Some(0), "{took:?}");
}

#[test]
fn when_every_worker_hangs_the_daemon_answers_and_asks_for_a_new_process() {
    let Some(mosquitto) = Mosquitto::start() else { return };
    if !has_planned_faults() {
        return;
    }
    let robot = with_mosquitto(Robot::new("edge"), &mosquitto);
    let config = configured(&robot, &[camera("front", false)]);
    let socket = std::os::unix::net::UnixDatagram::bind(robot.dir.path().join("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(PATIENCE))).unwrap();
    let mut command = robot.command(&["run", "--config", config.to_str().unwrap()]);
    command.env(FAULT, "hang:face_det_yunet:5");
    command.env("NOTIFY_SOCKET", robot.dir.path().join("notify"));
    let mut daemon = Daemon::spawn(command);
    let mut bytes = [0_u8; 4096];
    loop {
        let length = socket.recv(&mut bytes).expect("a message to systemd");
        if String::from_utf8_lossy(&bytes[..length]).contains("WATCHDOG=trigger") {
            break;
        }
    }
    let listener = Listener::connect(mosquitto.port);
    let asked = listener.ask("ask", &json!({"question": "Who was here?"}));
    assert!(asked["answer"].is_string(), "{asked}");
    assert_eq!(daemon.ended(), None);
    // systemd ends it so.
    daemon.signal("-ABRT");
    wait_for("its end", 30, || daemon.crashed());
    let crashes = std::fs::read_to_string(robot.dir.path().join("crashes.json")).unwrap();
    assert!(crashes.contains("face_det_yunet"), "what hung is written down: {crashes}");
}
