//! Scoring by BM25 (Robertson & Zaragoza 2009), with early termination by MaxScore (Turtle & Flood 1995).
//!
//! Words are taken in from the rarest to the commonest. Once the best documents so far have more than all words
//! left can give, no other document can come among them; where the lists left are long, they are then only
//! looked up for the few that may still win, and for single documents that are asked for. Behind a narrow filter
//! nothing is read at all, only looked up. The result is exactly that of scoring every document; a test holds it
//! against that.

use std::cell::{RefCell, RefMut};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;

use super::lexical::{B, K1, Posting};
use crate::memory::idset::IdSet;
use crate::memory::versions::log::{CHUNK, Log};
use crate::memory::view::facets::{Facet, beside};

/// What a match is worth one remark before, one after, and two away.
const ASIDE: [f32; 3] = [0.5, 0.5, 0.35];
/// Documents with the best words of their own, whose neighbourhood is looked at.
const LOOKED_AT: usize = 400;
/// Sums of single precision may be off by so much.
const ROUNDING: f32 = 1e-4;
/// Looking a document up in a list takes as long as reading so many postings on.
const LOOK_UP: usize = 12;
/// Looking up instead of reading at all pays where at most one in so many documents counts.
const NARROW: usize = 16;

/// Neighbourhoods are asked for so many before they are read.
const SOON: usize = 8;
/// Scores that are looked at together: most parts hold none that is wanted.
const AT_ONCE: usize = 64;
/// Parts of a list are asked for so many before they are read.
const CHUNKS_SOON: usize = 2;

/// What words are worth by how often they are in a document of so many terms, but for their rarity.
struct Saturation {
    /// Terms of a document, on average.
    mean: f32,
    /// Of short documents, which nearly all are: dividing for each posting would take longer than to read it.
    short: Vec<f32>,
}

impl Saturation {
    /// Counts and lengths whose worth is at hand.
    const COUNTS: usize = 4;
    const LENGTHS: usize = 128;

    fn new(mean: f32) -> Self {
        let mut one = Self { mean, short: Vec::new() };
        let lengths = || 0..Self::LENGTHS as u16;
        let all = (0..Self::COUNTS as u16).flat_map(|count| lengths().map(move |len| (count, len)));
        one.short = all.map(|(count, length)| one.of(count, length)).collect();
        one
    }

    fn of(&self, count: u16, length: u16) -> f32 {
        let tf = f32::from(count);
        let norm = K1 * (1.0 - B + B * f32::from(length) / self.mean);
        tf * (K1 + 1.0) / (tf + norm)
    }

    fn get(&self, posting: &Posting) -> f32 {
        let (count, length) = (usize::from(posting.count), usize::from(posting.length));
        if count < Self::COUNTS && length < Self::LENGTHS {
            self.short[count * Self::LENGTHS + length]
        } else {
            self.of(posting.count, posting.length)
        }
    }
}

/// A word of the query: the lists of all terms that mean the same.
#[derive(Clone)]
pub(in crate::memory) struct Term {
    /// Postings, and how many of them the reader knows.
    pub(in crate::memory) lists: Vec<(Log<Posting>, usize)>,
    pub(in crate::memory) idf: f32,
}

impl Term {
    /// More than it gives any document.
    fn most(&self) -> f32 {
        self.idf * (K1 + 1.0)
    }

    /// Postings in all.
    fn len(&self) -> usize {
        self.lists.iter().map(|(_, known)| known).sum()
    }

    /// Every one of `docs` documents that has it, once: of several lists the first that holds it counts.
    fn each(&self, docs: usize, mut visit: impl FnMut(&Posting)) {
        let several = self.lists.len() > 1;
        let mut counted = vec![0_u64; if several { docs.div_ceil(64) } else { 0 }];
        for (postings, known) in &self.lists {
            if !several {
                // Chunk by chunk: most of the time goes here.
                for chunk in 0..known.div_ceil(CHUNK) {
                    postings.ask_for((chunk + CHUNKS_SOON) * CHUNK, CHUNK);
                    let here = postings.chunk(chunk);
                    here[..here.len().min(known - chunk * CHUNK)].iter().for_each(&mut visit);
                }
                continue;
            }
            for posting in postings.iter().take(*known) {
                let (word, bit) = (posting.doc as usize / 64, 1 << (posting.doc % 64));
                if counted[word] & bit == 0 {
                    counted[word] |= bit;
                    visit(posting);
                }
            }
        }
    }

    /// Those of the documents (ascending) that have it, by their place.
    fn of_sorted(&self, docs: &[u32], mut visit: impl FnMut(usize, &Posting)) {
        if let [(postings, _)] = self.lists.as_slice() {
            return merge(postings, docs, visit);
        }
        let mut found = vec![false; docs.len()];
        for (postings, _) in &self.lists {
            merge(postings, docs, |place, posting| {
                if !found[place] {
                    found[place] = true;
                    visit(place, posting);
                }
            });
        }
    }
}

/// Postings of the documents (ascending), chunk by chunk.
fn merge(postings: &Log<Posting>, docs: &[u32], mut visit: impl FnMut(usize, &Posting)) {
    let chunks = postings.len().div_ceil(CHUNK);
    let (mut chunk, mut from) = (0, 0);
    for (place, doc) in docs.iter().enumerate() {
        while chunk < chunks && postings.chunk(chunk).last().is_some_and(|last| last.doc < *doc) {
            (chunk, from) = (chunk + 1, 0);
        }
        let here = postings.chunk(chunk);
        if here.is_empty() {
            return;
        }
        from += here[from..].partition_point(|posting| posting.doc < *doc);
        if let Some(posting) = here.get(from).filter(|posting| posting.doc == *doc) {
            visit(place, posting);
        }
    }
}

/// Rows of scores that are used again: the system hands a fresh one out page by page, which takes longer than to read
/// the lists.
#[derive(Default)]
pub(in crate::memory) struct Scratch(Mutex<Vec<Vec<f32>>>);

impl Scratch {
    /// Rows that are kept.
    const KEPT: usize = 2;

    fn zeros(&self, len: usize) -> Vec<f32> {
        let mut row = self.rows().pop().unwrap_or_default();
        row.clear();
        row.resize(len, 0.0);
        row
    }

    fn give_back(&self, row: Vec<f32>) {
        let mut rows = self.rows();
        if rows.len() < Self::KEPT {
            rows.push(row);
        }
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, Vec<Vec<f32>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A query's scores: of the best documents, and of any that is asked for.
pub(crate) struct Scores {
    scratch: Arc<Scratch>,
    /// The rarest first.
    terms: Vec<Term>,
    docs: usize,
    saturation: Saturation,
    best: f32,
    read: RefCell<Option<Read>>,
    known: RefCell<HashMap<u32, f32, RandomState>>,
}

/// What the words read so far give every document.
struct Read {
    scores: Vec<f32>,
    /// Terms read.
    taken: usize,
    /// More than the others give any document.
    left: f32,
}

impl Drop for Scores {
    fn drop(&mut self) {
        if let Some(read) = self.read.take() {
            self.scratch.give_back(read.scores);
        }
    }
}

impl Scores {
    /// Of the first `docs` documents; `best`: more than any can have.
    pub(in crate::memory) fn new(
        scratch: &Arc<Scratch>,
        mut terms: Vec<Term>,
        docs: usize,
        mean: f32,
        best: f32,
    ) -> Self {
        // Stable: equally rare words stay in the query's order, so that sums are the same every time.
        terms.sort_by(|a, b| b.idf.total_cmp(&a.idf));
        let (read, known) = Default::default();
        let (scratch, saturation) = (Arc::clone(scratch), Saturation::new(mean));
        Self { scratch, terms, docs, saturation, best, read, known }
    }

    /// More than any document can have.
    pub(crate) fn best(&self) -> f32 {
        self.best
    }

    /// Reads lists until nothing new can come among the best, and the rest is better looked up.
    fn begun(&self) -> RefMut<'_, Read> {
        RefMut::map(self.read.borrow_mut(), |read| {
            read.get_or_insert_with(|| {
                let all: f32 = self.terms.iter().map(Term::most).sum();
                let left = all;
                let len = if self.terms.is_empty() { 0 } else { self.docs };
                let scores = self.scratch.zeros(len);
                let mut read = Read { scores, taken: 0, left };
                let mut postings = self.postings();
                while let Some(term) = self.terms.get(read.taken) {
                    // What is read must have given more than what is left can; and with fewer postings left than
                    // there are documents, finding the best so far takes longer than to read on.
                    if all - read.left > read.left && postings > self.docs {
                        let best = best_scores(&read.scores, LOOKED_AT);
                        let least = best.get(LOOKED_AT - 1).map_or(0.0, |(_, score)| *score);
                        if least > read.left + ROUNDING {
                            break;
                        }
                    }
                    postings -= term.len();
                    self.take_in(term, &mut read);
                }
                read
            })
        })
    }

    /// Postings of all words.
    fn postings(&self) -> usize {
        self.terms.iter().map(Term::len).sum()
    }

    fn take_in(&self, term: &Term, read: &mut Read) {
        term.each(self.docs, |posting| {
            read.scores[posting.doc as usize] += term.idf * self.saturation.get(posting);
        });
        read.taken += 1;
        read.left -= term.most();
    }

    /// Score of a document's own words.
    pub(crate) fn own(&self, doc: u32) -> f32 {
        if let Some(read) = self.read.borrow().as_ref()
            && read.taken == self.terms.len()
        {
            return read.scores.get(doc as usize).copied().unwrap_or(0.0);
        }
        if let Some(known) = self.known.borrow().get(&doc) {
            return *known;
        }
        self.look_up(&[doc]);
        self.known.borrow().get(&doc).copied().unwrap_or(0.0)
    }

    /// Whether all lists are read.
    pub(crate) fn is_read(&self) -> bool {
        self.read.borrow().as_ref().is_some_and(|read| read.taken == self.terms.len())
    }

    /// Looks up the scores of documents (ascending) at once, where they are not read anyway.
    pub(crate) fn look_up(&self, docs: &[u32]) {
        if self.is_read() {
            return;
        }
        let docs: Vec<u32> = {
            let known = self.known.borrow();
            docs.iter().copied().filter(|doc| !known.contains_key(doc)).collect()
        };
        let scores = self.sums(&docs);
        self.known.borrow_mut().extend(docs.into_iter().zip(scores));
    }

    /// Scores of documents (ascending): what is read of them, and the rest looked up.
    fn sums(&self, docs: &[u32]) -> Vec<f32> {
        let read = self.read.borrow();
        let (mut sums, taken) = match read.as_ref() {
            Some(read) => {
                let score = |doc: &u32| read.scores.get(*doc as usize).copied().unwrap_or(0.0);
                (docs.iter().map(score).collect(), read.taken)
            }
            None => (vec![0.0; docs.len()], 0),
        };
        self.add(&self.terms[taken..], docs, &mut sums);
        sums
    }

    fn add(&self, terms: &[Term], docs: &[u32], scores: &mut [f32]) {
        for term in terms {
            term.of_sorted(docs, |place, posting| {
                if (posting.doc as usize) < self.docs {
                    scores[place] += term.idf * self.saturation.get(posting);
                }
            });
        }
    }

    /// Score of the remarks around a document, and which of them has the most.
    pub(crate) fn around(&self, facets: &Log<Facet>, doc: u32) -> (f32, Option<u32>) {
        let (mut sum, mut strongest, mut most) = (0.0, None, 0.0);
        for forward in [false, true] {
            let mut at = doc;
            for distance in 0..2 {
                let Some(next) = beside(facets, at, self.docs, forward) else { break };
                at = next;
                let weight = ASIDE[if distance == 1 { 2 } else { usize::from(forward) }];
                let gain = weight * self.own(at);
                sum += gain;
                if gain > most {
                    (most, strongest) = (gain, Some(at));
                }
            }
        }
        (sum, strongest)
    }

    /// A document and the remarks around it.
    pub(crate) fn neighbourhood(&self, facets: &Log<Facet>, doc: u32, into: &mut Vec<u32>) {
        into.push(doc);
        for forward in [false, true] {
            let next = beside(facets, doc, self.docs, forward);
            into.extend(next);
            into.extend(next.and_then(|next| beside(facets, next, self.docs, forward)));
        }
    }

    /// The `most` documents with the best words of their own among those given (ascending), or all; best first.
    fn best_own(&self, most: usize, among: Option<&[u32]>) -> Vec<(u32, f32)> {
        if most == 0 {
            return Vec::new();
        }
        let among =
            among.map(|docs| &docs[..docs.partition_point(|doc| (*doc as usize) < self.docs)]);
        let unread = self.read.borrow().is_none();
        if let Some(docs) = among
            && unread
            && docs.len() * NARROW <= self.docs
        {
            let sums = self.sums(docs);
            self.known.borrow_mut().extend(docs.iter().copied().zip(sums.iter().copied()));
            return best_of(docs.iter().copied().zip(sums), most);
        }
        let taken = self.begun().taken;
        let best = |scores: &[f32]| match among {
            None => best_scores(scores, most),
            Some(docs) => best_of(docs.iter().map(|doc| (*doc, scores[*doc as usize])), most),
        };
        let mut read = self.begun();
        if read.scores.is_empty() {
            return Vec::new();
        }
        let found = best(&read.scores);
        if taken == self.terms.len() {
            return found;
        }
        let least = found.get(most - 1).map_or(0.0, |(_, score)| *score);
        let bound = least - read.left - ROUNDING;
        if bound > 0.0 {
            let may_win = |doc: &u32| read.scores[*doc as usize] >= bound;
            let docs: Vec<u32> = match among {
                None => at_least(&read.scores, bound),
                Some(docs) => docs.iter().copied().filter(may_win).collect(),
            };
            if !self.rather_reads(docs.len(), taken) {
                drop(read);
                let sums = self.sums(&docs);
                self.known.borrow_mut().extend(docs.iter().copied().zip(sums.iter().copied()));
                return best_of(docs.into_iter().zip(sums), most);
            }
        }
        // Among those given others may still win, or too many may: everything is read.
        self.read_on(&mut read);
        best(&read.scores)
    }

    /// Whether reading the lists that are left is quicker than looking so many documents up in them.
    fn rather_reads(&self, docs: usize, taken: usize) -> bool {
        let left = &self.terms[taken..];
        docs * left.len() * LOOK_UP > left.iter().map(Term::len).sum::<usize>()
    }

    /// Reads all that is left.
    fn read_on(&self, read: &mut Read) {
        while let Some(term) = self.terms.get(read.taken) {
            self.take_in(term, read);
        }
    }

    /// The `k` documents with the best words of their own among those that `keep` lets pass, best first.
    pub(crate) fn top(&self, k: usize, keep: &mut dyn FnMut(u32) -> bool) -> Vec<(u32, f32)> {
        // Some more than wanted, then many more: few do not pass.
        let mut most = k.saturating_mul(2).saturating_add(16);
        loop {
            let best = self.best_own(most, None);
            let all = best.len() < most;
            let found: Vec<(u32, f32)> =
                best.into_iter().filter(|(doc, _)| keep(*doc)).take(k).collect();
            if found.len() == k || all {
                return found;
            }
            most = most.saturating_mul(8);
        }
    }

    /// The `k` documents with the best words of their own and around them, best first; scores count both.
    pub(crate) fn top_in_context(
        &self,
        facets: &Log<Facet>,
        k: usize,
        among: Option<&IdSet>,
        keep: &mut dyn FnMut(u32) -> bool,
    ) -> Vec<(u32, f32)> {
        let best = self.best_own(LOOKED_AT, among.map(IdSet::docs));
        let mut near: Vec<u32> = Vec::with_capacity(best.len() * 5);
        for (place, (doc, _)) in best.iter().enumerate() {
            if let Some((soon, _)) = best.get(place + SOON) {
                facets.ask_for(soon.saturating_sub(2) as usize, 5);
            }
            self.neighbourhood(facets, *doc, &mut near);
        }
        near.sort_unstable();
        near.dedup();
        // Where everything is read, nothing needs to be looked up.
        if !self.is_read() {
            let mut wide: Vec<u32> = Vec::with_capacity(near.len() * 2);
            for doc in &near {
                self.neighbourhood(facets, *doc, &mut wide);
            }
            wide.sort_unstable();
            wide.dedup();
            let begun = self.read.borrow().as_ref().map(|read| read.taken);
            match begun.filter(|taken| self.rather_reads(wide.len(), *taken)) {
                Some(_) => self.read_on(&mut self.begun()),
                None => self.look_up(&wide),
            }
        }
        let scored = near.into_iter().map(|doc| (doc, self.own(doc) + self.around(facets, doc).0));
        ranked(scored.collect(), k, keep)
    }
}

/// The `most` best of the scores of all documents, best first; documents without any are left out.
fn best_scores(scores: &[f32], most: usize) -> Vec<(u32, f32)> {
    let mut best = Best::new(most);
    for (part, here) in scores.chunks(AT_ONCE).enumerate() {
        let mut any = false;
        for score in here {
            any |= *score > best.floor;
        }
        if any {
            for (at, score) in here.iter().enumerate() {
                best.offer((part * AT_ONCE + at) as u32, *score);
            }
        }
    }
    best.sorted()
}

/// Documents with a score of `bound` or more.
fn at_least(scores: &[f32], bound: f32) -> Vec<u32> {
    let mut found = Vec::new();
    for (part, here) in scores.chunks(AT_ONCE).enumerate() {
        let mut any = false;
        for score in here {
            any |= *score >= bound;
        }
        if any {
            let places = (0..).zip(here).filter(|(_, score)| **score >= bound);
            found.extend(places.map(|(at, _)| (part * AT_ONCE) as u32 + at));
        }
    }
    found
}

/// The same of documents (ascending) with their scores.
fn best_of(all: impl Iterator<Item = (u32, f32)>, most: usize) -> Vec<(u32, f32)> {
    let mut best = Best::new(most);
    all.for_each(|(doc, score)| best.offer(doc, score));
    best.sorted()
}

/// The best so far of documents that come in order.
struct Best {
    most: usize,
    found: Vec<(u32, f32)>,
    /// What does not have more is not among the best: of equals the first comes first.
    floor: f32,
}

impl Best {
    fn new(most: usize) -> Self {
        Self { most, found: Vec::new(), floor: 0.0 }
    }

    fn offer(&mut self, doc: u32, score: f32) {
        if score <= self.floor {
            return;
        }
        self.found.push((doc, score));
        if self.found.len() >= self.most.saturating_mul(4) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.found.len() > self.most {
            let (_, last, _) = self.found.select_nth_unstable_by(self.most - 1, in_order);
            self.floor = last.1;
            self.found.truncate(self.most);
        }
    }

    fn sorted(mut self) -> Vec<(u32, f32)> {
        self.cut();
        self.found.sort_unstable_by(in_order);
        self.found
    }
}

fn ranked(
    mut all: Vec<(u32, f32)>,
    k: usize,
    keep: &mut dyn FnMut(u32) -> bool,
) -> Vec<(u32, f32)> {
    let mut found = Vec::with_capacity(k.min(all.len()));
    let mut from = 0;
    // Some more than wanted are put in order, then all: few do not pass.
    let mut step = k.saturating_mul(2).saturating_add(16);
    while found.len() < k && from < all.len() {
        let to = from.saturating_add(step).min(all.len());
        if to < all.len() {
            all[from..].select_nth_unstable_by(to - from - 1, in_order);
        }
        all[from..to].sort_unstable_by(in_order);
        let wanted = k - found.len();
        found.extend(all[from..to].iter().copied().filter(|(doc, _)| keep(*doc)).take(wanted));
        from = to;
        step = step.saturating_mul(8);
    }
    found
}

fn in_order(a: &(u32, f32), b: &(u32, f32)) -> std::cmp::Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, count: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % count
        }
    }

    /// Lists of words from rare to everywhere, some of two lists.
    fn terms(random: &mut Random, docs: usize, words: usize) -> Vec<Term> {
        (0..words)
            .map(|word| {
                let one_in = match word {
                    0 => 5 + random.below(100),
                    _ => 1 + random.below(4),
                };
                let lists = (0..1 + usize::from(word % 3 == 2))
                    .map(|_| {
                        let mut log = Log::default();
                        for doc in 0..docs as u32 {
                            if random.below(one_in) == 0 {
                                let (count, length) =
                                    (1 + random.below(4) as u16, 3 + random.below(40) as u16);
                                log.push(Posting { doc, count, length });
                            }
                        }
                        let known = log.len();
                        (log, known)
                    })
                    .collect::<Vec<_>>();
                let df = lists.iter().map(|(_, known)| *known).max().unwrap() as f32;
                let idf = (1.0 + (docs as f32 - df + 0.5) / (df + 0.5)).ln();
                Term { lists, idf }
            })
            .collect()
    }

    /// Scores of every document, in the order of [`Scores`].
    fn exhaustive(scores: &Scores) -> Vec<(u32, f32)> {
        let mut all = vec![0.0_f32; scores.docs];
        for term in &scores.terms {
            term.each(scores.docs, |posting| {
                all[posting.doc as usize] += term.idf * scores.saturation.get(posting);
            });
        }
        let mut found: Vec<(u32, f32)> =
            all.into_iter().enumerate().map(|(doc, score)| (doc as u32, score)).collect();
        found.retain(|(_, score)| *score > 0.0);
        found.sort_unstable_by(in_order);
        found
    }

    #[test]
    fn early_termination_changes_nothing() {
        let mut random = Random(11);
        let mut stopped = 0;
        for round in 0..60 {
            let docs = 500 + random.below(20_000) as usize;
            let words = 1 + random.below(4) as usize;
            let scores =
                Scores::new(&Arc::default(), terms(&mut random, docs, words), docs, 20.0, 1.0);
            let all = exhaustive(&scores);
            for most in [1, 10, 100, 400] {
                let found = scores.best_own(most, None);
                assert_eq!(
                    found,
                    all[..most.min(all.len())],
                    "round {round}, {words} words, {most}"
                );
                stopped += usize::from(scores.begun().taken < scores.terms.len());
            }
            let early = scores.begun().taken < scores.terms.len();
            let odd = |doc: u32| doc % 2 == 1;
            let wanted: Vec<_> =
                all.iter().copied().filter(|(doc, _)| odd(*doc)).take(50).collect();
            let odds: Vec<u32> = (0..docs as u32 + 100).filter(|doc| odd(*doc)).collect();
            assert_eq!(scores.best_own(50, Some(&odds)), wanted);
            // A few are only looked up.
            let few: Vec<u32> = (0..docs as u32).filter(|doc| doc % 31 == 3).collect();
            let wanted: Vec<_> =
                all.iter().copied().filter(|(doc, _)| doc % 31 == 3).take(20).collect();
            let fresh = Scores::new(&scores.scratch, scores.terms.clone(), docs, 20.0, 1.0);
            assert_eq!(fresh.best_own(20, Some(&few)), wanted);
            assert!(fresh.read.borrow().is_none());
            let rare = |doc: u32| doc % 97 == 5;
            let wanted: Vec<_> =
                all.iter().copied().filter(|(doc, _)| rare(*doc)).take(9).collect();
            assert_eq!(scores.top(9, &mut { rare }), wanted);
            // Single documents have the same score, bit for bit, read or looked up.
            for (doc, score) in all.iter().step_by(37) {
                let mut sum = [0.0];
                scores.add(&scores.terms, &[*doc], &mut sum);
                assert_eq!(sum[0].to_bits(), score.to_bits(), "{early}");
                assert_eq!(scores.own(*doc).to_bits(), score.to_bits(), "{early}");
            }
        }
        assert!(stopped > 5, "{stopped}");
    }

    /// Not a test: prints how long both take. `ENGRAM_TEST_COUNT` documents.
    #[test]
    #[ignore = "prints figures"]
    fn measure_early_termination() {
        let docs = std::env::var("ENGRAM_TEST_COUNT").map_or(100_000, |text| text.parse().unwrap());
        let mut random = Random(5);
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..40 {
            let words = 3 + random.below(5) as usize;
            let mut made = Some(terms(&mut random, docs, words));
            let scores = Scores::new(&Arc::default(), made.take().unwrap(), docs, 20.0, 1.0);
            let begun = std::time::Instant::now();
            let found = scores.best_own(LOOKED_AT, None);
            with.push(begun.elapsed().as_secs_f64() * 1e3);
            let begun = std::time::Instant::now();
            let mut all = exhaustive_unsorted(&scores);
            all.select_nth_unstable_by(LOOKED_AT - 1, in_order);
            all.truncate(LOOKED_AT);
            without.push(begun.elapsed().as_secs_f64() * 1e3);
            assert_eq!(found.len(), all.len());
        }
        for (what, times) in [("with", &mut with), ("without", &mut without)] {
            times.sort_by(f64::total_cmp);
            println!(
                "{docs} documents, {what}: p50 {:.2} ms, worst {:.2} ms",
                times[20], times[39]
            );
        }
    }

    fn exhaustive_unsorted(scores: &Scores) -> Vec<(u32, f32)> {
        let mut all = vec![0.0_f32; scores.docs];
        let mut touched = Vec::new();
        for term in &scores.terms {
            term.each(scores.docs, |posting| {
                let score = &mut all[posting.doc as usize];
                if *score == 0.0 {
                    touched.push(posting.doc);
                }
                *score += term.idf * scores.saturation.get(posting);
            });
        }
        touched.into_iter().map(|doc| (doc, all[doc as usize])).collect()
    }
}
