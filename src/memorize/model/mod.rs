//! Memorizing with a multimodal model: a sealed clip waits on disk ([`Spool`]), becomes one request
//! (`request`), whose reply (`reply`) is taken apart, and what of it names only what was given is admitted
//! (`admit`) in a transaction of its own. The built-in memories exist at once; these refine them.

mod admit;
mod reflect;
mod reply;
mod request;
mod spool;
mod spooled;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

pub use admit::Refined;
pub use reflect::{Insight, REFLECT_BY_MODEL, concluded_before, to_reflect_upon};
pub use reply::{Conclusions, Event, Fact, NamedAs, Placed, SamePerson};
pub use spool::{Spool, SpoolCounts, Waiting, spool_dir};
pub use spooled::{SpooledClip, SpooledFace, SpooledTurn};

use crate::config::{self, MemorizerProfile};
use crate::llm::{
    Budget, ChatModel, ChatReply, ChatRequest, LlmError, Message, Prompts, Role, Usage, fill,
};

/// Tries for one clip: as asked, with what was wrong told, and warmer.
const TRIES: u32 = 3;
/// Added to the temperature with the last try: the same request gives the same reply.
const WARMER: f64 = 0.5;

/// Why a clip got no memories of a model.
#[derive(Debug, thiserror::Error)]
pub enum MemorizeFault {
    /// No reply.
    #[error(transparent)]
    Llm(#[from] LlmError),
    /// No reply of the form.
    #[error(
        "the memorizing model gave nothing usable in {TRIES} tries: {0}; use a model that keeps to JSON"
    )]
    Unusable(String),
}

/// What a clip cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClipCost {
    /// Requests sent.
    pub requests: u32,
    /// Requests sent again.
    pub retries: u32,
    /// Tokens.
    pub tokens: Usage,
}

/// Clip → conclusions, by a multimodal model.
pub struct ModelMemorizer {
    chat: Arc<dyn ChatModel>,
    prompts: Prompts,
    profile: MemorizerProfile,
    pictures: usize,
    sound: bool,
    temperature: f64,
    max_tokens: usize,
    thinking_tokens: usize,
    time: Duration,
}

impl ModelMemorizer {
    /// `memorizer`: profile and budget of a clip; `llm`: bounds of a reply.
    #[must_use]
    pub fn new(
        chat: Arc<dyn ChatModel>,
        prompts: Prompts,
        memorizer: &config::Memorizer,
        llm: &config::Llm,
    ) -> Self {
        Self {
            chat,
            prompts,
            profile: memorizer.profile,
            pictures: if llm.pictures { memorizer.pictures } else { 0 },
            sound: memorizer.sound,
            temperature: llm.temperature.unwrap_or(0.2),
            max_tokens: llm.max_tokens.max(4096),
            thinking_tokens: llm.thinking_tokens,
            time: Duration::from_secs_f64(memorizer.timeout_secs),
        }
    }

    /// `model:<name>`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("model:{}", self.chat.name())
    }

    /// How long one clip may take.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.time
    }

    /// What the model makes of the clip; `note`: its own note on the clip before.
    ///
    /// # Errors
    /// [`MemorizeFault::Llm`] when there is no reply, [`MemorizeFault::Unusable`] when no reply has the form.
    pub fn conclude(
        &self,
        clip: &SpooledClip,
        note: &str,
        budget: &Budget,
    ) -> Result<(Conclusions, ClipCost), MemorizeFault> {
        self.exchange(self.request(clip, note), budget, reply::read)
    }

    /// Asks until a reply can be `read`.
    fn exchange<T>(
        &self,
        mut request: ChatRequest,
        budget: &Budget,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<(T, ClipCost), MemorizeFault> {
        let mut cost = ClipCost::default();
        let opening = request.messages.len();
        let mut fault = String::new();
        for attempt in 0..TRIES {
            if attempt + 1 == TRIES {
                request.temperature = (request.temperature + WARMER).min(1.5);
            }
            cost.requests += 1;
            let reply = match self.chat.chat(&request, budget) {
                Ok(reply) => reply,
                Err(error @ LlmError::Endless { .. }) => {
                    fault = error.to_string();
                    self.tell((&mut request, opening), None, "it did not come to an end");
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            cost.retries += reply.retries;
            cost.tokens += reply.usage;
            match read(&reply.text) {
                Ok(found) => return Ok((found, cost)),
                Err(found) => {
                    let found =
                        if reply.truncated { format!("{found} (it was cut off)") } else { found };
                    self.tell((&mut request, opening), Some(&reply), &found);
                    fault = found;
                }
            }
        }
        Err(MemorizeFault::Unusable(fault))
    }

    /// Tells the model what was wrong; an earlier complaint gives way.
    fn tell(
        &self,
        (request, opening): (&mut ChatRequest, usize),
        reply: Option<&ChatReply>,
        fault: &str,
    ) {
        request.messages.truncate(opening);
        request.messages.extend(reply.map(|reply| {
            let text: String = reply.text.chars().take(2000).collect();
            Message::text(Role::Assistant, text)
        }));
        let told = fill(&self.prompts.memorize_repair, &[("fault", fault)]);
        match request.messages.last_mut().filter(|last| last.role == Role::User) {
            Some(last) => last.parts.push(crate::llm::Part::Text(told)),
            None => request.messages.push(Message::text(Role::User, told)),
        }
    }
}

impl Conclusions {
    /// The beliefs that concern faces and voices which were given.
    pub fn beliefs<'a>(&'a self, clip: &'a SpooledClip) -> impl Iterator<Item = SamePerson> + 'a {
        let given = |one: &&SamePerson| admit::is_given(clip, one.face, one.voice);
        self.same_person.iter().filter(given).copied()
    }
}
