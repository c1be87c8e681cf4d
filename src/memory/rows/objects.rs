//! Rows of things that a detector found.

use std::sync::Arc;

use rusqlite::types::Value;

use super::shelved::{read_object_track, write_object_track};
use super::sightings::{OfWhat, sightings_blob, sightings_from};
use super::{
    Columns, RowError, SourceOrdinals, int, large, or_null, real, text, time, without_null,
};
use crate::ids::{ClipId, EntityId, TrackId};
use crate::memory::model::ObjectTrackRow;
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Numbered, Temporal};
use crate::time::Span;

impl Temporal for ObjectTrackRow {
    type Key = (ClipId, TrackId);
    const TABLE: &'static str = "object_track";
    const COLUMNS: &'static [&'static str] = &[
        "session",
        "clip",
        "track",
        "source",
        "start",
        "end",
        "label",
        "width",
        "height",
        "object",
        "confidence",
        "sightings",
        "colour",
    ];

    const NUMBERED: Numbered = Numbered::InClip;

    fn key(&self) -> Self::Key {
        (self.clip, self.track)
    }

    fn clip_of(key: &Self::Key) -> Option<ClipId> {
        Some(key.0)
    }

    fn bind(&self) -> Vec<Value> {
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            large(self.track.0),
            text(&self.source),
            time(self.span.start),
            time(self.span.end),
            text(&self.label),
            int(self.picture.0),
            int(self.picture.1),
            or_null(self.object, text),
            real(self.confidence),
            sightings_blob(&self.sightings, OfWhat::default()),
            or_null(self.colours, text),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        Ok(Self {
            clip: columns.clip()?,
            track: columns.number().map(TrackId)?,
            source: columns.source()?,
            span: columns.span()?,
            label: columns.next::<String>()?.into(),
            picture: (columns.number()?, columns.number()?),
            object: columns.parsed_or_null()?,
            confidence: columns.real32()?,
            sightings: {
                let bytes: Vec<u8> = columns.next()?;
                let read = sightings_from(&bytes);
                read.ok_or_else(|| columns.fail("sightings are cut off"))?.0
            },
            colours: columns.parsed_or_null()?,
        })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[3] = int(sources.of(&self.source));
        without_null(values)
    }

    fn span(&self) -> Option<Span> {
        Some(self.span)
    }

    fn links(&self) -> Vec<EntityId> {
        self.object.into_iter().collect()
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_object_track(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_object_track(shelf, at, len)
    }
}
