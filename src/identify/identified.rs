//! What the resolver made of a clip.

use crate::ids::{ClipId, EntityId, TrackId, TurnId};
use crate::memory::model::{Membership, Merge, NameRow};
use crate::time::Timestamp;

/// A track of the clip with its face.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentifiedTrack {
    /// The track.
    pub track: TrackId,
    /// `face_N`; `None` while undecided.
    pub face: Option<EntityId>,
    /// Whose face, merges resolved.
    pub person: Option<EntityId>,
    /// How sure, 0–1.
    pub confidence: f32,
}

/// A turn of the clip with its voice.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentifiedTurn {
    /// The turn.
    pub turn: TurnId,
    /// `voice_N`; `None` while undecided.
    pub voice: Option<EntityId>,
    /// Whose voice, merges resolved; `None` also where it is nobody's ([`Self::aside`]).
    pub person: Option<EntityId>,
    /// How sure, 0–1.
    pub confidence: f32,
    /// The robot's own speech or a television's: nothing is concluded from it.
    pub aside: bool,
}

/// An object track of the clip with its object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IdentifiedObject {
    /// The track.
    pub track: TrackId,
    /// `object_N`.
    pub object: EntityId,
    /// When it was seen last before this track's part in the clip; `None`: never.
    pub before: Option<Timestamp>,
}

/// What the resolver made of a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IdentifiedClip {
    /// The clip's tracks, in canonical order.
    pub tracks: Vec<IdentifiedTrack>,
    /// The clip's body tracks, in canonical order; a body's face is the one that was seen on it.
    pub bodies: Vec<IdentifiedTrack>,
    /// The clip's object tracks, in canonical order.
    pub objects: Vec<IdentifiedObject>,
    /// The clip's turns, in canonical order.
    pub turns: Vec<IdentifiedTurn>,
    /// Persons that were never met before.
    pub new_persons: Vec<EntityId>,
    /// Voices that were given to a face, or taken from one, in this clip, with the figures.
    pub links: Vec<Membership>,
    /// Merges found in this clip.
    pub merges: Vec<Merge>,
    /// Names heard.
    pub names: Vec<NameRow>,
    /// Decided only now: turns of earlier clips.
    pub late_turns: Vec<(ClipId, TurnId, EntityId)>,
}

impl IdentifiedClip {
    /// Adds what was decided after this clip, at the session's end.
    pub fn append(&mut self, after: Self) {
        let Self { tracks, bodies, objects, turns, new_persons, links, merges, names, late_turns } =
            after;
        self.tracks.extend(tracks);
        self.bodies.extend(bodies);
        self.objects.extend(objects);
        self.turns.extend(turns);
        self.new_persons.extend(new_persons);
        self.links.extend(links);
        self.merges.extend(merges);
        self.names.extend(names);
        self.late_turns.extend(late_turns);
    }

    /// Whose face that track shows.
    #[must_use]
    pub fn person_of_track(&self, track: TrackId) -> Option<EntityId> {
        self.tracks.iter().find(|t| t.track == track).and_then(|t| t.person)
    }

    /// Whose body that track shows.
    #[must_use]
    pub fn person_of_body(&self, track: TrackId) -> Option<EntityId> {
        self.bodies.iter().find(|body| body.track == track).and_then(|body| body.person)
    }

    /// Whether that turn is the robot's own speech or a television's, from which nothing follows.
    #[must_use]
    pub fn is_non_person(&self, turn: TurnId) -> bool {
        self.turns.iter().any(|t| t.turn == turn && t.aside)
    }

    /// Who spoke that turn.
    #[must_use]
    pub fn person_of_turn(&self, turn: TurnId) -> Option<EntityId> {
        self.turns.iter().find(|t| t.turn == turn).and_then(|t| t.person)
    }
}
