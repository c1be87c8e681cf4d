//! Threads that outlive the session they work for.
//!
//! libtorch keeps what it prepared for the shapes it met with the thread that met them, and leaves it behind when that
//! thread ends: about half a megabyte for every worker of every session. So workers are handed on, from one session to
//! the next.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

type Work = Box<dyn FnOnce() + Send>;

/// Threads that wait for work.
struct Idle(Mutex<Vec<Sender<Work>>>);

static IDLE: Idle = Idle::none();

/// Work that a thread does.
pub(super) struct Working(Receiver<thread::Result<()>>);

impl Working {
    /// Waits until it is done; an error is the panic that it ended in.
    pub(super) fn join(self) -> thread::Result<()> {
        self.0.recv().unwrap_or_else(|gone| Err(Box::new(gone)))
    }
}

/// Has it done by a thread that waits for work, or by a new one of that name.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn spawn(
    name: String,
    work: impl FnOnce() + Send + 'static,
) -> std::io::Result<Working> {
    IDLE.spawn(name, work)
}

impl Idle {
    const fn none() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn threads(&self) -> MutexGuard<'_, Vec<Sender<Work>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(
        &'static self,
        name: String,
        work: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Working> {
        let (done, working) = bounded(1);
        let mut work: Work = Box::new(move || {
            // What it held is dropped before somebody hears that it is done; perhaps nobody waits for it.
            let ended = catch_unwind(AssertUnwindSafe(work));
            done.send(ended).ok();
        });
        loop {
            let Some(idle) = self.threads().pop() else { break };
            match idle.send(work) {
                Ok(()) => return Ok(Working(working)),
                Err(refused) => work = refused.0,
            }
        }
        thread::Builder::new().name(name).spawn(move || self.work_on(work))?;
        Ok(Working(working))
    }

    fn work_on(&self, mut work: Work) {
        let (next, waiting) = bounded(1);
        loop {
            work();
            self.threads().push(next.clone());
            // This thread holds a sender itself: there is always somebody who may send.
            let Ok(more) = waiting.recv() else { return };
            work = more;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_thread_is_handed_on_and_a_panic_is_told() {
        static OURS: Idle = Idle::none();
        let threads = Arc::<Mutex<Vec<_>>>::default();
        let work = |broken: bool| {
            let threads = Arc::clone(&threads);
            let working = OURS.spawn("lasting".to_owned(), move || {
                threads.lock().unwrap().push(thread::current().id());
                assert!(!broken, "on purpose");
            });
            let ended = working.unwrap().join();
            // It says that it is done just before it waits again.
            while OURS.threads().is_empty() {
                thread::yield_now();
            }
            ended
        };
        for _ in 0..20 {
            assert!(work(false).is_ok());
        }
        assert!(work(true).is_err());
        assert!(work(false).is_ok(), "whoever panicked works on");
        let mut threads = threads.lock().unwrap().clone();
        assert_eq!(threads.len(), 22);
        threads.dedup();
        assert_eq!(threads.len(), 1, "one thread did it all");
    }
}
