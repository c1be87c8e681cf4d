//! The wake phrase in what was said, however the recogniser wrote it: "Hello and Graham, where is my mug?" calls Engram.
//!
//! The phrase is found word for word, or by its sound ([`crate::names::phonetic`]) in as many words as it has, one fewer or
//! up to two more. It calls where it may call: at the head of a sentence or of what follows a mark, behind two words at most;
//! by its sound alone only behind interjections.

use crate::names::phonetic::Pronunciation;

/// How much of its weight ([`Pronunciation::mass`]) a phrase may be off, beyond what a short one weighs: the longer it is, the
/// likelier it is to be written otherwise, and the less likely to be said by chance. Calibrated on the development half of
/// `testdata/wake.tsv` against written talk of other people.
const SLACK: f32 = 0.2;
/// What a phrase weighs that has to be heard as it is.
const SHORT: f32 = 2.5;
/// Nothing less alike is ever the phrase.
const LEAST: f32 = 0.84;
/// What it costs to take a word more or fewer than the phrase has.
const OTHER_LENGTH: f32 = 0.02;
/// Words that may stand between the head of a clause and the phrase: "well, oh robot".
const LEADING: usize = 2;
/// Before a noun that is spoken of, not to.
const DETERMINERS: [&str; 12] =
    ["the", "a", "an", "my", "your", "his", "her", "our", "their", "this", "that", "no"];
/// Before a name that is called.
const INTERJECTIONS: [&str; 12] =
    ["hey", "hi", "hello", "ok", "okay", "oh", "well", "so", "um", "uh", "yes", "and"];

/// What makes a question of what follows it.
#[derive(Clone, Debug)]
pub(super) struct WakePhrase {
    words: Vec<String>,
    sound: Pronunciation,
}

/// A word of what was said.
struct Word {
    start: usize,
    lower: String,
    /// A mark stands before it, or nothing does.
    head: bool,
}

impl WakePhrase {
    /// Reads a phrase; one without a word is never found.
    pub(super) fn new(phrase: &str) -> Self {
        let words: Vec<String> = words(phrase).into_iter().map(|word| word.lower).collect();
        let sound = Pronunciation::of(&words.concat());
        Self { words, sound }
    }

    /// What follows the phrase in what was said; `None` without the phrase, or with nothing behind it.
    pub(super) fn question<'a>(&self, said: &'a str) -> Option<&'a str> {
        let words = words(said);
        let end = self.end(&words)?;
        said.get(words.get(end)?.start..)
    }

    /// Whether the phrase stands in it, whatever follows: in the first words of a turn that goes on.
    pub(super) fn is_in(&self, said: &str) -> bool {
        self.end(&words(said)).is_some()
    }

    /// The word behind the phrase.
    fn end(&self, said: &[Word]) -> Option<usize> {
        if self.words.is_empty() {
            return None;
        }
        let places: Vec<usize> = (0..said.len()).filter(|at| may_call(said, *at)).collect();
        let exact = |at: &usize| {
            let run = said.get(*at..*at + self.words.len());
            run.is_some_and(|run| run.iter().map(|word| &word.lower).eq(&self.words))
        };
        if let Some(at) = places.iter().find(|at| exact(at)) {
            return Some(at + self.words.len());
        }
        let mass = self.sound.mass().max(SHORT);
        let border = (1.0 - SLACK * (mass - SHORT) / mass).max(LEAST);
        let (least, most) = (self.words.len().saturating_sub(1).max(1), self.words.len() + 2);
        let heads = places.iter().filter(|at| is_led_in(said, **at));
        let runs = heads.flat_map(|at| (least..=most).map(move |len| (*at, at + len)));
        let near = runs.filter_map(|(at, end)| {
            let run: String = said.get(at..end)?.iter().map(|word| word.lower.as_str()).collect();
            let other = (end - at).abs_diff(self.words.len()) as f32 * OTHER_LENGTH;
            let likeness = Pronunciation::of(&run).likeness(&self.sound) - other;
            (likeness >= border).then_some((likeness, end))
        });
        // Of two that are as near the first: nothing is taken from the question.
        near.reduce(|best, one| if one.0 > best.0 { one } else { best }).map(|(_, end)| end)
    }
}

/// Whether somebody may be called at word `at`.
fn may_call(said: &[Word], at: usize) -> bool {
    let head = said[..=at].iter().rposition(|word| word.head).unwrap_or(0);
    let spoken_of = at.checked_sub(1).is_some_and(|before| {
        before >= head && !said[at].head && DETERMINERS.contains(&said[before].lower.as_str())
    });
    at - head <= LEADING && !spoken_of
}

/// Whether nothing but interjections leads from the head of the clause to word `at`.
fn is_led_in(said: &[Word], at: usize) -> bool {
    let head = said[..=at].iter().rposition(|word| word.head).unwrap_or(0);
    said[head..at].iter().all(|word| INTERJECTIONS.contains(&word.lower.as_str()))
}

/// Lower-case words and where they begin.
fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let (mut at, mut head) = (0, true);
    for piece in text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '\'') {
        let start = at;
        at += piece.len();
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        if !word.is_empty() {
            found.push(Word { start, lower: word.to_lowercase(), head });
            head = false;
        }
        head |= piece.ends_with([',', '.', '!', '?', ';', ':', '\u{2026}']);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<'a>(said: &'a str, phrase: &str) -> Option<&'a str> {
        WakePhrase::new(phrase).question(said)
    }

    #[test]
    fn the_question_stands_behind_the_phrase() {
        assert_eq!(asked("Robot, where is my mug?", "robot"), Some("where is my mug?"));
        assert_eq!(asked("well hey robot who was here", "Hey Robot!"), Some("who was here"));
        assert_eq!(asked("the robots are coming", "robot"), None);
        assert_eq!(asked("Robot!", "robot"), None);
        assert_eq!(asked("", "robot"), None);
        assert_eq!(asked("\u{e7}a va, K\u{f6}chin, wo ist es?", "k\u{f6}chin"), Some("wo ist es?"));
    }

    #[test]
    fn a_phrase_is_known_by_its_sound_and_by_its_place() {
        let phrase = "hello engram";
        assert_eq!(asked("Hello and Graham, who was here?", phrase), Some("who was here?"));
        assert!(WakePhrase::new(phrase).is_in("Hello and Gram"));
        assert_eq!(asked("I told the robot to stop", "robot"), None);
        assert_eq!(asked("My robot is in the kitchen", "robot"), None);
    }

    #[test]
    fn phrases_are_heard_in_many_voices() {
        for half in ["dev", "test"] {
            let rows = include_str!("testdata/wake.tsv").lines().filter_map(|line| {
                let cells: Vec<&str> = line.split('\t').collect();
                (cells.first() == Some(&half)).then(|| (cells[1], cells[3]))
            });
            let rows: Vec<(&str, &str)> = rows.collect();
            let missed: Vec<_> =
                rows.iter().filter(|(phrase, said)| asked(said, phrase).is_none()).collect();
            assert!(missed.len() * 20 <= rows.len(), "{half}: {missed:?} of {}", rows.len());
        }
    }
}
