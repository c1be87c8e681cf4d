//! Which galleries may be one: those of which something changed, with those near them.
//!
//! That two galleries are one follows from how alike they are, from what was seen and heard of them, and from names. So a pair
//! is looked at when something of that changed for one of the two ([`PendingIdentities::touched`](crate::identify::PendingIdentities)), and each of them
//! is compared with the galleries near it: a clip costs what changed in it, and a start nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::gallery::Gallery;
use crate::identify::resolver::Resolver;
use crate::ids::{EntityId, EntityKind};

/// The pairs of galleries that may be one.
#[derive(Debug, Default)]
pub(in crate::identify) struct SimilarPairs {
    /// Of two ids the lower one first; who are less alike than was asked for are left out.
    pairs: BTreeMap<(EntityId, EntityId), f32>,
    compared: BTreeSet<EntityId>,
}

impl SimilarPairs {
    /// Compares those parts of one kind, and all that they are merged with, with the galleries near them, each once; keeps who
    /// are alike by `least`.
    pub(in crate::identify) fn compare(
        &mut self,
        resolver: &Resolver,
        kind: EntityKind,
        parts: impl IntoIterator<Item = EntityId>,
        least: f32,
    ) {
        let mut ones: BTreeSet<EntityId> = BTreeSet::new();
        for part in parts.into_iter().filter(|part| part.kind == kind) {
            ones.extend(resolver.persons.group_of(resolver.persons.resolve(part)));
        }
        let galleries: Vec<&Gallery> = ones
            .into_iter()
            .filter(|one| resolver.galleries.contains_key(one) && self.compared.insert(*one))
            .filter_map(|one| resolver.galleries.get(&one).map(|gallery| &**gallery))
            .collect();
        for (gallery, near) in galleries.iter().zip(resolver.near_galleries(kind, &galleries)) {
            for other in near {
                let key = (gallery.entity.min(other), gallery.entity.max(other));
                if self.pairs.contains_key(&key) {
                    continue;
                }
                let with = resolver.galleries.get(&other);
                if let Some(similarity) = with.and_then(|with| gallery.similarity_from(with, least))
                {
                    self.pairs.insert(key, similarity);
                }
            }
        }
    }

    /// How alike two faces or two voices are at most, each with all that was merged into it, where they may be one: the heads
    /// ascending.
    pub(in crate::identify) fn of_heads(
        &self,
        resolver: &Resolver,
    ) -> BTreeMap<(EntityId, EntityId), f32> {
        let mut found = BTreeMap::new();
        for ((x, y), similarity) in &self.pairs {
            let (a, b) = (resolver.persons.resolve(*x), resolver.persons.resolve(*y));
            if a != b {
                let most = found.entry((a.min(b), a.max(b))).or_insert(*similarity);
                *most = similarity.max(*most);
            }
        }
        found
    }
}
