//! The thread that holds standing questions against the open window, live: who comes is told at once, and not when the clip is
//! sealed, which confirms or overturns it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Receiver;
use jiff::tz::TimeZone;

use crate::daemon::announce::Announcer;
use crate::ids::{ClipId, EntityId, EntityKind, SourceId, TrackId};
use crate::memory::model::{TrackRow, TurnRow};
use crate::memory::{Appearance, FiringRow, Memory, MemoryError, PresentState, PresentTrack, View};
use crate::time::{Span, Timestamp};
use crate::watch::{Outcome, Scene, evaluate};

/// How often the open window is looked at.
const EVERY: Duration = Duration::from_millis(50);
/// A first guess of who somebody is counts when it stood for so long, seconds: two analysed frames.
const STEADY_SECS: f64 = 0.3;

/// Looks at the open window.
pub(super) struct Lookout {
    pub(super) memory: Memory,
    pub(super) announcer: Announcer,
    pub(super) zone: TimeZone,
}

/// Whom a face looked like first, and since when it does.
type Steady = BTreeMap<(SourceId, TrackId), (Option<EntityId>, Timestamp)>;

impl Lookout {
    pub(super) fn run(&self, quit: &Receiver<()>) {
        let (mut steady, mut seen) = (Steady::new(), None);
        while quit.recv_timeout(EVERY).is_err_and(|error| error.is_timeout()) {
            let present = self.memory.present().now();
            if present.updated == seen {
                continue;
            }
            seen = present.updated;
            steady = steadier(&steady, &present);
            let view = self.memory.view();
            if view.watches().is_empty() || self.look(&view, &present, &steady).fires.is_empty() {
                continue;
            }
            if let Err(error) = self.fire(&steady) {
                tracing::warn!(%error, "What a watch looks out for was not told; it is looked for again.");
            }
        }
    }

    fn look(&self, before: &View, present: &PresentState, steady: &Steady) -> Outcome {
        let Some(now) = present.updated else { return Outcome::default() };
        let open = open(present, steady);
        let here = |span: Span| {
            let touches =
                |one: &&Appearance| one.span().start <= span.end && span.start <= one.span().end;
            let mut found = before.appearances(span, None);
            found.extend(open.iter().filter(touches).cloned());
            found
        };
        let newest = before.last_clip(None, |clip| before.recording_of(clip.id.session).is_none());
        let scene = Scene {
            before,
            appearances: &here,
            identities: before,
            clip: None,
            recording: None,
            known_by: newest.map(|clip| clip.span.end),
            start: open.iter().map(|one| one.span().start).fold(now, Timestamp::min),
            now,
            last: false,
            moved: &[],
            absence_secs: self.memory.options().absence_secs,
            zone: &self.zone,
        };
        evaluate(&before.watches(), &before.firings(), &scene)
    }

    /// Keeps what fires, and tells of it. It is looked at once more when nobody else writes: the clip may have been sealed
    /// meanwhile, or somebody erased.
    fn fire(&self, steady: &Steady) -> Result<(), MemoryError> {
        let mut draft = self.memory.begin(Timestamp::wall_clock());
        let (before, present) = (draft.before(), self.memory.present().now());
        let outcome = self.look(&before, &present, steady);
        if outcome.fires.is_empty() {
            return Ok(());
        }
        let mut told = Vec::new();
        for fires in &outcome.fires {
            let id = draft.new_firing_id();
            let entity = fires.entity.filter(|id| before.knows(*id));
            let row = FiringRow { id, entity, ..FiringRow::from(fires) };
            draft.firing(row.clone());
            told.push(row);
        }
        draft.commit()?;
        self.announcer.fired(&self.memory, &told);
        Ok(())
    }
}

/// Since when each face looks like whom it looks like now.
fn steadier(before: &Steady, present: &PresentState) -> Steady {
    let since = |track: &PresentTrack| {
        let key = (track.source.clone(), track.handle);
        let known = before.get(&key).filter(|(who, _)| *who == track.provisional);
        let first = if track.provisional.is_none() { track.since } else { track.last };
        let since = known.map_or(first, |(_, since)| *since);
        (key, (track.provisional, since))
    };
    present.tracks.iter().map(since).collect()
}

/// The open window's faces and turns as they would be rows. Somebody who looks like nobody has an id that is nobody's.
fn open(present: &PresentState, steady: &Steady) -> Vec<Appearance> {
    // (No clip has that number: it is not in yet.)
    let clip = ClipId::default();
    let seen = present.tracks.iter().filter_map(|track| {
        let (_, since) = steady.get(&(track.source.clone(), track.handle))?;
        if track.last.secs_since(*since) < STEADY_SECS {
            return None;
        }
        let nobody = || EntityId::new(EntityKind::Person, u32::MAX - track.handle.0 as u32);
        Some(Appearance::Seen(Arc::new(TrackRow {
            clip,
            track: track.handle,
            source: track.source.clone(),
            span: Span::new(track.since, track.last),
            sightings: std::iter::empty().collect(),
            picture: false,
            face: Some(track.provisional.unwrap_or_else(nobody)),
            confidence: track.similarity.unwrap_or_default(),
        })))
    });
    let heard = present.turns.iter().filter_map(|turn| {
        let end = turn.end?;
        Some(Appearance::Heard(Arc::new(TurnRow {
            clip,
            turn: turn.handle,
            source: turn.source.clone(),
            span: Span::new(turn.start, end),
            speech_secs: end.secs_since(turn.start),
            voice: Some(turn.provisional?),
            confidence: turn.similarity.unwrap_or_default(),
            words: None,
            sound: None,
        })))
    });
    seen.chain(heard).collect()
}
