//! Being there together, being heard and never seen, yes and no.

use crate::ids::EntityId;
use crate::time::Span;

use super::document::Evidence;
use super::matching;
use super::question::{Act, Order, Parsed};
use super::reading::{GATHERED, Reading, in_turn};
use super::reply::Reply;
use super::who::{last_seen, told, unrecorded};
use super::wording::{length, list, sentence, times};

/// Shorter overlap is no company, seconds.
const TOGETHER_SECS: f64 = 0.5;

/// Somebody in view together with another.
pub(super) struct Companion {
    pub(super) who: EntityId,
    pub(super) secs: f64,
    pub(super) evidence: Vec<Evidence>,
}

/// Who was in view while `who` was, the longest first.
pub(super) fn companions(
    reading: &Reading,
    who: EntityId,
    spans: Option<&[Span]>,
) -> Vec<Companion> {
    let own = reading.appearances(Some(who), spans);
    let mut found: Vec<Companion> = Vec::new();
    if own.is_empty() {
        return found;
    }
    for run in reading.appearances(None, spans).iter().filter(|run| run.who != who) {
        let both: Vec<Span> =
            own.iter().filter_map(|mine| mine.span.intersection(run.span)).collect();
        let secs: f64 = both.iter().map(|span| span.secs()).sum();
        if secs < TOGETHER_SECS {
            continue;
        }
        let mut evidence = reading.sight_evidence(run);
        evidence.entities.push(who);
        match found.iter_mut().find(|known| known.who == run.who) {
            Some(known) => {
                known.secs += secs;
                known.evidence.push(evidence);
            }
            None => found.push(Companion { who: run.who, secs, evidence: vec![evidence] }),
        }
    }
    found.sort_by(|a, b| b.secs.total_cmp(&a.secs).then(a.who.cmp(&b.who)));
    found
}

/// "With whom was Ava?"
pub(super) fn with(reading: &Reading, who: EntityId, talked: bool) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let (name, then) = (reading.name(who), told(reading));
    if talked {
        let partners = in_turn(&reading.spoken(None, spans), who);
        if !partners.is_empty() {
            let ids: Vec<EntityId> = partners.iter().map(|(id, _)| *id).collect();
            let names: Vec<String> = ids.iter().map(|id| reading.introduce(*id)).collect();
            let evidence = partners
                .iter()
                .flat_map(|(_, turns)| turns)
                .take(GATHERED)
                .map(|s| reading.speech_evidence(s, s.confidence))
                .collect();
            return Reply::known(
                format!("{name} spoke in turn with {}{then}.", list(&names)),
                ids,
                evidence,
            );
        }
    }
    let found = companions(reading, who, spans);
    if found.is_empty() {
        let own = reading.appearances(Some(who), spans);
        if own.is_empty() {
            return absent(reading, who, &then);
        }
        let evidence = own.iter().take(GATHERED).map(|run| reading.sight_evidence(run)).collect();
        return Reply::known(
            format!("{name} was alone{then}; I saw nobody else."),
            Vec::new(),
            evidence,
        );
    }
    let parts: Vec<String> = found
        .iter()
        .map(|c| format!("{} ({})", reading.introduce(c.who), length(c.secs)))
        .collect();
    let ids = found.iter().map(|c| c.who).collect();
    let evidence = found.into_iter().flat_map(|c| c.evidence).collect();
    Reply::known(format!("{name} was with {}{then}.", list(&parts)), ids, evidence)
}

/// The answer when somebody known was not in view then.
pub(super) fn absent(reading: &Reading, who: EntityId, then: &str) -> Reply {
    let name = reading.name(who);
    let last = last_seen(reading, who)
        .map_or_else(|| format!(" I have never seen {name}."), |last| format!(" {last}"));
    Reply::none(format!("I did not see {name}{then}.{last}")).about(&[who])
}

/// "Were Ava and Ben there together?"
pub(super) fn together(reading: &Reading, a: EntityId, b: EntityId) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let (one, other, then) = (reading.name(a), reading.name(b), told(reading));
    let found = companions(reading, a, spans).into_iter().find(|c| c.who == b);
    match found {
        Some(c) => {
            let text = format!(
                "Yes, {one} and {other} were in view together for {}{then}.",
                length(c.secs)
            );
            Reply::known(text, vec![a, b], c.evidence)
        }
        None => Reply::none(format!("No, I did not see {one} and {other} together{then}."))
            .about(&[a, b]),
    }
}

/// A stretch in which two persons were in view.
struct Meeting {
    span: Span,
    evidence: Evidence,
}

/// When both were in view, in time order.
fn meetings(reading: &Reading, a: EntityId, b: EntityId) -> Vec<Meeting> {
    let spans = reading.spans.as_deref();
    let (of_a, of_b) = (reading.appearances(Some(a), spans), reading.appearances(Some(b), spans));
    let mut found = Vec::new();
    for run in &of_b {
        for span in of_a.iter().filter_map(|mine| mine.span.intersection(run.span)) {
            if span.secs() < TOGETHER_SECS {
                continue;
            }
            let mut evidence = reading.sight_evidence(run);
            (evidence.start, evidence.end) = (span.start, span.end);
            evidence.entities.push(a);
            found.push(Meeting { span, evidence });
        }
    }
    found.sort_by_key(|meeting| meeting.span);
    found
}

/// What is asked about the time that two persons were there together.
#[derive(Clone, Copy)]
pub(super) enum Meant {
    /// "When did Ava and Ben meet?"
    When(Order),
    /// "How long were they together?"
    HowLong,
    /// "How often?"
    HowOften,
}

/// "When did Ava and Ben meet?", "How long were they together?"
pub(super) fn met(reading: &Reading, (a, b): (EntityId, EntityId), meant: Meant) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let then = told(reading);
    let both = format!("{} and {}", reading.name(a), reading.name(b));
    let mut found = meetings(reading, a, b);
    if found.is_empty() {
        return Reply::none(format!("I did not see {both} together{then}.")).about(&[a, b]);
    }
    let text = match meant {
        Meant::HowLong => {
            let secs: f64 = found.iter().map(|meeting| meeting.span.secs()).sum();
            format!("{both} were in view together for {} in all{then}.", length(secs))
        }
        Meant::HowOften => {
            format!("{both} were in view together {}{then}.", times(found.len()))
        }
        Meant::When(Order::First) => {
            let first = reading.wording.at(found[0].span.start);
            format!("I first saw {both} together {first}.")
        }
        Meant::When(Order::Last) => {
            found.reverse();
            format!("I last saw {both} together {}.", reading.wording.at(found[0].span.end))
        }
        Meant::When(_) => {
            let shown: Vec<String> =
                found.iter().take(GATHERED).map(|m| reading.wording.stretch(m.span)).collect();
            format!("I saw {both} together {}.", list(&shown))
        }
    };
    let evidence = found.into_iter().take(GATHERED).map(|meeting| meeting.evidence).collect();
    Reply::known(sentence(&text), vec![a, b], evidence)
}

/// "Was Ava alone?"
pub(super) fn alone(reading: &Reading, who: EntityId) -> Reply {
    let mut reply = with(reading, who, false);
    if reply.abstained || reply.evidence.is_empty() {
        return reply;
    }
    let yes = if reply.entities.is_empty() { "Yes" } else { "No" };
    reply.text = format!("{yes}, {}", reply.text);
    reply
}

/// Persons heard and never seen, with their seconds of speech.
pub(super) fn never_seen(reading: &Reading) -> Vec<(EntityId, f64)> {
    let seen = reading.seen(None);
    let mut heard = reading.heard(None);
    heard.retain(|(id, _)| !seen.iter().any(|(known, _)| known == id));
    heard
}

/// Persons seen and never heard.
pub(super) fn never_spoke(reading: &Reading) -> Vec<EntityId> {
    let heard = reading.heard(None);
    let mut seen: Vec<EntityId> = reading.seen(None).into_iter().map(|(id, _)| id).collect();
    seen.retain(|id| !heard.iter().any(|(known, _)| known == id));
    seen
}

/// "Who was heard but never seen?"
pub(super) fn list_never_seen(reading: &Reading) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let mut found = never_seen(reading);
    let turns = reading.spoken(None, spans);
    found.retain(|(id, _)| turns.iter().any(|s| s.who == Some(*id)));
    if found.is_empty() {
        return Reply::none(format!("I have seen everybody whom I heard{}.", told(reading)));
    }
    let parts: Vec<String> = found
        .iter()
        .map(|(id, secs)| format!("{} (spoke for {})", reading.introduce(*id), length(*secs)))
        .collect();
    let ids: Vec<EntityId> = found.iter().map(|(id, _)| *id).collect();
    let evidence = turns
        .iter()
        .filter(|s| s.who.is_some_and(|who| ids.contains(&who)))
        .take(GATHERED)
        .map(|s| reading.speech_evidence(s, s.confidence))
        .collect();
    Reply::known(
        format!(
            "I heard {} but never saw {}.",
            list(&parts),
            if ids.len() == 1 { "that person" } else { "them" }
        ),
        ids,
        evidence,
    )
}

/// "Who was seen but never spoke?"
pub(super) fn list_never_spoke(reading: &Reading) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let heard = if spans.is_some() { reading.heard(spans) } else { reading.heard(None) };
    let mut ids: Vec<EntityId> = reading.seen(spans).into_iter().map(|(id, _)| id).collect();
    ids.retain(|id| !heard.iter().any(|(known, _)| known == id));
    let then = told(reading);
    if ids.is_empty() {
        return Reply::none(format!("I heard everybody whom I saw{then}."));
    }
    let names: Vec<String> = ids.iter().map(|id| reading.introduce(*id)).collect();
    let runs = reading.appearances(None, spans);
    let evidence = runs
        .iter()
        .filter(|run| ids.contains(&run.who))
        .take(GATHERED)
        .map(|run| reading.sight_evidence(run))
        .collect();
    Reply::known(
        format!(
            "I saw {} but did not hear {}{then}.",
            list(&names),
            if ids.len() == 1 { "that person" } else { "them" }
        ),
        ids,
        evidence,
    )
}

/// "Have you ever seen Ava?"
pub(super) fn ever(reading: &Reading, who: EntityId, act: Act) -> Reply {
    let spans = reading.spans.as_deref();
    let name = reading.name(who);
    let turns = reading.spoken(Some(who), spans);
    if act == Act::Spoke {
        let Some(last) = turns.last() else {
            return Reply::none(format!("No, I have never heard {name}.")).about(&[who]);
        };
        let text = format!(
            "Yes, I have heard {name} {}, last {}.",
            times(super::reading::stretches(&turns).len()),
            reading.wording.at(last.span.start)
        );
        let evidence = turns
            .iter()
            .rev()
            .take(GATHERED)
            .map(|s| reading.speech_evidence(s, s.confidence))
            .collect();
        return Reply::known(text, vec![who], evidence);
    }
    let runs = reading.appearances(Some(who), spans);
    if let Some(last) = runs.last() {
        let text = format!(
            "Yes, I have seen {name} {}, last {}.",
            times(runs.len()),
            reading.wording.at(last.span.end)
        );
        let evidence =
            runs.iter().rev().take(GATHERED).map(|run| reading.sight_evidence(run)).collect();
        return Reply::known(text, vec![who], evidence);
    }
    match turns.last() {
        Some(last) => {
            let text = format!(
                "No, I have never seen {name}; I have only heard {name}, last {}.",
                reading.wording.at(last.span.start)
            );
            let evidence = turns
                .iter()
                .rev()
                .take(GATHERED)
                .map(|s| reading.speech_evidence(s, s.confidence))
                .collect();
            Reply::known(text, vec![who], evidence)
        }
        None => Reply::none(format!("No, I have never seen {name}.")).about(&[who]),
    }
}

/// "Did Ava speak?", "Was anybody there at 17:31?", "Did Ben mention the keys?"
pub(super) fn did(reading: &Reading, parsed: &Parsed, act: Act, who: Option<EntityId>) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    let then = told(reading);
    let name = who.map(|id| reading.name(id));
    let about = || who.into_iter().collect::<Vec<_>>();
    if act == Act::Spoke {
        let topic = !parsed.topic.is_empty() || !parsed.quotes.is_empty();
        let turns: Vec<_> = if topic {
            matching::utterances(reading, who, spans, &parsed.topic, &parsed.quotes)
        } else {
            reading
                .spoken(who, spans)
                .into_iter()
                .map(|s| {
                    let c = s.confidence;
                    (s, c)
                })
                .collect()
        };
        let Some((first, _)) = turns.first() else {
            let subject = name.unwrap_or_else(|| "anybody".into());
            if topic {
                // Nobody hears everything: not heard is not unsaid.
                let text = format!("I don't know: I did not hear {subject} say that{then}.");
                return Reply::unknown(&text).about(&about());
            }
            return Reply::none(format!("No, I did not hear {subject} speak{then}."))
                .about(&about());
        };
        let speaker = first.who.map_or_else(|| "somebody".to_owned(), |id| reading.introduce(id));
        let words = first
            .words
            .clone()
            .map_or_else(String::new, |w| format!(" and said: \u{201c}{w}\u{201d}"));
        let text = format!("Yes, {speaker} spoke {}{words}.", reading.wording.at(first.span.start));
        let mut ids = about();
        for (spoken, _) in &turns {
            if let Some(id) = spoken.who
                && !ids.contains(&id)
            {
                ids.push(id);
            }
        }
        let evidence = turns.iter().map(|(s, score)| reading.speech_evidence(s, *score)).collect();
        return Reply::known(text, ids, evidence);
    }
    let empty = parsed.content.iter().any(|w| w == "empty");
    let runs = reading.appearances(who, spans);
    let moved: Vec<_> = match (act, spans) {
        (Act::Arrived, Some(spans)) => {
            runs.iter().filter(|run| spans.iter().any(|s| s.contains(run.span.start))).collect()
        }
        (Act::Left, Some(spans)) => {
            runs.iter().filter(|run| spans.iter().any(|s| s.contains(run.span.end))).collect()
        }
        _ => runs.iter().collect(),
    };
    if moved.is_empty() {
        if empty {
            return Reply::none(format!("Yes, I saw nobody{then}."));
        }
        let heard = reading.spoken(who, spans);
        let subject = name.unwrap_or_else(|| "anybody".into());
        if act == Act::Present
            && let Some(spoken) = heard.first()
        {
            let text = format!(
                "I did not see {subject}{then}, but I heard {}.",
                spoken.who.map_or_else(|| "somebody".to_owned(), |id| reading.introduce(id))
            );
            let evidence = heard
                .iter()
                .take(GATHERED)
                .map(|s| reading.speech_evidence(s, s.confidence))
                .collect();
            return Reply::known(text, about(), evidence);
        }
        let last = who
            .and_then(|who| last_seen(reading, who))
            .map_or_else(String::new, |l| format!(" {l}"));
        return Reply::none(format!("No, I did not see {subject}{then}.{last}")).about(&about());
    }
    let mut ids: Vec<EntityId> = Vec::new();
    for run in &moved {
        if !ids.contains(&run.who) {
            ids.push(run.who);
        }
    }
    let names: Vec<String> = ids.iter().map(|id| reading.introduce(*id)).collect();
    let evidence: Vec<Evidence> =
        moved.iter().take(GATHERED).map(|run| reading.sight_evidence(run)).collect();
    let yes = if empty { "No" } else { "Yes" };
    let stretches: Vec<String> =
        moved.iter().take(3).map(|run| reading.wording.stretch(run.span)).collect();
    let text = format!("{yes}, I saw {} {}.", list(&names), list(&stretches));
    Reply::known(sentence(&text), ids, evidence)
}
