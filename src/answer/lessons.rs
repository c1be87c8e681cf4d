//! What was learned from feedback: an answer that was told wrong is not given again as if nothing had been said.
//!
//! A lesson is a memory that holds the question, the answer and what was said of it (Reflexion, Shinn et al. 2023). It
//! counts for questions that are alike: the built-in answerer heeds it as long as nothing newer speaks for the answer,
//! a language model has it before it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{EntityId, MemoryId};
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, Lesson, View, telling_stems};
use crate::percept::Embedding;

use super::corrected::{Verdict, corrected};
use super::reading::Reading;
use super::reply::Reply;
use super::working_set::Lines;

/// Cosine from which on two questions are alike.
const ALIKE: f32 = 0.8;
/// Share of telling words that two questions have in common from which on they are alike without vectors.
const SAME_WORDS: f32 = 0.75;
/// Lessons that are looked at of each sort: those whose words match best, whose questions are nearest, the newest.
const LOOKED_AT: usize = 64;
/// Questions of lessons without a vector of their question that are embedded to be compared, at most.
const COMPARED: usize = 2;
/// Lessons that a language model has before it, at most.
const MOST_TAUGHT: usize = 5;

/// A lesson, and its sentence with names.
type Found = (Arc<MemoryRow>, String);

/// In one line, the verdict first: a long line loses its end. `when`: when it was learned, in words.
fn line(lesson: Lesson<'_>, when: &str) -> String {
    let Lesson { question, answer, wrong, comment } = lesson;
    let verdict = if wrong { "wrong" } else { "right" };
    let comment = match comment {
        "" => String::new(),
        comment => format!(" ({comment})"),
    };
    format!("{verdict}{comment}, said {when}: asked \"{question}\", answered \"{answer}\"")
}

/// Kinds of memories that speak of the world: where there are lessons, all but these; empty = all. A lesson lies where
/// its question does, so it would be found before every answer to it.
pub(super) fn kinds_beside(view: &View) -> Vec<MemoryKind> {
    let mut kinds = Vec::new();
    if view.has_lessons() {
        kinds.extend(MemoryKind::ALL.iter().filter(|kind| **kind != MemoryKind::Lesson));
    }
    kinds
}

fn words(text: &str) -> BTreeSet<String> {
    telling_stems(text).into_iter().collect()
}

/// Share of telling words that two questions have in common.
fn in_common(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f32 {
    a.intersection(b).count() as f32 / a.union(b).count().max(1) as f32
}

fn found(reading: &Reading, id: MemoryId) -> Option<Found> {
    let row = reading.view.memory(id).filter(|row| row.span.start <= reading.now())?;
    let text = reading.rendered(&row.text);
    Some((row, text))
}

/// Lessons of questions like this one: those in the same words first, then those that mean the same; of equals the
/// newest first. `embed` gives the vector of a question; it is asked no sooner than a lesson is wanted.
fn alike(
    reading: &Reading,
    question: &str,
    embed: impl FnMut(&str) -> Option<Embedding>,
) -> impl Iterator<Item = Found> {
    let own = words(question);
    let filter = Filter { kinds: vec![MemoryKind::Lesson], ..Filter::default() };
    let matching = reading.view.lexical(question, LOOKED_AT, &filter);
    let ids: BTreeSet<MemoryId> =
        matching.iter().map(|hit| hit.0).chain(reading.view.newest_lessons(LOOKED_AT)).collect();
    let worded = ids.iter().rev().filter_map(|id| {
        let (row, text) = found(reading, *id)?;
        let shared = in_common(&own, &words(Lesson::read(&text)?.question));
        (shared >= SAME_WORDS).then_some((shared, (row, text)))
    });
    let mut worded: Vec<(f32, Found)> = worded.collect();
    worded.sort_by(|a, b| b.0.total_cmp(&a.0));
    let told: BTreeSet<MemoryId> = worded.iter().map(|(_, (row, _))| row.id).collect();
    let meant = std::iter::once_with(move || meant(reading, question, &told, embed));
    worded.into_iter().map(|(_, lesson)| lesson).chain(meant.flatten())
}

/// Those whose questions mean the same, the nearest first, but for those `told`.
fn meant(
    reading: &Reading,
    question: &str,
    told: &BTreeSet<MemoryId>,
    mut embed: impl FnMut(&str) -> Option<Embedding>,
) -> Vec<Found> {
    let Some(own) = embed(question) else { return Vec::new() };
    let mut compared = 0;
    let near = reading.view.nearest_lessons(&own, LOOKED_AT).into_iter();
    let mut meant: Vec<(f32, Found)> = near
        .filter(|(id, _)| !told.contains(id))
        .filter_map(|(id, mut cosine)| {
            let (row, text) = found(reading, id)?;
            // The vector of an older one is its sentence's.
            if cosine < ALIKE && row.origin != Lesson::ORIGIN && compared < COMPARED {
                compared += 1;
                cosine = own.cosine(&embed(Lesson::read(&text)?.question)?)?;
            }
            (cosine >= ALIKE).then_some((cosine, (row, text)))
        })
        .collect();
    meant.sort_by(|(a, (one, _)), (b, (other, _))| b.total_cmp(a).then(other.id.cmp(&one.id)));
    meant.into_iter().map(|(_, lesson)| lesson).collect()
}

/// The reply, or what was told instead of it when it was given before. `embed` gives the vector of a question.
pub(super) fn heeded(
    reading: &Reading,
    question: &str,
    reply: Reply,
    embed: impl FnMut(&str) -> Option<Embedding>,
) -> Reply {
    let own = words(question);
    let about = reading.view.named_in(question);
    let verdicts = alike(reading, question, embed).filter_map(|(row, text)| {
        let asked = Lesson::read(&text)?.question;
        let same_words = in_common(&own, &words(asked)) >= SAME_WORDS;
        // What was wrong of one may be right of another.
        (reading.view.named_in(asked) == about).then_some(())?;
        Some(Verdict { row, text, same_words })
    });
    corrected(reading, reply, verdicts.collect())
}

/// What feedback taught for questions like this one, a line each, and whom it is about. `embed` as for [`heeded`].
pub(super) fn taught(
    reading: &Reading,
    question: &str,
    embed: impl FnMut(&str) -> Option<Embedding>,
) -> Lines {
    let (mut lines, mut entities) = (Vec::new(), BTreeSet::<EntityId>::new());
    for (row, text) in alike(reading, question, embed).take(MOST_TAUGHT) {
        let when = reading.wording.at(row.span.start);
        lines.extend(Lesson::read(&text).map(|lesson| line(lesson, &when)));
        entities.extend(row.entities.iter().map(|id| reading.view.resolve(*id)));
    }
    (lines, entities.into_iter().collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::answer::wording::Wording;
    use crate::ids::ModelHash;
    use crate::memory::testing::memory_row;
    use crate::memory::{Draft, Memory, StoreOptions};
    use crate::time::{Span, Timestamp};

    /// A text as how often each of its words occurs.
    fn embed(text: &str) -> Option<Embedding> {
        let mut values = vec![0.0; 512];
        for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
            let sum = word.bytes().fold(7_usize, |sum, byte| sum * 31 % 4093 + usize::from(byte));
            values[sum % 512] += f32::from(u8::from(!word.is_empty()));
        }
        Some(Embedding::normalised(values, ModelHash([5; 32])))
    }

    /// A lesson, said in that second; `old`: as lessons were written when their sentence was embedded.
    fn learn(draft: &mut Draft, secs: i64, lesson: Lesson<'_>, old: bool) {
        let at = Timestamp::from_nanos(secs * 1_000_000_000);
        let text = lesson.to_string();
        let vector = embed(if old { &text } else { lesson.question });
        let row = MemoryRow {
            id: draft.new_memory_id(),
            importance: 0.6,
            confidence: 1.0,
            origin: if old { "told" } else { Lesson::ORIGIN }.to_owned(),
            ..memory_row(MemoryKind::Lesson, &text, Span::new(at, at))
        };
        draft.memory(row, vector);
    }

    /// What becomes of an answer when that is asked.
    fn answered(memory: &Memory, question: &str) -> String {
        let now = Timestamp::from_nanos(9_999_000_000_000);
        let reading = Reading::new(memory.view(), None, Wording { zone: TimeZone::UTC, now });
        let reply = Reply::known("In the pantry.".to_owned(), Vec::new(), Vec::new());
        heeded(&reading, question, reply, embed).text
    }

    const BLENDER: Lesson<'static> = Lesson {
        question: "Where is the blender?",
        answer: "In the pantry.",
        wrong: true,
        comment: "In the cellar.",
    };

    #[test]
    fn a_lesson_is_found_among_a_thousand_by_what_its_question_means() {
        const HEEDED: &str = "I was told: In the cellar.";
        for old in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
            let mut draft = memory.begin(Timestamp::EPOCH);
            learn(&mut draft, 1, BLENDER, old);
            for number in 0..1_000 {
                let question = format!("Who fed rabbit {number} on that morning?");
                let other =
                    Lesson { question: &question, answer: "Ava.", wrong: true, comment: "" };
                learn(&mut draft, 2 + number, other, false);
            }
            draft.commit().unwrap();
            assert_eq!(answered(&memory, BLENDER.question), HEEDED, "{old}: the same words");
            assert_eq!(answered(&memory, "Where is the blender, please?"), HEEDED, "{old}");
            assert_eq!(answered(&memory, "Where is the ladder?"), "In the pantry.", "{old}");
            // Of one question the newest verdict counts.
            let mut draft = memory.begin(Timestamp::EPOCH);
            learn(&mut draft, 2_000, Lesson { wrong: false, comment: "", ..BLENDER }, old);
            draft.commit().unwrap();
            assert_eq!(answered(&memory, BLENDER.question), "In the pantry.", "{old}");
            assert_eq!(
                answered(&memory, "Where is the blender, please?"),
                "In the pantry.",
                "{old}"
            );
        }
    }

    /// What becomes of an answer to a question after those lessons, one a second.
    fn after(question: &str, answer: &str, lessons: &[Lesson<'_>]) -> Reply {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let mut draft = memory.begin(Timestamp::EPOCH);
        for (secs, lesson) in (1..).zip(lessons) {
            learn(&mut draft, secs, *lesson, false);
        }
        draft.commit().unwrap();
        let now = Timestamp::from_nanos(9_999_000_000_000);
        let reading = Reading::new(memory.view(), None, Wording { zone: TimeZone::UTC, now });
        let reply = match answer {
            "" => Reply::nothing(),
            answer => Reply::known(answer.to_owned(), Vec::new(), Vec::new()),
        };
        heeded(&reading, question, reply, embed)
    }

    #[test]
    fn a_bare_verdict_does_not_take_back_what_was_told() {
        let bare = Lesson { comment: "", ..BLENDER };
        let reply = after(BLENDER.question, BLENDER.answer, &[BLENDER, bare]);
        assert_eq!(reply.text, "I was told: In the cellar.");
        assert!(!reply.abstained && reply.evidence.len() == 1, "{reply:?}");
        let right = Lesson { wrong: false, ..bare };
        let reply = after(BLENDER.question, BLENDER.answer, &[BLENDER, bare, right]);
        assert_eq!(reply.text, BLENDER.answer);
        let reply = after(BLENDER.question, BLENDER.answer, &[bare]);
        assert_eq!(reply.text, "In the pantry. I was told that this is wrong.");
        assert!(reply.confidence < 0.5, "{reply:?}");
    }

    #[test]
    fn what_was_told_instead_can_be_wrong_too() {
        let told = "I was told: In the cellar.";
        let attic = Lesson { answer: told, comment: "In the attic.", ..BLENDER };
        let reply = after(BLENDER.question, BLENDER.answer, &[BLENDER, attic]);
        assert_eq!(reply.text, "I was told: In the attic.");
        let nobody_knows = Lesson { comment: "", ..attic };
        let reply = after(BLENDER.question, BLENDER.answer, &[BLENDER, nobody_knows]);
        assert_eq!(reply.text, "In the pantry. I was told that this is wrong.");
        let right = Lesson { wrong: false, ..nobody_knows };
        let reply = after(BLENDER.question, BLENDER.answer, &[BLENDER, right]);
        assert_eq!(reply.text, told);
    }

    #[test]
    fn a_wrong_answer_is_known_again_in_other_words_and_at_another_time() {
        let wrong = Lesson {
            question: "Where does Jun keep his bicycle?",
            answer: "I was told yesterday at 09:35:00: \u{201c}June keeps her bicycle in the garage.\u{201d}",
            wrong: true,
            comment: "Jun keeps his bicycle in the cellar.",
        };
        let slot = "The bicycle is in the garage (known since 2 November 2026 at 09:35:00).";
        let reply = after("Where does Jun keep his bicycle?", slot, &[wrong]);
        assert_eq!(reply.text, "I was told: Jun keeps his bicycle in the cellar.");
        // Something else was never told wrong.
        let attic = "The bicycle is in the attic (known since 2 November 2026 at 09:35:00).";
        assert_eq!(after("Where does Jun keep his bicycle?", attic, &[wrong]).text, attic);
        // Nothing is known: what was told of this question is told, of another one only beside it.
        let reply = after("Where does Jun keep his bicycle?", "", &[wrong]);
        assert_eq!(reply.text, "I was told: Jun keeps his bicycle in the cellar.");
        let reply = after("Where does Tove keep his bicycle?", "", &[wrong]);
        assert!(reply.abstained && reply.text.contains("Of \u{201c}Where does Jun"), "{reply:?}");
    }
}
