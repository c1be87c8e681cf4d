//! Whether an answer was right: a lesson that later answers can be found by.

use serde_json::{Value, json};

use super::MemoryService;
use crate::ids::EntityId;
use crate::memory::Lesson;
use crate::memory::model::{Ground, MemoryKind, MemoryRow};
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
        let lesson = Lesson {
            question: &answer.question,
            answer: reply,
            wrong: feedback.verdict == Verdict::Wrong,
            comment: feedback.comment.as_deref().unwrap_or_default(),
        };
        let text = lesson.to_string();
        let now = self.told_at();
        let mut row = MemoryRow::told(MemoryKind::Lesson, text, Span::new(now, now), entities);
        row.grounds = vec![Ground::Answer(answer.id)];
        row.origin = Lesson::ORIGIN.to_owned();
        let row = self.note(row)?;
        Ok(Reply::Document(json!({ "memory": row.id, "answer": answer.id })))
    }
}
