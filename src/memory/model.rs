//! The rows of the memory as the rest of the crate sees them.
//!
//! Every temporal row is an immutable version: it holds from commit `seq` until `retired_seq`; event
//! times say when something was so in the world, record time when the daemon came to know it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::colour::Colours;
use crate::ids::{
    AnswerId, ClipId, EntityId, EntityKind, MemoryId, ModelHash, SessionId, SourceId, TrackId,
    TurnId,
};
use crate::media::Pose;
use crate::percept::{Action, CameraMove, Embedding, Sound, SoundEvent, TextTrack, Transcript};
use crate::time::{Span, Timestamp};

use super::versions::shelf::Values;
pub use super::versions::sightings::Sightings;

/// One run over live sources, or one recording being replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Ordinal in the store, from 1.
    pub id: SessionId,
    /// Event time of its first capture.
    pub start: Timestamp,
    /// Clip length.
    pub clip_secs: f64,
    /// What was replayed; `None` live.
    pub recording: Option<Recording>,
    /// All clips are in: a replay of the same recording says "already remembered".
    pub finished: bool,
}

/// A recording by what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Hex SHA-256 of the bytes (of a directory: of its sorted file names and bytes).
    pub sha256: String,
    /// Where it lay; outside hashes.
    pub path: String,
    /// Topics and span that were asked for, canonical text; the same bytes with another selection are another recording.
    pub selection: String,
}

/// A sealed clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clip {
    /// Its id.
    pub id: ClipId,
    /// What it covers.
    pub span: Span,
    /// Frames captured.
    pub frames: u64,
    /// Frames analysed.
    pub analysed: u64,
    /// Frames dropped.
    pub dropped: u64,
    /// Key frames kept: camera, time, media digest.
    pub key_frames: Vec<(SourceId, Timestamp, MediaDigest)>,
}

/// Hex SHA-256 of a media file's bytes: its name under `media/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MediaDigest(pub Arc<str>);

/// What a media file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// Aligned face chip, JPEG.
    FaceChip,
    /// Whole frame, JPEG.
    KeyFrame,
    /// Speech snippet, 16-bit PCM WAV, 16 kHz mono.
    Speech,
}

/// A media file to be kept with a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Media {
    /// SHA-256 of `bytes`.
    pub digest: MediaDigest,
    /// What it is.
    pub kind: MediaKind,
    /// Gallery exemplars are pinned: the size cap does not take them.
    pub pinned: bool,
    /// The file.
    pub bytes: Arc<[u8]>,
}

/// A face or body track of one clip, with the face it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackRow {
    /// The clip.
    pub clip: ClipId,
    /// The track; with `clip` the row's key.
    pub track: TrackId,
    /// Which camera.
    pub source: SourceId,
    /// What it covers of the clip.
    pub span: Span,
    /// Every analysed frame in which it was seen.
    pub sightings: Sightings,
    /// It is a picture of a face: nobody's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub picture: bool,
    /// It is a body's track, and the face that of the person whose body it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub body: bool,
    /// `face_N`; `None` while unassigned.
    pub face: Option<EntityId>,
    /// How sure, 0–1.
    pub confidence: f32,
    /// Of a body: what colour the clothes above the waist are called, where that is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colours: Option<Colours>,
}

/// An object track of one clip, with the object it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectTrackRow {
    /// The clip.
    pub clip: ClipId,
    /// The track; with `clip` the row's key.
    pub track: TrackId,
    /// Which camera.
    pub source: SourceId,
    /// What it covers of the clip.
    pub span: Span,
    /// What it is, in the detector's words.
    pub label: Arc<str>,
    /// Width and height of the camera's pictures, px.
    pub picture: (u32, u32),
    /// Every frame in which it was found.
    pub sightings: Sightings,
    /// `object_N`; `None` when that is not there any more.
    pub object: Option<EntityId>,
    /// How sure the detector was, 0–1, the mean over its sightings.
    pub confidence: f32,
    /// What colour the thing is called, where that is settled by the end of its span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colours: Option<Colours>,
}

impl ObjectTrackRow {
    /// What the thing is called, with its colour where that is settled: "red cup".
    #[must_use]
    pub fn called(&self) -> String {
        Colours::before(self.colours, &self.label)
    }
}

/// A text that was read in one clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextTrackRow {
    /// The clip.
    pub clip: ClipId,
    /// What was read; its id is with `clip` the row's key.
    pub track: TextTrack,
}

/// A speech turn with the voice it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnRow {
    /// The clip in which it ended.
    pub clip: ClipId,
    /// The turn; with the clip's session the row's key.
    pub turn: TurnId,
    /// Which microphone.
    pub source: SourceId,
    /// First to last speech.
    pub span: Span,
    /// Speech inside it, seconds.
    pub speech_secs: f64,
    /// `voice_N`; `None` while unassigned.
    pub voice: Option<EntityId>,
    /// How sure, 0–1.
    pub confidence: f32,
    /// The words.
    pub words: Option<Transcript>,
    /// The sound, where kept.
    pub sound: Option<MediaDigest>,
}

/// A stored sample of a face or voice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exemplar {
    /// `face_N` or `voice_N`.
    pub entity: EntityId,
    /// Its slot in that gallery; a new version of the slot replaces the old one.
    pub slot: u32,
    /// When it was seen or heard.
    pub at: Timestamp,
    /// The vector.
    pub embedding: Embedding,
    /// 0–1.
    pub quality: f32,
    /// Seconds of speech, or 1 for a face.
    pub weight: f32,
    /// The pinned chip or sound.
    pub media: Option<MediaDigest>,
}

/// Signed evidence that a face and a voice are, or are not, one person.
///
/// Absence is not written: it is what the voice's own counter has grown by while the face was not in view ([`Presence`]).
///
/// More pairs are kept in this form: a voice with itself (`support_secs`: heard while a camera looked; `against_secs`:
/// those of them before the face model changed); two faces, the smaller id as `face` (`against_secs`: seen at once in one
/// camera, or in two that see different places); and, once a model changed and something was lost by it, a face or voice
/// with `self`: [`Self::standing`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairEvidence {
    /// `face_N`.
    pub face: EntityId,
    /// `voice_N`.
    pub voice: EntityId,
    /// Seconds the voice was heard while the face was visible, weighted by how telling that is.
    pub support_secs: f64,
    /// Seconds that speak against the pair: of a face and a voice with [`Self::presence`] those under a silent mouth alone,
    /// without it (as older stores have it) those in which the face was not visible, too.
    pub against_secs: f64,
    /// How often and when a face was in view of a voice; `None` for all other pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
}

/// When a face was in view while a voice was heard: all that absence is reckoned from, so that nothing is written about who
/// is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    /// Of the voice's counter (seconds heard while a camera looked), those in which the face was visible.
    pub visible_secs: f64,
    /// What the counter had when it began to tell about this face.
    pub since_secs: f64,
    /// Of the support, seconds under a mouth that was seen to speak.
    pub clear_secs: f64,
    /// First and last clip in which an unclear mouth had seconds of the voice for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occasions: Option<(ClipId, ClipId)>,
}

impl Presence {
    /// Takes note that there was an occasion in that clip.
    pub fn met_in(&mut self, clip: ClipId) {
        let (first, last) = self.occasions.unwrap_or((clip, clip));
        self.occasions = Some((first.min(clip), last.max(clip)));
    }
}

impl PairEvidence {
    /// That a face or voice was known before its model changed, and whether the one that runs cannot match it: of what is
    /// `unmatchable` nothing was kept that it could learn from.
    #[must_use]
    pub fn standing(part: EntityId, unmatchable: bool) -> Self {
        let support_secs = if unmatchable { 1.0 } else { 0.0 };
        let (against_secs, presence) = (0.0, None);
        Self { face: part, voice: EntityId::ROBOT, support_secs, against_secs, presence }
    }

    /// The face or voice of such a row and whether it is unmatchable; `None` of any other pair.
    #[must_use]
    pub fn as_standing(&self) -> Option<(EntityId, bool)> {
        (self.voice == EntityId::ROBOT).then_some((self.face, self.support_secs > 0.0))
    }

    /// Whether it is about a face and a voice.
    #[must_use]
    pub fn is_face_and_voice(&self) -> bool {
        self.face.kind == EntityKind::Face && self.voice.kind == EntityKind::Voice
    }

    /// All rows with all that speaks against each pair as `against_secs`, seconds in which the face was not visible
    /// included, and without [`Self::presence`]. Costs one pass over them.
    #[must_use]
    pub fn summed(rows: Vec<Self>) -> Vec<Self> {
        let lost: BTreeSet<EntityId> = rows
            .iter()
            .filter_map(Self::as_standing)
            .filter_map(|(part, lost)| lost.then_some(part))
            .collect();
        let counters: BTreeMap<EntityId, Self> =
            rows.iter().filter(|row| row.face == row.voice).map(|row| (row.voice, *row)).collect();
        let sum = |row: Self| {
            let Some(presence) = row.presence else { return row };
            let counter =
                counters.get(&row.voice).map_or(0.0, |heard| match lost.contains(&row.face) {
                    true => heard.against_secs,
                    false => heard.support_secs,
                });
            let absent = (counter - presence.since_secs - presence.visible_secs).max(0.0);
            Self { against_secs: row.against_secs + absent, presence: None, ..row }
        };
        rows.into_iter().map(sum).collect()
    }
}

/// Which person a face or voice belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Membership {
    /// `face_N` or `voice_N`.
    pub part: EntityId,
    /// `person_N`, `self`, or `voice_N` itself for voices that are no person (media).
    pub person: EntityId,
    /// Why, in words and figures.
    pub reason: String,
    /// The user said so: evidence does not overrule it.
    pub decreed: bool,
}

/// One person was found to be another: `from` becomes an alias of `into`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Merge {
    /// The id that is given up.
    pub from: EntityId,
    /// The id that stays.
    pub into: EntityId,
    /// Why, in words and figures.
    pub reason: String,
    /// The user said so.
    pub decreed: bool,
}

/// A name of an entity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NameRow {
    /// Whose.
    pub entity: EntityId,
    /// The name.
    pub name: String,
    /// From when on it is known, event time.
    pub since: Timestamp,
    /// `told` (the user), `said` (heard: "my name is …").
    pub source: NameSource,
    /// The turn it was heard in.
    pub turn: Option<(SessionId, TurnId)>,
}

/// Where a name comes from; later kinds outrank earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameSource {
    /// Read on a badge below somebody's face.
    Read,
    /// Heard in speech.
    Said,
    /// Concluded by a model.
    Model,
    /// Told by the user.
    Told,
}

/// What sort of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Who said what, verbatim.
    Utterance,
    /// What happened.
    Episodic,
    /// What is true: attribute, relation, habit, location.
    Semantic,
    /// Concluded from others.
    Reflection,
    /// An hour, a day.
    Summary,
    /// From feedback on an answer.
    Lesson,
    /// Told from outside.
    Note,
}

impl MemoryKind {
    /// Every kind, in canonical order.
    pub const ALL: [Self; 7] = [
        Self::Utterance,
        Self::Episodic,
        Self::Semantic,
        Self::Reflection,
        Self::Summary,
        Self::Lesson,
        Self::Note,
    ];

    /// The word in JSON and SQL.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Utterance => "utterance",
            Self::Episodic => "episodic",
            Self::Semantic => "semantic",
            Self::Reflection => "reflection",
            Self::Summary => "summary",
            Self::Lesson => "lesson",
            Self::Note => "note",
        }
    }

    /// Reads [`Self::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A fact's slot and value: "the mug | location | kitchen table".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Entity id or plain noun.
    pub subject: String,
    /// Attribute or relation: `name`, `likes`, `location`, …
    pub attribute: String,
    /// Value.
    pub value: String,
}

/// What a memory rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// A face track of a clip.
    Track(ClipId, TrackId),
    /// An object track of a clip.
    Object(ClipId, TrackId),
    /// A text in view, as one clip shows it.
    Text(ClipId, TrackId),
    /// A speech turn.
    Turn(ClipId, TurnId),
    /// Another memory.
    Memory(MemoryId),
    /// An answer that was judged.
    Answer(AnswerId),
}

/// One sentence about a span of time, linked to its entities, its clip and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryRow {
    /// Its id.
    pub id: MemoryId,
    /// What sort.
    pub kind: MemoryKind,
    /// The sentence; entities as mentions, `<person_4>`.
    pub text: String,
    /// When it happened.
    pub span: Span,
    /// The clip it belongs to; `None` for notes and upkeep.
    pub clip: Option<ClipId>,
    /// Everyone and everything it is about, mentioned or not, ascending.
    pub entities: Vec<EntityId>,
    /// Its slot, where it states a fact.
    pub fact: Option<Fact>,
    /// 0–1.
    pub importance: f32,
    /// 0–1.
    pub confidence: f32,
    /// Forgetting leaves it.
    pub pinned: bool,
    /// From when on it is true in the world.
    pub valid_from: Timestamp,
    /// Until when; `None` = still.
    pub valid_to: Option<Timestamp>,
    /// What it rests on.
    pub grounds: Vec<Ground>,
    /// `builtin`, `model:<name>`, `told`.
    pub origin: String,
}

impl MemoryRow {
    /// A row that came from outside; its id is minted when it is written.
    #[must_use]
    pub fn told(kind: MemoryKind, text: String, span: Span, mut entities: Vec<EntityId>) -> Self {
        entities.sort_unstable();
        entities.dedup();
        Self {
            id: MemoryId(0),
            kind,
            text,
            span,
            clip: None,
            entities,
            fact: None,
            importance: 0.6,
            confidence: 1.0,
            pinned: false,
            valid_from: span.start,
            valid_to: None,
            grounds: Vec::new(),
            origin: "told".to_owned(),
        }
    }

    /// What was said, of an utterance; else the text.
    #[must_use]
    pub fn words(&self) -> &str {
        match self.text.split_once("said: ") {
            Some((_, words)) if self.kind == MemoryKind::Utterance => words.trim_matches('"'),
            _ => &self.text,
        }
    }
}

/// Something heard that is no speech.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoundRow {
    /// The clip in which it ended.
    pub clip: ClipId,
    /// The sound; with its clip, source, start and kind the row's key.
    pub sound: Sound,
}

/// A sound that means something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoundEventRow {
    /// The clip.
    pub clip: ClipId,
    /// The sound; with its clip, source, start and what it is the row's key.
    pub event: SoundEvent,
}

/// What the body of a track did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionRow {
    /// The clip that tells of it.
    pub clip: ClipId,
    /// The body, whose [`TrackRow`] says who it is.
    pub track: TrackId,
    /// Which camera.
    pub source: SourceId,
    /// What it did; its start and kind are of the row's key, with clip and track.
    pub action: Action,
}

/// A stretch in which a camera itself moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CameraMoveRow {
    /// The clip in which it ended.
    pub clip: ClipId,
    /// When; with its clip, source and start the row's key.
    pub moved: CameraMove,
}

/// The robot's pose at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoseRow {
    /// The clip.
    pub clip: ClipId,
    /// The pose.
    pub pose: Pose,
}

/// A person as every command shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PersonProfile {
    /// `person_N` or `self`.
    pub id: EntityId,
    /// The name that outranks the others.
    pub name: Option<String>,
    /// Other names and ids that mean the same person.
    pub aliases: Vec<String>,
    /// Its faces, ascending.
    pub faces: Vec<EntityId>,
    /// Its voices, ascending.
    pub voices: Vec<EntityId>,
    /// Its faces, where the model that runs can match none of them; likewise its voices. Other evidence may teach it anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatchable: Vec<EntityId>,
    /// First seen or heard.
    pub first_seen: Option<Timestamp>,
    /// Last seen or heard.
    pub last_seen: Option<Timestamp>,
    /// Seconds in view.
    pub seen_secs: f64,
    /// Seconds heard.
    pub spoken_secs: f64,
}

/// An id that was given; ids are never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityRow {
    /// The id.
    pub id: EntityId,
}

/// The vector of a memory's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "WholeVector", into = "WholeVector")]
pub struct MemoryVector {
    /// Whose.
    pub memory: MemoryId,
    /// Only equal hashes are compared.
    pub model: ModelHash,
    /// The vector, L2-normalised.
    pub(crate) values: Values<f32>,
}

/// The same as it is written out.
#[derive(Serialize, Deserialize)]
struct WholeVector {
    memory: MemoryId,
    embedding: Embedding,
}

impl MemoryVector {
    pub(crate) fn new(memory: MemoryId, embedding: &Embedding) -> Self {
        Self { memory, model: embedding.model, values: embedding.values.as_slice().into() }
    }

    /// The vector.
    #[must_use]
    pub fn embedding(&self) -> Embedding {
        Embedding { values: self.values.to_vec(), model: self.model }
    }
}

impl From<WholeVector> for MemoryVector {
    fn from(WholeVector { memory, embedding }: WholeVector) -> Self {
        Self { memory, model: embedding.model, values: embedding.values.as_slice().into() }
    }
}

impl From<MemoryVector> for WholeVector {
    fn from(row: MemoryVector) -> Self {
        Self { memory: row.memory, embedding: row.embedding() }
    }
}

/// Why a memory was closed or taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retirement {
    /// Which.
    pub memory: MemoryId,
    /// Until when it was true; `None` = it is no longer held at all.
    pub valid_to: Option<Timestamp>,
    /// Why, in words.
    pub reason: String,
}

/// What is done about a fact that was stated, judged against what its slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactAction {
    /// It is new beside what there was.
    Add,
    /// It takes the place of another value.
    Update,
    /// It is no longer held, or no longer true.
    Retire,
    /// It was known: the known one is strengthened.
    None,
}

impl FactAction {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Add, Self::Update, Self::Retire, Self::None];

    /// The word in JSON and SQL.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Update => "update",
            Self::Retire => "retire",
            Self::None => "none",
        }
    }
}

/// What was decided about a fact, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The fact's memory; for [`FactAction::None`] the one that was known.
    pub memory: MemoryId,
    /// When it was stated, event time.
    pub at: Timestamp,
    /// What was done.
    pub action: FactAction,
    /// The memory whose place it takes, or which takes its place; for [`FactAction::None`] the note that says it
    /// again.
    pub other: Option<MemoryId>,
    /// Why, in words.
    pub reason: String,
}

/// A media file that was kept (the size cap may have taken the file since; the row stays).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaRow {
    /// Hex SHA-256 of the file.
    pub digest: MediaDigest,
    /// What it is.
    pub kind: MediaKind,
    /// Size of the file, bytes.
    pub bytes: u64,
    /// The size cap does not take it.
    pub pinned: bool,
}
