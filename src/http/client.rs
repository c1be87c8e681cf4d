//! A client for the daemon's HTTP, as the command line uses it.

use std::time::Duration;

use serde_json::Value;

/// Replies are read up to here.
const MAX_REPLY_BYTES: u64 = 64 << 20;

/// Why a daemon could not be asked over HTTP.
#[derive(Debug, thiserror::Error)]
pub enum HttpClientError {
    /// Not an address.
    #[error("{0:?} is no address of a daemon; write for example http://127.0.0.1:8090")]
    Url(String),
    /// Nobody there, or the exchange broke off.
    #[error(
        "asking the daemon at {url}: {reason}; is it running (engramd run), and does it listen there (`http.listen`)?"
    )]
    NoDaemon {
        /// Where.
        url: String,
        /// Why not.
        reason: String,
    },
    /// It does not know who asks, or who asks may not do it.
    #[error(
        "{message} ({status}); a token goes with --token-file FILE, or in ENGRAM_TOKEN (docs/http.md, Who may)"
    )]
    NotLetIn {
        /// 401 or 403.
        status: u16,
        /// What the daemon said.
        message: String,
    },
    /// The daemon refused.
    #[error("{message} ({code})")]
    Refused {
        /// One of the error codes.
        code: String,
        /// What the daemon said.
        message: String,
    },
    /// The reply is no JSON.
    #[error("reading the daemon's reply: {0}")]
    Unreadable(serde_json::Error),
}

/// A daemon that is reached over HTTP.
#[derive(Clone, Debug)]
pub struct HttpClient {
    agent: ureq::Agent,
    base: String,
    token: Option<String>,
}

impl HttpClient {
    /// At that address (`http://host:port` or `https://…`), with that token where it wants one. Nothing is sent yet.
    ///
    /// # Errors
    /// [`HttpClientError::Url`].
    pub fn new(url: &str, token: Option<String>) -> Result<Self, HttpClientError> {
        let base = url.trim_end_matches('/').to_owned();
        let host = base.strip_prefix("http://").or_else(|| base.strip_prefix("https://"));
        if host.is_none_or(|host| host.is_empty() || host.contains(['/', '?', '#', '@'])) {
            return Err(HttpClientError::Url(url.to_owned()));
        }
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
        Ok(Self { agent: config.build().into(), base, token })
    }

    /// Sends a request as it would go over MQTT, and waits for its reply.
    ///
    /// # Errors
    /// Every [`HttpClientError`].
    pub fn request(
        &self,
        below: &str,
        payload: &Value,
        timeout: Duration,
    ) -> Result<Value, HttpClientError> {
        let bytes = self.request_bytes(below, payload, timeout)?;
        serde_json::from_slice(&bytes).map_err(HttpClientError::Unreadable)
    }

    /// The newest document of a topic of state (`status`, `stats`, `describe`).
    ///
    /// # Errors
    /// Every [`HttpClientError`] but [`HttpClientError::Unreadable`].
    pub fn document(&self, below: &str, timeout: Duration) -> Result<Vec<u8>, HttpClientError> {
        let url = format!("{}/api/{below}", self.base);
        let request = self.agent.get(&url).config().timeout_global(Some(timeout)).build();
        self.reply(self.with_token(request).call())
    }

    /// Whether it answers.
    #[must_use]
    pub fn is_there(&self, timeout: Duration) -> bool {
        let url = format!("{}/healthz", self.base);
        let request = self.agent.get(&url).config().timeout_global(Some(timeout)).build();
        request.call().is_ok_and(|response| response.status().is_success())
    }

    /// As [`Self::request`], for replies that may be bytes of a picture or sound.
    ///
    /// # Errors
    /// Every [`HttpClientError`] but [`HttpClientError::Unreadable`].
    pub fn request_bytes(
        &self,
        below: &str,
        payload: &Value,
        timeout: Duration,
    ) -> Result<Vec<u8>, HttpClientError> {
        let (path, body) = match (below, payload["verb"].as_str()) {
            ("query", Some(verb)) => (format!("query/{verb}"), &payload["args"]),
            _ => (below.to_owned(), payload),
        };
        let url = format!("{}/api/{path}", self.base);
        let request = self
            .agent
            .post(&url)
            .config()
            .timeout_global(Some(timeout))
            .build()
            .header("Content-Type", "application/json")
            .header("X-Engram", "1");
        self.reply(self.with_token(request).send(body.to_string()))
    }

    fn with_token<Body>(&self, request: ureq::RequestBuilder<Body>) -> ureq::RequestBuilder<Body> {
        match &self.token {
            Some(token) => request.header("Authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    /// The bytes of a reply, or why it was refused.
    fn reply(
        &self,
        response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Vec<u8>, HttpClientError> {
        let lost = |error: ureq::Error| HttpClientError::NoDaemon {
            url: self.base.clone(),
            reason: error.to_string(),
        };
        let response = response.map_err(lost)?;
        let status = response.status().as_u16();
        let body = response.into_body().into_with_config().limit(MAX_REPLY_BYTES);
        let bytes = body.read_to_vec().map_err(lost)?;
        if (200..300).contains(&status) {
            return Ok(bytes);
        }
        let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |key: &str| document["error"][key].as_str().unwrap_or_default().to_owned();
        let (code, message) = (text("code"), text("message"));
        Err(match status {
            401 | 403 => HttpClientError::NotLetIn { status, message },
            _ if code.is_empty() => HttpClientError::NoDaemon {
                url: self.base.clone(),
                reason: format!("it answers with status {status}, which no engramd does"),
            },
            _ => HttpClientError::Refused { code, message },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_daemons_are_taken() {
        for good in ["http://127.0.0.1:8090", "http://robot.local:8090/", "https://[::1]:8090"] {
            assert!(HttpClient::new(good, None).is_ok(), "{good}");
        }
        for bad in
            ["127.0.0.1:8090", "ftp://robot", "http://", "http://robot/api", "http://a:b@robot"]
        {
            assert!(HttpClient::new(bad, None).is_err(), "{bad}");
        }
    }
}
