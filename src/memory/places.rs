//! Places: where the robot stayed, or was told it is; what and who was seen there.
//!
//! A place is an entity. Where it lies is a fact of it ([`POSITION`]), written by upkeep where the robot stayed
//! for a while; its names are told or heard.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{EntityId, EntityKind, MemoryId};
use crate::time::{Span, Timestamp};

use super::filter::Filter;
use super::grid::Point;
use super::model::{MemoryKind, PoseRow};
use super::view::View;

/// Attribute of the fact that tells where a place lies: `map 1.25 -3.40`.
pub const POSITION: &str = "position";
/// A pose holds for what happens up to so long after it, seconds.
const POSE_HOLDS_SECS: f64 = 60.0;
/// The robot is at a place when it is this near, metres.
const AT_PLACE_M: f64 = 2.5;
/// Being away for less is no leaving, seconds.
const STAY_GAP_SECS: f64 = 30.0;

/// A place that has a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// `place_2`.
    pub id: EntityId,
    /// The name that outranks the others.
    pub name: Option<String>,
    /// Coordinate frame.
    pub frame: String,
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Since when it is known.
    pub since: Timestamp,
}

impl Place {
    /// Where it lies.
    #[must_use]
    pub fn point(&self) -> Point {
        Point { frame: self.frame.clone(), x: self.x, y: self.y }
    }
}

/// A thing that was told of while the robot was near.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThingNear {
    /// The thing.
    pub object: String,
    /// Where it is, as told.
    pub place: String,
    /// Since when.
    pub since: Timestamp,
    /// How far the robot was from the point then, metres.
    pub distance_m: f64,
    /// The memory that says so.
    pub memory: MemoryId,
}

/// The value of a position.
#[must_use]
pub fn position_value(point: &Point) -> String {
    format!("{} {:.2} {:.2}", point.frame, point.x, point.y)
}

fn read_position(value: &str) -> Option<Point> {
    let (rest, y) = value.rsplit_once(' ')?;
    let (frame, x) = rest.rsplit_once(' ')?;
    Some(Point { frame: frame.to_owned(), x: x.parse().ok()?, y: y.parse().ok()? })
}

impl View {
    /// Every place that has a position, by id.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let ids = self.entities().into_iter().filter(|id| id.kind == EntityKind::Place);
        ids.filter(|id| self.resolve(*id) == *id).filter_map(|id| self.place(id)).collect()
    }

    fn place(&self, id: EntityId) -> Option<Place> {
        let kinds = vec![MemoryKind::Semantic];
        let filter = Filter { entities: vec![id], kinds, ..Filter::default() };
        let rows = self.memories(&filter);
        let (row, point) = rows.iter().rev().find_map(|row| {
            let fact = row.fact.as_ref()?;
            let holds = fact.attribute == POSITION && row.valid_to.is_none();
            Some((row, read_position(&fact.value).filter(|_| holds)?))
        })?;
        let Point { frame, x, y } = point;
        let name = self.names(id).first().map(|row| row.name.clone());
        Some(Place { id, name, frame, x, y, since: row.valid_from })
    }

    /// Where the robot was then; `None` when no pose tells.
    #[must_use]
    pub fn pose_at(&self, at: Timestamp) -> Option<Arc<PoseRow>> {
        let around = Span::new(at.plus_secs(-POSE_HOLDS_SECS), at.plus_secs(1.0));
        let poses = self.poses(around);
        let before = poses.iter().rev().find(|row| row.pose.stamp <= at);
        before.or(poses.first()).map(Arc::clone)
    }

    /// The place at which the robot was then.
    #[must_use]
    pub fn place_at(&self, at: Timestamp) -> Option<Place> {
        let pose = self.pose_at(at)?;
        self.place_near(&Point { frame: pose.pose.frame.clone(), x: pose.pose.x, y: pose.pose.y })
    }

    /// The place that a point belongs to.
    #[must_use]
    pub fn place_near(&self, here: &Point) -> Option<Place> {
        let near = self.places().into_iter().filter_map(|place| {
            let distance = here.distance(&place.point()).filter(|d| *d <= AT_PLACE_M)?;
            Some((distance, place))
        });
        near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.id.cmp(&b.1.id))).map(|(_, place)| place)
    }

    /// What the subject of a fact is called: an object by its name, else by what it is.
    #[must_use]
    pub fn thing(&self, subject: &str) -> String {
        let object = subject.parse::<EntityId>().ok().filter(|id| id.kind == EntityKind::Object);
        let called = object.and_then(|id| {
            let told = self.names(id).first().map(|row| row.name.clone());
            told.or_else(|| self.label(id).map(|label| label.to_string()))
        });
        called.unwrap_or_else(|| subject.to_owned())
    }

    /// When the robot was at most `radius_m` from a point: stays, in time order.
    #[must_use]
    pub fn stays_near(&self, point: &Point, radius_m: f64) -> Vec<Span> {
        let mut stays: Vec<Span> = Vec::new();
        for row in self.poses_within(point, radius_m) {
            let at = row.pose.stamp;
            match stays.last_mut() {
                Some(stay) if at.secs_since(stay.end) <= STAY_GAP_SECS => stay.end = at,
                _ => stays.push(Span::new(at, at)),
            }
        }
        stays
    }

    /// When the robot was at a place.
    #[must_use]
    pub fn stays_at(&self, place: &Place) -> Vec<Span> {
        self.stays_near(&place.point(), AT_PLACE_M)
    }

    /// Things whose location was told while the robot was at most `radius_m` from a point, the nearest first.
    #[must_use]
    pub fn things_near(&self, point: &Point, radius_m: f64) -> Vec<ThingNear> {
        let kinds = vec![MemoryKind::Semantic, MemoryKind::Note];
        let rows = self.memories(&Filter { kinds, ..Filter::default() });
        let mut found: Vec<ThingNear> = rows
            .iter()
            .filter(|row| row.valid_to.is_none())
            .filter_map(|row| {
                let fact = row.fact.as_ref().filter(|fact| fact.attribute == "location")?;
                let pose = self.pose_at(row.span.start)?;
                let there =
                    Point { frame: pose.pose.frame.clone(), x: pose.pose.x, y: pose.pose.y };
                let distance_m = point.distance(&there).filter(|d| *d <= radius_m)?;
                Some(ThingNear {
                    object: self.thing(&fact.subject),
                    place: fact.value.clone(),
                    since: row.valid_from,
                    distance_m,
                    memory: row.id,
                })
            })
            .collect();
        found.sort_by(|a, b| a.distance_m.total_cmp(&b.distance_m).then(a.memory.cmp(&b.memory)));
        found
    }
}
