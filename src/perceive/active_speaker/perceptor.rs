//! MouthScorer as a kind of perception: whether a face's mouth makes the sound.

use std::sync::Arc;

use super::{ActiveSpeaker, Excerpt};
use crate::ids::SourceId;
use crate::perceive::PerceiveError;
use crate::perceive::job_kind::JobKind;
use crate::perceive::perceptor::Perceptor;
use crate::perceive::voice::RawTurn;
use crate::telemetry::stage_times::{Stage, StageTimes};
use crate::time::Timestamp;

/// Log odds that a mouth made the sound, by time.
pub type MouthScores = Vec<(Timestamp, f32)>;

/// A face that is compared with a turn.
#[derive(Clone, Debug)]
pub struct MouthJob {
    /// The turn.
    pub turn: RawTurn,
    /// The mouth while it was heard.
    pub excerpt: Excerpt,
}

/// Compares mouths with sound.
pub struct MouthScorer {
    /// `None`: none are compared.
    pub network: Option<Box<dyn ActiveSpeaker>>,
    /// From which probability a step of a turn is speech; pauses are left out.
    pub threshold: f32,
    /// Where the time goes.
    pub stages: Arc<StageTimes>,
}

impl Perceptor for MouthScorer {
    type Job = MouthJob;
    type Finding = MouthScores;

    fn kind(_job: &MouthJob) -> JobKind {
        JobKind::Mouth
    }

    fn source(job: &MouthJob) -> SourceId {
        job.turn.source.clone()
    }

    fn look(&mut self, MouthJob { turn, excerpt }: MouthJob) -> Result<MouthScores, PerceiveError> {
        let Some(network) = &mut self.network else { return Ok(Vec::new()) };
        let score = || excerpt.score(network.as_mut(), &turn, self.threshold);
        Ok(self.stages.time(Stage::ActiveSpeaker, score)?)
    }
}
