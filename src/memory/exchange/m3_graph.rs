//! The memory graph of M3-Agent (arXiv 2508.09736) in the JSON form that `scripts/m3_graph.py` writes from its pickle.
//!
//! A pure reader: lines in, a graph without loose ends out. docs/recordings.md describes the form.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::ids::EntityKind;
use crate::time::{Span, Timestamp};

use crate::memory::error::MemoryError;

/// The form that is read.
const FORM: u64 = 1;
/// Clips of nine years, 30 s each: what is said to be later is damage.
const MOST_CLIPS: u32 = 10_000_000;

/// A memory graph of M3-Agent, whole and without loose ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct M3Graph {
    pub(in crate::memory) clip_secs: f64,
    pub(in crate::memory) nodes: BTreeMap<u64, Node>,
    /// From a sentence to whom it is about: how often it was confirmed.
    pub(in crate::memory) edges: BTreeMap<(u64, u64), f64>,
    equivalences: Vec<EquivalenceLine>,
    /// Of the lines.
    pub(in crate::memory) sha256: String,
}

/// A face, a voice or a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::memory) struct Node {
    pub(in crate::memory) kind: NodeKind,
    /// Of sentences alone.
    pub(in crate::memory) clip: u32,
    pub(in crate::memory) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::memory) enum NodeKind {
    #[serde(alias = "img")]
    Face,
    Voice,
    Episodic,
    Semantic,
}

impl NodeKind {
    /// Somebody's face or voice; `None`: a sentence.
    pub(in crate::memory) fn part(self) -> Option<EntityKind> {
        match self {
            Self::Face => Some(EntityKind::Face),
            Self::Voice => Some(EntityKind::Voice),
            Self::Episodic | Self::Semantic => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    #[serde(rename = "m3_graph")]
    _form: IgnoredAny,
    nodes: usize,
    edges: usize,
    equivalences: usize,
    #[serde(default = "half_a_minute")]
    clip_secs: f64,
}

fn half_a_minute() -> f64 {
    30.0
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeLine {
    node: u64,
    #[serde(rename = "type")]
    kind: NodeKind,
    #[serde(default)]
    clip: Option<u32>,
    #[serde(default)]
    contents: Vec<String>,
    #[serde(default, rename = "embeddings")]
    _embeddings: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EdgeLine {
    edge: (u64, u64),
    #[serde(default = "once")]
    weight: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct EquivalenceLine {
    equivalent: (u64, u64),
    #[serde(default = "once")]
    weight: f64,
}

fn once() -> f64 {
    1.0
}

fn refused(why: &str) -> MemoryError {
    MemoryError::Refused(format!("importing a graph of M3-Agent: {why}"))
}

fn read_as<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

impl M3Graph {
    /// Whether a file that begins with this line is such a graph.
    #[must_use]
    pub fn begins_with(line: &str) -> bool {
        serde_json::from_str::<Value>(line).is_ok_and(|head| head.get("m3_graph").is_some())
    }

    /// Reads the JSON lines.
    ///
    /// # Errors
    /// When they are of another form, lines are missing, or one speaks of a node that is not there.
    pub fn read(lines: impl BufRead) -> Result<Self, MemoryError> {
        let mut graph = Self::default();
        let mut head: Option<Head> = None;
        let mut digest = Sha256::new();
        for (at, line) in lines.lines().enumerate() {
            let line = line.map_err(MemoryError::io("reading the graph", Path::new("-")))?;
            digest.update(line.as_bytes());
            digest.update(b"\n");
            let taken = if head.is_some() {
                graph.take(&line)
            } else {
                Head::read(&line).map(|read| head = Some(read))
            };
            taken.map_err(|why| refused(&format!("line {}: {why}", at + 1)))?;
        }
        let head = head.ok_or_else(|| refused("there is nothing in it"))?;
        graph.clip_secs = head.clip_secs;
        graph.sha256 = hex::encode(digest.finalize());
        for (what, found, promised) in [
            ("nodes", graph.nodes.len(), head.nodes),
            ("edges", graph.edges.len(), head.edges),
            ("equivalences", graph.equivalences.len(), head.equivalences),
        ] {
            if found != promised {
                return Err(refused(&format!("{found} {what} of {promised}: it was cut")));
            }
        }
        graph.check_ends().map_err(|why| refused(&why))?;
        Ok(graph)
    }

    /// Takes a line behind the first in.
    fn take(&mut self, line: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if value.get("node").is_some() {
            let NodeLine { node, kind, clip, contents, .. } = read_as(value)?;
            let text = contents.join(" ");
            if kind.part().is_none() {
                if clip.is_none_or(|clip| clip >= MOST_CLIPS) {
                    return Err(format!("node {node} is a sentence and needs the clip it is of"));
                }
                if text.trim().is_empty() {
                    return Err(format!("node {node} is a sentence and says nothing"));
                }
            }
            let node_of = Node { kind, clip: clip.unwrap_or_default(), text };
            if self.nodes.insert(node, node_of).is_some() {
                return Err(format!("node {node} is there twice"));
            }
        } else if value.get("edge").is_some() {
            let EdgeLine { edge, weight } = read_as(value)?;
            if self.edges.insert(edge, weight).is_some() {
                return Err(format!("the edge of {} and {} is there twice", edge.0, edge.1));
            }
        } else if value.get("equivalent").is_some() {
            self.equivalences.push(read_as(value)?);
        } else {
            return Err("neither a node nor an edge nor an equivalence".to_owned());
        }
        Ok(())
    }

    /// Edges go from sentences to faces and voices, and these alone are equivalent.
    fn check_ends(&self) -> Result<(), String> {
        let part = |node: u64| {
            let known = self.nodes.get(&node).ok_or_else(|| format!("there is no node {node}"))?;
            Ok::<_, String>(known.kind.part())
        };
        for (text, of) in self.edges.keys() {
            if part(*text)?.is_some() || part(*of)?.is_none() {
                return Err(format!(
                    "the edge of {text} and {of} is not from a sentence to a face or voice"
                ));
            }
        }
        for line in &self.equivalences {
            for node in [line.equivalent.0, line.equivalent.1] {
                if part(node)?.is_none() {
                    return Err(format!(
                        "node {node} is no face or voice, and is equivalent to none"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Every face and voice with the first node of its person.
    ///
    /// A voice goes with the face that most of the equivalences give it, the others are passed over: taken all
    /// together, one mistake would make two people one.
    pub(in crate::memory) fn persons(&self) -> BTreeMap<u64, u64> {
        let is_voice =
            |node: &u64| self.nodes.get(node).is_some_and(|node| node.kind == NodeKind::Voice);
        let mut said: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        let mut pairs: Vec<(u64, u64)> = Vec::new();
        for EquivalenceLine { equivalent: (a, b), weight } in &self.equivalences {
            match (is_voice(a), is_voice(b)) {
                (true, false) => *said.entry((*a, *b)).or_default() += weight,
                (false, true) => *said.entry((*b, *a)).or_default() += weight,
                _ => pairs.push((*a, *b)),
            }
        }
        let mut faces: BTreeMap<u64, (u64, f64)> = BTreeMap::new();
        for ((voice, face), weight) in said {
            let best = faces.entry(voice).or_insert((face, weight));
            if weight > best.1 {
                *best = (face, weight);
            }
        }
        pairs.extend(faces.into_iter().map(|(voice, (face, _))| (face, voice)));

        let parts = self.nodes.iter().filter(|(_, node)| node.kind.part().is_some());
        let mut heads: BTreeMap<u64, u64> = parts.map(|(node, _)| (*node, *node)).collect();
        for (a, b) in pairs {
            let (Some(x), Some(y)) = (heads.get(&a).copied(), heads.get(&b).copied()) else {
                continue;
            };
            for head in heads.values_mut().filter(|head| **head == x.max(y)) {
                *head = x.min(y);
            }
        }
        heads
    }

    pub(in crate::memory) fn span(&self, clip: u32, start: Timestamp) -> Span {
        let begin = start.plus_secs(f64::from(clip) * self.clip_secs);
        Span::new(begin, begin.plus_secs(self.clip_secs))
    }

    /// How far a sentence is believed, 0–1: one that M3-Agent met again has heavier edges.
    pub(in crate::memory) fn belief(&self, text: u64) -> f32 {
        let own = self.edges.range((text, 0)..=(text, u64::MAX));
        let weight = own.map(|(_, weight)| *weight).fold(1.0, f64::max);
        (1.0 - 0.4 / weight) as f32
    }
}

impl Head {
    fn read(line: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match value.get("m3_graph").and_then(Value::as_u64) {
            None => return Err("it does not begin with {\"m3_graph\":1, …}".to_owned()),
            Some(form) if form != FORM => {
                return Err(format!("the graph is of form {form}, this engram reads {FORM}"));
            }
            Some(_) => {}
        }
        let head: Self = read_as(value)?;
        if !(head.clip_secs > 0.0 && head.clip_secs <= 3600.0) {
            return Err(format!("clips of {} s: up to an hour is read", head.clip_secs));
        }
        Ok(head)
    }
}
