//! How each row type lies in SQLite and enters the hash: reading and binding of columns.
//!
//! `percepts`, `actions`, `camera_moves`, `sound_events`, `objects`, `texts`, `identity` and `memories` say it for each row type; `shelved` how the large ones lie
//! on the shelf; `sightings` their column.

mod actions;
mod camera_moves;
mod identity;
mod memories;
mod objects;
mod passages;
mod percepts;
mod shelved;
mod sightings;
mod sound_events;
mod texts;
mod watches;

use std::collections::BTreeMap;
use std::str::FromStr;

use rusqlite::types::{Value, ValueRef};

use crate::ids::{ClipId, ModelHash, SessionId, SourceId};
use crate::percept::Embedding;
use crate::time::{Span, Timestamp};

use super::model::MediaDigest;

/// Why a stored row cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// A column is missing or of another type.
    #[error("{0}")]
    Column(#[from] rusqlite::Error),
    /// A column holds what it must not.
    #[error("column {column}: {reason}")]
    Content {
        /// Position in the row.
        column: usize,
        /// Why.
        reason: String,
    },
}

/// Names of cameras, microphones and topics as numbers in order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct SourceOrdinals(BTreeMap<SourceId, i64>);

impl SourceOrdinals {
    pub(crate) fn of(&mut self, source: &SourceId) -> i64 {
        let next = self.0.len() as i64;
        *self.0.entry(source.clone()).or_insert(next)
    }
}

/// Reads a row's columns from left to right.
pub(super) struct Columns<'r, 's> {
    row: &'r rusqlite::Row<'s>,
    at: usize,
}

impl<'r, 's> Columns<'r, 's> {
    pub(super) fn new(row: &'r rusqlite::Row<'s>) -> Self {
        Self { row, at: 0 }
    }

    pub(super) fn next<T: rusqlite::types::FromSql>(&mut self) -> Result<T, RowError> {
        self.at += 1;
        Ok(self.row.get(self.at - 1)?)
    }

    pub(super) fn fail(&self, reason: impl ToString) -> RowError {
        RowError::Content { column: self.at, reason: reason.to_string() }
    }

    pub(super) fn number<T: TryFrom<i64>>(&mut self) -> Result<T, RowError> {
        let number: i64 = self.next()?;
        T::try_from(number).map_err(|_| self.fail(format!("{number} is out of range")))
    }

    pub(super) fn time(&mut self) -> Result<Timestamp, RowError> {
        self.next().map(Timestamp::from_nanos)
    }

    pub(super) fn span(&mut self) -> Result<Span, RowError> {
        Ok(Span { start: self.time()?, end: self.time()? })
    }

    /// SQLite keeps NaN as NULL.
    pub(super) fn real(&mut self) -> Result<f64, RowError> {
        self.at += 1;
        match self.row.get_ref(self.at - 1)? {
            ValueRef::Null => Ok(f64::NAN),
            ValueRef::Real(value) => Ok(value),
            ValueRef::Integer(value) => Ok(value as f64),
            _ => Err(self.fail("no number")),
        }
    }

    pub(super) fn real32(&mut self) -> Result<f32, RowError> {
        Ok(self.real()? as f32)
    }

    pub(super) fn parsed<T: FromStr>(&mut self) -> Result<T, RowError>
    where
        T::Err: std::fmt::Display,
    {
        let text: String = self.next()?;
        text.parse().map_err(|error| self.fail(error))
    }

    pub(super) fn parsed_or_null<T: FromStr>(&mut self) -> Result<Option<T>, RowError>
    where
        T::Err: std::fmt::Display,
    {
        let text: Option<String> = self.next()?;
        text.map(|text| text.parse().map_err(|error| self.fail(error))).transpose()
    }

    pub(super) fn source(&mut self) -> Result<SourceId, RowError> {
        Ok(SourceId::new(&self.next::<String>()?))
    }

    pub(super) fn session(&mut self) -> Result<SessionId, RowError> {
        self.number().map(SessionId)
    }

    pub(super) fn clip(&mut self) -> Result<ClipId, RowError> {
        Ok(ClipId { session: self.session()?, index: self.number()? })
    }

    pub(super) fn flag(&mut self) -> Result<bool, RowError> {
        self.next()
    }

    pub(super) fn digest(&mut self) -> Result<Option<MediaDigest>, RowError> {
        let text: Option<String> = self.next()?;
        Ok(text.map(|text| MediaDigest(text.into())))
    }

    pub(super) fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, RowError> {
        let text: String = self.next()?;
        serde_json::from_str(&text).map_err(|error| self.fail(error))
    }

    fn blob(&mut self) -> Result<&'r [u8], RowError> {
        self.at += 1;
        let value = self.row.get_ref(self.at - 1)?;
        value.as_blob().map_err(|error| self.fail(error))
    }

    pub(super) fn embedding(&mut self) -> Result<Embedding, RowError> {
        let model = self.blob()?;
        let model =
            <[u8; 32]>::try_from(model).map_err(|_| self.fail("model hash is not 32 bytes"))?;
        let (values, rest) = self.blob()?.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(self.fail("vector is no row of 32-bit floats"));
        }
        let values = values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(Embedding { values, model: ModelHash(model) })
    }
}

pub(super) fn int(number: impl Into<i64>) -> Value {
    Value::Integer(number.into())
}

pub(super) fn large(number: u64) -> Value {
    Value::Integer(number as i64)
}

pub(super) fn time(at: Timestamp) -> Value {
    Value::Integer(at.as_nanos())
}

pub(super) fn real(value: impl Into<f64>) -> Value {
    let value = value.into();
    // SQLite has no NaN; one form of it in RAM, on disk and in the hash.
    if value.is_nan() { Value::Null } else { Value::Real(value) }
}

pub(super) fn text(value: impl ToString) -> Value {
    Value::Text(value.to_string())
}

pub(super) fn or_null<T>(value: Option<T>, bind: impl FnOnce(T) -> Value) -> Value {
    value.map_or(Value::Null, bind)
}

/// Without the last value where that is none: what rows of before did not know changes no hash of them.
pub(super) fn without_null(mut values: Vec<Value>) -> Vec<Value> {
    if values.last() == Some(&Value::Null) {
        values.pop();
    }
    values
}

pub(super) fn json(value: &impl serde::Serialize) -> Value {
    // Rows are plain structs with text keys: serialising them cannot fail.
    Value::Text(serde_json::to_string(value).unwrap_or_default())
}

pub(super) fn digest(value: Option<&MediaDigest>) -> Value {
    or_null(value, |digest| text(&digest.0))
}

pub(super) fn vector(values: &[f32]) -> Value {
    Value::Blob(values.iter().flat_map(|value| value.to_le_bytes()).collect())
}
