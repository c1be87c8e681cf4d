//! Taking in the memory graph of M3-Agent ([`M3Graph`]) as one finished session.
//!
//! Faces and voices come in as people, sentences as memories. Vectors do not: they are of other models, and those of
//! sentences are made anew as for any memory that has none.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::ids::{ClipId, EntityId, EntityKind, SessionId};
use crate::mention;
use crate::time::Timestamp;

use super::m3_graph::{M3Graph, Node, NodeKind};
use crate::memory::error::MemoryError;
use crate::memory::model::{Clip, Membership, MemoryKind, MemoryRow, Recording};
use crate::memory::{Draft, Memory};

/// Where these memories come from: their [`MemoryRow::origin`].
pub const ORIGIN: &str = "m3-agent";

/// What was taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct M3Imported {
    /// Faces.
    pub faces: u64,
    /// Voices.
    pub voices: u64,
    /// Persons that they are.
    pub persons: u64,
    /// Sentences about what happened.
    pub episodic: u64,
    /// Sentences about what is so.
    pub semantic: u64,
    /// Mentions of faces, voices and characters that are not in the graph: now "somebody".
    pub unknown_mentions: u64,
}

impl Memory {
    /// Takes a graph into this memory, which must be empty, in one commit: clip 0 begins at `start`.
    ///
    /// # Errors
    /// When something was remembered here already, or the disk fails; nothing came in then.
    pub fn import_m3(&self, graph: &M3Graph, start: Timestamp) -> Result<M3Imported, MemoryError> {
        let sentences = graph.nodes.values().filter(|node| node.kind.part().is_none());
        let clips: BTreeSet<u32> = sentences.map(|node| node.clip).collect();
        let end = clips.last().map_or(start, |clip| graph.span(*clip, start).end);
        let mut draft = self.begin(end);
        self.must_be_empty()?;
        let recording = Recording {
            sha256: graph.sha256.clone(),
            path: "a memory graph of M3-Agent".to_owned(),
            selection: ORIGIN.to_owned(),
        };
        let session = draft.new_session(start, graph.clip_secs, Some(recording));
        for index in clips {
            draft.clip(Clip {
                id: ClipId { session, index },
                span: graph.span(index, start),
                frames: 0,
                analysed: 0,
                dropped: 0,
                key_frames: Vec::new(),
            });
        }
        let mut done = M3Imported::default();
        let parts = put_people(graph, &mut draft, &mut done);
        put_sentences(graph, &parts, (session, start), &mut draft, &mut done);
        draft.finish_session(session)?;
        draft.commit()?;
        Ok(done)
    }
}

/// Gives faces, voices and persons their ids; gives back those of faces and voices by node.
fn put_people(
    graph: &M3Graph,
    draft: &mut Draft,
    done: &mut M3Imported,
) -> BTreeMap<u64, EntityId> {
    let mut parts = BTreeMap::new();
    for (node, kind) in
        graph.nodes.iter().filter_map(|(node, of)| of.kind.part().map(|kind| (*node, kind)))
    {
        parts.insert(node, draft.new_entity(kind));
        match kind {
            EntityKind::Voice => done.voices += 1,
            _ => done.faces += 1,
        }
    }
    let mut persons: BTreeMap<u64, EntityId> = BTreeMap::new();
    for (node, head) in graph.persons() {
        let Some(part) = parts.get(&node) else { continue };
        let person = *persons.entry(head).or_insert_with(|| draft.new_entity(EntityKind::Person));
        let reason = if head == node {
            "a character of the graph of M3-Agent"
        } else {
            "the graph of M3-Agent says that they are one"
        };
        let reason = reason.to_owned();
        draft.membership(Membership { part: *part, person, reason, decreed: false });
    }
    done.persons = persons.len() as u64;
    parts
}

/// Writes the sentences in the order of their clips.
fn put_sentences(
    graph: &M3Graph,
    parts: &BTreeMap<u64, EntityId>,
    (session, start): (SessionId, Timestamp),
    draft: &mut Draft,
    done: &mut M3Imported,
) {
    let sentences = graph.nodes.iter().filter(|(_, node)| node.kind.part().is_none());
    let mut sentences: Vec<(&u64, &Node)> = sentences.collect();
    sentences.sort_by_key(|(id, node)| (node.clip, **id));
    for (id, node) in sentences {
        let (text, unknown) = reworded(node.text.trim(), parts);
        done.unknown_mentions += unknown;
        let (kind, importance) = match node.kind {
            NodeKind::Semantic => (MemoryKind::Semantic, 0.5),
            _ => (MemoryKind::Episodic, 0.3),
        };
        match kind {
            MemoryKind::Semantic => done.semantic += 1,
            _ => done.episodic += 1,
        }
        let about = graph.edges.range((*id, 0)..=(*id, u64::MAX));
        let mut entities: Vec<EntityId> =
            about.filter_map(|((_, of), _)| parts.get(of).copied()).collect();
        entities.extend(mention::mentions(&text).into_iter().map(|mention| mention.entity));
        let span = graph.span(node.clip, start);
        let row = MemoryRow {
            id: draft.new_memory_id(),
            kind,
            text,
            span,
            clip: Some(ClipId { session, index: node.clip }),
            entities,
            fact: None,
            importance,
            confidence: graph.belief(*id),
            pinned: false,
            valid_from: span.start,
            valid_to: None,
            grounds: Vec::new(),
            origin: ORIGIN.to_owned(),
        };
        draft.memory(row, None);
    }
}

/// A sentence with the graph's ids as our mentions, and how many of them the graph does not have. None may stay as it
/// is: here the same id is somebody else.
fn reworded(text: &str, parts: &BTreeMap<u64, EntityId>) -> (String, u64) {
    let mut out = String::with_capacity(text.len());
    let (mut from, mut unknown) = (0, 0);
    for one in mention::spelled(text) {
        out.push_str(&text[from..one.range.start]);
        from = one.range.end;
        let own = one
            .id
            .and_then(|id| parts.get(&u64::from(id.number)).filter(|own| own.kind == id.kind));
        match (own, one.id) {
            (Some(own), _) => out.push_str(&format!("<{own}>")),
            // Words of the sentence: the graph has no such ids.
            (None, Some(id)) if matches!(id.kind, EntityKind::Object | EntityKind::Place) => {
                out.push_str(&format!("{} {}", id.kind.word(), id.number));
            }
            (None, _) => {
                unknown += 1;
                out.push_str("somebody");
            }
        }
    }
    out.push_str(&text[from..]);
    (out.replace("<self>", "the robot"), unknown)
}
