//! Whether an answer was right: a lesson that later answers can be found by.

use serde_json::{Value, json};

use super::{MemoryService, told};
use crate::answer::lessons;
use crate::ids::EntityId;
use crate::memory::model::{Ground, MemoryKind};
use crate::mqtt::message::{Feedback, Verdict};
use crate::mqtt::{Refusal, Reply};
use crate::time::Span;

impl MemoryService {
    pub(super) fn feedback(&self, feedback: &Feedback) -> Result<Reply, Refusal> {
        let memory = &self.knowledge.memory;
        let found = self.answers.find(memory, &feedback.answer).map_err(|e| self.failed(&e))?;
        let Some(answer) = found else {
            return Err(Refusal::not_found(format!(
                "there is no answer {:?}; give its `answer_id` or the id it was asked with",
                feedback.answer
            )));
        };
        let document: Value = serde_json::from_str(&answer.document).unwrap_or_default();
        let reply = document["answer"].as_str().unwrap_or_default();
        let entities: Vec<EntityId> =
            serde_json::from_value(document["entities"].clone()).unwrap_or_default();
        let verdict = match feedback.verdict {
            Verdict::Right => "right",
            Verdict::Wrong => "wrong",
        };
        let comment = feedback.comment.as_deref();
        let text = lessons::sentence(&answer.question, reply, verdict, comment);
        let now = self.now();
        let mut row = told(MemoryKind::Lesson, text, Span::new(now, now), entities);
        row.grounds = vec![Ground::Answer(answer.id)];
        let row = self.note(row)?;
        Ok(Reply::Document(json!({ "memory": row.id, "answer": answer.id })))
    }
}
