//! Who has fallen.

use super::{Candidate, Fires, SAME_MOMENT_SECS, Scene, Whereabouts};
use crate::ids::{EntityId, SourceId};
use crate::memory::{FiringRow, FiringState, WatchRow, Whom};
use crate::time::{Span, Timestamp};

/// Somebody has fallen.
#[derive(Clone, Debug, PartialEq)]
pub struct Fall {
    /// Whose body it was: a face or a person; `None`: nobody's that is known.
    pub who: Option<EntityId>,
    /// By which camera.
    pub source: SourceId,
    /// When the body was upright last.
    pub at: Timestamp,
}

/// Falls that a watch is about.
pub(super) fn falls<'a>(watch: &'a WatchRow, scene: &Scene<'_>, into: &mut Vec<Candidate<'a>>) {
    let place = watch.rule.place.as_deref().map(|word| Whereabouts::of(word, scene.before));
    for Fall { who, source, at } in scene.falls {
        let who = who.map(|who| scene.identities.person(who));
        let is_meant = match (watch.rule.whom(), watch.entity) {
            (Whom::Anybody, _) => true,
            (Whom::Unknown, _) => who.is_none_or(|who| !scene.identities.is_named(who)),
            (Whom::Named(_), Some(id)) => who == Some(scene.identities.person(id)),
            (Whom::Named(name), None) => {
                who.is_some_and(|who| scene.identities.called(name).contains(&who))
            }
        };
        let span = Span::new(*at, *at);
        if is_meant && place.as_ref().is_none_or(|place| place.holds(span, source)) {
            into.push(Candidate {
                rule: &watch.rule,
                stay: None,
                fires: Fires {
                    watch: watch.id,
                    at: *at,
                    entity: who,
                    source: Some(source.clone()),
                    clip: scene.clip,
                },
            });
        }
    }
}

/// Confirms what the open window said of a fall, where the clip says so, too; else overturns it.
pub(super) fn settle(row: &mut FiringRow, scene: &Scene<'_>) {
    let is_it = |fall: &&Fall| {
        row.source.as_ref() == Some(&fall.source)
            && fall.at.secs_since(row.at).abs() < SAME_MOMENT_SECS
    };
    match scene.falls.iter().find(is_it) {
        Some(fall) => {
            row.entity = fall.who.map(|who| scene.identities.person(who));
            (row.clip, row.state) = (scene.clip, FiringState::Confirmed);
        }
        None => row.state = FiringState::Overturned,
    }
}
