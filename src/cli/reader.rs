//! Where a reading command reads: the running daemon, or the store itself.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::Context;
use crate::daemon::queries;
use crate::memory::{Filter, Memory, View};
use crate::mqtt::client::DaemonClient;
use crate::mqtt::message::QueryVerb;
use crate::mqtt::{Refusal, Reply};

/// How long a reading command waits for the daemon.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The daemon, or the store.
pub(super) enum Reader {
    Daemon(Box<DaemonClient>),
    Store(Memory),
}

impl Reader {
    /// The store where `--data-dir` is given, else the daemon.
    pub(super) fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(match &context.data_dir {
            Some(dir) => Self::Store(Memory::open_read_only(dir)?),
            None => Self::Daemon(Box::new(DaemonClient::connect(&context.config)?)),
        })
    }

    /// The JSON of a reading command.
    pub(super) fn query(&mut self, verb: QueryVerb, args: &Value) -> anyhow::Result<Value> {
        match self {
            Self::Daemon(client) => {
                let payload = json!({ "verb": verb, "args": args });
                Ok(client.request("query", &payload, TIMEOUT)?)
            }
            Self::Store(memory) => {
                match queries::query(memory, verb, args.clone(), &recall_by_words)? {
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
            Self::Store(memory) => {
                match queries::query(memory, QueryVerb::Media, args, &recall_by_words) {
                    Ok(Reply::Bytes { bytes, .. }) => Ok(Some(bytes)),
                    _ => Ok(None),
                }
            }
        }
    }
}

/// The memories whose words fit best; what a store gives without the daemon's sentence embedder.
fn recall_by_words(view: &View, args: Value) -> Result<Value, Refusal> {
    let text = args.get("query").and_then(Value::as_str).unwrap_or_default();
    let limit = args.get("limit").and_then(Value::as_u64).unwrap_or(10);
    let hits = view.lexical(text, usize::try_from(limit).unwrap_or(10), &Filter::default());
    let best = hits.first().map_or(1.0, |(_, score)| score.max(f32::EPSILON));
    let hits: Vec<Value> = hits
        .into_iter()
        .filter_map(|(id, score)| {
            let mut line = queries::memory_line(view, &*view.memory(id)?);
            line.as_object_mut()?.insert("score".to_owned(), json!(score / best));
            Some(line)
        })
        .collect();
    Ok(json!({ "query": text, "hits": hits }))
}

/// Sends a request that changes something, and gives its reply.
pub(super) fn command(context: &Context, topic: &str, payload: &Value) -> anyhow::Result<Value> {
    let mut client = DaemonClient::connect(&context.config)?;
    client.request(topic, payload, TIMEOUT).with_context(|| format!("{topic} was not done"))
}
