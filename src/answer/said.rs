//! "Who said …", "What did … say": quotations, verbatim.

use crate::ids::EntityId;

use super::matching;
use super::question::{Order, Parsed};
use super::reading::{GATHERED, Reading, Spoken};
use super::reply::Reply;
use super::who::{told, unrecorded};
use super::wording::list;

/// Utterances quoted in one answer, at most.
const QUOTED: usize = 5;

/// Who said it.
pub(super) fn who_said(reading: &Reading, parsed: &Parsed) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let mut hits = matching::utterances(reading, None, spans, &parsed.topic, &parsed.quotes);
    let best = hits.first().map_or(0.0, |(_, score)| *score);
    hits.retain(|(_, score)| *score >= best - 0.1);
    if hits.is_empty() {
        return Reply::unknown(&format!("I don't know: I heard nobody say that{}.", told(reading)));
    }
    let mut ids: Vec<EntityId> = Vec::new();
    for id in hits.iter().filter_map(|(spoken, _)| spoken.who) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let quotes: Vec<String> =
        hits.iter().take(QUOTED).map(|(spoken, _)| quoted(reading, spoken, true)).collect();
    let evidence =
        hits.iter().map(|(spoken, score)| reading.speech_evidence(spoken, *score)).collect();
    Reply::known(quotes.join(" "), ids, evidence)
}

/// "Ava said at 17:30:05: “…”" — with words or without.
pub(super) fn quoted(reading: &Reading, spoken: &Spoken, introduce: bool) -> String {
    let speaker = match spoken.who {
        Some(id) if introduce => reading.introduce(id),
        Some(id) => reading.name(id),
        None => "Somebody I could not identify".into(),
    };
    let speaker = super::wording::sentence(&speaker);
    let at = reading.wording.at(spoken.span.start);
    match &spoken.words {
        Some(words) => format!("{speaker} said {at}: \u{201c}{words}\u{201d}."),
        None => format!("{speaker} spoke {at}, but I did not understand the words."),
    }
}

/// What was said, by somebody or anybody.
pub(super) fn said_what(
    reading: &Reading,
    parsed: &Parsed,
    order: Order,
    who: Option<EntityId>,
) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let then = told(reading);
    let about: Vec<EntityId> = who.into_iter().collect();
    let name = who.map_or_else(|| "anybody".to_owned(), |id| reading.name(id));
    if !parsed.topic.is_empty() || !parsed.quotes.is_empty() {
        let mut hits = matching::utterances(reading, who, spans, &parsed.topic, &parsed.quotes);
        let best = hits.first().map_or(0.0, |(_, score)| *score);
        hits.retain(|(_, score)| *score >= best - 0.25);
        if hits.is_empty() {
            let topic = parsed.topic.join(" ");
            return Reply::unknown(&format!(
                "I don't know: I did not hear {name} say anything about {topic}{then}."
            ))
            .about(&about);
        }
        hits.truncate(QUOTED);
        hits.sort_by_key(|(spoken, _)| spoken.span);
        match order {
            Order::Last => drop(hits.drain(..hits.len() - 1)),
            Order::First => hits.truncate(1),
            _ => {}
        }
        let text: Vec<String> =
            hits.iter().map(|(spoken, _)| quoted(reading, spoken, false)).collect();
        let evidence =
            hits.iter().map(|(spoken, score)| reading.speech_evidence(spoken, *score)).collect();
        let speakers: Vec<EntityId> = hits.iter().filter_map(|(spoken, _)| spoken.who).collect();
        return Reply::known(text.join(" "), about.clone(), evidence).about(&speakers);
    }
    let all = reading.spoken(who, spans);
    if all.is_empty() {
        return Reply::none(format!("I did not hear {name} say anything{then}.")).about(&about);
    }
    let worded: Vec<&Spoken> = all.iter().filter(|spoken| spoken.words.is_some()).collect();
    if worded.is_empty() {
        let evidence = all
            .iter()
            .take(GATHERED)
            .map(|s| reading.speech_evidence(s, s.confidence * 0.5))
            .collect();
        let times: Vec<String> =
            all.iter().take(QUOTED).map(|s| reading.wording.at(s.span.start)).collect();
        let text = format!(
            "I heard {} speak {}, but I did not understand the words.",
            if who.is_some() { name } else { "somebody".into() },
            list(&times)
        );
        return Reply { abstained: true, confidence: 0.2, ..Reply::known(text, about, evidence) };
    }
    let picked: Vec<&Spoken> = match order {
        Order::First => worded.iter().take(1).copied().collect(),
        Order::Second => worded.get(1).copied().into_iter().collect(),
        Order::Third => worded.get(2).copied().into_iter().collect(),
        Order::Last => worded.last().copied().into_iter().collect(),
        _ => worded,
    };
    let speakers: Vec<EntityId> = picked.iter().filter_map(|spoken| spoken.who).collect();
    let evidence =
        picked.iter().take(GATHERED).map(|s| reading.speech_evidence(s, s.confidence)).collect();
    let more = picked.len().saturating_sub(QUOTED);
    let mut text: Vec<String> =
        picked.iter().take(QUOTED).map(|s| quoted(reading, s, who.is_none())).collect();
    if more > 0 {
        text.push(format!("And {more} more remarks."));
    }
    Reply::known(text.join(" "), about, evidence).about(&speakers)
}
