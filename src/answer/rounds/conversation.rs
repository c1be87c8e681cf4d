//! The messages of a question: how it is opened, how a reply reads, how it stays within the model's context.

use serde_json::json;

use crate::answer::document::Evidence;
use crate::answer::lessons;
use crate::answer::reading::Reading;
use crate::answer::working_set::working_set;
use crate::config::LlmProtocol;
use crate::ids::EntityId;
use crate::llm::{ChatReply, ChatRequest, Message, Part, Role, Schema, ToolCall, fill};
use crate::mention;
use crate::recall::{Query, recall};
use crate::time::Timestamp;

use super::Asking;
use super::m3;
use super::tools;
use super::verdict::{Final, TextCall};

/// Memories put before the model with the question.
const FIRST_FINDS: usize = 8;
/// The working set's share of the model's context: one part in so many.
const WORKING_SHARE: usize = 8;
/// A memory's sentence is cut here, characters.
const LINE_CHARS: usize = 500;
/// Bytes per token, about.
const BYTES_PER_TOKEN: usize = 4;
/// Tokens of one picture, about.
const PICTURE_TOKENS: usize = 800;

/// What a reply asks for.
#[derive(Debug)]
pub(super) enum Step {
    /// It answers.
    Answer(Final),
    /// It calls tools.
    Calls(Vec<ToolCall>),
    /// It searches, by the textual protocol.
    Search(String),
    /// It does neither; why.
    Fault(String),
}

impl Asking<'_> {
    /// The first messages.
    pub(super) fn open(&mut self) -> Vec<Message> {
        let prompts = &self.rounds.prompts;
        if self.rounds.settings.protocol == LlmProtocol::M3 {
            let rules = fill(&prompts.answer_m3, &[("question", &self.question.text)]);
            let blocks = self.blocks();
            let rules = format!(
                "{}\n\nKnown at once:\n<<<RECORDS\n{}\nRECORDS>>>",
                rules.trim_end(),
                blocks.join("\n")
            );
            let one =
                self.question.effort != super::Effort::Deep || self.rounds.settings.rounds == 1;
            let known = if one { self.m3_search(&self.question.text).0 } else { "{}".to_owned() };
            return vec![Message::text(Role::System, rules), self.m3_turn(&known)];
        }
        let known = self.known_at_once();
        let rounds = self.rounds.settings.rounds.to_string();
        let now = self.at(self.reading.now());
        let zone = self.answerer.zone.iana_name().unwrap_or("UTC");
        let asked = fill(
            &prompts.answer_question,
            &[
                ("question", &self.question.text),
                ("now", &format!("{now} ({zone})")),
                ("working_set", &known),
            ],
        );
        vec![
            Message::text(Role::System, fill(&prompts.answer_tools, &[("rounds", &rounds)])),
            Message::text(Role::User, asked),
        ]
    }

    /// The working set ([`working_set`]), each block under a key of its own; its share of the model's context.
    fn blocks(&mut self) -> Vec<String> {
        let named = self.pinned.view.named_in(&self.question.text);
        let budget = self.rounds.settings.context_tokens * BYTES_PER_TOKEN / WORKING_SHARE;
        let now = self.reading.now();
        let (reading, vectors) = (&self.reading, &mut self.vectors);
        let asked = self.question.text.as_str();
        let taught = lessons::taught(reading, asked, |text| vectors.of(text));
        let mut lines = Vec::new();
        for block in working_set(reading, &named, taught, budget) {
            let text =
                block.lines.iter().map(|line| one_line(line)).collect::<Vec<_>>().join(" | ");
            let key = self.shown.known(Evidence {
                memory: None,
                kind: "working_set".to_owned(),
                text: format!("{}: {text}", block.title),
                start: now,
                end: now,
                clip: None,
                entities: block.entities,
                score: 0.6,
                document: None,
            });
            lines.push(format!("{key} | {}: {text}", block.title));
        }
        lines
    }

    /// What is known at once: the working set, the built-in reply with its evidence, and the first finds.
    fn known_at_once(&mut self) -> String {
        let mut lines = self.blocks();
        let builtin = self.builtin;
        if !builtin.abstained {
            lines.push(format!("A first reading of the records says: {}", builtin.answer));
        }
        for evidence in &builtin.evidence {
            lines.extend(self.show(evidence.clone()));
        }
        let vector = self.embed(&self.question.text);
        let query = Query {
            text: self.question.text.clone(),
            vector,
            kinds: lessons::kinds_beside(&self.pinned.view),
            exclude: self.shown.memories(),
            k: FIRST_FINDS,
            ..Query::default()
        };
        lines.extend(self.find(&query));
        lines.join("\n")
    }

    /// The vector of a text, its time counted.
    pub(super) fn embed(&mut self, text: &str) -> Option<crate::percept::Embedding> {
        self.vectors.of(text)
    }

    /// Lines of the memories that fit a query and were not shown before; the future is left out.
    pub(super) fn find(&mut self, query: &Query) -> Vec<String> {
        let now = self.reading.now();
        let hits = recall(&self.pinned.view, query);
        hits.iter()
            .filter(|hit| hit.memory.span.start <= now)
            .filter_map(|hit| self.show(self.reading.memory_evidence(&hit.memory, hit.score)))
            .collect()
    }

    /// The line of a piece of evidence; `None` when it was shown before.
    pub(super) fn show(&mut self, evidence: Evidence) -> Option<String> {
        let text = match evidence.memory.and_then(|id| self.pinned.view.memory(id)) {
            // The memory's own sentence, where nothing better than that is known of it.
            Some(row) if evidence.kind == row.kind.word() => self.plain(&row.text),
            _ => evidence.text.clone(),
        };
        let (when, kind) = (self.at(evidence.start), evidence.kind.clone());
        let key = match evidence.memory {
            Some(_) => self.shown.memory(evidence)?,
            None => self.shown.record(evidence),
        };
        Some(format!("{key} | {when} | {kind} | {}", one_line(&text)))
    }

    /// A sentence with names, and with ids for those without a name.
    pub(super) fn plain(&self, text: &str) -> String {
        mention::render(text, |id| self.called(id))
    }

    fn called(&self, id: EntityId) -> String {
        if id == EntityId::ROBOT {
            "the robot".to_owned()
        } else {
            self.pinned.view.display_name(id)
        }
    }

    /// A time in the robot's zone.
    pub(super) fn at(&self, at: Timestamp) -> String {
        let zoned = at.to_jiff().to_zoned(self.answerer.zone.clone());
        zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// Tools, or the form of the last reply.
    pub(super) fn equip(&self, request: &mut ChatRequest, last: bool) {
        if self.rounds.settings.protocol == LlmProtocol::M3 {
            request.top_p = Some(0.95);
            return;
        }
        if last {
            request.schema = Some(answer_schema());
        } else {
            request.tools = tools::offered(self.may_sql());
        }
    }

    /// What the last round is told: that it must answer.
    pub(super) fn demand(&self) -> Message {
        let prompts = &self.rounds.prompts;
        let demand = match self.rounds.settings.protocol {
            LlmProtocol::Tools => &prompts.answer_last,
            LlmProtocol::M3 => &prompts.answer_m3_last,
        };
        Message::text(Role::User, demand.trim())
    }

    /// SQL sees all of the pinned view; what lies after a now of the question's own must not be seen.
    pub(super) fn may_sql(&self) -> bool {
        self.question.now.is_none()
    }

    /// What the reply asks for.
    pub(super) fn read(&self, reply: &ChatReply, last: bool) -> Step {
        if self.rounds.settings.protocol == LlmProtocol::M3 {
            return match m3::action(&reply.text) {
                Ok(m3::Action::Search(_)) if last => {
                    Step::Fault("the action of this round must be [Answer]".to_owned())
                }
                Ok(m3::Action::Search(query)) => Step::Search(query),
                Ok(m3::Action::Answer(text)) => Step::Answer(self.m3_final(&text)),
                Err(fault) => Step::Fault(fault),
            };
        }
        if !reply.calls.is_empty() {
            return if last {
                Step::Fault("no tool can be called any more".to_owned())
            } else {
                Step::Calls(reply.calls.clone())
            };
        }
        match Final::read(&reply.text) {
            Ok(answer) => Step::Answer(answer),
            Err(_) if !last && let Some(call) = TextCall::read(&reply.text) => {
                Step::Calls(vec![call.0])
            }
            Err(fault) => Step::Fault(fault),
        }
    }

    /// Tells the model what was wrong with its reply.
    pub(super) fn repair(&self, fault: &str) -> Message {
        let prompts = &self.rounds.prompts;
        if self.rounds.settings.protocol == LlmProtocol::M3 {
            return Message::text(
                Role::User,
                format!("{fault}\n{}", prompts.answer_m3_form.trim()),
            );
        }
        Message::text(Role::User, fill(&prompts.answer_repair, &[("fault", fault)]))
    }
}

fn answer_schema() -> Schema {
    let schema = json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string"},
            "evidence": {"type": "array", "items": {"type": "string"}},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "known": {"type": "boolean"}
        },
        "required": ["answer", "evidence", "confidence", "known"],
        "additionalProperties": false
    });
    Schema { name: "answer", schema }
}

/// One line without line ends, not too long; the fence of records cannot be closed from inside.
pub(super) fn one_line(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LINE_CHARS)
        .collect::<String>()
        .replace("RECORDS>>>", "RECORDS");
    if text.chars().count() > LINE_CHARS { format!("{line} …") } else { line }
}

/// The conversation within the model's context: results and pictures in the middle give way, oldest first.
pub(super) fn fitting(mut messages: Vec<Message>, context_tokens: usize) -> Vec<Message> {
    let tokens = |message: &Message| {
        let pictures = message.parts.iter().filter(|part| !matches!(part, Part::Text(_))).count();
        message.words() / BYTES_PER_TOKEN + pictures * PICTURE_TOKENS
    };
    let mut total: usize = messages.iter().map(tokens).sum();
    let last = messages.len().saturating_sub(1);
    for message in messages.iter_mut().take(last).skip(2) {
        if total <= context_tokens {
            break;
        }
        if matches!(message.role, Role::Tool | Role::User) {
            total -= tokens(message);
            message.parts = vec![Part::Text("(left out for want of room)".to_owned())];
            total += tokens(message);
        }
    }
    joined(messages)
}

/// Some templates refuse two messages of the user in a row.
fn joined(messages: Vec<Message>) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    for message in messages {
        match out.last_mut() {
            Some(before) if before.role == Role::User && message.role == Role::User => {
                before.parts.extend(message.parts);
            }
            _ => out.push(message),
        }
    }
    out
}

/// Persons count for "who"; the robot does not.
pub(super) fn is_answerable(id: EntityId) -> bool {
    Reading::is_person(id)
}
