//! Visits: from when to when somebody was there.
//!
//! A visit is made of face tracks and speech turns of one person with gaps shorter than an absence (a session window with a
//! gap, as streams have it). Nothing of it is kept beside them: who is merged, split or erased changes their visits at once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::View;
use super::filter::PerceptFilter;
use crate::ids::{ClipId, EntityId, EntityKind, SessionId, TrackId, TurnId};
use crate::memory::model::{MediaDigest, TrackRow, TurnRow};
use crate::percept::Sighting;
use crate::time::{Span, Timestamp};

/// A key frame shows whoever was sighted so near to it, seconds.
const SAME_PICTURE_SECS: f64 = 0.5;
/// Letters of what was said in a visit at most.
const SAID_CHARS: usize = 160;
/// How far back is read at first for where visits begin, seconds; then twice as far, and so on.
const FIRST_REACH_SECS: f64 = 3600.0;

/// A face track or a speech turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Appearance {
    /// Somebody was seen.
    Seen(Arc<TrackRow>),
    /// Somebody was heard.
    Heard(Arc<TurnRow>),
}

impl Appearance {
    /// From when to when.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Seen(track) => track.span,
            Self::Heard(turn) => turn.span,
        }
    }

    /// The clip that it belongs to.
    #[must_use]
    pub fn clip(&self) -> ClipId {
        match self {
            Self::Seen(track) => track.clip,
            Self::Heard(turn) => turn.clip,
        }
    }

    /// By which camera or microphone.
    #[must_use]
    pub fn source(&self) -> &crate::ids::SourceId {
        match self {
            Self::Seen(track) => &track.source,
            Self::Heard(turn) => &turn.source,
        }
    }

    /// `face_N` or `voice_N`.
    #[must_use]
    pub fn part(&self) -> Option<EntityId> {
        match self {
            Self::Seen(track) => track.face,
            Self::Heard(turn) => turn.voice,
        }
    }

    fn order(&self) -> (Timestamp, ClipId, Result<TrackId, TurnId>) {
        let own = match self {
            Self::Seen(track) => Ok(track.track),
            Self::Heard(turn) => Err(turn.turn),
        };
        (self.span().start, self.clip(), own)
    }
}

/// One person's stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Stay {
    /// Who, resolved.
    pub who: EntityId,
    /// First to last percept.
    pub span: Span,
    /// The recording in which it was; `None` live. No stay goes on from one recording to another.
    pub recording: Option<SessionId>,
    /// What it is made of, in time order.
    pub appearances: Vec<Appearance>,
}

/// Parts appearances into stays: by person and recording, wherever a gap is at least `absence_secs` long. In order of start and
/// person; `who` gives the person of a face or voice.
#[must_use]
pub fn stays(
    mut appearances: Vec<Appearance>,
    absence_secs: f64,
    who: impl Fn(EntityId) -> EntityId,
    recording: impl Fn(SessionId) -> Option<SessionId>,
) -> Vec<Stay> {
    appearances.sort_by_key(Appearance::order);
    let mut sessions: BTreeMap<SessionId, Option<SessionId>> = BTreeMap::new();
    let mut open: BTreeMap<(EntityId, Option<SessionId>), Stay> = BTreeMap::new();
    let mut done = Vec::new();
    for appearance in appearances {
        let Some(who) = appearance.part().map(&who) else { continue };
        if who.kind != EntityKind::Person || who == EntityId::ROBOT {
            continue;
        }
        let session = appearance.clip().session;
        let recording = *sessions.entry(session).or_insert_with(|| recording(session));
        let span = appearance.span();
        let key = (who, recording);
        match open.get_mut(&key) {
            Some(stay) if span.start.secs_since(stay.span.end) < absence_secs => {
                stay.span.end = stay.span.end.max(span.end);
                stay.appearances.push(appearance);
            }
            _ => {
                let begun = Stay { who, span, recording, appearances: vec![appearance] };
                done.extend(open.insert(key, begun));
            }
        }
    }
    done.extend(open.into_values());
    done.sort_by_key(|stay| (stay.span.start, stay.who, stay.recording));
    done
}

/// The whole of the stays that touch a span, where `stays_in` gives what of them lies around another one and nothing lies
/// outside of `known`: it is asked for more and more until none is cut.
#[must_use]
pub fn whole_stays(
    span: Span,
    known: Span,
    absence_secs: f64,
    stays_in: impl Fn(Span) -> Vec<Stay>,
) -> Vec<Stay> {
    let mut reach = FIRST_REACH_SECS.max(2.0 * absence_secs);
    loop {
        let wide = Span::new(
            span.start.plus_secs(-reach).max(known.start).min(span.start),
            span.end.plus_secs(reach).min(known.end).max(span.end),
        );
        let mut found = stays_in(wide);
        found.retain(|stay| stay.span.start <= span.end && span.start <= stay.span.end);
        let is_cut = |stay: &Stay| {
            (wide.start > known.start && stay.span.start.secs_since(wide.start) < absence_secs)
                || (wide.end < known.end && wide.end.secs_since(stay.span.end) < absence_secs)
        };
        if !found.iter().any(is_cut) {
            return found;
        }
        reach *= 2.0;
    }
}

/// Which visits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisitFilter {
    /// Those that touch it.
    pub span: Option<Span>,
    /// Of this person, whatever id they have.
    pub who: Option<EntityId>,
    /// The newest so many; `None`: all.
    pub limit: Option<usize>,
}

/// Somebody was there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// Who.
    pub person: EntityId,
    /// The name, where known.
    pub name: Option<String>,
    /// First seen or heard.
    pub start: Timestamp,
    /// Last seen or heard.
    pub end: Timestamp,
    /// They have gone: they were away for so long, or the recording is over.
    pub over: bool,
    /// Cameras and microphones that perceived them, by name.
    pub sources: Vec<String>,
    /// Where the robot was when they came, where known.
    pub place: Option<String>,
    /// Their own words, the first of them where there are many; `None`: said nothing that was understood.
    pub said: Option<String>,
    /// What they did, as a sentence; `None`: nothing but that they were there, or it was not asked for.
    #[serde(default)]
    pub did: Option<String>,
    /// The key frame that shows them largest; `None`: none was kept.
    pub still: Option<MediaDigest>,
    /// The clip in which they came.
    pub clip: ClipId,
}

impl View {
    /// The appearances that touch a span, of everybody or of one; unordered.
    #[must_use]
    pub fn appearances(&self, span: Span, who: Option<EntityId>) -> Vec<Appearance> {
        let filter = PerceptFilter { span: Some(span), entity: who, ..PerceptFilter::default() };
        let seen = self.tracks(&filter).into_iter().map(Appearance::Seen);
        seen.chain(self.turns(&filter).into_iter().map(Appearance::Heard)).collect()
    }

    /// The recording that a session is of; `None` live.
    #[must_use]
    pub fn recording_of(&self, session: SessionId) -> Option<SessionId> {
        self.session(session).is_some_and(|row| row.recording.is_some()).then_some(session)
    }

    /// Whole stays that touch the span, in order of start. Costs what is around the span, and what reaches out of it.
    #[must_use]
    pub fn stays_within(&self, span: Span, who: Option<EntityId>, absence_secs: f64) -> Vec<Stay> {
        let known = self.seen_extent(who).into_iter().chain(self.heard_extent(who));
        let Some(known) = known.reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)))
        else {
            return Vec::new();
        };
        whole_stays(span, known, absence_secs, |wide| {
            stays(
                self.appearances(wide, who),
                absence_secs,
                |part| self.resolve(part),
                |session| self.recording_of(session),
            )
        })
    }

    /// Visits in order of start.
    #[must_use]
    pub fn visits(&self, filter: &VisitFilter, absence_secs: f64) -> Vec<Visit> {
        let all = Span::new(Timestamp::from_nanos(i64::MIN), Timestamp::MAX);
        let span = filter.span.unwrap_or(all);
        let mut found = match filter.limit.filter(|_| filter.span.is_none()) {
            None => self.stays_within(span, filter.who, absence_secs),
            Some(limit) => self.newest_stays(limit, filter.who, absence_secs),
        };
        if let Some(limit) = filter.limit {
            found.drain(..found.len().saturating_sub(limit));
        }
        found.iter().map(|stay| self.visit(stay, absence_secs)).collect()
    }

    /// At least the newest so many stays, where there are as many.
    fn newest_stays(&self, limit: usize, who: Option<EntityId>, absence_secs: f64) -> Vec<Stay> {
        let extents = self.seen_extent(who).into_iter().chain(self.heard_extent(who));
        let Some(known) = extents.reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)))
        else {
            return Vec::new();
        };
        let mut back = 86_400.0;
        loop {
            let start = known.end.plus_secs(-back).max(known.start);
            let found = self.stays_within(Span::new(start, known.end), who, absence_secs);
            if found.len() >= limit || start <= known.start {
                return found;
            }
            back *= 4.0;
        }
    }

    /// What is told of a stay.
    #[must_use]
    pub fn visit(&self, stay: &Stay, absence_secs: f64) -> Visit {
        let sources: BTreeSet<String> =
            stay.appearances.iter().map(|one| one.source().to_string()).collect();
        let clip = stay.appearances.first().map(Appearance::clip);
        Visit {
            person: stay.who,
            name: self.names(stay.who).first().map(|row| row.name.clone()),
            start: stay.span.start,
            end: stay.span.end,
            over: self.is_over(stay, absence_secs),
            sources: sources.into_iter().collect(),
            place: self.place_at(stay.span.start).map(|place| self.display_name(place.id)),
            said: said(&stay.appearances),
            did: None,
            still: self.still(&stay.appearances),
            clip: clip.unwrap_or(ClipId { session: SessionId(0), index: 0 }),
        }
    }

    /// Whether whoever stayed has gone.
    fn is_over(&self, stay: &Stay, absence_secs: f64) -> bool {
        if let Some(session) = stay.recording
            && self.session(session).is_some_and(|row| row.finished)
        {
            return true;
        }
        let gone_at = stay.span.end.plus_secs(absence_secs);
        // (Where a clip of the same sort ends later, the absence was looked at to its end.)
        let later = Some(Span::new(gone_at, Timestamp::MAX));
        self.last_clip(later, |clip| self.recording_of(clip.id.session) == stay.recording)
            .is_some_and(|clip| clip.span.end >= gone_at)
    }

    /// Stays that ended while that clip was taken in: whoever was away for `absence_secs` by its end and was not by the end of
    /// the clip before it; at the end of a recording everybody. The same whenever it is asked.
    #[must_use]
    pub fn stays_ended_in(&self, clip: ClipId, absence_secs: f64) -> Vec<Stay> {
        let Some(row) = self.clip(clip) else { return Vec::new() };
        let recording = self.recording_of(clip.session);
        let session = self.session(clip.session);
        let newest = |clip: ClipId| self.last_clip(None, |other| other.id.session == clip.session);
        let last = recording.is_some()
            && session.is_some_and(|session| session.finished)
            && newest(clip).is_some_and(|newest| newest.id == clip);
        self.stays_ended_by(recording, clip, row.span, last, absence_secs)
    }

    /// The same of a clip that is not in yet. `last`: nothing comes after it.
    #[must_use]
    pub fn stays_ended_by(
        &self,
        recording: Option<SessionId>,
        clip: ClipId,
        span: Span,
        last: bool,
        absence_secs: f64,
    ) -> Vec<Stay> {
        let known_by = self.known_before(recording, clip, span);
        let window = Span::new(
            known_by.unwrap_or(span.start).plus_secs(-absence_secs),
            if last { span.end } else { span.end.plus_secs(-absence_secs) },
        );
        if window.end < window.start {
            return Vec::new();
        }
        let mut found = self.stays_within(window, None, absence_secs);
        found.retain(|stay| {
            let gone_at = stay.span.end.plus_secs(absence_secs);
            stay.recording == recording
                && (last || gone_at <= span.end)
                && known_by.is_none_or(|known| gone_at > known)
        });
        found
    }

    /// When the clip ended that came before another one in that recording, or live; `None`: there was none.
    #[must_use]
    pub fn known_before(
        &self,
        recording: Option<SessionId>,
        clip: ClipId,
        span: Span,
    ) -> Option<Timestamp> {
        let before = Some(Span::new(Timestamp::from_nanos(i64::MIN), span.start));
        let before = self.last_clip(before, |other| {
            other.id != clip
                && other.span.end <= span.end
                && self.recording_of(other.id.session) == recording
        });
        before.map(|before| before.span.end)
    }

    /// The key frame in which whoever is meant is largest.
    fn still(&self, appearances: &[Appearance]) -> Option<MediaDigest> {
        let mut best: Option<(f32, Reverse<Timestamp>, MediaDigest)> = None;
        for appearance in appearances {
            let Appearance::Seen(track) = appearance else { continue };
            let Some(clip) = self.clip(track.clip) else { continue };
            for (source, at, digest) in &clip.key_frames {
                if *source != track.source {
                    continue;
                }
                let apart = |one: &Sighting| one.at.secs_since(*at).abs();
                let near = track.sightings.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
                let Some(near) = near.filter(|one| apart(one) <= SAME_PICTURE_SECS) else {
                    continue;
                };
                let (size, at) = (near.bbox.w * near.bbox.h, Reverse(*at));
                let is_better = best
                    .as_ref()
                    .is_none_or(|(most, first, _)| size > *most || size == *most && at > *first);
                if is_better {
                    best = Some((size, at, digest.clone()));
                }
            }
        }
        best.map(|(_, _, digest)| digest)
    }
}

/// The words of whoever stayed, in a line.
fn said(appearances: &[Appearance]) -> Option<String> {
    let words = appearances.iter().filter_map(|one| match one {
        Appearance::Heard(turn) => turn.words.as_ref().map(|words| words.text.trim()),
        Appearance::Seen(_) => None,
    });
    let mut line = String::new();
    for words in words.filter(|words| !words.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(words);
        if line.chars().count() > SAID_CHARS {
            let cut: String = line.chars().take(SAID_CHARS).collect();
            let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole);
            return Some(format!("{whole} …"));
        }
    }
    (!line.is_empty()).then_some(line)
}
