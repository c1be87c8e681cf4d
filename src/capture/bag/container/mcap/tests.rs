//! Opening looks into the chunks that must be looked into, and into no other.
#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Write as _};

use ::mcap::{Compression, WriteOptions};

use super::*;
use crate::capture::bag::decode::role::Role;
use crate::capture::bag::seeds::{Sent, mcap_with};

const SOUND: (&str, &str) = ("audio_common_msgs/msg/AudioData", "cdr");
const POSE: (&str, &str) = ("geometry_msgs/msg/PoseStamped", "cdr");
const CLOUD: (&str, &str) = ("foxglove.PointCloud", "flatbuffer");

fn sent(topic: &'static str, kind: (&'static str, &'static str), log_time: u64) -> Sent {
    Sent { topic, kind, log_time, data: vec![7; 40] }
}

/// Four chunks: sound in all but the third, where poses begin; in the second something that nobody reads.
fn chunks() -> [Vec<Sent>; 4] {
    let sound = |log_time| sent("/sound", SOUND, log_time);
    let pose = |log_time| sent("/pose", POSE, log_time);
    [
        vec![sound(1), sound(2)],
        vec![sound(3), sent("/cloud", CLOUD, 4)],
        vec![pose(5)],
        vec![sound(6), pose(7)],
    ]
}

/// A file, opened: which of its chunks were looked into, what its topics are, and what is damaged.
struct Opened {
    looked_into: Vec<usize>,
    roles: BTreeMap<String, Option<Role>>,
    damage: Vec<(Cause, String)>,
}

impl Opened {
    fn of(bytes: &[u8]) -> Self {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let mut walk = Walk::over(&mut file).unwrap();
        let offsets = walk.found.segments.iter().map(|chunk| chunk.offset).enumerate();
        let looked_into = offsets.filter(|(_, offset)| walk.looked_into.contains(offset));
        let looked_into = looked_into.map(|(number, _)| number).collect();
        let connections = walk.connections();
        let roles = connections.values().map(|one| (one.topic.to_string(), one.role)).collect();
        Self { looked_into, roles, damage: walk.found.damage }
    }

    fn role(&self, topic: &str) -> Option<Role> {
        self.roles[topic]
    }
}

/// Where the summary repeats no schema.
fn brief() -> WriteOptions {
    WriteOptions::new().repeat_schemas(false)
}

/// The bytes of a file of these chunks, written so, in which nothing declares the schema of sound.
fn without_the_schema_of_sound(options: WriteOptions) -> Vec<u8> {
    let mut bytes = mcap_with(options.compression(None), &chunks());
    let name = SOUND.0.as_bytes();
    // Before its name stand the schema's number and the name's length.
    let found = bytes.windows(name.len()).position(|window| window == name).unwrap();
    assert_eq!(bytes[found - 6..found - 4], [1, 0]);
    bytes[found - 6] = 99;
    bytes
}

#[test]
fn a_schema_that_the_summary_leaves_out_is_read_from_the_first_chunk_of_its_channel() {
    for compression in [None, Some(Compression::Zstd), Some(Compression::Lz4)] {
        let all = Opened::of(&mcap_with(WriteOptions::new().compression(compression), &chunks()));
        assert!(all.looked_into.is_empty(), "the summary tells everything");
        let opened = Opened::of(&mcap_with(brief().compression(compression), &chunks()));
        assert_eq!(opened.looked_into, [0, 2]);
        assert_eq!(opened.roles, all.roles);
        assert!(opened.role("/sound").is_some() && opened.role("/pose").is_some());
        assert_eq!(opened.role("/cloud"), None);
        assert!(opened.damage.is_empty(), "{:?}", opened.damage);
    }
    // No list tells of which channels a chunk's messages are: on until it is found.
    let opened = Opened::of(&mcap_with(brief().emit_message_indexes(false), &chunks()));
    assert_eq!(opened.looked_into, [0, 1, 2]);
    assert!(opened.role("/pose").is_some() && opened.damage.is_empty(), "{:?}", opened.damage);
    // Nor is it known which channels there are.
    let opened = Opened::of(&mcap_with(brief().repeat_channels(false), &chunks()));
    assert_eq!(opened.looked_into, [0, 1, 2, 3]);
    assert!(opened.role("/sound").is_some() && opened.role("/pose").is_some());
}

#[test]
fn a_schema_that_is_nowhere_costs_no_look_into_what_comes_behind() {
    let opened = Opened::of(&without_the_schema_of_sound(brief().calculate_chunk_crcs(false)));
    assert_eq!(opened.looked_into, [0, 2]);
    let causes: Vec<Cause> = opened.damage.iter().map(|(cause, _)| *cause).collect();
    assert_eq!(causes, [Cause::UnknownSchema]);
    assert!(opened.role("/sound").is_none() && opened.role("/pose").is_some());
    // Where the chunk is damaged, whatever is behind it may declare it again.
    let opened = Opened::of(&without_the_schema_of_sound(brief()));
    assert_eq!(opened.looked_into, [0, 1, 2, 3]);
    assert!(opened.role("/sound").is_none() && opened.role("/pose").is_some());
    // Where there are no chunks, it is missed all the same.
    let opened = Opened::of(&without_the_schema_of_sound(brief().use_chunks(false)));
    let causes: Vec<Cause> = opened.damage.iter().map(|(cause, _)| *cause).collect();
    assert_eq!(causes, [Cause::UnknownSchema]);
    assert!(opened.role("/sound").is_none() && opened.role("/pose").is_some());
}

type Writer = ::mcap::Writer<Cursor<Vec<u8>>>;

fn declare(writer: &mut Writer, topic: &str, (schema, encoding): (&str, &str)) -> u16 {
    let schema = writer.add_schema(schema, "ros2msg", b"").unwrap();
    writer.add_channel(schema, topic, encoding, &BTreeMap::new()).unwrap()
}

/// A chunk of one message.
fn say(writer: &mut Writer, channel_id: u16, log_time: u64) {
    let publish_time = log_time;
    let header = ::mcap::records::MessageHeader { channel_id, sequence: 0, log_time, publish_time };
    writer.write_to_known_channel(&header, &[7; 40]).unwrap();
    writer.flush().unwrap();
}

#[test]
fn a_schema_may_lie_before_its_channels_first_chunk_and_a_silent_channel_needs_none() {
    let mut writer = brief().create(Cursor::new(Vec::new())).unwrap();
    // Both are declared in the first chunk; sound comes in the second, poses in the fourth.
    let sound = declare(&mut writer, "/sound", SOUND);
    let pose = declare(&mut writer, "/pose", POSE);
    writer.flush().unwrap();
    say(&mut writer, sound, 1);
    say(&mut writer, sound, 2);
    say(&mut writer, pose, 3);
    // Pictures that never come.
    declare(&mut writer, "/picture", ("sensor_msgs/msg/Image", "cdr"));
    writer.flush().unwrap();
    say(&mut writer, sound, 4);
    writer.finish().unwrap();
    let opened = Opened::of(&writer.into_inner().into_inner());
    assert_eq!(opened.looked_into, [0, 1]);
    assert!(opened.damage.is_empty(), "{:?}", opened.damage);
    assert!(opened.role("/sound").is_some() && opened.role("/pose").is_some());
    assert_eq!(opened.role("/picture"), None);
}
