//! A length of time before or after something: "five minutes before Ava left", "an hour after noon", "within ten
//! minutes of Ben's arrival".

use super::{Frame, Item, event, point};
use crate::recall::lexer::Token;
use crate::recall::time_expr::number::{Unit, length};
use crate::recall::time_expr::{Apart, Relation};

/// From token `at` on, and the tokens taken.
pub(super) fn offset(
    tokens: &[Token],
    at: usize,
    frame: &Frame<'_>,
    is_time: Option<event::IsTime<'_>>,
) -> Option<(Item, usize)> {
    let word = |i: usize| tokens.get(i).map(|t| t.word.as_str());
    let (apart, side, of_days) = told(tokens, at)?;
    let relation = match word(side)? {
        "before" => Relation::Before,
        "after" => Relation::After,
        "of" if tokens[at].word == "within" => Relation::During,
        _ => return None,
    };
    let anchor = side + 1;
    if let Some(deed) = event::deed(tokens, anchor) {
        let end = deed.end;
        return Some((Item::Done(deed.anchor(relation, Some(apart))), end - at));
    }
    // Days before a day are the calendar's.
    if !of_days && let Some((found, taken)) = point(tokens, anchor, frame, true) {
        return Some((Item::Apart(relation, apart, found), anchor + taken - at));
    }
    // "the week before last" is the calendar's, too.
    if word(anchor) == Some("last") {
        return None;
    }
    let deed = event::told(tokens, anchor, is_time?).filter(|_| relation != Relation::During)?;
    let end = deed.end;
    Some((Item::Done(deed.anchor(relation, Some(apart))), end - at))
}

/// How far, the token after it, and whether it is told in days or longer: "five minutes", "within an hour", "the day".
fn told(tokens: &[Token], at: usize) -> Option<(Apart, usize, bool)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let is_long = |unit: Unit| unit.secs() >= Unit::Day.secs();
    let up_to = |most_secs: f64| Apart { least_secs: 0.0, most_secs };
    // "the day before Ava left", "in the five minutes after noon"
    let mut skip = match (word(0)?, word(1)) {
        ("within", _) => 1,
        ("in" | "during", Some("the")) => 2,
        ("the", _) => 1,
        _ => 0,
    };
    if skip > 0 {
        skip += usize::from(word(skip) == Some("last") || word(skip) == Some("first"));
        let told = length(tokens, at + skip, true)?;
        return Some((up_to(told.reach().1), at + skip + told.taken, is_long(told.unit)));
    }
    skip = usize::from(matches!(
        word(0)?,
        "at" | "about" | "around" | "exactly" | "some" | "roughly" | "just"
    ));
    let skip =
        if word(0) == Some("some") && length(tokens, at, false).is_some() { 0 } else { skip };
    let told = length(tokens, at + skip, false)?;
    let (least_secs, most_secs) = told.reach();
    let side = at + skip + told.taken;
    Some((Apart { least_secs, most_secs }, side, is_long(told.unit)))
}
