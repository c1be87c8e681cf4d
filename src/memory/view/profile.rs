//! A person's profile: who it is, and what is true of it, compiled from facts.
//!
//! Nothing is kept for it: the facts are. It reads the person's facts, conclusions, notes and lessons by their
//! columns and never looks at what merely happened, so it costs the same after a year.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::{EntityId, MemoryId};
use crate::mention;
use crate::time::Timestamp;

use super::View;
use super::filter::Filter;
use crate::memory::model::{MemoryKind, MemoryRow, PersonProfile};

/// Notes and other sentences told with a profile.
const MOST_NOTES: usize = 10;

/// Who somebody is, and what is true of them. (Things and places have one, too.)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Names, faces, voices, when seen.
    #[serde(flatten)]
    pub person: PersonProfile,
    /// What is true, by attribute, the surest first.
    pub facts: Vec<ProfileFact>,
    /// What else was told, taught or concluded, the newest first.
    pub notes: Vec<ProfileNote>,
}

/// Something that is true of somebody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileFact {
    /// `likes`, `usual_time`, …
    pub attribute: String,
    /// The value; entities by name.
    pub value: String,
    /// The sentence; entities by name.
    pub text: String,
    /// From when on.
    pub since: Timestamp,
    /// 0–1.
    pub confidence: f32,
    /// A trait that rests on one source only: [`View::is_weak`].
    pub weak: bool,
    /// The memory that says so.
    pub memory: MemoryId,
}

/// A sentence about somebody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileNote {
    /// The memory.
    pub memory: MemoryId,
    /// What sort.
    pub kind: MemoryKind,
    /// The sentence; entities by name.
    pub text: String,
    /// When.
    pub at: Timestamp,
}

impl View {
    /// The profile of a person, face, voice or alias (or of a thing or a place); `at` = what was true then,
    /// `None` = what holds still.
    #[must_use]
    pub fn profile(&self, id: EntityId, at: Option<Timestamp>) -> Profile {
        let same: BTreeSet<EntityId> = self.same_as(id).into_iter().collect();
        let kinds =
            [MemoryKind::Semantic, MemoryKind::Reflection, MemoryKind::Note, MemoryKind::Lesson];
        let filter = Filter { kinds: kinds.to_vec(), entities: vec![id], ..Filter::default() };
        let holds = |row: &MemoryRow| match at {
            Some(at) => row.valid_from <= at && row.valid_to.is_none_or(|end| at < end),
            None => row.valid_to.is_none(),
        };
        let (mut facts, mut notes) = (Vec::new(), Vec::new());
        // Some of the versions passing may be older than the one that is shown.
        for memory in self.passing(&filter).iter().flat_map(crate::memory::idset::IdSet::iter) {
            let Some(row) = self.memory(memory).filter(|row| holds(row) && filter.admits(row))
            else {
                continue;
            };
            let about = |fact: &crate::memory::model::Fact| {
                fact.subject.parse().is_ok_and(|subject: EntityId| same.contains(&subject))
            };
            match row.fact.as_ref().filter(|fact| about(fact)) {
                // The name is told by the person's row.
                Some(fact) if fact.attribute == "name" => {}
                Some(fact) => facts.push(ProfileFact {
                    attribute: fact.attribute.clone(),
                    value: match fact.value.parse::<EntityId>() {
                        Ok(other) => self.display_name(other),
                        Err(_) => self.worded(&fact.value),
                    },
                    text: self.worded(&row.text),
                    since: row.valid_from,
                    confidence: row.confidence,
                    weak: self.is_weak(&row),
                    memory,
                }),
                // A fact about something else stands there.
                None if row.fact.is_some() && row.kind != MemoryKind::Note => {}
                None => notes.push(ProfileNote {
                    memory,
                    kind: row.kind,
                    text: self.worded(&row.text),
                    at: row.span.start,
                }),
            }
        }
        facts.sort_by(|a, b| {
            (&a.attribute, b.confidence.to_bits(), b.since, a.memory).cmp(&(
                &b.attribute,
                a.confidence.to_bits(),
                a.since,
                b.memory,
            ))
        });
        notes.sort_by_key(|note| (std::cmp::Reverse(note.at), note.memory));
        notes.truncate(MOST_NOTES);
        Profile { person: self.person(id), facts, notes }
    }

    fn worded(&self, text: &str) -> String {
        mention::render(text, |id| self.display_name(id))
    }
}

impl Profile {
    /// The name, else the id.
    #[must_use]
    pub fn called(&self) -> String {
        self.person.name.clone().unwrap_or_else(|| self.person.id.to_string())
    }

    /// One line: what is true, the surest of each attribute first, then what was told; at most about
    /// `most_chars` characters, no part cut. `when` words a time.
    #[must_use]
    pub fn card(&self, most_chars: usize, mut when: impl FnMut(Timestamp) -> String) -> String {
        let mut line = match &self.person.name {
            Some(name) => format!("{name} ({})", self.person.id),
            None => format!("{} (no name known)", self.person.id),
        };
        let mut parts = Vec::new();
        if let Some(last) = self.person.last_seen {
            parts.push(format!("last seen or heard {}", when(last)));
        }
        for fact in &self.facts {
            let doubt = if fact.weak { " (said once)" } else { "" };
            parts.push(format!("{}: {}{doubt}", fact.attribute.replace('_', " "), fact.value));
        }
        parts.extend(self.notes.iter().map(|note| note.text.trim_end_matches('.').to_owned()));
        for (number, part) in parts.into_iter().enumerate() {
            let room = line.chars().count() + part.chars().count() + 2 <= most_chars;
            if room {
                line.push_str(if number == 0 { ": " } else { "; " });
                line.push_str(&part);
            }
        }
        line
    }
}
