//! The lexical index: words of memories, ranked by BM25.

use std::collections::BTreeSet;
use std::sync::Arc;

use arc_swap::ArcSwap;
use dashmap::DashMap;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use crate::mention;

use super::model::MemoryRow;
use super::temporal::{Log, Version};

/// Term saturation.
const K1: f64 = 1.2;
/// Weight of the text's length.
const B: f64 = 0.75;

#[derive(Clone, Copy, Debug)]
struct Posting {
    doc: u32,
    count: u16,
}

/// Inverted index over memory versions, by their position in the table's log.
#[derive(Default)]
pub(crate) struct Lexical {
    postings: DashMap<Arc<str>, Log<Posting>>,
    /// Terms of each version and of all before it.
    lengths: ArcSwap<Log<(u32, u64)>>,
}

/// Lower-cased stems of a text's words.
#[must_use]
pub fn stems(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.unicode_words()
        .map(|word| {
            let lower = word.to_lowercase();
            let lower = lower.replace('’', "'");
            let bare = lower.strip_suffix("'s").unwrap_or(&lower);
            stemmer.stem(bare).into_owned()
        })
        .collect()
}

fn terms(row: &MemoryRow) -> Vec<String> {
    let mut terms = stems(&mention::render(&row.text, |_| " ".to_owned()));
    let mut entities: Vec<_> =
        mention::mentions(&row.text).into_iter().map(|mention| mention.entity).collect();
    for entity in &row.entities {
        if !entities.contains(entity) {
            entities.push(*entity);
        }
    }
    terms.extend(entities.into_iter().map(|entity| format!("<{entity}>")));
    terms
}

/// Postings of terms that mean the same: one for each version, with the largest count.
fn union(mut lists: Vec<Log<Posting>>) -> Log<Posting> {
    if lists.len() < 2 {
        return lists.pop().unwrap_or_default();
    }
    let mut all: Vec<Posting> = lists.iter().flat_map(|list| list.iter().copied()).collect();
    all.sort_unstable_by_key(|posting| (posting.doc, std::cmp::Reverse(posting.count)));
    all.dedup_by_key(|posting| posting.doc);
    let mut merged = Log::default();
    for posting in all {
        merged.push(posting);
    }
    merged
}

impl Lexical {
    /// Takes in the versions that are not in yet.
    pub(crate) fn append(&self, log: &Log<Arc<Version<MemoryRow>>>) {
        let mut lengths = Log::clone(&self.lengths.load());
        for doc in lengths.len()..log.len() {
            let Some(version) = log.get(doc) else { break };
            let mut terms = terms(&version.row);
            let before =
                doc.checked_sub(1).and_then(|at| lengths.get(at)).map_or(0, |(_, sum)| *sum);
            lengths.push((terms.len() as u32, before + terms.len() as u64));
            terms.sort_unstable();
            for run in terms.chunk_by(|a, b| a == b) {
                let posting =
                    Posting { doc: doc as u32, count: run.len().min(usize::from(u16::MAX)) as u16 };
                match self.postings.get_mut(run[0].as_str()) {
                    Some(mut postings) => postings.push(posting),
                    None => self.postings.entry(run[0].as_str().into()).or_default().push(posting),
                }
            }
        }
        self.lengths.store(Arc::new(lengths));
    }

    /// Versions with their scores, best first. Each of `concepts` is a set of terms that mean the same (a
    /// word; everything that stands for one person); `docs` is how many versions the reader knows, `keep`
    /// says which of them count.
    pub(crate) fn search(
        &self,
        concepts: &BTreeSet<BTreeSet<String>>,
        docs: usize,
        k: usize,
        mut keep: impl FnMut(u32) -> bool,
    ) -> Vec<(u32, f32)> {
        let lengths = self.lengths.load();
        let docs = docs.min(lengths.len());
        let Some(total) = docs.checked_sub(1).and_then(|at| lengths.get(at)).map(|(_, sum)| *sum)
        else {
            return Vec::new();
        };
        let mean = (total as f64 / docs as f64).max(1.0);
        let mut lists: Vec<(Log<Posting>, usize)> = concepts
            .iter()
            .filter_map(|terms| {
                let lists: Vec<_> = terms
                    .iter()
                    .filter_map(|term| Some(self.postings.get(term.as_str())?.clone()))
                    .collect();
                let postings = union(lists);
                let known = postings.partition_point(|posting| (posting.doc as usize) < docs);
                (known > 0).then_some((postings, known))
            })
            .collect();
        // Words that are everywhere cost much and tell little.
        if docs > 1000 && lists.iter().any(|(_, known)| known * 4 <= docs) {
            lists.retain(|(_, known)| known * 4 <= docs);
        }
        let mut scores = vec![0.0_f32; docs];
        let mut touched = Vec::new();
        for (postings, known) in &lists {
            let (n, df) = (docs as f64, *known as f64);
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            for posting in postings.iter().take(*known) {
                let at = posting.doc as usize;
                let length = lengths.get(at).map_or(0, |(length, _)| *length);
                let tf = f64::from(posting.count);
                let norm = K1 * (1.0 - B + B * f64::from(length) / mean);
                let score = (idf * tf * (K1 + 1.0) / (tf + norm)) as f32;
                if scores[at] == 0.0 {
                    touched.push(posting.doc);
                }
                scores[at] += score;
            }
        }
        touched.sort_unstable_by(|a, b| {
            scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b))
        });
        touched
            .into_iter()
            .filter(|doc| keep(*doc))
            .take(k)
            .map(|doc| (doc, scores[doc as usize]))
            .collect()
    }
}
