//! The vectorizer: makes the vectors that memories lack, in commits of their own, while everything else goes on.
//!
//! Memories lack a vector where a server makes them, where it was down, where there was no embedder, and after a
//! change of the embedder. Then the vectors of the one before it go on answering until every memory has one of
//! the configured embedder's; questions change over at that moment, and the old vectors are taken back. All that
//! is known of it lies in the rows, so it goes on after a kill.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, bounded};

use super::announce::Announcer;
use super::ingest::YieldPolicy;
use super::metrics::meters::Meters;
use super::supervise;
use crate::ids::{MemoryId, ModelHash, Seq};
use crate::memorize::vectors::{self, Wanted};
use crate::memory::{Memory, MemoryError};
use crate::percept::Embedding;
use crate::text::{Answering, Embedders, TextError};

/// How often new memories are looked for.
const LOOK: Duration = Duration::from_millis(250);
/// How often a long run is told of in the log.
const TOLD_EVERY: Duration = Duration::from_secs(30);
/// The first pause after the embedder failed; each further one is twice as long …
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// … up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Old vectors taken back per commit.
const LET_GO: usize = 1_000;
/// How long stopping waits for a commit in hand.
const LAST_COMMIT: Duration = Duration::from_secs(2);

/// What it works with.
pub struct Work {
    /// Whose memories.
    pub memory: Memory,
    /// What embeds them.
    pub embedders: Arc<Embedders>,
    /// Memories per request and commit, at most.
    pub batch: usize,
    /// Questions go first.
    pub courtesy: YieldPolicy,
    /// Told when the embedder fails.
    pub announcer: Announcer,
    /// Counts.
    pub meters: Meters,
}

/// How far it is. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct VectorProgress(Arc<Progress>);

#[derive(Debug, Default)]
struct Progress {
    waiting: AtomicU64,
    idle: AtomicBool,
    /// The embedder is down at the moment; why.
    down: Mutex<Option<String>>,
}

impl VectorProgress {
    /// Memories that wait for their vector.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.0.waiting.load(Ordering::Relaxed)
    }

    /// Why the embedder cannot make them at the moment.
    #[must_use]
    pub fn down(&self) -> Option<String> {
        self.0.down.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.0.idle.load(Ordering::Relaxed)
    }
}

/// A running vectorizer; ends with [`Vectorizer::stop`].
pub struct Vectorizer {
    progress: VectorProgress,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Vectorizer {
    /// Starts it.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(work: Work) -> std::io::Result<Self> {
        let progress = VectorProgress::default();
        let stop = Arc::<AtomicBool>::default();
        let mut worker = Worker {
            size: work.batch.max(1),
            progress: progress.clone(),
            stop: Arc::clone(&stop),
            todo: VecDeque::new(),
            aside: BTreeSet::new(),
            seen: None,
            untidy: true,
            run: None,
            work,
        };
        let announcer = worker.work.announcer.clone();
        let thread = thread::Builder::new().name("vectorize".to_owned()).spawn(move || {
            let degraded = |stage: &str, why| announcer.degraded(stage, why);
            supervise::keep_up("embedding", degraded, || worker.run());
        })?;
        Ok(Self { progress, stop, thread })
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> VectorProgress {
        self.progress.clone()
    }

    /// Waits until nothing is left to do, `enough` says so, or the embedder is down; gives back how many memories
    /// wait still, and why.
    pub fn drain(&self, enough: impl Fn() -> bool) -> (u64, Option<String>) {
        loop {
            let down = self.progress.down();
            if self.progress.is_idle() || down.is_some() || enough() || self.thread.is_finished() {
                return (self.progress.waiting(), down);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Stops; a server in the middle of a request is not waited for.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        let until = Instant::now() + LAST_COMMIT;
        while !self.thread.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        if self.thread.is_finished() && self.thread.join().is_err() {
            tracing::error!("the vectorizer ended in a panic; please report it");
        }
    }
}

/// What came of one step.
enum Step {
    /// There is more to do.
    Busy,
    /// There is nothing to do.
    Idle,
    /// The embedder or the store fails; why.
    Down(String),
    /// Asked to stop.
    Stopped,
}

/// What was looked at last.
#[derive(Clone, Copy)]
struct Seen {
    seq: Seq,
    model: Option<ModelHash>,
    /// How often something had been erased.
    erasures: u64,
}

/// Touched by the thread alone.
struct Worker {
    work: Work,
    progress: VectorProgress,
    stop: Arc<AtomicBool>,
    /// Memories without a vector of the configured embedder, oldest first.
    todo: VecDeque<MemoryId>,
    /// Memories that it refuses.
    aside: BTreeSet<MemoryId>,
    seen: Option<Seen>,
    /// Texts per request just now.
    size: usize,
    /// Vectors of other models may be left.
    untidy: bool,
    /// When a long run began, when it was last told of, and what it has made.
    run: Option<(Instant, Instant, usize)>,
}

impl Worker {
    fn run(&mut self) {
        let mut pause = FIRST_PAUSE;
        while !self.stop.load(Ordering::Relaxed) {
            let step = self.step();
            let idle = matches!(step, Step::Idle);
            let waiting = self.todo.len() as u64;
            self.progress.0.waiting.store(waiting, Ordering::Relaxed);
            self.progress.0.idle.store(idle, Ordering::Relaxed);
            match step {
                Step::Busy => {
                    pause = FIRST_PAUSE;
                    self.say(None);
                }
                Step::Idle => {
                    pause = FIRST_PAUSE;
                    self.say(None);
                    self.rest(LOOK);
                }
                Step::Down(fault) => {
                    self.say(Some(fault));
                    self.rest(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Step::Stopped => return,
            }
        }
    }

    fn rest(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.stop.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn step(&mut self) -> Step {
        if self.todo.is_empty() {
            self.find();
        }
        if !self.todo.is_empty() {
            return self.make();
        }
        let embedders = &self.work.embedders;
        let configured = Arc::clone(embedders.configured());
        if configured.fault().is_some() || configured.model().is_none() {
            // Whether a server is well, or well again, shows only by asking.
            return match self.embed(vec![".".to_owned()]) {
                Some(Ok(_)) => Step::Busy,
                Some(Err(error)) => Step::Down(error.to_string()),
                None => Step::Stopped,
            };
        }
        let model = configured.model();
        if !embedders.is_settled() {
            embedders.settle();
            self.untidy = true;
            tracing::info!(
                ?model,
                "Every memory has a vector of the configured embedder: it answers from now on."
            );
        }
        if self.untidy {
            return match vectors::let_go(&self.work.memory, configured.as_ref(), LET_GO) {
                Ok(0) => {
                    self.untidy = false;
                    Step::Idle
                }
                Ok(_) => Step::Busy,
                Err(error) => Step::Down(error.to_string()),
            };
        }
        Step::Idle
    }

    /// Looks for memories without a vector: among the new ones; among all where the model is another one, or something was
    /// erased since, which rewrites old ones.
    fn find(&mut self) {
        // Counted before the view is taken: what is erased in between is looked for again.
        let erasures = self.work.memory.erasures();
        let view = self.work.memory.view();
        let model = self.work.embedders.configured().model();
        let (seq, now) = (view.seq(), Instant::now());
        let partly = self.seen.filter(|seen| seen.model == model && seen.erasures == erasures);
        if partly.is_some_and(|seen| seen.seq == seq) {
            return;
        }
        let since = partly.map_or(Seq(0), |seen| seen.seq);
        let without = view.without_vector_of(model, since);
        self.todo = without.into_iter().filter(|id| !self.aside.contains(id)).collect();
        self.seen = Some(Seen { seq, model, erasures });
        if self.todo.is_empty() {
            if let Some((began, _, made)) = self.run.take() {
                let secs = began.elapsed().as_secs_f64();
                tracing::info!(memories = made, secs, "Memories were embedded.");
            }
        } else if self.run.is_none() && self.todo.len() > self.work.batch {
            let left = self.todo.len();
            tracing::info!(
                memories = left,
                "Memories have no vector of the configured embedder: they get it in the background."
            );
            self.run = Some((now, now, 0));
        }
    }

    /// Makes and commits the vectors of the next few.
    fn make(&mut self) -> Step {
        let Work { memory, courtesy, .. } = &self.work;
        let ids: Vec<MemoryId> = self.todo.iter().take(self.size).copied().collect();
        let wanted = vectors::word(&memory.view(), &ids);
        courtesy.step_aside();
        let texts: Vec<String> = wanted.iter().map(|one| one.wording.clone()).collect();
        let embedded = if texts.is_empty() { Some(Ok(Vec::new())) } else { self.embed(texts) };
        match embedded {
            None => Step::Stopped,
            Some(Ok(vectors)) => match self.keep(&wanted, vectors) {
                Ok(()) => {
                    self.todo.drain(..ids.len());
                    self.size = (self.size + 1).min(self.work.batch.max(1));
                    Step::Busy
                }
                Err(error) => Step::Down(error.to_string()),
            },
            Some(Err(error)) if ids.len() > 1 && error.is_of_the_number() => {
                self.size = ids.len() / 2;
                tracing::debug!(%error, texts = self.size, "Fewer texts are embedded at a time.");
                if error.is_of_the_text() { Step::Busy } else { Step::Down(error.to_string()) }
            }
            Some(Err(error)) if error.is_of_the_text() => {
                for one in &wanted {
                    tracing::warn!(%error, memory = %one.memory, "A memory stays without a vector until the next start.");
                }
                self.work.meters.add("vectors_refused", ids.len() as u64);
                self.aside.extend(&ids);
                self.todo.drain(..ids.len());
                Step::Busy
            }
            Some(Err(error)) => Step::Down(error.to_string()),
        }
    }

    fn keep(&mut self, wanted: &[Wanted], vectors: Vec<Embedding>) -> Result<(), MemoryError> {
        let kept = vectors::keep(&self.work.memory, wanted, vectors)?;
        self.work.meters.add("vectors_made", kept as u64);
        if let Some((began, told, made)) = &mut self.run {
            *made += kept;
            if told.elapsed() >= TOLD_EVERY {
                *told = Instant::now();
                let (left, made, secs) = (self.todo.len(), *made, began.elapsed().as_secs_f64());
                tracing::info!(made, left, secs, "Memories are being embedded.");
            }
        }
        Ok(())
    }

    /// Embeds in a thread of its own, which holds nothing of the memory; `None`: asked to stop meanwhile.
    fn embed(&self, texts: Vec<String>) -> Option<Result<Vec<Embedding>, TextError>> {
        let (done, result) = bounded(1);
        let configured = Arc::clone(self.work.embedders.configured());
        let spawned = thread::Builder::new().name("embed".to_owned()).spawn(move || {
            done.send(configured.embed_passages(&texts)).ok();
        });
        if let Err(error) = spawned {
            let (url, reason) = ("a thread of its own".to_owned(), error.to_string());
            return Some(Err(TextError::Unreachable { url, reason }));
        }
        loop {
            match result.recv_timeout(Duration::from_millis(20)) {
                Ok(embedded) => return Some(embedded),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "the embedder ended in a panic; please report it".to_owned();
                    return Some(Err(TextError::Unreachable {
                        url: "its thread".to_owned(),
                        reason,
                    }));
                }
            }
        }
    }

    /// Tells what keeps memories from being found by meaning; in the log once.
    fn say(&self, down: Option<String>) {
        let mut known = self.progress.0.down.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*known, &down) {
            (None, Some(fault)) => {
                tracing::warn!(%fault, "Memories cannot be embedded: they are found by words, and embedded later.");
            }
            (Some(_), None) => tracing::info!("Memories can be embedded again."),
            _ => {}
        }
        let impaired = match (&down, &*self.work.embedders.answering()) {
            (Some(fault), _) => Some(fault.clone()),
            (None, Answering::Nobody) => Some(
                "the sentence embedder was changed; memories are found by words alone until all are embedded anew"
                    .to_owned(),
            ),
            (None, _) => None,
        };
        let impaired = impaired.map(|why| format!("recall by meaning: {why}"));
        self.work.announcer.degraded("embedder", impaired.into_iter().collect());
        *known = down;
    }
}

#[cfg(test)]
#[path = "vectorize_tests.rs"]
mod tests;
