//! What goes wrong between a text and its vector.

use std::path::PathBuf;
use std::time::Duration;

use crate::runtime::onnx::RuntimeError;

/// Why there is no vector.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// A model file could not be read.
    #[error("opening the sentence embedder's {path}: {reason}; run `engramd models fetch`", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The tokenizer refused a text.
    #[error(
        "splitting a text of {bytes} bytes into word pieces: {reason}; check the tokenizer with `engramd models verify`"
    )]
    Tokenize {
        /// Length of the text.
        bytes: usize,
        /// Why.
        reason: String,
    },
    /// The network failed.
    #[error("embedding a text: {0}")]
    Runtime(#[from] RuntimeError),
    /// The network gave something that is no sentence vector.
    #[error(
        "embedding a text: the model {model} gave the shape {shape:?}, expected [1, D]; check it with `engramd models verify`"
    )]
    Shape {
        /// File name.
        model: String,
        /// What came.
        shape: Vec<usize>,
    },
    /// A setting of `[embedder]` is unusable.
    #[error("setting up the sentence embedder's server: {reason}; {cure}")]
    Setting {
        /// Which and why.
        reason: String,
        /// The cure.
        cure: &'static str,
    },
    /// No connection, or it broke.
    #[error("embedding texts at {url}: {reason}; check embedder.base_url and that the server runs")]
    Unreachable {
        /// Address.
        url: String,
        /// What the network said.
        reason: String,
    },
    /// No whole reply in time.
    #[error(
        "embedding {texts} texts at {url}: no reply within {secs:.1} s; use a faster server, raise embedder.timeout_secs or lower embedder.batch"
    )]
    Late {
        /// Address.
        url: String,
        /// How many were asked for.
        texts: usize,
        /// How long it was waited for.
        secs: f64,
    },
    /// The server refused.
    #[error("embedding texts at {url}: it answered {status}: {message}{}", cure(*.status))]
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
    /// The bytes are no vectors.
    #[error(
        "embedding texts at {url}: the reply is no list of embeddings: {reason}; check that embedder.base_url ends in the server's /v1 and that embedder.model embeds"
    )]
    Reply {
        /// Address.
        url: String,
        /// Why.
        reason: String,
    },
    /// Vectors of another length than this model's: it is another model under the same name.
    #[error(
        "embedding texts at {url}: the vectors have {found} numbers, those of {model:?} had {expected}; if the server serves another model now, set embedder.dimensions = {found} and start again: memories are embedded anew then"
    )]
    Dimensions {
        /// Address.
        url: String,
        /// The model asked for.
        model: String,
        /// What they had.
        expected: usize,
        /// What they have.
        found: usize,
    },
    /// It failed before and is left alone for a while.
    #[error(
        "the sentence embedder at {url} failed and is asked again in {secs:.0} s at the earliest; the last fault: {last}"
    )]
    Resting {
        /// Address.
        url: String,
        /// For how long still.
        secs: f64,
        /// What it failed with.
        last: String,
    },
    /// The memory's vectors are of a model that is not here.
    #[error(
        "embedding a question: the memory's vectors are of another model that is not here; memories are found by words alone until all are embedded anew"
    )]
    Changing,
}

impl TextError {
    /// Whether another text may well do better: it is this one's fault, not the embedder's.
    #[must_use]
    pub fn is_of_the_text(&self) -> bool {
        match self {
            Self::Tokenize { .. } | Self::Shape { .. } | Self::Runtime(_) => true,
            Self::Refused { status, .. } => matches!(status, 400 | 413 | 422),
            _ => false,
        }
    }

    /// Whether fewer texts at a time may do better.
    #[must_use]
    pub fn is_of_the_number(&self) -> bool {
        self.is_of_the_text() || matches!(self, Self::Late { texts, .. } if *texts > 1)
    }

    /// Whether it is told in `status` already, so that each question need not say it again.
    #[must_use]
    pub fn is_told(&self) -> bool {
        !matches!(
            self,
            Self::File { .. } | Self::Tokenize { .. } | Self::Runtime(_) | Self::Shape { .. }
        )
    }

    /// Whether it says that the server is ill, not that the request was bad.
    pub(super) fn is_of_the_server(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Late { .. }
            | Self::Reply { .. }
            | Self::Dimensions { .. } => true,
            Self::Refused { status, .. } => !matches!(status, 400 | 413 | 422),
            _ => false,
        }
    }
}

fn cure(status: u16) -> &'static str {
    match status {
        401 | 403 => "; check embedder.api_key_file",
        404 => "; check embedder.base_url (it ends in /v1) and embedder.model",
        400 | 413 | 422 => {
            "; check embedder.model, embedder.dimensions and how long a text it takes"
        }
        429 => "; it is asked again later",
        _ => "; look at the server's log",
    }
}
