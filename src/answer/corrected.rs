//! What becomes of an answer that was judged before: the verdicts on it and on its like, one after the other.
//!
//! What was told instead of a wrong answer is the answer, until something newer is known, or the old one is told right.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::memory::model::MemoryRow;
use crate::memory::{Lesson, telling_stems};
use crate::recall::time_expr::time_expressions;

use super::reading::Reading;
use super::reply::Reply;
use super::wording::without;

/// Share of the telling words of the shorter of two answers that the other holds: from there on both say the same.
const SAYS_SAME: f32 = 0.8;
/// Fewer telling words do not show that answers to two questions say the same.
const LEAST_WORDS: usize = 2;
/// How much confidence is left to an answer that was wrong once.
const LEFT: f32 = 0.4;
/// How sure is what was told instead.
const SURE: f32 = 0.6;

/// A lesson of a question like the one that is asked.
pub(super) struct Verdict {
    pub(super) row: Arc<MemoryRow>,
    /// Its sentence, with names.
    pub(super) text: String,
    /// Its question is put in the same words.
    pub(super) same_words: bool,
}

/// The reply after those verdicts.
pub(super) fn corrected(reading: &Reading, reply: Reply, mut verdicts: Vec<Verdict>) -> Reply {
    verdicts.sort_by_key(|verdict| (verdict.row.span.start, verdict.row.id));
    let mut wrong = false;
    let mut told: Option<(&Verdict, &str)> = None;
    // Told of a question that is only alike.
    let mut aside: Option<Lesson<'_>> = None;
    for verdict in &verdicts {
        let newer = reply.evidence.iter().any(|item| item.start > verdict.row.span.start);
        let Some(lesson) = Lesson::read(&verdict.text).filter(|_| !newer) else { continue };
        let least = if verdict.same_words { 1 } else { LEAST_WORDS };
        let of_told =
            told.is_some_and(|(_, comment)| says_same(reading, lesson.answer, comment, 1));
        let of_reply = match reply.abstained {
            // "I don't know" is said of everything.
            true => verdict.same_words && !of_told,
            false => {
                lesson.answer == reply.text || says_same(reading, lesson.answer, &reply.text, least)
            }
        };
        let instead = Some((verdict, lesson.comment)).filter(|(_, comment)| !comment.is_empty());
        match (of_reply, lesson.wrong) {
            (true, true) => (wrong, told) = (true, instead.or(told)),
            (true, false) => (wrong, told) = (false, None),
            (false, true) if of_told => told = instead,
            (false, true) if reply.abstained => aside = instead.map(|_| lesson).or(aside),
            (false, _) => {}
        }
    }
    match (wrong, told, aside) {
        (true, Some((verdict, comment)), _) => {
            let evidence = vec![reading.memory_evidence(&verdict.row, SURE)];
            let ids = evidence.iter().flat_map(|item| item.entities.clone()).collect();
            let told = Reply::known(format!("I was told: {comment}"), ids, evidence);
            told.about(&reply.entities)
        }
        (true, None, _) => {
            let text = format!("{} I was told that this is wrong.", reply.text);
            Reply { text, confidence: reply.confidence * LEFT, ..reply }
        }
        (false, _, Some(Lesson { question, comment, .. })) => {
            let text =
                format!("{} Of \u{201c}{question}\u{201d} I was told: {comment}", reply.text);
            Reply { text, ..reply }
        }
        (false, _, None) => reply,
    }
}

/// Whether two answers say the same, whenever and in whatever form; `least`: so many telling words must show it.
fn says_same(reading: &Reading, one: &str, other: &str, least: usize) -> bool {
    let is = |text: &str, word: &str| {
        text.trim_start().get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    let against = |a: &str, b: &str| is(a, "yes,") && is(b, "no,");
    if against(one, other) || against(other, one) {
        return false;
    }
    let (one, other) = (said(reading, one), said(reading, other));
    let shorter = one.len().min(other.len());
    let shared = one.intersection(&other).count() as f32;
    shorter >= least && shared / shorter.max(1) as f32 >= SAYS_SAME
}

/// The telling words of an answer, without times and without what stands in brackets.
fn said(reading: &Reading, answer: &str) -> BTreeSet<String> {
    let mut depth = 0_usize;
    let mut plain = String::with_capacity(answer.len());
    for c in answer.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let times = time_expressions(&plain, reading.now(), &reading.wording.zone);
    let mut words: BTreeSet<String> = telling_stems(&without(&plain, &times)).into_iter().collect();
    for form in telling_stems("yes told") {
        words.remove(&form);
    }
    words
}
