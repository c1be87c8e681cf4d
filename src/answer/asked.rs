//! The times a question means, as spans of event time: anchors ("before Ava left", "in the first minute")
//! are looked up in the memory.

use crate::ids::EntityId;
use crate::memory::model::MemoryKind;
use crate::memory::telling_stems;
use crate::recall::time_expr::{Apart, Happening, Relation, TimeExpr, When};
use crate::recall::{Query, recall};
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
/// Memories looked at for what a clause tells.
const LOOKED_AT: usize = 20;
/// Share of a clause's words that a memory of it holds.
const TOLD: f32 = 0.6;

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
    // What names no time there is bounds nothing; `unread` names it.
    for expr in times.iter().filter(|expr| !expr.is_never()) {
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
        When::Spans { spans, .. } => Ok(spans.clone()),
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
        When::Event { relation, happening, who, what, apart } => {
            let spans = match happening {
                Happening::Told => vec![told(reading, names, what)?],
                happening => event(reading, names, *happening, who, what)?,
            };
            Ok(beside(reading, *relation, *happening, *apart, spans))
        }
    }
}

fn after(at: Timestamp) -> Timestamp {
    Timestamp::from_nanos(at.as_nanos().saturating_add(1))
}

fn around(at: Timestamp) -> Span {
    Span::new(at, at.plus_secs(INSTANT_SECS))
}

/// The times that lie so against what happened.
fn beside(
    reading: &Reading,
    relation: Relation,
    happening: Happening,
    apart: Option<Apart>,
    spans: Vec<Span>,
) -> Vec<Span> {
    let Some(hull) = hull(&spans) else { return spans };
    if let Some(apart) = apart {
        return vec![apart.beside(relation, hull)];
    }
    let within = reading.extent().unwrap_or(hull);
    match relation {
        Relation::Before => vec![Span::new(within.start.min(hull.start), hull.start)],
        Relation::After => {
            // What is told of a moment does not come after itself.
            let start = if happening == Happening::Told { after(hull.end) } else { hull.end };
            vec![Span::new(start, after(reading.now().max(hull.end)))]
        }
        Relation::During => match happening {
            Happening::Left | Happening::Arrived => {
                vec![Span::new(hull.start.plus_secs(-EVENT_SECS), hull.start.plus_secs(EVENT_SECS))]
            }
            Happening::Present | Happening::Spoke | Happening::Told => spans,
        },
    }
}

/// When that was of which a clause tells: the memory up to now that holds most of its words and names whom it names, the
/// latest of several.
fn told(reading: &Reading, names: &Names<'_>, clause: &str) -> Result<Span, Reply> {
    let named = |subject: &Subject| match subject {
        Subject::Known { id, .. } => Some(reading.view.resolve(*id)),
        _ => None,
    };
    let who: Vec<EntityId> = names.subjects_in(clause).iter().filter_map(named).collect();
    let words = reading.view.telling(clause, &who).into_iter();
    let words: Vec<String> = words.map(|(word, _)| word).collect();
    let query =
        Query { text: clause.to_owned(), entities: who.clone(), k: LOOKED_AT, ..Query::default() };
    recall(&reading.view, &query)
        .into_iter()
        .map(|hit| hit.memory)
        .filter_map(|row| {
            let happened =
                matches!(row.kind, MemoryKind::Utterance | MemoryKind::Episodic | MemoryKind::Note);
            let share = matching::share(&words, &reading.rendered(&row.text));
            let fits = happened
                && share >= TOLD
                && row.span.start <= reading.now()
                && who
                    .iter()
                    .all(|id| row.entities.iter().any(|e| reading.view.resolve(*e) == *id));
            fits.then_some((share, row.span))
        })
        .max_by(|(a, x), (b, y)| a.total_cmp(b).then(x.cmp(y)))
        .map(|(_, span)| span)
        .ok_or_else(|| {
            Reply::unknown(&format!("I don't know when that was: \u{201c}{clause}\u{201d}."))
        })
}

/// The reply to a question with a time in it that nothing can be made of.
pub(super) fn not_understood(words: &str) -> Reply {
    Reply::unknown(&format!("I did not understand when that was: \u{201c}{words}\u{201d}."))
}

/// When somebody came, went, was there or spoke.
fn event(
    reading: &Reading,
    names: &Names<'_>,
    happening: Happening,
    who: &str,
    what: &str,
) -> Result<Vec<Span>, Reply> {
    let subjects = names.subjects_in(who);
    let person = match subjects.first() {
        None if matches!(who, "somebody" | "someone" | "anybody" | "anyone") => None,
        Some(Subject::Anybody) => None,
        None => {
            // "When Class 3b came": something that notes tell of, and nobody.
            let named = telling_stems(who).len() > 1;
            let span = named.then(|| told(reading, names, who).ok()).flatten();
            return span.map(|span| vec![span]).ok_or_else(|| {
                Reply::unknown(&format!("I don't know who \u{201c}{who}\u{201d} is."))
            });
        }
        Some(subject) => Some(names.person(reading, subject)?),
    };
    let name = person.map_or_else(|| "anybody".to_owned(), |id| reading.name(id));
    let latest_run = || {
        // Of several who came at once, whoever has the greatest id.
        let run = reading.last_appearance(person, |span| span.start)?;
        Some(run.span)
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
        Happening::Told => Vec::new(),
    };
    if spans.is_empty() {
        let verb = match happening {
            Happening::Left => "leave",
            Happening::Arrived => "come",
            Happening::Present => "here",
            Happening::Spoke => "say that",
            Happening::Told => "do that",
        };
        return Err(Reply::unknown(&format!(
            "I don't know of {name} being seen or heard to {verb}."
        )));
    }
    Ok(spans)
}

/// Content words of a clause.
fn content(text: &str) -> Vec<String> {
    text.split(' ')
        .filter(|word| !word.is_empty() && !super::question::is_grammar(word))
        .map(str::to_owned)
        .collect()
}
