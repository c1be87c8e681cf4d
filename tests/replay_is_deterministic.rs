//! The same recording gives the same memory: at any rate, with any number of workers, stopped in the middle or not.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::broker::wait_for;
use crate::support::daemon::{Daemon, embedded};
use crate::support::recogniser::slow_recogniser;
use crate::support::{Robot, need};

fn hash_of(recording: &str, set: &str, more: &[&str], settings: &[&str]) -> Option<String> {
    let recording = crate::support::shared(recording)?;
    let robot = settings.iter().fold(Robot::new(set), |robot, setting| robot.set(setting));
    robot.replay(&recording, more);
    Some(robot.hash())
}

#[test]
fn one_hash_for_one_and_two_workers() {
    need!("recordings/two_people_dev.mp4");
    let hash = |workers: &str| {
        let part = ["--duration", "40"];
        hash_of("recordings/two_people_dev.mp4", "edge", &part, &[workers])
    };
    assert_eq!(hash("pipeline.workers=1"), hash("pipeline.workers=2"));
}

#[test]
fn one_hash_at_four_times_and_at_full_speed() {
    need!("recordings/one_person_dev.mp4");
    let slow = hash_of("recordings/one_person_dev.mp4", "open", &["--rate", "4"], &[]);
    let fast = hash_of("recordings/one_person_dev.mp4", "open", &["--rate", "max"], &[]);
    assert_eq!(slow, fast);
}

/// How recall finds vectors changes nothing that is written.
#[test]
fn one_hash_by_a_graph_of_cells_and_by_a_scan() {
    need!("recordings/one_person_dev.mp4");
    let hash = |vectors: &str| {
        let part = ["--duration", "20"];
        hash_of("recordings/one_person_dev.mp4", "edge", &part, &[vectors])
    };
    assert_eq!(hash("recall.vectors=\"graph\""), hash("recall.vectors=\"scan\""));
}

/// With speaker segmentation, over a stretch in which two speak at once.
#[test]
fn one_hash_with_two_voices_at_once() {
    need!("recordings/living_room_dev.mp4");
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/target/models/pyannote_segmentation.onnx");
    if !std::path::Path::new(model).is_file() {
        crate::support::absent(&format!("no {model} (make setup)"));
        return;
    }
    let hash = |rate: &str, settings: &[&str]| {
        let part = ["--start-offset", "102", "--duration", "12", "--rate", rate];
        hash_of("recordings/living_room_dev.mp4", "edge", &part, settings)
    };
    let separate = "diarization.segmentation=\"separate\"";
    let one = hash("max", &[separate, "pipeline.workers=1"]);
    assert_eq!(one, hash("8", &[separate, "pipeline.workers=2"]));
    assert_ne!(one, hash("max", &[]), "the second voice is heard");
}

/// A daemon has five seconds to stop. The clip whose words it then still waits for is nobody's loss: the recording is
/// there, and its replay goes on from that clip.
#[test]
fn stopped_while_it_waits_for_words_it_goes_on_from_there() {
    let recording = need!("recordings/two_people_dev.mp4");
    let named = |robot: Robot, server: &str| {
        let robot = robot.set("transcriber.kind=openai").set("active_speaker.on=false");
        robot.set(&format!("transcriber.base_url={server}"))
    };
    let part = ["--duration", "40"];
    let said = &["I put the green parcel on the shelf."];
    let (quick, _) = slow_recogniser(Duration::ZERO, said);
    let through = named(embedded().0, &quick);
    through.replay(&recording, &part);

    let (slow, asked) = slow_recogniser(Duration::from_secs(60), said);
    let robot = named(embedded().0, &slow);
    let daemon = Daemon::start(
        &robot,
        &["replay", "--serve", part[0], part[1], recording.to_str().unwrap()],
    );
    wait_for("a turn whose words are waited for", 60, || {
        (asked.load(Ordering::SeqCst) > 0).then_some(())
    });
    // Until the clip itself is there, and the sealer waits.
    std::thread::sleep(Duration::from_secs(2));
    let (code, took) = daemon.terminate();
    assert_eq!(code, Some(0), "after {took:?}");

    let robot = named(robot, &quick);
    robot.replay(&recording, &part);
    assert_eq!(robot.hash(), through.hash());
}

/// Run by `make prove` for every labelled recording and both sets, with words.
#[test]
#[ignore = "long; make prove runs it"]
fn any_recording_at_any_rate_with_any_workers() {
    let named = |name: &str, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let recording = format!("recordings/{}.mp4", named("ENGRAM_RECORDING", "one_person_dev"));
    let set = named("ENGRAM_SET", "edge");
    need!(&recording);
    let words = "transcriber.kind=\"auto\"";
    let once = hash_of(&recording, &set, &[], &["pipeline.workers=1", words]);
    for (rate, workers) in [("max", 2), ("max", 3), ("4", 2)] {
        let workers = format!("pipeline.workers={workers}");
        let again = hash_of(&recording, &set, &["--rate", rate], &[&workers, words]);
        assert_eq!(once, again, "rate {rate}, {workers}");
    }
}
