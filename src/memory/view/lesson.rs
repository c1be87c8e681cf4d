//! Lessons: what was said of an answer, as a sentence that can be read again.
//!
//! What a lesson is found by is its question: that is what is embedded of it ([`MemoryRow::meaning`]).

use crate::percept::Embedding;

use super::View;
use super::filter::Filter;
use crate::ids::MemoryId;
use crate::memory::idset::IdSet;
use crate::memory::model::{MemoryKind, MemoryRow};

/// A lesson as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lesson<'a> {
    /// What was asked.
    pub question: &'a str,
    /// What was answered.
    pub answer: &'a str,
    /// That was wrong.
    pub wrong: bool,
    /// What else was said of it; may be empty.
    pub comment: &'a str,
}

/// Its sentence.
impl std::fmt::Display for Lesson<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { question, answer, .. } = self;
        let verdict = if self.wrong { "wrong" } else { "right" };
        write!(f, "Asked \"{question}\", the answer \"{answer}\" was {verdict}.")?;
        match self.comment.trim() {
            "" => Ok(()),
            comment => write!(f, " {comment}"),
        }
    }
}

impl<'a> Lesson<'a> {
    /// Who wrote those whose vector is their question's; older ones have their sentence's.
    pub const ORIGIN: &'static str = "feedback";

    /// Reads its sentence again.
    #[must_use]
    pub fn read(sentence: &'a str) -> Option<Self> {
        let (question, rest) =
            sentence.strip_prefix("Asked \"")?.split_once("\", the answer \"")?;
        let ends = [("\" was wrong.", true), ("\" was right.", false)];
        ends.into_iter().find_map(|(end, wrong)| {
            let (answer, comment) = rest.split_once(end)?;
            Some(Self { question, answer, wrong, comment: comment.trim() })
        })
    }
}

impl MemoryRow {
    /// What of its sentence is embedded: of a lesson the question, of all else everything.
    #[must_use]
    pub fn meaning(&self) -> &str {
        let lesson = (self.kind == MemoryKind::Lesson).then(|| Lesson::read(&self.text)).flatten();
        lesson.map_or(self.text.as_str(), |lesson| lesson.question)
    }
}

impl View {
    /// Whether anything was learned from feedback.
    #[must_use]
    pub fn has_lessons(&self) -> bool {
        !self.newest_lessons(1).is_empty()
    }

    /// The newest lessons, at most `most`, newest first.
    #[must_use]
    pub fn newest_lessons(&self, most: usize) -> Vec<MemoryId> {
        let columns = self.tables.facets.load();
        let (table, log) = (&self.tables.memories, self.tables.memories.log());
        let shown = columns.lessons.iter().rev().map(|at| *at as usize);
        shown
            .filter(|at| table.shows_in(&log, *at, &self.horizon))
            .filter_map(|at| columns.id(at))
            .take(most)
            .collect()
    }

    /// The `k` lessons whose questions mean what this one does most nearly (cosine), best first, of equals the newest.
    #[must_use]
    pub fn nearest_lessons(&self, question: &Embedding, k: usize) -> Vec<(MemoryId, f32)> {
        let columns = self.tables.facets.load();
        let mut among = IdSet::default();
        for at in columns.lessons.iter() {
            if let Some(id) = columns.id(*at as usize) {
                among.insert_version(id, *at);
            }
        }
        let mut near = self.nearest_among(question, k, &Filter::default(), Some(&among));
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        near
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::testing::memory_row;
    use crate::time::{Span, Timestamp};

    #[test]
    fn a_lesson_is_read_as_it_was_written() {
        let question = "Where is \"it\"?";
        let wrong =
            Lesson { question, answer: "In the sink.", wrong: true, comment: "In the shed." };
        assert_eq!(Lesson::read(&wrong.to_string()), Some(wrong));
        let right = Lesson { question: "Who?", answer: "Ava.", wrong: false, comment: "" };
        assert_eq!(Lesson::read(&right.to_string()), Some(right));
        assert_eq!(Lesson::read("Something else."), None);
        // Its question is what it is found by.
        let at = Timestamp::EPOCH;
        let row = memory_row(MemoryKind::Lesson, &wrong.to_string(), Span::new(at, at));
        let mut row = MemoryRow { origin: Lesson::ORIGIN.to_owned(), ..row };
        assert_eq!(row.meaning(), question);
        row.kind = MemoryKind::Note;
        assert_eq!(row.meaning(), row.text);
    }
}
