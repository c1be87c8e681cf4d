//! The thread that looks after the daemon: watchdog, status line, figures, a smart home.

use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use super::home::HomeTeller;
use crate::daemon::announce::Announcer;
use crate::daemon::ingest::SessionSettings;
use crate::daemon::lanes::Lanes;
use crate::daemon::metrics::stats::StatsWriter;
use crate::daemon::notify::{self, Pulse, Watchdog};
use crate::daemon::status_line::StatusLine;
use crate::mqtt::Publisher;
use crate::runtime::{allocator, crash_journal};

/// How often `stats` is published.
const STATS_EVERY: Duration = Duration::from_secs(10);

/// How often free memory goes back to the system.
const TRIM_EVERY: Duration = Duration::from_secs(30);

/// How often the daemon looks after itself.
pub(super) const TICK: Duration = Duration::from_millis(500);

/// Looks after the daemon twice a second.
pub(super) struct Ticker {
    pub(super) status: StatusLine,
    pub(super) stats: StatsWriter,
    pub(super) publisher: Publisher,
    pub(super) announcer: Announcer,
    pub(super) watchdog: Watchdog,
    /// The session with the broker: questions come in and answers go out.
    pub(super) control: Pulse,
    pub(super) sealing: Pulse,
    pub(super) lanes: Lanes,
    pub(super) settings: SessionSettings,
    pub(super) home: Option<HomeTeller>,
}

impl Ticker {
    pub(super) fn run(&mut self, quit: &Receiver<()>) {
        let feed_every = Watchdog::interval();
        let (mut fed, mut told, mut trimmed) = (Instant::now(), Instant::now(), Instant::now());
        let (mut sealed, mut turns) = (None, None);
        while quit.recv_timeout(TICK).is_err_and(|error| error.is_timeout()) {
            let readings = self.settings.gauges.read();
            // While something is erased nothing is sealed, and that is no reason to be ended.
            let erasing = self.settings.memory.is_forgetting();
            if readings.borders == readings.sealed || readings.disk_full || erasing {
                self.sealing.rest();
                sealed = None;
            } else if sealed.replace(readings.sealed) != Some(readings.sealed) {
                self.sealing.beat();
            }
            self.lanes.look(&readings, &self.announcer);
            let turned = self.publisher.turns();
            if turns.replace(turned) != Some(turned) {
                self.control.beat();
            }
            self.announcer.degraded("broker", self.publisher.trouble());
            let in_ram = self.settings.memory.rows_in_ram();
            self.announcer.degraded("rows", in_ram.into_iter().collect());
            if feed_every.is_some_and(|every| fed.elapsed() >= every) {
                fed = Instant::now();
                self.watchdog.beat();
            }
            if told.elapsed() >= STATS_EVERY {
                told = Instant::now();
                let stats = self.stats.next(&self.publisher);
                self.publisher.stats(&stats);
            }
            if trimmed.elapsed() >= TRIM_EVERY {
                trimmed = Instant::now();
                allocator::trim();
                crash_journal::ran_well();
            }
            if let Some(home) = &mut self.home {
                home.look(&self.publisher);
            }
            if let Some(line) = self.status.next(Instant::now()) {
                notify::status(&line);
            }
        }
    }
}
