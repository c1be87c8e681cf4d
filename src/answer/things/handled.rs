//! Who brought, carried and took what, and what is gone: out of the sightings of things and bodies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::answer::document::Evidence;
use crate::answer::reading::{Reading, touch};
use crate::carrying::{
    Move, at_that_moment, came_by_turn, carried, looked_there_until, moves, within_reach,
};
use crate::ids::{EntityId, SessionId, SourceId, TrackId};
use crate::memory::PerceptFilter;
use crate::memory::model::ObjectTrackRow;
use crate::percept::Sighting;
use crate::time::{Span, Timestamp};

use super::{evidence_of, rows_of};

/// Not seen for so long where nobody covers its place, a thing is gone; seconds.
const GONE_SECS: f64 = 5.0;
/// It is looked for so long after it was seen last whether it is gone, seconds.
const WATCHED_SECS: f64 = 600.0;
/// Whoever stood at a thing so shortly before it was seen last, or after it was seen first, was at it; seconds.
const AT_IT_SECS: f64 = 1.5;
/// What somebody does with things of one kind within so long is one deed, seconds.
const ONE_DEED_SECS: f64 = 3.0;
/// How sure it is who took a thing that was not seen on its way, beside how sure its sightings are.
const NOT_SEEN: f32 = 0.6;

/// What was done with a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer) enum What {
    /// It came with somebody.
    Brought,
    /// It went from one place in view to another.
    Carried,
    /// It went out of view.
    Taken,
    /// It is gone; nobody was seen with it.
    Gone,
}

/// Something that was done with a thing.
#[derive(Clone, Debug)]
pub(in crate::answer) struct Handling {
    pub(in crate::answer) what: What,
    pub(in crate::answer) span: Span,
    /// By whom; `None`: somebody whom nobody knows, or nobody.
    pub(in crate::answer) who: Option<EntityId>,
    /// A body was with it.
    by_somebody: bool,
    /// It was seen on its way.
    was_seen: bool,
    object: EntityId,
    row: Arc<ObjectTrackRow>,
}

/// A body of one camera, as far as it was followed.
struct Body {
    who: Option<EntityId>,
    sightings: Vec<Sighting>,
}

/// All that was done with those things, in time order. Costs the sightings that [`rows_of`] gives, and the bodies around what
/// was done.
pub(super) fn handlings(reading: &Reading, objects: &[EntityId]) -> Vec<Handling> {
    handled(reading, objects, None)
}

/// What was done in that time with things that were in view then, in time order: what is not seen again ten minutes later is
/// gone. Costs the sightings of those things from ten minutes before to ten minutes after it.
pub(in crate::answer) fn handled_in(reading: &Reading, span: Span) -> Vec<Handling> {
    let filter = PerceptFilter { span: Some(span), ..PerceptFilter::default() };
    let seen = reading.view.object_tracks(&filter);
    let things: BTreeSet<EntityId> = seen.iter().filter_map(|row| row.object).collect();
    let things: Vec<EntityId> = things.into_iter().collect();
    let wide = Span::new(span.start.plus_secs(-WATCHED_SECS), span.end.plus_secs(WATCHED_SECS));
    let mut found = handled(reading, &things, Some(wide));
    found.retain(|one| touch(span, one.span));
    found
}

fn handled(reading: &Reading, objects: &[EntityId], within: Option<Span>) -> Vec<Handling> {
    let mut found = Vec::new();
    for &object in objects {
        let rows = rows_of(reading, object, within.as_ref().map(std::slice::from_ref));
        let newest = rows.iter().map(|row| row.span.end).max();
        let mut places: BTreeMap<(SessionId, SourceId), Vec<Arc<ObjectTrackRow>>> = BTreeMap::new();
        for row in rows {
            places.entry((row.clip.session, row.source.clone())).or_default().push(row);
        }
        for ((session, source), rows) in places {
            let is_last = rows.iter().map(|row| row.span.end).max() == newest;
            let thing = Thing { reading, object, session, source, rows, is_last };
            let turns = thing.turns();
            thing.handlings(&turns, &mut found);
        }
    }
    found.sort_by_key(|one| (one.span.start, one.object));
    found
}

/// What one camera saw of a thing in one session.
struct Thing<'a> {
    reading: &'a Reading,
    object: EntityId,
    session: SessionId,
    source: SourceId,
    /// In time order.
    rows: Vec<Arc<ObjectTrackRow>>,
    /// Nothing was seen of it since.
    is_last: bool,
}

impl Thing<'_> {
    /// When its camera itself moved around the time it was seen, in time order.
    fn turns(&self) -> Vec<Span> {
        let starts = self.rows.iter().map(|row| row.span.start);
        let ends = self.rows.iter().map(|row| row.span.end);
        let (Some(start), Some(end)) = (starts.min(), ends.max()) else { return Vec::new() };
        let span = Some(Span::new(start.plus_secs(-WATCHED_SECS), end.plus_secs(WATCHED_SECS)));
        let source = Some(self.source.clone());
        let filter = PerceptFilter { span, source, ..PerceptFilter::default() };
        let rows = self.reading.view.camera_moves(&filter).into_iter();
        rows.filter(|row| row.clip.session == self.session).map(|row| row.moved.span).collect()
    }

    fn handlings(&self, turns: &[Span], into: &mut Vec<Handling>) {
        let mut sightings: Vec<Sighting> =
            self.rows.iter().flat_map(|row| row.sightings.iter().collect::<Vec<_>>()).collect();
        sightings.sort_by_key(|one| one.at);
        let (Some(first), Some(last)) = (sightings.first().copied(), sightings.last().copied())
        else {
            return;
        };
        let (mut came, mut went) = (false, false);
        for way in moves(&sightings, turns) {
            let bodies = self.bodies(way.span);
            let with = bodies.iter().filter(|body| carried(&sightings, &body.sightings, &way));
            let people: BTreeSet<Option<EntityId>> = with.map(|body| body.who).collect();
            let is_first = way.begins && way.span.start.secs_since(first.at) <= AT_IT_SECS;
            let is_end = way.ends && way.span.end == last.at;
            let gone = is_end && self.is_last && self.is_clear(&last, turns);
            (came, went) = (came || is_first, went || is_end);
            let what = match (is_first, gone) {
                (_, true) => What::Taken,
                (true, false) => What::Brought,
                (false, false) => What::Carried,
            };
            // What goes its own way was in nobody's hands.
            match (people.len(), what) {
                (1, _) => into.push(self.handling(
                    what,
                    &way,
                    people.into_iter().next().flatten(),
                    true,
                    true,
                )),
                (0, What::Taken) => into.push(self.handling(What::Gone, &way, None, false, true)),
                _ => {}
            }
        }
        let alone = |at: &Sighting| Move {
            span: Span::new(at.at, at.at),
            from: at.bbox,
            to: at.bbox,
            begins: false,
            ends: false,
        };
        if !came
            && self.began_later(first.at)
            && !came_by_turn(turns, first.at)
            && let Some(who) = self.only_one_at(&first)
        {
            into.push(self.handling(What::Brought, &alone(&first), who, true, false));
        }
        if !went && self.is_last && self.is_clear(&last, turns) {
            let who = self.only_one_at(&last);
            let what = if who.is_some() { What::Taken } else { What::Gone };
            into.push(self.handling(what, &alone(&last), who.flatten(), who.is_some(), false));
        }
    }

    fn handling(
        &self,
        what: What,
        way: &Move,
        who: Option<EntityId>,
        by_somebody: bool,
        was_seen: bool,
    ) -> Handling {
        let mut rows = self.rows.iter().rev();
        let row = rows.find(|row| row.span.start <= way.span.start).unwrap_or(&self.rows[0]);
        let (object, row) = (self.object, Arc::clone(row));
        Handling { what, span: way.span, who, by_somebody, was_seen, object, row }
    }

    /// The bodies that this camera saw then.
    fn bodies(&self, span: Span) -> Vec<Body> {
        let around = Span::new(span.start.plus_secs(-AT_IT_SECS), span.end.plus_secs(AT_IT_SECS));
        let source = Some(self.source.clone());
        let filter = PerceptFilter { span: Some(around), source, ..PerceptFilter::default() };
        let mut tracks: BTreeMap<TrackId, Body> = BTreeMap::new();
        let rows = self.reading.view.tracks(&filter).into_iter();
        for row in rows.filter(|row| row.body && row.clip.session == self.session) {
            let body = tracks.entry(row.track).or_insert(Body { who: None, sightings: Vec::new() });
            body.sightings.extend(row.sightings.iter());
            let person = row.face.map(|face| self.reading.view.resolve(face));
            body.who = body.who.or(person.filter(|person| Reading::is_person(*person)));
        }
        tracks.into_values().collect()
    }

    /// The one who stood at the thing then: `Some(None)` where nobody knows him, `None` where there is none or several.
    fn only_one_at(&self, look: &Sighting) -> Option<Option<EntityId>> {
        let near = |one: &Sighting| {
            one.at.secs_since(look.at).abs() <= AT_IT_SECS && within_reach(look.bbox, one.bbox)
        };
        let bodies = self.bodies(Span::new(look.at, look.at));
        let at_it = bodies.iter().filter(|body| body.sightings.iter().any(near));
        let people: BTreeSet<Option<EntityId>> = at_it.map(|body| body.who).collect();
        people.into_iter().next().filter(|_| self.is_single(look))
    }

    /// Whether no two bodies were in view then: whichever of them it was is not known.
    fn is_single(&self, look: &Sighting) -> bool {
        let bodies = self.bodies(Span::new(look.at, look.at));
        let there = bodies.iter().filter(|body| at_that_moment(&body.sightings, look.at).is_some());
        there.count() <= 1
    }

    /// Whether the camera had looked for a while before.
    fn began_later(&self, at: Timestamp) -> bool {
        let session = self.reading.view.session(self.session);
        session.is_some_and(|session| at.secs_since(session.start) > GONE_SECS)
    }

    /// Whether the camera went on looking there for a while after the thing was seen last, with nobody before its place.
    fn is_clear(&self, last: &Sighting, turns: &[Span]) -> bool {
        let since = Span::new(last.at, self.reading.now().min(last.at.plus_secs(WATCHED_SECS)));
        let until =
            self.reading.view.last_clip(Some(since), |clip| clip.id.session == self.session);
        let Some(until) = until.map(|clip| clip.span.end.min(since.end)) else { return false };
        let until = looked_there_until(turns, last.at, until);
        let bodies = self.bodies(Span::new(last.at, until));
        let covers = |one: &&Sighting| one.at >= last.at && within_reach(last.bbox, one.bbox);
        let covered = bodies.iter().flat_map(|body| body.sightings.iter().filter(covers));
        let since = covered.map(|one| one.at).max().unwrap_or(last.at);
        until.secs_since(since) >= GONE_SECS
    }
}

impl Handling {
    /// "Ben took the teddy bear at 17:30:05"
    pub(super) fn told(&self, reading: &Reading) -> String {
        let (thing, at) = (self.row.called(), reading.wording.at(self.span.start));
        let who = match self.who {
            Some(person) => reading.introduce(person),
            None => "somebody I could not identify".to_owned(),
        };
        match (self.what, self.was_seen) {
            (What::Brought, true) => format!("{who} brought the {thing} {at}"),
            (What::Carried, _) => format!("{who} carried the {thing} to another place {at}"),
            (What::Taken, true) => format!("{who} took the {thing} away {at}"),
            (What::Brought, false) => {
                format!("I first saw the {thing} {at}, when {who} stood at it: brought, I think")
            }
            (What::Taken, false) => {
                format!("I last saw the {thing} {at}, when {who} stood at it: taken, I think")
            }
            (What::Gone, _) => format!("the {thing} is gone; I last saw it {at}"),
        }
    }

    /// Whether both tell of one deed with one thing, under whatever ids.
    pub(super) fn is_same(&self, later: &Self) -> bool {
        self.what == later.what
            && self.who == later.who
            && self.row.label == later.row.label
            && later.span.start.secs_since(self.span.start) <= ONE_DEED_SECS
    }

    pub(super) fn entities(&self) -> Vec<EntityId> {
        self.who.into_iter().chain([self.object]).collect()
    }

    pub(super) fn evidence(&self, reading: &Reading) -> Evidence {
        let score = if self.was_seen { 1.0 } else { NOT_SEEN } * self.row.confidence;
        let text = crate::text::capitalised(&format!("{}.", self.told(reading)));
        let mut evidence = evidence_of(reading, &self.row, self.span, text, score);
        evidence.entities = self.entities();
        evidence
    }

    /// What the thing is called.
    pub(in crate::answer) fn thing(&self) -> String {
        self.row.called()
    }

    pub(in crate::answer) fn object(&self) -> EntityId {
        self.object
    }

    /// Whether the thing was seen on its way.
    pub(in crate::answer) fn was_seen(&self) -> bool {
        self.was_seen
    }

    /// Whether somebody had it.
    pub(super) fn is_by_somebody(&self) -> bool {
        self.by_somebody
    }
}
