//! Which of two told events was first: "Did Ava fall before Ben came back?", "Who fell first, Ava or Ben?", "Was Ben
//! already back when Ava fell?"

use std::ops::Range;

use crate::recall::lexer::Token;

use super::clause::Clause;
use super::lasting;
use super::{Asked, Side, happened, is_seen, quoting, side, unsettled};
use crate::answer::question::listed;
use crate::answer::reading::Reading;
use crate::answer::reply::Reply;
use crate::answer::wording::sentence as capitalised;

/// Begins a question for yes or no about what has been.
const AUXILIARIES: &str = "did was were had has have";
/// Begins a question for one of two.
const WHICH: &str = "who which what";
const FIRST: &str = "first earlier sooner";
const LAST: &str = "last later";
/// Says of an event no more than that it was.
const WAS: &str = "was were is came come happened occurred did";
/// At what time the other was.
const WHEN: &str = "when while as";

/// What is asked of two events.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// "… before …", `None`: "… before or after …".
    Beside { one: Range<usize>, side: Option<Side>, other: Range<usize> },
    /// "Was … already … when …"
    When { one: Range<usize>, other: Range<usize> },
    /// "Who fell first, Ava or Ben?"
    First { deed: Range<usize>, options: [Range<usize>; 2], last: bool },
}

/// What notes tell of which was first. `None`: it is not asked, or one of the two is not told.
pub(super) fn told_of(asked: &Asked<'_>) -> Option<Reply> {
    match form(&asked.words, &|token| asked.is_timed(token))? {
        Form::Beside { one, side, other } => {
            let (one, other) = (clause(asked, one)?, clause(asked, other)?);
            beside(asked.reading, &one, side, &other)
        }
        Form::When { one, other } => {
            let then = happened(asked.reading, &clause(asked, other)?);
            lasting::was_so_then(asked, one, &then)
        }
        Form::First { deed, options, last } => first(asked, deed, options, last),
    }
}

/// The clause of a part of the question; `None`: notes do not tell it, or percepts may.
fn clause(asked: &Asked<'_>, words: Range<usize>) -> Option<Clause> {
    let clause = Clause::of(&asked.part(words));
    (clause.is_telling() && !is_seen(asked.reading, &clause)).then_some(clause)
}

/// What is asked of which events, as far as the question has that form.
fn form(words: &[Token], timed: &dyn Fn(&Token) -> bool) -> Option<Form> {
    let word = |at: usize| words.get(at).map_or("", |token| token.word.as_str());
    let end = words.len();
    if listed(AUXILIARIES, word(0)) {
        let find = |list: &str| (2..end).find(|at| listed(list, word(*at)) && !timed(&words[*at]));
        if let Some(at) = find("before after") {
            let side = if word(at) == "before" { Side::Before } else { Side::After };
            let both = word(at + 1) == "or" && listed("before after", word(at + 2));
            let behind = at + if both { 3 } else { 1 };
            let side = (!both).then_some(side);
            return Some(Form::Beside { one: 1..at, side, other: behind..end });
        }
        let at = find(WHEN).filter(|_| listed("was were had", word(0)))?;
        return Some(Form::When { one: 1..at, other: at + 1..end });
    }
    if !listed(WHICH, word(0)) {
        return None;
    }
    let or = (1..end).rev().find(|at| word(*at) == "or")?;
    let stop = (0..or).rev().find(|at| words[*at].stop)?;
    let mut order = (1..=stop).filter(|at| listed(FIRST, word(*at)) || listed(LAST, word(*at)));
    let at = order.next()?;
    let options = [stop + 1..or, or + 1..end];
    let whole = options.iter().all(|option| !option.is_empty());
    whole.then(|| Form::First { deed: 1..stop + 1, options, last: listed(LAST, word(at)) })
}

fn beside(reading: &Reading, one: &Clause, asked: Option<Side>, other: &Clause) -> Option<Reply> {
    let (ones, others) = (happened(reading, one), happened(reading, other));
    let (first, second) = (ones.first()?, others.first()?);
    let told = [first, second];
    let Some(found) = side(&ones, &others) else {
        return Some(unsettled(reading, "I don't know which was first", &told));
    };
    let lead = match asked {
        None => capitalised(found.word()),
        Some(asked) if asked == found => "Yes".to_owned(),
        Some(_) => format!("No, {}", found.word()),
    };
    Some(quoting(reading, &format!("{lead}, as far as I know."), &told))
}

/// "Who fell first, Ava or Ben?"
fn first(
    asked: &Asked<'_>,
    deed: Range<usize>,
    options: [Range<usize>; 2],
    last: bool,
) -> Option<Reply> {
    let of_order = |token: &&Token| listed(FIRST, &token.word) || listed(LAST, &token.word);
    let deed: Vec<&Token> = asked.part(deed).into_iter().filter(|token| !of_order(token)).collect();
    // "Which was first, the visit or the delivery?"
    let bare = deed.iter().all(|token| listed(WAS, &token.word)) && asked.word(0) != "who";
    let deed = if bare { Clause::default() } else { Clause::of(&deed) };
    let one = |option: &Range<usize>| {
        let clause = deed.with(&Clause::of(&asked.part(option.clone())));
        (clause.is_telling() && !is_seen(asked.reading, &clause))
            .then(|| happened(asked.reading, &clause))
    };
    let (ones, others) = (one(&options[0])?, one(&options[1])?);
    let told = [ones.first()?, others.first()?];
    let Some(side) = side(&ones, &others) else {
        return Some(unsettled(asked.reading, "I don't know which was first", &told));
    };
    let option = if (side == Side::Before) != last { &options[0] } else { &options[1] };
    let which = capitalised(asked.written(option.clone()));
    let order = if last { "last" } else { "first" };
    let lead = format!("{which} was {order}, as far as I know.");
    Some(quoting(asked.reading, &lead, &told))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::recall::lexer::tokens;

    #[test]
    fn a_question_sets_two_events_side_by_side() {
        let parts = |text: &str| {
            let words = tokens(text);
            let written = |range: Range<usize>| {
                let part = words[range].iter().map(|token| token.word.clone());
                part.collect::<Vec<_>>().join(" ")
            };
            match form(&words, &|token| token.word == "monday").unwrap() {
                Form::Beside { one, side, other } => {
                    let side = side.map_or("?", Side::word);
                    format!("{} | {side} | {}", written(one), written(other))
                }
                Form::When { one, other } => format!("{} | {}", written(one), written(other)),
                Form::First { deed, options: [a, b], last } => {
                    format!("{} | {} | {} | {last}", written(deed), written(a), written(b))
                }
            }
        };
        for (question, wanted) in [
            ("Did Ava fall before Ben came?", "ava fall | before | ben came"),
            ("Was it mended before or after Ava fell?", "it mended | ? | ava fell"),
            ("Was Ben already back when Ava fell?", "ben already back | ava fell"),
            ("Who fell first, Ava or Ben?", "fell first | ava | ben | false"),
            ("Which was last, the party or the fair?", "was last | the party | the fair | true"),
        ] {
            assert_eq!(parts(question), wanted);
        }
        for question in ["Who fell first?", "Did Ava fall?", "Who fell, Ava or Ben?", ""] {
            assert_eq!(form(&tokens(question), &|_| false), None, "{question}");
        }
    }
}
