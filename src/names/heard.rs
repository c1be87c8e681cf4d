//! Names that were heard: where a text holds what sounds like somebody's or some place's name, and is written otherwise.
//!
//! A recogniser writes a name that it does not know as it sounds to it: with a capital, in the spelling of another name or
//! of none ("Shivon"). So what stands with a capital where somebody may be meant is compared with the names that are known,
//! by sound ([`super::phonetic`]). What is written as somebody's name is that name, and nothing else.
//!
//! Where the recogniser itself doubts what it wrote, it may have written any word for a name that it does not know
//! ("baroque"), at the head of a sentence or without a capital: such words are compared wherever a name may stand.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::phonetic::{Key, Pronunciation, SAME_NAME, border};
use super::{ARTICLES, MONTHS, Text, among, folded};
use crate::ids::EntityId;

/// By how much the nearest name must be nearer than that of anybody else: else nobody can tell which was said.
const AHEAD: f32 = 0.02;
/// How much less of its weight a name has to be heard where the recogniser doubts its word.
const DOUBT: f32 = 0.04;
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

    /// The names heard in a text, in order. `doubted`: bytes of it of which the recogniser is not sure.
    #[must_use]
    pub fn heard_in(&self, text: &Text<'_>, doubted: &[Range<usize>]) -> Vec<Heard> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < text.words.len() {
            let may_be = |len: &usize| text.may_be_name(at, *len, doubted);
            let runs = (1..=self.longest).take_while(|len| text.goes_on(at, *len)).filter(may_be);
            let best = runs
                .filter_map(|len| Some((len, self.nearest(text, at, len, doubted)?)))
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
    fn nearest(
        &self,
        text: &Text<'_>,
        at: usize,
        len: usize,
        doubted: &[Range<usize>],
    ) -> Option<Heard> {
        let slack = if text.is_doubted(at, len, doubted) { DOUBT } else { 0.0 };
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
                _ if len == known.words => border - slack,
                _ if len == known.words + 1 => border.max(SAME_NAME) - slack,
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
    /// Whether word `at + len - 1` may go on a name that begins with word `at`.
    fn goes_on(&self, at: usize, len: usize) -> bool {
        let Some(word) = self.words.get(at + len - 1) else { return false };
        let letters = word.lower.chars().all(|c| c.is_alphabetic() || c == '-');
        let dates = among(MONTHS, &word.lower) || among(DAYS, &word.lower);
        let begun = len == 1 || !self.words[at + len - 2].possessive && !self.is_head(at + len - 1);
        letters && !dates && begun
    }

    /// Whether the words may be a name: all have a capital, and somebody may be meant by the first; or they are doubted, and
    /// stand behind no article.
    fn may_be_name(&self, at: usize, len: usize, doubted: &[Range<usize>]) -> bool {
        let run = &self.words[at..at + len];
        if run.iter().all(|word| word.capital && word.lower.len() > 2)
            && (len > 1 || self.is_meant(at))
        {
            return true;
        }
        let before = at.checked_sub(1).filter(|_| !self.is_head(at)).map(|at| &self.words[at]);
        self.is_doubted(at, len, doubted)
            && run.iter().any(|word| word.lower.len() > 2)
            && !before.is_some_and(|before| among(ARTICLES, &before.lower))
    }

    /// Whether the recogniser is not sure of any of the words.
    fn is_doubted(&self, at: usize, len: usize, doubted: &[Range<usize>]) -> bool {
        self.words[at..at + len].iter().all(|word| {
            let touches =
                |doubt: &Range<usize>| word.range.start < doubt.end && doubt.start < word.range.end;
            doubted.iter().any(touches)
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
        for heard in index(names).heard_in(&Text::new(text), &[]).into_iter().rev() {
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
    fn what_the_recogniser_doubts_may_be_a_name_without_its_signs() {
        let text = "Chivain will see what cake it is when baroque comes, and the baroque music.";
        let index = index(&["Siobh\u{e1}n", "Barack"]);
        let at = |word: &str, from: usize| {
            let start = from + text[from..].find(word).unwrap();
            start..start + word.len()
        };
        let (name, first) = (at("Chivain", 0), at("baroque", 0));
        let second = at("baroque", first.end);
        let heard = |doubted: &[Range<usize>]| -> Vec<String> {
            let heard = index.heard_in(&Text::new(text), doubted).into_iter();
            heard.map(|one| one.name).collect()
        };
        let found = heard(&[name, first, second]);
        assert_eq!(found, ["Siobh\u{e1}n", "Barack"], "no name has an article");
        assert_eq!(heard(&[]), [""; 0], "not near enough, and no capital");
    }

    #[test]
    fn between_two_who_sound_the_same_nobody_decides() {
        assert_eq!(marked("I met Jon.", &["John", "Joan"]), "I met Jon.");
    }
}
