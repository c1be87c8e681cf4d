//! Keeps the answers that were given, without making anybody wait for the disk.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};

use crate::ids::AnswerId;
use crate::memory::{AnswerRow, Memory, MemoryError};

/// Answers that may wait to be written.
const QUEUE: usize = 4096;
/// Answers found again by their request's id.
const REMEMBERED_IDS: usize = 4096;

/// How long an answer that may not be written yet is waited for.
const FIND_WAIT: Duration = Duration::from_secs(2);

enum Entry {
    /// What is to be kept, and how often something had been erased when it was sought.
    Answer(AnswerRow, u64),
    /// Everything before it is written once it is answered.
    Flush(Sender<()>),
}

/// Gives answers their ids and writes them in a thread of its own.
pub struct AnswerLog {
    next: AtomicU64,
    /// `None` while it is dropped.
    entries: Option<Sender<Entry>>,
    writer: Option<JoinHandle<()>>,
    /// Newest last: the request's own id and the answer's.
    asked: Mutex<VecDeque<(String, AnswerId)>>,
    lost: Arc<AtomicU64>,
}

impl AnswerLog {
    /// Starts the thread; it ends with the log.
    #[must_use]
    pub fn start(memory: Memory) -> Self {
        let (entries, waiting) = bounded::<Entry>(QUEUE);
        let next = AtomicU64::new(memory.next_answer_id().0);
        let lost = Arc::<AtomicU64>::default();
        let unwritten = Arc::clone(&lost);
        let write = move || {
            for entry in waiting {
                let (row, erasures) = match entry {
                    Entry::Answer(row, erasures) => (row, erasures),
                    Entry::Flush(done) => {
                        done.send(()).ok();
                        continue;
                    }
                };
                if let Err(error) = memory.keep_answer(&row, erasures) {
                    unwritten.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(%error, id = %row.id, "An answer was given and is not kept.");
                }
            }
        };
        let writer = match thread::Builder::new().name("answers".to_owned()).spawn(write) {
            Ok(writer) => Some(writer),
            Err(error) => {
                tracing::error!(%error, "No thread for answers: they are given and not kept.");
                None
            }
        };
        Self { next, entries: Some(entries), writer, asked: Mutex::default(), lost }
    }

    fn put(&self, entry: Entry) -> bool {
        self.entries.as_ref().is_some_and(|entries| entries.try_send(entry).is_ok())
    }

    /// A fresh id.
    pub(super) fn mint(&self) -> AnswerId {
        AnswerId(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Keeps an answer to the request of that id, if it has one; `erasures` as [`Memory::keep_answer`] has it. When
    /// thousands wait for the disk it is given up and counted.
    pub(super) fn keep(&self, row: AnswerRow, request: Option<&str>, erasures: u64) {
        if let Some(request) = request {
            let mut known = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= REMEMBERED_IDS {
                known.pop_front();
            }
            known.push_back((request.to_owned(), row.id));
        }
        if !self.put(Entry::Answer(row, erasures)) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The answer that `word` means: its own id, or the id of the request it replied to.
    pub(super) fn find(
        &self,
        memory: &Memory,
        word: &str,
    ) -> Result<Option<AnswerRow>, MemoryError> {
        self.flush_within(FIND_WAIT);
        let by_request = || {
            let known = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            known.iter().rev().find(|(request, _)| request == word).map(|(_, id)| *id)
        };
        match word.parse().ok().or_else(by_request) {
            Some(id) => memory.answer(id),
            None => Ok(None),
        }
    }

    /// Waits until everything so far is written.
    pub fn flush(&self) {
        self.flush_within(Duration::MAX);
    }

    /// The same, but not for longer: a full disk may keep the writer.
    fn flush_within(&self, most: Duration) {
        let (done, written) = bounded(1);
        let sent = self.entries.as_ref().map(|all| all.send_timeout(Entry::Flush(done), most));
        if matches!(sent, Some(Ok(()))) {
            let _ = written.recv_timeout(most);
        }
    }

    /// Answers given and not kept.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for AnswerLog {
    /// Writes what waits; the memory is not held beyond the log.
    fn drop(&mut self) {
        drop(self.entries.take());
        if self.writer.take().is_some_and(|writer| writer.join().is_err()) {
            tracing::error!("The thread of answers ended in a panic; some are not kept.");
        }
    }
}
