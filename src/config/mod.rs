//! Typed configuration with defaults: one struct per section of `engram.toml`.
//!
//! Ground floor: stages read their section and nothing else. Unknown keys are refused.
//! `config/engram.toml` is the commented example; a test keeps it equal to these defaults.
//!
//! [`Config::load`] reads the file and the `--set` overrides and refuses what is wrong in them, naming
//! file, line and column; [`Config::resolved`] fills in what depends on the machine.

mod broker;
mod check;
mod error;
mod http;
mod keys;
mod load;
mod locate;
mod renaming;
mod resolve;
mod secrets;
pub mod sections;
mod topic_sound;

use serde::{Deserialize, Serialize};

pub use broker::BrokerAddress;
pub use check::{RANGES, Range};
pub use error::{ConfigError, Place, Problem};
pub use keys::key_paths;
pub use load::{Loaded, SYSTEM_FILE, Source};
pub use renaming::Renaming;
pub use resolve::{find_file, read_secret};
pub use secrets::without_secrets;
pub use sections::*;
pub use topic_sound::{SampleForm, TopicSound};

/// The whole configuration file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Who the robot is.
    pub robot: Robot,
    /// Which model files run.
    pub models: Models,
    /// Cameras, any number.
    pub camera: Vec<Camera>,
    /// Microphones, any number.
    pub microphone: Vec<Microphone>,
    /// What is read of a recording.
    pub replay: Replay,
    /// The rolling window.
    pub window: Window,
    /// Worker threads.
    pub pipeline: Pipeline,
    /// Finding and following faces.
    pub face: FacePerception,
    /// Finding and following things.
    pub objects: Objects,
    /// What people do.
    pub actions: Actions,
    /// `[text]`
    pub text: TextInView,
    /// Sounds that mean something.
    pub sounds: Sounds,
    /// Finding speech.
    pub voice: VoicePerception,
    /// Who speaks when.
    pub diarization: Diarization,
    /// Whose mouth speaks.
    pub active_speaker: ActiveSpeakerPerception,
    /// Who is who.
    pub identity: Identity,
    /// Words.
    pub transcriber: Transcriber,
    /// Clip → memories.
    pub memorizer: Memorizer,
    /// Concluding and forgetting.
    pub upkeep: Upkeep,
    /// Question → answer.
    pub answerer: Answerer,
    /// Language model server.
    pub llm: Llm,
    /// Sentence embedder.
    pub embedder: Embedder,
    /// Broker.
    pub mqtt: Mqtt,
    /// The door over HTTP.
    pub http: Http,
    /// The last minutes of media, for snapshots.
    pub ring: Ring,
    /// Words of utterances that a smart home sends.
    pub wyoming: Wyoming,
    /// Home Assistant on the same broker.
    pub home_assistant: HomeAssistant,
    /// Memories that fit a question.
    pub recall: Recall,
    /// Where the memory lies.
    pub store: Store,
    /// When somebody has gone.
    pub visits: Visits,
    /// What is kept, and for how long.
    pub privacy: Privacy,
    /// Metrics endpoint.
    pub metrics: Metrics,
}
