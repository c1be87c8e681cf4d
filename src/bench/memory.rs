//! A large memory: how fast it is filled, searched and opened: `bench memory`.
//!
//! Memories are turns of real conversations, over and over: each repeat's vector is the turn's own, moved
//! by seeded noise to a cosine of about 0.85, so that neighbours are near and no two are equal. Thirty of
//! them make a clip's transaction. Queries are the conversations' questions.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::BenchError;
use super::conversations::{locomo, utterance};
use super::random::SplitMix64;
use super::readers::{self, BesideWriter};
use super::scratch;
use crate::answer::{Effort, Question};
use crate::config::Config;
use crate::daemon::assemble::Knowledge;
use crate::ids::{ClipId, EntityId, EntityKind, MemoryId, ModelHash, Seq, SessionId};
use crate::memory::model::{Clip, NameRow, NameSource};
use crate::memory::{DERIVED, Filter, Look, Memory, View};
use crate::percept::Embedding;
use crate::recall::{Query, recall};
use crate::time::{Span, Timestamp};

/// Memories of one clip's transaction.
pub(super) const PER_CLIP: usize = 30;
pub(super) const CLIP_SECS: f64 = 30.0;
/// Length of the noise that is added to a unit vector: cosine about 1 / sqrt(1 + 0.62²) = 0.85.
const NOISE: f32 = 0.62;
/// Queries measured.
const QUERIES: usize = 500;
/// Queries before them, not measured.
const WARM_UP: usize = 10;
/// The newest commits, whose times are told.
const LAST_COMMITS: usize = 100;
pub(super) const K: usize = 10;
const SEED: u64 = 384;

/// Median and 99th percentile, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Latency {
    pub(super) fn of(times: &mut [f64]) -> Self {
        Self { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
    }
}

/// Median and 95th percentile, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CommitLatency {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
}

/// `bench memory`. One query at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MemoryFigures {
    /// Memories in the store.
    pub memories: usize,
    /// Recall: words, vector, a person and six hours in as hints, fused list with texts out.
    pub recall_ms: Latency,
    /// Recall under conditions, in turn: one person; one hour; one person within an hour.
    pub filtered_ms: Latency,
    /// The vector index alone, the way that `recall.vectors` says.
    pub index_ms: Latency,
    /// Until all vectors that are to stand in cells do, one thread, seconds.
    pub gathered_secs: f64,
    /// A whole `fast` question, answered; what was said was parsed before, as a daemon does within minutes of its start.
    pub answer_ms: Latency,
    /// Embedding a question, median.
    pub embed_ms: f64,
    /// Of the 10 nearest by brute force, those that the index finds.
    pub recall_at_10: f64,
    /// The same under the conditions of `filtered_ms`.
    pub filtered_recall_at_10: f64,
    /// Inserted, durable and searchable, vectors given: over the last 100 commits.
    pub inserts_per_sec: f64,
    /// A clip's commit, over the last 100.
    pub commit_ms: CommitLatency,
    /// A fresh process after a regular stop: from its start to its first recall.
    pub start_secs: f64,
    /// The same where nothing derived is kept, as after a kill: all rows are read.
    pub rebuilt_start_secs: f64,
    /// Bytes that the first of them wrote; null where the system tells none.
    pub start_written: Option<u64>,
    /// Its anonymous memory (RssAnon) after 50 recalls over a built index; null where the system tells none.
    pub anon_mb: Option<f64>,
    /// Size of the store's folder without what is derived, MB.
    pub store_mb: f64,
    /// Size of what is derived from it for the next start, MB.
    pub derived_mb: f64,
    /// Many readers beside a writer, where that was asked for; only then do the figures after it count the
    /// memories that it wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside_writer: Option<BesideWriter>,
}

/// What the fresh process tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColdStart {
    /// From its start to its first recall.
    pub start_secs: f64,
    /// Bytes that it wrote until then; null where the system tells none.
    pub written: Option<u64>,
    /// RssAnon, MB.
    pub anon_mb: Option<f64>,
}

/// Texts, vectors and queries.
pub(super) struct Corpus {
    pub(super) turns: Vec<(String, String, Embedding)>,
    pub(super) queries: Vec<(String, Embedding)>,
    embed_ms: f64,
}

/// Fills a temporary store with `count` memories and measures it; with `readers`, also that many at once beside a
/// writer.
///
/// # Errors
/// When the corpus, the sentence embedder or the store fails.
pub fn measure(
    config: &Config,
    count: usize,
    corpus: &Path,
    readers: usize,
) -> Result<MemoryFigures, BenchError> {
    let (store, config) = scratch::store(config)?;
    let knowledge = Knowledge::open(&config)?;
    let corpus = embed_corpus(&knowledge, corpus)?;
    let memory = &knowledge.memory;
    let mut filler = Filler::new(&corpus);
    let mut figures = fill(memory, &mut filler, count)?;
    let begun = Instant::now();
    while memory.gather_vectors() {}
    figures.gathered_secs = begun.elapsed().as_secs_f64();
    figures.memories = count;
    figures.embed_ms = corpus.embed_ms;
    query(memory, &corpus, &mut figures);
    figures.answer_ms = ask(&knowledge, &corpus)?;
    if readers > 0 {
        figures.beside_writer = Some(readers::measure(memory, &mut filler, &corpus, readers)?);
    }
    // The fresh process opens the store beside no other.
    drop(knowledge);
    let derived = config.store_dir().join(DERIVED);
    figures.derived_mb = folder_bytes(&derived) as f64 * 1e-6;
    figures.store_mb = folder_bytes(store.path()) as f64 * 1e-6;
    let cold: ColdStart = in_a_fresh_process(&config, store.path(), "start")?;
    (figures.start_secs, figures.start_written) = (cold.start_secs, cold.written);
    figures.anon_mb = cold.anon_mb;
    std::fs::remove_dir_all(&derived)
        .map_err(|source| BenchError::Io { path: derived.clone(), source })?;
    let anew: ColdStart = in_a_fresh_process(&config, store.path(), "start")?;
    figures.rebuilt_start_secs = anew.start_secs;
    Ok(figures)
}

pub(super) fn embed_corpus(knowledge: &Knowledge, path: &Path) -> Result<Corpus, BenchError> {
    let Some(text) = &knowledge.text else {
        let reasons = knowledge.degraded.join("; ");
        return Err(BenchError::NoModel { job: "sentences", reasons });
    };
    let conversations = locomo::read(path)?;
    let said: Vec<(String, String)> = conversations
        .iter()
        .flat_map(|conversation| conversation.sittings.iter().flatten())
        .map(|turn| (turn.speaker.clone(), turn.sentence()))
        .collect();
    let asked: Vec<&str> = conversations
        .iter()
        .flat_map(|conversation| &conversation.questions)
        .map(|asked| asked.text.as_str())
        .collect();
    if said.is_empty() || asked.is_empty() {
        let reason = "it holds no turns or no questions".to_owned();
        return Err(BenchError::TooLittle { path: path.to_owned(), reason });
    }
    eprintln!("embedding {} turns", said.len());
    let turns = said
        .into_par_iter()
        .map(|(speaker, sentence)| {
            let vector = text.embed(&sentence)?;
            Ok((speaker, sentence, vector))
        })
        .collect::<Result<_, BenchError>>()?;
    let step = (asked.len() / (QUERIES + WARM_UP)).max(1);
    let mut times = Vec::new();
    let mut queries = Vec::new();
    for question in asked.into_iter().step_by(step).take(QUERIES + WARM_UP) {
        let begun = Instant::now();
        queries.push((question.to_owned(), text.embed(question)?));
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(Corpus { turns, queries, embed_ms: quantile(&mut times, 0.5) })
}

/// The first instant of the memory.
fn beginning() -> Timestamp {
    Timestamp::from_nanos(1_772_323_200_000_000_000) // 2026-03-01
}

pub(super) fn fill(
    memory: &Memory,
    filler: &mut Filler<'_>,
    count: usize,
) -> Result<MemoryFigures, BenchError> {
    let clips = count.div_ceil(PER_CLIP);
    let mut times: Vec<Inserted> = Vec::new();
    for index in 0..clips {
        times.push(filler.insert(memory, PER_CLIP.min(count - index * PER_CLIP))?);
        if clips >= 10 && index % (clips / 10) == 0 {
            eprintln!("{} of {count} memories", index * PER_CLIP);
        }
    }
    let last = &times[times.len().saturating_sub(LAST_COMMITS)..];
    let mut commits: Vec<f64> = last.iter().map(|inserted| inserted.commit_secs * 1e3).collect();
    let secs: f64 = last.iter().map(|inserted| inserted.secs).sum();
    let inserted: usize = last.iter().map(|inserted| inserted.memories).sum();
    Ok(MemoryFigures {
        inserts_per_sec: inserted as f64 / f64::max(secs, 1e-9),
        commit_ms: CommitLatency {
            p50: quantile(&mut commits, 0.5),
            p95: quantile(&mut commits, 0.95),
        },
        ..MemoryFigures::default()
    })
}

/// What a memory's vector is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Made {
    /// Its turn's, moved by noise to a cosine of about 0.85: every turn has copies.
    #[default]
    Near,
    /// Those of two or three turns drawn at random, with weights: no copies.
    Mixed,
}

/// Inserts clip after clip of turns.
pub(super) struct Filler<'c> {
    corpus: &'c Corpus,
    made: Made,
    random: SplitMix64,
    persons: Vec<(&'c str, EntityId)>,
    session: Option<SessionId>,
    clips: u32,
    memories: usize,
}

/// How long a clip's insertion took.
pub(super) struct Inserted {
    /// Its commit.
    pub(super) commit_secs: f64,
    /// All that belongs to it.
    secs: f64,
    memories: usize,
}

impl<'c> Filler<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Self {
        let random = SplitMix64::new(SEED);
        let (made, persons, session) = Default::default();
        Self { corpus, made, random, persons, session, clips: 0, memories: 0 }
    }

    /// The same, with vectors made so.
    pub(super) fn of(self, made: Made) -> Self {
        Self { made, ..self }
    }

    fn vector(&mut self, own: &Embedding) -> Embedding {
        match self.made {
            Made::Near => near(own, &mut self.random),
            Made::Mixed => mixed(&self.corpus.turns, own.model, &mut self.random),
        }
    }

    /// The newest clip that is in.
    pub(super) fn newest(&self) -> Option<ClipId> {
        let index = self.clips.checked_sub(1)?;
        self.session.map(|session| ClipId { session, index })
    }

    /// Inserts a clip of so many memories as one transaction.
    pub(super) fn insert(&mut self, memory: &Memory, count: usize) -> Result<Inserted, BenchError> {
        let start = beginning().plus_secs(f64::from(self.clips) * CLIP_SECS);
        let span = Span::new(start, start.plus_secs(CLIP_SECS));
        let corpus = self.corpus;
        let turns: Vec<_> = (self.memories..self.memories + count)
            .map(|number| &corpus.turns[number % corpus.turns.len()])
            .collect();
        let vectors: Vec<Embedding> = turns.iter().map(|(_, _, own)| self.vector(own)).collect();
        let begun = Instant::now();
        let mut draft = memory.begin(span.end);
        let session =
            *self.session.get_or_insert_with(|| draft.new_session(beginning(), CLIP_SECS, None));
        let clip = ClipId { session, index: self.clips };
        draft.clip(Clip {
            id: clip,
            span,
            frames: 750,
            analysed: 150,
            dropped: 0,
            key_frames: Vec::new(),
        });
        for (place, ((speaker, sentence, _), vector)) in turns.into_iter().zip(vectors).enumerate()
        {
            let known = self.persons.iter().find(|(name, _)| name == speaker).map(|(_, id)| *id);
            let person = known.unwrap_or_else(|| {
                let entity = draft.new_entity(EntityKind::Person);
                let (name, source) = (speaker.clone(), NameSource::Told);
                draft.name(NameRow { entity, name, since: start, source, turn: None });
                self.persons.push((speaker, entity));
                entity
            });
            let at = start.plus_secs(place as f64 * CLIP_SECS / PER_CLIP as f64);
            let id = draft.new_memory_id();
            draft.memory(utterance(id, sentence.clone(), at, clip, person), Some(vector));
        }
        let committing = Instant::now();
        draft.commit()?;
        self.clips += 1;
        self.memories += count;
        Ok(Inserted {
            commit_secs: committing.elapsed().as_secs_f64(),
            secs: begun.elapsed().as_secs_f64(),
            memories: count,
        })
    }
}

/// A vector near another.
pub(super) fn near(own: &Embedding, random: &mut SplitMix64) -> Embedding {
    let step = NOISE / (own.values.len() as f32).sqrt();
    let moved = own.values.iter().map(|value| value + step * random.gaussian()).collect();
    Embedding::normalised(moved, own.model)
}

/// The vector of two or three of the turns together.
fn mixed(
    turns: &[(String, String, Embedding)],
    model: ModelHash,
    random: &mut SplitMix64,
) -> Embedding {
    let mut sum = Vec::new();
    for _ in 0..2 + random.below(2) {
        let weight = 0.4 + 0.6 * random.unit() as f32;
        let Some((.., part)) = turns.get(random.below(turns.len())) else { continue };
        sum.resize(part.values.len(), 0.0);
        sum.iter_mut().zip(&part.values).for_each(|(sum, value)| *sum += weight * value);
    }
    Embedding::normalised(sum, model)
}

/// When so many memories from one on are of.
pub(super) fn span_of(first: usize, count: usize) -> Span {
    let at = |number: usize| beginning().plus_secs(number as f64 * CLIP_SECS / PER_CLIP as f64);
    Span::new(at(first), at(first + count))
}

fn ask(knowledge: &Knowledge, corpus: &Corpus) -> Result<Latency, BenchError> {
    let Knowledge { memory, answerer, .. } = knowledge;
    answerer.read_ahead(memory.view(), Seq(0), &|| true);
    let earlier = answerer.unparsed(&memory.view());
    eprintln!("parsing {} memories", earlier.len());
    for ids in earlier.chunks(PER_CLIP) {
        answerer.parse_ahead(memory.view(), ids, &|| true);
    }
    let mut times = Vec::new();
    for (text, _) in &corpus.queries {
        let question = Question { text: text.clone(), effort: Effort::Fast, ..Question::default() };
        let begun = Instant::now();
        answerer.answer(memory, &question, None)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.drain(..WARM_UP.min(times.len()));
    Ok(Latency::of(&mut times))
}

fn query(memory: &Memory, corpus: &Corpus, figures: &mut MemoryFigures) {
    let view = memory.view();
    let filters = filters(&view, corpus.queries.len());
    let (mut all, mut filtered, mut index) = (Vec::new(), Vec::new(), Vec::new());
    let mut found: Vec<Vec<(MemoryId, f32)>> = Vec::new();
    let mut found_filtered: Vec<Vec<(MemoryId, f32)>> = Vec::new();
    for (number, ((text, vector), (filter, around))) in
        corpus.queries.iter().zip(&filters).enumerate()
    {
        let hints = Query {
            text: text.clone(),
            vector: Some(vector.clone()),
            span: Some(*around),
            entities: view.named_in(text),
            k: K,
            ..Query::default()
        };
        let conditions = Query {
            span: filter.span,
            entities: filter.entities.clone(),
            strict: true,
            ..hints.clone()
        };
        let (recall_ms, _) = timed(|| recall(&view, &hints));
        let (filtered_ms, _) = timed(|| recall(&view, &conditions));
        let nearest = |filter: &Filter| {
            view.nearest_looked(&Look::routed(vector), K, filter, view.passing(filter).as_ref())
        };
        let (index_ms, hits) = timed(|| nearest(&Filter::default()));
        found.push(hits);
        found_filtered.push(nearest(filter));
        if number >= WARM_UP {
            all.push(recall_ms);
            filtered.push(filtered_ms);
            index.push(index_ms);
        }
    }
    figures.recall_ms = Latency::of(&mut all);
    figures.filtered_ms = Latency::of(&mut filtered);
    figures.index_ms = Latency::of(&mut index);
    eprintln!("comparing with brute force");
    let open = Filter::default();
    let everything = vectors(&view, &open);
    let vectors_of: Vec<&Embedding> = corpus.queries.iter().map(|(_, vector)| vector).collect();
    figures.recall_at_10 = mean(
        vectors_of.par_iter().zip(&found).map(|(query, hits)| agreement(&everything, query, hits)),
    );
    figures.filtered_recall_at_10 =
        mean(
            vectors_of.par_iter().zip(&found_filtered).zip(&filters).map(
                |((query, hits), (filter, _))| agreement(&vectors(&view, filter), query, hits),
            ),
        );
}

/// Per query: the conditions, and six hours as a hint.
fn filters(view: &View, count: usize) -> Vec<(Filter, Span)> {
    let mut random = SplitMix64::new(SEED + 1);
    let clips = view.clips(None).len();
    let persons: Vec<EntityId> =
        view.entities().into_iter().filter(|id| id.kind == EntityKind::Person).collect();
    let mut stretch = |secs: f64| {
        let start = beginning().plus_secs(random.below(clips) as f64 * CLIP_SECS);
        Span::new(start, start.plus_secs(secs))
    };
    (0..count)
        .map(|number| {
            let hour = stretch(3600.0);
            let person = persons.get(number % persons.len().max(1)).copied();
            let (by_person, by_hour) = (number % 3 != 1, number % 3 != 0);
            let filter = Filter {
                span: by_hour.then_some(hour),
                entities: person.filter(|_| by_person).into_iter().collect(),
                ..Filter::default()
            };
            (filter, stretch(6.0 * 3600.0))
        })
        .collect()
}

fn vectors(view: &View, filter: &Filter) -> Vec<Embedding> {
    let of = |id| view.embedding(id, view.any_model()?);
    view.memories(filter).iter().filter_map(|row| of(row.id)).collect()
}

/// Of the nearest by brute force, how many are among the hits; equally near ones stand for each other.
fn agreement(all: &[Embedding], query: &Embedding, hits: &[(MemoryId, f32)]) -> f64 {
    let mut scores: Vec<f32> = all.iter().filter_map(|vector| vector.cosine(query)).collect();
    if scores.len() > K {
        scores.select_nth_unstable_by(K - 1, |a, b| b.total_cmp(a));
        scores.truncate(K);
    }
    let Some(least) = scores.iter().copied().reduce(f32::min) else { return 1.0 };
    let right = hits.iter().filter(|(_, score)| *score >= least - 1e-6).count();
    right.min(scores.len()) as f64 / scores.len() as f64
}

fn mean(values: impl IndexedParallelIterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begun = Instant::now();
    let done = work();
    (begun.elapsed().as_secs_f64() * 1e3, done)
}

pub(super) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (share * values.len() as f64).ceil() as usize;
    values.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Size of a store's folder without what is derived from it, bytes.
pub(super) fn folder_bytes(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() && entry.file_name() == DERIVED => 0,
            Ok(meta) if meta.is_dir() => folder_bytes(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Bytes that this process had the system write; `None` where that tells none.
fn written_bytes() -> Option<u64> {
    let io = std::fs::read_to_string("/proc/self/io").ok()?;
    io.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok())
}

/// What `bench NAME` of a new process prints, with this configuration; its file is put into `dir`.
pub(super) fn in_a_fresh_process<T: DeserializeOwned>(
    config: &Config,
    dir: &Path,
    name: &str,
) -> Result<T, BenchError> {
    let fail =
        |what: &str, error: &dyn std::fmt::Display| BenchError::Child(format!("{what}: {error}"));
    let file = dir.join("bench.toml");
    let text = toml::to_string(config).map_err(|e| fail("writing the configuration", &e))?;
    std::fs::write(&file, text).map_err(|e| fail("writing the configuration", &e))?;
    let program = std::env::current_exe().map_err(|e| fail("finding this program", &e))?;
    let output = Command::new(program)
        .arg("--config")
        .arg(&file)
        .args(["--json", "bench", name])
        .output()
        .map_err(|e| fail("starting this program", &e))?;
    if !output.status.success() {
        return Err(fail("its answer", &String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| fail("its answer", &e))
}

/// Opens the configured store as a daemon does, and recalls.
///
/// # Errors
/// When the store or the sentence embedder fails.
pub fn cold_start(config: &Config) -> Result<ColdStart, BenchError> {
    let (begun, before) = (Instant::now(), written_bytes());
    let knowledge = Knowledge::open(config)?;
    let ask = |text: &str| -> Result<usize, BenchError> {
        let vector = match &knowledge.text {
            Some(embedder) => Some(embedder.embed(text)?),
            None => None,
        };
        let query = Query { text: text.to_owned(), vector, k: K, ..Query::default() };
        Ok(recall(&knowledge.memory.view(), &query).len())
    };
    ask("What did they talk about?")?;
    let start_secs = begun.elapsed().as_secs_f64();
    let written = written_bytes().zip(before).map(|(after, before)| after - before);
    for number in 0..50 {
        ask(&format!("What happened on day {number}?"))?;
    }
    Ok(ColdStart { start_secs, written, anon_mb: rss_anon_mb() })
}

/// Anonymous resident memory of this process, MB (10⁶ bytes); `None` where `/proc` does not tell.
pub(super) fn rss_anon_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 * 1e-6)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn noise_moves_a_vector_to_the_told_cosine() {
        let mut random = SplitMix64::new(1);
        let values = (0..384).map(|_| random.gaussian()).collect();
        let own = Embedding::normalised(values, ModelHash([1; 32]));
        for _ in 0..20 {
            let cosine = near(&own, &mut random).cosine(&own).unwrap();
            assert!((0.78..0.92).contains(&cosine), "{cosine}");
        }
    }

    #[test]
    fn agreement_counts_what_the_index_missed() {
        let unit = |x: f32, y: f32| Embedding::normalised(vec![x, y], ModelHash([1; 32]));
        let all: Vec<Embedding> = (0..20).map(|n| unit(1.0, n as f32)).collect();
        let query = unit(1.0, 0.0);
        let score = |n: usize| (MemoryId(n as u64), all[n].cosine(&query).unwrap());
        let right: Vec<_> = (0..10).map(score).collect();
        assert_eq!(agreement(&all, &query, &right), 1.0);
        let one_missed: Vec<_> = (0..9).chain([15]).map(score).collect();
        assert!((agreement(&all, &query, &one_missed) - 0.9).abs() < 1e-9);
        assert_eq!(agreement(&[], &query, &[]), 1.0);
    }

    #[test]
    fn quantiles_are_nearest_rank() {
        let mut values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(quantile(&mut values, 0.5), 50.0);
        assert_eq!(quantile(&mut values, 0.99), 99.0);
        assert!(quantile(&mut [], 0.5).is_nan());
    }
}
