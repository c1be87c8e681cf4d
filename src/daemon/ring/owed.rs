//! Erasures that are not done yet: the spans are noted before anything is taken away, and struck out when all of it is, so that
//! neither a ring that does not answer, nor a disk that fails, nor a kill leaves what was to go.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use crate::encryption::{FileCipher, StoreKey};
use crate::time::{Span, Timestamp};
use crate::whole_file;

/// The file that notes them, encrypted under the store's key where there is one.
#[derive(Debug)]
pub(super) struct Owed {
    path: PathBuf,
    cipher: FileCipher,
}

impl Owed {
    /// Noted in `dir`.
    pub(super) fn new(dir: PathBuf, key: Option<&StoreKey>) -> Self {
        Self { path: dir.join("erasing"), cipher: FileCipher::new(key, "ring erasing") }
    }

    /// What is owed. A file that cannot be read owes nothing that could be known: it is told, and goes with the next erasure.
    pub(super) fn spans(&self) -> Vec<Span> {
        let sealed = match fs::read(&self.path) {
            Ok(sealed) => sealed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => return self.unreadable(&error),
        };
        let plain = match self.cipher.open(sealed) {
            Ok(plain) => plain,
            Err(error) => return self.unreadable(&error),
        };
        match serde_json::from_slice::<Vec<[Timestamp; 2]>>(&plain) {
            Ok(pairs) => {
                let sound = pairs.into_iter().filter(|[start, end]| start <= end);
                sound.map(|[start, end]| Span::new(start, end)).collect()
            }
            Err(error) => self.unreadable(&error),
        }
    }

    /// Notes what is owed from now on; nothing: all is done.
    pub(super) fn note(&self, spans: &[Span]) -> io::Result<()> {
        if spans.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let pairs: Vec<[Timestamp; 2]> = spans.iter().map(|span| [span.start, span.end]).collect();
        let plain = serde_json::to_vec(&pairs)?;
        let Some(dir) = self.path.parent() else { return Ok(()) };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        whole_file::write(&self.path, &self.cipher.seal(&plain))
    }

    /// Encrypts what is noted, where it is not yet; whether it was not.
    pub(super) fn encrypt(&self) -> io::Result<bool> {
        match self.path.try_exists()? {
            true => self.cipher.encrypt_file(&self.path),
            false => Ok(false),
        }
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> Vec<Span> {
        let path = self.path.display();
        tracing::error!(
            "Which times of the ring are still to be erased cannot be read from {path}: {error}"
        );
        Vec::new()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_owed_is_known_until_it_is_done_and_never_a_panic() {
        let dir = tempfile::tempdir().unwrap();
        let key = StoreKey::parse(&"ab".repeat(32)).unwrap();
        let owed = Owed::new(dir.path().join("ring"), Some(&key));
        assert_eq!(owed.spans(), []);
        owed.note(&[]).unwrap();
        let at = |secs: i64| Timestamp::from_nanos(secs * 1_000_000_000);
        let spans = [Span::new(at(1), at(2)), Span::new(at(5), at(5))];
        owed.note(&spans).unwrap();
        assert_eq!(owed.spans(), spans);
        assert_eq!(Owed::new(dir.path().join("ring"), None).spans(), []);
        owed.note(&[]).unwrap();
        assert_eq!(owed.spans(), []);
        // A store that is encrypted later owes the same.
        let plain = Owed::new(dir.path().join("ring"), None);
        plain.note(&spans).unwrap();
        assert!(owed.encrypt().unwrap() && owed.spans() == spans && plain.spans().is_empty());
        assert!(!owed.encrypt().unwrap());
        for broken in [&b"{"[..], b"[[2,1]]", b"[[1]]"] {
            fs::write(&owed.path, broken).unwrap();
            assert_eq!(owed.spans(), []);
        }
    }
}
