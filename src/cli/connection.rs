//! The running daemon, by whichever door the command line is told to take.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

use super::context::Context;
use crate::http::client::HttpClient;
use crate::mqtt::client::DaemonClient;

/// Where a token is, when no file is named.
pub(super) const TOKEN_VARIABLE: &str = "ENGRAM_TOKEN";

/// A way to the daemon.
pub(super) enum Connection {
    Mqtt(Box<DaemonClient>),
    Http(HttpClient),
}

impl Connection {
    /// Over HTTP where `--http` is given, else over MQTT.
    pub(super) fn open(context: &Context) -> anyhow::Result<Self> {
        let Some(url) = &context.http else {
            return Ok(Self::Mqtt(Box::new(DaemonClient::connect(&context.config)?)));
        };
        let token = match &context.token_file {
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .with_context(|| format!("reading the token in {}", file.display()))?;
                Some(text.trim().to_owned())
            }
            None => std::env::var(TOKEN_VARIABLE).ok(),
        };
        Ok(Self::Http(HttpClient::new(url, token.filter(|token| !token.is_empty()))?))
    }

    /// Sends a request and waits for its reply.
    pub(super) fn request(
        &mut self,
        below: &str,
        payload: &Value,
        timeout: Duration,
    ) -> anyhow::Result<Value> {
        Ok(match self {
            Self::Mqtt(client) => client.request(below, payload, timeout)?,
            Self::Http(client) => client.request(below, payload, timeout)?,
        })
    }

    /// As [`Self::request`], for bytes of a picture or sound.
    pub(super) fn request_media(
        &mut self,
        payload: &Value,
        timeout: Duration,
    ) -> anyhow::Result<Vec<u8>> {
        Ok(match self {
            Self::Mqtt(client) => client.request_media(payload, timeout)?,
            Self::Http(client) => client.request_bytes("query", payload, timeout)?,
        })
    }
}
