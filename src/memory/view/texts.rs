//! Words in view, as a view of the memory has them.

use std::sync::Arc;

use crate::ids::{ClipId, TrackId};

use super::filter::PerceptFilter;
use super::{View, rows};
use crate::memory::model::TextTrackRow;

impl View {
    /// Texts that were read, by start, clip and id; they are nobody's.
    #[must_use]
    pub fn text_tracks(&self, filter: &PerceptFilter) -> Vec<Arc<TextTrackRow>> {
        let mut found = rows(self.percepts(&self.tables.text_tracks, filter));
        found.retain(|row| filter.admits(row.track.span, row.clip, &row.track.source));
        found.sort_by_key(|row| (row.track.span.start, row.clip, row.track.id));
        found
    }

    /// One text of a clip.
    #[must_use]
    pub fn text_track(&self, clip: ClipId, track: TrackId) -> Option<Arc<TextTrackRow>> {
        self.current(&self.tables.text_tracks, &(clip, track))
    }
}
