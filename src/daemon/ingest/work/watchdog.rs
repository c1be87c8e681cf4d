//! Workers that hang are looked after.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};

use super::Lane;
use super::worker::Worker;
use crate::perceive::PerceiveError;
use crate::perceive::speech::Recogniser;

/// How often workers are looked after.
const LOOK: Duration = Duration::from_millis(250);

/// The thread that looks after the workers.
pub(super) struct Watchdog {
    quit: Sender<()>,
    thread: JoinHandle<()>,
}

impl Watchdog {
    pub(super) fn start(
        perceive: Lane<Worker>,
        words: Lane<Recogniser>,
    ) -> Result<Self, PerceiveError> {
        let (quit, ended) = bounded::<()>(0);
        let look = move || {
            let mut last = Instant::now();
            while ended.recv_timeout(LOOK).is_err_and(|error| error.is_timeout()) {
                // A process that was stopped, or a machine that slept, is no reason to give up what it was at.
                let step = last.elapsed().min(2 * LOOK);
                last = Instant::now();
                perceive.look(step);
                words.look(step);
            }
        };
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(look);
        Ok(Self { quit, thread: thread.map_err(PerceiveError::Thread)? })
    }

    pub(super) fn end(self) {
        drop(self.quit);
        if self.thread.join().is_err() {
            tracing::error!(
                "The thread that looks after the workers ended in a panic; please report it."
            );
        }
    }
}
