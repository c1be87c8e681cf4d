//! Rows of what people do.

use std::sync::Arc;

use rusqlite::types::Value;

use super::shelved::{read_action, write_action};
use super::{Columns, RowError, SourceOrdinals, int, large, real, text, time};
use crate::ids::{ClipId, TrackId};
use crate::memory::model::ActionRow;
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Numbered, Temporal};
use crate::percept::{Action, ActionKind};
use crate::time::{Span, Timestamp};

impl Temporal for ActionRow {
    type Key = (ClipId, TrackId, Timestamp, ActionKind);
    const TABLE: &'static str = "action";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "track", "source", "start", "end", "kind", "confidence", "continued"];

    const NUMBERED: Numbered = Numbered::InClip;

    fn key(&self) -> Self::Key {
        (self.clip, self.track, self.action.span.start, self.action.kind)
    }

    fn clip_of(key: &Self::Key) -> Option<ClipId> {
        Some(key.0)
    }

    fn bind(&self) -> Vec<Value> {
        let action = &self.action;
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            large(self.track.0),
            text(self.source.as_str()),
            time(action.span.start),
            time(action.span.end),
            text(action.kind.word()),
            real(action.confidence),
            int(action.continued),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            track: columns.number().map(TrackId)?,
            source: columns.source()?,
            action: Action {
                span: columns.span()?,
                kind: columns.parsed()?,
                confidence: columns.real32()?,
                continued: columns.flag()?,
            },
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[3] = int(sources.of(&self.source));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.action.span)
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_action(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_action(shelf.bytes(at, len))
    }
}
