//! Bags that are unusual and whole: they are played to their end, and nothing of them is damage.

use std::path::PathBuf;

use serde_json::json;

use super::cdr::Cdr;
use super::seeds::{Sent, mcap_of};
use crate::capture::{Recording, ReplayOptions};
use crate::ids::SourceId;
use crate::media::{Item, ToldWords};
use crate::time::{Span, Timestamp};

const MS: i64 = 1_000_000;
/// 2026-03-04T08:15:00Z.
const T0: i64 = 1_772_612_100_000 * MS;

/// A header stamped so many milliseconds after the beginning.
fn header(ms: i64) -> Cdr {
    let nanos = T0 + ms * MS;
    let [secs, rest] = [nanos / 1_000_000_000, nanos % 1_000_000_000];
    Cdr::ros2().u32(u32::try_from(secs).unwrap()).u32(u32::try_from(rest).unwrap()).text("frame")
}

/// A message that was recorded so many milliseconds after the beginning.
fn sent(topic: &'static str, kind: (&'static str, &'static str), ms: i64, data: Vec<u8>) -> Sent {
    Sent { topic, kind, log_time: u64::try_from(T0 + ms * MS).unwrap(), data }
}

/// A picture of 2x1 pixels of that encoding.
fn image(topic: &'static str, encoding: &str, stamp: i64, recorded: i64) -> Sent {
    let data = header(stamp).u32(1).u32(2).text(encoding).u8(0).u32(8).bytes(&[7; 8]).message();
    sent(topic, ("sensor_msgs/msg/Image", "cdr"), recorded, data)
}

/// What a robot recorded in ten seconds: ten pictures and twenty poses a second, each stamped, and bare sound. All is
/// recorded `behind` milliseconds late, the pictures by a little more.
fn run(behind: i64) -> Vec<Sent> {
    let mut all = Vec::new();
    for n in 0..100 {
        let ms = n * 100;
        all.push(image("/camera", "rgba8", ms, ms + behind + 10 + n * 7 % 5));
        let sound = Cdr::ros2().bytes(&[1; 3_200]).message();
        all.push(sent("/mic", ("audio_common_msgs/msg/AudioData", "cdr"), ms + behind, sound));
    }
    for n in 0..200 {
        let place = [n as f64, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let pose = place.into_iter().fold(header(n * 50), Cdr::f64).message();
        let kind = ("geometry_msgs/msg/PoseStamped", "cdr");
        all.push(sent("/pose", kind, n * 50 + behind, pose));
    }
    all
}

struct Written {
    _folder: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

fn written(bags: &[&[Sent]]) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let write = |(number, bag): (usize, &&[Sent])| {
        let path = folder.path().join(format!("{number}.mcap"));
        std::fs::write(&path, mcap_of(bag)).unwrap();
        path
    };
    let paths = bags.iter().enumerate().map(write).collect();
    Written { _folder: folder, paths }
}

impl Written {
    fn open(&self, options: &ReplayOptions) -> Recording {
        Recording::open_together(&self.paths, options).unwrap()
    }
}

/// Everything of a recording, which is whole.
fn played(recording: &Recording) -> Vec<Item> {
    let mut playback = recording.play().unwrap();
    let mut items = Vec::new();
    while let Some(item) = playback.next().unwrap() {
        items.push(item);
    }
    assert!(playback.damage().is_empty(), "{}", playback.damage());
    items
}

/// Source and time of every item, milliseconds after the beginning.
fn times(items: &[Item]) -> Vec<(String, i64)> {
    let time = |item: &Item| (item.source().to_string(), (item.at().as_nanos() - T0) / MS);
    items.iter().map(time).collect()
}

fn count(items: &[Item], source: &str) -> usize {
    items.iter().filter(|item| item.source().as_str() == source).count()
}

#[test]
fn stamps_of_another_clock_lose_nothing_and_keep_everything_together() {
    let times_of = |behind: i64| {
        let items = played(&written(&[&run(behind)]).open(&ReplayOptions::default()));
        let counts = ["/camera", "/mic", "/pose"].map(|source| count(&items, source));
        assert_eq!(counts, [100, 100, 200], "{behind} ms");
        times(&items)
    };
    let usual = times_of(0);
    for behind in [1_500, 3_000, 10_000, 55_000, -1_500, -3_000, -55_000] {
        let moved: Vec<_> = usual.iter().map(|(what, ms)| (what.clone(), ms + behind)).collect();
        assert_eq!(times_of(behind), moved, "{behind} ms");
    }
    // A little is delay: the stamps say when it was.
    let stamped = |times: &[(String, i64)]| -> Vec<(String, i64)> {
        times.iter().filter(|(source, _)| source != "/mic").cloned().collect()
    };
    assert_eq!(stamped(&times_of(300)), stamped(&usual));
    // A clock that is off by an hour tells nothing: what was recorded then was captured then.
    let late = times_of(3_600_000);
    assert_eq!(late.last(), Some(&("/pose".to_owned(), 3_600_000 + 9_950)));
}

#[test]
fn sound_may_change_its_coding_in_the_middle() {
    let tone = |at: i64, rate: u32, channels: u16| {
        let samples = (0..rate / 10).map(|n| {
            let secs = at as f64 * 1e-3 + f64::from(n) / f64::from(rate);
            ((secs * 440.0 * std::f64::consts::TAU).sin() * 12_000.0) as i16
        });
        let bytes: Vec<u8> = samples
            .flat_map(|sample| std::iter::repeat_n(sample, usize::from(channels)))
            .flat_map(i16::to_le_bytes)
            .collect();
        let nanos = T0 + at * MS;
        let message = json!({
            "timestamp": {"sec": nanos / 1_000_000_000, "nsec": nanos % 1_000_000_000},
            "data": base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes),
            "format": "pcm-s16", "sample_rate": rate, "number_of_channels": channels,
        });
        sent("/mic", ("foxglove.RawAudio", "json"), at, message.to_string().into_bytes())
    };
    let (low, high) = ((16_000, 1), (48_000, 2));
    for codings in [[low, high], [high, low]] {
        let of = |n: i64| codings[usize::try_from(n / 20).unwrap()];
        let bag: Vec<_> = (0..40).map(|n| tone(n * 100, of(n).0, of(n).1)).collect();
        let mut samples = Vec::new();
        for item in played(&written(&[&bag]).open(&ReplayOptions::default())) {
            let Item::Block(block) = item else { panic!("{item:?}") };
            let begins = (block.at.as_nanos() - T0) as f64 * 16e-6;
            assert!((begins - samples.len() as f64).abs() < 2.0, "{begins}");
            samples.extend_from_slice(&block.samples);
        }
        assert!(samples.len().abs_diff(64_000) < 400, "{}", samples.len());
        for middle in [&samples[8_000..24_000], &samples[40_000..56_000]] {
            let changes = |pair: &&[f32]| (pair[0] < 0.0) != (pair[1] < 0.0);
            let pitch = middle.windows(2).filter(changes).count() as f64 / 2.0;
            assert!((pitch - 440.0).abs() < 3.0, "{pitch} Hz");
        }
    }
}

#[test]
fn depth_is_passed_over() {
    let packed = |ms: i64| {
        let file = header(ms).text("16UC1; compressedDepth png").bytes(b"no picture").message();
        let kind = ("sensor_msgs/msg/CompressedImage", "cdr");
        sent("/depth/image/compressedDepth", kind, ms, file)
    };
    let depth: Vec<_> = (0..10)
        .map(|n| n * 100)
        .flat_map(|ms| {
            [
                image("/depth/metres", "32FC1", ms, ms),
                image("/depth/mm", "16UC1", ms, ms),
                packed(ms),
            ]
        })
        .collect();
    let mut bag = depth.clone();
    for n in 0..10 {
        bag.push(image("/camera", "rgba8", n * 100, n * 100));
        // One that becomes depth in the middle.
        let encoding = if n < 4 { "mono16" } else { "16UC1" };
        bag.push(image("/changing", encoding, n * 100, n * 100));
    }
    let bag = written(&[&bag]);
    let recording = bag.open(&ReplayOptions::default());
    assert_eq!(recording.cameras(), ["/camera", "/changing"].map(SourceId::new));
    let items = played(&recording);
    assert_eq!((count(&items, "/camera"), count(&items, "/changing")), (10, 4));

    let only = written(&[&depth]);
    let error = Recording::open(&only.paths[0], &ReplayOptions::default()).unwrap_err();
    assert!(error.to_string().contains("/depth/metres (depth, 32FC1)"), "{error}");
}

#[test]
fn the_same_topic_in_two_bags_at_the_same_time_is_two_sources() {
    let camera = |from: i64| -> Vec<Sent> {
        (0..50).map(|n| from + n * 100).map(|ms| image("/camera", "rgba8", ms, ms)).collect()
    };
    let both = written(&[&camera(0), &camera(30)]);
    let named = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
    let remap = |pairs: &[(&str, &str)]| ReplayOptions {
        remap: pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect(),
        ..ReplayOptions::default()
    };
    let only = |names: &[&str]| ReplayOptions { topics: named(names), ..ReplayOptions::default() };
    let without = ReplayOptions { exclude_topics: named(&["2:/camera"]), ..only(&[]) };
    let gives = |options: &ReplayOptions, expected: &[(&str, usize)]| {
        let recording = both.open(options);
        let items = played(&recording);
        let cameras = recording.cameras().iter().map(SourceId::as_str);
        let found: Vec<_> = cameras.map(|name| (name, count(&items, name))).collect();
        assert_eq!(found, expected, "{options:?}");
    };
    gives(&ReplayOptions::default(), &[("/camera", 50), ("2:/camera", 50)]);
    let sides = remap(&[("1:/camera", "left"), ("2:/camera", "right")]);
    gives(&sides, &[("left", 50), ("right", 50)]);
    gives(&remap(&[("/camera", "left")]), &[("2:/camera", 50), ("left", 50)]);
    gives(&remap(&[("2:/camera", "/camera")]), &[("/camera", 100)]);
    gives(&only(&["/camera"]), &[("/camera", 50), ("2:/camera", 50)]);
    gives(&only(&["1:/camera"]), &[("/camera", 50)]);
    gives(&without, &[("/camera", 50)]);
    let renamed = both.open(&remap(&[("2:/camera", "right")])).selection();
    assert!(renamed.starts_with("topics=/camera,2:/camera:=right start="), "{renamed}");

    // Pieces of one recording are one camera.
    let pieces = written(&[&camera(0), &camera(5_000)]);
    let recording = pieces.open(&ReplayOptions::default());
    assert_eq!(recording.cameras(), [SourceId::new("/camera")]);
    assert_eq!(count(&played(&recording), "/camera"), 100);
    assert!(recording.selection().starts_with("topics=/camera start="));
}

#[test]
fn words_that_were_understood_late_still_begin_when_they_were_said() {
    let at = |ms: i64| Timestamp::from_nanos(T0 + ms * MS);
    let words = json!({"text": "good morning", "start": T0 + 2_000 * MS, "end": T0 + 3_000 * MS});
    let mut bag = run(0);
    let kind = ("robot.Words", "json");
    bag.push(sent("/asr", kind, 8_000, words.to_string().into_bytes()));
    let transcripts = vec!["/asr".to_owned()];
    let items =
        played(&written(&[&bag]).open(&ReplayOptions { transcripts, ..ReplayOptions::default() }));
    let told: Vec<&ToldWords> = items
        .iter()
        .filter_map(|item| if let Item::Words(told) = item { Some(told) } else { None })
        .collect();
    let [ToldWords { text, span: Span { start, end }, .. }] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert_eq!((text.as_str(), *start), ("good morning", at(2_000)));
    assert!((at(3_000)..at(8_000)).contains(end), "{end}");
}
