//! Where the robot stayed, by its poses or as it was told, and what was near a point.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::find::name_of;
use crate::ids::{EntityId, EntityKind};
use crate::memory::{PerceptFilter, Place, Point, ThingNear, View};
use crate::mqtt::Refusal;
use crate::time::{Span, Timestamp};

/// How far around a point is looked, where nothing is said, metres.
const RADIUS_M: f64 = 2.0;
/// The farthest, metres.
const MOST_M: f64 = 200.0;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PlacesArgs {
    /// Metres.
    x: Option<f64>,
    /// Metres.
    y: Option<f64>,
    /// Metres; default 2.
    radius_m: Option<f64>,
    /// Coordinate frame; default: that of the newest pose.
    frame: Option<String>,
}

/// A place and how the robot stayed there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceRow {
    /// The place.
    #[serde(flatten)]
    pub place: Place,
    /// How often it was there.
    pub stays: usize,
    /// How long in all, seconds.
    pub secs: f64,
}

/// What was near a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// When the robot was there.
    pub stays: Vec<Span>,
    /// Persons seen or heard meanwhile: id, name, when last.
    pub persons: Vec<(EntityId, Option<String>, Timestamp)>,
    /// Things whose place was told meanwhile, the nearest first.
    pub things: Vec<ThingNear>,
}

/// The reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Places {
    /// Every place with a position or a name, by id.
    pub places: Vec<PlaceRow>,
    /// Of the point asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<Near>,
    /// The pose nearest to it: x, y, when, and how far, metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<(f64, f64, Timestamp, f64)>,
}

pub(super) fn places(view: &View, args: &PlacesArgs) -> Result<Value, Refusal> {
    let row = |place: Place| {
        let stays = view.stays_at(&place);
        PlaceRow { place, stays: stays.len(), secs: stays.iter().map(|stay| stay.secs()).sum() }
    };
    let mut reply =
        Places { places: view.places().into_iter().map(row).collect(), near: None, nearest: None };
    match (args.x, args.y) {
        (None, None) => {}
        (Some(x), Some(y)) if x.is_finite() && y.is_finite() => {
            let radius_m = args.radius_m.unwrap_or(RADIUS_M);
            if !(0.0..=MOST_M).contains(&radius_m) {
                return Err(Refusal::bad_request(format!(
                    "`radius_m` is {radius_m}, but must be 0–{MOST_M}"
                )));
            }
            let frame = args.frame.clone().or_else(|| newest_frame(view)).unwrap_or_default();
            let point = Point { frame, x, y };
            reply.near = Some(near(view, &point, radius_m));
            reply.nearest = view
                .nearest_pose(&point)
                .map(|(row, distance)| (row.pose.x, row.pose.y, row.pose.stamp, distance));
        }
        _ => return Err(Refusal::bad_request("give both `x` and `y`, in metres")),
    }
    Ok(json!(reply))
}

fn newest_frame(view: &View) -> Option<String> {
    view.pose_at(view.newest_time()?)
        .map(|row| row.pose.frame.clone())
        .or_else(|| view.places().into_iter().rev().find_map(|place| Some(place.position?.frame)))
}

fn near(view: &View, point: &Point, radius_m: f64) -> Near {
    let stays = view.stays_near(point, radius_m);
    let mut persons: BTreeMap<EntityId, Timestamp> = BTreeMap::new();
    for stay in &stays {
        // A single pose holds for the second around it.
        let span = Span::new(stay.start.plus_secs(-0.5), stay.end.plus_secs(0.5));
        let filter = PerceptFilter { span: Some(span), ..PerceptFilter::default() };
        let seen = view.tracks(&filter).into_iter().map(|row| (row.face, row.span.end));
        let heard = view.turns(&filter).into_iter().map(|row| (row.voice, row.span.end));
        for (part, at) in seen.chain(heard).collect::<Vec<_>>() {
            let Some(person) = part.map(|part| view.resolve(part)) else { continue };
            if person.kind == EntityKind::Person {
                let last = persons.entry(person).or_insert(at);
                *last = at.max(*last);
            }
        }
    }
    let persons = persons.into_iter().map(|(id, at)| (id, name_of(view, id), at)).collect();
    Near { stays, persons, things: view.things_near(point, radius_m) }
}
