//! Where a reading command reads: the running daemon, or the store itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::Context;
use crate::answer::Answerer;
use crate::config::Config;
use crate::daemon::queries;
use crate::memory::Memory;
use crate::models::{Catalogue, Job};
use crate::mqtt::Reply;
use crate::mqtt::client::DaemonClient;
use crate::mqtt::message::{Ask, QueryVerb};
use crate::text::{MiniLm, TextEmbedder};

/// How long a reading command waits for the daemon.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The daemon, or the store.
pub(super) enum Reader {
    Daemon(Box<DaemonClient>),
    Store(Store),
}

/// A store read without its daemon.
pub(super) struct Store {
    memory: Memory,
    /// `None` where its model is missing: recall goes by words alone.
    embedder: Option<Arc<dyn TextEmbedder>>,
}

impl Store {
    fn open(dir: &Path) -> anyhow::Result<Self> {
        Ok(Self { memory: Memory::open_read_only(dir)?, embedder: None })
    }

    /// With the sentence embedder of the model set, which takes a moment to load.
    fn open_with_embedder(dir: &Path, config: &Config) -> anyhow::Result<Self> {
        let models = &config.models;
        let catalogue = Catalogue::open(models.dir.as_deref(), models.mirror.as_deref())?;
        let embedder: Option<Arc<dyn TextEmbedder>> =
            match catalogue.choose(models.set, Job::TextEmbedder) {
                Ok(file) => {
                    Some(Arc::new(MiniLm::open(file.part("model")?, file.part("tokenizer")?, 1)?))
                }
                Err(error) => {
                    eprintln!("engramd: recall goes by words alone: {error}");
                    None
                }
            };
        Ok(Self { embedder, ..Self::open(dir)? })
    }
}

impl Reader {
    /// The store where `--data-dir` is given, else the daemon.
    pub(super) fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(match &context.data_dir {
            Some(dir) => Self::Store(Store::open(dir)?),
            None => Self::Daemon(Box::new(DaemonClient::connect(&context.config)?)),
        })
    }

    /// As [`Self::open`], able to recall by meaning.
    pub(super) fn open_for_recall(context: &Context) -> anyhow::Result<Self> {
        Ok(match &context.data_dir {
            Some(dir) => Self::Store(Store::open_with_embedder(dir, &context.config)?),
            None => Self::Daemon(Box::new(DaemonClient::connect(&context.config)?)),
        })
    }

    /// The answer to a question; `timeout`: how long the daemon may take.
    pub(super) fn ask(
        &mut self,
        ask: &Ask,
        config: &Config,
        timeout: Duration,
    ) -> anyhow::Result<Value> {
        match self {
            Self::Daemon(client) => {
                Ok(client.request("ask", &serde_json::to_value(ask)?, timeout)?)
            }
            Self::Store(store) => {
                let most = config.answerer.max_evidence;
                let answerer = Answerer::new(config.timezone(), most, store.embedder.clone());
                Ok(queries::answer(&store.memory, &answerer, ask, None)?)
            }
        }
    }

    /// The JSON of a reading command.
    pub(super) fn query(&mut self, verb: QueryVerb, args: &Value) -> anyhow::Result<Value> {
        match self {
            Self::Daemon(client) => {
                let payload = json!({ "verb": verb, "args": args });
                Ok(client.request("query", &payload, TIMEOUT)?)
            }
            Self::Store(Store { memory, embedder }) => {
                match queries::query(memory, embedder.as_deref(), verb, args.clone())? {
                    Reply::Document(document) => Ok(document),
                    Reply::Bytes { .. } => anyhow::bail!("{} gives bytes", verb.word()),
                }
            }
        }
    }

    /// A picture or sound by its digest; `None` where it is not kept any more.
    pub(super) fn media(&mut self, digest: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let args = json!({ "digest": digest });
        match self {
            Self::Daemon(client) => {
                let payload = json!({ "verb": "media", "args": args });
                Ok(client.request_media(&payload, TIMEOUT).ok())
            }
            Self::Store(Store { memory, .. }) => {
                match queries::query(memory, None, QueryVerb::Media, args) {
                    Ok(Reply::Bytes { bytes, .. }) => Ok(Some(bytes)),
                    _ => Ok(None),
                }
            }
        }
    }
}

/// Sends a request that changes something, and gives its reply.
pub(super) fn command(context: &Context, topic: &str, payload: &Value) -> anyhow::Result<Value> {
    let mut client = DaemonClient::connect(&context.config)?;
    client.request(topic, payload, TIMEOUT).with_context(|| format!("{topic} was not done"))
}
