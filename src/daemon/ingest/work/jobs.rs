//! Jobs and how they are handed over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::Receiver;

#[cfg(test)]
use super::Waiting;
use super::registry::Has;
use super::worker::Worker;
use super::{Kind, Places, Queue, Task};
use crate::perceive::PerceiveError;
use crate::perceive::perceptor::Perceptor;
use crate::perceive::speech::{Recogniser, WordsJob};
use crate::percept::{SpeechTurn, Transcript};

/// Turns that may wait for their words.
const WORDS_QUEUE: usize = 64;
/// Open turns that may wait for their first words.
const GUESSES_QUEUE: usize = 4;
/// Faces that may wait to be compared with a turn: all of a clip that mouths may be looked at in.
const MOUTHS_QUEUE: usize = 256;

/// Where a job's result arrives, exactly once.
pub type Pending<T> = Receiver<Result<T, PerceiveError>>;

/// Puts jobs into the workers' queues. When the last clone goes, the workers end with what waits. Cheap to clone.
#[derive(Clone)]
pub struct JobQueue(pub(super) Arc<Handle>);

pub(super) struct Handle {
    pub(super) jobs: Arc<Queue<Task<Worker>>>,
    /// None: no recogniser runs.
    pub(super) words: Option<Arc<Queue<Task<Recogniser>>>>,
    pub(super) lost: Arc<AtomicBool>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.jobs.close();
        if let Some(words) = &self.words {
            words.close();
        }
    }
}

/// A job that has yet to be handed over.
pub(in crate::daemon::ingest) struct Prepared(Task<Worker>);

/// A job, and where what comes of it will arrive.
pub(in crate::daemon::ingest) fn prepare<P: Perceptor>(
    job: P::Job,
) -> (Prepared, Pending<P::Finding>)
where
    Worker: Has<P>,
{
    let (kind, source) = (P::kind(&job), P::source(&job));
    let look = move |worker: &mut Worker| Has::<P>::perceptor(worker).look(job);
    let (task, pending) = Task::new(kind, &source, look);
    (Prepared(task), pending)
}

impl JobQueue {
    /// A queue that nobody takes from: every job is lost at once.
    #[cfg(test)]
    pub(in crate::daemon::ingest) fn lost() -> Self {
        let jobs = Arc::new(Queue::new(places(1), Waiting::default()));
        jobs.abandon();
        Self(Arc::new(Handle { jobs, words: None, lost: Arc::new(AtomicBool::new(true)) }))
    }

    /// A queue whose jobs wait for ever.
    #[cfg(test)]
    pub(in crate::daemon::ingest) fn idle() -> Self {
        let jobs = Arc::new(Queue::new(places(1), Waiting::default()));
        Self(Arc::new(Handle { jobs, words: None, lost: Arc::default() }))
    }

    /// Jobs that wait for a worker.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.jobs.len()
    }

    /// Whether a worker broke down for good.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.lost.load(Ordering::Relaxed)
    }

    /// Hands a job over; waits for a place in the queue.
    pub(in crate::daemon::ingest) fn put(&self, Prepared(task): Prepared) {
        // A closed queue drops it, and the receiver sees a disconnected channel.
        self.0.jobs.put(task.kind(), task);
    }

    /// Has something looked at.
    #[must_use]
    pub(in crate::daemon::ingest) fn look<P: Perceptor>(&self, job: P::Job) -> Pending<P::Finding>
    where
        Worker: Has<P>,
    {
        let (job, pending) = prepare::<P>(job);
        self.put(job);
        pending
    }

    /// The words of a turn that goes on, before those of turns that have ended; `None` when many wait for theirs.
    #[must_use]
    pub fn glimpse(&self, turn: SpeechTurn) -> Option<Pending<Transcript>> {
        let words = self.0.words.as_ref()?;
        let (task, pending) = recognising(turn, true);
        words.try_put(Kind::Guess, task).then_some(pending)
    }

    /// Recognises a turn's words, after those asked for before; `None` when no recogniser runs, or when so many
    /// wait that there is no place in the queue (with `wait`: waits for a place).
    #[must_use]
    pub fn words(&self, turn: SpeechTurn, wait: bool) -> Option<Pending<Transcript>> {
        let words = self.0.words.as_ref()?;
        let turn_id = turn.id;
        let (task, pending) = recognising(turn, false);
        if wait {
            words.put(Kind::Words, task);
        } else if !words.try_put(Kind::Words, task) {
            tracing::warn!(turn = %turn_id, "A turn stays without words: too many wait for theirs.");
            return None;
        }
        Some(pending)
    }

    /// The same before the turn's clip asks; `None` also where there is no place in the queue: then the clip does.
    #[must_use]
    pub fn words_ahead(&self, turn: SpeechTurn) -> Option<Pending<Transcript>> {
        let (task, pending) = recognising(turn, false);
        self.0.words.as_ref()?.try_put(Kind::Words, task).then_some(pending)
    }
}

fn recognising(turn: SpeechTurn, partial: bool) -> (Task<Recogniser>, Pending<Transcript>) {
    let job = WordsJob { turn, partial };
    let (kind, source) = (Recogniser::kind(&job), Recogniser::source(&job));
    Task::new(kind, &source, move |worker: &mut Recogniser| worker.look(job))
}

/// Takes a job's result; a worker that died counts as a failed job.
///
/// # Errors
/// What the job failed with.
pub fn take<T>(pending: &Pending<T>) -> Result<T, PerceiveError> {
    pending.recv().unwrap_or_else(|_| Err(PerceiveError::WorkerLost))
}

/// How many jobs of each kind may wait for so many workers.
pub(super) fn places(workers: usize) -> Places {
    Kind::ALL.map(|kind| match kind {
        Kind::Guess => GUESSES_QUEUE,
        Kind::Frame | Kind::Voice | Kind::Again => 2 * workers,
        Kind::Words => WORDS_QUEUE,
        Kind::Mouth => MOUTHS_QUEUE,
    })
}
