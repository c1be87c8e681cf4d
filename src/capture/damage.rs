//! What a recording lost: counted and named, so that a replay can end with exit code 3 and say why.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One way in which a recording is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The file ends in the middle of something.
    Truncated,
    /// A stretch of the file that holds no whole record; what is behind it was used.
    Hole,
    /// A chunk's checksum is wrong; what could be parsed of it was used.
    BadCrc,
    /// A chunk that does not unpack.
    BadChunk,
    /// A chunk that claims to unpack to more than the cap.
    HugeChunk,
    /// A record or message that does not parse.
    BadMessage,
    /// A message of an undeclared channel or schema.
    UnknownSchema,
    /// A picture or sound that cannot be decoded.
    Undecodable,
    /// A message that came too late to be put in order.
    Late,
    /// The recorder's clock was set in between; nothing is left out.
    ClockSet,
    /// A file that is not read, with messages that no other has.
    LeftOut,
    /// The decoder gave up before the end.
    DecoderStopped,
    /// A stage of this program ended in a panic over it and was begun anew.
    Fault,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "truncated",
            Self::Hole => "unreadable stretch",
            Self::BadCrc => "bad CRC",
            Self::BadChunk => "chunk does not unpack",
            Self::HugeChunk => "chunk too large",
            Self::BadMessage => "malformed message",
            Self::UnknownSchema => "unknown schema",
            Self::Undecodable => "undecodable",
            Self::Late => "out of order",
            Self::ClockSet => "clock set",
            Self::LeftOut => "left out",
            Self::DecoderStopped => "decoder stopped",
            Self::Fault => "lost by a fault of engram itself",
        })
    }
}

/// How often a cause was met, and where first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The first place, for people.
    pub first: String,
}

/// Everything a playback could not use, by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage(BTreeMap<Cause, Tally>);

impl Damage {
    /// Counts one more of `cause`; `place` is kept when it is the first.
    pub fn add(&mut self, cause: Cause, place: impl Into<String>) {
        self.0
            .entry(cause)
            .and_modify(|tally| tally.count += 1)
            .or_insert_with(|| Tally { count: 1, first: place.into() });
    }

    /// Adds everything that another part of the way has counted.
    pub fn merge(&mut self, other: &Self) {
        for (cause, tally) in &other.0 {
            let own = self.0.entry(*cause);
            own.and_modify(|own| own.count += tally.count).or_insert_with(|| tally.clone());
        }
    }

    /// Nothing was lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How often that cause was met.
    #[must_use]
    pub fn count(&self, cause: Cause) -> u64 {
        self.0.get(&cause).map_or(0, |tally| tally.count)
    }

    /// How often anything was met.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().map(|tally| tally.count).sum()
    }

    /// Causes with their tallies, in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, &Tally)> {
        self.0.iter().map(|(cause, tally)| (*cause, tally))
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (cause, tally)) in self.0.iter().enumerate() {
            let separator = if position == 0 { "" } else { "; " };
            write!(f, "{separator}{cause}: {} (first: {})", tally.count, tally.first)?;
        }
        Ok(())
    }
}
