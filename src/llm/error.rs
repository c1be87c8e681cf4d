//! What goes wrong between a conversation and its next message.

use std::time::Duration;

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LlmError {
    /// No connection, or it broke.
    #[error(
        "asking the language model at {url}: {reason}; check llm.base_url and that the server runs"
    )]
    Unreachable {
        /// Address.
        url: String,
        /// What the network said.
        reason: String,
    },
    /// The server refused.
    #[error("asking the language model at {url}: it answered {status}: {message}{}", cure(*.status))]
    Refused {
        /// Address.
        url: String,
        /// HTTP status.
        status: u16,
        /// What it said, shortened.
        message: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The stream ended before the reply did.
    #[error(
        "asking the language model at {url}: the reply broke off after {bytes} bytes; look at the server's log"
    )]
    Cut {
        /// Address.
        url: String,
        /// What had come.
        bytes: usize,
    },
    /// The time allowed is over.
    #[error(
        "asking the language model at {url}: no whole reply within {secs:.1} s ({bytes} bytes had come); allow more time, or use a faster model"
    )]
    Late {
        /// Address.
        url: String,
        /// How long it was waited for.
        secs: f64,
        /// What had come.
        bytes: usize,
    },
    /// Somebody called it off.
    #[error("asking the language model: called off")]
    Cancelled,
    /// It failed before and is left alone for a while.
    #[error(
        "the language model at {url} failed and is asked again in {secs:.0} s at the earliest; the last fault: {last}"
    )]
    Resting {
        /// Address.
        url: String,
        /// For how long still.
        secs: f64,
        /// What it failed with.
        last: String,
    },
    /// It went on beyond every bound.
    #[error(
        "asking the language model at {url}: its {what} went on beyond {bound}; raise the bound (llm.max_tokens, llm.thinking_tokens) or use another model"
    )]
    Endless {
        /// Address.
        url: String,
        /// `thinking` or `reply`.
        what: &'static str,
        /// The bound, in words.
        bound: String,
    },
    /// The bytes are no reply of this interface.
    #[error(
        "asking the language model at {url}: the reply is no chat completion: {reason}; check that llm.base_url ends in the server's /v1"
    )]
    Reply {
        /// Address.
        url: String,
        /// Why.
        reason: String,
    },
    /// A setting is unusable.
    #[error("setting up the language model: {reason}; {cure}")]
    Setting {
        /// Which and why.
        reason: String,
        /// The cure.
        cure: &'static str,
    },
}

impl LlmError {
    /// Whether the same request may do better in a moment.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Cut { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..),
            _ => false,
        }
    }

    /// Whether it says that the server is ill, not that the request was bad.
    #[must_use]
    pub fn ill(&self) -> bool {
        match self {
            Self::Late { bytes, .. } => *bytes == 0,
            Self::Endless { .. } => false,
            Self::Reply { .. } => true,
            other => other.retryable(),
        }
    }
}

fn cure(status: u16) -> &'static str {
    match status {
        401 | 403 => "; check llm.api_key_file",
        404 => "; check llm.base_url (it ends in /v1) and llm.model",
        400 | 422 => "; check llm.model and what it can take (llm.pictures, llm.protocol)",
        _ => "",
    }
}
