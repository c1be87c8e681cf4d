//! The perception workers: pure jobs, any worker, any order; each answers on a channel of its own.
//!
//! A job's result depends on the job alone, so the number of workers cannot be seen in the memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::perceivers::{Analysed, PerceiverSet, Perceivers};
use crate::media::Frame;
use crate::perceive::PerceiveError;
use crate::perceive::voice::RawTurn;
use crate::percept::{SpeechTurn, Transcript};

/// Where a job's result arrives, exactly once.
pub type Pending<T> = Receiver<Result<T, PerceiveError>>;

enum Job {
    Faces(Frame, Sender<Result<Analysed, PerceiveError>>),
    Voice(RawTurn, Sender<Result<Vec<SpeechTurn>, PerceiveError>>),
    Words(SpeechTurn, Sender<Result<Option<Transcript>, PerceiveError>>),
}

/// How many questions are being answered: workers step aside for them.
#[derive(Clone, Debug, Default)]
pub struct Courtesy(Arc<AtomicUsize>);

impl Courtesy {
    /// Counts a question until the guard is dropped.
    #[must_use]
    pub fn question(&self) -> CourtesyGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        CourtesyGuard(Arc::clone(&self.0))
    }

    /// Waits while questions are being answered, at most a few milliseconds per job.
    fn step_aside(&self) {
        for _ in 0..10 {
            if self.0.load(Ordering::Relaxed) == 0 {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// A question in flight.
#[derive(Debug)]
pub struct CourtesyGuard(Arc<AtomicUsize>);

impl Drop for CourtesyGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The workers and the queue to them.
pub struct Pool {
    jobs: Sender<Job>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts `workers` threads, each with models of its own.
    ///
    /// # Errors
    /// When a model cannot be loaded.
    pub fn start(
        set: &PerceiverSet,
        workers: usize,
        courtesy: &Courtesy,
    ) -> Result<Self, PerceiveError> {
        let (jobs, queue) = bounded::<Job>(2 * workers.max(1));
        let mut threads = Vec::new();
        for number in 0..workers.max(1) {
            let perceivers = set.load()?;
            let (queue, courtesy) = (queue.clone(), courtesy.clone());
            let thread = thread::Builder::new()
                .name(format!("perceive-{number}"))
                .spawn(move || work(perceivers, &queue, &courtesy))
                .map_err(PerceiveError::Thread)?;
            threads.push(thread);
        }
        Ok(Self { jobs, workers: threads })
    }

    /// A handle that puts jobs into the queue; waits when the workers are behind.
    #[must_use]
    pub fn queue(&self) -> JobQueue {
        JobQueue { jobs: self.jobs.clone() }
    }

    /// Ends the workers once the last queue handle is gone and the queue is empty.
    pub fn finish(self) {
        drop(self.jobs);
        for worker in self.workers {
            if worker.join().is_err() {
                tracing::error!("A perception worker ended in a panic; its job was lost.");
            }
        }
    }
}

/// Puts jobs into the workers' queue.
#[derive(Clone)]
pub struct JobQueue {
    jobs: Sender<Job>,
}

impl JobQueue {
    /// Jobs that wait for a worker.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.jobs.len()
    }

    fn put<T>(&self, make: impl FnOnce(Sender<Result<T, PerceiveError>>) -> Job) -> Pending<T> {
        let (reply, pending) = bounded(1);
        // A closed queue drops `reply`, and the receiver sees a disconnected channel.
        self.jobs.send(make(reply)).ok();
        pending
    }

    /// Finds and embeds the faces of a frame.
    #[must_use]
    pub fn faces(&self, frame: Frame) -> Pending<Analysed> {
        self.put(|reply| Job::Faces(frame, reply))
    }

    /// Splits a raw turn by speaker and embeds the parts.
    #[must_use]
    pub fn voice(&self, turn: RawTurn) -> Pending<Vec<SpeechTurn>> {
        self.put(|reply| Job::Voice(turn, reply))
    }

    /// Recognises a turn's words; `None` when no recogniser runs.
    #[must_use]
    pub fn words(&self, turn: SpeechTurn) -> Pending<Option<Transcript>> {
        self.put(|reply| Job::Words(turn, reply))
    }
}

/// Takes a job's result; a worker that died counts as a failed job.
///
/// # Errors
/// What the job failed with.
pub fn take<T>(pending: &Pending<T>) -> Result<T, PerceiveError> {
    pending.recv().unwrap_or_else(|_| Err(PerceiveError::WorkerLost))
}

fn work(mut perceivers: Perceivers, queue: &Receiver<Job>, courtesy: &Courtesy) {
    while let Ok(job) = queue.recv() {
        courtesy.step_aside();
        // A receiver that is gone means that nobody waits any more.
        match job {
            Job::Faces(frame, reply) => reply.send(perceivers.faces(&frame)).ok(),
            Job::Voice(turn, reply) => reply.send(perceivers.voice(&turn)).ok(),
            Job::Words(turn, reply) => reply.send(perceivers.words(&turn)).ok(),
        };
    }
}
