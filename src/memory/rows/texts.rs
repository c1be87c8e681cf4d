//! Rows of texts in view.

use std::sync::Arc;

use rusqlite::types::Value;

use super::shelved::{read_text_track, write_text_track};
use super::{Columns, RowError, SourceOrdinals, int, large, real, text, time};
use crate::geometry::Rect;
use crate::ids::{ClipId, TrackId};
use crate::memory::model::TextTrackRow;
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Numbered, Temporal};
use crate::percept::TextTrack;
use crate::time::Span;

impl Temporal for TextTrackRow {
    type Key = (ClipId, TrackId);
    const TABLE: &'static str = "text_track";
    const COLUMNS: &'static [&'static str] = &[
        "session",
        "clip",
        "track",
        "source",
        "start",
        "end",
        "text",
        "confidence",
        "x",
        "y",
        "w",
        "h",
        "width",
        "height",
        "readings",
        "best_at",
        "continued",
    ];

    const NUMBERED: Numbered = Numbered::InClip;

    fn key(&self) -> Self::Key {
        (self.clip, self.track.id)
    }

    fn clip_of(key: &Self::Key) -> Option<ClipId> {
        Some(key.0)
    }

    fn bind(&self) -> Vec<Value> {
        let TextTrack { id, source, span, text: words, confidence, place, picture, .. } =
            &self.track;
        vec![
            int(self.clip.session.0),
            int(self.clip.index),
            large(id.0),
            text(source),
            time(span.start),
            time(span.end),
            text(words),
            real(f64::from(*confidence)),
            real(f64::from(place.x)),
            real(f64::from(place.y)),
            real(f64::from(place.w)),
            real(f64::from(place.h)),
            int(picture.0),
            int(picture.1),
            int(self.track.readings),
            time(self.track.best_at),
            int(u32::from(self.track.continued)),
        ]
    }

    fn read(row: &rusqlite::Row<'_>) -> Result<Self, RowError> {
        let mut columns = Columns::new(row);
        let clip = columns.clip()?;
        let track = TextTrack {
            id: columns.number().map(TrackId)?,
            source: columns.source()?,
            span: columns.span()?,
            text: columns.next()?,
            confidence: columns.real32()?,
            place: Rect {
                x: columns.real32()?,
                y: columns.real32()?,
                w: columns.real32()?,
                h: columns.real32()?,
            },
            picture: (columns.number()?, columns.number()?),
            readings: columns.number()?,
            best_at: columns.time()?,
            continued: columns.number::<u32>()? != 0,
        };
        Ok(Self { clip, track })
    }

    fn canonical(&self, sources: &mut SourceOrdinals) -> Vec<Value> {
        let mut values = self.bind();
        values[3] = int(sources.of(&self.track.source));
        values
    }

    fn span(&self) -> Option<Span> {
        Some(self.track.span)
    }

    fn clip(&self) -> Option<ClipId> {
        Some(self.clip)
    }

    fn shelve(&self, into: &mut Vec<u8>) -> bool {
        write_text_track(self, into);
        true
    }

    fn unshelve(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<Self> {
        read_text_track(shelf.bytes(at, len))
    }
}
