//! Rows of sounds that mean something.

use std::sync::Arc;

use rusqlite::types::Value;

use super::shelved::{read_sound_event, write_sound_event};
use super::{Columns, RowError, SourceOrdinals, int, real, text, time};
use crate::ids::{ClipId, SourceId};
use crate::memory::model::SoundEventRow;
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Numbered, Temporal};
use crate::percept::SoundEvent;
use crate::time::{Span, Timestamp};

impl Temporal for SoundEventRow {
    type Key = (ClipId, SourceId, Timestamp, Arc<str>);
    const TABLE: &'static str = "sound_event";
    const COLUMNS: &'static [&'static str] =
        &["session", "clip", "source", "start", "end", "what", "confidence", "continued"];

    const NUMBERED: Numbered = Numbered::InClip;

    fn key(&self) -> Self::Key {
        let event = &self.event;
        (self.clip, event.source.clone(), event.span.start, Arc::clone(&event.what))
    }

    fn clip_of(key: &Self::Key) -> Option<ClipId> {
        Some(key.0)
    }

    fn bind(&self) -> Vec<Value> {
        let event = &self.event;
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            text(event.source.as_str()),
            time(event.span.start),
            time(event.span.end),
            text(&event.what),
            real(f64::from(event.confidence)),
            int(event.continued),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            event: SoundEvent {
                source: columns.source()?,
                span: columns.span()?,
                what: columns.next::<String>()?.into(),
                confidence: columns.real32()?,
                continued: columns.flag()?,
            },
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[2] = int(sources.of(&self.event.source));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.event.span)
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_sound_event(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_sound_event(shelf.bytes(at, len))
    }
}
