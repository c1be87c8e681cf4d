//! Encryption at rest: one key of 256 bits from a file, of which every kind of file in the store has a key of its own.
//!
//! Databases are encrypted by SQLCipher (AES-256 in CBC mode with HMAC-SHA512, page by page) under a raw key; whole
//! files by XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with a random nonce. Keys are derived by HKDF-SHA256
//! (RFC 5869). A whole file begins with [`MAGIC`], then 24 bytes of nonce, then the ciphertext with its 16-byte tag.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use chacha20poly1305::aead::{Aead as _, AeadCore as _, OsRng};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use sha2::Sha256;
use zeroize::Zeroizing;

/// What an encrypted file begins with.
const MAGIC: &[u8; 8] = b"engram\x00\x01";
const NONCE_BYTES: usize = 24;
const KEY_BYTES: usize = 32;

/// Why a key cannot be used, or a file not be read with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncryptionError {
    /// The file of the key holds something else.
    #[error("the key must be 64 hexadecimal digits (openssl rand -hex 32 makes one)")]
    NoKey,
    /// It is encrypted, and no key was given; or it is damaged.
    #[error("it is encrypted (name the file with its key in store.key_file), or damaged")]
    KeyMissing,
    /// It is encrypted under another key, or damaged.
    #[error("it is encrypted under another key than that of store.key_file, or damaged")]
    WrongKey,
    /// A key was given, and the database is not encrypted.
    #[error(
        "it is not encrypted, but store.key_file names a key: stop the daemon and run `engramd encrypt`, or take \
         store.key_file away"
    )]
    NotEncrypted,
}

/// The key of a store. Cheap to clone; overwritten when the last copy goes, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreKey(Arc<Zeroizing<[u8; KEY_BYTES]>>);

impl fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreKey(…)")
    }
}

impl StoreKey {
    /// From 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`EncryptionError::NoKey`] for anything else.
    pub fn parse(text: &str) -> Result<Self, EncryptionError> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        hex::decode_to_slice(text.trim(), bytes.as_mut_slice())
            .map_err(|_| EncryptionError::NoKey)?;
        Ok(Self(Arc::new(bytes)))
    }

    /// The key of one kind of file.
    fn derived(&self, purpose: &str) -> Zeroizing<[u8; KEY_BYTES]> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        // It fails for keys of more than 8,160 bytes only.
        let _ = Hkdf::<Sha256>::new(Some(b"engram store"), self.0.as_slice())
            .expand(purpose.as_bytes(), key.as_mut_slice());
        key
    }
}

/// Whether bytes are those of an encrypted file.
fn is_encrypted(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// How a kind of files lies on the disk: under a key of its own, or plain.
#[derive(Clone, Debug, Default)]
pub struct FileCipher(Option<(StoreKey, &'static str)>);

impl FileCipher {
    /// Of files for that purpose; `None`: they lie plain.
    #[must_use]
    pub fn new(key: Option<&StoreKey>, purpose: &'static str) -> Self {
        Self(key.map(|key| (key.clone(), purpose)))
    }

    /// What is written for `plain`.
    #[must_use]
    pub fn seal<'a>(&self, plain: &'a [u8]) -> Cow<'a, [u8]> {
        let Some((key, purpose)) = &self.0 else { return Cow::Borrowed(plain) };
        let nonce = XChaCha20Poly1305::generate_nonce(&mut OsRng);
        let cipher = XChaCha20Poly1305::new((&*key.derived(purpose)).into());
        let mut sealed = MAGIC.to_vec();
        sealed.extend(nonce);
        // It fails for texts of more than 256 GB only, which nobody has in RAM.
        sealed.extend(cipher.encrypt(&nonce, plain).unwrap_or_default());
        sealed.into()
    }

    /// What was written as `found`; a file that is not encrypted is given as it is, so that one written before the key
    /// was there is still read.
    ///
    /// # Errors
    /// When it is encrypted and the key is missing or another one, or the file is damaged.
    pub fn open(&self, found: Vec<u8>) -> Result<Vec<u8>, EncryptionError> {
        let Some(sealed) = found.strip_prefix(MAGIC) else { return Ok(found) };
        let (key, purpose) = self.0.as_ref().ok_or(EncryptionError::KeyMissing)?;
        let cipher = XChaCha20Poly1305::new((&*key.derived(purpose)).into());
        let (nonce, text) =
            sealed.split_at_checked(NONCE_BYTES).ok_or(EncryptionError::WrongKey)?;
        cipher.decrypt(XNonce::from_slice(nonce), text).map_err(|_| EncryptionError::WrongKey)
    }

    /// Encrypts a file that is not yet, whole or not at all; zeros are written where it was. False: nothing to do.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn encrypt_file(&self, path: &Path) -> io::Result<bool> {
        let found = fs::read(path)?;
        if self.0.is_none() || is_encrypted(&found) {
            return Ok(false);
        }
        let beside = path.with_extension("part");
        let mut file = fs::OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&beside)?;
        file.write_all(&self.seal(&found))?;
        replace(path, &beside)?;
        Ok(true)
    }
}

/// Unlocks a database that was just opened; to be called before anything else is done with it.
///
/// What the file is now is asked of SQLite, never of the file: a process that closes a handle of its own on a database
/// loses the locks that its connections hold on it (sqlite.org/howtocorrupt.html, section 2.2).
///
/// # Errors
/// `Ok(Err(…))` when the key does not fit the file; `Err(…)` when SQLite fails.
pub fn unlock(
    db: &Connection,
    file: &Path,
    key: Option<&StoreKey>,
    purpose: &str,
) -> rusqlite::Result<Result<(), EncryptionError>> {
    if let Some(key) = key {
        let pragma = Zeroizing::new(format!("PRAGMA key = \"{}\"", raw_key(key, purpose).as_str()));
        db.execute_batch(&pragma)?;
    }
    if is_readable(db)? {
        return Ok(Ok(()));
    }
    Ok(Err(match key {
        None => EncryptionError::KeyMissing,
        Some(_) => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
            match is_readable(&Connection::open_with_flags(file, flags)?)? {
                true => EncryptionError::NotEncrypted,
                false => EncryptionError::WrongKey,
            }
        }
    }))
}

/// Whether the connection can read its database, under the key that it has or none.
fn is_readable(db: &Connection) -> rusqlite::Result<bool> {
    match db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        Ok(()) => Ok(true),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Why a file could not be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The database.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Another process reads it.
    #[error("another process reads it; wait for it, or stop it")]
    Busy,
    /// It is encrypted already, under another key.
    #[error(transparent)]
    Encryption(#[from] EncryptionError),
}

/// Encrypts a database that is not yet; nobody may have it open. Where it was, zeros are written, as far as the disk
/// writes in place. False: there is none, or it is encrypted already.
///
/// # Errors
/// When that fails; the database is as it was then.
pub fn encrypt_database(path: &Path, key: &StoreKey, purpose: &str) -> Result<bool, ConvertError> {
    if !path.is_file() {
        return Ok(false);
    }
    let db = Connection::open(path)?;
    if !is_readable(&db)? {
        unlock(&Connection::open(path)?, path, Some(key), purpose)??;
        return Ok(false);
    }
    // What the log holds belongs to it; once it is empty it may go.
    let busy: bool = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy {
        return Err(ConvertError::Busy);
    }
    let beside = path.with_extension("encrypting");
    remove_if_there(&beside)?;
    fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(&beside)?;
    db.execute(
        "ATTACH DATABASE ?1 AS encrypted KEY ?2",
        rusqlite::params![beside.to_string_lossy(), raw_key(key, purpose).as_str()],
    )?;
    db.query_row("SELECT sqlcipher_export('encrypted')", [], |_| Ok(()))?;
    db.execute_batch("DETACH DATABASE encrypted")?;
    drop(db);
    remove_logs(path)?;
    replace(path, &beside)?;
    Ok(true)
}

/// Deletes the logs of a database that nobody has open; what they held must be in it.
///
/// # Errors
/// When the disk fails.
pub fn remove_logs(path: &Path) -> io::Result<()> {
    for log in ["-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(log);
        remove_if_there(Path::new(&name))?;
    }
    Ok(())
}

/// Puts `new` in the place of `old`, and zeros where `old` was.
fn replace(old: &Path, new: &Path) -> io::Result<()> {
    let mut plain = fs::OpenOptions::new().write(true).open(old)?;
    let length = plain.metadata()?.len();
    fs::File::open(new)?.sync_all()?;
    fs::rename(new, old)?;
    if let Some(folder) = old.parent() {
        fs::File::open(folder)?.sync_all()?;
    }
    io::copy(&mut io::repeat(0).take(length), &mut plain)?;
    plain.sync_all()
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn raw_key(key: &StoreKey, purpose: &str) -> Zeroizing<String> {
    let digits = Zeroizing::new(hex::encode(key.derived(purpose).as_slice()));
    Zeroizing::new(format!("x'{}'", digits.as_str()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn key(digit: char) -> StoreKey {
        StoreKey::parse(&digit.to_string().repeat(64)).unwrap()
    }

    #[test]
    fn a_key_is_64_digits_and_never_shown() {
        assert_eq!(format!("{:?}", key('a')), "StoreKey(…)");
        assert_eq!(
            StoreKey::parse(&format!("{}\n", "ab".repeat(32))),
            Ok(StoreKey::parse(&"AB".repeat(32)).unwrap())
        );
        for bad in ["", "ab", "no key", &"a".repeat(63), &"g".repeat(64)] {
            assert_eq!(StoreKey::parse(bad), Err(EncryptionError::NoKey), "{bad}");
        }
        // Every purpose has a key of its own.
        assert_ne!(key('a').derived("media"), key('a').derived("spool"));
    }

    #[test]
    fn a_sealed_file_opens_under_its_own_key_and_purpose_only() {
        let media = FileCipher::new(Some(&key('a')), "media");
        let sealed = media.seal(b"a face");
        assert!(is_encrypted(&sealed) && !sealed.windows(6).any(|part| part == b"a face"));
        assert_ne!(sealed, media.seal(b"a face"));
        assert_eq!(media.open(sealed.to_vec()).unwrap(), b"a face");
        for other in
            [FileCipher::new(Some(&key('b')), "media"), FileCipher::new(Some(&key('a')), "spool")]
        {
            assert_eq!(other.open(sealed.to_vec()), Err(EncryptionError::WrongKey));
        }
        assert_eq!(FileCipher::default().open(sealed.to_vec()), Err(EncryptionError::KeyMissing));
        for cut in 0..sealed.len() {
            let opened = media.open(sealed[..cut].to_vec());
            assert!(cut < MAGIC.len() || opened == Err(EncryptionError::WrongKey));
        }
        let mut changed = sealed.to_vec();
        changed[40] ^= 1;
        assert_eq!(media.open(changed), Err(EncryptionError::WrongKey));
        // Written before there was a key.
        assert_eq!(media.open(b"plain".to_vec()).unwrap(), b"plain");
        assert_eq!(&*FileCipher::default().seal(b"plain"), b"plain");
    }

    #[test]
    fn a_database_is_read_with_its_key_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let open = |key: Option<&StoreKey>| {
            let db = Connection::open(&path).unwrap();
            unlock(&db, &path, key, "memory").unwrap().map(|()| db)
        };
        let db = open(Some(&key('a'))).unwrap();
        db.execute_batch("CREATE TABLE said (words TEXT); INSERT INTO said VALUES ('wolframite')")
            .unwrap();
        drop(db);
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(10).any(|part| part == b"wolframite"));
        assert_eq!(open(None).err(), Some(EncryptionError::KeyMissing));
        assert_eq!(open(Some(&key('b'))).err(), Some(EncryptionError::WrongKey));
        let words: String = open(Some(&key('a')))
            .unwrap()
            .query_row("SELECT words FROM said", [], |row| row.get(0))
            .unwrap();
        assert_eq!(words, "wolframite");
    }

    #[test]
    fn a_plain_database_is_encrypted_in_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain.db");
        let db = Connection::open(&plain).unwrap();
        db.execute_batch("CREATE TABLE said (words TEXT); INSERT INTO said VALUES ('wolframite')")
            .unwrap();
        drop(db);
        let refused = unlock(&Connection::open(&plain).unwrap(), &plain, Some(&key('a')), "memory");
        assert_eq!(refused.unwrap(), Err(EncryptionError::NotEncrypted));
        assert!(encrypt_database(&plain, &key('a'), "memory").unwrap());
        assert!(!encrypt_database(&plain, &key('a'), "memory").unwrap());
        assert!(encrypt_database(&plain, &key('b'), "memory").is_err());
        assert!(!encrypt_database(&dir.path().join("none.db"), &key('a'), "memory").unwrap());
        assert!(!dir.path().join("none.db").exists());
        let db = Connection::open(&plain).unwrap();
        assert_eq!(unlock(&db, &plain, Some(&key('a')), "memory").unwrap(), Ok(()));
        let words: String = db.query_row("SELECT words FROM said", [], |row| row.get(0)).unwrap();
        assert_eq!(words, "wolframite");
    }

    #[test]
    fn a_database_that_somebody_reads_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain.db");
        let db = Connection::open(&plain).unwrap();
        db.execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE said (words TEXT)").unwrap();
        let reader = Connection::open(&plain).unwrap();
        reader.execute_batch("BEGIN; SELECT * FROM said").unwrap();
        db.execute("INSERT INTO said VALUES ('late')", []).unwrap();
        drop(db);
        let tried = encrypt_database(&plain, &key('a'), "memory");
        assert!(matches!(tried, Err(ConvertError::Busy)), "{tried:?}");
        drop(reader);
        assert!(encrypt_database(&plain, &key('a'), "memory").unwrap());
        let db = Connection::open(&plain).unwrap();
        unlock(&db, &plain, Some(&key('a')), "memory").unwrap().unwrap();
        let words: String = db.query_row("SELECT words FROM said", [], |row| row.get(0)).unwrap();
        assert_eq!(words, "late");
    }
}
