//! One question's reading of the memory: a pinned view, who was in view when, who spoke when.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::{ClipId, EntityId, EntityKind, SourceId, TurnId};
use crate::memory::model::{Clip, Ground, MemoryKind, MemoryRow, TrackRow, TurnRow};
use crate::memory::{Filter, PerceptFilter, PresentMemory, PresentState, View, spoken_once_secs};
use crate::time::{Span, Timestamp};

use super::wording::Wording;

/// A person out of view for less than this was there all the while, seconds.
pub(super) const ABSENCE_SECS: f64 = 3.0;
/// A pause shorter than this does not end a stretch of speech, seconds.
pub(super) const PAUSE_SECS: f64 = 1.0;
/// What was seen this shortly before now is seen now, seconds.
pub(super) const NOW_SECS: f64 = 2.0;
/// Pieces of evidence gathered for an answer, at most; more would only be cut off.
pub(super) const GATHERED: usize = 32;
/// How long after its last sighting a face of the open window counts as in view, seconds.
const STEP_SECS: f64 = 0.2;
/// A body in view for less counts for nobody, seconds.
const BODY_SECS: f64 = 1.0;

/// A face in view.
#[derive(Clone, Debug)]
pub(super) struct Glimpse {
    /// The person, or the face itself while it belongs to nobody.
    pub(super) who: EntityId,
    pub(super) span: Span,
    pub(super) source: SourceId,
    /// The row; `None` in the open window.
    pub(super) row: Option<Arc<TrackRow>>,
    pub(super) confidence: f32,
}

/// Something said.
#[derive(Clone, Debug)]
pub(super) struct Spoken {
    /// The person; `None` for a voice nobody was found for.
    pub(super) who: Option<EntityId>,
    pub(super) span: Span,
    pub(super) speech_secs: f64,
    pub(super) words: Option<String>,
    /// The row; `None` in the open window.
    pub(super) row: Option<Arc<TurnRow>>,
    /// Of the open window: the memory that it will be.
    pub(super) memory: Option<Arc<PresentMemory>>,
    pub(super) confidence: f32,
}

/// A person in view without a real absence.
#[derive(Clone, Debug)]
pub(super) struct Appearance {
    pub(super) who: EntityId,
    pub(super) span: Span,
    pub(super) glimpses: Vec<Glimpse>,
}

/// The memory as one question reads it.
pub(super) struct Reading {
    pub(super) view: View,
    /// The open window, unless the past is asked for.
    pub(super) present: Option<Arc<PresentState>>,
    pub(super) wording: Wording,
    /// The times that the question means; `None` = any time.
    pub(super) spans: Option<Vec<Span>>,
    pub(super) memories: RefCell<BTreeMap<ClipId, Vec<Arc<MemoryRow>>>>,
}

pub(super) fn hull(spans: &[Span]) -> Option<Span> {
    let start = spans.iter().map(|span| span.start).min()?;
    let end = spans.iter().map(|span| span.end).max()?;
    Some(Span::new(start, end))
}

/// Whether they share an instant; an empty span counts as its start.
pub(super) fn touch(a: Span, b: Span) -> bool {
    a.contains(b.start) || b.contains(a.start)
}

impl Reading {
    pub(super) fn new(view: View, present: Option<Arc<PresentState>>, wording: Wording) -> Self {
        Self { view, present, wording, spans: None, memories: RefCell::default() }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.wording.now
    }

    /// The time that the question means: its end, or now.
    pub(super) fn time_asked(&self) -> Timestamp {
        let told = self.spans.as_deref().and_then(hull);
        told.map_or(self.now(), |span| span.end.min(self.now()))
    }

    /// Persons count; the robot itself, media voices and undecided faces do not.
    pub(super) fn is_person(id: EntityId) -> bool {
        id.kind == EntityKind::Person
    }

    /// The notes that were told last, at most so many, about one of those if there are any; the newest event first.
    pub(super) fn newest_notes(&self, entities: Vec<EntityId>, most: usize) -> Vec<Arc<MemoryRow>> {
        let filter = Filter { kinds: vec![MemoryKind::Note], entities, ..Filter::default() };
        let notes = self.view.passing(&filter);
        // Ids are given one after the other: they are gone back through, and none is sorted that is not wanted.
        let newest = notes.iter().flat_map(|notes| notes.iter().rev());
        let known = newest.filter_map(|id| self.view.memory(id));
        // Others may be younger than what is asked, or about somebody else by now.
        let fits = |row: &Arc<MemoryRow>| {
            row.span.start <= self.now() && self.view.admits_row(row, &filter)
        };
        let mut rows: Vec<Arc<MemoryRow>> = known.filter(fits).take(most).collect();
        rows.sort_by_key(|row| Reverse((row.span.start, row.id)));
        rows
    }

    fn in_time(&self, span: Span, spans: Option<&[Span]>) -> bool {
        // What has not happened yet at the question's now is not known to it.
        span.start <= self.now()
            && spans.is_none_or(|wanted| wanted.iter().any(|s| touch(*s, span)))
    }

    /// Faces in view in those times (or ever), by start.
    pub(super) fn glimpses(&self, who: Option<EntityId>, spans: Option<&[Span]>) -> Vec<Glimpse> {
        let filter =
            PerceptFilter { span: spans.and_then(hull), entity: who, ..PerceptFilter::default() };
        let mut found: Vec<Glimpse> = self
            .view
            .tracks(&filter)
            .into_iter()
            .filter(|row| self.in_time(row.span, spans))
            .filter_map(|row| {
                let face = row.face?;
                Some(Glimpse {
                    who: self.view.resolve(face),
                    span: row.span,
                    source: row.source.clone(),
                    confidence: row.confidence,
                    row: Some(row),
                })
            })
            .collect();
        for track in self.present.iter().flat_map(|present| &present.tracks) {
            let Some(face) = track.provisional else { continue };
            let id = self.view.resolve(face);
            let span = Span::new(track.since, track.last.plus_secs(STEP_SECS));
            if who.is_none_or(|who| self.view.resolve(who) == id) && self.in_time(span, spans) {
                found.push(Glimpse {
                    who: id,
                    span,
                    source: track.source.clone(),
                    row: None,
                    confidence: track.similarity.unwrap_or(0.5).clamp(0.0, 1.0),
                });
            }
        }
        found.sort_by_key(|glimpse| (glimpse.span.start, glimpse.who));
        found
    }

    /// People in view in those times whom nobody knows: faces for which no person was found, or, where there are more of them,
    /// bodies at once beyond those who are known to have been there.
    pub(super) fn strangers(&self, spans: Option<&[Span]>) -> usize {
        let filter = PerceptFilter { span: spans.and_then(hull), ..PerceptFilter::default() };
        let rows = self.view.tracks(&filter);
        let unknown = |row: &&Arc<TrackRow>| {
            !row.body
                && self.in_time(row.span, spans)
                && row.face.is_none_or(|face| self.view.resolve(face).kind == EntityKind::Face)
        };
        let tracks: BTreeSet<_> =
            rows.iter().filter(unknown).map(|row| (row.clip.session, row.track)).collect();
        let open = self.present.iter().flat_map(|present| &present.tracks);
        let open = open.filter(|track| {
            track.provisional.is_none()
                && self.in_time(Span::new(track.since, track.last.plus_secs(STEP_SECS)), spans)
        });
        let faces = tracks.len() + open.count();
        let bodies = rows.iter().filter(|row| row.body && self.in_time(row.span, spans));
        let bodies: Vec<&TrackRow> = bodies.map(|row| &**row).collect();
        if bodies.is_empty() {
            return faces;
        }
        let known: BTreeSet<EntityId> =
            self.glimpses(None, spans).into_iter().map(|glimpse| glimpse.who).collect();
        faces.max(most_at_once(&bodies).saturating_sub(known.len()))
    }

    /// What was said in those times (or ever), by start. The robot's own and media voices are left out.
    pub(super) fn spoken(&self, who: Option<EntityId>, spans: Option<&[Span]>) -> Vec<Spoken> {
        let filter =
            PerceptFilter { span: spans.and_then(hull), entity: who, ..PerceptFilter::default() };
        let rows = self.view.turns(&filter).into_iter();
        let mut found: Vec<Spoken> = rows
            .filter(|row| self.in_time(row.span, spans))
            .filter_map(|row| self.spoken_row(row))
            .collect();
        found.extend(self.open_turns(who, spans));
        found.sort_by_key(|spoken| (spoken.span.start, spoken.who));
        found
    }

    /// At most `limit` utterances with any of those words, by the lexical index, and all of the open window.
    pub(super) fn said_with(
        &self,
        words: &str,
        who: Option<EntityId>,
        limit: usize,
    ) -> Vec<Spoken> {
        let filter = Filter {
            kinds: vec![MemoryKind::Utterance],
            entities: who.into_iter().collect(),
            ..Filter::default()
        };
        let hits = self.view.lexical(words, limit, &filter).into_iter();
        let mut found: Vec<Spoken> = hits
            .filter_map(|(id, _)| self.view.memory(id))
            .filter_map(|memory| {
                memory.grounds.iter().find_map(|ground| match ground {
                    Ground::Turn(clip, turn) => self.view.turn(clip.session, *turn),
                    _ => None,
                })
            })
            .filter(|row| self.in_time(row.span, None))
            .filter_map(|row| self.spoken_row(row))
            .collect();
        found.extend(self.open_turns(who, None));
        found.sort_by_key(|spoken| (spoken.span.start, spoken.who));
        found
    }

    /// `None` for what the robot itself or a loudspeaker said.
    fn spoken_row(&self, row: Arc<TurnRow>) -> Option<Spoken> {
        let words = row.words.as_ref().map(|words| words.text.trim().to_owned());
        Some(Spoken {
            who: self.speaker(row.voice)?,
            span: row.span,
            speech_secs: row.speech_secs,
            words: words.filter(|text| !text.is_empty()),
            confidence: row.confidence,
            row: Some(row),
            memory: None,
        })
    }

    /// The person of a voice (`Some(None)` while undecided); `None` for the robot's own and media voices.
    fn speaker(&self, voice: Option<EntityId>) -> Option<Option<EntityId>> {
        match voice.map(|voice| self.view.resolve(voice)) {
            Some(id) if Self::is_person(id) => Some(Some(id)),
            Some(id) if id == EntityId::ROBOT || self.is_media(voice) => None,
            _ => Some(None),
        }
    }

    /// Turns of the open window that are not sealed yet.
    fn open_turns(&self, who: Option<EntityId>, spans: Option<&[Span]>) -> Vec<Spoken> {
        let Some(present) = self.present.as_ref().filter(|p| !p.turns.is_empty()) else {
            return Vec::new();
        };
        let session = self.view.sessions().last().map(|session| session.id);
        let sealed = |turn: TurnId| session.is_some_and(|s| self.view.turn(s, turn).is_some());
        let wanted = who.map(|who| self.view.resolve(who));
        present
            .turns
            .iter()
            .filter(|turn| !sealed(turn.handle))
            .filter(|turn| {
                let known = |one: &Arc<PresentMemory>| self.view.said_now(one.row.id).is_none();
                !turn.memory.as_ref().is_some_and(known)
            })
            .filter_map(|turn| {
                let end = turn.end.unwrap_or_else(|| self.now().max(turn.start));
                let span = Span::new(turn.start, end);
                let id = self.speaker(turn.provisional)?;
                (self.in_time(span, spans) && (wanted.is_none() || wanted == id)).then(|| Spoken {
                    who: id,
                    span,
                    speech_secs: span.secs(),
                    words: turn.words.clone().filter(|text| !text.trim().is_empty()),
                    row: None,
                    memory: turn.memory.clone(),
                    confidence: turn.similarity.unwrap_or(0.5).clamp(0.0, 1.0),
                })
            })
            .collect()
    }

    fn is_media(&self, voice: Option<EntityId>) -> bool {
        voice.is_some_and(|voice| {
            self.view.membership(voice).is_some_and(|row| row.person.kind == EntityKind::Voice)
        })
    }

    /// Appearances of persons in those times, by start.
    pub(super) fn appearances(
        &self,
        who: Option<EntityId>,
        spans: Option<&[Span]>,
    ) -> Vec<Appearance> {
        let mut by_person: BTreeMap<EntityId, Vec<Appearance>> = BTreeMap::new();
        for glimpse in self.glimpses(who, spans) {
            if !Self::is_person(glimpse.who) {
                continue;
            }
            let runs = by_person.entry(glimpse.who).or_default();
            match runs.last_mut() {
                Some(run) if glimpse.span.start.secs_since(run.span.end) < ABSENCE_SECS => {
                    run.span.end = run.span.end.max(glimpse.span.end);
                    run.glimpses.push(glimpse);
                }
                _ => runs.push(Appearance {
                    who: glimpse.who,
                    span: glimpse.span,
                    glimpses: vec![glimpse],
                }),
            }
        }
        let mut all: Vec<_> = by_person.into_values().flatten().collect();
        all.sort_by_key(|run| (run.span.start, run.who));
        all
    }

    /// Persons in view in those times, in order of appearance, with the seconds inside those times.
    pub(super) fn seen(&self, spans: Option<&[Span]>) -> Vec<(EntityId, f64)> {
        in_order(
            self.appearances(None, spans)
                .into_iter()
                .map(|run| (run.who, seen_secs(&run.glimpses, spans))),
        )
    }

    /// Persons heard in those times, in order, with the seconds of speech inside those times.
    pub(super) fn heard(&self, spans: Option<&[Span]>) -> Vec<(EntityId, f64)> {
        let turns = self.spoken(None, spans);
        let persons = spoken_by_person(&turns, spans).into_iter();
        persons.filter_map(|(who, secs)| Some((who?, secs))).collect()
    }

    /// Whether anything was recorded in those times.
    pub(super) fn recorded(&self, spans: &[Span]) -> bool {
        let Some(hull) = hull(spans) else { return false };
        let open = self.present.as_ref().and_then(|present| present.updated);
        let asked = |span: Span| touch(span, hull) && spans.iter().any(|one| touch(*one, span));
        if self.view.last_clip(Some(hull), |clip| asked(clip.span)).is_some() {
            return true;
        }
        let window = open.map(|until| {
            let last = self.view.last_clip(None, |_| true).map(|clip| clip.span.end);
            Span::new(last.unwrap_or(until.plus_secs(-60.0)), until)
        });
        window.is_some_and(asked) || spans.iter().any(|span| self.perceived(*span))
    }

    /// Whether there is a memory of something perceived in that time: clips in which nothing was are told of by a later one.
    fn perceived(&self, span: Span) -> bool {
        let filter = Filter {
            span: Some(span),
            kinds: vec![MemoryKind::Episodic],
            limit: Some(1),
            ..Filter::default()
        };
        !self.view.memories(&filter).is_empty()
    }

    /// The part of `span` that was recorded, from the first to the last of its clips.
    pub(super) fn recorded_part(&self, span: Span) -> Span {
        let inside = |clip: &Clip| clip.span.intersection(span).is_some();
        let ends = self.view.first_clip(Some(span), inside);
        let Some((first, last)) = ends.zip(self.view.last_clip(Some(span), inside)) else {
            return span;
        };
        let part = Span::new(first.span.start.max(span.start), last.span.end.min(span.end));
        let open = self.present.as_ref().and_then(|present| present.updated);
        Span::new(part.start, open.map_or(part.end, |t| t.min(span.end).max(part.end)))
    }

    /// First and last recorded instant.
    pub(super) fn extent(&self) -> Option<Span> {
        self.view.recorded_extent()
    }

    /// The newest session that had begun at the question's now, as far as it is known.
    pub(super) fn session(&self) -> Option<Span> {
        let session = self
            .view
            .sessions()
            .into_iter()
            .filter(|session| session.start <= self.now())
            .max_by_key(|session| (session.start, session.id))?;
        let since = Span::new(session.start, Timestamp::MAX);
        let last = self.view.last_clip(Some(since), |clip| clip.id.session == session.id);
        let end = last.map_or(session.start, |clip| clip.span.end);
        let open = self.present.as_ref().and_then(|present| present.updated);
        Some(Span::new(
            session.start,
            end.max(open.unwrap_or(end)).min(self.now().max(session.start)),
        ))
    }
}

pub(super) fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Sums per person, in order of first mention.
fn in_order(items: impl Iterator<Item = (EntityId, f64)>) -> Vec<(EntityId, f64)> {
    let mut found: Vec<(EntityId, f64)> = Vec::new();
    for (who, secs) in items {
        match found.iter_mut().find(|(known, _)| *known == who) {
            Some((_, sum)) => *sum += secs,
            None => found.push((who, secs)),
        }
    }
    found
}

/// Seconds that at least one glimpse covers inside those times.
pub(super) fn seen_secs(glimpses: &[Glimpse], spans: Option<&[Span]>) -> f64 {
    let mut parts: Vec<Span> = Vec::new();
    for glimpse in glimpses {
        match spans {
            None => parts.push(glimpse.span),
            Some(spans) => parts.extend(spans.iter().filter_map(|s| s.intersection(glimpse.span))),
        }
    }
    parts.sort_unstable();
    let mut total = 0.0;
    let mut covered: Option<Timestamp> = None;
    for part in parts {
        let from = covered.map_or(part.start, |end| end.max(part.start));
        total += part.end.secs_since(from).max(0.0);
        covered = Some(covered.map_or(part.end, |end| end.max(part.end)));
    }
    total
}

/// Seconds of speech inside those times; what was heard of one person twice at one time counts once.
pub(super) fn spoken_secs<'s>(
    turns: impl IntoIterator<Item = &'s Spoken>,
    spans: Option<&[Span]>,
) -> f64 {
    spoken_by_person(turns, spans).into_iter().map(|(_, secs)| secs).sum()
}

/// The same of each, in order.
fn spoken_by_person<'s>(
    turns: impl IntoIterator<Item = &'s Spoken>,
    spans: Option<&[Span]>,
) -> Vec<(Option<EntityId>, f64)> {
    /// Turns, each with how much of it is speech.
    type Shares = Vec<(Span, f64)>;
    let mut parts: BTreeMap<Option<EntityId>, (usize, Shares)> = BTreeMap::new();
    for turn in turns {
        let place = parts.len();
        let (_, own) = parts.entry(turn.who).or_insert((place, Shares::new()));
        own.push((turn.span, share_secs(turn, spans)));
    }
    let mut parts: Vec<_> = parts.into_iter().collect();
    parts.sort_by_key(|(_, (place, _))| *place);
    parts.into_iter().map(|(who, (_, own))| (who, spoken_once_secs(&own))).collect()
}

/// Seconds of speech inside those times: the turn's share of them.
fn share_secs(spoken: &Spoken, spans: Option<&[Span]>) -> f64 {
    let Some(spans) = spans else { return spoken.speech_secs };
    let whole = spoken.span.secs();
    let inside: f64 = spans.iter().map(|span| span.overlap_secs(spoken.span)).sum();
    if whole > 0.0 { spoken.speech_secs * (inside / whole).min(1.0) } else { 0.0 }
}

/// Turns of each speaker joined over pauses under [`PAUSE_SECS`]: the times somebody spoke.
pub(super) fn stretches(spoken: &[Spoken]) -> Vec<(Option<EntityId>, Span)> {
    let mut found: Vec<(Option<EntityId>, Span)> = Vec::new();
    for turn in spoken {
        let last = found.iter_mut().rev().find(|(who, _)| *who == turn.who);
        match last {
            Some((_, run)) if turn.span.start.secs_since(run.end) < PAUSE_SECS => {
                run.end = run.end.max(turn.span.end);
            }
            _ => found.push((turn.who, turn.span)),
        }
    }
    found.sort_by_key(|(who, span)| (span.start, *who));
    found
}

/// Who spoke within a few seconds before or after `who`, with those turns, in order.
pub(super) fn in_turn(spoken: &[Spoken], who: EntityId) -> Vec<(EntityId, Vec<Spoken>)> {
    const REPLY_SECS: f64 = 5.0;
    let own: Vec<Span> = spoken.iter().filter(|s| s.who == Some(who)).map(|s| s.span).collect();
    let mut found: Vec<(EntityId, Vec<Spoken>)> = Vec::new();
    for turn in spoken {
        let Some(id) = turn.who.filter(|id| *id != who) else { continue };
        let answered = own.iter().any(|mine| {
            let gap =
                mine.start.secs_since(turn.span.end).max(turn.span.start.secs_since(mine.end));
            gap < REPLY_SECS
        });
        if answered {
            match found.iter_mut().find(|(known, _)| *known == id) {
                Some((_, turns)) => turns.push(turn.clone()),
                None => found.push((id, vec![turn.clone()])),
            }
        }
    }
    found
}
/// The most bodies that one camera saw at once.
fn most_at_once(bodies: &[&TrackRow]) -> usize {
    // Whoever was in view for less may be a false alarm.
    let long = |row: &&&TrackRow| row.span.secs() >= BODY_SECS;
    let at_once = |row: &&TrackRow| {
        let there = |other: &&&TrackRow| {
            other.source == row.source
                && other.span.start <= row.span.start
                && row.span.start < other.span.end
        };
        bodies.iter().filter(long).filter(there).count()
    };
    bodies.iter().filter(long).map(at_once).max().unwrap_or(0)
}
