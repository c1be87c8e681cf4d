//! `engramd record`: a replay of what it wrote gives the memory that it made while it wrote.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::support::alike::{faces_and_voices, links, speakers_agree, turns_agree};
use crate::support::broker::Listener;
use crate::support::daemon::{Daemon, embedded};
use crate::support::{Robot, need};

/// A recording as it would come from a camera with a microphone: in real time, ten pictures a second.
fn seen_live(recording: &Path) -> String {
    format!(
        "[[camera]]\nid = \"front\"\npipeline = \"\"\"\n\
         filesrc location={} ! decodebin name=file\n\
         file. ! queue ! videoconvert ! videorate ! video/x-raw,format=I420,framerate=10/1 !\n\
         appsink name=video\n\
         file. ! queue ! audioconvert ! audioresample !\n\
         audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved ! appsink name=audio\n\
         \"\"\"\n",
        recording.display()
    )
}

/// What stands beside the media on that topic.
fn written(bag: &Path, topic: &str) -> Vec<Value> {
    let bytes = std::fs::read(bag).unwrap();
    let mut lines = Vec::new();
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        let message = message.unwrap();
        if message.channel.topic == topic {
            lines.push(serde_json::from_slice(&message.data).unwrap());
        }
    }
    lines
}

/// When somebody spoke, of lines of percepts.
fn spoken(percepts: &[Value]) -> Vec<[Value; 3]> {
    percepts
        .iter()
        .filter(|line| line["kind"] == "turn")
        .map(|line| ["turn", "start", "end"].map(|key| line[key].clone()))
        .collect()
}

/// Ids of the memories among these rows.
fn remembered<'a>(rows: impl Iterator<Item = &'a Value>) -> BTreeSet<String> {
    rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_was_recorded_live_gives_the_same_memory_when_it_is_replayed() {
    let recording = need!("recordings/two_people_dev.mp4");
    let (live, _, v5) = embedded();
    let live = live.set("window.clip_secs=30");
    let config = live.dir.path().join("engram.toml");
    std::fs::write(&config, seen_live(&recording)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bag = folder.path().join("out.mcap");
    let args = ["record", bag.to_str().unwrap(), "--config", config.to_str().unwrap()];
    let daemon = Daemon::start(&live, &args);
    // The session is told with its first clip, and that waits for the turn over its border. So both have spoken, alone
    // and beside each other, and are silent for the next ten seconds: the stop cuts nobody short. (On a machine that is
    // further behind it does; then the recording ends there as the memory does.)
    let listener = Listener::connect(v5);
    listener.expect("status", 90, |status| status["session"] == "s1");
    std::thread::sleep(Duration::from_secs(2));
    let (code, took) = daemon.terminate();
    assert_eq!(code, Some(0), "everything was written, within {took:?}");

    let replayed = Robot { dir: tempfile::tempdir().unwrap(), settings: live.settings.clone() };
    let end = replayed.replay(&bag, &[]);
    assert_eq!(end.last().unwrap()["damaged"], 0, "{end:?}");
    // Ten pictures a second show no mouth move: whoever speaks in two clips is linked, and nobody wrongly.
    assert_eq!(faces_and_voices(&links(&live)), (2, 2), "{:?}", links(&live));
    assert_eq!(links(&replayed), links(&live));
    turns_agree(&replayed, &live);
    speakers_agree(&replayed, &live);

    // What was found live stands beside the media.
    let turns = spoken(&live.json_lines(&["export", "--percepts"]));
    assert!(turns.len() >= 4, "{turns:?}");
    assert_eq!(spoken(&written(&bag, "engram/percepts")), turns);
    let rows = live.json_lines(&["export"]);
    let rows = rows.iter().filter(|line| line["table"] == "memory").map(|line| &line["row"]);
    let memories = remembered(rows);
    assert!(!memories.is_empty());
    assert_eq!(remembered(written(&bag, "engram/memories").iter()), memories);
}
