//! "When …", "how long ago …".

use crate::ids::EntityId;
use crate::time::Span;

use super::document::Evidence;
use super::matching;
use super::question::{Act, Order, Parsed};
use super::reading::{Appearance, GATHERED, Reading, Spoken, stretches};
use super::reply::Reply;
use super::who::{told, unrecorded};
use super::wording::list;

/// Times told in one sentence, at most.
const TOLD: usize = 6;

/// An occurrence with what it rests on.
struct Occurrence {
    span: Span,
    basis: Basis,
    words: Option<String>,
    who: Option<EntityId>,
}

/// What an occurrence rests on; becomes evidence only when it is told.
enum Basis {
    Sight(Appearance),
    Speech(Spoken, f32),
}

impl Occurrence {
    fn evidence(&self, reading: &Reading) -> Evidence {
        match &self.basis {
            Basis::Sight(run) => reading.sight_evidence(run),
            Basis::Speech(spoken, score) => {
                Evidence { end: self.span.end, ..reading.speech_evidence(spoken, *score) }
            }
        }
    }
}

/// When it happened.
pub(super) fn when(
    reading: &Reading,
    parsed: &Parsed,
    act: Act,
    order: Order,
    ago: bool,
    who: Option<EntityId>,
) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let topic = !parsed.topic.is_empty() || !parsed.quotes.is_empty();
    let then = told(reading);
    if who.is_none() && parsed.content.iter().any(|word| word == "empty") {
        return empty(reading);
    }
    let order = match (act, order) {
        // Whoever left, left at the end; whoever came, came at the beginning.
        (Act::Left, Order::Any) => Order::Last,
        (Act::Arrived, Order::Any) => Order::First,
        (_, order) => order,
    };
    let mut found: Vec<Occurrence> = match act {
        Act::Spoke if topic => {
            let mut hits = matching::utterances(reading, who, spans, &parsed.topic, &parsed.quotes);
            // The best matches only; then by time.
            let best = hits.first().map_or(0.0, |(_, score)| *score);
            hits.retain(|(_, score)| *score >= best - 0.15);
            hits.sort_by_key(|(spoken, _)| spoken.span);
            hits.into_iter().map(|(spoken, score)| said(spoken, score)).collect()
        }
        Act::Spoke => spoken(reading, who, order),
        Act::Seen | Act::Arrived | Act::Left => seen(reading, who, act, order),
        Act::Present | Act::Other => {
            let runs = seen(reading, who, Act::Seen, order);
            if runs.is_empty() { spoken(reading, who, order) } else { runs }
        }
    };
    if found.is_empty() {
        return nothing(reading, act, topic, who, &then);
    }
    found.sort_by_key(|o| o.span);
    let last_of = |o: &Occurrence| {
        matches!(act, Act::Left) || order == Order::Last && o.words.is_none() && act != Act::Arrived
    };
    let picked = match order {
        Order::First => found.first(),
        Order::Second => found.get(1),
        Order::Third => found.get(2),
        Order::Last => found.iter().max_by_key(|o| (o.span.end, o.span.start)),
        Order::Most => found.iter().max_by(|a, b| a.span.secs().total_cmp(&b.span.secs())),
        Order::Least => found.iter().min_by(|a, b| a.span.secs().total_cmp(&b.span.secs())),
        Order::Any if found.len() == 1 => found.first(),
        Order::Any => None,
    };
    if let Some(one) = picked {
        let subject = one.who.map_or_else(|| "somebody".to_owned(), |id| reading.name(id));
        let at = if last_of(one) { one.span.end } else { one.span.start };
        let distance = if ago { format!(" ({})", reading.wording.ago(at)) } else { String::new() };
        let moment = reading.wording.at(at);
        let nth = match order {
            Order::First => "first ",
            Order::Last => "last ",
            Order::Second => "a second time ",
            Order::Third => "a third time ",
            _ => "",
        };
        let text = match (act, &one.words) {
            (_, Some(words)) => {
                format!("{subject} {nth}spoke {moment}{distance}: \u{201c}{words}\u{201d}")
            }
            (Act::Spoke, None) => format!("{subject} {nth}spoke {moment}{distance}."),
            (Act::Left, None) => {
                format!("{subject} left {moment}{distance}; I did not see {subject} after that.")
            }
            (Act::Arrived, None) => format!("{subject} came {moment}{distance}."),
            _ if last_of(one) => format!("I last saw {subject} {moment}{distance}."),
            _ if nth.is_empty() => {
                format!("I saw {subject} {}{distance}.", reading.wording.when(one.span))
            }
            _ => format!("I {nth}saw {subject} {moment}{distance}."),
        };
        let ids: Vec<EntityId> = one.who.into_iter().collect();
        return Reply::known(super::wording::sentence(&text), ids, vec![one.evidence(reading)]);
    }
    let more = found.len().saturating_sub(TOLD);
    let mut times: Vec<String> =
        found.iter().take(TOLD).map(|o| reading.wording.when(o.span)).collect();
    if more > 0 {
        times.push(format!("{more} more times"));
    }
    let subject = who.map_or_else(|| "somebody".to_owned(), |id| reading.name(id));
    let text = match act {
        Act::Spoke if topic => {
            let quote = found[0].words.clone().unwrap_or_default();
            format!("That was said {}, first: \u{201c}{quote}\u{201d}", list(&times))
        }
        Act::Spoke => format!("{subject} spoke {}.", list(&times)),
        _ => format!("I saw {subject} {}.", list(&times)),
    };
    let mut ids: Vec<EntityId> = Vec::new();
    for id in found.iter().filter_map(|o| o.who) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let evidence = found.iter().take(GATHERED).map(|o| o.evidence(reading)).collect();
    Reply::known(super::wording::sentence(&text), ids, evidence)
}

/// Of any time, the first or the last one alone where no other is asked for.
fn seen(reading: &Reading, who: Option<EntityId>, act: Act, order: Order) -> Vec<Occurrence> {
    let spans = reading.spans.as_deref();
    let runs: Vec<Appearance> = match (spans, order) {
        (None, Order::First) => reading.first_appearance(who, |span| span).into_iter().collect(),
        (None, Order::Last) => {
            reading.last_appearance(who, |span| (span.end, span.start)).into_iter().collect()
        }
        // Coming and going are told by the whole appearance, not by the part inside the time.
        _ => reading.whole_appearances(who, spans),
    };
    runs.into_iter()
        .filter(|run| {
            spans.is_none_or(|spans| {
                spans.iter().any(|span| match act {
                    Act::Arrived => span.contains(run.span.start),
                    Act::Left => span.contains(run.span.end),
                    _ => super::reading::touch(*span, run.span),
                })
            })
        })
        .map(|run| Occurrence {
            span: run.span,
            words: None,
            who: Some(run.who),
            basis: Basis::Sight(run),
        })
        .collect()
}

fn spoken(reading: &Reading, who: Option<EntityId>, order: Order) -> Vec<Occurrence> {
    let turns = match (reading.spans.as_deref(), order) {
        (None, Order::First) => reading.spoken_at_an_end(who, false),
        (None, Order::Last) => reading.spoken_at_an_end(who, true),
        (spans, _) => reading.spoken(who, spans),
    };
    let runs = stretches(&turns);
    runs.into_iter()
        .filter_map(|(id, span)| {
            let first = turns.iter().find(|s| s.who == id && s.span.start >= span.start)?;
            let basis = Basis::Speech(first.clone(), first.confidence);
            Some(Occurrence { span, basis, words: None, who: id })
        })
        .collect()
}

fn said(spoken: Spoken, score: f32) -> Occurrence {
    Occurrence {
        span: spoken.span,
        words: spoken.words.clone(),
        who: spoken.who,
        basis: Basis::Speech(spoken, score),
    }
}

fn nothing(reading: &Reading, act: Act, topic: bool, who: Option<EntityId>, then: &str) -> Reply {
    let name = who.map_or_else(|| "anybody".to_owned(), |id| reading.name(id));
    let about: Vec<EntityId> = who.into_iter().collect();
    if topic {
        return Reply::unknown(&format!("I don't know: I did not hear {name} say that{then}."))
            .about(&about);
    }
    let text = match act {
        Act::Spoke => format!("I have not heard {name} speak{then}."),
        Act::Left => format!("I did not see {name} leave{then}."),
        Act::Arrived => format!("I did not see {name} come{then}."),
        _ => match who.filter(|id| !reading.spoken(Some(*id), None).is_empty()) {
            Some(_) if then.is_empty() => format!("I have never seen {name}, only heard."),
            _ => format!("I did not see {name}{then}."),
        },
    };
    let evidence = who
        .filter(|_| matches!(act, Act::Seen | Act::Present | Act::Other))
        .map(|id| reading.spoken(Some(id), reading.spans.as_deref()))
        .unwrap_or_default();
    let evidence = evidence.iter().map(|s| reading.speech_evidence(s, s.confidence)).collect();
    Reply::known(text, about, evidence)
}

/// Times of a second and more in which nobody was in view though cameras looked.
pub(super) fn gaps(reading: &Reading) -> Vec<Span> {
    let session = reading.session();
    let scope =
        reading.spans.clone().or_else(|| session.map(|span| vec![span])).unwrap_or_default();
    let runs = reading.appearances(None, Some(&scope));
    let mut found = Vec::new();
    for wanted in &scope {
        let Some(inside) = reading.extent().and_then(|all| all.intersection(*wanted)) else {
            continue;
        };
        let mut from = inside.start;
        for run in &runs {
            for glimpse in &run.glimpses {
                if glimpse.span.start.secs_since(from) >= 1.0 && glimpse.span.start <= inside.end {
                    found.push(Span::new(from, glimpse.span.start));
                }
                from = from.max(glimpse.span.end);
            }
        }
        if inside.end.secs_since(from) >= 1.0 {
            found.push(Span::new(from, inside.end));
        }
    }
    found
}

fn empty(reading: &Reading) -> Reply {
    let found = gaps(reading);
    if found.is_empty() {
        return Reply::none(format!("Somebody was in view all the time{}.", told(reading)));
    }
    let times: Vec<String> =
        found.iter().take(TOLD).map(|span| reading.wording.stretch(*span)).collect();
    Reply::none(format!("I saw nobody {}.", list(&times)))
}
