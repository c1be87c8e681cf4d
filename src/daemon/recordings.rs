//! The folder of recordings that may be chosen to be played (`replay.folder`).

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What a rosbag2 folder has.
const ROSBAG2: &str = "metadata.yaml";

/// A recording that may be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its file, or folder.
    pub name: String,
    /// What it holds, bytes.
    pub bytes: u64,
    /// When it was last written.
    pub modified: Timestamp,
}

/// What lies in the folder, by name: files, and rosbag2 folders. Whether each can be played shows when it is.
///
/// # Errors
/// When the folder cannot be read.
pub fn recordings(folder: &Path) -> io::Result<Vec<Listed>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // What has no name in UTF-8 cannot be asked for.
        let Ok(name) = entry.file_name().into_string() else { continue };
        // (Links are followed: whoever made them chose what they lead to.)
        let Ok(about) = std::fs::metadata(entry.path()) else { continue };
        let is_bag = about.is_dir() && entry.path().join(ROSBAG2).is_file();
        if name.starts_with('.') || !(about.is_file() || is_bag) {
            continue;
        }
        let bytes = if is_bag { files_in(&entry.path())? } else { about.len() };
        let modified = about.modified().map_or(Timestamp::EPOCH, written);
        found.push(Listed { name, bytes, modified });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Where the recording of that name lies; `None`: it is not in the folder.
///
/// # Errors
/// When the folder cannot be read.
pub fn named(folder: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let known = recordings(folder)?.into_iter().any(|one| one.name == name);
    Ok(known.then(|| folder.join(name)))
}

/// Bytes of the files in a folder.
fn files_in(folder: &Path) -> io::Result<u64> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

fn written(at: std::time::SystemTime) -> Timestamp {
    let since = at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_nanos(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn files_and_bags_of_the_folder_are_chosen_by_name_and_nothing_outside_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("recordings");
        std::fs::create_dir_all(folder.join("night")).unwrap();
        std::fs::create_dir_all(folder.join("other")).unwrap();
        std::fs::write(folder.join("night/metadata.yaml"), "a: 1").unwrap();
        std::fs::write(folder.join("night/night_0.mcap"), [0; 100]).unwrap();
        std::fs::write(folder.join("home.mp4"), [0; 7]).unwrap();
        std::fs::write(folder.join(".hidden.mp4"), [0; 7]).unwrap();
        std::fs::write(dir.path().join("secret.mp4"), [0; 7]).unwrap();
        let listed = recordings(&folder).unwrap();
        let listed: Vec<_> = listed.iter().map(|one| (one.name.as_str(), one.bytes)).collect();
        assert_eq!(listed, [("home.mp4", 7), ("night", 104)]);
        assert_eq!(named(&folder, "night").unwrap(), Some(folder.join("night")));
        let absolute = dir.path().join("secret.mp4");
        for name in [
            "../secret.mp4",
            "night/night_0.mcap",
            "./home.mp4",
            ".hidden.mp4",
            "other",
            "..",
            "",
            absolute.to_str().unwrap(),
        ] {
            assert_eq!(named(&folder, name).unwrap(), None, "{name}");
        }
        assert!(recordings(&dir.path().join("none")).is_err());
    }
}
