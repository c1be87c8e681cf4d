//! Names that were heard: where a text holds what sounds like somebody's or some place's name, and is written otherwise.
//!
//! A recogniser writes a name that it does not know as it sounds to it: with a capital, in the spelling of another name or
//! of none ("Shivon"). So what stands with a capital where somebody may be meant is compared with the names that are known,
//! by sound ([`super::phonetic`]). What is written as somebody's name is that name, and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::phonetic::{Key, Pronunciation, SAME_NAME, border};
use super::{MONTHS, Text, among, folded};
use crate::ids::EntityId;

/// By how much the nearest name must be nearer than that of anybody else: else nobody can tell which was said.
const AHEAD: f32 = 0.02;
/// Days are names of nobody.
const DAYS: &str = "monday tuesday wednesday thursday friday saturday sunday";

/// A name that was heard.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Bytes of the text, without the ending of a genitive.
    pub range: Range<usize>,
    /// What was written.
    pub written: String,
    /// Whose name it sounds like.
    pub entity: EntityId,
    /// That name.
    pub name: String,
    /// How near the two sound, from [`border`](super::phonetic::border) to 1.
    pub likeness: f32,
}

#[derive(Debug)]
struct Known {
    name: String,
    words: usize,
    entity: EntityId,
    sound: Pronunciation,
}

/// Names by their sound. Memory grows with their number, a look-up does not (but for those that share a skeleton).
#[derive(Debug, Default)]
pub struct SoundIndex {
    known: Vec<Known>,
    by_key: HashMap<Key, Vec<usize>>,
    /// Longest run of words that is compared.
    longest: usize,
    /// As names are compared.
    spellings: BTreeSet<String>,
}

impl SoundIndex {
    /// Of names and whose they are.
    #[must_use]
    pub fn new<'a>(names: impl Iterator<Item = (&'a str, EntityId)>) -> Self {
        let mut found = Self::default();
        for (name, entity) in names {
            let spelling = folded(name);
            let words = spelling.split(' ').count();
            found.longest = found.longest.max(words + 1);
            for part in spelling.split(' ').chain([spelling.as_str()]) {
                found.spellings.insert(part.to_owned());
            }
            let sound = Pronunciation::of(name);
            for key in sound.keys() {
                found.by_key.entry(key).or_default().push(found.known.len());
            }
            found.known.push(Known { name: name.to_owned(), words, entity, sound });
        }
        found
    }

    /// The names heard in a text, in order.
    #[must_use]
    pub fn heard_in(&self, text: &Text<'_>) -> Vec<Heard> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < text.words.len() {
            let runs = (1..=self.longest).map_while(|len| text.may_be_name(at, len).then_some(len));
            let best = runs
                .filter_map(|len| Some((len, self.nearest(text, at, len)?)))
                .max_by(|a, b| a.1.likeness.total_cmp(&b.1.likeness));
            match best {
                Some((len, heard)) => {
                    found.push(heard);
                    at += len;
                }
                None => at += 1,
            }
        }
        found
    }

    /// The name that a run of words sounds like.
    fn nearest(&self, text: &Text<'_>, at: usize, len: usize) -> Option<Heard> {
        let run = &text.words[at..at + len];
        if run.iter().any(|word| self.spellings.contains(&word.lower)) {
            return None;
        }
        let range = run.first()?.range.start..run.last()?.range.end;
        let written = text.text.get(range.clone())?;
        let sound = Pronunciation::of(written);
        let candidates: BTreeSet<usize> =
            sound.keys().iter().filter_map(|key| self.by_key.get(key)).flatten().copied().collect();
        // By whom it may be meant, how near at best.
        let mut near: BTreeMap<EntityId, (f32, &str)> = BTreeMap::new();
        for known in candidates.into_iter().map(|at| &self.known[at]) {
            // A name may have been parted in two, which must be all the nearer.
            let border = border(sound.mass().min(known.sound.mass()));
            let border = match len {
                _ if len == known.words => border,
                _ if len == known.words + 1 => border.max(SAME_NAME),
                _ => continue,
            };
            let likeness = sound.likeness(&known.sound);
            let before = near.get(&known.entity).map_or(0.0, |(likeness, _)| *likeness);
            if likeness >= border && likeness > before {
                near.insert(known.entity, (likeness, &known.name));
            }
        }
        let mut near: Vec<_> = near.into_iter().collect();
        near.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then_with(|| a.0.cmp(&b.0)));
        let (entity, (likeness, name)) = near.first().copied()?;
        if near.get(1).is_some_and(|(_, (second, _))| likeness - second < AHEAD) {
            return None;
        }
        let (written, name) = (written.to_owned(), name.to_owned());
        Some(Heard { range, written, entity, name, likeness })
    }
}

impl Text<'_> {
    /// Whether word `at + len - 1` goes on what may be a name from word `at` on: it has a capital, and somebody may be
    /// meant by the first.
    fn may_be_name(&self, at: usize, len: usize) -> bool {
        let Some(word) = self.words.get(at + len - 1) else { return false };
        let plain = !word.lower.chars().all(|c| c.is_alphabetic() || c == '-');
        let dates = among(MONTHS, &word.lower) || among(DAYS, &word.lower);
        let begun = len == 1 || !self.words[at + len - 2].possessive && !self.is_head(at + len - 1);
        word.capital
            && word.lower.len() > 2
            && !plain
            && !dates
            && begun
            && (len > 1 || self.is_meant(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::EntityKind;

    fn index(names: &[&str]) -> SoundIndex {
        let ids = (1..).map(|number| EntityId::new(EntityKind::Person, number));
        SoundIndex::new(names.iter().copied().zip(ids))
    }

    /// The text with every name that is heard in it as it is known, in brackets.
    fn marked(text: &str, names: &[&str]) -> String {
        let mut out = text.to_owned();
        for heard in index(names).heard_in(&Text::new(text)).into_iter().rev() {
            out.replace_range(heard.range, &format!("[{}]", heard.name));
        }
        out
    }

    #[test]
    fn names_are_heard_in_another_spelling() {
        let names = ["Siobh\u{e1}n", "Eileen", "John", "Kathryn", "Łukasz Nowak"];
        for (text, wanted) in [
            ("I met Shivon and Aileen.", "I met [Siobh\u{e1}n] and [Eileen]."),
            ("Jon's keys are with Catherine", "[John]'s keys are with [Kathryn]"),
            ("We saw Lucas Novak there", "We saw [Łukasz Nowak] there"),
            // What is written as a name is that name; small letters, days and strangers are nobody.
            ("I met John, not Siobh\u{e1}n.", "I met John, not Siobh\u{e1}n."),
            ("The gin was on the lawn in June, Peter.", "The gin was on the lawn in June, Peter."),
            ("When it rains, Monday is John", "When it rains, Monday is John"),
        ] {
            assert_eq!(marked(text, &names), wanted);
        }
    }

    #[test]
    fn between_two_who_sound_the_same_nobody_decides() {
        assert_eq!(marked("I met Jon.", &["John", "Joan"]), "I met Jon.");
    }
}
