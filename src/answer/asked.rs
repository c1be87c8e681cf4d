//! The times a question means, as spans of event time: anchors ("before Ava left", "in the first minute")
//! are looked up in the memory.

use crate::ids::EntityId;
use crate::recall::time_expr::{Happening, Relation, TimeExpr, When};
use crate::time::{Span, Timestamp};

use super::matching;
use super::persons::Names;
use super::question::Subject;
use super::reading::{NOW_SECS, Reading, hull, stretches};
use super::reply::Reply;

/// How far "when Ava came in" reaches to both sides, seconds.
const EVENT_SECS: f64 = 5.0;
/// An instant inside a recording, seconds.
const INSTANT_SECS: f64 = 1.0;

/// All spans that the expressions mean together; `None` when there is no time told.
///
/// # Errors
/// The reply that says which anchor the memory does not know.
pub(super) fn spans(
    reading: &Reading,
    names: &Names<'_>,
    times: &[TimeExpr],
) -> Result<Option<Vec<Span>>, Reply> {
    let mut all: Option<Vec<Span>> = None;
    for expr in times {
        let found = one(reading, names, expr)?;
        all = Some(match all {
            None => found,
            Some(old) => {
                let both: Vec<Span> = old
                    .iter()
                    .flat_map(|a| found.iter().filter_map(|b| a.intersection(*b)))
                    .collect();
                if both.is_empty() { found } else { both }
            }
        });
    }
    Ok(all)
}

/// Those in whose presence the question is set ("when Ava was there"): they are not among the answer.
pub(super) fn hosts(reading: &Reading, names: &Names<'_>, times: &[TimeExpr]) -> Vec<EntityId> {
    let host = |expr: &TimeExpr| match &expr.when {
        When::Event { relation: Relation::During, happening: Happening::Present, who, .. } => {
            names.person(reading, names.subjects_in(who).first()?).ok()
        }
        _ => None,
    };
    times.iter().filter_map(host).collect()
}

/// The spans of one expression.
pub(super) fn one(
    reading: &Reading,
    names: &Names<'_>,
    expr: &TimeExpr,
) -> Result<Vec<Span>, Reply> {
    match &expr.when {
        When::Span { span, .. } => Ok(vec![*span]),
        When::Now => {
            let now = reading.now();
            Ok(vec![Span::new(now.plus_secs(-NOW_SECS), after(now))])
        }
        When::Recording { from_end, secs, at } => {
            let Some(session) = reading.session() else {
                return Err(Reply::unknown("I have no recording."));
            };
            let (start, end) = (session.start, session.end);
            let span = match (*from_end, *at) {
                (false, false) => Span::new(start, start.plus_secs(*secs)),
                (true, false) => Span::new(end.plus_secs(-secs), end),
                (false, true) => around(start.plus_secs(*secs)),
                (true, true) => around(end.plus_secs(-secs)),
            };
            Ok(vec![span])
        }
        When::Event { relation, happening, who, what } => {
            event(reading, names, *relation, *happening, who, what)
        }
    }
}

fn after(at: Timestamp) -> Timestamp {
    Timestamp::from_nanos(at.as_nanos().saturating_add(1))
}

fn around(at: Timestamp) -> Span {
    Span::new(at, at.plus_secs(INSTANT_SECS))
}

fn event(
    reading: &Reading,
    names: &Names<'_>,
    relation: Relation,
    happening: Happening,
    who: &str,
    what: &str,
) -> Result<Vec<Span>, Reply> {
    let subjects = names.subjects_in(who);
    let person = match subjects.first() {
        None if matches!(who, "somebody" | "someone" | "anybody" | "anyone") => None,
        Some(Subject::Anybody) => None,
        None => return Err(Reply::unknown(&format!("I don't know who \u{201c}{who}\u{201d} is."))),
        Some(subject) => Some(names.person(reading, subject)?),
    };
    let name = person.map_or_else(|| "anybody".to_owned(), |id| reading.name(id));
    let latest_run = || {
        let runs = reading.appearances(person, None);
        runs.last().map(|run| run.span)
    };
    let spans: Vec<Span> = match happening {
        Happening::Left => {
            let end = latest_run().map(|span| span.end);
            end.map(|end| Span::new(end, end)).into_iter().collect()
        }
        Happening::Arrived => {
            let session = reading.session();
            let runs = reading.appearances(person, session.as_ref().map(std::slice::from_ref));
            runs.first().map(|run| Span::new(run.span.start, run.span.start)).into_iter().collect()
        }
        Happening::Present => {
            reading.appearances(person, None).into_iter().map(|run| run.span).collect()
        }
        Happening::Spoke => {
            let topic: Vec<String> = content(what);
            if topic.is_empty() {
                stretches(&reading.spoken(person, None)).into_iter().map(|(_, span)| span).collect()
            } else {
                let found = matching::utterances(reading, person, None, &topic, &[]);
                found.into_iter().take(1).map(|(spoken, _)| spoken.span).collect()
            }
        }
    };
    let Some(hull) = hull(&spans) else {
        let verb = match happening {
            Happening::Left => "leave",
            Happening::Arrived => "come",
            Happening::Present => "here",
            Happening::Spoke => "say that",
        };
        return Err(Reply::unknown(&format!(
            "I don't know of {name} being seen or heard to {verb}."
        )));
    };
    let within = reading.extent().unwrap_or(hull);
    Ok(match relation {
        Relation::Before => vec![Span::new(within.start.min(hull.start), hull.start)],
        Relation::After => vec![Span::new(hull.end, after(reading.now().max(hull.end)))],
        Relation::During => match happening {
            Happening::Left | Happening::Arrived => {
                vec![Span::new(hull.start.plus_secs(-EVENT_SECS), hull.start.plus_secs(EVENT_SECS))]
            }
            Happening::Present | Happening::Spoke => spans,
        },
    })
}

/// Content words of a clause.
fn content(text: &str) -> Vec<String> {
    text.split(' ')
        .filter(|word| !word.is_empty() && !super::question::is_grammar(word))
        .map(str::to_owned)
        .collect()
}
