//! What somebody did while they were there, in one sentence: "Ava came with a handbag, sat down, waved and left without it."
//!
//! Made of what eyes are sure of: how bodies were held and moved, and things that were seen on their way in somebody's hands.
//! Nothing of it is kept: like the visit itself it is computed whenever it is asked for, so that whoever is merged, parted or
//! erased changes it.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::ids::EntityId;
use crate::language::actions::wording;
use crate::language::visits;
use crate::memory::model::{ActionRow, TrackRow};
use crate::memory::{PerceptFilter, View, Visit};
use crate::percept::ActionKind;
use crate::text::with_article;
use crate::time::{Span, Timestamp};

use super::reading::Reading;
use super::things::{Handling, What, handled_in};
use super::wording::{Wording, list, sentence};

/// What is in hand so near to the beginning or the end of a visit came with whoever came, and goes with whoever goes; seconds.
const AT_THE_DOOR_SECS: f64 = 15.0;
/// A recording or a session that began so shortly before did not see whoever was there come in, seconds.
const SEEN_COMING_SECS: f64 = 5.0;
/// So much is told of one visit.
const TOLD: usize = 8;
/// Walking for less is a step aside, seconds.
const WALKS_SECS: f64 = 2.0;

/// What they did, as a sentence; `None`: nothing but that they were there. Costs what was seen during the visit, and of the
/// things that were in view then ten minutes before and after.
#[must_use]
pub fn did(view: &View, visit: &Visit) -> Option<String> {
    let now = view.newest_time().unwrap_or(visit.end);
    // (No time is told.)
    let reading = Reading::new(view.clone(), None, Wording { zone: TimeZone::UTC, now });
    let stay = Span::new(visit.start, visit.end);
    let mut deeds: Vec<(Timestamp, String)> = actions(view, visit.person, stay);
    let words = visits::wording();
    let with = |part: &str, thing: &str| part.replace("{}", thing);
    let handled = handled_in(&reading, stay);
    let own = |one: &&Handling| one.who == Some(visit.person) && one.was_seen();
    let (mut came_with, mut left_with) = (BTreeSet::new(), BTreeSet::new());
    for one in handled.iter().filter(own) {
        let (at, thing) = (one.span.start, one.thing());
        match one.what {
            What::Brought if near(at, visit.start) => {
                came_with.insert((thing, one.object()));
            }
            What::Taken if visit.over && near(one.span.end, visit.end) => {
                left_with.insert((thing, one.object()));
            }
            What::Brought => deeds.push((at, with(&words.brought, &with_article(&thing)))),
            What::Taken => deeds.push((at, with(&words.took, &with(&words.the, &thing)))),
            What::Carried => deeds.push((at, with(&words.moved, &with(&words.the, &thing)))),
            What::Gone => {}
        }
    }
    if deeds.is_empty() && came_with.is_empty() && left_with.is_empty() {
        return None;
    }
    deeds.sort();
    let named = |things: &BTreeSet<(String, EntityId)>, each: &dyn Fn(&str) -> String| {
        list(&things.iter().map(|(thing, _)| each(thing)).collect::<Vec<_>>())
    };
    let the = |thing: &str| with(&words.the, thing);
    let mut parts: Vec<String> = Vec::new();
    match (came_with.is_empty(), was_seen_coming(view, visit)) {
        (false, _) => parts.push(with(&words.came_with, &named(&came_with, &with_article))),
        (true, true) => parts.push(words.came.clone()),
        (true, false) => {}
    }
    for (_, deed) in deeds {
        if parts.last() != Some(&deed) {
            parts.push(deed);
        }
    }
    let more = parts.len().saturating_sub(TOLD);
    parts.truncate(TOLD);
    if more > 0 {
        parts.push(with(&words.more, &more.to_string()));
    }
    let stayed: BTreeSet<(String, EntityId)> =
        came_with.iter().filter(|(_, id)| is_seen_after(view, *id, visit.end)).cloned().collect();
    let leaves = visit.over && was_seen_going(view, visit);
    match (left_with.is_empty(), leaves, stayed.len()) {
        (false, ..) => parts.push(with(&words.left_with, &named(&left_with, &the))),
        (true, true, 0) => parts.push(words.left.clone()),
        (true, true, 1) if came_with.len() == 1 => parts.push(words.left_without_it.clone()),
        (true, true, _) => parts.push(with(&words.left_without, &named(&stayed, &the))),
        (true, false, _) => {}
    }
    let who = view.display_name(visit.person);
    Some(sentence(&format!("{who} {}.", list(&parts))))
}

/// What their body did, in words, by when it began; what goes on is told once.
fn actions(view: &View, person: EntityId, stay: Span) -> Vec<(Timestamp, String)> {
    use ActionKind::{Lies, Sits, Stands, Walks};
    let rows = view.actions(&PerceptFilter { span: Some(stay), ..PerceptFilter::default() });
    let is_theirs = |row: &Arc<ActionRow>| {
        let track: Option<Arc<TrackRow>> = view.track(row.clip, row.track);
        let face = track.and_then(|track| track.face);
        face.is_some_and(|face| view.resolve(face) == person)
    };
    let mut told = Vec::new();
    let mut posture = None;
    for row in rows.iter().filter(|row| is_theirs(row)) {
        let (kind, words) = (row.action.kind, wording(row.action.kind));
        let is_new = match kind {
            // Everybody stands; who rises was seen to sit.
            Stands => matches!(posture, Some(Sits | Lies)),
            Walks => matches!(posture, Some(Sits | Lies)) && row.action.span.secs() >= WALKS_SECS,
            Sits | Lies => posture != Some(kind),
            _ => !row.action.continued,
        };
        let seen_before = posture.is_some();
        if matches!(kind, Stands | Walks | Sits | Lies) {
            posture = Some(kind);
        }
        let begins = matches!(kind, Stands | Walks) || seen_before;
        if is_new {
            let words = if begins { &words.begins } else { &words.told };
            told.push((row.action.span.start, words.clone()));
        }
    }
    told
}

fn near(a: Timestamp, b: Timestamp) -> bool {
    a.secs_since(b).abs() <= AT_THE_DOOR_SECS
}

/// Whether somebody was looking before they came.
fn was_seen_coming(view: &View, visit: &Visit) -> bool {
    let session = view.session(visit.clip.session);
    session.is_some_and(|session| visit.start.secs_since(session.start) >= SEEN_COMING_SECS)
}

/// Whether somebody went on looking when they had gone.
fn was_seen_going(view: &View, visit: &Visit) -> bool {
    let later = Some(Span::new(visit.end.plus_secs(SEEN_COMING_SECS), Timestamp::MAX));
    let recording = view.recording_of(visit.clip.session);
    view.last_clip(later, |clip| view.recording_of(clip.id.session) == recording)
        .is_some_and(|clip| clip.span.end.secs_since(visit.end) >= SEEN_COMING_SECS)
}

/// Whether a thing was seen when somebody had gone.
fn is_seen_after(view: &View, object: EntityId, gone: Timestamp) -> bool {
    let soon = Span::new(gone, gone.plus_secs(600.0));
    let span = Some(soon);
    let filter = PerceptFilter { span, entity: Some(object), ..PerceptFilter::default() };
    view.object_tracks(&filter)
        .iter()
        .any(|row| row.sightings.iter().any(|look| look.at > gone && soon.contains(look.at)))
}
