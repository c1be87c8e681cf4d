//! `engramd record`: what live sources delivered is there again, whole or after a kill.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engram::capture::{Recording, ReplayOptions};
use engram::media::Item;
use engram::time::Timestamp;
use serde_json::Value;

use crate::support::Robot;
use crate::support::daemon::{Daemon, embedded};

/// Pictures a second.
const FPS: f64 = 10.0;
/// What a kill costs at most: a second, and the picture under way.
const MOST_LOST_SECS: f64 = 1.0 + 1.0 / FPS;
/// The same of sound: a second, the block under way, and one that waits for where it belongs.
const MOST_SOUND_LOST_SECS: f64 = 1.0 + 0.1 + 0.1;
/// For how long a file has been written when its recorder is killed: longer than what that may cost, and shorter than
/// the file is to become.
const WRITTEN_FOR: Duration = Duration::from_millis(1500);

/// A robot with a test picture and a tone for a camera and a microphone.
fn robot(dir: &Path) -> (Robot, PathBuf) {
    (Robot::new("edge"), sources(dir))
}

/// The configuration of that camera and that microphone.
fn sources(dir: &Path) -> PathBuf {
    let config = dir.join("engram.toml");
    std::fs::write(
        &config,
        r#"
[[camera]]
id = "front"
pipeline = "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=120,framerate=10/1 ! appsink name=video sync=false"

[[microphone]]
id = "ears"
backend = "gstreamer"
device = "audiotestsrc is-live=true samplesperbuffer=1600 ! audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved ! appsink name=audio sync=false"
"#,
    )
    .unwrap();
    config
}

/// When the last of a source ends that is in a bag.
fn last_of(bag: &Path, source: &str) -> Timestamp {
    let options = ReplayOptions { topics: vec![source.to_owned()], ..ReplayOptions::default() };
    let mut playback = Recording::open(bag, &options).unwrap().play().unwrap();
    let mut last: Option<Timestamp> = None;
    while let Some(item) = playback.next().unwrap() {
        let end = if let Item::Block(block) = &item { block.end() } else { item.at() };
        last = last.max(Some(end));
    }
    last.unwrap_or_else(|| panic!("nothing of {source} in {}", bag.display()))
}

/// What a replay found in a bag.
struct Played {
    frames: u64,
    /// Its first instant and, as long as no sound is played, that of its last picture.
    first: Timestamp,
    last: Timestamp,
    code: Option<i32>,
}

impl Played {
    /// Remembers it in a store of its own.
    fn of(bag: &Path, more: &[&str]) -> Self {
        let args = [["replay", bag.to_str().unwrap(), "--json"].as_slice(), more].concat();
        let output = Robot::new("edge").run(&args);
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let clips: Vec<&Value> = lines.iter().filter(|line| line["frames"].is_u64()).collect();
        assert!(!clips.is_empty(), "nothing in {}: {text}", bag.display());
        let at = |time: &Value| serde_json::from_value::<Timestamp>(time.clone()).unwrap();
        Self {
            frames: clips.iter().filter_map(|clip| clip["frames"].as_u64()).sum(),
            first: at(&clips[0]["start"]),
            last: at(&clips[clips.len() - 1]["end"]),
            code: output.status.code(),
        }
    }

    /// Its pictures alone.
    fn pictures(bag: &Path) -> Self {
        Self::of(bag, &["--exclude-topics", "ears"])
    }
}

/// Waits until a file that is not the first has been written for [`WRITTEN_FOR`]; on a machine that stands still
/// meanwhile, the one after it.
fn being_written(folder: &Path) -> PathBuf {
    let file = |number: u32| folder.join(format!("killed_{number}.mcap"));
    let began = Instant::now();
    let (mut number, mut since) = (0, began);
    while number == 0 || since.elapsed() < WRITTEN_FOR {
        assert!(began.elapsed() < Duration::from_secs(60), "no second file");
        std::thread::sleep(Duration::from_millis(20));
        if file(number + 1).exists() {
            (number, since) = (number + 1, Instant::now());
        }
    }
    file(number)
}

#[test]
fn no_sound_is_recorded_while_the_microphones_are_switched_off() {
    let dir = tempfile::tempdir().unwrap();
    let (recorder, config) = robot(dir.path());
    let config = config.to_str().unwrap();
    let recorded = |name: &str| {
        let out = dir.path().join(name);
        let args = ["record", out.to_str().unwrap(), "--media-only", "--duration", "3", "--json"];
        let output = recorder.run(&[args.as_slice(), &["--config", config]].concat());
        assert!(output.status.success());
        let end: Value = serde_json::from_slice(&output.stdout).unwrap();
        let count = |what: &str| end[what].as_u64().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).matches("switched off").count();
        (count("frames") > 5, count("blocks"), told)
    };
    let (pictures, blocks, told) = recorded("on.mcap");
    assert!(pictures && blocks > 5 && told == 0, "{blocks} blocks");
    // As the topic `privacy` leaves it.
    std::fs::write(recorder.dir.path().join("microphones-off"), "").unwrap();
    assert_eq!(recorded("off.mcap"), (true, 0, 1));
}

#[test]
fn a_finished_recording_is_whole_and_a_killed_one_lacks_a_second_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let (recorder, config) = robot(dir.path());
    let config = config.to_str().unwrap();
    let whole = dir.path().join("whole.mcap");
    let args = ["record", whole.to_str().unwrap(), "--media-only", "--duration", "3", "--json"];
    let end = recorder.json(&[args.as_slice(), &["--config", config]].concat());
    let written = end["frames"].as_u64().unwrap();
    assert!(written > 5, "{end}");
    let played = Played::of(&whole, &[]);
    assert_eq!((played.frames, played.code), (written, Some(0)));

    let killed = dir.path().join("killed");
    let args = ["record", killed.to_str().unwrap(), "--media-only", "--max-secs", "3"];
    let daemon = Daemon::start(&recorder, &[args.as_slice(), &["--config", config]].concat());
    let open = being_written(&killed);
    // By the clock that stamps pictures, and before the kill: however long that takes, what was captured a second ago
    // must be there.
    let now = Timestamp::wall_clock();
    daemon.kill();
    let played = Played::pictures(&open);
    assert_eq!(played.code, Some(3), "{} has no end", open.display());
    let lost = now.secs_since(played.last);
    assert!(lost <= MOST_LOST_SECS, "{lost:.2} s are lost");
    let lost = now.secs_since(last_of(&open, "ears"));
    assert!(lost <= MOST_SOUND_LOST_SECS, "{lost:.2} s of sound are lost");
    let (frames, secs) = (played.frames, played.last.secs_since(played.first));
    assert!(frames as f64 >= 0.9 * FPS * secs, "{frames} pictures in {secs:.2} s");
    // The files before it and it are one recording.
    let all = Played::pictures(&killed);
    assert_eq!((all.last, all.code), (played.last, Some(3)));
    assert!(all.frames > frames, "{} pictures", all.frames);
}

#[test]
fn a_recorder_that_remembers_meanwhile_loses_no_more_when_it_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let config = sources(dir.path());
    let (recorder, _, _) = embedded();
    let killed = dir.path().join("killed");
    let args = ["record", killed.to_str().unwrap(), "--max-secs", "3"];
    let args = [args.as_slice(), &["--config", config.to_str().unwrap()]].concat();
    let daemon = Daemon::start(&recorder, &args);
    let open = being_written(&killed);
    let now = Timestamp::wall_clock();
    daemon.kill();
    for (source, most) in [("front", MOST_LOST_SECS), ("ears", MOST_SOUND_LOST_SECS)] {
        let lost = now.secs_since(last_of(&open, source));
        assert!(lost <= most, "{lost:.2} s of {source} are lost");
    }
}
