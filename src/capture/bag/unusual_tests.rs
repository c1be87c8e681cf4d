//! Bags that are unusual and whole: they are played to their end, and nothing of them is damage.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::PathBuf;

use serde_json::json;

use super::decode::cdr::Cdr;
use super::decode::definition::built_in::full_text;
use super::seeds::{Sent, mcap_of, mcap_with};
use crate::capture::{Recording, ReplayOptions};
use crate::config::TopicSound;
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
fn long_pieces_of_sound_lie_where_they_were_heard() {
    /// 16 kHz, 16 bit, mono.
    const MS_BYTES: usize = 32;
    let kind = ("audio_common_msgs/msg/AudioDataStamped", "cdr");
    for (piece_ms, behind) in [(800, 0), (1_500, 0), (3_000, 0), (8_000, 0), (3_000, 12_000)] {
        let mut bag = Vec::new();
        for ms in (0..24_000).step_by(100) {
            bag.push(image("/camera", "rgba8", ms, ms + behind + 20));
        }
        // Each is stamped when it began, and sent when it was whole.
        for ms in (0..24_000).step_by(usize::try_from(piece_ms).unwrap()) {
            let samples = vec![1; usize::try_from(piece_ms).unwrap() * MS_BYTES];
            let recorded = ms + piece_ms + behind + 30;
            bag.push(sent("/mic", kind, recorded, header(ms).bytes(&samples).message()));
        }
        bag.sort_by_key(|sent| sent.log_time);
        let items = played(&written(&[&bag]).open(&ReplayOptions::default()));
        // The clock is off by as much as the quickest topic says: the camera, by its own delay, too.
        let moved = if behind > 0 { behind + 20 } else { 0 };
        let mut expected = moved;
        for item in &items {
            let Item::Block(block) = item else { continue };
            assert_eq!(block.at.as_nanos(), T0 + expected * MS, "{piece_ms} ms, {behind} ms off");
            expected += i64::try_from(block.samples.len() / 16).unwrap();
        }
        assert_eq!(expected, moved + 24_000, "{piece_ms} ms, {behind} ms off");
        assert_eq!(count(&items, "/camera"), 240);
        assert!(items.iter().map(Item::at).is_sorted(), "{piece_ms} ms, {behind} ms off");
    }
}

#[test]
fn bare_sound_that_was_recorded_in_bursts_is_whole() {
    for every in [250, 500, 1_000] {
        let mut bag = run(0);
        for sent in bag.iter_mut().filter(|sent| sent.topic == "/mic") {
            let ms = i64::try_from(sent.log_time).unwrap() / MS - T0 / MS;
            // Whole after 100 ms, and recorded in its order with the others of its burst.
            let burst = (ms + 100 + every - 1) / every * every;
            sent.log_time = u64::try_from(T0 + burst * MS + ms * 10).unwrap();
        }
        bag.sort_by_key(|sent| sent.log_time);
        let items = played(&written(&[&bag]).open(&ReplayOptions::default()));
        let mut expected = 100;
        for item in &items {
            let Item::Block(block) = item else { continue };
            let off = block.at.as_nanos() - T0 - expected * MS;
            assert!(off.abs() < MS, "bursts of {every} ms: {off} ns off");
            expected += i64::try_from(block.samples.len() / 16).unwrap();
        }
        assert_eq!(expected, 10_100, "bursts of {every} ms");
        assert_eq!(count(&items, "/camera"), 100);
        assert!(items.iter().map(Item::at).is_sorted(), "bursts of {every} ms");
    }
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
fn sound_of_which_nothing_tells_the_coding_is_what_the_user_says() {
    let tone = |piece: i64, n: u32| {
        let secs = piece as f64 * 0.1 + f64::from(n) / 44_100.0;
        let sample = ((secs * 440.0 * std::f64::consts::TAU).sin() * 12_000.0) as i16;
        [sample, sample]
    };
    let kind = ("audio_common_msgs/msg/AudioData", "cdr");
    let bag: Vec<Sent> = (0..30)
        .map(|piece| {
            let samples = (0..4_410).flat_map(|n| tone(piece, n));
            let bytes: Vec<u8> = samples.flat_map(i16::to_le_bytes).collect();
            sent("/mic", kind, piece * 100, Cdr::ros2().bytes(&bytes).message())
        })
        .collect();
    let bag = written(&[&bag]);
    let said = |text: &str| {
        let sound = vec![TopicSound::parse(text).unwrap()];
        bag.open(&ReplayOptions { sound, ..ReplayOptions::default() })
    };
    let recording = said("/mic:=S16LE,44100,2");
    assert!(recording.selection().ends_with(" sound=/mic:=S16LE,44100,2"));
    let mut samples = Vec::new();
    for item in played(&recording) {
        let Item::Block(block) = item else { panic!("{item:?}") };
        samples.extend_from_slice(&block.samples);
    }
    assert!(samples.len().abs_diff(48_000) < 400, "{}", samples.len());
    let changes = |pair: &&[f32]| (pair[0] < 0.0) != (pair[1] < 0.0);
    let pitch = samples[16_000..32_000].windows(2).filter(changes).count() as f64 / 2.0;
    assert!((pitch - 440.0).abs() < 3.0, "{pitch} Hz");
    // Of another topic.
    assert!(said("/ears:=S16LE,44100,2").selection().ends_with(" sound=/ears:=S16LE,44100,2"));
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

    // Two cameras, whose second was recorded in pieces, before whose last the first was begun anew.
    let of = |from: i64, to: i64| -> Vec<Sent> {
        let end = u64::try_from(T0 + to * MS).unwrap();
        camera(from).into_iter().filter(|sent| sent.log_time <= end).collect()
    };
    let first = [camera(0), camera(5_000)].concat();
    let split = written(&[&first, &of(30, 3_030), &of(3_230, 6_230), &of(6_430, 9_930)]);
    let both = split.open(&ReplayOptions::default());
    assert_eq!(both.cameras(), ["/camera", "2:/camera"].map(SourceId::new));
    let items = played(&both);
    assert_eq!((count(&items, "/camera"), count(&items, "2:/camera")), (100, 31 + 31 + 36));
    assert!(both.selection().starts_with("topics=/camera,2:/camera start="));
    let apart = split.open(&remap(&[("2:/camera", "right"), ("4:/camera", "back")]));
    assert_eq!(apart.cameras(), ["/camera", "back", "right"].map(SourceId::new));
    let items = played(&apart);
    assert_eq!((count(&items, "right"), count(&items, "back")), (62, 36));
    // Three at a time are three, and each goes on.
    let pieces = [of(0, 4_000), of(30, 4_030), of(60, 4_060), of(4_500, 8_000), of(4_530, 8_030)];
    let pieces = written(&pieces.each_ref().map(Vec::as_slice));
    let three = pieces.open(&ReplayOptions::default());
    assert_eq!(three.cameras(), ["/camera", "2:/camera", "3:/camera"].map(SourceId::new));
    let items = played(&three);
    let counts = ["/camera", "2:/camera", "3:/camera"].map(|name| count(&items, name));
    assert_eq!(counts, [41 + 36, 41 + 36, 41]);

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

#[test]
fn a_summary_need_not_repeat_what_the_chunks_declare() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.mcap");
    for (schemas, channels) in [(true, false), (false, true), (false, false)] {
        let options = ::mcap::WriteOptions::new().repeat_schemas(schemas).repeat_channels(channels);
        std::fs::write(&path, mcap_with(options, &[run(0)])).unwrap();
        let items = played(&Recording::open(&path, &ReplayOptions::default()).unwrap());
        assert_eq!(count(&items, "/camera"), 100, "schemas {schemas}, channels {channels}");
    }
}

#[test]
fn a_chunk_without_messages_has_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.mcap");
    for summary in [true, false] {
        let options = ::mcap::WriteOptions::new().emit_summary_records(summary);
        let mut writer = options.create(Cursor::new(Vec::new())).unwrap();
        let Sent { topic, kind: (kind, encoding), log_time, data } =
            image("/camera", "rgba8", 0, 0);
        let text = full_text(kind).unwrap();
        let schema = writer.add_schema(kind, "ros2msg", text.as_bytes()).unwrap();
        let channel_id = writer.add_channel(schema, topic, encoding, &BTreeMap::new()).unwrap();
        // A recorder that writes what it has, every second, though nothing came yet.
        writer.flush().unwrap();
        for log_time in [log_time, log_time + 50_000_000] {
            let publish_time = log_time;
            let header =
                ::mcap::records::MessageHeader { channel_id, sequence: 0, log_time, publish_time };
            writer.write_to_known_channel(&header, &data).unwrap();
        }
        writer.finish().unwrap();
        std::fs::write(&path, writer.into_inner().into_inner()).unwrap();
        let recording = Recording::open(&path, &ReplayOptions::default()).unwrap();
        assert_eq!(recording.start().as_nanos(), T0, "summary {summary}");
        assert!(recording.duration_secs().is_some_and(|secs| secs < 0.1));
        assert_eq!(played(&recording).len(), 2);
    }
}
