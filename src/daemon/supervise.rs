//! Supervision: a stage that ends in a panic is reported and begun anew, alone and after a pause, up to five times within a
//! minute; then it stays down. What it had in hand is lost and counted, nothing else.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use super::announce::Announcer;

/// So many panics …
const MOST: usize = 5;
/// … within so long are all that is put up with.
const WITHIN: Duration = Duration::from_secs(60);
/// The pause after the first of them; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// How often a stage may still end in a panic.
#[derive(Debug, Default)]
struct Budget {
    panics: VecDeque<Instant>,
}

impl Budget {
    /// A panic at `now`: how long to wait before the stage is begun anew; `None`: it has had its chances.
    fn spend(&mut self, now: Instant) -> Option<Duration> {
        while self.panics.front().is_some_and(|at| now.duration_since(*at) > WITHIN) {
            self.panics.pop_front();
        }
        if self.panics.len() >= MOST {
            return None;
        }
        let pause = FIRST_PAUSE * (1 << self.panics.len());
        self.panics.push_back(now);
        Some(pause)
    }
}

/// A stage that ended in too many panics; the words of the last.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it ended in a panic more than {MOST} times within a minute ({0}); please report it")]
pub(super) struct GaveUp(String);

/// Does it; a panic comes back as its words.
pub(super) fn contained<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| words(payload.as_ref()))
}

fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".into())
}

/// A stage's attempts, each contained.
#[derive(Debug)]
pub(super) struct Attempts {
    stage: String,
    budget: Budget,
}

impl Attempts {
    pub(super) fn new(stage: &str) -> Self {
        Self { stage: stage.to_owned(), budget: Budget::default() }
    }

    /// A piece of work. `None`: it ended in a panic, which is told and waited out; the stage is to be begun anew.
    ///
    /// # Errors
    /// When that happened too often.
    pub(super) fn attempt<T>(&mut self, run: impl FnOnce() -> T) -> Result<Option<T>, GaveUp> {
        let why = match contained(run) {
            Ok(done) => return Ok(Some(done)),
            Err(why) => why,
        };
        let stage = &self.stage;
        let Some(pause) = self.budget.spend(Instant::now()) else {
            tracing::error!(stage, %why, "A stage ended in a panic once more and stays down; please report it.");
            return Err(GaveUp(why));
        };
        let secs = pause.as_secs_f64();
        tracing::error!(stage, %why, secs, "A stage ended in a panic and is begun anew; please report it.");
        thread::sleep(pause);
        Ok(None)
    }
}

/// Runs a stage until it ends by itself, or has ended in a panic too often: then `status.degraded` says so.
pub(super) fn keep_up(stage: &str, announcer: &Announcer, mut run: impl FnMut()) {
    let mut attempts = Attempts::new(stage);
    loop {
        match attempts.attempt(&mut run) {
            Ok(Some(())) => return,
            Ok(None) => {}
            Err(over) => {
                let sentence = format!("{stage}: {over}; restart engramd");
                return announcer.degraded(stage, vec![sentence]);
            }
        }
    }
}

/// Carries out jobs with a worker until their senders are gone. A job that ends in a panic is lost, and the worker, which it
/// may have left in any state, is made anew; `restarted` is told.
///
/// # Errors
/// When that happened too often, or the worker could not be made again.
pub(super) fn serve<Job, Worker, Fault: Display>(
    stage: &str,
    jobs: &Receiver<Job>,
    mut worker: Worker,
    make: impl Fn() -> Result<Worker, Fault>,
    restarted: impl Fn(),
    mut carry_out: impl FnMut(&mut Worker, Job),
) -> Result<(), GaveUp> {
    let mut attempts = Attempts::new(stage);
    while let Ok(job) = jobs.recv() {
        if attempts.attempt(|| carry_out(&mut worker, job))?.is_none() {
            restarted();
            worker = make().map_err(|fault| GaveUp(fault.to_string()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use crossbeam_channel::unbounded;

    use super::*;

    #[test]
    fn the_sixth_panic_within_a_minute_is_one_too_many() {
        let mut budget = Budget::default();
        let begun = Instant::now();
        let at = |secs| begun + Duration::from_secs(secs);
        let pauses: Vec<u64> = (0..5)
            .map(|n| budget.spend(at(n)).map_or(0, |pause| pause.as_millis() as u64))
            .collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600]);
        assert_eq!(budget.spend(at(6)), None);
        // A minute after the first it may try once more.
        assert_eq!(budget.spend(at(61)), Some(Duration::from_millis(1600)));
    }

    #[test]
    fn a_worker_is_made_anew_and_only_the_job_that_broke_it_is_lost() {
        let (jobs, queue) = unbounded();
        for divisor in [1, 0, 2] {
            jobs.send(divisor).unwrap();
        }
        drop(jobs);
        let (made, restarts) = (Cell::new(0), Cell::new(0));
        let make = || {
            made.set(made.get() + 1);
            Ok::<i32, Infallible>(100 * made.get())
        };
        let mut done = Vec::new();
        let ended = serve(
            "dividing",
            &queue,
            0,
            make,
            || restarts.set(restarts.get() + 1),
            |worker, job| {
                done.push(*worker + 10 / job);
            },
        );
        assert_eq!(ended, Ok(()));
        assert_eq!((done, restarts.get()), (vec![10, 105], 1));
    }

    #[test]
    fn a_stage_that_cannot_be_helped_stays_down_and_says_so() {
        let announcer = Announcer::default();
        let tries = Cell::new(0);
        keep_up("brittle", &announcer, || {
            tries.set(tries.get() + 1);
            panic!("as always");
        });
        assert_eq!(tries.get(), MOST + 1);
        assert_eq!(announcer.impaired(), 1);
        // One that mends itself goes on.
        let tries = Cell::new(0);
        keep_up("moody", &announcer, || {
            tries.set(tries.get() + 1);
            assert!(tries.get() > 1, "the first time");
        });
        assert_eq!((tries.get(), announcer.impaired()), (2, 1));
    }
}
