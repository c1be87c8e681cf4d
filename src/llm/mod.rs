//! The client of OpenAI-compatible servers (vLLM, llama.cpp, Ollama, SGLang, hosted ones).
//!
//! `memorize` and `answer` ask a [`ChatModel`]; [`OpenAiChat`] is the one over HTTP: streamed, bounded in
//! time and size, cancellable, with retries. Bytes of the stream are taken apart by pure functions (`sse`,
//! `wire`), JSON in free text is found by [`json`]; prompts are files ([`Prompts`]).

mod client;
mod error;
pub mod json;
mod message;
mod prompts;
mod sse;
mod transport;
mod wire;

#[cfg(test)]
#[path = "../../tests/support/llm_server.rs"]
pub(crate) mod llm_server;

pub use client::{OpenAiChat, Server, Tally};
pub use error::LlmError;
pub use message::{
    Budget, Cancel, ChatReply, ChatRequest, Message, Part, Role, Schema, Tool, ToolCall, Usage,
};
pub use prompts::{PromptError, Prompts, fill};

/// A model that continues a conversation.
pub trait ChatModel: Send + Sync {
    /// Its name, as the server knows it.
    fn name(&self) -> &str;

    /// The next message of the conversation.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses, or the budget is spent; never waits longer than the budget.
    fn chat(&self, request: &ChatRequest, budget: &Budget) -> Result<ChatReply, LlmError>;
}
