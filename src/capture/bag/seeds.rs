//! Small bags of every format, made here: what mutation tests start from, and what a reader must read
//! wherever the shared recordings are missing.

use std::collections::BTreeMap;
use std::io::Cursor;

use super::cdr::Cdr;

/// Topics of every seed: a picture, sound with its format, a pose.
pub(super) const MESSAGES: usize = 4;
const T0: u64 = 1_772_612_100_000_000_000;

/// One message: topic, type (ROS 2), bytes (CDR), bytes (ROS 1).
struct Seed {
    topic: &'static str,
    kind: &'static str,
    cdr: Vec<u8>,
    ros1: Vec<u8>,
}

/// A 2x2 picture, pixels as they are.
fn seeds() -> Vec<Seed> {
    let pixels = [10_u8, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120];
    let header = |cdr: Cdr| cdr.u32(1_772_612_100).u32(5).text("frame");
    let ros1_header = |cdr: Cdr| cdr.u32(7).u32(1_772_612_100).u32(5).text("frame");
    let image = |cdr: Cdr| cdr.u32(2).u32(2).text("rgb8").u8(0).u32(6).bytes(&pixels);
    let info = |cdr: Cdr| cdr.u8(1).u32(16_000).text("S16LE").u32(0).text("wave");
    let pose = |cdr: Cdr| {
        [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0].into_iter().fold(cdr, |cdr, value| cdr.f64(value))
    };
    vec![
        Seed {
            topic: "/camera/image_raw",
            kind: "sensor_msgs/msg/Image",
            cdr: image(header(Cdr::ros2())).message(),
            ros1: image(ros1_header(Cdr::ros1())).message(),
        },
        Seed {
            topic: "/audio/audio",
            kind: "audio_common_msgs/msg/AudioData",
            cdr: Cdr::ros2().bytes(&[0; 64]).message(),
            ros1: Cdr::ros1().bytes(&[0; 64]).message(),
        },
        Seed {
            topic: "/audio/audio_info",
            kind: "audio_common_msgs/msg/AudioInfo",
            cdr: info(Cdr::ros2()).message(),
            ros1: info(Cdr::ros1()).message(),
        },
        Seed {
            topic: "/pose",
            kind: "geometry_msgs/msg/PoseStamped",
            cdr: pose(header(Cdr::ros2())).message(),
            ros1: pose(ros1_header(Cdr::ros1())).message(),
        },
    ]
}

/// An MCAP file.
pub(super) fn mcap(compression: Option<mcap::Compression>) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let options = mcap::WriteOptions::new().compression(compression).profile("ros2");
    let mut writer = options.create(&mut bytes).unwrap();
    for (n, seed) in seeds().iter().enumerate() {
        let text = super::definition::built_in::full_text(seed.kind).unwrap();
        let schema = writer.add_schema(seed.kind, "ros2msg", text.as_bytes()).unwrap();
        let channel = writer.add_channel(schema, seed.topic, "cdr", &BTreeMap::new()).unwrap();
        let log_time = T0 + n as u64 * 1_000_000;
        let header = mcap::records::MessageHeader {
            channel_id: channel,
            sequence: 0,
            log_time,
            publish_time: log_time,
        };
        writer.write_to_known_channel(&header, &seed.cdr).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes.into_inner()
}

/// `name=value` fields with their lengths.
fn fields(fields: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in fields {
        let length = u32::try_from(name.len() + 1 + value.len()).unwrap();
        bytes.extend(length.to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.push(b'=');
        bytes.extend(*value);
    }
    bytes
}

fn record(header: &[(&str, &[u8])], data: &[u8]) -> Vec<u8> {
    let header = fields(header);
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
    [length(&header).as_slice(), &header, &length(data), data].concat()
}

/// A ROS 1 bag of one chunk; `indexed`: with connections and chunk info at its end.
pub(super) fn rosbag1(compression: &str, indexed: bool) -> Vec<u8> {
    let (mut records, mut connections) = (Vec::new(), Vec::new());
    let secs = u32::try_from(T0 / 1_000_000_000).unwrap().to_le_bytes();
    let time = |n: u32| [secs, (n * 1_000_000).to_le_bytes()].concat();
    for (n, seed) in seeds().iter().enumerate() {
        let (n, kind) = (u32::try_from(n).unwrap(), super::definition::short_name(seed.kind));
        let conn = n.to_le_bytes();
        let told = fields(&[("topic", seed.topic.as_bytes()), ("type", kind.as_bytes())]);
        let head: [(&str, &[u8]); 3] =
            [("conn", &conn), ("op", &[7]), ("topic", seed.topic.as_bytes())];
        let connection = record(&head, &told);
        records.extend(&connection);
        connections.extend(connection);
        let at = time(n);
        records.extend(record(&[("conn", &conn), ("op", &[2]), ("time", &at)], &seed.ros1));
    }
    let size = u32::try_from(records.len()).unwrap().to_le_bytes();
    let packed = match compression {
        "bz2" => {
            let mut packed = Vec::new();
            let level = bzip2::Compression::fast();
            let mut encoder = bzip2::read::BzEncoder::new(records.as_slice(), level);
            std::io::Read::read_to_end(&mut encoder, &mut packed).unwrap();
            packed
        }
        "lz4" => {
            let mut encoder = lz4::EncoderBuilder::new().build(Vec::new()).unwrap();
            std::io::Write::write_all(&mut encoder, &records).unwrap();
            let (packed, result) = encoder.finish();
            result.unwrap();
            packed
        }
        _ => records,
    };
    let mut bag = b"#ROSBAG V2.0\n".to_vec();
    let index_pos = u64::from(indexed).to_le_bytes();
    let counts = [0, 0, 0, 0];
    let head: [(&str, &[u8]); 4] = [
        ("op", &[3]),
        ("index_pos", &index_pos),
        ("conn_count", &counts),
        ("chunk_count", &counts),
    ];
    bag.extend(record(&head, &[b' '; 64]));
    let chunk_pos = (bag.len() as u64).to_le_bytes();
    bag.extend(record(
        &[("op", &[5]), ("compression", compression.as_bytes()), ("size", &size)],
        &packed,
    ));
    if indexed {
        bag.extend(connections);
        let (first, last) = (time(0), time(3));
        let count = 4_u32.to_le_bytes();
        let head: [(&str, &[u8]); 6] = [
            ("op", &[6]),
            ("ver", &[1, 0, 0, 0]),
            ("chunk_pos", &chunk_pos),
            ("start_time", &first),
            ("end_time", &last),
            ("count", &count),
        ];
        bag.extend(record(&head, &[]));
    }
    bag
}

/// A rosbag2 database.
pub(super) fn sqlite() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.db3");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "PRAGMA page_size=512;
             CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
                serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
             CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,
                timestamp INTEGER NOT NULL, data BLOB NOT NULL);
             CREATE INDEX timestamp_idx ON messages (timestamp ASC);",
        )
        .unwrap();
    for (n, seed) in seeds().iter().enumerate() {
        let id = i64::try_from(n + 1).unwrap();
        let at = i64::try_from(T0).unwrap() + id * 1_000_000;
        database
            .execute(
                "INSERT INTO topics VALUES (?1, ?2, ?3, 'cdr', '')",
                (id, seed.topic, seed.kind),
            )
            .unwrap();
        database
            .execute("INSERT INTO messages VALUES (?1, ?1, ?2, ?3)", (id, at, &seed.cdr))
            .unwrap();
    }
    drop(database);
    std::fs::read(path).unwrap()
}

/// Messages for [`super::exercise::message`]: the number of the type before each.
pub(super) fn messages() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for seed in seeds() {
        for (number, (kind, encoding)) in super::exercise::TYPES.iter().enumerate() {
            let same =
                super::definition::short_name(kind) == super::definition::short_name(seed.kind);
            if same {
                let body = if *encoding == "cdr" { &seed.cdr } else { &seed.ros1 };
                all.push([&[u8::try_from(number).unwrap()], body.as_slice()].concat());
            }
        }
    }
    let number = |name: &str| {
        let place = super::exercise::TYPES.iter().position(|(kind, _)| *kind == name);
        u8::try_from(place.unwrap()).unwrap()
    };
    let json = |name: &str, text: &str| [&[number(name)], text.as_bytes()].concat();
    let time = r#""timestamp":{"sec":1772612100,"nsec":5}"#;
    all.push(json(
        "foxglove.RawImage",
        &format!(r#"{{{time},"frame_id":"c","width":1,"height":1,"encoding":"rgb8","step":3,"data":"AQID"}}"#),
    ));
    all.push(json(
        "foxglove.RawAudio",
        &format!(r#"{{{time},"data":"AAAA","format":"pcm-s16","sample_rate":16000,"number_of_channels":1}}"#),
    ));
    all.push(json(
        "foxglove.FrameTransforms",
        &format!(
            r#"{{"transforms":[{{{time},"parent_frame_id":"map","child_frame_id":"base_link","translation":{{"x":1,"y":2,"z":0}},"rotation":{{"x":0,"y":0,"z":0,"w":1}}}}]}}"#
        ),
    ));
    all.push(json(
        "foxglove.CameraCalibration",
        &format!(
            r#"{{{time},"frame_id":"c","width":640,"height":480,"distortion_model":"plumb_bob","D":[0.1,0,0,0,0],"K":[400,0,320,0,400,240,0,0,1],"R":[1,0,0,0,1,0,0,0,1],"P":[400,0,320,0,0,400,240,0,0,0,1,0]}}"#
        ),
    ));
    let text = r#"{"text":"hello there","start":"2026-03-04T08:15:00Z","end":1772612101500000000}"#;
    all.push(json("any.Words", text));
    all.push(
        [&[number("std_msgs/msg/String")], Cdr::ros2().text(text).message().as_slice()].concat(),
    );
    all
}

/// Definitions for [`super::exercise::definition`], each with a message behind it.
pub(super) fn definitions() -> Vec<Vec<u8>> {
    let image = seeds().swap_remove(0);
    let text = super::definition::built_in::full_text("sensor_msgs/msg/Image").unwrap();
    let put = |choice: u8, text: &[u8], data: &[u8]| {
        let length = u16::try_from(text.len()).unwrap().to_le_bytes();
        [&[choice], length.as_slice(), text, data].concat()
    };
    // FileDescriptorSet{file{package:"foxglove" message_type{name:"RawImage" field{...}}}}
    let field = |name: &str, number: u8, kind: u8| {
        let body = [
            &[0x0a, u8::try_from(name.len()).unwrap()],
            name.as_bytes(),
            &[0x18, number, 0x20, 1, 0x28, kind],
        ]
        .concat();
        [&[0x12, u8::try_from(body.len()).unwrap()], body.as_slice()].concat()
    };
    let wrapped = |tag: u8, body: &[u8]| [&[tag, u8::try_from(body.len()).unwrap()], body].concat();
    let fields = [
        wrapped(0x0a, b"RawImage"),
        field("width", 3, 7),
        field("height", 4, 7),
        field("encoding", 5, 9),
        field("step", 6, 7),
        field("data", 7, 12),
    ]
    .concat();
    let set = wrapped(0x0a, &[wrapped(0x12, b"foxglove"), wrapped(0x22, &fields)].concat());
    let message = [
        &[0x1d, 1, 0, 0, 0, 0x25, 1, 0, 0, 0, 0x2a, 4],
        b"rgb8".as_slice(),
        &[0x35, 3, 0, 0, 0, 0x3a, 3, 1, 2, 3],
    ]
    .concat();
    vec![
        put(0, text.as_bytes(), &image.cdr),
        put(
            1,
            text.replace("builtin_interfaces/Time stamp", "uint32 seq\ntime stamp").as_bytes(),
            &image.ros1,
        ),
        put(2, &set, &message),
    ]
}
