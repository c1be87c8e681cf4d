//! Where a reading command reads: the running daemon, or the store itself.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::connection::Connection;
use super::context::Context;
use crate::config::Config;
use crate::daemon::assemble::{AssembleError, Knowledge, answerer, language_if_any, read_store};
use crate::daemon::queries::{self, Means};
use crate::daemon::ring::Ring;
use crate::daemon::service::MemoryService;
use crate::memory::{Memory, MemoryError};
use crate::mqtt::client::ClientError;
use crate::mqtt::message::{self, Ask, QueryVerb};
use crate::mqtt::{Call, Command, Refusal, Reply, Service as _, erase_outbox, erasing_outbox};

/// How long a document may take to be remembered.
const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a reading command waits for the daemon.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The daemon, or the store.
pub(super) enum Reader {
    Daemon(Connection),
    Store(Store),
}

/// A store read without its daemon.
pub(super) struct Store {
    memory: Memory,
    /// What recall and answers need, which takes a moment to load; only where a command asks for it.
    knowledge: Option<Knowledge>,
}

impl Reader {
    /// The store where `--data-dir` is given, else the daemon.
    pub(super) fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(match &context.data_dir {
            Some(_) => Self::Store(Store { memory: read_store(&context.config)?, knowledge: None }),
            None => Self::Daemon(Connection::open(context)?),
        })
    }

    /// As [`Self::open`], able to recall by meaning.
    pub(super) fn open_for_recall(context: &Context) -> anyhow::Result<Self> {
        if context.data_dir.is_none() {
            return Self::open(context);
        }
        let knowledge = Knowledge::open_read_only(&context.config)?;
        for missing in &knowledge.degraded {
            eprintln!("engramd: without {missing}");
        }
        Ok(Self::Store(Store { memory: knowledge.memory.clone(), knowledge: Some(knowledge) }))
    }

    /// The answer to a question; `timeout`: how long the daemon may take.
    pub(super) fn ask(
        &mut self,
        ask: &Ask,
        config: &Config,
        timeout: Duration,
    ) -> anyhow::Result<Value> {
        match self {
            Self::Daemon(client) => client.request("ask", &serde_json::to_value(ask)?, timeout),
            Self::Store(Store { memory, knowledge }) => {
                let chosen = match knowledge {
                    Some(knowledge) => Arc::clone(&knowledge.answerer),
                    None => Arc::new(answerer(config, None, language_if_any(config))?.0),
                };
                Ok(queries::answer(memory, &chosen, ask, None)?)
            }
        }
    }

    /// The JSON of a reading command.
    pub(super) fn query(&mut self, verb: QueryVerb, args: &Value) -> anyhow::Result<Value> {
        match self {
            Self::Daemon(client) => {
                let payload = json!({ "verb": verb, "args": args });
                client.request("query", &payload, TIMEOUT)
            }
            Self::Store(Store { memory, knowledge }) => {
                let knowledge = knowledge.as_ref();
                let key = memory.options().key.as_ref();
                let ring = Ring::at_rest(memory.dir(), key, &crate::config::Ring::default());
                let means = Means {
                    ring: Some(&ring),
                    embedder: knowledge.and_then(|knowledge| knowledge.text.as_deref()),
                    answerer: knowledge.map(|knowledge| &*knowledge.answerer),
                    ..Means::default()
                };
                match queries::query(memory, &means, verb, args.clone())? {
                    Reply::Document(document) => Ok(document),
                    Reply::Bytes { .. } => anyhow::bail!("{} gives bytes", verb.word()),
                }
            }
        }
    }

    /// The picture or sound that is asked for, and its MIME type.
    pub(super) fn picture(&mut self, args: &Value) -> anyhow::Result<(String, Vec<u8>)> {
        let payload = json!({ "verb": "media", "args": args });
        let bytes = match self {
            Self::Daemon(client) => client.request_media(&payload, TIMEOUT)?,
            Self::Store(Store { memory, .. }) => {
                match queries::query(memory, &Means::default(), QueryVerb::Media, args.clone())? {
                    Reply::Bytes { content_type, bytes } => {
                        return Ok((content_type.to_owned(), bytes));
                    }
                    Reply::Document(_) => anyhow::bail!("media gives no bytes"),
                }
            }
        };
        let kind = if bytes.starts_with(b"RIFF") { "audio/wav" } else { "image/jpeg" };
        Ok((kind.to_owned(), bytes))
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
                match queries::query(memory, &Means::default(), QueryVerb::Media, args) {
                    Ok(Reply::Bytes { bytes, .. }) => Ok(Some(bytes)),
                    _ => Ok(None),
                }
            }
        }
    }
}

/// Carries out a request that changes something: by the daemon, or in the store itself where `--data-dir` is given
/// and no daemon has it open. Gives the reply.
pub(super) fn command(context: &Context, topic: &str, payload: &Value) -> anyhow::Result<Value> {
    let done = match (&context.data_dir, Command::at(topic)) {
        (Some(_), Some(Ok(command))) => match MemoryService::over_store(&context.config) {
            // What waits for the broker may speak of it.
            Ok(service) if command == Command::Forget && !is_dry(payload) => {
                let outbox = service.dir().to_owned();
                let key = context.config.store_key()?;
                let key = key.as_ref();
                erasing_outbox(&outbox, key, true).map_err(anyhow::Error::msg)?;
                let reply = in_store(&service, command, payload);
                let done = match &reply {
                    Ok(_) => erase_outbox(&outbox, key),
                    Err(error) if error.downcast_ref().is_some_and(Refusal::is_askers_fault) => {
                        erasing_outbox(&outbox, key, false)
                    }
                    // Some of it may be erased: the next daemon takes away what waits.
                    Err(_) => Ok(()),
                };
                done.map_err(anyhow::Error::msg).and(reply)
            }
            Ok(service) => in_store(&service, command, payload),
            Err(AssembleError::Memory(locked @ MemoryError::Locked { .. })) => {
                by_holder(&locked, context, topic, payload)
            }
            Err(error) => Err(error.into()),
        },
        _ => by_daemon(context, topic, payload),
    };
    done.with_context(|| format!("{topic} was not done"))
}

/// Whether it only asks what it would do.
fn is_dry(payload: &Value) -> bool {
    payload.get("dry_run").and_then(Value::as_bool).unwrap_or_default()
}

fn by_daemon(context: &Context, topic: &str, payload: &Value) -> anyhow::Result<Value> {
    let is_document = payload.get("document").is_some_and(Value::is_object);
    let timeout = if is_document { DOCUMENT_TIMEOUT } else { TIMEOUT };
    Connection::open(context)?.request(topic, payload, timeout)
}

/// Asks whoever holds the store; a replay that serves nobody is no daemon.
fn by_holder(
    locked: &MemoryError,
    context: &Context,
    topic: &str,
    payload: &Value,
) -> anyhow::Result<Value> {
    by_daemon(context, topic, payload).map_err(|error| match error.downcast_ref() {
        Some(ClientError::NoBroker { broker, reason }) => anyhow::anyhow!(
            "{locked}; the one that holds it takes no requests at {broker} ({reason}): wait until it has ended, or, \
             where it is a replay, let it run with --serve"
        ),
        _ => error,
    })
}

fn in_store(service: &MemoryService, command: Command, payload: &Value) -> anyhow::Result<Value> {
    let request = message::parse(command, &serde_json::to_vec(payload)?, true).request?;
    let reply = service.handle(request, &Call::local())?;
    service.flush();
    match reply {
        Reply::Document(document) => Ok(document),
        Reply::Bytes { .. } => anyhow::bail!("the reply is no document"),
    }
}
