//! The sentence of an hour or a day: how much there was, who was in it, and what was most notable.
//!
//! A digest is written as one line and read back from it, so that hours can be folded into days and what fades
//! later into what was folded before:
//! `Monday 2 March 2026, 17:00 to 18:00: 14 remarks, 3 episodes; with <person_1> (12), <person_2> (3). · … · …`

use std::collections::BTreeMap;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::stems;
use crate::memory::summary::{BETWEEN, sentence};
use crate::mention;

/// Persons told, at most.
const MOST_PEOPLE: usize = 12;
/// Share of words in common from which two sentences say the same.
const SAME: f32 = 0.8;
/// What a notable sentence of a digest loses against the one before it.
const STEP: f32 = 0.97;

/// What an hour or a day held.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Digest {
    remarks: u32,
    episodes: u32,
    facts: u32,
    people: BTreeMap<EntityId, u32>,
    /// Sentences with how notable they are, the most notable first.
    notable: Vec<(f32, String)>,
}

impl Digest {
    /// Reads a digest's sentence back; what is none is notable as it stands. `importance` is its row's.
    pub(super) fn read(text: &str, importance: f32) -> Self {
        let mut parts = text.split(BETWEEN);
        let head = parts.next().unwrap_or_default();
        let mut digest = Self::default();
        let Some(counts) = head.strip_suffix('.').and_then(|head| digest.read_head(head)) else {
            digest.notable.push((importance, text.to_owned()));
            return digest;
        };
        digest.remarks += counts[0];
        digest.episodes += counts[1];
        digest.facts += counts[2];
        let mut worth = importance;
        for sentence in parts {
            digest.notable.push((worth, sentence.to_owned()));
            worth *= STEP;
        }
        digest
    }

    /// `…: 14 remarks, 3 episodes; with <person_1> (12), …`; fills in the persons.
    fn read_head(&mut self, head: &str) -> Option<[u32; 3]> {
        let told = head.rsplit_once(": ").map(|(_, told)| told)?;
        let (counts, people) = told.split_once("; with ").unwrap_or((told, ""));
        let mut found = [0; 3];
        for count in counts.split(", ") {
            let (number, what) = count.split_once(' ')?;
            let at = match what {
                "remark" | "remarks" => 0,
                "episode" | "episodes" => 1,
                "fact" | "facts" => 2,
                _ => return None,
            };
            found[at] = number.parse().ok()?;
        }
        for mention in mention::mentions(people) {
            let rest = &people[mention.range.end..];
            let number = rest.strip_prefix(" (").and_then(|rest| rest.split_once(')'));
            let number = number.and_then(|(number, _)| number.parse().ok()).unwrap_or(1);
            *self.people.entry(mention.entity).or_default() += number;
        }
        Some(found)
    }

    /// Takes in a memory; `people` are those it is about.
    pub(super) fn take_in(&mut self, row: &MemoryRow, people: impl Iterator<Item = EntityId>) {
        match row.kind {
            MemoryKind::Utterance => self.remarks += 1,
            MemoryKind::Semantic => self.facts += 1,
            _ => self.episodes += 1,
        }
        for who in people {
            *self.people.entry(who).or_default() += 1;
        }
        self.notable.push((row.importance, sentence(&row.text)));
    }

    /// Takes in another digest.
    pub(super) fn merge(&mut self, other: Self) {
        self.remarks += other.remarks;
        self.episodes += other.episodes;
        self.facts += other.facts;
        for (who, count) in other.people {
            *self.people.entry(who).or_default() += count;
        }
        self.notable.extend(other.notable);
    }

    /// Keeps the `most` most notable sentences that do not repeat each other.
    pub(super) fn cut(&mut self, most: usize) {
        // Stable: what came first stays first among equals.
        self.notable.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut kept: Vec<(f32, String)> = Vec::new();
        let mut words: Vec<Vec<String>> = Vec::new();
        for (worth, text) in std::mem::take(&mut self.notable) {
            if kept.len() == most {
                break;
            }
            let own = distinct(&text);
            if words.iter().all(|other| shared(&own, other) < SAME) {
                words.push(own);
                kept.push((worth, text));
            }
        }
        self.notable = kept;
    }

    /// The sentence; `when` is the hour or the day in words.
    pub(super) fn write(&self, when: &str) -> String {
        let mut counts = Vec::new();
        let kinds = [(self.remarks, "remark"), (self.episodes, "episode"), (self.facts, "fact")];
        for (count, what) in kinds {
            match count {
                0 => {}
                1 => counts.push(format!("1 {what}")),
                many => counts.push(format!("{many} {what}s")),
            }
        }
        if counts.is_empty() {
            counts.push("0 episodes".to_owned());
        }
        let mut people: Vec<(EntityId, u32)> =
            self.people.iter().map(|(who, count)| (*who, *count)).collect();
        people.sort_by_key(|(who, count)| (std::cmp::Reverse(*count), *who));
        people.truncate(MOST_PEOPLE);
        let people: Vec<String> =
            people.into_iter().map(|(who, count)| format!("<{who}> ({count})")).collect();
        let with = match people.is_empty() {
            true => String::new(),
            false => format!("; with {}", people.join(", ")),
        };
        let mut text = format!("{when}: {}{with}.", counts.join(", "));
        for (_, sentence) in &self.notable {
            text.push_str(BETWEEN);
            text.push_str(sentence);
        }
        text
    }

    /// How notable the most notable is, 0–1.
    pub(super) fn importance(&self) -> f32 {
        self.notable.iter().map(|(worth, _)| *worth).fold(0.3, f32::max)
    }

    /// Everybody in it.
    pub(super) fn people(&self) -> impl Iterator<Item = EntityId> {
        self.people.keys().copied()
    }
}

fn distinct(text: &str) -> Vec<String> {
    let mut words = stems(text);
    words.sort_unstable();
    words.dedup();
    words
}

fn shared(a: &[String], b: &[String]) -> f32 {
    let both = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    let all = a.len() + b.len() - both;
    if all == 0 { 1.0 } else { both as f32 / all as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::EntityKind;

    fn person(number: u32) -> EntityId {
        EntityId::new(EntityKind::Person, number)
    }

    #[test]
    fn a_digest_reads_back_as_written() {
        let digest = Digest {
            remarks: 14,
            episodes: 1,
            facts: 0,
            people: BTreeMap::from([(person(1), 12), (person(2), 3)]),
            notable: vec![
                (
                    0.6,
                    "<person_1> said: \"Dinner is at seven: bring wine; with cheese\"".to_owned(),
                ),
                (0.582, "<person_2> was in view of front for 9 s.".to_owned()),
            ],
        };
        let text = digest.write("Monday 2 March 2026, 17:00 to 18:00");
        assert_eq!(
            text,
            "Monday 2 March 2026, 17:00 to 18:00: 14 remarks, 1 episode; with <person_1> (12), \
             <person_2> (3). · <person_1> said: \"Dinner is at seven: bring wine; with cheese\" · \
             <person_2> was in view of front for 9 s."
        );
        let read = Digest::read(&text, 0.6);
        assert_eq!((read.remarks, read.episodes, read.facts), (14, 1, 0));
        assert_eq!(read.people, digest.people);
        assert_eq!(read.write("Monday 2 March 2026, 17:00 to 18:00"), text);
        // What is no digest, or was struck by erasing, is not lost.
        let struck = text.replace("<person_1>", "<erased>");
        assert_eq!(Digest::read(&struck, 0.5).people, BTreeMap::from([(person(2), 3)]));
        let other = Digest::read("A quiet day.", 0.5);
        assert_eq!(other.notable, [(0.5, "A quiet day.".to_owned())]);
    }

    #[test]
    fn the_most_notable_stay_and_none_twice() {
        let mut digest = Digest::default();
        for (worth, text) in [
            (0.2, "The cat slept."),
            (0.5, "Ava lost her keys."),
            (0.5, "Ava lost her keys!"),
            (0.4, "Rain fell."),
        ] {
            digest.notable.push((worth, text.to_owned()));
        }
        digest.cut(2);
        let kept: Vec<&str> = digest.notable.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(kept, ["Ava lost her keys.", "Rain fell."]);
        let long = sentence(&format!("{} <person_1234567> end", "word ".repeat(30)));
        assert!(long.ends_with('\u{2026}') && !long.contains("<person"), "{long}");
    }
}
