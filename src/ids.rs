//! Names of things: sessions, clips, entities, memories, tracks, turns, commits.
//!
//! Ids are minted only inside a clip's transaction, in canonical order, given once and never renumbered.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that is no id of the kind asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {expected}")]
pub struct ParseIdError {
    text: String,
    expected: &'static str,
}

impl ParseIdError {
    fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}

macro_rules! text_serde {
    ($name:ty) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

macro_rules! numbered_id {
    ($(#[$doc:meta])* $name:ident, $int:ty, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                text.strip_prefix($prefix)
                    .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
                    .and_then(|digits| digits.parse().ok())
                    .map(Self)
                    .ok_or_else(|| ParseIdError::new(text, concat!($prefix, "<number>")))
            }
        }

        text_serde!($name);
    };
}

numbered_id!(
    /// One run over live sources or one recording replayed, by its ordinal in the store: `s1`, `s2`, …
    SessionId, u32, "s"
);
numbered_id!(
    /// A memory: `memory_17`.
    MemoryId, u64, "memory_"
);
numbered_id!(
    /// A face followed through frames; unique within its session: `track_3`.
    TrackId, u64, "track_"
);
numbered_id!(
    /// One voice, its words; unique within its session: `turn_3`.
    TurnId, u64, "turn_"
);
numbered_id!(
    /// An answer that was given: `answer_5`.
    AnswerId, u64, "answer_"
);
numbered_id!(
    /// A standing question: `watch_2`.
    WatchId, u64, "watch_"
);
numbered_id!(
    /// That a standing question was answered: `firing_9`.
    FiringId, u64, "firing_"
);

/// A sealed stretch of a session: `<session>/<k>`, for example `s1/4`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClipId {
    /// The session it belongs to.
    pub session: SessionId,
    /// Its index from the session's start, from 0.
    pub index: u32,
}

impl fmt::Display for ClipId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.session, self.index)
    }
}

impl FromStr for ClipId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let fail = || ParseIdError::new(text, "clip id (s<session>/<index>)");
        let (session, index) = text.split_once('/').ok_or_else(fail)?;
        Ok(Self {
            session: session.parse().map_err(|_| fail())?,
            index: index.parse().map_err(|_| fail())?,
        })
    }
}

text_serde!(ClipId);

/// What sort of thing persists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntityKind {
    /// A face as perceived.
    Face,
    /// A voice as perceived.
    Voice,
    /// Faces and voices that are one person.
    Person,
    /// A thing.
    Object,
    /// A place: a cluster of poses or a told name.
    Place,
    /// The robot itself.
    Robot,
}

impl EntityKind {
    /// Every kind, in canonical order.
    pub const ALL: [Self; 6] =
        [Self::Face, Self::Voice, Self::Person, Self::Object, Self::Place, Self::Robot];

    /// The word used in ids; the robot is always `self`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Face => "face",
            Self::Voice => "voice",
            Self::Person => "person",
            Self::Object => "object",
            Self::Place => "place",
            Self::Robot => "self",
        }
    }
}

/// Something that persists: `face_12`, `voice_3`, `person_4`, `object_7`, `place_2`, `self`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId {
    /// Its kind.
    pub kind: EntityKind,
    /// Its number within the kind, from 1; 0 for `self`.
    pub number: u32,
}

impl EntityId {
    /// The robot.
    pub const ROBOT: Self = Self { kind: EntityKind::Robot, number: 0 };

    /// An id of that kind and number.
    #[must_use]
    pub const fn new(kind: EntityKind, number: u32) -> Self {
        Self { kind, number }
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            EntityKind::Robot => f.write_str("self"),
            kind => write!(f, "{}_{}", kind.word(), self.number),
        }
    }
}

impl FromStr for EntityId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        if text == "self" {
            return Ok(Self::ROBOT);
        }
        let fail = || ParseIdError::new(text, "entity id (person_4, face_12, voice_3, …)");
        let (word, digits) = text.rsplit_once('_').ok_or_else(fail)?;
        let kind = EntityKind::ALL.into_iter().find(|kind| kind.word() == word).ok_or_else(fail)?;
        if kind == EntityKind::Robot || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(fail());
        }
        Ok(Self { kind, number: digits.parse().map_err(|_| fail())? })
    }
}

text_serde!(EntityId);

/// A commit's number: monotone, from 1; 0 is the empty store.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    Pod,
    Zeroable,
)]
#[repr(transparent)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of a camera, microphone or bag topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceId(pub Arc<str>);

impl SourceId {
    /// From its configured name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// SHA-256 over a model's files: embeddings, galleries and thresholds of different hashes are never compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelHash(pub [u8; 32]);

impl fmt::Display for ModelHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ModelHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelHash({}…)", hex::encode(&self.0[..4]))
    }
}

impl FromStr for ModelHash {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)
            .map_err(|_| ParseIdError::new(text, "SHA-256 in 64 hex digits"))?;
        Ok(Self(bytes))
    }
}

text_serde!(ModelHash);

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_as_written() {
        for text in ["face_12", "voice_3", "person_4", "object_7", "place_2", "self"] {
            assert_eq!(text.parse::<EntityId>().unwrap().to_string(), text);
        }
        assert_eq!("s2/17".parse::<ClipId>().unwrap().to_string(), "s2/17");
        for bad in ["person_", "person_+4", "person_-1", "self_0", "cat_3", "", "_"] {
            assert!(bad.parse::<EntityId>().is_err(), "{bad}");
        }
    }
}
