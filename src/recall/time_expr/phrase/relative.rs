//! Times told against now or against the recording: "ten minutes ago", "in the last hour", "in the
//! first minute".

use super::{Bound, Frame, closed, event, resolve};
use crate::recall::lexer::Token;
use crate::recall::time_expr::calendar::{back, days};
use crate::recall::time_expr::number::{Length, Unit, length, number};
use crate::recall::time_expr::{Precision, When};
use crate::time::{Span, Timestamp};

/// How far from its border "at the beginning" and "at the end" reach, seconds.
const BORDER_SECS: f64 = 15.0;

pub(super) fn relative(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(When, usize)> {
    this_time(tokens, at, frame)
        .or_else(|| now_words(tokens, at, frame))
        .or_else(|| recording(tokens, at))
        .or_else(|| last_stretch(tokens, at, frame))
        .or_else(|| between_ago(tokens, at, frame))
        .or_else(|| beyond(tokens, at, frame))
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
    let span = closed(before_now(told, frame), frame.now);
    Some((When::Span { span, precision: precision(told.unit) }, taken))
}

/// So long before now; days and longer by the calendar.
fn before_now(told: Length, frame: &Frame<'_>) -> Timestamp {
    let days = told.whole().and_then(|amount| resolve::back(frame, told.unit.shift(amount)?));
    days.unwrap_or_else(|| frame.now.plus_secs(-told.secs()))
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
pub(super) fn ago(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(When, usize)> {
    let (about, told, taken) = length_ago(tokens, at)?;
    if told.unit.secs() >= Unit::Day.secs() {
        return None;
    }
    let (least, most) = told.reach();
    let slack = if about { (most - least) / 2.0 } else { 0.0 };
    let (from, to) = (frame.now.plus_secs(-most - slack), frame.now.plus_secs(slack - least));
    let span = Span::new(from, to.min(frame.now));
    Some((When::Span { span, precision: precision(told.unit) }, taken))
}

/// "[about] ten minutes ago": whether it is told loosely, how long, and the tokens taken.
fn length_ago(tokens: &[Token], at: usize) -> Option<(bool, Length, usize)> {
    let about = matches!(tokens.get(at)?.word.as_str(), "about" | "around" | "roughly");
    let skip = usize::from(about);
    let told = length(tokens, at + skip, false)?;
    let end = skip + told.taken;
    let is_ago = tokens.get(at + end).is_some_and(|t| t.word == "ago");
    is_ago.then_some((about, told, end + 1))
}

/// One end of a range: "now", "two hours ago".
pub(super) fn moment(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(Timestamp, usize)> {
    if tokens.get(at).filter(|t| !t.quoted)?.word == "now" {
        return Some((frame.now, 1));
    }
    let (_, told, taken) = length_ago(tokens, at)?;
    Some((before_now(told, frame), taken))
}

/// "between one and two hours ago".
fn between_ago(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(When, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    if !matches!(word(0)?, "between" | "from") {
        return None;
    }
    let (amount, taken) = number(tokens, at + 1)?;
    let joint = 1 + taken;
    if !matches!(word(joint), Some("and" | "to")) {
        return None;
    }
    let (_, told, more) = length_ago(tokens, at + joint + 1)?;
    // The first amount is counted in the same unit, which stands alone before "ago".
    let each = length(tokens, at + joint + more - 1, true).filter(|_| told.taken > 1)?;
    let other = before_now(Length { amount: amount * each.amount, ..each }, frame);
    let told_last = before_now(told, frame);
    let span = Span::new(other.min(told_last), other.max(told_last));
    Some((When::Span { span, precision: precision(told.unit) }, joint + 1 + more))
}

/// "more than an hour ago", "at least two days ago": before that; "within an hour ago": from then to now.
fn beyond(tokens: &[Token], at: usize, frame: &Frame<'_>) -> Option<(When, usize)> {
    let (bound, skip) = limit(tokens, at)?;
    let (_, told, taken) = length_ago(tokens, at + skip)?;
    let then = before_now(told, frame);
    let span = bound.of(Span::new(then, then), frame)?;
    Some((When::Span { span, precision: Precision::Exact }, skip + taken))
}

/// On which side of "… ago" the time lies, and the tokens taken; "just over an hour ago" is about an hour ago.
fn limit(tokens: &[Token], at: usize) -> Option<(Bound, usize)> {
    let word = |i: usize| tokens.get(i).map(|t| t.word.as_str());
    let nearly = |w: &str| {
        matches!(w, "just" | "little" | "bit" | "slightly" | "barely" | "only" | "shortly")
    };
    if at.checked_sub(1).and_then(word).is_some_and(nearly) {
        return None;
    }
    let not = usize::from(matches!(word(at)?, "no" | "not"));
    let at = at + not;
    let (earlier, taken) = match (word(at)?, word(at + 1)) {
        ("more" | "longer" | "earlier", Some("than")) | ("at", Some("least")) => (true, 2),
        ("less" | "fewer" | "later", Some("than")) | ("at", Some("most")) => (false, 2),
        ("over", _) => (true, 1),
        ("within" | "under", _) => (false, 1),
        _ => return None,
    };
    let bound = if earlier == (not == 0) { Bound::Before } else { Bound::Since };
    Some((bound, not + taken))
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
        (Some("after" | "from"), Some("the"), Some("start" | "beginning"))
            if !is_of_another(tokens, then + 3) =>
        {
            let tail = of_the_recording(tokens, then + 3).unwrap_or(0);
            Some((spot(false, told.secs(), true), skip + told.taken + 3 + tail))
        }
        (Some("before" | "from"), Some("the"), Some("end")) if !is_of_another(tokens, then + 3) => {
            let tail = of_the_recording(tokens, then + 3).unwrap_or(0);
            Some((spot(true, told.secs(), true), skip + told.taken + 3 + tail))
        }
        _ if first == "after" => Some((spot(false, told.secs(), true), skip + told.taken)),
        _ => None,
    }
}
