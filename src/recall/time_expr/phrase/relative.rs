//! Times told against now or against the recording: "ten minutes ago", "in the last hour", "in the
//! first minute".

use super::{Frame, closed, event, resolve};
use crate::recall::lexer::Token;
use crate::recall::time_expr::calendar::{back, days};
use crate::recall::time_expr::number::{Unit, length, number};
use crate::recall::time_expr::{Precision, When};
use crate::time::Span;

/// How far from its border "at the beginning" and "at the end" reach, seconds.
const BORDER_SECS: f64 = 15.0;

pub(super) fn relative(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(When, usize)> {
    this_time(tokens, at, frame)
        .or_else(|| now_words(tokens, at, frame))
        .or_else(|| recording(tokens, at))
        .or_else(|| last_stretch(tokens, at, frame))
        .or_else(|| ago(tokens, at, frame))
}

/// "this time yesterday", "at the same time last year": the clock's time on that day, or the days around it.
fn this_time(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(When, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let mut skip = usize::from(matches!(word(0)?, "at" | "around" | "about" | "by"));
    skip += usize::from(word(skip) == Some("the"));
    if !matches!(word(skip), Some("this" | "same")) || word(skip + 1) != Some("time") {
        return None;
    }
    let then = at + skip + 2;
    let then = then + usize::from(tokens.get(then).is_some_and(|t| t.word == "on"));
    if let Some((date, taken)) = back(tokens, then, frame.today.date) {
        let days = frame.today.date.until(date).ok()?.get_days().abs();
        // A year or a month back is not told to the hour.
        let around = match days {
            ..28 => None,
            28..300 => Some(3),
            _ => Some(7),
        };
        let (span, precision) = match around {
            Some(around) => (resolve::around(date, around, frame)?, Precision::Week),
            None => (resolve::clock_on(date, frame)?, Precision::Hour),
        };
        return Some((When::Span { span, precision }, then - at + taken));
    }
    let (found, taken) = days(tokens, then, frame.today)?;
    let single = found.is_one() && found.part.is_none() && found.dated;
    let span = resolve::clock_on(found.first, frame).filter(|_| single)?;
    Some((When::Span { span, precision: Precision::Hour }, then - at + taken))
}

fn now_words(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(When, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    match (word(0)?, word(1), word(2)) {
        ("right" | "just", Some("now"), _) if word(0) == Some("right") => Some((When::Now, 2)),
        ("now", ..) if at == 0 || tokens[at - 1].word != "by" => Some((When::Now, 1)),
        ("at", Some("the"), Some("moment")) => {
            let of_a_deed = word(3) == Some("when") || event::deed(tokens, at + 3).is_some();
            (!of_a_deed).then_some((When::Now, 3))
        }
        ("at", Some("this"), Some("moment" | "time" | "point")) => Some((When::Now, 3)),
        ("at", Some("present"), _) => Some((When::Now, 2)),
        ("currently" | "presently", ..) => Some((When::Now, 1)),
        ("just", Some("now"), _) => Some((last_secs(60.0, Precision::Minute, frame), 2)),
        ("a", Some("moment" | "minute"), Some("ago")) if word(1) == Some("moment") => {
            Some((last_secs(60.0, Precision::Minute, frame), 3))
        }
        ("recently" | "lately", ..) => Some((last_secs(86_400.0, Precision::Day, frame), 1)),
        _ => None,
    }
}

fn last_secs(secs: f64, precision: Precision, frame: &Frame<'_>) -> When {
    When::Span { span: closed(frame.now.plus_secs(-secs), frame.now), precision }
}

/// "in the last hour", "over the past two days", "the last 20 seconds [of the recording]".
fn last_stretch(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(When, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let mut skip = usize::from(matches!(word(0)?, "in" | "within" | "during" | "over" | "for"));
    let placed = skip == 1;
    skip += usize::from(matches!(word(skip), Some("the" | "these")));
    if !matches!(word(skip), Some("last" | "past")) {
        return None;
    }
    let told = length(tokens, at + skip + 1, true)?;
    // "last week", "last month", "last year" are calendar spans; "last minute" and "the past week" are not.
    let counted = told.taken > 1 || told.amount > 1.0;
    if !counted
        && matches!(told.unit, Unit::Week | Unit::Month | Unit::Year | Unit::Day)
        && !(placed && skip == 2)
        && word(skip) == Some("last")
    {
        return None;
    }
    let taken = skip + 1 + told.taken;
    if is_of_another(tokens, at + taken) {
        return None;
    }
    if let Some(more) = of_the_recording(tokens, at + taken) {
        return Some((
            When::Recording { from_end: true, secs: told.secs(), at: false },
            taken + more,
        ));
    }
    let precision = precision(told.unit);
    let days = told.whole().and_then(|amount| resolve::back(frame, told.unit.shift(amount)?));
    let when = match days {
        Some(start) => When::Span { span: closed(start, frame.now), precision },
        None => last_secs(told.secs(), precision, frame),
    };
    Some((when, taken))
}

fn precision(unit: Unit) -> Precision {
    match unit {
        Unit::Second => Precision::Second,
        Unit::Minute => Precision::Minute,
        Unit::Hour => Precision::Hour,
        Unit::Day => Precision::Day,
        Unit::Week => Precision::Week,
        Unit::Month => Precision::Month,
        Unit::Year => Precision::Year,
    }
}

/// "ten minutes ago", "half an hour ago"; days and longer are the calendar's.
fn ago(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(When, usize)> {
    let about =
        usize::from(matches!(tokens.get(at)?.word.as_str(), "about" | "around" | "roughly"));
    let told = length(tokens, at + about, false).filter(|told| told.unit.secs() < 86_400.0)?;
    if tokens.get(at + about + told.taken).is_none_or(|t| t.word != "ago") {
        return None;
    }
    let (least, most) = told.reach();
    let slack = if about == 1 { (most - least) / 2.0 } else { 0.0 };
    let (from, to) = (frame.now.plus_secs(-most - slack), frame.now.plus_secs(slack - least));
    let span = Span::new(from, to.min(frame.now));
    Some((When::Span { span, precision: precision(told.unit) }, about + told.taken + 1))
}

/// "of the recording", "of the video".
fn of_the_recording(tokens: &[Token], at: usize) -> Option<usize> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let of = matches!(word(0)?, "of" | "in");
    let the = matches!(word(1)?, "the" | "this");
    (of && the && word(2).is_some_and(is_recording)).then_some(3)
}

/// "of March", "of the meeting": the border or the stretch is not the recording's.
fn is_of_another(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|t| t.word == "of") && of_the_recording(tokens, at).is_none()
}

fn is_recording(word: &str) -> bool {
    matches!(word, "recording" | "video" | "session" | "film" | "movie" | "clip" | "footage")
}

/// Positions in the recording.
fn recording(tokens: &[Token], at: usize) -> Option<(When, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let spot = |from_end: bool, secs: f64, at: bool| When::Recording { from_end, secs, at };
    let with_tail = |taken: usize| taken + of_the_recording(tokens, at + taken).unwrap_or(0);
    let first = word(0)?;
    let the = |i: usize| word(i) == Some("the");
    // "at the beginning", "in the end of the video"
    if matches!(first, "at" | "in" | "near") && (the(1) || matches!(word(1), Some("very"))) {
        let very = usize::from(word(2) == Some("very"));
        match word(2 + very) {
            _ if is_of_another(tokens, at + 3 + very) => {}
            Some("beginning" | "start") => {
                return Some((spot(false, BORDER_SECS, false), with_tail(3 + very)));
            }
            Some("end") => return Some((spot(true, BORDER_SECS, false), with_tail(3 + very))),
            _ => {}
        }
    }
    // "in the first minute"
    let skip = usize::from(matches!(first, "in" | "within" | "during" | "for" | "over"));
    if the(skip) && word(skip + 1) == Some("first") {
        let told = length(tokens, at + skip + 2, true)
            .filter(|told| !is_of_another(tokens, at + skip + 2 + told.taken))?;
        return (told.secs() < 86_400.0 || skip == 1)
            .then(|| (spot(false, told.secs(), false), with_tail(skip + 2 + told.taken)));
    }
    // "at second 42", "at minute 2"
    if matches!(first, "at" | "in")
        && let Some(unit) = word(1).and_then(Unit::from_word).filter(|_| word(1) != Some("s"))
        && let Some((n, taken)) = number(tokens, at + 2)
    {
        return Some((spot(false, n * unit.secs(), true), 2 + taken));
    }
    // "30 seconds into the recording", "after 30 seconds", "30 seconds after the start", "… before the end"
    let skip = usize::from(matches!(first, "at" | "after" | "about" | "around"));
    let told = length(tokens, at + skip, false).filter(|l| l.unit.secs() < 86_400.0)?;
    let then = at + skip + told.taken;
    let tail = |i: usize| tokens.get(then + i).map(|t| t.word.as_str());
    match (tail(0), tail(1), tail(2)) {
        (Some("into" | "in"), Some("the"), Some(noun)) if is_recording(noun) => {
            Some((spot(false, told.secs(), true), skip + told.taken + 3))
        }
        (Some("into"), Some("it"), _) => {
            Some((spot(false, told.secs(), true), skip + told.taken + 2))
        }
        (Some("after" | "from"), Some("the"), Some("start" | "beginning")) => {
            let tail = of_the_recording(tokens, then + 3).unwrap_or(0);
            Some((spot(false, told.secs(), true), skip + told.taken + 3 + tail))
        }
        (Some("before" | "from"), Some("the"), Some("end")) => {
            let tail = of_the_recording(tokens, then + 3).unwrap_or(0);
            Some((spot(true, told.secs(), true), skip + told.taken + 3 + tail))
        }
        _ if first == "after" => Some((spot(false, told.secs(), true), skip + told.taken)),
        _ => None,
    }
}
