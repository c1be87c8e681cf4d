//! Promise: damage costs what it lies on, and no more. Wherever a file is damaged or cut, every message of every other
//! chunk is still read, in its order, and each hole is told once.

use std::path::Path;

use super::container::segments::{Segment, Segmented as _};
use super::container::{mcap, rosbag1, rosbag2};
use super::seeds::{Sent, mcap_with, rosbag1_of};
use super::{Bag, Found};
use crate::capture::damage::Cause;
use crate::capture::recorded_tests::recording;

const T0: u64 = 1_772_612_100_000_000_000;
const CHUNKS: u64 = 6;
const MESSAGES: u64 = 5;

/// Messages of sound that hardly packs, each with a time of its own.
fn chunks() -> Vec<Vec<Sent>> {
    let mut dice = 7_u32;
    let mut noise = || {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        dice.to_be_bytes()[0]
    };
    let mut message = |number: u64| Sent {
        topic: "/audio/audio",
        kind: ("audio_common_msgs/msg/AudioData", "cdr"),
        log_time: T0 + number * 1_000_000,
        data: super::decode::cdr::Cdr::ros2().bytes(&[(); 200].map(|()| noise())).message(),
    };
    let chunk =
        |number: u64| (number * MESSAGES..(number + 1) * MESSAGES).map(&mut message).collect();
    (0..CHUNKS).map(chunk).collect()
}

fn mcap_bag(compression: Option<::mcap::Compression>, summary: bool) -> Vec<u8> {
    let options = ::mcap::WriteOptions::new().compression(compression);
    mcap_with(options.emit_summary_records(summary), &chunks())
}

/// Where the chunks lie, in their order in the file.
fn layout(path: &Path) -> Vec<Segment> {
    let mut all = if mcap::is_mcap(path).unwrap() {
        mcap::Index::of(path).unwrap().segments().to_vec()
    } else {
        rosbag1::Index::of(path).unwrap().segments().to_vec()
    };
    all.sort_by_key(|segment| segment.offset);
    assert!(all.iter().all(|segment| segment.chunk));
    all
}

/// What was read: times of messages, and damage.
#[derive(Debug, Default)]
struct Read {
    times: Vec<i64>,
    damage: Vec<(Cause, String)>,
}

impl Read {
    fn of(path: &Path) -> Self {
        let mut read = Self::default();
        let mut reader = Bag::open(path).unwrap().unwrap().reader(|_| true).unwrap();
        while let Some(found) = reader.next() {
            match found {
                Found::Message(message) => read.times.push(message.log_time.as_nanos()),
                Found::Damaged(cause, place) => read.damage.push((cause, place)),
            }
        }
        read
    }

    fn holes(&self) -> usize {
        let is_hole =
            |(cause, _): &&(Cause, String)| matches!(cause, Cause::Hole | Cause::Truncated);
        self.damage.iter().filter(is_hole).count()
    }
}

/// What a whole bag gives, chunk by chunk.
struct Whole {
    bytes: Vec<u8>,
    chunks: Vec<Segment>,
    /// Times of each chunk's messages.
    times: Vec<Vec<i64>>,
    /// What is told of it though it is whole (it may have no index).
    told: usize,
    /// Whatever is lost is told. (Inside a ROS 1 chunk no checksum tells a changed bit.)
    is_checked: bool,
}

impl Whole {
    fn of(bytes: Vec<u8>, path: &Path) -> Self {
        std::fs::write(path, &bytes).unwrap();
        let (chunks, read) = (layout(path), Read::of(path));
        // Chunks do not overlap in time, so each one's messages are those from its first on.
        let starts: Vec<i64> =
            chunks.iter().map(|chunk| i64::try_from(chunk.first).unwrap()).collect();
        assert!(starts.is_sorted());
        let mut times = vec![Vec::new(); chunks.len()];
        for time in read.times {
            times[starts.partition_point(|start| *start <= time) - 1].push(time);
        }
        assert!(times.iter().all(|times| !times.is_empty()));
        let is_checked = bytes.starts_with(::mcap::MAGIC);
        Self { bytes, chunks, times, told: read.damage.len(), is_checked }
    }

    /// Reads `changed`: everything is there of the chunks that do not touch the damage at `from` to `to`.
    fn holds(&self, path: &Path, changed: &[u8], from: usize, to: usize, what: &str) {
        std::fs::write(path, changed).unwrap();
        let read = Read::of(path);
        let (from, to) = (from as u64, to as u64);
        let mut lost = 0;
        for (chunk, times) in self.chunks.iter().zip(&self.times) {
            let missing = times.iter().filter(|time| !read.times.contains(time)).count();
            let is_hit = from < chunk.offset + chunk.length && chunk.offset < to;
            assert!(is_hit || missing == 0, "{what}: chunk at {} {:?}", chunk.offset, read.damage);
            lost += missing;
        }
        assert!(read.holes() <= self.told + 1, "{what}: {:?}", read.damage);
        let is_told = lost == 0 || read.damage.len() > self.told;
        assert!(is_told || !self.is_checked, "{what}: {lost} lost, untold");
        let all: usize = self.times.iter().map(Vec::len).sum();
        assert!(read.times.len() <= all, "{what}: read twice");
        // The times that an index gives are believed, where it carries no checksum.
        let end = self.chunks.last().map_or(0, |last| last.offset + last.length);
        let whole = self
            .chunks
            .iter()
            .zip(&self.times)
            .filter(|(chunk, _)| to <= chunk.offset || chunk.offset + chunk.length <= from);
        let kept: std::collections::BTreeSet<_> = whole.flat_map(|(_, times)| times).collect();
        let order = read.times.iter().filter(|time| kept.contains(time));
        assert!(from >= end || order.is_sorted(), "{what}: out of order");
    }
}

/// Every kind of bag that carries what tells where its chunks lie, or does without.
fn bags() -> Vec<(String, Vec<u8>, bool)> {
    let packings = [None, Some(::mcap::Compression::Zstd), Some(::mcap::Compression::Lz4)];
    let mut all = Vec::new();
    for indexed in [true, false] {
        for (packing, name) in packings.into_iter().zip(["none", "bz2", "lz4"]) {
            all.push((format!("mcap {packing:?} {indexed}"), mcap_bag(packing, indexed), indexed));
            let bag = rosbag1_of(name, indexed, &chunks());
            // Each of its chunks declares its topics.
            all.push((format!("rosbag1 {name} {indexed}"), bag, true));
        }
    }
    all
}

#[test]
fn a_damaged_stretch_costs_the_chunks_that_it_lies_on_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    for (name, bytes, declared) in bags() {
        let whole = Whole::of(bytes, &path);
        assert_eq!(whole.chunks.len() as u64, CHUNKS, "{name}");
        let (first, last) = (whole.chunks[0], whole.chunks[whole.chunks.len() - 1]);
        // Topics that only the first chunk declares are lost with it.
        let begin = if declared { 16 } else { (first.offset + first.length) as usize };
        for length in [1, 40, 700] {
            for from in (begin..whole.bytes.len() - length).step_by(149) {
                let mut damaged = whole.bytes.clone();
                damaged[from..from + length].fill(0);
                let what = format!("{name}: {length} zeros at {from}");
                whole.holds(&path, &damaged, from, from + length, &what);
            }
        }
        let data_end = (last.offset + last.length) as usize;
        for from in (begin..data_end).step_by(13) {
            let mut flipped = whole.bytes.clone();
            flipped[from] ^= 1 << (from % 8);
            let what = format!("{name}: a bit flipped at {from}");
            whole.holds(&path, &flipped, from, from + 1, &what);
        }
    }
}

#[test]
fn a_cut_file_gives_every_chunk_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    for (name, bytes, _) in bags() {
        let whole = Whole::of(bytes, &path);
        let begin = (whole.chunks[0].offset + whole.chunks[0].length) as usize;
        for at in (begin..whole.bytes.len()).step_by(61) {
            let what = format!("{name}: cut at {at}");
            whole.holds(&path, &whole.bytes[..at], at, whole.bytes.len(), &what);
        }
    }
}

#[test]
fn a_closed_bag_that_is_cut_between_two_records_of_its_index_is_played_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    for packing in ["none", "bz2", "lz4"] {
        let whole = Whole::of(rosbag1_of(packing, true, &chunks()), &path);
        assert_eq!(whole.told, 0);
        let all: Vec<i64> = whole.times.iter().flatten().copied().collect();
        let length = |at: usize| {
            let bytes = whole.bytes[at..at + 4].try_into().unwrap();
            u32::from_le_bytes(bytes) as usize + 4
        };
        // Head and data of each record; the first begins where the bag would end without an index.
        let mut at = rosbag1_of(packing, false, &chunks()).len();
        let mut cuts = 0;
        while at < whole.bytes.len() {
            std::fs::write(&path, &whole.bytes[..at]).unwrap();
            let read = Read::of(&path);
            assert_eq!(read.times, all, "{packing}: cut at {at}");
            let causes: Vec<Cause> = read.damage.iter().map(|(cause, _)| *cause).collect();
            assert_eq!(causes, [Cause::Truncated], "{packing}: cut at {at}: {:?}", read.damage);
            let data_at = at + length(at);
            at = data_at + length(data_at);
            cuts += 1;
        }
        // One topic, and each chunk.
        assert_eq!((at, cuts), (whole.bytes.len(), 1 + CHUNKS));
    }
    // Closed before anything was recorded: its index is empty.
    std::fs::write(&path, rosbag1_of("none", true, &[])).unwrap();
    assert!(Read::of(&path).damage.is_empty());
}

#[test]
fn the_heads_of_chunks_may_be_damaged_at_any_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    for (name, bytes, _) in bags() {
        let mut whole = Whole::of(bytes, &path);
        whole.is_checked = true;
        let chunk = whole.chunks[3];
        let mut lost_none = 0;
        // Of MCAP's all, of ROS 1's all, whatever the name of the packing is.
        for byte in 0..49_usize {
            for bit in [0, 1, 4, 6] {
                let at = chunk.offset as usize + byte;
                let mut flipped = whole.bytes.clone();
                flipped[at] ^= 1 << bit;
                let what = format!("{name}: bit {bit} of byte {byte} of a chunk");
                whole.holds(&path, &flipped, at, at + 1, &what);
                lost_none += usize::from(Read::of(&path).times.len() as u64 == CHUNKS * MESSAGES);
            }
        }
        assert!(lost_none > 0, "{name}: a wrong length alone costs nothing");
    }
}

#[test]
fn a_hole_is_told_once_with_its_range() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    for (name, bytes, _) in bags().into_iter().filter(|(name, ..)| name.ends_with("true")) {
        let whole = Whole::of(bytes, &path);
        let [chunk, next] = [whole.chunks[2], whole.chunks[3]];
        let mut damaged = whole.bytes.clone();
        damaged[chunk.offset as usize..(chunk.offset + chunk.length) as usize].fill(0);
        std::fs::write(&path, &damaged).unwrap();
        let read = Read::of(&path);
        let range = format!("bytes {} to {}", chunk.offset, next.offset);
        assert_eq!(read.damage.len(), 1, "{name}: {:?}", read.damage);
        assert_eq!(read.damage[0].0, Cause::Hole, "{name}");
        assert!(read.damage[0].1.starts_with(&range), "{name}: {:?} {range}", read.damage);
        let expected: Vec<i64> = whole.times.iter().flatten().copied().collect();
        let lost = &whole.times[2];
        let kept: Vec<i64> = expected.into_iter().filter(|time| !lost.contains(time)).collect();
        assert_eq!(read.times, kept, "{name}");
    }
}

#[test]
fn messages_outside_chunks_are_found_again_behind_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    let bytes = mcap_with(::mcap::WriteOptions::new().use_chunks(false), &chunks());
    std::fs::write(&path, &bytes).unwrap();
    let all = Read::of(&path);
    assert_eq!((all.times.len() as u64, all.damage.len()), (CHUNKS * MESSAGES, 0));
    for from in (bytes.len() / 4..bytes.len() * 3 / 4).step_by(5) {
        let mut damaged = bytes.clone();
        damaged[from..from + 30].fill(0);
        std::fs::write(&path, &damaged).unwrap();
        let read = Read::of(&path);
        assert!(read.times.len() + 2 >= all.times.len(), "zeros at {from}: {:?}", read.damage);
        assert!(read.holes() <= 1, "zeros at {from}: {:?}", read.damage);
    }
}

#[test]
fn damage_in_real_recordings_costs_the_chunks_that_it_lies_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    for name in ["two_people.mcap", "two_people_foxglove.mcap", "two_people_ros1.bag"] {
        let Some(real) = recording(name) else { continue };
        let whole = Whole::of(std::fs::read(real).unwrap(), &path);
        let middle = whole.chunks[whole.chunks.len() / 2];
        let spread = (1..8).map(|n| whole.bytes.len() * n / 8);
        let head = [middle.offset as usize - 5, middle.offset as usize + 3];
        for from in spread.chain(head).chain([870_000]) {
            let mut damaged = whole.bytes.clone();
            damaged[from..from + 4_096].fill(0);
            let what = format!("{name}: 4 KiB of zeros at {from}");
            whole.holds(&path, &damaged, from, from + 4_096, &what);
        }
        let mut long = whole.bytes.clone();
        long[middle.offset as usize + 3] ^= 0x10;
        let at = middle.offset as usize + 3;
        whole.holds(&path, &long, at, at + 1, &format!("{name}: a flipped bit in a head"));
    }
}

/// A database of messages, with pages of 512 bytes.
fn database(path: &Path, messages: u32) {
    std::fs::write(path, super::seeds::sqlite(false)).unwrap();
    let database = rusqlite::Connection::open(path).unwrap();
    let sound = super::decode::cdr::Cdr::ros2().bytes(&[7; 300]).message();
    database.execute_batch("BEGIN").unwrap();
    for id in 100..100 + messages {
        let at = i64::try_from(T0).unwrap() + i64::from(id) * 1_000_000;
        let values = (id, at, &sound);
        database.execute("INSERT INTO messages VALUES (?1, 2, ?2, ?3)", values).unwrap();
    }
    database.execute_batch("COMMIT").unwrap();
}

#[test]
fn a_cut_database_gives_the_messages_on_the_pages_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.db3");
    database(&path, 400);
    let whole = Read::of(&path);
    assert_eq!((whole.times.len(), whole.damage.len()), (404, 0));
    let bytes = std::fs::read(&path).unwrap();
    for part in [70, 80, 90, 99] {
        std::fs::write(&path, &bytes[..bytes.len() * part / 100]).unwrap();
        let read = Read::of(&path);
        let least = 404 * part / 100 / 2;
        assert!(read.times.len() >= least, "{part} %: {} {:?}", read.times.len(), read.damage);
        assert!(read.times.iter().all(|time| whole.times.contains(time)));
        assert!(read.holes() == 1 && read.damage[0].1.contains("pages"), "{:?}", read.damage);
    }
    if let Some(real) = recording("two_people_ros2_sqlite/two_people_ros2_sqlite.db3") {
        let bytes = std::fs::read(real).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() * 6 / 10]).unwrap();
        let read = Read::of(&path);
        assert!(read.times.len() >= 1_329 && read.holes() == 1, "{:?}", read.damage);
    }
}

#[test]
fn what_a_killed_recorder_had_not_committed_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.db3");
    database(&path, 100);
    let (whole, bytes) = (Read::of(&path), std::fs::read(&path).unwrap());
    let database = rusqlite::Connection::open(&path).unwrap();
    // The cache is full long before the end: what is changed goes into the file, what was there into the log.
    let changes = "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 10; BEGIN;
         UPDATE messages SET timestamp = timestamp + 1, data = zeroblob(300);";
    database.execute_batch(changes).unwrap();
    // Neither need it have a usual name.
    for name in ["killed.db3", "killed.bag2"] {
        let killed = folder.path().join(name);
        std::fs::copy(&path, &killed).unwrap();
        assert_ne!(std::fs::read(&killed).unwrap(), bytes, "nothing was changed yet");
        let log = folder.path().join(format!("{name}-journal"));
        std::fs::copy(folder.path().join("bag.db3-journal"), log).unwrap();
        let read = Read::of(&killed);
        assert_eq!((&read.times, &read.damage), (&whole.times, &whole.damage), "{name}");
    }
}

/// What rosbag2 writes beside its files.
fn metadata(name: &str, mode: &str) -> String {
    format!(
        "rosbag2_bagfile_information:\n  relative_file_paths: [{name}]\n  \
         compression_format: zstd\n  compression_mode: {mode}\n"
    )
}

/// The messages of a file or folder, and what is damaged of it.
fn bytes_of(path: &Path) -> Vec<Result<Vec<u8>, Cause>> {
    let mut reader = Bag::open(path).unwrap().unwrap().reader(|_| true).unwrap();
    let mut found = Vec::new();
    while let Some(next) = reader.next() {
        found.push(match next {
            Found::Message(message) => Ok(message.data),
            Found::Damaged(cause, _) => Err(cause),
        });
    }
    found
}

/// A file of these messages of sound, by its name a database or MCAP.
fn write_bag(path: &Path, messages: &[Sent]) {
    if path.extension().is_some_and(|end| end == "mcap") {
        std::fs::write(path, super::seeds::mcap_of(messages)).unwrap();
        return;
    }
    std::fs::write(path, super::seeds::sqlite(false)).unwrap();
    let database = rusqlite::Connection::open(path).unwrap();
    database.execute("DELETE FROM messages", ()).unwrap();
    for (sent, id) in messages.iter().zip(1_i64..) {
        let values = (id, i64::try_from(sent.log_time).unwrap(), &sent.data);
        database.execute("INSERT INTO messages VALUES (?1, 2, ?2, ?3)", values).unwrap();
    }
}

/// The bytes of all messages, and the messages packed one by one, but for the second, which is nothing.
fn packed_messages() -> (Vec<Vec<u8>>, Vec<Sent>) {
    let mut packed: Vec<Sent> = chunks().into_iter().flatten().collect();
    let plain = packed.iter().map(|sent| sent.data.clone()).collect();
    for sent in &mut packed {
        sent.data = zstd::encode_all(sent.data.as_slice(), 0).unwrap();
    }
    packed[1].data = vec![1; 8];
    (plain, packed)
}

#[test]
fn messages_that_are_packed_one_by_one_are_read_in_every_storage() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = packed_messages();
    let mut expected: Vec<_> = plain.into_iter().map(Ok).collect();
    expected[1] = Err(Cause::BadMessage);
    for name in ["run_0.mcap", "run_0.db3"] {
        let path = folder.path().join(name);
        write_bag(&path, &packed);
        std::fs::write(folder.path().join("metadata.yaml"), metadata(name, "MESSAGE")).unwrap();
        assert_eq!(bytes_of(folder.path()), expected, "{name}");
        // By itself, what lies beside it tells so, too.
        assert_eq!(bytes_of(&path), expected, "{name} by itself");
        std::fs::remove_file(path).unwrap();
    }
    assert!(
        rosbag2::unpack_message(&packed[0].data, 10).unwrap().len() == 10,
        "no more than may be"
    );
}

#[test]
fn messages_that_are_packed_one_by_one_are_known_by_their_first_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = packed_messages();
    let mut expected: Vec<Result<_, Cause>> = plain.into_iter().map(Ok).collect();
    // That one does not look packed: whoever decodes it finds out.
    expected[1] = Ok(packed[1].data.clone());
    for name in ["run_0.mcap", "run_0.db3"] {
        let path = folder.path().join(name);
        write_bag(&path, &packed);
        assert_eq!(bytes_of(&path), expected, "{name} by itself");
        // What lies beside it tells of another file, or nothing of its packing.
        let beside = folder.path().join("metadata.yaml");
        for text in [metadata("other_0.db3", "MESSAGE"), metadata(name, "NONE")] {
            std::fs::write(&beside, text).unwrap();
            assert_eq!(bytes_of(&path), expected, "{name} with other metadata");
        }
        std::fs::remove_file(beside).unwrap();
        // That the metadata is lost is told.
        let lost: Vec<_> =
            std::iter::once(Err(Cause::BadMessage)).chain(expected.iter().cloned()).collect();
        assert_eq!(bytes_of(folder.path()), lost, "{name} in its folder");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn what_is_left_out_of_a_folder_is_damage_where_no_other_file_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, messages: &[Sent]| write_bag(&folder.path().join(name), messages);
    let all: Vec<Sent> = chunks().into_iter().flatten().collect();
    let times: Vec<i64> = all.iter().map(|sent| i64::try_from(sent.log_time).unwrap()).collect();
    write("run_0.mcap", &all);
    std::fs::write(folder.path().join("metadata.yaml"), metadata("run_0.mcap", "NONE")).unwrap();
    let last = all.len() - 1;
    let (mut other_sound, mut other_time) = (all.clone(), all.clone());
    other_sound[3].data[20] ^= 1;
    other_time[3].log_time += 1;
    for (what, messages, is_lost) in [
        ("a copy", all.as_slice(), false),
        ("a piece", &all[5..last], false),
        ("other sound", other_sound.as_slice(), true),
        ("another time", other_time.as_slice(), true),
    ] {
        write("edited.mcap", messages);
        let read = Read::of(folder.path());
        assert_eq!(read.times, times, "{what}: nothing is read twice");
        assert_eq!(read.damage.len(), usize::from(is_lost), "{what}: {:?}", read.damage);
        for (cause, place) in read.damage {
            assert_eq!(cause, Cause::LeftOut, "{what}");
            assert!(place.contains("in edited.mcap: metadata.yaml does not name it"), "{place}");
        }
    }
    // What begins where the others end is read.
    let later: Vec<Sent> = all[..3]
        .iter()
        .map(|sent| Sent { log_time: sent.log_time + 1_000_000_000, ..sent.clone() })
        .collect();
    write("edited.mcap", &later);
    let read = Read::of(folder.path());
    assert_eq!((read.times.len(), read.damage.len()), (all.len() + 3, 0), "{:?}", read.damage);
}
