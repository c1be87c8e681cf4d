//! "Who …": who is here, who was there, who spoke, who came, who went.

use crate::ids::EntityId;
use crate::time::Span;

use super::document::Evidence;
use super::question::{Act, Order};
use super::reading::{GATHERED, NOW_SECS, Reading, hull};
use super::reply::Reply;
use super::wording::{length, list, sentence};

/// Who is in view or heard at the question's now; with `subject`: whether it is.
pub(super) fn now(reading: &Reading, subject: Option<EntityId>) -> Reply {
    let now = reading.now();
    let span = [Span::new(now.plus_secs(-NOW_SECS), now.plus_secs(0.001))];
    if !reading.recorded(&span) {
        return not_watching(reading, subject);
    }
    let runs = reading.appearances(None, Some(&span));
    let heard: Vec<_> = reading
        .spoken(None, Some(&span))
        .into_iter()
        .filter(|spoken| spoken.who.is_some_and(|who| !runs.iter().any(|run| run.who == who)))
        .collect();
    if let Some(subject) = subject {
        let name = reading.name(subject);
        if let Some(run) = runs.iter().find(|run| run.who == subject) {
            let evidence = vec![reading.sight_evidence(run)];
            return Reply::known(format!("Yes, I see {name} now."), vec![subject], evidence);
        }
        if let Some(spoken) = heard.iter().find(|spoken| spoken.who == Some(subject)) {
            let evidence = vec![reading.speech_evidence(spoken, spoken.confidence)];
            return Reply::known(
                format!("I don't see {name}, but I hear {name} now."),
                vec![subject],
                evidence,
            );
        }
        let last = last_seen(reading, subject);
        let text = format!(
            "No, I don't see {name} now.{}",
            last.map_or_else(String::new, |l| format!(" {l}"))
        );
        return Reply::none(text).about(&[subject]);
    }
    let mut entities: Vec<EntityId> = Vec::new();
    let mut evidence: Vec<Evidence> = Vec::new();
    for run in &runs {
        entities.push(run.who);
        evidence.push(reading.sight_evidence(run));
    }
    let strangers = reading.strangers(Some(&span));
    let mut parts = Vec::new();
    let mut names: Vec<String> = entities.iter().map(|id| reading.introduce(*id)).collect();
    if strangers > 0 {
        names.push(if strangers == 1 {
            "somebody I do not know yet".into()
        } else {
            format!("{strangers} people I do not know yet")
        });
    }
    if names.is_empty() {
        parts.push("I see nobody now.".to_owned());
    } else {
        parts.push(format!("I see {} now.", list(&names)));
    }
    let mut voices: Vec<EntityId> = heard.iter().filter_map(|spoken| spoken.who).collect();
    voices.dedup();
    if !voices.is_empty() {
        let names: Vec<String> = voices.iter().map(|id| reading.introduce(*id)).collect();
        parts.push(format!("I hear {}.", list(&names)));
        evidence
            .extend(heard.iter().map(|spoken| reading.speech_evidence(spoken, spoken.confidence)));
        if runs.is_empty() {
            entities.extend(voices);
        }
    }
    Reply::known(parts.join(" "), entities, evidence)
}

/// Nothing is recorded at now: say so, and who was last.
fn not_watching(reading: &Reading, subject: Option<EntityId>) -> Reply {
    let mut text = "I don't know: I am not watching now.".to_owned();
    let mut reply = Reply::unknown("");
    match subject {
        Some(subject) => {
            reply.entities.push(subject);
            if let Some(last) = last_seen(reading, subject) {
                text = format!("{text} {last}");
            }
        }
        None => {
            if let Some(run) = reading.last_appearance(None, |span| span.end) {
                let at = reading.wording.at(run.span.end);
                text = format!("{text} I last saw {} {at}.", reading.introduce(run.who));
                reply.evidence.push(reading.sight_evidence(&run));
            }
        }
    }
    reply.text = text;
    reply
}

/// "I last saw Ava at 17:30:05."
pub(super) fn last_seen(reading: &Reading, who: EntityId) -> Option<String> {
    let run = reading.last_appearance(Some(who), |span| span.end)?;
    Some(format!("I last saw {} {}.", reading.name(who), reading.wording.at(run.span.end)))
}

/// Who did it in the question's times. `not` are left out ("who else").
pub(super) fn who(reading: &Reading, act: Act, order: Order, not: &[EntityId]) -> Reply {
    let spans = reading.spans.as_deref();
    if let Some(spans) = spans
        && !reading.recorded(spans)
    {
        return unrecorded(reading, spans);
    }
    match act {
        Act::Spoke => spoke(reading, order, not),
        Act::Arrived | Act::Left => moved(reading, act, order, not),
        Act::Seen | Act::Present | Act::Other => seen(reading, act, order, not),
    }
}

/// The abstention for times of which nothing is recorded.
pub(super) fn unrecorded(reading: &Reading, spans: &[Span]) -> Reply {
    let asked = hull(spans)
        .filter(|span| span.secs() < 3e7)
        .map_or_else(String::new, |span| format!(" {}", reading.wording.when(span)));
    let has = reading.extent().map_or_else(
        || " I have not recorded anything yet.".to_owned(),
        |span| {
            format!(
                " My recordings begin {} and end {}.",
                reading.wording.at(span.start),
                reading.wording.at(span.end)
            )
        },
    );
    Reply::unknown(&format!("I don't know: I was not recording{asked}.{has}"))
}

/// "at 17:30:05" for the question's times; empty without.
pub(super) fn told(reading: &Reading) -> String {
    match reading.spans.as_deref() {
        Some(spans) if spans.len() == 1 && spans[0].secs() < 3e6 => {
            // Clipped to what there is, so that "today" does not read as midnight to midnight.
            let span = reading.recorded_part(spans[0]);
            format!(" {}", reading.wording.when(span))
        }
        Some(spans) if spans.len() > 1 => " then".into(),
        _ => String::new(),
    }
}

fn seen(reading: &Reading, act: Act, order: Order, not: &[EntityId]) -> Reply {
    let spans = reading.spans.as_deref();
    let mut runs = reading.appearances(None, spans);
    runs.retain(|run| !not.contains(&run.who));
    let mut sums = reading.seen(spans);
    sums.retain(|(id, _)| !not.contains(id));
    let evidence_of = |ids: &[EntityId]| -> Vec<Evidence> {
        runs.iter()
            .filter(|run| ids.contains(&run.who))
            .take(GATHERED)
            .map(|run| reading.sight_evidence(run))
            .collect()
    };
    let then = told(reading);
    if order != Order::Any && !runs.is_empty() {
        let picked = match order {
            Order::Last => {
                runs.iter().max_by_key(|run| (run.span.end, run.span.start)).map(|run| run.who)
            }
            Order::Second => sums.get(1).map(|(id, _)| *id),
            Order::Third => sums.get(2).map(|(id, _)| *id),
            Order::Most => by_secs(&sums, 1.0),
            Order::Least => by_secs(&sums, -1.0),
            Order::First | Order::Any => sums.first().map(|(id, _)| *id),
        };
        let Some(id) = picked else {
            return Reply::none(format!("I saw only {}{then}.", names(reading, &sums)));
        };
        // Who stood there from the same moment on was first, too.
        let mut ids = vec![id];
        if order == Order::First {
            let start = runs.first().map(|run| run.span.start);
            let same =
                runs.iter().filter(|run| start.is_some_and(|s| run.span.start.secs_since(s) < 0.4));
            ids = same.map(|run| run.who).collect();
        }
        if ids.is_empty() {
            ids.push(id);
        }
        let who: Vec<String> = ids.iter().map(|id| reading.introduce(*id)).collect();
        let secs: f64 = sums.iter().find(|(known, _)| *known == id).map_or(0.0, |(_, s)| *s);
        let text = match order {
            Order::Most | Order::Least => {
                format!("{} was in view for {}{then}.", list(&who), length(secs))
            }
            Order::Last => {
                let end = runs
                    .iter()
                    .filter(|run| run.who == id)
                    .map(|run| run.span.end)
                    .max()
                    .unwrap_or_default();
                format!("I saw {} last, until {}.", list(&who), reading.wording.moment(end))
            }
            _ => {
                let start = runs
                    .iter()
                    .find(|run| run.who == id)
                    .map(|run| run.span.start)
                    .unwrap_or_default();
                format!("I saw {} {} {}.", list(&who), order_word(order), reading.wording.at(start))
            }
        };
        return Reply::known(text, ids.clone(), evidence_of(&ids));
    }
    let mut ids: Vec<EntityId> = sums.iter().map(|(id, _)| *id).collect();
    let mut evidence = evidence_of(&ids);
    let strangers = reading.strangers(spans);
    let mut who: Vec<String> = ids.iter().map(|id| reading.introduce(*id)).collect();
    if strangers > 0 && who.is_empty() {
        who.push("somebody I could not identify".into());
    }
    let besides = if not.is_empty() { "" } else { " else" };
    let mut text = if who.is_empty() {
        format!("I saw nobody{besides}{then}.")
    } else {
        format!("I saw {}{then}.", list(&who))
    };
    if act == Act::Present || who.is_empty() {
        let mut heard = reading.heard(spans);
        heard.retain(|(id, _)| !ids.contains(id) && !not.contains(id));
        if !heard.is_empty() {
            let voices: Vec<String> = heard.iter().map(|(id, _)| reading.introduce(*id)).collect();
            text = format!("{text} I heard {}, out of view.", list(&voices));
            let turns = reading.spoken(None, spans);
            let turns = turns.iter().filter(|s| heard.iter().any(|(id, _)| s.who == Some(*id)));
            evidence.extend(turns.take(GATHERED).map(|s| reading.speech_evidence(s, s.confidence)));
            if ids.is_empty() && act == Act::Present {
                ids = heard.into_iter().map(|(id, _)| id).collect();
            }
        }
    }
    if ids.is_empty() && strangers > 0 {
        return Reply { confidence: 0.4, ..Reply::known(text, ids, evidence) };
    }
    Reply::known(text, ids, evidence)
}

pub(super) fn by_secs(sums: &[(EntityId, f64)], sign: f64) -> Option<EntityId> {
    let mut best: Option<(EntityId, f64)> = None;
    for (id, secs) in sums {
        if best.is_none_or(|(_, known)| sign * secs > sign * known + 1e-9) {
            best = Some((*id, *secs));
        }
    }
    best.map(|(id, _)| id)
}

pub(super) fn order_word(order: Order) -> &'static str {
    match order {
        Order::Second => "second,",
        Order::Third => "third,",
        Order::Last => "last,",
        _ => "first,",
    }
}

fn names(reading: &Reading, sums: &[(EntityId, f64)]) -> String {
    list(&sums.iter().map(|(id, _)| reading.introduce(*id)).collect::<Vec<_>>())
}

fn spoke(reading: &Reading, order: Order, not: &[EntityId]) -> Reply {
    let spans = reading.spans.as_deref();
    let mut spoken = reading.spoken(None, spans);
    spoken.retain(|s| s.who.is_none_or(|who| !not.contains(&who)));
    let then = told(reading);
    if spoken.is_empty() {
        return Reply::none(format!(
            "I heard nobody{}{then}.",
            if not.is_empty() { "" } else { " else" }
        ));
    }
    let known: Vec<_> = spoken.iter().filter(|s| s.who.is_some()).collect();
    let mut sums = reading.heard(spans);
    sums.retain(|(id, _)| !not.contains(id));
    let picked = match order {
        Order::Any => None,
        Order::First => known.first().and_then(|s| s.who),
        Order::Second => sums.get(1).map(|(id, _)| *id),
        Order::Third => sums.get(2).map(|(id, _)| *id),
        Order::Last => known.last().and_then(|s| s.who),
        Order::Most => by_secs(&sums, 1.0),
        Order::Least => by_secs(&sums, -1.0),
    };
    let evidence_of = |ids: &[EntityId]| -> Vec<Evidence> {
        known
            .iter()
            .filter(|s| s.who.is_some_and(|who| ids.contains(&who)))
            .take(GATHERED)
            .map(|s| reading.speech_evidence(s, s.confidence))
            .collect()
    };
    if let Some(id) = picked {
        let mut evidence = evidence_of(&[id]);
        let name = reading.introduce(id);
        let secs = sums.iter().find(|(known, _)| *known == id).map_or(0.0, |(_, s)| *s);
        let text = match order {
            Order::Most | Order::Least => format!("{name} spoke for {}{then}.", length(secs)),
            _ => {
                let turn = if order == Order::Last {
                    evidence.reverse();
                    known.iter().rev().find(|s| s.who == Some(id))
                } else {
                    known.iter().find(|s| s.who == Some(id))
                };
                let at = turn.map(|s| reading.wording.at(s.span.start)).unwrap_or_default();
                let words = turn
                    .and_then(|s| s.words.clone())
                    .map_or_else(String::new, |w| format!(": \u{201c}{w}\u{201d}"));
                format!("{name} spoke {} {at}{words}.", order_word(order))
            }
        };
        return Reply::known(text, vec![id], evidence);
    }
    let ids: Vec<EntityId> = sums.iter().map(|(id, _)| *id).collect();
    if ids.is_empty() {
        let evidence =
            spoken.iter().take(GATHERED).map(|s| reading.speech_evidence(s, 0.3)).collect();
        return Reply::known(
            format!("I heard somebody{then}, but I could not tell who it was."),
            ids,
            evidence,
        );
    }
    let text = format!("{} spoke{then}.", sentence(&names(reading, &sums)));
    let evidence = evidence_of(&ids);
    Reply::known(text, ids, evidence)
}

/// Who came into view, or went out of it, in the question's times.
fn moved(reading: &Reading, act: Act, order: Order, not: &[EntityId]) -> Reply {
    let session = reading.session();
    let spans = reading.spans.clone().or_else(|| session.map(|span| vec![span]));
    let Some(spans) = spans else { return Reply::none("I saw nobody.".into()) };
    let all = reading.whole_appearances(None, Some(&spans));
    let moment = |run: &super::reading::Appearance| match act {
        Act::Left => run.span.end,
        _ => run.span.start,
    };
    let mut runs: Vec<_> = all
        .iter()
        .filter(|run| {
            !not.contains(&run.who)
                && spans.iter().any(|span| span.contains(moment(run)) || span.end == moment(run))
        })
        .collect();
    runs.sort_by_key(|run| (moment(run), run.who));
    let verb = if act == Act::Left { "left" } else { "came" };
    if runs.is_empty() {
        return Reply::none(format!("Nobody {verb}{}.", told(reading)));
    }
    let picked: Vec<_> = match order {
        Order::First => runs[..1].to_vec(),
        Order::Last => runs[runs.len() - 1..].to_vec(),
        Order::Second => runs.get(1).into_iter().copied().collect(),
        Order::Third => runs.get(2).into_iter().copied().collect(),
        _ => runs,
    };
    let mut ids: Vec<EntityId> = Vec::new();
    let mut parts = Vec::new();
    for run in &picked {
        if !ids.contains(&run.who) {
            ids.push(run.who);
        }
        parts.push(format!("{} {}", reading.introduce(run.who), reading.wording.at(moment(run))));
    }
    let evidence = picked.iter().take(GATHERED).map(|run| reading.sight_evidence(run)).collect();
    let text = match order {
        Order::Any | Order::Most | Order::Least => format!("These {verb}: {}.", list(&parts)),
        _ => format!(
            "{} {verb} {} {}.",
            reading.introduce(ids[0]),
            order_word(order),
            reading.wording.at(moment(picked[0]))
        ),
    };
    Reply::known(sentence(&text), ids, evidence)
}
