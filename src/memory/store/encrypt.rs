//! Encrypting a store that is not yet: `engramd encrypt`.

use std::path::Path;

use serde::Serialize;

use super::media;
use super::media::MediaFolder;
use crate::encryption::{self, ConvertError, FileCipher, StoreKey};
use crate::memory::error::MemoryError;
use crate::memory::store;
use crate::memory::versions::derived::DerivedFiles;

/// What was encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Encrypted {
    /// The database was; false: it had been.
    pub database: bool,
    /// Media files.
    pub media: u64,
}

/// Encrypts the database and the media in `dir`, and what else lies there: `beside` is called once no daemon can have
/// it. One that was interrupted goes on: first what is read either way, the database last.
///
/// # Errors
/// When a daemon holds the store, there is none, it is encrypted under another key, or the disk fails.
pub fn encrypt<E: From<MemoryError>>(
    dir: &Path,
    key: &StoreKey,
    beside: impl FnOnce() -> Result<(), E>,
) -> Result<Encrypted, E> {
    let path = store::database_path(dir);
    if !path.is_file() {
        return Err(MemoryError::Missing { dir: dir.to_owned() }.into());
    }
    let _lock = store::lock(dir)?;
    beside()?;
    DerivedFiles::of(dir).remove();
    let folder = MediaFolder::new(dir, FileCipher::new(Some(key), media::PURPOSE));
    let media = folder.encrypt()?;
    let database =
        encryption::encrypt_database(&path, key, store::PURPOSE).map_err(|error| match error {
            ConvertError::Busy => {
                MemoryError::Refused(format!("encrypting {}: {error}", path.display()))
            }
            ConvertError::Sqlite(source) => {
                MemoryError::sqlite("encrypting the memory", &path)(source)
            }
            ConvertError::Io(source) => MemoryError::io("encrypting", &path)(source),
            ConvertError::Encryption(source) => {
                MemoryError::Encryption { path: path.clone(), source }
            }
        })?;
    Ok(Encrypted { database, media })
}
