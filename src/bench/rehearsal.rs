//! A recording replayed into a store of its own, gone afterwards: what perception and answers are
//! measured on.

use std::collections::BTreeMap;
use std::path::Path;

use crossbeam_channel::unbounded;
use serde::Serialize;
use tempfile::TempDir;

use super::BenchError;
use super::labels::Labels;
use super::perception::{self, PerceptLine, PerceptionScores};
use super::scratch;
use crate::answer::{Answer, Effort, Errand, Question};
use crate::capture::{Recording, ReplayOptions};
use crate::config::sections::TranscriberKind;
use crate::config::{Config, Engine};
use crate::daemon::assemble::{Knowledge, model_memorizer, session_settings};
use crate::daemon::ingest::{
    self, PlaybackClock, Report, SessionEnd, SessionSettings, YieldPolicy,
};
use crate::daemon::refine::Refiner;
use crate::identify::MatchThresholds;
use crate::ids::TurnId;
use crate::memory::{self, MemoryError, PerceptFilter};
use crate::percept::{Embedding, Transcript};
use crate::telemetry::stage_times::Stage;
use crate::time::Timestamp;

/// A replayed recording.
pub struct Rehearsal {
    /// The memory of it, and what reads it.
    pub knowledge: Knowledge,
    /// When the recording begins.
    pub start: Timestamp,
    /// It does not say when: labels that do are of the same second 0.
    start_is_guess: bool,
    /// How the replay went.
    pub end: SessionEnd,
    /// Milliseconds by stage, summed over threads.
    pub stages_ms: BTreeMap<&'static str, f64>,
    /// Abilities that were missing.
    pub degraded: Vec<String>,
    /// What was heard, by time.
    pub spoken: Vec<Spoken>,
    /// How long it was, seconds.
    pub secs: f64,
    /// The turns' embeddings.
    voices: BTreeMap<TurnId, Option<Embedding>>,
    /// From which cosine on two turns are one voice.
    accept: f32,
    // Last: the store outlives whoever has it open.
    _store: TempDir,
}

/// A turn that was heard, and its words.
pub struct Spoken {
    /// When the recording begins.
    pub begun: Timestamp,
    /// The turn, seconds from then.
    pub span: (f64, f64),
    /// Its words, where a recogniser ran.
    pub words: Option<Transcript>,
}

impl Spoken {
    /// How long it is, seconds.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.span.1 - self.span.0
    }
}

/// Replays as fast as the machine can, with or without words.
///
/// # Errors
/// When the recording, a model or the temporary store fails.
pub fn rehearse(config: &Config, path: &Path, words: bool) -> Result<Rehearsal, BenchError> {
    let (store, mut config) = scratch::store(config)?;
    if !words {
        config.transcriber.kind = TranscriberKind::None;
    }
    let recording = Recording::open(path, &ReplayOptions::default())?;
    let knowledge = Knowledge::open(&config)?;
    let (reports, told) = unbounded();
    let settings = session_settings(
        &knowledge,
        PlaybackClock::new(None, false),
        YieldPolicy::default(),
        reports,
    )?;
    let end = remember(&settings, &recording)?;
    let mut voices = BTreeMap::new();
    let (begun, mut over, mut spoken) = (recording.start(), recording.start(), Vec::new());
    for report in told.try_iter() {
        if let Report::Clip(clip) = report {
            over = over.max(clip.end);
            spoken.extend(clip.spoken.iter().map(|turn| Spoken {
                begun,
                span: (turn.span.start.secs_since(begun), turn.span.end.secs_since(begun)),
                words: turn.words.clone(),
            }));
            voices.extend(clip.spoken.into_iter().map(|turn| (turn.id, turn.embedding)));
        }
    }
    spoken.sort_by(|a, b| a.span.0.total_cmp(&b.span.0));
    let embedder = settings.perceivers.speaker_embedder.as_ref();
    let calibrated = embedder.and_then(|file| file.thresholds.as_ref());
    let missing = settings.perceivers.degraded.iter().chain(&knowledge.degraded);
    let degraded: Vec<String> = missing.cloned().collect();
    for missing in &degraded {
        tracing::warn!(missing, "What is measured lacks an ability.");
    }
    Ok(Rehearsal {
        start: recording.start(),
        start_is_guess: recording.start_is_guess(),
        end,
        stages_ms: settings.perceivers.stages.millis(),
        degraded,
        spoken,
        secs: over.secs_since(begun),
        voices,
        accept: calibrated.map_or(MatchThresholds::UNKNOWN, MatchThresholds::from).accept,
        knowledge,
        _store: store,
    })
}

/// Replays a recording to its end, the memorizing model's share in it.
///
/// # Errors
/// When the recording, a model or the store fails.
pub fn remember(
    settings: &SessionSettings,
    recording: &Recording,
) -> Result<SessionEnd, BenchError> {
    let model = model_memorizer(&settings.config)?.map(|(model, _)| model);
    let refiner = Refiner::start_unwatched(settings, model)
        .map_err(|source| BenchError::Io { path: settings.memory.dir().to_owned(), source })?;
    let end = ingest::replay(settings, recording, false);
    if let Some(refiner) = refiner {
        let (left, why) = refiner.drain(|| false);
        refiner.stop();
        if left > 0 {
            let why = why.unwrap_or_default();
            tracing::warn!(left, why, "Clips were not memorized by the model.");
        }
    }
    Ok(end?)
}

impl Rehearsal {
    /// The lines that `export --percepts` writes, read back.
    ///
    /// # Errors
    /// When a line cannot be read: the export and the scorer disagree.
    pub fn lines(&self) -> Result<Vec<PerceptLine>, BenchError> {
        let store = || self.knowledge.memory.dir().to_owned();
        let mut text = Vec::new();
        let view = self.knowledge.memory.view();
        view.export_percepts(&PerceptFilter::default(), &mut text)
            .map_err(|source| BenchError::Io { path: store(), source })?;
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines
            .map(|line| {
                serde_json::from_slice(line)
                    .map_err(|e| BenchError::Form { path: store(), reason: e.to_string() })
            })
            .collect()
    }

    /// Scores the percepts.
    ///
    /// # Errors
    /// As [`Self::lines`].
    pub fn score(&self, labels: &Labels) -> Result<PerceptionScores, BenchError> {
        let lines = self.knowledge.memory.view().percept_lines(&PerceptFilter::default());
        let of_turns: Vec<Option<Embedding>> = lines
            .iter()
            .filter_map(|line| match line {
                memory::PerceptLine::Turn { turn, .. } => {
                    Some(self.voices.get(turn).cloned().flatten())
                }
                memory::PerceptLine::Face { .. }
                | memory::PerceptLine::Body { .. }
                | memory::PerceptLine::Object { .. }
                | memory::PerceptLine::Text { .. }
                | memory::PerceptLine::Sound { .. }
                | memory::PerceptLine::SoundEvent { .. }
                | memory::PerceptLine::Action { .. } => None,
            })
            .collect();
        let linkage = Some((of_turns.as_slice(), self.accept));
        let undated = Labels { start: None, ..labels.clone() };
        let labels = if self.start_is_guess { &undated } else { labels };
        Ok(perception::score(&self.lines()?, labels, Some(self.start), linkage))
    }
}

/// `bench perception`.
#[derive(Clone, Debug, Serialize)]
pub struct PerceptionReport {
    /// Who was found, and where.
    #[serde(flatten)]
    pub scores: PerceptionScores,
    /// Processing time per time of the recording, all perception but words.
    pub real_time_factor: f64,
    /// The same with words; null where it was not measured.
    pub real_time_factor_words: Option<f64>,
    /// Seconds that sound took until it was turns with embeddings, per second of the recording, without words: voice
    /// activity, who speaks when (where it is looked for), turns split and embedded. These stages' times on the clock,
    /// summed over threads, waiting for a core among them; not reading and resampling the sound, nor giving voices to
    /// persons. 0 without sound.
    pub voice_real_time_factor: f64,
    /// Milliseconds by stage, summed over threads, of the last replay.
    pub stages_ms: BTreeMap<&'static str, f64>,
    /// Length of the recording, seconds.
    pub media_secs: f64,
    /// First frame read to last commit, seconds, without words.
    pub wall_secs: f64,
    /// Loading models, seconds.
    pub load_secs: f64,
    /// Which model set.
    pub set: String,
}

/// Seconds in the stages from sound to turns with embeddings.
fn voice_secs(stages_ms: &BTreeMap<&'static str, f64>) -> f64 {
    let stages = [Stage::VoiceActivity, Stage::SpeakerSegmentation, Stage::Voice];
    stages.iter().filter_map(|stage| stages_ms.get(stage.word())).sum::<f64>() * 1e-3
}

/// Replays the recording once, and with `words` once more with them, and scores the first replay.
///
/// # Errors
/// When the recording, a model or the temporary store fails.
pub fn perception(
    config: &Config,
    recording: &Path,
    labels: &Labels,
    words: bool,
) -> Result<PerceptionReport, BenchError> {
    let quiet = rehearse(config, recording, false)?;
    for missing in &quiet.degraded {
        tracing::warn!("without {missing}");
    }
    let scores = quiet.score(labels)?;
    let factor = |end: &SessionEnd| end.wall_secs / end.media_secs.max(1e-9);
    let spoken = words.then(|| rehearse(config, recording, true)).transpose()?;
    Ok(PerceptionReport {
        scores,
        real_time_factor: factor(&quiet.end),
        real_time_factor_words: spoken.as_ref().map(|spoken| factor(&spoken.end)),
        voice_real_time_factor: voice_secs(&quiet.stages_ms) / quiet.end.media_secs.max(1e-9),
        stages_ms: spoken.as_ref().unwrap_or(&quiet).stages_ms.clone(),
        media_secs: quiet.end.media_secs,
        wall_secs: quiet.end.wall_secs,
        load_secs: quiet.end.load_secs,
        set: format!("{:?}", config.models.set).to_lowercase(),
    })
}

/// A rehearsed memory's answer, by whom the configuration says: the built-in answerer, or the language model in
/// all its rounds.
///
/// # Errors
/// As [`crate::answer::Answerer::respond`].
pub fn reply(knowledge: &Knowledge, question: Question) -> Result<Answer, MemoryError> {
    let modelled = knowledge.config.answerer.kind == Engine::Model;
    let effort = if modelled { Effort::Deep } else { Effort::Fast };
    let question = Question { effort, ..question };
    let errand = Errand::of(&question);
    knowledge.answerer.respond(&knowledge.memory, &question, None, &errand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_voices_share_is_what_sound_costs_until_it_is_embedded() {
        let stages_ms = BTreeMap::from([
            ("faces", 9_000.0),
            ("voice_activity", 250.0),
            ("speaker_segmentation", 500.0),
            ("voice", 1_250.0),
            ("words", 7_000.0),
        ]);
        assert!((voice_secs(&stages_ms) - 2.0).abs() < 1e-9);
        assert!(voice_secs(&BTreeMap::new()).abs() < 1e-9);
    }
}
