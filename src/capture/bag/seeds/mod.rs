//! Small bags of every format, made here: what mutation tests start from, and what a reader must read
//! wherever the shared recordings are missing.

mod protobuf;

use std::collections::BTreeMap;
use std::io::Cursor;

use super::decode::cdr::Cdr;

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
        let text = super::decode::definition::built_in::full_text(seed.kind).unwrap();
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

/// A message, as it was recorded.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) topic: &'static str,
    /// Its type, and how it is written.
    pub(super) kind: (&'static str, &'static str),
    /// Nanoseconds.
    pub(super) log_time: u64,
    pub(super) data: Vec<u8>,
}

/// An MCAP file of these messages.
pub(super) fn mcap_of(messages: &[Sent]) -> Vec<u8> {
    mcap_with(mcap::WriteOptions::new(), &[messages.to_vec()])
}

/// An MCAP file of these chunks.
pub(super) fn mcap_with(options: mcap::WriteOptions, chunks: &[Vec<Sent>]) -> Vec<u8> {
    let mut writer = options.create(Cursor::new(Vec::new())).unwrap();
    for chunk in chunks {
        for Sent { topic, kind: (schema, encoding), log_time, data } in chunk {
            let text = super::decode::definition::built_in::full_text(schema)
                .unwrap_or_else(|| "{}".to_owned());
            let language = if *encoding == "json" { "jsonschema" } else { "ros2msg" };
            let schema = writer.add_schema(schema, language, text.as_bytes()).unwrap();
            let channel_id = writer.add_channel(schema, topic, encoding, &BTreeMap::new()).unwrap();
            let (log_time, publish_time) = (*log_time, *log_time);
            let header =
                mcap::records::MessageHeader { channel_id, sequence: 0, log_time, publish_time };
            writer.write_to_known_channel(&header, data).unwrap();
        }
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

/// A pose of which only the frame and the direction are set: its descriptors and its bytes.
pub(super) fn placeless_pose() -> [Vec<u8>; 2] {
    [protobuf::descriptors("foxglove.PoseInFrame"), protobuf::placeless_pose()]
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
    let sent = seeds().into_iter().zip(0..).map(|(seed, n)| Sent {
        topic: seed.topic,
        kind: (seed.kind, "ros1"),
        log_time: T0 + n * 1_000_000,
        data: seed.ros1,
    });
    rosbag1_of(compression, indexed, &[sent.collect()])
}

/// A ROS 1 bag of these chunks.
pub(super) fn rosbag1_of(compression: &str, indexed: bool, chunks: &[Vec<Sent>]) -> Vec<u8> {
    let time = |nanos: u64| {
        let (secs, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        [secs, nanos].map(|part| u32::try_from(part).unwrap().to_le_bytes()).concat()
    };
    let number = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let head = |index_pos: usize| {
        let index_pos = (index_pos as u64).to_le_bytes();
        let counts = [0, 0, 0, 0];
        let head: [(&str, &[u8]); 4] = [
            ("op", &[3]),
            ("index_pos", &index_pos),
            ("conn_count", &counts),
            ("chunk_count", &counts),
        ];
        [b"#ROSBAG V2.0\n", record(&head, &[b' '; 64]).as_slice()].concat()
    };
    let mut topics: Vec<&str> = Vec::new();
    let (mut bag, mut connections, mut infos) = (head(0), Vec::<u8>::new(), Vec::new());
    for chunk in chunks {
        let (mut records, mut declared) = (Vec::new(), BTreeMap::<usize, usize>::new());
        for sent in chunk {
            let known = topics.iter().position(|topic| *topic == sent.topic);
            let id = known.unwrap_or(topics.len());
            let (conn, topic) = (number(id), sent.topic.as_bytes());
            let kind = super::decode::definition::short_name(sent.kind.0);
            let told = fields(&[("topic", topic), ("type", kind.as_bytes())]);
            let connection = record(&[("conn", &conn), ("op", &[7]), ("topic", topic)], &told);
            if known.is_none() {
                topics.push(sent.topic);
                connections.extend(&connection);
            }
            if !declared.contains_key(&id) {
                records.extend(&connection);
            }
            *declared.entry(id).or_default() += 1;
            let at = time(sent.log_time);
            records.extend(record(&[("conn", &conn), ("op", &[2]), ("time", &at)], &sent.data));
        }
        let times = || chunk.iter().map(|sent| sent.log_time);
        let (first, last) = (time(times().min().unwrap()), time(times().max().unwrap()));
        let (chunk_pos, size) = ((bag.len() as u64).to_le_bytes(), number(records.len()));
        let packed = packed_records(compression, records);
        let head: [(&str, &[u8]); 3] =
            [("op", &[5]), ("compression", compression.as_bytes()), ("size", &size)];
        bag.extend(record(&head, &packed));
        for (id, count) in declared {
            let (conn, counted) = (number(id), number(count));
            let head: [(&str, &[u8]); 4] =
                [("op", &[4]), ("ver", &[1, 0, 0, 0]), ("conn", &conn), ("count", &counted)];
            bag.extend(record(&head, &vec![0; 12 * count]));
        }
        let count = number(topics.len());
        let head: [(&str, &[u8]); 6] = [
            ("op", &[6]),
            ("ver", &[1, 0, 0, 0]),
            ("chunk_pos", &chunk_pos),
            ("start_time", &first),
            ("end_time", &last),
            ("count", &count),
        ];
        infos.extend(record(&head, &[]));
    }
    if indexed {
        let head = head(bag.len());
        bag.splice(..head.len(), head);
        bag.extend(connections);
        bag.extend(infos);
    }
    bag
}

/// The records of a ROS 1 chunk.
fn packed_records(compression: &str, records: Vec<u8>) -> Vec<u8> {
    match compression {
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
    }
}

/// A rosbag2 database; `defined`: with the table of definitions that newer recorders write.
pub(super) fn sqlite(defined: bool) -> Vec<u8> {
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
    if defined {
        database
            .execute_batch(
                "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL,
                    encoding TEXT NOT NULL, encoded_message_definition TEXT NOT NULL,
                    type_description_hash TEXT NOT NULL);",
            )
            .unwrap();
    }
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
        if defined {
            let text = super::decode::definition::built_in::full_text(seed.kind).unwrap();
            database
                .execute(
                    "INSERT INTO message_definitions VALUES (?1, ?2, 'ros2msg', ?3, '')",
                    (id, seed.kind, text),
                )
                .unwrap();
        }
    }
    drop(database);
    std::fs::read(path).unwrap()
}

/// Messages for [`super::fuzz::message`]: the number of the type before each.
pub(super) fn messages() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for seed in seeds() {
        for (number, (kind, encoding)) in super::fuzz::TYPES.iter().enumerate() {
            let same = super::decode::definition::short_name(kind)
                == super::decode::definition::short_name(seed.kind);
            if same {
                let body = if *encoding == "cdr" { &seed.cdr } else { &seed.ros1 };
                all.push([&[u8::try_from(number).unwrap()], body.as_slice()].concat());
            }
        }
    }
    let number = |name: &str| {
        let place = super::fuzz::TYPES.iter().position(|(kind, _)| *kind == name);
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

/// Definitions for [`super::fuzz::definition`], each with a message behind it.
pub(super) fn definitions() -> Vec<Vec<u8>> {
    let image = seeds().swap_remove(0);
    let text = super::decode::definition::built_in::full_text("sensor_msgs/msg/Image").unwrap();
    let put = |choice: u8, text: &[u8], data: &[u8]| {
        let length = u16::try_from(text.len()).unwrap().to_le_bytes();
        [&[choice], length.as_slice(), text, data].concat()
    };
    let ros1 = text.replace("builtin_interfaces/Time stamp", "uint32 seq\ntime stamp");
    let picture = picture_files().swap_remove(1);
    super::fuzz::DEFINED
        .iter()
        .zip(0..)
        .map(|(&(schema, encoding, _), choice)| match encoding {
            "cdr" => put(choice, text.as_bytes(), &image.cdr),
            "ros1" => put(choice, ros1.as_bytes(), &image.ros1),
            _ => {
                let message = protobuf::message(schema, &picture);
                put(choice, &protobuf::descriptors(schema), &message)
            }
        })
        .collect()
}

/// A small JPEG, a small PNG and a small WebP.
pub(super) fn picture_files() -> Vec<Vec<u8>> {
    let file = |format| {
        let mut bytes = Cursor::new(Vec::new());
        let picture = image::RgbImage::from_fn(9, 7, |x, y| image::Rgb([x as u8 * 20, y as u8, 7]));
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    };
    [image::ImageFormat::Jpeg, image::ImageFormat::Png, image::ImageFormat::WebP].map(file).to_vec()
}

/// `metadata.yaml` as recorders of several years wrote it.
pub(super) fn metadata() -> Vec<Vec<u8>> {
    let topic = |profiles: &str| {
        format!(
            "  topics_with_message_count:
    - topic_metadata:
        name: /pose
        type: geometry_msgs/msg/PoseStamped
        serialization_format: cdr
        offered_qos_profiles: {profiles}
      message_count: 4
"
        )
    };
    let (text, list) = (
        r#""- history: 3\n  depth: 0""#,
        "\n          - history: keep_last\n            depth: 10",
    );
    let of = |version: u8, files: &str, mode: &str, profiles: &str| {
        let topics = topic(profiles);
        format!(
            "rosbag2_bagfile_information:
  version: {version}
  storage_identifier: sqlite3
  relative_file_paths:
{files}  duration:
    nanoseconds: 3000000
  starting_time:
    nanoseconds_since_epoch: 1772612100000000000
  message_count: 4
{topics}  compression_format: zstd
  compression_mode: {mode}
"
        )
        .into_bytes()
    };
    vec![
        of(4, "    - run/run_0.db3.zstd\n    - run/run_1.db3.zstd\n", "FILE", text),
        of(5, "    - run_0.db3\n", "MESSAGE", text),
        of(9, "    - ../run_0.mcap\n", "\"\"", list),
        b"rosbag2_bagfile_information: {relative_file_paths: [a.db3, 'b\\c.db3', \"d\\u0065.db3\"]}\n"
            .to_vec(),
    ]
}

/// zstd as rosbag2 packs with it: one frame, two, one that is cut, one of a long run.
pub(super) fn packed() -> Vec<Vec<u8>> {
    let pack = |bytes: &[u8]| zstd::encode_all(bytes, 0).unwrap();
    let message = seeds().swap_remove(0).cdr;
    let one = pack(&message);
    let cut = one[..one.len() / 2].to_vec();
    vec![one.clone(), [one, pack(b"and more")].concat(), cut, pack(&vec![7_u8; 4 << 20])]
}
