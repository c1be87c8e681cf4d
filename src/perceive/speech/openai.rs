//! Words from any server that speaks OpenAI's `POST /v1/audio/transcriptions` (faster-whisper, vLLM,
//! whisper.cpp's server, LocalAI, …): multipart form, 16-bit WAV, `verbose_json` reply.

use std::time::Duration;

use serde::Deserialize;

use super::wav::to_wav;
use super::{TranscribeError, Transcriber};
use crate::config::{self, without_secrets};
use crate::media::SAMPLE_RATE;
use crate::percept::{Transcript, Word};
use crate::time::{Span, Timestamp};

const ENGINE: &str = "openai";
/// Model asked for when the configuration names none: the name every such server knows.
const DEFAULT_MODEL: &str = "whisper-1";
/// How much of a refusal is shown.
const MESSAGE_CHARS: usize = 200;
/// Larger replies are refused.
const MAX_REPLY_BYTES: u64 = 4 << 20;

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the whole exchange, plus as much again as the sound lasts.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), total: Duration::from_secs(30) }
    }
}

/// The client.
pub struct OpenAiTranscriber {
    agent: ureq::Agent,
    url: String,
    /// The address as it may be shown.
    shown: String,
    model: String,
    language: Option<String>,
    authorization: Option<String>,
    name: String,
    timeouts: Timeouts,
}

/// The reply: `text` alone is `json`, the rest is `verbose_json`.
#[derive(Deserialize)]
struct Reply {
    text: String,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    words: Option<Vec<ReplyWord>>,
}

#[derive(Deserialize)]
struct ReplyWord {
    #[serde(alias = "text")]
    word: String,
    start: f64,
    end: f64,
    #[serde(default, alias = "confidence")]
    probability: Option<f32>,
}

fn model(settings: &config::Transcriber) -> &str {
    settings.model.as_deref().unwrap_or(DEFAULT_MODEL)
}

impl OpenAiTranscriber {
    /// What one of these settings is called in what was heard by it: the engine and the model that it asks for.
    #[must_use]
    pub fn name_for(settings: &config::Transcriber) -> String {
        format!("{ENGINE}:{}", model(settings))
    }

    /// From `[transcriber]`: `base_url` (`http://host:port/v1`), `model`, `language`, `api_key_file`.
    ///
    /// # Errors
    /// [`TranscribeError::Setting`] without a usable `base_url` or with an unreadable key file.
    pub fn open(settings: &config::Transcriber) -> Result<Self, TranscribeError> {
        Self::with_timeouts(settings, Timeouts::default())
    }

    /// As [`OpenAiTranscriber::open`], waiting for other times.
    ///
    /// # Errors
    /// As [`OpenAiTranscriber::open`].
    pub fn with_timeouts(
        settings: &config::Transcriber,
        timeouts: Timeouts,
    ) -> Result<Self, TranscribeError> {
        let fail = |reason: String, cure| TranscribeError::Setting { engine: ENGINE, reason, cure };
        let base = settings.base_url.as_deref().unwrap_or_default().trim_end_matches('/');
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(fail(
                format!("transcriber.base_url is {:?}", without_secrets(base)),
                "set it to the server's address, such as http://127.0.0.1:8000/v1",
            ));
        }
        let authorization = match &settings.api_key_file {
            None => None,
            Some(path) => {
                let key = std::fs::read_to_string(path).map_err(|error| {
                    let reason = format!("reading the API key {}: {error}", path.display());
                    fail(reason, "check transcriber.api_key_file")
                })?;
                Some(format!("Bearer {}", key.trim()))
            }
        };
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(timeouts.connect))
            .build()
            .new_agent();
        let url = format!("{base}/audio/transcriptions");
        Ok(Self {
            agent,
            shown: without_secrets(&url),
            url,
            name: Self::name_for(settings),
            model: model(settings).to_owned(),
            language: settings.language.clone(),
            authorization,
            timeouts,
        })
    }

    fn ask(&self, sound: &[f32]) -> Result<Reply, TranscribeError> {
        let unreachable = |error: ureq::Error| TranscribeError::Unreachable {
            url: self.shown.clone(),
            reason: without_secrets(&error.to_string()),
        };
        let wav = to_wav(sound);
        // ISO 639-1 is what the interface takes: `en` of `en-US`.
        let language = self.language.as_deref().and_then(|tag| tag.split('-').next());
        let fields = [
            Some(("model", self.model.as_str())),
            Some(("response_format", "verbose_json")),
            Some(("timestamp_granularities[]", "word")),
            Some(("temperature", "0")),
            language.map(|language| ("language", language)),
        ];
        let (boundary, body) = form(&fields.into_iter().flatten().collect::<Vec<_>>(), &wav);
        let length = Duration::from_secs_f64(sound.len() as f64 / f64::from(SAMPLE_RATE));
        let mut request = self
            .agent
            .post(&self.url)
            .config()
            .timeout_global(Some(self.timeouts.total + length))
            .build()
            .header("Content-Type", format!("multipart/form-data; boundary={boundary}"));
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let mut response = request.send(&body[..]).map_err(unreachable)?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_REPLY_BYTES)
            .lossy_utf8(true)
            .read_to_string()
            .map_err(unreachable)?;
        if !(200..300).contains(&status) {
            let message = text.chars().take(MESSAGE_CHARS).collect();
            return Err(TranscribeError::Refused { url: self.shown.clone(), status, message });
        }
        serde_json::from_str(&text).map_err(|error| TranscribeError::Reply {
            url: self.shown.clone(),
            reason: error.to_string(),
        })
    }
}

impl Transcriber for OpenAiTranscriber {
    fn transcribe(
        &mut self,
        sound: &[f32],
        start: Timestamp,
    ) -> Result<Transcript, TranscribeError> {
        let reply = self.ask(sound)?;
        let secs = sound.len() as f64 / f64::from(SAMPLE_RATE);
        // Servers answer "not a number" and times beyond the end: keep words inside the turn.
        let at = |secs_in: f64| {
            start.plus_secs(if secs_in.is_finite() { secs_in.clamp(0.0, secs) } else { 0.0 })
        };
        let words = reply.words.unwrap_or_default().into_iter().filter_map(|word| {
            let text = word.word.trim();
            let span = Span::new(at(word.start), at(word.end));
            let confidence = word.probability.map(|p| p.clamp(0.0, 1.0));
            (!text.is_empty()).then(|| Word { text: text.into(), span, confidence })
        });
        Ok(Transcript {
            text: reply.text.trim().to_owned(),
            words: words.collect(),
            language: reply.language,
            engine: self.name.clone(),
        })
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// A `multipart/form-data` body (RFC 7578) and its boundary, which occurs nowhere inside.
fn form(fields: &[(&str, &str)], wav: &[u8]) -> (String, Vec<u8>) {
    let inside = |boundary: &str| {
        let text = boundary.as_bytes();
        wav.windows(text.len()).any(|part| part == text)
            || fields.iter().any(|(_, value)| value.contains(boundary))
    };
    let boundary = (0_u32..)
        .map(|n| format!("engram-form-{n:08x}"))
        .find(|boundary| !inside(boundary))
        .unwrap_or_default();
    let mut body = Vec::with_capacity(wav.len() + 1024);
    for (name, value) in fields {
        body.extend_from_slice(
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            )
            .as_bytes(),
        );
    }
    body.extend_from_slice(
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"turn.wav\"\r\n\
             Content-Type: audio/wav\r\n\r\n"
        )
        .as_bytes(),
    );
    body.extend_from_slice(wav);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (boundary, body)
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
