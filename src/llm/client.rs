//! [`OpenAiChat`]: one conversation after the other to one server, with retries and in bounds.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::message::{Budget, ChatReply, ChatRequest, Usage};
use super::sse::Events;
use super::transport::{Piece, Post, post};
use super::wire::{Assembly, Fault, Without, body, told};
use super::{ChatModel, LlmError};
use crate::breaker::Breaker;
use crate::config::{self, read_secret, without_secrets};

/// How often a waiting request looks whether it was called off.
const LOOK: Duration = Duration::from_millis(20);
/// The first pause before a request is sent again; each further one is twice as long …
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// … up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// A longer `Retry-After` is not waited for: the server is left alone instead.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Things that a server does not take, at most.
const MOST_LESSONS: u32 = 6;
/// Bytes that one token may stand for, generously.
const BYTES_PER_TOKEN: usize = 16;
/// No answer, retries included, takes longer than that.
const LONGEST_EXCHANGE: Duration = Duration::from_secs(24 * 3600);

/// Where a model is served.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// `http://host:port/v1`.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The key, where it wants one.
    pub api_key: Option<String>,
    /// How often a failed request is sent again.
    pub retries: usize,
    /// The model takes pictures.
    pub pictures: bool,
}

impl Server {
    /// The server that answers: `[llm]`.
    ///
    /// # Errors
    /// [`LlmError::Setting`] without address or model, or when the key cannot be read.
    pub fn of_answerer(llm: &config::Llm, state_dir: Option<&Path>) -> Result<Self, LlmError> {
        let key = llm.api_key_file.as_deref();
        Self::of(llm, llm.base_url.as_deref(), llm.model.as_deref(), key, state_dir)
    }

    /// The server that memorizes: `[memorizer]`, else `[llm]`.
    ///
    /// # Errors
    /// As [`Server::of_answerer`].
    pub fn of_memorizer(
        memorizer: &config::Memorizer,
        llm: &config::Llm,
        state_dir: Option<&Path>,
    ) -> Result<Self, LlmError> {
        let url = memorizer.base_url.as_deref().or(llm.base_url.as_deref());
        let model = memorizer.model.as_deref().or(llm.model.as_deref());
        // The key of one server is not shown to another.
        let shared = llm.api_key_file.as_deref().filter(|_| memorizer.base_url.is_none());
        let key = memorizer.api_key_file.as_deref().or(shared);
        Self::of(llm, url, model, key, state_dir)
    }

    fn of(
        llm: &config::Llm,
        url: Option<&str>,
        model: Option<&str>,
        key: Option<&Path>,
        state_dir: Option<&Path>,
    ) -> Result<Self, LlmError> {
        let missing = |what: &str| LlmError::Setting {
            reason: format!("{what} is not set"),
            cure: "set llm.base_url (http://host:port/v1) and llm.model",
        };
        let api_key = match key {
            None => None,
            Some(file) => {
                Some(read_secret("API key of the language model", file, state_dir).map_err(
                    |error| LlmError::Setting {
                        reason: error.to_string(),
                        cure: "or take llm.api_key_file out",
                    },
                )?)
            }
        };
        Ok(Self {
            base_url: url.ok_or_else(|| missing("llm.base_url"))?.to_owned(),
            model: model.ok_or_else(|| missing("llm.model"))?.to_owned(),
            api_key,
            retries: llm.retries,
            pictures: llm.pictures,
        })
    }
}

/// What a client has cost so far. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Tally(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    retries: AtomicU64,
    failures: AtomicU64,
    prompt: AtomicU64,
    completion: AtomicU64,
}

impl Tally {
    /// Requests, retries, failed requests, and tokens, by name.
    #[must_use]
    pub fn counts(&self) -> [(&'static str, u64); 5] {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let all = &self.0;
        [
            ("llm_requests", of(&all.requests)),
            ("llm_retries", of(&all.retries)),
            ("llm_failures", of(&all.failures)),
            ("llm_prompt_tokens", of(&all.prompt)),
            ("llm_completion_tokens", of(&all.completion)),
        ]
    }

    fn spent(&self, usage: Usage) {
        self.0.prompt.fetch_add(usage.prompt, Ordering::Relaxed);
        self.0.completion.fetch_add(usage.completion, Ordering::Relaxed);
    }
}

/// The client of one model on one server.
pub struct OpenAiChat {
    agent: ureq::Agent,
    server: Server,
    url: String,
    /// The address as it may be shown.
    shown: String,
    breaker: Breaker,
    without: Mutex<Without>,
    tally: Tally,
}

impl OpenAiChat {
    /// For that server; connects with the first request.
    ///
    /// # Errors
    /// [`LlmError::Setting`] when the address is none.
    pub fn new(server: Server) -> Result<Self, LlmError> {
        let base = server.base_url.trim_end_matches('/');
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(LlmError::Setting {
                reason: format!(
                    "the address {:?} begins neither with http:// nor https://",
                    without_secrets(base)
                ),
                cure: "write llm.base_url as http://host:port/v1",
            });
        }
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(5)))
            .build()
            .new_agent();
        let url = format!("{base}/chat/completions");
        let without = Without { pictures: !server.pictures, ..Without::default() };
        Ok(Self {
            agent,
            shown: without_secrets(&url),
            url,
            server,
            breaker: Breaker::default(),
            without: Mutex::new(without),
            tally: Tally::default(),
        })
    }

    /// What it has cost so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally.clone()
    }

    /// The names of the models that the server serves (`GET /v1/models`).
    ///
    /// # Errors
    /// When it cannot be reached or refuses.
    pub fn served(&self, time: Duration) -> Result<Vec<String>, LlmError> {
        let address = self.url.trim_end_matches("/chat/completions").to_owned() + "/models";
        let url = without_secrets(&address);
        let unreachable = |error: ureq::Error| LlmError::Unreachable {
            url: url.clone(),
            reason: without_secrets(&error.to_string()),
        };
        let mut request = self.agent.get(&address).config().timeout_global(Some(time)).build();
        if let Some(key) = &self.server.api_key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = request.call().map_err(unreachable)?;
        let status = response.status().as_u16();
        let text =
            response.body_mut().with_config().limit(1 << 20).lossy_utf8(true).read_to_string();
        let text = text.map_err(unreachable)?;
        if status != 200 {
            let message = text.chars().take(200).collect();
            return Err(LlmError::Refused { url, status, message, retry_after: None });
        }
        let document: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| LlmError::Reply { url, reason: error.to_string() })?;
        let models = document["data"].as_array().into_iter().flatten();
        Ok(models.filter_map(|model| model["id"].as_str().map(ToOwned::to_owned)).collect())
    }

    fn without(&self) -> Without {
        *self.without.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unreachable(&self, reason: String) -> LlmError {
        LlmError::Unreachable { url: self.shown.clone(), reason: without_secrets(&reason) }
    }

    /// One exchange.
    fn attempt(&self, request: &ChatRequest, budget: &Budget) -> Result<ChatReply, LlmError> {
        let asked = body(request, &self.server.model, self.without()).to_string().into_bytes();
        let words: usize = request.messages.iter().map(super::Message::words).sum();
        let begun = Instant::now();
        let post_it = Post {
            url: self.url.clone(),
            authorization: self.server.api_key.as_ref().map(|key| format!("Bearer {key}")),
            body: asked,
            time: budget.left().min(LONGEST_EXCHANGE),
        };
        let pieces =
            post(&self.agent, post_it).map_err(|error| self.unreachable(error.to_string()))?;
        let mut reading = Reading::new(self, &pieces, budget, begun);
        let reply = reading.run(request, words)?;
        Ok(reply)
    }

    /// Waits; false when the budget does not allow it.
    fn pause(time: Duration, budget: &Budget) -> bool {
        if time >= budget.left() {
            return false;
        }
        let until = Instant::now() + time;
        while Instant::now() < until {
            if budget.cancel.cancelled() {
                return false;
            }
            thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
        true
    }

    fn insist(&self, request: &ChatRequest, budget: &Budget) -> Result<ChatReply, LlmError> {
        let (mut retries, mut learned) = (0_u32, 0);
        loop {
            let error = match self.attempt(request, budget) {
                Ok(reply) => return Ok(ChatReply { retries, ..reply }),
                Err(error) => error,
            };
            let mut wait = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(retries.min(10)));
            if let LlmError::Refused { status, message, retry_after, .. } = &error {
                if let Some(without) = self.without().learn(*status, message) {
                    tracing::info!(url = %self.shown, ?without, "The language model's server refused a part of the request: it is left out from now on.");
                    *self.without.lock().unwrap_or_else(PoisonError::into_inner) = without;
                    wait = Duration::ZERO;
                } else if !error.retryable() {
                    return Err(error);
                }
                if let Some(told) = retry_after {
                    if *told > LONGEST_WAIT {
                        return Err(error);
                    }
                    wait = wait.max(*told);
                }
            } else if !error.retryable() {
                return Err(error);
            }
            // What a server does not take is found out one by one, beside the retries.
            if wait.is_zero() && learned < MOST_LESSONS {
                learned += 1;
                continue;
            }
            if retries as usize >= self.server.retries
                || !Self::pause(wait.min(LONGEST_PAUSE.max(LONGEST_WAIT)), budget)
            {
                return Err(if budget.cancel.cancelled() { LlmError::Cancelled } else { error });
            }
            retries += 1;
            self.tally.0.retries.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl ChatModel for OpenAiChat {
    fn name(&self) -> &str {
        &self.server.model
    }

    fn chat(&self, request: &ChatRequest, budget: &Budget) -> Result<ChatReply, LlmError> {
        if let Err((rest, last)) = self.breaker.admit(Instant::now()) {
            let secs = rest.as_secs_f64();
            return Err(LlmError::Resting { url: self.shown.clone(), secs, last });
        }
        self.tally.0.requests.fetch_add(1, Ordering::Relaxed);
        let done = self.insist(request, budget);
        match &done {
            Ok(reply) => {
                self.breaker.well();
                self.tally.spent(reply.usage);
            }
            Err(error) => {
                self.tally.0.failures.fetch_add(1, Ordering::Relaxed);
                if error.ill() {
                    let wait = match error {
                        LlmError::Refused { retry_after, .. } => *retry_after,
                        _ => None,
                    };
                    self.breaker.ill(Instant::now(), &error.to_string(), wait);
                }
            }
        }
        done
    }
}

/// Reads one reply, piece by piece.
struct Reading<'a> {
    client: &'a OpenAiChat,
    pieces: &'a Receiver<Piece>,
    budget: &'a Budget,
    begun: Instant,
    bytes: usize,
}

impl<'a> Reading<'a> {
    fn new(
        client: &'a OpenAiChat,
        pieces: &'a Receiver<Piece>,
        budget: &'a Budget,
        begun: Instant,
    ) -> Self {
        Self { client, pieces, budget, begun, bytes: 0 }
    }

    fn next(&mut self) -> Result<Piece, LlmError> {
        loop {
            if self.budget.cancel.cancelled() {
                return Err(LlmError::Cancelled);
            }
            let left = self.budget.left();
            if left.is_zero() {
                return Err(self.late());
            }
            match self.pieces.recv_timeout(left.min(LOOK)) {
                Ok(piece) => {
                    if let Piece::Bytes(bytes) = &piece {
                        self.bytes += bytes.len();
                    }
                    return Ok(piece);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.client.unreachable("its thread ended".to_owned()));
                }
            }
        }
    }

    fn late(&self) -> LlmError {
        let secs = self.begun.elapsed().as_secs_f64();
        LlmError::Late { url: self.client.shown.clone(), secs, bytes: self.bytes }
    }

    fn cut(&self) -> LlmError {
        LlmError::Cut { url: self.client.shown.clone(), bytes: self.bytes }
    }

    fn run(&mut self, request: &ChatRequest, words: usize) -> Result<ChatReply, LlmError> {
        let (status, retry_after, events) = match self.next()? {
            Piece::Head { status, retry_after, events } => (status, retry_after, events),
            Piece::Failed(reason) => return Err(self.client.unreachable(reason)),
            Piece::Bytes(_) | Piece::End => return Err(self.cut()),
        };
        let url = || self.client.shown.clone();
        if !(200..300).contains(&status) {
            let text = String::from_utf8_lossy(&self.whole()?).into_owned();
            let error = serde_json::from_str::<serde_json::Value>(&text);
            let message = error.map_or_else(
                |_| text.chars().take(300).collect(),
                |error| told(error.get("error").unwrap_or(&error)),
            );
            return Err(LlmError::Refused { url: url(), status, message, retry_after });
        }
        let mut assembly = Assembly::default();
        let form = |fault| match fault {
            Fault::Form(reason) => LlmError::Reply { url: url(), reason },
            Fault::Told(message) => {
                LlmError::Refused { url: url(), status: 500, message, retry_after: None }
            }
        };
        if !events {
            let bytes = self.whole()?;
            assembly.chunk(&String::from_utf8_lossy(&bytes)).map_err(form)?;
            return assembly.reply(words).map_err(form);
        }
        let mut stream = Events::default();
        loop {
            let (found, over) = match self.next()? {
                Piece::Bytes(bytes) => {
                    let found = stream.push(&bytes);
                    (found.map_err(|reason| LlmError::Reply { url: url(), reason })?, false)
                }
                Piece::End => (stream.finish().into_iter().collect(), true),
                Piece::Failed(_) | Piece::Head { .. } => return Err(self.cut_or_late()),
            };
            for data in found {
                if data.trim() == "[DONE]" {
                    return assembly.reply(words).map_err(form);
                }
                assembly.chunk(&data).map_err(form)?;
            }
            self.bounded(&assembly, request)?;
            if over && assembly.finished() {
                return assembly.reply(words).map_err(form);
            }
            if over {
                return Err(self.cut());
            }
        }
    }

    fn cut_or_late(&self) -> LlmError {
        if self.budget.left().is_zero() { self.late() } else { self.cut() }
    }

    /// Whether the reply is still within its bounds.
    fn bounded(&self, assembly: &Assembly, request: &ChatRequest) -> Result<(), LlmError> {
        let (thinking, rest) = assembly.bytes();
        let endless = |what, tokens: usize| LlmError::Endless {
            url: self.client.shown.clone(),
            what,
            bound: format!("{tokens} tokens"),
        };
        // A model told not to think may still say so in a few words.
        let most_thinking = (request.thinking_tokens + 64) * BYTES_PER_TOKEN / 2;
        if thinking > most_thinking {
            return Err(endless("thinking", request.thinking_tokens));
        }
        if rest > (request.max_tokens + request.thinking_tokens + 64) * BYTES_PER_TOKEN {
            return Err(endless("reply", request.max_tokens));
        }
        Ok(())
    }

    /// The rest of the body.
    fn whole(&mut self) -> Result<Vec<u8>, LlmError> {
        let mut whole = Vec::new();
        loop {
            match self.next()? {
                Piece::Bytes(bytes) => whole.extend(bytes),
                Piece::End => return Ok(whole),
                Piece::Failed(_) | Piece::Head { .. } => return Err(self.cut_or_late()),
            }
        }
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
