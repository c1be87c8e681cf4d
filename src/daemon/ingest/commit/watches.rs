//! Which standing questions a clip answers: in its transaction, so that what fires is kept with what it rests on.

use crate::daemon::ingest::clip_boundary::ClipBoundary;
use crate::daemon::ingest::settings::SessionSettings;
use crate::identify::{IdentifiedClip, Persons};
use crate::ids::{ClipId, SessionId};
use crate::memory::model::MemoryRow;
use crate::memory::{Draft, FiringRow, View};
use crate::percept::{ActionKind, ClipPercepts};
use crate::watch::{Fall, Scene, Strangers, evaluate, moved};

/// What of a clip decides.
pub(super) struct Sealed<'a> {
    pub(super) before: &'a View,
    pub(super) persons: &'a Persons,
    pub(super) percepts: &'a ClipPercepts,
    pub(super) identified: &'a IdentifiedClip,
    pub(super) memories: &'a [MemoryRow],
    pub(super) boundary: ClipBoundary,
    /// The session, where it is of a recording.
    pub(super) recording: Option<SessionId>,
}

/// Puts what fires, and what the open window said wrongly or rightly. Gives what is to be told: what is new or was overturned.
pub(super) fn fire(
    settings: &SessionSettings,
    sealed: &Sealed<'_>,
    draft: &mut Draft,
) -> Vec<FiringRow> {
    let Sealed { before, persons, percepts, identified, memories, boundary, recording } = *sealed;
    let (watches, fired) = (before.watches(), before.firings());
    if watches.is_empty() && fired.is_empty() {
        return Vec::new();
    }
    let clip: ClipId = percepts.clip;
    let outcome = evaluate(
        &watches,
        &fired,
        &Scene {
            before,
            appearances: &|span| draft.appearances(span),
            identities: persons,
            clip: Some(clip),
            recording,
            known_by: before.known_before(recording, clip, percepts.span),
            start: percepts.span.start,
            now: percepts.span.end,
            last: boundary.last && recording.is_some(),
            moved: &moved(before, memories),
            falls: &falls(percepts, identified),
            strangers: &Strangers::new(),
            absence_secs: settings.memory.options().absence_secs,
            zone: &settings.config.timezone(),
        },
    );
    let mut told = Vec::new();
    for row in outcome.settled {
        if row.state == crate::memory::FiringState::Overturned {
            told.push(row.clone());
        }
        draft.firing(row);
    }
    for fires in outcome.fires {
        let row = FiringRow { id: draft.new_firing_id(), ..FiringRow::from(&fires) };
        told.push(row.clone());
        draft.firing(row);
    }
    told
}

/// Who fell in the clip, by body and time.
fn falls(percepts: &ClipPercepts, identified: &IdentifiedClip) -> Vec<Fall> {
    let mut falls = Vec::new();
    for body in &percepts.bodies {
        let fell = body.actions.iter().filter(|action| action.kind == ActionKind::Falls);
        let who = identified.person_of_body(body.id);
        falls.extend(fell.map(|fall| Fall {
            who,
            source: body.source.clone(),
            at: fall.span.start,
        }));
    }
    falls
}
