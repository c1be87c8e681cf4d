//! Standing questions: which of them are answered by what a clip holds, or the open window.
//!
//! [`evaluate`] is a function of rows alone: the watches, what they told of before, and the face tracks and speech turns up to
//! then. The committer asks it in each clip's transaction; live, the open window asks it in between, and what it said then is
//! confirmed or overturned when the clip is sealed.

mod falls;
mod identities;
mod moved;
#[cfg(test)]
mod tests;
pub mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::tz::TimeZone;

pub use falls::Fall;
pub use identities::Identities;
pub use moved::{Moved, moved};

use crate::ids::{ClipId, EntityId, Seq, SessionId, SourceId, WatchId};
use crate::memorize::thing_called;
use crate::memory::{
    Appearance, FiringRow, FiringState, Happening, Rule, Stay, View, WatchRow, Whom, stays,
    whole_stays,
};
use crate::time::{Span, Timestamp};

/// Somebody without a name is taken for unknown who was perceived for so long, seconds: a face at the edge of the picture is not.
const UNKNOWN_SECS: f64 = 2.0;
/// Where the open window and its clip put one beginning, they differ by less, seconds.
const SAME_MOMENT_SECS: f64 = 1.0;

/// What is looked at.
pub struct Scene<'a> {
    /// The memory without the clip.
    pub before: &'a View,
    /// Appearances that touch a span, with the clip's.
    pub appearances: &'a dyn Fn(Span) -> Vec<Appearance>,
    /// Who is who, as of the clip.
    pub identities: &'a dyn Identities,
    /// The clip that is sealed; `None`: the window is open.
    pub clip: Option<ClipId>,
    /// Of which recording; `None` live.
    pub recording: Option<SessionId>,
    /// What was looked at before ended then; `None`: there was nothing.
    pub known_by: Option<Timestamp>,
    /// Where the clip begins, or what of the open window is not in a clip.
    pub start: Timestamp,
    /// So far time has come.
    pub now: Timestamp,
    /// The recording is over: everybody has gone.
    pub last: bool,
    /// Things that are somewhere else.
    pub moved: &'a [Moved],
    /// Who has fallen.
    pub falls: &'a [Fall],
    /// Those of the open window who look like nobody.
    pub strangers: &'a Strangers,
    /// Whoever was away for so long has gone, seconds.
    pub absence_secs: f64,
    /// Of `between`.
    pub zone: &'a TimeZone,
}

/// Strangers of the open window, under ids that are nobody's.
pub type Strangers = BTreeMap<EntityId, ToldStranger>;

/// What was told of a stranger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToldStranger {
    /// See [`crate::memory::Stranger::told_apart`].
    pub told_apart: bool,
    /// Which watches told of them, by which camera, and of what moment last.
    pub told_by: BTreeMap<(WatchId, Option<SourceId>), Timestamp>,
}

/// A watch fires.
#[derive(Clone, Debug, PartialEq)]
pub struct Fires {
    /// Which watch.
    pub watch: WatchId,
    /// When it happened.
    pub at: Timestamp,
    /// Who or what.
    pub entity: Option<EntityId>,
    /// By which camera or microphone.
    pub source: Option<SourceId>,
    /// In which clip.
    pub clip: Option<ClipId>,
}

/// What comes of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Watches that fire now, by time and watch.
    pub fires: Vec<Fires>,
    /// What the open window said, confirmed or overturned.
    pub settled: Vec<FiringRow>,
}

/// Which watches fire, `fired` being what they told of before. Costs the stays that go on, for each place that a rule names.
#[must_use]
pub fn evaluate(
    watches: &[(Seq, Arc<WatchRow>)],
    fired: &[Arc<FiringRow>],
    scene: &Scene<'_>,
) -> Outcome {
    let mut by_place: BTreeMap<Option<&str>, Vec<Stay>> = BTreeMap::new();
    let mut outcome = Outcome::default();
    let mut fired: Vec<FiringRow> = fired.iter().map(|row| FiringRow::clone(row)).collect();
    if watches.is_empty() && fired.iter().all(|row| row.state != FiringState::Provisional) {
        return outcome;
    }
    let everywhere = scene.stays(None);
    if scene.clip.is_some() {
        settle(&mut fired, watches, &everywhere, scene, &mut outcome.settled);
    }
    by_place.insert(None, everywhere);
    let mut candidates = Vec::new();
    for (set, watch) in watches {
        let rule = &watch.rule;
        let place = rule.place.as_deref();
        let stays = by_place.entry(place).or_insert_with(|| scene.stays(place));
        match rule.what {
            Happening::Falls => falls::falls(watch, scene, &mut candidates),
            Happening::Moves => things(watch, scene, &mut candidates),
            Happening::Speaks => speakers(watch, stays, scene, &mut candidates),
            _ => people(*set, watch, stays, scene, &mut candidates),
        }
    }
    candidates.sort_by_key(|one| (one.fires.at, one.fires.watch, one.fires.entity));
    for Candidate { rule, stay, fires } in candidates {
        let heard = FiringRow::from(&fires);
        if admits(rule, &fires, scene) && !was_told(rule, &fires, stay, &fired, scene) {
            fired.push(heard);
            outcome.fires.push(fires);
        }
    }
    outcome
}

impl From<&Fires> for FiringRow {
    fn from(fires: &Fires) -> Self {
        Self {
            id: crate::ids::FiringId(0),
            watch: fires.watch,
            at: fires.at,
            entity: fires.entity,
            source: fires.source.clone(),
            clip: fires.clip,
            state: match fires.clip {
                Some(_) => FiringState::Confirmed,
                None => FiringState::Provisional,
            },
        }
    }
}

/// What a watch may tell of, if it is not told already.
struct Candidate<'a> {
    rule: &'a Rule,
    /// The stay that it is part of.
    stay: Option<Span>,
    fires: Fires,
}

impl Scene<'_> {
    /// Stays that go on, or went on until a short while ago, with what was perceived at that place alone.
    fn stays(&self, place: Option<&str>) -> Vec<Stay> {
        let known = |who| self.before.seen_extent(who).into_iter();
        let first = known(None).chain(self.before.heard_extent(None)).map(|span| span.start).min();
        let from = self.known_by.unwrap_or(self.start).plus_secs(-self.absence_secs);
        let span = Span::new(from.min(self.now), self.now);
        let all = Span::new(first.unwrap_or(span.start).min(span.start), self.now);
        let there = place.map(|word| Whereabouts::of(word, self.before));
        let mut found = whole_stays(span, all, self.absence_secs, |wide| {
            let mut appearances = (self.appearances)(wide);
            appearances.retain(|one| {
                there.as_ref().is_none_or(|there| there.holds(one.span(), one.source()))
            });
            stays(
                appearances,
                self.absence_secs,
                |part| self.identities.person(part),
                |session| match self.clip {
                    Some(clip) if clip.session == session => self.recording,
                    _ => self.before.recording_of(session),
                },
            )
        });
        found.retain(|stay| stay.recording == self.recording);
        found
    }

    /// Whether the watch was set before that stay began.
    fn was_set_before(&self, set: Seq, stay: &Stay) -> bool {
        let first = stay.appearances.first().map(Appearance::clip);
        // (A clip that is not in yet comes after every commit.)
        first.is_none_or(|clip| self.before.clip_is_after(clip, set).unwrap_or(true))
    }

    fn is_meant(&self, watch: &WatchRow, stay: &Stay) -> bool {
        match (watch.rule.whom(), watch.entity) {
            (Whom::Anybody, _) => true,
            (Whom::Unknown, _) => {
                let secs: f64 = stay.appearances.iter().map(|one| one.span().secs()).sum();
                secs >= UNKNOWN_SECS && !self.identities.is_named(stay.who)
            }
            (Whom::Named(_), Some(id)) => self.identities.person(id) == stay.who,
            (Whom::Named(name), None) => self.identities.called(name).contains(&stay.who),
        }
    }
}

/// A place that a rule names.
enum Whereabouts {
    /// When the robot was there.
    Stays(Vec<Span>),
    /// A camera or a microphone.
    Source(String),
}

impl Whereabouts {
    fn of(word: &str, view: &View) -> Self {
        let id = word.parse::<EntityId>().ok();
        let mut places = view.places().into_iter();
        match places.find(|place| Some(place.id) == id || place.is_called(word)) {
            Some(place) => Self::Stays(view.stays_at(&place)),
            None => Self::Source(word.to_owned()),
        }
    }

    fn holds(&self, span: Span, source: &SourceId) -> bool {
        match self {
            Self::Stays(stays) => {
                stays.iter().any(|stay| stay.start <= span.end && span.start <= stay.end)
            }
            Self::Source(word) => source.as_str().eq_ignore_ascii_case(word),
        }
    }
}

/// Who comes, leaves, stays.
fn people<'a>(
    set: Seq,
    watch: &'a WatchRow,
    stays: &[Stay],
    scene: &Scene<'_>,
    into: &mut Vec<Candidate<'a>>,
) {
    let rule = &watch.rule;
    for stay in stays.iter().filter(|stay| scene.is_meant(watch, stay)) {
        let at = match rule.what {
            Happening::Leaves => {
                let gone = scene.last || stay.span.end.plus_secs(scene.absence_secs) <= scene.now;
                Some(stay.span.end).filter(|_| gone && scene.clip.is_some())
            }
            Happening::Stays => {
                let secs = rule.for_secs.unwrap_or_default();
                (stay.span.secs() >= secs).then(|| stay.span.start.plus_secs(secs))
            }
            _ => Some(stay.span.start),
        };
        let Some(at) = at else { continue };
        let is_new = scene.known_by.is_none_or(|known| at > known);
        if !is_new && rule.what != Happening::Leaves && !scene.was_set_before(set, stay) {
            continue;
        }
        let begun = stay.appearances.iter().rev().find(|one| one.span().start <= at);
        let by = begun.or(stay.appearances.first());
        into.push(Candidate {
            rule,
            stay: Some(stay.span),
            fires: Fires {
                watch: watch.id,
                at,
                entity: Some(stay.who),
                source: by.map(|one| one.source().clone()),
                clip: by.map(Appearance::clip).filter(|_| scene.clip.is_some()),
            },
        });
    }
}

/// Who speaks.
fn speakers<'a>(
    watch: &'a WatchRow,
    stays: &[Stay],
    scene: &Scene<'_>,
    into: &mut Vec<Candidate<'a>>,
) {
    for stay in stays.iter().filter(|stay| scene.is_meant(watch, stay)) {
        for appearance in &stay.appearances {
            let Appearance::Heard(turn) = appearance else { continue };
            // (A turn belongs to the clip in which it ended.)
            if scene.clip.map_or(scene.known_by.is_some_and(|by| turn.span.end <= by), |clip| {
                turn.clip != clip
            }) {
                continue;
            }
            into.push(Candidate {
                rule: &watch.rule,
                stay: None,
                fires: Fires {
                    watch: watch.id,
                    at: turn.span.start,
                    entity: Some(stay.who),
                    source: Some(turn.source.clone()),
                    clip: scene.clip,
                },
            });
        }
    }
}

/// Which things are somewhere else.
fn things<'a>(watch: &'a WatchRow, scene: &Scene<'_>, into: &mut Vec<Candidate<'a>>) {
    for moved in scene.moved {
        let is_meant = match watch.rule.whom() {
            Whom::Anybody | Whom::Unknown => true,
            Whom::Named(word) => {
                let noun = thing_called(word).unwrap_or_else(|| word.to_lowercase());
                let is_id = moved.object.is_some_and(|id| id.to_string() == word);
                is_id
                    || watch.entity.is_some() && watch.entity == moved.object
                    || moved.noun == noun
            }
        };
        let is_there = watch.rule.place.as_ref().is_none_or(|place| moved.is_at(place));
        if is_meant && is_there {
            into.push(Candidate {
                rule: &watch.rule,
                stay: None,
                fires: Fires {
                    watch: watch.id,
                    at: moved.at,
                    entity: moved.object,
                    source: None,
                    clip: scene.clip,
                },
            });
        }
    }
}

/// Whether the rule's hours and its end let it through.
fn admits(rule: &Rule, fires: &Fires, scene: &Scene<'_>) -> bool {
    rule.until.is_none_or(|until| fires.at <= until)
        && rule.between.is_none_or(|hours| hours.contain(fires.at, scene.zone))
}

/// Whether it was told already, or is not to be told so soon again.
fn was_told(
    rule: &Rule,
    fires: &Fires,
    stay: Option<Span>,
    fired: &[FiringRow],
    scene: &Scene<'_>,
) -> bool {
    let person = |id: EntityId| scene.identities.person(id);
    let mut own =
        fired.iter().filter(|row| row.watch == fires.watch && row.state != FiringState::Overturned);
    let is_in =
        |stay: Span, at: Timestamp| at >= stay.start.plus_secs(-SAME_MOMENT_SECS) && at <= stay.end;
    let is_nobody = |row: &FiringRow| row.state == FiringState::Provisional && row.entity.is_none();
    // Faces that look like nobody may be one stranger's, whose track broke off, unless they are told apart: else the clip does.
    let stranger = fires.entity.and_then(|id| scene.strangers.get(&id));
    let told = (fires.watch, fires.source.clone());
    let told_at = stranger.and_then(|stranger| stranger.told_by.get(&told));
    if told_at.zip(stay).is_some_and(|(at, stay)| is_in(stay, *at)) {
        return true;
    }
    let of_strangers = own.clone().filter(|row| is_nobody(row) && row.source == fires.source);
    let others = scene.strangers.values();
    let others = others.filter(|one| one.told_apart && one.told_by.contains_key(&told));
    let is_another =
        stranger.is_some_and(|one| one.told_apart) && of_strangers.count() <= others.count();
    own.any(|row| {
        let nobody = is_nobody(row);
        // Who it was that fell may turn out only later.
        let same = match nobody || rule.what == Happening::Falls {
            true => row.source == fires.source,
            false => row.entity.map(person) == fires.entity.map(person),
        };
        let of_it = match stay {
            Some(stay) => is_in(stay, row.at),
            None => row.at.secs_since(fires.at).abs() < SAME_MOMENT_SECS,
        };
        let of_it = match nobody && stranger.is_some() {
            true => !is_another,
            false => of_it,
        };
        let apart = fires.at.secs_since(row.at);
        // (What was before the beginning of another recording does not hold up this one.)
        (same && of_it) || rule.once || (0.0..rule.cooldown_secs()).contains(&apart)
    })
}

/// Confirms what the open window said up to the end of the clip, where the rows say so, too; else overturns it.
fn settle(
    fired: &mut [FiringRow],
    watches: &[(Seq, Arc<WatchRow>)],
    stays: &[Stay],
    scene: &Scene<'_>,
    settled: &mut Vec<FiringRow>,
) {
    // (Several strangers by one camera are several people.)
    let mut taken: BTreeSet<(WatchId, EntityId, Timestamp)> = BTreeSet::new();
    for row in fired {
        if row.state != FiringState::Provisional || row.at > scene.now {
            continue;
        }
        let watch = watches.iter().map(|(_, watch)| watch).find(|watch| watch.id == row.watch);
        if watch.is_some_and(|watch| watch.rule.what == Happening::Falls) {
            falls::settle(row, scene);
            settled.push(row.clone());
            continue;
        }
        let is_meant = |stay: &Stay| match row.entity {
            Some(id) => scene.identities.person(id) == stay.who,
            // Somebody who looked like nobody, by that camera.
            None => {
                let by = |one: &Appearance| row.source.as_ref() == Some(one.source());
                let named = scene.identities.is_named(stay.who);
                let anybody = watch.is_some_and(|watch| watch.rule.whom() == Whom::Anybody);
                let is_free = !taken.contains(&(row.watch, stay.who, stay.span.start));
                stay.appearances.iter().any(by) && (anybody || !named) && is_free
            }
        };
        let of_it = |stay: &&Stay| {
            is_meant(stay)
                && stay.span.start.plus_secs(-SAME_MOMENT_SECS) <= row.at
                && row.at <= stay.span.end.plus_secs(SAME_MOMENT_SECS)
        };
        // Of several by one camera whoever it fits best.
        let expected = |stay: &Stay| match watch.map(|watch| &watch.rule) {
            Some(rule) if rule.what == Happening::Stays => {
                stay.span.start.plus_secs(rule.for_secs.unwrap_or_default())
            }
            Some(rule) if rule.what == Happening::Speaks => row.at,
            _ => stay.span.start,
        };
        let apart = |stay: &Stay| expected(stay).secs_since(row.at).abs();
        let best = stays.iter().filter(of_it).min_by(|a, b| apart(a).total_cmp(&apart(b)));
        match best {
            Some(stay) => {
                taken.insert((row.watch, stay.who, stay.span.start));
                row.entity = Some(stay.who);
                let begun = stay.appearances.iter().rev().find(|one| one.span().start <= row.at);
                row.clip = begun.or(stay.appearances.first()).map(Appearance::clip);
                row.state = FiringState::Confirmed;
            }
            None => row.state = FiringState::Overturned,
        }
        settled.push(row.clone());
    }
}
