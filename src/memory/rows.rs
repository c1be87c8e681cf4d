//! How each row type lies in SQLite and enters the hash.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use rusqlite::types::{Value, ValueRef};

use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, MemoryId, ModelHash, SessionId, SourceId, TrackId, TurnId};
use crate::media::Pose;
use crate::percept::{Embedding, Sighting, Transcript, Word};
use crate::time::{Span, Timestamp};

use super::model::{
    Clip, EntityRow, Exemplar, Fact, MediaDigest, MediaKind, MediaRow, Membership, MemoryKind,
    MemoryRow, MemoryVector, Merge, NameRow, NameSource, PairEvidence, PoseRow, Recording,
    Retirement, Session, TrackRow, TurnRow,
};
use super::temporal::Temporal;

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
struct Columns<'r, 's> {
    row: &'r rusqlite::Row<'s>,
    at: usize,
}

impl<'r, 's> Columns<'r, 's> {
    fn new(row: &'r rusqlite::Row<'s>) -> Self {
        Self { row, at: 0 }
    }

    fn next<T: rusqlite::types::FromSql>(&mut self) -> Result<T, RowError> {
        self.at += 1;
        Ok(self.row.get(self.at - 1)?)
    }

    fn fail(&self, reason: impl ToString) -> RowError {
        RowError::Content { column: self.at, reason: reason.to_string() }
    }

    fn number<T: TryFrom<i64>>(&mut self) -> Result<T, RowError> {
        let number: i64 = self.next()?;
        T::try_from(number).map_err(|_| self.fail(format!("{number} is out of range")))
    }

    fn time(&mut self) -> Result<Timestamp, RowError> {
        self.next().map(Timestamp::from_nanos)
    }

    fn span(&mut self) -> Result<Span, RowError> {
        Ok(Span { start: self.time()?, end: self.time()? })
    }

    /// SQLite keeps NaN as NULL.
    fn real(&mut self) -> Result<f64, RowError> {
        self.at += 1;
        match self.row.get_ref(self.at - 1)? {
            ValueRef::Null => Ok(f64::NAN),
            ValueRef::Real(value) => Ok(value),
            ValueRef::Integer(value) => Ok(value as f64),
            _ => Err(self.fail("no number")),
        }
    }

    fn real32(&mut self) -> Result<f32, RowError> {
        Ok(self.real()? as f32)
    }

    fn parsed<T: FromStr>(&mut self) -> Result<T, RowError>
    where
        T::Err: std::fmt::Display,
    {
        let text: String = self.next()?;
        text.parse().map_err(|error| self.fail(error))
    }

    fn parsed_or_null<T: FromStr>(&mut self) -> Result<Option<T>, RowError>
    where
        T::Err: std::fmt::Display,
    {
        let text: Option<String> = self.next()?;
        text.map(|text| text.parse().map_err(|error| self.fail(error))).transpose()
    }

    fn source(&mut self) -> Result<SourceId, RowError> {
        Ok(SourceId::new(&self.next::<String>()?))
    }

    fn session(&mut self) -> Result<SessionId, RowError> {
        self.number().map(SessionId)
    }

    fn clip(&mut self) -> Result<ClipId, RowError> {
        Ok(ClipId { session: self.session()?, index: self.number()? })
    }

    fn flag(&mut self) -> Result<bool, RowError> {
        self.next()
    }

    fn digest(&mut self) -> Result<Option<MediaDigest>, RowError> {
        let text: Option<String> = self.next()?;
        Ok(text.map(|text| MediaDigest(text.into())))
    }

    fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, RowError> {
        let text: String = self.next()?;
        serde_json::from_str(&text).map_err(|error| self.fail(error))
    }

    fn embedding(&mut self) -> Result<Embedding, RowError> {
        let model: Vec<u8> = self.next()?;
        let model =
            <[u8; 32]>::try_from(model).map_err(|_| self.fail("model hash is not 32 bytes"))?;
        let bytes: Vec<u8> = self.next()?;
        let chunks = bytes.chunks_exact(4);
        if !chunks.remainder().is_empty() {
            return Err(self.fail("vector is no row of 32-bit floats"));
        }
        let values = chunks.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        Ok(Embedding { values, model: ModelHash(model) })
    }
}

fn int(number: impl Into<i64>) -> Value {
    Value::Integer(number.into())
}

fn large(number: u64) -> Value {
    Value::Integer(number as i64)
}

fn time(at: Timestamp) -> Value {
    Value::Integer(at.as_nanos())
}

fn real(value: impl Into<f64>) -> Value {
    let value = value.into();
    // SQLite has no NaN; one form of it in RAM, on disk and in the hash.
    if value.is_nan() { Value::Null } else { Value::Real(value) }
}

fn text(value: impl ToString) -> Value {
    Value::Text(value.to_string())
}

fn or_null<T>(value: Option<T>, bind: impl FnOnce(T) -> Value) -> Value {
    value.map_or(Value::Null, bind)
}

fn json(value: &impl serde::Serialize) -> Value {
    // Rows are plain structs with text keys: serialising them cannot fail.
    Value::Text(serde_json::to_string(value).unwrap_or_default())
}

fn digest(value: Option<&MediaDigest>) -> Value {
    or_null(value, |digest| text(&digest.0))
}

fn vector(values: &[f32]) -> Value {
    Value::Blob(values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

impl Temporal for Session {
    type Key = SessionId;
    const TABLE: &'static str = "session";
    const COLUMNS: &'static [&'static str] =
        &["id", "start", "clip_secs", "sha256", "path", "selection", "finished"];

    fn key(&self) -> SessionId {
        self.id
    }

    fn bind(&self) -> Vec<Value> {
        let recording = self.recording.as_ref();
        vec![
            int(self.id.0),
            time(self.start),
            real(self.clip_secs),
            or_null(recording, |recording| text(&recording.sha256)),
            or_null(recording, |recording| text(&recording.path)),
            or_null(recording, |recording| text(&recording.selection)),
            int(self.finished),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            id: columns.session()?,
            start: columns.time()?,
            clip_secs: columns.real()?,
            recording: {
                let (sha256, path, selection): (Option<String>, Option<String>, Option<String>) =
                    (columns.next()?, columns.next()?, columns.next()?);
                sha256.map(|sha256| Recording {
                    sha256,
                    path: path.unwrap_or_default(),
                    selection: selection.unwrap_or_default(),
                })
            },
            finished: columns.flag()?,
        })
    }

    fn canonical(&self, _sources: &mut SourceOrdinals) -> Vec<Value> {
        vec![
            int(self.id.0),
            time(self.start),
            real(self.clip_secs),
            int(self.recording.is_some()),
            int(self.finished),
        ]
    }
}

impl Temporal for Clip {
    type Key = ClipId;
    const TABLE: &'static str = "clip";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "start", "end", "frames", "analysed", "dropped", "key_frames"];

    fn key(&self) -> ClipId {
        self.id
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            int(self.id.session.0),
            int(self.id.index),
            time(self.span.start),
            time(self.span.end),
            large(self.frames),
            large(self.analysed),
            large(self.dropped),
            json(&self.key_frames),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            id: columns.clip()?,
            span: columns.span()?,
            frames: columns.number()?,
            analysed: columns.number()?,
            dropped: columns.number()?,
            key_frames: columns.json()?,
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        let frames: Vec<_> = self
            .key_frames
            .iter()
            .map(|(source, at, digest)| (sources.of(source), at.as_nanos(), digest))
            .collect();
        values[7] = json(&frames);
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.span)
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.id)
    }
}

impl Temporal for EntityRow {
    type Key = EntityId;
    const TABLE: &'static str = "entity";
    const COLUMNS: &'static [&'static str] = &["id"];

    fn key(&self) -> EntityId {
        self.id
    }

    fn bind(&self) -> Vec<Value> {
        vec![text(self.id)]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        Ok(Self { id: Columns::new(row).parsed()? })
    }
}

/// Little-endian: time in nanoseconds, box (x, y, w, h), score; 28 bytes each.
fn sightings_blob(sightings: &[Sighting]) -> Value {
    let mut bytes = Vec::with_capacity(sightings.len() * 28);
    for sighting in sightings {
        bytes.extend(sighting.at.as_nanos().to_le_bytes());
        let Rect { x, y, w, h } = sighting.bbox;
        for value in [x, y, w, h, sighting.score] {
            bytes.extend(value.to_le_bytes());
        }
    }
    Value::Blob(bytes)
}

fn sightings_from(bytes: &[u8]) -> Option<Vec<Sighting>> {
    let records = bytes.chunks_exact(28);
    if !records.remainder().is_empty() {
        return None;
    }
    let float = |record: &[u8], at: usize| {
        let bytes: [u8; 4] = record.get(at..at + 4)?.try_into().ok()?;
        Some(f32::from_le_bytes(bytes))
    };
    records
        .map(|record| {
            let at: [u8; 8] = record.get(..8)?.try_into().ok()?;
            Some(Sighting {
                at: Timestamp::from_nanos(i64::from_le_bytes(at)),
                bbox: Rect {
                    x: float(record, 8)?,
                    y: float(record, 12)?,
                    w: float(record, 16)?,
                    h: float(record, 20)?,
                },
                score: float(record, 24)?,
            })
        })
        .collect()
}

impl Temporal for TrackRow {
    type Key = (ClipId, TrackId);
    const TABLE: &'static str = "track";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "track", "source", "start", "end", "face", "confidence", "sightings"];

    fn key(&self) -> Self::Key {
        (self.clip, self.track)
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            large(self.track.0),
            text(&self.source),
            time(self.span.start),
            time(self.span.end),
            or_null(self.face, text),
            real(self.confidence),
            sightings_blob(&self.sightings),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            track: columns.number().map(TrackId)?,
            source: columns.source()?,
            span: columns.span()?,
            face: columns.parsed_or_null()?,
            confidence: columns.real32()?,
            sightings: {
                let bytes: Vec<u8> = columns.next()?;
                sightings_from(&bytes).ok_or_else(|| columns.fail("sightings are cut off"))?
            },
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[3] = int(sources.of(&self.source));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.span)
    }

    fn links(&self) -> Vec<EntityId> {
        self.face.into_iter().collect()
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }
}

impl Temporal for TurnRow {
    type Key = (SessionId, TurnId);
    const TABLE: &'static str = "turn";
    const COLUMNS: &'static [&'static str] = &[
        "session",
        "clip",
        "turn",
        "source",
        "start",
        "end",
        "speech_secs",
        "voice",
        "confidence",
        "words",
        "language",
        "engine",
        "word_times",
        "sound",
    ];

    fn key(&self) -> Self::Key {
        (self.clip.session, self.turn)
    }

    fn bind(&self) -> Vec<Value> {
        let words = self.words.as_ref();
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            large(self.turn.0),
            text(&self.source),
            time(self.span.start),
            time(self.span.end),
            real(self.speech_secs),
            or_null(self.voice, text),
            real(self.confidence),
            or_null(words, |words| text(&words.text)),
            or_null(words.and_then(|words| words.language.as_ref()), text),
            or_null(words, |words| text(&words.engine)),
            or_null(words, |words| {
                let config = bincode::config::standard();
                Value::Blob(bincode::serde::encode_to_vec(&words.words, config).unwrap_or_default())
            }),
            digest(self.sound.as_ref()),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            turn: columns.number().map(TurnId)?,
            source: columns.source()?,
            span: columns.span()?,
            speech_secs: columns.real()?,
            voice: columns.parsed_or_null()?,
            confidence: columns.real32()?,
            words: {
                let text: Option<String> = columns.next()?;
                let language: Option<String> = columns.next()?;
                let engine: Option<String> = columns.next()?;
                let times: Option<Vec<u8>> = columns.next()?;
                let words: Vec<Word> = match times {
                    Some(bytes) => {
                        bincode::serde::decode_from_slice(&bytes, bincode::config::standard())
                            .map_err(|error| columns.fail(error))?
                            .0
                    }
                    None => Vec::new(),
                };
                text.map(|text| Transcript {
                    text,
                    words,
                    language,
                    engine: engine.unwrap_or_default(),
                })
            },
            sound: columns.digest()?,
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[3] = int(sources.of(&self.source));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.span)
    }

    fn links(&self) -> Vec<EntityId> {
        self.voice.into_iter().collect()
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }
}

impl Temporal for PoseRow {
    type Key = (ClipId, Timestamp);
    const TABLE: &'static str = "pose";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "stamp", "x", "y", "yaw", "frame"];

    fn key(&self) -> Self::Key {
        (self.clip, self.pose.stamp)
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            time(self.pose.stamp),
            real(self.pose.x),
            real(self.pose.y),
            real(self.pose.yaw),
            text(&self.pose.frame),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            pose: Pose {
                stamp: columns.time()?,
                x: columns.real()?,
                y: columns.real()?,
                yaw: columns.real()?,
                frame: columns.next()?,
            },
        })
    }

    fn span(&self) -> Option<Span> {
        Some(Span { start: self.pose.stamp, end: self.pose.stamp })
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }
}

impl Temporal for Exemplar {
    type Key = (EntityId, u32);
    const TABLE: &'static str = "exemplar";
    const COLUMNS: &'static [&'static str] =
        &["entity", "slot", "at", "quality", "weight", "media", "model", "vector"];

    fn key(&self) -> Self::Key {
        (self.entity, self.slot)
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            text(self.entity),
            int(self.slot),
            time(self.at),
            real(self.quality),
            real(self.weight),
            digest(self.media.as_ref()),
            Value::Blob(self.embedding.model.0.to_vec()),
            vector(&self.embedding.values),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            entity: columns.parsed()?,
            slot: columns.number()?,
            at: columns.time()?,
            quality: columns.real32()?,
            weight: columns.real32()?,
            media: columns.digest()?,
            embedding: columns.embedding()?,
        })
    }

    fn links(&self) -> Vec<EntityId> {
        vec![self.entity]
    }
}

impl Temporal for PairEvidence {
    type Key = (EntityId, EntityId);
    const TABLE: &'static str = "evidence";
    const COLUMNS: &'static [&'static str] = &["face", "voice", "support_secs", "against_secs"];

    fn key(&self) -> Self::Key {
        (self.face, self.voice)
    }

    fn bind(&self) -> Vec<Value> {
        vec![text(self.face), text(self.voice), real(self.support_secs), real(self.against_secs)]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            face: columns.parsed()?,
            voice: columns.parsed()?,
            support_secs: columns.real()?,
            against_secs: columns.real()?,
        })
    }

    fn links(&self) -> Vec<EntityId> {
        vec![self.face, self.voice]
    }
}

impl Temporal for Membership {
    type Key = EntityId;
    const TABLE: &'static str = "membership";
    const COLUMNS: &'static [&'static str] = &["part", "person", "reason", "decreed"];

    fn key(&self) -> EntityId {
        self.part
    }

    fn bind(&self) -> Vec<Value> {
        vec![text(self.part), text(self.person), text(&self.reason), int(self.decreed)]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            part: columns.parsed()?,
            person: columns.parsed()?,
            reason: columns.next()?,
            decreed: columns.flag()?,
        })
    }

    fn links(&self) -> Vec<EntityId> {
        vec![self.person]
    }
}

impl Temporal for Merge {
    type Key = EntityId;
    const TABLE: &'static str = "merge";
    const COLUMNS: &'static [&'static str] = &["from_id", "into_id", "reason", "decreed"];

    fn key(&self) -> EntityId {
        self.from
    }

    fn bind(&self) -> Vec<Value> {
        vec![text(self.from), text(self.into), text(&self.reason), int(self.decreed)]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            from: columns.parsed()?,
            into: columns.parsed()?,
            reason: columns.next()?,
            decreed: columns.flag()?,
        })
    }

    fn links(&self) -> Vec<EntityId> {
        vec![self.into]
    }
}

impl NameSource {
    /// The word in JSON and SQL.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Model => "model",
            Self::Told => "told",
        }
    }
}

impl Temporal for NameRow {
    type Key = (EntityId, String);
    const TABLE: &'static str = "name";
    const COLUMNS: &'static [&'static str] =
        &["entity", "name", "since", "source", "turn_session", "turn"];

    fn key(&self) -> Self::Key {
        (self.entity, self.name.clone())
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            text(self.entity),
            text(&self.name),
            time(self.since),
            text(self.source.word()),
            or_null(self.turn, |(session, _)| int(session.0)),
            or_null(self.turn, |(_, turn)| large(turn.0)),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            entity: columns.parsed()?,
            name: columns.next()?,
            since: columns.time()?,
            source: {
                let word: String = columns.next()?;
                [NameSource::Said, NameSource::Model, NameSource::Told]
                    .into_iter()
                    .find(|source| source.word() == word)
                    .ok_or_else(|| columns.fail(format!("{word:?} is no source of names")))?
            },
            turn: {
                let session: Option<u32> = columns.next()?;
                let turn: Option<i64> = columns.next()?;
                session.zip(turn).map(|(session, turn)| (SessionId(session), TurnId(turn as u64)))
            },
        })
    }

    fn links(&self) -> Vec<EntityId> {
        vec![self.entity]
    }
}

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
}

impl Temporal for MemoryVector {
    type Key = MemoryId;
    const TABLE: &'static str = "vector";
    const COLUMNS: &'static [&'static str] = &["memory", "model", "vector"];

    fn key(&self) -> MemoryId {
        self.memory
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            large(self.memory.0),
            Value::Blob(self.embedding.model.0.to_vec()),
            vector(&self.embedding.values),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self { memory: columns.number().map(MemoryId)?, embedding: columns.embedding()? })
    }
}

impl Temporal for Retirement {
    type Key = MemoryId;
    const TABLE: &'static str = "retirement";
    const COLUMNS: &'static [&'static str] = &["memory", "valid_to", "reason"];

    fn key(&self) -> MemoryId {
        self.memory
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

impl MediaKind {
    /// The word in JSON and SQL.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::FaceChip => "face_chip",
            Self::KeyFrame => "key_frame",
            Self::Speech => "speech",
        }
    }

    /// Internet media type of the file.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::FaceChip | Self::KeyFrame => "image/jpeg",
            Self::Speech => "audio/wav",
        }
    }
}

impl Temporal for MediaRow {
    type Key = MediaDigest;
    const TABLE: &'static str = "media";
    const COLUMNS: &'static [&'static str] = &["digest", "kind", "bytes", "pinned"];

    fn key(&self) -> MediaDigest {
        self.digest.clone()
    }

    fn bind(&self) -> Vec<Value> {
        vec![text(&self.digest.0), text(self.kind.word()), large(self.bytes), int(self.pinned)]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            digest: MediaDigest(Arc::from(columns.next::<String>()?)),
            kind: {
                let word: String = columns.next()?;
                [MediaKind::FaceChip, MediaKind::KeyFrame, MediaKind::Speech]
                    .into_iter()
                    .find(|kind| kind.word() == word)
                    .ok_or_else(|| columns.fail(format!("{word:?} is no kind of media")))?
            },
            bytes: columns.number()?,
            pinned: columns.flag()?,
        })
    }
}
