//! Requests, as types: what each command topic carries.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::document::ToldDocument;
use super::replay::ReplayCommand;
use super::watch::Watch;
use crate::ids::Seq;
use crate::media;
use crate::time::Timestamp;

/// A point of the memory's history.
///
/// Written as RFC 3339, integer nanoseconds, `seq:41`, `{"seq":41}`, or a bare integer below 10⁹, which is a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// What was known at that record time.
    Time(Timestamp),
    /// What was known after that commit.
    Seq(Seq),
}

/// Integers below it are commits, not nanoseconds since 1970.
const FIRST_TIME: i64 = 1_000_000_000;

impl AsOf {
    /// Reads the text form.
    ///
    /// # Errors
    /// A sentence that says how to write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        if let Some(digits) = trimmed.strip_prefix("seq:") {
            let seq = digits.parse().map_err(|_| format!("{text:?} is no commit; write seq:41"))?;
            return Ok(Self::Seq(Seq(seq)));
        }
        if let Ok(number) = trimmed.parse::<i64>() {
            return Ok(Self::from_number(number));
        }
        Timestamp::parse(trimmed).map(Self::Time).map_err(|error| error.to_string())
    }

    fn from_number(number: i64) -> Self {
        match u64::try_from(number) {
            Ok(seq) if number < FIRST_TIME => Self::Seq(Seq(seq)),
            _ => Self::Time(Timestamp::from_nanos(number)),
        }
    }
}

impl<'de> Deserialize<'de> for AsOf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(i64),
            Text(String),
            Commit { seq: u64 },
        }
        match Form::deserialize(deserializer)? {
            Form::Number(number) => Ok(Self::from_number(number)),
            Form::Text(text) => Self::parse(&text).map_err(serde::de::Error::custom),
            Form::Commit { seq } => Ok(Self::Seq(Seq(seq))),
        }
    }
}

impl Serialize for AsOf {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Time(at) => at.serialize(serializer),
            Self::Seq(seq) => serializer.collect_str(&format_args!("seq:{seq}")),
        }
    }
}

/// How much thought a question is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Milliseconds.
    #[default]
    Fast,
    /// Several rounds.
    Deep,
}

impl Effort {
    /// Time allowed where the question names none, milliseconds.
    #[must_use]
    pub fn default_deadline_ms(self) -> u64 {
        match self {
            Self::Fast => 2_000,
            Self::Deep => 30_000,
        }
    }
}

macro_rules! request {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $(@[$attr:meta])? $field:ident : $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Names the reply's topic, `answer/<id>`; acted on once per id.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub id: Option<String>,
            $($(#[$fdoc])* $(#[$attr])? pub $field: $ty),*
        }
    };
}

request! {
    /// `ask`.
    Ask {
        /// The question.
        question: String,
        /// What to know of the memory's history.
        @[serde(default, skip_serializing_if = "Option::is_none")] as_of: Option<AsOf>,
        /// What "now" means in it.
        @[serde(default, skip_serializing_if = "Option::is_none")] now: Option<Timestamp>,
        /// How much thought.
        @[serde(default)] effort: Effort,
        /// Time allowed, milliseconds.
        @[serde(default, skip_serializing_if = "Option::is_none")] deadline_ms: Option<u64>,
        /// What it belongs to, where it may leave out what the question before it named; any name.
        @[serde(default, skip_serializing_if = "Option::is_none")] conversation: Option<String>,
    }
}

/// The longest name of a conversation, bytes.
pub const MAX_CONVERSATION: usize = 200;

impl Ask {
    /// A `fast` question without options.
    #[must_use]
    pub fn plain(question: &str) -> Self {
        Self {
            id: None,
            question: question.to_owned(),
            as_of: None,
            now: None,
            effort: Effort::Fast,
            deadline_ms: None,
            conversation: None,
        }
    }

    /// Time allowed, milliseconds: what the question says, else the effort's default.
    #[must_use]
    pub fn deadline_ms(&self) -> u64 {
        self.deadline_ms.unwrap_or_else(|| self.effort.default_deadline_ms())
    }
}

/// A fact as it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Triple {
    /// Of whom or what: an id, an alias, a name, or the plain word for a thing.
    pub subject: String,
    /// Attribute or relation: `location`, `likes`, …
    pub attribute: String,
    /// Its value.
    pub value: String,
}

/// A fact of which parts are known; what is left out, or is `?`, may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Of whom or what: an id, an alias, a name, or the plain word for a thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Attribute or relation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl Pattern {
    /// The subject, where it is known.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        known(self.subject.as_deref())
    }

    /// The attribute, where it is known.
    #[must_use]
    pub fn attribute(&self) -> Option<&str> {
        known(self.attribute.as_deref())
    }

    /// The value, where it is known.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        known(self.value.as_deref())
    }

    /// Whether nothing is known of it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.subject().is_none() && self.attribute().is_none() && self.value().is_none()
    }
}

fn known(part: Option<&str>) -> Option<&str> {
    part.map(str::trim).filter(|part| !part.is_empty() && *part != "?")
}

request! {
    /// `remember`: a text, a fact, a fact and the text that states it, or a document.
    Remember {
        /// What to remember; default: the fact, in words.
        @[serde(default, skip_serializing_if = "Option::is_none")] text: Option<String>,
        /// What is true.
        @[serde(default, skip_serializing_if = "Option::is_none")] fact: Option<Triple>,
        /// A document, passage by passage.
        @[serde(default, skip_serializing_if = "Option::is_none")] document: Option<ToldDocument>,
        /// When it happened; default: now.
        @[serde(default, skip_serializing_if = "Option::is_none")] start: Option<Timestamp>,
        /// Until when; default: `start`.
        @[serde(default, skip_serializing_if = "Option::is_none")] end: Option<Timestamp>,
        /// Whom and what it is about: ids, aliases, names, or the plain words for things.
        @[serde(default, skip_serializing_if = "Vec::is_empty")] entities: Vec<String>,
        /// Forgetting leaves it.
        @[serde(default)] pinned: bool,
    }
}

request! {
    /// `forget`: exactly one of an entity, a memory, facts, a document, or a stretch of time.
    Forget {
        /// Everything about this one: an id, an alias, a name, or the plain word for a thing.
        @[serde(default, skip_serializing_if = "Option::is_none")] entity: Option<String>,
        /// This memory.
        @[serde(default, skip_serializing_if = "Option::is_none")] memory: Option<String>,
        /// What states facts like this one.
        @[serde(default, skip_serializing_if = "Option::is_none")] fact: Option<Pattern>,
        /// All passages of this document, by its name.
        @[serde(default, skip_serializing_if = "Option::is_none")] document: Option<String>,
        /// From here …
        @[serde(default, skip_serializing_if = "Option::is_none")] start: Option<Timestamp>,
        /// … to here.
        @[serde(default, skip_serializing_if = "Option::is_none")] end: Option<Timestamp>,
        /// Nothing is erased: the reply says what would be.
        @[serde(default, skip_serializing_if = "std::ops::Not::not")] dry_run: bool,
    }
}

request! {
    /// `pin`: a memory is kept whatever fades and ages, or no longer.
    Pin {
        /// Which one: its id.
        memory: String,
        /// Whether it is kept.
        @[serde(default = "yes")] pinned: bool,
    }
}

fn yes() -> bool {
    true
}

request! {
    /// `name`: what to call somebody; with `photo` or `voice` also what they look or sound like.
    Name {
        /// Who: id, alias or present name; `self` with `voice`: the robot's own voice.
        @[serde(default, skip_serializing_if = "Option::is_none")] entity: Option<String>,
        /// What to call them; `media`: a voice that is no person's.
        @[serde(default, skip_serializing_if = "Option::is_none")] name: Option<String>,
        /// A picture with their face alone: JPEG or PNG, base64.
        @[serde(default, skip_serializing_if = "Option::is_none")] photo: Option<String>,
        /// Their voice alone: WAV, 16-bit PCM, 16 kHz, mono, base64.
        @[serde(default, skip_serializing_if = "Option::is_none")] voice: Option<String>,
    }
}

request! {
    /// `identify`: whose a face or a voice is, as far as is known; exactly one of the two. Nothing of it is kept.
    Identify {
        /// A picture with one face: JPEG or PNG, base64.
        @[serde(default, skip_serializing_if = "Option::is_none")] photo: Option<String>,
        /// One voice: WAV, 16-bit PCM, 16 kHz, mono, base64.
        @[serde(default, skip_serializing_if = "Option::is_none")] voice: Option<String>,
    }
}

request! {
    /// `snapshot`: a part of the ring is kept, or one that was is taken away; at most one of `secs`, `start`, `remove`.
    Snapshot {
        /// The last so many seconds; default: 30.
        @[serde(default, skip_serializing_if = "Option::is_none")] secs: Option<f64>,
        /// From here …
        @[serde(default, skip_serializing_if = "Option::is_none")] start: Option<Timestamp>,
        /// … to here; default: now.
        @[serde(default, skip_serializing_if = "Option::is_none")] end: Option<Timestamp>,
        /// The snapshot that is taken away.
        @[serde(default, skip_serializing_if = "Option::is_none")] remove: Option<String>,
    }
}

request! {
    /// `people`: overruling who is who; exactly one of the two.
    People {
        /// These are one person: ids, aliases or names, two or more.
        @[serde(default, skip_serializing_if = "Vec::is_empty")] merge: Vec<String>,
        /// These faces and voices, or persons that were merged into another, are somebody else.
        @[serde(default, skip_serializing_if = "Vec::is_empty")] split: Vec<String>,
    }
}

/// Whether an answer was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was.
    Right,
    /// It was not.
    Wrong,
}

request! {
    /// `feedback`.
    Feedback {
        /// The answer's id.
        answer: String,
        /// Whether it was right.
        verdict: Verdict,
        /// What would have been right.
        @[serde(default, skip_serializing_if = "Option::is_none")] comment: Option<String>,
    }
}

/// Reading commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryVerb {
    /// Who is known.
    People,
    /// What is true of one person, thing or place.
    Profile,
    /// Where the robot stayed; what was near a point.
    Places,
    /// Who was there from when to when.
    Visits,
    /// Standing questions.
    Watches,
    /// Documents that are remembered.
    Documents,
    /// Recordings that may be played, and what is.
    Recordings,
    /// What was kept of the ring.
    Snapshots,
    /// Who was there when.
    Timeline,
    /// One entity, clip or memory; the graph.
    Show,
    /// Memories for a text.
    Recall,
    /// A SELECT on the store.
    Sql,
    /// Bytes of a face, frame or sound.
    Media,
}

impl QueryVerb {
    /// The word in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Profile => "profile",
            Self::Places => "places",
            Self::Visits => "visits",
            Self::Watches => "watches",
            Self::Documents => "documents",
            Self::Recordings => "recordings",
            Self::Snapshots => "snapshots",
            Self::Timeline => "timeline",
            Self::Show => "show",
            Self::Recall => "recall",
            Self::Sql => "sql",
            Self::Media => "media",
        }
    }
}

request! {
    /// `query`.
    Query {
        /// Which reading command.
        verb: QueryVerb,
        /// Its arguments, an object.
        @[serde(default)] args: Value,
    }
}

request! {
    /// `pose`.
    Pose {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
        /// Radians, counter-clockwise from x.
        yaw: f64,
        /// Coordinate frame.
        frame: String,
        /// When.
        stamp: Timestamp,
    }
}

impl From<Pose> for media::Pose {
    fn from(pose: Pose) -> Self {
        let Pose { x, y, yaw, frame, stamp, .. } = pose;
        Self { stamp, x, y, yaw, frame }
    }
}

request! {
    /// `speaking`: the robot's own speech.
    Speaking {
        /// First sound.
        start: Timestamp,
        /// Last sound; without it, the robot speaks until it says more.
        @[serde(default, skip_serializing_if = "Option::is_none")] end: Option<Timestamp>,
        /// What it says.
        @[serde(default, skip_serializing_if = "Option::is_none")] text: Option<String>,
    }
}

request! {
    /// `privacy`: what the robot must not take in for now.
    Privacy {
        /// Whether the microphones are listened to.
        microphones: bool,
    }
}

/// Everything that can be asked of the daemon.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A question.
    Ask(Ask),
    /// A note.
    Remember(Remember),
    /// Forgetting.
    Forget(Forget),
    /// Keeping a memory.
    Pin(Pin),
    /// Naming an entity.
    Name(Name),
    /// Whose a face or a voice is.
    Identify(Identify),
    /// Overruling who is who.
    People(People),
    /// Judging an answer.
    Feedback(Feedback),
    /// A reading command.
    Query(Query),
    /// The robot's pose.
    Pose(media::Pose),
    /// The robot's own speech.
    Speaking(Speaking),
    /// Switching microphones.
    Privacy(Privacy),
    /// Keeping a part of the ring.
    Snapshot(Snapshot),
    /// Standing questions.
    Watch(Watch),
    /// Steering a replay.
    Replay(ReplayCommand),
}
