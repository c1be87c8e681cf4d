//! The committer: puts what the stages contribute to a clip together and commits it in one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::checkpoint::{Checkpoint, PerceptIds};
use super::disk::DiskFullRetry;
use super::late_words;
use super::late_words::LateQueue;
use super::poses;
use super::quiet::Quiet;
use super::said::{Said, Showing};
use super::watches;
use crate::capture::Cause;
use crate::daemon::ingest::clip_boundary::ClipBoundary;
use crate::daemon::ingest::contribution::CameraContribution;
use crate::daemon::ingest::contribution::Contribution;
use crate::daemon::ingest::contribution::DispatchContribution;
use crate::daemon::ingest::contribution::MicrophoneContribution;
use crate::daemon::ingest::error::IngestError;
use crate::daemon::ingest::report::{ClipReport, LateWords, Losses, Report};
use crate::daemon::ingest::settings::SessionSettings;
use crate::daemon::ingest::stage::mouths::Mouths;
use crate::daemon::ingest::stage::present::PresentBoard;
use crate::daemon::ingest::work::jobs::JobQueue;
use crate::identify::{IdentifiedClip, Persons, Resolver};
use crate::ids::{ClipId, SessionId, SourceId};
use crate::memorize::model::{SpooledClip, SpooledTurn};
use crate::memorize::{Scene, Upkeep};
use crate::memory::model::{
    ActionRow, CameraMoveRow, Clip, Media, MediaKind, PoseRow, Recording, SoundEventRow, SoundRow,
    TextTrackRow,
};
use crate::memory::{Draft, MemoryError, View};
use crate::percept::ClipPercepts;
use crate::supervise::{Attempts, contained};
use crate::telemetry::stage_times::Stage;
use crate::time::{Span, Timestamp};

/// Parts of a clip that have arrived.
#[derive(Default)]
struct PendingClip {
    dispatch: Option<Box<DispatchContribution>>,
    cameras: BTreeMap<usize, Box<CameraContribution>>,
    microphones: BTreeMap<usize, Box<MicrophoneContribution>>,
    since: Option<Instant>,
}

/// Touched by the sealing thread alone.
pub(in crate::daemon::ingest) struct Committer {
    pub(in crate::daemon::ingest) settings: SessionSettings,
    /// Concludes and forgets between clips.
    pub(in crate::daemon::ingest) upkeep: Upkeep,
    pub(in crate::daemon::ingest) jobs: JobQueue,
    pub(in crate::daemon::ingest) present: PresentBoard,
    pub(in crate::daemon::ingest) cameras: Vec<SourceId>,
    pub(in crate::daemon::ingest) microphones: Vec<SourceId>,
    pub(in crate::daemon::ingest) ids: PerceptIds,
    pub(in crate::daemon::ingest) recording: Option<Recording>,
    /// None until the first clip's transaction opens it.
    pub(in crate::daemon::ingest) session: Option<SessionId>,
    pub(in crate::daemon::ingest) clips: u64,
    /// Live sessions: set when the daemon stops. None: every word is waited for.
    pub(in crate::daemon::ingest) stopping: Option<Arc<AtomicBool>>,
    /// Where turns meet mouths; `None` where none are scored.
    pub(in crate::daemon::ingest) mouths: Option<Mouths>,
    /// Live: words that were not there in time.
    pub(in crate::daemon::ingest) late: LateQueue,
    /// Live: turns that have ended and are not sealed.
    pub(in crate::daemon::ingest) said: Said,
    pub(in crate::daemon::ingest) patience: DiskFullRetry,
    /// The session's clock: end of the newest sealed clip.
    pub(in crate::daemon::ingest) recorded: Timestamp,
    /// Live: clips in which nothing was perceived.
    pub(in crate::daemon::ingest) quiet: Quiet,
    /// Clips in the spool whose words are still to come, since when.
    pub(in crate::daemon::ingest) held: Vec<(ClipId, Instant)>,
    /// Clips that could not be sealed are counted here.
    pub(in crate::daemon::ingest) losses: Losses,
}

/// How long a clip in the spool is held for words that are still to come; then the model has it without them.
const HELD_FOR: Duration = Duration::from_secs(120);
/// How often late words are looked for while no part comes.
const LATE_EVERY: Duration = Duration::from_millis(200);
/// The same for words of turns that have just ended: somebody may be about to ask.
const SAID_EVERY: Duration = Duration::from_millis(20);

/// What became of a session's clips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::daemon::ingest) struct Committed {
    /// How many are committed.
    pub(in crate::daemon::ingest) clips: u64,
    /// A stop came before the rest of a recording could be sealed: the next replay of it begins there.
    pub(in crate::daemon::ingest) left: bool,
}

impl Committer {
    /// Commits clips in order until every stage is gone.
    pub(in crate::daemon::ingest) fn run(
        mut self,
        parts: &Receiver<Contribution>,
    ) -> Result<Committed, IngestError> {
        let done = self.seal_all(parts);
        // No more words come.
        self.release(Duration::ZERO);
        done
    }

    fn seal_all(&mut self, parts: &Receiver<Contribution>) -> Result<Committed, IngestError> {
        let mut slots: BTreeMap<ClipBoundary, PendingClip> = BTreeMap::new();
        let mut attempts = Attempts::new("seal");
        while let Some(part) = self.next_part(parts)? {
            match part {
                Contribution::Dispatch(boundary, part) => {
                    let slot = slots.entry(boundary).or_default();
                    slot.dispatch = Some(part);
                    slot.since = Some(Instant::now());
                }
                Contribution::Camera(index, boundary, part) => {
                    slots.entry(boundary).or_default().cameras.insert(index, part);
                }
                Contribution::Microphone(index, boundary, part) => {
                    slots.entry(boundary).or_default().microphones.insert(index, part);
                }
                Contribution::Ended(ended) => self.said.expect(*ended),
            }
            while let Some(first) = slots.first_entry() {
                let complete = first.get().dispatch.is_some()
                    && first.get().cameras.len() == self.cameras.len()
                    && first.get().microphones.len() == self.microphones.len();
                if !complete {
                    break;
                }
                let (boundary, slot) = first.remove_entry();
                match attempts.attempt(|| self.seal(boundary, slot)) {
                    Ok(Some(sealed)) => {
                        if !sealed? {
                            tracing::info!(
                                clip = boundary.index,
                                "Stopped before this clip was heard to its end: the replay goes on from it."
                            );
                            return Ok(Committed { clips: self.clips, left: true });
                        }
                    }
                    Ok(None) => self.give_up(boundary),
                    Err(_) => return Err(IngestError::Panic("sealing")),
                }
            }
        }
        Ok(Committed { clips: self.clips, left: false })
    }

    /// After a panic in the middle of a clip: nothing of it is kept, and the next one is sealed as if it had not been.
    fn give_up(&mut self, boundary: ClipBoundary) {
        let mut resolver = self.settings.resolver.lock();
        self.settings.unlearn(&mut resolver);
        drop(resolver);
        if let Some(mouths) = &self.mouths {
            mouths.take(boundary.index);
        }
        self.losses.add(Cause::Fault, &format!("clip {}", boundary.index));
        self.settings.gauges.restarted("seal");
        self.settings.gauges.sealed();
        self.said.sealed(boundary.end);
        self.present.sealed(boundary.end);
    }

    /// The next part; late words are committed while none comes. None: every stage is gone.
    fn next_part(
        &mut self,
        parts: &Receiver<Contribution>,
    ) -> Result<Option<Contribution>, IngestError> {
        loop {
            self.commit_late()?;
            self.take_said();
            let every = match (self.said.is_awaiting(), self.late.is_empty()) {
                (true, _) => SAID_EVERY,
                (false, false) => LATE_EVERY,
                (false, true) => return Ok(parts.recv().ok()),
            };
            match parts.recv_timeout(every) {
                Ok(part) => return Ok(Some(part)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.late.is_empty() => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    tracing::warn!(
                        "{} turns stay without words: the session ends.",
                        self.late.len()
                    );
                    return Ok(None);
                }
            }
        }
    }

    /// Takes in the words that have come of turns that have ended, and shows them, live.
    fn take_said(&mut self) {
        let Self { said, settings, present, stopping, .. } = self;
        let showing = Showing {
            memory: &settings.memory,
            memorizer: &settings.memorizer,
            inbox: &settings.inbox,
            present,
        };
        said.take_in(stopping.is_some().then_some(&showing));
    }

    /// Commits the late words that are there by now.
    fn commit_late(&mut self) -> Result<(), IngestError> {
        while let Some((clip, mut turn)) = self.late.next_ready() {
            turn.own = self.settings.inbox.hears_itself(&mut turn);
            let shared = Arc::clone(&self.settings.resolver);
            let mut resolver = shared.lock();
            let into = (&self.settings.memory, &self.settings.memorizer);
            let heard = (clip, turn);
            let commit = || late_words::commit(into, &mut resolver, heard, self.recorded);
            let words = match contained(commit) {
                Ok(words) => words?,
                Err(why) => {
                    tracing::error!(%clip, %why, "Words that came late ended in a panic and are lost; please report it.");
                    self.settings.unlearn(&mut resolver);
                    self.losses.add(Cause::Fault, &format!("late words of clip {clip}"));
                    continue;
                }
            };
            drop(resolver);
            if let Some(words) = words {
                self.spool_words(&words);
                self.settings.reports.send(Report::Words(Box::new(words))).ok();
            }
        }
        self.release(HELD_FOR);
        Ok(())
    }

    /// Puts words that came late to their clip, where it waits for the memorizing model.
    fn spool_words(&self, words: &LateWords) {
        let Some(spool) = &self.settings.spool else { return };
        let Some(turn) = SpooledTurn::of(&words.turn, &words.identified) else { return };
        if let Err(error) = spool.add_turn(words.clip, turn) {
            tracing::warn!(%error, clip = %words.clip, "Words that came late do not reach the memorizing model.");
        }
    }

    /// Lets the memorizing model have the clips whose words are all there, or were waited for so long.
    fn release(&mut self, most: Duration) {
        let Some(spool) = &self.settings.spool else { return };
        let late = &self.late;
        self.held.retain(|(clip, since)| {
            let held = late.waits_for(*clip) && since.elapsed() < most;
            if !held {
                spool.release(*clip);
            }
            held
        });
    }

    /// Commits a clip; false when a daemon that stops has no time left for it.
    fn seal(&mut self, boundary: ClipBoundary, slot: PendingClip) -> Result<bool, IngestError> {
        let PendingClip { dispatch, mut cameras, microphones, since } = slot;
        let mut dispatch = *dispatch.unwrap_or_default();
        self.settings.failpoints.pass("seal");
        let told = std::mem::take(&mut dispatch.told);
        if self.is_out_of_time() {
            return Ok(false);
        }
        let Some(heard) = self.turns(boundary, &microphones, told) else { return Ok(false) };
        let sounds = self.sounds(&microphones);
        let sound_events = self.sound_events(&microphones);
        let still = !cameras.is_empty() && cameras.values().all(|camera| camera.still);
        self.patience.room(self.settings.memory.dir());
        self.keep_up(boundary.start)?;
        // Whoever writes takes the resolver first, then the right to write.
        let shared = Arc::clone(&self.settings.resolver);
        let mut resolver = shared.lock();
        let mut draft = self.settings.memory.begin(boundary.end);
        let session = *self.session.get_or_insert_with(|| {
            draft.new_session(
                dispatch.t0,
                self.settings.config.window.clip_secs,
                self.recording.clone(),
            )
        });
        let clip = ClipId { session, index: boundary.index };
        let (mut percepts, late) = self.percepts(clip, boundary, &dispatch, &mut cameras, heard);
        percepts.sounds = sounds;
        percepts.sound_events = sound_events;
        let reserved = self.said.reserved(&percepts.turns);

        let before = self.settings.memory.view();
        let stages = Arc::clone(&self.settings.perceivers.stages);
        let identified = stages.time(Stage::Identify, || {
            let mut identified = resolver.resolve(&percepts, &mut draft);
            if boundary.last {
                identified.append(resolver.finish(&mut draft));
            }
            identified
        });
        if self.recording.is_none()
            && !boundary.last
            && draft.is_empty()
            && !self.tells_of_leaving(&before, clip, percepts.span)
            && self.quiet.takes(&percepts, still)
        {
            self.sealed(boundary);
            return Ok(true);
        }
        keep_clip(&percepts, &before, &mut draft);
        let (persons, before, quiet_since) = (resolver.persons(), &before, self.quiet.since());
        let scene = Scene {
            percepts: &percepts,
            identified: &identified,
            persons,
            before,
            reserved: Some(&reserved),
            quiet_since,
        };
        let memories =
            stages.time(Stage::Memorize, || self.settings.memorizer.memorize(&scene, &mut draft));
        let firings = watches::fire(
            &self.settings,
            &watches::Sealed {
                before,
                persons,
                percepts: &percepts,
                identified: &identified,
                memories: &memories,
                boundary,
                recording: self.recording.is_some().then_some(session),
            },
            &mut draft,
        );
        self.checkpoint(&mut draft, clip, boundary, dispatch, cameras, microphones, &resolver)?;
        if boundary.last && self.recording.is_some() {
            draft.finish_session(session)?;
        }
        self.spool(&percepts, &identified, resolver.persons(), !late.is_empty());
        let (patience, store) = (&mut self.patience, self.settings.memory.dir());
        let again = |error: &MemoryError| patience.again(store, error);
        if let Err(error) = stages.time(Stage::Commit, || draft.commit_retrying(again)) {
            // The resolver has learned what was not kept: it starts again from the rows.
            return Err(error.into());
        }
        drop(resolver);
        self.patience.committed();
        for (turn, words) in late {
            self.late.expect(clip, turn, words);
        }
        if let Some(spool) = &self.settings.spool {
            spool.commit(clip);
            self.held.push((clip, Instant::now()));
            self.release(HELD_FOR);
        }
        self.clips += 1;
        self.quiet.written(&percepts);
        self.sealed(boundary);
        let report = ClipReport {
            clip,
            start: percepts.span.start,
            end: percepts.span.end,
            frames: percepts.counts.frames,
            dropped: percepts.counts.dropped,
            faces: percepts.tracks.len(),
            objects: percepts.objects.len(),
            turns: percepts.turns.len(),
            memories: memories.len(),
            sealed_secs: since.map_or(0.0, |since| since.elapsed().as_secs_f64()),
            identified,
            spoken: percepts.turns,
            memory_rows: memories,
            firings,
        };
        // Nobody listening is no fault: the clip is committed.
        self.settings.reports.send(Report::Clip(Box::new(report))).ok();
        Ok(true)
    }

    /// Whether somebody has gone by the end of a live clip: then it is written, so that this is told once.
    fn tells_of_leaving(&self, before: &View, clip: ClipId, span: Span) -> bool {
        let absence_secs = self.settings.memory.options().absence_secs;
        !before.stays_ended_by(None, clip, span, false, absence_secs).is_empty()
    }

    /// Nothing before the boundary is waited for any more.
    fn sealed(&mut self, boundary: ClipBoundary) {
        self.recorded = boundary.end;
        self.settings.gauges.sealed();
        self.said.sealed(boundary.end);
        self.present.sealed(boundary.end);
    }

    /// What is due of upkeep, before a clip: a replay waits for it, so that it comes at the same place every time.
    fn keep_up(&self, now: Timestamp) -> Result<(), IngestError> {
        let courtesy = self.settings.courtesy.clone();
        if self.recording.is_some() {
            courtesy.step_aside();
            self.upkeep.run(now)?;
        } else {
            self.upkeep.run_behind(now, move || courtesy.step_aside());
        }
        Ok(())
    }

    /// Puts the clip in line for the multimodal model; it may have it once the clip is committed and no more words
    /// of it are to come.
    fn spool(
        &self,
        percepts: &ClipPercepts,
        identified: &IdentifiedClip,
        persons: &Persons,
        words_to_come: bool,
    ) {
        let Some(spool) = &self.settings.spool else { return };
        let clip =
            SpooledClip::of(percepts, identified, persons, self.settings.config.memorizer.sound);
        if clip.is_empty() && !words_to_come {
            return;
        }
        if let Err(error) = spool.put(&clip) {
            tracing::warn!(%error, clip = %percepts.clip, "A clip cannot wait for the memorizing model; it keeps its built-in memories. Free space in spool/ of the store.");
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn checkpoint(
        &self,
        draft: &mut Draft,
        clip: ClipId,
        boundary: ClipBoundary,
        dispatch: DispatchContribution,
        cameras: BTreeMap<usize, Box<CameraContribution>>,
        microphones: BTreeMap<usize, Box<MicrophoneContribution>>,
        resolver: &Resolver,
    ) -> Result<(), IngestError> {
        // Nobody goes on with what was live.
        let (Some(clock), Some(selector), Some(_)) =
            (dispatch.clock, dispatch.selector, &self.recording)
        else {
            return Ok(());
        };
        let checkpoint = Checkpoint {
            clock,
            index: boundary.index,
            boundary: boundary.end,
            selector,
            cameras: cameras
                .into_iter()
                .map(|(index, part)| (self.cameras[index].clone(), part.state))
                .collect(),
            microphones: microphones
                .into_iter()
                .map(|(index, part)| (self.microphones[index].clone(), part.state))
                .collect(),
            ids: self.ids.clone(),
            undecided: resolver.undecided().clone(),
        };
        draft.checkpoint(clip.session, clip, checkpoint.to_bytes()?);
        Ok(())
    }
}

/// The clip's own rows: what it covers, its key frames, where the robot was.
fn keep_clip(percepts: &ClipPercepts, before: &View, draft: &mut Draft) {
    let mut key_frames = Vec::new();
    for frame in &percepts.key_frames {
        let media = Media::new(MediaKind::KeyFrame, false, Arc::clone(&frame.jpeg));
        key_frames.push((frame.source.clone(), frame.at, media.digest.clone()));
        draft.media(media);
    }
    for sound in &percepts.sounds {
        draft.sound(SoundRow { clip: percepts.clip, sound: sound.clone() });
    }
    for event in &percepts.sound_events {
        draft.sound_event(SoundEventRow { clip: percepts.clip, event: event.clone() });
    }
    for body in &percepts.bodies {
        for action in &body.actions {
            let (clip, track, source) = (percepts.clip, body.id, body.source.clone());
            draft.action(ActionRow { clip, track, source, action: *action });
        }
    }
    for moved in &percepts.camera_moves {
        draft.camera_move(CameraMoveRow { clip: percepts.clip, moved: moved.clone() });
    }
    for text in &percepts.texts {
        draft.text_track(TextTrackRow { clip: percepts.clip, track: text.clone() });
    }
    if let Some(first) = percepts.poses.first() {
        let recent = Span::new(first.stamp.plus_secs(-poses::EVERY_SECS), first.stamp);
        let mut recent = before.poses(recent);
        recent.retain(|row| row.clip.session == percepts.clip.session);
        for pose in poses::kept(&percepts.poses, recent.iter().map(|row| &row.pose)) {
            draft.pose(PoseRow { clip: percepts.clip, pose: pose.clone() });
        }
    }
    draft.clip(Clip {
        id: percepts.clip,
        span: percepts.span,
        frames: percepts.counts.frames,
        analysed: percepts.counts.analysed,
        dropped: percepts.counts.dropped,
        key_frames,
    });
}
