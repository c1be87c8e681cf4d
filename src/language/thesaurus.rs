//! What words mean to each other, from the files of `WordNet` 3.1: senses, what is a kind of what, what comes of the same
//! stem, what is the contrary.
//!
//! The files are sorted and name each other by byte offsets (wndb(5WN)), so nothing is built from them: they are mapped,
//! and a look-up is a binary search.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use compact_str::CompactString;
use memmap2::Mmap;

/// Parts of speech that `WordNet` has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Things, people, numbers.
    Noun,
    /// What is done.
    Verb,
    /// What something is like.
    Adjective,
    /// How it is done.
    Adverb,
}

impl Part {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Noun, "noun"),
        (Self::Verb, "verb"),
        (Self::Adjective, "adj"),
        (Self::Adverb, "adv"),
    ];

    /// Of a tag of the Penn Treebank; `None`: a word of grammar.
    #[must_use]
    pub fn of_tag(tag: &str) -> Option<Self> {
        Some(match tag.get(..2)? {
            "NN" => Self::Noun,
            "VB" => Self::Verb,
            "JJ" => Self::Adjective,
            "RB" => Self::Adverb,
            _ => return None,
        })
    }

    fn of_letter(letter: &str) -> Option<Self> {
        Some(match letter {
            "n" => Self::Noun,
            "v" => Self::Verb,
            "a" | "s" => Self::Adjective,
            "r" => Self::Adverb,
            _ => return None,
        })
    }
}

/// The lexicographers' files (lexnames(5WN)) that something is asked of.
pub mod field {
    /// Acts and actions.
    pub const ACT: u8 = 4;
    /// Animals.
    pub const ANIMAL: u8 = 5;
    /// Things made by people.
    pub const ARTIFACT: u8 = 6;
    /// Attributes of people and things.
    pub const ATTRIBUTE: u8 = 7;
    /// Parts of the body.
    pub const BODY: u8 = 8;
    /// What is written and said.
    pub const COMMUNICATION: u8 = 10;
    /// What happens.
    pub const EVENT: u8 = 11;
    /// Eatables.
    pub const FOOD: u8 = 13;
    /// Groups of people or things.
    pub const GROUP: u8 = 14;
    /// Places.
    pub const LOCATION: u8 = 15;
    /// Things that nobody made.
    pub const OBJECT: u8 = 17;
    /// People.
    pub const PERSON: u8 = 18;
    /// Plants.
    pub const PLANT: u8 = 20;
    /// What is owned, money.
    pub const GOODS: u8 = 21;
    /// Substances.
    pub const SUBSTANCE: u8 = 27;
    /// Times.
    pub const TIME: u8 = 28;
    /// Eating and drinking.
    pub const CONSUMPTION: u8 = 34;
    /// Touching, hanging, fastening.
    pub const CONTACT: u8 = 35;
    /// Going, carrying.
    pub const MOTION: u8 = 38;
    /// Having, giving.
    pub const POSSESSION: u8 = 40;
    /// Being somewhere, being so.
    pub const STATIVE: u8 = 42;
}

/// How near in meaning: words of one sense, of one stem, a kind of the other or the other way round.
const SAME_SENSE: f32 = 0.9;
const SAME_STEM: f32 = 0.8;
const KIND: f32 = 0.65;
const SUBKIND: f32 = 0.6;
/// What each rarer sense of a word is worth less.
const RARER: f32 = 0.08;
/// How many senses of a word count: the commonest stand first.
const SENSES: usize = 4;
/// … of what others may be a kind of: an instrument that is played is the sixth.
const CLASSES: usize = 6;
/// How far up a kind is looked for.
const HEIGHT: usize = 8;

/// One sense of a word.
struct Sense<'a> {
    offset: u32,
    field: u8,
    /// In lower case, `_` between words.
    words: Vec<CompactString>,
    /// Kind of the pointer, part of speech and offset of what it names.
    pointers: Vec<(&'a str, Part, u32)>,
}

/// Words near in meaning, with how near they are, 0 to 1.
pub type Near = HashMap<(CompactString, Part), f32>;

/// What is known of words that were looked up.
type Known<T> = Mutex<HashMap<(CompactString, Part), Arc<T>>>;
/// Offsets of senses by the noun that they were looked up for.
type Offsets = Mutex<HashMap<CompactString, Arc<[u32]>>>;

/// So many nouns are kept.
const KEPT: usize = 16_384;

/// What is known of a noun, else what is found.
fn cached(known: &Offsets, noun: &str, find: impl FnOnce() -> Arc<[u32]>) -> Arc<[u32]> {
    let kept = || known.lock().unwrap_or_else(PoisonError::into_inner);
    let held = kept().get(noun).map(Arc::clone);
    held.unwrap_or_else(|| {
        // Looked up outside the lock: others go on.
        let found = find();
        let mut kept = kept();
        if kept.len() >= KEPT {
            kept.clear();
        }
        Arc::clone(kept.entry(noun.into()).or_insert(found))
    })
}

/// The files.
#[derive(Debug)]
pub struct Thesaurus {
    /// Of each part: the words, the senses.
    files: [(Mmap, Mmap); 4],
    /// What was looked up; grows with the words that are used.
    fields: Known<[u8]>,
    near: Known<Near>,
    contraries: Known<[CompactString]>,
    classes: Offsets,
    above: Offsets,
}

impl Thesaurus {
    /// From its files by part: `index.noun`, `data.noun`, and so on for `verb`, `adj` and `adv`.
    ///
    /// # Errors
    /// A file is missing or cannot be mapped.
    pub fn open(parts: &BTreeMap<String, PathBuf>) -> std::io::Result<Self> {
        let map = |name: String| -> std::io::Result<Mmap> {
            let path = parts.get(&name).ok_or_else(|| {
                Error::new(ErrorKind::NotFound, format!("the model has no part `{name}`"))
            })?;
            let named =
                |error: Error| Error::new(error.kind(), format!("{}: {error}", path.display()));
            let file = File::open(path).map_err(named)?;
            // SAFETY: a fetched model is never written again, only replaced under its name.
            unsafe { Mmap::map(&file) }.map_err(named)
        };
        let both = |(_, name): (Part, &str)| -> std::io::Result<(Mmap, Mmap)> {
            Ok((map(format!("index.{name}"))?, map(format!("data.{name}"))?))
        };
        let [noun, verb, adjective, adverb] = Part::ALL.map(both);
        Ok(Self {
            files: [noun?, verb?, adjective?, adverb?],
            fields: Mutex::default(),
            near: Mutex::default(),
            contraries: Mutex::default(),
            classes: Offsets::default(),
            above: Offsets::default(),
        })
    }

    /// Whether it has the lemma as that part of speech.
    #[must_use]
    pub fn has(&self, lemma: &str, part: Part) -> bool {
        self.line(lemma, part).is_some()
    }

    /// The [`field`]s of a lemma's senses, the commonest first.
    #[must_use]
    pub fn fields(&self, lemma: &str, part: Part) -> Arc<[u8]> {
        let key = (CompactString::from(lemma), part);
        if let Some(known) = self.fields.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(known);
        }
        let found: Arc<[u8]> = self.senses(lemma, part).iter().map(|sense| sense.field).collect();
        self.fields.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&found));
        found
    }

    /// Whether the commonest sense of a noun lies in that [`field`].
    #[must_use]
    pub fn is_of(&self, noun: &str, wanted: u8) -> bool {
        self.fields(noun, Part::Noun).first() == Some(&wanted)
    }

    /// Keeps nothing of what was looked up: it is of words that somebody used.
    pub fn forget(&self) {
        fn clear<K, V>(known: &Mutex<HashMap<K, V>>) {
            known.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        clear(&self.fields);
        clear(&self.near);
        clear(&self.contraries);
        clear(&self.classes);
        clear(&self.above);
    }

    /// Whether a noun is a kind of another, in common senses of both.
    #[must_use]
    pub fn is_a(&self, noun: &str, class: &str) -> bool {
        noun == class || {
            let above = self.above(noun);
            self.classes(class).iter().any(|sense| above.binary_search(sense).is_ok())
        }
    }

    /// The senses of a noun that stand for its class, by their offsets.
    fn classes(&self, class: &str) -> Arc<[u32]> {
        cached(&self.classes, class, || {
            self.senses(class, Part::Noun).iter().take(CLASSES).map(|sense| sense.offset).collect()
        })
    }

    /// Offsets of a noun's senses and of all that they are kinds of, in order.
    fn above(&self, noun: &str) -> Arc<[u32]> {
        cached(&self.above, noun, || {
            let mut level = self.senses(noun, Part::Noun);
            level.truncate(SENSES - 1);
            let mut found = BTreeSet::new();
            for _ in 0..HEIGHT {
                found.extend(level.iter().map(|sense| sense.offset));
                let above = level.iter().flat_map(|sense| &sense.pointers);
                let above = above.filter(|(kind, ..)| matches!(*kind, "@" | "@i"));
                level = above.filter_map(|&(_, part, offset)| self.sense(part, offset)).collect();
            }
            found.into_iter().collect()
        })
    }

    /// Every word near a lemma in meaning.
    #[must_use]
    pub fn near(&self, lemma: &str, part: Part) -> Arc<Near> {
        let key = (CompactString::from(lemma), part);
        if let Some(near) = self.near.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(near);
        }
        let near = Arc::new(self.find_near(lemma, part));
        self.near.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&near));
        near
    }

    fn find_near(&self, lemma: &str, part: Part) -> Near {
        let mut out = Near::new();
        let mut put = |word: CompactString, part: Part, worth: f32| {
            let held = out.entry((word, part)).or_default();
            *held = held.max(worth);
        };
        for (rank, sense) in self.senses(lemma, part).into_iter().take(SENSES).enumerate() {
            let common = 1.0 - RARER * rank as f32;
            for word in sense.words {
                put(word, part, SAME_SENSE * common);
            }
            for (kind, part, offset) in sense.pointers {
                let worth = match kind {
                    "+" => SAME_STEM,
                    "@" => KIND,
                    "~" | "$" | "^" => SUBKIND,
                    _ => continue,
                };
                for word in self.sense(part, offset).map(|sense| sense.words).unwrap_or_default() {
                    put(word, part, worth * common);
                }
            }
        }
        out
    }

    /// Whether one says the contrary of the other: "open", "closed".
    #[must_use]
    pub fn is_opposite(&self, one: &str, other: &str, part: Part) -> bool {
        let key = (CompactString::from(one), part);
        let known =
            self.contraries.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let words = known.unwrap_or_else(|| {
            let found: Arc<[CompactString]> = self.find_contraries(one, part).into();
            let mut kept = self.contraries.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(kept.entry(key).or_insert(found))
        });
        words.iter().any(|word| word == other)
    }

    fn find_contraries(&self, lemma: &str, part: Part) -> Vec<CompactString> {
        let senses = self.senses(lemma, part);
        let pointers = senses.iter().take(SENSES).flat_map(|sense| &sense.pointers);
        let contraries = pointers.filter(|(kind, ..)| *kind == "!");
        let senses = contraries.filter_map(|&(_, part, offset)| self.sense(part, offset));
        senses.flat_map(|sense| sense.words).collect()
    }

    /// The line of a word in its index; the licence in front begins with blanks, which sort before every word.
    fn line(&self, lemma: &str, part: Part) -> Option<&str> {
        let file: &[u8] = &self.files[part as usize].0;
        let (mut low, mut high) = (0, file.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let start = file[..middle].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
            let length =
                file[start..].iter().position(|&b| b == b'\n').unwrap_or(file.len() - start);
            let line = std::str::from_utf8(&file[start..start + length]).ok()?;
            match line.split(' ').next().unwrap_or("").cmp(lemma) {
                Ordering::Equal => return Some(line.trim_end()),
                Ordering::Less => low = start + length + 1,
                Ordering::Greater => high = start,
            }
        }
        None
    }

    /// The senses of a lemma, the commonest first.
    fn senses(&self, lemma: &str, part: Part) -> Vec<Sense<'_>> {
        let read = || -> Option<Vec<Sense<'_>>> {
            let fields: Vec<&str> = self.line(lemma, part)?.split(' ').collect();
            let count: usize = fields.get(2)?.parse().ok()?;
            let pointers: usize = fields.get(3)?.parse().ok()?;
            let offsets = fields.get(4 + pointers + 2..)?.iter().take(count);
            Some(offsets.filter_map(|offset| self.sense(part, offset.parse().ok()?)).collect())
        };
        read().unwrap_or_default()
    }

    fn sense(&self, part: Part, offset: u32) -> Option<Sense<'_>> {
        let file: &[u8] = &self.files[part as usize].1;
        let rest = file.get(offset as usize..)?;
        let end = rest.iter().position(|&b| b == b'\n')?;
        let mut fields = std::str::from_utf8(&rest[..end]).ok()?.split(' ').skip(1);
        let field = fields.next()?.parse().ok()?;
        let count = usize::from_str_radix(fields.nth(1)?, 16).ok()?;
        let mut words = Vec::with_capacity(count);
        for _ in 0..count {
            let word = fields.next()?;
            words.push(word.split('(').next().unwrap_or(word).to_lowercase().into());
            fields.next()?;
        }
        let count: usize = fields.next()?.parse().ok()?;
        let mut pointers = Vec::with_capacity(count);
        for _ in 0..count {
            let kind = fields.next()?;
            let target = fields.next()?.parse().ok()?;
            pointers.push((kind, Part::of_letter(fields.next()?)?, target));
            fields.next()?;
        }
        Some(Sense { offset, field, words, pointers })
    }
}
