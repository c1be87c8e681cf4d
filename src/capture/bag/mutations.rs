//! Promise: whatever bytes are given as a bag, nothing panics.
//!
//! Seeded mutations of small bags and messages of every format: a few thousand in `make test`; with
//! `ENGRAM_MUTATIONS=N` so many per target, going on where the run before stopped (`ENGRAM_MUTATIONS_STATE`
//! names the file that counts).

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Bag, Found, fuzz, seeds};
use crate::capture::ReplayOptions;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.roll() % limit.max(1) as u64).unwrap()
    }
}

/// Changes one to eight places.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    const NUMBERS: [u64; 8] =
        [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, u64::MAX];
    for _ in 0..=dice.below(8) {
        let at = dice.below(bytes.len());
        match dice.below(8) {
            0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << dice.below(8),
            2 if !bytes.is_empty() => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
            3 => bytes.truncate(at),
            4 => {
                let width = [1, 2, 4, 8][dice.below(4)];
                let number = NUMBERS[dice.below(8)].wrapping_add(dice.roll() % 3).to_le_bytes();
                let end = (at + width).min(bytes.len());
                let length = end - at.min(end);
                bytes[at.min(end)..end].copy_from_slice(&number[..length]);
            }
            5 => {
                let end = (at + dice.below(32)).min(bytes.len());
                bytes.drain(at..end);
            }
            6 => {
                let copied: Vec<u8> =
                    bytes.iter().skip(dice.below(bytes.len())).take(16).copied().collect();
                bytes.splice(at..at, copied);
            }
            _ => {
                let from = dice.below(other.len());
                let piece: Vec<u8> =
                    other.iter().skip(from).take(dice.below(64)).copied().collect();
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece);
            }
        }
    }
    bytes.truncate(1 << 16);
}

/// Runs a target on mutations of its seeds; on a panic the bytes are left beside the state for a look.
pub(crate) fn hold(name: &str, few: u64, seeds: &[Vec<u8>], mut target: impl FnMut(&[u8])) {
    for seed in seeds {
        target(seed);
    }
    let asked = std::env::var("ENGRAM_MUTATIONS").ok().and_then(|text| text.parse::<u64>().ok());
    let state = std::env::var_os("ENGRAM_MUTATIONS_STATE").map(PathBuf::from);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let file = state.as_ref().map(|folder| folder.join(name));
    if let Some(before) = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()) {
        counts.insert(name.to_owned(), before.trim().parse().unwrap_or(0));
    }
    let done = counts.get(name).copied().unwrap_or(0);
    for run in done..done + asked.unwrap_or(few) {
        let mut dice = Dice(run.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ name.len() as u64);
        let mut bytes = seeds[dice.below(seeds.len())].clone();
        mutate(&mut bytes, &seeds[dice.below(seeds.len())], &mut dice);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target(&bytes)));
        if let Err(panic) = result {
            let left = std::env::temp_dir().join(format!("engram-{name}-{run}"));
            std::fs::write(&left, &bytes).unwrap();
            eprintln!("{name}, run {run}: the bytes are in {}", left.display());
            std::panic::resume_unwind(panic);
        }
    }
    if let Some(file) = file {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("{}\n", done + asked.unwrap_or(few))).unwrap();
    }
}

/// A scratch file in memory where there is such a folder.
fn scratch() -> (tempfile::TempDir, PathBuf) {
    let memory = std::path::Path::new("/dev/shm");
    let folder =
        if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let file = folder.path().join("bag");
    (folder, file)
}

fn bags(name: &str, few: u64, seeds: &[Vec<u8>]) {
    let (_folder, file) = scratch();
    hold(name, few, seeds, |bytes| fuzz::bag(&file, bytes));
}

#[test]
fn the_seeds_are_whole_bags() {
    let (_folder, file) = scratch();
    let mut all = vec![
        seeds::mcap(None),
        seeds::mcap(Some(mcap::Compression::Zstd)),
        seeds::mcap(Some(mcap::Compression::Lz4)),
        seeds::sqlite(false),
        seeds::sqlite(true),
    ];
    all.extend(["none", "bz2", "lz4"].map(|compression| seeds::rosbag1(compression, true)));
    for bytes in all {
        std::fs::write(&file, &bytes).unwrap();
        let bag = Bag::open(&file).unwrap().unwrap();
        let topics = bag.topics(&ReplayOptions::default());
        assert_eq!(topics.len(), 3, "{topics:?}");
        let mut reader = bag.reader(|_| true).unwrap();
        let mut messages = 0;
        while let Some(found) = reader.next() {
            let Found::Message(message) = found else { panic!("{found:?}") };
            let decoded = message.connection.decode(&message.data).unwrap();
            assert!(decoded.is_ok(), "{}: {decoded:?}", message.connection.topic);
            messages += 1;
        }
        assert_eq!(messages, seeds::MESSAGES);
    }
    for bytes in seeds::definitions() {
        let length = usize::from(u16::from_le_bytes([bytes[1], bytes[2]]));
        let (text, data) = bytes[3..].split_at(length);
        let (schema, encoding, language) = fuzz::DEFINED[usize::from(bytes[0])];
        let (connection, flaw) =
            super::Connection::new("t", schema, encoding, Some((language, text)));
        assert_eq!(flaw, None);
        assert!(
            connection.decode(data).unwrap().is_ok(),
            "{schema}, {encoding}: {:?}",
            connection.decode(data)
        );
    }
}

#[test]
fn mutated_mcap_never_panics() {
    let (plain, zstd, lz4) = (None, Some(mcap::Compression::Zstd), Some(mcap::Compression::Lz4));
    bags("mcap", 1_000, &[plain, zstd, lz4].map(seeds::mcap));
}

#[test]
fn mutated_rosbag1_never_panics() {
    let all: Vec<_> = ["none", "bz2", "lz4"]
        .into_iter()
        .flat_map(|compression| [true, false].map(|indexed| seeds::rosbag1(compression, indexed)))
        .collect();
    bags("rosbag1", 1_000, &all);
}

#[test]
fn mutated_sqlite_never_panics() {
    bags("sqlite", 500, &[false, true].map(seeds::sqlite));
}

#[test]
fn mutated_metadata_never_panics() {
    hold("metadata", 2_000, &seeds::metadata(), fuzz::rosbag2_metadata);
}

#[test]
fn mutated_packed_files_and_messages_never_panic() {
    hold("packed", 1_000, &seeds::packed(), fuzz::rosbag2_packed);
}

#[test]
fn mutated_messages_never_panic() {
    hold("messages", 20_000, &seeds::messages(), fuzz::message);
}

#[test]
fn mutated_definitions_never_panic() {
    hold("definitions", 10_000, &seeds::definitions(), fuzz::definition);
}

#[test]
fn mutated_pixels_never_panic() {
    let seeds: Vec<_> =
        (0..24_u8).map(|n| [&[n, 4, 4, 16], [n; 300].as_slice()].concat()).collect();
    hold("pixels", 10_000, &seeds, fuzz::raw_image);
}

#[test]
fn mutated_picture_files_never_panic() {
    hold("picture_files", 2_000, &seeds::picture_files(), fuzz::picture);
}

/// `ENGRAM_SEEDS=FOLDER`: where they go.
#[test]
#[ignore = "writes fuzz/seeds, by hand"]
fn the_seeds_of_fuzzing_are_written() {
    let folder = PathBuf::from(std::env::var_os("ENGRAM_SEEDS").expect("ENGRAM_SEEDS"));
    let text = |texts: &[&str]| -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.as_bytes().to_vec()).collect()
    };
    let camera = crate::camera::CameraInfo::pinhole("front", 640, 480, 1.0).to_yaml();
    let lens = camera.replace("plumb_bob", "equidistant").replace(", 0.0]\nrect", "]\nrect");
    let packings = [None, Some(mcap::Compression::Zstd), Some(mcap::Compression::Lz4)];
    let rosbag1 = ["none", "bz2", "lz4"].map(|packing| seeds::rosbag1(packing, true));
    let all: [(&str, Vec<Vec<u8>>); 13] = [
        ("bag_mcap", packings.map(seeds::mcap).to_vec()),
        ("bag_rosbag1", rosbag1.to_vec()),
        ("bag_sqlite", [false, true].map(seeds::sqlite).to_vec()),
        ("rosbag2_metadata", seeds::metadata()),
        ("rosbag2_packed", seeds::packed()),
        ("message", seeds::messages()),
        ("definition", seeds::definitions()),
        ("raw_image", (0..12_u8).map(|n| [&[n, 2, 2, 8], [n; 40].as_slice()].concat()).collect()),
        ("picture", seeds::picture_files()),
        ("camera_info", text(&[&camera, &lens])),
        (
            "labels",
            text(&[
                "SPEAKER two 1 0.50 1.25 <NA> <NA> ava <NA> <NA>\n",
                r#"{"format":"engram-truth/1","identities":[{"id":"a","visible":[{"start":0,"end":1,"face_area_px":[1,2,3,4]}],"speaking":[{"start":0,"end":1}]}]}"#,
            ]),
        ),
        ("class_labels", text(&crate::perceive::object::LABEL_SEEDS)),
        ("request", text(&crate::mqtt::message::REQUEST_SEEDS)),
    ];
    for (target, seeds) in all {
        std::fs::create_dir_all(folder.join(target)).unwrap();
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(target).join(number.to_string()), seed).unwrap();
        }
    }
}
