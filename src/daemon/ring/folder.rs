//! A folder of MCAP files, each named by what it covers: `<first>_<last>.mcap`, nanoseconds since 1970.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use crate::encryption::{FileCipher, StoreKey};
use crate::time::{Span, Timestamp};
use crate::whole_file;

/// What such a file's name ends with.
const SUFFIX: &str = ".mcap";

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its name without the suffix.
    pub name: String,
    /// From its first message to just after its last.
    pub span: Span,
    /// What it takes on the disk, bytes.
    pub bytes: u64,
}

/// The folder; it is made when something is put into it.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    dir: PathBuf,
    cipher: FileCipher,
}

impl Folder {
    /// Files in `dir`, encrypted under the store's `key` for that purpose.
    pub(super) fn new(dir: PathBuf, key: Option<&StoreKey>, purpose: &'static str) -> Self {
        Self { dir, cipher: FileCipher::new(key, purpose) }
    }

    /// What lies there, by time; what was not finished is removed.
    pub(super) fn list(&self) -> io::Result<Vec<Kept>> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(SUFFIX) else { continue };
            let Some(span) = span_of(stem) else { continue };
            // (It may be taken away meanwhile.)
            let Ok(about) = entry.metadata() else { continue };
            found.push(Kept { name: stem.to_owned(), span, bytes: about.len() });
        }
        found.sort_by_key(|kept| (kept.span.start, kept.span.end));
        Ok(found)
    }

    /// Takes away what a killed daemon did not finish.
    pub(super) fn tidy(&self) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Ok(()) };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|suffix| suffix == whole_file::UNFINISHED) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// Writes a file, whole or not at all, and on the disk when this returns.
    pub(super) fn put(&self, span: Span, mcap: &[u8]) -> io::Result<Kept> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let name = format!("{:020}_{:020}", span.start.as_nanos(), span.end.as_nanos());
        let path = self.path(&name);
        let sealed = self.cipher.seal(mcap);
        whole_file::write(&path, &sealed)?;
        Ok(Kept { name, span, bytes: sealed.len() as u64 })
    }

    /// What it holds; `None`: it is not there any more.
    pub(super) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path(name)) {
            Ok(found) => {
                let opened = self.cipher.open(found);
                opened
                    .map(Some)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes a file away.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Encrypts what is not yet; how many files.
    pub(super) fn encrypt(&self) -> io::Result<u64> {
        let mut done = 0;
        for kept in self.list()? {
            done += u64::from(self.cipher.encrypt_file(&self.path(&kept.name))?);
        }
        Ok(done)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}{SUFFIX}"))
    }
}

fn span_of(stem: &str) -> Option<Span> {
    let (start, end) = stem.split_once('_')?;
    let at = |digits: &str| digits.parse().ok().map(Timestamp::from_nanos);
    let (start, end) = (at(start)?, at(end)?);
    (start < end).then_some(Span::new(start, end))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_their_time_and_read_under_the_key_alone() {
        let dir = tempfile::tempdir().unwrap();
        let key = StoreKey::parse(&"ab".repeat(32)).unwrap();
        let folder = Folder::new(dir.path().join("ring"), Some(&key), "ring");
        assert_eq!(folder.list().unwrap(), []);
        let at = |secs: i64| Timestamp::from_nanos(secs * 1_000_000_000);
        let (later, first) = (Span::new(at(20), at(21)), Span::new(at(9), at(10)));
        let kept = folder.put(later, b"a secret").unwrap();
        folder.put(first, b"another").unwrap();
        fs::write(folder.dir.join("00_01.part"), b"half").unwrap();
        fs::write(folder.dir.join("strange.mcap"), b"x").unwrap();
        folder.tidy().unwrap();
        assert!(!folder.dir.join("00_01.part").exists());
        let spans: Vec<Span> = folder.list().unwrap().iter().map(|kept| kept.span).collect();
        assert_eq!(spans, [first, later]);
        assert_eq!(folder.read(&kept.name).unwrap().unwrap(), b"a secret");
        let raw = fs::read(folder.dir.join(format!("{}.mcap", kept.name))).unwrap();
        assert!(!raw.windows(6).any(|window| window == b"secret"));
        assert!(Folder::new(dir.path().join("ring"), None, "ring").read(&kept.name).is_err());
        folder.remove(&kept.name).unwrap();
        folder.remove(&kept.name).unwrap();
        assert_eq!(folder.read(&kept.name).unwrap(), None);
        assert_eq!(folder.list().unwrap().len(), 1);
    }
}
