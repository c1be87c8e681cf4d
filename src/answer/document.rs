//! The question and the answer document as they cross MQTT and the command line.

use serde::{Deserialize, Serialize};

use crate::ids::{ClipId, EntityId, MemoryId, Seq};
use crate::llm::Usage;
use crate::memory::AsOf;
use crate::time::Timestamp;

/// How much work an answer may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Built-in answerer, or one round of a model.
    #[default]
    Fast,
    /// All rounds.
    Deep,
}

impl Effort {
    /// The deadline when none is told, milliseconds.
    #[must_use]
    pub const fn default_deadline_ms(self) -> u64 {
        match self {
            Self::Fast => 2_000,
            Self::Deep => 30_000,
        }
    }
}

/// A question as it is answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// The asker's id for it.
    pub id: String,
    /// The words.
    pub text: String,
    /// Answer from what was known then; `None` = all that is known.
    pub as_of: Option<AsOf>,
    /// What "now", "yesterday", "ago" are meant against; `None` = the answerer's clock, else the newest
    /// time in the memory.
    pub now: Option<Timestamp>,
    /// How much work.
    pub effort: Effort,
    /// Until when, milliseconds from the call; `None` = the effort's default.
    pub deadline_ms: Option<u64>,
}

/// Where the milliseconds went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyMs {
    /// Embedding the question.
    pub embed: f64,
    /// Reading the memory.
    pub recall: f64,
    /// Language model; 0 for the built-in answerer.
    pub model: f64,
    /// The whole way.
    pub total: f64,
}

/// Something an answer rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The memory; `None` for percepts of the open window, which are no memory yet.
    pub memory: Option<MemoryId>,
    /// The memory's kind; `face_track` or `speech_turn` for a percept without a memory.
    pub kind: String,
    /// The sentence, with names in place of mentions.
    pub text: String,
    /// When it begins.
    pub start: Timestamp,
    /// When it ends.
    pub end: Timestamp,
    /// Its clip; `None` for what was told, and in the open window.
    pub clip: Option<ClipId>,
    /// Whom it is about, resolved.
    pub entities: Vec<EntityId>,
    /// How much it weighs, 0–1.
    pub score: f32,
    /// Where it stands, where it is a passage of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Place>,
}

/// Where a passage stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// What the document is called.
    pub document: String,
    /// The heading above it.
    pub heading: Option<String>,
    /// Page, from 1; `None` of a form that has no pages.
    pub page: Option<u32>,
    /// First line, from 1: of the file, or of the page where there are pages.
    pub line: u32,
    /// Last line.
    pub last_line: u32,
}

/// The answer document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The asker's id.
    pub id: String,
    /// As asked.
    pub question: String,
    /// The reply in words.
    pub answer: String,
    /// 0–1.
    pub confidence: f32,
    /// The memory does not hold the answer.
    pub abstained: bool,
    /// `builtin` or `model:<name>`.
    pub engine: String,
    /// The commit that was read.
    pub as_of: Seq,
    /// Rounds of recall.
    pub rounds: u32,
    /// The persons and things that are the answer ("who"), else those it is about.
    pub entities: Vec<EntityId>,
    /// What it rests on, the weightiest first.
    pub evidence: Vec<Evidence>,
    /// Where the time went.
    pub latency_ms: LatencyMs,
    /// What kept the answer from being what was asked for: the model failed, the time was short, a claim
    /// without evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the language model cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// What a language model cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Requests.
    pub requests: u32,
    /// Requests that had to be sent again.
    pub retries: u32,
    /// Tokens read and written.
    pub tokens: Usage,
}
