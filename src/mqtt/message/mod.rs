//! Every payload that goes over MQTT, as a type; reading them is a pure function over bytes.

mod document;
mod payload;
mod publication;
mod refusal;
mod replay;
mod request;
mod watch;

pub use document::ToldDocument;
/// What comes over MQTT, for fuzzing: see [`payload::exercise`].
pub use payload::exercise;
pub use payload::{Parsed, ordered, parse, request_id};
pub use publication::{
    Ability, Acquaintance, ClockTick, Describe, Home, LastAnswer, LastWords, Latency, MemoryEvent,
    PersonEvent, PersonEventKind, Say, SourceStats, SpeechEvent, State, Stats, Status,
};
pub use refusal::{Refusal, RefusalCode};
pub use replay::{ReplayCommand, ReplayRate, ReplayVerb};
pub use request::{
    AsOf, Ask, Effort, Feedback, Forget, Identify, Name, Pattern, People, Pin, Pose, Privacy,
    Query, QueryVerb, Remember, Request, Snapshot, Speaking, Triple, Verdict,
};
pub use watch::{Watch, WatchEvent, check_rule};

#[cfg(test)]
pub(crate) use payload::REQUEST_SEEDS;
