//! Things that a detector found: what they are, and where they were seen last.

use std::sync::Arc;

use crate::ids::{ClipId, EntityId, EntityKind, TrackId};
use crate::time::Timestamp;

use super::filter::PerceptFilter;
use super::model::ObjectTrackRow;
use super::view::{View, rows};

impl View {
    /// Object tracks by start, clip and id.
    #[must_use]
    pub fn object_tracks(&self, filter: &PerceptFilter) -> Vec<Arc<ObjectTrackRow>> {
        let mut found = rows(self.percepts(&self.tables.object_tracks, filter));
        found.retain(|track| filter.admits(track.span, track.clip, &track.source));
        found.sort_by_key(|track| (track.span.start, track.clip, track.track));
        found
    }

    /// One object track of a clip.
    #[must_use]
    pub fn object_track(&self, clip: ClipId, track: TrackId) -> Option<Arc<ObjectTrackRow>> {
        self.current(&self.tables.object_tracks, &(clip, track))
    }

    /// The newest track of every object, by object.
    #[must_use]
    pub fn objects(&self) -> Vec<Arc<ObjectTrackRow>> {
        let ids = self.entities().into_iter().filter(|id| id.kind == EntityKind::Object);
        ids.filter_map(|id| self.last_track_of(id, Timestamp::MAX)).collect()
    }

    /// The newest track of an object that began by that time.
    #[must_use]
    pub fn last_track_of(&self, object: EntityId, by: Timestamp) -> Option<Arc<ObjectTrackRow>> {
        let tracks = self.tables.object_tracks.linked(object, &self.horizon);
        let begun = tracks.into_iter().map(|version| Arc::clone(&version.row));
        begun
            .filter(|row| row.span.start <= by)
            .max_by_key(|row| (row.span.end, row.clip, row.track))
    }

    /// What an object is, in the detector's words; `None` for what no detector found.
    #[must_use]
    pub fn label(&self, object: EntityId) -> Option<Arc<str>> {
        self.last_track_of(object, Timestamp::MAX).map(|row| row.label.clone())
    }
}
