//! The lexical index: words of memories, ranked by BM25 ([`super::bm25`]).
//!
//! A document is a version of a memory, by its position in the table's log. Function words are left out.
//! A remark is also worth what the remarks around it say: an answer seldom repeats the words of the
//! question that was put just before.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use dashmap::DashMap;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use crate::mention;

use super::bm25::{Scores, Term};
use super::log::Log;
use super::model::MemoryRow;
use super::shelf::{Plain, Shelf};
use super::versions::Versions;

/// Term saturation and weight of the text's length: chosen on all of LoCoMo's first five conversations.
pub(super) const K1: f32 = 0.9;
pub(super) const B: f32 = 0.3;
/// Stems kept at hand.
const STEMS_KEPT: usize = 50_000;

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

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Posting {
    pub(super) doc: u32,
    pub(super) count: u16,
    /// Terms of the document.
    pub(super) length: u16,
}

// SAFETY: numbers side by side; the two narrow ones fill the place of a wide one: no padding.
unsafe impl Plain for Posting {}

/// Inverted index over memory versions, by their position in the table's log.
pub(crate) struct Lexical {
    shelf: Arc<Shelf>,
    postings: DashMap<Arc<str>, Log<Posting>>,
    /// Terms of each version and of all before it.
    lengths: ArcSwap<Log<u64>>,
    words: Mutex<Words>,
}

/// Stems of words met so far: stemming is most of the work of taking in a text.
#[derive(Default)]
struct Words(HashMap<String, Option<Arc<str>>>);

impl Words {
    /// The stem; `None` for a function word.
    fn stem(&mut self, stemmer: &Stemmer, word: &str) -> Option<Arc<str>> {
        if let Some(known) = self.0.get(word) {
            return known.clone();
        }
        let bare = bare(word);
        let stem = (!is_function_word(&bare)).then(|| Arc::from(stemmer.stem(&bare)));
        if self.0.len() < STEMS_KEPT {
            self.0.insert(word.to_owned(), stem.clone());
        }
        stem
    }
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
        let (postings, lengths, words) = Default::default();
        Self { shelf, postings, lengths, words }
    }

    /// Takes in the versions that are not in yet.
    pub(crate) fn append(&self, log: &Versions<MemoryRow>) {
        let mut lengths = Log::clone(&self.lengths.load());
        let stemmer = Stemmer::create(Algorithm::English);
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fresh: HashMap<Arc<str>, Vec<Posting>> = HashMap::new();
        let mut sum = lengths.iter().next_back().copied().unwrap_or(0);
        for (doc, version) in (lengths.len()..).zip(log.iter_from(lengths.len())) {
            let mut terms = terms(&version.row, &mut words, &stemmer);
            sum += terms.len() as u64;
            lengths.push(sum);
            let length = terms.len().min(usize::from(u16::MAX)) as u16;
            terms.sort_unstable();
            for run in terms.chunk_by(|a, b| a == b) {
                let count = run.len().min(usize::from(u16::MAX)) as u16;
                let posting = Posting { doc: doc as u32, count, length };
                match fresh.get_mut(&run[0]) {
                    Some(postings) => postings.push(posting),
                    None => drop(fresh.insert(Arc::clone(&run[0]), vec![posting])),
                }
            }
        }
        #[allow(clippy::iter_over_hash_type)] // each term has a list of its own
        for (term, postings) in fresh {
            let mut list = self.postings.entry(term).or_default();
            for posting in postings {
                list.push(posting);
            }
            list.settle(&self.shelf);
        }
        lengths.settle(&self.shelf);
        self.lengths.store(Arc::new(lengths));
    }

    /// How many versions are in.
    pub(crate) fn len(&self) -> usize {
        self.lengths.load().len()
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
        Scores::new(found, docs, mean, best * (K1 + 1.0))
    }
}

fn terms(row: &MemoryRow, words: &mut Words, stemmer: &Stemmer) -> Vec<Arc<str>> {
    let mentions = mention::mentions(&row.text);
    let plain = match mentions.is_empty() {
        true => std::borrow::Cow::Borrowed(row.text.as_str()),
        false => mention::render(&row.text, |_| " ".to_owned()).into(),
    };
    let mut terms: Vec<Arc<str>> =
        plain.unicode_words().filter_map(|word| words.stem(stemmer, word)).collect();
    let mut entities: Vec<_> = mentions.into_iter().map(|mention| mention.entity).collect();
    for entity in &row.entities {
        if !entities.contains(entity) {
            entities.push(*entity);
        }
    }
    terms.extend(entities.into_iter().map(|entity| Arc::from(format!("<{entity}>"))));
    terms
}
