//! On which day something is: "Is the drill on Tuesday?", where it was moved or called off since.

use std::ops::Range;

use crate::answer::question::{is_grammar, listed};
use crate::answer::reading::touch;
use crate::answer::reply::Reply;

use super::clause::taken_apart;
use super::cues::find;
use super::states::told_in;
use super::{Asked, Event, quoting, scan};

/// What stands before what is asked for.
const ARTICLES: &str = "the our my";
/// Words of it, at most.
const LONGEST: usize = 3;
/// That it will not be.
const OFF: [&str; 3] = ["cancel", "call off", "called off"];
/// A day, less what clocks may be put forward by, seconds.
const DAY_SECS: f64 = 82_800.0;

/// What the newest note that tells its day, or that it will not be, says to it. `None`: it is not asked, or not told.
pub(super) fn told_of(asked: &Asked<'_>) -> Option<Reply> {
    if !listed("is are", asked.word(0)) || !listed(ARTICLES, asked.word(1)) {
        return None;
    }
    let part = asked.part(2..asked.words.len());
    let plain = part.iter().all(|token| !token.capital && !is_grammar(&token.word));
    let spans = asked.times(0..asked.words.len());
    let [day] = spans.as_slice() else { return None };
    if !plain || part.is_empty() || part.len() > LONGEST || day.secs() < DAY_SECS {
        return None;
    }
    // What is open on one day may be so on others.
    let apart = taken_apart(&part);
    if [false, true].into_iter().any(|over| told_in(&apart, over).is_some()) {
        return None;
    }
    let words: Vec<String> = part.iter().map(|token| token.word.clone()).collect();
    let about = |held: Option<Vec<Range<usize>>>| held.is_some_and(|held| !held.is_empty());
    let query = words.join(" ");
    let told = scan(asked.reading, &query, &|sentence| {
        about(sentence.hold(&words)) && sentence.is_so(&[])
    });
    let off = scan(asked.reading, &query, &|sentence| {
        let off = OFF.iter().any(|phrase| find(&sentence.words, phrase).is_some());
        off && about(sentence.hold(&words))
    });
    let newest = |event: &&Event| (event.row.span.start, event.row.id);
    let ahead = |event: &&Event| event.time.start > event.row.span.start;
    let dated = told.iter().filter(ahead).max_by_key(newest);
    let off = off.iter().max_by_key(newest);
    let (yes, event) = match (dated, off) {
        (Some(dated), Some(off)) if newest(&off) > newest(&dated) => (false, off),
        (None, Some(off)) => (false, off),
        (Some(dated), _) => (touch(*day, dated.time), dated),
        (None, None) => return None,
    };
    let lead = if yes { "Yes, as far as I know." } else { "No, as far as I know." };
    Some(quoting(asked.reading, lead, &[event]))
}
