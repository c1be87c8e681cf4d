//! Supervision: a stage that ends in a panic is reported and begun anew, alone and after a pause, up to five times within a
//! minute; then it stays down. What it had in hand is lost and counted, nothing else.

use std::fmt::Display;

use crate::supervise::{Attempts, GaveUp};

/// Runs a stage until it ends by itself, or has ended in a panic too often: then `status.degraded` says so.
pub(super) fn keep_up(
    stage: &str,
    degraded: impl FnOnce(&str, Vec<String>),
    mut run: impl FnMut(),
) {
    let mut attempts = Attempts::new(stage);
    loop {
        match attempts.attempt(&mut run) {
            Ok(Some(())) => return,
            Ok(None) => {}
            Err(over) => {
                let sentence = format!("{stage}: {over}; restart engramd");
                return degraded(stage, vec![sentence]);
            }
        }
    }
}

/// Carries out jobs with a worker until there is no next one. A job that ends in a panic is lost, and the worker, which it
/// may have left in any state, is made anew; `restarted` is told.
///
/// # Errors
/// When that happened too often, or the worker could not be made again.
pub(super) fn serve<Job, Worker, Fault: Display>(
    stage: &str,
    mut next: impl FnMut() -> Option<Job>,
    mut worker: Worker,
    make: impl Fn() -> Result<Worker, Fault>,
    restarted: impl Fn(),
    mut carry_out: impl FnMut(&mut Worker, Job),
) -> Result<(), GaveUp> {
    let mut attempts = Attempts::new(stage);
    while let Some(job) = next() {
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
    use crate::supervise::MOST;

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
            || queue.recv().ok(),
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
        let told = Cell::new(0);
        let degraded = |_: &str, why: Vec<String>| told.set(told.get() + why.len());
        let tries = Cell::new(0);
        keep_up("brittle", degraded, || {
            tries.set(tries.get() + 1);
            panic!("as always");
        });
        assert_eq!(tries.get(), MOST + 1);
        assert_eq!(told.get(), 1);
        // One that mends itself goes on.
        let tries = Cell::new(0);
        keep_up("moody", degraded, || {
            tries.set(tries.get() + 1);
            assert!(tries.get() > 1, "the first time");
        });
        assert_eq!((tries.get(), told.get()), (2, 1));
    }
}
