//! What the daemon publishes by itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::replay::ReplayRate;
use crate::ids::{ClipId, EntityId, MemoryId, SessionId};
use crate::memory::model::MemoryKind;
use crate::time::Timestamp;

/// Whether the daemon is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It runs.
    Online,
    /// It was stopped on purpose.
    Stopped,
    /// It is gone: its last will.
    Offline,
}

/// `status`, retained, last will.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Whether it is there.
    pub state: State,
    /// One start of the daemon: a late will of an earlier start can be told from this one.
    pub boot_id: String,
    /// Counts the connections of that start to the broker: a late will of an earlier one can be told, too.
    pub connection: u64,
    /// What is being remembered now.
    pub session: Option<SessionId>,
    /// Version of engramd.
    pub version: String,
    /// Abilities that are missing or impaired, one sentence each.
    pub degraded: Vec<String>,
}

/// What happened to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonEventKind {
    /// Came into view or was heard.
    Appeared,
    /// Went out of view.
    Left,
    /// Was seen for the first time ever.
    New,
    /// Got a name.
    Named,
    /// Was found to be another person.
    Merged,
}

/// How well somebody is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acquaintance {
    /// By name.
    Known,
    /// Met before, without a name.
    SeenBefore,
    /// Met for the first time.
    New,
}

/// `event/person`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PersonEvent {
    /// What happened.
    pub event: PersonEventKind,
    /// Who: an entity id, or a handle such as `track_3` while undecided.
    pub person: String,
    /// The name, once known.
    pub name: Option<String>,
    /// How well they are known.
    pub acquaintance: Acquaintance,
    /// When.
    pub at: Timestamp,
    /// By which camera or microphone.
    pub source: Option<String>,
    /// `true` while the clip is open: the identity may still change.
    pub provisional: bool,
}

/// `event/speech`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeechEvent {
    /// The turn, unique within the session.
    pub turn: String,
    /// Who spoke, where known.
    pub person: Option<String>,
    /// The name, once known.
    pub name: Option<String>,
    /// First speech.
    pub start: Timestamp,
    /// Last speech.
    pub end: Timestamp,
    /// The words, where known.
    pub text: Option<String>,
    /// By which microphone.
    pub source: String,
    /// The turn still goes on: these are its first words, and whose they are is not known yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The wake phrase stands in these first words: the robot is called, and a question follows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wake: bool,
}

/// `event/memory`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryEvent {
    /// The memory.
    pub memory: MemoryId,
    /// What sort.
    pub kind: MemoryKind,
    /// The sentence.
    pub text: String,
    /// When it happened.
    pub start: Timestamp,
    /// Until when.
    pub end: Timestamp,
    /// Its clip.
    pub clip: Option<ClipId>,
    /// Whom and what it is about.
    pub entities: Vec<EntityId>,
}

/// `say`: what the robot should say aloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    /// The words.
    pub text: String,
    /// The answer they come from.
    pub answer: Option<String>,
}

/// `clock`: how far a recording was played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockTick {
    /// Its event time: what a question takes for now.
    pub time: Timestamp,
    /// How many times faster than real time.
    pub rate: ReplayRate,
    /// It stands still.
    pub paused: bool,
}

/// Who spoke last, in [`Home`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWords {
    /// Name or id, where known.
    pub person: Option<String>,
    /// The words.
    pub text: String,
    /// When they ended.
    pub at: Timestamp,
}

/// What was answered last, in [`Home`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastAnswer {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// When.
    pub at: Timestamp,
}

/// `home`: what a smart home shows of the robot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    /// Who is here: names, else ids, else handles; ascending.
    pub persons: Vec<String>,
    /// Which persons are here, by their ids, ascending: those perceived within `visits.absence_secs`.
    pub here: Vec<EntityId>,
    /// Who spoke last.
    pub last_words: Option<LastWords>,
    /// What was answered last.
    pub last_answer: Option<LastAnswer>,
}

/// One source in [`Stats`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceStats {
    /// Analysed frames (camera) or blocks of sound (microphone) per second over the last interval.
    pub per_sec: f64,
    /// What a camera's `per_sec` is to be: `window.analyse_fps`, times a replay's rate. Where `per_sec` is lower, the
    /// machine or the camera does not keep up. Null for microphones, between sessions, and for a replay that stands
    /// still or plays as fast as it can.
    pub wanted_per_sec: Option<f64>,
    /// Taken since the start.
    pub captured: u64,
    /// Dropped since the start.
    pub dropped: u64,
    /// Analysed frames of a camera in which people and things were not looked for though somebody moved, since its
    /// budget was spent; since the start.
    #[serde(default)]
    pub looks_left_out: u64,
    /// Behind the wall clock (live), seconds; 0 before the first.
    pub lag_secs: f64,
    /// Live: `starting`, `running`, `waiting` to be started again, or `stopped`.
    #[serde(default)]
    pub state: Option<String>,
    /// Live: how often it was started again since the start.
    #[serde(default)]
    pub restarts: u64,
}

/// Quantiles of a latency in [`Stats`], milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Over how many.
    pub count: u64,
}

/// `stats`, every 10 s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// When, wall clock.
    pub at: Timestamp,
    /// Since the start of the daemon.
    pub uptime_secs: f64,
    /// A replay: how far behind its own rate.
    pub behind_secs: f64,
    /// Sources by id.
    pub sources: BTreeMap<String, SourceStats>,
    /// Items waiting, by queue.
    pub queues: BTreeMap<String, u64>,
    /// Totals: clips, memories, persons, questions, refused, …
    pub counts: BTreeMap<String, u64>,
    /// By stage.
    pub latency_ms: BTreeMap<String, Latency>,
}

/// One ability in [`Describe`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ability {
    /// The job: `face_detector`, `speaker_embedder`, …
    pub job: String,
    /// The model that does it; `None`: missing.
    pub model: Option<String>,
    /// Hex SHA-256 over its files.
    pub sha256: Option<String>,
    /// Its licence.
    pub licence: Option<String>,
}

/// `describe`, retained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Describe {
    /// The robot.
    pub robot: String,
    /// Version of engramd.
    pub version: String,
    /// Time zone of its calendar words.
    pub timezone: String,
    /// What it can do, and with what.
    pub abilities: Vec<Ability>,
    /// Whence things are known: `notes`, `words`, `models`, and `detector` where one runs.
    pub objects_from: Vec<String>,
    /// Languages understood in questions, BCP 47.
    pub languages: Vec<String>,
    /// Since when `as_of` is exact.
    pub history_from: Option<Timestamp>,
}
