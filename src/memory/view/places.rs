//! Places: where the robot stayed, or was told it is; what and who was seen there.
//!
//! A place is an entity. Where it lies is a fact of it ([`POSITION`]), written by upkeep where the robot stayed
//! for a while; its names are told or heard. That the robot is there may be told, too ([`WHEREABOUTS`]): such a place
//! needs no position.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{EntityId, EntityKind, MemoryId};
use crate::time::{Span, Timestamp};

use super::View;
use super::filter::Filter;
use super::grid::{Point, point_of};
use crate::memory::model::{MemoryKind, PoseRow};

/// Attribute of the fact that tells where a place lies: `map 1.25 -3.40`.
pub const POSITION: &str = "position";
/// Attribute of the fact that tells at which place the robot is; its memory is about that place, and says until when it
/// holds unless another one is told.
pub const WHEREABOUTS: &str = "whereabouts";
/// A pose holds for what happens up to so long after it, seconds.
const POSE_HOLDS_SECS: f64 = 60.0;
/// The robot is at a place when it is this near, metres.
const AT_PLACE_M: f64 = 2.5;
/// Being away for less is no leaving, seconds.
const STAY_GAP_SECS: f64 = 30.0;

/// A place that has a position, or a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// `place_2`.
    pub id: EntityId,
    /// The name that outranks the others.
    pub name: Option<String>,
    /// Where it lies; `None` while no pose tells.
    #[serde(flatten)]
    pub position: Option<Point>,
    /// Since when it is known.
    pub since: Timestamp,
}

impl Place {
    /// Whether it has that name.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(name))
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
    /// Every place that has a position or a name, by id.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let ids = self.entities().into_iter().filter(|id| id.kind == EntityKind::Place);
        ids.filter(|id| self.resolve(*id) == *id).filter_map(|id| self.place(id)).collect()
    }

    fn place(&self, id: EntityId) -> Option<Place> {
        let kinds = vec![MemoryKind::Semantic];
        let filter = Filter { entities: vec![id], kinds, ..Filter::default() };
        let rows = self.memories(&filter);
        let found = rows.iter().rev().find_map(|row| {
            let fact = row.fact.as_ref()?;
            let holds = fact.attribute == POSITION && row.valid_to.is_none();
            Some((row.valid_from, read_position(&fact.value).filter(|_| holds)?))
        });
        let names = self.names(id);
        let named = names.first();
        let since = found.as_ref().map(|(since, _)| *since).or(named.map(|row| row.since))?;
        let name = named.map(|row| row.name.clone());
        Some(Place { id, name, position: found.map(|(_, point)| point), since })
    }

    /// Where the robot was then; `None` when no pose tells.
    #[must_use]
    pub fn pose_at(&self, at: Timestamp) -> Option<Arc<PoseRow>> {
        let around = Span::new(at.plus_secs(-POSE_HOLDS_SECS), at.plus_secs(1.0));
        let poses = self.poses(around);
        let before = poses.iter().rev().find(|row| row.pose.stamp <= at);
        before.or(poses.first()).map(Arc::clone)
    }

    /// The place at which the robot was then: by its pose, else as it was told.
    #[must_use]
    pub fn place_at(&self, at: Timestamp) -> Option<Place> {
        let posed = self.pose_at(at).and_then(|row| self.place_near(&point_of(&row)));
        posed.or_else(|| {
            let mut told = self.told_stays().into_iter().rev();
            let (id, _) = told.find(|(_, stay)| stay.start <= at && at <= stay.end)?;
            self.place(id)
        })
    }

    /// Where the robot was told to be, in time order: each stay lasts until another place is told, or as long as its
    /// memory holds.
    fn told_stays(&self) -> Vec<(EntityId, Span)> {
        let kinds = vec![MemoryKind::Semantic];
        let entities = vec![EntityId::ROBOT];
        let rows = self.memories(&Filter { kinds, entities, ..Filter::default() });
        let mut stays: Vec<(EntityId, Span)> = Vec::new();
        for row in rows {
            if row.fact.as_ref().is_none_or(|fact| fact.attribute != WHEREABOUTS) {
                continue;
            }
            let Some(place) = row.entities.iter().find(|id| id.kind == EntityKind::Place) else {
                continue;
            };
            let (place, start) = (self.resolve(*place), row.valid_from);
            let end = row.valid_to.unwrap_or(Timestamp::MAX).max(start);
            match stays.last_mut() {
                Some((last, stay)) if *last == place && start <= stay.end => {
                    stay.end = stay.end.max(end);
                }
                last => {
                    if let Some((_, stay)) = last {
                        stay.end = stay.end.min(start);
                    }
                    stays.push((place, Span::new(start, end)));
                }
            }
        }
        stays
    }

    /// The place that a point belongs to.
    #[must_use]
    pub fn place_near(&self, here: &Point) -> Option<Place> {
        let near = self.places().into_iter().filter_map(|place| {
            let distance = here.distance(place.position.as_ref()?).filter(|d| *d <= AT_PLACE_M)?;
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

    /// When the robot was at a place, by its poses or as it was told; in time order and apart from each other.
    #[must_use]
    pub fn stays_at(&self, place: &Place) -> Vec<Span> {
        let posed = place.position.iter().flat_map(|point| self.stays_near(point, AT_PLACE_M));
        let newest = self.newest_time().unwrap_or(Timestamp::MAX);
        let told = self.told_stays().into_iter().filter(|(id, _)| *id == place.id);
        let told =
            told.map(|(_, stay)| Span::new(stay.start, stay.end.min(newest).max(stay.start)));
        joined(posed.chain(told).collect())
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
                let distance_m = point.distance(&point_of(&pose)).filter(|d| *d <= radius_m)?;
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

/// The same time as stretches apart from each other, in time order.
pub(crate) fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut apart: Vec<Span> = Vec::new();
    for span in spans {
        match apart.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => apart.push(span),
        }
    }
    apart
}
