//! `engramd mcp`: an assistant on standard input and output.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use rmcp::ServiceExt as _;
use rmcp::model::Extensions;
use serde_json::Value;

use super::context::Context;
use super::reader::{self, Reader};
use crate::http::mcp::{Assistant, Reach, Reached};
use crate::http::visitor::Roles;
use crate::mqtt::message::{Ask, QueryVerb};

/// How long the daemon may take for an answer; a question with a language model takes the longest.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Serve an assistant on standard input and output, by the Model Context Protocol.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd mcp                                          for the running daemon, over MQTT
  engramd mcp --http http://127.0.0.1:8090 --changes   for that one; it may tell, name and erase, too
  engramd mcp --data-dir /var/lib/engram               for a store without its daemon

An assistant starts this program itself; put it into its list of servers:
  {\"mcpServers\": {\"engram\": {\"command\": \"engramd\", \"args\": [\"mcp\"]}}}
A daemon that listens on HTTP serves the same at /mcp.")]
pub(super) struct McpArgs {
    /// Offer tools that tell, name and erase, too.
    #[arg(long)]
    changes: bool,
}

pub(super) fn run(args: &McpArgs, context: Context) -> anyhow::Result<u8> {
    let reader = Reader::open_for_recall(&context)?;
    let local = Local { reader: Arc::new(Mutex::new(reader)), context: Arc::new(context) };
    let assistant = Assistant::new(local, args.changes);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let running = assistant.serve(rmcp::transport::stdio()).await.context(
            "no assistant spoke on standard input; one starts this program itself, see engramd mcp --help",
        )?;
        running.waiting().await?;
        anyhow::Ok(())
    })?;
    // Somebody may still hold standard input open; nothing is waited for.
    runtime.shutdown_background();
    Ok(0)
}

/// The daemon or the store, for one assistant.
#[derive(Clone)]
struct Local {
    reader: Arc<Mutex<Reader>>,
    context: Arc<Context>,
}

impl Local {
    fn carry_out(&self, below: &str, payload: &Value) -> anyhow::Result<Reached> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match below {
            "ask" => {
                let ask: Ask = serde_json::from_value(payload.clone())?;
                Reached::Document(reader.ask(&ask, &self.context.config, ANSWER_TIMEOUT)?)
            }
            "query" => {
                let verb: QueryVerb = serde_json::from_value(payload["verb"].clone())?;
                let args = &payload["args"];
                match verb {
                    QueryVerb::Media => {
                        let (kind, bytes) = reader.picture(args)?;
                        Reached::Bytes(kind, bytes)
                    }
                    _ => Reached::Document(reader.query(verb, args)?),
                }
            }
            topic => Reached::Document(reader::command(&self.context, topic, payload)?),
        })
    }
}

impl Reach for Local {
    fn rights(&self, _call: &Extensions) -> Roles {
        Roles::all()
    }

    async fn request(
        &self,
        below: &'static str,
        payload: Value,
        _call: &Extensions,
    ) -> Result<Reached, String> {
        let local = self.clone();
        let done = tokio::task::spawn_blocking(move || local.carry_out(below, &payload)).await;
        done.map_err(|error| error.to_string())?.map_err(|error| format!("{error:#}"))
    }
}
