//! A clip as it waits for the model: everything that the request needs, and nothing of the live session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::identify::{IdentifiedClip, Persons, wav};
use crate::ids::{ClipId, EntityId, SourceId, TurnId};
use crate::media::{Pose, SAMPLE_RATE};
use crate::percept::{ClipPercepts, SpeechTurn};
use crate::time::{Span, Timestamp};

/// A clip that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpooledClip {
    /// Which.
    pub clip: ClipId,
    /// What it covers.
    pub span: Span,
    /// Key frames, JPEG, in time order.
    pub pictures: Vec<(SourceId, Timestamp, Arc<[u8]>)>,
    /// The best view of each face, in order of ids.
    pub faces: Vec<SpooledFace>,
    /// Turns with words, in time order.
    pub turns: Vec<SpooledTurn>,
    /// The clip's speech where it was said, silence between, WAV.
    pub sound: Option<Arc<[u8]>>,
    /// Where the robot was last.
    pub place: Option<Pose>,
}

/// A face of the clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpooledFace {
    /// `face_N`.
    pub face: EntityId,
    /// Whose.
    pub person: Option<EntityId>,
    /// First to last sight.
    pub span: Span,
    /// The crop, JPEG.
    pub chip: Arc<[u8]>,
}

/// A turn of the clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpooledTurn {
    /// Which.
    pub turn: TurnId,
    /// `voice_N`, once given.
    pub voice: Option<EntityId>,
    /// Whose.
    pub person: Option<EntityId>,
    /// When.
    pub span: Span,
    /// The words.
    pub words: String,
}

impl SpooledClip {
    /// Of a sealed clip; `with_sound`: the sound is sent, too.
    #[must_use]
    pub fn of(
        percepts: &ClipPercepts,
        identified: &IdentifiedClip,
        persons: &Persons,
        with_sound: bool,
    ) -> Self {
        let mut pictures: Vec<_> = percepts
            .key_frames
            .iter()
            .map(|frame| (frame.source.clone(), frame.at, Arc::clone(&frame.jpeg)))
            .collect();
        pictures.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
        let turns = percepts.turns.iter();
        Self {
            clip: percepts.clip,
            span: percepts.span,
            pictures,
            faces: faces(percepts, identified, persons),
            turns: turns.filter_map(|turn| SpooledTurn::of(turn, identified)).collect(),
            sound: with_sound.then(|| sound(percepts, identified)).flatten(),
            place: percepts.poses.last().cloned(),
        }
    }

    /// Whether there is nothing to look at and nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pictures.is_empty() && self.turns.is_empty()
    }

    /// Every id that the request gives away: nothing else may come back.
    #[must_use]
    pub fn given(&self) -> BTreeSet<EntityId> {
        let faces = self.faces.iter().flat_map(|face| [Some(face.face), face.person]);
        let voices = self.turns.iter().flat_map(|turn| [turn.voice, turn.person]);
        faces.chain(voices).flatten().collect()
    }
}

impl SpooledTurn {
    /// A turn with its words; `None` without any, or for the robot's own and a loudspeaker's.
    #[must_use]
    pub fn of(turn: &SpeechTurn, identified: &IdentifiedClip) -> Option<Self> {
        if identified.is_non_person(turn.id) {
            return None;
        }
        let words = turn.words.as_ref()?.text.trim().to_owned();
        let given = identified.turns.iter().find(|one| one.turn == turn.id);
        (!words.is_empty()).then(|| Self {
            turn: turn.id,
            voice: given.and_then(|one| one.voice),
            person: given.and_then(|one| one.person),
            span: turn.span,
            words,
        })
    }
}

/// One crop per face: of the best sample of all its tracks.
fn faces(
    percepts: &ClipPercepts,
    identified: &IdentifiedClip,
    persons: &Persons,
) -> Vec<SpooledFace> {
    let mut best: BTreeMap<EntityId, (f32, SpooledFace)> = BTreeMap::new();
    for track in &percepts.tracks {
        let given = identified.tracks.iter().find(|one| one.track == track.id);
        let Some(face) = given.and_then(|one| one.face) else { continue };
        let Some(sample) = track.samples.iter().max_by(|a, b| a.quality.total_cmp(&b.quality))
        else {
            continue;
        };
        let fresh = SpooledFace {
            face,
            person: persons.person_of(face),
            span: track.span,
            chip: Arc::clone(&sample.chip),
        };
        match best.get_mut(&face) {
            None => {
                best.insert(face, (sample.quality, fresh));
            }
            Some((quality, known)) => {
                let span = Span::new(
                    known.span.start.min(track.span.start),
                    known.span.end.max(track.span.end),
                );
                if sample.quality > *quality {
                    (*quality, *known) = (sample.quality, fresh);
                }
                known.span = span;
            }
        }
    }
    best.into_values().map(|(_, face)| face).collect()
}

/// The turns' sound, each at its place in the clip.
fn sound(percepts: &ClipPercepts, identified: &IdentifiedClip) -> Option<Arc<[u8]>> {
    let rate = f64::from(SAMPLE_RATE);
    let mut mixed = vec![0.0_f32; (percepts.span.secs().min(600.0) * rate) as usize];
    let mut heard = false;
    for turn in percepts.turns.iter().filter(|turn| !identified.is_non_person(turn.id)) {
        let offset = (turn.span.start.secs_since(percepts.span.start) * rate).round() as i64;
        for (at, sample) in turn.sound.iter().enumerate() {
            let place = usize::try_from(offset + at as i64).ok();
            if let Some(slot) = place.and_then(|place| mixed.get_mut(place)) {
                *slot = (*slot + sample).clamp(-1.0, 1.0);
                heard = true;
            }
        }
    }
    heard.then(|| wav(&mixed).into())
}
