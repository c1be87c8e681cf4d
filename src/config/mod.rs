//! Typed configuration with defaults: one struct per section of `engram.toml`.
//!
//! Ground floor: stages read their section and nothing else. Unknown keys are refused.
//! `config/engram.toml` is the commented example; a test keeps it equal to these defaults.

pub mod sections;

use serde::{Deserialize, Serialize};

pub use sections::*;

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
    /// The rolling window.
    pub window: Window,
    /// Worker threads.
    pub pipeline: Pipeline,
    /// Finding and following faces.
    pub face: FacePerception,
    /// Finding speech.
    pub voice: VoicePerception,
    /// Who is who.
    pub identify: Identify,
    /// Words.
    pub transcriber: Transcriber,
    /// Clip → memories.
    pub memorizer: Memorizer,
    /// Question → answer.
    pub answerer: Answerer,
    /// Language model server.
    pub llm: Llm,
    /// Broker.
    pub mqtt: Mqtt,
    /// Where the memory lies.
    pub store: Store,
    /// Metrics endpoint.
    pub metrics: Metrics,
}
