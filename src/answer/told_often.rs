//! How often something was done that percepts do not tell: the notes that tell of it.

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{Filter, is_kin, stems};
use crate::recall::lexer::tokens;

use super::facts::tell;
use super::question::{Parsed, listed};
use super::reading::{GATHERED, Reading, touch};
use super::remembered::time_told;
use super::reply::Reply;
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
    let words = parsed.content.join(" ");
    let wanted = stems(&words);
    let kinds = vec![MemoryKind::Note];
    let filter = Filter { kinds, ..Filter::default() };
    let hits = reading.view.lexical_with_kin(&words, LOOKED_AT, &filter);
    let is_then = |row: &Arc<MemoryRow>| {
        reading.spans.as_deref().is_none_or(|spans| {
            let span = time_told(reading, row);
            spans.iter().any(|asked| touch(*asked, span))
        })
    };
    let tells_it = |row: &Arc<MemoryRow>| {
        let text = reading.rendered(&row.text);
        let have = stems(&text);
        let names_all = || {
            let named = reading.view.named_in(&text);
            who.iter().all(|person| named.contains(person))
        };
        row.span.start <= reading.now()
            && wanted.iter().all(|word| have.iter().any(|held| is_kin(word, held)))
            && names_all()
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
    let mut told: Vec<String> = vec![format!("I was told of it {}.", times(rows.len()))];
    told.extend(rows.iter().take(TOLD).map(|row| tell(reading, row)));
    if rows.len() > TOLD {
        told.push(format!("And {} more.", rows.len() - TOLD));
    }
    let gathered = rows.iter().take(GATHERED);
    let evidence = gathered.map(|row| reading.memory_evidence(row, row.confidence)).collect();
    let reply = Reply::known(told.join(" "), who.to_vec(), evidence);
    Some(Reply { confidence: SURE, ..reply })
}
