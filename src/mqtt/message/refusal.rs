//! Error replies: whose fault it was, what to do, whether trying again helps.

use serde::{Deserialize, Serialize};

/// The kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// The request cannot be understood.
    BadRequest,
    /// It is longer than what is worked on.
    TooLarge,
    /// What it names does not exist.
    NotFound,
    /// It asks about a time before the history begins.
    Expired,
    /// Too many requests at once.
    Overloaded,
    /// The ability is not there at the moment.
    Unavailable,
    /// The daemon failed.
    Internal,
}

impl RefusalCode {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn retryable(self) -> bool {
        matches!(self, Self::Overloaded | Self::Unavailable)
    }
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Kind.
    pub code: RefusalCode,
    /// What was wrong and what to do about it.
    pub message: String,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $code:ident),* $(,)?) => {
        impl Refusal {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(message: impl Into<String>) -> Self {
                Self { code: RefusalCode::$code, message: message.into() }
            })*
        }
    };
}

constructors! {
    /// The request cannot be understood.
    bad_request => BadRequest,
    /// It is longer than what is worked on.
    too_large => TooLarge,
    /// What it names does not exist.
    not_found => NotFound,
    /// It asks about a time before the history begins.
    expired => Expired,
    /// Too many requests at once.
    overloaded => Overloaded,
    /// The ability is not there at the moment.
    unavailable => Unavailable,
    /// The daemon failed.
    internal => Internal,
}

impl Refusal {
    /// The reply may speak of what was erased after it was begun.
    #[must_use]
    pub fn outdated() -> Self {
        Self::unavailable(
            "something was erased from the memory before the reply went out; ask again",
        )
    }

    /// Whether the request was wrong, so that nothing was done.
    #[must_use]
    pub fn is_askers_fault(&self) -> bool {
        matches!(self.code, RefusalCode::BadRequest | RefusalCode::NotFound)
    }

    /// `{"id","error":{"code","message","retryable"}}`.
    #[must_use]
    pub fn document(&self, id: Option<&str>) -> serde_json::Value {
        serde_json::json!({
            "id": id,
            "error": {
                "code": self.code,
                "message": self.message,
                "retryable": self.code.retryable(),
            }
        })
    }
}
