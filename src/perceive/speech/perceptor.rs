//! Words as a kind of perception.

use std::sync::Arc;

use super::Transcriber;
use crate::ids::SourceId;
use crate::perceive::PerceiveError;
use crate::perceive::job_kind::JobKind;
use crate::perceive::perceptor::Perceptor;
use crate::percept::{SpeechTurn, Transcript};
use crate::telemetry::stage_times::{Stage, StageTimes};
use crate::time::Timestamp;

/// A turn whose words are wanted.
#[derive(Clone, Debug)]
pub struct WordsJob {
    /// The turn.
    pub turn: SpeechTurn,
    /// It goes on, and its first words are for the open window.
    pub partial: bool,
}

/// Turns speech into words.
pub struct Recogniser {
    /// The network, library or server.
    pub transcriber: Box<dyn Transcriber>,
    /// Where the time goes.
    pub stages: Arc<StageTimes>,
}

impl Perceptor for Recogniser {
    type Job = WordsJob;
    type Finding = Transcript;

    fn kind(job: &WordsJob) -> JobKind {
        if job.partial { JobKind::Guess } else { JobKind::Words }
    }

    fn source(job: &WordsJob) -> SourceId {
        job.turn.source.clone()
    }

    fn look(&mut self, WordsJob { turn, .. }: WordsJob) -> Result<Transcript, PerceiveError> {
        self.transcribe(&turn.sound, turn.span.start)
    }
}

impl Recogniser {
    /// Recognises the words of 16 kHz mono sound in [-1, 1] that began at `start`.
    ///
    /// # Errors
    /// When the recogniser fails.
    pub fn transcribe(
        &mut self,
        sound: &[f32],
        start: Timestamp,
    ) -> Result<Transcript, PerceiveError> {
        let Self { transcriber, stages } = self;
        Ok(stages.time(Stage::Words, || transcriber.transcribe(sound, start))?)
    }
}
