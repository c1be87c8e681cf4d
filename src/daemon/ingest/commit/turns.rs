//! Turns of a clip, out of what the microphones contribute: each once, with its words, and whose it is heard again.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::RecvTimeoutError;

use super::committer::Committer;
use super::said::{EndedTurn, Words};
use super::told::give_words;
use crate::daemon::Stop;
use crate::daemon::ingest::clip_boundary::ClipBoundary;
use crate::daemon::ingest::contribution::MicrophoneContribution;
use crate::daemon::ingest::work::jobs::{Pending, take};
use crate::media::ToldWords;
use crate::perceive::PerceiveError;
use crate::perceive::voice::{
    ReclusterSettings, VoiceJob, Voices, assign_overlap, deduplicate_microphones, has_short,
    is_far_or_narrowband, recent_turns, split_overlapped_speakers,
};
use crate::percept::{Sound, SoundEvent, SoundKind, SpeechTurn, Transcript};

/// How often one that waits for words looks whether it still may.
const WORDS_LOOK: Duration = Duration::from_millis(5);

/// How long a live clip waits for the words of its turns.
const WORDS_WAIT: Duration = Duration::from_secs(3);

/// The same when the daemon stops.
const LAST_WORDS_WAIT: Duration = Duration::from_millis(500);

/// How long after the stop a daemon's replay still seals clips. What is left then comes again when the replay goes on.
const REPLAY_SEALS_FOR: Duration = Duration::from_millis(1500);

/// A turn, and what will bring its words where they were not there in time.
pub(super) type Heard = (SpeechTurn, Option<Pending<Transcript>>);

impl Committer {
    /// Turns that end in this clip, with their words, without ids; later ones are carried over. `None`: there is no
    /// time left to wait for the words.
    pub(super) fn turns(
        &mut self,
        boundary: ClipBoundary,
        parts: &BTreeMap<usize, Box<MicrophoneContribution>>,
        told: Vec<ToldWords>,
    ) -> Option<Vec<Heard>> {
        let mut ended = Vec::new();
        self.ids.carried.resize(self.microphones.len(), Vec::new());
        for (index, part) in parts {
            let mut turns = std::mem::take(&mut self.ids.carried[*index]);
            for found in &part.turns {
                match take(&found.result) {
                    Ok(of) => {
                        if !found.shown && self.stopping.is_some() {
                            self.show_crossing(
                                of.iter().filter(|turn| turn.span.end > boundary.end),
                            );
                        }
                        turns.extend(of);
                    }
                    Err(error) => {
                        let source = &self.microphones[*index];
                        tracing::warn!(%source, %error, "A speech turn was left out.");
                    }
                }
            }
            turns.sort_by_key(|turn| turn.span.start);
            let (now, later): (Vec<_>, Vec<_>) =
                turns.into_iter().partition(|turn| boundary.last || turn.span.end <= boundary.end);
            self.ids.carried[*index] = later;
            ended.extend(self.heard_again(*index, now));
        }
        let mut ended = deduplicate_microphones(ended, &self.ids.recent_turns);
        if self.microphones.len() > 1 {
            self.ids.recent_turns = recent_turns(&ended, boundary.end);
        }
        self.take_own(&mut ended);
        give_words(&mut ended, told);
        let wait = self.stopping.is_none();
        let heard: Vec<Heard> = ended.into_iter().map(|turn| self.asked_for(turn, wait)).collect();
        let asked = Instant::now();
        let heard: Option<Vec<Heard>> =
            heard.into_iter().map(|(turn, words)| self.with_words(turn, words, asked)).collect();
        heard.map(|heard| self.without_echoes(heard))
    }

    /// Shows turns that go on beyond the clip that is being sealed: nobody else does, since they end when it is asked for.
    fn show_crossing<'a>(&mut self, turns: impl Iterator<Item = &'a SpeechTurn>) {
        for turn in turns {
            self.present.spoken(turn);
            let ended = EndedTurn::ask(turn.clone(), &self.jobs, &self.settings.inbox);
            ended.into_iter().for_each(|ended| self.said.expect(ended));
        }
    }

    /// What lies mostly in the robot's own speech is its own, but for who was heard beside it: of two voices at once the
    /// second is somebody's.
    fn take_own(&self, turns: &mut [SpeechTurn]) {
        for n in 0..turns.len() {
            let pairs = |other: Option<&SpeechTurn>| {
                other.is_some_and(|one| one.overlapped && one.span == turns[n].span)
            };
            let (is_first, is_second) = (pairs(turns.get(n + 1)), n > 0 && pairs(turns.get(n - 1)));
            let turn = &mut turns[n];
            if turn.own || !self.settings.inbox.is_own(&turn.source, turn.span) {
                continue;
            }
            if turn.overlapped && is_second {
                // What is understood of both is no longer the first one's.
                turn.words = None;
            } else if !turn.overlapped || is_first {
                turn.own = true;
                turn.embedding = None;
            }
        }
    }

    /// A turn that tells by its words that the robot heard what it was made to say is its own. One that may be, and whose
    /// words are still to come, is nobody's: a stranger could not be taken back.
    fn without_echoes(&self, mut heard: Vec<Heard>) -> Vec<Heard> {
        let inbox = &self.settings.inbox;
        heard.sort_by_key(|(turn, _)| turn.span.start);
        for (turn, to_come) in heard.iter_mut().filter(|(turn, _)| !turn.own) {
            turn.own = inbox.hears_itself(turn);
            if turn.own || to_come.is_some() && inbox.may_be_echo(turn.span) {
                turn.embedding = None;
            }
        }
        heard
    }

    /// What was loud and what was quiet, but for what the robot itself let out.
    pub(super) fn sounds(
        &self,
        parts: &BTreeMap<usize, Box<MicrophoneContribution>>,
    ) -> Vec<Sound> {
        let all = parts.values().flat_map(|part| &part.sounds);
        let own = |sound: &Sound| {
            sound.kind == SoundKind::Loud && self.settings.inbox.is_own(&sound.source, sound.span)
        };
        let mut sounds: Vec<Sound> = all.filter(|sound| !own(sound)).cloned().collect();
        sounds.sort_by(|a, b| (a.span, &a.source, a.kind).cmp(&(b.span, &b.source, b.kind)));
        sounds
    }

    /// Sounds that mean something, but for what the robot itself let out.
    pub(super) fn sound_events(
        &self,
        parts: &BTreeMap<usize, Box<MicrophoneContribution>>,
    ) -> Vec<SoundEvent> {
        let all = parts.values().flat_map(|part| &part.sound_events);
        let own = |event: &SoundEvent| self.settings.inbox.is_own(&event.source, event.span);
        let mut events: Vec<SoundEvent> = all.filter(|event| !own(event)).cloned().collect();
        events.sort_by(|a, b| (a.span, &a.source, &a.what).cmp(&(b.span, &b.source, &b.what)));
        events
    }

    /// A turn with its words, or with what will bring them; what was asked for when it ended is not asked for again.
    fn asked_for(&mut self, mut turn: SpeechTurn, wait: bool) -> Heard {
        let asked = self.said.take(&turn).filter(|_| !turn.own && turn.words.is_none());
        match asked {
            Some(Words::Awaited(pending)) => (turn, Some(pending)),
            Some(Words::Known(words)) => {
                turn.words = words;
                (turn, None)
            }
            None => (turn.clone(), self.wanted(turn, wait)),
        }
    }

    /// Asks for a turn's words, unless they were told; the robot's own are known to whoever made it speak.
    fn wanted(&self, turn: SpeechTurn, wait: bool) -> Option<Pending<Transcript>> {
        if turn.own || turn.words.is_some() { None } else { self.jobs.words(turn, wait) }
    }

    /// The turn with its words, or with what will bring them; `None` as [`Committer::turns`].
    fn with_words(
        &self,
        mut turn: SpeechTurn,
        words: Option<Pending<Transcript>>,
        asked: Instant,
    ) -> Option<Heard> {
        let Some(pending) = words else { return Some((turn, None)) };
        match self.words_in_time(&pending, asked) {
            Some(Ok(words)) => turn.words = Some(words),
            None if self.recording.is_some() => return None,
            None => return Some((turn, Some(pending))),
            Some(Err(error)) => {
                tracing::warn!(source = %turn.source, %error, "The words of a turn are missing.");
            }
        }
        Some((turn, None))
    }

    /// Turns of one microphone, in time order, parted where a poor channel makes voices alike; short replies and the second
    /// voices of overlaps find out whose they are. A robot that is told to stop has no time to hear anything again.
    fn heard_again(&self, microphone: usize, turns: Vec<SpeechTurn>) -> Vec<SpeechTurn> {
        // The robot is no voice of the clip's.
        let (own, turns): (Vec<_>, Vec<_>) = turns.into_iter().partition(|turn| turn.own);
        let (turns, seconds) = split_overlapped_speakers(turns);
        let replies = self.settings.perceivers.short().is_some() && has_short(&turns);
        let wanted = replies || is_far_or_narrowband(&turns, &ReclusterSettings::default());
        let heard = if self.is_stopping() || !wanted {
            turns
        } else {
            match take(&self.jobs.look::<Voices>(VoiceJob::Again(turns.clone()))) {
                Ok(heard) => heard,
                // Nothing is lost without the second hearing: the turns stay as they were.
                Err(error) => {
                    let source = &self.microphones[microphone];
                    tracing::warn!(%source, %error, "A clip's turns could not be heard again.");
                    turns
                }
            }
        };
        let mut heard = assign_overlap(heard, seconds, self.settings.perceivers.unlike());
        heard.extend(own);
        heard.sort_by_key(|turn| turn.span.start);
        heard
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.as_ref().is_some_and(|stopping| stopping.load(Ordering::Relaxed))
    }

    /// Whether a replay must end now, because the daemon that plays it does.
    pub(super) fn is_out_of_time(&self) -> bool {
        let asked_ago = self.patience.stop.as_ref().and_then(Stop::asked_ago);
        self.recording.is_some() && asked_ago.is_some_and(|ago| ago >= REPLAY_SEALS_FOR)
    }

    /// The words, if they come as long as this session may wait.
    fn words_in_time(
        &self,
        pending: &Pending<Transcript>,
        asked: Instant,
    ) -> Option<Result<Transcript, PerceiveError>> {
        loop {
            match pending.recv_timeout(WORDS_LOOK) {
                Ok(words) => return Some(words),
                Err(RecvTimeoutError::Disconnected) => return Some(Err(PerceiveError::WorkerLost)),
                Err(RecvTimeoutError::Timeout) if !self.may_wait(asked) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// A replay waits for all words, unless its daemon stops.
    fn may_wait(&self, asked: Instant) -> bool {
        if self.recording.is_some() {
            return !self.is_out_of_time();
        }
        asked.elapsed() < if self.is_stopping() { LAST_WORDS_WAIT } else { WORDS_WAIT }
    }
}
