//! Which galleries come into question: their centroids, side by side in one matrix per kind and model.
//!
//! A look-up is one pass over the matrix for all probes together: it costs galleries × dimensions, whatever the galleries hold.
//! Centroids are compared by whole numbers first ([`coarse`](super::coarse)); only where those cannot tell that a gallery is
//! farther off than the ones found so far, in full, so that the ones found are those that comparing all in full would find.
//! What it gives is looked at closely by its exemplars; up to [`NEAR`] galleries it gives all there are, so that nothing is
//! lost among few.
//!
//! Rows lie in blocks that copies share until one of them changes a row: a copy for readers costs a pointer per block.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::coarse::{CoarseProbe, CoarseRow, code};
use super::gallery::Gallery;
use crate::ids::{EntityId, EntityKind, ModelHash};
use crate::percept::Embedding;
use crate::simd::dot;

/// Galleries whose exemplars are looked at for one probe.
pub(in crate::identify) const NEAR: usize = 32;
/// Rows of a block.
const BLOCK: usize = 64;

/// Whose a gallery is, merges resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::identify) struct Owner {
    /// The face or voice that it was merged into, else itself.
    pub head: EntityId,
    /// The person.
    pub person: Option<EntityId>,
}

/// A gallery of the matrix.
#[derive(Clone, Debug)]
pub(in crate::identify) struct Row {
    pub gallery: Arc<Gallery>,
    pub owner: Owner,
}

/// Galleries by kind, model and centroid.
#[derive(Clone, Debug, Default)]
pub(in crate::identify) struct Centroids {
    matrices: BTreeMap<(EntityKind, ModelHash), Matrix>,
    places: Arc<BTreeMap<EntityId, (ModelHash, usize)>>,
}

/// The centroids of one kind and model, `[rows, dims]`.
#[derive(Clone, Debug)]
struct Matrix {
    dims: usize,
    blocks: Vec<Arc<Block>>,
    rows: usize,
}

#[derive(Clone, Debug, Default)]
struct Block {
    rows: Vec<Row>,
    centroids: Vec<f32>,
    /// The centroids in whole numbers, and what those mean.
    codes: Vec<i8>,
    coarse: Vec<CoarseRow>,
}

impl Centroids {
    /// Puts a gallery in, or in the place of how it was. One without exemplars is left out.
    pub(in crate::identify) fn put(&mut self, gallery: Arc<Gallery>, owner: Owner) {
        let entity = gallery.entity;
        let Some(centroid) = gallery.centroid().cloned() else {
            self.remove(entity);
            return;
        };
        let known = self.places.get(&entity).copied();
        if known.is_some_and(|(model, _)| model != centroid.model) {
            self.remove(entity);
        }
        let of = (entity.kind, centroid.model);
        let dims = centroid.values.len();
        let empty = || Matrix { dims, blocks: Vec::new(), rows: 0 };
        let matrix = self.matrices.entry(of).or_insert_with(empty);
        if matrix.dims != dims {
            return; // two lengths of one model's vectors: damaged rows
        }
        let row = Row { gallery, owner };
        match known.filter(|(model, _)| *model == centroid.model) {
            Some((_, place)) => matrix.set(place, row, &centroid.values),
            None => {
                let place = matrix.push(row, &centroid.values);
                Arc::make_mut(&mut self.places).insert(entity, (centroid.model, place));
            }
        }
    }

    /// Takes a gallery out; gives it back.
    pub(in crate::identify) fn remove(&mut self, entity: EntityId) -> Option<Row> {
        let (model, place) = Arc::make_mut(&mut self.places).remove(&entity)?;
        let matrix = self.matrices.get_mut(&(entity.kind, model))?;
        let (gone, moved) = matrix.swap_remove(place)?;
        if let Some(moved) = moved {
            Arc::make_mut(&mut self.places).insert(moved, (model, place));
        }
        Some(gone)
    }

    /// Whose a gallery is now.
    pub(in crate::identify) fn own(&mut self, entity: EntityId, owner: Owner) {
        let Some((model, place)) = self.places.get(&entity).copied() else { return };
        let Some(matrix) = self.matrices.get_mut(&(entity.kind, model)) else { return };
        if matrix.row(place).is_some_and(|row| row.owner != owner)
            && let Some(block) = matrix.blocks.get_mut(place / BLOCK)
            && let Some(row) = Arc::make_mut(block).rows.get_mut(place % BLOCK)
        {
            row.owner = owner;
        }
    }

    /// Whether a gallery is here.
    pub(in crate::identify) fn contains(&self, entity: EntityId) -> bool {
        self.places.contains_key(&entity)
    }

    /// How many galleries of a kind there are, of all models.
    pub(in crate::identify) fn count(&self, kind: EntityKind) -> usize {
        self.matrices.iter().filter(|((of, _), _)| *of == kind).map(|(_, m)| m.rows).sum()
    }

    /// For each probe the [`NEAR`] galleries of its model whose centroids are most alike, the most alike first (of equals the
    /// lower id).
    pub(in crate::identify) fn near(
        &self,
        kind: EntityKind,
        probes: &[&Embedding],
    ) -> Vec<Vec<&Row>> {
        let mut found = vec![Vec::new(); probes.len()];
        for ((_, model), matrix) in self.matrices.iter().filter(|((of, _), _)| *of == kind) {
            let fits =
                |probe: &&Embedding| probe.model == *model && probe.values.len() == matrix.dims;
            let mine: Vec<usize> = (0..probes.len()).filter(|n| fits(&probes[*n])).collect();
            let vectors: Vec<&[f32]> = mine.iter().map(|n| probes[*n].values.as_slice()).collect();
            for (n, near) in mine.iter().zip(matrix.near(&vectors)) {
                found[*n] = near;
            }
        }
        found
    }
}

impl Matrix {
    fn row(&self, place: usize) -> Option<&Row> {
        self.blocks.get(place / BLOCK)?.rows.get(place % BLOCK)
    }

    fn push(&mut self, row: Row, centroid: &[f32]) -> usize {
        if self.rows.is_multiple_of(BLOCK) {
            self.blocks.push(Arc::default());
        }
        if let Some(block) = self.blocks.last_mut() {
            let block = Arc::make_mut(block);
            block.rows.push(row);
            block.centroids.extend_from_slice(centroid);
            let at = block.codes.len();
            block.codes.resize(at + centroid.len(), 0);
            block.coarse.push(code(centroid, &mut block.codes[at..]));
        }
        self.rows += 1;
        self.rows - 1
    }

    fn set(&mut self, place: usize, row: Row, centroid: &[f32]) {
        let Some(block) = self.blocks.get_mut(place / BLOCK) else { return };
        let block = Arc::make_mut(block);
        let at = place % BLOCK;
        if let Some(old) = block.rows.get_mut(at) {
            *old = row;
            let values = at * self.dims..(at + 1) * self.dims;
            block.centroids[values.clone()].copy_from_slice(centroid);
            block.coarse[at] = code(centroid, &mut block.codes[values]);
        }
    }

    /// Takes a row out; the last one takes its place. Gives both back: the row, and whose place changed.
    fn swap_remove(&mut self, place: usize) -> Option<(Row, Option<EntityId>)> {
        let last = self.rows.checked_sub(1)?;
        let block = Arc::make_mut(self.blocks.last_mut()?);
        let row = block.rows.pop()?;
        let centroid = block.centroids.split_off(block.rows.len() * self.dims);
        block.codes.truncate(block.centroids.len());
        block.coarse.pop();
        if block.rows.is_empty() {
            self.blocks.pop();
        }
        self.rows = last;
        if place == last {
            return Some((row, None));
        }
        let moved = row.gallery.entity;
        let gone = self.row(place)?.clone();
        self.set(place, row, &centroid);
        Some((gone, Some(moved)))
    }

    fn near(&self, probes: &[&[f32]]) -> Vec<Vec<&Row>> {
        let mut best: Vec<Best<'_>> = probes.iter().map(|_| Best::default()).collect();
        let coarse: Vec<CoarseProbe> = probes.iter().map(|probe| CoarseProbe::of(probe)).collect();
        let dims = self.dims.max(1);
        for block in &self.blocks {
            let codes = block.codes.chunks_exact(dims).zip(&block.coarse);
            let rows = block.rows.iter().zip(block.centroids.chunks_exact(dims)).zip(codes);
            for ((row, centroid), (codes, meaning)) in rows {
                for ((probe, coarse), best) in probes.iter().zip(&coarse).zip(&mut best) {
                    if !best.is_beyond(coarse.most(codes, *meaning)) {
                        best.offer(dot(centroid, probe), row);
                    }
                }
            }
        }
        best.into_iter().map(|best| best.0.into_iter().map(|(_, row)| row).collect()).collect()
    }
}

/// The [`NEAR`] best, falling.
#[derive(Default)]
struct Best<'a>(Vec<(f32, &'a Row)>);

impl<'a> Best<'a> {
    /// Whether nothing that is no more alike than that can be among them any more.
    fn is_beyond(&self, most: f32) -> bool {
        self.0.len() == NEAR && self.0.last().is_some_and(|(cosine, _)| most < *cosine)
    }

    fn offer(&mut self, cosine: f32, row: &'a Row) {
        let before = |(other, known): &(f32, &Row)| {
            other
                .total_cmp(&cosine)
                .reverse()
                .then(known.gallery.entity.cmp(&row.gallery.entity))
                .is_lt()
        };
        if self.0.len() == NEAR && self.0.last().is_some_and(before) {
            return;
        }
        let at = self.0.partition_point(before);
        self.0.insert(at, (cosine, row));
        self.0.truncate(NEAR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::model::Exemplar;
    use crate::time::Timestamp;
    use proptest::prelude::*;

    const MODEL: ModelHash = ModelHash([1; 32]);

    fn gallery(number: u32, values: &[f32], model: ModelHash) -> Arc<Gallery> {
        let entity = EntityId::new(EntityKind::Face, number);
        let embedding = Embedding::normalised(values.to_vec(), model);
        let (slot, at) = (0, Timestamp::EPOCH);
        let row = Exemplar { entity, slot, at, embedding, quality: 1.0, weight: 1.0, media: None };
        Arc::new(Gallery::from_exemplars(entity, vec![Arc::new(row)]))
    }

    fn owner(gallery: &Gallery) -> Owner {
        Owner { head: gallery.entity, person: None }
    }

    proptest! {
        /// Whatever was put in, changed and taken out: those are found that sorting all of them finds.
        #[test]
        fn the_nearest_are_those_of_all(
            steps in proptest::collection::vec((0_u32..150, 0_u8..4, proptest::collection::vec(-1.0_f32..1.0, 5)), 1..400),
            probe in proptest::collection::vec(-1.0_f32..1.0, 5)
        ) {
            let (mut centres, mut all) = (Centroids::default(), BTreeMap::new());
            let before = centres.clone();
            for (number, what, values) in &steps {
                let model = if *what == 1 { ModelHash([2; 32]) } else { MODEL };
                let one = gallery(*number, values, model);
                if *what == 0 {
                    let gone = centres.remove(one.entity).map(|row| row.gallery.entity);
                    prop_assert_eq!(gone, all.remove(&one.entity).map(|g: Arc<Gallery>| g.entity));
                } else {
                    centres.put(Arc::clone(&one), owner(&one));
                    all.insert(one.entity, one);
                }
            }
            prop_assert_eq!(before.count(EntityKind::Face), 0, "a copy stays as it was");
            prop_assert_eq!(centres.count(EntityKind::Face), all.len());
            let probe = Embedding::normalised(probe, MODEL);
            let mut wanted: Vec<(f32, EntityId)> = all
                .values()
                .filter(|gallery| gallery.centroid().is_some_and(|c| c.model == MODEL))
                .map(|g| (g.centroid().map_or(-1.0, |c| dot(&c.values, &probe.values)), g.entity))
                .collect();
            wanted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            wanted.truncate(NEAR);
            let found = centres.near(EntityKind::Face, &[&probe]);
            let found: Vec<EntityId> = found[0].iter().map(|row| row.gallery.entity).collect();
            prop_assert_eq!(found, wanted.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
            prop_assert!(centres.near(EntityKind::Voice, &[&probe])[0].is_empty());
        }
    }
}
