//! What a daemon, a replay or a reading command is made of, built from the configuration.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use super::error::AssembleError;
use super::ingest::{
    Failpoints, Gauges, Inbox, PerceiverSet, PlaybackClock, Report, SessionSettings, YieldPolicy,
};
use super::reembed::{Reembedded, reembed};
use super::resolver::resolver;
use super::text;
use crate::answer::{Answerer, Meaning, Rounds};
use crate::config::{Config, Engine};
use crate::identify::{PendingIdentities, SharedResolver};
use crate::ids::EntityId;
use crate::language::Language;
use crate::llm::{OpenAiChat, Prompts, Server, Tally};
use crate::memorize::model::{ModelMemorizer, Spool, spool_dir};
use crate::memorize::{FactReader, Memorizer};
use crate::memory::{Memory, StoreOptions, View};
use crate::models::{Catalogue, Job, ModelError};
use crate::runtime::crash_journal;
use crate::text::{Embedders, TextEmbedder};

/// The memory with everything that reads it.
#[derive(Clone)]
pub struct Knowledge {
    /// Configuration, resolved.
    pub config: Arc<Config>,
    /// The store.
    pub memory: Memory,
    /// Question → answer.
    pub answerer: Arc<Answerer>,
    /// Sentence embedder; `None` where its model is missing.
    pub text: Option<Arc<dyn TextEmbedder>>,
    /// The same, as who changes the memory over to another one needs it.
    pub embedders: Option<Arc<Embedders>>,
    /// Reads facts out of sentences; `None` where the parser's models are missing.
    pub reader: Option<FactReader>,
    /// Abilities that are missing, and why.
    pub degraded: Vec<String>,
    /// What the language models cost.
    pub tallies: Vec<Tally>,
}

impl Knowledge {
    /// Opens the store for reading and writing.
    ///
    /// # Errors
    /// When the store is in use or damaged, or a model file is damaged.
    pub fn open(config: &Config) -> Result<Self, AssembleError> {
        let memory = open_store(config)?;
        // Before any model is opened: opening it may be what crashes.
        let rest = Duration::from_secs_f64(config.models.crash_rest_secs);
        if let Err(error) = crash_journal::begin(&config.store_dir(), rest) {
            tracing::warn!(%error, "Networks that crash are not written down, nor left out; check the rights of the state directory.");
        }
        Self::over(config, memory)
    }

    /// Opens the store for reading, beside a running daemon.
    ///
    /// # Errors
    /// When there is no store, or a model file is damaged.
    pub fn open_read_only(config: &Config) -> Result<Self, AssembleError> {
        Self::over(config, read_store(config)?)
    }

    fn over(config: &Config, memory: Memory) -> Result<Self, AssembleError> {
        let catalogue = catalogue(config)?;
        let mut degraded = Vec::new();
        let embedders = match text::open(config, &catalogue, &memory.view())? {
            Ok(embedders) => Some(Arc::new(embedders)),
            Err(missing) => {
                degraded.push(missing);
                None
            }
        };
        let damaged = memory.damaged_tables();
        if !damaged.is_empty() {
            degraded.push(format!(
                "the tables {} of engram.db, which are damaged; stop the daemon and run `engramd check --repair`",
                damaged.join(", ")
            ));
        }
        let text = embedders.clone().map(|embedders| embedders as Arc<dyn TextEmbedder>);
        let language = language_if_any(config);
        let reader = language.clone().map(|one| FactReader::new(one, config.timezone()));
        let (answerer, tally) = answerer(config, text.clone(), language)?;
        let answerer = Arc::new(answerer);
        let tallies = tally.into_iter().collect();
        let config = Arc::new(config.clone());
        Ok(Self { config, memory, answerer, text, reader, embedders, degraded, tallies })
    }
}

/// Opens the configured store for reading and writing.
///
/// # Errors
/// When its key cannot be read or does not fit, or the store is in use or damaged.
pub fn open_store(config: &Config) -> Result<Memory, AssembleError> {
    Ok(Memory::open(&config.store_dir(), &store_options(config)?)?)
}

fn store_options(config: &Config) -> Result<StoreOptions, AssembleError> {
    Ok(StoreOptions {
        media_cap_bytes: config.store.media_cap_mb * 1_000_000,
        keep_media: config.privacy.media,
        key: config.store_key()?,
        vectors: config.recall.vectors,
        absence_secs: config.visits.absence_secs,
    })
}

/// Opens the configured store for reading, beside a running daemon.
///
/// # Errors
/// When there is none, or its key cannot be read or does not fit.
pub fn read_store(config: &Config) -> Result<Memory, AssembleError> {
    Ok(Memory::open_read_only_with(&config.store_dir(), &store_options(config)?)?)
}

/// The answerer that the configuration names, and what its language model costs.
///
/// # Errors
/// When the model's settings, its key or a prompt cannot be used.
pub fn answerer(
    config: &Config,
    text: Option<Arc<dyn TextEmbedder>>,
    language: Option<Arc<Language>>,
) -> Result<(Answerer, Option<Tally>), AssembleError> {
    let mut answerer = Answerer::new(config.timezone(), config.answerer.max_evidence, text);
    if let Some(language) = language {
        answerer = answerer.with_meaning(Meaning::new(language, config.timezone()));
    }
    if config.answerer.kind == Engine::Builtin {
        return Ok((answerer, None));
    }
    let state_dir = config.store_dir();
    let chat = OpenAiChat::new(Server::of_answerer(&config.llm, Some(&state_dir))?)?;
    let tally = chat.tally();
    let prompts = Prompts::load(Some(&state_dir))?;
    let rounds = Rounds::new(Arc::new(chat), prompts, &config.answerer, &config.llm);
    Ok((answerer.with_model(rounds), Some(tally)))
}

/// The parser and the thesaurus, where they are there; else the log says what is missed.
#[must_use]
pub fn language_if_any(config: &Config) -> Option<Arc<Language>> {
    match language(config) {
        Ok(language) => Some(Arc::new(language)),
        Err(error) => {
            tracing::warn!(%error, "questions are only searched for, what was told is only quoted and states no facts: `engramd models fetch` brings the parser");
            None
        }
    }
}

/// The parser and the thesaurus of the configured set of models.
///
/// # Errors
/// When a file of theirs is missing or damaged.
pub fn language(config: &Config) -> Result<Language, AssembleError> {
    let catalogue = catalogue(config)?;
    let parser = catalogue.choose(config.models.set, Job::Parser)?;
    let thesaurus = catalogue.choose(config.models.set, Job::Thesaurus)?;
    Ok(Language::open(&parser.parts, &thesaurus.parts)?)
}

/// The catalogue of models that the configuration names, calibrated as its state directory says.
///
/// # Errors
/// When the manifest cannot be understood.
pub fn catalogue(config: &Config) -> Result<Catalogue, ModelError> {
    let mirror: Option<&PathBuf> =
        config.models.mirror.as_ref().filter(|mirror| !mirror.as_os_str().is_empty());
    let catalogue = Catalogue::open(config.models.dir.as_deref(), mirror.map(PathBuf::as_path))?;
    Ok(catalogue.calibrated_in(config.store_dir()))
}

/// Everything that a session needs, over an open memory.
///
/// # Errors
/// When a model file is damaged.
pub fn session_settings(
    knowledge: &Knowledge,
    pace: PlaybackClock,
    courtesy: YieldPolicy,
    reports: crossbeam_channel::Sender<Report>,
) -> Result<SessionSettings, AssembleError> {
    let config = Arc::clone(&knowledge.config);
    let mut perceivers = PerceiverSet::choose(&config, &catalogue(&config)?)?;
    let Reembedded { unmatchable, .. } = reembed(&knowledge.memory, &perceivers)?;
    perceivers.degraded.extend(not_met_again(&knowledge.memory.view(), &unmatchable));
    let memorizer = Memorizer::new(knowledge.text.clone())
        .reading(knowledge.reader.clone())
        .staying(config.upkeep.place_told_secs);
    // What an erasure that was killed left undone.
    memorizer.embed_rewritten(&knowledge.memory)?;
    let perceivers = Arc::new(perceivers);
    let resolver = resolver(&config, &knowledge.memory, &perceivers, PendingIdentities::default());
    Ok(SessionSettings {
        config,
        memory: knowledge.memory.clone(),
        perceivers,
        resolver: Arc::new(SharedResolver::new(resolver)),
        memorizer,
        courtesy,
        pace,
        reports,
        gauges: Gauges::default(),
        inbox: Inbox::default(),
        patience: None,
        spool: spool(knowledge)?,
        failpoints: Failpoints::default(),
    })
}

/// Faces and voices that the present models cannot match, unless another face or voice of theirs was learned since.
fn not_met_again(view: &View, unmatchable: &[EntityId]) -> Option<String> {
    let still = |part: &&EntityId| view.person(**part).unmatchable.contains(*part);
    let who: Vec<String> = unmatchable.iter().filter(still).map(ToString::to_string).collect();
    (!who.is_empty()).then(|| {
        format!(
            "telling people apart: of {} nothing was kept that the present models could learn from; they stay, unmatchable, until a voice or a face that is known brings them back",
            who.join(", ")
        )
    })
}

/// Where clips wait for a multimodal model.
fn spool(knowledge: &Knowledge) -> Result<Option<Spool>, AssembleError> {
    let memorizer = &knowledge.config.memorizer;
    if memorizer.kind == Engine::Builtin {
        return Ok(None);
    }
    let dir = spool_dir(knowledge.memory.dir());
    let opened = Spool::open(
        &dir,
        memorizer.spool_cap_mb * 1_000_000,
        knowledge.memory.options().key.as_ref(),
    );
    opened.map(Some).map_err(|source| AssembleError::Spool { dir, source })
}

/// The multimodal model that the configuration names, and what it costs; `None` where none memorizes.
///
/// # Errors
/// When the model's settings, its key or a prompt cannot be used.
pub fn model_memorizer(config: &Config) -> Result<Option<(ModelMemorizer, Tally)>, AssembleError> {
    if config.memorizer.kind == Engine::Builtin {
        return Ok(None);
    }
    let state_dir = config.store_dir();
    let server = Server::of_memorizer(&config.memorizer, &config.llm, Some(&state_dir))?;
    let chat = OpenAiChat::new(server)?;
    let tally = chat.tally();
    let prompts = Prompts::load(Some(&state_dir))?;
    let model = ModelMemorizer::new(Arc::new(chat), prompts, &config.memorizer, &config.llm);
    Ok(Some((model, tally)))
}
