//! Following faces: the detections of consecutive frames of one camera become tracks.
//!
//! ByteTrack (Zhang et al. 2022, arXiv 2110.06864): strong detections are joined to tracks first, weak
//! ones may then continue a track but never begin one. On top of it faces have embeddings: they find a
//! lost face again, they are all that counts across a hard cut, and they overrule the boxes when somebody
//! else stands in the same place. A track may end too early; it must never hold two persons.

use serde::{Deserialize, Serialize};

use super::assign::assign;
use super::embed::CosineGates;
use super::motion::Motion;
use super::still::Watched;
use crate::config::FacePerception;
use crate::geometry::Rect;
use crate::ids::{SourceId, TrackId};
use crate::percept::{Embedding, Face, FaceSample, FaceTrack, FrameFaces, Sighting};
use crate::time::{Span, Timestamp};

/// Least overlap with the expected place: strong and weak detections (ByteTrack's 0.2 and 0.5).
const STRONG_IOU: f32 = 0.2;
const WEAK_IOU: f32 = 0.5;
/// What likeness counts beside overlap.
const LIKENESS_WEIGHT: f64 = 0.5;
/// Embeddings a track compares with: its latest.
const RECENT: usize = 5;
/// A track that was found so often, and overlaps so much with itself one step later, is steady.
const STEADY_HITS: u32 = 5;
const STEADY_IOU: f32 = 0.85;
/// Samples kept per track and clip.
const SAMPLES: usize = 8;
/// What difference from the other samples is worth beside quality.
const DIVERSITY_WEIGHT: f32 = 0.5;

/// What a tracker goes by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackerSettings {
    /// Score from which a detection may begin a track, 0–1.
    pub min_score: f32,
    /// Seconds a track survives without being seen.
    pub max_lost_secs: f64,
    /// Seconds from one analysed frame to the next.
    pub step_secs: f64,
    /// What the embedder's cosines mean; `None` without an embedder: boxes alone.
    pub gates: Option<CosineGates>,
}

impl TrackerSettings {
    /// From the configuration, the analysed frames per second and the embedder's gates.
    #[must_use]
    pub fn new(settings: &FacePerception, analyse_fps: f64, gates: Option<CosineGates>) -> Self {
        Self {
            min_score: settings.min_score,
            max_lost_secs: settings.max_lost_secs,
            step_secs: 1.0 / analyse_fps.max(0.1),
            gates,
        }
    }
}

/// Follows the faces of one camera. Its state goes into checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaceTracker {
    source: SourceId,
    settings: TrackerSettings,
    /// Number of the next track.
    next: u64,
    /// Tracks that may be seen again, oldest first.
    alive: Vec<Track>,
    /// Tracks that ended since the last border.
    ended: Vec<Track>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Track {
    id: TrackId,
    motion: Motion,
    /// When it was last in the picture, found there or taken to be.
    last_seen: Timestamp,
    /// When it was last found.
    found: Timestamp,
    /// A cut came since: its box tells nothing any more.
    adrift: bool,
    /// Frames in which it was ever seen.
    hits: u32,
    /// A part of it was given out at a border.
    published: bool,
    recent: Vec<Embedding>,
    sightings: Vec<Sighting>,
    samples: Vec<FaceSample>,
    /// Whether it moved, where that is asked for.
    watched: Watched,
}

impl FaceTracker {
    /// A tracker that has seen nothing; ids count from `track_1`.
    #[must_use]
    pub fn new(source: SourceId, settings: TrackerSettings) -> Self {
        Self { source, settings, next: 1, alive: Vec::new(), ended: Vec::new() }
    }

    /// Takes the next analysed frame of this camera. Frames must come in time order.
    pub fn step(&mut self, frame: &FrameFaces) {
        self.retire(frame.at);
        if frame.cut {
            for track in &mut self.alive {
                track.adrift = true;
            }
        }
        let (strong, weak): (Vec<&Face>, Vec<&Face>) =
            frame.faces.iter().partition(|face| face.score >= self.settings.min_score);

        let in_place: Vec<usize> =
            (0..self.alive.len()).filter(|&i| !self.alive[i].adrift).collect();
        let strong = self.join(frame.at, &in_place, strong, |tracker, track, face| {
            tracker.overlap(track, face, frame.at, STRONG_IOU)
        });
        // Only a face that was there a moment ago is held by a weak detection.
        let held: Vec<usize> = in_place
            .into_iter()
            .filter(|&i| {
                let unseen = frame.at.secs_since(self.alive[i].last_seen);
                unseen > 0.0 && unseen <= 1.5 * self.settings.step_secs
            })
            .collect();
        self.join(frame.at, &held, weak, |tracker, track, face| {
            tracker.overlap(track, face, frame.at, WEAK_IOU)
        });
        let unseen: Vec<usize> =
            (0..self.alive.len()).filter(|&i| self.alive[i].last_seen < frame.at).collect();
        let strangers = self.join(frame.at, &unseen, strong, |tracker, track, face| {
            let likeness = track.likeness(face)?;
            (likeness >= tracker.settings.gates?.same).then_some(f64::from(likeness))
        });
        for face in strangers {
            let id = TrackId(self.next);
            self.next += 1;
            self.alive.push(Track::begin(id, frame.at, face));
        }
    }

    /// Takes the next analysed frame, in which nobody looked: who was there a moment ago is taken to be where he would be
    /// by now. After a cut nobody is.
    pub fn coast(&mut self, at: Timestamp, cut: bool) {
        self.retire(at);
        for track in &mut self.alive {
            track.adrift |= cut;
            let unseen = at.secs_since(track.last_seen);
            if track.adrift || unseen <= 0.0 || unseen > 1.5 * self.settings.step_secs {
                continue;
            }
            let Some(last) = track.sightings.last() else { continue };
            let bbox = track.motion.expected(at.secs_since(track.found));
            track.sightings.push(Sighting { at, bbox, score: last.score, bearing: last.bearing });
            track.last_seen = at;
        }
    }

    /// Whether every face that is followed was there at `at`, is known for a while, and hardly moves. An empty scene is steady.
    #[must_use]
    pub fn steady(&self, at: Timestamp) -> bool {
        self.alive.iter().all(|track| {
            let now = track.motion.expected(at.secs_since(track.found));
            let next = track.motion.expected(at.secs_since(track.found) + self.settings.step_secs);
            track.last_seen == at
                && !track.adrift
                && track.hits >= STEADY_HITS
                && now.iou(next) >= STEADY_IOU
        })
    }

    /// The tracks that were in the frame of `at`, the last one taken, and where.
    #[must_use]
    pub fn seen_at(&self, at: Timestamp) -> Vec<(TrackId, Rect)> {
        let latest = |track: &Track| {
            let last = track.sightings.last().filter(|last| last.at == at)?;
            Some((track.id, last.bbox))
        };
        self.alive.iter().filter_map(latest).collect()
    }

    /// Joins faces to tracks (indices into `alive`) for the greatest sum of `value`; gives back the faces left over.
    fn join<'f>(
        &mut self,
        at: Timestamp,
        tracks: &[usize],
        faces: Vec<&'f Face>,
        value: impl Fn(&Self, &Track, &Face) -> Option<f64>,
    ) -> Vec<&'f Face> {
        let tracks: Vec<usize> =
            tracks.iter().copied().filter(|&i| self.alive[i].last_seen < at).collect();
        let pairs = assign(tracks.len(), faces.len(), |row, column| {
            value(self, &self.alive[tracks[row]], faces[column])
        });
        let mut taken = vec![false; faces.len()];
        for (row, column) in pairs {
            self.alive[tracks[row]].see(at, faces[column]);
            taken[column] = true;
        }
        faces.into_iter().zip(taken).filter(|(_, taken)| !taken).map(|(face, _)| face).collect()
    }

    /// How well a face fits the place where the track is expected; `None` when it does not, or when it
    /// is somebody else's.
    fn overlap(&self, track: &Track, face: &Face, at: Timestamp, least: f32) -> Option<f64> {
        let iou = track.motion.expected(at.secs_since(track.found)).iou(face.bbox);
        if iou < least {
            return None;
        }
        let likeness = match (self.settings.gates, track.likeness(face)) {
            (Some(gates), Some(likeness)) if likeness < gates.differ => return None,
            (Some(_), Some(likeness)) => likeness,
            (Some(gates), None) => gates.same,
            (None, _) => 0.0,
        };
        Some(f64::from(iou) + LIKENESS_WEIGHT * f64::from(likeness))
    }

    /// Ends the tracks that were not seen for too long.
    fn retire(&mut self, now: Timestamp) {
        let lost = |track: &Track| now.secs_since(track.last_seen) > self.settings.max_lost_secs;
        let (ended, alive) = std::mem::take(&mut self.alive).into_iter().partition(lost);
        self.alive = alive;
        self.ended
            .extend(Vec::into_iter(ended).filter(|track: &Track| !track.sightings.is_empty()));
    }

    /// Gives out what every track did before `border` and forgets it; open tracks go on under their ids.
    ///
    /// A track that was seen once only, and not well enough for a sample, is taken for a false alarm and
    /// left out. In canonical order: start, then id.
    pub fn seal(&mut self, border: Timestamp) -> Vec<FaceTrack> {
        let mut sealed = Vec::new();
        for track in self.ended.iter_mut().chain(&mut self.alive) {
            let keep = track.sightings.partition_point(|sighting| sighting.at < border);
            let later = track.sightings.split_off(keep);
            let sightings = std::mem::replace(&mut track.sightings, later);
            let (samples, later) =
                std::mem::take(&mut track.samples).into_iter().partition(|s| s.at < border);
            track.samples = later;
            let false_alarm = track.hits == 1 && Vec::is_empty(&samples);
            if sightings.is_empty() || false_alarm {
                continue;
            }
            sealed.push(track.part(
                &self.source,
                sightings,
                samples,
                border,
                self.settings.step_secs,
            ));
            track.published = true;
        }
        self.ended.retain(|track| !track.sightings.is_empty());
        sealed.sort_by_key(|track| (track.span.start, track.id));
        sealed
    }

    /// The open clip's tracks that may still go on, as far as they are known: for the live view.
    #[must_use]
    pub fn open(&self) -> Vec<FaceTrack> {
        let mut open: Vec<FaceTrack> = self
            .alive
            .iter()
            .filter(|track| !track.sightings.is_empty())
            .map(|track| {
                let (sightings, samples) = (track.sightings.clone(), track.samples.clone());
                track.part(
                    &self.source,
                    sightings,
                    samples,
                    Timestamp::MAX,
                    self.settings.step_secs,
                )
            })
            .collect();
        open.sort_by_key(|track| (track.span.start, track.id));
        open
    }
}

impl Track {
    fn begin(id: TrackId, at: Timestamp, face: &Face) -> Self {
        let mut track = Self {
            id,
            motion: Motion::at_rest(face.bbox),
            last_seen: at,
            found: at,
            adrift: false,
            hits: 0,
            published: false,
            recent: Vec::new(),
            sightings: Vec::new(),
            samples: Vec::new(),
            watched: Watched::default(),
        };
        track.record(at, face);
        track
    }

    /// Continues with a face of a later frame.
    fn see(&mut self, at: Timestamp, face: &Face) {
        let unseen = at.secs_since(self.found);
        let jumped = self.motion.expected(unseen).iou(face.bbox) < STRONG_IOU;
        if self.adrift || jumped {
            self.motion = Motion::at_rest(face.bbox);
        } else {
            self.motion.seen(face.bbox, unseen);
        }
        self.adrift = false;
        (self.last_seen, self.found) = (at, at);
        self.record(at, face);
    }

    fn record(&mut self, at: Timestamp, face: &Face) {
        self.hits += 1;
        self.sightings.push(Sighting {
            at,
            bbox: face.bbox,
            score: face.score,
            bearing: face.bearing,
        });
        if let Some(look) = &face.look {
            self.watched.see(look, face.bbox);
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

    fn part(
        &self,
        source: &SourceId,
        sightings: Vec<Sighting>,
        mut samples: Vec<FaceSample>,
        border: Timestamp,
        step_secs: f64,
    ) -> FaceTrack {
        samples.sort_by(|a, b| b.quality.total_cmp(&a.quality).then(a.at.cmp(&b.at)));
        let start = sightings.first().map_or(self.last_seen, |sighting| sighting.at);
        let last = sightings.last().map_or(self.last_seen, |sighting| sighting.at);
        FaceTrack {
            id: self.id,
            source: source.clone(),
            span: Span::new(start, last.plus_secs(step_secs).min(border)),
            sightings,
            samples,
            continued: self.published,
            life: self.watched.life(step_secs),
        }
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
