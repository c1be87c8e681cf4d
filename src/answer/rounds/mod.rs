//! Answering in rounds: a language model thinks, then recalls or answers; the last round must answer.
//!
//! The built-in answer is computed first: it is part of what the model knows at once, and it is what is
//! replied when the model is down, late or talks nonsense. The view is pinned, so every round reads the
//! same commit. What the model writes is data: it can call reading tools, nothing else, and its reply goes
//! out only after its evidence was checked.

mod conversation;
mod m3;
mod shown;
#[cfg(test)]
mod tests;
mod tools;
mod verdict;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::config::{self, LlmProtocol};
use crate::llm::{Budget, Cancel, ChatModel, ChatReply, ChatRequest, LlmError, Message, Prompts};
use crate::memory::{Memory, MemoryError};
use crate::time::Timestamp;

use super::builtin::{Answerer, Pinned, Vectors};
use super::document::{Answer, Cost, Effort, LatencyMs, Question};
use super::reading::Reading;
use conversation::Step;
use shown::Shown;
use verdict::Final;

/// Kept of the time allowed for checking and sending the answer: this share of it …
const RESERVE_SHARE: f64 = 0.1;
/// … and no more than this.
const RESERVE: Duration = Duration::from_millis(500);
/// A round that may take up the rest of the time must be the last: the longest one so far times this.
const ROUND_MARGIN: f64 = 1.3;

/// The circumstances of one question.
pub struct Errand<'a> {
    /// The answer must be there by then.
    pub deadline: Instant,
    /// Calls the model off.
    pub cancel: Cancel,
    /// Told of each round.
    pub progress: &'a dyn Fn(&Value),
}

impl Errand<'_> {
    /// Nobody listens; the question's own deadline from now on.
    #[must_use]
    pub fn of(question: &Question) -> Errand<'static> {
        let ms = question.deadline_ms.unwrap_or_else(|| question.effort.default_deadline_ms());
        let deadline = Instant::now() + Duration::from_millis(ms);
        Errand { deadline, cancel: Cancel::default(), progress: &|_| {} }
    }
}

/// How a model is asked.
#[derive(Clone, Debug, PartialEq)]
struct Settings {
    protocol: LlmProtocol,
    rounds: u32,
    fast: bool,
    pictures: bool,
    max_tokens: usize,
    thinking_tokens: usize,
    context_tokens: usize,
    temperature: f64,
}

/// A language model that answers questions in rounds.
pub struct Rounds {
    chat: Arc<dyn ChatModel>,
    prompts: Prompts,
    settings: Settings,
}

impl Rounds {
    /// `answerer`: how many rounds, and whether `fast` questions get one, too; `llm`: protocol and bounds.
    #[must_use]
    pub fn new(
        chat: Arc<dyn ChatModel>,
        prompts: Prompts,
        answerer: &config::Answerer,
        llm: &config::Llm,
    ) -> Self {
        let usual = if llm.protocol == LlmProtocol::M3 { 0.6 } else { 0.2 };
        let settings = Settings {
            protocol: llm.protocol,
            rounds: u32::try_from(answerer.rounds.max(1)).unwrap_or(u32::MAX),
            fast: answerer.fast == config::Engine::Model,
            pictures: llm.pictures,
            max_tokens: llm.max_tokens,
            thinking_tokens: llm.thinking_tokens,
            context_tokens: llm.context_tokens,
            temperature: llm.temperature.unwrap_or(usual),
        };
        Self { chat, prompts, settings }
    }

    /// `model:<name>`.
    #[must_use]
    pub fn engine(&self) -> String {
        format!("model:{}", self.chat.name())
    }

    /// Whether questions of that effort go to the model.
    #[must_use]
    pub fn takes(&self, effort: Effort) -> bool {
        effort == Effort::Deep || self.settings.fast
    }

    /// Answers one question.
    pub(super) fn answer(
        &self,
        answerer: &Answerer,
        memory: &Memory,
        question: &Question,
        clock: Option<Timestamp>,
        errand: &Errand<'_>,
    ) -> Result<Answer, MemoryError> {
        let started = Instant::now();
        let pinned = answerer.pin(memory, question, clock)?;
        let builtin = answerer.answer_pinned(&pinned, question, started);
        let allowed = errand.deadline.saturating_duration_since(started);
        let reserve = allowed.mul_f64(RESERVE_SHARE).min(RESERVE);
        let deadline = errand.deadline.checked_sub(reserve).unwrap_or(started);
        let mut asking = Asking {
            rounds: self,
            answerer,
            memory,
            question,
            errand,
            reading: answerer.reading(&pinned),
            pinned: &pinned,
            builtin: &builtin,
            shown: Shown::default(),
            vectors: Vectors::new(answerer),
            budget: Budget { deadline, cancel: errand.cancel.clone() },
            started,
            spent: Spent::default(),
        };
        let outcome = asking.run();
        Ok(asking.document(outcome))
    }
}

/// What the rounds have cost.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    rounds: u32,
    model_ms: f64,
    longest_round: Duration,
    cost: Cost,
}

/// One question being asked.
struct Asking<'a> {
    rounds: &'a Rounds,
    answerer: &'a Answerer,
    memory: &'a Memory,
    question: &'a Question,
    errand: &'a Errand<'a>,
    pinned: &'a Pinned,
    reading: Reading,
    builtin: &'a Answer,
    shown: Shown,
    vectors: Vectors<'a>,
    budget: Budget,
    started: Instant,
    spent: Spent,
}

/// How the rounds ended.
struct Outcome {
    /// The model's reply, or why there is none.
    reply: Result<Final, String>,
    /// The rounds were cut short for want of time.
    hurried: bool,
}

impl Asking<'_> {
    fn run(&mut self) -> Outcome {
        let most =
            if self.question.effort == Effort::Deep { self.rounds.settings.rounds } else { 1 };
        let mut messages = self.open();
        let mut hurried = false;
        let mut repaired = false;
        let mut round = 0;
        while round < most {
            round += 1;
            let last = round == most || self.must_hurry();
            hurried = last && round < most;
            let begun = Instant::now();
            let mut reply = self.chat(&messages, last);
            if let Err(LlmError::Endless { what, .. }) = &reply
                && !repaired
            {
                // Not the same request again: it is told what was wrong.
                repaired = true;
                messages.push(self.repair(&format!("your {what} did not come to an end")));
                reply = self.chat(&messages, last);
            }
            let reply = match reply {
                Ok(reply) => reply,
                Err(error) => return Outcome { reply: Err(error.to_string()), hurried },
            };
            self.spent.rounds = round;
            let step = match self.read(&reply, last) {
                Step::Fault(fault) if !repaired && !self.budget.left().is_zero() => {
                    repaired = true;
                    messages.push(reply.message());
                    messages.push(self.repair(&fault));
                    match self.chat(&messages, last) {
                        Ok(again) => {
                            let step = self.read(&again, last);
                            if !matches!(step, Step::Answer(_)) {
                                messages.push(again.message());
                            }
                            step
                        }
                        Err(error) => return Outcome { reply: Err(error.to_string()), hurried },
                    }
                }
                step => {
                    if !matches!(step, Step::Answer(_)) {
                        messages.push(reply.message());
                    }
                    step
                }
            };
            self.spent.longest_round = self.spent.longest_round.max(begun.elapsed());
            match step {
                Step::Answer(answer) => {
                    self.progress(round, most, "answer", None, 0);
                    return Outcome { reply: Ok(answer), hurried };
                }
                Step::Fault(fault) => {
                    let fault = format!("the language model's reply was unusable: {fault}");
                    return Outcome { reply: Err(fault), hurried };
                }
                Step::Calls(calls) => {
                    for call in &calls {
                        let (results, found) = self.call(call);
                        self.progress(round, most, &call.name, Some(&call.arguments), found);
                        messages.extend(results);
                    }
                }
                Step::Search(query) => {
                    let (knowledge, found) = self.m3_search(&query);
                    self.progress(round, most, "search", Some(&query), found);
                    messages.push(self.m3_turn(&knowledge));
                }
            }
        }
        Outcome { reply: Err("the language model never came to an answer".to_owned()), hurried }
    }

    /// Whether another round after this one might not fit.
    fn must_hurry(&self) -> bool {
        let left = self.budget.left();
        let total = left + self.started.elapsed();
        left < self.spent.longest_round.mul_f64(2.0 * ROUND_MARGIN) || left < total.mul_f64(0.25)
    }

    fn chat(&mut self, messages: &[Message], last: bool) -> Result<ChatReply, LlmError> {
        let settings = &self.rounds.settings;
        let mut messages = messages.to_vec();
        if last {
            messages.push(self.demand());
        }
        let mut request = ChatRequest {
            messages: conversation::fitting(messages, settings.context_tokens),
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            thinking_tokens: settings.thinking_tokens,
            ..ChatRequest::default()
        };
        self.equip(&mut request, last);
        let begun = Instant::now();
        let reply = self.rounds.chat.chat(&request, &self.budget);
        self.spent.model_ms += begun.elapsed().as_secs_f64() * 1e3;
        self.spent.cost.requests += 1;
        if let Ok(reply) = &reply {
            self.spent.cost.retries += reply.retries;
            self.spent.cost.tokens += reply.usage;
        }
        reply
    }

    fn progress(&self, round: u32, of: u32, action: &str, query: Option<&str>, found: usize) {
        let query = query.map(|text| text.chars().take(300).collect::<String>());
        (self.errand.progress)(&json!({
            "id": self.question.id,
            "round": round,
            "of": of,
            "action": action,
            "query": query,
            "found": found,
            "elapsed_ms": self.started.elapsed().as_secs_f64() * 1e3,
        }));
    }

    /// The answer document: the model's checked reply, else the built-in one with a note.
    fn document(self, outcome: Outcome) -> Answer {
        let mut answer = match outcome.reply {
            Ok(reply) => {
                let checked = verdict::check(reply, &self.shown, &self.pinned.view);
                let hurry = outcome.hurried.then(|| {
                    format!("the time was short: answered after {} rounds", self.spent.rounds)
                });
                let notes: Vec<String> = hurry.into_iter().chain(checked.note).collect();
                let mut evidence = checked.evidence;
                evidence.truncate(self.answerer.max_evidence);
                Answer {
                    answer: checked.text,
                    confidence: checked.confidence,
                    abstained: checked.abstained,
                    engine: self.rounds.engine(),
                    entities: checked.entities,
                    evidence,
                    note: (!notes.is_empty()).then(|| notes.join("; ")),
                    ..self.builtin.clone()
                }
            }
            Err(fault) => {
                tracing::warn!(%fault, question = %self.question.id, "The built-in answerer replies in place of the language model.");
                let note = format!("the built-in answerer replied: {fault}");
                Answer { note: Some(note), ..self.builtin.clone() }
            }
        };
        let total = self.started.elapsed().as_secs_f64() * 1e3;
        let Spent { rounds, model_ms, cost, .. } = self.spent;
        let embed = self.builtin.latency_ms.embed + self.vectors.ms;
        answer.rounds = rounds.max(1);
        answer.cost = Some(cost);
        let recall = (total - embed - model_ms).max(0.0);
        answer.latency_ms = LatencyMs { embed, recall, model: model_ms, total };
        answer
    }
}
