//! What perception found, with its exact time span: face tracks, body tracks and actions, object tracks, speech turns, sounds, poses.
//!
//! Produced by `perceive`, gathered per clip by `window`, given an identity by `identify`.

use std::ops::Range;
use std::sync::Arc;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use crate::camera::Bearing;
use crate::colour::{Colours, Named};
use crate::geometry::{Point, Rect};
use crate::ids::{ClipId, ModelHash, SourceId, TrackId, TurnId};
use crate::media::Pose;
use crate::simd::dot;
use crate::time::{Span, Timestamp};

/// A unit-length vector and the model that made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// L2-normalised, `[D]`.
    pub values: Vec<f32>,
    /// Only equal hashes are compared.
    pub model: ModelHash,
}

impl Embedding {
    /// Normalises `values` to unit length (a zero vector stays zero).
    #[must_use]
    pub fn normalised(mut values: Vec<f32>, model: ModelHash) -> Self {
        let norm = values.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt();
        if norm > 0.0 {
            for value in &mut values {
                *value = (f64::from(*value) / norm) as f32;
            }
        }
        Self { values, model }
    }

    /// Cosine similarity, [-1, 1]; `None` when the models differ.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        (self.model == other.model && self.values.len() == other.values.len())
            .then(|| dot(&self.values, &other.values).clamp(-1.0, 1.0))
    }
}

/// A face's upright chip, small: mean luma of 16 x 16 cells, light and contrast taken out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look(pub Vec<f32>);

/// Whether a followed face lives, or is a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Liveness {
    /// Nobody looked: `face.spot_pictures` is off.
    #[default]
    Untold,
    /// It has not moved yet, and was not watched for long.
    Unproven,
    /// It has moved.
    Alive,
    /// It never did.
    Picture,
}

/// One face found in one analysed frame.
#[derive(Clone, Debug)]
pub struct Face {
    /// Box in px of the frame, clamped to it.
    pub bbox: Rect,
    /// Left eye, right eye, nose, left and right corner of the mouth (as seen in the picture), px of the frame.
    pub landmarks: [Point; 5],
    /// The detector's confidence, 0–1.
    pub score: f32,
    /// How well the face is seen (size, sharpness, pose, score), 0–1.
    pub quality: f32,
    /// Who it looks like; `None` where no embedder runs or the face is too poor.
    pub embedding: Option<Embedding>,
    /// The aligned chip as JPEG, for galleries and contact sheets.
    pub chip: Option<Arc<[u8]>>,
    /// Where it is, seen from a camera that is calibrated.
    pub bearing: Option<Bearing>,
    /// What its features look like, to tell pictures of faces; only where that is asked for.
    pub look: Option<Look>,
}

/// Everything found in one analysed frame of one camera.
#[derive(Clone, Debug)]
pub struct FrameFaces {
    /// Which camera.
    pub source: SourceId,
    /// Capture time of the frame.
    pub at: Timestamp,
    /// Picture width in px.
    pub width: u32,
    /// Picture height in px.
    pub height: u32,
    /// In the detector's order (score descending).
    pub faces: Vec<Face>,
}

impl FrameFaces {
    /// Of a picture of that many px in which nobody is.
    #[must_use]
    pub fn none(source: &SourceId, at: Timestamp, (width, height): (u32, u32)) -> Self {
        let source = source.clone();
        Self { source, at, width, height, faces: Vec::new() }
    }
}

/// One thing found in one analysed frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Box in px of the frame, clamped to it.
    pub bbox: Rect,
    /// What it is, in the detector's words.
    pub label: Arc<str>,
    /// The detector's confidence, 0–1.
    pub score: f32,
    /// From which confidence its class is believed, 0–1: what is less sure may only go on with what is known.
    pub least: f32,
    /// Where it is, seen from a camera that is calibrated.
    pub bearing: Option<Bearing>,
    /// Width and height of the frame, px.
    pub picture: (u32, u32),
    /// The colours that a person wears; `None` of a thing.
    pub clothes: Option<Clothes>,
    /// What colour the thing, or what a person wears above the waist, is called in this frame, where it has one.
    pub colours: Option<Named>,
    /// Where a person's joints are; `None` of a thing, and where nobody looked.
    pub skeleton: Option<Skeleton>,
}

/// A joint, or a part of the head.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyPoint {
    /// Where it is, px of the frame.
    pub at: Point,
    /// How sure that is, 0–1.
    pub score: f32,
}

/// The key points of a body in COCO's order: nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles; of each pair the
/// person's left one first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skeleton(pub [KeyPoint; Self::POINTS]);

impl Skeleton {
    /// How many there are.
    pub const POINTS: usize = 17;
}

/// What colours a person wears: of the upper and of the lower half of the body the share of each colour, as square roots, so
/// that the dot product of two is how much they have in common (Bhattacharyya's coefficient), 0–1. Light changes it, and
/// others wear the same: it tells people apart within seconds, never who somebody is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clothes(pub Vec<f32>);

/// A face's or thing's place in one analysed frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// Capture time of the frame.
    pub at: Timestamp,
    /// Box in px.
    pub bbox: Rect,
    /// Detector confidence, 0–1.
    pub score: f32,
    /// Where it is, seen from a camera that is calibrated.
    #[serde(default)]
    pub bearing: Option<Bearing>,
}

/// A well-seen moment of a track: material for matching and galleries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaceSample {
    /// Capture time of the frame.
    pub at: Timestamp,
    /// Embedding of the aligned chip.
    pub embedding: Embedding,
    /// Face quality, 0–1.
    pub quality: f32,
    /// The aligned chip, JPEG.
    pub chip: Arc<[u8]>,
}

/// One face followed through the frames of one camera, as far as one clip shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaceTrack {
    /// Lasts over clip borders.
    pub id: TrackId,
    /// Which camera.
    pub source: SourceId,
    /// From the first sighting in this clip to one analysis step after the last.
    pub span: Span,
    /// Every analysed frame of this clip in which it was seen, in time order.
    pub sightings: Vec<Sighting>,
    /// The best-seen moments of this clip, at most a handful, best first.
    pub samples: Vec<FaceSample>,
    /// It began in an earlier clip.
    pub continued: bool,
    /// Whether it is a living face, as far as that is known by the end of its span.
    pub life: Liveness,
}

/// One thing followed through the frames of one camera, as far as one clip shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectTrack {
    /// Lasts over clip borders.
    pub id: TrackId,
    /// Which camera.
    pub source: SourceId,
    /// From the first sighting in this clip to one look after the last.
    pub span: Span,
    /// What it is, in the detector's words.
    pub label: Arc<str>,
    /// Width and height of the camera's pictures, px.
    pub picture: (u32, u32),
    /// Every frame of this clip in which it was found, in time order.
    pub sightings: Vec<Sighting>,
    /// It began in an earlier clip.
    pub continued: bool,
    /// What colour it is called, as far as that is settled by the end of its span.
    #[serde(default)]
    pub colours: Option<Colours>,
}

/// One person followed as a body, from whatever side, through the frames of one camera, as far as one clip shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyTrack {
    /// Lasts over clip borders.
    pub id: TrackId,
    /// Which camera.
    pub source: SourceId,
    /// From the first sighting in this clip to one analysis step after the last.
    pub span: Span,
    /// Every analysed frame of this clip in which it was seen, or stood still between two in which it was, in time order.
    pub sightings: Vec<Sighting>,
    /// It began in an earlier clip.
    pub continued: bool,
    /// Bodies were so close that this may be one and then the other: nobody's face makes it his.
    pub crowded: bool,
    /// What colour the clothes above the waist are called, as far as that is settled by the end of its span: of this appearance, and
    /// nobody's by itself.
    #[serde(default)]
    pub colours: Option<Colours>,
    /// What it did, by start.
    pub actions: Vec<Action>,
}

/// What somebody does, by the joints of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// Upright on the legs, and stays there.
    Stands,
    /// Upright, and goes.
    Walks,
    /// On a chair, or whatever is as high.
    Sits,
    /// Stretched out.
    Lies,
    /// Holds a hand up beside the head or above it.
    RaisesHand,
    /// A hand that is held up goes to and fro.
    Waves,
    /// Stretches one arm out to a side.
    Points,
    /// Was upright, and lay the next moment. From the last look before to the first one after.
    Falls,
}

impl ActionKind {
    /// All of them, in their order.
    pub const ALL: [Self; 8] = [
        Self::Stands,
        Self::Walks,
        Self::Sits,
        Self::Lies,
        Self::RaisesHand,
        Self::Waves,
        Self::Points,
        Self::Falls,
    ];

    /// The word in JSON and SQL.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stands => "stands",
            Self::Walks => "walks",
            Self::Sits => "sits",
            Self::Lies => "lies",
            Self::RaisesHand => "raises_hand",
            Self::Waves => "waves",
            Self::Points => "points",
            Self::Falls => "falls",
        }
    }
}

impl std::str::FromStr for ActionKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|kind| kind.word() == word);
        known.ok_or_else(|| format!("{word:?} is no kind of action"))
    }
}

/// Something that a body did, as far as one clip shows it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// What.
    pub kind: ActionKind,
    /// From the first look that told it to one analysis step after the last; cut at the clip's border.
    pub span: Span,
    /// How sure the joints were that tell it, on the average, 0–1.
    pub confidence: f32,
    /// It goes on from the clip before.
    pub continued: bool,
}

/// A text that one camera shows at one place (a sign, a label, a screen), as far as it was read in one clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextTrack {
    /// Lasts over clip borders, as long as the same is read at the same place.
    pub id: TrackId,
    /// Which camera.
    pub source: SourceId,
    /// From the first look of this clip that read it to one analysis step after the last.
    pub span: Span,
    /// What it says: what most readings so far are for, each as strong as it was sure.
    pub text: String,
    /// How sure that is, 0–1.
    pub confidence: f32,
    /// Upright box around it where it was read last, px.
    pub place: Rect,
    /// Width and height of the camera's pictures, px.
    pub picture: (u32, u32),
    /// How often it was read so far.
    pub readings: u32,
    /// When it was read most surely in this clip.
    pub best_at: Timestamp,
    /// An earlier clip told that it says so.
    pub continued: bool,
}

/// One recognised word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// As spelled by the recogniser.
    pub text: CompactString,
    /// When it was said.
    pub span: Span,
    /// 0–1 where the recogniser tells.
    pub confidence: Option<f32>,
}

/// The words of a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The whole text.
    pub text: String,
    /// Words with times, where the recogniser gives them.
    pub words: Vec<Word>,
    /// BCP 47 language tag, where known.
    pub language: Option<String>,
    /// Name of the recogniser.
    pub engine: String,
}

/// A word that is less likely than not may be another.
const DOUBTED: f32 = 0.5;

impl Transcript {
    /// Bytes of the text whose words the recogniser doubts itself; none where it does not tell.
    #[must_use]
    pub fn doubted(&self) -> Vec<Range<usize>> {
        let (mut found, mut from) = (Vec::new(), 0);
        for word in &self.words {
            let rest = self.text.get(from..).unwrap_or_default();
            let Some(start) = rest.find(&*word.text).map(|at| from + at) else { continue };
            from = start + word.text.len();
            if word.confidence.is_some_and(|confidence| confidence < DOUBTED) {
                found.push(start..from);
            }
        }
        found
    }
}

/// One voice, its words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeechTurn {
    /// Unique within the session.
    pub id: TurnId,
    /// Which microphone.
    pub source: SourceId,
    /// First to last speech, 10 ms steps.
    pub span: Span,
    /// Seconds of speech inside the span (pauses left out).
    pub speech_secs: f64,
    /// Mean level of the speech, dB relative to full scale.
    pub level_dbfs: f32,
    /// Whose voice; `None` where no speaker embedder runs or the turn is too short.
    pub embedding: Option<Embedding>,
    /// What was said; `None` until known, empty text when nothing was understood.
    pub words: Option<Transcript>,
    /// Two voices at once in part of the turn: it teaches no gallery. One that was cut out for it has the embedding of what
    /// its voice says alone nearby.
    pub overlapped: bool,
    /// Which of the voices that hearing the whole clip again told apart, per microphone and clip; turns of
    /// different numbers are different people's. `None` where each turn stands for itself.
    pub distinct: Option<u8>,
    /// The robot's own speech: it belongs to `self` and tells of nobody.
    pub own: bool,
    /// The sound, 16 kHz mono, for snippets and re-embedding.
    pub sound: Arc<[f32]>,
}

/// A face against a turn: whether its mouth made that sound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MouthScore {
    /// The turn.
    pub turn: TurnId,
    /// The track.
    pub track: TrackId,
    /// Mean log odds over the pictures that were scored; 0 = even, positive = speaks.
    pub log_odds: f32,
    /// Seconds of speech that were scored.
    pub secs: f64,
}

/// What was heard that is no speech.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SoundKind {
    /// Much louder than what went before: a bang, a ring, a bark, music that sets in.
    Loud,
    /// Neither speech nor anything loud, for a while; cut at the clip's border.
    Quiet,
}

impl SoundKind {
    /// All of them, in their order.
    pub const ALL: [Self; 2] = [Self::Loud, Self::Quiet];

    /// The word in JSON and SQL.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Loud => "loud",
            Self::Quiet => "quiet",
        }
    }
}

impl std::str::FromStr for SoundKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.word() == word)
            .ok_or_else(|| format!("{word:?} is no kind of sound: loud or quiet"))
    }
}

/// A stretch of a microphone's sound that is no speech.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sound {
    /// Which microphone.
    pub source: SourceId,
    /// From the first to the last of it, 32 ms steps.
    pub span: Span,
    /// What it is like.
    pub kind: SoundKind,
    /// Its loudest 32 ms, dB relative to full scale.
    pub peak_dbfs: f32,
    /// The level before it, dB relative to full scale.
    pub background_dbfs: f32,
}

/// A sound that means something, as far as one clip holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoundEvent {
    /// Which microphone.
    pub source: SourceId,
    /// From the first second that is sure enough to the last; cut at the clip's border.
    pub span: Span,
    /// What it is, as the configuration calls it: "a door bell".
    pub what: Arc<str>,
    /// How sure that is, 0–1: its surest second.
    pub confidence: f32,
    /// It goes on from the clip before.
    pub continued: bool,
}

/// A stretch in which a camera itself turned or was moved: nothing is known then of what moved before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CameraMove {
    /// Which camera.
    pub source: SourceId,
    /// From the last analysed frame before to the last one in which it had moved.
    pub span: Span,
}

/// A frame worth keeping to look at again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyFrame {
    /// Which camera.
    pub source: SourceId,
    /// Capture time.
    pub at: Timestamp,
    /// The picture, JPEG.
    pub jpeg: Arc<[u8]>,
}

/// Counters of one clip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClipCounts {
    /// Frames captured.
    pub frames: u64,
    /// Frames analysed.
    pub analysed: u64,
    /// Frames dropped (live only).
    pub dropped: u64,
    /// Faces found in analysed frames.
    pub faces: u64,
}

/// A sealed clip: its percepts in canonical order (start, source, id).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClipPercepts {
    /// Which clip.
    pub clip: ClipId,
    /// `[t0 + k·clip_secs, t0 + (k+1)·clip_secs)`; the session's last clip ends with its last media.
    pub span: Span,
    /// Faces followed.
    pub tracks: Vec<FaceTrack>,
    /// Things followed; empty without a detector of things.
    pub objects: Vec<ObjectTrack>,
    /// People followed as bodies; empty without a detector of things.
    #[serde(default)]
    pub bodies: Vec<BodyTrack>,
    /// Texts in view that were read; empty without the networks that read.
    #[serde(default)]
    pub texts: Vec<TextTrack>,
    /// Turns that ended in this clip.
    pub turns: Vec<SpeechTurn>,
    /// Mouths that were scored against these turns, in order of turn and track; a pair that is not here was not.
    #[serde(default)]
    pub mouths: Vec<MouthScore>,
    /// Loud sounds that ended in this clip, and its quiet stretches.
    pub sounds: Vec<Sound>,
    /// Sounds that mean something; empty where nobody listens for them.
    #[serde(default)]
    pub sound_events: Vec<SoundEvent>,
    /// When cameras themselves moved.
    #[serde(default)]
    pub camera_moves: Vec<CameraMove>,
    /// Where the robot was.
    pub poses: Vec<Pose>,
    /// At most a few pictures.
    pub key_frames: Vec<KeyFrame>,
    /// Counters.
    pub counts: ClipCounts,
    /// Times at which every camera's frames were analysed, per camera: tells "not visible" from "not looked".
    pub looked: Vec<(SourceId, Vec<Timestamp>)>,
}
