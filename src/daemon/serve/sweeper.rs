//! The thread that erases what is not to be kept any more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use crate::daemon::service::MemoryService;
use crate::mqtt::Publisher;
use crate::time::Timestamp;

/// How often strangers that have gone are looked for, where they are not to be kept.
const STRANGERS_EVERY: Duration = Duration::from_secs(60);

/// How often it is tried again to overwrite what was erased while somebody read the store.
const ERASING_EVERY: Duration = Duration::from_secs(5);

/// How often what has become too old is looked for.
const AGED_EVERY: Duration = Duration::from_secs(6 * 3600);

/// Erases what is not to be kept any more; while live, because recordings have their own time.
pub(super) struct Sweeper {
    pub(super) service: Arc<MemoryService>,
    pub(super) live: bool,
    pub(super) publisher: Publisher,
}

impl Sweeper {
    pub(super) fn run(&self, quit: &Receiver<()>) {
        let (mut aged, mut swept): (Option<Instant>, Instant) = (None, Instant::now());
        while self.live && quit.recv_timeout(ERASING_EVERY).is_err_and(|error| error.is_timeout()) {
            if swept.elapsed() < STRANGERS_EVERY {
                // Whoever read the store while something was erased may be done.
                self.service.finish_erasing();
                continue;
            }
            swept = Instant::now();
            let due = aged.is_none_or(|last| last.elapsed() >= AGED_EVERY);
            if due {
                aged = Some(Instant::now());
            }
            if self.service.sweep(Timestamp::wall_clock(), due) {
                self.publisher.erase_waiting();
            }
        }
    }
}
