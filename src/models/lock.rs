//! `models.lock`: the hashes of the files, kept beside them.
//!
//! It does two things. A file whose hash nobody publishes (exported here, or supplied by the user) is
//! locked: its first hash is written down, and another one later is an error, because embeddings of
//! the two could not be compared. And no file is hashed twice: an entry holds the size and the time of
//! the last change under which its hash was taken, and start-up trusts it while both are the same.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ids::ModelHash;
use crate::models::error::ModelError;

/// Name of the file.
pub const FILE_NAME: &str = "models.lock";

const HEAD: &str = "# Hashes of the model files beside this one, as they were when first used.\n\
    # Written by engramd; `engramd models verify --accept` takes changed files on.\n\n";

/// One file as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    sha256: ModelHash,
    bytes: u64,
    /// Last change, nanoseconds since 1970, or 0 where the file system does not say.
    changed_ns: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    #[serde(default)]
    files: BTreeMap<String, Entry>,
}

/// The lock of one models folder. A folder that cannot be written to works too: then every start hashes anew.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    files: Mutex<BTreeMap<String, Entry>>,
}

impl Lock {
    /// Reads the lock of a folder; a missing one is empty, an unreadable one counts as missing.
    #[must_use]
    pub fn open(dir: &Path) -> Self {
        let path = dir.join(FILE_NAME);
        let files = Mutex::new(read(&path));
        Self { path, files }
    }

    /// The SHA-256 of `path`, from the entry `key` when size and time of change are as they were.
    ///
    /// # Errors
    /// [`ModelError::Io`] when the file cannot be read.
    pub fn hash(&self, key: &str, path: &Path) -> Result<ModelHash, ModelError> {
        let seen = self.locked(key);
        let (bytes, changed_ns) = stamp(path)?;
        match seen {
            Some(entry) if entry.bytes == bytes && entry.changed_ns == changed_ns => {
                Ok(entry.sha256)
            }
            _ => hash_file(path),
        }
    }

    /// The hash under which `key` was written down.
    #[must_use]
    pub fn hash_of(&self, key: &str) -> Option<ModelHash> {
        self.locked(key).map(|entry| entry.sha256)
    }

    /// Writes down that `path` has this hash now.
    ///
    /// # Errors
    /// [`ModelError::Io`] when the file's size cannot be read. A lock that cannot be written is no error.
    pub fn write(&self, key: &str, path: &Path, sha256: ModelHash) -> Result<(), ModelError> {
        let (bytes, changed_ns) = stamp(path)?;
        let entry = Entry { sha256, bytes, changed_ns };
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.get(key) == Some(&entry) {
            return Ok(());
        }
        files.insert(key.to_owned(), entry.clone());
        // Another process may have written since: keep its entries.
        let mut merged = read(&self.path);
        merged.insert(key.to_owned(), entry);
        if let Err(error) = save(&self.path, merged) {
            tracing::debug!(path = %self.path.display(), %error, "model hashes are not kept: the folder is read-only");
        }
        Ok(())
    }

    fn locked(&self, key: &str) -> Option<Entry> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}

fn read(path: &Path) -> BTreeMap<String, Entry> {
    let Ok(text) = fs::read_to_string(path) else { return BTreeMap::new() };
    match toml::from_str::<Contents>(&text) {
        Ok(contents) => contents.files,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "not readable, hashing the models anew");
            BTreeMap::new()
        }
    }
}

fn save(path: &Path, files: BTreeMap<String, Entry>) -> io::Result<()> {
    let text = toml::to_string(&Contents { files }).map_err(io::Error::other)?;
    let new = path.with_extension(format!("lock.{}", std::process::id()));
    fs::write(&new, format!("{HEAD}{text}"))?;
    fs::rename(&new, path).inspect_err(|_| drop(fs::remove_file(&new)))
}

fn stamp(path: &Path) -> Result<(u64, u64), ModelError> {
    let facts = fs::metadata(path).map_err(ModelError::io("reading", path))?;
    let changed = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed_ns = changed.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0);
    Ok((facts.len(), changed_ns))
}

/// The SHA-256 of a file's bytes.
///
/// # Errors
/// [`ModelError::Io`] when it cannot be read.
pub fn hash_file(path: &Path) -> Result<ModelHash, ModelError> {
    let failed = || ModelError::io("reading", path);
    let mut file = File::open(path).map_err(failed())?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(failed())? {
            0 => return Ok(ModelHash(hasher.finalize().into())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_taken_once_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.onnx");
        fs::write(&path, "weights").unwrap();
        let lock = Lock::open(dir.path());
        let hash = lock.hash("a.onnx", &path).unwrap();
        assert_eq!(hash, hash_file(&path).unwrap());
        assert_eq!(lock.hash_of("a.onnx"), None);
        lock.write("a.onnx", &path, hash).unwrap();

        let again = Lock::open(dir.path());
        assert_eq!(again.hash_of("a.onnx"), Some(hash));
        fs::write(&path, "other weights").unwrap();
        assert_ne!(again.hash("a.onnx", &path).unwrap(), hash);
        assert_eq!(again.hash_of("a.onnx"), Some(hash));
    }

    #[test]
    fn two_processes_keep_each_others_entries() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.onnx");
        fs::write(&path, "weights").unwrap();
        let (one, two) = (Lock::open(dir.path()), Lock::open(dir.path()));
        let hash = hash_file(&path).unwrap();
        one.write("a", &path, hash).unwrap();
        two.write("b", &path, hash).unwrap();
        let both = Lock::open(dir.path());
        assert_eq!((both.hash_of("a"), both.hash_of("b")), (Some(hash), Some(hash)));
    }

    #[test]
    fn a_damaged_lock_is_not_fatal() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE_NAME), "files = 3").unwrap();
        assert_eq!(Lock::open(dir.path()).hash_of("a"), None);
    }
}
