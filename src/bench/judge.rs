//! Answers against reference answers: token overlap, and a language model that judges entailment.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::BenchError;
use crate::config::Llm;
use crate::llm::{
    Budget, ChatModel, ChatRequest, LlmError, Message, OpenAiChat, Prompts, Role, Server, Tally,
    fill,
};
use crate::memory::stems;

/// One judgement may take so long.
const TIME: Duration = Duration::from_secs(120);
/// Words that token overlap leaves out.
const LEFT_OUT: [&str; 4] = ["a", "an", "the", "and"];

/// Token F1 of a reply against the truth (Rajpurkar et al. 2016): over stemmed words without articles, 0–1.
#[must_use]
pub fn token_f1(reply: &str, truth: &str) -> f64 {
    let tokens = |text: &str| {
        let mut tokens = stems(text);
        tokens.retain(|token| !LEFT_OUT.contains(&token.as_str()));
        tokens
    };
    let (said, true_ones) = (tokens(reply), tokens(truth));
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for token in &true_ones {
        *left.entry(token).or_default() += 1;
    }
    let mut shared = 0_usize;
    for token in &said {
        if let Some(count) = left.get_mut(token.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    if shared == 0 {
        return 0.0;
    }
    2.0 * shared as f64 / (said.len() + true_ones.len()) as f64
}

/// A language model that says whether an answer entails the reference.
pub struct Judge {
    chat: Arc<dyn ChatModel>,
    prompts: Prompts,
    tally: Tally,
}

impl Judge {
    /// On that server.
    ///
    /// # Errors
    /// When address, model, key or prompt cannot be used.
    pub fn new(llm: &Llm, state_dir: &Path) -> Result<Self, BenchError> {
        let chat = OpenAiChat::new(Server::of_answerer(llm, Some(state_dir))?)?;
        let tally = chat.tally();
        Ok(Self { chat: Arc::new(chat), prompts: Prompts::load(Some(state_dir))?, tally })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.chat.name()
    }

    /// What it has cost.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether the truth can be inferred from the reply.
    ///
    /// # Errors
    /// When the model cannot be asked or says neither yes nor no.
    pub fn entails(&self, question: &str, truth: &str, reply: &str) -> Result<bool, LlmError> {
        let values = [("question", question), ("truth", truth), ("reply", reply)];
        let request = ChatRequest {
            messages: vec![Message::text(Role::User, fill(&self.prompts.judge, &values))],
            temperature: 0.0,
            max_tokens: 64,
            thinking_tokens: 1024,
            ..ChatRequest::default()
        };
        let said = self.chat.chat(&request, &Budget::of(TIME))?.text.to_lowercase();
        let first =
            said.split(|c: char| !c.is_alphabetic()).find(|word| matches!(*word, "yes" | "no"));
        match first {
            Some(word) => Ok(word == "yes"),
            None => Err(LlmError::Reply {
                url: self.name().to_owned(),
                reason: format!("the judge said neither yes nor no, but {said:?}"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_counts_each_token_once() {
        assert_eq!(token_f1("The red mugs", "a red mug"), 1.0);
        assert_eq!(token_f1("red red red", "red"), 0.5);
        assert_eq!(token_f1("on the shelf", "in the oven"), 0.0);
        assert_eq!(token_f1("", "mug"), 0.0);
        assert!(
            (token_f1("Ava put the mug on the shelf", "on the shelf") - 4.0 / 7.0).abs() < 1e-9
        );
    }
}
