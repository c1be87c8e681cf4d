//! Places from poses: where the robot stays for a while and no place is known yet, there is one; what is said
//! there ("this is the kitchen") names it.

use super::{BUILTIN, Upkeep};
use crate::ids::{EntityId, EntityKind, SessionId};
use crate::memorize::FactReader;
use crate::memory::model::{Fact, MemoryKind, MemoryRow, NameRow, NameSource, PoseRow};
use crate::memory::{Draft, Filter, POSITION, Point, View, position_value};
use crate::time::{Span, Timestamp};

/// Moving less than this is staying, metres.
const STILL_M: f64 = 0.75;
/// Poses farther apart than this do not belong together, seconds.
const GAP_SECS: f64 = 60.0;

/// The robot stood still.
struct Stop {
    point: Point,
    span: Span,
}

/// What a pass over new poses found.
pub(super) struct Found {
    /// From where on the next pass looks: the beginning of what is not over yet.
    pub(super) next: Timestamp,
    /// Places founded.
    pub(super) places: usize,
    /// Names learned.
    pub(super) names: usize,
}

fn point(row: &PoseRow) -> Option<Point> {
    let pose = &row.pose;
    let sound = pose.x.is_finite() && pose.y.is_finite();
    sound.then(|| Point { frame: pose.frame.clone(), x: pose.x, y: pose.y })
}

/// Stops among a session's new poses, and where the one that is not over began.
fn stops(view: &View, session: SessionId, new: Span, stay_secs: f64) -> (Vec<Stop>, Timestamp) {
    let mut found: Vec<Stop> = Vec::new();
    let mut open: Option<Stop> = None;
    let mut close = |stop: Stop| {
        if stop.span.secs() >= stay_secs {
            found.push(stop);
        }
    };
    for row in view.poses(new) {
        let Some(point) = point(&row).filter(|_| row.clip.session == session) else { continue };
        let at = row.pose.stamp;
        match &mut open {
            Some(stop)
                if stop.point.distance(&point).is_some_and(|d| d <= STILL_M)
                    && at.secs_since(stop.span.end) <= GAP_SECS =>
            {
                stop.span.end = at;
            }
            _ => {
                let before = open.replace(Stop { point, span: Span::new(at, at) });
                before.into_iter().for_each(&mut close);
            }
        }
    }
    let next = match open {
        // Staying on: what is long enough counts now, and is looked at again from its end.
        Some(stop) if stop.span.secs() >= stay_secs => {
            let end = stop.span.end;
            close(stop);
            end
        }
        Some(stop) => stop.span.start,
        None => new.end,
    };
    (found, next)
}

/// Founds places where the robot stopped in a session's new poses, and names them by what was said there.
pub(super) fn found(
    before: &View,
    (session, new): (SessionId, Span),
    upkeep: &Upkeep,
    draft: &mut Draft,
) -> Found {
    let settings = &upkeep.settings;
    let (stops, next) = stops(before, session, new, settings.place_stay_secs);
    let known = before.places();
    // Told before any pose said where it lies.
    let told = |name: &str| {
        let mut told = known.iter().filter(|place| place.position.is_none());
        told.find(|place| place.is_called(name)).map(|place| place.id)
    };
    let mut places: Vec<(EntityId, Point)> =
        known.iter().filter_map(|place| Some((place.id, place.position.clone()?))).collect();
    let mut result = Found { next, places: 0, names: 0 };
    for stop in stops {
        let near = places.iter().filter_map(|(id, point)| {
            let distance = stop.point.distance(point).filter(|d| *d <= settings.place_radius_m)?;
            Some((distance, *id))
        });
        let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let named = names(before, stop.span, upkeep.memorizer.reader());
        let place = nearest.map(|(_, id)| id).unwrap_or_else(|| {
            let mut told = named.iter().filter_map(|(name, ..)| told(name));
            let told = told.find(|told| places.iter().all(|(id, _)| id != told));
            let id = told.unwrap_or_else(|| draft.new_entity(EntityKind::Place));
            position(id, &stop, before, upkeep, draft);
            places.push((id, stop.point.clone()));
            result.places += 1;
            id
        });
        for (name, at, source) in named {
            let own = before.names(place);
            let of_another = known.iter().any(|other| other.id != place && other.is_called(&name));
            if !of_another && !own.iter().any(|row| row.name.eq_ignore_ascii_case(&name)) {
                draft.name(NameRow { entity: place, name, since: at, source, turn: None });
                result.names += 1;
            }
        }
    }
    result
}

/// "<place_1> is at x 1.2 m, y 3.4 m."
fn position(id: EntityId, stop: &Stop, before: &View, upkeep: &Upkeep, draft: &mut Draft) {
    let Point { frame, x, y } = &stop.point;
    let text = format!("<{id}> is at x {x:.1} m, y {y:.1} m ({frame}).");
    let row = MemoryRow {
        id: draft.new_memory_id(),
        kind: MemoryKind::Semantic,
        span: stop.span,
        clip: None,
        entities: vec![id],
        fact: Some(Fact {
            subject: id.to_string(),
            attribute: POSITION.to_owned(),
            value: position_value(&stop.point),
        }),
        importance: 0.2,
        confidence: 0.9,
        pinned: true,
        valid_from: stop.span.start,
        valid_to: None,
        grounds: Vec::new(),
        origin: BUILTIN.to_owned(),
        text,
    };
    let vector = upkeep.vector(&row.text, before);
    draft.memory(row, vector);
}

/// Names of the place that were said or told while the robot was there, in time order.
fn names(
    view: &View,
    span: Span,
    reader: Option<&FactReader>,
) -> Vec<(String, Timestamp, NameSource)> {
    let Some(reader) = reader else { return Vec::new() };
    let kinds = vec![MemoryKind::Utterance, MemoryKind::Note];
    let around = Span::new(span.start, span.end.plus_secs(1.0));
    let filter = Filter { span: Some(around), kinds, ..Filter::default() };
    let rows = view.memories(&filter);
    let named = rows.iter().filter_map(|row| {
        let source = match row.kind {
            MemoryKind::Note => NameSource::Told,
            _ => NameSource::Said,
        };
        let at = row.span.start;
        let name = reader.place_named(row.words(), at, view, source == NameSource::Said)?;
        Some((name, at, source))
    });
    named.collect()
}
