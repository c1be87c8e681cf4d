//! Sentence embeddings from any server that speaks OpenAI's `POST /v1/embeddings` (llama.cpp, vLLM, Ollama,
//! text-embeddings-inference, hosted ones).
//!
//! Memories go out many at a time and may take their time; a question waits for a second at most, because it can
//! be answered by its words. A server that fails is left alone for a while.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::reply::vectors;
use super::{TextEmbedder, TextError};
use crate::breaker::Breaker;
use crate::config::{self, read_secret, without_secrets};
use crate::ids::ModelHash;
use crate::percept::Embedding;

/// A question is not waited for longer.
const QUESTION_TIME: Duration = Duration::from_secs(1);
/// Nor a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Of a text, no more is sent: models look at a few hundred to a few thousand word pieces.
const MAX_BYTES: usize = 6_000;
/// Larger replies are refused.
const MAX_REPLY_BYTES: u64 = 64 << 20;
/// How much of a refusal is shown.
const MESSAGE_CHARS: usize = 200;

/// The client of one model on one server.
pub struct ServerEmbedder {
    agent: ureq::Agent,
    url: String,
    /// The address as it may be shown.
    shown: String,
    settings: config::Embedder,
    model: String,
    authorization: Option<String>,
    /// Length of its vectors; 0: not known yet.
    dimensions: AtomicUsize,
    /// The server takes nothing but `model` and `input`.
    plain: AtomicBool,
    breaker: Breaker,
    fault: Mutex<Option<String>>,
}

impl ServerEmbedder {
    /// From `[embedder]`; connects with the first text. Its key is looked up in `state_dir`, too.
    ///
    /// # Errors
    /// [`TextError::Setting`] without address or model, or when the key cannot be read.
    pub fn open(settings: &config::Embedder, state_dir: Option<&Path>) -> Result<Self, TextError> {
        let fail = |reason: String, cure| TextError::Setting { reason, cure };
        let base = settings.base_url.as_deref().unwrap_or_default().trim_end_matches('/');
        if !base.starts_with("http://") && !base.starts_with("https://") {
            let cure = "set it to the server's address, such as http://127.0.0.1:11434/v1";
            return Err(fail(format!("embedder.base_url is {:?}", without_secrets(base)), cure));
        }
        let model = settings.model.clone().filter(|model| !model.is_empty());
        let model = model.ok_or_else(|| {
            fail("embedder.model is not set".to_owned(), "name the model as the server knows it")
        })?;
        let authorization = match &settings.api_key_file {
            None => None,
            Some(file) => {
                let key = read_secret("API key of the sentence embedder", file, state_dir);
                let key = key.map_err(|error| {
                    fail(error.to_string(), "or take embedder.api_key_file out")
                })?;
                Some(format!("Bearer {key}"))
            }
        };
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_TIME))
            .build()
            .new_agent();
        let url = format!("{base}/embeddings");
        Ok(Self {
            agent,
            shown: without_secrets(&url),
            url,
            dimensions: AtomicUsize::new(settings.dimensions.unwrap_or(0)),
            settings: settings.clone(),
            model,
            authorization,
            plain: AtomicBool::new(false),
            breaker: Breaker::default(),
            fault: Mutex::default(),
        })
    }

    /// Whether vectors of that model and length are this one's; then their length is known before the server
    /// has answered.
    pub fn recognise(&self, model: ModelHash, dimensions: usize) -> bool {
        let unknown = self.dimensions.load(Ordering::Relaxed);
        let own = (unknown == 0 || unknown == dimensions) && self.identity(dimensions) == model;
        if own {
            self.dimensions.store(dimensions, Ordering::Relaxed);
        }
        own
    }

    /// SHA-256 over the kind, the model's base name, the length, and what is put before memories: the same model
    /// on another server is the same.
    fn identity(&self, dimensions: usize) -> ModelHash {
        let base = self.model.rsplit('/').next().unwrap_or(&self.model);
        let mut hash = Sha256::new();
        for part in ["server", base, &dimensions.to_string(), &self.settings.passage_prefix] {
            hash.update(part);
            hash.update([0]);
        }
        ModelHash(hash.finalize().into())
    }

    fn fault_slot(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The vectors of some texts, within `time`; not asked while the server is left alone.
    fn ask(&self, texts: &[String], time: Duration) -> Result<Vec<Embedding>, TextError> {
        if let Err((rest, last)) = self.breaker.admit(Instant::now()) {
            let secs = rest.as_secs_f64();
            return Err(TextError::Resting { url: self.shown.clone(), secs, last });
        }
        let asked = self.insist(texts, time);
        match &asked {
            Ok(_) => {
                self.breaker.well();
                *self.fault_slot() = None;
            }
            Err(error) if error.is_of_the_server() => {
                let wait = match error {
                    TextError::Refused { retry_after, .. } => *retry_after,
                    _ => None,
                };
                *self.fault_slot() = Some(error.to_string());
                self.breaker.ill(Instant::now(), &error.to_string(), wait);
            }
            // It answers; what it refused was this text.
            Err(_) => self.breaker.well(),
        }
        asked
    }

    /// Once more, without what not every server takes, where it refuses that.
    fn insist(&self, texts: &[String], time: Duration) -> Result<Vec<Embedding>, TextError> {
        let plain = self.plain.load(Ordering::Relaxed);
        match self.exchange(texts, time, plain) {
            Err(error @ TextError::Refused { status: 400 | 422, .. }) if !plain => {
                let Ok(found) = self.exchange(texts, time, true) else { return Err(error) };
                tracing::info!(url = %self.shown, %error, "The embeddings server takes no `encoding_format` or `dimensions`: they are left out from now on.");
                self.plain.store(true, Ordering::Relaxed);
                Ok(found)
            }
            done => done,
        }
    }

    fn exchange(
        &self,
        texts: &[String],
        time: Duration,
        plain: bool,
    ) -> Result<Vec<Embedding>, TextError> {
        let failed = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => TextError::Late {
                url: self.shown.clone(),
                texts: texts.len(),
                secs: time.as_secs_f64(),
            },
            error => TextError::Unreachable {
                url: self.shown.clone(),
                reason: without_secrets(&error.to_string()),
            },
        };
        let mut body = json!({ "model": self.model, "input": texts });
        if !plain {
            body["encoding_format"] = json!("float");
            if let Some(dimensions) = self.settings.dimensions {
                body["dimensions"] = json!(dimensions);
            }
        }
        let mut request = self
            .agent
            .post(&self.url)
            .config()
            .timeout_global(Some(time))
            .build()
            .header("Content-Type", "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let mut response = request.send(body.to_string().as_bytes()).map_err(failed)?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get("retry-after");
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_REPLY_BYTES)
            .lossy_utf8(true)
            .read_to_string()
            .map_err(failed)?;
        if !(200..300).contains(&status) {
            return Err(TextError::Refused {
                url: self.shown.clone(),
                status,
                message: text.chars().take(MESSAGE_CHARS).collect(),
                retry_after: retry_after.map(Duration::from_secs),
            });
        }
        let found = vectors(&text, texts.len())
            .map_err(|reason| TextError::Reply { url: self.shown.clone(), reason })?;
        self.taken(found)
    }

    /// The vectors under this model's identity, if they are of its length.
    fn taken(&self, found: Vec<Vec<f32>>) -> Result<Vec<Embedding>, TextError> {
        let Some(length) = found.first().map(Vec::len) else { return Ok(Vec::new()) };
        let known =
            self.dimensions.compare_exchange(0, length, Ordering::Relaxed, Ordering::Relaxed);
        if let Err(expected) = known
            && expected != length
        {
            return Err(TextError::Dimensions {
                url: self.shown.clone(),
                model: self.model.clone(),
                expected,
                found: length,
            });
        }
        let model = self.identity(length);
        Ok(found.into_iter().map(|values| Embedding::normalised(values, model)).collect())
    }

    fn time(&self) -> Duration {
        Duration::try_from_secs_f64(self.settings.timeout_secs).unwrap_or(QUESTION_TIME)
    }
}

/// What is sent of a text; some servers refuse an empty one.
fn sent(prefix: &str, text: &str) -> String {
    let whole = format!("{prefix}{text}");
    let head = &whole[..whole.floor_char_boundary(MAX_BYTES)];
    if head.is_empty() { " ".to_owned() } else { head.to_owned() }
}

impl TextEmbedder for ServerEmbedder {
    fn embed(&self, text: &str) -> Result<Embedding, TextError> {
        let texts = [sent(&self.settings.query_prefix, text)];
        let found = self.ask(&texts, self.time().min(QUESTION_TIME))?;
        found.into_iter().next().ok_or_else(|| TextError::Reply {
            url: self.shown.clone(),
            reason: "no vector came".to_owned(),
        })
    }

    /// Never: whoever writes must not wait for a server.
    fn embed_at_once(&self, _: &str) -> Result<Option<Embedding>, TextError> {
        Ok(None)
    }

    fn embed_passages(&self, texts: &[String]) -> Result<Vec<Embedding>, TextError> {
        let mut found = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.settings.batch.max(1)) {
            let batch: Vec<String> =
                batch.iter().map(|text| sent(&self.settings.passage_prefix, text)).collect();
            found.extend(self.ask(&batch, self.time())?);
        }
        Ok(found)
    }

    fn model(&self) -> Option<ModelHash> {
        self.dimensions().map(|dimensions| self.identity(dimensions))
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.dimensions.load(Ordering::Relaxed)).filter(|dimensions| *dimensions > 0)
    }

    fn fault(&self) -> Option<String> {
        self.fault_slot().clone()
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
