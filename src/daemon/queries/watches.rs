//! Standing questions, and when they were answered.

use serde::{Deserialize, Serialize};

use super::find::name_of;
use crate::ids::WatchId;
use crate::memory::model::MediaDigest;
use crate::memory::{FiringRow, FiringState, Rule, View, WatchRow};
use crate::mqtt::Refusal;
use crate::mqtt::message::WatchEvent;

/// So many firings of a watch are shown unless `limit` says more.
const USUAL: usize = 10;
/// So many at most.
const MOST: usize = 10_000;

/// What of the watches is to be shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchesArgs {
    /// Of each watch the newest so many firings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// A watch with what it told of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// Its id.
    pub id: WatchId,
    /// The rule.
    pub rule: Rule,
    /// Whom it is about, where it was set for somebody who was known.
    pub entity: Option<String>,
    /// How often it fired, what was overturned left out.
    pub fired: usize,
    /// The newest firings, oldest first.
    pub firings: Vec<WatchEvent>,
}

/// The watches that are set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watches {
    /// By id.
    pub watches: Vec<Watched>,
}

/// All watches.
///
/// # Errors
/// `bad_request` for a `limit` out of range.
pub(super) fn watches(view: &View, args: &WatchesArgs) -> Result<Watches, Refusal> {
    let limit = args.limit.unwrap_or(USUAL);
    if limit > MOST {
        return Err(Refusal::bad_request(format!("`limit` must be 0 to {MOST}")));
    }
    let firings = view.firings();
    let watched = |watch: &WatchRow| {
        let own: Vec<_> = firings.iter().filter(|firing| firing.watch == watch.id).collect();
        let stands = |firing: &&&std::sync::Arc<FiringRow>| firing.state != FiringState::Overturned;
        let newest = own.iter().skip(own.len().saturating_sub(limit));
        Watched {
            id: watch.id,
            rule: watch.rule.clone(),
            entity: watch.entity.map(|id| view.resolve(id).to_string()),
            fired: own.iter().filter(stands).count(),
            firings: newest.map(|firing| watch_event(view, firing)).collect(),
        }
    };
    Ok(Watches { watches: view.watches().iter().map(|(_, watch)| watched(watch)).collect() })
}

/// A firing as it is told.
#[must_use]
pub fn watch_event(view: &View, firing: &FiringRow) -> WatchEvent {
    let watches = view.watches();
    let watch = watches.iter().map(|(_, watch)| watch).find(|watch| watch.id == firing.watch);
    let entity = firing.entity.map(|id| view.resolve(id));
    WatchEvent {
        firing: firing.id,
        watch: firing.watch,
        what: watch.map(|watch| watch.rule.what),
        entity: entity.map(|id| id.to_string()),
        name: entity.and_then(|id| {
            let label = || view.label(id).map(|label| label.to_string());
            name_of(view, id).or_else(label)
        }),
        at: firing.at,
        source: firing.source.as_ref().map(ToString::to_string),
        clip: firing.clip,
        still: still(view, firing),
        state: firing.state,
        say: watch.and_then(|watch| watch.rule.say.clone()),
    }
}

/// The key frame that is nearest to what happened: of the camera that saw it, else of any.
fn still(view: &View, firing: &FiringRow) -> Option<MediaDigest> {
    let clip = view.clip(firing.clip?)?;
    let own = |frame: &&(crate::ids::SourceId, crate::time::Timestamp, MediaDigest)| {
        firing.source.as_ref() == Some(&frame.0)
    };
    let apart = |at: crate::time::Timestamp| at.secs_since(firing.at).abs();
    let nearest = clip
        .key_frames
        .iter()
        .min_by(|a, b| own(b).cmp(&own(a)).then(apart(a.1).total_cmp(&apart(b.1))));
    nearest.map(|(_, _, digest)| digest.clone())
}
