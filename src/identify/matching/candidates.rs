//! Whom a clip's percepts may be: for each the known ones that come near, not all that were ever met.
//!
//! The galleries lie in two indexes ([`Centroids`]). Whoever was seen or heard once, has no name and no other half, and did not
//! come back for `identity.cold_after_days` lies in the cold one: it is looked through for what matches nobody in the other,
//! once per clip, and never for a guess about an open window. Whoever is found there comes back under the old id.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::centroids::{Centroids, Owner};
use super::cluster;
use super::gallery::{Gallery, Probe};
use super::thresholds::MatchThresholds;
use crate::identify::resolver::Resolver;
use crate::ids::{EntityId, EntityKind};
use crate::percept::Embedding;
use crate::time::Timestamp;

/// All exemplars within so long are one occasion, seconds.
const OCCASION_SECS: f64 = 3600.0;
const DAY_SECS: f64 = 86_400.0;

/// The known ones near a clip's percepts, ascending.
pub(in crate::identify) struct Candidates<'a> {
    /// Faces or voices that are no alias.
    pub heads: Vec<EntityId>,
    /// The galleries of each, with all that was merged into it.
    pub known: Vec<Vec<&'a Gallery>>,
    /// For each percept which of them come into question (indices, ascending).
    pub near: Vec<Vec<usize>>,
}

impl Candidates<'_> {
    /// Where one stands among the heads.
    pub(in crate::identify) fn position(&self, head: EntityId) -> Option<usize> {
        self.heads.binary_search(&head).ok()
    }
}

impl Resolver {
    /// The face or voice that a probe clearly is, with its score.
    pub(in crate::identify) fn nearest(
        &self,
        kind: EntityKind,
        probe: &Probe,
        thresholds: &MatchThresholds,
    ) -> Option<(EntityId, f32)> {
        let (head, score, second) = self.best_two_heads(kind, probe, &[])?;
        let clear = score >= thresholds.accept && score - second >= thresholds.margin;
        clear.then_some((head, score))
    }

    /// The likeliest face or voice but for some, its score, and that of the next one (-1: there is none).
    pub(in crate::identify) fn best_two_heads(
        &self,
        kind: EntityKind,
        probe: &Probe,
        but: &[EntityId],
    ) -> Option<(EntityId, f32, f32)> {
        let Candidates { heads, known, near } = self.candidates(kind, &[probe], &[]);
        let near = near.first()?.iter().filter(|index| !but.contains(&heads[**index]));
        let score = |index: usize| {
            known[index].iter().map(|gallery| gallery.score(probe)).fold(-1.0_f32, f32::max)
        };
        let (index, top, second) = cluster::best_two(near, score)?;
        Some((heads[index], top, second))
    }

    /// The known ones near each probe, and those of `besides` whatever they look like.
    ///
    /// Costs one pass over the centroids for all probes, and the exemplars of those that come near.
    pub(in crate::identify) fn candidates(
        &self,
        kind: EntityKind,
        probes: &[&Probe],
        besides: &[EntityId],
    ) -> Candidates<'_> {
        let found = self.near_heads(kind, probes);
        let mut heads: BTreeSet<EntityId> = found.iter().flatten().copied().collect();
        let is_known = |head: &EntityId| self.persons.membership(*head).is_some();
        heads.extend(besides.iter().map(|id| self.persons.resolve(*id)).filter(is_known));
        let heads: Vec<EntityId> = heads.into_iter().collect();
        let groups = heads.iter().map(|head| self.persons.group_of(*head));
        let known = groups.map(|ids| self.galleries_of(&ids)).collect();
        let near = found
            .iter()
            .map(|near| near.iter().filter_map(|head| heads.binary_search(head).ok()).collect())
            .collect();
        Candidates { heads, known, near }
    }

    /// For each probe the heads near it, ascending; of the cold index only where nobody else matches.
    fn near_heads(&self, kind: EntityKind, probes: &[&Probe]) -> Vec<BTreeSet<EntityId>> {
        let mut found = self.heads_in(&self.centres, kind, probes);
        if self.cold.count(kind) > 0 {
            let accept = self.thresholds(kind).accept;
            let matches = |probe: &Probe, near: &BTreeSet<EntityId>| {
                near.iter().any(|head| self.score_of_head(*head, probe) >= accept)
            };
            let nobody: Vec<usize> =
                (0..probes.len()).filter(|n| !matches(probes[*n], &found[*n])).collect();
            let of: Vec<&Probe> = nobody.iter().map(|n| probes[*n]).collect();
            for (n, cold) in nobody.iter().zip(self.heads_in(&self.cold, kind, &of)) {
                found[*n].extend(cold);
            }
        }
        found
    }

    fn heads_in(
        &self,
        centres: &Centroids,
        kind: EntityKind,
        probes: &[&Probe],
    ) -> Vec<BTreeSet<EntityId>> {
        let with: Vec<(usize, &Embedding)> = probes
            .iter()
            .enumerate()
            .filter_map(|(n, probe)| Some((n, probe.centroid()?)))
            .collect();
        let vectors: Vec<&Embedding> = with.iter().map(|(_, centroid)| *centroid).collect();
        let mut found = vec![BTreeSet::new(); probes.len()];
        for ((n, _), near) in with.iter().zip(centres.near(kind, &vectors)) {
            let known = near.iter().map(|row| row.gallery.entity);
            let known = known.filter(|id| self.persons.membership(*id).is_some());
            found[*n] = known.map(|id| self.persons.resolve(id)).collect();
        }
        found
    }

    /// How alike a probe and a face or voice are, with all that was merged into it; -1 where they cannot be compared.
    pub(in crate::identify) fn score_of_head(&self, head: EntityId, probe: &Probe) -> f32 {
        let galleries = self.galleries_of(&self.persons.group_of(head));
        galleries.iter().map(|gallery| gallery.score(probe)).fold(-1.0_f32, f32::max)
    }

    /// For each of these galleries, all of one kind, those near it: one pass over the centroids for all of them together. The
    /// cold index is looked through for whoever was met once, too: who may be somebody of it is somebody in particular by the
    /// second occasion.
    pub(in crate::identify) fn near_galleries(
        &self,
        kind: EntityKind,
        of: &[&Gallery],
    ) -> Vec<BTreeSet<EntityId>> {
        let probes: Vec<Option<Embedding>> = of.iter().map(|gallery| gallery.as_probe()).collect();
        let mut found = vec![BTreeSet::new(); of.len()];
        let mut look = |centres: &Centroids, wanted: &dyn Fn(EntityId) -> bool| {
            let asked = probes.iter().zip(of).zip(0..);
            let asked = asked.filter(|((_, gallery), _)| wanted(gallery.entity));
            let (at, vectors): (Vec<usize>, Vec<&Embedding>) =
                asked.filter_map(|((probe, _), n)| Some((n, probe.as_ref()?))).unzip();
            for (n, near) in at.into_iter().zip(centres.near(kind, &vectors)) {
                let others = near.iter().map(|row| row.gallery.entity);
                found[n].extend(others.filter(|other| *other != of[n].entity));
            }
        };
        look(&self.centres, &|_| true);
        if self.cold.count(kind) > 0 {
            look(&self.cold, &|one| self.is_nobody_in_particular(one));
        }
        found
    }

    /// Whose a gallery is.
    fn owner(&self, entity: EntityId) -> Owner {
        Owner { head: self.persons.resolve(entity), person: self.persons.person_of(entity) }
    }

    /// A gallery is as it is now, and among those that are looked through first.
    pub(in crate::identify) fn index_gallery(&mut self, entity: EntityId) {
        let Some(gallery) = self.galleries.get(&entity) else { return };
        self.cold.remove(entity);
        match gallery.newest_and_reach_secs() {
            Some((newest, _)) => self.idle.note(entity, newest),
            None => self.idle.forget(entity),
        }
        let (gallery, owner) = (Arc::clone(gallery), self.owner(entity));
        self.centres.put(gallery, owner);
    }

    /// Somebody was found in the cold index: all of theirs leave it.
    pub(in crate::identify) fn warm(&mut self, head: EntityId) {
        for id in self.persons.group_of(head) {
            if self.cold.contains(id) {
                self.index_gallery(id);
            }
        }
    }

    /// Puts those into the cold index who were met once, long before `now`, and are nobody in particular.
    pub(in crate::identify) fn cool(&mut self, now: Timestamp) {
        let days = self.settings.cold_after_days;
        if days <= 0.0 {
            return;
        }
        for entity in self.idle.before(now.plus_secs(-days * DAY_SECS)) {
            if self.is_nobody_in_particular(entity)
                && let Some(row) = self.centres.remove(entity)
            {
                self.cold.put(row.gallery, row.owner);
            }
        }
    }

    /// Met on one occasion, unnamed, not linked to another face or voice, and never a matter of the user's.
    pub(in crate::identify) fn is_nobody_in_particular(&self, entity: EntityId) -> bool {
        let once = self.galleries.get(&entity).and_then(|gallery| gallery.newest_and_reach_secs());
        let Some(person) = self.persons.person_of(entity) else { return false };
        once.is_some_and(|(_, reach)| reach <= OCCASION_SECS)
            && person.kind == EntityKind::Person
            && self.persons.all_parts(person) == [entity]
            && self.persons.name(person).is_none()
            && !self.persons.decreed(entity)
    }

    /// The indexes tell of those whose rows changed whose they are now; what they may be merged with is looked at again.
    pub(in crate::identify) fn renew_owners(&mut self) {
        let mut parts = BTreeSet::new();
        for id in self.persons.take_changed() {
            for row in self.persons.names_of(id) {
                self.spelt.add(&row.name, id);
            }
            let root = self.persons.resolve(id);
            if matches!(id.kind, EntityKind::Face | EntityKind::Voice) {
                parts.extend(self.persons.with_aliases(root));
                parts.extend(self.persons.with_aliases(id));
                let person = self.persons.person_of(id);
                parts.extend(person.into_iter().flat_map(|p| self.persons.all_parts(p)));
            }
            parts.extend(self.persons.all_parts(root));
        }
        for part in parts {
            let owner = self.owner(part);
            self.centres.own(part, owner);
            self.cold.own(part, owner);
            self.undecided.touched.insert(part);
            if self.cold.contains(part) && !self.is_nobody_in_particular(part) {
                self.index_gallery(part); // named, or one with somebody
            }
        }
    }
}
