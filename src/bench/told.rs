//! How notes alone answer a told story: `bench told`. No store and no percepts, only the reading of sentences; what
//! `benches/told.py --alone` judges. Among many other notes (`--among`) they lie in a store, and whatever would answer a
//! user there answers.

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
use crate::answer::{Effort, Heard, Judged, Line, Meaning, Question, Told};
use crate::config::Config;
use crate::daemon::assemble::{Knowledge, language};
use crate::ids::EntityKind;
use crate::memory::model::{MemoryKind, MemoryRow, NameRow, NameSource};
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

/// A story, read.
struct Read {
    zone: TimeZone,
    now: Timestamp,
    /// Who is known by name.
    names: Vec<String>,
    /// Oldest first.
    notes: Vec<(Span, Line)>,
    questions: Vec<String>,
}

impl Read {
    fn from(
        file: &Path,
        meaning: impl FnOnce(TimeZone) -> Meaning,
    ) -> Result<(Self, Meaning), BenchError> {
        let fail = |reason: String| BenchError::Form { path: file.to_owned(), reason };
        let story: Story =
            serde_json::from_str(&read_text(file)?).map_err(|e| fail(e.to_string()))?;
        let zone = TimeZone::get(&story.timezone).map_err(|e| fail(e.to_string()))?;
        let meaning = meaning(zone.clone());
        let mut notes: Vec<(Span, Line)> = Vec::new();
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
                (None, None) => {
                    return Err(fail("a note has neither `text` nor `fact`".to_owned()));
                }
            };
            notes.push((Span::new(at, at.plus_secs(secs)), Line { speaker, text }));
        }
        notes.sort_by_key(|(span, _)| span.start);
        let questions = story.questions.into_iter().map(|asked| asked.question).collect();
        let names = story.recording.names;
        Ok((Self { zone, now: story.now, names, notes, questions }, meaning))
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
    let language = Arc::new(language(config)?);
    let (story, meaning) = Read::from(file, |zone| Meaning::new(language, zone))?;
    let (_folder, scratch) = scratch::store(config)?;
    let knowledge = Knowledge::open(&scratch)?;
    let vector = |text: &str| -> Result<Option<Embedding>, BenchError> {
        Ok(knowledge.text.as_ref().map(|embedder| embedder.embed(text)).transpose()?)
    };
    // As a memory of it would be worded.
    let worded = |line: &Line| match &line.speaker {
        Some(speaker) => vector(&format!("{speaker} said: \"{}\"", line.text)),
        None => vector(&line.text),
    };
    let vectors: Vec<Option<Embedding>> =
        story.notes.iter().map(|(_, line)| worded(line)).collect::<Result<_, _>>()?;
    let people: BTreeSet<String> = story.names.iter().map(|name| name.to_lowercase()).collect();
    let heard: Vec<Option<Heard>> = (0..story.notes.len())
        .map(|at| story.notes[at].1.speaker.is_some().then(|| Heard::at(&story.notes, at)))
        .collect();
    let mut answered = Vec::new();
    for question in story.questions {
        let asked = vector(&question)?;
        let cosine = |note: &Option<Embedding>| note.as_ref()?.cosine(asked.as_ref()?);
        let told: Vec<Told> = story
            .notes
            .iter()
            .zip(&vectors)
            .zip(&heard)
            .map(|(((span, line), vector), heard)| Told {
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

/// The same where the story's notes stand among others: a sentence a line of `among`, told evenly spread over the time of
/// the story.
///
/// # Errors
/// When a file is none of these, or a model or the store fails.
pub fn measure_among(
    config: &Config,
    file: &Path,
    among: &Path,
) -> Result<Vec<Answered>, BenchError> {
    let language = Arc::new(language(config)?);
    let (mut story, _) = Read::from(file, |zone| Meaning::new(language, zone))?;
    let others = read_text(among)?;
    let others: Vec<&str> = others.lines().filter(|line| !line.trim().is_empty()).collect();
    let begin = story.notes.first().map_or(story.now, |(span, _)| span.start);
    let step = story.now.secs_since(begin) / (others.len() + 1) as f64;
    let spread = others.into_iter().enumerate().map(|(at, text)| {
        let told = begin.plus_secs(step * (at + 1) as f64);
        (Span::new(told, told), Line { speaker: None, text: text.to_owned() })
    });
    story.notes.extend(spread);
    story.notes.sort_by_key(|(span, _)| span.start);
    let (_folder, mut scratch) = scratch::store(config)?;
    scratch.robot.timezone = story.zone.iana_name().map(str::to_owned);
    let knowledge = Knowledge::open(&scratch)?;
    tell(&knowledge, &story)?;
    let Knowledge { memory, answerer, .. } = &knowledge;
    let mut answered = Vec::new();
    for text in story.questions {
        let now = Some(story.now);
        let question = Question { text, effort: Effort::Fast, now, ..Question::default() };
        let started = Instant::now();
        let answer = answerer.answer(memory, &question, None)?;
        let ms = started.elapsed().as_secs_f64() * 1e3;
        answered.push(Answered {
            question: question.text,
            answer: answer.answer,
            abstained: answer.abstained,
            confidence: answer.confidence,
            ms,
            candidates: Vec::new(),
        });
    }
    Ok(answered)
}

/// Notes of one transaction.
const AT_ONCE: usize = 100;

/// Puts names and notes into the memory, as somebody would tell them.
fn tell(knowledge: &Knowledge, story: &Read) -> Result<(), BenchError> {
    let memory = &knowledge.memory;
    let begin = story.notes.first().map_or(story.now, |(span, _)| span.start);
    let mut draft = memory.begin(begin);
    for name in &story.names {
        let (entity, name) = (draft.new_entity(EntityKind::Person), name.clone());
        let (source, turn) = (NameSource::Told, None);
        draft.name(NameRow { entity, name, since: begin, source, turn });
    }
    draft.commit()?;
    for notes in story.notes.chunks(AT_ONCE) {
        let Some((last, _)) = notes.last() else { continue };
        let view = memory.view();
        let mut draft = memory.begin(last.start);
        for (span, line) in notes {
            let vector = knowledge.text.as_ref().map(|text| text.embed(&line.text)).transpose()?;
            let (id, text) = (draft.new_memory_id(), line.text.clone());
            let entities = view.named_in(&text);
            let row = MemoryRow { id, ..MemoryRow::told(MemoryKind::Note, text, *span, entities) };
            draft.memory(row, vector);
        }
        draft.commit()?;
    }
    Ok(())
}
