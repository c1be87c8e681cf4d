//! Promises of replay, held against files and bags made for the purpose.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use gstreamer as gst;
use gstreamer::prelude::*;
use proptest::prelude::*;

use super::imaging::picture;
use super::*;
use crate::media::{Frame, Item};
use crate::time::Timestamp;

/// Runs a pipeline to its end.
pub(super) fn make(description: &str) {
    gst::init().unwrap();
    let pipeline = gst::parse::launch(description).unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    let kinds = [gst::MessageType::Eos, gst::MessageType::Error];
    let message =
        pipeline.bus().unwrap().timed_pop_filtered(gst::ClockTime::from_seconds(60), &kinds);
    pipeline.set_state(gst::State::Null).unwrap();
    assert!(matches!(message.unwrap().view(), gst::MessageView::Eos(_)), "{description}");
}

const VIDEO: &str = "videotestsrc num-buffers=75 pattern=ball ! video/x-raw,width=320,height=240,framerate=25/1 \
                     ! x264enc speed-preset=ultrafast ! h264parse ! m.";

fn audio(buffers: u32) -> String {
    format!(
        "audiotestsrc num-buffers={buffers} samplesperbuffer=1024 ! audio/x-raw,rate=16000,channels=1 \
         ! audioconvert ! avenc_aac ! aacparse ! m."
    )
}

pub(super) fn items(path: &Path) -> (Vec<Item>, Damage) {
    let mut playback = Recording::open(path, &ReplayOptions::default()).unwrap().play().unwrap();
    let mut items = Vec::new();
    while let Some(item) = playback.next().unwrap() {
        items.push(item);
    }
    (items, playback.damage().clone())
}

pub(super) fn frames(items: &[Item]) -> Vec<&Frame> {
    items.iter().filter_map(|i| if let Item::Frame(f) = i { Some(f) } else { None }).collect()
}

pub(super) fn sound_secs(items: &[Item]) -> f64 {
    let blocks = items.iter().filter_map(|i| if let Item::Block(b) = i { Some(b) } else { None });
    blocks.map(|block| block.samples.len() as f64 / 16e3).sum()
}

#[test]
fn files_with_one_stream_or_with_sound_that_ends_early_play_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    // The fast interleaving of mp4mux and the strict one of matroskamux.
    for (mux, name) in [("mp4mux", "mp4"), ("matroskamux", "mkv")] {
        let path = |what: &str| folder.path().join(format!("{what}.{name}"));
        let write = |path: &PathBuf, streams: &str| {
            make(&format!("{mux} name=m ! filesink location={} {streams}", path.display()));
        };
        let video_only = path("video");
        write(&video_only, VIDEO);
        let (played, damage) = items(&video_only);
        assert_eq!((frames(&played).len(), sound_secs(&played)), (75, 0.0));
        assert!(damage.is_empty(), "{damage}");
        assert_eq!(frames(&played)[0].at.as_nanos() % 1_000_000_000, 0, "begins at the start");

        let audio_only = path("audio");
        write(&audio_only, &audio(47));
        let (played, damage) = items(&audio_only);
        assert!(frames(&played).is_empty());
        assert!((sound_secs(&played) - 3.0).abs() < 0.2, "{}", sound_secs(&played));
        assert!(damage.is_empty(), "{damage}");

        let early = path("early");
        write(&early, &format!("{VIDEO} {}", audio(10)));
        let (played, _) = items(&early);
        assert_eq!(frames(&played).len(), 75);
        assert!((sound_secs(&played) - 0.64).abs() < 0.2, "{}", sound_secs(&played));
    }
}

#[test]
fn files_without_a_start_begin_in_1970_and_large_pictures_are_scaled_down() {
    let folder = tempfile::tempdir().unwrap();
    for ((width, height), expected) in
        [((1920, 1080), (1280, 720)), ((1080, 1920), (405, 720)), ((641, 361), (641, 361))]
    {
        let path = folder.path().join("large.mkv");
        make(&format!(
            "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width={width},height={height},framerate=10/1 \
             ! jpegenc ! matroskamux ! filesink location={}",
            path.display()
        ));
        let recording = Recording::open(&path, &ReplayOptions::default()).unwrap();
        // Matroska stamps its files; a start that was given counts more.
        let start = Timestamp::from_nanos(5_000_000_000);
        let options = ReplayOptions { start_time: Some(start), ..ReplayOptions::default() };
        assert_eq!(Recording::open(&path, &options).unwrap().start(), start);
        assert_eq!(recording.start_is_guess(), recording.start() == Timestamp::EPOCH);
        let (played, _) = items(&path);
        let first = frames(&played)[0];
        assert_eq!((first.width, first.height), expected);
        let rgb = picture::to_rgb(first).unwrap();
        // SMPTE bars begin with grey and end with blue.
        let blue = rgb.get_pixel(rgb.width() - 3, 3).0;
        assert!(blue[2] > 150 && blue[0] < 60, "{blue:?}");
    }
}

#[test]
fn a_video_cut_in_the_middle_gives_its_beginning_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.mp4");
    make(&format!("mp4mux faststart=true name=m ! filesink location={} {VIDEO}", path.display()));
    let bytes = std::fs::read(&path).unwrap();
    let cut = folder.path().join("cut.mp4");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let (played, damage) = items(&cut);
    let count = frames(&played).len();
    assert!((10..75).contains(&count), "{count}");
    assert!(!damage.is_empty());
    // Without its index at the front nothing of it can be found.
    let path = folder.path().join("tail.mp4");
    make(&format!("mp4mux name=m ! filesink location={} {VIDEO}", path.display()));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = Recording::open(&path, &ReplayOptions::default()).unwrap_err();
    assert!(error.to_string().contains("tail.mp4"), "{error}");
}

/// `uint8[] data` in little-endian CDR.
fn audio_message(samples: &[i16]) -> Vec<u8> {
    let mut message = vec![0, 1, 0, 0];
    message.extend((samples.len() as u32 * 2).to_le_bytes());
    message.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    message
}

/// Ten seconds of sound in 100 ms messages, recorded in `order`.
fn bag(options: mcap::WriteOptions, order: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut writer = options.create(Cursor::new(Vec::new())).unwrap();
    let schema =
        writer.add_schema("audio_common_msgs/msg/AudioData", "ros2msg", b"uint8[] data").unwrap();
    let channel = writer.add_channel(schema, "/mic", "cdr", &BTreeMap::new()).unwrap();
    for n in order {
        let header = mcap::records::MessageHeader {
            channel_id: channel,
            sequence: 0,
            log_time: 1_000_000_000_000 + n * 100_000_000,
            publish_time: 0,
        };
        let samples: Vec<i16> = (0..1600).map(|k| (n * 100 + k / 16) as i16).collect();
        writer.write_to_known_channel(&header, &audio_message(&samples)).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

fn played_bag(bytes: &[u8]) -> (Vec<(i64, Vec<f32>)>, Damage) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.mcap");
    std::fs::write(&path, bytes).unwrap();
    let (items, damage) = items(&path);
    let blocks = items.into_iter().map(|item| match item {
        Item::Block(block) => (block.at.as_nanos(), block.samples.to_vec()),
        other => panic!("{other:?}"),
    });
    (blocks.collect(), damage)
}

#[test]
fn every_way_of_writing_a_bag_gives_the_same_sound() {
    let options = || mcap::WriteOptions::new().profile("ros2").chunk_size(Some(10_000));
    let whole = played_bag(&bag(options(), 0..100));
    assert_eq!(whole.0.len(), 100);
    assert_eq!(whole.0[0].0, 1_000_000_000_000);
    assert!(whole.1.is_empty(), "{}", whole.1);
    let swapped = (0..96).map(|n| n ^ 7).chain(96..100);
    for (what, bytes) in [
        ("lz4", bag(options().compression(Some(mcap::Compression::Lz4)), 0..100)),
        ("plain", bag(options().compression(None), 0..100)),
        ("no chunks", bag(options().use_chunks(false), 0..100)),
        (
            "no summary",
            bag(
                options()
                    .emit_summary_records(false)
                    .emit_summary_offsets(false)
                    .emit_message_indexes(false),
                0..100,
            ),
        ),
        ("out of order", bag(options(), swapped)),
        ("chunks out of order", bag(options(), (50..100).chain(0..50))),
    ] {
        assert_eq!(played_bag(&bytes), whole, "{what}");
    }
}

#[test]
fn a_pause_in_a_bag_splits_its_sound() {
    let order = (0..30).chain(60..100);
    let (blocks, damage) = played_bag(&bag(mcap::WriteOptions::new(), order));
    assert_eq!(blocks.len(), 70);
    assert_eq!(blocks[30].0, 1_006_000_000_000);
    assert!(damage.is_empty(), "{damage}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Whatever bytes are changed or cut off: no panic, no hang, no more sound than there was.
    #[test]
    fn broken_bags_never_panic(
        changes in proptest::collection::vec((0_usize..60_000, any::<u8>()), 0..8),
        cut in 0_usize..60_000,
        compressed: bool,
    ) {
        let compression = compressed.then_some(mcap::Compression::Zstd);
        let options = mcap::WriteOptions::new().chunk_size(Some(10_000)).compression(compression);
        let mut bytes = bag(options, 0..15);
        let length = bytes.len();
        for (at, value) in changes {
            bytes[at % length] = value;
        }
        bytes.truncate(length - cut % length);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bag.mcap");
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(recording) = Recording::open(&path, &ReplayOptions::default()) {
            let mut playback = recording.play().unwrap();
            let mut samples = 0;
            while let Ok(Some(item)) = playback.next() {
                if let Item::Block(block) = item {
                    samples += block.samples.len();
                }
            }
            prop_assert!(samples <= 15 * 1600);
        }
    }
}
