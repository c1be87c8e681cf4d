//! What is encrypted is read with its key only, and lies nowhere plain.

use super::erasing::holds;
use super::*;
use crate::encryption::EncryptionError;

fn key(digit: char) -> StoreKey {
    StoreKey::parse(&digit.to_string().repeat(64)).unwrap()
}

fn open_with(dir: &Path, key: Option<StoreKey>) -> Result<Memory, MemoryError> {
    Memory::open(dir, &StoreOptions { key, ..StoreOptions::default() })
}

fn encrypt_in(dir: &Path, key: &StoreKey) -> Result<Encrypted, MemoryError> {
    encrypt(dir, key, || Ok(()))
}

fn why(opened: Result<Memory, MemoryError>) -> Option<EncryptionError> {
    match opened {
        Err(MemoryError::Encryption { source, .. }) => Some(source),
        Err(other) => panic!("{other}"),
        Ok(_) => None,
    }
}

/// Words, a name, a picture and a vector of the household.
fn plain_text(memory: &Memory) -> Vec<Vec<u8>> {
    let view = memory.view();
    let exemplar = view.exemplars(face(1))[0].clone();
    let chip = memory.media(exemplar.media.as_ref().unwrap()).unwrap();
    let vector = &exemplar.embedding.values;
    vec![
        b"likes tea".to_vec(),
        b"nice to meet you".to_vec(),
        chip.unwrap(),
        vector.iter().flat_map(|value| value.to_le_bytes()).collect(),
    ]
}

#[test]
fn an_encrypted_memory_lies_nowhere_plain() {
    let dir = tempfile::tempdir().unwrap();
    let plain = tempfile::tempdir().unwrap();
    let memory = open_with(dir.path(), Some(key('a'))).unwrap();
    household(&memory);
    let beside = open(plain.path());
    household(&beside);
    // The same memory, whatever is on the disk.
    assert_eq!(memory.hash(), beside.hash());
    for needle in plain_text(&memory) {
        assert!(holds(plain.path(), &needle) && !holds(dir.path(), &needle));
    }
    let asked = memory.sql("SELECT count(*) FROM memories", SqlLimits::default()).unwrap();
    assert_ne!(asked.rows[0][0], 0);
    let reader = Memory::open_read_only(dir.path(), Some(&key('a'))).unwrap();
    assert_eq!(reader.hash(), memory.hash());
    drop((reader, memory));
    assert_eq!(why(open_with(dir.path(), None)), Some(EncryptionError::KeyMissing));
    assert_eq!(why(open_with(dir.path(), Some(key('b')))), Some(EncryptionError::WrongKey));
    let again = open_with(dir.path(), Some(key('a'))).unwrap();
    assert_eq!(again.hash(), beside.hash());
    for needle in plain_text(&again) {
        assert!(!holds(dir.path(), &needle));
    }
}

#[test]
fn a_plain_memory_is_encrypted_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let (hash, needles) = (memory.hash(), plain_text(&memory));
    // A daemon has it: nothing is touched.
    let tried = encrypt(dir.path(), &key('a'), || -> Result<(), MemoryError> {
        panic!("the outbox and the spool are the daemon's")
    });
    assert!(matches!(tried, Err(MemoryError::Locked { .. })));
    drop(memory);
    assert_eq!(why(open_with(dir.path(), Some(key('a')))), Some(EncryptionError::NotEncrypted));
    let done = encrypt_in(dir.path(), &key('a')).unwrap();
    assert!(done.database && done.media > 0);
    let nothing = Encrypted::default();
    assert_eq!(encrypt_in(dir.path(), &key('a')).unwrap(), nothing);
    assert!(matches!(
        encrypt_in(dir.path(), &key('b')),
        Err(MemoryError::Encryption { source: EncryptionError::WrongKey, .. })
    ));
    let memory = open_with(dir.path(), Some(key('a'))).unwrap();
    assert_eq!((memory.hash(), plain_text(&memory)), (hash, needles.clone()));
    assert!(memory.check().unwrap().faults.is_empty());
    for needle in needles {
        assert!(!holds(dir.path(), &needle));
    }
    let none = tempfile::tempdir().unwrap();
    assert!(matches!(encrypt_in(none.path(), &key('a')), Err(MemoryError::Missing { .. })));
}
