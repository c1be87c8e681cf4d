//! Words that tell a time which nothing here can place: they must not be answered as if they were not there.

use std::ops::Range;

use crate::recall::lexer::Token;
use crate::recall::time_expr::TimeExpr;

/// Stretches that something may happen in.
const STRETCHES: [&str; 35] = [
    "hour",
    "hours",
    "day",
    "days",
    "night",
    "nights",
    "morning",
    "mornings",
    "afternoon",
    "afternoons",
    "evening",
    "evenings",
    "week",
    "weeks",
    "weekend",
    "weekends",
    "month",
    "months",
    "year",
    "years",
    "fortnight",
    "decade",
    "century",
    "spring",
    "summer",
    "autumn",
    "winter",
    "term",
    "semester",
    "quarter",
    "season",
    "holiday",
    "holidays",
    "birthday",
    "anniversary",
];
/// Feasts whose day is another in every country or every year.
const FEASTS: [&str; 13] = [
    "thanksgiving",
    "hanukkah",
    "ramadan",
    "diwali",
    "eid",
    "passover",
    "carnival",
    "kwanzaa",
    "holi",
    "juneteenth",
    "birthday",
    "anniversary",
    "holidays",
];
/// Words of such an expression that are shown behind it.
const SHOWN: usize = 4;

/// Whether the word names a stretch in which something may happen ("week", "evening", "semester").
fn is_stretch(word: &str) -> bool {
    STRETCHES.contains(&word)
}

/// The first of them outside the expressions that were found, or the first that names no time there is, as bytes of the
/// text.
pub(in crate::recall::time_expr) fn unread(
    tokens: &[Token],
    found: &[TimeExpr],
) -> Option<Range<usize>> {
    let never = found.iter().find(|expr| expr.is_never()).map(|expr| expr.range.clone());
    never.into_iter().chain(left(tokens, found)).min_by_key(|range| range.start)
}

/// The first of them outside the expressions.
fn left(tokens: &[Token], found: &[TimeExpr]) -> Option<Range<usize>> {
    let is_left = |token: &Token| {
        !token.quoted && !found.iter().any(|expr| expr.range.contains(&token.range.start))
    };
    let word = |i: usize| tokens.get(i).filter(|t| is_left(t)).map(|t| t.word.as_str());
    for at in 0..tokens.len() {
        let Some(length) = length(&word, at) else { continue };
        // "ago" alone tells nothing without what stands before it.
        let first = if word(at) == Some("ago") { at.saturating_sub(2) } else { at };
        let mut last = at + length - 1;
        while last + 1 < (at + length + SHOWN).min(tokens.len())
            && !tokens[last].stop
            && word(last + 1).is_some()
        {
            last += 1;
        }
        return Some(tokens[first].range.start..tokens[last].range.end);
    }
    None
}

/// How many words from `at` on tell a time.
fn length<'a>(word: &dyn Fn(usize) -> Option<&'a str>, at: usize) -> Option<usize> {
    let next = |i: usize| word(at + i);
    let stretch = |i: usize| next(i).is_some_and(is_stretch);
    let before = |i: usize| at.checked_sub(i).and_then(word);
    match next(0)? {
        // "that evening", "the following day", "last term"; "the last day" is an order.
        "that" | "previous" | "following" | "coming" if stretch(1) => Some(2),
        "next" | "last" | "past" if stretch(1) && next(1) != Some("day") => Some(2),
        "next" if next(1) == Some("day") => Some(2),
        "on" | "in" | "at" | "during" | "over" | "since" | "until" | "till" | "before"
        | "after" | "by" | "towards" | "last" | "this" | "next" => placed(next, stretch),
        // "the night before", "the day after"
        "the" if stretch(1) && matches!(next(2), Some("before" | "after")) => Some(3),
        "ago" => {
            let asked = (1..=4).any(|i| before(i) == Some("how"));
            (!asked && before(1).is_some() && before(1) != Some("long")).then_some(1)
        }
        _ => None,
    }
}

/// "on the day", "at the end of", "on my birthday", "before that", behind a preposition.
fn placed<'a>(
    next: impl Fn(usize) -> Option<&'a str>,
    stretch: impl Fn(usize) -> bool,
) -> Option<usize> {
    match next(1)? {
        "the" if stretch(2) => Some(3),
        "the"
            if matches!(next(2), Some("beginning" | "start" | "middle" | "end" | "close"))
                && next(3) == Some("of") =>
        {
            Some(4)
        }
        "that" | "then" | "this"
            if matches!(next(0), Some("before" | "after" | "since" | "until" | "till"))
                && next(2)
                    .is_none_or(|w| matches!(w, "who" | "what" | "where" | "was" | "did")) =>
        {
            Some(2)
        }
        feast if FEASTS.contains(&feast) => Some(2),
        owner
            if (matches!(owner, "my" | "your" | "his" | "her" | "our" | "their" | "the")
                || owner.ends_with("'s"))
                && next(2).is_some_and(|w| FEASTS.contains(&w)) =>
        {
            Some(3)
        }
        _ => None,
    }
}
