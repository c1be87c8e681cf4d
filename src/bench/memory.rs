//! A large memory: how fast it is filled, searched and opened: `bench memory`.
//!
//! Memories are turns of real conversations, over and over: each repeat's vector is the turn's own, moved
//! by seeded noise to a cosine of about 0.85, so that neighbours are near and no two are equal. Thirty of
//! them make a clip's transaction. Queries are the conversations' questions.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::BenchError;
use super::conversations::locomo;
use super::filler::{CLIP_SECS, Filled, Filler, PER_CLIP, beginning, fill};
use super::random::SplitMix64;
use super::readers::{self, BesideWriter};
use super::{exact, scratch};
use crate::answer::{Effort, Question};
use crate::config::Config;
use crate::daemon::assemble::Knowledge;
use crate::ids::{EntityId, EntityKind, MemoryId, Seq};
use crate::memory::{DERIVED, Filter, Look, Memory, View};
use crate::percept::Embedding;
use crate::recall::{Query, recall};
use crate::time::Span;

/// Queries measured.
const QUERIES: usize = 500;
/// Queries before them, not measured.
const WARM_UP: usize = 10;
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
    /// Whether that is all that was asked for; else nothing but inserts was measured, and the next call goes on.
    pub done: bool,
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

/// Fills a store with `count` memories and measures it; with `readers`, also that many at once beside a writer. It is a
/// temporary one, or stays in `folder`, where filling goes on for `most` at a time, until there are as many.
///
/// # Errors
/// When the corpus, the sentence embedder or the store fails.
pub fn measure(
    config: &Config,
    count: usize,
    corpus: &Path,
    readers: usize,
    (folder, most): (Option<&Path>, Option<Duration>),
) -> Result<MemoryFigures, BenchError> {
    let (temporary, config) = match folder {
        Some(folder) => (None, scratch::kept(config, &folder.join("store"))?),
        None => scratch::store(config).map(|(folder, config)| (Some(folder), config))?,
    };
    let store = config.store_dir();
    let folder = folder.or(temporary.as_ref().map(|dir| dir.path())).unwrap_or(&store);
    let knowledge = Knowledge::open(&config)?;
    let corpus = embed_corpus(&knowledge, corpus)?;
    let memory = &knowledge.memory;
    let mut filler = Filler::on(&corpus, memory);
    let Filled { done, inserts_per_sec, commit_ms } = fill(memory, &mut filler, count, most)?;
    let memories = memory.view().count_memories() as usize;
    let mut figures =
        MemoryFigures { memories, done, inserts_per_sec, commit_ms, ..MemoryFigures::default() };
    if !done {
        return Ok(figures);
    }
    let begun = Instant::now();
    while memory.gather_vectors() {}
    figures.gathered_secs = begun.elapsed().as_secs_f64();
    figures.embed_ms = corpus.embed_ms;
    query(memory, &corpus, &mut figures);
    figures.answer_ms = ask(&knowledge, &corpus)?;
    if readers > 0 {
        figures.beside_writer = Some(readers::measure(memory, &mut filler, &corpus, readers)?);
    }
    // The fresh process opens the store beside no other.
    drop(knowledge);
    let derived = store.join(DERIVED);
    figures.derived_mb = folder_bytes(&derived) as f64 * 1e-6;
    figures.store_mb = folder_bytes(&store) as f64 * 1e-6;
    let cold: ColdStart = in_a_fresh_process(&config, folder, "start")?;
    (figures.start_secs, figures.start_written) = (cold.start_secs, cold.written);
    figures.anon_mb = cold.anon_mb;
    std::fs::remove_dir_all(&derived)
        .map_err(|source| BenchError::Io { path: derived.clone(), source })?;
    let anew: ColdStart = in_a_fresh_process(&config, folder, "start")?;
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
    let (mut found, mut found_filtered): (Vec<Hits>, Vec<Hits>) = Default::default();
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
    let Latency { p50, p99 } = figures.recall_ms;
    eprintln!("recall {p50:.2} ms, {p99:.2} p99; comparing with every vector");
    let open = Filter::default();
    let queries = || corpus.queries.iter().map(|(_, vector)| vector);
    let asked: Vec<(&Embedding, &Filter)> = queries()
        .map(|vector| (vector, &open))
        .chain(queries().zip(filters.iter().map(|(filter, _)| filter)))
        .collect();
    let right = exact::nearest(&view, &asked, K);
    let (right, right_filtered) = right.split_at(found.len());
    figures.recall_at_10 = agreement(right, &found);
    figures.filtered_recall_at_10 = agreement(right_filtered, &found_filtered);
    let [all, some] = [figures.recall_at_10, figures.filtered_recall_at_10];
    eprintln!("recall@10 {all:.3}, behind filters {some:.3}");
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

/// Of the nearest, what share is among the hits, on average; equally near ones stand for each other.
fn agreement(right: &[Hits], found: &[Hits]) -> f64 {
    let of = |(right, hits): (&Hits, &Hits)| {
        let Some((_, least)) = right.last() else { return 1.0 };
        let near = hits.iter().filter(|(_, score)| *score >= least - 1e-6).count();
        near.min(right.len()) as f64 / right.len() as f64
    };
    right.iter().zip(found).map(of).sum::<f64>() / right.len().max(1) as f64
}

/// Memories with their cosines, the nearest first.
type Hits = Vec<(MemoryId, f32)>;

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
    fn agreement_counts_what_the_index_missed() {
        let hits = |of: &[usize]| -> Hits {
            of.iter().map(|&n| (MemoryId(n as u64), 1.0 / (1.0 + n as f32))).collect()
        };
        let right: Vec<usize> = (0..10).collect();
        let one_missed: Vec<usize> = (0..9).chain([15]).collect();
        assert_eq!(agreement(&[hits(&right)], &[hits(&right)]), 1.0);
        assert!((agreement(&[hits(&right)], &[hits(&one_missed)]) - 0.9).abs() < 1e-9);
        assert_eq!(agreement(&[hits(&[])], &[hits(&[])]), 1.0);
        assert!(
            (agreement(&[hits(&right), hits(&[])], &[hits(&one_missed), hits(&[])]) - 0.95).abs()
                < 1e-9
        );
    }

    #[test]
    fn quantiles_are_nearest_rank() {
        let mut values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(quantile(&mut values, 0.5), 50.0);
        assert_eq!(quantile(&mut values, 0.99), 99.0);
        assert!(quantile(&mut [], 0.5).is_nan());
    }
}
