//! Watches: standing questions, and when they fired.
//!
//! A watch is a rule over who comes, goes, stays and speaks, and over where things are. It has no state of its own: when it
//! fired last, and since when somebody stays, stand in the rows. So a restart loses nothing, and a replay fires as before.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::Memory;
use super::draft::Draft;
use super::error::MemoryError;
use super::forget::past::{Mark, write_mark};
use super::versions::temporal::Version;
use super::view::View;
use crate::ids::{ClipId, EntityId, FiringId, Seq, SourceId, WatchId};
use crate::time::Timestamp;

/// What has to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Happening {
    /// Somebody is there who was not, for at least `visits.absence_secs`.
    Comes,
    /// Somebody has gone.
    Leaves,
    /// Somebody is there for so long.
    Stays,
    /// Somebody says something.
    Speaks,
    /// A thing is somewhere else than before.
    Moves,
    /// Somebody falls.
    Falls,
}

impl Happening {
    /// The word in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Comes => "comes",
            Self::Leaves => "leaves",
            Self::Stays => "stays",
            Self::Speaks => "speaks",
            Self::Moves => "moves",
            Self::Falls => "falls",
        }
    }
}

/// Whom a rule is about, in its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom<'a> {
    /// Everybody.
    Anybody,
    /// Everybody without a name.
    Unknown,
    /// Who or what has that id or name.
    Named(&'a str),
}

/// A part of each day, local time: `22:00-06:00`. The end does not belong to it; one that is not after the beginning lies on the
/// next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    from: Time,
    to: Time,
}

impl Hours {
    /// Whether a moment lies in it, in that zone.
    #[must_use]
    pub fn contain(&self, at: Timestamp, zone: &TimeZone) -> bool {
        let time = at.to_jiff().to_zoned(zone.clone()).time();
        match self.from < self.to {
            true => self.from <= time && time < self.to,
            false => self.from <= time || time < self.to,
        }
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        let (a, b, c, d) = (from.hour(), from.minute(), to.hour(), to.minute());
        write!(f, "{a:02}:{b:02}-{c:02}:{d:02}")
    }
}

impl FromStr for Hours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || format!("{text:?} are no hours; write for example 22:00-06:00");
        let time = |part: &str| {
            let (hour, minute) = part.trim().split_once(':')?;
            Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
        };
        let (from, to) = text.split_once('-').ok_or_else(fail)?;
        let (from, to) = (time(from).ok_or_else(fail)?, time(to).ok_or_else(fail)?);
        Ok(Self { from, to })
    }
}

impl Serialize for Hours {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hours {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A standing question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A name, an id, `anybody`, or `unknown`: whoever has no name. Of `moves` what a thing is called.
    pub who: String,
    /// What has to happen.
    pub what: Happening,
    /// Only there: a camera, a microphone, or a place.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Of `stays`: for how long, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_secs: Option<f64>,
    /// Only in these hours, local time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<Hours>,
    /// Not again within so long, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooldown_secs: Option<f64>,
    /// Nothing later than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// What the robot is to say then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// Keep so much of the ring before it and after it, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_secs: Option<f64>,
    /// Only the first time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

/// Somebody who goes on speaking is told of once in so long, unless the rule says otherwise, seconds.
const SPEAKS_COOLDOWN_SECS: f64 = 60.0;

impl Rule {
    /// Whom it is about.
    #[must_use]
    pub fn whom(&self) -> Whom<'_> {
        match self.who.trim() {
            "anybody" => Whom::Anybody,
            "unknown" => Whom::Unknown,
            name => Whom::Named(name),
        }
    }

    /// Not again within so long, seconds.
    #[must_use]
    pub fn cooldown_secs(&self) -> f64 {
        let usual = if self.what == Happening::Speaks { SPEAKS_COOLDOWN_SECS } else { 0.0 };
        self.cooldown_secs.unwrap_or(usual)
    }
}

/// A watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchRow {
    /// Its id.
    pub id: WatchId,
    /// Whom it is about, where that was known when it was set; else whoever comes to have the name.
    pub entity: Option<EntityId>,
    /// The rule.
    pub rule: Rule,
}

/// How far a firing can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FiringState {
    /// The clip is open: who it is may still change.
    Provisional,
    /// The clip is sealed.
    Confirmed,
    /// The sealed clip says otherwise: it was somebody else, or nobody.
    Overturned,
}

impl FiringState {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Provisional => "provisional",
            Self::Confirmed => "confirmed",
            Self::Overturned => "overturned",
        }
    }
}

/// A watch fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FiringRow {
    /// Its id.
    pub id: FiringId,
    /// Which watch.
    pub watch: WatchId,
    /// When it happened.
    pub at: Timestamp,
    /// Who or what.
    pub entity: Option<EntityId>,
    /// By which camera or microphone.
    pub source: Option<SourceId>,
    /// In which clip; `None` while that is open, and where it was told.
    pub clip: Option<ClipId>,
    /// How far it can be trusted.
    pub state: FiringState,
}

impl View {
    /// Watches that are set, by id, with the commit that set each.
    #[must_use]
    pub fn watches(&self) -> Vec<(Seq, Arc<WatchRow>)> {
        let all = self.tables.watches.all(&self.horizon).into_iter();
        let mut found: Vec<_> = all.map(|version| (version.seq, version.row)).collect();
        found.sort_by_key(|(_, row)| row.id);
        found
    }

    /// Firings by time and id. Costs as much as there are.
    #[must_use]
    pub fn firings(&self) -> Vec<Arc<FiringRow>> {
        let all: Vec<Version<FiringRow>> = self.tables.firings.all(&self.horizon);
        let mut found: Vec<_> = all.into_iter().map(|version| version.row).collect();
        found.sort_by_key(|row| (row.at, row.id));
        found
    }

    /// Whether a clip was committed after another commit; `None`: it is not in yet.
    #[must_use]
    pub fn clip_is_after(&self, clip: ClipId, seq: Seq) -> Option<bool> {
        self.tables.clips.current(&clip, &self.horizon).map(|version| version.seq > seq)
    }
}

/// The mark that holds the newest firing that was told of.
const TOLD: &str = "watches told";

impl Memory {
    /// The newest firing that was told of; `None`: none was yet.
    ///
    /// # Errors
    /// When the store fails.
    pub fn told_firing(&self) -> Result<Option<FiringId>, MemoryError> {
        Ok(self.mark(TOLD)?.map(|mark| FiringId(mark.seq.0)))
    }

    /// Notes up to which firing all were told of.
    ///
    /// # Errors
    /// When the store is read-only or fails.
    pub fn note_told_firing(&self, newest: FiringId) -> Result<(), MemoryError> {
        if self.told_firing()?.is_some_and(|told| told >= newest) {
            return Ok(());
        }
        let mark = Mark { at: Timestamp::EPOCH, seq: Seq(newest.0) };
        self.transaction("noting which watches were told of", |db| write_mark(db, TOLD, mark))
    }
}

impl Draft {
    /// Mints a watch's id.
    pub fn new_watch_id(&mut self) -> WatchId {
        WatchId(self.next_number("watch"))
    }

    /// Mints a firing's id.
    pub fn new_firing_id(&mut self) -> FiringId {
        FiringId(self.next_number("firing"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn hours_may_go_over_midnight() {
        let night: Hours = "22:00-06:30".parse().unwrap();
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        for (time, inside) in [
            ("2026-03-02T20:59:59Z", false),
            ("2026-03-02T21:00:00Z", true),
            ("2026-03-03T05:29:00Z", true),
            ("2026-03-03T05:30:00Z", false),
        ] {
            assert_eq!(night.contain(at(time), &berlin), inside, "{time}");
        }
        let noon: Hours = "11:30-13:00".parse().unwrap();
        assert!(noon.contain(at("2026-03-02T12:59:00Z"), &TimeZone::UTC));
        assert!(!noon.contain(at("2026-03-02T13:00:00Z"), &TimeZone::UTC));
        assert_eq!(night.to_string(), "22:00-06:30");
        for wrong in ["", "22:00", "22-6", "25:00-06:00", "10:61-11:00"] {
            assert!(wrong.parse::<Hours>().is_err(), "{wrong}");
        }
    }
}
