//! Things that a detector found: what they are, and where they were seen last; things that are only told of.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::colour::Colours;
use crate::ids::{ClipId, EntityId, EntityKind, TrackId};
use crate::mention;
use crate::time::Timestamp;

use super::filter::{Filter, PerceptFilter};
use super::{View, rows};
use crate::memory::model::{Ground, MemoryKind, MemoryRow, ObjectTrackRow};

/// How a sentence about the place of one thing, or of several, ends that tells who put it there.
const PUT_THERE: [&str; 2] = [" put it there.", " put them there."];

/// "The mug is on the shelf" → "The mug is on the shelf; <person_1> put it there."
#[must_use]
pub fn placed_by(sentence: &str, who: &str, several: bool) -> String {
    format!("{}; {who}{}", sentence.trim_end_matches('.'), PUT_THERE[usize::from(several)])
}

/// Who put the thing there, as such a sentence has it: a mention, or plain words.
#[must_use]
pub fn who_placed(sentence: &str) -> Option<&str> {
    let bare = PUT_THERE.iter().find_map(|end| sentence.strip_suffix(*end))?;
    bare.rsplit_once("; ").map(|(_, who)| who)
}

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

    /// Objects that a detector calls by that noun (lower case), ascending.
    #[must_use]
    pub fn objects_called(&self, noun: &str) -> Vec<EntityId> {
        let called = self.objects().into_iter().filter(|row| row.label.to_lowercase() == noun);
        let ids = called.filter_map(|row| row.object).map(|id| self.resolve(id));
        ids.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether facts tell of a thing by that noun (lower case): of one that has no id.
    #[must_use]
    pub fn tells_of(&self, noun: &str) -> bool {
        let kinds = vec![MemoryKind::Semantic, MemoryKind::Note];
        let rows = self.candidates(&Filter { kinds, ..Filter::default() });
        let mut facts = rows.iter().filter_map(|row| row.fact.as_ref());
        facts.any(|fact| fact.subject.to_lowercase() == noun)
    }

    /// Who made a fact so (who put the thing there), else who told it: an id, resolved, or the words for somebody unknown.
    #[must_use]
    pub fn told_by(&self, row: &MemoryRow) -> Option<String> {
        let actor = who_placed(&row.text).map(|who| match mention::mentions(who).as_slice() {
            [one] if one.range == (0..who.len()) => self.resolve(one.entity).to_string(),
            _ => mention::render(who, |id| self.display_name(id)),
        });
        let teller = || {
            row.grounds.iter().find_map(|ground| match ground {
                Ground::Turn(clip, turn) => self.turn(clip.session, *turn)?.voice,
                _ => None,
            })
        };
        actor.or_else(|| teller().map(|voice| self.resolve(voice).to_string()))
    }

    /// What colour an object is, where that is settled.
    #[must_use]
    pub fn colours(&self, object: EntityId) -> Option<Colours> {
        self.last_track_of(object, Timestamp::MAX).and_then(|row| row.colours)
    }

    /// What a fact is about, in words, with the colour of a thing that a detector found: "red cup". A thing that was given a name has that alone.
    #[must_use]
    pub fn described(&self, subject: &str) -> String {
        let called = self.thing(subject);
        let object = subject.parse().ok().filter(|id: &EntityId| id.kind == EntityKind::Object);
        let unnamed = object.filter(|id| self.label(*id).is_some_and(|label| *called == *label));
        Colours::before(unnamed.and_then(|id| self.colours(id)), &called)
    }

    /// What an object is, in the detector's words; `None` for what no detector found.
    #[must_use]
    pub fn label(&self, object: EntityId) -> Option<Arc<str>> {
        self.last_track_of(object, Timestamp::MAX).map(|row| row.label.clone())
    }
}
