//! Rows of who is who: entities, exemplars, evidence, memberships, merges, names.

use rusqlite::types::Value;

use crate::ids::{EntityId, SessionId, TurnId};
use crate::memory::model::{
    EntityRow, Exemplar, Membership, Merge, NameRow, NameSource, PairEvidence, Presence,
};
use crate::memory::versions::temporal::Temporal;

use super::{Columns, RowError, digest, int, large, or_null, real, text, time, vector};

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
    const COLUMNS: &'static [&'static str] = &[
        "face",
        "voice",
        "support_secs",
        "against_secs",
        "visible_secs",
        "since_secs",
        "clear_secs",
        "first_clip",
        "last_clip",
    ];

    fn key(&self) -> Self::Key {
        (self.face, self.voice)
    }

    fn bind(&self) -> Vec<Value> {
        let presence = self.presence;
        let occasions = presence.and_then(|presence| presence.occasions);
        vec![
            text(self.face),
            text(self.voice),
            real(self.support_secs),
            real(self.against_secs),
            or_null(presence, |presence| real(presence.visible_secs)),
            or_null(presence, |presence| real(presence.since_secs)),
            or_null(presence, |presence| real(presence.clear_secs)),
            or_null(occasions, |(first, _)| text(first)),
            or_null(occasions, |(_, last)| text(last)),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            face: columns.parsed()?,
            voice: columns.parsed()?,
            support_secs: columns.real()?,
            against_secs: columns.real()?,
            presence: {
                let presence = Presence {
                    visible_secs: columns.real()?,
                    since_secs: columns.real()?,
                    clear_secs: columns.real()?,
                    occasions: columns.parsed_or_null()?.zip(columns.parsed_or_null()?),
                };
                (!presence.visible_secs.is_nan()).then_some(presence)
            },
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
            Self::Read => "read",
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
                [NameSource::Read, NameSource::Said, NameSource::Model, NameSource::Told]
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
