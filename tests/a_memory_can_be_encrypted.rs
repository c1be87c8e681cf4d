//! The daemon's store under a key: nothing of it lies plain, and without the key it says what is missing.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Robot, need};

/// Files below a folder that begin as SQLite, JPEG or WAV files do, or hold the words.
fn plain(dir: &Path, words: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(plain(&path, words));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let heads: [&[u8]; 3] = [b"SQLite format 3", b"\xff\xd8\xff", b"RIFF"];
        let holds = bytes.windows(words.len()).any(|part| part == words.as_bytes());
        if holds || heads.iter().any(|head| bytes.starts_with(head)) {
            found.push(path);
        }
    }
    found
}

fn key_file(keys: &tempfile::TempDir, digit: char) -> String {
    let path = keys.path().join(digit.to_string());
    std::fs::write(&path, format!("{}\n", digit.to_string().repeat(64))).unwrap();
    format!("store.key_file={}", path.display())
}

#[test]
fn a_store_is_encrypted_from_its_first_clip_or_later() {
    let recording = need!("recordings/one_person_dev.mp4");
    let robot = Robot::new("edge");
    robot.replay(&recording, &["--duration", "30"]);
    let before = robot.hash();
    let words = "was in view";
    assert!(plain(robot.dir.path(), words).len() >= 2, "database and pictures lie plain");

    let keys = tempfile::tempdir().unwrap();
    let key = key_file(&keys, 'a');
    let robot = robot.set(&key);
    let refused = robot.command(&["export", "--hash"]).output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && told.contains("engramd encrypt"), "{told}");
    let done = robot.json(&["encrypt", "--json"]);
    assert!(done["database"] == json!(true) && done["media"].as_u64() > Some(0), "{done}");
    assert_eq!(robot.hash(), before);
    assert_eq!(plain(robot.dir.path(), words), Vec::<PathBuf>::new());

    let fresh = Robot::new("edge").set(&key);
    fresh.replay(&recording, &["--duration", "30"]);
    assert_eq!(fresh.hash(), before, "the same memory, encrypted or not");
    assert_eq!(plain(fresh.dir.path(), words), Vec::<PathBuf>::new());
    let rows = fresh.json(&["sql", "SELECT count(*) FROM memories", "--json"]);
    assert!(rows["rows"][0][0].as_u64() > Some(0), "{rows}");

    let mut wrong = fresh;
    for (other, cure) in [
        (key_file(&keys, 'b'), "another key"),
        ("store.key_file=/nowhere/key".to_owned(), "/nowhere/key"),
    ] {
        wrong = wrong.set(&other);
        let told = wrong.command(&["export", "--hash"]).output().unwrap();
        let words = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(!told.status.success() && words.contains(cure), "{words}");
    }
}
