//! Bags of kinds that users of other recorders and players reported as trouble; each is made here.

use std::path::Path;

use gstreamer as gst;
use gstreamer::prelude::*;

use super::decode::cdr::Cdr;
use super::seeds::{Sent, mcap_of};
use crate::capture::{Cause, Damage, Recording, ReplayOptions};
use crate::media::{Block, Item};
use crate::time::Timestamp;

const MS: u64 = 1_000_000;
/// 2026-03-04T08:15:00Z.
pub(super) const T0: u64 = 1_772_612_100_000 * MS;

pub(super) fn header(nanos: u64) -> Cdr {
    let [secs, rest] = [nanos / 1_000_000_000, nanos % 1_000_000_000];
    Cdr::ros2().u32(u32::try_from(secs).unwrap()).u32(u32::try_from(rest).unwrap()).text("frame")
}

fn sent(topic: &'static str, schema: &'static str, nanos: u64, data: Vec<u8>) -> Sent {
    Sent { topic, kind: (schema, "cdr"), log_time: nanos, data }
}

pub(super) fn played_with(bytes: &[u8], options: &ReplayOptions) -> (Vec<Item>, Damage) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.mcap");
    std::fs::write(&path, bytes).unwrap();
    let mut playback = Recording::open(&path, options).unwrap().play().unwrap();
    let mut items = Vec::new();
    while let Some(item) = playback.next().unwrap() {
        items.push(item);
    }
    (items, playback.damage().clone())
}

pub(super) fn played(bag: &[Sent]) -> (Vec<Item>, Damage) {
    played_with(&mcap_of(bag), &ReplayOptions::default())
}

fn frames(items: &[Item]) -> usize {
    items.iter().filter(|item| matches!(item, Item::Frame(_))).count()
}

/// All samples of a microphone, one behind the other.
fn sound(items: &[Item]) -> Vec<f32> {
    let blocks = items.iter().filter_map(|item| match item {
        Item::Block(block) => Some(block.samples.to_vec()),
        _ => None,
    });
    blocks.flatten().collect()
}

/// Packets of a stream of pictures out of that encoder.
fn packets(encoder: &str, folder: &Path) -> Vec<Vec<u8>> {
    gst::init().unwrap();
    let text = format!(
        "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,width=160,height=120,framerate=10/1 ! {encoder} \
         ! multifilesink location={}/%05d",
        folder.display()
    );
    let pipeline = gst::parse::launch(&text).unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    let kinds = [gst::MessageType::Eos, gst::MessageType::Error];
    let bus = pipeline.bus().unwrap();
    let end = bus.timed_pop_filtered(gst::ClockTime::from_seconds(60), &kinds).unwrap();
    assert!(matches!(end.view(), gst::MessageView::Eos(_)), "{end:?}");
    pipeline.set_state(gst::State::Null).unwrap();
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Packets one by one in messages of a type, 100 ms apart.
fn streamed(
    schema: &'static str,
    packets: &[Vec<u8>],
    message: impl Fn(Cdr, &[u8]) -> Cdr,
) -> Vec<Sent> {
    let mut nanos = T0;
    let mut bag = Vec::new();
    for packet in packets {
        bag.push(sent("/camera", schema, nanos, message(header(nanos), packet).message()));
        nanos += 100 * MS;
    }
    bag
}

#[test]
fn packets_of_a_stream_are_played_whatever_message_they_come_in() {
    let folders: [_; 2] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let x264 = "x264enc key-int-max=10 tune=zerolatency speed-preset=ultrafast \
                ! video/x-h264,stream-format=byte-stream,alignment=au";
    let h264 = packets(x264, folders[0].path());
    let jpeg = packets("jpegenc", folders[1].path());
    let image = "sensor_msgs/msg/CompressedImage";
    for format in ["h264", "H264; bgr8"] {
        let bag = streamed(image, &h264, |cdr, packet| cdr.text(format).bytes(packet));
        let (items, damage) = played(&bag);
        assert_eq!((frames(&items), damage.total()), (20, 0), "{format}: {damage}");
    }
    let ffmpeg = "ffmpeg_image_transport_msgs/msg/FFMPEGPacket";
    let all =
        [("h264", &h264), ("libx264", &h264), ("h264;yuv420p;bgr8;bgr8", &h264), ("mjpeg", &jpeg)];
    for (encoding, packets) in all {
        let bag = streamed(ffmpeg, packets, |cdr, packet| {
            cdr.u32(160).u32(120).text(encoding).f64(0.0).u8(0).u8(0).bytes(packet)
        });
        let (items, damage) = played(&bag);
        assert_eq!((frames(&items), damage.total()), (20, 0), "{encoding}: {damage}");
    }
    // What is left out at the beginning is decoded all the same: the rest builds upon it.
    let bag = streamed(image, &h264, |cdr, packet| cdr.text("h264").bytes(packet));
    let options = ReplayOptions { start_offset_secs: 0.5, ..ReplayOptions::default() };
    let (items, damage) = played_with(&mcap_of(&bag), &options);
    assert_eq!((frames(&items), damage.total()), (15, 0), "{damage}");
    // A codec that is none is named.
    let bag = streamed(ffmpeg, &h264, |cdr, packet| {
        cdr.u32(160).u32(120).text("snow").f64(0.0).u8(0).u8(0).bytes(packet)
    });
    let (items, damage) = played(&bag);
    assert!(items.is_empty() && damage.to_string().contains("\"snow\""), "{damage}");
}

#[test]
fn samples_in_arrays_of_numbers_are_heard_in_every_form() {
    let wave: Vec<f32> = (0..1600_u16).map(|n| (f32::from(n) * 0.2).sin() * 0.5).collect();
    let empty = |cdr: Cdr, arrays: usize| (0..arrays).fold(cdr, |cdr, _| cdr.u32(0));
    let floats = |cdr: Cdr| wave.iter().fold(cdr.u32(1600), |cdr, value| cdr.u32(value.to_bits()));
    let words = |cdr: Cdr| {
        let word = |value: &f32| ((*value * 2_147_483_647.0) as i32).cast_unsigned();
        wave.iter().map(word).fold(cdr.u32(1600), Cdr::u32)
    };
    let shorts = |cdr: Cdr| {
        let halves = wave.iter().flat_map(|value| ((*value * 32_767.0) as i16).to_le_bytes());
        // `int16[]` lies as densely as bytes do.
        halves.fold(cdr.u32(1600), Cdr::u8)
    };
    let signed: Vec<u8> =
        wave.iter().map(|value| ((*value * 127.0) as i8).cast_unsigned()).collect();
    let unsigned: Vec<u8> = signed.iter().map(|byte| byte ^ 0x80).collect();
    type Form<'f> = (&'f str, Box<dyn Fn(Cdr) -> Cdr + 'f>);
    let forms: [Form<'_>; 5] = [
        ("float32", Box::new(|cdr| empty(floats(cdr), 4))),
        ("int32", Box::new(|cdr| empty(words(empty(cdr, 1)), 3))),
        ("int16", Box::new(|cdr| empty(shorts(empty(cdr, 2)), 2))),
        ("int8", Box::new(|cdr| empty(empty(cdr, 3).bytes(&signed), 1))),
        ("uint8", Box::new(|cdr| empty(cdr, 4).bytes(&unsigned))),
    ];
    for (form, array) in forms {
        let mut bag = Vec::new();
        for n in 0..20_u64 {
            let nanos = T0 + n * 100 * MS;
            let data = array(header(nanos)).u32(8).u32(1).u32(16_000).u32(1600).message();
            bag.push(sent("/audio", "audio_common_msgs/msg/AudioStamped", nanos, data));
        }
        let (items, damage) = played(&bag);
        let heard = sound(&items);
        assert_eq!((heard.len(), damage.total()), (32_000, 0), "{form}: {damage}");
        let off = heard.iter().zip(wave.iter().cycle()).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f32::max) < 0.02, "{form}");
    }
}

#[test]
fn topics_of_types_that_nobody_plays_are_named() {
    let data = header(T0).text("rgb8; jpeg compressed bgr8").message();
    let theora = sent("/cam/theora", "theora_image_transport/msg/Packet", T0, data);
    let sound = Cdr::ros2().bytes(&[0; 3_200]).message();
    let audio = sent("/audio", "audio_common_msgs/msg/AudioData", T0, sound);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.mcap");
    std::fs::write(&path, mcap_of(&[theora.clone(), audio])).unwrap();
    let bag = super::Bag::open(&path).unwrap().unwrap();
    let named = "/cam/theora (theora_image_transport/msg/Packet)";
    assert_eq!(bag.not_played().as_deref(), Some(named));
    std::fs::write(&path, mcap_of(&[theora])).unwrap();
    let refused = Recording::open(&path, &ReplayOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("/cam/theora (theora_image_transport/msg/Packet"), "{refused}");
}

/// Sound in pieces of 100 ms, each louder than the one before, recorded at these times (tenths of a second).
fn pieces(tenths: impl IntoIterator<Item = u64>) -> Vec<Sent> {
    let piece = |(number, tenth): (usize, u64)| {
        let level = i16::try_from(100 + number * 10).unwrap().to_le_bytes();
        let data = Cdr::ros2().bytes(&level.repeat(1_600)).message();
        sent("/audio", "audio_common_msgs/msg/AudioData", tenth * 100 * MS, data)
    };
    tenths.into_iter().enumerate().map(piece).collect()
}

/// Pictures with stamps of the same clock, half a second apart.
fn pictures(tenths: impl IntoIterator<Item = u64>) -> Vec<Sent> {
    let picture = |tenth: u64| {
        let nanos = tenth * 100 * MS;
        let data = header(nanos).u32(1).u32(2).text("rgba8").u8(0).u32(8).bytes(&[7; 8]).message();
        sent("/camera", "sensor_msgs/msg/Image", nanos + 20 * MS, data)
    };
    tenths.into_iter().filter(|tenth| tenth % 5 == 0).map(picture).collect()
}

/// Both, as a recorder writes them: by turns.
fn recorded(stretches: &[std::ops::Range<u64>]) -> Vec<Sent> {
    let mut all: Vec<(usize, Sent)> = Vec::new();
    for (number, stretch) in stretches.iter().enumerate() {
        all.extend(pictures(stretch.clone()).into_iter().map(|one| (number, one)));
    }
    let sound = pieces(stretches.iter().flat_map(Clone::clone));
    let mut number = 0;
    let mut left = stretches.first().map_or(0, |stretch| stretch.end - stretch.start);
    for one in sound {
        if left == 0 {
            number += 1;
            left = stretches[number].end - stretches[number].start;
        }
        left -= 1;
        all.push((number, one));
    }
    all.sort_by_key(|(number, one)| (*number, one.log_time));
    all.into_iter().map(|(_, one)| one).collect()
}

/// Levels of the sound in the order in which it is heard, one per piece, and whether times and pictures are in order.
fn levels(items: &[Item]) -> Vec<i64> {
    assert!(items.windows(2).all(|pair| pair[0].at() <= pair[1].at()));
    sound(items).chunks(1_600).map(|piece| (piece[800] * 32_768.0).round() as i64).collect()
}

#[test]
fn a_clock_that_is_set_back_makes_one_seam_in_every_format() {
    let t0 = T0 / (100 * MS);
    // Six seconds; then the clock goes back by two, and six more.
    let bag = recorded(&[t0..t0 + 60, t0 + 40..t0 + 100]);
    let (items, damage) = played(&bag);
    let expected: Vec<i64> = (0..120).map(|number| 100 + number * 10).collect();
    assert_eq!(levels(&items), expected);
    assert_eq!(
        (frames(&items), damage.count(Cause::ClockSet), damage.total()),
        (24, 1, 1),
        "{damage}"
    );
    // What came after the clock was set counts, and nothing of it is moved.
    let last = items.iter().map(Item::at).max().unwrap().as_nanos();
    assert!(last.abs_diff((t0 as i64 + 100) * 100_000_000) < 200_000_000);
    // In small chunks, each with a part of it.
    let chunks: Vec<Vec<Sent>> = bag.chunks(7).map(<[Sent]>::to_vec).collect();
    let chunked = super::seeds::mcap_with(mcap::WriteOptions::new(), &chunks);
    let (items, damage) = played_with(&chunked, &ReplayOptions::default());
    assert_eq!((levels(&items), damage.total()), (expected, 1), "{damage}");
}

#[test]
fn a_clock_that_is_set_by_decades_loses_nothing_on_either_side() {
    let t0 = T0 / (100 * MS);
    for first in [0..60, 864_000..864_060] {
        let (items, damage) = played(&recorded(&[first, t0..t0 + 60]));
        let expected: Vec<i64> = (0..120).map(|number| 100 + number * 10).collect();
        assert_eq!(levels(&items), expected);
        assert_eq!((damage.count(Cause::ClockSet), damage.total()), (1, 1), "{damage}");
        assert_eq!(frames(&items), 24);
    }
}

#[test]
fn a_recorder_whose_clock_is_set_begins_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let source = crate::ids::SourceId::new("ears");
    let mut writer = super::BagWriter::create(&path, super::SplitLimits::default()).unwrap();
    let t0 = Timestamp::from_nanos(i64::try_from(T0).unwrap());
    // From 1970 to now, an hour back, and on.
    for begin in [Timestamp::EPOCH, t0, t0.plus_secs(-3_600.0)] {
        for number in 0..20 {
            let at = begin.plus_secs(f64::from(number) * 0.1);
            let block = Block { source: source.clone(), at, samples: vec![0.1; 1_600].into() };
            writer.item(&Item::Block(block)).unwrap();
        }
    }
    let files = writer.finish().unwrap().files;
    let names: Vec<_> =
        files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["run.mcap", "run_1.mcap", "run_2.mcap"]);
    for (file, begin) in files.iter().zip([Timestamp::EPOCH, t0, t0.plus_secs(-3_600.0)]) {
        let recording = Recording::open(file, &ReplayOptions::default()).unwrap();
        assert_eq!(recording.start(), begin);
        assert!(recording.duration_secs().is_some_and(|secs| (secs - 1.9).abs() < 1e-6));
    }
}

#[test]
fn what_several_files_hold_is_played_once() {
    let folder = tempfile::tempdir().unwrap();
    let t0 = T0 / (100 * MS);
    let all = recorded(std::slice::from_ref(&(t0..t0 + 60)));
    // The second file begins before the first one ends.
    for (number, part) in [&all[..50], &all[30..]].into_iter().enumerate() {
        std::fs::write(folder.path().join(format!("run_{number}.mcap")), mcap_of(part)).unwrap();
    }
    let mut playback =
        Recording::open(folder.path(), &ReplayOptions::default()).unwrap().play().unwrap();
    let mut items = Vec::new();
    while let Some(item) = playback.next().unwrap() {
        items.push(item);
    }
    // (A folder without metadata.yaml is told of.)
    assert_eq!(playback.damage().total(), 1, "{}", playback.damage());
    assert_eq!(levels(&items), (0..60).map(|number| 100 + number * 10).collect::<Vec<i64>>());
    assert_eq!(frames(&items), 12);
}
