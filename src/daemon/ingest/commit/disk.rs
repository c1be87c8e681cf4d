//! A full disk: ingest waits for space while questions are answered, and goes on by itself.

use std::path::Path;
use std::time::Duration;

use crossbeam_channel::Sender;

use crate::daemon::Stop;
use crate::daemon::ingest::Gauges;
use crate::daemon::ingest::report::Report;
use crate::memory::MemoryError;

/// How often space is looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Less than this counts as full: a clip, its media and SQLite's log must fit, bytes.
const RESERVE: u64 = 32_000_000;

/// Waits for space; without it, a full disk is an error at once (a replay from the command line, which is resumed).
pub(in crate::daemon::ingest) struct DiskFullRetry {
    /// Until then at most.
    pub(in crate::daemon::ingest) stop: Option<Stop>,
    pub(in crate::daemon::ingest) reports: Sender<Report>,
    pub(in crate::daemon::ingest) gauges: Gauges,
    /// It was told that the disk is full.
    pub(in crate::daemon::ingest) told: bool,
}

impl DiskFullRetry {
    /// Before anything is locked: waits until the disk of `store` has room for a clip, or the daemon stops.
    pub(in crate::daemon::ingest) fn room(&mut self, store: &Path) {
        let Some(stop) = self.stop.clone() else { return };
        while rustix::fs::statvfs(store).is_ok_and(|disk| disk.f_bavail * disk.f_frsize < RESERVE) {
            self.tell(store);
            if stop.wait_for(LOOK_EVERY) {
                return;
            }
        }
    }

    /// After a commit failed: whether to try it again, after a while.
    pub(in crate::daemon::ingest) fn again(&mut self, store: &Path, error: &MemoryError) -> bool {
        let Some(stop) = self.stop.clone().filter(|_| error.is_disk_full()) else { return false };
        self.tell(store);
        !stop.wait_for(LOOK_EVERY)
    }

    /// A clip was committed.
    pub(in crate::daemon::ingest) fn committed(&mut self) {
        if std::mem::take(&mut self.told) {
            self.gauges.disk_full(false);
            tracing::info!("there is space on the disk again: remembering goes on");
            self.reports.send(Report::DiskFull(None)).ok();
        }
    }

    fn tell(&mut self, store: &Path) {
        if !std::mem::replace(&mut self.told, true) {
            let why = format!(
                "remembering: the disk that holds {} is full; free space there, it goes on by itself",
                store.display()
            );
            self.gauges.disk_full(true);
            tracing::error!("{why}");
            self.reports.send(Report::DiskFull(Some(why))).ok();
        }
    }
}
