//! "Who is this?": a picture or a sound that the user sends is looked at as an enrolment is, and compared with all that are known.
//! Nothing of it is kept.

use serde::{Deserialize, Serialize};

use super::enrol;
use super::ingest::PerceiverSet;
use super::queries::name_of;
use crate::identify::{Guesses, Lesson, Likeness, Likenesses};
use crate::ids::{EntityId, EntityKind};
use crate::memory::View;
use crate::models::ModelFile;
use crate::mqtt::Refusal;
use crate::mqtt::message::Identify;
use crate::time::Timestamp;

/// Matches that are told.
const MOST: usize = 5;

/// What a sample is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shown {
    /// A face.
    Face,
    /// A voice.
    Voice,
}

/// The reply to `identify`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identified {
    /// What was shown or played.
    pub what: Shown,
    /// The person whose it is: a clip with it would be given to them. `None`: to nobody, or it stays open.
    pub person: Option<EntityId>,
    /// Their name.
    pub name: Option<String>,
    /// The most alike first, five at most, each person once.
    pub matches: Vec<Match>,
    /// From which score on the first match is taken for the one shown …
    pub threshold: f32,
    /// … if it leads the second by so much.
    pub margin: f32,
    /// Below this score a match says nothing; between the two it may be them.
    pub maybe: f32,
    /// Among how many faces or voices it was looked for.
    pub known: usize,
    /// The network whose scores these are.
    pub model: String,
    /// How well the face is seen, 0–1; of a voice how much of a few seconds is speech.
    pub quality: f32,
}

/// One whom it may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// The person, `self`, or of a television the voice; `None`: the face or voice is nobody's yet.
    pub person: Option<EntityId>,
    /// Their name.
    pub name: Option<String>,
    /// The face or voice of theirs that is most alike.
    pub part: EntityId,
    /// How alike, 0–1: a cosine; what is below 0 is 0.
    pub score: f32,
    /// The same as confidence, 0–1: 0.4 at `maybe`, 0.7 at `threshold`.
    pub confidence: f32,
}

/// Whom a picture or a sound may be of, in what is known.
///
/// # Errors
/// A [`Refusal`]: no picture or sound, no face, several faces (and where they are), too little speech, two voices, no models.
pub fn identify(
    request: &Identify,
    perceivers: &PerceiverSet,
    guesses: &Guesses,
    view: &View,
) -> Result<Identified, Refusal> {
    let at = Timestamp::EPOCH; // when it was taken matters to nothing that is told
    let (what, model, lessons) = match (&request.photo, &request.voice) {
        (Some(photo), None) => {
            let lessons = vec![enrol::face(perceivers, photo, at)?];
            (Shown::Face, perceivers.face_embedder.as_ref(), lessons)
        }
        (None, Some(sound)) => {
            let lessons = enrol::voice(perceivers, sound, enrol::alike_from(perceivers), at)?;
            (Shown::Voice, perceivers.speaker_embedder.as_ref(), lessons)
        }
        _ => return Err(Refusal::bad_request("give exactly one of `photo` and `voice`")),
    };
    let quality = lessons.iter().map(|(sample, _)| sample.quality).fold(0.0, f32::max);
    let samples = lessons.into_iter().map(|(sample, _): Lesson| (sample.embedding, sample.weight));
    let kind = match what {
        Shown::Face => EntityKind::Face,
        Shown::Voice => EntityKind::Voice,
    };
    let found = guesses.likenesses(kind, samples.collect(), MOST);
    Ok(told(what, model, &found, quality, view))
}

fn told(
    what: Shown,
    model: Option<&ModelFile>,
    found: &Likenesses,
    quality: f32,
    view: &View,
) -> Identified {
    let name = |person: Option<EntityId>| person.and_then(|person| name_of(view, person));
    let one = |one: &Likeness| Match {
        person: one.person,
        name: name(one.person),
        part: one.part,
        score: one.score.clamp(0.0, 1.0),
        confidence: one.confidence,
    };
    let person = found.clear().and_then(|clear| clear.person);
    Identified {
        what,
        person,
        name: name(person),
        matches: found.matches.iter().map(one).collect(),
        threshold: found.thresholds.accept,
        margin: found.thresholds.margin,
        maybe: found.thresholds.maybe.clamp(0.0, 1.0),
        known: found.known,
        model: model.map(|file| file.name.clone()).unwrap_or_default(),
        quality,
    }
}
