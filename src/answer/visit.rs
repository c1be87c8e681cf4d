//! What somebody did while they were there, in one sentence: "Ava came with a handbag, sat down, waved and left without it."
//!
//! Made of what eyes are sure of: how bodies were held and moved, and things that were seen on their way in somebody's hands.
//! Nothing of it is kept: like the visit itself it is computed whenever it is asked for, so that whoever is merged, parted or
//! erased changes it.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::ids::EntityId;
use crate::language::actions::{is_posture, told};
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
/// What stays behind is seen within so long, seconds.
const STAYS_SECS: f64 = 600.0;

/// What they did, as a sentence; `None`: nothing but that they were there. Costs what was seen during the visit, and of the
/// things that were in view then ten minutes before and after.
#[must_use]
pub fn did(view: &View, visit: &Visit) -> Option<String> {
    let mut done = Done::of(view, visit);
    if done.deeds.is_empty() && done.came_with.is_empty() && done.left_with.is_empty() {
        return None;
    }
    done.deeds.sort();
    let mut parts: Vec<String> = done.coming(was_seen_coming(view, visit)).into_iter().collect();
    for (_, deed) in &done.deeds {
        if parts.last() != Some(deed) {
            parts.push(deed.clone());
        }
    }
    let more = parts.len().saturating_sub(TOLD);
    parts.truncate(TOLD);
    if more > 0 {
        parts.push(visits::wording().more.replace("{}", &more.to_string()));
    }
    let leaves = visit.over && was_seen_going(view, visit);
    parts.extend(done.going(leaves, |object| is_seen_after(view, object, visit.end)));
    let who = view.display_name(visit.person);
    Some(sentence(&format!("{who} {}.", list(&parts))))
}

/// Things by what they are called.
type Things = BTreeSet<(String, EntityId)>;

/// What somebody did during a visit.
struct Done {
    came_with: Things,
    /// In words, by when it began.
    deeds: Vec<(Timestamp, String)>,
    left_with: Things,
}

impl Done {
    fn of(view: &View, visit: &Visit) -> Self {
        let now = view.newest_time().unwrap_or(visit.end);
        // (No time is told.)
        let reading = Reading::new(view.clone(), None, Wording { zone: TimeZone::UTC, now });
        let stay = Span::new(visit.start, visit.end);
        let deeds = actions(view, visit.person, stay);
        let mut done = Self { came_with: Things::new(), deeds, left_with: Things::new() };
        let own = |one: &Handling| one.who == Some(visit.person) && one.was_seen();
        for one in handled_in(&reading, stay).into_iter().filter(own) {
            done.with(&one, visit);
        }
        done
    }

    /// Takes in what was done with one thing.
    fn with(&mut self, one: &Handling, visit: &Visit) {
        let (words, thing) = (visits::wording(), one.thing());
        let deed = match one.what {
            What::Brought if near(one.span.start, visit.start) => {
                self.came_with.insert((thing, one.object()));
                return;
            }
            What::Taken if visit.over && near(one.span.end, visit.end) => {
                self.left_with.insert((thing, one.object()));
                return;
            }
            What::Gone => return,
            What::Brought => words.brought.replace("{}", &with_article(&thing)),
            What::Taken => words.took.replace("{}", &the(&thing)),
            What::Carried => words.moved.replace("{}", &the(&thing)),
        };
        self.deeds.push((one.span.start, deed));
    }

    fn coming(&self, was_seen: bool) -> Option<String> {
        let words = visits::wording();
        match self.came_with.is_empty() {
            false => Some(words.came_with.replace("{}", &listed(&self.came_with, with_article))),
            true => was_seen.then(|| words.came.clone()),
        }
    }

    /// `stays`: whether a thing is still there.
    fn going(&self, leaves: bool, stays: impl Fn(EntityId) -> bool) -> Option<String> {
        let words = visits::wording();
        if !self.left_with.is_empty() {
            return Some(words.left_with.replace("{}", &listed(&self.left_with, the)));
        }
        let left: Things = self.came_with.iter().filter(|(_, id)| stays(*id)).cloned().collect();
        leaves.then(|| match (left.len(), self.came_with.len()) {
            (0, _) => words.left.clone(),
            (1, 1) => words.left_without_it.clone(),
            _ => words.left_without.replace("{}", &listed(&left, the)),
        })
    }
}

fn listed(things: &Things, each: impl Fn(&str) -> String) -> String {
    list(&things.iter().map(|(thing, _)| each(thing)).collect::<Vec<_>>())
}

fn the(thing: &str) -> String {
    visits::wording().the.replace("{}", thing)
}

/// What their body did, in words, by when it began; what goes on is told once, and of walking nothing: whoever comes and goes walks.
fn actions(view: &View, person: EntityId, stay: Span) -> Vec<(Timestamp, String)> {
    let rows = view.actions(&PerceptFilter { span: Some(stay), ..PerceptFilter::default() });
    let is_theirs = |row: &&Arc<ActionRow>| {
        let track: Option<Arc<TrackRow>> = view.track(row.clip, row.track);
        let face = track.and_then(|track| track.face);
        face.is_some_and(|face| view.resolve(face) == person)
    };
    let mut deeds = Vec::new();
    let (mut held, mut fell) = (None, false);
    for action in rows.iter().filter(is_theirs).map(|row| row.action) {
        let goes_on = action.continued || held == Some(action.kind);
        if !goes_on
            && action.kind != ActionKind::Walks
            && let Some(words) = told(&action, held, fell)
        {
            deeds.push((action.span.start, words.to_owned()));
        }
        fell = action.kind == ActionKind::Falls || fell && !is_posture(action.kind);
        if is_posture(action.kind) {
            held = Some(action.kind);
        }
    }
    deeds
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
    let soon = Span::new(gone, gone.plus_secs(STAYS_SECS));
    let span = Some(soon);
    let filter = PerceptFilter { span, entity: Some(object), ..PerceptFilter::default() };
    view.object_tracks(&filter)
        .iter()
        .any(|row| row.sightings.iter().any(|look| look.at > gone && soon.contains(look.at)))
}
