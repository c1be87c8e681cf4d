//! One microphone's stage: finds turns in its sound and hands over a part once a boundary is settled.
//!
//! A turn is known only some time after it ended, so this stage runs past a boundary before it can say
//! which turns ended before it. What it read beyond the boundary is part of the checkpoint.

use std::collections::VecDeque;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::microphone_state::MicrophoneState;
use super::mouths::Mouths;
use super::partial::Partials;
use super::present::PresentBoard;
use crate::capture::Cause;
use crate::daemon::ingest::clip_boundary::ClipBoundary;
use crate::daemon::ingest::commit::said::EndedTurn;
use crate::daemon::ingest::contribution::{Contribution, FoundTurn, MicrophoneContribution};
use crate::daemon::ingest::report::Losses;
use crate::daemon::ingest::settings::SessionSettings;
use crate::daemon::ingest::work::jobs::JobQueue;
use crate::ids::SourceId;
use crate::media::Block;
use crate::perceive::PerceiveError;
use crate::perceive::sound::SoundListener;
use crate::perceive::voice::{RawTurn, TurnSegmenter, VoiceJob, Voices};
use crate::percept::SpeechTurn;
use crate::supervise::Attempts;
use crate::telemetry::rate_limited_log::RateLimitedLog;
use crate::telemetry::stage_times::Stage;
use crate::time::Timestamp;

/// What reaches a microphone's stage, in event time order.
pub(in crate::daemon::ingest) enum Step {
    /// Sound.
    Block(Block),
    /// Every block that starts before the boundary has been handed in.
    Boundary(ClipBoundary),
}

/// Sound that stays away for longer than this before a boundary means that none is coming, seconds.
const SILENT_SOURCE_SECS: f64 = 0.5;

pub(in crate::daemon::ingest) struct MicrophoneStage {
    pub(in crate::daemon::ingest) index: usize,
    pub(in crate::daemon::ingest) source: SourceId,
    pub(in crate::daemon::ingest) finder: TurnSegmenter,
    /// Listens for sounds that mean something; `None` where nobody does.
    pub(in crate::daemon::ingest) listener: Option<SoundListener>,
    /// Turns of a resumed session that were found beyond its last boundary.
    pub(in crate::daemon::ingest) ahead: Vec<RawTurn>,
    pub(in crate::daemon::ingest) consumed: Timestamp,
    pub(in crate::daemon::ingest) jobs: JobQueue,
    pub(in crate::daemon::ingest) present: PresentBoard,
    /// Live: words while a turn is open.
    pub(in crate::daemon::ingest) partials: Option<Partials>,
    pub(in crate::daemon::ingest) settings: SessionSettings,
    pub(in crate::daemon::ingest) losses: Losses,
    /// Where turns meet mouths; `None` where none are scored.
    pub(in crate::daemon::ingest) mouths: Option<Mouths>,
}

struct Underway {
    raw: RawTurn,
    found: FoundTurn,
}

impl Underway {
    /// Shows the turn to questions once its voice is embedded; gives back what it turned out to be, once.
    fn show(&mut self, present: &PresentBoard) -> Vec<SpeechTurn> {
        if self.found.shown {
            return Vec::new();
        }
        let Ok(result) = self.found.result.try_recv() else { return Vec::new() };
        let turns: Vec<SpeechTurn> = result.iter().flatten().cloned().collect();
        turns.iter().for_each(|turn| present.spoken(turn));
        // The committer takes it from a channel of its own.
        let (put, take) = bounded(1);
        put.send(result).ok();
        self.found = FoundTurn { result: take, shown: true };
        turns
    }
}

impl MicrophoneStage {
    /// Runs until the last handle to `steps` is gone.
    pub(in crate::daemon::ingest) fn start(
        self,
        steps: Receiver<Step>,
        parts: Sender<Contribution>,
    ) -> Result<JoinHandle<()>, PerceiveError> {
        thread::Builder::new()
            .name(format!("microphone-{}", self.index))
            .spawn(move || self.run(&steps, &parts))
            .map_err(PerceiveError::Thread)
    }

    fn run(mut self, steps: &Receiver<Step>, parts: &Sender<Contribution>) {
        let mut underway: VecDeque<Underway> =
            std::mem::take(&mut self.ahead).into_iter().map(|raw| self.submit(raw)).collect();
        let mut boundaries: VecDeque<ClipBoundary> = VecDeque::new();
        let (mut attempts, mut left_out) = (Attempts::new("microphone"), RateLimitedLog::default());
        while let Ok(step) = steps.recv() {
            let (sound, flushed) = match step {
                Step::Block(block) => {
                    self.consumed = block.end();
                    (Some(block), false)
                }
                Step::Boundary(boundary) => {
                    let silent = boundary.end.secs_since(self.consumed) > SILENT_SOURCE_SECS;
                    boundaries.push_back(boundary);
                    (None, boundary.last || silent)
                }
            };
            let found = match attempts.attempt(|| self.find(sound.as_ref(), flushed)) {
                Ok(Some(found)) => found,
                Ok(None) => match self.begin_anew() {
                    Ok(()) => Ok(Vec::new()),
                    Err(error) => {
                        tracing::error!(source = %self.source, %error, "A microphone is given up.");
                        return;
                    }
                },
                Err(_) => return,
            };
            match found {
                Ok(turns) => underway.extend(turns.into_iter().map(|raw| self.submit(raw))),
                Err(error) => {
                    if let Some(count) = left_out.happened(Instant::now()) {
                        tracing::warn!(source = %self.source, %error, count, "Sound was left out; more is told once a minute.");
                    }
                }
            }
            if let Some(mouths) = &self.mouths {
                mouths.listened(self.index, self.finder.watermark().unwrap_or(self.consumed));
            }
            let open = self.finder.open_turn();
            for turn in &mut underway {
                for shown in turn.show(&self.present) {
                    if let Some(ended) = EndedTurn::ask(shown, &self.jobs, &self.settings.inbox)
                        && parts.send(Contribution::Ended(Box::new(ended))).is_err()
                    {
                        return;
                    }
                }
            }
            let span = open.as_ref().map(|turn| turn.span);
            self.present.speaking(&self.source, self.consumed, span);
            if let Some(partials) = &mut self.partials {
                partials.step(&self.source, open.as_ref(), &self.present);
            }
            while let Some(boundary) = boundaries.front().copied() {
                let known = self.finder.watermark();
                if !flushed && known.is_some_and(|known| known < boundary.end) {
                    break;
                }
                boundaries.pop_front();
                if let Some(mouths) = &self.mouths {
                    mouths.listened(self.index, boundary.end);
                }
                let part = self.part(boundary, &mut underway);
                if parts
                    .send(Contribution::Microphone(self.index, boundary, Box::new(part)))
                    .is_err()
                {
                    return;
                }
            }
        }
    }

    /// Turns that have ended, as far as this sound tells; `flush`: no more of it is coming soon.
    fn find(&mut self, sound: Option<&Block>, flush: bool) -> Result<Vec<RawTurn>, PerceiveError> {
        self.settings.failpoints.pass("microphone");
        let finder = &mut self.finder;
        let stages = &self.settings.perceivers.stages;
        if let Some(listener) = &mut self.listener {
            match sound {
                Some(block) => stages.time(Stage::Sounds, || listener.push(block))?,
                None if flush => listener.flush(),
                None => {}
            }
        }
        match sound {
            Some(block) => Ok(stages.time(Stage::VoiceActivity, || finder.push(block))?),
            None if flush => Ok(finder.flush()?),
            None => Ok(Vec::new()),
        }
    }

    /// After a panic, which may have left any state: the open turn is lost.
    fn begin_anew(&mut self) -> Result<(), PerceiveError> {
        let finder = self.settings.perceivers.turn_finder(&self.source, None)?;
        self.finder = finder.ok_or(PerceiveError::WorkerLost)?;
        self.listener = self.settings.perceivers.sound_listener(&self.source, None)?;
        self.losses.add(Cause::Fault, self.source.as_str());
        self.settings.gauges.restarted("microphone");
        Ok(())
    }

    /// Has the turn embedded, and compared with the mouths that were seen during it.
    fn submit(&self, raw: RawTurn) -> Underway {
        if let Some(mouths) = &self.mouths {
            mouths.heard(self.index, &raw);
        }
        let own = self.settings.inbox.own_during(&self.source, raw.span);
        let found = FoundTurn {
            result: self.jobs.look::<Voices>(VoiceJob::Turn { raw: raw.clone(), own }),
            shown: false,
        };
        Underway { raw, found }
    }

    /// Everything that began before the boundary; the rest stays underway and enters the checkpoint raw.
    fn part(
        &mut self,
        boundary: ClipBoundary,
        underway: &mut VecDeque<Underway>,
    ) -> MicrophoneContribution {
        let mut turns = Vec::new();
        while underway.front().is_some_and(|turn| turn.raw.span.start < boundary.end) {
            turns.extend(underway.pop_front().map(|turn| turn.found));
        }
        let ahead = underway.iter().map(|turn| turn.raw.clone()).collect();
        let sounds = self.finder.sounds_until(boundary.end);
        let listener = self.listener.as_mut();
        let sound_events = listener.map(|listener| listener.until(boundary.end));
        let sound_events = sound_events.unwrap_or_default();
        let finder = self.finder.state().clone();
        let listener = self.listener.as_ref().map(|listener| listener.state().clone());
        let state = MicrophoneState { finder, listener, ahead, consumed: self.consumed };
        MicrophoneContribution { turns, sounds, sound_events, state }
    }
}
