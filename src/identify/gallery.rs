//! What is remembered of a face or voice: a few good, diverse exemplars and their centroid.
//!
//! Galleries are scanned exactly: a handful of exemplars per entity makes an approximate search needless,
//! and nothing that decides identity may depend on one.

use crate::ids::{EntityId, ModelHash};
use crate::memory::model::Exemplar;
use crate::percept::Embedding;

/// Best exemplars that are averaged into a score.
const TOP: usize = 3;

/// A weighted bundle of embeddings of one model: a face track's samples, the turns of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The vectors with their weights (quality of a face, seconds of speech), in a canonical order.
    pub vectors: Vec<(Embedding, f32)>,
    centroid: Option<Embedding>,
}

impl Probe {
    /// Vectors of another model than the first one's are left out.
    #[must_use]
    pub fn new(mut vectors: Vec<(Embedding, f32)>) -> Self {
        if let Some(model) = vectors.first().map(|(embedding, _)| embedding.model) {
            vectors.retain(|(embedding, _)| embedding.model == model);
        }
        let centroid = centroid(vectors.iter().map(|(embedding, weight)| (embedding, *weight)));
        Self { vectors, centroid }
    }

    /// The two bundles as one.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        Self::new(self.vectors.iter().chain(&other.vectors).cloned().collect())
    }

    /// Cosine of the centroids, [-1, 1]; -1 where they cannot be compared.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f32 {
        match (&self.centroid, &other.centroid) {
            (Some(a), Some(b)) => a.cosine(b).unwrap_or(-1.0),
            _ => -1.0,
        }
    }
}

/// Weighted mean direction.
fn centroid<'a>(vectors: impl Iterator<Item = (&'a Embedding, f32)>) -> Option<Embedding> {
    let mut sum: Vec<f64> = Vec::new();
    let mut model: Option<ModelHash> = None;
    for (embedding, weight) in vectors {
        if model.get_or_insert(embedding.model) != &embedding.model {
            continue;
        }
        sum.resize(embedding.values.len().max(sum.len()), 0.0);
        for (total, value) in sum.iter_mut().zip(&embedding.values) {
            *total += f64::from(*value) * f64::from(weight.max(1e-3));
        }
    }
    let values = sum.into_iter().map(|v| v as f32).collect();
    model.map(|model| Embedding::normalised(values, model))
}

/// The exemplars of one face or voice.
#[derive(Clone, Debug)]
pub struct Gallery {
    /// `face_N` or `voice_N`.
    pub entity: EntityId,
    slots: Vec<Exemplar>,
    centroid: Option<Embedding>,
}

impl Gallery {
    /// An empty gallery.
    #[must_use]
    pub fn new(entity: EntityId) -> Self {
        Self { entity, slots: Vec::new(), centroid: None }
    }

    /// From stored rows, in any order.
    #[must_use]
    pub fn from_exemplars(entity: EntityId, mut slots: Vec<Exemplar>) -> Self {
        slots.sort_by_key(|exemplar| exemplar.slot);
        let mut gallery = Self { entity, slots, centroid: None };
        gallery.recentre();
        gallery
    }

    /// The exemplars by slot.
    #[must_use]
    pub fn exemplars(&self) -> &[Exemplar] {
        &self.slots
    }

    /// Seconds of speech or number of pictures it rests on.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.slots.iter().map(|exemplar| f64::from(exemplar.weight)).sum()
    }

    /// How alike probe and gallery are, [-1, 1]: the mean of the centroids' cosine and of the probe's
    /// cosines with its three nearest exemplars. -1 where the models differ.
    #[must_use]
    pub fn score(&self, probe: &Probe) -> f32 {
        let (Some(mine), Some(theirs)) = (&self.centroid, &probe.centroid) else { return -1.0 };
        let Some(centres) = mine.cosine(theirs) else { return -1.0 };
        let (mut sum, mut weights) = (0.0_f64, 0.0_f64);
        for (embedding, weight) in &probe.vectors {
            let mut cosines: Vec<f32> =
                self.slots.iter().filter_map(|e| e.embedding.cosine(embedding)).collect();
            cosines.sort_by(|a, b| b.total_cmp(a));
            cosines.truncate(TOP);
            if cosines.is_empty() {
                continue;
            }
            let mean = cosines.iter().sum::<f32>() / cosines.len() as f32;
            let weight = f64::from(weight.max(1e-3));
            sum += f64::from(mean) * weight;
            weights += weight;
        }
        if weights == 0.0 { centres } else { 0.5 * centres + 0.5 * (sum / weights) as f32 }
    }

    /// How alike two galleries are, [-1, 1]; symmetric.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f32 {
        let probe = |gallery: &Self| {
            Probe::new(gallery.slots.iter().map(|e| (e.embedding.clone(), e.weight)).collect())
        };
        let (ab, ba) = (self.score(&probe(other)), other.score(&probe(self)));
        0.5 * (ab + ba)
    }

    /// Takes a sample in if it shows something new or better; returns the slots that changed.
    ///
    /// While there is room, every sample that differs enough from all exemplars gets a slot. A full
    /// gallery gives up one of its two most alike exemplars, the one of lower quality (then the younger).
    /// A sample at least `same_view` like an exemplar brings nothing new, but may be the better picture.
    pub fn admit(
        &mut self,
        mut sample: Exemplar,
        capacity: usize,
        same_view: f32,
    ) -> Option<&Exemplar> {
        let capacity = capacity.max(1);
        if self.slots.first().is_some_and(|e| e.embedding.model != sample.embedding.model) {
            self.slots.clear(); // another model's gallery is of no use to this one
        }
        let nearest = |slots: &[Exemplar], of: &Embedding, but: usize| {
            let mut best = (f32::MIN, 0);
            for (index, exemplar) in slots.iter().enumerate() {
                let cosine = exemplar.embedding.cosine(of).unwrap_or(-1.0);
                if index != but && cosine > best.0 {
                    best = (cosine, index);
                }
            }
            best
        };
        let (cosine, twin) = nearest(&self.slots, &sample.embedding, usize::MAX);
        let slot = if cosine > same_view {
            let kept = &self.slots[twin];
            let better = sample.quality * sample.weight.max(0.1)
                > 1.15 * kept.quality * kept.weight.max(0.1);
            if !better {
                return None;
            }
            twin
        } else if self.slots.len() < capacity {
            self.slots.len()
        } else {
            let mut worst: Option<(f32, f32, usize)> = None;
            for (index, exemplar) in self.slots.iter().enumerate() {
                let (cosine, _) = nearest(&self.slots, &exemplar.embedding, index);
                let redundancy = (cosine, -exemplar.quality, index);
                let more = |w: &(f32, f32, usize)| {
                    redundancy.0.total_cmp(&w.0).then(redundancy.1.total_cmp(&w.1)).is_gt()
                };
                if worst.as_ref().is_none_or(more) {
                    worst = Some(redundancy);
                }
            }
            let (redundancy, _, index) = worst?;
            if cosine >= redundancy {
                return None;
            }
            index
        };
        sample.slot = slot as u32;
        sample.entity = self.entity;
        if slot == self.slots.len() {
            self.slots.push(sample);
        } else {
            self.slots[slot] = sample;
        }
        self.recentre();
        self.slots.get(slot)
    }

    fn recentre(&mut self) {
        self.centroid = centroid(self.slots.iter().map(|e| (&e.embedding, e.weight * e.quality)));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::EntityKind;
    use crate::time::Timestamp;

    fn exemplar(values: &[f32], quality: f32) -> Exemplar {
        Exemplar {
            entity: EntityId::new(EntityKind::Face, 1),
            slot: 0,
            at: Timestamp::EPOCH,
            embedding: Embedding::normalised(values.to_vec(), ModelHash([1; 32])),
            quality,
            weight: 1.0,
            media: None,
        }
    }

    #[test]
    fn a_gallery_keeps_diverse_exemplars_and_better_pictures_of_the_same_view() {
        let mut gallery = Gallery::new(EntityId::new(EntityKind::Face, 1));
        assert!(gallery.admit(exemplar(&[1.0, 0.0, 0.0], 0.5), 2, 0.93).is_some());
        assert!(gallery.admit(exemplar(&[0.999, 0.02, 0.0], 0.5), 2, 0.93).is_none());
        assert_eq!(gallery.admit(exemplar(&[0.999, 0.02, 0.0], 0.9), 2, 0.93).unwrap().slot, 0);
        assert_eq!(gallery.admit(exemplar(&[0.7, 0.7, 0.0], 0.6), 2, 0.93).unwrap().slot, 1);
        // full: the new view is farther off than the two are from each other
        assert_eq!(gallery.admit(exemplar(&[0.3, 0.0, 1.0], 0.4), 2, 0.93).unwrap().slot, 1);
        assert_eq!(gallery.exemplars().len(), 2);
    }

    #[test]
    fn other_models_are_never_compared() {
        let mut gallery = Gallery::new(EntityId::new(EntityKind::Face, 1));
        gallery.admit(exemplar(&[1.0, 0.0], 0.5), 4, 0.93);
        let other = Embedding::normalised(vec![1.0, 0.0], ModelHash([2; 32]));
        assert_eq!(gallery.score(&Probe::new(vec![(other, 1.0)])), -1.0);
    }
}
