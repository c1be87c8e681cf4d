//! Every kind of message that is played, in the encodings that it comes in, against what it says.

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app::AppSink;
use serde_json::{Value as Json, json};

use super::Connection;
use super::decode::cdr::Cdr;
use super::decode::definition;
use super::decode::message::{Decoded, SoundCoding, VideoCodec};
use super::seeds::{Sent, mcap_of, placeless_pose};
use crate::capture::audio::sound::{Sample, SoundFormat};
use crate::capture::imaging::picture::to_rgb;
use crate::capture::{Recording, ReplayOptions};
use crate::ids::SourceId;
use crate::media::{Frame, Item, Picture};
use crate::time::Timestamp;

/// 2026-03-04T08:15:00Z.
const T0: u64 = 1_772_612_100_000_000_000;
/// 2026-03-04T08:15:00.000000005Z.
const STAMP: i64 = 1_772_612_100_000_000_005;
/// The smallest PNG: one grey pixel.
const PNG: [u8; 67] = *b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00\x3a\x7e\x9b\x55\x00\x00\x00\x0a\x49\x44\x41\x54\x78\x9c\x63\x60\x00\x00\x00\x02\x00\x01\x48\xaf\xa4\x71\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";

/// One message in a bag's terms.
fn decoded(schema: &str, encoding: &str, data: &[u8]) -> String {
    let (connection, flaw) = Connection::new("t", schema, encoding, None);
    assert_eq!(flaw, None, "{schema}");
    match connection.decode(data).unwrap_or_else(|| panic!("{schema} is not played")) {
        Ok(decoded) => told(&decoded),
        Err(refused) => panic!("{schema}, {encoding}: {refused:?}"),
    }
}

/// The same for every encoding.
fn told(decoded: &Decoded<'_>) -> String {
    let at = |stamp: &Option<Timestamp>| stamp.map_or(0, Timestamp::as_nanos);
    match decoded {
        Decoded::Picture { stamp, width, height, picture } => {
            let pixels = match picture {
                Picture::Encoded(bytes) => format!("{} bytes", bytes.len()),
                _ => {
                    let (source, picture) = (SourceId::new("c"), picture.clone());
                    let (at, number, width, height) = (Timestamp::EPOCH, 0, *width, *height);
                    let frame = Frame { source, at, number, width, height, picture };
                    format!("{:?}", to_rgb(&frame).unwrap().into_raw())
                }
            };
            format!("{} picture {width}x{height} {pixels}", at(stamp))
        }
        Decoded::Video { stamp, codec, bytes } => format!("{} {codec:?} {bytes:?}", at(stamp)),
        Decoded::Sound { stamp, coding, bytes } => format!("{} {coding:?} {bytes:?}", at(stamp)),
        Decoded::Pose { stamp, pose } => {
            format!("{} pose {} {} {:.3} {}", at(stamp), pose.x, pose.y, pose.yaw, pose.frame)
        }
        Decoded::Transforms(all) => {
            let one = |t: &super::decode::transform_tree::Transform| {
                format!(
                    "{} {} in {} {:?} {:?}",
                    at(&t.stamp),
                    t.child,
                    t.parent,
                    t.translation,
                    t.rotation
                )
            };
            all.iter().map(one).collect::<Vec<_>>().join("; ")
        }
        other => format!("{other:?}"),
    }
}

/// The header of both, ROS 2's and ROS 1's, before the same fields.
fn both(schema: &str, frame: &str, fields: impl Fn(Cdr) -> Cdr) -> [String; 2] {
    let ros2 = fields(Cdr::ros2().u32(1_772_612_100).u32(5).text(frame)).message();
    let ros1 = fields(Cdr::ros1().u32(7).u32(1_772_612_100).u32(5).text(frame)).message();
    let old = definition::short_name(schema);
    [decoded(schema, "cdr", &ros2), decoded(&old, "ros1", &ros1)]
}

fn foxglove(schema: &str, mut fields: Json) -> String {
    fields["timestamp"] = json!({"sec": 1_772_612_100, "nsec": 5});
    decoded(schema, "json", fields.to_string().as_bytes())
}

/// A ROS 2 message of Foxglove's as far as its time.
fn stamped() -> Cdr {
    Cdr::ros2().u32(1_772_612_100).u32(5)
}

fn floats(cdr: Cdr, values: &[f64]) -> Cdr {
    values.iter().fold(cdr, |cdr, value| cdr.f64(*value))
}

#[test]
fn pictures_say_the_same_in_every_encoding() {
    let pixels = format!("{STAMP} picture 2x1 [3, 2, 1, 6, 5, 4]");
    let image = |cdr: Cdr| cdr.u32(1).u32(2).text("bgr8").u8(0).u32(6).bytes(&[1, 2, 3, 4, 5, 6]);
    assert_eq!(both("sensor_msgs/msg/Image", "c", image), [pixels.clone(), pixels.clone()]);
    let raw = json!({"frame_id": "c", "width": 2, "height": 1, "encoding": "bgr8", "step": 6, "data": "AQIDBAUG"});
    assert_eq!(foxglove("foxglove.RawImage", raw), pixels);
    let raw = stamped().text("c").u32(2).u32(1).text("bgr8").u32(6).bytes(&[1, 2, 3, 4, 5, 6]);
    assert_eq!(decoded("foxglove_msgs/msg/RawImage", "cdr", &raw.message()), pixels);

    let packed = format!("{STAMP} picture 1x1 67 bytes");
    let file = |cdr: Cdr| cdr.text("png").bytes(&PNG);
    assert_eq!(
        both("sensor_msgs/msg/CompressedImage", "c", file),
        [packed.clone(), packed.clone()]
    );
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, PNG);
    let file = json!({"frame_id": "c", "format": "png", "data": data});
    assert_eq!(foxglove("foxglove.CompressedImage", file), packed);
    let file = stamped().text("c").bytes(&PNG).text("png").message();
    assert_eq!(decoded("foxglove_msgs/msg/CompressedImage", "cdr", &file), packed);

    for (name, codec) in [
        ("h264", VideoCodec::H264),
        ("h265", VideoCodec::H265),
        ("vp9", VideoCodec::Vp9),
        ("av1", VideoCodec::Av1),
    ] {
        let expected = format!("{STAMP} {codec:?} [0, 0, 1]");
        let video = json!({"frame_id": "c", "format": name, "data": "AAAB"});
        assert_eq!(foxglove("foxglove.CompressedVideo", video), expected);
        let ros2 = stamped().text("c").bytes(&[0, 0, 1]).text(name);
        let schema = "foxglove_msgs/msg/CompressedVideo";
        assert_eq!(decoded(schema, "cdr", &ros2.message()), expected);
    }
}

#[test]
fn sound_says_the_same_in_every_encoding() {
    let bare = "0 None [1, 2, 3, 4]".to_owned();
    let data = |cdr: Cdr| cdr.bytes(&[1, 2, 3, 4]);
    let schema = "audio_common_msgs/msg/AudioData";
    assert_eq!(decoded(schema, "cdr", &data(Cdr::ros2()).message()), bare);
    let old = "audio_common_msgs/AudioData";
    assert_eq!(decoded(old, "ros1", &data(Cdr::ros1()).message()), bare);
    let at_time = format!("{STAMP} None [1, 2, 3, 4]");
    let schema = "audio_common_msgs/msg/AudioDataStamped";
    assert_eq!(both(schema, "m", data), [at_time.clone(), at_time]);

    let format = SoundFormat { rate: 48_000, channels: 2, sample: Sample::S16Le };
    let pcm = Some(SoundCoding::Pcm(format.clone()));
    let raw = json!({"data": "AQIDBA==", "format": "pcm-s16", "sample_rate": 48_000, "number_of_channels": 2});
    let expected = format!("{STAMP} {pcm:?} [1, 2, 3, 4]");
    assert_eq!(foxglove("foxglove.RawAudio", raw), expected);
    let ros2 = stamped().bytes(&[1, 2, 3, 4]).text("pcm-s16").u32(48_000).u32(2).message();
    assert_eq!(decoded("foxglove_msgs/msg/RawAudio", "cdr", &ros2), expected);
    // d5, 55, 2a, 00 of the telephone are given on as 16 bits.
    let telephone = SoundFormat { rate: 8_000, channels: 1, sample: Sample::S16Le };
    for (law, samples) in
        [("g711-alaw", [8_i16, -8, -32_256, -5_504]), ("g711-ulaw", [716, -716, -5_372, -32_124])]
    {
        let raw = json!({"data": "1VUqAA==", "format": law, "sample_rate": 8_000, "number_of_channels": 1});
        let bytes: Vec<u8> = samples.into_iter().flat_map(i16::to_le_bytes).collect();
        let coding = Some(SoundCoding::Pcm(telephone.clone()));
        let expected = format!("{STAMP} {coding:?} {bytes:?}");
        assert_eq!(foxglove("foxglove.RawAudio", raw), expected);
    }
    for (format, coding) in
        [("opus", SoundCoding::Opus(2)), ("mp3", SoundCoding::Mp3), ("mp4a.40.2", SoundCoding::Aac)]
    {
        let packed = json!({"data": "AQIDBA==", "format": format, "sample_rate": 48_000, "number_of_channels": 2});
        // Its definition in ROS has no channels: Opus tells them itself, and one is as good as two to us.
        let in_ros = if format == "opus" { SoundCoding::Opus(1) } else { coding.clone() };
        let expected = format!("{STAMP} {:?} [1, 2, 3, 4]", Some(coding));
        assert_eq!(foxglove("foxglove.CompressedAudio", packed), expected);
        let ros2 = stamped().text(format).bytes(&[1, 2, 3, 4]).message();
        let expected = format!("{STAMP} {:?} [1, 2, 3, 4]", Some(in_ros));
        assert_eq!(decoded("foxglove_msgs/msg/CompressedAudio", "cdr", &ros2), expected);
    }
    for (coding, expected) in [
        ("wave", format!("SoundInfo({:?})", SoundCoding::Pcm(format))),
        ("mp3", format!("SoundInfo({:?})", SoundCoding::Mp3)),
    ] {
        let info = |cdr: Cdr| cdr.u8(2).u32(48_000).text("S16LE").u32(0).text(coding).message();
        let schema = "audio_common_msgs/msg/AudioInfo";
        assert_eq!(decoded(schema, "cdr", &info(Cdr::ros2())), expected);
        assert_eq!(decoded("audio_common_msgs/AudioInfo", "ros1", &info(Cdr::ros1())), expected);
    }
}

#[test]
fn poses_say_the_same_in_every_encoding() {
    // Half a turn to the left.
    let (x, y, z, w) = (0.0, 0.0, 1.0, 0.0);
    let place = [1.5, -2.0, 0.0, x, y, z, w];
    let expected = format!("{STAMP} pose 1.5 -2 3.142 map");
    let all = [expected.clone(), expected.clone()];
    let plain = |cdr: Cdr| floats(cdr, &place);
    assert_eq!(both("geometry_msgs/msg/PoseStamped", "map", plain), all);
    let uncertain = |cdr: Cdr| floats(floats(cdr, &place), &[0.1; 36]);
    assert_eq!(both("geometry_msgs/msg/PoseWithCovarianceStamped", "/map", uncertain), all);
    let odometry = |cdr: Cdr| {
        let cdr = floats(floats(cdr.text("base_link"), &place), &[0.1; 36]);
        floats(floats(cdr, &[0.5; 6]), &[0.2; 36])
    };
    assert_eq!(both("nav_msgs/msg/Odometry", "map", odometry), all);
    let told = json!({
        "frame_id": "map",
        "pose": {"position": {"x": 1.5, "y": -2, "z": 0}, "orientation": {"x": x, "y": y, "z": z, "w": w}},
    });
    assert_eq!(foxglove("foxglove.PoseInFrame", told), expected);
    let ros2 = floats(stamped().text("map"), &place).message();
    assert_eq!(decoded("foxglove_msgs/msg/PoseInFrame", "cdr", &ros2), expected);

    let expected = format!("{STAMP} base_link in map [1.5, -2.0, 0.0] [0.0, 0.0, 1.0, 0.0]");
    let ros2 = Cdr::ros2().u32(1).u32(1_772_612_100).u32(5).text("map").text("base_link");
    let tf2 = floats(ros2, &place).message();
    assert_eq!(decoded("tf2_msgs/msg/TFMessage", "cdr", &tf2), expected);
    let ros1 = Cdr::ros1().u32(1).u32(7).u32(1_772_612_100).u32(5).text("/map").text("/base_link");
    let tf1 = floats(ros1, &place).message();
    assert_eq!(decoded("tf2_msgs/TFMessage", "ros1", &tf1), expected);
    assert_eq!(decoded("tf/tfMessage", "ros1", &tf1), expected);
    let one = json!({
        "parent_frame_id": "map", "child_frame_id": "base_link",
        "translation": {"x": 1.5, "y": -2, "z": 0}, "rotation": {"x": x, "y": y, "z": z, "w": w},
    });
    assert_eq!(foxglove("foxglove.FrameTransform", one.clone()), expected);
    let mut stamped = one;
    stamped["timestamp"] = json!({"sec": 1_772_612_100, "nsec": 5});
    assert_eq!(foxglove("foxglove.FrameTransforms", json!({"transforms": [stamped]})), expected);
    let names = |cdr: Cdr| {
        let told = cdr.u32(1_772_612_100).u32(5).text("map").text("base_link");
        floats(told, &place)
    };
    let ros2 = names(Cdr::ros2()).message();
    assert_eq!(decoded("foxglove_msgs/msg/FrameTransform", "cdr", &ros2), expected);
    let ros2 = names(Cdr::ros2().u32(1)).message();
    assert_eq!(decoded("foxglove_msgs/msg/FrameTransforms", "cdr", &ros2), expected);
}

#[test]
fn calibrations_say_the_same_in_every_encoding() {
    let d = [0.1, -0.02, 0.0, 0.0, 0.0];
    let k = [400.0, 0.0, 320.0, 0.0, 400.0, 240.0, 0.0, 0.0, 1.0];
    let r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let p = [400.0, 0.0, 320.0, 0.0, 0.0, 400.0, 240.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let told = json!({
        "frame_id": "c", "width": 640, "height": 480, "distortion_model": "plumb_bob",
        "D": d, "K": k, "R": r, "P": p,
    });
    let expected = foxglove("foxglove.CameraCalibration", told);
    let ros2 = stamped().text("c").u32(640).u32(480).text("plumb_bob").u32(5);
    let ros2 = [d.as_slice(), &k, &r, &p].into_iter().fold(ros2, floats).message();
    assert_eq!(decoded("foxglove_msgs/msg/CameraCalibration", "cdr", &ros2), expected);
}

#[test]
fn a_pose_that_leaves_out_what_is_zero_is_no_damage() {
    let [descriptors, message] = placeless_pose();
    let told_so = Some(("protobuf", descriptors.as_slice()));
    let (connection, flaw) = Connection::new("t", "foxglove.PoseInFrame", "protobuf", told_so);
    assert_eq!(flaw, None);
    let pose = connection.decode(&message).unwrap().unwrap();
    assert_eq!(told(&pose), "0 pose 0 0 3.142 map");
}

/// Whether GStreamer has all of these; says what is skipped where it has not.
fn has(elements: &[&str]) -> bool {
    gst::init().unwrap();
    let is_missing = |name: &&&str| gst::ElementFactory::find(name).is_none();
    let missing: Vec<_> = elements.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        println!("SKIPPED: GStreamer has no {missing:?}");
    }
    missing.is_empty()
}

/// Three seconds of 440 Hz, packed: each packet with its time, nanoseconds.
fn packets(encoder: &str) -> Vec<(u64, Vec<u8>)> {
    let packets = packed(&format!(
        "audiotestsrc freq=440 num-buffers=150 samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=1 \
         ! audioconvert ! {encoder}"
    ));
    assert!(packets.len() > 50, "{encoder}: {}", packets.len());
    packets
}

/// What comes out of these elements: each packet with its time, nanoseconds.
fn packed(elements: &str) -> Vec<(u64, Vec<u8>)> {
    gst::init().unwrap();
    let text = format!("{elements} ! appsink name=out sync=false");
    let pipeline = gst::parse::launch(&text).unwrap().downcast::<gst::Pipeline>().unwrap();
    let sink = pipeline.by_name("out").unwrap().downcast::<AppSink>().unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    let mut packets = Vec::new();
    while let Ok(sample) = sink.pull_sample() {
        let buffer = sample.buffer().unwrap();
        let at = buffer.pts().map_or(0, gst::ClockTime::nseconds);
        packets.push((at, buffer.map_readable().unwrap().to_vec()));
    }
    pipeline.set_state(gst::State::Null).unwrap();
    packets
}

/// A bag of one message per packet, and one before all of them.
fn bag(
    kind: (&'static str, &'static str),
    before: Option<(&'static str, Vec<u8>)>,
    packets: &[(u64, Vec<u8>)],
    message: impl Fn(u64, &[u8]) -> Vec<u8>,
) -> tempfile::TempDir {
    let sent = |topic, kind, at: u64, data| Sent { topic, kind, log_time: T0 + at, data };
    let info = before.map(|(schema, data)| sent("/audio/audio_info", (schema, "cdr"), 0, data));
    let sound = packets
        .iter()
        .map(|(at, packet)| sent("/audio/audio", kind, *at, message(T0 + at, packet)));
    let all: Vec<Sent> = info.into_iter().chain(sound).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bag.mcap"), mcap_of(&all)).unwrap();
    folder
}

/// Seconds of sound, and its pitch by its zero crossings, Hz.
fn heard(folder: &tempfile::TempDir) -> (f64, f64) {
    let path = folder.path().join("bag.mcap");
    let recording = Recording::open(&path, &ReplayOptions::default()).unwrap();
    let mut playback = recording.play().unwrap();
    let mut samples = Vec::new();
    while let Some(item) = playback.next().unwrap() {
        let Item::Block(block) = item else { panic!("{item:?}") };
        samples.extend_from_slice(&block.samples);
    }
    assert!(playback.damage().is_empty(), "{}", playback.damage());
    let middle = &samples[16_000..32_000];
    let crossings = middle.windows(2).filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0)).count();
    (samples.len() as f64 / 16e3, crossings as f64 / 2.0)
}

#[test]
fn mp3_and_opus_sound_as_they_did_before_they_were_packed() {
    let mp3 = packets("lamemp3enc ! mpegaudioparse");
    let info = Cdr::ros2().u8(1).u32(48_000).text("S16LE").u32(64_000).text("mp3").message();
    let info = || Some(("audio_common_msgs/msg/AudioInfo", info.clone()));
    let bare = |_: u64, packet: &[u8]| Cdr::ros2().bytes(packet).message();
    let stamped = |at: u64, packet: &[u8]| {
        let (secs, nanos) = (at / 1_000_000_000, at % 1_000_000_000);
        let header =
            Cdr::ros2().u32(u32::try_from(secs).unwrap()).u32(u32::try_from(nanos).unwrap());
        header.text("mic").bytes(packet).message()
    };
    let foxglove = |at: u64, packet: &[u8]| {
        let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, packet);
        let time = json!({"sec": at / 1_000_000_000, "nsec": at % 1_000_000_000});
        json!({"timestamp": time, "data": data, "format": "opus", "sample_rate": 48_000, "number_of_channels": 1})
            .to_string()
            .into_bytes()
    };
    let data = ("audio_common_msgs/msg/AudioData", "cdr");
    let with_header = ("audio_common_msgs/msg/AudioDataStamped", "cdr");
    let opus = packets("opusenc");
    for (what, folder) in [
        ("MP3 that AudioInfo tells", bag(data, info(), &mp3, bare)),
        ("MP3 that its bytes tell", bag(data, None, &mp3, bare)),
        ("MP3 with stamps", bag(with_header, info(), &mp3, stamped)),
        ("Opus", bag(("foxglove.CompressedAudio", "json"), None, &opus, foxglove)),
    ] {
        let (secs, pitch) = heard(&folder);
        assert!((secs - 3.0).abs() < 0.2, "{what}: {secs} s");
        assert!((pitch - 440.0).abs() < 3.0, "{what}: {pitch} Hz");
    }
}

#[test]
fn aac_sounds_as_it_did_before_it_was_packed() {
    let encoders = ["avenc_aac", "voaacenc", "fdkaacenc"];
    let Some(encoder) = encoders.into_iter().find(|name| has(&[*name])) else { return };
    if !has(&["aacparse", "avdec_aac"]) {
        return;
    }
    let adts = "audio/mpeg,mpegversion=4,stream-format=adts";
    let aac = packets(&format!("{encoder} ! aacparse ! {adts}"));
    assert!(aac.iter().all(|(_, packet)| packet.starts_with(&[0xff])), "each has its header");
    let foxglove = |at: u64, packet: &[u8]| {
        let (secs, nanos) = (at / 1_000_000_000, at % 1_000_000_000);
        let time = Cdr::ros2().u32(u32::try_from(secs).unwrap()).u32(u32::try_from(nanos).unwrap());
        time.text("mp4a.40.2").bytes(packet).message()
    };
    let bare = |_: u64, packet: &[u8]| Cdr::ros2().bytes(packet).message();
    let info = Cdr::ros2().u8(1).u32(48_000).text("S16LE").u32(64_000).text("aac").message();
    let info = Some(("audio_common_msgs/msg/AudioInfo", info));
    for (what, folder) in [
        ("Foxglove's", bag(("foxglove_msgs/msg/CompressedAudio", "cdr"), None, &aac, foxglove)),
        ("AudioInfo's", bag(("audio_common_msgs/msg/AudioData", "cdr"), info, &aac, bare)),
    ] {
        let (secs, pitch) = heard(&folder);
        assert!((secs - 3.0).abs() < 0.2, "{what}: {secs} s");
        assert!((pitch - 440.0).abs() < 3.0, "{what}: {pitch} Hz");
    }
}

/// One second of red, packed, as it is there again when it is played.
fn red_is_seen(format: &str, encoder: &str) {
    let mut packets = packed(&format!(
        "videotestsrc pattern=red num-buffers=25 \
         ! video/x-raw,format=I420,width=160,height=120,framerate=25/1 ! {encoder}"
    ));
    // Some encoders begin at a time of their own.
    let first = packets.first().map_or(0, |(at, _)| *at);
    packets.iter_mut().for_each(|(at, _)| *at -= first);
    assert_eq!(packets.len(), 25, "{format}");
    let sent = packets.iter().map(|(at, packet)| {
        let nanos = u32::try_from(*at).unwrap();
        let message = Cdr::ros2().u32(1_772_612_100).u32(nanos).text("c").bytes(packet);
        let kind = ("foxglove_msgs/msg/CompressedVideo", "cdr");
        Sent { topic: "/camera", kind, log_time: T0 + at, data: message.text(format).message() }
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.mcap");
    std::fs::write(&path, mcap_of(&sent.collect::<Vec<_>>())).unwrap();
    let mut playback = Recording::open(&path, &ReplayOptions::default()).unwrap().play().unwrap();
    let mut times = Vec::new();
    while let Some(item) = playback.next().unwrap() {
        let Item::Frame(frame) = item else { panic!("{item:?}") };
        assert_eq!((frame.width, frame.height), (160, 120), "{format}");
        let [r, g, b] = to_rgb(&frame).unwrap().get_pixel(80, 60).0;
        assert!(r > 200 && g < 60 && b < 60, "{format}: {r} {g} {b}");
        times.push(u64::try_from(frame.at.as_nanos()).unwrap() - T0);
    }
    assert!(playback.damage().is_empty(), "{format}: {}", playback.damage());
    assert_eq!(times, packets.iter().map(|(at, _)| *at).collect::<Vec<_>>(), "{format}");
}

#[test]
fn video_looks_as_it_did_before_it_was_packed() {
    for (format, elements, encoder) in [
        (
            "h264",
            ["x264enc", "h264parse", "avdec_h264"].as_slice(),
            "x264enc tune=zerolatency speed-preset=ultrafast ! h264parse config-interval=-1 \
             ! video/x-h264,stream-format=byte-stream,alignment=au",
        ),
        (
            "h265",
            &["x265enc", "h265parse", "avdec_h265"],
            "x265enc tune=zerolatency speed-preset=ultrafast ! h265parse config-interval=-1 \
             ! video/x-h265,stream-format=byte-stream,alignment=au",
        ),
        ("vp9", &["vp9enc", "vp9dec"], "vp9enc deadline=1 cpu-used=8 lag-in-frames=0"),
        ("av1", &["av1enc", "av1dec"], "av1enc cpu-used=8 lag-in-frames=0"),
    ] {
        if has(elements) {
            red_is_seen(format, encoder);
        }
    }
}
