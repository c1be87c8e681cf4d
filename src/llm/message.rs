//! A conversation as code sees it, apart from any wire form.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The rules.
    System,
    /// We.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// A picture, JPEG.
    Picture(Arc<[u8]>),
    /// Pictures in time order as one video, JPEG each, all of one size.
    Video(Vec<Arc<[u8]>>),
    /// Sound, WAV.
    Sound(Arc<[u8]>),
}

/// A call of a tool by the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id in this conversation.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Arguments as the model wrote them, JSON where it kept to the form.
    pub arguments: String,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What.
    pub parts: Vec<Part>,
    /// The model's calls.
    pub calls: Vec<ToolCall>,
    /// Of a tool's result: the call it answers.
    pub answers: Option<String>,
}

impl Message {
    /// A message of words.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::parts(role, vec![Part::Text(text.into())])
    }

    /// A message of several parts.
    #[must_use]
    pub fn parts(role: Role, parts: Vec<Part>) -> Self {
        Self { role, parts, calls: Vec::new(), answers: None }
    }

    /// The result of a tool call.
    #[must_use]
    pub fn result(call: &ToolCall, text: impl Into<String>) -> Self {
        Self { answers: Some(call.id.clone()), ..Self::text(Role::Tool, text) }
    }

    /// Bytes of its words.
    #[must_use]
    pub fn words(&self) -> usize {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.len(),
            _ => 0,
        });
        texts.sum::<usize>() + self.calls.iter().map(|call| call.arguments.len()).sum::<usize>()
    }
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// The form that a reply must have.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// A name for it.
    pub name: &'static str,
    /// JSON schema.
    pub schema: Value,
}

/// A conversation to be continued.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// So far.
    pub messages: Vec<Message>,
    /// Tools that may be called.
    pub tools: Vec<Tool>,
    /// The form of the reply; servers that cannot enforce it ignore it.
    pub schema: Option<Schema>,
    /// Sampling temperature.
    pub temperature: f64,
    /// Nucleus sampling; `None` = the server's.
    pub top_p: Option<f64>,
    /// Tokens of the reply, at most.
    pub max_tokens: usize,
    /// Tokens of thinking before it, at most.
    pub thinking_tokens: usize,
}

/// Calls a request off; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Calls it off.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was called off.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How long a reply may take.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Until when, retries included.
    pub deadline: Instant,
    /// Ends it before.
    pub cancel: Cancel,
}

impl Budget {
    /// So long from now.
    #[must_use]
    pub fn of(time: Duration) -> Self {
        Self { deadline: Instant::now() + time, cancel: Cancel::default() }
    }

    /// What is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// Tokens of one or more requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// Read by the model.
    pub prompt: u64,
    /// Written by it, thinking included.
    pub completion: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.completion += other.completion;
    }
}

/// The model's message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatReply {
    /// Words, thinking taken out.
    pub text: String,
    /// Thinking.
    pub thinking: String,
    /// Calls of tools.
    pub calls: Vec<ToolCall>,
    /// It ran into `max_tokens`.
    pub truncated: bool,
    /// Tokens; estimated from bytes where the server does not tell.
    pub usage: Usage,
    /// How often the request was sent again.
    pub retries: u32,
}

impl ChatReply {
    /// As a message of the conversation to go on with.
    #[must_use]
    pub fn message(&self) -> Message {
        let parts =
            if self.text.is_empty() { Vec::new() } else { vec![Part::Text(self.text.clone())] };
        Message { role: Role::Assistant, parts, calls: self.calls.clone(), answers: None }
    }
}
