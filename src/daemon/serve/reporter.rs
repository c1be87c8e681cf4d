//! The thread that publishes what sessions report.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, select};

use super::describer::Describer;
use crate::daemon::announce::Announcer;
use crate::daemon::ingest::Report;
use crate::daemon::metrics::meters::Meters;
use crate::daemon::room::Room;
use crate::time::Timestamp;

/// Publishes what sessions report.
pub(super) struct Reporter {
    pub(super) announcer: Announcer,
    pub(super) meters: Meters,
    pub(super) describer: Describer,
    pub(super) told: Option<Sender<Report>>,
    /// Event time is the wall clock's.
    pub(super) live: bool,
    pub(super) room: Option<Room>,
}

impl Reporter {
    pub(super) fn run(&self, reports: &Receiver<Report>, quit: &Receiver<()>) {
        let memory = self.describer.now.load().1.memory.clone();
        let mut history = memory.history_from();
        let mut take = |report: Report| {
            match &report {
                Report::Began { session, from: Some(_), .. } => {
                    self.announcer.session(Some(*session));
                }
                Report::Began { .. } => {}
                Report::Clip(clip) => {
                    self.meters.count("clips");
                    self.meters.add("memories", clip.memories as u64);
                    self.meters.add("frames_dropped", clip.dropped);
                    self.meters.latency("seal", Duration::from_secs_f64(clip.sealed_secs.max(0.0)));
                    if self.live {
                        let secs = Timestamp::wall_clock().secs_since(clip.end);
                        let took = Duration::try_from_secs_f64(secs).unwrap_or_default();
                        self.meters.latency("capture_to_answerable", took);
                    }
                    self.announcer.clip(&memory, clip);
                    if let Some(room) = &self.room {
                        room.heard(clip.clip, &clip.spoken, &clip.identified);
                    }
                    if history.is_none() {
                        history = memory.history_from();
                        self.describer.publish();
                    }
                }
                Report::DiskFull(why) => {
                    self.announcer.degraded("disk", why.iter().cloned().collect());
                }
                Report::Words(words) => {
                    self.announcer.words(&memory, words);
                    if let Some(room) = &self.room {
                        let turn = std::slice::from_ref(&words.turn);
                        room.heard(words.clip, turn, &words.identified);
                    }
                }
                Report::Partial(words) => {
                    let wake = self.room.as_ref().is_some_and(|room| room.is_called(&words.text));
                    self.announcer.partial(words, wake);
                }
                Report::Ended => self.announcer.session_ended(&memory.view()),
            }
            if let Some(told) = &self.told {
                told.send(report).ok();
            }
        };
        loop {
            select! {
                recv(reports) -> report => match report {
                    Ok(report) => take(report),
                    Err(_) => return,
                },
                recv(quit) -> _ => break,
            }
        }
        reports.try_iter().for_each(take);
    }
}
