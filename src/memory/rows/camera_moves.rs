//! Rows of stretches in which a camera itself moved.

use std::sync::Arc;

use rusqlite::types::Value;

use super::shelved::{read_camera_move, write_camera_move};
use super::{Columns, RowError, SourceOrdinals, int, text, time};
use crate::ids::{ClipId, SourceId};
use crate::memory::model::CameraMoveRow;
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Numbered, Temporal};
use crate::percept::CameraMove;
use crate::time::{Span, Timestamp};

impl Temporal for CameraMoveRow {
    type Key = (ClipId, SourceId, Timestamp);
    const TABLE: &'static str = "camera_move";
    const COLUMNS: &'static [&'static str] = &["session", "clip", "source", "start", "end"];

    const NUMBERED: Numbered = Numbered::InClip;

    fn key(&self) -> Self::Key {
        (self.clip, self.moved.source.clone(), self.moved.span.start)
    }

    fn clip_of(key: &Self::Key) -> Option<ClipId> {
        Some(key.0)
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            text(self.moved.source.as_str()),
            time(self.moved.span.start),
            time(self.moved.span.end),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            moved: CameraMove { source: columns.source()?, span: columns.span()? },
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[2] = int(sources.of(&self.moved.source));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.moved.span)
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_camera_move(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_camera_move(shelf.bytes(at, len))
    }
}
