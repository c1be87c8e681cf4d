//! What an erased stretch of time leaves of those who were perceived in it: evidence without its seconds, reasons
//! without their figures, and nobody of whom nothing else is known.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::reach::{Fate, Reach};
use crate::ids::{ClipId, EntityId, Seq};
use crate::memory::model::{Membership, Merge, PairEvidence, Presence};
use crate::memory::tables::Tables;
use crate::memory::versions::temporal::{Temporal as _, Version};
use crate::memory::view::filter::overlaps;
use crate::mention;
use crate::time::{Span, Timestamp};

/// What stands in place of a reason whose figures are of what is erased.
const REASON: &str = "part of what this rested on is erased";
/// Sums of seconds are no nearer than this to what they are.
const NO_SECS: f64 = 1e-6;

/// What is left of evidence and reasons.
pub(super) struct Left {
    /// From when on something rested on the stretch.
    since: Timestamp,
    /// Who was perceived in it.
    touched: BTreeSet<EntityId>,
    /// By row of evidence, where it changes: what is left.
    evidence: HashMap<i64, Option<PairEvidence>>,
}

/// A pair's seconds as they grow from version to version: support, against, and those of its [`Presence`].
type Secs = [f64; 5];

/// A pair from version to version.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    /// As written.
    whole: Secs,
    /// Without what is erased.
    left: Secs,
    /// The newest occasion as written, and those that are left.
    newest: Option<ClipId>,
    occasions: Option<(ClipId, ClipId)>,
    /// Whether absence is written, as older stores have it.
    is_older: bool,
}

impl Sum {
    /// Goes on to the next version; `counter`: what the voice was heard for, as written and without what is erased.
    fn go_on(&mut self, row: &PairEvidence, is_gone: bool, counter: [f64; 2]) {
        let presence = row.presence.unwrap_or_default();
        let Presence { visible_secs, since_secs, clear_secs, .. } = presence;
        let whole = [row.support_secs, row.against_secs, visible_secs, since_secs, clear_secs];
        if self.is_older && row.presence.is_some() {
            self.take_over(counter);
        }
        if !is_gone {
            for (left, (new, old)) in self.left.iter_mut().zip(whole.iter().zip(self.whole)) {
                *left += new - old;
            }
        }
        self.whole = whole;
        self.is_older = row.presence.is_none();
        let newest = presence.occasions.map(|(_, last)| last);
        if let Some(clip) = newest.filter(|clip| !is_gone && self.newest != Some(*clip)) {
            self.occasions = Some(self.occasions.map_or((clip, clip), |(first, _)| (first, clip)));
        }
        self.newest = newest;
    }

    /// The same with the absence reckoned from the counter.
    fn take_over(&mut self, [whole, left]: [f64; 2]) {
        for (secs, counter) in [(&mut self.whole, whole), (&mut self.left, left)] {
            let [support, against, ..] = *secs;
            *secs = [support, 0.0, support, counter - against - support, 0.0];
        }
    }
}

impl Left {
    pub(super) fn of(tables: &Tables, span: Span) -> Self {
        let (touched, gone, secs) = perceived(tables, span);
        let evidence = weigh(tables, &touched, &gone, &secs);
        Self { since: span.start, touched, evidence }
    }

    pub(super) fn evidence(&self, version: &Version<PairEvidence>) -> Fate<PairEvidence> {
        match self.evidence.get(&version.rowid) {
            None => Fate::Keep,
            Some(None) => Fate::Delete,
            Some(Some(left)) => Fate::Rewrite(*left),
        }
    }

    pub(super) fn membership(&self, version: &Version<Membership>) -> Fate<Membership> {
        match self.is_void(&version.row.reason, version.recorded) {
            false => Fate::Keep,
            true => Fate::Rewrite(Membership {
                reason: REASON.to_owned(),
                ..Membership::clone(&version.row)
            }),
        }
    }

    pub(super) fn merge(&self, version: &Version<Merge>) -> Fate<Merge> {
        match self.is_void(&version.row.reason, version.recorded) {
            false => Fate::Keep,
            true => {
                Fate::Rewrite(Merge { reason: REASON.to_owned(), ..Merge::clone(&version.row) })
            }
        }
    }

    /// Whether a reason tells of somebody who was perceived in the stretch, and was given since.
    fn is_void(&self, reason: &str, recorded: Timestamp) -> bool {
        let told = mention::spelled(reason);
        let touches = |id: &EntityId| self.touched.contains(id);
        recorded > self.since && told.iter().any(|one| one.id.as_ref().is_some_and(touches))
    }
}

/// Who was perceived in the stretch, the commits that tell of it, and the seconds for which each is seen or heard outside of
/// it.
fn perceived(
    tables: &Tables,
    span: Span,
) -> (BTreeSet<EntityId>, HashSet<Seq>, BTreeMap<EntityId, f64>) {
    let mut touched = BTreeSet::new();
    let mut gone = HashSet::new();
    let mut secs: BTreeMap<EntityId, f64> = BTreeMap::new();
    let clips = tables.clips.log();
    gone.extend(clips.iter().filter(|clip| overlaps(span, clip.row.span)).map(|clip| clip.seq));
    let mut percept = |of: Option<EntityId>, at: Span, seq: Seq, holds: bool| {
        if overlaps(span, at) {
            touched.extend(of);
            gone.insert(seq);
        } else if let Some(id) = of.filter(|_| holds) {
            *secs.entry(id).or_default() += at.secs();
        }
    };
    for version in tables.tracks.log().iter() {
        let holds = version.retired_seq().is_none();
        percept(version.row.face, version.row.span, version.seq, holds);
    }
    for version in tables.turns.log().iter() {
        let holds = version.retired_seq().is_none();
        percept(version.row.voice, version.row.span, version.seq, holds);
    }
    for version in tables.exemplars.log().iter().filter(|version| span.contains(version.row.at)) {
        touched.insert(version.row.entity);
    }
    (touched, gone, secs)
}

/// What is left of the evidence about whoever was `touched`, without what the commits that are `gone` added to it: no more
/// than the seconds for which both are seen or heard still.
fn weigh(
    tables: &Tables,
    touched: &BTreeSet<EntityId>,
    gone: &HashSet<Seq>,
    secs: &BTreeMap<EntityId, f64>,
) -> HashMap<i64, Option<PairEvidence>> {
    let most = |id: &EntityId| secs.get(id).copied().unwrap_or_default();
    let mut sums: HashMap<(EntityId, EntityId), Sum> = HashMap::new();
    let mut changed = HashMap::new();
    // Of one commit the voices' counters first: pairs are reckoned from them.
    let mut versions: Vec<Version<PairEvidence>> = tables.evidence.log().iter().collect();
    versions.sort_by_key(|version| (version.seq, version.row.face != version.row.voice));
    for version in &versions {
        let row = &version.row;
        let told = touched.contains(&row.face) || touched.contains(&row.voice);
        if !told || row.as_standing().is_some() {
            continue;
        }
        let counter = sums.get(&(row.voice, row.voice));
        let counter = counter.map_or([0.0; 2], |sum| [sum.whole[0], sum.left[0]]);
        let sum = sums.entry(row.key()).or_default();
        sum.go_on(row, gone.contains(&version.seq), counter);
        // A face that was away while a voice spoke: the voice alone says for how long.
        let limit = match row.face.kind == row.voice.kind {
            true => most(&row.face).min(most(&row.voice)),
            false => most(&row.voice),
        };
        let kept = |secs: f64| if secs > NO_SECS { secs.min(limit) } else { 0.0 };
        let [support, against, visible, since_secs, clear] = sum.left;
        let (support_secs, against_secs) = (kept(support), kept(against));
        let presence = row.presence.map(|_| Presence {
            visible_secs: kept(visible),
            since_secs,
            clear_secs: kept(clear),
            occasions: sum.occasions,
        });
        let left = PairEvidence { support_secs, against_secs, presence, ..**row };
        let visible_secs = presence.map_or(0.0, |presence| presence.visible_secs);
        if support_secs + against_secs + visible_secs <= NO_SECS {
            changed.insert(version.rowid, None);
        } else if left != **row {
            changed.insert(version.rowid, Some(left));
        }
    }
    changed
}

/// Everyone and everything of which nothing is left: no picture, no sound, no memory, no name.
pub(super) fn ghosts(tables: &Tables, reach: &Reach) -> Vec<EntityId> {
    let mut known = BTreeSet::from([EntityId::ROBOT]);
    let tracks = tables.tracks.log();
    let tracks = tracks.iter().filter(|version| !reach.tracks.contains(&version.row.key()));
    known.extend(tracks.filter_map(|version| version.row.face));
    let objects = tables.object_tracks.log();
    let objects = objects.iter().filter(|version| !reach.objects.contains(&version.row.key()));
    known.extend(objects.filter_map(|version| version.row.object));
    let turns = tables.turns.log();
    let turns = turns.iter().filter(|version| !reach.turns.contains(&version.row.key()));
    known.extend(turns.filter_map(|version| version.row.voice));
    let exemplars = tables.exemplars.log();
    let exemplars = exemplars.iter().filter(|version| !reach.takes_sample(&version.row));
    known.extend(exemplars.map(|version| version.row.entity));
    let names = tables.names.log();
    let names = names.iter().filter(|version| !reach.unhears(&version.row));
    known.extend(names.map(|version| version.row.entity));
    let memories = tables.memories.log();
    for version in memories.iter().filter(|version| !reach.memories.contains(&version.row.id)) {
        known.extend(version.row.links());
        let fact = version.row.fact.as_ref();
        known.extend(fact.and_then(|fact| fact.subject.parse::<EntityId>().ok()));
    }
    // Whose face is known is known, and so is whoever was found to be the same.
    let (parts, merges) = (tables.memberships.log(), tables.merges.log());
    let parts = parts.iter().map(|version| (version.row.part, version.row.person));
    let ties: Vec<(EntityId, EntityId)> = merges
        .iter()
        .flat_map(|version| {
            let Merge { from, into, .. } = *version.row;
            [(from, into), (into, from)]
        })
        .chain(parts)
        .collect();
    loop {
        let before = known.len();
        for (one, other) in &ties {
            if known.contains(one) {
                known.insert(*other);
            }
        }
        if known.len() == before {
            break;
        }
    }
    let entities = tables.entities.log();
    let gone = entities.iter().map(|version| version.row.id).filter(|id| !known.contains(id));
    gone.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::EntityKind;

    fn row(support_secs: f64, against_secs: f64, presence: Option<Presence>) -> PairEvidence {
        let [face, voice] =
            [EntityKind::Face, EntityKind::Voice].map(|kind| EntityId::new(kind, 1));
        PairEvidence { face, voice, support_secs, against_secs, presence }
    }

    fn seen(visible_secs: f64, since_secs: f64, newest: u32) -> Option<Presence> {
        let clip = |index| ClipId { index, ..ClipId::default() };
        let occasions = Some((clip(0), clip(newest)));
        Some(Presence { visible_secs, since_secs, clear_secs: 0.5 * visible_secs, occasions })
    }

    #[test]
    fn what_an_erased_clip_added_goes_from_all_that_absence_is_reckoned_from() {
        let mut sum = Sum::default();
        sum.go_on(&row(4.0, 0.0, seen(4.0, 1.0, 0)), false, [5.0, 5.0]);
        sum.go_on(&row(10.0, 2.0, seen(12.0, 1.0, 1)), true, [13.0, 5.0]);
        sum.go_on(&row(12.0, 2.0, seen(14.0, 1.0, 2)), false, [15.0, 7.0]);
        assert_eq!(sum.left, [6.0, 0.0, 6.0, 1.0, 3.0]);
        let clip = |index| ClipId { index, ..ClipId::default() };
        assert_eq!(sum.occasions, Some((clip(0), clip(2))), "the erased one is none");
    }

    #[test]
    fn what_is_left_of_an_older_row_is_the_same_after_it_was_taken_over() {
        for is_last_gone in [false, true] {
            let mut sum = Sum::default();
            sum.go_on(&row(8.0, 6.5, None), false, [20.0, 20.0]);
            sum.go_on(&row(9.0, 8.0, None), true, [22.5, 20.0]);
            // 22.5 s were heard when it was taken over; two more with the face in view.
            let counter = if is_last_gone { 20.0 } else { 22.0 };
            sum.go_on(&row(11.0, 0.0, seen(11.0, 5.5, 3)), is_last_gone, [24.5, counter]);
            let [support, against, visible, since, _] = sum.left;
            let more = if is_last_gone { 0.0 } else { 2.0 };
            assert_eq!((support, against), (8.0 + more, 0.0));
            assert_eq!(counter - since - visible, 6.5, "the absence that is left");
        }
    }
}
