//! One hash over the whole memory: two runs over one recording agree exactly when it does.
//!
//! Every version of every temporal table enters, in canonical order (table, commit, key), with its times
//! and commit numbers; so do the digests of media. Left out are wall-clock times of ingest, what names a
//! recording (path, SHA-256, topics) and access counts; cameras, microphones and topics enter as numbers
//! in order of first appearance.

use rusqlite::types::Value;
use sha2::{Digest as _, Sha256};

use crate::memory::Memory;
use crate::memory::rows::SourceOrdinals;
use crate::memory::tables::{Tables, each_table};
use crate::memory::versions::temporal::{Table, Temporal};

impl Memory {
    /// `sha256:` and 64 hex digits over every version of every temporal row; waits while a draft is open.
    #[must_use]
    pub fn hash(&self) -> String {
        // Between commits only: a row of a commit that is not through yet must not enter.
        let _permit = self.0.turnstile.enter();
        hash_of(&self.tables())
    }
}

fn hash_of(tables: &Tables) -> String {
    let mut hasher = Sha256::new();
    let mut sources = SourceOrdinals::default();
    macro_rules! hash_tables {
        ($($field:ident: $row:ty,)*) => {
            $(hash_table::<$row>(&mut hasher, &tables.$field, &mut sources);)*
        };
    }
    each_table!(hash_tables);
    format!("sha256:{}", hex::encode(hasher.finalize()))
}

fn hash_table<R: Temporal>(hasher: &mut Sha256, table: &Table<R>, sources: &mut SourceOrdinals) {
    let log = table.log();
    // Kinds of rows that a memory has none of say nothing, so that new ones change no hash.
    if log.count() == 0 {
        return;
    }
    hash_value(hasher, &Value::Text(R::TABLE.to_owned()));
    hash_value(hasher, &Value::Integer(log.count() as i64));
    for version in log.iter() {
        hash_value(hasher, &Value::Integer(version.seq.0 as i64));
        let retired = version.retired_seq().map_or(Value::Null, |seq| Value::Integer(seq.0 as i64));
        hash_value(hasher, &retired);
        hash_value(hasher, &Value::Integer(version.recorded.as_nanos()));
        for value in version.row.canonical(sources) {
            hash_value(hasher, &value);
        }
    }
}

/// A tag, the length where it varies, the bytes: no two rows have the same writing.
fn hash_value(hasher: &mut Sha256, value: &Value) {
    let mut sized = |tag: u8, bytes: &[u8]| {
        hasher.update([tag]);
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    match value {
        Value::Null => sized(0, &[]),
        Value::Integer(number) => sized(1, &number.to_le_bytes()),
        Value::Real(number) => sized(2, &number.to_bits().to_le_bytes()),
        Value::Text(text) => sized(3, text.as_bytes()),
        Value::Blob(bytes) => sized(4, bytes),
    }
}
