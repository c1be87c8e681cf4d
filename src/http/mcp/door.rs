//! `/mcp`: MCP over streamable HTTP, without sessions: a call is one request, its result the reply.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::Extensions;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::{Assistant, Reach, Reached};
use crate::config::McpTools;
use crate::http::Door;
use crate::http::commands::REPLY_TIMEOUT;
use crate::http::visitor::{Roles, Visitor};
use crate::mqtt::MAX_TEXT_BYTES;

/// What a call has around its arguments, bytes.
const AROUND: usize = 16 * 1024;

/// The service behind `/mcp`, as the configuration has it; `None`: there is none.
pub(in crate::http) fn service(
    door: &Door,
    tools: McpTools,
) -> Option<StreamableHttpService<Assistant<Door>, LocalSessionManager>> {
    let may_change = match tools {
        McpTools::None => return None,
        McpTools::Read => false,
        McpTools::Change => true,
    };
    let assistant = Assistant::new(door.clone(), may_change);
    // The guard has looked at host and origin.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_TEXT_BYTES + AROUND)
        .disable_allowed_hosts();
    Some(StreamableHttpService::new(move || Ok(assistant.clone()), Arc::default(), config))
}

/// Who sent the call: the guard noted it.
fn visitor(call: &Extensions) -> Option<&Visitor> {
    call.get::<Parts>()?.extensions.get::<Visitor>()
}

impl Reach for Door {
    fn rights(&self, call: &Extensions) -> Roles {
        visitor(call).map(|visitor| visitor.roles).unwrap_or_default()
    }

    async fn request(
        &self,
        below: &'static str,
        payload: Value,
        call: &Extensions,
    ) -> Result<Reached, String> {
        let visitor = visitor(call).ok_or("nobody knows who sent this")?;
        let payload = payload.to_string().into_bytes();
        let request = self.requests.request(below, payload, true, visitor.asker());
        let reply = tokio::time::timeout(REPLY_TIMEOUT, request).await;
        let reply = reply.map_err(|_| format!("no reply within {} s", REPLY_TIMEOUT.as_secs()))?;
        let reply = reply.ok_or("the daemon stops")?;
        let refused = reply.refused().is_some() || reply.conflict;
        if reply.content_type != crate::http::reply::JSON {
            return Ok(Reached::Bytes(reply.content_type.to_owned(), reply.payload));
        }
        let document: Value =
            serde_json::from_slice(&reply.payload).map_err(|error| error.to_string())?;
        match refused {
            true => Err(document["error"]["message"].as_str().unwrap_or("refused").to_owned()),
            false => Ok(Reached::Document(document)),
        }
    }
}
