//! Promises of replay, held against real recordings.

use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use super::imaging::picture;
use super::*;
use crate::ids::SourceId;
use crate::media::{Item, Picture, RawPixels, YuvPixels};
use crate::time::Timestamp;

/// Real recordings lie beside the checkout; what needs them is skipped, and says so, where they do not.
pub(super) fn recording(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("ENGRAM_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = shared.join("recordings").join(name);
    if !path.exists() {
        eprintln!("SKIPPED: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// What a playback gave: per item kind counts, times and a hash of everything.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    frames: usize,
    blocks: usize,
    samples: usize,
    poses: usize,
    first_frame: Option<Timestamp>,
    last_frame: Option<Timestamp>,
    first_block: Option<Timestamp>,
    sound_end: Option<Timestamp>,
    hash: String,
    damage: Damage,
}

fn drain(mut playback: Playback) -> Played {
    let mut played = Played {
        frames: 0,
        blocks: 0,
        samples: 0,
        poses: 0,
        first_frame: None,
        last_frame: None,
        first_block: None,
        sound_end: None,
        hash: String::new(),
        damage: Damage::default(),
    };
    let mut hasher = Sha256::new();
    let mut last: Option<(Timestamp, SourceId)> = None;
    while let Some(item) = playback.next().unwrap() {
        let place = (item.at(), item.source().clone());
        assert!(last.as_ref().is_none_or(|last| *last <= place), "{last:?} then {place:?}");
        hasher.update(place.0.as_nanos().to_le_bytes());
        hasher.update(place.1.as_str());
        match &item {
            Item::Frame(frame) => {
                played.frames += 1;
                played.first_frame.get_or_insert(frame.at);
                played.last_frame = Some(frame.at);
                hasher.update(frame.number.to_le_bytes());
                let bytes: &[u8] = match &frame.picture {
                    Picture::Yuv(YuvPixels { data, .. }) => data,
                    Picture::Rgb8(bytes)
                    | Picture::Encoded(bytes)
                    | Picture::Raw(RawPixels { data: bytes, .. }) => bytes,
                };
                hasher.update(bytes);
            }
            Item::Block(block) => {
                played.blocks += 1;
                played.samples += block.samples.len();
                played.first_block.get_or_insert(block.at);
                played.sound_end = Some(block.end());
                block.samples.iter().for_each(|sample| hasher.update(sample.to_le_bytes()));
            }
            Item::Words(told) => panic!("{told:?}"),
            Item::Pose(_, pose) => {
                played.poses += 1;
                hasher.update(pose.x.to_le_bytes());
                hasher.update(pose.yaw.to_le_bytes());
            }
        }
        last = Some(place);
    }
    played.hash = hex::encode(hasher.finalize());
    played.damage = playback.damage().clone();
    played
}

fn play(path: &std::path::Path, options: &ReplayOptions) -> Played {
    drain(Recording::open(path, options).unwrap().play().unwrap())
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn a_video_file_gives_every_frame_and_sample_twice_the_same() {
    let Some(path) = recording("living_room_dev.mp4") else { return };
    let recording = Recording::open(&path, &ReplayOptions::default()).unwrap();
    assert_eq!(recording.start(), at("2026-03-02T17:30:00Z"));
    assert!(!recording.start_is_guess());
    assert!((recording.duration_secs().unwrap() - 179.4).abs() < 0.1);
    assert_eq!(recording.cameras(), [SourceId::new("camera")]);
    assert_eq!(recording.microphones(), [SourceId::new("microphone")]);
    let began = std::time::Instant::now();
    let played = drain(recording.play().unwrap());
    eprintln!("{:.1} x real time: {played:?}", 179.4 / began.elapsed().as_secs_f64());
    assert_eq!(played.frames, 4484);
    assert_eq!(played.first_frame, Some(recording.start()));
    assert_eq!(played.last_frame, Some(recording.start().plus_secs(4483.0 * 0.04)));
    assert_eq!(played.first_block, Some(recording.start()));
    assert!((played.sound_end.unwrap().secs_since(recording.start()) - 179.4).abs() < 0.1);
    assert!(played.damage.is_empty(), "{}", played.damage);
    assert_eq!(drain(recording.play().unwrap()), played);
}

#[test]
fn a_bag_gives_what_its_video_gave() {
    let Some(path) = recording("two_people.mcap") else { return };
    let options = ReplayOptions::default();
    let recording = Recording::open(&path, &options).unwrap();
    assert_eq!(recording.start(), at("2026-03-04T08:15:00Z"));
    assert_eq!(recording.cameras(), [SourceId::new("/camera/image_raw/compressed")]);
    assert_eq!(recording.microphones(), [SourceId::new("/audio/audio")]);
    let played = drain(recording.play().unwrap());
    eprintln!("{played:?}");
    assert_eq!((played.frames, played.blocks, played.poses), (600, 600, 600));
    assert!(played.damage.is_empty(), "{}", played.damage);
    assert_eq!(drain(recording.play().unwrap()), played);

    let file = play(&path.with_file_name("two_people_dev.mp4"), &options);
    assert_eq!(file.first_block, played.first_block);
    assert_eq!(file.first_frame, played.first_frame);
}

#[test]
fn the_sound_of_bag_and_file_lies_at_the_same_place() {
    let Some(path) = recording("two_people.mcap") else { return };
    let sound = |path: &std::path::Path| {
        let mut playback =
            Recording::open(path, &ReplayOptions::default()).unwrap().play().unwrap();
        let mut samples = Vec::new();
        while let Some(item) = playback.next().unwrap() {
            if let Item::Block(block) = item {
                samples.extend_from_slice(&block.samples);
            }
        }
        samples
    };
    let (bag, file) = (sound(&path), sound(&path.with_file_name("two_people_dev.mp4")));
    let error = |shift: i64| -> f64 {
        (20_000..320_000_i64)
            .map(|n| {
                let other = file[usize::try_from(n + shift).unwrap()];
                f64::from(bag[usize::try_from(n).unwrap()] - other).powi(2)
            })
            .sum()
    };
    let best = (-1200..=1200).min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap();
    assert_eq!(best, 0, "the file's sound is {best} samples late");
    assert!(error(0) / 300_000.0 < 1e-8, "{}", error(0));
}

#[test]
fn damaged_bags_give_what_is_readable() {
    let options = ReplayOptions::default();
    if let Some(path) = recording("two_people_truncated.mcap") {
        let played = play(&path, &options);
        eprintln!("{played:?}");
        assert_eq!(played.damage.count(Cause::Truncated), 1, "{}", played.damage);
        assert!(played.frames >= 180 && played.sound_end > Some(at("2026-03-04T08:15:17.9Z")));
        assert_eq!(play(&path, &options), played);
    }
    if let Some(path) = recording("two_people_badcrc.mcap") {
        let played = play(&path, &options);
        eprintln!("{played:?}");
        assert_eq!(played.damage.count(Cause::BadCrc), 1, "{}", played.damage);
        assert_eq!((played.frames, played.blocks, played.poses), (200, 200, 200));
    }
}

#[test]
fn truncated_and_bad_crc_bags_have_the_messages_that_their_makers_count() {
    let read = |path: &std::path::Path| {
        let bag = bag::Bag::open(path).unwrap().unwrap();
        let mut reader = bag.reader(|_| true).unwrap();
        let (mut messages, mut before_damage) = (0, None);
        while let Some(found) = reader.next() {
            match found {
                bag::Found::Message(_) => messages += 1,
                bag::Found::Damaged(cause, place) => {
                    eprintln!("{cause}: {place}");
                    before_damage.get_or_insert(messages);
                }
            }
        }
        (messages, before_damage)
    };
    if let Some(path) = recording("two_people_truncated.mcap") {
        // 723 in whole chunks; the one that is cut gives what was written of it.
        let (messages, _) = read(&path);
        assert!(messages >= 723, "{messages}");
    }
    if let Some(path) = recording("two_people_badcrc.mcap") {
        assert_eq!(read(&path), (801, Some(463)));
    }
    if let Some(path) = recording("two_people.mcap") {
        assert_eq!(read(&path), (2401, None));
    }
}

#[test]
fn raw_pictures_of_every_encoding_look_the_same() {
    let Some(path) = recording("raw_images.mcap") else { return };
    let recording = Recording::open(&path, &ReplayOptions::default()).unwrap();
    assert_eq!(recording.cameras().len(), 5);
    let mut playback = recording.play().unwrap();
    let mut first = std::collections::BTreeMap::new();
    let mut frames = 0;
    while let Some(item) = playback.next().unwrap() {
        let Item::Frame(frame) = item else { panic!("{item:?}") };
        frames += 1;
        first.entry(frame.source.to_string()).or_insert(picture::to_rgb(&frame).unwrap());
    }
    assert!(playback.damage().is_empty(), "{}", playback.damage());
    assert_eq!(frames, 75);
    assert_eq!(first["/camera/rgb8"], first["/camera/bgr8"]);
    assert_eq!(first["/camera/mono8"], first["/camera/mono8_padded"]);
    let difference: f64 = first["/camera/rgb8"]
        .iter()
        .zip(first["/camera/yuyv"].iter())
        .map(|(a, b)| f64::from(a.abs_diff(*b)))
        .sum();
    let mean = difference / first["/camera/rgb8"].len() as f64;
    assert!(mean < 4.0, "{mean}");
}

#[test]
fn options_choose_topics_names_and_span() {
    let Some(path) = recording("two_people.mcap") else { return };
    let options = ReplayOptions {
        start_time: Some(at("2030-01-01T00:00:00Z")),
        start_offset_secs: 10.0,
        duration_secs: Some(5.0),
        topics: vec!["/audio/audio".into(), "/odom".into()],
        exclude_topics: vec!["/odom".into()],
        remap: vec![("/audio/audio".into(), "ears".into())],
        ..ReplayOptions::default()
    };
    let recording = Recording::open(&path, &options).unwrap();
    assert_eq!(recording.microphones(), [SourceId::new("ears")]);
    assert!(recording.cameras().is_empty());
    assert!((recording.duration_secs().unwrap() - 5.0).abs() < 1e-9);
    let played = drain(recording.play().unwrap());
    assert_eq!((played.frames, played.blocks, played.poses), (0, 50, 0));
    assert_eq!(played.first_block, Some(at("2030-01-01T00:00:10Z")));
    assert_eq!(
        recording.selection(),
        "topics=/audio/audio:=ears start=2030-01-01T00:00:00.000000000Z offset=10.000000000 \
         duration=5.000000000 until=-"
    );
    let nothing = ReplayOptions { topics: vec!["/x".into()], ..ReplayOptions::default() };
    let error = Recording::open(&path, &nothing).unwrap_err();
    assert!(error.to_string().contains("/camera/image_raw/compressed"), "{error}");
}

#[test]
fn a_file_is_cut_to_the_span_and_can_be_left_in_the_middle() {
    let Some(path) = recording("two_people_dev.mp4") else { return };
    let until = at("2026-03-04T08:15:21Z");
    let options = ReplayOptions {
        start_offset_secs: 20.0,
        duration_secs: Some(30.0),
        until: Some(until),
        ..ReplayOptions::default()
    };
    let played = play(&path, &options);
    assert_eq!((played.frames, played.blocks), (25, 10));
    assert_eq!(played.first_frame, Some(at("2026-03-04T08:15:20Z")));
    assert!(played.damage.is_empty(), "{}", played.damage);
    let only_sound = ReplayOptions { topics: vec!["microphone".into()], ..options };
    let recording = Recording::open(&path, &only_sound).unwrap();
    assert!(recording.cameras().is_empty());
    assert_eq!((recording.duration_secs().unwrap() * 1e3).round(), 1000.0);
    let mut playback = recording.play().unwrap();
    assert!(playback.next().unwrap().is_some());
    drop(playback);
    let mut playback = Recording::open(&path, &ReplayOptions::default()).unwrap().play().unwrap();
    assert!(playback.next().unwrap().is_some());
}

#[test]
fn bags_without_pictures_or_sound_say_what_they_hold() {
    for (name, topic) in
        [("rosbag/rosbag2_multiple_files_1.mcap", "in it is"), ("faces", "no bag file")]
    {
        let Some(path) = recording(name) else { continue };
        let error = Recording::open(&path, &ReplayOptions::default()).unwrap_err().to_string();
        eprintln!("{error}");
        assert!(error.contains(topic), "{error}");
    }
}

#[test]
fn bags_that_ros_itself_wrote_are_read_whole() {
    for name in ["rosbag/example.bag", "rosbag/example-lz4.bag"] {
        let Some(path) = recording(name) else { continue };
        let bag = bag::Bag::open(&path).unwrap().unwrap();
        let mut reader = bag.reader(|_| true).unwrap();
        let (mut found, mut last) = (0, None);
        while let Some(next) = reader.next() {
            let bag::Found::Message(message) = next else { panic!("{name}: {next:?}") };
            assert!(last <= Some(message.log_time));
            last = Some(message.log_time);
            if let Some(decoded) = message.connection.decode(&message.data) {
                decoded.unwrap();
            }
            found += 1;
        }
        assert!(found > 1_000, "{name}: {found}");
    }
}

#[test]
fn bags_of_the_same_bytes_play_alike_whatever_their_format() {
    let Some(path) = recording("two_people.mcap") else { return };
    let expected = play(&path, &ReplayOptions::default());
    assert_eq!((expected.frames, expected.poses), (600, 600));
    for name in ["two_people_ros1.bag", "two_people_ros2_sqlite", "two_people_foxglove.mcap"] {
        let Some(path) = recording(name) else { continue };
        assert_eq!(play(&path, &ReplayOptions::default()), expected, "{name}");
    }
}

#[test]
fn bags_that_are_played_together_give_what_one_bag_of_all_gives() {
    let (Some(whole), Some(other)) =
        (recording("two_people.mcap"), recording("two_people_ros1.bag"))
    else {
        return;
    };
    let of = |topics: &[&str]| ReplayOptions {
        topics: topics.iter().map(ToString::to_string).collect(),
        duration_secs: Some(10.0),
        ..ReplayOptions::default()
    };
    let (camera, sound) = ("/camera/image_raw/compressed", "/audio/audio");
    let both = Recording::open_together(&[whole.clone(), other], &of(&[camera, sound])).unwrap();
    let single = Recording::open(&whole, &of(&[camera, sound])).unwrap();
    // Both have both at the same time: they are two cameras and two microphones.
    let second = |name: &str| SourceId::new(&format!("2:{name}"));
    assert_eq!(both.cameras(), [SourceId::new(camera), second(camera)]);
    assert_eq!(both.microphones(), [SourceId::new(sound), second(sound)]);
    assert_ne!(both.sha256(), single.sha256());
    let (both, single) = (drain(both.play().unwrap()), drain(single.play().unwrap()));
    assert_eq!((both.frames, both.blocks), (2 * single.frames, 2 * single.blocks));
    assert_eq!(both.sound_end, single.sound_end);
}

#[test]
fn a_single_file_of_a_rosbag2_folder_plays_like_the_folder() {
    let Some(folder) = recording("two_people_ros2_sqlite") else { return };
    let file = folder.join("two_people_ros2_sqlite.db3");
    let options = ReplayOptions { duration_secs: Some(10.0), ..ReplayOptions::default() };
    assert_eq!(play(&file, &options), play(&folder, &options));
}

#[test]
fn a_ros1_bag_without_index_gives_its_whole_chunks_and_more() {
    let Some(path) = recording("two_people_noindex.bag") else { return };
    let played = play(&path, &ReplayOptions::default());
    eprintln!("{played:?}");
    assert_eq!(played.damage.count(Cause::Truncated), 1, "{}", played.damage);
    assert!(played.frames >= 150, "{played:?}");
}

#[test]
fn video_in_a_bag_gives_every_picture_and_the_sound_of_the_file() {
    let Some(path) = recording("two_people_foxglove_video.mcap") else { return };
    let played = play(&path, &ReplayOptions::default());
    eprintln!("{played:?}");
    assert!(played.damage.is_empty(), "{}", played.damage);
    assert_eq!((played.frames, played.poses), (1500, 600));
    assert_eq!(played, play(&path, &ReplayOptions::default()));
    if let Some(other) = recording("two_people.mcap") {
        let other = play(&other, &ReplayOptions::default());
        assert_eq!((played.samples, played.first_block), (other.samples, other.first_block));
    }
}

#[test]
fn sound_files_and_other_videos_play() {
    for (name, secs, frames) in [
        ("audio/jfk.flac", 11.0, 0),
        ("audio/beckett.wav", 10.0, 0),
        ("video/hamilton_interview_multiface_10s.mp4", 10.0, 200),
    ] {
        let Some(path) = recording(name) else { continue };
        let played = play(&path, &ReplayOptions::default());
        assert!((played.samples as f64 / 16e3 - secs).abs() < 0.5, "{name}: {played:?}");
        assert!(played.frames >= frames, "{name}: {played:?}");
        assert!(played.damage.is_empty(), "{name}: {}", played.damage);
    }
}

#[test]
fn skipping_gives_the_same_items_from_there_on() {
    for name in ["two_people.mcap", "two_people_dev.mp4"] {
        let Some(path) = recording(name) else { return };
        let recording = Recording::open(&path, &ReplayOptions::default()).unwrap();
        let from = recording.start().plus_secs(40.02);
        let summary = |item: Item| match item {
            Item::Frame(frame) => (frame.at, frame.number, 0),
            Item::Block(block) => (block.at, 0, block.samples.len()),
            Item::Pose(_, pose) => (pose.stamp, 0, 1),
            Item::Words(told) => panic!("{told:?}"),
        };
        let rest = |skip: bool| {
            let mut playback = recording.play().unwrap();
            playback.next().unwrap();
            if skip {
                playback.skip_until(from);
            }
            let mut items = Vec::new();
            while let Some(item) = playback.next().unwrap() {
                if item.at() >= from {
                    items.push(summary(item));
                } else {
                    assert!(!skip);
                }
            }
            items
        };
        let skipped = rest(true);
        assert!(skipped.len() > 300);
        assert_eq!(skipped, rest(false));
    }
}

#[test]
fn what_is_no_recording_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Recording::open(&path, &ReplayOptions::default()).unwrap_err().to_string()
    };
    assert!(file("empty.mp4", b"").contains("empty"));
    assert!(file("text.mp4", &b"no video at all ".repeat(100)).contains("text.mp4"));
    assert!(file("bad.mcap", b"no mcap at all").contains("magic"));
    assert!(file("cut.mcap", mcap::MAGIC).contains("nothing to see or hear"));
    assert!(file("a.bag", b"#ROSBAG V2.0\n").contains("nothing to see or hear"));
    assert!(file("b.bag", b"no bag at all").contains("#ROSBAG"));
    assert!(file("c.bag", b"#ROSBAG V1.2\n and more").contains("old version"));
    assert!(file("a.db3", b"no database").contains("SQLite"));
    assert!(file("b.db3", b"SQLite format 3\0 and nothing else").contains("b.db3"));
    let missing = Recording::open(&folder.path().join("none.mp4"), &ReplayOptions::default());
    assert!(missing.unwrap_err().to_string().contains("none.mp4"));
}

#[test]
fn topics_are_chosen_by_their_names_or_by_a_pattern() {
    let Some(path) = recording("two_people.mcap") else { return };
    let patterns = |texts: &[&str]| -> Vec<Pattern> {
        texts.iter().map(|text| Pattern::new(text).unwrap()).collect()
    };
    let sources = |regex: &[&str], exclude: &[&str]| {
        let (regex, exclude_regex) = (patterns(regex), patterns(exclude));
        let options = ReplayOptions { regex, exclude_regex, ..ReplayOptions::default() };
        let found = Recording::open(&path, &options).unwrap();
        (found.cameras().len(), found.microphones().len())
    };
    assert_eq!(sources(&[], &[]), (1, 1));
    assert_eq!(sources(&["^/camera/"], &[]), (1, 0));
    assert_eq!(sources(&["camera", "audio$"], &["^/cam.*compressed$"]), (0, 1));
    let wrong = Pattern::new("(").unwrap_err();
    assert!(wrong.contains("no regular expression") && wrong.contains("unclosed"), "{wrong}");
}
