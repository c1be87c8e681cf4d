//! Rows of watches and of their firings.

use rusqlite::types::Value;

use super::{Columns, RowError, SourceOrdinals, int, json, large, or_null, text, time};
use crate::ids::{ClipId, EntityId, FiringId, SessionId, SourceId, WatchId};
use crate::memory::versions::temporal::Temporal;
use crate::memory::watches::{FiringRow, FiringState, WatchRow};
use crate::time::Span;

impl Temporal for WatchRow {
    type Key = WatchId;
    const TABLE: &'static str = "watch";
    const COLUMNS: &'static [&'static str] = &["id", "entity", "rule"];

    fn key(&self) -> Self::Key {
        self.id
    }

    fn bind(&self) -> Vec<Value> {
        vec![large(self.id.0), or_null(self.entity, text), json(&self.rule)]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            id: columns.number().map(WatchId)?,
            entity: columns.parsed_or_null()?,
            rule: columns.json()?,
        })
    }

    fn links(&self) -> Vec<EntityId> {
        self.entity.into_iter().collect()
    }
}

impl Temporal for FiringRow {
    type Key = FiringId;
    const TABLE: &'static str = "firing";
    const COLUMNS: &'static [&'static str] =
        &["id", "watch", "at", "entity", "source", "session", "clip", "state"];

    fn key(&self) -> Self::Key {
        self.id
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            large(self.id.0),
            large(self.watch.0),
            time(self.at),
            or_null(self.entity, text),
            or_null(self.source.as_ref(), text),
            or_null(self.clip, |clip| int(clip.session.0)),
            or_null(self.clip, |clip| int(clip.index)),
            text(self.state.word()),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            id: columns.number().map(FiringId)?,
            watch: columns.number().map(WatchId)?,
            at: columns.time()?,
            entity: columns.parsed_or_null()?,
            source: columns.next::<Option<String>>()?.map(|name| SourceId::new(&name)),
            clip: {
                let (session, index): (Option<u32>, Option<u32>) =
                    (columns.next()?, columns.next()?);
                let session = session.map(SessionId);
                session.zip(index).map(|(session, index)| ClipId { session, index })
            },
            state: {
                let word: String = columns.next()?;
                [FiringState::Provisional, FiringState::Confirmed, FiringState::Overturned]
                    .into_iter()
                    .find(|state| state.word() == word)
                    .ok_or_else(|| columns.fail(format!("{word:?} is no state of a firing")))?
            },
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[4] = or_null(self.source.as_ref(), |source| int(sources.of(source)));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(Span::new(self.at, self.at))
    }

    fn links(&self) -> Vec<EntityId> {
        self.entity.into_iter().collect()
    }
}
