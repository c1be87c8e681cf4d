//! Media files, named by the SHA-256 of what they hold: `media/ab/abcdef…`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::encryption::FileCipher;

use super::make_dir;
use crate::memory::error::MemoryError;
use crate::memory::model::{Media, MediaDigest, MediaKind};
use crate::whole_file;

impl MediaDigest {
    /// Of those bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex::encode(Sha256::digest(bytes)).into())
    }

    /// True for 64 lower-case hex digits: only such a name is ever turned into a path.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.0.len() == 64
            && self.0.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    }
}

impl Media {
    /// A file with its digest.
    #[must_use]
    pub fn new(kind: MediaKind, pinned: bool, bytes: impl Into<std::sync::Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { digest: MediaDigest::of(&bytes), kind, pinned, bytes }
    }
}

/// What the files' key is derived for.
pub(crate) const PURPOSE: &str = "media";

/// What lies in the folder, in order of names.
pub(crate) struct Listing {
    /// Media with their sizes, bytes.
    pub(crate) found: Vec<(MediaDigest, u64)>,
    /// Files that are no media.
    pub(crate) strange: Vec<PathBuf>,
}

/// The folder of media files.
#[derive(Clone, Debug)]
pub(crate) struct MediaFolder {
    root: PathBuf,
    cipher: FileCipher,
}

impl MediaFolder {
    pub(crate) fn new(dir: &Path, cipher: FileCipher) -> Self {
        Self { root: dir.join("media"), cipher }
    }

    fn path(&self, digest: &MediaDigest) -> Option<PathBuf> {
        digest.is_valid().then(|| self.root.join(&digest.0[..2]).join(&*digest.0))
    }

    /// Writes a file so that it is whole or not there, and on the disk when this returns.
    pub(crate) fn write(&self, media: &Media) -> Result<(), MemoryError> {
        let Some(path) = self.path(&media.digest) else {
            return Err(MemoryError::Refused(format!(
                "keeping a file: {:?} is no SHA-256",
                media.digest.0
            )));
        };
        if path.is_file() {
            return Ok(());
        }
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        make_dir(&folder)?;
        whole_file::write(&path, &self.cipher.seal(&media.bytes))
            .map_err(MemoryError::io("writing the media file", &path))
    }

    /// The file's bytes; `None` when the size cap or erasing took it.
    pub(crate) fn read(&self, digest: &MediaDigest) -> Result<Option<Vec<u8>>, MemoryError> {
        let Some(path) = self.path(digest) else { return Ok(None) };
        match fs::read(&path) {
            Ok(found) => {
                let opened = self.cipher.open(found);
                opened.map(Some).map_err(|source| MemoryError::Encryption { path, source })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(MemoryError::io("reading the media file", &path)(error)),
        }
    }

    pub(crate) fn remove(&self, digest: &MediaDigest) -> Result<bool, MemoryError> {
        let Some(path) = self.path(digest) else { return Ok(false) };
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(MemoryError::io("deleting the media file", &path)(error)),
        }
    }

    /// Puts a file elsewhere as it lies.
    pub(crate) fn move_to(&self, digest: &MediaDigest, place: &Path) -> Result<(), MemoryError> {
        let Some(path) = self.path(digest) else { return Ok(()) };
        fs::rename(&path, place).map_err(MemoryError::io("putting the media file aside as", place))
    }

    /// Encrypts every file that is not yet; how many.
    pub(crate) fn encrypt(&self) -> Result<u64, MemoryError> {
        let mut done = 0;
        for (digest, _) in self.list()?.found {
            let Some(path) = self.path(&digest) else { continue };
            let encrypted = self.cipher.encrypt_file(&path);
            done += u64::from(encrypted.map_err(MemoryError::io("encrypting", &path))?);
        }
        Ok(done)
    }

    /// Every file there is.
    pub(crate) fn list(&self) -> Result<Listing, MemoryError> {
        let (mut found, mut strange) = (Vec::new(), Vec::new());
        let entries = |dir: &Path| match fs::read_dir(dir) {
            Ok(entries) => {
                entries.collect::<Result<Vec<_>, _>>().map_err(MemoryError::io("listing", dir))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(MemoryError::io("listing", dir)(error)),
        };
        for folder in entries(&self.root)? {
            if !folder.path().is_dir() {
                strange.push(folder.path());
                continue;
            }
            for file in entries(&folder.path())? {
                let digest = MediaDigest(file.file_name().to_string_lossy().as_ref().into());
                match (digest.is_valid(), file.metadata()) {
                    (true, Ok(metadata)) => found.push((digest, metadata.len())),
                    _ => strange.push(file.path()),
                }
            }
        }
        found.sort();
        strange.sort();
        Ok(Listing { found, strange })
    }
}
