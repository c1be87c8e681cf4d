//! The memory graph as a picture: persons with their faces and voices, places, things, newest memories.
//!
//! `graph` gathers nodes and edges from a view; `layout` places them, always the same way; `dot`, `svg`
//! and `html` write them down.

mod layout;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::ids::{EntityId, EntityKind};
use crate::mention;

use super::view::View;
use super::view::filter::{Filter, Order};

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// A person or the robot.
    Person,
    /// A face.
    Face,
    /// A voice.
    Voice,
    /// A thing.
    Object,
    /// A place.
    Place,
    /// A memory.
    Memory,
}

/// A node of the picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// Entity or memory id.
    pub id: String,
    /// What it stands for.
    pub kind: NodeKind,
    /// What is written on it.
    pub label: String,
    /// What is shown when it is pointed at.
    pub detail: String,
}

/// What joins two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// A face or voice of a person.
    PartOf,
    /// Evidence that a face and a voice are one person (weight: seconds for less seconds against).
    Evidence,
    /// A memory about an entity.
    About,
}

/// An edge of the picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// Position of the one node.
    pub from: usize,
    /// Position of the other.
    pub to: usize,
    /// What joins them.
    pub kind: EdgeKind,
    /// Signed; 1 where nothing is weighed.
    pub weight: f64,
}

/// Persons that are drawn at most, and things and places together: nobody finds anybody among more, and what places them costs
/// the square of how many there are.
const MOST_PERSONS: usize = 120;
const MOST_THINGS: usize = 120;

/// The memory graph, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MemoryGraph {
    /// Nodes: persons, their parts, things and places, memories; each in order of ids.
    pub nodes: Vec<Node>,
    /// Edges between positions in `nodes`.
    pub edges: Vec<Edge>,
    /// Persons that are not drawn: unnamed ones who were not met lately, of more than are drawn.
    pub persons_left_out: usize,
    /// Things and places that are not drawn: the oldest, of more than are drawn.
    pub things_left_out: usize,
}

impl View {
    /// The graph of everyone and everything, with the `memories` newest memories. Of more people than can be drawn those
    /// with a name come first, then whoever was met last; of more things and places the newest.
    #[must_use]
    pub fn graph(&self, memories: usize) -> MemoryGraph {
        let mut graph = MemoryGraph::default();
        let mut places: BTreeMap<EntityId, usize> = BTreeMap::new();
        let mut persons = self.persons();
        persons.sort_by_key(|person| {
            (person.name.is_none(), std::cmp::Reverse(person.last_seen), person.id)
        });
        graph.persons_left_out = persons.len().saturating_sub(MOST_PERSONS);
        persons.truncate(MOST_PERSONS);
        persons.sort_by_key(|person| person.id);
        let is_thing = |id: &EntityId| matches!(id.kind, EntityKind::Object | EntityKind::Place);
        let things = self.entities().into_iter().filter(is_thing);
        let things: Vec<EntityId> = things.filter(|thing| self.resolve(*thing) == *thing).collect();
        graph.things_left_out = things.len().saturating_sub(MOST_THINGS);
        let drawn: BTreeSet<EntityId> = things.into_iter().rev().take(MOST_THINGS).collect();
        for person in persons {
            let label = match &person.name {
                Some(name) => format!("{name} · {}", person.id),
                None => person.id.to_string(),
            };
            let detail = format!(
                "{label}: seen {:.0} s, heard {:.0} s",
                person.seen_secs, person.spoken_secs
            );
            let id = person.id;
            places.insert(id, graph.add(id.to_string(), NodeKind::Person, label, detail));
        }
        for part in self.entities() {
            let kind = match part.kind {
                EntityKind::Face => NodeKind::Face,
                EntityKind::Voice => NodeKind::Voice,
                EntityKind::Object => NodeKind::Object,
                EntityKind::Place => NodeKind::Place,
                EntityKind::Person | EntityKind::Robot => continue,
            };
            let head = self.resolve(part);
            let is_drawn = match kind {
                NodeKind::Object | NodeKind::Place => drawn.contains(&part),
                _ => graph.persons_left_out == 0 || places.contains_key(&head),
            };
            if !is_drawn {
                continue;
            }
            let (label, detail) = match kind {
                NodeKind::Face | NodeKind::Voice => (
                    part.to_string(),
                    self.membership(part).map_or_else(
                        || format!("{part}: undecided"),
                        |row| format!("{part} belongs to {head}: {}", row.reason),
                    ),
                ),
                _ => (self.display_name(part), part.to_string()),
            };
            let at = graph.add(part.to_string(), kind, label, detail);
            if let Some(person) = places.get(&head) {
                graph.edges.push(Edge {
                    from: *person,
                    to: at,
                    kind: EdgeKind::PartOf,
                    weight: 1.0,
                });
            }
            places.insert(part, at);
        }
        for pair in self.summed_evidence().iter().filter(|pair| pair.as_standing().is_none()) {
            if let (Some(face), Some(voice)) = (places.get(&pair.face), places.get(&pair.voice)) {
                let weight = pair.support_secs - pair.against_secs;
                graph.edges.push(Edge {
                    from: *face,
                    to: *voice,
                    kind: EdgeKind::Evidence,
                    weight,
                });
            }
        }
        let newest =
            Filter { limit: Some(memories), order: Order::NewestFirst, ..Filter::default() };
        let mut rows = self.memories(&newest);
        rows.reverse();
        for row in rows {
            let text = mention::render(&row.text, |id| self.display_name(id));
            let detail = format!("{} {}: {text}", row.id, row.span.start);
            let at = graph.add(row.id.to_string(), NodeKind::Memory, shortened(&text), detail);
            let mut about: Vec<usize> = row
                .entities
                .iter()
                .filter_map(|id| places.get(&self.resolve(*id)).or_else(|| places.get(id)).copied())
                .collect();
            about.sort_unstable();
            about.dedup();
            for entity in about {
                graph.edges.push(Edge { from: entity, to: at, kind: EdgeKind::About, weight: 1.0 });
            }
        }
        graph
    }
}

impl MemoryGraph {
    /// For people: who and what is not drawn; `None` where all are.
    fn left_out(&self) -> Option<String> {
        let parts =
            [(self.persons_left_out, "persons"), (self.things_left_out, "things and places")];
        let told: Vec<String> = parts
            .into_iter()
            .filter(|(many, _)| *many > 0)
            .map(|(many, what)| format!("{many} more {what}"))
            .collect();
        (!told.is_empty()).then(|| format!("not drawn: {}", told.join(", ")))
    }

    fn add(&mut self, id: String, kind: NodeKind, label: String, detail: String) -> usize {
        self.nodes.push(Node { id, kind, label, detail });
        self.nodes.len() - 1
    }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 34;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(LONGEST - 1).collect();
    cut.push('…');
    cut
}
