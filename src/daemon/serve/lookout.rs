//! The thread that holds standing questions against the open window, live: who comes is told at once, and not when the clip is
//! sealed, which confirms or overturns it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Receiver;
use jiff::tz::TimeZone;

use crate::daemon::announce::Announcer;
use crate::ids::{ClipId, EntityId, EntityKind, SourceId, TrackId, WatchId};
use crate::memory::model::{TrackRow, TurnRow};
use crate::memory::{Appearance, FiringRow, Memory, MemoryError, PresentState, PresentTrack, View};
use crate::time::{Span, Timestamp};
use crate::watch::{Fall, Fires, Outcome, Scene, Strangers, evaluate};

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

/// A face of the open window.
struct Face {
    track: PresentTrack,
    /// Since when it looks like whom it looks like now.
    steady: Timestamp,
}

/// The faces since the newest clip: those that are out of view again, too, which the window does not show any more.
#[derive(Default)]
struct Faces {
    by_track: BTreeMap<(SourceId, TrackId), Face>,
    /// What was told of strangers, by number.
    told: BTreeMap<u32, BTreeMap<(WatchId, Option<SourceId>), Timestamp>>,
    erasures: u64,
}

impl Lookout {
    pub(super) fn run(&self, quit: &Receiver<()>) {
        let (mut faces, mut seen) = (Faces::default(), None);
        while quit.recv_timeout(EVERY).is_err_and(|error| error.is_timeout()) {
            let present = self.memory.present().now();
            if present.updated == seen {
                continue;
            }
            seen = present.updated;
            let view = self.memory.view();
            faces.take_in(&present, sealed_by(&view), self.memory.erasures());
            if view.watches().is_empty() || self.look(&view, &present, &faces).fires.is_empty() {
                continue;
            }
            if let Err(error) = self.fire(&mut faces) {
                tracing::warn!(%error, "What a watch looks out for was not told; it is looked for again.");
            }
        }
    }

    fn look(&self, before: &View, present: &PresentState, faces: &Faces) -> Outcome {
        let Some(now) = present.updated else { return Outcome::default() };
        let open = open(present, faces);
        let here = |span: Span| {
            let touches =
                |one: &&Appearance| one.span().start <= span.end && span.start <= one.span().end;
            let mut found = before.appearances(span, None);
            found.extend(open.iter().filter(touches).cloned());
            found
        };
        let falls: Vec<Fall> = present
            .falls
            .iter()
            .map(|fall| Fall { who: fall.provisional, source: fall.source.clone(), at: fall.at })
            .collect();
        let scene = Scene {
            before,
            appearances: &here,
            identities: before,
            clip: None,
            recording: None,
            known_by: sealed_by(before),
            start: open.iter().map(|one| one.span().start).fold(now, Timestamp::min),
            now,
            last: false,
            moved: &[],
            falls: &falls,
            strangers: &faces.strangers(),
            absence_secs: self.memory.options().absence_secs,
            zone: &self.zone,
        };
        evaluate(&before.watches(), &before.firings(), &scene)
    }

    /// Keeps what fires, and tells of it. It is looked at once more when nobody else writes: the clip may have been sealed
    /// meanwhile, or somebody erased.
    fn fire(&self, faces: &mut Faces) -> Result<(), MemoryError> {
        let mut draft = self.memory.begin(Timestamp::wall_clock());
        let (before, present) = (draft.before(), self.memory.present().now());
        faces.take_in(&present, sealed_by(&before), self.memory.erasures());
        let outcome = self.look(&before, &present, faces);
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
        faces.told(&outcome.fires);
        self.announcer.fired(&self.memory, &told);
        Ok(())
    }
}

/// When the newest live clip ended.
fn sealed_by(view: &View) -> Option<Timestamp> {
    let newest = view.last_clip(None, |clip| view.recording_of(clip.id.session).is_none());
    newest.map(|clip| clip.span.end)
}

impl Faces {
    /// Takes in what the window shows now, and lets go of what a clip holds, or may have been erased.
    fn take_in(&mut self, present: &PresentState, sealed: Option<Timestamp>, erasures: u64) {
        if self.erasures != erasures || present.updated.is_none() {
            *self = Self { erasures, ..Self::default() };
        }
        for track in &present.tracks {
            let key = (track.source.clone(), track.handle);
            let known = self.by_track.get(&key);
            let known = known.filter(|face| face.track.provisional == track.provisional);
            let first = if track.provisional.is_none() { track.since } else { track.last };
            let steady = known.map_or(first, |face| face.steady);
            self.by_track.insert(key, Face { track: track.clone(), steady });
        }
        self.by_track.retain(|_, face| sealed.is_none_or(|sealed| face.track.last > sealed));
        let open = |number: u32| {
            let mut strangers = self.by_track.values().filter_map(|face| face.track.stranger);
            strangers.any(|stranger| stranger.number == number)
        };
        self.told.retain(|number, _| open(*number));
    }

    /// Who looks like nobody, and what was told of them.
    fn strangers(&self) -> Strangers {
        let mut strangers = Strangers::new();
        for stranger in self.by_track.values().filter_map(|face| face.track.stranger) {
            let one = strangers.entry(nobody(stranger.number)).or_default();
            one.told_apart |= stranger.told_apart;
            one.told_by = self.told.get(&stranger.number).cloned().unwrap_or_default();
        }
        strangers
    }

    /// Notes what was told of strangers.
    fn told(&mut self, fires: &[Fires]) {
        let numbers = self.by_track.values().filter_map(|face| face.track.stranger);
        let numbers: BTreeSet<u32> = numbers.map(|stranger| stranger.number).collect();
        for number in numbers {
            let of = fires.iter().filter(|fires| fires.entity == Some(nobody(number)));
            let told = of.map(|fires| ((fires.watch, fires.source.clone()), fires.at));
            self.told.entry(number).or_default().extend(told);
        }
    }
}

/// The id of a stranger: it is nobody's.
fn nobody(number: u32) -> EntityId {
    EntityId::new(EntityKind::Person, u32::MAX - number)
}

/// The open window's faces and turns as they would be rows. Somebody who looks like nobody has an id that is nobody's.
fn open(present: &PresentState, faces: &Faces) -> Vec<Appearance> {
    // (No clip has that number: it is not in yet.)
    let clip = ClipId::default();
    let seen = faces.by_track.values().filter_map(|Face { track, steady }| {
        if track.last.secs_since(*steady) < STEADY_SECS {
            return None;
        }
        let stranger = track.stranger.map(|stranger| nobody(stranger.number));
        Some(Appearance::Seen(Arc::new(TrackRow {
            clip,
            track: track.handle,
            source: track.source.clone(),
            span: Span::new(track.since, track.last),
            sightings: std::iter::empty().collect(),
            picture: false,
            body: false,
            face: Some(track.provisional.or(stranger)?),
            confidence: track.similarity.unwrap_or_default(),
            colours: None,
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
