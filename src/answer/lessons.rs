//! What was learned from feedback: an answer that was told wrong is not given again as if nothing had been said.
//!
//! A lesson is a memory that holds the question, the answer and what was said of it (Reflexion, Shinn et al. 2023). It
//! counts for questions that are alike, as long as nothing newer speaks for the answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::memory::model::MemoryRow;
use crate::memory::{View, telling_stems};
use crate::percept::Embedding;
use crate::time::Timestamp;

use super::reading::Reading;
use super::reply::Reply;

/// Cosine from which on two questions are alike.
const ALIKE: f32 = 0.8;
/// Share of telling words that two questions have in common from which on they are alike without vectors.
const SAME_WORDS: f32 = 0.75;
/// Lessons whose questions are looked at: the newest.
const LOOKED_AT: usize = 64;
/// Questions that are embedded to be compared, at most: those with the most words in common.
const COMPARED: usize = 2;
/// How much confidence is left to an answer that was wrong once.
const LEFT: f32 = 0.4;

/// A lesson as it is written.
#[derive(Debug, PartialEq)]
struct Lesson<'a> {
    question: &'a str,
    answer: &'a str,
    wrong: bool,
    comment: &'a str,
}

/// The sentence of a lesson.
#[must_use]
pub fn sentence(question: &str, answer: &str, verdict: &str, comment: Option<&str>) -> String {
    let text = format!("Asked \"{question}\", the answer \"{answer}\" was {verdict}.");
    match comment.map(str::trim).filter(|comment| !comment.is_empty()) {
        Some(comment) => format!("{text} {comment}"),
        None => text,
    }
}

/// Reads [`sentence`] again.
fn read(text: &str) -> Option<Lesson<'_>> {
    let (question, rest) = text.strip_prefix("Asked \"")?.split_once("\", the answer \"")?;
    let ends = [("\" was wrong.", true), ("\" was right.", false)];
    ends.into_iter().find_map(|(end, wrong)| {
        let (answer, comment) = rest.split_once(end)?;
        Some(Lesson { question, answer, wrong, comment: comment.trim() })
    })
}

/// Share of telling words that two questions have in common.
fn in_common(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f32 {
    a.intersection(b).count() as f32 / a.union(b).count().max(1) as f32
}

/// What was learned until then, oldest first.
pub(super) fn until(view: &View, now: Timestamp) -> Vec<Arc<MemoryRow>> {
    let mut lessons = view.lessons();
    lessons.retain(|row| row.span.start <= now);
    lessons
}

/// The reply, with what was said of it when it was given before. `embed` gives the vector of a question.
pub(super) fn heeded(
    reading: &Reading,
    lessons: &[Arc<MemoryRow>],
    question: &str,
    reply: Reply,
    mut embed: impl FnMut(&str) -> Option<Embedding>,
) -> Reply {
    let words = |text: &str| telling_stems(text).into_iter().collect::<BTreeSet<String>>();
    let own = words(question);
    let rendered = |row: &MemoryRow| reading.rendered(&row.text);
    let mut told: Vec<(f32, String, bool)> = Vec::new();
    for row in lessons.iter().rev().take(LOOKED_AT) {
        let text = rendered(row);
        let Some(lesson) = read(&text) else { continue };
        let shared = in_common(&own, &words(lesson.question));
        // Of one question the newest verdict counts.
        let newer = reply.evidence.iter().any(|item| item.start > row.span.start);
        told.push((shared, text, newer));
    }
    told.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut compared = 0;
    for (shared, text, newer) in told {
        let Some(lesson) = read(&text) else { continue };
        let alike = shared >= SAME_WORDS || {
            compared += 1;
            compared <= COMPARED && {
                embed(question).zip(embed(lesson.question)).is_some_and(|(own, other)| {
                    own.cosine(&other).is_some_and(|cosine| cosine >= ALIKE)
                })
            }
        };
        if !alike {
            continue;
        }
        let same = lesson.answer == reply.text;
        if !lesson.wrong || newer || !same && !reply.abstained {
            return reply;
        }
        let told = match lesson.comment {
            "" => "I was told that this is wrong.".to_owned(),
            comment => format!("I was told that this is wrong: {comment}"),
        };
        let text = format!("{} {told}", reply.text);
        return Reply { text, confidence: reply.confidence * LEFT, ..reply };
    }
    reply
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_is_read_as_it_was_written() {
        let text = sentence("Where is \"it\"?", "In the sink.", "wrong", Some(" In the shed. "));
        let lesson = read(&text).unwrap();
        assert_eq!((lesson.question, lesson.answer), ("Where is \"it\"?", "In the sink."));
        assert_eq!((lesson.wrong, lesson.comment), (true, "In the shed."));
        let text = sentence("Who?", "Ava.", "right", None);
        assert!(!read(&text).unwrap().wrong);
        assert_eq!(read("Something else."), None);
    }
}
