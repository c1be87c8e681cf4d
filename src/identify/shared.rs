//! The resolver as all of the daemon shares it: one writer at a time, and readers that wait for nobody.
//!
//! Whoever decides takes the resolver by [`SharedResolver::lock`]; when it is given back, what first guesses are made from is
//! published ([`Guesses`]), and stays as it is for whoever reads it then.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use arc_swap::ArcSwap;

use super::matching::centroids::{Centroids, Row};
use super::matching::gallery::Probe;
use super::matching::thresholds::MatchThresholds;
use super::resolver::Resolver;
use crate::ids::{EntityId, EntityKind};
use crate::percept::Embedding;

/// A first guess of whose a face or a voice is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guess {
    /// The face or voice.
    pub part: EntityId,
    /// The person.
    pub person: EntityId,
    /// How sure, 0–1.
    pub confidence: f32,
}

/// What first guesses are made from: as the resolver was when it was last given back. Never changes.
#[derive(Clone, Debug)]
pub struct Guesses {
    centres: Centroids,
    /// Those who were set aside long ago.
    cold: Centroids,
    faces: MatchThresholds,
    voices: MatchThresholds,
    knows_asides: bool,
}

impl Guesses {
    pub(super) fn of(resolver: &Resolver) -> Self {
        Self {
            centres: resolver.centres.clone(),
            cold: resolver.cold.clone(),
            faces: resolver.thresholds(EntityKind::Face),
            voices: resolver.thresholds(EntityKind::Voice),
            knows_asides: resolver.persons.knows_asides(),
        }
    }

    /// Whom faces in the open window look like, each by itself; `None`: like nobody, or like several. One pass over the known
    /// faces for all of them together; those that were set aside long ago are not looked at.
    #[must_use]
    pub fn faces(&self, faces: &[&Embedding]) -> Vec<Option<Guess>> {
        self.guess(EntityKind::Face, faces, &self.faces)
    }

    /// Whether a face is surely nobody's whom it could be: not even unclearly like any known one, nor like these strangers.
    #[must_use]
    pub fn is_nobodys(&self, face: &Embedding, strangers: &[&Embedding]) -> bool {
        let unlike = |score: f32| score < self.faces.maybe;
        let probe = Probe::new(vec![(face.clone(), 1.0)]);
        let near = self.centres.near(EntityKind::Face, &[face]);
        strangers.iter().all(|one| face.cosine(one).is_some_and(unlike))
            && near.iter().flatten().all(|row| unlike(row.gallery.score(&probe)))
    }

    /// Whether two pictures of faces are surely of one.
    #[must_use]
    pub fn are_one(&self, a: &Embedding, b: &Embedding) -> bool {
        a.cosine(b).is_some_and(|cosine| cosine >= self.faces.accept)
    }

    /// Whom a voice in the open window sounds like.
    #[must_use]
    pub fn voice(&self, voice: &Embedding) -> Option<Guess> {
        self.guess(EntityKind::Voice, &[voice], &self.voices).pop().flatten()
    }

    /// Whether any voice is known to be nobody's: the robot's own, a television's.
    #[must_use]
    pub fn knows_asides(&self) -> bool {
        self.knows_asides
    }

    /// What is asked of likenesses.
    pub(super) fn thresholds(&self, kind: EntityKind) -> MatchThresholds {
        if kind == EntityKind::Face { self.faces } else { self.voices }
    }

    /// How many faces or voices are known.
    pub(super) fn known(&self, kind: EntityKind) -> usize {
        self.centres.count(kind) + self.cold.count(kind)
    }

    /// The galleries that come near, those too that were set aside long ago.
    pub(super) fn near(&self, kind: EntityKind, probe: &Probe) -> Vec<&Row> {
        let Some(centroid) = probe.centroid() else { return Vec::new() };
        let all = [&self.centres, &self.cold];
        all.iter().flat_map(|index| index.near(kind, &[centroid])).flatten().collect()
    }

    fn guess(
        &self,
        kind: EntityKind,
        embeddings: &[&Embedding],
        thresholds: &MatchThresholds,
    ) -> Vec<Option<Guess>> {
        let near = self.centres.near(kind, embeddings);
        let of = |(embedding, near): (&&Embedding, Vec<&Row>)| {
            let probe = Probe::new(vec![((*embedding).clone(), 1.0)]);
            let mut heads: BTreeMap<EntityId, (f32, EntityId)> = BTreeMap::new();
            for row in near {
                let Some(person) = row.owner.person else { continue };
                let score = row.gallery.score(&probe);
                let best = heads.entry(row.owner.head).or_insert((score, person));
                best.0 = best.0.max(score);
            }
            let heads: Vec<(EntityId, (f32, EntityId))> = heads.into_iter().collect();
            let all: Vec<usize> = (0..heads.len()).collect();
            let (at, score, second) = super::matching::cluster::best_two(&all, |at| heads[at].1.0)?;
            let clear = score >= thresholds.accept && score - second >= thresholds.margin;
            let (part, (_, person)) = heads[at];
            clear.then(|| Guess { part, person, confidence: thresholds.confidence(score) })
        };
        embeddings.iter().zip(near).map(of).collect()
    }
}

/// One resolver for whoever decides and whoever guesses.
#[derive(Debug)]
pub struct SharedResolver {
    resolver: Mutex<Resolver>,
    guesses: ArcSwap<Guesses>,
}

impl SharedResolver {
    /// Shares a resolver.
    #[must_use]
    pub fn new(resolver: Resolver) -> Self {
        let guesses = ArcSwap::from_pointee(Guesses::of(&resolver));
        Self { resolver: Mutex::new(resolver), guesses }
    }

    /// Waits for the resolver. After a panic of whoever had it, it is as they left it.
    pub fn lock(&self) -> ResolverGuard<'_> {
        let resolver = self.resolver.lock().unwrap_or_else(PoisonError::into_inner);
        ResolverGuard { resolver, shared: self }
    }

    /// The resolver, unless somebody has it.
    pub fn try_lock(&self) -> Option<ResolverGuard<'_>> {
        let resolver = match self.resolver.try_lock() {
            Ok(resolver) => resolver,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(ResolverGuard { resolver, shared: self })
    }

    /// What guesses are made from now: waits for nobody.
    #[must_use]
    pub fn guesses(&self) -> Arc<Guesses> {
        self.guesses.load_full()
    }
}

/// The resolver, for whoever decides. What guesses are made from is published when it is given back.
#[derive(Debug)]
pub struct ResolverGuard<'a> {
    resolver: MutexGuard<'a, Resolver>,
    shared: &'a SharedResolver,
}

impl Deref for ResolverGuard<'_> {
    type Target = Resolver;

    fn deref(&self) -> &Resolver {
        &self.resolver
    }
}

impl DerefMut for ResolverGuard<'_> {
    fn deref_mut(&mut self) -> &mut Resolver {
        &mut self.resolver
    }
}

impl Drop for ResolverGuard<'_> {
    fn drop(&mut self) {
        // What a panic left half done is not told on.
        if !std::thread::panicking() {
            self.resolver.renew_owners();
            self.shared.guesses.store(Arc::new(Guesses::of(&self.resolver)));
        }
    }
}
