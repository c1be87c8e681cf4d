//! The last minutes of pictures and sound: kept after the fact, by hand and by a watch, over a kill, and erased with their time.

use std::fs::read_dir;

use engram::time::{Span, Timestamp};
use serde_json::{Value, json};

use crate::support::broker::{Listener, free_port, wait_for};
use crate::support::daemon::{Daemon, embedded};
use crate::support::{Robot, need};

/// What a snapshot, or the reply that it is kept, covers.
fn span(of: &Value) -> Span {
    let at = |key: &str| serde_json::from_value::<Timestamp>(of[key].clone()).unwrap();
    Span::new(at("start"), at("end"))
}

#[test]
fn what_was_captured_is_kept_after_the_fact_and_after_a_kill_and_erased_with_its_time() {
    let recording = need!("recordings/two_people_dev.mp4");
    let (robot, _, v5) = embedded();
    let door = free_port();
    let robot = robot.set("ring.minutes=5").set("window.clip_secs=5");
    let robot = robot.set(&format!("http.listen=127.0.0.1:{door}"));
    let text = format!(
        "[[camera]]\nid = \"front\"\npipeline = \"\"\"\nfilesrc location={} ! decodebin name=file\n\
         file. ! queue ! videoconvert ! video/x-raw,format=I420 ! identity sync=true ! appsink name=video\n\
         file. ! queue ! audioconvert ! audioresample !\n\
         audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved ! identity sync=true !\n\
         appsink name=audio\n\"\"\"\n",
        recording.display()
    );
    let config = robot.dir.path().join("engram.toml");
    std::fs::write(&config, text).unwrap();
    robot.json(&["watch", "add", "anybody", "comes", "--once", "--snapshot", "1.5", "--json"]);
    let run = ["run", "--config", config.to_str().unwrap()];
    let daemon = Daemon::start(&robot, &run);
    let listener = Listener::connect(v5);
    let kept = |listener: &Listener| {
        let listed = listener.ask("query", &json!({"verb": "snapshots", "args": {}}));
        assert_eq!(listed["ring"], true, "{listed}");
        listed["snapshots"].as_array().unwrap().clone()
    };
    let by_watch = wait_for("the watch's snapshot", 90, || {
        let fired = listener.on("event/watch").first().map(|event| event.json())?;
        kept(&listener).first().map(|snapshot| (fired["at"].clone(), snapshot.clone()))
    });
    let fired: Timestamp = serde_json::from_value(by_watch.0).unwrap();
    let around = span(&by_watch.1);
    // (Whoever is in the first picture comes as soon as there is a ring.)
    assert!(around.contains(fired) && (1.4..=3.1).contains(&around.secs()), "{fired} {around:?}");

    let folder = robot.dir.path().join("ring");
    wait_for("four seconds of the ring", 60, || {
        (read_dir(&folder).ok()?.count() >= 12).then_some(())
    });
    let last = listener.ask("snapshot", &json!({"secs": 4, "id": "last"}));
    let covered = span(&last);
    assert!((3.4..=4.1).contains(&covered.secs()), "{last}");
    assert_eq!(listener.refused("snapshot", r#"{"secs":0}"#), "bad_request");
    daemon.kill();

    // The same stretch once more, after the kill: not a picture less.
    let daemon = Daemon::start(&robot, &run);
    let listener = Listener::connect(v5);
    // (Its broker takes requests before it does.)
    listener.expect("status", 60, |status| status["state"] == "online");
    let again = json!({"start": last["start"], "end": last["end"], "id": "again"});
    let again = listener.ask("snapshot", &again);
    assert_eq!((&again["snapshot"], &again["bytes"]), (&last["snapshot"], &last["bytes"]));

    // It is a recording like any other.
    let name = last["snapshot"].as_str().unwrap();
    let out = robot.dir.path().join("kept.mcap");
    robot.json(&["snapshot", "export", name, out.to_str().unwrap(), "--json"]);
    let fetch = ureq::get(format!("http://127.0.0.1:{door}/api/snapshots/{name}")).call();
    let fetched = fetch.unwrap().into_body().into_with_config().limit(u64::MAX).read_to_vec();
    assert!(fetched.unwrap() == std::fs::read(&out).unwrap(), "both doors give the same file");
    let film = ureq::get(format!("http://127.0.0.1:{door}/api/snapshots/{name}.mp4")).call();
    let film = film.unwrap().into_body().into_with_config().limit(u64::MAX).read_to_vec().unwrap();
    let shown = robot.dir.path().join("kept.mp4");
    std::fs::write(&shown, film).unwrap();
    let other = Robot::new("edge");
    let lines = other.replay(&out, &[]);
    let end = lines.last().unwrap();
    let secs = end["media_secs"].as_f64().unwrap();
    assert!((secs - covered.secs()).abs() <= 0.5 && end["dropped"] == 0, "{end} {covered:?}");
    let kept_frames = frames(&lines);

    // Erased with its time; what would go is told before.
    let time = json!({"start": last["start"], "end": last["end"]});
    let mut dry = time.clone();
    dry["dry_run"] = true.into();
    let would = listener.ask("forget", &dry);
    assert!(would["ring_secs"].as_f64().unwrap() > 3.0, "{would}");
    assert!(would["snapshots"].as_u64().unwrap() >= 1, "{would}");
    assert!(kept(&listener).iter().any(|one| one["name"] == last["snapshot"]));
    assert_eq!(listener.ask("forget", &time)["ok"], true);
    // (Where the ring is busy for long, the reply says that its part `waits`.)
    wait_for("the erasure of the snapshots", 60, || {
        let left = kept(&listener);
        (!left.iter().any(|one| covered.intersection(span(one)).is_some())).then_some(())
    });
    let gone = json!({"start": last["start"], "end": last["end"]}).to_string();
    assert_eq!(listener.refused("snapshot", gone), "not_found");
    assert_eq!(daemon.terminate().0, Some(0));

    // What was fetched as a film is played like any other, too: it begins with the first picture, and has them all.
    let lines = Robot::new("edge").replay(&shown, &[]);
    let secs = lines.last().unwrap()["media_secs"].as_f64().unwrap();
    assert!(secs <= covered.secs() + 0.6, "{lines:?} {covered:?}");
    assert!(kept_frames > 0 && frames(&lines) == kept_frames, "{lines:?} {kept_frames}");
}

/// Pictures of all clips that a replay told of.
fn frames(lines: &[Value]) -> u64 {
    lines.iter().filter_map(|line| line["frames"].as_u64()).sum()
}
