//! Voices as a kind of perception: turns parted by speaker and embedded, and a clip's turns heard again.

use std::sync::Arc;

use super::{
    Embedders, Listener, RawTurn, ReclusterSettings, ShortSettings, SpeakerEmbedder,
    SpeakerSegmentation, SplitSettings, StreamSettings, decide_short, recluster, streams,
};
use crate::ids::{SourceId, TurnId};
use crate::perceive::PerceiveError;
use crate::perceive::job_kind::JobKind;
use crate::perceive::perceptor::Perceptor;
use crate::percept::SpeechTurn;
use crate::telemetry::stage_times::{Stage, StageTimes};
use crate::time::Span;

/// Who is heard so soon before or after speaking over the robot is who does, seconds.
const NEAR_SECS: f64 = 0.5;

/// What is listened to.
#[derive(Clone, Debug)]
pub enum VoiceJob {
    /// What was heard without a pause. `own`: when the robot spoke meanwhile.
    Turn {
        /// Its sound.
        raw: RawTurn,
        /// When.
        own: Vec<Span>,
    },
    /// The turns of one microphone and clip, in time order, once more and all together.
    Again(Vec<SpeechTurn>),
}

/// Speaker segmentation, and what is done with it.
pub struct Separation {
    /// The network.
    pub network: Box<dyn SpeakerSegmentation>,
    /// Where it looks.
    pub settings: StreamSettings,
    /// The second voice gets a turn, too.
    pub separate: bool,
}

/// Parts turns by speaker, and embeds voices.
pub struct Voices {
    /// `None`: its model is missing, and no turn has a voice.
    pub embedder: Option<Box<dyn SpeakerEmbedder>>,
    /// Looks for changes of voice, where `embedder` is too slow for that.
    pub change_finder: Option<Box<dyn SpeakerEmbedder>>,
    /// Tells two voices at once; `None` where that is off.
    pub segmentation: Option<Separation>,
    /// Hears others beside the robot where `segmentation` is off.
    pub beside: Option<Box<dyn SpeakerSegmentation>>,
    /// Below which cosine two voices are surely two.
    pub unlike: f32,
    /// When one voice follows another.
    pub split: SplitSettings,
    /// When a clip's voices are parted together.
    pub recluster: ReclusterSettings,
    /// When a short reply is somebody's of its clip; `None`: never.
    pub short: Option<ShortSettings>,
    /// Speech from which a voice is trusted, seconds.
    pub min_embed_secs: f64,
    /// Where the time goes.
    pub stages: Arc<StageTimes>,
}

impl Perceptor for Voices {
    type Job = VoiceJob;
    type Finding = Vec<SpeechTurn>;

    fn kind(job: &VoiceJob) -> JobKind {
        match job {
            VoiceJob::Turn { .. } => JobKind::Voice,
            VoiceJob::Again(_) => JobKind::Again,
        }
    }

    fn source(job: &VoiceJob) -> SourceId {
        match job {
            VoiceJob::Turn { raw, .. } => raw.source.clone(),
            VoiceJob::Again(turns) => {
                turns.first().map_or_else(|| SourceId::new(""), |turn| turn.source.clone())
            }
        }
    }

    fn look(&mut self, job: VoiceJob) -> Result<Vec<SpeechTurn>, PerceiveError> {
        match job {
            VoiceJob::Turn { raw, own } => self.turns(&raw, &own),
            VoiceJob::Again(turns) => self.again(turns),
        }
    }
}

impl Voices {
    /// Parts a raw turn: the robot's share (`own`: when it spoke), that of who speaks over it, and what others say, which is
    /// split where the speaker changes or two speak at once. Each part is embedded, but for the robot's.
    fn turns(&mut self, raw: &RawTurn, own: &[Span]) -> Result<Vec<SpeechTurn>, PerceiveError> {
        if own.is_empty() {
            return self.voices(raw);
        }
        let network = match (&mut self.segmentation, &mut self.beside) {
            (Some(separation), _) => Some(separation.network.as_mut()),
            (None, Some(network)) => Some(network.as_mut()),
            (None, None) => None,
        };
        let mut listener = Listener {
            network: network.map(|network| network as &mut dyn SpeakerSegmentation),
            voice: self.embedder.as_mut().map(|voice| voice.as_mut() as &mut dyn SpeakerEmbedder),
            unlike: self.unlike,
            min_embed_secs: self.min_embed_secs,
            split: &self.split,
        };
        let stages = Arc::clone(&self.stages);
        let shares = stages.time(Stage::SpeakerSegmentation, || listener.shares(raw, own))?;
        let mut turns = Vec::new();
        for part in &shares.alone {
            turns.extend(self.voices(part)?);
        }
        let over = shares.over.into_iter().map(|part| {
            // Who goes on when the robot has ended, or began before it did, is who spoke over it.
            let near = |turn: &&SpeechTurn| {
                let gap = turn.span.start.secs_since(part.span.end);
                gap.max(part.span.start.secs_since(turn.span.end)) <= NEAR_SECS
            };
            let voice =
                turns.iter().find(near).and_then(|turn: &SpeechTurn| turn.embedding.clone());
            SpeechTurn { overlapped: true, ..part.into_turn(TurnId::default(), voice) }
        });
        let mut over: Vec<SpeechTurn> = over.collect();
        let own = shares.own.into_iter();
        over.extend(
            own.map(|part| SpeechTurn { own: true, ..part.into_turn(TurnId::default(), None) }),
        );
        turns.append(&mut over);
        turns.sort_by_key(|turn| turn.span.start);
        Ok(turns)
    }

    fn voices(&mut self, raw: &RawTurn) -> Result<Vec<SpeechTurn>, PerceiveError> {
        let stages = Arc::clone(&self.stages);
        let found = match &mut self.segmentation {
            Some(Separation { network, settings, separate }) => {
                let look = || streams(&raw.sound, network.as_mut(), settings);
                Some((stages.time(Stage::SpeakerSegmentation, look)?, *separate))
            }
            None => None,
        };
        let mut embedders = Embedders {
            finder: self
                .change_finder
                .as_mut()
                .map(|finder| finder.as_mut() as &mut dyn SpeakerEmbedder),
            voice: self.embedder.as_mut().map(|voice| voice.as_mut() as &mut dyn SpeakerEmbedder),
            split: &self.split,
            min_embed_secs: self.min_embed_secs,
        };
        Ok(stages.time(Stage::Voice, || match &found {
            Some((streams, separate)) => embedders.turns_of(raw, streams, *separate),
            None => embedders.turns(raw),
        })?)
    }

    /// Parts voices that a poor channel makes alike, and gives short replies to one of the clip's voices: the turns of one
    /// microphone and clip, in time order.
    fn again(&mut self, turns: Vec<SpeechTurn>) -> Result<Vec<SpeechTurn>, PerceiveError> {
        let stages = Arc::clone(&self.stages);
        let settings = self.recluster;
        let least = self.min_embed_secs;
        stages.time(Stage::Voice, || {
            let turns = match (&mut self.change_finder, &mut self.embedder) {
                (Some(finder), Some(voice)) => {
                    recluster(turns, finder.as_mut(), Some(voice.as_mut()), least, &settings)?
                }
                (Some(only), None) | (None, Some(only)) => {
                    recluster(turns, only.as_mut(), None, least, &settings)?
                }
                (None, None) => turns,
            };
            Ok(match (&mut self.embedder, &self.short) {
                (Some(voice), Some(settings)) => decide_short(turns, voice.as_mut(), settings)?,
                _ => turns,
            })
        })
    }
}
