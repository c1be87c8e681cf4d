//! Who was there when: stretches of being seen and of speaking, per person.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::find::{find, name_of};
use crate::ids::{ClipId, EntityId, SessionId};
use crate::memory::{PerceptFilter, View};
use crate::mqtt::Refusal;
use crate::mqtt::message::ordered;
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
    /// Only while the robot was at that place: an id or a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// That day: a date, `2026-03-02`; in place of `start` and `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Date>,
    /// The IANA zone whose day is meant; default: UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
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
    let whole = args.day.map(|date| day(date, args)).transpose()?;
    let (from, to) =
        (args.start.or(whole.map(|day| day.start)), args.end.or(whole.map(|day| day.end)));
    let newest = || view.last_clip(None, |_| true).map(|clip| clip.id.session);
    let session = args.session.or_else(|| if from.is_none() { newest() } else { None });
    let wanted = |clip: ClipId| session.is_none_or(|session| clip.session == session);
    let since = session.and_then(|id| view.session(id)).map(|session| session.start);
    let within = since.map(|since| Span::new(since, Timestamp::MAX));
    let start = from.or_else(|| Some(view.first_clip(within, |clip| wanted(clip.id))?.span.start));
    let end = to.or_else(|| Some(view.last_clip(within, |clip| wanted(clip.id))?.span.end));
    let (Some(start), Some(end)) = (start, end) else {
        let at = from.or(to).unwrap_or_default();
        return Ok(Timeline { start: at, end: at, rows: Vec::new(), clips: Vec::new() });
    };
    ordered(Some(start), Some(end))?;
    let span = Span::new(start, end);
    let entity = args.entity.as_deref().map(|word| find(view, word)).transpose()?;
    let stays = args.place.as_deref().map(|word| stays_at(view, word)).transpose()?;
    let there = |span: Span| {
        let touches = |stay: &Span| stay.start <= span.end && span.start <= stay.end;
        stays.as_ref().is_none_or(|stays| stays.iter().any(touches))
    };
    let filter = PerceptFilter { span: Some(span), entity, ..PerceptFilter::default() };

    let mut rows: BTreeMap<Option<EntityId>, Vec<Block>> = BTreeMap::new();
    let tracks = view.tracks(&filter).into_iter();
    for track in tracks.filter(|track| wanted(track.clip) && there(track.span)) {
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
    let turns = view.turns(&filter).into_iter();
    for turn in turns.filter(|turn| wanted(turn.clip) && there(turn.span)) {
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
    let clips = view
        .clips_touching(span)
        .into_iter()
        .filter(|clip| wanted(clip.id) && clip.span.intersection(span).is_some())
        .map(|clip| ClipMark { clip: clip.id, start: clip.span.start, end: clip.span.end })
        .collect();
    Ok(Timeline { start, end, rows, clips })
}

/// From midnight to midnight.
fn day(date: Date, args: &TimelineArgs) -> Result<Span, Refusal> {
    if args.start.is_some() || args.end.is_some() {
        return Err(Refusal::bad_request("give `day`, or `start` and `end`"));
    }
    let zone = match &args.timezone {
        None => TimeZone::UTC,
        Some(name) => TimeZone::get(name)
            .map_err(|error| Refusal::bad_request(format!("`timezone` {name:?}: {error}")))?,
    };
    let midnight =
        |date: Date| date.to_zoned(zone.clone()).map(|at| Timestamp::from_jiff(at.timestamp()));
    let span = midnight(date).and_then(|start| Ok(Span::new(start, midnight(date.tomorrow()?)?)));
    span.map_err(|error| Refusal::bad_request(format!("`day` {date}: {error}")))
}

/// When the robot was at a place.
fn stays_at(view: &View, word: &str) -> Result<Vec<Span>, Refusal> {
    let id = find(view, word)?;
    let place = view.places().into_iter().find(|place| place.id == id);
    let place = place.ok_or_else(|| {
        Refusal::bad_request(format!("{id} is no place that is known; `engramd places` lists them"))
    })?;
    Ok(view.stays_at(&place))
}
