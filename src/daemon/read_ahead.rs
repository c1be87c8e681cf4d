//! Reads what was told before anybody asks: the first question after a start, or after much was told, waits for no parse; what
//! is older is parsed bit by bit. What was read is dropped when something is erased. Vectors go into their
//! cells here, too, and what was kept from the last start is compared with its checksums.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::announce::Announcer;
use super::ingest::YieldPolicy;
use super::supervise;
use crate::answer::Answerer;
use crate::ids::{MemoryId, Seq};
use crate::memory::Memory;

/// How often new memories are looked for.
const LOOK: Duration = Duration::from_millis(250);

/// So many memories of before are parsed at a look, the newest first: with two milliseconds for each (`bench memory`, release),
/// 100,000 take some ten minutes and a quarter of a core.
const AT_ONCE: usize = 50;

/// A question that began before an erasure may read what was erased until then: it is dropped once more.
const LONGEST_QUESTION: Duration = Duration::from_secs(60);

/// A running reader; ends with [`ReadAhead::stop`].
pub struct ReadAhead {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl ReadAhead {
    /// Starts it.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        memory: Memory,
        answerer: Arc<Answerer>,
        courtesy: YieldPolicy,
        announcer: Announcer,
    ) -> std::io::Result<Self> {
        let stop = Arc::<AtomicBool>::default();
        let asked = Arc::clone(&stop);
        let thread = thread::Builder::new().name("read-ahead".to_owned()).spawn(move || {
            let degraded = |stage: &str, why| announcer.degraded(stage, why);
            supervise::keep_up("reading", degraded, || {
                let (mut seen, mut erasures) = (Seq(0), memory.erasures());
                let mut again: Option<Instant> = None;
                let mut unparsed: Vec<MemoryId> = Vec::new();
                let keep_on = || !asked.load(Ordering::Relaxed);
                while keep_on() {
                    memory.gather_vectors();
                    memory.check_derived();
                    let (view, erased) = (memory.view(), memory.erasures());
                    let is_due = again.is_some_and(|at| at <= Instant::now());
                    if erasures != erased || is_due {
                        answerer.forget_read();
                        again = (erasures != erased).then(|| Instant::now() + LONGEST_QUESTION);
                        (seen, erasures) = (Seq(0), erased);
                    }
                    let seq = view.seq();
                    if seen != seq {
                        courtesy.step_aside();
                        if seen == Seq(0) {
                            unparsed = answerer.unparsed(&view);
                        }
                        answerer.read_ahead(view, seen, &keep_on);
                        seen = seq;
                    } else if !unparsed.is_empty() {
                        courtesy.step_aside();
                        let newest = unparsed.split_off(unparsed.len().saturating_sub(AT_ONCE));
                        answerer.parse_ahead(view, &newest, &keep_on);
                    }
                    thread::sleep(LOOK);
                }
            });
        })?;
        Ok(Self { stop, thread })
    }

    /// Stops after the sentence in hand.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        if self.thread.join().is_err() {
            tracing::error!("the reader of what was told ended in a panic; please report it");
        }
    }
}
