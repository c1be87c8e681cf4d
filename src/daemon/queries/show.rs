//! One thing with everything that hangs on it: an entity, a clip, a memory; a sheet of all faces.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::find::{find, name_of};
use super::refusal::refusal;
use crate::ids::{AnswerId, ClipId, EntityId, EntityKind, MemoryId, SessionId};
use crate::memory::model::{Exemplar, MemoryRow};
use crate::memory::{Filter, Memory, Order, PerceptFilter, View};
use crate::mqtt::Refusal;

/// Memories shown with an entity.
const NEWEST: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShowArgs {
    /// An id, a name, `people`, or `graph`.
    what: String,
    /// Of the graph: as text in that form.
    #[serde(default)]
    format: Option<GraphFormat>,
    /// Of the graph: so many of the newest memories.
    #[serde(default)]
    memories: Option<usize>,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum GraphFormat {
    Dot,
    Svg,
    Html,
}

/// Memories drawn where nothing is asked, and at most.
const DRAWN: usize = 100;
const MOST_DRAWN: usize = 5_000;

pub(super) fn show(memory: &Memory, view: &View, args: ShowArgs) -> Result<Value, Refusal> {
    let what = args.what.trim();
    if what == "people" {
        return Ok(sheet(view));
    }
    if what == "graph" {
        return Ok(show_graph(view, &args));
    }
    if let Ok(id) = what.parse::<MemoryId>() {
        return show_memory(view, id);
    }
    if let Ok(id) = what.parse::<ClipId>() {
        return show_clip(view, id);
    }
    if let Ok(id) = what.parse::<SessionId>() {
        let session = view.session(id);
        let session =
            session.ok_or_else(|| Refusal::not_found(format!("there is no session {id}")))?;
        return Ok(
            json!({ "kind": "session", "session": *session, "clips": view.clips(Some(id)) }),
        );
    }
    if let Ok(id) = what.parse::<AnswerId>() {
        let answer = memory.answer(id).map_err(|error| refusal(&error))?;
        let answer = answer.ok_or_else(|| Refusal::not_found(format!("there is no {id}")))?;
        return Ok(json!({ "kind": "answer", "answer": answer }));
    }
    find(view, what).map(|id| show_entity(view, id))
}

/// A memory as every list of memories shows it.
#[must_use]
pub fn line(view: &View, row: &MemoryRow) -> Value {
    json!({
        "memory": row.id,
        "kind": row.kind,
        "text": crate::mention::render(&row.text, |id| view.display_name(id)),
        "start": row.span.start,
        "end": row.span.end,
        "valid_to": row.valid_to,
        "clip": row.clip,
        "entities": row.entities,
    })
}

fn show_graph(view: &View, args: &ShowArgs) -> Value {
    let graph = view.graph(args.memories.unwrap_or(DRAWN).min(MOST_DRAWN));
    let text = match args.format {
        None => return json!({ "kind": "graph", "graph": graph }),
        Some(GraphFormat::Dot) => graph.dot(),
        Some(GraphFormat::Svg) => graph.svg(),
        Some(GraphFormat::Html) => graph.html(),
    };
    json!({ "kind": "graph", "format": args.format, "text": text })
}

fn show_memory(view: &View, id: MemoryId) -> Result<Value, Refusal> {
    let row = view.memory(id).ok_or_else(|| Refusal::not_found(format!("there is no {id}")))?;
    let mut shown = json!({
        "kind": "memory",
        "text": crate::mention::render(&row.text, |id| view.display_name(id)),
        "memory": *row,
        "recorded": view.recorded(id),
        "retirement": view.retirement(id).map(|row| json!(*row)),
    });
    let heard: Vec<Value> = view
        .heard_in_utterance(&row)
        .into_iter()
        .map(|heard| {
            json!({
                "written": heard.written,
                "sounds_like": heard.name,
                "entity": heard.entity,
                "likeness": heard.likeness,
            })
        })
        .collect();
    if !heard.is_empty() {
        shown["heard"] = json!(heard);
    }
    Ok(shown)
}

fn show_clip(view: &View, id: ClipId) -> Result<Value, Refusal> {
    let clip = view.clip(id).ok_or_else(|| Refusal::not_found(format!("there is no clip {id}")))?;
    let filter = PerceptFilter { clip: Some(id), ..PerceptFilter::default() };
    let person = |part: Option<EntityId>| part.map(|part| view.resolve(part));
    let tracks: Vec<Value> = view
        .tracks(&filter)
        .iter()
        .map(|track| {
            let person = person(track.face);
            json!({
                "track": track.track,
                "kind": if track.body { "body" } else { "face" },
                "source": track.source,
                "start": track.span.start,
                "end": track.span.end,
                "face": track.face,
                "person": person,
                "name": person.and_then(|id| name_of(view, id)),
                "sightings": track.sightings.len(),
                "colour": track.colours,
            })
        })
        .collect();
    let objects: Vec<Value> = view
        .object_tracks(&filter)
        .iter()
        .map(|track| {
            json!({
                "track": track.track,
                "source": track.source,
                "start": track.span.start,
                "end": track.span.end,
                "label": track.label,
                "object": track.object,
                "name": track.object.and_then(|id| name_of(view, id)),
                "sightings": track.sightings.len(),
                "colour": track.colours,
            })
        })
        .collect();
    let texts: Vec<Value> = view
        .text_tracks(&filter)
        .iter()
        .map(|row| {
            let track = &row.track;
            json!({
                "track": track.id,
                "source": track.source,
                "start": track.span.start,
                "end": track.span.end,
                "text": track.text,
                "confidence": track.confidence,
                "readings": track.readings,
            })
        })
        .collect();
    let turns: Vec<Value> = view
        .turns(&filter)
        .iter()
        .map(|turn| {
            let person = person(turn.voice);
            json!({
                "turn": turn.turn,
                "source": turn.source,
                "start": turn.span.start,
                "end": turn.span.end,
                "voice": turn.voice,
                "person": person,
                "name": person.and_then(|id| name_of(view, id)),
                "words": turn.words.as_ref().map(|words| &words.text),
                "sound": turn.sound,
            })
        })
        .collect();
    let memories = view.memories(&Filter { clip: Some(id), ..Filter::default() });
    let memories: Vec<Value> = memories.iter().map(|row| line(view, row)).collect();
    Ok(json!({
        "kind": "clip", "clip": *clip, "tracks": tracks, "objects": objects, "texts": texts,
        "turns": turns, "memories": memories,
    }))
}

fn show_entity(view: &View, id: EntityId) -> Value {
    let newest = Filter {
        entities: vec![id],
        limit: Some(NEWEST),
        order: Order::NewestFirst,
        ..Filter::default()
    };
    let memories: Vec<Value> =
        view.memories(&newest).iter().rev().map(|row| line(view, row)).collect();
    let names: Vec<Value> = view
        .names(id)
        .iter()
        .map(|row| json!({ "name": row.name, "since": row.since, "source": row.source }))
        .collect();
    let person = view.person(id);
    let belongs: Vec<Value> = view
        .parts_of(id)
        .into_iter()
        .filter_map(|part| view.membership(part))
        .map(|row| json!({ "part": row.part, "reason": row.reason, "decreed": row.decreed }))
        .collect();
    let evidence: Vec<_> = view
        .evidence()
        .into_iter()
        // Evidence of a voice against itself says how long it was heard at all.
        .filter(|pair| pair.face.kind == EntityKind::Face && pair.as_standing().is_none())
        .filter(|pair| person.faces.contains(&pair.face) || person.voices.contains(&pair.voice))
        .collect();
    json!({
        "kind": "entity",
        "profile": person,
        "names": names,
        "belongs": belongs,
        "evidence": evidence,
        "chips": chips(view, id),
        "memories": memories,
    })
}

/// Every person with the face crops kept of them, the best first: material for a contact sheet.
#[must_use]
pub fn sheet(view: &View) -> Value {
    let persons: Vec<Value> = view
        .persons()
        .into_iter()
        .map(|person| {
            json!({
                "id": person.id,
                "name": person.name,
                "seen_secs": person.seen_secs,
                "spoken_secs": person.spoken_secs,
                "chips": chips(view, person.id),
            })
        })
        .collect();
    json!(persons)
}

/// Face crops of an entity: digest, time, quality; the best first.
fn chips(view: &View, id: EntityId) -> Vec<Value> {
    let faces = view.parts_of(id).into_iter().filter(|part| part.kind == EntityKind::Face);
    let mut exemplars: Vec<std::sync::Arc<Exemplar>> =
        faces.flat_map(|face| view.exemplars(face)).filter(|one| one.media.is_some()).collect();
    exemplars.sort_by(|a, b| b.quality.total_cmp(&a.quality).then(a.at.cmp(&b.at)));
    exemplars
        .iter()
        .map(|one| json!({ "media": one.media, "face": one.entity, "at": one.at, "quality": one.quality }))
        .collect()
}
