//! Following faces: what their tracks gather beside boxes, for [`Tracker`].
//!
//! Embeddings find a lost face again, are all that counts across a hard cut, and overrule the boxes when somebody
//! else stands in the same place.

use serde::{Deserialize, Serialize};

use super::liveness::LivenessState;
use crate::config::FacePerception;
use crate::perceive::track::{
    GatingThresholds, OpenTrack, Outline, Part, TrackPayload, Tracker, TrackerSettings,
};
use crate::percept::{Embedding, Face, FaceSample, FaceTrack, Liveness};
use crate::time::Timestamp;

/// Embeddings a track compares with: its latest.
const RECENT: usize = 5;
/// Samples kept per track and clip.
const SAMPLES: usize = 8;
/// What difference from the other samples is worth beside quality.
const DIVERSITY_WEIGHT: f32 = 0.5;

/// Follows the faces of one camera. Its state goes into checkpoints.
pub type FaceTracker = Tracker<FaceHistory>;

impl TrackerSettings {
    /// From the configuration, the analysed frames per second and the embedder's gates.
    #[must_use]
    pub fn of_faces(
        settings: &FacePerception,
        analyse_fps: f64,
        gates: Option<GatingThresholds>,
    ) -> Self {
        Self {
            min_score: settings.min_score,
            max_lost_secs: settings.max_lost_secs,
            step_secs: 1.0 / analyse_fps.max(0.1),
            coast_secs: f64::INFINITY,
            gates,
        }
    }
}

/// What the track of a face gathers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaceHistory {
    recent: Vec<Embedding>,
    samples: Vec<FaceSample>,
    /// Whether it moved, where that is asked for.
    watched: LivenessState,
}

impl OpenTrack<'_, FaceHistory> {
    /// The best picture of it so far; `None`: it was not seen well yet.
    #[must_use]
    pub fn best(&self) -> Option<&FaceSample> {
        let samples = &self.followed.samples;
        samples.iter().min_by(|a, b| b.quality.total_cmp(&a.quality).then(a.at.cmp(&b.at)))
    }

    /// Whether it lives, as far as that is known.
    #[must_use]
    pub fn life(&self) -> Liveness {
        self.followed.watched.life(self.step_secs)
    }
}

impl TrackPayload for FaceHistory {
    type Detection = Face;
    type Track = FaceTrack;

    fn outline(face: &Face) -> Outline {
        Outline { bbox: face.bbox, score: face.score, bearing: face.bearing }
    }

    fn begin(_face: &Face) -> Self {
        Self::default()
    }

    fn see(&mut self, at: Timestamp, face: &Face) {
        if let Some(look) = &face.look {
            self.watched.see(at, look, face.bbox);
        }
        let Some(embedding) = &face.embedding else { return };
        if self.recent.len() == RECENT {
            self.recent.remove(0);
        }
        self.recent.push(embedding.clone());
        if let Some(chip) = &face.chip {
            self.samples.push(FaceSample {
                at,
                embedding: embedding.clone(),
                quality: face.quality,
                chip: chip.clone(),
            });
            drop_least_useful(&mut self.samples);
        }
    }

    fn admits(&self, _face: &Face, _iou: f32) -> bool {
        true
    }

    /// Cosine of the face with the mean of the track's latest; `None` where either has no embedding.
    fn likeness(&self, face: &Face) -> Option<f32> {
        let embedding = face.embedding.as_ref()?;
        let first = self.recent.first()?;
        let width = first.values.len();
        let mut mean = vec![0.0; width];
        for recent in self.recent.iter().filter(|recent| recent.values.len() == width) {
            for (sum, value) in mean.iter_mut().zip(&recent.values) {
                *sum += value;
            }
        }
        Embedding::normalised(mean, first.model).cosine(embedding)
    }

    fn split(&mut self, border: Timestamp) -> Self {
        let (samples, later) =
            std::mem::take(&mut self.samples).into_iter().partition(|s| s.at < border);
        self.samples = later;
        Self { recent: Vec::new(), samples, watched: self.watched.clone() }
    }

    fn convinces(&self) -> bool {
        !self.samples.is_empty()
    }

    fn track(self, part: Part, step_secs: f64) -> FaceTrack {
        let Self { mut samples, watched, .. } = self;
        samples.sort_by(|a, b| b.quality.total_cmp(&a.quality).then(a.at.cmp(&b.at)));
        let Part { id, source, span, sightings, continued } = part;
        let life = watched.life(step_secs);
        FaceTrack { id, source, span, sightings, samples, continued, life }
    }
}

/// Keeps the best and most different samples: over [`SAMPLES`], the one worth least goes (ties: the latest).
fn drop_least_useful(samples: &mut Vec<FaceSample>) {
    if samples.len() <= SAMPLES {
        return;
    }
    let worth = |index: usize| {
        let nearest = samples
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .filter_map(|(_, other)| samples[index].embedding.cosine(&other.embedding))
            .fold(-1.0f32, f32::max);
        samples[index].quality + DIVERSITY_WEIGHT * (1.0 - nearest)
    };
    let least = (0..samples.len()).rev().min_by(|&a, &b| worth(a).total_cmp(&worth(b)));
    if let Some(least) = least {
        samples.remove(least);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
