//! Steering a replay, and choosing what is played next.

use serde_json::json;

use super::{Clock, MemoryService};
use crate::daemon::ingest::{Choice, Command, PlaybackClock};
use crate::daemon::queries::Played;
use crate::daemon::recordings;
use crate::mqtt::message::{ReplayCommand, ReplayRate};
use crate::mqtt::{Refusal, Reply};
use crate::time::Timestamp;

impl MemoryService {
    /// Steers the replay, or begins the next one.
    pub(super) fn replay(&self, command: ReplayCommand) -> Result<Reply, Refusal> {
        let Clock::Replay(pace) = &self.clock else {
            return Err(Refusal::unavailable(
                "no recording is being played; start one with `engramd replay REC --serve`",
            ));
        };
        if let ReplayCommand::Play { recording, again } = command {
            return self.play(pace, &recording, again);
        }
        if let ReplayCommand::Seek(to) = &command
            && *to < pace.position()
        {
            return Err(Refusal::bad_request(format!(
                "the replay is at {} and cannot go back: what was played is remembered; to remember it once \
                 more: engramd replay REC --again --start-offset S",
                pace.position()
            )));
        }
        if pace.is_stopped() {
            return Err(Refusal::unavailable(
                "the replay was stopped; start it again with `engramd replay REC --serve`, or choose a recording (`replay/play`)",
            ));
        }
        steer(pace, command);
        let (rate, paused) = pace.state();
        let rate = rate.map_or(json!("max"), |rate| json!(rate));
        Ok(Reply::Document(json!({ "position": pace.position(), "rate": rate, "paused": paused })))
    }

    /// Chooses a recording of the folder; whoever plays begins with it at once, where nothing else is played.
    fn play(&self, pace: &PlaybackClock, recording: &str, again: bool) -> Result<Reply, Refusal> {
        let session = self.session.load();
        let Some(folder) = session.config.replay.folder.as_deref() else {
            return Err(Refusal::unavailable(
                "there is no folder of recordings to choose from; set `replay.folder`",
            ));
        };
        let found = recordings::named(folder, recording).map_err(|error| {
            Refusal::unavailable(format!("the folder of recordings cannot be read: {error}"))
        })?;
        let Some(path) = found else {
            return Err(Refusal::not_found(format!(
                "there is no recording {recording:?} in the folder; the verb `recordings` tells which there are"
            )));
        };
        if !pace.choose(Choice { path, again }) {
            return Err(Refusal::unavailable("a recording is played; stop it first"));
        }
        Ok(Reply::Document(json!({ "recording": recording, "again": again })))
    }

    /// What is played now.
    pub(super) fn played(&self) -> Option<Played> {
        let Clock::Replay(pace) = &self.clock else { return None };
        let playing = pace.playing()?;
        let ((rate, paused), position) = (pace.state(), pace.position());
        Some(Played {
            name: playing.name,
            start: playing.span.map(|span| span.start),
            end: playing.span.map(|span| span.end),
            position: (position > Timestamp::EPOCH).then_some(position),
            rate: rate.map_or(ReplayRate::Max, ReplayRate::Times),
            paused,
        })
    }
}

/// Tells a replay what to do.
fn steer(pace: &PlaybackClock, command: ReplayCommand) {
    let step = |items| {
        pace.command(Command::Pause);
        pace.command(Command::Step(items));
    };
    match command {
        ReplayCommand::Pause => pace.command(Command::Pause),
        ReplayCommand::Resume => pace.command(Command::Resume),
        ReplayCommand::Rate(ReplayRate::Max) => pace.command(Command::Rate(None)),
        ReplayCommand::Rate(ReplayRate::Times(rate)) => pace.command(Command::Rate(Some(rate))),
        ReplayCommand::Seek(to) => pace.command(Command::Seek(to)),
        ReplayCommand::Step => step(1),
        ReplayCommand::Burst(frames) => step(u64::from(frames)),
        ReplayCommand::Stop => pace.command(Command::Stop),
        // Begun elsewhere.
        ReplayCommand::Play { .. } => {}
    }
}
