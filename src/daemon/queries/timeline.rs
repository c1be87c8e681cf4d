//! Who was there when: stretches of being seen and of speaking, per person.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::find::{find, name_of};
use crate::ids::{ClipId, EntityId, SessionId};
use crate::memory::{PerceptFilter, View};
use crate::mqtt::Refusal;
use crate::time::{Span, Timestamp};

/// Sightings closer than this are one stretch.
const JOIN_SECS: f64 = 2.0;

/// What of the memory is to be shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimelineArgs {
    /// From here; default: the beginning of the newest session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Timestamp>,
    /// To here; default: the end of what is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Timestamp>,
    /// Only this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// Only this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
}

/// Seen or heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    /// The face was in view.
    Seen,
    /// The voice was heard.
    Spoke,
}

/// One stretch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Seen or heard.
    pub kind: BlockKind,
    /// From.
    pub start: Timestamp,
    /// To.
    pub end: Timestamp,
    /// By which camera or microphone.
    pub source: String,
    /// What was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// One person's stretches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Who; `None`: faces and voices that are nobody's yet.
    pub person: Option<EntityId>,
    /// The name, once known.
    pub name: Option<String>,
    /// In time order.
    pub blocks: Vec<Block>,
}

/// A clip's place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClipMark {
    /// Its id.
    pub clip: ClipId,
    /// From.
    pub start: Timestamp,
    /// To.
    pub end: Timestamp,
}

/// Who was there when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// What is shown, from …
    pub start: Timestamp,
    /// … to.
    pub end: Timestamp,
    /// By first appearance; those that are nobody's last.
    pub rows: Vec<Row>,
    /// The clips inside.
    pub clips: Vec<ClipMark>,
}

/// Builds the timeline.
///
/// # Errors
/// `not_found` for an entity that there is not, `bad_request` for an `end` before `start`.
pub fn timeline(view: &View, args: &TimelineArgs) -> Result<Timeline, Refusal> {
    let newest =
        view.clips(None).iter().max_by_key(|clip| clip.span.end).map(|clip| clip.id.session);
    let session = args.session.or_else(|| args.start.is_none().then_some(newest).flatten());
    let clips: Vec<_> = view.clips(session);
    let start = args.start.or_else(|| clips.iter().map(|clip| clip.span.start).min());
    let end = args.end.or_else(|| clips.iter().map(|clip| clip.span.end).max());
    let (Some(start), Some(end)) = (start, end) else {
        let at = args.start.or(args.end).unwrap_or_default();
        return Ok(Timeline { start: at, end: at, rows: Vec::new(), clips: Vec::new() });
    };
    if end < start {
        return Err(Refusal::bad_request(format!("`end` ({end}) is before `start` ({start})")));
    }
    let span = Span::new(start, end);
    let entity = args.entity.as_deref().map(|word| find(view, word)).transpose()?;
    let filter = PerceptFilter { span: Some(span), entity, ..PerceptFilter::default() };
    let wanted = |clip: ClipId| session.is_none_or(|session| clip.session == session);

    let mut rows: BTreeMap<Option<EntityId>, Vec<Block>> = BTreeMap::new();
    for track in view.tracks(&filter).into_iter().filter(|track| wanted(track.clip)) {
        let blocks = rows.entry(track.face.map(|face| view.resolve(face))).or_default();
        let before = blocks.iter_mut().rev().find(|block| block.source == track.source.as_str());
        match before {
            Some(block) if track.span.start.secs_since(block.end) <= JOIN_SECS => {
                block.end = block.end.max(track.span.end);
            }
            _ => blocks.push(Block {
                kind: BlockKind::Seen,
                start: track.span.start,
                end: track.span.end,
                source: track.source.to_string(),
                text: None,
            }),
        }
    }
    for turn in view.turns(&filter).into_iter().filter(|turn| wanted(turn.clip)) {
        rows.entry(turn.voice.map(|voice| view.resolve(voice))).or_default().push(Block {
            kind: BlockKind::Spoke,
            start: turn.span.start,
            end: turn.span.end,
            source: turn.source.to_string(),
            text: turn
                .words
                .as_ref()
                .map(|words| words.text.clone())
                .filter(|text| !text.is_empty()),
        });
    }
    let mut rows: Vec<Row> = rows
        .into_iter()
        .map(|(person, mut blocks)| {
            blocks.sort_by_key(|block| (block.start, block.kind));
            Row { person, name: person.and_then(|id| name_of(view, id)), blocks }
        })
        .collect();
    rows.sort_by_key(|row| (row.person.is_none(), row.blocks[0].start, row.person));
    let clips = clips
        .into_iter()
        .filter(|clip| clip.span.intersection(span).is_some())
        .map(|clip| ClipMark { clip: clip.id, start: clip.span.start, end: clip.span.end })
        .collect();
    Ok(Timeline { start, end, rows, clips })
}
