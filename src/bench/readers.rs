//! Many readers at full speed while a writer ingests: `bench memory --readers N`.
//!
//! The writer inserts a clip every 0.3 s, a hundred times faster than it would be lived. Readers recall one
//! question after the other, each on the newest view, and look whether a view ever shows part of a clip.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::BenchError;
use super::filler::{CLIP_SECS, Filler, PER_CLIP};
use super::memory::{CommitLatency, Corpus, K, Latency, quantile};
use crate::ids::{ClipId, SessionId};
use crate::memory::{Filter, Memory, View};
use crate::recall::{Query, recall};

/// How much faster than it is lived.
const FASTER: f64 = 100.0;
/// How long it goes on, seconds.
const SECS: f64 = 20.0;
/// Recalls between two looks for torn clips.
const LOOK_EVERY: usize = 8;
/// Newest clips that are looked at.
const LOOKED_AT: u32 = 3;

/// Recall by many readers beside a writer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BesideWriter {
    /// Readers at once.
    pub readers: usize,
    /// A recall, as its reader waits for it.
    pub recall_ms: Latency,
    /// Of all readers together.
    pub recalls_per_sec: f64,
    /// Clips that came in meanwhile.
    pub clips: usize,
    /// A clip's commit.
    pub commit_ms: CommitLatency,
    /// Views that were looked through.
    pub looked: usize,
    /// Views that showed part of a clip, or a memory without its vector.
    pub torn: usize,
}

/// Lets `readers` recall while `filler` goes on.
///
/// # Errors
/// When the store fails.
pub(super) fn measure(
    memory: &Memory,
    filler: &mut Filler<'_>,
    corpus: &Corpus,
    readers: usize,
) -> Result<BesideWriter, BenchError> {
    let newest = filler.newest().unwrap_or(ClipId { session: SessionId(1), index: 0 });
    let (session, coming) = (newest.session, AtomicU32::new(newest.index));
    let (over, looked, torn) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let read = |first: usize| {
        let mut times = Vec::new();
        for number in first.. {
            if over.load(Ordering::Relaxed) {
                break;
            }
            let (text, vector) = &corpus.queries[number % corpus.queries.len()];
            let view = memory.view();
            let query = Query {
                text: text.clone(),
                vector: Some(vector.clone()),
                k: K,
                ..Query::default()
            };
            let begun = Instant::now();
            std::hint::black_box(recall(&view, &query).len());
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            if number % LOOK_EVERY == 0 {
                let last = coming.load(Ordering::Acquire);
                let mut clips = (last.saturating_sub(LOOKED_AT)..=last + 1)
                    .map(|index| ClipId { session, index });
                looked.fetch_add(1, Ordering::Relaxed);
                if clips.any(|clip| is_torn(&view, clip)) {
                    torn.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        times
    };
    let (begun, mut commits) = (Instant::now(), Vec::new());
    let (mut times, written) = std::thread::scope(|scope| {
        let read = &read;
        let each = corpus.queries.len() / readers.max(1);
        let running: Vec<_> =
            (0..readers).map(|reader| scope.spawn(move || read(reader * each))).collect();
        let pace = Duration::from_secs_f64(CLIP_SECS / FASTER);
        let mut written = Ok(());
        for clip in 1_u32.. {
            let due = begun + pace * clip;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if begun.elapsed().as_secs_f64() >= SECS {
                break;
            }
            match filler.insert(memory, PER_CLIP) {
                Ok(inserted) => commits.push(inserted.commit_secs * 1e3),
                Err(error) => {
                    written = Err(error);
                    break;
                }
            }
            coming.fetch_add(1, Ordering::Release);
        }
        over.store(true, Ordering::Relaxed);
        let times: Vec<f64> =
            running.into_iter().filter_map(|reader| reader.join().ok()).flatten().collect();
        (times, written)
    });
    written?;
    let secs = begun.elapsed().as_secs_f64();
    Ok(BesideWriter {
        readers,
        recalls_per_sec: times.len() as f64 / secs.max(1e-9),
        recall_ms: Latency::of(&mut times),
        clips: commits.len(),
        commit_ms: CommitLatency {
            p50: quantile(&mut commits, 0.5),
            p95: quantile(&mut commits, 0.95),
        },
        looked: looked.into_inner(),
        torn: torn.into_inner(),
    })
}

/// Whether a view shows a clip without all of its memories and vectors, or those without it.
fn is_torn(view: &View, clip: ClipId) -> bool {
    let rows = view.memories(&Filter { clip: Some(clip), ..Filter::default() });
    match view.clip(clip) {
        None => !rows.is_empty(),
        // The last clip of the filling may be short.
        Some(_) => {
            let embedded = |id| view.any_model().and_then(|model| view.embedding(id, model));
            rows.is_empty() || rows.iter().any(|row| embedded(row.id).is_none())
        }
    }
}
