//! "How often", "how long", "how many people".
//!
//! Seen: an appearance ends when the person is out of view for 3 s. Spoken: a stretch of speech ends at a
//! pause of 1 s. Seconds in view count once, however many cameras saw them.

use crate::ids::EntityId;

use super::matching;
use super::question::{Act, Order, Parsed};
use super::reading::{GATHERED, Reading, seen_secs, spoken_secs, stretches};
use super::reply::Reply;
use super::who::{self, told, unrecorded};
use super::wording::{length, list, sentence, times};

/// "How often was Ava seen?"
pub(super) fn often(reading: &Reading, parsed: &Parsed, act: Act, who: Option<EntityId>) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let then = told(reading);
    let name = who.map_or_else(|| "somebody".to_owned(), |id| reading.name(id));
    let about: Vec<EntityId> = who.into_iter().collect();
    let topic = !parsed.topic.is_empty() || !parsed.quotes.is_empty();
    if act == Act::Spoke && topic {
        let hits = matching::utterances(reading, who, spans, &parsed.topic, &parsed.quotes);
        if hits.is_empty() {
            return Reply::unknown(&format!(
                "I don't know: I did not hear {} say that{then}.",
                if who.is_some() { name } else { "anybody".into() }
            ));
        }
        let evidence = hits.iter().map(|(s, score)| reading.speech_evidence(s, *score)).collect();
        let text = format!("I heard {name} say that {}{then}.", times(hits.len()));
        return Reply::known(text, about, evidence);
    }
    if act == Act::Spoke {
        let turns = reading.spoken(who, spans);
        let count = stretches(&turns).len();
        if count == 0 {
            return Reply::none(format!("I did not hear {name} speak{then}.")).about(&about);
        }
        let evidence =
            turns.iter().take(GATHERED).map(|s| reading.speech_evidence(s, s.confidence)).collect();
        return Reply::known(
            sentence(&format!("{name} spoke {}{then}.", times(count))),
            about,
            evidence,
        );
    }
    let mut runs = reading.whole_appearances(who, spans);
    runs.retain(|run| {
        spans.is_none_or(|spans| {
            spans.iter().any(|span| match act {
                Act::Arrived => span.contains(run.span.start),
                Act::Left => span.contains(run.span.end),
                _ => super::reading::touch(*span, run.span),
            })
        })
    });
    if runs.is_empty() {
        return Reply::none(format!("I did not see {name}{then}.")).about(&about);
    }
    let verb = match act {
        Act::Arrived => "came",
        Act::Left => "left",
        _ => "was in view",
    };
    let shown: Vec<String> =
        runs.iter().take(6).map(|run| reading.wording.stretch(run.span)).collect();
    let more = if runs.len() > shown.len() { ", among them" } else { ":" };
    let text = format!("{name} {verb} {}{then}{more} {}.", times(runs.len()), list(&shown));
    let evidence = runs.iter().take(GATHERED).map(|run| reading.sight_evidence(run)).collect();
    Reply::known(sentence(&text), about, evidence)
}

/// "How long was Ava in view?", "How long did Ben speak?"
pub(super) fn long(reading: &Reading, act: Act, who: Option<EntityId>) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let then = told(reading);
    let name = who.map_or_else(|| "somebody".to_owned(), |id| reading.name(id));
    let about: Vec<EntityId> = who.into_iter().collect();
    if act == Act::Spoke {
        let turns = reading.spoken(who, spans);
        let secs = spoken_secs(&turns, spans);
        if turns.is_empty() {
            return Reply::none(format!("I did not hear {name} speak{then}: 0 seconds."))
                .about(&about);
        }
        let text = format!(
            "{name} spoke for {} in all{then}, in {} turn{}.",
            length(secs),
            turns.len(),
            if turns.len() == 1 { "" } else { "s" }
        );
        let evidence =
            turns.iter().take(GATHERED).map(|s| reading.speech_evidence(s, s.confidence)).collect();
        return Reply::known(sentence(&text), about, evidence);
    }
    let runs = reading.appearances(who, spans);
    if runs.is_empty() {
        let heard = who.is_some_and(|id| !reading.spoken(Some(id), spans).is_empty());
        let only = if heard { format!("; I only heard {name}") } else { String::new() };
        return Reply::none(format!("I did not see {name}{then}: 0 seconds{only}.")).about(&about);
    }
    let glimpses: Vec<_> = runs.iter().flat_map(|run| run.glimpses.clone()).collect();
    let secs = seen_secs(&glimpses, spans);
    let text = format!(
        "{name} was in view for {} in all{then}, in {} appearance{}.",
        length(secs),
        runs.len(),
        if runs.len() == 1 { "" } else { "s" }
    );
    let evidence = runs.iter().take(GATHERED).map(|run| reading.sight_evidence(run)).collect();
    Reply::known(sentence(&text), about, evidence)
}

/// "How many people were there?"
pub(super) fn many(reading: &Reading, act: Act) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let then = told(reading);
    let seen: Vec<EntityId> = reading.seen(spans).into_iter().map(|(id, _)| id).collect();
    let heard: Vec<EntityId> = reading.heard(spans).into_iter().map(|(id, _)| id).collect();
    let names =
        |ids: &[EntityId]| list(&ids.iter().map(|id| reading.introduce(*id)).collect::<Vec<_>>());
    let people = |n: usize| if n == 1 { "1 person".to_owned() } else { format!("{n} people") };
    let turns = || reading.spoken(None, spans);
    if act == Act::Spoke {
        if heard.is_empty() {
            return Reply::none(format!("I heard nobody I could identify{then}: 0 people."));
        }
        let evidence = turns()
            .iter()
            .filter(|s| s.who.is_some())
            .take(GATHERED)
            .map(|s| reading.speech_evidence(s, s.confidence))
            .collect();
        return Reply::known(
            format!("I heard {}{then}: {}.", people(heard.len()), names(&heard)),
            heard,
            evidence,
        );
    }
    // Of bodies without a face nobody knows how many people they are.
    if seen.is_empty() && reading.strangers(spans) > 0 {
        return who::who(reading, act, Order::Any, &[]);
    }
    let mut evidence: Vec<_> = reading
        .appearances(None, spans)
        .iter()
        .take(GATHERED)
        .map(|run| reading.sight_evidence(run))
        .collect();
    let only_heard: Vec<EntityId> = heard.into_iter().filter(|id| !seen.contains(id)).collect();
    let mut text = if seen.is_empty() {
        format!("I saw nobody{then}: 0 people.")
    } else {
        format!("I saw {}{then}: {}.", people(seen.len()), names(&seen))
    };
    if act != Act::Seen && !only_heard.is_empty() {
        text = format!(
            "{text} I also heard {}, out of view: {}.",
            people(only_heard.len()),
            names(&only_heard)
        );
        evidence.extend(
            turns()
                .iter()
                .filter(|s| s.who.is_some_and(|id| only_heard.contains(&id)))
                .take(GATHERED)
                .map(|s| reading.speech_evidence(s, s.confidence)),
        );
    }
    Reply::known(text, seen, evidence)
}
