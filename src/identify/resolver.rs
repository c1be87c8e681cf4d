//! The resolver: what it knows, built from rows, and how it compares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::evidence::Evidence;
use super::evidence::spellings::Spellings;
use super::matching::centroids::Centroids;
use super::matching::gallery::Gallery;
use super::matching::idle::Idle;
use super::matching::thresholds::MatchThresholds;
use super::objects::Objects;
use super::pending::PendingIdentities;
use super::persons::Persons;
use super::persons::ties::Ties;
use super::writer::{IdentityRows, IdentityWriter};
use crate::config::Identity;
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{Exemplar, Media};

/// Percept → entity. See the module's head.
#[derive(Clone, Debug)]
pub struct Resolver {
    pub(super) settings: Identity,
    pub(super) faces: MatchThresholds,
    pub(super) voices: MatchThresholds,
    pub(super) galleries: BTreeMap<EntityId, Arc<Gallery>>,
    /// Those that percepts are compared with.
    pub(super) centres: Centroids,
    /// Those that are looked through for what matches nobody.
    pub(super) cold: Centroids,
    pub(super) idle: Idle,
    pub(super) spelt: Spellings,
    pub(super) ties: Ties,
    pub(super) persons: Persons,
    pub(super) evidence: Evidence,
    pub(super) objects: Objects,
    pub(super) undecided: PendingIdentities,
}

impl Resolver {
    /// From the rows that are valid now and the checkpoint's undecided percepts.
    ///
    /// `settings.face_accept` and `voice_accept`, where given, move the calibrated thresholds.
    ///
    /// Costs what the rows hold, once: nothing is compared with anything. Exemplars are shared, not copied.
    #[must_use]
    pub fn from_rows(
        rows: &IdentityRows,
        undecided: PendingIdentities,
        settings: &Identity,
        faces: MatchThresholds,
        voices: MatchThresholds,
    ) -> Self {
        let mut slots: BTreeMap<EntityId, Vec<Arc<Exemplar>>> = BTreeMap::new();
        for exemplar in &rows.exemplars {
            slots.entry(exemplar.entity).or_default().push(Arc::clone(exemplar));
        }
        let galleries: BTreeMap<EntityId, Arc<Gallery>> = slots
            .into_iter()
            .map(|(entity, slots)| (entity, Arc::new(Gallery::from_exemplars(entity, slots))))
            .collect();
        let persons = Persons::from_rows(rows);
        let mut resolver = Self {
            settings: settings.clone(),
            faces: settings.face_accept.map_or(faces, |at| faces.with_accept(at)).of_views(),
            voices: settings.voice_accept.map_or(voices, |at| voices.with_accept(at)),
            galleries,
            centres: Centroids::default(),
            cold: Centroids::default(),
            idle: Idle::default(),
            spelt: Spellings::of(&persons),
            ties: Ties::from_rows(&rows.pairs),
            persons,
            evidence: Evidence::from_rows(&rows.pairs),
            objects: Objects::from_rows(rows),
            undecided,
        };
        let known: Vec<EntityId> = resolver.galleries.keys().copied().collect();
        known.into_iter().for_each(|entity| resolver.index_gallery(entity));
        resolver
    }

    /// What the checkpoint has to keep.
    #[must_use]
    pub fn undecided(&self) -> &PendingIdentities {
        &self.undecided
    }

    /// Who is one person with whom.
    #[must_use]
    pub fn persons(&self) -> &Persons {
        &self.persons
    }

    /// The signed evidence.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// A face or voice with all that was merged into it (itself first); `None` where the present model can match none of it.
    pub(super) fn matchable(&self, head: EntityId) -> Option<Vec<EntityId>> {
        let ids = self.persons.group_of(head);
        let lost = ids.iter().all(|id| self.evidence.unmatchable(*id));
        (!lost).then_some(ids)
    }

    /// What is asked of likenesses, so many faces or voices being known.
    pub(super) fn thresholds(&self, kind: EntityKind) -> MatchThresholds {
        self.calibrated(kind).among(self.known(kind))
    }

    /// What was calibrated, however many are known.
    pub(super) fn calibrated(&self, kind: EntityKind) -> MatchThresholds {
        if kind == EntityKind::Face { self.faces } else { self.voices }
    }

    /// How many faces or voices are known.
    pub(super) fn known(&self, kind: EntityKind) -> usize {
        self.centres.count(kind) + self.cold.count(kind)
    }

    pub(super) fn galleries_of(&self, ids: &[EntityId]) -> Vec<&Gallery> {
        ids.iter().filter_map(|id| self.galleries.get(id)).map(|gallery| &**gallery).collect()
    }

    pub(super) fn learn(
        &mut self,
        lessons: Vec<(Exemplar, Option<Media>)>,
        writer: &mut dyn IdentityWriter,
    ) {
        let mut changed: BTreeMap<(EntityId, u32), Option<Media>> = BTreeMap::new();
        let mut emptied: BTreeSet<(EntityId, u32)> = BTreeSet::new();
        for (exemplar, media) in lessons {
            let entity = exemplar.entity;
            let same_view = self.thresholds(entity.kind).same_view();
            let empty = || Arc::new(Gallery::new(entity));
            let gallery = Arc::make_mut(self.galleries.entry(entity).or_insert_with(empty));
            let others = gallery.leave_other_models(exemplar.embedding.model);
            emptied.extend(others.into_iter().map(|slot| (entity, slot)));
            if let Some(row) = gallery.admit(exemplar, self.settings.gallery_size, same_view) {
                changed.insert((entity, row.slot), media);
                self.evidence.learned(entity);
            }
        }
        let taught: BTreeSet<EntityId> =
            changed.keys().chain(&emptied).map(|(entity, _)| *entity).collect();
        for entity in taught {
            self.index_gallery(entity);
            self.undecided.touched.insert(entity);
        }
        for (entity, slot) in emptied.into_iter().filter(|key| !changed.contains_key(key)) {
            writer.retire_exemplar(entity, slot);
        }
        for ((entity, slot), media) in changed {
            let row = self.galleries.get(&entity).and_then(|gallery| gallery.in_slot(slot));
            if let Some(row) = row {
                if let Some(media) = media {
                    writer.media(media);
                }
                writer.exemplar((**row).clone());
            }
        }
    }
}
