//! Searching a view: by vector, by words, behind a filter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::{EntityId, MemoryId};
use crate::mention;
use crate::percept::Embedding;
use crate::time::Span;

use super::View;
use super::facets::Columns;
use super::filter::Filter;
use crate::memory::idset::IdSet;
use crate::memory::model::MemoryRow;
use crate::memory::vectors::{EXACT_UP_TO, Look, Shown, best_of};
use crate::memory::versions::log::CHUNK;
use crate::memory::versions::temporal::Temporal as _;
use crate::memory::words::bm25::Scores;
use crate::memory::words::kin::with_kin;
use crate::memory::words::lexical::{Concept, stems, telling_stems};

/// Memories that are looked at because they hold words of a place's name, at most.
const NAMING: usize = 1000;

impl View {
    /// The `k` memories whose vectors are most similar (cosine) and that pass the filter, best first.
    #[must_use]
    pub fn nearest(&self, query: &Embedding, k: usize, filter: &Filter) -> Vec<(MemoryId, f32)> {
        self.nearest_among(query, k, filter, self.passing(filter).as_ref())
    }

    /// The same; `among` are the memories that pass ([`Self::passing`]).
    pub(crate) fn nearest_among(
        &self,
        query: &Embedding,
        k: usize,
        filter: &Filter,
        among: Option<&IdSet>,
    ) -> Vec<(MemoryId, f32)> {
        self.nearest_looked(&Look::new(query), k, filter, among)
    }

    /// The same; `look` keeps what several searches by one vector have in common.
    pub(crate) fn nearest_looked(
        &self,
        look: &Look<'_>,
        k: usize,
        filter: &Filter,
        among: Option<&IdSet>,
    ) -> Vec<(MemoryId, f32)> {
        let query = look.query();
        let vectors = &self.tables.vectors;
        let admits = |id| self.admits(id, filter);
        if let Some(among) = among
            && among.len() <= EXACT_UP_TO
        {
            let rows =
                among.iter().filter_map(|id| vectors.current(&(id, query.model), &self.horizon));
            return best_of(rows, &query.values, k, &admits);
        }
        let shown = Shown { table: vectors, horizon: &self.horizon, admits: &admits };
        self.tables.index.nearest(look, k, among, &shown)
    }

    /// The `k` memories whose words (and entities) match best and that pass the filter, by BM25, best first.
    #[must_use]
    pub fn lexical(&self, query: &str, k: usize, filter: &Filter) -> Vec<(MemoryId, f32)> {
        self.by_words(&self.concepts(query), k, filter)
    }

    /// The same, words that are kin to the query's among them.
    #[must_use]
    pub(crate) fn lexical_with_kin(
        &self,
        query: &str,
        k: usize,
        filter: &Filter,
    ) -> Vec<(MemoryId, f32)> {
        self.by_words(&with_kin(self.concepts(query)).collect(), k, filter)
    }

    fn by_words(
        &self,
        concepts: &BTreeSet<Concept>,
        k: usize,
        filter: &Filter,
    ) -> Vec<(MemoryId, f32)> {
        let words = self.words(concepts);
        let passing = self.passing(filter);
        let mut keep = words.filter(filter, passing.as_ref());
        let hits = words.scores.top(k, &mut keep);
        hits.into_iter().filter_map(|(doc, score)| Some((words.id(doc)?, score))).collect()
    }

    /// How well every memory's words match the concepts.
    pub(crate) fn words(&self, concepts: &BTreeSet<Concept>) -> Words<'_> {
        let docs = self.tables.memories.log().partition_point(|seq| seq <= self.seq());
        let columns = self.tables.facets.load();
        let scores = self.tables.lexical.score(concepts, docs);
        Words { view: self, scores, columns, said: self.words_said_now(concepts, docs) }
    }

    /// How well what was said in the open window matches the concepts: as if each stood once in a sentence of mean length.
    fn words_said_now(&self, concepts: &BTreeSet<Concept>, docs: usize) -> BTreeMap<MemoryId, f32> {
        let score = |row: &MemoryRow| {
            let mut terms: BTreeSet<String> =
                stems(&mention::render(&row.text, |_| " ".to_owned())).into_iter().collect();
            terms.extend(row.entities.iter().map(|id| format!("<{id}>")));
            let held = concepts.iter().filter(|concept| !concept.is_disjoint(&terms));
            let rarity = |concept: &Concept| {
                let rarities = concept.iter().map(|term| self.tables.lexical.rarity(term, docs));
                rarities.reduce(f32::min).unwrap_or(0.0)
            };
            held.map(rarity).sum::<f32>()
        };
        self.said.iter().map(|one| (one.row.id, score(&one.row))).collect()
    }

    /// Memories of the open window that pass.
    pub(crate) fn said_passing<'a>(
        &'a self,
        filter: &'a Filter,
    ) -> impl Iterator<Item = MemoryId> + 'a {
        let passing = self.said.iter().filter(|one| self.admits_row(&one.row, filter));
        passing.map(|one| one.row.id)
    }

    /// A text's telling words as stems, less the names of `named`, each with its rarity in this memory (BM25's
    /// inverse document frequency).
    #[must_use]
    pub fn telling(&self, text: &str, named: &[EntityId]) -> Vec<(String, f32)> {
        let docs = self.tables.memories.log().partition_point(|seq| seq <= self.seq());
        let stems = self.words_beside(text, named).into_iter().flatten();
        stems
            .map(|stem| {
                let rarity = self.tables.lexical.rarity(&stem, docs);
                (stem, rarity)
            })
            .collect()
    }

    /// Whether each telling word of `text` was ever said, told or written.
    #[must_use]
    pub fn is_mentioned(&self, text: &str) -> bool {
        let docs = self.tables.memories.log().partition_point(|seq| seq <= self.seq());
        let words = telling_stems(text);
        let now: BTreeSet<String> = self.said.iter().flat_map(|one| stems(&one.row.text)).collect();
        let is_known =
            |word: &String| now.contains(word) || self.tables.lexical.frequency(word, docs) > 0;
        !words.is_empty() && words.iter().all(is_known)
    }

    /// A text's telling words, less the names of `named`.
    pub(crate) fn words_beside(&self, text: &str, named: &[EntityId]) -> BTreeSet<Concept> {
        let mut words: BTreeSet<String> =
            telling_stems(&mention::render(text, |_| " ".to_owned())).into_iter().collect();
        for id in named {
            for row in self.names(*id) {
                words.retain(|word| !stems(&row.name).contains(word));
            }
            words.remove(&stems(&id.to_string()).concat());
        }
        words.into_iter().map(|word| Concept::from([word])).collect()
    }

    /// The query's words as stems; everyone it names as one concept: all ids and one-word names.
    fn concepts(&self, query: &str) -> BTreeSet<Concept> {
        let plain = mention::render(query, |_| " ".to_owned());
        let mut named: BTreeSet<EntityId> = self.named_in(&plain).into_iter().collect();
        named.extend(mention::mentions(query).iter().map(|mention| self.resolve(mention.entity)));
        let people: Vec<Concept> = named
            .into_iter()
            .map(|id| {
                let names = self.names(id).into_iter().map(|row| stems(&row.name));
                let words = names.filter(|words| words.len() == 1).flatten();
                words.chain(self.same_as(id).iter().map(|id| format!("<{id}>"))).collect()
            })
            .collect();
        let words = telling_stems(&plain).into_iter();
        let mut concepts: BTreeSet<Concept> = words
            .filter(|word| !people.iter().any(|terms| terms.contains(word)))
            .map(|word| Concept::from([word]))
            .collect();
        concepts.extend(people);
        concepts
    }

    /// Whether the version of the memory that this view shows passes.
    fn admits(&self, id: MemoryId, filter: &Filter) -> bool {
        let memories = &self.tables.memories;
        if filter.is_open() {
            return memories.position(&id, &self.horizon).is_some();
        }
        let version = memories.current(&id, &self.horizon);
        version.is_some_and(|version| self.admits_row(&version.row, filter))
    }

    /// Whether a row passes.
    pub(crate) fn admits_row(&self, row: &MemoryRow, filter: &Filter) -> bool {
        let is_one = |entity: &EntityId| {
            let resolved = self.resolve(*entity);
            filter.entities.iter().any(|wanted| self.resolve(*wanted) == resolved)
        };
        filter.admits(row)
            && (filter.entities.is_empty()
                || row.entities.iter().any(is_one)
                || row.links().iter().any(is_one))
    }

    /// Memories of which some version passes the filter; `None` when all do.
    pub(crate) fn passing(&self, filter: &Filter) -> Option<IdSet> {
        if filter.is_open() {
            return None;
        }
        let mut passing = IdSet::default();
        let table = &self.tables.memories;
        let columns = self.tables.facets.load();
        let chunks = columns.len().div_ceil(CHUNK);
        if filter.entities.is_empty() {
            table.chunks_touching(filter.span, chunks, |chunk| {
                for (doc, facet) in (chunk * CHUNK..).zip(columns.facets.chunk(chunk)) {
                    if facet.passes(filter)
                        && let Some(id) = columns.id(doc)
                    {
                        passing.insert_version(id, doc as u32);
                    }
                }
            });
            return Some(passing);
        }
        let mut docs = self.versions_about(filter, chunks);
        let rest = Filter { entities: Vec::new(), ..filter.clone() };
        if !rest.is_open() {
            let passes = |doc: usize| columns.facets.get(doc).is_some_and(|it| it.passes(&rest));
            docs.retain(|doc| passes(*doc as usize));
        }
        columns.ids_of(&docs, |doc, id| passing.insert_version(id, doc));
        Some(passing)
    }

    /// Those of them of which some version was made while the robot stayed somewhere (`stays` in time order and apart from
    /// each other), or holds words of a place's names, best first: its stems, or its id as a mention.
    pub(crate) fn passing_at(
        &self,
        filter: &Filter,
        stays: &[Span],
        names: &BTreeSet<Concept>,
    ) -> IdSet {
        let columns = self.tables.facets.load();
        let mut docs: BTreeSet<u32> = BTreeSet::new();
        if let (Some(first), Some(last)) = (stays.first(), stays.last()) {
            let hull = Some(Span::new(first.start, last.end));
            let chunks = columns.len().div_ceil(CHUNK);
            self.tables.memories.chunks_touching(hull, chunks, |chunk| {
                let here = (chunk * CHUNK..).zip(columns.facets.chunk(chunk));
                let during = here.filter(|(_, facet)| facet.is_during(stays));
                docs.extend(during.map(|(doc, _)| doc as u32));
            });
        }
        let named = self.words(names).scores.top(NAMING, &mut |_| true);
        docs.extend(named.into_iter().map(|(doc, _)| doc));
        let docs: Vec<u32> = docs.into_iter().collect();
        let among = self.passing(filter);
        let mut passing = IdSet::default();
        columns.ids_of(&docs, |doc, id| {
            if among.as_ref().is_none_or(|among| among.contains(id)) {
                passing.insert_version(id, doc);
            }
        });
        passing
    }

    /// Positions of versions about the filter's entities, ascending; outside its span there may be too many.
    fn versions_about(&self, filter: &Filter, chunks: usize) -> Vec<u32> {
        let table = &self.tables.memories;
        let ids: BTreeSet<EntityId> =
            filter.entities.iter().flat_map(|entity| self.same_as(*entity)).collect();
        let mut docs: Vec<u32> = Vec::new();
        for id in &ids {
            let about = table.positions_of(*id);
            if filter.span.is_none() {
                about.chunks().for_each(|chunk| docs.extend_from_slice(chunk));
                continue;
            }
            table.chunks_touching(filter.span, chunks, |chunk| {
                let (first, end) = ((chunk * CHUNK) as u32, ((chunk + 1) * CHUNK) as u32);
                let from = about.partition_point(|doc| *doc < first);
                docs.extend(about.iter_from(from).take_while(|doc| **doc < end));
            });
        }
        if ids.len() > 1 {
            docs.sort_unstable();
            docs.dedup();
        }
        docs
    }
}

/// How well the memories of a view match some words.
pub(crate) struct Words<'v> {
    view: &'v View,
    scores: Scores,
    columns: Arc<Columns>,
    /// Of the open window, by memory.
    said: BTreeMap<MemoryId, f32>,
}

impl Words<'_> {
    /// The best there can be.
    pub(crate) fn best(&self) -> f32 {
        self.scores.best()
    }

    /// The `k` memories with the best words of their own and around them, best first.
    pub(crate) fn top(&self, k: usize, filter: &Filter, among: Option<&IdSet>) -> Vec<MemoryId> {
        let mut keep = self.filter(filter, among);
        let hits = self.scores.top_in_context(&self.columns.facets, k, among, &mut keep);
        hits.into_iter().filter_map(|(doc, _)| self.id(doc)).collect()
    }

    /// Looks up at once what [`Self::of`] will be asked.
    pub(crate) fn look_up(&self, ids: impl Iterator<Item = MemoryId>) {
        if self.scores.is_read() {
            return;
        }
        let memories = &self.view.tables.memories;
        let mut docs = Vec::new();
        for id in ids {
            if let Some(doc) = memories.position(&id, &self.view.horizon) {
                self.scores.neighbourhood(&self.columns.facets, doc, &mut docs);
            }
        }
        docs.sort_unstable();
        docs.dedup();
        self.scores.look_up(&docs);
    }

    /// Score of a memory's own words; of those around it; and the one beside it that matches best.
    pub(crate) fn of(&self, id: MemoryId) -> (f32, f32, Option<MemoryId>) {
        let memories = &self.view.tables.memories;
        let Some(doc) = memories.position(&id, &self.view.horizon) else {
            return (self.said.get(&id).copied().unwrap_or(0.0), 0.0, None);
        };
        let (around, strongest) = self.scores.around(&self.columns.facets, doc);
        (self.scores.own(doc), around, strongest.and_then(|doc| self.id(doc)))
    }

    fn id(&self, doc: u32) -> Option<MemoryId> {
        self.columns.id(doc as usize)
    }

    fn filter<'a>(
        &'a self,
        filter: &'a Filter,
        among: Option<&'a IdSet>,
    ) -> impl FnMut(u32) -> bool + 'a {
        move |doc| {
            let Some(id) = self.id(doc) else { return false };
            if among.is_some_and(|among| !among.contains(id)) {
                return false;
            }
            let (memories, horizon) = (&self.view.tables.memories, &self.view.horizon);
            memories.position(&id, horizon) == Some(doc)
                && (filter.is_open()
                    || memories
                        .current(&id, horizon)
                        .is_some_and(|version| self.view.admits_row(&version.row, filter)))
        }
    }
}
