//! Parses of texts that are read again and again, packed: sixteen bytes a word, none of the text.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use compact_str::CompactString;

use super::parse::Word;

/// So much is kept, bytes: some two hundred thousand sentences. What came first goes first.
const MOST_BYTES: usize = 64 << 20;
/// So many are kept as words, too.
const UNPACKED: usize = 2_048;
/// What an entry costs beside its words, bytes.
const ENTRY_BYTES: usize = 80;

/// Texts as they were parsed, each with those of its words that are names.
#[derive(Debug)]
pub(crate) struct Parses {
    /// A text is known by two hashes of it.
    seeds: [RandomState; 2],
    most_bytes: usize,
    shelf: Mutex<Shelf>,
}

impl Default for Parses {
    fn default() -> Self {
        Self::within(MOST_BYTES)
    }
}

/// Of a text and those of its words that are names.
type Key = [u64; 2];

#[derive(Debug, Default)]
struct Shelf {
    parses: HashMap<Key, Box<[Packed]>>,
    /// Those that were read lately, as words.
    unpacked: HashMap<Key, Arc<[Word]>>,
    order: VecDeque<Key>,
    bytes: usize,
    lemmas: Strings,
    /// Tags and labels: few.
    marks: Strings,
}

/// A word whose form is its part of the text.
#[derive(Clone, Copy, Debug)]
struct Packed {
    start: u32,
    length: u16,
    head: u16,
    lemma: u32,
    tag: u16,
    label: u16,
}

/// Words by number.
#[derive(Debug, Default)]
struct Strings {
    numbers: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
}

impl Strings {
    fn number(&mut self, text: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        let number = u32::try_from(self.texts.len()).ok()?;
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        Some(number)
    }

    fn text(&self, number: u32) -> Option<&str> {
        self.texts.get(number as usize).map(|text| &**text)
    }
}

impl Parses {
    fn within(most_bytes: usize) -> Self {
        let seeds = [RandomState::new(), RandomState::new()];
        Self { seeds, most_bytes, shelf: Mutex::default() }
    }

    fn key(&self, text: &str, names: &[String]) -> Key {
        [0, 1].map(|which: usize| self.seeds[which].hash_one((text, names)))
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The words of a text, if it was parsed with those names.
    pub(crate) fn get(&self, text: &str, names: &[String]) -> Option<Arc<[Word]>> {
        let key = self.key(text, names);
        let mut shelf = self.shelf();
        if let Some(words) = shelf.unpacked.get(&key) {
            return Some(Arc::clone(words));
        }
        let packed = shelf.parses.get(&key)?;
        let words: Option<Arc<[Word]>> =
            packed.iter().map(|word| shelf.word(text, *word)).collect();
        let words = words?;
        if shelf.unpacked.len() >= UNPACKED {
            shelf.unpacked.clear();
        }
        shelf.unpacked.insert(key, Arc::clone(&words));
        Some(words)
    }

    /// Keeps the words of a text; longer ones than 65,535 words are not.
    pub(crate) fn put(&self, text: &str, names: &[String], words: &[Word]) {
        let key = self.key(text, names);
        let mut shelf = self.shelf();
        let packed: Option<Box<[Packed]>> =
            words.iter().map(|word| shelf.packed(text, word)).collect();
        let Some(packed) = packed else { return };
        shelf.bytes += bytes_of(&packed);
        match shelf.parses.insert(key, packed) {
            Some(before) => shelf.bytes -= bytes_of(&before),
            None => shelf.order.push_back(key),
        }
        while shelf.bytes > self.most_bytes
            && let Some(oldest) = shelf.order.pop_front()
        {
            shelf.unpacked.remove(&oldest);
            let gone = shelf.parses.remove(&oldest);
            shelf.bytes -= gone.map_or(0, |gone| bytes_of(&gone));
        }
    }
}

fn bytes_of(packed: &[Packed]) -> usize {
    std::mem::size_of_val(packed) + ENTRY_BYTES
}

impl Shelf {
    fn packed(&mut self, text: &str, word: &Word) -> Option<Packed> {
        if text.get(word.span.clone()) != Some(word.form.as_str()) {
            return None;
        }
        Some(Packed {
            start: word.span.start.try_into().ok()?,
            length: word.span.len().try_into().ok()?,
            head: word.head.try_into().ok()?,
            lemma: self.lemmas.number(&word.lemma)?,
            tag: self.marks.number(&word.tag)?.try_into().ok()?,
            label: self.marks.number(&word.label)?.try_into().ok()?,
        })
    }

    fn word(&self, text: &str, packed: Packed) -> Option<Word> {
        let start = packed.start as usize;
        let span = start..start + usize::from(packed.length);
        let mark = |number: u16| self.marks.text(number.into()).map(CompactString::from);
        Some(Word {
            form: text.get(span.clone())?.into(),
            lemma: self.lemmas.text(packed.lemma)?.into(),
            span,
            tag: mark(packed.tag)?,
            head: packed.head.into(),
            label: mark(packed.label)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, span: std::ops::Range<usize>, lemma: &str, head: usize) -> Word {
        let form = text[span.clone()].into();
        let (tag, label) = ("NN".into(), "ROOT".into());
        Word { form, lemma: lemma.into(), span, tag, head, label }
    }

    #[test]
    fn what_was_parsed_comes_back_as_it_was_for_the_same_names_alone() {
        let parses = Parses::default();
        let text = "Zo\u{eb}'s mugs";
        let words = [
            word(text, 0..4, "zo\u{eb}", 2),
            word(text, 4..6, "'s", 0),
            word(text, 7..11, "mug", 2),
        ];
        let zoe = ["zo\u{eb}".to_owned()];
        parses.put(text, &zoe, &words);
        assert_eq!(parses.get(text, &zoe).as_deref(), Some(words.as_slice()));
        assert_eq!(parses.get(text, &[]), None);
        assert_eq!(parses.get("Zoe's mugs", &zoe), None);
    }

    #[test]
    fn what_came_first_goes_first_where_there_is_no_more_room() {
        let parses = Parses::within(3 * (ENTRY_BYTES + size_of::<Packed>()));
        let texts = ["a", "b", "c", "d"];
        for text in texts {
            parses.put(text, &[], &[word(text, 0..1, text, 0)]);
        }
        let known = || texts.map(|text| parses.get(text, &[]).is_some());
        assert_eq!(known(), [false, true, true, true]);
        // Kept again it costs no more.
        parses.put("d", &[], &[word("d", 0..1, "d", 0)]);
        assert_eq!(known(), [false, true, true, true]);
    }
}
