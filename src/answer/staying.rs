//! Where somebody was told to stay, where nothing was recorded: "She stays at home until Wednesday."

use std::sync::Arc;

use crate::ids::EntityId;
use crate::memory::model::MemoryRow;
use crate::recall::lexer::tokens;
use crate::text::sentences;
use crate::time::Span;

use super::doer;
use super::facts::tell;
use super::question::listed;
use super::reading::{Reading, touch};
use super::remembered::time_told;
use super::reply::Reply;

/// Newest notes about one person that are looked at.
const LOOKED_AT: usize = 200;
/// What one does who is somewhere.
const STAYING: &str =
    "stays stayed staying sits sat sitting works worked working sleeps slept waits waited";
/// What begins a place then.
const PLACES: &str = "at in on";
/// What was told is so for so much.
const SURE: f32 = 0.6;

/// Where the newest note of those times has somebody stay; `None`: none tells it.
pub(super) fn told_of(reading: &Reading, who: EntityId, spans: &[Span]) -> Option<Reply> {
    let then = |row: &Arc<MemoryRow>| {
        let begin = row.span.start;
        let held = Span::new(begin, time_told(reading, row).end.max(row.span.end).max(begin));
        spans.iter().any(|span| touch(*span, held))
    };
    let tells = |row: &Arc<MemoryRow>| tells(reading, row, who);
    let notes = reading.newest_notes(vec![who], LOOKED_AT);
    let row = notes.into_iter().find(|row| then(row) && tells(row))?;
    let evidence = vec![reading.memory_evidence(&row, row.confidence)];
    let reply = Reply::known(tell(reading, &row), vec![who], evidence);
    Some(Reply { confidence: SURE, ..reply })
}

/// Whether a note says where somebody stays.
fn tells(reading: &Reading, row: &MemoryRow, who: EntityId) -> bool {
    let text = reading.rendered(&row.text);
    sentences(&text).any(|told| {
        let before = text.find(told).map_or("", |at| &text[..at]);
        let name = place_of_stay(told).and_then(|verb| doer::who_does(told, &verb, before));
        name.is_some_and(|name| reading.view.find_by_name(&name).contains(&who))
    })
}

/// The verb of a sentence that says where somebody stays.
fn place_of_stay(sentence: &str) -> Option<String> {
    let words = tokens(sentence);
    let stays = words
        .windows(2)
        .find(|two| listed(STAYING, &two[0].word) && !two[0].stop && listed(PLACES, &two[1].word));
    stays.map(|two| two[0].word.clone())
}

#[cfg(test)]
mod tests {
    use super::place_of_stay;

    #[test]
    fn a_stay_has_a_place() {
        for (sentence, verb) in [
            ("She stays at home until Wednesday.", Some("stays")),
            ("Ava sat in the garden.", Some("sat")),
            ("Ava stays a friend.", None),
            ("Ava works, at home nobody knows it.", None),
        ] {
            assert_eq!(place_of_stay(sentence).as_deref(), verb, "{sentence}");
        }
    }
}
