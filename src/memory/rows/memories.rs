//! Rows of memories, their vectors, and why they were closed.

use std::sync::Arc;

use rusqlite::types::Value;

use crate::ids::{ClipId, EntityId, MemoryId, ModelHash, SessionId};
use crate::memory::model::{
    Decision, Fact, FactAction, MemoryKind, MemoryRow, MemoryVector, Retirement,
};
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Numbered, Temporal};
use crate::percept::Embedding;
use crate::time::{Span, Timestamp};

use super::shelved::{
    read_decision, read_memory, read_retirement, read_vector, write_decision, write_memory,
    write_retirement, write_vector,
};
use super::{Columns, RowError, int, json, large, or_null, real, text, time, vector};

impl Temporal for MemoryRow {
    type Key = MemoryId;
    const TABLE: &'static str = "memory";
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "kind",
        "text",
        "start",
        "end",
        "session",
        "clip",
        "entities",
        "subject",
        "attribute",
        "value",
        "importance",
        "confidence",
        "pinned",
        "valid_from",
        "valid_to",
        "grounds",
        "origin",
    ];
    const NUMBERED: Numbered = Numbered::Alone;

    fn key(&self) -> MemoryId {
        self.id
    }

    fn bind(&self) -> Vec<Value> {
        let fact = self.fact.as_ref();
        vec![
            large(self.id.0),
            text(self.kind.word()),
            text(&self.text),
            time(self.span.start),
            time(self.span.end),
            or_null(self.clip, |clip| int(clip.session.0)),
            or_null(self.clip, |clip| int(clip.index)),
            json(&self.entities),
            or_null(fact, |fact| text(&fact.subject)),
            or_null(fact, |fact| text(&fact.attribute)),
            or_null(fact, |fact| text(&fact.value)),
            real(self.importance),
            real(self.confidence),
            int(self.pinned),
            time(self.valid_from),
            or_null(self.valid_to, time),
            json(&self.grounds),
            text(&self.origin),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            id: columns.number().map(MemoryId)?,
            kind: {
                let word: String = columns.next()?;
                MemoryKind::from_word(&word)
                    .ok_or_else(|| columns.fail(format!("{word:?} is no kind of memory")))?
            },
            text: columns.next()?,
            span: columns.span()?,
            clip: {
                let (session, index): (Option<u32>, Option<u32>) =
                    (columns.next()?, columns.next()?);
                session
                    .zip(index)
                    .map(|(session, index)| ClipId { session: SessionId(session), index })
            },
            entities: columns.json()?,
            fact: {
                let (subject, attribute, value): (Option<String>, Option<String>, Option<String>) =
                    (columns.next()?, columns.next()?, columns.next()?);
                subject.map(|subject| Fact {
                    subject,
                    attribute: attribute.unwrap_or_default(),
                    value: value.unwrap_or_default(),
                })
            },
            importance: columns.real32()?,
            confidence: columns.real32()?,
            pinned: columns.flag()?,
            valid_from: columns.time()?,
            valid_to: columns.next::<Option<i64>>()?.map(Timestamp::from_nanos),
            grounds: columns.json()?,
            origin: columns.next()?,
        })
    }

    fn span(&self) -> Option<Span> {
        Some(self.span)
    }

    fn links(&self) -> Vec<EntityId> {
        let mut linked = self.entities.clone();
        linked
            .extend(crate::mention::mentions(&self.text).into_iter().map(|mention| mention.entity));
        linked.sort_unstable();
        linked.dedup();
        linked
    }

    fn clip(&self) -> Option<ClipId> {
        self.clip
    }

    fn number(key: &MemoryId) -> u64 {
        key.0
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_memory(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_memory(shelf.bytes(at, len))
    }
}

impl Temporal for MemoryVector {
    /// One vector per memory and model: while the embedder is changed a memory has two.
    type Key = (MemoryId, ModelHash);
    const TABLE: &'static str = "vector";
    const COLUMNS: &'static [&'static str] = &["memory", "model", "vector"];
    const NUMBERED: Numbered = Numbered::Shared;

    fn key(&self) -> Self::Key {
        (self.memory, self.model)
    }

    fn bind(&self) -> Vec<Value> {
        vec![large(self.memory.0), Value::Blob(self.model.0.to_vec()), vector(&self.values)]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        let memory = columns.number().map(MemoryId)?;
        let Embedding { values, model } = columns.embedding()?;
        Ok(Self { memory, model, values: values.as_slice().into() })
    }

    fn number(key: &Self::Key) -> u64 {
        key.0.0
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_vector(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_vector(shelf, at, len)
    }
}

impl Temporal for Retirement {
    type Key = MemoryId;
    const TABLE: &'static str = "retirement";
    const COLUMNS: &'static [&'static str] = &["memory", "valid_to", "reason"];
    const NUMBERED: Numbered = Numbered::Alone;

    fn key(&self) -> MemoryId {
        self.memory
    }

    fn number(key: &MemoryId) -> u64 {
        key.0
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_retirement(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_retirement(shelf.bytes(at, len))
    }

    fn bind(&self) -> Vec<Value> {
        vec![large(self.memory.0), or_null(self.valid_to, time), text(&self.reason)]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            memory: columns.number().map(MemoryId)?,
            valid_to: columns.next::<Option<i64>>()?.map(Timestamp::from_nanos),
            reason: columns.next()?,
        })
    }
}

impl Temporal for Decision {
    type Key = (MemoryId, Timestamp, FactAction);
    const TABLE: &'static str = "decision";
    const COLUMNS: &'static [&'static str] = &["memory", "at", "action", "other", "reason"];
    const NUMBERED: Numbered = Numbered::Shared;

    fn key(&self) -> Self::Key {
        (self.memory, self.at, self.action)
    }

    fn number(key: &Self::Key) -> u64 {
        key.0.0
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_decision(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_decision(shelf.bytes(at, len))
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            large(self.memory.0),
            time(self.at),
            text(self.action.word()),
            or_null(self.other, |other| large(other.0)),
            text(&self.reason),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            memory: columns.number().map(MemoryId)?,
            at: columns.time()?,
            action: {
                let word: String = columns.next()?;
                let found = FactAction::ALL.into_iter().find(|action| action.word() == word);
                found.ok_or_else(|| columns.fail(format!("{word:?} is no action")))?
            },
            other: columns.next::<Option<i64>>()?.map(|id| MemoryId(id as u64)),
            reason: columns.next()?,
        })
    }
}
