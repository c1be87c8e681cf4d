//! The write lock: one writer at a time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The right to write, given to one draft at a time.
#[derive(Debug, Default)]
pub(crate) struct Turnstile {
    taken: Mutex<bool>,
    freed: Condvar,
}

/// The right to write; dropping it frees the turnstile.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Turnstile>);

impl Turnstile {
    /// Waits for the right to write.
    pub(crate) fn enter(self: &Arc<Self>) -> Permit {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken {
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken = true;
        Permit(Arc::clone(self))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.freed.notify_one();
    }
}
