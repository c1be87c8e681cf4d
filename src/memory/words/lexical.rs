//! The lexical index: words of memories, ranked by BM25 ([`super::bm25`]).
//!
//! A document is a version of a memory, by its position in the table's log. Function words are left out.
//! A remark is also worth what the remarks around it say: an answer seldom repeats the words of the
//! question that was put just before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use bytemuck::{Pod, Zeroable};
use dashmap::DashMap;
use foldhash::fast::RandomState;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use crate::ids::EntityId;
use crate::mention;

use super::bm25::{Scores, Scratch, Term};
use crate::memory::model::MemoryRow;
use crate::memory::versions::log::Log;
use crate::memory::versions::persist::{Persist as _, Reader, Writer};
use crate::memory::versions::shelf::Shelf;
use crate::memory::versions::temporal::{Touched, Version};

/// Term saturation and weight of the text's length: chosen on all of LoCoMo's first five conversations.
pub(in crate::memory) const K1: f32 = 0.9;
pub(in crate::memory) const B: f32 = 0.3;
/// Words whose stems are kept at hand.
const WORDS_KEPT: usize = 50_000;

/// In place of the number of a term.
const FUNCTION_WORD: u64 = u64::MAX;

/// A list is written anew for each so many versions in it that nobody sees any more.
const MOST_FOR_EACH: usize = 64;

/// English function words: everywhere, and telling nothing.
const FUNCTION_WORDS: &str = " a an the of to in on at by for with from and or but if then than so as is are was \
    were be been being am do does did done has have had having will would can could shall should may might \
    must i you he she it we they me him her us them my your his its our their this that these those there \
    here what which who whom whose when where why how not no nor just about into over after before up down \
    out off again too very any all some such it's i'm don't didn't that's i've ";

fn is_function_word(word: &str) -> bool {
    // A word never holds a space, so it is found only as a whole.
    FUNCTION_WORDS.find(word).is_some_and(|_| FUNCTION_WORDS.contains(&format!(" {word} ")))
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(in crate::memory) struct Posting {
    pub(in crate::memory) doc: u32,
    pub(in crate::memory) count: u16,
    /// Terms of the document.
    pub(in crate::memory) length: u16,
}

/// Inverted index over memory versions, by their position in the table's log.
pub(crate) struct Lexical {
    shelf: Arc<Shelf>,
    postings: DashMap<Arc<str>, Log<Posting>>,
    /// Terms of each version and of all before it.
    lengths: ArcSwap<Log<u64>>,
    terms: Mutex<Terms>,
    scratch: Arc<Scratch>,
}

/// The terms of the index by number.
#[derive(Default)]
struct Terms {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32, RandomState>,
    /// Of entities met so far.
    entities: HashMap<EntityId, u32, RandomState>,
    /// Of words met so far that of their stem: stemming is most of the work of taking in a text. `None` for function
    /// words.
    words: HashMap<String, Option<u32>, RandomState>,
}

impl Terms {
    fn number(&mut self, term: &str) -> u32 {
        if let Some(known) = self.numbers.get(term) {
            return *known;
        }
        let (name, number) = (Arc::<str>::from(term), self.names.len() as u32);
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, number);
        number
    }

    /// That of the word's stem; `None` for a function word.
    fn of_word(&mut self, stemmer: &Stemmer, word: &str) -> Option<u32> {
        if let Some(known) = self.words.get(word) {
            return *known;
        }
        let bare = bare(word);
        let stem = (!is_function_word(&bare)).then(|| self.number(&stemmer.stem(&bare)));
        if self.words.len() < WORDS_KEPT {
            self.words.insert(word.to_owned(), stem);
        }
        stem
    }

    /// Those of a memory: its words and the entities it is about.
    fn of(&mut self, row: &MemoryRow, stemmer: &Stemmer) -> Vec<u32> {
        let mentions = mention::mentions(&row.text);
        let plain = match mentions.is_empty() {
            true => std::borrow::Cow::Borrowed(row.text.as_str()),
            false => mention::render(&row.text, |_| " ".to_owned()).into(),
        };
        let mut terms: Vec<u32> =
            plain.unicode_words().filter_map(|word| self.of_word(stemmer, word)).collect();
        let mut entities: Vec<_> = mentions.into_iter().map(|mention| mention.entity).collect();
        for entity in &row.entities {
            if !entities.contains(entity) {
                entities.push(*entity);
            }
        }
        terms.extend(entities.into_iter().map(|entity| self.of_entity(entity)));
        terms
    }

    /// Nobody has those any more.
    fn lose(&mut self, lost: &BTreeSet<u32>) {
        if lost.is_empty() {
            return;
        }
        for number in lost {
            let name = std::mem::replace(&mut self.names[*number as usize], Arc::from(""));
            self.numbers.remove(&name);
        }
        self.entities.retain(|_, number| !lost.contains(number));
        self.words.retain(|_, number| number.is_none_or(|number| !lost.contains(&number)));
    }

    fn of_entity(&mut self, entity: EntityId) -> u32 {
        if let Some(known) = self.entities.get(&entity) {
            return *known;
        }
        let number = self.number(&format!("<{entity}>"));
        self.entities.insert(entity, number);
        number
    }
}

/// What erasing changes in a term's list.
#[derive(Default)]
struct Change {
    removed: BTreeSet<u32>,
    added: Vec<Posting>,
    /// Somebody would see it otherwise.
    must: bool,
}

fn bare(word: &str) -> String {
    let lower = word.to_lowercase().replace('’', "'");
    match lower.strip_suffix("'s") {
        Some(bare) => bare.to_owned(),
        None => lower,
    }
}

/// Lower-cased stems of a text's words.
#[must_use]
pub fn stems(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.unicode_words().map(|word| stemmer.stem(&bare(word)).into_owned()).collect()
}

/// The same without function words.
pub(crate) fn telling_stems(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.unicode_words()
        .map(bare)
        .filter(|word| !is_function_word(word))
        .map(|word| stemmer.stem(&word).into_owned())
        .collect()
}

/// Inverse document frequency as BM25 has it; never negative.
fn idf(docs: usize, df: f32) -> f32 {
    (1.0 + (docs as f32 - df + 0.5) / (df + 0.5)).ln()
}

/// A word of a query: terms that mean the same (everything that stands for one person).
pub(crate) type Concept = BTreeSet<String>;

impl Lexical {
    /// An empty one, whose lists are to lie on that shelf.
    pub(crate) fn on(shelf: Arc<Shelf>) -> Self {
        let (postings, lengths, terms, scratch) = Default::default();
        Self { shelf, postings, lengths, terms, scratch }
    }

    /// Takes in versions, the first of which stands at `first` in the log; all before it are in.
    pub(crate) fn append(
        &self,
        first: usize,
        versions: &mut dyn Iterator<Item = Version<MemoryRow>>,
    ) {
        let mut lengths = Log::clone(&self.lengths.load());
        let stemmer = Stemmer::create(Algorithm::English);
        let mut terms = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        // Term and document as one number: quicker to put in order than the two.
        let mut fresh: Vec<(u64, Posting)> = Vec::new();
        let mut sum = lengths.iter().next_back().copied().unwrap_or(0);
        for (doc, version) in (first..).zip(versions) {
            let mut own = terms.of(&version.row, &stemmer);
            sum += own.len() as u64;
            lengths.push(sum);
            let length = own.len().min(usize::from(u16::MAX)) as u16;
            own.sort_unstable();
            for run in own.chunk_by(|a, b| a == b) {
                let count = run.len().min(usize::from(u16::MAX)) as u16;
                let posting = Posting { doc: doc as u32, count, length };
                fresh.push((u64::from(run[0]) << 32 | u64::from(posting.doc), posting));
            }
        }
        fresh.sort_unstable_by_key(|(key, _)| *key);
        let term = |key: u64| (key >> 32) as usize;
        for of_term in fresh.chunk_by(|a, b| term(a.0) == term(b.0)) {
            let name = Arc::clone(&terms.names[term(of_term[0].0)]);
            let full = {
                let mut list = self.postings.entry(name).or_default();
                of_term.iter().for_each(|(_, posting)| list.push(*posting));
                list.is_to_settle().then(|| (Arc::clone(list.key()), Log::clone(&list)))
            };
            // Written aside: whoever reads beside does not wait for the disk.
            if let Some((name, mut list)) = full {
                list.settle(&self.shelf);
                self.postings.insert(name, list);
            }
        }
        lengths.settle(&self.shelf);
        self.lengths.store(Arc::new(lengths));
    }

    /// Takes out what erased and rewritten memories say no more. Lists of words that only they held are gone; of longer
    /// ones nothing is rewritten for versions that nobody sees any more.
    pub(crate) fn strike(&self, touched: &[Touched<MemoryRow>]) {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut terms = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changes: BTreeMap<u32, Change> = BTreeMap::new();
        for one in touched {
            let counted = |row: &MemoryRow, terms: &mut Terms| {
                let mut own = terms.of(row, &stemmer);
                let length = own.len().min(usize::from(u16::MAX)) as u16;
                own.sort_unstable();
                let runs = own.chunk_by(|a, b| a == b);
                let count = |run: &[u32]| run.len().min(usize::from(u16::MAX)) as u16;
                let of: BTreeMap<u32, u16> = runs.map(|run| (run[0], count(run))).collect();
                (of, length)
            };
            let (old, _) = counted(&one.old, &mut terms);
            let (new, length) = match &one.new {
                Some(row) => counted(row, &mut terms),
                None => Default::default(),
            };
            for term in old.keys().filter(|term| !new.contains_key(term)) {
                let change = changes.entry(*term).or_default();
                change.removed.insert(one.at);
                change.must |= one.new.is_some();
            }
            for (term, count) in new.iter().filter(|(term, _)| !old.contains_key(term)) {
                let change = changes.entry(*term).or_default();
                change.added.push(Posting { doc: one.at, count: *count, length });
                change.must = true;
            }
        }
        let mut lost = BTreeSet::new();
        for (number, change) in changes {
            let name = Arc::clone(&terms.names[number as usize]);
            let list = self.postings.get(&name).map(|list| list.clone()).unwrap_or_default();
            if !change.must && list.len() > MOST_FOR_EACH * change.removed.len() {
                continue;
            }
            let kept = list.iter().filter(|posting| !change.removed.contains(&posting.doc));
            let mut kept: Vec<Posting> = kept.copied().chain(change.added).collect();
            if kept.is_empty() {
                self.postings.remove(&name);
                lost.insert(number);
                continue;
            }
            kept.sort_by_key(|posting| posting.doc);
            let mut list = Log::default();
            kept.into_iter().for_each(|posting| list.push(posting));
            list.settle(&self.shelf);
            self.postings.insert(name, list);
        }
        terms.lose(&lost);
    }

    pub(crate) fn save(&self, to: &mut Writer<'_>) {
        let terms = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        to.number(terms.names.len() as u64);
        for name in &terms.names {
            to.text(name);
            // (Nobody has a term that was lost.)
            let list = self.postings.get(name).map(|list| list.clone()).unwrap_or_default();
            list.save(to);
        }
        let entities: BTreeMap<_, _> = terms.entities.iter().collect();
        to.number(entities.len() as u64);
        for (entity, number) in entities {
            to.text(&entity.to_string());
            to.number(u64::from(*number));
        }
        let words: BTreeMap<_, _> = terms.words.iter().collect();
        to.number(words.len() as u64);
        for (word, number) in words {
            to.text(word);
            to.number(number.map_or(FUNCTION_WORD, u64::from));
        }
        self.lengths.load().save(to);
    }

    /// Reads what [`Self::save`] wrote.
    pub(crate) fn load(&self, from: &mut Reader<'_>) -> Option<()> {
        let mut terms = Terms::default();
        for number in 0..from.count()? {
            let name: Arc<str> = from.text()?.into();
            let list = Log::load(from)?;
            if list.len() > 0 {
                self.postings.insert(Arc::clone(&name), list);
                terms.numbers.insert(Arc::clone(&name), number as u32);
            }
            terms.names.push(name);
        }
        let known = |number: u64| (number < terms.names.len() as u64).then_some(number as u32);
        for _ in 0..from.count()? {
            let entity = from.text()?.parse().ok()?;
            terms.entities.insert(entity, known(from.number()?)?);
        }
        for _ in 0..from.count()? {
            let (word, number) = (from.text()?.to_owned(), from.number()?);
            let number = if number == FUNCTION_WORD { None } else { Some(known(number)?) };
            terms.words.insert(word, number);
        }
        self.lengths.store(Arc::new(Log::load(from)?));
        *self.terms.lock().unwrap_or_else(PoisonError::into_inner) = terms;
        Some(())
    }

    /// How many versions are in.
    pub(crate) fn len(&self) -> usize {
        self.lengths.load().len()
    }

    /// The words met so far that begin with that letter and that `keep` takes, in lower case, each with its stem.
    pub(crate) fn words(
        &self,
        first: char,
        keep: impl Fn(&str) -> bool,
    ) -> Vec<(String, Arc<str>)> {
        let begins = |word: &str| {
            word.chars().next().is_some_and(|letter| letter.to_lowercase().eq([first]))
        };
        let terms = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        // (Nothing is put down while they are looked through: most are done with at the first letter.)
        let words = terms.words.iter().filter(|(word, _)| begins(word));
        let stemmed = words.filter_map(|(word, number)| Some((bare(word), (*number)?)));
        let kept = stemmed.filter(|(word, _)| keep(word));
        kept.map(|(word, number)| (word, Arc::clone(&terms.names[number as usize]))).collect()
    }

    /// How many of the first `docs` versions hold a stem.
    pub(crate) fn frequency(&self, term: &str, docs: usize) -> usize {
        let among = |posting: &Posting| (posting.doc as usize) < docs;
        self.postings.get(term).map_or(0, |list| list.partition_point(among))
    }

    /// How rare a stem is among the first `docs` versions: its inverse document frequency.
    pub(crate) fn rarity(&self, term: &str, docs: usize) -> f32 {
        idf(docs, self.frequency(term, docs) as f32)
    }

    /// Scores of the first `docs` versions for the concepts.
    pub(crate) fn score(&self, concepts: &BTreeSet<Concept>, docs: usize) -> Scores {
        let lengths = self.lengths.load();
        let docs = docs.min(lengths.len());
        let total = docs.checked_sub(1).and_then(|at| lengths.get(at)).copied().unwrap_or(0);
        let mean = (total as f32 / docs.max(1) as f32).max(1.0);
        let mut found: Vec<Term> = Vec::new();
        let mut best = 0.0;
        for terms in concepts {
            let lists: Vec<(Log<Posting>, usize)> = terms
                .iter()
                .filter_map(|term| {
                    let list = self.postings.get(term.as_str())?.clone();
                    let known = list.partition_point(|posting| (posting.doc as usize) < docs);
                    (known > 0).then_some((list, known))
                })
                .collect();
            // Lists of terms that mean the same overlap; the longest tells enough.
            let df = lists.iter().map(|(_, known)| *known).max().unwrap_or(0) as f32;
            let idf = idf(docs, df);
            best += idf;
            if df > 0.0 {
                found.push(Term { lists, idf });
            }
        }
        // Words that are everywhere cost much and tell little.
        let everywhere = |term: &Term| term.lists.iter().any(|(_, known)| known * 4 > docs);
        if docs > 1000 && !found.iter().all(everywhere) {
            found.retain(|term| !everywhere(term));
        }
        Scores::new(&self.scratch, found, docs, mean, best * (K1 + 1.0))
    }
}
