//! How long a state lasted, whether it still does, and whether it did when something else happened: from the note of its
//! beginning to the note of its end.

use std::ops::Range;

use crate::memory::telling_stems;
use crate::recall::lexer::Token;
use crate::time::{Span, Timestamp};

use super::clause::{Clause, Word, taken_apart};
use super::cues::find;
use super::states::{BROKEN, Period, STAY, State, told_in};
use super::{Asked, Event, Side, happened, is_seen, quoting, scan, side, unsettled};
use crate::answer::question::listed;
use crate::answer::reading::hull;
use crate::answer::reply::Reply;
use crate::answer::wording::{last_inside, length};

/// What begins a question for yes or no about a state.
const BEING: &str = "is are was were";
const DOING: &str = "does do did";
/// What is counted where it is asked how long.
const UNITS: &str = "hours days nights weeks months";
/// Before the place where somebody is.
const IN: &str = "in at";
/// What says that somebody works there no longer.
const LEAVING: [&str; 20] = [
    "give notice",
    "give his notice",
    "give her notice",
    "give in his notice",
    "give in her notice",
    "hand in his notice",
    "hand in her notice",
    "retire",
    "quit",
    "resign",
    "was fired",
    "was dismissed",
    "no longer works",
    "no longer comes",
    "no longer here",
    "stopped working",
    "farewell",
    "leaving party",
    "leaving do",
    "moved away",
];
/// The same of somebody's own: "his last day".
const LAST_DAY: &str = "last day";
/// The same where nothing follows that was left.
const LEFT_US: &str = "left us";

/// What notes tell of how long something was so, or whether it is. `None`: it is not asked, or not told.
pub(super) fn told_of(asked: &Asked<'_>) -> Option<Reply> {
    how_long(asked).or_else(|| works_here(asked)).or_else(|| whether(asked))
}

/// "How long was the lift out of order?", "For how many days could the gate not be locked?"
fn how_long(asked: &Asked<'_>) -> Option<Reply> {
    let at = usize::from(asked.word(0) == "for");
    let long = match (asked.word(at), asked.word(at + 1)) {
        ("how", "long") => asked.word(at + 2) != "ago",
        ("how", "many") => listed(UNITS, asked.word(at + 2)),
        _ => false,
    };
    let from = at + 2 + usize::from(asked.word(at + 1) == "many");
    let state = state(asked, from..asked.words.len()).filter(|_| long)?;
    let (periods, _) = state.periods(asked.reading);
    let spans = asked.times(0..asked.words.len());
    let then =
        |period: &&Period| spans.is_empty() || spans.iter().any(|span| period.touches(*span));
    let Some(period) = periods.iter().rev().find(then) else {
        let of_somebody = !state.names.is_empty() && *state.pair != STAY;
        let text = "I don't know how long that was: I was told of no such time.";
        return (of_somebody && spans.is_empty()).then(|| Reply::unknown(text));
    };
    lasted(asked, &state, period)
}

fn lasted(asked: &Asked<'_>, state: &State, period: &Period) -> Option<Reply> {
    let (reading, begin) = (asked.reading, period.begin.time.start);
    let wording = &reading.wording;
    let Some(over) = period.over().filter(|over| *over <= reading.now()) else {
        let lead = format!("Since {}, as far as I know.", wording.date(begin));
        return (*state.pair != STAY).then(|| quoting(reading, &lead, &[&period.begin]));
    };
    let last = match period.end {
        Some(_) => over,
        // Its last day was told.
        None => last_inside(Span::new(begin, over)),
    };
    let lead = match wording.days(begin, last) {
        0 => format!("For {}, as far as I know.", length(over.secs_since(begin).max(0.0))),
        days => format!(
            "For {days} day{}, as far as I know, from {} to {}.",
            if days == 1 { "" } else { "s" },
            wording.date(begin),
            wording.date(last)
        ),
    };
    let events: Vec<&Event> = std::iter::once(&period.begin).chain(&period.end).collect();
    Some(quoting(reading, &lead, &events))
}

/// The state that a part of a question tells by its beginning; of somebody also a place where they are.
fn state(asked: &Asked<'_>, words: Range<usize>) -> Option<State> {
    let part = asked.part(words);
    let found = told_in(&taken_apart(&part), false);
    let state = match found {
        Some((pair, at)) => {
            let about = Clause::of(&without(&part, &at));
            State { pair, names: about.names, words: about.words }
        }
        None => unable(&part).or_else(|| stay(&part))?,
    };
    state.is_of_something().then_some(state)
}

fn without<'a>(part: &[&'a Token], at: &Range<usize>) -> Vec<&'a Token> {
    let others = part.iter().enumerate().filter(|(place, _)| !at.contains(place));
    others.map(|(_, token)| *token).collect()
}

/// "… could the gate not be locked": what cannot do what it is for is broken.
fn unable(part: &[&Token]) -> Option<State> {
    let at = part.iter().position(|token| token.word == "not")?;
    let about = Clause::of(part.get(..at)?);
    let verb = part.get(at + 1..)?.iter().any(|token| !telling_stems(&token.word).is_empty());
    let fits = verb && about.names.is_empty() && !about.words.is_empty();
    fits.then_some(State { pair: &BROKEN, names: Vec::new(), words: about.words })
}

/// "Ben in hospital", "Ben spend in hospital"
fn stay(part: &[&Token]) -> Option<State> {
    let at = part.iter().position(|token| listed(IN, &token.word))?;
    let (who, place) = (part.get(..at)?, part.get(at + 1..)?);
    let theirs = who.iter().any(|token| token.word.ends_with("'s"));
    let (who, place) = (Clause::of(who), Clause::of(place));
    let others = who.words.iter().any(|word| !listed("spend spent stay stayed", word));
    let fits = !theirs && !others && place.names.is_empty() && !place.words.is_empty();
    (fits && !who.names.is_empty()).then_some(State {
        pair: &STAY,
        names: who.names,
        words: place.words,
    })
}

/// "Is Ava still working here?"
fn works_here(asked: &Asked<'_>) -> Option<Reply> {
    let words = taken_apart(&asked.part(1..asked.words.len()));
    let begins = listed(BEING, asked.word(0)) || listed(DOING, asked.word(0));
    let still = asked.find("still").is_some() && find(&words, "work").is_some();
    let here = ["here", "for us", "with us"].iter().any(|place| find(&words, place).is_some());
    let about = Clause::of(&asked.part(1..asked.words.len()));
    if !begins || !still || !here || about.names.is_empty() {
        return None;
    }
    let query = format!("{} {LAST_DAY} {LEFT_US} {}", about.names.join(" "), LEAVING.join(" "));
    let found = scan(asked.reading, &query, &|sentence| {
        let told = leaves(&sentence.words);
        sentence.names(&about.names) && told.is_some_and(|told| sentence.is_so(&[told]))
    });
    let now = asked.reading.now();
    let is_over = |event: &&Event| event.time.end <= now;
    let (over, ahead): (Vec<&Event>, Vec<&Event>) = found.iter().rev().partition(is_over);
    match (over.is_empty(), ahead.is_empty()) {
        (false, _) => Some(quoting(asked.reading, "No, as far as I know.", &over)),
        // Notice was given, and the last day is still to come.
        (true, false) => Some(quoting(asked.reading, "Yes, as far as I know, but:", &ahead)),
        (true, true) => None,
    }
}

/// Where words say that somebody works there no longer; not "the last day of the fair", nor "left us a cake".
pub(in crate::answer) fn leaves(words: &[Word]) -> Option<Range<usize>> {
    let own = |at: &Range<usize>| {
        let before = at.start.checked_sub(1).map_or("", |before| words[before].token.word.as_str());
        listed("his her their", before) || before.ends_with("'s")
    };
    let ends = |at: &Range<usize>| at.end == words.len() || words[at.end - 1].token.stop;
    let told = LEAVING.iter().find_map(|phrase| find(words, phrase));
    told.or_else(|| find(words, LAST_DAY).filter(own)).or_else(|| find(words, LEFT_US).filter(ends))
}

/// "Is Ben still in hospital?", "Is the lift working again?", "Does the gate lock again?"
fn whether(asked: &Asked<'_>) -> Option<Reply> {
    let (being, doing) = (listed(BEING, asked.word(0)), listed(DOING, asked.word(0)));
    let (still, again) = (asked.find("still").is_some(), asked.find("again").is_some());
    if !(being || doing && again) {
        return None;
    }
    let words = 1..asked.words.len();
    let (state, over) = match again {
        true => (restored(asked, words, doing)?, true),
        false => (state(asked, words)?, false),
    };
    let spans = asked.times(0..asked.words.len());
    // Where somebody is, percepts and journeys tell as well.
    if *state.pair == STAY && !still && spans.is_empty() {
        return None;
    }
    let now = asked.reading.now();
    let at = hull(&spans).unwrap_or(Span::new(now, after(now)));
    let (periods, loose) = state.periods(asked.reading);
    let begun = |period: &&Period| period.begin.time.start < at.end;
    let (so, events): (bool, Vec<&Event>) =
        if let Some(period) = periods.iter().rev().find(|period| period.touches(at)) {
            (true, vec![&period.begin])
        } else if let Some(period) = periods.iter().rev().find(begun) {
            if period.begin.over && period.end.is_none() {
                let lead = "I don't know of that time";
                return Some(unsettled(asked.reading, lead, &[&period.begin]));
            }
            (false, period.end.iter().chain([&period.begin]).collect())
        } else {
            (false, vec![loose.iter().rev().find(|end| end.time.start < at.end)?])
        };
    let lead = if so != over { "Yes" } else { "No" };
    Some(quoting(asked.reading, &format!("{lead}, as far as I know."), &events))
}

fn after(at: Timestamp) -> Timestamp {
    Timestamp::from_nanos(at.as_nanos().saturating_add(1))
}

/// The state of which it is asked whether it is over.
fn restored(asked: &Asked<'_>, words: Range<usize>, doing: bool) -> Option<State> {
    let part = asked.part(words);
    if let Some((pair, at)) = told_in(&taken_apart(&part), true) {
        let about = Clause::of(&without(&part, &at));
        let state = State { pair, names: about.names, words: about.words };
        return state.is_of_something().then_some(state);
    }
    // "Does the gate lock again?"
    let mut about = Clause::of(&part);
    let verb = about.words.pop().filter(|_| doing);
    let fits = verb.is_some() && about.names.is_empty() && !about.words.is_empty();
    fits.then_some(State { pair: &BROKEN, names: Vec::new(), words: about.words })
}

/// "Was Ben already back when …", "Was Ben on holiday when …": whether it was so at those events.
pub(super) fn was_so_then(asked: &Asked<'_>, one: Range<usize>, then: &[Event]) -> Option<Reply> {
    let other = then.first()?;
    let (yes, event) = match state(asked, one.clone()) {
        Some(state) => {
            let (periods, _) = state.periods(asked.reading);
            let at = |event: &Event| {
                let Span { start, end } = event.time;
                Span::new(start, end.max(after(start)))
            };
            let during = |event: &Event| periods.iter().any(|period| period.touches(at(event)));
            let yes = during(other);
            if then.iter().any(|event| during(event) != yes) {
                return None;
            }
            let told = |period: &&Period| period.touches(at(other)) == yes;
            (yes, periods.iter().find(told).map(|period| period.begin.clone())?)
        }
        None => {
            let clause = Clause::of(&asked.part(one));
            if !clause.is_telling() || is_seen(asked.reading, &clause) {
                return None;
            }
            let ones = happened(asked.reading, &clause);
            (side(&ones, then)? == Side::Before, ones.first()?.clone())
        }
    };
    let lead = if yes { "Yes" } else { "No" };
    let lead = format!("{lead}, as far as I know.");
    Some(quoting(asked.reading, &lead, &[&event, other]))
}

#[cfg(test)]
mod tests {
    use super::super::clause::words_of;
    use super::leaves;

    #[test]
    fn who_works_there_no_longer_is_told_as_such() {
        for text in [
            "Hugo has given notice.",
            "Hugo gave in his notice.",
            "Hugo's last day is Friday.",
            "Hugo left us in May, on his last day we had cake.",
            "In May Hugo left us.",
        ] {
            assert!(leaves(&words_of(text)).is_some(), "{text}");
        }
        for text in [
            "Hugo put up a notice.",
            "Hugo was ill on the last day of the fair.",
            "Hugo left us a cake.",
        ] {
            assert!(leaves(&words_of(text)).is_none(), "{text}");
        }
    }
}
