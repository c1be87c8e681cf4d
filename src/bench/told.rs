//! How notes alone answer a told story: `bench told`. No store and no percepts, only the reading of sentences; what
//! `benches/told.py --alone` judges.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::BenchError;
use super::error::read_text;
use super::scratch;
use crate::answer::{Heard, Judged, Line, Meaning, Told};
use crate::config::Config;
use crate::daemon::assemble::{Knowledge, language};
use crate::percept::Embedding;
use crate::time::{Span, Timestamp};

/// A story, as far as it is read here; `benches/told/*.json`.
#[derive(Debug, Deserialize)]
struct Story {
    timezone: String,
    now: Timestamp,
    #[serde(default)]
    recording: Recording,
    notes: Vec<Note>,
    questions: Vec<Asked>,
}

#[derive(Debug, Default, Deserialize)]
struct Recording {
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Note {
    /// Local time.
    at: String,
    text: Option<String>,
    /// Subject, attribute, value.
    fact: Option<[String; 3]>,
    /// Who says it, where it was heard: the notes are a talk.
    speaker: Option<String>,
    /// How long it takes to say, seconds.
    #[serde(default)]
    secs: f64,
}

#[derive(Debug, Deserialize)]
struct Asked {
    question: String,
}

/// One question's answer.
#[derive(Debug, Serialize)]
pub struct Answered {
    /// As it was asked.
    pub question: String,
    /// What was answered.
    pub answer: String,
    /// It was not known.
    pub abstained: bool,
    /// 0 to 1.
    pub confidence: f32,
    /// How long it took, without the question's vector.
    pub ms: f64,
    /// The sentences that were looked at, for `benches/told_fit.py`; empty unless asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Looked>,
}

/// A sentence that may answer.
#[derive(Debug, Serialize)]
pub struct Looked {
    /// What it would be answered with.
    pub answer: String,
    /// The place of its note in the story, by time.
    pub note: usize,
    /// What it has in common with the question, by name.
    pub features: BTreeMap<&'static str, f32>,
}

impl From<Judged> for Looked {
    fn from(judged: Judged) -> Self {
        let Judged { text, note, features } = judged;
        Self { answer: text, note, features: features.into_iter().collect() }
    }
}

/// Tells a story's notes and asks its questions; `candidates`: with the sentences that were looked at.
///
/// # Errors
/// When the file is no story, or a model is missing.
pub fn measure(
    config: &Config,
    file: &Path,
    candidates: bool,
) -> Result<Vec<Answered>, BenchError> {
    let fail = |reason: String| BenchError::Form { path: file.to_owned(), reason };
    let story: Story = serde_json::from_str(&read_text(file)?).map_err(|e| fail(e.to_string()))?;
    let zone = TimeZone::get(&story.timezone).map_err(|e| fail(e.to_string()))?;
    let (_folder, scratch) = scratch::store(config)?;
    let knowledge = Knowledge::open(&scratch)?;
    let meaning = Meaning::new(Arc::new(language(config)?), zone.clone());
    let vector = |text: &str| -> Result<Option<Embedding>, BenchError> {
        Ok(knowledge.text.as_ref().map(|embedder| embedder.embed(text)).transpose()?)
    };
    let mut notes: Vec<(Span, Line, Option<Embedding>)> = Vec::new();
    for Note { at, text, fact, speaker, secs } in story.notes {
        let local: DateTime =
            at.replace(' ', "T").parse().map_err(|e| fail(format!("`{at}`: {e}")))?;
        let told = local.to_zoned(zone.clone()).map_err(|e| fail(format!("`{at}`: {e}")))?;
        let at = Timestamp::from_jiff(told.timestamp());
        let text = match (text, fact) {
            (Some(text), _) => text,
            (None, Some([subject, attribute, value])) => {
                meaning.sentence(&subject, &attribute, &value)
            }
            (None, None) => return Err(fail("a note has neither `text` nor `fact`".to_owned())),
        };
        // As a memory of it would be worded.
        let vector = match &speaker {
            Some(speaker) => vector(&format!("{speaker} said: \"{text}\""))?,
            None => vector(&text)?,
        };
        notes.push((Span::new(at, at.plus_secs(secs)), Line { speaker, text }, vector));
    }
    notes.sort_by_key(|(span, ..)| span.start);
    let people: BTreeSet<String> =
        story.recording.names.iter().map(|name| name.to_lowercase()).collect();
    let lines: Vec<(Span, Line)> =
        notes.iter().map(|(span, line, _)| (*span, line.clone())).collect();
    let heard: Vec<Option<Heard>> = (0..lines.len())
        .map(|at| lines[at].1.speaker.is_some().then(|| Heard::at(&lines, at)))
        .collect();
    let mut answered = Vec::new();
    for Asked { question } in story.questions {
        let asked = vector(&question)?;
        let cosine = |note: &Option<Embedding>| note.as_ref()?.cosine(asked.as_ref()?);
        let told: Vec<Told> = notes
            .iter()
            .zip(&heard)
            .map(|((span, line, vector), heard)| Told {
                at: span.start,
                text: line.text.clone(),
                cosine: cosine(vector).unwrap_or(0.0).max(0.0),
                heard: heard.clone(),
                names: None,
            })
            .collect();
        let started = Instant::now();
        let meant = meaning.reply(&question, &told, &people, story.now);
        let ms = started.elapsed().as_secs_f64() * 1e3;
        let looked = match candidates {
            true => meaning.judged(&question, &told, &people, story.now),
            false => Vec::new(),
        };
        let abstained = meant.is_none();
        let (answer, confidence) = meant.map_or_else(
            || ("I don't know.".to_owned(), 0.0),
            |meant| (meant.text, meant.confidence),
        );
        let candidates = looked.into_iter().map(Looked::from).collect();
        answered.push(Answered { question, answer, abstained, confidence, ms, candidates });
    }
    Ok(answered)
}
