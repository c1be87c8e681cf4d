//! Steering a replay: what `replay/<verb>` asks for.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::time::Timestamp;

/// `replay/<verb>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplayVerb {
    /// Stop the clock.
    Pause,
    /// Let it run.
    Resume,
    /// Set its rate.
    Rate,
    /// Go to a time.
    Seek,
    /// One frame, paused.
    Step,
    /// Some frames, paused.
    Burst,
    /// End the replay.
    Stop,
    /// Play a recording of `replay.folder`.
    Play,
}

impl ReplayVerb {
    /// Reads the last level of the topic.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "pause" => Self::Pause,
            "resume" => Self::Resume,
            "rate" => Self::Rate,
            "seek" => Self::Seek,
            "step" => Self::Step,
            "burst" => Self::Burst,
            "stop" => Self::Stop,
            "play" => Self::Play,
            _ => return None,
        })
    }
}

/// How fast a replay runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplayRate {
    /// As fast as it can be perceived.
    Max,
    /// Times real time, within [`Self::SLOWEST`] and [`Self::FASTEST`].
    Times(f64),
}

impl ReplayRate {
    /// Nobody waits for anything slower: a frame every few minutes.
    pub const SLOWEST: f64 = 1e-3;
    /// Nothing perceives faster.
    pub const FASTEST: f64 = 1e4;

    /// So many times real time; `None`: no replay is played at that rate.
    #[must_use]
    pub fn times(times: f64) -> Option<Self> {
        (Self::SLOWEST..=Self::FASTEST).contains(&times).then_some(Self::Times(times))
    }
}

impl<'de> Deserialize<'de> for ReplayRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || {
            serde::de::Error::custom(format_args!(
                "a rate is a number from {} to {}, or \"max\"",
                Self::SLOWEST,
                Self::FASTEST
            ))
        };
        match Value::deserialize(deserializer)? {
            Value::String(word) if word == "max" => Ok(Self::Max),
            Value::Number(times) => times.as_f64().and_then(Self::times).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }
}

impl Serialize for ReplayRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Max => serializer.serialize_str("max"),
            Self::Times(times) => serializer.serialize_f64(*times),
        }
    }
}

/// Steering a replay.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayCommand {
    /// Stop the clock.
    Pause,
    /// Let it run.
    Resume,
    /// `{"rate": 4}` or `{"rate": "max"}`.
    Rate(ReplayRate),
    /// `{"time": …}`.
    Seek(Timestamp),
    /// One frame.
    Step,
    /// `{"count": 10}` frames.
    Burst(u32),
    /// End the replay.
    Stop,
    /// `{"recording": "home.mp4"}`
    Play {
        /// Its name in the folder.
        recording: String,
        /// It is remembered once more, as a new session, if it is remembered already.
        again: bool,
    },
}
