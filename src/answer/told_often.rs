//! How often something was done that percepts do not tell: the notes that tell of it.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::Filter;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::recall::lexer::tokens;

use super::events::{holds, with_alike, words_of};
use super::facts::tell;
use super::question::{Parsed, Subject, listed};
use super::reading::{GATHERED, Reading, touch};
use super::remembered::time_told;
use super::reply::Reply;
use super::unmet::is_named;
use super::wording::times;

/// Notes with the deed's words that are looked at.
const LOOKED_AT: usize = 200;
/// Of these so many are told.
const TOLD: usize = 5;
/// What was told so often is sure for so much: nobody tells everything.
const SURE: f32 = 0.7;
/// Words of a habit: such a note tells how often, not one time.
const HABIT: &str = "every each daily weekly monthly yearly always often usually never twice times rarely sometimes";

/// "How often did Ava bake?": the notes that tell of it. `None`: none does, or it is told how often.
pub(super) fn how_often(reading: &Reading, parsed: &Parsed, who: &[EntityId]) -> Option<Reply> {
    let wanted = &parsed.content;
    let words = with_alike(wanted.iter().map(String::as_str));
    let kinds = vec![MemoryKind::Note];
    let filter = Filter { kinds, ..Filter::default() };
    let hits = reading.view.lexical_with_kin(&words, LOOKED_AT, &filter);
    // Where so many were found there may be more that nobody looked at.
    let at_least = if hits.len() < LOOKED_AT { "" } else { "at least " };
    let is_then = |row: &Arc<MemoryRow>| {
        reading.spans.as_deref().is_none_or(|spans| {
            let span = time_told(reading, row);
            spans.iter().any(|asked| touch(*asked, span))
        })
    };
    let tells_it = |row: &Arc<MemoryRow>| {
        let text = reading.rendered(&row.text);
        let names_all = || {
            let (named, told) = (reading.view.named_in(&text), tokens(&text));
            let strangers = parsed.subjects.iter().filter_map(|subject| match subject {
                Subject::Unknown(name) => Some(name),
                _ => None,
            });
            who.iter().all(|person| named.contains(person))
                && strangers.into_iter().all(|name| is_named(&told, name))
        };
        let told = words_of(&text);
        // What is to come has not been.
        let been = || time_told(reading, row).start <= row.span.start;
        row.span.start <= reading.now()
            && names_all()
            && wanted.iter().all(|word| holds(&told, word).is_some())
            && been()
            && is_then(row)
    };
    let rows = hits.into_iter().filter_map(|(id, _)| reading.view.memory(id));
    let mut rows: Vec<Arc<MemoryRow>> = rows.filter(tells_it).collect();
    rows.sort_by_key(|row| (row.span.start, row.id));
    let of_habit =
        |row: &Arc<MemoryRow>| tokens(&row.text).iter().any(|token| listed(HABIT, &token.word));
    if wanted.is_empty() || rows.is_empty() || rows.iter().any(of_habit) {
        return None;
    }
    let mut told: Vec<String> = vec![format!("I was told of it {at_least}{}.", times(rows.len()))];
    told.extend(rows.iter().take(TOLD).map(|row| tell(reading, row)));
    if rows.len() > TOLD {
        told.push(format!("And {at_least}{} more.", rows.len() - TOLD));
    }
    let gathered = rows.iter().take(GATHERED);
    let evidence = gathered.map(|row| reading.memory_evidence(row, row.confidence)).collect();
    let reply = Reply::known(told.join(" "), who.to_vec(), evidence);
    Some(Reply { confidence: SURE, ..reply })
}
