//! What is remembered of a face or voice: a few good, diverse exemplars and their centroid.
//!
//! Exemplars are shared with the memory's tables: a gallery holds no vector of its own but its centroid.

use std::sync::Arc;

use crate::ids::{EntityId, ModelHash};
use crate::memory::model::Exemplar;
use crate::percept::Embedding;
use crate::simd::dot;
use crate::time::Timestamp;

/// Best exemplars that are averaged into a score.
const TOP: usize = 3;
/// How far a dot product in single precision may be beside the cosine, and a sum of a few such; far more than it loses.
const ROUNDING: f32 = 1e-3;

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

    /// The weighted mean direction; `None` of an empty bundle.
    #[must_use]
    pub fn centroid(&self) -> Option<&Embedding> {
        self.centroid.as_ref()
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

/// The exemplars of one face or voice, all of one model.
#[derive(Clone, Debug)]
pub struct Gallery {
    /// `face_N` or `voice_N`.
    pub entity: EntityId,
    /// By slot; some may be missing between them: exemplars are erased.
    slots: Vec<Arc<Exemplar>>,
    /// What a probe is compared with: better exemplars weigh more.
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
    pub fn from_exemplars(entity: EntityId, mut slots: Vec<Arc<Exemplar>>) -> Self {
        slots.sort_by_key(|exemplar| exemplar.slot);
        let mut gallery = Self { slots, ..Self::new(entity) };
        gallery.recentre();
        gallery
    }

    /// The exemplars by slot.
    #[must_use]
    pub fn exemplars(&self) -> &[Arc<Exemplar>] {
        &self.slots
    }

    /// What a probe is compared with first: the exemplars' weighted mean direction; `None` of an empty gallery.
    #[must_use]
    pub fn centroid(&self) -> Option<&Embedding> {
        self.centroid.as_ref()
    }

    /// The gallery as a probe for others: no better exemplar weighs more.
    #[must_use]
    pub fn as_probe(&self) -> Option<Embedding> {
        centroid(self.slots.iter().map(|e| (&e.embedding, e.weight)))
    }

    /// When the newest exemplar was seen or heard, and for how long after the oldest; `None` of an empty gallery.
    #[must_use]
    pub fn newest_and_reach_secs(&self) -> Option<(Timestamp, f64)> {
        let times = || self.slots.iter().map(|exemplar| exemplar.at);
        let (oldest, newest) = times().min().zip(times().max())?;
        Some((newest, newest.secs_since(oldest)))
    }

    /// The exemplar in that slot.
    #[must_use]
    pub fn in_slot(&self, slot: u32) -> Option<&Arc<Exemplar>> {
        self.slots.iter().find(|exemplar| exemplar.slot == slot)
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
        let vectors = probe.vectors.iter().map(|(embedding, weight)| (embedding, *weight));
        self.score_of(probe.centroid.as_ref(), vectors)
    }

    fn score_of<'a>(
        &self,
        centre: Option<&Embedding>,
        vectors: impl Iterator<Item = (&'a Embedding, f32)>,
    ) -> f32 {
        let (Some(mine), Some(theirs)) = (&self.centroid, centre) else { return -1.0 };
        let Some(centres) = mine.cosine(theirs) else { return -1.0 };
        let (mut sum, mut weights) = (0.0_f64, 0.0_f64);
        for (embedding, weight) in vectors {
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
    pub fn similarity(&self, other: &Self) -> f32 {
        let score = |of: &Self, probe: &Self| {
            let vectors = probe.slots.iter().map(|e| (&e.embedding, e.weight));
            of.score_of(probe.as_probe().as_ref(), vectors)
        };
        0.5 * (score(self, other) + score(other, self))
    }

    /// [`Self::similarity`] where it is at least that; most who are unlike are told so in a fraction of the time.
    #[must_use]
    pub fn similarity_from(&self, other: &Self, least: f32) -> Option<f32> {
        if self.max_similarity(other) < least {
            return None;
        }
        Some(self.similarity(other)).filter(|similarity| *similarity >= least)
    }

    /// Half a similarity is that of the centres, and the other half no more than that of the two nearest exemplars.
    fn max_similarity(&self, other: &Self) -> f32 {
        let centres = |of: &Self, probe: &Self| {
            of.centroid.as_ref().zip(probe.as_probe().as_ref()).and_then(|(a, b)| a.cosine(b))
        };
        let (Some(ab), Some(ba)) = (centres(self, other), centres(other, self)) else {
            return -1.0;
        };
        let pairs = self.slots.iter().flat_map(|a| other.slots.iter().map(move |b| (a, b)));
        let nearest =
            pairs.map(|(a, b)| dot(&a.embedding.values, &b.embedding.values)).fold(-1.0, f32::max);
        0.25 * (ab + ba) + 0.5 * nearest + ROUNDING
    }

    /// Empties the slots that were learned with another model: they are of no use to this one. Gives back which.
    pub fn leave_other_models(&mut self, model: ModelHash) -> Vec<u32> {
        let (own, others): (Vec<Arc<Exemplar>>, Vec<Arc<Exemplar>>) =
            std::mem::take(&mut self.slots).into_iter().partition(|e| e.embedding.model == model);
        self.slots = own;
        if !others.is_empty() {
            self.recentre();
        }
        others.iter().map(|exemplar| exemplar.slot).collect()
    }

    /// Takes a sample in if it shows something new or better; returns the exemplar as it stands in its slot.
    ///
    /// While there is room, every sample that differs enough from all exemplars gets the first free slot. A full
    /// gallery gives up one of its two most alike exemplars, the one of lower quality (then the younger).
    /// A sample at least `same_view` like an exemplar brings nothing new, but may be the better picture.
    pub fn admit(
        &mut self,
        mut sample: Exemplar,
        capacity: usize,
        same_view: f32,
    ) -> Option<&Arc<Exemplar>> {
        let capacity = capacity.max(1);
        self.leave_other_models(sample.embedding.model);
        let nearest = |slots: &[Arc<Exemplar>], of: &Embedding, but: usize| {
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
        let replaced = if cosine > same_view {
            let kept = &self.slots[twin];
            let better = sample.quality * sample.weight.max(0.1)
                > 1.15 * kept.quality * kept.weight.max(0.1);
            if !better {
                return None;
            }
            Some(twin)
        } else if self.slots.len() < capacity {
            None
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
            Some(index)
        };
        sample.entity = self.entity;
        let at = if let Some(index) = replaced {
            sample.slot = self.slots[index].slot;
            self.slots[index] = Arc::new(sample);
            index
        } else {
            let taken = self.slots.iter().zip(0_u32..);
            let free = taken.take_while(|(exemplar, slot)| exemplar.slot == *slot).count();
            sample.slot = free as u32;
            self.slots.insert(free, Arc::new(sample));
            free
        };
        self.recentre();
        self.slots.get(at)
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
    use proptest::prelude::*;

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
        assert_eq!(gallery.score(&Probe::new(vec![(other.clone(), 1.0)])), -1.0);
        // and never mixed: with a sample of another one the old ones go, whatever their slots
        gallery.admit(exemplar(&[0.0, 1.0], 0.5), 4, 0.93);
        let mut fresh = exemplar(&[1.0, 0.0], 0.5);
        fresh.embedding = other.clone();
        let mut mixed = gallery.clone();
        assert_eq!(mixed.leave_other_models(other.model), [0, 1]);
        assert_eq!(gallery.admit(fresh, 4, 0.93).map(|row| row.slot), Some(0));
        assert_eq!(gallery.exemplars().len(), 1);
        assert!(gallery.score(&Probe::new(vec![(other, 1.0)])) > 0.99);
    }

    #[test]
    fn what_is_learned_takes_the_slots_that_were_erased_and_no_others() {
        let of = |slot: u32, values: &[f32]| Exemplar { slot, ..exemplar(values, 0.9) };
        let kept = [of(1, &[0.0, 1.0, 0.0, 0.0]), of(3, &[0.0, 0.0, 1.0, 0.0])];
        let kept = kept.map(Arc::new);
        let mut gallery = Gallery::from_exemplars(kept[0].entity, kept.to_vec());
        let mut rows: Vec<Arc<Exemplar>> = kept.to_vec();
        let samples = [
            exemplar(&[1.0, 0.0, 0.0, 0.0], 0.3),  // a hole
            exemplar(&[0.0, 0.02, 1.0, 0.0], 1.3), // the better picture of slot 3
            exemplar(&[0.0, 0.0, 0.0, 1.0], 0.3),  // a hole
        ];
        for (sample, slot) in samples.into_iter().zip([0, 3, 2]) {
            let row = gallery.admit(sample, 4, 0.93).unwrap().clone();
            assert_eq!(row.slot, slot);
            assert_eq!(gallery.in_slot(slot), Some(&row));
            rows.retain(|old| old.slot != slot);
            rows.push(row);
        }
        let again = Gallery::from_exemplars(gallery.entity, rows);
        assert_eq!(gallery.exemplars(), again.exemplars());
        assert_eq!((gallery.centroid(), gallery.as_probe()), (again.centroid(), again.as_probe()));
        assert!(gallery.exemplars().contains(&kept[0]), "nothing good is lost");
    }

    proptest! {
        #[test]
        fn a_likeness_is_never_above_its_bound(
            values in proptest::collection::vec(-1.0_f32..1.0, 6 * 20), (a, b) in (1_usize..5, 1_usize..5)
        ) {
            let gallery = |from: usize, many: usize| {
                let rows = (from..from + many).zip(0_u32..).map(|(n, slot)| {
                    let quality = 0.2 + 0.1 * n as f32;
                    let row = exemplar(&values[n % 6 * 20..(n % 6 + 1) * 20], quality);
                    Arc::new(Exemplar { slot, ..row })
                });
                Gallery::from_exemplars(EntityId::new(EntityKind::Face, 1), rows.collect())
            };
            let (a, b) = (gallery(0, a), gallery(3, b));
            let similarity = a.similarity(&b);
            prop_assert_eq!(similarity, b.similarity(&a));
            prop_assert!(similarity <= a.max_similarity(&b));
            prop_assert_eq!(a.similarity_from(&b, similarity), Some(similarity));
            prop_assert_eq!(a.similarity_from(&b, similarity + 1e-4), None);
            // as if the other were a probe
            let probe = |of: &Gallery| Probe::new(of.slots.iter().map(|e| (e.embedding.clone(), e.weight)).collect());
            prop_assert_eq!(similarity, 0.5 * (a.score(&probe(&b)) + b.score(&probe(&a))));
        }
    }
}
